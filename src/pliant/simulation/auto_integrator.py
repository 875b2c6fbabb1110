"""What integrator="auto" does: dop853, but ark5 or radau where they cost less.

Where the model says that fast motion would hold dop853 to short steps it begins with one of them. Then a method
that may cost less makes a few steps on trial now and then. They are kept if it does; else they are taken back, and the
run goes on as if nothing had been tried. Costs are counts of evaluations and of linear algebra, never times, so that
runs repeat to the bit on any machine."""

from __future__ import annotations

import copy
import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pliant.methods.integrators import ARK5, Dop853, Integrator, Radau
from pliant.simulation.fast_motion import NOTHING_FAST, FastMotion
from pliant.simulation.kept import stepping_of
from pliant.system.memory import Memory
from pliant.system.status import Status

EXPLICIT, SEMI_IMPLICIT, IMPLICIT = Dop853(), ARK5(), Radau()
# Tolerances of ark5 and radau over those of dop853: rtol to this power. At equal ones dop853 errs less, ark5 most, and
# more so the tighter they are; costs could not be compared, and digits would be lost at a change
TIGHTER = {EXPLICIT: 0.0, SEMI_IMPLICIT: 0.25, IMPLICIT: 0.2}
# cost over that of the method in use, below which a trial is kept: a change costs something, too, and dop853 errs
# least, most of all where fast motion swings
GAIN, SWING_GAIN, GAIN_BACK = 0.8, 0.7, 0.9
# with contacts, where fast motion rings, and between ark5 and radau: an impact is short, and another method that gains
# a little in it loses that, and digits, after it
CONTACT_GAIN = 0.4
# on probation, where fast motion has yet to settle and ark5 gains afterwards; dop853 is then tried soon
PASSING, DOUBTED = 2.0, -2
SETTLING, TRIAL = 4, 8  # steps of a trial: before its cost is measured, and while it is
HOPELESS = 3.0  # cost of a trial over that of the method in use, from which on it ends early
MEASURED = 16  # steps of the method in use that it is compared with, along the same motion
# A trial may be such a share of what the run has cost since the one before, half as much after each in vain, down to
# the least; so all trials together are a small part of a run, and however long it is, a change of motion is seen soon
SHARE, LEAST_SHARE = 0.05, 0.01
# of ark5 and radau while the other one is in use: both are stable, and tolerances decide. Where they are tight radau
# gains, where they are loose ark5
RIVAL_SHARE, TIGHT = 0.3, 1e-5
# rtol below which what swings is left to dop853 at first: it keeps more digits of the energy balance of small motion
FINE = 1e-7
# what dop853 must take at least, by stability, over what the method in use takes, below which it is tried
BOUND_SHARE = 0.7
# times that, where fast motion decides the steps of dop853, and where contacts have changed since ark5 or radau was
# compared: then a trial promises much
URGENT = 3.0
# h times the largest eigenvalue from which on it does, by stability (6.1) or because it is followed, and steps of the
# kind, hardly any other between them. Where no force is known to be stiff: only by stability, and longer than after an
# impact (15 steps in Hairer's code)
STABILITY_BOUND = 6.1
FAST, FAST_STEPS, STIFF_STEPS = 4.0, 30, 60
# steps a second of dop853 at the bound of stability, with which a run begins with another method; where fast motion
# decays, too, but on probation: for few digits, for many
STIFF_RATE, DOUBTFUL_RATE, TIGHT_DOUBTFUL_RATE = 200.0, 40.0, 120.0
# first steps of ark5 after which it is compared, where it may have to follow what swings; what decays, and gains less
PROBATION, LONG_PROBATION = 12, 40
RETRIAL = 16  # steps of dop853 after it, or in its place, before ark5 is tried once more
MAX_UNKNOWNS = 300  # of radau; beyond, dense factors take longer than they save
FEW_UNKNOWNS = 20  # with which it is the first choice where tolerances are tight
# evaluations: of dop853 for dense output, and a step with it, whether it is kept or not, so that this decides nothing;
# a stage of ark5 (measured: 1.4 for beams in space and many links, 1.6 for a few planar ones)
DENSE_COST, STEP_COST, STAGE_COST = 3.0, 15.0, 1.5
OVERHEAD = 800.0  # over unknowns + 5: evaluations in the time that Python takes for a trial, about 0.06 ms
MIN_LOOK = 20  # steps between two looks
POSTPONED = 0.5  # of the evaluations between two trials, after which one is tried that could not be
CONTACT_LOOK = 40  # steps of ark5 or radau after which contacts are looked at
WATCHED = ("review", "watches", "watched_stiffness", "n_stiff", "n_mild", "n_dense")  # in memory.stepping


class AutoChoice:
    """The integrator in use, and when others are tried."""

    def __init__(
        self,
        takes_stages: bool,
        takes_implicit: bool,
        has_stiff_forces: bool,
        has_contacts: bool,
        n_unknowns: int,
        rtol: float,
    ) -> None:
        """takes_stages, takes_implicit: whether ark5 and radau go with the model and its other methods; n_unknowns: of
        radau."""
        self.method: Integrator = EXPLICIT
        self.reasons: tuple[str, ...] = ()  # of the changes so far
        self.candidates: list[Integrator] = [SEMI_IMPLICIT] if takes_stages else []
        self.candidates += [IMPLICIT] if takes_implicit and n_unknowns <= MAX_UNKNOWNS else []
        self._has_stiff_forces, self._has_contacts = has_stiff_forces, has_contacts
        self._is_tight, self._is_fine = rtol <= TIGHT, rtol < FINE
        self._has_few_unknowns = IMPLICIT in self.candidates and n_unknowns <= FEW_UNKNOWNS
        # evaluations of a trial; linear algebra of radau as evaluations
        steps, algebra = SETTLING + TRIAL, 4.0 * n_unknowns + 0.1 * n_unknowns**2
        overhead = OVERHEAD / (n_unknowns + 5)
        self._price = {each: overhead + steps * each.evaluations_per_step for each in (EXPLICIT, *self.candidates)}
        if IMPLICIT in self._price:
            self._price[IMPLICIT] += algebra
        self._tried = dict.fromkeys(self._price, 0)  # evaluations of the run when each was tried last
        self._vain = dict.fromkeys(self._price, 0)  # trials in vain since each was in use
        self._motion = NOTHING_FAST  # at the start
        self._is_on_probation = False  # the first method, where it is not dop853 and may not be the best
        self._taken = 0.0, 0, 0  # t, steps and evaluations of the run when the method in use was taken
        self._retrial = 0  # step after which ark5 is tried that has failed at the start, or was left out; 0: none
        self._look = 0  # step of the next look, 0: none
        self._phase = b""  # of contacts, when methods were compared last

    @property
    def _is_cautious(self) -> bool:
        """Whether there are contacts, and fast motion that rings after impacts."""
        return self._has_contacts and not self._motion.is_damped

    def copy(self) -> AutoChoice:
        """Another one in the same state."""
        other = copy.copy(self)
        other._tried, other._vain = self._tried.copy(), self._vain.copy()
        return other

    def begin(self, memory: Memory, motion: Callable[[], FastMotion]) -> None:
        """Choose the first method. motion: the fastest at the start."""
        if self._has_stiff_forces and self.candidates:
            self._motion = motion()
        self.method, self._is_on_probation = self._first_method()
        if self._is_on_probation and self._is_fine and not self._motion.is_damped:
            self.method, self._is_on_probation, self._retrial = EXPLICIT, False, RETRIAL
        if self.method != EXPLICIT:
            how = "decays" if self._motion.is_damped else "swings"
            self.reasons = (f"what {how} at {self._motion.rate:.2g} 1/s holds dop853 to short steps",)
        self._taken = float(stepping_of(memory)["t"]), 0, 0
        self.watch(memory)

    def _first_method(self) -> tuple[Integrator, bool]:
        """And whether it is on probation."""
        bound = self._motion.rate / STABILITY_BOUND  # steps of dop853 a second, at least
        doubtful = TIGHT_DOUBTFUL_RATE if self._is_tight else DOUBTFUL_RATE
        if self._is_cautious or bound < (doubtful if self._motion.is_damped else STIFF_RATE):
            return EXPLICIT, False
        is_sure = bound >= STIFF_RATE and self._motion.is_damped
        takes_stages = SEMI_IMPLICIT in self.candidates
        if is_sure and self._has_few_unknowns and (self._is_tight or not takes_stages):
            return IMPLICIT, False
        return (SEMI_IMPLICIT, not is_sure) if takes_stages else (EXPLICIT, False)

    def so_far(self, memory: Memory) -> dict[str, Any]:
        """All that later decisions depend on, as plain values."""
        stepping = stepping_of(memory)
        return {
            "tried": {each.name: tried for each, tried in self._tried.items()},
            "vain": {each.name: vain for each, vain in self._vain.items()},
            "motion": list(self._motion),
            "is_on_probation": self._is_on_probation,
            "taken": list(self._taken),
            "retrial": self._retrial,
            "look": self._look,
            "phase": self._phase.hex(),
            "watched": {name: stepping[name].item() for name in WATCHED},
        }

    def go_on(self, memory: Memory, method: Integrator, before: dict[str, Any]) -> None:
        """As so_far had it."""
        self.method = method
        self._tried = {each: before["tried"].get(each.name, 0) for each in self._price}
        self._vain = {each: before["vain"].get(each.name, 0) for each in self._price}
        # files of version 0.1 do not have them
        self._motion, self._retrial = FastMotion(*before.get("motion", NOTHING_FAST)), before.get("retrial", 0)
        t, n_steps, n_evaluations = before.get("taken", (0.0, 0, 0))
        self._taken = float(t), int(n_steps), int(n_evaluations)
        self._is_on_probation = before.get("is_on_probation", False)
        self._look, self._phase, self.reasons = before["look"], bytes.fromhex(before["phase"]), ()
        for name in WATCHED:
            memory.stepping[0][name] = before["watched"][name]

    def watch(self, memory: Memory) -> None:
        """Come back when a trial may be due, and when fast motion decides the steps of dop853."""
        stepping = stepping_of(memory)
        n_steps, n_evaluations = int(stepping["n_steps"]), self._evaluations(memory)
        is_watched = self.method == EXPLICIT and len(self.candidates) > 0
        stepping["watches"], stepping["watched_stiffness"] = 0, 0.0
        if is_watched and self._has_stiff_forces:
            stepping["watches"], stepping["watched_stiffness"] = FAST_STEPS, FAST
        elif is_watched:
            stepping["watches"], stepping["watched_stiffness"] = STIFF_STEPS, STABILITY_BOUND
        others = [each for each in self._price if each != self.method]
        self._look = 0
        # with contacts dop853 goes on until fast motion decides its steps: trials in vain would only be compiled for
        may_look = self._has_stiff_forces and not self._is_cautious
        if others and (may_look or self.method != EXPLICIT):
            left = min(self._due(each, 1.0) for each in others) - n_evaluations
            self._look = n_steps + max(MIN_LOOK, math.ceil(left / self.method.evaluations_per_step))
            if self.method != EXPLICIT and self._has_contacts:
                self._look = min(self._look, n_steps + CONTACT_LOOK)
        if self._retrial:
            self._look = self._retrial
        if self._is_on_probation:
            self._look = LONG_PROBATION if self._motion.is_damped else PROBATION
        stepping["review"] = self._look

    def _evaluations(self, memory: Memory) -> int:
        """Of a run so far, about: by its steps, which do not depend on what is recorded."""
        _, n_steps, n_evaluations = self._taken
        return n_evaluations + (int(stepping_of(memory)["n_steps"]) - n_steps) * self.method.evaluations_per_step

    def _due(self, other: Integrator, urgency: float) -> float:
        """Evaluations of the run from which on another one may be tried."""
        is_rival = EXPLICIT not in (other, self.method) and self._is_tight == (other == IMPLICIT)
        first = RIVAL_SHARE if is_rival else SHARE
        share = urgency * max(LEAST_SHARE, first * 0.5 ** self._vain[other])
        return self._tried[other] + self._price[other] / share

    def _may_gain(self, memory: Memory, other: Integrator) -> bool:
        """Whether another one can cost less: dop853 cannot where stability holds it to more than what is taken now."""
        return other != EXPLICIT or self._share_of_bound(memory) >= BOUND_SHARE

    def passes(self, memory: Memory) -> bool:
        """Whether the first method goes on."""
        if not self._is_on_probation:
            return True
        self._is_on_probation = False
        cost = self._share_of_bound(memory)
        if cost < PASSING:
            self._vain[EXPLICIT] = DOUBTED if cost > GAIN else 0
            self.watch(memory)
            return True
        self.take(memory, EXPLICIT, f"ark5 has cost {cost:.2g} times as much")
        if cost < HOPELESS:
            self._retrial = int(stepping_of(memory)["n_steps"]) + RETRIAL
            self.watch(memory)
        return False

    def _share_of_bound(self, memory: Memory) -> float:
        """What the method in use has cost so far over what dop853 must cost at least, by stability."""
        t, _, n_evaluations = self._taken
        spent = STAGE_COST * (self._evaluations(memory) - n_evaluations)
        least = self._least_rate * (float(stepping_of(memory)["t"]) - t)
        return spent / least if least > 0.0 else math.inf

    @property
    def _least_rate(self) -> float:
        """What dop853 costs per second of motion at the bound of stability."""
        return STEP_COST * self._motion.rate / STABILITY_BOUND

    def review(self, memory: Memory, phase: bytes) -> tuple[tuple[Integrator, ...], float | None]:
        """What to try now, one after the other, and what the method in use costs per second of motion; None: to be
        measured. phase: of contacts."""
        n_steps, n_evaluations = int(stepping_of(memory)["n_steps"]), self._evaluations(memory)
        is_look = 0 < self._look <= n_steps
        is_first = is_look and self._retrial > 0
        is_urgent = phase != self._phase if self.method != EXPLICIT else not is_look
        urgency = URGENT if is_urgent else 1.0
        others = [each for each in (*self.candidates, EXPLICIT) if each != self.method]
        due = [SEMI_IMPLICIT] if is_first else [each for each in others if self._due(each, urgency) <= n_evaluations]
        for each in due:
            self._tried[each], self._phase = n_evaluations, phase
            self._vain[each] += 0 if is_first else 1
        due = [each for each in due if self._may_gain(memory, each)]
        if is_first:
            self._retrial = 0
        self.watch(memory)
        return tuple(due), self._least_rate if is_first else None

    def postpone(self, memory: Memory, candidates: Sequence[Integrator]) -> None:
        """Nothing could be tried: again soon."""
        for each in candidates:
            self._vain[each] -= 1
            self._tried[each] -= round((1.0 - POSTPONED) * self._price[each] / SHARE)
        self.watch(memory)

    def gain(self, scheme: Integrator) -> float:
        """Cost of a trial over that of the method in use, below which it is worth while."""
        if scheme == EXPLICIT:
            return GAIN_BACK
        is_rival = EXPLICIT not in (scheme, self.method)
        if self._is_cautious or (self._has_contacts and is_rival):
            return CONTACT_GAIN
        return SWING_GAIN if self.method == EXPLICIT and not self._motion.is_damped else GAIN

    def takes(self, memory: Memory, scheme: Integrator, cost: float, is_first: bool) -> None:
        """The method of a trial goes on. cost: over that of the method in use."""
        self._vain[self.method] = 0
        self.take(memory, scheme, f"{'about ' if is_first else ''}{cost:.2g} of the cost of {self.method.name}")

    def take(self, memory: Memory, scheme: Integrator, reason: str) -> None:
        """Another method goes on, and why."""
        n_evaluations = self._evaluations(memory)
        self._tried[self.method], self._vain[scheme] = n_evaluations, 0
        stepping = stepping_of(memory)
        self._taken = float(stepping["t"]), int(stepping["n_steps"]), n_evaluations
        self.method, self.reasons, self._retrial = scheme, (*self.reasons, reason), 0
        self.watch(memory)

    def may_go_back(self, status: Status) -> bool:
        """Whether a failure may be one of this method only."""
        return self.method != EXPLICIT and status in (Status.NOT_CONVERGED, Status.STEP_TOO_SMALL, Status.STALLED)


class Costs:
    """What a run has cost with the method in use: evaluations, and linear algebra in units of them (measured: an
    evaluation of n velocities about 80 n ns). Read in a fraction of a microsecond, fields of a record take several."""

    def __init__(self, scheme: Integrator, memory: Memory) -> None:
        stepping, newton, m = memory.stepping.view(np.ndarray), memory.newton.view(np.ndarray), len(memory.jacobian)
        share = STAGE_COST if scheme == SEMI_IMPLICIT else 1.0
        self._t = stepping["t"]
        self._counted = [(stepping["n_evaluations"], share), (stepping["n_dense"], -share)]
        if scheme == EXPLICIT:
            self._counted.append((stepping["n_steps"], DENSE_COST))
        if scheme == IMPLICIT:  # without what it evaluates for work terms, where rows are recorded
            differences = len(memory.active) + 1.0
            self._counted = [(newton["n_iterations"], 3.0 + m / 16), (newton["n_jacobians"], differences)]
            self._counted += [(newton["n_factors"], m**2 / 100)]

    def now(self) -> tuple[float, float]:
        """t and the cost so far."""
        return float(self._t[0]), sum(share * int(count[0]) for count, share in self._counted)


def describe_integrators(integrators: Sequence[tuple[float, Integrator]]) -> str:
    """'dop853, radau from 0.0123 s'."""
    (_, first), *others = integrators
    shown = [f"{scheme.name} from {t:.4g} s" for t, scheme in others[:3]]
    more = [f"{len(others) - 3} more changes"] if len(others) > 3 else []
    return ", ".join([first.name, *shown, *more])


def describe_reasons(integrators: Sequence[tuple[float, Integrator]], reasons: Sequence[str]) -> str:
    """'ark5 from 0.0123 s: 0.2 of the cost of dop853'; the first has a reason, too, if it is not dop853."""
    changes = list(zip(integrators[len(integrators) - len(reasons) :], reasons, strict=True))
    shown = [f"{scheme.name} from {t:.4g} s: {reason}" for (t, scheme), reason in changes[:3]]
    return "; ".join([*shown, *([f"{len(changes) - 3} more changes"] if len(changes) > 3 else [])])


def say_if_compiling(scheme: Integrator, t: float) -> None:
    """A trial in the middle of a run may have to compile: then say why it takes a while."""
    from pliant.kernels import _jit

    if scheme != EXPLICIT and _jit.CACHE_FOLDER and not _jit.is_cached(scheme.module):
        print(
            f"pliant: stiff at t = {t:.4g} s; compiling {scheme.name}, once on this machine (about 10 s) ...",
            file=sys.stderr,
        )

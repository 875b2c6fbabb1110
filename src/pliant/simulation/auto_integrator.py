"""What integrator="auto" does: dop853, but ark5 or radau where they cost less.

A method that may cost less makes a few steps on trial. They are kept if it does; else they are taken back, and the run
goes on as if nothing had been tried. Costs are counts of evaluations and of linear algebra, never times, so that runs
repeat to the bit on any machine."""

from __future__ import annotations

import copy
import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pliant.methods.integrators import ARK5, Dop853, Integrator, Radau
from pliant.system.memory import Memory
from pliant.system.status import Status

EXPLICIT, SEMI_IMPLICIT, IMPLICIT = Dop853(), ARK5(), Radau()
# Tolerances of ark5 and radau over those of dop853: rtol to this power. At equal ones dop853 errs less, and more so the
# tighter they are; costs could not be compared, and digits would be lost at a change
TIGHTER = 0.25
# cost over that of the method in use, below which a trial is kept: a change costs something, too, and dop853 errs least
GAIN, GAIN_BACK = 0.8, 0.9
# with contacts: an impact is short, and another method that gains a little in it loses that, and digits, after it
CONTACT_GAIN = 0.4
# at the start, where fast motion has yet to settle and ark5 gains afterwards; dop853 is then tried again soon
FIRST_GAIN, DOUBTED = 2.0, -2
SETTLING, TRIAL = 4, 8  # steps of a trial: before its cost is measured, and while it is
HOPELESS = 3.0  # cost of a trial over that of the method in use, from which on it ends early
MEASURED = 16  # steps of the method in use that it is compared with, along the same motion
# A trial may be such a share of what the run has cost since the one before, half as much after each in vain, down to
# the least; so all trials together are a small part of a run, and however long it is, a change of motion is seen soon
SHARE, LEAST_SHARE = 0.05, 0.01
# times that, where fast motion decides the steps of dop853, and where contacts have changed since ark5 or radau was
# compared: then a trial promises much
URGENT = 3.0
# h times the largest eigenvalue from which on it does, by stability (6.1) or because it is followed, and steps of the
# kind, hardly any other between them. Where no force is known to be stiff: only by stability, and longer than after an
# impact (15 steps in Hairer's code)
STABILITY_BOUND = 6.1
FAST, FAST_STEPS, STIFF_STEPS = 4.0, 30, 60
# steps a second of dop853 at the bound of stability, that make trials of ark5 at the start worth while, and when
STIFF_RATE, FIRST_TRIALS = 200.0, (1, 16)
MAX_UNKNOWNS = 300  # of radau; beyond, dense factors take longer than they save
# evaluations: of dop853 for dense output, and a step with it, whether it is kept or not, so that this decides nothing;
# a stage of ark5
DENSE_COST, STEP_COST, STAGE_COST = 3.0, 15.0, 1.2
OVERHEAD = 2000.0  # over unknowns + 5: evaluations in the time that Python takes for a trial, about 0.15 ms
MIN_LOOK = 20  # steps between two looks
CONTACT_LOOK = 40  # steps of ark5 or radau after which contacts are looked at
WATCHED = ("review", "watches", "watched_stiffness", "n_stiff", "n_mild", "n_dense")  # in memory.stepping


class AutoChoice:
    """The integrator in use, and when others are tried."""

    def __init__(
        self, takes_stages: bool, takes_implicit: bool, has_stiff_forces: bool, has_contacts: bool, n_unknowns: int
    ) -> None:
        """takes_stages, takes_implicit: whether ark5 and radau go with the model and its other methods; n_unknowns: of
        radau."""
        self.method: Integrator = EXPLICIT
        self.reasons: tuple[str, ...] = ()  # of the changes so far
        self.candidates: list[Integrator] = [SEMI_IMPLICIT] if takes_stages else []
        self.candidates += [IMPLICIT] if takes_implicit and n_unknowns <= MAX_UNKNOWNS else []
        self._has_stiff_forces, self._has_contacts = has_stiff_forces, has_contacts
        # evaluations of a trial; linear algebra of radau as evaluations
        steps, algebra = SETTLING + TRIAL, 4.0 * n_unknowns + 0.1 * n_unknowns**2
        overhead = OVERHEAD / (n_unknowns + 5)
        self._price = {each: overhead + steps * each.evaluations_per_step for each in (EXPLICIT, *self.candidates)}
        if IMPLICIT in self._price:
            self._price[IMPLICIT] += algebra
        self._tried = dict.fromkeys(self._price, 0)  # evaluations of the run when each was tried last
        self._vain = dict.fromkeys(self._price, 0)  # trials in vain since each was in use
        self._fastest = 0.0  # [1/s] at the start
        self._first_trials: tuple[int, ...] = ()
        self._look = 0  # step of the next look, 0: none
        self._phase = b""  # of contacts, when methods were compared last

    def copy(self) -> AutoChoice:
        """Another one in the same state."""
        other = copy.copy(self)
        other._tried, other._vain = self._tried.copy(), self._vain.copy()
        return other

    def begin(self, memory: Memory, fastest: Callable[[], float]) -> None:
        """Look for what makes a trial worth while. fastest: about the largest eigenvalue at the start [1/s]."""
        if SEMI_IMPLICIT in self.candidates:
            self._fastest = fastest()
            if self._fastest > STIFF_RATE * STABILITY_BOUND:
                self._first_trials = FIRST_TRIALS
        self.watch(memory)

    def so_far(self, memory: Memory) -> dict[str, Any]:
        """All that later decisions depend on, as plain values."""
        stepping = memory.stepping[0]
        return {
            "tried": {each.name: tried for each, tried in self._tried.items()},
            "vain": {each.name: vain for each, vain in self._vain.items()},
            "fastest": self._fastest,
            "first_trials": list(self._first_trials),
            "look": self._look,
            "phase": self._phase.hex(),
            "watched": {name: stepping[name].item() for name in WATCHED},
        }

    def go_on(self, memory: Memory, method: Integrator, before: dict[str, Any]) -> None:
        """As so_far had it."""
        self.method = method
        self._tried = {each: before["tried"].get(each.name, 0) for each in self._price}
        self._vain = {each: before["vain"].get(each.name, 0) for each in self._price}
        self._fastest, self._first_trials = before["fastest"], tuple(before["first_trials"])
        self._look, self._phase = before["look"], bytes.fromhex(before["phase"])
        for name in WATCHED:
            memory.stepping[0][name] = before["watched"][name]

    def watch(self, memory: Memory) -> None:
        """Come back when a trial may be due, and when fast motion decides the steps of dop853."""
        stepping = memory.stepping[0]
        n_steps, n_evaluations = int(stepping.n_steps), _evaluations(memory)
        is_watched = self.method == EXPLICIT and len(self.candidates) > 0
        stepping.watches, stepping.watched_stiffness = 0, 0.0
        if is_watched and self._has_stiff_forces:
            stepping.watches, stepping.watched_stiffness = FAST_STEPS, FAST
        elif is_watched:
            stepping.watches, stepping.watched_stiffness = STIFF_STEPS, STABILITY_BOUND
        others = [each for each in self._price if each != self.method]
        self._look = 0
        # with contacts dop853 goes on until fast motion decides its steps: trials in vain would only be compiled for
        may_look = self._has_stiff_forces and not self._has_contacts
        if others and (may_look or self.method != EXPLICIT):
            left = min(self._due(each, 1.0) for each in others) - n_evaluations
            self._look = n_steps + max(MIN_LOOK, math.ceil(left / self.method.evaluations_per_step))
            if self.method != EXPLICIT and len(memory.fired):
                self._look = min(self._look, n_steps + CONTACT_LOOK)
        if self._first_trials:
            self._look = self._first_trials[0]
        stepping.review = self._look

    def _due(self, other: Integrator, urgency: float) -> float:
        """Evaluations of the run from which on another one may be tried."""
        share = urgency * max(LEAST_SHARE, SHARE * 0.5 ** self._vain[other])
        return self._tried[other] + self._price[other] / share

    def review(self, memory: Memory, phase: bytes) -> tuple[tuple[Integrator, ...], float | None]:
        """What to try now, one after the other, and what the method in use costs per second of motion; None: to be
        measured. phase: of contacts."""
        n_steps, n_evaluations = int(memory.stepping[0].n_steps), _evaluations(memory)
        is_look = 0 < self._look <= n_steps
        is_first = is_look and bool(self._first_trials)
        is_urgent = phase != self._phase if self.method != EXPLICIT else not is_look
        urgency = URGENT if is_urgent else 1.0
        others = [each for each in (*self.candidates, EXPLICIT) if each != self.method]
        due = [SEMI_IMPLICIT] if is_first else [each for each in others if self._due(each, urgency) <= n_evaluations]
        for each in due:
            self._tried[each], self._phase = n_evaluations, phase
            self._vain[each] += 0 if is_first else 1
        if is_first:
            self._first_trials = self._first_trials[1:]
        self.watch(memory)
        return tuple(due), STEP_COST * self._fastest / STABILITY_BOUND if is_first else None

    def takes(self, memory: Memory, scheme: Integrator, cost: float, is_first: bool) -> bool:
        """Whether a trial was worth while; then its method goes on. cost: over that of the method in use, of which at
        the start only a guess is known."""
        least = CONTACT_GAIN if self._has_contacts else GAIN
        gain = FIRST_GAIN if is_first else GAIN_BACK if scheme == EXPLICIT else least
        if not cost < gain:
            return False
        self._vain[self.method] = DOUBTED if is_first and cost > GAIN else 0
        self.take(memory, scheme, f"{'about ' if is_first else ''}{cost:.2g} of the cost of {self.method.name}")
        return True

    def take(self, memory: Memory, scheme: Integrator, reason: str) -> None:
        """Another method goes on, and why."""
        self._tried[self.method], self._vain[scheme] = _evaluations(memory), 0
        self.method, self.reasons, self._first_trials = scheme, (*self.reasons, reason), ()
        self.watch(memory)

    def may_go_back(self, status: Status) -> bool:
        """Whether a failure may be one of this method only."""
        return self.method != EXPLICIT and status in (Status.NOT_CONVERGED, Status.STEP_TOO_SMALL)


def _evaluations(memory: Memory) -> int:
    """Of a run so far, but for its dense output."""
    return int(memory.stepping[0].n_evaluations - memory.stepping[0].n_dense)


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
        if m:
            self._counted += [(newton["n_factors"], m**2 / 100), (newton["n_iterations"], m / 16)]

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
    """'ark5 from 0.0123 s: 0.2 of the cost of dop853'."""
    changes = list(zip(integrators[1:], reasons, strict=False))
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

"""What integrator="auto" does: dop853, but ark5 where it costs less, and radau where that costs still less.

A method that may cost less makes a few steps on trial. They are kept if it does; else they are taken back, and the run
goes on as if nothing had been tried. Costs are counts of evaluations and of linear algebra, never times, so that runs
repeat to the bit on any machine."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Sequence
from typing import Any

from pliant.methods.integrators import ARK5, Dop853, Integrator, Radau
from pliant.system.memory import Memory
from pliant.system.status import Status

EXPLICIT, SEMI_IMPLICIT, IMPLICIT = Dop853(), ARK5(), Radau()
STABILITY_BOUND = 6.1  # of dop853: h times the largest eigenvalue
# steps at the bound of stability, hardly any off it, in one phase, that make a trial of radau worth while: 15 in
# Hairer's code, but an impact that makes beams ring has dozens, and then it does not pay
STIFF_STEPS = 60
# steps whose length fast motion decides, by stability or because it is followed, that make one of ark5 worth while
FAST_STEPS, FAST = 30, 4.0
# steps a second of dop853 at the bound of stability, that make trials of ark5 at the start worth while, and when
STIFF_RATE, FIRST_TRIALS = 200.0, (1, 16)
MAX_UNKNOWNS = 300  # of radau; beyond, dense factors take longer than they save
SETTLING, TRIAL = 4, 8  # steps of a trial: before its cost is measured, and while it is
LOOK = 50  # steps of ark5 or radau before others are looked at; then twice as many each time
WAIT = 100  # steps of dop853 after a trial in vain, before the next one; then twice as many each time
SHARE = 0.05  # of the cost of a run, that a trial may take while ark5 or radau goes on
# cost over that of the method before, below which a trial is kept. At equal tolerances ark5 errs a thousand times more
# than dop853 at its bound of stability, and would take four times the steps to err as little; and it gains in flight
# what it loses in impacts: it must gain much
GAIN = {
    (EXPLICIT, SEMI_IMPLICIT): 0.1,
    (IMPLICIT, SEMI_IMPLICIT): 0.25,
    (EXPLICIT, IMPLICIT): 0.8,
    (SEMI_IMPLICIT, IMPLICIT): 0.8,
    (SEMI_IMPLICIT, EXPLICIT): 0.4,
    (IMPLICIT, EXPLICIT): 0.6,
}
# evaluations: a step of dop853, and its dense output; a stage of ark5
STEP_COST, DENSE_COST, STAGE_COST = 12.0, 3.0, 1.2
TINY = 1e-300  # [s]
WATCHED = ("review", "watches", "watched_stiffness", "n_stiff", "n_mild")  # in memory.stepping


class AutoChoice:
    """The integrator in use, and when others are tried."""

    def __init__(self, takes_stages: bool, takes_implicit: bool, n_unknowns: int) -> None:
        """takes_stages, takes_implicit: whether ark5 and radau go with the model and its other methods; n_unknowns: of
        radau."""
        self.method: Integrator = EXPLICIT
        self.reasons: tuple[str, ...] = ()  # of the changes so far
        self.candidates: list[Integrator] = [SEMI_IMPLICIT] if takes_stages else []
        self.candidates += [IMPLICIT] if takes_implicit and n_unknowns <= MAX_UNKNOWNS else []
        # cost of the run from which on another method may be tried while ark5 or radau goes on
        steps = (SETTLING + TRIAL) / SHARE
        self._due: dict[Integrator, float] = {
            EXPLICIT: steps * (STEP_COST + DENSE_COST),
            SEMI_IMPLICIT: steps * SEMI_IMPLICIT.evaluations_per_step * STAGE_COST,
            IMPLICIT: steps * IMPLICIT.evaluations_per_step + (n_unknowns + n_unknowns**2 / 100) / SHARE,
        }
        self._fastest = 0.0  # [1/s] at the start
        self._first_trials: tuple[int, ...] = ()
        self._look, self._wait, self._again = LOOK, WAIT, 0
        self._asked: tuple[Integrator, ...] = ()  # to be tried when the cost of the method in use has been measured
        self._begun = 0.0, 0.0  # t and cost where the measurement of the method in use began
        self._is_guess = False  # the cost that a trial is compared with

    def copy(self) -> AutoChoice:
        """Another one in the same state."""
        return copy.copy(self)

    def begin(self, memory: Memory, fastest: Callable[[], float]) -> None:
        """Look for what makes a trial worth while. fastest: about the largest eigenvalue at the start [1/s]."""
        if SEMI_IMPLICIT in self.candidates:
            self._fastest = fastest()
            if self._fastest > STIFF_RATE * STABILITY_BOUND:
                self._first_trials, memory.stepping[0].review = FIRST_TRIALS, FIRST_TRIALS[0]
        self._watch(memory, *self.candidates[:1])

    def so_far(self, memory: Memory) -> dict[str, Any]:
        """All that later decisions depend on, as plain values."""
        stepping = memory.stepping[0]
        return {
            "due": {each.name: due for each, due in self._due.items()},
            "fastest": self._fastest,
            "first_trials": list(self._first_trials),
            "waits": [self._look, self._wait, self._again],
            "asked": [each.name for each in self._asked],
            "begun": list(self._begun),
            "watched": {name: stepping[name].item() for name in WATCHED},
        }

    def go_on(self, memory: Memory, method: Integrator, before: dict[str, Any]) -> None:
        """As so_far had it."""
        self.method = method
        self._due = {each: before["due"][each.name] for each in self._due}
        self._fastest, self._first_trials = before["fastest"], tuple(before["first_trials"])
        self._look, self._wait, self._again = before["waits"]
        self._asked = tuple(each for each in self._due if each.name in before["asked"])
        self._begun = before["begun"][0], before["begun"][1]
        for name in WATCHED:
            memory.stepping[0][name] = before["watched"][name]

    def _watch(self, memory: Memory, *candidate: Integrator) -> None:
        """Count the steps that make a trial of this one worth while; of none: do not."""
        stepping = memory.stepping[0]
        bounds = {(): (0, 0.0), (SEMI_IMPLICIT,): (FAST_STEPS, FAST), (IMPLICIT,): (STIFF_STEPS, STABILITY_BOUND)}
        stepping.watches, stepping.watched_stiffness = bounds[candidate]

    def review(self, memory: Memory) -> tuple[tuple[Integrator, ...], float]:
        """What to try now, one after the other, and the cost per second of motion of the method in use."""
        stepping = memory.stepping[0]
        n_steps = int(stepping.n_steps)
        self._is_guess = False
        if self._asked:
            asked, self._asked = self._asked, ()
            if self.method == EXPLICIT:
                self._watch(memory, *(self.candidates[1:] if asked == (SEMI_IMPLICIT,) else ()))
                self._wait_for(memory)
            else:
                self._look_later(memory)
            return asked, self._measured(memory)
        if self._first_trials and n_steps >= self._first_trials[0]:
            self._first_trials = self._first_trials[1:]
            stepping.review = self._first_trials[0] if self._first_trials else 0
            self._is_guess = True
            return (SEMI_IMPLICIT,), self._step_cost(memory) * self._fastest / STABILITY_BOUND
        if 0 < self._again <= n_steps:  # the wait is over
            self._again = 0
            self._watch(memory, *self.candidates[:1])
            return (), 0.0
        self._asked = self._worth_trying(memory)
        if self._asked:  # first measure what the method in use costs now
            self._measured(memory)
            stepping.watches, stepping.review = 0, n_steps + TRIAL
        else:
            self._look_later(memory)
        return (), 0.0

    def _worth_trying(self, memory: Memory) -> tuple[Integrator, ...]:
        """Of dop853: what it was watched for. Of others: whatever is no large part of the cost so far."""
        if self.method == EXPLICIT:
            return (SEMI_IMPLICIT if memory.stepping[0].watched_stiffness == FAST else IMPLICIT,)
        cost = units(self.method, memory)
        due = [each for each in (*self.candidates, EXPLICIT) if each != self.method and cost >= self._due[each]]
        self._due = self._due | {each: 2.0 * cost for each in due}
        return tuple(due)

    def _measured(self, memory: Memory) -> float:
        """Cost per second of motion since this was asked last."""
        (t, cost), now = self._begun, (float(memory.stepping[0].t), units(self.method, memory))
        self._begun = now
        return (now[1] - cost) / max(now[0] - t, TINY)

    def _look_later(self, memory: Memory) -> None:
        memory.stepping[0].review = memory.stepping[0].n_steps + self._look
        self._look *= 2

    def _step_cost(self, memory: Memory) -> float:
        """Of dop853."""
        needs_dense = memory.stepping[0].wants_dense == 1 or len(memory.fired) > 0
        return STEP_COST + DENSE_COST if needs_dense else STEP_COST

    def takes(self, memory: Memory, scheme: Integrator, cost: float, before: float) -> bool:
        """Whether a trial was worth while; then its method goes on. cost, before: per second of motion."""
        if not cost < GAIN[self.method, scheme] * before:
            return False
        about = "about " if self._is_guess else ""
        self.take(memory, scheme, f"{about}{cost / before:.2g} of the cost of {self.method.name}")
        return True

    def take(self, memory: Memory, scheme: Integrator, reason: str) -> None:
        """Another method goes on, and why."""
        self.method, self.reasons = scheme, (*self.reasons, reason)
        memory.stepping[0].watches, self._first_trials, self._again = 0, (), 0
        if scheme == EXPLICIT:
            self._wait_for(memory)
        else:
            self._look_later(memory)

    def _wait_for(self, memory: Memory) -> None:
        """Look for fast motion again later."""
        stepping = memory.stepping[0]
        self._again = stepping.review = int(stepping.n_steps) + self._wait
        self._wait *= 2

    def may_go_back(self, status: Status) -> bool:
        """Whether a failure may be one of this method only."""
        return self.method != EXPLICIT and status in (Status.NOT_CONVERGED, Status.STEP_TOO_SMALL)


def units(scheme: Integrator, memory: Memory) -> float:
    """What a run has cost, as the method in use counts it: evaluations, and linear algebra in units of them
    (measured: an evaluation of n velocities about 80 n ns)."""
    newton, m = memory.newton[0], len(memory.jacobian)
    share = STAGE_COST if scheme == SEMI_IMPLICIT else 1.0
    algebra = newton.n_factors * m**2 / 100 + newton.n_iterations * m / 16
    return float(share * memory.stepping[0].n_evaluations + algebra)


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

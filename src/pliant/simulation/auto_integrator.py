"""What integrator="auto" does: dop853, and where steps seem short for stability only, ark4, ark5 or radau, whichever is
found to cost least.

A method is tried for a few steps, its cost per second of motion measured and compared with that of the method before;
what did not pay is tried again when the run has cost ten times as much. Costs are counts of evaluations and of linear
algebra in units of them, so that runs repeat to the bit."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from pliant.methods.integrators import ARK4, ARK5, Dop853, Integrator, Radau
from pliant.system.memory import Memory
from pliant.system.status import Status

EXPLICIT, IMPLICIT = Dop853(), Radau()
LOOSE_RTOL = 1e-4  # from which on ark4 costs less than ark5
# when to look for another method: after so many steps with h times the largest eigenvalue above the bound, hardly any
# below it, in one phase. Where only radau can be tried: 15 in Hairer's code, but an impact that makes beams ring has
# dozens, and then it does not pay
FEW_STEPS, FAST = 10, 2.0  # an oscillation that dop853 follows at usual tolerances is below
STIFF_STEPS, STABILITY_BOUND = 60, 6.1  # of dop853
MAX_UNKNOWNS = 300  # of radau; beyond, dense factors take longer than they save
SETTLING, TRIAL, LOOK = 4, 12, 60  # steps before costs are measured, of a trial, and between two later looks
EXPLICIT_COST = 15.0  # evaluations of a step of dop853, with dense output
STAGE_COST = 1.1  # of a semi-implicit stage, in evaluations
GAIN = 0.9  # cost over that of the method before, below which a method is kept
PATIENCE = 10.0  # by which the cost of a run must grow before a method that did not pay is tried again
JACOBIANS = 5.0  # that a run must have cost before radau is tried in place of ark


def additive(rtol: float) -> Integrator:
    """The semi-implicit method for a tolerance."""
    return ARK4() if rtol >= LOOSE_RTOL else ARK5()


class AutoChoice:
    """The integrator in use, and what others have cost."""

    def __init__(self, candidates: Sequence[Integrator]) -> None:
        """candidates: that may be tried, in this order."""
        self.method: Integrator = EXPLICIT
        self.candidates = tuple(candidates)
        has_stages = any(each.kind == "semi-implicit" for each in candidates)
        self.watches, self.bound = (FEW_STEPS, FAST) if has_stages else (STIFF_STEPS, STABILITY_BOUND)
        self._h: dict[Integrator, float] = {}  # [s] step of each method when it was left
        self._rates: dict[Integrator, float] = {}  # cost per second of motion, as measured last
        self._due: dict[Integrator, float] = {}  # cost of the run from which on a method may be tried (again)
        self._tried: Integrator | None = None  # on trial
        self._before: Integrator = EXPLICIT  # to which a trial goes back
        self._window: tuple[float, float] | None = None  # t and cost where the measurement began
        self._spent = 0.0  # cost of linear algebra before the method in use

    def review(self, memory: Memory) -> Integrator | None:
        """The integrator to go on with, None for the same."""
        stepping = memory.stepping[0]
        if self.method == EXPLICIT:
            if stepping.watches == 0:  # the wait is over
                stepping.watches = self.watches
                return None
            self._rates[EXPLICIT] = EXPLICIT_COST / float(stepping.h)
            return self._try_next(memory) or self._wait(memory)
        if self._window is None:
            self._window = float(stepping.t), self.cost(memory)
            stepping.review = stepping.n_steps + (TRIAL - SETTLING if self._tried is not None else LOOK)
            return None
        t, cost = self._window
        rate = (self.cost(memory) - cost) / max(float(stepping.t) - t, 1e-300)
        self._rates[self.method], self._window = rate, None
        if self._tried is not None:
            return self._judge(memory, rate)
        if rate > self._rates[EXPLICIT]:
            return self.go_back(memory)
        return self._try_next(memory) or self._go_on(memory)

    def _judge(self, memory: Memory, rate: float) -> Integrator | None:
        """Whether what was tried is kept."""
        self._tried = None
        if rate < GAIN * self._rates[self._before]:
            return self._try_next(memory) or self._go_on(memory)
        self._due[self.method] = PATIENCE * self.cost(memory)
        if self._before == EXPLICIT:
            return self._try_next(memory) or self.go_back(memory)
        return self._change(memory, self._before)

    def _try_next(self, memory: Memory) -> Integrator | None:
        """The first candidate that is due, on trial."""
        for each in self.candidates:
            if each == self.method or self.cost(memory) < self._due.get(each, self._first_due(each, memory)):
                continue
            if self.method != EXPLICIT and self._rates[self.method] < self._rates[self._before]:
                self._before = self.method
            self._tried = each
            return self._change(memory, each)
        return None

    def _first_due(self, each: Integrator, memory: Memory) -> float:
        """Cost of a run from which on a method may be tried first: where Jacobians are no large part of it."""
        n = sum(memory.atol < float("inf")) // 2
        if each != IMPLICIT:
            return 0.0
        return JACOBIANS * (n + 1 + n**2 / 100) if n <= MAX_UNKNOWNS else float("inf")

    def _change(self, memory: Memory, to: Integrator) -> Integrator:
        stepping = memory.stepping[0]
        self._h[self.method] = float(stepping.h)
        self._spent += linear_algebra(memory)
        self.method, self._window = to, None
        stepping.h = self._h.get(to, float(stepping.h)) if self._tried is None else float(stepping.h)
        stepping.watches, stepping.review = 0, stepping.n_steps + SETTLING
        return to

    def _go_on(self, memory: Memory) -> Integrator | None:
        memory.stepping[0].review = memory.stepping[0].n_steps + SETTLING
        return None

    def _wait(self, memory: Memory) -> Integrator | None:
        """Nothing is due: look again later."""
        stepping = memory.stepping[0]
        stepping.watches, stepping.review = 0, 2 * stepping.n_steps + LOOK
        return None

    def cost(self, memory: Memory) -> float:
        """Of the run so far, in evaluations."""
        share = STAGE_COST if self.method.kind == "semi-implicit" else 1.0
        return share * float(memory.stepping[0].n_evaluations) + self._spent + linear_algebra(memory)

    def may_go_back(self, status: Status) -> bool:
        """Whether a failure may be one of this method only."""
        return self.method != EXPLICIT and status in (Status.NOT_CONVERGED, Status.STEP_TOO_SMALL)

    def go_back(self, memory: Memory) -> Integrator:
        """The explicit method, for a while."""
        self._due[self.method] = PATIENCE * self.cost(memory)
        self._tried, self._before = None, EXPLICIT
        self._change(memory, EXPLICIT)
        self._wait(memory)
        return EXPLICIT


def linear_algebra(memory: Memory) -> float:
    """Of Newton's method so far, in evaluations (measured: an evaluation of n velocities about 80 n ns)."""
    newton, m = memory.newton[0], len(memory.jacobian)
    return float(newton.n_factors * m**2 / 100 + newton.n_iterations * m / 16)


def describe_integrators(integrators: Sequence[tuple[float, Integrator]]) -> str:
    """'dop853, radau from 0.0123 s'."""
    (_, first), *others = integrators
    shown = [f"{scheme.name} from {t:.4g} s" for t, scheme in others[:3]]
    more = [f"{len(others) - 3} more changes"] if len(others) > 3 else []
    return ", ".join([first.name, *shown, *more])


def say_if_compiling(scheme: Integrator, t: float) -> None:
    """A change in the middle of a run may have to compile: then say why it takes a while."""
    from pliant.kernels import _jit

    if scheme != EXPLICIT and _jit.CACHE_FOLDER and not _jit.is_cached(scheme.module):
        print(
            f"pliant: stiff from t = {t:.4g} s on; compiling {scheme.name}, once on this machine (about 10 s) ...",
            file=sys.stderr,
        )

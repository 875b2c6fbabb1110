"""What integrator="auto" does: dop853, and where steps seem short for stability only, ark4, ark5 or radau, whichever is
found to cost least.

A method is tried for a few steps, its cost per second of motion measured and compared with that of the method before;
what did not pay is tried again when the run has cost twice as much. Costs are counts of evaluations and of linear
algebra in units of them, so that runs repeat to the bit."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

import numpy as np

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
SETTLING, TRIAL, LOOK = 4, 16, 200  # steps before costs are measured, that are measured in a trial, and later on
EXPLICIT_COST = 15.0  # evaluations of a step of dop853, with dense output
IMPLICIT_COST = 12.0  # about, of a step of radau
STAGE_COST = 1.35  # of a semi-implicit stage, in evaluations (measured: 1.1 of long chains, 1.4 of short ones)
GAIN = 0.9  # cost over that of the method before, below which a method is kept
PATIENCE = 2.0  # by which the cost of a run must grow before a method is tried again ..
DEARER = 4.0  # .. and this many times more, where it was found dearer than the method in use is now
TINY = 1e-300  # [s]
MAX_WINDOWS = 3  # in a trial: events make costs that say nothing of a method, and another measurement
SHARE = 0.1  # of the cost of a run, that a first trial of radau may take


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
        self._due: dict[Integrator, float] = {EXPLICIT: 0.0}  # cost of the run from which on a method may be tried
        self._before: Integrator | None = None  # to which a trial goes back; None: no trial
        self._window: tuple[float, float, int] | None = None  # t, cost and events where the measurement began
        self._n_windows = 0  # that events have spoilt
        self._spent = 0.0  # on linear algebra before the method in use

    def review(self, memory: Memory) -> Integrator | None:
        """The integrator to go on with, None for the same."""
        stepping = memory.stepping[0]
        if self.method == EXPLICIT and self._before is None:
            if stepping.watches == 0:  # the wait is over
                stepping.watches = self.watches
                return None
            self._rates[EXPLICIT] = EXPLICIT_COST / float(stepping.h)
            return self._try_another(memory) or self._watch_later(memory)
        window, self._window = self._window, (float(stepping.t), self.cost(memory), int(stepping.n_events))
        stepping.review = stepping.n_steps + (LOOK if self._before is None else TRIAL)
        if window is None:
            return None
        t, cost, n_events = self._window
        if self._before is not None and n_events > window[2] and self._n_windows < MAX_WINDOWS:
            self._n_windows += 1
            return None
        self._rates[self.method] = (cost - window[1]) / max(t - window[0], TINY)
        return self._judge(memory) if self._before is not None else self._try_another(memory)

    def _judge(self, memory: Memory) -> Integrator | None:
        """Whether what was tried is kept."""
        before, self._before = self._before, None
        assert before is not None
        if self._rates[self.method] < GAIN * self._rates[before]:
            return self._try_another(memory) or self._go_on(memory)
        if before == EXPLICIT:
            # another one may do better
            self._before = EXPLICIT
            return self._try_another(memory) or self.go_back(memory)
        return self._change(memory, before)

    def _try_another(self, memory: Memory) -> Integrator | None:
        """The first method that is due, on trial."""
        now, cost = self._rates[self.method], self.cost(memory)
        for each in (*self.candidates, EXPLICIT):
            if each not in self._due:
                self._due[each] = self._first_due(each, memory)
            due = self._due[each] * (1.0 if self._rates.get(each, 0.0) < now else DEARER)
            if each not in (self.method, self._before) and cost >= due:
                self._before = self._before or self.method
                return self._change(memory, each)
        return None

    def _first_due(self, each: Integrator, memory: Memory) -> float:
        """Cost of a run from which on a method may be tried first."""
        n = int(np.sum(np.isfinite(memory.atol))) // 2
        if each != IMPLICIT or self.candidates[0] == IMPLICIT:
            return 0.0 if each != IMPLICIT or n <= MAX_UNKNOWNS else math.inf
        jacobians = 3.0 * (n + 1 + n**2 / 100)
        return ((SETTLING + TRIAL) * IMPLICIT_COST + jacobians) / SHARE if n <= MAX_UNKNOWNS else math.inf

    def _change(self, memory: Memory, to: Integrator) -> Integrator:
        stepping = memory.stepping[0]
        self._h[self.method], self._due[self.method] = float(stepping.h), PATIENCE * self.cost(memory)
        self._spent += linear_algebra(memory)
        self.method = to
        if self._before is None or to == EXPLICIT:
            stepping.h = self._h[to]
        self._go_on(memory)
        return to

    def _go_on(self, memory: Memory) -> Integrator | None:
        """With a measurement that begins after a few steps; of the explicit method: watching again."""
        stepping, is_explicit = memory.stepping[0], self.method == EXPLICIT and self._before is None
        self._window, self._n_windows, stepping.watches = None, 0, self.watches if is_explicit else 0
        stepping.review = 0 if is_explicit else stepping.n_steps + SETTLING
        return None

    def _watch_later(self, memory: Memory) -> Integrator | None:
        """Nothing is due."""
        stepping = memory.stepping[0]
        stepping.watches, stepping.review = 0, stepping.n_steps + LOOK
        return None

    def cost(self, memory: Memory) -> float:
        """Of the run so far, in evaluations."""
        share = STAGE_COST if self.method.kind == "semi-implicit" else 1.0
        return share * float(memory.stepping[0].n_evaluations) + self._spent + linear_algebra(memory)

    @property
    def is_trying(self) -> bool:
        """Whether a method is on trial: it will be looked at after a few steps."""
        return self._before is not None

    def may_go_back(self, status: Status) -> bool:
        """Whether a failure may be one of this method only."""
        return self.method != EXPLICIT and status in (Status.NOT_CONVERGED, Status.STEP_TOO_SMALL)

    def go_back(self, memory: Memory) -> Integrator:
        """The explicit method."""
        self._before = None
        return self._change(memory, EXPLICIT)


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

"""What integrator="auto" does: dop853, and radau from when on the equations are stiff, as long as that pays."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from pliant.methods.integrators import Dop853, Integrator, Radau
from pliant.system.memory import Memory
from pliant.system.status import Status

EXPLICIT, IMPLICIT = Dop853(), Radau()
# steps at the bound of stability, hardly any off it, in one phase: 15 in Hairer's code, but an impact that makes beams
# ring has dozens, and then it does not pay
STIFF_STEPS = 60
MAX_UNKNOWNS = 300  # beyond, dense factors take longer than they save
TRIAL = 60  # steps after which the cost is looked at
EXPLICIT_COST = 15.0  # evaluations of a step of dop853, with dense output


class AutoChoice:
    """The integrator in use, and what the other one took. Decides by counts only, so that runs repeat to the bit."""

    def __init__(self, method: Integrator) -> None:
        self.method = method
        self._h = 0.0  # [s] step of the explicit method when it was left
        self._begun = (0.0, 0.0)  # t and cost when the implicit one began
        self._wait = 10 * TRIAL  # steps before stiffness is looked for again, after a trial that did not pay

    def review(self, memory: Memory) -> Integrator | None:
        """The integrator to go on with, None for the same."""
        stepping = memory.stepping[0]
        if self.method == EXPLICIT:
            if stepping.watches == 0:  # the wait is over
                stepping.watches = STIFF_STEPS
                return None
            if sum(memory.atol < float("inf")) // 2 > MAX_UNKNOWNS:
                stepping.watches = 0
                return None
            self.method, self._h = IMPLICIT, float(stepping.h)
            self._begun = (float(stepping.t), float(stepping.n_evaluations))
            stepping.watches, stepping.review = 0, stepping.n_steps + TRIAL
            return IMPLICIT
        t, cost = self._begun
        is_dearer = (implicit_cost(memory) - cost) * self._h > EXPLICIT_COST * (float(stepping.t) - t)
        if is_dearer:
            return self.go_back(memory)
        self._begun = (float(stepping.t), implicit_cost(memory))
        stepping.review = stepping.n_steps + TRIAL
        return None

    def may_go_back(self, status: Status) -> bool:
        """Whether a failure may be one of the implicit method only."""
        return self.method == IMPLICIT and status in (Status.NOT_CONVERGED, Status.STEP_TOO_SMALL)

    def go_back(self, memory: Memory) -> Integrator:
        """The explicit method, which will not look for stiffness for a while."""
        stepping = memory.stepping[0]
        self.method, stepping.h, stepping.review = EXPLICIT, self._h, stepping.n_steps + self._wait
        self._wait *= 10
        return EXPLICIT


def implicit_cost(memory: Memory) -> float:
    """Evaluations, and linear algebra in units of them (measured: an evaluation of n velocities about 80 n ns)."""
    newton, m = memory.newton[0], len(memory.jacobian)
    return float(memory.stepping[0].n_evaluations + newton.n_factors * m**2 / 100 + newton.n_iterations * m / 16)


def describe_integrators(integrators: Sequence[tuple[float, Integrator]]) -> str:
    """'dop853, radau from 0.0123 s'."""
    (_, first), *others = integrators
    shown = [f"{scheme.name} from {t:.4g} s" for t, scheme in others[:3]]
    more = [f"{len(others) - 3} more changes"] if len(others) > 3 else []
    return ", ".join([first.name, *shown, *more])


def say_if_compiling(scheme: Integrator, t: float) -> None:
    """A change in the middle of a run may have to compile: then say why it takes a while."""
    from pliant.kernels import _jit

    if scheme == IMPLICIT and _jit.CACHE_FOLDER and not _jit.is_cached(scheme.module):
        print(
            f"pliant: stiff from t = {t:.4g} s on; compiling {scheme.name}, once on this machine (about 10 s) ...",
            file=sys.stderr,
        )

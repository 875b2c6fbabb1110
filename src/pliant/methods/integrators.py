"""Integrators: who advances time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from pliant.methods.method import Method, parameter

ADAPTIVE = frozenset({"adaptive", "fixed step", "dense output", "events"})
FIXED = ADAPTIVE - {"adaptive"}


class AlphaCoefficients(NamedTuple):
    """Of the generalised-alpha family (Chung and Hulbert 1993)."""

    alpha_m: float
    alpha_f: float
    beta: float
    gamma: float


@dataclass(frozen=True)
class Integrator(Method):
    """Who advances time."""

    family: ClassVar[str] = "integrator"
    kind: ClassVar[str]  # "explicit", "implicit" or "alpha": what closures of loops say that they go with
    function: ClassVar[str] = "step"
    takes_multipliers: ClassVar[bool] = False  # whether forces of loops may be unknowns of its step

    @property
    def first(self) -> Integrator:
        """The one that begins."""
        return self

    @property
    def may_change(self) -> bool:
        """Whether another one may take over on the way."""
        return False

    @property
    def coefficients(self) -> AlphaCoefficients | None:
        """Of the alpha family, None of others."""
        return None

    @property
    def highest_order(self) -> int | None:
        """Of methods with variable order, None of others."""
        return None


@dataclass(frozen=True)
class RungeKutta(Integrator):
    kind: ClassVar[str] = "explicit"
    module: ClassVar[str] = "pliant.kernels.integrators.runge_kutta"
    supports: ClassVar[frozenset[str]] = ADAPTIVE


@dataclass(frozen=True)
class Dop853(RungeKutta):
    name: ClassVar[str] = "dop853"
    summary: ClassVar[str] = "Dormand-Prince 8(5,3), dense output of order 7"
    cost: ClassVar[str] = "12 evaluations a step, 3 more for dense output"
    reference: ClassVar[str] = "hairer1993"


@dataclass(frozen=True)
class AutoIntegrator(Dop853):
    """dop853, and radau while the equations are stiff."""

    name: ClassVar[str] = "auto"
    summary: ClassVar[str] = "dop853, and radau while the equations are stiff"

    @property
    def first(self) -> Integrator:
        return Dop853()

    @property
    def may_change(self) -> bool:
        return True


@dataclass(frozen=True)
class Dopri5(RungeKutta):
    name: ClassVar[str] = "dopri5"
    summary: ClassVar[str] = "Dormand-Prince 5(4), dense output of order 4"
    cost: ClassVar[str] = "6 evaluations a step"
    reference: ClassVar[str] = "dormand1980"


@dataclass(frozen=True)
class Rkf45(RungeKutta):
    name: ClassVar[str] = "rkf45"
    summary: ClassVar[str] = "Runge-Kutta-Fehlberg 4(5), local extrapolation, dense output of order 4"
    cost: ClassVar[str] = "6 evaluations a step, 1 more for dense output"
    reference: ClassVar[str] = "fehlberg1969"


@dataclass(frozen=True)
class Rk4(RungeKutta):
    name: ClassVar[str] = "rk4"
    summary: ClassVar[str] = "the classical Runge-Kutta method, fixed step"
    supports: ClassVar[frozenset[str]] = FIXED
    cost: ClassVar[str] = "4 evaluations a step, 1 more for dense output"
    reference: ClassVar[str] = "kutta1901"


@dataclass(frozen=True)
class Adams(Integrator):
    name: ClassVar[str] = "adams"
    summary: ClassVar[str] = "Adams-Bashforth-Moulton, predictor and corrector, variable order up to max_order"
    kind: ClassVar[str] = "explicit"
    module: ClassVar[str] = "pliant.kernels.integrators.adams"
    supports: ClassVar[frozenset[str]] = ADAPTIVE
    cost: ClassVar[str] = "2 evaluations a step, whatever the order; begins anew after every event"
    reference: ClassVar[str] = "shampine1975"

    max_order: int = parameter(12, "highest order of the predictor of adams", low=1, high=12, is_whole=True)

    @property
    def highest_order(self) -> int:
        return self.max_order


@dataclass(frozen=True)
class Radau(Integrator):
    name: ClassVar[str] = "radau"
    summary: ClassVar[str] = "Radau IIA of order 5, implicit, for stiff models"
    kind: ClassVar[str] = "implicit"
    module: ClassVar[str] = "pliant.kernels.integrators.radau"
    supports: ClassVar[frozenset[str]] = ADAPTIVE | {"stiff"}
    cost: ClassVar[str] = "3 evaluations an iteration, about 3 iterations a step, a Jacobian now and then"
    reference: ClassVar[str] = "hairer1996"


@dataclass(frozen=True)
class AlphaMethod(Integrator):
    """Of the generalised-alpha family: implicit, fixed step."""

    kind: ClassVar[str] = "alpha"
    takes_multipliers: ClassVar[bool] = True
    module: ClassVar[str] = "pliant.kernels.integrators.generalised_alpha"
    supports: ClassVar[frozenset[str]] = FIXED | {"stiff"}
    cost: ClassVar[str] = "1 evaluation an iteration, about 3 iterations a step, a Jacobian now and then"


def _second_order(alpha_m: float, alpha_f: float) -> AlphaCoefficients:
    """Second order, and the most damping of fast motion (Chung and Hulbert, 17 and 20)."""
    return AlphaCoefficients(alpha_m, alpha_f, 0.25 * (1.0 - alpha_m + alpha_f) ** 2, 0.5 - alpha_m + alpha_f)


@dataclass(frozen=True)
class GeneralisedAlpha(AlphaMethod):
    name: ClassVar[str] = "generalised_alpha"
    summary: ClassVar[str] = "Chung-Hulbert, fixed step, second order, damps fast motion as rho_inf says"
    reference: ClassVar[str] = "chung1993"

    rho_inf: float = parameter(
        0.8, "what is left per step of infinitely fast motion; 1 damps nothing, 0 everything", low=0.0, high=1.0
    )

    @property
    def coefficients(self) -> AlphaCoefficients:
        rho = self.rho_inf
        return _second_order((2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0))


@dataclass(frozen=True)
class HHT(AlphaMethod):
    name: ClassVar[str] = "hht"
    summary: ClassVar[str] = "Hilber-Hughes-Taylor, fixed step, second order, alpha from -1/3 to 0"
    reference: ClassVar[str] = "hilber1977"

    alpha: float = parameter(-0.1, "numerical damping of hht; 0 damps nothing", low=-1.0 / 3.0, high=0.0)

    @property
    def coefficients(self) -> AlphaCoefficients:
        return _second_order(0.0, -self.alpha)


@dataclass(frozen=True)
class Newmark(AlphaMethod):
    name: ClassVar[str] = "newmark"
    summary: ClassVar[str] = "Newmark's method, fixed step, by default the trapezoidal rule"
    reference: ClassVar[str] = "newmark1959"

    beta: float = parameter(0.25, "weight of the new acceleration in newmark's coordinates", low=0.0, high=1.0)
    gamma: float = parameter(
        0.5, "weight of the new acceleration in newmark's velocities; above 1/2 it damps", low=0.5, high=1.0
    )

    @property
    def coefficients(self) -> AlphaCoefficients:
        return AlphaCoefficients(0.0, 0.0, self.beta, self.gamma)


INTEGRATORS: tuple[type[Integrator], ...] = (Dop853, Dopri5, Rkf45, Rk4, Adams, Radau, GeneralisedAlpha, HHT, Newmark)

"""Integrators: who advances time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from pliant.errors import ModelError
from pliant.methods.method import Method, parameter
from pliant.system.newton import Rule

ADAPTIVE = frozenset({"adaptive", "fixed step", "dense output", "events"})
FIXED = ADAPTIVE - {"adaptive"}


class StepRule(NamedTuple):
    """A second-order method as the table of system/newton.py has it; by default it begins with linear accelerations."""

    rule: Rule = Rule.NEWMARK
    start_beta: float = 1.0 / 6.0
    start_gamma: float = 0.5
    alpha_m: float = 0.0
    alpha_f: float = 0.0
    theta: float = 1.0
    g1: float = 0.0
    g2: float = 0.0
    is_printed: bool = False


@dataclass(frozen=True)
class Integrator(Method):
    """Who advances time."""

    family: ClassVar[str] = "integrator"
    # "explicit", "implicit", "semi-implicit" or "second-order": what closures of loops say that they go with
    kind: ClassVar[str]
    function: ClassVar[str] = "step"
    uses_nearby: ClassVar[bool] = False  # whether it can do with kernels/nearby.py instead of some evaluations
    max_contact_rtol: ClassVar[float] = math.inf  # rtol that models with contacts are run with at most
    order: ClassVar[int]  # of the error that is left after so many steps
    evaluations_per_step: ClassVar[int]  # about

    @property
    def counterparts(self) -> tuple[Integrator, ...]:
        """Of other families, with error control, for checks: the first to be taken, and what is there if it fails."""
        return (Dop853(),)

    @property
    def first(self) -> Integrator:
        """The one that begins."""
        return self

    @property
    def may_change(self) -> bool:
        """Whether another one may take over on the way."""
        return False

    @property
    def takes_multipliers(self) -> bool:
        """Whether forces of loops may be unknowns of its step."""
        return False

    @property
    def step_rule(self) -> StepRule | None:
        """Of second-order methods, None of others."""
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
    order: ClassVar[int] = 5
    evaluations_per_step: ClassVar[int] = 7

    @property
    def counterparts(self) -> tuple[Integrator, ...]:
        return Adams(), Radau()


@dataclass(frozen=True)
class Dop853(RungeKutta):
    name: ClassVar[str] = "dop853"
    summary: ClassVar[str] = "Dormand-Prince 8(5,3), dense output of order 7"
    cost: ClassVar[str] = "12 evaluations a step, 3 more for dense output"
    order: ClassVar[int] = 8
    evaluations_per_step: ClassVar[int] = 15
    reference: ClassVar[str] = "hairer1993"


@dataclass(frozen=True)
class AutoIntegrator(Dop853):
    """dop853, and ark5 or radau while they cost less."""

    name: ClassVar[str] = "auto"
    summary: ClassVar[str] = "dop853, and ark5 or radau while they cost less"

    @property
    def first(self) -> Integrator:
        return Dop853()

    @property
    def may_change(self) -> bool:
        return True


@dataclass(frozen=True)
class BS5(RungeKutta):
    name: ClassVar[str] = "bs5"
    summary: ClassVar[str] = "Bogacki-Shampine 5(4), dense output of order 4"
    cost: ClassVar[str] = "7 evaluations a step, 1 more for dense output"
    reference: ClassVar[str] = "bogacki1996"


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
    order: ClassVar[int] = 4
    evaluations_per_step: ClassVar[int] = 5
    reference: ClassVar[str] = "kutta1901"


@dataclass(frozen=True)
class Adams(Integrator):
    name: ClassVar[str] = "adams"
    summary: ClassVar[str] = "Adams-Bashforth-Moulton, coordinates integrated twice, variable order up to max_order"
    kind: ClassVar[str] = "explicit"
    module: ClassVar[str] = "pliant.kernels.integrators.adams"
    supports: ClassVar[frozenset[str]] = ADAPTIVE
    cost: ClassVar[str] = "1 to 2 evaluations a step, whatever the order; begins anew after every event"
    order: ClassVar[int] = 8  # usually
    evaluations_per_step: ClassVar[int] = 2
    reference: ClassVar[str] = "shampine1975"
    uses_nearby: ClassVar[bool] = True

    max_order: int = parameter(
        14, "highest order of the predictor of adams; with a fixed step at most 12", low=1, high=14, is_whole=True
    )

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
    order: ClassVar[int] = 5
    evaluations_per_step: ClassVar[int] = 12
    reference: ClassVar[str] = "hairer1996"


@dataclass(frozen=True)
class AdditiveRungeKutta(Integrator):
    """Stiff forces implicit, all else explicit: no Jacobian, no iteration, O(n)."""

    kind: ClassVar[str] = "semi-implicit"
    module: ClassVar[str] = "pliant.kernels.integrators.ark"
    supports: ClassVar[frozenset[str]] = ADAPTIVE | {"stiff"}
    reference: ClassVar[str] = "kennedy2003"
    max_contact_rtol: ClassVar[float] = 1e-4  # looser ones step over contacts that graze

    @property
    def counterparts(self) -> tuple[Integrator, ...]:
        return Radau(), Dop853()


@dataclass(frozen=True)
class ARK4(AdditiveRungeKutta):
    name: ClassVar[str] = "ark4"
    summary: ClassVar[str] = (
        "additive Runge-Kutta 4(3): springs, beams and contacts implicit in O(n), all else explicit"
    )
    cost: ClassVar[str] = "6 evaluations a step, a tenth dearer each"
    order: ClassVar[int] = 4
    evaluations_per_step: ClassVar[int] = 6


@dataclass(frozen=True)
class ARK5(AdditiveRungeKutta):
    name: ClassVar[str] = "ark5"
    summary: ClassVar[str] = "additive Runge-Kutta 5(4), as ark4 for tighter tolerances"
    cost: ClassVar[str] = "8 evaluations a step, a tenth dearer each"
    order: ClassVar[int] = 5
    evaluations_per_step: ClassVar[int] = 8


@dataclass(frozen=True)
class SecondOrder(Integrator):
    """Of equations of second order: implicit, fixed step."""

    kind: ClassVar[str] = "second-order"
    module: ClassVar[str] = "pliant.kernels.integrators.second_order"
    supports: ClassVar[frozenset[str]] = FIXED | {"stiff"}
    cost: ClassVar[str] = "1 evaluation an iteration, about 3 iterations a step, a Jacobian now and then"
    order: ClassVar[int] = 2
    evaluations_per_step: ClassVar[int] = 4

    @property
    def counterparts(self) -> tuple[Integrator, ...]:
        return (AutoIntegrator(),)


@dataclass(frozen=True)
class NewmarkFamily(SecondOrder):
    """Whose coordinates at the end of a step are a weighted sum of accelerations at both ends."""

    @property
    def takes_multipliers(self) -> bool:
        rule = self.step_rule
        return rule is not None and rule.start_beta > 0.0


def _damping_most(alpha_m: float, alpha_f: float) -> StepRule:
    """Second order, and the most damping of fast motion (Chung and Hulbert, 17 and 20)."""
    return StepRule(
        start_beta=0.25 * (1.0 - alpha_m + alpha_f) ** 2,
        start_gamma=0.5 - alpha_m + alpha_f,
        alpha_m=alpha_m,
        alpha_f=alpha_f,
    )


@dataclass(frozen=True)
class GeneralisedAlpha(NewmarkFamily):
    name: ClassVar[str] = "generalised_alpha"
    summary: ClassVar[str] = "Chung-Hulbert, fixed step, second order, damps fast motion as rho_inf says"
    reference: ClassVar[str] = "chung1993"

    rho_inf: float = parameter(
        0.8, "what is left per step of infinitely fast motion; 1 damps nothing, 0 everything", low=0.0, high=1.0
    )

    @property
    def step_rule(self) -> StepRule:
        rho = self.rho_inf
        return _damping_most((2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0))


@dataclass(frozen=True)
class HHT(NewmarkFamily):
    name: ClassVar[str] = "hht"
    summary: ClassVar[str] = "Hilber-Hughes-Taylor, fixed step, second order, alpha from -1/3 to 0"
    reference: ClassVar[str] = "hilber1977"

    alpha: float = parameter(-0.1, "numerical damping of hht; 0 damps nothing", low=-1.0 / 3.0, high=0.0)

    @property
    def step_rule(self) -> StepRule:
        return _damping_most(0.0, -self.alpha)


@dataclass(frozen=True)
class Newmark(NewmarkFamily):
    name: ClassVar[str] = "newmark"
    summary: ClassVar[str] = "Newmark's method, fixed step, by default the trapezoidal rule"
    reference: ClassVar[str] = "newmark1959"

    beta: float = parameter(0.25, "weight of the new acceleration in newmark's coordinates", low=0.0, high=1.0)
    gamma: float = parameter(
        0.5, "weight of the new acceleration in newmark's velocities; above 1/2 it damps", low=0.5, high=1.0
    )

    @property
    def step_rule(self) -> StepRule:
        return StepRule(start_beta=self.beta, start_gamma=self.gamma)


@dataclass(frozen=True)
class FoxEuler(NewmarkFamily):
    name: ClassVar[str] = "fox_euler"
    summary: ClassVar[str] = "Newmark's method with beta 1/2 and gamma 1, fixed step, first order, damps much"
    reference: ClassVar[str] = "transfermatrix"

    @property
    def step_rule(self) -> StepRule:
        return StepRule(start_beta=0.5, start_gamma=1.0)


@dataclass(frozen=True)
class Wilson(SecondOrder):
    name: ClassVar[str] = "wilson"
    summary: ClassVar[str] = "Wilson's theta method, fixed step, second order: equilibrium theta steps ahead"
    cost: ClassVar[str] = "as newmark, and 1 evaluation more a step"
    reference: ClassVar[str] = "bathe1973"

    theta: float = parameter(
        1.4, "how many steps ahead wilson looks; unconditionally stable from 1.366 on", low=1.0, high=10.0
    )

    @property
    def step_rule(self) -> StepRule:
        return StepRule(Rule.WILSON, theta=self.theta)


@dataclass(frozen=True)
class Houbolt(SecondOrder):
    name: ClassVar[str] = "houbolt"
    summary: ClassVar[str] = "Houbolt's method, fixed step, second order, from the last three positions; damps much"
    reference: ClassVar[str] = "houbolt1950"

    @property
    def step_rule(self) -> StepRule:
        return StepRule(Rule.HOUBOLT)


@dataclass(frozen=True)
class Proposed(SecondOrder):
    name: ClassVar[str] = "proposed"
    summary: ClassVar[str] = "accelerations of three instants, fixed step, third order, stable up to omega h = 2.45"
    supports: ClassVar[frozenset[str]] = FIXED
    reference: ClassVar[str] = "transfermatrix"

    g1: float = parameter(1.0 / 3.0, "weight of the past in proposed's velocities; 1/3: third order", low=0.0, high=1.5)
    g2: float = parameter(
        1.0, "weight of the past in proposed's coordinates; below 3 g1 undamped motion grows", low=0.0, high=1.5
    )
    version: str = parameter(
        "consistent",
        "printed: with the misprint of the thesis, which is wrong at every step length",
        choices=("consistent", "printed"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        is_of_thesis = abs(self.g1 - 1.0 / 3.0) < 1e-3 and self.g2 == 0.5
        if self.version == "printed" and not is_of_thesis:
            raise ModelError(
                f"version: 'printed' is the thesis' own method, g1 = 1/3 and g2 = 1/2; found g1 = {self.g1:g}, "
                f"g2 = {self.g2:g}: say g2 = 0.5 with it, or version = 'consistent'"
            )

    @property
    def step_rule(self) -> StepRule:
        return StepRule(Rule.PROPOSED, g1=self.g1, g2=self.g2, is_printed=self.version == "printed")


INTEGRATORS: tuple[type[Integrator], ...] = (
    Dop853,
    BS5,
    Dopri5,
    Rkf45,
    Rk4,
    Adams,
    Radau,
    ARK4,
    ARK5,
    GeneralisedAlpha,
    HHT,
    Newmark,
    FoxEuler,
    Wilson,
    Houbolt,
    Proposed,
)

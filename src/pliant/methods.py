"""One row per method. Docs, command line, tests, benchmarks and error messages are made from these tables."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pliant.errors import ModelError


@dataclass(frozen=True)
class Method:
    """A formulation, an integrator or a law of contact: where it lives, what it can do, its cost, who invented it."""

    name: str
    summary: str
    module: str
    function: str
    supports: frozenset[str]
    cost: str
    reference: str  # key in docs/bibliography.md
    options: tuple[str, ...] = ()  # of simulate, that this method alone (and its family) takes
    response: str = ""  # of a formulation: module that solves again with its factors

    def load(self, function: str = "") -> Any:
        """Import the module, which compiles its kernels or loads them from the cache; its function, or another one."""
        return getattr(importlib.import_module(self.module), function or self.function)

    def load_response(self) -> Any:
        """The kernel of a formulation that solves again with its factors."""
        return importlib.import_module(self.response).respond


RIGID_TREE = frozenset({"tree", "floating base", "prescribed motion", "loads"})

FORMULATIONS = (
    Method(
        name="articulated",
        summary="articulated bodies with symmetric blocks",
        module="pliant.kernels.formulations.articulated",
        function="articulated",
        supports=RIGID_TREE | {"flexible bodies", "acceleration"},
        cost="O(n)",
        reference="featherstone2008",
        response="pliant.kernels.responses.articulated",
    ),
    Method(
        name="boltzmann_hamel",
        summary="Boltzmann-Hamel equations in quasi-velocities, momentum sweeps",
        module="pliant.kernels.formulations.boltzmann_hamel",
        function="boltzmann_hamel",
        supports=RIGID_TREE | {"acceleration", "equations"},
        cost="O(n) spherical chains, O(n^2) matrix + O(n^3) solve otherwise",
        reference="boltzmannhamel",
        response="pliant.kernels.responses.dense",
    ),
    Method(
        name="denoc",
        summary="decoupled natural orthogonal complement, inertia matrix factorised as U D U^T by recursion",
        module="pliant.kernels.formulations.denoc",
        function="denoc",
        supports=RIGID_TREE | {"acceleration", "equations"},
        cost="O(n)",
        reference="denoc",
        response="pliant.kernels.responses.denoc",
    ),
    Method(
        name="gibbs_appell",
        summary="recursive Gibbs-Appell equations, the Gibbs function built link by link",
        module="pliant.kernels.formulations.gibbs_appell",
        function="gibbs_appell",
        supports=RIGID_TREE | {"flexible bodies", "acceleration", "equations"},
        cost="O(n^2) matrix + O(n^3) solve",
        reference="gibbsappell",
        response="pliant.kernels.responses.dense",
    ),
)

_RUNGE_KUTTA: dict[str, Any] = {"module": "pliant.kernels.integrators.runge_kutta", "function": "step"}
ADAPTIVE = frozenset({"adaptive", "fixed step", "dense output", "events"})
_ALPHA: dict[str, Any] = {
    "module": "pliant.kernels.integrators.generalised_alpha",
    "function": "step",
    "supports": (ADAPTIVE - {"adaptive"}) | {"stiff"},
    "cost": "1 evaluation an iteration, about 3 iterations a step, a Jacobian now and then",
}

INTEGRATORS = (
    Method(
        name="dop853",
        summary="Dormand-Prince 8(5,3), dense output of order 7",
        supports=ADAPTIVE,
        cost="12 evaluations a step, 3 more for dense output",
        reference="hairer1993",
        **_RUNGE_KUTTA,
    ),
    Method(
        name="dopri5",
        summary="Dormand-Prince 5(4), dense output of order 4",
        supports=ADAPTIVE,
        cost="6 evaluations a step",
        reference="dormand1980",
        **_RUNGE_KUTTA,
    ),
    Method(
        name="rkf45",
        summary="Runge-Kutta-Fehlberg 4(5), local extrapolation, dense output of order 4",
        supports=ADAPTIVE,
        cost="6 evaluations a step, 1 more for dense output",
        reference="fehlberg1969",
        **_RUNGE_KUTTA,
    ),
    Method(
        name="rk4",
        summary="the classical Runge-Kutta method, fixed step",
        supports=ADAPTIVE - {"adaptive"},
        cost="4 evaluations a step, 1 more for dense output",
        reference="kutta1901",
        **_RUNGE_KUTTA,
    ),
    Method(
        name="radau",
        summary="Radau IIA of order 5, implicit, for stiff models",
        module="pliant.kernels.integrators.radau",
        function="step",
        supports=ADAPTIVE | {"stiff"},
        cost="3 evaluations an iteration, about 3 iterations a step, a Jacobian now and then",
        reference="hairer1996",
    ),
    Method(
        name="generalised_alpha",
        summary="Chung-Hulbert, fixed step, second order, damps fast motion as rho_inf says",
        reference="chung1993",
        options=("rho_inf",),
        **_ALPHA,
    ),
    Method(
        name="hht",
        summary="Hilber-Hughes-Taylor, fixed step, second order, alpha from -1/3 to 0",
        reference="hilber1977",
        options=("alpha",),
        **_ALPHA,
    ),
    Method(
        name="newmark",
        summary="Newmark's method, fixed step, by default the trapezoidal rule",
        reference="newmark1959",
        options=("beta", "gamma"),
        **_ALPHA,
    ),
)


def _normal(name: str, summary: str, reference: str, supports: str = "restitution") -> Method:
    words = frozenset(supports.split(", ")) if supports else frozenset[str]()
    return Method(name, summary, "pliant.kernels.contact.normal", "normal_force", words, "one power", reference)


NORMAL_LAWS = (
    _normal("hooke", "K d", "johnson1985", ""),
    _normal("kelvin-voigt", "K d + C d'", "goldsmith1960", "damping"),
    _normal("hertz", "K d^n", "johnson1985", ""),
    _normal("hunt-crossley", "X = 3/2 (1 - e)", "hunt1975", "restitution, damping"),
    _normal("herbert-mcwhannell", "X = 6 (1 - e)/((2 e - 1)^2 + 3)", "herbert1977"),
    _normal("lee-wang", "X = 3/4 (1 - e)", "lee1983"),
    _normal("lankarani-nikravesh", "X = 3/4 (1 - e^2)", "lankarani1990"),
    _normal("gonthier", "X = (1 - e^2)/e", "gonthier2004"),
    _normal("zhiying-qishao", "X = 3/4 (1 - e^2) exp(2 (1 - e))", "zhang2006"),
    _normal("flores", "X = 8/5 (1 - e)/e", "flores2011"),
    _normal("gharib-hurmuzlu", "X = 1/e, for small e", "gharib2012"),
    _normal("hu-guo", "X = 3/2 (1 - e)/e", "hu2015"),
    _normal("exact", "ln((1 + X)/(1 - X e)) = X (1 + e): delivers e", "hunt1975"),
)


def _friction(name: str, summary: str, reference: str, supports: str) -> Method:
    words = frozenset({"contacts", "joints", supports})
    return Method(name, summary, "pliant.kernels.contact.friction", "slip_force", words, "explicit", reference)


FRICTION_LAWS = (
    _friction("coulomb", "mu_k N", "marques2016", "sticking"),
    _friction("stiction", "mu_s N until it breaks away, then mu_k N", "marques2016", "sticking"),
    _friction("viscous", "mu_k N + c_v v", "marques2016", "sticking"),
    _friction("stribeck", "mu falls from mu_s to mu_k with speed, + c_v v", "armstrong1994", "sticking"),
    _friction("karnopp", "sticks below a speed, mu_s N until it breaks away", "karnopp1985", "sticking"),
    _friction("bengisu-akay", "parabola up to mu_s at v0, then falling to mu_k", "bengisu1994", "smoothed"),
    _friction("ambrosio", "0 below v0, mu_k N above v1, linear between", "ambrosio2003", "smoothed"),
    _friction("atan", "mu_k N (2/pi) atan(a v)", "marques2016", "smoothed"),
    _friction("tanh", "mu_k N tanh(a v)", "marques2016", "smoothed"),
    _friction("step-stribeck", "cubic steps to mu_s at v0 and to mu_k at v1", "marques2016", "smoothed"),
    _friction("dahl", "bristles: stiffness sigma0, mu_k N in the end", "dahl1976", "bristles"),
    _friction("lugre", "bristles with damping and Stribeck effect", "canudas1995", "bristles"),
)

_CLOSURE = "pliant.kernels.closures"
_ANY_LOOPS = frozenset({"redundant conditions", "flexible bodies"})
_ANY_INTEGRATOR = frozenset({"explicit integrators", "radau integrators", "alpha integrators"})
CLOSURES = (
    Method(
        name="multipliers",
        summary="multipliers from accelerations (index 1), positions and speeds put back on the loops each step",
        module=f"{_CLOSURE}.multipliers",
        function="close",
        supports=_ANY_LOOPS | _ANY_INTEGRATOR,
        cost="one solve of the open tree, and one more way in and out with its factors for every eight conditions",
        reference="denoc",
        options=("baumgarte",),
    ),
    Method(
        name="reduced",
        summary="minimal coordinates: dependent ones follow from the others at every evaluation",
        module=f"{_CLOSURE}.reduced",
        function="impose",
        supports=_ANY_LOOPS | {"explicit integrators"},
        cost="as multipliers; dependent hinges of a leg in the plane in closed form, all else by Newton's method",
        reference="denoc",
    ),
    Method(
        name="springs",
        summary="virtual springs and dampers in place of the loops",
        module=f"{_CLOSURE}.springs",
        function="gather_loop_springs",
        supports=_ANY_LOOPS | _ANY_INTEGRATOR,
        cost="O(n), but stiff",
        reference="denoc",
        options=("closure_stiffness", "closure_damping", "closure_form", "closure_prestretch"),
    ),
    Method(
        name="implicit",
        summary="multipliers as unknowns of an implicit step (index 3)",
        module=f"{_CLOSURE}.given",
        function="conditions",
        supports=_ANY_LOOPS | {"alpha integrators"},
        cost="an implicit step, and in each the multipliers' own solve",
        reference="arnold2007",
    ),
)

FAMILIES: dict[str, tuple[Method, ...]] = {
    "formulation": FORMULATIONS,
    "integrator": INTEGRATORS,
    "closure": CLOSURES,
    "normal law": NORMAL_LAWS,
    "friction law": FRICTION_LAWS,
}
AUTO = {"formulation": "articulated", "integrator": "dop853", "closure": "multipliers"}


def find_method(family: str, name: str, needs: Sequence[str] = ()) -> Method:
    """The row of a name ("auto": the default), which must support everything in needs."""
    table = FAMILIES[family]
    is_text = isinstance(name, str)
    wanted = AUTO[family] if is_text and name == "auto" else name
    method = next((row for row in table if is_text and row.name == wanted), None)
    if method is None:
        close = difflib.get_close_matches(name, [row.name for row in table], 1) if is_text else ()
        hint = f"; did you mean {close[0]!r}?" if close else ""
        allowed = ", ".join(["auto", *(row.name for row in table)])
        found = f"{name[:60]!r}" if is_text else f"of type {type(name).__name__}"
        raise ModelError(f"{family} {found} is not known{hint} (allowed: {allowed})")
    for need in needs:
        if need not in method.supports:
            able = ", ".join(row.name for row in table if need in row.supports) or "none yet"
            raise ModelError(f"{family} {name!r} does not support {need}; these do: {able}")
    return method


def find_formulation(name: str, has_modes: bool) -> Method:
    """The row of a formulation that finds the accelerations of a model with or without beams that bend."""
    return find_method(
        "formulation", name, needs=("flexible bodies", "acceleration") if has_modes else ("acceleration",)
    )

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
    """A formulation or an integrator: where it lives, what it can do, what it costs, who invented it."""

    name: str
    summary: str
    module: str
    function: str
    supports: frozenset[str]
    cost: str
    reference: str  # key in docs/bibliography.md

    def load(self, function: str = "") -> Any:
        """Import the module, which compiles its kernels or loads them from the cache; its function, or another one."""
        return getattr(importlib.import_module(self.module), function or self.function)


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
    ),
    Method(
        name="boltzmann_hamel",
        summary="Boltzmann-Hamel equations in quasi-velocities, momentum sweeps",
        module="pliant.kernels.formulations.boltzmann_hamel",
        function="boltzmann_hamel",
        supports=RIGID_TREE | {"acceleration", "equations"},
        cost="O(n) spherical chains, O(n^2) matrix + O(n^3) solve otherwise",
        reference="boltzmannhamel",
    ),
    Method(
        name="gibbs_appell",
        summary="recursive Gibbs-Appell equations, the Gibbs function built link by link",
        module="pliant.kernels.formulations.gibbs_appell",
        function="gibbs_appell",
        supports=RIGID_TREE | {"flexible bodies", "acceleration", "equations"},
        cost="O(n^2) matrix + O(n^3) solve",
        reference="gibbsappell",
    ),
)

_RUNGE_KUTTA = {"module": "pliant.kernels.integrators.runge_kutta", "function": "step"}
ADAPTIVE = frozenset({"adaptive", "fixed step", "dense output", "events"})

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
)

FAMILIES: dict[str, tuple[Method, ...]] = {"formulation": FORMULATIONS, "integrator": INTEGRATORS}
AUTO = {"formulation": "articulated", "integrator": "dop853"}


def find_method(family: str, name: str, needs: Sequence[str] = ()) -> Method:
    """The row of a name ("auto": the default), which must support everything in needs."""
    table = FAMILIES[family]
    wanted = AUTO[family] if name == "auto" else name
    method = next((row for row in table if row.name == wanted), None)
    if method is None:
        close = difflib.get_close_matches(str(name), [row.name for row in table], 1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        allowed = ", ".join(["auto", *(row.name for row in table)])
        raise ModelError(f"{family} {name!r} is not known{hint} (allowed: {allowed})")
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

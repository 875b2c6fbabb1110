"""Closures: how the loops of a model are closed. Each puts its kernels and numbers where kernels look for them."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, ClassVar

from pliant.methods.integrators import Integrator
from pliant.methods.method import Method, parameter
from pliant.model.loops import SPRING_FORMS
from pliant.system.loop_tables import SpringForm

_ANY_LOOPS = frozenset({"redundant constraints", "flexible bodies"})
_ANY_INTEGRATOR = frozenset(
    {"explicit integrators", "implicit integrators", "semi-implicit integrators", "second-order integrators"}
)


def _address(module: str, name: str) -> int:
    from pliant.kernels import _jit

    return _jit.address(getattr(importlib.import_module(f"pliant.kernels.closures.{module}"), name))


def _without_closure(work: Any) -> Any:
    """work.calls without anything that closes loops, and no partition held."""
    calls, work.closure[0].is_partition_held = work.calls[0], 0
    for name in (
        "closed_formulation",
        "loop_forces",
        "loop_tangents",
        "solve_dependent",
        "end_step",
        "constraint_matrices",
    ):
        calls[name] = 0
    return calls


@dataclass(frozen=True)
class Closure(Method):
    """How loops are closed."""

    family: ClassVar[str] = "closure"
    keeps_closed: ClassVar[bool] = True  # else loops may be open, by what springs stretch

    def goes_with(self, integrator: Integrator) -> bool:
        return f"{integrator.kind} integrators" in self.supports

    def install(self, work: Any) -> None:
        """Put addresses and parameters into work.calls and work.closure; calls.formulation is that of the open tree."""
        work.calls[0].open_formulation, work.closure[0].baumgarte_rate = work.calls[0].formulation, 0.0
        self.use_per_state(work)

    def use_per_state(self, work: Any) -> None:
        """As before a run: every state is evaluated by itself."""
        calls = _without_closure(work)
        # multipliers from the equations of motion
        calls.formulation = _address("multipliers", "close")
        calls.end_step = _address("projection", "project_near_dead_point")

    @property
    def prestretched_springs(self) -> Springs | None:
        """Springs for which the start is moved, so that they begin with the forces of the closed loops."""
        return None

    def has_unknowns_of(self, integrator: Integrator) -> bool:
        """Whether the multipliers are unknowns of the integrator."""
        return False

    def hand_to_integrator(self, work: Any) -> None:
        """Multipliers as the integrator solves for them; those of work are the first."""
        calls = work.calls[0]
        calls.formulation, calls.loop_forces = (
            calls.open_formulation,
            _address("springs", "gather_prescribed_multipliers"),
        )
        calls.constraint_matrices, work.closure[0].spring_compliance = _address("implicit", "constraint_matrices"), 0.0


@dataclass(frozen=True)
class Multipliers(Closure):
    name: ClassVar[str] = "multipliers"
    summary: ClassVar[str] = (
        "multipliers from accelerations (index 1), positions and velocities projected onto the loops each step"
    )
    module: ClassVar[str] = "pliant.kernels.closures.multipliers"
    function: ClassVar[str] = "close"
    supports: ClassVar[frozenset[str]] = _ANY_LOOPS | _ANY_INTEGRATOR
    cost: ClassVar[str] = (
        "one solve of the open tree, and one more way in and out with its factors for every eight constraints"
    )
    reference: ClassVar[str] = "denoc"

    baumgarte: float = parameter(0.0, "rate at which open loops close, in place of projections", unit="1/s", low=0.0)

    def install(self, work: Any) -> None:
        super().install(work)
        work.closure[0].baumgarte_rate = self.baumgarte

    def use_per_state(self, work: Any) -> None:
        super().use_per_state(work)
        if self.baumgarte == 0.0:
            work.calls[0].end_step = _address("projection", "project")


@dataclass(frozen=True)
class Reduced(Closure):
    name: ClassVar[str] = "reduced"
    summary: ClassVar[str] = "minimal coordinates: dependent ones follow from the others at every evaluation"
    module: ClassVar[str] = "pliant.kernels.closures.reduced"
    function: ClassVar[str] = "solve_dependent"
    supports: ClassVar[frozenset[str]] = _ANY_LOOPS | {"explicit integrators"}
    cost: ClassVar[str] = (
        "as multipliers; dependent hinges of a leg in the plane in closed form, all else by Newton's method"
    )
    reference: ClassVar[str] = "denoc"

    def use_per_state(self, work: Any) -> None:
        super().use_per_state(work)
        work.calls[0].solve_dependent = _address("reduced", "solve_dependent")


@dataclass(frozen=True)
class Springs(Closure):
    name: ClassVar[str] = "springs"
    summary: ClassVar[str] = "virtual springs and dampers in place of the loops"
    module: ClassVar[str] = "pliant.kernels.closures.springs"
    function: ClassVar[str] = "gather_loop_springs"
    supports: ClassVar[frozenset[str]] = _ANY_LOOPS | _ANY_INTEGRATOR
    cost: ClassVar[str] = "O(n), but stiff"
    reference: ClassVar[str] = "denoc"
    keeps_closed: ClassVar[bool] = False

    stiffness: float = parameter(
        1e6, "of the springs, such as 1e6", unit="N/m, N m/rad", low=0.0, is_open=True, key="closure_stiffness"
    )
    damping: float = parameter(0.0, "of their dampers", unit="N s/m, N m s/rad", low=0.0, key="closure_damping")
    form: str = parameter("elongation", "whose springs they are", choices=SPRING_FORMS, key="closure_form")
    prestretch: bool = parameter(False, "whether they start stretched as the reactions ask", key="closure_prestretch")

    def install(self, work: Any) -> None:
        super().install(work)
        closure = work.closure[0]
        closure.spring_stiffness, closure.spring_damping = self.stiffness, self.damping
        closure.spring_form = SpringForm(SPRING_FORMS.index(self.form))

    def use_per_state(self, work: Any) -> None:
        calls = _without_closure(work)
        calls.formulation, calls.loop_forces = calls.open_formulation, _address("springs", "gather_loop_springs")
        calls.loop_tangents = _address("springs", "put_loop_tangents")

    @property
    def prestretched_springs(self) -> Springs | None:
        return self if self.prestretch else None

    def has_unknowns_of(self, integrator: Integrator) -> bool:
        """In steps of Newmark's family, to which they are then not stiff."""
        return self.form == "elongation" and integrator.takes_multipliers

    def hand_to_integrator(self, work: Any) -> None:
        super().hand_to_integrator(work)
        # redundant ones too: each has its spring
        work.closure[0].spring_compliance, work.closure[0].n_active = 1.0 / self.stiffness, len(work.constraints)
        work.constraint_order[:] = range(len(work.constraints))


@dataclass(frozen=True)
class Implicit(Closure):
    name: ClassVar[str] = "implicit"
    summary: ClassVar[str] = "multipliers as unknowns of an implicit step (index 3)"
    module: ClassVar[str] = "pliant.kernels.closures.implicit"
    function: ClassVar[str] = "constraint_matrices"
    supports: ClassVar[frozenset[str]] = _ANY_LOOPS | {"second-order integrators"}
    cost: ClassVar[str] = "an implicit step, and in each the multipliers' own solve, sparse where loops connect branches of the tree"
    reference: ClassVar[str] = "arnold2007"

    def use_per_state(self, work: Any) -> None:
        super().use_per_state(work)
        work.calls[0].end_step = _address("implicit", "end_step")

    def goes_with(self, integrator: Integrator) -> bool:
        return super().goes_with(integrator) and integrator.takes_multipliers

    def has_unknowns_of(self, integrator: Integrator) -> bool:
        return True

    def hand_to_integrator(self, work: Any) -> None:
        super().hand_to_integrator(work)
        work.calls[0].closed_formulation = _address("multipliers", "close")


CLOSURES: tuple[type[Closure], ...] = (Multipliers, Reduced, Springs, Implicit)

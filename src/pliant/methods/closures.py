"""Closures: how the loops of a model are closed. Each puts its kernels and numbers where kernels look for them."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, ClassVar

from pliant.methods.integrators import Integrator
from pliant.methods.method import Method, parameter
from pliant.model.loops import SPRING_FORMS
from pliant.system.loop_tables import SpringForm

_ANY_LOOPS = frozenset({"redundant conditions", "flexible bodies"})
_ANY_INTEGRATOR = frozenset({"explicit integrators", "radau integrators", "alpha integrators"})


def _address(module: str, name: str) -> int:
    from pliant.kernels import _jit

    return _jit.address(getattr(importlib.import_module(f"pliant.kernels.closures.{module}"), name))


@dataclass(frozen=True)
class Closure(Method):
    """How loops are closed."""

    family: ClassVar[str] = "closure"
    keeps_closed: ClassVar[bool] = True  # else loops may be open, by what springs stretch

    def goes_with(self, integrator: Integrator) -> bool:
        return f"{integrator.kind} integrators" in self.supports

    def install(self, run: Any) -> None:
        """Put addresses and numbers into work.run, where run.formulation is that of the open tree."""
        run.open_formulation, run.baumgarte = run.formulation, 0.0
        self.use_per_state(run)

    def use_per_state(self, run: Any) -> None:
        """As before a run: every state is looked at by itself."""
        run.impose = run.settle = run.conditions = run.holds_choice = run.loop_forces = run.closed_formulation = 0
        # multipliers from the equations of motion
        run.formulation = _address("multipliers", "close")
        run.settle = _address("multipliers", "project_beside")

    @property
    def starts_stretched(self) -> bool:
        """Whether the start is moved, so that springs begin with the forces of the closed loops."""
        return False

    def has_unknowns_of(self, integrator: Integrator) -> bool:
        """Whether the multipliers are unknowns of the integrator."""
        return False

    def hand_to_integrator(self, work: Any) -> None:
        """Multipliers as the integrator finds them; those of work are the first."""
        run = work.run[0]
        run.formulation, run.loop_forces = run.open_formulation, _address("springs", "gather_given_multipliers")
        run.conditions, run.compliance = _address("given", "conditions"), 0.0


@dataclass(frozen=True)
class Multipliers(Closure):
    name: ClassVar[str] = "multipliers"
    summary: ClassVar[str] = (
        "multipliers from accelerations (index 1), positions and speeds put back on the loops each step"
    )
    module: ClassVar[str] = "pliant.kernels.closures.multipliers"
    function: ClassVar[str] = "close"
    supports: ClassVar[frozenset[str]] = _ANY_LOOPS | _ANY_INTEGRATOR
    cost: ClassVar[str] = (
        "one solve of the open tree, and one more way in and out with its factors for every eight conditions"
    )
    reference: ClassVar[str] = "denoc"

    baumgarte: float = parameter(
        0.0, "rate at which what is open closes, in place of putting it back", unit="1/s", low=0.0
    )

    def install(self, run: Any) -> None:
        super().install(run)
        run.baumgarte = self.baumgarte

    def use_per_state(self, run: Any) -> None:
        super().use_per_state(run)
        if self.baumgarte == 0.0:
            run.settle = _address("multipliers", "project")


@dataclass(frozen=True)
class Reduced(Closure):
    name: ClassVar[str] = "reduced"
    summary: ClassVar[str] = "minimal coordinates: dependent ones follow from the others at every evaluation"
    module: ClassVar[str] = "pliant.kernels.closures.reduced"
    function: ClassVar[str] = "impose"
    supports: ClassVar[frozenset[str]] = _ANY_LOOPS | {"explicit integrators"}
    cost: ClassVar[str] = (
        "as multipliers; dependent hinges of a leg in the plane in closed form, all else by Newton's method"
    )
    reference: ClassVar[str] = "denoc"

    def use_per_state(self, run: Any) -> None:
        super().use_per_state(run)
        run.impose = _address("reduced", "impose")


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

    def install(self, run: Any) -> None:
        super().install(run)
        run.loop_stiffness, run.loop_damping = self.stiffness, self.damping
        run.loop_form = SpringForm(SPRING_FORMS.index(self.form))

    def use_per_state(self, run: Any) -> None:
        run.impose = run.settle = run.conditions = run.holds_choice = run.closed_formulation = 0
        run.loop_forces = _address("springs", "gather_loop_springs")

    @property
    def starts_stretched(self) -> bool:
        return self.prestretch

    def has_unknowns_of(self, integrator: Integrator) -> bool:
        """In steps of the alpha family, to which they are then not stiff."""
        return self.form == "elongation" and integrator.takes_multipliers

    def hand_to_integrator(self, work: Any) -> None:
        super().hand_to_integrator(work)
        # redundant ones too: each has its spring
        work.run[0].compliance, work.run[0].n_dependent = 1.0 / self.stiffness, len(work.closings)
        work.condition_order[:] = range(len(work.closings))


@dataclass(frozen=True)
class Implicit(Closure):
    name: ClassVar[str] = "implicit"
    summary: ClassVar[str] = "multipliers as unknowns of an implicit step (index 3)"
    module: ClassVar[str] = "pliant.kernels.closures.given"
    function: ClassVar[str] = "conditions"
    supports: ClassVar[frozenset[str]] = _ANY_LOOPS | {"alpha integrators"}
    cost: ClassVar[str] = "an implicit step, and in each the multipliers' own solve"
    reference: ClassVar[str] = "arnold2007"

    def use_per_state(self, run: Any) -> None:
        super().use_per_state(run)
        run.settle = _address("given", "settle")

    def has_unknowns_of(self, integrator: Integrator) -> bool:
        return True

    def hand_to_integrator(self, work: Any) -> None:
        super().hand_to_integrator(work)
        work.run[0].closed_formulation = _address("multipliers", "close")


CLOSURES: tuple[type[Closure], ...] = (Multipliers, Reduced, Springs, Implicit)

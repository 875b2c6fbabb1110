"""Formulations: the equations of motion, and how accelerations are found."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, ClassVar

from pliant.methods.integrators import Integrator
from pliant.methods.method import Method, parameter
from pliant.model.model import Model

RIGID_TREE = frozenset({"tree", "floating base", "prescribed motion", "loads"})


@dataclass(frozen=True)
class Formulation(Method):
    """Who computes accelerations."""

    family: ClassVar[str] = "formulation"
    response: ClassVar[str]  # module that solves again with the factors of the equations
    takes_stiffness: ClassVar[bool] = False  # whether M may hold stiff forces, as semi-implicit integrators need it

    @classmethod
    def refusal(cls, model: Model) -> str:
        """Why it does not take a model, beyond what it does not support; empty where it does."""
        return ""

    def leaves_factors(self, world: Any) -> bool:
        """Whether M^-1 x costs less than an evaluation after one; world: the row of a packed model."""
        return True

    def stepper(self, integrator: Integrator) -> str:
        """Module of its own steps with an integrator; empty: it gives accelerations, and the integrator steps."""
        return ""

    def step_refusal(self, model: Model, integrator: Integrator) -> str:
        """Why its own steps do not take a model with an integrator; empty where they do."""
        return ""

    @property
    def max_linearisations(self) -> int:
        """Of the equations of motion in one of its own steps."""
        return 0

    @classmethod
    def load_response(cls) -> Any:
        """The kernel that solves again with its factors."""
        return importlib.import_module(cls.response).respond


@dataclass(frozen=True)
class Articulated(Formulation):
    name: ClassVar[str] = "articulated"
    summary: ClassVar[str] = "articulated bodies with symmetric blocks"
    module: ClassVar[str] = "pliant.kernels.formulations.articulated"
    function: ClassVar[str] = "articulated"
    supports: ClassVar[frozenset[str]] = RIGID_TREE | {"flexible bodies", "acceleration"}
    cost: ClassVar[str] = "O(n)"
    reference: ClassVar[str] = "featherstone2008"
    response: ClassVar[str] = "pliant.kernels.formulations.articulated_response"
    takes_stiffness: ClassVar[bool] = True


@dataclass(frozen=True)
class BoltzmannHamel(Formulation):
    name: ClassVar[str] = "boltzmann_hamel"
    summary: ClassVar[str] = "Boltzmann-Hamel equations in quasi-velocities, momentum sweeps"
    module: ClassVar[str] = "pliant.kernels.formulations.boltzmann_hamel"
    function: ClassVar[str] = "boltzmann_hamel"
    supports: ClassVar[frozenset[str]] = RIGID_TREE | {"flexible bodies", "acceleration", "equations"}
    cost: ClassVar[str] = "O(n) spherical chains, O(n^2) matrix + O(n^3) solve otherwise"
    reference: ClassVar[str] = "boltzmannhamel"
    response: ClassVar[str] = "pliant.kernels.rows_response"

    def leaves_factors(self, world: Any) -> bool:
        return not world.is_spherical_chain


@dataclass(frozen=True)
class DeNOC(Formulation):
    name: ClassVar[str] = "denoc"
    summary: ClassVar[str] = (
        "decoupled natural orthogonal complement, inertia matrix factorised as U D U^T by recursion"
    )
    module: ClassVar[str] = "pliant.kernels.formulations.denoc"
    function: ClassVar[str] = "denoc"
    supports: ClassVar[frozenset[str]] = RIGID_TREE | {"flexible bodies", "acceleration", "equations"}
    cost: ClassVar[str] = "O(n)"
    reference: ClassVar[str] = "denoc"
    response: ClassVar[str] = "pliant.kernels.formulations.denoc_response"


@dataclass(frozen=True)
class GibbsAppell(Formulation):
    name: ClassVar[str] = "gibbs_appell"
    summary: ClassVar[str] = "recursive Gibbs-Appell equations, the Gibbs function built link by link"
    module: ClassVar[str] = "pliant.kernels.formulations.gibbs_appell"
    function: ClassVar[str] = "gibbs_appell"
    supports: ClassVar[frozenset[str]] = RIGID_TREE | {"flexible bodies", "acceleration", "equations"}
    cost: ClassVar[str] = "O(n^2) matrix + O(n^3) solve"
    reference: ClassVar[str] = "gibbsappell"
    response: ClassVar[str] = "pliant.kernels.rows_response"


@dataclass(frozen=True)
class Lagrange(Formulation):
    name: ClassVar[str] = "lagrange"
    summary: ClassVar[str] = "recursive Lagrangian equations with 4x4 transforms"
    module: ClassVar[str] = "pliant.kernels.formulations.lagrange"
    function: ClassVar[str] = "lagrange"
    supports: ClassVar[frozenset[str]] = RIGID_TREE | {"flexible bodies", "acceleration", "equations"}
    cost: ClassVar[str] = "O(n^2) matrix + O(n^3) solve"
    reference: ClassVar[str] = "hollerbach1980"
    response: ClassVar[str] = "pliant.kernels.rows_response"


@dataclass(frozen=True)
class TransferMatrix(Formulation):
    name: ClassVar[str] = "transfer_matrix"
    summary: ClassVar[str] = "Riccati transfer matrices of planar chains of hinges, in discrete time too"
    module: ClassVar[str] = "pliant.kernels.transfer_matrix.acceleration"
    function: ClassVar[str] = "transfer_matrix"
    supports: ClassVar[frozenset[str]] = frozenset({"prescribed motion", "loads", "acceleration"})
    cost: ClassVar[str] = "O(n)"
    reference: ClassVar[str] = "transfermatrix"
    response: ClassVar[str] = "pliant.kernels.transfer_matrix.response"

    iterations: int = parameter(
        1,
        "most linearisations of transfer_matrix in a step; more: until they change nothing",
        low=1,
        high=100,
        is_whole=True,
    )

    @classmethod
    def refusal(cls, model: Model) -> str:
        return model.chain if isinstance(model.chain, str) else ""

    def leaves_factors(self, world: Any) -> bool:
        """Whether M^-1 x costs less than an evaluation after one; world: the row of a packed model."""
        return True

    def stepper(self, integrator: Integrator) -> str:
        rule = integrator.step_rule
        has_rows = rule is not None and rule.alpha_m == rule.alpha_f == 0.0
        return "pliant.kernels.transfer_matrix.step" if has_rows else ""

    def step_refusal(self, model: Model, integrator: Integrator) -> str:
        rule = integrator.step_rule
        if rule is not None and rule.start_beta == 0.0:
            return "beta = 0 leaves the new angles without the new accelerations; give beta above 0, such as 0.25"
        for link in model.links:
            if link.transmission is not None:
                return f"joint {link.joint.name.removesuffix('.motor')!r} is flexible (a transmission)"
            if link.joint.friction is not None:
                return f"joint {link.joint.name!r} has friction"
            if any(limit != "none" and limit.stiffness is not None for limit in link.joint.each("limit") if limit):
                return f"joint {link.joint.name!r} has a compliant limit"
        if model.springs:
            return f"spring {model.springs[0].name!r} makes forces that it does not linearise"
        return f"contact {model.contacts[0].name!r} makes forces that it does not linearise" if model.contacts else ""

    @property
    def max_linearisations(self) -> int:
        return self.iterations


FORMULATIONS: tuple[type[Formulation], ...] = (
    Articulated,
    BoltzmannHamel,
    DeNOC,
    GibbsAppell,
    Lagrange,
    TransferMatrix,
)

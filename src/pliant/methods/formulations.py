"""Formulations: the equations of motion, and how accelerations are found."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, ClassVar

from pliant.methods.method import Method

RIGID_TREE = frozenset({"tree", "floating base", "prescribed motion", "loads"})


@dataclass(frozen=True)
class Formulation(Method):
    """Who computes accelerations."""

    family: ClassVar[str] = "formulation"
    response: ClassVar[str]  # module that solves again with the factors of the equations

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


FORMULATIONS: tuple[type[Formulation], ...] = (Articulated, BoltzmannHamel, DeNOC, GibbsAppell, Lagrange)

"""How the loops of a model are closed: the choice of a closure and its numbers, put where kernels look for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pliant.methods import find_method
from pliant.system.loop_tables import Closure


@dataclass(frozen=True)
class Closing:
    """A closure with its numbers."""

    name: str = "auto"  # row of methods.CLOSURES
    stiffness: float = 1e6  # of springs [N/m, N m/rad]
    damping: float = 0.0  # of springs [N s/m, N m s/rad]
    baumgarte: float = 0.0  # of multipliers [1/s]

    @property
    def method(self) -> Any:
        return find_method("closure", self.name)

    def enter(self, run: Any, formulation: int) -> None:
        """Put addresses and numbers into work.run."""
        from pliant.kernels import _jit

        run.open_formulation = formulation
        run.loop_stiffness, run.loop_damping, run.baumgarte = self.stiffness, self.damping, self.baumgarte
        name = self.method.name
        if name == "springs":
            run.closure = Closure.SPRINGS
            return
        from pliant.kernels.closures import multipliers

        run.closure, run.formulation = Closure.SOLVED, _jit.address(multipliers.close)
        if name == "reduced":
            from pliant.kernels.closures import reduced

            run.impose, run.settle = _jit.address(reduced.impose), _jit.address(reduced.choose)
        else:
            run.settle = _jit.address(multipliers.project)


def closing_of(options: dict[str, Any]) -> Closing:
    """As checked options say."""
    if options["closure"] is None:
        return Closing()
    return Closing(options["closure"], options["closure_stiffness"], options["closure_damping"], options["baumgarte"])

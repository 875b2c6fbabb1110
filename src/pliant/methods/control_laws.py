"""Control laws as rows of the listings, beside methods and the laws of contact and friction."""

from __future__ import annotations

from pliant.model import control_laws
from pliant.model.parameters import Parameter


class ControlLawRow:
    """What a control law says of itself. (Its class has a field `reference`, the motion it follows.)"""

    family = "control law"

    def __init__(self, law: type[control_laws.SampledLaw]) -> None:
        self.__name__ = law.__name__
        self.name, self.summary, self.cost, self.supports = law.name, law.summary, law.cost, law.supports
        self.reference = law.reference_key  # key in docs/bibliography.md
        self._law = law

    def parameters(self) -> tuple[Parameter, ...]:
        """Its fields."""
        return self._law.parameters()


CONTROL_LAWS = tuple(ControlLawRow(law) for law in control_laws.CONTROL_LAWS)

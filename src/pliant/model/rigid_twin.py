"""The model whose beams do not bend."""

from __future__ import annotations

from dataclasses import replace

from pliant.errors import ModelError
from pliant.model.flexible import NO_SHAPES, Beam
from pliant.model.messages import quoted
from pliant.model.model import Model


def rigid_twin(model: Model) -> Model:
    """The same model with rigid links: every beam keeps its mass and loses its modes."""
    if not isinstance(model, Model):
        raise ModelError(f"rigid_twin: {quoted(model)} is no Model; give a pliant.Model")
    return replace(model, bodies=tuple(_stiff(body) if isinstance(body, Beam) else body for body in model.bodies))


def _stiff(beam: Beam) -> Beam:
    return replace(beam, bending_y=0, bending_z=0, stretch=NO_SHAPES, torsion=NO_SHAPES, q0=None, v0=None)

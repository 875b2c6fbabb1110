"""The same model with more shapes of its beams: what they change is what the shapes that it has leave out."""

from __future__ import annotations

import dataclasses
import itertools

from pliant.errors import ModelError
from pliant.model.flexible import AxialShapes, Beam, Bending
from pliant.model.model import Model

FAMILIES = ("bending_y", "bending_z", "stretch", "torsion")


def with_more_shapes(model: Model, more: int) -> Model | None:
    """Return the model with so many more shapes in every family of every beam that has any.

    A family that cannot give so many gives what it can. None if a family can give no more (rigid models, and shapes
    given as samples), and if a controller has gains for the shapes there are."""
    try:
        bodies = tuple(_grow_beam(body, more) if isinstance(body, Beam) else body for body in model.bodies)
        if all(one is other for one, other in zip(bodies, model.bodies, strict=True)):
            return None
        return dataclasses.replace(model, bodies=bodies)
    except ModelError:
        return None


def _grow_beam(beam: Beam, more: int) -> Beam:
    """Return the beam with more shapes, itself if it has none; raise ModelError if a family has no more."""
    if not beam.n_modes:
        return beam
    refusal = ModelError(f"beam {beam.name!r} has no more shapes")
    for count in range(more, 0, -1):
        try:
            changes = {
                name: _add_shapes(shapes, count)
                for name in FAMILIES
                if (shapes := getattr(beam, name)) is not None and shapes.numbers
            }
            grown: Beam = dataclasses.replace(beam, **changes, q0=None, v0=None)  # type: ignore[arg-type]
        except ModelError as error:  # more than the family can give
            refusal = error
            continue
        return dataclasses.replace(grown, q0=_at_start(beam, grown, beam.q0), v0=_at_start(beam, grown, beam.v0))
    raise refusal


def _add_shapes(shapes: Bending | AxialShapes, more: int) -> Bending | AxialShapes:
    """Return the same family with so many more of its lowest members, which come last."""
    own = set(shapes.numbers)
    unused = (number for number in itertools.count(1) if number not in own)
    return dataclasses.replace(shapes, modes=(*shapes.numbers, *itertools.islice(unused, more)))


def _at_start(beam: Beam, grown: Beam, values: tuple[float, ...] | None) -> tuple[float, ...] | None:
    """Modal coordinates at the start: those of the new shapes are 0."""
    if values is None:
        return None
    found: list[float] = []
    first = 0
    for old, new in zip(beam.families, grown.families, strict=True):
        found += [*values[first : first + old], *([0.0] * (new - old))]
        first += old
    return tuple(found)


def least_growth(model: Model, grown: Model) -> float:
    """Return how many times as many shapes a grown model has, in the family where this is least."""
    pairs = [
        (old, new)
        for body, other in zip(model.bodies, grown.bodies, strict=True)
        for old, new in zip(body.families, other.families, strict=True)
    ]
    return min((new / old for old, new in pairs if old), default=1.0)

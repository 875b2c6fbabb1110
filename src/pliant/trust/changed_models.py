"""Models beside a model: beams with more shapes, friction that holds below another speed. What they change in a figure
is what the numbers chosen for them are worth."""

from __future__ import annotations

import dataclasses
from typing import Any

from pliant.errors import ModelError
from pliant.model.flexible import AxialShapes, Beam, Bending
from pliant.model.friction_laws import Friction
from pliant.model.model import Model

PLANES = ("bending_y", "bending_z")
AXES = ("stretch", "torsion")


def with_more_modes(model: Model, more: int) -> Model | None:
    """Every family of shapes of every beam, where it has any, with so many more; None if nothing can grow: rigid
    models, shapes given as samples or by their numbers, families that cannot give more."""
    bodies: list[Any] = []
    for body in model.bodies:
        bodies.append(_grown(body, more) if isinstance(body, Beam) else body)
    if all(one is other for one, other in zip(bodies, model.bodies, strict=True)):
        return None
    try:
        return dataclasses.replace(model, bodies=tuple(bodies))
    except ModelError:  # more than the family can give without losing digits
        return None


def _grown(beam: Beam, more: int) -> Beam:
    changes = {name: _more_of(getattr(beam, name), more) for name in (*PLANES, *AXES)}
    changes = {name: shapes for name, shapes in changes.items() if shapes is not getattr(beam, name)}
    if not changes:
        return beam
    grown: Beam = dataclasses.replace(beam, **changes, q0=None, v0=None)  # type: ignore[arg-type]
    return dataclasses.replace(grown, q0=_at_start(beam, grown, beam.q0), v0=_at_start(beam, grown, beam.v0))


def _more_of(shapes: Bending | AxialShapes | None, more: int) -> Bending | AxialShapes | None:
    """The same family with more members; as it is where it has none, or is a list or a table."""
    if shapes is None or not isinstance(shapes.modes, int) or shapes.modes == 0 or shapes.samples is not None:
        return shapes
    return dataclasses.replace(shapes, modes=shapes.modes + more)


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


def shapes_before(model: Model) -> int:
    """The smallest number of shapes of a family that can grow."""
    counts = [
        shapes.modes
        for body in model.bodies
        if isinstance(body, Beam)
        for shapes in (getattr(body, name) for name in (*PLANES, *AXES))
        if shapes is not None and isinstance(shapes.modes, int) and shapes.modes and shapes.samples is None
    ]
    return min(counts, default=0)


def with_stick_speed(model: Model, factor: float) -> Model | None:
    """Every law of friction that sticks with its stick speed times a factor: ideal friction has none, and a point that
    is held below it creeps a little. None if nothing sticks."""
    contacts = tuple(_held(contact, "friction", factor) for contact in model.contacts)
    joints = tuple(_held_joint(joint, factor) for joint in model.joints)
    pairs = (*zip(contacts, model.contacts, strict=True), *zip(joints, model.joints, strict=True))
    if all(one is other for one, other in pairs):
        return None
    return dataclasses.replace(model, contacts=contacts, joints=joints)


def _held_joint(joint: Any, factor: float) -> Any:
    found = _held(joint, "friction", factor)
    if joint.transmission is None:
        return found
    transmission = _held(joint.transmission, "friction", factor)
    return found if transmission is joint.transmission else dataclasses.replace(found, transmission=transmission)


def _held(owner: Any, name: str, factor: float) -> Any:
    """A joint or contact with its law, or one per velocity, changed; itself where nothing sticks."""
    given = getattr(owner, name)
    laws = given if isinstance(given, (list, tuple)) else (given,)
    changed = [_slower(law, factor) for law in laws]
    if all(one is other for one, other in zip(changed, laws, strict=True)):
        return owner
    return dataclasses.replace(owner, **{name: tuple(changed) if isinstance(given, (list, tuple)) else changed[0]})


def _slower(law: Any, factor: float) -> Any:
    if not isinstance(law, Friction) or not law.sticks():
        return law
    return dataclasses.replace(law, stick_speed=factor * law.value("stick_speed"))  # type: ignore[type-var]

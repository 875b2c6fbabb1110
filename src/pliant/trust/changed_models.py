"""Models beside a model: friction that holds below another speed. What it changes in a figure is what the stick speed
makes."""

from __future__ import annotations

import dataclasses
from typing import Any

from pliant.model.friction_laws import Friction
from pliant.model.model import Model


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

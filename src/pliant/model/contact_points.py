"""Which points of a model a contact has: those given, or the ends of all rods, tubes and beams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.model.bodies import DIRECTIONS, Body, Frame, Rod, Tube
from pliant.model.flexible import Beam
from pliant.model.tree import find_frame

if TYPE_CHECKING:
    from pliant.model.contacts import Contact
    from pliant.model.model import Model

# joints that keep the child's origin at its joint frame
PINS = ("fixed", "revolute", "spherical", "universal")


@dataclass(frozen=True)
class ContactPoint:
    """One point of a contact: how logs call it, and where it is."""

    name: str
    frame: Frame


def contact_points(model: Model, contact: Contact) -> tuple[ContactPoint, ...]:
    """The points of a contact in the order of its rows."""
    if contact.points is None:
        return link_ends(model)
    points = []
    for index, place in enumerate(contact.points):
        frame = find_frame(model, place)
        unnamed = f"{frame.body}.point{index + 1}"
        points.append(ContactPoint(place if isinstance(place, str) else frame.name or unnamed, frame))
    return tuple(points)


def link_ends(model: Model) -> tuple[ContactPoint, ...]:
    """Start and end of every rod, tube and beam. A start that a joint pins to another link's end (or to the world,
    where it cannot move) is left out."""
    ends: list[ContactPoint] = []
    for link in model.links:
        far = _far_end(link.body)
        if far is None:
            continue
        name, frame = link.body.name, link.joint_frame
        is_known = frame.body == "world" or any(
            end.frame.body == frame.body
            and np.allclose(end.frame.position, frame.position, atol=1e-9 * max(map(abs, far)))
            for end in ends
        )
        if not (is_known and link.joint.kind in PINS):
            ends.append(ContactPoint(f"{name}.start", Frame(name)))
        ends.append(ContactPoint(f"{name}.end", Frame(name, far)))
    return tuple(ends)


def _far_end(body: Body | Beam) -> tuple[float, float, float] | None:
    """End of a long body, body axes; None if it is not long."""
    if isinstance(body, Beam):
        return body.length, 0.0, 0.0
    if not isinstance(body.shape, (Rod, Tube)):
        return None
    x, y, z = (body.shape.length * DIRECTIONS[body.shape.axis]).tolist()
    return x, y, z

"""Which points of a model a contact has: those given, the ends of all rods, tubes and beams, or those of all shapes."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pliant.model.bodies import DIRECTIONS, Body, Box, Frame, Rod, Sphere, Tube
from pliant.model.flexible import Beam
from pliant.model.tree import find_frame, stays_in_plane

if TYPE_CHECKING:
    from pliant.model.contacts import Contact
    from pliant.model.model import Model

# joints that keep the child's origin at its joint frame
PINS = ("fixed", "revolute", "spherical", "universal")


@dataclass(frozen=True)
class ContactPoint:
    """One point of a contact: how logs call it, where it is, and the ball about it."""

    name: str
    frame: Frame
    radius: float  # [m]


def contact_points(model: Model, contact: Contact) -> tuple[ContactPoint, ...]:
    """The points of a contact in the order of its rows; those of shapes have the radius of their shape, if there is."""
    if contact.points is None:
        return tuple(replace(each, radius=contact.radius) for each in link_ends(model))
    if contact.points == "shapes":
        carrier = find_frame(model, contact.plane.place).body
        found = [each for each in (*link_ends(model), *shape_points(model)) if each.frame.body != carrier]
        return tuple(each if each.radius else replace(each, radius=contact.radius) for each in found)
    points = []
    for index, place in enumerate(contact.places):
        frame = find_frame(model, place)
        unnamed = f"{frame.body}.point{index + 1}"
        name = place if isinstance(place, str) else frame.name or unnamed
        points.append(ContactPoint(name, frame, contact.radius))
    return tuple(points)


def link_ends(model: Model) -> tuple[ContactPoint, ...]:
    """Start and end of every rod, tube and beam. A start that a joint pins to another link's end (or to the world,
    where it cannot move) is left out. Radii are those of the rods and tubes, of a beam 0."""
    ends: list[ContactPoint] = []
    for link in model.links:
        far = _far_end(link.body)
        if far is None:
            continue
        name, frame, radius = link.body.name, link.joint_frame, _thickness(link.body)
        is_known = frame.body == "world" or any(
            end.frame.body == frame.body
            and np.allclose(end.frame.position, frame.position, atol=1e-9 * max(map(abs, far)))
            for end in ends
        )
        if not (is_known and link.joint.kind in PINS):
            ends.append(ContactPoint(f"{name}.start", Frame(name), radius))
        ends.append(ContactPoint(f"{name}.end", Frame(name, far), radius))
    return tuple(ends)


def shape_points(model: Model) -> tuple[ContactPoint, ...]:
    """Corners of boxes and centres of spheres, these with their radius; of models in the x-y plane the corners of the
    rectangle there."""
    found: list[ContactPoint] = []
    is_planar = stays_in_plane(model)
    for body in (link.body for link in model.links):
        shape = body.shape if isinstance(body, Body) else None
        if isinstance(shape, Sphere):
            found.append(ContactPoint(f"{body.name}.centre", Frame(body.name, shape.at), shape.radius))
        elif isinstance(shape, Box):
            signs = itertools.product((-0.5, 0.5), (-0.5, 0.5), (0.0,) if is_planar else (-0.5, 0.5))
            for k, sign in enumerate(signs, 1):
                x, y, z = (np.array(shape.at) + np.array(sign) * shape.size).tolist()
                found.append(ContactPoint(f"{body.name}.corner{k}", Frame(body.name, (x, y, z)), 0.0))
    return tuple(found)


def _thickness(body: Body | Beam) -> float:
    """Radius of a rod or tube [m], whose ends are round: a capsule."""
    shape = body.shape if isinstance(body, Body) else None
    return shape.radius if isinstance(shape, Rod) else shape.outer_radius if isinstance(shape, Tube) else 0.0


def _far_end(body: Body | Beam) -> tuple[float, float, float] | None:
    """End of a long body, body axes; None if it is not long."""
    if isinstance(body, Beam):
        return body.length, 0.0, 0.0
    if not isinstance(body.shape, (Rod, Tube)):
        return None
    x, y, z = (body.shape.length * DIRECTIONS[body.shape.axis]).tolist()
    return x, y, z

"""Bodies of the moving robot as lists of polygons, in body axes: boxes, prisms, balls, lines, and marks of joints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.model.flexible import Beam
from pliant.view.picture.bent import half_edges
from pliant.view.picture.skeleton import Ball, Block, Part, Shell, loop_frames, skeleton
from pliant.view.svg import Array

SIDES = 12  # of a round bar
JOINT_SIDES = 20
MAX_PIECES = 6  # along a bar, so that sorting by depth works
THICKNESS = 0.016  # radius of a bar without one, of the usual distance between joints
CUBE = ((0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5))


@dataclass(frozen=True)
class Solid:
    """Polygons of a closed body, seen from outside counterclockwise; or a ball; or a line.

    Where it would be thinner than a stroke the line stands for it."""

    tone: str  # "body", "joint", "mass", "base" or "thin"
    vertices: Array  # (n, 3)
    faces: tuple[tuple[int, ...], ...] = ()
    line: tuple[Array, Array] | None = None
    radius: float = 0.0  # of the ball, or half the thickness about the line [m]
    is_edged: bool = False  # edges are drawn
    is_ball: bool = False

    @property
    def data(self) -> dict[str, Any]:
        """For the page."""
        found: dict[str, Any] = {"tone": self.tone, "v": _rounded(self.vertices), "f": self.faces}
        if self.line is not None:
            found["line"] = _rounded(np.concatenate(self.line))
        return found | {"r": float(f"{self.radius:.5g}"), "edged": self.is_edged, "ball": self.is_ball}


def _rounded(values: Array) -> list[float]:
    return [float(f"{value:.6g}") for value in np.ravel(values).tolist()]


def usual_thickness(model: Any) -> float:
    """Radius of bars that have none [m]: a share of the usual length of a link, or of the thickness of its beams."""
    lengths = [float(np.linalg.norm(link.joint_frame.position)) for link in model.links if link.parent >= 0]
    lengths += [float(np.max(np.abs(_reach(link.body)), initial=0.0)) for link in model.links]
    lengths = [length for length in lengths if length > 0]
    usual = THICKNESS * float(np.median(lengths)) if lengths else 0.01
    beams = [float(np.max(half_edges(beam, 2))) for beam in model.beams]
    return min(usual, *beams) if beams else usual


def _reach(body: Any) -> Array:
    if isinstance(body, Beam):
        return np.array([body.length])
    if body.shape is not None:
        return np.asarray(2 * body.shape.centre)
    return np.asarray(body.centre)


def solids(model: Any) -> list[list[Solid]]:
    """Of every link, in the order of model.links."""
    thick = usual_thickness(model)
    found = [
        [*(solid for part in parts for solid in _solid(part, thick)), *_joint(model, i, thick)]
        for i, parts in enumerate(skeleton(model))
    ]
    rigid = {link.body.name: i for i, link in enumerate(model.links) if not isinstance(link.body, Beam)}
    for loop in model.loops:
        frame = next((frame for frame in loop_frames(model, loop) if frame.body in rigid), None)
        if frame is not None:
            size = joint_size(model, rigid[frame.body], thick)
            place = np.array(frame.position, dtype=float)
            found[rigid[frame.body]] += _joint_mark(loop.kind, place, frame.matrix @ (loop.axis or (0, 0, 1)), size)
    return found


def _solid(part: Part, thick: float) -> Iterator[Solid]:
    if isinstance(part, Block):
        yield box(part.centre, part.half)
    elif isinstance(part, Ball):
        is_dot = part.radius == 0
        radius = 2.0 * thick if is_dot else part.radius
        yield Solid("mass" if is_dot else "body", part.centre[None, :], radius=radius, is_ball=True)
    elif isinstance(part, Shell):
        yield Solid("body", part.points, part.faces, radius=float(np.min(np.ptp(part.points, axis=0))))
    elif part.is_thin:
        yield Solid("thin", np.zeros((0, 3)), line=(part.start, part.end))
    elif np.linalg.norm(part.end - part.start) > 0:
        yield prism(part.start, part.end, part.radius or thick)


def box(centre: Array, half: Array, tone: str = "body") -> Solid:
    corners = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)])
    return Solid(tone, centre + corners * half, CUBE, radius=float(np.min(half)), is_edged=True)


def prism(start: Array, end: Array, radius: float, tone: str = "body", sides: int = SIDES) -> Solid:
    """A round bar: rings of corners along it."""
    along = end - start
    length = float(np.linalg.norm(along))
    along = along / length
    across = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
    across /= np.linalg.norm(across)
    turn = np.linspace(0, 2 * np.pi, sides, endpoint=False)[:, None]
    ring = radius * (np.cos(turn) * across + np.sin(turn) * np.cross(along, across))
    n = int(np.clip(round(length / (8 * radius)), 1, MAX_PIECES))
    vertices = np.concatenate([start + share * (end - start) + ring for share in np.linspace(0, 1, n + 1)])
    k = [(j, (j + 1) % sides) for j in range(sides)]
    faces = [(m + a, m + b, m + sides + b, m + sides + a) for m in range(0, n * sides, sides) for a, b in k]
    caps = (tuple(range(sides - 1, -1, -1)), tuple(range(n * sides, (n + 1) * sides)))
    return Solid(tone, vertices, (*faces, *caps), line=(start, end), radius=radius)


def joint_size(model: Any, i: int, thick: float) -> float:
    """Half the size of the mark of a joint [m]: larger than what meets there, but not by far."""
    link = model.links[i]
    bodies = [link.body, *([model.links[link.parent].body] if link.parent >= 0 else [])]
    return min(max(1.7 * thick, *(1.35 * _thickness(body) for body in bodies)), 6 * thick)


def _joint(model: Any, i: int, thick: float) -> Iterator[Solid]:
    """Hinges are short cylinders about their axis, slides boxes, balls balls; at the origin of the body."""
    joint = model.links[i].joint
    axis = np.array(joint.axis or (0, 0, 1), dtype=float)
    return _joint_mark(joint.kind, np.zeros(3), axis, joint_size(model, i, thick))


def _joint_mark(kind: str, place: Array, axis: Array, size: float) -> Iterator[Solid]:
    if kind == "revolute":
        along = size * axis / np.linalg.norm(axis)
        yield prism(place - along, place + along, size, "joint", JOINT_SIDES)
    elif kind in ("spherical", "universal"):
        yield Solid("joint", place[None, :], radius=1.2 * size, is_ball=True)
    elif kind in ("prismatic", "cylindrical", "point-on-line"):
        yield box(place, np.full(3, size), "joint")


def _thickness(body: Any) -> float:
    """Half the thickness of what a joint sits on [m]."""
    if isinstance(body, Beam):
        return float(np.max(half_edges(body, 2)))
    if body.shape is not None and body.shape.kind in ("rod", "tube"):
        return float(getattr(body.shape, "radius", 0.0) or getattr(body.shape, "outer_radius", 0.0))
    return 0.0

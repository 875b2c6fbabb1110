"""The robot at one instant: its parts as shapes on the picture, far ones first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pliant.model.loops import Loop
from pliant.model.springs import Spring
from pliant.view.marks import Mark, circle, line, polygon
from pliant.view.picture.bent import BentBeam, arm_lines, band, faces
from pliant.view.picture.projection import Canvas, shade
from pliant.view.picture.scene import Scene
from pliant.view.picture.skeleton import Ball, Bar, Block, Part, Shell, hull
from pliant.view.picture.springs import rope_sag, spring_kind, spring_lines, spring_look
from pliant.view.svg import Array

MANY_BODIES = 60  # from here on without outlines and joint marks
FACES = ((0, 1, 2), (1, 2, 0), (2, 0, 1))  # axis of a box's face, and the two axes along it


def pose(scene: Scene, canvas: Canvas, k: int) -> list[Mark]:
    """The robot at pose k, far marks first."""
    return sorted(_marks(scene, canvas, k), key=lambda mark: mark.depth)


def undeformed(scene: Scene, canvas: Canvas, k: int) -> list[Mark]:
    """Where the beams of pose k would be if they did not bend; only where the bending is enlarged."""
    beams = [beam for beam in scene.beams.values() if len(beam.straight)]
    return [line("dashed", canvas.pixels(beam.straight[k]), 1.2) for beam in beams]


def _marks(scene: Scene, canvas: Canvas, k: int) -> Iterator[Mark]:
    R, p = scene.R[k], scene.p[k]
    is_plain = len(scene.parts) > MANY_BODIES
    near: list[float] = []
    weight = 7.0 if len(scene.parts) <= 12 else 5.0 if not is_plain else 2.0
    for i, parts in enumerate(scene.parts):
        marks = [*_guide(scene, canvas, i, k)]
        marks += _beam_marks(scene.beams[i], canvas, k) if i in scene.beams else ()
        marks += [mark for part in parts for mark in _part_marks(part, canvas, R[i], p[i], weight, is_plain)]
        near.append(
            max(
                (mark.depth for mark in marks if mark.look in ("body", "beam")),
                default=-np.inf,
            )
        )
        link = scene.model.links[i]
        if not is_plain:
            # over the bars that meet there
            depth = max(canvas.depth(p[i]), near[i], near[link.parent] if link.parent >= 0 else -np.inf)
            marks += _joint_marks(link.joint.kind, canvas.pixels(p[i]), depth + weight / canvas.scale, weight)
        if scene.view.is_flat:
            # children over their parents, marks as they come
            marks = [replace(mark, depth=i + 0.01 * place) for place, mark in enumerate(marks)]
        yield from (replace(mark, depth=0.0) if is_plain else mark for mark in marks)
    for loop in () if is_plain else scene.model.loops:
        yield from _loop_marks(scene, canvas, k, loop, weight)
    for spring, free in zip(scene.model.springs, scene.free_lengths, strict=True):
        yield from _spring_marks(scene, canvas, k, spring, free, weight)


def _spring_marks(scene: Scene, canvas: Canvas, k: int, spring: Spring, free: float, weight: float) -> Iterator[Mark]:
    """A coil, a rope or a cylinder, coloured by the sense of its force; just under what it hangs on."""
    ends = scene.between(k, spring)
    length = float(np.linalg.norm(ends[1] - ends[0]))
    if spring.only == "compression" and length > free:  # not touched: as long as it is
        ends[1] = ends[0] + free / length * (ends[1] - ends[0])
    depth = -1.0 if scene.view.is_flat else canvas.depth(ends.mean(axis=0))
    look, sag = spring_look(spring, length, free), rope_sag(length, free) * canvas.scale
    for points, width in spring_lines(spring_kind(spring), canvas.pixels(ends), weight, sag):
        yield line(look, points, width, depth=depth)


def _loop_marks(scene: Scene, canvas: Canvas, k: int, loop: Loop, weight: float) -> Iterator[Mark]:
    """The joint that closes a loop, over what meets there; a rod for a distance."""
    ends = scene.between(k, loop)
    depth = canvas.depth(ends[1]) + weight / canvas.scale
    depth = len(scene.parts) if scene.view.is_flat else depth
    if loop.kind == "distance":
        yield line("thin", canvas.pixels(ends), 2.0, depth=depth)
    kind = "prismatic" if loop.kind == "point-on-line" else loop.kind
    yield from _joint_marks(kind, canvas.pixels(ends[1]), depth, weight)


def _part_marks(part: Part, canvas: Canvas, R: Array, p: Array, weight: float, is_plain: bool) -> Iterator[Mark]:
    if isinstance(part, Block):
        yield from _block_marks(part, canvas, R, p)
    elif isinstance(part, Shell):
        placed = p + part.points @ R.T
        yield polygon("right", hull(canvas.pixels(placed)), 1.2, depth=canvas.depth(placed.mean(axis=0)))
    elif isinstance(part, Ball):
        centre = p + R @ part.centre
        place, depth = canvas.pixels(centre), canvas.depth(centre)
        if part.radius > 0:
            yield circle("ball", place, max(part.radius * canvas.scale, 1.0), depth=depth)
        else:
            yield circle("mass", place, 0.55 * weight, depth=depth)
    elif part.is_disc:
        yield from _disc_marks(part, canvas, R, p)
    else:
        yield from _bar_marks(part, canvas, R, p, weight, is_plain)


def _disc_marks(part: Bar, canvas: Canvas, R: Array, p: Array) -> Iterator[Mark]:
    """A flat cylinder: its silhouette, and over it the end that looks at us."""
    axis = (part.end - part.start) / np.linalg.norm(part.end - part.start)
    first = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    first /= np.linalg.norm(first)
    turn = np.linspace(0, 2 * np.pi, 48, endpoint=False)[:, None]
    rim = part.radius * (np.cos(turn) * first + np.sin(turn) * np.cross(axis, first))
    low, high = (p + (end + rim) @ R.T for end in (part.start, part.end))
    near = high if (R @ axis) @ canvas.view.toward > 0 else low
    depth = canvas.depth(0.5 * (low + high).mean(axis=0))
    yield polygon("right", hull(canvas.pixels(np.vstack([low, high]))), 1.2, depth=depth)
    yield polygon("top", canvas.pixels(near), 1.2, depth=depth + 1e-6 / canvas.scale)


def _bar_marks(part: Bar, canvas: Canvas, R: Array, p: Array, weight: float, is_plain: bool) -> Iterator[Mark]:
    places = np.stack([p + R @ part.start, p + R @ part.end])
    points, depth = canvas.pixels(places), canvas.depth(places.mean(axis=0))
    width = max(2 * part.radius * canvas.scale, 0.4 * weight) if part.radius else weight
    if part.is_thin:
        yield line("thin", points, 1.2, depth=depth)
    elif is_plain:
        yield line("outline", points, width, depth=depth)
    else:
        yield line("outline", points, width + 2, depth=depth)
        # just over its own outline
        yield line("body", points, width, depth=depth + 1e-6 / canvas.scale)


def _beam_marks(beam: BentBeam, canvas: Canvas, k: int) -> Iterator[Mark]:
    """The bent beam, and thin lines to what sits off its axis."""
    for arm in arm_lines(beam, k):
        yield line("thin", canvas.pixels(arm), 1.2, depth=canvas.depth(arm.mean(axis=0)))
    depth = canvas.depth(beam.p[k].mean(axis=0))
    yield polygon("beam", band(beam, canvas, k), depth=depth)
    for place, (tone, face) in enumerate(faces(beam, canvas, k)):
        yield polygon(tone, canvas.pixels(face), depth=depth + 1e-6 * (place + 1) / canvas.scale)


def _block_marks(part: Block, canvas: Canvas, R: Array, p: Array) -> Iterator[Mark]:
    """The faces of a box that look at us, shaded by their direction."""
    for (axis, first, second), sign in ((face, sign) for face in FACES for sign in (-1.0, 1.0)):
        normal = sign * R[:, axis]
        if normal @ canvas.view.toward < 1e-9:
            continue
        middle = p + R @ part.centre + part.half[axis] * normal
        a, b = part.half[first] * R[:, first], part.half[second] * R[:, second]
        corners = np.stack([middle + a + b, middle + a - b, middle - a - b, middle - a + b])
        yield polygon(shade(canvas.view, normal), canvas.pixels(corners), 1.2, depth=canvas.depth(middle))


def _joint_marks(kind: str, place: Array, depth: float, weight: float) -> Iterator[Mark]:
    """Hinges are circles, slides squares, balls filled; place in pixels."""
    radius = 0.62 * weight
    if kind in ("prismatic", "cylindrical"):
        corners = place + radius * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
        yield polygon("joint", corners, 1.6, depth=depth)
    elif kind in ("revolute", "universal"):
        yield circle("joint", place, radius, 1.6, depth=depth)
    elif kind == "spherical":
        yield circle("socket", place, 1.25 * radius, 1.6, depth=depth)


def _guide(scene: Scene, canvas: Canvas, i: int, k: int) -> Iterator[Mark]:
    """The rail of a sliding joint, from its joint_frame on a moving parent to the slider."""
    link = scene.model.links[i]
    if link.parent >= 0 and link.joint.kind in ("prismatic", "cylindrical", "planar"):
        points = np.stack([scene.joint_frame(k, i), scene.p[k, i]])
        depth = canvas.depth(points.mean(axis=0)) - 1e-3 * scene.size
        yield line("thin", canvas.pixels(points), 2.0, depth=depth)

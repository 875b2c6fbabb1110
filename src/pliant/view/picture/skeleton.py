"""What of a robot can be drawn: parts fixed to each body, and the ends whose paths are worth a trail."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.model.flexible import Beam
from pliant.model.tree import find_frame
from pliant.view.svg import Array

DIRECTIONS = {"x": np.array([1.0, 0, 0]), "y": np.array([0, 1.0, 0]), "z": np.array([0, 0, 1.0])}
PLATE = 0.02  # half the thickness of a platform, of its size
FREE_KINDS = ("floating", "planar")  # joints that hold a root to nothing


@dataclass(frozen=True)
class Bar:
    """A link from point to point, in body axes."""

    start: Array
    end: Array
    radius: float = 0.0  # [m]; 0: as thick as looks good
    is_thin: bool = False  # a mere connection

    @property
    def is_disc(self) -> bool:
        """Shorter than wide: drawn as the cylinder it is, not as a thick line."""
        return bool(np.linalg.norm(self.end - self.start) < 2 * self.radius)


@dataclass(frozen=True)
class Block:
    """A box along the body axes."""

    centre: Array
    half: Array  # half edges [m]


@dataclass(frozen=True)
class Ball:
    """A sphere; radius 0: a dot."""

    centre: Array
    radius: float = 0.0  # [m]


@dataclass(frozen=True)
class Shell:
    """What is seen of a body: triangles; in still pictures the outline of their hull."""

    points: Array  # (n, 3), body axes
    faces: tuple[tuple[int, ...], ...]  # numbers of points


Part = Bar | Block | Ball | Shell


@dataclass(frozen=True)
class End:
    """A point whose path is drawn."""

    body: int  # row of the link
    point: Array  # body axes [m]
    name: str


def skeleton(model: Any) -> tuple[tuple[Part, ...], ...]:
    """Parts of every link, in the order of model.links."""
    return tuple(tuple(_parts(model, i, reached)) for i, reached in enumerate(places(model)))


def ends(model: Any, most: int = 4) -> tuple[End, ...]:
    """One point on each body that carries no other: a named frame, else the end of its shape or its mass centre."""
    parents = {link.parent for link in model.links}
    leaves = [i for i, link in enumerate(model.links) if i not in parents and link.transmission is None]
    if len(leaves) > most:
        leaves = [leaves[k] for k in np.linspace(0, len(leaves) - 1, most).astype(int)]
    return tuple(_end(model, i) for i in leaves)


def extreme_points(part: Part) -> Array:
    """Points in body axes whose hull holds the part (n, 3)."""
    if isinstance(part, Bar):
        around = part.radius * np.vstack([np.eye(3), -np.eye(3)])
        return np.vstack([part.start + around, part.end + around])
    if isinstance(part, Block):
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        return np.asarray(part.centre + signs * part.half)
    if isinstance(part, Shell):
        return part.points
    return np.asarray(part.centre + part.radius * np.vstack([np.eye(3), -np.eye(3)]))


def _parts(model: Any, i: int, reached: list[Array]) -> Iterator[Part]:
    link = model.links[i]
    body = link.body
    if link.transmission is not None:  # a motor's side has no shape
        return
    if isinstance(body, Beam):  # drawn as it bends, see bent.py
        return
    if body.visual:
        yield from (Shell(np.array(seen.points, dtype=float), seen.faces) for seen in body.visual if seen.faces)
        return
    if body.shape is not None:
        shape = _shape(body.shape)
        yield shape
        size = float(np.max(np.abs(extreme_points(shape)))) or 1.0
        for place in reached:
            if _distance(shape, place) > 0.03 * size:
                yield Bar(_nearest(shape, place), place, is_thin=True)
        return
    held = [frame.position for loop in model.loops for frame in loop_frames(model, loop) if frame.body == body.name]
    plate = _plate([np.array(place, dtype=float) for place in dict.fromkeys(map(tuple, held))])
    if plate is not None:  # the platform of a parallel robot
        yield plate
        return
    if link.parent < 0 and link.joint.kind in FREE_KINDS and _equal_box(body) is not None:
        box = Block(body.centre, _equal_box(body))  # type: ignore[arg-type]
        yield box
        yield from (Bar(_nearest(box, place), place) for place in reached if _distance(box, place) > 0)
        return
    yield from (Bar(np.zeros(3), place) for place in reached)
    if body.total_mass > 0 and link.joint.kind != "fixed":
        if not any(_distance(Bar(np.zeros(3), place), body.centre) < 1e-6 for place in reached):
            yield Bar(np.zeros(3), body.centre, is_thin=bool(reached))
        yield Ball(body.centre)


def places(model: Any) -> list[list[Array]]:
    """Where children sit and frames are named on every link, away from its origin."""
    found: list[dict[tuple[float, ...], None]] = [{} for _ in model.links]
    rows = {link.body.name: i for i, link in enumerate(model.links)}
    pairs = (frame for both in (*model.loops, *model.springs) for frame in loop_frames(model, both))
    for link in model.links:
        if link.parent >= 0:
            found[link.parent].setdefault(tuple(link.joint_frame.position))
    for frame in (*model.frames, *pairs):
        if frame.body in rows:
            found[rows[frame.body]].setdefault(tuple(frame.position))
    return [[np.array(place, dtype=float) for place in own if any(place)] for own in found]


def loop_frames(model: Any, loop: Any) -> tuple[Any, Any]:
    """The two frames that a loop holds together, or a spring connects."""
    return find_frame(model, loop.first), find_frame(model, loop.second)


def held_loops(model: Any) -> list[Array]:
    """Places of the world at which loops hold bodies."""
    pairs = [loop_frames(model, loop) for loop in model.loops if loop.kind != "point-on-line"]
    return [np.array(frame.position, dtype=float) for pair in pairs for frame in pair if frame.body == "world"]


def _plate(points: list[Array]) -> Shell | None:
    """A plate over points that lie about in a plane; None for others."""
    if len(points) < 3:
        return None
    middle = np.mean(points, axis=0)
    _, sizes, axes = np.linalg.svd(np.array(points) - middle)
    if sizes[1] < 0.1 * sizes[0] or (len(sizes) > 2 and sizes[2] > 0.1 * sizes[1]):
        return None
    rim = hull((np.array(points) - middle) @ axes[:2].T)
    half = PLATE * float(np.max(np.linalg.norm(rim, axis=1))) * np.cross(axes[0], axes[1])
    edge = middle + rim @ axes[:2]
    n = len(rim)
    k = [(a, (a + 1) % n) for a in range(n)]
    sides = [face for a, b in k for face in ((a, b, n + b), (a, n + b, n + a))]
    caps = [face for a in range(1, n - 1) for face in ((0, a + 1, a), (n, n + a, n + a + 1))]
    return Shell(np.vstack([edge - half, edge + half]), (*sides, *caps))


def hull(points: Array) -> Array:
    """Convex hull of points in the plane, in order (Andrew's monotone chain)."""
    ordered = points[np.lexsort((points[:, 1], points[:, 0]))]
    chains: list[Array] = []
    for half in (ordered, ordered[::-1]):
        chain: list[Array] = []
        for point in half:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], point) <= 0:
                chain.pop()
            chain.append(point)
        chains += chain[:-1]
    return np.array(chains)


def _turn(a: Array, b: Array, c: Array) -> float:
    """Positive if a, b, c go round to the left."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def _shape(shape: Any) -> Bar | Block | Ball:
    if shape.kind == "rod":
        return Bar(np.zeros(3), shape.length * DIRECTIONS[shape.axis], shape.radius)
    if shape.kind == "tube":
        return Bar(np.zeros(3), shape.length * DIRECTIONS[shape.axis], shape.outer_radius)
    if shape.kind == "box":
        return Block(shape.centre, 0.5 * np.array(shape.size))
    return Ball(shape.centre, shape.radius)


def _equal_box(body: Any) -> Array | None:
    """Half edges of the homogeneous box with the body's mass and principal inertia; None for a point."""
    xx, yy, zz = np.diag(body.inertia_about_centre)
    if body.total_mass <= 0 or xx + yy + zz <= 0:
        return None
    squares = 1.5 / body.total_mass * np.array([yy + zz - xx, xx + zz - yy, xx + yy - zz])
    return np.asarray(np.sqrt(np.maximum(squares, 0.01 * squares.max())))


def _nearest(part: Bar | Block | Ball, point: Array) -> Array:
    """The nearest point of a part's body (its axis if a bar)."""
    if isinstance(part, Bar):
        along = part.end - part.start
        share = float(np.clip(along @ (point - part.start) / (along @ along or 1.0), 0.0, 1.0))
        return part.start + share * along
    if isinstance(part, Block):
        return np.clip(point, part.centre - part.half, part.centre + part.half)
    return part.centre


def _distance(part: Bar | Block | Ball, point: Array) -> float:
    radius = 0.0 if isinstance(part, Block) else part.radius
    return max(0.0, float(np.linalg.norm(point - _nearest(part, point))) - radius)


def _end(model: Any, i: int) -> End:
    body = model.links[i].body
    frames = [frame for frame in model.frames if frame.body == body.name and frame.name]
    if frames:
        far = max(frames, key=lambda frame: float(np.linalg.norm(frame.position)))
        return End(i, np.array(far.position, dtype=float), far.name)
    if isinstance(body, Beam):
        return End(i, np.array([body.length, 0.0, 0.0]), body.name)
    if body.shape is not None and body.shape.kind in ("rod", "tube"):
        return End(i, 2 * body.shape.centre, body.name)
    return End(i, np.array(body.centre), body.name)

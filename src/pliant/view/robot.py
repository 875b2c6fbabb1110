"""Still pictures of a robot as SVG: several instants over each other with the paths of its ends, and snapshots."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from pliant.result import Result
from pliant.view.chart import nice_step
from pliant.view.files import write_text
from pliant.view.projection import Canvas, View, choose_view, fit
from pliant.view.quantity import MOST_PLACEMENTS, dense_range, has_dense
from pliant.view.skeleton import FREE_KINDS, Ball, Bar, Block, End, Part, ends, extreme_points, skeleton
from pliant.view.svg import Array, circle_path, document, line_path, path, pixel, polygon_path, stylesheet, text

WIDTH, HEIGHTS, MARGIN = 960.0, (300.0, 600.0), 56.0
SMALL_WIDTH, SMALL_MARGIN = 300.0, 22.0
TRAIL_POINTS, TRAIL_PIECES = 2001, 40
MANY_BODIES = 60  # from here on without outlines and joint marks
FACES = ((0, 1, 2), (1, 2, 0), (2, 0, 1))  # axis of a box's face, and the two axes along it


@dataclass(frozen=True)
class Scene:
    """All that the pictures of one run share."""

    model: Any
    times: Array  # of the poses
    R: Array  # (times, bodies, 3, 3)
    p: Array  # (times, bodies, 3)
    parts: tuple[tuple[Part, ...], ...]
    ends: tuple[End, ...]
    trail_times: Array
    trails: Array  # (trail times, ends, 3)
    paths: Array  # (trail times, bodies, 3) of the body origins
    view: View

    def points(self, k: int) -> Array:
        """World points that hold pose k (n, 3)."""
        return _world_points(self.model, self.parts, self.R[k], self.p[k])

    @cached_property
    def size(self) -> float:
        """Extent of the robot itself in the last pose [m]."""
        return _extent(self.points(-1)) or 1.0

    @property
    def is_held(self) -> bool:
        """Whether some root is held by the world."""
        return any(link.parent < 0 and link.joint.kind not in FREE_KINDS for link in self.model.links)


def make_scene(result: Result, n_poses: int = 6) -> Scene:
    """Placements at evenly spaced instants, and the paths between them."""
    trail_times, R, p = _placements(result)
    chosen = _evenly(trail_times, n_poses)
    model, parts, points = result.model, skeleton(result.model), ends(result.model)
    trails = np.stack([p[:, end.body] + R[:, end.body] @ end.point for end in points], axis=1)
    view = choose_view(R, p, trails.reshape(-1, 3))
    return Scene(model, trail_times[chosen], R[chosen], p[chosen], parts, points, trail_times, trails, p, view)


def _placements(result: Result) -> tuple[Array, Array, Array]:
    """Times and finite placements along the run; the model's start if it has none."""
    if has_dense(result):
        times = np.linspace(*dense_range(result), _trail_count(result))
        R, p = result.placements(times)
    else:
        chosen = np.unique(np.linspace(0, len(result.t) - 1, _trail_count(result)).astype(int))
        times = result.t[chosen]
        R, p = replace(result, q=result.q[chosen]).placements()
    is_finite = np.isfinite(p).all(axis=(1, 2)) & np.isfinite(R).all(axis=(1, 2, 3))
    return times[is_finite], R[is_finite], p[is_finite]


def _trail_count(result: Result) -> int:
    """Fewer points along the paths of robots of very many bodies."""
    return int(np.clip(MOST_PLACEMENTS // (20 * len(result.model.links)) * 20 + 1, 201, TRAIL_POINTS))


def _evenly(times: Array, count: int) -> Array:
    wanted = np.linspace(times[0], times[-1], count)
    return np.unique(np.abs(times[None, :] - wanted[:, None]).argmin(axis=1))


def _world_points(model: Any, parts: tuple[tuple[Part, ...], ...], R: Array, p: Array) -> Array:
    points = [p, *(_seat(model, i, R, p)[None, :] for i in range(len(parts)))]
    points += [p[i] + extreme_points(part) @ R[i].T for i, of_body in enumerate(parts) for part in of_body]
    return np.concatenate(points)


def _extent(points: Array) -> float:
    return float(np.max(np.ptp(points, axis=0)))


def _seat(model: Any, i: int, R: Array, p: Array) -> Array:
    """World position of the seat of link i's joint on its parent; the body itself where nothing holds it."""
    link = model.links[i]
    if link.joint.kind in FREE_KINDS:
        return np.asarray(p[i])
    place = np.array(link.seat.position, dtype=float)
    return place if link.parent < 0 else np.asarray(p[link.parent] + R[link.parent] @ place)


# --- whole pictures ---------------------------------------------------------------------------------------------


def ghost_picture(scene: Scene, *, style: str = "") -> str:
    """All poses over each other, early ones faint, with trails, times, axes and a scale."""
    points = [scene.points(k) for k in range(len(scene.times))]
    floor = _floor(scene, np.concatenate(points))
    feet = [] if floor is None else [np.column_stack([part[:, :2], np.full(len(part), floor)]) for part in points]
    everything = np.concatenate([*points, *feet, scene.trails.reshape(-1, 3)])
    canvas = fit(scene.view, everything, WIDTH, HEIGHTS, MARGIN)
    content = [_ground_grid(canvas, np.concatenate(points), floor) if floor is not None else ""]
    content += [_shadow(scene, canvas, floor) if floor is not None else "", _world(scene, canvas)]
    strengths = np.linspace(0.16, 0.5, max(len(scene.times) - 1, 1)).tolist()
    for k in range(len(scene.times) - 1):
        content.append(f'<g opacity="{strengths[k]:.2f}">{_pose(scene, canvas, k)}</g>')
    content += [_trails(scene, canvas), _pose(scene, canvas, -1), _time_words(scene, canvas)]
    content += [_triad(canvas, _free_corner(canvas, np.concatenate(points))), _scale_bar(canvas)]
    first, last = scene.times[0], scene.times[-1]
    label = f"{scene.model.name} at {len(scene.times)} instants from {first:g} s to {last:g} s"
    return document(canvas.width, canvas.height, "".join(content), label, style=style)


def snapshots(scene: Scene) -> list[tuple[float, str]]:
    """(t, svg) of every pose alone, all at the same scale; a robot that travels far is followed."""
    if len(scene.parts) > 4 * MANY_BODIES:
        return []
    points = [scene.points(k) for k in range(len(scene.times))]
    everything = np.concatenate(points)
    follows = _extent(everything) > 3 * max(map(_extent, points))
    pictures = []
    for k, t in enumerate(scene.times.tolist()):
        canvas = _small_canvas(scene.view, points, k) if follows else _square(scene.view, everything)
        content = _world(scene, canvas, is_small=True) + _pose(scene, canvas, k, is_small=True)
        pictures.append((t, document(canvas.width, canvas.height, content, f"{scene.model.name} at {t:g} s")))
    return pictures


def write_picture(result: Result, target: str | Path, *, n_poses: int = 6) -> None:
    """Write the superimposed picture as an SVG file of its own, for a README or a paper."""
    background = "svg { background: var(--card); }"
    svg = ghost_picture(make_scene(result, n_poses), style=stylesheet("colours.css") + background)
    write_text(Path(target), svg)


def _square(view: View, points: Array) -> Canvas:
    return fit(view, points, SMALL_WIDTH, (0.75 * SMALL_WIDTH, 0.75 * SMALL_WIDTH), SMALL_MARGIN)


def _small_canvas(view: View, points: list[Array], k: int) -> Canvas:
    """Centred on pose k, at the scale at which the largest pose fits."""
    scale = min(_square(view, part).scale for part in points)
    return replace(_square(view, points[k]), scale=scale)


# --- one pose ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mark:
    """A piece of a picture: how near it is, its look, its path data."""

    depth: float
    look: str
    data: str


def _pose(scene: Scene, canvas: Canvas, k: int, *, is_small: bool = False) -> str:
    """The robot at pose k: far marks first; neighbours of one look become one path."""
    marks = sorted(_marks(scene, canvas, k, 0.5 if is_small else 1.0), key=lambda mark: mark.depth)
    return "".join(
        path("".join(mark.data for mark in group), look) for look, group in groupby(marks, lambda mark: mark.look)
    )


def _marks(scene: Scene, canvas: Canvas, k: int, stretch: float) -> Iterator[Mark]:
    R, p = scene.R[k], scene.p[k]
    is_plain = len(scene.parts) > MANY_BODIES
    near: list[float] = []
    weight = stretch * (7.0 if len(scene.parts) <= 12 else 5.0 if not is_plain else 2.0)
    for i, parts in enumerate(scene.parts):
        marks = [*_guide(scene, canvas, i, R, p)]
        marks += [mark for part in parts for mark in _part_marks(part, canvas, R[i], p[i], weight, is_plain)]
        near.append(max((mark.depth for mark in marks if 'class="body"' in mark.look), default=-np.inf))
        link = scene.model.links[i]
        if not is_plain:
            # over the bars that meet there
            depth = max(canvas.depth(p[i]), near[i], near[link.parent] if link.parent >= 0 else -np.inf)
            marks += _joint_marks(link.joint.kind, canvas.pixels(p[i]), depth + weight / canvas.scale, weight)
        if scene.view.is_flat:
            # children over their parents, marks as they come
            marks = [replace(mark, depth=i + 0.01 * k) for k, mark in enumerate(marks)]
        yield from (replace(mark, depth=0.0) if is_plain else mark for mark in marks)


def _part_marks(part: Part, canvas: Canvas, R: Array, p: Array, weight: float, is_plain: bool) -> Iterator[Mark]:
    if isinstance(part, Block):
        yield from _block_marks(part, canvas, R, p)
    elif isinstance(part, Ball):
        centre = p + R @ part.centre
        (x, y), depth = canvas.pixels(centre), canvas.depth(centre)
        if part.radius > 0:
            yield Mark(depth, 'class="ball"', circle_path(x, y, max(part.radius * canvas.scale, 1.0)))
        else:
            yield Mark(depth, 'class="mass"', circle_path(x, y, 0.55 * weight))
    else:
        yield from _bar_marks(part, canvas, R, p, weight, is_plain)


def _bar_marks(part: Bar, canvas: Canvas, R: Array, p: Array, weight: float, is_plain: bool) -> Iterator[Mark]:
    points = np.stack([p + R @ part.start, p + R @ part.end])
    data, depth = line_path(*canvas.pixels(points).T), canvas.depth(points.mean(axis=0))
    width = max(2 * part.radius * canvas.scale, 0.4 * weight) if part.radius else weight
    if part.is_thin:
        yield Mark(depth, 'class="thin" stroke-width="1.2"', data)
    elif is_plain:
        yield Mark(depth, f'class="outline" stroke-width="{pixel(width)}"', data)
    else:
        yield Mark(depth, f'class="outline" stroke-width="{pixel(width + 2)}"', data)
        # just over its own outline
        yield Mark(depth + 1e-6 / canvas.scale, f'class="body" stroke-width="{pixel(width)}"', data)


def _block_marks(part: Block, canvas: Canvas, R: Array, p: Array) -> Iterator[Mark]:
    """The faces of a box that look at us, shaded by their direction."""
    for (axis, first, second), sign in ((face, sign) for face in FACES for sign in (-1.0, 1.0)):
        normal = sign * R[:, axis]
        if normal @ canvas.view.toward < 1e-9:
            continue
        middle = p + R @ part.centre + part.half[axis] * normal
        a, b = part.half[first] * R[:, first], part.half[second] * R[:, second]
        corners = np.stack([middle + a + b, middle + a - b, middle - a - b, middle - a + b])
        shade = (
            "top" if canvas.view.is_flat or normal[2] > 0.5 else "left" if normal @ canvas.view.right < 0 else "right"
        )
        look = f'class="{shade}" stroke-width="1.2"'
        yield Mark(canvas.depth(middle), look, polygon_path(canvas.pixels(corners)))


def _joint_marks(kind: str, place: Array, depth: float, weight: float) -> Iterator[Mark]:
    """Hinges are circles, slides squares, balls filled; place in pixels."""
    (x, y), radius = place, 0.62 * weight
    if kind in ("prismatic", "cylindrical"):
        corners = place + radius * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
        yield Mark(depth, 'class="joint" stroke-width="1.6"', polygon_path(corners))
    elif kind in ("revolute", "universal"):
        yield Mark(depth, 'class="joint" stroke-width="1.6"', circle_path(x, y, radius))
    elif kind == "spherical":
        yield Mark(depth, 'class="socket" stroke-width="1.6"', circle_path(x, y, 1.25 * radius))


def _guide(scene: Scene, canvas: Canvas, i: int, R: Array, p: Array) -> Iterator[Mark]:
    """The rail of a sliding joint, from its seat on a moving parent to the slider."""
    link = scene.model.links[i]
    if link.parent >= 0 and link.joint.kind in ("prismatic", "cylindrical", "planar"):
        points = np.stack([_seat(scene.model, i, R, p), p[i]])
        depth = canvas.depth(points.mean(axis=0)) - 1e-3 * scene.size
        yield Mark(depth, 'class="thin" stroke-width="2"', line_path(*canvas.pixels(points).T))


# --- around the robot -------------------------------------------------------------------------------------------


def _trails(scene: Scene, canvas: Canvas) -> str:
    """Paths of the ends, stronger towards the end of the run; long tangled ones fade sooner."""
    lines = []
    length = np.linalg.norm(np.diff(scene.trails[:, 0], axis=0), axis=1).sum()
    fading = float(np.clip(length / (5 * scene.size), 1.0, 6.0))
    edges = np.unique(np.linspace(0, len(scene.trail_times) - 1, TRAIL_PIECES + 1).astype(int)).tolist()
    for j in range(scene.trails.shape[1]):
        x, y = canvas.pixels(scene.trails[:, j]).T
        for k, (first, last) in enumerate(pairwise(edges)):
            strength = 0.2 + 0.8 * ((k + 1) / TRAIL_PIECES) ** fading
            piece = line_path(x[first : last + 1], y[first : last + 1])
            lines.append(path(piece, f'class="trail" stroke-width="1.6" opacity="{strength:.2f}"'))
    return "".join(lines)


def _time_words(scene: Scene, canvas: Canvas) -> str:
    """When the first end was where, unless the words would cover each other."""
    parts: list[str] = []
    taken: list[Array] = []
    order = [len(scene.times) - 1, *range(len(scene.times) - 1)]
    for k in order:
        end = scene.ends[0]
        x, y = canvas.pixels(scene.p[k, end.body] + scene.R[k, end.body] @ end.point)
        if any(abs(x - a) < 52 and abs(y - b) < 18 for a, b in taken):
            continue
        taken.append(np.array([x, y]))
        is_right = x < canvas.width - 60
        word = text(
            x + (9 if is_right else -9),
            y - 7,
            f"{scene.times[k]:.3g} s",
            anchor="start" if is_right else "end",
            css="halo",
        )
        parts.append(path(circle_path(x, y, 3), 'class="spot"') + word)
    return "".join(parts)


def _world(scene: Scene, canvas: Canvas, *, is_small: bool = False) -> str:
    """Supports of the roots that the world holds, and rails of those that slide."""
    size, parts = (9.0 if is_small else 16.0), []
    for i, link in enumerate(scene.model.links):
        if link.parent >= 0 or link.joint.kind in FREE_KINDS:
            continue
        seat = np.array(link.seat.position, dtype=float)
        if link.joint.kind in ("prismatic", "cylindrical"):
            parts.append(_rail(scene, canvas, i))
        else:
            parts.append(_support(canvas, seat, size))
    return "".join(dict.fromkeys(parts))


def _rail(scene: Scene, canvas: Canvas, i: int) -> str:
    """A line through all the places where the slider was, a little longer, hatched on one side."""
    track = scene.paths[:, i]
    middle = track[np.argmax(np.linalg.norm(track - track[0], axis=1))]
    along = middle - track[0]
    length = float(np.linalg.norm(along))
    along = along / length if length > 1e-12 * scene.size else canvas.view.right
    shares = (track - track[0]) @ along
    points = track[0] + np.outer([shares.min() - 0.4 * scene.size, shares.max() + 0.4 * scene.size], along)
    start, end = canvas.pixels(points)
    return _hatched(start, end, 7.0)


def _hatched(start: Array, end: Array, depth: float) -> str:
    """The sign of the ground: a line with short strokes on its lower side."""
    along = end - start
    length = float(np.linalg.norm(along)) or 1.0
    along = along / length
    across = np.array([-along[1], along[0]]) * (1.0 if along[0] >= 0 else -1.0)
    feet = [start + share * (end - start) for share in np.linspace(0.0, 1.0, max(3, round(length / 8) + 1))]
    strokes = [line_path(*np.stack([foot, foot + depth * (across - 0.8 * along)]).T) for foot in feet]
    line = path(line_path(*np.stack([start, end]).T), 'class="ground" stroke-width="2"')
    return line + path("".join(strokes), 'class="ground" stroke-width="1.2"')


def _support(canvas: Canvas, seat: Array, size: float) -> str:
    """A hinge on hatched ground; in space a plate."""
    x, y = canvas.pixels(seat)
    if not canvas.view.is_flat:
        reach = size / canvas.scale
        corners = seat + reach * np.array([[1, 1, 0], [1, -1, 0], [-1, -1, 0], [-1, 1, 0]])
        plate = canvas.pixels(corners)
        thick = plate + np.array([0.0, 0.35 * size])
        return path(polygon_path(thick), 'class="plate"') + path(
            polygon_path(plate), 'class="plate" stroke-width="1.4"'
        )
    foot = np.array([[x, y], [x - 0.8 * size, y + 1.2 * size], [x + 0.8 * size, y + 1.2 * size]])
    left, right = foot[1] - np.array([0.6 * size, 0]), foot[2] + np.array([0.6 * size, 0])
    return path(polygon_path(foot), 'class="plate" stroke-width="1.4"') + _hatched(left, right, 0.45 * size)


def _floor(scene: Scene, points: Array) -> float | None:
    """Height of the ground grid, below all that is drawn; None for free flyers without gravity and flat pictures."""
    if scene.view.is_flat or not (scene.is_held or any(scene.model.gravity)):
        return None
    return float(points[:, 2].min())


def _ground_grid(canvas: Canvas, points: Array, floor: float) -> str:
    low, high = points[:, :2].min(axis=0), points[:, :2].max(axis=0)
    step = nice_step(max(float(np.max(high - low)), 1e-9), 8)
    first, last = np.floor(low / step - 0.5), np.ceil(high / step + 0.5)
    columns = np.arange(first[0], last[0] + 1) * step
    rows = np.arange(first[1], last[1] + 1) * step
    lines = [np.array([[x, rows[0], floor], [x, rows[-1], floor]]) for x in columns]
    lines += [np.array([[columns[0], y, floor], [columns[-1], y, floor]]) for y in rows]
    return path("".join(line_path(*canvas.pixels(line).T) for line in lines), 'class="grid"')


def _shadow(scene: Scene, canvas: Canvas, floor: float) -> str:
    """The last pose straight down on the ground grid."""
    lines = []
    for i, parts in enumerate(scene.parts):
        for bar in (part for part in parts if isinstance(part, Bar)):
            points = scene.p[-1, i] + np.stack([bar.start, bar.end]) @ scene.R[-1, i].T
            points[:, 2] = floor
            lines.append(line_path(*canvas.pixels(points).T))
    return path("".join(lines), 'class="shadow" stroke-width="6"')


def _free_corner(canvas: Canvas, points: Array) -> Array:
    """Where on the left (or else above on the right) a small thing hides least of the robot [px]."""
    right, bottom = canvas.width - 52.0, canvas.height - 32.0
    corners = np.array([[34.0, bottom], [34.0, 48.0], [right, 48.0]])
    distances = np.linalg.norm(canvas.pixels(points)[:, None, :] - corners, axis=-1).min(axis=0)
    return np.asarray(corners[int(np.argmax(np.minimum(distances, 110.0)))])


def _triad(canvas: Canvas, origin: Array) -> str:
    """The world's axes, small."""
    parts = []
    for name, axis in zip("xyz", np.eye(3), strict=True):
        x, y = 24.0 * np.array([axis @ canvas.view.right, -(axis @ canvas.view.up)])
        if np.hypot(x, y) > 1.0:
            tip = origin + np.array([x, y])
            parts.append(path(_arrow(origin, tip), 'class="ground" stroke-width="1.4"'))
            parts.append(text(origin[0] + 1.45 * x, origin[1] + 1.45 * y + 4, name, anchor="middle"))
    return "".join(parts)


def _arrow(start: Array, tip: Array) -> str:
    back = 5.0 * (start - tip) / np.linalg.norm(start - tip)
    side = 0.5 * np.array([-back[1], back[0]])
    return line_path(*np.stack([start, tip, tip + back + side, tip, tip + back - side]).T)


def _scale_bar(canvas: Canvas) -> str:
    length = nice_step(110.0 / canvas.scale, 1)
    length = length if length * canvas.scale <= 200 else length / 2
    x, y = canvas.width - 24.0, canvas.height - 20.0
    start = x - length * canvas.scale
    bar = f"M{pixel(start)} {pixel(y - 4)}v4H{pixel(x)}v-4"
    return path(bar, 'class="ground" stroke-width="1.4"') + text(
        0.5 * (start + x), y - 7, f"{length:g} m", anchor="middle"
    )

"""What stands around the robot in a picture: ground, supports, paths of its ends, times, axes, scale."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from pliant.model.tree import find_frame
from pliant.view.charts.chart import nice_step
from pliant.view.marks import Mark, Words, circle, line, polygon
from pliant.view.picture.bent import BentBeam
from pliant.view.picture.projection import Canvas
from pliant.view.picture.scene import Scene
from pliant.view.picture.skeleton import FREE_KINDS, Bar, held_loops
from pliant.view.svg import TIMES, Array

TRAIL_PIECES = 40


def trails(scene: Scene, canvas: Canvas) -> list[Mark]:
    """Paths of the ends, stronger towards the end of the run; long tangled ones fade sooner."""
    lines = []
    length = np.linalg.norm(np.diff(scene.trails[:, 0], axis=0), axis=1).sum()
    fading = float(np.clip(length / (5 * scene.size), 1.0, 6.0))
    edges = np.unique(np.linspace(0, len(scene.trail_times) - 1, TRAIL_PIECES + 1).astype(int)).tolist()
    for j in range(scene.trails.shape[1]):
        points = canvas.pixels(scene.trails[:, j])
        for k, (first, last) in enumerate(pairwise(edges)):
            strength = 0.2 + 0.8 * ((k + 1) / TRAIL_PIECES) ** fading
            lines.append(line("trail", points[first : last + 1], 1.6, opacity=strength))
    return lines


def time_words(scene: Scene, canvas: Canvas) -> list[Mark | Words]:
    """When the first end was where, unless the words would cover each other."""
    parts: list[Mark | Words] = []
    taken: list[Array] = []
    order = [len(scene.times) - 1, *range(len(scene.times) - 1)]
    for k in order:
        end = scene.ends[0]
        x, y = canvas.pixels(scene.place(k, end.body, end.point))
        if any(abs(x - a) < 52 and abs(y - b) < 18 for a, b in taken):
            continue
        taken.append(np.array([x, y]))
        is_right = x < canvas.width - 60
        shift, anchor = (9, "start") if is_right else (-9, "end")
        parts.append(circle("spot", taken[-1], 3))
        parts.append(Words(x + shift, y - 7, f"{scene.times[k]:.3g} s", anchor, "halo"))  # type: ignore[arg-type]
    return parts


def world(scene: Scene, canvas: Canvas) -> list[Mark]:
    """Supports of what the world holds, and rails of roots that slide."""
    size = 16.0
    parts: dict[bytes, list[Mark]] = {}  # several roots may have the same support
    for i, link in enumerate(scene.model.links):
        if link.parent >= 0 or link.joint.kind in FREE_KINDS:
            continue
        joint_frame = np.array(link.joint_frame.position, dtype=float)
        if link.joint.kind in ("prismatic", "cylindrical"):
            marks = _rail(scene, canvas, i)
        elif link.joint.kind == "fixed" and i in scene.beams and scene.view.is_flat:
            marks = _wall(scene.beams[i], canvas, size)
        else:
            marks = _support(canvas, joint_frame, size)
        parts[np.round(marks[0].points, 1).tobytes()] = marks
    for joint_frame in held_loops(scene.model):
        marks = _support(canvas, joint_frame, size)
        parts[np.round(marks[0].points, 1).tobytes()] = marks
    return [mark for marks in parts.values() for mark in marks]


def contact_planes(scene: Scene) -> list[tuple[Array, Array]]:
    """(point, normal) of the planes of contact that stand still in the world and are seen edge on."""
    found = []
    for contact in scene.model.contacts:
        frame = find_frame(scene.model, contact.plane.place)
        normal = frame.matrix @ np.array(contact.plane.normal) / np.linalg.norm(contact.plane.normal)
        if frame.body == "world" and scene.view.is_flat and abs(normal @ scene.view.toward) < 1e-9:
            found.append((np.array(frame.position) + contact.plane.offset * normal, normal))
    return found


def feet(scene: Scene, points: Array) -> Array:
    """The points straight down on every plane of contact (n, 3), so that the picture has room for it."""
    planes = contact_planes(scene)
    return np.concatenate([np.zeros((0, 3)), *(points - np.outer((points - p) @ n, n) for p, n in planes)])


def grounds(scene: Scene, canvas: Canvas, points: Array) -> list[Mark]:
    """Planes of contact as hatched lines, as long as the robot is wide."""
    parts: list[Mark] = []
    for place, normal in contact_planes(scene):
        along = np.cross(normal, scene.view.toward)
        shares = (points - place) @ along
        reach = 0.05 * scene.size
        ends = canvas.pixels(place + np.outer([shares.min() - reach, shares.max() + reach], along))
        side = canvas.pixels(place - normal) - canvas.pixels(place)
        parts += _hatched(ends[0], ends[1], 7.0, side / np.linalg.norm(side))
    return parts


def _rail(scene: Scene, canvas: Canvas, i: int) -> list[Mark]:
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


def _wall(beam: BentBeam, canvas: Canvas, size: float) -> list[Mark]:
    """What a beam is clamped to: hatched ground across its start."""
    start, beyond = canvas.pixels(beam.p[-1, :2])
    away = (start - beyond) / (np.linalg.norm(start - beyond) or 1.0)
    half = max(size, 1.5 * canvas.scale * float(beam.half[0].max()))
    across = half * np.array([-away[1], away[0]])
    return _hatched(start - across, start + across, 0.45 * size, away)


def _hatched(start: Array, end: Array, depth: float, side: Array | None = None) -> list[Mark]:
    """The sign of the ground: a line with short strokes on its lower side, or the side given."""
    along = end - start
    length = float(np.linalg.norm(along)) or 1.0
    along = along / length
    across = np.array([-along[1], along[0]]) * (1.0 if along[0] >= 0 else -1.0) if side is None else side
    feet = [start + share * (end - start) for share in np.linspace(0.0, 1.0, max(3, round(length / 8) + 1))]
    strokes = [line("ground", np.stack([foot, foot + depth * (across - 0.8 * along)]), 1.2) for foot in feet]
    return [line("ground", np.stack([start, end]), 2.0), *strokes]


def _support(canvas: Canvas, joint_frame: Array, size: float) -> list[Mark]:
    """A hinge on hatched ground; in space a plate."""
    x, y = canvas.pixels(joint_frame)
    if not canvas.view.is_flat:
        reach = size / canvas.scale
        corners = joint_frame + reach * np.array([[1, 1, 0], [1, -1, 0], [-1, -1, 0], [-1, 1, 0]])
        plate = canvas.pixels(corners)
        thick = plate + np.array([0.0, 0.35 * size])
        return [polygon("plate", thick), polygon("plate", plate, 1.4)]
    foot = np.array([[x, y], [x - 0.8 * size, y + 1.2 * size], [x + 0.8 * size, y + 1.2 * size]])
    left, right = foot[1] - np.array([0.6 * size, 0]), foot[2] + np.array([0.6 * size, 0])
    return [polygon("plate", foot, 1.4), *_hatched(left, right, 0.45 * size)]


def floor_height(scene: Scene, points: Array) -> float | None:
    """Height of the ground grid, below all that is drawn; None for free flyers without gravity and flat pictures."""
    if scene.view.is_flat or not (scene.is_held or any(scene.model.gravity)):
        return None
    return float(points[:, 2].min())


def ground_grid(canvas: Canvas, points: Array, floor: float) -> list[Mark]:
    low, high = points[:, :2].min(axis=0), points[:, :2].max(axis=0)
    step = nice_step(max(float(np.max(high - low)), 1e-9), 8)
    first, last = np.floor(low / step - 0.5), np.ceil(high / step + 0.5)
    columns = np.arange(first[0], last[0] + 1) * step
    rows = np.arange(first[1], last[1] + 1) * step
    lines = [np.array([[x, rows[0], floor], [x, rows[-1], floor]]) for x in columns]
    lines += [np.array([[columns[0], y, floor], [columns[-1], y, floor]]) for y in rows]
    return [line("grid", canvas.pixels(points)) for points in lines]


def shadow(scene: Scene, canvas: Canvas, floor: float, k: int = -1) -> list[Mark]:
    """Pose k straight down on the ground grid."""
    lines = []
    for i, parts in enumerate(scene.parts):
        for bar in (part for part in parts if isinstance(part, Bar)):
            points = scene.p[k, i] + np.stack([bar.start, bar.end]) @ scene.R[k, i].T
            points[:, 2] = floor
            lines.append(points)
    for beam in scene.beams.values():
        lines.append(np.column_stack([beam.p[k, :, :2], np.full(beam.p.shape[1], floor)]))
    return [line("shadow", canvas.pixels(points), 6.0) for points in lines]


def free_corner(canvas: Canvas, points: Array) -> Array:
    """Where on the left (or else above on the right) a small thing hides least of the robot [px]."""
    right, bottom = canvas.width - 52.0, canvas.height - 32.0
    corners = np.array([[34.0, bottom], [34.0, 48.0], [right, 48.0]])
    distances = np.linalg.norm(canvas.pixels(points)[:, None, :] - corners, axis=-1).min(axis=0)
    return np.asarray(corners[int(np.argmax(np.minimum(distances, 110.0)))])


def triad(canvas: Canvas, origin: Array) -> list[Mark | Words]:
    """The world's axes, small."""
    parts: list[Mark | Words] = []
    for name, axis in zip("xyz", np.eye(3), strict=True):
        x, y = 24.0 * np.array([axis @ canvas.view.right, -(axis @ canvas.view.up)])
        if np.hypot(x, y) > 1.0:
            tip = origin + np.array([x, y])
            parts.append(line("ground", _arrow(origin, tip), 1.4))
            parts.append(Words(origin[0] + 1.45 * x, origin[1] + 1.45 * y + 4, name, "middle"))
    return parts


def _arrow(start: Array, tip: Array) -> Array:
    back = 5.0 * (start - tip) / np.linalg.norm(start - tip)
    side = 0.5 * np.array([-back[1], back[0]])
    return np.stack([start, tip, tip + back + side, tip, tip + back - side])


def deformation_words(scene: Scene, canvas: Canvas) -> list[Words]:
    """By how much the bending is enlarged."""
    if scene.enlarge == 1 or not scene.beams:
        return []
    words = f"deformation {TIMES} {scene.enlarge:g}"
    return [Words(0.5 * canvas.width, canvas.height - 16.0, words, "middle", "halo")]


def scale_bar(canvas: Canvas) -> list[Mark | Words]:
    length = nice_step(110.0 / canvas.scale, 1)
    length = length if length * canvas.scale <= 200 else length / 2
    x, y = canvas.width - 24.0, canvas.height - 20.0
    start = x - length * canvas.scale
    bar = np.array([[start, y - 4], [start, y], [x, y], [x, y - 4]])
    return [line("ground", bar, 1.4), Words(0.5 * (start + x), y - 7, f"{length:g} m", "middle")]

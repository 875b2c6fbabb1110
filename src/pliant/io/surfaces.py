"""What is seen of a link, as few triangles in body axes: boxes, cylinders, balls, and what a mesh leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.io.robot_tables import Pose
from pliant.model.quantities import LARGEST

Array = NDArray[np.float64]
Triangles = tuple[Array, NDArray[np.int64]]  # points (n, 3), faces (m, 3)
MAX_FACES = 300  # kept of a mesh
ROUND = 16  # sides of a cylinder


def shape_of(kind: str, sizes: Mapping[str, Sequence[float]]) -> Triangles | None:
    """A plain shape; None for what has no extent."""
    positive = all(value > 0 for key in ("size", "radius", "length") for value in sizes.get(key, ()))
    if kind == "box" and "size" in sizes and positive:
        return box(sizes["size"])
    if kind in ("cylinder", "capsule") and {"radius", "length"} <= sizes.keys() and positive:
        return cylinder(sizes["radius"][0], sizes["length"][0])
    if kind == "sphere" and "radius" in sizes and positive:
        return ball(sizes["radius"][0])
    return None


def surface_table(points: Array, faces: Any, pose: Pose) -> dict[str, Any] | None:
    """Points in body axes, rounded to what a picture shows; None for what cannot be seen in any."""
    placed = pose.p + points @ pose.R.T
    if not len(faces) or not np.abs(placed).max() <= LARGEST:
        return None
    return {"points": np.round(placed, 6).tolist(), "faces": np.asarray(faces).tolist()}


def box(size: Sequence[float]) -> Triangles:
    points = 0.5 * np.array(size) * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    quads = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    return points, np.array([face for a, b, c, d in quads for face in ((a, b, c), (a, c, d))])


def cylinder(radius: float, length: float) -> Triangles:
    """Along z, centred."""
    turn = 2 * np.pi * np.arange(ROUND) / ROUND
    rim = radius * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    ends = [np.column_stack([rim, np.full(ROUND, z)]) for z in (-0.5 * length, 0.5 * length)]
    k = np.arange(ROUND)
    after = (k + 1) % ROUND
    sides = [np.stack([k, after, after + ROUND], axis=1), np.stack([k, after + ROUND, k + ROUND], axis=1)]
    fan = np.stack([np.zeros(ROUND - 2, int), k[1:-1], k[2:]], axis=1)
    return np.concatenate(ends), np.concatenate([*sides, fan[:, ::-1], fan + ROUND])


def ball(radius: float) -> Triangles:
    """Rings of latitude between two poles."""
    rings = 5
    height = np.pi * np.arange(1, rings + 1) / (rings + 1)
    turn = 2 * np.pi * np.arange(ROUND) / ROUND
    ring = [np.array([np.sin(h) * np.cos(t), np.sin(h) * np.sin(t), np.cos(h)]) for h in height for t in turn]
    points = radius * np.array([*ring, [0, 0, 1.0], [0, 0, -1.0]])
    k, after = np.arange(ROUND), (np.arange(ROUND) + 1) % ROUND
    faces = [np.stack([k, after, np.full(ROUND, len(ring))], axis=1)]
    for i in range(rings - 1):
        low, high = i * ROUND, (i + 1) * ROUND
        faces += [
            np.stack([low + k, high + k, high + after], axis=1),
            np.stack([low + k, high + after, low + after], 1),
        ]
    last = (rings - 1) * ROUND
    faces.append(np.stack([last + after, last + k, np.full(ROUND, len(ring) + 1)], axis=1))
    return points, np.concatenate(faces)


def coarse(points: Array, faces: NDArray[np.int64]) -> Triangles:
    """At most MAX_FACES: points in one cell of a grid become one, on coarser and coarser grids."""
    low, span = points.min(axis=0), float(np.ptp(points, axis=0).max()) or 1.0
    for cells in (4096, 48, 32, 24, 16, 12, 8, 6, 4, 3, 2):
        x, y, z = np.floor((points - low) / span * cells).astype(np.int64).T
        _, place = np.unique((x * 5000 + y) * 5000 + z, return_inverse=True)
        counts = np.bincount(place)
        points = np.stack([np.bincount(place, weights=points[:, k]) / counts for k in range(3)], axis=1)
        faces = place[faces]
        faces = faces[(faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 0] != faces[:, 2])]
        a, b, c = np.sort(faces, axis=1).T
        _, first = np.unique((a * len(points) + b) * len(points) + c, return_index=True)
        faces = faces[np.sort(first)]
        if len(faces) <= MAX_FACES:
            break
    used, faces = np.unique(faces, return_inverse=True)
    return points[used], faces.reshape(-1, 3)

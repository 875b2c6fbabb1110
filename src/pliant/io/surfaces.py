"""What is seen of a link, as few triangles in body axes: boxes, cylinders, balls, and meshes from files."""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.io.robot_tables import Pose
from pliant.model.quantities import LARGEST

Array = NDArray[np.float64]
Triangles = tuple[Array, NDArray[np.int64]]  # points (n, 3), faces (m, 3)
MOST_FACES = 300  # kept of a mesh
MOST_BYTES = 200_000_000  # of a mesh file
ROUND = 16  # sides of a cylinder


def surface_of(
    kind: str, sizes: Mapping[str, Sequence[float]], filename: str, folder: Path, pose: Pose
) -> dict[str, Any] | None:
    """The table of a surface in axes of the body; None for what has no extent or cannot be read."""
    positive = all(value > 0 for key in ("size", "radius", "length") for value in sizes.get(key, ()))
    made: Triangles | None = None
    if kind == "box" and "size" in sizes and positive:
        made = box(sizes["size"])
    elif kind in ("cylinder", "capsule") and {"radius", "length"} <= sizes.keys() and positive:
        made = cylinder(sizes["radius"][0], sizes["length"][0])
    elif kind == "sphere" and "radius" in sizes and positive:
        made = ball(sizes["radius"][0])
    elif kind == "mesh":
        made = _mesh(filename, folder, np.array(sizes.get("scale", (1.0, 1.0, 1.0))))
    return None if made is None else surface_table(*made, pose)


def surface_table(points: Array, faces: Any, pose: Pose) -> dict[str, Any]:
    """Points turned into body axes, rounded to what a picture shows."""
    placed = pose.p + points @ pose.R.T
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


# --- mesh files -----------------------------------------------------------------------------------------------------


def _mesh(filename: str, folder: Path, scale: Array) -> Triangles | None:
    """A mesh with few faces; None if the file is not there or cannot be read: it is for the eyes only."""
    try:
        path = mesh_path(filename, folder)
        if path is None or path.stat().st_size > MOST_BYTES:
            return None
        points, faces = READERS[path.suffix.lower()](path)
        if not len(faces) or not np.isfinite(points).all() or np.abs(points).max() > LARGEST:
            return None
        return coarse(points * scale, faces)
    except (OSError, ValueError, KeyError, IndexError, ImportError, struct.error):
        return None


def mesh_path(filename: str, folder: Path) -> Path | None:
    """The file that is meant: package://name/... is looked for in the folders above the robot file."""
    match = re.match(r"(?:package|model)://([^/]+)/(.+)", filename)
    if match is None:
        path = folder / filename.removeprefix("file://")
        return path if path.is_file() and path.suffix.lower() in READERS else None
    for above in (folder.resolve(), *folder.resolve().parents):
        for path in (above / match[1] / match[2], above / match[2]):
            if path.suffix.lower() in READERS and path.is_file():
                return path
    return None


def _read_stl(path: Path) -> Triangles:
    """Binary, or text."""
    data = path.read_bytes()
    count = struct.unpack_from("<I", data, 80)[0] if len(data) >= 84 else -1
    if len(data) == 84 + 50 * count:
        rows = np.frombuffer(
            data, np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")]), count, 84
        )
        corners = rows["corners"].reshape(-1, 3).astype(float)
    else:
        words = re.findall(rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)", data)
        corners = np.array([[float(x) for x in three] for three in words]).reshape(-1, 3)
    return corners, np.arange(len(corners) // 3 * 3).reshape(-1, 3)


def _read_obj(path: Path) -> Triangles:
    points: list[list[float]] = []
    faces: list[tuple[int, int, int]] = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        words = line.split()
        if words[:1] == ["v"]:
            points.append([float(x) for x in words[1:4]])
        elif words[:1] == ["f"]:
            corners = [int(word.split("/")[0]) for word in words[1:]]
            corners = [k - 1 if k > 0 else len(points) + k for k in corners]
            faces += [(corners[0], b, c) for b, c in pairwise(corners[1:])]
    return np.array(points).reshape(-1, 3), np.array(faces, dtype=int).reshape(-1, 3)


def _read_dae(path: Path) -> Triangles:
    """COLLADA by trimesh (the extra `urdf`), from memory: it opens no other files."""
    import trimesh

    data = path.read_bytes()
    if b"<!DOCTYPE" in data:
        raise ValueError("it could hold entities")
    try:
        mesh: Any = trimesh.load(io.BytesIO(data), file_type="dae", force="mesh")
    except Exception as error:  # its readers raise whatever they meet
        raise ValueError(str(error)) from None
    return np.array(mesh.vertices, np.float64), np.array(mesh.faces, np.int64)


READERS = {".stl": _read_stl, ".obj": _read_obj, ".dae": _read_dae}


def coarse(points: Array, faces: NDArray[np.int64]) -> Triangles:
    """At most MOST_FACES: points in one cell of a grid become one, on coarser and coarser grids."""
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
        if len(faces) <= MOST_FACES:
            break
    used, faces = np.unique(faces, return_inverse=True)
    return points[used], faces.reshape(-1, 3)

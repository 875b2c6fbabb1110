"""Meshes that robot files name: STL, OBJ, COLLADA. They are for the eyes only, so what cannot be read is not drawn."""

from __future__ import annotations

import importlib.util
import io
import os
import re
import struct
import warnings
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import ModelError
from pliant.io.limited import run_limited
from pliant.io.plain_file import MAX_BYTES, MAX_TEXT, read_plain
from pliant.io.surfaces import Array, Triangles, coarse
from pliant.model.messages import listed, shown
from pliant.model.quantities import LARGEST

MAX_TOGETHER = 400_000_000  # bytes of all meshes of a robot
TEXT_WEIGHT = 8  # a byte of text takes as long as so many others
MAX_TRIANGLES = 1_000_000  # of an OBJ file
LONGEST_NUMBER = 40  # characters; more do not count
NO_CORNER = "a triangle has a corner that is not there"
PATIENCE = 20  # seconds for all COLLADA files of a robot
NUMBER = rb"\s++(\S{1,40}+)"
CORNER = re.compile(rb"vertex" + 3 * NUMBER + rb"(?!\S)")


class Meshes:
    """The meshes of one robot file. Each is read once, whoever shows it; what is not drawn is reported at the end."""

    def __init__(self, robot: Path, filenames: Iterable[str]) -> None:
        self.robot = robot
        self.problems: dict[str, str] = {}  # why a file is not drawn
        self._left = MAX_TOGETHER
        self._known: dict[Path, Triangles | None] = {}
        self._paths: dict[str, Path | None] = {}
        found = {self._path(name) for name in filenames}
        self._read_collada([path for path in found if path is not None and path.suffix.lower() == ".dae"])

    def triangles(self, filename: str, scale: Array) -> Triangles | None:
        """A mesh with few faces; None if the file is not there or is not drawn."""
        path = self._path(filename)
        if path is None:
            return None
        if path not in self._known:
            if path.suffix.lower() == ".dae":
                self._read_collada([path])
            else:
                self._read(path)
        made = self._known[path]
        return None if made is None else (made[0] * scale, made[1])

    def report(self) -> None:
        """One sentence about all that is there and is not drawn."""
        if self.problems:
            each = listed((f"{name} ({why})" for name, why in self.problems.items()), 5)
            warnings.warn(f"{self.robot.name}: some meshes are not drawn: {each}", stacklevel=2)

    def _path(self, filename: str) -> Path | None:
        if filename not in self._paths:
            path = mesh_path(filename, self.robot.parent)
            self._paths[filename] = None if path is None else path.resolve()
        return self._paths[filename]

    def _read(self, path: Path) -> None:
        self._known[path] = None
        try:
            data = read_plain(path, MAX_BYTES)
            is_text = path.suffix.lower() == ".obj" or _binary_count(data) is None
            if is_text and len(data) > MAX_TEXT:
                raise ValueError(f"{len(data) / 1e6:.0f} MB of text; at most {MAX_TEXT / 1e6:.0f} are read")
            self._left -= len(data) * (TEXT_WEIGHT if is_text else 1)
            if self._left < 0:
                raise ValueError("the meshes before it have taken long enough")
            self._known[path] = checked(*READERS[path.suffix.lower()](data))
        except ModelError as error:
            self.problems[path.name] = _why(error, path)
        except (OSError, ValueError, IndexError) as error:
            self.problems[path.name] = shown(str(error))[1:-1]

    def _read_collada(self, paths: list[Path]) -> None:
        """All in one process: its reader would go through a file that repeats itself 2^40 times."""
        self._known |= dict.fromkeys(paths)
        if not paths or importlib.util.find_spec("trimesh") is None:
            return
        names = [str(path) for path in paths]
        try:
            answers = run_limited("COLLADA", "pliant.io.meshes:read_collada", seconds=PATIENCE, files=names)
        except ModelError as error:
            self.problems |= {path.name: str(error).partition(";")[0] for path in paths}
            return
        for path, answer in zip(paths, answers, strict=True):
            if isinstance(answer, str):
                self.problems[path.name] = answer
            else:
                self._known[path] = np.array(answer[0]), np.array(answer[1], np.int64)


def mesh_path(filename: str, folder: Path) -> Path | None:
    """The file that is meant: package://name/... is looked for in the folders above the robot file."""
    match = re.match(r"(?:package|model)://([^/]+)/(.+)", filename)
    candidates = [folder / filename.removeprefix("file://")]
    if match is not None:
        above = (folder.resolve(), *folder.resolve().parents)
        candidates = [path for place in above for path in (place / match[1] / match[2], place / match[2])]
    known = (path for path in candidates if path.suffix.lower() in (".stl", ".obj", ".dae"))
    return next((path for path in known if os.path.exists(path)), None)


def checked(points: Array, faces: Any) -> Triangles:
    """With few faces, all of whose corners are there."""
    if not len(faces):
        raise ValueError("no triangles in it")
    if faces.min() < 0 or faces.max() >= len(points):
        raise ValueError(NO_CORNER)
    if not np.abs(points).max() <= LARGEST:
        raise ValueError("a corner is not finite, or beyond all measure")
    return coarse(points, faces)


def _why(error: ModelError, path: Path) -> str:
    """What was found, without the name and the advice."""
    return str(error).removeprefix(f"{path}: ").partition(";")[0]


def _binary_count(data: bytes) -> int | None:
    """Triangles of a binary STL file, if that is what it is."""
    count = int(struct.unpack_from("<I", data, 80)[0]) if len(data) >= 84 else -1
    return count if len(data) == 84 + 50 * count else None


def _read_stl(data: bytes) -> Triangles:
    """Binary, or text."""
    count = _binary_count(data)
    if count is None:
        words = CORNER.findall(data)
        corners = np.array([[float(x) for x in three] for three in words]).reshape(-1, 3)
    else:
        row = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])
        corners = np.frombuffer(data, row, count, 84)["corners"].reshape(-1, 3).astype(float)
    return corners, np.arange(len(corners) // 3 * 3).reshape(-1, 3)


def _read_obj(data: bytes) -> Triangles:
    points: list[list[float]] = []
    faces: list[tuple[int, int, int]] = []
    for line in data.splitlines():
        kind, words = line[:2].strip(), line.split()
        if kind == b"v":
            points.append([float(x[:LONGEST_NUMBER]) for x in words[1:4]])
            if len(points[-1]) != 3:
                raise ValueError(f"corner {len(points)} has not three numbers")
        elif kind == b"f":
            if len(faces) + len(words) > MAX_TRIANGLES:
                raise ValueError(f"more than {MAX_TRIANGLES} triangles")
            corners = [int(word.split(b"/")[0]) for word in words[1:]]
            corners = [k - 1 if k > 0 else len(points) + k for k in corners]
            if max(corners, default=0) >= 2**32 or min(corners, default=0) < 0:
                raise ValueError(NO_CORNER)
            faces += [(corners[0], b, c) for b, c in pairwise(corners[1:])]
    return np.array(points, dtype=float).reshape(-1, 3), np.array(faces, dtype=np.int64).reshape(-1, 3)


def read_collada(files: list[str]) -> list[Any]:
    """Points and faces of each file, or why not; by trimesh (the extra `urdf`), which opens no other files."""
    return [_collada(Path(file)) for file in files]


def _collada(path: Path) -> Any:
    import trimesh

    try:
        data = read_plain(path)
        if b"<!DOCTYPE" in data:
            raise ValueError("it has a document type, which could hold entities")
        mesh: Any = trimesh.load(io.BytesIO(data), file_type="dae", force="mesh")
        points, faces = checked(np.array(mesh.vertices, np.float64), np.array(mesh.faces, np.int64))
    except ModelError as error:
        return _why(error, path)
    except Exception as error:  # its readers raise whatever they meet
        return shown(str(error))[1:-1]
    return points.tolist(), faces.tolist()


READERS = {".stl": _read_stl, ".obj": _read_obj}

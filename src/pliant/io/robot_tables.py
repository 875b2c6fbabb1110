"""The tables of a model file as readers of robot descriptions fill them: poses, names, limits."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.io.robot_settings import RobotSettings

Array = NDArray[np.float64]
GRAVITY = (0.0, 0.0, -9.81)
MAX_DRAWN = 100_000  # triangles of a robot
HIDDEN = f"it has more than {MAX_DRAWN} triangles to be seen; what comes after them is not drawn"


@dataclass(frozen=True)
class Pose:
    """Attitude and position of a frame in another."""

    R: Array = field(default_factory=lambda: np.eye(3))
    p: Array = field(default_factory=lambda: np.zeros(3))

    def __matmul__(self, inner: Pose) -> Pose:
        return Pose(self.R @ inner.R, self.p + self.R @ inner.p)

    def inverse(self) -> Pose:
        return Pose(self.R.T, -self.R.T @ self.p)

    def table(self) -> dict[str, Any]:
        """Keys of a frame; what is zero is left out."""
        place = {"position": self.p.tolist()} if np.any(self.p) else {}
        return place | ({} if np.array_equal(self.R, np.eye(3)) else {"attitude": self.R.tolist()})


@dataclass
class Tables:
    """Of a robot: what will be the model."""

    name: str
    bodies: list[dict[str, Any]] = field(default_factory=list)
    joints: list[dict[str, Any]] = field(default_factory=list)
    frames: list[dict[str, Any]] = field(default_factory=list)
    crossings: list[dict[str, Any]] = field(default_factory=list)
    base: dict[str, Any] = field(default_factory=dict)  # where it starts
    faces: int = 0  # of all that is seen
    is_whole: bool = True  # whether all is seen

    def add_surfaces(self, body: str, surfaces: Iterable[dict[str, Any]]) -> bool:
        """What is seen of a body, while it is not too much; nothing is drawn of the world. Whether there was any."""
        table = next((table for table in reversed(self.bodies) if table["name"] == body), None)
        if table is None:
            return True
        for surface in surfaces:
            self.faces += len(surface["faces"])
            if self.faces > MAX_DRAWN:
                self.is_whole = False
                return True
            table.setdefault("visual", []).append(surface)
        return "visual" in table

    def as_model(self, settings: RobotSettings) -> dict[str, Any]:
        """With the base and gravity that are asked for; lists that are empty are left out."""
        made: dict[str, Any] = {"name": self.name, "gravity": list(settings.gravity or GRAVITY)}
        made["base"] = {"kind": settings.base} | self.base
        lists = ("bodies", "joints", "frames", "crossings")
        return made | {key: getattr(self, key) for key in lists if getattr(self, key)}


def plain_name(text: str) -> str:
    """A name as models have them: letters, digits, _ and -, at most 80; other characters become _."""
    word = re.sub(r"[^A-Za-z0-9_-]", "_", text)[:79]
    return word if re.match(r"[A-Za-z_]", word) else f"_{word}"


def found_limit(tables: Tables, joint: str, lower: float, upper: float, settings: RobotSettings) -> dict[str, Any]:
    """Keys of a joint for the ends of its range, as settings.limits says; no range where both ends are the same."""
    if lower == upper or settings.limits == "ignore":
        return {}
    if settings.limits == "record":
        for end, value, direction in (("lower", lower, "falling"), ("upper", upper, "rising")):
            name = f"{joint[:73]}_{end}"
            tables.crossings.append({"name": name, "of": joint, "value": value, "direction": direction})
        return {}
    limit = {"lower": lower, "upper": upper}
    if settings.limits == "stop":
        return {"limit": limit | {"stiffness": settings.stop_stiffness, "damping": settings.stop_damping}}
    # a run that ends at the limit may not start beyond it
    start = {} if lower <= 0.0 <= upper else {"q0": 0.5 * (lower + upper)}
    return {"limit": limit} | start

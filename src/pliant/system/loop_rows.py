"""Rows of closed loops: which scalar conditions each kind of loop has. Only pack.py calls it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.model.bodies import Frame
from pliant.model.loops import Loop
from pliant.model.model import Model
from pliant.model.tree import find_frame, model_size, stays_in_plane
from pliant.system.loop_tables import ClosingKind

Array = NDArray[np.float64]
X, Y, Z = np.eye(3)
POINT, SLIDE, TURN, LENGTH = ClosingKind.POINT, ClosingKind.SLIDE, ClosingKind.TURN, ClosingKind.LENGTH
UPRIGHT = 1e-12  # a unit vector whose z is this near to 1 is z
Condition = tuple[ClosingKind, Array, Array]  # kind, e, f


class LoopRows:
    """Rows of the loops and closings tables."""

    def __init__(self, model: Model, frames: list[Frame]) -> None:
        self.loops: list[dict[str, Any]] = []
        self.closings: list[dict[str, Any]] = []
        self.names: list[str] = []  # per closing: loop and condition
        planar = stays_in_plane(model)
        size = model_size(model)
        for loop in model.loops:
            ends = [find_frame(model, place) for place in (loop.first, loop.second)]
            kept = conditions(loop)
            if planar:
                kept = [one for one in kept if _is_in_plane(one, ends)]
            row = {"first": len(frames), "second": len(frames) + 1, "row": len(self.closings), "n_rows": len(kept)}
            row["is_turned"] = any(kind in (SLIDE, TURN) for kind, _, _ in kept)
            frames += ends
            for kind, e, f in kept:
                self.closings.append(
                    {
                        "kind": kind,
                        "loop": len(self.loops),
                        "e": e,
                        "f": f,
                        "length": loop.length or 0.0,
                        "scale": 1.0 if kind == TURN else size,
                    }
                )
                self.names.append(loop.name)
            self.loops.append(row)


def conditions(loop: Loop) -> list[Condition]:
    """All scalar conditions of a loop in space."""
    axis = np.array(loop.axis if loop.axis is not None else Z, dtype=float)
    axis /= np.linalg.norm(axis)
    # the world axis least along it begins the two across it; z keeps x and y
    across = X if abs(axis[0]) <= max(abs(axis[1]), abs(axis[2])) else Y
    side = across - (across @ axis) * axis
    side /= np.linalg.norm(side)
    other = np.cross(axis, side)
    points: list[Condition] = [(POINT, e, Z) for e in (X, Y, Z)]
    aligned: list[Condition] = [(TURN, side, axis), (TURN, other, axis)]
    return {
        "revolute": points + aligned,
        "prismatic": [(SLIDE, side, Z), (SLIDE, other, Z), *aligned, (TURN, side, other)],
        "spherical": points,
        "universal": [*points, (TURN, X, Y)],
        "fixed": [*points, *aligned, (TURN, side, other)],
        "distance": [(LENGTH, X, Z)],
        "point-on-line": [(SLIDE, side, Z), (SLIDE, other, Z)],
    }[loop.kind]


def _is_in_plane(condition: Condition, ends: list[Frame]) -> bool:
    """Whether a condition says anything where all frames turn about z only: not what z alone has a part in."""
    kind, e, f = condition
    along_z = [abs(vector[2]) > 1.0 - UPRIGHT for vector in (e, ends[0].matrix @ e, ends[1].matrix @ f)]
    if kind == POINT:
        return not along_z[0]
    if kind == SLIDE:
        return not along_z[1]
    if kind == TURN:
        return not (along_z[1] or along_z[2])
    return True

"""Rows of closed loops: which scalar constraints each kind of loop has. Only pack.py calls it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.model.bodies import Frame
from pliant.model.loops import Loop
from pliant.model.model import Model
from pliant.model.tree import find_frame, model_size, stays_in_plane
from pliant.system.loop_tables import ConstraintKind

Array = NDArray[np.float64]
X, Y, Z = np.eye(3)
POINT, SLIDE, LENGTH = ConstraintKind.POINT, ConstraintKind.SLIDE, ConstraintKind.LENGTH
PERPENDICULAR = ConstraintKind.PERPENDICULAR
AXIS_TOLERANCE = 1e-12  # of z of a unit vector from 1: it is z
Constraint = tuple[ConstraintKind, Array, Array]  # kind, e, f


class LoopRows:
    """Rows of the loops and constraints tables."""

    def __init__(self, model: Model, frames: list[Frame]) -> None:
        self.loops: list[dict[str, Any]] = []
        self.constraints: list[dict[str, Any]] = []
        self.names: list[str] = []  # of the loop, per constraint
        planar = stays_in_plane(model)
        size = model_size(model)
        for loop in model.loops:
            ends = [find_frame(model, place) for place in (loop.first, loop.second)]
            kept = scalar_constraints(loop)
            if planar:
                kept = [one for one in kept if _is_in_plane(one, ends)]
            row = {"first": len(frames), "second": len(frames) + 1, "row": len(self.constraints), "n_rows": len(kept)}
            row["has_attitude"] = any(kind in (SLIDE, PERPENDICULAR) for kind, _, _ in kept)
            frames += ends
            for kind, e, f in kept:
                self.constraints.append(
                    {
                        "kind": kind,
                        "loop": len(self.loops),
                        "e": e,
                        "f": f,
                        "length": loop.length or 0.0,
                        "scale": 1.0 if kind == PERPENDICULAR else size,
                    }
                )
                self.names.append(loop.name)
            self.loops.append(row)


def scalar_constraints(loop: Loop) -> list[Constraint]:
    """All scalar constraints of a loop in space."""
    axis = np.array(loop.axis if loop.axis is not None else Z, dtype=float)
    axis /= np.linalg.norm(axis)
    # the world axis least along it begins the two across it; z keeps x and y
    across = X if abs(axis[0]) <= max(abs(axis[1]), abs(axis[2])) else Y
    side = across - (across @ axis) * axis
    side /= np.linalg.norm(side)
    other = np.cross(axis, side)
    points: list[Constraint] = [(POINT, e, Z) for e in (X, Y, Z)]
    aligned: list[Constraint] = [(PERPENDICULAR, side, axis), (PERPENDICULAR, other, axis)]
    return {
        "revolute": points + aligned,
        "prismatic": [(SLIDE, side, Z), (SLIDE, other, Z), *aligned, (PERPENDICULAR, side, other)],
        "spherical": points,
        "universal": [*points, (PERPENDICULAR, X, Y)],
        "fixed": [*points, *aligned, (PERPENDICULAR, side, other)],
        "distance": [(LENGTH, X, Z)],
        "point-on-line": [(SLIDE, side, Z), (SLIDE, other, Z)],
    }[loop.kind]


def _is_in_plane(constraint: Constraint, ends: list[Frame]) -> bool:
    """Whether a constraint is not met by itself where all frames rotate about z only."""
    kind, e, f = constraint
    along_z = [abs(vector[2]) > 1.0 - AXIS_TOLERANCE for vector in (e, ends[0].matrix @ e, ends[1].matrix @ f)]
    if kind == POINT:
        return not along_z[0]
    if kind == SLIDE:
        return not along_z[1]
    if kind == PERPENDICULAR:
        return not (along_z[1] or along_z[2])
    return True

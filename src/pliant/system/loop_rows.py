"""Rows of closed loops: which scalar constraints each kind of loop has, and what of the tree they reach. Only pack.py
calls it."""

from __future__ import annotations

from collections.abc import Iterable
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
        self.branches: list[dict[str, Any]] = []
        self.links: list[int] = []  # lists of velocities and constraints, from `first_link` on
        self.n_lanes = 0

    def put_branches(
        self, bodies: Any, dofs: Any, frames: Any, joined: Iterable[tuple[int, int]], first_link: int
    ) -> None:
        """Fill the branches, those of bodies, and what constraints reach. joined: pairs of bodies (-1: the world)
        between which forces act."""
        branch_of = bodies.branch = _branches(bodies.parent, joined)
        members: dict[int, list[int]] = {branch: [] for branch in range(max(branch_of) + 1)}
        lanes: dict[int, set[int]] = {branch: set() for branch in members}
        for k, row in enumerate(self.constraints):
            loop = self.loops[row["loop"]]
            ends = [int(frames[loop[name]].body) for name in ("first", "second")]
            row["first"], row["count"] = self._put(first_link, np.flatnonzero(_moves(bodies, dofs, ends)))
            reached = sorted({int(branch_of[body]) for body in ends if body >= 0})
            row["branches"] = [*reached, -1, -1][:2]
            taken = set().union(*(lanes[branch] for branch in reached))
            row["lane"] = next(lane for lane in range(len(taken) + 1) if lane not in taken)
            self.n_lanes = max(self.n_lanes, row["lane"] + 1)
            for branch in reached:
                lanes[branch].add(row["lane"])
            for branch in (0, *reached):
                members[branch].append(k)
        of_dofs = branch_of[dofs.body]
        ends = np.searchsorted(np.sort(of_dofs), range(1, len(members)))
        velocities = [np.arange(len(dofs)), *np.split(np.argsort(of_dofs, kind="stable"), ends[1:])]
        for branch, constraints in members.items():
            first, count = self._put(first_link, velocities[branch])
            first_constraint, n_constraints = self._put(first_link, constraints)
            self.branches.append(
                {
                    "first": first,
                    "count": count,
                    "first_constraint": first_constraint,
                    "n_constraints": n_constraints,
                }
            )

    def _put(self, first_link: int, numbers: Any) -> tuple[int, int]:
        """Append to the links; where, and how many."""
        self.links += [int(number) for number in numbers]
        return first_link + len(self.links) - len(numbers), len(numbers)


def _branches(parents: Any, joined: Iterable[tuple[int, int]]) -> NDArray[np.int64]:
    """Branch of every body, counted from 1."""
    root = np.arange(len(parents))

    def find(body: int) -> int:
        while root[body] != body:
            body = int(root[body])
        return body

    pairs = [*enumerate(parents), *joined]
    for one, other in pairs:
        if one >= 0 and other >= 0:
            first, second = sorted((find(int(one)), find(int(other))))
            root[second] = first
    return np.unique([find(body) for body in range(len(parents))], return_inverse=True)[1] + 1


def _moves(bodies: Any, dofs: Any, ends: list[int]) -> NDArray[np.bool_]:
    """Which velocities move one of these bodies: of joints and modes between them and the world."""
    carries = np.zeros(len(bodies), bool)
    for end in ends:
        body = end
        while body >= 0:
            carries[body] = True
            body = int(bodies[body].parent)
    return carries[dofs.body]


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

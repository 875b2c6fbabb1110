"""Trees cut open at one joint and closed again by a loop of the same kind: two models of one machine."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import pliant
from pliant import Joint, Loop, Model
from pliant.model.rotations import matrix_quaternion


class Cut:
    """`tree` and `closed`, in which the joint is a loop and its child floats (moves in x-y) freely."""

    def __init__(self, tree: Model, name: str, *, is_planar: bool = False) -> None:
        joint = next(joint for joint in tree.joints if joint.name == name)
        axis = {"axis": joint.axis} if joint.kind in ("revolute", "prismatic") else {}
        loop = Loop(name, joint.kind, first=joint.parent, second=joint.child, **axis)
        free = Joint("free", "planar" if is_planar else "floating", joint.child)
        joints = [one if one.name != name else free for one in tree.joints]
        self.tree, self.child, self.name, self.is_planar = tree, joint.child, name, is_planar
        self.closed = replace(tree, joints=tuple(joints), loops=(*tree.loops, loop), name=f"{tree.name}, cut")

    def pose(self, q):
        """Coordinates of the free joint."""
        R, p = pliant.frame_placement(self.tree, q, self.child)
        if self.is_planar:
            return np.array([p[0], p[1], np.arctan2(R[1, 0], R[0, 0])])
        return np.array([*p, *matrix_quaternion(R)])

    def rates(self, six):
        """Velocities of the free joint from (linear, angular) in world axes (planar) or child axes."""
        return six[[0, 1, 5]] if self.is_planar else six

    @property
    def axes(self):
        return "world" if self.is_planar else "frame"

    def state(self, q, v):
        six = pliant.frame_velocity(self.tree, q, v, self.child, axes=self.axes)
        return self._put("q", q, self.pose(q)), self._put("v", v, self.rates(six))

    def acceleration(self, q, v, vdot):
        """vdot of the closed model."""
        J = pliant.jacobian(self.tree, q, self.child, axes=self.axes)
        six = J @ vdot + pliant.jacobian_rate(self.tree, q, v, self.child, axes=self.axes)
        return self._put("v", vdot, self.rates(six))

    def _put(self, part, x, of_free):
        n = len(self.closed.q0 if part == "q" else self.closed.v0)
        out, old = np.full(n, np.nan), {link.body.name: link for link in self.tree.links}
        for link in self.closed.links:
            before = old[link.body.name]
            out[getattr(link, f"{part}_modes")] = x[getattr(before, f"{part}_modes")]
            is_cut = link.joint.name == "free"
            out[getattr(link, f"{part}_slice")] = of_free if is_cut else x[getattr(before, f"{part}_slice")]
        assert not np.isnan(out).any()
        return out

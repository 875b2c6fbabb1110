"""Trees cut open at one joint and closed again by a loop of the same kind: two models of one machine."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import pliant
from pliant import AxisAngle, Beam, Body, Frame, GivenSection, Joint, Loop, Material, Model, Rod
from pliant.model.rotations import matrix_quaternion

TWIST = AxisAngle(axis=(1.0, 2.0, -1.0), angle=0.7)


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


def beam(name, length, **shapes):
    soft = Material(young=1e9, density=2000.0)
    section = GivenSection(area=1e-3, second_moment_y=8e-7, second_moment_z=1e-6)
    return Beam(name, length, soft, section, rotary_inertia=(0.05, 0.02, 0.03), **shapes)


def solid(name, x):
    return Body(name, mass=1.3, com=(x, 0.04, -0.03), inertia=(0.02, 0.05, 0.06))


def spatial(kind, links="rigid"):
    """An arm on a tilted hinge, the joint in question, a hand, and a finger that swings on."""
    arm = solid("arm", 0.3) if links == "rigid" else beam("arm", 0.6, bending_y=1, bending_z=1, torsion=1)
    hand = solid("hand", 0.2) if links == "rigid" else beam("hand", 0.5, bending_y=1, bending_z=1, stretch=1)
    axis = {"axis": (0.2, 0.3, 1.0)} if kind in ("revolute", "prismatic") else {}
    joints = [
        Joint("hip", "revolute", "arm", axis=(0.1, 1.0, 0.3), q0=0.3, v0=1.0),
        Joint("cut", kind, "hand", parent=Frame("arm", (0.6, 0.0, 0.0), TWIST), **axis),
        Joint("wrist", "revolute", "finger", parent=Frame("hand", (0.4, 0, 0)), axis=(0, 1, 0), q0=-0.5, v0=2.0),
    ]
    return Model(f"{links} arm", (arm, hand, Body("finger", mass=0.4, shape=Rod(0.3, radius=0.02))), tuple(joints))


def flat(kind, links="rigid"):
    """The same in x-y."""
    arm = solid("arm", 0.3) if links == "rigid" else beam("arm", 0.6, bending_y=2)
    hand = solid("hand", 0.2) if links == "rigid" else beam("hand", 0.5, bending_y=1, stretch=1)
    axis = {"axis": (0.8, 0.6, 0.0)} if kind == "prismatic" else {}
    joints = [
        Joint("hip", "revolute", "arm", q0=0.3, v0=1.0),
        Joint("cut", kind, "hand", parent=Frame("arm", (0.6, 0, 0), AxisAngle((0, 0, 1), 0.4)), **axis),
        Joint("wrist", "revolute", "finger", parent=Frame("hand", (0.4, 0, 0)), q0=-0.5, v0=2.0),
    ]
    bodies = (arm, hand, Body("finger", mass=0.4, shape=Rod(0.3, radius=0.02)))
    return Model(f"{links} arm in x-y", bodies, tuple(joints), gravity=(0.0, -9.81, 0.0))


def some_state(model, seed):
    """Anything but rest; small in the modes."""
    rng = np.random.default_rng(seed)
    q, v = model.q0.copy(), rng.normal(size=len(model.v0))
    for link in model.links:
        if link.joint.row.has_plain_rates:
            q[link.q_slice] += 0.3 * rng.normal(size=len(q[link.q_slice]))
        elif link.joint.kind == "spherical":
            four = rng.normal(size=4)
            q[link.q_slice] = four / np.linalg.norm(four)
        q[link.q_modes] = 5e-3 * rng.normal(size=len(q[link.q_modes]))
        v[link.v_modes] *= 0.1
    return q, v

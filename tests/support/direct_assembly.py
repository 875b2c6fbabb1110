"""A reference for trees with flexible links: mass points along every beam, placed by the definition of the motion.

No tables, no recursion of velocities or inertias: positions and attitudes are series in time up to t^2 on the motion
with constant velocities v. Their first terms under unit velocities are Jacobians, their second terms under v are the
accelerations that remain when vdot = 0. Only the shapes themselves come from pliant.beams."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pliant.beams.families import beam_shapes
from pliant.model.flexible import Beam
from pliant.model.model import Model
from pliant.model.sections import beam_values
from pliant.model.tree import Link
from pliant.system.pack import joint_axis

POINTS = 48
EX, EY, EZ = np.eye(3)


class Series(NamedTuple):
    """a + b t + c t^2"""

    a: Any
    b: Any
    c: Any

    def __add__(self, other: Any) -> Series:
        return Series(*(x + y for x, y in zip(self, other, strict=True)))

    def __matmul__(self, other: Any) -> Series:
        return Series(
            self.a @ other.a,
            self.a @ other.b + self.b @ other.a,
            self.a @ other.c + self.b @ other.b + self.c @ other.a,
        )

    def map(self, linear: Any) -> Series:
        return Series(*(linear(x) for x in self))


def constant(x: Any) -> Series:
    x = np.asarray(x, float)
    return Series(x, np.zeros_like(x), np.zeros_like(x))


def skew(a: Any) -> np.ndarray:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def vee(A: np.ndarray) -> np.ndarray:
    return np.array([A[2, 1], A[0, 2], A[1, 0]])


def turn(axis: Any, angle: float, rate: float) -> Series:
    """Rotation about a unit axis by angle + rate t."""
    K = skew(axis)
    R, W = np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K, rate * K
    return Series(R, R @ W, 0.5 * R @ W @ W)


def spin(quaternion: np.ndarray, w: np.ndarray) -> Series:
    """Attitude x y z w that rotates at constant body rates."""
    x, y, z, s = quaternion / np.linalg.norm(quaternion)
    K = skew((x, y, z))
    R, W = np.eye(3) + 2 * s * K + 2 * K @ K, skew(w)
    return Series(R, R @ W, 0.5 * R @ W @ W)


def joint_motion(link: Link, q: np.ndarray, v: np.ndarray) -> tuple[Series, Series]:
    """Attitude and shift across the joint."""
    kind, axis = link.joint.kind, joint_axis(link.joint)
    R, p = constant(np.eye(3)), constant(np.zeros(3))
    if kind == "revolute":
        R = turn(axis, q[0], v[0])
    elif kind == "prismatic":
        p = Series(q[0] * axis, v[0] * axis, 0 * axis)
    elif kind == "cylindrical":
        R, p = turn(axis, q[1], v[1]), Series(q[0] * axis, v[0] * axis, 0 * axis)
    elif kind == "universal":
        R = turn(EX, q[0], v[0]) @ turn(EY, q[1], v[1])
    elif kind == "planar":
        R, p = turn(EZ, q[2], v[2]), Series(np.array([*q[:2], 0]), np.array([*v[:2], 0]), np.zeros(3))
    elif kind == "spherical":
        R = spin(q, v)
    elif kind == "floating":
        R = spin(q[3:], v[3:])
        p = Series(q[:3], R.a @ v[:3], 0.5 * R.b @ v[:3])
    return R, p


class Sections:
    """Shapes of a beam at places x."""

    def __init__(self, beam: Beam, x: np.ndarray) -> None:
        shapes = beam_shapes(beam)
        y, z, stretch, torsion = ([shape.at(x) for shape in family] for family in shapes[:4])
        m, n_b = beam.n_modes, len(y) + len(z)
        self.x, self.n_b = x, n_b
        self.Phi, self.A, self.H = np.zeros((len(x), 3, m)), np.zeros((len(x), 3, m)), np.zeros((len(x), m, m))
        for j, value in enumerate(y):
            self.Phi[:, 1, j], self.A[:, 2, j] = value.y, value.rotation
        for j, value in enumerate(z, len(y)):
            self.Phi[:, 2, j], self.A[:, 1, j] = value.y, -value.rotation
        for j, value in enumerate(stretch, n_b):
            self.Phi[:, 0, j] = value.y
        for j, value in enumerate(torsion, n_b + len(stretch)):
            self.A[:, 0, j] = value.y
        if beam.coupling == "high-order":
            nodes, weights = np.polynomial.legendre.leggauss(POINTS)
            for i, end in enumerate(x):
                inner = 0.5 * end * (nodes + 1)
                for first, family in ((0, shapes.y), (len(y), shapes.z)):
                    slopes = np.array([shape.at(inner).slope for shape in family]).reshape(len(family), POINTS)
                    here = slice(first, first + len(family))
                    self.H[i, here, here] = 0.5 * end * (slopes * weights) @ slopes.T

    def places(self, d: np.ndarray, e: np.ndarray) -> Series:
        """s(x) = x e_x + Phi d - 1/2 d^T H d e_x, one row per place."""
        shorten = [np.einsum("ijk,j,k", self.H, one, two) for one, two in ((d, d), (2 * d, e), (e, e))]
        values = (np.outer(self.x, EX) + self.Phi @ d, self.Phi @ e, np.zeros((len(self.x), 3)))
        return Series(*(value - 0.5 * np.outer(fall, EX) for value, fall in zip(values, shorten, strict=True)))

    def attitude(self, d: np.ndarray, e: np.ndarray) -> Series:
        """Rz Ry Rx of the first place."""
        (bx, by, bz), (rx, ry, rz) = self.A[0] @ d, self.A[0] @ e
        return turn(EZ, bz, rz) @ turn(EY, by, ry) @ turn(EX, bx, rx)


class Tree:
    """A model as mass points and rotating sections."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.joint_frames: dict[int, Sections] = {}
        self.along: dict[int, tuple[Sections, np.ndarray, np.ndarray]] = {}  # sections, masses, inertias
        nodes, weights = np.polynomial.legendre.leggauss(POINTS)
        for i, link in enumerate(model.links):
            if link.parent >= 0 and isinstance(model.links[link.parent].body, Beam):
                self.joint_frames[i] = Sections(model.links[link.parent].body, np.array([link.joint_frame.position[0]]))
            if isinstance(link.body, Beam):
                beam, lumps = link.body, link.body.point_masses
                x = np.concatenate([0.5 * beam.length * (nodes + 1), [one.x for one in lumps]])
                w = np.concatenate([0.5 * beam.length * weights, np.zeros(len(lumps))])
                values = beam_values(beam, x)
                masses = w * values.mass + np.concatenate([np.zeros(POINTS), [one.mass for one in lumps]])
                inertias = (values.rotary * w).T * (beam.rotary != "none")
                self.along[i] = Sections(beam, x), masses, inertias

    def placed(self, q: np.ndarray, v: np.ndarray) -> list[tuple[Series, Series, Series]]:
        """Attitude, position of the frame, positions of the mass points of every body; world axes."""
        found: list[tuple[Series, Series, Series]] = []
        for i, link in enumerate(self.model.links):
            R, p = constant(np.eye(3)), constant(np.zeros(3))
            offset = np.array(link.joint_frame.position)
            if link.parent >= 0:
                R, p, _ = found[link.parent]
            if i in self.joint_frames:
                carrier = self.model.links[link.parent]
                d, e = q[carrier.q_modes], v[carrier.v_modes]
                p = p + R @ self.joint_frames[i].places(d, e).map(lambda s: s[0])
                R = R @ self.joint_frames[i].attitude(d, e)
                offset[0] = 0.0
            p = p + R @ constant(offset)
            R = R @ constant(link.joint_frame.matrix)
            across, shift = joint_motion(link, q[link.q_slice], v[link.v_slice])
            p, R = p + R @ shift, R @ across
            if i in self.along:
                s = self.along[i][0].places(q[link.q_modes], v[link.v_modes])
            else:
                s = constant(link.body.centre[None, :])
            points = s @ R.map(np.transpose)
            found.append((R, p, points + p))
        return found

    def masses(self, i: int) -> np.ndarray:
        return self.along[i][1] if i in self.along else np.array([self.model.links[i].body.total_mass])

    def turning(self, i: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """Inertias and how the modes rotate them, (3, m)."""
        body = self.model.links[i].body
        if i not in self.along:
            return [(body.inertia_about_centre, np.zeros((3, 0)))]
        sections, _, inertias = self.along[i]
        share = float(body.rotary == "section")
        return [(np.diag(J), share * A) for J, A in zip(inertias, sections.A, strict=True)]

    def equations(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """M and h of M vdot + h = tau, gravity in h."""
        n, g = len(v), np.array(self.model.gravity)
        units = [self.placed(q, unit) for unit in np.eye(n)]
        real = self.placed(q, v)
        M, h = np.zeros((n, n)), np.zeros(n)
        for i, link in enumerate(self.model.links):
            R, _, points = real[i]
            J = np.array([unit[i][2].b for unit in units])  # (n, points, 3)
            Jw = np.array([vee(R.a.T @ unit[i][0].b) for unit in units]).T
            w, rate = vee(R.a.T @ R.b), vee(R.b.T @ R.b + 2 * R.a.T @ R.c)
            M += np.einsum("p,jpx,kpx", self.masses(i), J, J)
            h += np.einsum("p,jpx,px", self.masses(i), J, 2 * points.c - g)
            for inertia, A in self.turning(i):
                # of the kinetic energy 1/2 (w + A e) . inertia (w + A e), constant in body axes
                whole = Jw.copy()
                whole[:, link.v_modes] += A
                M += whole.T @ inertia @ whole
                h += whole.T @ inertia @ rate + Jw.T @ np.cross(w, inertia @ (whole @ v))
            armature = np.array(link.joint.each("armature"), float) * np.array(link.joint.each("gear"), float) ** 2
            M[link.v_slice, link.v_slice] += np.diag(armature)
        return M, h

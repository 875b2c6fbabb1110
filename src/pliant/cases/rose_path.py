"""The 3RRR robot of [denoc] by hand: geometry, rose path, closed-form legs, inverse dynamics. numpy only, along rows.

Symbols as in the paper: leg j with angles th1, th2 (relative), J leg-tip Jacobian, V = (x', y', theta_p'),
G = J^-1 [1 | E R s]; lambda_j force of the platform on the tip of leg j."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.model.bodies import Surface

Array = NDArray[np.float64]
LAP = 2.0  # [s]
STRETCHED = 1e-12  # of the cosine of an elbow
ANGLES = np.deg2rad([210.0, 330.0, 90.0])  # of base joints and platform vertices


def triangle(side: float) -> Array:
    """Corners of an equilateral triangle about the origin (3, 2)."""
    return np.asarray(side / np.sqrt(3.0) * np.column_stack([np.cos(ANGLES), np.sin(ANGLES)]))


def plate(corners: Array, thickness: float) -> Surface:
    """A flat body between corners in the x-y plane, in order round its middle."""
    n, half = len(corners), 0.5 * thickness
    points = [(float(x), float(y), z) for z in (-half, half) for x, y in corners]
    sides = [face for k in range(n) for face in ((k, (k + 1) % n, n + k), ((k + 1) % n, n + (k + 1) % n, n + k))]
    lids = [face for k in range(1, n - 1) for face in ((0, k + 1, k), (n, n + k, n + k + 1))]
    return Surface(tuple(points), (*sides, *lids))


@dataclass(frozen=True)
class Robot:
    """Dimensions and masses; mass centres of links at mid length."""

    l1: float = 0.4
    l2: float = 0.6
    base: float = 1.2  # side of the triangle
    platform: float = 0.4
    m1: float = 3.0
    m2: float = 4.0
    mp: float = 8.0
    I1: float = 0.04
    I2: float = 0.12
    Ip: float = 0.0817

    @property
    def pivots(self) -> Array:
        return triangle(self.base)

    @property
    def vertices(self) -> Array:
        return triangle(self.platform)


def lap_angle(t: Array, profile: str) -> tuple[Array, Array, Array]:
    """theta of the rose and its rates: uniform, or every lap from rest to rest by a quintic."""
    rate = 2.0 * np.pi / LAP
    if profile == "uniform":
        return rate * t, np.full_like(t, rate), np.zeros_like(t)
    lap, s = np.divmod(t / LAP, 1.0)
    blend = s**3 * (10.0 + s * (6.0 * s - 15.0))
    first, second = 30.0 * s**2 * (1.0 - s) ** 2, 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s)
    return 2.0 * np.pi * (lap + blend), rate * first, rate / LAP * second


def rose(t: Array, r0: float, profile: str) -> tuple[Array, Array, Array]:
    """Position, velocity, acceleration (rows, 2) on r = r0 cos 2 theta."""
    th, w, wdot = lap_angle(np.asarray(t, float), profile)
    p = 0.5 * r0 * np.column_stack([np.cos(3 * th) + np.cos(th), np.sin(3 * th) - np.sin(th)])
    d1 = 0.5 * r0 * np.column_stack([-3 * np.sin(3 * th) - np.sin(th), 3 * np.cos(3 * th) - np.cos(th)])
    d2 = 0.5 * r0 * np.column_stack([-9 * np.cos(3 * th) - np.cos(th), -9 * np.sin(3 * th) + np.sin(th)])
    return p, d1 * w[:, None], d2 * w[:, None] ** 2 + d1 * wdot[:, None]


@dataclass(frozen=True)
class Exact:
    """What the robot does on its path, rows of time."""

    angles: Array  # (rows, 3, 2) th1, th2 of every leg
    rates: Array
    torques: Array  # (rows, 3)
    multipliers: Array  # (rows, 6) x, y per leg


def out_of_reach(robot: Robot, p: Array) -> tuple[int, int] | None:
    """(row, leg) where a leg first cannot reach its vertex; None: everywhere it can."""
    d = p[:, None, :] + robot.vertices - robot.pivots
    far = np.linalg.norm(d, axis=2)
    # a leg that is stretched or folded has no Jacobian
    cosine = (far**2 - robot.l1**2 - robot.l2**2) / (2.0 * robot.l1 * robot.l2)
    bad = ~(np.abs(cosine) < 1.0 - STRETCHED)
    rows = np.flatnonzero(bad.any(axis=1))
    return (int(rows[0]), int(np.argmax(bad[rows[0]]))) if len(rows) else None


def exact_motion(robot: Robot, t: Array, r0: float, profile: str) -> Exact:
    """Angles, torques and multipliers of the motion along the rose, platform level."""
    p, v, a = rose(t, r0, profile)
    n, l1, l2, a1, a2 = len(p), robot.l1, robot.l2, 0.5 * robot.l1, 0.5 * robot.l2
    angles, rates, needed, inverse = (
        np.empty((n, 3, 2)),
        np.empty((n, 3, 2)),
        np.empty((n, 3, 2)),
        np.empty((n, 3, 2, 2)),
    )
    for j in range(3):
        d = p + robot.vertices[j] - robot.pivots[j]
        th2 = np.arccos((np.sum(d**2, axis=1) - l1**2 - l2**2) / (2.0 * l1 * l2))
        th1 = np.arctan2(d[:, 1], d[:, 0]) - np.arctan2(l2 * np.sin(th2), l1 + l2 * np.cos(th2))
        s1, c1, s12, c12 = np.sin(th1), np.cos(th1), np.sin(th1 + th2), np.cos(th1 + th2)
        J = np.array([[-l1 * s1 - l2 * s12, -l2 * s12], [l1 * c1 + l2 * c12, l2 * c12]]).transpose(2, 0, 1)
        Ji = np.linalg.inv(J)
        w = np.einsum("nij,nj->ni", Ji, v)
        w1, w12 = w[:, 0], w.sum(axis=1)
        # J' w: centripetal accelerations of elbow and tip
        bias = np.column_stack([-l1 * c1 * w1**2 - l2 * c12 * w12**2, -l1 * s1 * w1**2 - l2 * s12 * w12**2])
        wdot = np.einsum("nij,nj->ni", Ji, a - bias)
        c2, s2 = np.cos(th2), np.sin(th2)
        I11 = robot.I1 + robot.I2 + robot.m1 * a1**2 + robot.m2 * (l1**2 + a2**2 + 2 * l1 * a2 * c2)
        I12, I22 = robot.I2 + robot.m2 * (a2**2 + l1 * a2 * c2), robot.I2 + robot.m2 * a2**2
        h = robot.m2 * l1 * a2 * s2
        needed[:, j, 0] = I11 * wdot[:, 0] + I12 * wdot[:, 1] - h * (2 * w[:, 0] * w[:, 1] + w[:, 1] ** 2)
        needed[:, j, 1] = I12 * wdot[:, 0] + I22 * wdot[:, 1] + h * w[:, 0] ** 2
        angles[:, j], rates[:, j], inverse[:, j] = np.column_stack([th1, th2]), w, Ji
    # sum of G^T (Q - [tau, 0]) + M_p V' = 0, a column of tau per leg
    E_s = np.column_stack([-robot.vertices[:, 1], robot.vertices[:, 0]])
    B, right = np.empty((n, 3, 3)), np.column_stack([robot.mp * a, np.zeros(n)])
    for j in range(3):
        G = np.concatenate([inverse[:, j], np.einsum("nij,j->ni", inverse[:, j], E_s[j])[:, :, None]], axis=2)
        B[:, :, j] = G[:, 0, :]
        right += np.einsum("nki,nk->ni", G, needed[:, j])
    torques = np.linalg.solve(B, right[:, :, None])[:, :, 0]
    net = needed.copy()
    net[:, :, 0] -= torques
    forces = np.einsum("njki,njk->nji", inverse, net)
    return Exact(angles, rates, np.asarray(torques, np.float64), np.asarray(forces.reshape(n, 6)))

"""An independent reference of flexible links: the Lagrangian itself, differentiated by complex steps.

A hub that rotates, a beam clamped to its rim, a rigid link on a hinge at the tip, all in the plane x-y. Kinetic and
potential energy are written down from the positions, by Gauss quadrature along the beam, with shapes from their
formulas: no tables, no recursion, nothing of pliant. T is quadratic in q' and analytic in q, so that

    M e_j = polar form of T with e_j,    d/dt dT/dq' = M q'' + d/dh (M(q + h q') q'),    rows: d/dt dT/dq' - dL/dq = tau

need one complex step each, exact to rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pliant.engine.prepared import Prepared
from pliant.methods import FORMULATIONS
from pliant.model.bodies import Body, Frame
from pliant.model.flexible import Beam, Bending, GivenSection, Material
from pliant.model.joints import Joint
from pliant.model.model import Model
from random_models import largest

FLEXIBLE = [row.name for row in FORMULATIONS if "flexible bodies" in row.supports]
STEP = 1e-30
POINTS = 40  # Gauss points: exact for the polynomials, and beyond rounding for two clamped-free modes

RIM, LENGTH, DENSITY, YOUNG, AREA, SECOND_MOMENT = 0.15, 1.1, 2000.0, 1e9, 1e-3, 1e-6
ROTARY = 0.02  # inertia of the sections about z, per length: large, so that it matters
HUB = 0.3  # inertia about its axis
TIP_MASS, TIP_INERTIA, TIP_CENTRE = 0.8, 0.05, np.array([0.25, 0.06])
GRAVITY = np.array([1.3, -9.81])


def polynomials(n: int, x: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """xi^2 P_j(2 xi - 1) and two derivatives; rows j."""
    xi, values = x / LENGTH, []
    for j in range(n):
        legendre = np.polynomial.Legendre.basis(j).convert(kind=np.polynomial.Polynomial)
        shape = np.polynomial.Polynomial([0, 0, 1]) * legendre(np.polynomial.Polynomial([-1, 2]))
        values.append([shape(xi), shape.deriv()(xi) / LENGTH, shape.deriv(2)(xi) / LENGTH**2])
    y, slope, curvature = np.moveaxis(np.array(values), 1, 0)
    return y, slope, curvature


def clamped_free(n: int, x: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Euler-Bernoulli modes with unit value at the tip; rows j."""

    def frequency(j: int) -> float:
        """cos k cosh k = -1, by Newton."""
        k = 1.8751040687 if j == 0 else (j + 0.5) * np.pi
        for _ in range(20):
            k -= (np.cos(k) + 1 / np.cosh(k)) / (-np.sin(k) - np.tanh(k) / np.cosh(k))
        return float(k)

    values = []
    for k in map(frequency, range(n)):
        s, b = (np.cosh(k) + np.cos(k)) / (np.sinh(k) + np.sin(k)), k / LENGTH
        z = b * x
        y = np.cosh(z) - np.cos(z) - s * (np.sinh(z) - np.sin(z))
        slope = b * (np.sinh(z) + np.sin(z) - s * (np.cosh(z) - np.cos(z)))
        curvature = b * b * (np.cosh(z) + np.cos(z) - s * (np.sinh(z) + np.sin(z)))
        tip = np.cosh(k) - np.cos(k) - s * (np.sinh(k) - np.sin(k))
        values.append(np.array([y, slope, curvature]) / tip)
    y, slope, curvature = np.moveaxis(np.array(values), 1, 0)
    return y, slope, curvature


BENDING = {"polynomials": (polynomials, 3), "clamped-free": (clamped_free, 2)}


class Lagrangian:
    """q = (hub angle, bending, one stretch mode, hinge angle)."""

    def __init__(self, family: str, coupling: str, rotary: str) -> None:
        shapes, n = BENDING[family]
        self.n, self.rotary = n, rotary
        nodes, weights = np.polynomial.legendre.leggauss(POINTS)
        x = 0.5 * LENGTH * (nodes + 1)
        self.dx = 0.5 * LENGTH * weights
        # the last place is the tip, without mass
        self.x, self.dm = np.append(x, LENGTH), np.append(DENSITY * AREA * self.dx, 0.0)
        self.y, self.slope, curvature = shapes(n, self.x)
        self.stretch = np.sin(0.5 * np.pi * self.x / LENGTH)
        strain = 0.5 * np.pi / LENGTH * np.cos(0.5 * np.pi * x / LENGTH)
        bent = curvature[:, :-1]
        self.K = np.zeros((n + 1, n + 1))
        self.K[:n, :n] = YOUNG * SECOND_MOMENT * (bent * self.dx) @ bent.T
        self.K[n, n] = YOUNG * AREA * np.sum(self.dx * strain**2)
        # int_0^x y_j' y_l' for every place
        self.H = np.zeros((len(self.x), n, n))
        if coupling == "high-order":
            for i, end in enumerate(self.x):
                _, inner, _ = shapes(n, 0.5 * end * (nodes + 1))
                self.H[i] = (inner * 0.5 * end * weights) @ inner.T

    def field(self, q: Any, u: Any) -> tuple[Any, ...]:
        """Places (x, y) along the beam in axes of the hub, and their rates there."""
        d, e, stretch, stretch_rate = q[1 : self.n + 1], u[1 : self.n + 1], q[self.n + 1], u[self.n + 1]
        along = RIM + self.x + stretch * self.stretch - 0.5 * np.einsum("ijl,j,l", self.H, d, d)
        return along, d @ self.y, stretch_rate * self.stretch - np.einsum("ijl,j,l", self.H, d, e), e @ self.y

    def kinetic(self, q: Any, u: Any) -> Any:
        x, y, dx, dy = self.field(q, u)
        vx, vy = dx - u[0] * y, dy + u[0] * x
        total = 0.5 * HUB * u[0] ** 2 + 0.5 * np.sum(self.dm * (vx * vx + vy * vy))
        if self.rotary != "none":
            turning = u[0] + (u[1 : self.n + 1] @ self.slope[:, :-1] if self.rotary == "section" else 0.0)
            total += 0.5 * ROTARY * np.sum(self.dx * turning**2)
        # the rigid link: attitude and mass centre in axes of the hub
        angle, rate = q[1 : self.n + 1] @ self.slope[:, -1] + q[-1], u[1 : self.n + 1] @ self.slope[:, -1] + u[-1]
        cx, cy = self.tip_centre(angle)
        wx, wy = vx[-1] - (u[0] + rate) * cy, vy[-1] + (u[0] + rate) * cx
        return total + 0.5 * TIP_MASS * (wx * wx + wy * wy) + 0.5 * TIP_INERTIA * (u[0] + rate) ** 2

    def tip_centre(self, angle: Any) -> tuple[Any, Any]:
        c, s = np.cos(angle), np.sin(angle)
        return c * TIP_CENTRE[0] - s * TIP_CENTRE[1], s * TIP_CENTRE[0] + c * TIP_CENTRE[1]

    def potential(self, q: Any) -> Any:
        x, y, _, _ = self.field(q, 0 * q)
        cx, cy = self.tip_centre(q[1 : self.n + 1] @ self.slope[:, -1] + q[-1])
        # first moment in axes of the hub, whose own mass centre is on its axis
        mx, my = np.sum(self.dm * x) + TIP_MASS * (x[-1] + cx), np.sum(self.dm * y) + TIP_MASS * (y[-1] + cy)
        c, s = np.cos(q[0]), np.sin(q[0])
        d = q[1 : self.n + 2]
        return 0.5 * d @ self.K @ d - GRAVITY[0] * (c * mx - s * my) - GRAVITY[1] * (s * mx + c * my)

    def momentum(self, q: Any, u: Any) -> np.ndarray:
        """M(q) u, by the polar form."""
        return np.array([0.5 * (self.kinetic(q, u + unit) - self.kinetic(q, u - unit)) for unit in np.eye(len(q))])

    def acceleration(self, q: np.ndarray, u: np.ndarray, tau: np.ndarray) -> np.ndarray:
        units = np.eye(len(q))
        M = np.array([self.momentum(q, unit) for unit in units])
        rate = self.momentum(q + 1j * STEP * u, u).imag / STEP
        moved = [q + 1j * STEP * unit for unit in units]
        slope = np.array([(self.kinetic(one, u) - self.potential(one)).imag / STEP for one in moved])
        return np.linalg.solve(M, tau + slope - rate)


def hub_model(family: str, coupling: str, rotary: str) -> Model:
    _, n = BENDING[family]
    beam = Beam(
        "beam",
        LENGTH,
        Material(young=YOUNG, density=DENSITY),
        GivenSection(area=AREA, second_moment_y=SECOND_MOMENT, second_moment_z=SECOND_MOMENT),
        bending_y=Bending(n, family="polynomials") if family == "polynomials" else Bending(n, "cf"),
        stretch=1,
        theory="euler-bernoulli",
        coupling=coupling,
        rotary=rotary,
        rotary_inertia=(0.0, 0.0, ROTARY),
    )
    hub = Body(name="hub", mass=2.0, inertia=(HUB, HUB, HUB))
    tip = Body(name="tip", mass=TIP_MASS, com=(*TIP_CENTRE, 0.0), inertia=(TIP_INERTIA,) * 3)
    joints = [
        Joint(name="axle", kind="revolute", child="hub"),
        Joint(name="weld", kind="fixed", parent=Frame(body="hub", position=(RIM, 0, 0)), child="beam"),
        Joint(name="hinge", kind="revolute", parent=Frame(body="beam", position=(LENGTH, 0, 0)), child="tip"),
    ]
    return Model(name="hub", bodies=[hub, beam, tip], joints=joints, gravity=(*GRAVITY, 0.0))


@pytest.mark.parametrize("formulation", FLEXIBLE)
@pytest.mark.parametrize("rotary", ["none", "frame", "section"])
@pytest.mark.parametrize("coupling", ["linear", "high-order"])
@pytest.mark.parametrize("family", BENDING)
def test_accelerations_are_those_of_the_lagrangian(family, coupling, rotary, formulation):
    """To rounding x condition(M), some 1e3; fast and bent by a fifth of the length, so that every term counts."""
    lagrangian, handle = (
        Lagrangian(family, coupling, rotary),
        Prepared(hub_model(family, coupling, rotary), formulation),
    )
    rng = np.random.default_rng(8)
    for _ in range(4):
        q, v, tau = rng.normal(size=(3, lagrangian.n + 3))
        q[1:-1] *= 0.2
        q[-2] *= 0.05
        v *= 3.0
        wanted = lagrangian.acceleration(q, v, tau)
        assert largest(handle.forward_dynamics(q, v, tau) - wanted) < 1e-10 * largest(wanted)


def test_every_term_of_the_lagrangian_counts():
    """Coupling level and inertia of the sections change the accelerations by far more than the tolerance above."""
    rng = np.random.default_rng(8)
    q, v, tau = rng.normal(size=(3, 6)) * np.array([1, 0.2, 0.2, 0.2, 0.05, 1])
    found = [
        Lagrangian("polynomials", coupling, rotary).acceleration(q, v, tau)
        for coupling in ("linear", "high-order")
        for rotary in ("none", "frame", "section")
    ]
    for i, one in enumerate(found):
        for other in found[:i]:
            assert largest(one - other) > 1e-3 * largest(one)

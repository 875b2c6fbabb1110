"""The Lagrangian of a chain of beams and rigid bodies in space, written down from positions; nothing of pliant.

Places along every beam by the definition of its motion, kinetic and potential energy by Gauss quadrature, shapes from
their formulas: no tables, no recursion of inertias. T is quadratic in q' and analytic in q, so that

    M e_j = polar form of T with e_j,    d/dt dT/dq' = M q'' + d/dh (M(q + h q') q'),    rows: d/dt dT/dq' - dL/dq = tau

need one complex step each, exact to rounding."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

STEP = 1e-30
POINTS = 40  # Gauss points: exact for the polynomials, and beyond rounding for two clamped-free modes
NODES, WEIGHTS = np.polynomial.legendre.leggauss(POINTS)


# --- shapes: values and two derivatives, rows j --------------------------------------------------------------------


def polynomials(n: int, x: Any, length: float) -> np.ndarray:
    """xi^2 P_j(2 xi - 1)"""
    xi, values = x / length, []
    for j in range(n):
        legendre = np.polynomial.Legendre.basis(j).convert(kind=np.polynomial.Polynomial)
        shape = np.polynomial.Polynomial([0, 0, 1]) * legendre(np.polynomial.Polynomial([-1, 2]))
        values.append([shape(xi), shape.deriv()(xi) / length, shape.deriv(2)(xi) / length**2])
    return np.array(values).reshape(n, 3, len(x))


def clamped_free(n: int, x: Any, length: float) -> np.ndarray:
    """Euler-Bernoulli modes with unit value at the tip."""

    def frequency(j: int) -> float:
        """cos k cosh k = -1, by Newton."""
        k = 1.8751040687 if j == 0 else (j + 0.5) * np.pi
        for _ in range(20):
            k -= (np.cos(k) + 1 / np.cosh(k)) / (-np.sin(k) - np.tanh(k) / np.cosh(k))
        return float(k)

    values = []
    for k in map(frequency, range(n)):
        s, b = (np.cosh(k) + np.cos(k)) / (np.sinh(k) + np.sin(k)), k / length
        z = b * x
        y = np.cosh(z) - np.cos(z) - s * (np.sinh(z) - np.sin(z))
        slope = b * (np.sinh(z) + np.sin(z) - s * (np.cosh(z) - np.cos(z)))
        curvature = b * b * (np.cosh(z) + np.cos(z) - s * (np.sinh(z) + np.sin(z)))
        tip = np.cosh(k) - np.cos(k) - s * (np.sinh(k) - np.sin(k))
        values.append(np.array([y, slope, curvature]) / tip)
    return np.array(values).reshape(n, 3, len(x))


def sines(n: int, x: Any, length: float) -> np.ndarray:
    """sin((2 j - 1) pi x / 2 L): stretch and torsion; values and slopes."""
    k = (2 * np.arange(n)[:, None] + 1) * np.pi / (2 * length)
    return np.stack([np.sin(k * x), k * np.cos(k * x)], axis=1).reshape(n, 2, len(x))


BENDING = {"polynomials": polynomials, "clamped-free": clamped_free}


# --- parts of a chain ----------------------------------------------------------------------------------------------


class Moving(NamedTuple):
    """A matrix or vectors, and their rate."""

    value: Any
    rate: Any

    def __add__(self, other: Any) -> Moving:
        return Moving(self.value + other.value, self.rate + other.rate)

    def __matmul__(self, other: Any) -> Moving:
        return Moving(self.value @ other.value, self.rate @ other.value + self.value @ other.rate)

    def map(self, linear: Any) -> Moving:
        return Moving(linear(self.value), linear(self.rate))


def fixed(x: Any) -> Moving:
    return Moving(np.array(x, float), np.zeros(np.shape(x)))


def cross_matrix(a: Any) -> np.ndarray:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def rotation(axis: Any, angle: Any, rate: Any = 0.0) -> Moving:
    K = cross_matrix(np.array(axis, float) / np.linalg.norm(axis))
    R = np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
    return Moving(R, rate * (np.cos(angle) * K + np.sin(angle) * K @ K))


@dataclass(frozen=True)
class Solid:
    mass: float = 0.0
    centre: tuple[float, float, float] = (0.0, 0.0, 0.0)
    inertia: tuple[float, float, float] = (0.0, 0.0, 0.0)  # principal, about the centre
    n_modes = 0


@dataclass(frozen=True)
class Rod:
    """A beam by its shapes: n of bending along y and z, stretch, torsion."""

    length: float
    shapes: tuple[int, int, int, int]
    family: str
    coupling: str
    rotary: str
    young: float = 1e9
    shear: float = 4e8
    density: float = 2000.0
    area: float = 1e-3
    second_moments: tuple[float, float] = (8e-7, 1e-6)  # about y and z
    torsion_constant: float = 1.5e-6
    # of the sections about x, y, z per length: large, so that they matter
    rotary_inertia: tuple[float, float, float] = (0.03, 0.01, 0.02)

    @property
    def n_modes(self) -> int:
        return sum(self.shapes)


@dataclass(frozen=True)
class Link:
    """A body on a joint about (along) an axis, in a frame at the far end of the body before it."""

    name: str
    body: Any
    joint: str  # revolute or prismatic
    axis: tuple[float, float, float]
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    attitude: tuple[tuple[float, float, float], float] = ((0.0, 0.0, 1.0), 0.0)  # axis, angle


class Field:
    """The motion of a beam at its Gauss points; the last place is the tip, without mass."""

    def __init__(self, rod: Rod) -> None:
        self.rod, L, bending = rod, rod.length, BENDING[rod.family]
        n_y, n_z, n_x, n_t = rod.shapes
        m = rod.n_modes
        x = 0.5 * L * (NODES + 1)
        self.dx = 0.5 * L * WEIGHTS
        self.x, self.dm = np.append(x, L), np.append(rod.density * rod.area * self.dx, 0.0)
        y, z, s, t = bending(n_y, self.x, L), bending(n_z, self.x, L), sines(n_x, self.x, L), sines(n_t, self.x, L)
        at = np.cumsum([0, n_y, n_z, n_x, n_t])
        y_modes, z_modes, x_modes, t_modes = (slice(*pair) for pair in pairwise(at))
        self.Phi, self.angles = np.zeros((len(self.x), 3, m)), np.zeros((len(self.x), 3, m))
        self.Phi[:, 1, y_modes], self.angles[:, 2, y_modes] = y[:, 0].T, y[:, 1].T
        self.Phi[:, 2, z_modes], self.angles[:, 1, z_modes] = z[:, 0].T, -z[:, 1].T
        self.Phi[:, 0, x_modes], self.angles[:, 0, t_modes] = s[:, 0].T, t[:, 0].T
        self.K = np.zeros((m, m))
        about_y, about_z = rod.second_moments
        for modes, shape, stiffness in (
            (y_modes, y[:, 2], rod.young * about_z),
            (z_modes, z[:, 2], rod.young * about_y),
            (x_modes, s[:, 1], rod.young * rod.area),
            (t_modes, t[:, 1], rod.shear * rod.torsion_constant),
        ):
            self.K[modes, modes] = stiffness * (shape[:, :-1] * self.dx) @ shape[:, :-1].T
        # int_0^x y_j' y_l' + z_j' z_l' for every place
        self.H = np.zeros((len(self.x), m, m))
        if rod.coupling == "high-order":
            for i, end in enumerate(self.x):
                inner = 0.5 * end * (NODES + 1)
                for modes, n in ((y_modes, n_y), (z_modes, n_z)):
                    slope = bending(n, inner, L)[:, 1]
                    self.H[i, modes, modes] = (slope * 0.5 * end * WEIGHTS) @ slope.T

    def places(self, d: Any, e: Any) -> Moving:
        """s(x) = x e_x + Phi d - 1/2 d^T H d e_x, one row per place."""
        ex = np.array([1.0, 0.0, 0.0])
        shortening = 0.5 * np.einsum("ijl,j,l", self.H, d, d)
        value = np.outer(self.x - shortening, ex) + self.Phi @ d
        return Moving(value, self.Phi @ e - np.outer(np.einsum("ijl,j,l", self.H, d, e), ex))

    def tip_attitude(self, d: Any, e: Any) -> Moving:
        (bx, by, bz), (rx, ry, rz) = self.angles[-1] @ d, self.angles[-1] @ e
        return rotation((0, 0, 1), bz, rz) @ rotation((0, 1, 0), by, ry) @ rotation((1, 0, 0), bx, rx)

    def rotary_energy(self, w: Any, e: Any) -> Any:
        """1/2 int (w + A e) . rhoI (w + A e)"""
        if self.rod.rotary == "none":
            return 0.0
        rates = w + (self.angles[:-1] @ e if self.rod.rotary == "section" else 0.0 * self.dx[:, None])
        return 0.5 * np.sum(self.dx[:, None] * np.array(self.rod.rotary_inertia) * rates * rates)


# --- the chain -------------------------------------------------------------------------------------------------------


class Lagrangian:
    """q: link by link, the joint, then the modes."""

    def __init__(self, links: list[Link], gravity: Any) -> None:
        self.links, self.gravity = links, np.array(gravity)
        self.fields = [Field(link.body) if isinstance(link.body, Rod) else None for link in links]
        self.n = sum(1 + link.body.n_modes for link in links)

    def energies(self, q: Any, u: Any) -> tuple[Any, Any]:
        """T(q, q') and V(q)."""
        R, p = fixed(np.eye(3)), fixed(np.zeros(3))
        kinetic, potential, k = 0.0, 0.0, 0
        for link, field in zip(self.links, self.fields, strict=True):
            p = p + R @ fixed(link.offset)
            R = R @ rotation(*link.attitude)
            axis = np.array(link.axis) / np.linalg.norm(link.axis)
            if link.joint == "revolute":
                R = R @ rotation(axis, q[k], u[k])
            else:
                p = p + R @ Moving(q[k] * axis, u[k] * axis)
            d, e = q[k + 1 : k + 1 + link.body.n_modes], u[k + 1 : k + 1 + link.body.n_modes]
            k += 1 + len(d)
            spin = R.value.T @ R.rate
            w = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
            if field is None:
                masses, places = np.array([link.body.mass]), fixed(np.array([link.body.centre]))
                kinetic += 0.5 * np.sum(np.array(link.body.inertia) * w * w)
            else:
                masses, places = field.dm, field.places(d, e)
                kinetic += field.rotary_energy(w, e)
                potential += 0.5 * d @ field.K @ d
            points = places @ R.map(np.transpose) + p
            kinetic += 0.5 * np.sum(masses[:, None] * points.rate * points.rate)
            potential -= np.sum(masses[:, None] * points.value * self.gravity)
            if field is not None:
                p, R = points.map(lambda each: each[-1]), R @ field.tip_attitude(d, e)
        return kinetic, potential

    def momentum(self, q: Any, u: Any) -> np.ndarray:
        """M(q) u, by the polar form."""
        sides = ((self.energies(q, u + unit)[0], self.energies(q, u - unit)[0]) for unit in np.eye(len(q)))
        return np.array([0.5 * (up - down) for up, down in sides])

    def acceleration(self, q: np.ndarray, u: np.ndarray, tau: np.ndarray) -> np.ndarray:
        units = np.eye(len(q))
        M = np.array([self.momentum(q, unit) for unit in units])
        rate = self.momentum(q + 1j * STEP * u, u).imag / STEP
        moved = (self.energies(q + 1j * STEP * unit, u) for unit in units)
        slope = np.array([(kinetic - potential).imag / STEP for kinetic, potential in moved])
        return np.linalg.solve(M, tau + slope - rate)

"""Planar chains of two elastic links on a flying base, against Lagrange's equations worked out by sympy.

Every link: r = O + (eta - 1/2 H d^2) e + sum_j d_j W_j(eta) n, frame angle phi; the next link starts at its end, turned
by the end section's rotation sum_j d_j Th_j(l). The shapes are written out here (for Timoshenko beams as printed in
[gibbsappell] for this section); their integrals are adaptive quadratures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import sympy
from scipy.integrate import quad

from pliant.engine.prepared import Prepared
from pliant.model.bodies import Frame
from pliant.model.flexible import Beam, Bending, Material, Rectangle
from pliant.model.joints import Joint
from pliant.model.model import Model

LENGTH, MASS, INERTIA, GRAVITY = 1.0, 1.0, 2.9473e-5, 9.81


@dataclass(frozen=True)
class Shape:
    """Deflection, its slope, and the rotation of the section."""

    W: Callable[[float], float]
    slope: Callable[[float], float]
    rotation: Callable[[float], float]

    def shortening(self, x: float) -> float:
        """H = int_0^x W'^2"""
        return integral(lambda y: self.slope(y) ** 2, x)


def supported() -> Shape:
    return Shape(
        lambda x: np.sin(np.pi * x),
        lambda x: np.pi * np.cos(np.pi * x),
        lambda x: 3.140333690109594 * np.cos(np.pi * x),
    )


def supported_clamped() -> Shape:
    a, b, A, B = 3.926181400745614, 3.924559038288969, 0.937356072626805, 0.02617115567137916
    return Shape(
        lambda x: B * np.sinh(b * x) + A * np.sin(a * x),
        lambda x: b * B * np.cosh(b * x) + a * A * np.cos(a * x),
        lambda x: 0.1027745658114473 * np.cosh(b * x) + 3.677927210568842 * np.cos(a * x),
    )


def clamped_free(k: float) -> Shape:
    """Euler-Bernoulli, cos k cosh k = -1, 1 at the tip."""
    s = (np.cosh(k) + np.cos(k)) / (np.sinh(k) + np.sin(k))

    def W(x: float) -> float:
        return np.cosh(k * x) - np.cos(k * x) - s * (np.sinh(k * x) - np.sin(k * x))

    def slope(x: float) -> float:
        return k * (np.sinh(k * x) + np.sin(k * x) - s * (np.cosh(k * x) - np.cos(k * x))) / tip

    tip = W(1.0)
    return Shape(lambda x: W(x) / tip, slope, slope)


CLAMPED_FREE = [clamped_free(1.8751040687119611), clamped_free(4.694091132974175)]
# name: shapes of both links, their ends, theory, is shortened, rotary
CHAINS = {
    "ss-sc-frame": ([[supported()], [supported_clamped()]], ("ss", "sc"), "timoshenko", False, "frame"),
    "sc-ss-section": ([[supported_clamped()], [supported()]], ("sc", "ss"), "timoshenko", False, "section"),
    "cf-cf-section": ([CLAMPED_FREE, CLAMPED_FREE], ("cf", "cf"), "euler-bernoulli", False, "section"),
    "cf-cf-shortened": ([CLAMPED_FREE[:1], CLAMPED_FREE[:1]], ("cf", "cf"), "euler-bernoulli", True, "section"),
    "ss-sc-shortened": ([[supported()], [supported_clamped()]], ("ss", "sc"), "timoshenko", True, "none"),
}


def integral(function: Callable[[float], float], end: float = LENGTH) -> float:
    return quad(function, 0.0, end, epsabs=1e-12, epsrel=1e-12)[0]


def integrate(
    polynomial: sympy.Expr, symbols: list[sympy.Symbol], functions: list[Callable[[float], float]]
) -> sympy.Expr:
    """int_0^l of a polynomial in symbols that stand for functions of eta."""
    total = sympy.Integer(0)
    for powers, coefficient in sympy.Poly(sympy.expand(polynomial), *symbols).terms():
        total += coefficient * integral(
            lambda x, powers=powers: np.prod([f(x) ** n for f, n in zip(functions, powers, strict=True)])
        )
    return total


def lagrangian(chain: str) -> Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """M and h of M q'' + h = tau from L = T - V."""
    links, _, _, is_shortened, rotary = CHAINS[chain]
    n = 3 + sum(len(shapes) for shapes in links) + 1
    q, u = sympy.symbols(f"q:{n}"), sympy.symbols(f"u:{n}")

    def rate(f: sympy.Expr) -> sympy.Expr:
        return sum((f.diff(a) * b for a, b in zip(q, u, strict=True)), sympy.Integer(0))

    T = V = sympy.Integer(0)
    O, phi, at = sympy.Matrix([q[0], q[1]]), q[2], 3
    eta, H = sympy.symbols("eta H")
    for i, shapes in enumerate(links):
        if i == 1:
            phi, at = phi + q[at], at + 1
        d, e = q[at : at + len(shapes)], u[at : at + len(shapes)]
        at += len(shapes)
        along = sympy.Matrix([sympy.cos(phi), sympy.sin(phi)])
        across = sympy.Matrix([-sympy.sin(phi), sympy.cos(phi)])
        W = sympy.symbols(f"W:{len(shapes)}")
        bent = sum(a * b for a, b in zip(d, W, strict=True))
        short = -H * d[0] ** 2 / 2 if is_shortened else sympy.Integer(0)
        O_rate, w = O.applyfunc(rate), rate(phi)
        ahead, side = O_rate.dot(along), O_rate.dot(across)
        a, s, turn = sympy.symbols("a s turn")  # velocity of the frame, until the integrals are done
        speed = (a + rate(short) - turn * bent) ** 2 + (s + rate(bent) + turn * (eta + short)) ** 2
        functions = [lambda x: x, *[shapes[0].shortening] * is_shortened, *(f.W for f in shapes)]
        symbols = [eta, *[H] * is_shortened, *W]
        T += (MASS / 2 * integrate(speed, symbols, functions)).subs({a: ahead, s: side, turn: w})
        up, rise, lift = sympy.symbols("up rise lift")  # heights of the frame's origin and axes
        height = up + rise * (eta + short) + lift * bent
        heights = {up: O[1], rise: along[1], lift: across[1]}
        V += (MASS * GRAVITY * integrate(height, symbols, functions)).subs(heights)
        if rotary == "frame":
            T += INERTIA * LENGTH * w**2 / 2
        elif rotary == "section":
            theta = sympy.symbols(f"theta:{len(shapes)}")
            turning = (turn + sum(x * y for x, y in zip(theta, e, strict=True))) ** 2
            T += (INERTIA / 2 * integrate(turning, list(theta), [f.rotation for f in shapes])).subs({turn: w})
        fall = shapes[0].shortening(LENGTH) * d[0] ** 2 / 2 if is_shortened else 0.0
        O = O + (LENGTH - fall) * along + sum(x * f.W(LENGTH) for x, f in zip(d, shapes, strict=True)) * across
        phi = phi + sum(x * f.rotation(LENGTH) for x, f in zip(d, shapes, strict=True))
    momentum = [T.diff(x) for x in u]
    M = sympy.Matrix([[p.diff(x) for x in u] for p in momentum])
    h = sympy.Matrix([rate(p) - (T - V).diff(x) for p, x in zip(momentum, q, strict=True)])
    return sympy.lambdify([q, u], [M, h], "numpy", cse=True)


def pliant_chain(chain: str) -> Model:
    links, ends, theory, is_shortened, rotary = CHAINS[chain]
    steel = Material(young=2e11, density=7800.0)
    beams = [
        Beam(
            f"link{i}",
            LENGTH,
            steel,
            Rectangle(width=0.0125, height=0.03),
            bending_y=Bending(len(shapes), pair),
            theory=theory,
            coupling="high-order" if is_shortened else "linear",
            rotary=rotary,
            mass_per_length=MASS,
            rotary_inertia=(INERTIA, INERTIA, INERTIA),
        )
        for i, (shapes, pair) in enumerate(zip(links, ends, strict=True))
    ]
    hinge = Joint(name="hinge", kind="revolute", parent=Frame(body="link0", position=(LENGTH, 0, 0)), child="link1")
    return Model(name=chain, bodies=beams, joints=[hinge], base="planar", gravity=(0.0, -GRAVITY, 0.0))


@pytest.mark.parametrize("chain", CHAINS)
def test_equations_of_a_planar_chain_are_those_of_lagrange(chain):
    model = pliant_chain(chain)
    handle, wanted = Prepared(model), lagrangian(chain)
    rng = np.random.default_rng(8)
    for _ in range(3):
        q, v = rng.normal(size=(2, len(model.velocities)))
        for link in model.links:
            q[link.q_modes] *= 0.05
        M, h = handle.equations(q, v)
        M_wanted, h_wanted = wanted(q, v)
        np.testing.assert_allclose(M, M_wanted, rtol=0, atol=1e-10 * np.abs(M).max())
        np.testing.assert_allclose(h, np.ravel(h_wanted), rtol=0, atol=1e-10 * np.abs(h).max())

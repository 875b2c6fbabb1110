"""Flexible links against closed forms and published motions: frequencies of beams, spin-up, double pendulum."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import numpy as np
import pytest
import scipy.linalg
from scipy.optimize import brentq

import pliant
from pliant.engine.prepared import Prepared
from pliant.methods import FORMULATIONS
from pliant.model.bodies import Body, Frame
from pliant.model.flexible import Beam, Bending, GivenSection, Material, Rectangle
from pliant.model.joints import Joint
from pliant.model.model import Model
from pliant.model.signals import Sine, Sum, Table
from random_models import derivatives

FLEXIBLE = [row.name for row in FORMULATIONS if "flexible bodies" in row.supports]
LENGTH, STEEL, SECTION = 1.3, Material(young=2e11, density=7800.0), Rectangle(width=0.02, height=0.03)


def frequencies(model: Model) -> np.ndarray:
    """Of small motions about the undeformed robot at rest without gravity, from M and the forces that hold it bent."""
    model = dataclasses.replace(model, gravity=(0.0, 0.0, 0.0))
    handle, n = Prepared(model), len(model.velocities)
    q, rest = np.zeros(n), np.zeros(n)
    K = np.array(
        [derivatives(lambda h, x=x: handle.inverse_dynamics(q + h * x, rest, rest), 1e-3)[0] for x in np.eye(n)]
    )
    return np.sqrt(scipy.linalg.eigh(0.5 * (K + K.T), handle.mass_matrix(q), eigvals_only=True))


def clamped(beam: Beam, *carried: Body) -> Model:
    """The beam held at its start, bodies welded to its end."""
    tip = Frame(body=beam.name, position=(beam.length, 0, 0))
    welds = [Joint(name=f"weld-{body.name}", kind="fixed", parent=tip, child=body.name) for body in carried]
    return Model(name="clamped", bodies=[beam, *carried], joints=welds, base="fixed")


def slender(**shapes: object) -> Beam:
    return Beam("beam", LENGTH, STEEL, SECTION, theory="euler-bernoulli", rotary="none", **shapes)


def bending_roots(load: float, count: int) -> np.ndarray:
    """1 + cos k cosh k + load k (cos k sinh k - sin k cosh k) = 0: clamped, with a mass of load x beam at the tip."""

    def equation(k: float) -> float:
        return 1 / np.cosh(k) + np.cos(k) + load * k * (np.cos(k) * np.tanh(k) - np.sin(k))

    ends = np.linspace(0.1, np.pi * (count + 1), 40 * count)
    changes = [(a, b) for a, b in pairwise(ends) if equation(a) * equation(b) < 0]
    return np.array([brentq(equation, a, b, xtol=1e-14) for a, b in changes[:count]])


def bending_rate(moment: float) -> float:
    """sqrt(EI / (rho A L^4)): frequencies are k^2 times it."""
    return float(np.sqrt(STEEL.young * moment / (STEEL.density * 0.02 * 0.03)) / LENGTH**2)


IZ, IY = 0.03 * 0.02**3 / 12, 0.02 * 0.03**3 / 12


def test_cantilever_has_the_frequencies_of_euler_and_bernoulli():
    """1.8751^2, 4.6941^2, .. in both planes."""
    k = bending_roots(0.0, 3)
    assert k[0] == pytest.approx(1.8751040687, rel=1e-10)
    np.testing.assert_allclose(frequencies(clamped(slender(bending_y=3))), k**2 * bending_rate(IZ), rtol=1e-9)
    np.testing.assert_allclose(frequencies(clamped(slender(bending_z=3))), k**2 * bending_rate(IY), rtol=1e-9)


def test_polynomials_find_the_frequencies_of_a_cantilever_with_a_mass_at_its_tip():
    """The mass is a body of its own, welded to the end: Ritz, from above."""
    mass = 1.7
    k = bending_roots(mass / (STEEL.density * 0.02 * 0.03 * LENGTH), 2)
    beam = slender(bending_y=Bending(7, family="polynomials"))
    found = frequencies(clamped(beam, Body(name="mass", mass=mass)))[:2]
    wanted = k**2 * bending_rate(IZ)
    assert np.all(found > wanted * (1 - 1e-9))
    np.testing.assert_allclose(found, wanted, rtol=1e-7)


def test_stretch_and_torsion_of_a_rod():
    """Quarter waves: pi/2 c / L with the speeds of sound of stretch and torsion."""
    radius = 0.01
    section = GivenSection(
        area=np.pi * radius**2, second_moment_y=np.pi * radius**4 / 4, second_moment_z=np.pi * radius**4 / 4
    )
    rod = Beam("rod", LENGTH, STEEL, section, stretch=1, torsion=1)
    speeds = np.sqrt(np.array([STEEL.shear, STEEL.young]) / STEEL.density)
    np.testing.assert_allclose(frequencies(clamped(rod)), 0.5 * np.pi * speeds / LENGTH, rtol=1e-9)


# --- a boom that spins up (SVQ data) --------------------------------------------------------------------------------

RATE, TIME = 6.0, 15.0


def spinning_boom(coupling: str = "high-order", **joint: object) -> Model:
    section = GivenSection(area=4e-4, second_moment_y=2e-7, second_moment_z=2e-7)
    material = Material(young=7e10, density=3000.0)
    boom = Beam(
        "boom", 10.0, material, section, bending_y=4, theory="euler-bernoulli", rotary="none", coupling=coupling
    )
    hub = Joint(name="hub", kind="revolute", child="boom", **joint)
    return Model(name="spin-up", bodies=[boom], joints=[hub], gravity=(0.0, 0.0, 0.0))


def test_lag_frequencies_of_a_spinning_boom():
    """Of small deflections at 6 rad/s: centrifugal forces stiffen the boom."""
    handle = Prepared(spinning_boom())
    v, zero = np.array([RATE, 0, 0, 0, 0]), np.zeros(5)

    def held(h: float, unit: np.ndarray) -> np.ndarray:
        return handle.inverse_dynamics(h * unit, v, zero)[1:]

    K = np.array([derivatives(lambda h, x=x: held(h, x), 0.1)[0] for x in np.eye(5)[1:]])
    omega2 = scipy.linalg.eigh(0.5 * (K + K.T), handle.mass_matrix(zero)[1:, 1:], eigvals_only=True)
    np.testing.assert_allclose(np.sqrt(omega2[:2]), [4.513917, 27.637719], atol=6e-7)


def spin_up() -> Sum:
    """theta = int of RATE/TIME (t - TIME/(2 pi) sin(2 pi t/TIME)), until TIME; a cubic through four points is t^2."""
    turn = 2 * np.pi / TIME
    amplitude = RATE / TIME / turn**2
    times = np.linspace(0.0, TIME, 4)
    square = Table(times=times, values=0.5 * RATE / TIME * times**2)
    return Sum((square, Sine(amplitude=amplitude, omega=turn, phase=0.5 * np.pi, offset=-amplitude)))


@pytest.mark.parametrize("formulation", FLEXIBLE)
def test_spin_up_of_a_boom_with_shortening(formulation):
    """Lowest tip deflection -.575812 m at 6.76906 s; all modes are 1 at the tip."""
    result = pliant.simulate(spinning_boom(motion=spin_up()), 7.5, rtol=1e-9, formulation=formulation)
    times = np.linspace(6.5, 7.0, 2001)
    tip = result.at(times)[0][:, 1:].sum(axis=1)
    lowest = int(np.argmin(tip))
    assert tip[lowest] == pytest.approx(-0.575812, abs=1e-6)
    assert times[lowest] == pytest.approx(6.76906, abs=5e-4)


def test_spin_up_without_shortening_breaks_down():
    """Linear coupling softens the boom instead: the deflection is as large as the boom at 9.16366 s."""
    result = pliant.simulate(spinning_boom("linear", motion=spin_up()), 9.3, rtol=1e-9)

    def beyond(t: float) -> float:
        return float(abs(result.at(np.array([t]))[0][0, 1:].sum()) - 10.0)

    assert brentq(beyond, 9.0, 9.3) == pytest.approx(9.16366, abs=2e-5)


# --- flexible double pendulum ---------------------------------------------------------------------------------------

SHAPES = {
    "polynomials": (Bending(5, family="polynomials"), "high-order", (1.298249, -1.404196)),
    "modes": (Bending(2), "high-order", (1.298222, -1.404095)),
    "linear": (Bending(2), "linear", (1.298488, -1.404244)),
}


@pytest.mark.parametrize("formulation", FLEXIBLE)
@pytest.mark.parametrize("shapes", SHAPES)
def test_tip_of_a_falling_flexible_double_pendulum(shapes, formulation):
    """Both links along x at rest, gravity along -y: the tip after half a second."""
    bending, coupling, wanted = SHAPES[shapes]
    section = GivenSection(area=2e-4, second_moment_y=4.16667e-10, second_moment_z=4.16667e-10)
    links = [
        Beam(
            name,
            1.0,
            Material(young=7e10, density=2700.0),
            section,
            bending_y=bending,
            coupling=coupling,
            theory="euler-bernoulli",
            rotary="none",
        )
        for name in ("upper", "lower")
    ]
    joints = [
        Joint(name="shoulder", kind="revolute", child="upper"),
        Joint(name="elbow", kind="revolute", parent=Frame(body="upper", position=(1.0, 0, 0)), child="lower"),
    ]
    tip = Frame(body="lower", name="tip", position=(1.0, 0, 0))
    output = pliant.Output(name="tip", of="tip", quantity="position")
    model = Model(
        name="double pendulum", bodies=links, joints=joints, frames=[tip], outputs=[output], gravity=(0, -9.81, 0)
    )
    result = pliant.simulate(model, 0.5, rtol=1e-9, formulation=formulation)
    np.testing.assert_allclose(result.outputs["tip"][-1], [*wanted, 0.0], rtol=0, atol=1e-6)
    assert result.audit["energy_residual"] < 1e-8

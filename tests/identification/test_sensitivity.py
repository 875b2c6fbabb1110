"""sensitivity: derivatives of runs are those of closed forms, and their errors are what is said of them."""

import math

import numpy as np
import pytest

import pliant
from pliant import Body, Contact, Flores, Joint, Model, Plane
from pliant.errors import AccuracyWarning

TIMES = np.linspace(0.1, 3.0, 30)


def oscillator():
    mass = Body("mass", 2.0, inertia=(1.0, 1.0, 1.0))
    slide = Joint("slide", "prismatic", "mass", stiffness=50.0, damping=0.8, q0=0.1)
    return Model("oscillator", [mass], [slide], gravity=(0, 0, 0))


def closed_form(m, c, k, x0):
    d = c / (2.0 * m)
    w = math.sqrt(k / m - d * d)
    return x0 * np.exp(-d * TIMES) * (np.cos(w * TIMES) + d / w * np.sin(w * TIMES))


def closed_derivative(name):
    """By complex steps of the closed form, to rounding."""
    import cmath

    values = {"m": 2.0 + 0j, "c": 0.8 + 0j, "k": 50.0 + 0j, "x0": 0.1 + 0j}
    values[name] += 1e-30j
    m, c, k, x0 = values.values()
    d = c / (2.0 * m)
    w = cmath.sqrt(k / m - d * d)
    x = x0 * np.exp(-d * TIMES) * (np.cos(w * TIMES) + d / w * np.sin(w * TIMES))
    return x.imag / 1e-30


KEYS = {
    "bodies.mass.mass": "m",
    "joints.slide.damping": "c",
    "joints.slide.stiffness": "k",
    "joints.slide.q0": "x0",
}


def test_derivatives_of_an_oscillator_are_those_of_its_closed_form_within_their_errors():
    found = pliant.sensitivity(oscillator(), "slide", TIMES, dict(zip(KEYS, (2.0, 0.8, 50.0, 0.1), strict=True)))
    assert found.relative_error < 1e-5
    for key, name in KEYS.items():
        exact, own = closed_derivative(name), found["slide", key]
        size = np.max(np.abs(exact))
        assert np.max(np.abs(own - exact)) < 1e-6 * size
        # what is said of the error holds, but for rounding of the closed form
        assert np.all(np.abs(own - exact) <= 2.0 * np.max(found.errors["slide", key]) + 1e-12 * size)
    assert np.allclose(found.columns["slide"], closed_form(2.0, 0.8, 50.0, 0.1), atol=1e-9)


def test_derivative_of_a_pendulum_is_that_of_its_variational_equation():
    """phi'' = -(g/l) sin phi; s = d phi / d phi0 obeys s'' = -(g/l) cos(phi) s, integrated beside it by SciPy."""
    from scipy.integrate import solve_ivp

    bob = Body("bob", 1.0, com=(0, -0.7, 0))
    swing = Joint("swing", "revolute", "bob", q0=2.0)
    model = Model("pendulum", [bob], [swing], gravity=(0, -9.81, 0))
    rate = 9.81 / 0.7

    def both(t, y):
        phi, w, s, sdot = y
        return [w, -rate * math.sin(phi), sdot, -rate * math.cos(phi) * s]

    exact = solve_ivp(both, (0, 3), [2.0, 0.0, 1.0, 0.0], method="DOP853", rtol=1e-12, atol=1e-13, t_eval=TIMES).y[2]
    found = pliant.sensitivity(model, ["swing"], TIMES, {"joints.swing.q0": 2.0})
    # central differences at rtol 1e-10 over changes of 1e-3 of the range, extrapolated
    assert np.max(np.abs(found["swing", "joints.swing.q0"] - exact)) < 1e-6 * np.max(np.abs(exact))


def test_where_events_change_there_is_no_derivative_and_it_is_said():
    """A mass on a spring that just reaches a wall, or does not."""
    wall = Contact("wall", Flores(1e5, 0.7), Plane(normal=(1, 0, 0), offset=-0.1), points=("mass",))
    slide = Joint("slide", "prismatic", "mass", axis=(1, 0, 0), stiffness=40.0, q0=0.1)
    body = Body("mass", 1.0, inertia=(1.0, 1.0, 1.0))
    model = Model("grazing", [body], [slide], gravity=(0, 0, 0), contacts=[wall])
    with pytest.warns(AccuracyWarning, match="a change of joints.slide.q0 by .* so there is no derivative"):
        pliant.sensitivity(model, "slide", TIMES, {"joints.slide.q0": 0.09999})

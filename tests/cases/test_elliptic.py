"""Elliptic functions by the arithmetic-geometric mean against SciPy's, and pendulums by them."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipkinc, ellipkm1

import pliant
from pliant.cases import pendulum
from pliant.cases.elliptic import amplitude, incomplete, pendulum_motion, pendulum_period, quarter_period


@pytest.mark.parametrize("m1", [1.0, 0.7, 0.01, 1e-9])
def test_functions_agree_with_scipy(m1):
    """Rounding, times the size of the argument."""
    assert quarter_period(m1) == pytest.approx(ellipkm1(m1), rel=1e-14)
    angles = np.linspace(-9.0, 9.0, 37)
    found = [incomplete(angle, m1) for angle in angles]
    # SciPy takes m: 1 - 1e-9 has seven digits of m1 left
    assert found == pytest.approx(ellipkinc(angles, 1.0 - m1), rel=1e-7 if m1 < 1e-6 else 1e-13, abs=1e-13)
    assert amplitude(found, m1) == pytest.approx(angles, abs=1e-11)


def test_amplitude_has_the_sine_of_jacobi():
    u = np.linspace(-20.0, 20.0, 81)
    assert np.sin(amplitude(u, 0.3)) == pytest.approx(ellipj(u, 0.7)[0], abs=1e-12)


STARTS = [(0.3, 0.0), (3.1, 0.0), (-2.0, 1.0), (0.0, 6.2), (1.0, 7.0), (-1.0, -7.0), (9.0, -0.5), (0.0, 0.0)]


@pytest.mark.parametrize("start", STARTS)
def test_pendulum_motion_solves_its_equation(start):
    """DOP853 at rounding; beside the top errors grow by exp(w t), about 1e3 here."""
    w, t = 3.0, np.linspace(0.0, 3.0, 31)
    found = solve_ivp(
        lambda t, y: [y[1], -w * w * np.sin(y[0])], (0.0, 3.0), start, "DOP853", t, rtol=3e-14, atol=1e-15
    )
    assert np.array(pendulum_motion(w, *start, t)) == pytest.approx(found.y, abs=1e-10)


@pytest.mark.parametrize("start", [(0.3, 0.0), (3.1, 0.0), (1.0, 7.0), (-1.0, -7.0)])
def test_pendulum_is_back_after_its_period(start):
    period = pendulum_period(3.0, *start)
    angle, rate = pendulum_motion(3.0, *start, period)
    assert rate == pytest.approx(start[1], abs=1e-11)
    assert np.sin(0.5 * (angle - start[0])) == pytest.approx(0.0, abs=1e-11)


# --- the case -----------------------------------------------------------------------------------------------------


def run(**given):
    settings = pendulum.CASE.resolve(given)
    result = pliant.simulate(pendulum.build(settings), **pendulum.CASE.run)
    return result, pendulum.CASE.figures_of(settings, result)


@pytest.mark.parametrize("given", [{}, {"body": "rod", "angle": 1.0}, {"speed": 8.0, "angle": 0.0}, {"speed": -9.0}])
def test_pendulum_moves_as_the_closed_form(given):
    _, found = run(**given)
    assert found["angle_error"] < 1e-8
    assert found["period"] == pytest.approx(found["period_exact"], abs=1e-9)


def test_small_swings_have_the_period_of_small_swings():
    """1 + a^2/16 to the next order, a = 0.01."""
    found = run(angle=0.01)[1]
    assert found["period_exact"] == pytest.approx(2 * np.pi / np.sqrt(9.81) * (1 + 1e-4 / 16), rel=1e-10)


def test_a_run_too_short_for_a_period_has_none():
    assert "period" not in run(duration=0.5)[1]

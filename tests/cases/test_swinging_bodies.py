"""Public benchmarks of free and hanging bodies: N pendulums, top, racket, satellite. Against equations derived anew."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pliant
from pliant.cases import n_pendulum, reorienting_satellite, symmetric_top, tennis_racket
from pliant.errors import ModelError


def run(case, **given):
    settings = case.CASE.resolve(given)
    result = pliant.simulate(case.build(settings), **case.CASE.run)
    assert result.status == "done", result.reason
    return result, case.CASE.figures_of(settings, result)


def solve(rates, start, end):
    return solve_ivp(rates, (0.0, end), start, method="DOP853", rtol=2.3e-14, atol=1e-15).y[:, -1]


# --- N pendulums ------------------------------------------------------------------------------------------------------


def chain(n, start, end, length=0.2):
    """Absolute angles: sum_j w_ij (cos(a_i - a_j) a_j'' + sin(a_i - a_j) a_j'^2) = -w_ii g/L sin(a_i), where w_ij is
    the number of masses beyond both."""
    weight = np.minimum.outer(np.arange(n, 0, -1), np.arange(n, 0, -1)).astype(float)

    def rates(t, y):
        a, v = y[:n], y[n:]
        apart = a[:, None] - a
        force = -(weight * np.sin(apart)) @ v**2 - 9.81 / length * np.diag(weight) * np.sin(a)
        return np.concatenate([v, np.linalg.solve(weight * np.cos(apart), force)])

    return solve(rates, [start] * n + [0.0] * n, end)[:n]


@pytest.mark.parametrize("given", [{}, {"links": 1, "angle": 2.0}, {"links": 12, "duration": 0.8}])
def test_chain_of_pendulums_moves_as_its_absolute_angles(given):
    """Both at rounding, errors grow a thousand times at most in this time."""
    settings = n_pendulum.CASE.resolve(given)
    angles = chain(settings["links"], settings["angle"], settings["duration"])
    _, found = run(n_pendulum, **given)
    assert found["tip_x_end"] == pytest.approx(0.2 * np.sin(angles).sum(), abs=1e-9)
    assert found["tip_y_end"] == pytest.approx(-0.2 * np.cos(angles).sum(), abs=1e-9)
    assert found["angle_end"] == pytest.approx(angles[-1], abs=1e-8)


# --- symmetric top ----------------------------------------------------------------------------------------------------


def top_by_euler_angles(settings, end):
    """Tilt and azimuth from Lagrange's equation of the tilt; spin and momentum about the vertical are constant."""
    A = settings["across"] + settings["mass"] * settings["distance"] ** 2
    mgl = settings["mass"] * settings["gravity"] * settings["distance"]
    L3 = settings["along"] * settings["spin"]
    Lz = A * settings["precession"] * np.sin(settings["tilt"]) ** 2 + L3 * np.cos(settings["tilt"])

    def rates(t, y):
        c, s = np.cos(y[0]), np.sin(y[0])
        turn = (Lz - L3 * c) / (A * s * s)
        return [y[1], (A * turn**2 * s * c - L3 * turn * s + mgl * s) / A, turn]

    return solve(rates, [settings["tilt"], 0.0, 0.0], end)


TOPS = [{}, {"precession": 5.0}, {"precession": -4.0, "spin": 120.0}, {"tilt": 2.0, "spin": 10.0, "duration": 3.0}]


@pytest.mark.parametrize("given", TOPS)
def test_top_nutates_as_the_closed_form(given):
    """Cosines to 1e-9; the tilt in a turning point as far, for it is not upright."""
    settings = symmetric_top.CASE.resolve(given)
    exact = symmetric_top.nutation(settings)
    _, found = run(symmetric_top, **given)
    assert found["nutation_error"] < 1e-9
    assert found["nutation_period"] == pytest.approx(exact.period, abs=1e-9)
    assert found["precession_per_nod"] == pytest.approx(exact.precession, abs=1e-8)
    assert np.cos([found["tilt_most"], found["tilt_least"]]) == pytest.approx([exact.low, exact.high], abs=1e-9)


@pytest.mark.parametrize("given", TOPS)
def test_closed_form_of_the_top_solves_lagrange_s_equation(given):
    settings = symmetric_top.CASE.resolve(given)
    exact = symmetric_top.nutation(settings)
    tilt, rate, turned = top_by_euler_angles(settings, exact.period)
    assert np.cos(tilt) == pytest.approx(exact.cosine(exact.period), abs=1e-11)
    assert rate == pytest.approx(0.0, abs=1e-8)
    assert turned == pytest.approx(exact.precession, abs=1e-9)
    early = top_by_euler_angles(settings, 0.3 * exact.period)[0]
    assert np.cos(early) == pytest.approx(exact.cosine(0.3 * exact.period), abs=1e-11)


def test_a_fast_top_precesses_as_slowly_as_books_say():
    """m g l / (C w), to the order of (slow / fast)^2."""
    settings = symmetric_top.CASE.resolve({"spin": 2000.0})
    exact = symmetric_top.nutation(settings)
    assert exact.precession / exact.period == pytest.approx(0.5 * 9.81 * 0.1 / (1e-3 * 2000.0), rel=1e-3)


# --- tennis racket ----------------------------------------------------------------------------------------------------

STARTS = [(0.0, 5.0, 0.01), (0.01, 5.0, 0.0), (0.02, -5.0, 0.1), (-3.0, 1.0, -0.5), (0.3, 1.0, -4.0), (0.0, 0.0, 2.0)]


@pytest.mark.parametrize("start", STARTS)
def test_closed_form_of_the_free_body_solves_euler_s_equations(start):
    """Near the middle axis an error of 1e-15 grows to 1e-11 in this time."""
    inertia = np.array([1.0, 2.0, 2.8])
    wanted = solve(lambda t, w: -np.cross(w, inertia * w) / inertia, start, 7.0)
    assert tennis_racket.euler_motion(inertia, start, 7.0) == pytest.approx(wanted, abs=1e-9)


def test_racket_turns_over_on_time_and_keeps_its_momentum():
    result, found = run(tennis_racket, w1=0.02, w3=0.0, duration=15.0)
    flip = tennis_racket.flip_time((1.0, 2.0, 2.8), (0.02, 5.0, 0.0))
    assert found["flip_time"] == pytest.approx(flip, abs=1e-8)
    assert found["first_flip"] == pytest.approx(0.5 * flip, abs=1e-8)
    assert found["velocity_error"] < 1e-6
    # in world axes, too
    x, y, z, w = result.q[-1, 3:7]
    R = np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip
    assert R @ ([1.0, 2.0, 2.8] * result.v[-1, 3:6]) == pytest.approx([0.02, 10.0, 0.0], abs=1e-10)


def test_about_the_other_axes_it_does_not_turn_over():
    assert run(tennis_racket, w1=5.0, w2=0.01, w3=0.0)[1]["velocity_error"] < 1e-9
    found = run(tennis_racket, w1=0.0, w2=0.0, w3=5.0)[1]
    assert found["flips"] == 0
    assert "flip_time" not in found


@pytest.mark.parametrize(("given", "words"), [({"I2": 0.5}, "I1 < I2 < I3"), ({"I3": 3.5}, "as of no body")])
def test_moments_of_inertia_of_no_racket_are_refused(given, words):
    with pytest.raises(ModelError, match=words):
        tennis_racket.build(tennis_racket.CASE.resolve(given))


# --- reorienting satellite --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [{}, {"swing": -0.5, "hull_mass": 3.0, "cycles": 1}, {"arm_mass": 8.0, "cycles": 2}])
def test_satellite_turns_by_what_its_shapes_say(given):
    _, found = run(reorienting_satellite, **given)
    assert abs(found["angle_error"]) < 1e-9


def test_satellite_turns_as_far_in_a_hurry():
    """Geometry alone: the angle does not know the time."""
    slow, fast = (run(reorienting_satellite, cycle=x, cycles=1)[1]["hull_angle_end"] for x in (10.0, 0.5))
    assert slow == pytest.approx(fast, abs=1e-9)


def test_quadrature_of_the_shapes_has_converged():
    settings = reorienting_satellite.CASE.resolve({})
    assert reorienting_satellite.turned(settings, 128) == pytest.approx(
        reorienting_satellite.turned(settings), abs=1e-14
    )

"""Signals as motion and as force: constant speed, spin-up, tables that repeat, have corners, or are of degree 5."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.interpolate import CubicSpline

import pliant
from pliant import Body, Cycloid, Joint, Linear, Model, ModelError, Output, Sine, SpeedChange, Table

INERTIA = 0.7  # about the axis
ROUNDING = 1e-13  # a few operations on numbers of about 1
DENSE = 1e-8  # rtol: between steps a motion is that of the dense output


def wheel(**joint):
    """Without gravity: the drive torque is INERTIA times the acceleration."""
    body = Body("wheel", 1.0, inertia=(1.0, 1.0, INERTIA))
    outputs = (Output("drive", "axle", "drive"),) if "motion" in joint else (Output("torque", "axle", "motor"),)
    return Model("wheel", (body,), (Joint("axle", "revolute", "wheel", **joint),), gravity=(0, 0, 0), outputs=outputs)


def followed(motion, times, duration):
    """Value, rate and second derivative of a motion at times, as a run has them."""
    result = pliant.simulate(wheel(motion=motion), duration)
    q, v = result.at(times)
    return np.array([q[:, 0], v[:, 0], result.outputs_at(times)["drive"][:, 0] / INERTIA])


# --- constant speed, spin-up -----------------------------------------------------------------------------------------


def test_linear_motion_is_constant_speed_for_any_duration():
    times = np.array([0.0, 1.0, 777.7, 1e4])
    found = followed(Linear(rate=3.0, offset=0.5), times, 1e4)
    assert found[0] == pytest.approx(0.5 + 3.0 * times, rel=ROUNDING)
    assert found[1] == pytest.approx(np.full(4, 3.0), rel=ROUNDING)
    assert np.abs(found[2]).max() == 0.0


def test_linear_torque_gives_the_cubic_angle():
    result = pliant.simulate(wheel(motor=Linear(rate=2.0, offset=-1.0)), 3.0)
    t = result.t
    # a polynomial of third degree: every step of an eighth-order method has it to rounding
    assert result.q[:, 0] * INERTIA == pytest.approx(t**3 / 3.0 - t**2 / 2.0, abs=1e-12)


def test_speed_change_is_the_spin_up_law_and_the_integral_of_a_cycloid():
    omega, T = 6.0, 1.5
    times = np.array([0.0, 0.2, 0.75, 1.3, 1.5, 2.0, 3.0])
    found = followed(SpeedChange(0.0, T, after=omega), times, 3.0)
    inside = times < T
    # the law of Simo and Vu-Quoc's hub
    law = omega / T * (times**2 / 2.0 + (T / (2 * np.pi)) ** 2 * (np.cos(2 * np.pi * times / T) - 1.0))
    assert found[0] == pytest.approx(np.where(inside, law, omega * (times - T / 2)), abs=DENSE)
    rates = followed(Cycloid(0.0, T, after=omega), times, 3.0)
    assert found[1] == pytest.approx(rates[0], abs=DENSE)
    share = lambda t: omega * (t / T - np.sin(2 * np.pi * t / T) / (2 * np.pi))  # noqa: E731
    assert found[0][3] == pytest.approx(quad(share, 0.0, 1.3)[0], abs=DENSE)  # quad's own error is below 1e-13


# --- tables that repeat ----------------------------------------------------------------------------------------------


def closed(degree, n=41, advance=0.0):
    """One period of 0.8 s of a smooth function, and the function with two derivatives."""
    omega = 2 * np.pi / 0.8
    t = np.linspace(0.0, 0.8, n)

    def exact(t):
        s = np.sin(omega * t) + 0.3 * np.cos(2 * omega * t) + advance / 0.8 * t
        s1 = omega * (np.cos(omega * t) - 0.6 * np.sin(2 * omega * t)) + advance / 0.8
        return np.array([s, s1, omega**2 * (-np.sin(omega * t) - 1.2 * np.cos(2 * omega * t))])

    values = exact(t)[0]
    values[-1] = values[0] + advance
    table = Table(t, values, ends="periodic", smooth=True, repeats=True, degree=degree, advance=advance)
    return table, exact


@pytest.mark.parametrize("degree", [3, 5])
def test_periodic_motion_is_continuous_with_two_derivatives_at_the_seam_for_many_periods(degree):
    table, exact = closed(degree)
    seams = 0.8 * np.arange(1, 12)
    before, after = (followed(table, seams + side, 10.0) for side in (-1e-9, 1e-9))
    # over 2e-9 s each changes by its rate: the third derivative is below 4e3
    assert np.abs(after - before).max() < 2e-9 * 4e3
    t = np.linspace(0.0, 10.0, 501)
    errors = np.abs(followed(table, t, 10.0) - exact(t)).max(axis=1)
    # h = 0.02, omega = 7.9: truncation of order h^4, h^3, h^2 (degree 5: h^6, h^5, h^4) with constants of order 1
    assert np.all(errors < ([1e-4, 1e-2, 2.0] if degree == 3 else [1e-6, 1e-4, 2e-2]))


def test_a_crank_goes_on_by_a_turn_in_every_period():
    table, exact = closed(5, n=161, advance=2 * np.pi)
    t = np.linspace(0.0, 40.0, 400)
    found = followed(table, t, 40.0)
    assert found[0] == pytest.approx(exact(t)[0], abs=1e-9)  # of degree 5, h^6 omega^6 of it
    assert followed(table, np.array([40.0]), 40.0)[0, 0] == pytest.approx(100 * np.pi + 0.3, abs=1e-11)


def test_second_derivatives_of_degree_3_are_of_second_order_and_of_degree_5_of_fourth():
    t = np.linspace(0.1, 0.7, 97)
    for degree, order in ((3, 2), (5, 4)):
        errors = [
            np.abs(followed(closed(degree, n)[0], t, 0.8)[2] - closed(degree, n)[1](t)[2]).max() for n in (41, 81)
        ]
        assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.35)  # the next term of the expansion


def test_a_motion_that_repeats_without_periodic_ends_says_what_to_give():
    t = np.linspace(0.0, 1.0, 101)
    motion = Table(t, t * (1.0 - t), smooth=True, repeats=True)
    with pytest.raises(ModelError, match=r'begins anew; give ends="periodic"'):
        pliant.simulate(wheel(motion=motion), 1.0)


# --- kinks -----------------------------------------------------------------------------------------------------------


def test_a_table_with_kinks_is_a_polygon_and_steps_end_there():
    times, values = (0.0, 0.5, 0.8, 2.0), (0.0, 1.0, -1.0, 0.4)
    result = pliant.simulate(wheel(motor=Table(times, values, smooth=True, kinks=(0.5, 0.8))), 3.0, max_step=0.1)
    assert set(times) <= set(result.t.tolist())
    assert result.outputs["torque"][:, 0] == pytest.approx(np.interp(result.t, times, values), abs=ROUNDING)
    # the work of a motor in closed form needs the angle; here the energy balance has it
    assert result.audit["energy_residual"] < 1e-12


def test_a_time_that_stands_twice_is_a_jump():
    table = Table((0.0, 1.0, 1.0, 2.0, 3.0), (0.0, 1.0, 3.0, 2.0, 4.0), kinks=(1.0,))
    result = pliant.simulate(wheel(motor=table), 4.0)
    torque = result.outputs_at([0.5, 1.0 - 1e-9, 1.0, 1.5, 3.0, 3.5])["torque"][:, 0]
    later = CubicSpline((1.0, 2.0, 3.0), (3.0, 2.0, 4.0))
    assert torque == pytest.approx([0.5, 1.0, 3.0, float(later(1.5)), 4.0, 4.0], abs=2e-9)
    # impulse: 1/2 of the first piece, then the parabola through three values (Simpson), then 4 for a second
    impulse = 0.5 + (3.0 + 4 * 2.0 + 4.0) / 3.0 + 4.0
    assert result.v[-1, 0] * INERTIA == pytest.approx(impulse, rel=1e-12)


def test_each_piece_of_a_table_with_kinks_is_its_own_spline():
    times, values = np.arange(9) * 0.25, np.array([0, 1, 0, 2, 1, -1, 0, 1, 2.0])
    result = pliant.simulate(wheel(motor=Table(times, values, ends="natural", kinks=(1.0,))), 1.99, sample=0.01)
    first = CubicSpline(times[:5], values[:5], bc_type=("natural", "not-a-knot"))
    second = CubicSpline(times[4:], values[4:], bc_type=("not-a-knot", "natural"))
    wanted = np.where(result.t < 1.0, first(result.t), second(result.t))
    assert result.outputs["torque"][:, 0] == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize(
    ("times", "values", "kinks", "words"),
    [
        ((0, 1, 2), (0, 1, 0), (1,), "the rate would jump at its kink 1 s"),
        ((0, 1, 1, 2), (0, 0, 1, 1), (1,), "the value would jump at its kink 1 s"),
    ],
)
def test_a_motion_with_a_corner_is_refused(times, values, kinks, words):
    with pytest.raises(ModelError, match=words):
        pliant.simulate(wheel(motion=Table(times, values, kinks=kinks)), 2.0)


def test_a_motion_whose_acceleration_jumps_at_a_kink_is_driven_exactly():
    """Half a second faster, half a second slower: pieces are parabolas, so the spline is exact."""
    times = np.linspace(0.0, 1.0, 9)
    values = np.where(times < 0.5, 2 * times**2, 1.0 - 2 * (1.0 - times) ** 2)
    result = pliant.simulate(wheel(motion=Table(times, values, kinks=(0.5,))), 2.0)
    at = result.outputs_at([0.3, 0.5 - 1e-9, 0.5 + 1e-9, 0.9, 1.5])["drive"][:, 0] / INERTIA
    assert at == pytest.approx([4, 4, -4, -4, 0], abs=1e-9)  # second differences at h = 1/8
    assert result.audit["energy_residual"] < 1e-12


# --- words -----------------------------------------------------------------------------------------------------------


def test_a_long_table_says_its_size():
    t = np.linspace(0.0, 1.0, 101)
    text = repr(Table(t, t**2, smooth=True))
    assert text == "Table(times=(0, .., 1; 101 numbers), values=(0, .., 1; 101 numbers), smooth=True)"
    assert repr(Table((0, 1), (0.0, 2.0))) == "Table(times=(0.0, 1.0), values=(0.0, 2.0))"
    assert repr(Linear(2.0)) == "Linear(rate=2.0, offset=0.0, kind='linear')"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Table((0, 1, 1, 2), (0, 1, 2, 3)), "times must increase, but 1.0 follows 1.0.*if kinks name it"),
        (lambda: Table((0, 1, 1, 1, 2), (0, 1, 2, 3, 4), kinks=(1,)), "times must increase"),
        (lambda: Table((0, 0, 1), (0, 1, 2), kinks=(0,)), "times must increase"),
        (lambda: Table((0, 1, 2), (0, 1, 2), kinks=(0.5,)), "kinks: 0.5 is none of the times"),
        (lambda: Table((0, 1, 2), (0, 1, 2), kinks=(2,)), "kinks: 2.0 is none of the times"),
        (lambda: Table((0, 1, 2), (0, 1, 0), "periodic"), "only for a table that repeats; say repeats = true"),
        (lambda: Table((0, 1, 2), (0, 1, 0), advance=2.0), "advance has a meaning only for a table that repeats"),
        (lambda: Table((0, 1, 2), (0, 1, 2), "periodic", True, True), "or advance = 2, by which each period goes on"),
        (lambda: Table((0, 1, 2), (0, 1, 2), "periodic", True, True, advance="360 deg"), "ends with 2.*0 . 6.28319"),
        (lambda: Table((0, 1, 2), (0, 1, 0), "periodic", True, True, kinks=(1,)), "a table that repeats has no kinks"),
        (lambda: Table((0, 1, 2), (0, 1, 0), degree=5), "degree = 5 needs 6 values between kinks, but 3 found"),
        (lambda: Table(range(8), range(8), "natural", degree=5), 'ends = "natural" goes with degree = 3 only'),
        (lambda: Table((0, 1), (0, 1), degree=4), "degree"),
        (lambda: Linear(), "rate"),
        (lambda: Output("o", "axle", "motor", axes="world"), "axes has no effect on motor, only on a reaction"),
        (lambda: Output("o", "axle", "reaction", axes="parent"), "axes.*child.*world"),
    ],
)
def test_what_does_not_go_together_is_refused(make, words):
    with pytest.raises(ModelError, match=words):
        make()


def test_sums_of_signals_may_hold_every_kind():
    motion = Linear(1.0) + 0.1 * Sine(omega=3.0) + closed(5)[0]
    t = np.linspace(0.0, 5.0, 50)
    parts = t + 0.1 * np.sin(3.0 * t) + followed(closed(5)[0], t, 5.0)[0]
    assert followed(motion, t, 5.0)[0] == pytest.approx(parts, abs=DENSE)

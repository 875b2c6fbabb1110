"""Public benchmarks of closed mechanisms: squeezer, N four-bars, Bricard, a slider-crank that bends. Each against
equations derived anew."""

import numpy as np
import pytest

import bricard_reference
import pliant
import squeezer_reference
from crank_reference import TEST_SET, FlexibleCrank
from four_bars import exact, swing_of_four_bars
from pliant.cases import andrews_squeezer, bricard, flexible_slider_crank, n_four_bar
from pliant.errors import ModelError


def run(case, **given):
    settings = case.CASE.resolve(given)
    result = pliant.simulate(case.build(settings), **case.CASE.run)
    assert result.status == "done", result.reason
    return result, case.CASE.figures_of(settings, result)


# --- Andrews' squeezer ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [{}, {"torque": 0.02, "stiffness": 6000.0, "rest": 0.07, "duration": 0.01}])
def test_squeezer_moves_as_the_seven_angles_with_multipliers(given):
    """Both integrate at 1e-12; the crank turns twice and more, which multiplies errors a hundred times."""
    forces = {key: value for key, value in given.items() if key != "duration"}
    q, v, multipliers = squeezer_reference.squeeze(given.get("duration", 0.03), **forces)
    found = run(andrews_squeezer, **given)[1]
    assert [found[name] for name in andrews_squeezer.PUBLISHED] == pytest.approx(q, abs=1e-10)
    rates = [found[f"{name}_rate"] for name in andrews_squeezer.PUBLISHED]
    assert rates == pytest.approx(v, abs=1e-8)
    # all three pins pull at the end of K2
    pull = np.hypot(multipliers[0::2].sum(), multipliers[1::2].sum())
    assert found["pin_force"] == pytest.approx(pull, rel=1e-8)


def test_published_squeezer_is_right_to_nine_digits_of_the_crank_angle():
    """The reference of the test set is 1.1e-9 rad away from both derivations: its tolerance in the case says so."""
    q, v, _ = squeezer_reference.squeeze()
    angles, rates = np.array(list(andrews_squeezer.PUBLISHED.values())).T
    assert 1e-9 < np.max(np.abs(q - angles)) < andrews_squeezer.ANGLE_DIGITS
    assert np.max(np.abs(v - rates)) < andrews_squeezer.RATE_DIGITS


def test_squeezer_closes_its_loops_at_other_crank_angles():
    result, _ = run(andrews_squeezer, beta=0.5, duration=0.002)
    assert result.q[0, 0] == 0.5
    assert result.audit["constraint_drift"] < 1e-12


# --- N four-bars ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [{}, {"loops": 5, "duration": 3.0}, {"loops": 1, "speed": 0.0, "angle": 0.4}])
def test_four_bars_move_as_one_pendulum(given):
    _, found = run(n_four_bar, **given)
    for name in ("motion_error", "bar_tilt"):
        assert found[name] < n_four_bar.CASE.figure_table[name].tolerance


def test_elliptic_functions_and_scipy_solve_the_one_equation_alike():
    """DOP853 at rounding, ten seconds: 1e-12 over seven rotations."""
    settings = n_four_bar.CASE.resolve({"loops": 3})
    t = np.linspace(0.0, 10.0, 101)
    angle, rate = n_four_bar.exact_crank(settings, t)
    wanted = exact(swing_of_four_bars(3), [0.5 * np.pi, -1.0], t)
    assert np.column_stack([angle, rate]) == pytest.approx(wanted, abs=1e-10)


def test_rods_of_another_size_fall_as_the_square_root_of_their_length():
    small, large = (n_four_bar.CASE.resolve({"length": x, "speed": x**0.5}) for x in (1.0, 4.0))
    t = np.linspace(0.0, 2.0, 9)
    assert n_four_bar.exact_crank(large, 2.0 * t)[0] == pytest.approx(n_four_bar.exact_crank(small, t)[0], abs=1e-12)
    _, found = run(n_four_bar, length=4.0, speed=2.0, mass=3.0, duration=4.0)
    assert found["motion_error"] < n_four_bar.CASE.figure_table["motion_error"].tolerance


# --- Bricard ----------------------------------------------------------------------------------------------------------


def test_closed_form_of_bricard_closes_the_loop():
    for odd in (-0.3, 0.4, 1.5, 3.0):
        places, attitudes, _ = bricard_reference.chain(odd)
        assert places[5] == pytest.approx(bricard_reference.CORNERS[5], abs=1e-15)
        # the last hinge is about x of the ground
        assert attitudes[4] @ [1, 0, 0] == pytest.approx([1, 0, 0], abs=1e-15)


def test_bricard_figures_are_those_of_the_quadrature():
    """60 Gauss points give 1e-11 s."""
    table = bricard.CASE.figure_table
    assert table["period"].expected == pytest.approx(bricard_reference.period(), abs=1e-11)
    expected = [table[f"P3_{axis}_end"].expected for axis in "xyz"]
    assert expected == pytest.approx(bricard_reference.third_hinge(10.0), abs=1e-11)


def test_bricard_passes_the_third_hinge_on_time():
    result, found = run(bricard, duration=2.2)
    assert found["pose_error"] < 1e-12
    for t in (0.7, 1.3, 2.2):
        place = result.outputs_at(np.array([t]))["P3"][0]
        assert place == pytest.approx(bricard_reference.third_hinge(t), abs=1e-9)


def test_bricard_of_twice_the_size_swings_as_the_square_root():
    """Width in proportion: the same motion, slower."""
    result, found = run(bricard, length=4.0, width=0.4, duration=10.0)
    assert found["period"] == pytest.approx(2.0 * bricard.CASE.figure_table["period"].expected, abs=1e-8)
    assert result.audit["energy_residual"] < 1e-11


@pytest.mark.parametrize(
    ("case", "given", "words"),
    [
        (n_four_bar, {"loops": 0}, "loops: 0"),
        (bricard, {"width": 0.0}, "width: 0"),
        (andrews_squeezer, {"rest": -1.0}, "rest: -1"),
    ],
)
def test_data_that_no_mechanism_has_are_refused(case, given, words):
    with pytest.raises(ModelError, match=words):
        case.CASE.resolve(given)


def crank_end(duration):
    """Angle of the rod, sines, stretch at the end of the rod, by pliant."""
    result, found = run(flexible_slider_crank, duration=duration)
    return result, [found[key] for key in ("rod_angle_end", "sine_1_end", "sine_2_end", "stretch_end")]


def test_flexible_slider_crank_moves_as_equations_of_another_derivation():
    """A tenth of the run: sums over Gauss points and SciPy, to the tolerance of both (1e-10 of 30 m/s over 0.01 s)."""
    wanted = FlexibleCrank().end(0.01)
    result, found = crank_end(0.01)
    assert result.is_ok
    assert np.abs(found - wanted[[0, 1, 2, 4]]).max() < 1e-9


@pytest.mark.long
def test_flexible_slider_crank_of_the_test_set_has_15_times_the_mass_in_its_stretch():
    """With that mass the equations give the printed solution, without it what pliant finds."""
    printed = [
        flexible_slider_crank.PRINTED[key] for key in ("rod_angle_end", "sine_1_end", "sine_2_end", "stretch_end")
    ]
    assert np.abs(FlexibleCrank(TEST_SET).end(0.1)[[0, 1, 2, 4]] - printed).max() < 1e-9
    assert np.abs(crank_end(0.1)[1] - FlexibleCrank().end(0.1)[[0, 1, 2, 4]]).max() < 1e-9
    assert abs(crank_end(0.1)[1][0] - printed[0]) == pytest.approx(6.85e-8, rel=0.01)


def test_flexible_slider_crank_has_its_expected_figures():
    found = run(flexible_slider_crank)[1]
    for key, row in flexible_slider_crank.FIGURES.items():
        assert row.expected is None or abs(found[key] - row.expected) <= row.tolerance, key

"""Stick-slip on a belt and Painleve's rod: what has a closed form, and what depends on the law alone."""

import json

import numpy as np
import pytest

import pliant
from command_line import pliant_command
from pliant.cases import painleve_rod, stick_slip_belt
from pliant.errors import ModelError


def run(case, **given):
    settings = case.CASE.resolve(given)
    result = pliant.simulate(case.build(settings), **case.CASE.run)
    assert result.status == "done", result.reason
    return result, case.CASE.figures_of(settings, result)


# --- belt -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [{}, {"mass": 3.0, "spring": 50.0, "mu_s": 0.5}, {"belt_speed": 0.3, "mu_k": 0.1}])
def test_belt_cycles_as_the_closed_forms(given):
    """Sticking begins at a speed of 1e-6 m/s: 1e-6 s early, or less."""
    exact = stick_slip_belt.cycle(stick_slip_belt.CASE.resolve(given))
    _, found = run(stick_slip_belt, **given)
    assert found["period"] == pytest.approx(exact.period, abs=1e-6)
    assert found["letting_go"] == pytest.approx(exact.middle + exact.lead, abs=1e-8)
    assert found["place_error"] < 1e-6


def test_the_period_is_off_by_the_speed_at_which_the_law_sticks():
    """In proportion: what is left is the law's, not the integration's."""
    exact = stick_slip_belt.cycle(stick_slip_belt.CASE.resolve({})).period
    off = [run(stick_slip_belt, stick_speed=v, duration=4.0)[1]["period"] - exact for v in (1e-5, 1e-6, 1e-8)]
    assert off[0] / off[1] == pytest.approx(10.0, rel=0.01)
    assert abs(off[2]) < 3e-9


def test_cycle_is_a_motion_without_jumps():
    exact = stick_slip_belt.cycle(stick_slip_belt.CASE.resolve({}))
    t = np.linspace(0.0, 2.0 * exact.period, 20001)
    speed = np.diff(exact.place(t)) / np.diff(t)
    # the slip begins and ends with the speed of the belt, and is never faster
    assert speed.max() == pytest.approx(exact.speed, rel=1e-9)
    assert exact.place(exact.slip_time) == pytest.approx(exact.middle - exact.lead, abs=1e-15)


def test_equal_coefficients_swing_with_the_natural_period():
    """The speeds touch as a parabola: it sticks sqrt(2 stick speed/(v w^2)) = 0.4 ms early, which the next slip makes
    up for but for the square of that."""
    _, found = run(stick_slip_belt, mu_s=0.2, duration=3.0)
    assert found["period"] == pytest.approx(0.2 * np.pi, abs=1e-5)


def test_less_static_than_kinetic_friction_is_refused():
    with pytest.raises(ModelError, match=r"mu_s: 0\.1 is below mu_k 0\.2"):
        stick_slip_belt.build(stick_slip_belt.CASE.resolve({"mu_s": 0.1}))


# --- Painleve's rod ---------------------------------------------------------------------------------------------------


def test_response_of_the_sliding_end_is_that_of_rigid_body_mechanics():
    """Push on the end of a free rod: 1 N along the normal with mu N along the ground."""
    settings = painleve_rod.CASE.resolve({"mass": 2.0, "length": 0.6})
    c, s = np.cos(1.0), np.sin(1.0)
    push = pliant.Load("rod", 2.0, 1.0)
    body = pliant.Body("rod", mass=2.0, shape=pliant.Rod(0.6))
    base = pliant.Base("planar", attitude=pliant.AxisAngle("z", 1.0))
    model = pliant.Model("rod", (body,), base=base, loads=(push,), gravity=(0, 0, 0))
    up = pliant.forward_dynamics(model, model.q0, model.v0)[1]
    assert up == pytest.approx(painleve_rod.normal_response(settings) / 2.0, abs=1e-12)
    assert painleve_rod.normal_response(settings) == pytest.approx(1.0 + 3.0 * c * (c - 2.0 * s))


def test_jam_is_an_impact_whose_force_belongs_to_the_stiffness():
    """Spin at the stop tends to Routh's; peak force grows as K^(2/5), time falls as K^(-1/4) here."""
    found = [run(painleve_rod, stiffness=K)[1] for K in (1e6, 1e8, 1e10)]
    limit = (1.0 - painleve_rod.STOPPED) * painleve_rod.jam(painleve_rod.DEFAULTS)[1]
    off = [abs(one["spin_at_stop"] - limit) for one in found]
    assert off[2] < off[1] < off[0] < 1e-4
    growth = found[2]["peak_force"] / found[1]["peak_force"]
    assert growth == pytest.approx(100.0**0.4, rel=0.02)
    assert found[2]["stop_time"] < 0.4 * found[1]["stop_time"] < 0.2 * found[0]["stop_time"]


def test_indeterminate_rod_lifts_off_or_jams_as_the_stiffness_wants():
    """It jams where K d^1.5 |response| exceeds what lifts it, d = approach^2/(2 free acceleration): 34 mm/s at 1e8."""
    lifts = run(painleve_rod, spin=8.0)[1]
    assert lifts["free_acceleration"] > 0.0 > lifts["normal_response"]
    assert lifts["peak_force"] == 0.0
    assert run(painleve_rod, spin=8.0, approach=0.02)[1]["peak_force"] < 100.0
    assert run(painleve_rod, spin=8.0, approach=0.1)[1]["peak_force"] > 1e3
    assert run(painleve_rod, spin=8.0, approach=0.02, stiffness=1e10)[1]["peak_force"] > 1e3


@pytest.mark.parametrize(
    ("given", "words", "trusted"),
    [
        ({}, "no solution", ["yes", "yes", "no"]),
        ({"spin": 8.0}, "two solutions", ["no", "yes", "no"]),
        ({"mu": 0.5}, "one solution", []),
    ],
)
def test_report_says_what_can_be_trusted(given, words, trusted):
    settings = painleve_rod.CASE.resolve(given)
    (finding,) = painleve_rod.summarise_run(pliant.simulate(painleve_rod.build(settings), 1e-3))
    assert words in finding.text
    assert [row[1] for row in finding.rows] == trusted


def test_stiffnesses_are_compared(tmp_path):
    done = pliant_command("run", "painleve-rod", "--set", "study=stiffness", "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert "neither is a property of the rod" in " ".join(done.stdout.split())
    found = json.loads((tmp_path / "out" / "summary.json").read_text())["figures"]
    assert found["peak_force"] < found["stiffness_1e8_peak_force"] < found["stiffness_1e10_peak_force"]
    assert (tmp_path / "out" / "result-stiffness-1e8.nc").exists()

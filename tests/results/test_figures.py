"""Figures of a run are those of its motion, not of the times at which it is looked at."""

import math

import numpy as np
import pytest

import pliant
from pliant import Body, Joint, Model
from pliant.cases.case import all_cases
from pliant.results.figures import extreme, figure_requests, grid, last_entry, switches


def oscillator(damping=0.0, duration=10.0):
    """x = exp(-d t) cos(w t) with w = 200 rad/s, but for terms of d / w: 320 swings in ten seconds."""
    joint = Joint("x", "prismatic", "mass", axis=(1, 0, 0), stiffness=4e4, damping=damping, q0=1.0)
    model = Model("oscillator", [Body("mass", 1.0, inertia=(1, 1, 1))], [joint], gravity=(0, 0, 0))
    return pliant.simulate(model, duration, rtol=1e-11, atol=1e-13)


def test_means_over_a_run_are_integrals():
    """mean cos^2 = (1 + sin(2 w T) / 2 w T) / 2; a sum over 2001 instants, six per swing, is 1e-3 off."""
    run = oscillator()
    angle = 200.0 * 10.0
    rms, mean = (one.value(run) for one in figure_requests(["rms(x)", "mean(x)"], run.model, 10.0))
    # rounding of the run grows with its swings: 320 times 1e-11
    assert rms == pytest.approx(math.sqrt(0.5 * (1.0 + math.sin(2 * angle) / (2 * angle))), abs=1e-8)
    assert mean == pytest.approx(math.sin(angle) / angle, abs=1e-8)


def test_switches_are_located_to_rounding():
    t = np.linspace(0.0, 10.0, 101)
    found = switches(t, lambda t: np.cos(3.0 * t) > 0.3)
    first = math.acos(0.3) / 3.0
    assert found[0] == pytest.approx(first, abs=1e-14)
    assert np.all(np.abs(np.cos(3.0 * found) - 0.3) < 1e-13)
    assert last_entry(t, lambda t: t > math.pi) == pytest.approx(math.pi, abs=1e-14)
    assert last_entry(t, lambda t: t < 20.0) == 0.0
    assert last_entry(t, lambda t: t < 5.0) == 10.0


def test_the_largest_value_is_that_of_the_highest_peak():
    """A peak between the times of the grid, beside one that is lower but has a time of the grid at its top."""
    run = oscillator(duration=1.0)
    t = grid(run)
    k = int(np.argmax(np.diff(t)[100:-100])) + 100
    hidden, seen = 0.5 * (t[k] + t[k + 1]), t[k + 40]
    width = 2.0 * (t[k + 1] - t[k])  # of the curves: at the times nearest to the top the higher one is 0.94

    def value(times):
        return np.exp(-(((times - hidden) / width) ** 2)) + 0.95 * np.exp(-(((times - seen) / width) ** 2))

    found, when = extreme(run, value)
    assert found == pytest.approx(1.0, abs=1e-12)
    assert when == pytest.approx(hidden, abs=1e-7)
    inside, _ = extreme(run, value, (float(t[k + 20]), 1.0))
    assert inside == pytest.approx(0.95, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "settings", "figure"),
    [
        ("flexible-arm-online", {"segments": 8}, "settling_time"),
        ("one-link-collision", {}, "slide_time"),
        ("slew", {}, "settling_time"),
    ],
)
def test_instants_of_cases_do_not_depend_on_the_grid(name, settings, figure, monkeypatch):
    case = all_cases()[name]
    chosen = case.resolve(settings)
    model = case.build(chosen)
    run = pliant.simulate(model, **{**case.run, **case.usual_options(chosen)})
    found = case.figures_of(chosen, run)[figure]
    monkeypatch.setattr("pliant.results.figures.GRID", 3163)
    # instants of a run, to its rounding
    assert case.figures_of(chosen, run)[figure] == pytest.approx(found, abs=1e-11)

"""Functions of time given in Python: the error stated bounds the one that is there, what is not smooth is found."""

import math

import numpy as np
import pytest

import pliant
from pliant import Body, Joint, Model, ModelError, Sine, sampled
from pliant.system.splines import table_pieces, values_at


def true_errors(table, exact):
    """Largest errors of value, rate and second derivative at places that sampling knows nothing of."""
    found = np.zeros(3)
    for times, coefficients in table_pieces(table):
        t = np.linspace(times[0], times[-1], 20011)[1:-1]
        found = np.maximum(found, np.abs(values_at(times, coefficients, t) - exact(t)).max(axis=1))
    return found


def sine(t):
    return np.array([np.sin(t), np.cos(t), -np.sin(t)])


def bell(t):
    """A narrow one, which needs its samples in a hundredth of the time."""
    x = (t - 3.1) / 0.02
    return np.exp(-(x**2)) * np.array([np.ones_like(x), -2 * x / 0.02, (4 * x**2 - 2) / 0.02**2])


def fast(t):
    """As many waves as first intervals: every one of the first samples is zero."""
    w = 32 * 2 * np.pi / 10.0
    return np.array([np.sin(w * t), w * np.cos(w * t), -(w**2) * np.sin(w * t)])


def trapezoid(t):
    rate = np.clip(np.minimum(t, 10.0 - t), 0.0, 2.0)
    value = np.where(t < 2, t**2 / 2, np.where(t < 8, 2 * t - 2, 16 - (10 - t) ** 2 / 2))
    return np.array([value, rate, np.where(t < 2, 1.0, np.where(t < 8, 0.0, -1.0))])


def jump(t):
    after = t >= 4.3
    return np.where(after, 2.0, 1.0) * np.array([np.cos(t), -np.sin(t), -np.cos(t)])


FUNCTIONS = {
    "sine": (sine, ()),
    "bell": (bell, ()),
    "fast": (fast, ()),
    "trapezoid": (trapezoid, (2.0, 8.0)),
    "jump": (jump, 4.3),
}


@pytest.mark.parametrize("tolerance", [1e-3, 1e-5, 1e-7])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_error_that_is_stated_bounds_the_true_one_and_is_below_what_was_asked_for(name, tolerance):
    exact, kinks = FUNCTIONS[name]
    table = sampled(lambda t: float(exact(np.array([t]))[0, 0]), 0.0, 10.0, tolerance=tolerance, kinks=kinks)
    found, stated = true_errors(table, exact), np.array(table.errors)
    sizes = np.abs(exact(np.linspace(0.0, 10.0, 20011))).max(axis=1)
    rounding = 1e-14 * sizes  # of the exact values themselves; second derivatives of trapezoids are sums of such
    assert np.all(found <= stated + rounding)
    assert np.all(stated <= 1.01 * tolerance * sizes)  # sizes are found at other places
    assert table.kinks == tuple(np.atleast_1d(kinks).tolist())
    assert (table.smooth, table.degree) == (True, 5)


def test_more_samples_stand_where_the_function_bends():
    times = np.array(sampled(lambda t: float(bell(np.array([t]))[0, 0]), 0.0, 10.0).times)
    assert np.mean(np.abs(times - 3.1) < 0.2) > 0.5  # 4 per cent of the time


def test_a_period_is_sampled_once_and_repeats_with_what_it_gains():
    table = sampled(lambda t: 2.0 * t + 0.3 * math.sin(4.0 * t), 0.0, math.pi / 2, repeats=True)
    assert (table.ends, table.repeats) == ("periodic", True)
    assert table.advance == pytest.approx(math.pi, abs=1e-15)
    body = Body("b", 1.0, inertia=(1, 1, 1))
    result = pliant.simulate(Model("m", (body,), (Joint("j", "revolute", "b", motion=table),)), 20.0)
    t = np.linspace(0.0, 20.0, 301)
    q, v = result.at(t)
    assert q[:, 0] == pytest.approx(2.0 * t + 0.3 * np.sin(4.0 * t), abs=1e-9)
    assert v[:, 0] == pytest.approx(2.0 + 1.2 * np.cos(4.0 * t), abs=1e-8)


def test_a_sampled_force_moves_a_robot_as_the_signal_of_the_same_function():
    body = Body("b", 1.0, com=(0.3, 0, 0), inertia=(1, 1, 1))
    drives = (sampled(lambda t: 2.0 * math.sin(5.0 * t), 0.0, 3.0), Sine(2.0, 5.0))
    models = [
        Model("m", (body,), (Joint("j", "revolute", "b", motor=drive),), gravity=(0, -9.81, 0)) for drive in drives
    ]
    ends = [pliant.simulate(model, 3.0).q[-1] for model in models]
    assert ends[0] == pytest.approx(ends[1], abs=3e-8)  # both runs within a few rtol = 1e-8


def test_a_sampled_function_is_saved_as_its_table(tmp_path):
    table = sampled(lambda t: 1.0 if t < 0.5 else 2.0 + t, 0.0, 1.0, kinks=0.5)
    body = Body("b", 1.0, inertia=(1, 1, 1))
    pliant.save_model(Model("m", (body,), (Joint("j", "revolute", "b", motor=table),)), tmp_path / "m.toml")
    assert pliant.load_model(tmp_path / "m.toml").joints[0].motor == table


def test_errors_are_part_of_the_text_of_the_table():
    assert "errors=(" in repr(sampled(math.sin, 0.0, 1.0))


def raises(t):
    return 1.0 / (t - 0.5)


WRONG = {
    "corner": (
        lambda t: abs(t - 0.3),
        "near t = 0.3\\d* s its second derivative is not smooth.*name that time in kinks",
    ),
    "jump": (lambda t: float(t > 0.7), "near t = 0.7\\d* s its second derivative is not smooth"),
    "acceleration": (
        lambda t: max(0.0, t - 0.4) ** 2,
        "near t = 0.4\\d* s its second derivative is not smooth",
    ),
    "root": (math.sqrt, "is not smooth"),
    "nan": (lambda t: math.nan if t > 0.5 else 0.0, "it returned nan; return a finite number"),
    "infinite": (lambda t: math.inf, "at t = 0 s it returned inf; return a finite number"),
    "large": (lambda t: 1e36, "return numbers up to 1e\\+35"),
    "shape": (lambda t: np.array([t]), r"at t = 0 s it returned shape \(1,\); return one number"),
    "text": (lambda t: "x", "it returned 'x'; return one number"),
    "nothing": (lambda t: None, "it returned None; return one number"),
    "complex": (lambda t: 1j, "return one number"),
    "exception": (raises, "function at t = 0.5 s failed in test_sampled.py, line .*: ZeroDivisionError"),
    "arguments": (lambda: 0.0, "TypeError"),
    "no function": (3.0, "give a function of time"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_smooth_function_of_time_is_refused(name):
    function, words = WRONG[name]
    with pytest.raises(ModelError, match=words):
        sampled(function, 0.0, 1.0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"end": 0.0}, "end 0 s is not after start 0 s"),
        ({"tolerance": 0.0}, "tolerance: 0.0 found; give a number above 1e-14 and below 0.1"),
        ({"tolerance": 1e-13}, "rounding of its values hides whether its derivatives are known to 1e-13"),
        ({"kinks": 1.0}, "kinks: 1 s is not between start 0 s and end 1 s"),
        ({"kinks": "later"}, "no time"),
        ({"kinks": 0.5, "repeats": True}, "a function that repeats may have none"),
        ({"kinks": (0.5, 0.5 + 1e-16, np.nextafter(0.5, 1.0))}, "too near to each other"),
        ({"repeats": "yes"}, "repeats"),
    ],
)
def test_options_of_sampling_are_checked(options, words):
    with pytest.raises(ModelError, match=words):
        sampled(math.exp, **{"start": 0.0, "end": 1.0, **options})


def test_a_function_that_needs_too_many_samples_says_what_to_do(monkeypatch):
    monkeypatch.setattr("pliant.engine.sampled.MAX_SAMPLES", 500)
    with pytest.raises(ModelError, match=r"samples do not describe it to 1e-07.*repeats=True"):
        sampled(lambda t: math.sin(100.0 * t), 0.0, 10.0)

"""optimise: known minima are found, by every method, within constraints, and what is no minimum is said to be none."""

import math

import numpy as np
import pytest

import pliant
from pliant import Body, Joint, Model, Output, Parameter
from pliant.errors import AccuracyWarning, ModelError, SimulationError


def shot(**values):
    """A point mass thrown at 10 m/s under an angle."""
    angle = values["angle"]
    ball = Body("ball", 1.0, inertia=(1.0, 1.0, 1.0))
    joints = [
        Joint("x", "prismatic", "carrier", v0=10.0 * math.cos(angle)),
        Joint("y", "prismatic", "ball", parent="carrier", axis=(0, 1, 0), v0=10.0 * math.sin(angle)),
    ]
    carrier = Body("carrier", 1e-9, inertia=(1.0, 1.0, 1.0))
    return Model("shot", [carrier, ball], joints, gravity=(0, -9.81, 0), outputs=[Output("ball", "ball", "position")])


def width(result):
    """Where it comes down again: x at t = 2 v sin(angle) / g."""
    t = 2.0 * result.v[0, 1] / 9.81
    return float(result.at(t)[0][0])


@pytest.mark.parametrize("method", ["nelder-mead", "slsqp", "cobyla", "global"])
def test_the_widest_shot_is_that_of_45_degrees(method):
    found = pliant.optimise(shot, {"angle": (0.2, 1.4)}, width, maximise=True, method=method, duration=2.05)
    # the width is flat about its maximum: 1e-6 of it is 1e-3 of the angle
    assert found.values["angle"] == pytest.approx(math.pi / 4, abs=1e-3)
    assert found.figure == pytest.approx(100.0 / 9.81, rel=1e-6)
    assert found.is_ok


@pytest.mark.parametrize("method", ["auto", "slsqp", "global"])
def test_a_constraint_is_met_with_its_sign(method):
    """Under a ceiling of 2 m the widest shot touches it: sin(angle) = sqrt(2 g h) / v."""
    limit = {"max(y)": (None, 2.0)}
    found = pliant.optimise(
        shot,
        {"angle": Parameter(0.2, 1.4, start=0.4)},
        width,
        maximise=True,
        method=method,
        duration=2.05,
        constraints=limit,
    )
    assert found.best.constraints[0] <= 2.0 + 1e-5
    assert math.sin(found.values["angle"]) == pytest.approx(math.sqrt(2 * 9.81 * 2.0) / 10.0, rel=1e-3)


def test_figures_by_name_are_those_of_certify():
    """The angle after which the height at 0.5 s is largest: straight up."""
    with pytest.warns(AccuracyWarning, match="angle at a bound"):
        found = pliant.optimise(shot, {"angle": (0.2, 1.4)}, "ball.y@0.5", maximise=True, duration=0.6)
    assert found.values["angle"] == pytest.approx(1.4, abs=1e-6)
    assert found.unit == "m"


def rastrigin(**values):
    """Many minima; the lowest at (0.5, 0.5)."""
    x = np.array(list(values.values())) - 0.5
    return float(10.0 * len(x) + np.sum(x * x - 10.0 * np.cos(2.0 * np.pi * x)))


def test_global_finds_the_lowest_of_many_minima_where_local_does_not():
    parameters = {"a": Parameter(-3.0, 3.0, start=2.4), "b": Parameter(-3.0, 3.0, start=-2.4)}
    near = pliant.optimise(rastrigin, parameters)
    lowest = pliant.optimise(rastrigin, parameters, method="global", max_runs=10_000)
    assert near.figure > 1.0
    assert lowest.figure == pytest.approx(0.0, abs=1e-6)
    assert list(lowest.values.values()) == pytest.approx([0.5, 0.5], abs=1e-4)
    assert np.all(np.diff(lowest.history) <= 0.0)


def test_the_same_seed_makes_the_same_runs_whatever_the_workers():
    parameters = {"a": (-3.0, 3.0), "b": (-3.0, 3.0)}
    one, two = (
        pliant.optimise(rastrigin, parameters, method="global", seed=4, workers=n, max_runs=10_000) for n in (1, 2)
    )
    assert [trial.values for trial in one.trials] == [trial.values for trial in two.trials]


def test_what_is_no_minimum_is_said_to_be_none():
    with pytest.warns(AccuracyWarning, match="max_runs = 12 were made before it came to an end") as caught:
        found = pliant.optimise(rastrigin, {"a": (-3.0, 3.0), "b": (-3.0, 3.0)}, method="global", max_runs=12)
    assert not found.is_ok
    assert len(caught) == 1


def test_optimum_says_itself():
    found = pliant.optimise(shot, {"angle": Parameter(0.2, 1.4, unit="rad")}, width, maximise=True, duration=2.05)
    assert "largest width = 10.19" in repr(found)
    assert found.table()[0][:3] == ("angle", f"{found.values['angle']:.6g}", "rad")
    assert found.model.name == "shot"
    assert found.result.t[-1] == 2.05
    assert found.plot().shape == (1, 2)
    assert found.citations[0]["reference"] == "nelder1965"
    assert found.summary["runs"] == len(found.trials)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: pliant.optimise(shot, {"angle": (0.2, 1.4)}, duration=1.0), "figure: none given"),
        (lambda: pliant.optimise(shot, {"angle": (0.2, 1.4)}, "ball.z@2", duration=1.0), "give a time from 0 to 1 s"),
        (lambda: pliant.optimise(shot, {"angle": (0.2, 1.4)}, "bal.y", duration=1.0), "no column 'bal.y'"),
        (lambda: pliant.optimise(rastrigin, {"a": (0.0, 1.0)}, "x"), "the function returns no Model"),
        (
            lambda: pliant.optimise(rastrigin, {"a": 0.0}, method="global"),
            "no bounds on both sides, which method='global'",
        ),
        (
            lambda: pliant.optimise(shot, {"angle": 0.3}, width, duration=2.05, constraints={"max(y)": 2.0}),
            "(low, high)",
        ),
        (
            lambda: pliant.optimise(
                shot, {"angle": 0.3}, width, duration=2.05, constraints={"max(y)": (0, 2)}, method="nelder-mead"
            ),
            "takes no constraints",
        ),
        (lambda: pliant.optimise(lambda a: "x", {"a": (0.0, 1.0)}), "what the function of the parameters returns"),
    ],
)
def test_mistake_gets_a_sentence(call, words):
    with pytest.raises((ModelError, SimulationError)) as caught:
        call()
    assert words in str(caught.value)

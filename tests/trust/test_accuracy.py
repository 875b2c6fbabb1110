"""simulate(accuracy=...): the motion itself is that exact, or the run says from when on it is not."""

import numpy as np
import pytest

import pliant
from pliant import Body, Frame, Joint, Model, ModelError, Rod

BODIES = [Body(name, mass=1.0, shape=Rod(0.5)) for name in "ab"]
JOINTS = [
    Joint("first", "revolute", "a", q0="100 deg"),
    Joint("second", "revolute", "b", parent=Frame("a", (0.5, 0, 0)), q0="30 deg"),
]
PENDULUM = Model("double", BODIES, JOINTS, gravity=(0, -9.81, 0), frames=[Frame("b", (0.5, 0, 0), name="tip")])
T = np.linspace(0.0, 2.0, 300)


def tip(result):
    return result.placements(T, ["tip"])[1][:, 0]


@pytest.mark.parametrize(("accuracy", "allowed"), [("1 mm", 1e-3), ("1 um", 1e-6), ("10 nm", 1e-8), (1e-6, 1e-6)])
def test_places_are_as_exact_as_asked_for(accuracy, allowed):
    best = tip(pliant.simulate(PENDULUM, 2.0, rtol=1e-13, atol=1e-15))
    found = pliant.simulate(PENDULUM, 2.0, accuracy=accuracy)
    error = np.max(np.linalg.norm(tip(found) - best, axis=1))
    assert found.is_ok
    assert error <= allowed
    assert error <= found.audit["length_error"] + 1e-12  # what the reference itself is worth
    assert found.settings["accuracy"] == accuracy


def test_angles_are_as_exact_as_asked_for():
    best = pliant.simulate(PENDULUM, 2.0, rtol=1e-13, atol=1e-15).at(T)[0]
    found = pliant.simulate(PENDULUM, 2.0, accuracy="0.001 deg")
    turned = np.abs(np.cumsum(found.at(T)[0], axis=1) - np.cumsum(best, axis=1))  # of the bodies against the world
    assert np.max(turned) <= np.radians(1e-3)


def test_a_looser_accuracy_costs_less():
    loose, tight = (pliant.simulate(PENDULUM, 2.0, accuracy=a).stats["evaluations"] for a in ("1 cm", "1 nm"))
    assert loose < 0.7 * tight


def test_beyond_the_horizon_it_fails_and_keeps_what_is_right():
    found = pliant.simulate(PENDULUM, 60.0, accuracy="1 um")
    assert found.status == "failed"
    assert "cannot be had" in found.reason
    end = found.t[-1]
    assert 1.0 < end < 60.0
    again = pliant.simulate(PENDULUM, float(end), rtol=1e-13, atol=1e-15, integrator="radau")
    assert np.max(np.abs(found.placements([end], ["tip"])[1] - again.placements([end], ["tip"])[1])) < 1e-5


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"accuracy": "1 mile"}, "1 mm"),
        ({"accuracy": 0.0}, "1 mm"),
        ({"accuracy": 2.0}, "below 1"),
        ({"accuracy": "nan"}, "1 mm"),
        ({"accuracy": True}, "1 mm"),
        ({"accuracy": "1 mm", "rtol": 1e-6}, "leave rtol out"),
        ({"accuracy": "1 mm", "atol": 1e-6}, "leave atol out"),
        ({"accuracy": "1 mm", "step": 1e-3}, "step is given"),
        ({"accuracy": "1 mm", "dense": False}, "dense=True"),
    ],
)
def test_wrong_calls(options, words):
    with pytest.raises(ModelError) as error:
        pliant.simulate(PENDULUM, 1.0, **options)
    assert words in str(error.value)

"""The sampled loop around a controller: delay, steps, limits and noise, against recursions worked out by hand."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import pliant
from controlled_models import MASS, PERIOD, slider, two_joints
from pliant import Body, Controller, Joint, Model


def pushed(x, v, force, h):
    """The double integrator after h seconds under a constant force."""
    a = force / MASS
    return x + v * h + a * h * h / 2, v + a * h


def states_at_samples(result, count):
    q, v = result.at(PERIOD * np.arange(count))
    return np.column_stack([q, v])


@pytest.mark.parametrize("periods", [0.0, 0.4, 1.0, 2.0, 2.5])
def test_delayed_feedback_is_the_exact_recursion_of_the_double_integrator(periods):
    """x' of one period: the command of n + 1 samples ago until the fraction of the delay, then that of n ago."""
    n_samples, whole = 40, int(periods)
    fraction = periods - whole

    def law(t, measured):
        x, v = measured["rail"]
        return -1.5 * x - 2.0 * v

    result = pliant.simulate(slider(law, delay=periods * PERIOD), n_samples * PERIOD)
    x, v, said, expected = 1.0, 0.3, [0.0] * (whole + 1), []
    for _ in range(n_samples):
        expected.append((x, v))
        said.append(-1.5 * x - 2.0 * v)
        x, v = pushed(x, v, said[-2 - whole], fraction * PERIOD)
        x, v = pushed(x, v, said[-1 - whole], (1 - fraction) * PERIOD)
    # polynomials of degree 2 are exact for the integrator: rounding alone, which feedback does not amplify much
    assert np.abs(states_at_samples(result, n_samples) - expected).max() < 1e-10
    assert np.abs(expected[-1]).max() > 1e-3


def test_limited_command_gives_the_parabola_of_bang_bang_motion():
    """Far from its goal a servo accelerates as hard as it may; then the recursion with a clipped command goes on."""

    def law(t, measured):
        x, v = measured["rail"]
        return 40.0 * (5.0 - x) - 30.0 * v

    result = pliant.simulate(slider(law, limit=3.0), 6.0)
    x, v, expected = 1.0, 0.3, []
    for _ in range(60):
        expected.append((x, v))
        x, v = pushed(x, v, min(max(40.0 * (5.0 - x) - 30.0 * v, -3.0), 3.0), PERIOD)
    # rounding alone, as above
    assert np.abs(states_at_samples(result, 60) - expected).max() < 1e-10
    assert np.abs(result.inputs).max() == 3.0
    t = np.linspace(0.0, 1.0, 7)
    assert result.at(t)[0][:, 0] == pytest.approx(1.0 + 0.3 * t + 0.75 * t**2, abs=1e-12)


def test_one_limit_per_command_and_a_wrong_number_of_them_is_refused():
    model = two_joints(lambda t, measured: [9.0, -9.0], limit=(2.0, 5.0))
    assert pliant.simulate(model, 0.1).inputs[0].tolist() == [2.0, -5.0]
    with pytest.raises(pliant.ModelError, match="limit has 3 values for 2 commands"):
        two_joints(lambda t, measured: [0.0, 0.0], limit=(1.0, 1.0, 1.0))


def test_steps_of_the_sensor_make_the_limit_cycle_of_exact_arithmetic():
    """A servo that sees quarters of a metre hunts around its goal: as many swings as fractions say, none lost."""
    step, period, n_samples = 0.25, 0.125, 400

    def law(t, measured):
        return -2.0 * measured["rail"][0]

    model = slider(law, (1.0037, 0.3171), period=period, resolution=step)
    result = pliant.simulate(model, n_samples * period)
    x, v, T, seen, expected = Fraction(1.0037), Fraction(0.3171), Fraction(1, 8), [], []
    for _ in range(n_samples):
        expected.append(float(x))
        # no state comes near half a step, where rounding could decide
        assert abs((x / Fraction(1, 4)) % 1 - Fraction(1, 2)) > Fraction(1, 10**6)
        seen.append(Fraction(1, 4) * round(x / Fraction(1, 4)))
        a = -2 * seen[-1] / Fraction(MASS)
        x, v = x + v * T + a * T * T / 2, v + a * T
    swings = [np.count_nonzero(np.diff(np.sign(values))) for values in (expected, states(result, period, n_samples))]
    assert swings[0] == swings[1] > 5
    assert set(np.unique(result.inputs)) == {float(-2 * value) for value in seen}


def states(result, period, count):
    return result.at(period * np.arange(count))[0][:, 0]


def test_encoder_counts_and_rates_by_differences_are_what_the_counts_say():
    """Angles are multiples of a revolution over the counts, the nearest; rates are differences over the period."""
    seen = []

    def law(t, measured):
        seen.append((t, *measured["hinge"]))
        return 0.0

    model = Model(
        "spin", gravity=(0, 0, 0), bodies=(Body("wheel", 1.0, inertia=(1, 1, 1)),),
        joints=(Joint("hinge", "revolute", "wheel", v0=1.7),),
        controllers=(Controller("c", 0.01, ("hinge",), law, counts=512, rates="differences"),),
    )  # fmt: skip
    pliant.simulate(model, 1.0)
    t, angle, rate = np.array(seen).T
    counts = angle / (2 * math.pi / 512)
    assert counts == pytest.approx(np.round(counts), abs=1e-9)
    assert np.abs(angle - 1.7 * t).max() <= math.pi / 512 * (1 + 1e-9)
    assert rate[0] == 0.0
    assert rate[1:] == pytest.approx(np.diff(angle) / 0.01, abs=1e-9)
    assert set(np.round(rate[1:] * 0.01 / (2 * math.pi / 512))) <= {1.0, 2.0}


def test_commands_come_in_steps():
    result = pliant.simulate(slider(lambda t, measured: 7 * t, command_resolution=0.5), 1.0)
    # 0.7 k at the samples k, to the nearest half
    assert np.unique(result.inputs).tolist() == [0.0, 0.5, 1.5, 2.0, 3.0, 3.5, 4.0, 5.0, 5.5, 6.5]


def noisy(seed, **more):
    seen = []

    def law(t, measured):
        seen.append((*measured["rail"],))
        return -measured["rail"][0]

    result = pliant.simulate(slider(law, noise=0.01, rate_noise=0.2, seed=seed, period=0.005, **more), 20.0)
    return np.array(seen), result


def test_noise_is_the_same_for_the_same_seed_and_as_strong_as_asked():
    seen, result = noisy(7)
    again, other = noisy(7), noisy(8)
    assert np.array_equal(seen, again[0])
    assert np.array_equal(result.q, again[1].q)
    assert not np.array_equal(seen, other[0])
    q, v = result.at(0.005 * np.arange(len(seen)))
    error = seen - np.column_stack([q, v])
    # the standard deviation of 4000 samples is known to 1/sqrt(8000) = 1.1 %: five of these
    assert error.std(axis=0) == pytest.approx([0.01, 0.2], rel=0.056)
    assert np.abs(error.mean(axis=0)) == pytest.approx([0, 0], abs=5 * 0.2 / math.sqrt(4000))


def test_held_commands_change_at_their_instants_only():
    """With a delay of 2.5 periods a command acts from k + 2.5 periods on, to the last bit."""
    result = pliant.simulate(slider(lambda t, measured: 1.0 + round(t / PERIOD), delay=0.25), 1.0)
    assert result.commands is not None
    t, held = result.commands.T
    expected = np.maximum(np.floor((t - 0.25) / PERIOD + 1e-9) + 1.0, 0.0)
    assert np.array_equal(held, expected)
    assert set(np.unique(held)) == {0.0, *range(1, 9)}


def test_commands_by_joint_name_are_those_in_order():
    by_name = pliant.simulate(two_joints(lambda t, measured: {"elbow": 2.0 * t, "shoulder": -1.0}), 0.3)
    in_order = pliant.simulate(two_joints(lambda t, measured: [-1.0, 2.0 * t]), 0.3)
    assert np.array_equal(by_name.q, in_order.q)


def test_outputs_in_the_loop_are_those_of_the_result_and_looking_changes_nothing():
    """Just before an instant the run has the same state and commands as what the controller is shown there."""
    seen = []

    def law(t, measured):
        seen.append((t, measured["tip"].copy(), measured.outputs["load"].copy(), measured.commands["elbow"]))
        return [5.0 * math.sin(20 * t), 1.0]

    result = pliant.simulate(two_joints(law), 0.3)
    blind = pliant.simulate(two_joints(lambda t, measured: [5.0 * math.sin(20 * t), 1.0]), 0.3)
    assert np.array_equal(result.q, blind.q)
    times = np.array([t for t, *_ in seen])
    found = result.outputs_at(times)
    # the same state from the dense output: rounding
    assert np.abs(found["tip"] - [tip for _, tip, *_ in seen]).max() < 1e-12
    before = result.outputs_at(times[1:] - 1e-12)["load"]
    # 1e-12 s earlier, at rates of some 1e3 N/s
    assert np.abs(before - [load for _, _, load, _ in seen[1:]]).max() < 1e-7
    assert [command.tolist() for *_, command in seen[:2]] == [[0.0], [1.0]]


def test_repeated_runs_start_without_old_commands():
    """A prepared run that is entered again has forgotten what was on its way."""
    run = pliant.prepare_run(slider(lambda t, measured: 1.0 - measured["rail"][0], delay=0.15), 0.5)
    first, again = run.end(), run.end()
    assert np.array_equal(first[0], again[0])


@pytest.mark.parametrize(
    ("law", "words"),
    [
        (lambda t, measured: {"elbow": 1.0}, "commands for 'elbow'; name all of 'shoulder', 'elbow'"),
        (lambda t, measured: {"elbow": 1.0, "shoulder": [1.0, 2.0]}, "for 'shoulder'; return 1 finite"),
        (lambda t, measured: {"elbow": "much", "shoulder": 1.0}, "return 2 finite numbers"),
        (lambda t, measured: [float("nan"), 0.0], "return 2 finite numbers"),
        (lambda t, measured: measured["knee"], "no joint 'knee'; there are shoulder, elbow and outputs tip, load"),
    ],
)
def test_wrong_commands_end_the_run_with_words(law, words):
    result = pliant.simulate(two_joints(law), 0.3)
    assert result.status == "failed"
    assert words in result.reason
    assert "at t = 0 s: controller 'servo'" in result.reason


def test_error_in_a_controller_names_the_line_of_the_controller():
    """Raised deep in numpy, the line shown is the user's own."""

    def law(t, measured):
        return np.linalg.inv(np.zeros((2, 2)))

    result = pliant.simulate(two_joints(law), 0.3)
    line = law.__code__.co_firstlineno + 1
    assert f"failed in test_controllers.py, line {line}: LinAlgError" in result.reason


def test_options_without_effect_are_refused():
    with pytest.raises(pliant.ModelError, match="have no effect"):
        slider(lambda t, measured: 0.0, rates="differences", rate_noise=1.0)
    with pytest.raises(pliant.ModelError, match="delay"):
        slider(lambda t, measured: 0.0, delay=-1.0)
    model = slider(lambda t, measured: 0.0)
    with pytest.raises(pliant.ModelError, match="seed"):
        replace(model.controllers[0], seed=-1)

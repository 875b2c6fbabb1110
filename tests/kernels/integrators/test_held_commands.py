"""Methods with a past under commands that are held over steps: sampled controllers, steppers, signals with kinks."""

import numpy as np
import pytest

import pliant
from pliant import PD, Body, Constant, Controller, Frame, Joint, Model, Rod, SegmentedBeam, Table, simulate

KP, KD = 300.0, 30.0
FORMULATIONS = ("articulated", "transfer_matrix")
WITH_A_PAST = ("houbolt", "wilson")


def arm(segments=20, period=None, motor=None):
    """A soft beam on a hub; the fastest of its modes turn by 40 rad in a millisecond."""
    beam = SegmentedBeam(1.0, segments, EI=20.0, rhoA=0.5, parent="hub", eta=1e-4)
    hold = () if period is None else (Controller("hold", period, ("hinge",), law=PD(KP, KD, reference=Constant(0.5))),)
    return Model(
        "arm", (Body("hub", 1.0, inertia=(0.1, 0.1, 0.1)), *beam.bodies),
        (Joint("hinge", "revolute", "hub", motor=motor), *beam.joints), gravity=(0.0, 0.0, 0.0), controllers=hold,
    )  # fmt: skip


@pytest.fixture(scope="module")
def exact():
    """Where the arm is after 0.2 s, by error control; 1e-8 is far below the errors of the steps."""
    return {period: simulate(arm(period=period), 0.2, rtol=1e-8, dense=False).q[-1] for period in (1e-3, 4e-3)}


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("name", WITH_A_PAST)
@pytest.mark.parametrize("period", [1e-3, 4e-3])
def test_methods_stable_at_every_step_stay_so_under_a_sampled_controller(name, formulation, period, exact):
    """Sampled at every step, and at every fourth: a shorter step divides the error by the square of what it is shorter
    by (a third of that where modes ring that no step resolves), as it does without a controller."""
    errors = []
    for step in (1e-3, 2.5e-4):
        how = {"integrator": name, "formulation": formulation, "step": step, "dense": False}
        run = simulate(arm(period=period), 0.2, **how)
        assert run.is_ok, run.reason
        errors.append(np.abs(run.q[-1] - exact[period]).max())
    assert errors[0] < 5e-3  # of 0.5 rad
    assert errors[1] < 3.0 / 16.0 * errors[0]


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("name", WITH_A_PAST)
@pytest.mark.parametrize("dt", [1e-3, 1.5e-3, 4e-3])
def test_steps_of_a_stepper_keep_the_past(name, formulation, dt):
    """Its caller closes the loop that the controller closes in simulate; 1.5 ms are steps of 1 and of 0.5 ms."""
    stepper = pliant.stepper(arm(), ["hinge"], integrator=name, formulation=formulation, step=1e-3)
    while stepper.t < 0.1 - 1e-9:
        q, v = stepper.state
        assert stepper.step(np.array([KP * (0.5 - q[0]) - KD * v[0]]), dt), stepper.reason
    # the last step may end beyond 0.1 s
    exact = simulate(arm(period=dt), stepper.t, rtol=1e-8, dense=False).q[-1]
    assert np.abs(stepper.q - exact).max() < 5e-3


def two_rods(period=1.0, **rest):
    rods = [Body(name, 1.0, shape=Rod(1.0)) for name in ("upper", "lower")]
    joints = [
        Joint("hinge", "revolute", "upper"),
        Joint("elbow", "revolute", "lower", Frame("upper", (1.0, 0.0, 0.0)), stiffness=50.0, damping=0.5),
    ]
    hold = Controller("hold", period, ("hinge",), law=PD(40.0, 5.0))
    return Model("rods", rods, joints, gravity=(0.0, -9.81, 0.0), controllers=(hold,), **rest)


@pytest.mark.parametrize("share", [1.5, 1.05, 0.7])
def test_houbolt_keeps_its_order_with_steps_of_changing_length(share):
    """Steps end on the samples of a controller: long ones and short ones in turn. Samples follow the steps, so that
    both runs go to one motion only as both steps go to zero."""
    errors = []
    for step in (2e-3, 1e-3):
        model = two_rods(period=share * step)
        exact = simulate(model, 0.3, rtol=1e-11, atol=1e-13, dense=False).q[-1]
        errors.append(np.abs(simulate(model, 0.3, integrator="houbolt", step=step, dense=False).q[-1] - exact).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.3)


@pytest.mark.parametrize("name", WITH_A_PAST)
def test_kinks_of_signals_keep_the_past(name):
    """A motor whose torque is a table with a time at every step, where steps end."""
    times = np.linspace(0.0, 0.2, 201)
    torque = Table(tuple(times), tuple(3.0 * np.sin(20.0 * times)))
    exact = simulate(arm(motor=torque), 0.2, rtol=1e-8, dense=False).q[-1]
    run = simulate(arm(motor=torque), 0.2, integrator=name, step=1e-3, dense=False)
    assert run.is_ok, run.reason
    assert np.abs(run.q[-1] - exact).max() < 5e-3


@pytest.mark.parametrize("name", WITH_A_PAST)
def test_a_held_command_that_does_not_change_changes_nothing(name):
    """A controller that commands nothing, sampled at every step: the motion without it, but for rounding of f."""
    idle = Controller("idle", 1e-3, ("hinge",), law=PD(0.0, 0.0))
    free = two_rods()
    still, bare = (Model("rods", free.bodies, free.joints, gravity=free.gravity, controllers=c) for c in ((idle,), ()))
    ends = [simulate(model, 0.2, integrator=name, step=1e-3, dense=False).q[-1] for model in (still, bare)]
    assert np.abs(ends[0] - ends[1]).max() < 1e-9


def test_stepper_goes_on_from_what_was_saved_to_the_last_bit():
    """The past of the method is in what is saved."""
    one = pliant.stepper(arm(5), ["hinge"], integrator="houbolt", step=1e-3)
    torque = [np.array([np.sin(0.3 * k)]) for k in range(40)]
    for k in range(20):
        one.step(torque[k], 1e-3)
    saved = one.save()
    for k in range(20, 40):
        one.step(torque[k], 1e-3)
    other = one.copy()
    other.restore(saved)
    for k in range(20, 40):
        other.step(torque[k], 1e-3)
    assert np.array_equal(one.q, other.q)
    assert np.array_equal(one.v, other.v)

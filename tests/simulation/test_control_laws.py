"""Compiled control laws: the same runs as the Python function that says the same; noise, threads, files, refusals."""

import math
from dataclasses import replace

import numpy as np
import pytest

import pliant
from controlled_models import PERIOD, slider, two_joints
from pliant import (
    PD,
    PID,
    Beam,
    Bending,
    ComputedTorque,
    Controller,
    Cycloid,
    Frame,
    Joint,
    LinearController,
    Material,
    Model,
    ModelError,
    Rectangle,
    Sine,
    StateFeedback,
    Step,
    Transmission,
)

LOOPS = {
    "plain": {},
    "delayed": {"delay": 0.024},
    "whole periods of delay": {"delay": 0.03},
    "coarse": {"counts": 512, "rate_resolution": 0.01, "command_resolution": 0.1},
    "differences": {"counts": 4096, "rates": "differences"},
    "limited": {"limit": (3.0, 1.5), "delay": 0.005},
}


def same(first, second):
    """To rounding: the same steps, states and commands. Sums in another order differ by some 1e-16 of 10 N m."""
    assert len(first.t) == len(second.t) > 20
    for name in ("t", "q", "v", "inputs"):
        assert getattr(first, name) == pytest.approx(getattr(second, name), abs=1e-11)
    assert np.abs(first.inputs).max() > 0.1


@pytest.mark.parametrize("loop", LOOPS)
def test_pd_is_the_python_function_that_says_the_same(loop):
    goal = Cycloid(0.0, 0.4, after=0.6)
    gains, rates = np.array([10.0, 3.0]), np.array([1.5, 0.3])

    def law(t, measured):
        x = 2 * math.pi * min(t / 0.4, 1.0)
        r, rate = 0.6 * (x - math.sin(x)) / (2 * math.pi), 0.6 * (1.0 - math.cos(x)) / 0.4
        return gains * (r - measured.q) + rates * (rate - measured.v)

    by_law = two_joints(None, law=PD(gains, rates, reference=goal), **LOOPS[loop])
    same(pliant.simulate(two_joints(law, **LOOPS[loop]), 0.5), pliant.simulate(by_law, 0.5))


def test_pid_sums_up_and_its_integral_stays_within_its_bound():
    sums, largest = np.zeros(2), []

    def law(t, measured):
        e = np.array([0.5, -0.2]) - measured.q
        said = 30.0 * e - 3.0 * measured.v + sums + 0.25
        sums[:] = np.clip(sums + 200.0 * 0.01 * e, -2.0, 2.0)
        largest.append(np.abs(sums).max())
        return said

    pid = PID(30.0, 3.0, 200.0, windup=2.0, reference=(0.5, -0.2), feedforward=0.25)
    same(pliant.simulate(two_joints(law), 0.5), pliant.simulate(two_joints(None, law=pid), 0.5))
    assert largest.count(2.0) > 3


def test_linear_controller_is_its_recursion():
    """A lead filter from the angle error to the torque, one state per joint, from a start of its own."""
    A, B = np.diag([0.7, 0.6]), np.hstack([np.eye(2), np.zeros((2, 2))])
    C, D = np.diag([12.0, 9.0]), np.hstack([-40.0 * np.eye(2), -0.5 * np.eye(2)])
    x = np.array([0.1, -0.2])

    def law(t, measured):
        e = np.concatenate([measured.q - 0.3, measured.v])
        said = C @ x + D @ e
        x[:] = A @ x + B @ e
        return said

    linear = LinearController(A, B, C, D, start=(0.1, -0.2), reference=0.3)
    same(pliant.simulate(two_joints(law), 0.4), pliant.simulate(two_joints(None, law=linear), 0.4))


# --- computed torque ----------------------------------------------------------------------------------------------

GOALS = (Cycloid(0.0, 0.4, after=0.6), Sine(amplitude=0.3, omega=5.0))


def goals(t):
    """Values of GOALS, their rates and accelerations."""
    x = 2 * math.pi * np.clip(t / 0.4, 0.0, 1.0)
    r = np.array([0.6 * (x - np.sin(x)) / (2 * math.pi), 0.3 * np.sin(5 * t)])
    rate = np.array([0.6 * (1.0 - np.cos(x)) / 0.4, 1.5 * np.cos(5 * t)])
    return r, rate, np.array([0.6 * 2 * math.pi * np.sin(x) / 0.4**2, -7.5 * np.sin(5 * t)])


def reaching(is_flexible, **control):
    """Two oblique links with gear, spring and damper in the joints."""
    modes = {"bending_y": Bending(2), "bending_z": Bending(2), "stretch": 1} if is_flexible else {}
    beams = [Beam(name, 0.5, Material(7e10, 2700.0), Rectangle(0.02, 0.03), **modes) for name in ("upper", "lower")]
    joints = [
        Joint("shoulder", "revolute", "upper", armature=0.01, gear=10.0, damping=0.2, stiffness=3.0),
        Joint(
            "elbow", "revolute", "lower", parent=Frame("upper", (0.5, 0, 0)), axis=(0, 1, 0.2), armature=0.01, v0=1.5
        ),
    ]
    options = {"period": 0.002, "joints": ("shoulder", "elbow")} | control
    return Model("arm", beams, joints, gravity=(0, -9.81, 0), controllers=[Controller("servo", **options)])


LAW = ComputedTorque((400.0, 900.0), (40.0, 60.0), reference=GOALS, feedforward=(0.02, 0.0))


@pytest.mark.parametrize("is_flexible", [False, True])
@pytest.mark.parametrize("loop", ["plain", "differences", "limited"])
def test_computed_torque_is_inverse_dynamics_of_the_rigid_arm(loop, is_flexible):
    """The same with pliant.inverse_dynamics of the twin whose links do not bend, as a Python function."""
    twin = pliant.prepare(replace(pliant.rigid_twin(reaching(is_flexible, law=LAW)), controllers=()))

    def law(t, measured):
        (q1, v1), (q2, v2) = measured["shoulder"], measured["elbow"]
        r, rate, acceleration = goals(t)
        q, v = np.array([q1, q2]), np.array([v1, v2])
        wanted = acceleration + np.array([40.0, 60.0]) * (rate - v) + np.array([400.0, 900.0]) * (r - q)
        return twin.inverse_dynamics(q, v, wanted, float(t)) / np.array([10.0, 1.0]) + np.array([0.02, 0.0])

    # equal steps, so that rounding changes none
    run = {"duration": 0.05, "integrator": "rk4", "step": 1e-5} if is_flexible else {"duration": 0.4}
    models = (reaching(is_flexible, **control, **LOOPS[loop]) for control in ({"function": law}, {"law": LAW}))
    same(*(pliant.simulate(model, **run) for model in models))


def test_computed_torque_follows_its_reference_as_the_period_shrinks():
    """A rigid arm that begins on its reference: its error is that of torques held for a period, of first order."""
    t = np.linspace(0.0, 0.5, 201)
    errors = []
    for period in (0.004, 0.002, 0.001):
        law = replace(LAW, feedforward=0.0)
        q, _ = pliant.simulate(reaching(False, law=law, period=period), 0.5).at(t)
        errors.append(np.abs(q - goals(t)[0].T).max())
    assert errors[2] < 3e-3
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(2.0, rel=0.1)


def test_under_computed_torque_a_flexible_arm_arrives_and_its_tip_shakes():
    """The joint arrives, but swings with the modes, which the law does not know."""
    law = ComputedTorque(900.0, 60.0, reference=Cycloid(0.0, 0.2, after=0.1))
    result = pliant.simulate(blade(law=law, period=0.001), 1.0)
    early, late = (np.abs(result.at(np.linspace(start, start + 0.3, 200))[0]).T for start in (0.3, 0.7))
    assert np.abs(late[0] - 0.1).max() < 0.01
    assert 1e-2 < late[1].max() < early[1].max()
    assert pliant.modes(result.model).is_stable


def test_computed_torque_of_a_flexible_joint_moves_motor_and_link_as_one():
    """A transmission that hardly gives is none: the same motion as with the rotor's inertia on the joint, to what the
    spring gives, torque / stiffness = 1e-7 rad."""

    def model(**joint):
        rod = pliant.Body("rod", 1.0, shape=pliant.Rod(0.5))
        servo = Controller("servo", 0.005, ("j",), law=ComputedTorque(100.0, 20.0, reference=GOALS[0]))
        hinge = Joint("j", "revolute", "rod", armature=0.002, gear=8.0, **joint)
        return Model("arm", [rod], [hinge], gravity=(0, -9.81, 0), controllers=[servo])

    stiff, plain = model(transmission=Transmission(1e8, 1e3)), model()
    found = [pliant.simulate(one, 0.3, integrator="radau").q[-1, -1] for one in (stiff, plain)]
    assert found[0] == pytest.approx(found[1], abs=1e-6)


def test_computed_torque_knows_prescribed_motion_and_not_what_pushes_from_outside():
    """A slide under the arm that accelerates as prescribed is taken into account; the arm stays on its reference."""

    def model(**joint):
        bodies = [pliant.Body("slide", 2.0, inertia=(1, 1, 1)), pliant.Body("rod", 1.0, shape=pliant.Rod(0.5))]
        slide = Joint("x", "prismatic", "slide", axis=(1, 0, 0), motion=Cycloid(0.0, 0.5, after=0.4))
        hinge = Joint("j", "revolute", "rod", parent="slide")
        servo = Controller("servo", 0.0005, ("j",), law=ComputedTorque(400.0, 40.0))
        load = pliant.Load(pliant.Frame("rod", (0.5, 0, 0)), y=2.0)
        return Model("arm", bodies, [slide, hinge], gravity=(0, -9.81, 0), controllers=[servo], loads=[load])

    alone = replace(model(), loads=())
    assert np.abs(pliant.simulate(alone, 0.5).q[:, 1]).max() < 1e-4
    # 2 N at 0.5 m against M stiffness: 1 N m / (1/12 kg m^2 x 400 /s^2)
    assert pliant.simulate(model(), 1.0).q[-1, 1] == pytest.approx(1.0 / (0.25 / 3 * 400.0), rel=1e-2)


def test_computed_torque_asks_for_every_joint_and_an_open_chain():
    with pytest.raises(
        ModelError, match="cannot know the acceleration of joint 'elbow', which moves freely; command it"
    ):
        two_joints(None, law=LAW, joints=("shoulder",))
    with pytest.raises(ModelError, match="computed torque takes no loops"):
        crank(law=ComputedTorque(1.0, 1.0))


def test_laws_of_flexible_joints_measure_the_motor_or_the_link():
    """PD on the motor's side, as the function that reads it there; or on the link's."""

    def model(**control):
        rod = pliant.Body("rod", 1.0, shape=pliant.Rod(0.5))
        hinge = Joint("j", "revolute", "rod", armature=0.002, gear=8.0, transmission=Transmission(300.0, 0.2))
        controller = Controller("servo", 0.005, ("j",), **control)
        return Model("arm", [rod], [hinge], gravity=(0, -9.81, 0), controllers=[controller])

    def by_hand(name):
        return lambda t, measured: 5.0 * (0.2 - measured[name][0]) - 0.2 * measured[name][1]

    for side, name in (("motor", "j.motor"), ("link", "j")):
        law = PD(5.0, 0.2, reference=0.2)
        found = pliant.simulate(model(law=law, encoders=side), 0.3)
        same(pliant.simulate(model(function=by_hand(name)), 0.3), found)
    with pytest.raises(ModelError, match='encoders = "link" has no effect on a function'):
        model(function=by_hand("j"), encoders="link")


def blade(**options):
    beam = Beam("blade", 1.0, Material(7e10, 2700.0), Rectangle(0.004, 0.03), bending_y=Bending(2))
    controller = Controller("servo", **{"period": 0.005, "joints": ("hinge",)} | options)
    hinge = Joint("hinge", "revolute", "blade", armature=0.02)
    return Model("blade", [beam], [hinge], gravity=(0, 0, 0), controllers=[controller])


def test_state_feedback_sees_the_modes_too():
    gain, x0 = np.array([[0.8, 1.0, -0.5, 0.1, 0.05, 0.02]]), np.array([0.2, 0.001, 0.0, 0.0, 0.0, 0.0])

    def law(t, measured):
        return 0.05 - gain @ (np.concatenate([measured.q, measured.v]) - x0)

    feedback = StateFeedback(gain, q=x0[:3], reference=0.0, feedforward=0.05)
    same(pliant.simulate(blade(function=law), 0.1), pliant.simulate(blade(law=feedback), 0.1))


def test_a_reference_that_jumps_at_a_sample_holds_from_that_sample_on():
    """3 x 0.1 is just above 0.3: rounding must not cost a period."""
    for k in range(1, 8):
        result = pliant.simulate(slider(None, law=PD(1e-9, reference=Step(k * 0.1, 1e9))), 1.0)
        held = [float(np.interp(0.1 * i + 0.05, result.t, result.inputs[:, 0])) for i in range(9)]
        assert [one > 0.5 for one in held] == [i >= k for i in range(9)]
        exact = pliant.simulate(slider(None, law=PD(1e-9, reference=Step(k / 10, 1e9))), 1.0)
        assert np.array_equal(exact.inputs, result.inputs)


def test_a_law_and_a_function_side_by_side():
    def own(t, measured):
        return -20.0 * measured["elbow"][0] - measured["elbow"][1]

    model = two_joints(None, law=PD(20.0, 1.0), joints=("shoulder",), delay=0.013)
    second = Controller("second", 0.007, ("elbow",), own, delay=0.02)
    mixed = replace(model, controllers=(*model.controllers, second))

    def shoulder(t, measured):
        return -20.0 * measured["shoulder"][0] - measured["shoulder"][1]

    first = replace(model.controllers[0], function=shoulder, law=None)
    # also where instants of the two differ by rounding, as 7 x 0.01 and 10 x 0.007
    same(pliant.simulate(mixed, 0.3), pliant.simulate(replace(model, controllers=(first, second)), 0.3))


def test_noise_is_normal_as_strong_as_asked_and_repeats_with_its_seed():
    """With unit gain and hardly any force the commands are what was measured."""
    tiny = 1e-12

    def run(seed):
        law = PD(tiny, tiny)
        model = slider(None, law=law, noise=0.5, rate_noise=2.0, seed=seed, period=0.005)
        return pliant.simulate(model, 50.0)

    result, again, other = run(3), run(3), run(4)
    assert np.array_equal(result.inputs, again.inputs)
    assert not np.array_equal(result.inputs, other.inputs)
    t = 0.005 * np.arange(10000)
    q, v = result.at(t)
    command = result.commands
    at_samples = command[np.searchsorted(command[:, 0], t + 1e-9, side="right") - 1, 1]
    noise = -at_samples / tiny - (q + v)[:, 0]
    # the sum of both; mean, deviation and fourth moment of 10000 samples are known to 1 %, 0.7 % and 5 %: five of these
    size = math.hypot(0.5, 2.0)
    assert abs(noise.mean()) < 0.05 * size
    assert noise.std() == pytest.approx(size, rel=0.036)
    assert np.mean(noise**4) == pytest.approx(3.0 * size**4, rel=0.25)
    # neighbours know nothing of each other
    assert abs(np.corrcoef(noise[1:], noise[:-1])[0, 1]) < 0.05


def test_a_sweep_in_threads_is_every_run_alone_to_the_last_bit():
    """States, delays and noise of one run are forgotten in the next."""
    law = PID(30.0, 3.0, 50.0, windup=2.0, reference=Cycloid(0.0, 0.2, after=0.4))
    model = two_joints(None, law=law, delay=0.025, noise=1e-3, rate_noise=0.01, seed=5)
    starts = np.random.default_rng(0).uniform(-1.0, 1.0, (12, 2))
    runs = pliant.simulate_many(model, 0.3, q0=starts, v0=np.zeros((12, 2)), workers=2)
    alone = [pliant.simulate(model, 0.3, q0=q, v0=[0.0, 0.0]) for q in starts]
    assert np.array_equal(runs.q, [one.q[-1] for one in alone])
    kept = pliant.simulate_many(model, 0.3, q0=starts[:2], v0=np.zeros((2, 2)), times=[0.1, 0.2], workers=2)
    assert np.array_equal(kept.q, runs.q[:2])
    run = pliant.prepare_run(model, 0.3)
    for k in (3, 4, 3):
        assert np.array_equal(run.end(starts[k], np.zeros(2))[0], runs.q[k])


def test_work_of_the_motor_is_in_the_energy_balance():
    result = pliant.simulate(two_joints(None, law=PD(30.0, 3.0, reference=0.5), delay=0.012), 0.5)
    assert result.energy["work_motor"][-1] > 1.0
    # quadratures with the tolerance of the run
    assert result.audit["energy_residual"] < 1e-8


@pytest.mark.parametrize("limit", [None, 3.0])
def test_a_law_that_runs_away_is_named(limit):
    """States that grow to inf - inf: no limit hides it."""
    law = LinearController(((1e30, -1e30), (1e30, 1e30)), ((1.0, 0), (0.5, 0)), ((1.0, 1.0),), ((0.0, 0.0),))
    result = pliant.simulate(slider(None, law=law, limit=limit), 5.0)
    assert result.status == "failed"
    assert "not finite" in result.reason
    if limit is not None:
        assert "'rail.command' is not finite, the law of its controller runs away" in result.reason


def test_implicit_integrators_sample_too():
    model = two_joints(None, law=PD(30.0, 3.0, reference=0.5), delay=0.012)
    explicit, implicit = (pliant.simulate(model, 0.3, integrator=name) for name in ("dop853", "radau"))
    assert explicit.q[-1] == pytest.approx(implicit.q[-1], abs=1e-7)


def test_laws_are_written_to_files_and_need_no_trust(tmp_path):
    laws = (
        PD((30.0, 20.0), 3.0, reference=(Cycloid(0.0, 0.4), 0.2)),
        PID(30.0, 3.0, 5.0, windup=(1.0, 2.0)),
        LinearController(((0.5,),), ((1.0, 0, 0, 0),), ((1.0,), (2.0,)), np.zeros((2, 4)), start=(0.1,)),
        StateFeedback(np.ones((2, 4)), q=(0.1, 0.2), feedforward=0.5 * Step(0.1)),
        ComputedTorque(400.0, (40.0, 30.0), reference=(Cycloid(0.0, 0.4), 0.2)),
    )
    for law in laws:
        model = two_joints(None, law=law)
        pliant.save_model(model, tmp_path / "arm.toml")
        assert pliant.load_model(tmp_path / "arm.toml") == model


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"law": PD((1.0, 2.0, 3.0))}, ["controller 'servo'", "law.stiffness has 3 values for 2 commands"]),
        ({"law": PD(1.0, reference=(1.0, 2.0, 3.0))}, ["law.reference has 3 values for 2 commands"]),
        ({"law": StateFeedback(((1.0, 2.0),))}, ["law.gain: 1 rows of 2 numbers found; give 2 rows of 4"]),
        ({"law": StateFeedback(np.ones((2, 4)), q=(1.0,))}, ["law.q has 1 values; the model has 2"]),
        ({"law": LinearController(*[((1.0,),)] * 4)}, ["law.B: 1 rows of 1 numbers found; give 1 rows of 4"]),
        ({"law": {"kind": "pdd"}}, ["'pdd'", "allowed: pd, pid, computed-torque, linear, state-feedback"]),
        ({"law": 3.0}, ["3.0 is no control law", "pd, pid, computed-torque, linear"]),
        ({}, ["neither a function nor a law; give one of them"]),
        ({"law": PD(1.0), "function": print}, ["both a function and a law; give one of them"]),
        ({"law": PD(1.0), "delay": 1e6}, ["more than 10000 periods"]),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(options, words):
    with pytest.raises(ModelError) as caught:
        two_joints(options.pop("function", None), **options)
    for word in words:
        assert word.replace("'pdd'", "pdd") in str(caught.value)


def test_laws_refuse_joints_whose_velocities_are_no_rates():
    ball = Model("ball", [pliant.Body("b", 1.0, inertia=(1, 1, 1))], [Joint("j", "spherical", "b")])
    with pytest.raises(ModelError, match="'j', whose velocities are no rates of coordinates; give a Python function"):
        replace(ball, controllers=(Controller("c", PERIOD, ("j",), law=PD(1.0)),))


def crank(**control):
    """A closed loop whose motor has a servo."""
    model = pliant.load("four-bar")
    name = model.links[0].joint.name
    joints = [replace(joint, motor=None, motion=None) if joint.name == name else joint for joint in model.joints]
    controller = Controller("servo", 0.005, (name,), **control, delay=0.002)
    return replace(model, joints=joints, controllers=(controller,)), name


def test_laws_hold_closed_loops_too():
    first = pliant.assemble(crank(law=PD(1.0))[0])[0][0]

    def law(t, measured):
        angle, rate = measured[crank(law=PD(1.0))[1]]
        return 30.0 * (first + 0.2 - angle) - 2.0 * rate

    found = [
        pliant.simulate(crank(**control)[0], 0.2)
        for control in ({"function": law}, {"law": PD(30.0, 2.0, reference=first + 0.2)})
    ]
    same(*found)


def test_laws_and_contacts_share_a_run():
    """A blade under a servo strikes a floor: events between samples, samples between events."""

    def model(**control):
        floor = pliant.Contact(
            "floor", pliant.NormalLaw("hertz", 1e5), pliant.Plane(normal=(0, 1, 0), offset=-0.002), points=("tip",)
        )
        return replace(
            blade(**control), gravity=(0, -9.81, 0), contacts=(floor,),
            frames=(pliant.Frame("blade", (1.0, 0, 0), name="tip"),),
        )  # fmt: skip

    def law(t, measured):
        return -8.0 * (measured["hinge"][0] + 0.1) - 0.5 * measured["hinge"][1]

    found = [pliant.simulate(model(**control), 0.15) for control in ({"function": law}, {"law": PD(8.0, 0.5, -0.1)})]
    assert len(found[0].contacts) > 0
    same(*found)

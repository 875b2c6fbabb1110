"""Controllers in linear models and modes: against SciPy's sampled systems, runs, and the same law in Python."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import block_diag
from scipy.signal import cont2discrete

import pliant
from controlled_models import two_joints
from pliant import (
    PD,
    PID,
    Beam,
    Bending,
    Body,
    ComputedTorque,
    Controller,
    Frame,
    Joint,
    LinearController,
    Load,
    Material,
    Model,
    ModelError,
    Rectangle,
    StateFeedback,
    Transmission,
)

PERIOD = 0.05


def cart(*controllers, stiffness=30.0, damping=0.5, **joint):
    """One oscillator: 2 kg on a spring."""
    return Model(
        "cart", gravity=(0, 0, 0), bodies=[Body("cart", 2.0, inertia=(1, 1, 1))],
        joints=[Joint("x", "prismatic", "cart", axis=(1, 0, 0), stiffness=stiffness, damping=damping, **joint)],
        controllers=controllers,
    )  # fmt: skip


def blade(*controllers, **joint):
    beam = Beam("blade", 1.0, Material(7e10, 2700.0), Rectangle(0.004, 0.03), bending_y=Bending(3))
    hinge = Joint("hinge", "revolute", "blade", armature=0.02, **joint)
    return Model("blade", [beam], [hinge], gravity=(0, 0, 0), controllers=controllers)


def poles(values):
    return np.sort_complex(np.asarray(values))


def test_a_pd_loop_is_scipys_sampled_system():
    A, B = np.array([[0.0, 1.0], [-15.0, -0.25]]), np.array([[0.0], [0.5]])
    Ad, Bd, *_ = cont2discrete((A, B, np.eye(2), np.zeros((2, 1))), PERIOD)
    model = cart(Controller("servo", PERIOD, ["x"], law=PD(40.0, 3.0)))
    closed = pliant.linearise(model, controllers=True, inputs=["x"], outputs=["x", "x.rate"])
    assert closed.period == PERIOD
    assert np.allclose(closed.A, Ad - Bd @ [[40.0, 3.0]], rtol=0, atol=1e-12)
    assert np.allclose(closed.B, Bd, rtol=0, atol=1e-13)
    assert np.allclose(closed.C, np.eye(2), rtol=0, atol=1e-14)
    z = np.linalg.eigvals(Ad - Bd @ [[40.0, 3.0]])
    found = pliant.modes(model)
    assert found.eigenvalues == pytest.approx([np.log(z[z.imag > 0][0]) / PERIOD], rel=1e-10)
    assert found.linear.period == PERIOD
    assert pliant.modes(model, controllers=False).frequencies == pytest.approx([math.sqrt(15.0)], rel=1e-10)


def test_whole_periods_of_delay_are_a_shift_register():
    """Robot and two commands on their way, put together by hand; with a law that has a state of its own."""
    A, B = np.array([[0.0, 1.0], [-15.0, -0.25]]), np.array([[0.0], [0.5]])
    Ad, Bd, *_ = cont2discrete((A, B, np.eye(2), np.zeros((2, 1))), PERIOD)
    a, b, c, d = 0.7, np.array([[1.0, 0.1]]), 3.0, np.array([[-20.0, -1.0]])
    law = LinearController(((a,),), b, ((c,),), d)
    model = cart(Controller("servo", PERIOD, ["x"], law=law, delay=2 * PERIOD))
    # x, law, oldest command, newer command: the oldest begins to act at the sample
    exact = np.block(
        [
            [Ad, np.zeros((2, 1)), Bd, np.zeros((2, 1))],
            [b, np.array([[a, 0.0, 0.0]])],
            [np.zeros((1, 4)), np.ones((1, 1))],
            [d, np.array([[c, 0.0, 0.0]])],
        ]
    )
    closed = pliant.linearise(model, controllers=True)
    assert closed.states == ("x", "x.rate", "servo.x1", "servo.x.waiting2", "servo.x.waiting1")
    assert np.allclose(closed.A, exact, rtol=0, atol=1e-12)


def test_part_of_a_period_of_delay_acts_in_two_pieces():
    """0 .. f the held command, f .. T the new one: the modified z-transform."""
    f, K = 0.02, np.array([[40.0, 3.0]])
    A, B = np.array([[0.0, 1.0], [-15.0, -0.25]]), np.array([[0.0], [0.5]])
    first, second = (cont2discrete((A, B, np.eye(2), np.zeros((2, 1))), h)[:2] for h in (f, PERIOD - f))
    exact = np.block([[second[0] @ first[0] - second[1] @ K, second[0] @ first[1]], [-K, np.zeros((1, 1))]])
    closed = pliant.linearise(cart(Controller("c", PERIOD, ["x"], law=PD(40.0, 3.0), delay=f)), controllers=True)
    assert closed.states[-1] == "c.x.held"
    assert np.allclose(closed.A, exact, rtol=0, atol=1e-12)


LOOPS = {
    "plain": {},
    "part of a period late": {"delay": 0.004},
    "late": {"delay": 0.023},
    "differences": {"rates": "differences", "delay": 0.01},
}


@pytest.mark.parametrize("loop", LOOPS)
def test_runs_of_small_motions_are_powers_of_the_sampled_matrix(loop):
    """Three flexible modes under a law; runs from small starts, with nothing on its way at first. Cubes of 1e-5 rad and
    the tolerance of the runs are far below 1e-6 of it."""
    model = blade(Controller("servo", 0.01, ["hinge"], law=PD(5.0, 0.6), **LOOPS[loop]))
    closed = pliant.linearise(model, np.zeros(4), controllers=True)
    x = np.zeros(len(closed.states))
    start = 1e-5 * np.array([1.0, 0.1, -0.05, 0.02, 2.0, 1.0, 0.5, 0.2])
    x[:8] = start
    if loop == "differences":
        # at the first sample the rate is 0: as if it had been there before
        x[closed.states.index("servo.hinge.before")] = start[0]
    run = pliant.simulate(model, 0.3, q0=start[:4], v0=start[4:], rtol=1e-11, atol=1e-16)
    for k in range(1, 31):
        x = closed.A @ x
        q, v = run.at(0.01 * k)
        found = np.concatenate([np.ravel(q), np.ravel(v)])
        assert found == pytest.approx(x[:8], abs=1e-6 * np.abs(x[:8]).max())


@pytest.mark.filterwarnings("ignore:energy appears")  # there is hardly any
def test_frequency_and_damping_are_those_of_a_run():
    """Identified from the states at the samples: the least-squares map from each to the next, and its eigenvalues. With
    1e-7 rad squares are 1e-7 of it, and rounding 1e-9."""
    model = two_joints(None, law=PD((60.0, 25.0), (3.0, 1.0), reference=(-0.4, 0.3)), period=0.02)
    found = pliant.modes(model)
    before, after = [], []
    for k in range(4):
        offset = 1e-7 * np.eye(4)[k]
        run = pliant.simulate(model, 0.4, q0=found.q + offset[:2], v0=offset[2:], rtol=1e-12, atol=1e-18)
        rows = [np.concatenate([*map(np.ravel, run.at(0.02 * i))]) - [*found.q, 0.0, 0.0] for i in range(21)]
        before += rows[:-1]
        after += rows[1:]
    step = np.linalg.lstsq(np.array(before), np.array(after), rcond=None)[0].T
    identified = np.log(np.linalg.eigvals(step).astype(complex)) / 0.02
    identified = identified[identified.imag >= 0.0]
    assert poles(found.eigenvalues) == pytest.approx(poles(identified), rel=1e-6)
    assert np.all(found.damping_ratios > 0.0)


def test_rest_is_that_under_the_controllers():
    """PD sags by its stiffness until its torque carries the arm; PID brings it to its reference."""
    sagged = pliant.modes(two_joints(None, law=PD(60.0, 3.0, reference=(-0.4, 0.3))))
    needed = pliant.inverse_dynamics(sagged.model, sagged.q, np.zeros(2), np.zeros(2))
    assert needed == pytest.approx(60.0 * (np.array([-0.4, 0.3]) - sagged.q), rel=1e-9)
    brought = pliant.modes(two_joints(None, law=PID(60.0, (3.0, 1.0), 80.0, reference=(-0.4, 0.3))))
    assert brought.q == pytest.approx([-0.4, 0.3], abs=1e-11)
    assert brought.is_stable
    run = pliant.simulate(brought.model, 3.0)
    assert run.q[-1] == pytest.approx(brought.q, abs=1e-3)


def test_at_a_state_given_an_integral_holds_what_it_can():
    """At the reference the integral carries the arm, so that the state is one of rest and nothing is said."""
    model = two_joints(None, law=PID(60.0, (3.0, 1.0), 80.0, reference=(-0.4, 0.3)))
    at_rest = pliant.modes(model)
    given = pliant.modes(model, [-0.4, 0.3])
    assert given.eigenvalues == pytest.approx(at_rest.eigenvalues, rel=1e-8)


def test_two_controllers_repeat_after_their_common_period():
    """A fast and a slow one on two carts that do not know each other: the poles of each alone."""
    first = cart(Controller("fast", 0.02, ["x"], law=PD(40.0, 3.0)))
    second = cart(Controller("slow", 0.03, ["x"], law=PD(10.0, 2.0), delay=0.01), stiffness=80.0)
    other = replace(second.joints[0], name="y", child="other")
    both = Model(
        "two", [*first.bodies, replace(second.bodies[0], name="other")], [*first.joints, other], gravity=(0, 0, 0),
        controllers=[first.controllers[0], replace(second.controllers[0], joints=("y",))],
    )  # fmt: skip
    closed = pliant.linearise(both, controllers=True)
    assert closed.period == pytest.approx(0.06)
    alone = [pliant.linearise(one, controllers=True) for one in (first, second)]
    powers = [np.linalg.matrix_power(one.A, count) for one, count in zip(alone, (3, 2), strict=True)]
    assert poles(closed.eigenvalues) == pytest.approx(poles(np.linalg.eigvals(block_diag(*powers))), abs=1e-12)
    found = np.concatenate([pliant.modes(one).eigenvalues for one in (first, second)])
    assert poles(pliant.modes(both).eigenvalues) == pytest.approx(poles(found), rel=1e-9)


def test_frequencies_beyond_half_the_sampling_frequency_are_not_folded():
    """A servo that hardly does anything leaves the blade its own frequencies, up to seven times that of its samples."""
    bare = pliant.modes(blade(stiffness=3.0, damping=0.01))
    period = 2.0 * np.pi / (bare.frequencies[-1] / 7.3)
    weak = blade(Controller("weak", period, ["hinge"], law=PD(1e-9, 1e-12)), stiffness=3.0, damping=0.01)
    found = pliant.modes(weak)
    assert found.eigenvalues == pytest.approx(bare.eigenvalues, rel=1e-7)
    assert found.frequencies[-1] * period > 7.0 * np.pi


def test_functions_are_differentiated():
    """Also with bends far from the state, and outputs of the model."""

    def law(t, measured):
        angle, rate = measured["shoulder"]
        tip = measured["tip"]
        return {"shoulder": np.clip(-60.0 * (angle + 0.4) - 3.0 * rate, -90, 90), "elbow": -50.0 * tip[1]}

    found = pliant.modes(two_joints(law, period=0.02))
    assert found.eigenvalues.real.min() < 0.0
    needed = pliant.inverse_dynamics(found.model, found.q, np.zeros(2), np.zeros(2))
    joints = [replace(joint, motor=force) for joint, force in zip(found.model.joints, needed, strict=True)]
    plant = pliant.linearise(replace(found.model, joints=joints, controllers=()), found.q).sampled(0.02)
    K = np.array([[60.0, 0.0, 3.0, 0.0], [*(50.0 * pliant.jacobian(found.model, found.q, "tip")[1]), 0.0, 0.0]])
    assert np.allclose(found.linear.A, plant.A - plant.B @ K, rtol=0, atol=1e-9)


def test_computed_torque_makes_every_joint_a_unit_mass():
    """Small errors of a rigid arm decay as e'' + damping e' + stiffness e = 0, sampled: poles by cont2discrete."""
    law = ComputedTorque((100.0, 225.0), (12.0, 18.0), reference=(-0.4, 0.3))
    found = pliant.modes(two_joints(None, law=law, period=0.01))
    assert found.q == pytest.approx([-0.4, 0.3], abs=1e-12)
    exact = []
    for k, c in ((100.0, 12.0), (225.0, 18.0)):
        Ad, Bd, *_ = cont2discrete((np.eye(2, k=1), np.eye(2)[:, 1:], np.eye(2), np.zeros((2, 1))), 0.01)
        z = np.linalg.eigvals(Ad - Bd @ [[k, c]])
        exact.append(np.log(z[z.imag > 0][0]) / 0.01)
    # gravity changes while the torque is held: of the order of period times gravity's stiffness
    assert poles(found.eigenvalues) == pytest.approx(poles(exact), rel=0.02)
    weightless = replace(two_joints(None, law=law, period=0.01), gravity=(0, 0, 0))
    assert poles(pliant.modes(weightless).eigenvalues) == pytest.approx(poles(exact), rel=1e-8)


def test_equal_joints_have_equal_modes_each():
    """Two joints with the same real poles: four motions, none lost as one of a pair."""
    law = ComputedTorque(400.0, 50.0, reference=(-0.4, 0.3))
    found = pliant.modes(replace(two_joints(None, law=law, period=0.01), gravity=(0, 0, 0)))
    assert len(found.eigenvalues) == 4
    assert np.all(found.eigenvalues.imag == 0.0)
    assert found.frequencies[::2] == pytest.approx(found.frequencies[1::2], rel=1e-7)
    assert np.linalg.matrix_rank(found.shapes[:, :2].real, tol=1e-3) == 2


def test_state_feedback_of_lqr_has_the_poles_of_its_design():
    """solve_discrete_are's own closed loop A - B K."""
    plain = blade()
    law = pliant.lqr(plain, "hinge", 0.002, weights=[100, 10, 10, 10, 1, 1, 1, 1], effort=0.1)
    sampled = pliant.linearise(plain, inputs=["hinge"]).sampled(0.002)
    z = np.linalg.eigvals(sampled.A - sampled.B @ np.array(law.gain))
    found = pliant.linearise(blade(Controller("lqr", 0.002, ["hinge"], law=law)), controllers=True)
    assert poles(found.eigenvalues) == pytest.approx(poles(z), abs=1e-9)


def test_a_servo_of_a_flexible_joint_turns_its_motor():
    """Two masses and a spring, the first under PD: the same with the motor as a body of its own."""
    flexible = cart(
        Controller("servo", 0.01, ["x"], law=PD(40.0, 3.0)), stiffness=0.0, damping=0.0, armature=1.5,
        transmission=Transmission(200.0, 0.4),
    )  # fmt: skip
    plain = Model(
        "plain", [Body("motor", 1.5, inertia=(1, 1, 1)), Body("cart", 2.0, inertia=(1, 1, 1))],
        [
            Joint("m", "prismatic", "motor", axis=(1, 0, 0)),
            Joint("x", "prismatic", "cart", axis=(1, 0, 0), parent="motor", stiffness=200.0, damping=0.4),
        ],
        gravity=(0, 0, 0), controllers=[Controller("servo", 0.01, ["m"], law=PD(40.0, 3.0))],
    )  # fmt: skip
    found = [poles(pliant.modes(model).eigenvalues) for model in (flexible, plain)]
    assert found[0] == pytest.approx(found[1], rel=1e-9)
    at_link = replace(flexible, controllers=[replace(flexible.controllers[0], encoders="link")])
    assert not pliant.modes(at_link).is_stable  # not where the motor is


def test_closed_mechanisms_have_servos_too():
    model = pliant.load("four-bar")
    name = model.links[0].joint.name
    joints = [replace(joint, motor=None, motion=None) if joint.name == name else joint for joint in model.joints]
    servo = Controller("servo", 0.002, (name,), law=PD(3000.0, 50.0, reference=0.4))
    found = pliant.modes(replace(model, joints=joints, controllers=(servo,)))
    assert found.is_stable
    start = found.motion(0, [0.0], 1e-5)[0]
    run = pliant.simulate(found.model, 0.02, q0=start, v0=np.zeros(len(found.v)), rtol=1e-11, atol=1e-15)
    closed = found.linear
    j = [found.model.velocities.index(state) for state in closed.states[: len(closed.states) // 2]]
    x = np.concatenate([(start - found.q)[j], np.zeros(len(j))])
    x = np.linalg.matrix_power(closed.A, 10) @ x
    assert (run.q[-1] - found.q)[j] == pytest.approx(x[: len(j)], abs=1e-4 * np.abs(x).max())


# --- refusals -----------------------------------------------------------------------------------------------------


def test_a_command_at_its_limit_is_a_kink_and_one_beyond_it_does_not_answer():
    held = cart(Controller("servo", PERIOD, ["x"], law=PD(40.0, 3.0, reference=1.0), limit=40.0))
    with pytest.raises(ModelError, match="kink: controller 'servo': the command of 'x' is just at its limit of 40"):
        pliant.linearise(held, [0.0], controllers=True)
    beyond = replace(held, controllers=[replace(held.controllers[0], limit=30.0)])
    with pytest.warns(UserWarning, match="'x' is beyond its limit, 40 > 30: it does not answer"):
        found = pliant.linearise(beyond, [0.0], controllers=True)
    assert np.allclose(found.A, pliant.linearise(beyond, [0.0]).sampled(PERIOD).A, rtol=0, atol=1e-12)


def test_a_function_at_a_kink_is_named():
    model = cart(Controller("bang", PERIOD, ["x"], lambda t, measured: -abs(measured.q[0])))
    with pytest.raises(ModelError, match="kink: the command of controller 'bang' changes its slope there"):
        pliant.modes(model, [0.0])


def test_a_function_that_remembers_is_refused():
    seen = []

    def law(t, measured):
        seen.append(measured.q[0])
        return -sum(seen)

    model = cart(Controller("sum", PERIOD, ["x"], law))
    with pytest.raises(ModelError, match=r"'sum': its function does not say the same .* controllers=False"):
        pliant.modes(model)
    assert len(pliant.modes(model, controllers=False).frequencies) == 1


def test_periods_without_a_common_multiple_are_refused():
    fast = cart(Controller("fast", 0.02, ["x"], law=PD(40.0, 3.0)))
    other = Joint("y", "prismatic", "other", axis=(1, 0, 0))
    controllers = [fast.controllers[0], Controller("odd", 0.02 * math.sqrt(2.0), ["y"], law=PD(1.0))]
    model = replace(
        fast, bodies=[*fast.bodies, Body("other", 1.0, inertia=(1, 1, 1))], joints=[*fast.joints, other],
        controllers=controllers,
    )  # fmt: skip
    with pytest.raises(ModelError, match=r"'fast' and 'odd': their periods .* no short common multiple"):
        pliant.modes(model)


def test_without_controllers_there_is_no_loop_to_close():
    with pytest.raises(ModelError, match="the model has none"):
        pliant.linearise(cart(), controllers=True)


def test_a_whole_state_is_fed_back():
    """StateFeedback on the modes, too: A - B K by hand."""
    K = np.array([[8.0, 20.0, -5.0, 3.0, 1.0, 0.4, 0.2, 0.1]])
    model = blade(Controller("servo", 0.005, ["hinge"], law=StateFeedback(K)))
    sampled = pliant.linearise(model, inputs=["hinge"]).sampled(0.005)
    assert np.allclose(pliant.linearise(model, controllers=True).A, sampled.A - sampled.B @ K, rtol=0, atol=1e-9)


def bending_arm(kp, kd, period, delay=0.0):
    blade = Beam("blade", 1.0, Material(7e10, 2700.0), Rectangle(0.005, 0.03), bending_y=2, damping=0.005)
    servo = Controller("servo", period, ("hub",), law=PD(kp, kd, reference=0.3), delay=delay)
    return Model("arm", [blade], [Joint("hub", "revolute", "blade")], gravity=(0, 0, 0), controllers=[servo])


@pytest.mark.parametrize(("kp", "kd", "period", "delay"), [(40, 2, 0.005, 0), (40, 2, 0.02, 0), (400, 20, 0.01, 0.004)])
def test_a_run_that_an_unstable_loop_has_bent_too_far_names_its_pole(kp, kd, period, delay):
    model = bending_arm(float(kp), float(kd), period, delay)
    values = pliant.modes(model).eigenvalues
    pole = values[np.argmax(values.real)]
    result = pliant.simulate(model, 2.0)
    assert result.status == "failed"
    assert "the sampled loop is unstable (controllers servo)" in result.reason
    assert f"grows by {pole.real:.4g} 1/s" in result.reason
    assert "pliant.modes(model)" in result.reason
    assert "stiffer section" not in result.reason


def test_bending_too_far_under_a_stable_loop_is_not_blamed_on_it():
    """The pull of a load, with gains that no sample makes unstable."""
    model = bending_arm(0.05, 0.001, 0.001)
    assert pliant.modes(model).is_stable
    pulled = replace(model, loads=[Load(Frame("blade", (1.0, 0, 0)), y=500.0)])
    with pytest.warns(pliant.AccuracyWarning):
        result = pliant.simulate(pulled, 2.0)
    assert "has grown beyond twice its length" in result.reason

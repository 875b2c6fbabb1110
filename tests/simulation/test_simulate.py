"""Whole runs: conservation laws, closed forms, agreement of formulations and integrators, honest failure."""

import math

import numpy as np
import pytest
from scipy.integrate import simpson

import pliant
from pliant import (
    Base,
    Body,
    Constant,
    Controller,
    Crossing,
    Cycloid,
    Frame,
    Joint,
    Limit,
    Load,
    Model,
    ModelError,
    Output,
    Ramp,
    Rod,
    Sine,
    Step,
    Table,
)
from pliant.methods import FORMULATIONS
from zoo import ZOO, adaptive_pairs, supporting

FORMULATION_NAMES = [row.name for row in FORMULATIONS]
FOR_TREES = [row.name for row in FORMULATIONS if "tree" in row.supports]
TIGHT = {"rtol": 1e-12, "atol": 1e-14}


def pendulum(**joint):
    """A point mass of 2 kg on a massless rod of 1 m, gravity -y, swinging about z from the horizontal."""
    return Model(
        "pendulum",
        gravity=(0, -9.81, 0),
        bodies=(Body("bob", 2.0, com=(1, 0, 0)),),
        joints=(Joint("hinge", "revolute", "bob", **joint),),
        duration=1.0,
    )


def test_pendulum_period_equals_elliptic_integral():
    from scipy.special import ellipk

    amplitude = 2.0
    model = Model(
        "pendulum",
        gravity=(0, -9.81, 0),
        bodies=(Body("bob", 2.0, com=(0, -1, 0)),),
        joints=(Joint("hinge", "revolute", "bob", q0=amplitude),),
        crossings=(Crossing("bottom", "hinge", direction="falling"),),
    )
    result = pliant.simulate(model, 12.0, **TIGHT)
    passes = [event.t for event in result.events]
    period = 4 * math.sqrt(1 / 9.81) * ellipk(math.sin(amplitude / 2) ** 2)
    assert np.diff(passes) == pytest.approx(period, abs=1e-10)
    assert result.audit["event_error"] < 1e-13


def test_damped_spring_follows_its_closed_form():
    """m x'' = -k (x - rest) - d x' on a slide."""
    k, d, m = 50.0, 2.0, 1.5
    model = Model(
        "slide",
        gravity=(0, 0, 0),
        bodies=(Body("cart", m),),
        joints=(Joint("slide", "prismatic", "cart", axis=(1, 0, 0), q0=0.3, stiffness=k, rest=0.1, damping=d),),
    )
    result = pliant.simulate(model, 3.0, **TIGHT)
    decay, omega = d / (2 * m), math.sqrt(k / m - (d / (2 * m)) ** 2)
    t = np.linspace(0, 3, 50)
    x = 0.1 + 0.2 * np.exp(-decay * t) * (np.cos(omega * t) + decay / omega * np.sin(omega * t))
    assert result.at(t)[0][:, 0] == pytest.approx(x, abs=1e-10)
    assert result.audit["energy_residual"] < 1e-10


def test_armature_and_gear_slow_the_joint_as_gear_squared():
    inertia, rotor, gear, torque = 0.5, 0.01, 10.0, 0.3
    model = Model(
        "drive",
        gravity=(0, 0, 0),
        bodies=(Body("wheel", 1.0, inertia=(inertia, inertia, inertia)),),
        joints=(Joint("shaft", "revolute", "wheel", armature=rotor, gear=gear, motor=Constant(torque)),),
    )
    result = pliant.simulate(model, 2.0)
    assert result.v[-1, 0] == pytest.approx(2.0 * gear * torque / (inertia + gear**2 * rotor), rel=1e-10)


@pytest.mark.parametrize("formulation", FOR_TREES)
@pytest.mark.parametrize("torques", ["none", "internal"])
def test_space_robot_keeps_momenta_and_energy(formulation, torques):
    """Linear and angular momentum, and energy minus work, over 10 s at rtol 1e-13 to 1e-12 of their scale."""
    from pliant.cases.case import all_cases

    case = all_cases()["space-robot"]
    model = case.build(case.resolve({"torques": torques}))
    figures = case.figures(pliant.simulate(model, formulation=formulation, **case.run))
    for name in ("linear_momentum_drift", "angular_momentum_drift", "energy_drift"):
        assert figures[name] < 1e-12


@pytest.mark.parametrize(("integrator", "formulation"), adaptive_pairs(FORMULATION_NAMES))
def test_every_pair_of_methods_moves_the_arm_alike(integrator, formulation):
    model = pliant.load("two-link-arm")
    reference, _ = pliant.simulate(model, 5.0, **TIGHT).at(5.0)
    q, _ = pliant.simulate(model, 5.0, formulation=formulation, integrator=integrator, rtol=1e-9, atol=1e-12).at(5.0)
    assert q == pytest.approx(reference, abs=1e-8)


@pytest.mark.parametrize(("integrator", "formulation"), adaptive_pairs(FOR_TREES))
@pytest.mark.parametrize("name", ["four_bar", "flexible_four_bar", "spatial_linkage", "pressed_foot", "sliding_puck"])
def test_every_pair_of_methods_moves_loops_and_contacts_alike(name, integrator, formulation):
    if formulation not in supporting(ZOO[name]):
        pytest.skip("not for flexible links")
    options = {"formulation": formulation, "integrator": integrator, "rtol": 1e-9, "atol": 1e-12}
    found, wanted = pliant.simulate(ZOO[name], 0.3, **options), pliant.simulate(ZOO[name], 0.3, rtol=1e-11, atol=1e-13)
    assert found.is_ok
    assert found.q[-1] == pytest.approx(wanted.q[-1], abs=1e-7)
    assert found.audit["energy_residual"] < 1e-8


def test_fixed_step_rk4_converges_to_the_same_motion():
    model = pliant.load("two-link-arm")
    reference, _ = pliant.simulate(model, 5.0, **TIGHT).at(5.0)
    q, _ = pliant.simulate(model, 5.0, integrator="rk4", step=1e-3).at(5.0)
    assert q == pytest.approx(reference, abs=1e-12)


def test_runs_are_bit_identical_when_repeated_and_when_prepared():
    model = pliant.load("ground-space")
    once, again = pliant.simulate(model), pliant.simulate(model)
    assert np.array_equal(once.q, again.q)
    run = pliant.prepare_run(model)
    assert repr(run) == f"<PreparedRun of {model.name!r}: {model.duration:g} s>"
    q, v = run.end()
    assert np.array_equal(q, run.end()[0])
    assert np.array_equal(q, once.q[-1])
    assert np.array_equal(v, once.v[-1])


def test_prescribed_motion_never_drifts_and_its_work_closes_the_balance():
    motion = Cycloid(0.0, 2.0, after=1.2) + 0.1 * Sine(omega=5.0)
    model = Model(
        "driven",
        gravity=(0, -9.81, 0),
        bodies=(Body("upper", 2.0, shape=Rod(1.0, 0.05)), Body("lower", 1.0, shape=Rod(0.8, 0.05))),
        joints=(
            Joint("shoulder", "revolute", "upper", motion=motion),
            Joint("elbow", "revolute", "lower", parent=Frame("upper", (1, 0, 0)), q0=0.3),
        ),
        outputs=(Output("torque", "shoulder", "drive"),),
    )
    result = pliant.simulate(model, 3.0, **TIGHT)
    t = result.t
    x = np.clip(t / 2.0, 0, 1)
    expected = 1.2 * (x - np.sin(2 * np.pi * x) / (2 * np.pi)) + 0.1 * np.sin(5 * t)
    assert result.q[:, 0] == pytest.approx(expected, abs=1e-14)
    assert result.audit["energy_residual"] < 1e-10
    row = len(t) // 2
    vdot = pliant.forward_dynamics(model, result.q[row], result.v[row], t=t[row])
    needed = pliant.inverse_dynamics(model, result.q[row], result.v[row], vdot, t=t[row])
    assert result.outputs["torque"][row, 0] == pytest.approx(needed[0], abs=1e-10)
    assert needed[1] == pytest.approx(0.0, abs=1e-10)


def test_base_switch_keeps_the_arm_and_frees_the_base():
    """In space the mass centre stays where it is; on the ground the base feels what moves the arm."""
    space = pliant.simulate(pliant.load("ground-space", base="floating"), rtol=1e-11)
    ground = pliant.simulate(pliant.load("ground-space", base="fixed"), rtol=1e-11)
    assert np.max(np.abs(space.outputs["base_reaction"])) < 1e-10
    assert np.max(np.abs(ground.outputs["base_position"])) == 0.0
    # the impulse of the ground is the momentum of the arm, at mid slew
    half = pliant.simulate(pliant.load("ground-space", base="fixed"), 2.0, rtol=1e-11, sample=1e-3)
    impulse = simpson(half.outputs["base_reaction"][:, :3], dx=1e-3, axis=0)
    gained = pliant.momentum(half.model, half.q[-1], half.v[-1]).linear
    assert np.linalg.norm(gained) > 1.0
    assert impulse == pytest.approx(gained, abs=1e-9)


def test_step_signal_acts_from_its_instant_only():
    """A unit force on a unit mass from t = 0.5 s: exact to rounding, because the kink is a step boundary."""
    model = Model(
        "pushed",
        gravity=(0, 0, 0),
        base="floating",
        bodies=(Body("puck", 1.0, inertia=(1, 1, 1)),),
        loads=(Load("puck", x=Step(0.5)),),
    )
    result = pliant.simulate(model, 2.0)
    assert result.q[-1, 0] == pytest.approx(0.5 * 1.5**2, abs=1e-14)
    assert result.at(0.5)[0][0] == pytest.approx(0.0, abs=1e-16)
    assert 0.5 in result.t
    assert result.audit["energy_residual"] < 1e-13


@pytest.mark.parametrize(
    ("signal", "value"),
    [
        (Constant(2.0), lambda t: 2.0 + 0 * t),
        (Ramp(0.5, 1.5, after=2.0, before=-1.0), lambda t: -1 + 3 * np.clip(t - 0.5, 0, 1)),
        (Sine(2.0, 3.0, 0.4, 1.0), lambda t: 1 + 2 * np.sin(3 * t + 0.4)),
        (Sine() * Sine(omega=2.0) + 3.0, lambda t: np.sin(t) * np.sin(2 * t) + 3),
        (2.0 - Sine(), lambda t: 2 - np.sin(t)),
        (Constant(0.0) * Sine() + 1.0, lambda t: 1.0 + 0 * t),
    ],
)
def test_motor_output_is_its_signal(signal, value):
    model = Model(
        "m", gravity=(0, 0, 0), bodies=(Body("a", 1.0, inertia=(1, 1, 1)),),
        joints=(Joint("j", "revolute", "a", motor=signal),), outputs=(Output("torque", "j", "motor"),),
    )  # fmt: skip
    result = pliant.simulate(model, 2.0, sample=0.05)
    assert result.outputs["torque"][:, 0] == pytest.approx(value(result.t), abs=1e-13)


def test_table_is_the_cubic_spline_and_chirp_sweeps_its_rate():
    from scipy.interpolate import CubicSpline

    times, values = (0.0, 0.3, 0.9, 1.4, 2.0), (0.0, 1.0, -0.5, 0.2, 0.0)
    table, chirp = Table(times, values), pliant.Chirp(end=1.5, omega1=10.0, omega0=2.0, start=0.5)
    model = Model(
        "m", gravity=(0, 0, 0), bodies=(Body("a", 1.0, inertia=(1, 1, 1)), Body("b", 1.0, inertia=(1, 1, 1))),
        joints=(Joint("j", "revolute", "a", motor=table), Joint("k", "revolute", "b", parent="a", motor=chirp)),
        outputs=(Output("table", "j", "motor"), Output("chirp", "k", "motor")),
    )  # fmt: skip
    result = pliant.simulate(model, 1.99, sample=0.01)
    assert result.outputs["table"][:, 0] == pytest.approx(CubicSpline(times, values)(result.t), abs=1e-12)
    t = result.t
    rate = 2.0 + 8.0 * np.clip(t - 0.5, 0, 1)
    phase = np.where(t < 0.5, 2 * (t - 0.5), np.where(t < 1.5, (2 + rate) / 2 * (t - 0.5), 6 + 10 * (t - 1.5)))
    assert result.outputs["chirp"][:, 0] == pytest.approx(np.sin(phase), abs=1e-12)


def test_smooth_motion_has_its_rate_where_its_table_ends():
    t = np.linspace(0.0, 1.0, 101)
    found = pliant.simulate(pendulum(motion=Table(tuple(t), tuple(t * (1.0 - t)), smooth=True)), 1.0)
    assert found.v[[0, -1], 0] == pytest.approx([1.0, -1.0], abs=1e-9)


def test_a_fast_oscillator_may_be_given_a_long_duration():
    slide = Joint("slide", "prismatic", "cart", axis=(1, 0, 0), q0=1e-3, stiffness=1e10)
    model = Model("fast", (Body("cart", 1.0),), (slide,), gravity=(0, 0, 0))
    found = pliant.simulate(model, 1e6, max_steps=3000, dense=False)
    assert "max_steps" in found.reason


@pytest.mark.parametrize("first", [0.0, -0.3, 0.2])
def test_table_that_repeats_is_the_periodic_signal_it_samples(first):
    period = 2.0 * np.pi / 5.0
    t = first + np.linspace(0.0, period, 2001)
    values = np.sin(5.0 * t)
    values[-1] = values[0]
    table = Table(tuple(t.tolist()), tuple(values.tolist()), smooth=True, repeats=True)
    ends = [
        pliant.simulate(pendulum(motor=motor), 6.0, rtol=1e-10, atol=1e-12).q[-1]
        for motor in (table, pliant.Sine(omega=5.0))
    ]
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)


def test_compliant_limit_bounces_as_a_spring():
    """A cart at speed v meets a stop of stiffness k: contact lasts pi sqrt(m/k), depth v sqrt(m/k)."""
    m, k, v = 2.0, 800.0, 1.5
    stop = Limit(upper=0.75, stiffness=k)
    model = Model(
        "stop", gravity=(0, 0, 0), bodies=(Body("cart", m),),
        joints=(Joint("slide", "prismatic", "cart", axis=(1, 0, 0), v0=v, limit=stop),),
        outputs=(Output("push", "slide", "limit"),),
    )  # fmt: skip
    result = pliant.simulate(model, 1.5, **TIGHT)
    begin, end = (event.t for event in result.events)
    assert begin == pytest.approx(0.5, abs=1e-13)
    assert end - begin == pytest.approx(math.pi * math.sqrt(m / k), abs=1e-11)
    middle = 0.5 * (begin + end)
    assert result.at(middle)[0][0] - 0.75 == pytest.approx(v * math.sqrt(m / k), abs=1e-11)
    assert result.v[-1, 0] == pytest.approx(-v, abs=1e-11)
    assert result.audit["energy_residual"] < 1e-11
    assert np.min(result.outputs["push"]) < -1.0


def test_damped_limit_takes_energy_and_never_pulls():
    stop = Limit(upper=0.75, stiffness=800.0, damping=20.0)
    model = Model(
        "stop", gravity=(0, 0, 0), bodies=(Body("cart", 2.0),),
        joints=(Joint("slide", "prismatic", "cart", axis=(1, 0, 0), v0=1.5, limit=stop),),
        outputs=(Output("push", "slide", "limit"),),
    )  # fmt: skip
    result = pliant.simulate(model, 1.5, rtol=1e-10)
    assert np.max(result.outputs["push"]) <= 0.0
    assert 0.3 < -result.v[-1, 0] < 1.4
    assert result.audit["energy_residual"] < 1e-8


def test_hard_limit_ends_the_run_with_a_reason():
    result = pliant.simulate(pendulum(limit=Limit(lower=-1.0)), 5.0)
    assert result.status == "stopped"
    assert "lower limit" in result.reason
    assert result.q[-1, 0] == pytest.approx(-1.0, abs=1e-12)
    assert result.t[-1] < 5.0


def test_stop_crossing_of_a_frame_and_of_a_rate():
    model = Model(
        "fall", bodies=(Body("ball", 1.0, inertia=(1, 1, 1)),), base=Base("floating", position=(0, 0, 2.0)),
        crossings=(Crossing("speed", "ball.vz.rate", value=-4.0), Crossing("floor", "ball.z", action="stop")),
    )  # fmt: skip
    result = pliant.simulate(model, 5.0)
    assert [event.name for event in result.events] == ["speed", "floor"]
    assert result.events[0].t == pytest.approx(4.0 / 9.81, abs=1e-12)
    assert result.t[-1] == pytest.approx(math.sqrt(4.0 / 9.81), abs=1e-12)


@pytest.mark.parametrize("n", [5, 8])
def test_recorded_crossing_of_a_joint_at_rest_fires_at_no_rounding(n):
    """A free robot falls as a whole: its joints rest at their ends but for rounding, which passes them to and fro."""
    links = (Body(f"l{k}", 0.4 + 0.13 * k, com=(0.11, 0.03 * k, -0.07), inertia=(1e-3, 2e-3, 2.2e-3)) for k in range(n))
    joint_frames = [Frame("hull" if k % 3 == 0 else f"l{k - 1}", (0.21, -0.13, 0.17)) for k in range(n)]
    model = Model(
        "falling", bodies=(Body("hull", 7.3, inertia=(0.31, 0.27, 0.19)), *links), base="floating",
        joints=[Joint(f"j{k}", "revolute", f"l{k}", joint_frames[k], axis=(0.3, 0.8, 0.1 * k)) for k in range(n)],
        crossings=[Crossing(f"end{k}", f"j{k}", 0.0, "rising") for k in range(n)],
    )  # fmt: skip
    result = pliant.simulate(model, 0.5, rtol=1e-6)
    assert result.status == "done", result.reason
    assert not result.events


@pytest.mark.parametrize(("torque", "direction"), [(2.0, "rising"), (-2.0, "falling")])
def test_joint_that_leaves_its_end_is_recorded_when_it_does(torque, direction):
    """At rest on the crossing until the motor begins: the crossing is there, not where it is first noticed."""
    shaft = Model(
        "shaft", gravity=(0, 0, 0), bodies=(Body("rotor", 1.0, inertia=(1, 1, 1)),),
        joints=(Joint("hinge", "revolute", "rotor", motor=Step(0.5, torque)),),
        crossings=(Crossing("off", "hinge", 0.0, direction),),
    )  # fmt: skip
    result = pliant.simulate(shaft, 1.0)
    assert [(event.t, event.direction) for event in result.events] == [(0.5, direction)]


def test_controller_is_held_between_its_samples():
    """A torque of k for k periods: v after n periods is the sum, exactly."""
    calls = []

    def law(t, measured):
        calls.append((t, measured["shaft"]))
        return len(calls)

    model = Model(
        "sampled", gravity=(0, 0, 0), bodies=(Body("wheel", 1.0, inertia=(2, 2, 2)),),
        joints=(Joint("shaft", "revolute", "wheel"),), controllers=(Controller("c", 0.1, ("shaft",), law),),
        outputs=(Output("torque", "shaft", "motor"),),
    )  # fmt: skip
    result = pliant.simulate(model, 1.0)
    assert [t for t, _ in calls] == pytest.approx(np.arange(10) * 0.1, abs=1e-15)
    assert result.v[-1, 0] == pytest.approx(0.1 * sum(range(1, 11)) / 2.0, abs=1e-12)
    assert calls[-1][1][1] == pytest.approx(0.1 * sum(range(1, 10)) / 2.0, abs=1e-12)
    assert set(result.outputs["torque"][:, 0]) == set(range(1, 11))
    assert result.audit["energy_residual"] < 1e-12


def test_two_controllers_keep_their_own_periods():
    seen = {"fast": 0, "slow": 0}

    def count(name):
        def law(t, measured):
            seen[name] += 1
            return 0.0

        return law

    model = Model(
        "two", gravity=(0, 0, 0), bodies=(Body("a", 1.0, inertia=(1, 1, 1)), Body("b", 1.0, inertia=(1, 1, 1))),
        joints=(Joint("j", "revolute", "a"), Joint("k", "revolute", "b", parent="a")),
        controllers=(Controller("f", 0.01, ("j",), count("fast")), Controller("s", 0.03, ("k",), count("slow"))),
    )  # fmt: skip
    pliant.simulate(model, 0.3)
    assert seen == {"fast": 30, "slow": 10}


def test_failing_controller_keeps_what_was_reached():
    def law(t, measured):
        return 1.0 / (t - 0.5) if t < 0.45 else [1.0, 2.0]

    model = pendulum()
    model = Model("x", bodies=model.bodies, joints=model.joints, controllers=(Controller("c", 0.1, ("hinge",), law),))
    result = pliant.simulate(model, 1.0)
    assert result.status == "failed"
    assert "controller" in result.reason
    assert "1 finite" in result.reason
    assert result.t[-1] == pytest.approx(0.5)


def test_ball_spring_swings_and_keeps_energy():
    """Anisotropic spring on a ball joint: conservative for any attitude."""
    model = Model(
        "wobble", gravity=(0, 0, -9.81), bodies=(Body("top", 1.0, com=(0.1, 0.2, 0.3), inertia=(0.1, 0.2, 0.25)),),
        joints=(Joint("ball", "spherical", "top", v0=(3.0, -2.0, 1.0), stiffness=(5.0, 8.0, 3.0)),),
    )  # fmt: skip
    result = pliant.simulate(model, 5.0, **TIGHT)
    assert result.audit["energy_residual"] < 1e-10
    assert np.max(result.energy["elastic"]) > 1.0


def test_free_top_keeps_spin_momentum_and_unit_quaternion():
    model = Model(
        "top", gravity=(0, 0, 0), bodies=(Body("top", 1.0, inertia=(0.1, 0.2, 0.25)),),
        base=Base("floating", angular_velocity=(0.01, 5.0, 0.02)),
    )  # fmt: skip
    result = pliant.simulate(model, 30.0, rtol=1e-12, atol=1e-14)
    assert result.audit["momentum_drift"] < 1e-11
    assert result.audit["constraint_drift"] < 1e-15
    assert np.max(np.abs(np.linalg.norm(result.at(np.linspace(0, 30, 777))[0][:, 3:], axis=1) - 1)) < 1e-15


def test_sampled_rows_equal_dense_output_and_energies_match():
    model = pliant.load("two-link-arm")
    result = pliant.simulate(model, 2.0, sample=0.01)
    assert result.t == pytest.approx(np.arange(201) * 0.01)
    assert np.array_equal(result.q, result.at(result.t)[0])
    one = pliant.energy(model, result.q[100], result.v[100])
    assert result.energy["kinetic"][100] == pytest.approx(one.kinetic, rel=1e-14)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"duration": -1.0}, ["duration", "-1.0", "above 0"]),
        ({"rtol": -1e-8}, ["rtol", "above"]),
        ({"atol": 0.0}, ["atol"]),
        ({"rtol": float("nan")}, ["rtol"]),
        ({"step": 0.0}, ["step"]),
        ({"integrator": "dopri"}, ["dopri5", "did you mean"]),
        ({"formulation": "kane"}, ["articulated", "boltzmann_hamel"]),
        ({"integrator": "rk4"}, ["rk4", "fixed step", "step=0.001"]),
        ({"q0": [0.0]}, ["q", "(1,)", "(2,)", "psi1"]),
        ({"v0": [0.0, np.inf]}, ["v", "psi2", "inf"]),
        ({"sample": 0.1, "dense": False}, ["dense"]),
        ({"max_steps": 0}, ["max_steps"]),
    ],
)
def test_bad_options_say_what_is_allowed(options, words):
    with pytest.raises(ModelError) as caught:
        pliant.simulate(pliant.load("two-link-arm"), **options)
    for word in words:
        assert word in str(caught.value)


def test_table_that_ends_inside_the_run_is_refused_as_a_motion():
    model = pendulum(motion=Table((0.0, 0.5, 1.0), (0.0, 1.0, 3.0)))
    with pytest.raises(ModelError, match="clamped"):
        pliant.simulate(model, 2.0)
    assert pliant.simulate(pendulum(motion=Table((0.0, 0.5, 1.0), (0.0, 1.0, 3.0), "clamped")), 2.0).is_ok


def test_runaway_returns_what_it_has():
    """Too few steps is a reason, not an exception."""
    result = pliant.simulate(pliant.load("two-link-arm"), 30.0, max_steps=5)
    assert result.status == "failed"
    assert "max_steps" in result.reason
    assert len(result.t) == 6
    assert np.all(np.isfinite(result.q))


def test_at_refuses_times_outside_and_missing_dense():
    model = pliant.load("two-link-arm")
    result = pliant.simulate(model, 1.0)
    for t in (-0.1, 1.1, float("nan")):
        with pytest.raises(ModelError):
            result.at(t)
    with pytest.raises(ModelError, match="dense"):
        pliant.simulate(model, 1.0, dense=False).at(0.5)


def test_zero_quaternion_in_a_state_is_refused():
    model = pliant.load("space-robot")
    q = model.q0
    q[3:7] = 0.0
    with pytest.raises(ModelError, match="quaternion"):
        pliant.forward_dynamics(model, q, model.v0)


# --- starts and ends that are easy to get wrong ----------------------------------------------------------------------


def block_on_stop(**joint):
    """A block of 1 kg that gravity presses onto a stop of 1e4 N/m at z = 0."""
    limit = joint.pop("limit", Limit(lower=0.0, stiffness=1e4, damping=10.0))
    return Model(
        "block", bodies=(Body("block", 1.0),), joints=(Joint("slide", "prismatic", "block", limit=limit, **joint),)
    )


@pytest.mark.parametrize("start", [{}, {"v0": -1.0}, {"q0": 1e-12}, {"q0": -1e-3}])
def test_block_that_starts_on_its_stop_comes_to_rest_on_it(start):
    """Depth at rest is m g / k, wherever near the bound the run begins."""
    result = pliant.simulate(block_on_stop(**start), 5.0)
    assert result.q[-1, 0] == pytest.approx(-9.81 / 1e4, rel=1e-6)
    assert result.audit["energy_residual"] < 1e-6


def test_stop_at_the_start_holds_against_a_later_push():
    model = Model(
        "push", gravity=(0, 0, 0), bodies=(Body("block", 1.0),),
        joints=(Joint("slide", "prismatic", "block", motor=Step(1.0, after=-2.0),
                      limit=Limit(lower=0.0, stiffness=1e4, damping=50.0)),),
    )  # fmt: skip
    assert pliant.simulate(model, 5.0).q[-1, 0] == pytest.approx(-2.0 / 1e4, rel=1e-6)


@pytest.mark.parametrize("v0", [0.0, -1.0])
def test_hard_limit_at_the_start_stops_at_once(v0):
    result = pliant.simulate(block_on_stop(limit=Limit(lower=0.0), v0=v0), 1.0)
    assert result.status == "stopped"
    assert result.q[-1, 0] == pytest.approx(0.0, abs=1e-9)


def test_start_beyond_a_hard_limit_is_refused_wherever_it_comes_from():
    model = block_on_stop(limit=Limit(lower=0.0), q0=0.5)
    with pytest.raises(ModelError, match="beyond its limit"):
        pliant.simulate(model, 1.0, q0=[-0.5])
    with pytest.raises(ModelError, match="beyond its limit"):
        pliant.prepare_run(model, 1.0).end(np.array([-0.5]))


def test_tiny_errors_do_not_underflow_into_a_failure():
    """A straight chain under gravity: far links accelerate by less than the square root of the smallest number."""
    model = pliant.load("long-chain", bodies=300, bend=0.0)
    result = pliant.simulate(model, 0.01)
    assert result.status == "done"
    assert result.stats["rejected"] < 20


@pytest.mark.parametrize("said", [float("nan"), None, [1.0, 2.0, 3.0], "text"])
def test_controller_that_fails_at_once_leaves_the_start(said):
    model = Model(
        "c", bodies=(Body("a", 1.0, inertia=(1, 1, 1)),), joints=(Joint("j", "revolute", "a"),),
        controllers=(Controller("pilot", 0.1, ("j",), lambda t, measured: said),),
    )  # fmt: skip
    result = pliant.simulate(model, 1.0)
    assert result.status == "failed"
    assert "'pilot'" in result.reason
    assert "t = 0 s" in result.reason
    assert len(result.t) == 1


def test_controller_error_names_its_line():
    def law(t, measured):
        raise ZeroDivisionError("my bug")

    model = Model(
        "c", bodies=(Body("a", 1.0, inertia=(1, 1, 1)),), joints=(Joint("j", "revolute", "a"),),
        controllers=(Controller("pilot", 0.1, ("j",), law),),
    )  # fmt: skip
    reason = pliant.simulate(model, 1.0).reason
    for word in ("pilot", "test_simulate.py", "ZeroDivisionError: my bug"):
        assert word in reason


def test_audit_does_not_depend_on_the_grid_of_rows():
    model = pliant.load("two-link-arm")
    assert pliant.simulate(model, 2.0, sample=0.01).audit == pliant.simulate(model, 2.0).audit


@pytest.mark.parametrize("bodies", [2000, pytest.param(4000, marks=pytest.mark.long)])
def test_very_long_ball_chains_are_models_too(bodies):
    model = pliant.load("long-chain", bodies=bodies)
    vdot = pliant.forward_dynamics(model, model.q0, model.v0)
    assert np.max(np.abs(pliant.inverse_dynamics(model, model.q0, model.v0, vdot))) < 1e-11


@pytest.mark.parametrize("options", [{"sample": 1e-9}, {"step": 1e-300}, {"max_step": 1e-20}])
def test_absurdly_short_steps_are_refused(options):
    with pytest.raises(ModelError, match="longer"):
        pliant.simulate(pliant.load("two-link-arm"), **options)


@pytest.mark.parametrize("case", ["ground-space", "long-chain"])
def test_figures_do_not_depend_on_where_steps_end(case):
    """Peaks lie between accepted steps: two integrators with other steps must report the same."""
    from pliant.cases.case import all_cases

    row = all_cases()[case]
    model = row.build(row.resolve({"gravity": 9.81, "base": "fixed"}))
    runs = [pliant.simulate(model, 0.6, integrator=name, rtol=1e-10, atol=1e-12) for name in ("dop853", "dopri5")]
    one, other = (row.figures(run) for run in runs)
    for key in one.keys() - {"evaluations"}:
        assert one[key] == pytest.approx(other[key], rel=1e-7, abs=1e-9), key


def test_outputs_at_steps_are_the_recorded_outputs():
    result = pliant.simulate(pliant.load("ground-space"), 1.0)
    between = result.outputs_at(result.t)
    for name, values in result.outputs.items():
        assert between[name] == pytest.approx(values, abs=1e-9)

"""Gains and feedforwards: against Riccati's closed form, and by feeding them back into the model."""

from dataclasses import replace

import numpy as np
import pytest

import pliant
from pliant import (
    PD,
    Beam,
    Bending,
    Body,
    Controller,
    Cycloid,
    Damping,
    Frame,
    Joint,
    Material,
    Model,
    ModelError,
    Output,
    Rectangle,
)


def blade(name, length=1.0, modes=2):
    return Beam(
        name, length, Material(7e10, 2700.0), Rectangle(0.004, 0.04), bending_y=Bending(modes),
        damping=Damping(ratio=0.005),
    )  # fmt: skip


def one_link(**joint):
    return Model(
        "link", gravity=(0, 0, 0), bodies=(blade("arm"),),
        joints=(Joint("hub", "revolute", "arm", armature=0.05, **joint),),
        frames=(Frame("arm", (1.0, 0, 0), name="tip"),), outputs=(Output("tip", "tip", "position"),),
    )  # fmt: skip


def two_links(gravity=-9.81):
    """A flexible and a flexible link, with a gear."""
    return Model(
        "arm", gravity=(0, gravity, 0), bodies=(blade("upper", 0.6), blade("lower", 0.5)),
        joints=(
            Joint("shoulder", "revolute", "upper", q0=0.4, armature=0.02),
            Joint("elbow", "revolute", "lower", parent=Frame("upper", (0.6, 0, 0)), q0=0.3, armature=1e-4, gear=10.0),
        ),
    )  # fmt: skip


# --- state feedback ---------------------------------------------------------------------------------------------------


def cart(gear=1.0):
    return Model(
        "cart", gravity=(0, 0, 0), bodies=(Body("cart", 2.0, inertia=(1, 1, 1)),),
        joints=(Joint("rail", "prismatic", "cart", gear=gear),),
    )  # fmt: skip


@pytest.mark.parametrize("gear", [1.0, 5.0])
def test_gain_of_the_double_integrator_solves_riccati(gear):
    """P = Q + A^T P A - A^T P B K with the exact sampled double integrator; as period -> 0 the gain tends to the
    continuous one, sqrt(q/r) and sqrt(q_v/r + 2 m sqrt(q/r)) for unit gear."""
    h, m, q, qv, r = 0.01, 2.0, 30.0, 4.0, 0.5
    law = pliant.lqr(cart(gear), "rail", h, weights=[q, qv], effort=r)
    A, B, K = np.array([[1.0, h], [0.0, 1.0]]), gear / m * np.array([[h * h / 2], [h]]), np.array(law.gain)

    # the cost of the closed loop solves Lyapunov's equation, and no other gain nearby has a lower one
    def trace(gain):
        return np.trace(lyapunov(A - B @ gain, np.diag([q, qv]) + r * gain.T @ gain))

    best = trace(K)
    for d in (np.array([[1e-3, 0.0]]), np.array([[0.0, 1e-3]]), np.array([[1e-3, -1e-3]])):
        assert trace(K * (1 + d)) > best
        assert trace(K * (1 - d)) > best
    if gear == 1.0:
        fast = np.array(pliant.lqr(cart(), "rail", 1e-5, weights=[q * 1e-5, qv * 1e-5], effort=r * 1e-5).gain)[0]
        assert fast == pytest.approx([np.sqrt(q / r), np.sqrt(qv / r + 2 * m * np.sqrt(q / r))], rel=1e-3)


def lyapunov(F, S):
    """P = S + F^T P F."""
    n = len(F)
    return np.linalg.solve(np.eye(n * n) - np.kron(F.T, F.T), S.ravel()).reshape(n, n)


def test_lqr_holds_a_flexible_arm_against_gravity_and_damps_it():
    """About rest under gravity, found with the joints prescribed; from a start aside the arm comes back."""
    model = two_links()
    held = replace(model, joints=tuple(replace(joint, motion=joint.q0) for joint in model.joints))
    rest = pliant.equilibrium(held)
    law = pliant.lqr(model, ["shoulder", "elbow"], 0.002, q=rest, weights=[1e3] * 6 + [1.0] * 6, effort=[1e-2, 1.0])
    controlled = replace(model, controllers=(Controller("lqr", 0.002, ("shoulder", "elbow"), law=law),))
    away = rest + np.array([0.05, 0.0, 0.0, -0.04, 0.0, 0.0])
    result = pliant.simulate(controlled, 3.0, q0=away, v0=np.zeros(6))
    # what is left of slow motions after three seconds
    assert np.abs(result.q[-1] - rest).max() < 2e-3
    assert np.abs(result.inputs[-1] - law.feedforward[0].value).min() < 1.0
    still = pliant.simulate(controlled, 0.5, q0=rest, v0=np.zeros(6))
    assert np.abs(still.q - rest).max() < 1e-7


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: pliant.lqr(two_links(), ["shoulder"], 0.01), "would need a force of"),
        (lambda: pliant.lqr(cart(), ["rial"], 0.01), "did you mean 'rail'"),
        (lambda: pliant.lqr(cart(), [], 0.01), "none given"),
        (lambda: pliant.lqr(cart(), "rail", 0.01, weights=[1.0]), "give one number, or 2: for rail, rail.rate"),
        (lambda: pliant.lqr(cart(), "rail", 0.01, effort=0.0), "numbers above 0"),
        (lambda: pliant.lqr(cart(), "rail", -1.0), "period"),
        (lambda: pliant.lqr(replace(cart(), joints=(Joint("rail", "prismatic", "cart", motion=0.0),)), "rail", 0.1),
         "moves as prescribed"),
    ],
)  # fmt: skip
def test_lqr_refuses(call, words):
    with pytest.raises(ModelError, match=words):
        call()


# --- feedforward ------------------------------------------------------------------------------------------------------


def test_torques_of_the_flexible_arm_move_it_as_asked_and_those_of_the_rigid_do_not():
    goal = {"shoulder": Cycloid(0.0, 0.3, after=0.7, before=0.4), "elbow": Cycloid(0.0, 0.3, after=-0.2, before=0.3)}
    model, times = two_links(), np.linspace(0.0, 0.3, 31)
    share = times / 0.3 - np.sin(2 * np.pi * times / 0.3) / (2 * np.pi)
    wanted = np.column_stack([0.4 + 0.3 * share, 0.3 - 0.5 * share])
    missed = {}
    for rigid in (False, True):
        torques = pliant.drive_torques(model, goal, 0.3, rigid=rigid, period=2e-4, rtol=1e-10)
        driven = tuple(replace(joint, motor=torques[joint.name]) for joint in model.joints)
        q, _ = pliant.simulate(replace(model, joints=driven), 0.3, rtol=1e-10).at(times)
        missed[rigid] = np.abs(q[:, [0, 3]] - wanted).max()
    # the spline of the table, h^4 of the vibrations that the arm has from its start
    assert missed[False] < 1e-4
    assert missed[True] > 100 * missed[False]


def test_torque_of_a_rigid_pendulum_is_the_textbook_one():
    goal = Cycloid(0.0, 0.5, after=0.9)
    pole = Model(
        "pole", gravity=(0, -9.81, 0), bodies=(Body("pole", 2.0, com=(0.4, 0, 0), inertia=(0.1, 0.1, 0.1)),),
        joints=(Joint("hinge", "revolute", "pole", gear=4.0, motor=3.0),),
    )  # fmt: skip
    table = pliant.drive_torques(pole, {"hinge": goal}, 0.5)["hinge"]
    x = 2 * np.pi * np.array(table.times) / 0.5
    angle, acceleration = 0.9 * (x - np.sin(x)) / (2 * np.pi), 0.9 * 2 * np.pi * np.sin(x) / 0.25
    torque = (0.1 + 2.0 * 0.16) * acceleration + 2.0 * 9.81 * 0.4 * np.cos(angle)
    assert np.array(table.values) == pytest.approx(torque / 4.0, abs=1e-9)


def test_feedforward_of_a_law_is_held_like_its_command():
    """With the torques of the motion itself a weak servo has little to do."""
    goal = Cycloid(0.0, 0.3, after=0.15)
    model = one_link()
    torque = pliant.drive_torques(model, {"hub": goal}, 0.3)["hub"]
    errors = []
    for feedforward in (0.0, torque):
        law = PD(20.0, 1.0, goal, feedforward)
        run = pliant.simulate(replace(model, controllers=(Controller("servo", 0.001, ("hub",), law=law),)), 0.3)
        share = run.t / 0.3 - np.sin(2 * np.pi * run.t / 0.3) / (2 * np.pi)
        errors.append(np.abs(run.q[:, 0] - 0.15 * share).max())
    # half a period late: 0.5 ms
    assert errors[1] < 0.02 * errors[0]


def test_rigid_twin_has_the_same_mass_and_no_modes():
    model = two_links()
    twin = pliant.rigid_twin(model)
    assert twin.coordinates == ("shoulder", "elbow")
    assert pliant.mass_matrix(twin, [0.2, 0.3]) == pytest.approx(
        pliant.mass_matrix(model, [0.2, 0, 0, 0.3, 0, 0])[np.ix_([0, 3], [0, 3])], rel=1e-12
    )


# --- the tip ----------------------------------------------------------------------------------------------------------


def tip_angle(result, t):
    tip = result.outputs_at(t)["tip"]
    return np.unwrap(np.arctan2(tip[:, 1], tip[:, 0]))


def test_the_inverse_torque_makes_the_tip_follow():
    """What the linear inverse misses grows with the square of the angle and more (centrifugal forces, shortening); the
    torque of the hub's motion misses by as much as the link bends, in proportion to the angle."""
    missed, by_hub = [], []
    for angle in (0.04, 0.16):
        goal = Cycloid(0.0, 0.4, after=angle)
        found = pliant.stable_inversion(one_link(), "hub", "tip.y", goal, 0.4)
        t = np.linspace(0.0, found.delay + 0.6, 200)
        x = np.clip((t - found.delay) / 0.4, 0.0, 1.0)
        wanted = angle * (x - np.sin(2 * np.pi * x) / (2 * np.pi))
        result = pliant.simulate(one_link(motor=found.torque), t[-1])
        missed.append(np.abs(tip_angle(result, t) - wanted).max() / angle)
        torque = pliant.delayed(pliant.drive_torques(one_link(), {"hub": goal}, 0.4)["hub"], found.delay)
        result = pliant.simulate(one_link(motor=torque), t[-1])
        by_hub.append(np.abs(tip_angle(result, t) - wanted).max() / angle)
    assert missed[0] < 1e-3
    assert missed[1] < 5e-3
    assert min(by_hub) > 0.05
    # it begins before the tip moves
    early = np.array(found.torque.times) < found.delay
    assert np.abs(np.array(found.torque.values))[early].max() > 0.01 * np.abs(found.torque.values).max()
    assert abs(found.torque.values[0]) < 1e-6 * np.abs(found.torque.values).max()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: pliant.stable_inversion(one_link(), "hub", "tip", Cycloid(0, 1), 1.0), "has 3 components"),
        (lambda: pliant.stable_inversion(one_link(stiffness=9.0), "hub", "tip.y", Cycloid(0, 1), 1.0), "cannot turn"),
        (lambda: pliant.stable_inversion(one_link(), "hib", "tip.y", Cycloid(0, 1), 1.0), "did you mean 'hub'"),
        (lambda: pliant.stable_inversion(one_link(), "hub", "tip.y", Cycloid(0, 1), 1.0, period=1e-9), "at least"),
    ],
)
def test_stable_inversion_refuses(call, words):
    with pytest.raises(ModelError, match=words):
        call()


def test_an_output_at_the_hub_has_zeros_that_vibrate():
    bare = replace(one_link(), bodies=(replace(blade("arm"), damping=Damping()),))
    with pytest.raises(ModelError, match="can rest while the link vibrates"):
        pliant.stable_inversion(bare, "hub", "hub", Cycloid(0, 1), 1.0)

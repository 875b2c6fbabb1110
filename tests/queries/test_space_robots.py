"""Free robots: the generalised Jacobian against momentum itself, reaction-null motion against a whole run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pliant
from pliant import Base, Body, Frame, Joint, Model, ModelError, Rod, Table
from random_models import largest, random_state
from zoo import ZOO

TIGHT = 1e-12  # relative: rounding of a solve with the base's inertia, condition below 1e2


def arm_joints(base, side, count, kinds=("z", "y", "z", "y", "x", "z", "y")):
    """A chain of `count` rods on one side of the base, joint axes as given."""
    axes = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
    joints, bodies = [], []
    for k in range(count):
        name = f"{side}{k}"
        joint_frame = (
            Frame(base, (0.4 if side == "r" else -0.4, 0.1, 0.05)) if k == 0 else Frame(f"{side}{k - 1}", (0.5, 0, 0))
        )
        bodies.append(Body(name, mass=3.0 - 0.3 * k, shape=Rod(0.5, radius=0.05)))
        joints.append(Joint(f"j{name}", "revolute", name, parent=joint_frame, axis=axes[kinds[k]], q0=0.3 + 0.2 * k))
    return bodies, joints


def satellite(base="floating", counts=(7, 2), mass=20.0):
    """A hull with two arms: a tree."""
    hull = Body("hull", mass=mass, com=(0.05, -0.02, 0.03), inertia=np.array((0.09, 0.1, 0.12)) * mass)
    bodies, joints = [hull], []
    for side, count in zip("rl", counts, strict=True):
        more = arm_joints("hull", side, count)
        bodies, joints = bodies + more[0], joints + more[1]
    if base == "spherical":
        joints, base = [Joint("pivot", "spherical", "hull"), *joints], "fixed"
    frames = [Frame(f"r{counts[0] - 1}", (0.5, 0.02, 0), name="hand")]
    return Model("satellite", bodies, joints, base, gravity=(0, 0, 0), frames=frames)


def planar_satellite(count=4):
    bodies, joints = arm_joints("hull", "r", count, "zzzzzzz")
    joints = [replace(joint, axis=(0, 0, 1)) for joint in joints]
    hull = Body("hull", mass=15.0, com=(0.05, -0.02, 0.0), inertia=(1.0, 1.0, 1.5))
    frames = [Frame(f"r{count - 1}", (0.5, 0, 0), name="hand")]
    return Model("flat satellite", [hull, *bodies], joints, "planar", gravity=(0, 0, 0), frames=frames)


def flexible_satellite():
    model = ZOO["flexible_satellite"]
    return replace(model, frames=(Frame("boom", (1.2, 0.05, 0.0), name="hand"),))


FREE = {
    "floating tree": satellite(),
    "planar": planar_satellite(),
    "flexible": flexible_satellite(),
    "balls": replace(ZOO["space_robot"], frames=(Frame("hand", (0.4, 0, 0), name="tip"),)),
}
every_free = pytest.mark.parametrize("name", FREE)


def state_of(model, seed=0):
    q, v, _, _ = random_state(model, np.random.default_rng(seed))
    return q, v


def hand(model):
    return model.frames[0].name


def rates_of(model, v):
    return v[[model.velocities.index(name) for name in pliant.rate_names(model)]]


# --- the generalised Jacobian -----------------------------------------------------------------------------------


@every_free
def test_a_free_velocity_has_no_momentum(name):
    model = FREE[name]
    q, v = state_of(model)
    free = pliant.free_velocity(model, q, rates_of(model, v))
    momentum, moving = pliant.momentum(model, q, free), pliant.momentum(model, q, v)
    size = largest(moving.linear) + largest(moving.angular)
    flat = slice(0, 2) if name == "planar" else slice(0, 3)
    assert largest(momentum.linear[flat]) < TIGHT * size
    assert largest(momentum.angular[2:] if name == "planar" else momentum.angular) < TIGHT * size
    assert np.array_equal(rates_of(model, free), rates_of(model, v))


@pytest.mark.parametrize("axes", ["world", "frame"])
@every_free
def test_generalised_jacobian_moves_the_hand_as_the_robot_without_momentum_does(name, axes):
    model = FREE[name]
    q, v = state_of(model, 1)
    rates = rates_of(model, v)
    found = pliant.generalised_jacobian(model, q, hand(model), axes=axes) @ rates
    wanted = pliant.frame_velocity(model, q, pliant.free_velocity(model, q, rates), hand(model), axes=axes)
    assert largest(found - wanted) < TIGHT * (1.0 + largest(wanted))


@every_free
def test_momentum_adds_what_a_robot_of_locked_joints_does(name):
    """Any v has a momentum; the hand moves as J_g of its rates plus as the locked robot with that momentum."""
    model = FREE[name]
    q, v = state_of(model, 2)
    momentum = pliant.momentum(model, q, v)
    assert largest(pliant.free_velocity(model, q, rates_of(model, v), momentum) - v) < 10 * TIGHT * largest(v)
    locked = pliant.free_velocity(model, q, 0, np.concatenate([momentum.linear, momentum.angular]))
    found = pliant.generalised_jacobian(model, q, hand(model)) @ rates_of(model, v)
    found += pliant.frame_velocity(model, q, locked, hand(model))
    wanted = pliant.frame_velocity(model, q, v, hand(model))
    assert largest(found - wanted) < 10 * TIGHT * (1.0 + largest(wanted))


def test_a_ball_under_the_base_keeps_the_angular_momentum_about_it():
    model = satellite("spherical")
    q, v = state_of(model, 3)
    free = pliant.free_velocity(model, q, rates_of(model, v))
    assert largest(pliant.momentum(model, q, free).angular) < TIGHT * largest(pliant.momentum(model, q, v).angular)
    moving = pliant.momentum(model, q, v)
    assert largest(pliant.free_velocity(model, q, rates_of(model, v), moving) - v) < 10 * TIGHT * largest(v)


def test_a_heavy_base_gives_the_ordinary_jacobian():
    """The difference falls as one over the mass of the base."""
    differences = []
    for mass in (1e5, 1e7, 1e9):
        model = satellite(mass=mass)
        q, _ = state_of(model)
        ordinary = pliant.jacobian(model, q, "hand")[:, 6:]
        differences.append(largest(pliant.generalised_jacobian(model, q, "hand") - ordinary))
    assert np.array(differences) * (1e5, 1e7, 1e9) == pytest.approx(differences[1] * 1e7, rel=0.01)


def test_many_states_in_one_call():
    model = FREE["floating tree"]
    Q = np.array([state_of(model, k)[0] for k in range(12)]).reshape(3, 4, -1)
    rates = np.random.default_rng(0).normal(size=(4, 9))
    J, v = pliant.generalised_jacobian(model, Q, "hand"), pliant.free_velocity(model, Q, rates)
    assert J.shape == (3, 4, 6, 9)
    assert v.shape == (3, 4, 15)
    assert largest(J[2, 1] - pliant.generalised_jacobian(model, Q[2, 1], "hand")) < TIGHT * largest(J)
    assert largest(v[2, 1] - pliant.free_velocity(model, Q[2, 1], rates[1])) < TIGHT * largest(v)


# --- reaction-null motion ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "keep", "size"),
    [
        (satellite(), "attitude", 9 - 3),
        (satellite(), "pose", 9 - 6),
        (satellite("spherical"), "attitude", 9 - 3),
        (satellite("spherical"), "pose", 9 - 3),
        (planar_satellite(), "attitude", 4 - 1),
        (planar_satellite(), "pose", 4 - 3),
    ],
)
def test_null_rates_leave_the_base_alone(model, keep, size):
    q, v = state_of(model, 4)
    basis = pliant.reaction_null_basis(model, q, keep)
    P = pliant.reaction_null_projector(model, q, keep)
    assert basis.shape[1] == size
    assert largest(basis.T @ basis - np.eye(size)) < TIGHT
    assert largest(P @ P - P) < TIGHT
    assert np.array_equal(P, P.T)
    wish = rates_of(model, v)
    rates = pliant.reaction_null_velocity(model, q, wish, keep)
    base = pliant.frame_velocity(model, q, pliant.free_velocity(model, q, rates), "hull")
    moved = pliant.frame_velocity(model, q, pliant.free_velocity(model, q, wish), "hull")
    kept = slice(3, 6) if keep == "attitude" else slice(0, 6)
    assert largest(base[kept]) < TIGHT * largest(moved)
    assert largest(moved[kept]) > 1e-3
    # nearest: what is left of the wish is at right angles to all null rates
    assert largest(basis.T @ (wish - rates)) < TIGHT * largest(wish)


def test_modes_are_at_rest_in_null_rates():
    model = FREE["flexible"]
    q, _ = state_of(model)
    basis = pliant.reaction_null_basis(model, q)
    names = pliant.rate_names(model)
    modes = [k for k, name in enumerate(names) if "mode" in name]
    assert modes
    assert not np.any(basis[modes])
    base = pliant.frame_velocity(model, q, pliant.free_velocity(model, q, basis[:, 0]), "hull")
    assert largest(base[3:]) < TIGHT


@pytest.mark.parametrize("base", ["floating", "spherical"])
def test_a_robot_that_follows_null_rates_keeps_its_attitude(base):
    """Joint angles by integrating null rates; then a run with these motions prescribed, by the equations of motion.

    1e-9 rad: the motions are cubic tables of 1 ms, whose error in the rates is below 1e-10 rad/s."""
    model = satellite(base, counts=(4, 1))
    wish = np.array([0.8, -0.5, 0.6, 0.9, -0.4])
    first = len(model.q0) - 5

    def rates(t, angles):
        return pliant.reaction_null_velocity(model, np.concatenate([model.q0[:first], angles]), wish)

    knots = np.linspace(0.0, 1.0, 1001)
    path = solve_ivp(rates, (0.0, 1.0), model.q0[first:], method="DOP853", rtol=1e-12, atol=1e-13, t_eval=knots)
    assert largest(path.y[:, -1] - path.y[:, 0]) > 0.2

    def moved(joint, angles, rate):
        return replace(joint, q0=None, motion=Table(tuple(knots), tuple(angles)))

    own = {name: k for k, name in enumerate(pliant.rate_names(model))}
    start = pliant.free_velocity(model, model.q0, rates(0.0, model.q0[first:]))
    joints = [
        moved(joint, path.y[own[joint.name]], start) if joint.name in own else replace(joint, v0=tuple(start[:3]))
        for joint in model.joints
    ]
    hold = (
        Base("floating", velocity=tuple(start[:3]), angular_velocity=tuple(start[3:6]))
        if base == "floating"
        else model.base
    )
    driven = replace(model, joints=tuple(joints), base=hold)
    result = pliant.simulate(driven, 1.0, rtol=1e-10, atol=1e-12)
    assert result.status == "done"
    assert largest(result.attitude("hull", "rotation_vector")) < 1e-9
    # and other rates would not have done so
    base_spin = pliant.frame_velocity(model, model.q0, pliant.free_velocity(model, model.q0, wish), "hull")[3:]
    assert largest(base_spin) > 1e-2


# --- messages ---------------------------------------------------------------------------------------------------


def test_robots_on_the_ground_and_wrong_rates_are_told():
    with pytest.raises(ModelError, match=r"is held by a revolute joint; a free robot has one of floating, planar"):
        pliant.generalised_jacobian(pliant.load("two-link-arm"), [0, 0], "upper")
    two = Model("two", [Body("a", 1.0), Body("b", 1.0)], [Joint("ja", "prismatic", "a"), Joint("jb", "prismatic", "b")])
    with pytest.raises(ModelError, match=r"has 2 bodies on the world \(a, b\); a free robot has one base"):
        pliant.reaction_null_basis(two, [0, 0])
    model = FREE["planar"]
    with pytest.raises(ModelError, match=r"rates: shape \(3,\) found, \(4,\) expected: jr0, jr1, jr2, jr3"):
        pliant.free_velocity(model, model.q0, [0, 0, 0])
    with pytest.raises(ModelError, match="keep: 'spin' found; give one of attitude, pose"):
        pliant.reaction_null_basis(model, model.q0, "spin")
    with pytest.raises(ModelError, match="takes one state"):
        pliant.reaction_null_basis(model, [model.q0, model.q0])
    with pytest.raises(ModelError, match=r"momentum: shape \(3,\) found, \(6,\) expected: px"):
        pliant.free_velocity(model, model.q0, 0, [1, 0, 0])

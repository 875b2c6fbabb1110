"""Frame Jacobians against Pinocchio, against differences of placements, and against the power of a force."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from flexible_models import random_tree
from pliant import ModelError
from random_models import Twin, advance, derivatives, largest, pinocchio, random_cases, random_state, time_scale
from zoo import TREES

CASES = {case.name: case for case in random_cases()}
TIGHT = 1e-12  # relative: rounding over at most 8 bodies leaves three digits above
FLEXIBLE = {f"tree{seed}": random_tree(seed) for seed in range(8)}
every_axes = pytest.mark.parametrize("axes", ["world", "frame"])


def state_of(model, seed=0):
    return random_state(model, np.random.default_rng(seed))


# --- against Pinocchio ------------------------------------------------------------------------------------------


@every_axes
@pytest.mark.parametrize("name", CASES)
def test_jacobian_and_its_rate_are_those_of_pinocchio(name, axes):
    """v_pin = A v, so J = J_pin A; J' v is the acceleration while vdot vanishes: in the frame's own axes the spatial
    one, in world axes the classical one. (Its own J' leaves out how the axes of composite joints rotate.)"""
    case, pin = CASES[name], pinocchio()
    twin = Twin(case.model)
    A, bias = twin.map(case.q, case.v)
    pin.forwardKinematics(twin.robot, twin.data, twin.q(case.q), A @ case.v, bias)
    pin.computeJointJacobians(twin.robot, twin.data)
    pin.updateFramePlacements(twin.robot, twin.data)
    is_own = axes == "frame"
    reference = pin.ReferenceFrame.LOCAL if is_own else pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    acceleration = pin.getFrameAcceleration if is_own else pin.getFrameClassicalAcceleration
    for frame, row in twin.frames.items():
        J = pin.getFrameJacobian(twin.robot, twin.data, row, reference).reshape(6, -1)
        found = pliant.jacobian(case.model, case.q, frame, axes=axes)
        assert largest(found - J @ A) < TIGHT * (1.0 + largest(J))
        rate = pliant.jacobian_rate(case.model, case.q, case.v, frame, axes=axes)
        wanted = acceleration(twin.robot, twin.data, row, reference).vector
        # gravity comes in and goes out again
        assert largest(rate - wanted) < TIGHT * (10.0 + largest(wanted))
        R, p = pliant.frame_placement(case.model, case.q, frame)
        assert largest(R - twin.data.oMf[row].rotation) < TIGHT
        assert largest(p - twin.data.oMf[row].translation) < TIGHT * (1.0 + largest(p))


# --- flexible links: against the definition ---------------------------------------------------------------------


def frames_of(model):
    return [frame.name for frame in model.frames] + [link.body.name for link in model.links]


@pytest.mark.parametrize("name", FLEXIBLE)
def test_jacobian_times_velocity_is_the_rate_of_the_placement(name):
    """Differences extrapolated to h^8: 1e-9 relative is their rounding at h = 1e-2."""
    model = FLEXIBLE[name]
    q, v, _, _ = state_of(model)
    h = time_scale(v, 0 * v)
    for frame in frames_of(model):
        R, _ = pliant.frame_placement(model, q, frame)

        def pose(s, frame=frame):
            R, p = pliant.frame_placement(model, advance(model, q, v, 0 * v, s), frame)
            return np.concatenate([R.ravel(), p])

        rate, _ = derivatives(pose, h)
        W = rate[:9].reshape(3, 3) @ R.T
        wanted = np.array([*rate[9:], W[2, 1], W[0, 2], W[1, 0]])
        found = pliant.jacobian(model, q, frame) @ v
        assert largest(found - wanted) < 1e-9 * (1.0 + largest(wanted))
        assert largest(pliant.frame_velocity(model, q, v, frame) - found) < TIGHT * (1.0 + largest(found))


@every_axes
@pytest.mark.parametrize("name", FLEXIBLE)
def test_jacobian_rate_is_the_difference_of_the_velocity_while_vdot_vanishes(name, axes):
    model = FLEXIBLE[name]
    q, v, _, _ = state_of(model, 1)
    h = time_scale(v, 0 * v)
    for frame in frames_of(model):
        rate, _ = derivatives(
            lambda s, frame=frame: pliant.frame_velocity(model, advance(model, q, v, 0 * v, s), v, frame, axes=axes),
            h,
        )
        found = pliant.jacobian_rate(model, q, v, frame, axes=axes)
        assert largest(found - rate) < 1e-8 * (1.0 + largest(rate))


# of a mechanism inverse_dynamics gives forces of motors: test_loops.py
@pytest.mark.parametrize("name", [*TREES, *FLEXIBLE])
def test_a_load_pushes_the_velocities_with_the_transposed_jacobian(name):
    """inverse_dynamics with a load F at a frame needs J^T F less: power F . velocity, modes included."""
    from dataclasses import replace

    model = {**TREES, **FLEXIBLE}[name]
    model = model() if callable(model) else model
    frame = next(name for name in frames_of(model) if not name.endswith(".motor"))
    q, v, vdot, _ = state_of(model, 2)
    force, couple = np.array([3.0, -2.0, 5.0]), np.array([-1.0, 4.0, 2.0])
    push = pliant.Load(frame, *force)
    turn = pliant.Load(frame, *couple, kind="couple")
    loaded = replace(model, loads=(*model.loads, push, turn))
    t = 0.3
    with_load = pliant.inverse_dynamics(loaded, q, v, vdot, t=t)
    without = pliant.inverse_dynamics(model, q, v, vdot, t=t)
    wanted = pliant.jacobian(model, q, frame).T @ np.concatenate([force, couple])
    assert largest((without - with_load) - wanted) < TIGHT * (1.0 + largest(without) + largest(wanted))


# --- shapes and messages ----------------------------------------------------------------------------------------


@every_axes
def test_many_states_give_the_bits_of_single_calls(axes):
    model = FLEXIBLE["tree1"]
    frame = frames_of(model)[-1]
    rows = [state_of(model, k)[:2] for k in range(600)]
    Q, V = (np.array(each).reshape(20, 30, -1) for each in zip(*rows, strict=True))
    one, two = (pliant.jacobian(model, Q, frame, axes=axes, threads=n) for n in (1, 3))
    rate = pliant.jacobian_rate(model, Q, V, frame, axes=axes)
    R, p = pliant.frame_placement(model, Q, frame)
    assert one.shape == (20, 30, 6, len(model.velocities))
    assert np.array_equal(one, two)
    for i, j in ((0, 0), (7, 11), (19, 29)):
        assert np.array_equal(one[i, j], pliant.jacobian(model, Q[i, j], frame, axes=axes))
        assert np.array_equal(rate[i, j], pliant.jacobian_rate(model, Q[i, j], V[i, j], frame, axes=axes))
        single = pliant.frame_placement(model, Q[i, j], frame)
        assert np.array_equal(R[i, j], single[0])
        assert np.array_equal(p[i, j], single[1])


def test_the_world_does_not_move():
    model = FLEXIBLE["tree0"]
    q, v, _, _ = state_of(model)
    assert not np.any(pliant.jacobian(model, q, "world"))
    assert not np.any(pliant.frame_velocity(model, q, v, "world"))


def test_an_unknown_frame_or_axes_is_told():
    model = pliant.load("two-link-arm")
    with pytest.raises(ModelError, match="no frame 'tipp'; did you mean 'tip'"):
        pliant.jacobian(pliant.Model("m", [pliant.Body("tip", 1.0)]), [], "tipp")
    with pytest.raises(ModelError, match="axes: 'body' found; give one of world, frame"):
        pliant.jacobian(model, model.q0, model.bodies[0].name, axes="body")
    with pytest.raises(ModelError, match=r"q: shape \(\) found"):
        pliant.frame_placement(model, 1.0, model.bodies[0].name)

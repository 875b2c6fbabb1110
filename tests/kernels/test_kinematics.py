"""Kinematics of every joint kind: placements as the contract of design.md defines them; velocities, bias accelerations
and accelerations as derivatives of placements; rates of coordinates.

Derivatives are extrapolated central differences along curves with given v and vdot (steps of 1/10 .. 1/80 of the
motion's time scale). FIRST: truncation ~ .1^8 with small factors, rounding 1e-16 / 1e-3. SECOND: rounding 1e-16 / 1e-6,
on positions of a few metres."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pliant.engine.prepared import Prepared
from pliant.model.bodies import Body, Frame
from pliant.model.joints import JOINT_KINDS, Joint
from pliant.model.model import Base, Model
from random_models import (
    KINDS,
    Frames,
    accelerations_of,
    advance,
    derivatives,
    frames_of,
    largest,
    make_case,
    random_quaternion,
    rates_of,
    time_scale,
)

EXACT = 1e-14
FIRST = 1e-10
SECOND = 1e-8

# on a floating base, so that Coriolis terms of a moving parent are there too; "mixed" is a tree of all kinds
CASES = {kind: make_case(kind, k, 3, base="floating", kinds=(kind,), is_chain=True) for k, kind in enumerate(KINDS)}
CASES |= {f"{kind}-ground": make_case(kind, 20 + k, 2, base="none", kinds=(kind,)) for k, kind in enumerate(KINDS)}
CASES |= {f"mixed-{base}": make_case(base, 40, 9, base=base) for base in ("none", "planar", "floating")}
every_case = pytest.mark.parametrize("name", CASES)
every_kind = pytest.mark.parametrize("kind", KINDS)


def motion_of_frames(name: str, vdot: np.ndarray) -> tuple[Frames, Frames, Frames]:
    """Frames now, and the first and second time derivatives of R and p on a curve with acceleration vdot."""
    case = CASES[name]
    handle = Prepared(case.model)

    def table(h: float) -> np.ndarray:
        frames = frames_of(handle, advance(case.model, case.q, case.v, vdot, h), case.v)
        return np.concatenate([frames.R.reshape(-1, 9), frames.p], axis=1)

    first, second = derivatives(table, time_scale(case.v, vdot))
    split = [Frames(x[:, :9].reshape(-1, 3, 3), x[:, 9:], x[:, :0], x[:, :0]) for x in (first, second)]
    return frames_of(handle, case.q, case.v), *split


def axial(W: np.ndarray) -> np.ndarray:
    """Vectors of antisymmetric matrices (n, 3, 3)."""
    return 0.5 * np.stack([W[:, 2, 1] - W[:, 1, 2], W[:, 0, 2] - W[:, 2, 0], W[:, 1, 0] - W[:, 0, 1]], axis=1)


# --- placements -------------------------------------------------------------------------------------------------


def placement(kind: str, q: np.ndarray, axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Attitude and position of the child in the parent frame, word for word from the contract's table."""
    x, y, z = np.eye(3)
    turn = lambda vector: Rotation.from_rotvec(vector).as_matrix()  # noqa: E731
    return {
        "fixed": lambda: (np.eye(3), 0.0 * x),
        "revolute": lambda: (turn(q[0] * axis), 0.0 * x),
        "prismatic": lambda: (np.eye(3), q[0] * axis),
        "cylindrical": lambda: (turn(q[1] * axis), q[0] * axis),
        "universal": lambda: (turn(q[0] * x) @ turn(q[1] * y), 0.0 * x),
        "planar": lambda: (turn(q[2] * z), q[0] * x + q[1] * y),
        "spherical": lambda: (Rotation.from_quat(q).as_matrix(), 0.0 * x),
        "floating": lambda: (Rotation.from_quat(q[3:]).as_matrix(), q[:3]),
    }[kind]()


@every_kind
def test_a_joint_places_its_child_as_the_contract_says(kind: str) -> None:
    rng = np.random.default_rng(KINDS.index(kind))
    axis = np.array([0.48, -0.6, 0.64])
    joint_frame = Frame(body="world", position=(0.3, -0.2, 0.5), attitude=random_quaternion(rng))
    given = {"axis": 2.5 * axis} if JOINT_KINDS[kind].has_axis else {}
    body = Body(name="child", mass=1.0, inertia=(1, 1, 1))
    model = Model(
        name=kind, bodies=[body], joints=[Joint(name="joint", kind=kind, parent=joint_frame, child="child", **given)]
    )
    q = rng.normal(size=len(model.coordinates))
    R, p = placement(kind, q, axis)
    found = frames_of(Prepared(model), q, np.zeros(len(model.velocities)))
    assert largest(found.R[0] - joint_frame.matrix @ R) < EXACT
    assert largest(found.p[0] - np.array(joint_frame.position) - joint_frame.matrix @ p) < EXACT


@pytest.mark.parametrize("kind", [kind for kind, row in JOINT_KINDS.items() if row.has_axis])
def test_the_default_axis_is_z(kind: str) -> None:
    body = Body(name="child", mass=1.0, inertia=(1, 1, 1))
    model = Model(name=kind, bodies=[body], joints=[Joint(name="joint", kind=kind, child="child")])
    q = np.full(len(model.coordinates), 0.4)
    R, p = placement(kind, q, np.array([0.0, 0.0, 1.0]))
    found = frames_of(Prepared(model), q, np.zeros(len(model.velocities)))
    assert largest(found.R[0] - R) < EXACT
    assert largest(found.p[0] - p) < EXACT


@every_case
def test_attitudes_are_rotations(name: str) -> None:
    case = CASES[name]
    for R in frames_of(Prepared(case.model), case.q, case.v).R:
        # rounding of a product of up to nine rotations
        assert largest(R.T @ R - np.eye(3)) < 10.0 * EXACT
        assert np.linalg.det(R) > 0.0


@every_case
def test_only_the_direction_of_a_quaternion_counts(name: str) -> None:
    """Between steps quaternions drift from unit length; nothing physical may notice."""
    case = CASES[name]
    handle, q = Prepared(case.model), case.q.copy()
    for link in case.model.links:
        if link.joint.kind in ("spherical", "floating"):
            q[link.q_slice][-4:] *= -1.7
    for one, other in zip(_all_of(handle, case.q, case.v), _all_of(handle, q, case.v), strict=True):
        assert largest(one - other) < 1e-13 * (1.0 + largest(one))


def _all_of(handle: Prepared, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, ...]:
    frames = frames_of(handle, q, v)
    return frames.R, frames.p, frames.velocity, frames.spin, handle.forward_dynamics(q, v)


# --- velocities -------------------------------------------------------------------------------------------------


@every_case
def test_velocity_is_the_rate_of_position(name: str) -> None:
    now, rate, _ = motion_of_frames(name, CASES[name].vdot)
    assert largest(now.velocity - rate.p) < FIRST * (1.0 + largest(rate.p))


@every_case
def test_spin_is_the_rate_of_attitude(name: str) -> None:
    """R' = [w] R."""
    now, rate, _ = motion_of_frames(name, CASES[name].vdot)
    W = rate.R @ np.swapaxes(now.R, 1, 2)
    assert largest(now.spin - axial(W)) < FIRST * (1.0 + largest(now.spin))


@every_case
def test_velocities_are_linear_in_v(name: str) -> None:
    case = CASES[name]
    handle = Prepared(case.model)
    one, two, sum_ = (frames_of(handle, case.q, v) for v in (case.v, case.vdot, case.v - 3.0 * case.vdot))
    assert largest(one.velocity - 3.0 * two.velocity - sum_.velocity) < 1e-13 * (1.0 + largest(two.velocity))
    assert largest(one.spin - 3.0 * two.spin - sum_.spin) < 1e-13 * (1.0 + largest(two.spin))


@pytest.mark.parametrize("kind", ["planar", "floating"])
def test_a_base_starts_with_the_velocity_and_spin_it_was_given(kind: str) -> None:
    """Both in body axes, whatever the attitude."""
    attitude = (0.0, 0.0, 0.6, 0.8) if kind == "planar" else (0.1, 0.7, -0.5, 0.5)
    velocity, spin = ((0.3, -0.2, 0.0), (0, 0, 0.9)) if kind == "planar" else ((0.3, -0.2, 0.7), (0.4, 0.5, -0.9))
    position = (1.0, 2.0, 0.0)
    base = Base(kind=kind, position=position, attitude=attitude, velocity=velocity, angular_velocity=spin)
    model = Model(name="base", bodies=[Body(name="hull", mass=1.0, inertia=(1, 1, 1))], base=base)
    found = frames_of(Prepared(model), model.q0, model.v0)
    assert largest(found.p[0] - np.array(position)) < EXACT
    assert largest(found.R[0] - Rotation.from_quat(attitude).as_matrix()) < EXACT
    assert largest(found.R[0].T @ found.velocity[0] - velocity) < EXACT
    assert largest(found.R[0].T @ found.spin[0] - spin) < EXACT


# --- accelerations ----------------------------------------------------------------------------------------------


def assert_accelerations(name: str, vdot: np.ndarray) -> None:
    case = CASES[name]
    handle = Prepared(case.model)
    linear, angular = accelerations_of(handle, case.q, case.v, vdot)
    now, _, second = motion_of_frames(name, vdot)
    n = len(case.model.links)
    # R'' R^T = [w'] + [w][w], and the second is symmetric
    W = second.R @ np.swapaxes(now.R, 1, 2)
    assert largest(linear - second.p[:n]) < SECOND * (1.0 + largest(second.p))
    assert largest(angular - axial(W)[:n]) < SECOND * (1.0 + largest(angular))


@every_case
def test_bias_acceleration_is_what_is_left_without_vdot(name: str) -> None:
    """Centripetal, Coriolis and S' u terms alone."""
    assert_accelerations(name, np.zeros(len(CASES[name].v)))


@every_case
def test_acceleration_is_the_second_derivative_of_position_and_attitude(name: str) -> None:
    assert_accelerations(name, CASES[name].vdot)


# --- rates of coordinates ---------------------------------------------------------------------------------------


@every_case
def test_rates_are_the_derivatives_of_coordinates(name: str) -> None:
    """Of the curve that rotates quaternions by exponentials of w t and shifts positions along rotated axes."""
    case = CASES[name]
    wanted, _ = derivatives(lambda h: advance(case.model, case.q, case.v, case.vdot, h), time_scale(case.v, case.vdot))
    assert largest(rates_of(Prepared(case.model), case.q, case.v) - wanted) < FIRST * (1.0 + largest(wanted))


@every_case
def test_rates_move_frames_at_their_velocities(name: str) -> None:
    """Chain rule, with a straight line in coordinate space: p(q + h qdot) moves at the frame's velocity."""
    case = CASES[name]
    handle = Prepared(case.model)
    qdot = rates_of(handle, case.q, case.v)
    rate, _ = derivatives(lambda h: frames_of(handle, case.q + h * qdot, case.v).p, time_scale(case.v, case.v))
    assert largest(rate - frames_of(handle, case.q, case.v).velocity) < FIRST * (1.0 + largest(rate))


@every_case
def test_rates_keep_the_length_of_quaternions(name: str) -> None:
    """Also of quaternions that are not unit: q . qdot = 0."""
    case = CASES[name]
    q = 1.3 * case.q
    qdot = rates_of(Prepared(case.model), q, case.v)
    for link in case.model.links:
        if link.joint.kind in ("spherical", "floating"):
            assert abs(q[link.q_slice][-4:] @ qdot[link.q_slice][-4:]) < 1e-15 * (1.0 + largest(case.v))

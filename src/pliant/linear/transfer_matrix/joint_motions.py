"""Joints at a configuration, for small motions about it: placement, directions, second-order rotations, ball springs.

Displacements (of the child's origin, then rotation vector) are along world axes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.model.joints import Joint
from pliant.model.rotations import matrix_rotation_vector, quaternion_matrix, rotation_matrix

Array = NDArray[np.float64]


class Placement(NamedTuple):
    """Of a child frame."""

    R: Array  # child to joint frame
    p: Array  # of its origin, joint axes
    S: Array  # (6, n) displacement per coordinate, joint axes
    twist: Array  # (3, n, n) second-order rotation, joint axes: psi_i = 1/2 u^T twist_i u


def skew(a: NDArray[Any]) -> NDArray[Any]:
    """[a] b = a x b."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def joint_axis(joint: Joint) -> Array:
    """Unit vector, in the joint frame."""
    axis = np.array(joint.axis if joint.axis is not None else (0.0, 0.0, 1.0))
    return np.asarray(axis / np.linalg.norm(axis))


def place(joint: Joint, q: Array) -> Placement:
    """The child in the joint frame at the joint's coordinates q."""
    kind, n = joint.kind, len(joint.row.velocities)
    R, p, S, twist = np.eye(3), np.zeros(3), np.zeros((6, n)), np.zeros((3, n, n))
    if kind == "revolute":
        R = rotation_matrix(joint_axis(joint), q[0])
        S[3:, 0] = joint_axis(joint)
    elif kind == "prismatic":
        p = q[0] * joint_axis(joint)
        S[:3, 0] = joint_axis(joint)
    elif kind == "cylindrical":
        R, p = rotation_matrix(joint_axis(joint), q[1]), q[0] * joint_axis(joint)
        S[:3, 0] = S[3:, 1] = joint_axis(joint)
    elif kind == "universal":
        first = rotation_matrix((1.0, 0.0, 0.0), q[0])
        R = first @ rotation_matrix((0.0, 1.0, 0.0), q[1])
        S[3:, 0], S[3:, 1] = (1.0, 0.0, 0.0), first[:, 1]
        # exp(u1 x) exp(u2 y) = exp(u1 x + u2 y + 1/2 u1 u2 x cross y + ..)
        twist[:, 0, 1] = twist[:, 1, 0] = 0.5 * np.cross(S[3:, 0], S[3:, 1])
    elif kind == "planar":
        R, p = rotation_matrix((0.0, 0.0, 1.0), q[2]), np.array([q[0], q[1], 0.0])
        S[0, 0] = S[1, 1] = S[5, 2] = 1.0
    elif kind == "spherical":
        R = quaternion_matrix(q)
        S[3:] = R
    elif kind == "floating":
        R, p = quaternion_matrix(q[3:]), q[:3].copy()
        S[:3, :3] = S[3:, 3:] = R
    return Placement(R, p, S, twist)


def spring(joint: Joint, q: Array) -> tuple[Array, Array]:
    """Gradient (n) and second derivatives (n, n) of the energy of a joint's own spring, along its velocities."""
    stiffness = np.array(joint.each("stiffness"), dtype=float)
    if joint.row.has_plain_rates:
        return stiffness * (q - np.array(joint.each("rest"), dtype=float)), np.diag(stiffness)
    n = len(stiffness)
    gradient, second = np.zeros(n), np.zeros((n, n))
    if not np.any(stiffness):
        return gradient, second
    R = quaternion_matrix(q[-4:])
    if n == 6:
        gradient[:3], second[:3, :3] = R.T @ (stiffness[:3] * q[:3]), R.T @ (stiffness[:3, None] * R)
    phi, k = matrix_rotation_vector(R), stiffness[-3:]
    gradient[-3:] = _ball_moment(phi, k).real
    # derivative along the rotations that follow it: d phi = J^-1 w; its symmetric part is that of the energy
    step = 1e-30
    J = _inverse_jacobian(phi).real
    columns = [_ball_moment(phi + 1j * step * J[:, i], k).imag / step for i in range(3)]
    H = np.array(columns).T
    second[-3:, -3:] = 0.5 * (H + H.T)
    return gradient, second


def _inverse_jacobian(phi: NDArray[Any]) -> NDArray[Any]:
    """d phi = J^-1 w of a rotation exp(phi) followed by exp(w); analytic in phi."""
    x = phi @ phi
    if abs(x) < 1e-4:
        c = 1.0 / 12.0 + x * (1.0 / 720.0 + x / 30240.0)
    else:
        angle = np.sqrt(x)
        c = 1.0 / x - 0.5 / (angle * np.tan(0.5 * angle))
    cross = skew(phi)
    return np.asarray(np.eye(3) + 0.5 * cross + c * cross @ cross, complex)


def _ball_moment(phi: NDArray[Any], k: Array) -> NDArray[Any]:
    """Derivative of 1/2 phi^T k phi along the rotations that follow."""
    return np.asarray(_inverse_jacobian(phi).T @ (k * phi))

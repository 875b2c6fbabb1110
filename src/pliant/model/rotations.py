"""Rotations in numbers: quaternions x y z w, matrices, rotation vectors, and Euler angles of any sequence. numpy only.

Every function takes leading dimensions. An intrinsic sequence "zyx" rotates about z, then about the new y, then about
the newest x; a fixed (extrinsic) one about axes that stay. Angles from a matrix after [bernardes2022]: in (-pi, pi],
the middle one in [0, pi] where first and last axis are the same, else in [-pi/2, pi/2]."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
SEQUENCES = tuple("".join(axes) for axes in product("xyz", repeat=3) if axes[0] != axes[1] != axes[2])
LOCKED = 1e-12  # [rad] this close to gimbal lock only the sum or difference of two angles is known


def rotation_matrix(axis: Any, angle: float) -> Array:
    """Rotation by an angle about a unit axis (Rodrigues)."""
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross)


def quaternion_matrix(quaternion: ArrayLike) -> Array:
    """(.., 3, 3) of quaternions of any non-zero length."""
    quaternion = np.asarray(quaternion, dtype=np.float64)
    x, y, z, w = np.moveaxis(quaternion / np.linalg.norm(quaternion, axis=-1, keepdims=True), -1, 0)
    R = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    return np.moveaxis(R, (0, 1), (-2, -1))


def matrix_quaternion(R: ArrayLike) -> Array:
    """(.., 4) unit quaternion, w >= 0, of rotation matrices (Shepperd: the largest component first)."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = np.moveaxis(np.asarray(R, dtype=np.float64), (-2, -1), (0, 1))
    # 4 q q^T, whose largest row is the best conditioned
    outer = np.array(
        [
            [1 + xx - yy - zz, xy + yx, xz + zx, zy - yz],
            [xy + yx, 1 - xx + yy - zz, yz + zy, xz - zx],
            [xz + zx, yz + zy, 1 - xx - yy + zz, yx - xy],
            [zy - yz, xz - zx, yx - xy, 1 + xx + yy + zz],
        ]
    )
    outer = np.moveaxis(outer, (0, 1), (-2, -1))
    best = np.argmax(np.diagonal(outer, axis1=-2, axis2=-1), axis=-1)
    q = np.take_along_axis(outer, best[..., None, None], axis=-2)[..., 0, :]
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    return np.asarray(np.where(q[..., 3:] < 0, -q, q))


def rotation_vector_matrix(phi: ArrayLike) -> Array:
    """(.., 3, 3) of rotation vectors: axis times angle."""
    phi = np.asarray(phi, dtype=np.float64)
    half = 0.5 * np.linalg.norm(phi, axis=-1, keepdims=True)
    return quaternion_matrix(np.concatenate([0.5 * np.sinc(half / np.pi) * phi, np.cos(half)], axis=-1))


def matrix_rotation_vector(R: ArrayLike) -> Array:
    """(.., 3) axis times angle, 0 to pi."""
    q = matrix_quaternion(R)
    sine = np.linalg.norm(q[..., :3], axis=-1, keepdims=True)
    angle = 2 * np.arctan2(sine, q[..., 3:])
    return np.asarray(q[..., :3] * np.divide(angle, sine, out=np.full_like(sine, 2.0), where=sine > 0))


def euler_matrix(sequence: str, angles: ArrayLike, is_fixed: bool = False) -> Array:
    """(.., 3, 3) of three angles (.., 3) about the axes of a sequence."""
    angles = np.asarray(angles, dtype=np.float64)
    first, second, third = (_about(axis, angles[..., k]) for k, axis in enumerate(sequence))
    return np.asarray(third @ second @ first if is_fixed else first @ second @ third)


def _about(axis: str, angle: Array) -> Array:
    i, j, k = _index(axis), (_index(axis) + 1) % 3, (_index(axis) + 2) % 3
    R = np.zeros((*np.shape(angle), 3, 3))
    c, s = np.cos(angle), np.sin(angle)
    R[..., i, i], R[..., j, j], R[..., k, k], R[..., k, j], R[..., j, k] = 1.0, c, c, s, -s
    return R


def matrix_euler(sequence: str, R: ArrayLike, is_fixed: bool = False) -> Array:
    """(.., 3) angles about the axes of a sequence. At gimbal lock the last one is 0."""
    # rotations about i, j, k that stay: q = q_k(third) q_j(second) q_i(first)
    i, j, k = (_index(axis) for axis in (sequence if is_fixed else sequence[::-1]))
    q = matrix_quaternion(R)
    is_proper = i == k
    k = 3 - i - j
    parity = 1.0 if (j - i) % 3 == 1 else -1.0
    w, x, y, z = q[..., 3], q[..., i], q[..., j], parity * q[..., k]
    if not is_proper:
        # 90 degrees more about j make it the sequence i, j, i
        w, x, y, z = w - y, x + z, y + w, z - x
    second = 2 * np.arctan2(np.hypot(y, z), np.hypot(w, x))
    mean, half_difference = np.arctan2(x, w), np.arctan2(z, y)
    first, third = mean - half_difference, mean + half_difference
    low, high = second < LOCKED, second > np.pi - LOCKED
    if is_fixed:
        first, third = (
            np.where(low, 2 * mean, np.where(high, -2 * half_difference, first)),
            np.where(low | high, 0, third),
        )
    else:
        third, first = (
            np.where(low, 2 * mean, np.where(high, 2 * half_difference, third)),
            np.where(low | high, 0, first),
        )
    if not is_proper:
        second, third = second - 0.5 * np.pi, parity * third
    angles = np.stack([first, second, third] if is_fixed else [third, second, first], axis=-1)
    return np.where(angles > np.pi, angles - 2 * np.pi, np.where(angles <= -np.pi, angles + 2 * np.pi, angles))


def _index(axis: str) -> int:
    return "xyz".index(axis)

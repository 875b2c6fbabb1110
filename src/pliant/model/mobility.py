"""Whether inertia resists every free velocity at the start: without it the accelerations have no answer.

Articulated-body recursion, outer bodies first (Featherstone 2008, table 7.1), in plain numpy: the mass matrix is
singular exactly if the inertia that some joint feels is. Motion vectors are (linear, angular), at the body's origin
and in its axes. Welded bodies merge by themselves; driven velocities need no inertia; armature counts as inertia."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.model.bodies import Body
from pliant.model.flexible import Beam
from pliant.model.joints import Joint
from pliant.model.messages import listed
from pliant.model.rotations import quaternion_matrix, rotation_matrix

if TYPE_CHECKING:
    from pliant.model.model import Model
    from pliant.model.tree import Link

Array = NDArray[np.float64]
SINGULAR = 1e-13  # smallest eigenvalue, relative to the mass and inertia carried


def mobility_problems(model: Model) -> Iterator[str]:
    inertias = [spatial_inertia(link.body) for link in model.links]
    rigid = [inertia.copy() for inertia in inertias]  # the same with the next joints locked: the scale
    for i, link in reversed(list(enumerate(model.links))):
        R, p, S = joint_start(link.joint)
        free = [k for k, is_prescribed in enumerate(link.joint.driven) if not is_prescribed]
        armature = _armature(link.joint)[free]
        felt = S[:, free].T @ inertias[i] @ S[:, free] + np.diag(armature)
        weak = _weak(felt, _scales(rigid[i], S[:, free], armature))
        if weak:
            yield _message(link, [link.joint.row.velocities[free[k]] for k in weak], rigid[i])
            return
        if link.parent >= 0:
            X = _transform(
                link.joint_frame.matrix @ R, np.array(link.joint_frame.position) + link.joint_frame.matrix @ p
            )
            IS = inertias[i] @ S[:, free]
            passed = X.T @ (inertias[i] - IS @ np.linalg.solve(felt, IS.T)) @ X
            # without this the antisymmetric part of rounding ruins long chains
            inertias[link.parent] += 0.5 * (passed + passed.T)
            rigid[link.parent] += X.T @ inertias[i] @ X


def spatial_inertia(body: Body | Beam) -> Array:
    """(6, 6) about the body's origin; a beam as if it were rigid, because bending frees no motion from inertia."""
    mass, offset = body.total_mass, body.total_mass * _cross(body.centre)
    return np.block([[mass * np.eye(3), -offset], [offset, body.inertia_about_origin]])


def joint_start(joint: Joint) -> tuple[Array, Array, Array]:
    """Attitude (3, 3) and position (3,) of the child in the parent frame; directions of the velocities (6, n)."""
    x, y, z = np.eye(3)
    zero = np.zeros(3)
    axis = z if joint.axis is None else np.array(joint.axis) / np.linalg.norm(joint.axis)
    q = np.array(joint.start, dtype=float)
    match joint.kind:
        case "fixed":
            return np.eye(3), zero, np.zeros((6, 0))
        case "revolute":
            return rotation_matrix(axis, q[0]), zero, _columns((zero, axis))
        case "prismatic":
            return np.eye(3), q[0] * axis, _columns((axis, zero))
        case "cylindrical":
            return rotation_matrix(axis, q[1]), q[0] * axis, _columns((axis, zero), (zero, axis))
        case "universal":
            second = rotation_matrix(y, q[1])
            return rotation_matrix(x, q[0]) @ second, zero, _columns((zero, second.T @ x), (zero, y))
        case "planar":
            R = rotation_matrix(z, q[2])
            return R, np.array([q[0], q[1], 0.0]), _columns((R.T @ x, zero), (R.T @ y, zero), (zero, z))
        case "spherical":
            return quaternion_matrix(q), zero, np.eye(6)[:, 3:]
        case "floating":
            return quaternion_matrix(q[3:]), q[:3], np.eye(6)


def _columns(*pairs: tuple[Array, Array]) -> Array:
    return np.array([np.concatenate(pair) for pair in pairs]).T


def _cross(r: Array) -> Array:
    x, y, z = r
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def _transform(R: Array, p: Array) -> Array:
    """(6, 6): motion of the parent's origin in its axes to that of the child's, which has attitude R and place p."""
    return np.block([[R.T, -R.T @ _cross(p)], [np.zeros((3, 3)), R.T]])


def _armature(joint: Joint) -> Array:
    """Rotor inertia on the joint's side, per velocity."""
    both = zip(joint.each("armature"), joint.each("gear"), strict=True)
    return np.array([armature * gear**2 for armature, gear in both])


def _scales(rigid: Array, S: Array, armature: Array) -> Array:
    """Per velocity: the mass, or the whole moment of inertia, that it may have to move."""
    linear, angular = (S[:3] ** 2).sum(axis=0), (S[3:] ** 2).sum(axis=0)
    return np.asarray(rigid[0, 0] * linear + np.trace(rigid[3:, 3:]) * angular + armature)


def _weak(felt: Array, scales: Array) -> list[int]:
    """Velocities that inertia does not resist; empty if all is well."""
    if not np.all(scales > 0.0):
        return np.flatnonzero(scales <= 0.0).tolist()
    roots = np.sqrt(scales)
    values, vectors = np.linalg.eigh(felt / np.outer(roots, roots))
    loose = np.abs(vectors[:, values < SINGULAR]).max(axis=1, initial=0.0)
    return np.flatnonzero(loose > 0.3 * loose.max(initial=1e-300)).tolist() if np.any(values < SINGULAR) else []


def _message(link: Link, weak: list[str], rigid: Array) -> str:
    joint, body = link.joint, link.body.name
    where = f"joint '{joint.name}'"
    if rigid[0, 0] == 0.0:
        return f"{where}: it moves body '{body}', but nothing there has mass; give mass, an armature, or make it fixed"
    along = f" {listed(weak)}" if any(weak) else ""
    return (
        f"{where}: at the start, nothing resists its velocity{along}: body '{body}' and what it carries have "
        "no inertia there; give inertia (a radius), an armature, or choose another kind of joint"
    )

"""Serial chains of hinges with parallel axes: whether a model is one, and its numbers in the plane across the axes.

At q = 0 the axes of all segments are parallel to X and Y of the plane; hinges rotate them about X x Y."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.model.tree import Link

if TYPE_CHECKING:
    from pliant.model.model import Model

Array = NDArray[np.float64]
PARALLEL = 1e-12  # sine of the angle between axes that count as parallel
ON_AXIS = 1e-14  # of the size of the chain: nearer to the axis counts as on it
Z = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class PlanarChain:
    """Rows are segments from the base outward; the motors of flexible joints are none."""

    links: NDArray[np.int64]  # row of each in model.links
    plane: Array  # (3, 3) rows X, Y and the axis X x Y, world axes
    bases: Array  # (n, 3, 3) the same in axes of each body
    signs: Array  # (n) sense of each hinge about the axis, 0: welded
    joints: Array  # (n, 2) each hinge, in axes of the segment before [m]
    centres: Array  # (n, 2) mass centre from the hinge [m]

    @property
    def is_coaxial(self) -> bool:
        """Whether all hinges and mass centres lie on one line: nothing but rotation, linear."""
        far = np.vstack([self.joints[1:], self.centres])
        return bool(np.all(np.abs(far) <= ON_AXIS * max(1.0, float(np.max(np.abs(self.joints), initial=0.0)))))


def planar_chain(model: Model) -> PlanarChain | str:
    """The chain that a model is, or why it is none."""
    problem = _shape_problem(model)
    if problem:
        return problem
    links = [(i, link) for i, link in enumerate(model.links) if link.transmission is None]
    axis = _axis(links)
    plane = np.vstack([*_across(axis), axis])
    bases, signs, joints, centres, R = [], [], [], [], np.eye(3)
    for _, link in links:
        before, R = R, R @ link.joint_frame.matrix
        turned = R @ _unit(link.joint.axis or (0.0, 0.0, 1.0))
        if link.joint.kind == "revolute" and np.linalg.norm(np.cross(axis, turned)) > PARALLEL:
            return (
                f"the axis of joint {link.joint.name!r} is not parallel to that of joint {_first(links).joint.name!r}"
            )
        signs.append(float(np.sign(axis @ turned)) if link.joint.kind == "revolute" else 0.0)
        joints.append(plane[:2] @ before @ np.array(link.joint_frame.position))
        bases.append(plane @ R)
        centres.append(bases[-1][:2] @ link.body.centre)
        problem = _inertia_problem(link, bases[-1][2])
        if problem:
            return problem
    rows = np.array([i for i, _ in links], np.int64)
    return PlanarChain(rows, plane, np.array(bases), np.array(signs), np.array(joints), np.array(centres))


def _shape_problem(model: Model) -> str:
    if model.loops:
        return f"loop {model.loops[0].name!r} closes it"
    last = -1
    for i, link in enumerate(model.links):
        if link.body.n_modes:
            return f"body {link.body.name!r} is a beam with modes"
        if link.joint.kind not in ("revolute", "fixed"):
            return f"joint {link.joint.name!r} is {link.joint.kind}, and chains of hinges have revolute (or fixed) ones"
        if link.parent != last:
            where = "the world" if link.parent < 0 else f"body {model.links[link.parent].body.name!r}"
            return f"it branches at {where}"
        if link.transmission is None:
            last = i
        elif link.transmission.mass:
            return f"the motor of joint {link.joint.name.removesuffix('.motor')!r} has a mass of its own, a branch"
    return ""


def _inertia_problem(link: Link, axis: Array) -> str:
    """On the way outward a hinge meets its own link first: what hangs on it comes later."""
    own = float(axis @ link.body.inertia_about_origin @ axis)
    is_held = link.joint.kind == "fixed" or all(link.joint.driven)
    if own > 0.0 or is_held or any(link.joint.each("armature")):
        return ""
    return (
        f"body {link.body.name!r} has no inertia about the axis of its own joint, which the sweep from the base "
        "outward divides by"
    )


def _first(links: list[tuple[int, Link]]) -> Link:
    return next((link for _, link in links if link.joint.kind == "revolute"), links[0][1])


def _axis(links: list[tuple[int, Link]]) -> Array:
    """Of all hinges, world axes at q = 0; along +z rather than -z."""
    R = np.eye(3)
    for _, link in links:
        R = R @ link.joint_frame.matrix
        if link.joint.kind == "revolute":
            axis = R @ _unit(link.joint.axis or (0.0, 0.0, 1.0))
            if np.linalg.norm(np.cross(axis, Z)) <= PARALLEL:
                return Z
            return np.asarray(axis)
    return Z


def _across(axis: Array) -> tuple[Array, Array]:
    """X and Y with X x Y = axis; those of the world where the axis is z."""
    x = np.eye(3)[int(np.argmin(np.abs(axis)))] if axis[2] != 1.0 else np.array([1.0, 0.0, 0.0])
    x = _unit(x - (x @ axis) * axis)
    return x, np.cross(axis, x)


def _unit(vector: tuple[float, ...] | Array) -> Array:
    found = np.array(vector, float)
    return np.asarray(found / np.linalg.norm(found))

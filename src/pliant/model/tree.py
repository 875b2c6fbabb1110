"""The order of things: bodies in tree order as declared, their joints, and the names of all coordinates."""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError
from pliant.model.attitudes import attitude_matrix
from pliant.model.bodies import Body, Frame
from pliant.model.flexible import Beam
from pliant.model.joints import Joint
from pliant.model.messages import closest, listed, quoted
from pliant.model.quantities import described
from pliant.model.rotations import matrix_quaternion
from pliant.model.transmissions import Transmission

if TYPE_CHECKING:
    from pliant.model.model import Base, Model


@dataclass(frozen=True)
class Link:
    """A body with its inboard joint and its place in the state: the joint's coordinates, then the body's modes."""

    body: Body | Beam
    joint: Joint
    parent: int  # row of the parent, -1 = world
    joint_frame: Frame  # of the joint, on the parent
    q: int  # first coordinate
    v: int  # first velocity
    transmission: Transmission | None = None  # of a motor's side: what connects it to the next link

    @property
    def q_slice(self) -> slice:
        """The joint's coordinates."""
        return slice(self.q, self.q + len(self.joint.row.coordinates))

    @property
    def v_slice(self) -> slice:
        """The joint's velocities."""
        return slice(self.v, self.v + len(self.joint.row.velocities))

    @property
    def q_modes(self) -> slice:
        """The modal coordinates in q."""
        return slice(self.q_slice.stop, self.q_slice.stop + self.body.n_modes)

    @property
    def v_modes(self) -> slice:
        """Their rates in v."""
        return slice(self.v_slice.stop, self.v_slice.stop + self.body.n_modes)


def find_frame(model: Model, place: str | Frame) -> Frame:
    """The frame a place means: given in place, a named frame, a body's own frame, or the world."""
    if isinstance(place, Frame):
        return place
    return model.named_frames.get(place) or Frame(body=place)


def base_joint(base: Base, body: Body | Beam) -> Joint:
    """The joint of the body that no declared joint carries."""
    if base.kind == "fixed":
        frame = Frame(body="world", position=base.position, attitude=base.attitude)
        return Joint(name=body.name, kind="fixed", child=body.name, parent=frame)
    R = attitude_matrix(base.attitude)
    if base.kind == "planar":
        velocity = R @ np.array(base.velocity)
        q0 = (base.position[0], base.position[1], math.atan2(R[1, 0], R[0, 0]))
        return Joint(
            name=body.name, kind="planar", child=body.name, q0=q0, v0=(*velocity[:2], base.angular_velocity[2])
        )
    return Joint(
        name=body.name,
        kind="floating",
        child=body.name,
        q0=(*base.position, *matrix_quaternion(R)),
        v0=(*base.velocity, *base.angular_velocity),
    )


# names that no file can give
@described
class _Motor(Body):
    """The motor's side of a flexible joint: it has the joint's mass and rotates alone, by the inertia of its rotor."""

    name: str


@described
class _MotorJoint(Joint):
    """Carries a motor's side, on the parent of the link that it moves."""

    name: str


def motor_name(joint: str) -> str:
    """What the motor's side of a flexible joint is called."""
    return f"{joint}.motor"


def _motor_side(joint: Joint, transmission: Transmission) -> tuple[Body, Joint]:
    name = motor_name(joint.name)
    start = joint.start if transmission.q0 is None else transmission.q0
    rate = joint.start_rate if transmission.v0 is None else transmission.v0
    motor = _MotorJoint(
        name,
        joint.kind,
        child=name,
        parent=joint.parent,
        axis=joint.axis,
        q0=start,
        v0=rate,
        friction=transmission.friction,
        armature=joint.armature,
        gear=joint.gear,
        motor=joint.motor,
        motion=joint.motion,
    )
    return _Motor(name, mass=transmission.mass), motor


def _link_side(joint: Joint) -> Joint:
    return replace(joint, armature=0.0, gear=1.0, motor=None, motion=None, transmission=None)


def build_tree(model: Model) -> tuple[Link, ...]:
    """Parents before children, otherwise as declared; before the link of a flexible joint its motor's side. The model
    has been checked: no cycles, one joint per body."""
    carried = {joint.child: joint for joint in model.joints}
    joints = {body.name: carried.get(body.name) or base_joint(model.base, body) for body in model.bodies}
    joint_frames = {name: find_frame(model, joint.parent) for name, joint in joints.items()}
    carries: dict[str, list[int]] = {}
    for number, body in enumerate(model.bodies):
        carries.setdefault(joint_frames[body.name].body, []).append(number)
    links: list[Link] = []
    place = {"world": -1}
    ready = carries.get("world", [])  # in ascending order, which is a heap
    q = v = 0
    while ready:
        body = model.bodies[heapq.heappop(ready)]
        for number in carries.get(body.name, ()):
            heapq.heappush(ready, number)
        joint, frame = joints[body.name], joint_frames[body.name]
        if joint.transmission is not None:
            motor = _motor_side(joint, joint.transmission)
            links.append(Link(*motor, place[frame.body], frame, q, v, joint.transmission))
            q, v, joint = q + 1, v + 1, _link_side(joint)
        place[body.name] = len(links)
        links.append(Link(body, joint, place[frame.body], frame, q, v))
        q += len(joint.row.coordinates) + body.n_modes
        v += len(joint.row.velocities) + body.n_modes
    return tuple(links)


def motor_links(links: tuple[Link, ...]) -> dict[str, Link]:
    """By name of joint: what its motor moves, of a flexible joint the motor's side."""
    sides = {link.joint.name: link for link in links}
    return {name: sides.get(motor_name(name), link) for name, link in sides.items()}


def column_names(links: tuple[Link, ...], of: str) -> tuple[str, ...]:
    """Names of the coordinates or velocities: "elbow", "base.x", "wrist.qw", "link1.mode2"."""
    names: list[str] = []
    for link in links:
        names += [f"{link.joint.name}.{part}" if part else link.joint.name for part in getattr(link.joint.row, of)]
        names += [f"{link.body.name}.mode{k + 1}" for k in range(link.body.n_modes)]
    return tuple(names)


def stays_in_plane(model: Model) -> bool:
    """Whether joints rotate about z or slide in x-y, no joint frame tilts z, and no beam bends or twists out of x-y."""
    flat = {"fixed": lambda axis: True, "planar": lambda axis: True}
    flat |= {"revolute": lambda axis: axis[0] == axis[1] == 0.0, "prismatic": lambda axis: axis[2] == 0.0}
    for link in model.links:
        _, bends_z, _, twists = link.body.families
        if bends_z or twists or link.joint.kind not in flat or not flat[link.joint.kind](link.joint.axis or (0, 0, 1)):
            return False
        R = link.joint_frame.matrix
        if R[2, 2] != 1.0 or np.any(R[2, :2]) or np.any(R[:2, 2]):
            return False
    return True


def kept_velocities(model: Model, keep: Collection[str], what: str = "keep") -> NDArray[np.bool_]:
    """Which velocities belong to these joints (or columns); what: the argument that names them."""
    known = [link.joint.name for link in model.links]
    for name in keep:
        if not isinstance(name, str) or (name not in known and name not in model.velocities):
            hint = closest(name, known) if isinstance(name, str) else ""
            raise ModelError(f"{what}: no joint {quoted(name)}{hint or ';'} there are: {listed(known)}")
    chosen = np.zeros(len(model.velocities), bool)
    for link in model.links:
        if link.joint.name in keep:
            chosen[link.v_slice] = True
    for j, name in enumerate(model.velocities):
        chosen[j] |= name in keep
    return chosen


def model_size(model: Model) -> float:
    """Longest way from a root to a mass centre along the joint frames [m]: what "small" means for lengths."""
    reach: list[float] = []
    size = 0.0
    for link in model.links:
        before = reach[link.parent] + float(np.linalg.norm(link.joint_frame.position)) if link.parent >= 0 else 0.0
        reach.append(before)
        extent = (
            math.sqrt(float(np.trace(link.body.inertia_about_origin)) / float(link.body.total_mass))
            if link.body.total_mass
            else 0.0
        )
        size = max(size, before + extent)
    return size or 1.0

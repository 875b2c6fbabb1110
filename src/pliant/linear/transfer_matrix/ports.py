"""Inputs and outputs of transfer functions by name: what may act or be moved, and what is read off.

Names are those of linear models (inputs_outputs.py); places need no output of the model: "tip.x" is the displacement of
frame tip. World axes, but for reactions (axes of the child) and forces in sections (axes of the section)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.engine.arguments import as_names
from pliant.errors import ModelError
from pliant.linear.inputs_outputs import WRENCH
from pliant.linear.transfer_matrix.chain import WORLD, Chain
from pliant.linear.transfer_matrix.joint_motions import skew
from pliant.linear.transfer_matrix.riccati import Balance, Loads, Motion, Numbers
from pliant.model.columns import FORCES, PARTS, UNITS, output_columns, velocity_columns
from pliant.model.messages import closest, listed, quoted
from pliant.model.model import Model, Output
from pliant.model.rotations import matrix_quaternion
from pliant.model.tree import find_frame

Array = NDArray[np.float64]

MOTIONS = {"x": "m", "y": "m", "z": "m", "rx": "rad", "ry": "rad", "rz": "rad"}  # of a frame, or of the world
RATES = {"vx": "m/s", "vy": "m/s", "vz": "m/s", "wx": "rad/s", "wy": "rad/s", "wz": "rad/s"}
ACCELERATIONS = {"ax": "m/s^2", "ay": "m/s^2", "az": "m/s^2", "alx": "rad/s^2", "aly": "rad/s^2", "alz": "rad/s^2"}
OF_FRAMES = ({"position": 0, "velocity": 1, "acceleration": 2}, (MOTIONS, RATES, ACCELERATIONS))
READ = ("position", "velocity", "acceleration", "attitude", "angular_velocity", "reaction", "section")

Reader = Callable[["Solution"], Numbers]  # (frequencies, inputs)


class Port(NamedTuple):
    """An input or output."""

    name: str
    unit: str


class Reading(NamedTuple):
    """An output, and how it is read off."""

    port: Port
    read: Reader


class Solution(NamedTuple):
    """What a sweep gives."""

    chain: Chain
    loads: Loads
    motion: Motion
    balance: Balance
    s: NDArray[np.complex128]

    @property
    def world(self) -> Numbers:
        """Displacement of the world (6, inputs)."""
        return np.zeros((6, self.loads.n)) if self.loads.world is None else self.loads.world

    def rate(self, order: int) -> NDArray[np.complex128]:
        """s^order, (frequencies, 1)."""
        return np.asarray(self.s[:, None] ** order)


# --- inputs ----------------------------------------------------------------------------------------------------------


def joint_names(model: Model) -> dict[str, str]:
    """Coordinates of joints (no modes of beams) and their kinds."""
    modal = {model.velocities[j] for link in model.links for j in range(link.v_modes.start, link.v_modes.stop)}
    columns = ((one.name.removesuffix(".rate"), one.kind) for one in velocity_columns(model))
    return {name: kind for name, kind in columns if name not in modal}


def usual_inputs(model: Model) -> list[str]:
    """Of motors and controllers, else of all free joints, else the motions of prescribed ones."""
    driven, motors, free = [], [], []
    controlled = {name for controller in model.controllers for name in controller.joints}
    for link in model.links:
        for k, name in enumerate(model.velocities[link.v_slice]):
            if link.joint.driven[k]:
                driven.append(name)
                continue
            free.append(name)
            if link.joint.each("motor")[k] is not None or {name, name.removesuffix(".motor")} & controlled:
                motors.append(name)
    return motors or free or driven


def find_inputs(chain: Chain, names: str | Iterable[str] | None) -> tuple[tuple[Port, ...], Loads]:
    """Inputs by name, and what they do, or a message."""
    model = chain.model
    chosen = usual_inputs(model) if names is None else as_names(names, "inputs")
    if not chosen:
        raise ModelError("inputs: the model has no joint; name a force at a frame ('tip.fy') or a motion ('world.y')")
    loads = Loads(len(chosen), {}, {}, {})
    return tuple(_input(chain, name, k, loads) for k, name in enumerate(chosen)), loads


def _input(chain: Chain, name: str, column: int, loads: Loads) -> Port:
    kinds = joint_names(chain.model)
    if name in kinds:
        station, e = chain.coordinates[name]
        one = chain.stations[station]
        if e in one.held:
            table, row = loads.motions, int(np.searchsorted(one.held, e))
            table.setdefault(station, np.zeros((len(one.held), loads.n)))[row, column] = 1.0
            return Port(name, UNITS[kinds[name]])
        loads.on_joints.setdefault(station, np.zeros((one.n, loads.n)))[e, column] = 1.0
        return Port(name, FORCES[kinds[name]])
    where, _, part = name.rpartition(".")
    if where == "world" and part in MOTIONS:
        if loads.world is None:
            loads.world = np.zeros((6, loads.n))
        loads.world[list(MOTIONS).index(part), column] = 1.0
        return Port(name, MOTIONS[part])
    if part in WRENCH and where in _frames(chain.model):
        at = chain.place(where)
        wrench = np.zeros(6)
        wrench[list(WRENCH).index(part)] = 1.0
        wrench[3:] += np.cross(at.offset, wrench[:3])
        if at.station != WORLD:
            loads.at_stations.setdefault(at.station, np.zeros((6, loads.n)))[:, column] = wrench
        return Port(name, WRENCH[part])
    raise ModelError(
        f"inputs: no {quoted(name)}{closest(name, [*kinds, *_frames(chain.model)]) or ';'} there are forces of joints, "
        f"or motions of prescribed ones ({listed(list(kinds)) or 'none'}), forces at frames in world axes, as 'tip.fx' "
        f"or 'tip.mz' ({listed(_frames(chain.model))}), and motions of the ground, as 'world.y' or 'world.rz'"
    )


def _frames(model: Model) -> list[str]:
    """Named frames and bodies."""
    return [*model.named_frames, *(body.name for body in model.bodies)]


# --- outputs ---------------------------------------------------------------------------------------------------------


def usual_outputs(model: Model) -> list[str]:
    """The model's outputs, else all coordinates of joints, else the deflection of every body."""
    readable = [one.name for one in model.outputs if one.quantity in READ]
    return readable or list(joint_names(model)) or [f"{body.name}.y" for body in model.bodies]


def find_outputs(chain: Chain, names: str | Iterable[str] | None) -> tuple[Reading, ...]:
    """What is read off by name, or a message; default: the model's outputs, else all coordinates of joints."""
    model = chain.model
    chosen = usual_outputs(model) if names is None else as_names(names, "outputs")
    return tuple(one for name in chosen for one in _readings(chain, name))


def _readings(chain: Chain, name: str) -> list[Reading]:
    model = chain.model
    kinds = joint_names(model)
    by_name = {one.name: one for one in model.outputs}
    if name in by_name:
        return _output(chain, by_name[name])
    where, _, part = name.rpartition(".")
    if where in by_name:
        found = [one for one in _output(chain, by_name[where]) if one.port.name == name]
        if found:
            return found
    if name in kinds:
        return [Reading(Port(name, UNITS[kinds[name]]), _coordinate(chain, name, 0))]
    if part == "rate" and where in kinds:
        return [Reading(Port(name, f"{UNITS[kinds[where]]}/s"), _coordinate(chain, where, 1))]
    joints = {link.joint.name: i for i, link in enumerate(model.links) if link.transmission is None}
    if where in joints and part in WRENCH:
        return [Reading(Port(name, WRENCH[part]), _reaction(chain, joints[where], list(WRENCH).index(part)))]
    if where in _frames(model):
        for order, units in enumerate(OF_FRAMES[1]):
            if part in units:
                return [Reading(Port(name, units[part]), _frame_motion(chain, where, list(units).index(part), order))]
    known = [*by_name, *kinds, *(f"{frame}.y" for frame in _frames(model))]
    raise ModelError(
        f"outputs: no {quoted(name)}{closest(name, known) or ';'} there are the model's outputs "
        f"({listed(list(by_name)) or 'none'}), coordinates of joints ({listed(list(kinds)) or 'none'}), rates, of "
        "frames and bodies displacement 'tip.x', rotation 'tip.rz', rates 'tip.vx', 'tip.wz', accelerations 'tip.ax', "
        "'tip.alz' (world axes), and reactions of joints 'elbow.mz' (axes of the child)"
    )


def _output(chain: Chain, output: Output) -> list[Reading]:
    columns = output_columns(chain.model, output)
    readers = _output_readers(chain, output)
    return [Reading(Port(one.name, one.unit), read) for one, read in zip(columns, readers, strict=True)]


def _output_readers(chain: Chain, output: Output) -> list[Reader]:
    quantity = output.quantity
    if quantity in OF_FRAMES[0]:
        return [_frame_motion(chain, output.of, k, OF_FRAMES[0][quantity]) for k in range(3)]
    if quantity == "angular_velocity":
        return [_frame_motion(chain, output.of, k, 1) for k in (3, 4, 5)]
    if quantity == "attitude":
        return [_attitude(chain, output.of, k) for k in range(4)]
    if quantity == "reaction":
        link = next(i for i, one in enumerate(chain.model.links) if one.joint.name == output.of)
        return [_reaction(chain, link, k) for k in range(6)]
    if quantity == "section":
        return [_section(chain, output, k) for k in range(len(PARTS["section"]))]
    raise ModelError(
        f"outputs: {output.name!r} is {quantity}, which transfer matrices do not read off; they do {listed(READ)}; "
        "pliant.linearise has the others"
    )


def _coordinate(chain: Chain, name: str, order: int) -> Reader:
    station, e = chain.coordinates[name]
    return lambda solution: solution.motion.e[station][:, e] * solution.rate(order)


def _displacement(solution: Solution, station: int, offset: Array) -> Numbers:
    """(frequencies, 6, inputs) at an offset from a station."""
    x = solution.world + 0.0 * solution.s[:, None, None] if station == WORLD else solution.motion.x[station]
    shift = np.eye(6)
    shift[:3, 3:] = -skew(offset)
    return np.asarray(shift @ x)


def _frame_motion(chain: Chain, frame: str, part: int, order: int) -> Reader:
    at = chain.place(frame)
    return lambda one: _displacement(one, at.station, at.offset)[:, part] * one.rate(order)


def _attitude(chain: Chain, frame: str, part: int) -> Reader:
    """Change of the quaternion x y z w: half the rotation times it."""
    at = chain.place(frame)
    x, y, z, w = matrix_quaternion(at.R)
    table = 0.5 * np.array([[w, z, -y], [-z, w, x], [y, -x, w], [-x, -y, -z]])
    return lambda one: np.asarray(table[part] @ _displacement(one, at.station, at.offset)[:, 3:])


def _turned(force: Numbers, g: Array, turn: Numbers, R: Array) -> Numbers:
    """Change of a wrench in axes R that rotate with its place; force: along displacement and rotation vector phi, where
    the moment is n - 1/2 phi x n; g: the wrench at rest."""
    force = np.concatenate([force[:, :3] + skew(g[:3]) @ turn, force[:, 3:] + 0.5 * skew(g[3:]) @ turn], axis=1)
    return np.asarray(np.kron(np.eye(2), R.T) @ force)


def _reaction(chain: Chain, link: int, part: int) -> Reader:
    """By the parent on the child, at the child's origin."""
    station, R = chain.bodies[link], chain.R[link]

    def read(one: Solution) -> Numbers:
        force, x = -one.balance.outboard[station], one.motion.x[station]
        return np.asarray(_turned(force, chain.stations[station].g, x[:, 3:], R)[:, part])

    return read


def _section(chain: Chain, output: Output, part: int) -> Reader:
    """N, Vy, Vz, T, My, Mz by what lies outboard on what lies inboard, axes of the section."""
    frame = find_frame(chain.model, output.of)
    link = next(i for i, one in enumerate(chain.model.links) if one.body.name == frame.body)
    if link not in chain.nodes:
        raise ModelError(f"outputs: {output.name!r} is of a beam that does not bend; pliant.linearise has it")
    R, nodes = chain.R[link], chain.nodes[link]
    k = min(range(len(nodes)), key=lambda k: abs(nodes[k][0] - frame.position[0]))
    station = nodes[k][1]

    def read(one: Solution) -> Numbers:
        force, g = -one.balance.outboard[station], chain.stations[station].g
        if k == 0:
            # not what else is at the start
            first = chain.stations[nodes[1][1]]
            force, g = -one.balance.on_parent[nodes[1][1]], first.X.T @ first.g + first.g_joint
        return np.asarray(-_turned(force, g, one.motion.x[station][:, 3:], R)[:, part])

    return read

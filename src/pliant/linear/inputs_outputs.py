"""The inputs and outputs of a linear model by name: forces that may act, numbers that are read off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.engine.arguments import as_names
from pliant.engine.prepared import Prepared
from pliant.errors import ModelError
from pliant.model.columns import FORCES, UNITS, output_columns, velocity_columns
from pliant.model.messages import closest, listed, quoted
from pliant.model.model import Load, Model
from pliant.model.signals import Constant
from pliant.model.springs import is_commanded
from pliant.model.tree import find_frame
from pliant.queries.frames import jacobian, row_jacobians

Array = NDArray[np.float64]
WRENCH = {"fx": "N", "fy": "N", "fz": "N", "mx": "N m", "my": "N m", "mz": "N m"}


@dataclass(frozen=True)
class Input:
    """A force that may act: its name and unit, and what it does to every velocity (J^T). At a frame, and between two,
    also the loads that it is: reactions depend on where a force acts."""

    name: str
    unit: str
    force: Array
    loads: tuple[Load, ...] = ()


@dataclass(frozen=True)
class Quantity:
    """A number read off: a column of the outputs, or of the deviations and their rates."""

    name: str
    unit: str
    column: int
    kind: str  # "output", "coordinate" or "rate"


def find_inputs(handle: Prepared, q: Array, names: Sequence[str] | None) -> tuple[Input, ...]:
    """Forces by name, or a message; default: of motors and controllers, else of all joints."""
    kinds = {one.name.removesuffix(".rate"): one.kind for one in velocity_columns(handle.model)}
    names = _usual_inputs(handle, kinds) if names is None else as_names(names, "inputs")
    return tuple(_input(handle, q, name, kinds) for name in names)


def _usual_inputs(handle: Prepared, kinds: dict[str, str]) -> list[str]:
    dofs = handle.system.dofs
    is_free = dofs.motion < 0
    has_motor = (dofs.motor >= 0) | (dofs.input >= 0)
    of_joint = np.array([kind in FORCES for kind in kinds.values()], bool)
    springs = [one.name for one in handle.model.springs if one.has_motor or is_commanded(handle.model, one)]
    wanted = is_free & (has_motor if springs or np.any(has_motor & is_free) else of_joint)
    return [name for name, is_wanted in zip(handle.model.velocities, wanted, strict=True) if is_wanted] + springs


def _input(handle: Prepared, q: Array, name: str, kinds: dict[str, str]) -> Input:
    model = handle.model
    if name in model.velocities:
        j = model.velocities.index(name)
        if handle.system.dofs[j].motion >= 0:
            raise ModelError(f"inputs: {name!r} moves as prescribed; a force on it moves nothing, leave it out")
        return Input(name, FORCES.get(kinds[name], "N"), joint_force(handle, j))
    frame, _, part = name.rpartition(".")
    if frame and part in WRENCH and frame in handle.packed.frame_rows:
        force = jacobian(model, q, frame)[list(WRENCH).index(part)].copy()
        x, y, z = (Constant(float(part[1] == axis)) for axis in "xyz")
        load = Load(frame, x, y, z, "couple" if part[0] == "m" else "force")
        return Input(name, WRENCH[part], force, (load,))
    springs = [spring.name for spring in model.springs]
    if name in springs:
        return spring_thrust(handle, q, springs.index(name))
    hint = closest(name, (*model.velocities, *springs))
    known = f"joints ({listed(model.velocities)})" + (f", of springs ({listed(springs)})" if springs else "")
    raise ModelError(
        f"inputs: no force {quoted(name)}{hint or ';'} there are those of {known} and of frames in world axes, as "
        "'tip.fx' or 'tip.mz'"
    )


def spring_thrust(handle: Prepared, q: Array, k: int) -> Input:
    """A unit force that pushes the ends of spring k apart."""
    spring, row = handle.model.springs[k], handle.system.springs[k]
    ends = [handle.frame_places(q[None, :])[0, int(at)] for at in (row.start, row.end)]
    u = (ends[1] - ends[0]) / max(float(np.linalg.norm(ends[1] - ends[0])), np.finfo(float).tiny)
    first, second = (row_jacobians(handle, q[None, :], int(at))[0, :3] for at in (row.start, row.end))
    pairs = [(spring.first, -u), (spring.second, u)]
    pushed = [(find_frame(handle.model, place), force) for place, force in pairs]
    loads = [
        Load(frame, Constant(float(x)), Constant(float(y)), Constant(float(z)))
        for frame, (x, y, z) in pushed
        if frame.body != "world"
    ]
    return Input(spring.name, "N", u @ (second - first), tuple(loads))


def joint_force(handle: Prepared, j: int) -> Array:
    """What a unit force between the two sections that meet at a joint does to every velocity: to velocity j, and to the
    modes that tilt the first section."""
    force = np.zeros(len(handle.system.dofs))
    force[j] = 1.0
    dof = handle.system.dofs[j]
    if dof.tilt >= 0:
        body = handle.system.bodies[dof.body]
        count = int(handle.system.flexes[body.flex].m)
        first = int(body.v + body.n_v)
        force[first : first + count] = handle.system.shapes[dof.tilt : dof.tilt + count]
    return force


def find_outputs(model: Model, is_free: NDArray[np.bool_], names: Sequence[str] | None) -> tuple[Quantity, ...]:
    """What is read off, by name, or a message; default: the model's outputs, else all coordinates that are free."""
    known = _known_outputs(model)
    if names is None:
        of_outputs = [output.name for output in model.outputs]
        names = of_outputs or [model.velocities[j] for j in np.flatnonzero(is_free)]
    names = as_names(names, "outputs")
    for name in names:
        if name not in known:
            raise ModelError(f"outputs: no {quoted(name)}{closest(name, known) or ';'} there are {listed(known)}")
    return tuple(one for name in names for one in known[name])


def _known_outputs(model: Model) -> dict[str, list[Quantity]]:
    """All that there is: outputs and their columns, coordinates, rates."""
    known: dict[str, list[Quantity]] = {}
    column = 0
    for output in model.outputs:
        found = []
        for one in output_columns(model, output):
            found.append(Quantity(one.name, one.unit, column, "output"))
            known[one.name] = found[-1:]
            column += 1
        known[output.name] = found
    for j, one in enumerate(velocity_columns(model)):
        name = one.name.removesuffix(".rate")
        known.setdefault(name, [Quantity(name, UNITS[one.kind], j, "coordinate")])
        known.setdefault(one.name, [Quantity(one.name, one.unit, j, "rate")])
    return known

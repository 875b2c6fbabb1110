"""A pose held by constant forces of the joints, as of motors that carry gravity and springs there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.errors import SimulationError
from pliant.linear.inputs_outputs import joint_force
from pliant.linear.operating_point import OperatingPoint

MAX_STEPS = 30  # of Newton's method
SMALL_STEP = 1e-9  # [rad, of the model's size]: what rests has been found, and the next step is rounding
DIFFERENCE = 1e-6  # [rad, of the model's size]


def hold_still(point: OperatingPoint) -> OperatingPoint:
    """The point at which nothing accelerates: forces on the joints, modes of beams and links of flexible joints moved
    to where they rest. Newton's method with plain differences."""
    n, scales = len(point.independent), point.scales[: len(point.independent)]
    is_held = held_velocities(point)[point.independent]
    held, resting = np.flatnonzero(is_held), np.flatnonzero(~is_held)
    pushes = [joint_force(point.handle, int(point.independent[k])) for k in held]
    x, forces = np.zeros(len(point.scales)), point.held.copy()
    for _ in range(MAX_STEPS):
        columns = []
        for k in resting:
            ahead, behind = x.copy(), x.copy()
            ahead[k] += DIFFERENCE * scales[k]
            behind[k] -= DIFFERENCE * scales[k]
            rise = point.accelerations(ahead, forces) - point.accelerations(behind, forces)
            columns.append(rise / (2.0 * DIFFERENCE))
        columns += [point.accelerations(x, forces + push) - point.accelerations(x, forces - push) for push in pushes]
        matrix = np.array(columns).T.reshape(n, n)
        sizes = np.maximum(np.max(np.abs(matrix), axis=0, initial=0.0), np.finfo(float).tiny)
        found = np.linalg.lstsq(matrix / sizes, -point.accelerations(x, forces), rcond=1e-14)[0] / sizes
        x[resting] += scales[resting] * found[: len(resting)]
        for change, push in zip(found[len(resting) :], pushes, strict=True):
            forces += 2.0 * change * push
        if np.max(np.abs(found[: len(resting)]), initial=0.0) <= SMALL_STEP:
            there = OperatingPoint(point.model, point.state(x)[0], point.v, point.t)
            there.push(held=forces)
            return there
    raise SimulationError("modes: no rest of the beams was found with the joints held at q; give q nearer to it")


def held_velocities(point: OperatingPoint) -> NDArray[np.bool_]:
    """Velocities of joints; of flexible joints those of the motor's side."""
    is_held = np.zeros(len(point.v), bool)
    for link in point.model.links:
        is_held[link.v_slice] = True
    is_held[point.handle.system.transmissions.link] = False
    return np.asarray(is_held & point.is_free)

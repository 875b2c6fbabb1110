"""A pose held by constant forces of the joints, as of motors that carry gravity and springs there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.errors import SimulationError
from pliant.linear.inputs_outputs import Input, joint_force
from pliant.linear.operating_point import OperatingPoint

MAX_STEPS = 30  # of Newton's method
SMALL_STEP = 1e-12  # [rad, of the model's size]: what rests has been found


def hold_still(point: OperatingPoint) -> OperatingPoint:
    """The point at which nothing accelerates: forces on the joints, modes of beams and links of flexible joints moved
    to where they rest."""
    is_held = held_velocities(point)
    for _ in range(MAX_STEPS):
        n = len(point.independent)
        held = np.flatnonzero(is_held[point.independent])
        resting = np.flatnonzero(~is_held[point.independent])
        inputs = [Input("", "", joint_force(point.handle, int(point.independent[k]))) for k in held]
        linear = point.linear_model(inputs, ())
        matrix = np.hstack([linear.A[n : 2 * n, resting], linear.B[n : 2 * n]])
        scales = np.concatenate(
            [point.scales[resting], 1.0 / np.maximum(np.abs(linear.B[n + held]).max(axis=0), 1e-300)]
        )
        found = scales * np.linalg.lstsq(matrix * scales, -point.residual, rcond=1e-14)[0] if n else np.zeros(0)
        step = np.zeros(n)
        step[resting] = found[: len(resting)]
        forces = point.held + sum((x * one.force for x, one in zip(found[len(resting) :], inputs, strict=True)), 0.0)
        size = float(np.max(np.abs(step / point.scales[:n]), initial=0.0))
        if size > SMALL_STEP:
            point = OperatingPoint(point.model, point.closed(step), point.v, point.t)
        point.push(held=forces)
        if size <= SMALL_STEP:
            return point
    raise SimulationError("modes: no rest of the beams was found with the joints held at q; give q nearer to it")


def held_velocities(point: OperatingPoint) -> NDArray[np.bool_]:
    """Velocities of joints; of flexible joints those of the motor's side."""
    is_held = np.zeros(len(point.v), bool)
    for link in point.model.links:
        is_held[link.v_slice] = True
    is_held[point.handle.system.transmissions.link] = False
    return np.asarray(is_held & point.is_free)

"""A robot with its controllers about a state: where it rests under them, and the sampled linear model of both."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError, SimulationError
from pliant.linear.feedback import Controllers
from pliant.linear.inputs_outputs import Input, Quantity, joint_force, spring_thrust
from pliant.linear.operating_point import OperatingPoint
from pliant.linear.sampled_loops import SampledLoops
from pliant.model.columns import FORCES, velocity_columns
from pliant.model.model import Model

Array = NDArray[np.float64]
MAX_STEPS = 50  # of Newton's method
MAX_STEP = 0.5  # [rad, of the model's size]
SMALL_STEP = 1e-13  # [rad, of the model's size]: rest is found


def commanded_forces(point: OperatingPoint) -> tuple[Input, ...]:
    """What a unit of every held command does: its motor's torque, over the gear."""
    dofs, kinds = point.handle.system.dofs, velocity_columns(point.model)
    found = {}
    for j in np.flatnonzero(dofs.input >= 0):
        name = point.model.velocities[j]
        force = float(dofs[j].gear) * joint_force(point.handle, int(j))
        found[int(dofs[j].input)] = Input(name, FORCES.get(kinds[j].kind, "N"), force)
    for k, spring in enumerate(point.handle.system.springs):
        if spring.input >= 0:
            found[int(spring.input)] = spring_thrust(point.handle, point.q, k)
    return tuple(found[k] for k in range(len(found)))


def settle(point: OperatingPoint) -> tuple[Controllers, Array]:
    """The controllers at a state that is given, and the values of their integrals: those that leave the state as near
    to rest as they can. The point is under their commands then."""
    if not point.model.controllers:
        raise ModelError("controllers: the model has none; leave controllers=True out")
    controllers = Controllers(point)
    free = np.zeros(controllers.n_free)
    u = controllers.limited(controllers.commands(free))
    if len(free):
        point.push(u)
        n = len(point.independent)
        B = point.linear_model(commanded_forces(point), ()).B[n : 2 * n]
        weights = 1.0 / point.scales[:n, None]
        change = weights * (B @ controllers.steady(u)[1])
        free = np.asarray(np.linalg.lstsq(change, -weights[:, 0] * point.residual, rcond=1e-12)[0], float)
        u = controllers.limited(controllers.commands(free))
    point.push(u)
    return controllers, free


def rest_under_control(model: Model, t: float) -> Array:
    """q at which the model rests (but for what is prescribed) under its controllers with their references of time t."""
    point = OperatingPoint(model, None, None, t, refuses_kinks=False)
    controllers = Controllers(point)
    free = np.zeros(controllers.n_free)
    for _ in range(MAX_STEPS):
        u = controllers.commands(free)
        point.push(controllers.limited(u))
        n = len(point.independent)
        plant = point.linear_model(commanded_forces(point), ())
        gain, of_free, missed, slope = controllers.steady(u)
        A, B = plant.A[n : 2 * n, :n], plant.B[n : 2 * n]
        matrix = np.block([[A + B @ gain[:, :n], B @ of_free], [slope[:, :n], np.zeros((len(missed), len(free)))]])
        right = -np.concatenate([point.residual, missed])
        rows = np.maximum(np.max(np.abs(matrix), axis=1, initial=0.0), np.finfo(float).tiny)
        step = np.linalg.lstsq(matrix / rows[:, None], right / rows, rcond=1e-13)[0]
        lengths = point.scales[:n]
        size = float(np.max(np.abs(step[:n] / lengths), initial=0.0))
        step *= min(1.0, MAX_STEP / max(size, 1e-300))
        free = free + step[n:]
        if size < SMALL_STEP:
            return np.asarray(point.q)
        point = OperatingPoint(model, point.closed(step[:n]), None, t, refuses_kinks=False)
        controllers = Controllers(point)
    raise SimulationError(
        f"modes: no rest under the controllers was found near the start at t = {t:g} s; give the state q that is "
        "meant, or controllers=False"
    )


def close_loops(
    point: OperatingPoint,
    inputs: Sequence[Input],
    outputs: Sequence[Quantity],
    controllers: Controllers,
    free: Array | None,
) -> SampledLoops:
    """Robot and controllers about a state; free: values of integrals, None: the state is held whatever they say."""
    plant = point.linear_model((*inputs, *commanded_forces(point)), outputs)
    return SampledLoops(plant, len(inputs), controllers.feedbacks(free))

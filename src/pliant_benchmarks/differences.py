"""The line about differences: the same robots by all engines, accelerations of one state and ends of runs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pliant.engine.prepared import Prepared
from pliant_benchmarks import models, peers
from pliant_benchmarks.evaluations import relative
from pliant_benchmarks.figures import Figure, Say, missing
from pliant_benchmarks.models import Array, Serial
from pliant_benchmarks.peers import Engine, Setting

STATES = 20
ROBOTS = (models.arm7(), models.chain(3), models.chain(10))
MANY_STEPS = 2000  # of fixed steps: rounding is all that is left
Accelerations = Callable[[Array, Array], Array]


def differences(say: Say) -> list[Figure]:
    """Largest relative difference of accelerations, and largest difference of coordinates [rad] after 1 s."""
    found = []
    for serial in ROBOTS:
        say(f"accelerations of {serial.name}")
        q, v = models.random_states(serial, STATES)
        own = Prepared(models.pliant_model(serial))
        wanted = np.array([own.forward_dynamics(*state) for state in zip(q, v, strict=True)])
        for name, made in (("pinocchio", _pinocchio), ("MuJoCo", _mujoco)):
            who = f"{name}, accelerations of {serial.name}"
            try:
                other = made(serial)
            except peers.MissingPeerError as error:
                found.append(missing(who, error))
                continue
            there = np.array([other(*state) for state in zip(q, v, strict=True)])
            found.append(Figure(who, error=relative(there, wanted), note=f"{STATES} states, relative"))
    for serial in ROBOTS[1:]:
        reference = peers.PLIANT.prepare(serial)(Setting("dop853", 1e-13, 1e-13))()
        for engine in (peers.EXUDYN, peers.MUJOCO, peers.PINOCCHIO, peers.NUMPY):
            say(f"{engine.name}, {serial.name} at its tightest")
            found.append(_end(engine, serial, reference))
    return found


def _end(engine: Engine, serial: Serial, reference: Array) -> Figure:
    """The engine's best integrator at its tightest setting."""
    who = f"{engine.name}, end of {serial.name}"
    try:
        ready = engine.prepare(serial)
    except peers.MissingPeerError as error:
        return missing(who, error)
    tight = [next((one for one in sweep if one.steps >= MANY_STEPS), sweep[-1]) for sweep in engine.sweeps]
    errors = {str(setting): peers.error_of(engine, serial, ready, setting, reference) for setting in tight}
    best = min(errors, key=errors.__getitem__)
    return Figure(who, error=errors[best], note=f"{best}, rad")


def _pinocchio(serial: Serial) -> Accelerations:
    pin, model = peers.peer("pinocchio"), peers.pinocchio_model(serial)
    data, no_torque = model.createData(), np.zeros(serial.count)
    return lambda q, v: np.array(pin.aba(model, data, q, v, no_torque))


def _mujoco(serial: Serial) -> Accelerations:
    mujoco, model = peers.peer("mujoco"), peers.mujoco_model(serial)
    data = mujoco.MjData(model)

    def accelerations(q: Array, v: Array) -> Array:
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(model, data)
        return np.array(data.qacc)

    return accelerations

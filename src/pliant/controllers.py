"""Python controllers: when they are due, what they see, and what is held until the next instant."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import SimulationError
from pliant.model.model import Controller, Model

Array = NDArray[np.float64]
SAME_INSTANT = 1e-9  # [s] between sampling instants


class ControllerError(SimulationError):
    """A controller raised, or said something that is no command."""


class Measured:
    """What a controller sees: the state at its sampling instant."""

    def __init__(self, model: Model, q: Array, v: Array) -> None:
        self.model, self.q, self.v = model, q, v

    def __getitem__(self, joint: str) -> tuple[Any, Any]:
        """(q, v) of one joint: numbers if it has one coordinate, else arrays."""
        for link in self.model.links:
            if link.joint.name == joint:
                q, v = self.q[link.q_slice], self.v[link.v_slice]
                return (float(q[0]), float(v[0])) if len(q) == 1 else (q, v)
        raise KeyError(f"no joint {joint!r}; there are {', '.join(link.joint.name for link in self.model.links)}")


def sample_times(controllers: tuple[Controller, ...], duration: float) -> Array:
    """All sampling instants; two that differ only by rounding are one."""
    times = np.sort(np.concatenate([np.zeros(0), *(np.arange(0.0, duration, c.period) for c in controllers)]))
    return times[np.diff(times, prepend=-1.0) > SAME_INSTANT]


def call_controllers(model: Model, t: float, y: Array, inputs: Array) -> None:
    """Ask every controller that is due at t; what it says is held in inputs."""
    n_q, n_v = len(model.coordinates), len(model.velocities)
    measured = Measured(model, y[:n_q].copy(), y[n_q : n_q + n_v].copy())
    width = {link.joint.name: len(link.joint.row.velocities) for link in model.links}
    first = 0
    for controller in model.controllers:
        count = sum(width[name] for name in controller.joints)
        function = controller.function
        if callable(function) and abs(t - round(t / controller.period) * controller.period) <= SAME_INSTANT:
            inputs[first : first + count] = _command(controller, function, t, measured, count)
        first += count


def _command(controller: Controller, function: Any, t: float, measured: Measured, count: int) -> Array:
    """What a controller says; whatever goes wrong in it names the controller, the time and the line."""
    where = f"at t = {t:.9g} s: controller {controller.name!r}"
    try:
        said = function(t, measured)
    except (Exception, SystemExit) as error:  # a user's code may raise anything
        frame = traceback.extract_tb(error.__traceback__)[-1]
        what = f"{type(error).__name__}: {error}"
        raise ControllerError(f"{where} failed in {Path(frame.filename).name}, line {frame.lineno}: {what}") from error
    try:
        command = np.atleast_1d(np.asarray(said, dtype=np.float64))
    except (TypeError, ValueError):
        raise ControllerError(f"{where} returned {said!r}; return {count} finite numbers") from None
    if command.shape != (count,) or not np.all(np.isfinite(command)):
        raise ControllerError(f"{where} returned {command.tolist()}; return {count} finite numbers")
    return command

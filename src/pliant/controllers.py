"""Python controllers: when they are due, what they see, and what is held until the next instant."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.model.model import Controller, Model

Array = NDArray[np.float64]
SAME_INSTANT = 1e-9  # [s] between sampling instants


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
            command = np.atleast_1d(np.asarray(function(t, measured), dtype=np.float64))
            if command.shape != (count,) or not np.all(np.isfinite(command)):
                raise ValueError(f"it returned {command.tolist()}; {count} finite numbers expected")
            inputs[first : first + count] = command
        first += count

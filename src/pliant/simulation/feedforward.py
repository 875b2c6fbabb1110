"""drive_torques: inverse dynamics along a motion, as signals to feed forward."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pliant.engine.arguments import as_flag, as_model, as_number
from pliant.errors import ModelError, SimulationError
from pliant.model.joints import Joint
from pliant.model.messages import closest, listed, quoted
from pliant.model.model import Model, Output
from pliant.model.rigid_twin import rigid_twin
from pliant.model.signals import Table, checked_signal
from pliant.simulation.simulate import simulate

MAX_TIMES = 1_000_000  # of a table


def drive_torques(
    model: Model,
    motion: Mapping[str, Any],
    duration: float,
    *,
    period: float = 0.001,
    rigid: bool = False,
    **options: Any,
) -> dict[str, Table]:
    """Motor torques that move joints as signals say, by joint: motion={"elbow": Cycloid(0.0, 1.0)}.

    The joints move as given and all else follows: beams bend, other joints swing, controllers are off. rigid: computed
    torque on the model whose beams do not bend. As tables with one value per period, for Joint(motor=...) or the
    feedforward of a law. options: those of simulate."""
    given = _checked(as_model(model), motion)
    end, h = as_number(duration, "duration", 0.0, np.inf, "[s]"), as_number(period, "period", 0.0, np.inf, "[s]")
    if not 1.0 <= end / h <= MAX_TIMES:
        raise ModelError(f"period: {h:g} s in {end:g} s found; give one that fits 1 to {MAX_TIMES} times")
    base = rigid_twin(model) if as_flag(rigid, "rigid") else model
    driven = replace(
        base,
        joints=tuple(_driven(joint, given) for joint in base.joints),
        controllers=(),
        crossings=(),
        outputs=tuple(Output(f"drive{k}", name, "drive") for k, name in enumerate(given)),
    )
    result = simulate(driven, end, **options)
    if not result.is_ok:
        raise SimulationError(f"drive_torques: {result.reason}")
    times = np.linspace(0.0, end, int(np.ceil(end / h)) + 1)
    found = result.outputs_at(times)
    gears = {joint.name: joint.each("gear")[0] for joint in base.joints if joint.name in given}
    return {
        name: Table(times.tolist(), (found[f"drive{k}"][:, 0] / gears[name]).tolist(), smooth=True)
        for k, name in enumerate(given)
    }


def _driven(joint: Joint, given: dict[str, Any]) -> Joint:
    return replace(joint, motion=given[joint.name], motor=None) if joint.name in given else joint


def _checked(model: Model, motion: Any) -> dict[str, Any]:
    """Signals by joint, or a message."""
    known = {joint.name: joint for joint in model.joints}
    if not isinstance(motion, Mapping) or not motion:
        raise ModelError(f"motion: {quoted(motion)} found; give signals by joint, as {{'elbow': Cycloid(0.0, 1.0)}}")
    for name in motion:
        if not isinstance(name, str) or name not in known:
            hint = closest(name, known) if isinstance(name, str) else ""
            raise ModelError(f"motion: no joint {quoted(name)}{hint or ';'} there are {listed(known)}")
        if len(known[name].row.velocities) != 1:
            count = len(known[name].row.velocities)
            raise ModelError(f"motion: joint {name!r} has {count} velocities; give joints that have one")
    return {name: checked_signal(signal) for name, signal in motion.items()}

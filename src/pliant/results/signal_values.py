"""Signals over time, as compiled code evaluates them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.engine.prepared import Prepared
from pliant.model.bodies import Body
from pliant.model.joints import Joint
from pliant.model.model import Model, Output
from pliant.results.outputs import recorded_outputs
from pliant.system.phases import Phases

Array = NDArray[np.float64]


def signal_values(signals: Sequence[Any], t: Array) -> list[Array]:
    """Of each signal its values at sorted times: what a motor on a rail would push with, if that were its force."""
    rails = [f"rail{k}" for k in range(len(signals))]
    model = Model(
        "signals",
        [Body(f"on_{rail}", mass=1.0) for rail in rails],
        [Joint(rail, "prismatic", f"on_{rail}", motor=each) for rail, each in zip(rails, signals, strict=True)],
        gravity=(0.0, 0.0, 0.0),
        outputs=[Output(rail, rail, "motor") for rail in rails],
    )
    handle = Prepared(model)
    n = len(model.coordinates) + len(model.velocities) + int(handle.system.world[0].n_z)
    phases = Phases(t[:1], handle.work.phase[None, :].copy())
    found = recorded_outputs(handle, t, np.zeros((len(t), n)), np.zeros((len(t), 0)), phases)
    return [found[rail][:, 0] for rail in rails]

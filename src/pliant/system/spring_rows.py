"""Springs between places as rows, and tables of force over elongation in the pool: a part of pack."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.model.bodies import Frame
from pliant.model.model import Model
from pliant.model.springs import MEETING, ForceTable, free_lengths, needs_direction, start_lengths
from pliant.model.tree import find_frame
from pliant.system.signal_rows import SignalRows

SENSE = {"tension": 1, "compression": -1, None: 0}


def table_row(elongation: tuple[float, ...], force: tuple[float, ...], pool: list[float]) -> dict[str, Any]:
    """Where the pieces of a table lie in the pool, to which they are added; energy counts from elongation 0, or from
    the value nearest to it."""
    from scipy.interpolate import PchipInterpolator  # only models with tables pay for this import

    x = np.array(elongation)
    pieces = PchipInterpolator(x, np.array(force))
    energy = pieces.antiderivative()
    first = len(pool)
    pool.extend(x.tolist())
    from_zero = energy(x[:-1]) - energy(np.clip(0.0, x[0], x[-1]))
    pool.extend(np.column_stack([pieces.c.T, from_zero]).ravel().tolist())
    return {"first": first, "count": len(x)}


def spring_rows(
    model: Model, signals: SignalRows, frames: list[Frame], inputs: dict[str, int], first_phase: int
) -> list[dict[str, Any]]:
    """A row per spring; their ends are added to the list of frames. inputs: held commands by name of spring."""
    found = []
    for spring, start, length in zip(model.springs, start_lengths(model), free_lengths(model), strict=True):
        row = {
            "start": len(frames),
            "end": len(frames) + 1,
            "sense": SENSE[spring.only],
            "phase": -1,
            "motor": signals.add(spring.motor),
            "input": inputs.get(spring.name, -1),
            "damping": spring.damping,
            "length": length,
            "nearest": MEETING * max(start, length) if needs_direction(model, spring, length) else 0.0,
        }
        frames += [find_frame(model, spring.first), find_frame(model, spring.second)]
        if spring.only is not None:
            row["phase"] = first_phase
            first_phase += 1
        if isinstance(spring.stiffness, ForceTable):
            row |= table_row(*spring.stiffness.both_ways, signals.pool)
        else:
            row["stiffness"] = spring.stiffness
        found.append(row)
    return found


def spring_events(model: Model, springs: Any) -> tuple[list[dict[str, Any]], list[str]]:
    """Event functions of springs: where the ends meet, where ropes become taut and pads are touched; their names."""
    contents, names = [], []
    for k, (row, spring) in enumerate(zip(springs, model.springs, strict=True)):
        if row.phase >= 0:
            contents.append({"spring": k, "start_side": -1})
            names.append(f"spring {spring.name} {'taut' if row.sense > 0 else 'pressed'}")
        if row.nearest > 0.0:
            contents.append({"spring": k, "direction": -1, "is_stop": 1, "start_side": 1, "is_firm": 1})
            names.append(f"ends of spring {spring.name} meet")
    return contents, names

"""The model's named outputs along rows: of kernels, and of sections of beams."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.engine.prepared import Prepared
from pliant.results.section_forces import section_outputs
from pliant.system.phases import Phases

Array = NDArray[np.float64]


def recorded_outputs(handle: Prepared, t: Array, y: Array, inputs: Array, phases: Phases) -> dict[str, Array]:
    """All outputs, each (rows, columns); y = (q, v, z)."""
    asked, rows = handle.model.outputs, handle.packed.outputs
    if not asked:
        return {}
    out = handle.record(rows, t, y, inputs, phases)
    names = [output.name for output in asked if not output.is_in_beam]
    found = {name: out[:, row.column : row.column + row.count].copy() for name, row in zip(names, rows, strict=True)}
    if len(names) < len(asked):
        found |= section_outputs(handle, t, y, inputs, phases)
    return {output.name: found[output.name] for output in asked}

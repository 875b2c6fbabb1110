"""The model's named outputs along rows: of kernels, and of sections of beams."""

from __future__ import annotations

from typing import Any

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


class OutputsNow:
    """The model's outputs at one instant after another, by a handle of their own: looking changes nothing."""

    def __init__(self, handle: Prepared) -> None:
        from pliant.kernels import _jit, outputs

        self._handle, rows = handle.copy(), handle.packed.outputs
        self._record = _jit.entry(outputs.record_outputs)
        self._columns = int(rows["count"].sum())
        asked = handle.model.outputs
        self._is_in_beam = any(output.is_in_beam for output in asked)
        parts = [slice(int(row.column), int(row.column + row.count)) for row in rows]
        self._parts = {} if self._is_in_beam else dict(zip((each.name for each in asked), parts, strict=True))

    def at(self, t: float, y: Array, inputs: Array, phase: Any) -> dict[str, Array]:
        """Each (columns); y = (q, v, z), with the held commands and the discrete phase."""
        handle, times = self._handle, np.array([t])
        if self._is_in_beam:
            phases = Phases(times, phase[None, :].copy())
            found = recorded_outputs(handle, times, y[None, :].copy(), inputs[None, :].copy(), phases)
            return {name: values[0] for name, values in found.items()}
        out = np.full((1, self._columns), np.nan)
        with handle.lock:
            handle.work.phase[:] = phase
            self._record(*handle.refs, times, y[None, :], inputs[None, :], handle.packed.outputs, out)
        return {name: out[0, part].copy() for name, part in self._parts.items()}

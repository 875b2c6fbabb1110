"""Everything over time by name: what result["tip.x"], tables and files call each column."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.model.columns import Column, command_columns, coordinate_columns, output_columns, velocity_columns

if TYPE_CHECKING:
    from pliant.results.recording import Recording

Array = NDArray[np.float64]


def columns(result: Recording) -> Iterator[tuple[str, str, str, Array]]:
    """(what it is, name, unit, values) of every column over time; names are all different."""
    taken = {"time"}
    for what, column, values in _columns(result):
        name = column.name if column.name not in taken else f"{what}.{column.name}"
        taken.add(name)
        yield what, name, column.unit, values


def _columns(result: Recording) -> Iterator[tuple[str, Column, Array]]:
    model = result.model
    yield from (("coordinate", column, result.q[:, k]) for k, column in enumerate(coordinate_columns(model)))
    yield from (("velocity", column, result.v[:, k]) for k, column in enumerate(velocity_columns(model)))
    for output in (output for output in model.outputs if output.name in result.outputs):
        values = result.outputs[output.name]
        yield from (("output", column, values[:, k]) for k, column in enumerate(output_columns(model, output)))
    yield from (("command", column, result.inputs[:, k]) for k, column in enumerate(command_columns(model)))
    yield from (("energy", Column(name, "J"), values) for name, values in result.energy.items())


def named_columns(result: Recording) -> dict[str, Array]:
    """By every name that charts and tables know; outputs as a whole and the sum of energies, too."""
    found = {"time": result.t, **{name: values for _, name, _, values in columns(result)}}
    for name, values in result.outputs.items():
        found.setdefault(name, values)
    if result.energy:
        found.setdefault("total", sum(result.energy[name] for name in ("kinetic", "gravity", "elastic")))  # type: ignore[arg-type]
    return found

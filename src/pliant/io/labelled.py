"""A result as named arrays with named axes, labels and units: what result.nc and Recording.dataset hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.model.columns import Column, command_columns, coordinate_columns, output_columns, velocity_columns
from pliant.results.contact_records import CONTACT_UNITS

if TYPE_CHECKING:
    from pliant.results.recording import Recording


@dataclass(frozen=True)
class Variable:
    """One array. Labels name the places along an axis, or their units."""

    name: str
    axes: tuple[str, ...]
    values: Any
    unit: str | None = None  # None: the units lie beside it, along an axis
    is_label: bool = False


def variables(result: Recording) -> Iterator[Variable]:
    """Everything over time, then events and contacts."""
    model = result.model
    yield Variable("time", ("time",), result.t, "s", is_label=True)
    yield from _table("q", "coordinate", model.coordinates, coordinate_columns(model), result.q)
    yield from _table("v", "velocity", model.velocities, velocity_columns(model), result.v)
    for name, values in result.energy.items():
        yield Variable(f"energy_{name}", ("time",), values, "J")
    for output in model.outputs:
        if output.name in result.outputs:
            columns = output_columns(model, output)
            labels = [column.part for column in columns]
            axis = f"{output.name}_component"
            yield from _table(f"output_{output.name}", axis, labels, columns, result.outputs[output.name])
    if result.inputs.shape[1]:
        columns = command_columns(model)
        labels = [column.name.removesuffix(".command") for column in columns]
        yield from _table("commands", "command", labels, columns, result.inputs)
    if result.events:
        yield Variable("event_name", ("event",), _words([event.name for event in result.events]))
        yield Variable("event_time", ("event",), np.array([event.t for event in result.events]), "s")
        yield Variable("event_direction", ("event",), _words([event.direction for event in result.events]))
    for name in result.contacts.dtype.names if len(result.contacts) else ():
        values = result.contacts[name]
        values = values if values.dtype.kind == "f" else _words(values.tolist())
        yield Variable(f"contact_{name}", ("contact",), values, CONTACT_UNITS.get(name))


def _table(name: str, axis: str, labels: Sequence[str], columns: Sequence[Column], values: Any) -> Iterator[Variable]:
    """Columns over time; one unit if all have the same, else one per column."""
    units = [column.unit for column in columns]
    is_one = len(set(units)) == 1
    yield Variable(axis, (axis,), _words(labels), is_label=True)
    if not is_one:
        yield Variable(f"{axis}_unit", (axis,), _words(units), is_label=True)
    yield Variable(name, ("time", axis), values, units[0] if is_one else None)


def _words(labels: Sequence[str]) -> Any:
    return np.array(labels, dtype=object)

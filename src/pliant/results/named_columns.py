"""Everything over time by name: what result["tip.x"], tables and files call each column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import UnknownNameError
from pliant.model.columns import Column, command_columns, coordinate_columns, output_columns, velocity_columns
from pliant.model.messages import closest, listed, quoted
from pliant.system.tables import Power

if TYPE_CHECKING:
    from pliant.model.model import Model
    from pliant.results.recording import Recording

Array = NDArray[np.float64]
ENERGIES = ("kinetic", "gravity", "elastic")


class NamedValues(dict[str, Any]):
    """Values by name; an unknown name is answered with those there are."""

    def __missing__(self, name: Any) -> Any:
        hint = closest(name, self) if isinstance(name, str) else ""
        raise UnknownNameError(f"no {quoted(name)}{hint or ';'} there are {listed(self, 30) or 'none'}")


def columns(result: Recording) -> Iterator[tuple[str, str, str, Array]]:
    """(what it is, name, unit, values) of every column over time; names are all different."""
    found = list(_columns(result))
    names = _different((what, column.name) for what, column, _ in found)
    for name, (what, column, values) in zip(names, found, strict=True):
        yield what, name, column.unit, values


def column_units(model: Model) -> dict[str, str]:
    """Units of all columns that a run of a model may have, by their names, before it is run."""
    outputs = [column for output in model.outputs for column in output_columns(model, output)]
    works = [f"work_{kind.name.lower()}" for kind in Power]
    found = [
        *(("coordinate", column) for column in coordinate_columns(model)),
        *(("velocity", column) for column in velocity_columns(model)),
        *(("output", column) for column in outputs),
        *(("command", column) for column in command_columns(model)),
        *(("energy", Column(name, "J")) for name in (*ENERGIES, *works)),
    ]
    names = _different((what, column.name) for what, column in found)
    units = {name: column.unit for name, (_, column) in zip(names, found, strict=True)}
    return {"time": "s", **units} | ({} if "total" in units else {"total": "J"})


def _different(names: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Names of columns, those that are taken with what they are before them."""
    taken = {"time"}
    for what, name in names:
        own = name if name not in taken else f"{what}.{name}"
        taken.add(own)
        yield own


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
        found.setdefault("total", sum(result.energy[name] for name in ENERGIES))  # type: ignore[arg-type]
    return found

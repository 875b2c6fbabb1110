"""From names of quantities ("elbow", "elbow.rate", "tip[0]", "kinetic") to curves, and charts for any model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from pliant.errors import ModelError
from pliant.model.columns import Column, command_columns, coordinate_columns, output_columns, velocity_columns
from pliant.model.model import Output
from pliant.report_types import Panel
from pliant.results.recording import Recording, energy_error
from pliant.view.svg import Array

FINE = 800  # points of the uniform grid on which curves of the state are drawn
MAX_CURVES = 6  # in one chart made here
MAX_CHARTS = 2  # of one kind of quantity
MAX_PLACEMENTS = 400_000  # bodies times instants worked out between the steps
TITLES = {  # of charts of outputs whose columns have several units
    ("reaction", "N"): "force",
    ("reaction", "N m"): "moment",
    ("section", "N"): "forces",
    ("section", "N m"): "moments",
    ("strain", "1/m"): "curvature and twist",
}


# --- values -----------------------------------------------------------------------------------------------------


def has_dense(result: Recording) -> bool:
    return result.dense is not None and len(result.dense.starts) > 0


def dense_range(result: Recording) -> tuple[float, float]:
    """From when to when at(t) can be asked."""
    assert result.dense is not None
    return float(result.dense.starts[0]), float(result.dense.starts[-1] + result.dense.steps[-1])


class Quantities:
    """Curves of one run by name, over all of it or a window of time; smooth between steps if there is dense output."""

    def __init__(self, result: Recording, window: tuple[float, float] | None = None) -> None:
        self.result = result
        self.window = window

    def curve(self, quantity: str) -> tuple[Array, Array]:
        """(t, values) of a quantity; a message lists what there is."""
        result, model = self.result, self.result.model
        if quantity in model.coordinates:
            return self.times, self.state[0][:, model.coordinates.index(quantity)]
        if quantity.endswith(".rate") and quantity.removesuffix(".rate") in model.velocities:
            return self.times, self.state[1][:, model.velocities.index(quantity.removesuffix(".rate"))]
        if quantity == "total":
            return self.rows(self.total)
        if quantity in result.energy:
            return self.rows(result.energy[quantity])
        if quantity == "contacts" or quantity.startswith("contacts."):
            return self._contact_count(quantity.partition(".")[2])
        commands = [column.name for column in command_columns(model)]
        if quantity in commands:
            return self._command(commands.index(quantity))
        name, column = _component(quantity)
        if name in result.outputs and column < result.outputs[name].shape[1]:
            return self._output(name, column)
        raise ModelError(f"no quantity {quantity!r}; there are {', '.join(self.names())}")

    def names(self) -> Iterator[str]:
        """All that curve() knows."""
        yield from self.result.model.coordinates
        yield from (f"{name}.rate" for name in self.result.model.velocities)
        for name, values in self.result.outputs.items():
            yield from (f"{name}[{k}]" for k in range(values.shape[1]))
        yield from (column.name for column in command_columns(self.result.model))
        yield from ("total", *self.result.energy)
        if len(self.result.contacts):
            yield from ("contacts", *(f"contacts.{point}" for point in dict.fromkeys(self.result.contacts["point"])))

    @cached_property
    def times(self) -> Array:
        """A uniform grid and the accepted steps; the rows alone without dense output."""
        rows = self.result.t
        if self.window is not None:
            rows = rows[(rows >= self.window[0]) & (rows <= self.window[1])]
        if not has_dense(self.result):
            return rows
        first, last = dense_range(self.result)
        low, high = self.window or (first, last)
        return np.clip(np.union1d(rows, np.linspace(low, high, FINE)), first, last)

    @cached_property
    def state(self) -> tuple[Array, Array]:
        """q and v at times."""
        if has_dense(self.result):
            return self.result.at(self.times)
        chosen = np.isin(self.result.t, self.times)
        return self.result.q[chosen], self.result.v[chosen]

    @cached_property
    def outputs(self) -> dict[str, Array] | None:
        """All outputs at times; None where that would take too long."""
        n_bodies = len(self.result.model.links)
        is_cheap = has_dense(self.result) and len(self.times) * n_bodies <= MAX_PLACEMENTS
        return self.result.outputs_at(self.times) if is_cheap else None

    @cached_property
    def total(self) -> Array:
        """Stored energy at the rows [J]."""
        energy = self.result.energy
        return np.asarray(energy["kinetic"] + energy["gravity"] + energy["elastic"])

    @cached_property
    def energy_error(self) -> Array:
        """|E - E0 - work terms| over the energy that moved, per row; its maximum is the audit's energy_residual."""
        return energy_error(self.result.energy, self.result.audit.get("energy_scale", 1.0))

    def rows(self, values: Array) -> tuple[Array, Array]:
        """What is known at the rows only."""
        t = self.result.t
        low, high = self.window or (-np.inf, np.inf)
        chosen = (t >= low) & (t <= high)
        return t[chosen], values[chosen]

    def _output(self, name: str, column: int) -> tuple[Array, Array]:
        if self.outputs is None:
            return self.rows(self.result.outputs[name][:, column])
        return self.times, self.outputs[name][:, column]

    def _command(self, column: int) -> tuple[Array, Array]:
        """The command of a motor: held from one instant to the next, a staircase."""
        assert self.result.commands is not None
        t, values = self.result.commands[:, 0], self.result.commands[:, 1 + column]
        low, high = self.window or (float(t[0]), float(t[-1]))
        changes = np.concatenate([[0], np.flatnonzero(np.diff(values)) + 1])
        first = max(int(np.searchsorted(t[changes], low, side="right")) - 1, 0)
        changes = changes[first : int(np.searchsorted(t[changes], high))]
        starts = np.maximum(t[changes], low)
        return np.repeat(np.append(starts, high), 2)[1:-1], np.repeat(values[changes], 2)

    def _contact_count(self, point: str) -> tuple[Array, Array]:
        """How many contacts have begun, of one point or of all: a staircase."""
        log = self.result.contacts
        begun = np.sort(log["t_start"][log["point"] == point] if point else log["t_start"])
        low, high = self.window or (float(self.result.t[0]), float(self.result.t[-1]))
        inside = begun[(begun > low) & (begun < high)]
        before = float(np.sum(begun <= low))
        t = np.concatenate([[low], np.repeat(inside, 2), [high]])
        return t, before + np.repeat(np.arange(len(inside) + 1.0), 2)


def _component(quantity: str) -> tuple[str, int]:
    """ "tip[1]" is column 1 of tip; "tip" alone is its column 0."""
    found = re.fullmatch(r"(.+)\[(\d+)\]", quantity)
    return (found[1], int(found[2])) if found else (quantity, 0)


# --- charts of a model that brings none of its own --------------------------------------------------------------


COORDINATES = (
    ("angle", "Angles"),
    ("length", "Positions"),
    ("other", "Attitudes"),
    ("deflection", "Modal deflections"),
    ("twist", "Modal twists"),
)
RATES = (
    ("angle", "Angular rates"),
    ("length", "Speeds"),
    ("deflection", "Modal rates"),
    ("twist", "Modal twist rates"),
)


def coordinate_panels(result: Recording) -> tuple[Panel, ...]:
    """Coordinates, one kind in a chart."""
    return _by_kind(coordinate_columns(result.model), COORDINATES)


def rate_panels(result: Recording) -> tuple[Panel, ...]:
    """Velocities, one kind in a chart."""
    return _by_kind(velocity_columns(result.model), RATES)


def output_panels(result: Recording) -> tuple[Panel, ...]:
    """Every output."""
    asked = [output for output in result.model.outputs if output.name in result.outputs]
    return tuple(chart for output in asked for chart in output_charts(result, output))


def _by_kind(columns: Sequence[Column], kinds: Sequence[tuple[str, str]]) -> tuple[Panel, ...]:
    charts: list[Panel] = []
    for kind, title in kinds:
        own = [column for column in columns if column.kind == kind]
        names = [(column.name.removesuffix(".rate"), column.name) for column in own]
        charts += _split(title, own[0].unit, names) if own else []
    return tuple(charts)


def _split(title: str, unit: str, names: Sequence[tuple[str, str]]) -> list[Panel]:
    """Charts of a few curves each; of very many quantities an even choice, and the title says so."""
    most = MAX_CURVES * MAX_CHARTS
    if len(names) > most:
        title = f"{title} ({most} of {len(names)})"
        names = [names[k] for k in np.linspace(0, len(names) - 1, most).astype(int)]
    count = -(-len(names) // MAX_CURVES)
    pieces = [names[k * len(names) // count : (k + 1) * len(names) // count] for k in range(count)]
    marks = [f", {k + 1}/{count}" if count > 1 else "" for k in range(count)]
    return [Panel(title + mark, unit, tuple(piece)) for mark, piece in zip(marks, pieces, strict=True)]


def output_charts(result: Recording, output: Output) -> list[Panel]:
    """One chart per unit of an output's columns."""
    columns = output_columns(result.model, output)
    charts: list[Panel] = []
    for unit in dict.fromkeys(column.unit for column in columns):
        title = TITLES.get((output.quantity, unit), output.quantity)
        curves = [(column.part, f"{output.name}[{k}]") for k, column in enumerate(columns) if column.unit == unit]
        charts += _split(f"{output.name}: {title}", unit, curves)
    return charts

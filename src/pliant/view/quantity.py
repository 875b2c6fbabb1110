"""From names of quantities ("elbow", "elbow.rate", "tip[0]", "kinetic") to curves, and charts for any model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from pliant.errors import ModelError
from pliant.result import Result
from pliant.view.svg import Array

FINE = 800  # points of the uniform grid on which curves of the state are drawn
MOST_CURVES = 6  # in one chart made here
MOST_CHARTS = 2  # of one kind of quantity
MOST_PLACEMENTS = 400_000  # bodies times instants worked out between the steps
UNITS = {
    "position": ("m", "xyz"),
    "velocity": ("m/s", "xyz"),
    "acceleration": ("m/s^2", "xyz"),
    "spin": ("rad/s", "xyz"),
    "attitude": ("", ("qx", "qy", "qz", "qw")),
}
PARTS = {  # charts of quantities whose columns have several units: what, unit, (column, label) ...
    "reaction": (
        ("force", "N", ((0, "x"), (1, "y"), (2, "z"))),
        ("moment", "N m", ((3, "x"), (4, "y"), (5, "z"))),
    ),
    "section": (
        ("forces", "N", ((0, "N"), (1, "Vy"), (2, "Vz"))),
        ("moments", "N m", ((3, "T"), (4, "My"), (5, "Mz"))),
    ),
    "strain": (
        ("strain", "", ((0, "axial"), (4, "outer fibre"))),
        ("curvature and twist", "1/m", ((1, "y"), (2, "z"), (3, "twist"))),
    ),
    "stress": (("stress", "Pa", ((0, "outer fibre"),)),),
}


class Panel(Protocol):
    """A chart as data; what cases give."""

    @property
    def title(self) -> str: ...
    @property
    def unit(self) -> str: ...
    @property
    def curves(self) -> tuple[tuple[str, str], ...]: ...
    @property
    def window(self) -> tuple[float, float] | None: ...


@dataclass(frozen=True)
class Chart:
    """A chart made here: title, unit, and (label, quantity) of its curves."""

    title: str
    unit: str
    curves: tuple[tuple[str, str], ...]
    window: tuple[float, float] | None = None


# --- values -----------------------------------------------------------------------------------------------------


def has_dense(result: Result) -> bool:
    return result.dense is not None and len(result.dense.starts) > 0


def dense_range(result: Result) -> tuple[float, float]:
    """From when to when at(t) can be asked."""
    assert result.dense is not None
    return float(result.dense.starts[0]), float(result.dense.starts[-1] + result.dense.steps[-1])


class Quantities:
    """Curves of one run by name, over all of it or a window of time; smooth between steps if there is dense output."""

    def __init__(self, result: Result, window: tuple[float, float] | None = None) -> None:
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
            return self._rows(self.total)
        if quantity in result.energy:
            return self._rows(result.energy[quantity])
        if quantity == "contacts" or quantity.startswith("contacts."):
            return self._contact_count(quantity.partition(".")[2])
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
        is_cheap = has_dense(self.result) and len(self.times) * n_bodies <= MOST_PLACEMENTS
        return self.result.outputs_at(self.times) if is_cheap else None

    @cached_property
    def total(self) -> Array:
        """Stored energy at the rows [J]."""
        energy = self.result.energy
        return np.asarray(energy["kinetic"] + energy["gravity"] + energy["elastic"])

    @cached_property
    def energy_error(self) -> Array:
        """|E - E0 - works| relative to the energy that moved, per row; its maximum is the audit's energy_residual."""
        energy, total = self.result.energy, self.total
        works = sum((values for name, values in energy.items() if name.startswith("work_")), np.zeros(len(total)))
        moved = energy["kinetic"] + energy["elastic"] + np.abs(energy["gravity"] - energy["gravity"][0])
        scale = float(np.max(moved))
        return np.asarray(np.abs(total - total[0] - works) / (scale if scale > 0 else 1.0))

    def _rows(self, values: Array) -> tuple[Array, Array]:
        """What is known at the rows only."""
        t = self.result.t
        low, high = self.window or (-np.inf, np.inf)
        chosen = (t >= low) & (t <= high)
        return t[chosen], values[chosen]

    def _output(self, name: str, column: int) -> tuple[Array, Array]:
        if self.outputs is None:
            return self._rows(self.result.outputs[name][:, column])
        return self.times, self.outputs[name][:, column]

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
    ("angle", "Angles", "rad"),
    ("length", "Positions", "m"),
    ("other", "Attitudes", ""),
    ("deflection", "Modal deflections", "m"),
    ("twist", "Modal twists", "rad"),
)
RATES = (
    ("angle", "Angular rates", "rad/s"),
    ("length", "Speeds", "m/s"),
    ("deflection", "Modal rates", "m/s"),
    ("twist", "Modal twist rates", "rad/s"),
)


def default_panels(result: Result) -> tuple[Chart, ...]:
    """Coordinates and rates (angles and lengths apart), then every output."""
    return (*coordinate_panels(result), *rate_panels(result), *output_panels(result))


def coordinate_panels(result: Result) -> tuple[Chart, ...]:
    """Coordinates, one kind in a chart."""
    columns = [(name, kind) for link in result.model.links for name, kind in _coordinate_kinds(link)]
    charts: list[Chart] = []
    for kind, title, unit in COORDINATES:
        charts += _split(title, unit, [(name, name) for name, of in columns if of == kind])
    return tuple(charts)


def rate_panels(result: Result) -> tuple[Chart, ...]:
    """Velocities, one kind in a chart."""
    columns = [(name, kind) for link in result.model.links for name, kind in _velocity_kinds(link)]
    charts: list[Chart] = []
    for kind, title, unit in RATES:
        charts += _split(title, unit, [(name, f"{name}.rate") for name, of in columns if of == kind])
    return tuple(charts)


def output_panels(result: Result) -> tuple[Chart, ...]:
    """Every output."""
    charts: list[Chart] = []
    for output in result.model.outputs:
        if output.name in result.outputs:
            charts += _output_charts(output.name, output.quantity, result.outputs[output.name].shape[1])
    return tuple(charts)


def _coordinate_kinds(link: Any) -> Iterator[tuple[str, str]]:
    joint = link.joint
    for part, is_angle in zip(joint.row.coordinates, joint.row.angles, strict=True):
        kind = "angle" if is_angle else "other" if part.startswith("q") else "length"
        yield (f"{joint.name}.{part}" if part else joint.name), kind
    yield from _mode_kinds(link)


def _mode_kinds(link: Any) -> Iterator[tuple[str, str]]:
    """Deflections, and the angles of torsion, which come last."""
    body = link.body
    for k in range(body.n_modes):
        yield f"{body.name}.mode{k + 1}", "twist" if k >= body.n_modes - body.families[3] else "deflection"


def _velocity_kinds(link: Any) -> Iterator[tuple[str, str]]:
    joint = link.joint
    row = joint.row
    for k, part in enumerate(row.velocities):
        is_angle = row.angles[k] if row.has_plain_rates else part.startswith("w")
        yield (f"{joint.name}.{part}" if part else joint.name), "angle" if is_angle else "length"
    yield from _mode_kinds(link)


def _split(title: str, unit: str, names: Sequence[tuple[str, str]]) -> list[Chart]:
    """Charts of a few curves each; of very many quantities an even choice, and the title says so."""
    most = MOST_CURVES * MOST_CHARTS
    if len(names) > most:
        title = f"{title} ({most} of {len(names)})"
        names = [names[k] for k in np.linspace(0, len(names) - 1, most).astype(int)]
    count = -(-len(names) // MOST_CURVES)
    pieces = [names[k * len(names) // count : (k + 1) * len(names) // count] for k in range(count)]
    marks = [f", {k + 1}/{count}" if count > 1 else "" for k in range(count)]
    return [Chart(title + mark, unit, tuple(piece)) for mark, piece in zip(marks, pieces, strict=True)]


def _output_charts(name: str, quantity: str, n_columns: int) -> list[Chart]:
    if quantity in UNITS:
        unit, parts = UNITS[quantity]
        curves = tuple((part, f"{name}[{k}]") for k, part in enumerate(parts))
        return [Chart(f"{name}: {quantity}", unit, curves)]
    if quantity in PARTS:
        return [
            Chart(f"{name}: {what}", unit, tuple((label, f"{name}[{column}]") for column, label in columns))
            for what, unit, columns in PARTS[quantity]
        ]
    labels = [name] if n_columns == 1 else [f"{name} {k}" for k in range(n_columns)]
    if quantity == "contact":
        labels = [f"point {k // 4 + 1}: {('normal', 'x', 'y', 'z')[k % 4]}" for k in range(n_columns)]
    unit = {"contact": "N", "gap": "m"}.get(quantity, "N, N m")
    return _split(f"{name}: {quantity}", unit, [(label, f"{name}[{k}]") for k, label in enumerate(labels)])

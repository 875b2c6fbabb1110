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
MOST_PLACEMENTS = 400_000  # bodies times instants
UNITS = {
    "position": ("m", "xyz"),
    "velocity": ("m/s", "xyz"),
    "acceleration": ("m/s^2", "xyz"),
    "spin": ("rad/s", "xyz"),
    "attitude": ("", ("qx", "qy", "qz", "qw")),
}
WRENCH = (("force", "N"), ("moment", "N m"))


class Panel(Protocol):
    """A chart as data; what cases give."""

    @property
    def title(self) -> str: ...
    @property
    def unit(self) -> str: ...
    @property
    def curves(self) -> tuple[tuple[str, str], ...]: ...


@dataclass(frozen=True)
class Chart:
    """A chart made here: title, unit, and (label, quantity) of its curves."""

    title: str
    unit: str
    curves: tuple[tuple[str, str], ...]


# --- values -----------------------------------------------------------------------------------------------------


def has_dense(result: Result) -> bool:
    return result.dense is not None and len(result.dense.starts) > 0


def dense_range(result: Result) -> tuple[float, float]:
    """From when to when at(t) can be asked."""
    assert result.dense is not None
    return float(result.dense.starts[0]), float(result.dense.starts[-1] + result.dense.steps[-1])


class Quantities:
    """Curves of one run by name. Coordinates and rates are smooth between the steps where there is dense output."""

    def __init__(self, result: Result) -> None:
        self.result = result

    def curve(self, quantity: str) -> tuple[Array, Array]:
        """(t, values) of a quantity; a message lists what there is."""
        result, model = self.result, self.result.model
        if quantity in model.coordinates:
            return self.times, self.state[0][:, model.coordinates.index(quantity)]
        if quantity.endswith(".rate") and quantity.removesuffix(".rate") in model.velocities:
            return self.times, self.state[1][:, model.velocities.index(quantity.removesuffix(".rate"))]
        if quantity == "total":
            return result.t, self.total
        if quantity in result.energy:
            return result.t, result.energy[quantity]
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

    @cached_property
    def times(self) -> Array:
        """A uniform grid and the accepted steps; the rows alone without dense output."""
        if not has_dense(self.result):
            return self.result.t
        first, last = dense_range(self.result)
        return np.clip(np.union1d(self.result.t, np.linspace(first, last, FINE)), first, last)

    @cached_property
    def state(self) -> tuple[Array, Array]:
        """q and v at times."""
        return self.result.at(self.times) if has_dense(self.result) else (self.result.q, self.result.v)

    @cached_property
    def placements(self) -> tuple[Array, Array]:
        """Of the bodies at times."""
        return self.result.placements(self.times)

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

    def _output(self, name: str, column: int) -> tuple[Array, Array]:
        """An output at the rows; a position also between them."""
        place = self._place(name)
        if place is None:
            return self.result.t, self.result.outputs[name][:, column]
        body, point = place
        R, p = self.placements
        return self.times, p[:, body, column] + R[:, body, column] @ point

    def _place(self, name: str) -> tuple[int, Array] | None:
        """Body and point of an output that is a position, where placements between the rows can be had cheaply."""
        model = self.result.model
        names = [link.body.name for link in model.links]
        output = next((output for output in model.outputs if output.name == name), None)
        if output is None or output.quantity != "position" or not has_dense(self.result):
            return None
        frame = next((frame for frame in model.frames if frame.name == output.of), None)
        body = frame.body if frame else output.of
        if body not in names or len(self.times) * len(names) > MOST_PLACEMENTS:
            return None
        return names.index(body), np.array(frame.position if frame else (0.0, 0.0, 0.0))


def _component(quantity: str) -> tuple[str, int]:
    """ "tip[1]" is column 1 of tip; "tip" alone is its column 0."""
    found = re.fullmatch(r"(.+)\[(\d+)\]", quantity)
    return (found[1], int(found[2])) if found else (quantity, 0)


# --- charts of a model that brings none of its own --------------------------------------------------------------


def default_panels(result: Result) -> tuple[Chart, ...]:
    """Coordinates and rates (angles and lengths apart), then every output."""
    charts: list[Chart] = []
    for title, unit, names in _groups(result):
        charts += _split(title, unit, names)
    for output in result.model.outputs:
        if output.name in result.outputs:
            charts += _output_charts(output.name, output.quantity, result.outputs[output.name].shape[1])
    return tuple(charts)


def _groups(result: Result) -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    coordinates = [(name, kind) for link in result.model.links for name, kind in _coordinate_kinds(link)]
    velocities = [(name, kind) for link in result.model.links for name, kind in _velocity_kinds(link)]
    for kind, title, unit in (("angle", "Angles", "rad"), ("length", "Positions", "m"), ("other", "Attitudes", "")):
        yield title, unit, [(name, name) for name, of in coordinates if of == kind]
    for kind, title, unit in (("angle", "Angular rates", "rad/s"), ("length", "Speeds", "m/s")):
        yield title, unit, [(name, f"{name}.rate") for name, of in velocities if of == kind]


def _coordinate_kinds(link: Any) -> Iterator[tuple[str, str]]:
    joint = link.joint
    for part, is_angle in zip(joint.row.coordinates, joint.row.angles, strict=True):
        kind = "angle" if is_angle else "other" if part.startswith("q") else "length"
        yield (f"{joint.name}.{part}" if part else joint.name), kind


def _velocity_kinds(link: Any) -> Iterator[tuple[str, str]]:
    joint = link.joint
    row = joint.row
    for k, part in enumerate(row.velocities):
        is_angle = row.angles[k] if row.has_plain_rates else part.startswith("w")
        yield (f"{joint.name}.{part}" if part else joint.name), "angle" if is_angle else "length"


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
    if quantity == "reaction":
        return [
            Chart(f"{name}: {what}", unit, tuple((part, f"{name}[{3 * half + k}]") for k, part in enumerate("xyz")))
            for half, (what, unit) in enumerate(WRENCH)
        ]
    labels = [name] if n_columns == 1 else [f"{name} {k}" for k in range(n_columns)]
    if quantity == "contact":
        labels = [f"point {k // 4 + 1}: {('normal', 'x', 'y', 'z')[k % 4]}" for k in range(n_columns)]
    unit = {"contact": "N", "gap": "m"}.get(quantity, "N, N m")
    return _split(f"{name}: {quantity}", unit, [(label, f"{name}[{k}]") for k, label in enumerate(labels)])

"""Names of quantities ("elbow", "elbow.rate", "tip[0]", "kinetic") into curves, and the charts of a model without its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pliant.errors import ModelError
from pliant.result import Result
from pliant.view.svg import Array

FINE = 800  # points of the uniform grid on which curves of the state are drawn
MOST_CURVES = 6  # in one chart made here
MOST_CHARTS = 4  # of one kind of quantity
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


def fine_times(result: Result, count: int = FINE) -> Array:
    """A uniform grid and the accepted steps; the rows alone where there is no dense output."""
    if not has_dense(result):
        return result.t
    return np.union1d(result.t, np.linspace(result.t[0], result.t[-1], count))


def total_energy(result: Result) -> Array:
    return result.energy["kinetic"] + result.energy["gravity"] + result.energy["elastic"]


def energy_error(result: Result) -> Array:
    """|E - E0 - works| over the largest energy that moved, per row: what the audit's energy_residual is the maximum of."""
    energy, total = result.energy, total_energy(result)
    works = sum((values for name, values in energy.items() if name.startswith("work_")), np.zeros(len(total)))
    moved = energy["kinetic"] + energy["elastic"] + np.abs(energy["gravity"] - energy["gravity"][0])
    scale = float(np.max(moved))
    return np.asarray(np.abs(total - total[0] - works) / (scale if scale > 0 else 1.0))


def resolve(result: Result, quantity: str) -> tuple[Array, Array]:
    """(t, values) of a quantity by its name; a message lists what there is."""
    model = result.model
    if quantity in model.coordinates:
        return _of_state(result, 0, model.coordinates.index(quantity))
    if quantity.endswith(".rate") and quantity.removesuffix(".rate") in model.velocities:
        return _of_state(result, 1, model.velocities.index(quantity.removesuffix(".rate")))
    if quantity == "total":
        return result.t, total_energy(result)
    if quantity in result.energy:
        return result.t, result.energy[quantity]
    name, column = _component(quantity)
    if name in result.outputs and column < result.outputs[name].shape[1]:
        return result.t, result.outputs[name][:, column]
    raise ModelError(f"no quantity {quantity!r}; there are {', '.join(_all_names(result))}")


def _of_state(result: Result, part: int, column: int) -> tuple[Array, Array]:
    """q (part 0) or v (part 1), smooth between the steps where the run kept dense output."""
    if not has_dense(result):
        return result.t, (result.q, result.v)[part][:, column]
    times = fine_times(result)
    return times, result.at(times)[part][:, column]


def _component(quantity: str) -> tuple[str, int]:
    """ "tip[1]" is column 1 of tip; "tip" alone is its column 0."""
    found = re.fullmatch(r"(.+)\[(\d+)\]", quantity)
    return (found[1], int(found[2])) if found else (quantity, 0)


def _all_names(result: Result) -> Iterator[str]:
    yield from result.model.coordinates
    yield from (f"{name}.rate" for name in result.model.velocities)
    for name, values in result.outputs.items():
        yield from (f"{name}[{k}]" for k in range(values.shape[1]))
    yield from ("total", *result.energy)


# --- charts of a model that brings none of its own --------------------------------------------------------------


def default_panels(result: Result) -> tuple[Chart, ...]:
    """Coordinates and rates (angles and lengths apart), then every output."""
    charts: list[Chart] = []
    for title, unit, names in _groups(result):
        charts += _split(title, unit, names)
    for output in result.model.outputs:
        if output.name in result.outputs:
            charts += _of_output(output.name, output.quantity, result.outputs[output.name].shape[1])
    return tuple(charts)


def _groups(result: Result) -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    coordinates = [(name, kind) for link in result.model.links for name, kind in _coordinate_kinds(link)]
    velocities = [(name, kind) for link in result.model.links for name, kind in _velocity_kinds(link)]
    for kind, title, unit in (("angle", "Angles", "rad"), ("length", "Positions", "m"), ("other", "Attitudes", "")):
        yield title, unit, [(name, name) for name, of in coordinates if of == kind]
    for kind, title, unit in (("angle", "Angular rates", "rad/s"), ("length", "Speeds", "m/s")):
        yield title, unit, [(name, f"{name}.rate") for name, of in velocities if of == kind]


def _coordinate_kinds(link: object) -> Iterator[tuple[str, str]]:
    joint = link.joint  # type: ignore[attr-defined]
    for part, is_angle in zip(joint.row.coordinates, joint.row.angles, strict=True):
        kind = "angle" if is_angle else "other" if part.startswith("q") else "length"
        yield (f"{joint.name}.{part}" if part else joint.name), kind


def _velocity_kinds(link: object) -> Iterator[tuple[str, str]]:
    joint = link.joint  # type: ignore[attr-defined]
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


def _of_output(name: str, quantity: str, n_columns: int) -> list[Chart]:
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
    return _split(f"{name}: {quantity}", "N, N m", [(label, f"{name}[{k}]") for k, label in enumerate(labels)])

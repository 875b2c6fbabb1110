"""Charts of what controllers command, with the limits they have."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pliant.model.columns import Column, command_columns
from pliant.model.control import Controller
from pliant.model.control_laws import one_per_command
from pliant.model.model import Model
from pliant.model.tree import motor_links
from pliant.view.charts.chart import Curve, Drawing
from pliant.view.charts.quantities import Quantities


def control_drawings(quantities: Quantities) -> Iterator[Drawing]:
    """Commands of every controller, one chart per unit, or one per motor where their limits differ."""
    for controller, columns, limits in _commands(quantities.result.model):
        for pair in dict.fromkeys((column.unit, limit) for column, limit in zip(columns, limits, strict=True)):
            unit, limit = pair
            own = [column for column, most in zip(columns, limits, strict=True) if (column.unit, most) == pair]
            curves = tuple(Curve(column.name, *quantities.curve(column.name)) for column in own)
            levels = () if limit is None else (("upper limit", limit), ("lower limit", -limit))
            largest = max(float(np.max(np.abs(curve.values), initial=0.0)) for curve in curves)
            bodies = tuple(quantities.body(column.name) for column in own)
            title = f"{controller.name}: command, {_reached(largest, limit, unit)}"
            yield Drawing(title, unit, curves, levels=levels, bodies=bodies)


def _reached(largest: float, limit: float | None, unit: str) -> str:
    if limit is None:
        return "no limit"
    share = "reaches" if largest >= limit else f"at most {largest / limit:.1%} of"
    return f"{share} its limit of {limit:g} {unit}"


def _commands(model: Model) -> Iterator[tuple[Controller, list[Column], tuple[float | None, ...]]]:
    """Of every controller its columns and their limits."""
    columns = iter(command_columns(model))
    links = motor_links(model.links)
    widths = {name: len(link.joint.row.velocities) for name, link in links.items()}
    widths |= {spring.name: 1 for spring in model.springs}
    for controller in model.controllers:
        count = sum(widths[name] for name in controller.joints)
        own = [next(columns) for _ in range(count)]
        yield controller, own, one_per_command(controller.limit, count)

"""Charts of what controllers command, with the limits they have, and of where they shall be beside where they are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pliant.model.columns import UNITS, Column, command_columns
from pliant.model.control import Controller
from pliant.model.control_laws import StateFeedback, one_per_command
from pliant.model.model import Model
from pliant.model.tree import motor_links
from pliant.results.signal_values import signal_values
from pliant.view.charts.chart import Curve, Drawing
from pliant.view.charts.quantities import Quantities
from pliant.view.svg import Array

MAX_JOINTS = 3  # in a chart of references


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


def reference_drawings(quantities: Quantities) -> Iterator[Drawing]:
    """The motion that laws follow beside the coordinates they hold to it, a few joints in a chart."""
    model, t = quantities.result.model, quantities.times
    for controller, columns, _ in _commands(model):
        if controller.law is None or not len(t):
            continue
        names = _followed(model, controller)
        wanted = signal_values(controller.law.each("reference", len(names)), t)
        for kind in dict.fromkeys(column.kind for column in columns):
            own = [(name, values) for name, values, of in zip(names, wanted, columns, strict=True) if of.kind == kind]
            for first in range(0, len(own), MAX_JOINTS):
                yield _reference_drawing(quantities, controller, dict(own[first : first + MAX_JOINTS]), UNITS[kind])


def _reference_drawing(quantities: Quantities, controller: Controller, wanted: dict[str, Array], unit: str) -> Drawing:
    model, law = quantities.result.model, controller.law
    curves: list[Curve] = []
    apart = 0.0
    for name, values in wanted.items():
        point = law.q[model.coordinates.index(name)] if isinstance(law, StateFeedback) and law.q else 0.0
        t, motion = quantities.curve(name)
        apart = max(apart, float(np.max(np.abs(motion - values - point))))
        curves.append(Curve(name, t, motion))
        curves.append(Curve(f"{name}: reference", t, values + point, is_dashed=True, beside=len(curves) - 1))
    bodies = tuple(quantities.body(name) for name in wanted for _ in range(2))
    title = f"{controller.name}: motion and reference, at most {apart:.3g} {unit} apart"
    return Drawing(title, unit, tuple(curves), bodies=bodies)


def _followed(model: Model, controller: Controller) -> list[str]:
    """Coordinates that a law compares with its reference, one per command: of flexible joints the side it measures."""
    own = {link.joint.name: link for link in model.links}
    sides = [(motor_links(model.links) if controller.encoders == "motor" else own)[name] for name in controller.joints]
    return [model.coordinates[side.q + k] for side in sides for k in range(len(side.joint.row.velocities))]


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

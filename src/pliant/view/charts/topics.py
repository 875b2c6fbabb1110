"""Which curves, in which charts, a word ("energy") or a list of names asks for. Who draws them is another matter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.errors import ModelError
from pliant.model.columns import command_columns, coordinate_columns, output_columns, velocity_columns
from pliant.model.messages import closest, listed, quoted
from pliant.report_types import Panel
from pliant.results.recording import Recording
from pliant.view.charts.beam_charts import beam_drawings
from pliant.view.charts.chart import Curve, Drawing
from pliant.view.charts.chart_data import panel_drawing
from pliant.view.charts.contact_charts import Touching, Window, contact_drawings
from pliant.view.charts.control_charts import control_drawings
from pliant.view.charts.quantities import (
    Quantities,
    coordinate_panels,
    has_dense,
    output_charts,
    output_panels,
    rate_panels,
)

ROUNDING, MIN_TOP = (
    1e-17,
    1e-10,
)  # relative energy errors are drawn as at least the first, on an axis up to the second


# --- by name ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Named:
    """A curve by its name."""

    label: str
    quantity: str  # as Quantities knows it
    unit: str


def named_drawings(result: Recording, names: Sequence[str], window: Window) -> list[Drawing]:
    """Charts of the columns named, one chart per unit; of one output alone those of the report."""
    if not names:
        raise ModelError("plot: an empty list; name at least one column, or leave it out for an overview")
    if len(names) == 1:
        found = [output for output in result.model.outputs if output.name == names[0] and output.name in result.outputs]
        if found and names[0] not in result.model.coordinates:
            return panel_drawings(result, output_charts(result, found[0]), window)
    known: dict[str, list[Named]] = {}
    for one in _known(result):
        known.setdefault(one.label, []).append(one)
        known.setdefault(one.quantity, [one])
    for output in result.model.outputs:
        if output.name in result.outputs:
            parts = [column.name for column in output_columns(result.model, output)]
            known.setdefault(output.name, [known[part][0] for part in parts])
    for name in names:
        if name not in known:
            hint = closest(str(name), ["robot", *TOPICS, *known]) or ";"
            columns = [*result.model.coordinates[:6], *result.outputs, *result.energy]
            raise ModelError(
                f"plot: there is no {quoted(name)}{hint} there are robot, {', '.join(TOPICS)}, and columns by name, "
                f"as {listed(columns, 24)}"
            )
    chosen = list(dict.fromkeys(one for name in names for one in known[name]))
    quantities = Quantities(result, window)
    drawings = []
    for unit in dict.fromkeys(one.unit for one in chosen):
        own = [one for one in chosen if one.unit == unit]
        curves = tuple(Curve(one.label, *quantities.curve(one.quantity)) for one in own)
        title = ", ".join(one.label for one in own) if len(own) <= 3 else f"{own[0].label} ... {own[-1].label}"
        drawings.append(Drawing(title, unit, curves))
    return drawings


def _known(result: Recording) -> Iterator[Named]:
    model = result.model
    columns = (*coordinate_columns(model), *velocity_columns(model), *command_columns(model))
    yield from (Named(column.name, column.name, column.unit) for column in columns)
    for output in (output for output in model.outputs if output.name in result.outputs):
        for k, column in enumerate(output_columns(model, output)):
            yield Named(column.name, f"{output.name}[{k}]", column.unit)
    yield from (Named(name, name, "J") for name in ("total", *result.energy))


def panel_drawings(result: Recording, panels: Iterable[Panel], window: Window) -> list[Drawing]:
    """Charts of panels, as the report has them."""
    quantities = Quantities(result, window)
    return [panel_drawing(quantities, panel, panel.title) for panel in panels]


# --- energy -------------------------------------------------------------------------------------------------------


def energy_drawing(quantities: Quantities) -> Drawing:
    """Energies, their sum, and work terms."""
    names = [name for name, values in quantities.result.energy.items() if np.any(values)]
    stored = [name for name in names if not name.startswith("work_")]
    works = [name for name in names if name.startswith("work_")]
    names = [*stored, *(["total"] if len(stored) > 1 else []), *works]
    curves = [Curve(name.replace("_", ": "), *quantities.curve(name), name.startswith("work_")) for name in names]
    return Drawing("Energies and works", "J", tuple(curves))


def work_drawing(quantities: Quantities) -> Drawing:
    """Work terms alone."""
    names = [name for name, values in quantities.result.energy.items() if name.startswith("work_") and np.any(values)]
    curves = [Curve(name.removeprefix("work_"), *quantities.curve(name)) for name in names]
    return Drawing("Works", "J", tuple(curves))


def error_drawing(quantities: Quantities) -> Drawing:
    """Energy that no work explains, relative."""
    t, values = quantities.rows(np.maximum(quantities.energy_error, ROUNDING))
    ends = (ROUNDING, max(MIN_TOP, 10.0 ** np.ceil(np.log10(np.nanmax(values, initial=ROUNDING)))))
    return Drawing("Energy error, relative", "", (Curve("unexplained share", t, values),), is_log=True, ends=ends)


# --- by topic -----------------------------------------------------------------------------------------------------


TOPICS: dict[str, Callable[[Recording, Window], list[Drawing]]] = {
    "coordinates": lambda result, window: panel_drawings(result, coordinate_panels(result), window),
    "speeds": lambda result, window: panel_drawings(result, rate_panels(result), window),
    "outputs": lambda result, window: panel_drawings(result, output_panels(result), window),
    "commands": lambda result, window: list(control_drawings(Quantities(result, window))),
    "energy": lambda result, window: [energy_drawing(Quantities(result, window))],
    "works": lambda result, window: [work_drawing(Quantities(result, window))],
    "energy_error": lambda result, window: [error_drawing(Quantities(result, window))],
    "contacts": contact_drawings,
    "beams": lambda result, window: list(beam_drawings(result)),
}
MISSING: dict[
    str, tuple[Callable[[Recording], Any], str]
] = {  # what a run must have for a topic, and what to do if it has not
    "outputs": (lambda result: result.outputs, "the model has no outputs; add some to Model(outputs=...)"),
    "commands": (lambda result: result.inputs.shape[1], "the model has no controllers"),
    "contacts": (lambda result: len(result.contacts) and has_dense(result), "nothing touched in this run"),
    "beams": (lambda result: result.model.beams, "the model has no beams"),
    "works": (
        lambda result: any(name.startswith("work_") and np.any(values) for name, values in result.energy.items()),
        "nothing did work in this run",
    ),
}


def topic_drawings(result: Recording, topic: str, window: Window) -> list[Drawing]:
    """The charts of a topic, or why there are none."""
    if topic in MISSING:
        has, words = MISSING[topic]
        if not has(result):
            raise ModelError(f"plot: no {topic!r} here: {words}")
    return TOPICS[topic](result, window)


def overview_drawings(result: Recording, window: Window) -> list[Drawing]:
    """A few charts that show most of a run."""
    drawings = [*TOPICS["coordinates"](result, window)[:2]]
    if len(result.contacts) and has_dense(result):
        drawings += Touching(result, window).force_drawings()[:1]
    else:
        drawings += TOPICS["speeds"](result, window)[:1]
    return [*drawings, *TOPICS["energy"](result, window), *TOPICS["energy_error"](result, window)]


def checked_window(result: Recording, window: Window) -> Window:
    """A part of the run, or a message."""
    if window is None:
        return None
    try:
        low, high = (float(value) for value in window)
    except (TypeError, ValueError):
        raise ModelError(f"plot: window {window!r} is no pair of times; give (from, to) in seconds") from None
    first, last = float(result.t[0]), float(result.t[-1])
    if not (low < high and low < last and high > first):
        raise ModelError(
            f"plot: window {low:g} ... {high:g} s holds nothing of the run, {first:g} ... {last:g} s; give times in it"
        )
    return max(low, first), min(high, last)

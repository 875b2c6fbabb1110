"""Charts of the page as data: a card where the page's script draws, and its curves in the page's arrays."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from pliant.errors import ModelError
from pliant.report_types import Lines, Panel
from pliant.view.arrays import Arrays
from pliant.view.charts.chart import Curve, Drawing, decimate
from pliant.view.charts.quantities import Quantities

CURVE_ROOM = 1_300_000  # characters of all curves of a page
POINTS = (1500, 1000, 700, 500, 350, 250, 120, 60)  # per curve: the first with which all fit


def lines_drawing(lines: Lines) -> Drawing:
    """A chart of curves that are no columns of a run."""
    curves = [Curve(label, np.asarray(x), np.asarray(y), label in lines.dashed) for label, x, y in lines.curves]
    return Drawing(
        lines.title,
        lines.unit,
        tuple(curves),
        is_log=lines.is_log,
        across=lines.across,
        across_unit=lines.across_unit,
        is_log_across=lines.is_log_across,
    )


class ChartBook:
    """All charts of one page."""

    def __init__(self) -> None:
        self._charts: list[tuple[dict[str, Any], tuple[Curve, ...]]] = []
        self._panels: dict[tuple[Any, ...], tuple[Curve, ...]] = {}

    def card(self, drawing: Drawing, role: str = "") -> str:
        """A place for a chart; curves over time are tied to the player.

        role: "impact" for charts in which one looks into single contacts."""
        data = {
            "title": drawing.title,
            "unit": drawing.unit,
            "log": drawing.is_log,
            "log_across": drawing.is_log_across,
            "across": drawing.across,
            "across_unit": drawing.across_unit,
            "timed": drawing.across == "time",
            "role": role,
        }
        self._charts.append((data, drawing.curves))
        kind = f' data-role="{role}"' if role else ""
        unit = f" [{drawing.unit}]" if drawing.unit else ""
        label = f"{drawing.title}{unit} over {drawing.across}"
        return (
            f'<figure class="card chart" data-chart="{len(self._charts) - 1}"{kind}><h3>{escape(drawing.title)}</h3>'
            f'<div class="plot" role="img" aria-label="{escape(label)}"></div></figure>'
        )

    def panel(self, quantities: Quantities, panel: Panel, title: str) -> str:
        """A panel that asks for what there is not says so in its place; the rest of the page is worth having."""
        key = (id(quantities.result), panel.curves, panel.window)
        try:
            if key not in self._panels:
                self._panels[key] = tuple(Curve(label, *quantities.curve(name)) for label, name in panel.curves)
        except ModelError as error:
            return f'<figure class="card"><h3>{escape(title)}</h3><p class="bad">{escape(str(error))}</p></figure>'
        return self.card(Drawing(title, panel.unit, self._panels[key]))

    def data(self, arrays: Arrays) -> tuple[list[dict[str, Any]], int]:
        """The charts for the page, and the number of points per curve with which they fit."""
        sizes = [len(curve.t) for curves in {id(each): each for _, each in self._charts}.values() for curve in curves]
        # trying takes a while: begin where it may fit, at some 8 characters a point
        hopeful = [most for most in POINTS if 8 * sum(min(size, most) for size in sizes) <= CURVE_ROOM]
        for most in hopeful or POINTS[-1:]:
            own = Arrays(len(arrays.texts))
            charts = [
                data | {"curves": [_curve(own, each, most, data) for each in curves]} for data, curves in self._charts
            ]
            if sum(map(len, own.texts)) <= CURVE_ROOM:
                break
        arrays.texts += own.texts
        return charts, most


def _curve(arrays: Arrays, curve: Curve, most: int, chart: dict[str, Any]) -> dict[str, Any]:
    """Across as single precision beyond its first value, unless one looks at tiny spans of it."""
    is_fine = chart["role"] == "impact"
    x, y = (np.asarray(values, dtype=np.float64) for values in (curve.t, curve.values))
    x, y = decimate(x, y, 4 * most if is_fine else most)
    first = float(x[0]) if len(x) and np.isfinite(x[0]) else 0.0
    number = arrays.add(x - first, "f8" if is_fine else "f4")
    return {"label": curve.label, "x": number, "x0": first, "y": arrays.curve(y), "dashed": curve.is_dashed}

"""Charts of the page as data: a card where the page's script draws, and its curves in the page's arrays."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np

from pliant.errors import ModelError
from pliant.report_types import Lines, Panel
from pliant.view.arrays import Arrays
from pliant.view.charts.chart import Curve, Drawing, thinned
from pliant.view.charts.quantities import Quantities

CURVE_ROOM = 1_300_000  # characters of all curves of a page
# points per curve, and how far it may be from the lines between them, of its range: the first with which all fit; but
# for the first, values are rounded to 1/65534 of their range
FINENESS = (
    (1500, 2e-4), (1500, 5e-4), (1200, 1e-3), (900, 2e-3), (600, 3e-3), (400, 5e-3), (250, 8e-3), (120, 2e-2),
    (60, 5e-2),
)  # fmt: skip
FLOOR = 0.1  # of the largest value of that unit in the run: range of an axis on which nothing moves


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
        self._charts: list[tuple[dict[str, Any], dict[str, Drawing]]] = []
        self._panels: dict[tuple[Any, ...], Drawing] = {}

    def card(self, drawing: Drawing, role: str = "", forms: Mapping[str, Drawing] | None = None) -> str:
        """A place for a chart; curves over time are tied to the player.

        role: "impact" for charts in which one looks into single contacts, "runs" where every curve is a run. forms: the
        same in other words, to choose from; the first is drawing itself."""
        shown = dict(forms) if forms else {"": drawing}
        data = {
            "title": drawing.title,
            "log": drawing.is_log,
            "log_across": drawing.is_log_across,
            "across": drawing.across,
            "across_unit": drawing.across_unit,
            "timed": drawing.across == "time",
            "role": role,
        }
        self._charts.append((data, shown))
        kind = f' data-role="{role}"' if role else ""
        unit = f" [{drawing.unit}]" if drawing.unit else ""
        label = f"{drawing.title}{unit} over {drawing.across}"
        choice = f'<select class="form" aria-label="shown as">{_options(shown)}</select>' if len(shown) > 1 else ""
        return (
            f'<figure class="card chart" data-chart="{len(self._charts) - 1}"{kind}>'
            f"<h3>{escape(drawing.title)}</h3>{choice}"
            f'<div class="plot" role="img" aria-label="{escape(label)}"></div></figure>'
        )

    def panel(self, quantities: Quantities, panel: Panel, title: str, others: Mapping[str, Panel] | None = None) -> str:
        """A panel that asks for what there is not says so in its place; the rest of the page is worth having.

        others: the same in other words; the first is the panel itself."""
        try:
            forms = {word: self.drawing(quantities, each, title) for word, each in (others or {"": panel}).items()}
        except ModelError as error:
            return f'<figure class="card"><h3>{escape(title)}</h3><p class="bad">{escape(str(error))}</p></figure>'
        return self.card(next(iter(forms.values())), forms=forms)

    def drawing(self, quantities: Quantities, panel: Panel, title: str) -> Drawing:
        """The curves of a panel, found once."""
        key = (id(quantities.result), panel.curves, panel.window, title)
        if key not in self._panels:
            self._panels[key] = panel_drawing(quantities, panel, title)
        return self._panels[key]

    def data(self, arrays: Arrays) -> tuple[list[dict[str, Any]], int]:
        """The charts for the page, and the number of points per curve with which they fit."""
        for fineness in FINENESS:
            own = Arrays(len(arrays.texts))
            charts = [_chart(own, data, forms, fineness) for data, forms in self._charts]
            if sum(map(len, own.texts)) <= CURVE_ROOM:
                break
        arrays.texts += own.texts
        return charts, fineness[0]


def panel_drawing(quantities: Quantities, panel: Panel, title: str) -> Drawing:
    """The chart of a panel."""
    curves = tuple(Curve(label, *quantities.curve(name)) for label, name in panel.curves)
    bodies = tuple(quantities.body(name) for _, name in panel.curves)
    levels = tuple(level for _, name in panel.curves for level in quantities.limits(name))
    floor = FLOOR * quantities.size(panel.unit)
    return Drawing(title, panel.unit, curves, levels=levels, floor=floor, bodies=bodies)


def _options(forms: Mapping[str, Drawing]) -> str:
    return "".join(f"<option>{escape(word)}</option>" for word in forms)


def _chart(
    arrays: Arrays, data: dict[str, Any], forms: Mapping[str, Drawing], fineness: tuple[int, float]
) -> dict[str, Any]:
    found = [
        {
            "unit": drawing.unit,
            "levels": [{"label": label, "value": value} for label, value in drawing.levels],
            "floor": drawing.floor,
            "ends": drawing.ends,
            "curves": _curves(arrays, drawing, fineness, data["role"] == "impact"),
        }
        for drawing in forms.values()
    ]
    return data | found[0] | {"forms": found if len(found) > 1 else []}


def _curves(arrays: Arrays, drawing: Drawing, fineness: tuple[int, float], is_fine: bool) -> list[dict[str, Any]]:
    """Across as single precision beyond its first value, unless one looks at tiny spans of it."""
    most, unseen = fineness
    found = []
    for k, curve in enumerate(thinned(drawing.curves, 4 * most if is_fine else most, unseen)):
        first = float(curve.t[0]) if len(curve.t) and np.isfinite(curve.t[0]) else 0.0
        if is_fine or fineness == FINENESS[0]:
            x, y = arrays.add(curve.t - first, "f8" if is_fine else "f4"), arrays.curve(curve.values)
        else:
            x, y = arrays.rounded(curve.t - first), arrays.rounded(curve.values)
        data = {"label": curve.label, "x": x, "x0": first, "y": y, "dashed": curve.is_dashed}
        data |= {"beside": curve.beside} if curve.beside >= 0 else {}
        body = drawing.bodies[k] if drawing.bodies else -1
        found.append(data | ({"body": body} if body >= 0 else {}))
    return found

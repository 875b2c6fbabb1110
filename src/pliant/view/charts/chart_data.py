"""Charts of the page as data: a card where the page's script draws, and its curves in the page's arrays."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np

from pliant.errors import ModelError
from pliant.report_types import Panel
from pliant.view.arrays import Arrays
from pliant.view.charts.chart import Curve, Drawing, thinned
from pliant.view.charts.quantities import Quantities

CURVE_ROOM = 1_300_000  # characters of all curves of a page
POINTS = (1500, 1000, 700, 500, 350, 250, 120, 60)  # per curve: the first with which all fit
ROUNDING = 1e-9  # of the largest value of that unit in the run: smaller ranges are not magnified


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
        drawings = [drawing for _, forms in self._charts for drawing in forms.values()]
        sizes = [len(curve.t) for each in {id(one.curves): one for one in drawings}.values() for curve in each.curves]
        # trying takes a while: begin where it may fit, at some 8 characters a point
        hopeful = [most for most in POINTS if 8 * sum(min(size, most) for size in sizes) <= 3 * CURVE_ROOM]
        for most in hopeful or POINTS[-1:]:
            own = Arrays(len(arrays.texts))
            charts = [_chart(own, data, forms, most) for data, forms in self._charts]
            if sum(map(len, own.texts)) <= CURVE_ROOM:
                break
        arrays.texts += own.texts
        return charts, most


def panel_drawing(quantities: Quantities, panel: Panel, title: str) -> Drawing:
    """The chart of a panel."""
    curves = tuple(Curve(label, *quantities.curve(name)) for label, name in panel.curves)
    bodies = tuple(quantities.body(name) for _, name in panel.curves)
    return Drawing(title, panel.unit, curves, floor=ROUNDING * quantities.size(panel.unit), bodies=bodies)


def _options(forms: Mapping[str, Drawing]) -> str:
    return "".join(f"<option>{escape(word)}</option>" for word in forms)


def _chart(arrays: Arrays, data: dict[str, Any], forms: Mapping[str, Drawing], most: int) -> dict[str, Any]:
    found = [
        {
            "unit": drawing.unit,
            "levels": [{"label": label, "value": value} for label, value in drawing.levels],
            "floor": drawing.floor,
            "ends": drawing.ends,
            "curves": _curves(arrays, drawing, most, data["role"] == "impact"),
        }
        for drawing in forms.values()
    ]
    return data | found[0] | {"forms": found if len(found) > 1 else []}


def _curves(arrays: Arrays, drawing: Drawing, most: int, is_fine: bool) -> list[dict[str, Any]]:
    """Across as single precision beyond its first value, unless one looks at tiny spans of it."""
    found = []
    for k, curve in enumerate(thinned(drawing.curves, 4 * most if is_fine else most)):
        first = float(curve.t[0]) if len(curve.t) and np.isfinite(curve.t[0]) else 0.0
        x, y = arrays.add(curve.t - first, "f8" if is_fine else "f4"), arrays.curve(curve.values)
        data = {"label": curve.label, "x": x, "x0": first, "y": y, "dashed": curve.is_dashed}
        body = drawing.bodies[k] if drawing.bodies else -1
        found.append(data | ({"body": body} if body >= 0 else {}))
    return found

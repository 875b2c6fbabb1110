"""Several runs together: a few side by side, many on shared axes, of which the reader chooses some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from html import escape

import numpy as np

from pliant.errors import ModelError
from pliant.report_types import Panel
from pliant.results.recording import Recording
from pliant.view.charts.chart import Curve, Drawing, thinned, value_range
from pliant.view.charts.chart_data import ChartBook, panel_drawing
from pliant.view.charts.quantities import Quantities
from pliant.view.page.heading import run_mark
from pliant.view.page.html import section

FEW = 4  # runs that are shown side by side; more share their axes
CHOSEN = 5  # of many, at first
POINTS, UNSEEN = 600, 1e-3  # of a curve of one of many runs, and how far lines between them may be from it


def comparison_section(variants: Mapping[str, Recording], panels: Sequence[Panel], book: ChartBook) -> str:
    """What the panels show, run by run."""
    if not panels:
        return ""
    drawings = {panel: _drawings(variants, panel) for panel in panels}
    if len(variants) <= FEW:
        return "\n".join(_side_by_side(panel, found, book) for panel, found in drawings.items())
    cards = [card for panel, found in drawings.items() if (card := _on_shared_axes(panel, found, book))]
    return section("Runs together", f'{_choice(variants)}\n<div class="charts">{"".join(cards)}</div>', "runs")


def _drawings(variants: Mapping[str, Recording], panel: Panel) -> dict[str, Drawing]:
    """The chart of a panel of every run that has it."""
    found = {}
    for label, result in variants.items():
        if len(result.t):
            with suppress(ModelError):
                found[label] = panel_drawing(Quantities(result, panel.window), panel, label)
    return found


def _side_by_side(panel: Panel, drawings: Mapping[str, Drawing], book: ChartBook) -> str:
    """One chart per run, the same range of values in each."""
    curves = [curve for drawing in drawings.values() for curve in drawing.curves]
    floor = max((drawing.floor for drawing in drawings.values()), default=0.0)
    ends = value_range(curves, False, floor)
    cards = [book.card(replace(drawing, ends=ends)) for drawing in drawings.values()]
    return section(f"{panel.title}, run by run", f'<div class="charts small">{"".join(cards)}</div>' if cards else "")


def _on_shared_axes(panel: Panel, drawings: Mapping[str, Drawing], book: ChartBook) -> str:
    """One chart with a curve per run; where the panel has several curves, the reader chooses one of them."""
    curves: dict[str, list[Curve]] = {label: [] for label, _ in panel.curves}
    for run, drawing in drawings.items():
        for own, curve in zip(curves.values(), thinned(drawing.curves, POINTS, UNSEEN), strict=True):
            own.append(replace(curve, label=run))
    floor = max((drawing.floor for drawing in drawings.values()), default=0.0)
    forms = {label: Drawing(panel.title, panel.unit, tuple(own), floor=floor) for label, own in curves.items() if own}
    return book.card(next(iter(forms.values())), role="runs", forms=forms) if forms else ""


def _choice(variants: Mapping[str, Recording]) -> str:
    """Boxes of all runs; a few of them, evenly chosen, are shown at first."""
    first = set(np.linspace(0, len(variants) - 1, CHOSEN).astype(int).tolist())
    boxes = []
    for k, (label, result) in enumerate(variants.items()):
        mark = run_mark(result)
        words = f"{escape(label)}{f' <small>({escape(mark)})</small>' if mark else ''}"
        checked = " checked" if k in first else ""
        boxes.append(f'<label class="check"><input type="checkbox" value="{escape(label)}"{checked}> {words}</label>')
    return (
        f'<div class="card choice" id="run-choices" role="group" aria-label="Runs shown"><div class="row">'
        f"<strong>{len(variants)} runs</strong>"
        '<button type="button" data-all="true">All</button><button type="button" data-all="">None</button>'
        '<span class="note">Rest on a name to see its curve.</span></div>'
        f'<div class="boxes">{"".join(boxes)}</div></div>'
    )

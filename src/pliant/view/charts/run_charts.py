"""The charts of one run, in groups: the case's own, motion, control, contact, outputs, energy, beams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from pliant.model.tree import find_frame
from pliant.report_types import Panel
from pliant.results.recording import Recording
from pliant.view.charts.beam_charts import beam_drawings
from pliant.view.charts.chart import Drawing
from pliant.view.charts.chart_data import ChartBook
from pliant.view.charts.contact_charts import Touching
from pliant.view.charts.control_charts import control_drawings, reference_drawings
from pliant.view.charts.quantities import (
    Quantities,
    angles_panel,
    coordinate_panels,
    has_dense,
    output_panels,
    rate_panels,
)
from pliant.view.charts.topics import energy_drawing, error_drawing


def run_charts(result: Recording, panels: Sequence[Panel] | None, book: ChartBook, run: int) -> str:
    """Tabs with cards; nothing for a run that reached nothing."""
    if len(result.t) == 0:
        return ""
    groups = {name: cards for name, cards in _groups(result, panels, book) if cards}
    buttons, pages = [], []
    for k, (name, cards) in enumerate(groups.items()):
        key = f"run{run}-{name.lower()}"
        chosen, hidden = ("true", "") if k == 0 else ("false", " hidden")
        buttons.append(
            f'<button type="button" role="tab" id="tab-{key}" aria-controls="{key}" aria-selected="{chosen}"'
            f' tabindex="{0 if k == 0 else -1}">{escape(name)}</button>'
        )
        pages.append(
            f'<div role="tabpanel" class="group" id="{key}" aria-labelledby="tab-{key}"{hidden}>'
            f'<h3 class="printed">{escape(name)}</h3>{cards}</div>'
        )
    return f'<div role="tablist" class="tabs" aria-label="Charts">{"".join(buttons)}</div>\n{"".join(pages)}'


def _groups(result: Recording, panels: Sequence[Panel] | None, book: ChartBook) -> Iterator[tuple[str, str]]:
    quantities = Quantities(result)
    if panels:
        windows = {panel.window: Quantities(result, panel.window) for panel in panels}
        cards = [book.panel(windows[panel.window], panel, panel.title) for panel in panels]
        yield "Case", "".join(cards)
    yield "Motion", "".join(_cards(quantities, (*coordinate_panels(result), *rate_panels(result)), book))
    controlled = (*reference_drawings(quantities), *control_drawings(quantities))
    yield "Control", "".join(book.card(drawing) for drawing in controlled)
    yield "Contact", _contact(result, book)
    yield "Outputs", "".join(_cards(quantities, output_panels(result), book))
    yield "Energy", _energy(quantities, book)
    yield "Beams", "".join(book.card(drawing) for drawing in _beams(result))


def _energy(quantities: Quantities, book: ChartBook) -> str:
    if "kinetic" not in quantities.result.energy:
        return ""
    return book.card(energy_drawing(quantities)) + book.card(error_drawing(quantities))


def _cards(quantities: Quantities, panels: Sequence[Panel], book: ChartBook) -> Iterator[str]:
    """Charts of panels; attitudes as quaternions or, on request, as angles."""
    for panel in panels:
        angles = angles_panel(quantities, panel)
        forms = {"quaternion": panel, "Euler angles z, y, x": angles} if angles else None
        yield book.panel(quantities, panel, panel.title, forms)


def _beams(result: Recording) -> Iterator[Drawing]:
    """Along the beams of which the model asks for forces, strains or stress."""
    model = result.model
    asked = dict.fromkeys(find_frame(model, output.of).body for output in model.outputs if output.is_in_beam)
    if asked and has_dense(result):
        yield from beam_drawings(result, tuple(asked))


def _contact(result: Recording, book: ChartBook) -> str:
    """Forces of the points that touched; the page itself looks into each impact."""
    if len(result.contacts) == 0 or not has_dense(result):
        return ""
    return "".join(book.card(drawing, role="impact") for drawing in Touching(result).force_drawings())

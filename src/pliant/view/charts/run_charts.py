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
from pliant.view.charts.control_charts import control_drawings
from pliant.view.charts.quantities import (
    Quantities,
    coordinate_panels,
    euler_curves,
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
    yield "Motion", "".join(_motion(quantities, book))
    yield "Control", "".join(book.card(drawing) for drawing in control_drawings(quantities))
    yield "Contact", _contact(result, book)
    yield "Outputs", "".join(book.panel(quantities, panel, panel.title) for panel in output_panels(result))
    yield "Energy", _energy(quantities, book)
    yield "Beams", "".join(book.card(drawing) for drawing in _beams(result))


def _energy(quantities: Quantities, book: ChartBook) -> str:
    if "kinetic" not in quantities.result.energy:
        return ""
    return book.card(energy_drawing(quantities)) + book.card(error_drawing(quantities))


def _motion(quantities: Quantities, book: ChartBook) -> Iterator[str]:
    """Coordinates and velocities; attitudes as quaternions or, on request, as angles."""
    for panel in (*coordinate_panels(quantities.result), *rate_panels(quantities.result)):
        joint = panel.curves[0][1].removesuffix(".qx")
        if joint in quantities.attitudes:
            angles = Panel(panel.title, "rad", euler_curves(joint))
            yield book.panel(quantities, panel, panel.title, {"quaternion": panel, "Euler angles z, y, x": angles})
        else:
            yield book.panel(quantities, panel, panel.title)


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

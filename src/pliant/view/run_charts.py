"""The charts of one run, in groups: the case's own, motion, outputs, energy, contact, beams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

import numpy as np

from pliant.model.tree import find_frame
from pliant.result import Result
from pliant.view.beam_charts import beam_drawings
from pliant.view.chart import Curve, Drawing
from pliant.view.chart_data import ChartBook
from pliant.view.quantity import (
    Panel,
    Quantities,
    coordinate_panels,
    dense_range,
    has_dense,
    output_panels,
    rate_panels,
)
from pliant.view.svg import Array

ROUNDING = 1e-17  # relative energy errors below it are drawn as this
MOST_FORCE_POINTS = 6000  # of contact forces within all contacts
PER_CONTACT = 33  # instants within each contact
MOST_CURVES = 8  # points of contact in one chart


def run_charts(result: Result, panels: Sequence[Panel] | None, book: ChartBook, run: int) -> str:
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


def _groups(result: Result, panels: Sequence[Panel] | None, book: ChartBook) -> Iterator[tuple[str, str]]:
    quantities = Quantities(result)
    if panels:
        windows = {panel.window: Quantities(result, panel.window) for panel in panels}
        cards = [book.panel(windows[panel.window], panel, panel.title) for panel in panels]
        yield "Case", "".join(cards)
    yield "Motion", "".join(book.panel(quantities, panel, panel.title) for panel in _motion(result))
    yield "Contact", _contact(result, book)
    yield "Outputs", "".join(book.panel(quantities, panel, panel.title) for panel in output_panels(result))
    yield "Energy", _energy(quantities, book)
    yield "Beams", "".join(book.card(drawing) for drawing in _beams(result))


def _energy(quantities: Quantities, book: ChartBook) -> str:
    result = quantities.result
    if "kinetic" not in result.energy:
        return ""
    names = [name for name in result.energy if np.any(result.energy[name])]
    stored = [name for name in names if not name.startswith("work_")]
    works = [name for name in names if name.startswith("work_")]
    names = [*stored, *(["total"] if len(stored) > 1 else []), *works]
    curves = [Curve(name.replace("_", ": "), *quantities.curve(name), name.startswith("work_")) for name in names]
    error = Curve("unexplained share", result.t, np.maximum(quantities.energy_error, ROUNDING))
    return book.card(Drawing("Energies and works", "J", tuple(curves))) + book.card(
        Drawing("Energy error, relative", "", (error,), is_log=True)
    )


def _motion(result: Result) -> tuple[Panel, ...]:
    return (*coordinate_panels(result), *rate_panels(result))


def _beams(result: Result) -> Iterator[Drawing]:
    """Along the beams of which the model asks for forces, strains or stress."""
    model = result.model
    asked = dict.fromkeys(find_frame(model, output.of).body for output in model.outputs if output.is_in_beam)
    if asked and has_dense(result):
        yield from beam_drawings(result, tuple(asked))


def _contact(result: Result, book: ChartBook) -> str:
    """Normal and friction force of every point that touched, fine enough to look into each contact."""
    log = result.contacts
    if len(log) == 0 or not has_dense(result):
        return ""
    forces = result.contact_forces(_contact_times(result))
    touched = {(str(row["contact"]), str(row["point"])) for row in log}
    normal, friction = (np.linalg.norm(part, axis=2) for part in (forces.normal, forces.friction))
    order = [k for k in np.argsort(-normal.max(axis=0), kind="stable").tolist() if forces.names[k] in touched]
    chosen = sorted(order[:MOST_CURVES])
    several = len({contact for contact, _ in touched}) > 1
    labels = {k: ": ".join(forces.names[k]) if several else forces.names[k][1] for k in chosen}
    some = f" ({len(chosen)} of {len(order)} points)" if len(order) > len(chosen) else ""
    cards = ""
    for title, values in (("Normal forces", normal), ("Friction forces", friction)):
        if np.any(values[:, chosen]):
            curves = tuple(Curve(labels[k], forces.t, values[:, k]) for k in chosen)
            cards += book.card(Drawing(f"{title}{some}", "N", curves), role="impact")
    return cards


def _contact_times(result: Result) -> Array:
    """Accepted steps, an even grid, and more within each contact."""
    first, last = dense_range(result)
    log = result.contacts
    ends = np.where(np.isnan(log["t_end"]), last, log["t_end"])
    few = max(4, min(PER_CONTACT, 8 * MOST_FORCE_POINTS // len(log)))
    shares = np.linspace(0.0, 1.0, few)
    within = log["t_start"][:, None] + shares * (ends - log["t_start"])[:, None]
    rows = result.t[np.unique(np.linspace(0, len(result.t) - 1, min(len(result.t), 20_000)).astype(int))]
    t = np.concatenate([rows, np.linspace(first, last, 800), within.ravel()])
    return np.unique(np.clip(t, first, last))

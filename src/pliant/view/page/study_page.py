"""The page of a study: all its rows as parallel coordinates, scatter, response curves and heat map; a click on a row
gives the line that runs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from pliant.files import write_whole
from pliant.report_types import Finding
from pliant.view.arrays import Arrays
from pliant.view.charts.chart_data import ChartBook
from pliant.view.page.findings import finding_section
from pliant.view.page.html import section, table
from pliant.view.page.report import whole_page

MAX_POINTS = 4000  # rows on the page
MAX_NOTES = 20  # reasons in the table
SCRIPTS = ("data", "theme", "study")


@dataclass(frozen=True, eq=False)
class StudyColumn:
    """A parameter or a figure of all rows."""

    name: str
    unit: str
    values: Any  # numbers; of texts their places in `words`
    is_figure: bool
    words: tuple[str, ...] = ()  # where its values are texts
    is_log: bool = False  # it is varied over powers of ten


def study_page(
    title: str,
    description: str,
    columns: Sequence[StudyColumn],
    rows: Any,
    notes: Mapping[int, str],
    is_failed: Any,
    commands: tuple[str, str],
    findings: Sequence[Finding] = (),
) -> str:
    """rows: their numbers. notes: by row. commands: how a run begins ("pliant run arm.toml"; "": it is Python) and what
    makes a report ("pliant sweep --out DIR --report")."""
    chosen = _chosen(len(rows), is_failed)
    arrays = Arrays()
    book = ChartBook()
    data = {
        "charts": ["study"],
        "title": title,
        "rows": arrays.add(rows[chosen], "i4"),
        "failed": arrays.add(is_failed[chosen], "u1"),
        "columns": [
            {
                "name": each.name,
                "unit": each.unit,
                "values": arrays.add(np.asarray(each.values)[chosen], "f8"),
                "figure": each.is_figure,
                "words": list(each.words),
                "log": each.is_log,
            }
            for each in columns
        ],
        "notes": {int(row): notes[int(row)] for row in rows[chosen] if int(row) in notes},
        "command": commands[0],
        "report": commands[1],
    }
    shown = "" if len(chosen) == len(rows) else f" {len(chosen)} of them, evenly chosen, are on this page."
    failed = int(np.count_nonzero(is_failed))
    verdict = "good" if not failed else "warn"
    words = "All runs came to their end." if not failed else f"{failed} runs failed; the last table says why."
    content = [
        f'<header>\n<h1>{escape(title)}</h1>\n<p class="lead">{escape(description)}</p>\n'
        f'<p class="status {verdict}"><strong>{len(rows)} rows.</strong> <span>{escape(words + shown)}</span></p>\n'
        "</header>",
        _parts(),
        *(finding_section(each, book) for each in findings),
        _notes_section(rows, notes, is_failed),
    ]  # fmt: skip
    drawn, _ = book.data(arrays)
    data |= {"arrays": arrays.texts, "finding_charts": drawn}
    return whole_page(None, title, content, data, None, SCRIPTS)


def write_study_page(path: Path, *given: Any, **more: Any) -> None:
    """Write the page; given: as of study_page."""
    write_whole(path, study_page(*given, **more))


def _chosen(count: int, is_failed: Any) -> Any:
    """All rows, or failed ones and others evenly, as many as a page draws."""
    if count <= MAX_POINTS:
        return np.arange(count)
    failed = np.flatnonzero(is_failed)
    failed = (
        failed[np.linspace(0, len(failed) - 1, min(len(failed), MAX_POINTS // 4)).astype(int)]
        if len(failed)
        else failed
    )
    others = np.flatnonzero(~np.asarray(is_failed))
    others = others[np.unique(np.linspace(0, len(others) - 1, MAX_POINTS - len(failed)).astype(int))]
    return np.sort(np.concatenate([failed, others]))


def _choice(name: str, label: str) -> str:
    return f'<label>{label} <select id="{name}"></select></label>'


def _parts() -> str:
    """Places of the charts; the script fills them."""
    chosen = (
        '<div class="card" id="row-card" aria-live="polite"><h3>One run</h3><div id="row-words">'
        '<p class="note">Click a line or a point: the line that makes this run appears here.</p></div></div>'
    )
    parallel = (
        f'<div class="card"><div class="row">{_choice("colour", "colour by")}<span class="note">Drag along an axis to '
        'choose runs, click beside it to let them go.</span></div><canvas id="parallel" role="img" '
        'aria-label="all runs as lines over parallel axes"></canvas></div>'
    )
    scatter = (
        f'<div class="card chart"><div class="row">{_choice("scatter-x", "across")}{_choice("scatter-y", "up")}</div>'
        '<div class="plot" id="scatter"></div></div>'
    )
    heat = (
        f'<div class="card chart"><div class="row">{_choice("heat-x", "across")}{_choice("heat-y", "up")}'
        f'{_choice("heat-z", "mean of")}</div><div class="plot" id="heat"></div></div>'
    )
    curves = (
        f'<div class="row">{_choice("response", "figure")}<span class="note">Mean over all other parameters, and the '
        'range of the middle 80 % of the runs.</span></div><div class="charts small" id="responses"></div>'
    )
    return (
        section("All runs", f"{parallel}\n{chosen}")
        + section("Two quantities", f'<div class="charts">{scatter}{heat}</div>')
        + section("Response curves", curves)
    )


def _notes_section(rows: Any, notes: Mapping[int, str], is_failed: Any) -> str:
    failed = {int(row): "failed" for row in rows[np.asarray(is_failed)][:MAX_NOTES]}
    kept = list(dict.fromkeys([*failed, *sorted(notes)]))[:MAX_NOTES]
    cells = [[str(row), failed.get(row, "done"), escape(notes.get(row, ""))] for row in kept]
    more = f'<p class="note">The first {len(kept)} of {len(notes)}.</p>' if len(notes) > len(kept) else ""
    return section("Runs with a note", table(("row", "", "note"), cells) + more if cells else "")

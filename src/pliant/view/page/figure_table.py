"""Figures of a case beside the values they should have."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import numpy as np

from pliant.report_types import Figure
from pliant.view.page.html import section, table, with_unit
from pliant.view.svg import readable

MAX_FIGURES = 12  # shown at once


def figures_section(figures: Mapping[str, float], infos: Mapping[str, Figure], compares: bool) -> str:
    if not figures:
        return ""
    is_compared = compares and any(_expected(infos.get(name)) is not None for name in figures)
    rows = [_figure_row(name, value, infos.get(name), is_compared) for name, value in figures.items()]
    columns = ("figure", "value", "expected", "difference", "source") if is_compared else ("figure", "value", "meaning")
    note = '<p class="note">Expected values hold at the default settings of the case.</p>' if is_compared else ""
    numbers = (1, 2, 3) if is_compared else (1,)
    shown, folded = (rows, []) if len(rows) <= MAX_FIGURES + 4 else (rows[:MAX_FIGURES], rows[MAX_FIGURES:])
    content = table(columns, shown, numbers)
    if folded:
        more = table(columns, folded, numbers)
        content += f"<details><summary>{len(folded)} more figures</summary>{more}</details>"
    return section("Figures", content + note)


def _expected(info: Figure | None) -> float | None:
    return None if info is None else info.expected


def _figure_row(name: str, value: float, info: Figure | None, is_compared: bool) -> list[str]:
    unit, meaning = (info.unit, escape(info.help)) if info else ("", "")
    if not is_compared:
        return [f"<code>{escape(name)}</code>", with_unit(value, unit), meaning]
    words = f"<code>{escape(name)}</code>" + (f"<small>{meaning}</small>" if meaning else "")
    expected = _expected(info)
    if info is None or expected is None:
        return [words, with_unit(value, unit), "", "", ""]
    digits = _digits(expected, info.tolerance)
    difference = _difference(float(value) - expected, info.tolerance)
    return [words, with_unit(value, unit, digits), with_unit(expected, unit, digits), difference, escape(info.source)]


def _digits(value: float, tolerance: float) -> int:
    """As many significant digits as the tolerance can tell apart, and one more."""
    if value == 0:
        return 3
    if tolerance <= 0:
        return 8
    return int(np.clip(np.ceil(np.log10(abs(value) / tolerance)) + 1, 3, 15))


def _difference(difference: float, tolerance: float) -> str:
    if np.isnan(difference):
        return '<span class="warn">not available</span>'
    css, word = ("good", "within") if abs(difference) <= tolerance else ("bad", "outside")
    return f'{readable(difference, 2)}<small class="{css}">{word} {readable(tolerance, 2)}</small>'

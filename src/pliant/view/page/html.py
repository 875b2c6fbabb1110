"""Small parts of the page: sections, tables, numbers with units."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from pliant.view.svg import readable

MAX_ROWS = 100  # of a table
WORDS = ("meaning", "what it says")  # columns of sentences


def section(title: str, content: str, css: str = "") -> str:
    kind = f' class="{css}"' if css else ""
    return f"<section{kind}>\n<h2>{escape(title)}</h2>\n{content}\n</section>" if content else ""


def of_run(index: int, content: str) -> str:
    """Content that belongs to one of several runs: shown while it is chosen."""
    hidden = " hidden" if index else ""
    return f'<div data-run="{index}"{hidden}>\n{content}\n</div>' if content else ""


def _cell(content: str, label: str, is_number: bool) -> str:
    if not content:
        return "<td></td>"
    if label in WORDS:
        return f'<td class="words">{content}</td>'
    css = ' class="number"' if is_number else ""
    return f'<td{css} data-label="{escape(label)}">{content}</td>'


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    numbers: Sequence[int] = (),
    attributes: Sequence[str] = (),
    is_wide: bool = False,
) -> str:
    """A table of ready html cells; on a phone every row becomes a block, unless it is wide: then it scrolls. The first
    column has no label there.

    attributes: of each row."""
    heads = "".join(
        f'<th scope="col" class="number">{escape(name)}</th>'
        if k in numbers
        else f'<th scope="col">{escape(name)}</th>'
        for k, name in enumerate(columns)
    )
    lines = [
        f"<tr{' ' + attributes[place] if attributes else ''}><td>{row[0]}</td>"
        + "".join(_cell(row[k], columns[k], k in numbers) for k in range(1, len(columns)))
        + "</tr>"
        for place, row in enumerate(rows)
    ]
    head = f"<thead><tr>{heads}</tr></thead>" if any(columns) else ""
    css = "wide" if is_wide else "stack" if any(columns) else "plain"
    body = "\n".join(lines)
    return f'<div class="card table"><table class="{css}">{head}<tbody>\n{body}\n</tbody></table></div>'


def more(count: int) -> str:
    return f'<p class="note">The first {MAX_ROWS} of {count}.</p>' if count > MAX_ROWS else ""


def seconds(value: float) -> str:
    """Computing time as one says it."""
    if not value < 1:
        return f"{readable(value, 3)} s"
    return f"{readable(1e3 * value, 2)} ms"


def with_unit(value: Any, unit: str = "", digits: int = 6) -> str:
    if isinstance(value, (float, int, np.number, np.bool_)):
        words = readable(value, digits)  # type: ignore[arg-type]
        return f"{words} {escape(unit)}".strip() if words != "not available" else words
    return escape(str(value))


def sentence(words: str) -> str:
    words = words[:1].upper() + words[1:]
    return words if not words or words.endswith(".") else words + "."

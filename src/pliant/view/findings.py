"""What several runs say together: sentences, tables, charts over something other than time."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, Protocol

import numpy as np

from pliant.view.chart import Curve, Drawing
from pliant.view.chart_data import ChartBook
from pliant.view.html import section, table


class LinesInfo(Protocol):
    """A chart over something other than time."""

    @property
    def title(self) -> str: ...
    @property
    def unit(self) -> str: ...
    @property
    def across(self) -> str: ...
    @property
    def across_unit(self) -> str: ...
    @property
    def is_log(self) -> bool: ...
    @property
    def curves(self) -> tuple[tuple[str, Any, Any], ...]: ...
    @property
    def dashed(self) -> tuple[str, ...]: ...


class FindingInfo(Protocol):
    """What several runs say together; what cases give."""

    @property
    def title(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def columns(self) -> tuple[str, ...]: ...
    @property
    def rows(self) -> tuple[tuple[str, ...], ...]: ...
    @property
    def numbers(self) -> tuple[int, ...]: ...
    @property
    def charts(self) -> Sequence[LinesInfo]: ...


def finding_section(finding: FindingInfo, book: ChartBook) -> str:
    cells = [[escape(cell) for cell in row] for row in finding.rows]
    rows = table(finding.columns, cells, finding.numbers) if cells else ""
    cards = "".join(book.card(_drawing(lines)) for lines in finding.charts)
    charts = f'<div class="charts">{cards}</div>' if cards else ""
    return section(finding.title, f"<p>{escape(finding.text)}</p>\n{rows}\n{charts}")


def _drawing(lines: LinesInfo) -> Drawing:
    curves = [Curve(label, np.asarray(x), np.asarray(y), label in lines.dashed) for label, x, y in lines.curves]
    across, unit = lines.across, lines.across_unit
    return Drawing(lines.title, lines.unit, tuple(curves), is_log=lines.is_log, across=across, across_unit=unit)

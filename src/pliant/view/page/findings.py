"""What several runs say together: sentences, tables, charts over something other than time."""

from __future__ import annotations

from html import escape

import numpy as np

from pliant.report_types import Finding, Lines
from pliant.view.charts.chart import Curve, Drawing
from pliant.view.charts.chart_data import ChartBook
from pliant.view.page.html import section, table


def finding_section(finding: Finding, book: ChartBook) -> str:
    cells = [[escape(cell) for cell in row] for row in finding.rows]
    rows = table(finding.columns, cells, finding.numbers) if cells else ""
    cards = "".join(book.card(_drawing(lines)) for lines in finding.charts)
    charts = f'<div class="charts">{cards}</div>' if cards else ""
    return section(finding.title, f"<p>{escape(finding.text)}</p>\n{rows}\n{charts}")


def _drawing(lines: Lines) -> Drawing:
    curves = [Curve(label, np.asarray(x), np.asarray(y), label in lines.dashed) for label, x, y in lines.curves]
    across, unit = lines.across, lines.across_unit
    return Drawing(lines.title, lines.unit, tuple(curves), is_log=lines.is_log, across=across, across_unit=unit)

"""What several runs say together: sentences, tables, charts over something other than time."""

from __future__ import annotations

from html import escape

from pliant.report_types import Finding
from pliant.view.charts.chart_data import ChartBook, lines_drawing
from pliant.view.page.html import section, table


def finding_section(finding: Finding, book: ChartBook) -> str:
    cells = [[escape(cell) for cell in row] for row in finding.rows]
    rows = table(finding.columns, cells, finding.numbers) if cells else ""
    cards = "".join(book.card(lines_drawing(lines)) for lines in finding.charts)
    charts = f'<div class="charts">{cards}</div>' if cards else ""
    return section(finding.title, f"<p>{escape(finding.text)}</p>\n{rows}\n{charts}")

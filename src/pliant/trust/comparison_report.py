"""A comparison of methods as a table, charts and plain numbers."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from pliant.report_types import Finding, Lines
from pliant.trust.compare import BEST, Comparison, Row

COLUMNS = ("compared", "run", "motion", "forces", "reactions", "energy", "drift", "evaluations", "time [ms]", "")
NUMBERS = (2, 3, 4, 5, 6, 7, 8)
SMALLEST = 1e-17  # drawn
MAX_CURVES = 12  # over time in one chart
TITLES = {"formulation": "Formulations", "closure": "Closures of the loops", "integrator": "Integrators"}


def comparison_rows(comparison: Comparison) -> list[tuple[str, ...]]:
    """Under COLUMNS."""
    found = []
    for row in comparison.rows:
        numbers = (row.motion, row.forces, row.reactions, row.energy, row.drift)
        cost = (str(row.evaluations), f"{1e3 * row.seconds:.3g}") if not row.reason else ("", "")
        found.append((row.family, row.label, *map(_number, numbers), *cost, row.reason))
    return found


def _number(value: float) -> str:
    return "" if math.isnan(value) else "0" if value == 0.0 else f"{value:.0e}"


def comparison_findings(comparison: Comparison) -> tuple[Finding, ...]:
    """A table of all runs, work against precision, and differences over time."""
    text = (
        f"Every run is held against one at rtol {BEST:.0e}: largest difference of a coordinate over its range; of "
        "forces and reactions over the largest; energy without a work to explain it; drift of loops and attitudes. "
        "Where neighbouring motions separate, differences of motion tell of that and not of the method: look at them "
        "over time."
    )
    table = Finding(
        "The same robot by other methods",
        text,
        COLUMNS,
        tuple(comparison_rows(comparison)),
        (_work_precision(comparison),) if comparison.family("integrator") else (),
        NUMBERS,
    )
    return (table, *(_over_time(comparison, family) for family in TITLES if _drawn(comparison, family)))


def _work_precision(comparison: Comparison) -> Lines:
    """Difference of motion over evaluations, a curve per integrator."""
    curves: dict[str, list[Row]] = {}
    for row in comparison.family("integrator"):
        if not row.reason:
            curves.setdefault(row.label.split(",")[0], []).append(row)
    return Lines(
        "Work and precision of the integrators: difference of motion over evaluations",
        "",
        "evaluations of the equations of motion",
        "",
        tuple(
            (
                name,
                np.array([row.evaluations for row in rows], float),
                np.array([max(row.motion, SMALLEST) for row in rows]),
            )
            for name, rows in curves.items()
        ),
        is_log=True,
        is_log_across=True,
    )


def _drawn(comparison: Comparison, family: str) -> list[Row]:
    rows = [row for row in comparison.family(family) if not row.reason]
    if family != "integrator":
        return rows[:MAX_CURVES]
    # the tightest of every integrator
    best: dict[str, Row] = {}
    for row in rows:
        best[row.label.split(",")[0]] = row
    return list(best.values())[:MAX_CURVES]


def _over_time(comparison: Comparison, family: str) -> Finding:
    rows = _drawn(comparison, family)
    curves = tuple((row.label, comparison.times, np.maximum(row.over_time, SMALLEST)) for row in rows)
    chart = Lines("Difference of motion from the reference", "", "time", "s", curves, is_log=True)
    return Finding(f"{TITLES[family]} over time", "", charts=(chart,))


def comparison_summary(comparison: Comparison) -> dict[str, Any]:
    """As summary.json has it."""
    keys = ("family", "label", "motion", "forces", "reactions", "energy", "drift", "evaluations", "seconds", "reason")
    rows = [{key: getattr(row, key) for key in keys} for row in comparison.rows]
    return {"model": comparison.model.name, "reference": {"rtol": BEST, **comparison.reference.stats}, "runs": rows}


def write_comparison(comparison: Comparison, path: Path) -> None:
    """The page: the reference moving, and what the others do beside it."""
    from pliant.view.page.report import write_report

    title = f"{comparison.model.name}: the same robot by other methods"
    write_report(comparison.reference, path, title=title, findings=comparison_findings(comparison))

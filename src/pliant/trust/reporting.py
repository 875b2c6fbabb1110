"""A certificate as tables, charts and plain numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.report_types import Finding, Lines
from pliant.trust.estimate import NOT_COUNTED, rounded_up
from pliant.trust.shadows import Cause

if TYPE_CHECKING:
    from pliant.trust.certify import Certificate
    from pliant.trust.estimate import CertifiedFigure

SMALLEST = 1e-17  # drawn


def known_causes(certificate: Certificate) -> list[Cause]:
    """Those that some figure has an error of."""
    errors = [figure.errors for figure in certificate.figures.values()]
    return [cause for cause in Cause if any(not math.isnan(each.get(cause, math.nan)) for each in errors)]


def columns(certificate: Certificate) -> tuple[str, ...]:
    """Of the table of figures."""
    return ("figure", "value", "unit", "digits", "error", *(cause.value for cause in known_causes(certificate)), "")


def figure_rows(certificate: Certificate) -> list[tuple[str, ...]]:
    causes = known_causes(certificate)
    return [
        (
            figure.name,
            trusted_text(figure),
            figure.unit,
            digits_text(figure),
            number(figure.error) if figure.is_counted else NOT_COUNTED,
            *(number(figure.errors.get(cause, math.nan)) for cause in causes),
            figure.note,
        )
        for figure in certificate.figures.values()
    ]


def digits_text(figure: CertifiedFigure) -> str:
    """How many digits are right; a dash where nobody knows."""
    if figure.digits is None:
        return "-"
    return str(figure.digits) if math.isfinite(figure.error) else "none"


def trusted_text(figure: CertifiedFigure) -> str:
    """Only the digits that are right."""
    return f"{figure.value:.{figure.digits}g}" if figure.digits and math.isfinite(figure.value) else figure.text


def number(value: float) -> str:
    return "" if math.isnan(value) else rounded_up(value)


def summary(certificate: Certificate) -> dict[str, Any]:
    growth = certificate.growth
    return {
        "figures": {
            name: {
                "value": figure.value,
                "unit": figure.unit,
                "error": figure.error if math.isfinite(figure.error) else None,
                "digits": figure.digits,
                "causes": {
                    cause.value.replace(" ", "_"): None if math.isnan(value) else value
                    for cause, value in figure.errors.items()
                },
                "note": figure.note,
            }
            for name, figure in certificate.figures.items()
        },
        "runs": [
            {
                "label": run.shadow.label,
                "tells": run.shadow.cause.value,
                "cost_estimated": run.shadow.cost,
                "cost": _cost(certificate, run.result),
                "status": run.result.status if run.result is not None else "failed",
                "reason": run.reason,
            }
            for run in certificate.runs
        ],
        "left_out": list(certificate.plan.left_out),
        "budget": certificate.plan.budget,
        "growth_rate": growth.rate if growth is not None else None,
        "horizon": growth.horizon if growth is not None and math.isfinite(growth.horizon) else None,
        "notes": list(certificate.notes),
    }


def _cost(certificate: Certificate, result: Any) -> float | None:
    """In plain runs, by time."""
    plain = certificate.result.stats["wall_s"]
    return result.stats["wall_s"] / plain if result is not None and plain > 0.0 else None


def findings(certificate: Certificate) -> tuple[Finding, ...]:
    """Digits of all figures, and how far the runs are apart over time."""
    text = (
        "Every figure with the digits that are right, from runs in which one thing differs each: "
        f"{', '.join(run.shadow.label for run in certificate.runs)}. An error is the sum of those of its causes. "
        + " ".join(f"{note[:1].upper()}{note[1:]}." for note in certificate.notes)
    )
    charts: tuple[Lines, ...] = ()
    if certificate.distances:
        curves = tuple(
            (label, certificate.times, np.maximum(np.where(np.isfinite(values), values, np.nan), SMALLEST))
            for label, values in certificate.distances.items()
        )
        charts = (Lines("Distance from this run", "", "time", "s", curves, is_log=True),)
    rows = tuple(figure_rows(certificate))
    heads = columns(certificate)
    numbers = (1, 3, *range(4, len(heads) - 1))
    return (Finding("Which digits are right", text, heads, rows, charts, numbers),)

"""What reports are made of, as data: figures, charts and findings, of cases and experiments alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Figure:
    """A reported figure: what it is, its unit, and what it should be at the default settings, with the source."""

    help: str
    unit: str = ""
    expected: float | None = None
    tolerance: float = 0.0
    source: str = ""


@dataclass(frozen=True)
class Panel:
    """One chart of the report, as data: title, axis label, and (label, quantity) of its curves.

    A quantity is a coordinate ("elbow"), a rate ("elbow.rate"), an output component ("tip[0]") or an energy
    ("kinetic")."""

    title: str
    unit: str
    curves: tuple[tuple[str, str], ...]
    window: tuple[float, float] | None = None  # of time [s]; the whole run unless given


@dataclass(frozen=True)
class Lines:
    """A chart of curves that are no columns of a run: (label, x, y)."""

    title: str
    unit: str
    across: str
    across_unit: str
    curves: tuple[tuple[str, Any, Any], ...]
    is_log: bool = False
    dashed: tuple[str, ...] = ()  # labels of curves to compare with
    is_log_across: bool = False


@dataclass(frozen=True)
class Finding:
    """What runs say: a sentence or two, a table, and charts of what is worked out from them."""

    title: str
    text: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    charts: tuple[Lines, ...] = ()
    numbers: tuple[int, ...] = ()  # columns of numbers
    figures: Mapping[str, float] = field(default_factory=dict)  # for summary.json

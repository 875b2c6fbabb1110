"""Figures of a study: those of a case, and those that any run has (results/figures.py)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pliant.errors import ModelError
from pliant.model.messages import listed, quoted
from pliant.model.model import Model
from pliant.report_types import Figure
from pliant.result import Result
from pliant.results.figures import FigureRequest, figure_requests
from pliant.results.named_columns import column_units
from pliant.study.base import RowRun

ENDS = ("at", "final")  # of coordinates and rates: known without the way there


@dataclass(frozen=True)
class StudyFigure:
    """One number per row: of the case, or as a request says."""

    label: str
    unit: str = ""
    request: FigureRequest | None = None  # None: the case's own

    @property
    def is_of_case(self) -> bool:
        return self.request is None


def as_figures(given: Any) -> Mapping[str, Any] | None:
    """Labels and what stands for them: names of figures, or functions of a Result. None: the usual ones."""
    if given is None:
        return None
    if isinstance(given, str) or callable(given):
        given = [given]
    if isinstance(given, Mapping):
        pairs: list[tuple[Any, Any]] = list(given.items())
    elif isinstance(given, (list, tuple)):
        pairs = [(each if isinstance(each, str) else getattr(each, "__name__", "figure"), each) for each in given]
    else:
        pairs = []
    found: dict[str, Any] = {}
    for label, each in pairs:
        if not isinstance(label, str) or not label.strip() or not (isinstance(each, str) or callable(each)):
            raise ModelError(f"figures: {quoted(each)} found; give names as 'max(tip.x)', or functions of a Result")
        if label in found:
            raise ModelError(f"figures: {quoted(label)} is asked for twice; give each its own label")
        found[label] = each
    if not found:
        raise ModelError(f"figures: {quoted(given)} found; give names as 'max(tip.x)', or functions, or leave it out")
    return found


def resolved_figures(given: Mapping[str, Any] | None, run: RowRun) -> tuple[StudyFigure, ...]:
    """What each figure is, seen from one run; or a message."""
    table: Mapping[str, Figure] = run.case.figure_table if run.case is not None else {}
    if given is None:
        given = dict.fromkeys(table) if table else dict.fromkeys(_usual(run.model))
        given = {label: label for label in given}
    found = []
    for label, each in given.items():
        if isinstance(each, str) and each in table:
            if label != each:
                raise ModelError(f"figures: {quoted(label)} stands for {quoted(each)} of the case; call it so")
            found.append(StudyFigure(label, table[each].unit))
            continue
        try:
            (request,) = figure_requests({label: each}, run.model, run.duration)
        except ModelError as error:
            hint = f"; the case has {listed(table, 30)}" if table else ""
            raise ModelError(f"{error}{hint}") from None
        found.append(StudyFigure(label, request.unit, request))
    return tuple(found)


def _usual(model: Model) -> list[str]:
    """Where nobody says what is wanted: outputs at the end, or the coordinates of a model that has none."""
    outputs = [name for name in column_units(model) if any(name.startswith(f"{each.name}.") for each in model.outputs)]
    return outputs or list(model.coordinates)


def is_end_only(figures: tuple[StudyFigure, ...], model: Model) -> bool:
    """Whether the end state says all: then nothing has to be recorded on the way."""
    known = set(end_columns(model))
    return all(
        each.request is not None
        and each.request.function is None
        and each.request.how in ENDS
        and each.request.time is None
        and each.request.column in known
        for each in figures
    )


def end_columns(model: Model) -> dict[str, tuple[str, int]]:
    """Columns of the end state: q or v, and where in it."""
    found = {name: ("q", k) for k, name in enumerate(model.coordinates)}
    found |= {f"{name}.rate": ("v", k) for k, name in enumerate(model.velocities)}
    # a coordinate that is called like a rate: the whole run tells them apart
    return found if len(found) == len(model.coordinates) + len(model.velocities) else {}


def figure_values(figures: tuple[StudyFigure, ...], run: RowRun, result: Result) -> list[float]:
    """Of a finished run; nan where it has no such figure."""
    own: dict[str, float] = {}
    if run.case is not None and any(each.is_of_case for each in figures):
        own = run.case.figures_of(run.settings, result)
    return [
        each.request.value(result) if each.request is not None else own.get(each.label, math.nan) for each in figures
    ]


def functions_of(given: Mapping[str, Any] | None) -> dict[str, Callable[..., Any]]:
    """Those that are Python functions."""
    return {label: each for label, each in (given or {}).items() if callable(each)}

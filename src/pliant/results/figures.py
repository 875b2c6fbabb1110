"""Figures: single numbers of a run, asked for by name or by a function.

"tip.x"            the column at the end of the run
"tip.x@0.5"        at 0.5 s
"max(tip.x)"       over the run: also min, rms, mean, final
"settling(tip.x)"  [s] from the start until it stays within 2 % of its largest distance from its final value
"contacts"         how many there were; also events
function(result)   any number that a Python function makes of a Result"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.engine.arguments import as_name
from pliant.errors import ModelError
from pliant.model.messages import closest, listed, quoted
from pliant.model.model import Model
from pliant.results.named_columns import column_units
from pliant.results.recording import Recording

Array = NDArray[np.float64]
REDUCTIONS = ("max", "min", "rms", "mean", "final", "settling")
COUNTS = ("contacts", "events")
GRID = 2001  # times over the run, beside the accepted steps
SETTLED = 0.02  # of the largest distance from the final value: nearer than this counts as settled
PATTERN = re.compile(r"^\s*(?:(?P<how>\w+)\((?P<inner>[^()@]+)\)|(?P<name>[^()@]+)(?:@(?P<time>[^()@]+))?)\s*$")


@dataclass(frozen=True)
class FigureRequest:
    """One figure: what of a run it is."""

    label: str
    column: str = ""  # "" for counts and functions
    how: str = "at"  # at, one of REDUCTIONS, one of COUNTS, or function
    time: float | None = None  # [s], None: the end
    function: Callable[[Any], float] | None = None
    unit: str = ""

    @property
    def is_at_instant(self) -> bool:
        return self.how == "at"

    def instant(self, result: Recording) -> float:
        """From when on the figure depends on the run [s]: its time, or where the run begins to reduce."""
        if self.how != "at" and self.time is None:
            return float(result.t[0])
        return float(result.t[-1] if self.time is None else self.time)

    def value(self, result: Recording) -> float:
        """Of a run; nan where the run does not reach it."""
        if self.function is not None:
            return _called(self.label, self.function, result)
        if self.how in COUNTS:
            return float(len(result.contacts if self.how == "contacts" else result.events))
        if self.how != "at" or self.time is None:
            return _reduced(result, self.column, "final" if self.how == "at" else self.how)
        if not result.t[0] <= self.time <= result.t[-1]:
            return math.nan
        return float(column_at(result, self.column, np.array([self.time]))[0])


def figure_requests(given: Any, model: Model, duration: float) -> tuple[FigureRequest, ...]:
    """Figures as users write them: a name, a list of names, or a mapping of labels to names or functions."""
    if isinstance(given, str) or callable(given):
        given = [given]
    if not isinstance(given, (Mapping, Iterable)) or (isinstance(given, np.ndarray) and given.ndim == 0):
        raise ModelError(f"figures: {quoted(given)} found; give names as 'tip.x' or 'max(tip.x)', or functions")
    pairs = given.items() if isinstance(given, Mapping) else ((None, each) for each in given)
    units = column_units(model)
    found: dict[str, FigureRequest] = {}
    for label, each in pairs:
        one = _request(None if label is None else as_name(label, "figures"), each, units, duration)
        if one.label in found:
            raise ModelError(f"figures: {quoted(one.label)} is asked for twice; give each its own label")
        found[one.label] = one
    if not found:
        raise ModelError("figures: none asked for; give names as 'tip.x' or 'max(tip.x)', or leave it out")
    return tuple(found.values())


def _request(label: str | None, given: Any, units: Mapping[str, str], duration: float) -> FigureRequest:
    if callable(given):
        return FigureRequest(label or str(getattr(given, "__name__", "figure")), how="function", function=given)
    text = as_name(given, "figures", "give the name of a column, or a function of a Result")
    if text in COUNTS:
        return FigureRequest(label or text, how=text)
    # names of columns may hold any sign
    parts = PATTERN.match(text) if text not in units else None
    name, how, time = text, "at", None
    if parts is not None and parts["how"] is not None:
        name, how = parts["inner"].strip(), parts["how"]
        if how not in REDUCTIONS:
            hint = closest(how, REDUCTIONS) or ";"
            raise ModelError(f"figures: {quoted(text)}: {quoted(how)} is not known{hint} allowed: {listed(REDUCTIONS)}")
    elif parts is not None:
        name = parts["name"].strip()
        time = _time(text, parts["time"], duration)
    if name not in units:
        hint = closest(name, units) or ";"
        raise ModelError(f"figures: no column {quoted(name)}{hint} there are {listed(units, 30)}, contacts and events")
    return FigureRequest(label or text, name, how, time, unit="s" if how == "settling" else units[name])


def _time(text: str, given: str | None, duration: float) -> float | None:
    if given is None:
        return None
    try:
        time = float(given.strip().removesuffix("s"))
    except ValueError:
        time = math.nan
    if not 0.0 <= time <= duration:
        raise ModelError(f"figures: {quoted(text)}: give a time from 0 to {duration:g} s after @, as in tip.x@0.5")
    return time


def column_at(result: Recording, name: str, times: Array) -> Array:
    """A column at any times of a run."""
    return np.asarray(result.resampled(times)[name])


def extreme(result: Recording, value_at: Callable[[Array], Array]) -> tuple[float, float]:
    """Largest value of a function of time over the run, and when: on a grid with the accepted steps, then closer and
    closer."""
    t = np.union1d(result.t, np.linspace(result.t[0], result.t[-1], GRID))
    for _ in range(4):
        values = value_at(t)
        k = int(np.argmax(values))
        found = float(values[k]), float(t[k])
        t = np.linspace(t[max(k - 1, 0)], t[min(k + 1, len(t) - 1)], 201)
    return found


def _reduced(result: Recording, name: str, how: str) -> float:
    if how == "final":
        return float(result[name][-1])
    if result.dense is None or len(result.dense.starts) == 0:
        t, values = result.t, np.asarray(result[name])
        if how == "settling":
            return _settling(t, lambda times: np.interp(times, t, values))
        return float({"max": np.max, "min": np.min}[how](values)) if how in ("max", "min") else _mean(t, values, how)
    if how in ("max", "min"):
        sign = 1.0 if how == "max" else -1.0
        return sign * extreme(result, lambda t: sign * column_at(result, name, t))[0]
    t = np.union1d(result.t, np.linspace(result.t[0], result.t[-1], GRID))
    if how == "settling":
        return _settling(t, lambda times: column_at(result, name, times))
    return _mean(t, column_at(result, name, t), how)


def _settling(t: Array, value_at: Callable[[Array], Array]) -> float:
    """Time from the start to the last entry into the band around the final value: on the grid, then by bisection."""
    values = value_at(t)
    final = values[-1]
    band = SETTLED * float(np.max(np.abs(values - final)))
    outside = np.flatnonzero(np.abs(values - final) > band)
    if not len(outside):
        return 0.0
    low, high = float(t[outside[-1]]), float(t[outside[-1] + 1])
    for _ in range(60):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        is_out = abs(float(value_at(np.array([middle]))[0]) - final) > band
        low, high = (middle, high) if is_out else (low, middle)
    return high - float(t[0])


def _mean(t: Array, values: Array, how: str) -> float:
    """Over time, by the trapezoidal rule."""
    if t[-1] <= t[0]:
        return float(abs(values[-1]) if how == "rms" else values[-1])
    power = 2 if how == "rms" else 1
    mean = float(np.trapezoid(values**power, t) / (t[-1] - t[0]))
    return math.sqrt(mean) if how == "rms" else mean


def _called(label: str, function: Callable[[Any], float], result: Recording) -> float:
    """What a user's function says; a run that it cannot take has no such figure."""
    try:
        value = function(result)
    except Exception as error:  # whatever a user's function raises
        raise ModelError(f"figures: {quoted(label)} raised {type(error).__name__}: {error}") from error
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ModelError(f"figures: {quoted(label)} gave {quoted(value)}; give a number") from None

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
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pliant.engine.arguments import as_name
from pliant.errors import ModelError
from pliant.model.messages import closest, listed, quoted
from pliant.model.model import Model
from pliant.results.named_columns import column_units
from pliant.results.recording import Recording

Array = NDArray[np.float64]
Condition: TypeAlias = Callable[[Array], NDArray[np.bool_]]  # at times
ColumnAt: TypeAlias = Callable[[Any, str, Array], Array]  # a column of a run by its name, at any times
REDUCTIONS = ("max", "min", "rms", "mean", "final", "settling")
COUNTS = ("contacts", "events")
GRID = 2001  # times over the run, beside the accepted steps
FINER = 51  # times between two of the grid, again and again
LOCATED = 1e-9  # of the run: a maximum is flat, so that its value is right to rounding
N_TOPS = 5  # maxima on the grid that are looked at closer
BISECTIONS = 60  # of an interval of the grid: down to rounding
GAUSS_PLACES, GAUSS_WEIGHTS = np.polynomial.legendre.leggauss(3)
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

    def value(self, result: Recording, column: ColumnAt | None = None) -> float:
        """Of a run; nan where the run does not reach it. column: how columns are looked up, default column_at."""
        column = column_at if column is None else column
        if self.function is not None:
            return _called(self.label, self.function, result)
        if self.how in COUNTS:
            return float(len(result.contacts if self.how == "contacts" else result.events))
        if self.how != "at" or self.time is None:
            return _reduced(result, self.column, "final" if self.how == "at" else self.how, column)
        if not result.t[0] <= self.time <= result.t[-1]:
            return math.nan
        return float(column(result, self.column, np.array([self.time]))[0])


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


def extreme(
    result: Recording, value_at: Callable[[Array], Array], span: tuple[float, float] | None = None
) -> tuple[float, float]:
    """Return the largest value of a function of time over the run, or a span of it, and when.

    On a grid with the accepted steps, then closer and closer about the largest values there: a parabola through each
    and its neighbours says how large the function may be between them."""
    t = grid(result, span)
    values = value_at(t)
    found = float(np.max(values)), float(t[int(np.argmax(values))])
    for k, (vertex, low, high) in enumerate(_promising(t, values)):
        if k > 0 and vertex <= found[0]:
            continue
        while high - low > LOCATED * (t[-1] - t[0]):
            inner = np.linspace(low, high, FINER)
            values = value_at(inner)
            at = int(np.argmax(values))
            if values[at] > found[0]:
                found = float(values[at]), float(inner[at])
            low, high = float(inner[max(at - 1, 0)]), float(inner[min(at + 1, FINER - 1)])
    return found


def grid(result: Recording, span: tuple[float, float] | None = None) -> Array:
    """Times at which a run is looked at, or a span of it: evenly spaced ones, and those of accepted steps."""
    first, last = span if span is not None else (float(result.t[0]), float(result.t[-1]))
    steps = result.t[(result.t >= first) & (result.t <= last)]
    return np.union1d(steps, np.linspace(first, last, GRID))


def _promising(t: Array, values: Array) -> list[tuple[float, float, float]]:
    """How large a function may be, and between which times: the highest parabolas through neighbouring values."""
    if len(t) < 3:
        return [(math.inf, float(t[0]), float(t[-1]))]
    before, after = np.diff(t)[:-1], np.diff(t)[1:]
    rise, fall = np.diff(values)[:-1] / before, np.diff(values)[1:] / after
    bend = (fall - rise) / (before + after)
    slope = rise + bend * before  # at the middle one
    is_top = (values[1:-1] >= values[:-2]) & (values[1:-1] >= values[2:])
    vertex = values[1:-1] + np.where(bend < 0.0, slope**2 / np.where(bend < 0.0, -4.0 * bend, 1.0), 0.0)
    tops = np.flatnonzero(is_top)
    tops = tops[np.argsort(-vertex[tops], kind="stable")[:N_TOPS]]
    found = [(float(vertex[k]), float(t[k]), float(t[k + 2])) for k in tops]
    # at an end it may rise up to it
    ends = ((values[0], t[0], t[1]), (values[-1], t[-2], t[-1]))
    return [*found, *((math.inf, float(low), float(high)) for value, low, high in ends if value >= np.max(values))]


def switches(t: Array, holds_at: Condition) -> Array:
    """When a condition begins or ceases to hold, located between the times of a grid by bisection; the condition is as
    after the switch there."""
    holds = np.asarray(holds_at(t), dtype=bool)
    k = np.flatnonzero(holds[1:] != holds[:-1])
    low, high = t[k].astype(float), t[k + 1].astype(float)
    for _ in range(BISECTIONS if len(k) else 0):
        middle = 0.5 * (low + high)
        is_before = np.asarray(holds_at(middle), dtype=bool) == holds[k]
        low, high = np.where(is_before, middle, low), np.where(is_before, high, middle)
    return np.asarray(high)


def last_entry(t: Array, is_inside: Condition) -> float:
    """From when on a condition holds to the end of a grid, located; the first time if it always does, the last one if
    it does not at the end."""
    if not is_inside(t[-1:])[0]:
        return float(t[-1])
    found = switches(t, is_inside)
    return float(found[-1]) if len(found) else float(t[0])


def _reduced(result: Recording, name: str, how: str, column: ColumnAt) -> float:
    if how == "final":
        return float(result[name][-1])
    if result.dense is None or len(result.dense.starts) == 0:
        t, values = result.t, np.asarray(result[name])
        if how == "settling":
            return _settling(t, lambda times: np.interp(times, t, values))
        return float({"max": np.max, "min": np.min}[how](values)) if how in ("max", "min") else _mean(t, values, how)
    if how in ("max", "min"):
        sign = 1.0 if how == "max" else -1.0
        return sign * extreme(result, lambda t: sign * column(result, name, t))[0]
    if how == "settling":
        return _settling(grid(result), lambda times: column(result, name, times))
    return _dense_mean(result, name, how, column)


def _settling(t: Array, value_at: Callable[[Array], Array]) -> float:
    """Time from the start to the last entry into the band around the final value."""
    values = value_at(t)
    final = values[-1]
    band = SETTLED * float(np.max(np.abs(values - final)))
    return last_entry(t, lambda times: np.abs(value_at(times) - final) <= band) - float(t[0])


def _dense_mean(result: Recording, name: str, how: str, column: ColumnAt) -> float:
    """Over time, by Gauss's rule between the times of the grid: nothing jumps but where a step ends."""
    t = grid(result)
    h = np.diff(t)
    if not np.any(h > 0.0):
        return _mean(t, column(result, name, t), how)
    places = 0.5 * (t[:-1] + t[1:])[:, None] + 0.5 * h[:, None] * GAUSS_PLACES
    values = column(result, name, places.ravel()).reshape(places.shape)
    power = 2 if how == "rms" else 1
    mean = float(np.sum(0.5 * h[:, None] * GAUSS_WEIGHTS * values**power) / (t[-1] - t[0]))
    return math.sqrt(mean) if how == "rms" else mean


def _mean(t: Array, values: Array, how: str) -> float:
    """Of rows alone, by the trapezoidal rule."""
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

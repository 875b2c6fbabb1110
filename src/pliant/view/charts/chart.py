"""Line charts as SVG: several curves over time, linear or logarithmic, small enough for a page with many of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pliant.files import write_whole
from pliant.view.svg import MINUS, Array, document, line_path, path, pixel, power_of_ten, stylesheet, text

WIDTH, HEIGHT = 460.0, 270.0
RIGHT, BOTTOM, ROW = 14.0, 34.0, 18.0
N_COLOURS = 7
CHARACTER = 6.9  # [px] mean width of a character of the labels
MAX_POINTS = 1500  # per curve
ROUNDING = 1e-8  # of the range of an axis on which other values are seen
EVEN = 120  # points chosen evenly in time, at which one can read values
UNSEEN = 2e-4  # of a curve's range: nearer to the lines is not seen


@dataclass(frozen=True)
class Curve:
    """One curve of a chart."""

    label: str
    t: Array
    values: Array
    is_dashed: bool = False
    beside: int = -1  # the curve whose colour it has, as a reference has that of what follows it; -1: its own


@dataclass(frozen=True)
class Drawing:
    """A chart as data: what it shows, over time or whatever goes across."""

    title: str
    unit: str
    curves: tuple[Curve, ...]
    is_log: bool = False
    across: str = "time"
    across_unit: str = "s"
    is_wide: bool = False  # worth a whole row
    is_log_across: bool = False
    levels: tuple[tuple[str, float], ...] = ()  # lines across: (what, value)
    floor: float = 0.0  # range of the axis where values change by less than ROUNDING of it, which is not magnified
    ends: tuple[float, float] | None = None  # of the values, where several charts share them
    bodies: tuple[int, ...] = ()  # which link each curve is about, -1: none; or nothing is known


@dataclass(frozen=True)
class Scale:
    """From data to pixels along one axis."""

    low: float
    high: float
    start: float  # [px] of low
    end: float  # [px] of high
    is_log: bool = False

    def pixels(self, values: Array) -> Array:
        """Pixels; what a logarithm cannot show becomes NaN."""
        if self.is_log:
            with np.errstate(divide="ignore", invalid="ignore"):
                values = np.log10(np.where(values > 0, values, np.nan))
        return self.start + (values - self.low) * ((self.end - self.start) / (self.high - self.low))


@dataclass(frozen=True)
class Ticks:
    """Where an axis is marked, what stands there, and the power of ten drawn out of the labels."""

    places: Array  # in the units of Scale.low
    labels: tuple[str, ...]
    power: int = 0


# --- ranges and ticks -------------------------------------------------------------------------------------------


def nice_step(span: float, most: float) -> float:
    """1, 2 or 5 times a power of ten, giving at most `most` intervals."""
    raw = span / most
    power = 10.0 ** math.floor(math.log10(raw))
    return float(next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * (1 - 1e-9)))


def linear_ticks(low: float, high: float, most: float = 6.5) -> Ticks:
    step = nice_step(high - low, most)
    places = step * np.arange(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1, dtype=np.float64)
    largest = max(abs(low), abs(high))
    power = 0 if 1e-2 <= largest < 1e5 else 3 * math.floor(math.log10(largest) / 3)
    decimals = max(0, power - math.floor(math.log10(step) + 1e-9))
    labels = tuple(f"{place / 10.0**power + 0.0:.{decimals}f}".replace("-", MINUS) for place in places)
    return Ticks(places, labels, power)


def log_ticks(low: float, high: float, count: int) -> Ticks:
    """Whole decades, thinned; low and high are logarithms."""
    first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
    step = max(1, math.ceil((last - first) / count))
    exponents = range(first, last + 1, step)
    return Ticks(np.array(exponents, dtype=float), tuple(power_of_ten(exponent) for exponent in exponents))


def value_range(curves: Sequence[Curve], is_log: bool, floor: float = 0.0) -> tuple[float, float]:
    """Ends of the value axis with some air; logarithms if is_log. Changes within rounding count as none: then the
    range is floor."""
    values = np.concatenate([np.zeros(0), *(curve.values for curve in curves)])
    values = values[np.isfinite(values) & ((values > 0) | (not is_log))]
    if is_log:
        if len(values) == 0:
            return -17.0, -15.0
        return math.floor(np.log10(values.min())), math.ceil(np.log10(values.max()) + 1e-9)
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
    largest = max(abs(low), abs(high))
    if high - low <= 1e-7 * largest or largest < 1e-290:
        air = 0.1 * largest if largest > 1e-290 else 1.0
    else:
        air = 0.06 * (high - low)
    if high - low < ROUNDING * floor:
        air = max(air, 0.5 * floor)
    return low - air, high + air


def time_range(curves: Sequence[Curve]) -> tuple[float, float]:
    ends = [(float(np.min(curve.t)), float(np.max(curve.t))) for curve in curves if len(curve.t)]
    first, last = min((a for a, _ in ends), default=0.0), max((b for _, b in ends), default=1.0)
    return (first, last) if last > first else (first, first + 1.0)


def decimate(t: Array, values: Array, most: int = MAX_POINTS, unseen: float = UNSEEN) -> tuple[Array, Array]:
    """At most `most` points of a curve, or of several over the same t (one a row), such that straight lines between
    them are nearest to all: an even choice, then again and again the points that are farthest from the lines, until
    none is farther than `unseen` of its curve's range."""
    if len(t) <= min(most, EVEN):
        return t, values
    rows = np.atleast_2d(values)
    finite = np.isfinite(rows)
    sizes = np.array([np.ptp(row[is_row]) if is_row.any() else 0.0 for row, is_row in zip(rows, finite, strict=True)])
    rows = np.where(finite, rows, 0.0) / np.where(sizes > 0, sizes, 1.0)[:, None]
    # where values are missing a curve has ends
    ends = np.flatnonzero(np.any(finite[:, 1:] != finite[:, :-1], axis=0))
    is_rising = bool(np.all(np.diff(t) >= 0))
    even = np.searchsorted(t, np.linspace(t[0], t[-1], min(EVEN, most // 3))) if is_rising else np.zeros(0, dtype=int)
    extremes = [*rows.argmin(axis=1), *rows.argmax(axis=1)]
    chosen = np.unique(np.concatenate([[0, len(t) - 1], even, extremes, ends, ends + 1]).astype(int))[: most - 1]
    chosen = np.union1d(chosen, len(t) - 1)
    along = t if is_rising else np.arange(len(t), dtype=np.float64)
    while len(chosen) < most:
        off = np.max([np.abs(row - np.interp(along, along[chosen], row[chosen])) for row in rows], axis=0)
        off[chosen] = 0.0
        # of every piece the point that is farthest off
        starts = chosen[:-1]
        worst = np.maximum.reduceat(off, starts)
        piece = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(t))))
        candidates = np.flatnonzero((off == worst[piece]) & (off > unseen))
        candidates = candidates[np.unique(piece[candidates], return_index=True)[1]]
        if len(candidates) == 0:
            break
        strongest = candidates[np.argsort(-off[candidates], kind="stable")[: most - len(chosen)]]
        chosen = np.union1d(chosen, strongest)
    return t[chosen], values[..., chosen]


def thinned(curves: Sequence[Curve], most: int, unseen: float = UNSEEN) -> tuple[Curve, ...]:
    """Curves of at most `most` points; those over the same times keep the same, so that one reads them at one place."""
    groups: dict[bytes, list[int]] = {}
    for k, curve in enumerate(curves):
        groups.setdefault(np.asarray(curve.t, dtype=np.float64).tobytes(), []).append(k)
    found = list(curves)
    for own in groups.values():
        values = np.stack([np.asarray(curves[k].values, dtype=np.float64) for k in own])
        t, rows = decimate(np.asarray(curves[own[0]].t, dtype=np.float64), values, most, unseen)
        for k, row in zip(own, rows, strict=True):
            found[k] = replace(curves[k], t=t, values=row)
    return tuple(found)


# --- drawing ----------------------------------------------------------------------------------------------------


def line_chart(
    curves: Sequence[Curve],
    *,
    unit: str = "",
    label: str = "",
    is_log: bool = False,
    across: str = "time",
    across_unit: str = "s",
    style: str = "",
    height: float = HEIGHT,
) -> str:
    """One chart over time or whatever goes across. label: what a screen reader says; style: of a file of its own."""
    low, high = value_range(curves, is_log)
    ticks = log_ticks(low, high, 6) if is_log else linear_ticks(low, high)
    left = 14 + CHARACTER * max((len(words) for words in ticks.labels), default=1)
    heading = _unit_words(unit, ticks.power)
    legend, n_rows = _legend(curves, left, CHARACTER * len(heading) + 14 if heading else 0.0)
    top = ROW * n_rows + 10
    down = Scale(low, high, height - BOTTOM, top, is_log)
    along = Scale(*time_range(curves), left, WIDTH - RIGHT)
    axis = _lower_axis(along, across, across_unit, height)
    content = [_value_axis(ticks, down, left), axis, legend, text(left, 13, heading)]
    content += [_curve(curve, k, along, down) for k, curve in enumerate(curves)]
    return document(WIDTH, height, "".join(content), label, style=style)


def write_chart(curves: Sequence[Curve], target: Path, **words: Any) -> None:
    """One chart as an SVG file of its own; words as in line_chart."""
    style = stylesheet("colours.css") + "svg { background: var(--card); }"
    write_whole(target, line_chart(curves, style=style, **words))


def _unit_words(unit: str, power: int) -> str:
    return f"{power_of_ten(power)} {unit}".strip() if power else unit


def _axis_words(name: str, unit: str) -> str:
    return f"{name} [{unit}]" if unit else name


def _value_axis(ticks: Ticks, down: Scale, left: float) -> str:
    rows = Scale(down.low, down.high, down.start, down.end).pixels(ticks.places).tolist()
    grid = "".join(f"M{pixel(left)} {pixel(y)}H{pixel(WIDTH - RIGHT)}" for y in rows)
    words = [text(left - 6, y + 4, label, anchor="end") for y, label in zip(rows, ticks.labels, strict=True)]
    return path(grid, 'class="grid"') + "".join(words)


def _lower_axis(across: Scale, name: str, unit: str, height: float) -> str:
    ticks, bottom = linear_ticks(across.low, across.high), height - BOTTOM
    columns = across.pixels(ticks.places).tolist()
    marks = "".join(f"M{pixel(x)} {pixel(bottom)}v4" for x in columns)
    words = [text(x, bottom + 17, label, anchor="middle") for x, label in zip(columns, ticks.labels, strict=True)]
    words.append(text(across.end, height - 3, _axis_words(name, _unit_words(unit, ticks.power)), anchor="end"))
    line = f"M{pixel(across.start)} {pixel(bottom)}H{pixel(across.end)}"
    return path(line + marks, 'class="axis"') + "".join(words)


def _look(k: int, is_dashed: bool) -> str:
    """Colour, and dashes where asked for and once the colours are used up."""
    dashes = ("", ' stroke-dasharray="6 5"', ' stroke-dasharray="2 4"')[(k // N_COLOURS + is_dashed) % 3]
    return f'class="curve c{k % N_COLOURS}"{dashes}'


def _legend(curves: Sequence[Curve], left: float, indent: float) -> tuple[str, int]:
    """Names of the curves in rows beside the unit, and how many rows they take."""
    parts, x, row = [], left + indent, 0
    for k, curve in enumerate(curves):
        width = 24 + CHARACTER * len(curve.label) + 12
        if x + width > WIDTH and x > left:
            x, row = left, row + 1
        y = 13 + ROW * row
        parts.append(
            path(f"M{pixel(x)} {pixel(y - 4)}h18", _look(_colour(k, curve), curve.is_dashed))
            + text(x + 24, y, curve.label, css="ink")
        )
        x += width
    return "".join(parts), row + 1


def _colour(k: int, curve: Curve) -> int:
    """Of curve k."""
    return curve.beside if curve.beside >= 0 else k


def _curve(curve: Curve, k: int, across: Scale, down: Scale) -> str:
    t, values = decimate(curve.t, curve.values)
    return path(line_path(across.pixels(t), down.pixels(values)), _look(_colour(k, curve), curve.is_dashed))

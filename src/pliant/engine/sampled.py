"""A function of time given in Python as a signal: sampled where it needs it, with an error that is measured.

Between kinks the function becomes a spline of degree 5. It is compared with the spline that goes through the middle of
every interval as well: what they differ by is taken for its error, of value, rate and second derivative. Where that is
too large, the interval is halved. The finer spline is the one that is used, and it is compared with the function at
places where neither has a value."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.engine.arguments import as_flag, as_number, as_numbers, as_time_list
from pliant.engine.callbacks import CallbackError, guarded
from pliant.errors import ModelError
from pliant.model.messages import quoted
from pliant.model.quantities import LARGEST
from pliant.model.signals import Table
from pliant.system.splines import spline_pieces, values_at

Array = NDArray[np.float64]
FIRST_INTERVALS = 32  # of every smooth piece
MAX_SAMPLES = 100_000
MIN_INTERVAL = 1e-6  # of a smooth piece: what is not smooth then is not smooth
COMPARED = np.array([0.0, 0.25, 0.5, 0.75, 1.0])  # of an interval: where two splines are compared
CHECKED = np.array([0.2764, 0.7236])  # of an interval: where the function is checked; no simple fractions: aliasing
SAFETY = 2.0  # times the differences that are found
NOISE = 8.0  # times rounding over the square of the interval: of second derivatives at the end of a spline
NEIGHBOURS = 2  # of an interval that is halved: are halved, too
BESIDE = 4.0 * np.finfo(float).eps  # of t: how far from a kink its two sides are looked at
SAME_VALUE = 1e-10  # of the largest value: sides of a kink that is no jump


def sampled(
    function: Callable[[float], float],
    start: float,
    end: float,
    *,
    tolerance: float = 1e-7,
    kinks: float | Sequence[float] = (),
    repeats: bool = False,
) -> Table:
    """A function of time as a smooth table from start to end [s], constant before and after.

    Value, rate and second derivative are as near to the function's as tolerance says, over the largest of each (the
    value is nearer by far); what was reached is in `errors` of the table. kinks: times at which the function jumps or
    has a corner, in itself or in its derivatives; one that is not named is found and refused. repeats: the function
    goes on like this in every period, but for what it gains in each."""
    if not callable(function):
        raise ModelError(f"function: {quoted(function)} found; give a function of time, f(t) -> number")
    first, last = as_number(start, "start", unit="[s]"), as_number(end, "end", unit="[s]")
    if last <= first:
        raise ModelError(f"end {last:g} s is not after start {first:g} s; give an end later than the start")
    allowed = as_number(tolerance, "tolerance", 1e-14, 0.1)
    corners = sorted(set(as_time_list(kinks).tolist()))
    for kink in corners:
        if not first < kink < last:
            raise ModelError(f"kinks: {kink:g} s is not between start {first:g} s and end {last:g} s; leave it out")
    is_periodic = as_flag(repeats, "repeats")
    if corners and is_periodic:
        raise ModelError("kinks: a function that repeats may have none, because steps pass where it begins anew")
    pieces = _first_pieces(function, [first, *corners, last], is_periodic)
    errors = _refine(pieces, allowed)
    times, values = list(pieces[0].times), list(pieces[0].values)
    for piece in pieces[1:]:
        is_jump = piece.values[0] != values[-1]
        times += list(piece.times[0 if is_jump else 1 :])
        values += list(piece.values[0 if is_jump else 1 :])
    return Table(
        times=times,
        values=values,
        ends="periodic" if is_periodic else "not-a-knot",
        smooth=True,
        repeats=is_periodic,
        degree=5,
        kinks=corners,
        advance=values[-1] - values[0] if is_periodic else 0.0,
        errors=errors,
    )


@dataclass
class _Piece:
    """A smooth piece: the function at its times, every second of which is the middle of an interval."""

    function: Callable[[float], float]
    times: Array
    values: Array
    is_periodic: bool
    errors: Array = field(default_factory=lambda: np.zeros((3, 0)))  # (3, intervals)
    sizes: Array = field(default_factory=lambda: np.zeros(3))  # largest value, rate and second derivative

    def measure(self) -> None:
        """Errors of every interval, and sizes."""
        coarse, fine = self._spline(2), self._spline(1)
        t = _inside(self.times[::2], COMPARED)
        found = values_at(self.times, fine, t)
        differences = np.abs(values_at(self.times[::2], coarse, t) - found)
        self.errors = differences.reshape(3, -1, len(COMPARED)).max(axis=2)
        self.sizes = np.abs(found).max(axis=1)
        checked = _inside(self.times, CHECKED)
        exact = np.array([_value(self.function, float(x)) for x in checked])
        missed = np.abs(exact - values_at(self.times, fine, checked)[0])
        # of the value the finer spline's own error is known
        self.errors[0] = missed.reshape(-1, 2 * len(CHECKED)).max(axis=1)
        self.sizes[0] = max(self.sizes[0], float(np.abs(exact).max()))

    def halve(self, chosen: NDArray[np.bool_]) -> None:
        """New middles of both halves of the chosen intervals."""
        middles = 0.5 * (self.times[:-1] + self.times[1:])[np.repeat(chosen, 2)]
        values = [_value(self.function, float(t)) for t in middles]
        order = np.argsort(np.concatenate([self.times, middles]))
        self.times = np.concatenate([self.times, middles])[order]
        self.values = np.concatenate([self.values, values])[order]

    def _spline(self, stride: int) -> Array:
        times, values = self.times[::stride], self.values[::stride]
        if not self.is_periodic:
            return spline_pieces(times, values, 5)
        return spline_pieces(times, values, 5, ("periodic", "periodic"), float(values[-1] - values[0]))


def _inside(times: Array, shares: Array) -> Array:
    return np.asarray(times[:-1, None] + shares * np.diff(times)[:, None]).ravel()


def _first_pieces(function: Callable[[float], float], edges: list[float], is_periodic: bool) -> list[_Piece]:
    pieces = []
    for a, b in itertools.pairwise(edges):
        times = np.linspace(a, b, 2 * FIRST_INTERVALS + 1)
        if not np.all(np.diff(times) > 0.0):
            raise ModelError(f"{a:.17g} s and {b:.17g} s are too near to each other to sample a function between them")
        times[-1] = b
        values = np.array([_value(function, float(t)) for t in times])
        pieces.append(_Piece(function, times, values, is_periodic))
    size = max(float(np.abs(piece.values).max()) for piece in pieces)
    for before, after in itertools.pairwise(pieces):
        kink = float(after.times[0])
        shift = BESIDE * max(abs(kink), float(after.times[1]) - kink)
        left, right = _value(function, kink - shift), _value(function, kink + shift)
        if abs(right - left) > SAME_VALUE * size:
            before.values[-1], after.values[0] = left, right
    return pieces


def _refine(pieces: list[_Piece], allowed: float) -> tuple[float, float, float]:
    """Halve intervals until the errors of all are below what is allowed; the largest of each."""
    span = float(pieces[-1].times[-1] - pieces[0].times[0])
    changed = pieces
    while True:
        for piece in changed:
            piece.measure()
        size, rate, second = np.max([piece.sizes for piece in pieces], axis=0).tolist()
        # what hardly changes has rates that are rounding
        sizes = np.array([size, max(rate, size / span), max(second, size / span**2)])
        chosen = [_spread(np.any(SAFETY * piece.errors > allowed * sizes[:, None], axis=0)) for piece in pieces]
        changed = [piece for piece, which in zip(pieces, chosen, strict=True) if which.any()]
        if not changed:
            errors = [(SAFETY * piece.errors + _rounding(piece, sizes)).max(axis=1) for piece in pieces]
            value, rate, second = np.max(errors, axis=0).tolist()
            return value, rate, second
        for piece, which in zip(pieces, chosen, strict=True):
            if which.any():
                _check_smooth(piece, which, sizes, allowed)
                piece.halve(which)
        count = sum(len(piece.times) for piece in pieces)
        if count > MAX_SAMPLES:
            raise ModelError(
                f"function: {count} samples do not describe it to {allowed:g} (at most {MAX_SAMPLES} are made); give a "
                "larger tolerance or a shorter time; of a function that repeats one period and repeats=True"
            )


def _spread(chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """With neighbours: a spline wants intervals that change their lengths slowly."""
    return np.convolve(chosen, np.ones(2 * NEIGHBOURS + 1), "same") > 0.5


def _check_smooth(piece: _Piece, chosen: NDArray[np.bool_], sizes: Array, allowed: float) -> None:
    """A message where intervals have become so short that the function cannot be smooth there."""
    lengths = np.diff(piece.times[::2])
    # intervals that are chosen for themselves, not for their neighbours
    large = SAFETY * piece.errors > allowed * sizes[:, None]
    needed = np.any(large, axis=0)
    is_rounding = np.all(~large | (piece.errors < NOISE * _rounding(piece, sizes)), axis=0)
    if np.all(is_rounding[needed]):
        raise ModelError(
            f"function: rounding of its values hides whether its derivatives are known to {allowed:g} of their "
            "largest; give a larger tolerance"
        )
    if lengths[chosen].min() > MIN_INTERVAL * (piece.times[-1] - piece.times[0]):
        return
    worst, k = np.unravel_index(np.argmax(piece.errors / sizes[:, None]), piece.errors.shape)
    what = ("value", "rate", "second derivative")[int(worst)]
    raise ModelError(
        f"function: near t = {piece.times[2 * k + 1]:.6g} s its {what} is not smooth to {allowed:g} of its largest; if "
        "it jumps or has a corner there, name that time in kinks; else give a larger tolerance"
    )


def _rounding(piece: _Piece, sizes: Array) -> Array:
    """What rounding of t and of values makes of the value, its rate and second derivative, per interval."""
    of_value = np.finfo(float).eps * (sizes[0] + sizes[1] * np.abs(piece.times[2::2]))
    h = 0.5 * np.diff(piece.times[::2])
    return np.array([of_value, of_value / h, of_value / h**2])


def _value(function: Callable[[float], float], t: float) -> float:
    """The function at a time, or a message."""
    try:
        found: Any = guarded(lambda: function(t), function, f"function at t = {t:g} s")
    except CallbackError as error:
        raise ModelError(str(error)) from error
    try:
        number = as_numbers(found, "function")
    except ModelError:
        raise ModelError(f"function: at t = {t:g} s it returned {quoted(found)}; return one number") from None
    if number.shape != ():
        raise ModelError(f"function: at t = {t:g} s it returned shape {number.shape}; return one number")
    if not abs(float(number)) <= LARGEST:
        wanted = "return a finite number" if not math.isfinite(number) else f"return numbers up to {LARGEST:g}"
        raise ModelError(f"function: at t = {t:g} s it returned {float(number):g}; {wanted}")
    return float(number)

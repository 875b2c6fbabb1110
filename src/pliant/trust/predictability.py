"""How fast neighbouring motions separate, and from when on figures cannot be predicted."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.model.scales import tolerances
from pliant.result import Result

Array = NDArray[np.float64]
LOST = 0.05  # of the range of a coordinate: two runs that far apart tell nothing of each other
MIN_GROWTH = 1e3  # of a separation over the run, below which it is not worth a word
SATURATED = 0.1  # of the range: separations grow no further
BEGUN = 10.0  # times the start of a separation: from there on its law shows
MIN_POINTS = 8  # of a fit
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Growth:
    """Of the distance between neighbouring motions."""

    factor: float  # by the end of the run, or until the distance is as large as the motion itself
    rate: float  # [1/s] of exponential growth; 0 if it is slower than that
    horizon: float  # [s] from here on this run predicts nothing; inf: beyond its end
    horizon_of_doubles: float  # [s] the same with the tightest tolerances; inf: no exponential growth

    @property
    def is_exponential(self) -> bool:
        return self.rate > 0.0

    @property
    def words(self) -> str:
        if not self.is_exponential:
            return ""
        text = (
            f"neighbouring motions separate by a factor of 10 every {math.log(10.0) / self.rate:.3g} s "
            f"(a factor of {self.factor:.1e} in all)"
        )
        if math.isfinite(self.horizon):
            text += f"; from {self.horizon:.4g} s on the motion of this run is not predictable"
        return (
            text
            + f"; with double precision and the tightest tolerances not from about {self.horizon_of_doubles:.3g} s on"
        )


def ranges(plain: Result, q: Array) -> Array:
    """Of every coordinate over a run, but not less than a thousandth of what such coordinates usually are."""
    scales = tolerances(plain.model, 0, 1.0)[: q.shape[1]]
    return np.asarray(np.maximum(np.ptp(q, axis=0), 1e-3 * scales))


def distance(q: Array, other: Array, size: Array) -> Array:
    """(times) largest difference of a coordinate over its range; inf where a run had ended."""
    gap = np.max(np.abs(other - q) / size, axis=1, initial=0.0)
    return np.where(np.isnan(gap), np.inf, gap)


def growth_of(t: Array, separation: Array, moved: float, errors: Array) -> Growth:
    """separation: of the neighbour (times), relative; moved: its start. errors: of this run (times), relative."""
    lost = np.flatnonzero(errors >= LOST)
    factor = float(np.max(np.minimum(separation, 1.0))) / moved
    rate = _rate(t, separation, moved) if factor >= MIN_GROWTH else 0.0
    if rate <= 0.0:
        return Growth(factor, 0.0, math.inf, math.inf)
    end = float(t[-1])
    last = float(np.max(np.minimum(separation, 1.0)))
    # as far as the separation has come from its start, so far rounding will come from its own
    reached = float(t[np.argmax(separation >= SATURATED)]) if np.any(separation >= SATURATED) else end
    doubles = reached + math.log(LOST / (min(last, SATURATED) / moved * EPS)) / rate
    return Growth(factor, rate, float(t[lost[0]]) if len(lost) else math.inf, max(doubles, reached))


def _rate(t: Array, separation: Array, moved: float) -> float:
    """[1/s] of the exponential part; 0 where the growth is that of a power of time."""
    envelope = np.maximum.accumulate(separation)
    is_growing = (envelope > BEGUN * moved) & (envelope < SATURATED) & (t > 0.0)
    if np.count_nonzero(is_growing) < MIN_POINTS:
        return 0.0
    x, y = t[is_growing], np.log(envelope[is_growing])
    straight, slope = _misfit(x, y)
    power, _ = _misfit(np.log(x), y)
    return slope if straight < power and slope > 0.0 else 0.0


def _misfit(x: Array, y: Array) -> tuple[float, float]:
    """Of a straight line, and its slope."""
    slope, offset = np.polyfit(x, y, 1)
    return float(np.sqrt(np.mean((y - slope * x - offset) ** 2))), float(slope)

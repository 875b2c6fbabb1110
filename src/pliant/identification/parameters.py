"""Parameters that fit and optimise vary: where each may lie, where it begins, and the scale that SciPy sees."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.engine.arguments import as_flag, as_name, as_number
from pliant.errors import ModelError
from pliant.model.messages import quoted

Array = NDArray[np.float64]
FORMS = "give (low, high), a start, or a pliant.Parameter"


@dataclass(frozen=True)
class Parameter:
    """One number to be found: the bounds it may not leave, and where to begin."""

    low: float = -math.inf
    high: float = math.inf
    start: float | None = None  # None: the middle of the bounds
    log: bool = False  # vary its logarithm: for what is positive and known to a power of ten only
    unit: str = ""  # for tables

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            value = getattr(self, name)
            if not isinstance(value, float) or math.isnan(value):
                object.__setattr__(self, name, as_number(value, f"Parameter: {name}"))
        object.__setattr__(self, "log", as_flag(self.log, "Parameter: log"))
        as_name(self.unit, "Parameter: unit", "give a text")
        if not self.low < self.high:
            raise ModelError(f"Parameter: low {self.low:g} is not below high {self.high:g}; give (low, high)")
        if self.log and not self.low >= 0.0:
            raise ModelError(f"Parameter: low {self.low:g} has no logarithm; give one above 0, or log=False")
        if self.start is not None:
            object.__setattr__(self, "start", as_number(self.start, "Parameter: start"))
        elif not (math.isfinite(self.low) and math.isfinite(self.high)):
            raise ModelError("Parameter: neither a start nor two bounds; give one of them")
        elif self.log and self.low == 0.0:
            raise ModelError("Parameter: from 0 on a logarithm has no middle; give a start, or low above 0")
        if not (self.low < self.first < self.high if self.log else self.low <= self.first <= self.high):
            raise ModelError(f"Parameter: start {self.first:g} is not within {self.low:g} ... {self.high:g}")

    @property
    def first(self) -> float:
        """Where it begins."""
        if self.start is not None:
            return self.start
        return math.sqrt(self.low * self.high) if self.log else 0.5 * (self.low + self.high)

    @property
    def is_bounded(self) -> bool:
        """On both sides."""
        return math.isfinite(self.high) and (self.low > 0.0 if self.log else math.isfinite(self.low))

    @property
    def span(self) -> float:
        """A change that is not small, of the number or of its logarithm: what SciPy sees as 1."""
        low, high = self._plain(self.low), self._plain(self.high)
        if self.is_bounded:
            return high - low
        return 1.0 if self.log else abs(self.first) or 1.0

    def _plain(self, value: float) -> float:
        """The number, or its logarithm."""
        return (math.log(value) if value > 0.0 else -math.inf) if self.log else value


def scaled(one: Parameter, value: float) -> float:
    """What SciPy sees: 0 at the start, 1 a span away."""
    return (one._plain(value) - one._plain(one.first)) / one.span


def value_at(one: Parameter, u: float) -> float:
    """The number itself, within its bounds whatever rounding does."""
    plain = one._plain(one.first) + one.span * u
    return min(max(math.exp(plain) if one.log else plain, one.low), one.high)


def slope_at(one: Parameter, u: float) -> float:
    """d value / d u."""
    return one.span * (value_at(one, u) if one.log else 1.0)


class Parameters:
    """All of them, in order; u are their scaled values."""

    def __init__(self, given: Any) -> None:
        if not isinstance(given, Mapping) or not given:
            raise ModelError(f"parameters: {quoted(given)} found; give a mapping of names, each {FORMS[5:]}")
        self.each = {as_name(name, "parameters"): _parameter(name, one) for name, one in given.items()}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.each)

    def __len__(self) -> int:
        return len(self.each)

    @property
    def bounds(self) -> tuple[Array, Array]:
        """Of u."""
        each = self.each.values()
        low = [scaled(one, one.low) if math.isfinite(one.low) else -math.inf for one in each]
        high = [scaled(one, one.high) if math.isfinite(one.high) else math.inf for one in each]
        return np.array(low), np.array(high)

    def values(self, u: Array) -> dict[str, float]:
        """By name."""
        return {name: value_at(one, float(x)) for (name, one), x in zip(self.each.items(), u, strict=True)}

    def slopes(self, u: Array) -> Array:
        """d value / d u."""
        return np.array([slope_at(one, float(x)) for one, x in zip(self.each.values(), u, strict=True)])

    def check_bounded(self, why: str) -> None:
        for name, one in self.each.items():
            if not one.is_bounded:
                raise ModelError(
                    f"parameters: {name!r} has no bounds on both sides, which {why} needs; give (low, high)"
                )

    def spread(self, count: int, seed: int) -> Array:
        """Starts (count, n): the first where the parameters begin, the others a Latin hypercube within the bounds."""
        first = np.zeros((1, len(self)))
        if count == 1:
            return first
        from scipy.stats import qmc

        self.check_bounded("starts")
        low, high = self.bounds
        unit = qmc.LatinHypercube(len(self), seed=np.random.default_rng(seed)).random(count - 1)
        return np.vstack([first, low + (high - low) * unit])


def _parameter(name: str, given: Any) -> Parameter:
    """As users write it."""
    if isinstance(given, Parameter):
        return given
    try:
        if isinstance(given, (tuple, list)) and len(given) == 2:
            return Parameter(as_number(given[0], "low"), as_number(given[1], "high"))
        if not isinstance(given, (tuple, list, np.ndarray)) or np.ndim(given) == 0:
            return Parameter(start=as_number(given, "start"))
    except ModelError as error:
        raise ModelError(f"parameters: {quoted(name)}: {error}") from None
    raise ModelError(f"parameters: {quoted(name)}: {quoted(given)} found; {FORMS}")

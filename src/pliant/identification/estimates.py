"""Confidence intervals from J^T J, what they are worth, and which parameters the measurements cannot tell apart.

With r = (predicted - measured) / sigma and J = dr/du, parameters scatter about the true ones with the covariance
s^2 (J^T J)^-1, s^2 = r^T r / (N - p) where the noise is found from the residuals, 1 where it is given: exact where r is
linear in u, else as far as it is nearly so. That is checked by runs at both ends of every interval: along the valley of
the sum of squares, in direction C e_i / sqrt(C_ii), it should rise by t^2 s^2 (Bates and Watts 1988)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.identification.derivatives import Derivatives
from pliant.identification.parameters import Parameters, value_at

Array = NDArray[np.float64]
SMALLEST_RATIO = 1e-8  # of singular values: below, J^T J is singular in double precision
ERROR_FACTOR = 10.0  # times the error of the derivatives: what is smaller is taken for zero
AT_BOUND = 1e-6  # of the span
MENTIONED = 0.02  # of the largest part of a combination


@dataclass(frozen=True)
class Estimate:
    """One parameter: its value, its standard error and its confidence interval."""

    name: str
    value: float
    standard_error: float
    low: float
    high: float
    unit: str = ""
    is_at_bound: bool = False
    # by how much more (2: twice) the sum of squares rises to the ends of the interval than it would if all were
    # linear; nan: not tried
    rises: tuple[float, float] = (math.nan, math.nan)

    @property
    def is_known(self) -> bool:
        """Whether the measurements say anything about it."""
        return math.isfinite(self.standard_error)


@dataclass(frozen=True, eq=False)
class Estimates:
    """All of them."""

    each: dict[str, Estimate]
    covariance: Array  # of the values; inf where they cannot be told
    s2: float  # r^T r / (N - p)
    degrees_of_freedom: int
    noise: Array  # standard deviation of every number that was measured
    is_noise_given: bool
    confidence: float
    combinations: tuple[str, ...]  # that change nothing, in words
    derivatives: Derivatives  # of the weighted residuals

    @property
    def derivative_error(self) -> float:
        """Largest of all parameters, of the length of a column of J over its length."""
        sizes = np.linalg.norm(self.derivatives.values, axis=0)
        errors = np.linalg.norm(self.derivatives.errors, axis=0)
        return float(np.max(np.where(sizes > 0.0, errors / np.where(sizes > 0.0, sizes, 1.0), 0.0)))


def estimates(
    parameters: Parameters,
    u: Array,
    residuals: Array,
    slopes: Derivatives,
    sigma: Array,
    is_noise_given: bool,
    confidence: float,
    rise: Callable[[list[Array]], list[float]],
) -> Estimates:
    """At the minimum u. rise(points): how much the sum of squares rises from u to other points."""
    from scipy.stats import norm, t

    dof = len(residuals) - len(u)
    s2 = float(residuals @ residuals) / dof
    used = 1.0 if is_noise_given else s2
    is_smooth = slopes.is_ok and not slopes.changes
    C, combinations = _covariance(parameters, u, slopes) if slopes.is_ok else (np.full((len(u), len(u)), np.inf), ())
    C = used * C if used > 0.0 else np.where(np.isfinite(C), 0.0, C)
    quantile = float(norm.ppf(0.5 + 0.5 * confidence) if is_noise_given else t.ppf(0.5 + 0.5 * confidence, dof))
    deviations = np.sqrt(np.diag(C))
    if not is_smooth:
        deviations = np.full(len(u), np.inf)
    rises = _rises(u, parameters.bounds, C, deviations, quantile, used, rise)
    slope = parameters.slopes(u)
    low, high = parameters.bounds
    each = {}
    for i, (name, one) in enumerate(parameters.each.items()):
        is_at_bound = min(u[i] - low[i], high[i] - u[i]) <= AT_BOUND
        ends = [_value(parameters, name, u[i] + sign * quantile * deviations[i]) for sign in (-1.0, 1.0)]
        error = float(slope[i] * deviations[i])
        each[name] = Estimate(
            name, value_at(one, float(u[i])), error, ends[0], ends[1], one.unit, is_at_bound, rises[i]
        )
    covariance = slope[:, None] * C * slope[None, :]
    noise = sigma if is_noise_given else sigma * math.sqrt(s2)
    return Estimates(each, covariance, s2, dof, noise, is_noise_given, confidence, combinations, slopes)


def _value(parameters: Parameters, name: str, scaled: float) -> float:
    """The end of an interval; beyond a bound it is where it is: bounds are no measurement."""
    one = parameters.each[name]
    if not math.isfinite(scaled):
        return (0.0 if scaled < 0.0 else math.inf) if one.log else scaled
    plain = one.first + one.span * scaled
    return one.first * math.exp(one.span * scaled) if one.log else plain


def _covariance(parameters: Parameters, u: Array, slopes: Derivatives) -> tuple[Array, tuple[str, ...]]:
    """(J^T J)^-1 with inf for parameters that it says nothing about, and the combinations that change nothing."""
    J = slopes.values
    sizes = np.linalg.norm(J, axis=0)
    errors = np.linalg.norm(np.where(np.isfinite(slopes.errors), slopes.errors, 0.0), axis=0)
    is_seen = sizes > ERROR_FACTOR * errors
    words = [f"{name} changes nothing that was measured" for name, seen in zip(parameters.names, is_seen) if not seen]
    C = np.zeros((len(u), len(u)))
    seen = np.flatnonzero(is_seen)
    is_free = ~is_seen
    if len(seen):
        _, s, Vt = np.linalg.svd(J[:, seen] / sizes[seen], full_matrices=False)
        limit = max(SMALLEST_RATIO, ERROR_FACTOR * float(np.max(errors[seen] / sizes[seen])))
        for k in np.flatnonzero(s < limit * s[0]):
            direction = np.zeros(len(u))
            direction[seen] = Vt[k] / sizes[seen]
            mentioned, text = _combination(parameters, u, direction)
            words.append(text)
            is_free |= mentioned
        kept = s >= limit * s[0]
        inverse = (Vt[kept].T / s[kept] ** 2) @ Vt[kept]
        C[np.ix_(seen, seen)] = inverse / np.outer(sizes[seen], sizes[seen])
    C[is_free, is_free] = np.inf
    return C, tuple(words)


def _combination(parameters: Parameters, u: Array, direction: Array) -> tuple[NDArray[np.bool_], str]:
    """Which parameters take part in a change that nothing shows, and the change in words."""
    changes = parameters.slopes(u) * direction
    values = np.array([value_at(one, float(x)) for one, x in zip(parameters.each.values(), u, strict=True)])
    parts = changes / np.where(values != 0.0, values, 1.0)
    parts = parts / parts[np.argmax(np.abs(parts))]
    mentioned = np.abs(parts) > MENTIONED
    said = [
        f"{name} by {part:+.3g} {'%' if value != 0.0 else 'of its unit'}"
        for name, part, value, is_said in zip(parameters.names, parts, values, mentioned, strict=True)
        if is_said
    ]
    return mentioned, f"changing {' together with '.join(said)} changes nothing that was measured"


def _rises(
    u: Array,
    bounds: tuple[Array, Array],
    C: Array,
    deviations: Array,
    quantile: float,
    s2: float,
    rise: Callable[[list[Array]], list[float]],
) -> list[tuple[float, float]]:
    """At both ends of every interval, over the rise that J^T J promises; nan where there is no end within bounds."""
    found = np.full((len(u), 2), np.nan)
    points, places = [], []
    for i in range(len(u)):
        if not 0.0 < deviations[i] < np.inf or s2 == 0.0:
            continue
        along = np.where(np.isfinite(C[:, i]), C[:, i], 0.0) / deviations[i]
        for k, sign in enumerate((-1.0, 1.0)):
            point = u + sign * quantile * along
            if np.all((point >= bounds[0]) & (point <= bounds[1])):
                points.append(point)
                places.append((i, k))
    if points:
        for (i, k), value in zip(places, rise(points), strict=True):
            found[i, k] = value / (quantile**2 * s2)
    return [(float(a), float(b)) for a, b in found]

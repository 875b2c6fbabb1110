"""Splines of tables: the polynomials between their times. Reference: de Boor, A Practical Guide to Splines."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from pliant.model.signals import Table

Array = NDArray[np.float64]
NOT_A_KNOT = "not-a-knot"


def table_pieces(table: Table) -> list[tuple[Array, Array]]:
    """Times (n) and coefficients (n - 1, degree + 1) of every smooth piece, highest power first, of t since the time
    before. The ends are those of the table; at kinks a piece ends without a condition."""
    found, last = [], len(table.pieces) - 1
    for k, (times, values) in enumerate(table.pieces):
        ends = (table.ends if k == 0 else NOT_A_KNOT, table.ends if k == last else NOT_A_KNOT)
        found.append((np.array(times), spline_pieces(times, values, table.degree, ends, table.advance)))
    return found


def spline_pieces(
    times: ArrayLike,
    values: ArrayLike,
    degree: int,
    ends: tuple[str, str] = (NOT_A_KNOT, NOT_A_KNOT),
    advance: float = 0.0,
) -> Array:
    """Coefficients of the spline through the values. advance: what a period gains, of a periodic one."""
    x, y = np.array(times), np.array(values)
    slope = advance / (x[-1] - x[0])
    y = y - slope * (x - x[0])
    if ends[0] == "periodic":
        y[-1] = y[0]
    coefficients = _cubic(x, y, ends) if degree == 3 else _quintic(x, y, ends)
    coefficients[:, -2] += slope
    coefficients[:, -1] += slope * (x[:-1] - x[0])
    return coefficients


def _cubic(x: Array, y: Array, ends: tuple[str, str]) -> Array:
    from scipy.interpolate import CubicSpline  # only models with tables pay for this import

    return np.ascontiguousarray(CubicSpline(x, y, bc_type="periodic" if ends[0] == "periodic" else ends).c.T)


def _quintic(x: Array, y: Array, ends: tuple[str, str]) -> Array:
    from scipy.interpolate import make_interp_spline

    if ends[0] == "periodic":
        spline = make_interp_spline(x, y, k=5, bc_type="periodic")
    else:
        # a clamped end gives two conditions; without, its two next times are no knots
        clamped = [end == "clamped" for end in ends]
        inner = x[1 if clamped[0] else 3 : -1 if clamped[1] else -3]
        knots = np.concatenate([np.full(6, x[0]), inner, np.full(6, x[-1])])
        conditions = tuple([(1, 0.0), (2, 0.0)] if is_clamped else None for is_clamped in clamped)
        spline = make_interp_spline(x, y, k=5, t=knots, bc_type=conditions)
    return np.column_stack([spline(x[:-1], nu=nu) / math.factorial(nu) for nu in range(5, -1, -1)])


def values_at(times: Array, coefficients: Array, t: Array) -> Array:
    """(3, t) value and two derivatives at times within those of a piece."""
    k = np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 2)
    since, s = t - times[k], np.zeros((3, len(t)))
    for column in coefficients.T:
        s[2] = s[2] * since + 2.0 * s[1]
        s[1] = s[1] * since + s[0]
        s[0] = s[0] * since + column[k]
    return s


def jumps(table: Table) -> list[tuple[float, float, float]]:
    """(time, jump of the value, jump of the rate) at both ends of a table and at every kink."""
    pieces = table_pieces(table)
    starts = [(float(x[0]), *values_at(x, c, x[:1])[:2, 0].tolist()) for x, c in pieces]
    ends = [(float(x[-1]), *values_at(x, c, x[-1:])[:2, 0].tolist()) for x, c in pieces]
    starts.append((ends[-1][0], ends[-1][1], 0.0))  # constant outside
    ends.insert(0, (starts[0][0], starts[0][1], 0.0))
    return [
        (time, s - s_before, u - u_before) for (time, s, u), (_, s_before, u_before) in zip(starts, ends, strict=True)
    ]


def extremes(table: Table) -> tuple[float, float]:
    """Largest value and rate of a table, at its times and between them."""
    found = [values_at(x, c, np.union1d(x, x[:-1] + 0.5 * np.diff(x))) for x, c in table_pieces(table)]
    return max(float(np.abs(s[0]).max()) for s in found), max(float(np.abs(s[1]).max()) for s in found)

"""Shapes that a user gives by their values: cubic splines as Legendre series on pieces."""

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

from pliant.beams.shapes import PieceShape
from pliant.model.flexible import SampledShapes

Array = NDArray[np.float64]

# powers 1, t, t^2, t^3 by Legendre polynomials
TO_LEGENDRE = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [1 / 3, 0, 2 / 3, 0], [0, 3 / 5, 0, 2 / 5]])


def sampled_bending(length: float, samples: SampledShapes, number: int) -> PieceShape:
    """Clamped at the start; without given rotations sections stay normal to the axis."""
    at, values = np.array(samples.at), np.array(samples.values[number - 1])
    if samples.rotations is None:
        y = _spline(at, values, is_clamped=True)
        return PieceShape(length, samples.at, y, _derivative(at, y))
    rotations = length * np.array(samples.rotations[number - 1])
    return PieceShape(length, samples.at, _spline(at, values), _spline(at, rotations))


def sampled_axial(length: float, samples: SampledShapes, number: int) -> PieceShape:
    """Of stretch or torsion."""
    at = np.array(samples.at)
    y = _spline(at, np.array(samples.values[number - 1]))
    return PieceShape(length, samples.at, y, _derivative(at, y))


def _spline(x: Array, y: Array, is_clamped: bool = False) -> Array:
    """Two continuous derivatives: a row of Legendre coefficients per piece. At an end: no slope where it is clamped,
    else the two last pieces are one cubic."""
    h, rise = np.diff(x), np.diff(y) / np.diff(x)
    n = len(x)
    matrix, right = np.zeros((n, n)), np.zeros(n)
    for i in range(1, n - 1):
        matrix[i, i - 1 : i + 2] = 1 / h[i - 1], 2 / h[i - 1] + 2 / h[i], 1 / h[i]
        right[i] = 3 * (rise[i - 1] / h[i - 1] + rise[i] / h[i])
    for row, a, b in ((0, 0, 1), (n - 1, n - 3, n - 2)):
        # third derivatives of pieces a and b: 6 (m_a + m_(a+1) - 2 rise_a) / h_a^2
        matrix[row, a : a + 3] = 1 / h[a] ** 2, 1 / h[a] ** 2 - 1 / h[b] ** 2, -1 / h[b] ** 2
        right[row] = 2 * (rise[a] / h[a] ** 2 - rise[b] / h[b] ** 2)
    if is_clamped:
        matrix[0], right[0] = np.eye(n)[0], 0.0
    slopes = np.linalg.solve(matrix, right)
    # Hermite's cubic on every piece, in t = -1 .. 1
    start, end = 0.5 * h * slopes[:-1], 0.5 * h * slopes[1:]
    hermite = np.array([[2, -3, 0, 1], [2, 3, 0, -1], [1, -1, -1, 1], [-1, -1, 1, 1]]) / 4.0
    powers = np.stack([y[:-1], y[1:], start, end], axis=1) @ hermite
    return np.asarray(powers @ TO_LEGENDRE)


def _derivative(x: Array, series: Array) -> Array:
    """By x, piece by piece."""
    return np.asarray(legendre.legder(series, axis=1) * (2 / np.diff(x))[:, None])

"""Polynomial shapes xi^2 P_j(2 xi - 1), xi = x / length, P_j Legendre: clamped at the start, unit value at the tip."""

import numpy as np
from numpy.polynomial import legendre

from pliant.beams.shapes import PieceShape

SQUARE = legendre.poly2leg([0.25, 0.5, 0.25])  # xi^2 in t = 2 xi - 1


def polynomial(length: float, number: int) -> PieceShape:
    """The shape of degree number + 1, numbers from 1; no shear: the section rotates with the slope."""
    series = legendre.legmul(SQUARE, np.eye(number)[-1])
    slope = np.asarray(2 * legendre.legder(series), dtype=np.float64)
    return PieceShape(length, (0.0, 1.0), series[None, :], slope[None, :])

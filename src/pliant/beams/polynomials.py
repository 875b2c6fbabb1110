"""Polynomial shapes, xi = x / length, P_j Legendre, unit value at the tip: of bending xi^2 P_j(2 xi - 1), clamped at
the start; of stretch and torsion xi P_j(2 xi - 1), held there."""

import numpy as np
from numpy.polynomial import legendre

from pliant.beams.shapes import PieceShape, Shape, normalised

LINE = legendre.poly2leg([0.5, 0.5])  # xi in t = 2 xi - 1
SQUARE = legendre.poly2leg([0.25, 0.5, 0.25])


def polynomial(length: float, number: int, shear: float = 0.0) -> Shape:
    """The bending shape of degree number + 1, numbers from 1. shear: EI / (kGA length^2); the deflection then has what
    the shear force of this bending adds: y' = rotation - shear rotation'' (in xi)."""
    series = legendre.legmul(SQUARE, np.eye(number)[-1])
    rotation = np.asarray(2 * legendre.legder(series), dtype=np.float64)
    bend = 2 * legendre.legder(rotation)
    moment = legendre.legsub(bend, [legendre.legval(-1.0, bend)])
    y = np.asarray(legendre.legsub(series, shear * moment), dtype=np.float64)
    shape = PieceShape(length, (0.0, 1.0), y[None, :], rotation[None, :])
    return shape if shear == 0.0 else _with_unit_tip(shape)


def axial_polynomial(length: float, number: int) -> PieceShape:
    """The stretch or torsion shape of degree `number`, numbers from 1."""
    series = np.asarray(legendre.legmul(LINE, np.eye(number)[-1]), dtype=np.float64)
    slope = np.asarray(2 * legendre.legder(series), dtype=np.float64)
    return PieceShape(length, (0.0, 1.0), series[None, :], slope[None, :])


def _with_unit_tip(shape: PieceShape) -> Shape:
    """Shear may nearly cancel the tip value: then the largest value is 1."""
    tip = float(shape.at(np.array(shape.length)).y)
    largest = float(np.max(np.abs(shape.at(np.linspace(0.0, shape.length, 101)).y)))
    return normalised(shape, shape.length, 1, "tip") if abs(tip) > 0.2 * largest else shape.scaled(1.0 / largest)

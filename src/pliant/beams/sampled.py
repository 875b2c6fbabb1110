"""Shapes that a user gives by their values: cubic splines as Legendre series on pieces."""

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from pliant.beams.shapes import PieceShape
from pliant.model.flexible import SampledShapes

Array = NDArray[np.float64]


def sampled_bending(length: float, samples: SampledShapes, number: int) -> PieceShape:
    """Clamped at the start; without given rotations sections stay normal to the axis."""
    at = np.array(samples.at)
    y = CubicSpline(at, samples.values[number - 1], bc_type=("clamped" if samples.rotations is None else "not-a-knot",
                                                             "not-a-knot"))  # fmt: skip
    if samples.rotations is None:
        return PieceShape(length, samples.at, _series(y), _series(y.derivative()))
    rotation = CubicSpline(at, length * np.array(samples.rotations[number - 1]))
    return PieceShape(length, samples.at, _series(y), _series(rotation))


def sampled_axial(length: float, samples: SampledShapes, number: int) -> PieceShape:
    """Of stretch or torsion."""
    y = CubicSpline(np.array(samples.at), samples.values[number - 1])
    return PieceShape(length, samples.at, _series(y), _series(y.derivative()))


def _series(spline: CubicSpline) -> Array:
    """One row of Legendre coefficients per piece."""
    degree = len(spline.c) - 1
    nodes = legendre.leggauss(degree + 1)[0]
    starts, widths = spline.x[:-1, None], np.diff(spline.x)[:, None]
    values = spline(starts + 0.5 * widths * (nodes + 1.0))
    return np.asarray(np.linalg.solve(legendre.legvander(nodes, degree), values.T).T)

"""Bending to the fourth order of the slopes: tables of coupling "fourth-order".

Shortening gets int_0^x (y'^2 + z'^2)^2 / 8, and the elastic energy 1/2 int (sqrt(EIz) y' y'' + sqrt(EIy) z' z'')^2: the
exact curvature of an axis that does not stretch. Both are sums over stations, so that no table grows with the fourth
power of the number of modes."""

from __future__ import annotations

from itertools import combinations_with_replacement, pairwise
from typing import NamedTuple

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

from pliant.beams.families import BeamShapes
from pliant.beams.sampling import Samples, smooth_pieces
from pliant.beams.shapes import values_of
from pliant.model.flexible import Beam
from pliant.model.sections import beam_values

Array = NDArray[np.float64]


class Stations(NamedTuple):
    """Of a beam; n_k of them, none at lower orders."""

    slope: Array  # y', z' of the bending modes (n_k, bending)
    bend: Array  # their curvatures, times sqrt(EI x weight) (n_k, bending)
    share: Array  # of a station in every shortening function (R, n_k)


def stations(beam: Beam, shapes: BeamShapes, s: Samples, psi: Array) -> Stations:
    """psi: the shortening functions at the places of s."""
    x, w = _places(beam, shapes)
    n_b = len(shapes.y) + len(shapes.z)
    slope, bend = np.zeros((len(x), n_b)), np.zeros((len(x), n_b))
    values = beam_values(beam, x)
    for j, here in enumerate((*values_of(shapes.y, x), *values_of(shapes.z, x))):
        rigidity = values.bend_y if j < len(shapes.y) else values.bend_z
        slope[:, j], bend[:, j] = here.slope, here.bend * np.sqrt(rigidity * w)
    return Stations(slope, bend, (psi * s.dm) @ section_shares(beam, shapes, s.x))


def section_shares(beam: Beam, shapes: BeamShapes, x: Array) -> Array:
    """(places, n_k): int_0^x g = shares @ g at the stations, exact for polynomials through them."""
    if beam.coupling != "fourth-order":
        return np.zeros((len(x), 0))
    edges, n = beam.length * np.array(smooth_pieces(beam)), _per_piece(shapes)
    nodes, w = legendre.leggauss(n)
    # from values at the nodes to the integral of their Legendre series from -1 on
    series = np.linalg.inv(legendre.legvander(nodes, n - 1))
    integrals = legendre.legint(np.eye(n), lbnd=-1) @ series
    shares = []
    for start, end in pairwise(edges):
        local = np.clip(2 * (x - start) / (end - start) - 1, -1.0, 1.0)
        inside = legendre.legvander(local, n) @ integrals
        shares.append(0.5 * (end - start) * np.where((x >= end)[:, None], w, inside))
    return np.hstack(shares)


def slope_products(beam: Beam, shapes: BeamShapes, x: Array) -> Array:
    """(places, functions): all that the fourth order of the shortening can be, each with its size in y^4 / length^2."""
    x_k, _ = _places(beam, shapes)
    if not len(x_k):
        return np.zeros((len(x), 0))
    slopes = [one.slope for family in (shapes.y, shapes.z) for one in values_of(family, x_k)]
    products = [a * b * c * d for a, b, c, d in combinations_with_replacement(slopes, 4)]
    return section_shares(beam, shapes, x) @ np.array(products).T * beam.length**2


def _per_piece(shapes: BeamShapes) -> int:
    """Products of four slopes are integrated, and so is their integral."""
    return 4 * shapes.highest + 8


def _places(beam: Beam, shapes: BeamShapes) -> tuple[Array, Array]:
    """Gauss points of every smooth piece of the beam, and their weights."""
    if beam.coupling != "fourth-order":
        return np.zeros(0), np.zeros(0)
    edges = beam.length * np.array(smooth_pieces(beam))
    nodes, w = legendre.leggauss(_per_piece(shapes))
    half = 0.5 * np.diff(edges)[:, None]
    return (edges[:-1, None] + half * (nodes + 1)).ravel(), (half * w).ravel()

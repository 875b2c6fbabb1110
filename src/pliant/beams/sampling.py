"""Shapes and beam at the places of the quadrature, and the shortening by bending."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

from pliant.beams.families import BeamShapes
from pliant.beams.piece_basis import gauss
from pliant.beams.shapes import ShapeValues, values_of
from pliant.model.flexible import Beam
from pliant.model.sections import BeamValues, beam_values, breakpoints

Array = NDArray[np.float64]

INNER_POINTS = 12  # of the shortening, on intervals of at most an eighth of the shortest wave


class Samples(NamedTuple):
    """At n places: Gauss points, then point masses (whose weight is zero). m coordinates."""

    x: Array  # (n) [m]
    weights: Array  # of integrals over x (n) [m]
    dm: Array  # of integrals over the mass (n) [kg]
    values: BeamValues
    phi: Array  # of the translating modes (n3, n)
    axis: NDArray[np.int64]  # their directions, 0 x, 1 y, 2 z (n3)
    curvature: Array  # of the bending modes (bending, n)
    angle: Array  # of the section about x, y, z per coordinate (3, m, n)
    strain: Array  # bend y, shear y, bend z, shear z, stretch, twist per coordinate (6, m, n)
    rigidity: Array  # against them (6, n)


def sample(beam: Beam, shapes: BeamShapes) -> Samples:
    """Gauss-Legendre with more than the 4 n + 16 points per smooth piece that products of two shapes need."""
    xi, w = gauss(smooth_pieces(beam), 8 * shapes.highest + 24)
    x = np.concatenate([beam.length * xi, [one.x for one in beam.point_masses]])
    weights = np.concatenate([beam.length * w, np.zeros(len(beam.point_masses))])
    values = beam_values(beam, x)
    dm = weights * values.mass
    dm[len(xi) :] = [one.mass for one in beam.point_masses]
    y, z, stretch, torsion = (values_of(family, x) for family in shapes[:4])
    axis = np.repeat(np.array([1, 2, 0]), [len(y), len(z), len(stretch)])
    return Samples(
        x=x,
        weights=weights,
        dm=dm,
        values=values,
        phi=_stack([one.y for one in (*y, *z, *stretch)], len(x)),
        axis=axis,
        curvature=_stack([one.curvature for one in (*y, *z)], len(x)),
        angle=_angles(y, z, stretch, torsion, len(x)),
        strain=_strains(beam, (y, z, stretch, torsion), len(x)),
        rigidity=_rigidity(values),
    )


def strains_at(beam: Beam, shapes: BeamShapes, x: Array) -> tuple[Array, Array]:
    """strain and rigidity of Samples at any places."""
    y, z, stretch, torsion = (values_of(family, x) for family in shapes[:4])
    return _strains(beam, (y, z, stretch, torsion), len(x)), _rigidity(beam_values(beam, x))


def _rigidity(v: BeamValues) -> Array:
    return np.array([v.bend_y, v.shear_y, v.bend_z, v.shear_z, v.stretch, v.twist])


def shortening(beam: Beam, shapes: BeamShapes, x: Array) -> Array:
    """H_jl(x) = int_0^x (y_j' y_l' + z_j' z_l'), (places, bending, bending)."""
    grid = np.linspace(0, beam.length, 4 * shapes.highest + 9)
    wanted, which = np.unique(x, return_inverse=True)
    edges = np.unique(np.concatenate([beam.length * np.array(smooth_pieces(beam)), grid, wanted]))
    t, w = legendre.leggauss(INNER_POINTS)
    half = 0.5 * np.diff(edges)[:, None]
    places, weights = (edges[:-1, None] + half * (t + 1)).ravel(), (half * w).ravel()
    ny, n = len(shapes.y), len(shapes.y) + len(shapes.z)
    slopes = _stack([one.slope for family in (shapes.y, shapes.z) for one in values_of(family, places)], len(places))
    H, total = np.zeros((len(wanted), n, n)), np.zeros((n, n))
    ends = INNER_POINTS * np.searchsorted(edges, wanted)
    # what comes on from one wanted place to the next
    for k, (first, last) in enumerate(pairwise((0, *ends.tolist()))):
        here, weight = slopes[:, first:last], weights[first:last]
        total[:ny, :ny] += (here[:ny] * weight) @ here[:ny].T
        total[ny:, ny:] += (here[ny:] * weight) @ here[ny:].T
        H[k] = total
    return H if np.array_equal(wanted, x) else np.asarray(H[which])


def smooth_pieces(beam: Beam) -> tuple[float, ...]:
    """Fractions of the length between which beam and shapes are smooth."""
    ends = breakpoints(beam.section)
    if beam.shapes_from is not None:
        ends = np.union1d(ends, breakpoints(beam.shapes_from.section))
    families = (beam.bending_y, beam.bending_z, beam.stretch, beam.torsion)
    for samples in (family.samples for family in families if family is not None):
        if samples is not None:
            ends = np.union1d(ends, samples.at)
    return tuple(ends.tolist())


def _stack(rows: list[Array], n: int) -> Array:
    return np.array(rows).reshape(len(rows), n)


def _angles(
    y: list[ShapeValues], z: list[ShapeValues], stretch: list[ShapeValues], torsion: list[ShapeValues], n: int
) -> Array:
    """bx = t d, by = -Th^z d, bz = Th^y d."""
    ny, nz, nx, nt = len(y), len(z), len(stretch), len(torsion)
    out = np.zeros((3, ny + nz + nx + nt, n))
    out[2, :ny] = _stack([one.rotation for one in y], n)
    out[1, ny : ny + nz] = -_stack([one.rotation for one in z], n)
    out[0, ny + nz + nx :] = _stack([one.y for one in torsion], n)
    return out


def _strains(beam: Beam, families: tuple[list[ShapeValues], ...], n: int) -> Array:
    y, z, stretch, torsion = families
    ends = np.cumsum([0, len(y), len(z), len(stretch), len(torsion)])
    out = np.zeros((6, ends[-1], n))
    for row, family, first in ((0, y, ends[0]), (2, z, ends[1])):
        here = slice(first, first + len(family))
        out[row, here] = _stack([one.bend for one in family], n)
        if beam.has_shear:
            out[row + 1, here] = _stack([one.slope - one.rotation for one in family], n)
    out[4, ends[2] : ends[3]] = _stack([one.slope for one in stretch], n)
    out[5, ends[3] :] = _stack([one.slope for one in torsion], n)
    return out


def quadratic(weights: Array, values: Array) -> Array:
    """Sum over rows i and places q of weights_iq values_ilq values_imq, (m, m)."""
    out = np.zeros((values.shape[1], values.shape[1]))
    for weight, value in zip(weights, values, strict=True):
        out += (value * weight) @ value.T
    return 0.5 * (out + out.T)

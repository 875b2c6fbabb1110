"""Basis functions of Galerkin's method on pieces of the unit length: nodal ones and integrated Legendre polynomials."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Basis:
    """Functions of one field. On a piece each is a Legendre series in the local coordinate, -1 to 1."""

    breaks: tuple[float, ...]
    series: Array  # (pieces, functions on a piece, coefficients)
    index: NDArray[np.int64]  # (pieces, functions on a piece) -> unknown
    nodes: tuple[int, ...]  # unknowns that are the field's nodal values

    @property
    def size(self) -> int:
        """One more than the largest unknown."""
        return int(self.index.max()) + 1

    @property
    def degree(self) -> int:
        return int(self.series.shape[2]) - 1

    def after(self, other: "Basis") -> "Basis":
        """The same functions with unknowns numbered behind those of another field."""
        return replace(self, index=self.index + other.size, nodes=tuple(node + other.size for node in self.nodes))

    def derivative(self) -> "Basis":
        """By xi. Nodal values are then those of the second kind (slopes)."""
        rates = 2 / np.diff(self.breaks)
        series = legendre.legder(self.series, axis=2) * rates[:, None, None]
        return replace(self, series=series, nodes=tuple(node + len(self.breaks) for node in self.nodes))

    def at(self, xi: Array, n: int) -> Array:
        """Values of all functions, (places, n unknowns)."""
        out = np.zeros((len(xi), n))
        breaks = np.array(self.breaks)
        piece = np.clip(np.searchsorted(breaks, xi, side="right") - 1, 0, len(breaks) - 2)
        local = 2 * (xi - breaks[piece]) / np.diff(breaks)[piece] - 1
        for i, (series, index) in enumerate(zip(self.series, self.index, strict=True)):
            here = np.flatnonzero(piece == i)
            out[np.ix_(here, index)] = legendre.legvander(local[here], self.degree) @ series.T
        return out

    def coefficients(self, unknowns: Array) -> Array:
        """Legendre series of a combination, one row per piece."""
        return np.asarray(np.einsum("pf,pfc->pc", unknowns[self.index], self.series))


def field(breaks: tuple[float, ...], terms: int, is_smooth: bool = False) -> Basis:
    """A continuous field, or one with continuous slope; `terms` inner functions per piece."""
    pieces, nodes = len(breaks) - 1, len(breaks)
    kinds = 2 if is_smooth else 1
    series = np.array([_local(h, terms, is_smooth) for h in np.diff(breaks)])
    index = np.zeros(series.shape[:2], dtype=np.int64)
    for i in range(pieces):
        ends = [kind * nodes + i + side for side in (0, 1) for kind in range(kinds)]
        inner = kinds * nodes + i * terms + np.arange(terms)
        index[i] = np.concatenate([ends, inner])
    return Basis(breaks, series, index, tuple(range(nodes)))


def _local(h: float, terms: int, is_smooth: bool) -> Array:
    """Functions on a piece of length h: nodal ones, then those that vanish at its ends."""
    nodal = _cubics(h) if is_smooth else np.array([[0.5, -0.5], [0.5, 0.5]])
    times = 2 if is_smooth else 1  # of integration: as many as values vanish at each end
    out = np.zeros((len(nodal) + terms, 2 * times + terms))
    out[: len(nodal), : nodal.shape[1]] = nodal
    for k in range(terms):
        unit = np.zeros(times + k + 1)
        unit[-1] = np.sqrt(times + k + 0.5)
        series = legendre.legint(unit, times, lbnd=-1)
        out[len(nodal) + k, : len(series)] = series
    return out


def _cubics(h: float) -> Array:
    """Value and slope at the start, value and slope at the end: Hermite's cubics as Legendre series."""
    powers = np.array([[2, -3, 0, 1], [1, -1, -1, 1], [2, 3, 0, -1], [-1, -1, 1, 1]]) / 4
    powers[1::2] *= h / 2
    return np.array([legendre.poly2leg(row) for row in powers])


def gauss(breaks: tuple[float, ...], points: int) -> tuple[Array, Array]:
    """Gauss-Legendre places and weights on all pieces."""
    t, w = legendre.leggauss(points)
    ends = np.array(breaks)
    half = 0.5 * np.diff(ends)[:, None]
    return (ends[:-1, None] + half * (t + 1)).ravel(), (half * w).ravel()

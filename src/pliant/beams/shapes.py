"""Shape functions as objects: ask them at any x. Amplitudes have the unit of the coordinate's deflection."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol, cast

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

from pliant.beams.waves import Waves, wave_numbers, waves

Array = NDArray[np.float64]


class ShapeValues(NamedTuple):
    """A shape at many x: arrays of one length. Without shear, rotation = slope and bend = curvature."""

    y: Array  # deflection (stretch and torsion: shift or angle)
    slope: Array  # dy/dx of the axis [1/m]
    curvature: Array  # d2y/dx2 of the axis [1/m^2]
    rotation: Array  # of the section [1/m]
    bend: Array  # d rotation/dx [1/m^2]


class Shape(Protocol):
    """What every shape can do."""

    def at(self, x: Array) -> ShapeValues:
        """Values at material coordinates x [m]."""
        ...

    def scaled(self, factor: float) -> "Shape":
        """The same shape, `factor` times as large."""
        ...


@dataclass(frozen=True)
class WaveShape:
    """Of a uniform beam: four waves, and a turn as a rigid body (modes seen from a rotating hub)."""

    length: float  # [m]
    om2: float  # mu length^4 omega^2 / EI
    r2: float  # I / (A length^2)
    s2: float  # EI / (kGA length^2)
    weights: tuple[float, float, float, float]  # of the waves
    turn: float = 0.0  # y gets turn * x / length

    def at(self, x: Array) -> ShapeValues:
        xi, L = np.asarray(x, dtype=float) / self.length, self.length
        w = Waves(*(np.tensordot(self.weights, part, 1) for part in self._waves(xi)))
        rotation = w.rotation + self.turn
        return ShapeValues(
            y=w.y + self.turn * xi,
            slope=(rotation + self.s2 * w.force) / L,
            curvature=(w.moment - self.s2 * self.om2 * w.y) / L**2,
            rotation=rotation / L,
            bend=w.moment / L**2,
        )

    def scaled(self, factor: float) -> "WaveShape":
        a, b, c, d = (factor * weight for weight in self.weights)
        return replace(self, weights=(a, b, c, d), turn=factor * self.turn)

    def turned(self, turn: float) -> "WaveShape":
        """With y increased by turn * x / length."""
        return replace(self, turn=self.turn + turn)

    def _waves(self, xi: Array) -> Waves:
        return waves(wave_numbers(self.om2, self.r2, self.s2), self.om2, self.s2, xi)


@dataclass(frozen=True)
class PieceShape:
    """Legendre series for deflection and section rotation on pieces of the beam."""

    length: float  # [m]
    breaks: tuple[float, ...]  # ends of the pieces as fractions of the length, 0 and 1 included
    y: Array  # coefficients, one row per piece
    rotation: Array  # coefficients of the section rotation x length, one row per piece

    def at(self, x: Array) -> ShapeValues:
        (found,) = _series_at((self,), x)
        return found

    def is_like(self, other: Shape) -> bool:
        """Whether the series are on the same pieces and of the same length."""
        return isinstance(other, PieceShape) and (self.length, self.breaks, self.y.shape, self.rotation.shape) == (
            other.length,
            other.breaks,
            other.y.shape,
            other.rotation.shape,
        )

    def scaled(self, factor: float) -> "PieceShape":
        return replace(self, y=factor * self.y, rotation=factor * self.rotation)

    def turned(self, turn: float) -> "PieceShape":
        """With y increased by turn * x / length."""
        y, rotation, breaks = self.y.copy(), self.rotation.copy(), np.array(self.breaks)
        y[:, 0] += 0.5 * turn * (breaks[:-1] + breaks[1:])
        y[:, 1] += 0.5 * turn * np.diff(breaks)
        rotation[:, 0] += turn
        return replace(self, y=y, rotation=rotation)


def values_of(shapes: Sequence[Shape], x: Array) -> list[ShapeValues]:
    """Of many shapes at the same places: series of one kind together, which is much faster."""
    if shapes and isinstance(shapes[0], PieceShape) and all(shapes[0].is_like(shape) for shape in shapes):
        return _series_at(cast(Sequence[PieceShape], shapes), x)
    return [shape.at(x) for shape in shapes]


def _series_at(shapes: Sequence[PieceShape], x: Array) -> list[ShapeValues]:
    """Of shapes with series of one kind."""
    length, breaks = shapes[0].length, np.array(shapes[0].breaks)
    xi = np.asarray(x, dtype=float).ravel() / length
    piece = np.clip(np.searchsorted(breaks, xi, side="right") - 1, 0, len(breaks) - 2)
    rate = 2 / np.diff(breaks)[piece] / length  # of the local coordinate, -1 to 1
    local = (xi - breaks[piece]) * rate * length - 1
    # (shapes, pieces, terms): y, y', y'', rotation, rotation' by the local coordinate
    deflections, rotations = np.array([one.y for one in shapes]), np.array([one.rotation for one in shapes])
    slopes = legendre.legder(deflections, axis=2)
    series = (deflections, slopes, legendre.legder(slopes, axis=2), rotations, legendre.legder(rotations, axis=2))
    terms = max(part.shape[2] for part in series)
    out = np.empty((5, len(shapes), len(xi)))
    for index in range(len(breaks) - 1):
        here = piece == index
        polynomials = legendre.legvander(local[here], terms - 1).T
        for part, values in zip(series, out, strict=True):
            values[:, here] = part[:, index] @ polynomials[: part.shape[2]]
    factors = np.array([np.ones_like(rate), rate, rate**2, np.full_like(rate, 1 / length), rate / length])
    parts = [(values * factor).reshape(len(shapes), *np.shape(x)) for values, factor in zip(out, factors, strict=True)]
    return [ShapeValues(*values) for values in zip(*parts, strict=True)]


@dataclass(frozen=True)
class SineShape:
    """sin((2 number - 1) pi x / 2 length): stretch and torsion of a beam held at its start."""

    length: float  # [m]
    number: int  # from 1
    factor: float = 1.0

    def at(self, x: Array) -> ShapeValues:
        k = (2 * self.number - 1) * np.pi / (2 * self.length)
        y, slope = self.factor * np.sin(k * np.asarray(x)), self.factor * k * np.cos(k * np.asarray(x))
        return ShapeValues(y, slope, -k * k * y, slope, -k * k * y)

    def scaled(self, factor: float) -> "SineShape":
        return replace(self, factor=factor * self.factor)


def largest(shape: Shape, length: float, number: int) -> tuple[float, float]:
    """Largest |y| and the sign of the first extremum (a free start counts as one)."""
    x = np.linspace(0, length, 60 * (number + 2) + 1)
    y = shape.at(x).y
    size = np.abs(y)
    inner = 1 + np.flatnonzero((size[1:-1] >= size[:-2]) & (size[1:-1] >= size[2:]) & (size[1:-1] > 1e-6 * size.max()))
    tops = shape.at(_tops(shape, x[inner], length)).y
    first = y[0] if size[0] > 1e-6 * size.max() else tops[0] if len(tops) else y[-1]
    return float(max(size[0], size[-1], *np.abs(tops))), float(np.sign(first))


def _tops(shape: Shape, x: Array, length: float) -> Array:
    """The extrema near x, by Newton's method on the slope."""
    for _ in range(4):
        here = shape.at(x)
        is_bent = here.curvature != 0.0
        step = np.divide(here.slope, here.curvature, out=np.zeros_like(x), where=is_bent)
        x = np.clip(x - step, 0.0, length)
    return x


def normalised(shape: Shape, length: float, number: int, scale: str) -> Shape:
    """scale "max": largest |y| is 1 and the first extremum positive; "tip": the tip value is 1."""
    (found,) = all_normalised([shape], length, [number], scale)
    return found


def all_normalised(shapes: Sequence[Shape], length: float, numbers: Sequence[int], scale: str) -> list[Shape]:
    """Many together, which is much faster for series."""
    if scale == "tip":
        tips = values_of(shapes, np.array([length]))
        return [shape.scaled(1 / float(tip.y[0])) for shape, tip in zip(shapes, tips, strict=True)]
    tops = [largest(shape, length, number) for shape, number in zip(shapes, numbers, strict=True)]
    return [shape.scaled(sign / top) for shape, (top, sign) in zip(shapes, tops, strict=True)]

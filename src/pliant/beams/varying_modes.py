"""Modes of beams whose section varies along x, with or without loads at the ends: Galerkin's method.

Deflection and section rotation are Legendre series on each piece on which the section is smooth (integrated Legendre
polynomials and nodal values). The number of terms grows until the last ones vanish. Stiffness and mass stay factored,
K = A^T A and M = B^T B; the modes are the singular vectors of B R^-1, A = Q R, which keeps the digits of low modes."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.beams.piece_basis import Basis, field, gauss
from pliant.beams.shapes import PieceShape
from pliant.beams.uniform_modes import EndLoads
from pliant.errors import ModelError

Array = NDArray[np.float64]

TAIL = 1e-13  # last coefficients relative to the largest
MAX_TERMS = 400


class VaryingBeam(NamedTuple):
    """A beam in units of its length, of a mass per length and of a bending stiffness; the functions take xi, 0 to 1."""

    ends: str  # two of s, c, f
    breaks: tuple[float, ...]  # between which it is smooth, 0 and 1 included
    bend: Callable[[Array], Array]  # EI
    mass: Callable[[Array], Array]  # per length
    shear: Callable[[Array], Array] | None = None  # kGA; None: Euler-Bernoulli
    rotary: Callable[[Array], Array] | None = None  # inertia of the sections per length, only with shear
    loads: EndLoads = EndLoads()

    @property
    def n_rigid(self) -> int:
        """Motions without bending."""
        return {"ff": 2, "sf": 1, "fs": 1}.get(self.ends, 0)


def modes(beam: VaryingBeam, last: int, length: float = 1.0) -> list[tuple[float, PieceShape]]:
    """Om and shapes (of no particular size) of modes 1..last; a mode of pure shear is left out."""
    terms = 10 + 3 * last // (len(beam.breaks) - 1)
    while terms <= MAX_TERMS:
        found = [one for one in _galerkin(beam, last + 1, terms, length) if _has_deflection(one[1])][:last]
        if all(_has_converged(shape) for _, shape in found):
            return found
        terms += terms // 2
    raise ModelError(
        f"the modes of the tapered beam (ends {beam.ends!r}, up to mode {last}) need more than {MAX_TERMS} terms; "
        "ask for fewer modes, or give a section that varies less"
    )


def _has_deflection(shape: PieceShape) -> bool:
    return bool(np.abs(shape.y).max() > 1e-9 * np.abs(shape.rotation).max())


def _has_converged(shape: PieceShape) -> bool:
    size = max(np.abs(shape.y).max(), np.abs(shape.rotation).max())
    return bool(max(np.abs(shape.y[:, -2:]).max(), np.abs(shape.rotation[:, -2:]).max()) < TAIL * size)


def _galerkin(beam: VaryingBeam, last: int, terms: int, length: float) -> list[tuple[float, PieceShape]]:
    deflection = field(beam.breaks, terms, is_smooth=beam.shear is None)
    rotation = deflection.derivative() if beam.shear is None else field(beam.breaks, terms).after(deflection)
    n = max(deflection.size, rotation.size)
    stiff, heavy = _factors(beam, deflection, rotation, n)
    free = np.setdiff1d(np.arange(n), _held(beam, deflection, rotation))
    Om, vectors = _low_modes(stiff[:, free], heavy[:, free], beam.n_rigid, last)
    whole = np.zeros((n, last))
    whole[free] = vectors
    shapes = [
        PieceShape(length, beam.breaks, deflection.coefficients(vector), rotation.coefficients(vector))
        for vector in whole.T
    ]
    return list(zip(Om, shapes, strict=True))


def _low_modes(stiff: Array, heavy: Array, n_rigid: int, last: int) -> tuple[list[float], Array]:
    """With rigid motions the stiffness is made regular by one unit of mass."""
    shift = 1.0 if n_rigid else 0.0
    R = np.linalg.qr(np.vstack([stiff, np.sqrt(shift) * heavy]), mode="r")
    inverse = np.linalg.solve(R, np.eye(len(R)))
    _, sigma, vectors = np.linalg.svd(heavy @ inverse, full_matrices=False)
    chosen = slice(n_rigid, n_rigid + last)
    return np.sqrt(1 / sigma[chosen] ** 2 - shift).tolist(), inverse @ vectors[chosen].T


def _factors(beam: VaryingBeam, deflection: Basis, rotation: Basis, n: int) -> tuple[Array, Array]:
    """Rows whose squares add up to twice the elastic and the kinetic energy."""
    xi, weights = gauss(beam.breaks, deflection.degree + 12)  # exact for sections up to the tenth power of x
    y, th = deflection.at(xi, n), rotation.at(xi, n)
    stiff = [_rows(weights * beam.bend(xi), rotation.derivative().at(xi, n))]
    heavy = [_rows(weights * beam.mass(xi), y)]
    if beam.shear is not None:
        stiff.append(_rows(weights * beam.shear(xi), deflection.derivative().at(xi, n) - th))
    if beam.rotary is not None:
        heavy.append(_rows(weights * beam.rotary(xi), th))
    start, tip, loads = np.array([0.0]), np.array([1.0]), beam.loads
    heavy += [
        np.sqrt(loads.tip_mass) * deflection.at(tip, n),
        np.sqrt(loads.tip_inertia) * rotation.at(tip, n),
        np.sqrt(loads.hub_inertia) * rotation.at(start, n),
    ]
    return np.vstack(stiff), np.vstack(heavy)


def _rows(weights: Array, values: Array) -> Array:
    return np.asarray(np.sqrt(weights)[:, None] * values)


def _held(beam: VaryingBeam, deflection: Basis, rotation: Basis) -> list[int]:
    """Unknowns that the ends make zero."""
    held: list[int] = []
    for end, node in zip(beam.ends, (0, len(beam.breaks) - 1), strict=True):
        held += [deflection.nodes[node]] if end in "cs" else []
        held += [rotation.nodes[node]] if end == "c" else []
    return held

"""Exact modes of uniform Timoshenko and Euler-Bernoulli beams: any pair of ends, any number, with or without loads.

A mode is found by its number: the modes below a frequency are counted (uniform_count.py) until the one asked for is
alone in an interval; there the determinant of the four end conditions changes sign and is solved by bisection.
Left out of the numbering: motions as a rigid body, and the pure shear mode of "ss" (no deflection at all)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.beams.shapes import WaveShape
from pliant.beams.uniform_count import modes_below
from pliant.beams.waves import Waves, wave_numbers, waves

Array = NDArray[np.float64]

ROUNDING = 4e-15  # relative width of an interval in which modes are taken to coincide


class EndLoads(NamedTuple):
    """In units of the beam's mass and length."""

    tip_mass: float = 0.0
    tip_inertia: float = 0.0
    hub_inertia: float = 0.0  # at a start that rotates


class UniformBeam(NamedTuple):
    """A beam in units of its length; r2 = s2 = 0: Euler-Bernoulli."""

    ends: str  # two of s, c, f
    r2: float = 0.0  # I / (A L^2)
    s2: float = 0.0  # EI / (kGA L^2)
    loads: EndLoads = EndLoads()

    @property
    def n_rigid(self) -> int:
        """Motions without bending."""
        return {"ff": 2, "sf": 1, "fs": 1}.get(self.ends, 0)

    @property
    def has_pure_shear(self) -> bool:
        """A mode without deflection, at om2 r2 s2 = 1."""
        return self.ends == "ss" and self.r2 * self.s2 > 0 and not any(self.loads)


def frequency(beam: UniformBeam, number: int) -> float:
    """Om = omega L^2 sqrt(mu / EI) of a mode, numbers from 1."""
    return _root(beam, number)[0]


def mode(beam: UniformBeam, number: int, length: float = 1.0) -> tuple[float, WaveShape]:
    """Om and shape (of no particular size) of a mode."""
    Om, place = _root(beam, number)
    one, two, three, four = map(float, np.linalg.svd(end_conditions(beam, Om))[2][-1 - place])
    return Om, WaveShape(length, Om**2, beam.r2, beam.s2, (one, two, three, four))


def _root(beam: UniformBeam, number: int) -> tuple[float, int]:
    """Om of a mode, and its place among modes that coincide with it."""
    low, high, place = _isolated(beam, number)
    positive = end_determinant(beam, high) > 0
    while low < (middle := 0.5 * (low + high)) < high:
        low, high = (low, middle) if (end_determinant(beam, middle) > 0) == positive else (middle, high)
    return middle, place


def end_determinant(beam: UniformBeam, Om: float) -> float:
    return float(np.linalg.det(end_conditions(beam, Om)))


def end_conditions(beam: UniformBeam, Om: float) -> Array:
    """The four end conditions applied to the four waves, (4, 4); the rows have largest entry 1."""
    om2 = Om**2
    at_ends = waves(wave_numbers(om2, beam.r2, beam.s2), om2, beam.s2, np.array([0.0, 1.0]))
    start, end = (Waves(*(part[:, i] for part in at_ends)) for i in (0, 1))
    loads = beam.loads
    rows = _held(beam.ends[0], start, 0.0, -om2 * loads.hub_inertia)
    rows += _held(beam.ends[1], end, om2 * loads.tip_mass, om2 * loads.tip_inertia)
    return np.array([row / np.abs(row).max() for row in rows])


def _held(end: str, at: Waves, mass: float, inertia: float) -> list[Array]:
    """What must vanish at an end; mass and inertia are those beyond it, times om2, negative at the start."""
    moment, force = at.moment - inertia * at.rotation, at.force - mass * at.y
    return {"c": [at.y, at.rotation], "s": [at.y, moment], "f": [force, moment]}[end]


def _isolated(beam: UniformBeam, number: int) -> tuple[float, float, int]:
    """An interval with this mode alone in it and a sign change of the determinant; or of rounding width.

    With it the number of modes that are in the interval too, below this one."""
    target = number + beam.n_rigid
    low, high, below = 0.0, ((number + 1) * np.pi) ** 2, beam.n_rigid
    while (above := count(beam, high)) < target:
        low, below, high = high, above, 2 * high
    while high - low > ROUNDING * high:
        is_alone = below == target - 1 and above == target and low > 0.8 * high
        if is_alone and (end_determinant(beam, low) > 0) != (end_determinant(beam, high) > 0):
            return low, high, 0
        middle = 0.5 * (low + high)
        n = count(beam, middle)
        low, below, high, above = (middle, n, high, above) if n < target else (low, below, middle, n)
    return low, high, target - 1 - below


def count(beam: UniformBeam, Om: float) -> int:
    """Modes below Om, rigid ones included, pure shear not."""
    n = modes_below(Om**2, beam.ends, beam.r2, beam.s2, beam.loads)
    is_sheared = beam.has_pure_shear and Om**2 * beam.r2 * beam.s2 > 1
    return n - 1 if is_sheared else n

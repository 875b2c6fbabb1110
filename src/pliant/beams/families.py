"""The shapes of a beam, family by family: y bending, z bending, stretch, torsion."""

from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.beams import uniform_modes, varying_modes
from pliant.beams.polynomials import axial_polynomial, polynomial
from pliant.beams.sampled import sampled_axial, sampled_bending
from pliant.beams.shapes import PieceShape, Shape, SineShape, WaveShape, all_normalised
from pliant.beams.uniform_modes import EndLoads, UniformBeam
from pliant.beams.varying_modes import VaryingBeam
from pliant.model.flexible import AxialShapes, Beam, Bending, TaperedSection
from pliant.model.sections import BeamValues, beam_values, breakpoints, material_values, section_values

Array = NDArray[np.float64]
Plane = Literal["y", "z"]  # of bending: x-y or x-z
Found = tuple[float, WaveShape | PieceShape]  # frequency [rad/s] and shape of any size


class BendingMode(NamedTuple):
    """A shape, and the frequency of the beam that has it as a mode [rad/s] (polynomials: none)."""

    shape: Shape
    omega: float | None


class BeamShapes(NamedTuple):
    """All shapes of a beam, in the order of its modal coordinates."""

    y: tuple[Shape, ...]
    z: tuple[Shape, ...]
    stretch: tuple[Shape, ...]
    torsion: tuple[Shape, ...]
    highest: int  # mode number (of polynomials: that of the last)

    @property
    def n_modes(self) -> int:
        return len(self.y) + len(self.z) + len(self.stretch) + len(self.torsion)


@lru_cache(maxsize=64)
def beam_shapes(beam: Beam) -> BeamShapes:
    """The shapes that the beam asks for; the last ones are kept."""
    y = [mode.shape for mode in bending_modes(beam, "y")]
    z = [mode.shape for mode in bending_modes(beam, "z")]
    bent = [number for plane in (beam.bending_y, beam.bending_z) if plane is not None for number in plane.numbers]
    return BeamShapes(
        tuple(y),
        tuple(z),
        axial_shapes(beam.length, beam.stretch),
        axial_shapes(beam.length, beam.torsion),
        max([0, *bent, *beam.stretch.numbers, *beam.torsion.numbers]),
    )


def axial_shapes(length: float, axial: AxialShapes) -> tuple[Shape, ...]:
    """Of stretch or torsion."""
    if axial.samples is not None:
        return tuple(sampled_axial(length, axial.samples, number) for number in axial.numbers)
    make = axial_polynomial if axial.family == "polynomials" else SineShape
    return tuple(make(length, number) for number in axial.numbers)


def bending_modes(beam: Beam, plane: Plane) -> list[BendingMode]:
    """Shapes of one plane, normalised, with their frequencies."""
    bending = beam.bending_y if plane == "y" else beam.bending_z
    if bending is None or not bending.numbers:
        return []
    if bending.samples is not None:
        return [BendingMode(sampled_bending(beam.length, bending.samples, n), None) for n in bending.numbers]
    if bending.family == "polynomials":
        shear = _mean_shear(beam, plane)
        return [BendingMode(polynomial(beam.length, number, shear), None) for number in bending.numbers]
    section = beam.section if beam.shapes_from is None else beam.shapes_from.section
    found = (_varying if isinstance(section, TaperedSection) else _uniform)(beam, bending, plane)
    seen = [_from_hub(shape) if bending.hub_inertia is not None else shape for _, shape in found]
    shapes = all_normalised(seen, beam.length, bending.numbers, bending.scale)
    return [BendingMode(shape, omega) for shape, (omega, _) in zip(shapes, found, strict=True)]


def _source_values(beam: Beam, x: Array) -> BeamValues:
    """What the shapes are computed from."""
    if beam.shapes_from is None:
        return beam_values(beam, x)
    source = beam.shapes_from
    return material_values(source.material, section_values(source.section, x / beam.length))


class _Plane(NamedTuple):
    """Of one plane, in SI units, at many places. The inertia of the sections is mass x I / A, whatever `rotary` is."""

    mass: Array
    bend: Array
    shear: Array
    rotary: Array


def _plane_values(beam: Beam, plane: Plane, x: Array) -> _Plane:
    values = _source_values(beam, x)
    section = values.section
    if plane == "y":
        return _Plane(values.mass, values.bend_y, values.shear_y, values.mass * section.moment_z / section.area)
    return _Plane(values.mass, values.bend_z, values.shear_z, values.mass * section.moment_y / section.area)


def _mean_shear(beam: Beam, plane: Plane) -> float:
    """EI / (kGA length^2), the mean along the beam; 0 without shear."""
    if not beam.has_shear:
        return 0.0
    values = _plane_values(beam, plane, np.linspace(0.0, beam.length, 33))
    return float(np.mean(values.bend / values.shear)) / beam.length**2


def _ends(bending: Bending) -> str:
    """A start clamped to a rotating hub is a hinge with the hub's inertia."""
    return bending.ends if bending.hub_inertia is None else "s" + bending.ends[1]


def _loads(bending: Bending, mass: float, length: float) -> EndLoads:
    m, J = mass * length, mass * length**3
    return EndLoads(bending.tip_mass / m, bending.tip_inertia / J, (bending.hub_inertia or 0.0) / J)


def _uniform(beam: Beam, bending: Bending, plane: Plane) -> list[Found]:
    mass, bend, shear, rotary = (float(part[0]) for part in _plane_values(beam, plane, np.zeros(1)))
    L = beam.length
    r2, s2 = (rotary / (mass * L**2), bend / (shear * L**2)) if beam.has_shear else (0.0, 0.0)
    unit = UniformBeam(_ends(bending), r2, s2, _loads(bending, mass, L))
    found = (uniform_modes.mode(unit, number, L) for number in bending.numbers)
    return [(Om * float(np.sqrt(bend / mass)) / L**2, shape) for Om, shape in found]


def _varying(beam: Beam, bending: Bending, plane: Plane) -> list[Found]:
    L = beam.length
    start = _plane_values(beam, plane, np.zeros(1))
    mass, bend = float(start.mass[0]), float(start.bend[0])
    source = beam.section if beam.shapes_from is None else beam.shapes_from.section
    unit = VaryingBeam(
        ends=_ends(bending),
        breaks=tuple(breakpoints(source).tolist()),
        bend=lambda xi: _plane_values(beam, plane, L * xi).bend / bend,
        mass=lambda xi: _plane_values(beam, plane, L * xi).mass / mass,
        shear=(lambda xi: _plane_values(beam, plane, L * xi).shear * L**2 / bend) if beam.has_shear else None,
        rotary=(lambda xi: _plane_values(beam, plane, L * xi).rotary / (mass * L**2)) if beam.has_shear else None,
        loads=_loads(bending, mass, L),
    )
    found = varying_modes.modes(unit, max(bending.numbers), L)
    chosen = (found[number - 1] for number in bending.numbers)
    return [(Om * float(np.sqrt(bend / mass)) / L**2, shape) for Om, shape in chosen]


def _from_hub(shape: WaveShape | PieceShape) -> Shape:
    """The shape as seen from the section at its start."""
    turn = float(shape.at(np.zeros(1)).rotation[0])
    return shape.turned(-turn * shape.length)

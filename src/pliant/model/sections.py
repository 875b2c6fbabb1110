"""What a section gives: areas, moments, stiffnesses and masses along the beam."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.model.flexible import Beam, Material, TaperedSection

Array = NDArray[np.float64]

ZETA_5 = 1.0369277551433699  # sum of 1/n^5


class SectionValues(NamedTuple):
    """Of a section, at many places: arrays of one length, and what holds all along."""

    area: Array  # [m^2]
    moment_y: Array  # second moment about y [m^4]
    moment_z: Array  # second moment about z [m^4]
    torsion: Array  # constant [m^4]
    shear_y: Array  # factor of shear along y
    shear_z: Array  # factor of shear along z
    outer_y: Array | None  # from the axis to the farthest fibre along y [m]; None: not known
    outer_z: Array | None  # along z [m]
    is_round: bool = False  # the fibres lie on a circle, else at the corners


class BeamValues(NamedTuple):
    """Of a beam, at many places: arrays of one length."""

    mass: Array  # per length [kg/m]
    rotary: Array  # inertia per length about x, y, z, (3, n) [kg m]
    stretch: Array  # EA [N]
    bend_y: Array  # E I_z, of bending in x-y [N m^2]
    bend_z: Array  # E I_y, of bending in x-z [N m^2]
    twist: Array  # GJ [N m^2]
    shear_y: Array  # kGA along y [N]
    shear_z: Array  # kGA along z [N]
    section: SectionValues


def section_values(section: Any, xi: Array) -> SectionValues:
    """At fractions xi of the length; dimensions of a tapered section are straight lines between its stations."""
    plain = section.sections[0] if isinstance(section, TaperedSection) else section
    names = [name for name in plain.__dataclass_fields__ if name != "kind" and getattr(plain, name) is not None]
    if isinstance(section, TaperedSection):
        stations = np.array(section.stations)
        sizes = {name: np.interp(xi, stations, [getattr(one, name) for one in section.sections]) for name in names}
    else:
        sizes = {name: np.full(np.shape(xi), getattr(plain, name)) for name in names}
    return FORMULAS[plain.kind](**sizes)


def beam_values(beam: Beam, x: Array) -> BeamValues:
    """Stiffness and inertia of the beam at x."""
    values = section_values(beam.section, x / beam.length)
    if beam.shear_factor is not None:
        factor = np.full(np.shape(x), beam.shear_factor)
        values = values._replace(shear_y=factor, shear_z=factor)
    mass = None if beam.mass_per_length is None else np.full(np.shape(x), beam.mass_per_length)
    made = material_values(beam.material, values, mass)
    if beam.rotary_inertia is None:
        return made
    return made._replace(rotary=np.outer(beam.rotary_inertia, np.ones(np.shape(x))))


def rigid_moments(beam: Beam) -> tuple[float, Array, Array]:
    """Of the undeformed beam: mass, mass centre (3), inertia about its start (3, 3) with that of its sections."""
    stations = breakpoints(beam.section) * beam.length
    nodes, weights = np.polynomial.legendre.leggauss(12)
    half = 0.5 * np.diff(stations)[:, None]
    x = (0.5 * (stations[1:] + stations[:-1])[:, None] + half * nodes).ravel()
    weights = (half * weights).ravel()
    values = beam_values(beam, x)
    lumps = beam.point_masses
    x = np.concatenate([x, [one.x for one in lumps]])
    dm = np.concatenate([weights * values.mass, [one.mass for one in lumps]])
    turning = values.rotary @ weights if beam.rotary != "none" else np.zeros(3)
    turning = turning + sum((np.array(one.inertia) for one in lumps), np.zeros(3))
    inertia = np.diag(turning + (dm @ x**2) * np.array([0.0, 1.0, 1.0]))
    return float(dm.sum()), np.array([dm @ x / dm.sum(), 0.0, 0.0]), inertia


def material_values(material: Material, section: SectionValues, mass: Array | None = None) -> BeamValues:
    """A section filled with a material; mass per length as given, or by density."""
    E, G = material.young, material.shear
    mass = material.density * section.area if mass is None else mass
    density = mass / section.area
    moments = np.array([section.moment_y + section.moment_z, section.moment_y, section.moment_z])
    return BeamValues(
        mass=mass,
        rotary=density * moments,
        stretch=E * section.area,
        bend_y=E * section.moment_z,
        bend_z=E * section.moment_y,
        twist=G * section.torsion,
        shear_y=section.shear_y * G * section.area,
        shear_z=section.shear_z * G * section.area,
        section=section,
    )


def breakpoints(section: Any) -> Array:
    """Fractions of the length between which the section is smooth, 0 and 1 included."""
    return np.array(section.stations if isinstance(section, TaperedSection) else (0.0, 1.0))


def _rectangle(width: Array, height: Array) -> SectionValues:
    factor = np.full_like(width, 5 / 6)
    torsion = _rectangle_torsion(np.maximum(width, height), np.minimum(width, height))
    return SectionValues(
        width * height, width * height**3 / 12, height * width**3 / 12, torsion, factor, factor, width / 2, height / 2
    )


def _rectangle_torsion(long: Array, short: Array) -> Array:
    """Saint-Venant's series; the tail that decays slowly is summed by the zeta function."""
    total = np.full_like(long, 31 / 32 * ZETA_5)
    for n in range(1, 26, 2):
        total -= (1 - np.tanh(0.5 * n * np.pi * long / short)) / n**5
    return np.asarray(long * short**3 / 3 * (1 - 192 / np.pi**5 * short / long * total))


def _circle(radius: Array) -> SectionValues:
    return _round_tube(radius, np.zeros_like(radius))


def _round_tube(outer_radius: Array, inner_radius: Array) -> SectionValues:
    """Shear factor of Cowper (1966) without Poisson's effect, as for the other sections: 6/7 solid, 1/2 thin."""
    moment = np.pi * (outer_radius**4 - inner_radius**4) / 4
    m2 = (inner_radius / outer_radius) ** 2
    factor = 6 * (1 + m2) ** 2 / (7 * (1 + m2) ** 2 + 20 * m2)
    area = np.pi * (outer_radius**2 - inner_radius**2)
    return SectionValues(area, moment, moment, 2 * moment, factor, factor, outer_radius, outer_radius, is_round=True)


def _box_tube(width: Array, height: Array, wall: Array) -> SectionValues:
    """Torsion by Bredt's formula and shear by Cowper's, both on the middle line of thin walls."""
    b, h = width - wall, height - wall
    inner_b, inner_h = width - 2 * wall, height - 2 * wall
    return SectionValues(
        area=width * height - inner_b * inner_h,
        moment_y=(width * height**3 - inner_b * inner_h**3) / 12,
        moment_z=(height * width**3 - inner_h * inner_b**3) / 12,
        torsion=2 * wall * (b * h) ** 2 / (b + h),
        shear_y=_box_shear(h / b),
        shear_z=_box_shear(b / h),
        outer_y=width / 2,
        outer_z=height / 2,
    )


def _box_shear(m: Array) -> Array:
    """Of a thin box with equal walls, m = edge across / edge along the shear force."""
    return np.asarray(10 * (1 + 3 * m) ** 2 / (12 + 72 * m + 150 * m**2 + 90 * m**3 + 30 * m**2 * (m + m**2)))


def _given(
    area: Array,
    second_moment_y: Array,
    second_moment_z: Array,
    shear_factor_y: Array,
    shear_factor_z: Array,
    torsion_constant: Array | None = None,
    outer_y: Array | None = None,
    outer_z: Array | None = None,
) -> SectionValues:
    torsion = second_moment_y + second_moment_z if torsion_constant is None else torsion_constant
    return SectionValues(
        area, second_moment_y, second_moment_z, torsion, shear_factor_y, shear_factor_z, outer_y, outer_z
    )


FORMULAS: dict[str, Callable[..., SectionValues]] = {
    "rectangle": _rectangle,
    "circle": _circle,
    "round-tube": _round_tube,
    "box-tube": _box_tube,
    "given": _given,
}

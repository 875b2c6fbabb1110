"""Flexible links as a user writes them: material, section, beam, its shapes and its damping. Data only, checked.

The beam lies along x of the body frame. Bending y moves it in the x-y plane (second moment about z), bending z in the
x-z plane (second moment about y). Shapes and integrals are computed from this data in pliant.beams."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field

from pliant.model.messages import in_si, listed, refuse, shown
from pliant.model.quantities import Many, Name, NonNegative, Number, Numbers, Positive, Vector, described

NO_FIBRE = "strain and stress need the distance of the outer fibres; give its sections outer_y and outer_z"

MAX_MODES = 200  # the highest mode of a family: enough for any beam, few enough to compute
MAX_POLYNOMIAL = 40  # the highest one: frequencies keep seven digits, with 60 of them six, with 100 four
MAX_FOURTH_ORDER = 16  # bending modes whose products by four are counted

PAIRS = ("ss", "cc", "sc", "cs", "cf", "fc", "ff", "sf", "fs")


def _end_letters(value: Any) -> Any:
    if isinstance(value, str) and value not in PAIRS:
        raise ValueError(
            f"{shown(value)} is no pair of ends; give a letter for the inboard end and one for the outboard end, "
            f'c clamped, s supported, f free, as in "cf" (allowed: {", ".join(PAIRS)})'
        )
    return value


Ends = Annotated[Literal["ss", "cc", "sc", "cs", "cf", "fc", "ff", "sf", "fs"], BeforeValidator(_end_letters)]

# linear: none; stiffened: a geometric stiffness of first order; high-order: the beam gets shorter by bending;
# fourth-order: shortening, section angles and bending energy to the fourth order of the slopes
Coupling = Literal["high-order", "linear", "stiffened", "fourth-order"]
COUPLINGS: tuple[str, ...] = get_args(Coupling)


@described
class Material:
    """An isotropic elastic material. Give the shear modulus or Poisson's ratio; 0.3 if neither."""

    young: Positive  # modulus of elasticity [Pa]
    density: Positive  # [kg/m^3]
    shear_modulus: Positive | None = None  # [Pa]
    poisson: Annotated[Number, Field(gt=-1)] | None = None  # ratio
    name: Name | None = None  # for the reader

    def __post_init__(self) -> None:
        if self.shear_modulus is not None and self.poisson is not None:
            raise ValueError("shear_modulus and poisson are both given; leave one of them out")

    @property
    def shear(self) -> float:
        """Shear modulus [Pa]."""
        if self.shear_modulus is not None:
            return self.shear_modulus
        return self.young / (2 * (1 + (0.3 if self.poisson is None else self.poisson)))


@described
class Rectangle:
    """A solid rectangle."""

    width: Positive  # edge along y [m]
    height: Positive  # edge along z [m]
    kind: Literal["rectangle"] = "rectangle"  # of section


@described
class Circle:
    """A solid circle."""

    radius: Positive  # [m]
    kind: Literal["circle"] = "circle"  # of section


@described
class RoundTube:
    """A circular tube."""

    outer_radius: Positive  # [m]
    inner_radius: NonNegative  # [m]
    kind: Literal["round-tube"] = "round-tube"  # of section

    def __post_init__(self) -> None:
        if self.inner_radius >= self.outer_radius:
            inner, outer = self.inner_radius, self.outer_radius
            raise ValueError(f"inner_radius {inner} m is not below outer_radius {outer} m; swap or correct them")


@described
class BoxTube:
    """A rectangular tube, the same wall all round. Torsion and shear as for thin walls."""

    width: Positive  # outer edge along y [m]
    height: Positive  # outer edge along z [m]
    wall: Positive  # thickness [m]
    kind: Literal["box-tube"] = "box-tube"  # of section

    def __post_init__(self) -> None:
        if 2 * self.wall >= min(self.width, self.height):
            smaller = min(self.width, self.height)
            raise ValueError(
                f"wall {self.wall} m leaves no hollow in {smaller} m; give less than half of it, or a rectangle"
            )


@described
class GivenSection:
    """A section by its numbers."""

    area: Positive  # [m^2]
    second_moment_y: Positive  # about y: stiffness of bending z [m^4]
    second_moment_z: Positive  # about z: stiffness of bending y [m^4]
    torsion_constant: Positive | None = None  # [m^4]; the sum of the second moments unless given
    shear_factor_y: Positive = 5 / 6  # of shear along y
    shear_factor_z: Positive = 5 / 6  # of shear along z
    outer_y: Positive | None = None  # from the axis to the farthest fibre along y, for stresses [m]
    outer_z: Positive | None = None  # along z [m]
    kind: Literal["given"] = "given"  # of section


PLAIN_SECTIONS = (Rectangle, Circle, RoundTube, BoxTube, GivenSection)
_Plain = Annotated[Rectangle | Circle | RoundTube | BoxTube | GivenSection, Field(discriminator="kind")]


@described
class TaperedSection:
    """Sections of one kind along the beam; between two of them every dimension is a straight line."""

    sections: Annotated[Many[_Plain], Field(min_length=2)]  # from the inboard end on
    at: Numbers | None = None  # where, as fractions of the length, 0 to 1; evenly spaced unless given
    kind: Literal["tapered"] = "tapered"  # of section

    def __post_init__(self) -> None:
        refuse(_taper_problems(self))

    @property
    def stations(self) -> tuple[float, ...]:
        """Fractions of the length."""
        last = len(self.sections) - 1
        return self.at if self.at is not None else tuple(i / last for i in range(last + 1))


def _taper_problems(taper: TaperedSection) -> Iterator[str]:
    kinds = sorted({section.kind for section in taper.sections})
    if len(kinds) > 1:
        yield f"the sections are of several kinds ({listed(kinds)}); give one kind, or all as kind = given"
    for key in ("torsion_constant", "outer_y", "outer_z"):
        if len({getattr(section, key, 0.0) is None for section in taper.sections}) > 1:
            yield f"{key} is given for some sections only; give it for all or for none"
    if taper.at is None:
        return
    if len(taper.at) != len(taper.sections):
        yield f"{len(taper.sections)} sections but {len(taper.at)} places in `at`; give one place per section"
    elif taper.at[0] != 0 or taper.at[-1] != 1 or any(b <= a for a, b in pairwise(taper.at)):
        yield f"at {shown(taper.at)} must rise from 0 (inboard end) to 1 (outboard end)"


SECTIONS = (*PLAIN_SECTIONS, TaperedSection)


def _section(value: Any) -> Any:
    if isinstance(value, SECTIONS) or (isinstance(value, dict) and "kind" in value):
        return value
    kinds = listed(section.kind for section in SECTIONS)
    raise ValueError(f"{shown(value)} is no section; give a table with kind = one of {kinds}")


_Section = Annotated[
    Rectangle | Circle | RoundTube | BoxTube | GivenSection | TaperedSection, Field(discriminator="kind")
]
Section = Annotated[_Section, BeforeValidator(_section, json_schema_input_type=_Section)]


def _modes(value: Any) -> Any:
    is_list = isinstance(value, (list, tuple))
    numbers, least = (value, 1) if is_list else ([value], 0)
    whole = [n for n in numbers if isinstance(n, int) and not isinstance(n, bool) and least <= n <= MAX_MODES]
    if len(whole) < len(numbers) or len(set(whole)) < len(numbers):
        raise ValueError(
            f"{shown(value)}: give how many modes (0 or more, at most {MAX_MODES}), or a list of numbers from 1, "
            "each once"
        )
    return tuple(value) if is_list else value


# how many modes from the first on, or their numbers
if TYPE_CHECKING:  # more forms may be given than a field then has
    Modes: TypeAlias = Any
else:
    Modes = Annotated[int | tuple[int, ...], BeforeValidator(_modes, json_schema_input_type=int | list[int])]


def mode_numbers(modes: int | tuple[int, ...]) -> tuple[int, ...]:
    """Of the modes asked for, from 1."""
    return tuple(range(1, modes + 1)) if isinstance(modes, int) else modes


@described
class SampledShapes:
    """Shapes by their values along the beam, joined by cubic splines; held at the start: the first value is 0."""

    at: Annotated[Numbers, Field(min_length=4)]  # places as fractions of the length, from 0 to 1
    values: Annotated[tuple[Numbers, ...], Field(min_length=1)]  # one row per shape, one value per place
    rotations: tuple[Numbers, ...] | None = None  # of the sections [1/m], of beams with shear; as values

    def __post_init__(self) -> None:
        refuse(_sample_problems(self))


def _sample_problems(samples: SampledShapes) -> Iterator[str]:
    at = samples.at
    if at[0] != 0 or at[-1] != 1 or any(b <= a for a, b in pairwise(at)):
        yield f"at {shown(at)} must rise from 0 (inboard end) to 1 (outboard end)"
    tables = {"values": samples.values} | ({"rotations": samples.rotations} if samples.rotations is not None else {})
    for name, rows in tables.items():
        if len(rows) != len(samples.values):
            yield f"{name}: {len(rows)} shapes, but {len(samples.values)} in values; give one row per shape"
        for k, row in enumerate(rows):
            if len(row) != len(at):
                yield f"{name}[{k}]: {len(row)} numbers for {len(at)} places; give one per place"
            elif row[0] != 0:
                yield f"{name}[{k}] begins with {row[0]:g}; the beam is held at its start: give 0 there"
    if all(len(row) == len(at) for row in samples.values):
        rank = np.linalg.matrix_rank(np.array(samples.values))
        if rank < len(samples.values):
            yield f"values: only {rank} of {len(samples.values)} shapes are independent; leave out those that are sums"


def _family_problems(family: str, modes: int | tuple[int, ...], samples: SampledShapes | None) -> Iterator[str]:
    """Whether samples are given exactly where they are used, and polynomials keep their digits."""
    if family == "polynomials" and max(mode_numbers(modes), default=0) > MAX_POLYNOMIAL:
        yield (
            f"modes {shown(modes)}: polynomials lose their digits beyond number {MAX_POLYNOMIAL}; give fewer, or "
            "another family"
        )
    if (family == "samples") != (samples is not None):
        yield 'give samples together with family = "samples", or leave out both'
    elif samples is not None and max(mode_numbers(modes), default=0) > len(samples.values):
        yield f"modes {shown(modes)}: samples has {len(samples.values)} shapes; give numbers of these"
    elif samples is not None and isinstance(modes, int) and modes < len(samples.values):
        yield f"modes {modes}: samples has {len(samples.values)} shapes; give modes = {len(samples.values)}, or a list"


@described
class AxialShapes:
    """The shapes of stretch or torsion, held at the start.

    sines: sin((2j - 1) pi x / 2 length), j = 1, 2, ..; polynomials: xi P_j(2 xi - 1), xi = x / length, j = 0, 1, .."""

    modes: Modes = 1  # how many from the first on, or their numbers
    family: Literal["sines", "polynomials", "samples"] = "sines"  # of shapes
    samples: SampledShapes | None = None  # of family samples

    def __post_init__(self) -> None:
        refuse(_family_problems(self.family, self.modes, self.samples))

    @property
    def numbers(self) -> tuple[int, ...]:
        """Of the shapes, from 1."""
        return mode_numbers(self.modes)


@described
class Bending:
    """The shapes of one bending plane.

    modes: exact vibration modes for the ends (s supported, c clamped, f free; first the inboard end), counted from 1;
    motions as a rigid body are left out. Loads at the ends change the modes only: their inertia in the motion is that
    of the bodies there. With hub_inertia the modes are those of hub and beam rotating freely, seen from the hub.
    polynomials: xi^2 P_j(2 xi - 1), j = 0, 1, .., clamped at the start, whatever happens at the end; with shear the
    deflection has what the shear force of this bending adds. samples: shapes by their values, clamped at the start."""

    modes: Modes = 1  # how many from the first on, or their numbers
    ends: Ends = "cf"  # of the modes
    family: Literal["modes", "polynomials", "samples"] = "modes"  # of shapes
    samples: SampledShapes | None = None  # of family samples
    normalise: Literal["auto", "max", "tip"] = "auto"  # tip or largest value 1; auto: tip if it is free and bare
    tip_mass: NonNegative = 0.0  # that loads the modes [kg]
    tip_inertia: NonNegative = 0.0  # that loads the modes [kg m^2]
    hub_inertia: NonNegative | None = None  # of a rotating hub the start is clamped to [kg m^2]

    def __post_init__(self) -> None:
        refuse(_bending_problems(self))

    @property
    def numbers(self) -> tuple[int, ...]:
        """Of the modes, from 1."""
        return mode_numbers(self.modes)

    @property
    def scale(self) -> Literal["max", "tip"]:
        """What is 1."""
        if self.normalise == "auto":
            return "tip" if self.ends[1] == "f" and not self.is_loaded else "max"
        return self.normalise

    @property
    def is_free_at_start(self) -> bool:
        """Whether the shapes move the origin of the body frame: only for a body on a floating or planar joint."""
        return self.ends[0] == "f"

    @property
    def is_loaded(self) -> bool:
        return bool(self.tip_mass or self.tip_inertia) or self.hub_inertia is not None


def _bending_problems(bending: Bending) -> Iterator[str]:
    start, end = bending.ends
    if bending.normalise == "tip" and end != "f":
        yield f'ends "{bending.ends}" hold the tip, its value cannot be 1; give normalise = "max"'
    if bending.tip_mass and end != "f":
        yield f'tip_mass does nothing at an end that is held (ends "{bending.ends}"); give a pair ending in f'
    if bending.tip_inertia and end == "c":
        yield f'tip_inertia does nothing at a clamped end (ends "{bending.ends}"); give a pair ending in f or s'
    if bending.hub_inertia is not None and start != "c":
        yield f'hub_inertia needs a start clamped to the hub, not ends "{bending.ends}"; give a pair starting with c'
    if bending.family != "modes" and (bending.ends != "cf" or bending.is_loaded):
        yield f'{bending.family} know no ends and no loads; leave them out, or give family = "modes"'
    yield from _family_problems(bending.family, bending.modes, bending.samples)


def _bending(value: Any) -> Any:
    """A number, or a list of numbers, is the modes."""
    is_modes = isinstance(value, (int, list, tuple)) and not isinstance(value, bool)
    return {"modes": value} if is_modes else value


if TYPE_CHECKING:  # more forms may be given than a field then has
    Plane: TypeAlias = Any
    Axial: TypeAlias = Any
else:
    Plane = Annotated[Bending, BeforeValidator(_bending, json_schema_input_type=Modes | Bending)]
    Axial = Annotated[AxialShapes, BeforeValidator(_bending, json_schema_input_type=Modes | AxialShapes)]
NO_SHAPES = AxialShapes(0)


@described
class Damping:
    """Of the beam; what is given adds up."""

    air: NonNegative = 0.0  # on the bending velocity, per length [kg/(m s)]
    kelvin_voigt: NonNegative = 0.0  # viscosity against bending, stretch and torsion rates [Pa s]
    ratio: NonNegative = 0.0  # of every mode of the beam alone to its critical damping
    stiffness_time: NonNegative = 0.0  # damping = this x stiffness [s]


def _damping(value: Any) -> Any:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if isinstance(value, str):
        ratio = f"the ratio of every mode{in_si(value)}"
        raise ValueError(f"found {shown(value)}; give a plain number, {ratio}, or a table")
    return {"ratio": value} if is_number else value


if TYPE_CHECKING:
    AnyDamping: TypeAlias = Any
else:
    AnyDamping = Annotated[Damping, BeforeValidator(_damping, json_schema_input_type=NonNegative | Damping)]


@described
class ShapeSource:
    """A material and a section from which shapes are computed."""

    material: Material  # of the shapes
    section: Section  # of the shapes


@described
class PointMass:
    """A mass on the beam's axis: a lump at an end, a payload. It has moments of inertia only at a clamped inboard end;
    elsewhere, and off the axis, it is a body of its own, welded to the beam."""

    mass: Positive  # [kg]
    x: NonNegative  # from the inboard end [m]
    inertia: Vector = (0.0, 0.0, 0.0)  # moments of inertia about x, y, z, at the inboard end [kg m^2]

    def __post_init__(self) -> None:
        if min(self.inertia) < 0:
            raise ValueError(f"inertia {shown(self.inertia)} has a negative moment; give 0 or more about x, y and z")


@described
class Beam:
    """A flexible link: a beam along x from the origin of its body frame. What is left out comes from the section.

    rotary: inertia of the rotating sections. "section": with the bending rates; "frame": with the body frame only;
    "none". Bodies at the ends are bodies of their own, welded to it."""

    name: Name  # of the link and of its frame
    length: Positive  # [m]
    material: Material  # young, density, ...
    section: Section  # constant or tapered
    bending_y: Plane | None = None  # shapes in the x-y plane, or just how many
    bending_z: Plane | None = None  # shapes in the x-z plane, or just how many
    stretch: Axial = NO_SHAPES  # shapes along the axis, or just how many sines
    torsion: Axial = NO_SHAPES  # the same of the angle about it
    theory: Literal["timoshenko", "euler-bernoulli"] = "timoshenko"  # of bending
    coupling: Coupling = "high-order"  # of bending and axial motion
    rotary: Literal["section", "frame", "none"] = "section"  # inertia of the sections
    damping: AnyDamping = Damping()  # of the material and the air; a number is the ratio of every mode
    point_masses: Many[PointMass] = ()  # on the axis
    mass_per_length: Positive | None = None  # [kg/m]
    rotary_inertia: Vector | None = None  # per length, about x, y, z [kg m]
    shear_factor: Positive | None = None  # of both planes
    shapes_from: ShapeSource | None = None  # another material and section for the modes; energies stay the beam's own
    q0: Numbers | None = None  # modal coordinates at the start, default 0 [m, torsion: rad]
    v0: Numbers | None = None  # their rates at the start, default 0 [m/s, rad/s]
    kind: Literal["beam"] = "beam"  # of body

    def __post_init__(self) -> None:
        refuse(_beam_problems(self))

    @property
    def families(self) -> tuple[int, int, int, int]:
        """How many modal coordinates: bending y, bending z, stretch, torsion."""
        y, z = (len(plane.numbers) if plane is not None else 0 for plane in (self.bending_y, self.bending_z))
        return y, z, len(self.stretch.numbers), len(self.torsion.numbers)

    @property
    def n_modes(self) -> int:
        return sum(self.families)

    @property
    def start(self) -> tuple[float, ...]:
        """Modal coordinates at the start."""
        return (0.0,) * self.n_modes if self.q0 is None else self.q0

    @property
    def start_rate(self) -> tuple[float, ...]:
        return (0.0,) * self.n_modes if self.v0 is None else self.v0

    @cached_property
    def _rigid(self) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        from pliant.model.sections import rigid_moments

        return rigid_moments(self)

    @property
    def total_mass(self) -> float:
        return self._rigid[0]

    @property
    def centre(self) -> NDArray[np.float64]:
        """Mass centre of the undeformed beam in the body frame [m]."""
        return self._rigid[1]

    @property
    def inertia_about_origin(self) -> NDArray[np.float64]:
        """Of the undeformed beam."""
        return self._rigid[2]

    @property
    def inertia_about_centre(self) -> NDArray[np.float64]:
        c = self.centre
        return self.inertia_about_origin - self.total_mass * (c @ c * np.eye(3) - np.outer(c, c))

    @property
    def is_free_at_start(self) -> bool:
        """Whether its shapes move the origin of the body frame: only for a body on a floating or planar joint."""
        return any(plane is not None and plane.is_free_at_start for plane in (self.bending_y, self.bending_z))

    @property
    def tilts_start(self) -> bool:
        """Whether its shapes rotate its first section."""
        planes = (plane for plane in (self.bending_y, self.bending_z) if plane is not None)
        return any(plane.numbers and plane.ends[0] != "c" for plane in planes)

    @property
    def coupling_order(self) -> int:
        """Of the slopes that its coupling counts."""
        return {"linear": 1, "stiffened": 2, "high-order": 2, "fourth-order": 4}[self.coupling]

    @property
    def is_stiffened(self) -> bool:
        """Whether it has a geometric stiffness that takes two solves."""
        return self.coupling == "stiffened" and any(self.families[:2])

    @property
    def has_polar_inertia(self) -> bool:
        """Whether its sections resist torsion by inertia of their own."""
        return self.rotary == "section" and (self.rotary_inertia is None or self.rotary_inertia[0] > 0)

    @property
    def has_outer_fibre(self) -> bool:
        """Whether the distances of the outer fibres are known."""
        plain = self.section.sections[0] if isinstance(self.section, TaperedSection) else self.section
        return not isinstance(plain, GivenSection) or None not in (plain.outer_y, plain.outer_z)

    @property
    def has_shear(self) -> bool:
        return self.theory == "timoshenko"


def _beam_problems(beam: Beam) -> Iterator[str]:
    n_bending = sum(beam.families[:2])
    if beam.coupling == "fourth-order" and n_bending > MAX_FOURTH_ORDER:
        yield (
            f'coupling = "fourth-order" counts at most {MAX_FOURTH_ORDER} bending modes of both planes, and these are '
            f"{n_bending}; give fewer, or divide the beam"
        )
    for field in ("q0", "v0"):
        given = getattr(beam, field)
        if given is not None and len(given) != beam.n_modes:
            yield f"{field} has {len(given)} values, but the beam has {beam.n_modes} modal coordinates; give one each"
    for mass in beam.point_masses:
        if mass.x > beam.length:
            yield f"point mass at x = {mass.x} m lies beyond the length {beam.length} m; give x within it"
        elif any(mass.inertia) and (mass.x > 0 or beam.tilts_start):
            yield (
                f"point mass at x = {mass.x} m: moments of inertia that rotate with the bending belong to a body; give "
                "a Body there, welded to the beam by a fixed joint"
            )
    if beam.rotary_inertia is not None and min(beam.rotary_inertia) < 0:
        yield f"rotary_inertia {shown(beam.rotary_inertia)} has a negative moment; give 0 or more about x, y and z"
    for plane in (beam.bending_y, beam.bending_z):
        if plane is not None and plane.samples is not None and beam.has_shear != (plane.samples.rotations is not None):
            wanted = "needs" if beam.has_shear else "has no use for"
            yield f'theory = "{beam.theory}" {wanted} rotations of its sampled shapes; change one of the two'

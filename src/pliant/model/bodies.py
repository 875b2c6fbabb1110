"""Rigid bodies, their shapes, and frames on them. Inertia is about the mass centre, in body axes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field, Tag

from pliant.model.attitudes import Attitude, attitude_matrix
from pliant.model.messages import listed, refuse, shown
from pliant.model.quantities import (
    TEXT_OR_OTHER,
    Many,
    Matrix,
    Name,
    NonNegative,
    Number,
    Positive,
    Vector,
    described,
)

Axis = Literal["x", "y", "z"]
DIRECTIONS = {"x": np.array([1.0, 0, 0]), "y": np.array([0, 1.0, 0]), "z": np.array([0, 0, 1.0])}


@described
class Rod:
    """A slender rod from the body origin along one axis. Thickness zero unless a radius is given."""

    length: Positive  # [m]
    radius: NonNegative = 0.0  # [m]
    axis: Axis = "x"  # body axis it lies along
    kind: Literal["rod"] = "rod"  # of shape

    @property
    def volume(self) -> float:
        return float(np.pi * self.radius**2 * self.length)

    @property
    def centre(self) -> NDArray[np.float64]:
        return 0.5 * self.length * DIRECTIONS[self.axis]

    @property
    def gyration(self) -> NDArray[np.float64]:
        """Inertia about the centre per mass [m^2]."""
        return _of_revolution(self.axis, 0.5 * self.radius**2, self.length**2 / 12 + 0.25 * self.radius**2)


@described
class Tube:
    """A hollow cylinder from the body origin along one axis."""

    length: Positive  # [m]
    outer_radius: Positive  # [m]
    inner_radius: NonNegative = 0.0  # [m]
    axis: Axis = "x"  # body axis it lies along
    kind: Literal["tube"] = "tube"  # of shape

    def __post_init__(self) -> None:
        if self.inner_radius >= self.outer_radius:
            inner, outer = self.inner_radius, self.outer_radius
            raise ValueError(f"inner_radius {inner} m is not below outer_radius {outer} m; swap or correct them")

    @property
    def volume(self) -> float:
        return float(np.pi * (self.outer_radius**2 - self.inner_radius**2) * self.length)

    @property
    def centre(self) -> NDArray[np.float64]:
        return 0.5 * self.length * DIRECTIONS[self.axis]

    @property
    def gyration(self) -> NDArray[np.float64]:
        squares = self.outer_radius**2 + self.inner_radius**2
        return _of_revolution(self.axis, 0.5 * squares, self.length**2 / 12 + 0.25 * squares)


@described
class Box:
    """A block with edges along the body axes, centred on `at`."""

    size: tuple[Positive, Positive, Positive]  # edges along x, y, z [m]
    at: Vector = (0.0, 0.0, 0.0)  # its centre [m]
    kind: Literal["box"] = "box"  # of shape

    @property
    def volume(self) -> float:
        return float(np.prod(self.size))

    @property
    def centre(self) -> NDArray[np.float64]:
        return np.array(self.at)

    @property
    def gyration(self) -> NDArray[np.float64]:
        x, y, z = (edge**2 / 12 for edge in self.size)
        return np.diag([y + z, x + z, x + y])


@described
class Sphere:
    """A solid ball centred on `at`."""

    radius: Positive  # [m]
    at: Vector = (0.0, 0.0, 0.0)  # its centre [m]
    kind: Literal["sphere"] = "sphere"  # of shape

    @property
    def volume(self) -> float:
        return float(4 / 3 * np.pi * self.radius**3)

    @property
    def centre(self) -> NDArray[np.float64]:
        return np.array(self.at)

    @property
    def gyration(self) -> NDArray[np.float64]:
        return 0.4 * self.radius**2 * np.eye(3)


SHAPES = (Rod, Tube, Box, Sphere)


def _shape(value: Any) -> Any:
    if isinstance(value, SHAPES) or (isinstance(value, dict) and "kind" in value):
        return value
    kinds = listed(shape.kind for shape in SHAPES)
    raise ValueError(f"{shown(value)} is no shape; give a table with kind = one of {kinds}")


_Shape = Annotated[Rod | Tube | Box | Sphere, Field(discriminator="kind")]
Shape = Annotated[_Shape, BeforeValidator(_shape, json_schema_input_type=_Shape)]


def _of_revolution(axis: Axis, along: float, across: float) -> NDArray[np.float64]:
    return across * np.eye(3) + (along - across) * np.outer(DIRECTIONS[axis], DIRECTIONS[axis])


def _inertia(value: Any) -> Any:
    """Three numbers are the diagonal, six are xx, yy, zz, xy, xz, yz (tensor entries), nine or 3x3 the whole tensor."""
    try:
        numbers = np.array(value, dtype=float)
    except Exception:  # what a caller's objects do when numpy looks at them
        numbers = np.zeros(0)
    if numbers.shape == (3,):
        return np.diag(numbers).tolist()
    if numbers.shape == (6,):
        xx, yy, zz, xy, xz, yz = numbers.tolist()
        return [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
    if numbers.shape in ((9,), (3, 3)):
        return numbers.reshape(3, 3).tolist()
    allowed = "3 numbers (xx, yy, zz), 6 (xx, yy, zz, xy, xz, yz) or 3 x 3"
    raise ValueError(f"{shown(value)} is no inertia; give {allowed} [kg m^2]")


if TYPE_CHECKING:  # more forms may be given than a field then has
    Inertia: TypeAlias = Any
else:
    Inertia = Annotated[Matrix, BeforeValidator(_inertia, json_schema_input_type=list[Number] | Matrix)]


@described
class Surface:
    """What is seen of a body: triangles between points. For pictures only."""

    points: Many[Vector]  # in body axes [m]
    faces: tuple[tuple[int, int, int], ...]  # numbers of three points each, from 0

    def __post_init__(self) -> None:
        numbers = [number for face in self.faces for number in face]
        if numbers and not 0 <= min(numbers) <= max(numbers) < len(self.points):
            raise ValueError(f"faces name point {max(numbers, key=abs)}; give numbers from 0 to {len(self.points) - 1}")


@described
class Body:
    """A rigid body. Its frame is the child frame of its inboard joint.

    Give mass (or a shape and a density), the mass centre and the inertia about it; what is left out comes from the
    shape. Without shape the mass centre is the origin and the inertia zero: a point mass."""

    name: Name  # of the body and of its frame
    mass: NonNegative | None = None  # [kg]
    com: Vector | None = None  # mass centre [m]
    inertia: Inertia | None = None  # about the mass centre: diagonal, 6 entries or 3 x 3 [kg m^2]
    shape: Shape | None = None  # gives mass centre and inertia unless they are given
    density: Positive | None = None  # of the shape, instead of the mass [kg/m^3]
    visual: Many[Surface] = ()  # what is seen, in place of the shape
    inertia_check: Literal["physical", "symmetric"] = "physical"  # "symmetric" takes what no body can have
    kind: Literal["rigid"] = "rigid"  # of body

    def __post_init__(self) -> None:
        refuse(_mass_problems(self))
        if self.inertia is not None:
            refuse(_inertia_problems(self, np.array(self.inertia)))

    @property
    def families(self) -> tuple[int, int, int, int]:
        """A rigid body has no modal coordinates."""
        return 0, 0, 0, 0

    @property
    def n_modes(self) -> int:
        return 0

    @property
    def start(self) -> tuple[float, ...]:
        return ()

    @property
    def start_rate(self) -> tuple[float, ...]:
        return ()

    @property
    def total_mass(self) -> float:
        if self.mass is not None:
            return self.mass
        return self.density * self.shape.volume if self.density and self.shape else 0.0

    @property
    def centre(self) -> NDArray[np.float64]:
        """Mass centre in the body frame [m]."""
        if self.com is not None:
            return np.array(self.com)
        return self.shape.centre if self.shape else np.zeros(3)

    @property
    def inertia_about_centre(self) -> NDArray[np.float64]:
        if self.inertia is not None:
            return np.array(self.inertia)
        return self.total_mass * self.shape.gyration if self.shape else np.zeros((3, 3))

    @property
    def inertia_about_origin(self) -> NDArray[np.float64]:
        c = self.centre
        return self.inertia_about_centre + self.total_mass * (c @ c * np.eye(3) - np.outer(c, c))


def _mass_problems(body: Body) -> Iterator[str]:
    if body.mass is None and body.density is None:
        yield "no mass is given; give mass, or a shape and a density (mass = 0 for a body without mass)"
    if body.mass is not None and body.density is not None:
        yield f"mass {body.mass} kg and density {body.density} kg/m^3 are both given; leave one of them out"
    if body.density is not None and body.shape is None:
        yield f"density {body.density} kg/m^3 needs a shape to fill; give a shape, or mass instead of density"
    if body.density is not None and body.shape is not None and body.shape.volume == 0.0:
        yield f"density {body.density} kg/m^3 gives no mass: the {body.shape.kind} has no volume; give radius or mass"
    is_odd = body.mass == 0.0 and body.inertia is not None and np.any(body.inertia)
    if is_odd and body.inertia_check == "physical":
        yield "inertia is given but the mass is 0; give the mass too, or leave the inertia out"


def _inertia_problems(body: Body, inertia: NDArray[np.float64]) -> Iterator[str]:
    """What no rigid body has; the limit of the triangle inequality (a flat body) is allowed within rounding, for
    a point mass that of a gyration radius of 3e-8 m."""
    rounding = 1e-9 * np.abs(inertia).max() + 1e-15 * body.total_mass
    if np.abs(inertia - inertia.T).max() > rounding:
        yield f"inertia {shown(inertia.tolist(), 100)} is not symmetric; give the same xy and yx, xz and zx, yz and zy"
        return
    if body.inertia_check == "symmetric":
        return
    small, middle, large = np.linalg.eigvalsh(inertia)
    advice = 'check units, signs and the point it is about (the mass centre); inertia_check = "symmetric" takes it'
    moments = f"principal moments {small:.6g}, {middle:.6g}, {large:.6g} kg m^2"
    if small < -rounding:
        yield f"inertia has a negative moment ({moments}); {advice}"
    elif large > small + middle + rounding:
        yield (f"no body has this inertia: its largest moment exceeds the sum of the others ({moments}); {advice}")


@described
class Frame:
    """A named place on a body (or on the "world"): position, and attitude relative to the body's axes.

    On a beam x of the position is the material coordinate along the axis; y and z are an offset that moves and rotates
    with the section there, and the attitude is relative to that section."""

    body: str  # that carries it, or "world"
    position: Vector = (0.0, 0.0, 0.0)  # in the body's axes [m]
    attitude: Attitude = (0.0, 0.0, 0.0, 1.0)  # quaternion, 3 x 3 matrix, or a table: axis and angle, Euler angles ..
    name: Name | None = None  # by which others refer to it

    @property
    def matrix(self) -> NDArray[np.float64]:
        return attitude_matrix(self.attitude)


# the name of a frame or of a body (its own frame) or "world", or a frame given in place
Place = Annotated[Annotated[str, Tag("text")] | Annotated[Frame, Tag("other")], TEXT_OR_OTHER]

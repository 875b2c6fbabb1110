"""Rigid bodies, their shapes, and frames on them. Inertia is about the mass centre, in body axes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag

from pliant.model.messages import listed, refuse, shown
from pliant.model.quantities import (
    TEXT_OR_OTHER,
    Angle,
    Matrix,
    Name,
    NonNegative,
    Number,
    Positive,
    Quaternion,
    Vector,
    described,
    without_direction,
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
    except (TypeError, ValueError, OverflowError):
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


Inertia = Annotated[Matrix, BeforeValidator(_inertia, json_schema_input_type=list[Number] | Matrix)]


@described
class Surface:
    """What is seen of a body: triangles between points. For pictures only."""

    points: tuple[Vector, ...]  # in body axes [m]
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
    visual: tuple[Surface, ...] = ()  # what is seen, in place of the shape
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


def rotation_matrix(axis: Any, angle: float) -> NDArray[np.float64]:
    """Turn by angle about a unit axis (Rodrigues)."""
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross)


def quaternion_matrix(quaternion: Any) -> NDArray[np.float64]:
    """Rotation matrix of a quaternion x y z w of any non-zero length."""
    x, y, z, w = np.array(quaternion, dtype=float) / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


@described
class AxisAngle:
    """A turn by `angle` about `axis`."""

    axis: Vector  # any length but 0
    angle: Angle  # [rad], or text like "30 deg"
    kind: Literal["axis-angle"] = "axis-angle"  # of attitude

    def __post_init__(self) -> None:
        refuse(filter(None, [without_direction("axis", self.axis)]))


@described
class RollPitchYaw:
    """Turns about fixed x, then fixed y, then fixed z."""

    roll: Angle = 0.0  # about x [rad], or text like "30 deg"
    pitch: Angle = 0.0  # about y [rad], or text like "30 deg"
    yaw: Angle = 0.0  # about z [rad], or text like "30 deg"
    kind: Literal["roll-pitch-yaw"] = "roll-pitch-yaw"  # of attitude


def _some_length(quaternion: tuple[float, ...]) -> tuple[float, ...]:
    if np.linalg.norm(quaternion) < 1e-6:
        raise ValueError(f"quaternion {shown(quaternion)} has no length; give x y z w, (0, 0, 0, 1) for no turn")
    return quaternion


def _rotation(matrix: Any) -> Any:
    R = np.array(matrix)
    error = np.abs(R.T @ R - np.eye(3)).max()
    if error > 1e-6 or np.linalg.det(R) < 0:
        found = "mirrors" if error <= 1e-6 else f"R^T R differs from the unit matrix by {error:.2g}"
        raise ValueError(
            f"the matrix is no rotation ({found}); give right-handed unit axes as columns, or axis and angle"
        )
    return matrix


def _attitude_form(value: Any) -> str | None:
    """Which of the four ways to give an attitude was meant; None if none of them."""
    if isinstance(value, (list, tuple)):
        rows = all(isinstance(row, (list, tuple)) for row in value)
        return "matrix" if len(value) == 3 and rows else "quaternion" if len(value) == 4 else None
    if isinstance(value, (AxisAngle, RollPitchYaw)):
        return value.kind
    if not isinstance(value, dict):
        return None
    guess = "axis-angle" if "axis" in value or "angle" in value else "roll-pitch-yaw"
    kind = value.get("kind", guess)
    return kind if kind in ("axis-angle", "roll-pitch-yaw") else None


Attitude = Annotated[
    Annotated[Quaternion, AfterValidator(_some_length), Tag("quaternion")]
    | Annotated[Matrix, AfterValidator(_rotation), Tag("matrix")]
    | Annotated[AxisAngle, Tag("axis-angle")]
    | Annotated[RollPitchYaw, Tag("roll-pitch-yaw")],
    Discriminator(
        _attitude_form,
        custom_error_type="attitude",
        custom_error_message="give a quaternion x y z w, a 3 x 3 matrix, axis and angle, or roll, pitch and yaw",
    ),
]


def attitude_matrix(attitude: Any) -> NDArray[np.float64]:
    """R turning components in the named axes into the reference axes."""
    if isinstance(attitude, AxisAngle):
        return rotation_matrix(np.array(attitude.axis) / np.linalg.norm(attitude.axis), attitude.angle)
    if isinstance(attitude, RollPitchYaw):
        x, y, z = np.eye(3)
        return rotation_matrix(z, attitude.yaw) @ rotation_matrix(y, attitude.pitch) @ rotation_matrix(x, attitude.roll)
    return quaternion_matrix(attitude) if len(attitude) == 4 else _orthonormal(np.array(attitude, dtype=float))


def _orthonormal(R: NDArray[np.float64]) -> NDArray[np.float64]:
    """The nearest rotation to a matrix written with few digits (two Newton steps of the polar factor)."""
    for _ in range(2):
        R = 0.5 * R @ (3 * np.eye(3) - R.T @ R)
    return R


@described
class Frame:
    """A named place on a body (or on the "world"): position, and attitude relative to the body's axes.

    On a beam x of the position is the material coordinate along the axis; y and z are an offset that moves and turns
    with the section there, and the attitude is relative to that section."""

    body: str  # that carries it, or "world"
    position: Vector = (0.0, 0.0, 0.0)  # in the body's axes [m]
    attitude: Attitude = (0.0, 0.0, 0.0, 1.0)  # quaternion x y z w, 3 x 3 matrix, axis and angle, or roll, pitch, yaw
    name: Name | None = None  # by which others refer to it

    @property
    def matrix(self) -> NDArray[np.float64]:
        return attitude_matrix(self.attitude)


# the name of a frame or of a body (its own frame) or "world", or a frame given in place
Place = Annotated[Annotated[str, Tag("text")] | Annotated[Frame, Tag("other")], TEXT_OR_OTHER]

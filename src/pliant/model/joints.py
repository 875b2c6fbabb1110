"""Joint kinds as rows, and the joint with all it may carry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import numpy as np
from pydantic import Discriminator, Field, Tag

from pliant.errors import ModelError
from pliant.model.attitudes import TABLES, Attitude, Pose, attitude_matrix
from pliant.model.bodies import Place
from pliant.model.friction_laws import AnyFriction
from pliant.model.messages import listed, quoted, refuse, shown
from pliant.model.quantities import (
    ONE_OR_EACH,
    TEXT_OR_OTHER,
    Angle,
    Direction,
    Name,
    NonNegative,
    Number,
    Positive,
    described,
    is_angle_text,
    without_direction,
)
from pliant.model.rotations import matrix_quaternion
from pliant.model.signals import Product, Ramp, Signal, Step, Sum
from pliant.model.transmissions import Transmission


@dataclass(frozen=True)
class JointRow:
    """One joint kind: names of its coordinates and velocities, which of them are angles, and its start at rest."""

    coordinates: tuple[str, ...]
    velocities: tuple[str, ...]
    angles: tuple[bool, ...]  # per coordinate
    rest: tuple[float, ...]
    has_axis: bool = False

    @property
    def has_plain_rates(self) -> bool:
        """Whether every velocity is the rate of the coordinate of the same number."""
        return self.coordinates == self.velocities


JOINT_KINDS: dict[str, JointRow] = {
    "fixed": JointRow((), (), (), ()),
    "revolute": JointRow(("",), ("",), (True,), (0.0,), has_axis=True),
    "prismatic": JointRow(("",), ("",), (False,), (0.0,), has_axis=True),
    "cylindrical": JointRow(("shift", "angle"), ("shift", "angle"), (False, True), (0.0, 0.0), has_axis=True),
    "universal": JointRow(("x", "y"), ("x", "y"), (True, True), (0.0, 0.0)),
    "planar": JointRow(("x", "y", "angle"), ("x", "y", "angle"), (False, False, True), (0.0, 0.0, 0.0)),
    "spherical": JointRow(("qx", "qy", "qz", "qw"), ("wx", "wy", "wz"), (False,) * 4, (0.0, 0.0, 0.0, 1.0)),
    "floating": JointRow(
        ("x", "y", "z", "qx", "qy", "qz", "qw"),
        ("vx", "vy", "vz", "wx", "wy", "wz"),
        (False,) * 7,
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0),
    ),
}
Kind = Literal["fixed", "revolute", "prismatic", "cylindrical", "universal", "planar", "spherical", "floating"]


@described
class Limit:
    """Ends of a coordinate's range. With stiffness a compliant stop; without, reaching it ends the run with a reason.

    Give lower, upper or both."""

    lower: Angle | None = None  # [m, rad]
    upper: Angle | None = None  # [m, rad]
    stiffness: Positive | None = None  # of the stop [N/m, N m/rad]
    damping: NonNegative = 0.0  # of the stop [N s/m, N m s/rad]

    def __post_init__(self) -> None:
        if self.lower is None and self.upper is None:
            raise ValueError("neither lower nor upper is given; give at least one of them")
        if self.lower is not None and self.upper is not None and self.lower >= self.upper:
            raise ValueError(f"lower {self.lower} is not below upper {self.upper}; swap or correct them")
        if self.damping and self.stiffness is None:
            raise ValueError("damping without stiffness has no effect; give stiffness too, or leave damping out")

    def holds(self, value: float) -> bool:
        """Whether a value lies in the range."""
        if not isinstance(value, (int, float)) or value != value:
            raise ModelError(f"value: {quoted(value)} found; give a number")
        return (self.lower is None or self.lower <= value) and (self.upper is None or value <= self.upper)

    @property
    def range(self) -> str:
        """The range as text."""
        lower = "-inf" if self.lower is None else f"{self.lower:g}"
        upper = "inf" if self.upper is None else f"{self.upper:g}"
        return f"{lower} ... {upper}"


# one value for all velocities of a joint, or a list with one per velocity (starts: per coordinate)
if TYPE_CHECKING:  # more forms may be given than a field then has
    Each: TypeAlias = Any
    Gears: TypeAlias = Any
    Starts: TypeAlias = Any
else:
    Each = Annotated[
        Annotated[NonNegative, Tag("one")] | Annotated[tuple[NonNegative, ...], Field(min_length=1), Tag("each")],
        ONE_OR_EACH,
    ]
    Gears = Annotated[
        Annotated[Positive, Tag("one")] | Annotated[tuple[Positive, ...], Field(min_length=1), Tag("each")],
        ONE_OR_EACH,
    ]
    Starts = Annotated[
        Annotated[Angle, Tag("one")] | Annotated[tuple[Angle, ...], Field(min_length=1), Tag("each")],
        ONE_OR_EACH,
    ]


def _start_form(value: Any) -> str:
    """Numbers, one or a list; an attitude (a list of rows is a matrix); or a pose."""
    if isinstance(value, (list, tuple)):
        return "attitude" if any(isinstance(item, (list, tuple)) for item in value) else "each"
    if isinstance(value, Pose) or (isinstance(value, dict) and not value.keys().isdisjoint({"position", "attitude"})):
        return "pose"
    return "attitude" if isinstance(value, (dict, *TABLES)) else "one"


if TYPE_CHECKING:  # more forms may be given than a field then has
    AnyStart: TypeAlias = Any
    Rates: TypeAlias = Any
else:
    AnyStart = Annotated[
        Annotated[Angle, Tag("one")]
        | Annotated[tuple[Angle, ...], Field(min_length=1), Tag("each")]
        | Annotated[Attitude, Tag("attitude")]
        | Annotated[Pose, Tag("pose")],
        Discriminator(_start_form),
    ]
    Rates = Annotated[
        Annotated[Number, Tag("one")] | Annotated[tuple[Number, ...], Field(min_length=1), Tag("each")],
        ONE_OR_EACH,
    ]
LimitOrNone = Annotated[Annotated[Limit, Tag("other")] | Annotated[Literal["none"], Tag("text")], TEXT_OR_OTHER]
if TYPE_CHECKING:  # more forms may be given than a field then has
    Limits: TypeAlias = Any
else:
    Limits = Annotated[
        Annotated[Limit, Tag("one")] | Annotated[tuple[LimitOrNone, ...], Field(min_length=1), Tag("each")],
        ONE_OR_EACH,
    ]
FrictionOrNone = Annotated[
    Annotated[AnyFriction, Tag("other")] | Annotated[Literal["none"], Tag("text")], TEXT_OR_OTHER
]
if TYPE_CHECKING:  # more forms may be given than a field then has
    Frictions: TypeAlias = Any
    Motors: TypeAlias = Any
else:
    Frictions = Annotated[
        Annotated[AnyFriction, Tag("one")] | Annotated[tuple[FrictionOrNone, ...], Field(min_length=1), Tag("each")],
        ONE_OR_EACH,
    ]
    Motors = Annotated[
        Annotated[Signal, Tag("one")] | Annotated[tuple[Signal, ...], Field(min_length=1), Tag("each")],
        ONE_OR_EACH,
    ]
MotionOrFree = Annotated[
    Annotated[Signal, Tag("other")] | Annotated[Literal["free"], Tag("text")],
    Discriminator(lambda value: "text" if isinstance(value, str) and not is_angle_text(value) else "other"),
]
if TYPE_CHECKING:  # more forms may be given than a field then has
    Motions: TypeAlias = Any
else:
    Motions = Annotated[
        Annotated[Signal, Tag("one")] | Annotated[tuple[MotionOrFree, ...], Field(min_length=1), Tag("each")],
        ONE_OR_EACH,
    ]


@described
class Joint:
    """Connects a place on the parent to a child body, whose frame is the joint's child frame.

    stiffness, damping, armature, gear: one number for all velocities of the joint, or one per velocity.
    limit, friction, motor and motion of joints with several velocities: a list with one per velocity.
    Springs of spherical and floating joints act on the rotation vector and, floating, on the position in the parent
    frame. motor: torque (force) of the motor; the joint feels gear times it. motion: prescribed coordinate.
    With a transmission the joint is flexible: armature, gear, motor and motion are then of its motor's side."""

    name: Name  # of the joint; its coordinates are called after it
    kind: Kind  # how the child may move against the parent
    child: str  # body that it carries
    parent: Place = "world"  # a body, a frame, "world", or a frame given in place
    axis: Direction | None = None  # in the parent frame, or its letter: "x", "-y"; default z
    q0: AnyStart | None = None  # start [m, rad], default 0; spherical: any attitude, floating: also a pose
    v0: Rates | None = None  # start [m/s, rad/s], default 0
    stiffness: Each = 0.0  # of a spring [N/m, N m/rad]
    rest: Starts = 0.0  # where the spring is relaxed [m, rad]
    damping: Each = 0.0  # of a damper [N s/m, N m s/rad]
    limit: Limits | None = None  # ends of the range; "none" in a list leaves one without
    friction: Frictions | None = None  # by a law with its load; "none" in a list leaves one without
    armature: Each = 0.0  # rotor inertia on the motor side [kg, kg m^2]
    gear: Gears = 1.0  # revolutions of the motor per revolution of the joint
    motor: Motors | None = None  # [N, N m] on the motor side
    motion: Motions | None = None  # prescribed coordinate [m, rad]; "free" in a list leaves one free
    transmission: Transmission | None = None  # what lies between motor and link, if it is flexible

    def __post_init__(self) -> None:
        for problems in JOINT_PROBLEMS:
            refuse(problems(self))

    @property
    def row(self) -> JointRow:
        return JOINT_KINDS[self.kind]

    @property
    def start(self) -> tuple[float, ...]:
        if self.q0 is None:
            return self.row.rest
        if not _is_turned(self.q0):
            return _spread(self.q0, 1)
        position, attitude = (
            (self.q0.position, self.q0.attitude) if isinstance(self.q0, Pose) else ((0.0,) * 3, self.q0)
        )
        four = matrix_quaternion(attitude_matrix(attitude)).tolist()
        return (*position, *four) if self.kind == "floating" else tuple(four)

    @property
    def start_rate(self) -> tuple[float, ...]:
        return (0.0,) * len(self.row.velocities) if self.v0 is None else _spread(self.v0, 1)

    def each(self, field: str) -> tuple[Any, ...]:
        """One value of a field per velocity of the joint; what is not given is None."""
        if not isinstance(field, str) or field not in type(self).__dataclass_fields__:
            raise ModelError(f"field: {quoted(field)} found; give one of {', '.join(type(self).__dataclass_fields__)}")
        return _spread(getattr(self, field), len(self.row.velocities))

    @property
    def driven(self) -> tuple[bool, ...]:
        """Per velocity: whether a motion is prescribed; that of a flexible joint is its motor's."""
        is_own = self.transmission is None
        return tuple(is_own and motion not in (None, "free") for motion in self.each("motion"))


def _spread(value: Any, count: int) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, tuple) else (value,) * count


# which kinds have velocities that are the rates of their coordinates
PLAIN_KINDS = tuple(kind for kind, row in JOINT_KINDS.items() if row.coordinates and row.has_plain_rates)
# which may have a transmission
FLEXIBLE_KINDS = ("revolute", "prismatic")
# fields where one number stands for all velocities of the joint
SPREAD_FIELDS = ("stiffness", "rest", "damping", "armature", "gear")
# fields with one value per velocity, and what to write where there is none
VELOCITY_FIELDS = {
    "v0": "0",
    "limit": '"none"',
    "friction": '"none"',
    "motor": "0",
    "motion": '"free"',
} | dict.fromkeys(SPREAD_FIELDS, "0")


def _kind_problems(joint: Joint) -> Iterator[str]:
    """Axis, and values that the kind has no use for."""
    if joint.kind == "fixed":
        for field in fields(joint)[4:]:
            if getattr(joint, field.name) != field.default:
                yield f"{field.name} has no effect on a fixed joint, which has no coordinates; leave it out"
    elif joint.axis is not None and not joint.row.has_axis:
        kinds = listed(kind for kind, row in JOINT_KINDS.items() if row.has_axis)
        yield f"axis has no effect on a {joint.kind} joint (only on {kinds}); rotate the parent frame instead"
    elif not joint.row.has_plain_rates and any(joint.each("rest")):
        yield (
            f"rest has no effect on a {joint.kind} joint, whose spring is relaxed at zero rotation; rotate the parent "
            "frame"
        )
    elif joint.axis is not None and without_direction("axis", joint.axis):
        yield without_direction("axis", joint.axis)


def _is_turned(q0: Any) -> bool:
    """Whether a start is given as an attitude or a pose, not as plain numbers."""
    return isinstance(q0, (Pose, *TABLES)) or (isinstance(q0, tuple) and isinstance(q0[0], tuple))


def _form_problems(joint: Joint) -> Iterator[str]:
    if joint.kind == "fixed" or not _is_turned(joint.q0):
        return
    found = "a pose" if isinstance(joint.q0, Pose) else "an attitude"
    if joint.row.has_plain_rates:
        names = [part or "angle or shift" for part in joint.row.coordinates]
        yield f"q0 is {found}, which only spherical and floating joints have; give {', '.join(names)}"
    elif joint.kind == "spherical" and isinstance(joint.q0, Pose):
        yield "q0 is a pose, but a spherical joint has no position; give its attitude alone"


def _length_problems(joint: Joint) -> Iterator[str]:
    if joint.kind == "fixed":
        return
    if joint.q0 is not None and len(joint.start) != len(joint.row.coordinates):
        yield _wrong_length(joint, "q0", len(joint.start), "coordinate", joint.row.coordinates, "0")
    for field, blank in VELOCITY_FIELDS.items():
        value = getattr(joint, field)
        count = len(value) if isinstance(value, tuple) else 1
        is_spread = field in SPREAD_FIELDS and not isinstance(value, tuple)
        if value is not None and not is_spread and count != len(joint.row.velocities):
            yield _wrong_length(joint, field, count, "velocity", joint.row.velocities, blank)


def _wrong_length(joint: Joint, field: str, count: int, of: str, names: tuple[str, ...], blank: str) -> str:
    if len(names) == 1:
        return f"{field} has {count} values, but a {joint.kind} joint has one {of}; give one value"
    many = of.removesuffix("y") + ("ies" if of.endswith("y") else "s")
    values = "1 value" if count == 1 else f"{count} values"
    need = f"a {joint.kind} joint has {len(names)} {many} ({', '.join(names)})"
    if field == "q0" and joint.kind == "floating":
        return (
            f"q0 has {values}, but {need}; give them all, or a pose: Pose(position=.., attitude=..), in a file "
            "{ position = [x, y, z] }"
        )
    return f"{field} has {values}, but {need}; give a list of {len(names)}, {blank} where there is none"


def _start_problems(joint: Joint) -> Iterator[str]:
    if joint.kind in ("spherical", "floating") and np.linalg.norm(joint.start[-4:]) < 1e-6:
        yield f"q0: quaternion {shown(joint.start[-4:])} has no length; give x y z w, (0, 0, 0, 1) for no rotation"


def _limit_problems(joint: Joint) -> Iterator[str]:
    if joint.limit is None:
        return
    if not joint.row.has_plain_rates:
        yield f"limit is not possible on a {joint.kind} joint; it works on {listed(PLAIN_KINDS)}"
        return
    for part, limit, start, is_prescribed in zip(
        joint.row.coordinates, joint.each("limit"), joint.start, joint.driven, strict=True
    ):
        of = f" of '{part}'" if part else ""
        if limit != "none" and is_prescribed:
            yield f"limit{of} has no effect, because its motion is prescribed; leave one of the two out"
        elif limit != "none" and limit.stiffness is None and not limit.holds(start):
            yield (
                f"start q0{of} = {start:g} lies outside its limit {limit.range}, which ends the run at once; "
                "start inside, or give the limit a stiffness"
            )


def _friction_problems(joint: Joint) -> Iterator[str]:
    if joint.friction is None:
        return
    if not joint.row.has_plain_rates:
        yield f"friction is not possible on a {joint.kind} joint; it works on {listed(PLAIN_KINDS)}"
        return
    for part, friction, is_prescribed in zip(joint.row.velocities, joint.each("friction"), joint.driven, strict=True):
        of = f" of '{part}'" if part else ""
        if friction == "none":
            continue
        if is_prescribed:
            yield f"friction{of} has no effect, because its motion is prescribed; leave one of the two out"
        if friction.load is None:
            yield f"friction{of} needs load, the normal force of its law [N, N m]; give it"


def _motion_problems(joint: Joint) -> Iterator[str]:
    if joint.motion is None:
        return
    if not joint.row.has_plain_rates:
        yield f"motion is not possible on a {joint.kind} joint; it works on {listed(PLAIN_KINDS)}"
        return
    kinks = {kink for motion in joint.each("motion") for kink in _kinks(motion)}
    for kink in sorted(kinks):
        yield (
            f"motion contains a {kink}, which has no two derivatives: it would need infinite forces; "
            "use a cycloid or a table"
        )


def _kinks(signal: Any) -> Iterator[str]:
    """Kinds of the parts of a signal that have no two derivatives."""
    if isinstance(signal, (Step, Ramp)):
        yield signal.kind
    parts = signal.terms if isinstance(signal, Sum) else signal.factors if isinstance(signal, Product) else ()
    for part in parts:
        yield from _kinks(part)


def _transmission_problems(joint: Joint) -> Iterator[str]:
    transmission = joint.transmission
    if transmission is None or joint.kind == "fixed":
        return
    if joint.kind not in FLEXIBLE_KINDS:
        yield f"transmission is not possible on a {joint.kind} joint; it works on {listed(FLEXIBLE_KINDS)}"
        return
    if not any(joint.each("armature")) and joint.motion is None:
        yield (
            "its transmission has a motor's side without inertia; give armature, the inertia of the rotor "
            f"[{'kg m^2' if joint.kind == 'revolute' else 'kg'}], or prescribe its motion"
        )
    if transmission.mass and joint.kind == "prismatic":
        yield "mass of a transmission is possible on revolute joints only; give the mass to the parent"
    if joint.motion is not None and transmission.friction is not None:
        yield "friction of its transmission has no effect, because the motor's motion is prescribed; leave one out"


JOINT_PROBLEMS = (
    _kind_problems,
    _form_problems,
    _length_problems,
    _start_problems,
    _limit_problems,
    _friction_problems,
    _motion_problems,
    _transmission_problems,
)

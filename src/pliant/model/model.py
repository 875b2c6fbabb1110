"""Model: the robot, complete and checked. Frozen data, no algorithms."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Discriminator, Field, Tag

from pliant.model.attitudes import Attitude, attitude_matrix
from pliant.model.bodies import Body, Frame, Place
from pliant.model.checks import check_model
from pliant.model.contacts import Contact
from pliant.model.control import Controller
from pliant.model.flexible import Beam
from pliant.model.joints import Joint
from pliant.model.loops import Loop
from pliant.model.messages import refuse, shown
from pliant.model.planar_chains import PlanarChain, planar_chain
from pliant.model.quantities import Many, Name, Number, Positive, Vector, described
from pliant.model.run_table import FrozenTable, RunTable
from pliant.model.signals import Constant, Signal
from pliant.model.springs import Spring
from pliant.model.tree import Link, build_tree, column_names

BaseKind = Literal["fixed", "planar", "floating"]
MotionQuantity = Literal["position", "velocity", "acceleration", "attitude", "angular_velocity"]
JointQuantity = Literal["reaction", "spring", "motor", "drive", "damper", "limit", "friction", "transmission"]
ContactQuantity = Literal["contact", "gap"]
BeamQuantity = Literal["section", "strain", "stress"]


@described
class Base:
    """How the one body without a joint is held: fixed to the world, sliding in the x-y plane, or floating."""

    kind: BaseKind = "fixed"  # how it is held
    position: Vector = (0.0, 0.0, 0.0)  # of the body's origin at the start [m]
    attitude: Attitude = (0.0, 0.0, 0.0, 1.0)  # of the body's axes at the start
    velocity: Vector = (0.0, 0.0, 0.0)  # of the body's origin at the start, body axes [m/s]
    angular_velocity: Vector = (0.0, 0.0, 0.0)  # at the start, body axes [rad/s]

    def __post_init__(self) -> None:
        refuse(_base_problems(self))


def _base_problems(base: Base) -> Iterator[str]:
    if base.kind == "fixed":
        for field in ("velocity", "angular_velocity"):
            if any(getattr(base, field)):
                yield f"a fixed base cannot have {field} {shown(getattr(base, field))}; choose kind planar or floating"
    if base.kind == "planar":
        if abs(attitude_matrix(base.attitude)[2, 2] - 1.0) > 1e-9:
            yield "attitude of a planar base may only rotate about z; choose kind floating for other attitudes"
        if base.position[2] or base.velocity[2]:
            yield "a planar base moves in x and y; set z of position and velocity to 0, or choose kind floating"
        if base.angular_velocity[0] or base.angular_velocity[1]:
            yield (
                f"a planar base rotates about z; set x and y of angular_velocity {shown(base.angular_velocity)} to 0, "
                "or choose kind floating"
            )


UNSAID = Base()  # nothing said of the base; told from Base() by identity


@described
class Load:
    """A force at a frame, or a couple. Components are signals, in world axes or the frame's own ("body": follower)."""

    frame: Place  # where it acts: a body, a frame, or a frame given in place
    x: Signal = Constant(0.0)  # component [N, N m]
    y: Signal = Constant(0.0)  # component [N, N m]
    z: Signal = Constant(0.0)  # component [N, N m]
    kind: Literal["force", "couple"] = "force"  # [N], [N m]
    axes: Literal["world", "body"] = "world"  # of the components; "body": those of the frame
    name: Name | None = None  # of the load


@described
class Crossing:
    """Located when a quantity passes a value: logged, and with action "stop" the end of the run.

    of: a coordinate's name ("elbow"), its rate ("elbow.rate"), or a component of a frame's position ("tip.y")."""

    name: Name  # under which it is logged
    of: str  # "elbow", "elbow.rate", "tip.y"
    value: Number = 0.0  # that is passed [m, rad, m/s, rad/s]
    direction: Literal["rising", "falling", "both"] = "both"  # in which it is passed
    action: Literal["record", "stop"] = "record"  # what happens then


def _current_quantity(value: Any) -> Any:
    """Quantities under their names of today."""
    if isinstance(value, str) and value == "spin":
        warnings.warn("Output: quantity 'spin' is called 'angular_velocity' now", DeprecationWarning, stacklevel=5)
        return "angular_velocity"
    return value


if TYPE_CHECKING:  # more forms may be given than a field then has
    Recorded: TypeAlias = Any
else:
    Recorded = Annotated[
        Literal[MotionQuantity, JointQuantity, ContactQuantity, BeamQuantity], BeforeValidator(_current_quantity)
    ]


@described
class Output:
    """A quantity recorded under its name.

    motion: position, velocity, acceleration (world axes), attitude (quaternion) or angular_velocity of a frame;
    joint: reaction (force and moment by the parent on the child, at its origin), or the force (moment) of its spring,
    motor, drive, damper, limit or friction, or of the transmission of a flexible joint on its link;
    spring between two places: spring (force, positive as tension; length; rate of the length);
    contact: contact (per point normal force, then tangential force in world axes) or gap (per point);
    beam: section (forces and moments in the section at a frame, section axes), strain, or stress of the outer fibre."""

    name: Name  # under which it is recorded
    of: str  # a frame, a body, a joint, a spring or a contact
    quantity: Recorded  # what is recorded
    axes: Literal["child", "world"] = "child"  # of a reaction: of the child (of a loop its second frame), or the world

    def __post_init__(self) -> None:
        if self.axes != "child" and self.quantity != "reaction":
            raise ValueError(f"axes has no effect on {self.quantity}, only on a reaction; leave it out")

    @property
    def is_in_beam(self) -> bool:
        """Whether it is of a section of a beam."""
        return self.quantity in get_args(BeamQuantity)


def _base(value: Any) -> Any:
    return {"kind": value} if isinstance(value, str) else value


if TYPE_CHECKING:  # more forms may be given than a field then has
    BaseOrKind: TypeAlias = Any
else:
    BaseOrKind = Annotated[Base, BeforeValidator(_base, json_schema_input_type=BaseKind | Base)]


def _body_kind(value: Any) -> Any:
    return value.get("kind", "rigid") if isinstance(value, dict) else getattr(value, "kind", "rigid")


AnyBody = Annotated[
    Annotated[Body, Tag("rigid")] | Annotated[Beam, Tag("beam")],
    Discriminator(_body_kind),
]


@described
class Model:
    """A robot: bodies, joints, and what acts on them. SI units, radians; gravity (0, 0, -9.81) unless given."""

    name: str  # of the robot
    bodies: Annotated[Many[AnyBody], Field(min_length=1)]  # rigid bodies, and beams (kind = "beam")
    joints: Many[Joint] = ()  # each carries one body
    base: BaseOrKind = UNSAID  # how the body without a joint is held; the kind alone will do
    gravity: Vector = (0.0, 0.0, -9.81)  # world axes [m/s^2]
    frames: Many[Frame] = ()  # named places on bodies or on the world
    loads: Many[Load] = ()  # forces and couples
    springs: Many[Spring] = ()  # springs, dampers, actuators and ropes between two places
    contacts: Many[Contact] = ()  # points that touch planes
    loops: Many[Loop] = ()  # closed loops
    keep: Many[str] = ()  # joints whose start stays as given while loops are closed
    crossings: Many[Crossing] = ()  # events to locate
    outputs: Many[Output] = ()  # quantities to record
    controllers: Many[Controller] = ()  # laws or Python functions that command motors
    duration: Positive | None = None  # of a run, unless simulate says otherwise [s]
    run: RunTable = FrozenTable()  # other options of a run, unless simulate says otherwise

    def __post_init__(self) -> None:
        if "duration" in self.run:
            self._take_duration(self.run["duration"])
        check_model(self)

    def _take_duration(self, value: Any) -> None:
        """[run] may have it, too."""
        if isinstance(value, (bool, str, dict)) or not 0.0 < value < math.inf:
            raise ValueError(f"run.duration: found {shown(value)}; give a number above 0 [s]")
        if self.duration not in (None, value):
            raise ValueError(f"duration is given twice, {self.duration:g} s and in run {value:g} s; give it once")
        rest = FrozenTable({key: item for key, item in self.run.items() if key != "duration"})
        object.__setattr__(self, "duration", float(value))
        object.__setattr__(self, "run", rest)

    def __repr__(self) -> str:
        joints = ", ".join(f"{link.joint.name} ({link.joint.kind})" for link in self.links[:8])
        more = ", ..." if len(self.links) > 8 else ""
        return f"<Model {self.name!r}: {len(self.bodies)} bodies, {len(self.velocities)} velocities: {joints}{more}>"

    def _repr_html_(self) -> str:
        # the one way up: notebooks ask the object itself
        from pliant.view.notebook import model_html

        return model_html(self)

    @cached_property
    def named_frames(self) -> dict[str, Frame]:
        """Frames by name."""
        return {frame.name: frame for frame in self.frames if frame.name}

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """Bodies with their joints, parents first."""
        return build_tree(self)

    @cached_property
    def chain(self) -> PlanarChain | str:
        """The serial chain of hinges with parallel axes that it is, or why it is none."""
        return planar_chain(self)

    @cached_property
    def beams(self) -> tuple[Beam, ...]:
        """The flexible bodies, in tree order."""
        return tuple(link.body for link in self.links if isinstance(link.body, Beam))

    @cached_property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the columns of q."""
        return column_names(self.links, "coordinates")

    @cached_property
    def velocities(self) -> tuple[str, ...]:
        """Names of the columns of v."""
        return column_names(self.links, "velocities")

    @cached_property
    def quaternions(self) -> tuple[slice, ...]:
        """Where the quaternions are in q."""
        ends = (link.q_slice.stop for link in self.links if not link.joint.row.has_plain_rates)
        return tuple(slice(end - 4, end) for end in ends)

    @property
    def is_base_given(self) -> bool:
        """Whether the model says how the body without a joint is held; else it is fixed."""
        return self.base is not UNSAID

    @property
    def has_modes(self) -> bool:
        """Whether some beam has modal coordinates."""
        return any(link.body.n_modes for link in self.links)

    @property
    def is_stiffened(self) -> bool:
        """Whether some beam has a geometric stiffness that takes two solves."""
        return any(beam.is_stiffened for beam in self.beams)

    @property
    def calls_python(self) -> bool:
        """Whether some controller is a Python function."""
        return any(controller.law is None for controller in self.controllers)

    @property
    def q0(self) -> NDArray[np.float64]:
        """Start coordinates (n_q,); quaternions made unit."""
        q = np.array([x for link in self.links for x in (*link.joint.start, *link.body.start)], dtype=float)
        for four in self.quaternions:
            q[four] /= np.linalg.norm(q[four])
        return q

    @property
    def v0(self) -> NDArray[np.float64]:
        """Start velocities (n_v,)."""
        return np.array(
            [x for link in self.links for x in (*link.joint.start_rate, *link.body.start_rate)], dtype=float
        )

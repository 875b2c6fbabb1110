"""What makes a joint flexible: the transmission between its motor and its link."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from pydantic import BeforeValidator, Discriminator, Field, Tag

from pliant.model.friction_laws import AnyFriction
from pliant.model.messages import refuse
from pliant.model.quantities import Angle, Many, NonNegative, Number, Numbers, Positive, described, parse_angle


@described
class TorqueTable:
    """The torque of a transmission over its twist: monotone and with a continuous slope between the values (PCHIP),
    beyond them with the slope of the ends. A table that begins at (0, 0) holds for both directions."""

    twist: Annotated[Many[Angle], Field(min_length=2)]  # motor against link, on the joint's side [rad, m]
    torque: Annotated[Numbers, Field(min_length=2)]  # one per twist [N m, N]

    def __post_init__(self) -> None:
        if len(self.twist) != len(self.torque):
            raise ValueError(f"{len(self.twist)} values of twist but {len(self.torque)} of torque; give one per twist")
        refuse(_table_problems(self))

    @property
    def both_ways(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Twists and torques of both directions."""
        twist, torque = tuple(self.twist), tuple(self.torque)
        if twist[0] != 0.0:
            return twist, torque
        mirrored = [tuple(-x for x in reversed(values[1:])) for values in (twist, torque)]
        return mirrored[0] + twist, mirrored[1] + torque


def _table_problems(table: TorqueTable) -> Iterator[str]:
    for before, after in zip(table.twist, table.twist[1:], strict=False):
        if after <= before:
            yield f"twist must increase, but {after:g} follows {before:g}; sort the values and drop doubles"
            return
    for before, after in zip(table.torque, table.torque[1:], strict=False):
        if after < before:
            yield f"torque must not fall, but {after:g} follows {before:g}; more twist cannot mean less torque"
            return
    if table.torque[0] == table.torque[-1]:
        yield f"torque is {table.torque[0]:g} throughout, so nothing holds the link; give a table that rises"
    elif not table.twist[0] <= 0.0 <= table.twist[-1]:
        yield (
            f"twist goes from {table.twist[0]:g} to {table.twist[-1]:g}, without 0; give values on both sides of 0, or "
            "begin with twist 0, torque 0 for a table that holds for both directions"
        )
    elif table.twist[0] == 0.0 and table.torque[0] != 0.0:
        yield (
            f"the table begins at twist 0 with torque {table.torque[0]:g}; begin with torque 0 (it then holds for both "
            "directions), or give values on both sides of 0"
        )


def _stiffness_form(value: Any) -> str:
    return "table" if isinstance(value, (dict, TorqueTable)) else "number"


if TYPE_CHECKING:  # more forms may be given than a field then has
    Play: TypeAlias = Any
else:
    Play = Annotated[NonNegative, BeforeValidator(parse_angle, json_schema_input_type=float | str)]
Stiffness = Annotated[
    Annotated[Positive, Tag("number")] | Annotated[TorqueTable, Tag("table")], Discriminator(_stiffness_form)
]


@described
class Transmission:
    """Makes a revolute or prismatic joint flexible: motor -> gear -> spring and damper -> link.

    The joint's motor, armature, gear and motion are then those of the motor's side, a coordinate of its own, called
    "elbow.motor" for a joint "elbow": theta1, the angle of the motor's shaft divided by the gear ratio. The joint
    itself is the link's side, theta2. Torque on the link: k (theta1 - theta2) + c (theta1' - theta2'), its reverse
    on the motor; stiffness, damping, backlash and friction are those on the joint's side of the gear."""

    stiffness: Stiffness  # of the spring [N m/rad, N/m], or a table of torque over twist
    damping: NonNegative = 0.0  # between motor and link [N m s/rad, N s/m]
    backlash: Play = 0.0  # whole play of the link while the motor stands [rad, m]
    friction: AnyFriction | None = None  # of the motor's side, by a law with its load; the joint's own is the link's
    mass: NonNegative = 0.0  # of motor and gear, at the joint, carried by the parent [kg]
    q0: Angle | None = None  # start of the motor's side [rad, m], default: that of the link
    v0: Number | None = None  # its rate [rad/s, m/s], default: that of the link

    def __post_init__(self) -> None:
        refuse(_problems(self))


def _problems(transmission: Transmission) -> Iterator[str]:
    if transmission.friction is not None and transmission.friction.load is None:
        yield "friction needs load, the normal force of its law [N m, N]; give it"
    table = transmission.stiffness
    if transmission.backlash and isinstance(table, TorqueTable) and not passes_zero(table):
        yield (
            "backlash needs a table with twist 0, torque 0 among its values, since flanks that only touch transmit "
            "nothing; add it, or leave backlash out"
        )


def passes_zero(table: TorqueTable) -> bool:
    """Whether there is no torque at no twist, by a value of the table."""
    return (0.0, 0.0) in zip(table.twist, table.torque, strict=True)

"""Contact of points with planes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, Tag

from pliant.model.bodies import Frame, Place
from pliant.model.friction_laws import AnyFriction, Friction
from pliant.model.messages import refuse
from pliant.model.normal_laws import AnyNormalLaw, NormalLaw
from pliant.model.quantities import (
    ONE_OR_EACH,
    Direction,
    Many,
    Name,
    NonNegative,
    Number,
    described,
    without_direction,
)

__all__ = ["Contact", "Friction", "NormalLaw", "Plane"]


@described
class Plane:
    """A plane through a place, carried by its body or fixed in the world; the free side is where the normal points."""

    place: Place = "world"  # a body, a frame, "world", or a frame given in place: the plane goes through its origin
    normal: Direction = (0.0, 0.0, 1.0)  # in the axes of the place, any length but 0, or a letter: "y"
    offset: Number = 0.0  # shifts the plane along its normal [m]

    def __post_init__(self) -> None:
        refuse(filter(None, [without_direction("normal", self.normal)]))


# places, or those of all shapes
Points = Annotated[
    Annotated[Many[Place], Field(min_length=1), Tag("each")] | Annotated[Literal["shapes"], Tag("one")],
    ONE_OR_EACH,
]


@described
class Contact:
    """Points (or balls about them) that touch a plane. Without points: ends of all rods, tubes, beams."""

    name: Name  # under which it is logged
    normal: AnyNormalLaw  # force along the normal
    plane: Plane = Plane()  # what is touched; default: the ground z = 0
    points: Points | None = None  # left out: ends of the links; "shapes": those of all shapes, with their radii
    friction: AnyFriction | None = None  # force along the plane
    radius: NonNegative = 0.0  # of a ball about each point; "shapes": about each that has no radius of its own [m]
    rests: bool = False  # whether points may lie below the plane at the start: they press on it, as at rest

    @property
    def places(self) -> tuple[str | Frame, ...]:
        """The points that are given one by one."""
        return self.points if isinstance(self.points, tuple) else ()

    def __post_init__(self) -> None:
        if self.friction is not None and self.friction.load is not None:
            raise ValueError("friction.load has no effect in a contact, which has a normal force; leave it out")

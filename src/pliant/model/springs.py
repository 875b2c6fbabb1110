"""Springs between two places: spring, damper and motor along the line that connects them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Discriminator, Field, Tag

from pliant.model.bodies import Frame, Place
from pliant.model.messages import refuse
from pliant.model.mobility import joint_start
from pliant.model.quantities import Name, NonNegative, Numbers, described
from pliant.model.signals import Constant, Signal
from pliant.model.tree import find_frame, model_size

if TYPE_CHECKING:
    from pliant.model.model import Model

Array = NDArray[np.float64]
SAME_PLACE = 1e-12  # of the model's size: nearer than this two places coincide
MEETING = 1e-6  # of the free length, or of the distance at the start if that is more: ends that near meet


@described
class ForceTable:
    """The force of a spring over its elongation: with a continuous slope and no overshoot between the values (PCHIP),
    beyond them with the slope of the ends. A table that begins at (0, 0) holds for both directions."""

    elongation: Annotated[Numbers, Field(min_length=2)]  # length minus free length, increasing [m]
    force: Annotated[Numbers, Field(min_length=2)]  # one per elongation, positive where it pulls the ends together [N]

    def __post_init__(self) -> None:
        if len(self.elongation) != len(self.force):
            count = f"{len(self.elongation)} values of elongation but {len(self.force)} of force"
            raise ValueError(f"{count}; give one per elongation")
        for before, after in zip(self.elongation, self.elongation[1:], strict=False):
            if after <= before:
                found = f"elongation must increase, but {after:g} follows {before:g}"
                raise ValueError(f"{found}; sort the values and drop doubles")

    @property
    def both_ways(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Elongations and forces of both directions."""
        elongation, force = tuple(self.elongation), tuple(self.force)
        if elongation[0] != 0.0 or force[0] != 0.0:
            return elongation, force
        mirrored = [tuple(-x for x in reversed(values[1:])) for values in (elongation, force)]
        return mirrored[0] + elongation, mirrored[1] + force


def _stiffness_form(value: Any) -> str:
    return "table" if isinstance(value, (dict, ForceTable)) else "number"


SpringStiffness = Annotated[
    Annotated[NonNegative, Tag("number")] | Annotated[ForceTable, Tag("table")], Discriminator(_stiffness_form)
]


@described
class Spring:
    """A force along the line between two places: spring, damper and motor side by side, without mass.

    With the distance l of the places, T = stiffness (l - length) + damping l' - motor pulls them together. A rope has
    only = "tension", a rubber stop only = "compression": it then acts on one side of its free length alone."""

    name: Name  # of the spring
    first: Place  # a body, a frame, "world", or a frame given in place
    second: Place  # the other
    stiffness: SpringStiffness = 0.0  # [N/m], or a table of force over elongation
    damping: NonNegative = 0.0  # [N s/m]
    length: NonNegative | None = None  # free length [m]; default: the distance of the places at the model's start
    motor: Signal = Constant(0.0)  # force of an actuator; positive pushes the places apart [N]
    only: Literal["tension", "compression"] | None = None  # the one sense in which it acts

    def __post_init__(self) -> None:
        refuse(_problems(self))

    @property
    def has_stiffness(self) -> bool:
        return isinstance(self.stiffness, ForceTable) or self.stiffness > 0.0

    @property
    def has_motor(self) -> bool:
        """Whether a signal drives it."""
        return bool(self.motor != Constant(0.0))


def _problems(spring: Spring) -> Iterator[str]:
    if spring.length is not None and not spring.has_stiffness:
        yield "length has no effect without stiffness; give stiffness, or leave length out"
    if spring.only is None:
        return
    if not spring.has_stiffness:
        yield f'only = "{spring.only}" needs stiffness; give it'
    if spring.has_motor:
        yield (
            f'motor has no place in a spring with only = "{spring.only}"; leave one out: a motor whose force never '
            "changes its sign pulls or pushes only"
        )
    if spring.only == "compression" and spring.length == 0.0:
        yield 'only = "compression" never acts with length 0; give a length above 0'
    table = spring.stiffness
    if isinstance(table, ForceTable) and (0.0, 0.0) not in zip(table.elongation, table.force, strict=True):
        yield (
            f'only = "{spring.only}" needs a table with elongation 0, force 0 among its values, where it begins to '
            "act; add it, or leave only out"
        )


# --- in a model ---------------------------------------------------------------------------------------------------


def start_lengths(model: Model) -> tuple[float, ...]:
    """Distance of the ends of every spring at the model's start, as given and with straight beams [m]; 0 where they
    coincide but for rounding."""
    placed = _start_placements(model) if model.springs else {}
    nothing = SAME_PLACE * model_size(model)
    found = []
    for spring in model.springs:
        ends = [_world_place(placed, find_frame(model, place)) for place in (spring.first, spring.second)]
        distance = float(np.linalg.norm(ends[1] - ends[0]))
        found.append(distance if distance > nothing else 0.0)
    return tuple(found)


def free_lengths(model: Model) -> tuple[float, ...]:
    """Of every spring [m]."""
    pairs = zip(model.springs, start_lengths(model), strict=True)
    return tuple(start if spring.length is None else spring.length for spring, start in pairs)


def is_commanded(model: Model, spring: Spring) -> bool:
    """Whether some controller drives it."""
    return any(spring.name in controller.joints for controller in model.controllers)


def needs_direction(model: Model, spring: Spring, length: float) -> bool:
    """Whether there is a force where the ends coincide; length: free length."""
    return spring.has_motor or is_commanded(model, spring) or _pulls_at_zero(spring, length)


def _pulls_at_zero(spring: Spring, length: float) -> bool:
    """Whether the elastic part may have a force where the ends coincide."""
    if spring.only == "tension":
        return False
    if isinstance(spring.stiffness, ForceTable):
        return (-length, 0.0) not in zip(*spring.stiffness.both_ways, strict=True)
    return spring.stiffness * length > 0.0


def spring_problems(model: Model) -> Iterator[str]:
    """What concerns the places of springs."""
    for spring, start, length in zip(model.springs, start_lengths(model), free_lengths(model), strict=True):
        where = f"spring '{spring.name}'"
        ends = [find_frame(model, place) for place in (spring.first, spring.second)]
        bent = _bent_beam(model, ends) if spring.length is None and spring.has_stiffness else ""
        if ends[0].body == ends[1].body and not _moves_within(model, *ends):
            on = "the world" if ends[0].body == "world" else f"'{ends[0].body}', at places that keep their distance"
            yield f"{where}: both ends are on {on}; choose places on two bodies, or on a body and the world"
        elif bent:
            yield f"{where}: beam '{bent}' is bent at the start, so that the distance there is not known; give length"
        elif not (spring.has_stiffness or spring.damping or spring.has_motor or is_commanded(model, spring)):
            yield f"{where}: it has no force; give stiffness, damping or motor, or name it in joints of a controller"
        elif start == 0.0 and needs_direction(model, spring, length):
            yield (
                f"{where}: its ends coincide at the start, where its force has no direction; move one of them, or give "
                "length 0 and no motor"
            )


def _start_placements(model: Model) -> dict[str, tuple[Array, Array]]:
    """Attitude and position of every body."""
    placed: dict[str, tuple[Array, Array]] = {"world": (np.eye(3), np.zeros(3))}
    for link in model.links:
        R, p, _ = joint_start(link.joint)
        R_P, p_P = placed[link.joint_frame.body]
        R_J, p_J = R_P @ link.joint_frame.matrix, p_P + R_P @ np.array(link.joint_frame.position)
        placed[link.body.name] = R_J @ R, p_J + R_J @ p
    return placed


def _world_place(placed: dict[str, tuple[Array, Array]], frame: Frame) -> Array:
    R, p = placed[frame.body]
    return np.asarray(p + R @ np.array(frame.position))


def _moves_within(model: Model, first: Frame, second: Frame) -> bool:
    """Whether the distance of two places on one body can change: on different sections of a beam that bends."""
    body = next((body for body in model.bodies if body.name == first.body), None)
    return body is not None and body.n_modes > 0 and first.position[0] != second.position[0]


def _bent_beam(model: Model, ends: list[Frame]) -> str:
    """A beam with modes that do not start at zero, on the way from the world to the ends; else nothing."""
    rows = {link.body.name: i for i, link in enumerate(model.links)}
    for frame in ends:
        i = rows.get(frame.body, -1)
        while i >= 0:
            if any(model.links[i].body.start):
                return model.links[i].body.name
            i = model.links[i].parent
    return ""

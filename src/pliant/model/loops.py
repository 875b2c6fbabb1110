"""Closed loops: two frames of the tree that a further joint holds together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pliant.model.bodies import Place
from pliant.model.messages import listed, refuse
from pliant.model.quantities import Direction, Name, Positive, described, without_direction

LoopKind = Literal["revolute", "prismatic", "spherical", "universal", "fixed", "distance", "point-on-line"]
SPRING_FORMS = ("elongation", "loop-difference", "polar", "squared")  # words for SpringForm, of virtual springs
WITH_AXIS = ("revolute", "prismatic", "point-on-line")


@described
class Loop:
    """Closes a loop: what a joint between the two frames would hold together stays together.

    revolute: origins and axes meet; prismatic: the second slides along the axis of the first and does not rotate;
    spherical: origins meet; universal: origins meet, x of the first stays at right angles to y of the second;
    fixed: origins and axes meet; distance: origins stay `length` apart; point-on-line: the second's origin stays on the
    axis of the first. axis has the same components in both frames. In a planar model only what lies in x-y counts."""

    name: Name  # of the loop
    kind: LoopKind  # which joint closes it
    first: Place  # a body, a frame, "world", or a frame given in place
    second: Place  # the other; the multipliers are forces on it
    axis: Direction | None = None  # of revolute, prismatic and point-on-line; default z
    length: Positive | None = None  # of distance [m]

    def __post_init__(self) -> None:
        refuse(_loop_problems(self))


def _loop_problems(loop: Loop) -> Iterator[str]:
    if loop.axis is not None and loop.kind not in WITH_AXIS:
        yield f"axis has no effect in a {loop.kind} loop (only in {listed(WITH_AXIS)}); rotate the frames instead"
    elif loop.axis is not None:
        yield from filter(None, [without_direction("axis", loop.axis)])
    if loop.length is not None and loop.kind != "distance":
        yield f"length has no effect in a {loop.kind} loop, only in a distance loop; leave it out"
    if loop.length is None and loop.kind == "distance":
        yield "a distance loop needs its length; give it"

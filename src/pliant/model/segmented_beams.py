"""A beam as a chain of rigid segments with springs between them: bodies, joints and its tip, for any large rotation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from pliant.errors import ModelError
from pliant.model.bodies import Body, Frame, Place
from pliant.model.joints import Joint
from pliant.model.messages import quoted, refuse
from pliant.model.model import Model
from pliant.model.quantities import Name, NonNegative, Positive, described

Layout = Literal["midpoint", "start"]
Springs = Literal["thesis", "best"]
HUB = "hub"


@described
class SegmentedBeam:
    """A uniform beam in the x-y plane, cut into equal elements of length l, hinged about z.

    midpoint   hinges at the middle of every element: a stub l/2 on what carries the beam, links l, a last link l/2
    start      hinges at the beginning of every element, the first one where the beam is clamped

    The first two springs are softer or stiffer than EI/l, so that the statics of a cantilever come out right; which
    ones do so depends on the layout."""

    length: Positive  # [m]
    segments: Annotated[int, Field(strict=True, ge=1, le=1_000_000)]  # number of elements, and of hinges
    EI: Positive  # bending stiffness [N m^2]
    rhoA: Positive  # mass per length [kg/m]
    layout: Layout = "midpoint"  # where the hinges are
    springs: Springs = "best"  # of the hinges: those of the thesis (midpoint only), or those of least error
    eta: NonNegative = 0.0  # damping of every hinge over its stiffness [s]
    name: Name = "beam"  # of the beam: beam_1, beam_2, .. are its bodies, beam_hinge_1, .. its joints
    parent: Place = "world"  # what carries it: a body or "world", or a frame given in place

    def __post_init__(self) -> None:
        refuse(_problems(self))

    @property
    def element(self) -> float:
        """Length of an element [m]."""
        return self.length / self.segments

    @cached_property
    def stiffnesses(self) -> NDArray[np.float64]:
        """Of the hinges, from the base outward [N m/rad]."""
        n, relative = self.segments, np.ones(self.segments)
        if self.layout == "start":
            first = 3.0, 6.0 * (n - 1) / (7.0 * n - 6.0)
        elif self.springs == "thesis":
            first = 8.0 / 9.0, (48.0 * n - 72.0) / (42.0 * n - 71.0)
        elif n == 1:
            first = 0.75, 0.0  # one spring alone: the deflection of the tip under a force there
        else:
            first = 6.0 * (2 * n - 1) / (13.0 * n - 6.0), 6.0 * (2 * n - 3) / (11.0 * n - 18.0)
        relative[:2] = first[:n]
        return np.asarray(relative * self.EI / self.element)

    @property
    def has_stub(self) -> bool:
        """Whether a part of the beam is welded to what carries it."""
        return self.layout == "midpoint"

    @property
    def _lengths(self) -> list[float]:
        """Of the bodies [m]."""
        n, l = self.segments, self.element
        return [0.5 * l, *([l] * (n - 1)), 0.5 * l] if self.has_stub else [l] * n

    @cached_property
    def bodies(self) -> tuple[Body, ...]:
        """Thin rods; the first one is the stub where there is one."""
        return tuple(_rod(name, self.rhoA * l, l) for name, l in zip(self._names, self._lengths, strict=True))

    @property
    def _names(self) -> list[str]:
        stub = [f"{self.name}_stub"] if self.has_stub else []
        return [*stub, *(f"{self.name}_{i + 1}" for i in range(self.segments))]

    @cached_property
    def joints(self) -> tuple[Joint, ...]:
        """Hinges with their springs, and the weld of the stub."""
        names, root = self._names, self.parent if isinstance(self.parent, Frame) else Frame(self.parent)
        places = [root, *(Frame(*end) for end in zip(names, [(l, 0.0, 0.0) for l in self._lengths], strict=True))]
        weld = [Joint(names[0], "fixed", names[0], root)] if self.has_stub else []
        n_welds = len(weld)
        hinges = [
            Joint(
                f"{self.name}_hinge_{i + 1}", "revolute", child, place, stiffness=float(k), damping=float(self.eta * k)
            )
            for i, (child, place, k) in enumerate(
                zip(names[n_welds:], places[n_welds:], self.stiffnesses, strict=False)
            )
        ]
        return (*weld, *hinges)

    @property
    def tip(self) -> str:
        """Name of the frame at its end."""
        return f"{self.name}_tip"

    @cached_property
    def frames(self) -> tuple[Frame, ...]:
        """Its tip."""
        return (Frame(self._names[-1], (self._lengths[-1], 0.0, 0.0), name=self.tip),)


def _problems(beam: SegmentedBeam) -> Iterator[str]:
    if beam.layout == "start" and beam.springs == "thesis":
        yield (
            'springs = "thesis" are right only with hinges at the middle of the elements; with layout = "start" the '
            'beam would be too soft: give springs = "best", or layout = "midpoint"'
        )


def _rod(name: str, mass: float, length: float) -> Body:
    across = mass * length**2 / 12.0
    inertia: Any = (0.0, across, across)
    return Body(name, mass, (0.5 * length, 0.0, 0.0), inertia)


def segmented_beam(
    length: float,
    segments: int,
    EI: float,
    rhoA: float,
    layout: Layout = "midpoint",
    springs: Springs = "best",
    eta: float = 0.0,
    hub: Mapping[str, Any] | None = None,
    **model: Any,
) -> Model:
    """A model of one beam of rigid segments, clamped at the origin along x, or on a hub that rotates about z.

    hub: keys of its joint (motion, motor, armature, ..) and `inertia` [kg m^2].
    model: other fields of the Model (loads, outputs, controllers, duration, ..); no gravity unless given."""
    if hub is not None and not isinstance(hub, Mapping):
        raise ModelError(f"hub: {quoted(hub)} found; give a table with the keys of its joint, such as {{'motor': ...}}")
    if hub is None:
        beam = SegmentedBeam(length, segments, EI, rhoA, layout, springs, eta)
        bodies, joints = beam.bodies, beam.joints
    else:
        beam = SegmentedBeam(length, segments, EI, rhoA, layout, springs, eta, parent=HUB)
        own = {key: value for key, value in hub.items() if key != "inertia"}
        inertia = hub.get("inertia", 0.0)
        carrier = Body(HUB, 0.0 if not inertia else 1.0, (0.0, 0.0, 0.0), (inertia, inertia, inertia))
        bodies, joints = (carrier, *beam.bodies), (Joint(HUB, "revolute", HUB, **own), *beam.joints)
    fields: dict[str, Any] = {"name": beam.name, "gravity": (0.0, 0.0, 0.0), **model}
    made: dict[str, tuple[Any, ...]] = {"bodies": bodies, "joints": joints, "frames": beam.frames}
    for key, parts in made.items():
        others = fields.get(key, ())
        if not isinstance(others, (list, tuple)):
            raise ModelError(f"{key}: {quoted(others)} found; give a list of them")
        fields[key] = (*parts, *others)
    return Model(**fields)

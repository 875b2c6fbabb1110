"""make_flexible: a rigid link becomes a beam and a rigid remainder, with the mass, inertia and places of the link."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Tag

from pliant.errors import ModelError
from pliant.model.bodies import Body, Frame, Sphere
from pliant.model.contacts import Contact
from pliant.model.flexible import NO_SHAPES, AnyDamping, Axial, Beam, Coupling, Damping, Material, Modes, Plane, Section
from pliant.model.joints import Joint
from pliant.model.messages import closest, listed, quoted
from pliant.model.model import Model
from pliant.model.quantities import TEXT_OR_OTHER, Vector, described
from pliant.model.tree import find_frame

Array = NDArray[np.float64]
ROUNDING = 1e-9  # of masses, relative to the link's, and of places, relative to the beam's length


@described
class FlexibleLink:
    """Which link bends, and how. The beam goes from the origin of the link, its inboard joint, to `to`.

    What the link has more of than the beam, in mass, mass centre and inertia, is a rigid remainder fixed to the beam's
    start ("root") or end ("tip"). The link keeps its name and frame; the beam is called link_beam, the body at its end,
    if one is needed, link_tip."""

    link: str  # name of the body
    section: Section  # constant or tapered; y as `y` says
    material: Material  # young, density, ...
    modes: Modes = 2  # of each bending plane, unless bending_y or bending_z say otherwise
    to: Annotated[Annotated[str, Tag("text")] | Annotated[Vector, Tag("other")], TEXT_OR_OTHER] | None = (
        None  # a joint or frame on the link, or a point in its axes; default: its one outboard joint
    )
    y: Vector | None = None  # direction of the section's y in axes of the link; default: its y, or z for a beam along y
    remainder: Literal["root", "tip"] = "root"  # which end carries what the beam does not have
    bending_y: Plane | None = None  # shapes in the beam's x-y plane
    bending_z: Plane | None = None  # shapes in its x-z plane
    stretch: Axial = NO_SHAPES  # shapes along the axis, or just how many sines
    torsion: Axial = NO_SHAPES  # the same of the angle about it
    theory: Literal["timoshenko", "euler-bernoulli"] = "timoshenko"  # of bending
    coupling: Coupling = "high-order"  # of bending and axial motion
    rotary: Literal["section", "frame", "none"] = "section"  # inertia of the sections
    damping: AnyDamping = Damping()  # of the material and the air; a number is the ratio of every mode


PASSED = ("section", "material", "stretch", "torsion", "theory", "coupling", "rotary", "damping")


def make_flexible(model: Model, link: str | FlexibleLink, **how: Any) -> Model:
    """The model with one link as a beam: make_flexible(model, "link3", section=..., material=..., modes=2).

    Undeformed it has the same mass matrix, frames and places. `how`: the fields of FlexibleLink."""
    if not isinstance(model, Model):
        raise ModelError(f"make_flexible: {quoted(model)} is no Model; give a pliant.Model")
    if isinstance(link, FlexibleLink) and how:
        raise ModelError(f"make_flexible: {listed(how)} beside a FlexibleLink, which says all itself; change that")
    wanted = link if isinstance(link, FlexibleLink) else FlexibleLink(link, **how)
    body = _find_body(model, wanted.link)
    beam, R = _beam(model, wanted, body)
    parts = _parts(wanted, body, beam, R)
    return _rebuilt(model, _Split(body, beam, R), parts, wanted)


def _fail(wanted: FlexibleLink, problem: str) -> ModelError:
    return ModelError(f"link '{wanted.link}': {problem}")


def _find_body(model: Model, name: str) -> Body:
    bodies = {body.name: body for body in model.bodies}
    if name not in bodies:
        raise ModelError(f"link '{name}' does not exist{closest(name, bodies) or ';'} there are: {listed(bodies)}")
    body = bodies[name]
    if isinstance(body, Beam):
        raise ModelError(f"link '{name}' is a beam already; change its keys instead")
    return body


def _end(model: Model, wanted: FlexibleLink) -> Array:
    """Where the beam ends, in axes of the link."""
    to, name = wanted.to, wanted.link
    if isinstance(to, tuple):
        return np.array(to)
    joints = {joint.name: find_frame(model, joint.parent) for joint in model.joints}
    places = {joint: joint_frame for joint, joint_frame in joints.items() if joint_frame.body == name}
    places |= {frame.name: frame for frame in model.frames if frame.name and frame.body == name}
    if to is not None:
        if to not in places:
            known = listed(places) or "none"
            hint = closest(to, places) or ";"
            raise _fail(wanted, f"to '{to}' is no joint or frame on it{hint} there are: {known}; or give a point")
        return np.array(places[to].position)
    ends = [joint for joint, joint_frame in joints.items() if joint_frame.body == name]
    if len(ends) != 1:
        found = f"{len(ends)} joints ({listed(ends)})" if ends else "no joint"
        raise _fail(wanted, f"it carries {found}; say where the beam ends: to = a joint, a frame, or a point")
    return np.array(places[ends[0]].position)


def _beam(model: Model, wanted: FlexibleLink, body: Body) -> tuple[Beam, Array]:
    """The beam, and its axes in those of the link."""
    end = _end(model, wanted)
    length = float(np.linalg.norm(end))
    if length == 0.0:
        raise _fail(wanted, "its outboard end is at its origin, so the beam has no length; give another place as `to`")
    x = end / length
    y = np.array(wanted.y if wanted.y is not None else (0.0, 0.0, 1.0) if abs(x[1]) > 0.9 else (0.0, 1.0, 0.0))
    y = y - (y @ x) * x
    if np.linalg.norm(y) < 1e-6 * np.linalg.norm(wanted.y or (1.0,)):
        raise _fail(wanted, f"y {wanted.y} points along the beam; give a direction across it")
    y /= np.linalg.norm(y)
    planes = {name: getattr(wanted, name) for name in ("bending_y", "bending_z")}
    if planes == {"bending_y": None, "bending_z": None}:
        planes = dict.fromkeys(planes, wanted.modes)
    given = {name: getattr(wanted, name) for name in PASSED}
    return Beam(f"{body.name}_beam", length, **planes, **given), np.stack([x, y, np.cross(x, y)], axis=1)


def _parts(wanted: FlexibleLink, body: Body, beam: Beam, R: Array) -> tuple[float, Array, Array]:
    """Of the remainder: mass, mass centre and inertia about it, in axes of the link."""
    mass = body.total_mass - beam.total_mass
    numbers = f"the beam alone has {beam.total_mass:.6g} kg, the link {body.total_mass:.6g} kg"
    if mass < -ROUNDING * body.total_mass:
        raise _fail(wanted, f"{numbers}; give a thinner section or a lighter material, or a shorter beam")
    about_origin = body.inertia_about_origin - R @ beam.inertia_about_origin @ R.T
    if mass <= ROUNDING * body.total_mass:
        gap = np.abs(about_origin).max() / np.abs(body.inertia_about_origin).max()
        offset = np.linalg.norm(body.centre - R @ beam.centre) / beam.length
        if max(gap, offset) > 1e-6:
            raise _fail(wanted, f"{numbers}: nothing is left to make up for inertia; give a lighter beam")
        return 0.0, np.zeros(3), np.zeros((3, 3))
    centre = (body.total_mass * body.centre - beam.total_mass * R @ beam.centre) / mass
    inertia = about_origin - mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    inertia = 0.5 * (inertia + inertia.T)
    small, middle, large = np.linalg.eigvalsh(inertia)
    slack = ROUNDING * np.abs(body.inertia_about_origin).max()
    if small < -slack or large > small + middle + slack:
        raise _fail(
            wanted,
            f"no rigid remainder can complete the beam: {numbers}, and {mass:.6g} kg at "
            f"({', '.join(f'{c:.4g}' for c in centre)}) m would need the principal moments "
            f"{small:.4g}, {middle:.4g}, {large:.4g} kg m^2; "
            "give a thinner section, a lighter material or another `to`",
        )
    return mass, centre, _physical(inertia)


def _physical(inertia: Array) -> Array:
    """The same with principal moments that a body can have, to the last digits."""
    moments, axes = np.linalg.eigh(inertia)
    moments = np.maximum(moments, 0.0)
    moments[2] = min(moments[2], moments[0] + moments[1]) if moments[2] > 0 else 0.0
    made: Array = axes @ np.diag(moments) @ axes.T
    return 0.5 * (made + made.T)


@dataclass(frozen=True)
class _Split:
    """Where places of the link are now: on the link itself (at the start), on the beam, or on the body at its end."""

    body: Body
    beam: Beam
    R: Array  # axes of the beam in those of the link

    @property
    def tip(self) -> str:
        return f"{self.body.name}_tip"

    def moved(self, frame: Frame) -> Frame:
        if frame.body != self.body.name:
            return frame
        place, attitude = self.R.T @ np.array(frame.position), self.R.T @ frame.matrix
        slack = ROUNDING * self.beam.length
        if place[0] <= slack:
            return frame
        if place[0] > self.beam.length + slack:
            place[0] -= self.beam.length
            return replace(frame, body=self.tip, position=tuple(place), attitude=attitude.tolist())
        place[0] = min(place[0], self.beam.length)
        return replace(frame, body=self.beam.name, position=tuple(place), attitude=attitude.tolist())

    def place(self, place: str | Frame) -> str | Frame:
        """Names stay: named frames move by themselves, and the link keeps its frame."""
        return self.moved(place) if isinstance(place, Frame) else place


def _rebuilt(model: Model, split: _Split, remainder: tuple[float, Array, Array], wanted: FlexibleLink) -> Model:
    name, (mass, centre, inertia) = split.body.name, remainder
    joints = [replace(joint, parent=split.place(joint.parent)) for joint in model.joints]
    frames = [split.moved(frame) for frame in model.frames]
    loads = [replace(load, frame=split.place(load.frame)) for load in model.loads]
    contacts = [_moved_contact(contact, split) for contact in model.contacts]
    loops = [replace(loop, first=split.place(loop.first), second=split.place(loop.second)) for loop in model.loops]
    springs = [
        replace(spring, first=split.place(spring.first), second=split.place(spring.second)) for spring in model.springs
    ]
    # what was seen of the link would not bend: the ends are seen as small balls
    root, tip = (Body(one, 0.0, shape=Sphere(0.02 * split.beam.length)) for one in (name, split.tip))
    if mass > 0.0 and wanted.remainder == "root":
        root = replace(root, mass=mass, com=tuple(centre), inertia=inertia.tolist())
    elif mass > 0.0:
        end = np.array([split.beam.length, 0.0, 0.0])
        turned = split.R.T @ inertia @ split.R
        tip = replace(tip, mass=mass, com=tuple(split.R.T @ centre - end), inertia=(0.5 * (turned + turned.T)).tolist())
    start = Frame(name, attitude=split.R.tolist())
    added = [Joint(f"{split.beam.name}_weld", "fixed", split.beam.name, start)]
    places = [*(joint.parent for joint in joints), *frames, *(load.frame for load in loads)]
    places += [place for one in contacts for place in (*one.places, one.plane.place)]
    places += [place for loop in loops for place in (loop.first, loop.second)]
    places += [place for spring in springs for place in (spring.first, spring.second)]
    is_used = any(isinstance(place, Frame) and place.body == split.tip for place in places) or tip.mass
    if is_used:
        joint_frame = Frame(split.beam.name, (split.beam.length, 0.0, 0.0))
        added.append(Joint(f"{split.tip}_weld", "fixed", split.tip, joint_frame))
    bodies = [part for one in model.bodies for part in ((root, split.beam) if one.name == name else (one,))]
    try:
        return replace(
            model,
            bodies=tuple(bodies + [tip] * bool(is_used)),
            joints=tuple(joints + added),
            frames=tuple(frames),
            loads=tuple(loads),
            springs=tuple(springs),
            contacts=tuple(contacts),
            loops=tuple(loops),
        )
    except ModelError as error:
        raise ModelError("\n".join(f"link '{name}' as a beam: {line}" for line in str(error).splitlines())) from None


def _moved_contact(contact: Contact, split: _Split) -> Contact:
    points = tuple(split.place(point) for point in contact.places) or contact.points
    return replace(contact, points=points, plane=replace(contact.plane, place=split.place(contact.plane.place)))

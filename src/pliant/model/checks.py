"""What a model must fulfil beyond the types of its fields: names that exist, one tree, outputs that make sense.

What concerns one object alone is checked where it is made; whether all can move is checked in mobility.py."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from pliant.model.bodies import DIRECTIONS, Body, Frame, Rod, Tube
from pliant.model.contact_points import ContactPoint, contact_points
from pliant.model.control_laws import ComputedTorque, StateFeedback
from pliant.model.flexible import NO_FIBRE, Beam
from pliant.model.friction_laws import Friction
from pliant.model.messages import closest, listed, refuse
from pliant.model.mobility import mobility_problems
from pliant.model.springs import spring_problems
from pliant.model.tree import find_frame, stays_in_plane

if TYPE_CHECKING:
    from pliant.model.contacts import Contact
    from pliant.model.control import Controller
    from pliant.model.joints import Joint
    from pliant.model.model import Model, Output


def check_model(model: Model) -> None:
    """Raise ValueError (pydantic turns it into ModelError) with all problems of the first stage that has any."""
    for stage in STAGES:
        refuse(problem for check in stage for problem in check(model))


# names


def _name_problems(model: Model) -> Iterator[str]:
    places = [("body", body.name) for body in model.bodies]
    places += [("frame", frame.name) for frame in model.frames if frame.name]
    yield from _doubles(places)
    for what in ("joint", "load", "spring", "contact", "loop", "crossing", "output", "controller"):
        items: Iterable[Any] = getattr(model, f"{what}s")
        yield from _doubles((what, item.name) for item in items if item.name)
    joints, bodies = {joint.name for joint in model.joints}, {body.name for body in model.bodies}
    for loop in model.loops:
        if loop.name in joints:
            yield f"loop '{loop.name}': a joint has this name; rename one of them"
    for spring in model.springs:
        if spring.name in joints | bodies:
            what = "joint" if spring.name in joints else "body"
            yield f"spring '{spring.name}': a {what} has this name; rename one of them"
    for what, name in [*places, *(("joint", joint.name) for joint in model.joints)]:
        if name == "world":
            yield f"{what} 'world': the name is reserved for the ground; choose another name"
    for index, frame in enumerate(model.frames):
        if frame.name is None:
            yield f"frames[{index}] on '{frame.body}' has no name, so nothing can refer to it; give it a name"


PLURALS = {"body": "bodies"}


def _doubles(named: Iterable[tuple[str, str]]) -> Iterator[str]:
    first: dict[str, str] = {}
    for what, name in named:
        if name in first:
            both = f"two {PLURALS.get(what, what + 's')}" if first[name] == what else f"a {first[name]} and a {what}"
            yield f"{what} '{name}': {both} have this name; rename one of them"
        first.setdefault(name, what)


# names that are referred to


def _reference_problems(model: Model) -> Iterator[str]:
    bodies = dict.fromkeys(body.name for body in model.bodies)
    carriers = {"world": None, **bodies}
    places = {**carriers, **dict.fromkeys(model.named_frames)}
    for frame in model.frames:
        yield from _unknown(f"frame '{frame.name}'", "body", frame.body, carriers)
    for joint in model.joints:
        yield from _unknown_place(f"joint '{joint.name}'", "parent", joint.parent, carriers, places)
        yield from _unknown(f"joint '{joint.name}'", "child", joint.child, bodies)
    for index, load in enumerate(model.loads):
        where = f"load '{load.name}'" if load.name else f"loads[{index}]"
        yield from _unknown_place(where, "frame", load.frame, carriers, places)
        if find_frame(model, load.frame).body == "world":
            yield f"{where}: it acts on the world, which does not move; choose a body or a frame on one"
    for spring in model.springs:
        for key in ("first", "second"):
            yield from _unknown_place(f"spring '{spring.name}'", key, getattr(spring, key), carriers, places)
    for contact in model.contacts:
        where = f"contact '{contact.name}'"
        yield from _unknown_place(where, "plane.place", contact.plane.place, carriers, places)
        for index, place in enumerate(contact.places):
            yield from _unknown_place(where, f"points[{index}]", place, carriers, places)
    for loop in model.loops:
        for key in ("first", "second"):
            yield from _unknown_place(f"loop '{loop.name}'", key, getattr(loop, key), carriers, places)


def _unknown_place(
    where: str, key: str, place: str | Frame, carriers: Collection[str], places: Collection[str]
) -> Iterator[str]:
    if isinstance(place, Frame):
        yield from _unknown(where, f"{key}.body", place.body, carriers)
    else:
        yield from _unknown(where, key, place, places)


def _unknown(where: str, key: str, name: str, allowed: Collection[str]) -> Iterator[str]:
    if name not in allowed:
        yield f"{where}: {key} '{name}' does not exist{closest(name, allowed) or ';'} there are: {listed(allowed)}"


# one tree


def _tree_problems(model: Model) -> Iterator[str]:
    carriers: dict[str, list[str]] = {body.name: [] for body in model.bodies}
    for joint in model.joints:
        carriers[joint.child].append(joint.name)
    for body, joints in carriers.items():
        if len(joints) > 1:
            yield (
                f"body '{body}' is the child of {len(joints)} joints ({listed(joints)}); "
                "let one joint carry it and make the others loops: [[loops]] with the same kind and frames"
            )
    yield from _jointless_problems(model, [body for body, joints in carriers.items() if not joints])
    yield from _cycles({joint.child: find_frame(model, joint.parent).body for joint in model.joints})


def _jointless_problems(model: Model, jointless: list[str]) -> Iterator[str]:
    if len(jointless) > 1:
        yield (
            f"bodies {listed(jointless)} have no joint; only one body may go without (the base), "
            "so make the others children of joints (kind fixed to weld them)"
        )
    if not jointless and model.base != type(model.base)():
        yield (
            f"base: settings (kind {model.base.kind}) are given, but every body is carried by a joint; "
            "leave base out, or remove the joint of the body that is the base"
        )
    for joint in model.joints:
        if joint.name in jointless:
            yield (
                f"joint '{joint.name}': it has the name of the body without a joint, whose coordinates are called "
                f"'{joint.name}' too; rename one of them"
            )


def _cycles(parents: dict[str, str]) -> Iterator[str]:
    """Follow the parents from every body; who comes back to where it was stands in a cycle."""
    done: set[str] = set()
    for start in parents:
        path: list[str] = []
        body = start
        while body in parents and body not in done and body not in path:
            path.append(body)
            body = parents[body]
        if body in path:
            ring = [*path[path.index(body) :], body]
            yield f"bodies {' -> '.join(ring)} carry each other in a circle; connect one of them to the world"
        done.update(path)


# contacts


def _ball_problems(where: str, contact: Contact, points: tuple[ContactPoint, ...]) -> Iterator[str]:
    """One radius for all would be another than what the shapes say."""
    for point in points:
        if contact.radius and point.radius != contact.radius:
            yield (
                f"{where}: '{point.frame.body}' has radius {point.radius:g} and the contact {contact.radius:g}; leave "
                "that of the contact out, or give its points one by one"
            )
            return


def _contact_problems(model: Model) -> Iterator[str]:
    for contact in model.contacts:
        where = f"contact '{contact.name}'"
        carrier = find_frame(model, contact.plane.place).body
        points = contact_points(model, contact)
        if contact.points == "shapes":
            yield from _ball_problems(where, contact, points)
        if not points:
            yield f"{where}: there is no rod, tube or beam whose ends could be its points; give points"
        for point in points:
            if point.frame.body == carrier:
                what = "the world, which carries its plane" if carrier == "world" else f"'{carrier}', as its plane is"
                yield f"{where}: point '{point.name}' is on {what}: they never touch; choose points on other bodies"
        x, y, _ = find_frame(model, contact.plane.place).matrix @ np.array(contact.plane.normal)
        if x == y == 0.0 and stays_in_plane(model):
            yield (
                f"{where}: its plane has the normal z, but the model moves in x-y: they never meet; "
                "give plane.normal, such as [0, 1, 0] for a floor below"
            )
        yield from (
            f"{where}: point '{name}' is named twice; name each once"
            for name in sorted(
                {point.name for point in points if [other.name for other in points].count(point.name) > 1}
            )
        )


# closed loops


def _loop_problems(model: Model) -> Iterator[str]:
    names = [link.joint.name for link in model.links]
    for name in model.keep:
        yield from _unknown("keep", "joint", name, names)
    if model.keep and not model.loops:
        yield "keep has no effect in a model without loops; leave it out"
    for loop in model.loops:
        first, second = (find_frame(model, place).body for place in (loop.first, loop.second))
        if first == second:
            yield (
                f"loop '{loop.name}': both frames are on '{first}', so nothing is closed; choose frames on two bodies, "
                "or on a body and the world"
            )


# beams: where they are held, and places on them


def _stiffened_problems(model: Model) -> Iterator[str]:
    """Forces that the first of two solves does not know would be missing in the geometric stiffness."""
    if not model.is_stiffened:
        return
    frictions = [("contact", one.name, [one.friction]) for one in model.contacts]
    frictions += [("joint", joint.name, list(joint.each("friction"))) for joint in model.joints]
    found = [f"loop '{loop.name}'" for loop in model.loops]
    found += [f"friction that sticks in {what} '{name}'" for what, name, laws in frictions if _sticks(laws)]
    if found:
        yield (
            f'coupling = "stiffened" has no place for the forces of {listed(found)}, which are found together with '
            'the accelerations; take coupling = "high-order"'
        )


def _sticks(laws: Iterable[Any]) -> bool:
    return any(isinstance(law, Friction) and law.sticks() for law in laws)


def _beam_problems(model: Model) -> Iterator[str]:
    carrying = {link.parent for link in model.links}
    for i, link in enumerate(model.links):
        if isinstance(link.body, Beam):
            yield from _start_problems(link.body, link.joint)
            if link.body.families[3] and not link.body.has_polar_inertia and i not in carrying:
                yield (
                    f"beam '{link.body.name}': nothing resists its torsion modes: its sections have no polar inertia; "
                    'give rotary = "section" and a polar rotary_inertia, or weld a body with inertia to its end'
                )
    places: list[tuple[str, str | Frame]] = [(f"frame '{frame.name}'", frame) for frame in model.frames]
    places += [(f"joint '{joint.name}': parent", joint.parent) for joint in model.joints]
    places += [(f"load '{load.name}': frame", load.frame) for load in model.loads]
    places += [(f"contact '{one.name}': point", place) for one in model.contacts for place in one.places]
    places += [(f"contact '{one.name}': plane", one.plane.place) for one in model.contacts]
    pairs = [("loop", loop) for loop in model.loops] + [("spring", spring) for spring in model.springs]
    places += [(f"{what} '{one.name}': {key}", getattr(one, key)) for what, one in pairs for key in ("first", "second")]
    for contact in model.contacts:
        for place in contact.places:
            yield from _off_rod(model, f"contact '{contact.name}': point", find_frame(model, place))
    beams = {body.name: body for body in model.bodies if isinstance(body, Beam)}
    for where, frame in places:
        if isinstance(frame, Frame) and frame.body in beams:
            yield from _off_beam(where, frame, beams[frame.body])


ROUNDING = 1e-12


def _off_beam(where: str, frame: Frame, beam: Beam) -> Iterator[str]:
    if not -ROUNDING <= frame.position[0] / beam.length <= 1 + ROUNDING:
        yield (
            f"{where}: x = {frame.position[0]:.15g} m lies off the beam '{beam.name}', whose axis goes from 0 to "
            f"{beam.length:g} m; give x on it (y and z may be any offset)"
        )


def _off_rod(model: Model, where: str, frame: Frame) -> Iterator[str]:
    """A contact point beyond the ends of a rod or tube would touch where nothing is."""
    shape = next((body.shape for body in model.bodies if body.name == frame.body and isinstance(body, Body)), None)
    if isinstance(shape, (Rod, Tube)):
        along = float(DIRECTIONS[shape.axis] @ np.array(frame.position))
        if not -ROUNDING <= along / shape.length <= 1 + ROUNDING:
            yield (
                f"{where}: {shape.axis} = {along:.15g} m lies off the {shape.kind} '{frame.body}', which goes from 0 "
                f"to {shape.length:g} m; give a point on it"
            )


def _start_problems(beam: Beam, joint: Joint) -> Iterator[str]:
    """What the shapes of a beam do at its start must fit its joint."""
    if beam.is_free_at_start and joint.kind not in ("floating", "planar"):
        ends = listed(plane.ends for plane in (beam.bending_y, beam.bending_z) if plane and plane.is_free_at_start)
        yield (
            f"beam '{beam.name}': ends {ends} let its start move as a rigid body, but joint '{joint.name}' "
            f"({joint.kind}) holds it or moves it already; give a pair that begins with s or c, "
            "or put the beam on a floating or planar base"
        )
    forces = ("stiffness", "damping", "limit", "motor", "friction")
    carried = [name for name in forces if any(value not in (None, 0.0, "none") for value in joint.each(name))]
    if beam.tilts_start and carried and joint.kind in ("universal", "spherical", "floating"):
        yield (
            f"joint '{joint.name}': its {listed(carried)} would act on the first section of beam '{beam.name}', which "
            f"its modes tilt; that is possible on revolute, cylindrical and planar joints, not on a {joint.kind} one: "
            "give ends that begin with c"
        )


# what refers to coordinates and joints


def _output_problems(model: Model) -> Iterator[str]:
    from pliant.model.model import ContactQuantity, JointQuantity

    joints = {link.joint.name: link.joint for link in model.links}
    # what else has such a quantity
    others = {"reaction": [loop.name for loop in model.loops], "spring": [spring.name for spring in model.springs]}
    flexible = [joint.name for joint in model.joints if joint.transmission is not None]
    for output in model.outputs:
        where = f"output '{output.name}'"
        if output.quantity in get_args(ContactQuantity):
            known = [contact.name for contact in model.contacts]
            yield from _unknown(where, f"of ({output.quantity} of a contact)", output.of, known)
        elif output.is_in_beam:
            yield from _section_problems(model, where, output)
        elif output.quantity not in get_args(JointQuantity):
            yield from _unknown(where, f"of ({output.quantity} of a body or frame)", output.of, _places(model))
        elif output.of in others.get(output.quantity, ()):
            continue
        elif output.of not in joints:
            known = [*joints, *others.get(output.quantity, ())]
            yield from _unknown(where, f"of ({output.quantity} of a joint)", output.of, known)
        elif output.quantity != "reaction" and joints[output.of].kind == "fixed":
            yield f"{where}: joint '{output.of}' is fixed and has no {output.quantity}; ask for its reaction"
        elif output.quantity == "transmission" and output.of not in flexible:
            yield (
                f"{where}: joint '{output.of}' has no transmission{closest(output.of, flexible) or ';'} "
                f"flexible joints: {listed(flexible) or 'none'}"
            )


def _section_problems(model: Model, where: str, output: Output) -> Iterator[str]:
    """Forces in sections are asked for at frames on beams."""
    beams = {beam.name: beam for beam in model.beams}
    places = [*beams, *(frame.name for frame in model.frames if frame.name and frame.body in beams)]
    if output.of not in places:
        yield (
            f"{where}: {output.quantity} is of a section of a beam, and '{output.of}' is none"
            f"{closest(output.of, places) or ';'} beams and frames on them: {listed(places) or 'none'}"
        )
        return
    beam = beams[find_frame(model, output.of).body]
    if output.quantity != "section" and not beam.has_outer_fibre:
        yield f"{where}: beam '{beam.name}': {NO_FIBRE}"


def _places(model: Model) -> list[str]:
    return ["world", *(body.name for body in model.bodies), *(frame.name for frame in model.frames if frame.name)]


def _crossing_problems(model: Model) -> Iterator[str]:
    rates = [f"{name}.rate" for name in model.velocities]
    components = [f"{place}.{axis}" for place in _places(model)[1:] for axis in "xyz"]
    allowed = [*model.coordinates, *rates, *components]
    for crossing in model.crossings:
        if crossing.of not in allowed:
            yield (
                f"crossing '{crossing.name}': of '{crossing.of}' does not exist{closest(crossing.of, allowed) or ';'} "
                f"allowed are coordinates ({listed(model.coordinates, 6)}), their rates ({listed(rates, 6)}) "
                f"and positions of bodies and frames ({listed(components, 6)})"
            )


def _controller_problems(model: Model) -> Iterator[str]:
    joints = {link.joint.name: link.joint for link in model.links}
    springs = [spring.name for spring in model.springs]
    movable = [*(name for name, joint in joints.items() if joint.kind != "fixed"), *springs]
    flexible = [joint.name for joint in model.joints if joint.transmission is not None]
    held_by: dict[str, str] = {}
    for controller in model.controllers:
        where = f"controller '{controller.name}'"
        for name in set(controller.joints):
            if name in held_by:
                yield f"{where}: joint '{name}' is already commanded by '{held_by[name]}'; one controller per joint"
            held_by[name] = controller.name
        for name in controller.joints:
            if name.removesuffix(".motor") in flexible and name not in flexible:
                joint = name.removesuffix(".motor")
                yield f"{where}: joint '{name}' is the motor's side of '{joint}'; name the joint itself"
            elif name in joints and name not in movable:
                yield f"{where}: joint '{name}' is fixed and has no motor; take it out of joints"
            else:
                yield from _unknown(where, "joint", name, movable)
        if len(set(controller.joints)) < len(controller.joints):
            yield f"{where}: joints {listed(controller.joints)} name one joint twice; name each once"
        count = sum(len(joints[name].row.velocities) for name in controller.joints if name in joints)
        count += sum(name in springs for name in controller.joints)
        if isinstance(controller.limit, tuple) and len(controller.limit) != count:
            values = f"{len(controller.limit)} values for {count} commands"
            yield f"{where}: limit has {values}; give one, or one per command"
        commanded = [spring for spring in model.springs if spring.name in controller.joints]
        for spring in commanded:
            if spring.only is not None:
                yield (
                    f"{where}: spring '{spring.name}' acts in one sense only and takes no motor; command a spring "
                    "without `only`, with commands of one sign"
                )
        if controller.law is not None and commanded:
            yield (
                f"{where}: the law {controller.law.kind} measures coordinates of joints, which spring "
                f"'{commanded[0].name}' has none of; give a Python function"
            )
        elif controller.law is not None:
            yield from _law_problems(model, controller, count)


def _law_problems(model: Model, controller: Controller, count: int) -> Iterator[str]:
    """Laws need coordinates whose rates are velocities: of the controller's joints, or of all."""
    law, where = controller.law, f"controller '{controller.name}'"
    assert law is not None
    is_whole = isinstance(law, StateFeedback)
    for link in model.links:
        if not link.joint.row.has_plain_rates and (is_whole or link.joint.name in controller.joints):
            yield (
                f"{where}: the law {law.kind} cannot take joint '{link.joint.name}', whose velocities are no "
                "rates of coordinates; give a Python function"
            )
            return
    if isinstance(law, ComputedTorque):
        yield from _computed_torque_problems(model, where)
    n_state = len(model.coordinates) + len(model.velocities)
    yield from (f"{where}: {problem}" for problem in law.problems(count, n_state))


def _computed_torque_problems(model: Model, where: str) -> Iterator[str]:
    """Inverse dynamics needs the acceleration of every joint: commanded, prescribed, or held by another controller."""
    if model.loops:
        yield f"{where}: computed torque takes no loops ('{model.loops[0].name}'); give a PD law with feedforward"
        return
    commanded = {name for controller in model.controllers for name in controller.joints}
    for link in model.links:
        name = link.joint.name.removesuffix(".motor") if link.transmission is not None else link.joint.name
        is_free = None in link.joint.each("motion") or "free" in link.joint.each("motion")
        if link.joint.row.velocities and is_free and name not in commanded:
            yield (
                f"{where}: computed torque cannot know the acceleration of joint '{link.joint.name}', which moves "
                "freely; command it, too, prescribe its motion, or give another law"
            )
            return


Check = Callable[["Model"], Iterator[str]]
# later stages rely on earlier ones
STAGES: tuple[tuple[Check, ...], ...] = (
    (_name_problems,),
    (_reference_problems,),
    (_tree_problems,),
    (_beam_problems, _contact_problems, _loop_problems, spring_problems, _stiffened_problems),
    (_output_problems, _crossing_problems, _controller_problems, mobility_problems),
)

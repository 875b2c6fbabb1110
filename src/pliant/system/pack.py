"""pack(model) -> System: the only writer of tables. Python objects become rows; nothing is decided here."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.model.bodies import Frame
from pliant.model.joints import Joint
from pliant.model.model import Model
from pliant.model.planar_chains import PlanarChain
from pliant.model.transmissions import TorqueTable
from pliant.model.tree import Link, find_frame, kept_velocities, model_size, motor_links, stays_in_plane
from pliant.system import tables
from pliant.system.contact_rows import NO_ROWS, ContactRows, put_spans
from pliant.system.contact_tables import CONTACT, FRICTION, JOINT_FRICTION
from pliant.system.control_rows import ControlRows
from pliant.system.control_tables import COMMAND, CONTROLLER, ENCODER, FEEDBACK
from pliant.system.flexible_rows import FlexibleRows
from pliant.system.loop_rows import LoopRows
from pliant.system.loop_tables import BRANCH, CONSTRAINT, LOOP
from pliant.system.segment_rows import segment_rows
from pliant.system.signal_rows import SignalRows
from pliant.system.spring_rows import spring_events, spring_rows, table_row
from pliant.system.spring_tables import SPRING
from pliant.system.tables import Crossing, JointKind, Power, Quantity, System, rows

KIND = {kind.name.lower(): kind for kind in JointKind}
UPPER = np.triu_indices(3)
KEPT_WEIGHT = 0.1  # of the dependence weight, of joints that the model keeps
THROUGH_PI = "rotates through pi"  # what the event is called where a spring's moment changes its sign
REST_BAND = 1e-12  # of crossings that are only recorded, of 1 or their value: rounding of a joint at rest


@dataclass
class Packed:
    """A model as tables, with what Python needs to know about them."""

    model: Model
    system: System
    breakpoints: NDArray[np.float64]  # kinks of all signals [s]
    n_inputs: int
    control_size: int  # entries of work.control
    event_names: tuple[str, ...]
    outputs: Any  # OUTPUT rows
    frame_rows: dict[str, int]  # row of every named frame and body
    contact_names: tuple[tuple[str, str], ...]  # contact and point of every contact row
    restitutions: tuple[float, ...]  # asked for, per contact row
    state_scales: tuple[float, ...]  # of the friction states, the last of z [m, rad]


def pack(model: Model) -> Packed:
    """Write all tables of a model."""
    signals = SignalRows()
    flexible = FlexibleRows(model.links)
    inputs = _inputs(model)
    dofs = _dofs(model, signals, inputs.of_velocities, flexible)
    frames, frame_rows = _frames(model)
    loads = _loads(model, signals, frames)
    limits = _limits(model)
    transmissions = _transmissions(model, len(limits), signals.pool)
    has_damped_beams = any(np.any(t.D) for t in flexible.tables.values())
    is_damped = has_damped_beams or bool(np.any(transmissions.damping > 0))
    n_flanks = 2 * int(np.sum(transmissions.phase >= 0))
    ball_phases = _ball_phases(model, dofs, len(limits) + n_flanks)
    first_phase = len(limits) + n_flanks + len(ball_phases)
    contents = spring_rows(model, signals, frames, inputs.of_springs, first_phase)
    springs = _fill(rows(len(contents), SPRING), contents)
    quadratures = _quadratures(model, dofs, loads, limits, springs, is_damped)
    touching = ContactRows(first_phase + int(np.sum(springs.phase >= 0)), len(quadratures))
    touching.add_contacts(model, frames)
    touching.add_joint_frictions(model)
    closed = LoopRows(model, frames)
    events, event_names = _events(model, limits, transmissions, springs, frame_rows, touching, ball_phases)
    n_acting = len(signals.rows)
    controlled = ControlRows(model, inputs.of_velocities, signals)
    signal_rows = _fill(rows(len(signals.rows), tables.SIGNAL), signals.rows)
    carriers = {
        i: flexible.section(link.parent, link.joint_frame.position[0]) for i, link in _on_beams(model, flexible)
    }
    frame_table, sections = _frame_table(model, frames, flexible)
    flexes, points, shapes, point_rows = flexible.finish()
    for k, key in sections.items():
        frame_table[k].point = point_rows[key]
    bodies = _bodies(model, dofs, flexible, {i: point_rows[key] for i, key in carriers.items()})
    for i, phase in ball_phases.items():
        bodies[i].ball_phase = phase
    contacts = _fill(rows(len(touching.contacts), CONTACT), touching.contacts)
    joint_frictions = _fill(rows(len(touching.joint_frictions), JOINT_FRICTION), touching.joint_frictions)
    put_spans(contacts, joint_frictions, bodies, dofs, frame_table, bool(closed.loops))
    loops = _fill(rows(len(closed.loops), LOOP), closed.loops)
    acting = [*loads.frame, *springs.start, *springs.end, *contacts.frame, *contacts.plane, *loops.first, *loops.second]
    of_springs, of_contacts = (springs.start, springs.end), (contacts.frame, contacts.plane)
    joined = [(frame_table[i].body, frame_table[j].body) for pair in (of_springs, of_contacts) for i, j in zip(*pair)]
    joined += list(zip(dofs[transmissions.motor].body, dofs[transmissions.link].body, strict=True))
    closed.put_branches(bodies, dofs, frame_table, joined, len(signals.links))
    _mark_leaves(bodies, dofs, {int(frame_table[k].body) for k in acting})
    world = _world(model, bodies, dofs, loads, limits, springs, events, len(quadratures) + touching.n_z, n_acting)
    world.n_lanes = closed.n_lanes
    if isinstance(model.chain, PlanarChain):
        # forces beside the axis have moments that depend on the angles
        is_turned_only = not model.springs and all(load.kind == "couple" for load in model.loads)
        world.is_coaxial = model.chain.is_coaxial and is_turned_only
        world.plane = model.chain.plane.ravel()
    system = System(
        world=world,
        bodies=bodies,
        flexes=flexes,
        points=points,
        dofs=dofs,
        signals=signal_rows,
        frames=frame_table,
        loads=loads,
        limits=limits,
        transmissions=transmissions,
        springs=springs,
        contacts=contacts,
        frictions=_fill(rows(len(touching.frictions), FRICTION), touching.frictions),
        joint_frictions=joint_frictions,
        loops=loops,
        constraints=_fill(rows(len(closed.constraints), CONSTRAINT), closed.constraints),
        branches=_fill(rows(len(closed.branches), BRANCH), closed.branches),
        events=events,
        **segment_rows(model, bodies, dofs)._asdict(),
        controllers=_fill(rows(len(controlled.controllers), CONTROLLER), controlled.controllers),
        commands=_fill(rows(len(controlled.commands), COMMAND), controlled.commands),
        feedback=_fill(rows(len(controlled.feedback), FEEDBACK), controlled.feedback),
        encoders=_fill(rows(len(controlled.encoders), ENCODER), controlled.encoders),
        quadratures=np.array(quadratures, np.int64),
        links=np.array([*signals.links, *closed.links], np.int64),
        pool=np.array(signals.pool, np.float64),
        shapes=shapes,
    )
    return Packed(
        model,
        system,
        np.array(sorted(signals.kinks)),
        inputs.count,
        controlled.size,
        event_names,
        _outputs(model, frame_rows, touching),
        frame_rows,
        tuple(touching.names),
        tuple(touching.restitutions),
        tuple(touching.state_scales),
    )


def _fill(table: Any, contents: list[dict[str, Any]]) -> Any:
    for row, content in zip(table, contents, strict=True):
        for name, value in content.items():
            setattr(row, name, value)
    return table


def _on_beams(model: Model, flexible: FlexibleRows) -> list[tuple[int, Link]]:
    """Links whose joint sits on a flexible body."""
    return [(i, link) for i, link in enumerate(model.links) if link.parent in flexible.flex_of]


def _frame_table(model: Model, frames: list[Frame], flexible: FlexibleRows) -> tuple[Any, dict[int, tuple[int, float]]]:
    """FRAME rows, and the sections of those that sit on flexible bodies; a body's own frame does not bend."""
    table = rows(len(frames), tables.FRAME)
    index = {link.body.name: i for i, link in enumerate(model.links)} | {"world": -1}
    sections = {}
    for k, (row, frame) in enumerate(zip(table, frames, strict=True)):
        row.body, row.point = index[frame.body], -1
        row.R_BF, row.p_BF = frame.matrix.ravel(), frame.position
        is_own = k < len(model.links)
        if row.body in flexible.flex_of and not is_own:
            sections[k] = flexible.section(int(row.body), frame.position[0])
            row.p_BF = (0.0, frame.position[1], frame.position[2])
    return table, sections


def _bodies(model: Model, dofs: Any, flexible: FlexibleRows, carriers: dict[int, int]) -> Any:
    bodies = rows(len(model.links), tables.BODY)
    bodies.ball_phase = -1
    for i, (row, link) in enumerate(zip(bodies, model.links, strict=True)):
        body, joint = link.body, link.joint
        own = dofs[link.v_slice]
        row.parent, row.kind, row.q, row.v = link.parent, KIND[joint.kind], link.q, link.v
        row.n_q, row.n_v = len(joint.row.coordinates), len(joint.row.velocities)
        row.is_prescribed, row.has_armature = np.any(own.motion >= 0), np.any(own.armature > 0)
        is_loaded = np.any(own.armature > 0) or np.any(own.stiffness > 0) or np.any(own.damping > 0)
        row.is_plain_ball = joint.kind == "spherical" and not is_loaded
        row.has_ball_spring = not joint.row.has_plain_rates and np.any(own.stiffness > 0)
        row.mass, row.com, row.c = body.total_mass, body.centre, body.total_mass * body.centre
        row.I, row.J = body.inertia_about_centre[UPPER], body.inertia_about_origin[UPPER]
        row.flex, row.point = flexible.flex_of.get(i, -1), carriers.get(i, -1)
        row.p_PJ = link.joint_frame.position if row.point < 0 else (0.0, *link.joint_frame.position[1:])
        if row.flex >= 0:  # the same integrals as all others of the body
            t = flexible.tables[i]
            row.mass, row.c, row.J = t.mass, t.c0, (t.J0 + t.Jr)[UPPER]
        _place_joint(row, link.joint_frame.matrix, joint)
    return bodies


def _mark_leaves(bodies: Any, dofs: Any, pushed: set[int]) -> None:
    """is_rotor, and is_leaf and is_last_child, which do not count rotors. pushed: bodies that forces act on."""
    carried = {int(row.parent) for row in bodies} | pushed
    for i, row in enumerate(bodies):
        is_bare = row.n_v == 1 and row.flex < 0 and not (row.mass or np.any(row.J) or row.is_prescribed)
        row.is_rotor = is_bare and i not in carried and dofs[row.v].armature > 0
    last_child = {int(row.parent): i for i, row in enumerate(bodies) if not row.is_rotor}
    for i, row in enumerate(bodies):
        row.is_leaf, row.is_last_child = i not in last_child, last_child.get(int(row.parent)) == i


def joint_axis(joint: Joint) -> NDArray[np.float64]:
    """Unit vector in joint axes."""
    axis = np.array(joint.axis if joint.axis is not None else (0.0, 0.0, 1.0))
    return np.asarray(axis / np.linalg.norm(axis))


def _place_joint(row: Any, R_PJ: NDArray[np.float64], joint: Joint) -> None:
    """Joint frame and axis, and the three matrices of a rotation about the axis."""
    axis = joint_axis(joint)
    x, y, z = axis
    along = np.outer(axis, axis)
    row.R_PJ, row.axis = R_PJ.ravel(), axis
    row.R_cos = (R_PJ @ (np.eye(3) - along)).ravel()
    row.R_sin = (R_PJ @ np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])).ravel()
    row.R_one = (R_PJ @ along).ravel()


def _dofs(model: Model, signals: SignalRows, inputs: dict[int, int], flexible: FlexibleRows) -> Any:
    dofs = rows(len(model.velocities), tables.DOF)
    dofs.q = dofs.motor = dofs.motion = dofs.input = dofs.tilt = -1
    size = model_size(model)
    for i, link in enumerate(model.links):
        joint = link.joint
        given = {
            name: joint.each(name) for name in ("stiffness", "rest", "damping", "armature", "gear", "motor", "motion")
        }
        for k in range(len(joint.row.velocities)):
            row = dofs[link.v + k]
            row.body = i
            row.q = link.q + k if joint.row.has_plain_rates else -1
            row.stiffness, row.rest, row.damping = (given[name][k] for name in ("stiffness", "rest", "damping"))
            row.gear = given["gear"][k]
            row.armature = given["armature"][k] * row.gear**2
            row.motor = signals.add(given["motor"][k])
            row.motion = _motion_row(signals, given["motion"][k])
            row.input = inputs.get(link.v + k, -1)
            row.tilt = flexible.tilt(i, joint_axis(joint)) if _is_about_axis(joint, k) else -1
            row.velocity_scale = 1.0 if _is_angle(joint, k) else size
        dofs.body[link.v_modes] = i
        # modes are the last to be made dependent on other coordinates
        dofs.velocity_scale[link.v_modes] = 1e-3 * size
        dofs.q[link.v_modes] = np.arange(link.q_modes.start, link.q_modes.stop)
    dofs.dependence_weight = np.where(kept_velocities(model, model.keep), KEPT_WEIGHT, 1.0) * dofs.velocity_scale
    return dofs


def _is_angle(joint: Joint, k: int) -> bool:
    """Whether velocity k is angular."""
    row = joint.row
    return row.angles[k] if row.has_plain_rates else k >= len(row.velocities) - 3


def _is_about_axis(joint: Joint, k: int) -> bool:
    """Whether velocity k rotates the body about the joint's one axis."""
    return joint.kind in ("revolute", "cylindrical", "planar") and joint.row.angles[k]


def _motion_row(signals: SignalRows, motion: Any) -> int:
    """A motion held at zero is a motion too."""
    return -1 if motion is None or motion == "free" else signals.add_always(motion)


@dataclass
class Inputs:
    """Held commands, in the order of the controllers and what they command."""

    of_velocities: dict[int, int]
    of_springs: dict[str, int]  # by name
    count: int


def _inputs(model: Model) -> Inputs:
    by_name, springs = motor_links(model.links), {spring.name for spring in model.springs}
    made = Inputs({}, {}, 0)
    for name in (name for controller in model.controllers for name in controller.joints):
        if name in springs:
            made.of_springs[name] = made.count
            made.count += 1
            continue
        of_joint = by_name[name].v_slice
        made.of_velocities |= {j: made.count + k for k, j in enumerate(range(of_joint.start, of_joint.stop))}
        made.count += of_joint.stop - of_joint.start
    return made


def _frames(model: Model) -> tuple[list[Frame], dict[str, int]]:
    """Every body's own frame, the world, and every named frame; loads add theirs."""
    own = [*(link.body.name for link in model.links), "world"]
    frames = [Frame(body=name) for name in own] + list(model.frames)
    names = own + [frame.name for frame in model.frames]
    return frames, {name: k for k, name in enumerate(names) if name}


def _loads(model: Model, signals: SignalRows, frames: list[Frame]) -> Any:
    loads = rows(len(model.loads), tables.LOAD)
    for row, load in zip(loads, model.loads, strict=True):
        row.frame = len(frames)
        frames.append(find_frame(model, load.frame))
        row.is_couple, row.is_follower = load.kind == "couple", load.axes == "body"
        row.signal = [signals.add(load.x), signals.add(load.y), signals.add(load.z)]
    return loads


def _limits(model: Model) -> Any:
    contents: list[dict[str, Any]] = []
    for link in model.links:
        for k, limit in enumerate(link.joint.each("limit")):
            if limit is None or limit == "none":
                continue
            for side, bound in ((-1, limit.lower), (1, limit.upper)):
                if bound is not None:
                    contents.append(
                        {
                            "dof": link.v + k,
                            "side": side,
                            "phase": len(contents),
                            "is_hard": limit.stiffness is None,
                            "bound": bound,
                            "stiffness": limit.stiffness or 0.0,
                            "damping": limit.damping,
                        }
                    )
    return _fill(rows(len(contents), tables.LIMIT), contents)


def _transmissions(model: Model, first_phase: int, pool: list[float]) -> Any:
    """Flexible joints; the phases of their flanks follow those of limits, their tables are added to the pool."""
    contents: list[dict[str, Any]] = []
    for motor, link in itertools.pairwise(model.links):
        given = motor.transmission
        if given is None:
            continue
        row = {"motor": motor.v, "link": link.v, "damping": given.damping, "phase": -1}
        if given.backlash:
            row |= {"phase": first_phase, "half_backlash": 0.5 * given.backlash}
            first_phase += 2
        if isinstance(given.stiffness, TorqueTable):
            row |= table_row(*given.stiffness.both_ways, pool)
        else:
            row["stiffness"] = given.stiffness
        contents.append(row)
    return _fill(rows(len(contents), tables.TRANSMISSION), contents)


def _ball_phases(model: Model, dofs: Any, first_phase: int) -> dict[int, int]:
    """Phase of every link whose rotation vector stretches a spring."""
    quaternion_like = [i for i, link in enumerate(model.links) if link.joint.kind in ("spherical", "floating")]
    rotating = [i for i in quaternion_like if np.any(dofs.stiffness[_last_velocities(model.links[i])] > 0)]
    return {i: first_phase + k for k, i in enumerate(rotating)}


def _last_velocities(link: Link) -> slice:
    """Angular velocities of a spherical or floating joint."""
    end = link.v + len(link.joint.row.velocities)
    return slice(end - 3, end)


def _events(
    model: Model,
    limits: Any,
    transmissions: Any,
    springs: Any,
    frame_rows: dict[str, int],
    touching: ContactRows,
    ball_phases: dict[int, int],
) -> tuple[Any, tuple[str, ...]]:
    contents: list[dict[str, Any]] = []
    names = []
    for k, limit in enumerate(limits):
        contents.append({**NO_ROWS, "limit": k, "is_stop": limit.is_hard, "start_side": -1})
        names.append(f"{model.velocities[limit.dof]} at its {'upper' if limit.side > 0 else 'lower'} limit")
    for k in np.flatnonzero(transmissions.phase >= 0).tolist():
        for side, flank in ((-1, "lower"), (1, "upper")):
            contents.append({**NO_ROWS, "transmission": k, "component": side, "start_side": -1})
            names.append(f"{model.velocities[transmissions[k].link]} at the {flank} flank of its backlash")
    for i in ball_phases:
        contents.append({**NO_ROWS, "ball_spring": i, "start_side": 1})
        names.append(f"{model.links[i].joint.name} {THROUGH_PI}")
    of_springs = spring_events(model, springs)
    contents, names = contents + [NO_ROWS | each for each in of_springs[0]], names + of_springs[1]
    direction = {"rising": 1, "falling": -1, "both": 0}
    for crossing in model.crossings:
        measure, index, component = find_measure(model, crossing.of, frame_rows)
        contents.append(
            {
                **NO_ROWS,
                "measure": measure,
                "index": index,
                "component": component,
                "direction": direction[crossing.direction],
                "is_stop": crossing.action == "stop",
                "value": crossing.value,
                "band": 0.0 if crossing.action == "stop" else REST_BAND * max(1.0, abs(crossing.value)),
            }
        )
        names.append(crossing.name)
    of_contacts = touching.events()
    contents, names = contents + of_contacts[0], names + of_contacts[1]
    return _fill(rows(len(contents), tables.EVENT), contents), tuple(names)


def find_measure(model: Model, of: str, frame_rows: dict[str, int]) -> tuple[Crossing, int, int]:
    """(what, index, component) of a crossing's quantity; coordinates come before frames."""
    if of in model.coordinates:
        return Crossing.COORDINATE, model.coordinates.index(of), 0
    if of.endswith(".rate") and of.removesuffix(".rate") in model.velocities:
        return Crossing.RATE, model.velocities.index(of.removesuffix(".rate")), 0
    name, _, component = of.rpartition(".")
    return Crossing.FRAME, frame_rows[name], "xyz".index(component)


WIDTH = {"attitude": 4, "reaction": 6}
# columns per point
CONTACT_WIDTH = {Quantity.CONTACT: 4, Quantity.GAP: 1}


def _outputs(model: Model, frame_rows: dict[str, int], touching: ContactRows) -> Any:
    joints = {link.joint.name: i for i, link in enumerate(model.links)}
    motors = motor_links(model.links)
    loops = {loop.name: i for i, loop in enumerate(model.loops)}
    springs = {spring.name: i for i, spring in enumerate(model.springs)}
    recorded = [output for output in model.outputs if not output.is_in_beam]
    outputs = rows(len(recorded), tables.OUTPUT)
    column = 0
    for row, output in zip(outputs, recorded, strict=True):
        row.quantity = Quantity[output.quantity.upper()]
        row.count = WIDTH.get(output.quantity, 3)
        if row.quantity < Quantity.REACTION:
            row.index = frame_rows[output.of]
        elif row.quantity == Quantity.REACTION and output.of in loops:
            row.quantity, row.index = Quantity.LOOP, loops[output.of]
        elif row.quantity == Quantity.REACTION:
            row.index = joints[output.of]
        elif row.quantity == Quantity.SPRING and output.of in springs:
            row.quantity, row.index = Quantity.LINE, springs[output.of]
        elif row.quantity in CONTACT_WIDTH:
            points = [k for k, (contact, _) in enumerate(touching.names) if contact == output.of]
            row.index, row.count = points[0], CONTACT_WIDTH[row.quantity] * len(points)
        else:
            is_of_motor = row.quantity in (Quantity.MOTOR, Quantity.DRIVE)
            link = motors[output.of] if is_of_motor else model.links[joints[output.of]]
            row.index, row.count = link.v, link.v_slice.stop - link.v
        row.in_world = output.axes == "world"
        row.column = column
        column += row.count
    return outputs


def _quadratures(model: Model, dofs: Any, loads: Any, limits: Any, springs: Any, is_damped: bool) -> list[int]:
    """Only work terms that can occur in this model are integrated."""
    occurs = {
        Power.MOTOR: any(np.any(table[name] >= 0) for table in (dofs, springs) for name in ("motor", "input")),
        Power.DAMPER: np.any(dofs.damping > 0) or np.any(springs.damping > 0) or is_damped,
        Power.LOAD: len(loads) > 0,
        Power.DRIVE: np.any(dofs.motion >= 0),
        Power.LIMIT: np.any(limits.stiffness > 0) if len(limits) else False,
        Power.NORMAL: len(model.contacts) > 0,
        Power.FRICTION: any(contact.friction is not None for contact in model.contacts),
        Power.JOINT_FRICTION: any(link.joint.friction is not None for link in model.links),
        Power.LOOP: len(model.loops) > 0,
        Power.STIFFENING: model.is_stiffened,
    }
    return [int(kind) for kind, does in occurs.items() if does]


def _world(
    model: Model, bodies: Any, dofs: Any, loads: Any, limits: Any, springs: Any, events: Any, n_z: int, n_acting: int
) -> Any:
    world = rows(1, tables.WORLD)
    row = world[0]
    row.n_q, row.n_v, row.n_z = len(model.coordinates), len(model.velocities), n_z
    row.n_acting = n_acting
    row.has_plain_rates = len(model.quaternions) == 0
    row.has_joint_forces = any(
        np.any(column)
        for column in (
            dofs.stiffness,
            dofs.damping,
            dofs.motor >= 0,
            dofs.input >= 0,
            dofs.motion >= 0,
            limits.dof >= 0,
        )
    )
    row.has_prescribed = np.any(dofs.motion >= 0)
    row.has_ball_springs = np.any(bodies.has_ball_spring)
    has_world_loads = len(loads) > 0 and np.any(loads.is_follower == 0)
    row.needs_placement = bool(model.loops) or bool(model.springs) or has_world_loads
    row.has_one_way_springs = np.any(springs.phase >= 0)
    is_crossing = np.all([events[name] < 0 for name in NO_ROWS], axis=0)
    row.has_frame_events = np.any(is_crossing & (events.measure == Crossing.FRAME)) or np.any(events.spring >= 0)
    row.is_planar = stays_in_plane(model)
    row.uses_planar = row.is_planar and not np.any(bodies.flex >= 0)
    # the factors of its recursion are of no use to the multipliers of loops
    row.is_spherical_chain = not model.loops and _is_spherical_chain(model.links, bodies)
    row.gravity = model.gravity
    return world


def _is_spherical_chain(links: tuple[Link, ...], bodies: Any) -> bool:
    serial = all(link.parent == i - 1 for i, link in enumerate(links))
    kinds = [link.joint.kind for link in links]
    plain = not np.any(bodies.has_armature) and not np.any(bodies.is_prescribed) and not np.any(bodies.flex >= 0)
    return serial and plain and kinds[0] in ("spherical", "floating") and all(kind == "spherical" for kind in kinds[1:])

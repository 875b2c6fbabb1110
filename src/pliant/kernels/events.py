"""Event functions and the event handler: the only writer of the discrete phase during a run."""

import math

from pliant.kernels._jit import ACCELERATION, EVENTS, QUERY, STATE, SWITCH, kernel, routine
from pliant.kernels.algebra.vec3 import add, dot, scale, sub, vec
from pliant.kernels.contact.gather import MAX_NORMAL_Z, load_states
from pliant.kernels.contact.geometry import (
    gap_rounding,
    measure,
    measure_rates,
    plane_axes,
    rests_on_plane,
    tangent,
)
from pliant.kernels.contact.normal import clamp_margin, normal_force
from pliant.kernels.contact.phase import begin_contact, count_contacts, end_contact
from pliant.kernels.contact.stick_or_slip import remain_margin
from pliant.kernels.forces.joints import joint_deflection, joint_deflection_rate, scalar_part
from pliant.kernels.forces.springs import spring_event
from pliant.kernels.forces.transmissions import flank_depth, twist_rate
from pliant.kernels.kinematics.joints import rates
from pliant.kernels.kinematics.tree import accelerate, frame_placement, frame_velocity, place, place_at
from pliant.system.contact_tables import Branch, ContactEvent, NormalKind
from pliant.system.status import Status
from pliant.system.tables import Crossing
from pliant.system.work import BOUND, LEAST_BOUND, MARGIN

call_state = STATE.call
call_acceleration = ACCELERATION.call

SLIP_HYSTERESIS = 1.01  # times the stick speed: a point at rest slips above it
KINK_HYSTERESIS = (
    1.0 + 1e-8
)  # a kink is passed upwards a little later: speeds that stay on it (ambrosio's v0) pass it once
OK, SWITCHED, STOPPED = int(Status.OK), int(Status.SWITCHED), int(Status.STOPPED)  # numba mixes integers only
COINCIDENT = int(Status.COINCIDENT)
STICK, BREAK, SLIP = int(Branch.STICK), int(Branch.BREAK), int(Branch.SLIP)
PROBE_STEP = 1e-3  # of a step, for differences of stick forces along the motion
MIN_PROBE_STEP = 1e-13  # of t
UNDECIDED_BOUNDS = (
    2.0  # times the least bound that counts: as long as margins are less, a friction pair keeps its branch
)


@kernel
def max_angular_speed(system, work):
    """Largest angular velocity of a body [rad/s]."""
    square = 0.0
    for i in range(len(system.bodies)):
        w = vec(work.bodies[i].w)
        square = max(square, dot(w, w))
    return math.sqrt(square)


@kernel
def measure_state(system, work, t, y, ydot, needs_forces):
    """qdot, and placements, accelerations and stick forces where some event needs them."""
    world, run, calls = system.world[0], work.run[0], work.calls[0]
    q, v = y[: world.n_q], y[world.n_q : world.n_q + world.n_v]
    rates(system, q, v, work.qdot)
    status = OK
    if needs_forces:
        load_states(system, work, y)
        call_state(calls.prepare, (system, work, t, q, v))
        status = call_acceleration(calls.solve, (system, work, q, v, work.vdot, work.no_reaction))
    if world.has_frame_events or len(system.contacts) > 0:
        if not needs_forces and run.is_at_end == 0:
            place_at(system, work, q, v)
        else:
            place(system, work)
        run.max_angular_speed = max_angular_speed(system, work)
    if run.n_touching > 0:
        accelerate(system, work, ydot[world.n_q : world.n_q + world.n_v])
    return status


@kernel
def sliding(u, udot, n, ndot):
    """Sliding speed and its rate."""
    slide = tangent(u, n)
    speed = math.sqrt(dot(slide, slide))
    # the part of u' along the plane, which itself rotates
    along = sub(udot, add(scale(dot(ndot, u) + dot(n, udot), n), scale(dot(n, u), ndot)))
    return speed, dot(slide, along) / speed if speed > 0.0 else 0.0


@kernel
def kink_margin(law, branch, kink, speed, rate):
    """Distance of the sliding speed from a kink of the law; of a law that sticks: positive while the branch holds."""
    if not law.sticks:
        return speed - law.kink[kink] * (1.0 if branch > kink else KINK_HYSTERESIS), rate
    if branch == SLIP:
        return speed - law.kink[0], rate
    return SLIP_HYSTERESIS * law.kink[0] - speed, -rate


@kernel
def is_force_event(sticks, kind):
    return sticks and (kind == ContactEvent.RELEASE or kind == ContactEvent.KINK2)


@kernel
def rest_margin(work, unknown, branch, kind):
    """Of a friction pair at rest: positive while it sticks (RELEASE), or while it does not stick again (KINK2), or
    while it carries nothing."""
    if unknown < 0 or (kind == ContactEvent.RELEASE) != (branch == STICK):
        return math.inf
    undecided = UNDECIDED_BOUNDS * work.stick_force[LEAST_BOUND, unknown]
    if branch != STICK:
        return remain_margin(work, unknown) + undecided
    return work.stick_force[MARGIN, unknown] + undecided if work.stick_force[BOUND, unknown] > 0.0 else undecided


@kernel
def gap_event(system, work, contact, is_active, gap, u, n, location):
    """(g, gdot) of a gap. What touches leaves beyond the rounding of its gap; what rests on its plane within rounding,
    and has not begun to touch, is exactly at zero."""
    if is_active:
        return gap - gap_rounding(contact, gap, location), dot(n, u)
    if rests_on_plane(system, work, contact, gap, u, n, location):
        return 0.0, 0.0
    return gap, dot(n, u)


@kernel
def contact_event(system, work, k, kind):
    """(g, gdot) of one event function of contact k."""
    contact = system.contacts[k]
    phase = work.phase[contact.phase]
    if kind != ContactEvent.GAP and not phase.is_active:
        return math.inf, 0.0
    gap, u, n, location = measure(system, work, k)
    if kind == ContactEvent.GAP:
        return gap_event(system, work, contact, phase.is_active, gap, u, n, location)
    if contact.friction >= 0 and is_force_event(system.frictions[contact.friction].sticks, kind):
        return rest_margin(work, work.contacts[k].unknown, phase.branch, kind), 0.0
    udot, ndot = measure_rates(system, work, k)
    if kind == ContactEvent.CLAMP:
        margin, margin_dot = clamp_margin(contact, phase, -gap, -dot(n, u), -dot(n, udot) - dot(ndot, u))
        if contact.kind == NormalKind.VISCO:
            # what pushes stops beyond the force of a depth that is rounding
            margin += normal_force(contact, phase, gap_rounding(contact, gap, location), 0.0)
        return margin, margin_dot
    law = system.frictions[contact.friction]
    speed, rate = sliding(u, udot, n, ndot)
    if law.sticks and system.world[0].is_planar and abs(n[2]) < MAX_NORMAL_Z and phase.branch == SLIP:
        x, _, xdot, _ = plane_axes(system, work, k)
        speed, rate = -phase.sense * dot(x, u), -phase.sense * (dot(x, udot) + dot(xdot, u))
    return kink_margin(law, phase.branch, kind - ContactEvent.KINK1, speed, rate)


@kernel
def joint_friction_event(system, work, k, kind, v, vdot):
    """(g, gdot) of one event function of friction in a joint."""
    joint = system.joint_frictions[k]
    law, branch = system.frictions[joint.friction], work.phase[joint.phase].branch
    if is_force_event(law.sticks, kind):
        return rest_margin(work, work.joint_frictions[k].unknown, branch, kind), 0.0
    u, udot = joint_deflection_rate(system, v, joint.dof), joint_deflection_rate(system, vdot, joint.dof)
    speed, rate = abs(u), math.copysign(1.0, u) * udot
    if law.sticks and branch == SLIP:
        sense = work.phase[joint.phase].sense
        speed, rate = -sense * u, -sense * udot
    return kink_margin(law, branch, kind - ContactEvent.KINK1, speed, rate)


@kernel
def crossing_event(system, work, event, q, v, vdot):
    """(g, gdot) of a user's crossing."""
    i = event.index
    if event.measure == Crossing.COORDINATE:
        return q[i] - event.value, work.qdot[i]
    if event.measure == Crossing.RATE:
        return v[i] - event.value, vdot[i]
    _, p = frame_placement(system, work, i)
    u, _ = frame_velocity(system, work, i)
    c = event.component
    return (p[0] if c == 0 else p[1] if c == 1 else p[2]) - event.value, u[0] if c == 0 else u[1] if c == 1 else u[2]


@kernel
def needs_stick_forces(system, event):
    """Whether the event function is of the forces of friction pairs at rest."""
    if event.contact >= 0:
        friction = system.contacts[event.contact].friction
        return friction >= 0 and is_force_event(system.frictions[friction].sticks, event.measure)
    return event.joint_friction >= 0 and is_force_event(
        system.frictions[system.joint_frictions[event.joint_friction].friction].sticks, event.measure
    )


@routine
def probe_forces(system, work, t, y, ydot, out):
    """Put what events of forces at rest are a moment after (t, y) into out; how long that is, 0 if it is not known."""
    world, run, calls, x = system.world[0], work.run[0], work.calls[0], work.probe
    later = max(PROBE_STEP * run.step, MIN_PROBE_STEP * abs(t))
    for i in range(len(x)):
        x[i] = y[i] + later * ydot[i]
    q, v = x[: world.n_q], x[world.n_q : world.n_q + world.n_v]
    load_states(system, work, x)
    call_state(calls.prepare, (system, work, t + later, q, v))
    if call_acceleration(calls.solve, (system, work, q, v, work.vdot, work.no_reaction)) != OK:
        return 0.0
    for k in range(len(system.events)):
        event = system.events[k]
        if needs_stick_forces(system, event):
            if event.contact >= 0:
                out[k], _ = contact_event(system, work, event.contact, event.measure)
            else:
                out[k], _ = joint_friction_event(system, work, event.joint_friction, event.measure, v, v)
    return later


@kernel(EVENTS)
def event_functions(system, work, t, y, ydot, g, gdot):
    """Value and rate of every event function; of a limit or a flank positive beyond it, of the rotation that stretches
    a ball joint's spring w of its quaternion, whose zero is pi, of a spring between two places where it acts."""
    world = system.world[0]
    q, v, vdot = y[: world.n_q], y[world.n_q : world.n_q + world.n_v], ydot[world.n_q : world.n_q + world.n_v]
    later, only = 0.0, work.run[0].only_event - 1
    needs_forces = work.run[0].n_sticking > 0 and (only < 0 or needs_stick_forces(system, system.events[only]))
    if needs_forces and only < 0:
        later = probe_forces(system, work, t, y, ydot, gdot)
    status = measure_state(system, work, t, y, ydot, needs_forces)
    first, end = (0, len(system.events)) if only < 0 else (only, only + 1)
    for k in range(first, end):
        event, probed = system.events[k], gdot[k]
        if event.limit >= 0:
            limit = system.limits[event.limit]
            g[k] = limit.side * (joint_deflection(system, q, limit.dof) - limit.bound)
            gdot[k] = limit.side * joint_deflection_rate(system, v, limit.dof)
        elif event.transmission >= 0:
            transmission = system.transmissions[event.transmission]
            g[k] = flank_depth(system, transmission, event.component, q)
            gdot[k] = event.component * twist_rate(system, transmission, v)
        elif event.ball_spring >= 0:
            i = scalar_part(system.bodies[event.ball_spring])
            g[k], gdot[k] = q[i], work.qdot[i]
        elif event.spring >= 0:
            g[k], gdot[k] = spring_event(system, work, event)
        elif event.contact >= 0:
            g[k], gdot[k] = contact_event(system, work, event.contact, event.measure)
        elif event.joint_friction >= 0:
            g[k], gdot[k] = joint_friction_event(system, work, event.joint_friction, event.measure, v, vdot)
        else:
            g[k], gdot[k] = crossing_event(system, work, event, q, v, vdot)
        if needs_stick_forces(system, event):
            gdot[k] = (probed - g[k]) / later if later > 0.0 and g[k] < math.inf else 0.0
    return status


@kernel
def clear_states(system, y, i, count):
    first = system.world[0].n_q + system.world[0].n_v
    for k in range(count if i >= 0 else 0):
        y[first + i + k] = 0.0


@kernel
def next_branch(law, branch, kind, direction):
    """The branch on the other side of a kink; of a law that sticks: SLIP, or at rest, where forces decide then."""
    if law.sticks:
        if kind == ContactEvent.RELEASE:
            return BREAK
        return SLIP if branch != SLIP and kind == ContactEvent.KINK1 else STICK
    return kind - ContactEvent.KINK1 + (1 if direction > 0 else 0)


@routine
def switch_contact(system, work, y, k, kind, direction):
    contact = system.contacts[k]
    phase = work.phase[contact.phase]
    if kind == ContactEvent.GAP:
        clear_states(system, y, contact.state, 2)
        if direction < 0:
            _, u, n, _ = measure(system, work, k)
            begin_contact(system, work, k, u, n)
        else:
            end_contact(system, work, k)
    elif kind == ContactEvent.CLAMP:
        phase.is_pushing = direction > 0
    else:
        law = system.frictions[contact.friction]
        phase.branch = next_branch(law, phase.branch, kind, direction)
        if law.sticks and phase.branch == SLIP:
            _, u, _, _ = measure(system, work, k)
            x, _, _, _ = plane_axes(system, work, k)
            phase.sense = -math.copysign(1.0, dot(x, u))


@routine
def switch_joint_friction(system, work, v, k, kind, direction):
    joint = system.joint_frictions[k]
    law, phase = system.frictions[joint.friction], work.phase[joint.phase]
    phase.branch = next_branch(law, phase.branch, kind, direction)
    if law.sticks and phase.branch == SLIP:
        phase.sense = -math.copysign(1.0, joint_deflection_rate(system, v, joint.dof))


@kernel(SWITCH)
def switch(system, work, t, y, fired):
    """New phase after events: stops, flanks, ropes and contacts go on and off, friction changes its branch, rotations
    that stretch a spring pass pi; hard limits, ends of springs that meet and stopping crossings end the run. y is
    where the event kernel was called last."""
    outcome = OK
    first = system.world[0].n_q
    for k in range(len(system.events)):
        event = system.events[k]
        if fired[k] == 0:
            continue
        if event.limit >= 0:
            if fired[k] > 0 and event.is_stop:
                return STOPPED
            work.phase[system.limits[event.limit].phase].is_active = fired[k] > 0
            outcome = SWITCHED
        elif event.transmission >= 0:
            flank = system.transmissions[event.transmission].phase + (1 if event.component > 0 else 0)
            work.phase[flank].is_active = fired[k] > 0
            outcome = SWITCHED
        elif event.ball_spring >= 0:
            work.phase[system.bodies[event.ball_spring].ball_phase].sense = 1.0 if fired[k] > 0 else -1.0
            outcome = SWITCHED
        elif event.spring >= 0:
            if event.is_stop:
                work.run[0].body = event.spring
                return COINCIDENT
            work.phase[system.springs[event.spring].phase].is_active = fired[k] > 0
            outcome = SWITCHED
        elif event.contact >= 0:
            switch_contact(system, work, y, event.contact, event.measure, fired[k])
            outcome = SWITCHED
        elif event.joint_friction >= 0:
            v = y[first : first + system.world[0].n_v]
            switch_joint_friction(system, work, v, event.joint_friction, event.measure, fired[k])
            outcome = SWITCHED
        elif event.is_stop:
            return STOPPED
    count_contacts(system, work)
    return outcome


@kernel(QUERY)
def start_phase(system, work, q, v, out):
    """Put work into the phase that follows from the one row of q and v; out = gaps of all contacts."""
    call_state(work.calls[0].set_phase, (system, work, 0.0, q[0], v[0]))
    for k in range(len(system.contacts)):
        out[0, k] = work.contacts[k].gap
        # on the plane: the first step finds the contact
        _, _, _, location = measure(system, work, k)
        gap = work.contacts[k].gap
        if not system.contacts[k].rests or abs(gap) <= gap_rounding(system.contacts[k], gap, location):
            end_contact(system, work, k)
    count_contacts(system, work)
    return 0

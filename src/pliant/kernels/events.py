"""Event functions and the event handler: the only writer of the discrete phase during a run."""

import math

from pliant.kernels._jit import ACCELERATION, EVENTS, REFEREE, STATE, SWITCH, kernel, routine
from pliant.kernels.algebra.vec3 import add, dot, scale, sub, vec
from pliant.kernels.contact.gather import UPRIGHT, load_states
from pliant.kernels.contact.geometry import measure, measure_rates, plane_axes, tangent
from pliant.kernels.contact.normal import clamp_margin
from pliant.kernels.contact.phase import begin_contact, count_contacts, end_contact
from pliant.kernels.contact.stick import FORCE, contact_stick_force, release_overloaded
from pliant.kernels.forces.joints import seen, seen_rate
from pliant.kernels.kinematics.joints import rates
from pliant.kernels.kinematics.tree import accelerate, frame_placement, frame_velocity, move, place
from pliant.system.contact_tables import Branch, ContactEvent
from pliant.system.status import Status
from pliant.system.tables import Crossing

call_state = STATE.call
call_acceleration = ACCELERATION.call

# a point that broke away slips for good a little above the speed below which it sticks
HYSTERESIS = 1.01
TURNED = 0.01  # of the stick speed
# and a kink is passed upwards a little later than downwards: speeds that settle on it (ambrosio's v0) pass it once
RISE = 1.0 + 1e-8
OK, SWITCHED, STOPPED = int(Status.OK), int(Status.SWITCHED), int(Status.STOPPED)  # numba mixes integers only
STICK, SLIP = int(Branch.STICK), int(Branch.SLIP)


@kernel
def fastest_turn(system, work):
    """Largest angular velocity of a body [rad/s]."""
    square = 0.0
    for i in range(len(system.bodies)):
        w = vec(work.bodies[i].w)
        square = max(square, dot(w, w))
    return math.sqrt(square)


@kernel
def measure_state(system, work, t, y, ydot):
    """qdot, and placements, accelerations and stick forces where some event asks for them."""
    world, run = system.world[0], work.run[0]
    q, v = y[: world.n_q], y[world.n_q : world.n_q + world.n_v]
    rates(system, q, v, work.qdot)
    status = OK
    if run.n_sticking > 0:
        load_states(system, work, y)
        call_state(run.prepare, (system, work, t, q, v))
        status = call_acceleration(run.solve, (system, work, q, v, work.vdot, work.no_reaction))
    elif world.has_frame_events or len(system.contacts) > 0:
        move(system, work, q, v)
    if world.has_frame_events or len(system.contacts) > 0:
        place(system, work)
        run.turning = fastest_turn(system, work)
    if run.n_touching > 0:
        accelerate(system, work, ydot[world.n_q : world.n_q + world.n_v])
    return status


@kernel
def sliding(u, udot, n, ndot):
    """Sliding speed and its rate."""
    slide = tangent(u, n)
    speed = math.sqrt(dot(slide, slide))
    # the part of u' along the plane, which itself turns
    along = sub(udot, add(scale(dot(ndot, u) + dot(n, udot), n), scale(dot(n, u), ndot)))
    return speed, dot(slide, along) / speed if speed > 0.0 else 0.0


@kernel
def kink_margin(law, branch, kink, speed, rate):
    """Distance of the sliding speed from a kink of the law; inactive while sticking."""
    if not law.sticks:
        return speed - law.kink[kink] * (1.0 if branch > kink else RISE), rate
    if branch == Branch.STICK:
        return math.inf, 0.0
    return speed - law.kink[0] * (HYSTERESIS if branch == Branch.BREAK else 1.0), rate


@kernel
def turn_margin(law, phase, along, rate):
    """Of a point that broke away: its speed in the direction in which it did; below zero it has turned back."""
    if phase.branch != Branch.BREAK:
        return math.inf, 0.0
    return along + TURNED * law.kink[0], rate


@kernel
def contact_event(system, work, k, kind):
    """(g, gdot) of one event function of contact k."""
    contact = system.contacts[k]
    phase = work.phase[contact.phase]
    if kind != ContactEvent.GAP and not phase.is_active:
        return math.inf, 0.0
    gap, u, n, _ = measure(system, work, k)
    if kind == ContactEvent.GAP:
        return gap, dot(n, u)
    if kind == ContactEvent.RELEASE:
        x = work.contacts[k]
        return (x.bound - contact_stick_force(system, work, k), 0.0) if x.unknown >= 0 else (math.inf, 0.0)
    udot, ndot = measure_rates(system, work, k)
    if kind == ContactEvent.CLAMP:
        return clamp_margin(contact, phase, -gap, -dot(n, u), -dot(n, udot) - dot(ndot, u))
    law = system.frictions[contact.friction]
    if law.sticks and kind == ContactEvent.KINK2:
        return turn_margin(law, phase, -dot(tangent(u, n), vec(phase.direction)), -dot(udot, vec(phase.direction)))
    speed, rate = sliding(u, udot, n, ndot)
    if law.sticks and system.world[0].is_planar and abs(n[2]) < UPRIGHT and phase.branch == SLIP:
        x, _, xdot, _ = plane_axes(system, work, k)
        speed, rate = -phase.sense * dot(x, u), -phase.sense * (dot(x, udot) + dot(xdot, u))
    return kink_margin(law, phase.branch, kind - ContactEvent.KINK1, speed, rate)


@kernel
def site_event(system, work, k, kind, v, vdot):
    """(g, gdot) of one event function of friction in a joint."""
    site = system.sites[k]
    if kind == ContactEvent.RELEASE:
        x = work.sites[k]
        return (x.bound - abs(work.stick_force[FORCE, x.unknown]), 0.0) if x.unknown >= 0 else (math.inf, 0.0)
    law, branch = system.frictions[site.friction], work.phase[site.phase].branch
    u, udot = seen_rate(system, v, site.dof), seen_rate(system, vdot, site.dof)
    if law.sticks and kind == ContactEvent.KINK2:
        sense = work.phase[site.phase].direction[0]
        return turn_margin(law, work.phase[site.phase], -u * sense, -udot * sense)
    speed, rate = abs(u), math.copysign(1.0, u) * udot
    if law.sticks and branch == SLIP:
        sense = work.phase[site.phase].direction[0]
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


@kernel(EVENTS)
def event_functions(system, work, t, y, ydot, g, gdot):
    """Value and rate of every event function; a limit's is positive beyond the limit."""
    world = system.world[0]
    q, v, vdot = y[: world.n_q], y[world.n_q : world.n_q + world.n_v], ydot[world.n_q : world.n_q + world.n_v]
    status = measure_state(system, work, t, y, ydot)
    for k in range(len(system.events)):
        event = system.events[k]
        if event.limit >= 0:
            limit = system.limits[event.limit]
            g[k] = limit.side * (seen(system, q, limit.dof) - limit.bound)
            gdot[k] = limit.side * seen_rate(system, v, limit.dof)
        elif event.contact >= 0:
            g[k], gdot[k] = contact_event(system, work, event.contact, event.measure)
        elif event.site >= 0:
            g[k], gdot[k] = site_event(system, work, event.site, event.measure, v, vdot)
        else:
            g[k], gdot[k] = crossing_event(system, work, event, q, v, vdot)
    return status


@kernel
def clear_states(system, y, i, count):
    first = system.world[0].n_q + system.world[0].n_v
    for k in range(count if i >= 0 else 0):
        y[first + i + k] = 0.0


@kernel
def next_branch(law, kink, direction):
    """The branch on the other side of a kink."""
    if law.sticks:
        return SLIP if direction > 0 and kink == 0 else STICK
    return kink + (1 if direction > 0 else 0)


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
    elif kind == ContactEvent.KINK1 or kind == ContactEvent.KINK2:
        phase.branch = next_branch(system.frictions[contact.friction], kind - ContactEvent.KINK1, direction)


@kernel
def released_share(system, work, fired):
    """Least stick force over its bound among the sites whose release has fired, at most 1; inf: none has."""
    least = math.inf
    for k in range(len(system.events)):
        event = system.events[k]
        if fired[k] != 0 and event.measure == ContactEvent.RELEASE:
            if event.contact >= 0:
                size, bound = contact_stick_force(system, work, event.contact), work.contacts[event.contact].bound
                least = min(least, size / bound if bound > 0.0 else 1.0, 1.0)
            elif event.site >= 0:
                x = work.sites[event.site]
                least = min(least, abs(work.stick_force[FORCE, x.unknown]) / x.bound if x.bound > 0.0 else 1.0, 1.0)
    return least


@kernel(SWITCH)
def switch(system, work, t, y, fired):
    """New phase after events: stops and contacts go on and off, friction changes its branch; hard limits and stopping
    crossings end the run. y is where the event kernel was last called."""
    outcome = OK
    # before anything else changes what the stick forces belong to
    share = released_share(system, work, fired)
    if share < math.inf:
        first = system.world[0].n_q
        release_overloaded(system, work, y[first : first + system.world[0].n_v], share)
    for k in range(len(system.events)):
        event = system.events[k]
        if fired[k] == 0:
            continue
        if event.limit >= 0:
            if fired[k] > 0 and event.is_stop:
                return STOPPED
            work.phase[system.limits[event.limit].phase].is_active = fired[k] > 0
            outcome = SWITCHED
        elif event.contact >= 0:
            switch_contact(system, work, y, event.contact, event.measure, fired[k])
            outcome = SWITCHED
        elif event.site >= 0:
            if event.measure != ContactEvent.RELEASE:
                site = system.sites[event.site]
                law = system.frictions[site.friction]
                work.phase[site.phase].branch = next_branch(law, event.measure - ContactEvent.KINK1, fired[k])
            outcome = SWITCHED
        elif event.is_stop:
            return STOPPED
    count_contacts(system, work)
    return outcome


@kernel(REFEREE)
def start_phase(system, work, q, v, out):
    """Put work into the phase that the one row of q and v tells; out = gaps of all contacts."""
    call_state(work.run[0].set_phase, (system, work, 0.0, q[0], v[0]))
    for k in range(len(system.contacts)):
        out[0, k] = work.contacts[k].gap
        # on the plane: the first step finds the contact
        if not system.contacts[k].rests:
            end_contact(system, work, k)
    count_contacts(system, work)
    return 0

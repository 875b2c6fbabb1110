"""Event functions and the event handler: the only writer of the discrete phase during a run."""

import math

from pliant.kernels._jit import ACCELERATION, EVENTS, REFEREE, STATE, SWITCH, kernel, routine
from pliant.kernels.algebra.vec3 import add, dot, scale, sub, vec
from pliant.kernels.contact.gather import UPRIGHT, load_states
from pliant.kernels.contact.geometry import measure, measure_rates, plane_axes, tangent
from pliant.kernels.contact.normal import clamp_margin
from pliant.kernels.contact.phase import begin_contact, count_contacts, end_contact, width_at
from pliant.kernels.contact.stick import least_motion, size_of, stick_margin
from pliant.kernels.forces.joints import seen, seen_rate
from pliant.kernels.kinematics.joints import rates
from pliant.kernels.kinematics.tree import accelerate, frame_placement, frame_velocity, move, place
from pliant.system.contact_tables import Branch, ContactEvent
from pliant.system.status import Status
from pliant.system.tables import Crossing
from pliant.system.work import FORCE

call_state = STATE.call
call_acceleration = ACCELERATION.call

# a point that broke away slips for good a little above the speed below which it sticks
HYSTERESIS = 1.01
TURNED = 0.01  # of the stick speed
# and a kink is passed upwards a little later than downwards: speeds that settle on it (ambrosio's v0) pass it once
RISE = 1.0 + 1e-8
OK, SWITCHED, STOPPED = int(Status.OK), int(Status.SWITCHED), int(Status.STOPPED)  # numba mixes integers only
STICK, BREAK, SLIP = int(Branch.STICK), int(Branch.BREAK), int(Branch.SLIP)
PROBE = 1e-3  # of a step: to where rates of stick forces are looked at
LEAST_PROBE = 1e-13  # of t
LEAST_SHARE = 1.0 - 1e-6  # of its bound: a stick force that has fired below it has not reached it


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
        run.least_motion = least_motion(work, run.n_sticking)
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
    """Distance of the sliding speed from a kink of the law; of a law that sticks: positive while the branch holds."""
    if not law.sticks:
        return speed - law.kink[kink] * (1.0 if branch > kink else RISE), rate
    if branch == STICK:
        return math.inf, 0.0
    if branch == SLIP:
        return speed - law.kink[0], rate
    return HYSTERESIS * law.kink[0] - speed, -rate


@kernel
def turn_margin(law, phase, along, rate):
    """Of a point that broke away: its speed in the direction in which it did; below zero it has turned back."""
    if phase.branch != Branch.BREAK:
        return math.inf, 0.0
    return along + TURNED * law.kink[0] + phase.slack, rate


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
        return stick_margin(work, x.unknown, x.bound, work.run[0].least_motion) if x.unknown >= 0 else math.inf, 0.0
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
        return stick_margin(work, x.unknown, x.bound, work.run[0].least_motion) if x.unknown >= 0 else math.inf, 0.0
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


@kernel
def is_release(event):
    return event.measure == ContactEvent.RELEASE and (event.contact >= 0 or event.site >= 0)


@routine
def probe_releases(system, work, t, y, ydot, out):
    """Put what release events are a moment after (t, y) into out; how long that is, 0 if they are not known there."""
    world, run, x = system.world[0], work.run[0], work.probe
    later = max(PROBE * run.step, LEAST_PROBE * abs(t))
    for i in range(len(x)):
        x[i] = y[i] + later * ydot[i]
    q, v = x[: world.n_q], x[world.n_q : world.n_q + world.n_v]
    load_states(system, work, x)
    call_state(run.prepare, (system, work, t + later, q, v))
    if call_acceleration(run.solve, (system, work, q, v, work.vdot, work.no_reaction)) != OK:
        return 0.0
    run.least_motion = least_motion(work, run.n_sticking)
    for k in range(len(system.events)):
        event = system.events[k]
        if is_release(event):
            if event.contact >= 0:
                out[k], _ = contact_event(system, work, event.contact, event.measure)
            else:
                out[k], _ = site_event(system, work, event.site, event.measure, v, v)
    return later


@kernel(EVENTS)
def event_functions(system, work, t, y, ydot, g, gdot):
    """Value and rate of every event function; a limit's is positive beyond the limit."""
    world = system.world[0]
    q, v, vdot = y[: world.n_q], y[world.n_q : world.n_q + world.n_v], ydot[world.n_q : world.n_q + world.n_v]
    later = 0.0
    if work.run[0].n_sticking > 0:
        later = probe_releases(system, work, t, y, ydot, gdot)
    status = measure_state(system, work, t, y, ydot)
    for k in range(len(system.events)):
        event, probed = system.events[k], gdot[k]
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
        if is_release(event):
            gdot[k] = (probed - g[k]) / later if later > 0.0 and g[k] < math.inf else 0.0
    return status


@kernel
def clear_states(system, y, i, count):
    first = system.world[0].n_q + system.world[0].n_v
    for k in range(count if i >= 0 else 0):
        y[first + i + k] = 0.0


@kernel
def next_branch(law, branch, kink, direction):
    """The branch on the other side of a kink; of a law that sticks: SLIP, or at rest, where forces decide then."""
    if law.sticks:
        return SLIP if branch != SLIP and kink == 0 else STICK
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
        law = system.frictions[contact.friction]
        phase.branch = next_branch(law, phase.branch, kind - ContactEvent.KINK1, direction)
        if law.sticks and phase.branch == SLIP:
            _, u, _, _ = measure(system, work, k)
            x, _, _, _ = plane_axes(system, work, k)
            phase.sense = -math.copysign(1.0, dot(x, u))


@routine
def switch_site(system, work, v, k, kind, direction):
    site = system.sites[k]
    law, phase = system.frictions[site.friction], work.phase[site.phase]
    phase.branch = next_branch(law, phase.branch, kind - ContactEvent.KINK1, direction)
    if law.sticks and phase.branch == SLIP:
        phase.direction[0] = -math.copysign(1.0, seen_rate(system, v, site.dof))


@kernel
def released_share(system, work, fired):
    """Least stick force over its bound among the sites whose release has fired, at most 1; inf: none has."""
    least = math.inf
    for k in range(len(system.events)):
        event = system.events[k]
        if fired[k] != 0 and event.measure == ContactEvent.RELEASE:
            if event.contact >= 0:
                i, bound = work.contacts[event.contact].unknown, work.contacts[event.contact].bound
                size = size_of(work, FORCE, i, width_at(work, i, work.run[0].n_sticking))
                least = min(least, size / bound if bound > 0.0 else 1.0, 1.0)
            elif event.site >= 0:
                x = work.sites[event.site]
                least = min(least, abs(work.stick_force[FORCE, x.unknown]) / x.bound if x.bound > 0.0 else 1.0, 1.0)
    return least if least >= LEAST_SHARE else math.inf


@kernel(SWITCH)
def switch(system, work, t, y, fired):
    """New phase after events: stops and contacts go on and off, friction changes its branch; hard limits and stopping
    crossings end the run. y is where the event kernel was last called."""
    outcome = OK
    # before anything else changes what the stick forces belong to; settle_friction decides then
    share, first = released_share(system, work, fired), system.world[0].n_q
    work.run[0].release_share = share if share < math.inf else 0.0
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
                v = y[first : first + system.world[0].n_v]
                switch_site(system, work, v, event.site, event.measure, fired[k])
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

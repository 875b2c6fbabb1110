"""Event functions and the event handler: the only writer of the discrete phase."""

from pliant.kernels._jit import ACCELERATION, EVENTS, SWITCH, kernel
from pliant.kernels.dynamics import prepare_bodies
from pliant.kernels.forces.joints import seen, seen_rate
from pliant.kernels.kinematics.joints import rates
from pliant.kernels.kinematics.tree import frame_placement, frame_velocity, move, place
from pliant.system.status import Status
from pliant.system.tables import Crossing

call_acceleration = ACCELERATION.call


@kernel
def measure_state(system, work, t, q, v):
    """qdot, and vdot and placements where some event asks for them."""
    world = system.world[0]
    rates(system, q, v, work.qdot)
    if world.has_rate_events:
        prepare_bodies(system, work, t, q, v)
        call_acceleration(work.run[0].formulation, (system, work, q, v, work.vdot, work.no_reaction))
    if world.has_frame_events:
        move(system, work, q, v)
        place(system, work)


@kernel(EVENTS)
def event_functions(system, work, t, y, g, gdot):
    """Value and rate of every event function; a limit's is positive beyond the limit."""
    world = system.world[0]
    q, v = y[: world.n_q], y[world.n_q : world.n_q + world.n_v]
    measure_state(system, work, t, q, v)
    for k in range(len(system.events)):
        event = system.events[k]
        i = event.index
        if event.limit >= 0:
            limit = system.limits[event.limit]
            g[k] = limit.side * (seen(system, q, limit.dof) - limit.bound)
            gdot[k] = limit.side * seen_rate(system, v, limit.dof)
        elif event.measure == Crossing.COORDINATE:
            g[k] = q[i] - event.value
            gdot[k] = work.qdot[i]
        elif event.measure == Crossing.RATE:
            g[k] = v[i] - event.value
            gdot[k] = work.vdot[i]
        else:
            _, p = frame_placement(system, work, i)
            u, _ = frame_velocity(system, work, i)
            c = event.component
            g[k] = (p[0] if c == 0 else p[1] if c == 1 else p[2]) - event.value
            gdot[k] = u[0] if c == 0 else u[1] if c == 1 else u[2]
    return Status.OK


@kernel(SWITCH)
def switch(system, work, t, y, fired):
    """New phase after events: stops go on and off, hard limits and stopping crossings end the run."""
    outcome = Status.OK
    for k in range(len(system.events)):
        event = system.events[k]
        if fired[k] == 0:
            continue
        if event.limit >= 0:
            if fired[k] > 0 and event.is_stop:
                return Status.STOPPED
            work.phase[system.limits[event.limit].phase].is_active = fired[k] > 0
            outcome = Status.SWITCHED
        elif event.is_stop:
            return Status.STOPPED
    return outcome

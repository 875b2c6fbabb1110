"""The right-hand side: signals, kinematics, forces, formulation, rates. Every integrator and caller goes through it."""

from pliant.kernels._jit import ACCELERATION, DERIVATIVE, FORWARD, STATE, kernel
from pliant.kernels.contact.gather import load_states, put_contact_rates
from pliant.kernels.contact.stick_or_slip import decide
from pliant.kernels.gather import gather
from pliant.kernels.kinematics.joints import rates
from pliant.kernels.kinematics.tree import move, place
from pliant.system.status import Status
from pliant.system.tables import Power

call_state = STATE.call
call_acceleration = ACCELERATION.call


@kernel(STATE)
def prepare(system, work, t, q, v):
    """Everything a formulation finds ready in work."""
    if work.calls[0].signals != 0:
        call_state(work.calls[0].signals, (system, work, t, q, v))
    move(system, work, q, v)
    if system.world[0].needs_placement or work.run[0].n_touching > 0:
        place(system, work)
    return gather(system, work, q, v)


@kernel
def impose_motion(system, work, t, q, v):
    """Put prescribed coordinates on their signals: they never drift."""
    call_state(work.calls[0].signals, (system, work, t, q, v))
    for j in range(len(system.dofs)):
        dof = system.dofs[j]
        if dof.motion >= 0:
            q[dof.q] = work.signals[dof.motion].s
            v[j] = work.signals[dof.motion].sdot


@kernel
def prescribed_power(work, v):
    power = 0.0
    for j in range(len(v)):
        if work.dofs[j].is_prescribed:
            power += work.dofs[j].constraint_force * v[j]
    return power


@kernel(DERIVATIVE)
def derivative(system, work, t, y, ydot):
    """ydot of y = (q, v, z)."""
    world = system.world[0]
    n_q, n_v = world.n_q, world.n_v
    q, v = y[:n_q], y[n_q : n_q + n_v]
    if world.has_prescribed:
        impose_motion(system, work, t, q, v)
    load_states(system, work, y)
    calls = work.calls[0]
    if calls.solve_dependent != 0:
        status = call_state(calls.solve_dependent, (system, work, t, q, v))
        if status != Status.OK:
            return status
    status = call_state(calls.prepare, (system, work, t, q, v))
    if status == Status.OK:
        status = call_acceleration(calls.solve, (system, work, q, v, ydot[n_q : n_q + n_v], work.no_reaction))
    if status != Status.OK:
        return status
    rates(system, q, v, ydot)
    if world.has_prescribed:
        work.power[Power.DRIVE] = prescribed_power(work, v)
    for k in range(len(system.quadratures)):
        ydot[n_q + n_v + k] = work.power[system.quadratures[k]]
    put_contact_rates(system, work, ydot)
    return status


@kernel
def solve_with_sticking(system, work, t, q, v, vdot, reaction):
    """vdot of a bare state: forces decide which friction pairs at rest stick."""
    run, calls = work.run[0], work.calls[0]
    if run.n_sticking > 0:
        status = decide(system, work, t, q, v, 0.0)
        if status != Status.OK:
            return status
        call_state(calls.prepare, (system, work, t, q, v))
    return call_acceleration(calls.solve, (system, work, q, v, vdot, reaction))


@kernel(FORWARD)
def forward(system, work, t, q, v, tau, vdot, reaction):
    """vdot (and reactions, if it has rows) under the caller's tau (if not empty) and everything the model carries."""
    work.run[0].segment = t
    call_state(work.calls[0].set_phase, (system, work, t, q, v))
    for j in range(len(tau)):
        work.dofs[j].tau_extra = tau[j]
    status = call_state(work.calls[0].prepare, (system, work, t, q, v))
    # a bent beam has accelerations whatever its theory says, a force without direction has none
    if status != Status.COINCIDENT:
        status = solve_with_sticking(system, work, t, q, v, vdot, reaction)
    for j in range(len(tau)):
        work.dofs[j].tau_extra = 0.0
    return status

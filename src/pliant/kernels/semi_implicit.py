"""A stage of a semi-implicit step: k = H(y, y_hat + a h k), H(y, y) the right-hand side of dynamics.py.

    M(q) k_v = Q(q, v) - K (q_I - q) - D (v_I - v),    k_q = S(q) v_I,    v_I = v_hat + a h k_v
q, v the explicit point, q_I, v_I the implicit one, K and D by tangents.py: one solve of the equations of motion, with
M + a h D + (a h)^2 K in place of M. Forces that are not stiff, work terms and friction states are those of the explicit
point.
Reference: Kennedy and Carpenter (2003)."""

from pliant.kernels._jit import ACCELERATION, STAGE, STATE, kernel
from pliant.kernels.contact.gather import load_states, put_contact_rates
from pliant.kernels.dynamics import impose_motion, prescribed_power
from pliant.kernels.kinematics.joints import rates
from pliant.kernels.tangents import add_tangents, put_changes
from pliant.system.status import Status
from pliant.system.tables import Power
from pliant.system.work import V

call_state = STATE.call
call_acceleration = ACCELERATION.call

OK = int(Status.OK)


@kernel(STAGE)
def stage(system, work, t, y, y_hat, step, k):
    world, run, calls = system.world[0], work.run[0], work.calls[0]
    n_q, n_v = world.n_q, world.n_v
    q, v, k_v = y[:n_q], y[n_q : n_q + n_v], k[n_q : n_q + n_v]
    if world.has_prescribed:
        impose_motion(system, work, t, q, v)
    load_states(system, work, y)
    put_changes(system, work, y, y_hat, step)
    status = call_state(calls.prepare, (system, work, t, q, v))
    if status != OK:
        return status
    run.implicit_step = step
    add_tangents(system, work, q, v)
    status = call_acceleration(calls.solve, (system, work, q, v, k_v, work.no_reaction))
    run.implicit_step = 0.0
    for j in range(n_v):
        work.dofs[j].armature = system.dofs[j].armature
    if status != OK:
        return status
    v_I = work.changes[V]
    for j in range(n_v):
        v_I[j] = v[j] if work.dofs[j].is_prescribed else y_hat[n_q + j] + step * k_v[j]
    rates(system, q, v_I, k)
    if world.has_prescribed:
        work.power[Power.DRIVE] = prescribed_power(work, v)
    for i in range(len(system.quadratures)):
        k[n_q + n_v + i] = work.power[system.quadratures[i]]
    put_contact_rates(system, work, k)
    return status

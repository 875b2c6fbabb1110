"""What implicit integrators need of closed loops whose multipliers they solve for: A and M^-1 A^T (index 3)."""

from pliant.kernels._jit import DERIVATIVE, STATE, kernel
from pliant.kernels.closures.dead_points import factor_gram, has_passed_bent_loop, remember
from pliant.kernels.closures.independent import put_constraint_jacobian, update_partition
from pliant.kernels.closures.multipliers import find_lift, put_lift
from pliant.kernels.closures.projection import project_state
from pliant.system.status import Status

call_derivative = DERIVATIVE.call
call_state = STATE.call
OK, NOT_CLOSED = int(Status.OK), int(Status.NOT_CLOSED)


@kernel(DERIVATIVE)
def constraint_matrices(system, work, t, y, ydot):
    """work.constraint_jacobian = A, work.lift = rows of M^-1 A^T of the active constraints, the factor of W, at (t, y),
    where the derivative has been evaluated last."""
    put_constraint_jacobian(system, work, y[: system.world[0].n_q])
    put_lift(system, work)
    factor_gram(work, work.closure[0].n_active)
    return OK


@kernel(DERIVATIVE)
def end_step(system, work, t, y, ydot):
    """The end of a step: a new partition; near a dead point q and v are projected, where index 3 lets v ring."""
    world = system.world[0]
    q, v, vdot = y[: world.n_q], y[world.n_q : world.n_q + world.n_v], ydot[world.n_q : world.n_q + world.n_v]
    if has_passed_bent_loop(work, t):
        return NOT_CLOSED
    if work.dead_point[0].is_near:
        call_state(work.calls[0].prepare, (system, work, t, q, v))
        put_constraint_jacobian(system, work, q)
        status = find_lift(system, work, q, v, work.vdot)
        factor_gram(work, work.closure[0].n_active)
        if status == OK:
            status = project_state(system, work, q, v)
        if status == OK:
            status = call_derivative(work.calls[0].derivative, (system, work, t, y, ydot))
        if status != OK:
            return status
    update_partition(system, work, q, v)
    remember(system, work, t, v, vdot)
    return OK

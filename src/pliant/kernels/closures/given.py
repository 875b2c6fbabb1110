"""What implicit integrators ask of closed loops whose multipliers they find themselves: A and M^-1 A^T."""

from pliant.kernels._jit import DERIVATIVE, STATE, kernel, routine
from pliant.kernels.closures.dead_points import factor_gram, remember
from pliant.kernels.closures.independent import choose_anew, put_conditions_jacobian
from pliant.kernels.closures.multipliers import correct, find_lift
from pliant.system.status import Status

call_derivative = DERIVATIVE.call
call_state = STATE.call
OK = int(Status.OK)


@routine
def find_conditions(system, work, t, q, v):
    """A, rows of M^-1 A^T of the chosen ones, and the factor of W."""
    call_state(work.run[0].prepare, (system, work, t, q, v))
    put_conditions_jacobian(system, work, q)
    status = find_lift(system, work, q, v, work.vdot)
    factor_gram(work, work.run[0].n_dependent)
    return status


@kernel(DERIVATIVE)
def conditions(system, work, t, y, ydot):
    """work.conditions = A, work.lift = rows of M^-1 A^T of the chosen ones, at (t, y); ydot is not looked at."""
    world = system.world[0]
    return find_conditions(system, work, t, y[: world.n_q], y[world.n_q : world.n_q + world.n_v])


@kernel(DERIVATIVE)
def settle(system, work, t, y, ydot):
    """The end of a step: choose anew; beside a dead point put q and v back on the loops, where index 3 lets v ring."""
    world = system.world[0]
    q, v, vdot = y[: world.n_q], y[world.n_q : world.n_q + world.n_v], ydot[world.n_q : world.n_q + world.n_v]
    if work.run[0].is_beside:
        status = find_conditions(system, work, t, q, v)
        if status == OK:
            status = correct(system, work, q, v)
        if status == OK:
            status = call_derivative(work.run[0].derivative, (system, work, t, y, ydot))
        if status != OK:
            return status
    choose_anew(system, work, q, v)
    remember(system, work, t, v, vdot)
    return OK

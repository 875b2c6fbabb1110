"""What implicit integrators ask of closed loops whose multipliers they find themselves: A and M^-1 A^T."""

from pliant.kernels._jit import DERIVATIVE, STATE, kernel
from pliant.kernels.closures.dead_points import factor_gram
from pliant.kernels.closures.independent import put_conditions_jacobian
from pliant.kernels.closures.multipliers import find_lift

call_state = STATE.call


@kernel(DERIVATIVE)
def conditions(system, work, t, y, ydot):
    """work.conditions = A, work.lift = rows of M^-1 A^T of the chosen ones, at (t, y); ydot is not looked at."""
    world = system.world[0]
    q, v = y[: world.n_q], y[world.n_q : world.n_q + world.n_v]
    call_state(work.run[0].prepare, (system, work, t, q, v))
    put_conditions_jacobian(system, work, q)
    status = find_lift(system, work, q, v, work.vdot)
    factor_gram(work, work.run[0].n_dependent)  # whether W is weak
    return status

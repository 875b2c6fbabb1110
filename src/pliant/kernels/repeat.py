"""A kernel many times: what one evaluation costs inside compiled code. Calls by address cannot be left out by the
compiler; the first status that is not OK ends it."""

from pliant.kernels._jit import DERIVATIVE, FORWARD, INTEGER, MATRIX, REAL, SYSTEM, VECTOR, WORK, Contract, kernel

# repeat(function, times, system, work, t, q, v, tau, vdot) -> Status; one row per state, tau without columns: none.
REPEAT = Contract(INTEGER(INTEGER, INTEGER, SYSTEM, WORK, REAL, MATRIX, MATRIX, MATRIX, MATRIX), is_entered=True)
# repeat_derivative(function, times, system, work, t, y, ydot) -> Status; in the phase that work is in.
REPEAT_DERIVATIVE = Contract(INTEGER(INTEGER, INTEGER, SYSTEM, WORK, REAL, VECTOR, VECTOR), is_entered=True)
call_forward = FORWARD.call
call_derivative = DERIVATIVE.call


@kernel(REPEAT)
def repeat(function, times, system, work, t, q, v, tau, vdot):
    """A FORWARD kernel over rows of states."""
    for _ in range(times):
        for i in range(len(q)):
            status = call_forward(function, (system, work, t, q[i], v[i], tau[i], vdot[i], work.no_reaction))
            if status != 0:
                return status
    return 0


@kernel(REPEAT_DERIVATIVE)
def repeat_derivative(function, times, system, work, t, y, ydot):
    """A DERIVATIVE kernel at one state."""
    for _ in range(times):
        status = call_derivative(function, (system, work, t, y, ydot))
        if status != 0:
            return status
    return 0

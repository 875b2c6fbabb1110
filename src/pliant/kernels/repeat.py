"""A FORWARD kernel over rows of states, many times: what one evaluation costs inside compiled code."""

from pliant.kernels._jit import FORWARD, INTEGER, MATRIX, REAL, SYSTEM, WORK, Contract, kernel

# repeat(function, times, system, work, t, q, v, tau, vdot) -> Status; one row per state, tau without columns: none.
REPEAT = Contract(INTEGER(INTEGER, INTEGER, SYSTEM, WORK, REAL, MATRIX, MATRIX, MATRIX, MATRIX), is_entered=True)
call_forward = FORWARD.call


@kernel(REPEAT)
def repeat(function, times, system, work, t, q, v, tau, vdot):
    """The first status that is not OK ends it. Calls by address cannot be left out by the compiler."""
    for _ in range(times):
        for i in range(len(q)):
            status = call_forward(function, (system, work, t, q[i], v[i], tau[i], vdot[i], work.no_reaction))
            if status != 0:
                return status
    return 0

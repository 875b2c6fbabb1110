"""One kernel over rows of states, each with its own status: a batched call costs hardly more than its kernels."""

from pliant.kernels._jit import (
    EQUATIONS,
    FORWARD,
    INTEGER,
    INTEGERS,
    MATRICES,
    MATRIX,
    SYSTEM,
    VECTOR,
    WORK,
    Contract,
    kernel,
)

# many(function, system, work, t, q, v, given, found, reaction, status) -> 0: a FORWARD kernel (forward or inverse).
# given without columns: no tau. reaction: one matrix per row, or one that all share; without rows: not wanted.
MANY = Contract(
    INTEGER(INTEGER, SYSTEM, WORK, VECTOR, MATRIX, MATRIX, MATRIX, MATRIX, MATRICES, INTEGERS), is_entered=True
)
# many_equations(function, system, work, q, v, M, h) -> 0: an EQUATIONS kernel.
MANY_EQUATIONS = Contract(INTEGER(INTEGER, SYSTEM, WORK, MATRIX, MATRIX, MATRICES, MATRIX), is_entered=True)
call_forward = FORWARD.call
call_equations = EQUATIONS.call


@kernel(MANY)
def many(function, system, work, t, q, v, given, found, reaction, status):
    """found[row] of every row; a row that fails does not stop the others."""
    for i in range(len(q)):
        wrenches = reaction[i if len(reaction) > 1 else 0]
        status[i] = call_forward(function, (system, work, t[i], q[i], v[i], given[i], found[i], wrenches))
    return 0


@kernel(MANY_EQUATIONS)
def many_equations(function, system, work, q, v, M, h):
    """M[row] and h[row] of every row."""
    for i in range(len(q)):
        call_equations(function, (system, work, q[i], v[i], M[i], h[i]))
    return 0

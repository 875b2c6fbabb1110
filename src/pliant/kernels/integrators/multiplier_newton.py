"""Multipliers of closed loops as unknowns of an implicit step (index 3). Imports _jit, algebra and system only.

    K da - (1 - alpha_f) B dl = r,   beta h^2 A da = -c:   da = K^-1 r + X dl,  X = (1 - alpha_f) K^-1 B,
    (A X) dl = -c / (beta h^2) - A K^-1 r
K Newton's matrix without loops, A = dc/dv, B = M^-1 A^T, c values at the end of the step; of the conditions that
closures/independent.py has chosen.
Reference: Arnold and Bruels (2007)."""

from pliant.kernels._jit import DERIVATIVE, routine
from pliant.kernels.algebra.lu import lu, lu_solve
from pliant.system.status import Status

call_derivative = DERIVATIVE.call

OK, SINGULAR_LOOP = int(Status.OK), int(Status.SINGULAR_LOOP)


@routine
def velocity_of(system, memory, k):
    """Velocity that unknown k is, -1: none."""
    j = memory.active[k] - system.world[0].n_q
    return j if j < system.world[0].n_v else -1


@routine
def factor_multipliers(system, work, memory, t):
    """A, B at (t, y_new), X into work.response, factors of A X into work.dependent. K is factored."""
    newton, X, S, order = memory.newton[0], work.response, work.dependent, work.condition_order
    n, m = memory.jacobian.shape[0] - newton.n_coordinates, work.run[0].n_dependent
    status = call_derivative(work.run[0].conditions, (system, work, t, memory.y_new, memory.scratch[0]))
    for k in range(m):
        for i in range(n):
            j = velocity_of(system, memory, i)
            X[k, i] = (1.0 - newton.alpha_f) * work.lift[k, j] if j >= 0 else 0.0
        lu_solve(memory.factor[0], memory.pivots[0], n, X[k])
    for row in range(m):
        for k in range(m):
            S[row, k] = of_velocities(system, work, memory, order[row], X[k], n)
    if status == OK and lu(S, work.dependent_pivots, m) >= 0:
        return SINGULAR_LOOP
    return status


@routine
def of_velocities(system, work, memory, row, x, n):
    """A[row] times the velocities among x."""
    total = 0.0
    for i in range(n):
        j = velocity_of(system, memory, i)
        if j >= 0:
            total += work.conditions[row, j] * x[i]
    return total


@routine
def add_multipliers(system, work, memory, h, r):
    """r = K^-1 r goes to da; the multipliers change with it. Values of the conditions are those at y_new."""
    newton, X, x, order = memory.newton[0], work.response, work.closing_vectors[0], work.condition_order
    n, m = memory.jacobian.shape[0] - newton.n_coordinates, work.run[0].n_dependent
    for k in range(m):
        x[k] = -work.closings[order[k]].value / (newton.beta * h * h)
        x[k] -= of_velocities(system, work, memory, order[k], r, n)
    lu_solve(work.dependent, work.dependent_pivots, m, x)
    for k in range(m):
        work.closings[order[k]].force += x[k]
        for i in range(n):
            r[i] += X[k, i] * x[k]

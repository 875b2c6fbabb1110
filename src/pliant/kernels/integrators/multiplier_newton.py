"""Multipliers of closed loops as unknowns of an implicit step (index 3). Imports _jit, algebra and system only.

    K da - (1 - alpha_f) B dl = r,   beta h^2 A da = -c:   da = K^-1 r + X dl,  X = (1 - alpha_f) K^-1 B,
    (A X) dl = -c / (beta h^2) - A K^-1 r
K Newton's matrix without loops, A = dc/dv, B = M^-1 A^T of the conditions that closures/independent.py has chosen, c
their values at the end of the step. Virtual springs of stiffness k and damping d are c + (l + d c')/k = 0 in place of
c = 0, all of them: the same system with (s A X + 1/(k beta h^2)), s = 1 + d gamma/(k beta h), however stiff they are.
Reference: Arnold and Bruels (2007)."""

from pliant.kernels._jit import DERIVATIVE, routine
from pliant.kernels.algebra.lu import lu, lu_solve
from pliant.kernels.algebra.weak import solve_untold
from pliant.system.status import Status

call_derivative = DERIVATIVE.call

CLOSED = 1e-15  # of the scales: rounding
SHARE = 3  # row of work.closing_vectors
OK, SINGULAR_LOOP = int(Status.OK), int(Status.SINGULAR_LOOP)


@routine
def velocity_of(system, memory, k):
    """Velocity that unknown k is, -1: none."""
    j = memory.active[k] - system.world[0].n_q
    return j if j < system.world[0].n_v else -1


@routine
def factor_multipliers(system, work, memory, t, h):
    """A, B at (t, y_new), X into work.response, factors of A X into work.dependent. K is factored."""
    newton, run, X, S, order = memory.newton[0], work.run[0], work.response, work.dependent, work.condition_order
    softness = 1.0 + run.compliance * run.loop_damping * newton.gamma / (newton.beta * h)
    n, m = memory.jacobian.shape[0] - newton.n_coordinates, run.n_dependent
    status = call_derivative(work.run[0].conditions, (system, work, t, memory.y_new, memory.scratch[0]))
    for k in range(m):
        for i in range(n):
            j = velocity_of(system, memory, i)
            X[k, i] = (1.0 - newton.alpha_f) * work.lift[k, j] if j >= 0 else 0.0
        lu_solve(memory.factor[0], memory.pivots[0], n, X[k])
    for row in range(m):
        for k in range(m):
            S[row, k] = softness * of_velocities(system, work, memory, order[row], X[k], n)
        S[row, row] += run.compliance / (newton.beta * h * h)
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
    newton, run, X, x, order = (
        memory.newton[0],
        work.run[0],
        work.response,
        work.closing_vectors[0],
        work.condition_order,
    )
    softness = 1.0 + run.compliance * run.loop_damping * newton.gamma / (newton.beta * h)
    n, m = memory.jacobian.shape[0] - newton.n_coordinates, run.n_dependent
    for k in range(m):
        c = work.closings[order[k]]
        # beside a dead point rounding is no gap
        is_closed = run.is_weak and abs(c.value) <= CLOSED * system.closings[order[k]].scale
        gap = 0.0 if is_closed and run.compliance == 0.0 else c.value
        gap += run.compliance * (c.force + run.loop_damping * c.rate)
        x[k] = -gap / (newton.beta * h * h) - softness * of_velocities(system, work, memory, order[k], r, n)
    lu_solve(work.dependent, work.dependent_pivots, m, x)
    for k in range(m):
        work.closings[order[k]].force += x[k]
        for i in range(n):
            r[i] += X[k, i] * x[k]
    if run.is_weak and run.compliance == 0.0:
        keep_weak(system, work, memory, r)


@routine
def keep_weak(system, work, memory, r):
    """What conditions do not tell beside a dead point (closures/dead_points.py): a_new stays a. A X is about
    W (1 - a_f)/(1 - a_m)."""
    newton, run, X, x, order = (
        memory.newton[0],
        work.run[0],
        work.response,
        work.closing_vectors[0],
        work.condition_order,
    )
    n, m, left = memory.jacobian.shape[0] - newton.n_coordinates, run.n_dependent, memory.scratch[0]
    for i in range(n):
        k = memory.active[i]
        left[i] = memory.stages[0, k] - memory.stages[1, k] - r[i]
    for k in range(m):
        x[k] = of_velocities(system, work, memory, order[k], left, n)
    solve_untold(work.gram, m, work.closing_vectors[SHARE], run.softness, x)
    for k in range(m):
        x[k] *= (1.0 - newton.alpha_m) / (1.0 - newton.alpha_f)
        work.closings[order[k]].force += x[k]
        for i in range(n):
            r[i] += X[k, i] * x[k]

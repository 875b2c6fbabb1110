"""Multipliers of closed loops as unknowns of an implicit step (index 3). Imports _jit, algebra and system only.

    K da - (1 - alpha_f) B dl = r,   beta h^2 A da = -c:   da = K^-1 r + X dl,  X = (1 - alpha_f) K^-1 B,
    (A X) dl = -c / (beta h^2) - A K^-1 r
K Newton's matrix without loops, A = dc/dv, B = M^-1 A^T of the active constraints (closures/independent.py), c their
values at the end of the step. Virtual springs of stiffness k and damping d are c + (l + d c')/k = 0 in place of
c = 0, all of them: the same system with (s A X + 1/(k beta h^2)), s = 1 + d gamma/(k beta h), however stiff they are.
Reference: Arnold and Bruels (2007)."""

from pliant.kernels._jit import DERIVATIVE, routine
from pliant.kernels.algebra.lu import lu, lu_solve
from pliant.kernels.algebra.rank_deficient import solve_undetermined
from pliant.system.loop_tables import CLOSURE_ROUNDING, RIGHT, SHARE
from pliant.system.status import Status

call_derivative = DERIVATIVE.call

OK, SINGULAR_LOOP = int(Status.OK), int(Status.SINGULAR_LOOP)


@routine
def velocity_of(system, memory, k):
    """Velocity that unknown k is, -1: none."""
    j = memory.active[k] - system.world[0].n_q
    return j if j < system.world[0].n_v else -1


@routine
def damping_factor(newton, closure, h):
    """s of virtual springs with dampers, 1 without."""
    return 1.0 + closure.spring_compliance * closure.spring_damping * newton.gamma / (newton.beta * h)


@routine
def factor_multipliers(system, work, memory, t, h):
    """A, B at (t, y_new), X into work.response, factors of A X into work.dependent. K is factored."""
    newton, closure, X, S, order = (
        memory.newton[0],
        work.closure[0],
        work.response,
        work.dependent,
        work.constraint_order,
    )
    damped = damping_factor(newton, closure, h)
    n, m = memory.jacobian.shape[0] - newton.n_coordinates, closure.n_active
    status = call_derivative(work.calls[0].constraint_matrices, (system, work, t, memory.y_new, memory.scratch[0]))
    for k in range(m):
        for i in range(n):
            j = velocity_of(system, memory, i)
            X[k, i] = (1.0 - newton.alpha_f) * work.lift[k, j] if j >= 0 else 0.0
        lu_solve(memory.factor[0], memory.pivots[0], n, X[k])
    for row in range(m):
        for k in range(m):
            S[row, k] = damped * jacobian_product(system, work, memory, order[row], X[k], n)
        S[row, row] += closure.spring_compliance / (newton.beta * h * h)
    if status == OK and lu(S, work.dependent_pivots, m) >= 0:
        return SINGULAR_LOOP
    return status


@routine
def jacobian_product(system, work, memory, row, x, n):
    """A[row] times the velocities among x."""
    total = 0.0
    for i in range(n):
        j = velocity_of(system, memory, i)
        if j >= 0:
            total += work.constraint_jacobian[row, j] * x[i]
    return total


@routine
def add_multipliers(system, work, memory, h, r):
    """r = K^-1 r goes to da; the multipliers change with it. Values of the constraints are those at y_new."""
    newton, closure, dead = memory.newton[0], work.closure[0], work.dead_point[0]
    X, x, order = work.response, work.constraint_vectors[RIGHT], work.constraint_order
    damped = damping_factor(newton, closure, h)
    n, m = memory.jacobian.shape[0] - newton.n_coordinates, closure.n_active
    for k in range(m):
        c = work.constraints[order[k]]
        # near a dead point rounding is no gap
        is_closed = dead.is_rank_deficient and abs(c.value) <= CLOSURE_ROUNDING * system.constraints[order[k]].scale
        gap = 0.0 if is_closed and closure.spring_compliance == 0.0 else c.value
        gap += closure.spring_compliance * (c.force + closure.spring_damping * c.rate)
        x[k] = -gap / (newton.beta * h * h) - damped * jacobian_product(system, work, memory, order[k], r, n)
    lu_solve(work.dependent, work.dependent_pivots, m, x)
    for k in range(m):
        work.constraints[order[k]].force += x[k]
        for i in range(n):
            r[i] += X[k, i] * x[k]
    if dead.is_rank_deficient and closure.spring_compliance == 0.0:
        keep_undetermined(system, work, memory, r)


@routine
def keep_undetermined(system, work, memory, r):
    """What constraints do not determine near a dead point (closures/dead_points.py): a_new stays a. A X is about
    W (1 - a_f)/(1 - a_m)."""
    newton, X, x, order = memory.newton[0], work.response, work.constraint_vectors[RIGHT], work.constraint_order
    n, m, left = memory.jacobian.shape[0] - newton.n_coordinates, work.closure[0].n_active, memory.scratch[0]
    for i in range(n):
        k = memory.active[i]
        left[i] = memory.stages[0, k] - memory.stages[1, k] - r[i]
    for k in range(m):
        x[k] = jacobian_product(system, work, memory, order[k], left, n)
    solve_undetermined(work.gram, m, work.constraint_vectors[SHARE], work.dead_point[0].regularisation, x)
    for k in range(m):
        x[k] *= (1.0 - newton.alpha_m) / (1.0 - newton.alpha_f)
        work.constraints[order[k]].force += x[k]
        for i in range(n):
            r[i] += X[k, i] * x[k]

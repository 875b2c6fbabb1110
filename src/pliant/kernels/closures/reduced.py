"""Minimal coordinates: velocities and coordinates that loops make dependent follow from the others at every evaluation.

A_r w = -c, A_r: independent conditions, dependent columns, chosen by full pivoting between steps; Newton's method from
where the integrator has put the dependent coordinates, so that c = 0 to rounding wherever the equations are looked at.
"""

import math

from pliant.kernels._jit import DERIVATIVE, REFEREE, STATE, kernel, routine
from pliant.kernels.algebra.lu import lu, lu_solve
from pliant.kernels.algebra.vec3 import dot, vec
from pliant.kernels.closures.conditions import measure_loops
from pliant.kernels.jacobians import put_jacobian
from pliant.kernels.kinematics.joints import move_along
from pliant.kernels.kinematics.tree import move, place
from pliant.system.status import Status

OK, NOT_CLOSED, SINGULAR_LOOP = int(Status.OK), int(Status.NOT_CLOSED), int(Status.SINGULAR_LOOP)
MOST_CORRECTIONS = 20
CLOSED = 4e-16  # of the scales
GOOD = 1e-10  # of the scales: a search that stops improving above this has failed
DEPENDENT = 1e-8  # of the largest pivot: a condition that says nothing new


@routine
def put_conditions_jacobian(system, work):
    """A of all conditions into work.conditions, after measure_loops."""
    A, J, n = work.conditions, work.frame_jacobian, work.conditions.shape[1]
    for i in range(len(system.loops)):
        loop = system.loops[i]
        for k in range(loop.row, loop.row + loop.n_rows):
            for j in range(n):
                A[k, j] = 0.0
        for end in range(2):
            for a in range(6):
                for j in range(n):
                    J[a, j] = 0.0
            put_jacobian(system, work, loop.first if end == 0 else loop.second, False, J)
            for k in range(loop.row, loop.row + loop.n_rows):
                x = work.closings[k]
                s, e, couple = (-1.0, vec(x.e), vec(x.n1)) if end == 0 else (1.0, vec(x.e), vec(x.n2))
                for j in range(n):
                    A[k, j] += s * dot(e, (J[0, j], J[1, j], J[2, j])) + dot(couple, (J[3, j], J[4, j], J[5, j]))


@routine
def look(system, work, q, v):
    """Place, measure, and A of all conditions."""
    move(system, work, q, v)
    place(system, work)
    measure_loops(system, work)
    put_conditions_jacobian(system, work)


@routine
def factor_dependent(work):
    """LU factors of A_r; whether they exist."""
    A, F, r = work.conditions, work.dependent, work.run[0].n_dependent
    rows, columns = work.condition_order, work.column_order
    for i in range(r):
        for j in range(r):
            F[i, j] = A[rows[i], columns[j]]
    return lu(F, work.dependent_pivots, r) < 0


@routine
def solve_dependent(work, x):
    lu_solve(work.dependent, work.dependent_pivots, work.run[0].n_dependent, x)


@kernel(STATE)
def impose(system, work, t, q, v):
    """Dependent coordinates and velocities from the others."""
    r, n_v, x = work.run[0].n_dependent, len(v), work.closing_vectors[0]
    rows, columns, w, q_new = work.condition_order, work.column_order, work.vdot, work.qdot
    before = math.inf
    for _ in range(MOST_CORRECTIONS):
        look(system, work, q, v)
        error = 0.0
        for k in range(r):
            error = max(error, abs(work.closings[rows[k]].value) / system.closings[rows[k]].scale)
        if not factor_dependent(work):
            return NOT_CLOSED
        if error <= CLOSED or (error < GOOD and error > 0.25 * before):
            break
        if not error < 4.0 * before:
            return NOT_CLOSED
        before = error
        for k in range(r):
            x[k] = -work.closings[rows[k]].value
        solve_dependent(work, x)
        for j in range(n_v):
            w[j] = 0.0
        for k in range(r):
            w[columns[k]] = x[k]
        move_along(system, q, w, q_new)
        for i in range(len(q)):
            q[i] = q_new[i]
    if not error < GOOD:
        return NOT_CLOSED
    # A_r v_d = -A_i v_i
    for k in range(r):
        total = 0.0
        for j in range(r, n_v):
            total -= work.conditions[rows[k], columns[j]] * v[columns[j]]
        x[k] = total
    solve_dependent(work, x)
    for k in range(r):
        v[columns[k]] = x[k]
    return OK


@routine
def pivot_fully(system, work):
    """Eliminate a copy of A with rows and columns scaled, largest pivot first; prescribed columns last. The rank."""
    F, rows, columns = work.elimination, work.condition_order, work.column_order
    m, n = work.conditions.shape
    for k in range(m):
        rows[k] = k
    for j in range(n):
        columns[j], reach = j, 0.0 if work.dofs[j].is_driven else system.dofs[j].reach
        for k in range(m):
            F[k, j] = work.conditions[k, j] * reach / system.closings[k].scale
    rank, first = 0, 0.0
    for k in range(min(m, n)):
        best, pi, pj = 0.0, k, k
        for i in range(k, m):
            for j in range(k, n):
                if abs(F[rows[i], columns[j]]) > best:
                    best, pi, pj = abs(F[rows[i], columns[j]]), i, j
        first = max(first, best)
        if not best > DEPENDENT * first:
            break
        rows[k], rows[pi] = rows[pi], rows[k]
        columns[k], columns[pj] = columns[pj], columns[k]
        rank += 1
        top = F[rows[k]]
        for i in range(k + 1, m):
            row = F[rows[i]]
            factor = row[columns[k]] / top[columns[k]]
            if factor != 0.0:
                for j in range(k + 1, n):
                    row[columns[j]] -= factor * top[columns[j]]
    return rank


@kernel(DERIVATIVE)
def choose(system, work, t, y, ydot):
    """Which conditions are independent and which velocities depend, by full pivoting at y: both orders and the rank.

    A rank that falls is a singular pose."""
    world = system.world[0]
    q, v = y[: world.n_q], y[world.n_q : world.n_q + world.n_v]
    look(system, work, q, v)
    rank = pivot_fully(system, work)
    if rank < work.run[0].n_dependent:
        return SINGULAR_LOOP
    work.run[0].n_dependent = rank
    return OK


@kernel(REFEREE)
def loop_jacobians(system, work, q, v, out):
    """out[row] = A of all conditions, one after the other; after the values that loop_errors gives."""
    m, n = work.conditions.shape
    for row in range(len(q)):
        look(system, work, q[row], v[row])
        for k in range(m):
            for j in range(n):
                out[row, k * n + j] = work.conditions[k, j]
    return 0


@kernel(REFEREE)
def choose_at(system, work, q, v, out):
    """Choose at the one row of q and v; out = rank."""
    look(system, work, q[0], v[0])
    work.run[0].n_dependent = pivot_fully(system, work)
    out[0, 0] = work.run[0].n_dependent
    return 0

"""Which conditions of the loops are independent and which velocities depend on the others: full pivoting of A = dc/dv.

During a run both are chosen between steps, where the loops are closed: among slightly open ones redundant conditions
look independent, and a choice that changed within a step would make the equations jump."""

from pliant.kernels._jit import DERIVATIVE, REFEREE, kernel, routine
from pliant.kernels.algebra.vec3 import dot, vec
from pliant.kernels.closures.conditions import measure_loops
from pliant.kernels.jacobians import put_jacobian
from pliant.kernels.kinematics.tree import move, place
from pliant.system.status import Status

OK, SINGULAR_LOOP = int(Status.OK), int(Status.SINGULAR_LOOP)
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


@routine
def choose_now(system, work):
    """Choose where A is known, unless the choice is held; the rank into run.n_dependent."""
    if work.run[0].holds_choice == 0:
        work.run[0].n_dependent = pivot_fully(system, work)


@routine
def choose_anew(system, work, q, v):
    """Choose at the end of a step. A rank that falls is a singular pose."""
    look(system, work, q, v)
    rank = pivot_fully(system, work)
    if rank < work.run[0].n_dependent:
        return SINGULAR_LOOP
    work.run[0].n_dependent = rank
    return OK


@kernel(DERIVATIVE)
def choose(system, work, t, y, ydot):
    """The same at y."""
    world = system.world[0]
    return choose_anew(system, work, y[: world.n_q], y[world.n_q : world.n_q + world.n_v])


@kernel(REFEREE)
def choose_at(system, work, q, v, out):
    """Choose at the one row of q and v, and hold it; out = rank."""
    look(system, work, q[0], v[0])
    work.run[0].n_dependent, work.run[0].holds_choice = pivot_fully(system, work), 1
    out[0, 0] = work.run[0].n_dependent
    return 0


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

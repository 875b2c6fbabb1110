"""Which conditions of the loops are independent and which velocities depend on the others: full pivoting of A = dc/dv.

During a run both are chosen between steps, where the loops are closed: among slightly open ones redundant conditions
look independent, and a choice that changed within a step would make the equations jump."""

import math

from pliant.kernels._jit import REFEREE, kernel, routine
from pliant.kernels.algebra.dense import copy
from pliant.kernels.algebra.lu import lu
from pliant.kernels.algebra.vec3 import dot, vec
from pliant.kernels.closures.conditions import measure_loops
from pliant.kernels.closures.legs import find_legs
from pliant.kernels.kinematics.columns import joint_column, mode_column
from pliant.kernels.kinematics.planar import planar_column
from pliant.kernels.kinematics.tree import frame_motion, move, place

DEPENDENT = 1e-8  # of the largest pivot: a condition that says nothing new
STILL_GOOD = 0.5  # of the least pivot when the choice was made


@kernel
def add_column(work, loop, j, side, velocity, spin):
    """What velocity j, which moves one frame of a loop so, adds to A. side: -1 the first frame, 1 the second."""
    for k in range(loop.row, loop.row + loop.n_rows):
        x = work.closings[k]
        total = side * dot(vec(x.e), velocity)
        if loop.is_turned:
            total += dot(vec(x.n1) if side < 0.0 else vec(x.n2), spin)
        work.conditions[k, j] += total


@routine
def add_columns(system, work, loop, frame, side):
    """Columns of all velocities between a frame of a loop and the world."""
    p, _ = frame_motion(system, work, frame)
    i, carrier = system.frames[frame].body, system.frames[frame].point
    while i >= 0:
        body, x = system.bodies[i], work.bodies[i]
        if system.world[0].uses_planar:
            c, s, ax, ay = x.R_WB[0], x.R_WB[3], p[0] - x.p_WB[0], p[1] - x.p_WB[1]
            for k in range(body.n_v):
                sx, sy, sw = planar_column(body, x, k)
                velocity = (c * sx - s * sy - sw * ay, s * sx + c * sy + sw * ax, 0.0)
                add_column(work, loop, body.v + k, side, velocity, (0.0, 0.0, sw))
        else:
            if carrier >= 0:
                for j in range(system.flexes[body.flex].m):
                    velocity, spin = mode_column(system, work, x, carrier, p, j)
                    add_column(work, loop, body.v + body.n_v + j, side, velocity, spin)
            for k in range(body.n_v):
                velocity, spin = joint_column(body, x, p, k)
                add_column(work, loop, body.v + k, side, velocity, spin)
        i, carrier = body.parent, body.point


@kernel
def is_known(work, q):
    """Whether work.conditions is A at q."""
    is_same = True
    for i in range(len(q)):
        is_same = is_same and q[i] == work.conditions_q[i]
    return is_same


@routine
def put_conditions_jacobian(system, work, q):
    """A of all conditions at q into work.conditions, after measure_loops."""
    m, n = work.conditions.shape
    copy(q, work.conditions_q)
    for k in range(m):
        for j in range(n):
            work.conditions[k, j] = 0.0
    for i in range(len(system.loops)):
        loop = system.loops[i]
        add_columns(system, work, loop, loop.first, -1.0)
        add_columns(system, work, loop, loop.second, 1.0)


@routine
def look(system, work, q, v):
    """Place, measure, and A of all conditions."""
    move(system, work, q, v)
    place(system, work)
    measure_loops(system, work)
    put_conditions_jacobian(system, work, q)


@routine
def pivot_fully(system, work):
    """Eliminate a copy of A with rows and columns scaled, largest pivot first; prescribed columns last. The rank."""
    F, rows, columns = work.elimination, work.condition_order, work.column_order
    m, n = work.conditions.shape
    for k in range(m):
        rows[k] = k
    for j in range(n):
        columns[j], ease = j, 0.0 if work.dofs[j].is_prescribed else system.dofs[j].ease
        for k in range(m):
            F[k, j] = work.conditions[k, j] * ease / system.closings[k].scale
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
def least_pivot(system, work):
    """The least pivot of the conditions and velocities chosen, scaled; 0: they are singular."""
    F, r, pivots = work.elimination, work.run[0].n_dependent, work.choice_pivots
    for i in range(r):
        for j in range(r):
            k, l = work.condition_order[i], work.column_order[j]
            F[i, j] = work.conditions[k, l] * system.dofs[l].ease / system.closings[k].scale
    if lu(F, pivots, r) >= 0:
        return 0.0
    least = math.inf
    for i in range(r):
        # its reciprocal is stored
        least = min(least, 1.0 / abs(F[i, i]))
    return least


@routine
def choose_here(system, work):
    """Choose where A is known; the rank."""
    rank = work.run[0].n_dependent = pivot_fully(system, work)
    work.run[0].least_pivot = least_pivot(system, work)
    find_legs(system, work)
    return rank


@routine
def choose_now(system, work):
    """Choose where A is known, unless the choice is held."""
    if work.run[0].holds_choice == 0:
        choose_here(system, work)


@routine
def choose_anew(system, work, q, v):
    """Choose at the end of a step, unless the choice is still good, or, as in a dead point, no other is better."""
    if not is_known(work, q):
        look(system, work, q, v)
    before, run, m = work.run[0].n_dependent, work.run[0], len(system.closings)
    now = least_pivot(system, work)
    # redundant conditions may have become independent
    has_all = before == m
    if has_all and now > STILL_GOOD * run.least_pivot:
        return
    pivot, kept = run.least_pivot, work.kept_orders
    copy(work.condition_order, kept[:m])
    copy(work.column_order, kept[m:])
    rank = choose_here(system, work)
    if rank > before or (rank == before and (STILL_GOOD * run.least_pivot > now or not has_all)):
        return
    run.n_dependent, run.least_pivot = before, pivot
    copy(kept[:m], work.condition_order)
    copy(kept[m:], work.column_order)
    find_legs(system, work)


@kernel(REFEREE)
def choose_at(system, work, q, v, out):
    """Choose at the one row of q and v, and hold it; out = rank."""
    look(system, work, q[0], v[0])
    out[0, 0] = choose_here(system, work)
    run = work.run[0]
    run.holds_choice, run.t_dead = 1, math.inf
    run.is_beside, run.best_pivot, run.slack, run.softness, run.dead_x, run.dead_t = 0, 0.0, 0.0, 0.0, -1.0, 0.0
    work.closing_vectors[:] = 0.0
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

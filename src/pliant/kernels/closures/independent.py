"""Partition: which constraints are independent, which velocities depend on the others. By full pivoting of A = dc/dv.

During a run it is made between steps, where the loops are closed: among slightly open ones redundant constraints look
independent, and a partition that changed within a step would make the equations jump.
Reference: Wehage and Haug (1982), generalised coordinate partitioning."""

import math

from pliant.kernels._jit import QUERY, kernel, routine
from pliant.kernels.algebra.dense import copy
from pliant.kernels.algebra.lu import lu
from pliant.kernels.algebra.vec3 import dot, vec
from pliant.kernels.closures.constraints import measure_loops
from pliant.kernels.closures.legs import find_legs
from pliant.kernels.kinematics.columns import joint_column, mode_column
from pliant.kernels.kinematics.planar import planar_column
from pliant.kernels.kinematics.tree import frame_motion, place_at

RANK_TOLERANCE = 1e-8  # of the largest pivot: rows with less are redundant
MIN_PIVOT_RATIO = 0.5  # of the least pivot when the partition was made, below which it is made anew


@kernel
def add_column(work, loop, j, side, velocity, angular_velocity):
    """Column j of A from the motion of one frame of a loop at unit velocity j. side: -1 first frame, 1 second."""
    for k in range(loop.row, loop.row + loop.n_rows):
        x = work.constraints[k]
        total = side * dot(vec(x.e), velocity)
        if loop.has_attitude:
            total += dot(vec(x.n1) if side < 0.0 else vec(x.n2), angular_velocity)
        work.constraint_jacobian[k, j] += total


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
                    velocity, angular_velocity = mode_column(system, work, x, carrier, p, j)
                    add_column(work, loop, body.v + body.n_v + j, side, velocity, angular_velocity)
            for k in range(body.n_v):
                velocity, angular_velocity = joint_column(body, x, p, k)
                add_column(work, loop, body.v + k, side, velocity, angular_velocity)
        i, carrier = body.parent, body.point


@kernel
def is_jacobian_current(work, q):
    """Whether work.constraint_jacobian is A at q."""
    is_same = True
    for i in range(len(q)):
        is_same = is_same and q[i] == work.constraint_jacobian_q[i]
    return is_same


@routine
def put_constraint_jacobian(system, work, q):
    """A of all constraints at q into work.constraint_jacobian, after measure_loops."""
    copy(q, work.constraint_jacobian_q)
    for k in range(len(system.constraints)):
        row = system.constraints[k]
        for l in range(row.first, row.first + row.count):
            work.constraint_jacobian[k, system.links[l]] = 0.0
    for i in range(len(system.loops)):
        loop = system.loops[i]
        add_columns(system, work, loop, loop.first, -1.0)
        add_columns(system, work, loop, loop.second, 1.0)


@routine
def evaluate_constraints(system, work, q, v):
    """Kinematics, values and rates, and A of all constraints."""
    place_at(system, work, q, v)
    measure_loops(system, work)
    put_constraint_jacobian(system, work, q)


@routine
def pivot_fully(system, work):
    """Eliminate a copy of A with rows and columns scaled, largest pivot first; prescribed columns last. The rank."""
    F, rows, columns = work.elimination, work.constraint_order, work.column_order
    m, n = work.constraint_jacobian.shape
    for k in range(m):
        rows[k] = k
    for j in range(n):
        columns[j], weight = j, 0.0 if work.dofs[j].is_prescribed else system.dofs[j].dependence_weight
        for k in range(m):
            F[k, j] = work.constraint_jacobian[k, j] * weight / system.constraints[k].scale
    rank, first = 0, 0.0
    for k in range(min(m, n)):
        best, pi, pj = 0.0, k, k
        for i in range(k, m):
            for j in range(k, n):
                if abs(F[rows[i], columns[j]]) > best:
                    best, pi, pj = abs(F[rows[i], columns[j]]), i, j
        first = max(first, best)
        if not best > RANK_TOLERANCE * first:
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
def partition_pivot(system, work):
    """The least pivot of the active constraints and dependent velocities, scaled; 0: they are singular."""
    F, r, pivots, place = work.elimination, work.closure[0].n_active, work.partition_pivots, work.column_places
    for j in range(len(place)):
        place[work.column_order[j]] = j
    for i in range(r):
        k = work.constraint_order[i]
        row = system.constraints[k]
        for j in range(r):
            F[i, j] = 0.0
        for l in range(row.first, row.first + row.count):
            j = system.links[l]
            if place[j] < r:
                F[i, place[j]] = work.constraint_jacobian[k, j] * system.dofs[j].dependence_weight / row.scale
    if lu(F, pivots, r) >= 0:
        return 0.0
    least = math.inf
    for i in range(r):
        # its reciprocal is stored
        least = min(least, 1.0 / abs(F[i, i]))
    return least


@routine
def partition_here(system, work):
    """Make the partition where A is current; the rank."""
    rank = work.closure[0].n_active = pivot_fully(system, work)
    work.closure[0].min_pivot = partition_pivot(system, work)
    find_legs(system, work)
    return rank


@routine
def partition_unless_held(system, work):
    """Make the partition where A is current, unless it is held."""
    if work.closure[0].is_partition_held == 0:
        partition_here(system, work)


@routine
def update_partition(system, work, q, v):
    """Make the partition anew at the end of a step, unless it still serves or, as in a dead point, none is better."""
    if not is_jacobian_current(work, q):
        evaluate_constraints(system, work, q, v)
    closure, m = work.closure[0], len(system.constraints)
    before = closure.n_active
    now = partition_pivot(system, work)
    # redundant constraints may have become independent
    has_all = before == m
    if has_all and now > MIN_PIVOT_RATIO * closure.min_pivot:
        return
    pivot, kept = closure.min_pivot, work.previous_orders
    copy(work.constraint_order, kept[:m])
    copy(work.column_order, kept[m:])
    rank = partition_here(system, work)
    if rank > before or (rank == before and (MIN_PIVOT_RATIO * closure.min_pivot > now or not has_all)):
        return
    closure.n_active, closure.min_pivot = before, pivot
    copy(kept[:m], work.constraint_order)
    copy(kept[m:], work.column_order)
    find_legs(system, work)


@routine
def forget_dead_points(work):
    """As at the start of a run."""
    dead = work.dead_point[0]
    dead.is_near, dead.t_expected = 0, math.inf
    dead.max_pivot, dead.error_allowance, dead.regularisation, dead.x_before, dead.t_before = 0.0, 0.0, 0.0, -1.0, 0.0
    work.constraint_vectors[:] = 0.0


@kernel(QUERY)
def partition_at(system, work, q, v, out):
    """Make the partition at the one row of q and v, and hold it; out = rank."""
    evaluate_constraints(system, work, q[0], v[0])
    out[0, 0] = partition_here(system, work)
    work.closure[0].is_partition_held = 1
    forget_dead_points(work)
    return 0


@kernel(QUERY)
def loop_jacobians(system, work, q, v, out):
    """out[row] = A of all constraints, row after row."""
    m, n = work.constraint_jacobian.shape
    for row in range(len(q)):
        evaluate_constraints(system, work, q[row], v[row])
        for k in range(m):
            for j in range(n):
                out[row, k * n + j] = work.constraint_jacobian[k, j]
    return 0

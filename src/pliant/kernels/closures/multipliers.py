"""Multipliers of closed loops together with all other forces, over any formulation (index 1).

A vdot + A' v = -2 s rate - s^2 value (s = 0: no Baumgarte term), vdot = vdot of the open tree + M^-1 A^T lambda, with
M^-1 from the factors of the formulation (its RESPONSE kernel). Only the active constraints (independent.py) have
multipliers; those of redundant ones are zero.
"""

from pliant.kernels._jit import ACCELERATION, RESPONSE, kernel, routine
from pliant.kernels.algebra.dense import cholesky_solve
from pliant.kernels.algebra.lanes import WIDTH, load, same, store
from pliant.kernels.algebra.rank_deficient import solve_regularised
from pliant.kernels.closures.constraints import (
    apply_multipliers,
    measure_loops,
    multipliers_power,
    put_second_rates,
)
from pliant.kernels.closures.dead_points import DEFICIENT_PIVOT, factor_gram
from pliant.kernels.closures.independent import is_jacobian_current, partition_unless_held, put_constraint_jacobian
from pliant.system.loop_tables import BIAS, RIGHT, SHARE, TARGET
from pliant.system.status import Status
from pliant.system.tables import Power

call_acceleration = ACCELERATION.call
call_response = RESPONSE.call

OK, SINGULAR_LOOP = int(Status.OK), int(Status.SINGULAR_LOOP)
REFINED_SOLVES = 3  # where an ill-conditioned W has lost digits


@routine
def times_jacobian_row(system, work, k, x):
    """A[k] x"""
    c, row, total = system.constraints[k], work.constraint_jacobian[k], 0.0
    for l in range(c.first, c.first + c.count):
        j = system.links[l]
        total += row[j] * x[j]
    return total


@routine
def put_lift(system, work):
    """M^-1 A^T of the active constraints into work.lift (a row each) with the factors of the formulation, and
    W = A M^-1 A^T into work.gram. The partition is made, A is current."""
    # stiff forces of semi-implicit stages connect all branches
    if work.run[0].implicit_step > 0.0 or work.closure[0].n_active <= system.world[0].n_lanes:
        put_lift_one_by_one(system, work)
    else:
        put_lift_by_branches(system, work)


@routine
def put_lift_one_by_one(system, work):
    r, A, x, order = work.closure[0].n_active, work.constraint_jacobian, work.lanes, work.constraint_order
    n = A.shape[1]
    for first in range(0, r, WIDTH):
        count = min(WIDTH, r - first)
        for k in range(WIDTH):
            row = A[order[first + min(k, count - 1)]]
            for j in range(n):
                x[j, k] = row[j]
        call_response(work.calls[0].respond, (system, work, x))
        for k in range(count):
            for j in range(n):
                work.lift[first + k, j] = x[j, k]
        for i in range(first, r):
            c, row, total = system.constraints[order[i]], A[order[i]], same(0.0)
            for l in range(c.first, c.first + c.count):
                j = system.links[l]
                total = total + row[j] * load(x, j)
            store(x, n, total)
            for k in range(count):
                work.gram[i, first + k] = x[n, k]


@routine
def put_lift_by_branches(system, work):
    """Columns that share no branch go through M^-1 as one."""
    r, A, x, order = work.closure[0].n_active, work.constraint_jacobian, work.lanes, work.constraint_order
    n, lift, W, place = A.shape[1], work.lift, work.gram, work.constraint_places
    for k in range(len(place)):
        place[order[k]] = k
    for first in range(0, system.world[0].n_lanes, WIDTH):
        for j in range(n):
            for lane in range(WIDTH):
                x[j, lane] = 0.0
        for k in range(r):
            c = system.constraints[order[k]]
            if first <= c.lane < first + WIDTH:
                for l in range(c.first, c.first + c.count):
                    x[system.links[l], c.lane - first] = A[order[k], system.links[l]]
        call_response(work.calls[0].respond, (system, work, x))
        for k in range(r):
            c = system.constraints[order[k]]
            if first <= c.lane < first + WIDTH:
                for j in range(n):
                    lift[k, j] = 0.0
                for b in range(2):
                    take_branch(system, x, c.lane - first, c.branches[b], lift[k])
    for k in range(r):
        for i in range(k + 1):
            W[k, i] = 0.0
    for k in range(r):
        for b in range(2):
            put_gram_column(system, work, k, system.constraints[order[k]].branches[b])


@routine
def take_branch(system, x, lane, branch, row):
    """row = the lane of x, in one branch (-1: none)."""
    if branch >= 0:
        of = system.branches[branch]
        for l in range(of.first, of.first + of.count):
            row[system.links[l]] = x[system.links[l], lane]


@routine
def put_gram_column(system, work, k, branch):
    """Column k of W, below the diagonal, where constraints share this branch (-1: none)."""
    if branch >= 0:
        of = system.branches[branch]
        for l in range(of.first_constraint, of.first_constraint + of.n_constraints):
            i = work.constraint_places[system.links[l]]
            if k <= i < work.closure[0].n_active:
                work.gram[i, k] = times_jacobian_row(system, work, system.links[l], work.lift[k])


@routine
def find_lift(system, work, q, v, vdot):
    """vdot without multipliers, M^-1 A^T of the active constraints and W. Forces are gathered, the partition is made, A
    is current."""
    status = call_acceleration(work.calls[0].open_formulation, (system, work, q, v, vdot, work.no_reaction))
    if status == OK:
        put_lift(system, work)
    return status


@routine
def add_lifted(work, r, x, vdot):
    """vdot += M^-1 A^T x."""
    for k in range(r):
        for j in range(vdot.shape[0]):
            vdot[j] += work.lift[k, j] * x[k]


@routine
def find_multipliers(system, work, q, v, vdot):
    """Fill the forces of work.constraints, and vdot under them; forces are gathered, loops measured, and the partition
    is made."""
    closure, dead, order, vectors = work.closure[0], work.dead_point[0], work.constraint_order, work.constraint_vectors
    r, s = closure.n_active, closure.baumgarte_rate
    bias, x, target = vectors[BIAS], vectors[RIGHT], vectors[TARGET]
    status = find_lift(system, work, q, v, vdot)
    if status != OK:
        return status
    if not factor_gram(work, r) or dead.pivot < dead.least_pivot * dead.max_pivot:
        return SINGULAR_LOOP
    for k in range(len(system.constraints)):
        work.constraints[k].force = 0.0
    put_second_rates(system, work, work.zero_vdot, bias)
    keeps_previous = dead.is_rank_deficient and closure.is_partition_held
    for _ in range(1 if dead.pivot > DEFICIENT_PIVOT else REFINED_SOLVES):
        for k in range(r):
            c, now = work.constraints[order[k]], times_jacobian_row(system, work, order[k], vdot)
            x[k] = -now - bias[order[k]] - s * (2.0 * c.rate + s * c.value)
            if keeps_previous:
                target[k] = times_jacobian_row(system, work, order[k], work.previous_vdot) - now
        if keeps_previous:
            solve_regularised(work.gram, r, vectors[SHARE], dead.regularisation, x, target)
        else:
            cholesky_solve(work.gram, r, x)
        add_lifted(work, r, x, vdot)
        for k in range(r):
            work.constraints[order[k]].force += x[k]
    return OK


@kernel(ACCELERATION)
def close(system, work, q, v, vdot, reaction):
    """vdot, and reactions if it has rows, under all gathered forces and the multipliers; gathered forces stay."""
    measure_loops(system, work)
    if not is_jacobian_current(work, q):
        put_constraint_jacobian(system, work, q)
    partition_unless_held(system, work)
    status = find_multipliers(system, work, q, v, vdot)
    if status == OK and (len(reaction) > 0 or system.world[0].has_prescribed):
        apply_multipliers(system, work, 1.0)
        status = call_acceleration(work.calls[0].open_formulation, (system, work, q, v, vdot, reaction))
        apply_multipliers(system, work, -1.0)
    work.power[Power.LOOP] = multipliers_power(work)
    return status

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
def find_lift(system, work, q, v, vdot):
    """vdot without multipliers, M^-1 A^T of the active constraints into work.lift (a row each) and W = A M^-1 A^T into
    work.gram. Forces are gathered, the partition is made, A is current."""
    n, r, A, x = len(vdot), work.closure[0].n_active, work.constraint_jacobian, work.lanes
    status = call_acceleration(work.calls[0].open_formulation, (system, work, q, v, vdot, work.no_reaction))
    if status != OK:
        return status
    for first in range(0, r, WIDTH):
        count = min(WIDTH, r - first)
        for k in range(WIDTH):
            row = A[work.constraint_order[first + min(k, count - 1)]]
            for j in range(n):
                x[j, k] = row[j]
        call_response(work.calls[0].respond, (system, work, x))
        for k in range(count):
            for j in range(n):
                work.lift[first + k, j] = x[j, k]
        for i in range(r):
            row, total = A[work.constraint_order[i]], same(0.0)
            for j in range(n):
                total = total + row[j] * load(x, j)
            store(x, n, total)
            for k in range(count):
                work.gram[i, first + k] = x[n, k]
    return status


@kernel
def times_jacobian_row(work, k, x):
    """A[k] x"""
    row, total = work.constraint_jacobian[k], 0.0
    for j in range(len(x)):
        total += row[j] * x[j]
    return total


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
    if not factor_gram(work, r):
        return SINGULAR_LOOP
    for k in range(len(system.constraints)):
        work.constraints[k].force = 0.0
    put_second_rates(system, work, work.zero_vdot, bias)
    keeps_previous = dead.is_rank_deficient and closure.is_partition_held
    for _ in range(1 if dead.pivot > DEFICIENT_PIVOT else REFINED_SOLVES):
        for k in range(r):
            c, now = work.constraints[order[k]], times_jacobian_row(work, order[k], vdot)
            x[k] = -now - bias[order[k]] - s * (2.0 * c.rate + s * c.value)
            if keeps_previous:
                target[k] = times_jacobian_row(work, order[k], work.previous_vdot) - now
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

"""Minimal coordinates: dependent coordinates and velocities are solved for at every evaluation.

A_r w = -c, A_r: active constraints, dependent columns (independent.py); Newton's method from where the integrator has
put the dependent coordinates, so that c = 0 to rounding wherever the equations are evaluated. In steps that may meet a
dead point, where A_r is singular, nothing is solved for: all coordinates are integrated, and projected onto the loops
at the end of the step (dead_points.py).
"""

import math

from pliant.kernels._jit import STATE, kernel, routine
from pliant.kernels.algebra.dense import copy
from pliant.kernels.algebra.lu import lu, lu_solve
from pliant.kernels.closures.constraints import measure_loops
from pliant.kernels.closures.dead_points import APPROACH_PIVOT, largest_speed
from pliant.kernels.closures.independent import put_constraint_jacobian
from pliant.kernels.closures.legs import close_legs
from pliant.kernels.kinematics.joints import move_along
from pliant.kernels.kinematics.tree import place_at
from pliant.system.loop_tables import CLOSURE_ROUNDING, RIGHT
from pliant.system.status import Status

OK, NOT_CLOSED = int(Status.OK), int(Status.NOT_CLOSED)
MAX_CORRECTIONS = 20
MAX_ERROR = 1e-10  # of the scales: Newton's method that stagnates above it has failed
DIVERGENCE_RATE = 4.0  # of the error, from one correction to the next
STAGNATION_RATE = 0.25  # with a new Jacobian
REUSE_RATE = 1e-3  # rate of convergence above which the Jacobian is formed anew
MAX_VELOCITY_CHANGE = 0.5  # of the velocities: more than a stage of a step errs by


@routine
def factor_dependent(work):
    """LU factors of A_r; whether they exist."""
    A, F, r = work.constraint_jacobian, work.dependent, work.closure[0].n_active
    rows, columns = work.constraint_order, work.column_order
    for i in range(r):
        for j in range(r):
            F[i, j] = A[rows[i], columns[j]]
    return lu(F, work.dependent_pivots, r) < 0


@routine
def solve_factored(work, x):
    lu_solve(work.dependent, work.dependent_pivots, work.closure[0].n_active, x)


@routine
def largest_value(system, work):
    """Largest value of an active constraint, over its scale."""
    largest = 0.0
    for k in range(work.closure[0].n_active):
        row = work.constraint_order[k]
        largest = max(largest, abs(work.constraints[row].value) / system.constraints[row].scale)
    return largest


@routine
def close_loops(system, work, q, v):
    """Dependent coordinates from the others: legs in closed form, all others by Newton's method with a Jacobian that is
    kept while it converges fast."""
    r, w, x = work.closure[0].n_active, work.vdot, work.constraint_vectors[RIGHT]
    before, is_new = math.inf, False
    place_at(system, work, q, v)
    if close_legs(system, work, q):
        place_at(system, work, q, v)
    measure_loops(system, work)
    for _ in range(MAX_CORRECTIONS):
        error = largest_value(system, work)
        if error <= CLOSURE_ROUNDING or (error < MAX_ERROR and error > STAGNATION_RATE * before and is_new):
            return True
        if not error < DIVERGENCE_RATE * before:
            return False
        if not error < REUSE_RATE * before or before == math.inf:
            put_constraint_jacobian(system, work, q)
            if not factor_dependent(work):
                return False
            is_new = True
        else:
            is_new = False
        before = error
        for j in range(len(w)):
            w[j] = 0.0
        for k in range(r):
            x[k] = -work.constraints[work.constraint_order[k]].value
        solve_factored(work, x)
        for k in range(r):
            w[work.column_order[k]] = x[k]
        move_along(system, q, w, work.qdot)
        copy(work.qdot, q)
        place_at(system, work, q, v)
        measure_loops(system, work)
    return largest_value(system, work) < MAX_ERROR


@kernel(STATE)
def solve_dependent(system, work, t, q, v):
    """Dependent coordinates and velocities from the others."""
    closure, dead, x = work.closure[0], work.dead_point[0], work.constraint_vectors[RIGHT]
    r, rows, columns, change = closure.n_active, work.constraint_order, work.column_order, 0.0
    if dead.is_near:
        return OK
    if not close_loops(system, work, q, v):
        return NOT_CLOSED
    put_constraint_jacobian(system, work, q)
    if not factor_dependent(work):
        return NOT_CLOSED
    # A_r v_d = -A_i v_i
    for k in range(r):
        total = 0.0
        for j in range(r, len(v)):
            total -= work.constraint_jacobian[rows[k], columns[j]] * v[columns[j]]
        x[k] = total
    solve_factored(work, x)
    for k in range(r):
        change = max(change, abs(x[k] - v[columns[k]]) / system.dofs[columns[k]].velocity_scale)
        v[columns[k]] = x[k]
    # so large a change is the way onto another branch
    is_approaching = dead.pivot < APPROACH_PIVOT * dead.max_pivot
    if is_approaching and change > MAX_VELOCITY_CHANGE * largest_speed(system, v) + closure.projection_floor:
        return NOT_CLOSED
    return OK

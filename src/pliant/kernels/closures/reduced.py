"""Minimal coordinates: velocities and coordinates that loops make dependent follow from the others at every evaluation.

A_r w = -c, A_r: independent conditions, dependent columns as independent.py has chosen them; Newton's method from
where the integrator has put the dependent coordinates, so that c = 0 to rounding wherever the equations are looked at.
In steps that may meet a dead point, where A_r no longer tells, nothing follows: all coordinates are integrated, and put
back on the loops at the end of the step (dead_points.py).
"""

import math

from pliant.kernels._jit import STATE, kernel, routine
from pliant.kernels.algebra.dense import copy
from pliant.kernels.algebra.lu import lu, lu_solve
from pliant.kernels.closures.conditions import measure_loops
from pliant.kernels.closures.dead_points import NEAR, largest_speed
from pliant.kernels.closures.independent import put_conditions_jacobian
from pliant.kernels.closures.legs import close_legs
from pliant.kernels.kinematics.joints import move_along
from pliant.kernels.kinematics.tree import move, place
from pliant.system.status import Status

OK, NOT_CLOSED = int(Status.OK), int(Status.NOT_CLOSED)
MOST_CORRECTIONS = 20
CLOSED = 1e-15  # of the scales: rounding
SLOW = 1e-3  # a correction that leaves more than this of the error asks for a new Jacobian
GOOD = 1e-10  # of the scales: a search that stops improving above this has failed
TURNED = 0.5  # of the speeds: more than a stage of a step errs by


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


@routine
def largest_value(system, work):
    """Largest value of an independent condition, over its scale."""
    largest = 0.0
    for k in range(work.run[0].n_dependent):
        row = work.condition_order[k]
        largest = max(largest, abs(work.closings[row].value) / system.closings[row].scale)
    return largest


@routine
def place_at(system, work, q, v):
    move(system, work, q, v)
    place(system, work)


@routine
def close_loops(system, work, q, v):
    """Dependent coordinates from the others: legs in closed form, and all that is left by Newton's method with a
    Jacobian that is kept while it serves."""
    r, w, x = work.run[0].n_dependent, work.vdot, work.closing_vectors[0]
    before, is_new = math.inf, False
    place_at(system, work, q, v)
    if close_legs(system, work, q):
        place_at(system, work, q, v)
    measure_loops(system, work)
    for _ in range(MOST_CORRECTIONS):
        error = largest_value(system, work)
        if error <= CLOSED or (error < GOOD and error > 0.25 * before and is_new):
            return True
        if not error < 4.0 * before:
            return False
        if not error < SLOW * before or before == math.inf:
            put_conditions_jacobian(system, work, q)
            if not factor_dependent(work):
                return False
            is_new = True
        else:
            is_new = False
        before = error
        for j in range(len(w)):
            w[j] = 0.0
        for k in range(r):
            x[k] = -work.closings[work.condition_order[k]].value
        solve_dependent(work, x)
        for k in range(r):
            w[work.column_order[k]] = x[k]
        move_along(system, q, w, work.qdot)
        copy(work.qdot, q)
        place_at(system, work, q, v)
        measure_loops(system, work)
    return largest_value(system, work) < GOOD


@kernel(STATE)
def impose(system, work, t, q, v):
    """Dependent coordinates and velocities from the others."""
    r, x, rows, columns = work.run[0].n_dependent, work.closing_vectors[0], work.condition_order, work.column_order
    run, change = work.run[0], 0.0
    if run.is_beside:
        return OK
    if not close_loops(system, work, q, v):
        return NOT_CLOSED
    put_conditions_jacobian(system, work, q)
    if not factor_dependent(work):
        return NOT_CLOSED
    # A_r v_d = -A_i v_i
    for k in range(r):
        total = 0.0
        for j in range(r, len(v)):
            total -= work.conditions[rows[k], columns[j]] * v[columns[j]]
        x[k] = total
    solve_dependent(work, x)
    for k in range(r):
        change = max(change, abs(x[k] - v[columns[k]]) / system.dofs[columns[k]].reach)
        v[columns[k]] = x[k]
    # so much is the way onto another branch
    if run.pivot < NEAR * run.best_pivot and change > TURNED * largest_speed(system, v) + run.projection_floor:
        return NOT_CLOSED
    return OK

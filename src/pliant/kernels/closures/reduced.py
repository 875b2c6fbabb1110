"""Minimal coordinates: velocities and coordinates that loops make dependent follow from the others at every evaluation.

A_r w = -c, A_r: independent conditions, dependent columns as independent.py has chosen them; Newton's method from
where the integrator has put the dependent coordinates, so that c = 0 to rounding wherever the equations are looked at.
"""

import math

from pliant.kernels._jit import STATE, kernel, routine
from pliant.kernels.algebra.lu import lu, lu_solve
from pliant.kernels.closures.independent import look
from pliant.kernels.kinematics.joints import move_along
from pliant.system.status import Status

OK, NOT_CLOSED = int(Status.OK), int(Status.NOT_CLOSED)
MOST_CORRECTIONS = 20
CLOSED = 4e-16  # of the scales
GOOD = 1e-10  # of the scales: a search that stops improving above this has failed


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

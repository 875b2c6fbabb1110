"""Positions and velocities projected onto the loops, the shortest way in the metric of M: the end of every step."""

import math

from pliant.kernels._jit import DERIVATIVE, kernel, routine
from pliant.kernels.algebra.dense import cholesky_solve
from pliant.kernels.algebra.rank_deficient import solve_regularised
from pliant.kernels.closures.constraints import measure_loops
from pliant.kernels.closures.dead_points import DEFICIENT_PIVOT, has_passed_bent_loop, largest_speed, remember
from pliant.kernels.closures.independent import update_partition
from pliant.kernels.closures.multipliers import add_lifted
from pliant.kernels.kinematics.joints import move_along
from pliant.kernels.kinematics.tree import place_at
from pliant.system.loop_tables import CLOSURE_ROUNDING, RIGHT, SHARE, TARGET
from pliant.system.status import Status

call_derivative = DERIVATIVE.call

OK, NOT_CLOSED = int(Status.OK), int(Status.NOT_CLOSED)
MAX_CORRECTIONS = 8
MAX_ERROR = 1e-6  # of the scales, after the last correction
MIN_CONVERGENCE = 0.5  # of the error before: a correction that leaves more is the last
DEAD_POINT_PIVOT = 1e-3  # of the largest: a step that ends with less has ended in a dead point
MAX_VELOCITY_CHANGE = 1e-3  # of the velocities, whatever the error allowance of a step across a dead point


@routine
def largest_error(system, work, is_rate):
    """Largest value, or rate, over the scales."""
    largest = 0.0
    for k in range(len(system.constraints)):
        x = work.constraints[k]
        size = abs(x.rate if is_rate else x.value) / system.constraints[k].scale
        largest = max(largest, size)
    return largest


@routine
def find_correction(system, work, is_rate, w):
    """w = M^-1 A^T lambda that takes the values (rates) away, as far as A determines it."""
    dead, r, vectors = work.dead_point[0], work.closure[0].n_active, work.constraint_vectors
    x, target = vectors[RIGHT], vectors[TARGET]
    for k in range(r):
        c = work.constraints[work.constraint_order[k]]
        x[k], target[k] = -(c.rate if is_rate else c.value), 0.0
    if dead.pivot < max(DEFICIENT_PIVOT, 4.0 * dead.projection_regularisation) * dead.max_pivot:
        # rounding of positions, over x twice, is not put into velocities
        solve_regularised(work.gram, r, vectors[SHARE], dead.projection_regularisation, x, target)
    else:
        cholesky_solve(work.gram, r, x)
    for j in range(w.shape[0]):
        w[j] = 0.0
    add_lifted(work, r, x, w)


@routine
def project_level(system, work, q, v, is_rate):
    """q (or, with is_rate, v) onto the loops by simplified Newton steps: (error left, change of velocities)."""
    q_new, w, changed, before, error = work.qdot, work.vdot, 0.0, math.inf, math.inf
    for _ in range(MAX_CORRECTIONS):
        place_at(system, work, q, v)
        measure_loops(system, work)
        error = largest_error(system, work, is_rate)
        if error <= CLOSURE_ROUNDING or error > MIN_CONVERGENCE * before:
            break
        before = error
        find_correction(system, work, is_rate, w)
        if is_rate:
            changed += largest_speed(system, w)
            for j in range(len(v)):
                v[j] += w[j]
        else:
            move_along(system, q, w, q_new)
            for i in range(len(q)):
                q[i] = q_new[i]
    return error, changed


@routine
def project_state(system, work, q, v):
    """q, then v, onto the loops, where W has been factored."""
    closure, allowance = work.closure[0], work.dead_point[0].error_allowance
    error, _ = project_level(system, work, q, v, False)
    if not error < MAX_ERROR:
        return NOT_CLOSED
    error, changed = project_level(system, work, q, v, True)
    if not error < MAX_ERROR:
        return NOT_CLOSED
    # more than the errors of a step: near a singular pose this would be the way onto another branch
    allowed = closure.max_projection
    if allowance > 1.0:
        allowed = max(allowed, min(MAX_VELOCITY_CHANGE, allowed * allowance))
    if changed > allowed * largest_speed(system, v) + closure.projection_floor:
        return NOT_CLOSED
    return OK


@routine
def project_and_evaluate(system, work, t, y, ydot):
    """Project y, make the partition anew, and evaluate the derivative there."""
    world = system.world[0]
    q, v = y[: world.n_q], y[world.n_q : world.n_q + world.n_v]
    if has_passed_bent_loop(work, t):
        return NOT_CLOSED
    work.closure[0].n_evaluations += 2
    status = call_derivative(work.calls[0].derivative, (system, work, t, y, ydot))
    if status != OK:
        return status
    status = project_state(system, work, q, v)
    if status != OK:
        return status
    update_partition(system, work, q, v)
    status = call_derivative(work.calls[0].derivative, (system, work, t, y, ydot))
    if status == OK:
        remember(system, work, t, v, ydot[world.n_q : world.n_q + world.n_v])
    return status


@kernel(DERIVATIVE)
def project(system, work, t, y, ydot):
    """At the end of every step."""
    return project_and_evaluate(system, work, t, y, ydot)


@kernel(DERIVATIVE)
def project_near_dead_point(system, work, t, y, ydot):
    """Near a dead point only: minimal coordinates and the Baumgarte term need it nowhere else."""
    dead = work.dead_point[0]
    if dead.is_near:
        return project_and_evaluate(system, work, t, y, ydot)
    if dead.pivot < DEAD_POINT_PIVOT * dead.max_pivot:
        # the step has ended in a dead point that was not expected: it is made once more, expecting it
        dead.is_near = 1
        return NOT_CLOSED
    if has_passed_bent_loop(work, t):
        return NOT_CLOSED
    world = system.world[0]
    update_partition(system, work, y[: world.n_q], y[world.n_q : world.n_q + world.n_v])
    remember(system, work, t, y[world.n_q : world.n_q + world.n_v], ydot[world.n_q : world.n_q + world.n_v])
    return OK

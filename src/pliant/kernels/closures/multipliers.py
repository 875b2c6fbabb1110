"""Multipliers of closed loops beside everything else that acts, over any formulation.

A vdot + A' v = -2 s rate - s^2 value (s = 0: no Baumgarte term), vdot = vdot of the open tree + M^-1 A^T lambda, with
M^-1 from the factors of the formulation (its RESPONSE kernel). Only the conditions that independent.py has chosen have
multipliers; those of redundant ones are zero.
"""

import math

from pliant.kernels._jit import ACCELERATION, DERIVATIVE, RESPONSE, kernel, routine
from pliant.kernels.algebra.dense import cholesky_solve
from pliant.kernels.algebra.lanes import WIDTH, load, same, store
from pliant.kernels.algebra.weak import solve_weakly
from pliant.kernels.closures.conditions import (
    measure_loops,
    multipliers_power,
    push_multipliers,
    put_second_rates,
)
from pliant.kernels.closures.dead_points import (
    BIAS,
    RIGHT,
    SHARE,
    TARGET,
    WEAK,
    factor_gram,
    largest_speed,
    remember,
)
from pliant.kernels.closures.independent import choose_anew, choose_now, is_known, put_conditions_jacobian
from pliant.kernels.kinematics.joints import move_along
from pliant.kernels.kinematics.tree import move, place
from pliant.system.status import Status
from pliant.system.tables import Power

call_acceleration = ACCELERATION.call
call_derivative = DERIVATIVE.call
call_response = RESPONSE.call

OK, NOT_CLOSED, SINGULAR_LOOP = int(Status.OK), int(Status.NOT_CLOSED), int(Status.SINGULAR_LOOP)
MOST_CORRECTIONS = 8
LANDED = 1e-3  # of the best pivot: a step has ended in a dead point
CLOSED = 1e-15  # of the scales: as closed as rounding lets
MOST_CHANGED = 1e-3  # of the speeds, however much slack a step across a dead point had


@routine
def find_lift(system, work, q, v, vdot):
    """vdot without multipliers, M^-1 A^T of the chosen conditions into work.lift (a row each) and W = A M^-1 A^T into
    work.gram. Forces are gathered, conditions chosen, A is known."""
    n, r, A, x = len(vdot), work.run[0].n_dependent, work.conditions, work.lanes
    status = call_acceleration(work.run[0].open_formulation, (system, work, q, v, vdot, work.no_reaction))
    if status != OK:
        return status
    for first in range(0, r, WIDTH):
        count = min(WIDTH, r - first)
        for k in range(WIDTH):
            row = A[work.condition_order[first + min(k, count - 1)]]
            for j in range(n):
                x[j, k] = row[j]
        call_response(work.run[0].respond, (system, work, x))
        for k in range(count):
            for j in range(n):
                work.lift[first + k, j] = x[j, k]
        for i in range(r):
            row, total = A[work.condition_order[i]], same(0.0)
            for j in range(n):
                total = total + row[j] * load(x, j)
            store(x, n, total)
            for k in range(count):
                work.gram[i, first + k] = x[n, k]
    return status


@kernel
def times_conditions(work, k, x):
    """A[k] x"""
    row, total = work.conditions[k], 0.0
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
    """Fill the forces of work.closings, and vdot under them; forces are gathered, loops measured, conditions chosen."""
    r, s, order = work.run[0].n_dependent, work.run[0].baumgarte, work.condition_order
    run, bias, x, target = (
        work.run[0],
        work.closing_vectors[BIAS],
        work.closing_vectors[RIGHT],
        work.closing_vectors[TARGET],
    )
    status = find_lift(system, work, q, v, vdot)
    if status != OK:
        return status
    if not factor_gram(work, r):
        return SINGULAR_LOOP
    for k in range(len(system.closings)):
        work.closings[k].force = 0.0
    put_second_rates(system, work, work.still, bias)
    # again where an ill-conditioned W has lost digits
    for _ in range(1 if run.pivot > WEAK else 3):
        for k in range(r):
            c, now = work.closings[order[k]], times_conditions(work, order[k], vdot)
            x[k] = -now - bias[order[k]] - s * (2.0 * c.rate + s * c.value)
            if run.is_weak and run.holds_choice:
                target[k] = times_conditions(work, order[k], work.held_vdot) - now
        if run.is_weak and run.holds_choice:
            solve_weakly(work.gram, r, work.closing_vectors[SHARE], run.softness, x, target)
        else:
            cholesky_solve(work.gram, r, x)
        add_lifted(work, r, x, vdot)
        for k in range(r):
            work.closings[order[k]].force += x[k]
    return OK


@kernel(ACCELERATION)
def close(system, work, q, v, vdot, reaction):
    """vdot, and reactions if it has rows, under all gathered forces and the multipliers; gathered forces stay."""
    measure_loops(system, work)
    if not is_known(work, q):
        put_conditions_jacobian(system, work, q)
    choose_now(system, work)
    status = find_multipliers(system, work, q, v, vdot)
    if status == OK and (len(reaction) > 0 or system.world[0].has_prescribed):
        push_multipliers(system, work, 1.0)
        status = call_acceleration(work.run[0].open_formulation, (system, work, q, v, vdot, reaction))
        push_multipliers(system, work, -1.0)
    work.power[Power.LOOP] = multipliers_power(work)
    return status


@routine
def largest_error(system, work, is_rate):
    """Largest value, or rate, over the scales."""
    largest = 0.0
    for k in range(len(system.closings)):
        x = work.closings[k]
        size = abs(x.rate if is_rate else x.value) / system.closings[k].scale
        largest = max(largest, size)
    return largest


@routine
def correct_once(system, work, is_rate, w):
    """w = M^-1 A^T lambda that takes the values (rates) away, as far as A tells."""
    run, r, x, target = work.run[0], work.run[0].n_dependent, work.closing_vectors[RIGHT], work.closing_vectors[TARGET]
    for k in range(r):
        c = work.closings[work.condition_order[k]]
        x[k], target[k] = -(c.rate if is_rate else c.value), 0.0
    if run.pivot < max(WEAK, 4.0 * run.projection_softness) * run.best_pivot:
        # rounding of positions, over x twice, is not put into speeds
        solve_weakly(work.gram, r, work.closing_vectors[SHARE], run.projection_softness, x, target)
    else:
        cholesky_solve(work.gram, r, x)
    for j in range(w.shape[0]):
        w[j] = 0.0
    add_lifted(work, r, x, w)


@routine
def correct(system, work, q, v):
    """q, then v, back on the loops, where W has been factored."""
    q_new, w, changed, run = work.qdot, work.vdot, 0.0, work.run[0]
    for is_rate in (False, True):
        before = math.inf
        for _ in range(MOST_CORRECTIONS):
            move(system, work, q, v)
            place(system, work)
            measure_loops(system, work)
            error = largest_error(system, work, is_rate)
            if error <= CLOSED or error > 0.5 * before:
                break
            before = error
            correct_once(system, work, is_rate, w)
            if is_rate:
                changed += largest_speed(system, w)
                for j in range(len(v)):
                    v[j] += w[j]
            else:
                move_along(system, q, w, q_new)
                for i in range(len(q)):
                    q[i] = q_new[i]
        if not error < 1e-6:
            return NOT_CLOSED
    # more than the errors of a step: beside a singular pose this would be the way onto another branch
    allowed = run.projection
    if run.slack > 1.0:
        allowed = max(allowed, min(MOST_CHANGED, allowed * run.slack))
    if changed > allowed * largest_speed(system, v) + run.projection_floor:
        return NOT_CLOSED
    return OK


@routine
def put_back(system, work, t, y, ydot):
    """Put y back on the loops, the shortest way as masses measure it, and find its derivative anew."""
    world = system.world[0]
    q, v = y[: world.n_q], y[world.n_q : world.n_q + world.n_v]
    work.run[0].n_evaluations += 2
    status = call_derivative(work.run[0].derivative, (system, work, t, y, ydot))
    if status != OK:
        return status
    status = correct(system, work, q, v)
    if status != OK:
        return status
    choose_anew(system, work, q, v)
    status = call_derivative(work.run[0].derivative, (system, work, t, y, ydot))
    if status == OK:
        remember(system, work, t, v, ydot[world.n_q : world.n_q + world.n_v])
    return status


@kernel(DERIVATIVE)
def project(system, work, t, y, ydot):
    """The same, as the end of every step asks for."""
    return put_back(system, work, t, y, ydot)


@kernel(DERIVATIVE)
def project_beside(system, work, t, y, ydot):
    """The same beside a dead point only: minimal coordinates and the Baumgarte term need it nowhere else."""
    run = work.run[0]
    if run.is_beside:
        return put_back(system, work, t, y, ydot)
    if run.pivot < LANDED * run.best_pivot:
        # nothing has told before that the step would end in a dead point: once more, knowing it
        run.is_beside = 1
        return NOT_CLOSED
    world = system.world[0]
    choose_anew(system, work, y[: world.n_q], y[world.n_q : world.n_q + world.n_v])
    remember(system, work, t, y[world.n_q : world.n_q + world.n_v], ydot[world.n_q : world.n_q + world.n_v])
    return OK

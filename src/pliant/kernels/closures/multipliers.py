"""Multipliers of closed loops beside everything else that acts, over any formulation.

a = a0 + W lambda: second rates of the conditions under their multipliers, W = A M^-1 A^T from one unit force at a time;
lambda makes a = -2 s rate - s^2 value (s = 0: no Baumgarte term). Only conditions that independent.py has chosen have
multipliers; those of redundant ones are zero.
"""

import math

from pliant.kernels._jit import ACCELERATION, DERIVATIVE, kernel, routine
from pliant.kernels.algebra.dense import cholesky, cholesky_solve
from pliant.kernels.closures.conditions import (
    measure_loops,
    multipliers_power,
    push_condition,
    push_multipliers,
    put_second_rates,
)
from pliant.kernels.closures.independent import choose_anew, choose_now
from pliant.kernels.kinematics.joints import move_along
from pliant.kernels.kinematics.tree import move, place
from pliant.system.status import Status
from pliant.system.tables import Power

call_acceleration = ACCELERATION.call
call_derivative = DERIVATIVE.call

OK, NOT_CLOSED, SINGULAR_LOOP = int(Status.OK), int(Status.NOT_CLOSED), int(Status.SINGULAR_LOOP)
MOST_CORRECTIONS = 8
CLOSED = 1e-15  # of the scales: as closed as rounding lets
FREE, RIGHT = 0, 1  # rows of work.closing_vectors


@routine
def find_gram(system, work, q, v, vdot):
    """W of the chosen conditions into work.gram, M^-1 A^T into work.lift (a row per condition), vdot without
    multipliers into its last row, second rates a0 into FREE; forces are gathered, conditions chosen."""
    n, r, W, free = len(vdot), work.run[0].n_dependent, work.gram, work.closing_vectors[FREE]
    order, a, last = work.condition_order, work.closing_vectors[RIGHT], work.lift[len(system.closings)]
    status = call_acceleration(work.run[0].open_formulation, (system, work, q, v, vdot, work.no_reaction))
    put_second_rates(system, work, vdot, free)
    for j in range(n):
        last[j] = vdot[j]
    for k in range(r):
        unit = max(system.closings[order[k]].unit, abs(work.closings[order[k]].force))
        push_condition(system, work, order[k], unit)
        status = max(
            status, call_acceleration(work.run[0].open_formulation, (system, work, q, v, vdot, work.no_reaction))
        )
        push_condition(system, work, order[k], -unit)
        put_second_rates(system, work, vdot, a)
        for i in range(r):
            W[k, i] = (a[order[i]] - free[order[i]]) / unit
        for j in range(n):
            work.lift[k, j] = (vdot[j] - last[j]) / unit
    return status


@routine
def factor_gram(work, r):
    """Cholesky factor of W below it; whether it exists."""
    W, L = work.gram, work.gram[work.gram.shape[1] :]
    for i in range(r):
        for j in range(i + 1):
            L[i, j] = 0.5 * (W[i, j] + W[j, i])
    return cholesky(L, r) < 0


@routine
def add_lifted(work, r, x, vdot):
    """vdot += M^-1 A^T x."""
    for k in range(r):
        for j in range(vdot.shape[0]):
            vdot[j] += work.lift[k, j] * x[k]


@routine
def find_multipliers(system, work, q, v, vdot):
    """Fill the forces of work.closings, and vdot under them; forces are gathered, loops measured, conditions chosen."""
    m, r, s = len(system.closings), work.run[0].n_dependent, work.run[0].baumgarte
    order, a, x = work.condition_order, work.closing_vectors[FREE], work.closing_vectors[RIGHT]
    status = find_gram(system, work, q, v, vdot)
    if status != OK:
        return status
    if not factor_gram(work, r):
        return SINGULAR_LOOP
    for k in range(m):
        work.closings[k].force = 0.0
    for j in range(len(vdot)):
        vdot[j] = work.lift[m, j]
    # the second time: what the differences in W have lost
    for time in range(2):
        if time > 0:
            put_second_rates(system, work, vdot, a)
        for k in range(r):
            c = work.closings[order[k]]
            x[k] = -a[order[k]] - s * (2.0 * c.rate + s * c.value)
        cholesky_solve(work.gram[m:], r, x)
        add_lifted(work, r, x, vdot)
        for k in range(r):
            work.closings[order[k]].force += x[k]
    return OK


@kernel(ACCELERATION)
def close(system, work, q, v, vdot, reaction):
    """vdot, and reactions if it has rows, under all gathered forces and the multipliers; gathered forces stay."""
    measure_loops(system, work)
    choose_now(system, work)
    status = find_multipliers(system, work, q, v, vdot)
    if status == OK and (len(reaction) > 0 or system.world[0].has_drives):
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
    m, r, x = len(system.closings), work.run[0].n_dependent, work.closing_vectors[RIGHT]
    for k in range(r):
        c = work.closings[work.condition_order[k]]
        x[k] = -(c.rate if is_rate else c.value)
    cholesky_solve(work.gram[m:], r, x)
    for j in range(w.shape[0]):
        w[j] = 0.0
    add_lifted(work, r, x, w)


@kernel(DERIVATIVE)
def project(system, work, t, y, ydot):
    """Put y back on the loops, the shortest way as masses measure it, and find its derivative anew."""
    world = system.world[0]
    q, v = y[: world.n_q], y[world.n_q : world.n_q + world.n_v]
    work.run[0].n_evaluations += 2
    status = call_derivative(work.run[0].derivative, (system, work, t, y, ydot))
    if status != OK:
        return status
    q_new, w = work.qdot, work.vdot
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
                for j in range(world.n_v):
                    v[j] += w[j]
            else:
                move_along(system, q, w, q_new)
                for i in range(world.n_q):
                    q[i] = q_new[i]
        if not error < 1e-6:
            return NOT_CLOSED
    status = choose_anew(system, work, q, v)
    if status != OK:
        return status
    return call_derivative(work.run[0].derivative, (system, work, t, y, ydot))

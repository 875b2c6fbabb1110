"""Multipliers of closed loops beside everything else that acts, over any formulation.

a = a0 + W lambda: second rates of the conditions under their multipliers, W = A M^-1 A^T from one unit force at a time;
lambda makes a = -2 s rate - s^2 value (s = 0: no Baumgarte term). Redundant conditions are left out, rank by rank.
"""

import math

from pliant.kernels._jit import ACCELERATION, DERIVATIVE, kernel, routine
from pliant.kernels.closures.conditions import (
    measure_loops,
    push_condition,
    push_multipliers,
    put_second_rates,
)
from pliant.kernels.kinematics.joints import move_along
from pliant.kernels.kinematics.tree import move, place
from pliant.system.status import Status
from pliant.system.tables import Power

call_acceleration = ACCELERATION.call
call_derivative = DERIVATIVE.call

OK, SINGULAR, NOT_CLOSED = int(Status.OK), int(Status.SINGULAR), int(Status.NOT_CLOSED)
DEPENDENT = 1e-11  # of a condition's own diagonal: what is left of it after those before it is rounding
MOST_CORRECTIONS = 8
CLOSED = 1e-15  # of the scales: as closed as rounding lets
FREE, RIGHT, UNIT = 0, 1, 2  # rows of work.closing_vectors


@routine
def find_gram(system, work, q, v, vdot):
    """W into work.gram, M^-1 A^T into work.lift (a row per condition), a0 into FREE; forces are gathered."""
    n, m, W, free = len(vdot), len(system.closings), work.gram, work.closing_vectors[FREE]
    status = call_acceleration(work.run[0].open_formulation, (system, work, q, v, vdot, work.no_reaction))
    put_second_rates(system, work, vdot, free)
    for j in range(n):
        work.lift[m, j] = vdot[j]
    for k in range(m):
        unit = max(system.closings[k].unit, abs(work.closings[k].force))
        push_condition(system, work, k, unit)
        status = max(
            status, call_acceleration(work.run[0].open_formulation, (system, work, q, v, vdot, work.no_reaction))
        )
        put_second_rates(system, work, vdot, W[k])
        push_condition(system, work, k, -unit)
        for i in range(m):
            W[k, i] = (W[k, i] - free[i]) / unit
        for j in range(n):
            work.lift[k, j] = (vdot[j] - work.lift[m, j]) / unit
    return status


@routine
def factor_gram(work, m):
    """Cholesky factor of W, rows scaled to unit diagonal, the largest pivot first; the rank into run.n_closed.

    Row k of the factor belongs to condition order[k]."""
    W, L, order, scales = work.gram, work.gram[m:], work.closing_order, work.closing_vectors[UNIT]
    for k in range(m):
        order[k] = k
        scales[k] = 1.0 / math.sqrt(W[k, k]) if W[k, k] > 0.0 else 0.0
    for i in range(m):
        for j in range(i + 1):
            L[i, j] = 0.5 * (W[i, j] + W[j, i]) * scales[i] * scales[j]
    rank = 0
    for k in range(m):
        best, p = 0.0, -1
        for i in range(k, m):
            if L[i, i] > best:
                best, p = L[i, i], i
        if not best > DEPENDENT:
            break
        if p != k:
            swap_rows(L, order, k, p, m)
        pivot = math.sqrt(best)
        L[k, k] = pivot
        for i in range(k + 1, m):
            L[i, k] /= pivot
        for i in range(k + 1, m):
            for j in range(k + 1, i + 1):
                L[i, j] -= L[i, k] * L[j, k]
        rank += 1
    work.run[0].n_closed = rank
    return rank


@routine
def swap_rows(L, order, k, p, m):
    """Exchange rows and columns k < p of a symmetric matrix kept in its lower triangle."""
    order[k], order[p] = order[p], order[k]
    L[k, k], L[p, p] = L[p, p], L[k, k]
    for j in range(k):
        L[k, j], L[p, j] = L[p, j], L[k, j]
    for i in range(k + 1, p):
        L[i, k], L[p, i] = L[p, i], L[i, k]
    for i in range(p + 1, m):
        L[i, k], L[i, p] = L[i, p], L[i, k]


@routine
def solve_gram(work, m, x):
    """x <- lambda of W lambda = x, zero for conditions that were left out; the second half of x is scratch."""
    L, order, scales, rank = work.gram[m:], work.closing_order, work.closing_vectors[UNIT], work.run[0].n_closed
    for k in range(rank):
        total = x[order[k]] * scales[order[k]]
        for j in range(k):
            total -= L[k, j] * x[m + j]
        x[m + k] = total / L[k, k]
    for k in range(rank - 1, -1, -1):
        total = x[m + k]
        for i in range(k + 1, rank):
            total -= L[i, k] * x[m + i]
        x[m + k] = total / L[k, k]
    for k in range(m):
        i = order[k]
        x[i] = x[m + k] * scales[i] if k < rank else 0.0


@routine
def find_multipliers(system, work, q, v, vdot):
    """Fill the forces of work.closings; forces are gathered, loops measured."""
    m, s, x = len(system.closings), work.run[0].baumgarte, work.closing_vectors[RIGHT]
    status = find_gram(system, work, q, v, vdot)
    if status != OK:
        return status
    factor_gram(work, m)
    for k in range(m):
        c = work.closings[k]
        x[k] = -work.closing_vectors[FREE, k] - s * (2.0 * c.rate + s * c.value)
    solve_gram(work, m, x)
    for k in range(m):
        work.closings[k].force = x[k]
    return OK


@kernel(ACCELERATION)
def close(system, work, q, v, vdot, reaction):
    """vdot, and reactions if it has rows, under all gathered forces and the multipliers."""
    m, s, x = len(system.closings), work.run[0].baumgarte, work.closing_vectors[RIGHT]
    measure_loops(system, work)
    status = find_multipliers(system, work, q, v, vdot)
    if status != OK:
        return status
    power = push_multipliers(system, work)
    status = call_acceleration(work.run[0].open_formulation, (system, work, q, v, vdot, work.no_reaction))
    # once more: what the differences in W have lost
    put_second_rates(system, work, vdot, x)
    for k in range(m):
        c = work.closings[k]
        x[k] = -x[k] - s * (2.0 * c.rate + s * c.value)
    solve_gram(work, m, x)
    for k in range(m):
        push_condition(system, work, k, x[k])
        work.closings[k].force += x[k]
        power += x[k] * work.closings[k].rate
    work.power[Power.LOOP] = power
    return max(status, call_acceleration(work.run[0].open_formulation, (system, work, q, v, vdot, reaction)))


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
    m, x = len(system.closings), work.closing_vectors[RIGHT]
    for k in range(m):
        x[k] = -(work.closings[k].rate if is_rate else work.closings[k].value)
    solve_gram(work, m, x)
    for j in range(w.shape[0]):
        w[j] = 0.0
        for k in range(m):
            w[j] += work.lift[k, j] * x[k]


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
    return call_derivative(work.run[0].derivative, (system, work, t, y, ydot))

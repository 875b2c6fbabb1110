"""Second-order methods of fixed steps: generalised-alpha, HHT, Newmark and its relatives. Imports _jit, algebra and
system only.

Symbols: a the algorithm's own accelerations, f = vdot of the equations of motion, P, R, beta, gamma of the method
(second_order_rows.py),
    (1 - alpha_m) a_new + alpha_m a = (1 - alpha_f) f_new + alpha_f f
    v_new = R + gamma h a_new,  q_new = q moved along P + beta h^2 a_new
Friction states follow the rule of v, work terms the trapezoidal rule (the rule of v where that is of third order).
Unknowns: a_new; Newton's matrix is (1 - alpha_m) - (1 - alpha_f) (gamma h J_v + beta h^2 J_q S), with q' = S v.
References: Chung and Hulbert (1993); Arnold and Bruels (2007); moved along a velocity: Bruels and Cardona (2010); in
two parts, whose product has no error of third order in h: Celledoni, Marthinsen and Owren (2003).
"""

import math

from pliant.kernels._jit import DERIVATIVE, INTERPOLANT, SHIFT, STEPPER, kernel, routine
from pliant.kernels.algebra.dense import copy
from pliant.kernels.algebra.finite import ULP, larger_or_nan, zero_or_nan
from pliant.kernels.algebra.lu import lu
from pliant.kernels.integrators.multiplier_newton import add_multipliers, factor_multipliers, solve_blocks
from pliant.kernels.integrators.newton import differentiate
from pliant.kernels.integrators.second_order_rows import (
    NEW,
    OLD,
    PROPOSED,
    P,
    R,
    begin_step,
    end_step,
    integrate_powers,
    is_same_length,
)
from pliant.system.status import Status

call_derivative = DERIVATIVE.call
call_shift = SHIFT.call

OK, NOT_FINITE, NOT_CONVERGED = int(Status.OK), int(Status.NOT_FINITE), int(Status.NOT_CONVERGED)

MAX_ITERATIONS = 10
NEWTON_TOLERANCE = 0.01  # of the tolerances
ROUNDING_ULPS = 10.0  # below which no correction is asked for
DIVERGENCE_RATE = 0.99  # rate of convergence from which on Newton's method has failed
REUSE_RATE = 0.1  # rate of convergence above which the Jacobian is formed anew


@routine
def factor_matrix(memory, h):
    """Newton's matrix and its factors."""
    newton, J, mates, A = memory.newton[0], memory.jacobian, memory.mates, memory.factor[0]
    m = J.shape[0]
    n = m - newton.n_coordinates
    of_v, of_q = (1.0 - newton.alpha_f) * newton.gamma * h, (1.0 - newton.alpha_f) * newton.beta * h * h
    of_states = (1.0 - newton.alpha_f) * newton.gamma_of_states * h
    for i in range(n):
        row, source = A[i], J[i]
        for j in range(n):
            row[j] = -(of_v if j < n - newton.n_states else of_states) * source[j]
            for k in range(n, m):
                row[j] -= of_q * source[k] * J[k, j]
        for k in range(mates.shape[0]):
            row[mates[k]] -= of_q * source[m + k]
        row[i] += 1.0 - newton.alpha_m
    newton.h_factored = h
    newton.n_factors += 1
    newton.is_coupled = is_coupled(memory, n)
    return lu(A, memory.pivots[0], n) < 0


@routine
def is_coupled(memory, n):
    """Whether Newton's matrix of n unknowns has entries outside the blocks of the branches."""
    blocks, A, count = memory.blocks, memory.factor[0], 0
    for b in range(1, blocks.shape[0]):
        first, end = blocks[b, 0], blocks[b, 1]
        count += end - first
        for i in range(first, end):
            row = A[i]
            for j in range(n):
                if row[j] != 0.0 and not first <= j < end:
                    return 1
    return 0 if count == n else 1


@kernel
def gamma_of(newton, n, k):
    """Of unknown k of n: a velocity or a friction state."""
    return newton.gamma if k < n - newton.n_states else newton.gamma_of_states


@routine
def put_end(system, work, memory, h):
    """y_new of a_new."""
    newton, rows, y, y_new = memory.newton[0], memory.stages, memory.y, memory.y_new
    active, mates, m, of_a = memory.active, memory.mates, memory.jacobian.shape[0], newton.beta * h * h
    n = m - newton.n_coordinates
    for k in range(n):
        i = active[k]
        y_new[i] = rows[R, i] + gamma_of(newton, n, k) * h * rows[NEW, i]
    for k in range(mates.shape[0]):
        p, i = active[m + k], active[mates[k]]
        y_new[p] = y[p] + (rows[P, i] + of_a * rows[NEW, i])
    if n < m:
        move_rotations(system, work, memory, h)


@routine
def move_rotations(system, work, memory, h):
    """Coordinates without a pair, along P + beta h^2 a_new; third order needs two parts, h^2 a / 3 apart."""
    newton, rows, n_q, n_v = memory.newton[0], memory.stages, system.world[0].n_q, system.world[0].n_v
    w, q, m = memory.scratch[2], memory.scratch[3], memory.jacobian.shape[0]
    n_parts = 2 if newton.rule == PROPOSED else 1
    start = memory.y
    for part in range(n_parts):
        apart = 0.0 if n_parts == 1 else (2 * part - 1) * h * h / 6.0
        for j in range(n_v):
            i = n_q + j
            w[j] = (rows[P, i] + newton.beta * h * h * rows[NEW, i]) / n_parts + apart * rows[OLD, i]
        call_shift(work.calls[0].shift, (system, start, w, q))
        start, q = q, memory.scratch[0]
    for k in range(m - newton.n_coordinates, m):
        memory.y_new[memory.active[k]] = start[memory.active[k]]


@routine
def correct(system, work, memory, h):
    """One correction of a_new; the change of y_new over its tolerances."""
    stepping, newton, a, b = memory.stepping[0], memory.newton[0], memory.stages[OLD], memory.stages[NEW]
    f, f_new, active, mates, r = memory.f, memory.f_new, memory.active, memory.mates, memory.scratch[1]
    m = memory.jacobian.shape[0]
    n = m - newton.n_coordinates
    for k in range(n):
        i = active[k]
        r[k] = (1.0 - newton.alpha_f) * f_new[i] + newton.alpha_f * f[i]
        r[k] -= (1.0 - newton.alpha_m) * b[i] + newton.alpha_m * a[i]
    solve_blocks(memory, n, r)
    if work.calls[0].constraint_matrices != 0:
        add_multipliers(system, work, memory, h, r)
    size = 0.0
    for k in range(n):
        i = active[k]
        b[i] += r[k]
        change = abs(gamma_of(newton, n, k) * h * r[k]) / (memory.atol[i] + stepping.rtol * abs(memory.y_new[i]))
        size = larger_or_nan(size, change) + zero_or_nan(r[k])
    for k in range(mates.shape[0]):
        i = active[m + k]
        change = abs(newton.beta * h * h * r[mates[k]]) / (memory.atol[i] + stepping.rtol * abs(memory.y_new[i]))
        size = larger_or_nan(size, change)
    return size


@routine
def predict(memory, h, starts_at_rest):
    """First a_new: a, or, if starts_at_rest, what leaves v as it is."""
    newton, rows, active = memory.newton[0], memory.stages, memory.active
    n = memory.jacobian.shape[0] - newton.n_coordinates
    copy(rows[OLD], rows[NEW])
    if starts_at_rest:
        for k in range(n):
            i = active[k]
            rows[NEW, i] = (memory.y[i] - rows[R, i]) / (gamma_of(newton, n, k) * h)


@routine
def evaluate_end(system, work, memory, t, h):
    """y_new of a_new, and f_new there."""
    put_end(system, work, memory, h)
    memory.stepping[0].n_evaluations += 1
    return call_derivative(work.calls[0].derivative, (system, work, t + h, memory.y_new, memory.f_new))


@routine
def error_left(newton, size):
    """Estimate of what is left after a correction of this size; the first says nothing about it."""
    rate = newton.rate
    return size * rate / (1.0 - rate) if 0.0 < rate < DIVERGENCE_RATE else size


@routine
def iterate(system, work, memory, t, h, starts_at_rest):
    """Newton's method for a_new; leaves y_new and f_new."""
    stepping, newton = memory.stepping[0], memory.newton[0]
    tolerance = max(NEWTON_TOLERANCE, ROUNDING_ULPS * ULP / stepping.rtol)
    predict(memory, h, starts_at_rest)
    before, is_converged = 0.0, False
    newton.rate = 0.0
    for iteration in range(MAX_ITERATIONS + 1):
        status = evaluate_end(system, work, memory, t, h)
        if status != OK or is_converged:
            return status
        newton.n_iterations += 1
        if iteration == 0 and work.calls[0].constraint_matrices != 0:
            status = factor_multipliers(system, work, memory, t + h, h)
            if status != OK:
                return status
        size = correct(system, work, memory, h)
        if not size < math.inf:
            return NOT_FINITE
        if iteration > 0 and before > 0.0:
            newton.rate = size / before
            if newton.rate >= DIVERGENCE_RATE and size > tolerance:
                break
        before = size
        is_converged = error_left(newton, size) <= tolerance
    return NOT_CONVERGED


@routine
def solve_end(system, work, memory, t, h):
    """a_new, y_new and f_new, with a Jacobian as old as it may be."""
    newton = memory.newton[0]
    # a need not be one of slow motion at the beginning
    starts_at_rest = newton.h_past == 0.0
    if newton.needs_jacobian == 1 and newton.is_current == 0:
        status = differentiate(system, work, memory, t)
        if status != OK:
            return status
    while True:
        if not is_same_length(h, newton.h_factored) and not factor_matrix(memory, h):
            newton.h_factored = 0.0
            return NOT_CONVERGED
        status = iterate(system, work, memory, t, h, starts_at_rest)
        if status == OK:
            newton.needs_jacobian = 1 if newton.rate > REUSE_RATE else 0
            return OK
        newton.n_failures += 1
        if newton.is_current == 1 and starts_at_rest:
            return status
        starts_at_rest = True
        if newton.is_current == 0:
            status = differentiate(system, work, memory, t)
            if status != OK:
                return status


@kernel(STEPPER)
def step(system, work, memory, t, h):
    """One step from (y, f) at t into (y_new, f_new) at t + h."""
    length = begin_step(memory, t, h)
    memory.stepping[0].error = 0.0
    copy(memory.y, memory.y_new)
    status = solve_end(system, work, memory, t, length)
    if status == OK and end_step(memory, h):
        status = evaluate_end(system, work, memory, t, h)
    if status == OK:
        integrate_powers(memory, memory.newton[0].first_rate, h)
    return status


@kernel(INTERPOLANT)
def interpolate(system, work, memory, t, h):
    """Dense output of the step just made: cubics through both ends and their rates, but for velocities and states a
    parabola bent by a (the rates of stiff ones are rough)."""
    r, a, b, active = memory.dense, memory.stages[OLD], memory.stages[NEW], memory.active
    for i in range(r.shape[1]):
        change = memory.y_new[i] - memory.y[i]
        r[0, i] = memory.y[i]
        r[1, i] = change
        r[2, i] = h * memory.f[i] - change
        r[3, i] = change - h * memory.f_new[i] - r[2, i]
    for k in range(memory.jacobian.shape[0] - memory.newton[0].n_coordinates):
        i = active[k]
        r[2, i] = 0.5 * h * (a[i] - b[i])
        r[3, i] = 0.0
    return OK

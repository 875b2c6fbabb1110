"""Explicit Runge-Kutta steps, generic over the tableau in Memory, and their dense output. Imports _jit and system only.

Symbols: k_i stages, A c E D as in tableaus.py, h step. The derivative at the end is the first stage of the next step.
References: Hairer, Norsett, Wanner I, II.4 (error), II.10 (that of DOP853); Hairer, Wanner II, IV.2 (stiffness).
"""

import math

from pliant.kernels._jit import DERIVATIVE, INTERPOLANT, STEPPER, kernel
from pliant.kernels.algebra.dense import copy
from pliant.kernels.algebra.finite import is_finite, larger_or_nan
from pliant.system.status import Status
from pliant.system.work import AT_END

# numba sees the callers as names of this module
call_derivative = DERIVATIVE.call

OK, NOT_FINITE = int(Status.OK), int(Status.NOT_FINITE)

THIRD_ORDER_WEIGHT = 0.1  # of the third-order estimate in that of DOP853, II.10 (10.17)
# where the derivative of theta^2 (1 - theta)^2 is largest: best conditioned place to evaluate f once more
THETA = (3.0 - math.sqrt(3.0)) / 6.0


@kernel
def weighted_sum(weights, row, stages, count, out):
    """out = sum of weights[row, j] k_j over the first `count` stages, zero weights skipped."""
    n = out.shape[0]
    for i in range(n):
        out[i] = 0.0
    for j in range(count):
        w = weights[row, j]
        if w != 0.0:
            for i in range(n):
                out[i] += w * stages[j, i]


@kernel
def stage_point(A, stages, y, row, h, out):
    """out = y + h sum A[row, j] k_j."""
    n = out.shape[0]
    if row % 2 == 1:
        w = h * A[row, 0]
        for i in range(n):
            out[i] = y[i] + w * stages[0, i]
    else:
        copy(y, out)
    # two stages at a time: sums are read and written half as often
    for j in range(row % 2, row, 2):
        w, w2 = h * A[row, j], h * A[row, j + 1]
        if w != 0.0 or w2 != 0.0:
            for i in range(n):
                out[i] = (out[i] + w * stages[j, i]) + w2 * stages[j + 1, i]


@kernel
def combined_error(error, other):
    """II.10 (10.17), by component, of the fifth-order estimate and the weighted third-order one of DOP853."""
    # their ratio: the squares of tiny errors would underflow
    ratio = other / error if error > 0.0 else 0.0
    return error / math.sqrt(1.0 + ratio * ratio)


@kernel
def error_norm(E, first, last, stages, y, y_new, atol, rtol, h, scratch):
    """Largest component of an error estimate over its tolerance, II.4: rows first .. last - 1 of E, where two are
    combined as in DOP853."""
    n_estimates = last - first
    for j in range(n_estimates):
        weighted_sum(E, first + j, stages, E.shape[1], scratch[1 + j])
    norm = 0.0
    for i in range(y.shape[0]):
        error = abs(h * scratch[1, i])
        if n_estimates == 2:
            error = combined_error(error, THIRD_ORDER_WEIGHT * h * scratch[2, i])
        if error != 0.0:
            error /= atol[i] + rtol * max(abs(y[i]), abs(y_new[i]))
        norm = larger_or_nan(norm, error)
        if not math.isfinite(norm):
            break
    return norm


@kernel
def largest_eigenvalue(rise, run):
    """About, from |f - g|^2 and |y - x|^2 (Hairer and Wanner II, IV.2)."""
    return math.sqrt(rise / run) if run > 0.0 else 0.0


@kernel
def steepness(atol, f, g, y, x):
    """|f - g| / |y - x| of two states x, y at one time with their derivatives. Work terms do not count."""
    rise, run = 0.0, 0.0
    for i in range(y.shape[0]):
        if atol[i] < math.inf:
            rise += (f[i] - g[i]) * (f[i] - g[i])
            run += (y[i] - x[i]) * (y[i] - x[i])
    return largest_eigenvalue(rise, run)


@kernel
def hermite(memory, h):
    """r0 .. r3: the cubic through y, f, y_new, f_new."""
    r = memory.dense
    for i in range(memory.y.shape[0]):
        change = memory.y_new[i] - memory.y[i]
        r[0, i] = memory.y[i]
        r[1, i] = change
        r[2, i] = h * memory.f[i] - change
        r[3, i] = change - h * memory.f_new[i] - r[2, i]


@kernel
def cubic(r, x):
    """x = the cubic at THETA."""
    for i in range(x.shape[0]):
        x[i] = r[0, i] + THETA * (r[1, i] + (1.0 - THETA) * (r[2, i] + THETA * r[3, i]))


@kernel
def bootstrap(f, h, r):
    """r4, the coefficient of theta^2 (1 - theta)^2: the quartic has the slope h f at THETA."""
    bend = 2.0 * THETA * (1.0 - THETA) * (1.0 - 2.0 * THETA)
    for i in range(f.shape[0]):
        slope = r[1, i] + (1.0 - 2.0 * THETA) * r[2, i] + THETA * (2.0 - 3.0 * THETA) * r[3, i]
        r[4, i] = (h * f[i] - slope) / bend


@kernel(STEPPER)
def step(system, work, memory, t, h):
    """One trial step from (y, f) at t into (y_new, f_new) at t + h; stepping.error is its error norm."""
    stepping, A, stages, y, y_new = memory.stepping[0], memory.A, memory.stages, memory.y, memory.y_new
    end = stepping.n_stages
    copy(memory.f, stages[0])
    stepping.error = 0.0
    for i in range(1, end + 2):
        # the error as soon as it can be known: a step to be rejected is not worth the last evaluation
        first, last = (0, stepping.n_early) if i == end else (stepping.n_early, memory.E.shape[0])
        if stepping.is_fixed == 0 and i >= end and first < last:
            if i == end:
                stage_point(A, stages, y, end, h, y_new)
            error = error_norm(memory.E, first, last, stages, y, y_new, memory.atol, stepping.rtol, h, memory.scratch)
            stepping.error = larger_or_nan(stepping.error, error / (1.0 + work.dead_point[0].error_allowance))
            if not stepping.error <= 1.0:
                return OK if math.isfinite(stepping.error) else NOT_FINITE
        if i > end:
            break
        x = y_new if i == end else memory.scratch[0]
        stage_point(A, stages, y, i, h, x)
        status = call_derivative(work.calls[0].derivative, (system, work, t + memory.c[i] * h, x, stages[i]))
        stepping.n_evaluations += 1
        if status != OK:
            return status
    copy(stages[end], memory.f_new)
    work.run[0].is_at_end = AT_END
    if stepping.watches > 0 and end > 1 and memory.c[end - 1] == 1.0:
        stepping.stiffness = h * steepness(memory.atol, stages[end], stages[end - 1], y_new, memory.scratch[0])
    return OK if is_finite(y_new) and is_finite(memory.f_new) else NOT_FINITE


@kernel(INTERPOLANT)
def interpolate(system, work, memory, t, h):
    """Dense output of the step just made: r0 .. r3 are the cubic through y, f, y_new, f_new."""
    stepping = memory.stepping[0]
    r = memory.dense
    hermite(memory, h)
    n_all = memory.A.shape[0]
    is_bootstrapped = memory.D.shape[0] == 0
    first = stepping.n_stages + 1
    last = first + 1 if is_bootstrapped else n_all
    x = memory.scratch[0]
    for j in range(first, last):
        if is_bootstrapped:
            cubic(r, x)
            node, out = THETA, memory.scratch[1]
        else:
            stage_point(memory.A, memory.stages, memory.y, j, h, x)
            node, out = memory.c[j], memory.stages[j]
        status = call_derivative(work.calls[0].derivative, (system, work, t + node * h, x, out))
        stepping.n_evaluations += 1
        stepping.n_dense += 1
        if status != OK:
            return status
    if is_bootstrapped:
        bootstrap(memory.scratch[1], h, r)
    for j in range(memory.D.shape[0]):
        weighted_sum(memory.D, j, memory.stages, n_all, r[4 + j])
        for i in range(r.shape[1]):
            r[4 + j, i] *= h
    return OK if is_finite(r[r.shape[0] - 1]) else NOT_FINITE

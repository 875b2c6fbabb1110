"""Adams-Bashforth-Moulton steps as predictor and corrector (PECE), variable step and order, and their dense output.

The derivative is the polynomial P through its last k values; with the predicted one it has degree k and gives the
corrector, of order k + 1. All is written in divided differences D_i = f[t_n, .., t_(n-i)] and the integrals
    I_i = int_0^h prod_(j<i) (s + d_j) ds,   d_j = t_n - t_(n-j)
which Gauss's rule gives exactly. Error and order as Shampine and Gordon choose them.
References: Hairer, Norsett, Wanner I, III.5 (variable step size), III.7 (order); Shampine, Gordon 1975."""

import math

from pliant.kernels._jit import DERIVATIVE, INTERPOLANT, STEPPER, kernel, routine
from pliant.kernels.algebra.dense import copy
from pliant.kernels.algebra.finite import is_finite, larger_or_nan
from pliant.kernels.integrators.adams_table import (
    BASIS,
    COUNT,
    INTEGRAL,
    IS_STARTING,
    MAX_ORDER,
    NODES,
    ORDER,
    PAST,
    PRODUCT,
    STEPS,
    TOP,
    USED,
    WEIGHTS,
)
from pliant.system.status import Status

# numba sees the callers as names of this module
call_derivative = DERIVATIVE.call

OK, NOT_FINITE = int(Status.OK), int(Status.NOT_FINITE)

TARGET = 0.2  # error, in tolerances, that the next step aims at: 4 % of the steps are rejected, at 0.5 it is 15 %
SHRINK, GROWTH = 0.5, 2.0  # factors between steps


@routine
def add_point(memory, t):
    """The end of the last step becomes the newest point: divided differences, and times."""
    differences, past, facts = memory.stages, memory.A[PAST], memory.c
    count = int(facts[COUNT])
    last = min(count, differences.shape[0] - 3)
    for j in range(last, 0, -1):
        past[j] = past[j - 1]
    past[0] = t
    newer = memory.scratch[1]
    copy(memory.f, newer)
    for j in range(last):
        apart = t - past[j + 1]
        for i in range(newer.shape[0]):
            older = differences[j, i]
            differences[j, i] = newer[i]
            newer[i] = (newer[i] - older) / apart
    copy(newer, differences[last])
    facts[COUNT] = last + 1


@routine
def begin_trial(memory, t):
    """Take over the last step if it was accepted; begin anew after a jump."""
    stepping, facts = memory.stepping[0], memory.c
    if stepping.dropped != 0:
        stepping.dropped = 0
        facts[COUNT], facts[ORDER], facts[IS_STARTING] = 0, 1, 1
        add_point(memory, t)
    elif stepping.n_steps > facts[STEPS]:
        add_point(memory, t)
    facts[STEPS] = stepping.n_steps
    facts[ORDER] = min(facts[ORDER], facts[COUNT])


@routine
def put_integrals(memory, t, h, last):
    """I_0 .. I_last, and prod_(j<i) (h + d_j)."""
    past, integral, product = memory.A[PAST], memory.A[INTEGRAL], memory.A[PRODUCT]
    for i in range(last + 1):
        integral[i] = 0.0
    for node in range(len(NODES)):
        s = h * NODES[node]
        value = h * WEIGHTS[node]
        for i in range(last + 1):
            integral[i] += value
            value *= s + (t - past[i])
    value = 1.0
    for i in range(last + 1):
        product[i] = value
        value *= h + (t - past[i])


@kernel
def predict(memory, k):
    """y_new = y + sum of D_i I_i, and P at the end in TOP; i < k."""
    differences, integral, product = memory.stages, memory.A[INTEGRAL], memory.A[PRODUCT]
    y, y_new, end = memory.y, memory.y_new, memory.stages[TOP]
    for i in range(y.shape[0]):
        y_new[i] = y[i]
        end[i] = 0.0
    for j in range(k):
        for i in range(y.shape[0]):
            y_new[i] += integral[j] * differences[j, i]
            end[i] += product[j] * differences[j, i]


@kernel
def correct(memory, predicted, k):
    """TOP = D_k with the predicted derivative; y_new += TOP I_k."""
    integral, product, top = memory.A[INTEGRAL], memory.A[PRODUCT], memory.stages[TOP]
    for i in range(top.shape[0]):
        top[i] = (predicted[i] - top[i]) / product[k]
        memory.y_new[i] += integral[k] * top[i]


@kernel
def error_norms(memory, t, h, k, has_more):
    """Errors of orders k - 1, k and k + 1 over their tolerances; infinite where they cannot be known."""
    stepping, y, y_new, atol = memory.stepping[0], memory.y, memory.y_new, memory.atol
    differences, past, integral, top = memory.stages, memory.A[PAST], memory.A[INTEGRAL], memory.stages[TOP]
    reach = h + (t - past[k - 1])
    own = integral[k] - reach * integral[k - 1]
    below = integral[k - 1] - (h + (t - past[k - 2])) * integral[k - 2] if k > 1 else 0.0
    beyond = h + (t - past[k]) if has_more else 1.0
    above = integral[k + 1] - beyond * integral[k] if has_more else 0.0
    lower, norm, higher = 0.0, 0.0, 0.0
    for i in range(y.shape[0]):
        size = atol[i] + stepping.rtol * max(abs(y[i]), abs(y_new[i]))
        if size > 0.0 and size < math.inf:
            norm = larger_or_nan(norm, abs(own * top[i]) / size)
            lower = max(lower, abs(below * (differences[k - 1, i] + reach * top[i])) / size)
            higher = max(higher, abs(above * (top[i] - differences[k, i]) / beyond) / size)
    return lower if k > 1 else math.inf, norm, higher if has_more else math.inf


@routine
def step_factor(error, order):
    """Factor to a step whose error at this order is TARGET."""
    return (TARGET / max(error, 1e-12)) ** (1.0 / (order + 1.0))


@routine
def choose(memory, lower, norm, higher):
    """Order and length of the next step."""
    stepping, facts = memory.stepping[0], memory.c
    k = int(facts[ORDER])
    factor, order = step_factor(norm, k), k
    if k > 1 and lower <= norm:
        factor, order = step_factor(lower, k - 1), k - 1
    is_good = norm <= 1.0
    if not is_good or order < k or k >= facts[MAX_ORDER]:
        facts[IS_STARTING] = 0
    if is_good and facts[IS_STARTING] == 1:
        factor, order = GROWTH, k + 1
    elif is_good and order == k and k < facts[MAX_ORDER] and higher < math.inf:
        longer = step_factor(higher, k + 1)
        if longer > factor:
            factor, order = longer, k + 1
    facts[ORDER] = order
    stepping.factor = min(max(factor, SHRINK), GROWTH)


@kernel(STEPPER)
def step(system, work, memory, t, h):
    """One trial step from (y, f) at t into (y_new, f_new) at t + h; stepping.error is its error norm."""
    stepping, facts = memory.stepping[0], memory.c
    begin_trial(memory, t)
    k = int(min(facts[COUNT], facts[MAX_ORDER])) if stepping.is_fixed == 1 else int(facts[ORDER])
    has_more = facts[COUNT] > k
    facts[USED] = k
    put_integrals(memory, t, h, k + 1 if has_more else k)
    predict(memory, k)
    predicted = memory.scratch[0]
    status = call_derivative(work.calls[0].derivative, (system, work, t + h, memory.y_new, predicted))
    stepping.n_evaluations += 1
    if status != OK:
        facts[IS_STARTING], stepping.factor = 0, 0.0
        return status
    correct(memory, predicted, k)
    stepping.error = 0.0
    if stepping.is_fixed == 0:
        lower, norm, higher = error_norms(memory, t, h, k, has_more)
        allowance = 1.0 + work.dead_point[0].error_allowance
        stepping.error = norm / allowance
        if not math.isfinite(norm):
            stepping.factor = 0.0
            return NOT_FINITE
        choose(memory, lower / allowance, norm / allowance, higher / allowance)
        if stepping.error > 1.0:
            return OK
    status = call_derivative(work.calls[0].derivative, (system, work, t + h, memory.y_new, memory.f_new))
    stepping.n_evaluations += 1
    if status != OK:
        return status
    work.run[0].is_at_end = 1
    return OK if is_finite(memory.y_new) and is_finite(memory.f_new) else NOT_FINITE


@routine
def put_nested(terms, last):
    """From coefficients of powers of theta to those of 1, theta, theta (1 - theta), theta^2 (1 - theta), .. (Memory):
    by dividing by theta and by 1 - theta in turn."""
    for k in range(last + 1):
        if k % 2 == 1:
            # terms[k:] = (value at 1) + (1 - theta) rest
            for j in range(last - 1, k - 1, -1):
                terms[j] += terms[j + 1]
            for j in range(k + 1, last + 1):
                terms[j] = -terms[j]


@routine
def put_basis(memory, t, h, k):
    """Nested coefficients of int_0^(theta h) prod_(j<i) (s + d_j) ds, i <= k."""
    past, product = memory.A[PAST], memory.A[PRODUCT]
    for j in range(k + 2):
        product[j] = 0.0
    product[0] = 1.0
    for i in range(k + 1):
        terms = memory.D[BASIS + i]
        for j in range(terms.shape[0]):
            terms[j] = 0.0
        for j in range(i + 1):
            terms[j + 1] = h * product[j] / (j + 1.0)
        put_nested(terms, i + 1)
        # times (theta h + d_i)
        for j in range(i + 1, 0, -1):
            product[j] = product[j] * (t - past[i]) + h * product[j - 1]
        product[0] *= t - past[i]


@kernel(INTERPOLANT)
def interpolate(system, work, memory, t, h):
    """Dense output of the step just made: the polynomial that the corrector integrates."""
    r, k = memory.dense, int(memory.c[USED])
    put_basis(memory, t, h, k)
    copy(memory.y, r[0])
    for m in range(1, r.shape[0]):
        for i in range(r.shape[1]):
            r[m, i] = 0.0
    for j in range(k + 1):
        weights = memory.D[BASIS + j]
        difference = memory.stages[TOP] if j == k else memory.stages[j]
        for m in range(1, j + 2):
            if weights[m] != 0.0:
                for i in range(r.shape[1]):
                    r[m, i] += weights[m] * difference[i]
    return OK if is_finite(r[1]) else NOT_FINITE

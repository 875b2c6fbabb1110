"""Radau IIA of order 5: adaptive, for stiff equations. Imports _jit, algebra and system only.

Symbols: Z_i = u(t + c_i h) - y stages of the collocation cubic u, F_i their rates, W = T^-1 Z, mu = (GAMMA, ALPHA +
i BETA) / h. Simplified Newton's method on W: one real and one complex system. Work terms take no part in it.
References: Hairer and Wanner, Solving Ordinary Differential Equations II (1996), IV.8, whose
symbols kappa, eta and Theta are used below, and the authors' code RADAU5; predictive controller of Gustafsson (1994).
"""

import math

from pliant.kernels._jit import DERIVATIVE, INTERPOLANT, STEPPER, kernel, routine
from pliant.kernels.algebra.dense import copy
from pliant.kernels.algebra.finite import ULP, larger_or_nan, zero_or_nan
from pliant.kernels.integrators.newton import (
    begin_trial,
    differentiate,
    factor_complex,
    factor_real,
    solve_complex,
    solve_real,
)
from pliant.kernels.integrators.radau_table import ALPHA, BEND, BETA, ERROR, GAMMA, SLOPE, T_INVERSE, WEIGHTS, C, T
from pliant.system.status import Status

call_derivative = DERIVATIVE.call

OK, NOT_FINITE, NOT_CONVERGED = int(Status.OK), int(Status.NOT_FINITE), int(Status.NOT_CONVERGED)

# rows of memory.stages
Z, F, W, PAST, DEFECT, SCALE = 0, 3, 6, 9, 12, 13

# tolerances: the error estimate is of order 3, the step of order 5
TOLERANCE_SCALE, TOLERANCE_EXPONENT = 0.1, -1.0 / 3.0  # RADAU5: 0.1 rtol^(2/3) in place of rtol
# simplified Newton's method
MAX_ITERATIONS = 7
MAX_FIXED_ITERATIONS = 20  # where a shorter step is not possible
MAX_KAPPA = 0.03  # RADAU5's bound of kappa, and sqrt(rtol) below it
ROUNDING_ULPS = 10.0  # over rtol: the least kappa
ETA_EXPONENT = 0.8  # of eta from step to step
DIVERGENCE_RATE = 0.99  # Theta from which on it has failed
REUSE_RATE = 0.05  # Theta above which the Jacobian is formed anew
FACTORED_STEP_CHANGE = 0.01  # relative change of h for which factors are used again
TINY_SIZE = 1e-300  # of a correction, to be divided by
# step size
SAFETY = 0.9
MIN_FACTOR, MAX_FACTOR = 0.125, 8.0  # to the next step, RADAU5
MAX_REJECTED_FACTOR = 0.9
SAME_STEP_FACTOR = 1.2  # growth of h that is not worth new factors, RADAU5
FAILURE_FACTOR = 0.25  # after an evaluation that failed
DIVERGENCE_FACTOR = 0.5  # after Newton's method has diverged
SLOW_SAFETY, MIN_LEFT, MAX_LEFT = 0.8, 1e-4, 20.0  # after slow convergence, RADAU5
MIN_ERROR, MIN_ERROR_PAST = 1e-10, 1e-2  # in the controller, of this step and the one before


@routine
def set_scale(memory):
    """Reciprocal tolerances of the step, scaled as in RADAU5: rtol means about what it means to other methods."""
    stepping, newton, y, scale = memory.stepping[0], memory.newton[0], memory.y, memory.stages[SCALE]
    if newton.tolerance_factor == 0.0:
        newton.tolerance_factor = max(TOLERANCE_SCALE * stepping.rtol**TOLERANCE_EXPONENT, 1.0)
    for i in range(y.shape[0]):
        scale[i] = 1.0 / (newton.tolerance_factor * (memory.atol[i] + stepping.rtol * abs(y[i])))


@routine
def newton_tolerance(rtol):
    """kappa: of the scaled tolerances, how large the last correction may be."""
    return max(ROUNDING_ULPS * ULP / rtol, min(MAX_KAPPA, math.sqrt(rtol)))


@routine
def start_values(memory, h):
    """Z from the cubic of the step before, continued; zero if there is none."""
    newton, z, past = memory.newton[0], memory.stages, memory.stages[PAST:]
    c1, c2, _ = C
    ratio = h / newton.h_past if newton.h_past > 0.0 else 0.0
    for i in range(memory.y.shape[0]):
        if newton.h_past == 0.0:
            z[Z, i] = z[Z + 1, i] = z[Z + 2, i] = 0.0
        else:
            end = past[2, i]
            g1, g2 = (past[0, i] - c1 * end) / (c1 * (1.0 - c1)), (past[1, i] - c2 * end) / (c2 * (1.0 - c2))
            r3 = (g2 - g1) / (c2 - c1)
            r2 = g1 - c1 * r3
            for j in range(3):
                theta = 1.0 + C[j] * ratio
                z[Z + j, i] = theta * (end + (1.0 - theta) * (r2 + theta * r3)) - end
    for i in range(memory.y.shape[0]):
        for j in range(3):
            row = T_INVERSE[j]
            z[W + j, i] = row[0] * z[Z, i] + row[1] * z[Z + 1, i] + row[2] * z[Z + 2, i]


@routine
def stage_rates(system, work, memory, t, h, count):
    """F at the first stages."""
    s, y, x, active = memory.stages, memory.y, memory.scratch[0], memory.active
    for j in range(count):
        copy(y, x)
        for k in range(active.shape[0]):
            x[active[k]] += s[Z + j, active[k]]
        status = call_derivative(work.calls[0].derivative, (system, work, t + C[j] * h, x, s[F + j]))
        memory.stepping[0].n_evaluations += 1
        if status != OK:
            return status
    return OK


@routine
def correct(memory, h):
    """One correction of W and Z; its size over the tolerances (NaN if it is not finite)."""
    s, active = memory.stages, memory.active
    r1, r2, r3 = memory.scratch[1], memory.scratch[2], memory.scratch[3]
    gamma, alpha, beta = GAMMA / h, ALPHA / h, BETA / h
    t1, t2, t3 = T_INVERSE
    for k in range(active.shape[0]):
        i = active[k]
        f1, f2, f3 = s[F, i], s[F + 1, i], s[F + 2, i]
        w1, w2, w3 = s[W, i], s[W + 1, i], s[W + 2, i]
        r1[k] = t1[0] * f1 + t1[1] * f2 + t1[2] * f3 - gamma * w1
        r2[k] = t2[0] * f1 + t2[1] * f2 + t2[2] * f3 - alpha * w2 + beta * w3
        r3[k] = t3[0] * f1 + t3[1] * f2 + t3[2] * f3 - alpha * w3 - beta * w2
    h = memory.newton[0].h_factored
    solve_real(memory, GAMMA / h, r1)
    solve_complex(memory, ALPHA / h, BETA / h, r2, r3)
    size, u1, u2, u3 = 0.0, T[0], T[1], T[2]
    for k in range(active.shape[0]):
        i = active[k]
        change = max(abs(r1[k]), abs(r2[k]), abs(r3[k])) * s[SCALE, i]
        size = larger_or_nan(size, change)
        w1, w2, w3 = s[W, i] + r1[k], s[W + 1, i] + r2[k], s[W + 2, i] + r3[k]
        s[W, i], s[W + 1, i], s[W + 2, i] = w1, w2, w3
        s[Z, i] = u1[0] * w1 + u1[1] * w2 + u1[2] * w3
        s[Z + 1, i] = u2[0] * w1 + u2[1] * w2 + u2[2] * w3
        s[Z + 2, i] = u3[0] * w1 + u3[1] * w2 + u3[2] * w3
        size += zero_or_nan(w1 + w2 + w3)
    return size


@routine
def convergence_rate(iteration, quotient, quotient_before):
    """Theta of IV.8: the last quotient of corrections, from the third iteration on the mean of two."""
    return quotient if iteration == 2 else math.sqrt(quotient * quotient_before)


@routine
def factor_of_slow_convergence(left, remaining):
    """To the next trial step, where after the remaining iterations so much of the tolerance would be left: RADAU5."""
    exponent = -1.0 / (4.0 + remaining)
    return SLOW_SAFETY * min(max(left, MIN_LEFT), MAX_LEFT) ** exponent


@routine
def iterate(system, work, memory, t, h):
    """Simplified Newton's method for the stages: OK, NOT_CONVERGED (with stepping.factor), or a failed evaluation."""
    stepping, newton = memory.stepping[0], memory.newton[0]
    tolerance = newton_tolerance(newton.tolerance_factor * stepping.rtol)
    start_values(memory, h)
    eta = max(newton.eta, ULP) ** ETA_EXPONENT
    rate, size_before, quotient_before = REUSE_RATE, 0.0, 0.0
    k_max = MAX_FIXED_ITERATIONS if stepping.is_fixed == 1 else MAX_ITERATIONS
    stepping.factor = DIVERGENCE_FACTOR
    for iteration in range(1, k_max + 1):
        status = stage_rates(system, work, memory, t, h, 3)
        if status != OK:
            return status
        newton.n_iterations += 1
        size = correct(memory, h)
        if not size < math.inf:
            return NOT_FINITE
        if iteration > 1:
            quotient = size / size_before if size_before > 0.0 else 0.0
            rate = convergence_rate(iteration, quotient, quotient_before)
            quotient_before = quotient
            if rate >= DIVERGENCE_RATE:
                return NOT_CONVERGED
            eta = rate / (1.0 - rate)
            # what will be left after the last iteration
            remaining = k_max - 1 - iteration
            left = eta * size * rate**remaining / tolerance
            if left >= 1.0:
                stepping.factor = factor_of_slow_convergence(left, remaining)
                return NOT_CONVERGED
        size_before = max(size, TINY_SIZE)
        # eta |last correction| bounds the error that is left
        if eta * size <= tolerance:
            newton.rate, newton.eta = rate, eta
            # fewer iterations allow a longer step
            stepping.factor = min(1.0, (1.0 + 2.0 * k_max) / (iteration + 2.0 * k_max))
            return OK
    return NOT_CONVERGED


@routine
def solve_stages(system, work, memory, t, h):
    """The stages, with a Jacobian and factors as old as they may be."""
    newton = memory.newton[0]
    if newton.is_current == 0 and newton.needs_jacobian == 1:
        status = differentiate(system, work, memory, t)
        if status != OK:
            return status
    while True:
        if not abs(h - newton.h_factored) <= FACTORED_STEP_CHANGE * h:
            newton.h_factored = h
            newton.n_factors += 1
            if not (factor_real(memory, GAMMA / h) and factor_complex(memory, ALPHA / h, BETA / h)):
                newton.h_factored = 0.0
                memory.stepping[0].factor = DIVERGENCE_FACTOR
                return NOT_CONVERGED
        status = iterate(system, work, memory, t, h)
        if status == OK:
            return OK
        if status == NOT_CONVERGED:
            newton.n_failures += 1
        if newton.is_current == 1:
            return status
        status = differentiate(system, work, memory, t)
        if status != OK:
            return status


@routine
def integrate_work_terms(memory, h):
    """Stages, defect and end of the components that are no unknowns, from their rates at the stages."""
    s, active, mark, defect = memory.stages, memory.active, memory.scratch[0], memory.stages[DEFECT]
    for i in range(mark.shape[0]):
        mark[i] = 0.0
    for k in range(active.shape[0]):
        mark[active[k]] = 1.0
    e1, e2, e3 = ERROR
    for i in range(mark.shape[0]):
        if mark[i] == 0.0:
            for j in range(3):
                a = WEIGHTS[j]
                s[Z + j, i] = h * (a[0] * s[F, i] + a[1] * s[F + 1, i] + a[2] * s[F + 2, i])
            defect[i] = (h * memory.f[i] + e1 * s[Z, i] + e2 * s[Z + 1, i] + e3 * s[Z + 2, i]) / GAMMA
            if memory.atol[i] == math.inf:
                # prescribed components are in place already
                memory.y_new[i] = memory.y[i] + s[Z + 2, i]


@routine
def filtered_defect(memory, f, h, out):
    """(mu - J)^-1 (f + ERROR Z / h): by how much u misses the derivative f at t, as an error of y. Its norm."""
    s, active, r = memory.stages, memory.active, memory.scratch[1]
    e1, e2, e3 = ERROR
    for k in range(active.shape[0]):
        i = active[k]
        r[k] = f[i] + (e1 * s[Z, i] + e2 * s[Z + 1, i] + e3 * s[Z + 2, i]) / h
    solve_real(memory, GAMMA / memory.newton[0].h_factored, r)
    norm = 0.0
    for k in range(active.shape[0]):
        i = active[k]
        out[i] = r[k]
        error = abs(r[k]) * s[SCALE, i]
        norm = larger_or_nan(norm, error)
    return norm


@routine
def estimate(system, work, memory, t, h):
    """Error norm; at first steps and after rejections a large one is estimated once more."""
    stepping, newton, defect = memory.stepping[0], memory.newton[0], memory.stages[DEFECT]
    norm = filtered_defect(memory, memory.f, h, defect)
    if 1.0 <= norm < math.inf and (newton.h_past == 0.0 or newton.has_failed == 1):
        x, rate = memory.scratch[0], memory.scratch[2]
        copy(memory.y, x)
        for k in range(memory.active.shape[0]):
            x[memory.active[k]] += defect[memory.active[k]]
        status = call_derivative(work.calls[0].derivative, (system, work, t, x, rate))
        stepping.n_evaluations += 1
        if status == OK:
            norm = filtered_defect(memory, rate, h, memory.scratch[3])
    return norm


@routine
def next_factor(newton, h, error, patience):
    """Factor between this step and the next, by this error and the one before (Gustafsson); one that is hardly
    worth new factors is left out.

    patience: what many iterations take off."""
    root = math.sqrt(math.sqrt(max(error, MIN_ERROR)))
    factor = SAFETY * patience / root
    # whether the step is good or not: a Jacobian with which Newton is fast is not the cause of an error too large
    newton.needs_jacobian = 1 if newton.rate > REUSE_RATE else 0
    if error <= 1.0:
        if newton.h_past > 0.0:
            old = max(newton.error_past, MIN_ERROR_PAST)
            factor = min(factor, SAFETY * h / newton.h_past * math.sqrt(math.sqrt(old)) / (root * root))
        if newton.needs_jacobian == 0 and 1.0 <= factor <= SAME_STEP_FACTOR:
            factor = 1.0
    return min(max(factor, MIN_FACTOR), MAX_FACTOR if error <= 1.0 else MAX_REJECTED_FACTOR)


@routine
def needs_rates(memory):
    """Whether the end must be evaluated: something is prescribed, or work terms are wanted."""
    count = memory.active.shape[0]
    if count < memory.y.shape[0] and memory.stepping[0].wants_rows == 1:
        return True
    for i in range(memory.y.shape[0]):
        if memory.atol[i] < math.inf:
            count -= 1
    return count < 0


@routine
def finish(system, work, memory, t, h):
    """y_new and f_new of a good step. Unknowns: f_new is the slope of u at its end, which needs no evaluation and has
    no fast error. All else: from rates at the stages as they are at last."""
    stepping, s, active, f_new = memory.stepping[0], memory.stages, memory.active, memory.f_new
    copy(memory.y, memory.y_new)
    for k in range(active.shape[0]):
        memory.y_new[active[k]] += s[Z + 2, active[k]]
    status = OK
    if needs_rates(memory):
        work.run[0].is_aside = 1
        status = stage_rates(system, work, memory, t, h, 2)
        if status == OK:
            status = call_derivative(work.calls[0].derivative, (system, work, t + h, memory.y_new, s[F + 2]))
            stepping.n_evaluations += 1
        work.run[0].is_aside = 0
    copy(s[F + 2], f_new)
    if active.shape[0] < f_new.shape[0]:
        integrate_work_terms(memory, h)
    e1, e2, e3 = SLOPE
    for k in range(active.shape[0]):
        i = active[k]
        f_new[i] = (e1 * s[Z, i] + e2 * s[Z + 1, i] + e3 * s[Z + 2, i]) / h
    return status


@kernel(STEPPER)
def step(system, work, memory, t, h):
    """One trial step from (y, f) at t into (y_new, f_new) at t + h; stepping.error is its error norm."""
    stepping, newton, s = memory.stepping[0], memory.newton[0], memory.stages
    if begin_trial(stepping, newton, t):
        for j in range(3):
            copy(s[Z + j], s[PAST + j])
    if newton.has_failed == 0:
        set_scale(memory)
    stepping.factor = FAILURE_FACTOR
    status = solve_stages(system, work, memory, t, h)
    newton.h = h
    if status != OK:
        newton.has_failed = 1
        return status
    error = estimate(system, work, memory, t, h) / (1.0 + work.dead_point[0].error_allowance)
    if not error < math.inf:
        newton.has_failed, stepping.factor = 1, FAILURE_FACTOR
        return NOT_FINITE
    stepping.factor = next_factor(newton, h, error, stepping.factor)
    newton.error = error
    stepping.error = 0.0 if stepping.is_fixed == 1 else error
    if stepping.error > 1.0:
        newton.has_failed = 1
        return OK
    status = finish(system, work, memory, t, h)
    if status != OK:
        newton.has_failed, stepping.factor = 1, FAILURE_FACTOR
    return status


@kernel(INTERPOLANT)
def interpolate(system, work, memory, t, h):
    """Dense output of the step just made: the cubic u, and the quartic that mends its slope at t (filtered: u may miss
    fast components there)."""
    r, s = memory.dense, memory.stages
    c1, c2, _ = C
    for i in range(r.shape[1]):
        change = memory.y_new[i] - memory.y[i]
        g1, g2 = (s[Z, i] - c1 * change) / (c1 * (1.0 - c1)), (s[Z + 1, i] - c2 * change) / (c2 * (1.0 - c2))
        slope, bend = (g2 - g1) / (c2 - c1), GAMMA * s[DEFECT, i]
        r[0, i] = memory.y[i]
        r[1, i] = change
        r[2, i] = g1 - c1 * slope + BEND[0] * bend
        r[3, i] = slope + BEND[1] * bend
        r[4, i] = BEND[2] * bend
        for k in range(5, r.shape[0]):
            r[k, i] = 0.0
    return OK

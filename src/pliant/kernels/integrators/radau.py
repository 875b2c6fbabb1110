"""Radau IIA of order 5: adaptive, for stiff equations. Imports _jit, algebra and system only.

Symbols: Z_i = u(t + c_i h) - y stages of the collocation cubic u, F_i their rates, W = T^-1 Z, mu = (GAMMA, ALPHA +
i BETA) / h. Simplified Newton's method on W: one real and one complex system. Works take no part in it.
References: Hairer and Wanner II, IV.8 (method, error, iteration, predictive controller of Gustafsson).
"""

import math

from pliant.kernels._jit import DERIVATIVE, INTERPOLANT, STEPPER, kernel, routine
from pliant.kernels.algebra.dense import copy
from pliant.kernels.integrators.newton import (
    begin,
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
ULP = 2.0**-52

# rows of memory.stages
Z, F, W, PAST, DEFECT, SCALE = 0, 3, 6, 9, 12, 13

MOST_ITERATIONS, MOST_FIXED = 7, 20  # the latter where a shorter step is no way out
SAFETY = 0.9
SLOW = 0.02  # rate of convergence above which the Jacobian is formed anew
SAME = 0.01  # relative change of step that the factors bear
KEPT = 1.2  # growth of the step that is not worth new factors


@routine
def set_scale(memory):
    """Reciprocal tolerances of the step. The error estimate is of order 3, the step of order 5: tolerances are loosened
    as in the authors' code, so that rtol means about what it means to other methods."""
    loop, newton, y, scale = memory.loop[0], memory.newton[0], memory.y, memory.stages[SCALE]
    if newton.looseness == 0.0:
        newton.looseness = max(0.1 * loop.rtol ** (-1.0 / 3.0), 1.0)
    for i in range(y.shape[0]):
        scale[i] = 1.0 / (newton.looseness * (memory.atol[i] + loop.rtol * abs(y[i])))


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
        status = call_derivative(work.run[0].derivative, (system, work, t + C[j] * h, x, s[F + j]))
        memory.loop[0].n_evaluations += 1
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
        if not change <= size:
            size = change
        w1, w2, w3 = s[W, i] + r1[k], s[W + 1, i] + r2[k], s[W + 2, i] + r3[k]
        s[W, i], s[W + 1, i], s[W + 2, i] = w1, w2, w3
        s[Z, i] = u1[0] * w1 + u1[1] * w2 + u1[2] * w3
        s[Z + 1, i] = u2[0] * w1 + u2[1] * w2 + u2[2] * w3
        s[Z + 2, i] = u3[0] * w1 + u3[1] * w2 + u3[2] * w3
        size += 0.0 * (w1 + w2 + w3)
    return size


@routine
def iterate(system, work, memory, t, h):
    """Newton's method for the stages: OK, NOT_CONVERGED (with loop.factor), or what an evaluation said."""
    loop, newton = memory.loop[0], memory.newton[0]
    tight = max(10.0 * ULP / (newton.looseness * loop.rtol), min(0.03, math.sqrt(newton.looseness * loop.rtol)))
    start_values(memory, h)
    reserve = max(newton.reserve, ULP) ** 0.8
    rate, before, quotient = SLOW, 0.0, 0.0
    most = MOST_FIXED if loop.is_fixed == 1 else MOST_ITERATIONS
    loop.factor = 0.5
    for iteration in range(1, most + 1):
        status = stage_rates(system, work, memory, t, h, 3)
        if status != OK:
            return status
        newton.n_iterations += 1
        size = correct(memory, h)
        if not size < math.inf:
            return NOT_FINITE
        if iteration > 1:
            new = size / before if before > 0.0 else 0.0
            rate = new if iteration == 2 else math.sqrt(new * quotient)
            quotient = new
            if rate >= 0.99:
                return NOT_CONVERGED
            reserve = rate / (1.0 - rate)
            # what will be left after the last iteration
            left = reserve * size * rate ** (most - 1 - iteration) / tight
            if left >= 1.0:
                exponent = -1.0 / (4.0 + most - 1 - iteration)
                loop.factor = 0.8 * min(max(left, 1e-4), 20.0) ** exponent
                return NOT_CONVERGED
        before = max(size, 1e-300)
        if reserve * size <= tight:
            newton.rate, newton.reserve = rate, reserve
            loop.factor = min(1.0, (1.0 + 2.0 * most) / (iteration + 2.0 * most))
            return OK
    return NOT_CONVERGED


@routine
def solve_stages(system, work, memory, t, h):
    """The stages, with a Jacobian and factors as old as they may be."""
    newton = memory.newton[0]
    if newton.is_current == 0 and (newton.is_worn == 1 or newton.has_failed == 1):
        status = differentiate(system, work, memory, t)
        if status != OK:
            return status
    while True:
        if not abs(h - newton.h_factored) <= SAME * h:
            newton.h_factored = h
            newton.n_factors += 1
            if not (factor_real(memory, GAMMA / h) and factor_complex(memory, ALPHA / h, BETA / h)):
                newton.h_factored = 0.0
                memory.loop[0].factor = 0.5
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
def integrate_works(memory, h):
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
                # what is prescribed is in its place already
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
        if not error <= norm:
            norm = error
    return norm


@routine
def estimate(system, work, memory, t, h):
    """Error norm; at first steps and after rejections a large one is looked at twice (IV.8, 8.20)."""
    loop, newton, defect = memory.loop[0], memory.newton[0], memory.stages[DEFECT]
    norm = filtered_defect(memory, memory.f, h, defect)
    if 1.0 <= norm < math.inf and (newton.h_past == 0.0 or newton.has_failed == 1):
        x, rate = memory.scratch[0], memory.scratch[2]
        copy(memory.y, x)
        for k in range(memory.active.shape[0]):
            x[memory.active[k]] += defect[memory.active[k]]
        status = call_derivative(work.run[0].derivative, (system, work, t, x, rate))
        loop.n_evaluations += 1
        if status == OK:
            norm = filtered_defect(memory, rate, h, memory.scratch[3])
    return norm


@routine
def next_factor(newton, h, error, patience):
    """Factor between this step and the next (IV.8, 8.21 and 8.25), one that is hardly worth new factors left out."""
    root = math.sqrt(math.sqrt(max(error, 1e-10)))
    factor = SAFETY * patience / root
    if error <= 1.0:
        if newton.h_past > 0.0:
            old = max(newton.error_past, 1e-2)
            factor = min(factor, SAFETY * h / newton.h_past * math.sqrt(math.sqrt(old)) / (root * root))
        newton.is_worn = 1 if newton.rate > SLOW else 0
        if newton.is_worn == 0 and 1.0 <= factor <= KEPT:
            factor = 1.0
    return min(max(factor, 0.125), 8.0 if error <= 1.0 else 0.9)


@routine
def needs_rates(memory):
    """Whether the end must be evaluated: something is prescribed, or works are wanted."""
    count = memory.active.shape[0]
    if count < memory.y.shape[0] and memory.loop[0].wants_rows == 1:
        return True
    for i in range(memory.y.shape[0]):
        if memory.atol[i] < math.inf:
            count -= 1
    return count < 0


@routine
def finish(system, work, memory, t, h):
    """y_new and f_new of a good step. Unknowns: f_new is the slope of u at its end, which needs no evaluation and has
    no fast error. All else: from rates at the stages as they are at last."""
    loop, s, active, f_new = memory.loop[0], memory.stages, memory.active, memory.f_new
    copy(memory.y, memory.y_new)
    for k in range(active.shape[0]):
        memory.y_new[active[k]] += s[Z + 2, active[k]]
    status = OK
    if needs_rates(memory):
        status = stage_rates(system, work, memory, t, h, 2)
        if status == OK:
            status = call_derivative(work.run[0].derivative, (system, work, t + h, memory.y_new, s[F + 2]))
            loop.n_evaluations += 1
    copy(s[F + 2], f_new)
    if active.shape[0] < f_new.shape[0]:
        integrate_works(memory, h)
    e1, e2, e3 = SLOPE
    for k in range(active.shape[0]):
        i = active[k]
        f_new[i] = (e1 * s[Z, i] + e2 * s[Z + 1, i] + e3 * s[Z + 2, i]) / h
    return status


@kernel(STEPPER)
def step(system, work, memory, t, h):
    """One trial step from (y, f) at t into (y_new, f_new) at t + h; loop.error is its error norm."""
    loop, newton, s = memory.loop[0], memory.newton[0], memory.stages
    if begin(loop, newton, t):
        for j in range(3):
            copy(s[Z + j], s[PAST + j])
    if newton.has_failed == 0:
        set_scale(memory)
    loop.factor = 0.25
    status = solve_stages(system, work, memory, t, h)
    newton.h = h
    if status != OK:
        newton.has_failed = 1
        return status
    error = estimate(system, work, memory, t, h) / (1.0 + work.run[0].slack)
    if not error < math.inf:
        newton.has_failed, loop.factor = 1, 0.25
        return NOT_FINITE
    loop.factor = next_factor(newton, h, error, loop.factor)
    newton.error = error
    loop.error = 0.0 if loop.is_fixed == 1 else error
    if loop.error > 1.0:
        newton.has_failed = 1
        return OK
    status = finish(system, work, memory, t, h)
    if status != OK:
        newton.has_failed, loop.factor = 1, 0.25
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

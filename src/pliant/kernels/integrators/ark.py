"""Additive Runge-Kutta steps whose stages are semi-implicit, generic over the tableau in Memory. Imports _jit, algebra
and system only.

Symbols: k_i stages; memory.A holds the explicit tableau AE (rows 0 .. s-1), then the implicit one AI, whose diagonal is
the same from the second stage on and whose last row is the weights b; E as in tableaus.py. Stage i is
    k_i = H(y + h sum_{j<i} AE_ij k_j, y + h sum_{j<=i} AI_ij k_j)       (kernels/semi_implicit.py)
The first is f(y), kept from the step before. Reference: Kennedy and Carpenter (2003)."""

import math

from pliant.kernels._jit import DERIVATIVE, INTERPOLANT, STAGE, STEPPER, kernel
from pliant.kernels.algebra.dense import copy
from pliant.kernels.algebra.finite import is_finite
from pliant.kernels.integrators.runge_kutta import error_norm, hermite, weighted_sum
from pliant.system.status import Status
from pliant.system.work import AT_END

# numba sees the callers as names of this module
call_derivative = DERIVATIVE.call
call_stage = STAGE.call

OK, NOT_FINITE = int(Status.OK), int(Status.NOT_FINITE)


@kernel
def stage_point(A, row, count, stages, y, h, out):
    """out = y + h sum over the first `count` stages of A[row, j] k_j."""
    weighted_sum(A, row, stages, count, out)
    for i in range(out.shape[0]):
        out[i] = y[i] + h * out[i]


@kernel(STEPPER)
def step(system, work, memory, t, h):
    """One trial step from (y, f) at t into (y_new, f_new) at t + h; stepping.error is its error norm."""
    stepping, A, stages, y, y_new = memory.stepping[0], memory.A, memory.stages, memory.y, memory.y_new
    calls, s, x, y_hat = work.calls[0], stepping.n_stages, memory.scratch[0], memory.scratch[1]
    copy(memory.f, stages[0])
    stepping.error = 0.0
    for i in range(1, s):
        stage_point(A, i, i, stages, y, h, x)
        stage_point(A, s + i, i, stages, y, h, y_hat)
        at, step_i = t + memory.c[i] * h, h * A[s + i, i]
        if calls.stage != 0:
            status = call_stage(calls.stage, (system, work, at, x, y_hat, step_i, stages[i]))
        else:
            status = call_derivative(calls.derivative, (system, work, at, x, stages[i]))
        stepping.n_evaluations += 1
        if status != OK:
            return status
    stage_point(A, 2 * s - 1, s, stages, y, h, y_new)
    if stepping.is_fixed == 0:
        stepping.error = error_norm(memory.E, 0, 1, stages, y, y_new, memory.atol, stepping.rtol, h, memory.scratch)
        stepping.error /= 1.0 + work.dead_point[0].error_allowance
        if not stepping.error <= 1.0:
            return OK if math.isfinite(stepping.error) else NOT_FINITE
    status = call_derivative(calls.derivative, (system, work, t + h, y_new, stages[s]))
    stepping.n_evaluations += 1
    if status != OK:
        return status
    copy(stages[s], memory.f_new)
    work.run[0].is_at_end = AT_END
    return OK if is_finite(y_new) and is_finite(memory.f_new) else NOT_FINITE


@kernel(INTERPOLANT)
def interpolate(system, work, memory, t, h):
    """Dense output of the step just made: the cubic through y, f, y_new, f_new, and the quartic that a tableau may have
    weights of (D)."""
    r = memory.dense
    hermite(memory, h)
    for k in range(4, r.shape[0]):
        for i in range(r.shape[1]):
            r[k, i] = 0.0
    for j in range(memory.D.shape[0]):
        weighted_sum(memory.D, j, memory.stages, memory.D.shape[1], r[4 + j])
        for i in range(r.shape[1]):
            r[4 + j, i] *= h
    return OK

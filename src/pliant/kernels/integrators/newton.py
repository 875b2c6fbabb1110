"""Linear algebra of implicit steps: Jacobian by differences, Newton's matrices, their factors. Sees no robot.

Symbols: x unknowns, p coordinates paired with a rate among x (p' = x_mate), J = d(x', ..)/d(x, p). Of
    (mu - J) (dx, dp) = (r_x, r_p):  dp = (r_p + dx_mate) / mu  is put in, which leaves  (mu - J_x - J_p / mu) dx = ..
"""

import math

from pliant.kernels._jit import DERIVATIVE, routine
from pliant.kernels.algebra.dense import copy
from pliant.kernels.algebra.finite import ULP
from pliant.kernels.algebra.lu import complex_lu, complex_lu_solve, lu, lu_solve
from pliant.system.memory import FORGET_JACOBIAN
from pliant.system.status import Status

call_derivative = DERIVATIVE.call

OK = int(Status.OK)
MIN_COMPONENT = 1e-5  # of y in differences, as in RADAU5 of Hairer and Wanner: sqrt(ULP max(1e-5, |y|))


@routine
def differentiate(system, work, memory, t):
    """The Jacobian at (t, y): one evaluation there, and one per column."""
    newton, J, active, y = memory.newton[0], memory.jacobian, memory.active, memory.y
    x, rate, f = memory.scratch[0], memory.scratch[1], memory.scratch[2]
    m = J.shape[0]
    # memory.f may carry the error of Newton's method
    copy(y, x)
    status = call_derivative(work.calls[0].derivative, (system, work, t, x, f))
    if status != OK:
        return status
    for column in range(active.shape[0]):
        i = active[column]
        copy(y, x)
        x[i] += math.copysign(math.sqrt(ULP * max(MIN_COMPONENT, abs(y[i]))), f[i])
        step = x[i] - y[i]
        status = call_derivative(work.calls[0].derivative, (system, work, t, x, rate))
        if status != OK:
            return status
        for row in range(m):
            J[row, column] = (rate[active[row]] - f[active[row]]) / step
    memory.stepping[0].n_evaluations += active.shape[0] + 1
    newton.n_jacobians += 1
    newton.is_current, newton.needs_jacobian, newton.h_factored = 1, 0, 0.0
    return OK


@routine
def factor_real(memory, mu):
    """Factors of mu - J_x - J_p / mu."""
    J, mates, A = memory.jacobian, memory.mates, memory.factor[0]
    m = J.shape[0]
    for i in range(m):
        row, source = A[i], J[i]
        for j in range(m):
            row[j] = -source[j]
        for k in range(mates.shape[0]):
            row[mates[k]] -= source[m + k] / mu
        row[i] += mu
    return lu(A, memory.pivots[0], m) < 0


@routine
def factor_complex(memory, re, im):
    """The same with mu = re + i im."""
    J, mates, A, B = memory.jacobian, memory.mates, memory.factor[1], memory.factor[2]
    m, square = J.shape[0], re * re + im * im
    u, w = re / square, -im / square
    for i in range(m):
        a, b, source = A[i], B[i], J[i]
        for j in range(m):
            a[j], b[j] = -source[j], 0.0
        for k in range(mates.shape[0]):
            a[mates[k]] -= source[m + k] * u
            b[mates[k]] -= source[m + k] * w
        a[i] += re
        b[i] += im
    return complex_lu(A, B, memory.pivots[1], m) < 0


@routine
def solve_real(memory, mu, r):
    """r <- (mu - J)^-1 r; r in the order of memory.active."""
    J, mates = memory.jacobian, memory.mates
    m, n_pairs = J.shape[0], mates.shape[0]
    for k in range(n_pairs):
        r[m + k] /= mu
    for i in range(m):
        row, total = J[i], r[i]
        for k in range(m, m + n_pairs):
            total += row[k] * r[k]
        r[i] = total
    lu_solve(memory.factor[0], memory.pivots[0], m, r)
    for k in range(n_pairs):
        r[m + k] += r[mates[k]] / mu


@routine
def solve_complex(memory, re, im, r, s):
    """r + i s <- (re + i im - J)^-1 (r + i s)"""
    J, mates = memory.jacobian, memory.mates
    m, n_pairs, square = J.shape[0], mates.shape[0], re * re + im * im
    u, w = re / square, -im / square
    for k in range(m, m + n_pairs):
        r[k], s[k] = r[k] * u - s[k] * w, r[k] * w + s[k] * u
    for i in range(m):
        row, a, b = J[i], r[i], s[i]
        for k in range(m, m + n_pairs):
            a += row[k] * r[k]
            b += row[k] * s[k]
        r[i], s[i] = a, b
    complex_lu_solve(memory.factor[1], memory.factor[2], memory.pivots[1], m, r, s)
    for k in range(n_pairs):
        a, b = r[mates[k]], s[mates[k]]
        r[m + k] += a * u - b * w
        s[m + k] += a * w + b * u


@routine
def begin_trial(stepping, newton, t):
    """What is left of the past at the beginning of a trial step. Whether the trial before it was accepted."""
    is_next = stepping.dropped == 0 and t != newton.t
    if stepping.dropped > 0:
        newton.h_past, newton.has_failed, newton.is_current = 0.0, 0, 0
        if stepping.dropped == FORGET_JACOBIAN:
            newton.needs_jacobian, newton.h_factored = 1, 0.0
            newton.eta = 1.0
        stepping.dropped = 0
    elif is_next:
        newton.h_past, newton.error_past = newton.h, newton.error
        newton.has_failed, newton.is_current = 0, 0
    newton.t = t
    return is_next

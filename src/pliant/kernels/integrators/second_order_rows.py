"""What a step of a second-order method takes from the past. Imports _jit, algebra and system only.

Every method is, with a_new the only unknown,
    x_new = x moved along P + beta h^2 a_new,   v_new = R + gamma h a_new
P and R (rows of memory.stages), beta and gamma (of memory.newton) are known at the beginning of the step:
    Newmark   P = h v + h^2 (1/2 - beta) a,  R = v + h (1 - gamma) a; Fox-Euler is beta = 1/2, gamma = 1
    Wilson    Newmark (1/6, 1/2) over theta h; from the accelerations there those at t + h are interpolated
    Houbolt   P = 3/2 d - 1/2 d_before,  v_new = (11 (P + beta h^2 a_new) - 7 d + 2 d_before) / 6h,  beta = 1/2
    Proposed  P = h v + h^2 ((2 + g2)/6 a - g2/12 a_before),  R = v + h ((1 + g1)/2 a - g1/4 a_before),
              beta = (2 - g2)/12,  gamma = (2 - g1)/4; as printed gamma stands in place of gamma h
d, d_before are the last two increments. After a jump, or a step of another length, Houbolt and Proposed begin with a
Newmark step (1/6, 1/2); Houbolt's second step has d_before = d - h^2 a_before. Friction states follow the rule of v,
with Houbolt the trapezoidal rule. Transfer matrices: a_new = A x_new + B, v_new = D x_new + E are A = 1/(beta h^2),
B = -A (x + P), D = gamma/(beta h), E = R + gamma h B.
References: Newmark (1959), Bathe and Wilson (1973), Houbolt (1950); Proposed: the thesis on transfer matrices.
"""

import math

from pliant.kernels._jit import kernel, routine
from pliant.kernels.algebra.dense import copy
from pliant.kernels.integrators.newton import begin_trial
from pliant.system.newton import Rule

WILSON, HOUBOLT, PROPOSED = int(Rule.WILSON), int(Rule.HOUBOLT), int(Rule.PROPOSED)

# rows of memory.stages: a, a_new, P, R, a of the step before; increments of the last two steps over their lengths
OLD, NEW, P, R, BEFORE, MOVE, MOVE_BEFORE = 0, 1, 2, 3, 4, 5, 6
SAME_LENGTH = 2e-6  # of steps: t rounds them, and the last before a stop is stretched


@kernel
def is_same_length(h, other):
    return abs(h - other) <= SAME_LENGTH * h


@routine
def set_coefficients(newton, beta, gamma, gamma_of_states):
    """Of this step; factors of others are of no use to it."""
    if beta != newton.beta or gamma != newton.gamma or gamma_of_states != newton.gamma_of_states:
        newton.h_factored = 0.0
    newton.beta, newton.gamma, newton.gamma_of_states = beta, gamma, gamma_of_states


@routine
def put_newmark_rows(memory, h):
    newton, y, rows = memory.newton[0], memory.y, memory.stages
    beta, gamma = newton.start_beta, newton.start_gamma
    for i in range(newton.first_rate, y.shape[0]):
        rows[P, i] = h * (y[i] + h * (0.5 - beta) * rows[OLD, i])
        rows[R, i] = y[i] + h * (1.0 - gamma) * rows[OLD, i]
    set_coefficients(newton, beta, gamma, gamma)


@routine
def put_houbolt_rows(memory, h, n_past):
    newton, y, rows = memory.newton[0], memory.y, memory.stages
    n_y = y.shape[0]
    for i in range(newton.first_rate, n_y):
        u = rows[MOVE, i]
        u_before = rows[MOVE_BEFORE, i] if n_past > 1 else u - h * rows[BEFORE, i]
        rows[P, i] = h * (1.5 * u - 0.5 * u_before)
        rows[R, i] = (9.5 * u - 3.5 * u_before) / 6.0
    for i in range(n_y - newton.n_states, n_y):
        rows[R, i] = y[i] + 0.5 * h * rows[OLD, i]
    set_coefficients(newton, 0.5, 11.0 / 12.0, 0.5)


@routine
def put_proposed_rows(memory, h):
    newton, y, rows = memory.newton[0], memory.y, memory.stages
    g1, g2 = newton.g1, newton.g2
    for i in range(newton.first_rate, y.shape[0]):
        a, before = rows[OLD, i], rows[BEFORE, i]
        rows[P, i] = h * (y[i] + h * ((2.0 + g2) / 6.0 * a - g2 / 12.0 * before))
        rows[R, i] = y[i] + h * (0.5 * (1.0 + g1) * a - 0.25 * g1 * before)
    gamma = 0.25 * (2.0 - g1)
    set_coefficients(newton, (2.0 - g2) / 12.0, gamma / h if newton.is_printed == 1 else gamma, gamma)


@routine
def take_step(memory, h_before):
    """The trial step before this one was accepted: it becomes the past; h_before: length of the one before it."""
    newton, rows = memory.newton[0], memory.stages
    h = newton.h
    newton.n_past = newton.n_past + 1 if is_same_length(h, h_before) else 1
    if newton.rule == HOUBOLT:
        for i in range(newton.first_rate, rows.shape[1]):
            rows[MOVE_BEFORE, i] = rows[MOVE, i]
            rows[MOVE, i] = rows[P, i] / h + newton.beta * h * rows[NEW, i]
    if newton.rule == HOUBOLT or newton.rule == PROPOSED:
        copy(rows[OLD], rows[BEFORE])
    for i in range(newton.first_rate, rows.shape[1]):
        rows[OLD, i] = rows[NEW, i]


@routine
def begin_step(memory, t, h):
    """P, R, beta and gamma of a trial step from t; the time after which a_new is to be found, theta h with Wilson."""
    stepping, newton = memory.stepping[0], memory.newton[0]
    is_first, h_before = stepping.dropped > 0, newton.h_past
    if begin_trial(stepping, newton, t):
        take_step(memory, h_before)
    elif is_first:
        copy(memory.f, memory.stages[OLD])
        newton.n_past = 0
    newton.h = h
    n_past = newton.n_past if is_same_length(h, newton.h_past) else 0
    length = newton.theta * h
    if newton.rule == HOUBOLT and n_past > 0:
        put_houbolt_rows(memory, h, n_past)
    elif newton.rule == PROPOSED and n_past > 0:
        put_proposed_rows(memory, h)
    else:
        put_newmark_rows(memory, length)
    return length


@routine
def end_step(memory, h):
    """After a_new has been found: that of t + h, and P and R of the step h itself. Whether it has changed."""
    newton, rows = memory.newton[0], memory.stages
    if newton.rule != WILSON:
        return False
    for i in range(rows.shape[1]):
        rows[NEW, i] = rows[OLD, i] + (rows[NEW, i] - rows[OLD, i]) / newton.theta
    put_newmark_rows(memory, h)
    return True


@routine
def integrate_powers(memory, first, h):
    """Work terms, which stand from component `first` on."""
    rule, rows = memory.newton[0].rule, memory.stages
    for i in range(first, memory.y.shape[0]):
        if memory.atol[i] == math.inf:
            rows[NEW, i] = memory.f_new[i]
            if rule == PROPOSED:
                memory.y_new[i] = rows[R, i] + memory.newton[0].gamma_of_states * h * memory.f_new[i]
            else:
                memory.y_new[i] = memory.y[i] + 0.5 * h * (memory.f[i] + memory.f_new[i])

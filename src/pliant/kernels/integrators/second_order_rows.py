"""What a step of a second-order method takes from the past. Imports _jit, algebra and system only.

Every method is, with a_new the only unknown,
    x_new = x moved along P + beta h^2 a_new,   v_new = R + gamma h a_new
P and R (rows of memory.stages), beta and gamma (of memory.newton) are known at the beginning of the step:
    Newmark   P = h v + h^2 (1/2 - beta) a,  R = v + h (1 - gamma) a; Fox-Euler is beta = 1/2, gamma = 1
    Wilson    Newmark (1/6, 1/2) over theta h; from the accelerations there those at t + h are interpolated
    Houbolt   value, rate and curvature at the end of the cubic through the last four positions; with equal steps
              P = 3/2 d - 1/2 d_before,  v_new = (11 (P + beta h^2 a_new) - 7 d + 2 d_before) / 6h,  beta = 1/2
    Proposed  P = h v + h^2 ((2 + g2)/6 a - g2/12 a_before),  R = v + h ((1 + g1)/2 a - g1/4 a_before),
              beta = (2 - g2)/12,  gamma = (2 - g1)/4; as printed gamma stands in place of gamma h
d, d_before are the last two increments. After a jump, or a step of another length, Proposed begins with a Newmark step
(1/6, 1/2); so does Houbolt after a jump, or a step much shorter than the next; its second step has
d_before = d - h^2 a_before. Friction states follow the rule of v, with Houbolt the trapezoidal rule. Transfer matrices:
a_new = A x_new + B, v_new = D x_new + E are A = 1/(beta h^2), B = -A (x + P), D = gamma/(beta h), E = R + gamma h B.
Where forces have changed between two steps (a command is held anew), Wilson and Houbolt keep their past: it becomes
that of motion which the new forces have always acted on and which has come to the same x and v. With D the change of f,
and K Newton's matrix, a += F, d -= h^2 F / 2, d_before -= 3 h^2 F / 2, F = K^-1 D: what is slow gets D, what is too
fast for the step moves to where the forces hold it, and does not ring.
References: Newmark (1959), Bathe and Wilson (1973), Houbolt (1950); Proposed: the thesis on transfer matrices.
"""

from pliant.kernels._jit import kernel, routine
from pliant.kernels.algebra.dense import copy
from pliant.kernels.integrators.newton import begin_trial
from pliant.system.memory import NEW_INPUT
from pliant.system.newton import Rule

WILSON, HOUBOLT, PROPOSED = int(Rule.WILSON), int(Rule.HOUBOLT), int(Rule.PROPOSED)

# rows of memory.stages: a, a_new, P, R, a of the step before; increments of the last two steps over their lengths;
# change of f by new forces; of Newton's method with exact slopes (second_order.py): a_new and f_new where it stands,
# and its correction
OLD, NEW, P, R, BEFORE, MOVE, MOVE_BEFORE, INPUT, POINT, POINT_RATE, DIRECTION = range(11)
SAME_LENGTH = 2e-6  # of steps: t rounds them, and the last before a stop is stretched
MAX_STEP_RATIO = 8.0  # of a step to the one before, up to which Houbolt's cubic does not magnify rounding


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


@kernel
def step_ratio(h, other):
    """Return other over h, exactly 1 for steps of the same length: coefficients then repeat to the bit."""
    return 1.0 if is_same_length(h, other) else other / h


@routine
def put_houbolt_rows(memory, h, n_past):
    """Put P and R of the cubic through the new position and the last three; steps may have any lengths."""
    newton, y, rows = memory.newton[0], memory.y, memory.stages
    n_y, h1 = y.shape[0], newton.h_past
    h2 = newton.h_before if n_past > 1 else h1
    # lengths over h, and lengths of two and three steps
    r1, r2 = step_ratio(h, h1), step_ratio(h, h2)
    two, three = 1.0 + r1, 1.0 + r1 + r2
    # a_new = 2 c + 2 (2 + r1) (c - c_before) / three,  c, c_before second divided differences of positions
    share = (2.0 + r1) / three
    of_before, of_a = share / (1.0 + share), 0.5 / (1.0 + share)
    # v_new = u + (two + 1) h c + two h (c - c_before) / three
    slope = two / three
    for i in range(newton.first_rate, n_y):
        u = rows[MOVE, i]
        u_before = rows[MOVE_BEFORE, i] if n_past > 1 else u - h1 * rows[BEFORE, i]
        # h c_before, and h c where a_new is 0
        bend_before = (u - u_before) / (r1 + r2)
        bend = of_before * bend_before
        rows[P, i] = h * (u + two * bend)
        rows[R, i] = u + (two + 1.0) * bend + slope * (bend - bend_before)
    for i in range(n_y - newton.n_states, n_y):
        rows[R, i] = y[i] + 0.5 * h * rows[OLD, i]
    set_coefficients(newton, of_a * two, of_a * (two + 1.0 + slope), 0.5)


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
    """Make the accepted step the past; h_before: length of the one before it."""
    newton, rows = memory.newton[0], memory.stages
    h = newton.h
    is_next = newton.n_past > 0 and (newton.rule == HOUBOLT or is_same_length(h, h_before))
    newton.n_past = newton.n_past + 1 if is_next else 1
    newton.h_before = h_before
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
    """Put P, R, beta and gamma of a trial step from t. Return the time after which a_new is to be found, theta h with
    Wilson."""
    stepping, newton = memory.stepping[0], memory.newton[0]
    keeps_past = newton.rule == WILSON or newton.rule == HOUBOLT
    newton.has_new_input = 1 if stepping.dropped == NEW_INPUT and keeps_past else 0
    if newton.has_new_input == 1:
        stepping.dropped = 0
    is_first, h_before = stepping.dropped > 0, newton.h_past
    if begin_trial(stepping, newton, t):
        take_step(memory, h_before)
    elif is_first:
        copy(memory.f, memory.stages[OLD])
        newton.n_past = 0
    newton.h = h
    if newton.has_new_input == 1:
        for i in range(memory.f.shape[0]):
            memory.stages[INPUT, i] = memory.f[i] - memory.f_new[i]
    return put_rows(memory, h)


@routine
def put_rows(memory, h):
    """Put P, R, beta and gamma of a step h; return the time after which a_new is to be found."""
    newton = memory.newton[0]
    n_past = newton.n_past
    if newton.rule == HOUBOLT and n_past > 0 and h <= MAX_STEP_RATIO * newton.h_past:
        put_houbolt_rows(memory, h, n_past)
    elif newton.rule == PROPOSED and n_past > 0 and is_same_length(h, newton.h_past):
        put_proposed_rows(memory, h)
    else:
        put_newmark_rows(memory, newton.theta * h)
    return newton.theta * h


@routine
def change_past(memory):
    """Make the past that of the new forces: INPUT has K^-1 times the change of f by them."""
    newton, rows = memory.newton[0], memory.stages
    h1, h2 = newton.h_past, newton.h_before if newton.n_past > 1 else newton.h_past
    for i in range(newton.first_rate, rows.shape[1]):
        change = rows[INPUT, i]
        rows[OLD, i] += change
        rows[BEFORE, i] += change
        rows[MOVE, i] -= 0.5 * h1 * change
        rows[MOVE_BEFORE, i] -= (h1 + 0.5 * h2) * change


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
def integrate_powers(memory, h):
    """Integrate the work terms."""
    newton, rows, y, y_new, f, f_new = memory.newton[0], memory.stages, memory.y, memory.y_new, memory.f, memory.f_new
    for i in range(newton.first_power, y.shape[0] - newton.n_states):
        rows[NEW, i] = f_new[i]
        if newton.rule == PROPOSED:
            y_new[i] = rows[R, i] + newton.gamma_of_states * h * f_new[i]
        else:
            y_new[i] = y[i] + 0.5 * h * (f[i] + f_new[i])

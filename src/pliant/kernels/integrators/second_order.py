"""Second-order methods of fixed steps: generalised-alpha, HHT, Newmark and its relatives. Imports _jit, algebra and
system only.

Symbols: a the algorithm's own accelerations, f = vdot of the equations of motion, P, R, beta, gamma of the method
(second_order_rows.py),
    (1 - alpha_m) a_new + alpha_m a = (1 - alpha_f) f_new + alpha_f f
    v_new = R + gamma h a_new,  q_new = q moved along P + beta h^2 a_new
Friction states follow the rule of v, work terms the trapezoidal rule (the rule of v where that is of third order).
Unknowns: a_new; Newton's matrix is (1 - alpha_m) - (1 - alpha_f) (gamma h J_v + beta h^2 J_q S), with q' = S v, of the
beginning of the step or of one before. Where that does not lead to the end of the step (a contact begins, friction
turns round, bodies turn far), the matrix is that of the end as it is known so far: differences of the equations of the
step themselves, at every iterate, and corrections are shortened until the next one is smaller.
References: Chung and Hulbert (1993); Arnold and Bruels (2007); moved along a velocity: Bruels and Cardona (2010); in
two parts, whose product has no error of third order in h: Celledoni, Marthinsen and Owren (2003).
"""

import math

from pliant.kernels._jit import DERIVATIVE, INTERPOLANT, SHIFT, STEPPER, kernel, routine
from pliant.kernels.algebra.dense import copy
from pliant.kernels.algebra.finite import ULP, larger_or_nan, zero_or_nan
from pliant.kernels.algebra.lu import lu
from pliant.kernels.integrators.multiplier_newton import add_multipliers, factor_multipliers, solve_blocks
from pliant.kernels.integrators.newton import MIN_COMPONENT, differentiate
from pliant.kernels.integrators.second_order_rows import (
    DIRECTION,
    INPUT,
    NEW,
    OLD,
    POINT,
    POINT_RATE,
    PROPOSED,
    P,
    R,
    begin_step,
    change_past,
    end_step,
    integrate_powers,
    is_same_length,
    put_rows,
)
from pliant.system.loop_tables import FORCE_AT_POINT, FORCE_AT_START, FORCE_CHANGE
from pliant.system.status import Status

call_derivative = DERIVATIVE.call
call_shift = SHIFT.call

OK, NOT_FINITE, NOT_CONVERGED = int(Status.OK), int(Status.NOT_FINITE), int(Status.NOT_CONVERGED)

MAX_ITERATIONS = 10
NEWTON_TOLERANCE = 0.01  # of the tolerances
ROUNDING_ULPS = 10.0  # below which no correction is asked for
DIVERGENCE_RATE = 0.99  # rate of convergence from which on Newton's method has failed
STAGNATION_RATE = 0.5  # rate of convergence from which on corrections may be those of rounding
MAX_ROUNDING_ULPS = 1e4  # of coordinates: what rounding, magnified by ill-conditioned loops, may correct in a step
REUSE_RATE = 0.1  # rate of convergence above which the Jacobian is formed anew
CONVERGED = -1  # beside the Status of an iteration
MAX_EXACT_ITERATIONS = 30
MIN_SHARE = 1e-3  # of a correction that is shortened
LEAST_DESCENT = 0.25  # of a share s of a correction: the next correction is smaller by this part of s at least


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
def put_correction(system, work, memory, h):
    """Put the correction of a_new into scratch[1], and correct the multipliers."""
    newton, a, b = memory.newton[0], memory.stages[OLD], memory.stages[NEW]
    f, f_new, active, r = memory.f, memory.f_new, memory.active, memory.scratch[1]
    n = memory.jacobian.shape[0] - newton.n_coordinates
    for k in range(n):
        i = active[k]
        r[k] = (1.0 - newton.alpha_f) * f_new[i] + newton.alpha_f * f[i]
        r[k] -= (1.0 - newton.alpha_m) * b[i] + newton.alpha_m * a[i]
    solve_blocks(memory, n, r)
    if work.calls[0].constraint_matrices != 0:
        add_multipliers(system, work, memory, h, r)


@routine
def correction_size(memory, h, y):
    """Return what the correction in scratch[1] changes y_new by, over the tolerances of y."""
    stepping, newton, active, mates, r = (
        memory.stepping[0],
        memory.newton[0],
        memory.active,
        memory.mates,
        memory.scratch[1],
    )
    m = memory.jacobian.shape[0]
    n = m - newton.n_coordinates
    size = 0.0
    for k in range(n):
        i = active[k]
        change = abs(gamma_of(newton, n, k) * h * r[k]) / (memory.atol[i] + stepping.rtol * abs(y[i]))
        size = larger_or_nan(size, change) + zero_or_nan(r[k])
    for k in range(mates.shape[0]):
        i = active[m + k]
        change = abs(newton.beta * h * h * r[mates[k]]) / (memory.atol[i] + stepping.rtol * abs(y[i]))
        size = larger_or_nan(size, change)
    return size


@routine
def correct(system, work, memory, h):
    """Correct a_new once; return the change of y_new over its tolerances."""
    put_correction(system, work, memory, h)
    b, r, active = memory.stages[NEW], memory.scratch[1], memory.active
    for k in range(memory.jacobian.shape[0] - memory.newton[0].n_coordinates):
        b[active[k]] += r[k]
    return correction_size(memory, h, memory.y_new)


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
def is_rounding(system, work, memory, h):
    """Return whether the correction in scratch[1] is rounding. Where coordinates, or loops, are rounded by e, a_new
    changes by e / (beta h^2) at most, however stiff forces are; no shorter step helps against that."""
    newton, active, r, n_q = memory.newton[0], memory.active, memory.scratch[1], system.world[0].n_q
    n, of_loops = memory.jacobian.shape[0] - newton.n_coordinates, 0.0
    if work.calls[0].constraint_matrices != 0:
        for k in range(len(system.constraints)):
            of_loops = max(of_loops, system.constraints[k].scale)
    for k in range(n):
        i = active[k]
        y, j = abs(memory.y_new[i]), i - n_q
        change, rounded = abs(gamma_of(newton, n, k) * h * r[k]), y
        if 0 <= j < len(system.dofs) and newton.beta > 0.0:
            size = max(system.dofs[j].velocity_scale, of_loops)
            if system.dofs[j].q >= 0:
                size = max(size, abs(memory.y_new[system.dofs[j].q]))
            rounded += size * newton.gamma / (newton.beta * h)
        if not change <= MAX_ROUNDING_ULPS * ULP * rounded:
            return False
    return True


@kernel
def newton_tolerance(stepping):
    """Return how large what is left of a_new may be, over the tolerances."""
    return max(NEWTON_TOLERANCE, ROUNDING_ULPS * ULP / stepping.rtol)


@routine
def iterate(system, work, memory, t, h, starts_at_rest):
    """Newton's method for a_new; leaves y_new and f_new."""
    newton = memory.newton[0]
    tolerance = newton_tolerance(memory.stepping[0])
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
        is_lost = newton.rate > STAGNATION_RATE and is_rounding(system, work, memory, h)
        if newton.rate >= DIVERGENCE_RATE and size > tolerance and not is_lost:
            break
        before = size
        is_converged = error_left(newton, size) <= tolerance or is_lost
    return NOT_CONVERGED


# --- exact slopes -------------------------------------------------------------------------------------------------


@kernel
def difference_step(system, memory, i):
    """Return the change of velocity or friction state i of y over which differences are taken."""
    y, j = abs(memory.y_new[i]), i - system.world[0].n_q
    if 0 <= j < len(system.dofs):
        return math.sqrt(ULP) * max(y, system.dofs[j].velocity_scale)
    return math.sqrt(ULP * max(MIN_COMPONENT, y))


@routine
def factor_at_end(system, work, memory, t, h):
    """Put Newton's matrix at (t + h, y_new) and its factors, by differences of f_new over a_new; all else stays."""
    newton, b, A, active = memory.newton[0], memory.stages[NEW], memory.factor[0], memory.active
    f_new, base = memory.f_new, memory.stages[POINT_RATE]
    n = memory.jacobian.shape[0] - newton.n_coordinates
    copy(f_new, base)
    for column in range(n):
        i = active[column]
        a = b[i]
        b[i] += math.copysign(difference_step(system, memory, i) / (gamma_of(newton, n, column) * h), base[i])
        change = b[i] - a
        status = evaluate_end(system, work, memory, t, h)
        b[i] = a
        if status != OK:
            return status
        for row in range(n):
            A[row, column] = -(1.0 - newton.alpha_f) * (f_new[active[row]] - base[active[row]]) / change
        A[column, column] += 1.0 - newton.alpha_m
    status = evaluate_end(system, work, memory, t, h)
    newton.h_factored = h
    newton.n_jacobians += 1
    newton.n_factors += 1
    newton.is_coupled = is_coupled(memory, n)
    if status == OK and lu(A, memory.pivots[0], n) >= 0:
        return NOT_CONVERGED
    if status == OK and work.calls[0].constraint_matrices != 0:
        return factor_multipliers(system, work, memory, t + h, h)
    return status


@routine
def remember_forces(work, row):
    """Copy the multipliers into a row of work.constraint_vectors."""
    for k in range(len(work.constraints)):
        work.constraint_vectors[row, k] = work.constraints[k].force


@routine
def restore_forces(work, row):
    """Put the multipliers back from a row of work.constraint_vectors."""
    for k in range(len(work.constraints)):
        work.constraints[k].force = work.constraint_vectors[row, k]


@routine
def remember_direction(work, memory, n):
    """Remember the correction of a_new and of the multipliers that has just been found."""
    for k in range(n):
        memory.stages[DIRECTION, memory.active[k]] = memory.scratch[1, k]
    forces = work.constraint_vectors
    for k in range(len(work.constraints)):
        forces[FORCE_CHANGE, k] = work.constraints[k].force - forces[FORCE_AT_POINT, k]


@routine
def take_share(work, memory, n, share):
    """Put a_new and the multipliers a share of the correction away from the point."""
    rows, forces = memory.stages, work.constraint_vectors
    for k in range(n):
        i = memory.active[k]
        rows[NEW, i] = rows[POINT, i] + share * rows[DIRECTION, i]
    for k in range(len(work.constraints)):
        work.constraints[k].force = forces[FORCE_AT_POINT, k] + share * forces[FORCE_CHANGE, k]


@routine
def descend(system, work, memory, t, h):
    """Take the largest share of the correction after which the next one, by the same matrix, is smaller, in tolerances
    that stay. Return (status, how much smaller)."""
    share, tolerance = 1.0, newton_tolerance(memory.stepping[0])
    n = memory.jacobian.shape[0] - memory.newton[0].n_coordinates
    size = correction_size(memory, h, memory.y)
    if not size < math.inf:
        return NOT_FINITE, 1.0
    remember_direction(work, memory, n)
    while share > MIN_SHARE:
        take_share(work, memory, n, share)
        if evaluate_end(system, work, memory, t, h) == OK:
            put_correction(system, work, memory, h)
            next_size, is_small = correction_size(memory, h, memory.y), False
            if share == 1.0:
                is_lost = next_size > STAGNATION_RATE * size and is_rounding(system, work, memory, h)
                is_small = correction_size(memory, h, memory.y_new) <= tolerance or is_lost
            if next_size <= (1.0 - LEAST_DESCENT * share) * size or is_small:
                # multipliers without the next correction
                take_share(work, memory, n, share)
                return (CONVERGED if is_small else OK), (next_size / size if size > 0.0 else 0.0)
        share *= 0.5
    return NOT_CONVERGED, 1.0


@routine
def iterate_exactly(system, work, memory, t, h, starts_at_rest):
    """Solve for a_new by Newton's method with the slopes of every iterate; leaves y_new and f_new."""
    newton = memory.newton[0]
    predict(memory, h, starts_at_rest)
    status = evaluate_end(system, work, memory, t, h)
    for _ in range(MAX_EXACT_ITERATIONS):
        if status == OK:
            status = factor_at_end(system, work, memory, t, h)
        if status != OK:
            return status
        newton.n_iterations += 1
        copy(memory.stages[NEW], memory.stages[POINT])
        remember_forces(work, FORCE_AT_POINT)
        put_correction(system, work, memory, h)
        status, newton.rate = descend(system, work, memory, t, h)
        if status == CONVERGED:
            # y_new and f_new are those of a_new
            return OK
    return status if status != OK else NOT_CONVERGED


@routine
def solve_exactly(system, work, memory, t, h):
    """Find a_new, y_new and f_new where a Jacobian of the beginning of the step has not led to them: from velocities as
    they are, then from accelerations as they are."""
    for attempt in range(2):
        restore_forces(work, FORCE_AT_START)
        status = iterate_exactly(system, work, memory, t, h, attempt == 0)
        if status == OK:
            return OK
    memory.newton[0].h_factored = 0.0
    return status


@routine
def ready_matrix(system, work, memory, t, h):
    """Bring the factors of Newton's matrix to this step; the Jacobian may be old."""
    newton = memory.newton[0]
    if newton.needs_jacobian == 1 and newton.is_current == 0:
        status = differentiate(system, work, memory, t)
        if status != OK:
            return status
    if not is_same_length(h, newton.h_factored) and not factor_matrix(memory, h):
        newton.h_factored = 0.0
        return NOT_CONVERGED
    return OK


@routine
def solve_end(system, work, memory, t, h):
    """a_new, y_new and f_new, with a Jacobian as old as it may be."""
    newton = memory.newton[0]
    # a need not be one of slow motion at the beginning
    starts_at_rest = newton.h_past == 0.0
    remember_forces(work, FORCE_AT_START)
    while True:
        status = ready_matrix(system, work, memory, t, h)
        if status != OK:
            return status
        status = iterate(system, work, memory, t, h, starts_at_rest)
        if status == OK:
            newton.needs_jacobian = 1 if newton.rate > REUSE_RATE else 0
            return OK
        newton.n_failures += 1
        restore_forces(work, FORCE_AT_START)
        if newton.is_current == 1 and starts_at_rest:
            if solve_exactly(system, work, memory, t, h) == OK:
                return OK
            return status
        starts_at_rest = True
        newton.needs_jacobian = 1


@routine
def respond_to_input(memory):
    """Make INPUT, the change of f by new forces, what the step can follow of it: times the inverse of Newton's
    matrix."""
    rows, active, r = memory.stages, memory.active, memory.scratch[1]
    n = memory.jacobian.shape[0] - memory.newton[0].n_coordinates
    for k in range(n):
        r[k] = rows[INPUT, active[k]]
    solve_blocks(memory, n, r)
    for k in range(n):
        rows[INPUT, active[k]] = r[k]


@kernel(STEPPER)
def step(system, work, memory, t, h):
    """One step from (y, f) at t into (y_new, f_new) at t + h."""
    length = begin_step(memory, t, h)
    memory.stepping[0].error = 0.0
    copy(memory.y, memory.y_new)
    status = OK
    if memory.newton[0].has_new_input == 1:
        status = ready_matrix(system, work, memory, t, length)
        if status == OK:
            respond_to_input(memory)
            change_past(memory)
            put_rows(memory, h)
    if status == OK:
        status = solve_end(system, work, memory, t, length)
    if status == OK and end_step(memory, h):
        status = evaluate_end(system, work, memory, t, h)
    if status == OK:
        integrate_powers(memory, h)
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

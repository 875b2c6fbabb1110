"""Adams-Bashforth-Moulton steps as predictor and corrector, variable step and order, and their dense output.

The derivative is the polynomial P through its last k values; with the predicted one it has degree k and gives the
corrector, of order k + 1. All is written in divided differences D_i = f[u_n, .., u_(n-i)] and the integrals
    I_i = int_t^(t+h) prod_(j<i) (s + d_j) dt,   J_i = int_t^(t+h) (t + h - t') prod_(j<i) (s + d_j) dt',
    s = u - u_n,   d_j = u_n - u_(n-j)
which Gauss's rule gives exactly. Error and order as Shampine and Gordon choose them.
The variable u is t. After a force has begun at t_0 that grows as a fractional power of t - t_0, as Hertz's does, no
polynomial in t follows it: then u is the root of t - t_0, in which 1.5 or 2.5 is a whole power and others do less harm.
With fixed steps the order is max_order from the first step on: until there are as many points, steps are those of
Gragg's extrapolated midpoint rule, of an order that is not lower.
A coordinate whose rate is a velocity (memory.pairs) is integrated twice, as Stoermer and Cowell do:
q_new = q + h v + sum D_i J_i with the differences of the acceleration. It is one order more accurate, and oscillations
remain stable up to omega h = 0.6 and more at order 14, where integrating once ends at 0.02.
The second evaluation (PECE) keeps the method stable. Where the kernel `nearby` says what it would find, but for a small
part, it is left out; how large that part is, is measured every CHECK_STEPS steps.
References: Hairer, Norsett, Wanner I, II.9 (extrapolation), III.5 (variable step size), III.7 (order), III.10 (second
order); Shampine, Gordon 1975; Berry, A Variable-Step Double-Integration Multi-Step Integrator, 2004."""

import math

from pliant.kernels._jit import DERIVATIVE, INTERPOLANT, NEARBY, STEPPER, kernel, routine
from pliant.kernels.algebra.dense import copy
from pliant.kernels.algebra.finite import is_finite, larger_or_nan
from pliant.kernels.algebra.vec3 import index
from pliant.kernels.integrators.adams_table import (
    BASIS,
    BASIS_TWICE,
    CONTROLLED,
    COUNT,
    FIRST,
    HIGHEST_FIXED,
    INTEGRAL,
    IS_ROOT,
    IS_STARTING,
    LEFT,
    MAX_ORDER,
    N_TERMS,
    NODES,
    ORDER,
    ORIGIN,
    PAST,
    PLACES,
    PRODUCT,
    SINGLE,
    STEPS,
    TOP,
    TRUST,
    TWICE,
    USED,
    VALUE,
    VALUE_TWICE,
    VALUES,
    WEIGHTS,
)
from pliant.system.status import Status
from pliant.system.work import ABOUT_AT_END, AT_END, WIDTH

# numba sees the callers as names of this module
call_derivative = DERIVATIVE.call
call_nearby = NEARBY.call

OK, NOT_FINITE = int(Status.OK), int(Status.NOT_FINITE)

TARGET = 0.12  # error, in tolerances, that the next step aims at: 3 % of the steps are rejected, at 0.3 it is 13 %
SHRINK, GROWTH = 0.5, 2.0  # factors between steps
EARLY, EARLY_GROWTH = 8, 4.0  # the largest while there are so many points only: the first step is that of order 1
TIMID = 4  # orders up to which steps are so short that dense output, in powers of t, follows any factor in its root
FIRST_CHECK = 8  # steps before `nearby` is first held against an evaluation: low orders come first
CHECK_STEPS, RETRY_STEPS = 50, 20  # between two such comparisons: after one that was good, and after one that was not
MAX_NEGLECTED = 0.1  # of what the second evaluation changes: then that may be left out


@routine
def place_of(facts, t):
    """u at time t."""
    return math.sqrt(t - facts[ORIGIN]) if facts[IS_ROOT] == 1 else t


@routine
def way_to(memory, t, h):
    """What u changes by from t to t + h."""
    facts = memory.c
    return place_of(facts, t + h) - memory.A[PAST, 0] if facts[IS_ROOT] == 1 else h


@routine
def add_point(memory, t):
    """The end of the last step becomes the newest point: divided differences, and places."""
    differences, past, facts = memory.stages, memory.A[PAST], memory.c
    count, first = int(facts[COUNT]), int(facts[FIRST])
    last = min(count, differences.shape[0] - 3)
    for j in range(last, 0, -1):
        past[j] = past[j - 1]
    past[0] = place_of(facts, t)
    newer = memory.scratch[1]
    copy(memory.f, newer)
    for p in range(memory.pairs.shape[0]):
        # nothing of a paired coordinate is integrated once
        newer[memory.pairs[p, 0]] = 0.0
    single = newer[first:]  # a view: indices from 0 on, which are known not to be negative, make loops fast
    # two differences at a time: passes have their price
    for j in range(0, last - 1, 2):
        rate, rate2 = 1.0 / (past[0] - past[j + 1]), 1.0 / (past[0] - past[j + 2])
        row, row2 = differences[j][first:], differences[j + 1][first:]
        for i in range(single.shape[0]):
            newest = single[i]
            newer_slope = (newest - row[i]) * rate
            row[i] = newest
            single[i] = (newer_slope - row2[i]) * rate2
            row2[i] = newer_slope
    if last % 2 == 1:
        rate, row = 1.0 / (past[0] - past[last]), differences[last - 1][first:]
        for i in range(single.shape[0]):
            older = row[i]
            row[i] = single[i]
            single[i] = (single[i] - older) * rate
    copy(newer, differences[last])
    facts[COUNT] = last + 1


@routine
def first_single(pairs):
    """Index in y before which there are paired coordinates only."""
    first = 0
    while first < pairs.shape[0] and pairs[first, 0] == first:
        first += 1
    return first


@routine
def register_start(first, n):
    """The last index up to the first from which on n components fill whole registers; else the first."""
    start = n - (n - first + WIDTH - 1) // WIDTH * WIDTH
    return start if start >= 0 else first


@routine
def controlled_end(atol, pairs):
    """Index after the last component that has a tolerance, or is one of a pair."""
    end = atol.shape[0]
    while end > 0 and atol[end - 1] == math.inf:
        end -= 1
    for p in range(pairs.shape[0]):
        end = max(end, pairs[p, 0] + 1, pairs[p, 1] + 1)
    return end


@routine
def begin_trial(memory, t):
    """Take over the last step if it was accepted; begin anew after a jump."""
    stepping, facts = memory.stepping[0], memory.c
    if stepping.dropped != 0:
        stepping.dropped = 0
        facts[COUNT], facts[ORDER], facts[IS_STARTING] = 0, 1, 1
        facts[SINGLE], facts[CONTROLLED] = first_single(memory.pairs), controlled_end(memory.atol, memory.pairs)
        facts[FIRST] = register_start(int(facts[SINGLE]), memory.y.shape[0])
        facts[TRUST] = -FIRST_CHECK
        facts[ORIGIN] = stepping.root_time
        facts[IS_ROOT] = 1 if stepping.root_time > -math.inf and stepping.is_fixed == 0 else 0
        add_point(memory, t)
    elif stepping.n_steps > facts[STEPS]:
        add_point(memory, t)
    facts[STEPS] = stepping.n_steps
    facts[ORDER] = min(facts[ORDER], facts[COUNT])


@routine
def put_nodes(memory, way):
    """At Gauss's nodes: weight times dt, and the time from there to the end of the way."""
    values, left, u = memory.A[VALUES], memory.A[LEFT], memory.A[PAST, 0]
    is_root = memory.c[IS_ROOT] == 1
    for node in range(len(NODES)):
        s = way * NODES[node]
        values[node], left[node] = way * WEIGHTS[node], way - s
        if is_root:
            # t = origin + u^2
            values[node] *= 2.0 * (u + s)
            left[node] *= 2.0 * u + way + s


@routine
def put_integrals(memory, way, last):
    """I_0 .. I_last, J_0 .. J_last, and prod_(j<i) (way + d_j)."""
    past, integral, twice, product = memory.A[PAST], memory.A[INTEGRAL], memory.A[TWICE], memory.A[PRODUCT]
    values, left = memory.A[VALUES], memory.A[LEFT]
    put_nodes(memory, way)
    whole = 1.0
    for i in range(last + 1):
        d, once, second = past[0] - past[i], 0.0, 0.0
        # nodes side by side: products along i, of which each waits for the one before, are made for all of them at once
        for node in range(len(NODES)):
            value = values[node]
            once += value
            second += left[node] * value
            values[node] = value * (way * NODES[node] + d)
        integral[i], twice[i], product[i] = once, second, whole
        whole *= way + d


@kernel
def four(values, j, k):
    """Those from j on, zeros from k on."""
    last = k - 1
    return (
        values[j],
        values[j + 1] if j < last else 0.0,
        values[j + 2] if j + 1 < last else 0.0,
        values[j + 3] if j + 2 < last else 0.0,
    )


@kernel
def predict(memory, h, k):
    """y_new = y + sum of D_i I_i, of paired coordinates y + h v + sum of D_i J_i, and P at the end in TOP; i < k."""
    differences, integral, twice, product = memory.stages, memory.A[INTEGRAL], memory.A[TWICE], memory.A[PRODUCT]
    first, pairs, ways = int(memory.c[FIRST]), memory.pairs, memory.scratch[1]
    y, y_new, end, way = memory.y[first:], memory.y_new[first:], memory.stages[TOP][first:], ways[first:]
    for i in range(y.shape[0]):
        y_new[i] = y[i]
        end[i] = 0.0
        way[i] = h * y[i]
    # four differences at a time: sums are read and written a fourth as often
    for j in range(0, k, 4):
        row, row2 = differences[index(j)][first:], differences[index(min(j + 1, k - 1))][first:]
        row3, row4 = differences[index(min(j + 2, k - 1))][first:], differences[index(min(j + 3, k - 1))][first:]
        a, a2, a3, a4 = four(integral, j, k)
        b, b2, b3, b4 = four(twice, j, k)
        c, c2, c3, c4 = four(product, j, k)
        for i in range(y.shape[0]):
            d, d2, d3, d4 = row[i], row2[i], row3[i], row4[i]
            y_new[i] += a * d + a2 * d2 + (a3 * d3 + a4 * d4)
            end[i] += c * d + c2 * d2 + (c3 * d3 + c4 * d4)
            way[i] += b * d + b2 * d2 + (b3 * d3 + b4 * d4)
    for p in range(pairs.shape[0]):
        memory.y_new[pairs[p, 0]] = memory.y[pairs[p, 0]] + ways[pairs[p, 1]]


@kernel
def correct(memory, predicted, k):
    """TOP = D_k with the predicted derivative; y_new += TOP I_k, of paired coordinates TOP J_k."""
    first, top, y_new, pairs = int(memory.c[FIRST]), memory.stages[TOP], memory.y_new, memory.pairs
    scale, once, twice = 1.0 / memory.A[PRODUCT, k], memory.A[INTEGRAL, k], memory.A[TWICE, k]
    predicted_y = memory.scratch[2]
    rate, top_single, y_single = predicted[first:], top[first:], y_new[first:]
    for i in range(rate.shape[0]):
        top_single[i] = (rate[i] - top_single[i]) * scale
        y_single[i] += once * top_single[i]
    for p in range(pairs.shape[0]):
        i = pairs[p, 0]
        top[i] = 0.0
        y_new[i] = predicted_y[i] + twice * top[pairs[p, 1]]


@routine
def error_weights(integral, way, k, past, has_more):
    """What the errors of orders k - 1, k and k + 1 are of D_(k-1), D_k and D_(k+1) with the predicted derivative."""
    own = integral[k] - (way + (past[0] - past[k - 1])) * integral[k - 1]
    below = integral[k - 1] - (way + (past[0] - past[k - 2])) * integral[k - 2] if k > 1 else 0.0
    above = integral[k + 1] - (way + (past[0] - past[k])) * integral[k] if has_more else 0.0
    return below, own, above


@kernel
def put_weights(rtol, y, y_new, atol, weights):
    """1 / tolerance of every component; 0 where it has none, or an infinite one."""
    for i in range(weights.shape[0]):
        size = atol[i] + rtol * max(abs(y[i]), abs(y_new[i]))
        weights[i] = 1.0 / size if size > 0.0 else 0.0


@kernel
def error_norms(memory, way, k, has_more):
    """Errors of orders k - 1, k and k + 1 over their tolerances; infinite where they cannot be known."""
    stepping, y, y_new, atol, pairs = memory.stepping[0], memory.y, memory.y_new, memory.atol, memory.pairs
    differences, past, top = memory.stages, memory.A[PAST], memory.stages[TOP]
    reach = way + (past[0] - past[k - 1])
    beyond = 1.0 / (way + (past[0] - past[k])) if has_more else 0.0
    below, own, above = error_weights(memory.A[INTEGRAL], way, k, past, has_more)
    below_q, own_q, above_q = error_weights(memory.A[TWICE], way, k, past, has_more)
    lower, norm, higher = 0.0, 0.0, 0.0
    newest, newer, end = differences[k], differences[k - 1], int(memory.c[CONTROLLED])
    weights = memory.scratch[1][:end]
    put_weights(stepping.rtol, y, y_new, atol, weights)
    for m in range(int(memory.c[SINGLE]), end):
        j = index(m)
        weight = weights[j]
        norm = larger_or_nan(norm, abs(own * top[j]) * weight)
        lower = max(lower, abs(below * (newer[j] + reach * top[j])) * weight)
        higher = max(higher, abs(above * (top[j] - newest[j]) * beyond) * weight)
    for p in range(pairs.shape[0]):
        i, j = index(pairs[p, 0]), index(pairs[p, 1])
        weight = weights[i]
        norm = larger_or_nan(norm, abs(own_q * top[j]) * weight)
        lower = max(lower, abs(below_q * (newer[j] + reach * top[j])) * weight)
        higher = max(higher, abs(above_q * (top[j] - newest[j]) * beyond) * weight)
    return lower if k > 1 else math.inf, norm, higher if has_more else math.inf


@routine
def step_factor(error, order):
    """Factor to a step whose error at this order is TARGET."""
    return (TARGET / max(error, 1e-12)) ** (1.0 / (order + 1.0))


@routine
def stretched(memory, h, way, is_good, factor):
    """Factor between steps in t that is `factor` between those in u, or less."""
    if memory.c[IS_ROOT] == 0:
        return factor
    start = memory.A[PAST, 0] + (way if is_good else 0.0)
    if memory.c[ORDER] > TIMID:
        # u at most doubles
        factor = min(factor, start / way)
    # (u + factor way)^2 - u^2
    return factor * way * (2.0 * start + factor * way) / h


@routine
def choose(memory, h, way, lower, norm, higher):
    """Order and length of the next step."""
    stepping, facts = memory.stepping[0], memory.c
    k = int(facts[ORDER])
    order = k - 1 if k > 1 and lower <= norm else k
    factor = step_factor(norm if order == k else lower, order)
    is_good = norm <= 1.0
    if not is_good or order < k or k >= facts[MAX_ORDER]:
        facts[IS_STARTING] = 0
    if is_good and facts[IS_STARTING] == 1:
        factor, order = max(factor, GROWTH), k + 1
    elif is_good and order == k and k < facts[MAX_ORDER] and higher < math.inf:
        longer = step_factor(higher, k + 1)
        if longer > factor:
            factor, order = longer, k + 1
    facts[ORDER] = order
    growth = EARLY_GROWTH if facts[COUNT] <= EARLY else GROWTH
    stepping.factor = stretched(memory, h, way, is_good, min(max(factor, SHRINK), growth))


@kernel
def neglected_part(memory, predicted, approximate):
    """Of the change that the second evaluation makes, in tolerances: what `nearby` has not seen. Coordinates do not
    count: it knows their rates."""
    stepping, y, f_new, atol = memory.stepping[0], memory.y_new, memory.f_new, memory.atol
    change, rest = 0.0, 0.0
    for i in range(memory.newton[0].first_rate, y.shape[0]):
        size = atol[i] + stepping.rtol * abs(y[i])
        if size > 0.0 and size < math.inf:
            change = max(change, abs(f_new[i] - predicted[i]) / size)
            rest = larger_or_nan(rest, abs(f_new[i] - approximate[i]) / size)
    return rest / change if change > 0.0 else 1.0


@routine
def evaluate_again(system, work, memory, t):
    """f_new at the corrected y_new: by `nearby` where that is trusted, else by an evaluation, against which it is
    held from time to time."""
    stepping, facts, calls = memory.stepping[0], memory.c, work.calls[0]
    predicted, predicted_y, approximate = memory.scratch[0], memory.scratch[2], memory.scratch[1]
    may_trust = calls.nearby != 0 and stepping.is_fixed == 0
    if may_trust and facts[TRUST] > 0:
        facts[TRUST] -= 1
        work.run[0].is_at_end = ABOUT_AT_END
        return call_nearby(calls.nearby, (system, work, t, predicted_y, predicted, memory.y_new, memory.f_new))
    is_check = may_trust and facts[TRUST] == 0
    if is_check:
        # before the evaluation, which makes new factors
        call_nearby(calls.nearby, (system, work, t, predicted_y, predicted, memory.y_new, approximate))
    elif may_trust:
        facts[TRUST] += 1
    status = call_derivative(calls.derivative, (system, work, t, memory.y_new, memory.f_new))
    stepping.n_evaluations += 1
    if status != OK:
        return status
    if is_check:
        is_good = neglected_part(memory, predicted, approximate) <= MAX_NEGLECTED
        facts[TRUST] = CHECK_STEPS if is_good else -RETRY_STEPS
    work.run[0].is_at_end = AT_END
    return OK


@routine
def midpoint_rule(system, work, memory, t, h, n, end):
    """Integrate from (y, f) at t over h by n short steps of the midpoint rule, n even, into end."""
    short, first, x, rate = h / n, memory.scratch[0], memory.scratch[1], memory.scratch[2]
    copy(memory.y, first)
    for i in range(x.shape[0]):
        x[i] = memory.y[i] + short * memory.f[i]
    for k in range(1, n):
        status = call_derivative(work.calls[0].derivative, (system, work, t + k * short, x, rate))
        memory.stepping[0].n_evaluations += 1
        if status != OK:
            return status
        for i in range(x.shape[0]):
            last = x[i]
            x[i] = first[i] + 2.0 * short * rate[i]
            first[i] = last
    copy(x, end)
    return OK


@routine
def make_start_step(system, work, memory, t, h, order):
    """Make a step of at least this order without a past, by extrapolating the midpoint rule to short steps of no
    length: its error has even powers only. Rows of memory.stages from TOP down hold the extrapolations; those of
    differences end before them."""
    rows, n_rows = memory.stages, (order + 1) // 2
    for j in range(n_rows):
        n = 2 * (j + 1)
        status = midpoint_rule(system, work, memory, t, h, n, rows[TOP - j])
        if status != OK:
            return status
        # Neville's scheme: the best one of so many comes to stand in the last row
        for l in range(j - 1, -1, -1):
            row, better, part = rows[TOP - l], rows[TOP - l - 1], (n / (2.0 * (l + 1))) ** 2 - 1.0
            for i in range(row.shape[0]):
                row[i] = better[i] + (better[i] - row[i]) / part
    copy(rows[TOP], memory.y_new)
    memory.c[USED], memory.stepping[0].error = 0, 0.0
    status = call_derivative(work.calls[0].derivative, (system, work, t + h, memory.y_new, memory.f_new))
    memory.stepping[0].n_evaluations += 1
    if status != OK:
        return status
    return OK if is_finite(memory.y_new) and is_finite(memory.f_new) else NOT_FINITE


@kernel(STEPPER)
def step(system, work, memory, t, h):
    """One trial step from (y, f) at t into (y_new, f_new) at t + h; stepping.error is its error norm."""
    stepping, facts = memory.stepping[0], memory.c
    begin_trial(memory, t)
    k = int(facts[ORDER])
    if stepping.is_fixed == 1:
        k = int(min(facts[MAX_ORDER], HIGHEST_FIXED))
        if facts[COUNT] < k:
            return make_start_step(system, work, memory, t, h, k)
    has_more = facts[COUNT] > k and k < facts[MAX_ORDER]
    facts[USED] = k
    way = way_to(memory, t, h)
    put_integrals(memory, way, k + 1 if has_more else k)
    predict(memory, h, k)
    predicted = memory.scratch[0]
    status = call_derivative(work.calls[0].derivative, (system, work, t + h, memory.y_new, predicted))
    stepping.n_evaluations += 1
    if status != OK:
        facts[IS_STARTING], stepping.factor = 0, 0.0
        return status
    copy(memory.y_new, memory.scratch[2])
    correct(memory, predicted, k)
    stepping.error = 0.0
    if stepping.is_fixed == 0:
        lower, norm, higher = error_norms(memory, way, k, has_more)
        allowance = 1.0 + work.dead_point[0].error_allowance
        stepping.error = norm / allowance
        if not math.isfinite(norm):
            stepping.factor = 0.0
            return NOT_FINITE
        choose(memory, h, way, lower / allowance, norm / allowance, higher / allowance)
        if stepping.error > 1.0:
            return OK
    status = evaluate_again(system, work, memory, t + h)
    if status != OK:
        return status
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
def put_basis(memory, h, k):
    """Nested coefficients of the integral of prod_(j<i) (s + d_j) over s from 0 to theta h, once and twice; i <= k."""
    past, product = memory.A[PAST], memory.A[PRODUCT]
    for j in range(k + 2):
        product[j] = 0.0
    product[0] = 1.0
    for i in range(k + 1):
        terms, terms_twice = memory.D[BASIS + i], memory.D[BASIS_TWICE + i]
        for j in range(terms.shape[0]):
            terms[j] = 0.0
            terms_twice[j] = 0.0
        for j in range(i + 1):
            terms[j + 1] = h * product[j] / (j + 1.0)
            terms_twice[j + 2] = h * terms[j + 1] / (j + 2.0)
        put_nested(terms, i + 1)
        put_nested(terms_twice, i + 2)
        # times (theta h + d_i)
        for j in range(i + 1, 0, -1):
            product[j] = product[j] * (past[0] - past[i]) + h * product[j - 1]
        product[0] *= past[0] - past[i]


@routine
def put_values(memory, t, h, k):
    """The integrals over s from 0 to every one of PLACES, in rows; columns i <= k, zeros beyond."""
    integral, twice = memory.A[INTEGRAL], memory.A[TWICE]
    for m in range(N_TERMS):
        values, values_twice = memory.D[VALUE + m], memory.D[VALUE_TWICE + m]
        put_integrals(memory, way_to(memory, t, PLACES[m] * h) if m > 0 else 0.0, k)
        for i in range(values.shape[0]):
            values[i], values_twice[i] = (integral[i], twice[i]) if i <= k else (0.0, 0.0)


@routine
def put_newton(values):
    """From values at PLACES, in rows, to the coefficients of Newton's form at the places 0, 1, 0, 1, .."""
    last = values.shape[0] - 1
    for j in range(1, last + 1):
        for m in range(last, j - 1, -1):
            row, before, rate = values[m], values[m - 1], 1.0 / (PLACES[m] - PLACES[m - j])
            for i in range(row.shape[0]):
                row[i] = (row[i] - before[i]) * rate
    # new places, the last one first, before all but 0 and 1: what is there then are those from n + 1 on, then PLACES
    for n in range(last - 1, 1, -1):
        for m in range(last - 1, 1, -1):
            old = PLACES[m + n - last + 1] if m + n > last else float((m + n - 1) % 2)
            row, after, gap = values[m], values[m + 1], n % 2 - old
            for i in range(row.shape[0]):
                row[i] += gap * after[i]


@routine
def put_root_basis(memory, t, h, k):
    """put_basis where s is a root of time: polynomials in theta through the values at PLACES."""
    table = memory.D
    put_values(memory, t, h, k)
    put_newton(table[VALUE:VALUE_TWICE])
    put_newton(table[VALUE_TWICE:])
    for m in range(N_TERMS):
        # factors theta - 1 become 1 - theta
        sign = 1.0 if m // 2 % 2 == 0 else -1.0
        for i in range(k + 1):
            table[BASIS + i, m] = sign * table[VALUE + m, i]
            table[BASIS_TWICE + i, m] = sign * table[VALUE_TWICE + m, i]


@routine
def put_cubic(memory, h):
    """Put the dense output of a step without a past: the cubic through both ends and their rates."""
    r = memory.dense
    for i in range(r.shape[1]):
        change = memory.y_new[i] - memory.y[i]
        r[0, i] = memory.y[i]
        r[1, i] = change
        r[2, i] = h * memory.f[i] - change
        r[3, i] = change - h * memory.f_new[i] - r[2, i]
        for m in range(4, r.shape[0]):
            r[m, i] = 0.0


@kernel(INTERPOLANT)
def interpolate(system, work, memory, t, h):
    """Dense output of the step just made: the polynomials that the corrector integrates."""
    if memory.c[USED] == 0:
        put_cubic(memory, h)
        return OK if is_finite(memory.dense[1]) else NOT_FINITE
    r, k, pairs, first = memory.dense, int(memory.c[USED]), memory.pairs, int(memory.c[FIRST])
    is_root = memory.c[IS_ROOT] == 1
    if is_root:
        put_root_basis(memory, t, h, k)
    else:
        put_basis(memory, h, k)
    copy(memory.y, r[0])
    for m in range(1, r.shape[0]):
        for i in range(r.shape[1]):
            r[m, i] = 0.0
    for p in range(pairs.shape[0]):
        r[1, pairs[p, 0]] = h * memory.y[pairs[p, 1]]
    for j in range(k + 1):
        weights, weights_twice = memory.D[BASIS + j], memory.D[BASIS_TWICE + j]
        difference = memory.stages[TOP] if j == k else memory.stages[j]
        for m in range(1, N_TERMS if is_root else j + 3):
            for i in range(first, r.shape[1]):
                r[m, i] += weights[m] * difference[i]
            for p in range(pairs.shape[0]):
                r[m, pairs[p, 0]] += weights_twice[m] * difference[pairs[p, 1]]
    return OK if is_finite(r[1]) else NOT_FINITE

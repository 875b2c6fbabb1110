"""Forces of friction pairs at rest within their bounds: one convex problem for all of them.

min 1/2 f W f + a0 f with |f_i| <= bound_i (in the plane and in joints an interval, in space a disc), W and a0 as in
stick.py, normal forces of contacts and loads of joints given by the state. Accelerations are then unique: friction
pairs at their bound slip against their force, the others are held. Where W is singular (points of one body, joints of
one loop) the forces are the weighted analytic centre of all that bring these accelerations: they follow smoothly from
the state, small ones are equal parts of their bounds, and one reaches its bound only where no other distribution holds.

In shares x of the bounds, with a barrier -mu w_i log(c_i), c_i = (1 - |x_i|^2) / 2, mu falling to nothing (Boyd and
Vandenberghe, Convex Optimization, 11.3). The weight w_i, the most that gradient i can be, makes small bounds and light
parts count as the others do. Steps are those of Newton's method for gradient_i + l_i x_i = 0 and l_i c_i = mu w_i, l_i
the multiplier of a bound (11.7): close to a bound they are good for much smaller mu than with l_i = mu w_i / c_i. The
objective with its barrier falls along them whatever l > 0 is, so a search along them keeps the method safe (Waechter
and Biegler, Math. Program. 106, 2006, with their safeguard of l).
"""

import math

from pliant.kernels._jit import kernel, routine
from pliant.kernels.algebra.dense import add_multiple, cholesky_upper, cholesky_upper_solve, long_product
from pliant.kernels.algebra.vec3 import index
from pliant.kernels.contact.phase import width_at
from pliant.system.status import Status
from pliant.system.work import (
    BOUND,
    DUAL,
    FORCE,
    FREE,
    GRADIENT,
    MARGIN,
    MULTIPLIER,
    REACH,
    RIGHT,
    SCALE,
    SHARE,
    SLACK,
    STEP,
    WEIGHT,
)

OK, UNDECIDED = int(Status.OK), int(Status.FRICTION_UNDECIDED)  # numba mixes integers only

MAX_ITERATIONS = 400  # 10 to 40 are usual
MAX_CUTS = 60
MAX_APPROACH = 0.99  # of its distance from a bound, or of a multiplier from zero, that a step may take
MIN_DECREASE = 0.01  # of what Newton's step promises (Armijo)
DAMPING = 1e-13  # of the diagonal, in Newton's matrix only
FIRST_BARRIER = 0.5  # mu of the multipliers at the start, where no force acts
BARRIER_FACTOR = 0.02  # from one barrier parameter mu to the next
MIN_BARRIER = 1e-13  # the last mu
MAX_OFF_CENTRE = 1e3  # by which multipliers may differ from mu w / c
CENTRE_DECREMENT, FINAL_DECREMENT = (
    1.0,
    1e-6,
)  # of mu: Newton's decrement at which the next mu is due, and the last is done
ROUNDING_DECREMENT = 1e-2  # of the last mu: one that does not fall any more below it is of rounding
STAGNATION = 0.1  # of the decrement before
MAX_DENSE = 24  # unknowns of which W is taken as it is
RANK_TOLERANCE = 1e-15  # of the largest diagonal of W
MIN_WEIGHT = 1e-12  # for which convergence is asked
UNBOUNDED_MARGIN = -1e-9  # of a friction pair with bound 0, which nothing holds [N, N m]


@kernel
def product(a, b):
    total = 0.0
    for j in range(a.shape[0]):
        total += a[j] * b[j]
    return total


@kernel
def size_of(work, row, i, width):
    """Size of what a row of stick_force holds for the friction pair with first unknown i."""
    a, b = work.stick_force[row, i], 0.0
    if width == 2:
        b = work.stick_force[row, i + 1]
    return math.sqrt(a * a + b * b)


@kernel
def is_bounded(work, i):
    """Whether a force can act at unknown i at all, and matters."""
    return work.stick_force[BOUND, i] > 0.0 and work.stick_force[SCALE, i] > 0.0


@routine
def put_gradient(work, n, r, unit):
    """W f + a0 in shares of the bounds over the unit; r: rank of W, if low."""
    cap = work.stick.shape[1]
    W, L, s = work.stick, work.stick[2 * cap :], work.stick_force
    f, total = s[FORCE], s[GRADIENT]
    for i in range(n):
        f[i], total[i] = s[BOUND, i] * s[SHARE, i], 0.0
    if r > 0:
        for k in range(r):
            add_multiple(long_product(L[k], f, 0, n), L[k], total, 0, n)
    else:
        for i in range(n):
            total[i] = long_product(W[i], f, 0, n)
    for i in range(n):
        total[i] = (s[FREE, i] + total[i]) * s[BOUND, i] / unit


@kernel
def radial(work, i, width):
    """Direction of the share of a friction pair: (1, 0) if it has none."""
    x = work.stick_force[SHARE, i]
    y = work.stick_force[SHARE, i + 1] if width == 2 else 0.0
    size = math.sqrt(x * x + y * y)
    return (x / size, y / size) if width == 2 and size > 0.0 else (1.0, 0.0)


@kernel
def rotated(c, s, x, y):
    return c * x + s * y, c * y - s * x


@routine
def rotate_step(work, n, sense):
    """The step to axes along and across the share of every pair, or (sense -1) back."""
    step, i = work.stick_force[STEP], 0
    while i < n:
        width = width_at(work, i, n)
        if width == 2:
            c, s = radial(work, i, width)
            step[i], step[i + 1] = rotated(c, sense * s, step[i], step[i + 1])
        i += width


@routine
def rotate_matrix(work, H, n):
    """The upper half of H (with all of the blocks on its diagonal) to the same axes: what is large at a bound then
    stands alone."""
    i = 0
    while i < n:
        width = width_at(work, i, n)
        if width == 2:
            c, s = radial(work, i, width)
            a, b = H[i], H[i + 1]
            for j in range(i, n):
                a[index(j)], b[index(j)] = rotated(c, s, a[index(j)], b[index(j)])
            for j in range(i + 2):
                H[j, i], H[j, i + 1] = rotated(c, s, H[j, i], H[j, i + 1])
        i += width


@routine
def put_slopes(work, n, mu):
    """Gradient of the objective with its barrier, negated: the right side of Newton's step."""
    s = work.stick_force
    for i in range(n):
        first = work.stick_first[i]
        strength = mu * s[WEIGHT, first] / s[SLACK, first]
        s[RIGHT, i] = -s[GRADIENT, i] - strength * s[SHARE, i] if s[REACH, i] > 0.0 else 0.0


@routine
def solve_dense(work, n):
    """Newton's step; whether there is one."""
    cap = work.stick.shape[1]
    W, H, s, step = work.stick, work.stick[cap : 2 * cap], work.stick_force, work.stick_force[STEP]
    reach, i = s[REACH], 0
    while i < n:
        width = width_at(work, i, n)
        for a in range(i, i + width):
            row, source, x = H[a], W[a], reach[a]
            step[a] = s[RIGHT, a]
            for j in range(i, n):
                row[index(j)] = x * source[index(j)] * reach[index(j)]
        i += width
    rotate_matrix(work, H, n)
    rotate_step(work, n, 1.0)
    i = 0
    while i < n:
        width, strength = width_at(work, i, n), s[DUAL, i]
        for a in range(i, i + width):
            H[a, a] = H[a, a] * (1.0 + DAMPING) + (strength if reach[a] > 0.0 else 1.0)
        H[i, i] += strength * size_of(work, SHARE, i, width) ** 2 / s[SLACK, i]
        i += width
    if cholesky_upper(H, n) >= 0:
        return False
    cholesky_upper_solve(H, n, step)
    rotate_step(work, n, -1.0)
    return True


# --- many friction pairs of few bodies: W = L L^T of low rank, and Woodbury's formula -------------------------------


@routine
def factor_low_rank(work, n):
    """L^T of W = L L^T, by pivots, into the third block of work.stick; its rank, 0 if that is not low."""
    cap = work.stick.shape[1]
    W, L, rest = work.stick, work.stick[2 * cap :], work.stick_force[RIGHT]
    largest = 0.0
    for i in range(n):
        rest[i] = W[i, i]
        largest = max(largest, rest[i])
    for k in range(n // 2):
        pivot = 0
        for i in range(1, n):
            pivot = i if rest[i] > rest[pivot] else pivot
        if not rest[pivot] > RANK_TOLERANCE * largest:
            return k
        row, source, inverse = L[k], W[pivot], 1.0 / math.sqrt(rest[pivot])
        for i in range(n):
            row[i] = source[i]
        for l in range(k):
            add_multiple(-L[l, pivot], L[l], row, 0, n)
        for i in range(n):
            row[i] *= inverse
            rest[i] -= row[i] * row[i]
        rest[pivot] = 0.0
    return 0


@routine
def divide_barrier(work, n, x):
    """x <- D^-1 x, D the part of the bounds: l (1 + x x^T / c) of every friction pair."""
    s, i = work.stick_force, 0
    while i < n:
        width, along, square = width_at(work, i, n), 0.0, 0.0
        for a in range(i, i + width):
            along += s[SHARE, a] * x[a]
            square += s[SHARE, a] ** 2
        for a in range(i, i + width):
            rest = x[a] - along / (s[SLACK, i] + square) * s[SHARE, a]
            x[a] = rest / s[DUAL, i] if s[REACH, a] > 0.0 else 0.0
        i += width


@routine
def solve_low_rank(work, n, r):
    """The same by (D + A A^T)^-1 b = D^-1 (b - A (1 + A^T D^-1 A)^-1 A^T D^-1 b), A = L in shares."""
    cap = work.stick.shape[1]
    S, L, s = work.stick[cap : 2 * cap], work.stick[2 * cap :], work.stick_force
    step, column, y, reach = s[STEP], s[MULTIPLIER], s[MARGIN], s[REACH]
    for a in range(r):
        for i in range(n):
            column[i] = reach[i] * L[a, i]
        divide_barrier(work, n, column)
        y[a] = long_product(column, s[RIGHT], 0, n)
        for i in range(n):
            column[i] *= reach[i]
        for b in range(a, r):
            S[a, b] = long_product(L[b], column, 0, n)
        S[a, a] += 1.0
    if cholesky_upper(S, r) >= 0:
        return False
    cholesky_upper_solve(S, r, y)
    for i in range(n):
        column[i] = 0.0
    for a in range(r):
        add_multiple(y[a], L[a], column, 0, n)
    for i in range(n):
        step[i] = s[RIGHT, i] - reach[i] * column[i]
    divide_barrier(work, n, step)
    return True


# --- the iteration ----------------------------------------------------------------------------------------------------


@routine
def put_step(work, n, r, mu):
    """Newton's step; by how much it lets the objective with its barrier fall, -1: there is none. r: rank of W, if low."""
    put_slopes(work, n, mu)
    if not (solve_low_rank(work, n, r) if r > 0 else solve_dense(work, n)):
        return -1.0
    return max(long_product(work.stick_force[RIGHT], work.stick_force[STEP], 0, n), 0.0)


@kernel
def products(work, i, width):
    """(share times step, step squared) of a friction pair."""
    along, square = 0.0, 0.0
    for a in range(i, i + width):
        along += work.stick_force[SHARE, a] * work.stick_force[STEP, a]
        square += work.stick_force[STEP, a] ** 2
    return along, square


@routine
def step_length(work, n, mu, decrement):
    """Longest part of Newton's step that keeps all slacks positive and lets the objective with its barrier fall."""
    s, longest, i = work.stick_force, 1.0, 0
    # of the objective along the step
    slope, curvature = long_product(s[GRADIENT], s[STEP], 0, n), decrement
    while i < n:
        width, slack = width_at(work, i, n), s[SLACK, i]
        along, square = products(work, i, width)
        curvature -= s[DUAL, i] * (square + along * along / slack)
        # slack - along x - square x^2 / 2 = slack - room
        room = MAX_APPROACH * slack
        root = along + math.sqrt(along * along + 2.0 * square * room)
        if root > 0.0:
            longest = min(longest, 2.0 * room / root)
        i += width
    curvature = max(curvature, 0.0)
    for _ in range(MAX_CUTS):
        change, i = longest * (slope + 0.5 * longest * curvature), 0
        while i < n:
            width = width_at(work, i, n)
            along, square = products(work, i, width)
            change -= mu * s[WEIGHT, i] * math.log1p(-longest * (along + 0.5 * longest * square) / s[SLACK, i])
            i += width
        if change <= -MIN_DECREASE * longest * decrement:
            break
        longest *= 0.5
    return longest


@routine
def multiplier_step(work, n, mu):
    """Steps of the multipliers into MULTIPLIER; the part of them that keeps all positive."""
    s, longest, i = work.stick_force, 1.0, 0
    while i < n:
        width, slack, dual = width_at(work, i, n), s[SLACK, i], s[DUAL, i]
        along, _ = products(work, i, width)
        # (l + dl) (c - x dx) = mu w, without the product of dl and dx
        change = (mu * s[WEIGHT, i] - dual * slack + dual * along) / slack
        if change < 0.0:
            longest = min(longest, -MAX_APPROACH * dual / change)
        s[MULTIPLIER, i] = change
        i += width
    return longest


@routine
def make_step(work, n, mu, length):
    s, i, part = work.stick_force, 0, multiplier_step(work, n, mu)
    while i < n:
        width = width_at(work, i, n)
        along, square = products(work, i, width)
        s[SLACK, i] -= length * (along + 0.5 * length * square)
        for a in range(i, i + width):
            s[SHARE, a] += length * s[STEP, a]
        centre = mu * s[WEIGHT, i] / s[SLACK, i]
        dual = s[DUAL, i] + part * s[MULTIPLIER, i]
        s[DUAL, i] = min(max(dual, centre / MAX_OFF_CENTRE), centre * MAX_OFF_CENTRE)
        i += width


@routine
def put_weights(work, n):
    """The most that the gradient of every pair can be, in units of the largest, which is returned; and the least."""
    s, W, unit, least = work.stick_force, work.stick, 0.0, 1.0
    bound, weight = s[BOUND], s[WEIGHT]
    for i in range(n):
        row, total = W[i], 0.0
        for j in range(n):
            total += abs(row[index(j)]) * bound[index(j)]
        weight[i] = bound[i] * (abs(s[FREE, i]) + total)
        if work.stick_first[i] < i:
            weight[i - 1] = max(weight[i - 1], weight[i])
        unit = max(unit, weight[i])
    for i in range(n if unit > 0.0 else 0):
        weight[i] /= unit
        if is_bounded(work, i) and work.stick_first[i] == i:
            least = min(least, weight[i])
    return unit, max(least, MIN_WEIGHT)


@routine
def approach_bounds(work, n, r, unit, least):
    """Shares, slacks and multipliers at the last mu; whether they have been found. r: rank of W, if low."""
    mu, before = BARRIER_FACTOR * FIRST_BARRIER, math.inf
    for _ in range(MAX_ITERATIONS):
        put_gradient(work, n, r, unit)
        decrement = put_step(work, n, r, mu)
        if not decrement >= 0.0:
            return False
        make_step(work, n, mu, step_length(work, n, mu, decrement))
        if mu == MIN_BARRIER:
            if decrement < FINAL_DECREMENT * mu * least:
                return True
            if decrement < ROUNDING_DECREMENT * mu * least and decrement > STAGNATION * before:
                return True
            before = decrement
        elif decrement < CENTRE_DECREMENT * mu * least:
            mu = max(BARRIER_FACTOR * mu, MIN_BARRIER)
    return False


@routine
def find_bounded_forces(work, n):
    """Forces in stick_force, with multipliers (over their weights), slacks and margins at the first unknown of every
    pair: what is left to a bound as part of it, and less the multiplier, which a pair at its bound has instead."""
    s = work.stick_force
    unit, least = put_weights(work, n)
    for i in range(n):
        s[SHARE, i], s[SLACK, i] = 0.0, 0.5
        s[DUAL, i] = FIRST_BARRIER * s[WEIGHT, i] / s[SLACK, i]
        s[REACH, i] = s[BOUND, i] / math.sqrt(unit) if is_bounded(work, i) else 0.0
    if unit > 0.0:
        r = factor_low_rank(work, n) if n > MAX_DENSE else 0
        if not approach_bounds(work, n, r, unit, least):
            return UNDECIDED
    for i in range(n):
        s[FORCE, i] = s[BOUND, i] * s[SHARE, i]
        s[MULTIPLIER, i] = MIN_BARRIER / s[SLACK, work.stick_first[i]] if unit > 0.0 else 0.0
        s[MARGIN, i] = (s[SLACK, i] - s[MULTIPLIER, i]) * s[BOUND, i] if s[BOUND, i] > 0.0 else UNBOUNDED_MARGIN
    return OK

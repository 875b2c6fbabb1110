"""Forces of friction pairs at rest within their bounds: one convex problem for all of them.

min 1/2 f W f + a0 f with |f_i| <= bound_i (in the plane and in joints an interval, in space a disc), W and a0 as in
stick.py, normal forces of contacts and loads of joints given by the state. Accelerations are then unique: friction
pairs at their bound slip against their force, the others are held. Where W is singular (points of one body, joints of
one loop) the forces are the weighted analytic centre of all that bring these accelerations: they follow smoothly from
the state, small ones are equal parts of their bounds, and one reaches its bound only where no other distribution holds.

In shares x of the bounds by Newton's method with a barrier -mu w_i log(c_i), c_i = (1 - |x_i|^2) / 2, mu falling to
nothing (Boyd and Vandenberghe, Convex Optimization, 11.3); mu w_i / c_i is the multiplier of a bound. The weight w_i,
the most that gradient i can be, makes small bounds and light parts count as the others do.
"""

import math

from pliant.kernels._jit import kernel, routine
from pliant.kernels.algebra.dense import cholesky, cholesky_solve
from pliant.kernels.contact.phase import width_at
from pliant.system.status import Status
from pliant.system.work import (
    BOUND,
    FORCE,
    FREE,
    GRADIENT,
    MARGIN,
    MULTIPLIER,
    RIGHT,
    SCALE,
    SHARE,
    SLACK,
    STEP,
    WEIGHT,
)

OK, UNDECIDED = int(Status.OK), int(Status.FRICTION_UNDECIDED)  # numba mixes integers only

MAX_ITERATIONS = 60  # per barrier
MAX_CUTS = 60
MAX_APPROACH = 0.99  # of its distance from a bound that a step may take
MIN_DECREASE = 0.01  # of what Newton's step promises (Armijo)
DAMPING = 1e-13  # of the diagonal, in Newton's matrix only
BARRIER_FACTOR = 0.02  # from one barrier parameter mu to the next
MIN_BARRIER = 1e-13  # the last mu
CENTRE_DECREMENT, FINAL_DECREMENT = (
    1e-3,
    1e-6,
)  # of mu: Newton's decrement at which the next mu is due, and the last is done
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
    W, L, f, s = work.stick, work.stick[2 * cap :], work.stick_force[FORCE], work.stick_force
    for i in range(n):
        f[i] = s[BOUND, i] * s[SHARE, i]
    for k in range(r):
        s[MARGIN, k] = 0.0
        for i in range(n):
            s[MARGIN, k] += L[i, k] * f[i]
    for i in range(n):
        own = product(L[i, :r], s[MARGIN, :r]) if r > 0 else product(W[i, :n], f[:n])
        s[GRADIENT, i] = (s[FREE, i] + own) * s[BOUND, i] / unit


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
def rotate_pairs(work, H, step, n):
    """H and step to axes along and across the share of every pair: what is large at a bound then stands alone."""
    i = 0
    while i < n:
        width = width_at(work, i, n)
        if width == 2:
            c, s = radial(work, i, width)
            step[i], step[i + 1] = rotated(c, s, step[i], step[i + 1])
            for j in range(n):
                H[i, j], H[i + 1, j] = rotated(c, s, H[i, j], H[i + 1, j])
            for j in range(n):
                H[j, i], H[j, i + 1] = rotated(c, s, H[j, i], H[j, i + 1])
        i += width


@routine
def put_slopes(work, n, mu):
    """Gradient of the objective with its barrier, negated: the right side of Newton's step."""
    s = work.stick_force
    for i in range(n):
        first = work.stick_first[i]
        strength = mu * s[WEIGHT, first] / s[SLACK, first]
        s[RIGHT, i] = -s[GRADIENT, i] - strength * s[SHARE, i] if is_bounded(work, i) else 0.0


@routine
def solve_dense(work, n, unit, mu):
    """Newton's step; whether there is one."""
    cap = work.stick.shape[1]
    W, H, s, step = work.stick, work.stick[cap : 2 * cap], work.stick_force, work.stick_force[STEP]
    for i in range(n):
        step[i] = s[RIGHT, i]
        for j in range(n):
            is_coupled = is_bounded(work, i) and is_bounded(work, j)
            H[i, j] = s[BOUND, i] * W[i, j] * s[BOUND, j] / unit if is_coupled else 0.0
    rotate_pairs(work, H, step, n)
    i = 0
    while i < n:
        width, slack = width_at(work, i, n), s[SLACK, i]
        strength = mu * s[WEIGHT, i] / slack
        for a in range(i, i + width):
            H[a, a] = H[a, a] * (1.0 + DAMPING) + (strength if is_bounded(work, a) else 1.0)
        H[i, i] += strength * size_of(work, SHARE, i, width) ** 2 / slack
        i += width
    if cholesky(H, n) >= 0:
        return False
    cholesky_solve(H, n, step)
    i = 0
    while i < n:
        width = width_at(work, i, n)
        if width == 2:
            c, sine = radial(work, i, width)
            step[i], step[i + 1] = rotated(c, -sine, step[i], step[i + 1])
        i += width
    return True


# --- many friction pairs of few bodies: W = L L^T of low rank, and Woodbury's formula -------------------------------


@routine
def factor_low_rank(work, n):
    """L of W = L L^T, by pivots, into the third block of work.stick; its rank, 0 if that is not low."""
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
        inverse = 1.0 / math.sqrt(rest[pivot])
        for i in range(n):
            L[i, k] = (W[i, pivot] - product(L[i, :k], L[pivot, :k])) * inverse
        for i in range(n):
            rest[i] -= L[i, k] * L[i, k]
        rest[pivot] = 0.0
    return 0


@routine
def divide_barrier(work, n, mu, x):
    """x <- D^-1 x, D the barrier's part: mu w / slack (1 + x x^T / slack) of every friction pair."""
    s, i = work.stick_force, 0
    while i < n:
        width, along, square = width_at(work, i, n), 0.0, 0.0
        for a in range(i, i + width):
            along += s[SHARE, a] * x[a]
            square += s[SHARE, a] ** 2
        strength = mu * s[WEIGHT, i] / s[SLACK, i]
        for a in range(i, i + width):
            x[a] = (x[a] - along / (s[SLACK, i] + square) * s[SHARE, a]) / strength if is_bounded(work, a) else 0.0
        i += width


@routine
def solve_low_rank(work, n, r, unit, mu):
    """The same by (D + A A^T)^-1 b = D^-1 (b - A (1 + A^T D^-1 A)^-1 A^T D^-1 b), A = L in shares."""
    cap = work.stick.shape[1]
    S, L, s = work.stick[cap : 2 * cap], work.stick[2 * cap :], work.stick_force
    step, column, y, root = s[STEP], s[MULTIPLIER], s[MARGIN], 1.0 / math.sqrt(unit)
    for b in range(r):
        for i in range(n):
            column[i] = s[BOUND, i] * L[i, b] * root
        divide_barrier(work, n, mu, column)
        for a in range(b, r):
            total = 1.0 if a == b else 0.0
            for i in range(n):
                total += s[BOUND, i] * L[i, a] * root * column[i]
            S[a, b] = total
        y[b] = 0.0
        for i in range(n):
            y[b] += column[i] * s[RIGHT, i]
    if cholesky(S, r) >= 0:
        return False
    cholesky_solve(S, r, y)
    for i in range(n):
        step[i] = s[RIGHT, i] - s[BOUND, i] * root * product(L[i, :r], y[:r])
    divide_barrier(work, n, mu, step)
    return True


# --- the iteration ----------------------------------------------------------------------------------------------------


@routine
def put_step(work, n, r, unit, mu):
    """Newton's step of the objective with the barrier; its decrement, -1 if there is none. r: rank of W, if low."""
    put_slopes(work, n, mu)
    if not (solve_low_rank(work, n, r, unit, mu) if r > 0 else solve_dense(work, n, unit, mu)):
        return -1.0
    return max(product(work.stick_force[RIGHT, :n], work.stick_force[STEP, :n]), 0.0)


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
    slope, curvature = 0.0, decrement  # of the objective along the step
    for a in range(n):
        slope += s[GRADIENT, a] * s[STEP, a]
    while i < n:
        width, slack = width_at(work, i, n), s[SLACK, i]
        along, square = products(work, i, width)
        curvature -= mu * s[WEIGHT, i] / slack * (square + along * along / slack)
        # slack - along x - square x^2 / 2 = slack - room
        room = MAX_APPROACH * slack
        root = along + math.sqrt(along * along + 2.0 * square * room)
        if root > 0.0:
            longest = min(longest, 2.0 * room / root)
        i += width
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
def make_step(work, n, length):
    s, i = work.stick_force, 0
    while i < n:
        width = width_at(work, i, n)
        along, square = products(work, i, width)
        s[SLACK, i] -= length * (along + 0.5 * length * square)
        for a in range(i, i + width):
            s[SHARE, a] += length * s[STEP, a]
        i += width


@routine
def put_weights(work, n):
    """The most that the gradient of every pair can be, in units of the largest, which is returned; and the least."""
    s, W, unit, least = work.stick_force, work.stick, 0.0, 1.0
    for i in range(n):
        total = abs(s[FREE, i])
        for j in range(n):
            total += abs(W[i, j]) * s[BOUND, j]
        s[WEIGHT, i] = s[BOUND, i] * total
        if work.stick_first[i] < i:
            s[WEIGHT, i - 1] = max(s[WEIGHT, i - 1], s[WEIGHT, i])
        unit = max(unit, s[WEIGHT, i])
    for i in range(n if unit > 0.0 else 0):
        s[WEIGHT, i] /= unit
        if is_bounded(work, i) and work.stick_first[i] == i:
            least = min(least, s[WEIGHT, i])
    return unit, max(least, MIN_WEIGHT)


@routine
def find_bounded_forces(work, n):
    """Forces in stick_force, with multipliers (over their weights), slacks and margins at the first unknown of every
    pair: what is left to a bound as part of it, and less the multiplier, which a pair at its bound has instead."""
    s = work.stick_force
    for i in range(n):
        s[SHARE, i], s[SLACK, i], s[FORCE, i] = 0.0, 0.5, 0.0
    unit, least = put_weights(work, n)
    r = factor_low_rank(work, n) if n > MAX_DENSE else 0
    mu = 0.5 if unit > 0.0 else 0.0
    while mu > MIN_BARRIER:
        mu = max(BARRIER_FACTOR * mu, MIN_BARRIER)
        goal = (CENTRE_DECREMENT if mu > MIN_BARRIER else FINAL_DECREMENT) * mu * least
        for _ in range(MAX_ITERATIONS):
            put_gradient(work, n, r, unit)
            decrement = put_step(work, n, r, unit, mu)
            if not decrement >= 0.0:
                return UNDECIDED
            if decrement < goal:
                break
            make_step(work, n, step_length(work, n, mu, decrement))
    for i in range(n):
        s[FORCE, i] = s[BOUND, i] * s[SHARE, i]
        s[MULTIPLIER, i] = mu / s[SLACK, work.stick_first[i]]
        s[MARGIN, i] = (s[SLACK, i] - s[MULTIPLIER, i]) * s[BOUND, i] if s[BOUND, i] > 0.0 else UNBOUNDED_MARGIN
    return OK

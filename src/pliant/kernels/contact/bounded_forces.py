"""Forces of friction pairs at rest within their bounds: one convex problem for all of them.

min 1/2 f W f + a0 f with |f_i| <= bound_i (in the plane and in joints an interval, in space a disc), W and a0 as in
stick.py, normal forces of contacts and loads of joints given by the state. Accelerations are then unique: friction
pairs at their bound slip against their force, the others are held. Where W is singular (points of one body, joints of
one loop) the forces are the weighted analytic centre of all that bring these accelerations: they follow smoothly from
the state, small ones are equal parts of their bounds, and one reaches its bound only where no other distribution holds.

In shares x of the bounds, with slacks c_i = (1 - |x_i|^2) / 2, by a primal-dual interior-point method: Newton's method
for gradient_i + l_i x_i = 0 and l_i c_i = mu w_i, mu falling to nothing (Boyd and Vandenberghe, Convex Optimization,
11.7), with steps that leave all l_i c_i / w_i of about one size (Wright, Primal-Dual Interior-Point Methods, chapter 5).
l_i is the multiplier of a bound. The weight w_i, the most that gradient i can be, makes small bounds and light parts
count as the others do.
"""

import math

from pliant.kernels._jit import kernel, routine
from pliant.kernels.algebra.dense import cholesky_mirrored, cholesky_mirrored_solve
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

MAX_ITERATIONS = 200  # 10 to 20 are usual
MAX_CUTS, CUT = 60, 0.8  # of a step
MAX_APPROACH = 0.99  # of its distance from a bound that a step may take
DAMPING = 1e-13  # of the diagonal, in Newton's matrix only
FIRST_BARRIER = 0.5  # mu at the start, where no force acts
BARRIER_FACTOR = 0.02  # of the mean of l c / w: the next mu, after a step of full length
MIN_BARRIER = 1e-13  # the last mu
NEIGHBOURHOOD = 1e-3  # of the mean of l c / w: the least
CENTRED = 0.1  # how far l c / w may be from the last mu, as part of it
FINAL_DECREMENT = 1e-6  # of mu: Newton's decrement at which the last is done
STAGNATION = 0.1  # of the decrement before: Newton's method, at its end, has come to rounding
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
def long_product(a, b, n):
    """The same of the first n, in four sums, so that one need not wait for the other."""
    w, x, y, z, whole = 0.0, 0.0, 0.0, 0.0, n - n % 4
    for j in range(0, whole, 4):
        w += a[j] * b[j]
        x += a[j + 1] * b[j + 1]
        y += a[j + 2] * b[j + 2]
        z += a[j + 3] * b[j + 3]
    for j in range(whole, n):
        w += a[j] * b[j]
    return (w + x) + (y + z)


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
    total = s[GRADIENT]
    for i in range(n):
        f[i], total[i] = s[BOUND, i] * s[SHARE, i], 0.0
    for k in range(r if r > 0 else n):
        # rows of a symmetric W are its columns
        row, x = (L[k], long_product(L[k], f, n)) if r > 0 else (W[k], f[k])
        if x != 0.0:
            for i in range(n):
                total[i] += row[i] * x
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
def rotate_pairs(work, H, step, n):
    """The lower half of H (with all of the blocks on its diagonal) and step to axes along and across the share of every
    pair: what is large at a bound then stands alone."""
    i = 0
    while i < n:
        width = width_at(work, i, n)
        if width == 2:
            c, s = radial(work, i, width)
            step[i], step[i + 1] = rotated(c, s, step[i], step[i + 1])
            for j in range(i + 2):
                H[i, j], H[i + 1, j] = rotated(c, s, H[i, j], H[i + 1, j])
            for j in range(i, n):
                H[j, i], H[j, i + 1] = rotated(c, s, H[j, i], H[j, i + 1])
        i += width


@routine
def put_slopes(work, n, mu):
    """Gradient of the objective with a barrier -mu w log(c), negated: the right side of Newton's step without that of
    the multipliers."""
    s = work.stick_force
    for i in range(n):
        first = work.stick_first[i]
        strength = mu * s[WEIGHT, first] / s[SLACK, first]
        s[RIGHT, i] = -s[GRADIENT, i] - strength * s[SHARE, i] if is_bounded(work, i) else 0.0


@routine
def solve_dense(work, n):
    """Newton's step; whether there is one."""
    cap = work.stick.shape[1]
    W, H, s, step = work.stick, work.stick[cap : 2 * cap], work.stick_force, work.stick_force[STEP]
    for i in range(n):
        row, source, reach, x = H[i], W[i], s[REACH], s[REACH, i]
        step[i] = s[RIGHT, i]
        for j in range(min(i + 2, n)):
            row[j] = x * source[j] * reach[j]
    rotate_pairs(work, H, step, n)
    i = 0
    while i < n:
        width, slack, strength = width_at(work, i, n), s[SLACK, i], s[DUAL, i]
        for a in range(i, i + width):
            H[a, a] = H[a, a] * (1.0 + DAMPING) + (strength if is_bounded(work, a) else 1.0)
        H[i, i] += strength * size_of(work, SHARE, i, width) ** 2 / slack
        i += width
    if cholesky_mirrored(H, n) >= 0:
        return False
    cholesky_mirrored_solve(H, n, step)
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
        inverse = 1.0 / math.sqrt(rest[pivot])
        row = L[k]
        for i in range(n):
            row[i] = W[pivot, i]
        for l in range(k):
            above, x = L[l], L[l, pivot]
            for i in range(n):
                row[i] -= x * above[i]
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
        strength = s[DUAL, i]
        for a in range(i, i + width):
            x[a] = (x[a] - along / (s[SLACK, i] + square) * s[SHARE, a]) / strength if is_bounded(work, a) else 0.0
        i += width


@routine
def solve_low_rank(work, n, r):
    """The same by (D + A A^T)^-1 b = D^-1 (b - A (1 + A^T D^-1 A)^-1 A^T D^-1 b), A = L in shares."""
    cap = work.stick.shape[1]
    S, L, s = work.stick[cap : 2 * cap], work.stick[2 * cap :], work.stick_force
    step, column, y, reach = s[STEP], s[MULTIPLIER], s[MARGIN], s[REACH]
    for b in range(r):
        for i in range(n):
            column[i] = reach[i] * L[b, i]
        divide_barrier(work, n, column)
        y[b] = long_product(column, s[RIGHT], n)
        for i in range(n):
            column[i] *= reach[i]
        for a in range(b, r):
            S[a, b] = long_product(L[a], column, n)
        S[b, b] += 1.0
    if cholesky_mirrored(S, r) >= 0:
        return False
    cholesky_mirrored_solve(S, r, y)
    for i in range(n):
        column[i] = 0.0
    for b in range(r):
        for i in range(n):
            column[i] += L[b, i] * y[b]
    for i in range(n):
        step[i] = s[RIGHT, i] - reach[i] * column[i]
    divide_barrier(work, n, step)
    return True


# --- the iteration ----------------------------------------------------------------------------------------------------


@routine
def put_step(work, n, r, mu):
    """Newton's step; its decrement, -1 if there is none. r: rank of W, if low."""
    put_slopes(work, n, mu)
    if not (solve_low_rank(work, n, r) if r > 0 else solve_dense(work, n)):
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
def longest_step(work, n, mu):
    """Part of Newton's step that keeps all slacks and multipliers positive; steps of multipliers into MULTIPLIER."""
    s, longest, i = work.stick_force, 1.0, 0
    while i < n:
        width, slack, strength = width_at(work, i, n), s[SLACK, i], s[DUAL, i]
        along, square = products(work, i, width)
        # slack - along x - square x^2 / 2 = slack - room
        room = MAX_APPROACH * slack
        root = along + math.sqrt(along * along + 2.0 * square * room)
        if root > 0.0:
            longest = min(longest, 2.0 * room / root)
        change = (mu * s[WEIGHT, i] - strength * slack + strength * along) / slack
        if change < 0.0:
            longest = min(longest, -MAX_APPROACH * strength / change)
        s[MULTIPLIER, i] = change
        i += width
    return longest


@routine
def sizes_after(work, n, length):
    """Least and mean of l c / w after a part of Newton's step."""
    s, least, total, count, i = work.stick_force, math.inf, 0.0, 0, 0
    while i < n:
        width = width_at(work, i, n)
        if s[WEIGHT, i] > 0.0:
            along, square = products(work, i, width)
            slack = s[SLACK, i] - length * (along + 0.5 * length * square)
            size = slack * (s[DUAL, i] + length * s[MULTIPLIER, i]) / s[WEIGHT, i]
            least, total, count = min(least, size), total + size, count + 1
        i += width
    return least, total / count


@routine
def make_step(work, n, mu):
    """As much of Newton's step as keeps all l c / w of about one size; the next mu."""
    s, length, i = work.stick_force, longest_step(work, n, mu), 0
    least, mean = sizes_after(work, n, length)
    for _ in range(MAX_CUTS):
        if least >= NEIGHBOURHOOD * mean:
            break
        length *= CUT
        least, mean = sizes_after(work, n, length)
    while i < n:
        width = width_at(work, i, n)
        along, square = products(work, i, width)
        s[SLACK, i] -= length * (along + 0.5 * length * square)
        s[DUAL, i] += length * s[MULTIPLIER, i]
        for a in range(i, i + width):
            s[SHARE, a] += length * s[STEP, a]
        i += width
    return max(MIN_BARRIER, min(mu, max(BARRIER_FACTOR, (1.0 - length) ** 2) * mean))


@routine
def is_centred(work, n, mu):
    """Whether all l c / w are mu, about."""
    s = work.stick_force
    for i in range(n):
        wanted = mu * s[WEIGHT, i]
        if work.stick_first[i] == i and abs(s[DUAL, i] * s[SLACK, i] - wanted) > CENTRED * wanted:
            return False
    return True


@routine
def put_weights(work, n):
    """The most that the gradient of every pair can be, in units of the largest, which is returned; and the least."""
    s, W, unit, least = work.stick_force, work.stick, 0.0, 1.0
    for i in range(n):
        s[WEIGHT, i] = abs(s[FREE, i])
    for j in range(n):
        row, bound, weight = W[j], s[BOUND, j], s[WEIGHT]
        for i in range(n):
            weight[i] += abs(row[i]) * bound
    for i in range(n):
        s[WEIGHT, i] *= s[BOUND, i]
        if work.stick_first[i] < i:
            s[WEIGHT, i - 1] = max(s[WEIGHT, i - 1], s[WEIGHT, i])
        unit = max(unit, s[WEIGHT, i])
    for i in range(n if unit > 0.0 else 0):
        s[WEIGHT, i] /= unit
        if is_bounded(work, i) and work.stick_first[i] == i:
            least = min(least, s[WEIGHT, i])
    return unit, max(least, MIN_WEIGHT)


@routine
def approach_bounds(work, n, r, unit, least):
    """Shares, slacks and multipliers at the last mu, which is returned, or 0 if they have not been found. r: rank of W,
    if low."""
    mu, before = FIRST_BARRIER, math.inf
    for _ in range(MAX_ITERATIONS):
        put_gradient(work, n, r, unit)
        decrement = put_step(work, n, r, mu)
        if not decrement >= 0.0:
            break
        if mu == MIN_BARRIER and is_centred(work, n, mu):
            if decrement < FINAL_DECREMENT * mu * least or decrement > STAGNATION * before:
                return mu
            before = decrement
        mu = make_step(work, n, mu)
    return 0.0


@routine
def find_bounded_forces(work, n):
    """Forces in stick_force, with multipliers (over their weights), slacks and margins at the first unknown of every
    pair: what is left to a bound as part of it, and less the multiplier, which a pair at its bound has instead."""
    s = work.stick_force
    for i in range(n):
        s[SHARE, i], s[SLACK, i], s[FORCE, i] = 0.0, 0.5, 0.0
    unit, least = put_weights(work, n)
    mu = 0.0
    if unit > 0.0:
        root = 1.0 / math.sqrt(unit)
        for i in range(n):
            # l c = mu w
            s[DUAL, i] = 2.0 * FIRST_BARRIER * s[WEIGHT, i]
            s[REACH, i] = s[BOUND, i] * root if is_bounded(work, i) else 0.0
        mu = approach_bounds(work, n, factor_low_rank(work, n) if n > MAX_DENSE else 0, unit, least)
        if not mu > 0.0:
            return UNDECIDED
    for i in range(n):
        s[FORCE, i] = s[BOUND, i] * s[SHARE, i]
        s[MULTIPLIER, i] = mu / s[SLACK, work.stick_first[i]]
        s[MARGIN, i] = (s[SLACK, i] - s[MULTIPLIER, i]) * s[BOUND, i] if s[BOUND, i] > 0.0 else UNBOUNDED_MARGIN
    return OK

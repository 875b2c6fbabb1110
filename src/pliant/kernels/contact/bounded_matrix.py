"""Newton's matrix of the problem of bounded_forces.py: H = W in shares of the bounds, and e (1 + d d^T) of every
friction pair, e its STRENGTH, d its AXIS, which cone_steps.py or barrier_steps.py put there. r: rank of W, if low."""

import math

from pliant.kernels._jit import kernel, routine
from pliant.kernels.algebra.dense import add_multiple, cholesky_upper, cholesky_upper_solve, long_product
from pliant.kernels.algebra.vec3 import index
from pliant.kernels.contact.phase import width_at
from pliant.system.work import (
    AXIS,
    BOUND,
    FORCE,
    FREE,
    GRADIENT,
    MARGIN,
    MULTIPLIER,
    REACH,
    RIGHT,
    SHARE,
    STEP,
    STRENGTH,
)

DAMPING = 1e-13  # of the diagonal
MAX_DENSE = 24  # unknowns of which W is taken as it is
MAX_RANK = 0.125  # of the unknowns, that is low
REFINEMENTS = 1
RANK_TOLERANCE = 1e-15  # of the largest diagonal of W


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


@routine
def put_gradient(work, first, end, r, unit):
    """W f + a0 in shares of the bounds over the unit, 0 where no force acts; r: rank of W, if low."""
    cap = work.stick.shape[1]
    W, L, s = work.stick, work.stick[2 * cap :], work.stick_force
    f, total = s[FORCE], s[GRADIENT]
    for i in range(first, end):
        f[i], total[i] = s[BOUND, i] * s[SHARE, i], 0.0
    if r > 0:
        for k in range(r):
            add_multiple(long_product(L[k], f, first, end), L[k], total, first, end)
    else:
        for i in range(first, end):
            total[i] = long_product(W[i], f, first, end)
    root = math.sqrt(unit)
    for i in range(first, end):
        total[i] = (s[FREE, i] + total[i]) * s[REACH, i] / root


# --- H, dense ---------------------------------------------------------------------------------------------------------


@kernel
def direction(work, i, width):
    """Of the axis of a friction pair: (1, 0) if it has none."""
    x = work.stick_force[AXIS, i]
    y = work.stick_force[AXIS, i + 1] if width == 2 else 0.0
    size = math.sqrt(x * x + y * y)
    return (x / size, y / size) if width == 2 and size > 0.0 else (1.0, 0.0)


@kernel
def rotated(c, s, x, y):
    return c * x + s * y, c * y - s * x


@routine
def rotate_step(work, first, end, sense):
    """The step to axes along and across the axis of every pair, or (sense -1) back."""
    step, i = work.stick_force[STEP], first
    while i < end:
        width = width_at(work, i, end)
        if width == 2:
            c, s = direction(work, i, width)
            step[i], step[i + 1] = rotated(c, sense * s, step[i], step[i + 1])
        i += width


@routine
def rotate_matrix(work, H, first, end):
    """The upper half of H (with all of the blocks on its diagonal) to the same axes: what is large at a bound then
    stands alone."""
    i = first
    while i < end:
        width = width_at(work, i, end)
        if width == 2:
            c, s = direction(work, i, width)
            a, b = H[i], H[i + 1]
            for j in range(i, end):
                a[index(j)], b[index(j)] = rotated(c, s, a[index(j)], b[index(j)])
            for j in range(first, i + 2):
                H[j, i], H[j, i + 1] = rotated(c, s, H[j, i], H[j, i + 1])
        i += width


@routine
def factor_dense(work, first, end):
    """H = U^T U; whether it exists."""
    cap = work.stick.shape[1]
    W, H, s = work.stick, work.stick[cap : 2 * cap], work.stick_force
    reach, i = s[REACH], first
    while i < end:
        width = width_at(work, i, end)
        for a in range(i, i + width):
            row, source, x = H[a], W[a], reach[a]
            for j in range(i, end):
                row[index(j)] = x * source[index(j)] * reach[index(j)]
        i += width
    rotate_matrix(work, H, first, end)
    i = first
    while i < end:
        width = width_at(work, i, end)
        for a in range(i, i + width):
            H[a, a] = H[a, a] * (1.0 + DAMPING) + s[STRENGTH, i]
        H[i, i] += s[STRENGTH, i] * size_of(work, AXIS, i, width) ** 2
        i += width
    return cholesky_upper(H, first, end) < 0


@routine
def solve_dense(work, first, end):
    """STEP <- H^-1 RIGHT"""
    cap = work.stick.shape[1]
    s, step = work.stick_force, work.stick_force[STEP]
    for i in range(first, end):
        step[i] = s[RIGHT, i]
    rotate_step(work, first, end, 1.0)
    cholesky_upper_solve(work.stick[cap : 2 * cap], first, end, step)
    rotate_step(work, first, end, -1.0)


# --- many friction pairs of few bodies: W = L L^T of low rank, and Woodbury's formula ---------------------------------


@routine
def factor_low_rank(work, first, end):
    """L^T of W = L L^T, by pivots, into the third block of work.stick; its rank, 0 if that is not low."""
    cap = work.stick.shape[1]
    W, L, rest = work.stick, work.stick[2 * cap :], work.stick_force[RIGHT]
    largest = 0.0
    for i in range(first, end):
        rest[i] = W[i, i]
        largest = max(largest, rest[i])
    for k in range(int(MAX_RANK * (end - first))):
        pivot = first
        for i in range(first + 1, end):
            pivot = i if rest[i] > rest[pivot] else pivot
        if not rest[pivot] > RANK_TOLERANCE * largest:
            return k
        row, source, inverse = L[k], W[pivot], 1.0 / math.sqrt(rest[pivot])
        for i in range(first, end):
            row[i] = source[i]
        for l in range(k):
            add_multiple(-L[l, pivot], L[l], row, first, end)
        for i in range(first, end):
            row[i] *= inverse
            rest[i] -= row[i] * row[i]
        rest[pivot] = 0.0
    return 0


@routine
def divide(work, first, end, x):
    """x <- D^-1 x, D the part e (1 + d d^T) of every friction pair."""
    s, i = work.stick_force, first
    while i < end:
        width, along, square = width_at(work, i, end), 0.0, 0.0
        for a in range(i, i + width):
            along += s[AXIS, a] * x[a]
            square += s[AXIS, a] ** 2
        for a in range(i, i + width):
            x[a] = (x[a] - along / (1.0 + square) * s[AXIS, a]) / s[STRENGTH, i]
        i += width


@routine
def factor_woodbury(work, first, end, r):
    """1 + A^T D^-1 A = U^T U, A = L in shares; whether it exists."""
    cap = work.stick.shape[1]
    S, L, column, reach = (
        work.stick[cap : 2 * cap],
        work.stick[2 * cap :],
        work.stick_force[MULTIPLIER],
        work.stick_force[REACH],
    )
    for a in range(r):
        for i in range(first, end):
            column[i] = reach[i] * L[a, i]
        divide(work, first, end, column)
        for i in range(first, end):
            column[i] *= reach[i]
        for b in range(a, r):
            S[a, b] = long_product(L[b], column, first, end)
        S[a, a] += 1.0
    return cholesky_upper(S, 0, r) < 0


@routine
def put_residual(work, first, end, r, column):
    """column = RIGHT - H STEP, H = D + A A^T"""
    cap = work.stick.shape[1]
    L, s = work.stick[2 * cap :], work.stick_force
    step, reach, y, i = s[STEP], s[REACH], s[MARGIN, first:], first
    for a in range(first, end):
        column[a] = reach[a] * step[a]
    for a in range(r):
        y[a] = long_product(L[a], column, first, end)
    for a in range(first, end):
        column[a] = 0.0
    for a in range(r):
        add_multiple(y[a], L[a], column, first, end)
    while i < end:
        width, along = width_at(work, i, end), 0.0
        for a in range(i, i + width):
            along += s[AXIS, a] * step[a]
        for a in range(i, i + width):
            column[a] = s[RIGHT, a] - reach[a] * column[a] - s[STRENGTH, i] * (step[a] + along * s[AXIS, a])
        i += width


@routine
def add_woodbury(work, first, end, r, b):
    """STEP += H^-1 b = D^-1 (b - A (1 + A^T D^-1 A)^-1 A^T D^-1 b)"""
    cap = work.stick.shape[1]
    L, s = work.stick[2 * cap :], work.stick_force
    step, x, y, reach = s[STEP], s[FORCE], s[MARGIN, first:], s[REACH]
    for i in range(first, end):
        x[i] = b[i]
    divide(work, first, end, x)
    for i in range(first, end):
        x[i] *= reach[i]
    for a in range(r):
        y[a] = long_product(L[a], x, first, end)
    cholesky_upper_solve(work.stick[cap : 2 * cap], 0, r, y)
    for i in range(first, end):
        x[i] = 0.0
    for a in range(r):
        add_multiple(y[a], L[a], x, first, end)
    for i in range(first, end):
        x[i] = b[i] - reach[i] * x[i]
    divide(work, first, end, x)
    for i in range(first, end):
        step[i] += x[i]


@routine
def solve_woodbury(work, first, end, r):
    """STEP <- H^-1 RIGHT; the formula subtracts what is almost the same where bounds are near, so that once more is
    needed with what is left."""
    s = work.stick_force
    for i in range(first, end):
        s[STEP, i] = 0.0
    add_woodbury(work, first, end, r, s[RIGHT])
    for _ in range(REFINEMENTS):
        put_residual(work, first, end, r, s[MULTIPLIER])
        add_woodbury(work, first, end, r, s[MULTIPLIER])


@kernel
def factor(work, first, end, r):
    """Of H; whether it exists. r: rank of W, if low."""
    return factor_woodbury(work, first, end, r) if r > 0 else factor_dense(work, first, end)


@kernel
def solve(work, first, end, r):
    """STEP <- H^-1 RIGHT, with what factor has left."""
    if r > 0:
        solve_woodbury(work, first, end, r)
    else:
        solve_dense(work, first, end)


@kernel
def products(work, i, width):
    """(share times step, step squared) of a friction pair."""
    along, square = 0.0, 0.0
    for a in range(i, i + width):
        along += work.stick_force[SHARE, a] * work.stick_force[STEP, a]
        square += work.stick_force[STEP, a] ** 2
    return along, square


@kernel
def reach_of(slack, along, square, part):
    """Longest step, of 1, that takes this part of a slack."""
    # slack - along x - square x^2 / 2 = slack - room
    room = part * slack
    root = along + math.sqrt(along * along + 2.0 * square * room)
    return min(1.0, 2.0 * room / root) if root > 0.0 else 1.0

"""Stick forces of sites that move together (points of one body, joints of one loop), of which only sums are determined.

Of all forces that hold the sites, the analytic centre of those within their bounds: the largest product of
1 - |f_i|^2 / bound_i^2. Small forces then have the least sum of (f_i / bound_i)^2, forces follow smoothly from the
state, and one reaches its bound only where no other distribution holds. Beyond that, the forces that exceed their
bounds by the least factor s: what is left to the bounds passes through zero there.

In shares y_i = f_i / bound_i: -sum log(s^2 - |y_i|^2) is minimised with A y unchanged, A the factor of W, and s = 1;
where no y is known within that, s / gap is added and s free, with a falling gap, until s < 1 (Boyd and Vandenberghe,
Convex Optimization, 11.4). The function is self-concordant: steps divided by 1 + decrement need no search.
"""

import math

from pliant.kernels._jit import kernel, routine
from pliant.kernels.algebra.dense import cholesky, cholesky_solve
from pliant.kernels.contact.phase import width_at
from pliant.system.work import BOUND, FORCE, GRADIENT, MULTIPLIER, RIGHT, SCALE, SHARE, SLACK, STEP

LEAST_BOUND = 1e-12  # of the largest: no share is of less
CENTRED, NEAR = 1e-8, 0.1  # decrements at which a centre is found, at the end and on the way
FULL_STEP = 0.25  # decrement below which whole steps are taken
MAX_ITERATIONS = 100
FALL, LAST_GAP = 0.1, 1e-9  # of the gap, which is in units of s


@kernel
def square_of_share(work, i, width):
    """|y|^2 of the site with first unknown i."""
    total = 0.0
    for a in range(i, i + width):
        total += work.stick_force[SHARE, a] ** 2
    return total


@kernel
def inner(work, a, b, n):
    """Product of two rows of stick_force."""
    total = 0.0
    for i in range(n):
        total += work.stick_force[a, i] * work.stick_force[b, i]
    return total


# --- Newton's step with A y unchanged; of every site H = 2 / slack (1 + 2 y y^T / slack), slack = s^2 - |y|^2 --------


@routine
def divide(work, n, s, x):
    """x <- H^-1 x"""
    y, i = work.stick_force[SHARE], 0
    while i < n:
        width, along = width_at(work, i, n), 0.0
        square = square_of_share(work, i, width)
        for a in range(i, i + width):
            along += y[a] * x[a]
        for a in range(i, i + width):
            x[a] = 0.5 * (s * s - square) * (x[a] - 2.0 * along / (s * s + square) * y[a])
        i += width


@routine
def factor_constraints(work, n, r, s):
    """Cholesky factor of A H^-1 A^T; whether there is one."""
    cap = work.stick.shape[1]
    A, S, order = work.stick[cap : 2 * cap], work.stick[2 * cap :], work.stick_order
    y, along, i = work.stick_force[SHARE], work.stick_force[RIGHT], 0
    for a in range(r):
        for b in range(a + 1):
            S[a, b] = 0.0
    while i < n:
        width = width_at(work, i, n)
        square = square_of_share(work, i, width)
        for a in range(r):
            along[a] = 0.0
            for k in range(i, i + width):
                along[a] += A[k, order[a]] * y[k]
        for a in range(r):
            for b in range(a + 1):
                total = -2.0 / (s * s + square) * along[a] * along[b]
                for k in range(i, i + width):
                    total += A[k, order[a]] * A[k, order[b]]
                S[a, b] += 0.5 * (s * s - square) * total
        i += width
    return cholesky(S, r) < 0


@routine
def divide_constrained(work, n, r, s, x):
    """x <- H^-1 (x - A^T l) with multipliers l that make A x = 0."""
    cap = work.stick.shape[1]
    A, S, order = work.stick[cap : 2 * cap], work.stick[2 * cap :], work.stick_order
    l, z = work.stick_force[RIGHT], work.stick_force[SLACK]
    divide(work, n, s, x)
    for a in range(r):
        l[a] = 0.0
        for i in range(n):
            l[a] += A[i, order[a]] * x[i]
    cholesky_solve(S, r, l)
    for i in range(n):
        z[i] = 0.0
        for a in range(r):
            z[i] += A[i, order[a]] * l[a]
    divide(work, n, s, z)
    for i in range(n):
        x[i] -= z[i]


@routine
def put_slopes(work, n, s):
    """Gradient and its derivative by s into stick_force; slope and curvature in s."""
    rows, slope, curvature, i = work.stick_force, 0.0, 0.0, 0
    while i < n:
        width = width_at(work, i, n)
        slack = s * s - square_of_share(work, i, width)
        for a in range(i, i + width):
            rows[GRADIENT, a] = 2.0 * rows[SHARE, a] / slack
            rows[MULTIPLIER, a] = -2.0 * s * rows[GRADIENT, a] / slack
        slope -= 2.0 * s / slack
        curvature += (4.0 * s * s / slack - 2.0) / slack
        i += width
    return slope, curvature


@routine
def step_to_centre(work, n, r, s, gap):
    """One step of y, and of s where there is a gap; the new s, and the decrement (0 where there is no step)."""
    rows, ds = work.stick_force, 0.0
    slope, curvature = put_slopes(work, n, s)
    if not factor_constraints(work, n, r, s):
        return s, 0.0
    for i in range(n):
        rows[STEP, i] = -rows[GRADIENT, i]
    divide_constrained(work, n, r, s, rows[STEP])
    if gap > 0.0:
        slope += 1.0 / gap
        away = slope + inner(work, MULTIPLIER, STEP, n)
        for i in range(n):
            rows[FORCE, i] = rows[MULTIPLIER, i]  # forces are known by their shares now
        divide_constrained(work, n, r, s, rows[FORCE])
        ds = -away / (curvature - inner(work, MULTIPLIER, FORCE, n))
        for i in range(n):
            rows[STEP, i] -= ds * rows[FORCE, i]
    decrement = math.sqrt(max(-inner(work, GRADIENT, STEP, n) - slope * ds, 0.0))
    length = 1.0 if decrement < FULL_STEP else 1.0 / (1.0 + decrement)
    for i in range(n):
        rows[SHARE, i] += length * rows[STEP, i]
    return s + length * ds, decrement


# --- sharing ------------------------------------------------------------------------------------------------------


@routine
def find_centre(work, n, r):
    """Move the shares to their centre."""
    s, i = 0.0, 0
    while i < n:
        width = width_at(work, i, n)
        s = max(s, math.sqrt(square_of_share(work, i, width)))
        i += width
    if s >= 1.0:
        s *= 2.0
        gap = s
        while s >= 1.0 and gap > LAST_GAP * s:
            gap *= FALL
            for _ in range(MAX_ITERATIONS):
                s, decrement = step_to_centre(work, n, r, s, gap)
                if decrement < NEAR or s < 1.0:
                    break
    if s < 1.0:
        for _ in range(MAX_ITERATIONS):
            _, decrement = step_to_centre(work, n, r, 1.0, 0.0)
            if decrement < CENTRED:
                break


@routine
def share_out(work, n, r, f):
    """f, some forces that hold all sites, <- their centre. The second block of work.stick has the factor of W, its
    first r columns in the order of stick_order, for unknowns in units of SCALE (0: no force moves it)."""
    cap, rows = work.stick.shape[1], work.stick_force
    A, order = work.stick[cap : 2 * cap], work.stick_order
    largest = 0.0
    for i in range(n):
        largest = max(largest, rows[BOUND, i])
    least = max(LEAST_BOUND * largest, 1e-300)
    for k in range(r):
        row = order[k]
        A[row, row] = 1.0 / A[row, row]
        for l in range(k + 1, r):
            A[row, order[l]] = 0.0
    for i in range(n):
        bound = max(rows[BOUND, i], least)
        for k in range(r):
            A[i, order[k]] = A[i, order[k]] * bound / rows[SCALE, i] if rows[SCALE, i] > 0.0 else 0.0
        rows[SHARE, i] = 0.0
        rows[STEP, i] = f[i] / bound
    # the least sum of squares: H = 1 at y = 0, s^2 = 2
    if not factor_constraints(work, n, r, math.sqrt(2.0)):
        return
    divide_constrained(work, n, r, math.sqrt(2.0), rows[STEP])
    for i in range(n):
        rows[SHARE, i] = f[i] / max(rows[BOUND, i], least) - rows[STEP, i]
    find_centre(work, n, r)
    for i in range(n):
        f[i] = rows[SHARE, i] * max(rows[BOUND, i], least)

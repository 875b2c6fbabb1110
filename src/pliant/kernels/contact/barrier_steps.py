"""Forces within bounds by a barrier: the minimum of the objective of bounded_forces.py with -mu w_i log(c_i) added, for
the last mu; c_i = (1 - |x_i|^2) / 2, the slack of a share.

Newton's method for gradient_i + l_i x_i = 0 and l_i c_i = mu w_i, l_i the multiplier of a bound (Boyd and Vandenberghe,
Convex Optimization, 11.7). Objective and barrier fall along its steps whatever l_i > 0 is, so a search along them makes
the method safe (Waechter and Biegler, Math. Program. 106, 2006, with their safeguard of l).
"""

import math

from pliant.kernels._jit import routine
from pliant.kernels.algebra.dense import long_product
from pliant.kernels.contact.bounded_matrix import factor, products, put_gradient, reach_of, solve
from pliant.kernels.contact.phase import width_at
from pliant.system.work import AXIS, DUAL, GRADIENT, MULTIPLIER, RIGHT, SHARE, SLACK, STEP, STRENGTH, WEIGHT

MAX_CUTS = 60
MAX_APPROACH = 0.99  # of its distance from a bound, or of a multiplier from zero, that a step may take
MIN_DECREASE = 0.01  # of what Newton's step promises (Armijo)
BARRIER_FACTOR = 0.02  # from one barrier parameter mu to the next
MAX_OFF_CENTRE = 1e3  # by which multipliers may differ from mu w / c
# largest change of a share in units of its slack, in a step of Newton's method: with which the next mu is due, with
# which the last is done, and below which one that does not fall any more is of rounding (eps / MIN_BARRIER, times sums)
NEXT_CHANGE, LAST_CHANGE, ROUNDING_CHANGE = 1.0, 1e-3, 0.1
STAGNATION = 0.3  # of the change before


@routine
def put_slopes(work, first, end, mu):
    """Gradient of the objective with its barrier, negated, as right side, and the bounds' part of H."""
    s = work.stick_force
    for i in range(first, end):
        own = work.stick_first[i]
        slack = s[SLACK, own]
        s[STRENGTH, i], s[AXIS, i] = s[DUAL, own], s[SHARE, i] / math.sqrt(slack)
        s[RIGHT, i] = -s[GRADIENT, i] - mu * s[WEIGHT, own] / slack * s[SHARE, i]


@routine
def step_length(work, first, end, mu, decrement):
    """Longest part of Newton's step that keeps all slacks positive and lets the objective with its barrier fall."""
    s, longest, i = work.stick_force, 1.0, first
    # of the objective along the step
    slope, curvature = long_product(s[GRADIENT], s[STEP], first, end), decrement
    while i < end:
        width, slack = width_at(work, i, end), s[SLACK, i]
        along, square = products(work, i, width)
        curvature -= s[DUAL, i] * (square + along * along / slack)
        longest = min(longest, reach_of(slack, along, square, MAX_APPROACH))
        i += width
    curvature = max(curvature, 0.0)
    for _ in range(MAX_CUTS):
        change, i = longest * (slope + 0.5 * longest * curvature), first
        while i < end:
            width = width_at(work, i, end)
            along, square = products(work, i, width)
            change -= mu * s[WEIGHT, i] * math.log1p(-longest * (along + 0.5 * longest * square) / s[SLACK, i])
            i += width
        if change <= -MIN_DECREASE * longest * decrement:
            break
        longest *= 0.5
    return longest


@routine
def multiplier_step(work, first, end, mu):
    """Steps of the multipliers into MULTIPLIER; the part of them that keeps all positive."""
    s, longest, i = work.stick_force, 1.0, first
    while i < end:
        width, slack, dual = width_at(work, i, end), s[SLACK, i], s[DUAL, i]
        along, _ = products(work, i, width)
        # (l + dl) (c - x dx) = mu w, without the product of dl and dx
        change = (mu * s[WEIGHT, i] - dual * slack + dual * along) / slack
        if change < 0.0:
            longest = min(longest, -MAX_APPROACH * dual / change)
        s[MULTIPLIER, i] = change
        i += width
    return longest


@routine
def make_step(work, first, end, mu, length):
    s, i, part = work.stick_force, first, multiplier_step(work, first, end, mu)
    while i < end:
        width = width_at(work, i, end)
        along, square = products(work, i, width)
        s[SLACK, i] -= length * (along + 0.5 * length * square)
        for a in range(i, i + width):
            s[SHARE, a] += length * s[STEP, a]
        centre = mu * s[WEIGHT, i] / s[SLACK, i]
        dual = s[DUAL, i] + part * s[MULTIPLIER, i]
        s[DUAL, i] = min(max(dual, centre / MAX_OFF_CENTRE), centre * MAX_OFF_CENTRE)
        i += width


@routine
def largest_change(work, first, end):
    """By the step, of all shares, in the norm of the barrier: sqrt(|dx|^2 / c + (x dx)^2 / c^2)."""
    largest, i = 0.0, first
    while i < end:
        width, slack = width_at(work, i, end), work.stick_force[SLACK, i]
        along, square = products(work, i, width)
        largest = max(largest, square / slack + along * along / (slack * slack))
        i += width
    return math.sqrt(largest)


@routine
def descend(work, first, end, r, unit, mu, last, max_steps, min_length):
    """The minimum of the objective with the last barrier, from this mu on to the last, in steps that are not shorter
    than this part of Newton's; whether it has been found. r: rank of W, if low."""
    s, before = work.stick_force, math.inf
    for _ in range(max_steps):
        put_gradient(work, first, end, r, unit)
        put_slopes(work, first, end, mu)
        if not factor(work, first, end, r):
            return False
        work.run[0].n_newton += 1
        solve(work, first, end, r)
        decrement, change = max(long_product(s[RIGHT], s[STEP], first, end), 0.0), largest_change(work, first, end)
        length = step_length(work, first, end, mu, decrement)
        if not length >= min_length or not change < math.inf:
            return False
        make_step(work, first, end, mu, length)
        if mu == last:
            if change < LAST_CHANGE or STAGNATION * before < change < ROUNDING_CHANGE:
                return True
            before = change
        elif change < NEXT_CHANGE:
            mu = max(BARRIER_FACTOR * mu, last)
    return False

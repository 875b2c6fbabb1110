"""Forces within bounds from those of the evaluation before: the minimum of barrier_steps.py, found in 2 to 4 steps.

Whole steps of Newton's method from the shares before. Those at the border of their discs rotate with the step instead
of leaving along a tangent, so Newton's matrix, whose multipliers are the curvature of the borders, is that of the
motion along them (Absil, Mahony, Sepulchre, Optimization Algorithms on Matrix Manifolds, 2008, ch. 6). Nothing makes
these steps safe: they are believed only where they end in the minimum, which is one and known by its duality gap, and
where the last of them is small: slow convergence is none. The motion may know of evaluations along itself only: others
(work.run.is_aside) begin from the same forces, and leave none.
"""

import math

from pliant.kernels._jit import kernel, routine
from pliant.kernels.contact.barrier_steps import LAST_CHANGE, MAX_OFF_CENTRE, largest_change, make_step, put_slopes
from pliant.kernels.contact.bounded_matrix import factor, products, put_gradient, size_of, solve
from pliant.kernels.contact.cone_steps import MIN_BARRIER
from pliant.kernels.contact.phase import width_at
from pliant.system.work import DUAL, GRADIENT, SHARE, SHARE_BEFORE, SLACK, SLACK_BEFORE, STEP, WEIGHT

MAX_STEPS = 10  # more than cones need
MIN_LEFT = 0.01  # of a slack or a multiplier, after a step
THIN = 0.1  # slack below which it, not the share, says how near the bound is
MAX_MISMATCH = 0.5  # of a multiplier, relative, from mu w / c of its slack, at the end
MAX_GAP, ROUNDING = 2.0, 2e-16  # of a pair in units of mu; of one entry of W, relative


@routine
def has_before(work, first, end):
    """Whether shares of an evaluation before are there, in the same phase (contact/places.py forgets them)."""
    least = 0.5
    for i in range(first, end):
        least = min(least, work.stick_force[SLACK_BEFORE, work.stick_first[i]])
    return least > 0.0


@routine
def forget(work, first, end):
    for i in range(first, end):
        work.stick_force[SLACK_BEFORE, i] = 0.0


@routine
def remember(work, first, end):
    """The shares found are those to begin from, unless this is an evaluation beside the motion."""
    s = work.stick_force
    for i in range(first, end if work.run[0].is_aside == 0 else first):
        s[SHARE_BEFORE, i], s[SLACK_BEFORE, i] = s[SHARE, i], s[SLACK, i]


@kernel
def put_size(work, i, width, slack):
    """Make the share of a pair as large as its slack says."""
    s, size = work.stick_force, size_of(work, SHARE, i, width)
    factor = math.sqrt(max(1.0 - 2.0 * slack, 0.0)) / size if size > 0.0 else 0.0
    for a in range(i, i + width):
        s[SHARE, a] *= factor


@routine
def begin_there(work, first, end):
    """The shares before, and their multipliers; shares and slacks agree."""
    s, i = work.stick_force, first
    for a in range(first, end):
        s[SHARE, a], s[SLACK, a] = s[SHARE_BEFORE, a], s[SLACK_BEFORE, a]
    while i < end:
        width = width_at(work, i, end)
        if s[SLACK, i] < THIN:
            put_size(work, i, width, s[SLACK, i])
        else:
            s[SLACK, i] = 0.5 * (1.0 - size_of(work, SHARE, i, width) ** 2)
        s[DUAL, i] = MIN_BARRIER * s[WEIGHT, i] / s[SLACK, i]
        i += width


@routine
def make_rotating_step(work, first, end):
    s, i = work.stick_force, first
    while i < end:
        width, slack, dual = width_at(work, i, end), s[SLACK, i], s[DUAL, i]
        along, square = products(work, i, width)
        for a in range(i, i + width):
            s[SHARE, a] += s[STEP, a]
        left = slack - along - 0.5 * square
        if left < MIN_LEFT * slack:
            # along the border
            left = max(slack - along, MIN_LEFT * slack)
        s[SLACK, i] = min(left, 0.5)
        put_size(work, i, width, s[SLACK, i])
        # (l + dl) c - l x dx = mu w
        goal = (MIN_BARRIER * s[WEIGHT, i] + dual * along) / slack
        centre = MIN_BARRIER * s[WEIGHT, i] / s[SLACK, i]
        s[DUAL, i] = min(max(goal, MIN_LEFT * dual, centre / MAX_OFF_CENTRE), centre * MAX_OFF_CENTRE)
        i += width


@routine
def are_central(work, first, end):
    """Whether all multipliers belong to their slacks."""
    s, i = work.stick_force, first
    while i < end:
        goal = MIN_BARRIER * s[WEIGHT, i]
        if not abs(s[DUAL, i] * s[SLACK, i] - goal) < MAX_MISMATCH * goal:
            return False
        i += width_at(work, i, end)
    return True


@routine
def is_optimal(work, first, end, r, unit):
    """By the duality gap, gradient times share plus the size of the gradient, which is at most mu w of every pair at
    the minimum, w at most 1; and rounding."""
    put_gradient(work, first, end, r, unit)
    s, total, allowed, i = work.stick_force, 0.0, ROUNDING * (end - first) ** 2, first
    while i < end:
        width = width_at(work, i, end)
        for a in range(i, i + width):
            total += s[GRADIENT, a] * s[SHARE, a]
        total += size_of(work, GRADIENT, i, width)
        allowed += MAX_GAP * MIN_BARRIER
        i += width
    return total <= allowed


@routine
def follow(work, first, end, r, unit):
    """The minimum of the objective with the last barrier, from the shares before; whether it has been found."""
    begin_there(work, first, end)
    for _ in range(MAX_STEPS):
        put_gradient(work, first, end, r, unit)
        put_slopes(work, first, end, MIN_BARRIER)
        if not factor(work, first, end, r):
            return False
        work.run[0].n_newton += 1
        solve(work, first, end, r)
        change = largest_change(work, first, end)
        if not change < math.inf:
            return False
        if change < LAST_CHANGE:
            make_step(work, first, end, MIN_BARRIER, 1.0)
            return are_central(work, first, end) and is_optimal(work, first, end, r, unit)
        make_rotating_step(work, first, end)
    return False

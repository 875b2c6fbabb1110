"""Forces of friction pairs at rest within their bounds: one convex problem for all of them.

min 1/2 f W f + a0 f with |f_i| <= bound_i (in the plane and in joints an interval, in space a disc), W and a0 as in
stick.py, normal forces of contacts and loads of joints given by the state. Accelerations are then unique: friction
pairs at their bound slip against their force, the others are held. Where W is singular (points of one body, joints of
one loop) the forces are the weighted analytic centre of all that bring these accelerations: they follow smoothly from
the state, small ones are equal parts of their bounds, and one reaches its bound only where no other distribution holds.

In shares x of the bounds. The weight w_i of a friction pair, the most that gradient i can be, makes small bounds and
light parts count as the others do. cone_steps.py leads to about the solution, barrier_steps.py ends there: at the
minimum with a barrier so small (MIN_BARRIER) that accelerations do not see it. Where an evaluation before in the same
phase is near, follow_steps.py leads from its solution to the same minimum. Where cones have not led there, barriers
that fall more slowly do, or cones that end at a larger one: where all pairs are about to slip at once, rounding may
hide the minimum with the smallest. Feet about to lift, with bounds far below those of others, are then left out, and
added each by itself. If these have not either, which pairs stick is undecided, and the caller hears it.
"""

import math

from pliant.kernels._jit import REST_FORCES, kernel, routine
from pliant.kernels.algebra.dense import long_product
from pliant.kernels.algebra.vec3 import index
from pliant.kernels.contact.barrier_steps import BARRIER_FACTOR, descend
from pliant.kernels.contact.bounded_matrix import MAX_DENSE, factor_low_rank, size_of
from pliant.kernels.contact.cone_steps import MIN_BARRIER, approach_bounds
from pliant.kernels.contact.follow_steps import follow, has_before, remember
from pliant.kernels.contact.phase import width_at
from pliant.system.status import Status
from pliant.system.work import (
    BOUND,
    DUAL,
    FORCE,
    FREE,
    MARGIN,
    MULTIPLIER,
    RANGE_END,
    REACH,
    SCALE,
    SHARE,
    SLACK,
    WEIGHT,
)

OK, UNDECIDED = int(Status.OK), int(Status.FRICTION_UNDECIDED)  # numba mixes integers only

LAST_BARRIERS = (MIN_BARRIER, 1e-11, 1e-9)  # where that is not reached in bold steps; accelerations change by so much
COARSE_BARRIERS = (MIN_BARRIER, 1e-7, 1e-6)  # without the smallest bounds, rather than no answer
BOLD, CAREFUL = 0.98, 0.9  # of the way to the nearest bound: fast, or without a jam where many are near
FIRST_BARRIER = 0.5  # mu of the multipliers at the start, where no force acts
# 3 to 6, 1 to 3 and 10 to 40 are usual
MAX_INNER_STEPS, MAX_FINAL_STEPS, MAX_SAFE_STEPS = 8, 40, 100
MAX_BOLD_STEPS, MAX_CAREFUL_STEPS = 40, 60  # of cones: they jam, or take 10 to 25; or careful ones up to 50
SMALL = 1e-7  # of the largest bound: of pairs that the others hardly feel
UNBOUNDED_MARGIN = -1e-9  # of a friction pair with bound 0, which nothing holds [N, N m]


@kernel
def is_bounded(work, i):
    """Whether a force can act at unknown i at all, and matters."""
    return work.stick_force[BOUND, i] > 0.0 and work.stick_force[SCALE, i] > 0.0


@routine
def part_end(work, first, n):
    """End of a part of the unknowns, from first on, that shares no entry of W with later ones."""
    W, end, i = work.stick, first + 1, first
    while i < end:
        if i + 1 < n and work.stick_first[i + 1] == work.stick_first[i]:
            end = max(end, i + 2)
        j = n - 1
        while j >= end and W[i, j] == 0.0:
            j -= 1
        end = max(end, j + 1)
        i += 1
    return end


@routine
def put_weights(work, first, end):
    """The most that the gradient of every pair can be, in units of the largest, which is returned."""
    s, W, unit = work.stick_force, work.stick, 0.0
    bound, weight = s[BOUND], s[WEIGHT]
    for i in range(first, end):
        row, total = W[i], 0.0
        for j in range(first, end):
            total += abs(row[index(j)]) * bound[index(j)]
        weight[i] = bound[i] * (abs(s[FREE, i]) + total)
        if work.stick_first[i] < i:
            weight[i - 1] = max(weight[i - 1], weight[i])
        unit = max(unit, weight[i])
    for i in range(first, end if unit > 0.0 else first):
        # where no force acts any weight will do
        weight[i] = weight[i] / unit if weight[i] > 0.0 else 1.0
    return unit


@routine
def begin(work, first, end, mu):
    """No force, and multipliers that belong to it."""
    s = work.stick_force
    for i in range(first, end):
        s[SHARE, i], s[SLACK, i] = 0.0, 0.5
        s[DUAL, i] = mu * s[WEIGHT, work.stick_first[i]] / s[SLACK, i]


@routine
def find_by_cones(work, first, end, r, unit, last, part, max_steps):
    """Shares and slacks at the minimum with this barrier, by cones; whether they have been found."""
    begin(work, first, end, FIRST_BARRIER)
    return approach_bounds(work, first, end, r, unit, last, part, max_steps) and descend(
        work, first, end, r, unit, last, last, MAX_FINAL_STEPS, 0.0
    )


@routine
def leave_out_small(work, first, end):
    """Let pairs with very small bounds have no force."""
    s, largest = work.stick_force, 0.0
    for i in range(first, end):
        largest = max(largest, s[BOUND, i])
    for i in range(first, end):
        if 0.0 < s[BOUND, i] < SMALL * largest:
            s[REACH, i] = 0.0


@routine
def add_small(work, first, end):
    """The share of every pair that has been left out, as if the others were given, and its slack."""
    s, W, i = work.stick_force, work.stick, first
    for a in range(first, end):
        s[FORCE, a] = s[BOUND, a] * s[SHARE, a] if s[REACH, a] > 0.0 else 0.0
    while i < end:
        width = width_at(work, i, end)
        if s[REACH, i] == 0.0 and is_bounded(work, i):
            for a in range(i, i + width):
                pull = s[FREE, a] + long_product(W[a], s[FORCE], first, end)
                s[SHARE, a] = -pull / (W[a, a] * s[BOUND, a])
            size = max(size_of(work, SHARE, i, width), 1.0)
            for a in range(i, i + width):
                s[SHARE, a] /= size
            s[SLACK, i] = max(0.5 * (1.0 - size_of(work, SHARE, i, width) ** 2), MIN_BARRIER)
        i += width


@routine
def find_shares(work, first, end, unit):
    """Shares and slacks at the minimum with the last barrier, which is returned; 0 if they have not been found."""
    r = factor_low_rank(work, first, end) if end - first > MAX_DENSE else 0
    if has_before(work, first, end) and follow(work, first, end, r, unit):
        return MIN_BARRIER
    # where no force is near its bound a few steps lead there at once, and else the first of them says so
    begin(work, first, end, MIN_BARRIER)
    if descend(work, first, end, r, unit, MIN_BARRIER, MIN_BARRIER, MAX_INNER_STEPS, 1.0):
        return MIN_BARRIER
    if find_by_cones(work, first, end, r, unit, MIN_BARRIER, BOLD, MAX_BOLD_STEPS):
        return MIN_BARRIER
    begin(work, first, end, FIRST_BARRIER)
    if descend(work, first, end, r, unit, BARRIER_FACTOR * FIRST_BARRIER, MIN_BARRIER, MAX_SAFE_STEPS, 0.0):
        return MIN_BARRIER
    for last in LAST_BARRIERS:
        if find_by_cones(work, first, end, r, unit, last, CAREFUL, MAX_CAREFUL_STEPS):
            return last
    leave_out_small(work, first, end)
    for last in COARSE_BARRIERS:
        if find_by_cones(work, first, end, r, unit, last, BOLD, MAX_CAREFUL_STEPS):
            add_small(work, first, end)
            return last
    return 0.0


@routine
def find_part(work, first, end):
    """Forces, multipliers and margins of a part of the unknowns; whether they have been found."""
    s, unit, last = work.stick_force, put_weights(work, first, end), MIN_BARRIER
    for i in range(first, end):
        s[REACH, i] = s[BOUND, i] / math.sqrt(unit) if is_bounded(work, i) else 0.0
    if not unit > 0.0:
        begin(work, first, end, 0.0)
    else:
        last = find_shares(work, first, end, unit)
        if last == 0.0:
            return False
    remember(work, first, end)
    for i in range(first, end):
        s[FORCE, i] = s[BOUND, i] * s[SHARE, i]
        s[MULTIPLIER, i] = last / s[SLACK, work.stick_first[i]] if unit > 0.0 else 0.0
        s[MARGIN, i] = (s[SLACK, i] - s[MULTIPLIER, i]) * s[BOUND, i] if s[BOUND, i] > 0.0 else UNBOUNDED_MARGIN
    return True


@routine
def find_bounded_forces(work, n):
    """Forces in stick_force, with multipliers (over their weights), slacks and margins at the first unknown of every
    pair: what is left to a bound as part of it, and less the multiplier, which a pair at its bound has instead. What
    moves apart (bodies on their own) is solved apart."""
    work.run[0].n_newton, first = 0, 0
    while first < n:
        end = part_end(work, first, work.stick_places[RANGE_END, first])
        if not find_part(work, first, end):
            return UNDECIDED
        first = end
    return OK


@kernel(REST_FORCES)
def rest_forces(work, n):
    """The same behind an address: several kernels need it, and it takes longer to compile than all of them."""
    return find_bounded_forces(work, n)

"""Dead points: poses in which the constraints no longer determine the motion, and how runs go through them.

Where a parallelogram lies flat, two branches of its motion cross: xy = 0, moving along x. The constraint then reads
x y'' = .. with an x that vanishes: y'' is rounding over x, and a trace of y, followed finely enough, goes round the
corner of the hyperbola xy = trace onto the other branch. Therefore

- near such a pose W = A M^-1 A^T = L L^T determines the acceleration in the deficient direction, which is the last row
  of L^-1 A (orthonormal in the metric of M), but for a part (e^2/(x^2 + e^2))^3, which continues as at the end of the
  last step: bounded and smooth across the pose, and nothing a little way off;
- positions and velocities are projected onto the loops in the same way, with a larger e where tolerances are tight:
  rounding of positions, over x^2, is not put into velocities;
- minimal coordinates are not solved for in steps that may meet it: all are integrated, and projected at the end of a
  step;
- e is the change of x in a step where steps are implicit and fixed: Newton's method does not see a steeper rise;
- other steps do not end near the pose, but well before and well beyond it;
- what a step across it errs by off the loops, which is rounding over x^2 and is taken away at its end, does not count.

Where a link of the loop is a beam, the constraint reads xy = k w^2, w its deflection: a cone, past whose apex a motion
goes one way or another as w, however small, decides. There nothing is kept from the last step: runs end in the pose.

x^2 is the least pivot of W over its diagonal; it and e^2 are relative to the largest x^2 of the run."""

import math

from pliant.kernels._jit import routine
from pliant.system.loop_tables import DIAGONAL, LARGEST, SHARE

# x^2 over its largest
DEFICIENT_PIVOT = 1e-3  # below it W is rank-deficient
NEAR_PIVOT = 0.03  # below it steps may meet the dead point
APPROACH_PIVOT = 0.3  # below it they may if it is due within APPROACH_STEPS
APPROACH_STEPS = 3.0
PIVOT_FLOOR = 1e-18  # of the diagonal of W
UNREGULARISED_SPEED = 0.1  # [rad/s, model sizes/s] below it e^2 falls with the speed
ALLOWANCE = 100.0  # times rounding over x^2: what a step across a dead point may err by, off the loops


@routine
def largest_speed(system, v):
    """Largest velocity: 1 is one radian, or the size of the model, a second."""
    largest = 0.0
    for j in range(len(v)):
        largest = max(largest, abs(v[j]) / system.dofs[j].velocity_scale)
    return largest


@routine
def factor_gram(work, r):
    """Cholesky factor L of W, diagonal inverted, L^T above it, and the shares of its pivots
    (algebra/rank_deficient.py); whether it exists. During a run it does where a pivot is rounding, too."""
    dead, W = work.dead_point[0], work.gram
    now, largest, share = (
        work.constraint_vectors[DIAGONAL],
        work.constraint_vectors[LARGEST],
        work.constraint_vectors[SHARE],
    )
    least, best = 1.0, dead.max_pivot
    for i in range(r):
        k = work.constraint_order[i]
        now[k] = W[i, i]
        size = max(now[k], largest[k])
        row, pivot = W[i], W[i, i]
        for j in range(i):
            x, above = row[j] * W[j, j], W[j]
            row[j] = above[i] = x
            # most are zero where loops connect few branches
            if x != 0.0:
                for l in range(j + 1, i):
                    row[l] -= x * above[l]
                pivot -= x * x
        if not pivot > 0.0 and (best == 0.0 or math.isnan(pivot)):
            return False
        least = min(least, max(pivot, 0.0) / size)
        if best > 0.0:
            pivot = max(pivot, PIVOT_FLOOR * size)
            share[i] = pivot / (size * best)
        W[i, i] = 1.0 / math.sqrt(pivot)
    dead.pivot = least
    dead.is_rank_deficient = least < max(DEFICIENT_PIVOT, 4.0 * dead.regularisation) * best
    return True


@routine
def expect_dead_point(work, t):
    """When the next dead point is due (x falls to zero as it has fallen over the last step); x, and x^2 over its
    largest."""
    dead = work.dead_point[0]
    x, part = math.sqrt(dead.pivot), dead.pivot / dead.max_pivot if dead.max_pivot > 0.0 else 1.0
    fall = (dead.x_before - x) / (t - dead.t_before) if dead.x_before >= 0.0 and t != dead.t_before else 0.0
    dead.t_expected = t + x / fall if part < APPROACH_PIVOT and fall > 0.0 else math.inf
    dead.is_near = part < NEAR_PIVOT or dead.t_expected - t < APPROACH_STEPS * (t - dead.t_before)
    return x, part


@routine
def has_passed_bent_loop(work, t):
    """Whether a step that ends at t has gone past a dead point in which a beam decides how the motion goes on."""
    dead = work.dead_point[0]
    return dead.least_pivot > 0.0 and t > dead.t_expected


@routine
def remember(system, work, t, v, vdot):
    """After the evaluation at the end of a step: what later ones compare W with, the accelerations they keep near a
    dead point, and when the next one is due."""
    dead, vectors = work.dead_point[0], work.constraint_vectors
    dead.max_pivot = max(dead.max_pivot, dead.pivot)
    for i in range(work.closure[0].n_active):
        k = work.constraint_order[i]
        vectors[LARGEST, k] = max(vectors[LARGEST, k], vectors[DIAGONAL, k])
    for j in range(len(work.previous_vdot)):
        work.previous_vdot[j] = vdot[j]
    x, part = expect_dead_point(work, t)
    # slow motion is rounded less, and would drift off in a pose that it takes long to cross
    dead.regularisation = dead.min_regularisation * min(1.0, largest_speed(system, v) / UNREGULARISED_SPEED)
    if dead.x_before >= 0.0 and dead.max_pivot > 0.0:
        of_step = dead.step_regularisation * (x - dead.x_before) ** 2 / dead.max_pivot
        dead.regularisation = max(dead.regularisation, of_step)
    # in the pose itself a step begins with the previous acceleration: its errors are errors, but for plain rounding
    floor, rounding = 4.0 * dead.regularisation, 0.0
    if part > floor:
        rounding = ALLOWANCE * dead.rounding / part
    elif floor > 0.0:
        rounding = dead.rounding / floor
    dead.error_allowance = min(dead.max_allowance, rounding) if dead.is_near else 0.0
    dead.x_before, dead.t_before = x, t

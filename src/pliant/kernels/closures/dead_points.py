"""Dead points: poses in which loops no longer tell how the mechanism moves, and how runs go through them.

Where a parallelogram lies flat, two branches of its motion cross: xy = 0, moving along x. The condition then says
x y'' = .. with an x that vanishes: y'' is rounding over x, and a trace of y, followed finely enough, turns the corner
of the hyperbola xy = trace onto the other branch. Therefore

- beside such a pose W = A M^-1 A^T = L L^T tells the acceleration in the weak direction, which is the last row of
  L^-1 A (orthonormal as masses measure it), but for a part (e^2/(x^2 + e^2))^3, which goes on as at the end of the last
  step: bounded and smooth across the pose, and nothing a little way off;
- positions and speeds are put back on the loops in the same way, with a larger e where tolerances are tight: rounding
  of positions, over x^2, is not put into speeds;
- minimal coordinates are not imposed in steps that may meet it: all are integrated, and put back at the end of a step;
- e is what x changes by in a step where steps are implicit and fixed: Newton's method does not see a steeper rise;
- other steps do not end beside the pose, but well before and well beyond it;
- what a step across it errs by off the loops, which is rounding over x^2 and is taken away at its end, does not count.

x^2 is the least pivot of W over its diagonal; it and e^2 are measured against the best that it has been in the run."""

import math

from pliant.kernels._jit import routine

WEAK = 1e-3  # of the best that the least pivot of W has been: beside a dead point
NO_PIVOT = 1e-18  # of its diagonal
BESIDE = 0.03  # of the same: steps may meet the dead point
NEAR = 0.3  # of the same: they may if it is due within a few of them
FEW_STEPS = 3.0
SLOW = 0.1  # [rad/s, sizes/s]
SLACK = 100.0  # times rounding over x^2: what a step across a dead point may err by, off the loops
MOST_SLACK = 1e5  # tolerances
BIAS, RIGHT, TARGET, SHARE, DIAGONAL, LARGEST = 0, 1, 2, 3, 4, 5  # rows of work.closing_vectors


@routine
def largest_speed(system, v):
    """Largest velocity: 1 is one radian, or the size of the model, a second."""
    largest = 0.0
    for j in range(len(v)):
        largest = max(largest, abs(v[j]) / system.dofs[j].reach)
    return largest


@routine
def factor_gram(work, r):
    """Cholesky factor of W, diagonal inverted, and the shares of its pivots (algebra/weak.py); whether it exists. That
    of a W which is weak does where a pivot is rounding, too."""
    run, W, now, largest = work.run[0], work.gram, work.closing_vectors[DIAGONAL], work.closing_vectors[LARGEST]
    least, best, share = 1.0, work.run[0].best_pivot, work.closing_vectors[SHARE]
    for i in range(r):
        k = work.condition_order[i]
        now[k] = W[i, i]
        size = max(now[k], largest[k])
        for j in range(i):
            total = W[i, j]
            for l in range(j):
                total -= W[i, l] * W[j, l]
            W[i, j] = total * W[j, j]
        pivot = W[i, i]
        for l in range(i):
            pivot -= W[i, l] * W[i, l]
        if not pivot > 0.0 and (best == 0.0 or math.isnan(pivot)):
            return False
        least = min(least, max(pivot, 0.0) / size)
        if best > 0.0:
            pivot = max(pivot, NO_PIVOT * size)
            share[i] = pivot / (size * best)
        W[i, i] = 1.0 / math.sqrt(pivot)
    run.pivot = least
    run.is_weak = least < max(WEAK, 4.0 * run.softness) * best
    return True


@routine
def remember(system, work, t, v, vdot):
    """After the evaluation at the end of a step: what later ones compare W with, the accelerations they keep beside a
    dead point, and when the next one is due (x falls to zero as it has fallen over the last step)."""
    run, vectors = work.run[0], work.closing_vectors
    run.best_pivot = max(run.best_pivot, run.pivot)
    for i in range(run.n_dependent):
        k = work.condition_order[i]
        vectors[LARGEST, k] = max(vectors[LARGEST, k], vectors[DIAGONAL, k])
    for j in range(len(work.held_vdot)):
        work.held_vdot[j] = vdot[j]
    x, part = math.sqrt(run.pivot), run.pivot / run.best_pivot if run.best_pivot > 0.0 else 1.0
    fall = (run.dead_x - x) / (t - run.dead_t) if run.dead_x >= 0.0 and t != run.dead_t else 0.0
    run.t_dead = t + x / fall if part < NEAR and fall > 0.0 else math.inf
    run.is_beside = part < BESIDE or run.t_dead - t < FEW_STEPS * (t - run.dead_t)
    # what is slow is rounded less, and would drift off in a pose that it takes long to cross
    run.softness = run.least_softness * min(1.0, largest_speed(system, v) / SLOW)
    if run.dead_x >= 0.0 and run.best_pivot > 0.0:
        run.softness = max(run.softness, run.step_softness * (x - run.dead_x) ** 2 / run.best_pivot)
    # a step that begins in the pose itself begins with an acceleration that is held: its errors are errors
    has_noise = run.is_beside and part > 4.0 * run.softness
    run.slack = min(MOST_SLACK, SLACK * run.noise / part) if has_noise else 0.0
    run.dead_x, run.dead_t = x, t

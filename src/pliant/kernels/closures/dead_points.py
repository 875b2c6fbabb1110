"""Dead points: poses in which loops no longer tell how the mechanism moves, and how runs go through them.

Where a parallelogram lies flat, two branches of its motion cross: xy = 0, moving along x. The condition then says
x y'' = .. with an x that vanishes: y'' is rounding over x, and a trace of y, followed finely enough, turns the corner
of the hyperbola xy = trace onto the other branch. Therefore

- beside such a pose W + e^2 diag is factored in place of W = A M^-1 A^T, and solved again and again from the
  multipliers of the last step (augmented Lagrangian): the correction in the weak direction is
  1 - (e^2/(x^2 + e^2))^n of the whole, bounded and smooth across the pose, and all of it a little way off;
- positions and speeds are put back on the loops in the same way, with a larger e where tolerances are tight: rounding
  of positions, over x^2, is not put into speeds;
- minimal coordinates are not imposed in steps that may meet it: all are integrated, and put back at the end of a step;
- e is what x changes by in a step where steps are implicit and fixed: Newton's method does not see a steeper rise;
- other steps do not end beside the pose, but well before and well beyond it;
- what a step across it errs by off the loops, which is rounding over x^2 and is taken away at its end, does not count.

x^2 is the least pivot of W over its diagonal; it and e^2 are measured against the best that it has been in the run."""

import math

from pliant.kernels._jit import routine
from pliant.kernels.algebra.dense import cholesky

WEAK = 1e-3  # of the best that the least pivot of W has been: beside a dead point
WEAK_SOLVES = 3
BESIDE = 0.03  # of the same: steps may meet the dead point
NEAR = 0.3  # of the same: they may if it is due within a few of them
FEW_STEPS = 3.0
SLACK = 100.0  # times rounding over x^2: what a step across a dead point may err by, off the loops
MOST_SLACK = 1e3  # tolerances
BIAS, RIGHT, DIAGONAL, LARGEST, HELD = 0, 1, 2, 3, 4  # rows of work.closing_vectors


@routine
def put_gram(work, r, softness):
    """W, of which an earlier factor has left the upper triangle, with this part of its largest diagonal more on it."""
    W, now, largest = work.gram, work.closing_vectors[DIAGONAL], work.closing_vectors[LARGEST]
    for i in range(r):
        for j in range(i):
            W[i, j] = W[j, i]
        k = work.condition_order[i]
        W[i, i] = now[k] + softness * max(now[k], largest[k])


@routine
def factor_gram(work, r, softness):
    """Cholesky factor of W, of one that is weak softened by that part of the best it has been; whether it exists."""
    run, W, now, largest = work.run[0], work.gram, work.closing_vectors[DIAGONAL], work.closing_vectors[LARGEST]
    for i in range(r):
        now[work.condition_order[i]] = W[i, i]
    exists, least = cholesky(W, r) < 0, 1.0
    for i in range(r):
        k = work.condition_order[i]
        # the diagonal is inverted
        least = min(least, 1.0 / (W[i, i] ** 2 * max(now[k], largest[k]))) if exists else 0.0
    run.pivot = least
    run.is_weak = least < max(WEAK, 4.0 * softness) * run.best_pivot
    if run.is_weak:
        put_gram(work, r, softness * run.best_pivot)
        exists = cholesky(W, r) < 0
    return exists


@routine
def remember(work, t):
    """After the evaluation at the end of a step: what later ones compare W with, the multipliers they begin with beside
    a dead point, and when the next one is due (x falls to zero as it has fallen over the last step)."""
    run, vectors = work.run[0], work.closing_vectors
    run.best_pivot = max(run.best_pivot, run.pivot)
    for i in range(run.n_dependent):
        k = work.condition_order[i]
        vectors[LARGEST, k] = max(vectors[LARGEST, k], vectors[DIAGONAL, k])
    for k in range(len(work.closings)):
        vectors[HELD, k] = work.closings[k].force
    x, part = math.sqrt(run.pivot), run.pivot / run.best_pivot if run.best_pivot > 0.0 else 1.0
    fall = (run.dead_x - x) / (t - run.dead_t) if t != run.dead_t else 0.0
    run.t_dead = t + x / fall if part < NEAR and fall > 0.0 else math.inf
    run.is_beside = part < BESIDE or run.t_dead - t < FEW_STEPS * (t - run.dead_t)
    run.slack = min(MOST_SLACK, SLACK * run.noise / max(part, 1e-300)) if run.is_beside else 0.0
    run.softness = max(run.least_softness, run.step_softness * (x - run.dead_x) ** 2 / max(run.best_pivot, 1e-300))
    run.dead_x, run.dead_t = x, t


@routine
def largest_speed(system, v):
    """Largest velocity: 1 is one radian, or the size of the model, a second."""
    largest = 0.0
    for j in range(len(v)):
        largest = max(largest, abs(v[j]) / system.dofs[j].reach)
    return largest

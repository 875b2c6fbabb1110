"""Forces of friction pairs at rest within their bounds: one convex problem for all of them.

min 1/2 f W f + a0 f with |f_i| <= bound_i (in the plane and in joints an interval, in space a disc), W and a0 as in
stick.py, normal forces of contacts and loads of joints given by the state. Accelerations are then unique: friction
pairs at their bound slip against their force, the others are held. Where W is singular (points of one body, joints of
one loop) the forces are the weighted analytic centre of all that bring these accelerations: they follow smoothly from
the state, small ones are equal parts of their bounds, and one reaches its bound only where no other distribution holds.

In shares x of the bounds: s = (1, x_i) is in the cone |s_1| <= s_0, and so is its dual z = (l_i, p_i), l_i the
multiplier of the bound, p_i the part of the gradient that it takes up. Newton's method for gradient_i = p_i and
s o z = (l_i + x_i p_i, p_i + l_i x_i) = (2 mu w_i, 0), with the scaling of Nesterov and Todd, predictor and corrector,
mu falling to nothing (Andersen, Roos, Terlaky, Math. Program. 95, 2003; Mehrotra, SIAM J. Optim. 2, 1992). The weight
w_i, the most that gradient i can be, makes small bounds and light parts count as the others do.

That leads to the minimum of the objective with a barrier -mu w_i log(c_i), c_i = (1 - |x_i|^2) / 2, for the last mu.
Steps with p_i = -l_i x_i, along which objective and barrier fall whatever l_i > 0 is, end there (Boyd and Vandenberghe,
Convex Optimization, 11.7; Waechter and Biegler, Math. Program. 106, 2006, with their safeguard of l). Where cones have
not led to it, such steps alone do, with mu falling more slowly.
"""

import math

from pliant.kernels._jit import kernel, routine
from pliant.kernels.algebra.dense import add_multiple, cholesky_upper, cholesky_upper_solve, long_product
from pliant.kernels.algebra.vec3 import index
from pliant.kernels.contact.phase import width_at
from pliant.system.status import Status
from pliant.system.work import (
    AXIS,
    BOUND,
    DUAL,
    DUAL_RIGHT,
    DUAL_STEP,
    FORCE,
    FREE,
    GRADIENT,
    MARGIN,
    MULTIPLIER,
    PREDICTED,
    PULL,
    PULL_RIGHT,
    PULL_STEP,
    REACH,
    RIGHT,
    SCALE,
    SHARE,
    SLACK,
    STEP,
    STRENGTH,
    WEIGHT,
)

OK, UNDECIDED = int(Status.OK), int(Status.FRICTION_UNDECIDED)  # numba mixes integers only

MIN_BARRIER = 1e-13  # the last mu
# with cones
MAX_CONE_STEPS = 40  # 8 to 20 are usual
MIN_PART, MAX_PART = 0.98, 0.999  # of the way to the nearest bound that a step may take
REACHED, LARGEST, RESIDUAL = 2.0, 4.0, 10.0  # times the last mu: of the mean mu, the largest one, gradient - p over w
# with a barrier
MAX_BARRIER_STEPS = 400  # 1 to 3 are usual
MAX_CUTS = 60
MAX_APPROACH = 0.99  # of its distance from a bound, or of a multiplier from zero, that a step may take
MIN_DECREASE = 0.01  # of what Newton's step promises (Armijo)
FIRST_BARRIER = 0.5  # mu of the multipliers at the start, where no force acts
BARRIER_FACTOR = 0.02  # from one barrier parameter mu to the next
MAX_OFF_CENTRE = 1e3  # by which multipliers may differ from mu w / c
CENTRE_DECREMENT, FINAL_DECREMENT = (
    1.0,
    1e-6,
)  # of mu: Newton's decrement at which the next mu is due, and the last is done
ROUNDING_DECREMENT = 1e-2  # of the last mu: one that does not fall any more below it is of rounding
STAGNATION = 0.1  # of the decrement before
# with both
DAMPING = 1e-13  # of the diagonal, in Newton's matrix only
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
    """W f + a0 in shares of the bounds over the unit, 0 where no force acts; r: rank of W, if low."""
    cap = work.stick.shape[1]
    W, L, s = work.stick, work.stick[2 * cap :], work.stick_force
    f, total = s[FORCE], s[GRADIENT]
    for i in range(n):
        f[i], total[i] = s[BOUND, i] * s[SHARE, i], 0.0
    if r > 0:
        for k in range(r):
            add_multiple(long_product(L[k], f, 0, n), L[k], total, 0, n)
    else:
        for i in range(n):
            total[i] = long_product(W[i], f, 0, n)
    root = math.sqrt(unit)
    for i in range(n):
        total[i] = (s[FREE, i] + total[i]) * s[REACH, i] / root


# --- Newton's matrix H: W in shares, and e (1 + d d^T) of every friction pair, e its STRENGTH, d its AXIS -------------


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
def rotate_step(work, n, sense):
    """The step to axes along and across the axis of every pair, or (sense -1) back."""
    step, i = work.stick_force[STEP], 0
    while i < n:
        width = width_at(work, i, n)
        if width == 2:
            c, s = direction(work, i, width)
            step[i], step[i + 1] = rotated(c, sense * s, step[i], step[i + 1])
        i += width


@routine
def rotate_matrix(work, H, n):
    """The upper half of H (with all of the blocks on its diagonal) to the same axes: what is large at a bound then
    stands alone."""
    i = 0
    while i < n:
        width = width_at(work, i, n)
        if width == 2:
            c, s = direction(work, i, width)
            a, b = H[i], H[i + 1]
            for j in range(i, n):
                a[index(j)], b[index(j)] = rotated(c, s, a[index(j)], b[index(j)])
            for j in range(i + 2):
                H[j, i], H[j, i + 1] = rotated(c, s, H[j, i], H[j, i + 1])
        i += width


@routine
def factor_dense(work, n):
    """H = U^T U; whether it exists."""
    cap = work.stick.shape[1]
    W, H, s = work.stick, work.stick[cap : 2 * cap], work.stick_force
    reach, i = s[REACH], 0
    while i < n:
        width = width_at(work, i, n)
        for a in range(i, i + width):
            row, source, x = H[a], W[a], reach[a]
            for j in range(i, n):
                row[index(j)] = x * source[index(j)] * reach[index(j)]
        i += width
    rotate_matrix(work, H, n)
    i = 0
    while i < n:
        width = width_at(work, i, n)
        for a in range(i, i + width):
            H[a, a] = H[a, a] * (1.0 + DAMPING) + s[STRENGTH, i]
        H[i, i] += s[STRENGTH, i] * size_of(work, AXIS, i, width) ** 2
        i += width
    return cholesky_upper(H, n) < 0


@routine
def solve_dense(work, n):
    """STEP <- H^-1 RIGHT"""
    cap = work.stick.shape[1]
    s, step = work.stick_force, work.stick_force[STEP]
    for i in range(n):
        step[i] = s[RIGHT, i]
    rotate_step(work, n, 1.0)
    cholesky_upper_solve(work.stick[cap : 2 * cap], n, step)
    rotate_step(work, n, -1.0)


# many friction pairs of few bodies: W = L L^T of low rank, and Woodbury's formula


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
        row, source, inverse = L[k], W[pivot], 1.0 / math.sqrt(rest[pivot])
        for i in range(n):
            row[i] = source[i]
        for l in range(k):
            add_multiple(-L[l, pivot], L[l], row, 0, n)
        for i in range(n):
            row[i] *= inverse
            rest[i] -= row[i] * row[i]
        rest[pivot] = 0.0
    return 0


@routine
def divide(work, n, x):
    """x <- D^-1 x, D the part e (1 + d d^T) of every friction pair."""
    s, i = work.stick_force, 0
    while i < n:
        width, along, square = width_at(work, i, n), 0.0, 0.0
        for a in range(i, i + width):
            along += s[AXIS, a] * x[a]
            square += s[AXIS, a] ** 2
        for a in range(i, i + width):
            x[a] = (x[a] - along / (1.0 + square) * s[AXIS, a]) / s[STRENGTH, i]
        i += width


@routine
def factor_woodbury(work, n, r):
    """1 + A^T D^-1 A = U^T U, A = L in shares; whether it exists."""
    cap = work.stick.shape[1]
    S, L, column, reach = (
        work.stick[cap : 2 * cap],
        work.stick[2 * cap :],
        work.stick_force[MULTIPLIER],
        work.stick_force[REACH],
    )
    for a in range(r):
        for i in range(n):
            column[i] = reach[i] * L[a, i]
        divide(work, n, column)
        for i in range(n):
            column[i] *= reach[i]
        for b in range(a, r):
            S[a, b] = long_product(L[b], column, 0, n)
        S[a, a] += 1.0
    return cholesky_upper(S, r) < 0


@routine
def solve_woodbury(work, n, r):
    """STEP <- H^-1 RIGHT = D^-1 (b - A (1 + A^T D^-1 A)^-1 A^T D^-1 b)"""
    cap = work.stick.shape[1]
    L, s = work.stick[2 * cap :], work.stick_force
    step, column, y, reach = s[STEP], s[MULTIPLIER], s[MARGIN], s[REACH]
    for i in range(n):
        column[i] = s[RIGHT, i]
    divide(work, n, column)
    for i in range(n):
        column[i] *= reach[i]
    for a in range(r):
        y[a] = long_product(L[a], column, 0, n)
    cholesky_upper_solve(work.stick[cap : 2 * cap], r, y)
    for i in range(n):
        column[i] = 0.0
    for a in range(r):
        add_multiple(y[a], L[a], column, 0, n)
    for i in range(n):
        step[i] = s[RIGHT, i] - reach[i] * column[i]
    divide(work, n, step)


@kernel
def factor(work, n, r):
    """Of H; whether it exists. r: rank of W, if low."""
    return factor_woodbury(work, n, r) if r > 0 else factor_dense(work, n)


@kernel
def solve(work, n, r):
    """STEP <- H^-1 RIGHT, with what factor has left."""
    if r > 0:
        solve_woodbury(work, n, r)
    else:
        solve_dense(work, n)


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


# --- steps with cones -------------------------------------------------------------------------------------------------


@kernel
def pair_of(row, i, width):
    return row[i], row[i + 1] if width == 2 else 0.0


@kernel
def scaled(w0, wx, wy, sense, a0, ax, ay):
    """S a (sense 1) or S^-1 a (sense -1), S = [w0, w^T; w, 1 + w w^T / (1 + w0)]"""
    along = wx * ax + wy * ay
    factor = sense * a0 + along / (1.0 + w0)
    return w0 * a0 + sense * along, ax + factor * wx, ay + factor * wy


@routine
def put_scalings(work, n):
    """Of every cone eta S with eta S z = S^-1 s / eta: 1 / eta^2 as STRENGTH and sqrt(2) w as AXIS. Whether all s and z
    are inside."""
    s, i = work.stick_force, 0
    while i < n:
        width, l = width_at(work, i, n), s[DUAL, i]
        x, y = pair_of(s[SHARE], i, width)
        px, py = pair_of(s[PULL], i, width)
        pull = math.sqrt(px * px + py * py)
        det_s, det_z = 2.0 * s[SLACK, i], (l - pull) * (l + pull)
        if not (det_s > 0.0 and det_z > 0.0):
            return False
        root_s, root_z = math.sqrt(det_s), math.sqrt(det_z)
        cosine = max((l + x * px + y * py) / (root_s * root_z), 1.0)
        size = math.sqrt(1.0 + cosine)  # sqrt(2) times the size of the sum of both normalised
        s[STRENGTH, i] = root_z / root_s
        s[AXIS, i] = (x / root_s - px / root_z) / size
        if width == 2:
            s[AXIS, i + 1] = (y / root_s - py / root_z) / size
        i += width
    return True


@routine
def put_cone_right(work, n, mu, is_corrector):
    """Right sides of Newton's step towards s o z = (2 mu w, 0), of the corrector with the products of the predictor."""
    s, i = work.stick_force, 0
    while i < n:
        width, eta = width_at(work, i, n), 1.0 / math.sqrt(s[STRENGTH, i])
        dx, dy = pair_of(s[AXIS], i, width)
        wx, wy = math.sqrt(0.5) * dx, math.sqrt(0.5) * dy
        w0 = math.sqrt(1.0 + wx * wx + wy * wy)
        px, py = pair_of(s[PULL], i, width)
        # g = eta S z, the same as S^-1 s / eta: both change by what makes g o (change) = goal - g o g
        g0, gx, gy = scaled(w0, wx, wy, 1.0, eta * s[DUAL, i], eta * px, eta * py)
        a0 = 2.0 * mu * s[WEIGHT, i] - (g0 * g0 + gx * gx + gy * gy)
        ax, ay = -2.0 * g0 * gx, -2.0 * g0 * gy
        if is_corrector:
            ux, uy = pair_of(s[PREDICTED], i, width)
            b0, bx, by = scaled(w0, wx, wy, -1.0, 0.0, ux / eta, uy / eta)
            qx, qy = pair_of(s[PULL_STEP], i, width)
            c0, cx, cy = scaled(w0, wx, wy, 1.0, eta * s[DUAL_STEP, i], eta * qx, eta * qy)
            a0 -= b0 * c0 + bx * cx + by * cy
            ax -= b0 * cx + c0 * bx
            ay -= b0 * cy + c0 * by
        # g o h = a
        h0 = (g0 * a0 - gx * ax - gy * ay) / (g0 * g0 - gx * gx - gy * gy)
        hx, hy = (ax - h0 * gx) / g0, (ay - h0 * gy) / g0
        v0, vx, vy = scaled(w0, wx, wy, -1.0, h0 / eta, hx / eta, hy / eta)
        s[DUAL_RIGHT, i], s[PULL_RIGHT, i] = v0, vx
        if width == 2:
            s[PULL_RIGHT, i + 1] = vy
        for a in range(i, i + width):
            s[RIGHT, a] = s[PULL, a] - s[GRADIENT, a] + s[PULL_RIGHT, a]
        i += width


@routine
def put_dual_step(work, n):
    """Of z: its right side less (eta S)^-2 (0, step), (eta S)^-2 = (2 (w0, -w) (w0, -w)^T - diag(1, -1)) / eta^2."""
    s, i = work.stick_force, 0
    while i < n:
        width, along, square = width_at(work, i, n), 0.0, 0.0
        for a in range(i, i + width):
            along += s[AXIS, a] * s[STEP, a]
            square += s[AXIS, a] ** 2
        # sqrt(2) w0 = sqrt(2 + |axis|^2)
        s[DUAL_STEP, i] = s[DUAL_RIGHT, i] + s[STRENGTH, i] * math.sqrt(2.0 + square) * along
        for a in range(i, i + width):
            s[PULL_STEP, a] = s[PULL_RIGHT, a] - s[STRENGTH, i] * (s[STEP, a] + along * s[AXIS, a])
        i += width


@routine
def cone_length(work, n, part):
    """Longest part of the step that takes no s and no z farther than this part of its way to the border of its cone."""
    s, longest, i = work.stick_force, 1.0, 0
    while i < n:
        width, l, m = width_at(work, i, n), s[DUAL, i], s[DUAL_STEP, i]
        along, square = products(work, i, width)
        longest = min(longest, reach_of(s[SLACK, i], along, square, part))
        px, py = pair_of(s[PULL], i, width)
        qx, qy = pair_of(s[PULL_STEP], i, width)
        pull = math.sqrt(px * px + py * py)
        # a x^2 + 2 b x + c = 0
        a, b, c = m * m - qx * qx - qy * qy, l * m - px * qx - py * qy, part * (l - pull) * (l + pull)
        square = b * b - a * c
        if a < 0.0 or (b < 0.0 and square >= 0.0):
            longest = min(longest, c / (math.sqrt(max(square, 0.0)) - b))
        i += width
    return longest


@routine
def make_cone_step(work, n, length):
    s, i = work.stick_force, 0
    while i < n:
        width = width_at(work, i, n)
        along, square = products(work, i, width)
        s[SLACK, i] -= length * (along + 0.5 * length * square)
        s[DUAL, i] += length * s[DUAL_STEP, i]
        for a in range(i, i + width):
            s[SHARE, a] += length * s[STEP, a]
            s[PULL, a] += length * s[PULL_STEP, a]
        i += width


@routine
def sizes(work, n):
    """Mean and largest mu of the friction pairs, and the largest difference between gradient and p over its weight."""
    s, total, most, residual, count, i = work.stick_force, 0.0, 0.0, 0.0, 0, 0
    while i < n:
        width, mu = width_at(work, i, n), s[DUAL, i]
        for a in range(i, i + width):
            mu += s[SHARE, a] * s[PULL, a]
            residual = max(residual, abs(s[GRADIENT, a] - s[PULL, a]) / s[WEIGHT, i])
        mu *= 0.5 / s[WEIGHT, i]
        total, most, count = total + mu, max(most, mu), count + 1
        i += width
    return total / count, most, residual


@routine
def approach_bounds(work, n, r, unit):
    """Shares, slacks and multipliers about those of the last mu; whether they have been found. r: rank of W, if low."""
    s, run = work.stick_force, work.run[0]
    for i in range(n):
        s[PULL, i] = 0.0
    for _ in range(MAX_CONE_STEPS):
        put_gradient(work, n, r, unit)
        mu, most, residual = sizes(work, n)
        if mu < REACHED * MIN_BARRIER and most < LARGEST * MIN_BARRIER and residual < RESIDUAL * MIN_BARRIER:
            return True
        if not put_scalings(work, n) or not factor(work, n, r):
            return False
        run.n_newton += 1
        # the predictor: as far as it goes, as far may mu fall
        put_cone_right(work, n, 0.0, False)
        solve(work, n, r)
        put_dual_step(work, n)
        length = cone_length(work, n, 1.0)
        for i in range(n):
            s[PREDICTED, i] = s[STEP, i]
        put_cone_right(work, n, max((1.0 - length) ** 3 * mu, MIN_BARRIER), True)
        solve(work, n, r)
        put_dual_step(work, n)
        make_cone_step(work, n, cone_length(work, n, min(max(length, MIN_PART), MAX_PART)))
    return False


# --- steps with a barrier ---------------------------------------------------------------------------------------------


@routine
def put_slopes(work, n, mu):
    """Gradient of the objective with its barrier, negated, as right side, and the bounds' part of H."""
    s = work.stick_force
    for i in range(n):
        first = work.stick_first[i]
        slack = s[SLACK, first]
        s[STRENGTH, i], s[AXIS, i] = s[DUAL, first], s[SHARE, i] / math.sqrt(slack)
        s[RIGHT, i] = -s[GRADIENT, i] - mu * s[WEIGHT, first] / slack * s[SHARE, i]


@routine
def step_length(work, n, mu, decrement):
    """Longest part of Newton's step that keeps all slacks positive and lets the objective with its barrier fall."""
    s, longest, i = work.stick_force, 1.0, 0
    # of the objective along the step
    slope, curvature = long_product(s[GRADIENT], s[STEP], 0, n), decrement
    while i < n:
        width, slack = width_at(work, i, n), s[SLACK, i]
        along, square = products(work, i, width)
        curvature -= s[DUAL, i] * (square + along * along / slack)
        longest = min(longest, reach_of(slack, along, square, MAX_APPROACH))
        i += width
    curvature = max(curvature, 0.0)
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
def multiplier_step(work, n, mu):
    """Steps of the multipliers into MULTIPLIER; the part of them that keeps all positive."""
    s, longest, i = work.stick_force, 1.0, 0
    while i < n:
        width, slack, dual = width_at(work, i, n), s[SLACK, i], s[DUAL, i]
        along, _ = products(work, i, width)
        # (l + dl) (c - x dx) = mu w, without the product of dl and dx
        change = (mu * s[WEIGHT, i] - dual * slack + dual * along) / slack
        if change < 0.0:
            longest = min(longest, -MAX_APPROACH * dual / change)
        s[MULTIPLIER, i] = change
        i += width
    return longest


@routine
def make_step(work, n, mu, length):
    s, i, part = work.stick_force, 0, multiplier_step(work, n, mu)
    while i < n:
        width = width_at(work, i, n)
        along, square = products(work, i, width)
        s[SLACK, i] -= length * (along + 0.5 * length * square)
        for a in range(i, i + width):
            s[SHARE, a] += length * s[STEP, a]
        centre = mu * s[WEIGHT, i] / s[SLACK, i]
        dual = s[DUAL, i] + part * s[MULTIPLIER, i]
        s[DUAL, i] = min(max(dual, centre / MAX_OFF_CENTRE), centre * MAX_OFF_CENTRE)
        i += width


@routine
def descend(work, n, r, unit, least, mu):
    """The minimum of the objective with the last barrier, from this mu on; whether it has been found. r: rank of W, if
    low."""
    s, before = work.stick_force, math.inf
    for _ in range(MAX_BARRIER_STEPS):
        put_gradient(work, n, r, unit)
        put_slopes(work, n, mu)
        if not factor(work, n, r):
            return False
        work.run[0].n_newton += 1
        solve(work, n, r)
        decrement = max(long_product(s[RIGHT], s[STEP], 0, n), 0.0)
        if not decrement < math.inf:
            return False
        make_step(work, n, mu, step_length(work, n, mu, decrement))
        if mu == MIN_BARRIER:
            if decrement < FINAL_DECREMENT * mu * least:
                return True
            if decrement < ROUNDING_DECREMENT * mu * least and decrement > STAGNATION * before:
                return True
            before = decrement
        elif decrement < CENTRE_DECREMENT * mu * least:
            mu = max(BARRIER_FACTOR * mu, MIN_BARRIER)
    return False


# --- all of it --------------------------------------------------------------------------------------------------------


@routine
def put_weights(work, n):
    """The most that the gradient of every pair can be, in units of the largest, which is returned; and the least."""
    s, W, unit, least = work.stick_force, work.stick, 0.0, 1.0
    bound, weight = s[BOUND], s[WEIGHT]
    for i in range(n):
        row, total = W[i], 0.0
        for j in range(n):
            total += abs(row[index(j)]) * bound[index(j)]
        weight[i] = bound[i] * (abs(s[FREE, i]) + total)
        if work.stick_first[i] < i:
            weight[i - 1] = max(weight[i - 1], weight[i])
        unit = max(unit, weight[i])
    for i in range(n if unit > 0.0 else 0):
        # where no force acts any weight will do
        weight[i] = weight[i] / unit if weight[i] > 0.0 else 1.0
        if is_bounded(work, i) and work.stick_first[i] == i:
            least = min(least, weight[i])
    return unit, max(least, MIN_WEIGHT)


@routine
def begin(work, n):
    """No force, and multipliers that belong to it."""
    s = work.stick_force
    for i in range(n):
        s[SHARE, i], s[SLACK, i] = 0.0, 0.5
        s[DUAL, i] = FIRST_BARRIER * s[WEIGHT, work.stick_first[i]] / s[SLACK, i]


@routine
def find_bounded_forces(work, n):
    """Forces in stick_force, with multipliers (over their weights), slacks and margins at the first unknown of every
    pair: what is left to a bound as part of it, and less the multiplier, which a pair at its bound has instead."""
    s = work.stick_force
    unit, least = put_weights(work, n)
    work.run[0].n_newton = 0
    begin(work, n)
    if unit > 0.0:
        for i in range(n):
            s[REACH, i] = s[BOUND, i] / math.sqrt(unit) if is_bounded(work, i) else 0.0
        r = factor_low_rank(work, n) if n > MAX_DENSE else 0
        if not (approach_bounds(work, n, r, unit) and descend(work, n, r, unit, least, MIN_BARRIER)):
            begin(work, n)
            if not descend(work, n, r, unit, least, BARRIER_FACTOR * FIRST_BARRIER):
                return UNDECIDED
    for i in range(n):
        s[FORCE, i] = s[BOUND, i] * s[SHARE, i]
        s[MULTIPLIER, i] = MIN_BARRIER / s[SLACK, work.stick_first[i]] if unit > 0.0 else 0.0
        s[MARGIN, i] = (s[SLACK, i] - s[MULTIPLIER, i]) * s[BOUND, i] if s[BOUND, i] > 0.0 else UNBOUNDED_MARGIN
    return OK

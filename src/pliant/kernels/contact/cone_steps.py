"""Forces within bounds by cones: from no force to about the solution of bounded_forces.py in 8 to 25 steps.

s = (1, x_i), x_i the share of a friction pair, is in the cone |s_1| <= s_0, and so is its dual z = (l_i, p_i), l_i the
multiplier of the bound, p_i the part of the gradient that it takes up. Newton's method for gradient_i = p_i and
s o z = (l_i + x_i p_i, p_i + l_i x_i) = (2 mu w_i, 0), with the scaling of Nesterov and Todd, predictor and corrector,
mu falling to the last (Andersen, Roos, Terlaky, Math. Program. 95, 2003; Mehrotra, SIAM J. Optim. 2, 1992). p_i is
free to rotate: where forces move along the border of their discs, a multiplier alone would allow short steps only.
"""

import math

from pliant.kernels._jit import kernel, routine
from pliant.kernels.contact.bounded_matrix import factor, products, put_gradient, reach_of, solve
from pliant.kernels.contact.phase import width_at
from pliant.system.work import (
    AXIS,
    DUAL,
    DUAL_RIGHT,
    DUAL_STEP,
    GRADIENT,
    PREDICTED,
    PULL,
    PULL_RIGHT,
    PULL_STEP,
    RIGHT,
    SHARE,
    SLACK,
    STEP,
    STRENGTH,
    WEIGHT,
)

MIN_BARRIER = 1e-13  # the last mu, as a rule
MIN_PREDICTION = 0.1  # of a predictor: below it its products say nothing
MAX_PART = 0.999  # of the way to the nearest bound that a step may take
REACHED, LARGEST, RESIDUAL = 2.0, 4.0, 10.0  # times the last mu: the mean mu, the largest one, gradient - p over w


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
def put_scalings(work, first, end):
    """Of every cone eta S with eta S z = S^-1 s / eta: 1 / eta^2 as STRENGTH and sqrt(2) w as AXIS. Whether all s and z
    are inside."""
    s, i = work.stick_force, first
    while i < end:
        width, l = width_at(work, i, end), s[DUAL, i]
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
def put_cone_right(work, first, end, mu, is_corrector):
    """Right sides of Newton's step towards s o z = (2 mu w, 0), of the corrector with the products of the predictor."""
    s, i = work.stick_force, first
    while i < end:
        width, eta = width_at(work, i, end), 1.0 / math.sqrt(s[STRENGTH, i])
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
def put_dual_step(work, first, end):
    """Of z: its right side less (eta S)^-2 (0, step), (eta S)^-2 = (2 (w0, -w) (w0, -w)^T - diag(1, -1)) / eta^2."""
    s, i = work.stick_force, first
    while i < end:
        width, along, square = width_at(work, i, end), 0.0, 0.0
        for a in range(i, i + width):
            along += s[AXIS, a] * s[STEP, a]
            square += s[AXIS, a] ** 2
        # sqrt(2) w0 = sqrt(2 + |axis|^2)
        s[DUAL_STEP, i] = s[DUAL_RIGHT, i] + s[STRENGTH, i] * math.sqrt(2.0 + square) * along
        for a in range(i, i + width):
            s[PULL_STEP, a] = s[PULL_RIGHT, a] - s[STRENGTH, i] * (s[STEP, a] + along * s[AXIS, a])
        i += width


@routine
def cone_length(work, first, end, part):
    """Longest part of the step that takes no s and no z farther than this part of its way to the border of its cone."""
    s, longest, i = work.stick_force, 1.0, first
    while i < end:
        width, l, m = width_at(work, i, end), s[DUAL, i], s[DUAL_STEP, i]
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
def make_cone_step(work, first, end, length):
    s, i = work.stick_force, first
    while i < end:
        width = width_at(work, i, end)
        along, square = products(work, i, width)
        s[SLACK, i] -= length * (along + 0.5 * length * square)
        s[DUAL, i] += length * s[DUAL_STEP, i]
        for a in range(i, i + width):
            s[SHARE, a] += length * s[STEP, a]
            s[PULL, a] += length * s[PULL_STEP, a]
        i += width


@routine
def sizes(work, first, end):
    """Mean and largest mu of the friction pairs, and the largest difference between gradient and p over its weight."""
    s, total, most, residual, count, i = work.stick_force, 0.0, 0.0, 0.0, 0, first
    while i < end:
        width, mu = width_at(work, i, end), s[DUAL, i]
        for a in range(i, i + width):
            mu += s[SHARE, a] * s[PULL, a]
            residual = max(residual, abs(s[GRADIENT, a] - s[PULL, a]) / s[WEIGHT, i])
        mu *= 0.5 / s[WEIGHT, i]
        total, most, count = total + mu, max(most, mu), count + 1
        i += width
    return total / count, most, residual


@routine
def approach_bounds(work, first, end, r, unit, last, part, max_steps):
    """Shares, slacks and multipliers about those of the last mu; whether they have been found. r: rank of W, if low;
    part: of the way to the nearest bound that a step may take where the predictor is shorter."""
    s, run = work.stick_force, work.run[0]
    for i in range(first, end):
        s[PULL, i] = 0.0
    for _ in range(max_steps):
        put_gradient(work, first, end, r, unit)
        mu, most, residual = sizes(work, first, end)
        if mu < REACHED * last and most < LARGEST * last and residual < RESIDUAL * last:
            return True
        if not put_scalings(work, first, end) or not factor(work, first, end, r):
            return False
        run.n_newton += 1
        # the predictor: as far as it goes, as far may mu fall
        put_cone_right(work, first, end, 0.0, False)
        solve(work, first, end, r)
        put_dual_step(work, first, end)
        length = cone_length(work, first, end, 1.0)
        for i in range(first, end):
            s[PREDICTED, i] = s[STEP, i]
        put_cone_right(work, first, end, max((1.0 - length) ** 3 * mu, last), length > MIN_PREDICTION)
        solve(work, first, end, r)
        put_dual_step(work, first, end)
        make_cone_step(work, first, end, cone_length(work, first, end, min(max(length, part), MAX_PART)))
    return False

"""Forces of sites at rest within their bounds: one convex problem for all of them.

min 1/2 f W f + a0 f with |f_i| <= bound_i (in the plane and in joints an interval, in space a disc), W and a0 as in
stick.py, normal forces of contacts and loads of joints given by the state. Accelerations are then unique: sites at
their bound slip against their force, the others are held. Where W is singular (points of one body, joints of one loop)
the forces are the weighted analytic centre of all that bring these accelerations: they follow smoothly from the state,
small ones are equal parts of their bounds, and one reaches its bound only where no other distribution holds.

In shares x of the bounds by Newton's method with a barrier -mu w_i log(c_i), c_i = (1 - |x_i|^2) / 2, mu falling to
nothing (Boyd and Vandenberghe, Convex Optimization, 11.3); mu w_i / c_i is the multiplier of a bound. The weight w_i,
the most that gradient i can be, makes small bounds and light parts count as the others do.
"""

import math

from pliant.kernels._jit import kernel, routine
from pliant.kernels.algebra.dense import cholesky, cholesky_solve
from pliant.kernels.contact.phase import width_at
from pliant.system.status import Status
from pliant.system.work import (
    BOUND,
    FORCE,
    FREE,
    GRADIENT,
    MARGIN,
    MULTIPLIER,
    RIGHT,
    SCALE,
    SHARE,
    SLACK,
    STEP,
    WEIGHT,
)

OK, UNDECIDED = int(Status.OK), int(Status.FRICTION_UNDECIDED)  # numba mixes integers only

MAX_ITERATIONS = 60  # per barrier
MAX_CUTS = 60
NEAREST = 0.99  # of its distance from a bound that a step may take
SUFFICIENT = 0.01  # of what Newton's step promises
DAMPING = 1e-13  # of the diagonal, in Newton's matrix only
# the barrier: from one to the next, when the next is due, the last, and when it is done
FALL, CENTRED, LAST_BARRIER, FOUND = 0.02, 1e-3, 1e-13, 1e-6
LEAST_WEIGHT = 1e-12  # for which convergence is asked
NO_MARGIN = -1e-9  # of a site without bound, which nothing holds [N, N m]


@kernel
def product(a, b):
    total = 0.0
    for j in range(a.shape[0]):
        total += a[j] * b[j]
    return total


@kernel
def size_of(work, row, i, width):
    """Size of what a row of stick_force holds for the site with first unknown i."""
    a, b = work.stick_force[row, i], 0.0
    if width == 2:
        b = work.stick_force[row, i + 1]
    return math.sqrt(a * a + b * b)


@kernel
def is_bounded(work, i):
    """Whether a force can act at unknown i at all, and matters."""
    return work.stick_force[BOUND, i] > 0.0 and work.stick_force[SCALE, i] > 0.0


@routine
def put_gradient(work, n, unit):
    """W f + a0 in shares of the bounds; unit: the largest a0 bound."""
    W, f, s = work.stick, work.stick_force[FORCE], work.stick_force
    for i in range(n):
        f[i] = s[BOUND, i] * s[SHARE, i]
    for i in range(n):
        s[GRADIENT, i] = (s[FREE, i] + product(W[i, :n], f[:n])) * s[BOUND, i] / unit


@kernel
def radial(work, i, width):
    """Direction of the share of a site: (1, 0) if it has none."""
    x = work.stick_force[SHARE, i]
    y = work.stick_force[SHARE, i + 1] if width == 2 else 0.0
    size = math.sqrt(x * x + y * y)
    return (x / size, y / size) if width == 2 and size > 0.0 else (1.0, 0.0)


@kernel
def rotated(c, s, x, y):
    return c * x + s * y, c * y - s * x


@routine
def rotate_sites(work, H, step, n):
    """H and step to axes along and across the share of every site: what is large at a bound then stands alone."""
    i = 0
    while i < n:
        width = width_at(work, i, n)
        if width == 2:
            c, s = radial(work, i, width)
            step[i], step[i + 1] = rotated(c, s, step[i], step[i + 1])
            for j in range(n):
                H[i, j], H[i + 1, j] = rotated(c, s, H[i, j], H[i + 1, j])
            for j in range(n):
                H[j, i], H[j, i + 1] = rotated(c, s, H[j, i], H[j, i + 1])
        i += width


@routine
def put_step(work, n, unit, mu):
    """Newton's step of the objective with the barrier -mu log(slack); its decrement, -1 if there is none."""
    cap = work.stick.shape[1]
    W, H, s, step = work.stick, work.stick[cap : 2 * cap], work.stick_force, work.stick_force[STEP]
    for i in range(n):
        is_free = is_bounded(work, i)
        first = work.stick_first[i]
        slope = -s[GRADIENT, i] - mu * s[WEIGHT, first] / s[SLACK, first] * s[SHARE, i] if is_free else 0.0
        step[i] = s[RIGHT, i] = slope
        for j in range(n):
            is_coupled = is_free and is_bounded(work, j)
            H[i, j] = s[BOUND, i] * W[i, j] * s[BOUND, j] / unit if is_coupled else 0.0
    rotate_sites(work, H, step, n)
    i = 0
    while i < n:
        width, slack = width_at(work, i, n), s[SLACK, i]
        strength = mu * s[WEIGHT, i] / slack
        for a in range(i, i + width):
            H[a, a] = H[a, a] * (1.0 + DAMPING) + (strength if is_bounded(work, a) else 1.0)
        H[i, i] += strength * size_of(work, SHARE, i, width) ** 2 / slack
        i += width
    if cholesky(H, n) >= 0:
        return -1.0
    cholesky_solve(H, n, step)
    i = 0
    while i < n:
        width = width_at(work, i, n)
        if width == 2:
            c, sine = radial(work, i, width)
            step[i], step[i + 1] = rotated(c, -sine, step[i], step[i + 1])
        i += width
    return product(s[RIGHT, :n], step[:n])


@kernel
def products(work, i, width):
    """(share times step, step squared) of a site."""
    along, square = 0.0, 0.0
    for a in range(i, i + width):
        along += work.stick_force[SHARE, a] * work.stick_force[STEP, a]
        square += work.stick_force[STEP, a] ** 2
    return along, square


@routine
def step_length(work, n, mu, decrement):
    """Longest part of Newton's step that keeps all slacks positive and lets the objective with its barrier fall."""
    s, longest, i = work.stick_force, 1.0, 0
    slope, curvature = 0.0, decrement  # of the objective along the step
    for a in range(n):
        slope += s[GRADIENT, a] * s[STEP, a]
    while i < n:
        width, slack = width_at(work, i, n), s[SLACK, i]
        along, square = products(work, i, width)
        curvature -= mu * s[WEIGHT, i] / slack * (square + along * along / slack)
        # slack - along x - square x^2 / 2 = slack - room
        room = NEAREST * slack
        root = along + math.sqrt(along * along + 2.0 * square * room)
        if root > 0.0:
            longest = min(longest, 2.0 * room / root)
        i += width
    for _ in range(MAX_CUTS):
        change, i = longest * (slope + 0.5 * longest * curvature), 0
        while i < n:
            width = width_at(work, i, n)
            along, square = products(work, i, width)
            change -= mu * s[WEIGHT, i] * math.log1p(-longest * (along + 0.5 * longest * square) / s[SLACK, i])
            i += width
        if change <= -SUFFICIENT * longest * decrement:
            break
        longest *= 0.5
    return longest


@routine
def make_step(work, n, length):
    s, i = work.stick_force, 0
    while i < n:
        width = width_at(work, i, n)
        along, square = products(work, i, width)
        s[SLACK, i] -= length * (along + 0.5 * length * square)
        for a in range(i, i + width):
            s[SHARE, a] += length * s[STEP, a]
        i += width


@routine
def put_weights(work, n):
    """The most that the gradient of every site can be, in units of the largest, which is returned; and the least."""
    s, W, unit, least = work.stick_force, work.stick, 0.0, 1.0
    for i in range(n):
        total = abs(s[FREE, i])
        for j in range(n):
            total += abs(W[i, j]) * s[BOUND, j]
        s[WEIGHT, i] = s[BOUND, i] * total
        if work.stick_first[i] < i:
            s[WEIGHT, i - 1] = max(s[WEIGHT, i - 1], s[WEIGHT, i])
        unit = max(unit, s[WEIGHT, i])
    for i in range(n if unit > 0.0 else 0):
        s[WEIGHT, i] /= unit
        if is_bounded(work, i) and work.stick_first[i] == i:
            least = min(least, s[WEIGHT, i])
    return unit, max(least, LEAST_WEIGHT)


@routine
def find_bounded_forces(work, n):
    """Forces in stick_force, with multipliers (over their weights), slacks and margins at the first unknown of every
    site: what is left to a bound as part of it, and less the multiplier, which a site at its bound has instead."""
    s = work.stick_force
    for i in range(n):
        s[SHARE, i], s[MULTIPLIER, i], s[SLACK, i], s[FORCE, i] = 0.0, 0.0, 0.5, 0.0
        s[MARGIN, i] = s[BOUND, i] if s[BOUND, i] > 0.0 else NO_MARGIN
    unit, least = put_weights(work, n)
    if unit == 0.0:
        return OK
    mu = 0.5
    while mu > LAST_BARRIER:
        mu = max(FALL * mu, LAST_BARRIER)
        goal = (CENTRED if mu > LAST_BARRIER else FOUND) * mu * least
        for _ in range(MAX_ITERATIONS):
            put_gradient(work, n, unit)
            decrement = put_step(work, n, unit, mu)
            if not decrement >= 0.0:
                return UNDECIDED
            if decrement < goal:
                break
            make_step(work, n, step_length(work, n, mu, decrement))
    put_gradient(work, n, unit)
    for i in range(n):
        s[MULTIPLIER, i] = mu / s[SLACK, work.stick_first[i]]
        if s[BOUND, i] > 0.0:
            s[MARGIN, i] = (s[SLACK, i] - s[MULTIPLIER, i]) * s[BOUND, i]
    return OK

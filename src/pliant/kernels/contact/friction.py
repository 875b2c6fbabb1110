"""Friction laws by kind of a row of frictions. N normal force, v speed of sliding; which piece holds is the branch."""

import math

from pliant.kernels._jit import kernel
from pliant.system.contact_tables import Branch, FrictionKind

TWO_OVER_PI = 2.0 / math.pi
STICK, SLIP = int(Branch.STICK), int(Branch.SLIP)  # numba mixes integers only


@kernel
def stribeck(law, v, p):
    return law.mu_k + (law.mu_s - law.mu_k) * math.exp(-((v / law.v_s) ** p))


@kernel
def cubic_step(x, x0, h0, x1, h1):
    """From h0 at x0 to h1 at x1 without slope at both."""
    D = (x - x0) / (x1 - x0)
    return h0 + (h1 - h0) * D * D * (3.0 - 2.0 * D)


@kernel
def coefficient(law, branch, v):
    """mu(v) of the laws without states."""
    kind = law.kind
    if kind == FrictionKind.AMBROSIO:
        if branch == 0:
            return 0.0
        return law.mu_k * (v - law.v0) / (law.v1 - law.v0) if branch == 1 else law.mu_k
    if kind == FrictionKind.STRIBECK:
        return stribeck(law, v, law.p)
    if kind == FrictionKind.BENGISU_AKAY:
        if branch == 0:
            return law.mu_s * (1.0 - ((v - law.v0) / law.v0) ** 2)
        return law.mu_k + (law.mu_s - law.mu_k) * math.exp(-law.xi * (v - law.v0))
    if kind == FrictionKind.ATAN:
        return law.mu_k * TWO_OVER_PI * math.atan(law.sharpness * v)
    if kind == FrictionKind.TANH:
        return law.mu_k * math.tanh(law.sharpness * v)
    if kind == FrictionKind.STEP_STRIBECK:
        if branch == 0:
            return cubic_step(v, -law.v0, -law.mu_s, law.v0, law.mu_s)
        return cubic_step(v, law.v0, law.mu_s, law.v1, law.mu_k) if branch == 1 else law.mu_k
    return law.mu_k


@kernel
def slip_force(law, branch, N, v):
    """Size of the force against sliding; a piece of the law continued beyond its range does not push."""
    return max(coefficient(law, branch, v), 0.0) * N + law.c_v * v


@kernel
def bound_at_rest(law, branch, N):
    """The largest force of a friction pair at rest; of one that has broken away, that of its law just above rest."""
    return max(law.mu_s * N if branch == STICK else slip_force(law, Branch.BREAK, N, 0.0), 0.0)


@kernel
def branch_of(law, v):
    """The branch that follows from the speed alone."""
    if law.sticks:
        return SLIP if v > law.kink[0] else STICK
    branch = 0
    for k in range(law.n_kinks):
        if v > law.kink[k]:
            branch = k + 1
    return branch


@kernel
def bristles(law, N, ux, uy, zx, zy):
    """(Fx, Fy, zx', zy') of the laws with states: F is the force against sliding with velocity u.

    N is kept from 0, where both laws would be stiff without bound; below least_normal the force fades with N."""
    share, N = min(N / law.least_normal, 1.0), max(N, law.least_normal)
    v = math.sqrt(ux * ux + uy * uy)
    if law.kind == FrictionKind.DAHL:
        # z' = u (1 - sigma0 z.u / (mu_k N v))^p
        along = (zx * ux + zy * uy) / v if v > 0.0 else 0.0
        rest = 1.0 - law.sigma0 * along / (law.mu_k * N)
        factor = rest if law.p == 1.0 else math.copysign(abs(rest) ** law.p, rest)
        dx, dy = factor * ux, factor * uy
    else:
        # z' = u - sigma0 v z / g(v)
        decay = law.sigma0 * v / (stribeck(law, v, 2.0) * N)
        dx, dy = ux - decay * zx, uy - decay * zy
    Fx = law.sigma0 * zx + law.sigma1 * dx + law.sigma2 * ux
    Fy = law.sigma0 * zy + law.sigma1 * dy + law.sigma2 * uy
    return share * Fx, share * Fy, dx, dy

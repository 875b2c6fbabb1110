"""4x4 matrices of mechanics: their upper three rows as a 3x3 matrix (nine numbers) and the last column (a vector).

Of two kinds: motions (A, a), which act on places (s, 1), and integrals (F, f) = int y (s, 1)^T dm of a vector y along a
body. A pseudo-inertia P = int (s, 1)(s, 1)^T dm is mass m, first moment c and S = int s s^T dm (six numbers)."""

from pliant.kernels._jit import kernel


@kernel
def half_cross(n):
    """1/2 [n]: the integral whose moment is n."""
    x, y, z = 0.5 * n[0], 0.5 * n[1], 0.5 * n[2]
    return (0.0, -z, y, z, 0.0, -x, -y, x, 0.0)


@kernel
def moment(F):
    """int s x y dm of F = int y s^T dm."""
    return (F[7] - F[5], F[2] - F[6], F[3] - F[1])


@kernel
def second_derivative(w, al):
    """[al] + [w]^2: the 3x3 part of W^-1 W''."""
    xx, yy, zz, xy, xz, yz = w[0] * w[0], w[1] * w[1], w[2] * w[2], w[0] * w[1], w[0] * w[2], w[1] * w[2]
    return (-yy - zz, xy - al[2], xz + al[1], xy + al[2], -xx - zz, yz - al[0], xz - al[1], yz + al[0], -xx - yy)


@kernel
def pseudo_inertia(J):
    """S = int s s^T dm of the inertia J = int (s.s 1 - s s^T) dm."""
    half = 0.5 * (J[0] + J[3] + J[5])
    return (half - J[0], -J[1], -J[2], half - J[3], -J[4], half - J[5])


@kernel
def shift_pseudo_inertia(m, c, S, o):
    """(c, S) about the origin of what is given at origin + o: X P X^T of a shift X."""
    x, y, z = c[0] + m * o[0], c[1] + m * o[1], c[2] + m * o[2]
    moved = (
        S[0] + c[0] * o[0] + o[0] * x,
        S[1] + c[0] * o[1] + o[0] * y,
        S[2] + c[0] * o[2] + o[0] * z,
        S[3] + c[1] * o[1] + o[1] * y,
        S[4] + c[1] * o[2] + o[1] * z,
        S[5] + c[2] * o[2] + o[2] * z,
    )
    return (x, y, z), moved


@kernel
def motion_of_mass(A, a, m, c, S):
    """(A, a) P: the integral of y = A s + a."""
    F = (
        A[0] * S[0] + A[1] * S[1] + A[2] * S[2] + a[0] * c[0],
        A[0] * S[1] + A[1] * S[3] + A[2] * S[4] + a[0] * c[1],
        A[0] * S[2] + A[1] * S[4] + A[2] * S[5] + a[0] * c[2],
        A[3] * S[0] + A[4] * S[1] + A[5] * S[2] + a[1] * c[0],
        A[3] * S[1] + A[4] * S[3] + A[5] * S[4] + a[1] * c[1],
        A[3] * S[2] + A[4] * S[4] + A[5] * S[5] + a[1] * c[2],
        A[6] * S[0] + A[7] * S[1] + A[8] * S[2] + a[2] * c[0],
        A[6] * S[1] + A[7] * S[3] + A[8] * S[4] + a[2] * c[1],
        A[6] * S[2] + A[7] * S[4] + A[8] * S[5] + a[2] * c[2],
    )
    f = (
        A[0] * c[0] + A[1] * c[1] + A[2] * c[2] + a[0] * m,
        A[3] * c[0] + A[4] * c[1] + A[5] * c[2] + a[1] * m,
        A[6] * c[0] + A[7] * c[1] + A[8] * c[2] + a[2] * m,
    )
    return F, f


@kernel
def twist_of_mass(v, w, m, c, S):
    """([w], v) P: the integral of y = w x s + v."""
    return motion_of_mass((0.0, -w[2], w[1], w[2], 0.0, -w[0], -w[1], w[0], 0.0), v, m, c, S)


@kernel
def twist_trace(v, w, F, f):
    """tr (([w], v) F^T): the work of y in a virtual displacement w x s + v."""
    return w[0] * (F[7] - F[5]) + w[1] * (F[2] - F[6]) + w[2] * (F[3] - F[1]) + v[0] * f[0] + v[1] * f[1] + v[2] * f[2]


@kernel
def motion_trace(A, a, F, f):
    """tr ((A, a) F^T): the work of y in a virtual displacement A s + a."""
    return (
        A[0] * F[0]
        + A[1] * F[1]
        + A[2] * F[2]
        + A[3] * F[3]
        + A[4] * F[4]
        + A[5] * F[5]
        + A[6] * F[6]
        + A[7] * F[7]
        + A[8] * F[8]
        + a[0] * f[0]
        + a[1] * f[1]
        + a[2] * f[2]
    )


@kernel
def shift_integral(F, f, o):
    """F + f o^T: places counted from origin - o."""
    return (
        F[0] + f[0] * o[0],
        F[1] + f[0] * o[1],
        F[2] + f[0] * o[2],
        F[3] + f[1] * o[0],
        F[4] + f[1] * o[1],
        F[5] + f[1] * o[2],
        F[6] + f[2] * o[0],
        F[7] + f[2] * o[1],
        F[8] + f[2] * o[2],
    )


@kernel
def add_integral(F, f, u, G, g):
    """(F, f) + u (G, g)"""
    total = (
        F[0] + u * G[0],
        F[1] + u * G[1],
        F[2] + u * G[2],
        F[3] + u * G[3],
        F[4] + u * G[4],
        F[5] + u * G[5],
        F[6] + u * G[6],
        F[7] + u * G[7],
        F[8] + u * G[8],
    )
    return total, (f[0] + u * g[0], f[1] + u * g[1], f[2] + u * g[2])


@kernel
def add_along(F, f, axis, u, p, c):
    """(F, f) plus the integral of one component: y = u phi along an axis, with p = int phi s dm and c = int phi dm."""
    x, y, z = u * p[0], u * p[1], u * p[2]
    if axis == 0:
        return (F[0] + x, F[1] + y, F[2] + z, F[3], F[4], F[5], F[6], F[7], F[8]), (f[0] + u * c, f[1], f[2])
    if axis == 1:
        return (F[0], F[1], F[2], F[3] + x, F[4] + y, F[5] + z, F[6], F[7], F[8]), (f[0], f[1] + u * c, f[2])
    return (F[0], F[1], F[2], F[3], F[4], F[5], F[6] + x, F[7] + y, F[8] + z), (f[0], f[1], f[2] + u * c)

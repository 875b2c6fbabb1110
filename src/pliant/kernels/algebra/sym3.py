"""Symmetric 3x3 matrices as six numbers (xx, xy, xz, yy, yz, zz): only the symmetric part ever exists."""

import math

from pliant.kernels._jit import kernel
from pliant.kernels.algebra.vec3 import matmul


@kernel
def sym(a):
    """Six stored numbers as a symmetric matrix."""
    return (a[0], a[1], a[2], a[3], a[4], a[5])


@kernel
def put_sym(a, x):
    a[0] = x[0]
    a[1] = x[1]
    a[2] = x[2]
    a[3] = x[3]
    a[4] = x[4]
    a[5] = x[5]


@kernel
def add_sym(a, b):
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5])


@kernel
def mul_sym(s, a):
    """s a"""
    return (
        s[0] * a[0] + s[1] * a[1] + s[2] * a[2],
        s[1] * a[0] + s[3] * a[1] + s[4] * a[2],
        s[2] * a[0] + s[4] * a[1] + s[5] * a[2],
    )


@kernel
def rotate_sym(R, s):
    """R s R^T"""
    T = matmul(R, (s[0], s[1], s[2], s[1], s[3], s[4], s[2], s[4], s[5]))
    return (
        T[0] * R[0] + T[1] * R[1] + T[2] * R[2],
        T[0] * R[3] + T[1] * R[4] + T[2] * R[5],
        T[0] * R[6] + T[1] * R[7] + T[2] * R[8],
        T[3] * R[3] + T[4] * R[4] + T[5] * R[5],
        T[3] * R[6] + T[4] * R[7] + T[5] * R[8],
        T[6] * R[6] + T[7] * R[7] + T[8] * R[8],
    )


@kernel
def minus_square(s, u, d):
    """s - d u u^T"""
    x, y, z = d * u[0], d * u[1], d * u[2]
    return (
        s[0] - x * u[0],
        s[1] - x * u[1],
        s[2] - x * u[2],
        s[3] - y * u[1],
        s[4] - y * u[2],
        s[5] - z * u[2],
    )


@kernel
def minus_outer(b, u, w, d):
    """b - d u w^T for a general matrix b"""
    x, y, z = d * u[0], d * u[1], d * u[2]
    return (
        b[0] - x * w[0],
        b[1] - x * w[1],
        b[2] - x * w[2],
        b[3] - y * w[0],
        b[4] - y * w[1],
        b[5] - y * w[2],
        b[6] - z * w[0],
        b[7] - z * w[1],
        b[8] - z * w[2],
    )


@kernel
def cholesky3(s):
    """Lower factor of s = l l^T as (xx, yx, yy, zx, zy, zz), diagonal inverted; all 0 if s is not positive."""
    if not s[0] > 0.0:
        return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    xx = 1.0 / math.sqrt(s[0])
    yx = s[1] * xx
    zx = s[2] * xx
    d = s[3] - yx * yx
    if not d > 0.0:
        return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    yy = 1.0 / math.sqrt(d)
    zy = (s[4] - zx * yx) * yy
    d = s[5] - zx * zx - zy * zy
    if not d > 0.0:
        return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    return (xx, yx, yy, zx, zy, 1.0 / math.sqrt(d))


@kernel
def lower_solve(l, a):
    """l^-1 a"""
    x = a[0] * l[0]
    y = (a[1] - l[1] * x) * l[2]
    return (x, y, (a[2] - l[3] * x - l[4] * y) * l[5])


@kernel
def upper_solve(l, a):
    """l^-T a"""
    z = a[2] * l[5]
    y = (a[1] - l[4] * z) * l[2]
    return ((a[0] - l[1] * y - l[3] * z) * l[0], y, z)

"""Vectors of any length, and Cholesky factorisation and solves for small dense matrices, in place."""

import math

from pliant.kernels._jit import kernel, routine
from pliant.kernels.algebra.vec3 import index


@kernel
def copy(source, target):
    """Slice assignments would do, but take most of a second each to compile."""
    for i in range(target.shape[0]):
        target[i] = source[i]


@kernel
def cholesky(M, n):
    """M = L L^T in the lower triangle of M, diagonal inverted. Returns -1, or the first row without positive pivot."""
    for i in range(n):
        for j in range(i):
            total = M[i, j]
            for k in range(j):
                total -= M[i, k] * M[j, k]
            M[i, j] = total * M[j, j]
        pivot = M[i, i]
        for k in range(i):
            pivot -= M[i, k] * M[i, k]
        if not pivot > 0.0:
            return i
        M[i, i] = 1.0 / math.sqrt(pivot)
    return -1


@kernel
def cholesky_solve(L, n, x):
    """x <- (L L^T)^-1 x"""
    for i in range(n):
        total = x[i]
        for k in range(i):
            total -= L[i, k] * x[k]
        x[i] = total * L[i, i]
    for i in range(n - 1, -1, -1):
        total = x[i]
        for k in range(i + 1, n):
            total -= L[k, i] * x[k]
        x[i] = total * L[i, i]


# --- larger matrices: loops along rows, which become vector instructions ----------------------------------------------


@kernel
def long_product(a, b, first, end):
    """Sum of a_j b_j, first <= j < end, in four sums, so that none waits for the other."""
    w, x, y, z, whole = 0.0, 0.0, 0.0, 0.0, end - (end - first) % 4
    for j in range(first, whole, 4):
        w += a[index(j)] * b[index(j)]
        x += a[index(j + 1)] * b[index(j + 1)]
        y += a[index(j + 2)] * b[index(j + 2)]
        z += a[index(j + 3)] * b[index(j + 3)]
    for j in range(whole, end):
        w += a[index(j)] * b[index(j)]
    return (w + x) + (y + z)


@kernel
def add_multiple(factor, a, out, first, end):
    """out_j += factor a_j, first <= j < end."""
    if factor != 0.0:
        for j in range(first, end):
            out[index(j)] += factor * a[index(j)]


@routine
def cholesky_upper(M, first, end):
    """M = U^T U of rows and columns first to end - 1, in the upper triangle of M, diagonal inverted; zeros cost little.
    Returns -1, or the first row without positive pivot."""
    for i in range(first, end):
        row, k = M[i], first
        while k + 4 <= i:
            a, b, c, d = M[k], M[k + 1], M[k + 2], M[k + 3]
            w, x, y, z = a[i], b[i], c[i], d[i]
            if w != 0.0 or x != 0.0 or y != 0.0 or z != 0.0:
                for j in range(i, end):
                    row[index(j)] -= (w * a[index(j)] + x * b[index(j)]) + (y * c[index(j)] + z * d[index(j)])
            k += 4
        while k < i:
            add_multiple(-M[k, i], M[k], row, i, end)
            k += 1
        if not row[i] > 0.0:
            return i
        inverse = 1.0 / math.sqrt(row[i])
        for j in range(i + 1, end):
            row[index(j)] *= inverse
        row[i] = inverse
    return -1


@routine
def cholesky_upper_solve(U, first, end, x):
    """x <- (U^T U)^-1 x, of the same rows."""
    for k in range(first, end):
        x[k] *= U[k, k]
        add_multiple(-x[k], U[k], x, k + 1, end)
    for i in range(end - 1, first - 1, -1):
        x[i] = (x[i] - long_product(U[i], x, i + 1, end)) * U[i, i]

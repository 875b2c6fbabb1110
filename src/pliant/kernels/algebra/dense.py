"""Vectors of any length, and Cholesky factorisation and solves for small dense matrices, in place."""

import math

from pliant.kernels._jit import kernel


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

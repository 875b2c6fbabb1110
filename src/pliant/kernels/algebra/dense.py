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


@kernel
def cholesky_mirrored(M, n):
    """The same of larger matrices, with L^T in the upper triangle: inner loops run along rows, so that they become
    vector instructions, and zeros cost nothing."""
    for i in range(n):
        row, pivot = M[i], M[i, i]
        for j in range(i):
            x, above = row[j] * M[j, j], M[j]
            row[j] = above[i] = x
            if x != 0.0:
                for l in range(j + 1, i):
                    row[l] -= x * above[l]
                pivot -= x * x
        if not pivot > 0.0:
            return i
        row[i] = 1.0 / math.sqrt(pivot)
    return -1


@kernel
def cholesky_mirrored_solve(L, n, x):
    """x <- (L L^T)^-1 x with the factors of cholesky_mirrored."""
    for k in range(n):
        row = L[k]
        x[k] *= row[k]
        for i in range(k + 1, n):
            x[i] -= row[i] * x[k]
    for i in range(n - 1, -1, -1):
        row = L[i]
        x[i] *= row[i]
        for k in range(i):
            x[k] -= row[k] * x[i]

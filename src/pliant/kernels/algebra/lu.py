"""LU factors with row exchanges of small dense matrices, real and complex (real and imaginary part apart), in place.

Pivots are stored as their reciprocals. The inner loops run along rows, so that they become vector instructions."""

import math

from pliant.kernels._jit import routine


@routine
def exchange(A, i, j):
    a, b = A[i], A[j]
    for k in range(a.shape[0]):
        a[k], b[k] = b[k], a[k]


@routine
def lu(A, pivots, n):
    """Factors of the leading n rows and columns. Returns -1, or the column without a pivot."""
    for k in range(n):
        best, p = abs(A[k, k]), k
        for i in range(k + 1, n):
            if abs(A[i, k]) > best:
                best, p = abs(A[i, k]), i
        if not 0.0 < best < math.inf:
            return k
        pivots[k] = p
        if p != k:
            exchange(A, k, p)
        top = A[k]
        inverse = 1.0 / top[k]
        top[k] = inverse
        for i in range(k + 1, n):
            row = A[i]
            factor = row[k] * inverse
            row[k] = factor
            if factor != 0.0:
                for j in range(k + 1, n):
                    row[j] -= factor * top[j]
    return -1


@routine
def lu_solve_block(A, pivots, first, end, x):
    """x <- A^-1 x in rows first to end - 1, which share no entry with others."""
    for k in range(first, end):
        p = pivots[k]
        x[k], x[p] = x[p], x[k]
    for i in range(first + 1, end):
        row, total = A[i], x[i]
        for k in range(first, i):
            total -= row[k] * x[k]
        x[i] = total
    for i in range(end - 1, first - 1, -1):
        row, total = A[i], x[i]
        for k in range(i + 1, end):
            total -= row[k] * x[k]
        x[i] = total * row[i]


@routine
def lu_solve(A, pivots, n, x):
    """x <- A^-1 x"""
    lu_solve_block(A, pivots, 0, n, x)


@routine
def put_profile(A, n, first, last):
    """Columns of the first and the last entry of every row of the factors."""
    for i in range(n):
        row, j = A[i], 0
        while j < i and row[j] == 0.0:
            j += 1
        first[i], j = j, n - 1
        while j > i and row[j] == 0.0:
            j -= 1
        last[i] = j


@routine
def lu_solve_profile(A, pivots, first, last, n, x):
    """x <- A^-1 x, between the columns first and last of every row."""
    for k in range(n):
        p = pivots[k]
        x[k], x[p] = x[p], x[k]
    for i in range(1, n):
        row, total = A[i], x[i]
        for k in range(first[i], i):
            total -= row[k] * x[k]
        x[i] = total
    for i in range(n - 1, -1, -1):
        row, total = A[i], x[i]
        for k in range(i + 1, last[i] + 1):
            total -= row[k] * x[k]
        x[i] = total * row[i]


@routine
def complex_lu(A, B, pivots, n):
    """Factors of A + i B. Returns -1, or the column without a pivot."""
    for k in range(n):
        best, p = abs(A[k, k]) + abs(B[k, k]), k
        for i in range(k + 1, n):
            size = abs(A[i, k]) + abs(B[i, k])
            if size > best:
                best, p = size, i
        if not 0.0 < best < math.inf:
            return k
        pivots[k] = p
        if p != k:
            exchange(A, k, p)
            exchange(B, k, p)
        a, b = A[k], B[k]
        square = a[k] * a[k] + b[k] * b[k]
        u, w = a[k] / square, -b[k] / square
        a[k], b[k] = u, w
        for i in range(k + 1, n):
            c, d = A[i], B[i]
            f, g = c[k] * u - d[k] * w, c[k] * w + d[k] * u
            c[k], d[k] = f, g
            if f != 0.0 or g != 0.0:
                for j in range(k + 1, n):
                    c[j] -= f * a[j] - g * b[j]
                    d[j] -= f * b[j] + g * a[j]
    return -1


@routine
def complex_lu_solve(A, B, pivots, n, x, y):
    """x + i y <- (A + i B)^-1 (x + i y)"""
    for k in range(n):
        p = pivots[k]
        x[k], x[p] = x[p], x[k]
        y[k], y[p] = y[p], y[k]
    for i in range(1, n):
        a, b, u, w = A[i], B[i], x[i], y[i]
        for k in range(i):
            u -= a[k] * x[k] - b[k] * y[k]
            w -= a[k] * y[k] + b[k] * x[k]
        x[i], y[i] = u, w
    for i in range(n - 1, -1, -1):
        a, b, u, w = A[i], B[i], x[i], y[i]
        for k in range(i + 1, n):
            u -= a[k] * x[k] - b[k] * y[k]
            w -= a[k] * y[k] + b[k] * x[k]
        x[i], y[i] = u * a[i] - w * b[i], u * b[i] + w * a[i]

"""Solves with the Cholesky factor of a matrix W = L L^T that hardly tells some directions, in place.

share[i]: pivot i over what it is where W tells well; (e^2/(e^2 + share))^3 of direction i, row i of L^-1, is not told.
Diagonals of L are inverted, as algebra/dense.py leaves them."""

from pliant.kernels._jit import routine


@routine
def untold(share, softness):
    w = softness / (softness + share)
    return w * w * w


@routine
def solve_weakly(L, n, share, softness, x, target):
    """x <- W^-1 x as far as W tells, W^-1 target for the rest. target is gone."""
    for i in range(n):
        for k in range(i):
            x[i] -= L[i, k] * x[k]
            target[i] -= L[i, k] * target[k]
        x[i] *= L[i, i]
        target[i] *= L[i, i]
        x[i] += untold(share[i], softness) * (target[i] - x[i])
    solve_upper(L, n, x)


@routine
def solve_untold(L, n, share, softness, x):
    """x <- W^-1 x of what W does not tell."""
    for i in range(n):
        for k in range(i):
            x[i] -= L[i, k] * x[k]
        x[i] *= L[i, i]
    for i in range(n):
        x[i] *= untold(share[i], softness)
    solve_upper(L, n, x)


@routine
def solve_upper(L, n, x):
    """x <- L^-T x"""
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[i] -= L[k, i] * x[k]
        x[i] *= L[i, i]

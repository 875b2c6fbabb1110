"""Solves with the Cholesky factor of an almost rank-deficient matrix W = L L^T, regularised, in place.

share[i]: pivot i over what it is where W has full rank; of direction i, row i of L^-1, the part
(e^2/(e^2 + share))^3 counts as undetermined. Diagonals of L are inverted, as algebra/dense.py leaves them."""

from pliant.kernels._jit import routine


@routine
def undetermined_part(share, regularisation):
    w = regularisation / (regularisation + share)
    return w * w * w


@routine
def solve_regularised(L, n, share, regularisation, x, target):
    """x <- W^-1 x as far as W determines it, W^-1 target for the rest. target is overwritten."""
    for i in range(n):
        for k in range(i):
            x[i] -= L[i, k] * x[k]
            target[i] -= L[i, k] * target[k]
        x[i] *= L[i, i]
        target[i] *= L[i, i]
        x[i] += undetermined_part(share[i], regularisation) * (target[i] - x[i])
    solve_upper(L, n, x)


@routine
def solve_undetermined(L, n, share, regularisation, x):
    """x <- the part of W^-1 x that W does not determine."""
    for i in range(n):
        for k in range(i):
            x[i] -= L[i, k] * x[k]
        x[i] *= L[i, i]
    for i in range(n):
        x[i] *= undetermined_part(share[i], regularisation)
    solve_upper(L, n, x)


@routine
def solve_upper(L, n, x):
    """x <- L^-T x"""
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[i] -= L[k, i] * x[k]
        x[i] *= L[i, i]

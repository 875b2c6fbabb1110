"""3-vectors and 3x3 matrices as tuples: pure functions, results returned. A matrix is nine numbers, row by row."""

import numpy as np

from pliant.kernels._jit import kernel

index = np.uintp  # an index that is not negative: compiled code need not look whether it counts from the end


@kernel
def vec(a):
    """Three stored numbers as a vector."""
    return (a[0], a[1], a[2])


@kernel
def mat(a):
    """Nine stored numbers as a matrix."""
    return (a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8])


@kernel
def put(a, x):
    """Store a vector."""
    a[0] = x[0]
    a[1] = x[1]
    a[2] = x[2]


@kernel
def vec_at(a, k):
    """Three numbers of many, from a[k] on."""
    return (a[index(k)], a[index(k + 1)], a[index(k + 2)])


@kernel
def put_at(a, k, x):
    """Store a vector from a[k] on."""
    a[index(k)] = x[0]
    a[index(k + 1)] = x[1]
    a[index(k + 2)] = x[2]


@kernel
def put_mat(a, x):
    """Store a matrix."""
    a[0] = x[0]
    a[1] = x[1]
    a[2] = x[2]
    a[3] = x[3]
    a[4] = x[4]
    a[5] = x[5]
    a[6] = x[6]
    a[7] = x[7]
    a[8] = x[8]


@kernel
def add(a, b):
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@kernel
def sub(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@kernel
def scale(s, a):
    return (s * a[0], s * a[1], s * a[2])


@kernel
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@kernel
def mul(m, a):
    """m a"""
    return (
        m[0] * a[0] + m[1] * a[1] + m[2] * a[2],
        m[3] * a[0] + m[4] * a[1] + m[5] * a[2],
        m[6] * a[0] + m[7] * a[1] + m[8] * a[2],
    )


@kernel
def mul_t(m, a):
    """m^T a"""
    return (
        m[0] * a[0] + m[3] * a[1] + m[6] * a[2],
        m[1] * a[0] + m[4] * a[1] + m[7] * a[2],
        m[2] * a[0] + m[5] * a[1] + m[8] * a[2],
    )


@kernel
def add_mat(a, b):
    return (
        a[0] + b[0],
        a[1] + b[1],
        a[2] + b[2],
        a[3] + b[3],
        a[4] + b[4],
        a[5] + b[5],
        a[6] + b[6],
        a[7] + b[7],
        a[8] + b[8],
    )


@kernel
def scale_mat(s, a):
    return (s * a[0], s * a[1], s * a[2], s * a[3], s * a[4], s * a[5], s * a[6], s * a[7], s * a[8])


@kernel
def matmul(a, b):
    """a b"""
    return (
        a[0] * b[0] + a[1] * b[3] + a[2] * b[6],
        a[0] * b[1] + a[1] * b[4] + a[2] * b[7],
        a[0] * b[2] + a[1] * b[5] + a[2] * b[8],
        a[3] * b[0] + a[4] * b[3] + a[5] * b[6],
        a[3] * b[1] + a[4] * b[4] + a[5] * b[7],
        a[3] * b[2] + a[4] * b[5] + a[5] * b[8],
        a[6] * b[0] + a[7] * b[3] + a[8] * b[6],
        a[6] * b[1] + a[7] * b[4] + a[8] * b[7],
        a[6] * b[2] + a[7] * b[5] + a[8] * b[8],
    )


@kernel
def matmul_t(a, b):
    """a b^T"""
    return (
        a[0] * b[0] + a[1] * b[1] + a[2] * b[2],
        a[0] * b[3] + a[1] * b[4] + a[2] * b[5],
        a[0] * b[6] + a[1] * b[7] + a[2] * b[8],
        a[3] * b[0] + a[4] * b[1] + a[5] * b[2],
        a[3] * b[3] + a[4] * b[4] + a[5] * b[5],
        a[3] * b[6] + a[4] * b[7] + a[5] * b[8],
        a[6] * b[0] + a[7] * b[1] + a[8] * b[2],
        a[6] * b[3] + a[7] * b[4] + a[8] * b[5],
        a[6] * b[6] + a[7] * b[7] + a[8] * b[8],
    )


@kernel
def rotate_mat(R, b):
    """R b R^T"""
    return matmul_t(matmul(R, b), R)

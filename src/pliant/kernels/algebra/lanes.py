"""Lanes: eight numbers computed with as one, so that the algebra of vec3 and sym3 runs on eight states at once.

A vector register (or two, or four) of the machine, as a numba type with + - * / and the few functions below; mixed with
plain floats freely. Products and sums may fuse; not in exact lanes, each of which has the bits that a plain float would
have: the two do not mix. Under NUMBA_DISABLE_JIT=1 lanes are arrays of eight."""

import math
from typing import Any

import numpy as np

from pliant.kernels._jit import kernel, native
from pliant.system.work import WIDTH


@native("algebra.lanes_type")
def load(table: Any, row: Any) -> Any:
    """Lanes of one row of a (rows, WIDTH) table."""
    return table[row].copy()


@native("algebra.lanes_type")
def store(table: Any, row: Any, x: Any) -> None:
    table[row] = x


@native("algebra.lanes_type")
def same(x: Any) -> Any:
    """A float in all lanes."""
    return np.full(WIDTH, x)


@native("algebra.lanes_type")
def at(table: Any, k: Any) -> Any:
    """Number k of a vector, or exact lanes of row k of a (rows, WIDTH) table: what is written with it serves one state
    and eight."""
    return table[k].copy()


@native("algebra.lanes_type")
def cos_sin_of_each(angle: Any) -> Any:
    """libm's, of a float, or of lanes one by one."""
    if np.ndim(angle) == 0:
        return math.cos(angle), math.sin(angle)
    return np.array([math.cos(x) for x in angle]), np.array([math.sin(x) for x in angle])


@native("algebra.lanes_type")
def turn_quarters(quarters: Any, c: Any, s: Any) -> Any:
    """(cos, sin) of an angle and as many quarters of a turn as the last bits of a number say."""
    turns = np.asarray(quarters).view(np.int64) & 3
    cosine, sine = np.choose(turns, (c, -s, -c, s)), np.choose(turns, (s, c, -s, -c))
    return (cosine, sine) if np.ndim(quarters) else (float(cosine), float(sine))


@native("algebra.lanes_type")
def fused(x: Any, y: Any, z: Any) -> Any:
    """x y + z of floats, or of lanes: in one operation, rounded once, where the machine has it."""
    return x * y + z


@native("algebra.lanes_type")
def is_smaller(x: Any, limit: Any) -> Any:
    """|x| < limit, of a float, or in every lane."""
    return bool(np.all(np.abs(x) < limit))


@native("algebra.lanes_type")
def where_smaller(x: Any, limit: Any, y: Any, z: Any) -> Any:
    """y where |x| < limit, z elsewhere."""
    return np.where(np.abs(x) < limit, y, z) if np.ndim(x) else (y if abs(x) < limit else z)


@native("algebra.lanes_type")
def larger(x: Any, y: Any) -> Any:
    """In every lane; y where one of them is no number."""
    return np.where(x > y, x, y)


@native("algebra.lanes_type")
def magnitude(x: Any) -> Any:
    """|x|"""
    return np.abs(x)


@native("algebra.lanes_type")
def is_positive(x: Any) -> Any:
    """In every lane."""
    return bool(np.all(x > 0.0))


@kernel
def load3(table, i):
    return (load(table, i), load(table, i + 1), load(table, i + 2))


@kernel
def store3(table, i, a):
    store(table, i, a[0])
    store(table, i + 1, a[1])
    store(table, i + 2, a[2])

"""Lanes: eight numbers computed with as one, so that the algebra of vec3 and sym3 runs on eight states at once.

A vector register (or two, or four) of the machine, as a numba type with + - * / and the few functions below; mixed with
plain floats freely. Products and sums may fuse. Under NUMBA_DISABLE_JIT=1 lanes are arrays of eight."""

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

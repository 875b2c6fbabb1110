"""Lanes: eight numbers computed with as one, so that the algebra of vec3 and sym3 runs on eight states at once.

A vector register (or two, or four) of the machine, as a numba type with + - * / and the few functions below; mixed with
plain floats freely. Products and sums may fuse. Under NUMBA_DISABLE_JIT=1 lanes are arrays of eight."""

from typing import Any

import numpy as np

from pliant.kernels._jit import COMPILES, IS_COMPILED, kernel
from pliant.system.work import WIDTH

# load(table, row): lanes of one row of a (rows, WIDTH) table. store(table, row, x). same(x): a float in all lanes.
# is_positive(x): in every lane.
if COMPILES and IS_COMPILED:
    from pliant.kernels.algebra.lanes_type import is_positive, load, same, store
else:

    def load(table: Any, row: Any) -> Any:
        return table[row].copy()

    def store(table: Any, row: Any, x: Any) -> None:
        table[row] = x

    def same(x: Any) -> Any:
        return np.full(WIDTH, x)

    def is_positive(x: Any) -> Any:
        return bool(np.all(x > 0.0))


@kernel
def load3(table, i):
    return (load(table, i), load(table, i + 1), load(table, i + 2))


@kernel
def store3(table, i, a):
    store(table, i, a[0])
    store(table, i + 1, a[1])
    store(table, i + 2, a[2])

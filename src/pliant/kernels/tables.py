"""System, Work and Memory as kernels see them: one pointer each, whose fields are loaded when they are used.

Passed as tuples, their two dozen arrays would be copied at every call and unboxed at every entry from Python. A pointer
leads to the arrays' descriptors; `system.bodies` in a kernel reads one of them. Kernel code looks the same with the
plain tuples of NUMBA_DISABLE_JIT=1."""

from typing import Any

from pliant.kernels._jit import pin


class Pinned:
    """The arrays of a NamedTuple at a fixed address, kept alive; `ref` is what kernels take for it."""

    def __init__(self, tables: Any) -> None:
        self.tables = tables
        self.ref, self._descriptors = pin(tables)

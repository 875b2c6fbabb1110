"""System and Work kept at a fixed address: entering a kernel from Python then costs no unboxing of two dozen arrays.

Used by Prepared for single calls; the arrays must be kept alive by its owner, for kernels count no references."""

from typing import Any

import numpy as np
from numba.extending import intrinsic

from pliant.kernels._jit import FORWARD, INTEGER, PIN, QUICK, SYSTEM, WORK, entry, kernel

call_forward = FORWARD.call
PINNED_BYTES = 8192
WORK_OFFSET = 4096


def _store(kind: Any) -> Any:
    @intrinsic
    def store(typing_context: Any, address: Any, value: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            data = context.get_value_type(kind)
            if context.get_abi_sizeof(data) > WORK_OFFSET:
                raise AssertionError("System or Work has outgrown its pinned place: raise WORK_OFFSET")
            builder.store(values[1], builder.inttoptr(values[0], data.as_pointer()))
            return context.get_constant(INTEGER, 0)

        return INTEGER(address, value), codegen

    return store


def _load(kind: Any) -> Any:
    @intrinsic
    def load(typing_context: Any, address: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            data = context.get_value_type(kind)
            return builder.load(builder.inttoptr(values[0], data.as_pointer()))

        return kind(address), codegen

    return load


store_system, load_system = _store(SYSTEM), _load(SYSTEM)
store_work, load_work = _store(WORK), _load(WORK)


@kernel(PIN)
def pin(system, work, where):
    store_system(where, system)
    store_work(where + WORK_OFFSET, work)
    return 0


@kernel(QUICK)
def quick(function, where, t, q, v, given, found):
    """Call a FORWARD kernel on the pinned tables, without reactions."""
    system, work = load_system(where), load_work(where + WORK_OFFSET)
    return call_forward(function, (system, work, t, q, v, given, found, work.no_reaction))


class Pinned:
    """The pinned place of one (system, work), kept alive with them."""

    def __init__(self, system: Any, work: Any) -> None:
        self.tables = (system, work)
        self.place = np.zeros(PINNED_BYTES // 8)
        self.address = self.place.ctypes.data
        self.call = entry(quick)
        entry(pin)(system, work, self.address)

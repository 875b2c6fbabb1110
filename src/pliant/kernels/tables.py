"""System, Work and Memory as kernels see them: one pointer each, whose fields are loaded when they are used.

Passed as tuples, their two dozen arrays would be copied at every call and unboxed at every entry from Python. A Table
is an address of the arrays' descriptors; `system.bodies` in a kernel reads one of them. Kernel code looks the same with
the plain tuples of NUMBA_DISABLE_JIT=1. (The descriptor is numba's: see tests/kernels/test_jit.py.)"""

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate
from numba.extending import NativeValue, infer_getattr, intrinsic, lower_getattr_generic, models, register_model, unbox

IS_COMPILED = not numba.config.DISABLE_JIT


class Table(types.Type):
    """Type of a pointer to the arrays of a NamedTuple."""

    def __init__(self, name: str, tuple_type: Any) -> None:
        self.tuple_type = tuple_type
        super().__init__(name=f"Table({name})")  # its layout is in the hash of the cache


@register_model(Table)
class _TableModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.IntType(64))


@infer_getattr
class _TableAttribute(AttributeTemplate):
    key = Table

    def generic_resolve(self, kind: Any, name: str) -> Any:
        fields = kind.tuple_type.fields
        return kind.tuple_type.types[fields.index(name)] if name in fields else None


@lower_getattr_generic(Table)
def _load_field(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
    whole = context.get_value_type(kind.tuple_type)
    pointer = builder.inttoptr(value, whole.as_pointer())
    return builder.load(cgutils.gep_inbounds(builder, pointer, 0, kind.tuple_type.fields.index(name)))


@unbox(Table)
def _unbox_table(kind: Any, address: Any, c: Any) -> NativeValue:
    return NativeValue(c.pyapi.long_as_longlong(address))


def table_at(kind: Table) -> Any:
    """In kernels: the table of this type at an address, for arrays of addresses."""
    if not IS_COMPILED:
        return lambda tables: tables

    @intrinsic
    def at(typing_context: Any, address: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return values[0]  # a Table is its address

        return kind(address), codegen

    return at


class Pinned:
    """The arrays of a NamedTuple at a fixed address, kept alive; `ref` is what kernels take for it."""

    def __init__(self, tables: Any) -> None:
        self.tables = tables
        self._descriptors = np.concatenate([_descriptor(array) for array in tables])
        self.ref: Any = self._descriptors.ctypes.data if IS_COMPILED else tables


def _descriptor(array: np.ndarray) -> np.ndarray:
    """numba's array: no owner, no parent, size, itemsize, data, shape, strides."""
    assert array.flags.c_contiguous
    head = (0, 0, array.size, array.itemsize, array.ctypes.data)
    return np.array([*head, *array.shape, *array.strides], np.int64)

"""Lanes: eight numbers computed with as one, so that the algebra of vec3 and sym3 runs on eight states at once.

A vector register (or two, or four) of the machine, as a numba type with + - * / and the few functions below; mixed with
plain floats freely. Products and sums may fuse. Under NUMBA_DISABLE_JIT=1 lanes are arrays of eight."""

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from pliant.kernels._jit import IS_COMPILED, kernel
from pliant.system.work import WIDTH

VECTOR = ir.VectorType(ir.DoubleType(), WIDTH)
FLAGS = ("contract", "nsz")


class LanesType(types.Type):
    def __init__(self) -> None:
        super().__init__(name="lanes")


LANES, REAL = LanesType(), types.float64


@register_model(LanesType)
class LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, VECTOR)


def _spread(builder: Any, value: Any) -> Any:
    """A float in all lanes; lanes stay what they are."""
    if value.type == VECTOR:
        return value
    number = ir.IntType(32)
    one = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), value, ir.Constant(number, 0))
    mask = ir.Constant(ir.VectorType(number, WIDTH), [0] * WIDTH)
    return builder.shuffle_vector(one, ir.Constant(VECTOR, ir.Undefined), mask)


def _teach(operation: Any, name: str) -> None:
    pairs = ((LANES, LANES), (LANES, REAL), (REAL, LANES))

    @infer_global(operation)
    class Lanes(ConcreteTemplate):
        cases = tuple(signature(LANES, *pair) for pair in pairs)

    def lower(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        a, b = (_spread(builder, value) for value in values)
        return getattr(builder, name)(a, b, flags=FLAGS)

    for pair in pairs:
        lower_builtin(operation, *pair)(lower)


_teach(operator.add, "fadd")
_teach(operator.sub, "fsub")
_teach(operator.mul, "fmul")
_teach(operator.truediv, "fdiv")


@infer_global(operator.neg)
class _Negative(ConcreteTemplate):
    cases = (signature(LANES, LANES),)


@lower_builtin(operator.neg, LANES)
def _negate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
    return builder.fneg(values[0])


def _place(context: Any, builder: Any, kind: Any, table: Any, row: Any) -> Any:
    """Pointer to row `row` of a (rows, WIDTH) table."""
    data = context.make_array(kind)(context, builder, table).data
    start = builder.mul(row, ir.Constant(row.type, WIDTH))
    return builder.bitcast(builder.gep(data, [start]), VECTOR.as_pointer())


@intrinsic
def _load(typing_context: Any, table: Any, row: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        return builder.load(_place(context, builder, sig.args[0], *values), align=8)

    return LANES(table, types.int64), codegen


@intrinsic
def _store(typing_context: Any, table: Any, row: Any, x: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        builder.store(values[2], _place(context, builder, sig.args[0], values[0], values[1]), align=8)
        return context.get_dummy_value()

    return types.void(table, types.int64, LANES), codegen


@intrinsic
def _same(typing_context: Any, x: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        return _spread(builder, values[0])

    return LANES(REAL), codegen


@intrinsic
def _is_positive(typing_context: Any, x: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        signs = builder.fcmp_ordered(">", values[0], ir.Constant(VECTOR, [0.0] * WIDTH))
        mask = ir.IntType(WIDTH)
        return builder.icmp_unsigned("==", builder.bitcast(signs, mask), ir.Constant(mask, 2**WIDTH - 1))

    return types.boolean(LANES), codegen


def _plain_load(table: Any, row: Any) -> Any:
    return table[row].copy()


def _plain_store(table: Any, row: Any, x: Any) -> None:
    table[row] = x


def _plain_same(x: Any) -> Any:
    return np.full(WIDTH, x)


def _plain_is_positive(x: Any) -> Any:
    return bool(np.all(x > 0.0))


load = _load if IS_COMPILED else _plain_load  # load(table, row): lanes of one row of a (rows, WIDTH) table
store = _store if IS_COMPILED else _plain_store  # store(table, row, x)
same = _same if IS_COMPILED else _plain_same  # same(x): a float in all lanes
is_positive = _is_positive if IS_COMPILED else _plain_is_positive  # in every lane


@kernel
def load3(table, i):
    return (load(table, i), load(table, i + 1), load(table, i + 2))


@kernel
def store3(table, i, a):
    store(table, i, a[0])
    store(table, i + 1, a[1])
    store(table, i + 2, a[2])

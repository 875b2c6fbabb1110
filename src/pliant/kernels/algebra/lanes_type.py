"""Lanes for numba: the type, + - * / and the functions that algebra/lanes.py gives out."""

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

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
def load(typing_context: Any, table: Any, row: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        return builder.load(_place(context, builder, sig.args[0], *values), align=8)

    return LANES(table, types.int64), codegen


@intrinsic
def store(typing_context: Any, table: Any, row: Any, x: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        builder.store(values[2], _place(context, builder, sig.args[0], values[0], values[1]), align=8)
        return context.get_dummy_value()

    return types.void(table, types.int64, LANES), codegen


@intrinsic
def same(typing_context: Any, x: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        return _spread(builder, values[0])

    return LANES(REAL), codegen


@intrinsic
def is_positive(typing_context: Any, x: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        signs = builder.fcmp_ordered(">", values[0], ir.Constant(VECTOR, [0.0] * WIDTH))
        mask = ir.IntType(WIDTH)
        return builder.icmp_unsigned("==", builder.bitcast(signs, mask), ir.Constant(mask, 2**WIDTH - 1))

    return types.boolean(LANES), codegen

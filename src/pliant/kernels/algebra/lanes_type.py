"""Lanes for numba: the type, + - * / and the functions that algebra/lanes.py gives out."""

import math
import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typeconv import Conversion
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, lower_cast, models, register_model

from pliant.system.work import WIDTH

VECTOR = ir.VectorType(ir.DoubleType(), WIDTH)


class LanesType(types.Type):
    """flags: what LLVM may do with + - * /."""

    def __init__(self, name: str, *flags: str) -> None:
        self.flags = flags
        super().__init__(name=name)

    def can_convert_from(self, typing_context: Any, other: Any) -> Any:
        """A name may stand for a float on one branch and for lanes on another."""
        return Conversion.safe if other == REAL else None


LANES, EXACT, REAL = LanesType("lanes", "contract", "nsz"), LanesType("exact lanes"), types.float64
KINDS = (LANES, EXACT)


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


@lower_cast(REAL, LanesType)
def _cast(context: Any, builder: Any, given: Any, wanted: Any, value: Any) -> Any:
    return _spread(builder, value)


def _teach(operation: Any, name: str) -> None:
    signatures = tuple(signature(x, *pair) for x in KINDS for pair in ((x, x), (x, REAL), (REAL, x)))

    @infer_global(operation)
    class Lanes(ConcreteTemplate):
        cases = signatures

    def lower(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        a, b = (_spread(builder, value) for value in values)
        return getattr(builder, name)(a, b, flags=sig.return_type.flags)

    for each in signatures:
        lower_builtin(operation, *each.args)(lower)


_teach(operator.add, "fadd")
_teach(operator.sub, "fsub")
_teach(operator.mul, "fmul")
_teach(operator.truediv, "fdiv")


@infer_global(operator.neg)
class _Negative(ConcreteTemplate):
    cases = tuple(signature(x, x) for x in KINDS)


@lower_builtin(operator.neg, LANES)
@lower_builtin(operator.neg, EXACT)
def _negate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
    return builder.fneg(values[0])


def _place(context: Any, builder: Any, kind: Any, table: Any, row: Any) -> Any:
    """Pointer to row `row` of a (rows, WIDTH) table."""
    data = context.make_array(kind)(context, builder, table).data
    start = builder.mul(row, ir.Constant(row.type, WIDTH))
    return builder.bitcast(builder.gep(data, [start]), VECTOR.as_pointer())


def _load(context: Any, builder: Any, sig: Any, values: Any) -> Any:
    return builder.load(_place(context, builder, sig.args[0], *values), align=8)


@intrinsic
def load(typing_context: Any, table: Any, row: Any) -> Any:
    return LANES(table, types.int64), _load


@intrinsic
def at(typing_context: Any, table: Any, k: Any) -> Any:
    def number(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        return context.get_function(operator.getitem, sig)(builder, values)

    # unsigned: a number that is not looked at for counting from the end
    return (REAL(table, types.uintp), number) if table.ndim == 1 else (EXACT(table, types.int64), _load)


@intrinsic
def cos_sin_of_each(typing_context: Any, angle: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        found = [_each(context, builder, f, angle, values[0]) for f in (math.cos, math.sin)]
        return context.make_tuple(builder, sig.return_type, found)

    return types.UniTuple(angle, 2)(angle), codegen


def _each(context: Any, builder: Any, f: Any, kind: Any, x: Any) -> Any:
    """f(x) of a float, or lane by lane."""
    call = context.get_function(f, REAL(REAL))
    if kind == REAL:
        return call(builder, [x])
    found = ir.Constant(VECTOR, ir.Undefined)
    for s in range(WIDTH):
        place = ir.Constant(ir.IntType(32), s)
        found = builder.insert_element(found, call(builder, [builder.extract_element(x, place)]), place)
    return found


@intrinsic
def turn_quarters(typing_context: Any, quarters: Any, c: Any, s: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        real, number = values[0].type, ir.IntType(64)
        whole = number if real == ir.DoubleType() else ir.VectorType(number, WIDTH)

        def constant(x: int) -> Any:
            return ir.Constant(whole, x if whole == number else [x] * WIDTH)

        def negated_if(x: Any, second_bit: Any) -> Any:
            sign = builder.shl(builder.and_(second_bit, constant(2)), constant(62))
            return builder.bitcast(builder.xor(builder.bitcast(x, whole), sign), real)

        turns, (_, cosine, sine) = builder.bitcast(values[0], whole), values
        is_odd = builder.icmp_signed("!=", builder.and_(turns, constant(1)), constant(0))
        found = [
            negated_if(builder.select(is_odd, sine, cosine), builder.add(turns, constant(1))),
            negated_if(builder.select(is_odd, cosine, sine), turns),
        ]
        return context.make_tuple(builder, sig.return_type, found)

    return types.UniTuple(c, 2)(quarters, c, s), codegen


@intrinsic
def fused(typing_context: Any, x: Any, y: Any, z: Any) -> Any:
    kind = next((k for k in (x, y, z) if k in KINDS), REAL)

    def codegen(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        x, y, z = values if kind == REAL else (_spread(builder, value) for value in values)
        return builder.fadd(builder.fmul(x, y, flags=("contract",)), z, flags=("contract",))

    return kind(x, y, z), codegen


def _is_smaller(builder: Any, x: Any, limit: Any) -> Any:
    """|x| < limit"""
    return builder.fcmp_ordered("<", _magnitude(builder, x), _spread(builder, limit) if x.type == VECTOR else limit)


@intrinsic
def is_smaller(typing_context: Any, x: Any, limit: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        found = _is_smaller(builder, *values)
        return found if x == REAL else _all(builder, found)

    return types.boolean(x, REAL), codegen


@intrinsic
def where_smaller(typing_context: Any, x: Any, limit: Any, y: Any, z: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        return builder.select(_is_smaller(builder, *values[:2]), *values[2:])

    return x(x, REAL, x, x), codegen


@intrinsic
def store(typing_context: Any, table: Any, row: Any, x: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        builder.store(values[2], _place(context, builder, sig.args[0], values[0], values[1]), align=8)
        return context.get_dummy_value()

    return types.void(table, types.int64, EXACT if x == REAL else x), codegen


@intrinsic
def same(typing_context: Any, x: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        return _spread(builder, values[0])

    return LANES(REAL), codegen


def _all(builder: Any, found: Any) -> Any:
    """Whether a comparison holds in every lane."""
    mask = ir.IntType(WIDTH)
    return builder.icmp_unsigned("==", builder.bitcast(found, mask), ir.Constant(mask, 2**WIDTH - 1))


def _magnitude(builder: Any, x: Any) -> Any:
    """|x| of a float, or of lanes."""
    name = "llvm.fabs.f64" if x.type == ir.DoubleType() else f"llvm.fabs.v{WIDTH}f64"
    return builder.call(cgutils.get_or_insert_function(builder.module, ir.FunctionType(x.type, [x.type]), name), [x])


@intrinsic
def is_positive(typing_context: Any, x: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        return _all(builder, builder.fcmp_ordered(">", values[0], ir.Constant(VECTOR, [0.0] * WIDTH)))

    return types.boolean(x), codegen


@intrinsic
def larger(typing_context: Any, x: Any, y: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", values[0], values[1]), *values)

    return x(x, x), codegen


@intrinsic
def magnitude(typing_context: Any, x: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        return _magnitude(builder, values[0])

    return x(x), codegen

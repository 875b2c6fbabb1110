"""Signals: functions of time as data. They add and multiply: Constant(2.0) + 0.1 * Sine(omega=3.0)."""

from __future__ import annotations

import dataclasses
import inspect
import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import pydantic
from pydantic import BeforeValidator, Field

from pliant.errors import ModelError
from pliant.model.messages import in_si, listed, shown
from pliant.model.quantities import (
    Angle,
    AngleList,
    Many,
    Number,
    Numbers,
    Vector,
    argument_of,
    described,
    is_angle_text,
    parse_angle,
    worded,
)


class _Algebra:
    """Sums and products of signals by + and *."""

    def __add__(self, other: Any) -> Sum:
        return _sum(self, other)

    __radd__ = __add__

    def __mul__(self, other: Any) -> Product:
        return _product(self, other)

    __rmul__ = __mul__

    def __neg__(self) -> Product:
        return _product(self, -1.0)

    def __sub__(self, other: Any) -> Sum:
        return _sum(self, _product(other, -1.0))

    def __rsub__(self, other: Any) -> Sum:
        return _sum(other, -self)


SAME = 1e-9  # of the largest value: ends of a table that repeats
MIN_QUINTIC = 6  # values of a spline of degree 5
SHOWN = 8  # numbers of a table that its text shows


@described
class Constant(_Algebra):
    """The same value at all times."""

    value: Angle  # at all times; of angles also text like "30 deg"
    kind: Literal["constant"] = "constant"  # of signal


@described
class Linear(_Algebra):
    """offset + rate t: constant speed, for ever."""

    rate: Number  # per second
    offset: Angle = 0.0  # value at t = 0
    kind: Literal["linear"] = "linear"  # of signal


@described
class Step(_Algebra):
    """`before` until `time`, `after` from then on."""

    time: Number  # [s]
    after: Angle = 1.0  # value afterwards; of angles also text like "30 deg"
    before: Angle = 0.0  # value until then
    kind: Literal["step"] = "step"  # of signal


@described
class Ramp(_Algebra):
    """`before` until `start`, `after` from `end` on, a straight line between."""

    start: Number  # [s]
    end: Number  # [s]
    after: Angle = 1.0  # value afterwards; of angles also text like "30 deg"
    before: Angle = 0.0  # value until then
    kind: Literal["ramp"] = "ramp"  # of signal

    def __post_init__(self) -> None:
        _check_order(self.start, self.end)


@described
class Cycloid(_Algebra):
    """Like a ramp, but smooth: rate and second derivative vanish at both ends. The usual point-to-point motion."""

    start: Number  # [s]
    end: Number  # [s]
    after: Angle = 1.0  # value afterwards; of angles also text like "30 deg"
    before: Angle = 0.0  # value until then
    kind: Literal["cycloid"] = "cycloid"  # of signal

    def __post_init__(self) -> None:
        _check_order(self.start, self.end)


@described
class SpeedChange(_Algebra):
    """The integral of a cycloid: the rate goes from `before` to `after` as Cycloid does, and is constant elsewhere.

    The angle of a hub that spins up from rest to omega within T: SpeedChange(0, T, after=omega), which is
    omega (t - T/2) from T on. The value at `start` is `offset`."""

    start: Number  # [s]
    end: Number  # [s]
    after: Number = 1.0  # rate afterwards
    before: Number = 0.0  # rate until then
    offset: Angle = 0.0  # value at start
    kind: Literal["speed-change"] = "speed-change"  # of signal

    def __post_init__(self) -> None:
        _check_order(self.start, self.end)


@described
class Sine(_Algebra):
    """offset + amplitude sin(omega t + phase)."""

    amplitude: Angle = 1.0  # of the swing; of angles also text like "30 deg"
    omega: Number = 1.0  # [rad/s]
    phase: Angle = 0.0  # at t = 0 [rad], or text like "30 deg"
    offset: Angle = 0.0  # added to the swing
    kind: Literal["sine"] = "sine"  # of signal


@described
class Chirp(_Algebra):
    """offset + amplitude sin(phase(t)); the rate of phase goes from omega0 at `start` to omega1 at `end`, linearly.

    Before and after, the rate is constant."""

    end: Number  # [s]
    omega1: Number  # [rad/s]
    amplitude: Angle = 1.0  # of the swing; of angles also text like "30 deg"
    omega0: Number = 0.0  # [rad/s]
    start: Number = 0.0  # [s]
    offset: Angle = 0.0  # added to the swing
    kind: Literal["chirp"] = "chirp"  # of signal

    def __post_init__(self) -> None:
        _check_order(self.start, self.end)


@described
class Table(_Algebra):
    """Values at given times, joined by a spline of degree 3 (two continuous derivatives) or 5 (four); before and after
    it is constant.

    ends: "not-a-knot" (default), "natural" (no curvature), "clamped" (no slope; of degree 5: nor curvature) at both
    ends, or "periodic" (as smooth from the end to the beginning as elsewhere). smooth: the table is so fine that steps
    may pass its times; else each step ends at the next of them. repeats: it begins anew where it ends, for ever; each
    period goes on `advance` above the one before. kinks: of its times, those with a corner; where it jumps the time
    stands twice."""

    times: Annotated[Numbers, Field(min_length=2)]  # [s]
    values: Annotated[AngleList, Field(min_length=2)]  # one per time; of angles also text like "30 deg"
    ends: Literal["not-a-knot", "natural", "clamped", "periodic"] = "not-a-knot"  # of the spline
    smooth: bool = False  # steps need not end at its times
    repeats: bool = False  # begins anew where it ends
    degree: Literal[3, 5] = 3  # of the spline
    kinks: Numbers = ()  # times at which it has a corner, or jumps
    advance: Angle = 0.0  # of a table that repeats, per period: of a crank "360 deg"
    errors: Vector | None = None  # largest of value, rate and second derivative against what was sampled; only said
    kind: Literal["table"] = "table"  # of signal

    def __post_init__(self) -> None:
        for problem in table_problems(self):
            raise ValueError(problem)

    def __repr__(self) -> str:
        """Long tables by their sizes and ends."""
        parts = []
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, tuple) and len(value) > SHOWN:
                parts.append(f"{field.name}=({value[0]:g}, .., {value[-1]:g}; {len(value)} numbers)")
            elif value != field.default:
                parts.append(f"{field.name}={value!r}")
        return f"Table({', '.join(parts)})"

    @property
    def pieces(self) -> tuple[tuple[tuple[float, ...], tuple[float, ...]], ...]:
        """Times and values between kinks; the whole table, if there are none."""
        corners = set(self.kinks)
        cuts = [0, *(k for k, time in enumerate(self.times) if time in corners), len(self.times) - 1]
        pairs = [(a, b + 1) for a, b in itertools.pairwise(cuts) if self.times[a] < self.times[b]]
        return tuple((self.times[a:b], self.values[a:b]) for a, b in pairs)


@described
class Sum(_Algebra):
    """The sum of other signals."""

    terms: Annotated[Many[Signal], Field(min_length=1)]  # signals or numbers
    kind: Literal["sum"] = "sum"  # of signal


@described
class Product(_Algebra):
    """The product of other signals."""

    factors: Annotated[Many[Signal], Field(min_length=1)]  # signals or numbers
    kind: Literal["product"] = "product"  # of signal


def table_problems(table: Table) -> Iterator[str]:
    """What does not go together in a table."""
    times, values = table.times, table.values
    if len(times) != len(values):
        yield f"{len(times)} times but {len(values)} values; give one value per time"
        return
    for k, (before, after) in enumerate(itertools.pairwise(times)):
        is_jump = after == before and after in table.kinks and k > 0 and times[k - 1] < before
        if after <= before and not is_jump:
            yield (
                f"times must increase, but {after} follows {before}; sort them and drop doubles (a time at which the "
                "table jumps may stand twice, if kinks name it)"
            )
            return
    for kink in table.kinks:
        if kink not in times[1:-1]:
            yield f"kinks: {kink} is none of the times between the first and the last; give one of them"
    if table.repeats:
        yield from _period_problems(table)
    elif table.ends == "periodic" or table.advance:
        key = 'ends = "periodic"' if table.ends == "periodic" else "advance"
        yield f"{key} has a meaning only for a table that repeats; say repeats = true, or leave it out"
    yield from _degree_problems(table)


def _period_problems(table: Table) -> Iterator[str]:
    gain, size = table.values[-1] - table.values[0], max(map(abs, table.values))
    if abs(gain - table.advance) > SAME * size:
        last = f"{table.values[0]:g} + {table.advance:g}" if table.advance else "the first value"
        yield (
            f"the table repeats, but ends with {table.values[-1]:g} where it begins with {table.values[0]:g}; "
            f"give {last} again as the last, or advance = {gain:.17g}, by which each period goes on from the one before"
        )
    if not table.smooth:
        yield "a table that repeats must be fine enough for smooth = true; say so"
    if table.kinks:
        yield "a table that repeats has no kinks, because steps pass where it begins anew; leave out one of the two"


def _degree_problems(table: Table) -> Iterator[str]:
    if table.degree == 3:
        return
    if table.ends == "natural":
        yield 'ends = "natural" goes with degree = 3 only; give "not-a-knot" or "clamped"'
    shortest = min(len(times) for times, _ in table.pieces)
    if shortest < MIN_QUINTIC:
        yield f"degree = 5 needs {MIN_QUINTIC} values between kinks, but {shortest} found; give more, or degree = 3"


def _sum(*terms: Any) -> Sum:
    return Sum(terms=terms)


def _product(*factors: Any) -> Product:
    return Product(factors=factors)


def _check_order(start: float, end: float) -> None:
    if end <= start:
        raise ValueError(f"end {end} s is not after start {start} s; give an end later than the start")


SIGNAL_KINDS = (Constant, Linear, Step, Ramp, Cycloid, SpeedChange, Sine, Chirp, Table, Sum, Product)


def _as_signal(value: Any) -> Any:
    """A bare number is a constant signal, and so is an angle in text."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return {"kind": "constant", "value": value}
    if is_angle_text(value):
        return {"kind": "constant", "value": _constant_angle(value)}
    if isinstance(value, SIGNAL_KINDS) or (isinstance(value, dict) and "kind" in value):
        return value
    if callable(value):
        raise ValueError(
            "found a Python function; one of time is given as pliant.sampled(function, start, end), a law "
            "for motors that measures as a pliant.Controller"
        )
    kinds = listed(signal.kind for signal in SIGNAL_KINDS)
    raise ValueError(f"{shown(value)} is no signal; give a number, or a table with kind = one of {kinds}")


def _constant_angle(text: str) -> Any:
    try:
        return parse_angle(text)
    except ValueError:
        raise ValueError(
            f'{shown(text)} is no signal; give a plain number in SI units{in_si(text)}, or an angle like "30 deg"'
        ) from None


_Signal = Annotated[
    Constant | Linear | Step | Ramp | Cycloid | SpeedChange | Sine | Chirp | Table | Sum | Product,
    Field(discriminator="kind"),
]
if TYPE_CHECKING:  # more forms may be given than a field then has
    Signal: TypeAlias = Any
else:
    Signal = Annotated[_Signal, BeforeValidator(_as_signal, json_schema_input_type=float | _Signal)]
# now that signals are known, of which these are made
_made_of_others: Any
for _made_of_others in (Sum, Product):
    _signature = inspect.signature(_made_of_others)
    pydantic.dataclasses.rebuild_dataclass(_made_of_others, force=True)
    worded(_made_of_others).__signature__ = _signature


def tables_in(signal: Any) -> tuple[Table, ...]:
    """All tables a signal is made of."""
    if isinstance(signal, Table):
        return (signal,)
    parts = getattr(signal, "terms", ()) or getattr(signal, "factors", ())
    return tuple(table for part in parts for table in tables_in(part))


def delayed(signal: Any, delay: float) -> Any:
    """The same signal, `delay` seconds later (earlier, if negative)."""
    return _shifted(checked_signal(signal), checked_delay(delay))


checked_signal: Callable[[Any], Any] = argument_of(Signal, "signal")
checked_delay: Callable[[Any], float] = argument_of(Number, "delay")


def _shifted(signal: Any, delay: float) -> Any:
    if isinstance(signal, Constant):
        return signal
    if isinstance(signal, (Step, Ramp, Cycloid, SpeedChange, Chirp)):
        shift = {name: getattr(signal, name) + delay for name in ("time", "start", "end") if hasattr(signal, name)}
    elif isinstance(signal, Sine):
        shift = {"phase": signal.phase - signal.omega * delay}
    elif isinstance(signal, Linear):
        shift = {"offset": signal.offset - signal.rate * delay}
    elif isinstance(signal, Table):
        shift = {name: tuple(time + delay for time in getattr(signal, name)) for name in ("times", "kinks")}
    elif isinstance(signal, Sum):
        shift = {"terms": tuple(_shifted(term, delay) for term in signal.terms)}
    elif isinstance(signal, Product):
        shift = {"factors": tuple(_shifted(factor, delay) for factor in signal.factors)}
    else:
        raise ModelError(f"signal: a {signal.kind} cannot be delayed; give another kind")
    return dataclasses.replace(signal, **shift)

"""Signals: functions of time as data. They add and multiply: Constant(2.0) + 0.1 * Sine(omega=3.0)."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import pydantic
from pydantic import BeforeValidator, Field

from pliant.errors import ModelError
from pliant.model.messages import listed, shown
from pliant.model.quantities import Angle, Many, Number, Numbers, argument_of, described, worded


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


@described
class Constant(_Algebra):
    """The same value at all times."""

    value: Number  # at all times
    kind: Literal["constant"] = "constant"  # of signal


@described
class Step(_Algebra):
    """`before` until `time`, `after` from then on."""

    time: Number  # [s]
    after: Number = 1.0  # value afterwards
    before: Number = 0.0  # value until then
    kind: Literal["step"] = "step"  # of signal


@described
class Ramp(_Algebra):
    """`before` until `start`, `after` from `end` on, a straight line between."""

    start: Number  # [s]
    end: Number  # [s]
    after: Number = 1.0  # value afterwards
    before: Number = 0.0  # value until then
    kind: Literal["ramp"] = "ramp"  # of signal

    def __post_init__(self) -> None:
        _check_order(self.start, self.end)


@described
class Cycloid(_Algebra):
    """Like a ramp, but smooth: rate and second derivative vanish at both ends. The usual point-to-point motion."""

    start: Number  # [s]
    end: Number  # [s]
    after: Number = 1.0  # value afterwards
    before: Number = 0.0  # value until then
    kind: Literal["cycloid"] = "cycloid"  # of signal

    def __post_init__(self) -> None:
        _check_order(self.start, self.end)


@described
class SpeedChange(_Algebra):
    """The rate goes from `before` to `after` like a cycloid: spin-up of a hub. Before and after, the rate is constant.

    The value at `start` is `offset`."""

    start: Number  # [s]
    end: Number  # [s]
    after: Number = 1.0  # rate afterwards
    before: Number = 0.0  # rate until then
    offset: Number = 0.0  # value at start
    kind: Literal["speed-change"] = "speed-change"  # of signal

    def __post_init__(self) -> None:
        _check_order(self.start, self.end)


@described
class Sine(_Algebra):
    """offset + amplitude sin(omega t + phase)."""

    amplitude: Number = 1.0  # of the swing
    omega: Number = 1.0  # [rad/s]
    phase: Angle = 0.0  # at t = 0 [rad], or text like "30 deg"
    offset: Number = 0.0  # added to the swing
    kind: Literal["sine"] = "sine"  # of signal


@described
class Chirp(_Algebra):
    """offset + amplitude sin(phase(t)); the rate of phase goes from omega0 at `start` to omega1 at `end`, linearly.

    Before and after, the rate is constant."""

    end: Number  # [s]
    omega1: Number  # [rad/s]
    amplitude: Number = 1.0  # of the swing
    omega0: Number = 0.0  # [rad/s]
    start: Number = 0.0  # [s]
    offset: Number = 0.0  # added to the swing
    kind: Literal["chirp"] = "chirp"  # of signal

    def __post_init__(self) -> None:
        _check_order(self.start, self.end)


@described
class Table(_Algebra):
    """Values at given times, joined by a cubic spline (two continuous derivatives); constant before and after.

    ends: "not-a-knot" (default), "natural" (no curvature) or "clamped" (no slope) at both ends. smooth: the table is so
    fine that steps may pass its times; else each step ends at the next of them. repeats: it begins anew where it ends,
    for ever."""

    times: Annotated[Numbers, Field(min_length=2)]  # [s]
    values: Annotated[Numbers, Field(min_length=2)]  # one per time
    ends: Literal["not-a-knot", "natural", "clamped"] = "not-a-knot"  # of the spline
    smooth: bool = False  # steps need not end at its times
    repeats: bool = False  # begins anew where it ends
    kind: Literal["table"] = "table"  # of signal

    def __post_init__(self) -> None:
        if len(self.times) != len(self.values):
            raise ValueError(f"{len(self.times)} times but {len(self.values)} values; give one value per time")
        for before, after in zip(self.times, self.times[1:], strict=False):
            if after <= before:
                raise ValueError(f"times must increase, but {after} follows {before}; sort them and drop doubles")
        if self.repeats:
            jump, size = abs(self.values[-1] - self.values[0]), max(map(abs, self.values))
            if jump > SAME * size:
                raise ValueError(
                    f"the table repeats, but ends with {self.values[-1]:g} where it begins with {self.values[0]:g}; "
                    "give the first value again as the last"
                )
            if not self.smooth:
                raise ValueError("a table that repeats must be fine enough for smooth = true; say so")


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


def _sum(*terms: Any) -> Sum:
    return Sum(terms=terms)


def _product(*factors: Any) -> Product:
    return Product(factors=factors)


def _check_order(start: float, end: float) -> None:
    if end <= start:
        raise ValueError(f"end {end} s is not after start {start} s; give an end later than the start")


SIGNAL_KINDS = (Constant, Step, Ramp, Cycloid, SpeedChange, Sine, Chirp, Table, Sum, Product)


def _as_signal(value: Any) -> Any:
    """A bare number is a constant signal."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return {"kind": "constant", "value": value}
    if isinstance(value, SIGNAL_KINDS) or (isinstance(value, dict) and "kind" in value):
        return value
    kinds = listed(signal.kind for signal in SIGNAL_KINDS)
    raise ValueError(f"{shown(value)} is no signal; give a number, or a table with kind = one of {kinds}")


_Signal = Annotated[
    Constant | Step | Ramp | Cycloid | SpeedChange | Sine | Chirp | Table | Sum | Product,
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
    elif isinstance(signal, Table):
        shift = {"times": tuple(time + delay for time in signal.times)}
    elif isinstance(signal, Sum):
        shift = {"terms": tuple(_shifted(term, delay) for term in signal.terms)}
    elif isinstance(signal, Product):
        shift = {"factors": tuple(_shifted(factor, delay) for factor in signal.factors)}
    else:
        raise ModelError(f"signal: a {signal.kind} cannot be delayed; give another kind")
    return dataclasses.replace(signal, **shift)

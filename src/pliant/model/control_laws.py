"""Control laws as data: evaluated at the sampling instants by compiled code, so that runs with them need no Python.

Every law is linear in discrete time, with e the measured coordinates and rates minus their reference:

    u = feedforward + C x + D e,    x <- A x + B e, at most `bounds` in size.

ComputedTorque takes r'' + D e for the accelerations that the torques of the rigid model shall make."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field, Tag

from pliant.model.messages import listed, shown
from pliant.model.parameters import Parameter
from pliant.model.quantities import ONE_OR_EACH, NonNegative, Number, Numbers, Positive, described, field_words
from pliant.model.signals import Constant, Signal

Array = NDArray[np.float64]

# one for all commands, or one per commanded velocity
if TYPE_CHECKING:  # more forms may be given than a field then has
    Gains: TypeAlias = Any
    Bounds: TypeAlias = Any
    Signals: TypeAlias = Any
    Rows: TypeAlias = Any
else:
    Gains = Annotated[
        Annotated[NonNegative, Tag("one")] | Annotated[tuple[NonNegative, ...], Field(min_length=1), Tag("each")],
        ONE_OR_EACH,
    ]
    Bounds = Annotated[
        Annotated[Positive, Tag("one")] | Annotated[tuple[Positive, ...], Field(min_length=1), Tag("each")],
        ONE_OR_EACH,
    ]
    Signals = Annotated[
        Annotated[Signal, Tag("one")] | Annotated[tuple[Signal, ...], Field(min_length=1), Tag("each")],
        ONE_OR_EACH,
    ]
    Rows = Annotated[tuple[tuple[Number, ...], ...], Field(min_length=1)]
ZERO = Constant(0.0)


class Matrices(NamedTuple):
    """A law as compiled code takes it."""

    A: Array
    B: Array
    C: Array
    D: Array
    start: Array  # x at t = 0
    bounds: Array  # largest size of every x


def one_per_command(values: Any, count: int) -> tuple[Any, ...]:
    """Of a parameter that may be one for all."""
    return tuple(values) if isinstance(values, tuple) else (values,) * count


class SampledLaw:
    """What all laws share, and what a law says of itself in listings: the first line of its docstring, too."""

    family: ClassVar[str] = "control law"
    name: ClassVar[str] = ""  # that of the field `kind`
    summary: ClassVar[str] = ""
    supports: ClassVar[frozenset[str]] = frozenset()
    cost: ClassVar[str] = "one product with a matrix a sample"
    reference_key: ClassVar[str] = ""  # in docs/bibliography.md
    per_command: ClassVar[tuple[str, ...]] = ("reference", "feedforward")  # parameters: one for all, or one each

    def __init_subclass__(cls) -> None:
        cls.name, cls.summary = cls.__dict__["kind"], (cls.__doc__ or "").partition("\n")[0].removesuffix(".")

    @classmethod
    def parameters(cls) -> tuple[Parameter, ...]:
        """Its fields, for listings."""
        return tuple(_parameter(field, field_words(cls)[field.name]) for field in dataclasses.fields(cls)[:-1])  # type: ignore[arg-type]

    def each(self, field: str, count: int) -> tuple[Any, ...]:
        """A parameter per command."""
        return one_per_command(getattr(self, field), count)

    def problems(self, n_commands: int, n_state: int) -> Iterator[str]:
        """What does not fit a controller of so many commands, in a model of so many coordinates and velocities."""
        for field in self.per_command:
            values = getattr(self, field)
            if isinstance(values, tuple) and len(values) != n_commands:
                counts = f"{len(values)} values for {n_commands} commands"
                yield f"law.{field} has {counts}; give one, or one per command"


def _parameter(field: Any, words: str) -> Parameter:
    """A row of a listing; its unit stands in its words."""
    before, _, rest = words.partition(" [")
    unit, _, after = rest.partition("]")
    is_needed = field.default is dataclasses.MISSING
    default = None if is_needed or field.default == () else "0" if field.default is ZERO else field.default
    is_gain = field.name in ("stiffness", "damping", "integral")
    low = 0.0 if is_gain or field.name == "windup" else -np.inf
    return Parameter(
        before + after,
        unit,
        low,
        is_open=not is_gain,
        key=field.name,
        name=field.name,
        default=default,
        is_needed=is_needed,
    )


@described
class PD(SampledLaw):
    """stiffness (r - q) + damping (r' - v) + feedforward, for every velocity of the controller's joints."""

    supports: ClassVar[frozenset[str]] = frozenset({"feedforward", "reference"})
    reference_key: ClassVar[str] = "astrom1995"
    per_command: ClassVar[tuple[str, ...]] = ("stiffness", "damping", "reference", "feedforward")

    stiffness: Gains  # torque per angle, force per length [N m/rad, N/m]
    damping: Gains = 0.0  # torque per angular velocity, force per speed [N m s/rad, N s/m]
    reference: Signals = ZERO  # r: where the joints shall be [rad, m]; its rate is r'
    feedforward: Signals = ZERO  # added to the command [N m, N]
    kind: Literal["pd"] = "pd"  # of law

    def matrices(self, count: int, period: float) -> Matrices:
        gains = np.hstack([np.diag(self.each("stiffness", count)), np.diag(self.each("damping", count))])
        return _static(-gains)


@described
class PID(SampledLaw):
    """PD with the integral of r - q, summed up once per period."""

    supports: ClassVar[frozenset[str]] = frozenset({"feedforward", "integral", "reference"})
    reference_key: ClassVar[str] = "astrom1995"
    per_command: ClassVar[tuple[str, ...]] = (*PD.per_command, "integral", "windup")

    stiffness: Gains  # torque per angle, force per length [N m/rad, N/m]
    damping: Gains  # torque per angular velocity, force per speed [N m s/rad, N s/m]
    integral: Gains  # torque per angle and second, force per length and second [N m/(rad s), N/(m s)]
    windup: Bounds | None = None  # largest part of the command that comes from the integral [N m, N]
    reference: Signals = ZERO  # r: where the joints shall be [rad, m]; its rate is r'
    feedforward: Signals = ZERO  # added to the command [N m, N]
    kind: Literal["pid"] = "pid"  # of law

    def matrices(self, count: int, period: float) -> Matrices:
        gains = np.hstack([np.diag(self.each("stiffness", count)), np.diag(self.each("damping", count))])
        sums = np.hstack([np.diag(self.each("integral", count)) * period, np.zeros((count, count))])
        bounds = np.full(count, np.inf) if self.windup is None else np.array(self.each("windup", count))
        return Matrices(np.eye(count), -sums, np.eye(count), -gains, np.zeros(count), bounds)


@described
class LinearController(SampledLaw):
    """u = C x + D e + feedforward, then x <- A x + B e: any linear controller, as designed for the sampling period.

    e: angles and lengths of the controller's joints minus the reference, then their rates minus its rate."""

    supports: ClassVar[frozenset[str]] = frozenset({"feedforward", "reference", "states"})
    reference_key: ClassVar[str] = "astrom1997"

    A: Rows  # one row per controller state
    B: Rows  # one row per controller state, one column per e
    C: Rows  # one row per command, one column per controller state
    D: Rows  # one row per command, one column per e [N m/rad, N m s/rad, N/m, N s/m]
    start: Numbers = ()  # x at t = 0; left out: zeros
    reference: Signals = ZERO  # where the joints shall be [rad, m]
    feedforward: Signals = ZERO  # added to the command [N m, N]
    kind: Literal["linear"] = "linear"  # of law

    def problems(self, n_commands: int, n_state: int) -> Iterator[str]:
        yield from super().problems(n_commands, n_state)
        n = len(self.A)
        shapes = {"A": (n, n), "B": (n, 2 * n_commands), "C": (n_commands, n), "D": (n_commands, 2 * n_commands)}
        for name, shape in shapes.items():
            yield from _shape_problems(f"law.{name}", getattr(self, name), shape)
        if self.start and len(self.start) != n:
            yield f"law.start has {len(self.start)} values for {n} states; give one per row of A"

    def matrices(self, count: int, period: float) -> Matrices:
        A, B, C, D = (np.array(rows, float) for rows in (self.A, self.B, self.C, self.D))
        start = np.array(self.start, float) if self.start else np.zeros(len(A))
        return Matrices(A, B, C, D, start, np.full(len(A), np.inf))


@described
class StateFeedback(SampledLaw):
    """u = feedforward - gain (x - x0): x all coordinates and velocities of the model, modes too.

    x0 is the operating point (q, v), with the reference added to the coordinates and rates of the controller's joints.
    pliant.lqr finds a gain."""

    supports: ClassVar[frozenset[str]] = frozenset({"feedforward", "modes", "reference"})
    reference_key: ClassVar[str] = "kalman1960"

    gain: Rows  # one row per command, one column per coordinate and then per velocity of the model
    q: Numbers = ()  # coordinates of the operating point; left out: zeros
    v: Numbers = ()  # velocities of the operating point; left out: zeros
    reference: Signals = ZERO  # added to the operating point of the joints [rad, m]
    feedforward: Signals = ZERO  # added to the command: what holds the operating point [N m, N]
    kind: Literal["state-feedback"] = "state-feedback"  # of law

    def problems(self, n_commands: int, n_state: int) -> Iterator[str]:
        yield from super().problems(n_commands, n_state)
        yield from _shape_problems("law.gain", self.gain, (n_commands, n_state))
        for name, values in (("q", self.q), ("v", self.v)):
            if values and len(values) != n_state // 2:
                yield f"law.{name} has {len(values)} values; the model has {n_state // 2}: give all, or leave it out"

    def matrices(self, count: int, period: float) -> Matrices:
        return _static(-np.array(self.gain, float))


@described
class ComputedTorque(SampledLaw):
    """The torques that a model with rigid links needs for r'' + damping (r' - v) + stiffness (r - q), plus feedforward.

    Inverse dynamics in the loop (luh1980): where the links are rigid, every joint's error decays by itself, as
    e'' + damping e' + stiffness e = 0. The law knows masses, gravity, armatures, springs and dampers of joints; not
    that links bend, nor loads, friction, limits, contacts and motor signals."""

    supports: ClassVar[frozenset[str]] = frozenset({"feedforward", "reference", "rigid model"})
    cost: ClassVar[str] = "O(n) inverse dynamics a sample"
    reference_key: ClassVar[str] = "luh1980"
    per_command: ClassVar[tuple[str, ...]] = ("stiffness", "damping", "reference", "feedforward")

    stiffness: Gains  # angular acceleration per angle, acceleration per length [1/s^2]
    damping: Gains  # angular acceleration per angular velocity, acceleration per speed [1/s]
    reference: Signals = ZERO  # r: where the joints shall be [rad, m], with two derivatives
    feedforward: Signals = ZERO  # added to the command [N m, N]
    kind: Literal["computed-torque"] = "computed-torque"  # of law

    def matrices(self, count: int, period: float) -> Matrices:
        gains = np.hstack([np.diag(self.each("stiffness", count)), np.diag(self.each("damping", count))])
        return _static(-gains)


def _static(D: Array) -> Matrices:
    """A law without states."""
    none = np.zeros(0)
    return Matrices(np.zeros((0, 0)), np.zeros((0, D.shape[1])), np.zeros((len(D), 0)), D, none, none)


def _shape_problems(where: str, rows: tuple[tuple[float, ...], ...], shape: tuple[int, int]) -> Iterator[str]:
    widths = {len(row) for row in rows}
    if len(rows) != shape[0] or widths != {shape[1]}:
        found = f"{len(rows)} rows of {'/'.join(map(str, sorted(widths)))} numbers"
        yield f"{where}: {found} found; give {shape[0]} rows of {shape[1]}"


CONTROL_LAWS: tuple[Any, ...] = (PD, PID, ComputedTorque, LinearController, StateFeedback)


def _as_law(value: Any) -> Any:
    kinds = listed(law.kind for law in CONTROL_LAWS)
    if isinstance(value, CONTROL_LAWS) or (isinstance(value, dict) and "kind" in value):
        return value
    raise ValueError(f"{shown(value)} is no control law; give a law (in a file: a table with kind = one of {kinds})")


ControlLaw = PD | PID | ComputedTorque | LinearController | StateFeedback
AnyControlLaw = Annotated[ControlLaw, Field(discriminator="kind"), BeforeValidator(_as_law)]

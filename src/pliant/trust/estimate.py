"""From the differences between runs to the errors of figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError
from pliant.methods import formulations_of
from pliant.result import Result
from pliant.results.figures import COUNTS, FigureRequest
from pliant.trust.changed_models import with_stick_speed
from pliant.trust.predictability import EPS, LOST
from pliant.trust.shadows import MOVED, Cause, ShadowRun

Array = NDArray[np.float64]
Differ: TypeAlias = Callable[[Result, Result], float]  # how far a figure of two runs differs; nan: one has none
SAFETY = 2.0  # on differences: the other run has errors, too
MAX_DIGITS = 15
WINDOW = 0.02  # of the run, to each side of an instant: differences that oscillate pass through zero
WINDOW_POINTS = 17
ROUNDINGS = 4.0  # of each step, in units of the last place


@dataclass(frozen=True)
class CertifiedFigure:
    """A number, how far it may be off, and why."""

    name: str
    value: float
    unit: str
    errors: dict[Cause, float]  # nan: could not be told
    note: str = ""  # "not predictable", and the like

    @property
    def is_counted(self) -> bool:
        """Whether the error of every cause is known."""
        return Cause.TIME in self.errors and not any(math.isnan(error) for error in self.errors.values())

    @property
    def error(self) -> float:
        """Of all causes together; inf where the figure is not predictable, or the error of a cause is not known."""
        if self.note.startswith(NOT_PREDICTABLE) or not self.is_counted:
            return math.inf
        return math.fsum(self.errors.values())

    @property
    def model_error(self) -> float:
        """Of the numbers alone: without what more shapes of the beams would change; inf as `error`."""
        without = dict(self.errors)
        without.pop(Cause.MODES, None)
        return replace(self, errors=without).error

    @property
    def model_digits(self) -> int | None:
        """Significant digits of the numbers alone, of this model with its own shapes; None as `digits`."""
        return None if math.isinf(self.model_error) else _digits(self.value, self.model_error)

    @property
    def digits(self) -> int | None:
        """Significant digits that are right; 0: none is, or the figure is not to be told from 0. None: nobody knows,
        because the error of a cause is not."""
        return _digits(self.value, self.error) if self.is_counted else None

    @property
    def text(self) -> str:
        """The value, as far as its error lets it be told, and the error."""
        if math.isnan(self.value):
            return "-"
        if self.note.startswith(NOT_PREDICTABLE):
            return NOT_PREDICTABLE
        digits = self.digits
        if digits is None or not math.isfinite(self.error):
            return NOT_KNOWN
        # one digit more than is right, so that writing it down adds nothing to the error
        return f"{self.value:.{min(digits + 2, MAX_DIGITS)}g} +- {rounded_up(self.error)}"


NOT_PREDICTABLE = "not predictable"
NOT_KNOWN = "not known"
NOT_COUNTED = "not counted"


def rounded_up(error: float) -> str:
    """A bound with one digit, not below the error."""
    if error == 0.0 or not math.isfinite(error):
        return f"{error:g}"
    place = 10.0 ** math.floor(math.log10(error))
    text = f"{math.ceil(error / place * (1.0 - EPS)) * place:.0e}"
    return text.replace("e-0", "e-").replace("e+0", "e").removesuffix("e0")


def span_of_digits(digits: Sequence[int | None]) -> str:
    """Return the least and the largest number of digits that are known, in words."""
    known = [each for each in digits if each is not None]
    if not digits:
        return "no figures"
    return f"{min(known)} to {max(known)}" if known else NOT_KNOWN


def _digits(value: float, error: float) -> int:
    if not math.isfinite(value) or not math.isfinite(error) or value == 0.0:
        return MAX_DIGITS if value == 0.0 and error == 0.0 else 0
    if error <= 0.0:
        return MAX_DIGITS
    return int(min(MAX_DIGITS, max(0, math.floor(math.log10(abs(value) / error)))))


@dataclass(frozen=True)
class Sources:
    """The runs that a certificate rests on."""

    plain: Result
    runs: tuple[ShadowRun, ...]
    _rows: dict[tuple[int, bytes], Result] = field(default_factory=dict, repr=False)

    def column(self, run: Result, name: str, times: Array) -> Array:
        """Of one of the runs at any times; many figures are asked for at the same ones."""
        key = id(run), times.tobytes()
        if key not in self._rows:
            self._rows[key] = run.resampled(times)
        return np.asarray(self._rows[key][name])

    def usable(self, cause: Cause) -> list[Result]:
        return [run.result for run in self.runs if run.shadow.cause is cause and run.is_usable and run.result]

    @cached_property
    def can_stick(self) -> bool:
        """Whether friction has a stick speed, so that its error counts."""
        return with_stick_speed(self.plain.model, 1.0) is not None

    @property
    def roundings(self) -> float:
        """Size of all rounding errors together, as a change of the start [rad/s, sizes per second]."""
        steps = max(1.0, float(self.plain.stats["steps"]))
        largest = max(1.0, float(np.max(np.abs(self.plain.v), initial=0.0)))
        return ROUNDINGS * EPS * largest * math.sqrt(steps)


def certified(request: FigureRequest, sources: Sources, horizon: float) -> CertifiedFigure:
    """One figure with its errors."""
    plain = sources.plain
    value = request.value(plain, sources.column)
    if math.isnan(value):
        return CertifiedFigure(request.label, value, request.unit, {}, "the run does not reach it")
    differ = _at_instant(request, sources) if request.is_at_instant else _of_run(request, sources)
    absent = [run.shadow.label for run in sources.runs if _is_absent(run, differ, plain)]
    if absent:
        why = f"{NOT_PREDICTABLE}: there is none with {', '.join(absent)}"
        return CertifiedFigure(request.label, value, request.unit, {Cause.TIME: math.nan}, why)
    rate = _rate(request, sources) if request.is_at_instant else 0.0
    errors = errors_of(differ, value, rate, sources)
    if request.how in COUNTS:  # a number of events is not rounded
        errors[Cause.ROUNDING] = 0.0
    found = CertifiedFigure(request.label, value, request.unit, errors)
    return replace(found, note=_note(request, found, sources, horizon))


def _note(request: FigureRequest, found: CertifiedFigure, sources: Sources, horizon: float) -> str:
    """Whether runs that have separated leave anything of a figure: conserved ones stay known."""
    plain = sources.plain
    missing = [cause.value for cause, error in found.errors.items() if math.isnan(error)]
    unsaid = f"{NOT_COUNTED}: {', '.join(missing)}" if missing else ""
    if not math.isfinite(horizon):
        return unsaid
    scale = abs(found.value)
    if request.column:
        scale = max(scale, float(np.ptp(plain[request.column])))
    of_numbers = [error for cause, error in found.errors.items() if cause is not Cause.MODES and not math.isnan(error)]
    if math.fsum(of_numbers) <= LOST * scale:
        return unsaid
    if request.instant(plain) >= horizon:
        return f"{NOT_PREDICTABLE} from {horizon:.4g} s on"
    return f"{NOT_PREDICTABLE}: it depends on the motion after {horizon:.4g} s" if plain.t[-1] > horizon else unsaid


def errors_of(differ: Differ, value: float, rate: float, sources: Sources) -> dict[Cause, float]:
    """Return the error by cause; nan where no run tells it. rate: of the figure in time [1/s]."""

    def largest(cause: Cause) -> float:
        return _largest(differ(run, sources.plain) for run in sources.usable(cause))

    found = {Cause.TIME: SAFETY * largest(Cause.TIME)}
    if len(formulations_of(sources.plain.model)) > 1:
        found[Cause.FORMULATION] = SAFETY * largest(Cause.FORMULATION)
    found[Cause.EVENTS] = abs(rate) * float(sources.plain.audit.get("event_error", 0.0))
    found[Cause.ROUNDING] = largest(Cause.ROUNDING) / MOVED * sources.roundings + ROUNDINGS * EPS * abs(value)
    if sources.can_stick:
        found[Cause.STICK] = SAFETY * largest(Cause.STICK)
    if sources.plain.model.has_modes:
        found[Cause.MODES] = _truncation(differ, sources)
    return found


def _truncation(differ: Differ, sources: Sources) -> float:
    """Return what all shapes that are left out make; nan where no run has more.

    What n shapes leave out falls as 1/n at worst: so it does for stretch by sines, and for forces. Runs with few and
    with many more shapes tell how much is still to come; one of them alone is taken to show the least share."""
    plain = sources.plain
    runs = [run for run in sources.runs if run.shadow.cause is Cause.MODES and run.is_usable]
    known = [
        (run.shadow.growth, run.result) for run in runs if run.result and not math.isnan(differ(run.result, plain))
    ]
    if not known:
        return math.nan
    largest = max(differ(result, plain) for _, result in known)
    (fewer, few), (more, many) = min(known, key=itemgetter(0)), max(known, key=itemgetter(0))
    if more <= fewer:
        return SAFETY * fewer / (fewer - 1.0) * largest
    return SAFETY * (largest + fewer / (more - fewer) * differ(many, few))


def _largest(differences: Iterable[float]) -> float:
    """nan: no run tells."""
    return max((each for each in differences if not math.isnan(each)), default=math.nan)


def _is_absent(run: ShadowRun, differ: Differ, plain: Result) -> bool:
    """Whether a run that should have the same figures lacks one: then no error can be stated."""
    is_same = run.shadow.cause in (Cause.TIME, Cause.FORMULATION)
    return is_same and run.is_usable and run.result is not None and math.isnan(differ(run.result, plain))


def _of_run(request: FigureRequest, sources: Sources) -> Differ:
    values: dict[int, float] = {}  # by run: each is held against several others

    def value(run: Result) -> float:
        if id(run) not in values:
            try:
                values[id(run)] = request.value(run, sources.column)
            except ModelError:  # a user's function, which took the plain run: this one has no such figure
                values[id(run)] = math.nan
        return values[id(run)]

    return lambda one, other: abs(value(one) - value(other))


def _at_instant(request: FigureRequest, sources: Sources) -> Differ:
    """Largest difference about an instant, as long as no event comes between."""
    plain = sources.plain
    times = window(plain, plain.t[-1] if request.time is None else request.time)

    def differ(one: Result, other: Result) -> float:
        inside = times[times <= min(one.t[-1], other.t[-1])]
        if len(inside) == 0:
            return math.nan
        columns = [sources.column(run, request.column, inside) for run in (one, other)]
        return float(np.max(np.abs(columns[0] - columns[1])))

    return differ


def window(plain: Result, time: float) -> Array:
    """Times about an instant, up to the events on either side."""
    reach = WINDOW * (plain.t[-1] - plain.t[0])
    low, high = max(plain.t[0], time - reach), min(plain.t[-1], time + reach)
    marks = event_times(plain)
    before, after = marks[marks <= time], marks[marks > time]
    if len(before):
        low = max(low, float(before[-1]))
    if len(after):
        high = min(high, float(after[0]))
    gap = 0.02 * (high - low)  # the instants of events themselves differ
    inner = np.linspace(low + gap * (low < time), high - gap * (high > time), WINDOW_POINTS)
    return np.unique(np.append(inner[(inner >= plain.t[0]) & (inner <= plain.t[-1])], time))


def event_times(plain: Result) -> Array:
    """Beginnings and ends of contacts and all other events."""
    contacts = plain.contacts
    ends = np.asarray(contacts["t_end"])
    return np.unique([*(event.t for event in plain.events), *contacts["t_start"], *ends[~np.isnan(ends)]])


def _rate(request: FigureRequest, sources: Sources) -> float:
    """Largest rate of a column about an instant [1/s]."""
    plain = sources.plain
    times = window(plain, plain.t[-1] if request.time is None else request.time)
    values = sources.column(plain, request.column, times)
    steps = np.diff(times)
    return float(np.max(np.abs(np.diff(values)) / np.where(steps > 0.0, steps, np.inf), initial=0.0))

"""From the differences between runs to the errors of figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError
from pliant.result import Result
from pliant.results.figures import COUNTS, FigureRequest
from pliant.trust.predictability import EPS, LOST
from pliant.trust.shadows import MOVED, Cause, ShadowRun

Array = NDArray[np.float64]
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
    def error(self) -> float:
        """Of all causes together; inf where the figure is not predictable, or no run tells of its integration."""
        if self.note.startswith(NOT_PREDICTABLE):
            return math.inf
        return self._sum(*self.errors)

    @property
    def model_error(self) -> float:
        """Of the numbers alone: without what more shapes of the beams would change."""
        if self.note.startswith(NOT_PREDICTABLE):
            return math.inf
        return self._sum(*(cause for cause in self.errors if cause is not Cause.MODES))

    def _sum(self, *causes: Cause) -> float:
        """What could not be told counts as nothing, and is named in the note; without the time integration nothing
        is known."""
        if math.isnan(self.errors.get(Cause.TIME, math.nan)):
            return math.inf
        return math.fsum(self.errors[cause] for cause in causes if not math.isnan(self.errors[cause]))

    @property
    def digits(self) -> int:
        """Significant digits that are right; 0: none is, or the figure is not to be told from 0."""
        return _digits(self.value, self.error)

    @property
    def text(self) -> str:
        """The value, as far as its error lets it be told, and the error."""
        if math.isnan(self.value):
            return "-"
        if not math.isfinite(self.error):
            return NOT_PREDICTABLE if self.note.startswith(NOT_PREDICTABLE) else NOT_KNOWN
        # one digit more than is right, so that writing it down adds nothing to the error
        return f"{self.value:.{min(self.digits + 2, MAX_DIGITS)}g} +- {rounded_up(self.error)}"


NOT_PREDICTABLE = "not predictable"
NOT_KNOWN = "not known"


def rounded_up(error: float) -> str:
    """A bound with one digit, not below the error."""
    if error == 0.0 or not math.isfinite(error):
        return f"{error:g}"
    place = 10.0 ** math.floor(math.log10(error))
    text = f"{math.ceil(error / place * (1.0 - EPS)) * place:.0e}"
    return text.replace("e-0", "e-").replace("e+0", "e").removesuffix("e0")


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
    more: int  # shapes that were added where there are more
    before: int  # shapes that there were
    _rows: dict[tuple[int, bytes], Result] = field(default_factory=dict, repr=False)

    def column(self, run: Result, name: str, times: Array) -> Array:
        """Of one of the runs at any times; many figures are asked for at the same ones."""
        key = id(run), times.tobytes()
        if key not in self._rows:
            self._rows[key] = run.resampled(times)
        return np.asarray(self._rows[key][name])

    def usable(self, cause: Cause) -> list[Result]:
        return [run.result for run in self.runs if run.shadow.cause is cause and run.is_usable and run.result]

    @property
    def roundings(self) -> float:
        """Size of all rounding errors together, as a change of the start [rad/s, sizes per second]."""
        steps = max(1.0, float(self.plain.stats["steps"]))
        largest = max(1.0, float(np.max(np.abs(self.plain.v), initial=0.0)))
        return ROUNDINGS * EPS * largest * math.sqrt(steps)


def certified(request: FigureRequest, sources: Sources, horizon: float) -> CertifiedFigure:
    """One figure with its errors."""
    plain = sources.plain
    value = request.value(plain)
    if math.isnan(value):
        return CertifiedFigure(request.label, value, request.unit, {}, "the run does not reach it")
    differ = _at_instant(request, sources) if request.is_at_instant else _of_run(request, value)
    absent = [run.shadow.label for run in sources.runs if _is_absent(run, differ)]
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
    unsaid = f"not counted: {', '.join(missing)}" if missing else ""
    if not math.isfinite(horizon):
        return unsaid
    scale = abs(found.value)
    if request.column:
        scale = max(scale, float(np.ptp(plain[request.column])))
    if found.model_error <= LOST * scale:
        return unsaid
    if request.instant(plain) >= horizon:
        return f"{NOT_PREDICTABLE} from {horizon:.4g} s on"
    return f"{NOT_PREDICTABLE}: it depends on the motion after {horizon:.4g} s" if plain.t[-1] > horizon else unsaid


def errors_of(differ: Callable[[Result], float], value: float, rate: float, sources: Sources) -> dict[Cause, float]:
    """By cause. differ: difference of a run from the plain one; rate: of the figure in time [1/s]."""
    found = {
        Cause.TIME: SAFETY * _largest(differ, sources.usable(Cause.TIME)),
        Cause.FORMULATION: SAFETY * _largest(differ, sources.usable(Cause.FORMULATION)),
        Cause.EVENTS: abs(rate) * float(sources.plain.audit.get("event_error", 0.0)),
        Cause.ROUNDING: _largest(differ, sources.usable(Cause.ROUNDING)) / MOVED * sources.roundings
        + ROUNDINGS * EPS * abs(value),
    }
    if sources.usable(Cause.STICK):
        found[Cause.STICK] = SAFETY * _largest(differ, sources.usable(Cause.STICK))
    if sources.plain.model.has_modes:
        found[Cause.MODES] = truncation_factor(sources) * _largest(differ, sources.usable(Cause.MODES))
    return found


def truncation_factor(sources: Sources) -> float:
    """What is left after n shapes over what the next ones change, if it falls as 1/n, slower than forces do."""
    return (sources.before + sources.more) / sources.more if sources.more else math.nan


def _largest(differ: Callable[[Result], float], runs: Sequence[Result]) -> float:
    """nan: no run tells."""
    found = [each for each in (differ(run) for run in runs) if not math.isnan(each)]
    return max(found, default=math.nan)


def _is_absent(run: ShadowRun, differ: Callable[[Result], float]) -> bool:
    """Whether a run that should have the same figures lacks one: then no error can be stated."""
    is_same = run.shadow.cause in (Cause.TIME, Cause.FORMULATION)
    return is_same and run.is_usable and run.result is not None and math.isnan(differ(run.result))


def _of_run(request: FigureRequest, value: float) -> Callable[[Result], float]:
    def differ(other: Result) -> float:
        try:
            return abs(request.value(other) - value)
        except ModelError:  # a user's function, which took the plain run: this one has no such figure
            return math.nan

    return differ


def _at_instant(request: FigureRequest, sources: Sources) -> Callable[[Result], float]:
    """Largest difference about an instant, as long as no event comes between."""
    plain = sources.plain
    times = window(plain, plain.t[-1] if request.time is None else request.time)
    own = sources.column(plain, request.column, times)

    def differ(other: Result) -> float:
        inside = times[times <= other.t[-1]]
        if len(inside) == 0:
            return math.nan
        found = sources.column(other, request.column, inside)
        return float(np.max(np.abs(found - own[: len(inside)])))

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

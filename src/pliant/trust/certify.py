"""certify(model) -> Certificate: every figure of a run with its error and the digits that are right."""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.engine.arguments import as_callback, as_model, as_number
from pliant.engine.callbacks import Progress, guarded, heard
from pliant.engine.threads import thread_count
from pliant.errors import AccuracyWarning, ModelError
from pliant.files import as_path
from pliant.model.model import Model
from pliant.model.more_shapes import with_more_shapes
from pliant.report_types import Finding
from pliant.result import Result
from pliant.results.figures import FigureRequest, figure_requests
from pliant.simulation.options import check_options
from pliant.simulation.simulate import run_model, warn_of
from pliant.trust.estimate import CertifiedFigure, Sources, certified, span_of_digits
from pliant.trust.predictability import Growth, distance, growth_of, ranges
from pliant.trust.shadows import MOVED, Cause, Plan, ShadowRun, make_plan, make_runs
from pliant.trust.usual_figures import count_changes, usual_figures

Array = NDArray[np.float64]
USUAL_BUDGET = 20.0  # plain runs
MIN_BUDGET = 3.0
N_TIMES = 400  # at which motions are compared
OTHER_MODELS = (Cause.MODES, Cause.STICK)  # whose motion tells nothing of this one's separation
Announce = Callable[[str], None]


class FiguresOfRun(NamedTuple):
    """Figures that only a run can name, as those of cases."""

    of: Callable[[Result], tuple[FigureRequest, ...]]


@dataclass(frozen=True, eq=False)
class Certificate:
    """What a run and its shadow runs say together: figures by name, each with its error."""

    result: Result  # the run itself; result.trusted("tip.x", t) answers for one number
    figures: dict[str, CertifiedFigure]
    plan: Plan
    runs: tuple[ShadowRun, ...] = field(repr=False)
    growth: Growth | None  # None: no run tells
    notes: tuple[str, ...]  # counts that change, runs that failed, what did not fit
    times: Array = field(repr=False)  # [s] at which motions were compared
    distances: dict[str, Array] = field(repr=False)  # by run: from this one, over the range of the coordinates

    @property
    def is_ok(self) -> bool:
        return self.result.is_ok

    @property
    def horizon(self) -> float:
        """[s] from here on nothing is predictable; inf: beyond the end."""
        return self.growth.horizon if self.growth is not None else math.inf

    def table(self) -> list[tuple[str, ...]]:
        """Rows under `columns`."""
        from pliant.trust.reporting import figure_rows

        return figure_rows(self)

    @property
    def columns(self) -> tuple[str, ...]:
        """Of the table."""
        from pliant.trust.reporting import columns

        return columns(self)

    @property
    def summary(self) -> dict[str, Any]:
        """Plain numbers and texts, as summary.json has them."""
        from pliant.trust.reporting import summary

        return summary(self)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Tables and charts, as the report page shows them."""
        from pliant.trust.reporting import findings

        return findings(self)

    def report(self, path: str | Path = "report.html") -> None:
        """The report page of the run, with the digits on it."""
        from pliant.view.page.report import write_report

        write_report(
            self.result,
            as_path(path),
            title=f"{self.result.model.name}: which digits are right",
            findings=self.findings,
        )

    def __repr__(self) -> str:
        span = span_of_digits([figure.digits for figure in self.figures.values()])
        return f"<Certificate of {self.result.model.name!r}: {len(self.figures)} figures, digits: {span}>"


def certify(
    model: Model,
    duration: float | None = None,
    *,
    figures: Any = None,
    budget: float = USUAL_BUDGET,
    threads: int | None = None,
    announce: Announce | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Certificate:
    """Run a model as simulate would, and again with tighter tolerances, an integrator of another family, another
    formulation, a start beside its own and more shapes of its beams: every figure with its error, by cause.

    figures: names as "tip.x" (at the end), "tip.x@0.5", "max(tip.x)", or a mapping of labels to names or functions of a
    Result; left out: coordinates, outputs and energies at the end, and all contacts. budget: of computing, in plain
    runs. A run shorter than a second counts as a second, but not as more than two runs or a twentieth of a second. What
    does not fit is left out by name, and figures then have no digits. announce: called with a sentence on what it will
    cost. progress: called with how much is done, and of how much, in plain runs. options: those of simulate."""
    given = {"duration": duration, **options}
    checked = check_options(as_model(model), **given)
    as_callback(announce, "announce")
    thread_count(threads)
    allowed = as_number(budget, "budget", unit="[plain runs]")
    if allowed < MIN_BUDGET:
        raise ModelError(f"budget: {allowed:g} found; give at least {MIN_BUDGET:g} [plain runs]")
    if not checked["dense"]:
        raise ModelError("certify compares runs at equal times and needs their dense output; leave dense=True")
    is_later = figures is None or isinstance(figures, FiguresOfRun)
    requests = None if is_later else figure_requests(figures, model, checked["duration"])
    reported = heard(progress)

    def of_plain(t: float, t_end: float) -> None:
        reported(t / t_end, allowed)

    # accepted steps are what errors are told from: rows on a grid come back at the end
    plain = run_model(model, None, None, None, of_plain if reported is not None else None, given)
    if checked["accuracy"] is not None:  # the tolerances that it chose
        checked = checked | {"accuracy": None, "rtol": plain.settings["rtol"], "atol": plain.settings["atol"]}
    if isinstance(figures, FiguresOfRun):
        requests = figures.of(plain)
    found = certificate_of(plain, checked, requests, allowed, threads, announce, reported)
    warn_of(found.result.warnings)
    return found


def certificate_of(
    plain: Result,
    options: dict[str, Any],
    requests: tuple[FigureRequest, ...] | None,
    budget: float = USUAL_BUDGET,
    threads: int | None = None,
    announce: Announce | None = None,
    reported: Progress | None = None,
) -> Certificate:
    """Of a run that was made with these options."""
    asked = requests if requests is not None else usual_figures(plain)
    of_plain = {one.label: one.value(plain) for one in asked}  # a function that fails, fails before the shadow runs
    if not plain.is_ok:
        word = "was interrupted" if plain.status == "interrupted" else "failed"
        why = f"the run {word} {plain.reason}; nothing can be said of its figures"
        values = {one.label: CertifiedFigure(one.label, of_plain[one.label], one.unit, {}, why) for one in asked}
        empty = Plan((), (), budget, 0.0)
        return Certificate(plain, values, empty, (), None, (why,), np.zeros(0), {})
    plan = make_plan(plain, options, budget)
    if announce is not None:
        guarded(lambda: announce(plan.words), announce, "announce")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)  # shadow runs are compared, not judged
        runs = make_runs(plan.shadows, threads, (lambda done: reported(1.0 + done, plan.cost)) if reported else _silent)
    return _certificate(plain, plan, runs, asked)


def _silent(done: float) -> None:
    """Nobody asked for progress."""


def _certificate(
    plain: Result, plan: Plan, runs: tuple[ShadowRun, ...], asked: tuple[FigureRequest, ...]
) -> Certificate:
    times = np.linspace(plain.t[0], plain.t[-1], N_TIMES)
    distances = _distances(plain, runs, times)
    growth = _growth(runs, times, distances)
    sources = Sources(plain, runs)
    horizon = growth.horizon if growth is not None else math.inf
    found = {one.label: certified(one, sources, horizon) for one in asked}
    usable = {run.shadow.label: run.result for run in runs if run.is_usable and run.result is not None}
    notes = (
        *count_changes(plain, usable),
        *(f"{run.shadow.label}: not used, the run failed {run.reason}" for run in runs if not run.is_usable),
        *(
            f"{run.instead_of}: {run.shadow.label} in its place, it took more steps than the budget has"
            for run in runs
            if run.instead_of
        ),
        *(f"{words}: left out, it does not fit into {plan.budget:g} plain runs" for words in plan.left_out),
        *_unshaped(plain),
        *((growth.words,) if growth is not None and growth.words else ()),
    )
    lost = sum(not math.isfinite(figure.error) for figure in found.values())
    trust = Trust(sources, horizon, tuple(figure.digits for figure in found.values()), lost)
    certified_result = dataclasses.replace(plain, trust=trust)
    return Certificate(certified_result, found, plan, runs, growth, notes, times, distances)


def _unshaped(plain: Result) -> tuple[str, ...]:
    """Say why the truncation of modes is not counted where no run can tell it."""
    if not plain.model.has_modes or with_more_shapes(plain.model, 1) is not None:
        return ()
    return (
        "modal truncation is not counted: some shapes of the beams are samples, or the last that their family has, or "
        'a controller has gains for them alone; give modes, or polynomials (family = "polynomials")',
    )


@dataclass(frozen=True)
class Trust:
    """Answers for single numbers of a run."""

    sources: Sources
    horizon: float
    digits: tuple[int | None, ...]  # of the figures that were asked for; None: not known
    lost: int  # how many of them are not predictable, or not known

    @property
    def span(self) -> str:
        """The least and the largest number of digits, in words."""
        return span_of_digits(self.digits)

    def trusted(self, name: str, t: float | None) -> CertifiedFigure:
        plain = self.sources.plain
        text = name if t is None else f"{name}@{as_number(t, 't', unit='of seconds')!r}"
        (request,) = figure_requests([text], plain.model, float(plain.t[-1]))
        return certified(request, self.sources, self.horizon)


def _distances(plain: Result, runs: tuple[ShadowRun, ...], times: Array) -> dict[str, Array]:
    """Of every usable run from the plain one, over time."""
    q = plain.at(times)[0]
    size = ranges(plain, q)
    found = {}
    for run in runs:
        if not run.is_usable or run.result is None or run.shadow.cause in OTHER_MODELS:
            continue
        reached = times <= run.result.t[-1]
        other = np.full_like(q, np.nan)
        other[reached] = run.result.at(times[reached])[0]
        found[run.shadow.label] = distance(q, other, size)
    return found


def _growth(runs: tuple[ShadowRun, ...], times: Array, distances: dict[str, Array]) -> Growth | None:
    # one with looser tolerances differs by its own errors, too
    is_like = (run.shadow.label for run in runs if run.shadow.cause is Cause.ROUNDING and not run.instead_of)
    neighbour = next(is_like, None)
    others = [values for label, values in distances.items() if label != neighbour]
    if neighbour is None or neighbour not in distances or not others:
        return None
    return growth_of(times, distances[neighbour], MOVED, np.max(others, axis=0))

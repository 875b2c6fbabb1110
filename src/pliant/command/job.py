"""One job of the command line: a case or file with its settings, run and written to a folder."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pliant.cases.case import Case
from pliant.cases.chosen_run import choose_run
from pliant.engine.callbacks import Progress
from pliant.errors import AccuracyWarning, ModelError, PliantError
from pliant.files import check_file, make_folder, whole_set
from pliant.io.plain_file import MAX_BYTES, read_plain
from pliant.io.result_file import save_summary
from pliant.model.model import Model
from pliant.report_types import Figure, Finding
from pliant.result import Result
from pliant.results.figures import FigureRequest, figure_requests
from pliant.simulation.options import check_options, with_values
from pliant.simulation.simulate import simulate
from pliant.view.page.report import check_shared_script, write_report
from pliant.view.picture.video import video_format

if TYPE_CHECKING:
    from pliant.trust.certify import Certificate

MAX_FOLDERS = 1000  # of one name
MAX_REPORTED = 6  # variants whose figures and results are all kept; of more only what they say together


@dataclass(frozen=True)
class Certifying:
    """That the digits of a run are asked for, and how."""

    figures: tuple[str, ...]  # names; none: the case's own, or the usual ones
    budget: float
    announce: Callable[[str], None]


@dataclass(frozen=True)
class Job:
    """Everything checked, nothing compiled yet, the folder ready."""

    name: str
    title: str
    case: Case | None
    settings: dict[str, Any]
    options: dict[str, Any]
    model: Model
    out: Path
    video: Path | None = None
    exports: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()  # keys given that do nothing
    plotly: Path | None = None  # the script of charts, if pages share it
    source: str = ""  # the case, or where the file is
    certifying: Certifying | None = None
    starts: dict[str, Any] = field(default_factory=dict)  # q0 and v0, where they were given


@dataclass(frozen=True)
class Outcome:
    """A finished job. Of several runs, result and figures are those of the first; the others have a label."""

    job: Job
    result: Result
    figures: dict[str, float]
    findings: tuple[Finding, ...] = ()
    reasons: tuple[str, ...] = ()  # of the runs that did not come to their end
    other_warnings: tuple[str, ...] = ()  # of the runs with a label
    certificate: Certificate | None = None

    @property
    def figure_table(self) -> dict[str, Figure]:
        return dict(self.job.case.figure_table) if self.job.case else {}

    @property
    def is_default(self) -> bool:
        """Whether the figures may be held against the expected ones."""
        case = self.job.case
        if case is None or self.job.starts or self.job.options != case.usual_options(self.job.settings):
            return False
        return all(self.job.settings[key] == row.default for key, row in case.settings.items())


EXPORTS = {".csv": Result.to_csv, ".mat": Result.to_mat}


def prepare_job(
    case_or_file: str,
    assignments: dict[str, Any],
    out: Path | None,
    video: Path | None = None,
    exports: Sequence[Path] = (),
    trust: bool = False,
    compile_first: Callable[[], None] = lambda: None,
    plotly: Path | None = None,
    certifying: Certifying | None = None,
) -> Job:
    """Find the case or file, sort the assignments into settings and options, make the folders. compile_first: called
    where the case needs kernels to build its model."""
    if video is not None:
        video_format(video)
    if plotly is not None:
        check_shared_script(plotly)
    for path in exports:
        if path.suffix.lower() not in EXPORTS:
            found = path.suffix or "without a suffix"
            raise ModelError(f"--export {path}: a table cannot be {found}; name it {' or '.join(EXPORTS)}")
    chosen = choose_run(case_or_file, assignments, trust, compile_first)
    case, model, name = chosen.case, chosen.model, chosen.name
    if chosen.starts and (certifying is not None or (case and case.variants(chosen.settings))):
        raise ModelError("--set NAME.start is for one plain run; leave it out, or set joints.NAME.q0 of a model file")
    source = name if case else str(Path(case_or_file).resolve())
    folder = out or own_folder(Path("pliant-out"), name, source)
    if video is not None:
        make_folder(video.parent, "--video")
        check_file(video)
    for path in exports:
        make_folder(path.parent, "--export")
        check_file(path)
    if plotly is not None:
        make_folder(plotly.parent, "--plotly")
        check_file(plotly)
    make_folder(folder)
    for file in ("summary.json", "result.nc", "report.html"):
        check_file(folder / file)
    title = f"{name}: {case.title}" if case else model.name
    if certifying is not None and certifying.figures:
        figure_requests(certifying.figures, model, check_options(model, **chosen.options)["duration"])
    return Job(
        name, title, case, chosen.settings, chosen.options, model, folder, video, tuple(exports), chosen.notes, plotly,
        source, certifying, chosen.starts,
    )  # fmt: skip


def own_folder(parent: Path, name: str, source: str) -> Path:
    """pliant-out/arm, or pliant-out/arm-2 .. where that holds the results of another arm.toml."""
    for number in range(1, MAX_FOLDERS):
        folder = parent / (name if number == 1 else f"{name}-{number}")
        if _source_of(folder) in (None, source):
            return folder
    return parent / name


def _source_of(folder: Path) -> str | None:
    """What the results in a folder are of, None if it has none."""
    with suppress(OSError, ValueError, AttributeError, RecursionError, ModelError):  # whatever lies there
        found = json.loads(read_plain(folder / "summary.json", MAX_BYTES)).get("source")
        return found if isinstance(found, str) else None
    return None


def run_job(job: Job, progress: Progress | None = None) -> Outcome:
    """Simulate (once, or every variant of the case), work out the figures, write the files."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AccuracyWarning)  # the command prints them itself
            return _run(job, progress)
    except PliantError:
        # found only now, as a start inside a plane or a full disk is: leave nothing behind
        with suppress(OSError):
            job.out.rmdir()
        raise


def _run(job: Job, progress: Progress | None) -> Outcome:
    variants = job.case.variants(job.settings) if job.case else {}
    if job.certifying is not None:
        return _certify(job, job.certifying, progress, is_one=not variants)
    if not variants or job.case is None:
        result = simulate(job.model, progress=progress, **job.starts, **with_values(job.model, job.options))
        figures = job.case.figures_of(job.settings, result) if job.case else {}
        findings = job.case.summarise_run(result) if job.case else ()
        outcome = Outcome(job, result, figures, findings, () if result.is_ok else (result.reason,))
        _write(outcome, {})
        return outcome
    case, results = job.case, {}
    for label, variant in variants.items():
        options = {**job.options, **variant.options}
        model = case.build(variant.settings)
        results[label] = simulate(model, progress=progress, **with_values(model, options))
    first, *others = results
    figures = case.figures_of(variants[first].settings, results[first])
    for label in others if len(others) < MAX_REPORTED else ():
        prefix = label.replace("-", "_").replace(" ", "_")
        figures |= {
            f"{prefix}_{key}": value for key, value in case.figures_of(variants[label].settings, results[label]).items()
        }
    findings = case.compare_variants(job.settings, results)
    for finding in findings:
        figures |= dict(finding.figures)
    failed = {label: result for label, result in results.items() if not result.is_ok and not variants[label].may_fail}
    reasons = tuple(f"{label} {result.reason}" for label, result in failed.items())
    heard = tuple(f"{label}: {words}" for label in others for words in results[label].warnings)
    outcome = Outcome(job, results[first], figures, findings, reasons, heard)
    _write(outcome, results)
    return outcome


def _certify(job: Job, wanted: Certifying, progress: Progress | None, is_one: bool) -> Outcome:
    """The run with its shadow runs."""
    if not is_one:
        raise ModelError(f"{job.name}: with these settings it is several runs; certify one of them")
    from pliant.trust.certify import FiguresOfRun, certify

    case, settings = job.case, job.settings
    figures: Any = wanted.figures or None
    if case is not None and not wanted.figures:
        figures = FiguresOfRun(lambda plain: _figures_of_case(case, settings, plain))
    certificate = certify(
        job.model,
        figures=figures,
        budget=wanted.budget,
        announce=wanted.announce,
        progress=progress,
        **with_values(job.model, job.options),
    )
    result = certificate.result
    found = case.figures_of(settings, result) if case is not None else {}
    findings = (*certificate.findings, *(case.summarise_run(result) if case is not None else ()))
    reasons = () if result.is_ok else (result.reason,)
    outcome = Outcome(job, result, found, findings, reasons, certificate=certificate)
    _write(outcome, {})
    return outcome


def _figures_of_case(case: Case, settings: dict[str, Any], plain: Result) -> tuple[FigureRequest, ...]:
    """All that a case reports, each of any run."""
    known: dict[int, dict[str, float]] = {}  # by run: figures are worked out together

    def value(result: Result, key: str) -> float:
        if id(result) not in known:
            known[id(result)] = case.figures_of(settings, result)
        return known[id(result)].get(key, math.nan)

    def request(key: str) -> FigureRequest:
        unit = case.figure_table[key].unit if key in case.figure_table else ""
        return FigureRequest(key, how="function", function=lambda result: value(result, key), unit=unit)

    return tuple(request(key) for key in case.figures_of(settings, plain))


def _write(outcome: Outcome, variants: dict[str, Result]) -> None:
    """summary.json, result.nc (of variants one each) and report.html: all of them, or none."""
    with whole_set():
        _write_set(outcome, variants)


def _write_set(outcome: Outcome, variants: dict[str, Result]) -> None:
    job, result, figures = outcome.job, outcome.result, outcome.figures
    used = {**job.settings, **result.settings}
    tables = [{"title": one.title, "columns": one.columns, "rows": one.rows} for one in outcome.findings]
    digits = outcome.certificate.summary if outcome.certificate is not None else None
    save_summary(job.out / "summary.json", job.name, used, figures, result, tables, job.source, digits)
    result.save(job.out / "result.nc")
    others = list(variants.items())[1:]
    for label, other in others if len(others) < MAX_REPORTED else ():
        other.save(job.out / f"result-{label.replace(' ', '-')}.nc")
    panels = job.case.panels(job.settings) if job.case else None
    table = (
        outcome.figure_table
        if outcome.is_default
        else {key: _unexpected(row) for key, row in outcome.figure_table.items()}
    )
    moment, enlarge = job.case.picture(job.settings) if job.case else (None, None)
    write_report(
        result,
        job.out / "report.html",
        title=job.title,
        figures=figures,
        panels=panels,
        settings=used,
        figure_table=table,
        setting_table=job.case.settings if job.case else {},
        moment=moment,
        enlarge=enlarge,
        variants=variants,
        findings=outcome.findings,
        plotly=job.plotly,
    )


def write_extras(outcome: Outcome, progress: Progress | None = None) -> tuple[Path, ...]:
    """The video and the tables asked for, of the first run; what was written."""
    job = outcome.job
    for path in job.exports:
        EXPORTS[path.suffix.lower()](outcome.result, path)
    if job.video is None:
        return job.exports
    outcome.result.video(job.video, progress=progress)
    return (*job.exports, job.video)


def _unexpected(row: Figure) -> Figure:
    """A figure without its expected value, for settings other than the default ones."""
    return Figure(row.help, row.unit)

"""pliant sweep: many runs of a case or file, with other values of its keys."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from pliant.command.app import QuietOption, SetOption, TrustOption, app, parse_assignments
from pliant.command.compiling import compile_first
from pliant.command.completion import complete_case
from pliant.console import print_table
from pliant.errors import ModelError


@app.command(short_help="many runs: parameters varied, figures kept, resumed where it stopped")
def sweep(
    case_or_file: Annotated[
        str | None,
        typer.Argument(
            metavar="[CASE_OR_FILE]",
            help="a built-in case, or a file (.toml, .urdf, .xml); with --resume or --report as before",
            autocompletion=complete_case,
        ),
    ] = None,
    settings: SetOption = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            metavar="KEY=RANGE",
            help="LOW:HIGH:COUNT, log:LOW:HIGH:COUNT, normal:MEAN:DEVIATION, or values with commas; may be repeated",
        ),
    ] = None,
    sample: Annotated[
        int | None, typer.Option("--sample", metavar="N", help="so many rows from the ranges, in place of a grid")
    ] = None,
    method: Annotated[
        str | None,
        typer.Option("--method", metavar="METHOD", help="grid, random, sobol, lhs; for sensitivities saltelli, morris"),
    ] = None,
    figures: Annotated[
        list[str] | None,
        typer.Option(
            "--figures",
            metavar="NAMES",
            help="with commas: figures of the case, max(tip.x), settling(tip.x), tip.x@0.5; may be repeated (default: "
            "the case's own, or outputs at the end)",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="of the samples")] = 0,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="folder for rows and page")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="go on where it stopped, however it did")] = False,
    on: Annotated[str, typer.Option("--on", metavar="PLACE", help="threads, processes or dask")] = "threads",
    workers: Annotated[
        int | None, typer.Option("--workers", metavar="N", help="how many (default: one per core)")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option("--scheduler", metavar="ADDRESS", help="of a dask cluster, as tcp://host:8786")
    ] = None,
    report: Annotated[
        int | None, typer.Option("--report", metavar="ROW", help="only run this row again, to its own report")
    ] = None,
    trust: TrustOption = False,
    quiet: QuietOption = False,
) -> None:
    """Run a case or a file over ranges of its keys (settings, parameters, options of the run, starts as elbow.start);
    keep figures of every run. Rows are written as they are finished, and report.html at the end; --resume goes on
    after Ctrl-C, a kill or a full disk.

    pliant sweep slew --vary payload=0.1:0.5:20 --vary shaping=none,zv,ei --figures residual_vibration,peak_torque

    pliant sweep two-link-arm --vary force=0:1 --vary rtol=log:1e-10:1e-6 --sample 1000 --method sobol --out my-study

    pliant sweep --resume --out my-study
    """
    from pliant.study.study import Study

    if case_or_file is None:
        return _again(out, resume, report, on, workers, scheduler, quiet, trust)
    assignments = parse_assignments(settings or [])
    study = Study(
        case_or_file,
        _ranges(vary or []),
        None if not figures else [name.strip() for text in figures for name in text.split(",") if name.strip()],
        settings=assignments,
        method=method,  # type: ignore[arg-type]
        sample=sample,
        seed=seed,
        trust=trust,
    )
    folder = out or Path("pliant-out") / f"sweep-{study.base.name}"
    if report is not None:
        return _report_row(study, report, folder, quiet)
    _run(study, folder, resume, on, workers, scheduler, quiet)


def _ranges(texts: list[str]) -> dict[str, str]:
    """KEY=RANGE texts as a dictionary."""
    if not texts:
        raise ModelError("nothing to vary; give --vary KEY=RANGE, as in --vary payload=0:5:50")
    found: dict[str, str] = {}
    for text in texts:
        key, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not key or not value:
            raise ModelError(f"--vary {text!r}: no key and range found; write --vary KEY=LOW:HIGH:COUNT")
        if key in found:
            raise ModelError(f"--vary {key}: given twice; give it once")
        found[key] = value
    return found


def _again(out: Path | None, resume: bool, report: int | None, on: str, workers: int | None, scheduler: str | None,
           quiet: bool, trust: bool) -> None:  # fmt: skip
    """A study that its folder describes; whether code is trusted is said by this call."""
    from pliant.study.store import read_definition
    from pliant.study.study import study_of

    if out is None or not (resume or report is not None):
        raise ModelError("nothing to run; name a case or a file, or give --resume --out DIR to go on with a study")
    stored = read_definition(out)
    if stored is None:
        raise ModelError(f"--out {out}: there is no study (study.json); name the folder of one")
    study = study_of(stored, trust)
    if study is None:
        raise ModelError(f"--out {out}: this study was made in Python; go on there with study.run(..., resume=True)")
    if report is not None:
        return _report_row(study, report, out, quiet)
    _run(study, out, True, on, workers, scheduler, quiet)


def _run(
    study: Any, folder: Path, resume: bool, on: str, workers: int | None, scheduler: str | None, quiet: bool
) -> None:
    from pliant.study.runs import SUMMARY

    study.check(folder, resume, on, workers, scheduler)
    compile_first()
    runs = study.run(
        folder, resume=resume, on=on, workers=workers, scheduler=scheduler, progress=False if quiet else None
    )
    if runs.damaged:
        print(f"pliant: {len(runs.damaged)} damaged files of rows were left out", file=sys.stderr)
    failed = runs.failed
    if failed:
        first = runs.notes[failed[0]]
        print(f"pliant: {len(failed)} of {len(runs)} runs failed, the first: row {failed[0]}: {first}", file=sys.stderr)
    runs.report(folder / "report.html")
    if not quiet:
        print(f"{runs.name}: {len(runs)} of {runs.count} rows, {len(failed)} failed")
        print_table(SUMMARY, runs.summary())
        print(f"written: {folder}/report.html, study.json, rows.nc; load them with pliant.load_study({str(folder)!r})")
    if not runs.is_complete:
        left = runs.count - len(runs)
        again = f"pliant sweep --resume --out {folder}" + " --trust" * study.base.trust
        print(f"pliant: interrupted, {left} rows are left: {again}", file=sys.stderr)
        raise typer.Exit(1)
    if len(failed) == runs.count:
        raise typer.Exit(1)


def _report_row(study: Any, row: int, folder: Path, quiet: bool) -> None:
    """The report of one row, beside the others."""
    from pliant.command.job import prepare_job, run_job
    from pliant.command.outcome import print_outcome

    values = study.row(row)
    base = study.base
    job = prepare_job(base.place, {**base.settings, **values}, folder / f"row-{row}", trust=base.trust)
    compile_first()
    outcome = run_job(job)
    if not quiet:
        print(study.command(row))
        print_outcome(outcome)
    for reason in outcome.reasons:
        print(f"pliant: the run failed {reason}; partial results were saved", file=sys.stderr)
    if outcome.reasons:
        raise typer.Exit(1)

"""pliant compare and pliant certify: how closely methods agree, and which digits of a run are right."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from pliant.command.app import (
    CaseArgument,
    QuietOption,
    SetOption,
    TrustOption,
    app,
    parse_assignments,
    warnings_as_lines,
)
from pliant.command.compiling import compile_first, say_what_compiles
from pliant.command.completion import complete_case
from pliant.console import print_table, progress_bar
from pliant.errors import ModelError

USUAL_DURATION = 0.1  # of runs of a robot that has none [s]


@app.command(short_help="which digits of a run are right")
def certify(
    case_or_file: CaseArgument,
    settings: SetOption = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="folder for the results")] = None,
    figures: Annotated[
        list[str] | None,
        typer.Option(
            "--figure",
            metavar="NAME",
            help="a column at the end, as tip.x, or tip.x@0.5, max(tip.x); may be repeated (default: the case's own, "
            "or coordinates, outputs, energies and contacts)",
        ),
    ] = None,
    budget: Annotated[float, typer.Option("--budget", metavar="RUNS", help="of computing, in plain runs")] = 20.0,
    trust: TrustOption = False,
    quiet: QuietOption = False,
) -> None:
    """Run a case or a file, and again with tighter tolerances, another integrator, another formulation, a start beside
    its own and more shapes per beam; print every figure with the digits that are right; write summary.json, result.nc
    and report.html.

    pliant certify falling-chain --set duration=0.6

    pliant certify robot.toml --figure tip.x@0.5 --figure "max(elbow)" --budget 20
    """
    from pliant.command.job import Certifying, prepare_job, run_job
    from pliant.command.outcome import print_certificate

    wanted = Certifying(tuple(figures or ()), budget, (lambda words: None) if quiet else _say)
    with warnings_as_lines():
        job = prepare_job(case_or_file, parse_assignments(settings or []), out, trust=trust, certifying=wanted)
    for note in job.notes:
        print(f"pliant: {note}", file=sys.stderr)
    compile_first()
    say_what_compiles(job.model, job.options)
    with progress_bar(job.name, not quiet and sys.stderr.isatty(), "{:.1f} of {:.1f} plain runs") as progress:
        outcome = run_job(job, progress)
    if not quiet:
        print_certificate(outcome)
    for reason in outcome.reasons:
        print(f"pliant: the run failed {reason}; partial results were saved", file=sys.stderr)
    if outcome.reasons:
        raise typer.Exit(1)


def _say(words: str) -> None:
    print(f"pliant: {words}", file=sys.stderr)


@app.command(short_help="one robot by all formulations, closures and integrators")
def compare(
    cases_or_files: Annotated[
        list[str],
        typer.Argument(
            metavar="CASE_OR_FILE",
            help="a case or file, or several; all: every built-in case",
            autocompletion=complete_case,
        ),
    ],
    settings: SetOption = None,
    time: Annotated[
        float | None,
        typer.Option(
            "--time", metavar="T", help="of the compared motion, in seconds (default: the robot's own, or 0.1)"
        ),
    ] = None,
    formulations: Annotated[
        str | None, typer.Option("--formulations", metavar="NAMES", help="only these, as articulated,denoc")
    ] = None,
    integrators: Annotated[
        str | None, typer.Option("--integrators", metavar="NAMES", help="only these, as dop853,radau")
    ] = None,
    closures: Annotated[
        str | None, typer.Option("--closures", metavar="NAMES", help="only these, as multipliers,springs")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="folder for page and numbers; a .json file: the agreement alone"),
    ] = None,
    trust: TrustOption = False,
    quiet: QuietOption = False,
) -> None:
    """Run one robot by every formulation, closure and integrator that takes it: differences of motion, forces and
    reactions from a run at the tightest tolerance, energy, drift, evaluations, time; one table and one page
    (report.html, summary.json). Before that, how closely all formulations agree at states along the motion, which is
    all that is looked at for several robots. Ends with 1 if formulations differ by more than rounding.

    pliant compare falling-chain --time 0.5 --integrators dop853,adams,radau

    pliant compare all --out agreement.json
    """
    from pliant.cases.case import all_cases
    from pliant.cases.loading import load
    from pliant.files import make_folder, write_whole
    from pliant.lab.agreement import COLUMNS, agreement
    from pliant.methods import formulations_of

    if time is not None and not 0.0 < time < float("inf"):
        raise ModelError(f"--time {time:g}: give a number above 0 [s]")
    names = list(all_cases()) if cases_or_files == ["all"] else cases_or_files
    values = parse_assignments(settings or [])
    models = [load(name, trust=trust, **values) for name in names]
    chosen = {"formulations": formulations, "integrators": integrators, "closures": closures}
    lists = {key: text.split(",") for key, text in chosen.items() if text is not None}
    if lists and len(models) > 1:
        raise ModelError(f"--{next(iter(lists))} is for one robot; {len(models)} are given")
    is_agreement_alone = len(models) > 1 or (out is not None and out.suffix == ".json")
    folder = out if out is not None else Path("pliant-out") / f"compare-{Path(names[0]).stem}"
    make_folder(folder.parent if is_agreement_alone else folder)
    compile_first()
    for row in formulations_of(models[0]):
        say_what_compiles(models[0], {"formulation": row.name})
    found = [agreement(model, time) for model in models]
    if not quiet:
        print_table(COLUMNS, [row for each in found for row in each.table()])
    if not is_agreement_alone:
        _compare_runs(models[0], time, lists, folder, [each.summary for each in found], quiet)
    elif out is not None:
        write_whole(out, json.dumps([each.summary for each in found], indent=2) + "\n")
        if not quiet:
            print(f"written: {out}")
    failures = [words for each in found for words in each.failures]
    for words in failures:
        print(f"pliant: {words}", file=sys.stderr)
    if failures:
        raise typer.Exit(1)


def _compare_runs(
    model: Any, time: float | None, lists: dict[str, list[str]], folder: Path, agreement: list[Any], quiet: bool
) -> None:
    """Whole runs by all methods: the table, and the page."""
    from pliant.files import whole_set, write_whole
    from pliant.io.result_file import plain
    from pliant.trust.compare import compare as compare_runs
    from pliant.trust.comparison_report import COLUMNS, comparison_rows, comparison_summary, write_comparison

    duration = time if time is not None else model.duration or USUAL_DURATION
    with progress_bar("comparing", not quiet and sys.stderr.isatty(), "{:.0f} of {:.0f} runs") as progress:
        found = compare_runs(model, duration, progress=progress, **lists)
    if not quiet:
        print_table(COLUMNS, comparison_rows(found))
    with whole_set():
        summary = comparison_summary(found) | {"agreement": agreement}
        write_whole(folder / "summary.json", json.dumps(plain(summary), indent=2) + "\n")
        write_comparison(found, folder / "report.html")
    if not quiet:
        print(f"written: {folder}/report.html, summary.json")

"""The pliant command. Thin: it parses, calls the library, prints, and makes exit codes of errors."""

from __future__ import annotations

import gc
import json
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from pliant.command import digits as digits  # their commands are part of this one
from pliant.command import sweep as sweep
from pliant.command.app import CaseArgument, KeyOption, SetOption, app, lab, parse_assignments, warnings_as_lines
from pliant.command.compiling import compile_first, compilers_starting, say_what_compiles
from pliant.command.completion import complete_case, complete_kind, complete_method, in_bash
from pliant.console import print_table, progress_bar
from pliant.engine.interruptions import clean_interruptions
from pliant.errors import ModelError, PliantError, SimulationError


def _version(wanted: bool) -> None:
    if wanted:
        from pliant import __version__

        print(f"pliant {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="print the version")
    ] = False,
) -> None:
    pass


@app.command(short_help="run a case or a model file to its report")
def run(
    case_or_file: CaseArgument,
    settings: SetOption = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="folder for the results")] = None,
    video: Annotated[
        Path | None, typer.Option("--video", metavar="FILE", help="also write the moving robot: .mp4 or .gif")
    ] = None,
    exports: Annotated[
        list[Path] | None,
        typer.Option("--export", metavar="FILE", help="also write all columns: .csv or .mat (MATLAB); may be repeated"),
    ] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="let the controllers of a file run: Python code in its folder")
    ] = False,
    plotly: Annotated[
        Path | None,
        typer.Option("--plotly", metavar="FILE", help="share the script of the charts between pages: a .js file"),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="print nothing but errors")] = False,
) -> None:
    """Run a case or a model file; write summary.json, result.nc and report.html.

    pliant run two-link-arm --set force=0.2 --set rtol=1e-10 --out my-run

    pliant run falling-chain --video chain.mp4 --export chain.csv
    """
    with compilers_starting(), warnings_as_lines():
        from pliant.command.job import prepare_job, run_job, write_extras
        from pliant.command.outcome import print_outcome

        assignments = parse_assignments(settings or [])
        job = prepare_job(case_or_file, assignments, out, video, exports or (), trust, compile_first, plotly)
    for note in job.notes:
        print(f"pliant: {note}", file=sys.stderr)
    compile_first()
    say_what_compiles(job.model, job.options)
    with progress_bar(job.name, is_shown=not quiet and sys.stderr.isatty()) as progress:
        outcome = run_job(job, progress)
    if not quiet:
        print_outcome(outcome)
    word = "was interrupted" if outcome.result.status == "interrupted" else "failed"
    for reason in outcome.reasons:
        print(f"pliant: the run {word} {reason}; partial results were saved", file=sys.stderr)
    if job.video or job.exports:
        with progress_bar("video", not quiet and sys.stderr.isatty(), "frame {:.0f} of {:.0f}") as progress:
            written = write_extras(outcome, progress)
        if not quiet:
            print(f"written: {', '.join(map(str, written))}")
    if outcome.reasons:
        raise typer.Exit(1)


@app.command(short_help="write a commented model file to begin with")
def new(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="the file to write, a .toml")] = Path("robot.toml"),
    kind: Annotated[
        str,
        typer.Option("--kind", metavar="KIND", help="arm, beam, space, loop or contact", autocompletion=complete_kind),
    ] = "arm",
) -> None:
    """Write a commented model file that runs at once; a file that is there is never written over.

    pliant new robot.toml --kind beam && pliant run robot.toml
    """
    from pliant.command.templates import KINDS, check_template, write_template
    from pliant.files import make_folder

    check_template(file, kind)
    make_folder(file.parent, "FILE")
    write_template(file, kind)
    print(f"written: {file}, {KINDS[kind]}; edit it, and run it with: pliant run {file}")


@app.command(short_help="list the built-in cases, their keys and figures")
def cases(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="one case: its keys and figures", autocompletion=complete_case)
    ] = None,
) -> None:
    """List the built-in cases; of one, the keys that --set reaches and the figures it reports."""
    from pliant.command.listings import print_case, print_cases

    if name is None:
        print_cases()
    else:
        print_case(name)


@app.command(short_help="list formulations, integrators, laws of contact and control")
def methods(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="one method or law: its parameters", autocompletion=complete_method),
    ] = None,
) -> None:
    """List formulations, integrators, laws of contact and control: what they support, cost, and who invented them; of
    one, its parameters.

    pliant methods stribeck
    """
    from pliant.command.listings import print_method, print_methods

    if name is None:
        print_methods()
    else:
        print_method(name)


@app.command(short_help="natural frequencies and mode shapes of a robot, or of a beam")
def modes(
    case_or_file: Annotated[
        str | None,
        typer.Argument(
            metavar="[CASE_OR_FILE]", help="a case or a file; left out: a uniform beam", autocompletion=complete_case
        ),
    ] = None,
    settings: SetOption = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="folder for page or picture")] = None,
    time: Annotated[
        float,
        typer.Option("--time", metavar="T", help="of steady motion of prescribed joints and of references, in seconds"),
    ] = 0.0,
    controllers: Annotated[
        bool, typer.Option("--controllers/--no-controllers", help="whether controllers close the loop")
    ] = True,
    trust: Annotated[
        bool, typer.Option("--trust", help="let the controllers of a file run: Python code in its folder")
    ] = False,
) -> None:
    """Natural frequencies, damping and mode shapes of a robot about rest: a table, and the modes moving (modes.html).

    pliant modes slew

    Without a case or file, of a uniform beam (modes.svg):  pliant modes --set ends=sc --set length=2 --set modes=8
    """
    if case_or_file is None:
        return _beam_modes(settings, out)
    from pliant.cases.loading import load
    from pliant.files import make_folder, write_whole
    from pliant.linear.modes import modes

    with warnings_as_lines():
        model = load(case_or_file, trust=trust, **parse_assignments(settings or []))
        folder = out or Path("pliant-out") / f"modes-{Path(case_or_file).stem}"
        make_folder(folder)
        compile_first()
        found = modes(model, t=time, controllers=controllers)
    print_table(found.columns, found.table())
    if not found.is_stable:
        print("pliant: a small motion grows: the state is not stable", file=sys.stderr)
    found.report(folder / "modes.html")
    write_whole(folder / "modes.json", json.dumps(found.summary, indent=2) + "\n")
    print(f"written: {folder}/modes.html, modes.json")


def _beam_modes(settings: list[str] | None, out: Path | None) -> None:
    """Bending modes of a uniform beam: a table, and the shapes as a picture."""
    from pliant.files import make_folder
    from pliant.lab.modes import SETTINGS, beam_modes, write_modes

    found = beam_modes(parse_assignments(settings or []))
    folder = out or Path("pliant-out") / "modes"
    make_folder(folder)
    print_table(("mode", "frequency [rad/s]", "[Hz]", "inner nodes", "largest at x [m]"), found.table())
    write_modes(found, folder / "modes.svg")
    print(f"written: {folder}/modes.svg; keys for --set: {', '.join(SETTINGS)}")


@app.command(short_help="natural frequencies and Bode plots by transfer matrices")
def transfer(
    case_or_file: CaseArgument,
    settings: SetOption = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            metavar="NAME",
            help="a force or motion, as elbow, tip.fy, world.y; may be repeated (default: the first motors or joints)",
        ),
    ] = None,
    outputs: Annotated[
        list[str] | None,
        typer.Option(
            "--output",
            metavar="NAME",
            help="what is read off, as elbow, tip.y, elbow.mz; may be repeated (default: the first outputs or joints)",
        ),
    ] = None,
    count: Annotated[int | None, typer.Option("--modes", metavar="N", help="how many modes; default 10")] = None,
    below: Annotated[
        float | None, typer.Option("--below", metavar="OMEGA", help="instead: all modes below, in rad/s")
    ] = None,
    undamped: Annotated[bool, typer.Option("--undamped", help="leave dampers and friction out")] = False,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="folder for page and numbers")] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="let the controllers of a file run: Python code in its folder")
    ] = False,
) -> None:
    """Natural frequencies (all of them, counted), shapes and transfer functions of a robot about rest, beams as
    continua; writes report.html with Bode plots, and summary.json.

    pliant transfer robot.toml --input shoulder --output tip.y --below 2000
    """
    from pliant.cases.loading import load
    from pliant.files import make_folder, write_whole
    from pliant.linear.transfer_matrix.ports import usual_inputs, usual_outputs
    from pliant.linear.transfer_matrix.reporting import COLUMNS, MAX_SHOWN, response_summary
    from pliant.linear.transfer_matrix.transfer import transfer

    with warnings_as_lines():
        model = load(case_or_file, trust=trust, **parse_assignments(settings or []))
        found = transfer(model, count=count, below=below, is_damped=not undamped)
    usual = usual_inputs(model)[:MAX_SHOWN], usual_outputs(model)[:MAX_SHOWN]
    table, response = found.table(), found.bode(inputs or usual[0] or None, outputs or usual[1])
    folder = out or Path("pliant-out") / f"transfer-{Path(case_or_file).stem}"
    make_folder(folder)
    compile_first()
    for note in found.notes:
        print(f"pliant: {note}", file=sys.stderr)
    print_table(COLUMNS, table)
    without = " without dampers" if found.is_damped else ""
    print(f"{found.counts[-1]} natural frequencies{without} up to {found.frequencies[-1]:.6g} rad/s, by their count")
    if not found.is_stable:
        print("pliant: a small motion grows: the state is not stable", file=sys.stderr)
    found.report(folder / "report.html", response=response)
    summary = found.summary | {"response": response_summary(response)}
    write_whole(folder / "summary.json", json.dumps(summary) + "\n")
    print(f"written: {folder}/report.html, summary.json")


@lab.command(name="contact", short_help="what every law of contact and friction does")
def lab_contact(
    settings: KeyOption = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="folder for the page")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="print nothing but errors")] = False,
) -> None:
    """Bounce a ball, drop a rod, slide a block under every law; write report.html, summary.json, restitution.svg.

    pliant lab contact --set laws=hertz,flores,exact --set restitution=0.8
    """
    from pliant.files import make_folder
    from pliant.lab.contact import SETTINGS, contact_lab, resolve, write_contact_lab

    values = resolve(parse_assignments(settings or []))
    folder = out or Path("pliant-out") / "lab-contact"
    make_folder(folder)
    compile_first()
    with progress_bar("contact laws", not quiet and sys.stderr.isatty(), "{:.0f} of {:.0f} runs") as progress:
        found = contact_lab(values, progress)
    write_contact_lab(found, folder)
    if not quiet:
        for finding in found.findings:
            print(finding.title)
            print_table(finding.columns, finding.rows)
        print(f"written: {folder}/report.html, summary.json, restitution.svg; keys for --set: {', '.join(SETTINGS)}")
    if found.performed.breakdowns:
        count = len(found.performed.breakdowns)
        print(
            f"pliant: {count} run(s) failed, as the end of the page says; partial results were saved",
            file=sys.stderr,
        )
        raise typer.Exit(1)


@lab.command(name="integrators", short_help="what every integrator does")
def lab_integrators(
    settings: KeyOption = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="folder for the page")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="print nothing but errors")] = False,
) -> None:
    """Measure order, stability, damping, energy and cost of integrators; write report.html, summary.json, spectra.svg.

    pliant lab integrators --set methods=newmark,wilson,houbolt --set theta=1.37 --set models=chain,two-link-arm
    """
    from pliant.files import make_folder
    from pliant.lab.integrators import SETTINGS, integrator_lab, resolve, write_integrator_lab

    values = resolve(parse_assignments(settings or []))
    folder = out or Path("pliant-out") / "lab-integrators"
    make_folder(folder)
    compile_first()
    with progress_bar("integrators", not quiet and sys.stderr.isatty(), "{:.0f} of {:.0f} parts") as progress:
        found = integrator_lab(values, progress)
    write_integrator_lab(found, folder)
    if not quiet:
        for finding in found.findings:
            print(finding.title)
            print_table(finding.columns, finding.rows)
        print(f"written: {folder}/report.html, summary.json, spectra.svg; keys for --set: {', '.join(SETTINGS)}")


@app.command(short_help="print the JSON schema of model files")
def schema(
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="write to a file instead of the screen")
    ] = None,
) -> None:
    """Print the JSON schema of model files (editors use it to complete and check)."""
    from pliant.files import make_folder, write_whole
    from pliant.io.toml import schema as model_schema

    text = json.dumps(model_schema(), indent=2)
    if out is None:
        print(text)
        return
    make_folder(out.parent)
    write_whole(out, text + "\n")
    print(f"written: {out}")


@app.command(short_help="compile everything now, once per machine")
def warmup() -> None:
    """Compile everything now, in two processes, so that later runs start at once."""
    from pliant.engine.warmup import warm_up
    from pliant.kernels import _jit

    if not _jit.COMPILES:
        print("this installation brought its kernels compiled: there is nothing to do")
        return
    print("compiling all kernels in two processes (about a minute) ...", file=sys.stderr)
    seconds = warm_up()
    if not _jit.is_cached():
        raise SimulationError("the kernels compile, but cannot be kept: no cache folder can be written")
    print(f"all kernels are compiled and cached ({seconds:.0f} s)")


@app.command(short_help="measure the speed against other engines")
def bench(
    lines: Annotated[list[str] | None, typer.Argument(metavar="LINE", help="only these lines, as arm7_loop")] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="also write the figures as JSON")] = None,
) -> None:
    """Measure pliant against its peers (install them with: pip install "pliant[peers]"): ten minutes for all lines.

    Lines: differences, arm7_loop, arm7_handle, batch, chain3, chain10, cost_per_body, stiff12, bounce3, falling_rhs,
    cost_per_link, falling_chain, canadarm_rhs, canadarm_run, flex3, blades10, blades40, blade_cost, springs,
    loop_steps, contacts100, transfer_cost, transfer_runs, auto, sweep, study, stepper,
    startup.

    pliant bench chain3 chain10 --out bench.json
    """
    from pliant_benchmarks.lines import run_bench

    run_bench(lines or [], out)


def main() -> None:
    """Entry point: a user's mistake exits with 2, a breakdown with 1, both without traceback."""
    gc.set_threshold(50_000, 20, 50)  # imports make objects that stay: to look through them is a tenth of a start
    # closed by whoever called
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    with clean_interruptions() as was_interrupted:
        try:
            _run_command()
        except Exception:
            if not was_interrupted():
                raise
            # libraries that are being loaded make other exceptions of it
            print("pliant: interrupted", file=sys.stderr)
            sys.exit(130)


def _run_command() -> None:
    try:
        if os.environ.get("_PLIANT_COMPLETE") == "complete_bash":
            in_bash(lambda: app(prog_name="pliant"), os.environ)
        try:
            app(prog_name="pliant")
        finally:
            sys.stdout.flush()
    except ModelError as error:
        print(f"pliant: {error}", file=sys.stderr)
        sys.exit(2)
    except PliantError as error:
        print(f"pliant: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("pliant: interrupted before anything was written", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except MemoryError:
        print("pliant: the machine has no memory left; give --set memory=.., or ask for less", file=sys.stderr)
        sys.exit(1)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else "the output of the command cannot be written: "
        print(f"pliant: {where}{error.strerror or error}", file=sys.stderr)
        # what is still to be printed finds no place either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)

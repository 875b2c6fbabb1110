"""Every option and argument of every command is run here at least once, and does what its help says.

The table USES is held against the commands themselves: an option without a row, or a row without its option, fails."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import pytest
import typer

import pliant
from command_line import Done, pliant_command
from pliant.command import cli
from pliant.engine import warmup
from pliant_benchmarks import lines
from pliant_benchmarks.figures import Figure

SHORT = ("--set", "duration=0.05")
QUICK = ("two-link-arm", "--time", "0.02")
LAB = ("--set", "laws=hertz", "--set", "friction_laws=coulomb", "--set", "sweep=1", "--set", "belt_time=0.1",
       "--set", "angles=45")  # fmt: skip


class Use(NamedTuple):
    """One call of the command: its words, what it says on the screen, the files it leaves; it ends with 0."""

    words: tuple[str, ...]
    says: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


RUN_FILES = ("report.html", "result.nc", "summary.json")
INTEGRATORS = ("--set", "methods=rk4", "--set", "models=chain", "--set", "points=3", "--set", "periods=2")
INTEGRATOR_FILES = ("report.html", "spectra.svg", "summary.json")
STUDY = ("--vary", "force=0:1", "--sample", "2", "--figures", "psi1,max(psi2)")
STUDY_FILES = ("report.html", "rows.nc", "study.json", "study.lock")
# these need others first: tests/study/test_study.py and test_cluster.py use them
ELSEWHERE = {"pliant sweep --resume", "pliant sweep --scheduler"}
LAB_FILES = ("report.html", "restitution.svg", "summary.json")
USES = (
    Use(("--version",), (f"pliant {pliant.__version__}",)),
    Use(("--help",), ("Commands:", "run a case or a model file")),
    Use(("-h",), ("Commands:",)),
    Use(("--install-completion", "bash"), ("completion installed",), (".bash_completions/pliant.sh", ".bashrc")),
    Use(("--show-completion", "bash"), ("_PLIANT_COMPLETE=complete_bash",)),
    Use(("run", "--help"), ("CASE_OR_FILE", "--video", "--export")),
    Use(("run", "-h"), ("CASE_OR_FILE",)),
    Use(
        ("run", "two-link-arm", *SHORT),
        ("done at t = 0.05 s", "written: pliant-out/two-link-arm/report.html"),
        tuple(f"pliant-out/two-link-arm/{name}" for name in RUN_FILES),
    ),
    Use(("run", "two-link-arm", *SHORT, "--out", "here", "--quiet"), (), tuple(f"here/{name}" for name in RUN_FILES)),
    Use(("run", "two-link-arm", *SHORT, "--out", "here", "--trust", "-q"), (), tuple(f"here/{n}" for n in RUN_FILES)),
    Use(("run", "two-link-arm", *SHORT, "--out", "here", "-q"), (), tuple(f"here/{name}" for name in RUN_FILES)),
    Use(
        ("run", "two-link-arm", *SHORT, "--out", "here", "--export", "a.csv", "--export", "b.mat", "--video", "c.gif"),
        ("written: a.csv, b.mat, c.gif",),
        ("a.csv", "b.mat", "c.gif", *(f"here/{name}" for name in RUN_FILES)),
    ),
    Use(
        ("run", "two-link-arm", *SHORT, "--out", "here", "--plotly", "shared/plotly.min.js", "-q"),
        (),
        ("shared/plotly.min.js", *(f"here/{name}" for name in RUN_FILES)),
    ),
    Use(("new", "--help"), ("--kind", "FILE")),
    Use(("new", "-h"), ("--kind",)),
    Use(("new",), ("written: robot.toml",), ("robot.toml",)),
    Use(("new", "deep/arm.toml", "--kind", "beam"), ("pliant run deep/arm.toml",), ("deep/arm.toml",)),
    Use(("cases", "--help"), ("NAME",)),
    Use(("cases", "-h"), ("NAME",)),
    Use(("cases",), ("falling-chain", "pliant cases NAME")),
    Use(("cases", "falling-chain"), ("modes_per_link", "rtol", "expected")),
    Use(("methods", "--help"), ("who invented them",)),
    Use(("methods", "-h"), ("who invented them",)),
    Use(("methods",), ("articulated *", "dop853 *", "hunt-crossley")),
    Use(("methods", "stribeck"), ("pliant.Stribeck", "Stribeck speed", "above 0 m/s", "Armstrong")),
    Use(("methods", "springs"), ("closure_stiffness", "elongation")),
    Use(("modes", "--help"), ("--set", "--out")),
    Use(("modes", "-h"), ("--set", "--out")),
    Use(("modes", "--set", "modes=2", "--out", "deep/here"), ("inner nodes",), ("deep/here/modes.svg",)),
    Use(("modes",), ("keys for --set: ends,",), ("pliant-out/modes/modes.svg",)),
    Use(
        ("modes", "two-link-arm", "--time", "0.5", "--trust", "--controllers"),
        ("what moves", "modes.html"),
        ("pliant-out/modes-two-link-arm/modes.html", "pliant-out/modes-two-link-arm/modes.json"),
    ),
    Use(("modes", "slew", "--no-controllers", "--out", "bare"), ("hub",), ("bare/modes.html", "bare/modes.json")),
    Use(("transfer", "--help"), ("CASE_OR_FILE", "--input", "--output", "--out")),
    Use(("transfer", "-h"), ("CASE_OR_FILE", "--below")),
    Use(
        ("transfer", "spin-up", "--set", "length=5", "--modes", "2", "--input", "hub", "--output", "tip", "--trust"),
        ("what moves", "2 natural frequencies up to", "report.html"),
        ("pliant-out/transfer-spin-up/report.html", "pliant-out/transfer-spin-up/summary.json"),
    ),
    Use(
        ("transfer", "slew", "--undamped", "--below", "100", "--out", "deep/transfer"),
        ("what moves", "written: deep/transfer/report.html"),
        ("deep/transfer/report.html", "deep/transfer/summary.json"),
    ),
    Use(("compare", "--help"), ("CASE_OR_FILE", "--time", "--out")),
    Use(("compare", "-h"), ("CASE_OR_FILE",)),
    Use(
        (
            "compare",
            "two-link-arm",
            "--time",
            "0.02",
            "--formulations",
            "articulated,denoc",
            "--integrators",
            "rk4,dop853",
            "--out",
            "here",
        ),
        ("denoc", "rk4, step", "dop853, rtol 1e-08"),
        ("here/report.html", "here/summary.json"),
    ),
    Use(
        (
            "compare",
            "four-bar",
            "--time",
            "0.02",
            "--closures",
            "multipliers",
            "--formulations",
            "articulated",
            "--integrators",
            "dop853",
            "--out",
            "here",
            "--quiet",
        ),
        (),
        ("here/report.html", "here/summary.json"),
    ),
    Use(
        ("compare", *QUICK, "--out", "deep/agreement.json", "-q"),
        (),
        ("deep/agreement.json",),
    ),
    Use(("certify", "--help"), ("CASE_OR_FILE", "--figure", "--budget")),
    Use(("certify", "-h"), ("CASE_OR_FILE",)),
    Use(
        (
            "certify",
            "two-link-arm",
            *SHORT,
            "--figure",
            "psi1",
            "--figure",
            "max(psi2.rate)",
            "--budget",
            "12",
            "--trust",
            "--out",
            "here",
        ),
        ("figure", "psi1", "max(psi2.rate)", "time integration", "written: here/report.html"),
        tuple(f"here/{name}" for name in RUN_FILES),
    ),
    Use(("certify", "two-link-arm", *SHORT, "--out", "here", "--quiet"), (), tuple(f"here/{n}" for n in RUN_FILES)),
    Use(("certify", "two-link-arm", *SHORT, "--out", "here", "-q"), (), tuple(f"here/{n}" for n in RUN_FILES)),
    Use(("sweep", "--help"), ("[CASE_OR_FILE]", "--vary", "--resume")),
    Use(("sweep", "-h"), ("[CASE_OR_FILE]",)),
    Use(
        ("sweep", "two-link-arm", *SHORT, "--vary", "force=0:1:3", "--vary", "mass=1,2"),
        ("two-link-arm: 6 of 6 rows, 0 failed", "written: pliant-out/sweep-two-link-arm/report.html"),
        tuple(f"pliant-out/sweep-two-link-arm/{name}" for name in STUDY_FILES),
    ),
    Use(
        ("sweep", "two-link-arm", *SHORT, *STUDY, "--method", "lhs", "--seed", "3", "--trust", "--out", "here", "-q"),
        (),
        tuple(f"here/{name}" for name in STUDY_FILES),
    ),
    Use(
        ("sweep", "two-link-arm", *SHORT, *STUDY, "--on", "processes", "--workers", "1", "--out", "here", "--quiet"),
        (),
        tuple(f"here/{name}" for name in STUDY_FILES),
    ),
    Use(
        ("sweep", "two-link-arm", *SHORT, *STUDY, "--report", "1", "--out", "here"),
        ("pliant run two-link-arm --set duration=0.05 --set force=", "written: here/row-1/report.html"),
        tuple(f"here/row-1/{name}" for name in RUN_FILES),
    ),
    Use(
        ("compare", "two-link-arm", "--set", "force=0.2", "--time", "0.02", "--trust", "--out", "deep/agreement.json"),
        ("boltzmann_hamel", "condition(M)", "written: deep/agreement.json"),
        ("deep/agreement.json",),
    ),
    Use(("lab", "--help"), ("contact",)),
    Use(("lab", "-h"), ("contact",)),
    Use(("lab", "contact", "--help"), ("--set", "--out", "--quiet")),
    Use(("lab", "contact", "-h"), ("--set", "--out", "--quiet")),
    Use(
        ("lab", "contact", *LAB),
        ("hertz", "written: pliant-out/lab-contact/report.html"),
        tuple(f"pliant-out/lab-contact/{name}" for name in LAB_FILES),
    ),
    Use(("lab", "contact", *LAB, "--out", "here", "--quiet"), (), tuple(f"here/{name}" for name in LAB_FILES)),
    Use(("lab", "contact", *LAB, "--out", "here", "-q"), (), tuple(f"here/{name}" for name in LAB_FILES)),
    Use(("lab", "integrators", "--help"), ("--set", "--out", "--quiet")),
    Use(("lab", "integrators", "-h"), ("--set", "--out", "--quiet")),
    Use(
        ("lab", "integrators", *INTEGRATORS),
        ("What to take", "written: pliant-out/lab-integrators/report.html"),
        tuple(f"pliant-out/lab-integrators/{name}" for name in INTEGRATOR_FILES),
    ),
    Use(
        ("lab", "integrators", *INTEGRATORS, "--out", "here", "--quiet"),
        (),
        tuple(f"here/{name}" for name in INTEGRATOR_FILES),
    ),
    Use(
        ("lab", "integrators", *INTEGRATORS, "--out", "here", "-q"),
        (),
        tuple(f"here/{name}" for name in INTEGRATOR_FILES),
    ),
    Use(("schema", "--help"), ("--out",)),
    Use(("schema", "-h"), ("--out",)),
    Use(("schema",), ('"properties"',)),
    Use(("schema", "--out", "deep/schema.json"), ("written: deep/schema.json",), ("deep/schema.json",)),
    Use(("warmup", "--help"), ("two processes",)),
    Use(("warmup", "-h"), ("two processes",)),
    Use(("warmup",), ("all kernels are compiled and cached",)),
    Use(("bench", "--help"), ("--out", *(line.name for line in lines.LINES))),
    Use(("bench", "-h"), ("--out",)),
    Use(("bench", "toy"), ("1 of 1 goals are met",)),
    Use(("bench", "toy", "--out", "deep/bench.json"), ("written: deep/bench.json",), ("deep/bench.json",)),
)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A warmup of one small kernel; a bench of one more line, which takes no time."""
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")  # the shell is the one that is named
    monkeypatch.setattr(warmup, "all_kernels", lambda: ["shift.shift"])
    toy = lines.Line("toy", "a toy", "<= 1", lambda say: [Figure("pliant", 1e-6, 0.5, 1.0)])
    monkeypatch.setattr(lines, "LINES", (*lines.LINES, toy))
    return tmp_path


@pytest.mark.parametrize("use", USES, ids=lambda use: " ".join(use.words))
def test_command_does_what_its_help_says(use: Use, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "--install-completion" in use.words:
        monkeypatch.setenv("HOME", str(small))
    done = pliant_command(*use.words, cwd=small)
    assert done.returncode == 0, done.stderr
    for text in use.says:
        assert text in done.stdout
    if "--quiet" in use.words or "-q" in use.words:
        assert done == Done(0, "", "")
    written = {path.relative_to(small).as_posix() for path in small.rglob("*") if path.is_file()}
    assert written == set(use.writes)
    assert all((small / name).stat().st_size for name in written)


# --- the table and the commands agree ---------------------------------------------------------------------------


def parameters(command: Any, path: str = "pliant") -> Iterator[str]:
    """Every option, by each of its names, and every argument of the command and of those below it."""
    for name in (*command.get_help_option_names(typer.Context(command)), *_names(command)):
        yield f"{path} {name}"
    for name, child in getattr(command, "commands", {}).items():
        yield f"{path} {name}"
        yield from parameters(child, f"{path} {name}")


def _names(command: Any) -> Iterator[str]:
    for one in command.params:
        yield from (one.opts + one.secondary_opts if one.param_type_name == "option" else [one.metavar])


def used(command: Any, words: tuple[str, ...]) -> Iterator[str]:
    """The same names, of those that these words give."""
    path, rest = "pliant", list(words)
    while rest and rest[0] in getattr(command, "commands", {}):
        path, command = f"{path} {rest[0]}", command.commands[rest.pop(0)]
        yield path
    options = {name: one for one in command.params if one.param_type_name == "option" for name in one.opts}
    arguments = [one.metavar for one in command.params if one.param_type_name == "argument"]
    while rest:
        word = rest.pop(0)
        if not word.startswith("-"):
            if not arguments:
                return  # a command that is not there
            yield f"{path} {arguments.pop(0) if len(arguments) > 1 else arguments[0]}"
            continue
        yield f"{path} {word}"
        if word in options and not options[word].is_flag:
            rest.pop(0)


def untested(app: typer.Typer) -> set[str]:
    command = typer.main.get_command(app)
    return set(parameters(command)) - {name for use in USES for name in used(command, use.words)} - ELSEWHERE


def test_every_option_and_argument_of_every_command_is_used(small: Path) -> None:
    assert untested(cli.app) == set(), "give these a row in USES"


def test_a_new_option_or_command_without_a_row_is_found(small: Path) -> None:
    app = typer.Typer()
    app.callback()(cli._main)

    @app.command()
    def modes(settings: cli.KeyOption = None, fresh: Annotated[bool, typer.Option("--fresh", "-f")] = False) -> None:
        pass

    @app.command()
    def polish() -> None:
        pass

    assert {name for name in untested(app) if "help" not in name and "-h" not in name.split()} == {
        "pliant modes --fresh", "pliant modes -f", "pliant polish",
    }  # fmt: skip


def test_the_help_of_every_command_names_its_options_in_words(small: Path) -> None:
    """No option is without a sentence, and none is hidden."""

    def walk(command: Any) -> Iterator[Any]:
        yield command
        for child in getattr(command, "commands", {}).values():
            yield from walk(child)

    for command in walk(typer.main.get_command(cli.app)):
        assert command.help or command.callback is cli._main
        for one in command.params:
            assert one.param_type_name == "argument" or one.help  # some typers have arguments' help elsewhere
            assert not one.hidden


# --- mistakes of the command line itself ------------------------------------------------------------------------

SLIPS = [
    ((), "Commands:"),  # nothing asked for: what could be asked for
    (("lab",), "contact"),
    (("lab", "integrators", "--set"), "'--set' requires an argument"),
    (("bogus",), "No such command 'bogus'"),
    (("lab", "bogus"), "No such command 'bogus'"),
    (("--bogus",), "No such option"),
    (("run",), "Missing argument 'CASE_OR_FILE'"),
    (("run", "two-link-arm", "--videos", "a.gif"), "No such option"),
    (("run", "two-link-arm", "--plotly", "plotly"), "plotly plotly: no name of a script; name it .js"),
    (("run", "two-link-arm", "twice"), "unexpected extra argument"),
    (("run", "two-link-arm", "--out"), "'--out' requires an argument"),
    (("methods", "x"), "'x' is no method; pliant methods lists them all"),
    (("methods", "dop853", "x"), "unexpected extra argument"),
    (("modes", "--out", "file"), "--out file: this is a file; name a folder that can be written"),
    (("schema", "--out", "."), "this is a folder; name a file"),
    (("schema", "--out", f"{'x' * 300}.json"), "File name too long"),
    (("schema", "--out", "file/x.json"), "--out file: this is a file"),
    (("bench", "toy", "--out", "."), "--out .: this is a folder; name a file"),
    (("bench", "toy", "--out", "file/x.json"), "--out file: this is a file"),
    (
        ("bench", "toy", "--out", "/dev/null"),
        "--out /dev/null: this is no file but a device or a pipe",
    ),
    (("bench", "toy", "--out", f"{'x' * 300}.json"), "(File name too long); choose another place"),
    (("bench", "toys", "--out", "new/x.json"), "bench line 'toys' is not known; did you mean 'toy'?"),
    (("new", "robot.toml", "--kind", "wheel"), "--kind wheel: not known; choose one of arm"),
    (("cases", "file.toml"), "'file.toml' names a file, not a case; pliant run file.toml runs it"),
]


@pytest.mark.parametrize(("words", "sentence"), SLIPS, ids=[" ".join(words)[:40] for words, _ in SLIPS])
def test_a_slip_ends_with_2_and_a_sentence(words: tuple[str, ...], sentence: str, small: Path) -> None:
    (small / "file").write_text("kept")
    done = pliant_command(*words, cwd=small)
    assert done.returncode == 2
    assert done.stdout == ""
    # lines may be broken anywhere between words
    assert sentence in re.sub(r"\s+", " ", done.stderr)
    assert "Traceback" not in done.stderr
    assert [path.name for path in small.iterdir()] == ["file"]
    assert (small / "file").read_text() == "kept"


def test_a_kernel_that_does_not_compile_ends_warmup_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warmup, "all_kernels", lambda: ["no_such_kernel.no_such_kernel"])
    done = pliant_command("warmup")
    assert done.returncode == 1
    assert "a kernel did not compile" in done.stderr
    assert "no_such_kernel" in done.stderr


# --- bench ------------------------------------------------------------------------------------------------------


def test_bench_measures_and_writes_a_line(tmp_path: Path) -> None:
    """A real one, with a peer where it is installed."""
    done = pliant_command("bench", "arm7_handle", "--out", "bench.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    facts = json.loads((tmp_path / "bench.json").read_text())
    assert facts["status"] == "done"
    assert facts["lines"]["arm7_handle"]["figures"][0]["seconds"] > 0

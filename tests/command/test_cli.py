"""The command as a user runs it: files, figures, exit codes, kind messages, nothing half-written."""

import json
import re
import subprocess
import sys

import pytest

import pliant
from command_line import pliant_command
from paths import DOCS, EXAMPLES
from pliant.cases.case import all_cases
from pliant.command.compiling import compile_first, compilers_starting, say_what_compiles
from pliant.engine.warmup import Worker
from pliant.kernels import _jit

CASES = list(all_cases())


def test_help_names_every_command():
    """In a process of its own; the other tests call the same entry point in this one."""
    done = subprocess.run([sys.executable, "-m", "pliant", "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    for command in ("run", "cases", "methods", "modes", "lab", "schema", "warmup", "bench"):
        assert command in done.stdout


@pytest.mark.parametrize("case", CASES)
def test_run_writes_summary_result_and_report(case, tmp_path):
    words = ("--set", "bodies=5") if case == "long-chain" else ()
    done = pliant_command("run", case, *words, "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["report.html", "result.nc", "summary.json"]
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert {"case", "settings", "figures", "contacts", "audit", "stats"} <= set(summary)
    assert summary["case"] == case
    given = all_cases()[case]
    assert bool(summary["contacts"]) == bool(given.build(given.resolve({})).contacts)
    # a study of several has the figures of the one that was chosen
    assert summary["figures"].keys() == given.figure_table.keys() or given.settings["study"].choices
    assert summary["figures"].keys() <= given.figure_table.keys()
    # the tolerance of a step, where a case asks for a loose one; energy of fixed steps is that of their method
    allowed = 0.01 if "step" in given.run else max(1e-9, 0.1 * given.run.get("rtol", 0.0))
    assert summary["audit"]["energy_residual"] < allowed
    assert {"evaluations", "steps", "events", "wall_s", "compile_s"} <= set(summary["stats"])
    assert summary["settings"]["formulation"] == given.run.get("formulation", "articulated")


def test_run_writes_video_and_tables_where_asked(tmp_path):
    words = ("--video", "show/arm.gif", "--export", "arm.csv", "--export", "ARM.MAT")
    done = pliant_command("run", "two-link-arm", "--set", "duration=0.2", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "show" / "arm.gif").read_bytes()[:6] == b"GIF89a"
    assert (tmp_path / "arm.csv").read_text().startswith("time [s],")
    assert (tmp_path / "ARM.MAT").read_bytes()[:6] == b"MATLAB"
    assert "written: arm.csv, ARM.MAT, show/arm.gif" in done.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"show", "arm.csv", "ARM.MAT", "pliant-out"}


@pytest.mark.parametrize("case", CASES)
def test_cases_lists_what_the_summary_holds(case):
    listing = pliant_command("cases", case).stdout
    for key in (*all_cases()[case].settings, *all_cases()[case].figure_table, "rtol", "integrator"):
        assert key in listing
    assert case in pliant_command("cases").stdout


@pytest.mark.parametrize("case", CASES)
def test_case_reaches_its_expected_figures(case):
    import pliant

    row = all_cases()[case]
    settings = row.resolve({})
    figures = row.figures_of(settings, pliant.simulate(row.build(settings), **row.run))
    for key, figure in row.figure_table.items():
        if figure.expected is not None:
            assert figures[key] == pytest.approx(figure.expected, abs=figure.tolerance), key


def test_result_file_opens_in_xarray_as_the_dataset(tmp_path):
    import xarray

    import pliant

    result = pliant.simulate(pliant.load("two-link-arm"), 1.0)
    result.save(tmp_path / "result.nc")
    with xarray.open_dataset(tmp_path / "result.nc", engine="h5netcdf") as stored:
        assert stored.q.values == pytest.approx(result.q)
        assert list(stored.coordinate.values) == ["psi1", "psi2"]
        assert stored.output_tip.shape == (len(result.t), 3)
        for name in result.dataset.data_vars:
            assert stored[name].values == pytest.approx(result.dataset[name].values)


MISTAKES = [
    (("run", "two-link-arms"), ["two-link-arm", "did you mean"]),
    (("run", "nowhere.toml"), ["nowhere.toml", "no such file"]),
    (("run", "two-link-arm", "--set", "lenght=2"), ["lenght", "did you mean 'length'", "allowed"]),
    (("run", "two-link-arm", "--set", "length=-2"), ["length", "-2"]),
    (("run", "two-link-arm", "--set", "mass=three"), ["mass", "three", "number"]),
    (("run", "two-link-arm", "--set", "mass=nan"), ["mass", "nan", "finite"]),
    (("run", "two-link-arm", "--set", "psi1=30 mm"), ["psi1", "mm", "deg"]),
    (("run", "two-link-arm", "--set", "rtol=-1"), ["rtol", "-1"]),
    (("run", "two-link-arm", "--set", "integrator=euler"), ["integrator", "euler", "dop853"]),
    (("run", "two-link-arm", "--set", "formulation=magic"), ["formulation", "magic", "articulated"]),
    (("run", "two-link-arm", "--set", "rtol"), ["KEY=VALUE"]),
    (("run", "ground-space", "--set", "base=flying"), ["base", "flying", "floating"]),
    (("run", "long-chain", "--set", "bodies=2.5"), ["bodies", "whole number"]),
    (("run", "two-link-arm", "--video", "a.avi"), ["a.avi", ".mp4 or .gif"]),
    (("run", "two-link-arm", "--export", "a.xlsx"), ["--export a.xlsx", ".csv or .mat"]),
    (("cases", "nothing"), ["nothing", "two-link-arm"]),
    (("bench", "nothing"), ["nothing", "arm7"]),
    (("modes", "--set", "ends=cx"), ["ends", "cx", "ss, cc"]),
    (("modes", "--set", "section=round-tube", "--set", "wall=1"), ["wall", "thinner"]),
    (("modes", "--set", "lenght=2"), ["lenght", "did you mean 'length'"]),
]


def test_a_process_ends_with_the_codes_of_the_command(tmp_path):
    for words, code in ((("run", "two-link-arms"), 2), (("run", "two-link-arm", "--set", "max_steps=3"), 1)):
        done = subprocess.run(
            [sys.executable, "-m", "pliant", *words], capture_output=True, text=True, cwd=tmp_path, check=False
        )
        assert done.returncode == code
        assert done.stderr.startswith("pliant: ")
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("words", "expected"), MISTAKES)
def test_mistake_exits_with_2_and_leaves_nothing(words, expected, tmp_path):
    out = ("--out", "results") if words[0] == "run" else ()
    done = pliant_command(*words, *out, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    for word in expected:
        assert word in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_key_without_effect_in_the_law_chosen_is_noted(tmp_path):
    words = ["--set", "normal_law=hertz", "--set", "restitution=0.5", "--set", "duration=0.1", "--out", str(tmp_path)]
    done = pliant_command("run", "bouncing-ball", *words)
    assert done.returncode == 0
    assert "restitution has no effect with normal_law = hertz" in done.stderr


def test_angle_of_a_setting_may_have_its_unit(tmp_path):
    done = pliant_command(
        "run", "two-link-arm", "--set", "psi1=30 deg", "--set", "duration=0.1", "--out", str(tmp_path)
    )
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "summary.json").read_text())["settings"]["psi1"] == pytest.approx(0.5235987755982988)


def test_broken_down_run_exits_with_1_and_keeps_what_it_has(tmp_path):
    done = pliant_command("run", "two-link-arm", "--set", "max_steps=3", "--out", str(tmp_path))
    assert done.returncode == 1
    assert "max_steps" in done.stderr
    assert "Traceback" not in done.stderr
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["status"] == "failed"
    assert "max_steps" in summary["reason"]
    assert summary["stats"]["steps"] == 3


def test_model_file_runs_and_reports(tmp_path):
    example = EXAMPLES / "arm.toml"
    done = pliant_command("run", str(example), "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "summary.json").read_text())["audit"]["energy_residual"] < 1e-6


def test_modes_prints_frequencies_and_draws_shapes(tmp_path):
    """Clamped-free Euler-Bernoulli: omega = (1.8751...)^2 sqrt(E I / (rho A)) / L^2."""
    settings = ("theory=euler-bernoulli", "length=2", "modes=3", "young=7e10", "density=2700", "height=0.01")
    words = [word for setting in settings for word in ("--set", setting)]
    done = pliant_command("modes", *words, "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    omega = 1.8751040687119611664**2 * (7e10 / 2700 / 12) ** 0.5 * 0.01 / 2**2
    first = next(line.split() for line in done.stdout.splitlines() if line.startswith("1 "))
    assert float(first[1]) == pytest.approx(omega, rel=1e-11)
    picture = (tmp_path / "modes.svg").read_text()
    assert "mode 3" in picture
    assert "mode 4" not in picture


def test_schema_is_json(tmp_path):
    printed = json.loads(pliant_command("schema").stdout)
    assert printed["properties"]["bodies"]
    pliant_command("schema", "--out", str(tmp_path / "schema.json"))
    assert json.loads((tmp_path / "schema.json").read_text()) == printed


def test_methods_lists_every_row():
    from pliant.methods import FAMILIES

    listing = pliant_command("methods").stdout
    for table in FAMILIES.values():
        for row in table:
            assert row.name in listing
            assert row.reference in listing


def test_a_control_law_is_listed_with_its_parameters():
    listing = pliant_command("methods", "pid").stdout
    assert "control law pid, in Python pliant.PID: PD with the integral of r - q" in listing
    assert "Astrom" in listing
    for words in ("stiffness", "of at least 0 N m/rad, N/m", "windup", "above 0 N m, N", "where the joints shall be"):
        assert words in listing
    assert "state-feedback" in pliant_command("methods").stdout


def test_every_reference_is_in_the_bibliography():
    from pliant.methods import FAMILIES

    text = (DOCS / "bibliography.md").read_text()
    for table in FAMILIES.values():
        for row in table:
            assert f"`{row.reference}`" in text


@pytest.mark.parametrize(
    ("case", "options", "words"),
    [
        ("sliding-block", {"integrator": "radau"}, ["radau", "friction that sticks"]),
        ("sliding-block", {}, ["friction that sticks"]),
        ("two-link-arm", {"integrator": "radau"}, ["radau"]),
        ("two-link-arm", {}, []),
    ],
)
def test_what_a_run_has_to_compile_is_said_before_it_is_waited_for(case, options, words, monkeypatch, capsys, tmp_path):
    missing = {"pliant.kernels.contact.bounded_forces", "pliant.kernels.integrators.radau"}
    monkeypatch.setattr(_jit, "CACHE_FOLDER", tmp_path)
    monkeypatch.setattr(_jit, "is_cached", lambda module="": module not in missing)
    say_what_compiles(pliant.load(case), options)
    said = capsys.readouterr().err
    assert said == (f"pliant compiles {', '.join(words)}, once on this machine (10 to 20 s) ...\n" if words else "")


class Told:
    """In the place of a process that compiles."""

    def __init__(self, log):
        self.log = log

    def compile_all(self, take):
        self.log.append("compiled")

    def stop(self):
        self.log.append("stopped")


@pytest.fixture
def new_machine(monkeypatch, tmp_path):
    """Without compiled kernels; what its compiling processes are told."""
    log = []
    monkeypatch.setattr(_jit, "CACHE_FOLDER", tmp_path)
    monkeypatch.setattr(_jit, "is_cached", lambda module="": bool(module) or "compiled" in log)
    monkeypatch.setattr("pliant.engine.warmup.start_workers", lambda: log.append("started") or (Told(log), Told(log)))
    return log


def test_processes_that_compile_are_started_before_the_model_is_checked_and_used_once(new_machine, capsys):
    with compilers_starting():
        assert new_machine == ["started"]
    for _ in range(2):
        compile_first()
    assert new_machine == ["started", "compiled", "compiled"]
    assert capsys.readouterr().err == "pliant compiles its kernels, once on this machine (about 15 s) ...\n"


def test_a_mistake_in_a_first_run_compiles_nothing_and_leaves_no_process(new_machine, tmp_path):
    done = pliant_command("run", "two-link-armm", "--out", str(tmp_path / "out"))
    assert done.returncode == 2
    assert "two-link-armm" in done.stderr
    assert new_machine == ["started", "stopped", "stopped"]


def test_processes_that_compile_end_where_another_command_was_faster(new_machine):
    with compilers_starting():
        new_machine.append("compiled")  # by another
    compile_first()
    assert new_machine == ["started", "compiled", "stopped", "stopped"]


def test_a_compiling_process_that_is_not_needed_ends_at_once():
    worker = Worker()
    worker.stop()
    assert worker._process.returncode not in (None, 0)


def test_the_lifter_has_modes_that_move(tmp_path):
    done = pliant_command("modes", str(EXAMPLES / "lifter.toml"), "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "modes.json").read_text())["modes"]
    assert sum(row["frequency"] > 1.0 for row in rows) >= 4
    assert "mode 3, " in (tmp_path / "modes.html").read_text()


def test_the_example_of_modes_help_shows_vibrations_and_pictures(tmp_path):
    text = pliant_command("modes", "--help").stdout
    (words,) = re.findall(r"^\s*pliant (modes [\w-]+)\s*$", text, re.MULTILINE)
    done = pliant_command(*words.split(), "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "modes.json").read_text())["modes"]
    assert all(row["frequency"] > 0.0 for row in rows)
    assert len(rows) > 2
    assert "mode 1, " in (tmp_path / "modes.html").read_text(), "a film of every mode"

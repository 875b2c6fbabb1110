"""Studies: rows are a function of the definition alone, every run is what simulate gives, the store keeps it."""

import json
import math
import os
import re
import shlex

import numpy as np
import pytest

import pliant
from command_line import pliant_command
from pliant import Body, Joint, Model, ModelError, Rod, Study, load_study
from pliant.command.job import prepare_job, run_job
from pliant.study import store as stores
from pliant.study.parameters import parameters_of
from pliant.study.plan import BLOCK, make_plan


def pendulum(**fields):
    return Model(
        "pendulum",
        [Body("rod", 1.0, shape=Rod(1.0))],
        [Joint("hinge", "revolute", "rod", axis=(0, 1, 0), q0=0.5)],
        duration=0.2,
        **fields,
    )


FILE = """
name = "pendulum"
duration = 0.2

[parameters]
mass = 1.0

[[bodies]]
name = "rod"
mass = "$mass"
shape = { kind = "rod", length = 1.0 }

[[joints]]
name = "hinge"
kind = "revolute"
child = "rod"
axis = [0, 1, 0]
q0 = 0.5
damping = 0.1
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "pendulum.toml"
    path.write_text(FILE)
    return path


def columns(runs):
    """All that must be the same to the bit, however a study was run."""
    return {name: values.tolist() for name, values in runs.table.items()}


# --- rows -------------------------------------------------------------------------------------------------------------


def plan(method, sample=10_000, seed=3, **ranges):
    ranges = ranges or {"a": "0:1", "b": "log:1:100", "c": "normal:0:1"}
    return make_plan(parameters_of(ranges), method, sample, seed)


@pytest.mark.parametrize("method", ["random", "sobol", "lhs"])
def test_a_row_is_the_same_alone_and_among_others(method):
    whole = plan(method).values(np.arange(10_000))
    some = np.random.default_rng(0).permutation(10_000)[:50]
    for row in some:
        assert plan(method).row(int(row)) == {name: values[row] for name, values in whole.items()}
    assert plan(method, seed=4).row(7) != plan(method).row(7)


@pytest.mark.parametrize("method", ["random", "sobol", "lhs"])
def test_samples_have_the_distribution_asked_for(method):
    values = {name: np.array(column) for name, column in plan(method).values(np.arange(10_000)).items()}
    # of 10 000 samples the error of a share is 0.005: five times that
    for share in (0.1, 0.5, 0.9):
        assert np.mean(values["a"] < share) == pytest.approx(share, abs=0.025)
        assert np.mean(np.log10(values["b"]) / 2 < share) == pytest.approx(share, abs=0.025)
    assert np.mean(values["c"] < 1.0) == pytest.approx(0.8413, abs=0.025)


def test_sobol_and_latin_hypercube_fill_their_ranges_evenly():
    """One sample in every n-th part of each range: exactly for lhs, for Sobol's points where n is a power of 2."""
    n = 2 * BLOCK
    for method in ("sobol", "lhs"):
        shares = plan(method, n).shares(np.arange(n))
        for k in range(3):
            assert np.array_equal(np.sort((shares[:, k] * n).astype(int)), np.arange(n))


def test_a_grid_has_all_combinations_and_the_last_changes_fastest():
    grid = make_plan(parameters_of({"a": "0:1:3", "b": ["x", "y"]}), None, None, 0)
    rows = [grid.row(row) for row in range(grid.count)]
    assert rows == [{"a": a, "b": b} for a in (0.0, 0.5, 1.0) for b in ("x", "y")]


def test_ranges_end_exactly_and_whole_numbers_stay_whole():
    (even, log, whole, part) = parameters_of({"a": "0.1:0.7:4", "b": "log:1e3:1e6:4", "c": "2:10:5", "d": "0:5:50"})
    assert (even.grid()[0], even.grid()[-1]) == (0.1, 0.7)
    # three roundings of a logarithm of 14
    assert log.grid() == pytest.approx((1e3, 1e4, 1e5, 1e6), rel=1e-14)
    assert (log.grid()[0], log.grid()[-1]) == (1e3, 1e6)
    assert whole.grid() == (2, 4, 6, 8, 10)
    assert all(isinstance(value, int) for value in whole.grid())
    assert len(part.grid()) == 50
    assert all(isinstance(value, float) for value in part.grid())


# --- runs -------------------------------------------------------------------------------------------------------------


def reach(result):
    return float(np.max(np.abs(result["hinge"])))


def swinging(length, mass=1.0):
    return Model(
        "swing",
        [Body("rod", mass, shape=Rod(length))],
        [Joint("hinge", "revolute", "rod", axis=(0, 1, 0), q0=0.5)],
        duration=0.2,
    )


def test_every_row_is_what_simulate_gives_to_the_bit(file):
    figures = {"top": "max(hinge)", "end": "hinge", "speed": "final(hinge.rate)", "reach": reach}
    study = Study(file, {"mass": [1.0, 2.0], "joints.hinge.damping": "0:0.2:3", "rtol": [1e-6, 1e-9]}, figures)
    runs = study.run(workers=2)
    assert len(runs) == 12
    for row in range(12):
        values = study.row(row)
        options = {"rtol": values.pop("rtol")}
        result = pliant.simulate(pliant.load(file, **values), **options)
        found = {name: runs.column(name)[row] for name in figures}
        wanted = {"top": result["hinge"].max(), "end": result["hinge"][-1], "speed": result["hinge.rate"][-1]}
        assert found["reach"] == reach(result)
        assert {name: found[name] for name in ("end", "speed")} == {name: wanted[name] for name in ("end", "speed")}
        assert found["top"] >= wanted["top"]  # between steps, too
        assert runs.result(row)["hinge"][-1] == found["end"]


def test_ends_alone_are_found_without_recording_and_are_the_same_bits():
    parameters = {"hinge.start": "-1:1:40", "hinge.rate.start": [0.0, 1.0]}
    ends = Study(pendulum(), parameters, ["hinge", "hinge.rate"]).run()
    whole = Study(pendulum(), parameters, ["hinge", "hinge.rate", "max(hinge)"]).run()
    assert ends.column("hinge").tolist() == whole.column("hinge").tolist()
    assert ends.column("hinge.rate").tolist() == whole.column("hinge.rate").tolist()
    for row in (0, 17, 79):
        values = ends.values(row)
        start = {"q0": [values["hinge.start"]], "v0": [values["hinge.rate.start"]]}
        assert pliant.simulate(pendulum(), **start).q[-1, 0] == ends.column("hinge")[row]


@pytest.mark.parametrize("on", ["threads", "processes"])
def test_results_do_not_depend_on_place_and_workers(on, file):
    study = Study(file, {"mass": "1:2", "hinge.start": "-1:1"}, ["hinge", "max(hinge)"], sample=30, method="sobol")
    alone = study.run(workers=1)
    assert columns(study.run(on=on, workers=3)) == columns(alone)


def test_a_function_may_make_models_or_results():
    made = Study(swinging, {"length": [0.5, 1.0], "mass": "1:2:2"}, "hinge", settings={"rtol": 1e-6}).run()
    ready = Study(
        lambda length, mass: pliant.simulate(swinging(length, mass), rtol=1e-6),
        {"length": [0.5, 1.0], "mass": "1:2:2"},
        "hinge",
    ).run()
    assert made.column("hinge").tolist() == ready.column("hinge").tolist()


def test_a_function_that_takes_other_arguments_is_refused():
    with pytest.raises(
        ModelError, match=r"swinging\(length, mass=1.0\) cannot be called with lenght: .*let them agree"
    ):
        Study(swinging, {"lenght": [1.0]}, "hinge")


def test_keys_of_a_model_in_python_are_those_of_its_file():
    runs = Study(pendulum(), {"joints.hinge.q0": [0.1, 0.2], "bodies.rod.mass": [1.0]}, "hinge").run()
    for row, angle in enumerate((0.1, 0.2)):
        assert runs.column("hinge")[row] == pliant.simulate(pendulum(), q0=[angle]).q[-1, 0]


def test_a_failed_run_is_a_row_with_its_reason():
    def picky(length):
        if length > 1.0:
            raise ZeroDivisionError("too long")
        return swinging(length)

    runs = Study(picky, {"length": [0.5, 1.0, 1.5, -1.0]}, ["max(hinge)"]).run()
    assert runs.failed == [2, 3]
    assert runs.status.tolist() == ["done", "done", "failed", "failed"]
    assert "ZeroDivisionError: too long" in runs.notes[2]
    assert "length" in runs.notes[3]
    assert np.isnan(runs.column("max(hinge)")).tolist() == [False, False, True, True]
    broken = Study(pendulum(), {"max_steps": [3, 10000]}, ["max(hinge)"]).run()
    assert broken.failed == [0]
    assert "more than max_steps steps" in broken.notes[0]


def test_the_command_of_a_row_makes_the_same_figures(tmp_path, file):
    for base, figures in ((file, ["hinge"]), ("two-link-arm", ["psi1"])):
        vary = {"mass": "1:2", "hinge.start": "0:1"} if base is file else {"force": "0:1", "psi2.start": "0:1"}
        study = Study(base, vary, figures, settings={"duration": 0.1}, sample=3)
        runs = study.run()
        for row in range(3):
            words = shlex.split(study.command(row))
            assert words[:2] == ["pliant", "run"]
            done = pliant_command(*words[1:], "--out", str(tmp_path / "row"), "-q")
            assert done.returncode == 0, done.stderr
            result = pliant.load_result(tmp_path / "row" / "result.nc")
            assert result[figures[0]][-1] == runs.column(figures[0])[row]


def test_figures_of_a_case_are_those_of_its_run(tmp_path):
    runs = Study("bouncing-ball", {"height": [0.5, 1.0]}, settings={"duration": 0.6}).run()
    for row, height in enumerate((0.5, 1.0)):
        outcome = run_job(prepare_job("bouncing-ball", {"height": height, "duration": 0.6}, tmp_path / str(row)))
        assert set(runs.units) == set(outcome.figures)
        for name, value in outcome.figures.items():
            found = runs.column(name)[row]
            assert found == value or (math.isnan(found) and math.isnan(value))


def test_settling_time_of_a_damped_turn_is_that_of_the_exponential(tmp_path):
    """A damper alone: speed, and what is left of the angle, fall as exp(-c t / I): 2 % after ln 50 I / c."""
    model = Model(
        "door",
        [Body("leaf", 1.0, shape=Rod(1.0))],
        [Joint("hinge", "revolute", "leaf", axis=(0, 0, 1), damping=1.0, v0=1.0)],
        duration=12.0,  # exp(-36) is below rounding
    )
    (found,) = Study(model, {"hinge.start": [0.0]}, "settling(hinge)").run().column("settling(hinge)")
    # the error of the run, 1e-8 relative, over the slope of the exponential at 2 %
    assert found == pytest.approx(math.log(50) / 3.0, rel=1e-5)


# --- as tables --------------------------------------------------------------------------------------------------------


def test_tables_have_every_row_and_a_grid_its_axes():
    study = Study(swinging, {"length": [0.5, 1.0, 2.0], "mass": "1:2:2"}, ["hinge", "max(hinge)"])
    runs = study.run()
    frame, data = runs.to_pandas(), runs.to_xarray()
    assert frame.shape == (6, 6)
    assert frame.attrs["units"]["hinge"] == "rad"
    assert dict(data.sizes) == {"length": 3, "mass": 2}
    for row in range(6):
        assert float(data["hinge"].sel(**study.row(row))) == frame["hinge"][row] == runs.column("hinge")[row]
    assert data["hinge"].attrs["units"] == "rad"
    sampled = Study(swinging, {"length": "0.5:1"}, "hinge", sample=4).run().to_xarray()
    assert dict(sampled.sizes) == {"row": 4}


# --- the store --------------------------------------------------------------------------------------------------------


def stored(tmp_path, rows=40):
    study = Study(swinging, {"length": f"0.5:1:{rows}"}, ["hinge", "max(hinge)"])
    return study, tmp_path / "study"


def test_a_store_gives_back_what_was_run_to_the_bit(tmp_path):
    study, folder = stored(tmp_path)
    runs = study.run(folder)
    assert columns(runs) == columns(study.run())
    assert columns(load_study(folder)) == columns(runs)
    assert load_study(folder).is_complete
    assert sorted(path.name for path in folder.iterdir()) == ["rows.nc", "study.json", "study.lock"]
    again = study.run(folder, resume=True)
    assert columns(again) == columns(runs)


@pytest.mark.parametrize("harm", ["cut", "emptied", "bit", "text", "gone"])
@pytest.mark.parametrize("is_finished", ["finished", "stopped"])
def test_a_damaged_file_is_left_out_and_its_rows_are_run_again(harm, is_finished, tmp_path, monkeypatch):
    monkeypatch.setattr("pliant.study.running.WRITE_SECONDS", 0.0)
    if is_finished == "stopped":
        monkeypatch.setattr(stores.Store, "finish", lambda store: None)
    study, folder = stored(tmp_path)
    runs = study.run(folder)
    path = max(folder.glob("rows*.nc"), key=lambda path: path.stat().st_size)
    content = bytearray(path.read_bytes())
    if harm == "bit":
        place = content.find(runs.column("hinge")[runs.rows == load_rows(path)[0]].tobytes())
        content[place + 3] ^= 1
    path.write_bytes({"cut": content[:-100], "emptied": b"", "bit": content, "text": b"no file"}.get(harm, b""))
    if harm == "gone":
        path.unlink()
    partial = load_study(folder)
    assert not partial.is_complete
    assert partial.damaged == ((path.name,) if harm != "gone" else ())
    assert columns(study.run(folder, resume=True)) == columns(runs)


def load_rows(path):
    import h5netcdf

    with h5netcdf.File(path, "r") as file:
        return file.variables["row"][...].tolist()


def test_many_files_become_few_and_no_row_is_lost_or_twice(tmp_path, monkeypatch):
    monkeypatch.setattr(stores, "MERGED", 4)
    monkeypatch.setattr(stores.Store, "finish", lambda store: None)
    monkeypatch.setattr("pliant.study.running.WRITE_SECONDS", 0.0)
    monkeypatch.setattr("pliant.study.running.MAX_CHUNK", 7)  # so that there are many, however fast the machine is
    study, folder = stored(tmp_path, 150)
    runs = study.run(folder, workers=1)
    files = sorted(folder.glob("rows*.nc"))
    rows = [row for path in files for row in load_rows(path)]
    assert sorted(rows) == list(range(150))
    assert len({path.name.split("-")[1] for path in files}) > 1  # files of two levels
    # killed between merging and removing: the files that were merged are there again
    kept = {path: path.read_bytes() for path in files}
    part = stores.Store(folder, ("length",), ("hinge", "max(hinge)"), ("rad", "rad"))
    chunk = part._read(files[-1])
    part._write(folder / "rows-0-90000000.nc", chunk.chunk, chunk.parameters)
    assert columns(load_study(folder)) == columns(runs)
    assert columns(study.run(folder, resume=True)) == columns(runs)
    assert {path: path.read_bytes() for path in sorted(folder.glob("rows*.nc"))} == kept


def test_two_processes_cannot_write_one_study(tmp_path):
    study, folder = stored(tmp_path)
    study.run(folder)
    other = stores.Store(folder, (), (), ())
    with other.locked(), pytest.raises(ModelError, match="another process is writing to this study"):
        study.run(folder, resume=True)


def test_rows_whose_parameters_are_others_are_refused(tmp_path):
    """As another version of scipy would make them from the same seed."""
    study, folder = stored(tmp_path)
    study.run(folder)
    part = stores.Store(folder, ("length",), ("hinge", "max(hinge)"), ("rad", "rad"))
    path = min(folder.glob("rows*.nc"))
    chunk = part._read(path)
    part._write(path, chunk.chunk, chunk.parameters + 1e-9)
    with pytest.raises(ModelError, match="its parameters are not those of this study"):
        study.run(folder, resume=True)


# --- mistakes ---------------------------------------------------------------------------------------------------------

BASE = ["sweep", "two-link-arm", "--set", "duration=0.05", "--out", "here"]
MISTAKES = {
    "--vary forse=0:1:3 --figures psi1": "--vary forse: no key 'forse'; did you mean 'force'?",
    "--vary force=a:b:3 --figures psi1": "--vary force: 'a:b:3' is no range; give LOW:HIGH:COUNT",
    "--vary force=0:1:x --figures psi1": "--vary force: '0:1:x' is no range",
    "--vary force=1:0:3 --figures psi1": "--vary force: '1:0:3' goes from 1 to 0; give the lower end first",
    "--vary force=0:1 --figures psi1": "--vary force: a grid needs to know how many values; write force=0:1:COUNT",
    "--vary force=0:inf:3 --figures psi1": "has ends that are not finite",
    "--vary force=log:0:1:3 --figures psi1": "begins at 0, which has no logarithm",
    "--vary force=normal:0:1 --figures psi1": "--vary force: normal is for samples, not for grids",
    "--vary force=normal:0:-1 --sample 3 --figures psi1": "has the standard deviation -1",
    "--vary force=1,1 --figures psi1": "--vary force: 1 stands there twice",
    "--vary force --figures psi1": "--vary 'force': no key and range found",
    "--vary force=0:1:2 --vary force=0:1:2": "--vary force: given twice",
    "--figures psi1": "nothing to vary; give --vary KEY=RANGE",
    "--vary force=0:1:3 --figures nonsense": "figures: no column 'nonsense'",
    "--vary force=0:1:3 --figures max(psy1)": "figures: no column 'psy1'; did you mean 'psi1'?",
    "--vary force=0:1:3 --figures most(psi1)": "'most' is not known",
    "--vary force=0:1:3 --figures psi1@9": "give a time from 0 to 0.05 s",
    "--vary force=0:1:3 --sample 10 --method grid": "--sample N is for the methods random, sobol and lhs",
    "--vary force=0:1:3 --method sobol": "--method sobol needs the number of samples",
    "--vary force=0:1:3 --method nonsense --sample 3": "method: 'nonsense' found",
    "--vary force=0:1:3 --sample 0": "sample: 0 found",
    "--vary force=0:1:3 --on moon": "on: 'moon' found",
    "--vary force=0:1:3 --workers 0": "workers: 0 found",
    "--vary force=0:1:3 --seed -1": "seed: -1 found",
    "--vary duration=0.01,0.02": "duration is both set and varied",
    "--vary psi9.start=0:1:3 --figures psi1": "psi9.start: no such start; did you mean",
    "--vary force=0:1:3 --scheduler tcp://nowhere:1": "scheduler: 'tcp://nowhere:1' found",
    "--vary force=0:1:3 --figures psi1 --resume": "--resume: here has no study",
    "--vary force=0:1:100000 --vary length=1:2:100000": "rows; give at most",
}


@pytest.mark.parametrize("words", MISTAKES)
def test_a_mistake_is_one_sentence_exit_code_2_and_nothing_written(words, tmp_path):
    done = pliant_command(*BASE, *words.split(), cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert MISTAKES[words] in done.stderr
    assert done.stderr.startswith("pliant: ")
    assert done.stderr.count("\n") == 1
    assert os.listdir(tmp_path) == []


def test_a_case_without_that_figure_under_these_settings_is_refused_before_anything_is_written(tmp_path):
    done = pliant_command("sweep", "slew", "--vary", "shaping=all,study", "--out", "here", cwd=tmp_path)
    assert done.returncode == 2
    assert "with these settings it is several runs" in done.stderr
    assert os.listdir(tmp_path) == []


def test_a_store_of_another_study_is_refused_and_kept(tmp_path):
    words = [*BASE, "--vary", "force=0:1:3", "--figures", "psi1", "-q"]
    assert pliant_command(*words, cwd=tmp_path).returncode == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "here").iterdir()}
    for other, differs in (
        (["--vary", "force=0:2:3", "--figures", "psi1"], "parameters"),
        (["--vary", "force=0:1:3", "--figures", "psi2"], "figures"),
        (["--vary", "force=0:1:3", "--figures", "psi1", "--set", "length=3"], "base"),
        (["--vary", "force=0:1:3", "--figures", "psi1", "--seed", "1"], "seed"),
    ):
        for more in ([], ["--resume"]):
            done = pliant_command(*BASE, *other, *more, cwd=tmp_path)
            assert done.returncode == 2
            assert f"--out here: it holds another study, which differs in {differs}" in done.stderr
    done = pliant_command(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert "it holds rows of this study; give --resume" in done.stderr
    assert {path.name: path.read_bytes() for path in (tmp_path / "here").iterdir()} == before
    (tmp_path / "here" / "study.json").write_text("{}")
    assert "this is no study of pliant" in pliant_command(*words, "--resume", cwd=tmp_path).stderr
    (tmp_path / "here" / "study.json").unlink()
    assert "it has rows of a study, but no study.json" in pliant_command(*words, cwd=tmp_path).stderr


def test_the_command_writes_rows_and_page_and_prints_what_figures_range_over(tmp_path):
    words = ["--vary", "force=0:1:5", "--vary", "length=1,2", "--figures", "max(psi1),psi2"]
    done = pliant_command(*BASE, *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "two-link-arm: 10 of 10 rows, 0 failed" in done.stdout
    assert re.search(r"max\(psi1\) +rad +0 \(row 0\)", done.stdout)
    names = {path.name for path in (tmp_path / "here").iterdir()}
    assert {"study.json", "report.html"} <= names
    assert json.loads((tmp_path / "here" / "study.json").read_text())["study"]["rows"] == 10
    again = pliant_command("sweep", "--resume", "--out", "here", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert again.stdout == done.stdout
    row = pliant_command("sweep", "--report", "3", "--out", "here", cwd=tmp_path)
    assert row.returncode == 0, row.stderr
    assert (tmp_path / "here" / "row-3" / "report.html").is_file()
    assert pliant_command("sweep", "--resume", cwd=tmp_path).returncode == 2
    assert pliant_command("sweep", "--resume", "--out", "nowhere", cwd=tmp_path).returncode == 2

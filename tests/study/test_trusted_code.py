"""Code of a study's model file runs if this call says that it is trusted; what lies in the folder never says so."""

import json
import os
import shutil
import subprocess
import sys

import pytest

import pliant
from command_line import pliant_command
from paths import SOURCES
from pliant import ModelError
from pliant.machine import python_process
from pliant.study.store import digest

MODEL = """
name = "swing"
duration = 0.02
[[bodies]]
name = "rod"
mass = 1.0
shape = { kind = "rod", length = 1.0 }
[[joints]]
name = "hinge"
kind = "revolute"
child = "rod"
q0 = 0.5
[[controllers]]
name = "servo"
period = 0.01
joints = ["hinge"]
function = "control.py:servo"
"""
CODE = """
import pathlib
pathlib.Path(__file__).with_name("it ran").touch()
def servo(t, measured):
    return [0.0]
"""
SWEEP = ["--vary", "hinge.start=0:1:2", "--figures", "hinge", "--out", "study", "-q"]


@pytest.fixture
def folder(tmp_path):
    """A study that was made with trust; its code has not run since."""
    (tmp_path / "swing.toml").write_text(MODEL)
    (tmp_path / "control.py").write_text(CODE)
    done = pliant_command("sweep", "swing.toml", *SWEEP, "--trust", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (tmp_path / "it ran").unlink()
    # another version of the file, or else the module that is loaded serves again
    os.utime(tmp_path / "control.py", ns=(1, 1))
    return tmp_path


def say_trusted(folder, version):
    """study.json as somebody who sends it may write it, with a digest that is right."""
    path = folder / "study" / "study.json"
    found = json.loads(path.read_text())
    found["format_version"], found["study"]["base"]["trust"] = version, True
    what = {key: found[key] for key in ("study", "name", "figures")}
    found["digest"] = digest(found["study"] if version == 1 else what)
    path.write_text(json.dumps(found))


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("words", [["--resume"], ["--report", "0"]], ids=["resume", "report"])
def test_the_command_runs_no_code_because_a_folder_says_so(version, words, folder):
    say_trusted(folder, version)
    kept = {path.name: path.read_bytes() for path in (folder / "study").iterdir()}
    done = pliant_command("sweep", *words, "--out", "study", cwd=folder)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "it would run 'control.py', code that can do anything" in done.stderr
    assert not (folder / "it ran").exists()
    assert {path.name: path.read_bytes() for path in (folder / "study").iterdir()} == kept
    trusted = pliant_command("sweep", *words, "--out", "study", "--trust", "-q", cwd=folder)
    assert trusted.returncode == 0, trusted.stderr
    assert (folder / "it ran").exists()


def test_a_loaded_study_runs_code_only_where_the_caller_trusts_it(folder):
    say_trusted(folder, 1)
    runs = pliant.load_study(folder / "study")
    assert runs.is_complete
    with pytest.raises(ModelError, match=r"it would run 'control\.py'"):
        runs.result(0)
    assert "--trust" not in runs.command(0)
    assert not (folder / "it ran").exists()
    again = pliant.load_study(folder / "study", trust=True)
    assert again.result(0)["hinge"][-1] == runs.column("hinge")[0]
    assert (folder / "it ran").exists()


def test_trust_is_no_part_of_what_a_study_is(tmp_path):
    """A study of a file without code, begun with trust, goes on without; and the other way round."""
    (tmp_path / "swing.toml").write_text(MODEL.partition("[[controllers]]")[0])
    for before, after in ((["--trust"], []), ([], ["--trust"])):
        assert pliant_command("sweep", "swing.toml", *SWEEP, *before, cwd=tmp_path).returncode == 0
        done = pliant_command("sweep", "swing.toml", *SWEEP, "--resume", *after, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        shutil.rmtree(tmp_path / "study")


def test_processes_import_nothing_from_the_folder_they_stand_in(tmp_path):
    """Modules that Python's own way of starting processes, and ours, import first."""
    for name in ("multiprocessing", "pickle", "struct", "colorsys", "numpy"):
        (tmp_path / f"{name}.py").write_text("open('it ran', 'w')")
    script = tmp_path / "elsewhere" / "script.py"
    script.parent.mkdir()
    script.write_text(
        "import pliant\n"
        "if __name__ == '__main__':\n"
        "    model = pliant.load('pendulum')\n"
        "    print(pliant.simulate_many(model, 0.01, q0=[[0.1], [0.2]], on='processes', workers=2).status)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout == "['done' 'done']\n", done.stderr
    python, environment = python_process()
    words = [*python, "-c", "import colorsys, numpy, pliant; print(colorsys.__name__)"]
    assert (
        subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, check=False).stdout == b"colorsys\n"
    )
    assert not (tmp_path / "it ran").exists()

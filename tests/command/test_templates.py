"""pliant new: every kind runs at once and says what it is; nothing is written over."""

import json

import pytest

import pliant
from command_line import pliant_command
from pliant.command.templates import KINDS, write_template
from pliant.errors import ModelError

every_kind = pytest.mark.parametrize("kind", KINDS)


@every_kind
def test_starter_runs_as_it_is_written(kind, tmp_path):
    done = pliant_command("new", "mine.toml", "--kind", kind, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "pliant run mine.toml" in done.stdout
    assert "pliant run mine.toml" in (tmp_path / "mine.toml").read_text()
    done = pliant_command("run", "mine.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    summary = json.loads((tmp_path / "pliant-out" / "mine" / "summary.json").read_text())
    assert summary["status"] == "done"
    # works of the default tolerance 1e-8 per step
    assert summary["audit"]["energy_residual"] < 1e-6


@every_kind
def test_starter_shows_what_its_kind_promises(kind, tmp_path):
    write_template(tmp_path / "robot.toml", kind)
    model = pliant.load(tmp_path / "robot.toml")
    promises = {
        "arm": any(joint.motor for joint in model.joints) and any(joint.limit for joint in model.joints),
        "beam": model.has_modes,
        "space": model.base.kind == "floating" and model.gravity == (0, 0, 0),
        "loop": bool(model.loops),
        "contact": len(pliant.simulate(model).contacts) > 1,
    }
    assert promises[kind]
    assert model.outputs


def test_file_that_is_there_stays(tmp_path):
    (tmp_path / "robot.toml").write_text("mine")
    done = pliant_command("new", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        "pliant: robot.toml: this file is there already and stays as it is; name another one, or remove it\n"
    )
    assert (tmp_path / "robot.toml").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["robot.toml"]


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("robot.urdf", "arm", "ends in .urdf; name it robot.toml"),
        ("robot", "arm", "has no suffix; name it robot.toml"),
        ("robot.toml", "legs", "--kind legs: not known; choose one of arm, beam, space, loop, contact"),
    ],
)
def test_starter_that_cannot_be_is_refused(name, kind, expected, tmp_path):
    with pytest.raises(ModelError, match=expected):
        write_template(tmp_path / name, kind)
    assert not list(tmp_path.iterdir())


def test_starter_makes_its_folder_or_says_why_not(tmp_path):
    assert pliant_command("new", "a/b/robot.toml", cwd=tmp_path).returncode == 0
    assert (tmp_path / "a" / "b" / "robot.toml").exists()
    done = pliant_command("new", "a/b/robot.toml/x.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert "FILE a/b/robot.toml" in done.stderr
    assert "Traceback" not in done.stderr

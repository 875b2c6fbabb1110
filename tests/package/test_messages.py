"""Mistakes that no other test makes, each made to happen: the message says where, what was found, what to do."""

import errno
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest

import pliant
from command_line import pliant_command
from paths import EXAMPLES
from pliant import Body, Controller, Joint, Model, Rod
from pliant.errors import ModelError
from pliant.results.recording import Dense


def arm(**fields):
    return Model("arm", [Body("link", 1.0, shape=Rod(1.0))], [Joint("elbow", "revolute", "link")], **fields)


def four_bar():
    return pliant.load("four-bar")


def result(**options):
    return pliant.simulate(arm(), 0.1, **options)


def nested(folder):
    path = folder / "deep.toml"
    path.write_text("x = " + "[" * 100 + "]" * 100)
    return pliant.load(path)


def unclosed(folder):
    path = folder / "deep.toml"
    path.write_text("x = " + "[" * 100_000)
    return pliant.load(path)


def torn():
    model = four_bar()
    q, v = pliant.assemble(model)
    return pliant.assemble(model, q, v + np.array([1.0, 0.0, 0.0]), keep=[joint.name for joint in model.joints])


def without_rows():
    return replace(result(), t=np.zeros(0))


def without_motion():
    return replace(result(), dense=Dense(np.zeros(0), np.zeros(0), np.zeros((0, 1, 1))))


def read_only_disk(folder):
    """A full disk is no mistake: tests/io/test_full_disk.py."""
    with mock.patch("tempfile.mkstemp", side_effect=OSError(errno.EROFS, "Read-only file system")):
        pliant.save_model(arm(), folder / "arm.toml")


def unreadable(folder):
    loop = folder / "loop.toml"
    loop.symlink_to(loop)  # also root cannot read this
    return pliant.load(loop)


MISTAKES = [
    # cases
    (lambda _: pliant.load("two-link-arm", lenght=1), ["case 'two-link-arm'", "'lenght'", "did you mean 'length'"]),
    (
        lambda _: pliant.load("falling-chain", modes="cc-ss", links=3),
        ["'cc-ss' names 2 links", "links = 3", "let them agree"],
    ),
    (lambda _: pliant.load("five-bar", pen_y=9.0), ["pen_x, pen_y", "m from its motor", "give a nearer one"]),
    (lambda _: pliant.load("four-bar", rocker=0.01, coupler=0.01), ["angle", "cannot meet", "give another angle"]),
    (lambda _: pliant.load("slider-crank", rod=0.01, angle=1.5), ["rod: 0.01 m", "give a longer rod"]),
    # loops
    (lambda _: pliant.assemble(four_bar(), keep=["moter"]), ["keep: no joint 'moter'", "did you mean", "there are:"]),
    (
        lambda _: pliant.closed_motion(four_bar(), {"krank": (0.0, 0.0, 0.0)}),
        ["closed_motion: no joint 'krank'", "there are:"],
    ),
    (lambda _: pliant.motor_forces(undriven(), *at_rest(), motors=[]), ["say which joints are driven", "joints:"]),
    (
        lambda _: pliant.inverse_dynamics(arm(), [0.0], [0.0], [0.0], motors=["elbow"]),
        ["motors has no effect", "'arm' has no loops", "leave it out"],
    ),
    (
        lambda _: pliant.simulate(four_bar(), 0.1, closure="springs", closure_form="round"),
        ["closure_form: 'round' found", "give one of elongation"],
    ),
    (
        lambda _: pliant.simulate(four_bar(), 0.1, closure="springs", closure_prestretch=0.5),
        ["closure_prestretch: 0.5 found", "give true or false"],
    ),
    (lambda _: torn(), ["velocities at the start tear loop", "keep fewer joints"]),
    # files
    (nested, ["deep.toml", "nested deeper than", "no model needs that"]),
    (unclosed, ["deep.toml", "bracket"]),
    (unreadable, ["loop.toml", "cannot be read", "symbolic links"]),
    (read_only_disk, ["arm.toml", "cannot be written (Read-only file system)", "choose another place"]),
    (lambda folder: pliant.save_model(arm(), folder / "no" / "arm.toml"), ["arm.toml", "no such folder"]),
    # calls
    (
        lambda _: pliant.simulate_many(arm(), 0.1, q0=np.zeros((2, 3, 1))),
        ["q0: shape (2, 3, 1) found", "one row per run"],
    ),
    (lambda _: pliant.simulate(arm(), 0.1, q0=np.zeros((2, 1))), ["q0: shape (2, 1) found", "(1,) expected: elbow"]),
    (
        lambda _: pliant.simulate(arm(controllers=[Controller("hold", 0.01, ["elbow"], "mine.py:hold")]), 0.1),
        ["controller 'hold'", "'mine.py:hold' is text", "give the Python function itself"],
    ),
    (
        lambda _: pliant.simulate(arm(controllers=[Controller("hold", 1e-13, ["elbow"], lambda t, x: 0.0)]), 0.1),
        ["controller 'hold': period 1e-13 s", "give at least 1e-8 s"],
    ),
    # results
    (lambda _: result().column("elbo"), ["no column 'elbo'", "there are time, elbow"]),
    (lambda _: result().at("now"), ["t = 'now' is no time", "give a number of seconds"]),
    (lambda _: without_rows().plot(), ["plot", "no rows", "nothing to draw"]),
    (lambda folder: without_motion().video(folder / "a.gif"), ["video", "ended at its start"]),
    (lambda folder: result(dense=False).video(folder / "a.gif"), ["video", "no dense output", "dense=True"]),
    (lambda folder: result().video(folder / "a.gif", speed=1e-9), ["frames; the most are", "raise speed"]),
    (lambda folder: result().video(folder / "a.gif", fps=-1), ["video: fps: -1 found", "a number above 0"]),
    (lambda folder: result().video(folder / "a.gif", size=(1, 1)), ["video: size 1 x 1", "64 x 64"]),
    (lambda folder: result().video(folder / "a.gif", size=7), ["video: size: 7 found", "(width, height)"]),
]


def undriven():
    model = four_bar()
    return replace(model, joints=[replace(joint, motor=None) for joint in model.joints])


def at_rest():
    q, v = pliant.assemble(undriven())
    return q, 0 * v, 0 * v


@pytest.mark.parametrize(("make", "expected"), MISTAKES)
def test_message_says_where_what_and_what_to_do(make, expected, tmp_path):
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ModelError) as caught:
        make(tmp_path)
    for words in expected:
        assert words in str(caught.value), str(caught.value)
    assert not [path for path in tmp_path.rglob("*.gif") if path not in before]


# --- the command line ---------------------------------------------------------------------------------------------


def folder_with_mistakes(folder):
    """Files of all sorts, none of which is a model."""
    (folder / "bad.toml").write_text('name = "arm"\nbodies = [\n')
    (folder / "binary.toml").write_bytes(b"\xff\xfe\x00\x01")
    (folder / "empty.toml").write_text("")
    (folder / "empty.urdf").write_text("")
    (folder / "nan.toml").write_text('name = "arm"\n[[bodies]]\nname = "a"\nmass = nan\n')
    (folder / "notes.txt").write_text("hello")
    (folder / "models").mkdir()
    (folder / "file").write_text("")
    (folder / "arm.toml").write_text((EXAMPLES / "arm.toml").read_text())


COMMANDS = [
    (("run", "no-such-case"), ["no case and no file 'no-such-case'", "cases:", ".toml"]),
    (("run", "missing.toml"), ["missing.toml", "no such file", "arm.toml"]),
    (("run", "models"), ["models", "folder", "give a model file"]),
    (("run", "."), ["folder", "give a model file"]),
    (("run", "bad.toml"), ["bad.toml", "end of document", "bracket"]),
    (("run", "binary.toml"), ["binary.toml", "UTF-8"]),
    (("run", "empty.toml"), ["empty.toml"]),
    (("run", "empty.urdf"), ["empty.urdf"]),
    (("run", "nan.toml"), ["nan.toml", "mass: found nan", "finite"]),
    (("run", "notes.txt"), ["notes.txt", "ends in .txt", ".toml", ".urdf"]),
    (("run", "arm.toml", "--set", "rtol"), ["--set 'rtol'", "KEY=VALUE"]),
    (("run", "arm.toml", "--set", "=3"), ["--set '=3'", "KEY=VALUE"]),
    (("run", "arm.toml", "--set", "rtol=1e-8", "--set", "rtol=1e-9"), ["--set rtol: given twice", "give it once"]),
    (("run", "arm.toml", "--set", "mass=3"), ["--set mass", "allowed"]),
    (("run", "arm.toml", "--set", "duration=inf"), ["duration", "inf", "finite"]),
    (("run", "arm.toml", "--set", "duration=-1"), ["duration", "-1"]),
    (("run", "arm.toml", "--set", "rtol=nan"), ["rtol", "nan"]),
    (("run", "arm.toml", "--set", "integrator=euler"), ["integrator", "'euler'", "dop853"]),
    (("run", "arm.toml", "--set", "formulation=newton"), ["formulation", "'newton'", "articulated"]),
    (("run", "arm.toml", "--set", "closure=glue"), ["closure", "'glue'", "multipliers"]),
    (("run", "arm.toml", "--out", "file"), ["--out file", "name a folder"]),
    (("run", "arm.toml", "--out", "file/inside"), ["--out file/inside", "name a folder"]),
    (("run", "arm.toml", "--video", "file/a.gif"), ["--video file", "name a folder"]),
    (("run", "arm.toml", "--video", "models"), ["models", ".mp4 or .gif"]),
    (("run", "arm.toml", "--export", "file/a.csv"), ["--export file", "name a folder"]),
    (("cases", "arm.toml"), ["'arm.toml' names a file", "pliant run arm.toml"]),
    (("schema", "--out", "models"), ["models", "folder"]),
    (("modes", "--out", "file"), ["--out file"]),
    (("lab", "contact", "--set", "laws=soft"), ["laws", "soft", "hertz"]),
    (("lab", "contact", "--set", "restitution=2"), ["restitution", "2.0", "at most 1"]),
    (("run",), ["CASE_OR_FILE"]),
    (("run", "arm.toml", "--sett", "a=1"), ["--sett", "--set"]),
    (("fly",), ["fly"]),
    (("run", "arm.toml", "--export", "models.csv", "--video", "x.avi"), ["x.avi", ".mp4 or .gif"]),
]


@pytest.mark.parametrize(("words", "expected"), COMMANDS, ids=[" ".join(words) for words, _ in COMMANDS])
def test_command_exits_with_2_and_one_clear_line(words, expected, tmp_path):
    folder_with_mistakes(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    done = pliant_command(*words, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    for word in expected:
        assert word in done.stderr, done.stderr
    if not done.stderr.startswith("Usage"):
        assert done.stderr.startswith("pliant: ")
        # one line per mistake
        assert done.stderr.count("\n") == 1 + (words[-1] == "empty.toml"), done.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_folder_without_permission_is_refused(tmp_path, monkeypatch):
    from pliant import files

    monkeypatch.setattr(files.os, "access", lambda *_: False)  # root may write everywhere
    with pytest.raises(ModelError, match=r"--video .*: no permission to write there; name another folder"):
        files.make_folder(tmp_path, "--video")


def test_page_without_plotly_says_what_to_install(monkeypatch):
    from pliant.view.page import report

    monkeypatch.setattr(report, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"report page needs the package plotly.*pip install plotly"):
        report.plotly_script()

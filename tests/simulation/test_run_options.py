"""Options of a run: one table for calls, files and the command line; what a model file says of its own run."""

import dataclasses
import inspect
import itertools
import math
import pickle
import re
import shutil

import jsonschema
import numpy as np
import pytest
from scipy.special import ellipk

import pliant
from paths import EXAMPLES
from pliant import Body, GeneralisedAlpha, Joint, Model, ModelError, Radau, Rod
from pliant.cases.case import all_cases
from pliant.cases.chosen_run import RUN_SETTINGS
from pliant.command.job import prepare_job
from pliant.engine.run_options import FILE_OPTIONS, RUN_OPTIONS, usual_atol
from pliant.io.toml import load_model, save_model, schema
from pliant.methods import PARAMETERS
from pliant.simulation.options import check_options, with_values

ARM = """
name = "arm"
[[bodies]]
name = "rod"
mass = 1.0
shape = { kind = "rod", length = 1.0, radius = 0.01 }
[[joints]]
name = "hinge"
kind = "revolute"
child = "rod"
axis = [0, 1, 0]
"""
RUN = """
[run]
duration = 0.02
integrator = { kind = "generalised_alpha", rho_inf = 0.6 }
step = 1e-3
rtol = 1e-6
"""


def write(tmp_path, text):
    path = tmp_path / "arm.toml"
    path.write_text(ARM + text)
    return path


def arm(**more):
    return Model("arm", (Body("rod", 1.0, shape=Rod(1.0, 0.01)),), (Joint("hinge", "revolute", "rod"),), **more)


def test_simulate_has_every_option_of_the_table_and_takes_the_defaults_from_it():
    found = inspect.signature(pliant.simulate).parameters
    others = {"model", "q0", "v0", "start", "progress", "moved"}
    assert [name for name in found if name not in others] == list(RUN_OPTIONS)
    assert all(found[name].default is None for name in RUN_OPTIONS)
    options = check_options(arm(), duration=1.0)
    for name, row in RUN_OPTIONS.items():
        if row.default not in (None, "auto"):
            assert options[name] == row.default


def test_the_command_line_has_every_option_and_parameter():
    assert list(RUN_SETTINGS) == [*FILE_OPTIONS, *PARAMETERS]
    for name in FILE_OPTIONS:
        assert RUN_SETTINGS[name].help == RUN_OPTIONS[name].words


def test_a_file_says_how_its_model_is_run(tmp_path):
    model = load_model(write(tmp_path, RUN))
    assert model.duration == 0.02
    assert model.run == {"integrator": {"kind": "generalised_alpha", "rho_inf": 0.6}, "step": 1e-3, "rtol": 1e-6}
    result = pliant.simulate(model)
    assert result.methods.integrator == GeneralisedAlpha(rho_inf=0.6)
    assert (result.settings["step"], result.settings["rtol"], result.t[-1]) == (1e-3, 1e-6, 0.02)
    plain = pliant.simulate(arm_like(model), 0.02, integrator=GeneralisedAlpha(rho_inf=0.6), step=1e-3, rtol=1e-6)
    assert (plain.q == result.q).all()


def arm_like(model):
    return dataclasses.replace(model, run={}, duration=None)


def test_calls_and_the_command_line_have_the_last_word(tmp_path):
    path = write(tmp_path, RUN)
    model = load_model(path)
    options = check_options(model, duration=1.0, integrator="radau", rtol=1e-8)
    assert (options["duration"], options["integrator"], options["rtol"], options["step"]) == (1.0, Radau(), 1e-8, 1e-3)
    job = prepare_job(str(path), {"rho_inf": "0.3", "step": "0.002"}, tmp_path / "out")
    options = check_options(job.model, **with_values(job.model, job.options))
    assert (options["integrator"], options["step"]) == (GeneralisedAlpha(rho_inf=0.3), 0.002)


def test_a_saved_model_keeps_its_run(tmp_path):
    model = arm(duration=2.0, run={"rtol": 1e-6, "closure": {"kind": "springs", "prestretch": True}, "max_steps": 10})
    save_model(model, tmp_path / "saved.toml")
    assert load_model(tmp_path / "saved.toml") == model
    assert pickle.loads(pickle.dumps(model)) == model
    assert hash(model.run) == hash(pickle.loads(pickle.dumps(model)).run)
    with pytest.raises(TypeError, match="frozen"):
        model.run["rtol"] = 1.0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[run]\nrtol = 2.0", "arm.toml: run.rtol: 2.0 found; give a number above 1e-16 and below 1"),
        ("[run]\nrtool = 1e-6", "arm.toml: run: unknown key 'rtool'; did you mean 'rtol'? allowed: duration"),
        ("[run]\ndense = true", "arm.toml: run: unknown key 'dense'"),
        ("[run]\nintegrator = 'radua'", "arm.toml: run.integrator: integrator 'radua' is not known; did you mean"),
        ("[run]\nintegrator = { kind = 'radau', rho_inf = 1 }", "run.integrator: rho_inf has no effect"),
        (
            "[run]\nintegrator = { kind = 'hht', alpha = 1 }",
            "run.integrator: alpha: 1 found; give a number",
        ),
        ("[run]\nrho_inf = 0.5", 'integrator = { kind = "generalised_alpha", rho_inf = 0.5 }'),
        ("[run]\nmemory = 'much'", "arm.toml: run.memory: 'much' found; give a size such as"),
        ("[run]\nduration = -1", "arm.toml: run.duration: found -1; give a number above 0 [s]"),
        ("[run]\nduration = [1]", "arm.toml: run: duration: found [1]; give a number, a text, or a table"),
        ("[[run]]\nrtol = 1e-6", "arm.toml: run: found [{'rtol': 1e-06}]; give a table of options of the run"),
    ],
)
def test_a_wrong_run_is_refused_when_it_is_loaded(tmp_path, text, words):
    with pytest.raises(ModelError, match=re.escape(words)):
        load_model(write(tmp_path, text))


def test_duration_stands_in_one_place():
    assert arm(run={"duration": 2}).duration == 2.0
    assert arm(duration=2.0, run={"duration": 2.0}).run == {}
    with pytest.raises(ModelError, match="duration is given twice, 1 s and in run 2 s; give it once"):
        arm(duration=1.0, run={"duration": 2.0})


def test_a_wrong_run_made_in_python_is_refused_before_it_begins():
    with pytest.raises(ModelError, match=r"run\.step: -1 found; give a number above 0 \[s\], or \"off\""):
        pliant.simulate(arm(run={"step": -1}), 1.0)
    with pytest.raises(ModelError, match=r"integrator: found Radau\(\); give a number, a text, or a table of them"):
        arm(run={"integrator": Radau()})


@pytest.mark.parametrize("name", ["step", "max_step", "sample"])
def test_a_call_switches_off_what_a_file_says(tmp_path, name):
    model = arm(run={name: 1e-3})
    assert check_options(model, duration=1.0)[name] == 1e-3
    assert check_options(model, duration=1.0, **{name: "off"})[name] is None
    assert check_options(arm(run={name: "off"}), duration=1.0)[name] is None
    save_model(model, tmp_path / "arm.toml")
    job = prepare_job(str(tmp_path / "arm.toml"), {name: "off", "duration": "1"}, tmp_path / "out")
    assert check_options(job.model, **job.options)[name] is None
    with pytest.raises(ModelError, match=rf'{name}: .on. found; give a number above 0 \[s\], or "off"'):
        pliant.simulate(model, 1.0, **{name: "on"})


def test_error_control_is_back_where_the_fixed_step_of_a_file_is_off():
    model = arm(run={"step": 1e-2})
    free, fixed = (pliant.simulate(model, 0.1, **options) for options in ({"step": "off"}, {}))
    assert len(fixed.t) == 11
    assert len(free.t) != 11
    with pytest.raises(ModelError, match="has no error control; give a fixed step"):
        pliant.simulate(model, 0.1, integrator="rk4", step="off")


def test_the_schema_knows_the_run():
    check = jsonschema.Draft202012Validator(schema()["properties"]["run"])
    assert check.is_valid({"rtol": 1e-6, "integrator": {"kind": "newmark", "beta": 0.3}, "closure": "springs"})
    assert check.is_valid({"step": 1e-3, "sample": "off"})
    for wrong in (
        {"rtol": 2.0},
        {"step": 0},
        {"step": "on"},
        {"rtool": 1.0},
        {"integrator": "radua"},
        {"integrator": {"kind": "hht", "beta": 1}},
    ):
        assert not check.is_valid(wrong)


def test_a_sidecar_says_how_its_robot_is_run(tmp_path):
    shutil.copy(EXAMPLES / "lifter.urdf", tmp_path)
    (tmp_path / "lifter.toml").write_text('robot = "lifter.urdf"\n[run]\nduration = 0.5\nrtol = 1e-5\n')
    model = pliant.load(tmp_path / "lifter.toml")
    assert (model.duration, model.run) == (0.5, {"rtol": 1e-5})


# --- tolerances ------------------------------------------------------------------------------------------------------


def pendulum():
    """Point mass, 1 m, from the horizontal: after a period it is back where it began."""
    body = pliant.Body("bob", 1.0, com=(1.0, 0.0, 0.0))
    return pliant.Model("pendulum", [body], [pliant.Joint("hinge", "revolute", "bob")], gravity=(0, -9.81, 0))


def test_the_error_of_a_smooth_run_falls_with_rtol_alone():
    """Period 4 K(sin(45 deg)) sqrt(l/g) of a swing of 90 degrees to both sides."""
    period = 4.0 * ellipk(0.5) / math.sqrt(9.81)
    tolerances = [1e-4, 1e-6, 1e-8, 1e-10, 1e-12]
    errors = [np.abs(pliant.simulate(pendulum(), period, rtol=rtol).q[-1, 0]) for rtol in tolerances]
    # the error after some steps is a few times that of one, and rounding of 1e-14 is reached last
    assert all(error < 100.0 * rtol for error, rtol in zip(errors, tolerances, strict=True))
    assert errors[-1] < 1e-11
    assert all(later < 0.2 * before for before, later in itertools.pairwise(errors))


def test_atol_follows_rtol_where_it_is_not_given():
    ruled = lambda **options: check_options(arm(), duration=1.0, **options)["atol"]  # noqa: E731
    assert [ruled(rtol=rtol) for rtol in (1e-3, 1e-8, 1e-10, 3e-11, 1e-13)] == [1e-10, 1e-10, 1e-12, 3e-13, 1e-15]
    assert ruled(rtol=1e-15) == 1e-15  # rounding
    assert ruled() == RUN_OPTIONS["atol"].default
    assert ruled(rtol=1e-12, atol=1e-10) == 1e-10
    assert check_options(arm(run={"atol": 1e-9}), duration=1.0, rtol=1e-12)["atol"] == 1e-9
    assert check_options(arm(run={"rtol": 1e-12}), duration=1.0)["atol"] == 1e-14


def test_a_run_says_which_atol_ruled(tmp_path):
    result = pliant.simulate(pendulum(), 0.1, rtol=1e-11)
    assert result.settings["atol"] == 1e-13
    result.report(tmp_path / "report.html")
    said = (tmp_path / "report.html").read_text(encoding="utf-8").partition("absolute tolerance")[2][:100]
    assert "10\u207b\u00b9\u00b3 rad" in said


def test_cases_whose_atol_is_the_usual_one_do_not_say_it():
    for case in all_cases().values():
        assert case.run.get("atol") is None or case.run["atol"] != usual_atol(case.run["rtol"]), case.name

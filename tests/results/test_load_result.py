"""Results that are loaded again, and runs that go on where another ended."""

import dataclasses
import json
import os
import sys

import h5netcdf
import numpy as np
import pytest

import pliant
from pliant import (
    PD,
    Beam,
    Bending,
    Body,
    Contact,
    Controller,
    Crossing,
    Cycloid,
    Frame,
    Friction,
    Joint,
    Limit,
    Material,
    Model,
    ModelError,
    NormalLaw,
    Output,
    Plane,
    Rectangle,
    Rod,
    Table,
)
from pliant.io.result_file import _tables, described_model
from pliant.methods import INTEGRATORS
from rich_model import rich
from zoo import ZOO

PERIOD = 0.01
LUGRE = Friction("lugre", 0.1, mu_s=0.2, v_s=0.01, sigma0=1e4, sigma1=30.0, load=2.0)
SENSORS = {"noise": 1e-4, "delay": 1.3 * PERIOD, "rates": "differences", "limit": 20.0}


def hold(t, measured):
    """A servo at the top level of a file."""
    angle, rate = measured["hinge"]
    return {"hinge": 30.0 * (0.5 - angle) - 2.0 * rate}


def arm(**controller):
    """Bounces on a floor with friction, has bristles in its elbow and a servo that measures badly and acts late."""
    controller = controller or {"law": PD(30.0, 2.0, reference=0.5)}
    return Model(
        "arm",
        [Body("upper", 1.0, shape=Rod(0.8)), Body("lower", 0.5, shape=Rod(0.5))],
        [
            Joint("hinge", "revolute", "upper", q0=0.4),
            Joint("elbow", "revolute", "lower", parent=Frame("upper", (0.8, 0, 0)), friction=LUGRE),
        ],
        gravity=(0, -9.81, 0),
        frames=[Frame("lower", (0.5, 0, 0), name="tip")],
        contacts=[
            Contact(
                "floor",
                NormalLaw("flores", 1e5, restitution=0.6),
                Plane(normal=(0, 1, 0), offset=-0.3),
                friction=Friction("coulomb", 0.3),
            )
        ],
        outputs=[Output("tip", "tip", "position"), Output("push", "floor", "contact")],
        controllers=[Controller("servo", PERIOD, ("hinge",), **SENSORS, **controller)],
    )


def whip():
    """A beam on a driven hub over two stops, one of them in contact for long."""
    blade = Beam("blade", 1.0, Material(7e10, 2700.0), Rectangle(0.01, 0.03), bending_y=Bending(2, "cf"))
    stop = Limit(lower=-0.3, upper=0.6, stiffness=200.0, damping=1.0)
    return Model("whip", [blade], [Joint("hub", "revolute", "blade", armature=0.05, limit=stop)], gravity=(0, -9.81, 0))


def same(one, other):
    """Rows of two results, and all that belongs to them."""
    for name in ("t", "q", "v", "inputs"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for name, values in {**one.energy, **one.outputs}.items():
        np.testing.assert_array_equal(values, {**other.energy, **other.outputs}[name])
    assert one.events == other.events
    np.testing.assert_array_equal(one.contacts, other.contacts)


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def result():
    return pliant.simulate(arm(), 0.95)


@pytest.fixture
def saved(result, tmp_path):
    result.save(tmp_path / "result.nc")
    return tmp_path / "result.nc"


def test_a_loaded_result_is_the_one_that_was_saved_to_the_last_bit(result, saved):
    loaded = pliant.load_result(saved)
    same(result, loaded)
    assert loaded.model == result.model
    for name in ("status", "reason", "audit", "stats", "settings", "integrators", "methods", "warnings", "citations"):
        assert getattr(loaded, name) == getattr(result, name), name
    t = np.linspace(0.0, 0.95, 333)
    np.testing.assert_array_equal(loaded.state_at(t), result.state_at(t))
    np.testing.assert_array_equal(loaded.outputs_at(t)["push"], result.outputs_at(t)["push"])
    np.testing.assert_array_equal(loaded.contact_forces(t).normal, result.contact_forces(t).normal)
    assert repr(loaded) == repr(result)


def test_a_loaded_result_makes_the_same_page_and_file(result, saved, tmp_path):
    loaded = pliant.load_result(saved)
    for name, each in (("one", result), ("two", loaded)):
        each.report(tmp_path / f"{name}.html", title="arm")
        each.to_csv(tmp_path / f"{name}.csv")
    assert (tmp_path / "one.html").read_text() == (tmp_path / "two.html").read_text()
    assert (tmp_path / "one.csv").read_text() == (tmp_path / "two.csv").read_text()


def test_results_without_contacts_events_commands_or_dense_output_are_loaded_too(tmp_path):
    model = Model("rod", [Body("rod", 1.0, shape=Rod(1.0))], [Joint("hinge", "revolute", "rod")], gravity=(0, -9.81, 0))
    result = pliant.simulate(model, 0.1, dense=False)
    result.save(tmp_path / "rod.nc")
    loaded = pliant.load_result(tmp_path / "rod.nc")
    same(result, loaded)
    with pytest.raises(ModelError, match="kept no dense output"):
        loaded.at(0.05)
    ended = pliant.simulate(model, 0.1, start=loaded)
    assert ended.t[0] == 0.1
    assert ended.t[-1] == 0.2


@pytest.mark.parametrize("name", ZOO)
def test_a_run_goes_on_from_the_end_of_any_model(name, tmp_path):
    """From the result itself and from its file, with the same bits."""
    first = pliant.simulate(ZOO[name], 0.01)
    first.save(tmp_path / "first.nc")
    ends = [pliant.simulate(ZOO[name], 0.01, start=each) for each in (first, pliant.load_result(tmp_path / "first.nc"))]
    assert [end.t[-1] for end in ends] == [0.02, 0.02]
    assert np.array_equal(ends[0].q[-1], ends[1].q[-1])
    assert np.array_equal(ends[0].v[-1], ends[1].v[-1])


def test_methods_with_parameters_come_back(tmp_path):
    model = pliant.load("four-bar")
    result = pliant.simulate(
        model, 0.05, integrator=pliant.GeneralisedAlpha(rho_inf=0.7), step=1e-3, closure=pliant.Implicit()
    )
    result.save(tmp_path / "loop.nc")
    assert pliant.load_result(tmp_path / "loop.nc").methods == result.methods


def test_every_model_travels_in_its_result(tmp_path):
    """The tables of a model file hold one of everything; numbers go through JSON without loss."""
    model = rich()
    row = dataclasses.make_dataclass("Row", ["model"])(model)
    assert described_model(tmp_path, json.loads(json.dumps(_tables(row)))) == model


def test_python_controllers_travel_by_name(tmp_path):
    for function, label in (
        (hold, "test_load_result.py:hold"),
        (lambda t, measured: [0.0], "test_load_result.py:function"),
    ):
        model = arm(function=function)
        pliant.simulate(model, 0.05).save(tmp_path / "arm.nc")
        loaded = pliant.load_result(tmp_path / "arm.nc")
        assert loaded.model.controllers[0].function == label
        pliant.simulate(model, 0.01, start=loaded)
        with pytest.raises(ModelError, match="is text, which only model files resolve"):
            pliant.simulate(loaded.model, 0.01, start=loaded)


def test_files_that_are_no_results_are_refused_with_a_sentence(saved, tmp_path):
    def refused(path, words):
        with pytest.raises(ModelError, match=words):
            pliant.load_result(path)

    refused(tmp_path / "missing.nc", "there is no such file")
    refused(tmp_path, "this is a folder")
    (tmp_path / "text.nc").write_text("no NetCDF")
    refused(tmp_path / "text.nc", r"text.nc: this is no NetCDF file, or only a part of one")
    (tmp_path / "half.nc").write_bytes(saved.read_bytes()[: saved.stat().st_size // 2])
    refused(tmp_path / "half.nc", r"no NetCDF file, or only a part of one")
    with h5netcdf.File(tmp_path / "other.nc", "w") as file:
        file.dimensions["x"] = 2
        file.create_variable("time", ("x",), data=np.zeros(2))
    refused(tmp_path / "other.nc", "of another program, or of a pliant whose results could not be loaded yet")


def test_files_of_a_newer_format_are_refused(saved):
    with h5netcdf.File(saved, "a") as file:
        file.attrs["format_version"] = 2
    with pytest.raises(ModelError, match="it has format 2, and this version of pliant reads results up to format 1"):
        pliant.load_result(saved)
    with h5netcdf.File(saved, "a") as file:
        file.attrs["format_version"], file.attrs["pliant"] = 0, "7.3.1"
    with pytest.raises(ModelError, match=r"it has format 0, .*; install pliant 7\.3\.1, which wrote it"):
        pliant.load_result(saved)


@pytest.mark.parametrize("change", ["q", "run/dense_terms", "status", "run"])
def test_one_changed_number_or_fact_is_damage(saved, change):
    with h5netcdf.File(saved, "a") as file:
        if change == "status":
            file.attrs["status"] = "failed"
        elif change == "run":
            del file._h5file["run"]
        else:
            file._h5file[change][0, 0] = 1.5
    with pytest.raises(ModelError, match=r"result.nc: the file is damaged: it does not hold what was written"):
        pliant.load_result(saved)


@pytest.mark.parametrize("at", range(0, 100, 7))
def test_no_flipped_byte_changes_a_result_in_silence(result, saved, at):
    """Wherever it is: it is refused, or it was a byte that says nothing."""
    data = bytearray(saved.read_bytes())
    data[at * len(data) // 100] ^= 0xFF
    saved.write_bytes(data)
    try:
        loaded = pliant.load_result(saved)
    except ModelError:
        return
    same(result, loaded)


def test_hdf5_sees_no_byte_of_a_damaged_file(result, saved, monkeypatch):
    """It may loop for ever over one; nor of a file without a seal, before another process has read that to its end."""
    read = []
    monkeypatch.setattr(
        "pliant.io.checked_arrays.run_limited", lambda *given, **more: read.append("by another process")
    )
    opened = h5netcdf.File
    monkeypatch.setattr(h5netcdf, "File", lambda *given, **more: (read.append("here"), opened(*given, **more))[1])
    whole = saved.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(20):
        data = bytearray(whole)
        for place in rng.integers(0, len(data) - 100, 33):  # the seal itself stays
            data[place] ^= int(rng.integers(1, 256))
        saved.write_bytes(data)
        with pytest.raises(ModelError, match="the file is damaged"):
            pliant.load_result(saved)
    assert read == []
    saved.write_bytes(whole)
    pliant.load_result(saved)
    assert read == ["here"]
    saved.write_bytes(whole[:-1])
    same(result, pliant.load_result(saved))
    assert read == ["here", "by another process", "here"]


def test_a_file_without_a_seal_over_which_hdf5_does_not_end_is_refused(saved, monkeypatch):
    """A damaged file of an earlier version: the process that reads it may take so long, and no longer."""
    monkeypatch.setattr("pliant.io.checked_arrays.TRIAL_SECONDS", 0)
    monkeypatch.setattr("pliant.io.checked_arrays.TRIAL_RATE", 1e9)
    monkeypatch.setattr("pliant.io.limited.SECONDS", 1)
    monkeypatch.setattr("pliant.io.limited.python_process", lambda: ([sys.executable, "-c", ENDLESS], dict(os.environ)))
    saved.write_bytes(saved.read_bytes()[:-1])
    with pytest.raises(ModelError, match="no NetCDF file, or only a part of one"):
        pliant.load_result(saved)


ENDLESS = "import time; time.sleep(100)"


# --- going on ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "controller", [{"law": PD(30.0, 2.0, reference=0.5)}, {"function": hold}], ids=["law", "function"]
)
@pytest.mark.parametrize("through_file", [False, True], ids=["in memory", "through a file"])
def test_one_run_of_two_seconds_is_two_runs_of_one(controller, through_file, tmp_path):
    """Through impacts, sticking, bristles, noise and delay, to the last bit: a sample ends a step at 1 s in both."""
    model = arm(**controller)
    whole, first = pliant.simulate(model, 2.0), pliant.simulate(model, 1.0)
    if through_file:
        first.save(tmp_path / "first.nc")
        first = pliant.load_result(tmp_path / "first.nc")
    second = pliant.simulate(model, 1.0, start=first)
    assert second.t[0] == first.t[-1] == 1.0
    rows = whole.t >= 1.0
    for name in ("t", "q", "v", "inputs"):
        np.testing.assert_array_equal(getattr(second, name), getattr(whole, name)[rows], name)
    for name, values in whole.energy.items():
        np.testing.assert_array_equal(second.energy[name], values[rows], name)
    assert (*first.events, *second.events) == whole.events
    log = np.concatenate([first.contacts[~np.isnan(first.contacts.t_end)], second.contacts])
    assert len(whole.contacts) > 3
    np.testing.assert_array_equal(log["t_start"], whole.contacts["t_start"])
    assert second.audit["energy_residual"] < 1e-7


def test_a_contact_that_lasts_over_the_seam_is_one_contact():
    """Its beginning, impulse, work and peak are those of the whole run; quadratures agree within the tolerance, for the
    seam ends a step."""
    model = arm()
    whole = pliant.simulate(model, 1.0, rtol=1e-10)
    longest = whole.contacts[np.nanargmax(whole.contacts.t_end - whole.contacts.t_start)]
    middle = 0.5 * (longest.t_start + longest.t_end)
    first = pliant.simulate(model, middle, rtol=1e-10)
    second = pliant.simulate(model, 1.0 - middle, rtol=1e-10, start=first)
    joined = second.contacts[0]
    assert joined.t_start == pytest.approx(longest.t_start, abs=1e-9)
    assert joined.t_start < second.t[0]
    for name in ("t_end", "v_in", "v_out", "peak_normal", "impulse", "work", "restitution_delivered"):
        assert joined[name] == pytest.approx(longest[name], rel=1e-5), name


@pytest.mark.parametrize("method", [each for each in INTEGRATORS if each.name != "auto"], ids=lambda each: each.name)
def test_fixed_steps_go_on_as_if_nothing_had_been(method):
    """One-step methods to rounding; those with a past begin anew, which is an error of their order."""
    model, step = whip(), 5e-5
    whole = pliant.simulate(model, 0.2, integrator=method(), step=step)
    first = pliant.simulate(model, 0.1, integrator=method(), step=step)
    second = pliant.simulate(model, 0.1, integrator=method(), step=step, start=first)
    scale = np.max(np.abs(whole.q), axis=0)
    has_past = method.name not in ("dop853", "bs5", "dopri5", "rkf45", "rk4", "radau")
    np.testing.assert_allclose(second.q[-1] / scale, whole.q[-1] / scale, atol=1e-4 if has_past else 1e-9)


def test_fixed_steps_that_go_on_know_what_energy_there_was():
    """A method beyond its limit of stability is found out, and one that begins fast is not taken for it."""
    model = dataclasses.replace(whip(), joints=(Joint("hub", "revolute", "blade", v0=10.0),))
    first = pliant.simulate(model, 0.05)
    slow = pliant.simulate(model, 0.05, integrator="rk4", step=5e-5, start=first)
    assert slow.status == "done"
    wild = pliant.simulate(model, 0.5, integrator="rk4", step=5e-3, start=first)
    assert wild.status == "failed"
    assert "rk4 is stable only up to omega h" in wild.reason


def test_stops_that_are_pressed_stay_pressed():
    model = whip()
    whole = pliant.simulate(model, 0.5, rtol=1e-11)
    first = pliant.simulate(model, 0.25, rtol=1e-11)
    second = pliant.simulate(model, 0.25, rtol=1e-11, start=first)
    # 1e-11 a step, some thousand steps
    np.testing.assert_allclose(second.q[-1], whole.q[-1], atol=1e-8)


@pytest.mark.parametrize("closure", ["multipliers", "reduced", "springs"])
def test_loops_go_on_closed(closure):
    model = pliant.load("four-bar")
    options = {"closure": closure, "rtol": 1e-10}
    whole, first = pliant.simulate(model, 0.4, **options), pliant.simulate(model, 0.2, **options)
    second = pliant.simulate(model, 0.2, **options, start=first)
    np.testing.assert_allclose(second.q[-1], whole.q[-1], atol=1e-6 if closure == "springs" else 1e-8)


def test_signals_go_on_in_their_time():
    """A table that begins before the run does covers it."""
    motion = Table((0.0, 1.0, 2.0), (0.0, 0.5, 0.0), "natural")
    model = Model("cam", [Body("cam", 1.0, shape=Rod(0.3))], [Joint("shaft", "revolute", "cam", motion=motion)])
    first = pliant.simulate(model, 1.0)
    second = pliant.simulate(model, 1.0, start=first)
    assert second.q[-1, 0] == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(ModelError, match=r"a table from 0 s to 2 s, but the run goes from 1 s to 2.5 s"):
        pliant.simulate(model, 1.5, start=first)


def test_a_run_that_was_stopped_by_a_crossing_goes_on_behind_it():
    model = dataclasses.replace(whip(), crossings=(Crossing("low", "hub", -0.2, "falling", "stop"),))
    first = pliant.simulate(model, 1.0)
    assert first.status == "stopped"
    second = pliant.simulate(model, 0.05, start=first)
    assert second.status == "done"
    assert second.q[-1, 0] < -0.2


def test_where_a_run_cannot_go_on_it_says_why():
    model = whip()
    first = pliant.simulate(model, 0.05)

    def refused(words, model=model, **more):
        with pytest.raises(ModelError, match=words):
            pliant.simulate(model, 0.05, **more)

    refused(r"start: .* found; give the Result of a run of this model", start=first.q)
    refused("start and q0 both say where the run begins; give one of them", start=first, q0=model.q0)
    other = dataclasses.replace(model, gravity=(0, -1.62, 0))
    refused(r"start: gravity of model 'whip' differ from those of the run .* give q0=start.q\[-1\]", other, start=first)
    faster = dataclasses.replace(arm(), controllers=(dataclasses.replace(arm().controllers[0], period=0.02),))
    refused("start: controllers of model 'arm' differ", faster, start=pliant.simulate(arm(), 0.05))
    failed = pliant.simulate(model, 0.05, max_steps=3)
    refused("start: the run it shall go on from failed at t = .*; to begin there anew, give q0", start=failed)
    hard = dataclasses.replace(model, joints=(dataclasses.replace(model.joints[0], limit=Limit(lower=-0.1)),))
    refused("start: the run it shall go on from stopped", hard, start=pliant.simulate(hard, 1.0))
    loaded = dataclasses.replace(first, checkpoint=None)
    refused("the file does not say how its run ended", start=loaded)
    wrong = dataclasses.replace(first, checkpoint=dataclasses.replace(first.checkpoint, y=np.zeros(1)))
    refused("start: its end is not one of this model; run the model anew", start=wrong)


PHASE_OF_ARM = {"is_active": 2, "is_pushing": -1, "branch": 9, "impact_speed": np.nan, "sense": 3.0}
NO_END = {
    "t": [np.nan, np.inf, -1.0, "now", None],
    "h": [-1e-3, np.nan, "x"],
    "t_control": [-5.0, 0.0, np.nan, 1e9, "never"],
    "integrator": [None, 3],
    "counted": [(), (0, 0, 0), (-1, 0, 0, 0), (0, 0, 0, 2**62), None],
    "choice": [{}, [], {"tried": 1}],
    "was_switched": [None, 7],
    "has_moved": ["no"],
    "y": [np.full(6, np.nan), None, np.zeros(2), np.zeros((2, 3)), np.zeros(100, int)],
    "side": [0, 2, -(2**40)],
    "fired": [2, -3, 2**40],
    "inputs": [np.nan, np.inf],
    "control": [np.nan, np.inf],
    "sampled": [None, (1,)],
}


def refused_end(model, result, words="start: its end is not one of this model", **fields):
    wrong = dataclasses.replace(result, checkpoint=dataclasses.replace(result.checkpoint, **fields))
    with pytest.raises(ModelError, match=words):
        pliant.simulate(model, 0.05, start=wrong)


@pytest.mark.parametrize("name", NO_END)
def test_no_kernel_sees_a_field_of_a_checkpoint_that_no_run_ends_with(name):
    """t_control before t ended in a segmentation fault: a control law was called that this model has not."""
    for model in (whip(), arm()):
        result = pliant.simulate(model, 0.095)
        for value in NO_END[name]:
            changed = value
            if name in ("side", "fired", "inputs", "control"):
                changed = getattr(result.checkpoint, name).copy()
                if not len(changed):
                    continue
                changed[-1] = value
            refused_end(model, result, **{name: changed})
        for field, value in PHASE_OF_ARM.items() if name == "y" else ():
            phase = result.checkpoint.phase.copy()
            phase[field][-1] = value
            refused_end(model, result, phase=phase)


def test_queues_and_counts_of_controllers_are_those_of_the_time():
    """One far behind would measure as often as it has missed; what lies beyond a queue is memory of others."""
    model = arm()
    result = pliant.simulate(model, 0.095)
    for field, values in {"n_samples": (-1, 0, 1, 1000, 2**62), "first": (-1, 99), "n_waiting": (-1, 99)}.items():
        for value in values:
            rows = result.checkpoint.controllers.copy()
            rows[field] = value
            refused_end(model, result, controllers=rows)
    python = arm(function=hold)
    result = pliant.simulate(python, 0.095)
    (state,) = result.checkpoint.sampled
    for change in ({"count": 0}, {"count": 10**6}, {"count": "x"}):
        refused_end(python, result, sampled=(dataclasses.replace(state, **change),))
    for change in ({"waiting": ((np.nan, (1.0,)),)}, {"waiting": ((0.1, (1.0, 2.0)),)}, {"waiting": 3}, {"random": {}},
                   {"measured": (1.0,)}):  # fmt: skip
        words = "controller 'servo': what is kept of it is not as a run leaves it"
        refused_end(python, result, words, sampled=(dataclasses.replace(state, **change),))


def test_what_an_implicit_integrator_has_kept_cannot_lead_it_astray():
    """Places among its unknowns are those of this run, whatever a file says."""
    model = whip()
    result = pliant.simulate(model, 0.05, integrator="radau")
    newton = result.checkpoint.newton.copy()
    newton.n_coordinates, newton.n_states, newton.first_rate, newton.rule = 10**9, -5, 10**9, 77
    wrong = dataclasses.replace(result, checkpoint=dataclasses.replace(result.checkpoint, newton=newton))
    good, found = (pliant.simulate(model, 0.05, integrator="radau", start=each) for each in (result, wrong))
    np.testing.assert_array_equal(found.q, good.q)


def test_outputs_name_and_functions_of_controllers_may_change_on_the_way():
    first = pliant.simulate(arm(function=hold), 0.05)
    model = dataclasses.replace(arm(function=lambda t, measured: [0.0]), name="limp", outputs=())
    second = pliant.simulate(model, 0.05, start=first)
    assert second.outputs == {}
    assert second.inputs[-1, 0] == 0.0


def test_a_result_can_be_gone_on_from_with_other_methods_and_motion_agrees():
    model = dataclasses.replace(whip(), joints=(Joint("hub", "revolute", "blade", motion=Cycloid(0.0, 1.0, 0.5)),))
    first = pliant.simulate(model, 0.2, rtol=1e-10)
    ends = [
        pliant.simulate(model, 0.2, start=first, rtol=1e-10, formulation=formulation, integrator=integrator).q[-1]
        for formulation, integrator in (("articulated", "dop853"), ("gibbs_appell", "radau"))
    ]
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-8)

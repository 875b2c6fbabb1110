"""Many runs in one call: each is what simulate alone gives, to the last bit, whatever the number of threads."""

from __future__ import annotations

import io
import itertools
import os
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest

import pliant
from pliant import Body, Contact, Controller, Crossing, Joint, Limit, Model, ModelError, NormalLaw, Output, Plane, Rod
from pliant.simulation import many_runs, run_batch
from pliant_benchmarks import models as bench_models
from zoo import ZOO

CHAIN = bench_models.pliant_model(bench_models.chain(3))
BALL = Model(
    "ball",
    [Body("ball", 1.0)],
    [Joint("drop", "prismatic", "ball", axis=(0, 0, 1), q0=1.0)],
    contacts=[Contact("floor", NormalLaw("hunt-crossley", 1e5, restitution=0.7), Plane(), ("ball",))],
    outputs=[Output("place", "ball", "position"), Output("floor", "floor", "contact")],
)


def pendulum(**joint):
    body = Body("bob", mass=1.0, shape=Rod(1.0))
    return Model("pendulum", [body], [Joint("hinge", "revolute", "bob", q0=0.3, **joint)], gravity=(0, -9.81, 0))


def hold(t, measured):
    return -3.0 * measured["hinge"][0] - measured["hinge"][1]


def fragile(t, measured):
    if measured["hinge"][0] > 0.8:
        raise RuntimeError("too far")
    return 0.1


def deadly(t, measured):
    os._exit(3)


PLACE = (Output("place", "bob", "position"),)
FRAGILE = replace(pendulum(), controllers=(Controller("fragile", 0.02, ("hinge",), fragile),), outputs=PLACE)
DEADLY = replace(pendulum(), controllers=(Controller("deadly", 0.02, ("hinge",), deadly),))
HELD = replace(pendulum(), controllers=(Controller("hold", 0.02, ("hinge",), hold),))
STOPPED = replace(pendulum(), crossings=(Crossing("low", "hinge", -1.0, "falling", "stop"),))

SWEEPS = {
    "chain": (CHAIN, 0.5),
    "contact": (BALL, 1.5),
    "controller": (HELD, 0.5),
    "stop": (STOPPED, 2.0),
    "free": (ZOO["space_robot"], 0.5),
    "flexible": (ZOO["flexible_satellite"], 0.02),
    "driven": (ZOO["driven_crane"], 0.3),
    "limits": (ZOO["stopped_arm"], 0.5),
}


def starts_of(model, runs=9, seed=0):
    """Rows near the model's own start, upwards where a floor may be."""
    rng = np.random.default_rng(seed)
    q = model.q0 + 0.1 * rng.uniform(0, 1, (runs, len(model.q0))) * (np.abs(model.q0) + 0.01)
    return q, model.v0 + 0.1 * rng.normal(size=(runs, len(model.v0)))


@pytest.mark.parametrize("name", SWEEPS)
def test_every_run_has_the_bits_of_simulate_whatever_the_threads(name):
    model, duration = SWEEPS[name]
    Q, V = starts_of(model)
    options = {"rtol": 1e-7, "integrator": "dopri5"}
    one, two, five = (
        pliant.simulate_many(model, duration, q0=Q, v0=V, workers=threads, **options) for threads in (1, 2, 5)
    )
    whole = pliant.simulate_many(model, duration, q0=Q, v0=V, times=[0.0, 0.1 * duration], **options)
    assert one.is_ok.all()
    assert len(one) == 9
    assert one.failed == []
    for i in range(9):
        alone = pliant.simulate(model, duration, q0=Q[i], v0=V[i], **options)
        for runs in (one, two, five, whole):
            assert np.array_equal(runs.q[i], alone.q[-1])
            assert np.array_equal(runs.v[i], alone.v[-1])
            assert (runs.t[i], runs.status[i], runs.reasons[i]) == (alone.t[-1], alone.status, alone.reason)
            assert runs.steps[i] == alone.stats["steps"]
        asked = alone.at(np.array([0.0, 0.1 * duration]))
        assert np.array_equal(whole.q_at[i], asked[0])
        assert np.array_equal(whole.v_at[i], asked[1])
        again = one.result(i)
        assert np.array_equal(again.q, alone.q)
        assert np.array_equal(again.t, alone.t)


def test_runs_of_a_kernel_alone_and_of_simulate_do_not_depend_on_their_order():
    """What a run leaves in memory is not seen by the next one."""
    Q, V = starts_of(BALL, 20)
    there = pliant.simulate_many(BALL, 1.5, q0=Q, v0=V, workers=1)
    back = pliant.simulate_many(BALL, 1.5, q0=Q[::-1], v0=V[::-1], workers=1)
    assert np.array_equal(there.q, back.q[::-1])
    assert np.array_equal(there.v, back.v[::-1])


def test_outputs_at_times_are_those_of_the_results():
    Q, V = starts_of(BALL, 4)
    times = np.array([0.1, 0.46, 0.47, 1.0])
    runs = pliant.simulate_many(BALL, 1.0, q0=Q, v0=V, times=times, keep_results=True)
    for i in range(4):
        kept = runs.result(i)
        assert kept is runs.results[i]
        for name, values in kept.outputs_at(times).items():
            assert np.array_equal(runs.outputs[name][i], values)
    assert runs.outputs["place"].shape == (4, 4, 3)


def test_models_and_starts_are_paired():
    settings, models = pliant.load_grid("two-link-arm", force=[0.0, 0.2], mass=0.3)
    assert settings == [{"force": 0.0, "mass": 0.3}, {"force": 0.2, "mass": 0.3}]
    runs = pliant.simulate_many(models)
    for i, model in enumerate(models):
        alone = pliant.simulate(model)
        assert np.array_equal(runs.q[i], alone.q[-1])
        assert runs.t[i] == alone.t[-1]
    start = np.array([0.1, 0.2])
    shared = pliant.simulate_many(models, q0=start)
    assert np.array_equal(shared.q0, [start, start])
    assert np.array_equal(shared.q[1], pliant.simulate(models[1], q0=start).q[-1])


def test_a_grid_has_every_combination():
    settings, models = pliant.load_grid("two-link-arm", force=np.array([0.0, 0.1, 0.2]), mass=[0.1, 0.2])
    assert [each["force"] for each in settings] == [0.0, 0.0, 0.1, 0.1, 0.2, 0.2]
    assert [model.bodies[0].total_mass for model in models] == [0.1, 0.2] * 3


# --- failure ----------------------------------------------------------------------------------------------------


def test_a_run_that_fails_keeps_its_reason_and_stops_no_other():
    """One starts inside the floor, one meets more steps than allowed where it bounces, the others only fall."""
    Q = np.array([[10.0], [-0.1], [0.01], [20.0]])
    runs = pliant.simulate_many(BALL, 1.0, q0=Q, max_steps=40, workers=2)
    assert runs.status.tolist() == ["done", "failed", "failed", "done"]
    assert "more than max_steps" in runs.reasons[2]
    assert "0.1 m inside its plane" in runs.reasons[1]
    assert runs.t[1] == 0.0
    assert np.array_equal(runs.q[1], Q[1])
    assert "done" in repr(runs)
    assert "run 1: start: point" in repr(runs)
    fine = pliant.simulate_many(CHAIN, 1.0, q0=np.tile(CHAIN.q0, (3, 1)), max_steps=5)
    assert set(fine.status) == {"failed"}
    assert all("more than max_steps" in reason for reason in fine.reasons)
    assert fine.failed == [0, 1, 2]
    assert np.array_equal(fine.q[0], pliant.simulate(CHAIN, 1.0, max_steps=5).q[-1])


def test_a_start_beyond_a_hard_limit_fails_alone():
    model = pendulum(limit=Limit(lower=-2.0, upper=2.0))
    runs = pliant.simulate_many(model, 0.2, q0=[[0.1], [2.5], [0.2]])
    assert runs.status.tolist() == ["done", "failed", "done"]
    assert "beyond its limit 2" in runs.reasons[1]


def test_a_controller_that_fails_is_told_by_its_run():
    def fragile(t, measured):
        if measured["hinge"][0] > 0.5:
            raise RuntimeError("too far")
        return 0.0

    model = replace(HELD, controllers=(Controller("fragile", 0.02, ("hinge",), fragile),))
    runs = pliant.simulate_many(model, 0.1, q0=[[0.1], [0.6], [0.2]])
    assert runs.status.tolist() == ["done", "failed", "done"]
    assert "controller 'fragile' failed" in runs.reasons[1]
    assert "too far" in runs.reasons[1]


def test_a_models_own_bad_start_does_not_matter_if_starts_are_given():
    below = replace(BALL, joints=(replace(BALL.joints[0], q0=-0.5),))
    assert pliant.simulate_many(below, 0.5, q0=[[1.0], [0.5]]).is_ok.all()


def test_times_that_a_run_did_not_reach_are_nan():
    runs = pliant.simulate_many(STOPPED, 2.0, q0=[[0.3]], times=[0.1, 1.9])
    assert runs.status[0] == "stopped"
    assert runs.t[0] < 1.9
    assert np.isfinite(runs.q_at[0, 0]).all()
    assert np.isnan(runs.q_at[0, 1]).all()


def test_an_interrupted_sweep_gives_back_what_is_done():
    def stop_at_once(done, runs):
        raise KeyboardInterrupt

    Q = np.tile(CHAIN.q0, (2000, 1))
    runs = pliant.simulate_many(CHAIN, 20.0, q0=Q, rtol=1e-12, progress=stop_at_once)
    assert len(runs) == 2000
    assert runs.status[-1] == "interrupted"
    assert not runs.is_ok.all()
    assert threading.active_count() < 5


def test_progress_is_called_with_runs_done():
    seen = []
    pliant.simulate_many(
        CHAIN, 1.0, q0=np.tile(CHAIN.q0, (50, 1)), progress=lambda done, runs: seen.append((done, runs))
    )
    assert seen[-1] == (50, 50)
    assert all(a <= b for (a, _), (b, _) in itertools.pairwise(seen))


# --- processes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wanted", [{}, {"times": [0.0, 0.1], "keep_results": True}], ids=["ends", "whole"])
def test_processes_give_the_bits_of_threads(wanted):
    """Python controllers, one start that fails among them; ways and results travel, too."""
    Q = np.array([[0.1], [0.3], [0.9], [np.pi - 2.0], [0.5]])
    here = pliant.simulate_many(FRAGILE, 0.3, q0=Q, **wanted)
    there = pliant.simulate_many(FRAGILE, 0.3, q0=Q, on="processes", workers=2, **wanted)
    for name in ("t", "q", "v", "steps", "status", "reasons"):
        assert np.array_equal(getattr(here, name), getattr(there, name)), name
    assert here.status.tolist() == ["done", "done", "failed", "failed", "done"]
    assert "too far" in there.reasons[2]
    if wanted:
        assert np.array_equal(here.q_at, there.q_at, equal_nan=True)
        assert np.array_equal(here.outputs["place"], there.outputs["place"], equal_nan=True)
        assert np.array_equal(here.results[1].q, there.results[1].q)
        assert np.array_equal(here.results[1].at(0.17)[0], there.results[1].at(0.17)[0])
        assert list(here.audit) == list(there.audit)
        assert np.array_equal(here.audit["energy_residual"], there.audit["energy_residual"], equal_nan=True)
    assert here.warnings == there.warnings


def test_processes_give_back_what_is_done_when_interrupted():
    def stop_when_some_are_done(done, runs):
        if done:
            raise KeyboardInterrupt

    Q = np.tile(HELD.q0, (400, 1))
    runs = pliant.simulate_many(HELD, 5.0, q0=Q, on="processes", workers=2, progress=stop_when_some_are_done)
    done = runs.status == "done"
    assert 0 < done.sum() < 400
    assert set(runs.status) == {"done", "interrupted"}
    alone = pliant.simulate(HELD, 5.0)
    assert np.array_equal(runs.q[np.flatnonzero(done)[0]], alone.q[-1])


def test_a_lost_process_is_the_reason_of_its_runs():
    runs = pliant.simulate_many(DEADLY, 0.3, q0=[[0.1], [0.2]], on="processes", workers=1)
    assert set(runs.status) == {"failed"}
    assert "its process ended before it was done" in runs.reasons[1]


def test_what_processes_cannot_be_given_is_told_before_they_start(monkeypatch):
    nameless = replace(HELD, controllers=(Controller("nameless", 0.02, ("hinge",), lambda t, measured: 0.0),))
    with pytest.raises(ModelError, match=r"'pendulum' cannot be sent: .*; give functions that stand at"):
        pliant.simulate_many(nameless, 0.1, on="processes")
    monkeypatch.setattr(hold, "__module__", "__main__")
    monkeypatch.delattr(sys.modules["__main__"], "__file__", raising=False)
    with pytest.raises(ModelError, match="function of controller 'hold' was typed in"):
        pliant.simulate_many(HELD, 0.1, on="processes")
    with pytest.raises(ModelError, match="on: 'threds' found; did you mean 'threads'"):
        pliant.simulate_many(HELD, 0.1, on="threds")


# --- what one sees --------------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "progress", "is_shown"),
    [(Terminal, None, True), (Terminal, True, True), (Terminal, False, False), (io.StringIO, None, False),
     (io.StringIO, True, False)],
)  # fmt: skip
def test_a_bar_is_shown_on_terminals_only(stream, progress, is_shown, monkeypatch):
    monkeypatch.setattr(sys, "stderr", screen := stream())
    monkeypatch.setattr(many_runs, "BAR_SECONDS", 0.0)
    monkeypatch.setattr(run_batch, "LOOK_SECONDS", 0.01)
    runs = pliant.simulate_many(BALL, 1.0, q0=[[1.0], [2.0], [-1.0]], progress=progress)
    assert runs.failed == [2]
    assert ("3 of 3 runs" in screen.getvalue()) is is_shown
    assert ("1 failed" in screen.getvalue()) is is_shown


def test_runs_of_which_only_ends_are_kept_say_that_there_is_no_audit():
    ends = pliant.simulate_many(CHAIN, 0.1)
    assert ends.audit == {}
    assert "only ends are kept: no audit" in repr(ends)
    whole = pliant.simulate_many(CHAIN, 0.1, times=[0.1])
    assert whole.audit["energy_residual"].shape == (1,)
    assert "no audit" not in repr(whole)


def test_a_sampling_period_of_the_model_does_not_matter_to_ends():
    sampled = replace(CHAIN, run={"sample": 0.01})
    assert np.array_equal(pliant.simulate_many(sampled, 0.1).q, pliant.simulate_many(CHAIN, 0.1).q)


@pytest.mark.parametrize("prestretch", [True, False])
def test_virtual_springs_start_as_in_simulate(prestretch):
    """From a rough guess of the model's, which is closed; one that is given is left open, unless it is to be stretched
    as the reactions ask."""
    model = pliant.load("four-bar")
    rough = replace(model, joints=[replace(model.joints[0], q0=model.q0[0] + 0.02), *model.joints[1:]])
    closure = pliant.Springs(stiffness=1e6, damping=10.0, prestretch=prestretch)
    for start in ({}, {"q0": rough.q0}):
        runs = pliant.simulate_many(rough, 0.02, closure=closure, **start)
        alone = pliant.simulate(rough, 0.02, closure=closure, **start)
        assert np.array_equal(runs.q[0], alone.q[-1])
        assert np.array_equal(runs.result(0).q, alone.q)
        is_open = bool(start) and not prestretch
        assert np.array_equal(alone.q[0], rough.q0) is is_open


def test_prestretched_springs_start_elsewhere():
    model = pliant.load("four-bar")
    closure = pliant.Springs(stiffness=1e6, damping=10.0, prestretch=True)
    alone = pliant.simulate(model, 0.02, closure=closure)
    assert not np.array_equal(alone.q[0], pliant.simulate(model, 0.02).q[0])  # it does start elsewhere


def test_threads_are_workers_now():
    with pytest.warns(DeprecationWarning, match="threads of simulate_many is called workers"):
        assert pliant.simulate_many(CHAIN, 0.1, threads=1).is_ok.all()


def test_mistakes_are_told_before_anything_runs():
    with pytest.raises(ModelError, match="no models; give at least one"):
        pliant.simulate_many([], 1.0)
    with pytest.raises(ModelError, match="'arm' is no Model"):
        pliant.simulate_many(["arm"], 1.0)
    with pytest.raises(ModelError, match=r"different coordinates \(joint0, joint1, joint2 and drop\) do not stack"):
        pliant.simulate_many([CHAIN, BALL], 1.0)
    with pytest.raises(ModelError, match="has no duration of its own"):
        pliant.simulate_many(CHAIN)
    with pytest.raises(ModelError, match="simulate has no option 'rtoll'"):
        pliant.simulate_many(CHAIN, 1.0, rtoll=1e-3)
    with pytest.raises(ModelError, match="v0: 3 found, but there are 4 runs; give one for all, or 4"):
        pliant.simulate_many(CHAIN, 1.0, q0=np.zeros((4, 3)), v0=np.zeros((3, 3)))
    with pytest.raises(ModelError, match="q0: 'joint1' of row 1 is inf"):
        pliant.simulate_many(CHAIN, 1.0, q0=[[0, 0, 0], [0, np.inf, 0]])
    with pytest.raises(ModelError, match="give a list of times from 0 to 1 s"):
        pliant.simulate_many(CHAIN, 1.0, times=[0.5, 2.0])
    with pytest.raises(ModelError, match=r"workers: 1\.5 found"):
        pliant.simulate_many(CHAIN, 1.0, workers=1.5)

"""Eight runs at once: every run of a sweep in lanes is what it is alone, to the last bit."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import pliant
from calls_by_address import through
from pliant import Constant, Crossing, Friction, Joint, Limit, Model, Sine, Step
from pliant.kernels import _jit, dynamics
from pliant.kernels.algebra.lanes import WIDTH
from pliant.kernels.formulations import articulated_lanes, articulated_spatial_lanes
from pliant.simulation import prepared_run
from pliant.simulation.prepared_run import PreparedRun
from pliant.simulation.run_batch import MAX_CHUNK, chunk_size
from pliant.system.status import Status
from pliant.system.work import room_for_lanes
from pliant_benchmarks import models as bench_models
from random_models import planar_model, random_model
from zoo import ZOO

CHAIN = bench_models.pliant_model(bench_models.chain(3))
NAMES = ("t", "q", "v", "steps", "status", "reasons")


def tree(seed: int, n: int = 5, in_space: bool = False) -> Model:
    """A random tree with springs, dampers and motors in its joints; no prescribed motion, no loads."""
    rng = np.random.default_rng(seed)
    kinds = ("revolute", "revolute", "prismatic", "fixed")
    bare = random_model(rng, n, kinds=kinds, root="revolute") if in_space else planar_model(rng, n)

    def changed(joint: Joint) -> Joint:
        if joint.kind not in ("revolute", "prismatic"):
            return replace(joint, damping=0.3) if joint.kind == "planar" and rng.random() < 0.5 else joint
        motor = [None, Constant(value=0.7), Sine(amplitude=2.0, omega=3.0)][rng.integers(3)]
        given = {"damping": 0.4 * float(rng.integers(2)), "stiffness": 5.0 * float(rng.integers(2)), "gear": 1.7}
        return replace(joint, motion=None, motor=motor, **given)

    return replace(bare, joints=tuple(changed(joint) for joint in bare.joints), loads=())


def starts_of(model, runs, seed=0):
    rng = np.random.default_rng(seed)
    return model.q0 + rng.normal(size=(runs, len(model.q0))), model.v0 + rng.normal(size=(runs, len(model.v0)))


def assert_as_alone(model, runs, Q, V, duration, **options):
    for i in range(len(runs)):
        alone = pliant.simulate(model, duration, q0=Q[i], v0=V[i], **options)
        assert np.array_equal(runs.q[i], alone.q[-1])
        assert np.array_equal(runs.v[i], alone.v[-1])
        assert (runs.t[i], runs.status[i], runs.reasons[i]) == (alone.t[-1], alone.status, alone.reason)
        assert runs.steps[i] == alone.stats["steps"]


def in_both_ways(monkeypatch, model, duration, Q, V, **options):
    """The same runs in lanes, and one after the other."""
    assert PreparedRun(model, duration, **options).goes_in_lanes
    lanes = pliant.simulate_many(model, duration, q0=Q, v0=V, **options)
    with monkeypatch.context() as patch:
        patch.setattr(prepared_run, "goes_in_lanes", lambda *_: False)
        alone = pliant.simulate_many(model, duration, q0=Q, v0=V, **options)
    return lanes, alone


# --- one evaluation ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("in_space", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_every_lane_of_the_right_hand_side_has_the_bits_of_one_state_alone(seed, in_space):
    model = tree(seed, 2 + seed % 6, in_space)
    module = articulated_spatial_lanes if in_space else articulated_lanes
    handle = PreparedRun(model, 1.0).handle
    derivative = partial(_jit.entry(through), *handle.refs, _jit.address(dynamics.derivative))
    world = handle.system.world[0]
    rng = np.random.default_rng(seed)
    y = rng.normal(size=(len(model.q0) + len(model.v0) + int(world.n_z), WIDTH))
    t, ydot = rng.uniform(0.0, 2.0, WIDTH), np.empty_like(y)
    room = room_for_lanes(module.n_rows(handle.system))
    room[0] = -np.inf
    assert _jit.entry(module.derivatives)(*handle.refs, t, y, ydot, room) == Status.OK
    assert (room[0] < 0.0).all()
    for s in range(WIDTH):
        alone = np.empty(len(y))
        assert derivative(t[s], y[:, s].copy(), alone) == Status.OK
        assert np.array_equal(ydot[:, s], alone)


# --- runs -------------------------------------------------------------------------------------------------------------


def test_a_joint_wound_up_beyond_the_reduction_of_angles_leaves_the_other_lanes_alone():
    """It takes libm's cos and sin."""
    Q, V = starts_of(CHAIN, WIDTH)
    Q[3, 1] += 3e6
    assert_as_alone(CHAIN, pliant.simulate_many(CHAIN, 0.1, q0=Q, v0=V), Q, V, 0.1)


@pytest.mark.parametrize("integrator", ["auto", "dop853", "bs5", "dopri5", "rkf45"])
@pytest.mark.parametrize("in_space", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_runs_of_random_trees_have_the_bits_of_simulate(seed, in_space, integrator):
    model = tree(seed, 3 + seed, in_space)
    assert bool(PreparedRun(model, 0.4).handle.system.world[0].uses_planar) != in_space
    Q, V = starts_of(model, 11, seed)
    options = {"integrator": integrator, "rtol": 10.0 ** -(4 + seed), "max_step": ["off", 0.1][seed % 2]}
    assert PreparedRun(model, 0.4, **options).goes_in_lanes
    runs = pliant.simulate_many(model, 0.4, q0=Q, v0=V, **options)
    assert runs.is_ok.all()
    assert_as_alone(model, runs, Q, V, 0.4, **options)


def test_any_number_of_runs_and_threads_gives_the_same_bits():
    """Lanes that are never used, that run out of runs, that take the next one."""
    model = tree(3)
    Q, V = starts_of(model, 20)
    Q[::3] *= 0.1  # some are calmer, and take fewer steps
    whole = pliant.simulate_many(model, 0.3, q0=Q, v0=V, workers=1)
    assert len(set(whole.steps)) > 2
    assert_as_alone(model, whole, Q, V, 0.3)
    for n in range(1, 20):
        for workers in (1, 2):
            some = pliant.simulate_many(model, 0.3, q0=Q[:n], v0=V[:n], workers=workers)
            for name in NAMES:
                assert np.array_equal(getattr(some, name), getattr(whole, name)[:n]), name


def test_a_sweep_does_not_see_the_sweep_before():
    model = tree(5)
    Q, V = starts_of(model, 10)
    run, stop = PreparedRun(model, 0.3), np.zeros(1, np.int64)
    first = run.sweep(Q, V, stop)
    run.sweep(V[:, ::-1].copy(), Q[:, ::-1].copy(), stop)
    again = run.sweep(Q, V, stop)
    assert np.array_equal(first.q, again.q)
    assert np.array_equal(first.v, again.v)


def test_no_time_at_all_and_a_first_step_that_is_the_last():
    for duration in (1e-12, 1e-3):
        Q, V = starts_of(CHAIN, 9)
        runs = pliant.simulate_many(CHAIN, duration, q0=Q, v0=V)
        assert_as_alone(CHAIN, runs, Q, V, duration)


# --- what is unusual --------------------------------------------------------------------------------------------------


def test_runs_that_fail_say_and_keep_what_they_do_alone():
    """Spins whose squares overflow: at the start, or in a stage of a trial step; the others are as ever."""
    Q, V = starts_of(CHAIN, 20)
    fast = range(1, 19, 2)
    V[fast] *= np.geomspace(1e150, 1e155, len(fast))[:, None]
    run, stop = PreparedRun(CHAIN, 0.2, max_steps=60), np.zeros(1, np.int64)
    lanes = run.sweep(Q, V, stop)
    run.goes_in_lanes = False
    alone = run.sweep(Q, V, stop)
    for here, there in zip(lanes[:4], alone[:4], strict=True):
        assert np.array_equal(here, there)
    assert lanes.others == alone.others
    assert list(lanes.others) == list(fast)
    reasons = " ".join(reason for _, reason in lanes.others.values())
    assert "not finite" in reasons
    assert "more than max_steps" in reasons


def test_too_many_steps_end_a_run_where_they_do_alone(monkeypatch):
    Q, V = starts_of(CHAIN, 12)
    V[::2] *= 3.0
    with pytest.warns(pliant.AccuracyWarning, match="more than max_steps"):
        lanes, alone = in_both_ways(monkeypatch, CHAIN, 0.5, Q, V, max_steps=25)
    assert set(lanes.status) == {"done", "failed"}
    for name in NAMES:
        assert np.array_equal(getattr(lanes, name), getattr(alone, name)), name


def test_a_singular_pivot_in_a_lane_is_told_as_alone(monkeypatch):
    """A mass that slides through the hinge of its massless guide, where the guide has no inertia."""
    guide = pliant.Body("guide", 0.0)
    bead = pliant.Body("bead", 1.0)
    slide = Joint("slide", "prismatic", "bead", parent=pliant.Frame("guide"), axis=(1, 0, 0), q0=1.0)
    model = Model("bead", [guide, bead], [Joint("hinge", "revolute", "guide"), slide], gravity=(0, 0, 0))
    Q = np.array([[0.0, 1.0], [0.0, 0.0], [0.0, 0.5], [0.0, 0.1]])
    V = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.3, -2.0]])
    with pytest.warns(pliant.AccuracyWarning, match="not positive"):
        lanes, alone = in_both_ways(monkeypatch, model, 0.7, Q, V)
    assert lanes.failed == [1]
    for name in NAMES:
        assert np.array_equal(getattr(lanes, name), getattr(alone, name)), name


def test_auto_takes_another_integrator_where_a_run_in_a_lane_is_stiff():
    """dop853 comes back from its lane with REVIEW; the damper is too weak for another one from the start."""
    hinge = CHAIN.joints[0]
    stiff = replace(CHAIN, joints=(replace(hinge, damping=400.0), *CHAIN.joints[1:]))
    Q, V = starts_of(stiff, 5)
    runs = pliant.simulate_many(stiff, 3.0, q0=Q, v0=V, rtol=1e-5)
    assert_as_alone(stiff, runs, Q, V, 3.0, rtol=1e-5)
    assert len(pliant.simulate(stiff, 3.0, q0=Q[0], v0=V[0], rtol=1e-5).integrators) > 1


def test_a_sweep_that_is_stopped_before_it_begins_leaves_every_run_at_its_start():
    Q, V = starts_of(CHAIN, 11)
    ends = PreparedRun(CHAIN, 1.0).sweep(Q, V, np.ones(1, np.int64))
    assert np.array_equal(ends.q, Q)
    assert np.array_equal(ends.v, V)
    assert not ends.t.any()
    assert {word for word, _ in ends.others.values()} == {"interrupted"}
    assert len(ends.others) == 11


# --- which models -----------------------------------------------------------------------------------------------------


def test_what_ends_steps_or_acts_on_bodies_does_not_go_in_lanes():
    arm = tree(0)
    name = next(joint.name for joint in arm.joints if joint.kind == "revolute")
    others = {
        "in space": ZOO["space_robot"],
        "flexible": ZOO["flexible_satellite"],
        "driven": ZOO["driven_crane"],
        "limits": ZOO["stopped_arm"],
        "crossing": replace(arm, crossings=(Crossing("low", name, -1.0, "falling", "stop"),)),
        "kinks": _with_hinge(arm, name, motor=Step(time=0.1)),
        "hard limit": _with_hinge(arm, name, limit=Limit(upper=9.0)),
        "friction": _with_hinge(arm, name, friction=Friction("coulomb", mu_k=0.2, load=1.0)),
    }
    assert PreparedRun(arm, 1.0).goes_in_lanes
    for what, model in others.items():
        assert not PreparedRun(model, 1.0).goes_in_lanes, what
    methods = ({"integrator": "adams"}, {"integrator": "dopri5", "step": 0.01}, {"formulation": "denoc"})
    for options in methods:
        assert not PreparedRun(CHAIN, 1.0, **options).goes_in_lanes, options


def _with_hinge(model: Model, name: str, **given: object) -> Model:
    return replace(model, joints=tuple(replace(j, **given) if j.name == name else j for j in model.joints))


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_chunks_are_whole_lanes_where_these_are_used(workers):
    """Threads and processes take eight runs or a multiple; elsewhere as many as come to some four chunks each."""
    for n in (1, 7, 30, 200, 4000):
        size = chunk_size(n, workers, goes_in_lanes=True)
        assert size % WIDTH == 0
        assert size <= MAX_CHUNK
        assert chunk_size(n, workers, goes_in_lanes=False) == max(1, min(MAX_CHUNK, n // (4 * workers)))


def test_another_run_of_the_same_tables_gives_the_same_bits():
    Q, V = starts_of(CHAIN, 9)
    first = PreparedRun(CHAIN, 0.2, rtol=1e-6)
    other, stop = first.another(), np.zeros(1, np.int64)
    assert other.handle.packed is first.handle.packed
    assert other.handle.work is not first.handle.work
    one, two = first.sweep(Q, V, stop), other.sweep(Q, V, stop)
    assert np.array_equal(one.q, two.q)
    assert np.array_equal(one.steps, two.steps)

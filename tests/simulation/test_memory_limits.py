"""Runs that meet the limits of the machine's memory end with a reason and all they have; samples are not laid out."""

import itertools
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import pliant
from controlled_models import slider, two_joints
from pliant import Controller, ModelError, machine
from pliant.engine.run_options import allowed_memory
from pliant.simulation import piles
from pliant.simulation import recorder as recorded
from pliant.simulation.options import ROW_COPIES, in_words
from pliant.simulation.recorder import Recorded
from pliant.simulation.run import Run

ARM = pliant.load("two-link-arm")
LONG = {"duration": 1.0, "max_step": 2e-4, "rtol": 1e-4}  # some 5000 rows


@pytest.fixture(scope="module")
def whole():
    return pliant.simulate(ARM, **LONG, memory=1e18)


def row_bytes(result):
    """Of all rows as the loop writes them, with the starts and lengths of the steps."""
    return 8 * len(result.t) * (1 + result.dense.terms.shape[2] + result.inputs.shape[1] + 2)


def is_mapped(array):
    return isinstance(array.base, np.memmap)


def test_dense_output_beyond_the_memory_allowed_lies_in_a_file_and_says_the_same(whole):
    allowed = 1.1 * ROW_COPIES * row_bytes(whole)
    assert allowed < ROW_COPIES * row_bytes(whole) + whole.dense.terms.nbytes
    result = pliant.simulate(ARM, **LONG, memory=allowed)
    assert result.status == "done"
    assert is_mapped(result.dense.terms)
    assert not is_mapped(whole.dense.terms)
    times = np.linspace(0.0, 1.0, 777)
    assert np.array_equal(result.state_at(times), whole.state_at(times))
    assert np.array_equal(result.q, whole.q)
    assert result.audit == whole.audit


def test_a_run_whose_rows_fill_the_memory_allowed_ends_with_what_it_has(whole):
    allowed = 0.4 * ROW_COPIES * row_bytes(whole)
    result = pliant.simulate(ARM, **LONG, memory=allowed)
    assert result.status == "failed"
    assert result.reason.startswith(f"at t = {result.t[-1]:.9g} s: the rows of the result fill the ")
    assert "memory allowed; give more (memory), a looser rtol" in result.reason
    assert 0.3 < result.t[-1] < 0.7
    assert np.array_equal(result.q, whole.q[: len(result.q)])
    assert result.at(result.t[-1])[0] == pytest.approx(result.q[-1], abs=1e-15)


def test_a_run_that_comes_to_its_end_in_its_last_piece_of_memory_is_done():
    assert pliant.simulate(ARM, 0.1, memory=1.0).status == "done"


def test_memory_is_looked_at_while_the_run_goes_on_whatever_was_allowed(whole, monkeypatch):
    monkeypatch.setattr(recorded, "LOOK_BYTES", 1e5)
    left = itertools.chain([1e12, 1e12, 1e12], itertools.repeat(1e3))  # somebody else takes it all
    monkeypatch.setattr(recorded, "free_memory", lambda: next(left))
    result = pliant.simulate(ARM, **LONG, memory="1 TB")
    assert result.status == "failed"
    assert "the rows of the result fill the memory of the machine" in result.reason
    assert np.array_equal(result.q, whole.q[: len(result.q)])
    assert 2000 < len(result.q) < len(whole.q)


def test_no_memory_for_the_next_buffer_ends_the_run_with_everything_recorded(whole, monkeypatch):
    taken, take = [], Recorded.take

    def failing(self, memory):
        taken.append(1)
        if len(taken) > 2:
            raise MemoryError
        take(self, memory)

    monkeypatch.setattr(Recorded, "take", failing)
    result = pliant.simulate(ARM, **LONG)
    assert result.status == "failed"
    assert f"at t = {result.t[-1]:.9g} s: the machine has no memory left; give more" in result.reason
    # two buffers that were taken, and the one that could not be copied
    assert np.array_equal(result.q, whole.q[: len(result.q)])
    assert result.at(result.t[-1])[0] == pytest.approx(result.q[-1], abs=1e-15)
    assert len(result.q) > 1024


@pytest.mark.parametrize("when", ["first", "later"])
def test_a_disk_that_is_full_ends_the_run_with_dense_output_as_far_as_its_rows(whole, when, monkeypatch):
    free = itertools.repeat(0) if when == "first" else itertools.chain([10**12] * 4, itertools.repeat(0))
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(piles.shutil, "disk_usage", lambda place: usage._replace(free=next(free)))
    allowed = 1.1 * ROW_COPIES * row_bytes(whole)
    result = pliant.simulate(ARM, **LONG, memory=allowed)
    assert result.status == "failed"
    assert "neither into the memory allowed nor on the disk (No space left on device)" in result.reason
    assert result.reason.startswith(f"at t = {result.t[-1]:.9g} s: ")
    assert len(result.t) > 1000
    assert np.array_equal(result.q, whole.q[: len(result.q)])
    assert result.at(result.t[-1])[0] == pytest.approx(result.q[-1], abs=1e-15)


def test_interrupted_with_a_file_keeps_all(whole):
    def stop(t, t_end):
        if t > 0.5:
            raise KeyboardInterrupt

    result = pliant.simulate(ARM, **LONG, memory=1.1 * ROW_COPIES * row_bytes(whole), progress=stop)
    assert result.status in ("interrupted", "done")  # progress is called by the clock
    assert np.array_equal(result.q, whole.q[: len(result.q)])
    assert result.at(result.t[-1])[0] == pytest.approx(result.q[-1], abs=1e-15)


@pytest.mark.parametrize("dense", [True, False])
def test_a_process_that_may_have_no_more_memory_gives_back_what_fits(dense):
    code = f"""
    import resource, pliant
    model = pliant.load("falling-chain")
    pliant.simulate(model, 0.01)
    pages = int(open("/proc/self/statm").read().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (4096 * pages + 8_000_000,) * 2)
    result = pliant.simulate(model, 50.0, max_step=1e-5, rtol=1e-4, memory="1 TB", dense={dense})
    assert len(result.t) == len(result.q) == len(result.energy["kinetic"]) > 1000
    assert result.t[0] == 0.0
    assert f"at t = {{result.t[-1]:.9g}} s" in result.reason
    print(result.status, result.reason)
    """
    lines = "\n".join(line.strip() for line in code.splitlines())
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("failed at t = ")
    assert "memory" in done.stdout


@pytest.mark.parametrize("has_room", [True, False])
@pytest.mark.parametrize("lengths", [(4, 0), (3, 4), (5,), (2, 2, 0, 0), (1,), (0,)])
def test_thinned_rows_keep_the_first_and_the_last_whatever_the_parts(lengths, has_room, monkeypatch):
    """The reason of such a run names the time of its last row."""
    pile, count = piles.Pile(), sum(lengths)
    numbers = iter(np.arange(2.0 * count).reshape(count, 2))
    for length in lengths:
        pile.add(np.array([next(numbers) for _ in range(length)]).reshape(length, 2))
    if not has_room:
        monkeypatch.setattr(piles.np, "concatenate", no_memory)
    pile.thin()
    rows = pile.whole()
    assert rows[:1].tolist() == [[0.0, 1.0]][:count]
    assert rows[-1:].tolist() == ([] if pile.last_row is None else [pile.last_row.tolist()])
    assert len(rows) <= count // 2 + len(lengths)
    assert set(rows[:, 0]) <= set(2.0 * np.arange(count))


def no_memory(*given, **options):
    raise MemoryError


def test_no_memory_to_keep_where_a_run_ended_gives_back_its_rows(whole, monkeypatch):
    monkeypatch.setattr("pliant.simulation.make_result.checkpoint_of", no_memory)
    result = pliant.simulate(ARM, **LONG)
    assert result.status == "failed"
    assert f"at t = {result.t[-1]:.9g} s: the machine has no memory left, and the dense output" in result.reason
    assert np.array_equal(result.q, whole.q)


def test_no_memory_to_look_for_mistakes_after_a_run_is_said_and_the_run_kept(whole, monkeypatch):
    monkeypatch.setattr("pliant.results.recording.pitfalls", no_memory)
    with pytest.warns(pliant.AccuracyWarning, match="no memory left to look for mistakes .*what it recorded is kept"):
        result = pliant.simulate(ARM, **LONG)
    assert result.status == "done"
    assert np.array_equal(result.q, whole.q)


@pytest.mark.parametrize("name", ["sample", "step"])
def test_rows_whose_number_is_known_are_estimated_before_the_run(name):
    options = {name: 1e-5, "integrator": "dop853" if name == "sample" else "rk4"}
    with pytest.raises(ModelError, match=rf"{name}: 1e-05 s makes 1e\+05 rows, which take about 16 MB of memory"):
        pliant.simulate(ARM, 1.0, memory="10 MB", **options)


@pytest.mark.parametrize(
    ("text", "size"),
    [("2 GB", 2e9), ("500mb", 5e8), ("1.5 GiB", 1.5 * 2**30), (1e6, 1e6), (7, 7.0), ("10 kB", 1e4)],
)
def test_sizes_of_memory_as_people_write_them(text, size):
    assert allowed_memory(text) == size


def test_unless_told_otherwise_half_of_the_free_memory_is_allowed(monkeypatch):
    monkeypatch.setattr("pliant.engine.run_options.free_memory", lambda: 6e9)
    assert allowed_memory("auto") == 3e9
    assert in_words(3e9) == "3 GB"


@pytest.mark.parametrize(
    "value", [0, -1, "x", "2 XB", {}, True, float("nan"), [1], "", 1 + 2j, b"2 GB", np.array([1, 2]), "2,5 GB"]
)
def test_what_is_no_size_of_memory_is_refused(value):
    with pytest.raises(ModelError, match=r'memory: .* found; give a size such as "2 GB"'):
        pliant.simulate(ARM, 0.01, memory=value)


def test_free_memory_heeds_the_limits_of_a_container(tmp_path, monkeypatch):
    (tmp_path / "memory.max").write_text("3000000\n")
    (tmp_path / "memory.current").write_text("2000000\n")
    (tmp_path / "memory.stat").write_text("anon 7\ninactive_file 500000\n")
    before = machine.free_memory()
    monkeypatch.setattr(machine, "GROUPS", tmp_path)
    assert machine.free_memory() == 1.5e6 < before


# --- controllers ------------------------------------------------------------------------------------------------


def test_a_short_period_over_a_long_run_lays_nothing_out_in_advance():
    """5e9 samples, which took 37 GB before the first step."""
    asked = []
    model = slider(lambda t, measured: asked.append(t) or 0.0, period=2e-8)
    result = pliant.simulate(model, 100.0, max_steps=300)
    assert result.status == "failed"
    assert "max_steps" in result.reason
    assert len(asked) > 100
    assert asked == [k * 2e-8 for k in range(len(asked))]
    handle = pliant.Prepared(model)
    options = pliant.simulation.options.check_options(model, duration=100.0)
    assert len(Run(handle, (model.q0, model.v0), options, wants_rows=True).memory.samples) == 1


def test_two_controllers_with_delays_are_asked_at_all_their_instants_and_commands_arrive_between():
    asked = {"a": [], "b": []}
    both = tuple(
        Controller(name, period, (joint,), lambda t, measured, name=name: asked[name].append(t) or t, delay=delay)
        for name, joint, period, delay in (("a", "shoulder", 0.1, 0.03), ("b", "elbow", 0.07, 0.2))
    )
    model = replace(two_joints(lambda t, measured: [0.0, 0.0]), controllers=both)
    result = pliant.simulate(model, 2.0)
    assert asked["a"] == pytest.approx(0.1 * np.arange(20), abs=1e-12)
    assert asked["b"] == pytest.approx(0.07 * np.arange(29), abs=1e-12)
    for column, period, delay in ((0, 0.1, 0.03), (1, 0.07, 0.2)):
        expected = np.floor((result.t - delay) / period + 1e-9) * period
        assert result.inputs[:, column] == pytest.approx(np.where(result.t < delay - 1e-9, 0.0, expected), abs=1e-9)


def test_progress_is_told_though_a_controller_interrupts_every_step(monkeypatch):
    monkeypatch.setattr("pliant.simulation.run.PAUSE_SECONDS", 0.0)
    told = []
    pliant.simulate(slider(lambda t, measured: 0.0, period=0.01), 1.0, progress=lambda t, end: told.append(t))
    assert len(told) > 50
    assert told == sorted(told)

"""Real faults: a study that is killed, interrupted or out of disk goes on where it stopped, and in the end nothing
tells it from one that nobody disturbed."""

import contextlib
import os
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import pliant
from paths import SOURCES
from pliant import SimulationError, Study, load_study

ROWS = 250
# short runs that are recorded; ten files a second, so that a kill often meets one that is being written
SCRIPT = f"""
import sys
import pliant
from pliant.study import running, store

running.WRITE_SECONDS = running.CHUNK_SECONDS = 0.02
store.MERGED = 5
study = pliant.Study(
    "two-link-arm", {{"force": "0:1", "psi1.start": "-1:1"}}, ["psi1", "max(psi2)"],
    settings={{"duration": 0.05}}, sample={ROWS}, method="sobol", seed=5,
)
if __name__ == "__main__":
    pliant.simulate(pliant.load("two-link-arm"), 0.05)
    print("begun", flush=True)
    study.run(sys.argv[1], resume=len(sys.argv) > 2, on="threads", workers=2)
"""


def study():
    return Study(
        "two-link-arm",
        {"force": "0:1", "psi1.start": "-1:1"},
        ["psi1", "max(psi2)"],
        settings={"duration": 0.05},
        sample=ROWS,
        method="sobol",
        seed=5,
    )


@pytest.fixture(scope="module")
def undisturbed():
    return {name: values.tolist() for name, values in study().run().table.items()}


def columns(runs):
    return {name: values.tolist() for name, values in runs.table.items()}


def started(tmp_path, *words):
    script = tmp_path / "sweep.py"
    script.write_text(SCRIPT)
    process = subprocess.Popen(
        [sys.executable, str(script), str(tmp_path / "study"), *words],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
        cwd=tmp_path,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"begun\n"
    return process


def n_stored(folder):
    try:
        return len(load_study(folder))
    except pliant.ModelError:
        return 0


def killed_again_and_again(tmp_path, kills, seed):
    """Kill it at random instants, with resumptions between, until it has been killed so often or is done."""
    random, folder, done = np.random.default_rng(seed), tmp_path / "study", 0
    for kill in range(kills):
        process = started(tmp_path, *(["--resume"] if (folder / "study.json").exists() else []))
        # from the first write of the folder to the last row; a whole study takes about 2 s of computing
        deadline = time.monotonic() + float(random.uniform(0.0, 2.0 * (1 + kill / kills)))
        while time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        # nothing that was written is ever lost
        now = n_stored(folder)
        assert now >= done
        done = now
        if done == ROWS:
            break
    return folder


@pytest.mark.parametrize("seed", [0, 1])
def test_a_study_that_is_killed_again_and_again_ends_as_one_that_was_not(seed, tmp_path, undisturbed):
    folder = killed_again_and_again(tmp_path, 3, seed)
    assert columns(study().run(folder, resume=(folder / "study.json").exists())) == undisturbed
    assert not list(folder.glob(".pliant-*"))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10, 20))
def test_fifty_kills_at_random_instants(seed, tmp_path, undisturbed):
    folder = killed_again_and_again(tmp_path, 5, seed)
    assert columns(study().run(folder, resume=(folder / "study.json").exists())) == undisturbed


def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(tmp_path, undisturbed):
    words = ["sweep", "two-link-arm", "--set", "duration=0.05", "--vary", "force=0:1", "--vary", "psi1.start=-1:1",
             "--figures", "psi1,max(psi2)", "--sample", str(ROWS), "--method", "sobol", "--seed", "5",
             "--out", "here"]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
    process = subprocess.Popen(
        [sys.executable, "-m", "pliant", *words], cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True
    )
    while not list((tmp_path / "here").glob("rows-*")) and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=300)
    if process.returncode:  # else it was faster
        assert process.returncode == 1, said
        assert "rows are left: pliant sweep --resume --out here" in said
        assert 0 < n_stored(tmp_path / "here") < ROWS
    done = subprocess.run(
        [sys.executable, "-m", "pliant", "sweep", "--resume", "--out", "here"],
        cwd=tmp_path,
        env=environment,
        check=False,
    )
    assert done.returncode == 0
    assert columns(load_study(tmp_path / "here")) == undisturbed


def test_a_full_disk_ends_in_one_sentence_and_rows_before_it_are_kept(tmp_path, undisturbed, monkeypatch):
    monkeypatch.setattr("pliant.study.running.WRITE_SECONDS", 0.0)
    monkeypatch.setattr("pliant.study.running.CHUNK_SECONDS", 0.01)
    folder, soft = tmp_path / "study", resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(done, rows):
        if done > 20:  # files cannot grow any more
            resource.setrlimit(resource.RLIMIT_FSIZE, (200, soft[1]))

    try:
        with pytest.raises(SimulationError) as caught:
            study().run(folder, workers=1, progress=fill)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, soft)
    assert "could not be written (File too large)" in str(caught.value)
    assert str(caught.value).endswith("rows that were written are kept: go on with --resume")
    assert "\n" not in str(caught.value)
    assert 0 < n_stored(folder) < ROWS
    assert columns(study().run(folder, resume=True)) == undisturbed


# --- processes --------------------------------------------------------------------------------------------------------


def deadly(length):
    """A run that takes its process with it, as one that runs out of memory does."""
    if length == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return pliant.Model(
        "swing",
        [pliant.Body("rod", 1.0, shape=pliant.Rod(length))],
        [pliant.Joint("hinge", "revolute", "rod", axis=(0, 1, 0), q0=0.5)],
        duration=0.1,
    )


def test_a_run_that_kills_its_process_is_a_failed_row_and_no_other_suffers(tmp_path):
    """The parent is spared: the run that kills stands in the middle, which the first look does not meet."""
    made = Study(deadly, {"length": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]}, ["max(hinge)"])
    runs = made.run(on="processes", workers=2)
    assert runs.failed == [2]
    assert "the process that ran it ended before it was done" in runs.notes[2]
    good = Study(deadly, {"length": [1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12]}, ["max(hinge)"]).run()
    assert np.delete(runs.column("max(hinge)"), 2).tolist() == good.column("max(hinge)").tolist()


SWEEP = ["sweep", "two-link-arm", "--set", "duration=0.05", "--vary", "force=0:1", "--figures", "max(psi2)",
         "--sample", "100000", "--on", "processes", "--workers", "2", "--out", "study"]  # fmt: skip


def in_processes(tmp_path):
    """A sweep whose two workers have written rows, and all processes of it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "pliant", *SWEEP],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    # the first file is the row that the parent runs itself
    while process.poll() is None and len(list((tmp_path / "study").glob("rows-*"))) < 2:
        time.sleep(0.02)
    return process


def test_workers_end_with_their_parent_however_it_ends(tmp_path):
    """They hold its standard output: that ends only when the last of them, and the resource tracker, have gone."""
    process = in_processes(tmp_path)
    process.kill()
    try:
        process.communicate(timeout=60)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert 0 < n_stored(tmp_path / "study") < 100000


def test_sigterm_acts_as_ctrl_c(tmp_path):
    process = in_processes(tmp_path)
    process.terminate()
    try:
        _, said = process.communicate(timeout=60)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 1
    assert "rows are left: pliant sweep --resume --out study" in said
    assert "Traceback" not in said


BEGIN = "import sys, pliant.__main__ as command; print('up', flush=True); sys.argv[0] = 'pliant'; command.main()"


@pytest.mark.parametrize("seconds", [0.01, 0.05, 0.2, 0.5, 1.0])
def test_ctrl_c_at_the_beginning_is_a_clean_end(seconds, tmp_path):
    """While modules are loaded, the model is made, processes are started: nobody prints a traceback, nobody stays."""
    process = subprocess.Popen(
        [sys.executable, "-c", BEGIN, *SWEEP],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # shells ignore it for what they start in the background
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGINT)
    try:
        _, said = process.communicate(timeout=60)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode in (1, 130), said
    assert "Traceback" not in said
    assert "ignored" not in said

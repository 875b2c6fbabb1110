"""Studies on a dask cluster: the same bits, whoever of it is killed."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

from paths import SOURCES
from pliant import ModelError, SimulationError, Study, load_study

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.xdist_group("cluster")  # one at a time
ROWS = 150


def study():
    return Study(
        "two-link-arm",
        {"force": "0:1", "psi1.start": "-1:1"},
        ["psi1", "max(psi2)"],
        settings={"duration": 0.05},
        sample=ROWS,
        method="lhs",
        seed=7,
    )


def columns(runs):
    return {name: values.tolist() for name, values in runs.table.items()}


@pytest.fixture(scope="module")
def undisturbed():
    return columns(study().run())


@pytest.fixture
def short_chunks(monkeypatch):
    monkeypatch.setattr("pliant.study.running.CHUNK_SECONDS", 0.1)
    monkeypatch.setattr("pliant.study.running.WRITE_SECONDS", 0.1)


def test_workers_that_are_killed_at_random_change_nothing(undisturbed, short_chunks, tmp_path):
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
    ) as cluster:
        is_over, n_killed = threading.Event(), []

        def kill():
            for k in range(4):
                if is_over.wait(0.7):
                    return
                workers = list(cluster.workers.values())
                pid = workers[k % len(workers)].pid if workers else None
                if pid:
                    os.kill(pid, signal.SIGKILL)
                    n_killed.append(pid)

        killer = threading.Thread(target=kill)
        killer.start()
        runs = study().run(tmp_path / "study", on="dask", scheduler=cluster.scheduler_address)
        is_over.set()
        killer.join()
    assert n_killed
    assert columns(runs) == undisturbed
    assert columns(load_study(tmp_path / "study")) == undisturbed


@pytest.fixture
def cluster_processes(tmp_path):
    """A scheduler and a worker as processes of their own: (address, scheduler)."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    address, environment = f"tcp://127.0.0.1:{port}", {**os.environ, "PYTHONPATH": str(SOURCES)}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment, "cwd": tmp_path}
    words = ["-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
    scheduler = subprocess.Popen([sys.executable, *words], **quiet)
    words = ["-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard", "--death-timeout", "60"]
    worker = subprocess.Popen([sys.executable, *words], **quiet)
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            break
        except OSError:
            time.sleep(0.1)
    yield address, scheduler
    for process in (scheduler, worker):
        process.kill()
        process.wait()


def test_a_scheduler_that_is_killed_ends_it_in_one_sentence_and_it_goes_on_elsewhere(
    cluster_processes, undisturbed, short_chunks, tmp_path, monkeypatch
):
    monkeypatch.setattr("pliant.study.cluster.LOST_SECONDS", 1.0)
    address, scheduler = cluster_processes
    folder = tmp_path / "study"

    def kill(done, rows):
        if done > 20:
            scheduler.kill()

    with pytest.raises(SimulationError) as caught:
        study().run(folder, on="dask", scheduler=address, progress=kill)
    assert str(caught.value).startswith(f"the dask scheduler at {address} no longer answers; rows that were written")
    assert 0 < len(load_study(folder)) < ROWS
    assert columns(study().run(folder, resume=True)) == undisturbed


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense", "tcp://127.0.0.1:x"])
def test_a_scheduler_that_does_not_answer_is_a_mistake_and_nothing_is_written(address, tmp_path):
    with pytest.raises(ModelError, match="no dask scheduler answers there"):
        study().run(tmp_path / "study", on="dask", scheduler=address)
    assert not (tmp_path / "study").exists()

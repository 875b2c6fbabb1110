"""Chunks run by the workers of a dask cluster: on this machine, or of the scheduler at an address."""

from __future__ import annotations

import socket
import time
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any

from pliant.errors import ModelError, SimulationError
from pliant.model.messages import quoted
from pliant.simulation.run_processes import starting_children
from pliant.study.chunk import Chunk, Task, run_chunk
from pliant.study.places import Rows, Values, packed
from pliant.study.store import lock_file

ANSWER_SECONDS = 10.0  # within which a scheduler answers
COUNT_SECONDS = 5.0  # between two looks at how many workers there are
LOST_SECONDS = 10.0  # after which one that does not is lost


def load_dask() -> Any:
    """The library, or a message."""
    try:
        import distributed
    except ModuleNotFoundError:
        raise ModelError(
            'on="dask": the package distributed is not installed; install it with: pip install "pliant[cluster]"'
        ) from None
    return distributed


class Cluster:
    """Workers of dask: those of a scheduler, or one process per core of this machine."""

    def __init__(self, task: Task, workers: int, scheduler: str | None) -> None:
        distributed = load_dask()
        self._distributed, self._address = distributed, scheduler or "this machine"
        self._packed = _packed(task)
        self._own: Any = None
        if scheduler is not None:
            check_scheduler(scheduler)
        else:
            with starting_children():
                self._own = distributed.LocalCluster(
                    n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
                )
        try:
            self._client = distributed.Client(
                self._own or scheduler, timeout=ANSWER_SECONDS, set_as_default=False, direct_to_workers=False
            )
        except (OSError, TimeoutError, ValueError) as error:
            raise _no_answer(scheduler, error) from None
        self._executor = self._client.get_executor(pure=False)
        self._answered = self._counted = time.monotonic()
        self.workers = max(1, sum(self._client.nthreads().values()))

    def submit(self, rows: Rows, values: Values) -> Future[Chunk]:
        job: Future[Chunk] = self._executor.submit(run_packed, self._packed, rows, values)
        return job

    def is_ready(self) -> bool:
        if self._client.status == "running":
            # workers come and go; a scheduler that has just gone is known by its silence
            if time.monotonic() - self._counted > COUNT_SECONDS:
                self._counted = time.monotonic()
                with suppress(OSError, TimeoutError):
                    self.workers = max(1, sum(self._client.nthreads().values()))
            self._answered = time.monotonic()
            return True
        if time.monotonic() - self._answered > LOST_SECONDS:
            raise SimulationError(f"the dask scheduler at {self._address} no longer answers")
        return False

    @property
    def lost(self) -> tuple[type[BaseException], ...]:
        return (self._distributed.KilledWorker,)

    def stop(self) -> None:
        pass

    def close(self) -> None:
        self._client.close(timeout=1)
        if self._own is not None:
            self._own.close()


def check_scheduler(address: str) -> None:
    """Refuse an address at which nobody answers, before anything is started."""
    _, _, place = address.rpartition("://")
    host, _, port = place.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=ANSWER_SECONDS):
            pass
    except (OSError, ValueError, OverflowError, UnicodeError) as error:
        raise _no_answer(address, error) from None


def _no_answer(address: Any, error: Exception) -> ModelError:
    return ModelError(
        f"--scheduler {quoted(address)[1:-1]}: no dask scheduler answers there within {ANSWER_SECONDS:g} s "
        f"({type(error).__name__}); start one with: dask scheduler, and give its address, as tcp://host:8786"
    )


def _compile_once() -> None:
    """On a new machine one of its workers compiles the kernels of every first run; the others wait for it."""
    from pliant.engine.warmup import warm_up
    from pliant.kernels import _jit

    if not _jit.CACHE_FOLDER or _jit.is_cached():
        return
    folder = Path(_jit.CACHE_FOLDER).parent
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "compile.lock", "a") as file:
        lock_file(file, waits=True)
        if not _jit.is_cached():
            warm_up(is_first_run=True)


def _packed(task: Task) -> bytes:
    """By cloudpickle, which takes functions that were typed in, too."""
    import cloudpickle

    try:
        found: bytes = cloudpickle.dumps(task)
        return found
    except Exception:  # its message is ours
        return packed(task, "dask")


_tasks: dict[bytes, Task] = {}  # in a worker: the last one


def run_packed(packed_task: bytes, rows: Rows, values: Values) -> Chunk:
    """What a worker does; the task is unpacked once."""
    import pickle

    if packed_task not in _tasks:
        _compile_once()
        _tasks.clear()
        _tasks[packed_task] = pickle.loads(packed_task)
    return run_chunk(_tasks[packed_task], rows, values)

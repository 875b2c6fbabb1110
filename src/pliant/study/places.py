"""Where the chunks of a study are run: threads, processes, or a cluster of dask. Each place takes chunks and gives back
futures; what a worker has to know of the study travels to it once."""

from __future__ import annotations

import pickle
import threading
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError
from pliant.simulation.run_processes import end_with_parent, starting_children
from pliant.study.chunk import Chunk, Task, run_chunk

PLACES = ("threads", "processes", "dask")
Values = dict[str, list[Any]]
Rows = NDArray[np.int64]


class Place(Protocol):
    """Who runs chunks, and gives back futures of them."""

    @property
    def workers(self) -> int: ...

    def submit(self, rows: Rows, values: Values) -> Future[Chunk]: ...

    def is_ready(self) -> bool:
        """Asked a few times a second: whether it takes chunks now. SimulationError where nobody answers any more."""
        ...

    @property
    def lost(self) -> tuple[type[BaseException], ...]:
        """What a chunk fails with whose worker was killed."""
        ...

    def stop(self) -> None:
        """Let running chunks end soon, with what they have."""
        ...

    def close(self) -> None: ...


class Threads:
    """Kernels release the interpreter's lock, so one thread per core runs."""

    def __init__(self, task: Task, workers: int) -> None:
        self.workers, self._task, self._stop = workers, task, threading.Event()
        self._pool = ThreadPoolExecutor(workers)

    def submit(self, rows: Rows, values: Values) -> Future[Chunk]:
        return self._pool.submit(run_chunk, self._task, rows, values, self._stop.is_set)

    def is_ready(self) -> bool:
        return True

    @property
    def lost(self) -> tuple[type[BaseException], ...]:
        return ()  # what kills a thread kills us

    def stop(self) -> None:
        self._stop.set()

    def close(self) -> None:
        self.stop()
        self._pool.shutdown(cancel_futures=True)


class Processes:
    """For models and figures that are much Python. Started anew, not forked: a fork would inherit locks of threads."""

    def __init__(self, task: Task, workers: int) -> None:
        self.workers, self._context = workers, get_context("spawn")
        self._packed = packed(task, "processes")
        with starting_children():
            self._stop = self._context.Event()
        self._pool = self._new_pool()

    def _new_pool(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self.workers, self._context, _begin, (self._packed, self._stop))

    def submit(self, rows: Rows, values: Values) -> Future[Chunk]:
        with starting_children():
            try:
                return self._pool.submit(_run_here, rows, values)
            except BrokenProcessPool:
                self._renew()
                return self._pool.submit(_run_here, rows, values)

    def _renew(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._pool = self._new_pool()

    def is_ready(self) -> bool:
        return True

    @property
    def lost(self) -> tuple[type[BaseException], ...]:
        return (BrokenProcessPool,)

    def stop(self) -> None:
        self._stop.set()

    def close(self) -> None:
        self.stop()
        self._pool.shutdown(cancel_futures=True)


_task: Task | None = None  # in a worker process
_stop: Any = None


def _begin(packed_task: bytes, stop: Any) -> None:
    global _task, _stop
    end_with_parent()
    _task, _stop = pickle.loads(packed_task), stop


def _run_here(rows: Rows, values: Values) -> Chunk:
    assert _task is not None
    return run_chunk(_task, rows, values, _stop.is_set)


def packed(task: Task, place: str) -> bytes:
    """A task as it travels to other processes, or a message before anything is started."""
    try:
        return pickle.dumps(task)
    except Exception as error:  # whatever a user's objects do when they are pickled
        raise ModelError(
            f'on="{place}": the study cannot be sent to other processes ({error}); give functions at the top '
            'of a file (no lambda, no function inside another one), or on="threads"'
        ) from None

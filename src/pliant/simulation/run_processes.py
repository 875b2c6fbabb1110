"""Runs shared out to processes: for models whose Python controllers hold the interpreter's lock.

Processes are started anew, not forked: a fork would inherit locks that threads of numba, of a plot or of the caller
hold. What they need travels by pickle; the kernels are compiled by the caller and loaded from the cache."""

from __future__ import annotations

import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from typing import Any

from pliant.engine.callbacks import CallbackError
from pliant.errors import ModelError, PliantError
from pliant.model.model import Model
from pliant.simulation.prepared_run import PreparedRun
from pliant.simulation.run_batch import LOOK_SECONDS, NOT_BEGUN, RunBatch, chunk_size

LOST = (
    "its process ended before it was done: killed, out of memory, or started by a script that does not say "
    'if __name__ == "__main__": before it begins to run'
)
_stop: Any = None  # in a worker: set when the caller gives up


def share_out_to_processes(batch: RunBatch, workers: int, progress: Callable[[int, int], None] | None) -> None:
    """All runs, in processes; what is done is kept when Ctrl-C or a lost process ends it."""
    pickled(batch.models[:1])  # or a message before anything is compiled
    n, goes_in_lanes = len(batch.t), False
    with suppress(PliantError):  # a start that is no good is told by its run
        # kernels are compiled here and once
        goes_in_lanes = PreparedRun(batch.models[0], **batch.settings).goes_in_lanes and len(batch.models) == 1
    size = chunk_size(n, workers, goes_in_lanes)
    parts = [range(first, min(first + size, n)) for first in range(0, n, size)]
    given = [pickled(batch.models_of(part)) for part in parts]
    context = get_context("spawn")
    stop = context.Event()
    pool = ProcessPoolExecutor(min(workers, len(parts)), context, _begin, (stop,))
    try:
        with deaf_children():
            jobs = {
                pool.submit(_run_part, models, batch.settings, *batch.starts_of(part), *batch.wanted): part
                for part, models in zip(parts, given, strict=True)
            }
        _collect(batch, jobs, stop, progress)
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)


def _collect(
    batch: RunBatch, jobs: dict[Future[Any], range], stop: Any, progress: Callable[[int, int], None] | None
) -> None:
    """Take what comes; Ctrl-C, or a progress function that fails, ends it with what is done."""
    pending = set(jobs)
    try:
        while pending:
            done, pending = wait(pending, LOOK_SECONDS, FIRST_COMPLETED)
            for job in done:
                _take(batch, jobs[job], job)
            if progress is not None:
                progress(batch.n_done, len(batch.t))
    except (KeyboardInterrupt, CallbackError) as error:
        stop.set()
        for job in pending:
            job.cancel()
        for job in wait(pending).done:
            _take(batch, jobs[job], job)
        if isinstance(error, CallbackError):
            batch.reasons[batch.reasons == NOT_BEGUN] = f"{NOT_BEGUN}: {error}"


def _take(batch: RunBatch, part: range, job: Future[Any]) -> None:
    """What a job found, or that its process was lost."""
    if job.cancelled():
        return
    try:
        batch.put(part, job.result())
    except BrokenProcessPool:
        batch.status[part.start : part.stop], batch.reasons[part.start : part.stop] = "failed", LOST


@contextmanager
def deaf_children() -> Iterator[None]:
    """Ctrl-C reaches all processes of a terminal: those started here leave it to the caller from their first moment."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def pickled(models: tuple[Model, ...]) -> bytes:
    """Models as they travel, or a message before anything is started."""
    advice = (
        'give functions that stand at the top of a file (no lambda, no function inside another one), or on="threads"'
    )
    for controller in (controller for model in models for controller in model.controllers):
        is_typed_in = getattr(controller.function, "__module__", "") == "__main__"
        if is_typed_in and not hasattr(sys.modules["__main__"], "__file__"):
            raise ModelError(
                f'on="processes": function of controller {controller.name!r} was typed in, so that other processes '
                f"cannot find it; {advice}"
            )
    try:
        return pickle.dumps(models)
    except Exception as error:
        raise ModelError(f'on="processes": model {models[0].name!r} cannot be sent: {error}; {advice}') from None


# --- in a worker ----------------------------------------------------------------------------------------------------


def _begin(stop: Any) -> None:
    global _stop
    _stop = stop


def _look(done: int, runs: int) -> None:
    if _stop is not None and _stop.is_set():
        raise KeyboardInterrupt


def _run_part(models: bytes, *given: Any) -> dict[str, Any]:
    """Some of the runs, as one thread of the caller would make them."""
    batch = RunBatch(pickle.loads(models), *given)
    batch.share_out(1, _look)
    return batch.part()

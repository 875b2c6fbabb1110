"""Runs shared out to processes: for models whose Python controllers hold the interpreter's lock.

Processes are started anew, not forked: a fork would inherit locks that threads of numba, of a plot or of the caller
hold. What they need travels by pickle; the kernels are compiled by the caller and loaded from the cache."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing import get_context, parent_process, resource_tracker
from typing import Any

from pliant.engine.callbacks import CallbackError
from pliant.engine.interruptions import remembered_interruptions
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
    with starting_children():
        stop = context.Event()
    pool = ProcessPoolExecutor(min(workers, len(parts)), context, _begin, (stop,))
    jobs: dict[Future[Any], range] = {}

    def submit() -> None:
        with starting_children():
            for part, models in zip(parts, given, strict=True):
                job = pool.submit(_run_part, models, batch.settings, *batch.starts_of(part), *batch.wanted)
                jobs[job] = part

    try:
        _collect(batch, submit, jobs, stop, progress)
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)


def _collect(
    batch: RunBatch,
    submit: Callable[[], None],
    jobs: dict[Future[Any], range],
    stop: Any,
    progress: Callable[[int, int], None] | None,
) -> None:
    """Begin, and take what comes; Ctrl-C, or a progress function that fails, ends it with what is done. submit: fills
    the jobs."""
    taken: set[Future[Any]] = set()
    try:
        with remembered_interruptions() as ask_for_interruption:
            submit()
            while len(taken) < len(jobs):
                ask_for_interruption()
                for job in wait(jobs.keys() - taken, LOOK_SECONDS, FIRST_COMPLETED).done:
                    taken.add(job)
                    _take(batch, jobs[job], job)
                if progress is not None:
                    progress(batch.n_done, len(batch.t))
    except (KeyboardInterrupt, CallbackError) as error:
        stop.set()
        left = jobs.keys() - taken
        for job in left:
            job.cancel()
        for job in wait(left).done:
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
def starting_children() -> Iterator[None]:
    """Start processes that leave Ctrl-C, which reaches all of a terminal, to this one from their first moment: they
    inherit that it is blocked. One that comes meanwhile is not lost: it is raised at the end.

    Nor do they import anything from the working folder, where files of others may lie."""
    safe = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        with _deferred_interruption():
            yield
    finally:
        del os.environ["PYTHONSAFEPATH"]
        if safe is not None:
            os.environ["PYTHONSAFEPATH"] = safe


@contextmanager
def _deferred_interruption() -> Iterator[None]:
    """Block Ctrl-C for processes that are started here; one that comes is raised at the end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    if hasattr(signal, "pthread_sigmask"):
        resource_tracker.ensure_running()  # now: it would let Ctrl-C in when it starts
    _mask(True)
    try:
        yield
    finally:
        _mask(False)
        signal.signal(signal.SIGINT, before)
        if came:
            signal.raise_signal(signal.SIGINT)


def _mask(is_blocked: bool) -> None:
    """Block Ctrl-C in this thread, or let it in, where the system can."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK if is_blocked else signal.SIG_UNBLOCK, {signal.SIGINT})


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
    end_with_parent()


def end_with_parent() -> None:
    """End this process as soon as the one that started it is gone, however that ended; Ctrl-C is left to that one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, name="pliant-parent", daemon=True).start()


def _look(done: int, runs: int) -> None:
    if _stop is not None and _stop.is_set():
        raise KeyboardInterrupt


def _run_part(models: bytes, *given: Any) -> dict[str, Any]:
    """Some of the runs, as one thread of the caller would make them."""
    batch = RunBatch(pickle.loads(models), *given)
    batch.share_out(1, _look)
    return batch.part()

"""Rows of work shared out to threads: kernels release the interpreter's lock, so one thread per core runs."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable

from pliant.engine.arguments import as_whole
from pliant.engine.prepared import Prepared

MIN_WORK = 1000  # rows times velocities that are worth a thread


def thread_count(threads: int | None) -> int:
    """As many as asked for; None: one per core that this process may use."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return as_whole(threads, "threads", advice=", or None for all cores")


def over_rows(handle: Prepared, rows: int, threads: int | None, job: Callable[[Prepared, slice], None]) -> None:
    """job(handle, part) for contiguous parts of the rows; every thread has a handle of its own."""
    worth = rows * max(1, len(handle.system.dofs)) // MIN_WORK
    count = max(1, min(thread_count(threads), rows, worth))
    bounds = [rows * k // count for k in range(count + 1)]
    parts = [slice(a, b) for a, b in itertools.pairwise(bounds)]
    if count == 1:
        _in_turn(handle, parts[0], job)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(count - 1) as pool:
        others = [
            pool.submit(_in_turn, *pair, job) for pair in zip(handle.per_thread(count)[1:], parts[1:], strict=True)
        ]
        _in_turn(handle, parts[0], job)
        for other in others:
            other.result()


def _in_turn(handle: Prepared, part: slice, job: Callable[[Prepared, slice], None]) -> None:
    """A user may have given the handle to another thread."""
    with handle.lock:
        job(handle, part)

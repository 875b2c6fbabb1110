"""Rows of work shared out to threads: kernels release the interpreter's lock, so one thread per core runs."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable

import numpy as np

from pliant.dynamics import Prepared
from pliant.errors import ModelError

LEAST_WORK = 1000  # rows times velocities that are worth a thread


def thread_count(threads: int | None) -> int:
    """As many as asked for; None: one per core that this process may use."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not isinstance(threads, (int, np.integer)) or isinstance(threads, bool) or threads < 1:
        raise ModelError(f"threads: {threads!r} found; give a whole number from 1 on, or None for all cores")
    return int(threads)


def over_rows(handle: Prepared, rows: int, threads: int | None, job: Callable[[Prepared, slice], None]) -> None:
    """job(handle, part) for contiguous parts of the rows; every thread has a handle of its own."""
    worth = rows * max(1, len(handle.system.dofs)) // LEAST_WORK
    count = max(1, min(thread_count(threads), rows, worth))
    bounds = [rows * k // count for k in range(count + 1)]
    parts = [slice(a, b) for a, b in itertools.pairwise(bounds)]
    if count == 1:
        job(handle, parts[0])
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(count - 1) as pool:
        others = [pool.submit(job, *pair) for pair in zip(handle.crew(count)[1:], parts[1:], strict=True)]
        job(handle, parts[0])
        for other in others:
            other.result()

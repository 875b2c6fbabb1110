"""CPU time of small jobs: batches long enough for the clock, the jobs taking turns, the least of all rounds."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from timeit import Timer
from typing import Any

BATCH_SECONDS = 4e-3
ROUNDS = 60


def statement(code: str, **names: Any) -> Timer:
    """A line of Python as a job, without the cost of calling a closure."""
    return Timer(code, timer=time.process_time, globals=names)


def job(function: Callable[[], Any]) -> Timer:
    return Timer(function, timer=time.process_time)


def _batch(timer: Timer) -> int:
    """Calls that fill a batch; the first call only warms up."""
    timer.timeit(1)
    number = 1
    while (spent := timer.timeit(number)) < BATCH_SECONDS:
        number = max(2 * number, int(number * BATCH_SECONDS / max(spent, 1e-7)))
    return number


def measure(jobs: Mapping[str, Timer], rounds: int = ROUNDS) -> dict[str, float]:
    """Seconds per call of each job."""
    batches = {name: _batch(timer) for name, timer in jobs.items()}
    best = dict.fromkeys(jobs, float("inf"))
    for _ in range(rounds):
        for name, timer in jobs.items():
            best[name] = min(best[name], timer.timeit(batches[name]) / batches[name])
    return best

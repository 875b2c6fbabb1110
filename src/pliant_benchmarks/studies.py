"""Studies: what a row costs, how many rows two workers make, what the store and a cluster add, and where a scheduler
with 64 workers has enough to do with itself."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from pliant.simulation.many_runs import simulate_many
from pliant.study.study import Study
from pliant_benchmarks import models
from pliant_benchmarks.figures import Figure, Say

SIZES = (1_000, 10_000, 100_000)  # rows of the shortest runs
SHORT, LONG = 0.05, 80.0  # [s] of simulated motion: runs of microseconds, and of a millisecond
LONG_ROWS = 8_000  # so many that what it takes to start workers, and how much that varies, is little
WORKERS = 64  # simulated: threads of this process, whose tasks sleep
NAPS = (1.0, 0.1, 0.0)  # [s] of one task
TASKS = 8  # per worker


def _study(rows: int, duration: float) -> Study:
    model = models.pliant_model(models.chain(3))
    joint = model.coordinates[0]
    figures = [joint, f"{joint}.rate"]
    return Study(
        model, {f"{joint}.start": "0:0.5"}, figures, settings={"duration": duration, "rtol": 1e-6}, sample=rows
    )


def _timed(call: Callable[[], Any]) -> tuple[float, float]:
    """CPU time, that of processes that were started and have ended included, and wall time."""
    cpu, wall = _cpu(), time.perf_counter()
    call()
    return _cpu() - cpu, time.perf_counter() - wall


def _cpu() -> float:
    found = os.times()
    return found.user + found.system + found.children_user + found.children_system


def _run(study: Study, is_stored: bool = False, **options: Any) -> tuple[float, float]:
    folder = Path(tempfile.mkdtemp(prefix="pliant-study-"))
    try:
        return _timed(lambda: study.run(folder / "study" if is_stored else None, progress=False, **options))
    finally:
        shutil.rmtree(folder)


def study(say: Say) -> list[Figure]:
    _run(_study(10, SHORT), workers=1)  # kernels, imports
    return [*_costs(say), *_places(say), *_scheduler(say)]


def _costs(say: Say) -> list[Figure]:
    """Of short rows: flat in their number; the store."""
    say("simulate_many")
    model = models.pliant_model(models.chain(3))
    starts = np.tile(model.q0, (SIZES[1], 1))
    starts[:, 0] = np.linspace(0.0, 0.5, len(starts))
    plain = min(_timed(lambda: simulate_many(model, SHORT, q0=starts, rtol=1e-6, workers=1))[0] for _ in range(3))
    plain /= len(starts)
    found = [Figure("simulate_many, a short run", plain, note="CPU time")]
    begun = min(_run(_study(2, SHORT), workers=1)[0] for _ in range(3))
    costs = []
    for size in SIZES:
        say(f"{size} rows")
        bare, stored = (_run(_study(size, SHORT), is_stored, workers=1)[0] for is_stored in (False, True))
        costs.append((bare - begun) / size)
        ratio = costs[-1] / costs[0]
        limit = 1.3 if size > SIZES[0] else None
        words = f"store {1e6 * max(0.0, stored - bare) / size:.1f} us a row, {1e3 * begun:.0f} ms to begin with"
        found.append(Figure(f"a row of {size}", costs[-1], ratio, limit, note=words))
    return found


def _places(say: Say) -> list[Figure]:
    """Two workers against one thread, runs of some milliseconds."""
    say("one thread")
    cpu, one = _more(workers=1)
    found = [Figure("one thread, runs of milliseconds", cpu, note="CPU time")]
    for place in ("threads", "processes", "dask"):
        if place == "dask" and find_spec("distributed") is None:
            continue
        say(f"two workers, {place}")
        both, two = _more(on=place, workers=2)
        note = f"wall time, needs two idle cores; CPU time {both / cpu:.2f} of one thread's"
        found.append(Figure(f"two workers, {place}, times as many", two, one / two, 1.9, True, note=note))
    return found


def _more(**options: Any) -> tuple[float, float]:
    """CPU and wall time of one more row: what it takes to start workers is nothing in a study of hours."""
    few, many = (
        np.min([_run(_study(rows, LONG), **options) for _ in range(2)], axis=0) for rows in (LONG_ROWS // 8, LONG_ROWS)
    )
    cpu, wall = (many - few) / (LONG_ROWS - LONG_ROWS // 8)
    return float(cpu), float(wall)


def _scheduler(say: Say) -> list[Figure]:
    """Tasks that sleep, on 64 workers: the share of the time in which they sleep."""
    if find_spec("distributed") is None:
        return []
    import distributed

    library: Any = distributed

    found = []
    cluster = library.LocalCluster(
        n_workers=WORKERS,
        threads_per_worker=1,
        processes=False,
        dashboard_address=":0",
        silence_logs=50,
        memory_limit=0,
    )
    with cluster, library.Client(cluster, set_as_default=False) as client:
        client.gather(client.map(time.sleep, [0.0] * WORKERS, pure=False))
        for nap in NAPS:
            say(f"{WORKERS} workers, tasks of {nap:g} s")
            count = WORKERS * TASKS
            cpu, wall = _timed(lambda: client.gather(client.map(time.sleep, [nap] * count, pure=False)))  # noqa: B023
            share = nap * TASKS / wall if nap else None
            note = f"CPU time {1e3 * cpu / count:.2g} ms a task, of all in one process; ratio: time that is work"
            found.append(Figure(f"{WORKERS} workers, tasks of {nap:g} s", wall / count, share, note=note))
    return found

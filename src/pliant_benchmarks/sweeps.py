"""Many runs in one call: runs per second of CPU time of one thread; what a second one brings, in wall time."""

from __future__ import annotations

import time

import numpy as np

from pliant.model.model import Model
from pliant.simulation.many_runs import simulate_many
from pliant_benchmarks import models
from pliant_benchmarks.figures import Figure, Say
from pliant_benchmarks.models import Array

RUNS = 64000  # preparing the threads takes 5 ms, all of it less than a second
SPREAD = 0.5  # [rad] of the first start angle
ROUNDS = 5


def _seconds(model: Model, starts: Array, threads: int) -> tuple[float, float]:
    """CPU time and wall time."""
    cpu, wall = time.process_time(), time.perf_counter()
    runs = simulate_many(model, 1.0, q0=starts, rtol=1e-6, workers=threads)
    assert runs.is_ok.all()
    return time.process_time() - cpu, time.perf_counter() - wall


def sweep(say: Say) -> list[Figure]:
    model = models.pliant_model(models.chain(3))
    starts = np.tile(model.q0, (RUNS, 1))
    starts[:, 0] += np.linspace(0.0, SPREAD, RUNS)
    rounds = []
    for k in range(ROUNDS):
        say(f"round {k + 1} of {ROUNDS}")
        rounds.append([_seconds(model, starts, threads) for threads in (1, 2)])
    (cpu, one), (_, two) = np.min(rounds, axis=0) / RUNS
    return [
        Figure("one thread, runs/s", cpu, 1 / cpu, 20000.0, True, note="CPU time"),
        Figure("two threads, times as many", two, one / two, 1.9, True, note="wall time; needs two idle cores"),
    ]

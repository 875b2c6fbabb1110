"""Steps of a three-link arm under torques from Python, as a controller or a learning environment makes them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.simulation.stepper import Stepper, stepper
from pliant.simulation.stepper_batch import StepperBatch
from pliant_benchmarks import models
from pliant_benchmarks.figures import Figure, Say

PERIOD = 0.01  # [s]
STEPS, ROUNDS = 2000, 7
TOGETHER = 128
GOAL = 1e5  # steps a second
WAYS: dict[str, dict[str, Any]] = {
    "rk4, one step": {"integrator": "rk4", "step": PERIOD},
    "dopri5, rtol 1e-6": {"integrator": "dopri5", "rtol": 1e-6},
    "auto, rtol 1e-8": {},
}


def _seconds(begin: Callable[[], Any], call: Callable[[], Any], count: int) -> float:
    """CPU time of a call, the least of some rounds."""
    found = []
    for _ in range(ROUNDS):
        begin()
        start = time.thread_time()
        for _ in range(count):
            call()
        found.append((time.thread_time() - start) / count)
    return min(found)


def _together(first: Stepper, say: Say) -> Figure:
    """Many steppers by one compiled loop, as vector environments make them, in one thread."""
    say(f"rk4, {TOGETHER} at once")
    batch, tau = StepperBatch(first, TOGETHER, threads=1), np.zeros((TOGETHER, 3))

    def begin() -> None:
        for i in range(TOGETHER):
            batch.reset(i)

    seconds = _seconds(begin, lambda: batch.step(tau, PERIOD), STEPS // TOGETHER) / TOGETHER
    assert batch.is_ok.all()
    return Figure(f"rk4, {TOGETHER} at once, steps/s", seconds, 1 / seconds, GOAL, True, note="CPU time of one core")


def steps(say: Say) -> list[Figure]:
    model = models.pliant_model(models.chain(3))
    tau = np.zeros(3)
    figures = []
    for words, options in WAYS.items():
        say(words)
        arm = stepper(model, **options)

        def call(arm: Stepper = arm) -> bool:
            return arm.step(tau, PERIOD)

        seconds = _seconds(arm.reset, call, STEPS)
        assert arm.is_ok, arm.reason
        goal = GOAL if options else None
        figures.append(Figure(f"{words}, steps/s", seconds, 1 / seconds, goal, True, note="CPU time"))
    figures.append(_together(stepper(model, **WAYS["rk4, one step"]), say))
    saved = arm.save()
    others: dict[str, Callable[[], Any]] = {
        "reset": arm.reset, "save": arm.save, "restore": lambda: arm.restore(saved),
    }  # fmt: skip
    return figures + [Figure(name, _seconds(arm.reset, other, STEPS // 10)) for name, other in others.items()]

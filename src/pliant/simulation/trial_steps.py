"""Steps on trial: another integrator goes on for a few steps, and they can be taken back."""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from pliant.methods.integrators import Integrator
from pliant.simulation.auto_integrator import HOPELESS, MEASURED, SETTLING, TRIAL, Costs
from pliant.simulation.kept import stepping_of
from pliant.system.status import Status

if TYPE_CHECKING:
    from pliant.simulation.run import Run

TRIED = (Status.PAUSE, Status.SAMPLE, Status.BUFFER_FULL, Status.DONE, Status.STOPPED)  # from which a run can go on
FOREVER, TINY = 1e9, 1e-300  # [s], evaluations
AT_ONCE = 4  # steps between two looks at costs


class Measured(NamedTuple):
    """What a method costs along a piece of motion, in units of evaluations."""

    t: list[float]  # [s]
    cost: list[float]  # until each of them

    def add(self, now: tuple[float, float]) -> float:
        """One more t, and the cost until then; returns t."""
        self.t.append(now[0])
        self.cost.append(now[1])
        return now[0]

    def until(self, t: float) -> float:
        """Cost until t, between what was measured before and after it."""
        k = min(max(bisect_right(self.t, t), 1), len(self.t) - 1)
        t0, t1 = self.t[k - 1], self.t[k]
        share = min(max((t - t0) / (t1 - t0), 0.0), 1.0) if t1 > t0 else 1.0
        return self.cost[k - 1] + share * (self.cost[k] - self.cost[k - 1])

    def ratio(self, other: Measured, begin: float) -> float:
        """Cost of another method over that of this one, from begin on as far as both went: what lies beyond may be
        other motion."""
        end = min(self.t[-1], other.t[-1])
        return (other.until(end) - other.until(begin)) / max(self.until(end) - self.until(begin), TINY)


def guessed(t: float, rate: float) -> Measured:
    """From t on, at so much per second of motion."""
    return Measured([t, t + FOREVER], [0.0, rate * FOREVER])


def measure_steps(run: Run, scheme: Integrator) -> tuple[Status, Measured]:
    """Go on for a few steps with the method in use: where that led, and what they cost."""
    stepping, costs = stepping_of(run.memory), Costs(scheme, run.memory)
    budget, stepping["budget"], stepping["watches"], stepping["review"] = int(stepping["budget"]), AT_ONCE, 0, 0
    made, status, left = Measured([], []), Status.PAUSE, MEASURED
    made.add(costs.now())
    while status == Status.PAUSE and left > 0:
        status, left = Status(run.enter()), left - AT_ONCE
        made.add(costs.now())
    stepping["budget"] = budget
    return status, made


def try_steps(run: Run, scheme: Integrator, measured: Measured) -> tuple[Status, float]:
    """Go along the same piece of motion with another integrator, a few steps at most: where that led, and its cost over
    that of the method in use. Its first steps, which look for their length, count only if there are no others."""
    run.change_integrator(scheme)
    stepping, costs, t_end, left = stepping_of(run.memory), Costs(scheme, run.memory), measured.t[-1], TRIAL
    budget, stepping["budget"], stepping["watches"], stepping["review"] = int(stepping["budget"]), SETTLING, 0, 0
    made = Measured([], [])
    begin = made.add(costs.now())
    status = Status(run.enter())
    t = made.add(costs.now())
    if status == Status.PAUSE and t < t_end:
        begin, stepping["budget"] = t, AT_ONCE
    while status == Status.PAUSE and t < t_end and left > 0 and (t == begin or measured.ratio(made, begin) < HOPELESS):
        status, t, left = Status(run.enter()), made.add(costs.now()), left - AT_ONCE
    stepping["budget"] = budget
    return status, measured.ratio(made, begin) if status in TRIED else math.inf

"""Steps on trial: another integrator goes on for a few steps, and they can be taken back."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.methods.integrators import Integrator
from pliant.simulation.auto_integrator import SETTLING, TRIAL, units
from pliant.system.memory import Memory
from pliant.system.status import Status

if TYPE_CHECKING:
    from pliant.simulation.run import Run

Array = NDArray[np.float64]
Bytes = NDArray[np.uint8]
BUFFERS = ("rows", "piece_times", "piece_terms")  # of Memory; how far they are filled is in memory.stepping
TRIED = (Status.PAUSE, Status.SAMPLE, Status.BUFFER_FULL, Status.DONE, Status.STOPPED)  # from which a run can go on
FIRST_STEPS = 6  # that are looked at, and taken back
NEVER = 1 << 40  # steps


def as_bytes(table: Any) -> Bytes:
    """The memory of a table of records: copied in a fraction of a microsecond, records one by one take twenty."""
    return table.view(np.ndarray).view(np.uint8)  # type: ignore[no-any-return]


class Kept:
    """A copy of all that steps change, but for the buffers of what is recorded."""

    def __init__(self, work: Any, memory: Memory) -> None:
        named = [*zip(work._fields, work, strict=True), *zip(memory._fields, memory, strict=True)]
        self._tables = [as_bytes(table) for name, table in named if table.nbytes and name not in BUFFERS]
        self._copies = [table.copy() for table in self._tables]

    def restore(self) -> None:
        for table, copy in zip(self._tables, self._copies, strict=True):
            table[...] = copy


def fastest(run: Run) -> float:
    """About the largest eigenvalue of the equations of motion [1/s], as the first steps of dop853 see it: where motion
    oscillates their estimates go up and down, and the geometric mean is about right."""
    kept, stepping, found = Kept(run.handle.work, run.memory), run.memory.stepping[0], []
    stepping.watches, stepping.budget = NEVER, 1
    for _ in range(FIRST_STEPS):
        status = run.enter()
        if status == Status.PAUSE and stepping.stiffness > 0.0:
            found.append(math.log(stepping.stiffness / stepping.h_made))
        elif status not in (Status.PAUSE, Status.SAMPLE):  # a controller is not asked
            break
    kept.restore()
    return math.exp(sum(found) / len(found)) if found else 0.0


def try_steps(run: Run, scheme: Integrator) -> tuple[Status, float]:
    """Go on with another integrator for a few steps: where that led, and its cost per second of motion."""
    run.change_integrator(scheme)
    memory, stepping = run.memory, run.memory.stepping[0]
    budget, stepping.watches, stepping.review = int(stepping.budget), 0, 0
    for steps in (SETTLING, TRIAL):
        t, cost = float(stepping.t), units(scheme, memory)
        stepping.budget = steps
        status = Status(run.enter())
        if status != Status.PAUSE:
            break
    stepping.budget = budget
    passed = float(stepping.t) - t
    is_good = status in TRIED and passed > 0.0
    return status, (units(scheme, memory) - cost) / passed if is_good else math.inf

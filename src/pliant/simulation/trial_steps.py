"""Steps on trial: another integrator goes on for a few steps, and they can be taken back."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.engine.motion import moved_along
from pliant.engine.prepared import Prepared
from pliant.errors import PliantError
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
ITERATIONS = 8  # of the power method, even: displacements become velocities and these accelerations
DIFFERENCE = 1e-6  # [rad, m, 1/s of them] of states whose accelerations are compared


def as_bytes(table: Any) -> Bytes:
    """The memory of a table of records: copied in a fraction of a microsecond, records one by one take twenty."""
    return table.view(np.ndarray).view(np.uint8)  # type: ignore[no-any-return]


class Kept:
    """A copy of all that steps change, but for the buffers of what is recorded."""

    def __init__(self, work: Any, memory: Memory | None = None) -> None:
        named = [*zip(work._fields, work, strict=True)]
        if memory is not None:
            named += zip(memory._fields, memory, strict=True)
        self._tables = [as_bytes(table) for name, table in named if table.nbytes and name not in BUFFERS]
        self._copies = [table.copy() for table in self._tables]

    def restore(self) -> None:
        for table, copy in zip(self._tables, self._copies, strict=True):
            table[...] = copy


def fastest(handle: Prepared, t: float, y: Array) -> float:
    """About the largest eigenvalue of the equations of motion [1/s]: the power method, by differences."""
    n_q, n_v = int(handle.system.world[0].n_q), int(handle.system.world[0].n_v)
    q, v = y[:n_q].copy(), y[n_q : n_q + n_v].copy()
    kept = Kept(handle.work)
    try:
        a = handle.forward_dynamics(q, v, t=t).copy()
        x, w, growth = np.zeros(n_v), np.where(np.arange(n_v) % 2, 1.0, -1.0), []
        for _ in range(ITERATIONS):
            size = math.hypot(*x, *w)
            if not 0.0 < size < math.inf:
                return 0.0
            growth.append(size)
            x, w = x / size, w / size
            beside = moved_along(handle, q, DIFFERENCE * x), v + DIFFERENCE * w
            x, w = w, (handle.forward_dynamics(*beside, t=t) - a) / DIFFERENCE
    except PliantError:
        return 0.0
    finally:
        kept.restore()
    return math.exp(sum(math.log(each) for each in growth[2:]) / len(growth[2:]))


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

"""Steps on trial: another integrator goes on for a few steps, and they can be taken back."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.methods.integrators import Integrator
from pliant.simulation.auto_integrator import HOPELESS, MEASURED, SETTLING, TRIAL, Costs
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
FOREVER, TINY = 1e9, 1e-300  # [s], evaluations
AT_ONCE = 2  # steps between two looks at costs


def as_bytes(table: Any) -> Bytes:
    """The memory of a table of records: copied in a fraction of a microsecond, records one by one take twenty."""
    return table.view(np.ndarray).view(np.uint8)  # type: ignore[no-any-return]


class Kept:
    """A copy of all that steps change, but for the buffers of what is recorded."""

    def __init__(self, work: Any, memory: Memory) -> None:
        named = [*zip(work._fields, work, strict=True), *zip(memory._fields, memory, strict=True)]
        self._memory = memory
        self._tables = [as_bytes(table) for name, table in named if table.nbytes and name not in BUFFERS]
        self._copies = [table.copy() for table in self._tables]
        self._recorded: list[tuple[Array, Array]] = []

    def keep(self) -> None:
        """All as it is now."""
        for table, copy in zip(self._tables, self._copies, strict=True):
            copy[...] = table

    def keep_recorded(self, n_rows: int, n_pieces: int) -> None:
        """What is recorded now, beyond so much of it."""
        memory, stepping = self._memory, self._memory.stepping[0]
        rows, pieces = slice(n_rows, int(stepping.n_rows)), slice(n_pieces, int(stepping.n_pieces))
        parts = memory.rows[rows], memory.piece_times[pieces], memory.piece_terms[pieces]
        self._recorded = [(part, part.copy()) for part in parts]

    def restore(self) -> None:
        for table, copy in zip(self._tables, self._copies, strict=True):
            table[...] = copy
        for part, kept in self._recorded:
            part[...] = kept


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


class Measured(NamedTuple):
    """What the method in use costs along a piece of motion, in units of evaluations."""

    t: list[float]  # [s]
    cost: list[float]  # until each of them

    def ratio(self, begin: tuple[float, float], end: tuple[float, float]) -> float:
        """Cost of another method, from t and cost to t and cost, over that of this one. What lies beyond the end may be
        other motion, and does not count."""
        before, until = np.interp((begin[0], end[0]), self.t, self.cost)
        return (end[1] - begin[1]) / max(float(until - before), TINY)


def guessed(t: float, rate: float) -> Measured:
    """From t on, at so much per second of motion."""
    return Measured([t, t + FOREVER], [0.0, rate * FOREVER])


def measure_steps(run: Run, scheme: Integrator) -> tuple[Status, Measured]:
    """Go on for a few steps with the method in use: where that led, and what they cost."""
    stepping, costs = run.memory.stepping[0], Costs(scheme, run.memory)
    budget, stepping.budget, stepping.watches, stepping.review = int(stepping.budget), AT_ONCE, 0, 0
    made, status, left = [costs.now()], Status.PAUSE, MEASURED
    while status == Status.PAUSE and left > 0:
        status, left = Status(run.enter()), left - AT_ONCE
        made.append(costs.now())
    stepping.budget = budget
    return status, Measured([t for t, _ in made], [cost for _, cost in made])


def try_steps(run: Run, scheme: Integrator, measured: Measured) -> tuple[Status, float]:
    """Go along the same piece of motion with another integrator, a few steps at most: where that led, and its cost over
    that of the method in use. Its first steps, which look for their length, count only if there are no others."""
    run.change_integrator(scheme)
    stepping, costs, t_end, left = run.memory.stepping[0], Costs(scheme, run.memory), measured.t[-1], TRIAL
    budget, stepping.budget, stepping.watches, stepping.review = int(stepping.budget), SETTLING, 0, 0
    begin = costs.now()
    status, now = Status(run.enter()), costs.now()
    if status == Status.PAUSE and now[0] < t_end:
        begin, stepping.budget = now, AT_ONCE
    while status == Status.PAUSE and now[0] < t_end and left > 0 and measured.ratio(begin, now) < HOPELESS:
        status, now, left = Status(run.enter()), costs.now(), left - AT_ONCE
    stepping.budget = budget
    return status, measured.ratio(begin, now) if status in TRIED else math.inf

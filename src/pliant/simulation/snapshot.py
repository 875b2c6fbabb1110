"""All that the next instant of a run depends on, copied bit by bit: a run goes on from it as if it had never left.

A Checkpoint (results/checkpoint.py) is what a file can keep, and integrators begin anew from it; a Snapshot has their
past, too."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.methods.integrators import Integrator
from pliant.results.checkpoint import SampledState
from pliant.simulation.auto_integrator import AutoChoice
from pliant.simulation.kept import as_bytes
from pliant.simulation.run import Run

ADDRESSES = ("step", "interpolant")  # in memory.stepping: they hold in one process only


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Tables of Memory and Work, the integrators so far, and Python controllers."""

    tables: bytes  # one behind the other
    checksum: int  # of them: kernels look at no index in what is put back
    integrators: tuple[tuple[float, Integrator], ...]
    choice: AutoChoice | None
    sampled: tuple[SampledState, ...]


def _view(table: Any) -> memoryview[int]:
    """The memory of a table: parts of it are copied in a tenth of a microsecond."""
    return memoryview(as_bytes(table).reshape(-1))  # type: ignore[arg-type]  # numpy has buffers, too


class Tables:
    """The memory of all tables of a run that change, as bytes: copied in a few microseconds."""

    def __init__(self, run: Run) -> None:
        self._run = run
        work, model = run.handle.work, run.handle.model
        self._seed = zlib.crc32(repr((model.coordinates, model.velocities)).encode())  # tables of others are damage
        changing = [table for name, table in zip(work._fields, work, strict=True) if name != "calls"]
        self._work = [_view(table) for table in changing if table.nbytes]
        self._addresses = [run.memory.stepping.view(np.ndarray)[name] for name in ADDRESSES]
        self._memory: Any = None
        self._of_memory: list[memoryview[int]] = []
        self._known = b""  # tables that were summed last: often they are the next, too

    def _bytes(self) -> list[memoryview[int]]:
        memory = self._run.memory
        if memory is not self._memory:  # "auto" has changed the integrator
            self._memory = memory
            self._of_memory = [_view(table) for table in memory if table.nbytes]
        return [*self._of_memory, *self._work]

    def save(self) -> Snapshot:
        """A copy."""
        run = self._run
        sampled = run.sampler.states() if run.sampler is not None else ()
        tables = self._known = b"".join(self._bytes())
        return Snapshot(tables, self._sum(tables), tuple(run.integrators), run.choice and run.choice.copy(), sampled)

    def _sum(self, tables: bytes) -> int:
        return zlib.crc32(tables, self._seed)

    def _are_ours(self, tables: bytes, checksum: int) -> bool:
        """Return True if these tables were saved by a run like this one; remembered, because bytes never change."""
        if tables is not self._known and self._sum(tables) == checksum:
            self._known = tables
        return tables is self._known

    def is_snapshot(self, found: Any) -> bool:
        """Return True if this is a snapshot as it was made; of this run, if it was made in the same way."""
        return (
            isinstance(found, Snapshot)
            and isinstance(found.tables, bytes)
            and isinstance(found.checksum, int)
            and self._are_ours(found.tables, found.checksum)
            and isinstance(found.integrators, tuple)
            and len(found.integrators) > 0
            and all(
                isinstance(each, tuple) and len(each) == 2 and isinstance(each[1], Integrator)
                for each in found.integrators
            )
            and isinstance(found.choice, type(self._run.choice))
            and isinstance(found.sampled, tuple)
        )

    def restore(self, snapshot: Snapshot) -> None:
        """As it was, of this run or of one made in the same way."""
        run = self._run
        if run.integrators[-1][1] != snapshot.integrators[-1][1]:
            run.change_integrator(snapshot.integrators[-1][1])
        run.integrators[:] = snapshot.integrators
        run.choice = snapshot.choice and snapshot.choice.copy()
        addresses = [int(each[0]) for each in self._addresses]
        first, saved = 0, memoryview(snapshot.tables)
        for table in self._bytes():
            table[:] = saved[first : first + len(table)]
            first += len(table)
        for each, address in zip(self._addresses, addresses, strict=True):
            each[0] = address

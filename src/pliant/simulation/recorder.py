"""What a run records: kept in memory as far as it is allowed; dense output beyond goes to a file, and where the rows
alone are too much the run ends with what it has."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.engine.run_options import allowed_memory
from pliant.errors import SimulationError
from pliant.machine import RESERVE, free_addresses, free_memory
from pliant.simulation.options import ROW_COPIES, in_words
from pliant.simulation.piles import Pile
from pliant.system.memory import Memory
from pliant.system.phases import Phases

Array = NDArray[np.float64]
LOOK_BYTES = 3e7  # recorded between two looks at the free memory
EVENT_BYTES = 150  # of one in the log
MAX_THINNED = 1024  # rows of which one is left
LESS = "give more (memory), a looser rtol, longer steps or a shorter duration"


class OutOfMemoryError(Exception):
    """What is recorded fills the memory allowed, or the machine's."""


@dataclass
class Recorded:
    """Buffers copied away from the loop."""

    memory: float | str = np.inf  # allowed, as in options
    has_dense: bool = False
    phase_times: list[Array] = field(default_factory=list)
    phases: list[Any] = field(default_factory=list)
    log: list[tuple[int, int, float]] = field(default_factory=list)
    rows: Pile = field(default_factory=Pile)
    starts: Pile = field(default_factory=Pile)
    terms: Pile = field(default_factory=Pile)
    nth: int = 1  # row that is kept
    lost: tuple[str, ...] = ()
    _others: int = 0  # bytes of phases and log
    _unseen: int = 0  # bytes recorded since the last look at what is free
    _free: float = np.inf  # bytes of memory at the last look ..
    _addresses: float = np.inf  # .. and of addresses

    def take(self, memory: Memory) -> None:
        """Copy what the loop recorded and hand the buffers back empty; or MemoryError, OutOfMemoryError: nothing is
        taken, and the run must end."""
        self._make_room(memory)
        self._put(memory, [part.copy() for part in _parts(memory)])

    def finish(self, memory: Memory) -> None:
        """Take what the loop recorded last, after which it is not entered again: nothing is copied."""
        self._put(memory, _parts(memory))

    def _put(self, memory: Memory, parts: list[Any]) -> None:
        rows, starts, terms, phase_times, phases = parts
        stepping = memory.stepping[0]
        log = [(int(row.event), int(row.direction), float(row.t)) for row in memory.log[: stepping.n_log]]
        try:
            self.terms.add(terms)
        except OSError as error:
            raise OutOfMemoryError(_no_disk(error)) from None
        self.rows.add(rows)
        self.starts.add(starts)
        self.phase_times.append(phase_times)
        self.phases.append(phases)
        self.log += log
        self._others += phase_times.nbytes + phases.nbytes + EVENT_BYTES * len(log)
        stepping.n_rows = stepping.n_pieces = stepping.n_log = stepping.n_phases = 0

    # --- room -----------------------------------------------------------------------------------------------------

    def _make_room(self, memory: Memory) -> None:
        """For what the loop recorded: where it does not fit, dense output goes to a file, or the run must end."""
        rows, _, terms, *_ = _parts(memory)
        kept = self.rows.in_memory + rows.nbytes + self.starts.in_memory + self._others
        dense = self.terms.in_memory + (0 if self.terms.on_disk else terms.nbytes)
        self._unseen += rows.nbytes + terms.nbytes
        if self._unseen > LOOK_BYTES:
            self._look()
        elif self.memory == "auto" and self._free == np.inf:
            return  # as short as most
        if ROW_COPIES * kept + dense <= self._allowed and self._can_end(kept, terms.nbytes):
            return
        try:
            self.terms.to_disk()
        except OSError as error:
            raise OutOfMemoryError(_no_disk(error)) from None
        self._look()
        if ROW_COPIES * kept > self._allowed:
            raise OutOfMemoryError(f"the rows of the result fill the {in_words(self._allowed)} of memory allowed")
        if not self._can_end(kept, terms.nbytes):
            raise OutOfMemoryError("the rows of the result fill the memory of the machine")

    def _look(self) -> None:
        self._unseen, self._free, self._addresses = 0, free_memory(), free_addresses()

    def _can_end(self, kept: int, more: int) -> bool:
        """Whether there is the memory to make a result of so much, by the last look."""
        dense = self.terms.in_memory + self.terms.on_disk + more
        reserve = RESERVE if self._addresses == np.inf else 0  # else it is held back already
        return (ROW_COPIES - 1) * kept + reserve <= self._free and ROW_COPIES * kept + dense <= self._addresses

    @cached_property
    def _allowed(self) -> float:
        """Bytes."""
        return allowed_memory(self.memory)

    # --- the end --------------------------------------------------------------------------------------------------

    def why_full(self, words: str) -> str:
        """The reason of a run that ended so."""
        return f"at t = {self.end:.9g} s: {words}; {LESS}"

    def give_up(self) -> str:
        """For a result that does not fit into what is left: drop the dense output, then every second row, and so on;
        the reason that says so."""
        if self.has_dense:
            self.has_dense, self.terms, self.lost = False, Pile(), ("the dense output",)
        elif self.nth < MAX_THINNED:
            self.nth *= 2
            self.rows.thin()
        else:
            raise SimulationError(self.why_full("the machine has no memory left to give anything back"))
        thinned = (f"{self.nth - 1} of {self.nth} rows",) if self.nth > 1 else ()
        lost = " and ".join((*self.lost, *thinned))
        return self.why_full(f"the machine has no memory left, and {lost} had to be dropped")

    @property
    def end(self) -> float:
        """[s] of the last row."""
        return float(self.rows.last_row[0]) if self.rows.last_row is not None else 0.0

    def phase_history(self) -> Phases:
        return Phases(np.concatenate(self.phase_times), np.concatenate(self.phases))


def _parts(memory: Memory) -> list[Any]:
    """What the loop recorded, in its own buffers: rows, starts and terms of pieces, times of phases, phases."""
    stepping = memory.stepping[0]
    return [
        memory.rows[: stepping.n_rows],
        memory.piece_times[: stepping.n_pieces],
        memory.piece_terms[: stepping.n_pieces],
        memory.phase_times[: stepping.n_phases],
        memory.phases[: stepping.n_phases],
    ]


def _no_disk(error: OSError) -> str:
    return f"the dense output fits neither into the memory allowed nor on the disk ({error.strerror})"

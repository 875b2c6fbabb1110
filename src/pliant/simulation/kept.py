"""What steps of a run change, copied and put back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.system.memory import STEPPING, Memory

Array = NDArray[np.float64]
Bytes = NDArray[np.uint8]
PLAIN = np.dtype((np.void, STEPPING))
BUFFERS = ("rows", "piece_times", "piece_terms")  # of Memory; how far they are filled is in memory.stepping


def as_bytes(table: Any) -> Bytes:
    """The memory of a table of records: copied in a fraction of a microsecond, records one by one take twenty."""
    return table.view(np.ndarray).view(np.uint8)  # type: ignore[no-any-return]


def stepping_of(memory: Memory) -> Any:
    """memory.stepping[0]; its fields, by name in brackets, are read and written in a tenth of a microsecond, those of
    an np.record take two."""
    return memory.stepping.view(np.ndarray).view(PLAIN)[0]


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
        memory, stepping = self._memory, stepping_of(self._memory)
        rows, pieces = slice(n_rows, int(stepping["n_rows"])), slice(n_pieces, int(stepping["n_pieces"]))
        parts = memory.rows[rows], memory.piece_times[pieces], memory.piece_terms[pieces]
        self._recorded = [(part, part.copy()) for part in parts]

    def restore(self) -> None:
        for table, copy in zip(self._tables, self._copies, strict=True):
            table[...] = copy
        for part, kept in self._recorded:
            part[...] = kept

"""Rows of a study shared out as chunks of about a second; what is finished goes to a sink as it comes."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.engine.interruptions import remembered_interruptions
from pliant.study.chunk import FAILED, Chunk, failed_chunk
from pliant.study.places import Place
from pliant.study.plan import Plan

Rows = NDArray[np.int64]
CHUNK_SECONDS = 1.0  # of a chunk, about
MANY_WORKERS = 100  # beyond which chunks are longer
WRITE_SECONDS = 1.0  # between two writes
MAX_CHUNK = 20_000  # rows
MAX_BUFFER = 200_000  # rows that wait to be written
GROWTH = 8  # of a chunk over the one before
LOOK_SECONDS = 0.1
MAX_LOSSES = 2  # of the worker of a single row that runs alone, before the row counts as failed
LOST = "the process that ran it ended before it was done, {} times: killed, or out of memory"
Report = Callable[[int, int, int], None]  # (done, of, failed)
Sink = Callable[[list[Chunk]], None]


@dataclass
class Piece:
    """Rows to be run together."""

    rows: Rows
    losses: int = 0  # of its worker, while it ran alone


class Sharing:
    """One study on its way."""

    def __init__(self, plan: Plan, place: Place, pending: Rows, n_figures: int, sink: Sink, report: Report) -> None:
        self.plan, self.place, self.sink, self.report = plan, place, sink, report
        self.n_figures, self.n_rows = n_figures, len(pending)
        self.n_done = self.n_failed = 0
        self._pending, self._next = pending, 0
        # chunks whose worker was lost: run one at a time, so that the next loss is surely theirs
        self._suspects: deque[Piece] = deque()
        self._running: dict[Future[Chunk], Piece] = {}
        self._size = 1.0
        self._ready: list[Chunk] = []
        self._written = time.perf_counter()

    def run(self) -> None:
        """All rows, or those that are done when Ctrl-C ends it. What is finished has reached the sink."""
        try:
            with remembered_interruptions() as ask_for_interruption:
                while self._running or self._has_more():
                    ask_for_interruption()
                    if self.place.is_ready():
                        self._fill()
                    self._collect()
        except KeyboardInterrupt:
            self.place.stop()
            for job in self._running:
                job.cancel()
            for job in wait(self._running).done:
                if not job.cancelled() and job.exception() is None:
                    self._take(job.result())
        self._write()
        self.report(self.n_done, self.n_rows, self.n_failed)

    def _has_more(self) -> bool:
        return self._next < len(self._pending) or bool(self._suspects)

    def _fill(self) -> None:
        """As many chunks under way as keep the workers busy."""
        if self._suspects:
            if not self._running:
                self._submit(self._suspects.popleft())
            return
        while self._next < len(self._pending) and len(self._running) < 2 * self.place.workers:
            # the last chunks are short, so that all workers end together
            left = len(self._pending) - self._next
            size = max(1, min(int(self._size), MAX_CHUNK, -(-left // (2 * self.place.workers))))
            self._submit(Piece(self._pending[self._next : self._next + size]))
            self._next += size

    def _submit(self, piece: Piece) -> None:
        job = self.place.submit(piece.rows, self.plan.values(piece.rows))
        self._running[job] = piece

    def _collect(self) -> None:
        done, _ = wait(self._running, LOOK_SECONDS, FIRST_COMPLETED)
        if not self._running:
            time.sleep(LOOK_SECONDS)
        was_alone = len(self._running) == 1
        for job in done:
            piece = self._running.pop(job)
            error = CancelledError() if job.cancelled() else job.exception()
            if error is None:
                self._learn(job.result())
                self._take(job.result())
            elif isinstance(error, self.place.lost):
                self._lose(piece, was_alone)
            elif isinstance(error, (CancelledError, asyncio.CancelledError)):
                self._suspects.append(piece)  # who was to run it went away: nobody's doing
            else:
                raise error
        if time.perf_counter() - self._written > WRITE_SECONDS or sum(map(len, self._ready)) > MAX_BUFFER:
            self._write()
        self.report(self.n_done, self.n_rows, self.n_failed)

    def _learn(self, chunk: Chunk) -> None:
        """How many rows make a second."""
        if len(chunk) and chunk.seconds > 0.0:
            # a scheduler takes some hundred chunks a second: those of many workers are longer
            seconds = CHUNK_SECONDS * max(1.0, self.place.workers / MANY_WORKERS)
            fits = seconds * len(chunk) / chunk.seconds
            self._size = max(1.0, min(GROWTH * self._size, fits))

    def _lose(self, piece: Piece, was_alone: bool) -> None:
        """The worker of a chunk was lost; that of a chunk that ran alone by its own doing."""
        piece.losses += was_alone
        if not piece.losses:
            self._suspects.append(piece)
        elif len(piece.rows) > 1:
            half = len(piece.rows) // 2
            self._suspects.extend((Piece(piece.rows[:half]), Piece(piece.rows[half:])))
        elif piece.losses < MAX_LOSSES:
            self._suspects.append(piece)
        else:
            self._take(failed_chunk(piece.rows, self.n_figures, LOST.format(piece.losses + 1)))

    def _take(self, chunk: Chunk) -> None:
        self._ready.append(chunk)
        self.n_done += len(chunk)
        self.n_failed += int(np.count_nonzero(chunk.status == FAILED))

    def _write(self) -> None:
        ready, self._ready = self._ready, []
        if any(map(len, ready)):
            self.sink(ready)
        self._written = time.perf_counter()


def codes(plan: Plan, rows: Rows) -> Any:
    """(rows, parameters): values of the parameters as numbers."""
    values = plan.values(rows)
    return np.stack([each.codes(values[each.name]) for each in plan.parameters], axis=1)

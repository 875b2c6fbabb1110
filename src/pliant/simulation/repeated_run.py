"""A run that can be put back to a start, again and again: what prepare_run and stepper share."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.engine.arguments import as_state
from pliant.engine.prepared import Prepared
from pliant.errors import ModelError
from pliant.mechanisms.assembly import warn_of_fast_start
from pliant.model.model import Model
from pliant.simulation.kept import as_bytes
from pliant.simulation.options import check_options
from pliant.simulation.outcome import failure_reason
from pliant.simulation.prestretch import put_on_loops
from pliant.simulation.run import Run
from pliant.system.memory import Memory
from pliant.system.pack import Packed
from pliant.system.status import Status

Array = NDArray[np.float64]


class RepeatedRun:
    """One run that records no rows, from the start of the model. packed: its tables, if there are. options: those of
    simulate, checked here."""

    def __init__(self, model: Model, unchecked: bool, packed: Packed | None = None, **options: Any) -> None:
        if check_options(model, **options)["accuracy"] is not None:
            raise ModelError(
                "accuracy is reached by whole runs that are compared; take simulate, or give rtol here (accuracy='off')"
            )
        self.options = check_options(model, **{**options, "dense": False, "sample": "off"})
        self.handle = Prepared(model, self.options["formulation"], packed, self.options["closure"], unchecked)
        self._own = as_state(model, model.q0, model.v0)
        start = put_on_loops(self.handle, (self._own[0].copy(), self._own[1].copy()), self.options, is_given=False)
        warn_of_fast_start(self.handle.start_speed_gain)
        self.run = Run(self.handle, start, self.options, wants_rows=False)
        self.has_phase = len(self.handle.work.phase) > 0
        if self.has_phase:
            with contextlib.suppress(ModelError):  # the model's own start need not be one of those to come
                self.handle.start_phase(self.memory.y)
        self.run.choose_first()
        self.y0, self.stepping0 = self.memory.y.copy(), self.memory.stepping.copy()
        self._stepping, self._stepping0 = as_bytes(self.memory.stepping), as_bytes(self.stepping0)
        self.n_q, self.n_v = len(start[0]), len(start[1])

    @property
    def memory(self) -> Memory:
        """The integrator's, with its counters."""
        return self.run.memory

    @property
    def state(self) -> tuple[Array, Array]:
        """(q, v) now."""
        n_q, y = self.n_q, self.memory.y
        return y[:n_q].copy(), y[n_q : n_q + self.n_v].copy()

    def begin(self, q0: Array | None, v0: Array | None) -> None:
        """Before the first step, at this start; None: the model's own."""
        self.run.begin_again()
        n_q, n_v, memory = self.n_q, self.n_v, self.memory
        memory.y[:], self._stepping[:] = self.y0, self._stepping0
        is_closed = q0 is None and v0 is None  # the model's own start, which has been put on the loops
        if not is_closed:
            memory.y[:n_q] = self._own[0] if q0 is None else q0
            memory.y[n_q : n_q + n_v] = self._own[1] if v0 is None else v0
        if self.handle.model.loops:
            state = put_on_loops(self.handle, self.state, self.options, is_given=q0 is not None, is_closed=is_closed)
            memory.y[: n_q + n_v] = np.concatenate(state)
            warn_of_fast_start(self.handle.start_speed_gain)
        if self.has_phase:
            self.handle.start_phase(memory.y)

    def why(self, status: Status, log: list[tuple[int, int, float]]) -> str:
        """Why the run has come to its end. log: of the events."""
        return failure_reason(self.run, status, log, self.y0[: self.n_q], self.memory.y[: self.n_q], self.options)

"""Many steppers of one model, stepped together by one compiled loop, in threads: what a step costs besides its
evaluations is then shared by all. Each goes on as it would alone, to the last bit."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.engine.arguments import as_numbers
from pliant.engine.threads import thread_count
from pliant.errors import ModelError
from pliant.model.quantities import LARGEST
from pliant.simulation.stepper import DONE, ROUNDING, Stepper

Array = NDArray[np.float64]
MIN_PER_THREAD = 8  # steppers for which another thread is worth while


class StepperBatch:
    """Rows of steppers: step(tau, dt) with a row of torques for each; q, v, t and is_ok have a row each, too."""

    def __init__(self, first: Stepper, count: int, threads: int | None = None) -> None:
        """first: the first of them; the others are its copies."""
        self._make([first, *(first.copy() for _ in range(count - 1))], threads)

    def _make(self, each: list[Stepper], threads: int | None) -> None:
        """Of steppers that are made of the same."""
        from pliant.kernels import _jit, many
        from pliant.kernels.integrators import advance

        self.each, self._threads = each, threads
        first, count = each[0], len(each)
        self.model, self.commanded = first.model, first.commanded
        self._enter, self._advance = _jit.entry(many.step_many), _jit.address(advance.advance)
        self._running = many.RUNNING
        n_q, n_v = len(first.model.coordinates), len(first.model.velocities)
        self._y = np.empty((count, n_q + n_v))
        self.q, self.v = self._y[:, :n_q], self._y[:, n_q:]  # now; views, which the next step overwrites
        self.t, self._t_end = np.zeros(count), np.zeros(count)
        # steps of one length end at whole multiples of it, counted from here
        self._since, self._count, self._dt = np.zeros(count), np.zeros(count), np.nan
        self.is_ok = np.ones(count, bool)
        self._first, self._t_last = first._first_input, first._t_last * (1.0 + ROUNDING)
        self._status = np.zeros(count, np.int64)
        self._refs = [one._refs for one in self.each]
        self._tables = _columns(self._refs)
        workers = max(1, min(thread_count(threads), count // MIN_PER_THREAD))
        bounds = [count * k // workers for k in range(workers + 1)]
        self._parts = [slice(a, b) for a, b in itertools.pairwise(bounds)]
        self._pool = ThreadPoolExecutor(workers - 1, "pliant-steps") if workers > 1 else None
        for i in range(count):
            self._look(i)

    def __len__(self) -> int:
        return len(self.each)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copied and sent to other processes as the steppers, and since when steps of one length are counted."""
        return _again, (self.each, self._threads, self._since, self._count, self._dt)

    def step(self, tau: Array, dt: float) -> NDArray[np.bool_]:
        """Advance all that are ok by dt [s] under their rows of tau, (rows, commanded); which of them are ok then.

        Others stay where they ended, until reset."""
        if tau.shape != (len(self), len(self.commanded)):
            raise ModelError(
                f"tau: shape {tau.shape} found, {(len(self), len(self.commanded))} expected: one row per stepper"
            )
        tau = np.ascontiguousarray(as_numbers(tau, "tau"))
        if not np.abs(tau).max(initial=0.0) <= LARGEST:
            raise ModelError(f"tau: a number that is none, or beyond {LARGEST:g}; give finite torques and forces")
        if dt != self._dt:
            self._since, self._dt = self.t.copy(), dt
            self._count[:] = 0.0
        self._count += 1.0
        np.multiply(self._count, dt, out=self._t_end)
        self._t_end += self._since
        if self._t_end.max() > self._t_last:
            self._count -= 1.0
            raise ModelError(f"dt: a step of {dt:g} s goes beyond the duration of these steppers; give a longer one")
        self._status[:] = np.where(self.is_ok, self._running, DONE)
        others = [self._pool.submit(self._step_part, part, tau) for part in self._parts[1:]] if self._pool else []
        self._step_part(self._parts[0], tau)
        for other in others:
            other.result()
        np.copyto(self.t, self._t_end, where=self.is_ok)
        for i in np.flatnonzero(self._status != DONE):
            self._go_on(int(i))
        return self.is_ok

    def _step_part(self, part: slice, tau: Array) -> None:
        tables = (each[part] for each in self._tables)
        self._enter(
            self._advance, *tables, self._first, tau[part], self._t_end[part], self._status[part], self._y[part]
        )

    def _go_on(self, i: int) -> None:
        """A step that needs Python on its way, or that has failed."""
        one = self.each[i]
        one._go_on(int(self._status[i]))
        if one._refs != self._refs[i]:  # "auto" has changed the integrator
            self._refs[i] = one._refs
            self._tables = _columns(self._refs)
        self._look(i)

    def reset(self, i: int, q: Array | None = None, v: Array | None = None) -> None:
        """Begin one anew, as Stepper.reset does."""
        one = self.each[i]
        one.reset(q, v)
        if one._refs != self._refs[i]:
            self._refs[i] = one._refs
            self._tables = _columns(self._refs)
        self._since[i] = self._count[i] = 0.0
        self._look(i)

    def _look(self, i: int) -> None:
        one = self.each[i]
        self.q[i], self.v[i] = one.state
        self.t[i], self.is_ok[i] = one.t, one.is_ok

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None
            self._parts = [slice(0, len(self))]


def _again(each: list[Stepper], threads: int | None, since: Array, count: Array, dt: float) -> StepperBatch:
    found = StepperBatch.__new__(StepperBatch)
    found._make(each, threads)
    found._since, found._count, found._dt = since.copy(), count.copy(), dt
    return found


def _columns(refs: list[tuple[Any, ...]]) -> list[Any]:
    """Addresses of all systems, works and memories; without compiled kernels the tables themselves."""
    from pliant.kernels import _jit

    return [_jit.addresses(each) for each in zip(*refs, strict=True)]

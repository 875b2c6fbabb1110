"""Runs that are being made, in threads: every thread takes the next few."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.engine.callbacks import CallbackError
from pliant.engine.interruptions import remembered_interruptions
from pliant.engine.prepared import prepare
from pliant.errors import PliantError
from pliant.model.model import Model
from pliant.result import Result
from pliant.simulation.options import check_options
from pliant.simulation.outcome import status_word
from pliant.simulation.prepared_run import PreparedRun
from pliant.simulation.runs import Runs
from pliant.simulation.simulate import run_model
from pliant.system.work import WIDTH

Array = NDArray[np.float64]
ManyProgress = Callable[[int, int], None]
MAX_CHUNK = 64  # runs a worker takes at once, at first
CHUNK_SECONDS = 0.01  # then more, as long as they take less
NOT_BEGUN = "before it began"
PER_RUN = ("t", "q", "v", "steps", "status", "reasons", "q_at", "v_at", "results", "audits", "heard")
LOOK_SECONDS = 0.1  # between two looks at Ctrl-C and the progress bar


def chunk_size(n: int, workers: int, goes_in_lanes: bool, most: int = MAX_CHUNK) -> int:
    """Runs, of n that are left, that a worker takes at once: all of them some four times, and whole lanes where these
    are used."""
    size = max(1, min(most, n // (4 * workers)))
    return -(-size // WIDTH) * WIDTH if goes_in_lanes else size


def as_text(words: NDArray[Any]) -> NDArray[Any]:
    """An array of strings from one of objects, ten times as fast where all are the same: all threads wait for it."""
    return np.full(len(words), words[0]) if len(set(words.tolist())) == 1 else words.astype(str)


class RunBatch:
    """Runs that are being made: every thread takes the next one."""

    def __init__(
        self,
        models: tuple[Model, ...],
        settings: dict[str, Any],
        q0: Array,
        v0: Array,
        times: Array | None,
        keep_results: bool,
        is_given: tuple[bool, bool],
    ) -> None:
        """is_given: whether the caller said where they begin (q0, v0); else each model says it."""
        self.models, self.settings, self.q0, self.v0, self.times = models, settings, q0, v0, times
        n, n_times = len(q0), 0 if times is None else len(times)
        self.t, self.q, self.v, self.steps = np.zeros(n), q0.copy(), v0.copy(), np.zeros(n, np.int64)
        self.status, self.reasons = np.full(n, "interrupted"), np.empty(n, object)  # the longest of the words
        self.reasons[:] = NOT_BEGUN
        self.q_at = np.full((n, n_times, q0.shape[1]), np.nan)
        self.v_at = np.full((n, n_times, v0.shape[1]), np.nan)
        self.outputs: dict[str, Array] = {}
        self.results: list[Result | None] = [None] * n if keep_results else []
        self.n_done = 0
        self.wanted, self.is_given = (times, keep_results, is_given), is_given
        has_accuracy = any(check_options(model, **settings)["accuracy"] is not None for model in set(models))
        self._is_whole = times is not None or keep_results or has_accuracy
        # of runs that record their way
        self.audits: list[dict[str, float]] = [{} for _ in range(n)] if self._is_whole else []
        self.heard: list[tuple[str, ...]] = [()] * n if self._is_whole else []
        self._next, self._goes_in_lanes, self._n_threads, self._lock = 0, False, 1, threading.Lock()
        self._stop = np.zeros(1, np.int64)  # read by the kernel, too
        self._error: BaseException | None = None

    def share_out(self, threads: int, progress: ManyProgress | None) -> None:
        """All runs, in threads; this one watches."""
        n, first = len(self.t), self._first_run()
        self._n_threads, self._goes_in_lanes = threads, first is not None and first.goes_in_lanes
        workers: list[threading.Thread] = []
        try:
            for k in range(min(threads, n)):
                # the others are made while the first is under way
                run = first if k == 0 or first is None else first.another()
                workers.append(threading.Thread(target=self._labour, args=(run,), daemon=True))
                workers[-1].start()
            with remembered_interruptions() as ask_for_interruption:
                for worker in workers:
                    while worker.is_alive():
                        worker.join(LOOK_SECONDS)
                        ask_for_interruption()
                        if progress is not None and worker.is_alive():
                            progress(self.n_done, n)
            if progress is not None:
                progress(self.n_done, n)
        except (KeyboardInterrupt, CallbackError) as error:
            # what is done is given back
            if isinstance(error, CallbackError):
                self.reasons[self.reasons == NOT_BEGUN] = f"{NOT_BEGUN}: {error}"
        finally:
            self._stop[0] = 1
            for worker in workers:
                worker.join()
        if self._error is not None:
            raise self._error

    def _first_run(self) -> PreparedRun | None:
        """That of the first thread, if one serves all runs. Kernels are compiled, or loaded, here and once."""
        if len(self.models) == 1 and not self._is_whole:
            with suppress(PliantError):  # told by every run
                return PreparedRun(self.models[0], **self.settings)
        prepare(self.models[0])
        return None

    # --- parts of it, for other processes ---------------------------------------------------------------------------

    def models_of(self, part: range) -> tuple[Model, ...]:
        """One per run, or one for all."""
        return self.models[part.start : part.stop] if len(self.models) > 1 else self.models

    def starts_of(self, part: range) -> tuple[Array, Array]:
        """q0 and v0."""
        return self.q0[part.start : part.stop], self.v0[part.start : part.stop]

    def part(self) -> dict[str, Any]:
        """All that has been found, for `put` of a larger batch."""
        return {name: getattr(self, name) for name in (*PER_RUN, "outputs", "n_done")}

    def put(self, part: range, found: dict[str, Any]) -> None:
        """What another batch has found of these runs."""
        rows = slice(part.start, part.stop)
        for name in PER_RUN:
            if len(found[name]):
                getattr(self, name)[rows] = found[name]
        for name, values in found["outputs"].items():
            self._room(name, values.shape[2])[rows] = values
        self.n_done += found["n_done"]

    def _room(self, name: str, width: int) -> Array:
        """Of an output, for all runs; nan where there is none."""
        with self._lock:
            empty = np.full((len(self.t), 0 if self.times is None else len(self.times), width), np.nan)
            return self.outputs.setdefault(name, empty)

    # --- in a thread ------------------------------------------------------------------------------------------------

    def _labour(self, run: PreparedRun | None) -> None:
        """What one thread does. run: made for it, if one serves all runs."""
        most = MAX_CHUNK
        try:
            while not self._stop[0]:
                part, begun = self._take_part(most), time.perf_counter()
                if not part:
                    return
                run = self._run(part, run)
                if time.perf_counter() - begun < CHUNK_SECONDS:
                    most *= 2
                with self._lock:
                    self.n_done += len(part)
        except BaseException as error:  # reported by the thread that watches
            self._error = error
            self._stop[0] = 1

    def _take_part(self, most: int) -> range:
        """The next runs that nobody has taken."""
        with self._lock:
            left, size = len(self.t) - self._next, 1
            if len(self.models) == 1 and not self._is_whole:
                size = chunk_size(left, self._n_threads, self._goes_in_lanes, most)
            part = range(self._next, self._next + min(size, left))
            self._next = part.stop
        return part

    def _model(self, i: int) -> Model:
        return self.models[i if len(self.models) > 1 else 0]

    def _given(self, i: int) -> tuple[Array | None, Array | None]:
        """q0 and v0 as simulate would be given them: virtual springs keep a start open that is given so."""
        return self.q0[i] if self.is_given[0] else None, self.v0[i] if self.is_given[1] else None

    def _watch(self, t: float, t_end: float) -> None:
        """Ctrl-C reaches the watching thread only: it is passed on."""
        if self._stop[0]:
            raise KeyboardInterrupt

    def _run(self, part: range, run: PreparedRun | None) -> PreparedRun | None:
        """These runs; what is prepared for one run of a model serves the next."""
        model = self._model(part[0])
        try:
            if self._is_whole:
                self._run_whole(part[0])
                return None
            if run is None or run.handle.model is not model:
                run = PreparedRun(model, **(self.settings))
            self._run_to_end(part, run)
        except PliantError as error:
            for i in part:
                self.status[i], self.reasons[i] = "failed", str(error)
        return run

    def _run_to_end(self, part: range, run: PreparedRun) -> None:
        good: Any = [i for i in part if self._can_start(i, run)] if run.has_phase else part
        if run.handle.model.calls_python or run.handle.model.loops:
            for i in good:
                status, self.reasons[i] = run.attempt(*self._given(i), self._watch)
                stepping = run.memory.stepping[0]
                self.status[i], self.t[i], self.steps[i] = status_word(status), stepping.t, stepping.n_steps
                self.q[i], self.v[i] = run.state
        elif len(good):
            rows = good if len(good) < len(part) else slice(part.start, part.stop)
            ends = run.sweep(self.q0[rows], self.v0[rows], self._stop)
            self.t[rows], self.q[rows], self.v[rows], self.steps[rows] = ends.t, ends.q, ends.v, ends.steps
            self.status[rows], self.reasons[rows] = "done", ""
            for k, (word, reason) in ends.others.items():
                self.status[good[k]], self.reasons[good[k]] = word, reason

    def _can_start(self, i: int, run: PreparedRun) -> bool:
        """Whether the model can start there; if not, it is noted."""
        try:
            run.check_start(self.q0[i], self.v0[i])
        except PliantError as error:
            self.status[i], self.reasons[i] = "failed", str(error)
            return False
        return True

    def _run_whole(self, i: int) -> None:
        model = self._model(i)
        result = run_model(model, *self._given(i), None, self._watch, self.settings)
        self.audits[i], self.heard[i] = result.audit, result.warnings
        self.status[i], self.reasons[i] = result.status, result.reason
        self.t[i], self.q[i], self.v[i], self.steps[i] = result.t[-1], result.q[-1], result.v[-1], result.stats["steps"]
        if self.results:
            self.results[i] = result
        if self.times is None or (result.dense is not None and not len(result.dense.starts)):
            return  # not asked for, or it failed before its first step
        reached = self.times <= result.t[-1]
        self.q_at[i, reached], self.v_at[i, reached] = result.at(self.times[reached])
        for name, values in result.outputs_at(self.times[reached]).items():
            self._room(name, values.shape[1])[i, reached] = values

    def runs(self) -> Runs:
        status, reasons = self.status, as_text(self.reasons)
        is_ok, said = (status == "done") | (status == "stopped"), dict(enumerate(self.heard))
        heard = [
            f"run {i}: {words}"
            for i in (range(len(status)) if said else np.flatnonzero(~is_ok).tolist())
            for words in (*(() if is_ok[i] else (f"{status[i]} {reasons[i]}",)), *said.get(i, ()))
        ]
        names = dict.fromkeys(name for audit in self.audits for name in audit)
        audit = {name: np.array([each.get(name, np.nan) for each in self.audits]) for name in names}
        return Runs(
            self.models,
            self.q0,
            self.v0,
            self.t,
            self.q,
            self.v,
            self.steps,
            status,
            reasons,
            self.settings,
            self.is_given,
            self.times,
            None if self.times is None else self.q_at,
            None if self.times is None else self.v_at,
            self.outputs,
            tuple(self.results),
            audit,
            tuple(heard),
        )

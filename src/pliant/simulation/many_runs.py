"""simulate_many: many runs in one call, in threads. Every run is what simulate alone would give, to the last bit; one
that fails keeps its reason and stops no other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.engine.arguments import as_array, as_flag, as_index, as_model, as_rows, as_times
from pliant.engine.callbacks import CallbackError, heard
from pliant.engine.prepared import prepare
from pliant.engine.threads import thread_count
from pliant.errors import ModelError, PliantError
from pliant.model.messages import listed, quoted
from pliant.model.model import Model
from pliant.result import Result, counted
from pliant.simulation.moved import warn_of_moved
from pliant.simulation.options import check_options
from pliant.simulation.outcome import status_word
from pliant.simulation.prepared_run import PreparedRun
from pliant.simulation.simulate import run_model, simulate, warn_of

Array = NDArray[np.float64]
ManyProgress = Callable[[int, int], None]
MAX_CHUNK = 64  # runs a thread takes at once
NOT_BEGUN = "before it began"
LOOK_SECONDS = 0.1  # between two looks at Ctrl-C and the progress bar


@dataclass(frozen=True, eq=False)
class Runs:
    """Many runs: where each began and ended, how, and why; results of single ones on request."""

    models: tuple[Model, ...]  # one per run, or one for all
    q0: Array  # (runs, n_q) where they began
    v0: Array  # (runs, n_v)
    t: Array  # (runs) where they ended [s]
    q: Array  # (runs, n_q)
    v: Array  # (runs, n_v)
    steps: NDArray[np.int64]  # (runs) accepted
    status: NDArray[Any]  # (runs) "done", "stopped", "failed" or "interrupted"
    reasons: NDArray[Any]  # (runs) sentences; "" for those that are done
    settings: dict[str, Any]  # how they were run
    times: Array | None = None  # [s] asked for
    q_at: Array | None = None  # (runs, times, n_q); nan where a run had ended
    v_at: Array | None = None  # (runs, times, n_v)
    outputs: dict[str, Array] = field(default_factory=dict)  # the models' outputs, each (runs, times, columns)
    results: tuple[Result | None, ...] = ()  # of all runs, if they were to be kept
    # of runs that recorded their way (times, keep_results), each (runs), nan where a run has none; else empty
    audit: dict[str, Array] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()  # "run 3: ..", of the same runs, and of those that failed

    def __len__(self) -> int:
        return len(self.t)

    @property
    def is_ok(self) -> NDArray[np.bool_]:
        """Per run: whether it came to its end as asked (a stop that the model asked for counts)."""
        return np.isin(self.status, ("done", "stopped"))

    @property
    def failed(self) -> list[int]:
        """Numbers of the runs that are not ok."""
        return [int(i) for i in np.flatnonzero(~self.is_ok)]

    def model(self, i: int) -> Model:
        """Of run i."""
        return self.models[as_index(i, len(self), "i") if len(self.models) > 1 else 0]

    def result(self, i: int) -> Result:
        """The whole Result of run i: the one that was kept, or by running it again."""
        number = as_index(i, len(self), "i")
        kept = self.results[number] if self.results else None
        return kept or simulate(self.model(number), q0=self.q0[number], v0=self.v0[number], **self.settings)

    def __repr__(self) -> str:
        words, counts = np.unique(self.status, return_counts=True)
        how = ", ".join(f"{count} {word}" for word, count in zip(words, counts, strict=True)) or "none"
        name = self.models[0].name if self.models else ""
        first = f"; run {self.failed[0]}: {self.reasons[self.failed[0]]}" if self.failed else ""
        return f"<Runs of {name!r}: {how}{counted(self.warnings)}{first}>"


def simulate_many(
    models: Model | Sequence[Model],
    duration: float | None = None,
    *,
    q0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    times: ArrayLike | None = None,
    keep_results: bool = False,
    threads: int | None = None,
    progress: ManyProgress | None = None,
    **options: Any,
) -> Runs:
    """One run per row of q0 and v0, or per model, or both: rows and models are paired, one of either serves all.

    Only end states are kept (the fastest way); times: states and the models' outputs at these times, too; keep_results:
    whole Results. options: those of simulate. threads: None for one per core (models with Python controllers: one).
    progress(done, runs) is called a few times a second. Ctrl-C gives back what has been done."""
    each = (models,) if isinstance(models, Model) else as_list(models)
    warn_of_moved(options)
    settings = {"duration": duration, **options}
    reported, keep_results = heard(progress), as_flag(keep_results, "keep_results")
    ends = _check(each, settings)
    work = _Work(each, settings, *_starts(each, q0, v0), _as_times(times, min(ends)), keep_results)
    calls_python = any(model.calls_python for model in each)
    work.share_out(1 if threads is None and calls_python else thread_count(threads), reported)
    runs = work.runs()
    warn_of(_summary(runs))
    return runs


def _summary(runs: Runs) -> list[str]:
    """One line for all that is to be said about the runs."""
    if not runs.warnings:
        return []
    concerned = len({words.partition(":")[0] for words in runs.warnings})
    return [f"{concerned} of {len(runs)} runs failed or have warnings (Runs.warnings), the first: {runs.warnings[0]}"]


def as_list(models: Any) -> tuple[Any, ...]:
    """Of models; that each is one is looked at later."""
    return tuple(models) if isinstance(models, (list, tuple)) else (models,)


def _check(models: tuple[Model, ...], settings: dict[str, Any]) -> list[float]:
    """Durations of the runs; what can be refused is refused before anything is compiled."""
    if not models:
        raise ModelError("simulate_many: no models; give at least one")
    for model in models:
        as_model(model, "simulate_many")
        if (model.coordinates, model.velocities) != (models[0].coordinates, models[0].velocities):
            names = f"{listed(models[0].coordinates, 5)} and {listed(model.coordinates, 5)}"
            raise ModelError(f"models with different coordinates ({names}) do not stack; run them apart")
    different = {id(model): model for model in models}.values()
    return [check_options(model, **settings)["duration"] for model in different]


def _as_times(times: ArrayLike | None, end: float) -> Array | None:
    if times is None:
        return None
    found = as_times(times)
    if found.ndim != 1 or np.any(found < 0) or np.any(found > end):
        raise ModelError(f"times: {quoted(times)} found; give a list of times from 0 to {end:g} s")
    return found


def _starts(models: tuple[Model, ...], q0: ArrayLike | None, v0: ArrayLike | None) -> tuple[Array, Array]:
    """(runs, n_q) and (runs, n_v)."""
    first = models[0]
    q = np.array([model.q0 for model in models]) if q0 is None else as_array(q0, first.coordinates, "q0")
    v = np.array([model.v0 for model in models]) if v0 is None else as_array(v0, first.velocities, "v0")
    for what, array in (("q0", q), ("v0", v)):
        if array.ndim > 2:
            raise ModelError(f"{what}: shape {array.shape} found; give one row per run")
    counts = {"models": len(models), "q0": len(np.atleast_2d(q)), "v0": len(np.atleast_2d(v))}
    runs = max(counts.values())
    for what, count in counts.items():
        if count not in (1, runs):
            raise ModelError(f"{what}: {count} found, but there are {runs} runs; give one for all, or {runs}")
    _, _, rows = as_rows(first, np.zeros(runs), q=q, v=v)
    return rows["q"], rows["v"]


class _Work:
    """Runs that are being made: every thread takes the next one."""

    def __init__(
        self,
        models: tuple[Model, ...],
        settings: dict[str, Any],
        q0: Array,
        v0: Array,
        times: Array | None,
        keep_results: bool,
    ) -> None:
        self.models, self.settings, self.q0, self.v0, self.times = models, settings, q0, v0, times
        n, n_times = len(q0), 0 if times is None else len(times)
        self.t, self.q, self.v, self.steps = np.zeros(n), q0.copy(), v0.copy(), np.zeros(n, np.int64)
        self.status, self.reasons = np.full(n, "interrupted", object), np.full(n, NOT_BEGUN, object)
        self.q_at = np.full((n, n_times, q0.shape[1]), np.nan)
        self.v_at = np.full((n, n_times, v0.shape[1]), np.nan)
        self.outputs: dict[str, Array] = {}
        self.results: list[Result | None] = [None] * n if keep_results else []
        self.audits: list[dict[str, float]] = [{} for _ in range(n)]
        self.heard: list[tuple[str, ...]] = [()] * n
        self.n_done = 0
        self._is_whole = times is not None or keep_results
        self._next, self._chunk, self._lock = 0, 1, threading.Lock()
        self._stop = np.zeros(1, np.int64)  # read by the kernel, too
        self._error: BaseException | None = None

    def share_out(self, threads: int, progress: ManyProgress | None) -> None:
        """All runs, in threads; this one watches."""
        n = len(self.t)
        if len(self.models) == 1 and not self._is_whole:
            self._chunk = max(1, min(MAX_CHUNK, n // (4 * threads)))
        workers = [threading.Thread(target=self._labour, daemon=True) for _ in range(min(threads, n))]
        # kernels are compiled, or loaded, here and once
        prepare(self.models[0])
        for worker in workers:
            worker.start()
        try:
            for worker in workers:
                while worker.is_alive():
                    worker.join(LOOK_SECONDS)
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

    def _labour(self) -> None:
        """What one thread does."""
        try:
            run: PreparedRun | None = None
            while not self._stop[0]:
                with self._lock:
                    part = range(self._next, min(self._next + self._chunk, len(self.t)))
                    self._next = part.stop
                if not part:
                    return
                run = self._run(part, run)
                with self._lock:
                    self.n_done += len(part)
        except BaseException as error:  # reported by the thread that watches
            self._error = error
            self._stop[0] = 1

    def _model(self, i: int) -> Model:
        return self.models[i if len(self.models) > 1 else 0]

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
                run = PreparedRun(model, **(self.settings | {"sample": None}))
            self._run_to_end(part, run)
        except PliantError as error:
            for i in part:
                self.status[i], self.reasons[i] = "failed", str(error)
        return run

    def _run_to_end(self, part: range, run: PreparedRun) -> None:
        good = [i for i in part if self._can_start(i, run)] if run.has_phase else list(part)
        if run.handle.model.calls_python or run.handle.model.loops:
            for i in good:
                status, self.reasons[i] = run.attempt(self.q0[i], self.v0[i], self._watch)
                stepping = run.memory.stepping[0]
                self.status[i], self.t[i], self.steps[i] = status_word(status), stepping.t, stepping.n_steps
                self.q[i], self.v[i] = run.state
        elif good:
            ends = run.sweep(self.q0[good], self.v0[good], self._stop)
            self.t[good], self.q[good], self.v[good], self.steps[good] = ends.t, ends.q, ends.v, ends.steps
            self.status[good], self.reasons[good] = "done", ""
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
        result = run_model(model, self.q0[i], self.v0[i], None, self._watch, self.settings)
        self.audits[i], self.heard[i] = result.audit, result.warnings
        self.status[i], self.reasons[i] = result.status, result.reason
        self.t[i], self.q[i], self.v[i], self.steps[i] = result.t[-1], result.q[-1], result.v[-1], result.stats["steps"]
        if self.results:
            self.results[i] = result
        if self.times is None:
            return
        reached = self.times <= result.t[-1]
        self.q_at[i, reached], self.v_at[i, reached] = result.at(self.times[reached])
        for name, values in result.outputs_at(self.times[reached]).items():
            with self._lock:
                empty = np.full((len(self.t), len(self.times), values.shape[1]), np.nan)
                room = self.outputs.setdefault(name, empty)
            room[i, reached] = values

    def runs(self) -> Runs:
        is_ok = np.isin(self.status, ("done", "stopped"))
        heard = [
            f"run {i}: {words}"
            for i in range(len(self.t))
            for words in (*(() if is_ok[i] else (f"{self.status[i]} {self.reasons[i]}",)), *self.heard[i])
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
            self.status.astype(str),
            self.reasons.astype(str),
            self.settings,
            self.times,
            None if self.times is None else self.q_at,
            None if self.times is None else self.v_at,
            self.outputs,
            tuple(self.results),
            audit,
            tuple(heard),
        )

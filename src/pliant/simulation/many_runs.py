"""simulate_many: many runs in one call, in threads. Every run is what simulate alone would give, to the last bit; one
that fails keeps its reason and stops no other."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.console import progress_bar
from pliant.engine.arguments import as_array, as_choice, as_flag, as_model, as_rows, as_times, as_whole
from pliant.engine.callbacks import heard
from pliant.engine.threads import thread_count
from pliant.errors import ModelError
from pliant.model.messages import listed, quoted
from pliant.model.model import Model
from pliant.simulation.moved import warn_of_moved
from pliant.simulation.options import check_options
from pliant.simulation.run_batch import RunBatch
from pliant.simulation.runs import Runs
from pliant.simulation.simulate import warn_of

Array = NDArray[np.float64]
ManyProgress = Callable[[int, int], None]
PLACES = ("threads", "processes")
BAR_SECONDS = 0.5  # before the bar is shown: what is done by then needs none


def simulate_many(
    models: Model | Sequence[Model],
    duration: float | None = None,
    *,
    q0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    times: ArrayLike | None = None,
    keep_results: bool = False,
    on: Literal["threads", "processes"] = "threads",
    workers: int | None = None,
    progress: ManyProgress | bool | None = None,
    **options: Any,
) -> Runs:
    """One run per row of q0 and v0, or per model, or both: rows and models are paired, one of either serves all.

    Only end states are kept (the fastest way, without an audit); times: states and the models' outputs at these times,
    too; keep_results: whole Results. options: those of simulate. on: "threads", or "processes" for models with Python
    controllers, which let only one thread run at a time. workers: how many, None for one per core (Python controllers
    in threads: one). Results do not depend on either. progress: a bar on a terminal (False: none; True: in a notebook,
    too), or a function that is called as progress(done, runs) a few times a second. Ctrl-C gives back what has been
    done; a run that fails keeps its reason and stops no other."""
    each = (models,) if isinstance(models, Model) else as_list(models)
    if "threads" in options:
        warnings.warn("threads of simulate_many is called workers", DeprecationWarning, stacklevel=2)
        workers = options.pop("threads") if workers is None else workers
    warn_of_moved(options)
    settings, place = {"duration": duration, **options}, as_choice(on, PLACES, "on")
    keep_results, reported = as_flag(keep_results, "keep_results"), _heard(progress)
    ends = _check(each, settings)
    is_given, starts = (q0 is not None, v0 is not None), _starts(each, q0, v0)
    batch = RunBatch(each, settings, *starts, _as_times(times, min(ends)), keep_results, is_given)
    count = _workers(workers, place, any(model.calls_python for model in each))
    with _shown(progress, batch, reported) as report:
        if place == "processes":
            from pliant.simulation.run_processes import share_out_to_processes

            share_out_to_processes(batch, count, report)
        else:
            batch.share_out(count, report)
    runs = batch.runs()
    warn_of(_summary(runs))
    return runs


def _workers(workers: Any, place: str, calls_python: bool) -> int:
    if workers is not None:
        return as_whole(workers, "workers", advice=", or None for one per core")
    return 1 if calls_python and place == "threads" else thread_count(None)


def _heard(progress: Any) -> ManyProgress | None:
    """The user's function, if it is one."""
    if isinstance(progress, bool):
        return None
    found: ManyProgress | None = heard(progress)
    return found


@contextmanager
def _shown(progress: Any, batch: RunBatch, reported: ManyProgress | None) -> Iterator[ManyProgress | None]:
    """What is called while the runs are made: the user's function, or a bar where somebody looks."""
    is_seen = sys.stderr.isatty() or (progress is True and _is_in_notebook())
    is_shown = reported is None and progress is not False and is_seen
    begun = time.perf_counter()
    with progress_bar("simulate_many", is_shown, "{:.0f} of {:.0f} runs") as bar:

        def report(done: int, runs: int) -> None:
            if time.perf_counter() - begun > BAR_SECONDS:
                failed = int(np.count_nonzero(batch.status == "failed"))
                rate = done / (time.perf_counter() - begun)
                bar(done, runs, f", {rate:.3g} a second" + (f", {failed} failed" if failed else ""))

        yield reported if bar is None else report


def _is_in_notebook() -> bool:
    """Whether this runs in a notebook, which shows bars though it is no terminal."""
    shell = sys.modules.get("IPython")
    return shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"


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

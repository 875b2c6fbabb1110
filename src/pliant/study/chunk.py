"""A few rows of a study, run one after the other by whoever takes them: a thread, a process, a machine of a cluster."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.cases.chosen_run import is_start, placed_start, start_places
from pliant.errors import PliantError
from pliant.model.model import Model
from pliant.simulation.run_batch import RunBatch
from pliant.simulation.simulate import run_model
from pliant.study.base import Base, RowRun
from pliant.study.figures import StudyFigure, end_columns, figure_values, is_end_only

Array = NDArray[np.float64]
STATUSES = ("done", "stopped", "failed")
FAILED = STATUSES.index("failed")
MAX_STACK = 1024  # rows of which only the end is asked for, run together
Recent = tuple[RowRun, dict[str, tuple[str, int]], dict[str, Any]]  # a run, places of starts, its own start
STACK_SECONDS = 0.1  # so that Ctrl-C is heard


@dataclass(frozen=True)
class Task:
    """All that a worker has to know of a study."""

    base: Base
    figures: tuple[StudyFigure, ...]


@dataclass
class Chunk:
    """Finished rows, as columns."""

    rows: NDArray[np.int64]
    figures: Array  # (rows, figures)
    status: NDArray[np.int8]  # places in STATUSES
    notes: dict[int, str]  # by row: why it failed, or what is to be heard of it
    seconds: float = 0.0  # that it took

    def __len__(self) -> int:
        return len(self.rows)


def failed_chunk(rows: NDArray[np.int64], n_figures: int, reason: str) -> Chunk:
    """Rows that could not be run."""
    notes = {int(row): reason for row in rows}
    return Chunk(rows, np.full((len(rows), n_figures), np.nan), np.full(len(rows), FAILED, np.int8), notes)


def joined(chunks: list[Chunk], n_figures: int) -> Chunk:
    """One of several."""
    return Chunk(
        np.concatenate([each.rows for each in chunks]) if chunks else np.zeros(0, np.int64),
        np.concatenate([each.figures for each in chunks]) if chunks else np.zeros((0, n_figures)),
        np.concatenate([each.status for each in chunks]) if chunks else np.zeros(0, np.int8),
        {row: words for each in chunks for row, words in each.notes.items()},
    )


def reason_of(error: Exception) -> str:
    """Why a row failed: nothing that one run does ends the study."""
    return str(error) if isinstance(error, PliantError) else f"{type(error).__name__}: {error}"


def run_chunk(
    task: Task,
    rows: NDArray[np.int64],
    values: dict[str, list[Any]],
    is_stopped: Callable[[], bool] = lambda: False,
) -> Chunk:
    """These rows, with the values of their parameters; when it is stopped, those that are done by then."""
    done: list[Chunk] = []
    first = time.perf_counter()
    recent: dict[Any, Recent] = {}
    start, size = 0, 1
    while start < len(rows) and not is_stopped():
        part, begun = slice(start, start + size), time.perf_counter()
        chosen = [
            dict(zip(values, each, strict=True)) for each in zip(*(v[part] for v in values.values()), strict=True)
        ]
        chunk, is_stacked = _run_rows(task, rows[part], chosen, recent, is_stopped)
        done.append(chunk)
        start += size
        # ends alone are found many at a time, by one entry into compiled code
        room = max(1.0, STACK_SECONDS * size / max(time.perf_counter() - begun, 1e-9))
        size = int(min(MAX_STACK, 8 * size, room)) if is_stacked else 1
    return replace(joined(done, len(task.figures)), seconds=time.perf_counter() - first)


def _run_rows(
    task: Task,
    rows: NDArray[np.int64],
    chosen: list[dict[str, Any]],
    recent: dict[Any, Recent],
    is_stopped: Callable[[], bool],
) -> tuple[Chunk, bool]:
    """A few rows, and whether many at a time are cheaper."""
    known: dict[int, tuple[RowRun | None, str]] = {}
    for row, values in zip(rows.tolist(), chosen, strict=True):
        try:
            known[row] = _row_run(task.base, values, recent), ""
        except Exception as error:
            known[row] = None, reason_of(error)
    runs = [run for run, _ in known.values() if run is not None]
    if runs and all(_can_stack(runs[0], run, task) for run in runs):
        return _ends(task, known, is_stopped), True
    chunks = [_whole(task, row, run, why, is_stopped) for row, (run, why) in known.items()]
    return joined([chunk for chunk in chunks if chunk is not None], len(task.figures)), False


def _row_run(base: Base, values: dict[str, Any], recent: dict[Any, Recent]) -> RowRun:
    """The run of a row. Where only its start differs from the one before, the model is the same."""
    begun = {key: value for key, value in values.items() if is_start(key)}
    if not begun:
        return base.run(values)
    others = {key: value for key, value in values.items() if key not in begun}
    key = tuple(others.values())
    if key not in recent:
        recent.clear()
        run = base.run(others)
        places = start_places(run.model)
        recent[key] = run, places, placed_start(places, begun, run.starts, run.model)
    run, places, before = recent[key]
    starts = placed_start(places, begun, before, run.model)
    return RowRun(run.model, run.options, starts, run.case, run.settings, run.result)


def _can_stack(first: RowRun, run: RowRun, task: Task) -> bool:
    """Whether only ends are asked for, and of runs that simulate_many takes together."""
    model, other = first.model, run.model
    if run is not first and model is other and run.options is first.options and run.result is None:
        return True  # as the first
    return (
        run.result is None
        and (run.options is first.options or dict(run.options) == dict(first.options))
        and (model is other or (model.coordinates, model.velocities) == (other.coordinates, other.velocities))
        and run.starts.keys() == first.starts.keys()
        and not model.loops
        and is_end_only(task.figures, other)
    )


def _whole(task: Task, row: int, run: RowRun | None, why: str, is_stopped: Callable[[], bool]) -> Chunk | None:
    """A row that is recorded on its way; None if it was stopped."""
    rows = np.array([row])
    if run is None:
        return failed_chunk(rows, len(task.figures), why)

    def watch(t: float, end: float) -> None:
        if is_stopped():
            raise KeyboardInterrupt

    try:
        starts = run.starts.get("q0"), run.starts.get("v0")
        result = run.result or run_model(run.model, *starts, None, watch, dict(run.options))
        if result.status == "interrupted":
            return None
        if not result.is_ok:
            return failed_chunk(rows, len(task.figures), f"{result.status} {result.reason}".strip())
        values = figure_values(task.figures, run, result)
    except Exception as error:
        return failed_chunk(rows, len(task.figures), reason_of(error))
    status = np.array([STATUSES.index(result.status)], np.int8)
    notes = {row: "; ".join(result.warnings)} if result.warnings else {}
    return Chunk(rows, np.array([values], float), status, notes)


def _ends(task: Task, known: dict[int, tuple[RowRun | None, str]], is_stopped: Callable[[], bool]) -> Chunk:
    """Rows of which only the end is asked for."""
    rows = np.array([row for row, (run, _) in known.items() if run is not None], np.int64)
    runs = [run for run, _ in known.values() if run is not None]
    models: list[Model] = [run.model for run in runs]
    is_one = all(model is models[0] for model in models)
    is_given = "q0" in runs[0].starts, "v0" in runs[0].starts
    own = {key: getattr(models[0], key) for key in ("q0", "v0")} if is_one else {}
    q0, v0 = (np.array([_start(run, key, own) for run in runs]) for key in ("q0", "v0"))

    def watch(done: int, count: int) -> None:
        if is_stopped():
            raise KeyboardInterrupt

    settings = dict(runs[0].options)
    batch = RunBatch((models[0],) if is_one else tuple(models), settings, q0, v0, None, False, is_given)
    batch.share_out(1, watch)
    found = batch.runs()
    places = end_columns(models[0])
    columns = [getattr(found, places[_column(each)][0])[:, places[_column(each)][1]] for each in task.figures]
    values = np.where(found.is_ok[:, None], np.array(columns).T, math.nan)
    status = np.array([STATUSES.index(word) if word in STATUSES else FAILED for word in found.status], np.int8)
    notes = {int(rows[k]): f"{found.status[k]} {found.reasons[k]}".strip() for k in found.failed}
    kept = found.status != "interrupted"
    failed = [failed_chunk(np.array([row]), len(task.figures), why) for row, (run, why) in known.items() if run is None]
    notes = {row: words for row, words in notes.items() if row in set(rows[kept].tolist())}
    return joined([Chunk(rows[kept], values[kept], status[kept], notes), *failed], len(task.figures))


def _start(run: RowRun, key: str, own: dict[str, Array]) -> Array:
    """q0 or v0 of a run: its own, or that of the one model of all, or its model's."""
    if key in run.starts:
        return np.asarray(run.starts[key])
    return own[key] if own else np.asarray(getattr(run.model, key))


def _column(figure: StudyFigure) -> str:
    assert figure.request is not None
    return figure.request.column

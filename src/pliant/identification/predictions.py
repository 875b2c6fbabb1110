"""What variants predict of the measured numbers: runs and modes, in threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pliant.engine.arguments import as_numbers
from pliant.engine.threads import thread_count
from pliant.errors import ModelError, PliantError
from pliant.identification.measured import Measured
from pliant.identification.parameters import Parameters
from pliant.identification.variants import Variant
from pliant.linear.modes import modes
from pliant.model.messages import quoted
from pliant.model.model import Model
from pliant.result import Result
from pliant.simulation.simulate import run_model

Array = NDArray[np.float64]
T = TypeVar("T")
S = TypeVar("S")
FINE = 1e-10  # rtol where neither call nor model gives one: derivatives are taken of runs
Events = tuple[tuple[str, str], ...]


@dataclass(frozen=True, eq=False)
class Prediction:
    """Of one variant: the vector, or why there is none."""

    vector: Array  # nan where it failed
    reason: str = ""
    events: Events = ()  # in order: what the run went through
    result: Result | None = None

    @property
    def is_ok(self) -> bool:
        return not self.reason


def shared_out(work: Callable[[T], S], tasks: Sequence[T], threads: int) -> list[S]:
    """work(task) of every task, in order."""
    if threads == 1 or len(tasks) <= 1:
        return [work(task) for task in tasks]
    with ThreadPoolExecutor(min(threads, len(tasks))) as pool:
        return list(pool.map(work, tasks))


def threads_for(made: Sequence[Any], workers: int | None) -> int:
    """What Python does, controllers or whole predictions, only one thread at a time can do."""
    is_python = any(not isinstance(one, Model) or one.calls_python for one in made)
    return 1 if is_python and workers is None else thread_count(workers)


def usual_tolerance(model: Model, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of a run, with a tolerance that is fine enough for differences unless somebody has said one."""
    said = {*model.run, *(name for name, value in options.items() if value is not None)}
    return dict(options) if said & {"rtol", "step", "accuracy"} else {**options, "rtol": FINE}


class Predictor:
    """u -> predictions. Variants are made one after the other (the function is the user's), and run in threads."""

    def __init__(
        self, variant: Variant, parameters: Parameters, measured: Measured, options: dict[str, Any], workers: int | None
    ) -> None:
        self.variant, self.parameters, self.measured, self.options = variant, parameters, measured, options
        self.workers, self.n_runs = workers, 0

    def at(self, points: Sequence[Array]) -> list[Prediction]:
        """Of every u. A variant that cannot be made or fails has a reason."""
        made = [self._made(u) for u in points]
        self.n_runs += len(made)
        return shared_out(self._predicted, made, threads_for(made, self.workers))

    def _made(self, u: Array) -> Any:
        try:
            return self.variant(self.parameters.values(u))
        except ModelError as error:
            return error

    def _predicted(self, made: Any) -> Prediction:
        nothing = np.full(self.measured.size, np.nan)
        if isinstance(made, ModelError):
            return Prediction(nothing, str(made))
        try:
            if isinstance(made, Model):
                return self._of_model(made)
        except PliantError as error:
            return Prediction(nothing, str(error))
        return Prediction(self.measured.vector(_as_columns(made, self.measured)))

    def _of_model(self, model: Model) -> Prediction:
        measured = self.measured
        found: dict[str, Array] = {}
        result: Result | None = None
        events: Events = ()
        if measured.series:
            assert measured.times is not None
            given = usual_tolerance(model, {"duration": float(measured.times[-1]), **self.options})
            result = run_model(model, None, None, None, None, given)
            if not result.is_ok or result.t[-1] < measured.times[-1] * (1 - 1e-12):
                why = result.reason or f"it stopped at t = {result.t[-1]:g} s"
                return Prediction(np.full(measured.size, np.nan), f"the run {result.status}: {why}", result=result)
            rows = result.resampled(measured.times)
            found = {name: np.asarray(rows[name]) for name in measured.series}
            events = tuple((event.name, event.direction) for event in result.events)
        if measured.modal:
            found |= _modal(model, measured)
        return Prediction(measured.vector(found), "", events, result)


def _modal(model: Model, measured: Measured) -> dict[str, Array]:
    small = modes(model)
    is_held = small.frequencies > 0.0
    count = int(is_held.sum())
    found = {}
    for name in measured.modal:
        wanted = len(measured.columns[name])
        if count < wanted:
            raise ModelError(
                f"measured: {wanted} {name}, but {model.name!r} has {count} motions that vibrate; give fewer, or more "
                "shapes to its beams"
            )
        found[name] = np.asarray(getattr(small, name)[is_held][:wanted])
    return found


def _as_columns(made: Any, measured: Measured) -> dict[str, Array]:
    """What a user's function predicts by itself."""
    if not isinstance(made, Mapping):
        raise ModelError(
            f"the function of the parameters returned {quoted(made)}; let it return a pliant.Model, or a mapping of "
            "predicted numbers by the names that were measured"
        )
    found = {}
    for name, own in measured.columns.items():
        if name not in made:
            raise ModelError(
                f"the function of the parameters predicts no {quoted(name)}, which was measured; return it, too"
            )
        values = as_numbers(made[name], f"what the function predicts of {quoted(name)}")
        if values.shape != own.shape:
            raise ModelError(
                f"what the function predicts of {quoted(name)}: shape {values.shape} found, {own.shape} was measured; "
                "return as many numbers"
            )
        found[name] = values
    return found

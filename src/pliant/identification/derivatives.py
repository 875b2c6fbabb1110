"""How predictions change with the parameters: central differences of whole runs, extrapolated (Richardson), each with
an estimate of its error from the spread of the extrapolations. Runs whose events differ from those of the run in the
middle are told: what lies between them is no smooth function."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.identification.predictions import Prediction, Predictor
from pliant.model.messages import listed

Array = NDArray[np.float64]
TARGET = 1e-3  # of the range of what is predicted: by so much the smallest step moves it
FIRST_STEP = 1e-4  # of the span of a parameter, as long as nobody knows better
MIN_STEP, MAX_STEP = 1e-8, 2e-2  # of the span
LEVELS = 3  # steps h, h/2, h/4


@dataclass(frozen=True, eq=False)
class Derivatives:
    """d vector / d u, (n, parameters), and how far each entry may be off."""

    values: Array
    errors: Array  # nan where one step was all there was
    changes: tuple[str, ...]  # in words: where events differ between neighbours
    reason: str = ""  # why there are none

    @property
    def is_ok(self) -> bool:
        return not self.reason


class Differences:
    """Derivatives at one point after the other; the steps are those that suited the point before."""

    def __init__(self, predictor: Predictor, sizes: Array) -> None:
        """sizes: of what is predicted, against which changes are small."""
        self.predictor, self.sizes = predictor, sizes
        self.steps, self.is_adapted = np.full(len(predictor.parameters), FIRST_STEP), False
        self.low, self.high = predictor.parameters.bounds

    def at(self, u: Array, middle: Prediction, levels: int = 1) -> Derivatives:
        """levels: of extrapolation; 1 has no estimate of the error."""
        count = len(u)
        largest = self.steps * 2.0 ** (levels - 1)
        # beside a bound both points lie on the other side
        below, above = u - self.low, self.high - u
        sides = np.where(np.minimum(below, above) >= largest, 0.0, np.where(above >= below, 1.0, -1.0))
        room = np.where(sides == 0.0, np.inf, 0.5 * np.maximum(below, above))
        largest = np.minimum(largest, room)
        points = []
        for i in range(count):
            for level in range(levels):
                h = largest[i] / 2.0**level
                for offset in (-h, h) if sides[i] == 0.0 else (sides[i] * h, sides[i] * 2.0 * h):
                    points.append(u + offset * np.eye(count)[i])
        found = self.predictor.at(points)
        failed = next((one for one in found if not one.is_ok), None)
        if failed is not None:
            nothing = np.full((len(middle.vector), count), np.nan)
            return Derivatives(nothing, nothing, (), f"beside it a run cannot be made: {failed.reason}")
        values, errors = np.empty((len(middle.vector), count)), np.empty((len(middle.vector), count))
        changes = []
        for i, name in enumerate(self.predictor.parameters.names):
            pairs = [found[2 * (i * levels + level) :][:2] for level in range(levels)]
            steps = [largest[i] / 2.0**level for level in range(levels)]
            values[:, i], errors[:, i] = _extrapolated(middle, pairs, steps, float(sides[i]))
            # a change that the smallest step still shows is one at this point
            other = next((one for one in pairs[-1] if one.events != middle.events), None)
            if other is not None:
                moved = f"a change of {name} by {steps[-1] * self._slope(i, u):.1g}"
                changes.append(f"{moved} {_difference(middle, other)}")
        self._adapt(values)
        return Derivatives(values, errors, tuple(changes))

    def _slope(self, i: int, u: Array) -> float:
        return float(self.predictor.parameters.slopes(u)[i])

    def _adapt(self, values: Array) -> None:
        """Steps for the next point, which move the prediction by TARGET of its range."""
        moved = np.sqrt(np.mean((values / self.sizes[:, None]) ** 2, axis=0))
        with np.errstate(divide="ignore"):
            self.steps, self.is_adapted = np.clip(TARGET / moved, MIN_STEP, MAX_STEP), True


def _extrapolated(
    middle: Prediction, pairs: list[list[Prediction]], steps: list[float], side: float
) -> tuple[Array, Array]:
    """Richardson's table over halved steps; the error is the largest change to the last entry from those beside it."""
    row: list[Array] = []
    error = np.full(len(middle.vector), np.nan)
    for k, ((first, second), h) in enumerate(zip(pairs, steps, strict=True)):
        # a long step across a change of events tells nothing of the derivative here
        if k + 1 < len(pairs) and not first.events == second.events == middle.events:
            continue
        if side == 0.0:
            new, order, growth = [(second.vector - first.vector) / (2.0 * h)], 2, 2
        else:
            rise = (4.0 * first.vector - 3.0 * middle.vector - second.vector) / (2.0 * h)
            new, order, growth = [side * rise], 2, 1
        for before in row:
            new.append(new[-1] + (new[-1] - before) / (2.0**order - 1.0))
            order += growth
        if row:
            error = np.maximum(np.abs(new[-1] - new[-2]), np.abs(new[-1] - row[-1]))
        row = new
    return row[-1], error


def _difference(one: Prediction, other: Prediction) -> str:
    """How the events of two runs differ, in words."""
    names = dict.fromkeys(name for name, _ in (*one.events, *other.events))
    counts = {name: [sum(each == name for each, _ in run.events) for run in (one, other)] for name in names}
    differing = [f"{name!r} happens {b} times, not {a}" for name, (a, b) in counts.items() if a != b]
    return f"changes what happens: {listed(differing, 3)}" if differing else "changes the order of events"

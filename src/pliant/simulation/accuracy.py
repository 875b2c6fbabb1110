"""simulate(model, accuracy=...): tolerances chosen so that the motion itself, not the error of one step, is that exact.

Runs at tighter and tighter tolerances, until one differs by less than is allowed from the next, which is given back."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.engine.run_options import Accuracy, as_accuracy
from pliant.model.tree import model_size
from pliant.result import Result

Array = NDArray[np.float64]
FIRST = 1e-2  # rtol of the first run, of the accuracy: errors of steps add up
TIGHTER = 1e-2  # from one run to the next, at most
MIN_RTOL, MAX_RTOL = 1e-13, 1e-3
ATOL = 1e-2  # of rtol
SAFETY = 2.0
N_TIMES = 400  # at which motions are compared, beside the end


class MotionError(NamedTuple):
    """Between two runs, over time: of places [m] and of attitudes [rad], the largest of all bodies and frames."""

    t: Array
    lengths: Array
    angles: Array


def run_to_accuracy(run: Callable[[dict[str, Any]], Result], given: Any) -> Result:
    """The run whose motion is as exact as asked for. run: with these tolerances. given: the accuracy as its user wrote
    it. Where none can be, the part of it that is, with status "failed"."""
    goal = as_accuracy(given)
    rtol = float(np.clip(FIRST * goal.relative, MIN_RTOL / TIGHTER, MAX_RTOL))
    plain = run(_tolerances(rtol))
    while plain.is_ok:
        next_rtol = max(TIGHTER * rtol, MIN_RTOL)
        tighter = run(_tolerances(next_rtol))
        if not tighter.is_ok:
            return tighter
        error = motion_error(plain, tighter)
        excess = excess_of(error, goal, model_size(plain.model))
        if np.max(excess) <= 1.0:
            return _with_accuracy(tighter, error, given)
        if next_rtol <= MIN_RTOL:
            return _reached_part(run, tighter, error, excess, given)
        plain, rtol = tighter, next_rtol
    return plain


def _tolerances(rtol: float) -> dict[str, Any]:
    return {"rtol": rtol, "atol": ATOL * rtol}


def motion_error(one: Result, other: Result) -> MotionError:
    """Between two runs of a model at equal times."""
    end = min(one.t[-1], other.t[-1])
    t = np.linspace(one.t[0], end, N_TIMES)
    (R, p), (other_R, other_p) = (_places(run, t) for run in (one, other))
    lengths = np.max(np.linalg.norm(other_p - p, axis=2), axis=1, initial=0.0)
    # |R - R'| (Frobenius) is sqrt(8) sin(angle / 2)
    angles = 2.0 * np.arcsin(np.minimum(1.0, np.linalg.norm(other_R - R, axis=(2, 3)) / np.sqrt(8.0)))
    return MotionError(t, lengths, np.max(angles, axis=1, initial=0.0))


def _places(run: Result, t: Array) -> tuple[Array, Array]:
    """Attitudes and positions of all bodies and frames, and of sections along beams."""
    names = [*(link.body.name for link in run.model.links), *(frame.name for frame in run.model.frames if frame.name)]
    R, p = run.placements(t, list(dict.fromkeys(names)))
    for R_beam, p_beam in run.stations(t).values():
        R, p = np.concatenate([R, R_beam], axis=1), np.concatenate([p, p_beam], axis=1)
    return R, p


def excess_of(error: MotionError, goal: Accuracy, size: float) -> Array:
    """(times) the error so far over what is allowed."""
    parts = [np.zeros(len(error.t))]
    length = goal.length if goal.length is not None else None if goal.number is None else goal.number * size
    angle = goal.angle if goal.angle is not None else goal.number
    if length is not None:
        parts.append(error.lengths / length)
    if angle is not None:
        parts.append(error.angles / angle)
    return np.asarray(SAFETY * np.maximum.accumulate(np.max(parts, axis=0)))


def _with_accuracy(result: Result, error: MotionError, given: Any) -> Result:
    found = {"length_error": SAFETY * float(np.max(error.lengths)), "angle_error": SAFETY * float(np.max(error.angles))}
    return dataclasses.replace(result, audit=result.audit | found, settings=result.settings | {"accuracy": given})


def _reached_part(
    run: Callable[[dict[str, Any]], Result], best: Result, error: MotionError, excess: Array, given: Any
) -> Result:
    """What can be had: until the motions separate by more than is allowed."""
    first = int(np.argmax(excess > 1.0))
    t = float(error.t[max(first - 1, 0)])
    reason = (
        f"at {t:.4g} s: an accuracy of {given} cannot be had beyond, not with the tightest tolerances (rtol "
        f"{MIN_RTOL:.0e}): runs separate; ask for less, or for a shorter run"
    )
    span = t - float(best.t[0])
    part = run(_tolerances(MIN_RTOL) | {"duration": span}) if span > 0.0 else best
    until = MotionError(*(values[: max(first, 1)] for values in error))
    return dataclasses.replace(_with_accuracy(part, until, given), status="failed", reason=reason)

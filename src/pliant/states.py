"""Checked arguments of calls: times, states, and rows of states with any leading dimensions."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.errors import ModelError
from pliant.model.messages import listed
from pliant.model.model import Model

Array = NDArray[np.float64]
Batch = tuple[int, ...]
UNIT = 1e-15  # lengths of quaternions this close to 1 are 1


def as_rows(model: Model, t: ArrayLike = 0.0, **given: ArrayLike | None) -> tuple[Batch, Array, dict[str, Array]]:
    """(leading dimensions, t (rows), {name: (rows, n)}) of arguments that broadcast against each other.

    q has one entry per coordinate, all others one per velocity; None: no entries. Quaternions are made unit."""
    arrays = {
        what: np.zeros(0) if value is None else as_array(value, _names(model, what), what)
        for what, value in given.items()
    }
    times = as_times(t)
    if times.ndim == 0 and all(array.ndim == 1 for array in arrays.values()):
        # one state, the short way
        rows = {what: array[None, :] for what, array in arrays.items()}
        if "q" in rows:
            rows["q"] = _with_unit_quaternions(model, rows["q"])
        return (), times[None], rows
    try:
        batch = np.broadcast_shapes(times.shape, *(array.shape[:-1] for array in arrays.values()))
    except ValueError:
        found = {"t": times.shape} | {what: arrays[what].shape for what, value in given.items() if value is not None}
        shapes = ", ".join(f"{what} {shape}" for what, shape in found.items() if len(shape))
        raise ModelError(f"these shapes do not fit together: {shapes}; all but the last must broadcast") from None
    rows = {what: _flat(array, batch) for what, array in arrays.items()}
    if "q" in rows:
        rows["q"] = _with_unit_quaternions(model, rows["q"])
    return batch, np.ascontiguousarray(np.broadcast_to(times, batch)).reshape(-1), rows


def _names(model: Model, what: str) -> tuple[str, ...]:
    return model.coordinates if what.startswith("q") else model.velocities


def _flat(array: Array, batch: Batch) -> Array:
    count = int(np.prod(batch, dtype=np.int64))
    return np.ascontiguousarray(np.broadcast_to(array, (*batch, array.shape[-1]))).reshape(count, array.shape[-1])


def _with_unit_quaternions(model: Model, q: Array) -> Array:
    q = q.copy() if model.quaternions else q
    for four in model.quaternions:
        # column by column: the same bits for one row as for many
        x, y, z, w = q[:, four].T
        length = np.sqrt(x * x + y * y + z * z + w * w)
        if length.min(initial=1.0) < 1e-6:
            name = model.coordinates[four.start].rpartition(".")[0]
            raise ModelError(f"q: quaternion of joint {name!r} has length {length.min():g}; give a unit quaternion")
        # unit to rounding stays as it is, so that what was made unit once keeps its bits
        q[:, four] /= np.where(np.abs(length - 1.0) < UNIT, 1.0, length)[:, None]
    return q


def as_array(value: ArrayLike, names: tuple[str, ...], what: str) -> Array:
    """Finite float64 numbers with one entry per name in the last dimension, or a message that says what is expected."""
    try:
        array = np.ascontiguousarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ModelError(f"{what}: {value!r} is no list of numbers; give {len(names)} numbers") from None
    if np.ndim(value) == 0 or array.shape[-1] != len(names):
        expected = f"({len(names)},)" if np.ndim(value) < 2 else f"(.., {len(names)})"
        raise ModelError(f"{what}: shape {np.shape(value)} found, {expected} expected: {listed(names)}")
    if not np.all(np.isfinite(array)):
        *row, column = (int(k) for k in np.argwhere(~np.isfinite(array))[0])
        where = f" of row {row[0] if len(row) == 1 else tuple(row)}" if row else ""
        raise ModelError(f"{what}: {names[column]!r}{where} is {array[(*row, column)]}; give finite numbers")
    return array


def as_times(t: ArrayLike) -> Array:
    """Finite times of any shape, or a message."""
    try:
        times = np.asarray(t, dtype=np.float64)
    except (TypeError, ValueError):
        times = np.array(np.nan)
    if isinstance(t, (str, bool)) or not np.all(np.isfinite(times)):
        raise ModelError(f"t = {t!r} is no time; give a finite number of seconds")
    return times


def as_vector(value: ArrayLike | None, names: tuple[str, ...], what: str) -> Array:
    """One row of as_array."""
    array = as_array([] if value is None else value, names, what)
    if array.ndim != 1:
        raise ModelError(f"{what}: shape {array.shape} found, ({len(names)},) expected: {listed(names)}")
    return array


def as_state(model: Model, q: ArrayLike, v: ArrayLike, names: tuple[str, str] = ("q", "v")) -> tuple[Array, Array]:
    """Checked copies of one q and v; quaternions must have a direction and are made unit. names: for messages."""
    q, v = as_vector(q, model.coordinates, names[0]), as_vector(v, model.velocities, names[1])
    return _with_unit_quaternions(model, q[None, :].copy())[0], v

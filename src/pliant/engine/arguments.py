"""Checked arguments of calls: models, numbers, times, states, and rows of states with any leading dimensions.

What a caller gives is anything: it becomes float64 numbers here, or a message."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.errors import ModelError
from pliant.model.messages import closest, listed, quoted
from pliant.model.model import Model
from pliant.model.quantities import LARGEST

Array = NDArray[np.float64]
Batch = tuple[int, ...]
UNIT = 1e-15  # lengths of quaternions this close to 1 are 1
NOT_NEGATIVE = -1e-300  # the bound above which numbers of at least 0 lie
FLOAT = np.dtype(np.float64)
MAX_DIMENSIONS = 16  # of an argument, so that there is room for those of an answer


# --- one value ------------------------------------------------------------------------------------------------------


def as_model(model: Any, what: str = "model") -> Model:
    """A Model, or a message."""
    if not isinstance(model, Model):
        advice = "; pliant.load reads one" if isinstance(model, (str, bytes)) or hasattr(model, "__fspath__") else ""
        raise ModelError(f"{what}: {quoted(model)} is no Model; give a pliant.Model{advice}")
    return model


def as_flag(value: Any, what: str) -> bool:
    """True or false, or a message."""
    if not isinstance(value, (bool, np.bool_)):
        raise ModelError(f"{what}: {quoted(value)} found; give true or false")
    return bool(value)


def as_number(value: Any, what: str, low: float = -np.inf, high: float = np.inf, unit: str = "") -> float:
    """One finite number above low and below high, or a message."""
    try:
        number = as_numbers(value, what)
        if number.ndim == 0 and low < float(number) < high:
            return float(number)
    except ModelError:
        pass  # with other words
    above = "" if low == -np.inf else " of at least 0" if low < 0.0 else f" above {low:g}"
    above += f" and below {high:g}" if np.isfinite(high) else ""
    raise ModelError(f"{what}: {quoted(value)} found; give a number{above} {unit}".rstrip())


def as_whole(value: Any, what: str, least: int = 1, advice: str = "") -> int:
    """A whole number from `least` on, also as 1e6; or a message."""
    is_whole = isinstance(value, (int, np.integer)) or (isinstance(value, (float, np.floating)) and value % 1 == 0)
    if not is_whole or isinstance(value, bool) or not least <= value < 2**62:
        raise ModelError(f"{what}: {quoted(value)} found; give a whole number from {least} on{advice}")
    return int(value)


def as_callback(value: Any, what: str) -> Any:
    """A function, or None, or a message."""
    if value is not None and not callable(value):
        raise ModelError(f"{what}: {quoted(value)} found; give a function, or leave it out")
    return value


def as_name(value: Any, what: str, advice: str = "give a name") -> str:
    """One text, or a message."""
    if not isinstance(value, str):
        raise ModelError(f"{what}: {quoted(value)} found; {advice}")
    return value


def as_choice(value: Any, allowed: Collection[str], what: str) -> str:
    """One of some words, or a message."""
    if not isinstance(value, str) or value not in allowed:
        hint = closest(value, allowed) if isinstance(value, str) else ""
        raise ModelError(f"{what}: {quoted(value)} found{hint or ';'} give one of {', '.join(allowed)}")
    return value


def as_index(value: Any, count: int, what: str) -> int:
    """The number of one of `count` things, from the end if negative; or a message."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or not -count <= value < count:
        raise ModelError(f"{what}: {quoted(value)} found; there are {count}, give a whole number from 0 to {count - 1}")
    return int(value) % count


def as_names(value: Any, what: str) -> tuple[str, ...]:
    """Texts: one, or a list of them; or a message."""
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, (list, tuple, set, frozenset, dict)) or not all(isinstance(name, str) for name in names):
        raise ModelError(f"{what}: {quoted(value)} found; give a name, or a list of names")
    return tuple(names)


# --- numbers ---------------------------------------------------------------------------------------------------------


def as_numbers(value: Any, what: str, wanted: str = "numbers") -> Array:
    """float64, C-contiguous, of any shape, or a message. Texts, complex numbers, truth values, dates and masked entries
    are no numbers; nan and inf still are."""
    if type(value) is np.ndarray and value.dtype is FLOAT and value.flags.carray:
        return value
    try:
        array = np.asarray(value)
        is_number = array.dtype.kind in "iuf" and not np.ma.is_masked(value)
        if array.dtype.kind == "O":  # fractions, decimals, whole numbers of many digits
            is_number = not any(isinstance(item, (str, bytes, bool, np.bool_, type(None))) for item in array.flat)
        if is_number and array.ndim <= MAX_DIMENSIONS:
            with np.errstate(over="ignore"):
                array = np.asarray(array, FLOAT, order="C")
            return array if array.flags.aligned else array.copy()
    except MemoryError:
        raise
    except Exception:  # what a caller's objects do when numpy looks at them
        pass
    raise ModelError(f"{what}: {quoted(value)} is no list of numbers; give {wanted}")


def ready(array: Any, shape: tuple[int, ...]) -> bool:
    """Whether kernels may take it as it is: float64, C-contiguous, aligned, writable, this shape. An eighth of a us."""
    return type(array) is np.ndarray and array.dtype is FLOAT and array.shape == shape and array.flags.carray


def as_out(out: Any, shape: tuple[int, ...], what: str = "out") -> Array:
    """An array that answers can be written to, or a message."""
    if type(out) is np.ndarray and out.dtype is FLOAT and out.shape == shape and out.flags.writeable:
        return out
    if isinstance(out, np.ndarray):
        how = f"{out.dtype} of shape {out.shape}" + ("" if out.flags.writeable else ", read-only,")
    else:
        how = quoted(out)
    is_equal = isinstance(out, np.ndarray) and out.dtype == FLOAT and out.shape == shape and out.flags.writeable
    if not is_equal or isinstance(out, np.ma.MaskedArray):
        raise ModelError(f"{what}: {how} found; give a writable array of float64 of shape {shape}")
    return np.asarray(out)


def as_table(value: Any, names: tuple[str, ...], what: str, count: int | None = None) -> Array:
    """(rows, n) numbers, nan and inf among them, one column per name; or a message."""
    array = as_numbers(value, what, f"rows of {len(names)} numbers")
    if array.ndim != 2 or array.shape[1] != len(names) or count not in (None, len(array)):
        expected = f"({'rows' if count is None else count}, {len(names)})"
        raise ModelError(f"{what}: shape {array.shape} found, {expected} expected: {listed(names)}")
    return array


# --- states ----------------------------------------------------------------------------------------------------------


def as_rows(model: Model, t: ArrayLike = 0.0, **given: ArrayLike | None) -> tuple[Batch, Array, dict[str, Array]]:
    """(leading dimensions, t (rows), {name: (rows, n)}) of arguments that broadcast against each other.

    q has one entry per coordinate, all others one per velocity; tau may be None: no entries. Quaternions are made
    unit."""
    as_model(model)
    arrays = {
        what: np.zeros(0) if value is None and what == "tau" else as_array(value, _names(model, what), what)
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


def as_array(value: Any, names: tuple[str, ...], what: str) -> Array:
    """Finite float64 numbers with one entry per name in the last dimension, or a message that says what is expected."""
    array = as_numbers(value, what, f"{len(names)} numbers")
    if array.ndim == 0 or array.shape[-1] != len(names):
        expected = f"({len(names)},)" if array.ndim < 2 else f"(.., {len(names)})"
        raise ModelError(f"{what}: shape {array.shape} found, {expected} expected: {listed(names)}")
    if not np.all(np.abs(array) <= LARGEST):
        *row, column = (int(k) for k in np.argwhere(~(np.abs(array) <= LARGEST))[0])
        where = f" of row {row[0] if len(row) == 1 else tuple(row)}" if row else ""
        found = array[(*row, column)]
        wanted = f"numbers up to {LARGEST:g}" if np.isfinite(found) else "finite numbers"
        raise ModelError(f"{what}: {names[column]!r}{where} is {found}; give {wanted}")
    return array


def as_times(t: Any) -> Array:
    """Finite times of any shape, or a message."""
    try:
        times = as_numbers(t, "t")
    except ModelError:
        times = np.array(np.nan)
    if not np.all(np.abs(times) <= LARGEST):
        raise ModelError(f"t = {quoted(t)} is no time; give a number of seconds")
    return times


def as_time_list(t: Any) -> Array:
    """A list of finite times, of one too; or a message."""
    times = np.atleast_1d(as_times(t))
    if times.ndim > 1:
        raise ModelError(f"t: shape {times.shape} found; give a number of seconds, or a list of them")
    return times


def as_pair(value: Any, what: str, wanted: str) -> tuple[Any, Any]:
    """Two finite numbers, or a message."""
    pair = as_numbers(value, what, wanted)
    if pair.shape != (2,) or not np.all(np.isfinite(pair)):
        raise ModelError(f"{what}: {quoted(value)} found; give {wanted}")
    first, second = pair.tolist()
    return first, second


def as_time(t: Any) -> float:
    """One finite time, or a message."""
    times = as_times(t)
    if times.ndim:
        raise ModelError(f"t = {quoted(t)} is no time; give one number of seconds")
    return float(times)


def as_vector(value: ArrayLike | None, names: tuple[str, ...], what: str) -> Array:
    """One row of as_array."""
    array = as_array([] if value is None else value, names, what)
    if array.ndim != 1:
        raise ModelError(f"{what}: shape {array.shape} found, ({len(names)},) expected: {listed(names)}")
    return array


def as_state(model: Model, q: ArrayLike, v: ArrayLike, names: tuple[str, str] = ("q", "v")) -> tuple[Array, Array]:
    """Checked copies of one q and v; quaternions must have a direction and are made unit. names: for messages."""
    as_model(model)
    q, v = as_vector(q, model.coordinates, names[0]), as_vector(v, model.velocities, names[1])
    return _with_unit_quaternions(model, q[None, :].copy())[0], v.copy()

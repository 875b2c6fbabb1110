"""What was measured: columns over time, natural frequencies and damping ratios, as one vector of numbers."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.engine.arguments import as_name, as_number, as_numbers
from pliant.errors import ModelError
from pliant.files import as_path
from pliant.io.plain_file import MAX_BYTES, read_plain
from pliant.model.messages import closest, listed, quoted
from pliant.model.model import Model
from pliant.results.named_columns import column_units

Array = NDArray[np.float64]
TIME = "time"
# of pliant.modes, by rising frequency; what nothing holds (0 Hz) is left out
MODAL = {"hertz": "Hz", "frequencies": "rad/s", "damping_ratios": ""}


@dataclass(frozen=True, eq=False)
class Measured:
    """Numbers by name; nan where nothing was measured."""

    columns: dict[str, Array]  # each one-dimensional
    times: Array | None  # [s] of the columns over time
    units: dict[str, str]

    @property
    def modal(self) -> tuple[str, ...]:
        """Columns that modes predict."""
        return tuple(name for name in self.columns if name in MODAL)

    @property
    def series(self) -> tuple[str, ...]:
        """Columns over time."""
        return tuple(name for name in self.columns if name not in MODAL)

    @property
    def size(self) -> int:
        """Numbers that count."""
        return sum(int(np.isfinite(values).sum()) for values in self.columns.values())

    def vector(self, columns: Mapping[str, Array] | None = None) -> Array:
        """What was measured, or predicted, where something was measured."""
        given = self.columns if columns is None else columns
        return np.concatenate([given[name][np.isfinite(own)] for name, own in self.columns.items()])

    def spread(self, per_column: Mapping[str, float]) -> Array:
        """One number per column as one per entry of the vector."""
        counts = [int(np.isfinite(own).sum()) for own in self.columns.values()]
        return np.repeat([per_column[name] for name in self.columns], counts)

    def split(self, vector: Array) -> dict[str, Array]:
        """A vector by columns, nan where nothing was measured."""
        found, begin = {}, 0
        for name, own in self.columns.items():
            is_there = np.isfinite(own)
            found[name] = np.full(len(own), np.nan)
            found[name][is_there] = vector[begin : begin + int(is_there.sum())]
            begin += int(is_there.sum())
        return found

    @property
    def ranges(self) -> dict[str, float]:
        """How far each column reaches, for scales."""
        found = {}
        for name, own in self.columns.items():
            there = own[np.isfinite(own)]
            width = float(np.ptp(there)) if name not in MODAL else 0.0
            found[name] = width or float(np.max(np.abs(there))) or 1.0
        return found

    @property
    def sizes(self) -> dict[str, float]:
        """Against which a change is small: the range, or of a column that hardly moves a hundredth of its values."""
        largest = {name: float(np.nanmax(np.abs(own))) for name, own in self.columns.items()}
        return {name: max(width, 0.01 * largest[name]) for name, width in self.ranges.items()}


def as_measured(given: Any) -> Measured:
    """A mapping of names to numbers, a table of pandas, or a CSV file; or a message."""
    if isinstance(given, (str, Path)):
        given = _read(as_path(given, "measured"))
    elif hasattr(given, "columns") and hasattr(given, "to_numpy"):
        given = {name: given[name].to_numpy() for name in given.columns}
    if not isinstance(given, Mapping) or not given:
        raise ModelError(
            f"measured: {quoted(given)} found; give a mapping as {{'time': t, 'elbow': angles}} or {{'hertz': [2.9]}}, "
            "a pandas table, or a CSV file"
        )
    columns = {as_name(name, "measured"): _column(name, values) for name, values in given.items()}
    times = columns.pop(TIME, None)
    over_time = [name for name in columns if name not in MODAL]
    if not columns:
        raise ModelError("measured: only times; give what was measured at them, as 'elbow' or 'tip.x'")
    for name, values in columns.items():
        if not np.isfinite(values).any():
            raise ModelError(f"measured: {quoted(name)} has no number; leave it out")
        if times is not None and name in over_time and values.shape != times.shape:
            raise ModelError(
                f"measured: {quoted(name)} has {len(values)} numbers, 'time' has {len(times)}; give one at each time, "
                "nan where there is none"
            )
    if times is not None and not (over_time and np.all(times >= 0.0) and np.all(np.diff(times) > 0.0)):
        raise ModelError("measured: 'time' does not rise from 0 or later; give rising times in seconds since the start")
    return Measured(columns, times, {})


def _column(name: str, given: Any) -> Array:
    values = as_numbers(given, f"measured: {quoted(name)}")
    if values.ndim != 1 or not len(values) or np.isinf(values).any():
        raise ModelError(f"measured: {quoted(name)}: shape {values.shape} found; give a list of finite numbers, or nan")
    return values.copy()


def _read(path: Path) -> dict[str, Any]:
    """Columns of a CSV file; units in brackets behind the names, as result.to_csv writes them, are left out."""
    try:
        text = read_plain(path, MAX_BYTES).decode("utf-8")
        head, *rows = csv.reader(io.StringIO(text, newline=""))
        names = [re.sub(r"\s*\[[^\]]*\]\s*$", "", name) for name in head]
        table = np.array([[float(cell) if cell.strip() else np.nan for cell in row] for row in rows], float)
    except OSError as error:
        raise ModelError(f"measured: {path} cannot be read ({error.strerror}); give a CSV file") from None
    except (ValueError, csv.Error):
        raise ModelError(
            f"measured: {path.name} is no table of numbers under one line of names; give such a file"
        ) from None
    if table.ndim != 2 or table.shape[1] != len(names):
        raise ModelError(f"measured: {path.name}: rows and names differ in number; give one number per name")
    return dict(zip(names, table.T, strict=True))


def of_model(measured: Measured, model: Model) -> Measured:
    """With units; columns that no run of the model has are refused."""
    known = column_units(model)
    for name in measured.series:
        if name not in known:
            hint = closest(name, known) or ";"
            raise ModelError(
                f"measured: no column {quoted(name)}{hint} runs of {model.name!r} have {listed(known, 30)}; modes have "
                f"{listed(MODAL)}"
            )
    if measured.series and measured.times is None:
        raise ModelError(
            f"measured: {listed(measured.series)} without 'time'; give the times [s] they were measured at"
        )
    return Measured(
        measured.columns, measured.times, {name: known.get(name, MODAL.get(name, "")) for name in measured.columns}
    )


def as_noise(given: Any, measured: Measured) -> dict[str, float] | None:
    """Standard deviations by column: one number serves all; None: to be found from the residuals."""
    if given is None:
        return None
    if not isinstance(given, Mapping):
        return dict.fromkeys(measured.columns, as_number(given, "noise", 0.0))
    for name in given:
        if name not in measured.columns:
            raise ModelError(f"noise: {quoted(name)} was not measured; there are {listed(measured.columns)}")
    missing = [name for name in measured.columns if name not in given]
    if missing:
        raise ModelError(
            f"noise: none of {listed(missing)}; give a standard deviation for every column, or leave noise out"
        )
    return {name: as_number(given[name], f"noise: {quoted(name)}", 0.0) for name in measured.columns}

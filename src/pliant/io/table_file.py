"""A result as one table, a row per recorded time: CSV and pandas."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError
from pliant.files import whole_file
from pliant.results.frames import load_pandas
from pliant.results.named_columns import columns

if TYPE_CHECKING:
    from pliant.results.recording import Recording

Array = NDArray[np.float64]
FORMS = ("wide", "long")


def write_csv(result: Recording, path: Path) -> None:
    """One line per recorded time, names with units in the first line, every digit that counts."""
    table = [("time", "s", result.t), *((name, unit, values) for _, name, unit, values in columns(result))]
    with whole_file(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([f"{name} [{unit}]" if unit else name for name, unit, _ in table])
        writer.writerows(zip(*(values.tolist() for *_, values in table), strict=True))


def to_pandas(result: Recording, form: str) -> Any:
    """wide: one row per time, one column per quantity, units in attrs. long: one row per time and quantity."""
    if form not in FORMS:
        raise ModelError(f"form {form!r} is unknown; there are {', '.join(FORMS)}")
    pandas = load_pandas()
    table = list(columns(result))
    if form == "wide":
        frame = pandas.DataFrame({name: values for _, name, _, values in table}, index=_time(pandas, result))
        frame.attrs = {"model": result.model.name, "units": {"time": "s"} | {name: unit for _, name, unit, _ in table}}
        return frame
    n_times, n_columns = len(result.t), len(table)
    return pandas.DataFrame(
        {
            "time": np.tile(result.t, n_columns),
            "kind": np.repeat([what for what, *_ in table], n_times),
            "name": np.repeat([name for _, name, *_ in table], n_times),
            "unit": np.repeat([unit for _, _, unit, _ in table], n_times),
            "value": np.concatenate([values for *_, values in table]),
        }
    )


def _time(pandas: Any, result: Recording) -> Any:
    return pandas.Index(result.t, name="time")

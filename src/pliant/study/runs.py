"""StudyRuns: the rows of a study, finished or not, as a table."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.engine.arguments import as_index, as_name
from pliant.errors import ModelError
from pliant.files import as_path
from pliant.model.messages import listed, quoted
from pliant.report_types import Finding
from pliant.result import Result
from pliant.results.frames import pandas_frame
from pliant.study.base import Base
from pliant.study.chunk import FAILED, STATUSES, Chunk
from pliant.study.figures import StudyFigure
from pliant.study.parameters import Parameter
from pliant.study.plan import Plan
from pliant.study.sensitivity import Sensitivity, sensitivity

if TYPE_CHECKING:
    import pandas
    import xarray

    from pliant.study.study import Study

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StudyRuns:
    """Rows of a study: the values of its parameters and its figures, how each run ended and why."""

    name: str
    parameters: tuple[Parameter, ...]
    figures: tuple[StudyFigure, ...]
    chunk: Chunk = field(repr=False)  # finished rows, in their order
    codes: Array = field(repr=False)  # (rows, parameters)
    count: int  # of rows that the study has
    method: str
    seed: int = 0
    folder: Path | None = None
    base: Base | None = field(default=None, repr=False)  # None: only Python can make its runs
    damaged: tuple[str, ...] = ()  # files whose rows are lost, and will be run again

    @classmethod
    def of(cls, study: Study, figures: Any, chunk: Chunk, values: Array, folder: Path | None) -> StudyRuns:
        return cls(
            study.base.name,
            study.parameters,
            figures,
            chunk,
            values,
            len(study),
            study.plan.method,
            study.seed,
            folder,
            study.base,
        )

    def __len__(self) -> int:
        return len(self.chunk)

    @property
    def is_complete(self) -> bool:
        return len(self) == self.count

    @property
    def rows(self) -> NDArray[np.int64]:
        """Numbers of the finished rows."""
        return self.chunk.rows

    @property
    def status(self) -> NDArray[Any]:
        """Per finished row: "done", "stopped" or "failed"."""
        return np.array(STATUSES, object)[self.chunk.status]

    @property
    def is_ok(self) -> NDArray[np.bool_]:
        return np.asarray(self.chunk.status != FAILED)

    @property
    def notes(self) -> dict[int, str]:
        """By row: why it failed, or what is to be heard of it."""
        return dict(sorted(self.chunk.notes.items()))

    @property
    def failed(self) -> list[int]:
        """Numbers of the rows that failed."""
        return [int(row) for row in self.rows[~self.is_ok]]

    @property
    def table(self) -> dict[str, NDArray[Any]]:
        """Columns with a value per finished row: parameters, figures, status and note."""
        found: dict[str, NDArray[Any]] = {
            each.name: each.values_of(self.codes[:, k]) for k, each in enumerate(self.parameters)
        }
        for k, figure in enumerate(self.figures):
            label = figure.label if figure.label not in found else f"figure {figure.label}"
            found[label] = self.chunk.figures[:, k]
        notes = np.array([self.chunk.notes.get(int(row), "") for row in self.rows], object)
        return {"row": self.rows, **found, "status": self.status, "note": notes}

    def column(self, name: str) -> NDArray[Any]:
        """One column of the table."""
        table = self.table
        if as_name(name, "name") not in table:
            raise ModelError(f"no column {quoted(name)}; there are {listed(table, 30)}")
        return table[name]

    def values(self, row: int) -> dict[str, Any]:
        """The values of the parameters in a row."""
        place = self._place(row)
        return {
            each.name: each.values_of(self.codes[place : place + 1, k])[0] for k, each in enumerate(self.parameters)
        }

    def _place(self, row: int) -> int:
        """Where a row is among the finished ones."""
        number = as_index(row, self.count, "row")
        place = int(np.searchsorted(self.rows, number))
        if place == len(self) or self.rows[place] != number:
            raise ModelError(f"row {number} has not been run yet; go on with resume=True")
        return place

    # --- one of the runs ----------------------------------------------------------------------------------------------

    def result(self, row: int) -> Result:
        """The whole Result of a row, by running it again."""
        return self._base().run(self.values(row)).simulated()

    def command(self, row: int) -> str:
        """The line that makes this row again."""
        return self._base().command(self.values(row))

    def _base(self) -> Base:
        if self.base is None:
            raise ModelError(
                f"study of {self.name!r}: its model is Python code, which the folder does not hold; make the Study "
                "again, and ask it"
            )
        return self.base

    def plan(self) -> Plan:
        """Which values its rows have."""
        return Plan(self.parameters, self.method, self.count, self.seed)

    def sensitivity(self, figure: str) -> Sensitivity:
        """Which parameters a figure depends on: of a study with method="saltelli" Sobol' indices, the shares of its
        variance (first order: of a parameter alone, total: with its interactions); with method="morris" elementary
        effects. With intervals of 95 %."""
        return sensitivity(self, figure)

    # --- as tables and pages ------------------------------------------------------------------------------------------

    @property
    def units(self) -> dict[str, str]:
        return {each.label: each.unit for each in self.figures}

    def to_pandas(self) -> pandas.DataFrame:
        """The table, with the row as index; units in attrs["units"]."""
        table = self.table
        rows = table.pop("row")
        frame: pandas.DataFrame = pandas_frame(table, self.units, rows)
        frame.index.name = "row"
        return frame

    def to_xarray(self) -> xarray.Dataset:
        """A finished grid: figures over the axes of their parameters; else all columns over rows."""
        import xarray

        table = self.table
        rows = table.pop("row")
        if self.method == "grid":
            axes = {each.name: np.array(each.grid(), None if each.is_number else object) for each in self.parameters}
            shape = tuple(map(len, axes.values()))
            found = {}
            for name, values in table.items():
                if name in axes:
                    continue
                whole = np.full(self.count, np.nan if values.dtype.kind == "f" else "", values.dtype)
                whole[rows] = values
                found[name] = (tuple(axes), whole.reshape(shape), {"units": self.units.get(name, "")})
            return xarray.Dataset(found, axes)
        columns = {name: ("row", values, {"units": self.units.get(name, "")}) for name, values in table.items()}
        return xarray.Dataset(columns, {"row": rows})

    def report(self, path: str | Path = "report.html") -> None:
        """The page: parallel coordinates, scatter, heat maps and response curves of all rows."""
        from pliant.study.reporting import write_study_page

        write_study_page(self, as_path(path))

    def findings(self) -> tuple[Finding, ...]:
        """Tables of the page."""
        words = "Of every figure the least, mean and largest value, and the rows that have them."
        found = [Finding("Figures", words, SUMMARY, tuple(self.summary()), numbers=(2, 3, 4, 5, 6))]
        for label in [each.label for each in self.figures] if self.method in MEANINGS else []:
            with suppress(ModelError):  # not all rows are there, or nothing varies
                each = self.sensitivity(label)
                title, text = f"What {label} depends on", MEANINGS[self.method]
                found.append(Finding(title, text, each.columns, tuple(each.table()), numbers=(1, 2, 3, 4)))
        return tuple(found)

    def summary(self) -> list[tuple[str, ...]]:
        """Rows under SUMMARY: what every figure ranges over, and where."""
        found: list[tuple[str, ...]] = []
        for k, figure in enumerate(self.figures):
            values = self.chunk.figures[:, k]
            known = np.isfinite(values)
            if not known.any():
                found.append((figure.label, figure.unit, "", "", "", "", "0"))
                continue
            low, high = (int(self.rows[np.flatnonzero(known)[f(values[known])]]) for f in (np.argmin, np.argmax))
            numbers = (values[known].min(), values[known].mean(), values[known].max())
            words = [f"{number:.6g}" for number in numbers]
            found.append((figure.label, figure.unit, f"{words[0]} (row {low})", words[1],
                          f"{words[2]} (row {high})", f"{values[known].std():.3g}", str(int(known.sum()))))  # fmt: skip
        return found

    def __repr__(self) -> str:
        failed = f", {len(self.failed)} failed" if self.failed else ""
        left = f"; {self.count - len(self)} are left to run" if not self.is_complete else ""
        return f"<StudyRuns of {self.name!r}: {len(self)} of {self.count} rows{failed}{left}>"


MEANINGS = {
    "saltelli": "Sobol' indices: shares of the variance of the figure, of a parameter alone (first order) and with its "
    "interactions (total), with intervals of 95 %.",
    "morris": "Morris' elementary effects: how much the figure changes over the whole range of a parameter, its mean, "
    "the mean of its size with an interval of 95 %, and its deviation, which tells of bends and interactions.",
}
SUMMARY = ("figure", "unit", "least", "mean", "largest", "deviation", "runs")

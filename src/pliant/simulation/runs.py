"""Runs: what simulate_many gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.engine.arguments import as_index
from pliant.model.columns import coordinate_columns, velocity_columns
from pliant.model.model import Model
from pliant.result import Result, counted
from pliant.results.frames import pandas_frame
from pliant.simulation.simulate import simulate

if TYPE_CHECKING:
    import pandas

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Runs:
    """Many runs: where each began and ended, how, and why; results of single ones on request."""

    models: tuple[Model, ...]  # one per run, or one for all
    q0: Array  # (runs, n_q) where they began
    v0: Array  # (runs, n_v)
    t: Array  # (runs) where they ended [s]
    q: Array  # (runs, n_q)
    v: Array  # (runs, n_v)
    steps: NDArray[np.int64]  # (runs) accepted
    status: NDArray[Any]  # (runs) "done", "stopped", "failed" or "interrupted"
    reasons: NDArray[Any]  # (runs) sentences; "" for those that are done
    settings: dict[str, Any]  # how they were run
    is_given: tuple[bool, bool] = (True, True)  # whether q0 and v0 are the caller's, not the models'
    times: Array | None = None  # [s] asked for
    q_at: Array | None = None  # (runs, times, n_q); nan where a run had ended
    v_at: Array | None = None  # (runs, times, n_v)
    outputs: dict[str, Array] = field(default_factory=dict)  # the models' outputs, each (runs, times, columns)
    results: tuple[Result | None, ...] = ()  # of all runs, if they were to be kept
    # of runs that recorded their way (times, keep_results), each (runs), nan where a run has none; empty where only
    # ends are kept, because it takes the energies along the way
    audit: dict[str, Array] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()  # "run 3: ..", of the same runs, and of those that failed

    def __len__(self) -> int:
        return len(self.t)

    @property
    def is_ok(self) -> NDArray[np.bool_]:
        """Per run: whether it came to its end as asked (a stop that the model asked for counts)."""
        return np.isin(self.status, ("done", "stopped"))

    @property
    def failed(self) -> list[int]:
        """Numbers of the runs that are not ok."""
        return [int(i) for i in np.flatnonzero(~self.is_ok)]

    def model(self, i: int) -> Model:
        """Of run i."""
        return self.models[as_index(i, len(self), "i") if len(self.models) > 1 else 0]

    def result(self, i: int) -> Result:
        """The whole Result of run i: the one that was kept, or by running it again."""
        number = as_index(i, len(self), "i")
        kept = self.results[number] if self.results else None
        q0, v0 = (array[number] if own else None for array, own in zip((self.q0, self.v0), self.is_given, strict=True))
        return kept or simulate(self.model(number), q0=q0, v0=v0, **self.settings)

    @property
    def table(self) -> dict[str, NDArray[Any]]:
        """Columns with a value per run: how it ended, and the coordinates at its start ("elbow.start") and its end."""
        model = self.models[0]
        found: dict[str, NDArray[Any]] = {"status": self.status, "t": self.t, "steps": self.steps}
        found |= {f"{name}.start": self.q0[:, k] for k, name in enumerate(model.coordinates)}
        found |= {f"{name}.rate.start": self.v0[:, k] for k, name in enumerate(model.velocities)}
        found |= {name: self.q[:, k] for k, name in enumerate(model.coordinates)}
        found |= {f"{name}.rate": self.v[:, k] for k, name in enumerate(model.velocities)}
        return {**found, **self.audit, "reason": self.reasons}

    def to_pandas(self) -> pandas.DataFrame:
        """The table, a row per run; units in attrs["units"]."""
        frame: pandas.DataFrame = pandas_frame(self.table, self._units)
        return frame

    @property
    def _units(self) -> dict[str, str]:
        columns = (*coordinate_columns(self.models[0]), *velocity_columns(self.models[0]))
        units = {column.name: column.unit for column in columns}
        return {"t": "s", **units, **{f"{name}.start": unit for name, unit in units.items()}}

    def _repr_html_(self) -> str:
        from pliant.view.notebook import table_html

        # what is the same in all runs says nothing
        varied = {
            name: values for name, values in self.table.items() if len(set(values.tolist())) > 1 or name == "status"
        }
        heads = [f"{name} [{self._units[name]}]" if self._units.get(name) else name for name in varied]
        return table_html(repr(self)[1:-1], ("run", *heads), list(zip(range(len(self)), *varied.values(), strict=True)))

    def __repr__(self) -> str:
        words, counts = np.unique(self.status, return_counts=True)
        how = ", ".join(f"{count} {word}" for word, count in zip(words, counts, strict=True)) or "none"
        name = self.models[0].name if self.models else ""
        first = f"; run {self.failed[0]}: {self.reasons[self.failed[0]]}" if self.failed else ""
        kept = "" if self.audit or not len(self) else "; only ends are kept: no audit"
        return f"<Runs of {name!r}: {how}{counted(self.warnings)}{kept}{first}>"

"""sensitivity(model, columns, times, parameters): how a motion changes with parameters, each number with its error."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.engine.arguments import as_names, as_time_list
from pliant.errors import SimulationError
from pliant.identification.derivatives import LEVELS, Differences
from pliant.identification.measured import Measured, as_measured, of_model
from pliant.identification.parameters import Parameters
from pliant.identification.predictions import Predictor
from pliant.identification.variants import as_variants
from pliant.model.model import Model
from pliant.report_types import Lines
from pliant.simulation.options import check_options
from pliant.simulation.simulate import warn_of

Array = NDArray[np.float64]
VANISHES = 1e-6  # of the range of the motion over the parameter: a derivative below is none


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity:
    """Columns of a run at times, and their derivatives: sensitivity["tip.x", "joints.elbow.stiffness"]."""

    times: Array  # [s]
    columns: dict[str, Array]
    derivatives: dict[tuple[str, str], Array]  # by column and parameter
    errors: dict[tuple[str, str], Array]  # estimates, of the derivatives
    values: dict[str, float]  # of the parameters
    warnings: tuple[str, ...]
    units: dict[str, str] = field(default_factory=dict)

    def __getitem__(self, key: tuple[str, str]) -> Array:
        return self.derivatives[key]

    @property
    def relative_error(self) -> float:
        """The largest of all, over the largest value of its curve; curves that vanish are held against the motion."""
        found = []
        for (column, name), values in self.derivatives.items():
            motion = float(np.ptp(self.columns[column])) / (abs(self.values[name]) or 1.0)
            size = max(float(np.max(np.abs(values))), VANISHES * motion) or 1.0
            found.append(float(np.max(self.errors[column, name])) / size)
        return max(found)

    def plot(self) -> Any:
        """A chart per column and parameter; the Axes as an array (columns, parameters)."""
        from pliant.view.figure import plot_lines

        names = dict.fromkeys(parameter for _, parameter in self.derivatives)
        rows = [
            [
                Lines(f"d {column} / d {name}", "", "time", "s", (("derivative", self.times, self[column, name]),))
                for name in names
            ]
            for column in self.columns
        ]
        return plot_lines(rows)

    def __repr__(self) -> str:
        names = ", ".join(dict.fromkeys(parameter for _, parameter in self.derivatives))
        return (
            f"<Sensitivity of {', '.join(self.columns)} to {names} at {len(self.times)} times, "
            f"errors up to {self.relative_error:.0e}>"
        )


def sensitivity(
    model: Any, columns: Any, times: ArrayLike, parameters: Any, *, workers: int | None = None, **options: Any
) -> Sensitivity:
    """Derivatives of columns of a run at times [s] by parameters, where these begin.

    model, parameters, options: as for fit. By central differences of whole runs at rtol 1e-10, extrapolated; errors are
    told from the spread of the extrapolations. Where events change between the neighbouring runs, there is no
    derivative, and a warning says so."""
    varied, at = Parameters(parameters), np.sort(as_time_list(times))
    variant = as_variants(model)
    asked = as_measured({"time": at, **{name: np.zeros(len(at)) for name in as_names(columns, "columns")}})
    u = np.zeros(len(varied))
    first = variant(varied.values(u))
    if isinstance(first, Model):
        asked = of_model(asked, first)
        check_options(first, **{"duration": float(at[-1]) or 1e-9, **options})
    predictor = Predictor(variant, varied, asked, options, workers)
    middle = predictor.at([u])[0]
    if not middle.is_ok:
        raise SimulationError(middle.reason)
    named = Measured(asked.split(middle.vector), at, asked.units)
    differences = Differences(predictor, named.spread(named.sizes))
    differences.at(u, middle)  # for steps that suit the motion
    found = differences.at(u, middle, LEVELS)
    if not found.is_ok:
        raise SimulationError(found.reason)
    slopes = varied.slopes(u)
    derivatives, errors = {}, {}
    for i, name in enumerate(varied.names):
        for column, values in asked.split(found.values[:, i] / slopes[i]).items():
            derivatives[column, name] = values
        for column, values in asked.split(found.errors[:, i] / abs(slopes[i])).items():
            errors[column, name] = values
    warnings = tuple(f"sensitivity: {words}, so there is no derivative" for words in found.changes)
    warn_of(warnings)
    return Sensitivity(at, named.columns, derivatives, errors, varied.values(u), warnings, asked.units)

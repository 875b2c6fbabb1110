"""Fit: what fit gives back. Values with their intervals, residuals, what to beware of, table, plot."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.identification.estimates import Estimate, Estimates
from pliant.identification.measured import MODAL, Measured
from pliant.identification.parameters import Parameters
from pliant.identification.predictions import Prediction
from pliant.methods.citations import CITATIONS
from pliant.model.messages import listed
from pliant.model.model import Model
from pliant.report_types import Lines
from pliant.result import Result

Array = NDArray[np.float64]
COLUMNS = ("parameter", "value", "standard error", "from", "to", "unit", "")
RESIDUAL_COLUMNS = ("measured", "numbers", "rms residual", "largest", "unit", "noise", "autocorrelation")
NEARLY_LINEAR = 0.5  # by how much the rise to the end of an interval may differ from 1
SAME_COST = 1e-6  # of the cost: minima that are one
CORRELATED = 3.5  # deviations of the autocorrelation of white noise: beyond, by chance, once in 2000
CURVE_POINTS = 801
EXACT = 1e-7  # of the range: residuals below are the run's own error, not noise
UNLIKELY = 1e-3
METHODS = {"least_squares": "branch1999", "global": "storn1997"}


@dataclass(frozen=True, eq=False)
class Minimum:
    """Where one start has led."""

    values: dict[str, float]
    cost: float  # weighted sum of squares
    reason: str  # why it is none; "" if it is one
    u: Array = field(repr=False)


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """Parameters with confidence intervals: fit["stiffness"].value; fit.model is the model with these values."""

    measured: Measured
    parameters: Parameters
    minimum: Minimum
    minima: tuple[Minimum, ...]  # of all starts, best first
    middle: Prediction
    estimates: Estimates
    method: str
    changes_on_the_way: int
    n_runs: int
    model: Model | None  # None where a function predicts without one

    # --- numbers --------------------------------------------------------------------------------------------------

    def __getitem__(self, name: str) -> Estimate:
        return self.estimates.each[name]

    @property
    def values(self) -> dict[str, float]:
        """By name."""
        return {name: one.value for name, one in self.estimates.each.items()}

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """(low, high) by name, of the confidence asked for; infinite where the measurements do not tell."""
        return {name: (one.low, one.high) for name, one in self.estimates.each.items()}

    @property
    def is_ok(self) -> bool:
        """Whether a minimum was found and every interval is one."""
        return not self.minimum.reason and all(one.is_known for one in self.estimates.each.values())

    @property
    def covariance(self) -> Array:
        """Of the values, in the order of the parameters."""
        return self.estimates.covariance

    @property
    def correlation(self) -> Array:
        """Of the estimates, -1 to 1; nan where one is not known."""
        deviations = np.sqrt(np.diag(self.covariance))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.covariance / np.outer(deviations, deviations))

    @property
    def predicted(self) -> dict[str, Array]:
        """What the fitted model says, by the names that were measured; nan where nothing was."""
        return self.measured.split(self.middle.vector)

    @property
    def residuals(self) -> dict[str, Array]:
        """Measured minus predicted, by name."""
        return {name: own - self.predicted[name] for name, own in self.measured.columns.items()}

    @property
    def noise(self) -> dict[str, float]:
        """Standard deviation of what was measured, by name: as given, or as found."""
        each = self.measured.split(self.estimates.noise)
        return {name: float(np.nanmean(values)) for name, values in each.items()}

    @property
    def result(self) -> Result | None:
        """The run of the fitted model, if there is one."""
        return self.middle.result

    # --- what to beware of ----------------------------------------------------------------------------------------

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What one should know before believing the values."""
        return tuple(self._warnings())

    def _warnings(self) -> Any:
        e = self.estimates
        if self.minimum.reason:
            yield f"fit: {self.minimum.reason}"
        if not e.derivatives.is_ok:
            yield f"fit: no confidence intervals: {e.derivatives.reason}"
        elif e.derivatives.changes:
            other = ' or take method="global"' if self.method != "global" else ""
            yield (
                f"fit: no confidence intervals: {e.derivatives.changes[0]}, so derivatives at the minimum mean "
                f"nothing; measure a shorter time{other}"
            )
        elif self.changes_on_the_way and self.method != "global":
            yield (
                f"fit: on the way events changed between neighbouring runs {self.changes_on_the_way} times, so there "
                'may be other minima: look with starts=8, or method="global"'
            )
        for words in e.combinations:
            yield f"fit: not identifiable: {words}; fix one of them, or measure something else"
        bound = [name for name, one in e.each.items() if one.is_at_bound]
        if bound:
            yield f"fit: {listed(bound)} at a bound, where intervals do not hold; widen it if it is none of nature"
        yield from self._of_intervals()
        yield from self._of_residuals()

    @property
    def _is_exact(self) -> bool:
        """Whether the residuals are the runs' own error: there is no noise that intervals could tell of."""
        sizes = {name: math.sqrt(float(np.nanmean(r**2))) for name, r in self.residuals.items()}
        return all(size <= EXACT * self.measured.ranges[name] for name, size in sizes.items())

    def _of_intervals(self) -> Any:
        if self._is_exact:
            return
        for name, one in self.estimates.each.items():
            off = [rise for rise in one.rises if abs(rise - 1.0) > NEARLY_LINEAR]
            if off and not one.is_at_bound:
                worst = max(off, key=lambda rise: abs(rise - 1.0))
                kind = "wide" if worst > 1.0 else "narrow"
                yield (
                    f"fit: the interval of {name} is too {kind}: at its end the sum of squares rises {worst:.2g} times "
                    "as much as in a linear problem; take log=True, or more measurements"
                )

    def _of_residuals(self) -> Any:
        from scipy.stats import chi2

        e = self.estimates
        if e.is_noise_given:
            chance = 2.0 * min(chi2.cdf(e.s2 * e.degrees_of_freedom, e.degrees_of_freedom),
                               chi2.sf(e.s2 * e.degrees_of_freedom, e.degrees_of_freedom))  # fmt: skip
            if chance < UNLIKELY:
                yield (
                    f"fit: residuals are {math.sqrt(e.s2):.3g} times the noise that was given; the noise or the model "
                    "is not right, and the intervals neither"
                )
        for name, r in self.residuals.items():
            there = r[np.isfinite(r)]
            if name in MODAL or np.sqrt(np.mean(there**2)) <= EXACT * self.measured.ranges[name]:
                continue
            own = autocorrelation(there)
            if own * math.sqrt(len(there)) > CORRELATED:
                yield (
                    f"fit: residuals of {name} follow each other (autocorrelation {own:.2f}): the model lacks "
                    "something or the noise is no white one, and the intervals are too narrow"
                )

    # --- words and pictures -----------------------------------------------------------------------------------------

    @property
    def columns(self) -> tuple[str, ...]:
        """Of the table."""
        return COLUMNS

    def table(self) -> list[tuple[str, ...]]:
        """A row per parameter, under `columns`."""
        rows: list[tuple[str, ...]] = []
        for name, one in self.estimates.each.items():
            digits = _digits(one)
            note = "at its bound" if one.is_at_bound else "" if one.is_known else "not known"
            shown = [f"{x:.{digits}g}" for x in (one.value, one.low, one.high)]
            rows.append((name, shown[0], f"{one.standard_error:.2g}", shown[1], shown[2], one.unit, note))
        return rows

    def residual_table(self) -> list[tuple[str, ...]]:
        """A row per column that was measured, under RESIDUAL_COLUMNS."""
        rows: list[tuple[str, ...]] = []
        for name, r in self.residuals.items():
            there = r[np.isfinite(r)]
            own = "" if name in MODAL or len(there) < 3 else f"{autocorrelation(there):.2f}"
            rms, largest = np.sqrt(np.mean(there**2)), np.max(np.abs(there))
            numbers = (f"{rms:.3g}", f"{largest:.3g}", self.measured.units.get(name, ""), f"{self.noise[name]:.3g}")
            rows.append((name, str(len(there)), *numbers, own))
        return rows

    @property
    def summary(self) -> dict[str, Any]:
        """Plain numbers and texts, for files."""
        return {
            "parameters": {
                name: {
                    "value": one.value,
                    "standard_error": _plain(one.standard_error),
                    "low": _plain(one.low),
                    "high": _plain(one.high),
                    "unit": one.unit,
                }
                for name, one in self.estimates.each.items()
            },
            "confidence": self.estimates.confidence,
            "noise": self.noise,
            "cost": self.minimum.cost,
            "degrees_of_freedom": self.estimates.degrees_of_freedom,
            "derivative_error": _plain(self.estimates.derivative_error) if self.estimates.derivatives.is_ok else None,
            "minima": [{"values": one.values, "cost": _plain(one.cost), "reason": one.reason} for one in self.minima],
            "method": self.method,
            "runs": self.n_runs,
            "warnings": list(self.warnings),
        }

    @property
    def citations(self) -> list[dict[str, Any]]:
        """Methods at work, a row each: family, name, parameters, reference, citation; those of the run, too."""
        own = [("fit", self.method, METHODS[self.method]), ("intervals", "linearised", "bates1988")]
        rows = [
            {"family": family, "name": name, "parameters": {}, "reference": key, "citation": CITATIONS[key]}
            for family, name, key in own
        ]
        return rows + (self.result.citations if self.result is not None else [])

    def plot(self) -> Any:
        """Measured against fitted, and the residuals, a row of charts per column; the Axes as an array (columns, 2)."""
        from pliant.view.figure import plot_lines

        rows = [self._charts(name) for name in self.measured.columns]
        axes = plot_lines(rows)
        for (left, right), name in zip(axes, self.measured.columns, strict=True):
            x, r = self._across(name)[0], self.residuals[name]
            left.plot(x, self.measured.columns[name], ".", color="0.45", markersize=4, zorder=1, label="measured")
            left.legend(fontsize="small", frameon=True, framealpha=0.75, edgecolor="none")
            right.clear()
            right.plot(x, r, ".", color="0.45", markersize=4)
            for level in (-2.0, 0.0, 2.0):
                right.axhline(
                    level * self.noise[name], color="0.7", linewidth=1.0, linestyle="-" if not level else "--"
                )
            right.set_title("measured minus fitted, +- 2 standard deviations", fontsize="medium", loc="left")
            right.set_xlabel(left.get_xlabel())
            right.set_ylabel(left.get_ylabel())
            right.margins(x=0.01)
            for side in ("top", "right"):
                right.spines[side].set_visible(False)
        return axes

    def _across(self, name: str) -> tuple[Array, str, str]:
        count = len(self.measured.columns[name])
        if name in MODAL:
            return np.arange(1.0, count + 1.0), "mode", ""
        times = self.measured.times
        return (np.arange(float(count)), "number", "") if times is None else (times, "time", "s")

    def _charts(self, name: str) -> tuple[Lines, Lines]:
        x, across, unit = self._across(name)
        own = self.measured.units.get(name, "")
        curve = x, self.predicted[name]
        if self.result is not None and name not in MODAL:  # between the measurements, too
            t = np.union1d(x, np.linspace(self.result.t[0], self.result.t[-1], CURVE_POINTS))
            curve = t, np.asarray(self.result.resampled(t)[name])
        fitted = Lines(name, own, across, unit, (("fitted", *curve),))
        return fitted, Lines(name, own, across, unit, (("residual", x, self.residuals[name]),))

    def _head(self) -> str:
        of = f" of {self.model.name!r}" if self.model is not None else ""
        s = self.estimates
        given = "given" if s.is_noise_given else "found"
        how = f"{100 * s.confidence:g} % intervals, noise {given}, {s.degrees_of_freedom} degrees of freedom"
        found = f", best of {len(self.minima)} starts" if len(self.minima) > 1 else ""
        return f"Fit{of}: {how}{found}"

    def __repr__(self) -> str:
        lines = [self._head(), *aligned([COLUMNS, *self.table()]), *aligned([RESIDUAL_COLUMNS, *self.residual_table()])]
        return "\n".join([*lines, *(f"warning: {words}" for words in self.warnings)])

    def _repr_html_(self) -> str:
        from pliant.view.notebook import table_html

        warned = "".join(f"; {words}" for words in self.warnings)
        return table_html(self._head() + warned, COLUMNS, self.table())


def autocorrelation(r: Array) -> float:
    """Of residuals, from one to the next: 0 for white noise."""
    total = float(r @ r)
    return float(r[1:] @ r[:-1]) / total if total > 0.0 and len(r) > 2 else 0.0


def _digits(one: Estimate) -> int:
    """So many that the standard error has two."""
    if not one.is_known or one.value == 0.0 or one.standard_error <= 0.0:
        return 6
    return min(max(2 + math.floor(math.log10(abs(one.value))) - math.floor(math.log10(one.standard_error)), 3), 12)


def _plain(value: float) -> float | None:
    """As JSON has it."""
    return value if math.isfinite(value) else None


def aligned(rows: list[tuple[str, ...]]) -> list[str]:
    kept = [k for k in range(len(rows[0])) if any(row[k] for row in rows[1:])]
    widths = {k: max(len(row[k]) for row in rows) for k in kept}
    return ["  " + "  ".join(row[k].ljust(widths[k]) for k in kept).rstrip() for row in rows]

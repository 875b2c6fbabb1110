"""optimise(model, parameters, figure) -> Optimum: parameters with which a figure of a run is least, or largest.

Local methods are SciPy's: Nelder and Mead's simplex, which takes kinks as figures such as max(tip.x) have them; COBYLA
where there are constraints; SLSQP with derivatives by central differences where the figure is smooth. The global one is
SciPy's differential evolution, followed by the local one: it takes bounds and constraints, runs whole generations in
threads, and adds no dependency (why not CMA-ES: docs/identification.md)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pliant.engine.arguments import as_choice, as_flag, as_number, as_whole
from pliant.errors import ModelError, PliantError, SimulationError
from pliant.identification.fitted import aligned
from pliant.identification.parameters import Parameters, scaled
from pliant.identification.predictions import shared_out, threads_for
from pliant.identification.variants import Variant, as_variants
from pliant.methods.citations import CITATIONS
from pliant.model.messages import listed, quoted
from pliant.model.model import Model
from pliant.report_types import Lines
from pliant.result import Result
from pliant.results.figures import FigureRequest, figure_requests
from pliant.simulation.options import check_options
from pliant.simulation.simulate import run_model, warn_of

Array = NDArray[np.float64]
METHODS = ("auto", "nelder-mead", "cobyla", "slsqp", "global")
REFERENCES = {
    "nelder-mead": "nelder1965", "cobyla": "powell1994", "slsqp": "kraft1988", "global": "storn1997",
}  # fmt: skip
INFEASIBLE = 1e300  # of a run that cannot be made
POPULATION, GENERATIONS = 10, 100  # of differential evolution, per parameter
COARSE, FINE = 0.1, 0.01  # of the span: first steps of a local method, and where it takes over from the global one
SLOPE_STEP = 1e-4  # of the span, for derivatives
NEARBY = 1e-2  # of the span: where neighbours are looked at in the end
SLACK = 1e-6  # of a constraint's value: what rounding may break it by
AT_BOUND = 1e-6  # of the span
COLUMNS = ("parameter", "value", "unit", "from", "to", "")


@dataclass(frozen=True, eq=False)
class Trial:
    """One run: what it was made with, and what came out."""

    values: dict[str, float]
    figure: float  # nan where it failed
    constraints: Array
    reason: str = ""
    result: Result | None = field(default=None, repr=False)


@dataclass(frozen=True, eq=False, repr=False)
class Optimum:
    """The best parameters that were found: optimum.values, optimum.figure; optimum.model is the model with them."""

    label: str
    best: Trial
    trials: tuple[Trial, ...]  # all, in the order they were made
    parameters: Parameters
    constraints: dict[str, tuple[float, float]]
    maximise: bool
    method: str
    model: Model | None
    reason: str  # why it ended early; "" if it did not
    unit: str
    neighbours: dict[str, tuple[float, float]]  # the figure a hundredth of the span below and above

    @property
    def values(self) -> dict[str, float]:
        """By name."""
        return self.best.values

    @property
    def figure(self) -> float:
        """Its least value, or largest."""
        return self.best.figure

    @property
    def result(self) -> Result | None:
        """The run with these values, if it is one."""
        return self.best.result

    @property
    def is_ok(self) -> bool:
        """Whether it ended by itself, within the constraints, and no neighbour is better."""
        return not self.reason and not self.broken and not self.better_neighbours

    @property
    def broken(self) -> tuple[str, ...]:
        """Constraints that do not hold."""
        return tuple(
            name
            for (name, (low, high)), value in zip(self.constraints.items(), self.best.constraints, strict=True)
            if not low - SLACK * max(1.0, abs(low)) <= value <= high + SLACK * max(1.0, abs(high))
        )

    @property
    def better_neighbours(self) -> tuple[str, ...]:
        """Parameters that, moved by a hundredth of their span, give a better figure (where nothing constrains it)."""
        if self.constraints:
            return ()
        sign = -1.0 if self.maximise else 1.0
        return tuple(
            name for name, each in self.neighbours.items() if any(sign * (x - self.figure) < 0.0 for x in each)
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What one should know before believing it."""
        failed = sum(bool(trial.reason) for trial in self.trials)
        bound = [name for name, one in self.parameters.each.items() if self._is_at_bound(name)]
        found = []
        if self.reason:
            found.append(f"optimise: {self.reason}")
        if self.broken:
            found.append(f"optimise: {listed(self.broken)} out of the bounds that were given; nothing within was found")
        if self.better_neighbours:
            found.append(
                f"optimise: no minimum: beside it, a change of {listed(self.better_neighbours)} by a hundredth of the "
                'span is better; go on from here, or take method="global"'
            )
        if bound:
            found.append(f"optimise: {listed(bound)} at a bound; widen it if it is none of nature")
        if failed:
            first = next(trial.reason for trial in self.trials if trial.reason)
            found.append(f"optimise: {failed} of {len(self.trials)} runs could not be made, the first: {first}")
        return tuple(found)

    def _is_at_bound(self, name: str) -> bool:
        one = self.parameters.each[name]
        u = scaled(one, self.values[name])
        ends = [scaled(one, end) for end in (one.low, one.high) if math.isfinite(end) and not (one.log and end <= 0.0)]
        return any(abs(u - end) <= AT_BOUND for end in ends)

    @property
    def history(self) -> Array:
        """The best figure so far, after every run."""
        sign = -1.0 if self.maximise else 1.0
        figures = np.array([sign * trial.figure if not trial.reason else np.inf for trial in self.trials])
        return sign * np.minimum.accumulate(figures)

    def table(self) -> list[tuple[str, ...]]:
        """A row per parameter, under `columns`."""
        return [
            (name, f"{self.values[name]:.6g}", one.unit, f"{one.low:g}", f"{one.high:g}",
             "at its bound" if self._is_at_bound(name) else "")
            for name, one in self.parameters.each.items()
        ]  # fmt: skip

    @property
    def columns(self) -> tuple[str, ...]:
        """Of the table."""
        return COLUMNS

    @property
    def summary(self) -> dict[str, Any]:
        """Plain numbers and texts, for files."""
        held = dict(zip(self.constraints, map(float, self.best.constraints), strict=True))
        return {
            "figure": self.label, "value": self.figure, "unit": self.unit, "parameters": self.values,
            "constraints": held, "method": self.method, "runs": len(self.trials), "warnings": list(self.warnings),
        }  # fmt: skip

    @property
    def citations(self) -> list[dict[str, Any]]:
        """Methods at work, a row each."""
        key = REFERENCES[self.method]
        own = {
            "family": "optimiser",
            "name": self.method,
            "parameters": {},
            "reference": key,
            "citation": CITATIONS[key],
        }
        return [own, *(self.result.citations if self.result is not None else [])]

    def plot(self) -> Any:
        """The best figure after every run, and every parameter over the runs; the Axes as an array (1, charts)."""
        from pliant.view.figure import plot_lines

        runs = np.arange(1.0, len(self.trials) + 1.0)
        charts = [Lines(f"best {self.label}", self.unit, "run", "", ((self.label, runs, self.history),))]
        for name, one in self.parameters.each.items():
            tried = np.array([trial.values[name] for trial in self.trials])
            charts.append(Lines(name, one.unit, "run", "", ((name, runs, tried),)))
        return plot_lines([charts])

    def __repr__(self) -> str:
        of = f" of {self.model.name!r}" if self.model is not None else ""
        word = "largest" if self.maximise else "least"
        unit = f" {self.unit}" if self.unit else ""
        head = f"Optimum{of}: {word} {self.label} = {self.figure:.6g}{unit} by {self.method}, {len(self.trials)} runs"
        held = [
            f"  {name} = {value:.6g}, allowed {low:g} ... {high:g}"
            for (name, (low, high)), value in zip(self.constraints.items(), self.best.constraints, strict=True)
        ]
        lines = [head, *aligned([COLUMNS, *self.table()]), *held]
        return "\n".join([*lines, *(f"warning: {words}" for words in self.warnings)])

    def _repr_html_(self) -> str:
        from pliant.view.notebook import table_html

        return table_html(repr(self).split("\n")[0], COLUMNS, self.table())


def optimise(
    model: Any,
    parameters: Any,
    figure: Any = None,
    *,
    maximise: bool = False,
    constraints: Any = None,
    method: Literal["auto", "nelder-mead", "cobyla", "slsqp", "global"] = "auto",
    max_runs: int = 2000,
    seed: int = 0,
    duration: float | None = None,
    workers: int | None = None,
    **options: Any,
) -> Optimum:
    """Find the parameters with which a figure of a run is least (maximise: largest).

    model: as for fit, or a function of the parameters that returns the number itself; then figure is left out.
    parameters: name -> (low, high), a start, or a Parameter. figure: "tip.x" (at the end), "tip.x@0.5",
    "max(tip.x)", or a function of a Result. constraints: other figures -> (low, high), None for none on that side.
    method: "auto" is "nelder-mead", or "cobyla" with constraints; "slsqp" for smooth figures, "global" over all bounds.
    options: those of simulate."""
    varied = Parameters(parameters)
    variant = as_variants(model)
    is_largest = as_flag(maximise, "maximise")
    count, seed = as_whole(max_runs, "max_runs"), as_whole(seed, "seed", 0)
    chosen = as_choice(method, METHODS, "method")
    first = variant(varied.values(np.zeros(len(varied))))
    bounds = _constraints(constraints)
    requests: tuple[FigureRequest, ...] = ()
    if isinstance(first, Model):
        checked = check_options(first, duration=duration, **options)
        if figure is None:
            raise ModelError("figure: none given; say what of a run is optimised, as 'max(tip.x)'")
        requests = figure_requests(
            {_label(figure): figure, **{name: name for name in bounds}}, first, checked["duration"]
        )
    elif figure is not None or bounds:
        raise ModelError("figure and constraints are of runs, but the function returns no Model; leave them out")
    if chosen == "auto":
        chosen = "cobyla" if bounds else "nelder-mead"
    if bounds and chosen == "nelder-mead":
        raise ModelError("method: nelder-mead takes no constraints; give 'cobyla', 'slsqp' or 'global'")
    if chosen == "global":
        varied.check_bounded("method='global'")
    search = _Search(variant, varied, requests, bounds, is_largest, {"duration": duration, **options}, workers, count)
    found = search.solve(chosen, seed)
    warn_of(found.warnings)
    return found


def _label(figure: Any) -> str:
    return figure if isinstance(figure, str) else str(getattr(figure, "__name__", "figure"))


def _constraints(given: Any) -> dict[str, tuple[float, float]]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ModelError(f"constraints: {quoted(given)} found; give a mapping as {{'max(hub.torque)': (None, 10.0)}}")
    found = {}
    for name, pair in given.items():
        if not isinstance(name, str) or not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise ModelError(f"constraints: {quoted(name)}: {quoted(pair)} found; give a figure and (low, high)")
        low, high = (
            side if one is None else as_number(one, f"constraints: {quoted(name)}")
            for one, side in zip(pair, (-math.inf, math.inf), strict=True)
        )
        if not low <= high or (math.isinf(low) and math.isinf(high)):
            raise ModelError(
                f"constraints: {quoted(name)}: {quoted(pair)} leaves nothing, or everything; give (low, high)"
            )
        found[name] = (low, high)
    return found


class _TooManyRunsError(Exception):
    """So many runs were allowed."""


class _Search:
    """Runs that are tried, each once; SciPy sees u, and the figure with the sign with which less is better."""

    def __init__(
        self,
        variant: Variant,
        parameters: Parameters,
        requests: tuple[FigureRequest, ...],
        constraints: dict[str, tuple[float, float]],
        maximise: bool,
        options: dict[str, Any],
        workers: int | None,
        max_runs: int,
    ) -> None:
        self.variant, self.parameters, self.requests, self.constraints = variant, parameters, requests, constraints
        self.sign, self.options, self.workers, self.max_runs = (-1.0 if maximise else 1.0), options, workers, max_runs
        self._spread = np.inf  # of the last generation, of the bounds
        self.trials: dict[bytes, Trial] = {}
        self.tried: list[Trial] = []

    def at(self, points: list[Array]) -> list[Trial]:
        """Of every u; those that were tried before are not run again."""
        new = {u.tobytes(): u for u in points if u.tobytes() not in self.trials}
        if self.tried and len(self.tried) + len(new) > self.max_runs:
            raise _TooManyRunsError
        made = [self._made(u) for u in new.values()]
        threads = threads_for([one for _, one in made], self.workers)
        for key, trial in zip(new, shared_out(self._trial, made, threads), strict=True):
            self.trials[key] = trial
            self.tried.append(trial)
        return [self.trials[u.tobytes()] for u in points]

    def _made(self, u: Array) -> tuple[dict[str, float], Any]:
        values = self.parameters.values(u)
        try:
            return values, self.variant(values)
        except ModelError as error:
            return values, error

    def _trial(self, given: tuple[dict[str, float], Any]) -> Trial:
        values, made = given
        nothing = np.full(len(self.constraints), np.nan)
        if isinstance(made, ModelError):
            return Trial(values, math.nan, nothing, str(made))
        if not isinstance(made, Model):
            number = as_number(made, "what the function of the parameters returns")
            return Trial(values, number, nothing)
        try:
            result = run_model(made, None, None, None, None, self.options)
        except PliantError as error:
            return Trial(values, math.nan, nothing, str(error))
        if not result.is_ok:
            return Trial(values, math.nan, nothing, f"the run {result.status}: {result.reason}")
        figure, *others = [request.value(result) for request in self.requests]
        if not np.isfinite([figure, *others]).all():
            return Trial(values, math.nan, nothing, "a figure that the run does not reach")
        return Trial(values, figure, np.array(others), "", result)

    # --- what SciPy calls -------------------------------------------------------------------------------------------

    def cost(self, u: Array) -> float:
        (trial,) = self.at([np.array(u)])
        return INFEASIBLE if trial.reason else self.sign * trial.figure

    def costs(self, points: Array) -> Array:
        low, high = self.parameters.bounds
        self._spread = float(np.max(np.ptp(points, axis=1) / (high - low)))
        return np.array(
            [INFEASIBLE if one.reason else self.sign * one.figure for one in self.at(list(points.T.copy()))]
        )

    def held(self, u: Array) -> Array:
        """Constraints as numbers that are not negative where they hold."""
        (trial,) = self.at([np.array(u)])
        sides = zip(trial.constraints, self.constraints.values(), strict=True)
        both = [room for value, (low, high) in sides for room in (value - low, high - value) if math.isfinite(room)]
        finite = sum(math.isfinite(side) for pair in self.constraints.values() for side in pair)
        return np.array(both if not trial.reason else [-1.0] * finite)

    def slope(self, u: Array) -> Array:
        """Of the cost, by central differences; at a bound one-sided."""
        low, high = self.parameters.bounds
        points = [np.clip(u + side * SLOPE_STEP * row, low, high) for row in np.eye(len(u)) for side in (-1.0, 1.0)]
        costs = [INFEASIBLE if one.reason else self.sign * one.figure for one in self.at(points)]
        return np.array(
            [(costs[2 * i + 1] - costs[2 * i]) / (points[2 * i + 1][i] - points[2 * i][i]) for i in range(len(u))]
        )

    def solve(self, method: str, seed: int) -> Optimum:
        u = np.clip(np.zeros(len(self.parameters)), *self.parameters.bounds)
        (first,) = self.at([u])
        if first.reason and method != "global":
            raise SimulationError(f"the start cannot be run: {first.reason}; give another start, or method='global'")
        reason = ""
        try:
            if method == "global":
                u = self._worldwide(seed)
                self._local("cobyla" if self.constraints else "nelder-mead", u, FINE)
            else:
                reason = self._local(method, u, COARSE)
        except _TooManyRunsError:
            reason = f"max_runs = {self.max_runs} were made before it came to an end; allow more"
        best = self._best()
        if best is None:
            raise SimulationError(f"no run within the bounds can be made; the first: {first.reason}")
        return self._optimum(best, method, reason)

    def _best(self) -> Trial | None:
        """The least figure among those that hold the constraints; if none does, the one that breaks them least."""
        good = [trial for trial in self.tried if not trial.reason]
        return min(good, key=lambda trial: (self._excess(trial), self.sign * trial.figure), default=None)

    def _excess(self, trial: Trial) -> float:
        over = [
            max(0.0, low - SLACK * max(1.0, abs(low)) - value, value - high - SLACK * max(1.0, abs(high)))
            for value, (low, high) in zip(trial.constraints, self.constraints.values(), strict=True)
        ]
        return max(over, default=0.0)

    def _local(self, method: str, u: Array, reach: float) -> str:
        """One of SciPy's local methods; why it failed, if it did. reach: of its first steps, of the span."""
        from scipy.optimize import minimize

        sides = list(zip(*self.parameters.bounds, strict=True))
        more: dict[str, Any] = {"bounds": sides}
        if method == "nelder-mead":
            # its usual first simplex, 5 % of u, has no size where u is 0
            size = np.where(u + reach <= self.parameters.bounds[1], reach, -reach)
            more["options"] = {
                "initial_simplex": np.vstack([u, u + np.diag(size)]),
                "xatol": 1e-5,
                "fatol": 1e-9,
                "maxfev": self.max_runs,
            }
        elif method == "cobyla":
            more["options"] = {"rhobeg": reach, "tol": 1e-6, "maxiter": self.max_runs}
        else:
            more |= {"jac": self.slope, "options": {"ftol": 1e-10, "maxiter": self.max_runs}}
        if self.constraints:
            more["constraints"] = [{"type": "ineq", "fun": self.held}]
        done = minimize(self.cost, u, method=method, **more)
        return "" if done.success else f"{method} ended early: {done.message}"

    def _worldwide(self, seed: int) -> Array:
        from scipy.optimize import NonlinearConstraint, differential_evolution

        kept: Any = ()
        if self.constraints:
            kept = (NonlinearConstraint(self._many_held, 0.0, np.inf),)
        found = differential_evolution(
            self.costs, list(zip(*self.parameters.bounds, strict=True)), maxiter=GENERATIONS, popsize=POPULATION,
            tol=1e-3, seed=np.random.default_rng(seed), polish=False, vectorized=True, updating="deferred",
            constraints=kept, x0=np.zeros(len(self.parameters)), callback=lambda *_: self._spread < FINE,
        )  # fmt: skip
        return np.asarray(found.x)

    def _many_held(self, points: Array) -> Array:
        if points.ndim == 1:
            return self.held(points)
        self.at(list(points.T.copy()))  # in threads
        return np.stack([self.held(u) for u in points.T.copy()], axis=1)

    def _optimum(self, best: Trial, method: str, reason: str) -> Optimum:
        made = self.variant(best.values)
        request = self.requests[0] if self.requests else None
        return Optimum(
            label=request.label if request else "figure",
            best=best,
            trials=tuple(self.tried),
            parameters=self.parameters,
            constraints=self.constraints,
            maximise=self.sign < 0.0,
            method=method,
            model=made if isinstance(made, Model) else None,
            reason=reason,
            unit=request.unit if request else "",
            neighbours=self._neighbours(best),
        )

    def _neighbours(self, best: Trial) -> dict[str, tuple[float, float]]:
        u = np.array([scaled(one, best.values[name]) for name, one in self.parameters.each.items()])
        low, high = self.parameters.bounds
        points = [np.clip(u + side * NEARBY * row, low, high) for row in np.eye(len(u)) for side in (-1.0, 1.0)]
        self.max_runs = len(self.tried) + len(points)
        found = [one.figure for one in self.at(points)]
        return {name: (found[2 * i], found[2 * i + 1]) for i, name in enumerate(self.parameters.names)}

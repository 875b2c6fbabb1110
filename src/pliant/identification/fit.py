"""fit(model, measured, parameters) -> Fit: least squares on measured motion, forces or natural frequencies."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pliant.engine.arguments import as_choice, as_number, as_whole
from pliant.errors import ModelError, SimulationError
from pliant.identification.derivatives import LEVELS, Derivatives, Differences
from pliant.identification.estimates import Estimates, estimates
from pliant.identification.fitted import Fit, Minimum
from pliant.identification.measured import as_measured, as_noise, of_model
from pliant.identification.parameters import Parameters
from pliant.identification.predictions import Prediction, Predictor
from pliant.identification.variants import as_variants
from pliant.model.model import Model
from pliant.simulation.options import check_options
from pliant.simulation.simulate import warn_of

Array = NDArray[np.float64]
METHODS = ("least_squares", "global")
TOLERANCE = 1e-10  # of SciPy, on cost, step and gradient: far below what noise leaves of them
MAX_EVALUATIONS = 200  # of a local fit
MAX_PASSES, SAME_NOISE = 8, 0.01  # until the noise of the columns and the fit agree
SMALLEST_NOISE = 1e-9  # of the range of a column: what a run itself leaves
POPULATION, MAX_GENERATIONS = 12, 200  # of differential evolution, per parameter
NEAR = 1e-6  # of a squared residual: the spread of the population at which the simplex takes over


def fit(
    model: Any,
    measured: Any,
    parameters: Any,
    *,
    noise: Any = None,
    method: Literal["least_squares", "global"] = "least_squares",
    starts: int = 1,
    seed: int = 0,
    confidence: float = 0.95,
    workers: int | None = None,
    **options: Any,
) -> Fit:
    """Find the parameters with which a model does what was measured, with confidence intervals.

    model: a Model whose keys the parameters are ("joints.elbow.stiffness"); a case or file, with its settings,
    parameters and keys; or a function of the parameters that returns a Model, or what was measured by name.
    measured: {"time": t, "elbow": angles, "tip.x": ...} by the names of a result's columns, nan where nothing was
    measured; {"hertz": [2.9, 18.2]} for the lowest natural frequencies (also "frequencies" [rad/s] and
    "damping_ratios"); both together; a pandas table; a CSV file. parameters: name -> (low, high), a start, or a
    Parameter. noise: standard deviation, of all columns or by name; left out, it is found from the residuals. method:
    "least_squares" follows derivatives, "global" needs none (differential evolution, then Nelder-Mead), for motions
    whose events change with the parameters. starts: so many local fits, the first from where the parameters begin,
    the others spread over their bounds by `seed`. options: those of simulate; rtol is 1e-10 unless said."""
    varied = Parameters(parameters)
    given = as_measured(measured)
    variant = as_variants(model)
    level = as_number(confidence, "confidence", 0.0, 1.0)
    count, seed = as_whole(starts, "starts"), as_whole(seed, "seed", 0)
    as_choice(method, METHODS, "method")
    first = variant(varied.values(np.zeros(len(varied))))
    if isinstance(first, Model):
        given = of_model(given, first)
        end = given.times[-1] if given.times is not None else 1.0
        check_options(first, **{"duration": float(end), **options})
    sigma = as_noise(noise, given)
    if given.size <= len(varied):
        raise ModelError(f"measured: {given.size} numbers for {len(varied)} parameters; measure more, or fit fewer")
    if method == "global" or count > 1:
        varied.check_bounded("method='global'" if method == "global" else f"starts={count}")
    predictor = Predictor(variant, varied, given, options, workers)
    found = _Problem(predictor, sigma).solve(method, varied.spread(count, seed), seed, level)
    warn_of(found.warnings)
    return found


class _Problem:
    """Residuals (predicted - measured) / sigma over u."""

    def __init__(self, predictor: Predictor, noise: dict[str, float] | None) -> None:
        self.predictor, self.measured, self.noise = predictor, predictor.measured, noise
        self.data = self.measured.vector()
        ranges = self.measured.spread(self.measured.ranges)
        self.differences = Differences(predictor, self.measured.spread(self.measured.sizes))
        self.sigma = ranges if noise is None else self.measured.spread(noise)
        self._last: tuple[Array, Prediction] | None = None
        self.changes: list[str] = []  # of events, on the way

    def prediction(self, u: Array) -> Prediction:
        """The last one is kept: SciPy asks for the derivatives where it has asked for the values."""
        if self._last is None or not np.array_equal(self._last[0], u):
            self._last = (u.copy(), self.predictor.at([u])[0])
        return self._last[1]

    def residuals(self, u: Array) -> Array:
        return (self.prediction(u).vector - self.data) / self.sigma

    def jacobian(self, u: Array) -> Array:
        found = self.differences.at(u, self.prediction(u))
        if not found.is_ok:
            raise SimulationError(found.reason)
        self.changes += found.changes
        return found.values / self.sigma[:, None]

    def cost(self, u: Array) -> float:
        """Sum of squares."""
        r = self.residuals(u)
        return float(r @ r) if np.isfinite(r).all() else math.inf

    # --- methods --------------------------------------------------------------------------------------------------

    def local(self, u0: Array) -> Minimum:
        """Trust-region reflective least squares from one start."""
        from scipy.optimize import least_squares

        begun = self.prediction(u0)
        if not begun.is_ok:
            return Minimum(self.predictor.parameters.values(u0), math.inf, begun.reason, u0)
        try:
            found = least_squares(
                self.residuals,
                u0,
                self.jacobian,
                self.predictor.parameters.bounds,
                x_scale="jac",
                ftol=TOLERANCE,
                xtol=TOLERANCE,
                gtol=TOLERANCE,
                max_nfev=MAX_EVALUATIONS,
            )
        except SimulationError as error:
            return Minimum(self.predictor.parameters.values(u0), self.cost(u0), str(error), u0)
        why = "" if found.status > 0 else f"no minimum within {MAX_EVALUATIONS} evaluations; give a nearer start"
        return Minimum(self.predictor.parameters.values(found.x), 2.0 * float(found.cost), why, found.x)

    def worldwide(self, seed: int) -> Minimum:
        """Differential evolution over the bounds, then Nelder-Mead: values only."""
        from scipy.optimize import differential_evolution, minimize

        low, high = self.predictor.parameters.bounds
        sides = list(zip(low, high, strict=True))

        def costs(points: Array) -> Array:
            found = [(one.vector - self.data) / self.sigma for one in self.predictor.at(list(points.T))]
            return np.array([float(r @ r) if np.isfinite(r).all() else 1e300 for r in found])

        coarse = differential_evolution(
            costs, sides, maxiter=MAX_GENERATIONS, popsize=POPULATION, tol=1e-4, atol=NEAR * len(self.data),
            seed=np.random.default_rng(seed), polish=False, vectorized=True, updating="deferred",
        )  # fmt: skip
        fine = minimize(
            self.cost, coarse.x, method="Nelder-Mead", bounds=sides,
            options={"xatol": 1e-8, "fatol": 1e-10 * max(float(coarse.fun), 1e-300), "maxfev": 400 * len(low)},
        )  # fmt: skip
        best = fine if fine.fun <= coarse.fun else coarse
        why = "" if math.isfinite(best.fun) and best.fun < 1e300 else "no run within the bounds can be made"
        return Minimum(self.predictor.parameters.values(best.x), float(best.fun), why, best.x)

    def solve(self, method: str, starts: Array, seed: int, confidence: float) -> Fit:
        if method == "global":
            minima = [self.worldwide(seed)]
        else:
            minima = [self.local(np.clip(u, *self.predictor.parameters.bounds)) for u in starts]
        minima.sort(key=lambda one: (one.cost, bool(one.reason)))
        best = minima[0]
        if not math.isfinite(best.cost):
            raise SimulationError(f"no start can be run; the first: {best.reason}")
        if self.noise is None and len(self.measured.columns) > 1 and not best.reason:
            best = self._with_noise(best, self.local if method != "global" else self._polished)
        middle = self.prediction(best.u)
        if not self.differences.is_adapted:
            self.differences.at(best.u, middle)  # for steps that suit this point
        slopes = self.differences.at(best.u, middle, LEVELS)
        found = self._estimates(best.u, middle, slopes, confidence)
        return Fit(
            measured=self.measured,
            parameters=self.predictor.parameters,
            minimum=best,
            minima=tuple(minima),
            middle=middle,
            estimates=found,
            method=method,
            changes_on_the_way=len(self.changes),
            n_runs=self.predictor.n_runs,
            model=self._model(best.u),
        )

    def _model(self, u: Array) -> Model | None:
        made = self.predictor.variant(self.predictor.parameters.values(u))
        return made if isinstance(made, Model) else None

    def _polished(self, u: Array) -> Minimum:
        from scipy.optimize import minimize

        sides = list(zip(*self.predictor.parameters.bounds, strict=True))
        found = minimize(self.cost, u, method="Nelder-Mead", bounds=sides, options={"xatol": 1e-8, "fatol": 1e-8})
        return Minimum(self.predictor.parameters.values(found.x), float(found.fun), "", found.x)

    def _with_noise(self, best: Minimum, again: Callable[[Array], Minimum]) -> Minimum:
        """Weights of the columns by what their residuals scatter, and the fit with these, until both agree: the
        maximum of the likelihood where every column has a noise of its own that nobody knows."""
        share = (len(self.data) - len(self.predictor.parameters)) / len(self.data)
        for _ in range(MAX_PASSES):
            residuals = self.measured.split(self.residuals(best.u) * self.sigma)
            ranges = self.measured.ranges
            noise = {
                name: max(math.sqrt(float(np.nanmean(r**2)) / share), SMALLEST_NOISE * ranges[name])
                for name, r in residuals.items()
            }
            new = self.measured.spread(noise)
            is_same = bool(np.all(np.abs(new / self.sigma - 1.0) < SAME_NOISE))
            self.sigma = new
            best = again(best.u)
            if is_same:
                break
        return best

    def _estimates(self, u: Array, middle: Prediction, slopes: Derivatives, confidence: float) -> Estimates:
        def rise(points: list[Array]) -> list[float]:
            """Of the sum of squares above that at u."""
            found = [(one.vector - self.data) / self.sigma for one in self.predictor.at(points)]
            base = self.cost(u)
            return [float(r @ r) - base for r in found]

        weighted = dataclasses.replace(
            slopes, values=slopes.values / self.sigma[:, None], errors=slopes.errors / self.sigma[:, None]
        )
        residuals = (middle.vector - self.data) / self.sigma
        return estimates(
            self.predictor.parameters, u, residuals, weighted, self.sigma, self.noise is not None, confidence, rise
        )

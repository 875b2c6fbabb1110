"""Which parameters matter: Sobol' indices of a study by Saltelli's design, elementary effects by Morris'.

Sobol' indices by scipy (scipy.stats.sobol_indices, estimators of Saltelli 2010, intervals by bootstrap), which is there
already; Morris' by SALib, which scipy has nothing for (pip install "pliant[sensitivity]")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.engine.arguments import as_name
from pliant.errors import ModelError
from pliant.model.messages import listed, quoted
from pliant.study.plan import MORRIS_LEVELS, design_size

if TYPE_CHECKING:
    from pliant.study.runs import StudyRuns

Array = NDArray[np.float64]
CONFIDENCE = 0.95
RESAMPLES = 999  # of the bootstrap
HEADS = {
    "saltelli": ("parameter", "first order", "interval", "total", "interval"),
    "morris": ("parameter", "mean effect", "mean size of effect", "interval", "deviation"),
}


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Of one figure, per parameter: Sobol' indices (first, total) or Morris' effects (mu, mu_star, sigma)."""

    figure: str
    method: str
    parameters: tuple[str, ...]
    indices: dict[str, Array]
    intervals: dict[str, Array]  # (parameters, 2), of 95 %

    @property
    def columns(self) -> tuple[str, ...]:
        return HEADS[self.method]

    def table(self) -> list[tuple[str, ...]]:
        """Rows under `columns`."""
        first, second = ("first", "total") if self.method == "saltelli" else ("mu_star", "sigma")
        found: list[tuple[str, ...]] = []
        for k, name in enumerate(self.parameters):
            low, high = self.intervals[first][k]
            words = f"{low:.3g} .. {high:.3g}"
            if self.method == "saltelli":
                low, high = self.intervals[second][k]
                found.append((name, f"{self.indices[first][k]:.3g}", words, f"{self.indices[second][k]:.3g}",
                              f"{low:.3g} .. {high:.3g}"))  # fmt: skip
            else:
                found.append((name, f"{self.indices['mu'][k]:.3g}", f"{self.indices[first][k]:.3g}", words,
                              f"{self.indices[second][k]:.3g}"))  # fmt: skip
        return found


def sensitivity(runs: StudyRuns, figure: Any) -> Sensitivity:
    """Of a figure of a study by the method saltelli or morris."""
    labels = [each.label for each in runs.figures]
    if as_name(figure, "figure") not in labels:
        raise ModelError(f"sensitivity: no figure {quoted(figure)}; there are {listed(labels, 30)}")
    if runs.method not in HEADS:
        raise ModelError(
            f'sensitivity: this study is a {runs.method}; indices need a study with method="saltelli" (Sobol) or '
            '"morris"'
        )
    if not runs.is_complete:
        raise ModelError(f"sensitivity: {runs.count - len(runs)} rows have not been run yet; go on with resume=True")
    values = runs.chunk.figures[:, labels.index(figure)]
    if not np.isfinite(values).all():
        raise ModelError(
            f"sensitivity: {quoted(figure)} is missing in {np.count_nonzero(~np.isfinite(values))} rows; indices need "
            "all of them: narrow the ranges"
        )
    names = tuple(each.name for each in runs.parameters)
    return (_saltelli if runs.method == "saltelli" else _morris)(figure, names, values, runs)


def _saltelli(figure: str, names: tuple[str, ...], values: Array, runs: StudyRuns) -> Sensitivity:
    from scipy.stats import bootstrap, sobol_indices

    n = len(names)
    design = values.reshape(-1, design_size("saltelli", n))  # per point: A, AB_1 .. AB_n, B
    if np.ptp(values) == 0.0:
        raise ModelError(f"sensitivity: {quoted(figure)} is the same in all rows; it has no variance to share out")

    def indices(points: NDArray[np.int64]) -> Array:
        of_points = design[points]
        parts = {"f_A": of_points[:, 0][None], "f_B": of_points[:, -1][None], "f_AB": of_points[:, 1:-1].T[:, None, :]}
        found = sobol_indices(func=parts, n=len(design))
        return np.stack([np.asarray(found.first_order).reshape(n), np.asarray(found.total_order).reshape(n)])

    points = np.arange(len(design))
    # SobolResult.bootstrap would do, but takes no seed
    spread = bootstrap(
        (points,), indices, vectorized=False, n_resamples=RESAMPLES, confidence_level=CONFIDENCE, method="percentile",
        random_state=np.random.default_rng(runs.plan().seed),
    ).confidence_interval  # fmt: skip
    bounds = np.stack([spread.low, spread.high], -1)
    found = dict(zip(("first", "total"), indices(points), strict=True))
    return Sensitivity(figure, "saltelli", names, found, dict(zip(("first", "total"), bounds, strict=True)))


def _morris(figure: str, names: tuple[str, ...], values: Array, runs: StudyRuns) -> Sensitivity:
    """Effects over the whole range of each parameter, in the unit of the figure."""
    from pliant.study.plan import load_salib

    analyse = load_salib().analyze.morris.analyze
    plan = runs.plan()
    shares = plan.shares(runs.rows)
    problem = {"num_vars": len(names), "names": list(names), "bounds": [[0.0, 1.0]] * len(names)}
    found = analyse(problem, shares, values, num_levels=MORRIS_LEVELS, seed=plan.seed, conf_level=CONFIDENCE)
    size, half = np.asarray(found["mu_star"], float), np.asarray(found["mu_star_conf"], float)
    indices = {"mu": np.asarray(found["mu"], float), "mu_star": size, "sigma": np.asarray(found["sigma"], float)}
    return Sensitivity(figure, "morris", names, indices, {"mu_star": np.stack([size - half, size + half], -1)})

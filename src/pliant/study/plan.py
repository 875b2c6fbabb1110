"""Which values a row of a study has: a pure function of the definition, its seed and the number of the row, so that
neither the order of the runs nor who makes them can matter."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError
from pliant.study.parameters import Parameter

Array = NDArray[np.float64]
METHODS = ("grid", "random", "sobol", "lhs", "saltelli", "morris")
SAMPLED = ("random", "sobol", "lhs")
MORRIS_LEVELS = 4  # of every parameter in Morris' trajectories
BLOCK = 4096  # rows whose shares are drawn together
MAX_ROWS = 100_000_000
MAX_LHS = 20_000_000  # shares, which a Latin hypercube has to draw all at once


@dataclass(frozen=True)
class Plan:
    """Rows of a study, by number."""

    parameters: tuple[Parameter, ...]
    method: str
    count: int  # of rows
    seed: int

    @cached_property
    def _grids(self) -> tuple[tuple[Any, ...], ...]:
        return tuple(parameter.grid() for parameter in self.parameters)

    def values(self, rows: NDArray[np.int64]) -> dict[str, list[Any]]:
        """Of every parameter at these rows. In a grid the last parameter changes fastest."""
        names = [parameter.name for parameter in self.parameters]
        if self.method == "grid":
            places = np.unravel_index(rows, tuple(map(len, self._grids)))
            return {
                name: [grid[k] for k in place] for name, grid, place in zip(names, self._grids, places, strict=True)
            }
        shares = self.shares(rows)
        return {each.name: each.sampled(shares[:, k]) for k, each in enumerate(self.parameters)}

    def row(self, row: int) -> dict[str, Any]:
        return {name: values[0] for name, values in self.values(np.array([row])).items()}

    def shares(self, rows: NDArray[np.int64]) -> Array:
        """(rows, parameters), each in 0 .. 1."""
        n, found = len(self.parameters), np.empty((len(rows), len(self.parameters)))
        for block in np.unique(rows // BLOCK):
            mine = rows // BLOCK == block
            found[mine] = _block(self.method, n, self.count, self.seed, int(block))[rows[mine] % BLOCK]
        return found


def make_plan(parameters: tuple[Parameter, ...], method: str | None, sample: int | None, seed: int) -> Plan:
    """A grid of all combinations, or so many samples; or a message."""
    chosen = method or ("grid" if sample is None else "random")
    if chosen == "grid":
        if sample is not None:
            raise ModelError("--sample N is for the methods random, sobol and lhs; leave it out, or choose one of them")
        count = math.prod(len(parameter.grid()) for parameter in parameters)
    else:
        if sample is None:
            raise ModelError(f"--method {chosen} needs the number of samples; give --sample N (sample=N)")
        count = sample
        count *= design_size(chosen, len(parameters))
        if chosen == "saltelli" and sample & (sample - 1):
            raise ModelError(f"--sample {sample}: Sobol' indices need a power of 2, as 256; give one")
        if chosen == "morris":
            load_salib()
        if chosen in ("lhs", "morris") and count * len(parameters) > MAX_LHS:
            raise ModelError(f"--method {chosen}: {count} rows are too many for it; take sobol or random")
    if count > MAX_ROWS:
        raise ModelError(f"the study has {count} rows; give at most {MAX_ROWS}")
    return Plan(parameters, chosen, count, seed)


def design_size(method: str, n: int) -> int:
    """Rows per sample: designs for sensitivities change one of n parameters at a time."""
    return {"saltelli": n + 2, "morris": n + 1}.get(method, 1)


def load_salib() -> Any:
    """The library, or a message."""
    try:
        import SALib.analyze.morris
        import SALib.sample.morris
    except ModuleNotFoundError:
        raise ModelError(
            '--method morris: the package SALib is not installed; install it with: pip install "pliant[sensitivity]"'
        ) from None
    return SALib


@lru_cache(maxsize=8)
def _block(method: str, n: int, count: int, seed: int, block: int) -> Array:
    """Shares of BLOCK rows."""
    if method == "random":
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, block]))).random((BLOCK, n))
    first = block * BLOCK
    if method in ("lhs", "morris"):
        whole = _latin_hypercube(n, count, seed) if method == "lhs" else _morris(n, count, seed)
        return whole[first : first + BLOCK]
    if method == "saltelli":
        return _saltelli(n, seed, np.arange(first, first + BLOCK))
    return _sobol(n, seed, first, BLOCK)


def _saltelli(n: int, seed: int, rows: NDArray[np.int64]) -> Array:
    """Per point of Sobol's sequence in 2 n dimensions: A, A with one column of B after the other, B (Saltelli 2010)."""
    points, places = np.divmod(rows, n + 2)
    both = _sobol(2 * n, seed, int(points[0]), int(points[-1] - points[0]) + 1)[points - points[0]]
    is_b = (places[:, None] - 1 == np.arange(n)) | (places[:, None] == n + 1)
    found: Array = np.where(is_b, both[:, n:], both[:, :n])
    return found


def _sobol(n: int, seed: int, first: int, count: int) -> Array:
    from scipy.stats import qmc

    made = qmc.Sobol(n, scramble=True, seed=np.random.default_rng(seed))
    # a sequence that begins with another number of points than a power of 2 is warned of
    whole = count if first else 1 << (count - 1).bit_length()
    found: Array = (made.fast_forward(first) if first else made).random(whole)[:count]
    return found


@lru_cache(maxsize=1)
def _latin_hypercube(n: int, count: int, seed: int) -> Array:
    from scipy.stats import qmc

    found: Array = qmc.LatinHypercube(n, seed=np.random.default_rng(seed)).random(count)
    return found


@lru_cache(maxsize=1)
def _morris(n: int, count: int, seed: int) -> Array:
    """Trajectories on a grid of MORRIS_LEVELS levels, which change one parameter after the other."""
    problem = {"num_vars": n, "names": [str(k) for k in range(n)], "bounds": [[0.0, 1.0]] * n}
    sample = load_salib().sample.morris.sample
    return np.asarray(sample(problem, count // (n + 1), num_levels=MORRIS_LEVELS, seed=seed), float)

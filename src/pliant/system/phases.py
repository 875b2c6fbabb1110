"""The discrete phase over a run: which phase table was valid when."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.system.contact_tables import PHASE, Branch


@dataclass(frozen=True)
class Phases:
    """Snapshots of the phase table, each valid from its time on."""

    times: NDArray[np.float64]  # sorted; the first is the start of the run
    tables: Any  # (times, rows of the phase table)

    def segments(self, t: NDArray[np.float64]) -> Iterator[tuple[slice, Any]]:
        """Runs of the sorted times t with the phase that holds in each; at a switch the later one counts."""
        index = np.maximum(np.searchsorted(self.times, t, side="right") - 1, 0)
        if len(t) == 0:
            return
        edges = [0, *(np.flatnonzero(np.diff(index)) + 1).tolist(), len(t)]
        for first, last in itertools.pairwise(edges):
            yield slice(first, last), self.tables[index[first]]


def are_phases(tables: Any) -> bool:
    """Return True if rows are such that kernels may see them: a file, or a caller, may have brought them."""
    if not isinstance(tables, np.ndarray) or tables.dtype != PHASE:
        return False
    plain = tables.view(np.ndarray)
    flags = [np.isin(plain[name], (0, 1)) for name in ("is_active", "is_pushing")]
    branches = (plain["branch"] >= 0) & (plain["branch"] <= max(Branch))
    speeds = np.isfinite(plain["impact_speed"]) & (np.abs(plain["sense"]) <= 1.0)
    return bool(np.all(flags) and np.all(branches) and np.all(speeds))

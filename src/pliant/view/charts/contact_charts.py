"""Charts of contact forces: all of the run, and a close look at impacts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.results.recording import Recording
from pliant.view.charts.chart import Curve, Drawing
from pliant.view.charts.quantities import dense_range
from pliant.view.svg import Array

if TYPE_CHECKING:
    from pliant.results.contact_forces import ContactForces

MAX_ZOOMS = 8
MAX_POINTS = 8  # of contact in one chart
FINE = 800  # instants over all the run
MAX_ROWS = 20_000  # accepted steps
PER_CONTACT, MIN_PER_CONTACT = 65, 5  # instants within each contact
MAX_WITHIN = 48_000  # instants within all contacts
SHORT = 0.1  # of the run: longer contacts are no impacts
Window = tuple[float, float] | None


class Touching:
    """Forces of the points that touched, fine enough to look into each contact."""

    def __init__(self, result: Recording, window: Window = None) -> None:
        self.result, self.window = result, window or dense_range(result)
        self.forces: ContactForces = result.contact_forces(self._times())
        touched = {(str(row["contact"]), str(row["point"])) for row in result.contacts}
        self.t, names = self.forces.t, self.forces.names
        self.normal, self.friction = (
            np.linalg.norm(part, axis=2) for part in (self.forces.normal, self.forces.friction)
        )
        order = [k for k in np.argsort(-self.normal.max(axis=0), kind="stable").tolist() if names[k] in touched]
        self.chosen = sorted(order[:MAX_POINTS])
        several = len({contact for contact, _ in touched}) > 1
        self.labels = [": ".join(names[k]) if several else names[k][1] for k in self.chosen]
        self.some = f" ({len(self.chosen)} of {len(order)} points)" if len(order) > len(self.chosen) else ""

    def force_drawings(self) -> list[Drawing]:
        """Normal forces, and friction forces where there are any."""
        pairs = (("Normal forces", self.normal), ("Friction forces", self.friction))
        return [
            Drawing(f"{title}{self.some}", "N", self._curves(slice(None), values), is_wide=True)
            for title, values in pairs
            if values is self.normal or np.any(values[:, self.chosen])
        ]

    def impact_drawings(self) -> list[Drawing]:
        """The strongest impacts, each by itself, in milliseconds."""
        low, high = self.window
        spans = [span for span in impact_windows(self.result) if low <= span[1] and span[0] <= high]
        inside = [(self.t >= a) & (self.t <= b) for a, b in spans]
        peaks = [self.normal[rows].max(initial=0.0) for rows in inside]
        strongest = sorted(np.argsort(peaks)[::-1][:MAX_ZOOMS].tolist())
        return [self._impact(spans[k][0], inside[k]) for k in strongest]

    def _impact(self, start: float, rows: Array) -> Drawing:
        curves = [curve for curve in self._curves(rows, self.normal) if np.any(curve.values)]
        # dashes show what lies under them: often several points touch alike
        shown = [
            Curve(curve.label, 1e3 * (curve.t - start), curve.values, place % 2 == 1)
            for place, curve in enumerate(curves)
        ]
        title, across = f"Impact at {start:.5g} s", f"after {start:.7g} s"
        return Drawing(title, "N", tuple(shown), across=across, across_unit="ms")

    def _curves(self, rows: slice | Array, values: Array) -> tuple[Curve, ...]:
        pairs = zip(self.chosen, self.labels, strict=True)
        return tuple(Curve(label, self.t[rows], values[rows, k]) for k, label in pairs)

    def _times(self) -> Array:
        """Accepted steps, an even grid, and more within each contact."""
        (low, high), (first, last) = self.window, dense_range(self.result)
        log, t = self.result.contacts, self.result.t
        ends = np.where(np.isnan(log["t_end"]), last, log["t_end"])
        count = int(np.clip(MAX_WITHIN // len(log), MIN_PER_CONTACT, PER_CONTACT))
        within = log["t_start"][:, None] + np.linspace(-0.2, 1.2, count) * (ends - log["t_start"])[:, None]
        rows = t[np.unique(np.linspace(0, len(t) - 1, min(len(t), MAX_ROWS)).astype(int))]
        times = np.concatenate([rows, np.linspace(low, high, FINE), within.ravel()])
        return np.unique(np.clip(times, max(low, first), min(high, last)))


def contact_drawings(result: Recording, window: Window) -> list[Drawing]:
    """Forces over the run, then impacts."""
    touching = Touching(result, window)
    return [*touching.force_drawings(), *touching.impact_drawings()]


def impact_windows(result: Recording) -> list[tuple[float, float]]:
    """Spans of time that hold short contacts, a little wider; those that overlap are one."""
    log, (first, last) = result.contacts, dense_range(result)
    lengths = log["t_end"] - log["t_start"]
    is_short = lengths <= SHORT * (last - first)  # not those that last until the end
    spans = np.column_stack([log["t_start"], log["t_end"], 0.2 * lengths])[is_short]
    merged: list[tuple[float, float]] = []
    for start, end, air in spans[np.argsort(spans[:, 0])].tolist():
        if merged and start - air <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end + air))
        else:
            merged.append((start - air, end + air))
    return [(max(a, first), min(b, last)) for a, b in merged]

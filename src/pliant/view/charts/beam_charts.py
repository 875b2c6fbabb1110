"""Charts along beams: the largest forces, moments and stress that a run put into every section."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pliant.results.recording import Recording
from pliant.view.charts.chart import Curve, Drawing
from pliant.view.charts.quantities import dense_range, has_dense

INSTANTS = 201  # looked at
CHARTS = (
    ("section", "forces", "N", ((0, "N"), (1, "Vy"), (2, "Vz"))),
    ("section", "moments", "N m", ((3, "T"), (4, "My"), (5, "Mz"))),
    ("stress", "axial stress", "Pa", ((0, "outer fibre"),)),
)
ROUNDING = 1e-9  # curves below this share of the largest are left out


def beam_drawings(result: Recording, names: tuple[str, ...] | None = None) -> Iterator[Drawing]:
    """The largest forces, moments and stress along beams, of some or all."""
    times = np.linspace(*dense_range(result), INSTANTS) if has_dense(result) else None
    for beam in (beam for beam in result.model.beams if names is None or beam.name in names):
        for quantity, what, unit, columns in CHARTS:
            if quantity == "stress" and not beam.has_outer_fibre:
                continue
            x, values = result.along(beam.name, quantity, times)
            largest = np.nanmax(np.abs(values), axis=0)[:, [column for column, _ in columns]]
            curves = [
                Curve(label, x, largest[:, k])
                for k, (_, label) in enumerate(columns)
                if np.any(largest[:, k] > ROUNDING * largest.max())
            ]
            yield Drawing(f"{beam.name}: largest {what}", unit, tuple(curves), across="x", across_unit="m")

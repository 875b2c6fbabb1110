"""Charts along beams: the largest forces, moments and stress that a run put into every section."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pliant.model.tree import find_frame
from pliant.result import Result
from pliant.view.chart import Curve, line_chart
from pliant.view.quantity import dense_range, has_dense

INSTANTS = 201  # looked at
CHARTS = (
    ("section", "forces", "N", ((0, "N"), (1, "Vy"), (2, "Vz"))),
    ("section", "moments", "N m", ((3, "T"), (4, "My"), (5, "Mz"))),
    ("stress", "axial stress", "Pa", ((0, "outer fibre"),)),
)
ROUNDING = 1e-9  # curves below this share of the largest are left out


def beam_charts(result: Result) -> Iterator[tuple[str, str]]:
    """(title, svg), for the beams of which the model asks for forces, strains or stress."""
    model = result.model
    times = np.linspace(*dense_range(result), INSTANTS) if has_dense(result) else None
    asked = dict.fromkeys(find_frame(model, output.of).body for output in model.outputs if output.is_in_beam)
    for beam in (beam for beam in model.beams if beam.name in asked):
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
            title = f"{beam.name}: largest {what}"
            yield title, line_chart(curves, unit=unit, label=title, across="x", across_unit="m")

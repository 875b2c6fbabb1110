"""How far a beam bends: the theory takes deflections and section angles as small."""

import numpy as np
from numpy.typing import NDArray

from pliant.beams.families import beam_shapes
from pliant.beams.shapes import values_of
from pliant.model.flexible import Beam

Array = NDArray[np.float64]

STATIONS = 17


def largest_bending(beam: Beam, d: Array) -> tuple[float, float]:
    """Largest deflection over length, and largest section angle [rad], of a beam over rows of modal coordinates."""
    shapes = beam_shapes(beam)
    x = np.linspace(0.0, beam.length, STATIONS)
    deflections, angles, first = [], [], 0
    for family in (shapes.y, shapes.z):
        values = values_of(family, x)
        own = d[:, first : first + len(family)]
        first += len(family)
        if values:
            deflections.append(own @ np.array([value.y for value in values]))
            angles.append(own @ np.array([value.rotation for value in values]))
    if not deflections or len(d) == 0:
        return 0.0, 0.0
    deflection, angle = (np.sqrt(sum(part**2 for part in parts)) for parts in (deflections, angles))
    return float(np.max(deflection)) / beam.length, float(np.max(angle))

"""How large the numbers of a state are: the scale of every component."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pliant.model.model import Model
from pliant.model.tree import model_size

Array = NDArray[np.float64]


def tolerances(
    model: Model, n_z: int, atol: float, state_scales: Sequence[float] = (), *, has_freedom: bool = True
) -> Array:
    """atol per component of y: angles as given, lengths times the model's size, work terms uncontrolled, but where all
    motion is prescribed and nothing else is left to control; friction states, the last of z, times their own scales."""
    size = model_size(model)
    of_q, of_v = [], []
    for link in model.links:
        row = link.joint.row
        if row.has_plain_rates:
            scales = [1.0 if is_angle else size for is_angle in row.angles]
            of_q += scales
            of_v += scales
        else:
            translations = [size] * (len(row.coordinates) - 4)
            of_q += [*translations, 1.0, 1.0, 1.0, 1.0]
            of_v += [*translations, 1.0, 1.0, 1.0]
        torsion = link.body.families[3]
        modal = [size] * (link.body.n_modes - torsion) + [1.0] * torsion
        of_q += modal
        of_v += modal
    weight = sum(link.body.total_mass for link in model.links) * (float(np.linalg.norm(model.gravity)) or 9.81)
    quadratures = np.full(n_z - len(state_scales), np.inf if has_freedom else atol * weight * size)
    return np.concatenate([atol * np.array(of_q + of_v), quadratures, atol * np.array(state_scales)])

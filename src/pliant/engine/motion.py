"""Configurations moved along velocities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.engine.prepared import Prepared

Array = NDArray[np.float64]


def moved_along(handle: Prepared, q: Array, w: Array) -> Array:
    """q after velocities w have acted for unit time; quaternions of unit length."""
    from pliant.kernels import _jit, shift

    new = np.empty_like(q)
    _jit.entry(shift.shift)(handle.refs[0], q, w, new)
    for four in handle.model.quaternions:
        new[four] /= np.linalg.norm(new[four])
    return new

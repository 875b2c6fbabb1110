"""Derivatives of functions that can only be evaluated, to about their rounding: Richardson's extrapolation of central
differences over steps that shrink by four, every entry where its own error estimate is least (Ridders 1982)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SHRINK = 4.0  # from one step to the next
LEVELS = 14  # from a tenth of the scale to the depth of a stiff contact: 0.1 / 4^13 = 1.5e-9
EPS = float(np.finfo(float).eps)
FIRST_STEP = 0.1  # of the scale


def derivative(function: Callable[[float], Array], scale: float) -> tuple[Array, Array]:
    """d function/dx at x = 0, and an estimate of its error; scale: a change of x that is not small.

    function may be NaN where it cannot be evaluated: steps that reach there are left out."""
    h = FIRST_STEP * scale
    row: list[Array] = []
    best, error, size = np.array([]), np.array([]), np.array(0.0)
    for level in range(LEVELS):
        ahead, behind = function(h), function(-h)
        rise = (ahead - behind) / (2.0 * h)
        # where function vanishes by cancellation, its rounding is that of what it would be a whole scale away
        size = np.fmax(size, np.fmax(np.fmax(np.abs(ahead), np.abs(behind)), scale * np.abs(rise)))
        rounding = EPS * size / h
        new = [rise]
        factor = 1.0
        for before in row:
            factor *= SHRINK**2
            new.append(new[-1] + (new[-1] - before) / (factor - 1.0))
        if level == 0:
            best, error = rise, np.full(rise.shape, np.inf)
        for k in range(1, len(new)):
            estimate = np.fmax(np.abs(new[k] - new[k - 1]), np.abs(new[k] - row[k - 1])) + rounding
            is_better = estimate < error
            best, error = np.where(is_better, new[k], best), np.where(is_better, estimate, error)
        row, h = new, h / SHRINK
    return best, error

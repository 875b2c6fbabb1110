"""How far the frequencies of a robot with beams are from those with all shapes, told by the same robot with more."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pliant.model.model import Model
from pliant.model.more_shapes import least_growth, with_more_shapes

Array = NDArray[np.float64]
MORE = 8  # shapes per family
CLOSE = 0.01  # of a frequency: nearer than this to the converged one counts as converged in short texts


def with_many_shapes(model: Model) -> Model | None:
    """Return the model with many more shapes of its beams; None if it has no beams, or none that can have more."""
    return with_more_shapes(model, MORE) if model.has_modes else None


def extended(model: Model, more: Model, values: Array | None, name: str) -> Array | None:
    """Return coordinates ("q") or velocities ("v") of a model as the one with more shapes has them, these at 0."""
    if values is None:
        return None
    found = np.zeros(len(more.coordinates if name == "q" else more.velocities))
    for link, other in zip(model.links, more.links, strict=True):
        found[getattr(other, f"{name}_slice")] = values[getattr(link, f"{name}_slice")]
        own, new = getattr(link, f"{name}_modes"), getattr(other, f"{name}_modes")
        first, to = own.start, new.start
        for count, space in zip(link.body.families, other.body.families, strict=True):
            found[to : to + count] = values[first : first + count]
            first, to = first + count, to + space
    return found


def excess(rates: Array, more_rates: Array, model: Model, more: Model) -> Array:
    """Return by how much of itself every rate is above the converged one, from those with more shapes; nan: not known.

    Rates are sizes of eigenvalues. More shapes can only lower the k-th one. What n shapes leave out falls as 1/n at
    worst."""
    order = np.argsort(rates, kind="stable")
    own, other = rates[order], np.sort(more_rates)[: len(rates)]
    if len(other) < len(own):
        return np.full(len(rates), math.nan)
    growth = least_growth(model, more)
    change = growth / (growth - 1.0) * np.abs(own - other)
    found = np.empty(len(rates))
    found[order] = np.where(own > 0.0, change / np.where(own > 0.0, own, 1.0), 0.0)
    return found


def percent(share: float) -> str:
    """A share in words."""
    return "not known" if math.isnan(share) else f"{100.0 * share:.2g} %"

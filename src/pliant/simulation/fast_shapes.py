"""Said before a run that may take long: the higher polynomials are, the faster they vibrate, and steps follow them."""

from __future__ import annotations

import sys
from functools import lru_cache

import numpy as np

from pliant.beams.integrals import body_tables
from pliant.model.flexible import Beam
from pliant.model.model import Model

MIN_POLYNOMIAL = 12  # the highest one of a beam: below it nothing is said
MIN_TURNS = 5e5  # [rad] of the fastest mode in a run: a minute of it, about


def say_if_fast(model: Model, duration: float) -> None:
    """Once for a beam: name its fastest mode where error control will follow it for long."""
    for beam in model.bodies:
        if isinstance(beam, Beam) and _highest_polynomial(beam) >= MIN_POLYNOMIAL:
            _say(beam, duration)


def _highest_polynomial(beam: Beam) -> int:
    planes = [plane for plane in (beam.bending_y, beam.bending_z) if plane is not None]
    return max((n for plane in planes if plane.family == "polynomials" for n in plane.numbers), default=0)


@lru_cache(maxsize=64)
def _say(beam: Beam, duration: float) -> None:
    omega = fastest_frequency(beam)
    if omega * duration > MIN_TURNS:
        n, periods = _highest_polynomial(beam), omega * duration / (2 * np.pi)
        print(
            f"pliant: the fastest mode of beam {beam.name!r}, by polynomials up to number {n}, has {omega:.2g} rad/s: "
            f"{periods:.1g} periods in {duration:g} s, which may take minutes; fewer polynomials or "
            'family = "modes" are faster',
            file=sys.stderr,
        )


def fastest_frequency(beam: Beam) -> float:
    """Of the modes of the undeformed beam, its joint held [rad/s]."""
    tables = body_tables(beam)
    inverse = np.linalg.inv(np.linalg.cholesky(tables.modal_mass))
    return float(np.sqrt(np.linalg.eigvalsh(inverse @ tables.K @ inverse.T)[-1]))

"""Why a run has failed whose controllers have made its motion grow: the unstable pole of the sampled loop."""

from __future__ import annotations

import warnings

import numpy as np

from pliant.errors import PliantError
from pliant.linear.modes import Modes, modes
from pliant.model.messages import listed
from pliant.model.model import Model

MAX_VELOCITIES = 300  # of a model whose poles are looked at: seconds
MIN_GROWTH = 1.0  # times e until the run has failed: slower growth has not brought it there
MIN_SHARE = 0.5  # of that growth which must be the controllers'


def unstable_loop_words(model: Model, elapsed: float) -> str:
    """Name the fastest unstable pole of robot and controllers about rest; "" where none explains a failure after
    `elapsed` seconds."""
    if not model.controllers or len(model.velocities) > MAX_VELOCITIES:
        return ""
    closed = _modes(model, controllers=True)
    if closed is None or not len(closed.eigenvalues):
        return ""
    k = int(np.argmax(closed.eigenvalues.real))
    pole = complex(closed.eigenvalues[k])
    if pole.real * elapsed < MIN_GROWTH:
        return ""
    alone = _modes(model, controllers=False)
    if alone is not None and np.max(alone.eigenvalues.real, initial=0.0) > MIN_SHARE * pole.real:
        return ""
    shortest = min(controller.period for controller in model.controllers)
    who = listed(controller.name for controller in model.controllers)
    vibrates = f", vibrating with {abs(pole.imag):.4g} rad/s" if pole.imag else ""
    return (
        f"the sampled loop is unstable (controllers {who}): a small motion, mostly of {closed.mostly(k)}, grows by "
        f"{pole.real:.4g} 1/s{vibrates} (pole {pole.real:.4g} {_imaginary(pole)}); give smaller gains, a shorter "
        f"period than {shortest:g} s or a shorter delay, and to a joint that drives a light or flexible link the "
        "armature of its motor; pliant.modes(model) lists the poles"
    )


def _imaginary(pole: complex) -> str:
    return f"+- {abs(pole.imag):.4g}i 1/s" if pole.imag else "1/s"


def _modes(model: Model, controllers: bool) -> Modes | None:
    """About rest, or else about the start; None where there are none."""
    for q in (None, model.q0):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return modes(model, q, controllers=controllers)
        except (PliantError, np.linalg.LinAlgError):
            continue
    return None

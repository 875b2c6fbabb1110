"""Fixed steps against the fastest motion about the start: whether the method lets it grow."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.methods.integrators import Integrator
from pliant.methods.stability import amplification, stability_limit
from pliant.simulation.fast_motion import linear_rates
from pliant.simulation.run import Run

MAX_VELOCITIES = 200  # of a model whose eigenvalues are found: a second of them, about
MIN_TURN = 0.1  # of omega h: no method lets grow what is resolved so well
GROWTH = 1e-4  # of an oscillation in a step, from which on it grows: differences err less


def growth_figures(run: Run, options: dict[str, Any]) -> dict[str, float]:
    """Return what the audit says about the fixed step of a run that has not begun: omega h of the fastest motion about
    the start that the method lets grow (0: none), and its limit for oscillations. Empty where the method has none, or
    forces of loops are unknowns of its steps."""
    integrator, step = options["integrator"].first, options["step"]
    n_v = len(run.handle.system.dofs)
    if step is None or not 0 < n_v <= MAX_VELOCITIES or run.handle.work.calls[0].constraint_matrices != 0:
        return {}
    limit = stability_limit(integrator, step)
    if not 0.0 < limit < np.inf:
        return {}
    rates = [rate for rate in step * linear_rates(run) if abs(rate) > MIN_TURN]
    growing = [abs(rate) for rate in rates if _grows(integrator, rate, step)]
    return {"growing_turn": float(max(growing, default=0.0)), "stability_limit": limit}


def _grows(integrator: Integrator, rate: complex, step: float) -> bool:
    """Whether a method lets motion grow that decays, or swings, at this rate (over steps); it must not do so itself."""
    turn, slow = abs(rate), 1e-6 * abs(rate)
    # what does not swing: an oscillator of hardly any stiffness
    wh, zeta = (turn, -rate.real / turn) if rate.imag != 0.0 else (slow, -0.5 * rate.real / slow)
    matrix = amplification(integrator, wh, max(zeta, 0.0), step)
    assert matrix is not None
    radius = float(np.max(np.abs(np.linalg.eigvals(matrix))))
    return radius > max(1.0, float(np.exp(rate.real))) + GROWTH

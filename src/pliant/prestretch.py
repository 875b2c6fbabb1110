"""A start in which virtual springs are stretched, and stretching, as the multipliers of the closed loops say."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.closing import Closing
from pliant.dynamics import Prepared
from pliant.loop_conditions import Loops
from pliant.model.tree import kept_velocities
from pliant.run_loop import Run, drive
from pliant.system.memory import evaluate_dense

Array = NDArray[np.float64]
SLOPE_TIME = 1e-3  # [s] over which the slope of multipliers is measured


def prestretched(handle: Prepared, state: tuple[Array, Array], options: dict[str, Any]) -> tuple[Array, Array]:
    """The start moved; joints that the model keeps stay."""
    model, K = handle.model, handle.closure.stiffness
    loops, free = Loops(handle), Loops(handle).is_free & ~kept_velocities(handle.model, handle.model.keep)
    # multipliers of the first instants of the closed mechanism, and their slope from a polynomial through five
    closed = Prepared(model, handle.method.name, handle.packed, Closing("multipliers"))
    brief = {"duration": SLOPE_TIME, "rtol": 1e-12, "atol": 1e-14, "integrator": "dop853", "closure": "multipliers"}
    found, _, _ = drive(run := Run(closed, state, {**options, **brief, "dense": True}, wants_rows=True), None)
    pieces = np.concatenate(found.starts)
    times = np.linspace(0.0, SLOPE_TIME, 5)
    rows = evaluate_dense(pieces[:, 0], pieces[:, 1], np.concatenate(found.terms), times)
    forces = []
    for t, y in zip(times, rows, strict=True):
        q, v = np.split(y[: len(state[0]) + len(state[1])], [len(state[0])])
        run.handle.forward_dynamics(q.copy(), v.copy(), t=float(t))
        forces.append(run.handle.work.closings.force.copy())
    series = np.polynomial.polynomial.polyfit(times / SLOPE_TIME, np.array(forces), 4)
    q = loops.close(state[0], free, wanted=-series[0] / K)
    return q, loops.fitted(q, state[1], free, rates=-series[1] / SLOPE_TIME / K)

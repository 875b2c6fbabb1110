"""The start of a run on its loops; where asked for, one in which virtual springs are stretched, and stretching, as the
multipliers of the closed loops say."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.engine.prepared import Prepared
from pliant.mechanisms.assembly import initialise_multipliers, start_on_loops
from pliant.mechanisms.constraints import Loops
from pliant.methods.closures import Multipliers, Springs
from pliant.methods.integrators import Dop853
from pliant.model.tree import kept_velocities
from pliant.simulation.run import Run, advance_to_end
from pliant.system.memory import evaluate_dense

Array = NDArray[np.float64]
SLOPE_TIME = 1e-3  # [s] over which the slope of multipliers is measured


def put_on_loops(
    handle: Prepared,
    state: tuple[Array, Array],
    options: dict[str, Any],
    *,
    is_given: bool,
    is_closed: bool = False,
    t: float = 0.0,
) -> tuple[Array, Array]:
    """Where a run begins. is_given: by the caller; is_closed: it has been found here before. Springs that start
    stretched are stretched from the closed loops, not from where the caller leaves them open."""
    springs = handle.closure.prestretched_springs if handle.model.loops and not is_closed else None
    state = start_on_loops(handle, state, is_given=is_given and springs is None, is_closed=is_closed)
    if springs is not None:
        state = prestretched(handle, springs, state, options)
    initialise_multipliers(handle, state, options["integrator"], t)
    return state


def prestretched(
    handle: Prepared, springs: Springs, state: tuple[Array, Array], options: dict[str, Any]
) -> tuple[Array, Array]:
    """The start moved; joints that the model keeps stay."""
    model = handle.model
    loops, free = Loops(handle), Loops(handle).is_free & ~kept_velocities(handle.model, handle.model.keep)
    # multipliers of the first instants of the closed mechanism, and their slope from a polynomial through five
    closed = Prepared(model, handle.method.name, handle.packed, Multipliers())
    brief = {"duration": SLOPE_TIME, "rtol": 1e-12, "atol": 1e-14, "integrator": Dop853(), "closure": Multipliers()}
    found, _, _ = advance_to_end(run := Run(closed, state, {**options, **brief, "dense": True}, wants_rows=True), None)
    pieces = found.starts.whole()
    times = np.linspace(0.0, SLOPE_TIME, 5)
    rows = evaluate_dense(pieces[:, 0], pieces[:, 1], found.terms.whole(), times)
    stretches = []
    for t, y in zip(times, rows, strict=True):
        q, v = np.split(y[: len(state[0]) + len(state[1])], [len(state[0])])
        run.handle.forward_dynamics(q.copy(), v.copy(), t=float(t))
        stretches.append(stretch(run.handle, springs, q))
    series = np.polynomial.polynomial.polyfit(times / SLOPE_TIME, np.array(stretches), 4)
    q = loops.close(state[0], free, wanted=series[0])
    return q, loops.fitted(q, state[1], free, rates=series[1] / SLOPE_TIME)


def stretch(handle: Prepared, closure: Springs, q: Array) -> Array:
    """Values of the constraints at which springs exert the multipliers that work has: dV/dc = -force
    (kernels/closures/springs.py: spring_gradient; of the polar form without the small pull on the frame itself)."""
    loops, constraints = handle.system.loops, handle.system.constraints
    pull = -handle.work.constraints.force / closure.stiffness
    c = pull.copy()
    if closure.form == "loop-difference":
        G = np.eye(len(c))
        for before, loop in itertools.pairwise(loops):
            for k in range(min(before.n_rows, loop.n_rows)):
                G[loop.row + k, before.row + k] = -1.0
        return np.asarray(np.linalg.solve(G.T @ G, pull))
    for loop in loops:
        rows = slice(loop.row, loop.row + loop.n_rows)
        if closure.form == "polar":
            p = _place(handle, q, int(loop.second))
            c[rows] *= constraints.scale[rows] ** 2 / max(p @ p, 1e-12 * float(constraints.scale[loop.row]) ** 2)
        elif closure.form == "squared":
            size = float(np.linalg.norm(pull[rows]))
            c[rows] *= (0.5 / size**2) ** (1.0 / 3.0) if size > 0.0 else 0.0
    return np.asarray(c)


def _place(handle: Prepared, q: Array, frame: int) -> Array:
    """Of the origin of a frame [m]."""
    from pliant.kernels import _jit, outputs

    n = len(handle.system.frames)
    out = np.empty((1, 12 * n))
    _jit.entry(outputs.placements)(*handle.refs, q[None, :].copy(), np.zeros((1, len(handle.system.dofs))), out)
    return np.asarray(out.reshape(n, 12)[frame, 9:])

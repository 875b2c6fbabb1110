"""linearise(model, q, v): the linear model of small motions about a state, with names."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.engine.arguments import as_flag
from pliant.errors import ModelError, SimulationError
from pliant.linear.closed_loop import close_loops, settle
from pliant.linear.inputs_outputs import find_inputs, find_outputs
from pliant.linear.operating_point import OperatingPoint
from pliant.linear.state_space import StateSpace
from pliant.linear.truncation import excess, extended, with_many_shapes
from pliant.model.model import Model

Array = NDArray[np.float64]


def linearise(
    model: Model,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    *,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    t: float = 0.0,
    controllers: bool = False,
) -> StateSpace:
    """The linear model of small motions about the state (q, v) at time t (default: the model's start, at rest).

    inputs: forces by name: of a joint ("elbow", "base.x"), or at a frame in world axes ("tip.fy", "tip.mz"); default:
    the joints that have a motor or a controller, else all joints. outputs: the model's outputs ("tip", "tip.x"),
    coordinates ("elbow", for ball joints the rotation "wrist.wx") and rates ("elbow.rate"); default: the model's
    outputs, else all coordinates. Prescribed joints move as their signals say at t. The state need not be one of rest:
    then x is the deviation from the motion through it (StateSpace.residual says what is left).

    controllers: False (default): they are off, as for the design of one. True: the closed loop, a sampled model
    (StateSpace.period) with the states of laws and the commands on their way; inputs are held for a period.

    With beams, StateSpace.truncation says how far the rate of every eigenvalue is from that with all shapes."""
    found = linear_model(model, q, v, inputs=inputs, outputs=outputs, t=t, controllers=controllers)
    if not model.has_modes:
        return found
    return replace(found, truncation=_truncation(found, model, q, v, t, controllers))


def _truncation(
    found: StateSpace, model: Model, q: ArrayLike | None, v: ArrayLike | None, t: float, controllers: bool
) -> Array:
    """Return how far the rates of its eigenvalues are above those of the model with all shapes; nan: not known."""
    unknown = np.full(len(found.A), np.nan)
    more = with_many_shapes(model)
    if more is None:
        return unknown
    states = [
        extended(model, more, None if given is None else values, name)
        for given, values, name in ((q, found.q, "q"), (v, found.v, "v"))
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the model itself were given
        try:
            other = linear_model(more, *states, inputs=(), outputs=(), t=t, controllers=controllers)
        except (ModelError, SimulationError):
            return unknown
    return excess(found.rates, other.rates, model, more)


def linear_model(
    model: Model,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    *,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    t: float = 0.0,
    controllers: bool = False,
) -> StateSpace:
    """Return what linearise does, without a word on the shapes of beams."""
    point = OperatingPoint(model, q, v, t)
    forces = find_inputs(point.handle, point.q, inputs)
    quantities = find_outputs(model, point.is_free, outputs)
    if not as_flag(controllers, "controllers"):
        return point.linear_model(forces, quantities)
    return close_loops(point, forces, quantities, *settle(point)).model

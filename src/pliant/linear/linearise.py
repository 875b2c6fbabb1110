"""linearise(model, q, v): the linear model of small motions about a state, with names."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from pliant.engine.arguments import as_flag
from pliant.linear.closed_loop import close_loops, settle
from pliant.linear.inputs_outputs import find_inputs, find_outputs
from pliant.linear.operating_point import OperatingPoint
from pliant.linear.state_space import StateSpace
from pliant.model.model import Model


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
    (StateSpace.period) with the states of laws and the commands on their way; inputs are held for a period."""
    point = OperatingPoint(model, q, v, t)
    forces = find_inputs(point.handle, point.q, inputs)
    quantities = find_outputs(model, point.is_free, outputs)
    if not as_flag(controllers, "controllers"):
        return point.linear_model(forces, quantities)
    return close_loops(point, forces, quantities, *settle(point)).model

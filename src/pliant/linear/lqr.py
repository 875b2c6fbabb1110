"""lqr(model, joints, period): state feedback from the linear model, the best for a quadratic cost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.engine.arguments import as_model, as_names, as_number, as_numbers, as_vector
from pliant.errors import ModelError
from pliant.linear.linearise import linear_model
from pliant.linear.state_space import StateSpace
from pliant.model.control_laws import StateFeedback
from pliant.model.messages import closest, listed, quoted
from pliant.model.model import Model
from pliant.queries.dynamics import inverse_dynamics

Array = NDArray[np.float64]
AT_REST = 1e-6  # of the largest force that holds the operating point: what others may have left


def lqr(
    model: Model,
    joints: str | Iterable[str],
    period: float,
    *,
    q: ArrayLike | None = None,
    weights: ArrayLike = 1.0,
    effort: ArrayLike = 1.0,
) -> StateFeedback:
    """The law u = u0 - K (x - x0) that makes the sum over the samples of x^T Q x + u^T R u least, about rest at q
    (default: the model's start); the model as a controller with this period sees it, without delay.

    joints: whose motors it commands. weights: diagonal of Q, one number or one per coordinate and then per velocity;
    effort: diagonal of R, one number or one per command. Give the law to a Controller of these joints."""
    columns = _velocities(as_model(model), joints)
    names = (*model.coordinates, *(f"{name}.rate" for name in model.velocities))
    Q = np.diag(_per_name(weights, names, "weights", "of at least 0"))
    R = np.diag(_per_name(effort, tuple(model.velocities[j] for j in columns), "effort", "above 0"))
    at = as_vector(model.q0 if q is None else q, model.coordinates, "q")
    gears = np.array([_gear(model, j) for j in columns])
    held = _holding_commands(model, at, columns, gears)
    linear = linear_model(
        model, at, inputs=[model.velocities[j] for j in columns], outputs=[model.velocities[columns[0]]]
    )
    if linear.A.shape != (len(names), len(names)):
        raise ModelError(
            f"lqr: {len(linear.A)} independent states of {len(names)}; it takes models without loops, prescribed "
            "motion, bristles, ball joints and points that stick"
        )
    K = _gain(linear.sampled(as_number(period, "period", 0.0, np.inf, "[s]")), gears, Q, R)
    return StateFeedback(gain=tuple(map(tuple, K.tolist())), q=tuple(at.tolist()), feedforward=tuple(held.tolist()))


def _gain(sampled: StateSpace, gears: Array, Q: Array, R: Array) -> Array:
    from scipy.linalg import solve_discrete_are

    A, B = sampled.A, sampled.B * gears
    try:
        P = solve_discrete_are(A, B, Q, R)
    except (np.linalg.LinAlgError, ValueError):
        raise ModelError(
            "lqr: no gain makes all motions die out; give the joints that reach every motion, weights above 0 for all "
            "that shall come to rest, or another period"
        ) from None
    return np.asarray(np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A))


def _velocities(model: Model, joints: str | Iterable[str]) -> list[int]:
    """Velocities of the joints, in their order."""
    by_name = {link.joint.name: link for link in model.links if link.joint.row.velocities}
    chosen = as_names(joints, "joints")
    for name in chosen:
        if name not in by_name:
            raise ModelError(f"joints: no {quoted(name)}{closest(name, by_name) or ';'} there are {listed(by_name)}")
    if not chosen:
        raise ModelError("joints: none given; name those whose motors the law commands")
    return [j for name in chosen for j in range(by_name[name].v_slice.start, by_name[name].v_slice.stop)]


def _gear(model: Model, j: int) -> float:
    link = next(link for link in model.links if link.v_slice.start <= j < link.v_slice.stop)
    return float(link.joint.each("gear")[j - link.v])


def _per_name(value: Any, names: tuple[str, ...], what: str, bound: str) -> Array:
    """One number for each, "above 0" or "of at least 0"."""
    numbers = as_numbers(value, what)
    is_right = numbers.ndim == 0 or numbers.shape == (len(names),)
    if not is_right or not np.all(np.isfinite(numbers)):
        raise ModelError(f"{what}: {quoted(value)} found; give one number, or {len(names)}: for {listed(names)}")
    if np.any(numbers < 0.0) or (bound == "above 0" and np.any(numbers == 0.0)):
        raise ModelError(f"{what}: {quoted(value)} found; give numbers {bound}")
    return np.array(np.broadcast_to(numbers, len(names)))


def _holding_commands(model: Model, q: Array, columns: list[int], gears: Array) -> Array:
    """What the motors do at rest at q; nothing else may have to push."""
    still = np.zeros(len(model.velocities))
    needed = inverse_dynamics(model, q, still, still)
    others = np.delete(np.arange(len(still)), columns)
    floor = AT_REST * max(1.0, float(np.max(np.abs(needed), initial=0.0)))
    for j in others:
        if abs(needed[j]) > floor:
            raise ModelError(
                f"q: at rest there {model.velocities[j]!r} would need a force of {needed[j]:.3g}, which no motor "
                "gives; give coordinates at which the commanded joints alone hold the model, as pliant.equilibrium "
                "finds them with these joints prescribed"
            )
    return np.asarray(needed[columns] / gears)

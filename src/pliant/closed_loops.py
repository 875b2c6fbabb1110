"""Mechanisms with closed loops: whole motions from those of a few joints, forces of motors, multipliers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.assembly import closed_start
from pliant.dynamics import Prepared, prepare
from pliant.errors import ModelError
from pliant.loop_conditions import Loops
from pliant.model.messages import closest, listed
from pliant.model.model import Model
from pliant.model.tree import kept_velocities
from pliant.states import as_state, as_vector

Array = NDArray[np.float64]


@dataclass(frozen=True)
class MotorForces:
    """What a given motion of a mechanism needs."""

    tau: Array  # one entry per velocity, zero but at the motors [N, N m]
    multipliers: Array  # one per condition: force (couple) on the second frame of its loop [N, N m]


def closed_motion(
    model: Model,
    given: Mapping[str, Sequence[ArrayLike]],
    q: ArrayLike | None = None,
    t: ArrayLike | None = None,
) -> tuple[Array, Array, Array]:
    """(q, v, vdot) of the whole mechanism while some joints move as given: {joint: (value, rate, acceleration)}.

    Each is a number (one per coordinate of the joint), or rows of them along a path, which is followed from the pose
    next to q (default: the model's start). Joints given must tell the whole motion. t: of the rows, for messages."""
    for name in given:
        known = [link.joint.name for link in model.links if link.joint.row.has_plain_rates]
        if name not in known:
            raise ModelError(
                f"closed_motion: no joint {name!r}{closest(name, known) or ';'} there are: {listed(known)}"
            )
    parts = {name: [np.asarray(x, float) for x in three] for name, three in given.items()}
    links = {link.joint.name: link for link in model.links}
    count = max((x.shape[0] for name, three in parts.items() for x in three if _is_path(x, links[name])), default=0)
    handle = prepare(model)
    loops = Loops(handle)
    guess = as_state(model, model.q0 if q is None else q, model.v0)[0]
    free = loops.is_free & ~kept_velocities(model, list(given))
    rows = []
    for k in range(max(count, 1)):
        x, v, vdot = guess.copy(), np.zeros(len(free)), np.zeros(len(free))
        for name, three in parts.items():
            value, rate, acceleration = (y[k] if _is_path(y, links[name]) else y for y in three)
            x[links[name].q_slice], v[links[name].v_slice], vdot[links[name].v_slice] = value, rate, acceleration
        try:
            x, v = closed_start(loops, x, v, free)
        except ModelError as error:
            if count == 0:
                raise
            when = f"from t = {np.asarray(t, float)[k]:.9g} s on" if t is not None else f"from row {k} on"
            raise ModelError(f"the path leaves what the mechanism reaches {when}: {error}") from None
        rows.append((x, v, completed_acceleration(loops, x, v, vdot, free)))
        guess = x
    qs, vs, accelerations = (np.array([row[i] for row in rows]) for i in range(3))
    return (qs, vs, accelerations) if count else (qs[0], vs[0], accelerations[0])


def _is_path(x: Array, link: object) -> bool:
    """Whether it has one more dimension than one value of the joint."""
    width = len(link.joint.row.coordinates)  # type: ignore[attr-defined]
    return bool(x.ndim == 2 or (x.ndim == 1 and width == 1))


def completed_acceleration(loops: Loops, q: Array, v: Array, vdot: Array, free: NDArray[np.bool_]) -> Array:
    """vdot whose free entries are such that the loops stay closed."""
    A = loops.jacobian(q)
    gap = A @ np.where(free, 0.0, vdot) + loops.second_rates(q, v)
    out = np.where(free, 0.0, vdot)
    out[free] = -np.linalg.lstsq(A[:, free] / loops.scales[:, None], gap / loops.scales, rcond=1e-12)[0]
    return out


def motor_names(model: Model) -> list[str]:
    """Joints with a motor or under a controller."""
    commanded = {name for controller in model.controllers for name in controller.joints}
    return [link.joint.name for link in model.links if link.joint.motor is not None or link.joint.name in commanded]


def motor_forces(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    vdot: ArrayLike,
    *,
    motors: Sequence[str] | None = None,
    t: float = 0.0,
) -> MotorForces:
    """Forces of the motors (joints by name; default: those that have one) and multipliers of the loops that let the
    mechanism move like this, beside what the model itself carries. With more motors than needed: the least forces."""
    names = motor_names(model) if motors is None else list(motors)
    if not names:
        raise ModelError(
            f"model {model.name!r} has loops: say which joints are driven, motors=[...], or give joints a motor; "
            f"joints: {listed([link.joint.name for link in model.links])}"
        )
    handle = prepare(model)
    q, v = as_state(model, q, v)
    needed = handle.inverse_dynamics(q, v, as_vector(vdot, model.velocities, "vdot"), float(t))
    loops = Loops(handle)
    A = loops.jacobian(q)
    driven = kept_velocities(model, names)
    columns = np.column_stack([np.eye(len(v))[:, driven], A.T])
    found, _, _, _ = np.linalg.lstsq(columns, needed, rcond=1e-11)
    left = needed - columns @ found
    if np.max(np.abs(left)) > 1e-8 * max(np.max(np.abs(needed)), 1e-12):
        worst = model.velocities[int(np.argmax(np.abs(left)))]
        raise ModelError(
            f"model {model.name!r}: motors at {listed(names)} cannot make this motion: {worst!r} lacks "
            f"{np.max(np.abs(left)):.3g} N or N m; drive more joints, or give an acceleration that keeps loops closed"
        )
    tau = np.zeros(len(v))
    tau[driven] = found[: driven.sum()]
    return MotorForces(tau, np.asarray(found[driven.sum() :], np.float64))


def loop_wrenches(handle: Prepared) -> dict[str, Array]:
    """Wrench of every loop by its first frame on the second, at its origin, in its axes (force, moment), as the last
    evaluation left it."""
    from pliant.kernels import _jit
    from pliant.kernels.closures import referee

    out = np.empty((1, 6 * len(handle.model.loops)))
    _jit.entry(referee.loop_wrenches)(*handle.refs, np.empty((1, 0)), np.empty((1, 0)), out)
    return {loop.name: out[0, 6 * i : 6 * i + 6].copy() for i, loop in enumerate(handle.model.loops)}

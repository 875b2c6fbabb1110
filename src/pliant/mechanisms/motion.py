"""Mechanisms with closed loops: whole motions from those of a few joints, forces of motors, multipliers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.engine.arguments import as_model, as_names, as_numbers, as_state, as_times, as_vector
from pliant.engine.prepared import Prepared, prepare
from pliant.errors import ModelError
from pliant.mechanisms.assembly import closed_start
from pliant.mechanisms.constraints import Loops
from pliant.model.messages import closest, listed, quoted
from pliant.model.model import Model
from pliant.model.tree import kept_velocities

Array = NDArray[np.float64]
# of rates and second rates of loops, over the size of the model and per unit of speed or acceleration
MAX_ERROR = 1e-6
MAX_SPRING_ERROR = 1e-3  # where virtual springs may have held them


@dataclass(frozen=True)
class MotorForces:
    """What a given motion of a mechanism needs."""

    tau: Array  # one entry per velocity, zero but at the motors [N, N m]
    multipliers: Array  # one per constraint: force (couple) on the second frame of its loop [N, N m]


def closed_motion(
    model: Model,
    given: Mapping[str, Sequence[ArrayLike]],
    q: ArrayLike | None = None,
    t: ArrayLike | None = None,
) -> tuple[Array, Array, Array]:
    """(q, v, vdot) of the whole mechanism while some joints move as given: {joint: (value, rate, acceleration)}.

    Each is a number (one per coordinate of the joint), or rows of them along a path, which is followed from the pose
    next to q (default: the model's start). Joints given must determine the whole motion. t: of the rows (messages)."""
    known = [link.joint.name for link in as_model(model).links if link.joint.row.has_plain_rates]
    if not isinstance(given, Mapping):
        raise ModelError(f"closed_motion: {quoted(given)} found; give {{joint: (value, rate, acceleration)}}")
    for name in given:
        if not isinstance(name, str) or name not in known:
            hint = closest(name, known) if isinstance(name, str) else ""
            raise ModelError(f"closed_motion: no joint {quoted(name)}{hint or ';'} there are: {listed(known)}")
    links = {link.joint.name: link for link in model.links}
    parts = {name: _three(name, three, len(links[name].joint.row.coordinates)) for name, three in given.items()}
    counts = {x.shape[0] for name, three in parts.items() for x in three if _is_path(x, links[name])}
    if len(counts) > 1:
        found = listed(map(str, sorted(counts)))
        raise ModelError(f"closed_motion: paths of {found} rows found; give all the same number of rows")
    count = counts.pop() if counts else 0
    times = None if t is None else as_times(t)
    if times is not None and times.shape != (count,) and count:
        raise ModelError(f"closed_motion: t has shape {times.shape}; give one time per row, ({count},)")
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
            when = f"from t = {times[k]:.9g} s on" if times is not None else f"from row {k} on"
            raise ModelError(f"the path leaves what the mechanism reaches {when}: {error}") from None
        if k == 0:
            _check_completeness(loops, x, free, list(given))
        rows.append((x, v, completed_acceleration(loops, x, v, vdot, free)))
        _check_acceleration(loops, *rows[-1])
        guess = x
    qs, vs, accelerations = (np.array([row[i] for row in rows]) for i in range(3))
    return (qs, vs, accelerations) if count else (qs[0], vs[0], accelerations[0])


def _three(name: str, given: Any, width: int) -> list[Array]:
    """(value, rate, acceleration) of a joint, each one number per coordinate or rows of them."""
    expected = "a number" if width == 1 else f"{width} numbers"
    wanted = f"give (value, rate, acceleration), each {expected} or rows of them"
    try:
        three = [as_numbers(x, "motion") for x in given] if isinstance(given, (list, tuple, np.ndarray)) else []
    except (TypeError, ModelError):
        three = []
    if len(three) != 3:
        raise ModelError(f"closed_motion: {name!r}: {quoted(given)} found; {wanted}")
    shapes = [x.shape for x in three]
    if any(x.ndim > 2 or not _fits(x, width) for x in three):
        raise ModelError(f"closed_motion: {name!r}: shapes {listed(map(str, shapes))} found; {wanted}")
    for x, what in zip(three, ("value", "rate", "acceleration"), strict=True):
        if not np.all(np.isfinite(x)):
            raise ModelError(f"closed_motion: {name!r}: {what} is not finite; give finite numbers")
    return [x[:, 0] if x.ndim == 2 and width == 1 else x for x in three]


def _fits(x: Array, width: int) -> bool:
    """One number for all, one per coordinate, or rows of those."""
    return x.ndim == 0 or x.shape[-1] == width or (width == 1 and x.ndim == 1)


def _check_completeness(loops: Loops, q: Array, free: NDArray[np.bool_], given: list[str]) -> None:
    """What is given determines all joints; beams may bend besides, rods between ball joints rotate about their axes."""
    if loops.model.has_modes or any(not link.joint.row.has_plain_rates for link in loops.model.links):
        return
    values = np.linalg.svd(loops.jacobian(q)[:, free] / loops.scales[:, None], compute_uv=False)
    missing = int(free.sum()) - int(np.sum(values > 1e-8 * max(values.max(initial=0.0), 1e-300)))
    if missing > 0:
        raise ModelError(
            f"closed_motion: {listed(given) or 'no joint'} does not determine the whole motion: {missing} freedom(s) "
            f"of the other {int(free.sum())} velocities are left; give the motion of more joints"
        )


def _check_acceleration(loops: Loops, q: Array, v: Array, vdot: Array, bound: float = MAX_ERROR) -> None:
    gap = np.abs(loops.jacobian(q) @ vdot + loops.second_rates(q, v)) / loops.scales
    size = max(1.0, float(np.max(np.abs(vdot), initial=0.0)), float(np.max(v**2, initial=0.0)))
    if np.max(gap, initial=0.0) > bound * size:
        raise ModelError(
            f"model {loops.model.name!r}: the accelerations given tear loop {_worst(loops, gap)!r} apart; give those "
            "of fewer joints, or such as belong together"
        )


def _worst(loops: Loops, gap: Array) -> str:
    """The loop of the largest gap."""
    return loops.model.loops[int(loops.handle.system.constraints[int(np.argmax(gap))].loop)].name


def _check_on_loops(loops: Loops, q: Array, v: Array) -> None:
    """A motion of the mechanism, to the digits that virtual springs leave."""
    values, rates = (np.abs(x) / loops.scales for x in loops.errors(q, v))
    speed = max(1.0, float(np.max(np.abs(v), initial=0.0)))
    for gap, size, what in ((values, 1.0, "q is no pose of the mechanism"), (rates, speed, "v is no motion of it")):
        if np.max(gap, initial=0.0) > MAX_SPRING_ERROR * size:
            raise ModelError(
                f"model {loops.model.name!r}: {what}: loop {_worst(loops, gap)!r} is not closed (by "
                f"{np.max(gap):.2g}, where 1 is the size of the model); take them from closed_motion or assemble"
            )


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
    motors: str | Sequence[str] | None = None,
    t: float = 0.0,
) -> MotorForces:
    """Forces of the motors (joints by name; default: those that have one) and multipliers of the loops that let the
    mechanism move like this, beside what the model itself carries. With more motors than needed: the least forces."""
    names = motor_names(as_model(model)) if motors is None else list(as_names(motors, "motors"))
    if not names:
        raise ModelError(
            f"model {model.name!r} has loops: say which joints are driven, motors=[...], or give joints a motor; "
            f"joints: {listed([link.joint.name for link in model.links])}"
        )
    handle = prepare(model)
    q, v = as_state(model, q, v)
    loops, driven = Loops(handle), kept_velocities(model, names, "motors")
    vdot = as_vector(vdot, model.velocities, "vdot")
    _check_on_loops(loops, q, v)
    _check_acceleration(loops, q, v, vdot, MAX_SPRING_ERROR)
    needed = handle.inverse_dynamics(q, v, vdot, t)
    A = loops.jacobian(q)
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
    from pliant.kernels.closures import constraint_check

    out = np.empty((1, 6 * len(handle.model.loops)))
    _jit.entry(constraint_check.loop_wrenches)(*handle.refs, np.empty((1, 0)), np.empty((1, 0)), out)
    return {loop.name: out[0, 6 * i : 6 * i + 6].copy() for i, loop in enumerate(handle.model.loops)}

"""Dynamics of one state or of many in one call: every argument is checked, may have any leading dimensions, and
broadcasts. Rows are computed in threads; the bits do not depend on how many there are.

prepare(model) gives a handle for many fast calls at one state each, without checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.engine.arguments import as_choice, as_rows
from pliant.engine.prepared import NO_INVERSE, Energy, Momentum, Prepared, prepare
from pliant.engine.threads import over_rows
from pliant.errors import ModelError
from pliant.mechanisms.motion import loop_wrenches, motor_forces
from pliant.methods import FormulationLike
from pliant.model.model import Model

Array = NDArray[np.float64]
REACTION_AXES = ("child", "world")


@cache
def _kernels() -> tuple[Callable[..., int], Callable[..., int], int, int]:
    """Entries of the kernels over rows, addresses of forward and inverse dynamics."""
    from pliant.kernels import _jit, dynamics, inverse, many

    entries = _jit.entry(many.many), _jit.entry(many.many_equations)
    return *entries, _jit.address(dynamics.forward), _jit.address(inverse.inverse)


def forward_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None = None,
    *,
    t: ArrayLike = 0.0,
    formulation: FormulationLike = "auto",
    threads: int | None = None,
) -> Array:
    """vdot at a state, under tau (added to what the model itself carries: springs, motors, loads) at time t.

    q, v, tau and t may have leading dimensions, which broadcast: many states in one call, in threads (None: one per
    core)."""
    batch, times, rows = as_rows(model, t, q=q, v=v, tau=tau)
    handle = prepare(model, formulation)
    vdot, _ = _forward(handle, times, rows, threads, wants_reactions=False)
    return vdot.reshape(*batch, len(model.velocities))


def reactions(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None = None,
    *,
    t: ArrayLike = 0.0,
    axes: str = "child",
    formulation: FormulationLike = "auto",
    threads: int | None = None,
) -> dict[str, Array]:
    """Wrench of every joint (force, then moment) by the parent on the child, at the child's origin, in child axes; of
    every loop by its first frame on the second, at its origin, in its axes. axes="world": both in world axes, about the
    same origins."""
    is_in_world = as_choice(axes, REACTION_AXES, "axes") == "world"
    batch, times, rows = as_rows(model, t, q=q, v=v, tau=tau)
    handle = prepare(model, formulation)
    _, found = _forward(handle, times, rows, threads, wants_reactions=True)
    wrenches = {link.joint.name: found[:, i] for i, link in enumerate(model.links)}
    wrenches |= _loop_wrenches(handle, times, rows) if model.loops else {}
    if is_in_world:
        # a body's own frame is a row of its own number
        frames = [*range(len(model.links)), *(int(loop.second) for loop in handle.system.loops)]
        attitudes, _ = handle.frame_placements(rows["q"], frames)
        wrenches = {name: _rotated(attitudes[:, k], wrench) for k, (name, wrench) in enumerate(wrenches.items())}
    return {name: wrench.reshape(*batch, 6).copy() for name, wrench in wrenches.items()}


def _rotated(R: Array, wrench: Array) -> Array:
    """Forces and moments (rows, 6) in the axes that R (rows, 3, 3) leads to."""
    return np.asarray(np.einsum("nij,nkj->nki", R, wrench.reshape(-1, 2, 3)).reshape(-1, 6))


def _loop_wrenches(handle: Prepared, times: Array, rows: dict[str, Array]) -> dict[str, Array]:
    found = []
    for k in range(len(times)):
        handle.forward_dynamics(rows["q"][k], rows["v"][k], rows["tau"][k], float(times[k]))
        found.append(loop_wrenches(handle))
    return {loop.name: np.array([one[loop.name] for one in found]) for loop in handle.model.loops}


def inverse_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    vdot: ArrayLike,
    *,
    t: ArrayLike = 0.0,
    motors: Sequence[str] | None = None,
    threads: int | None = None,
) -> Array:
    """tau beyond what the model carries, such that forward_dynamics(model, q, v, tau) is vdot. Leading dimensions of q,
    v, vdot and t broadcast.

    Of a model with loops: at `motors` alone (joints by name; default: those that have a motor), see motor_forces.
    Points and joints that stick push with the force that holds them without tau."""
    batch, times, rows = as_rows(model, t, q=q, v=v, vdot=vdot)
    if model.is_stiffened:
        raise ModelError(NO_INVERSE)
    if model.loops:
        each = zip(rows["q"], rows["v"], rows["vdot"], times, strict=True)
        found = [motor_forces(model, x, u, a, motors=motors, t=float(at)).tau for x, u, a, at in each]
        return np.array(found).reshape(*batch, len(model.velocities))
    if motors is not None:
        raise ModelError(f"motors has no effect: model {model.name!r} has no loops; leave it out")
    handle = prepare(model)
    tau, status = np.empty_like(rows["vdot"]), np.zeros(len(times), np.int64)
    enter, _, _, function = _kernels()

    def job(handle: Prepared, part: slice) -> None:
        wrenches = np.empty((1, len(handle.system.bodies), 6))
        args = (times[part], rows["q"][part], rows["v"][part], rows["vdot"][part], tau[part])
        enter(function, *handle.refs, *args, wrenches, status[part])

    over_rows(handle, len(times), threads, job)
    _check_rows(handle, status, job)
    return tau.reshape(*batch, len(model.velocities))


def mass_matrix(model: Model, q: ArrayLike, *, threads: int | None = None) -> Array:
    """M(q), (.., n_v, n_v), armatures included."""
    from pliant.kernels import _jit

    batch, times, rows = as_rows(model, q=q)
    handle, n = prepare(model), len(model.velocities)
    v, h, M = np.zeros((len(times), n)), np.empty((len(times), n)), np.empty((len(times), n, n))
    enter, function = _kernels()[1], _jit.address(handle.equations_kernel)

    def job(handle: Prepared, part: slice) -> None:
        enter(function, *handle.refs, rows["q"][part], v[part], M[part], h[part])

    over_rows(handle, len(times), threads, job)
    return M.reshape(*batch, n, n)


def energy(model: Model, q: ArrayLike, v: ArrayLike, *, threads: int | None = None) -> Energy:
    """Kinetic, gravity and elastic energy of a state [J]; of many: arrays."""
    batch, found = _queried(model, q, v, lambda handle: handle.energies_kernel, 3, threads)
    if not batch:
        return Energy(*found[0].tolist())
    return Energy(*(found[:, k].reshape(batch).copy() for k in range(3)))


def momentum(model: Model, q: ArrayLike, v: ArrayLike, *, threads: int | None = None) -> Momentum:
    """Linear and angular momentum of a state, and its mass centre."""
    batch, found = _queried(model, q, v, lambda handle: handle.momenta_kernel, 12, threads)
    return Momentum.of_rows(found.reshape(*batch, 12))


def _forward(
    handle: Prepared, times: Array, rows: dict[str, Array], threads: int | None, wants_reactions: bool
) -> tuple[Array, Array]:
    """vdot and reactions of rows, or a message."""
    n_bodies = len(handle.system.bodies)
    vdot, status = np.empty_like(rows["v"]), np.zeros(len(times), np.int64)
    wrenches = np.zeros((len(times), n_bodies, 6) if wants_reactions else (1, 0, 6))
    enter, _, function, _ = _kernels()

    def job(handle: Prepared, part: slice) -> None:
        args = (times[part], rows["q"][part], rows["v"][part], rows["tau"][part], vdot[part])
        enter(function, *handle.refs, *args, wrenches[part] if wants_reactions else wrenches, status[part])

    over_rows(handle, len(times), threads, job)
    _check_rows(handle, status, job)
    return vdot, wrenches


def _check_rows(handle: Prepared, status: NDArray[np.int64], job: Callable[[Prepared, slice], None]) -> None:
    """The first row that fails is reported."""
    if status.any():
        first = int(np.flatnonzero(status)[0])
        # once more alone, so that the handle knows the body
        job(handle, slice(first, first + 1))
        raise handle.failure(int(status[first]), f"row {first}: " if len(status) > 1 else "")


def _queried(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    kernel: Callable[[Prepared], Callable[..., int]],
    width: int,
    threads: int | None,
) -> tuple[tuple[int, ...], Array]:
    """Rows of numbers by a QUERY kernel."""
    batch, times, rows = as_rows(model, q=q, v=v)
    handle, out = prepare(model), np.empty((len(times), width))

    def job(handle: Prepared, part: slice) -> None:
        kernel(handle)(*handle.refs, rows["q"][part], rows["v"][part], out[part])

    over_rows(handle, len(times), threads, job)
    return batch, out

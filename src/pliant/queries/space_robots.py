"""Free robots: what their joints do to the base and to the hand while nothing acts from outside [umetani1989].

The base is the root body; its velocities v_b are those of its floating, planar or spherical joint. All others are the
rates v_m: of joints, and of modes. With the rows of the mass matrix that belong to the base,
    p_b = H_b v_b + H_bm v_m
is the momentum along v_b: linear and, about the base's origin, angular. It follows from what acts on the base, so
    (velocity, angular velocity) of a frame = J_g v_m + J_b H_b^-1 p_b,
with the generalised Jacobian J_g = J_m - J_b H_b^-1 H_bm.
Rates with C v_m = 0 leave the base in peace [nenchev1999]: C = H_bm keeps its pose; its attitude alone is kept by the
rows of rotation, once the translation, which stays free, is eliminated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.engine.arguments import as_array, as_choice, as_model, as_numbers
from pliant.engine.prepared import Momentum
from pliant.errors import ModelError
from pliant.model.messages import listed
from pliant.model.model import Model
from pliant.model.tree import Link
from pliant.queries.dynamics import mass_matrix
from pliant.queries.frames import frame_placement, jacobian

Array = NDArray[np.float64]
BASE_KINDS = ("floating", "planar", "spherical")
# which of the base's velocities shift it; the others rotate it
SHIFTS = {"floating": 3, "planar": 2, "spherical": 0}
KEEPS = ("attitude", "pose")
NO_COUPLING = 1e-10  # singular values of the coupling below this share of the largest are zero


@dataclass(frozen=True)
class _Split:
    """Columns of the base, of everything else, and which of the latter are rates of joints."""

    base: Link
    b: NDArray[np.int64]
    m: NDArray[np.int64]
    is_joint: NDArray[np.bool_]  # per entry of m


def rate_names(model: Model) -> tuple[str, ...]:
    """Names of the rates v_m: the columns of the generalised Jacobian."""
    return tuple(model.velocities[j] for j in _split(model).m)


def generalised_jacobian(
    model: Model, q: ArrayLike, frame: str, *, axes: str = "world", threads: int | None = None
) -> Array:
    """J_g (.., 6, rates): (velocity, angular velocity) of a frame per rate of all but the base, momentum zero.

    With momentum: add frame_velocity(model, q, free_velocity(model, q, 0, momentum), frame)."""
    split = _split(model)
    J, H = jacobian(model, q, frame, axes=axes, threads=threads), mass_matrix(model, q, threads=threads)
    H_b, H_bm = H[..., split.b[:, None], split.b], H[..., split.b[:, None], split.m]
    return np.asarray(J[..., split.m] - J[..., split.b] @ np.linalg.solve(H_b, H_bm))


def free_velocity(model: Model, q: ArrayLike, rates: ArrayLike, momentum: Momentum | ArrayLike | None = None) -> Array:
    """v (.., n_v) of a free robot whose joints (and modes) move at these rates: the base moves so that momentum is
    zero, or as given (linear, then angular about the world origin, world axes; or what pliant.momentum says).

    rates: one per name of rate_names(model), or 0 for none."""
    split = _split(model)
    H = mass_matrix(model, q)
    rates = _as_rates(model, split, rates)
    p = np.einsum("...ij,...j->...i", H[..., split.b[:, None], split.m], rates)
    p = _base_momentum(model, q, split, momentum) - p
    v_b = np.linalg.solve(H[..., split.b[:, None], split.b], p[..., None])[..., 0]
    v = np.zeros((*v_b.shape[:-1], len(model.velocities)))
    v[..., split.b], v[..., split.m] = v_b, rates
    return v


def reaction_null_basis(model: Model, q: ArrayLike, keep: str = "attitude") -> Array:
    """(rates, k): orthonormal columns that span all joint rates which leave the base's attitude (or pose) alone while
    momentum is zero. Modes of beams, which nobody commands, are at rest in them. One state at a time."""
    split = _split(model)
    C = _coupling(model, q, split, keep)[:, split.is_joint]
    _, sizes, rows = np.linalg.svd(C)
    rank = int(np.sum(sizes > NO_COUPLING * sizes.max(initial=0.0)))
    basis = np.zeros((len(split.m), C.shape[1] - rank))
    basis[split.is_joint] = rows[rank:].T
    return basis


def reaction_null_projector(model: Model, q: ArrayLike, keep: str = "attitude") -> Array:
    """P (rates, rates): P times any rates are the nearest ones that leave the base alone."""
    basis = reaction_null_basis(model, q, keep)
    return np.asarray(basis @ basis.T)


def reaction_null_velocity(model: Model, q: ArrayLike, wish: ArrayLike, keep: str = "attitude") -> Array:
    """The rates nearest to a wish (in rad/s and m/s) that leave the base's attitude, or its pose, alone."""
    basis = reaction_null_basis(model, q, keep)
    rates = _as_rates(model, _split(model), wish)
    if rates.ndim > 1:
        raise ModelError(f"wish: shape {rates.shape} found; give one number per rate: {listed(rate_names(model))}")
    return np.asarray(basis @ (basis.T @ rates))


def _coupling(model: Model, q: ArrayLike, split: _Split, keep: str) -> Array:
    """Rows of inertia through which rates push what is to be kept, in units in which rows compare."""
    as_choice(keep, KEEPS, "keep")
    if (shape := as_numbers(q, "q").shape) != (len(model.coordinates),):
        raise ModelError(f"q: shape {shape} found; reaction-null motion takes one state, as bases differ in size")
    H = mass_matrix(model, q)
    free = SHIFTS[split.base.joint.kind] if keep == "attitude" else 0
    H_b, H_bm = H[np.ix_(split.b, split.b)], H[np.ix_(split.b, split.m)]
    # forward substitution eliminates the rows before; what is free comes first
    return np.asarray(np.linalg.solve(np.linalg.cholesky(H_b), H_bm))[free:]


def _base_momentum(model: Model, q: ArrayLike, split: _Split, momentum: Momentum | ArrayLike | None) -> Array:
    """p_b: power of the momentum along the base's velocities."""
    if momentum is None:
        return np.zeros(len(split.b))
    if isinstance(momentum, Momentum):
        momentum = np.concatenate([momentum.linear, momentum.angular], axis=-1)
    both = as_array(momentum, ("px", "py", "pz", "lx", "ly", "lz"), "momentum")
    base = split.base.body.name
    J = jacobian(model, q, base)[..., split.b]
    linear, angular = both[..., :3], both[..., 3:]
    about_base = np.concatenate([linear, angular - np.cross(frame_placement(model, q, base)[1], linear)], axis=-1)
    return np.asarray(np.einsum("...ji,...j->...i", J, about_base))


def _as_rates(model: Model, split: _Split, rates: ArrayLike) -> Array:
    if isinstance(rates, (int, float)) and rates == 0:
        return np.zeros(len(split.m))
    return as_array(rates, tuple(model.velocities[j] for j in split.m), "rates")


def _split(model: Model) -> _Split:
    roots = [link for link in as_model(model).links if link.parent < 0]
    if len(roots) != 1:
        names = listed(link.body.name for link in roots)
        raise ModelError(
            f"model {model.name!r} has {len(roots)} bodies on the world ({names}); a free robot has one base"
        )
    base = roots[0]
    if base.joint.kind not in BASE_KINDS:
        raise ModelError(
            f"base {base.body.name!r} of model {model.name!r} is held by a {base.joint.kind} joint; "
            f'a free robot has one of {listed(BASE_KINDS)}: give base="floating"'
        )
    n = np.arange(len(model.velocities))
    is_base = np.isin(n, n[base.v_slice])
    modes = np.concatenate([np.zeros(0, np.int64), *(n[link.v_modes] for link in model.links)])
    return _Split(base, n[is_base], n[~is_base], ~np.isin(n[~is_base], modes))

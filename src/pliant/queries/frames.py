"""Frames at one state or many: placement, velocity, Jacobian, and J' v.

(velocity, angular velocity) of a frame = J v: of its origin, then angular, both absolute. axes="world":
components along the world axes; "frame": along the frame's own. Columns as model.velocities, modes of beams among
them."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.engine.arguments import as_array, as_choice, as_model, as_rows
from pliant.engine.prepared import Prepared, prepare
from pliant.engine.threads import over_rows
from pliant.model.model import Model

Array = NDArray[np.float64]
AXES = ("world", "frame")


def jacobian(model: Model, q: ArrayLike, frame: str, *, axes: str = "world", threads: int | None = None) -> Array:
    """J (.., 6, n_v) of a frame, a body or "world" (which does not move): (velocity, angular velocity) = J v."""
    handle, batch, rows, row, is_own = _asked(model, frame, axes, q=q)
    return row_jacobians(handle, rows["q"], row, is_own, threads).reshape(*batch, 6, len(model.velocities))


def row_jacobians(handle: Prepared, q: Array, row: int, is_own: int = 0, threads: int | None = None) -> Array:
    """J (rows of q, 6, n_v) of a row of the table of frames; is_own: along the frame's own axes."""
    count, n = len(q), len(handle.model.velocities)
    J, still = np.empty((count, 6, n)), np.zeros((count, n))
    enter = _kernels()[0]

    def job(handle: Prepared, part: slice) -> None:
        enter(*handle.refs, row, is_own, q[part], still[part], J[part])

    over_rows(handle, count, threads, job)
    return J


def jacobian_rate(
    model: Model, q: ArrayLike, v: ArrayLike, frame: str, *, axes: str = "world", threads: int | None = None
) -> Array:
    """J' v (.., 6): what the rate of (velocity, angular velocity) has beside J vdot. In world axes: the acceleration
    of the frame while vdot vanishes."""
    batch, out = _motions(model, q, v, frame, axes, threads)
    return out[:, 18:].reshape(*batch, 6).copy()


def frame_velocity(
    model: Model, q: ArrayLike, v: ArrayLike, frame: str, *, axes: str = "world", threads: int | None = None
) -> Array:
    """(velocity, angular velocity) (.., 6) of a frame: J v [m/s, rad/s]."""
    batch, out = _motions(model, q, v, frame, axes, threads)
    return out[:, 12:18].reshape(*batch, 6).copy()


class Placement(NamedTuple):
    """Where a frame is in the world: R, p = placement."""

    R: Array  # attitude (.., 3, 3): its columns are the frame's axes
    p: Array  # origin (.., 3) [m]


def frame_placement(model: Model, q: ArrayLike, frame: str, *, threads: int | None = None) -> Placement:
    """(R, p) of a frame in the world: attitude (.., 3, 3), its columns the frame's axes, and origin (.., 3) [m]."""
    shape = as_array(q, as_model(model).coordinates, "q").shape[:-1]
    still = np.zeros((*shape, len(model.velocities)))
    batch, out = _motions(model, q, still, frame, "world", threads)
    return Placement(out[:, :9].reshape(*batch, 3, 3).copy(), out[:, 9:12].reshape(*batch, 3).copy())


@cache
def _kernels() -> tuple[Any, Any]:
    from pliant.kernels import _jit, jacobians

    return _jit.entry(jacobians.jacobians), _jit.entry(jacobians.frame_motions)


def _asked(
    model: Model, frame: str, axes: str, **state: ArrayLike
) -> tuple[Prepared, tuple[int, ...], dict[str, Array], int, int]:
    """Handle, leading dimensions, rows of states, row of the frame, whether axes are its own."""
    as_choice(axes, AXES, "axes")
    batch, _, rows = as_rows(model, **state)
    handle = prepare(model)
    return handle, batch, rows, find_row(handle, frame), int(axes == "frame")


def find_row(handle: Prepared, frame: str) -> int:
    """Row of a frame by its name or its body's, or a message."""
    return handle.frame_row(frame)


def _motions(
    model: Model, q: ArrayLike, v: ArrayLike, frame: str, axes: str, threads: int | None
) -> tuple[tuple[int, ...], Array]:
    """Rows of kernels/jacobians.py: frame_motions."""
    handle, batch, rows, row, is_own = _asked(model, frame, axes, q=q, v=v)
    out = np.empty((len(rows["q"]), 24))
    enter = _kernels()[1]

    def job(handle: Prepared, part: slice) -> None:
        enter(*handle.refs, row, is_own, rows["q"][part], rows["v"][part], out[part])

    over_rows(handle, len(out), threads, job)
    return batch, out

"""The constraints of a model's loops in numpy: values, rates, Jacobian, the nearest closed pose."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pliant.engine.motion import moved_along
from pliant.engine.prepared import Prepared
from pliant.model.tree import model_size, stays_in_plane
from pliant.system.loop_tables import ConstraintKind

Array = NDArray[np.float64]
MAX_STEPS = 100
MAX_STEP_LENGTH = 0.5  # [rad, size of the model]
MIN_GAIN = 1e-6  # of the gaps: a step that brings less does not help
MIN_DAMPING, MAX_DAMPING = 1e-4, 1e6  # of the largest singular value squared
MAX_NUDGES, NUDGE = 5, 0.05  # [rad, size of the model]
MIN_GAP = 1e-14  # of the scales: as closed as rounding allows
MAX_GAP = 1e-10  # of the scales: more is open
RANK_TOLERANCE = 1e-8  # of the largest singular value
NEARBY_DISTANCE = 1e-2  # [rad, size of the model]: where a rank is compared with that of the start


class Loops:
    """The constraints of a model's loops in numpy; scaled, so that 1 is the size of the model."""

    def __init__(self, handle: Prepared) -> None:
        from pliant.kernels import _jit
        from pliant.kernels.closures import constraint_check, independent

        self.handle, self.model = handle, handle.model
        self._errors, self._jacobians = _jit.entry(constraint_check.loop_errors), _jit.entry(independent.loop_jacobians)
        self._second = _jit.entry(constraint_check.second_rates)
        self.scales = handle.system.constraints.scale.copy()
        dofs = handle.system.dofs
        self.is_free = dofs.motion < 0
        self._velocity_scale = dofs.velocity_scale.copy()  # joints move before beams bend

    @cached_property
    def size(self) -> float:
        return model_size(self.model)

    def errors(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Values and rates of all constraints along rows of q and v, or of one state."""
        m = len(self.scales)
        rows = np.empty((len(np.atleast_2d(q)), 2 * m))
        with self.handle.lock:
            self._errors(*self.handle.refs, np.atleast_2d(q).copy(), np.atleast_2d(v).copy(), rows)
        out = rows if np.ndim(q) == 2 else rows[0]
        return out[..., :m].copy(), out[..., m:].copy()

    def jacobian(self, q: Array) -> Array:
        """A, (constraints, n_v)."""
        m, n = len(self.scales), len(self.is_free)
        out = np.empty((1, m * n))
        with self.handle.lock:
            self._jacobians(*self.handle.refs, q[None, :].copy(), np.zeros((1, n)), out)
        return out.reshape(m, n)

    def second_rates(self, q: Array, v: Array) -> Array:
        """A' v."""
        out = np.empty((1, len(self.scales)))
        with self.handle.lock:
            self._second(*self.handle.refs, q[None, :].copy(), v[None, :].copy(), out)
        return np.asarray(out[0])

    def moved(self, q: Array, w: Array) -> Array:
        """q after velocities w have acted for unit time."""
        return moved_along(self.handle, q, w)

    def close(self, q: Array, free: NDArray[np.bool_], wanted: Array | None = None) -> Array:
        """q on the loops (or with these values of the constraints), as near as Gauss-Newton steps of least length go:
        joints move, and beams bend only where joints alone do not close."""
        wanted = np.zeros(len(self.scales)) if wanted is None else wanted
        for lengths in (self._velocity_scale, self.lengths):
            found = self._closed(q, free, wanted, lengths)
            gap = (self.errors(found, np.zeros(len(free)))[0] - wanted) / self.scales
            if np.max(np.abs(gap), initial=0.0) < MAX_GAP or not self.model.has_modes:
                break
        return found

    def _closed(self, q: Array, free: NDArray[np.bool_], wanted: Array, lengths: Array) -> Array:
        """lengths: what one unit of each velocity is compared with. Damped where a plain step does not help; nudged
        where no step does though loops are open, as in a stretched pose."""
        at_rest, n = np.zeros(len(self.is_free)), len(self.is_free)
        rng, nudges, damping, before, best = np.random.default_rng(0), 0, 0.0, np.inf, (np.inf, q)
        for _ in range(MAX_STEPS):
            gap = (self.errors(q, at_rest)[0] - wanted) / self.scales
            size = float(np.max(np.abs(gap), initial=0.0))
            best = min(best, (size, q), key=lambda pair: pair[0])
            if size <= MIN_GAP or (size >= 0.9 * before and before < 1e-12):
                break
            before = size
            A = (self.jacobian(q) / self.scales[:, None] * lengths)[:, free]
            U, values, rows = np.linalg.svd(A, full_matrices=False)
            largest = float(values.max(initial=0.0))
            while True:
                weights = np.zeros_like(values)
                kept = values > RANK_TOLERANCE * largest
                weights[kept] = values[kept] / (values[kept] ** 2 + damping * largest**2)
                w = np.zeros(n)
                w[free] = -rows.T @ (weights * (U.T @ gap))
                w *= min(1.0, MAX_STEP_LENGTH / max(np.max(np.abs(w), initial=0.0), 1e-300))
                trial = self.moved(q, w * lengths)
                there = np.linalg.norm((self.errors(trial, at_rest)[0] - wanted) / self.scales)
                if there < (1.0 - MIN_GAIN) * np.linalg.norm(gap) or size < 1e-12 or damping > MAX_DAMPING:
                    break
                damping = max(MIN_DAMPING, 4.0 * damping)
            if damping > MAX_DAMPING:
                # values that are wanted of redundant constraints cannot all be had: there it is as near as may be
                if nudges == MAX_NUDGES or np.any(wanted):
                    break
                nudges, damping = nudges + 1, 0.0
                w = np.where(free, NUDGE * rng.normal(size=n), 0.0)
                trial = self.moved(q, w * lengths)
                before = np.inf
            damping = damping / 16.0 if damping > MIN_DAMPING else 0.0
            q = trial
        return best[1]

    @cached_property
    def lengths(self) -> Array:
        """What one unit of each velocity is compared with: 1 rad, or the size."""
        from pliant.model.scales import tolerances

        return np.asarray(tolerances(self.model, 0, 1.0)[len(self.model.coordinates) :])

    def fitted(self, q: Array, v: Array, free: NDArray[np.bool_], rates: Array | None = None) -> Array:
        """v with these rates of the constraints (default zero), as near as may be."""
        lengths = self._velocity_scale
        A = self.jacobian(q) / self.scales[:, None] * lengths
        gap = A @ (v / lengths) - (0.0 if rates is None else rates / self.scales)
        w = np.zeros(len(v))
        w[free] = -np.linalg.lstsq(A[:, free], gap, rcond=RANK_TOLERANCE)[0]
        return np.asarray(v + w * lengths)

    def rank(self, q: Array) -> int:
        """Independent constraints at a pose, of those that free velocities can meet."""
        A = self.jacobian(q)[:, self.is_free] / self.scales[:, None] * self.lengths[self.is_free]
        values = np.linalg.svd(A, compute_uv=False)
        return int(np.sum(values > RANK_TOLERANCE * max(values.max(initial=0.0), 1e-300)))

    def weakest(self, q: Array, rank: int) -> tuple[float, str]:
        """The least of the first `rank` singular values, and the loop that has most part in it."""
        A = self.jacobian(q)[:, self.is_free] / self.scales[:, None] * self.lengths[self.is_free]
        U, values, _ = np.linalg.svd(A, full_matrices=False)
        k = int(self.handle.system.constraints[int(np.argmax(np.abs(U[:, rank - 1])))].loop)
        return float(values[rank - 1]), self.model.loops[k].name

    def free_motions(self, q: Array) -> Array:
        """Velocities (columns) that the loops allow; of unit length, where 1 is 1 rad or the size."""
        lengths, free = self.lengths, self.is_free
        A = (self.jacobian(q) / self.scales[:, None] * lengths)[:, free]
        _, values, rows = np.linalg.svd(A, full_matrices=True)
        rank = int(np.sum(values > RANK_TOLERANCE * max(values.max(initial=0.0), 1e-300)))
        motions = np.zeros((len(free), rows.shape[0] - rank))
        motions[free] = rows[rank:].T
        return np.asarray(motions * lengths[:, None])

    def nearby(self, q: Array) -> Array:
        """Another closed pose a little way off, along a direction in which the mechanism can move."""
        motions, lengths = self.free_motions(q), self.lengths
        w = motions @ np.random.default_rng(0).normal(size=motions.shape[1])
        w *= NEARBY_DISTANCE / max(np.max(np.abs(w / lengths)), 1e-300)
        return self.close(self.moved(q, w), self.is_free)

    def choose(self, q: Array, v: Array) -> None:
        """Make the partition into independent constraints and dependent velocities at a pose, and hold it for a run."""
        from pliant.kernels import _jit
        from pliant.kernels.closures import independent

        _jit.entry(independent.partition_at)(*self.handle.refs, q[None, :].copy(), v[None, :].copy(), np.empty((1, 1)))

    def flipped_loops(self, q: Array) -> list[str]:
        """Loops that constrain attitudes but have closed rotated by 180 degrees (right angles stay right)."""
        from pliant.kernels import _jit, jacobians

        found, at_rest = [], np.zeros((1, len(self.is_free)))
        for loop, row in zip(self.model.loops, self.handle.system.loops, strict=True):
            if loop.kind in ("fixed", "prismatic"):
                out = np.empty((2, 1, 24))
                for end, frame in enumerate((row.first, row.second)):
                    _jit.entry(jacobians.frame_motions)(*self.handle.refs, int(frame), 0, q[None, :], at_rest, out[end])
                first, second = out[:, 0, :9].reshape(2, 3, 3)
                rotation = second @ first.T
                # frames of a planar model may be tilted against each other for good
                if np.trace(rotation) < 0.0 and (rotation[2, 2] > 0.0 or not stays_in_plane(self.model)):
                    found.append(loop.name)
        return found

    def open_loops(self, q: Array) -> list[tuple[str, float, bool]]:
        """Loops that are not closed: name, largest error, whether it is an angle."""
        values, _ = self.errors(q, np.zeros(len(self.is_free)))
        found = []
        for loop, row in zip(self.model.loops, self.handle.system.loops, strict=True):
            part = slice(row.row, row.row + row.n_rows)
            sizes = np.abs(values[part]) / self.scales[part]
            if len(sizes) and sizes.max() > MAX_GAP:
                k = part.start + int(np.argmax(sizes))
                found.append(
                    (
                        loop.name,
                        float(abs(values[k])),
                        bool(self.handle.system.constraints[k].kind == ConstraintKind.PERPENDICULAR),
                    )
                )
        return found

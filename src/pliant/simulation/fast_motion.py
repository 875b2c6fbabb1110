"""The fastest motion that a model can make about its start: what decides the steps of explicit integrators.

With accelerations a(q, v), the largest eigenvalues of -da/dv = M^-1 D and -da/dq = M^-1 K by power iteration on
differences: some 30 evaluations, no matrices. For fixed steps all rates at which small motion decays and swings."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.simulation.kept import Kept
from pliant.system.status import Status

if TYPE_CHECKING:
    from pliant.simulation.run import Run

Array = NDArray[np.float64]
ITERATIONS = 8  # power iteration is then right within a third, which is enough
DAMPED = 0.7  # swing_decay over swing
MIN_DECAY = 1.0  # [1/s]: less is rounding of differences, or nothing
# of velocities [rad/s, m/s] and coordinates [rad, m], over which differences are taken
VELOCITY_CHANGE, COORDINATE_CHANGE = 1e-4, 1e-6


class FastMotion(NamedTuple):
    """About the fastest eigenvalues of the equations of motion [1/s]."""

    decay: float  # of velocities: the largest of M^-1 D
    swing: float  # undamped: the square root of the largest of M^-1 K
    swing_decay: float  # of the velocity of that swing

    @property
    def rate(self) -> float:
        """The largest."""
        return max(self.decay, self.swing)

    @property
    def is_damped(self) -> bool:
        """Whether what is fastest is gone after a swing or so (damping ratio DAMPED / 2): it is nothing to follow."""
        return self.decay >= MIN_DECAY and (self.decay >= 2.0 * self.swing or self.swing_decay >= DAMPED * self.swing)


NOTHING_FAST = FastMotion(0.0, 0.0, 0.0)


def fast_motion(run: Run) -> FastMotion:
    """Of a run that has not begun; it is left as it was."""
    kept = Kept(run.handle.work, run.memory)
    try:
        return _fast_motion(run)
    except FloatingPointError:
        return NOTHING_FAST
    finally:
        kept.restore()


def linear_rates(run: Run) -> NDArray[Any]:
    """Eigenvalues of small motion about the start [1/s] of a run that has not begun; it is left as it was."""
    n_v = int(run.handle.system.world[0].n_v)
    kept = Kept(run.handle.work, run.memory)
    try:
        products = _products(run)
        damping, stiffness = (np.column_stack([product(x) for x in np.eye(n_v)]) for product in products)
    except FloatingPointError:
        return np.zeros(0)
    finally:
        kept.restore()
    is_free = run.handle.system.dofs.motion < 0
    n = int(np.sum(is_free))
    D, K = damping[is_free][:, is_free], stiffness[is_free][:, is_free]
    return np.linalg.eigvals(np.block([[np.zeros((n, n)), np.eye(n)], [-K, -D]]))


def _products(run: Run) -> tuple[Callable[[Array], Array], Callable[[Array], Array]]:
    """M^-1 D x and M^-1 K x, by differences of the derivative."""
    n_q, n_v = int(run.handle.system.world[0].n_q), int(run.handle.system.world[0].n_v)
    rates = _rates(run)
    y0 = run.memory.y.copy()
    f0 = rates(y0)

    def change(of_q: Array | None, of_v: Array | None) -> Array:
        """Of the derivative."""
        y = y0.copy()
        if of_q is not None:
            y[:n_q] += of_q
        if of_v is not None:
            y[n_q : n_q + n_v] += of_v
        return rates(y) - f0

    def damped(x: Array) -> Array:
        """M^-1 D x."""
        return -change(None, VELOCITY_CHANGE * x)[n_q : n_q + n_v] / VELOCITY_CHANGE

    def stiffened(x: Array) -> Array:
        """M^-1 K x; coordinates change as velocities x would change them."""
        way = change(None, VELOCITY_CHANGE * x)[:n_q] / VELOCITY_CHANGE
        return -change(COORDINATE_CHANGE * way, None)[n_q : n_q + n_v] / COORDINATE_CHANGE

    return damped, stiffened


def _fast_motion(run: Run) -> FastMotion:
    n_v = int(run.handle.system.world[0].n_v)
    if n_v == 0:
        return NOTHING_FAST
    damped, stiffened = _products(run)
    decay, _ = _largest(damped, n_v)
    square, shape = _largest(stiffened, n_v)
    swing_decay = float(shape @ damped(shape)) / float(shape @ shape)
    return FastMotion(decay, math.sqrt(square), swing_decay)


def _rates(run: Run) -> Callable[[Array], Array]:
    """The derivative of y at the time of the run, or a FloatingPointError."""
    from pliant.kernels import _jit, dynamics

    derivative, refs, t = _jit.entry(dynamics.derivative), run.handle.refs, float(run.memory.stepping[0].t)

    def rates(y: Array) -> Array:
        ydot = np.zeros(len(y))
        if derivative(*refs, t, y, ydot) != Status.OK or not np.all(np.isfinite(ydot)):
            raise FloatingPointError
        return ydot

    return rates


def _largest(product: Callable[[Array], Array], n: int) -> tuple[float, Array]:
    """The largest eigenvalue, about, and its direction, whose largest entry is 1."""
    x, found = np.cos(1.0 + np.arange(n)), 0.0
    for _ in range(ITERATIONS):
        x = x / np.max(np.abs(x))
        turned = product(x)
        # Rayleigh's quotient: gyroscopic forces, which damp nothing, count for nothing
        found = float(x @ turned) / float(x @ x)
        if not np.any(turned):
            break
        x = turned
    return max(found, 0.0), x / np.max(np.abs(x))

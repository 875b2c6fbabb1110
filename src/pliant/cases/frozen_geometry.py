"""The thesis' own linearisation of a beam of rigid segments, for reproduction only: it grows without bound.

Sines and cosines are frozen at a Taylor prediction from the step before, u = T w + T^2 al / 2:
    s = sin theta (1 - u^2/2) + u cos theta,  c = cos theta (1 - u^2/2) - u sin theta
and the positions of the mass centres, sums of l c and l s, are integrated by the rows of Newmark's method as the angles
are. So the inertia of what hangs on a segment acts with the angular accelerations of the step before, as a share of its
own that is above one: every step multiplies them, whatever T. As far as the text of the thesis says how it is done;
the steps of kernels/transfer_matrix differentiate the geometry instead, and nothing of this is used by them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
BETA, GAMMA = 0.25, 0.5
BLOWN_UP = 1e3  # [rad]


def steps_until_blown_up(stiffnesses: Array, mass: float, length: float, start: Array, T: float, n_steps: int) -> int:
    """Steps of length T until an angle is beyond reason; n_steps if none is. Equal rods hinged at their beginnings.

    stiffnesses: of the hinges [N m/rad]; mass, length: of a rod; start: absolute angles, at rest [rad]."""
    n, inertia = len(start), mass * length**2 / 12.0
    lever = np.tril(np.full((n, n), length), -1) + 0.5 * length * np.eye(n)
    apart = np.eye(n) - np.eye(n, k=-1)
    K = apart.T @ np.diag(stiffnesses) @ apart
    A, D = 1.0 / (BETA * T**2), GAMMA / (BETA * T)
    theta, w = start.copy(), np.zeros(n)
    x, y, vx, vy = lever @ np.cos(theta), lever @ np.sin(theta), np.zeros(n), np.zeros(n)
    X, Y = -lever * np.sin(theta), lever * np.cos(theta)
    al = np.linalg.solve(inertia * np.eye(n) + mass * (X.T @ X + Y.T @ Y), -K @ theta)
    ax, ay = X @ al, Y @ al
    with np.errstate(all="ignore"):
        for step in range(n_steps):
            u = T * w + 0.5 * T**2 * al
            s = np.sin(theta) * (1.0 - 0.5 * u**2) + u * np.cos(theta)
            c = np.cos(theta) * (1.0 - 0.5 * u**2) - u * np.sin(theta)
            x, vx, ax = _row(x, vx, ax, lever @ c, T)
            y, vy, ay = _row(y, vy, ay, lever @ s, T)
            forces = -mass * ((-lever * s).T @ ax + (lever * c).T @ ay)
            B = -A * (theta + T * w + (0.5 - BETA) * T**2 * al)
            new = np.linalg.solve(inertia * A * np.eye(n) + K, forces - inertia * B)
            w, al = D * new + w + T * ((1.0 - GAMMA) * al + GAMMA * B), A * new + B
            theta = new
            if not np.max(np.abs(theta)) < BLOWN_UP:
                return step + 1
    return n_steps


def _row(x: Array, v: Array, a: Array, x_new: Array, T: float) -> tuple[Array, Array, Array]:
    """Newmark's row: the acceleration and velocity that belong to a new position."""
    a_new = (x_new - x - T * v) / (BETA * T**2) - (0.5 / BETA - 1.0) * a
    return x_new, v + T * ((1.0 - GAMMA) * a + GAMMA * a_new), a_new

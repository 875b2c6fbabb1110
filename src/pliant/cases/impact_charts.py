"""What a contact point does before, during and after an impact: curves in axes of the plane, and peaks of the force."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.report_types import Lines
from pliant.result import Result

Array = NDArray[np.float64]
POINTS = 1201  # of a curve
AROUND = 0.6  # of the contact's length, shown before and after it


@dataclass(frozen=True)
class Impact:
    """The first contact of a run: of a point whose velocity, acceleration and force are outputs of these names."""

    result: Result
    velocity: str
    acceleration: str
    force: str

    @property
    def start(self) -> float:
        return float(self.result.contacts["t_start"][0])

    @property
    def end(self) -> float:
        """Of the contact, or of the run if it lasts."""
        return float(np.nan_to_num(self.result.contacts["t_end"][0], nan=self.result.t[-1]))

    @property
    def normal(self) -> Array:
        """Of the plane, which is fixed in the world."""
        normal = np.array(self.result.model.contacts[0].plane.normal)
        return np.asarray(normal / np.linalg.norm(normal))

    def times(self) -> Array:
        """About the contact."""
        margin = AROUND * (self.end - self.start)
        first, last = max(self.start - margin, self.result.t[0]), min(self.end + margin, self.result.t[-1])
        return np.linspace(first, last, POINTS)

    def axes(self) -> Array:
        """Rows: normal, direction of sliding at the start of the contact, and across."""
        n = self.normal
        slide = self._sliding()
        speed = np.linalg.norm(slide)
        # no sliding: any direction in the plane
        along = slide / speed if speed > 1e-12 else np.linalg.svd(n[None, :])[2][1]
        return np.stack([n, along, np.cross(n, along)])

    def _sliding(self) -> Array:
        u = self.result.outputs_at(np.array([self.start]))[self.velocity][0]
        return np.asarray(u - self.normal * (self.normal @ u))

    @property
    def tangential_speed(self) -> float:
        """Of sliding at the start of the contact [m/s]."""
        return float(np.linalg.norm(self._sliding()))

    def motion(self, t: Array, output: str) -> Array:
        """(times, 3): a vector of the point in axes()."""
        return np.asarray(self.result.outputs_at(t)[output] @ self.axes().T)

    def forces(self, t: Array) -> Array:
        """(times, 3): normal force, friction along the sliding and across [N]."""
        values = self.result.outputs_at(t)[self.force]
        return np.column_stack([values[:, 0], values[:, 1:4] @ self.axes()[1:].T])

    def peaks(self) -> int:
        """How many maxima the normal force has."""
        force = self.forces(np.linspace(self.start, self.end, 4 * POINTS))[:, 0]
        return int(np.sum((force[1:-1] > force[:-2]) & (force[1:-1] >= force[2:])))

    def charts(self) -> tuple[Lines, ...]:
        """Force, velocity and acceleration of the point, in axes of the plane."""
        t = self.times()
        force, u, udot = self.forces(t), self.motion(t, self.velocity), self.motion(t, self.acceleration)
        after = 1e3 * (t - self.start)
        across = ("time after the first touch", "ms")
        words = ("normal", "along the sliding", "across")

        def chart(title: str, unit: str, values: Array) -> Lines:
            return Lines(title, unit, *across, tuple((words[k], after, values[:, k]) for k in range(3)))

        return (
            chart("Impact: force on the point", "kN", 1e-3 * force),
            chart("Impact: velocity of the point against the plane", "m/s", u),
            chart("Impact: acceleration of the point against the plane", "m/s^2", udot),
        )

"""What all pictures of one run share: poses at a few instants, paths between them, and the way one looks at them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pliant.result import Result
from pliant.view.projection import View, choose_view
from pliant.view.quantity import MOST_PLACEMENTS, dense_range, has_dense
from pliant.view.skeleton import FREE_KINDS, End, Part, ends, extreme_points, skeleton
from pliant.view.svg import Array

TRAIL_POINTS = 2001


@dataclass(frozen=True)
class Scene:
    """All that the pictures of one run share."""

    model: Any
    times: Array  # of the poses
    R: Array  # (times, bodies, 3, 3)
    p: Array  # (times, bodies, 3)
    parts: tuple[tuple[Part, ...], ...]
    ends: tuple[End, ...]
    trail_times: Array
    trails: Array  # (trail times, ends, 3)
    paths: Array  # (trail times, bodies, 3) of the body origins
    view: View

    def points(self, k: int) -> Array:
        """World points that hold pose k (n, 3)."""
        return _world_points(self.model, self.parts, self.R[k], self.p[k])

    @cached_property
    def size(self) -> float:
        """Extent of the robot itself in the last pose [m]."""
        return extent(self.points(-1)) or 1.0

    @property
    def is_held(self) -> bool:
        """Whether some root is held by the world."""
        return any(link.parent < 0 and link.joint.kind not in FREE_KINDS for link in self.model.links)


def make_scene(result: Result, n_poses: int = 6) -> Scene:
    """Placements at evenly spaced instants, and the paths between them."""
    trail_times, R, p = _placements(result)
    chosen = _evenly(trail_times, n_poses)
    model, parts, points = result.model, skeleton(result.model), ends(result.model)
    trails = np.stack([p[:, end.body] + R[:, end.body] @ end.point for end in points], axis=1)
    view = choose_view(R, p, trails.reshape(-1, 3))
    return Scene(model, trail_times[chosen], R[chosen], p[chosen], parts, points, trail_times, trails, p, view)


def _placements(result: Result) -> tuple[Array, Array, Array]:
    """Times and finite placements along the run; the model's start if it has none."""
    if has_dense(result):
        times = np.linspace(*dense_range(result), _trail_count(result))
        R, p = result.placements(times)
    else:
        chosen = np.unique(np.linspace(0, len(result.t) - 1, _trail_count(result)).astype(int))
        times = result.t[chosen]
        R, p = replace(result, q=result.q[chosen]).placements()
    is_finite = np.isfinite(p).all(axis=(1, 2)) & np.isfinite(R).all(axis=(1, 2, 3))
    return times[is_finite], R[is_finite], p[is_finite]


def _trail_count(result: Result) -> int:
    """Fewer points along the paths of robots of very many bodies."""
    return int(np.clip(MOST_PLACEMENTS // (20 * len(result.model.links)) * 20 + 1, 201, TRAIL_POINTS))


def _evenly(times: Array, count: int) -> Array:
    wanted = np.linspace(times[0], times[-1], count)
    return np.unique(np.abs(times[None, :] - wanted[:, None]).argmin(axis=1))


def _world_points(model: Any, parts: tuple[tuple[Part, ...], ...], R: Array, p: Array) -> Array:
    points = [p, *(seat_of(model, i, R, p)[None, :] for i in range(len(parts)))]
    points += [p[i] + extreme_points(part) @ R[i].T for i, of_body in enumerate(parts) for part in of_body]
    return np.concatenate(points)


def extent(points: Array) -> float:
    return float(np.max(np.ptp(points, axis=0)))


def seat_of(model: Any, i: int, R: Array, p: Array) -> Array:
    """World position of the seat of link i's joint on its parent; the body itself where nothing holds it."""
    link = model.links[i]
    if link.joint.kind in FREE_KINDS:
        return np.asarray(p[i])
    place = np.array(link.seat.position, dtype=float)
    return place if link.parent < 0 else np.asarray(p[link.parent] + R[link.parent] @ place)

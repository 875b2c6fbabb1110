"""What all pictures of one run share: poses at a few instants, paths between them, and the way one looks at them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.model.flexible import Beam
from pliant.model.springs import free_lengths
from pliant.results.recording import STATIONS, Recording
from pliant.view.charts.quantities import MAX_PLACEMENTS, dense_range, has_dense
from pliant.view.picture.bent import BentBeam, bent_beam
from pliant.view.picture.projection import View, choose_view
from pliant.view.picture.skeleton import FREE_KINDS, End, Part, ends, extreme_points, loop_frames, places, skeleton
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
    beams: dict[int, BentBeam]  # by row of the link, at times
    ends: tuple[End, ...]
    trail_times: Array
    trails: Array  # (trail times, ends, 3)
    paths: Array  # (trail times, bodies, 3) of the body origins
    view: View
    enlarge: float  # factor on the deformation of beams

    def place(self, k: int, i: int, point: Array) -> Array:
        """World position in pose k of a point of link i, given in axes of the undeformed body."""
        return np.asarray(path_of(self.R, self.p, self.beams, i, point)[k])

    def between(self, k: int, connection: Any) -> Array:
        """World positions (2, 3) in pose k of the two places that a loop or a spring connects."""
        rows = {link.body.name: i for i, link in enumerate(self.model.links)}
        frames = [(rows.get(frame.body), np.array(frame.position)) for frame in loop_frames(self.model, connection)]
        return np.stack([at if body is None else self.place(k, body, at) for body, at in frames])

    @cached_property
    def free_lengths(self) -> tuple[float, ...]:
        """Of the springs between places [m]."""
        return free_lengths(self.model)

    def joint_frame(self, k: int, i: int) -> Array:
        """World position of the joint_frame of link i's joint on its parent; the body itself where nothing holds it."""
        link = self.model.links[i]
        if link.joint.kind in FREE_KINDS:
            return np.asarray(self.p[k, i])
        place = np.array(link.joint_frame.position, dtype=float)
        return place if link.parent < 0 else self.place(k, link.parent, place)

    def points(self, k: int) -> Array:
        """World points that hold pose k (n, 3)."""
        R, p = self.R[k], self.p[k]
        points = [p, *(self.joint_frame(k, i)[None, :] for i in range(len(self.parts)))]
        points += [p[i] + extreme_points(part) @ R[i].T for i, of_body in enumerate(self.parts) for part in of_body]
        points += [beam.outline(k) for beam in self.beams.values()]
        points += [self.between(k, spring) for spring in self.model.springs]
        return np.concatenate(points)

    @cached_property
    def size(self) -> float:
        """Extent of the robot itself in the last pose [m]."""
        return extent(self.points(-1)) or 1.0

    @property
    def is_held(self) -> bool:
        """Whether some root is held by the world."""
        return any(link.parent < 0 and link.joint.kind not in FREE_KINDS for link in self.model.links)


def make_scene(result: Recording, n_poses: int = 6, *, t: ArrayLike | None = None, enlarge: float = 1.0) -> Scene:
    """Placements at evenly spaced instants and the paths between them; with t at this time, or these times, alone.

    enlarge: factor on the deformation of beams; if it is not 1, the undeformed beams are shown too."""
    wanted = None if t is None else np.unique(np.asarray(t, dtype=np.float64))
    posed = _posed(result, wanted)
    is_local = enlarge != 1 and keeps_joint_frames(posed)
    R, p = posed.placements(enlarge=1.0 if is_local else enlarge)
    is_finite = np.isfinite(p).all(axis=(1, 2)) & np.isfinite(R).all(axis=(1, 2, 3))
    times, R, p = posed.t[is_finite], R[is_finite], p[is_finite]
    bent = _enlarged(posed, enlarge) if is_local else posed.stations(enlarge=enlarge)
    beams = {i: beam.poses(is_finite) for i, beam in _beams(posed, bent, enlarge, is_local).items()}
    model, points = result.model, ends(result.model)
    trails = np.stack([path_of(R, p, beams, end.body, end.point) for end in points], axis=1)
    # along a beam as well as in time nothing may leave the plane
    moving = [(R, p), *((beam.R.reshape(-1, 1, 3, 3), beam.p.reshape(-1, 1, 3)) for beam in beams.values())]
    view = choose_view(moving, trails.reshape(-1, 3))
    chosen = _evenly(times, n_poses) if wanted is None else _nearest(times, wanted)
    shown = slice(None) if wanted is None else slice(chosen[0], chosen[-1] + 1)
    return Scene(
        model,
        times[chosen],
        R[chosen],
        p[chosen],
        skeleton(model),
        {i: beam.poses(chosen) for i, beam in beams.items()},
        points,
        times[shown],
        trails[shown],
        p[shown],
        view,
        enlarge,
    )


def path_of(R: Array, p: Array, beams: dict[int, BentBeam], i: int, point: Array) -> Array:
    """World positions (times, 3) of a point of link i, given in axes of the undeformed body."""
    return beams[i].path(point) if i in beams else p[:, i] + R[:, i] @ point


def _posed(result: Recording, t: Array | None) -> Recording:
    """The run with rows where paths are drawn."""
    if t is not None:
        result.at(t)  # or a message
    if has_dense(result):
        times = np.linspace(*dense_range(result), _trail_count(result))
        times = times if t is None else np.union1d(times, t)
        return replace(result, t=times, q=result.at(times)[0])
    chosen = np.unique(np.linspace(0, len(result.t) - 1, _trail_count(result)).astype(int))
    return replace(result, t=result.t[chosen], q=result.q[chosen])


def keeps_joint_frames(posed: Recording) -> bool:
    """Whether bending moves no joint on a beam: then every beam can be enlarged by itself and all still fits."""
    R, p = posed.placements()
    for i, link in enumerate(posed.model.links):
        carrier = posed.model.links[link.parent].body if link.parent >= 0 else None
        if isinstance(carrier, Beam):
            joint_frame = np.einsum("tji,tj->ti", R[:, link.parent], p[:, i] - p[:, link.parent])
            if np.abs(joint_frame - link.joint_frame.position).max() > 1e-9 * carrier.length:
                return False
    return True


def _enlarged(posed: Recording, enlarge: float) -> dict[str, tuple[Array, Array]]:
    """Sections of every beam with their shift from the undeformed beam enlarged; its frame stays where it is."""
    R, p = posed.placements()
    R_more, _ = posed.placements(enlarge=enlarge)
    stations, more = posed.stations(), posed.stations(enlarge=enlarge)
    found = {}
    for i, link in enumerate(posed.model.links):
        if isinstance(link.body, Beam):
            _, placed = stations[link.body.name]
            # sections rotate against their own frame as they would if all were enlarged
            turned = (R[:, i] @ np.swapaxes(R_more[:, i], 1, 2))[:, None] @ more[link.body.name][0]
            x = np.linspace(0.0, link.body.length, placed.shape[1])
            straight = p[:, i, None] + R[:, i, None, :, 0] * x[:, None]
            found[link.body.name] = (turned, straight + enlarge * (placed - straight))
    return found


def _beams(
    posed: Recording, bent: dict[str, tuple[Array, Array]], enlarge: float, is_local: bool
) -> dict[int, BentBeam]:
    straight = {} if enlarge == 1 else _enlarged(posed, 0.0) if is_local else posed.stations(enlarge=0.0)
    beams, reached = {}, places(posed.model)
    for i, link in enumerate(posed.model.links):
        if isinstance(link.body, Beam):
            name = link.body.name
            line = straight[name][1][:, [0, -1]] if name in straight else np.zeros((0, 2, 3))
            arms = tuple(place for place in reached[i] if np.any(place[1:]))
            beams[i] = bent_beam(link.body, bent[name], line, arms)
    return beams


def _trail_count(result: Recording) -> int:
    """Fewer points along the paths of robots of very many bodies."""
    placed = len(result.model.links) + STATIONS * len(result.model.beams)
    return int(np.clip(MAX_PLACEMENTS // (20 * placed) * 20 + 1, 201, TRAIL_POINTS))


def _evenly(times: Array, count: int) -> Array:
    return _nearest(times, np.linspace(times[0], times[-1], count))


def _nearest(times: Array, wanted: Array) -> Array:
    """Rows of the times nearest to those wanted, both sorted."""
    after = np.clip(np.searchsorted(times, wanted), 1, max(len(times) - 1, 1))
    before = after - 1
    is_before = wanted - times[before] <= times[np.minimum(after, len(times) - 1)] - wanted
    return np.unique(np.where(is_before, before, np.minimum(after, len(times) - 1)))


def extent(points: Array) -> float:
    return float(np.max(np.ptp(points, axis=0)))

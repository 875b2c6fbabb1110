"""Beams as they bend: a band along the deformed axis, as high as the section looks from where one stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pliant.model.flexible import Beam
from pliant.model.sections import section_values
from pliant.view.picture.projection import Canvas, shade
from pliant.view.svg import Array

MIN_HEIGHT = 2.8  # of a band [px]


@dataclass(frozen=True)
class BentBeam:
    """A beam at every pose: n sections evenly spaced along it."""

    length: float  # [m]
    half: Array  # half edges along y and z of the sections (n, 2) [m]
    is_round: bool
    R: Array  # (times, n, 3, 3)
    p: Array  # (times, n, 3)
    straight: Array  # ends of the undeformed beam (times, 2, 3); no rows: not shown
    arms: tuple[Array, ...]  # places off the axis, where something is fixed to it; undeformed, body axes

    def poses(self, chosen: Any) -> BentBeam:
        """At some of its times."""
        straight = self.straight[chosen] if len(self.straight) else self.straight
        return replace(self, R=self.R[chosen], p=self.p[chosen], straight=straight)

    def path(self, point: Array) -> Array:
        """World positions (times, 3) of a point given on the undeformed beam, body axes."""
        place = np.clip(point[0] / self.length, 0.0, 1.0) * (self.p.shape[1] - 1)
        k = min(int(place), self.p.shape[1] - 2)
        share = place - k
        R = self.R[:, k + round(share)]
        axis = (1 - share) * self.p[:, k] + share * self.p[:, k + 1]
        return np.asarray(axis + R @ np.array([0.0, point[1], point[2]]))

    def outline(self, k: int) -> Array:
        """World points that hold pose k (n, 3)."""
        offsets = self.R[k, :, :, 1:] * self.half[:, None, :]
        points = [self.p[k] + sign * offsets[..., axis] for axis in (0, 1) for sign in (-1, 1)]
        ends = self.straight[k] if len(self.straight) else np.zeros((0, 3))
        return np.concatenate([*points, ends, *(self.path(arm)[k][None, :] for arm in self.arms)])


def half_edges(beam: Beam, count: int) -> Array:
    """Half edges along y and z of sections evenly spaced along a beam (count, 2) [m]."""
    values = section_values(beam.section, np.linspace(0.0, 1.0, count))
    if values.outer_y is None or values.outer_z is None:
        # a rectangle with the same moments
        return np.sqrt(3 * np.stack([values.moment_z, values.moment_y], axis=1) / values.area[:, None])
    return np.stack([values.outer_y, values.outer_z], axis=1)


def bent_beam(beam: Beam, placements: tuple[Array, Array], straight: Array, arms: tuple[Array, ...]) -> BentBeam:
    """Sections whose edges are not known are drawn as rectangles with the same moments."""
    R, p = placements
    is_round = section_values(beam.section, np.zeros(1)).is_round
    return BentBeam(beam.length, half_edges(beam, p.shape[1]), is_round, R, p, straight, arms)


def band(beam: BentBeam, canvas: Canvas, k: int) -> Array:
    """The silhouette of pose k, a polygon (n, 2) [px]."""
    points = canvas.pixels(beam.p[k])
    along = np.gradient(points, axis=0)
    length = np.linalg.norm(along, axis=1, keepdims=True)
    across = np.stack([-along[:, 1], along[:, 0]], axis=1) / np.maximum(length, 1e-9)
    # a pixel to the right is view.right, one down is -view.up
    normal = across[:, :1] * canvas.view.right - across[:, 1:] * canvas.view.up
    seen = np.abs(np.einsum("nji,nj->ni", beam.R[k], normal)[:, 1:]) * beam.half
    half = np.hypot(*seen.T) if beam.is_round else seen.sum(axis=1)
    width = np.maximum(canvas.scale * half, 0.5 * MIN_HEIGHT)[:, None]
    return np.concatenate([points + width * across, (points - width * across)[::-1]])


def faces(beam: BentBeam, canvas: Canvas, k: int) -> Iterator[tuple[str, Array]]:
    """Shade and corners of the sides of a beam with edges that look at us, far ones first; only where one sees them."""
    if beam.is_round or canvas.view.is_flat or canvas.scale * beam.half.max() < MIN_HEIGHT:
        return
    R, p = beam.R[k], beam.p[k]
    y, z = R[:, :, 1] * beam.half[:, :1], R[:, :, 2] * beam.half[:, 1:]
    edges = [p + y + z, p - y + z, p - y - z, p + y - z]
    sides = [(z, edges[0], edges[1]), (-y, edges[1], edges[2]), (-z, edges[2], edges[3]), (y, edges[3], edges[0])]
    found = [(out.mean(axis=0), np.concatenate([first, second[::-1]])) for out, first, second in sides]
    found += [(sign * R[end, :, 0], np.stack([edge[end] for edge in edges])) for end, sign in ((0, -1.0), (-1, 1.0))]
    seen = [(normal / np.linalg.norm(normal), face) for normal, face in found if normal @ canvas.view.toward > 0]
    for normal, face in sorted(seen, key=lambda one: canvas.depth(one[1].mean(axis=0))):
        yield shade(canvas.view, normal), face


def arm_lines(beam: BentBeam, k: int) -> Iterator[Array]:
    """From the axis to every place off it, in pose k, (2, 3)."""
    for arm in beam.arms:
        yield np.stack([beam.path(np.array([arm[0], 0.0, 0.0]))[k], beam.path(arm)[k]])

"""From the world to the picture: which way one looks at a robot, and how its points fall on pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.view.svg import Array

AZIMUTH, ELEVATION = np.radians(-58.0), np.radians(24.0)


@dataclass(frozen=True)
class View:
    """Three unit vectors of the world: to the right, up, and out of the picture."""

    right: Array
    up: Array
    toward: Array
    is_flat: bool


def _unit(*components: float) -> Array:
    return np.array(components, dtype=float)


# normal of the plane of motion: how to look at it (z comes first: planar models live in x-y)
FLAT_VIEWS = {
    2: View(_unit(1, 0, 0), _unit(0, 1, 0), _unit(0, 0, 1), True),
    1: View(_unit(1, 0, 0), _unit(0, 0, 1), _unit(0, -1, 0), True),
    0: View(_unit(0, 1, 0), _unit(0, 0, 1), _unit(1, 0, 0), True),
}


def spatial_view(azimuth: float = AZIMUTH, elevation: float = ELEVATION) -> View:
    """Axonometric, z up, seen from the given direction."""
    ca, sa, ce, se = np.cos(azimuth), np.sin(azimuth), np.cos(elevation), np.sin(elevation)
    return View(_unit(-sa, ca, 0), _unit(-se * ca, -se * sa, ce), _unit(ce * ca, ce * sa, se), False)


def choose_view(placements: Sequence[tuple[Array, Array]], points: Array) -> View:
    """Flat if all bodies keep to one coordinate plane and the robot is thin across it, else axonometric.

    placements: R (times, n, 3, 3), p (times, n, 3) of things that move as they did at first; points (n, 3): paths."""
    spread = np.ptp(np.concatenate([points, *(p.reshape(-1, 3) for _, p in placements)]), axis=0)
    size = float(np.max(spread)) or 1.0
    for normal, view in FLAT_VIEWS.items():
        turned = max(np.abs(R[:, :, normal, :] - R[:1, :, normal, :]).max() for R, _ in placements)
        shifted = max(np.abs(p[:, :, normal] - p[:1, :, normal]).max() for _, p in placements)
        if turned < 1e-6 and shifted < 1e-6 * size and spread[normal] < 0.15 * size:
            return view
    return spatial_view()


def shade(view: View, normal: Array) -> str:
    """Class of a face by the way it looks."""
    if view.is_flat or normal[2] > 0.5:
        return "top"
    return "left" if normal @ view.right < 0 else "right"


@dataclass(frozen=True)
class Canvas:
    """A picture's size and how metres become pixels on it."""

    view: View
    width: float  # [px]
    height: float  # [px]
    scale: float  # [px/m]
    centre: Array  # (2,) of the picture in the view's right and up [m]

    def pixels(self, points: Array) -> Array:
        """(..., 2) pixels of world points (..., 3)."""
        x = points @ self.view.right - self.centre[0]
        y = points @ self.view.up - self.centre[1]
        return np.stack([0.5 * self.width + self.scale * x, 0.5 * self.height - self.scale * y], axis=-1)

    def depth(self, point: Array) -> float:
        return float(point @ self.view.toward)


def fit(view: View, points: Array, width: float, heights: tuple[float, float], margin: float) -> Canvas:
    """A canvas that shows all points; its height lies between the two given."""
    flat = np.stack([points @ view.right, points @ view.up], axis=-1)
    low, high = flat.min(axis=0), flat.max(axis=0)
    size = np.maximum(high - low, 1e-9 + 1e-3 * float(np.max(high - low)))
    inner = width - 2 * margin
    height = float(np.clip(inner * size[1] / size[0] + 2 * margin, *heights))
    scale = float(min(inner / size[0], (height - 2 * margin) / size[1]))
    return Canvas(view, width, height, scale, 0.5 * (low + high))

"""Springs between two places as lines in pixels: coils, ropes that sag while they are slack, cylinders of dampers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pliant.model.springs import Spring
from pliant.view.svg import Array

TEETH = 9  # of a coil
LEAD = 0.12  # of its length, straight at either end
AT_REST = 1e-3  # of the length: elongations below have no colour
N_ROPE = 17  # points along a rope


def spring_kind(spring: Spring) -> str:
    """How it is drawn."""
    if spring.only == "tension":
        return "rope"
    return "coil" if spring.has_stiffness else "cylinder"


def spring_look(spring: Spring, length: float, free: float) -> str:
    """By the sense of its elastic force: "pulled", "pressed", or "thin" where there is none."""
    s = length - free
    is_idle = (spring.only == "tension" and s < 0.0) or (spring.only == "compression" and s > 0.0)
    if is_idle or not spring.has_stiffness or abs(s) <= AT_REST * max(length, free):
        return "thin"
    return "pulled" if s > 0.0 else "pressed"


def spring_lines(kind: str, ends: Array, weight: float, sag: float = 0.0) -> Iterator[tuple[Array, float]]:
    """(points, width) of every line between two ends (2, 2) [px]; weight: of a link [px]; sag: of a rope [px]."""
    a, b = ends
    along = b - a
    size = float(np.linalg.norm(along))
    across = np.array([-along[1], along[0]]) / max(size, 1e-9)
    if kind == "rope":
        share = np.linspace(0.0, 1.0, N_ROPE)[:, None]
        yield a + share * along + 4.0 * sag * share * (1.0 - share) * np.array([0.0, 1.0]), 1.6
    elif kind == "coil":
        share = np.linspace(LEAD, 1.0 - LEAD, 2 * TEETH + 1)[:, None]
        side = np.where(np.arange(2 * TEETH + 1) % 2 == 0, 0.0, np.where(np.arange(2 * TEETH + 1) % 4 == 1, 1.0, -1.0))
        yield np.vstack([a, a + share * along + 0.85 * weight * side[:, None] * across, b]), 1.6
    else:
        yield np.stack([a + 0.4 * along, b]), 0.25 * weight
        yield np.stack([a, a + 0.6 * along]), 0.7 * weight


def rope_sag(length: float, free: float) -> float:
    """How far a rope longer than the distance of its ends hangs down: a shallow parabola [m]."""
    return float(np.sqrt(0.375 * length * max(free - length, 0.0)))

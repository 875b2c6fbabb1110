"""Elliptic integrals and functions by the arithmetic-geometric mean, the motion of a pendulum by them, and
the elastica [abramowitz1964, 17.6, 16.4]. m1 = 1 - m is given, so that no digits are lost where m is close to 1."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

SMALLEST = 1e-300  # of m1: the separatrix itself, which takes for ever, is followed as far as this goes


def _means(m1: float) -> list[tuple[float, float, float]]:
    """(a, b, c) of every step, until c is rounding."""
    found = [(1.0, math.sqrt(max(m1, SMALLEST)), math.sqrt(max(1.0 - m1, 0.0)))]
    while found[-1][2] > 1e-16 * found[-1][0]:
        a, b, _ = found[-1]
        found.append((0.5 * (a + b), math.sqrt(a * b), 0.5 * (a - b)))
    return found


def quarter_period(m1: float) -> float:
    """K(m)."""
    return 0.5 * math.pi / _means(m1)[-1][0]


def incomplete(angle: float, m1: float) -> float:
    """F(angle, m), of any angle."""
    means = _means(m1)
    for a, b, _ in means[:-1]:
        turns = 2.0 * math.pi * round(angle / (2.0 * math.pi))
        angle += math.atan2(b * math.sin(angle), a * math.cos(angle)) + turns
    return angle / (2.0 ** (len(means) - 1) * means[-1][0])


def amplitude(u: Any, m1: float) -> NDArray[np.float64]:
    """am(u, m): where F is u."""
    means = _means(m1)
    angle: NDArray[np.float64] = 2.0 ** (len(means) - 1) * means[-1][0] * np.asarray(u, float)
    for a, _, c in means[:0:-1]:
        angle = 0.5 * (angle + np.arcsin(c / a * np.sin(angle)))
    return angle


def pendulum_motion(frequency: float, angle: float, rate: float, t: Any) -> tuple[Any, Any]:
    """Angle and rate of angle'' = -frequency^2 sin(angle) at the times t, swinging or rotating."""
    turns = 2.0 * math.pi * round(angle / (2.0 * math.pi))
    sine, cosine, half_rate = math.sin(0.5 * (angle - turns)), math.cos(0.5 * (angle - turns)), 0.5 * rate / frequency
    k = math.hypot(sine, half_rate)
    missing = (cosine - half_rate) * (cosine + half_rate)  # 1 - k^2
    t = np.asarray(t, float)
    if k == 0.0:
        return np.full_like(t, angle), np.zeros_like(t)
    if missing > 0.0:  # it swings
        phase = amplitude(frequency * t + incomplete(math.atan2(sine, half_rate), missing), missing)
        sn, cn = k * np.sin(phase), k * np.cos(phase)
        return turns + 2.0 * np.arctan2(sn, np.sqrt(missing + cn**2)), 2.0 * frequency * cn
    m1, sense = -missing / k**2, math.copysign(1.0, rate)
    phase = amplitude(k * frequency * t + incomplete(sense * 0.5 * (angle - turns), m1), m1)
    dn = np.sqrt(m1 + (1.0 - m1) * np.cos(phase) ** 2)
    return turns + 2.0 * sense * phase, 2.0 * sense * k * frequency * dn


def pendulum_period(frequency: float, angle: float, rate: float) -> float:
    """Of a swing there and back, or of a whole rotation."""
    cosine, half_rate = math.cos(0.5 * angle), 0.5 * rate / frequency
    missing = (cosine - half_rate) * (cosine + half_rate)
    if missing > 0.0:
        return 4.0 * quarter_period(missing) / frequency
    k = math.hypot(math.sin(0.5 * angle), half_rate)
    return 2.0 * quarter_period(-missing / k**2) / (k * frequency)


def elastica(load: float) -> tuple[float, float]:
    """Tip of a cantilever of length 1 and bending stiffness 1 under a force across its tip, exact.

    With s the sine of the tip's angle and sin theta = s (1 - u^2), the arc is sqrt(2 s / P) du / cos theta."""
    if load == 0.0:
        return 1.0, 0.0
    nodes, weights = np.polynomial.legendre.leggauss(400)
    u, weights = 0.5 * (nodes + 1.0), 0.5 * weights
    low, high = 0.0, 1.0
    for _ in range(100):
        s = 0.5 * (low + high)
        sine = s * (1.0 - u**2)
        arc = np.sqrt(2.0 * s / abs(load)) * weights / np.sqrt(1.0 - sine**2)
        low, high = (low, s) if arc.sum() > 1.0 else (s, high)
    return float(np.sqrt(2.0 * s / abs(load))), float(np.sign(load) * arc @ sine)

"""The four waves of a uniform beam vibrating at one frequency, in units of its length; no overflow, no cancellation.

om2 = mu L^4 omega^2 / EI, r2 = I / (A L^2), s2 = EI / (kGA L^2); r2 = s2 = 0 is the Euler-Bernoulli beam.
The state is deflection y, section rotation, moment (rotation') and shear force (gamma / s2):
    y' = rotation + s2 force,  rotation' = moment,  moment' = -force - om2 r2 rotation,  force' = -om2 y."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Waves(NamedTuple):
    """State at many places; of a family of waves: one row per wave."""

    y: Array
    rotation: Array
    moment: Array
    force: Array


class WaveNumbers(NamedTuple):
    a: float  # of the sines
    b2: float  # square of that of the exponentials; negative above the cutoff om2 r2 s2 = 1, where they are sines too


def wave_numbers(om2: float, r2: float, s2: float) -> WaveNumbers:
    """b2 by the product a^2 b2, which does not cancel."""
    a2 = 0.5 * om2 * (np.sqrt((r2 - s2) ** 2 + 4 / om2) + (r2 + s2))
    return WaveNumbers(float(np.sqrt(a2)), float(om2 * (1 - om2 * r2 * s2) / a2))


def waves(numbers: WaveNumbers, om2: float, s2: float, xi: Array) -> Waves:
    """sin a xi, cos a xi and two waves of b, at xi from 0 to 1: each entry (4, ...) like xi.

    For b > 1 exponentials that decay from either end; otherwise cosh b xi and b sinh b xi, continued to b2 < 0. Both
    pairs have the same orientation, so that the sign of an end determinant is continuous in om2."""
    a, b2 = numbers
    pairs = _decaying(np.sqrt(b2), om2, s2, xi) if b2 > 1 else _even_and_odd(b2, om2, s2, xi)
    sin, cos, p = np.sin(a * xi), np.cos(a * xi), a * a - om2 * s2
    return Waves(
        np.array([sin, cos, *pairs[0]]),
        np.array([p / a * cos, -p / a * sin, *pairs[1]]),
        np.array([-p * sin, -p * cos, *pairs[2]]),
        np.array([om2 / a * cos, -om2 / a * sin, *pairs[3]]),
    )


def _decaying(b: float, om2: float, s2: float, xi: Array) -> tuple[tuple[Array, Array], ...]:
    left, right, q = np.exp(-b * xi), np.exp(-b * (1 - xi)), b * b + om2 * s2
    return (left, right), (-q / b * left, q / b * right), (q * left, q * right), (om2 / b * left, -om2 / b * right)


def _even_and_odd(b2: float, om2: float, s2: float, xi: Array) -> tuple[tuple[Array, Array], ...]:
    b = np.sqrt(abs(b2))
    even = np.cosh(b * xi) if b2 > 0 else np.cos(b * xi)
    ratio = np.sinc(b * xi / np.pi) if b2 < 0 else np.sinh(b * xi) / b if b2 > 0 else np.ones_like(xi)
    odd = xi * ratio if b2 <= 0 else ratio  # sinh(b xi) / b
    q = b2 + om2 * s2
    return (even, b2 * odd), (q * odd, q * even), (q * even, q * b2 * odd), (-om2 * odd, -om2 * even)

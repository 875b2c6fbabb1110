"""Exact dynamic stiffness of a uniform piece of a beam, Euler-Bernoulli or Timoshenko, bending, stretch and torsion.

State of a section in one plane: deflection y, rotation r, force Q and moment M of what lies outboard on what lies
inboard; s: Laplace variable; mass, rotary: per length:
    y' = r + Q/kGA,   r' = M/EI,   Q' = mass s^2 y,   M' = rotary s^2 r - Q
The transfer matrix T = exp(N l) is the series of its exponential; a piece is at most about one radian of a wave long,
so that the series is short and the piece has no mode of its own with both ends held. The coordinates are the
displacement x of its start and e, by which its end moves more than a rigid piece would: x_end = X x + e. In these
nothing cancels, however slow the motion is: what is left of T without inertia is subtracted term by term."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.model.flexible import Beam
from pliant.model.sections import beam_values

Array = NDArray[np.float64]
Numbers = NDArray[Any]  # real or complex

TERMS = 21  # of the series: 1/21! is 2e-20
WAVE = 1.0  # [rad] of the shortest wave, the longest a piece may be


class Family(NamedTuple):
    """One way of deforming: components of the displacement (x y z, rotations about x y z) with signs, and per length
    inertia and stiffness. Bending has two components, deflection and rotation; stretch and torsion one."""

    components: tuple[int, ...]
    signs: tuple[float, ...]
    mass: float  # of the first component [kg/m, kg m]
    rotary: float  # of the second [kg m]
    stiffness: float  # EI, EA or GJ; inf: rigid
    shear: float  # kGA; inf: none


class BeamPiece(NamedTuple):
    """What a piece is made of, in axes of the beam."""

    length: float  # [m]
    families: tuple[Family, ...]
    stiffness_time: float  # damping per stiffness [s]

    @property
    def flexible(self) -> tuple[int, ...]:
        """Components in which the piece deforms."""
        return tuple(sorted(c for one in self.families if np.isfinite(one.stiffness) for c in one.components))


def beam_families(beam: Beam) -> tuple[Family, ...]:
    """Bending y, bending z, stretch, torsion. Where the model gives a family no shapes, the beam is rigid in it."""
    at = beam_values(beam, np.zeros(1))
    mass = float(at.mass[0])
    polar, about_y, about_z = (float(row[0]) if beam.rotary == "section" else 0.0 for row in at.rotary)
    y, z, stretch, torsion = (count > 0 for count in beam.families)

    def of(is_flexible: bool, stiffness: Array) -> float:
        return float(stiffness[0]) if is_flexible else np.inf

    shear_y, shear_z = (of(beam.has_shear, shear) for shear in (at.shear_y, at.shear_z))
    return (
        Family((1, 5), (1.0, 1.0), mass, about_z, of(y, at.bend_y), shear_y),
        Family((2, 4), (1.0, -1.0), mass, about_y, of(z, at.bend_z), shear_z),
        Family((0,), (1.0,), mass, 0.0, of(stretch, at.stretch), np.inf),
        Family((3,), (1.0,), polar, 0.0, of(torsion, at.twist), np.inf),
    )


def wave_number(families: tuple[Family, ...], s: float) -> float:
    """A bound of the wave numbers [1/m] at |s| [1/s]."""
    largest = 0.0
    for one in families:
        if not np.isfinite(one.stiffness):
            continue
        if len(one.components) == 1:
            largest = max(largest, s * np.sqrt(one.mass / one.stiffness))
            continue
        p = s**2 * (one.mass / one.shear + one.rotary / one.stiffness)
        q = s**2 * one.mass / one.stiffness * (1.0 + s**2 * one.rotary / one.shear)
        largest = max(largest, np.sqrt(0.5 * (p + np.sqrt(p * p + 4.0 * q))))
    return float(largest)


def piece_stiffness(piece: BeamPiece, s2: Numbers, s: Numbers) -> Numbers:
    """(frequencies, 6 + n, 6 + n): forces on x and e of the piece per displacement, axes of the beam; s2 = s^2."""
    order = {component: 6 + k for k, component in enumerate(piece.flexible)}
    moduli = 1.0 + piece.stiffness_time * s if piece.stiffness_time else np.ones(len(s2))
    out = np.zeros((len(s2), 6 + len(order), 6 + len(order)), np.result_type(s2, moduli))
    for one in piece.families:
        signs = np.array(one.signs)
        if not np.isfinite(one.stiffness):
            places = list(one.components)
            block = s2[:, None, None] * _rigid(one, piece.length)
        else:
            places = [*one.components, *(order[component] for component in one.components)]
            block, signs = _flexible(one, piece.length, s2, moduli), np.tile(signs, 2)
        out[np.ix_(range(len(s2)), places, places)] += block * np.outer(signs, signs)
    return out


def _rigid(one: Family, l: float) -> Array:
    """Inertia of a piece that does not deform, about its start."""
    if len(one.components) == 1:
        return np.array([[one.mass * l]])
    half = one.mass * l**2 / 2
    return np.array([[one.mass * l, half], [half, one.mass * l**3 / 3 + one.rotary * l]])


def _flexible(one: Family, l: float, s2: Numbers, moduli: Numbers) -> Numbers:
    """The block of (x, e) of one family."""
    n = len(one.components)
    static, added = _transfer(one, l, s2, moduli)
    X = static[:, :n, :n]
    T = static + added
    B, C, D = T[:, :n, n:], added[:, n:, :n], T[:, n:, n:]
    Xt = np.swapaxes(X, 1, 2)
    H = np.linalg.inv(B)
    HY, W = H @ added[:, :n, :n], Xt @ added[:, n:, n:]
    ee, se = D @ H, W @ H
    ss = Xt @ C - W @ HY
    block = np.concatenate(
        [np.concatenate([ss, se], axis=2), np.concatenate([np.swapaxes(se, 1, 2), ee], axis=2)], axis=1
    )
    return np.asarray(0.5 * (block + np.swapaxes(block, 1, 2)))


def _transfer(one: Family, l: float, s2: Numbers, moduli: Numbers) -> tuple[Numbers, Numbers]:
    """exp(N l) without inertia, and what inertia adds to it.

    By Cayley and Hamilton N^4 = P N^2 - R (of one component N^2 = P), so that all higher powers are sums of the lowest
    with numbers as weights: the series are summed over these."""
    static, rest = _rates(one, s2, moduli)
    N, eye = static + rest, np.eye(2 * len(one.components))
    P = one.mass * s2 / (one.stiffness * moduli)
    if len(one.components) == 1:
        even = odd = np.ones(np.shape(P), np.result_type(P))
        evens, odds = np.zeros_like(even), np.zeros_like(odd)
        for k in range(2, TERMS, 2):
            even, odd = even * P * (l * l / (k * (k - 1))), odd * P * (l * l / (k * (k + 1)))
            evens, odds = evens + even, odds + odd
        return eye + l * static, l * rest + evens[:, None, None] * eye + (l * odds)[:, None, None] * N
    sheared = s2 * _shear_compliance(one, moduli)
    R = P * (1.0 + one.rotary * sheared)
    P = one.mass * sheared + one.rotary * s2 / (one.stiffness * moduli)
    static2, N2 = static @ static, N @ N
    static3, N3 = static2 @ static, N2 @ N
    # weights of 1, N, N^2, N^3 in N^k l^k/k!, and their sums from k = 4 on
    weights = [np.zeros(np.shape(P), np.result_type(P)) for _ in range(3)] + [np.full(np.shape(P), l**3 / 6.0)]
    sums = [np.zeros_like(P) for _ in range(4)]
    for k in range(4, TERMS):
        w0, w1, w2, w3 = weights
        weights = [part * (l / k) for part in (-R * w3, w0, w1 + P * w3, w2)]
        sums = [total + part for total, part in zip(sums, weights, strict=True)]
    bare = eye + l * static + (l**2 / 2.0) * static2 + (l**3 / 6.0) * static3
    added = l * rest + (l**2 / 2.0) * (N2 - static2) + (l**3 / 6.0) * (N3 - static3)
    c0, c1, c2, c3 = (total[:, None, None] for total in sums)
    return bare, added + c0 * eye + c1 * N + c2 * N2 + c3 * N3


def _shear_compliance(one: Family, moduli: Numbers) -> Numbers:
    """1/kGA; 0 without shear."""
    return np.asarray(1.0 / (one.shear * moduli)) if np.isfinite(one.shear) else np.zeros_like(moduli)


def _rates(one: Family, s2: Numbers, moduli: Numbers) -> tuple[Numbers, Numbers]:
    """N of the state (displacements, forces): without inertia, and what inertia adds."""
    n = len(one.components)
    static = np.zeros((len(s2), 2 * n, 2 * n), np.result_type(s2, moduli))
    rest = np.zeros_like(static)
    if n == 1:
        static[:, 0, 1] = 1.0 / (one.stiffness * moduli)
        rest[:, 1, 0] = one.mass * s2
        return static, rest
    static[:, 0, 1], static[:, 0, 2] = 1.0, _shear_compliance(one, moduli)
    static[:, 1, 3], static[:, 3, 2] = 1.0 / (one.stiffness * moduli), -1.0
    rest[:, 2, 0], rest[:, 3, 1] = one.mass * s2, one.rotary * s2
    return static, rest

"""How many modes a uniform beam has below a frequency: the theorem of Wittrick and Williams (1971).

The count is the number of negative eigenvalues of the dynamic stiffness at the nodes, plus the modes of the elements
with all nodes held. Elements are at most 1/a long, a the wave number of the sines, and have none: a clamped beam, thin
or stocky, is at least pi/a long at its first mode. 2^k elements are joined by doubling, so that a count costs k steps:
J(2 elements) = 2 J(1) + negative eigenvalues of the stiffness at the inner node."""

import numpy as np
from numpy.typing import NDArray

from pliant.beams.waves import wave_numbers

Array = NDArray[np.float64]

TERMS = 30  # of the exponential series; the argument is at most 1


def modes_below(om2: float, ends: str, r2: float, s2: float, loads: tuple[float, float, float]) -> int:
    """Loads: tip mass, tip inertia, hub inertia, in units of the beam's mass and length."""
    a = wave_numbers(om2, r2, s2).a
    doublings = max(0, int(np.ceil(np.log2(a))))
    near, across, far = _element(om2, r2, s2, a, a / 2**doublings)
    inside = 0
    for _ in range(doublings):
        inner = far + near
        inside = 2 * inside + _negatives(inner)
        to_near, to_far = np.linalg.solve(inner, across.T), np.linalg.solve(inner, across)
        near, across, far = near - across @ to_near, -across @ to_far, far - across.T @ to_far
    tip_mass, tip_inertia, hub_inertia = loads
    near[1, 1] -= om2 * hub_inertia / a
    far -= np.diag([om2 * tip_mass / a**3, om2 * tip_inertia / a])
    whole = np.block([[near, across], [across.T, far]])
    free = [i for i, held in enumerate(_held(ends[0]) + _held(ends[1])) if not held]
    return inside + (_negatives(whole[np.ix_(free, free)]) if free else 0)


def _held(end: str) -> list[bool]:
    """Deflection and rotation at an end."""
    return {"c": [True, True], "s": [True, False], "f": [False, False]}[end]


def _negatives(symmetric: Array) -> int:
    return int(np.count_nonzero(np.linalg.eigvalsh(0.5 * (symmetric + symmetric.T)) < 0))


def _element(om2: float, r2: float, s2: float, a: float, length: float) -> tuple[Array, Array, Array]:
    """Dynamic stiffness (start-start, start-end, end-end) of an element, length unit 1/a, by its transfer matrix."""
    # state: y, rotation/a, force/a^3, moment/a^2
    rates = np.zeros((4, 4))
    rates[0, 1], rates[0, 2] = 1, s2 * a**2
    rates[1, 3] = 1
    rates[2, 0] = -om2 / a**4
    rates[3, 1], rates[3, 2] = -om2 * r2 / a**2, -1
    term = transfer = np.eye(4)
    for n in range(1, TERMS):
        term = term @ rates * (length / n)
        transfer = transfer + term
    across = np.asarray(np.linalg.inv(transfer[:2, 2:]))
    near, far = across @ transfer[:2, :2], transfer[2:, 2:] @ across
    return 0.5 * (near + near.T), -across, 0.5 * (far + far.T)

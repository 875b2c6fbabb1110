"""Natural frequencies without dampers by counting, none missed; shapes by inverse iteration.

The squares of the frequencies are where the count of negative pivots (riccati.py) jumps: the real axis is divided until
every jump lies in an interval of its own, or several in one that is as narrow as can be; Rayleigh's quotient of the
shapes there gives the last digits. So repeated frequencies, motions that nothing holds (0) and those that fall over
(negative squares) are all found, as often as they occur."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pliant.linear.transfer_matrix.beam_elements import piece_stiffness
from pliant.linear.transfer_matrix.chain import WORLD, Chain
from pliant.linear.transfer_matrix.riccati import EPS, TINY, Loads, Motion, Numbers, Sweep, in_world, lumped

Array = NDArray[np.float64]
Complexes = NDArray[np.complex128]

MARGIN = 16.0  # between what rounding gives motions that nothing holds and what counts as 0
LEAST = 1e-20  # square [1/s^2]: what is counted below is 0
FIRST, LAST = 1e-12, 1e40  # squares [1/s^2] between which the first modes are looked for
ROUNDING = 1e-14  # of the highest square: what lies below is 0
BATCH = 96  # squares per sweep
WIDTH = 1e-7  # relative, of an interval that is divided no more: the shape says the rest
PASSES = ((1e-4, 1e-6), (1e-6, 3e-8))  # squares this close have their shapes found together, this far beside them
CLUSTER, SHIFT = PASSES[-1]
ITERATIONS = 4  # of inverse iteration
LOST = 10.0  # times the rounding of single parts: that of all sums
BESIDE_ZERO = 1e-6  # of the lowest square: where motions that nothing holds are looked for

Chains = Callable[[float], Chain]  # for frequencies up to [rad/s]


# --- undamped: squares by their count --------------------------------------------------------------------------------


def count_below(chains: Chains, squares: Array) -> NDArray[np.int64]:
    """How many squares of natural frequencies lie below each of these."""
    chain = chains(float(np.sqrt(np.max(np.abs(squares)))))
    out = [
        Sweep(chain, -part, np.zeros(len(part)), counts=True).count
        for part in np.array_split(squares, -(-len(squares) // BATCH))
    ]
    return np.concatenate(out)


def natural_squares(chains: Chains, count: int | None, below: float, noise: float) -> tuple[Array, float]:
    """Squares of the first `count` natural frequencies, or of all below `below` [rad/s], and what counts as 0 among
    them: rounding, at least noise."""
    unheld = chains(0.0).n_unheld
    high = below**2 if count is None else max(noise, FIRST)
    if count is not None:
        total = chains(0.0).n_coordinates
        count = count if total is None else min(count, total)
        while count_below(chains, np.array([high]))[0] < max(count, unheld or 0) and high < LAST:
            high *= 64.0
    if unheld is None:
        zero = max(noise, ROUNDING * high)
        high *= 64.0 if count is not None else 1.0  # beyond what rounding may have counted
        low = -zero
        while count_below(chains, np.array([low]))[0] > 0:
            low *= 16.0
    else:
        zero = _largest_zero(chains, unheld, high)
        low = -zero
    knots = np.unique([low, -zero, zero, max(high, 2.0 * zero)])
    counts = count_below(chains, knots)
    if unheld is not None:
        counts[0] = 0  # springs alone make nothing fall over: what is counted there is rounding
    wanted = int(counts[-1]) if count is None else min(count, int(counts[-1]))
    while True:
        counts = np.maximum.accumulate(counts)
        jumps = np.flatnonzero((np.diff(counts) > 0) & (counts[:-1] < wanted) & ~_is_narrow(knots, zero))
        if not len(jumps):
            break
        inner = max(1, BATCH // len(jumps))
        new = np.unique(np.concatenate([_between(knots[k], knots[k + 1], inner) for k in jumps]))
        knots, counts = np.concatenate([knots, new]), np.concatenate([counts, count_below(chains, new)])
        order = np.argsort(knots, kind="stable")
        knots, counts = knots[order], counts[order]
    middles = 0.5 * (knots[:-1] + knots[1:])
    found = np.repeat(middles, np.diff(counts))[:wanted]
    found = np.where(np.abs(found) <= zero, 0.0, found)
    return polished(chains(float(np.sqrt(np.max(np.abs(found), initial=0.0)))), found, zero)


def _largest_zero(chains: Chains, unheld: int, high: float) -> float:
    """The lowest square below which all motions that nothing holds are counted, wherever rounding has put them; with a
    margin, unless a slow vibration lies there."""
    if unheld == 0:
        return LEAST
    tried = np.geomspace(LEAST, max(high, FIRST), BATCH - 1)
    counts = count_below(chains, np.append(tried, high))[:-1]
    if not np.any(counts >= unheld):
        return high
    k = int(np.argmax(counts >= unheld))
    zero, wide = float(tried[k]), min(float(MARGIN * tried[k]), high)
    return wide if count_below(chains, np.array([wide, high]))[0] == counts[k] else zero


def _is_narrow(knots: Array, zero: float) -> NDArray[np.bool_]:
    """Which intervals are one number; [-zero, zero] is."""
    near, far = knots[:-1], knots[1:]
    size = np.maximum(np.abs(near), np.abs(far))
    middle = 0.5 * (near + far)
    return (far - near <= WIDTH * size) | (middle <= near) | (middle >= far) | ((near >= -zero) & (far <= zero))


def _between(near: float, far: float, inner: int) -> Array:
    """Points inside an interval of one sign, evenly in their logarithms where it is wide."""
    if abs(near) > 2.0 * abs(far) or abs(far) > 2.0 * abs(near):
        points = np.sign(near + far) * np.geomspace(abs(near), abs(far), inner + 2)[1:-1]
    else:
        points = np.linspace(near, far, inner + 2)[1:-1]
    return np.asarray(points[(points > near) & (points < far)])


# --- shapes ----------------------------------------------------------------------------------------------------------


def polished(chain: Chain, squares: Array, zero: float) -> tuple[Array, float]:
    """Squares known to the width of their intervals, made exact: Rayleigh's quotient of shapes by inverse iteration;
    and what counts as 0 among them, with the rounding of the stiffest parts that a slow motion goes through."""
    for gap, shift in PASSES:
        new, may_be_lost = squares.copy(), True
        for group, motion, at in _grouped_shapes(chain, squares, zero, gap, shift):
            if abs(squares[group[0]]) <= zero:
                continue
            s2, s = np.array([-at]), np.zeros(1)
            left, mass = (power(chain, motion, forces_of(chain, motion, blocks(chain, s2, s))) for blocks in BLOCKS)
            found = at + np.sort(_generalised(left[0], mass[0]))
            is_near = np.abs(found - squares[group]) <= 3.0 * WIDTH * np.abs(squares[group])
            new[group] = np.where(is_near, found, squares[group])
            if may_be_lost:  # the slowest first; those beyond one that is known are known
                lost = _rounding(chain, motion, s2) / np.diagonal(mass[0])
                hidden = np.abs(new[group]) <= lost
                zero = max(zero, float(np.max(lost[hidden], initial=0.0)))
                may_be_lost = bool(np.any(hidden)) or squares[group[0]] < 0.0
        squares = np.sort(np.where(np.abs(new) <= zero, 0.0, new))
    return squares, zero


def _rounding(chain: Chain, motion: Motion, s2: Array) -> Array:
    """Rounding of twice the potential energy of motions: of the sizes of its parts, which may cancel as those of a
    spring between two coordinates that move together."""
    sizes = Motion([np.abs(x) for x in motion.x], [np.abs(e) for e in motion.e])
    own, joining = stiffness(chain, s2, np.zeros(1))
    forces = forces_of(chain, sizes, ([np.abs(block) for block in own], [np.abs(block) for block in joining]))
    return np.asarray(LOST * EPS * np.diagonal(power(chain, sizes, forces)[0]))


def _generalised(A: Array, M: Array) -> Array:
    """Eigenvalues of A x = value M x, M positive."""
    L = np.linalg.cholesky(0.5 * (M + M.T))
    half = np.linalg.solve(L, np.linalg.solve(L, 0.5 * (A + A.T)).T)
    return np.asarray(np.linalg.eigvalsh(0.5 * (half + half.T)))


def shapes(chain: Chain, squares: Array, zero: float) -> Motion:
    """x and e of undamped modes, one column per square, orthogonal in the kinetic energy, which is 1/2 s^2 of each."""
    return joined(chain, [motion for _, motion, _ in _grouped_shapes(chain, squares, zero, *PASSES[-1])])


def joined(chain: Chain, parts: list[Motion]) -> Motion:
    """Columns of all parts."""
    return Motion(
        [np.concatenate([part.x[k][0] for part in parts], axis=1) for k in range(len(chain.stations))],
        [np.concatenate([part.e[k][0] for part in parts], axis=1) for k in range(len(chain.stations))],
    )


def _grouped_shapes(
    chain: Chain, squares: Array, zero: float, gap: float, shift: float
) -> list[tuple[NDArray[np.int64], Motion, float]]:
    """Of squares alike to `gap`: their numbers, their shapes, and the square beside them at which these were found.

    Groups of one size are found together."""
    apart = np.diff(squares) > np.maximum(gap * np.abs(squares[1:]), zero)
    groups = np.split(np.arange(len(squares)), np.flatnonzero(apart) + 1) if len(squares) else []
    lowest = min((abs(squares[group[0]]) for group in groups if abs(squares[group[0]]) > zero), default=1.0)
    middles = [float(np.mean(squares[group])) for group in groups]
    beside = [at * (1.0 + shift) if abs(at) > zero else -BESIDE_ZERO * lowest for at in middles]
    found: dict[int, Motion] = {}
    for size in {len(group) for group in groups}:
        chosen = [k for k, group in enumerate(groups) if len(group) == size]
        motion = group_shapes(chain, np.array([beside[k] for k in chosen]), size)
        found |= {k: motion.at(np.array([row])) for row, k in enumerate(chosen)}
    return [(groups[k], found[k], beside[k]) for k in range(len(groups))]


def random_loads(chain: Chain, n: int) -> Loads:
    rng = np.random.default_rng(0)
    return Loads(
        n,
        {k: rng.normal(size=(6, n)) for k in range(len(chain.stations))},
        {k: rng.normal(size=(one.n, n)) for k, one in enumerate(chain.stations)},
        {},
    )


def group_shapes(chain: Chain, squares: Array, n: int) -> Motion:
    """n shapes for each square, of those whose squares are next to it."""
    s2, s = -squares, np.zeros(len(squares))
    loads = random_loads(chain, n)
    mass = inertia(chain, s2, s)
    for _ in range(ITERATIONS):
        motion = Sweep(chain, s2, s, loads, counts=True).motion()
        gram = power(chain, motion, forces_of(chain, motion, mass))
        values, V = np.linalg.eigh(0.5 * (gram + np.swapaxes(gram, 1, 2)))
        motion = motion.times(V / np.sqrt(np.maximum(values, TINY))[:, None, :])
        loads = forces_of(chain, motion, mass)
    return motion


Blocks = tuple[list[Numbers], list[Numbers]]  # of stations (.., 6, 6), of what joins them (.., 6 + n, 6 + n)


def inertia(chain: Chain, s2: Numbers, s: Numbers) -> Blocks:
    """d/ds^2 of all forces, s (of dampers) held: the mass that a motion feels at this frequency, real s2."""
    step = 1e-30 * max(1.0, float(np.max(np.abs(s2))))
    pieces = [
        in_world(piece_stiffness(piece, s2 + 1j * step, s).imag / step, turn) for piece, turn in chain.pieces
    ]  # fmt: skip
    return [one.own_M for one in chain.stations], [
        one.M + (pieces[one.piece] if one.piece >= 0 else 0.0) for one in chain.stations
    ]


def stiffness(chain: Chain, s2: Numbers, s: Numbers) -> Blocks:
    """All forces per displacement."""
    pieces = [in_world(piece_stiffness(piece, s2, s), turn) for piece, turn in chain.pieces]
    own = [one.own_K + one.own_M * s2[:, None, None] for one in chain.stations]
    joining = [lumped(one, s2, s) + (pieces[one.piece] if one.piece >= 0 else 0.0) for one in chain.stations]
    return own, joining


BLOCKS = (stiffness, inertia)


def forces_of(chain: Chain, motion: Motion, blocks: Blocks) -> Loads:
    """Forces blocks times the motion, as loads."""
    own, joining = blocks
    n = motion.x[0].shape[-1] if motion.x else 0
    at = {k: own[k] @ motion.x[k] for k in range(len(chain.stations))}
    on = {}
    for k, one in enumerate(chain.stations):
        x = np.zeros_like(motion.x[k]) if one.parent == WORLD else motion.x[one.parent]
        force = joining[k] @ np.concatenate([x, motion.e[k]], axis=-2)
        if one.parent != WORLD:
            at[one.parent] = at[one.parent] + force[..., :6, :]
        on[k] = force[..., 6:, :]
    return Loads(n, at, on, {})


def power(chain: Chain, motion: Motion, loads: Loads) -> Numbers:
    """(frequencies, columns, columns): motion times loads."""
    total = sum(np.swapaxes(motion.x[k], -1, -2) @ loads.at_stations[k] for k in range(len(chain.stations)))
    return np.asarray(
        total + sum(np.swapaxes(motion.e[k], -1, -2) @ loads.on_joints[k] for k in range(len(chain.stations)))
    )

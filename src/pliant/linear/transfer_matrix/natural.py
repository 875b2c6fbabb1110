"""Natural frequencies by counting, none missed; shapes by inverse iteration; damped ones by Newton's method.

The squares of the undamped frequencies are where the count of negative pivots (riccati.py) jumps: the real axis is
divided until every jump is known to rounding. So repeated frequencies, motions that nothing holds (0) and those that
fall over (negative squares) are all found, as often as they occur. Complex eigenvalues of damped models start from the
modes of the pieces' series to s^2, with all dampers, and are made exact on the Riccati sweep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.errors import SimulationError
from pliant.linear.transfer_matrix.beam_elements import piece_stiffness
from pliant.linear.transfer_matrix.chain import WORLD, Chain
from pliant.linear.transfer_matrix.riccati import TINY, Loads, Motion, Numbers, Sweep, in_world, lumped

Array = NDArray[np.float64]
Complexes = NDArray[np.complex128]

FIRST, LAST = 1e-12, 1e40  # squares [1/s^2] between which the first modes are looked for
ROUNDING = 1e-14  # of the highest square: what lies below is 0
BATCH = 96  # squares per sweep
WIDTH = 1e-7  # relative, of an interval that is divided no more: the shape says the rest
PASSES = ((1e-4, 1e-6), (1e-6, 3e-8))  # squares this close have their shapes found together, this far beside them
CLUSTER, SHIFT = PASSES[-1]
ITERATIONS = 4  # of inverse iteration
BESIDE_ZERO = 1e-6  # of the lowest square: where motions that nothing holds are looked for
REACH, MIN_DENSE = 8.0, 120  # times the highest frequency, and how many: modes that start damped ones
MAX_NEWTON = 40
REAL = 1e-12  # relative, of imaginary parts that are rounding
DRIFT = 0.1  # relative, by which Newton's method may move from its start

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
    high = below**2 if count is None else max(noise, FIRST)
    if count is not None:
        total = chains(0.0).n_coordinates
        count = count if total is None else min(count, total)
        while count_below(chains, np.array([high]))[0] < count and high < LAST:
            high *= 16.0
    zero = max(noise, ROUNDING * high)
    low = -zero
    while count_below(chains, np.array([low]))[0] > 0:
        low *= 16.0
    knots = np.unique([low, -zero, zero, max(high, 2.0 * zero)])
    counts = count_below(chains, knots)
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
    return polished(chains(float(np.sqrt(np.max(np.abs(found), initial=0.0)))), found, zero), zero


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


def polished(chain: Chain, squares: Array, zero: float) -> Array:
    """Squares known to the width of their intervals, made exact: Rayleigh's quotient of shapes by inverse iteration."""
    for gap, shift in PASSES:
        new = squares.copy()
        for group, motion, at in _grouped_shapes(chain, squares, zero, gap, shift):
            if abs(squares[group[0]]) <= zero:
                continue
            s2, s = np.array([-at]), np.zeros(1)
            left, mass = (_power(chain, motion, forces_of(chain, motion, blocks(chain, s2, s))) for blocks in BLOCKS)
            found = at + np.sort(_generalised(left[0], mass[0]))
            is_near = np.abs(found - squares[group]) <= 3.0 * WIDTH * np.abs(squares[group])
            new[group] = np.where(is_near, found, squares[group])
        squares = np.sort(new)
    return squares


def _generalised(A: Array, M: Array) -> Array:
    """Eigenvalues of A x = value M x, M positive."""
    L = np.linalg.cholesky(0.5 * (M + M.T))
    half = np.linalg.solve(L, np.linalg.solve(L, 0.5 * (A + A.T)).T)
    return np.asarray(np.linalg.eigvalsh(0.5 * (half + half.T)))


def shapes(chain: Chain, squares: Array, zero: float) -> Motion:
    """x and e of undamped modes, one column per square, orthogonal in the kinetic energy, which is 1/2 s^2 of each."""
    return _joined(chain, [motion for _, motion, _ in _grouped_shapes(chain, squares, zero, *PASSES[-1])])


def _joined(chain: Chain, parts: list[Motion]) -> Motion:
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
        motion = _group_shapes(chain, np.array([beside[k] for k in chosen]), size)
        found |= {k: motion.at(np.array([row])) for row, k in enumerate(chosen)}
    return [(groups[k], found[k], beside[k]) for k in range(len(groups))]


def _random_loads(chain: Chain, n: int) -> Loads:
    rng = np.random.default_rng(0)
    return Loads(
        n,
        {k: rng.normal(size=(6, n)) for k in range(len(chain.stations))},
        {k: rng.normal(size=(one.n, n)) for k, one in enumerate(chain.stations)},
        {},
    )


def _clusters(squares: Array, zero: float) -> list[NDArray[np.int64]]:
    """Numbers of squares that are alike."""
    apart = np.diff(squares) > np.maximum(CLUSTER * np.abs(squares[1:]), zero)
    return np.split(np.arange(len(squares)), np.flatnonzero(apart) + 1) if len(squares) else []


def _group_shapes(chain: Chain, squares: Array, n: int) -> Motion:
    """n shapes for each square, of those whose squares are next to it."""
    s2, s = -squares, np.zeros(len(squares))
    loads = _random_loads(chain, n)
    mass = inertia(chain, s2, s)
    for _ in range(ITERATIONS):
        motion = Sweep(chain, s2, s, loads, counts=True).motion()
        gram = _power(chain, motion, forces_of(chain, motion, mass))
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


def _power(chain: Chain, motion: Motion, loads: Loads) -> Numbers:
    """(frequencies, columns, columns): motion times loads."""
    total = sum(np.swapaxes(motion.x[k], -1, -2) @ loads.at_stations[k] for k in range(len(chain.stations)))
    return np.asarray(
        total + sum(np.swapaxes(motion.e[k], -1, -2) @ loads.on_joints[k] for k in range(len(chain.stations)))
    )


# --- damped ----------------------------------------------------------------------------------------------------------


@dataclass
class Assembled:
    """M, C, K of all free coordinates e, pieces of beams by their series to s^2."""

    M: Array
    C: Array
    K: Array
    columns: list[NDArray[np.int64]]  # of every station's free e


def assemble(chain: Chain) -> Assembled:
    """Dense matrices: displacements of all stations per coordinate, times their blocks."""
    none = np.zeros(1)
    still = [in_world(piece_stiffness(piece, none, none), turn)[0] for piece, turn in chain.pieces]
    mass = inertia(chain, none, none)
    places = np.cumsum([0, *(len(one.free) for one in chain.stations)])
    n = int(places[-1])
    columns = [np.arange(places[k], places[k + 1]) for k in range(len(chain.stations))]
    M, C, K = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    rows: list[Array] = []
    for k, one in enumerate(chain.stations):
        at = np.zeros((6, n)) if one.parent == WORLD else rows[one.parent]
        own = np.zeros((one.n, n))
        own[one.free, columns[k]] = 1.0
        rows.append(one.X @ at + one.G @ own)
        both = np.concatenate([at, own])
        static = one.K + (still[one.piece] if one.piece >= 0 else 0.0)
        damping = one.C
        if one.piece >= 0:
            damping = damping + chain.pieces[one.piece][0].stiffness_time * still[one.piece]
        joining = np.asarray(mass[1][k])
        M += both.T @ (joining[0] if joining.ndim == 3 else joining) @ both + rows[k].T @ one.own_M @ rows[k]
        K += both.T @ static @ both + rows[k].T @ one.own_K @ rows[k]
        if np.any(damping):
            C += both.T @ damping @ both
    return Assembled(M, C, K, columns)


def damped_eigenvalues(chains: Chains, squares: Array, count: int | None, below: float, zero: float) -> Complexes:
    """By rising size, one of a conjugate pair; squares: of the undamped frequencies."""
    fastest = below if count is None else float(np.sqrt(np.max(np.abs(squares), initial=zero)))
    n_zero = int(np.sum(squares == 0.0))
    for _ in range(4):
        chain = chains(fastest)
        start, vectors, parts = _start(chain, n_zero, fastest)
        chosen = np.abs(start) <= below * (1.0 + DRIFT) if count is None else np.arange(len(start)) < count - n_zero
        values = _newton(chain, start[chosen], vectors[:, chosen], parts)
        drift = np.abs(values - start[chosen]) / np.maximum(np.abs(values), 1e-300)
        if np.all(drift <= DRIFT):
            break
        fastest *= 2.0
    else:
        raise SimulationError(
            f"transfer: Newton's method did not reach eigenvalue {start[chosen][np.argmax(drift)]:.4g} 1/s from its "
            "start; ask for fewer modes, or pliant.modes(model)"
        )
    values = values[np.argsort(np.abs(values), kind="stable")]
    found = np.concatenate([np.zeros(n_zero, complex), values])
    return found[np.abs(found) <= below] if count is None else found[:count]


def damped_shapes(chain: Chain, values: Complexes) -> Motion:
    """x and e of the modes, one column per eigenvalue."""
    n_zero = int(np.sum(values == 0.0))
    lowest = float(np.min(np.abs(values[n_zero:]) ** 2, initial=1.0))
    parts = [_group_shapes(chain, np.array([-BESIDE_ZERO * lowest]), n_zero)] if n_zero else []
    for group in _complex_clusters(values[n_zero:]):
        at = complex(np.mean(values[n_zero:][group])) * (1.0 + SHIFT)
        parts.append(_damped_group(chain, at, len(group)))
    return _joined(chain, parts)


def _complex_clusters(values: Complexes) -> list[list[int]]:
    """Numbers of eigenvalues that are alike; they stand next to each other but for others of the same size."""
    groups: list[list[int]] = []
    for k, value in enumerate(values):
        if groups and abs(values[groups[-1][0]] - value) <= CLUSTER * abs(value):
            groups[-1].append(k)
        else:
            groups.append([k])
    return groups


def _damped_group(chain: Chain, s: complex, n: int) -> Motion:
    """n shapes whose eigenvalues are next to s."""
    at = np.array([s])
    loads = _random_loads(chain, n)
    for _ in range(ITERATIONS):
        motion = Sweep(chain, at * at, at, loads).motion()
        whole = np.concatenate([np.concatenate([x[0] for x in motion.x]), *(e[0] for e in motion.e)])
        turn = np.linalg.inv(np.linalg.qr(whole, mode="r"))
        motion = motion.times(turn)
        loads = forces_of(chain, motion, _slope(chain, at))
    return motion


def _start(chain: Chain, n_zero: int, fastest: float) -> tuple[Complexes, Complexes, Assembled]:
    """Eigenvalues but zeros, by rising size, with imag >= 0, and their vectors: all dampers, series to s^2."""
    from scipy.linalg import eig, eigh

    parts = assemble(chain)
    size = abs(np.trace(parts.K)) / max(np.trace(parts.M), 1e-300)
    # inertia over stiffness, which is made positive: slow motions first, coordinates without inertia have 0
    shift = 1e-3 * size + fastest**2
    shares, X = eigh(parts.M, parts.K + shift * parts.M)
    order = np.argsort(-shares)
    has_part = shares[order] > 1e-13 * shares.max(initial=0.0)
    is_slow = 1.0 / np.maximum(shares[order], 1e-300) < shift + (REACH * fastest) ** 2
    X = X[:, order[has_part & (is_slow | (np.arange(len(order)) < MIN_DENSE))]]
    M, C, K = (X.T @ A @ X for A in (parts.M, parts.C, parts.K))
    k = len(M)
    inverse = np.linalg.inv(M)
    A = np.zeros((2 * k, 2 * k))
    A[:k, k:], A[k:, :k], A[k:, k:] = np.eye(k), -inverse @ K, -inverse @ C
    values, vectors = eig(A)
    keep = np.flatnonzero(values.imag >= 0.0)
    keep = keep[np.argsort(np.abs(values[keep]), kind="stable")]
    if n_zero:
        # motions that nothing holds have one zero, or two that rounding has parted
        rest = np.sort(np.abs(values))[2 * n_zero :]
        floor = 1e-4 * min(rest[0] if len(rest) else fastest, fastest)
        keep = keep[np.abs(values[keep]) > floor]
    return values[keep].astype(complex), (X @ vectors[:k, keep]).astype(complex), parts


def _newton(chain: Chain, start: Complexes, vectors: Complexes, parts: Assembled) -> Complexes:
    """Eigenvalues of the exact sweep next to the start."""
    n = len(start)
    s = start.copy()
    motion = _moved(chain, vectors, parts)
    for _ in range(MAX_NEWTON):
        if not n:
            break
        loads = forces_of(chain, motion, _slope(chain, s))
        try:
            new = Sweep(chain, s * s, s, loads).motion()
        except np.linalg.LinAlgError:
            break  # at an eigenvalue to the last digit
        mass = _power(chain, motion, loads)[:, 0, 0]
        ratio = _power(chain, new, loads)[:, 0, 0]
        step = mass / ratio
        s = s - step
        size = np.max([np.abs(x).max(axis=(1, 2)) for x in (*new.x, *new.e) if x.shape[1]], axis=0)
        motion = Motion([x / size[:, None, None] for x in new.x], [e / size[:, None, None] for e in new.e])
        if np.all(np.abs(step) <= 1e-14 * np.abs(s)):
            break
    return np.asarray(np.where(np.abs(s.imag) <= REAL * np.abs(s), s.real, s), complex)


def _moved(chain: Chain, vectors: Complexes, parts: Assembled) -> Motion:
    """x and e of coordinates, (eigenvalues, .., 1)."""
    x: list[Numbers] = []
    e: list[Numbers] = []
    n = vectors.shape[1]
    for k, one in enumerate(chain.stations):
        at = np.zeros((n, 6, 1)) if one.parent == WORLD else x[one.parent]
        own = np.zeros((n, one.n, 1), complex)
        own[:, one.free, 0] = vectors[parts.columns[k]].T
        e.append(own)
        x.append(one.X @ at + one.G @ own)
    return Motion(x, e)


def _slope(chain: Chain, s: Complexes) -> Blocks:
    """d/ds of all forces."""
    h = 1e-5 * np.maximum(np.abs(s), 1e-300)
    ahead, behind = s + h, s - h
    pieces = [
        in_world(
            (piece_stiffness(piece, ahead**2, ahead) - piece_stiffness(piece, behind**2, behind))
            / (2.0 * h)[:, None, None],
            turn,
        )
        for piece, turn in chain.pieces
    ]
    own = [2.0 * s[:, None, None] * one.own_M for one in chain.stations]
    joining = [
        one.C + 2.0 * s[:, None, None] * one.M + (pieces[one.piece] if one.piece >= 0 else 0.0)
        for one in chain.stations
    ]
    return own, joining

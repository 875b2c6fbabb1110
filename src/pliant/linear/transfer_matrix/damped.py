"""Complex eigenvalues of damped models: started from a small linear model with all dampers, made exact by Newton.

The start: M, C and K of the pieces' series to s^2, in coordinates e of all stations, or, where these are many, in the
undamped shapes. Then inverse iteration on the Riccati sweep and Newton's step for x D(s) x = 0, which is stationary at
modes, D being symmetric; with r a little beside s, for at modes themselves parts of a chain may resonate alone, too,
where the sweep loses digits:
    D(r) y = D'(r) x,   s <- s - (y D(s) y) / (y D'(s) y),   x <- y"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.errors import SimulationError
from pliant.linear.transfer_matrix.beam_elements import piece_stiffness
from pliant.linear.transfer_matrix.chain import WORLD, Chain
from pliant.linear.transfer_matrix.natural import (
    BESIDE_ZERO,
    CLUSTER,
    ITERATIONS,
    SHIFT,
    Blocks,
    Chains,
    forces_of,
    group_shapes,
    inertia,
    joined,
    power,
    random_loads,
    shapes,
    stiffness,
)
from pliant.linear.transfer_matrix.riccati import TINY, Motion, Sweep, in_world

Array = NDArray[np.float64]
Complexes = NDArray[np.complex128]

MAX_DENSE = 400  # coordinates, up to which all take part in the start
REACH, MIN_KEPT = 8.0, 120  # of their modes: up to this times the highest frequency, and at least so many
MAX_NEWTON = 40
MAX_TRIALS = 4  # with twice as many pieces each
DRIFT = 0.1  # relative, by which Newton's method may move from its start
SAME = 1e-10  # relative distance of eigenvalues that are one
REAL = 1e-7  # relative, of imaginary parts that are rounding: two roots that are one have half the digits
BESIDE = 1e-6  # relative, from s to r
CONVERGED = 1e-14  # relative step
LIMIT = 1.0 - 1e-9  # of the rate where modes crowd: all below it are found


def damped_eigenvalues(chains: Chains, squares: Array, count: int | None, below: float, zero: float) -> Complexes:
    """By rising size, one of a conjugate pair; squares: of the undamped frequencies."""
    fastest = below if count is None else float(np.sqrt(np.max(np.abs(squares), initial=zero)))
    n_zero = int(np.sum(squares == 0.0))
    crowded = LIMIT * crowding_rate(chains(0.0))
    for _ in range(MAX_TRIALS):
        chain = chains(fastest)
        start, motion = _start(chain, squares, zero, fastest)
        limit = min(below * (1.0 + DRIFT) if count is None else np.inf, crowded)
        chosen = np.flatnonzero(np.abs(start) <= limit)[: None if count is None else _enough(start, count - n_zero)]
        values = _newton(chain, start[chosen], motion.at(chosen))
        missed = _missed(start[chosen], values)
        if missed is None:
            break
        fastest *= 2.0
    else:
        raise SimulationError(
            f"transfer: Newton's method did not reach the eigenvalue near {missed:.4g} 1/s; ask for fewer modes, leave "
            "dampers out (is_damped=False, --undamped), or ask pliant.modes(model)"
        )
    values = values[(values.imag >= 0.0) & (np.abs(values) < crowded)]
    values = values[np.argsort(np.abs(values), kind="stable")]
    found = np.concatenate([np.zeros(n_zero, complex), values])
    return found[np.abs(found) <= below] if count is None else found[:count]


def crowding_rate(chain: Chain) -> float:
    """|lambda| [1/s] at which infinitely many modes crowd: EI (1 + time s) of a beam is 0 at s = -1/time, and however
    short its waves are, they decay at about this rate without vibrating."""
    return min((1.0 / piece.stiffness_time for piece, _ in chain.pieces if piece.stiffness_time), default=np.inf)


def _is_real(values: Complexes) -> NDArray[np.bool_]:
    return np.asarray(np.abs(values.imag) <= REAL * np.abs(values))


def _enough(start: Complexes, count: int) -> int:
    """How many starts hold the first `count` modes, if real ones that rounding made a pair are two."""
    is_one = (start.imag > 0.0) | _is_real(start)
    return int(np.searchsorted(np.cumsum(is_one), count)) + 1 if count > 0 else 0


def _missed(start: Complexes, values: Complexes) -> complex | None:
    """A start from which Newton's method went far, or to where another one went already; or a pair that became one
    real mode, which has left another behind."""
    size = np.maximum(np.abs(values), TINY)
    far = np.flatnonzero(~(np.abs(values - start) <= DRIFT * size) | (_is_real(values) & ~_is_real(start)))
    if len(far):
        return complex(start[far[0]])
    for k in range(len(values)):
        same = np.abs(values[:k] - values[k]) <= SAME * size[k]
        # two that start apart and end as one
        if np.any(same & (np.abs(start[:k] - start[k]) > np.sqrt(SAME) * size[k])):
            return complex(start[k])
    return None


def _start(chain: Chain, squares: Array, zero: float, fastest: float) -> tuple[Complexes, Motion]:
    """Eigenvalues but zeros, by rising size, with their motions (eigenvalues, .., 1): of a pair the one above the axis,
    but both where rounding may have made it of two real ones that are equal."""
    from scipy.linalg import eig, eigh

    n = sum(len(one.free) for one in chain.stations)
    basis = _unit_motions(chain, n) if n <= MAX_DENSE else _as_row(shapes(chain, squares, zero))
    M, C, K = _reduced(chain, basis)
    # inertia over stiffness, which is made positive: slow motions first, coordinates without inertia have 0
    shift = 1e-3 * abs(np.trace(K)) / max(np.trace(M), TINY) + fastest**2
    shares, X = eigh(M, K + shift * M)
    order = np.argsort(-shares)
    has_part = shares[order] > 1e-13 * shares.max(initial=0.0)
    is_slow = 1.0 / np.maximum(shares[order], TINY) < shift + (REACH * fastest) ** 2
    X = X[:, order[has_part & (is_slow | (np.arange(len(order)) < MIN_KEPT))]]
    M, C, K = (X.T @ A @ X for A in (M, C, K))
    k = len(M)
    inverse = np.linalg.inv(M)
    A = np.zeros((2 * k, 2 * k))
    A[:k, k:], A[k:, :k], A[k:, k:] = np.eye(k), -inverse @ K, -inverse @ C
    values, vectors = eig(A)
    keep = np.flatnonzero((values.imag >= 0.0) | _is_real(values))
    keep = keep[np.argsort(np.abs(values[keep]), kind="stable")]
    n_zero = int(np.sum(squares == 0.0))
    if n_zero:
        # motions that nothing holds have one zero, or two that rounding has parted
        rest = np.sort(np.abs(values))[2 * n_zero :]
        keep = keep[np.abs(values[keep]) > 1e-4 * min(rest[0] if len(rest) else fastest, fastest)]
    found = basis.times(X @ vectors[:k, keep])
    rows = Motion(*([np.swapaxes(part, 0, 2) for part in parts] for parts in (found.x, found.e)))
    return values[keep].astype(complex), rows


def _as_row(motion: Motion) -> Motion:
    return Motion([x[None] for x in motion.x], [e[None] for e in motion.e])


def _unit_motions(chain: Chain, n: int) -> Motion:
    """(1, .., n): each free coordinate e by itself."""
    x: list[Array] = []
    e: list[Array] = []
    first = 0
    for one in chain.stations:
        at = np.zeros((1, 6, n)) if one.parent == WORLD else x[one.parent]
        own = np.zeros((1, one.n, n))
        own[0, one.free, first + np.arange(len(one.free))] = 1.0
        first += len(one.free)
        e.append(own)
        x.append(one.X @ at + one.G @ own)
    return Motion(list(x), list(e))


def _reduced(chain: Chain, basis: Motion) -> tuple[Array, Array, Array]:
    """M, C and K of motions that are sums of some."""
    none = np.zeros(1)
    K = stiffness(chain, none, none)
    still = [in_world(piece_stiffness(piece, none, none), turn) * piece.stiffness_time for piece, turn in chain.pieces]
    damping = [one.C + (still[one.piece] if one.piece >= 0 else 0.0) for one in chain.stations]
    C = [np.zeros((6, 6)) for _ in chain.stations], damping
    M, C_, K_ = (power(chain, basis, forces_of(chain, basis, part))[0] for part in (inertia(chain, none, none), C, K))
    return 0.5 * (M + M.T), 0.5 * (C_ + C_.T), 0.5 * (K_ + K_.T)


def _newton(chain: Chain, start: Complexes, motion: Motion) -> Complexes:
    """Eigenvalues of the exact sweep next to the start; nan where it does not converge."""
    s = start.copy()
    going, change = np.arange(len(s)), np.full(len(s), np.inf)
    for _ in range(MAX_NEWTON):
        if not len(going):
            break
        at = s[going]
        near = at * (1.0 + BESIDE)
        motion = Sweep(chain, near * near, near, forces_of(chain, motion, _slope(chain, near))).motion()
        size = np.max([np.abs(x).max(axis=(1, 2)) for x in (*motion.x, *motion.e) if x.shape[1]], axis=0)
        motion = motion.times(1.0 / size[:, None, None])
        left, along = (
            power(chain, motion, forces_of(chain, motion, part))[:, 0, 0]
            for part in (stiffness(chain, at * at, at), _slope(chain, at))
        )
        step = np.where(left == 0.0, 0.0, left / np.where(along == 0.0, TINY, along))
        s[going] = at - step
        change[going] = np.abs(step) / np.maximum(np.abs(at), TINY)
        unsure = np.flatnonzero(~(change[going] <= CONVERGED))
        motion, going = motion.at(unsure), going[unsure]
    s[~(change <= REAL)] = np.nan
    return np.asarray(np.where(_is_real(s), s.real, s), complex)


def _slope(chain: Chain, s: Complexes) -> Blocks:
    """d/ds of all forces."""
    h = 1e-5 * np.maximum(np.abs(s), TINY)
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


# --- shapes ----------------------------------------------------------------------------------------------------------


def damped_shapes(chain: Chain, values: Complexes) -> Motion:
    """x and e of the modes, one column per eigenvalue."""
    n_zero = int(np.sum(values == 0.0))
    lowest = float(np.min(np.abs(values[n_zero:]) ** 2, initial=1.0))
    parts = [group_shapes(chain, np.array([-BESIDE_ZERO * lowest]), n_zero)] if n_zero else []
    for group in _clusters(values[n_zero:]):
        at = complex(np.mean(values[n_zero:][group])) * (1.0 + SHIFT)
        parts.append(_damped_group(chain, at, len(group)))
    return joined(chain, parts)


def _clusters(values: Complexes) -> list[list[int]]:
    """Numbers of eigenvalues that are alike, which stand next to each other."""
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
    loads = random_loads(chain, n)
    for _ in range(ITERATIONS):
        motion = Sweep(chain, at * at, at, loads).motion()
        whole = np.concatenate([np.concatenate([x[0] for x in motion.x]), *(e[0] for e in motion.e)])
        motion = motion.times(np.linalg.inv(np.linalg.qr(whole, mode="r")))
        loads = forces_of(chain, motion, _slope(chain, at))
    return motion

"""The Riccati sweep: the force that a station needs is Z(s) x - p, from the tips inward; then displacements outward.

At a station with Z and p of all outboard of it and x = X x_P + G e, forces on (x_P, e) are
    Q (x_P, e) - (X^T p, G^T p + tau),   Q = A + T^T Z T,   T = [X G]
    e = E + H x_P,   E = Q_ee^-1 (G^T p + tau),   H = -Q_ee^-1 Q_ex
    Z_P += Q_xx + Q_xe H,   p_P += X^T p - Q_xe E
Nothing is multiplied along the chain, so no digits are lost however long it is. Q_ee are the pivots: by Sylvester's law
of inertia and [wittrick1971], the number of their negative eigenvalues at s^2 = -w^2 is that of the natural frequencies
below w, for no piece of a beam has one of its own there with both ends held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.linear.transfer_matrix.beam_elements import piece_stiffness
from pliant.linear.transfer_matrix.chain import WORLD, Chain, Station

Array = NDArray[np.float64]
Numbers = NDArray[Any]  # real or complex

EPS, TINY = float(np.finfo(float).eps), 1e-300
REFINED = 1e-11  # of the forces at a joint: more left than this is solved for again
ASIDE = 1e-7  # relative, of the frequency whose pivots do that
MAX_REFINEMENTS = 8


@dataclass
class Loads:
    """What acts, for several columns at once: on stations, on coordinates e, and motions of what is prescribed."""

    n: int  # columns
    at_stations: dict[int, Numbers]  # (6, n), or (frequencies, 6, n)
    on_joints: dict[int, Numbers]  # (number of e, n), or with frequencies
    motions: dict[int, Numbers]  # of held e: (number of held, n)
    world: Numbers | None = None  # displacement of the world (6, n)

    def at(self, chosen: NDArray[np.int64]) -> Loads:
        """At some of the frequencies."""
        at, on, moved = (
            {k: one[chosen] if one.ndim == 3 else one for k, one in table.items()}
            for table in (self.at_stations, self.on_joints, self.motions)
        )
        return Loads(self.n, at, on, moved, self.world)


@dataclass
class Motion:
    """x and e of every station, (frequencies, 6 or n, columns)."""

    x: list[Numbers]
    e: list[Numbers]

    def at(self, chosen: NDArray[np.int64]) -> Motion:
        """At some of the frequencies."""
        return Motion([x[chosen] for x in self.x], [e[chosen] for e in self.e])

    def times(self, turn: Numbers) -> Motion:
        """Columns combined."""
        return Motion([x @ turn for x in self.x], [e @ turn for e in self.e])

    def plus(self, other: Motion, where: NDArray[np.bool_] | None = None) -> Motion:
        """The sum with another; where: at which frequencies, default all."""
        share = 1.0 if where is None else np.where(where, 1.0, 0.0)[:, None, None]
        return Motion(
            [x + share * more for x, more in zip(self.x, other.x, strict=True)],
            [e + share * more for e, more in zip(self.e, other.e, strict=True)],
        )


@dataclass
class Balance:
    """Loads less inertia and springs: of all outboard of a station, what of it the parent feels, what is left along
    free coordinates, and the share of that in the largest force, per frequency."""

    outboard: list[Numbers]
    on_parent: list[Numbers]
    left: list[Numbers]
    share: Array


def lumped(one: Station, s2: Numbers, s: Numbers) -> Numbers:
    """(frequencies, 6 + n, 6 + n) of springs, dampers, armatures and static forces."""
    out = one.K + one.M * s2[:, None, None]
    return out + one.C * s[:, None, None] if one.is_damped else out


def in_world(A: Numbers, turn: Array) -> Numbers:
    """A piece's stiffness with x in world axes; turn: displacements, beam to world."""
    A = A.copy()
    A[:, :6, :] = turn @ A[:, :6, :]
    A[:, :, :6] = A[:, :, :6] @ turn.T
    return A


class Sweep:
    """Z and pivots of all stations at given s; s2 real and s zero where nothing damps."""

    def __init__(self, chain: Chain, s2: Numbers, s: Numbers, loads: Loads | None = None, counts: bool = False) -> None:
        self.chain, self.s2, self.s = chain, s2, s
        self.count = np.zeros(len(s2), np.int64)  # of negative pivots
        self.loads = loads
        n = len(chain.stations)
        m = loads.n if loads else 0
        self._pieces = [in_world(piece_stiffness(piece, s2, s), turn) for piece, turn in chain.pieces]
        self.Z = [self._own(k) for k in range(n)]
        self.p: list[Numbers] = [np.zeros((len(s2), 6, m)) for _ in range(n)]  # complex from the first damper on
        self.H: list[Numbers] = [np.zeros((0,))] * n
        self.E: list[Numbers] = [np.zeros((0,))] * n
        if loads:
            for k, force in loads.at_stations.items():
                self.p[k] = self.p[k] + force
        for k in range(n - 1, -1, -1):
            self._pass(k, chain.stations[k], counts)

    def _own(self, k: int) -> Numbers:
        one = self.chain.stations[k]
        return np.asarray(one.own_K + one.own_M * self.s2[:, None, None])

    def _joining(self, one: Station) -> Numbers:
        A = lumped(one, self.s2, self.s)
        return A + self._pieces[one.piece] if one.piece >= 0 else A

    def _pass(self, k: int, one: Station, counts: bool) -> None:
        """One station: eliminate e, hand Z and p to the parent."""
        F, m = len(self.s2), self.loads.n if self.loads else 0
        # many small products: one large one would wait for threads
        T, Tt = one.T
        Q = self._joining(one) + Tt @ (self.Z[k] @ T)
        right = Tt @ self.p[k] if m else np.zeros((F, 6 + one.n, 0))
        if self.loads and k in self.loads.on_joints:
            right = np.concatenate([right[:, :6], right[:, 6:] + self.loads.on_joints[k]], axis=1)
        if len(one.held):
            held = 6 + one.held
            if self.loads and k in self.loads.motions:
                right = right - Q[:, :, held] @ self.loads.motions[k]
        free = 6 + one.free
        Qxx, rest = Q[:, :6, :6], right[:, :6]
        if len(free):
            both = np.concatenate([-Q[:, free, :6], right[:, free]], axis=2)
            solved, negatives = _eliminate(Q[:, free][:, :, free], both, counts)
            self.count += negatives
            self.H[k], self.E[k] = solved[:, :, :6], solved[:, :, 6:]
            Qxe = Q[:, :6, free]
            Qxx = Qxx + Qxe @ self.H[k]
            rest = rest - Qxe @ self.E[k]
        else:
            self.H[k], self.E[k] = np.zeros((F, 0, 6)), np.zeros((F, 0, m))
        if one.parent != WORLD:
            # only the symmetric part: rounding must not turn long chains
            self.Z[one.parent] = self.Z[one.parent] + 0.5 * (Qxx + np.swapaxes(Qxx, 1, 2))
            if m:
                self.p[one.parent] = self.p[one.parent] + rest

    @property
    def world(self) -> Numbers:
        """Displacement of the world, (frequencies, 6, columns)."""
        assert self.loads is not None
        shape = (len(self.s2), 6, self.loads.n)
        return np.zeros(shape) if self.loads.world is None else np.broadcast_to(self.loads.world, shape)

    def motion(self) -> Motion:
        """Displacements under the loads, outward."""
        assert self.loads is not None
        F, m, still = len(self.s2), self.loads.n, self.world
        x: list[Numbers] = []
        e: list[Numbers] = []
        for k, one in enumerate(self.chain.stations):
            at = still if one.parent == WORLD else x[one.parent]
            own = np.zeros((F, one.n, m), np.result_type(self.s2, self.s))
            own[:, one.free] = self.E[k] + self.H[k] @ at
            if len(one.held) and k in self.loads.motions:
                own[:, one.held] = self.loads.motions[k]
            e.append(own)
            x.append(one.X @ at + one.G @ own)
        return Motion(x, e)

    def balance(self, motion: Motion) -> Balance:
        """What a motion leaves unbalanced under the loads, tips first."""
        assert self.loads is not None
        chain, loads = self.chain, self.loads
        outboard = [loads.at_stations.get(k, 0.0) - self._own(k) @ motion.x[k] for k in range(len(chain.stations))]
        on_parent: list[Numbers] = [np.zeros(0)] * len(outboard)
        left: list[Numbers] = [np.zeros(0)] * len(outboard)
        most, size = np.zeros(len(self.s2)), np.full(len(self.s2), TINY)
        for k in range(len(outboard) - 1, -1, -1):
            one = chain.stations[k]
            x = self.world if one.parent == WORLD else motion.x[one.parent]
            force = self._joining(one) @ np.concatenate([x, motion.e[k]], axis=1)
            on_parent[k] = one.X.T @ outboard[k] - force[:, :6]
            driven, carried = loads.on_joints.get(k, np.zeros((one.n, loads.n))), one.T[1][6:] @ outboard[k]
            left[k] = (driven + carried - force[:, 6:])[:, one.free]
            if len(one.free):
                acting = np.abs(driven) + np.abs(carried) + np.abs(force[:, 6:])
                most = np.maximum(most, np.abs(left[k]).max(axis=(1, 2)))
                size = np.maximum(size, acting[:, one.free].max(axis=(1, 2)))
            if one.parent != WORLD:
                outboard[one.parent] = outboard[one.parent] + on_parent[k]
        return Balance(outboard, on_parent, left, most / size)


def solve(chain: Chain, s2: Numbers, s: Numbers, loads: Loads) -> tuple[Motion, Balance]:
    """Displacements under loads, and forces outboard of every station.

    Near a frequency at which a part outboard of some station resonates by itself with the station held, digits are
    lost; there what is left is solved for again, with pivots of a frequency beside it (iterative refinement)."""
    sweep = Sweep(chain, s2, s, loads)
    motion = sweep.motion()
    balance = sweep.balance(motion)
    poor = np.flatnonzero(~(balance.share < REFINED))
    if not len(poor):
        return motion, balance
    part = _refined(Sweep(chain, s2[poor], s[poor], loads.at(poor)), motion.at(poor))
    for whole, piece in zip((*motion.x, *motion.e), (*part.x, *part.e), strict=True):
        whole[poor] = piece
    return motion, sweep.balance(motion)


def _refined(sweep: Sweep, motion: Motion) -> Motion:
    """The motion with less unbalanced, as long as it gets less."""
    assert sweep.loads is not None
    chain, n, aside = sweep.chain, sweep.loads.n, 1.0 + ASIDE
    balance = sweep.balance(motion)
    for _ in range(MAX_REFINEMENTS):
        left = {}
        for k, one in enumerate(chain.stations):
            left[k] = np.zeros((len(sweep.s2), one.n, n), balance.left[k].dtype)
            left[k][:, one.free] = balance.left[k]
        more = Sweep(chain, sweep.s2 * aside**2, sweep.s * aside, Loads(n, {}, left, {})).motion()
        trial = motion.plus(more)
        is_better = sweep.balance(trial).share < balance.share
        if not np.any(is_better):
            break
        motion = motion.plus(more, is_better)
        balance = sweep.balance(motion)
    return motion


def _eliminate(P: Numbers, right: Numbers, counts: bool) -> tuple[Numbers, NDArray[np.int64] | int]:
    """P^-1 right, and how many eigenvalues of P are negative."""
    if P.shape[1] == 1:
        pivot = np.where(P == 0.0, np.finfo(float).tiny ** 0.25, P)
        return right / pivot, np.count_nonzero(pivot[:, 0].real < 0.0, axis=1) if counts else 0
    if not counts:
        return np.linalg.solve(P, right), 0
    scale = 1.0 / np.sqrt(np.abs(np.diagonal(P, axis1=1, axis2=2)) + EPS * np.abs(P).max(axis=(1, 2))[:, None] + 1e-300)
    values, V = np.linalg.eigh(P * scale[:, :, None] * scale[:, None, :])
    floor = EPS * np.abs(values).max(axis=1, keepdims=True)
    values = np.where(np.abs(values) < floor, np.copysign(floor, values), values)
    half = np.swapaxes(V, 1, 2) @ (scale[:, :, None] * right)
    return scale[:, :, None] * (V @ (half / values[:, :, None])), np.count_nonzero(values < 0.0, axis=1)

"""Where a model stays at rest: Newton's method on the forces that rest needs, downhill in potential energy.

Of a mechanism with loops: along the motions Z its loops leave (A Z = 0), with Z^T (f - A^T lambda) for the forces f and
the multipliers lambda as they are at the pose: its changes with the pose hold the curvature of the loops as well."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.engine.arguments import as_state
from pliant.engine.prepared import Prepared, prepare
from pliant.errors import SimulationError
from pliant.mechanisms.assembly import closed_start
from pliant.mechanisms.constraints import Loops
from pliant.model.model import Model
from pliant.model.scales import tolerances
from pliant.model.tree import kept_velocities, model_size

Array = NDArray[np.float64]

MAX_STEPS = 200
DIFFERENCE = 1e-5  # of the finite differences [m, rad]
LONGEST = 0.5  # of a step [rad, size of the model]
FAR = 4.0 ** np.arange(8)  # times the longest step: who is pulled alike all the way goes on for ever
SHARE = 1e-3  # of all force left: less along a free motion is the error of its direction
FREE = 1e-14  # squares of frequencies below this share of the largest are zero
EPS = float(np.finfo(float).eps)
CONVERGED = 1e-9  # force left, relative to the largest met; what follows only removes rounding


def equilibrium(model: Model, q: ArrayLike | None = None) -> Array:
    """q at rest under gravity, springs, and motors and loads as they are at t = 0; from q, or the model's start.

    Downhill, so that it ends where rest is stable. Prescribed coordinates keep to their signals, controllers are off. A
    coordinate that nothing drives and nothing holds stays where it is, with a warning. Friction that sticks may hold
    many states; where the search does not come to one of these, it is that at which friction has nothing to hold."""
    handle = prepare(model)
    start = as_state(model, model.q0 if q is None else q, np.zeros(len(model.velocities)))[0]
    try:
        return _rest(handle, start.copy())
    except SimulationError:
        smooth = _without_friction(model)
        if smooth == model:
            raise
    return _rest(prepare(smooth), start)


def _without_friction(model: Model) -> Model:
    """The same model, whose rest states it shares, but whose forces have no jumps where something breaks away."""
    joints = [
        replace(
            joint,
            friction=None,
            transmission=joint.transmission and replace(joint.transmission, friction=None),
        )
        for joint in model.joints
    ]
    contacts = [replace(contact, friction=None) for contact in model.contacts]
    return replace(model, joints=joints, contacts=contacts)


def _rest(handle: Prepared, start: Array) -> Array:
    search = _Search(handle, start)
    rest = search.start
    smallest, best = np.inf, rest
    for _ in range(MAX_STEPS):
        search.look_from(rest)
        force = search.force(rest)
        left = search.size_of(force)
        # once it has converged it goes on for as long as that helps
        if left > 0.5 * smallest and smallest <= CONVERGED * search.reference:
            break
        if left < smallest:
            smallest, best = left, rest
        if left <= EPS * EPS * search.reference:
            break
        rest = search.step(rest, force)
    search.look_from(best)
    if smallest > CONVERGED * search.reference:
        raise search.failure(best)
    return search.checked(best)


class _Search:
    """One search. Forces and steps have one entry per motion that is left free; sizes are those of accelerations."""

    def __init__(self, handle: Prepared, q: Array) -> None:
        self.handle, self.model = handle, handle.model
        dofs, n = handle.system.dofs, len(self.model.velocities)
        free = dofs.motion < 0
        self._zero = np.zeros(n)
        handle.work.inputs[:] = 0.0
        handle.inverse_dynamics(q, self._zero, self._zero)  # evaluates the signals
        for j in np.flatnonzero(~free):
            q[dofs[j].q] = handle.work.signals[dofs[j].motion].s
        self._loops, self._free, self._pull = Loops(handle) if self.model.loops else None, free, np.zeros(0)
        if self._loops is not None:
            q, _ = closed_start(self._loops, q, self._zero, free & ~kept_velocities(self.model, self.model.keep))
        self.start = q
        self._longest = LONGEST * tolerances(self.model, 0, 1.0)[len(q) :]
        self.motions = np.eye(n)[:, free]
        if self._loops is None:
            self._weigh(q)
        self._mass = sum(link.body.total_mass for link in self.model.links)
        self.reference = float(np.linalg.norm(self.model.gravity) * np.sqrt(self._mass))

    def look_from(self, q: Array) -> None:
        """Free motions (columns) and multipliers at a pose."""
        if self._loops is not None:
            A = self._loops.jacobian(q)
            self.motions = self._loops.free_motions(q)
            f = self.handle.inverse_dynamics(q, self._zero, self._zero)
            self._pull = np.linalg.lstsq(A[:, self._free].T, f[self._free], rcond=1e-11)[0]
            self._weigh(q)

    def _weigh(self, q: Array) -> None:
        """Factor of the mass matrix, which makes forces of all kinds comparable."""
        still = self.handle.inverse_dynamics(q, self._zero, self._zero)
        M = np.zeros(self.motions.T.shape)
        for row, one in zip(M, self.motions.T.copy(), strict=True):
            row[:] = self.handle.inverse_dynamics(q, self._zero, one) - still
        M = M @ self.motions
        self._L = np.linalg.cholesky(0.5 * (M + M.T))

    def force(self, q: Array) -> Array:
        """That rest at q needs beyond what the model has: the gradient of its potential energy."""
        force = self.handle.inverse_dynamics(q, self._zero, self._zero)
        if self._loops is not None:
            force = force - self._loops.jacobian(q).T @ self._pull
        return self.motions.T @ force

    def size_of(self, force: Array) -> float:
        size = float(np.linalg.norm(np.linalg.solve(self._L, force)))
        self.reference = max(self.reference, size)
        return size

    def stiffness(self, q: Array) -> Array:
        """Change of the force with every free velocity's own motion, by central differences."""
        columns, n = [], self.motions.shape[1]
        for small in DIFFERENCE * np.eye(n):
            columns.append((self.force(self.moved(q, small)) - self.force(self.moved(q, -small))) / (2 * DIFFERENCE))
        return np.array(columns).T.reshape(n, n)

    def shares(self, q: Array) -> tuple[Array, Array, Array]:
        """Stiffness, its squares of frequencies in rising order of size, and their motions (columns)."""
        K = self.stiffness(q)
        half = np.linalg.solve(self._L, np.linalg.solve(self._L, 0.5 * (K + K.T)).T)
        squares, V = np.linalg.eigh(0.5 * (half + half.T))
        return K, squares, np.linalg.solve(self._L.T, V)

    def is_held(self, squares: Array, motions: Array) -> NDArray[np.bool_]:
        """Which motions feel a stiffness beyond the rounding of its differences."""
        rounding = 100 * EPS * self.reference * np.sqrt(self._mass) * max(1.0, model_size(self.model)) / DIFFERENCE
        least = FREE * np.max(np.abs(squares), initial=0.0) + rounding * np.sum(motions**2, axis=0)
        return np.asarray(np.abs(squares) > least)

    def step(self, q: Array, force: Array) -> Array:
        """The next q: Newton's step where rest is stable, else downhill along every motion of the stiffness."""
        K, squares, motions = self.shares(q)
        is_held = self.is_held(squares, motions)
        pull = motions.T @ force
        if np.all(squares[is_held] > 0) and np.all(is_held):
            step = np.asarray(-np.linalg.solve(K, force))
        else:
            # free motions go as far as a step may, once theirs is a force that counts
            is_pulled = ~is_held & (np.abs(pull) > max(CONVERGED * self.reference, SHARE * np.linalg.norm(pull)))
            if np.any(is_pulled) and self.falls_for_ever(q, motions[:, ~is_held]):
                raise self.failure(q)
            shares = np.where(is_held, pull / np.where(is_held, np.abs(squares), 1.0), 0.0)
            shares = np.where(is_pulled, np.sign(pull) / EPS, shares)
            # each as far as it may go: flat ones must not hold up the others
            sizes = np.abs(shares) * np.max(
                np.abs(self.motions @ motions) / self._longest[:, None], axis=0, initial=0.0
            )
            step = -motions @ (shares / np.maximum(sizes, 1.0))
        step *= min(1.0, 1.0 / max(np.max(np.abs(self.motions @ step) / self._longest, initial=0.0), 1e-300))
        slope = float(step @ force)
        share = 1.0
        # not far beyond the valley's floor along the step
        while share > 1e-3 and step @ self.force(self.moved(q, share * step)) > 0.5 * abs(slope):
            share *= 0.5
        return self.moved(q, share * step)

    def falls_for_ever(self, q: Array, motions: Array) -> bool:
        """Whether motions that nothing holds are pulled by the same force however far they go."""
        falling = -motions @ (motions.T @ self.force(q))
        falling /= max(np.max(np.abs(self.motions @ falling) / self._longest, initial=0.0), 1e-300)
        pulls = [motions.T @ self.force(self.moved(q, far * falling)) for far in (0.0, *FAR)]
        return bool(np.ptp(pulls, axis=0).max() <= CONVERGED * self.reference)

    def moved(self, q: Array, step: Array) -> Array:
        """q after every free motion has gone by its entry of step."""
        full = self.motions @ step
        out = q.copy()
        for link in self.model.links:
            kind, first = link.joint.kind, link.q
            own = full[link.v_slice]
            if kind == "floating":
                out[first : first + 3] += _matrix(q[first + 3 : first + 7]) @ own[:3]
                out[first + 3 : first + 7] = _turned(q[first + 3 : first + 7], own[3:])
            elif kind == "spherical":
                out[link.q_slice] = _turned(q[link.q_slice], own)
            else:
                out[link.q_slice] += own
            out[link.q_modes] += full[link.v_modes]
        return out if self._loops is None else self._loops.close(out, self._free)

    def checked(self, q: Array) -> Array:
        """q, with a warning about every motion that nothing holds."""
        _, squares, motions = self.shares(q)
        names = [self._name(motions[:, k]) for k in np.flatnonzero(~self.is_held(squares, motions))]
        if names:
            listed = ", ".join(repr(name) for name in dict.fromkeys(names))
            warnings.warn(
                f"equilibrium: nothing holds {listed} and nothing moves it; it stays where it was", stacklevel=4
            )
        return q

    def failure(self, q: Array) -> SimulationError:
        """No rest state: what still moves, and whether anything holds it."""
        _, squares, motions = self.shares(q)
        is_held = self.is_held(squares, motions)
        force = self.force(q)
        falling = -motions[:, ~is_held] @ (motions[:, ~is_held].T @ force)
        if self.size_of(force) <= 2 * float(np.linalg.norm(self._L.T @ falling)):
            name = self._name(falling)
            rate = (self.motions @ falling)[self.model.velocities.index(name)]
            return SimulationError(
                f"no rest state: nothing holds {name!r}, which would go with an acceleration of {rate:.6g}; "
                "give it a spring, prescribe its motion, or fix the base"
            )
        name = self._name(np.linalg.solve(self._L.T, np.linalg.solve(self._L, force)))
        return SimulationError(
            f"no rest state found in {MAX_STEPS} steps: {name!r} still moves; give a start q closer to rest"
        )

    def _name(self, motion: Array) -> str:
        """The velocity that takes the largest part in a motion."""
        return self.model.velocities[int(np.argmax(np.abs(self.motions @ motion) / self._longest))]


def _matrix(quaternion: Array) -> Array:
    """Rotation matrix of x y z w."""
    x, y, z, w = quaternion / np.linalg.norm(quaternion)
    v, skew = np.array([x, y, z]), np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray((w * w - v @ v) * np.eye(3) + 2 * np.outer(v, v) + 2 * w * skew)


def _turned(quaternion: Array, turn: Array) -> Array:
    """A unit quaternion x y z w after a rotation about axes of the child: its product with that of the rotation."""
    half = 0.5 * float(np.linalg.norm(turn))
    b, c = 0.5 * np.sinc(half / np.pi) * turn, np.cos(half)
    a, w = quaternion[:3], quaternion[3]
    out = np.array([*(w * b + c * a + np.cross(a, b)), w * c - a @ b])
    return np.asarray(out / np.linalg.norm(out))

"""Natural frequencies and shapes of a model about rest, found when they are asked for."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.engine.arguments import as_choice, as_index, as_numbers
from pliant.errors import ModelError
from pliant.linear.transfer_matrix.chain import Chain, division
from pliant.linear.transfer_matrix.damped import crowding_rate, damped_eigenvalues, damped_shapes
from pliant.linear.transfer_matrix.energies import kinetic_shares
from pliant.linear.transfer_matrix.natural import count_below, natural_squares, shapes
from pliant.linear.transfer_matrix.rest import find_rest
from pliant.linear.transfer_matrix.riccati import Motion
from pliant.model.model import Model
from pliant.model.tree import model_size

Array = NDArray[np.float64]
Complexes = NDArray[np.complex128]

SHAPE_PIECES = 40  # of a beam whose shape is shown
NOISE = 1e-12  # of gravity over the model's size: squares below this are rounding
HIGHEST = 1e15  # frequency asked for [rad/s]
ABOVE = 1e-9  # relative, of squares: a hair more


class BeamShape(NamedTuple):
    """How a mode moves a beam: at places x, displacement and rotation in axes of the beam at rest, (places, 3)."""

    x: Array
    displacement: Complexes
    rotation: Complexes


class FreeMotions:
    """Natural frequencies and shapes about rest. q: the configuration."""

    def __init__(
        self, model: Model, q: ArrayLike | None, count: int | None, below: float | None, is_damped: bool, t: float
    ) -> None:
        self.model = model
        self._rest, self._remarks = find_rest(model, q, t, is_damped)
        self.q = self._rest.q
        self._count, self._below = count, below
        self._chains: dict[tuple[tuple[int, ...], bool], Chain] = {}
        self.is_damped = is_damped
        first = self._chain(0.0)
        has_spring = any(np.any(one.K) or np.any(one.own_K) for one in first.stations)
        if not has_spring and not first.pieces:
            raise ModelError(
                f"transfer: nothing in {model.name!r} is elastic, and no weight pulls it back: it has no spring, no "
                "flexible joint and no beam with shapes, so no vibrations; its motion: pliant.simulate"
            )
        if not first.has_damping:
            self.is_damped = False
            self._chains = {(divided, False): one for (divided, _), one in self._chains.items()}

    def _chain(self, fastest: float, is_damped: bool | None = None, pieces: int = 1) -> Chain:
        """Stations for frequencies up to `fastest`; the same where the beams are divided alike."""
        fastest = 2.0 ** np.ceil(np.log2(fastest)) if fastest > 0.0 else 0.0
        is_damped = self.is_damped if is_damped is None else is_damped and self.is_damped
        key = division(self.model, self._rest, fastest, pieces), is_damped
        if key not in self._chains:
            self._chains[key] = Chain(self.model, self._rest, *key)
        return self._chains[key]

    @property
    def notes(self) -> tuple[str, ...]:
        """What is left out, in words."""
        if not np.isfinite(self._crowding):
            return self._remarks
        is_cut = self._crowding < self._below if self._below else len(self.eigenvalues) < (self._count or 0)
        return (*self._remarks, self._crowded) if is_cut else self._remarks

    @property
    def _crowding(self) -> float:
        """|lambda| [1/s] from which no mode is listed."""
        return crowding_rate(self._chain(0.0)) if self.is_damped else np.inf

    @property
    def _crowded(self) -> str:
        return (
            f"the material's damping lets infinitely many modes decay at about {self._crowding:.6g} 1/s without "
            "vibrating (1/stiffness_time, or young/kelvin_voigt), so modes are listed below this rate only; all "
            "others: is_damped=False, --undamped"
        )

    # --- natural frequencies ---

    def _undamped_chain(self, fastest: float) -> Chain:
        return self._chain(fastest, False)

    @cached_property
    def _squares(self) -> tuple[Array, float]:
        noise = NOISE * float(np.linalg.norm(self.model.gravity)) / model_size(self.model)
        return natural_squares(self._undamped_chain, self._count, self._below or 0.0, noise)

    @cached_property
    def _found(self) -> tuple[Complexes, Motion, Chain]:
        squares, zero = self._squares
        order = np.argsort(np.abs(squares), kind="stable")
        values = np.sqrt(-squares[order] + 0j)
        if self.is_damped:
            values = damped_eigenvalues(self._chain, squares, self._count, self._below or 0.0, zero)
        if not len(values):
            if self._crowding < (self._below or np.inf):
                raise ModelError(f"{'count' if self._below is None else 'below'}: {self._crowded}; leave dampers out")
            raise ModelError(
                f"below: no natural frequency lies below {self._below:g} rad/s; give a higher limit, or count=1 for "
                "the first"
            )
        chain = self._chain(float(np.max(np.abs(values))), self.is_damped, SHAPE_PIECES)
        if self.is_damped:
            return values, damped_shapes(chain, values), chain
        motion = shapes(chain, squares, zero)
        return values, Motion([x[:, order] for x in motion.x], [e[:, order] for e in motion.e]), chain

    @property
    def eigenvalues(self) -> Complexes:
        """lambda of motions exp(lambda t) [1/s], by rising size; one for a conjugate pair."""
        return self._found[0]

    @property
    def frequencies(self) -> Array:
        """|lambda| [rad/s]; 0: a motion that nothing holds."""
        return np.abs(self.eigenvalues)

    @property
    def hertz(self) -> Array:
        """The same [Hz]."""
        return self.frequencies / (2.0 * np.pi)

    @property
    def damping_ratios(self) -> Array:
        """-Re lambda / |lambda|: 0 undamped, 1 decays without vibration, negative grows."""
        size = self.frequencies
        return np.asarray(np.where(size > 0.0, -self.eigenvalues.real / np.where(size > 0.0, size, 1.0), 0.0) + 0.0)

    @property
    def is_stable(self) -> bool:
        """Whether no small motion grows."""
        return bool(np.all(self.eigenvalues.real <= 1e-9 * self.frequencies))

    @property
    def undamped_frequencies(self) -> Array:
        """Natural frequencies without dampers [rad/s], by the count alone; one that grows is imaginary, shown as 0."""
        return np.sqrt(np.maximum(self._squares[0], 0.0))

    def count_below(self, omega: ArrayLike) -> NDArray[np.int64]:
        """How many natural frequencies (without dampers) lie below each omega [rad/s]: Wittrick and Williams."""
        w = np.atleast_1d(as_frequencies(omega))
        if np.any(w == 0.0):
            raise ModelError("omega: 0 found; what lies below 0 is no vibration, give frequencies above 0 [rad/s]")
        return count_below(self._undamped_chain, w**2)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How many natural frequencies without dampers lie below a hair more than each frequency found."""
        squares = self.frequencies**2 * (1.0 + ABOVE)
        return count_below(self._undamped_chain, np.maximum(squares, 2.0 * self._squares[1]))

    # --- shapes ---

    def joint_shape(self, k: int) -> dict[str, complex]:
        """The coordinates of all joints in mode k, from 0; the largest displacement is 1 rad or the model's size."""
        _, motion, chain = self._found
        scale = self._scales[self._number(k)]
        return {
            name: complex(motion.e[station][e, self._number(k)] / scale)
            for name, (station, e) in chain.coordinates.items()
        }

    def beam_shape(self, beam: str, k: int) -> BeamShape:
        """How mode k, from 0, moves a beam along its axis; the same scale as joint_shape."""
        _, motion, chain = self._found
        k, i = self._number(k), self._beam(beam)
        nodes, R, scale = chain.nodes[i], chain.R[i], self._scales[k]
        x = np.array([motion.x[station][:, k] / scale for _, station in nodes], complex)
        places = np.array([at for at, _ in nodes])
        return BeamShape(places, np.asarray(x[:, :3] @ R, complex), np.asarray(x[:, 3:] @ R, complex))

    def frame_shape(self, frame: str, k: int) -> Complexes:
        """Displacement and rotation (6) of a frame or body in mode k, world axes; the same scale."""
        _, motion, chain = self._found
        k = self._number(k)
        known = (*self.model.named_frames, *(body.name for body in self.model.bodies))
        as_choice(frame, known, "frame")
        at = chain.place(frame)
        if at.station < 0:
            return np.zeros(6, complex)
        x = motion.x[at.station][:, k] / self._scales[k]
        return np.concatenate([x[:3] + np.cross(x[3:], at.offset), x[3:]]).astype(complex)

    @cached_property
    def _scales(self) -> Complexes:
        """Entry of every mode that becomes 1 rad or the model's size."""
        values, motion, _ = self._found
        size = model_size(self.model)
        lengths = np.array([1.0 / size] * 3 + [1.0] * 3)[:, None]
        x = np.concatenate([lengths * x for x in motion.x])
        largest = np.argmax(np.abs(x), axis=0)
        return np.asarray(x[largest, np.arange(len(values))], complex)

    def mostly(self, k: int) -> str:
        """The bodies that have most of the kinetic energy of mode k, in words."""
        values, motion, chain = self._found
        k = self._number(k)
        shares = kinetic_shares(chain, motion, values[k], k)
        order = sorted(shares, key=lambda name: -shares[name])[:3]
        return ", ".join(f"{name} {100.0 * shares[name]:.0f} %" for name in order if shares[name] >= 0.05)

    def _number(self, k: Any) -> int:
        return as_index(k, len(self.eigenvalues), "k")

    @property
    def flexible_beams(self) -> tuple[str, ...]:
        """Names of the beams that deform."""
        return tuple(beam.name for beam in self.model.beams if beam.n_modes)

    def _beam(self, name: Any) -> int:
        as_choice(name, self.flexible_beams, "beam")
        return next(i for i, link in enumerate(self.model.links) if link.body.name == name)


def as_frequencies(omega: ArrayLike) -> Array:
    w = as_numbers(omega, "omega")
    if w.ndim > 1 or w.size == 0 or not np.all(np.isfinite(w)):
        raise ModelError(f"omega: shape {w.shape} found, or one that is not finite; give a list of frequencies [rad/s]")
    if np.any(w < 0.0) or np.any(w > HIGHEST):
        found = float(np.min(w)) if np.any(w < 0.0) else float(np.max(w))
        raise ModelError(f"omega: {found:g} found; give frequencies from 0 to {HIGHEST:g} [rad/s]")
    return w

"""transfer(model): natural frequencies, shapes and frequency responses by transfer matrices, beams continuous."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.engine.arguments import (
    as_choice,
    as_flag,
    as_index,
    as_model,
    as_name,
    as_number,
    as_numbers,
    as_time,
    as_whole,
)
from pliant.errors import ModelError
from pliant.files import as_path
from pliant.linear.transfer_matrix.chain import Chain, division
from pliant.linear.transfer_matrix.damped import damped_eigenvalues, damped_shapes
from pliant.linear.transfer_matrix.energies import kinetic_shares
from pliant.linear.transfer_matrix.films import film, picture_model
from pliant.linear.transfer_matrix.natural import count_below, natural_squares, shapes
from pliant.linear.transfer_matrix.ports import Solution, find_inputs, find_outputs
from pliant.linear.transfer_matrix.reporting import COLUMNS, findings, summary, table
from pliant.linear.transfer_matrix.response import FrequencyResponse
from pliant.linear.transfer_matrix.rest import find_rest
from pliant.linear.transfer_matrix.riccati import Loads, Motion, solve
from pliant.model.messages import quoted
from pliant.model.model import Model
from pliant.model.tree import model_size
from pliant.results.recording import Recording

Array = NDArray[np.float64]
Complexes = NDArray[np.complex128]

COUNT = 10  # modes, unless said otherwise
SHAPE_PIECES = 40  # of a beam whose shape is shown
BODE_POINTS = 2000
MAX_FILMS = 8  # modes on the page that move
NOISE = 1e-12  # of gravity over the model's size: squares below this are rounding
HIGHEST = 1e15  # frequency asked for [rad/s]
ABOVE = 1e-9  # relative, of squares: a hair more


class BeamShape(NamedTuple):
    """How a mode moves a beam: at places x, displacement and rotation in axes of the beam at rest, (places, 3)."""

    x: Array
    displacement: Complexes
    rotation: Complexes


class Transfer:
    """Small motions of a model about rest by transfer matrices, as `transfer` returns them.

    q: the configuration; notes: what is left out, in words."""

    def __init__(
        self, model: Model, q: ArrayLike | None, count: int | None, below: float | None, is_damped: bool, t: float
    ) -> None:
        self.model = model
        self._rest, self.notes = find_rest(model, q, t, is_damped)
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
            self.is_damped, self._chains = (
                False,
                {(*key[:1], False, *key[2:]): one for key, one in self._chains.items()},
            )

    def _chain(self, fastest: float, is_damped: bool | None = None, pieces: int = 1) -> Chain:
        """Stations for frequencies up to `fastest`; the same where the beams are divided alike."""
        fastest = 2.0 ** np.ceil(np.log2(fastest)) if fastest > 0.0 else 0.0
        is_damped = self.is_damped if is_damped is None else is_damped and self.is_damped
        key = division(self.model, self._rest, fastest, pieces), is_damped
        if key not in self._chains:
            self._chains[key] = Chain(self.model, self._rest, *key)
        return self._chains[key]

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
        if not len(squares) and not self.is_damped:
            raise ModelError(
                f"below: no natural frequency lies below {self._below:g} rad/s; give a higher limit, or count=1 for "
                "the first"
            )
        values = np.sqrt(-squares + 0j)
        if self.is_damped:
            values = damped_eigenvalues(self._chain, squares, self._count, self._below or 0.0, zero)
        fastest = float(np.max(np.abs(values), initial=0.0))
        chain = self._chain(fastest, self.is_damped, SHAPE_PIECES)
        motion = damped_shapes(chain, values) if self.is_damped else shapes(chain, squares, zero)
        found = values, motion, chain
        if not len(found[0]):
            raise ModelError(
                f"below: no eigenvalue lies below {self._below:g} 1/s; give a higher limit, or count=1 for the first"
            )
        return found

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
        w = np.atleast_1d(_frequencies(omega))
        if np.any(w == 0.0):
            raise ModelError("omega: 0 found; what lies below 0 is no vibration, give frequencies above 0 [rad/s]")
        return count_below(self._undamped_chain, w**2)

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

    # --- responses ---

    def response(
        self, omega: ArrayLike, inputs: str | Iterable[str] | None = None, outputs: str | Iterable[str] | None = None
    ) -> FrequencyResponse:
        """G(i omega), omega in rad/s.

        inputs: forces of joints ("elbow", "elbow.motor"), motions of prescribed ones ("hub"), forces and couples at
        frames in world axes ("tip.fy", "tip.mz"), motions of the ground ("world.y"); default: motors, else all joints.
        outputs: the model's, coordinates and rates of joints ("elbow.rate"), of frames displacement, rotation, their
        rates and accelerations ("tip.x", "tip.rz", "tip.vx", "tip.wz", "tip.ax", "tip.alz"), reactions ("elbow.mz");
        default: the model's outputs, else all joints."""
        w = np.atleast_1d(_frequencies(omega))
        chain = self._chain(float(np.max(w, initial=0.0)))
        ports, loads = find_inputs(chain, inputs)
        readings = find_outputs(chain, outputs)
        values = np.empty((len(w), len(readings), len(ports)), complex)
        for part in np.array_split(np.arange(len(w)), max(1, -(-len(w) // 512))):
            solution = self._solve(chain, w[part], loads)
            for o, one in enumerate(readings):
                values[part, o] = one.read(solution)
        self._check_finite(w, values)
        return FrequencyResponse(
            self.model.name, w, values,
            tuple(one.name for one in ports), tuple(one.port.name for one in readings),
            tuple(one.unit for one in ports), tuple(one.port.unit for one in readings),
        )  # fmt: skip

    def _solve(self, chain: Chain, w: Array, loads: Loads) -> Solution:
        s = np.asarray(1j * w, complex)
        s2 = -(w**2)
        damper = s if chain.has_damping else np.zeros(len(w))
        with np.errstate(all="ignore"):
            try:
                motion, balance = solve(chain, s2, damper, loads)
            except np.linalg.LinAlgError:
                raise ModelError(self._singular(w)) from None
        return Solution(chain, loads, motion, balance, s)

    def _check_finite(self, w: Array, values: Complexes) -> None:
        bad = ~np.all(np.isfinite(values), axis=(1, 2))
        if np.any(bad):
            raise ModelError(self._singular(w[bad]))

    def _singular(self, w: Array) -> str:
        if np.any(w == 0.0):
            return (
                "omega: 0 found, but something of the model is held by nothing and would move off without end; give "
                "frequencies above 0 [rad/s]"
            )
        return f"omega: {w[0]:.10g} rad/s is a natural frequency without damping; the response has no bounds there"

    def bode(
        self,
        inputs: str | Iterable[str] | None = None,
        outputs: str | Iterable[str] | None = None,
        omega: ArrayLike | None = None,
    ) -> FrequencyResponse:
        """The response over all modes found, at 2000 frequencies unless omega says which; .plot() draws it."""
        if omega is None:
            found = self.frequencies[self.frequencies > 0.0]
            low, high = (float(0.1 * found[0]), float(2.0 * found[-1])) if len(found) else (0.1, 10.0)
            omega = np.geomspace(low, high, BODE_POINTS)
        return self.response(omega, inputs, outputs)

    # --- words and pages ---

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How many natural frequencies without dampers lie below a hair more than each frequency found."""
        squares = self.frequencies**2 * (1.0 + ABOVE)
        return count_below(self._undamped_chain, np.maximum(squares, 2.0 * self._squares[1]))

    def table(self) -> list[tuple[str, ...]]:
        """Of every mode: number, frequency, damping ratio, count, what moves."""
        return table(self)

    @property
    def summary(self) -> dict[str, Any]:
        """Plain numbers, for files."""
        return summary(self)

    def report(
        self, path: str | Path = "transfer.html", *, response: FrequencyResponse | None = None, title: str = ""
    ) -> None:
        """Write a page: the lowest modes that vibrate, moving, the table, shapes, and Bode plots of a response."""
        from pliant.view.page.report import write_findings

        as_name(title, "title", "give a text")
        if response is not None and not isinstance(response, FrequencyResponse):
            raise ModelError(
                f"response: {quoted(response)} found; give what bode or response returned, or leave it out"
            )
        name = title or f"{self.model.name}: transfer matrices"
        about = f"{len(self.frequencies)} modes of {self.model.name} about rest"
        write_findings(
            as_path(path),
            findings(self, response),
            title=name,
            description=about,
            settings={},
            setting_table={},
            films=self._films(),
        )

    def _films(self) -> dict[str, Recording]:
        """The lowest modes that vibrate, by their words."""
        model = picture_model(self.model)
        shown = np.flatnonzero(self.frequencies > 0.0)[:MAX_FILMS]
        return {f"mode {k + 1}, {self.hertz[k]:.5g} Hz": film(self, model, int(k)) for k in shown}

    def __repr__(self) -> str:
        rows = [COLUMNS, *self.table()]
        widths = [max(len(row[c]) for row in rows) for c in range(len(COLUMNS))]
        return "\n".join("  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in rows)


def transfer(
    model: Model,
    q: ArrayLike | None = None,
    *,
    count: int | None = None,
    below: float | None = None,
    is_damped: bool = True,
    t: float = 0.0,
) -> Transfer:
    """Natural frequencies, shapes and frequency responses of small motions about rest, by Riccati transfer matrices.

    Trees of bodies, joints and beams; beams are continua, not assumed modes, so that every frequency is exact. count:
    how many modes (default 10), or below: all below this frequency [rad/s]; none is missed. q: a configuration at rest,
    beams straight; default: rest next to the model's start. is_damped=False leaves all dampers out. t: time at which
    motors, loads and prescribed joints are taken."""
    as_model(model)
    if count is not None and below is not None:
        raise ModelError("count and below are both given; leave one of them out")
    number = as_whole(count, "count") if count is not None else None
    limit = as_number(below, "below", 0.0, HIGHEST, "[rad/s]") if below is not None else None
    if number is None and limit is None:
        number = COUNT
    return Transfer(model, q, number, limit, as_flag(is_damped, "is_damped"), as_time(t))


def _frequencies(omega: ArrayLike) -> Array:
    w = as_numbers(omega, "omega")
    if w.ndim > 1 or w.size == 0 or not np.all(np.isfinite(w)):
        raise ModelError(f"omega: shape {w.shape} found, or one that is not finite; give a list of frequencies [rad/s]")
    if np.any(w < 0.0) or np.any(w > HIGHEST):
        found = float(np.min(w)) if np.any(w < 0.0) else float(np.max(w))
        raise ModelError(f"omega: {found:g} found; give frequencies from 0 to {HIGHEST:g} [rad/s]")
    return w

"""What a run has recorded: its rows, and what follows from them at any time."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, Self, TypeVar, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.diagnostics import WARNING, Diagnostic, diagnose
from pliant.engine.arguments import (
    as_choice,
    as_flag,
    as_name,
    as_number,
    as_time_list,
    as_times,
)
from pliant.engine.prepared import Prepared, prepare
from pliant.errors import ModelError
from pliant.methods import Methods
from pliant.model.messages import closest, listed, quoted
from pliant.model.model import BeamQuantity, Model
from pliant.model.stations import with_stations
from pliant.queries.attitude import express, follow
from pliant.results.checkpoint import Checkpoint
from pliant.results.citations import cited
from pliant.results.contact_forces import ContactForces, contact_forces
from pliant.results.contact_records import CONTACT, Contacts
from pliant.results.named_columns import NamedValues, named_columns
from pliant.results.outputs import recorded_outputs
from pliant.results.pitfalls import pitfalls
from pliant.results.section_forces import Sections
from pliant.system.memory import evaluate_dense
from pliant.system.phases import Phases
from pliant.system.tables import Power

Array = NDArray[np.float64]
T = TypeVar("T")
UNSEEN = "the machine has no memory left to look for mistakes that this run would show; what it recorded is kept"
STATIONS = 25  # along a beam, for curves


@dataclass(frozen=True)
class Event:
    """Something located in time: a limit reached, a crossing."""

    name: str
    t: float  # [s]
    direction: str  # "rising" or "falling"


@dataclass(frozen=True)
class Dense:
    """Pieces of dense output, one per step."""

    starts: Array
    steps: Array
    terms: Array  # (pieces, terms, n_y)


def energy_error(energy: dict[str, Array], scale: float) -> Array:
    """|E - E0 - work| over the energy that moved, per row: the one formula of audit and page."""
    total = energy["kinetic"] + energy["gravity"] + energy["elastic"]
    work = sum((values for name, values in energy.items() if name.startswith("work_")), np.zeros(len(total)))
    return np.asarray(np.abs(total - total[0] - (work - work[0])) / (scale if scale > 0.0 else 1.0))


def recorded_energy(handle: Prepared, q: Array, v: Array, z: Array) -> dict[str, Array]:
    """Energies and accumulated work along rows of the state, by name, each (rows) [J]."""
    works = {f"work_{Power(kind).name.lower()}": z[:, k].copy() for k, kind in enumerate(handle.system.quadratures)}
    return handle.energies(q, v) | works


class Trusting(Protocol):
    """Who knows how far single numbers of a run may be off (pliant.certify)."""

    @property
    def digits(self) -> tuple[int | None, ...]: ...
    @property
    def span(self) -> str: ...
    @property
    def lost(self) -> int: ...
    def trusted(self, name: str, t: float | None) -> Any: ...


@dataclass(frozen=True, eq=False)
class Recording:
    """One run. t, q, v are rows at accepted steps (or on the grid asked for); at(t) is the state at any time."""

    model: Model
    t: Array  # (rows) [s]
    q: Array  # (rows, n_q)
    v: Array  # (rows, n_v)
    energy: dict[str, Array]  # kinetic, gravity, elastic and every work, each (rows) [J]
    outputs: dict[str, Array]  # the model's outputs, each (rows, columns)
    events: tuple[Event, ...]
    status: str  # "done", "stopped", "failed" or "interrupted"
    reason: str
    audit: dict[str, float]
    stats: dict[str, float]
    settings: dict[str, Any]  # how it was run
    inputs: Array  # (rows, n_inputs) held commands of the controllers
    dense: Dense | None = field(default=None, repr=False)
    contacts: Any = field(default_factory=lambda: np.zeros(0, CONTACT).view(Contacts))  # one row per contact
    phases: Phases | None = field(default=None, repr=False)
    commands: Array | None = field(default=None, repr=False)  # t and held commands at every accepted step
    integrators: tuple[tuple[float, str], ...] = ()  # from when on [s] which integrator
    methods: Methods | None = None  # what it was made with, as asked for
    checkpoint: Checkpoint | None = field(default=None, repr=False)  # for a run that goes on from its end
    trust: Trusting | None = field(default=None, repr=False)  # of a certified run

    def __post_init__(self) -> None:
        for name in ("outputs", "energy", "audit"):
            object.__setattr__(self, name, NamedValues(getattr(self, name)))

    @property
    def is_ok(self) -> bool:
        """Whether the run came to its end as asked (a stop that the model asked for counts)."""
        return self.status in ("done", "stopped")

    @property
    def warnings(self) -> tuple[str, ...]:
        """What one should know before believing the figures."""
        return tuple(finding.words for finding in self.diagnostics)

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The same with how bad each is: level "warning" or "wrong"."""
        stays_closed = self.methods is None or self.methods.closure is None or self.methods.closure.keeps_closed
        try:
            found = tuple(pitfalls(self))
        except MemoryError:  # the run itself has found its place
            found = (Diagnostic(WARNING, UNSEEN),)
        return (*diagnose(self.audit, self.settings, stays_closed), *found)

    @property
    def citations(self) -> list[dict[str, Any]]:
        """Methods and laws at work in this run, a row each: family, name, parameters, reference, citation."""
        return cited(self.model, self.methods, dict.fromkeys(name for _, name in self.integrators))

    def at(self, t: ArrayLike) -> tuple[Array, Array]:
        """(q, v) at any time of the run, from the dense output; t a number or an array."""
        y = self.state_at(t)
        n_q, n_v = len(self.model.coordinates), len(self.model.velocities)
        return y[..., :n_q].copy(), y[..., n_q : n_q + n_v].copy()

    def state_at(self, t: ArrayLike) -> Array:
        """The whole state (q, v, z) at any time of the run."""
        if self.dense is None or len(self.dense.starts) == 0:
            raise ModelError("this run kept no dense output; call simulate with dense=True (the default)")
        times = as_times(t)
        first, last = self.dense.starts[0], self.dense.starts[-1] + self.dense.steps[-1]
        slack = 1e-12 * max(1.0, abs(first), abs(last))
        # also refuses NaN
        if not np.all((times >= first - slack) & (times <= last + slack)):
            raise ModelError(
                f"t = {quoted(t)} lies outside the run, which goes from {first:g} s to {last:g} s; give times in it"
            )
        y = evaluate_dense(self.dense.starts, self.dense.steps, self.dense.terms, times)
        for four in self.model.quaternions:
            y[..., four] /= np.linalg.norm(y[..., four], axis=-1, keepdims=True)
        return y

    def resampled(self, t: ArrayLike) -> Self:
        """The same run with its rows at these times, from the dense output: resampled(t)["tip.x"] is a column there."""
        times = as_time_list(t)
        q, v = self.at(times)
        has_commands = self.commands is not None and self.inputs.shape[1] > 0
        return dataclasses.replace(
            self,
            t=times,
            q=q,
            v=v,
            energy=self.energies_at(times),
            outputs=self.outputs_at(times),
            inputs=self._held(times) if has_commands else np.zeros((len(times), self.inputs.shape[1])),
        )

    def outputs_at(self, t: ArrayLike) -> dict[str, Array]:
        """The model's outputs at any times of the run, each (times, columns): not only where a step ended."""
        times = as_time_list(t)
        order = np.argsort(times, kind="stable")
        y, times = self.state_at(times)[order], times[order]
        found = recorded_outputs(self._handle(), times, y, self._held(times), self._needed(self.phases))
        return {name: values[np.argsort(order)] for name, values in found.items()}

    def energies_at(self, t: ArrayLike) -> dict[str, Array]:
        """Energies and work terms at any times of the run, by name, each (times) [J]: not only where a step ended."""
        y, n_q = self.state_at(as_time_list(t)), len(self.model.coordinates)
        q, v, z = np.split(y, [n_q, n_q + len(self.model.velocities)], axis=1)
        return recorded_energy(self._handle(), q.copy(), v.copy(), z)

    def trusted(self, name: str, t: float | None = None) -> Any:
        """One number of a certified run, "tip.x" at a time (default: the end): value, error, digits that are right."""
        if self.trust is None:
            raise ModelError(
                "this run is not certified, so nobody knows its digits; take pliant.certify(model, ...).result, which "
                "makes the runs that tell them"
            )
        return self.trust.trusted(name, t)

    def contact_forces(self, t: ArrayLike) -> ContactForces:
        """Normal and friction force on every contact point at any times of the run, and where they act."""
        times = np.sort(as_time_list(t))
        handle = self._handle()
        return contact_forces(handle, times, self.state_at(times), self._held(times), self._needed(self.phases))

    def mass_centre(self, t: ArrayLike | None = None) -> Array:
        """Mass centre of all bodies at times, or at the rows: (times, 3) world [m]."""
        return prepare(self.model).mass_centres(self._bent(t, 1.0))

    def along(self, beam: str, quantity: str, t: ArrayLike | None = None) -> tuple[Array, Array]:
        """(x, values) of a quantity along a beam at times, or at the rows: x (25) [m], values (times, 25, columns).

        quantity: "position" of the axis (world), or what outputs record: "section", "strain", "stress"."""
        x = self._places(beam)
        if as_choice(quantity, ("position", *get_args(BeamQuantity)), "quantity") == "position":
            return x, self.stations(t)[beam][1]
        times = self.t if t is None else as_time_list(t)
        order = np.argsort(times, kind="stable")
        sections, times = self._sections(beam, x), times[order]
        forces = sections.forces(times, self.state_at(times), self._held(times), self._needed(self.phases))
        return x, sections.values(quantity, forces[np.argsort(order)])

    def bending_moment(self, beam: str, t: ArrayLike | None = None) -> tuple[Array, Array]:
        """(x, moments) along a beam at times, or at the rows: x (25) [m], moments (times, 25, 2), My and Mz by what
        lies outboard on what lies inboard, section axes, by the law of the material in the planes that bend [N m].
        Fast: unlike along(beam, "section") it needs no equilibrium of what lies outboard."""
        x = self._places(beam)
        times = self.t if t is None else as_time_list(t)
        return x, self._sections(beam, x).bending(self.state_at(times))

    def _places(self, beam: str) -> Array:
        """Evenly along a beam, or a message."""
        lengths = {each.name: each.length for each in self.model.beams}
        if as_name(beam, "beam") not in lengths:
            raise ModelError(f"{quoted(beam)} is no beam of the model; there are {', '.join(lengths) or 'none'}")
        return np.linspace(0.0, lengths[beam], STATIONS)

    def _sections(self, beam: str, x: Array) -> Sections:
        """Of one beam; kept, since they take a moment to get ready."""
        if beam not in self._known_sections:
            self._known_sections[beam] = Sections(self._handle(), beam, x)
        return self._known_sections[beam]

    @cached_property
    def _known_sections(self) -> dict[str, Sections]:
        return {}

    def _handle(self) -> Prepared:
        """For outputs at other times: with the formulation and the closure of the run."""
        methods = self._needed(self.methods)
        handle = prepare(self.model, methods.formulation)
        return handle.copy(methods.closure) if self.model.loops else handle

    def _needed(self, kept: T | None) -> T:
        """Return what outputs at other times need, or raise a message: not every file has it."""
        if kept is None:
            raise ModelError(
                "this result does not say in which phase and by which methods it moved; run the model anew"
            )
        return kept

    def _held(self, times: Array) -> Array:
        """Commands of the controllers at times."""
        commands = self._needed(self.commands)
        return np.ascontiguousarray(commands[np.searchsorted(commands[:, 0], times, side="right") - 1, 1:])

    def __getitem__(self, name: str) -> Array:
        """A column at the rows by the name that charts and tables have: "elbow", "elbow.rate", "tip.x",
        "elbow.command", "kinetic", "total", "time"; or an output as a whole, (rows, columns)."""
        if as_name(name, "name") not in self._named:
            hint = closest(name, self._named) or ";"
            raise ModelError(f"no column {quoted(name)}{hint} there are {listed(self._named, 30)}")
        return self._named[name]

    @cached_property
    def _named(self) -> dict[str, Array]:
        return named_columns(self)

    def column(self, name: str) -> Array:
        """The same as result[name]."""
        return self[name]

    def placements(
        self, t: ArrayLike | None = None, of: Sequence[str] | None = None, *, enlarge: float = 1.0
    ) -> tuple[Array, Array]:
        """World attitude (times, n, 3, 3) and position (times, n, 3) of the bodies and frames named; or all bodies.

        enlarge: factor on the deformation of beams, for drawing."""
        return prepare(self.model).placements(self._bent(t, enlarge), of)

    def attitude(
        self,
        of: str,
        as_: str = "quaternion",
        t: ArrayLike | None = None,
        *,
        seen_from: str = "world",
        unwrap: bool = False,
    ) -> Array:
        """Attitude of a body or frame at the rows, or at times, in a form of pliant.attitude: "quaternion", "matrix",
        "rotation_vector", "euler:zyx", "euler:xyz:fixed" ..; against the world, or another body or frame.

        unwrap: angles and signs go on without jumps. Near gimbal lock Euler angles still change fast: only the sum or
        the difference of the first and the last is known there."""
        for name in (of, seen_from):
            prepare(self.model).frame_row(name)
        is_followed = as_flag(unwrap, "unwrap")
        R = self.placements(t, [of, seen_from])[0]
        found = express(np.swapaxes(R[:, 1], 1, 2) @ R[:, 0], as_)
        return follow(found, as_) if is_followed else found

    def stations(self, t: ArrayLike | None = None, *, enlarge: float = 1.0) -> dict[str, tuple[Array, Array]]:
        """Placements (times, STATIONS, ..) of sections evenly spaced along every beam, by its name; for drawing."""
        if not self.model.beams:
            return {}
        handle, names = self._along_beams
        R, p = handle.placements(self._bent(t, enlarge), [name for each in names.values() for name in each])
        n = len(names)
        return dict(zip(names, zip(np.split(R, n, axis=1), np.split(p, n, axis=1), strict=True), strict=True))

    @cached_property
    def _along_beams(self) -> tuple[Prepared, dict[str, list[str]]]:
        places = {beam.name: np.linspace(0.0, beam.length, STATIONS).tolist() for beam in self.model.beams}
        model, names = with_stations(self.model, places)
        return Prepared(model), names

    def _bent(self, t: ArrayLike | None, enlarge: float) -> Array:
        """q of the rows, or at times, modal coordinates times a factor."""
        enlarge = as_number(enlarge, "enlarge")
        q = self.q.copy() if t is None else self.at(as_time_list(t))[0]
        for link in self.model.links:
            q[:, link.q_modes] *= enlarge
        return np.ascontiguousarray(q)

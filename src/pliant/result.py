"""Result: what a run gives back. Arrays now, labelled dataset and files on request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.errors import ModelError
from pliant.model.model import BeamQuantity, Model
from pliant.model.stations import with_stations
from pliant.system.memory import evaluate_dense
from pliant.system.phases import Phases

if TYPE_CHECKING:
    import xarray

    from pliant.dynamics import Prepared
    from pliant.section_forces import Sections

Array = NDArray[np.float64]
STATIONS = 25  # along a beam, for curves

CONTACT = np.dtype(
    [
        ("contact", "U80"),
        ("point", "U160"),
        ("t_start", np.float64),
        ("t_end", np.float64),
        ("v_in", np.float64),
        ("v_out", np.float64),
        ("peak_normal", np.float64),
        ("impulse", np.float64),
        ("work", np.float64),
        ("restitution_requested", np.float64),
        ("restitution_delivered", np.float64),
    ]
)


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


# beyond these bending is not small
BENDING_LIMITS = {
    "deflection_ratio": (0.1, "the deflection of a beam over its length"),
    "section_angle": (0.2, "the angle of a beam's section [rad]"),
}


@dataclass(frozen=True, eq=False)
class Result:
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
    contacts: Any = field(default_factory=lambda: np.zeros(0, CONTACT).view(np.recarray))  # one row per contact
    phases: Phases | None = field(default=None, repr=False)
    commands: Array | None = field(default=None, repr=False)  # t and held commands at every accepted step
    integrators: tuple[tuple[float, str], ...] = ()  # from when on [s] which integrator

    @property
    def is_ok(self) -> bool:
        """Whether the run came to its end as asked (a stop that the model asked for counts)."""
        return self.status in ("done", "stopped")

    @property
    def warnings(self) -> tuple[str, ...]:
        """What one should know before believing the figures."""
        found = []
        for key, (limit, words) in BENDING_LIMITS.items():
            if self.audit.get(key, 0.0) > limit:
                found.append(
                    f"{words} reached {self.audit[key]:.3g}; the theory of small bending holds up to about {limit}"
                )
        return tuple(found)

    def at(self, t: ArrayLike) -> tuple[Array, Array]:
        """(q, v) at any time of the run, from the dense output; t a number or an array."""
        y = self.state_at(t)
        n_q, n_v = len(self.model.coordinates), len(self.model.velocities)
        return y[..., :n_q].copy(), y[..., n_q : n_q + n_v].copy()

    def state_at(self, t: ArrayLike) -> Array:
        """The whole state (q, v, z) at any time of the run."""
        if self.dense is None or len(self.dense.starts) == 0:
            raise ModelError("this run kept no dense output; call simulate with dense=True (the default)")
        try:
            times = np.asarray(t, dtype=np.float64)
        except (TypeError, ValueError):
            raise ModelError(f"t = {t!r} is no time; give a number of seconds, or an array of them") from None
        first, last = self.dense.starts[0], self.dense.starts[-1] + self.dense.steps[-1]
        slack = 1e-12 * max(1.0, abs(first), abs(last))
        # also refuses NaN
        if not np.all((times >= first - slack) & (times <= last + slack)):
            raise ModelError(f"t = {t!r} lies outside the run, which goes from {first:g} s to {last:g} s")
        y = evaluate_dense(self.dense.starts, self.dense.steps, self.dense.terms, times)
        for four in self.model.quaternions:
            y[..., four] /= np.linalg.norm(y[..., four], axis=-1, keepdims=True)
        return y

    def outputs_at(self, t: ArrayLike) -> dict[str, Array]:
        """The model's outputs at any times of the run, each (times, columns): not only where a step ended."""
        from pliant.dynamics import prepare

        times = np.atleast_1d(np.asarray(t, dtype=np.float64))
        order = np.argsort(times, kind="stable")
        y, times = self.state_at(times)[order], times[order]
        assert self.phases is not None
        found = prepare(self.model, self.settings["formulation"]).outputs(times, y, self._held(times), self.phases)
        return {name: values[np.argsort(order)] for name, values in found.items()}

    def along(self, beam: str, quantity: str, t: ArrayLike | None = None) -> tuple[Array, Array]:
        """(x, values) of a quantity along a beam at times, or at the rows: x (25) [m], values (times, 25, columns).

        quantity: "position" of the axis (world), or what outputs record: "section", "strain", "stress"."""
        lengths = {each.name: each.length for each in self.model.beams}
        if beam not in lengths:
            raise ModelError(f"{beam!r} is no beam of the model; there are {', '.join(lengths) or 'none'}")
        x = np.linspace(0.0, lengths[beam], STATIONS)
        if quantity == "position":
            return x, self.stations(t)[beam][1]
        if quantity not in get_args(BeamQuantity):
            allowed = ", ".join(("position", *get_args(BeamQuantity)))
            raise ModelError(f"no quantity {quantity!r} along a beam; there are {allowed}")
        times = self.t if t is None else np.atleast_1d(np.asarray(t, dtype=np.float64))
        order = np.argsort(times, kind="stable")
        sections, times = self._sections(beam, x), times[order]
        assert self.phases is not None
        forces = sections.forces(times, self.state_at(times), self._held(times), self.phases)
        return x, sections.values(quantity, forces[np.argsort(order)])

    def _sections(self, beam: str, x: Array) -> Sections:
        """Of one beam; kept, since they take a moment to get ready."""
        from pliant.dynamics import prepare
        from pliant.section_forces import Sections

        if beam not in self._known_sections:
            self._known_sections[beam] = Sections(prepare(self.model, self.settings["formulation"]), beam, x)
        return self._known_sections[beam]

    @cached_property
    def _known_sections(self) -> dict[str, Sections]:
        return {}

    def _held(self, times: Array) -> Array:
        """Commands of the controllers at times."""
        assert self.commands is not None
        return np.ascontiguousarray(self.commands[np.searchsorted(self.commands[:, 0], times, side="right") - 1, 1:])

    def column(self, name: str) -> Array:
        """One coordinate by its name ("elbow"), or a velocity ("elbow.rate")."""
        if name in self.model.coordinates:
            return self.q[:, self.model.coordinates.index(name)]
        if name.endswith(".rate") and name.removesuffix(".rate") in self.model.velocities:
            return self.v[:, self.model.velocities.index(name.removesuffix(".rate"))]
        rates = ", ".join(f"{velocity}.rate" for velocity in self.model.velocities)
        raise ModelError(f"no column {name!r}; there are {', '.join(self.model.coordinates)}, {rates}")

    def placements(
        self, t: ArrayLike | None = None, of: Sequence[str] | None = None, *, enlarge: float = 1.0
    ) -> tuple[Array, Array]:
        """World attitude (times, n, 3, 3) and position (times, n, 3) of the bodies and frames named; or all bodies.

        enlarge: factor on the deformation of beams, for drawing."""
        from pliant.dynamics import prepare

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

        unwrap: angles and signs go on without jumps. Near gimbal lock Euler angles still turn fast: only the sum or the
        difference of the first and the last is known there."""
        from pliant.attitudes import express, follow
        from pliant.dynamics import prepare

        known = prepare(self.model).packed.frame_rows
        for name in (of, seen_from):
            if name not in known:
                raise ModelError(f"{name!r} is no body or frame of the model; there are {', '.join(known)}")
        R = self.placements(t, [of, seen_from])[0]
        found = express(np.swapaxes(R[:, 1], 1, 2) @ R[:, 0], as_)
        return follow(found, as_) if unwrap else found

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
        from pliant.dynamics import Prepared

        places = {beam.name: np.linspace(0.0, beam.length, STATIONS).tolist() for beam in self.model.beams}
        model, names = with_stations(self.model, places)
        return Prepared(model), names

    def _bent(self, t: ArrayLike | None, enlarge: float) -> Array:
        """q of the rows, or at times, modal coordinates times a factor."""
        q = self.q.copy() if t is None else self.at(np.atleast_1d(np.asarray(t, dtype=np.float64)))[0]
        for link in self.model.links:
            q[:, link.q_modes] *= enlarge
        return np.ascontiguousarray(q)

    @cached_property
    def dataset(self) -> xarray.Dataset:
        """Everything over time, labelled (xarray)."""
        import xarray

        time = ("time", self.t, {"units": "s"})
        variables: dict[str, Any] = {
            "q": (("time", "coordinate"), self.q),
            "v": (("time", "velocity"), self.v),
        }
        for name, values in self.energy.items():
            variables[f"energy_{name}"] = ("time", values, {"units": "J"})
        for name, values in self.outputs.items():
            variables[f"output_{name}"] = (("time", f"{name}_component"), values)
        coordinates = {
            "time": time,
            "coordinate": list(self.model.coordinates),
            "velocity": list(self.model.velocities),
        }
        return xarray.Dataset(variables, coordinates, {"model": self.model.name, "status": self.status})

    def save(self, path: str | Path) -> None:
        """Write a NetCDF file (readable by xarray.open_dataset(path, engine="h5netcdf"))."""
        from pliant.io.result_file import save_result

        save_result(self, Path(path))

    def __repr__(self) -> str:
        end = f"t = {self.t[-1]:g} s" if len(self.t) else "no rows"
        residual = self.audit.get("energy_residual", float("nan"))
        return (
            f"<Result of {self.model.name!r}: {self.status} at {end}, {len(self.t)} rows, "
            f"energy residual {residual:.1e}{'' if self.is_ok else ', ' + self.reason}>"
        )

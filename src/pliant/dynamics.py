"""Prepared: a model ready for many fast calls at one instant: forward and inverse dynamics, mass matrix, reactions,
energy, momentum. calls.py has the same with every argument checked, for one state or many."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.closing import Closing
from pliant.errors import ModelError, SimulationError
from pliant.methods import find_formulation, find_method
from pliant.model.model import Model
from pliant.model.tree import model_size
from pliant.system.pack import Packed, pack
from pliant.system.phases import Phases
from pliant.system.status import Status
from pliant.system.work import Work, new_work

Array = NDArray[np.float64]
NOTHING = np.zeros(0)
ON_PLANE = 1e-12  # of the model's size: rounding of a start on a plane


@dataclass(frozen=True)
class Energy:
    """Energies of a state [J], arrays if there are many; gravity is zero at the world origin."""

    kinetic: Any
    gravity: Any
    elastic: Any

    @property
    def total(self) -> Any:
        return self.kinetic + self.gravity + self.elastic


@dataclass(frozen=True)
class Momentum:
    """Momenta of a state, world axes [kg m/s, kg m^2/s]; of many, with leading dimensions."""

    linear: Array
    angular: Array  # about the world origin
    angular_about_centre: Array  # about the mass centre
    centre: Array  # mass centre [m]
    mass: Any

    @classmethod
    def of_rows(cls, out: Array) -> Momentum:
        """From rows of kernels/energy.py: momenta."""
        linear, angular, centre = out[..., :3].copy(), out[..., 3:6].copy(), out[..., 6:9].copy()
        mass = float(out[9]) if out.ndim == 1 else out[..., 9].copy()
        return cls(linear, angular, angular - np.cross(centre, linear), centre, mass)


class Prepared:
    """A model ready for many calls: tables packed, kernels compiled. One thread at a time; copy() makes another."""

    def __init__(
        self, model: Model, formulation: str = "auto", packed: Packed | None = None, closure: Closing | None = None
    ) -> None:
        self.method = find_formulation(formulation, model.has_modes)
        self.closure = closure or Closing()
        from pliant.kernels import _jit, dynamics, energy, inverse
        from pliant.kernels.contact import phase, stick
        from pliant.kernels.tables import Pinned

        self.model = model
        self.packed = packed or pack(model)
        self.system = self.packed.system
        self.work: Work = new_work(self.system, self.packed.n_inputs)
        self._pinned = Pinned(self.system), Pinned(self.work)
        self.refs = self._pinned[0].ref, self._pinned[1].ref  # what kernels take for system and work
        self._no_reaction = self.work.no_reaction
        self._copies: list[Prepared] = []
        run = self.work.run[0]
        run.formulation, run.solve = _jit.address(self.method.load()), _jit.address(stick.solve)
        run.prepare, run.set_phase = _jit.address(dynamics.prepare), _jit.address(phase.set_phase)
        run.open_formulation = run.formulation
        if model.loops or len(self.work.stick):
            run.respond = _jit.address(self.method.load_response())
        if model.loops:
            self.closure.enter(run)
        self._forward, self._inverse = _jit.entry(dynamics.forward), _jit.entry(inverse.inverse)
        self.energies_kernel, self.momenta_kernel = _jit.entry(energy.energies), _jit.entry(energy.momenta)

    def copy(self, closure: Closing | None = None) -> Prepared:
        """Another handle on the same tables, for another thread, or with another closure of the loops."""
        return Prepared(self.model, self.method.name, self.packed, closure or self.closure)

    def crew(self, count: int) -> list[Prepared]:
        """This handle and copies of it, one per thread; they are kept."""
        self._copies += [self.copy() for _ in range(count - 1 - len(self._copies))]
        return [self, *self._copies[: count - 1]]

    def forward_dynamics(
        self, q: Array, v: Array, tau: Array = NOTHING, t: float = 0.0, out: Array | None = None
    ) -> Array:
        """vdot, without any check of the arguments (float64, contiguous)."""
        vdot = np.empty(len(v)) if out is None else out
        status = self._forward(*self.refs, t, q, v, tau, vdot, self._no_reaction)
        if status:
            raise self.failure(status)
        return vdot

    def inverse_dynamics(self, q: Array, v: Array, vdot: Array, t: float = 0.0, out: Array | None = None) -> Array:
        """tau, without any check."""
        tau = np.empty(len(v)) if out is None else out
        self._inverse(*self.refs, t, q, v, vdot, tau, np.empty((len(self.system.bodies), 6)))
        return tau

    def reactions(self, q: Array, v: Array, tau: Array = NOTHING, t: float = 0.0) -> Array:
        """(n_bodies, 6) wrench by the parent on the child, at the child's origin, child axes: force, moment."""
        reaction = np.zeros((len(self.system.bodies), 6))
        status = self._forward(*self.refs, t, q, v, tau, np.empty(len(v)), reaction)
        if status != Status.OK:
            raise self.failure(status)
        return reaction

    def mass_matrix(self, q: Array, out: Array | None = None) -> Array:
        """M(q), (n_v, n_v)."""
        return self.equations(q, np.zeros(len(self.system.dofs)), out)[0]

    def equations(self, q: Array, v: Array, out: Array | None = None) -> tuple[Array, Array]:
        """M and h of M vdot + h = tau; h holds gravity and velocity terms, no springs, motors or loads."""
        from pliant.kernels import _jit

        n = len(self.system.dofs)
        M, h = np.empty((n, n)) if out is None else out, np.empty(n)
        _jit.entry(self.equations_kernel)(*self.refs, q, v, M, h)
        return M, h

    @property
    def equations_kernel(self) -> Any:
        """The formulation's own, or that of gibbs_appell."""
        can = "equations" in self.method.supports
        method = self.method if can else find_method("formulation", "gibbs_appell")
        return method.load("matrices")

    def energy(self, q: Array, v: Array) -> Energy:
        out = np.empty((1, 3))
        self.energies_kernel(*self.refs, q[None, :], v[None, :], out)
        return Energy(*out[0].tolist())

    def momentum(self, q: Array, v: Array) -> Momentum:
        out = np.empty((1, 12))
        self.momenta_kernel(*self.refs, q[None, :], v[None, :], out)
        return Momentum.of_rows(out[0])

    def mass_centres(self, q: Array) -> Array:
        """Mass centre in many configurations, (rows, 3) world [m]."""
        out = np.empty((len(q), 12))
        self.momenta_kernel(*self.refs, q, np.zeros((len(q), len(self.system.dofs))), out)
        return out[:, 6:9].copy()

    def energies(self, q: Array, v: Array) -> dict[str, Array]:
        """Energies of many states: each (rows) [J]."""
        out = np.empty((len(q), 3))
        self.energies_kernel(*self.refs, q, v, out)
        if self.model.loops and self.closure.method.name == "springs":
            out[:, 2] += self._spring_energies(q, v)
        return {"kinetic": out[:, 0].copy(), "gravity": out[:, 1].copy(), "elastic": out[:, 2].copy()}

    def _spring_energies(self, q: Array, v: Array) -> Array:
        from pliant.kernels import _jit
        from pliant.kernels.closures import springs

        out = np.empty((len(q), 1))
        _jit.entry(springs.spring_energies)(*self.refs, q, v, out)
        return np.asarray(out[:, 0])

    def placements(self, q: Array, of: Sequence[str] | None = None) -> tuple[Array, Array]:
        """World attitude (rows, n, 3, 3) and position (rows, n, 3) of the bodies and frames named; else of all bodies.

        Of a beam's section: name a frame there."""
        from pliant.kernels import _jit, outputs

        n = len(self.system.frames)
        out = np.empty((len(q), 12 * n))
        _jit.entry(outputs.placements)(*self.refs, q, np.zeros((len(q), len(self.system.dofs))), out)
        names = [link.body.name for link in self.model.links] if of is None else of
        each = out.reshape(len(q), n, 12)[:, [self.packed.frame_rows[name] for name in names]]
        return each[..., :9].reshape(len(q), len(names), 3, 3), each[..., 9:]

    def outputs(self, t: Array, y: Array, inputs: Array, phases: Phases) -> dict[str, Array]:
        """The model's named outputs along rows; y = (q, v, z)."""
        asked, rows = self.model.outputs, self.packed.outputs
        if not asked:
            return {}
        out = self.record(rows, t, y, inputs, phases)
        names = [output.name for output in asked if not output.is_in_beam]
        found = {
            name: out[:, row.column : row.column + row.count].copy() for name, row in zip(names, rows, strict=True)
        }
        if len(names) < len(asked):
            from pliant.section_forces import section_outputs

            found |= section_outputs(self, t, y, inputs, phases)
        return {output.name: found[output.name] for output in asked}

    def record(self, rows: Any, t: Array, y: Array, inputs: Array, phases: Phases) -> Array:
        """Columns of OUTPUT rows along times t, each in the phase that is valid from it on."""
        from pliant.kernels import _jit, outputs

        out = np.full((len(t), int(rows.count.sum())), np.nan)
        kernel = _jit.entry(outputs.record_outputs)
        for part, phase in phases.segments(t):
            self.work.phase[:] = phase
            kernel(*self.refs, t[part], np.ascontiguousarray(y[part]), inputs[part], rows, out[part])
        return out

    def start_phase(self, y: Array) -> None:
        """Put work into the discrete phase a start state tells. Hard limits must hold, and no point may be inside its
        plane: a contact begins with a speed."""
        from pliant.kernels import _jit, events

        world = self.system.world[0]
        q, v = y[: world.n_q], y[world.n_q : world.n_q + world.n_v]
        for limit in self.system.limits:
            depth = limit.side * (self._seen(y, int(limit.dof)) - limit.bound)
            if depth > 0 and limit.is_hard:
                raise ModelError(
                    f"start: {self.model.velocities[limit.dof]!r} is {depth:g} beyond its limit {limit.bound:g}; "
                    "start inside, or give the limit a stiffness"
                )
        gaps = np.zeros((1, len(self.system.contacts)))
        _jit.entry(events.start_phase)(*self.refs, q[None, :].copy(), v[None, :].copy(), gaps)
        if gaps.min(initial=0.0) >= -self._on_plane:
            return
        for k, ((contact, point), gap) in enumerate(zip(self.packed.contact_names, gaps[0], strict=True)):
            if gap < -self._on_plane and not self.system.contacts[k].rests:
                raise ModelError(
                    f"start: point {point!r} of contact {contact!r} is {-gap:g} m inside its plane; "
                    "start on the plane or above it, or shift the plane by its offset; if it is pressed on the plane, "
                    "say rests = true"
                )

    @cached_property
    def _on_plane(self) -> float:
        """How far inside a plane a point still counts as on it [m]."""
        return ON_PLANE * model_size(self.model)

    def _seen(self, y: Array, j: int) -> float:
        """The angle that springs and limits of velocity j see (kernels/forces/joints.py: seen)."""
        dof = self.system.dofs[j]
        modes = self.model.links[dof.body].q_modes
        tilt = self.system.shapes[dof.tilt : dof.tilt + self.model.links[dof.body].body.n_modes]
        return float(y[dof.q] + (tilt @ y[modes] if dof.tilt >= 0 else 0.0))

    def conserves_momentum(self) -> bool:
        """Whether the model itself says that momenta are constant: free roots and nothing from outside."""
        roots = [link for link in self.model.links if link.parent < 0]
        dofs = self.system.dofs
        free = all(
            link.joint.kind == "floating"
            and not np.any(dofs[link.v_slice].stiffness)
            and not np.any(dofs[link.v_slice].damping)
            and not np.any(dofs[link.v_slice].armature)
            and np.all(dofs[link.v_slice].motor < 0)
            and np.all(dofs[link.v_slice].input < 0)
            for link in roots
        )
        from_world = any(self.system.frames[contact.plane].body < 0 for contact in self.system.contacts)
        return free and not any(self.model.gravity) and len(self.model.loads) == 0 and not from_world

    def momentum_drift(self, q: Array, v: Array) -> float:
        """Largest change of linear or angular momentum relative to the sum of the bodies' own."""
        out = np.empty((len(q), 12))
        self.momenta_kernel(*self.refs, q, v, out)
        change = out[:, :6] - out[0, :6]
        scales = np.max(out[:, 10:], axis=0)
        return float(
            max(np.max(np.abs(change[:, :3])) / (scales[0] or 1.0), np.max(np.abs(change[:, 3:])) / (scales[1] or 1.0))
        )

    def failure(self, status: int, where: str = "") -> SimulationError:
        body = self.model.links[int(self.work.run[0].body)].body.name
        return SimulationError(
            f"{where}body {body!r}: the inertia its joint feels is not positive (status {Status(status).name}); "
            "give the body, or what it carries, mass and inertia in every direction its joint frees"
        )


_handles: OrderedDict[tuple[int, str, int], Prepared] = OrderedDict()
MAX_HANDLES = 32


def prepare(model: Model, formulation: str = "auto") -> Prepared:
    """A handle for many fast calls on one model (no checks, out= arrays); the last ones are kept, per thread."""
    key = (id(model), formulation, threading.get_ident())
    handle = _handles.get(key)
    if handle is None or handle.model is not model:
        handle = _handles[key] = Prepared(model, formulation)
        while len(_handles) > MAX_HANDLES:
            _handles.popitem(last=False)
    return handle

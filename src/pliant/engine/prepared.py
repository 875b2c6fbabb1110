"""Prepared: a model ready for many fast calls at one instant: forward and inverse dynamics, mass matrix, reactions,
energy, momentum. calls.py has the same with every argument checked, for one state or many."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import NDArray

from pliant.engine.arguments import (
    FLOAT,
    as_flag,
    as_index,
    as_model,
    as_name,
    as_names,
    as_out,
    as_table,
    as_time,
    as_times,
    as_vector,
    as_whole,
)
from pliant.errors import ModelError, SimulationError, failure_words
from pliant.methods import FormulationLike, find_formulation
from pliant.methods.closures import Closure, Multipliers
from pliant.methods.formulations import Formulation, GibbsAppell
from pliant.model.messages import closest, listed, quoted
from pliant.model.model import Model
from pliant.model.quantities import LARGEST
from pliant.model.tree import model_size
from pliant.system.pack import Packed, pack
from pliant.system.phases import Phases, are_phases
from pliant.system.status import Status
from pliant.system.tables import OUTPUT
from pliant.system.work import Work, new_work

Array = NDArray[np.float64]
NOTHING = np.zeros(0)
NO_INVERSE = (
    'beams with coupling = "stiffened" have no inverse dynamics: their stiffness follows from a first solve for the '
    'accelerations; take coupling = "high-order"'
)
ON_PLANE = 1e-12  # of the model's size: rounding of a start on a plane


def is_apart(owner: Any, out: Array) -> bool:
    """Whether what a view is of owns its memory, and is not out, which owns its own."""
    return type(owner) is ndarray and owner.base is None and owner is not out


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
    """A model ready for many calls: tables packed, kernels compiled.

    Arguments are float64 arrays, C-contiguous, of the right shape; that is looked at in a fraction of a microsecond,
    and what is not so is converted, or refused with a message. unchecked=True: nobody looks, and a wrong array crashes
    the process or reads what is not there. Threads that share a handle take turns; copy() makes another."""

    def __init__(
        self,
        model: Model,
        formulation: FormulationLike = "auto",
        packed: Packed | None = None,
        closure: Closure | None = None,
        unchecked: bool = False,
    ) -> None:
        self.method = find_formulation(formulation, as_model(model))
        if closure is not None and not isinstance(closure, Closure):
            raise ModelError(f"closure: {quoted(closure)} found; leave it out, or give that of another handle")
        self.closure = closure or Multipliers()
        from pliant.kernels import _jit, dynamics
        from pliant.kernels.contact import phase
        from pliant.kernels.forces import signals
        from pliant.kernels.kinematics import tree
        from pliant.kernels.tables import Pinned

        if packed is not None and (not isinstance(packed, Packed) or packed.model is not model):
            raise ModelError(f"packed: {quoted(packed)} found; leave it out, or give the tables of this very model")
        self.model = model
        self.packed = packed or pack(model)
        self.system = self.packed.system
        self.work: Work = new_work(self.system, self.packed.n_inputs, self.packed.control_size)
        self._pinned = Pinned(self.system), Pinned(self.work)
        self.refs = self._pinned[0].ref, self._pinned[1].ref  # what kernels take for system and work
        self._no_reaction = self.work.no_reaction
        self.start_speed_gain = 1.0  # of the last run: by how much closing the loops has made its start faster
        self._copies: list[Prepared] = []
        self.unchecked = as_flag(unchecked, "unchecked")
        self.lock = threading.RLock()  # work is one thread's at a time
        # as the tables are, whatever becomes of the model
        self._names = {"q": model.coordinates, "v": model.velocities}
        n_q, n_v = len(model.coordinates), len(model.velocities)
        if (n_q, n_v) != (len(model.q0), len(self.system.dofs)):
            raise ModelError(
                f"model {model.name!r} was changed after it was made; make another, such as with dataclasses.replace"
            )
        self._q_shape, self._v_shape, self._M_shape = (n_q,), (n_v,), (n_v, n_v)
        self._is_stiffened = model.is_stiffened
        self._wrenches = np.empty((len(self.system.bodies), 6))
        calls = self.work.calls[0]
        calls.formulation = _jit.address(self.method.load())
        if model.is_stiffened:
            from pliant.kernels.formulations import stiffening

            calls.unstiffened, calls.formulation = calls.formulation, _jit.address(stiffening.solve_stiffened)
        calls.place = _jit.address(tree.move_and_place)
        if self.system.world[0].n_acting > 0:
            calls.signals = _jit.address(signals.signals)
        calls.prepare, calls.set_phase = _jit.address(dynamics.prepare), _jit.address(phase.set_phase)
        calls.open_formulation = calls.solve = calls.formulation
        if np.any(self.system.controllers.is_computed_torque):
            from pliant.kernels import rigid_model

            calls.rigid_forces = _jit.address(rigid_model.rigid_forces)
        if model.loops or len(self.work.stick):
            from pliant.kernels.contact import stick

            calls.solve, calls.respond = _jit.address(stick.solve), _jit.address(self.method.load_response())
        if len(self.work.stick):
            from pliant.kernels.contact import bounded_forces

            calls.rest_forces = _jit.address(bounded_forces.rest_forces)
        if model.loops:
            self.closure.install(self.work)

    # entries into kernels, each compiled when it is called first

    @cached_property
    def _forward(self) -> Any:
        from pliant.kernels import _jit, dynamics

        return _jit.entry(dynamics.forward)

    @cached_property
    def _enter_phase(self) -> Any:
        from pliant.kernels import _jit, events

        return _jit.entry(events.start_phase)

    @cached_property
    def _inverse(self) -> Any:
        from pliant.kernels import _jit, inverse

        return _jit.entry(inverse.inverse)

    @cached_property
    def energies_kernel(self) -> Any:
        from pliant.kernels import _jit, energy

        return _jit.entry(energy.energies)

    @cached_property
    def momenta_kernel(self) -> Any:
        from pliant.kernels import _jit, energy

        return _jit.entry(energy.momenta)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copied and sent to other processes as what it is made of: addresses hold here and now only."""
        return Prepared, (self.model, self.method, None, self.closure, self.unchecked)

    def copy(self, closure: Closure | None = None) -> Prepared:
        """Another handle on the same tables, for another thread, or with another closure of the loops."""
        chosen = self.closure if closure is None else closure
        return Prepared(self.model, self.method, self.packed, chosen, self.unchecked)

    def fits(self, model: Model) -> bool:
        """Whether the names of a model are still those of its tables."""
        names = self._names
        return names["q"] is as_model(model).coordinates and names["v"] is model.velocities

    def per_thread(self, count: int) -> list[Prepared]:
        """This handle and copies of it, one per thread; they are kept."""
        as_whole(count, "count")
        self._copies += [self.copy() for _ in range(count - 1 - len(self._copies))]
        return [self, *self._copies[: count - 1]]

    # --- one state ---

    def forward_dynamics(
        self, q: Array, v: Array, tau: Array = NOTHING, t: float = 0.0, out: Array | None = None
    ) -> Array:
        """vdot under tau (none: not given, or empty) at time t; in out, if given."""
        if self.unchecked:
            vdot = np.empty(len(v)) if out is None else out
            if status := self._forward(*self.refs, t, q, v, tau, vdot, self._no_reaction):
                raise self.failure(status)
            return vdot
        if not self._fit(q, v, tau, t):
            q, v, tau, t = self._converted(q, v, tau, t, "tau")
        vdot = out if out is not None and self._is_apart(out, q, v, tau) else np.empty(self._v_shape)
        with self.lock:
            if status := self._forward(*self.refs, t, q, v, tau, vdot, self._no_reaction):
                raise self.failure(status)
        return vdot if out is None or out is vdot else self._given(vdot, out)

    def inverse_dynamics(self, q: Array, v: Array, vdot: Array, t: float = 0.0, out: Array | None = None) -> Array:
        """tau of an acceleration; in out, if given."""
        if self._is_stiffened:
            raise ModelError(NO_INVERSE)
        if self.unchecked:
            tau = np.empty(len(v)) if out is None else out
            if status := self._inverse(*self.refs, t, q, v, vdot, tau, self._wrenches):
                raise self.failure(status)
            return tau
        if not self._fit(q, v, vdot, t) or vdot is NOTHING:
            q, v, vdot, t = self._converted(q, v, vdot, t, "vdot")
        tau = out if out is not None and self._is_apart(out, q, v, vdot) else np.empty(self._v_shape)
        with self.lock:
            if status := self._inverse(*self.refs, t, q, v, vdot, tau, self._wrenches):
                raise self.failure(status)
        return tau if out is None or out is tau else self._given(tau, out)

    def reactions(self, q: Array, v: Array, tau: Array = NOTHING, t: float = 0.0) -> Array:
        """(n_bodies, 6) wrench by the parent on the child, at the child's origin, child axes: force, moment."""
        if not self.unchecked and not self._fit(q, v, tau, t):
            q, v, tau, t = self._converted(q, v, tau, t, "tau")
        reaction = np.zeros((len(self.system.bodies), 6))
        with self.lock:
            if status := self._forward(*self.refs, t, q, v, tau, np.empty(self._v_shape), reaction):
                raise self.failure(status)
        return reaction

    def _fit(self, q: Any, v: Any, x: Any, t: Any) -> bool:
        """Whether kernels can take these as they are: every array float64, C-contiguous, aligned and of its shape, the
        time finite. x: tau, which may be NOTHING, or vdot."""
        shape = self._v_shape
        return (
            type(q) is ndarray
            and q.dtype is FLOAT
            and q.shape == self._q_shape
            and q.flags.carray
            and type(v) is ndarray
            and v.dtype is FLOAT
            and v.shape == shape
            and v.flags.carray
            and (x is NOTHING or (type(x) is ndarray and x.dtype is FLOAT and x.shape == shape and x.flags.carray))
            and type(t) is float
            and t - t == 0.0
        )

    def _is_apart(self, out: Any, q: Array, v: Array, x: Array) -> bool:
        """Whether a kernel can write there: it fits, owns its memory, and none of the others is it or part of it."""
        return (
            type(out) is ndarray
            and out.dtype is FLOAT
            and out.shape == self._v_shape
            and out.flags.carray
            and out is not q
            and out is not v
            and out is not x
            and out.base is None
            and (q.base is None or is_apart(q.base, out))
            and (v.base is None or is_apart(v.base, out))
            and (x.base is None or is_apart(x.base, out))
        )

    def _converted(self, q: Any, v: Any, x: Any, t: Any, what: str) -> tuple[Array, Array, Array, float]:
        """As kernels take them, or a message."""
        names = self._names["v"]
        q, v = as_vector(q, self._names["q"], "q"), as_vector(v, names, "v")
        is_nothing = what == "tau" and (x is None or (isinstance(x, ndarray) and x.shape == (0,)))
        return q, v, NOTHING if is_nothing else as_vector(x, names, what), as_time(t)

    def _given(self, values: Array, out: Any) -> Array:
        """In the caller's array, after all was read: it may overlap."""
        found = as_out(out, values.shape)
        found[...] = values
        return found

    def mass_matrix(self, q: Array, out: Array | None = None) -> Array:
        """M(q), (n_v, n_v)."""
        return self.equations(q, np.zeros(self._v_shape), out)[0]

    def equations(self, q: Array, v: Array, out: Array | None = None) -> tuple[Array, Array]:
        """M and h of M vdot + h = tau; h holds gravity and velocity terms, no springs, motors or loads."""
        from pliant.kernels import _jit

        if not self.unchecked and not self._fit(q, v, NOTHING, 0.0):
            q, v, _, _ = self._converted(q, v, None, 0.0, "tau")
        M, h = np.empty(self._M_shape), np.empty(self._v_shape)
        with self.lock:
            _jit.entry(self.equations_kernel)(*self.refs, q, v, M, h)
        return M if out is None else self._given(M, out), h

    @property
    def equations_kernel(self) -> Any:
        """The formulation's own, or that of gibbs_appell."""
        can = "equations" in self.method.supports
        method = self.method if can else GibbsAppell()
        return method.load("matrices")

    def energy(self, q: Array, v: Array) -> Energy:
        """Kinetic, gravity and elastic energy of a state [J]."""
        return Energy(*self._queried(self.energies_kernel, q, v, 3)[0].tolist())

    def momentum(self, q: Array, v: Array) -> Momentum:
        """Linear and angular momentum of a state, and its mass centre."""
        return Momentum.of_rows(self._queried(self.momenta_kernel, q, v, 12)[0])

    def _queried(self, kernel: Any, q: Array, v: Array, width: int) -> Array:
        """The row of numbers of a state by a QUERY kernel."""
        if not self.unchecked and not self._fit(q, v, NOTHING, 0.0):
            q, v, _, _ = self._converted(q, v, None, 0.0, "tau")
        out = np.empty((1, width))
        with self.lock:
            kernel(*self.refs, q[None, :], v[None, :], out)
        return out

    # --- rows of states ---

    def _rows(self, kernel: Any, q: Any, v: Any, width: int) -> Array:
        """(rows, width) numbers by a QUERY kernel; v None: at rest."""
        q = as_table(q, self._names["q"], "q")
        v = np.zeros((len(q), *self._v_shape)) if v is None else as_table(v, self._names["v"], "v", len(q))
        out = np.empty((len(q), width))
        with self.lock:
            kernel(*self.refs, q, v, out)
        return out

    def mass_centres(self, q: Array) -> Array:
        """Mass centre in many configurations, (rows, 3) world [m]."""
        return self._rows(self.momenta_kernel, q, None, 12)[:, 6:9].copy()

    def energies(self, q: Array, v: Array) -> dict[str, Array]:
        """Energies of many states: each (rows) [J]."""
        out = self._rows(self.energies_kernel, q, v, 3)
        if self.model.loops and not self.closure.keeps_closed:
            from pliant.kernels import _jit
            from pliant.kernels.closures import springs

            out[:, 2] += self._rows(_jit.entry(springs.spring_energies), q, v, 1)[:, 0]
        return {"kinetic": out[:, 0].copy(), "gravity": out[:, 1].copy(), "elastic": out[:, 2].copy()}

    def placements(self, q: Array, of: Sequence[str] | None = None) -> tuple[Array, Array]:
        """World attitude (rows, n, 3, 3) and position (rows, n, 3) of the bodies and frames named; else of all bodies.

        Of a beam's section: name a frame there."""
        names = [link.body.name for link in self.model.links] if of is None else as_names(of, "of")
        return self.frame_placements(q, [self.frame_row(name) for name in names])

    def frame_placements(self, q: Array, frames: Sequence[int]) -> tuple[Array, Array]:
        """The same of rows of system.frames, named or not."""
        from pliant.kernels import _jit, outputs

        n = len(self.system.frames)
        if not isinstance(frames, (list, tuple)):
            raise ModelError(f"frames: {quoted(frames)} found; give a list of rows")
        frames = [as_index(frame, n, "frames") for frame in frames]
        out = self._rows(_jit.entry(outputs.placements), q, None, 12 * n)
        each = out.reshape(len(out), n, 12)[:, frames]
        return each[..., :9].reshape(len(out), len(frames), 3, 3), each[..., 9:]

    def frame_places(self, q: Array) -> Array:
        """World position (rows, frames, 3) of every row of the table of frames, ends of springs among them."""
        return self.frame_placements(q, list(range(len(self.system.frames))))[1]

    def frame_row(self, name: str) -> int:
        """Row of a frame by its name or its body's, or a message."""
        known = self.packed.frame_rows
        if not isinstance(name, str) or name not in known:
            hint = closest(str(name), known) if isinstance(name, str) else ""
            raise ModelError(
                f"no frame {quoted(name)}{hint or ';'} there are {listed(known)}; name others in the model's frames"
            )
        return known[name]

    def record(self, rows: Any, t: Array, y: Array, inputs: Array, phases: Phases) -> Array:
        """Columns of OUTPUT rows along sorted times t, each in the phase that is valid from it on."""
        from pliant.kernels import outputs

        if not isinstance(rows, np.ndarray) or rows.dtype != OUTPUT:
            raise ModelError(f"rows: {quoted(rows)} found; give OUTPUT rows of this model's tables")
        return self._along(outputs.record_outputs, rows, int(rows["count"].sum()), t, y, inputs, phases)

    def normal_forces(self, t: Array, y: Array, inputs: Array, phases: Phases) -> Array:
        """(rows, contacts) normal force of every row of the table of contacts [N]."""
        from pliant.kernels import outputs

        n = len(self.system.contacts)
        return self._along(outputs.record_normal_forces, self.packed.outputs[:0], n, t, y, inputs, phases)

    def check_friction(self, t: Array, y: Array, inputs: Array, phases: Phases) -> Array:
        """(rows, 3) of kernels/friction_check.py: what drives, its power [W], stick forces over their bounds."""
        from pliant.kernels import friction_check

        return self._along(friction_check.check_friction, self.packed.outputs[:0], 3, t, y, inputs, phases)

    def _along(
        self, record: Any, rows: Any, n_columns: int, t: Array, y: Array, inputs: Array, phases: Phases
    ) -> Array:
        """Columns that a RECORD kernel fills along sorted times t, each in the phase that is valid from it on."""
        from pliant.kernels import _jit

        t, y, inputs = self._recorded(t, y, inputs, phases)
        out, kernel = np.full((len(t), n_columns), np.nan), _jit.entry(record)
        with self.lock:
            for part, phase in phases.segments(t):
                self.work.phase[:] = phase
                kernel(*self.refs, t[part], y[part], inputs[part], rows, out[part])
        return out

    def _recorded(self, t: Any, y: Any, inputs: Any, phases: Any) -> tuple[Array, Array, Array]:
        """Rows of a run as kernels take them, or a message."""
        times = as_times(t)
        if times.ndim != 1 or np.any(np.diff(times) < 0):
            raise ModelError(f"t: {quoted(t)} found; give a list of times in rising order")
        y = as_table(y, self._state_names, "y", len(times))
        inputs = as_table(inputs, ("command",) * self.packed.n_inputs, "inputs", len(times))
        shape = (len(phases.times), len(self.work.phase)) if isinstance(phases, Phases) else ()
        if not shape or not shape[0] or phases.tables.shape != shape or not are_phases(phases.tables):
            raise ModelError(f"phases: {quoted(phases)} found; give those of a Result of this model")
        return times, y, inputs

    @cached_property
    def _state_names(self) -> tuple[str, ...]:
        """Of y = (q, v, z)."""
        rates = tuple(f"{name}.rate" for name in self._names["v"])
        return (*self._names["q"], *rates, *(f"z{k}" for k in range(int(self.system.world[0].n_z))))

    @cached_property
    def _y_shape(self) -> tuple[int]:
        return (len(self._state_names),)

    def start_phase(self, y: Array) -> None:
        """Put work into the discrete phase of a start state. Hard limits must hold, and no point may be inside its
        plane: a contact begins with a speed."""
        (n_q,), (n_v,) = self._q_shape, self._v_shape
        is_vector = type(y) is ndarray and y.dtype is FLOAT and y.shape == self._y_shape and y.flags.carray
        if not is_vector or not math.hypot(*y.tolist()) <= LARGEST:  # one may be too large, or no number
            y = as_vector(y, self._state_names, "y")
        q, v = y[:n_q], y[n_q : n_q + n_v]
        for limit in self.system.limits if len(self.system.limits) else ():
            depth = limit.side * (self._joint_deflection(y, int(limit.dof)) - limit.bound)
            if depth > 0 and limit.is_hard:
                raise ModelError(
                    f"start: {self.model.velocities[limit.dof]!r} is {depth:g} beyond its limit {limit.bound:g}; "
                    "start inside, or give the limit a stiffness"
                )
        self._check_springs(q)
        gaps = np.zeros((1, len(self.system.contacts)))
        with self.lock:
            self._enter_phase(*self.refs, q[None, :], v[None, :], gaps)
        if min(gaps[0].tolist(), default=0.0) >= -self._on_plane:
            return
        for k, ((contact, point), gap) in enumerate(zip(self.packed.contact_names, gaps[0], strict=True)):
            if gap < -self._on_plane and not self.system.contacts[k].rests:
                raise ModelError(
                    f"start: point {point!r} of contact {contact!r} is {-gap:g} m inside its plane; "
                    "start on the plane or above it, or shift the plane by its offset; if it is pressed on the plane, "
                    "say rests = true"
                )

    def _check_springs(self, q: Array) -> None:
        """Ends of springs that must not meet are apart, or a message."""
        springs = self.system.springs
        if not len(springs) or not np.any(springs.nearest > 0.0):
            return
        places = self.frame_places(q[None, :])[0]
        distances = np.linalg.norm(places[springs.end] - places[springs.start], axis=1)
        for k in np.flatnonzero(distances < springs.nearest)[:1]:
            raise ModelError(
                f"start: the ends of spring {self.model.springs[k].name!r} coincide, where its force has no direction; "
                "start with its ends apart, or give it length 0 and no motor"
            )

    @cached_property
    def _on_plane(self) -> float:
        """How far inside a plane a point still counts as on it [m]."""
        return ON_PLANE * model_size(self.model)

    def _joint_deflection(self, y: Array, j: int) -> float:
        """The angle that springs and limits of velocity j act on (kernels/forces/joints.py)."""
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
        ends = np.concatenate([self.system.springs.start, self.system.springs.end])
        from_world |= bool(np.any(self.system.frames.body[ends] < 0))
        return free and not any(self.model.gravity) and len(self.model.loads) == 0 and not from_world

    def momentum_drift(self, q: Array, v: Array) -> float:
        """Largest change of linear or angular momentum relative to the sum of the bodies' own."""
        out = self._rows(self.momenta_kernel, q, v, 12)
        if not len(out):
            return 0.0
        change = out[:, :6] - out[0, :6]
        scales = np.max(out[:, 10:], axis=0)
        return float(
            max(np.max(np.abs(change[:, :3])) / (scales[0] or 1.0), np.max(np.abs(change[:, 3:])) / (scales[1] or 1.0))
        )

    def failed_name(self, status: int, row: int | None = None) -> str:
        """The body, or the spring, where a kernel failed; row: if not that of this handle."""
        is_spring = as_whole(status, "status", 0) == Status.COINCIDENT
        names = (
            [each.name for each in self.model.springs] if is_spring else [link.body.name for link in self.model.links]
        )
        row = int(self.work.run[0].body) if row is None else as_whole(row, "row", 0)
        if row >= len(names):
            raise ModelError(f"row: {row} found; give a number below {len(names)}")
        return names[row]

    def failure(self, status: int, where: str = "") -> SimulationError:
        """A status of a kernel in words."""
        name, before = self.failed_name(status), as_name(where, "where")
        if status == Status.COINCIDENT:
            return SimulationError(f"{before}{failure_words(Status.COINCIDENT, name)}")
        names = [each.name for each in Status if each == status] or ["unknown"]
        return SimulationError(
            f"{before}body {name!r}: the inertia its joint feels is not positive (status {names[0]}); "
            "give the body, or what it carries, mass and inertia in every direction its joint frees"
        )


_handles: OrderedDict[tuple[int, Formulation, int, bool], Prepared] = OrderedDict()
MAX_HANDLES = 32


def prepare(model: Model, formulation: FormulationLike = "auto", *, unchecked: bool = False) -> Prepared:
    """A handle for many fast calls on one model (out= arrays, only the cheap checks); the last ones are kept, per
    thread. unchecked=True: no checks at all; a wrong array then crashes the process, or worse."""
    method = find_formulation(formulation, as_model(model))
    key = (id(model), method, threading.get_ident(), as_flag(unchecked, "unchecked"))
    handle = _handles.get(key)
    if handle is None or handle.model is not model or not handle.fits(model):
        handle = _handles[key] = Prepared(model, method, unchecked=unchecked)
        while len(_handles) > MAX_HANDLES:
            _handles.popitem(last=False)
    return handle

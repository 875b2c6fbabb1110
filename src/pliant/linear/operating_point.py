"""A state about which small motions are looked at, and their linear model x' = A x + B u, y = C x + D u.

States are deviations from the state: one per velocity that is free, along the motion of that velocity (so three for a
ball joint, in the axes of the child), then their rates, then the bristles of friction laws that have them. Closed loops
and contacts or joints that stick leave fewer: as many velocities as can be chosen independently, the others follow.
What happens only at events is held as it is: points that touch stay touching, what sticks stays stuck."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.engine.arguments import as_model, as_state, as_time
from pliant.engine.motion import moved_along
from pliant.engine.prepared import Prepared, prepare
from pliant.errors import ModelError
from pliant.linear.differences import derivative
from pliant.linear.inputs_outputs import Input, Quantity
from pliant.linear.state_space import StateSpace
from pliant.mechanisms.constraints import Loops
from pliant.model.columns import UNITS, velocity_columns
from pliant.model.model import Model
from pliant.model.scales import tolerances
from pliant.results.outputs import recorded_outputs
from pliant.system.contact_tables import Branch
from pliant.system.phases import Phases

Array = NDArray[np.float64]

BREAKING = "give a velocity with which it slides, or less force, which friction can hold"
DEPENDENT = 1e-10  # singular values of constraints below this share of the largest are zero
AT_KINK = 1e-12  # [rad, rad/s; times the model's size m, m/s] nearer to the place of an event than this is at it


@dataclass
class OperatingPoint:
    """A state about which small motions are looked at, its phase held."""

    model: Model
    q: Any
    v: Any
    t: float
    refuses_kinks: bool = True
    handle: Prepared = field(init=False)
    commands: Array = field(init=False)  # held by the motors of controllers [N, N m]
    held: Array = field(init=False)  # constant forces besides, per velocity

    def __post_init__(self) -> None:
        from pliant.kernels import _jit, dynamics, outputs

        model = as_model(self.model)
        self.handle = handle = prepare(model).copy()
        n_v = len(model.velocities)
        self.t = as_time(self.t)
        still = np.zeros(n_v)
        self.q, self.v = as_state(
            model, model.q0 if self.q is None else self.q, still if self.v is None else self.v, ("q", "v")
        )
        handle.work.calls[0].derivative = _jit.address(dynamics.derivative)
        self._record = _jit.entry(outputs.record_rates)
        # looked up once: fields of record arrays take long
        self._forces, self._no_outputs = handle.work.dofs.tau_extra, handle.packed.outputs[:0]
        self._n_z = int(handle.system.world[0].n_z)
        self.is_free = np.asarray(handle.system.dofs.motion < 0)
        self.commands, self.held = np.zeros(handle.packed.n_inputs), still
        # prescribed coordinates on their signals
        self._evaluate(self.q, self.v, self._no_states)
        self._impose()
        self.loops = Loops(handle) if model.loops else None
        if self.loops is not None:
            self._check_closed()
        self._find_phase()

    def push(self, commands: Array | None = None, held: Array | None = None) -> None:
        """Under these commands and forces from now on."""
        self.commands = self.commands if commands is None else commands
        self.held = self.held if held is None else held
        self._find_phase()

    def _find_phase(self) -> None:
        """The phase that follows from the state, what sticks, and what may move."""
        handle = self.handle
        for name in ("scales", "velocity_rows"):
            self.__dict__.pop(name, None)
        handle.work.inputs[:] = self.commands
        handle.forward_dynamics(self.q, self.v, self.held, t=self.t)
        self.phase = handle.work.phase.copy()
        vdot, _ = self._evaluate(self.q, self.v, self._no_states)
        if self.refuses_kinks:
            self._check_kinks()
        self.Z, self.independent = self._free_motions()
        self.residual = vdot[self.independent]

    @property
    def _no_states(self) -> Array:
        """Bristles at rest: straight."""
        return np.zeros(len(self.handle.packed.state_scales))

    def _impose(self) -> None:
        dofs, signals = self.handle.system.dofs, self.handle.work.signals
        for j in np.flatnonzero(~self.is_free):
            self.q[dofs[j].q], self.v[j] = signals[dofs[j].motion].s, signals[dofs[j].motion].sdot

    def _check_closed(self) -> None:
        """Loops are closed, by position and by velocity, or a message."""
        assert self.loops is not None
        open_loops = self.loops.open_loops(self.q)
        if open_loops:
            name, size, is_angle = open_loops[0]
            unit = "rad" if is_angle else "m"
            raise ModelError(f"q: loop {name!r} is {size:.3g} {unit} open; close it with pliant.assemble(model, q)")
        wanted = self.loops.fitted(self.q, self.v, self.is_free)
        scale = max(1.0, float(np.max(np.abs(self.v), initial=0.0)))
        if np.max(np.abs(wanted - self.v), initial=0.0) > 1e-9 * scale:
            raise ModelError("v: these velocities would open the loops; give velocities that keep them closed")

    # --- one evaluation ---

    def _evaluate(self, q: Array, v: Array, states: Array, tau: Array | None = None) -> tuple[Array, Array]:
        """vdot and rates of the bristles, in the phase of the point; NaN where there are none."""
        ydot = self._rates(self.whole(q, v, states), tau)
        n_q, n_v = len(self.q), len(self.v)
        return ydot[n_q : n_q + n_v], ydot[len(ydot) - len(states) :]

    def whole(self, q: Array, v: Array, states: Array | None = None) -> Array:
        """y = (q, v, z); states of bristles: straight."""
        z = np.zeros(self._n_z)
        if states is not None:
            z[len(z) - len(states) :] = states
        return np.concatenate([q, v, z])

    def _rates(self, y: Array, tau: Array | None = None) -> Array:
        out = np.empty((1, len(y)))
        with self.handle.lock:
            self._forces[:] = self.held if tau is None else self.held + tau
            inputs = self.commands[None, :].copy()
            self._record(*self.handle.refs, np.array([self.t]), y[None, :].copy(), inputs, self._no_outputs, out)
            self._forces[:] = 0.0
        return np.asarray(out[0])

    def accelerations(self, x: Array, held: Array) -> Array:
        """Of the independent coordinates at a deviation x, under other constant forces."""
        return self._evaluate(*self.state(x), held - self.held)[0][self.independent]

    def state(self, x: Array) -> tuple[Array, Array, Array]:
        """(q, v, bristles) of a deviation x = (independent coordinates, their rates, bristles)."""
        n = len(self.independent)
        step, w, states = self.Z @ x[:n], x[n : 2 * n], x[2 * n :]
        q = self.moved(step)
        v = self.v + self.Z @ w
        if self.loops is not None:
            q = self.loops.close(q, self.is_free & ~np.isin(np.arange(len(self.v)), self.independent))
            wanted = self.v.copy()
            wanted[self.independent] += w
            v = self._consistent(q, wanted)
        return q, v, states

    def _consistent(self, q: Array, v: Array) -> Array:
        """v with the dependent velocities that the loops ask for at q."""
        assert self.loops is not None
        A = self.loops.jacobian(q) / self.loops.scales[:, None]
        dependent = self.is_free & ~np.isin(np.arange(len(v)), self.independent)
        v = v.copy()
        v[dependent] = 0.0
        v[dependent] = -np.linalg.lstsq(A[:, dependent], A @ v, rcond=DEPENDENT)[0]
        return np.asarray(v)

    def closed(self, step: Array) -> Array:
        """q after a step of the independent coordinates, the loops closed."""
        return self.state(np.concatenate([step, np.zeros(len(self.scales) - len(step))]))[0]

    def along(self, step: Array) -> Array:
        """q after velocities `step` have acted for unit time, the loops closed."""
        return self.moved(step) if self.loops is None else self.closed(step[self.independent])

    def moved(self, step: Array) -> Array:
        """q after velocities `step` have acted for unit time."""
        return moved_along(self.handle, self.q, step)

    # --- what may move ---

    def _free_motions(self) -> tuple[Array, NDArray[np.int64]]:
        """Motions (columns) that loops and what sticks leave, one per independent velocity, which has 1 in it."""
        work, n_v = self.handle.work, len(self.v)
        rows = [np.zeros((0, n_v))]
        if self.loops is not None:
            rows.append(self.loops.jacobian(self.q) / self.loops.scales[:, None])
        n_sticking = int(work.run[0].n_sticking)
        if n_sticking:
            rows.append(work.stick_jacobian[:n_sticking].copy())
        lengths = tolerances(self.model, 0, 1.0)[len(self.q) :]
        A = np.concatenate(rows) * lengths
        free = np.flatnonzero(self.is_free)
        if not len(A):
            return np.eye(n_v)[:, free], free
        A = A[:, free]
        A = A / np.maximum(np.linalg.norm(A, axis=1, keepdims=True), 1e-300)
        _, values, V = np.linalg.svd(A, full_matrices=True)
        rank = int(np.sum(values > DEPENDENT * max(values.max(initial=0.0), 1e-300)))
        null = V[rank:].T
        if not null.shape[1]:  # SciPy 1.13 finds no order of nothing
            return np.zeros((n_v, 0)), free[:0]
        # velocities that joints keep are the last to follow, and those that have most part in the motions come first
        from scipy.linalg import qr

        _, _, order = qr(null.T, mode="economic", pivoting=True)
        chosen = np.sort(order[: null.shape[1]])
        Z = np.zeros((n_v, len(chosen)))
        Z[free] = null @ np.linalg.inv(null[chosen])
        independent = free[chosen]
        return Z * lengths[:, None] / lengths[independent], independent

    # --- derivatives ---

    @cached_property
    def scales(self) -> Array:
        """Changes of the states that are not small."""
        sizes = tolerances(self.model, 0, 1.0)
        of_q = sizes[len(self.q) :][self.independent]
        return np.concatenate([of_q, of_q, np.array(self.handle.packed.state_scales)])

    def derivatives(self, function: Callable[[Array], Array]) -> tuple[Array, Array]:
        """d function/dx (columns) and its error, x as in state."""
        columns = []
        for k, scale in enumerate(self.scales):
            x = np.zeros(len(self.scales))

            def along(step: float, k: int = k, x: Array = x) -> Array:
                x[k] = step
                return function(x)

            columns.append(derivative(along, float(scale)))
        if not columns:
            empty = np.zeros((len(function(np.zeros(0))), 0))
            return empty, empty
        return np.array([one for one, _ in columns]).T, np.array([error for _, error in columns]).T

    @cached_property
    def velocity_rows(self) -> Array:
        """dv/dx, a row per velocity: in loops that move, dependent velocities change with the pose, too."""
        n = len(self.independent)
        rows = np.zeros((len(self.v), len(self.scales)))
        rows[:, n : 2 * n] = self.Z
        if self.loops is not None and np.any(self.v):
            rows = self.derivatives(lambda x: self.state(x)[1])[0]
        return rows

    def _coordinate_row(self, j: int) -> Array:
        row = np.zeros(len(self.scales))
        row[: len(self.independent)] = self.Z[j]
        return row

    def linear_model(self, inputs: Sequence[Input], outputs: Sequence[Quantity]) -> StateSpace:
        """A, B, C, D with names."""
        n, m = len(self.independent), len(self.handle.packed.state_scales)
        size = 2 * n + m

        def rates(x: Array) -> Array:
            vdot, states = self._evaluate(*self.state(x))
            return np.concatenate([vdot[self.independent], states])

        below, error = self.derivatives(rates)
        A = np.zeros((size, size))
        A[:n, n : 2 * n] = np.eye(n)
        A[:n, :n] = self._transport()
        A[n:] = below
        B = np.zeros((size, len(inputs)))
        for k, one in enumerate(inputs):
            # accelerations are linear in forces: one difference is exact but for rounding, if it is none of small ones
            rise = float(np.max(np.abs(self._response(one.force)), initial=0.0))
            unit = max(1.0, float(np.max(np.abs(self.residual), initial=0.0))) / rise if rise > 0.0 else 1.0
            B[n:, k] = self._response(one.force * unit) / unit
        C, D = self._read(inputs, outputs)
        return StateSpace(
            A=A, B=B, C=C, D=D,
            states=self._state_names(), inputs=tuple(one.name for one in inputs),
            outputs=tuple(one.name for one in outputs),
            state_units=self._state_units(), input_units=tuple(one.unit for one in inputs),
            output_units=tuple(one.unit for one in outputs),
            q=self.q.copy(), v=self.v.copy(), t=self.t,
            residual=self.residual.copy(), error=np.concatenate([np.zeros((n, size)), error]),
        )  # fmt: skip

    def _response(self, force: Array) -> Array:
        """What a force changes of the independent accelerations and the rates of the bristles."""
        found = []
        for sign in (1.0, -1.0):
            vdot, states = self._evaluate(self.q, self.v, self._no_states, sign * force)
            found.append(np.concatenate([vdot[self.independent], states]))
        return np.asarray(0.5 * (found[0] - found[1]))

    def _transport(self) -> Array:
        """d(rate of the deviation)/d(deviation): where axes rotate with the body, a fixed deviation seems to rotate."""
        n_v = len(self.v)
        T = np.zeros((n_v, n_v))
        for link in self.model.links:
            first, kind = link.v, link.joint.kind
            if kind == "spherical":
                T[first : first + 3, first : first + 3] = -_skew(self.v[first : first + 3])
            elif kind == "floating":
                velocity, w = self.v[first : first + 3], self.v[first + 3 : first + 6]
                T[first : first + 3, first : first + 3] = -_skew(w)
                T[first : first + 3, first + 3 : first + 6] = -_skew(velocity)
                T[first + 3 : first + 6, first + 3 : first + 6] = -_skew(w)
        return np.asarray((T @ self.Z)[self.independent])

    def _read(self, inputs: Sequence[Input], outputs: Sequence[Quantity]) -> tuple[Array, Array]:
        """C and D."""
        size = len(self.scales)
        C, D = np.zeros((len(outputs), size)), np.zeros((len(outputs), len(inputs)))
        wanted = [k for k, one in enumerate(outputs) if one.kind == "output"]
        for k, one in enumerate(outputs):
            if one.kind != "output":
                C[k] = self.velocity_rows[one.column] if one.kind == "rate" else self._coordinate_row(one.column)
        if wanted:
            columns = [outputs[k].column for k in wanted]
            C[wanted] = self.derivatives(lambda x: self._outputs(*self.state(x))[columns])[0]
            for k, source in enumerate(inputs):
                D[wanted, k] = self._direct(source)[columns]
        return C, D

    def _direct(self, source: Input) -> Array:
        """What a unit force changes of the outputs at once: half of what it changes from one sense to the other."""
        at = (self.q, self.v, self._no_states)
        if not source.loads:
            return 0.5 * (self._outputs(*at, source.force) - self._outputs(*at, -source.force))
        opposite = [replace(load, **{axis: -getattr(load, axis) for axis in "xyz"}) for load in source.loads]
        loaded = [replace(self.model, loads=(*self.model.loads, *loads)) for loads in (source.loads, opposite)]
        up, down = (self._outputs(*at, handle=prepare(model).copy()) for model in loaded)
        return 0.5 * (up - down)

    def _outputs(
        self, q: Array, v: Array, states: Array, tau: Array | None = None, handle: Prepared | None = None
    ) -> Array:
        """All columns of the model's outputs; handle: of the model under a load besides."""
        y = self.whole(q, v, states)
        if handle is not None:
            # its works have rows of their own
            more = int(handle.system.world[0].n_z) - self._n_z
            y = np.insert(y, len(q) + len(v), np.zeros(more))
        y, handle = y[None, :], handle or self.handle
        handle.work.dofs.tau_extra[:] = self.held if tau is None else self.held + tau
        phases = Phases(np.array([self.t]), self.phase[None, :].copy())
        found = recorded_outputs(handle, np.array([self.t]), y, self.commands[None, :].copy(), phases)
        handle.work.dofs.tau_extra[:] = 0.0
        return np.concatenate([columns[0] for columns in found.values()])

    # --- names ---

    def _state_names(self) -> tuple[str, ...]:
        names = [self.model.velocities[j] for j in self.independent]
        bristles = [f"bristle{k + 1}" for k in range(len(self.handle.packed.state_scales))]
        return (*names, *(f"{name}.rate" for name in names), *bristles)

    def _state_units(self) -> tuple[str, ...]:
        kinds = [velocity_columns(self.model)[j].kind for j in self.independent]
        units = [UNITS[kind] for kind in kinds]
        return (*units, *(f"{unit}/s" for unit in units), *("m" for _ in self.handle.packed.state_scales))

    # --- kinks ---

    def _check_kinks(self) -> None:
        """A message where forces change their law at the very state: there is no derivative."""
        from pliant.kernels import _jit, events

        handle = self.handle
        table = handle.system.events
        if not len(table):
            return
        self._check_breaking()
        y = self.whole(self.q, self.v, self._no_states)
        ydot = self._rates(y)
        with handle.lock:
            g, gdot = np.full(len(table), np.inf), np.zeros(len(table))
            _jit.entry(events.event_functions)(*handle.refs, self.t, y, ydot, g, gdot)
        for k in np.flatnonzero(np.abs(g) <= AT_KINK):
            name = self._event_name(table[k])
            if name:
                raise _at_kink(name, "move it a little to the side that is meant")

    def _check_breaking(self) -> None:
        """What has broken away, but has no sense of sliding yet, is held by a force that turns round with the speed."""
        system, phase = self.handle.system, self.handle.work.phase
        for k, (contact, point) in enumerate(self.handle.packed.contact_names):
            row = system.contacts[k]
            sticks = row.friction >= 0 and system.frictions[row.friction].sticks
            if sticks and phase[row.phase].is_active and phase[row.phase].branch == Branch.BREAK:
                raise _at_kink(f"point {point!r} of contact {contact!r} rests, but is about to slip", BREAKING)
        for row in system.joint_frictions:
            if system.frictions[row.friction].sticks and phase[row.phase].branch == Branch.BREAK:
                joint = self.model.velocities[int(row.dof)]
                raise _at_kink(f"joint {joint!r} rests, but its friction is about to give way", BREAKING)

    def _event_name(self, event: Any) -> str:
        """Where an event is a change of forces: in words; else nothing."""
        packed, system = self.handle.packed, self.handle.system
        if event.limit >= 0:
            return f"joint {self.model.velocities[int(system.limits[event.limit].dof)]!r} is just at its limit"
        if event.transmission >= 0:
            joint = self.model.velocities[int(system.transmissions[event.transmission].link)]
            return f"joint {joint!r} is just at a flank of its backlash"
        if event.ball_spring >= 0:
            joint = self.model.links[event.ball_spring].joint.name
            return f"joint {joint!r} is rotated by pi, where the moment of its spring changes its sign"
        if event.spring >= 0:
            return f"spring {self.model.springs[int(event.spring)].name!r} is just at its free length"
        if event.contact >= 0:
            contact, point = packed.contact_names[event.contact]
            return f"point {point!r} of contact {contact!r} is just on its plane, or about to slip"
        if event.joint_friction >= 0:
            joint = self.model.velocities[int(system.joint_frictions[event.joint_friction].dof)]
            return f"friction of joint {joint!r} is just about to change"
        return ""


def _at_kink(name: str, what_to_do: str) -> ModelError:
    return ModelError(f"linearise: the state lies at a kink: {name}; there is no one linear model there: {what_to_do}")


def _skew(a: Array) -> Array:
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])

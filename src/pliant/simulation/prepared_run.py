"""prepare_run: one run, to be repeated from many starts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.engine.arguments import FLOAT, as_callback, as_state, as_table, as_vector
from pliant.engine.callbacks import Progress
from pliant.engine.prepared import Prepared
from pliant.errors import ModelError, SimulationError, failure_advice
from pliant.methods.formulations import Articulated
from pliant.methods.integrators import Integrator, RungeKutta
from pliant.model.messages import quoted
from pliant.model.model import Model
from pliant.simulation.moved import warn_of_moved
from pliant.simulation.outcome import better_coupling, event_words, growth_words, status_word
from pliant.simulation.recorder import Recorded
from pliant.simulation.repeated_run import RepeatedRun
from pliant.simulation.run import advance_to_end
from pliant.system.memory import STEPPING, Memory
from pliant.system.pack import Packed
from pliant.system.status import Status
from pliant.system.tables import JointKind, rows
from pliant.system.work import WIDTH

Array = NDArray[np.float64]
SIMPLE_KINDS = (JointKind.FIXED, JointKind.REVOLUTE, JointKind.PRISMATIC)  # of joints in space that lanes know
MIN_IN_LANES = WIDTH // 2  # runs: eight lanes take the time of about three runs one after the other, full or not


class Ends(NamedTuple):
    """How the runs of a sweep ended."""

    t: Array  # (runs) [s]
    q: Array  # (runs, n_q)
    v: Array  # (runs, n_v)
    steps: NDArray[np.int64]
    others: dict[int, tuple[str, str]]  # status and reason of those that are not done


def goes_in_lanes(handle: Prepared, integrator: Integrator, memory: Memory) -> bool:
    """Whether runs of a sweep advance eight at once: trees of rigid bodies, in the x-y plane or on revolute, prismatic
    and fixed joints, by articulated bodies, under gravity, springs, dampers and motors of their joints; explicit
    Runge-Kutta steps with error control; nothing that ends a step (events, kinks of signals, controllers)."""
    system = handle.system
    is_simple = np.all(np.isin(system.bodies.kind, SIMPLE_KINDS)) and len(system.flexes) == 0
    tables = system.loads, system.limits, system.transmissions, system.springs, system.contacts, system.joint_frictions
    others = (*tables, system.loops, system.events, system.controllers, memory.boundaries, memory.samples)
    is_tree = (system.world[0].uses_planar or is_simple) and not system.world[0].has_prescribed
    is_plain = is_tree and not any(map(len, others))
    is_explicit = isinstance(integrator, RungeKutta) and not memory.stepping[0].is_fixed
    return bool(is_plain and is_explicit and isinstance(handle.method, Articulated))


class PreparedRun:
    """One run, ready to be repeated from many starts; only the end state is kept. Threads that share it take turns.

    Starts are arrays of the right length; what is not so is refused with a message, unless unchecked=True."""

    def __init__(self, model: Model, duration: float | None = None, *, unchecked: bool = False, **options: Any) -> None:
        self._make(model, {"duration": duration, "unchecked": unchecked, **options}, None)

    def _make(self, model: Model, given: dict[str, Any], packed: Packed | None) -> None:
        """packed: the tables of this very model, if there are."""
        self._given = given
        self._run = RepeatedRun(model, packed=packed, **given)
        self.options, self.handle = self._run.options, self._run.handle
        self._n_q, self._n_v, self.has_phase = self._run.n_q, self._run.n_v, self._run.has_phase
        self._is_running, self._is_alone = False, not model.calls_python
        self.goes_in_lanes = goes_in_lanes(self.handle, self._run.run.integrators[0][1], self.memory)
        self._tables: tuple[Any, ...] | None = None

    def __repr__(self) -> str:
        return f"<PreparedRun of {self.handle.model.name!r}: {self.options['duration']:g} s>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Copied and sent to other processes as what it is made of."""
        return _again, (self.handle.model, self._given)

    def another(self) -> PreparedRun:
        """One for another thread, with the same tables of the model: most of the work of making one."""
        new = object.__new__(PreparedRun)
        new._make(self.handle.model, self._given, self.handle.packed)
        return new

    @property
    def memory(self) -> Memory:
        """The integrator's, with its counters."""
        return self._run.memory

    def attempt(
        self, q0: Array | None = None, v0: Array | None = None, progress: Progress | None = None
    ) -> tuple[Status, str]:
        """How a run from this start ends, and why; its end is in memory."""
        if not self.handle.unchecked:
            q0, v0 = self._checked(q0, "q0"), self._checked(v0, "v0")
            as_callback(progress, "progress")
        with self.handle.lock:
            if self._is_running:
                raise ModelError(
                    "this run is under way, and calls itself; give its controller a prepare_run of its own"
                )
            self._is_running = True
            try:
                return self._attempt(q0, v0, progress)
            finally:
                self._is_running = False

    def _checked(self, value: Any, what: str) -> Array | None:
        """One start, or None for the model's own; or a message. Copying it into memory does the rest."""
        shape = (self._n_q if what == "q0" else self._n_v,)
        if value is None or (type(value) is np.ndarray and value.dtype is FLOAT and value.shape == shape):
            return value
        model = self.handle.model
        return as_vector(value, model.coordinates if what == "q0" else model.velocities, what)

    def _attempt(self, q0: Array | None, v0: Array | None, progress: Progress | None) -> tuple[Status, str]:
        self._run.begin(q0, v0)
        run, reason = self._run.run, ""
        status = run.enter() if self._is_alone else Status.PAUSE
        while status == Status.REVIEW:
            status = run.review()
            status = run.enter() if status == Status.PAUSE else status
        if status == Status.DONE:
            return Status.DONE, reason
        status, recorded = Status(status), Recorded()
        if status in (Status.PAUSE, Status.BUFFER_FULL):
            recorded, status, reason = advance_to_end(self._run.run, progress, status)
        recorded.take(self.memory)
        return status, reason or self._run.why(status, recorded.log)

    def check_start(self, q0: Array, v0: Array) -> None:
        """Hard limits must hold, and no point may be inside its plane."""
        q0, v0 = as_state(self.handle.model, q0, v0, ("q0", "v0"))
        if self.has_phase:
            self.handle.start_phase(np.concatenate([q0, v0, self._run.y0[self._n_q + self._n_v :]]))

    def sweep(self, q0: Array, v0: Array, stop: NDArray[np.int64]) -> Ends:
        """How the runs from rows of starts end, without Python between them; stop[0] = 1 ends it early.

        Not for models with Python controllers or loops."""
        from pliant.kernels import _jit, events, many
        from pliant.kernels.integrators import advance

        model, n_q = self.handle.model, self._n_q
        if model.calls_python or model.loops:
            raise ModelError(
                f"sweep: model {model.name!r} has Python controllers or loops; use end, one start at a time"
            )
        q0 = as_table(q0, model.coordinates, "q0")
        v0 = as_table(v0, model.velocities, "v0", len(q0))
        if not isinstance(stop, np.ndarray) or stop.dtype != np.int64 or stop.shape != (1,):
            raise ModelError(f"stop: {quoted(stop)} found; give an array of one int64")
        n = len(q0)
        y, t, facts = np.empty((n, n_q + self._n_v)), np.empty(n), np.zeros((n, 4), np.int64)
        with self.handle.lock:
            self._run.run.begin_again()
            refs = (*self.handle.refs, self._run.run.memory_ref, self._run.stepping0)
            if n >= MIN_IN_LANES and self.goes_in_lanes:
                derivatives, tables = self._lanes()
                enter = _jit.entry(many.sweep_in_lanes)
                enter(_jit.address(advance.advance), derivatives, *refs, *tables, q0, v0, stop, y, t, facts)
            else:
                functions = _jit.address(advance.advance), _jit.address(events.start_phase)
                gaps = np.zeros((1, len(self.handle.system.contacts)))
                _jit.entry(many.sweep)(*functions, *refs, q0, v0, gaps, stop, y, t, facts)
        code = facts[:, many.STATUS]
        reasons = {}
        for i in np.flatnonzero(code != Status.DONE):
            if code[i] == Status.REVIEW:
                # the equations are stiff: "auto" changes the integrator, which only Python can
                status, reason = self.attempt(q0[i], v0[i])
                t[i], facts[i, many.STEPS] = self.memory.stepping[0].t, self.memory.stepping[0].n_steps
                y[i] = self.memory.y[: n_q + self._n_v]
                if status != Status.DONE:
                    reasons[int(i)] = status_word(status), reason
            else:
                reasons[int(i)] = self._reason(facts[i], t[i])
        return Ends(t, y[:, :n_q], y[:, n_q:], facts[:, many.STEPS], reasons)

    def _lanes(self) -> tuple[int, tuple[Any, ...]]:
        """Address of the right-hand side of eight runs at once, and their tables, which every sweep fills anew."""
        from pliant.kernels import _jit
        from pliant.kernels.formulations import articulated_lanes, articulated_spatial_lanes
        from pliant.kernels.integrators import lanes

        is_planar = self.handle.system.world[0].uses_planar
        module = articulated_lanes if is_planar else articulated_spatial_lanes
        if self._tables is None:
            room = lanes.new_room(self.memory, module.n_rows(self.handle.system))
            self._tables = rows(WIDTH, STEPPING), np.zeros(WIDTH, np.int64), room
        return _jit.address(module.derivatives), self._tables

    def _reason(self, facts: NDArray[np.int64], t: float) -> tuple[str, str]:
        """Status and reason of a run of a sweep."""
        code, _, event, body = facts.tolist()
        status, name = Status(code), self.handle.packed.event_names[event] if event >= 0 else ""
        who = name if status == Status.STOPPED and name else self.handle.failed_name(status, body)
        if status in (Status.STALLED, Status.EVENT_NOT_LOCATED):
            who = event_words(self.handle, event) if event >= 0 else "its fastest motion"
        if status == Status.GROWN:
            who = growth_words(self.options["integrator"].first, self.options["step"])
        return status_word(status), failure_advice(status, float(t), who, better_coupling(self.handle.model, who))

    @property
    def state(self) -> tuple[Array, Array]:
        """(q, v) where the last run ended."""
        return self._run.state

    def end(self, q0: Array | None = None, v0: Array | None = None) -> tuple[Array, Array]:
        """(q, v) at the end of a run from this start (default: the model's)."""
        with self.handle.lock:
            status, reason = self.attempt(q0, v0)
            if status not in (Status.DONE, Status.STOPPED):
                raise SimulationError(reason)
            return self.state


def _again(model: Model, given: dict[str, Any]) -> PreparedRun:
    return PreparedRun(model, **given)


def prepare_run(model: Model, duration: float | None = None, *, unchecked: bool = False, **options: Any) -> PreparedRun:
    """A run to be repeated from many starts: prepare_run(model, 1.0, rtol=1e-6).end(q0, v0) -> (q, v) at the end.

    options: those of simulate, except dense, sample, q0, v0 and progress. unchecked: nobody looks at the starts."""
    return PreparedRun(model, duration, unchecked=unchecked, **warn_of_moved(options))

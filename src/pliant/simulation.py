"""simulate(model) -> Result: the pipeline from a model to recorded motion."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.beams.bending_range import largest_bending
from pliant.contact_log import contact_log
from pliant.controllers import ControllerError, call_controllers, sample_times
from pliant.dynamics import Prepared, prepare
from pliant.errors import SimulationError, failure_advice
from pliant.methods import find_method
from pliant.model.flexible import Beam
from pliant.model.model import Model
from pliant.options import check_options, tolerances
from pliant.result import Dense, Event, Result
from pliant.states import as_state
from pliant.system.memory import Memory, evaluate_dense, new_memory
from pliant.system.phases import Phases
from pliant.system.status import Status
from pliant.system.tables import Power

Array = NDArray[np.float64]
FIRST_WORK = 20000  # steps times velocities before the first look
PAUSE_SECONDS = 0.1  # between two looks at Ctrl-C and the progress bar
Progress = Callable[[float, float], None]


def simulate(
    model: Model,
    duration: float | None = None,
    *,
    formulation: str = "auto",
    integrator: str = "auto",
    rtol: float = 1e-8,
    atol: float | None = None,
    step: float | None = None,
    max_step: float | None = None,
    max_steps: int = 10_000_000,
    sample: float | None = None,
    dense: bool = True,
    q0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    progress: Progress | None = None,
) -> Result:
    """Move the model from its start (or q0, v0) for `duration` seconds (default: the model's own).

    integrator: "auto" (dop853), "dopri5", "rkf45", "rk4" ...; rtol, atol: local error (atol in rad, and per model size
    for lengths; default 1e-10). step: fixed step [s] instead of error control. sample: rows on a grid of this period
    instead of at accepted steps. dense=False keeps no dense output (less memory, no at(t)). progress(t, t_end) is
    called a few times a second. A run that breaks down returns what it has, with status "failed" and a reason."""
    options = check_options(
        model,
        duration=duration,
        formulation=formulation,
        integrator=integrator,
        rtol=rtol,
        atol=atol,
        step=step,
        max_step=max_step,
        max_steps=max_steps,
        sample=sample,
        dense=dense,
    )
    state = as_state(model, model.q0 if q0 is None else q0, model.v0 if v0 is None else v0)
    begun = time.perf_counter()
    # tables of a model that was prepared before serve again
    handle = prepare(model, options["formulation"]).copy()
    run = Run(handle, state, options, wants_rows=True)
    handle.start_phase(run.memory.y)
    compiled = time.perf_counter()
    recorded, status, reason = _drive(run, progress)
    walls = {"wall_s": time.perf_counter() - compiled, "compile_s": compiled - begun}
    return _result(run, recorded, status, reason, options, walls)


class Ends(NamedTuple):
    """How the runs of a sweep ended."""

    t: Array  # (runs) [s]
    q: Array  # (runs, n_q)
    v: Array  # (runs, n_v)
    steps: NDArray[np.int64]
    others: dict[int, tuple[str, str]]  # status and reason of those that are not done


class PreparedRun:
    """One run, ready to be repeated from many starts; only the end state is kept. Not for two threads at once."""

    def __init__(self, model: Model, duration: float | None = None, **options: Any) -> None:
        self.options = check_options(model, **{"duration": duration, **options, "dense": False})
        self.handle = Prepared(model, self.options["formulation"])
        start = as_state(model, model.q0, model.v0)
        self._run = Run(self.handle, start, self.options, wants_rows=False)
        self.memory = self._run.memory
        self._y0, self._loop0 = self.memory.y.copy(), self.memory.loop.copy()
        self._n_q, self._n_v = len(start[0]), len(start[1])
        self.has_phase, self._is_alone = len(self.handle.work.phase) > 0, not model.controllers

    def attempt(
        self, q0: Array | None = None, v0: Array | None = None, progress: Progress | None = None
    ) -> tuple[Status, str]:
        """How a run from this start ends, and why; its end is in memory. Without any check of the arguments."""
        n_q, memory = self._n_q, self.memory
        memory.y[:], memory.loop[:] = self._y0, self._loop0
        if q0 is not None:
            memory.y[:n_q] = q0
        if v0 is not None:
            memory.y[n_q : n_q + self._n_v] = v0
        if self.has_phase:
            self.handle.start_phase(memory.y)
        status, reason = Status(self._run.enter()) if self._is_alone else Status.PAUSE, ""
        if status == Status.DONE:
            return status, reason
        recorded = Recorded()
        if status in (Status.PAUSE, Status.BUFFER_FULL):
            recorded, status, reason = _drive(self._run, progress)
        recorded.take(memory)
        culprit = _culprit(self.handle, status, _events(self.handle, recorded.log))
        return status, reason or failure_advice(status, float(memory.loop[0].t), culprit)

    def check_start(self, q0: Array, v0: Array) -> None:
        """Hard limits must hold, and no point may be inside its plane."""
        if self.has_phase:
            self.handle.start_phase(np.concatenate([q0, v0, self._y0[self._n_q + self._n_v :]]))

    def sweep(self, q0: Array, v0: Array, stop: NDArray[np.int64]) -> Ends:
        """How the runs from rows of starts end, without Python between them; stop[0] = 1 ends it early.

        Without any check, and not for models with controllers."""
        from pliant.kernels import _jit, events, many
        from pliant.kernels.integrators import loop

        n, n_q = len(q0), self._n_q
        y, t, facts = np.empty((n, n_q + self._n_v)), np.empty(n), np.zeros((n, 4), np.int64)
        functions = _jit.address(loop.advance), _jit.address(events.start_phase)
        gaps = np.zeros((1, len(self.handle.system.contacts)))
        refs = (*self.handle.refs, self._run.memory_ref, self._loop0)
        _jit.entry(many.sweep)(*functions, *refs, q0, v0, gaps, stop, y, t, facts)
        code = facts[:, many.STATUS]
        reasons = {int(i): self._reason(facts[i], t[i]) for i in np.flatnonzero(code != Status.DONE)}
        return Ends(t, y[:, :n_q], y[:, n_q:], facts[:, many.STEPS], reasons)

    def _reason(self, facts: NDArray[np.int64], t: float) -> tuple[str, str]:
        """Status and reason of a run of a sweep."""
        code, _, event, body = facts.tolist()
        status, name = Status(code), self.handle.packed.event_names[event] if event >= 0 else ""
        is_event = status in (Status.STOPPED, Status.EVENT_NOT_LOCATED) and name
        who = name if is_event else self.handle.model.links[body].body.name
        return status_word(status), failure_advice(status, float(t), who)

    @property
    def state(self) -> tuple[Array, Array]:
        """(q, v) where the last run ended."""
        n_q, y = self._n_q, self.memory.y
        return y[:n_q].copy(), y[n_q : n_q + self._n_v].copy()

    def end(self, q0: Array | None = None, v0: Array | None = None) -> tuple[Array, Array]:
        """(q, v) at the end of a run from this start, without any check of the arguments."""
        status, reason = self.attempt(q0, v0)
        if status not in (Status.DONE, Status.STOPPED):
            raise SimulationError(reason)
        return self.state


def prepare_run(model: Model, duration: float | None = None, **options: Any) -> PreparedRun:
    """A run to be repeated from many starts: prepare_run(model, 1.0, rtol=1e-6).end(q0, v0) -> (q, v) at the end.

    options: those of simulate, except dense, sample, q0, v0 and progress."""
    return PreparedRun(model, duration, **options)


class Run:
    """A run on its way: the handle, the integrator's memory, and the compiled loop to enter again and again."""

    def __init__(self, handle: Prepared, state: tuple[Array, Array], options: dict[str, Any], wants_rows: bool) -> None:
        from pliant.kernels import _jit
        from pliant.kernels.integrators import loop
        from pliant.kernels.tables import Pinned

        self.handle = handle
        self.memory = _new_memory(handle, state, options, wants_rows)
        self._pinned = Pinned(self.memory)
        self._advance = _jit.entry(loop.advance)
        self.memory_ref = self._pinned.ref
        self._refs = (*handle.refs, self.memory_ref)

    def enter(self) -> int:
        """Go on; returns a Status."""
        return int(self._advance(*self._refs))


def _new_memory(handle: Prepared, state: tuple[Array, Array], options: dict[str, Any], wants_rows: bool) -> Memory:
    """The integrator's memory at the start."""
    from pliant.kernels import _jit, dynamics, events
    from pliant.kernels.integrators import tableaus

    scheme = find_method("integrator", options["integrator"])
    model, packed, system, work = handle.model, handle.packed, handle.system, handle.work
    run = work.run[0]
    run.derivative = _jit.address(dynamics.derivative)
    run.events, run.switch = _jit.address(events.event_functions), _jit.address(events.switch)
    n_z = int(system.world[0].n_z)
    return new_memory(
        np.concatenate([*state, np.zeros(n_z)]),
        0.0,
        options["duration"],
        tableaus.TABLEAUS[scheme.name],
        step=_jit.address(scheme.load()),
        interpolant=_jit.address(scheme.load("interpolate")),
        rtol=options["rtol"],
        atol=tolerances(model, n_z, options["atol"], packed.state_scales),
        h=options["step"] or 0.0,
        is_fixed=options["step"] is not None,
        max_step=options["max_step"] or np.inf,
        boundaries=packed.breakpoints,
        samples=sample_times(model.controllers, options["duration"]),
        quaternions=[four.start for four in model.quaternions],
        n_events=len(system.events),
        n_inputs=packed.n_inputs,
        n_phases=len(work.phase),
        wants_rows=wants_rows,
        wants_dense=options["dense"],
        max_steps=options["max_steps"],
        budget=max(10, FIRST_WORK // max(1, len(system.dofs))),
    )


# --- the run --------------------------------------------------------------------------------------------------


@dataclass
class Recorded:
    """Buffers copied away from the loop."""

    rows: list[Array] = field(default_factory=list)
    starts: list[Array] = field(default_factory=list)
    terms: list[Array] = field(default_factory=list)
    log: list[tuple[int, int, float]] = field(default_factory=list)
    phase_times: list[Array] = field(default_factory=list)
    phases: list[Any] = field(default_factory=list)

    def take(self, memory: Memory) -> None:
        """Copy what the loop recorded and hand the buffers back empty."""
        loop = memory.loop[0]
        self.rows.append(memory.rows[: loop.n_rows].copy())
        self.starts.append(memory.piece_times[: loop.n_pieces].copy())
        self.terms.append(memory.piece_terms[: loop.n_pieces].copy())
        self.log += [(int(row.event), int(row.direction), float(row.t)) for row in memory.log[: loop.n_log]]
        self.phase_times.append(memory.phase_times[: loop.n_phases].copy())
        self.phases.append(memory.phases[: loop.n_phases].copy())
        loop.n_rows = loop.n_pieces = loop.n_log = loop.n_phases = 0

    def phase_history(self) -> Phases:
        return Phases(np.concatenate(self.phase_times), np.concatenate(self.phases))


def _drive(run: Run, progress: Progress | None) -> tuple[Recorded, Status, str]:
    """Enter the resumable loop until its end; Ctrl-C and failing controllers end it with what was reached."""
    handle, memory = run.handle, run.memory
    start = Recorded(phase_times=[memory.loop.t.copy()], phases=[handle.work.phase[None, :].copy()])
    recorded, loop = start, memory.loop[0]
    try:
        while True:
            entered = time.perf_counter()
            status = Status(run.enter())
            if status == Status.SAMPLE:
                call_controllers(handle.model, float(loop.t), memory.y, handle.work.inputs)
                continue
            recorded.take(memory)
            if status == Status.PAUSE:
                spent = time.perf_counter() - entered
                loop.budget = int(min(1e6, max(10, loop.budget * min(4.0, PAUSE_SECONDS / max(spent, 1e-9)))))
                if progress is not None:
                    progress(float(loop.t), float(loop.t_end))
            elif status != Status.BUFFER_FULL:
                return recorded, status, ""
    except KeyboardInterrupt:
        recorded.take(memory)
        return recorded, Status.INTERRUPTED, ""
    except ControllerError as error:
        recorded.take(memory)
        return recorded, Status.CONTROLLER_FAILED, str(error)


# --- the result -----------------------------------------------------------------------------------------------


def _result(
    run: Run,
    recorded: Recorded,
    status: Status,
    reason: str,
    options: dict[str, Any],
    walls: dict[str, float],
) -> Result:
    handle, loop = run.handle, run.memory.loop[0]
    model = handle.model
    rows = np.concatenate(recorded.rows)
    if len(rows) == 0:  # it broke down before the first step: the start is what was reached
        rows = np.concatenate([[0.0], run.memory.y, handle.work.inputs])[None, :]
    pieces = np.concatenate(recorded.starts)
    dense = (
        Dense(pieces[:, 0].copy(), pieces[:, 1].copy(), np.concatenate(recorded.terms)) if options["dense"] else None
    )
    events = _events(handle, recorded.log)
    phases = recorded.phase_history()
    if not reason:
        reason = failure_advice(status, float(loop.t), _culprit(handle, status, events))
    audit = _audit(handle, rows)
    if recorded.log:
        audit["event_error"] = float(loop.event_error)
    contacts = contact_log(handle, rows, dense, phases, recorded.log)
    commands = np.column_stack([rows[:, 0], rows[:, rows.shape[1] - handle.packed.n_inputs :]])
    if options["sample"] is not None and dense is not None:
        rows = _on_grid(rows, dense, options["sample"], model)
    t, q, v, inputs, energy = _split(handle, rows)
    outputs = handle.outputs(t, rows[:, 1 : rows.shape[1] - inputs.shape[1]], inputs, phases)
    stats = {
        "evaluations": int(loop.n_evaluations),
        "steps": int(loop.n_steps),
        "rejected": int(loop.n_rejected),
        "events": int(loop.n_events),
        **walls,
    }
    return Result(
        model,
        t,
        q,
        v,
        energy,
        outputs,
        events,
        status_word(status),
        reason,
        audit,
        stats,
        options,
        inputs,
        dense,
        contacts,
        phases,
        commands,
    )


def _split(handle: Prepared, rows: Array) -> tuple[Array, Array, Array, Array, dict[str, Array]]:
    """Columns of recorded rows: t, q, v, held inputs, and energies with works."""
    world = handle.system.world[0]
    t, q, v, z, inputs = np.split(rows, np.cumsum([1, world.n_q, world.n_v, world.n_z]), axis=1)
    q, v = q.copy(), v.copy()
    energy = handle.energies(q, v)
    for k, kind in enumerate(handle.system.quadratures):
        energy[f"work_{Power(kind).name.lower()}"] = z[:, k].copy()
    return t[:, 0].copy(), q, v, inputs.copy(), energy


def _audit(handle: Prepared, rows: Array) -> dict[str, float]:
    """What a run can say about its own errors, from its accepted steps."""
    _, q, v, _, energy = _split(handle, rows)
    audit = {"energy_residual": energy_residual(energy), "constraint_drift": _quaternion_drift(handle.model, q)}
    if handle.conserves_momentum():
        audit["momentum_drift"] = handle.momentum_drift(q, v)
    bent = [(link.body, q[:, link.q_modes]) for link in handle.model.links if isinstance(link.body, Beam)]
    bending = [largest_bending(beam, d) for beam, d in bent if beam.n_modes]
    if bending:
        audit["deflection_ratio"] = max(ratio for ratio, _ in bending)
        audit["section_angle"] = max(angle for _, angle in bending)
    return audit


def status_word(status: Status) -> str:
    """Of a run that has ended, as Result.status has it."""
    words = {Status.DONE: "done", Status.STOPPED: "stopped", Status.INTERRUPTED: "interrupted"}
    return words.get(status, "failed")


def _events(handle: Prepared, log: list[tuple[int, int, float]]) -> tuple[Event, ...]:
    """Those that have a name."""
    names = handle.packed.event_names
    return tuple(Event(names[k], t, "rising" if direction > 0 else "falling") for k, direction, t in log if names[k])


def _culprit(handle: Prepared, status: Status, events: tuple[Event, ...]) -> str:
    if status in (Status.STOPPED, Status.EVENT_NOT_LOCATED) and events:
        return events[-1].name
    return handle.model.links[int(handle.work.run[0].body)].body.name


def _on_grid(rows: Array, dense: Dense, period: float, model: Model) -> Array:
    """Rows at multiples of the period and at the end, from the dense output; held commands from the row before."""
    if len(dense.starts) == 0:
        return rows
    first, last = rows[0, 0], rows[-1, 0]
    times = np.append(np.arange(first, last, period), last)
    if len(times) > 1 and times[-1] - times[-2] < 1e-9 * period:
        times = np.delete(times, -2)
    y = evaluate_dense(dense.starts, dense.steps, dense.terms, times)
    for four in model.quaternions:
        y[:, four] /= np.linalg.norm(y[:, four], axis=1, keepdims=True)
    held = rows[np.searchsorted(rows[:, 0], times, side="right") - 1, 1 + y.shape[1] :]
    return np.column_stack([times, y, held])


def energy_residual(energy: dict[str, Array]) -> float:
    """max |E - E0 - works| / max (T + V_elastic + |V_gravity - V_gravity(0)|)."""
    total = energy["kinetic"] + energy["gravity"] + energy["elastic"]
    works = sum((values for name, values in energy.items() if name.startswith("work_")), np.zeros(len(total)))
    scale = np.max(energy["kinetic"] + energy["elastic"] + np.abs(energy["gravity"] - energy["gravity"][0]))
    error = np.max(np.abs(total - total[0] - works))
    return float(error / scale) if scale > 0 else float(error)


def _quaternion_drift(model: Model, q: Array) -> float:
    drift = 0.0
    for four in model.quaternions:
        drift = max(drift, float(np.max(np.abs(np.linalg.norm(q[:, four], axis=1) - 1.0))))
    return drift

"""simulate(model) -> Result: the pipeline from a model to recorded motion."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.alpha_family import alpha_parameters
from pliant.assembly import Loops, kept_velocities, start_on_loops
from pliant.auto_choice import STIFF_STEPS, AutoChoice, say_if_compiling, words_for
from pliant.beams.bending_range import largest_bending
from pliant.closing import Closing, closing_of, without_idle
from pliant.contact_log import contact_log
from pliant.controllers import ControllerError, Sampler, sample_times
from pliant.dynamics import Prepared, prepare
from pliant.errors import failure_advice
from pliant.methods import find_method
from pliant.model.flexible import Beam
from pliant.model.model import Model
from pliant.options import check_options, tolerances
from pliant.result import Dense, Event, Result
from pliant.states import as_state
from pliant.system.memory import Memory, evaluate_dense, new_memory, with_method
from pliant.system.newton import find_unknowns
from pliant.system.phases import Phases
from pliant.system.status import Status
from pliant.system.tables import Power

Array = NDArray[np.float64]
FIRST_WORK = 20000  # steps times velocities before the first look
PAUSE_SECONDS = 0.1  # between two looks at Ctrl-C and the progress bar
SLOPE_TIME = 1e-3  # [s] over which the slope of multipliers is measured
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
    rho_inf: float | None = None,
    alpha: float | None = None,
    beta: float | None = None,
    gamma: float | None = None,
    closure: str = "auto",
    closure_stiffness: float = 1e6,
    closure_damping: float = 0.0,
    closure_form: str = "elongation",
    closure_prestretch: bool = False,
    baumgarte: float = 0.0,
    q0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    progress: Progress | None = None,
) -> Result:
    """Move the model from its start (or q0, v0) for `duration` seconds (default: the model's own).

    integrator: "auto" (dop853, and radau while the equations are stiff), "radau", "dopri5", "rk4" ...
    rtol, atol: local error (atol in rad, and per model size for lengths; default 1e-10). step: fixed step [s] instead
    of error control. sample: rows on a grid of this period instead of at accepted steps. dense=False keeps no dense
    output (less memory, no at(t)). rho_inf, alpha, beta, gamma: of generalised_alpha, hht, newmark. progress(t, t_end)
    is called a few times a second. closure: how loops are closed, "auto" (multipliers), "reduced", "springs" (with
    closure_stiffness, closure_damping, closure_form, closure_prestretch), "implicit". A run that breaks down returns
    what it has, with status "failed" and a reason."""
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
        rho_inf=rho_inf,
        alpha=alpha,
        beta=beta,
        gamma=gamma,
        closure=closure,
        closure_stiffness=closure_stiffness,
        closure_damping=closure_damping,
        closure_form=closure_form,
        closure_prestretch=closure_prestretch,
        baumgarte=baumgarte,
    )
    state = as_state(model, model.q0 if q0 is None else q0, model.v0 if v0 is None else v0)
    begun = time.perf_counter()
    # tables of a model that was prepared before serve again
    handle = prepare(model, options["formulation"]).copy(closing_of(options))
    state = start_on_loops(handle, state, is_given=q0 is not None)
    if handle.closure.prestretch:
        state = _prestretched(handle, state, options)
    run = Run(handle, state, options, wants_rows=True)
    handle.start_phase(run.memory.y)
    compiled = time.perf_counter()
    recorded, status, reason = drive(run, progress)
    walls = {"wall_s": time.perf_counter() - compiled, "compile_s": compiled - begun}
    if options["closure"] == "implicit":
        # outputs and the rest look at single states
        handle.closure.solve(handle.work.run[0])
    return _result(run, recorded, status, reason, options, walls)


def _prestretched(handle: Prepared, state: tuple[Array, Array], options: dict[str, Any]) -> tuple[Array, Array]:
    """The start with every virtual spring stretched, and stretching, as the multipliers of the closed loops say."""
    model, K = handle.model, handle.closure.stiffness
    loops, free = Loops(handle), Loops(handle).is_free & ~kept_velocities(handle.model, handle.model.keep)
    # multipliers of the first instants of the closed mechanism, and their slope from a polynomial through five
    closed = Prepared(model, handle.method.name, handle.packed, Closing("multipliers"))
    brief = {"duration": SLOPE_TIME, "rtol": 1e-12, "atol": 1e-14, "integrator": "dop853", "closure": "multipliers"}
    found, _, _ = drive(run := Run(closed, state, {**options, **brief, "dense": True}, wants_rows=True), None)
    pieces = np.concatenate(found.starts)
    times = np.linspace(0.0, SLOPE_TIME, 5)
    rows = evaluate_dense(pieces[:, 0], pieces[:, 1], np.concatenate(found.terms), times)
    forces = []
    for t, y in zip(times, rows, strict=True):
        q, v = np.split(y[: len(state[0]) + len(state[1])], [len(state[0])])
        run.handle.forward_dynamics(q.copy(), v.copy(), t=float(t))
        forces.append(run.handle.work.closings.force.copy())
    series = np.polynomial.polynomial.polyfit(times / SLOPE_TIME, np.array(forces), 4)
    q = loops.close(state[0], free, wanted=-series[0] / K)
    return q, loops.fitted(q, state[1], free, rates=-series[1] / SLOPE_TIME / K)


def as_bytes(table: Any) -> NDArray[np.uint8]:
    """The memory of a table of records: copied in a fraction of a microsecond, records one by one take twenty."""
    return table.view(np.ndarray).view(np.uint8)  # type: ignore[no-any-return]


class Run:
    """A run on its way: the handle, the integrator's memory, and the compiled loop to enter again and again."""

    def __init__(self, handle: Prepared, state: tuple[Array, Array], options: dict[str, Any], wants_rows: bool) -> None:
        from pliant.kernels import _jit
        from pliant.kernels.integrators import loop

        self.handle = handle
        self._advance = _jit.entry(loop.advance)
        self._pin(_new_memory(handle, state, options, wants_rows))
        self._first, self._newton = self.memory, as_bytes(self.memory.newton)
        self._newton0 = self._newton.copy()
        name = find_method("integrator", options["integrator"]).name
        self.choice = AutoChoice(name) if options["integrator"] == "auto" else None
        self.integrators = [(0.0, name)]

    def _pin(self, memory: Memory) -> None:
        from pliant.kernels.tables import Pinned

        self.memory = memory
        self._pinned = Pinned(memory)
        self.memory_ref = self._pinned.ref
        self._refs = (*self.handle.refs, self.memory_ref)

    def enter(self) -> int:
        """Go on; returns a Status."""
        return int(self._advance(*self._refs))

    def begin_again(self) -> None:
        """As it was before the first step, but for y and the row of the loop."""
        if self.memory is not self._first:
            self._pin(self._first)
        self._newton[:] = self._newton0
        if self.choice is not None:
            self.choice = AutoChoice(self.integrators[0][1])
        del self.integrators[1:]

    def change_integrator(self, name: str) -> None:
        """Go on with another integrator."""
        from pliant.kernels import _jit
        from pliant.kernels.integrators import tableaus

        scheme, handle, memory = find_method("integrator", name), self.handle, self.memory
        say_if_compiling(name, float(memory.loop[0].t))
        addresses = {"step": _jit.address(scheme.load()), "interpolant": _jit.address(scheme.load("interpolate"))}
        unknowns = find_unknowns(handle.system, len(handle.packed.state_scales))
        self._pin(with_method(memory, tableaus.TABLEAUS[name], unknowns, **addresses))
        self.integrators.append((float(memory.loop[0].t), name))

    def review(self) -> None:
        """What "auto" does when the equations seem stiff, or when it is time to look at the cost."""
        assert self.choice is not None
        name = self.choice.review(self.memory)
        if name:
            self.change_integrator(name)

    def gives_up(self, status: Status) -> bool:
        """Whether this failure is one of the run, not only of the integrator that "auto" tried."""
        if self.choice is None or not self.choice.may_go_back(status):
            return True
        self.change_integrator(self.choice.go_back(self.memory))
        return False


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
    memory = new_memory(
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
        unknowns=find_unknowns(system, len(packed.state_scales)),
        wants_rows=wants_rows,
        wants_dense=options["dense"],
        max_steps=options["max_steps"],
        budget=max(10, FIRST_WORK // max(1, len(system.dofs))),
        watches=STIFF_STEPS if options["integrator"] == "auto" else 0,
    )
    parameters = alpha_parameters(options)
    if parameters is not None:
        from pliant.kernels import shift

        run.shift = _jit.address(shift.shift)
        newton = memory.newton[0]
        newton.alpha_m, newton.alpha_f, newton.beta, newton.gamma = parameters
    return memory


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


def drive(run: Run, progress: Progress | None, status: Status = Status.PAUSE) -> tuple[Recorded, Status, str]:
    """Enter the resumable loop until its end; Ctrl-C and failing controllers end it with what was reached.

    status: what an earlier entry said."""
    handle = run.handle
    loop, sampler = run.memory.loop[0], Sampler(handle)
    start = Recorded(phase_times=[run.memory.loop.t.copy()], phases=[handle.work.phase[None, :].copy()])
    recorded = start
    try:
        while True:
            if status == Status.REVIEW:
                run.review()
            entered = time.perf_counter()
            status = Status(run.enter())
            memory = run.memory
            if status == Status.SAMPLE:
                sampler.instant(float(loop.t), memory.y)
                continue
            recorded.take(memory)
            if status == Status.PAUSE:
                spent = time.perf_counter() - entered
                loop.budget = int(min(1e6, max(10, loop.budget * min(4.0, PAUSE_SECONDS / max(spent, 1e-9)))))
                if progress is not None:
                    progress(float(loop.t), float(loop.t_end))
            elif status not in (Status.BUFFER_FULL, Status.REVIEW) and (
                status in (Status.DONE, Status.STOPPED) or run.gives_up(status)
            ):
                return recorded, status, ""
    except KeyboardInterrupt:
        recorded.take(run.memory)
        return recorded, Status.INTERRUPTED, ""
    except ControllerError as error:
        recorded.take(run.memory)
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
    events = events_of(handle, recorded.log)
    phases = recorded.phase_history()
    if not reason:
        reason = failure_advice(status, float(loop.t), culprit(handle, status, events))
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
        "evaluations": int(loop.n_evaluations + handle.work.run[0].n_evaluations),
        "steps": int(loop.n_steps),
        "rejected": int(loop.n_rejected),
        "events": int(loop.n_events),
        **_newton_stats(run),
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
        without_idle(options) | {"integrator": words_for(run.integrators)},
        inputs,
        dense,
        contacts,
        phases,
        commands,
        tuple(run.integrators),
    )


def _newton_stats(run: Run) -> dict[str, int]:
    """Of implicit integrators."""
    newton = run.memory.newton[0]
    if not newton.n_jacobians:
        return {}
    return {"jacobians": int(newton.n_jacobians), "factorisations": int(newton.n_factors)}


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
    audit = {"energy_residual": energy_residual(energy), "constraint_drift": _drift(handle, q, v)}
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


def events_of(handle: Prepared, log: list[tuple[int, int, float]]) -> tuple[Event, ...]:
    """Those that have a name."""
    names = handle.packed.event_names
    return tuple(Event(names[k], t, "rising" if direction > 0 else "falling") for k, direction, t in log if names[k])


def culprit(handle: Prepared, status: Status, events: tuple[Event, ...]) -> str:
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
    # of what stays at rest the rounding of its potential energy is no error
    scale = max(scale, 1e-8 * np.max(np.abs(energy["gravity"])))
    error = np.max(np.abs(total - total[0] - works))
    return float(error / scale) if scale > 0 else float(error)


def _drift(handle: Prepared, q: Array, v: Array) -> float:
    """How far quaternions are from unit length, and loops from closed, as a part of the model's size."""
    drift = 0.0
    for four in handle.model.quaternions:
        drift = max(drift, float(np.max(np.abs(np.linalg.norm(q[:, four], axis=1) - 1.0))))
    if handle.model.loops:
        loops = Loops(handle)
        drift = max(drift, float(np.max(np.abs(loops.errors(q, v)[0]) / loops.scales)))
    return drift

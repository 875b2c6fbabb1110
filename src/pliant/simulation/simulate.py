"""simulate(model) -> Result: the pipeline from a model to recorded motion."""

from __future__ import annotations

import errno
import time
import warnings
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.engine.arguments import as_state
from pliant.engine.callbacks import Progress, heard
from pliant.engine.prepared import Prepared, prepare
from pliant.errors import AccuracyWarning, failure_advice
from pliant.mechanisms.assembly import initialise_multipliers, singular_loop, start_on_loops
from pliant.methods import ClosureLike, FormulationLike, IntegratorLike, Methods
from pliant.methods.closures import Springs
from pliant.model.model import Model
from pliant.result import Result
from pliant.results.outputs import recorded_outputs
from pliant.results.recording import Dense, Event
from pliant.simulation.audit import audit_run
from pliant.simulation.auto_integrator import describe_integrators
from pliant.simulation.contact_log import contact_log
from pliant.simulation.moved import MovedOptions, warn_of_moved
from pliant.simulation.options import check_options, check_room, settings_of
from pliant.simulation.prestretch import prestretched
from pliant.simulation.recorder import Recorded
from pliant.simulation.run import Run, advance_to_end
from pliant.system.memory import evaluate_dense
from pliant.system.status import Status
from pliant.system.tables import Power

Array = NDArray[np.float64]


def simulate(
    model: Model,
    duration: float | None = None,
    *,
    formulation: FormulationLike = "auto",
    integrator: IntegratorLike = "auto",
    closure: ClosureLike = "auto",
    rtol: float = 1e-8,
    atol: float | None = None,
    step: float | None = None,
    max_step: float | None = None,
    max_steps: int = 10_000_000,
    sample: float | None = None,
    dense: bool = True,
    memory: float | str = "auto",
    q0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    progress: Progress | None = None,
    **moved: Unpack[MovedOptions],
) -> Result:
    """Move the model from its start (or q0, v0) for `duration` seconds (default: the model's own).

    formulation, integrator, closure: who computes accelerations, who advances time, how loops are closed; each a value
    as pliant.GeneralisedAlpha(rho_inf=0.8) or pliant.Springs(stiffness=1e6), or its name for the defaults ("radau",
    "springs"); `pliant methods` lists them. "auto": articulated; dop853, and radau while the equations are stiff;
    multipliers. rtol, atol: local error (atol in rad, and per model size for lengths; default 1e-10). step: fixed step
    [s] instead of error control. sample: rows on a grid of this period instead of at accepted steps. dense=False keeps
    no dense output (less memory, no at(t)). memory: what the run may keep in memory, as "2 GB" (default: half of what
    is free); beyond it the dense output goes to a temporary file, and a run whose rows fill it ends there.
    progress(t, t_end) is called a few times a second. A run that fails returns its partial results, with status
    "failed" and a reason."""
    options = check_options(
        model,
        duration=duration,
        formulation=formulation,
        integrator=integrator,
        closure=closure,
        rtol=rtol,
        atol=atol,
        step=step,
        max_step=max_step,
        max_steps=max_steps,
        sample=sample,
        dense=dense,
        memory=memory,
        **warn_of_moved(moved),
    )
    check_room(model, options)
    state = as_state(model, model.q0 if q0 is None else q0, model.v0 if v0 is None else v0, ("q0", "v0"))
    reported, begun = heard(progress), time.perf_counter()
    # tables of a model that was prepared before serve again
    handle = prepare(model, options["formulation"]).copy(options["closure"])
    state = start_on_loops(handle, state, is_given=q0 is not None)
    if isinstance(handle.closure, Springs) and handle.closure.prestretch:
        state = prestretched(handle, state, options)
    initialise_multipliers(handle, state, options["integrator"])
    run = Run(handle, state, options, wants_rows=True)
    handle.start_phase(run.memory.y)
    compiled = time.perf_counter()
    recorded, status, reason = advance_to_end(run, reported)
    walls = {"wall_s": time.perf_counter() - compiled, "compile_s": compiled - begun}
    if model.loops:
        handle.closure.use_per_state(handle.work)  # outputs and the rest do
    while True:
        try:
            return _result(run, recorded, status, reason, options, walls)
        except (MemoryError, OSError) as error:
            if isinstance(error, OSError) and error.errno != errno.ENOMEM:
                raise
        # only here is let go what the attempt held
        status, reason = Status.OUT_OF_MEMORY, recorded.give_up()


# --- the result -----------------------------------------------------------------------------------------------


def _result(
    run: Run,
    recorded: Recorded,
    status: Status,
    reason: str,
    options: dict[str, Any],
    walls: dict[str, float],
) -> Result:
    handle, stepping = run.handle, run.memory.stepping[0]
    model = handle.model
    rows = recorded.rows.whole()
    if len(rows) == 0:  # it failed before the first step: only the start is known
        rows = np.concatenate([[0.0], run.memory.y, handle.work.inputs])[None, :]
    pieces = recorded.starts.whole()
    dense = (
        Dense(pieces[:, 0].copy(), pieces[:, 1].copy(), recorded.terms.whole())
        if options["dense"] and recorded.has_dense
        else None
    )
    events = events_of(handle, recorded.log)
    phases = recorded.phase_history()
    if not reason:
        n_q = len(model.coordinates)
        start, end = rows[0, 1 : 1 + n_q], rows[-1, 1 : 1 + n_q]
        reason = failure_reason(handle, status, float(stepping.t), events, start, end, int(stepping.target))
    t, _, _, inputs, energy = _split(handle, rows)
    y = rows[:, 1 : rows.shape[1] - inputs.shape[1]]
    audit = audit_run(handle, t, y, inputs, energy, phases, run.memory.atol)
    if recorded.log:
        audit["event_error"] = float(stepping.event_error)
    contacts = contact_log(handle, rows, dense, phases, recorded.log)
    commands = np.column_stack([rows[:, 0], rows[:, rows.shape[1] - handle.packed.n_inputs :]])
    if options["sample"] is not None and dense is not None:
        rows = _on_grid(rows, dense, options["sample"], model)
    t, q, v, inputs, energy = _split(handle, rows)
    outputs = recorded_outputs(handle, t, rows[:, 1 : rows.shape[1] - inputs.shape[1]], inputs, phases)
    stats = {
        "evaluations": int(stepping.n_evaluations + handle.work.closure[0].n_evaluations),
        "steps": int(stepping.n_steps),
        "rejected": int(stepping.n_rejected),
        "events": int(stepping.n_events),
        **_newton_stats(run),
        **walls,
    }
    result = Result(
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
        settings_of(options) | {"integrator": describe_integrators(run.integrators)},
        inputs,
        dense,
        contacts,
        phases,
        commands,
        tuple((t, scheme.name) for t, scheme in run.integrators),
        Methods(options["formulation"], options["integrator"], options["closure"]),
    )
    for words in result.warnings:
        warnings.warn(words, AccuracyWarning, stacklevel=3)
    return result


def _newton_stats(run: Run) -> dict[str, int]:
    """Of implicit integrators."""
    newton = run.memory.newton[0]
    if not newton.n_jacobians:
        return {}
    return {"jacobians": int(newton.n_jacobians), "factorisations": int(newton.n_factors)}


def _split(handle: Prepared, rows: Array) -> tuple[Array, Array, Array, Array, dict[str, Array]]:
    """Columns of recorded rows: t, q, v, held inputs, and energies with accumulated work."""
    world = handle.system.world[0]
    t, q, v, z, inputs = np.split(rows, np.cumsum([1, world.n_q, world.n_v, world.n_z]), axis=1)
    q, v = q.copy(), v.copy()
    energy = handle.energies(q, v)
    for k, kind in enumerate(handle.system.quadratures):
        energy[f"work_{Power(kind).name.lower()}"] = z[:, k].copy()
    return t[:, 0].copy(), q, v, inputs.copy(), energy


def status_word(status: Status) -> str:
    """Of a run that has ended, as Result.status has it."""
    words = {Status.DONE: "done", Status.STOPPED: "stopped", Status.INTERRUPTED: "interrupted"}
    return words.get(status, "failed")


def events_of(handle: Prepared, log: list[tuple[int, int, float]]) -> tuple[Event, ...]:
    """Those that have a name."""
    names = handle.packed.event_names
    return tuple(Event(names[k], t, "rising" if direction > 0 else "falling") for k, direction, t in log if names[k])


BREAKDOWNS = (
    Status.STEP_TOO_SMALL,
    Status.TOO_MANY_STEPS,
    Status.NOT_FINITE,
    Status.NOT_CONVERGED,
    Status.NOT_CLOSED,
    Status.SINGULAR_LOOP,
)


def failure_reason(
    handle: Prepared, status: Status, t: float, events: tuple[Event, ...], start: Array, end: Array, target: int
) -> str:
    """Why a run from start has come to its end at t; breakdowns of loops near a singular pose are called that.
    target: the event that its last step was to end on."""
    if status in BREAKDOWNS and handle.model.loops and handle.closure.keeps_closed:
        name = singular_loop(handle, start, end)
        if name is not None:
            return failure_advice(Status.SINGULAR_LOOP, t, name)
    return failure_advice(status, t, failed_item(handle, status, events, target))


def failed_item(handle: Prepared, status: Status, events: tuple[Event, ...], target: int) -> str:
    if status == Status.EVENT_MISSED:
        return handle.packed.event_names[target] or "a change of friction or contact"
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

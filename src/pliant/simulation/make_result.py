"""Recorded rows -> Result: columns, energies, outputs, audit, contacts, statistics."""

from __future__ import annotations

import dataclasses
import errno
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.engine.prepared import Prepared
from pliant.methods import Methods
from pliant.model.model import Model
from pliant.result import Result
from pliant.results.outputs import recorded_outputs
from pliant.results.recording import Dense, recorded_energy
from pliant.simulation.audit import audit_run
from pliant.simulation.auto_integrator import describe_integrators, describe_reasons
from pliant.simulation.contact_log import contact_log, join_contacts
from pliant.simulation.continuing import checkpoint_of
from pliant.simulation.options import settings_of
from pliant.simulation.outcome import events_of, failure_reason, status_word
from pliant.simulation.recorder import Recorded
from pliant.simulation.run import Counts, Run
from pliant.system.memory import evaluate_dense
from pliant.system.status import Status

Array = NDArray[np.float64]


def make_result(
    run: Run,
    recorded: Recorded,
    status: Status,
    reason: str,
    options: dict[str, Any],
    walls: dict[str, float],
    before: Result | None = None,
) -> Result:
    """The Result of a run that has ended; where memory does not suffice for it, of the rows that can be kept. before:
    the result from whose end it went on."""
    try:
        checkpoint = checkpoint_of(run, status)  # first: all else uses the same work
    except MemoryError:
        status, reason, checkpoint = Status.OUT_OF_MEMORY, recorded.give_up(), None
    while True:
        try:
            result = _result(run, recorded, status, reason, options, walls)
            if before is not None:
                join_contacts(result.contacts, before.contacts)
            return dataclasses.replace(result, checkpoint=checkpoint)
        except (MemoryError, OSError) as error:
            if isinstance(error, OSError) and error.errno != errno.ENOMEM:
                raise
        # only here is let go what the attempt held
        status, reason, checkpoint = Status.OUT_OF_MEMORY, recorded.give_up(), None


def _result(
    run: Run, recorded: Recorded, status: Status, reason: str, options: dict[str, Any], walls: dict[str, float]
) -> Result:
    handle, stepping = run.handle, run.memory.stepping[0]
    model = handle.model
    rows = recorded.rows.whole()
    if len(rows) == 0:  # it failed before the first step: only the start is known
        rows = np.concatenate([[stepping.t], run.memory.y, handle.work.inputs])[None, :]
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
        target = int(stepping.target)
        reason = failure_reason(handle, status, float(stepping.t), events, start, end, target, options)
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
    counts = Counts(*(now - before for now, before in zip(run.counts(), run.counted, strict=True)))
    stats = {
        "evaluations": counts.evaluations + int(handle.work.closure[0].n_evaluations),
        "steps": counts.steps,
        "rejected": int(stepping.n_rejected),
        "events": int(stepping.n_events),
        **({"jacobians": counts.jacobians, "factorisations": counts.factorisations} if counts.jacobians else {}),
        **walls,
    }
    return Result(
        model=model,
        t=t,
        q=q,
        v=v,
        energy=energy,
        outputs=outputs,
        events=events,
        status=status_word(status),
        reason=reason,
        audit=audit,
        stats=stats,
        settings=settings_of(options) | _integrator_settings(run),
        inputs=inputs,
        dense=dense,
        contacts=contacts,
        phases=phases,
        commands=commands,
        integrators=tuple((t, scheme.name) for t, scheme in run.integrators),
        methods=Methods(options["formulation"], options["integrator"], options["closure"]),
    )


def _integrator_settings(run: Run) -> dict[str, str]:
    """Which integrators were at work; of "auto" also why it has changed them."""
    names = {"integrator": describe_integrators(run.integrators)}
    if run.choice is None or not run.choice.reasons:
        return names
    return names | {"why_changed": describe_reasons(run.integrators, run.choice.reasons)}


def _split(handle: Prepared, rows: Array) -> tuple[Array, Array, Array, Array, dict[str, Array]]:
    """Columns of recorded rows: t, q, v, held inputs, and energies with accumulated work."""
    world = handle.system.world[0]
    t, q, v, z, inputs = np.split(rows, np.cumsum([1, world.n_q, world.n_v, world.n_z]), axis=1)
    q, v = q.copy(), v.copy()
    return t[:, 0].copy(), q, v, inputs.copy(), recorded_energy(handle, q, v, z)


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

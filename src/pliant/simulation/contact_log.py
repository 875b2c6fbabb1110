"""Result.contacts: every contact of a run with its times, speeds, peak force, impulse and work."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.engine.prepared import Prepared
from pliant.results.contact_records import CONTACT, Contacts
from pliant.results.recording import Dense
from pliant.system.contact_tables import ContactEvent
from pliant.system.memory import evaluate_dense
from pliant.system.phases import Phases

Array = NDArray[np.float64]
N_FINE = 33  # points per round of refining a peak
N_ROUNDS = 4


def contact_log(
    handle: Prepared, table: Array, dense: Dense | None, phases: Phases, log: list[tuple[int, int, float]]
) -> Any:
    """One row per contact in the order of their begin; what was pressed at the start began there. table: recorded
    rows (t, y, inputs)."""
    events, system = handle.system.events, handle.system
    n_y = int(system.world[0].n_q + system.world[0].n_v + system.world[0].n_z)
    first_z = int(system.world[0].n_q + system.world[0].n_v)
    open_rows: dict[int, dict[str, Any]] = {
        k: {"row": k, "t_start": float(table[0, 0]), "t_end": np.nan}
        for k in range(len(system.contacts))
        if phases.tables[0][system.contacts[k].phase]["is_active"]
    }
    found = list(open_rows.values())
    for k, direction, t in log:
        event = events[k]
        if event.contact < 0 or event.measure != ContactEvent.GAP:
            continue
        row = int(event.contact)
        if direction < 0:
            open_rows[row] = {"row": row, "t_start": t, "t_end": np.nan}
            found.append(open_rows[row])
        elif row in open_rows:
            open_rows.pop(row)["t_end"] = t
    contacts = np.zeros(len(found), CONTACT).view(Contacts)
    if not found:
        return contacts
    normal = handle.normal_forces(table[:, 0], table[:, 1 : 1 + n_y], table[:, 1 + n_y :], phases)
    for out, one in zip(contacts, found, strict=True):
        k, t_end = one["row"], one["t_end"]
        is_over = not np.isnan(t_end)
        first = int(np.searchsorted(table[:, 0], one["t_start"]))
        last = int(np.searchsorted(table[:, 0], t_end)) if is_over else len(table) - 1
        z = first_z + int(system.contacts[k].quadrature)
        out.contact, out.point = handle.packed.contact_names[k]
        out.t_start, out.t_end = one["t_start"], t_end
        out.v_in = -gap_rate(handle, k, table[first, 1 : 1 + n_y])
        out.v_out = gap_rate(handle, k, table[last, 1 : 1 + n_y]) if is_over else np.nan
        out.work, out.impulse = table[last, 1 + z : 3 + z] - table[first, 1 + z : 3 + z]
        out.peak_normal = peak_normal(handle, k, table[first : last + 1], normal[first : last + 1, k], dense, phases)
        out.restitution_requested = handle.packed.restitutions[k]
        out.restitution_delivered = out.v_out / out.v_in if out.v_in > 0.0 else np.nan
    return contacts


def join_contacts(contacts: Any, before: Any) -> None:
    """Contacts that last from the end of the run before on: one record with their beginning in that one."""
    first = {(row.contact, row.point): row for row in reversed(contacts)}
    for row in before[np.isnan(before.t_end)]:
        joined = first.get((row.contact, row.point))
        if joined is not None:
            joined.t_start, joined.v_in = row.t_start, row.v_in
            joined.work, joined.impulse = joined.work + row.work, joined.impulse + row.impulse
            joined.peak_normal = max(joined.peak_normal, row.peak_normal)
            joined.restitution_delivered = joined.v_out / row.v_in if row.v_in > 0.0 else np.nan


def gap_rate(handle: Prepared, k: int, y: Array) -> float:
    """Rate of the gap of contact row k in a state."""
    from pliant.kernels import _jit, events

    table = handle.system.events
    g, gdot = np.empty(len(table)), np.empty(len(table))
    # the gap needs no accelerations: without contact none are needed
    run = handle.work.run[0]
    run.n_touching = run.n_sticking = 0
    _jit.entry(events.event_functions)(*handle.refs, 0.0, y.copy(), np.zeros(len(y)), g, gdot)
    own = (table.contact == k) & (table.measure == ContactEvent.GAP)
    return float(gdot[np.flatnonzero(own)[0]])


def peak_normal(handle: Prepared, k: int, table: Array, values: Array, dense: Dense | None, phases: Phases) -> float:
    """Largest normal force of contact row k over recorded rows, whose normal forces are given, refined on the dense
    output about the largest."""
    n_y = int(handle.system.world[0].n_q + handle.system.world[0].n_v + handle.system.world[0].n_z)
    t = table[:, 0]
    if dense is None or len(t) < 2:
        return float(np.max(values))
    held = np.repeat(table[:1, 1 + n_y :], N_FINE, axis=0)
    for _ in range(N_ROUNDS):
        best = int(np.argmax(values))
        t = np.linspace(t[max(best - 1, 0)], t[min(best + 1, len(t) - 1)], N_FINE)
        values = handle.normal_forces(t, evaluate_dense(dense.starts, dense.steps, dense.terms, t), held, phases)[:, k]
    return float(np.max(values))

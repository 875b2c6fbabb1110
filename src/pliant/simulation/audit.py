"""The audit of a run: what it can say about its own errors, from its accepted steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.beams.bending_range import largest_bending
from pliant.diagnostics import BENDING_RANGES, allowed_loss
from pliant.engine.prepared import Prepared
from pliant.mechanisms.constraints import Loops
from pliant.model.flexible import Beam
from pliant.model.tree import model_size
from pliant.results.recording import energy_error
from pliant.system.contact_tables import ContactEvent

if TYPE_CHECKING:
    from pliant.system.phases import Phases

Array = NDArray[np.float64]
AT_REST = 1e-8  # of the largest potential energy: what of it is rounding
PASSED_THROUGH = 0.1  # of the largest work: energy that moves where hardly any is stored
SLOW_TOUCH = 1e-4  # [m/s] that counts as rest, as in kernels/contact/phase.py


def audit_run(
    handle: Prepared, t: Array, y: Array, inputs: Array, energy: dict[str, Array], phases: Phases, atol: Array
) -> dict[str, float]:
    """y = (q, v, z) at the times t, energies and accumulated work there; atol: tolerance of every component of y."""
    world = handle.system.world[0]
    q, v = y[:, : world.n_q].copy(), y[:, world.n_q : world.n_q + world.n_v].copy()
    scale = energy_scale(handle, q[:1], atol[world.n_q : world.n_q + world.n_v], energy)
    audit = {
        "energy_residual": float(np.max(energy_error(energy, scale))),
        "energy_scale": scale,
        "constraint_drift": _drift(handle, q, v),
    }
    if handle.conserves_momentum():
        audit["momentum_drift"] = handle.momentum_drift(q, v)
    if len(handle.system.frictions):
        audit |= _friction(handle, t, y, inputs, phases)
    bent = [(link.body, q[:, link.q_modes]) for link in handle.model.links if isinstance(link.body, Beam)]
    bending = [(*largest_bending(beam, d), beam.coupling_order) for beam, d in bent if beam.n_modes]
    if bending:
        # of the beam that is farthest out of its range
        found = max(bending, key=_range_used)
        audit["deflection_ratio"], audit["section_angle"], audit["coupling_order"] = found
    return audit


def _range_used(bending: tuple[float, float, int]) -> float:
    """How far a beam bends, over how far its coupling holds."""
    *found, order = bending
    return max(value / limit for value, limit in zip(found, BENDING_RANGES[order], strict=True))


def energy_scale(handle: Prepared, q: Array, atol: Array, energy: dict[str, Array]) -> float:
    """The energy that moved [J]: max (T + V_elastic + |V_gravity - V_gravity(0)|), but where next to nothing moves not
    less than rounding of the potential energy, a part of the work done, and what motion has that counts as rest."""
    moved = energy["kinetic"] + energy["elastic"] + np.abs(energy["gravity"] - energy["gravity"][0])
    work = [float(np.max(np.abs(values - values[0]))) for name, values in energy.items() if name.startswith("work_")]
    rest = np.maximum(np.where(np.isfinite(atol), atol, 0.0), _stick_speeds(handle))
    slow = handle.energies(q, rest[None, :])["kinetic"]
    floor = AT_REST * np.max(np.abs(energy["gravity"])), PASSED_THROUGH * max(work, default=0.0), slow[0]
    return float(max(np.max(moved), *floor))


def _stick_speeds(handle: Prepared) -> Array:
    """Speed of every velocity below which friction holds it, 0 where nothing does."""
    system = handle.system
    speeds = np.zeros(len(system.dofs))
    for contact in system.contacts:
        if contact.friction >= 0 and system.frictions[contact.friction].sticks:
            stick_speed = system.frictions[contact.friction].kink[0]
            speeds = np.maximum(speeds, stick_speed * system.dofs.velocity_scale / model_size(handle.model))
    for site in system.joint_frictions:
        if system.frictions[site.friction].sticks:
            speeds[site.dof] = max(speeds[site.dof], system.frictions[site.friction].kink[0])
    return speeds


def _drift(handle: Prepared, q: Array, v: Array) -> float:
    """How far quaternions are from unit length, and loops from closed, as a part of the model's size."""
    drift = 0.0
    for four in handle.model.quaternions:
        drift = max(drift, float(np.max(np.abs(np.linalg.norm(q[:, four], axis=1) - 1.0))))
    if handle.model.loops:
        loops = Loops(handle)
        drift = max(drift, float(np.max(np.abs(loops.errors(q, v)[0]) / loops.scales)))
    return drift


def _friction(handle: Prepared, t: Array, y: Array, inputs: Array, phases: Phases) -> dict[str, float]:
    """Friction looked at without the events that made it: whether it ever drives, and how near sticking is to slip."""
    found = handle.check_friction(t, y, inputs, phases)
    drive, power, load = np.nanmax(found, axis=0, initial=0.0).tolist()
    figures: dict[str, Any] = {"friction_drive": drive, "friction_power": power}
    return figures | ({"stick_load": load} if len(handle.work.stick) else {})


def false_events(
    handle: Prepared,
    v: Array,
    phases: Phases,
    log: list[tuple[int, int, float]],
    contacts: Any,
    settings: Mapping[str, Any],
) -> int:
    """Count the events that cannot have happened.

    Contacts, stops, flanks of backlash and one-way springs that begin while they act already or end while they do not,
    and contacts that begin while their gap opens. log: (event, direction, t) in the order of time; v: accepted rows."""
    acting, rows = phases.tables[0]["is_active"] != 0, one_sided_events(handle)
    count = 0
    for k, direction, _ in log:
        if k in rows:
            phase, sign = rows[k]
            begins = sign * direction > 0
            count += bool(acting[phase] == begins)
            acting[phase] = begins
    allowed = _opening_speed(handle, v, settings)
    # those that touch at the start have not begun by an event
    return count + int(np.sum((contacts.v_in < -allowed) & (contacts.t_start > phases.times[0])))


def one_sided_events(handle: Prepared) -> dict[int, tuple[int, int]]:
    """Return {event: (row of the phase table, direction in which it begins)} of what acts on one side only."""
    system, found = handle.system, {}
    for k, event in enumerate(system.events):
        if event.limit >= 0 and not event.is_stop:
            found[k] = int(system.limits[event.limit].phase), 1
        elif event.transmission >= 0:
            found[k] = int(system.transmissions[event.transmission].phase) + (1 if event.component > 0 else 0), 1
        elif event.spring >= 0 and not event.is_stop:
            found[k] = int(system.springs[event.spring].phase), 1
        elif event.contact >= 0 and event.measure == ContactEvent.GAP:
            found[k] = int(system.contacts[event.contact].phase), -1
    return found


def _opening_speed(handle: Prepared, v: Array, settings: Mapping[str, Any]) -> float:
    """Largest rate at which the gap of a contact that begins may open [m/s].

    Where a point grazes its plane, an error of the gap enters the rate as its root: 2 a e = rate^2."""
    model, size = handle.model, model_size(handle.model)
    # of a mode, a length, too
    units = np.where(handle.system.dofs.velocity_scale == 1.0, size, 1.0)
    falling = np.sqrt(np.linalg.norm(model.gravity) * size)
    return float(np.sqrt(allowed_loss(settings)) * max(np.max(np.abs(v) * units, initial=0.0), falling) + SLOW_TOUCH)

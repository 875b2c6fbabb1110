"""How a run ended: its status in a word, its events, and why it did not come to its end."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.engine.prepared import Prepared
from pliant.errors import failure_advice
from pliant.mechanisms.assembly import singular_loop
from pliant.methods.integrators import Integrator
from pliant.methods.stability import stability_limit
from pliant.model.columns import command_columns
from pliant.model.model import Model
from pliant.results.recording import Event
from pliant.system.contact_tables import ContactEvent
from pliant.system.status import Status

if TYPE_CHECKING:
    from pliant.simulation.run import Run

STALLED_SHARE = 2e-9  # of the duration: how long ago an event may be that keeps a run from advancing
Array = NDArray[np.float64]


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
    Status.STALLED,
    Status.TOO_MANY_STEPS,
    Status.NOT_FINITE,
    Status.NOT_CONVERGED,
    Status.NOT_CLOSED,
    Status.SINGULAR_LOOP,
)


# ends that a sampled loop may come to because it is unstable
RUNAWAYS = (
    Status.DEFLECTED,
    Status.GROWN,
    Status.NOT_FINITE,
    Status.NOT_CONVERGED,
    Status.STEP_TOO_SMALL,
    Status.STALLED,
)


def unstable_loop_reason(handle: Prepared, status: Status, t0: float, t: float) -> str:
    """Why a run from t0 has failed with this status at t whose controllers have made its motion grow; "" if they have
    not, or if a law has run away by itself."""
    if not handle.model.controllers or runaway_command(handle) is not None:
        return ""
    # the one way up from here: small motions know the poles of a loop
    from pliant.linear.unstable_loop import unstable_loop_words

    words = unstable_loop_words(handle.model, t - t0)
    what = ""
    if status == Status.NOT_FINITE:
        what = "the acceleration is not finite: "
    elif status == Status.DEFLECTED:
        what = f"the bending of beam {handle.failed_name(status)!r} has grown beyond twice its length: "
    return f"at t = {t:.9g} s: {what}{words}" if words else ""


def failure_reason(
    run: Run, status: Status, log: list[tuple[int, int, float]], start: Array, end: Array, options: dict[str, Any]
) -> str:
    """Return why a run from start has come to its end, where coordinates are those of end; breakdowns of loops near a
    singular pose are called that. log: of its events; options: of the run."""
    handle, stepping = run.handle, run.memory.stepping[0]
    t = float(stepping.t)
    if status in BREAKDOWNS and handle.model.loops and handle.closure.keeps_closed:
        name = singular_loop(handle, start, end)
        if name is not None:
            return failure_advice(Status.SINGULAR_LOOP, t, name)
    command = runaway_command(handle) if status in BREAKDOWNS else None
    if command is not None:
        return (
            f"at t = {t:.9g} s: {command!r} is not finite, the law of its controller runs away; look at its gains and "
            "its own states (a windup limits those of a PID)"
        )
    if status == Status.GROWN:
        return failure_advice(status, t, growth_words(options["integrator"].first, options["step"]))
    if status == Status.STALLED:
        return failure_advice(status, t, stalled_item(run, log))
    who = failed_item(handle, status, events_of(handle, log), int(stepping.target))
    return failure_advice(status, t, who, better_coupling(handle.model, who)) + limit_words(status, options)


def better_coupling(model: Model, beam: str) -> str:
    """A coupling of higher order than the one in force, as a part of advice."""
    order = next((each.coupling_order for each in model.beams if each.name == beam), 0)
    words = {1: 'coupling = "high-order", ', 2: 'coupling = "fourth-order", '}
    return words.get(order, "")


def limit_words(status: Status, options: dict[str, Any]) -> str:
    """Return what else may be behind a fixed step that fails: the limit of stability of its method, if there is one."""
    integrator, step = options["integrator"].first, options["step"]
    if status not in (Status.NOT_CONVERGED, Status.NOT_FINITE, Status.DEFLECTED) or step is None:
        return ""
    return f"; {growth_words(integrator, step)}" if 0.0 < stability_limit(integrator, step) < np.inf else ""


def growth_words(integrator: Integrator, step: float) -> str:
    """Why a method with this fixed step may let motion grow, and what to do."""
    limit, stable = stability_limit(integrator, step), "newmark, generalised_alpha, wilson, houbolt"
    if limit == 0.0:
        return (
            f"{integrator} lets undamped motion grow whatever the step, so that no step is short enough; take another "
            f"method, stable at every step: {stable}"
        )
    if limit == np.inf:
        return (
            f"{integrator} is stable at every step where equations are linear, here they are not; give a shorter step "
            f"than {step:g} s, or a method that damps fast motion (generalised_alpha with rho_inf 0.5)"
        )
    bound = f"only up to omega h = {limit:.4g}" if limit < np.inf else "only with short steps"
    reach = f": with h = {step:g} s up to {limit / step:.4g} rad/s" if limit < np.inf else ""
    return (
        f"{integrator} is stable {bound}, omega the fastest frequency{reach}; give a shorter step, or a method that is "
        f"stable at every step: {stable}"
    )


def runaway_command(handle: Prepared) -> str | None:
    """A held command that is no number."""
    bad = np.flatnonzero(~np.isfinite(handle.work.inputs))
    return command_columns(handle.model)[bad[0]].name if len(bad) else None


def stalled_item(run: Run, log: list[tuple[int, int, float]]) -> str:
    """Return what keeps a run from advancing: the event that has happened most often of late, or what changes fastest
    in units of its tolerance."""
    handle, memory = run.handle, run.memory
    since = float(memory.stepping[0].t - STALLED_SHARE * memory.stepping[0].duration)
    recent = Counter(k for k, _, t in log if t >= since)
    if recent:
        return event_words(handle, recent.most_common(1)[0][0])
    n_q, n_v = len(handle.model.coordinates), len(handle.model.velocities)
    pace = np.abs(memory.f) / (memory.atol + float(memory.stepping[0].rtol) * np.abs(memory.y))
    return f"the rate of {handle.model.velocities[int(np.argmax(pace[n_q : n_q + n_v]))]!r}, which changes fastest"


def event_words(handle: Prepared, k: int) -> str:
    """Return event k as a part of a sentence, by the contact or joint that it is of."""
    event, name = handle.system.events[k], handle.packed.event_names[k]
    if event.contact >= 0:
        contact, point = handle.packed.contact_names[event.contact]
        changes = {ContactEvent.GAP: "beginning and end", ContactEvent.CLAMP: "damping"}
        change = changes.get(ContactEvent(event.measure), "sticking and slipping")
        return f"{change} of contact {contact!r} at point {point!r}"
    if event.joint_friction >= 0:
        dof = handle.system.joint_frictions[event.joint_friction].dof
        return f"sticking and slipping of {handle.model.velocities[dof]!r}"
    return f"event {name!r}"


def failed_item(handle: Prepared, status: Status, events: tuple[Event, ...], target: int) -> str:
    if status == Status.EVENT_MISSED:
        return event_words(handle, target)
    if status == Status.EVENT_NOT_LOCATED and target >= 0:
        return event_words(handle, target)
    if status == Status.STOPPED and events:
        return events[-1].name
    return handle.failed_name(status)

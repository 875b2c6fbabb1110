"""How a run ended: its status in a word, its events, and why it did not come to its end."""

from __future__ import annotations

from typing import Any

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
from pliant.system.status import Status

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
    Status.TOO_MANY_STEPS,
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
    handle: Prepared,
    status: Status,
    t: float,
    events: tuple[Event, ...],
    start: Array,
    end: Array,
    target: int,
    options: dict[str, Any],
) -> str:
    """Why a run from start has come to its end at t; breakdowns of loops near a singular pose are called that.
    target: the event that its last step was to end on; options: of the run."""
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
    who = failed_item(handle, status, events, target)
    return failure_advice(status, t, who, better_coupling(handle.model, who))


def better_coupling(model: Model, beam: str) -> str:
    """A coupling of higher order than the one in force, as a part of advice."""
    order = next((each.coupling_order for each in model.beams if each.name == beam), 0)
    words = {1: 'coupling = "high-order", ', 2: 'coupling = "fourth-order", '}
    return words.get(order, "")


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


def failed_item(handle: Prepared, status: Status, events: tuple[Event, ...], target: int) -> str:
    if status == Status.EVENT_MISSED:
        return handle.packed.event_names[target] or "a change of friction or contact"
    if status in (Status.STOPPED, Status.EVENT_NOT_LOCATED) and events:
        return events[-1].name
    return handle.failed_name(status)

"""How a run ended: its status in a word, its events, and why it did not come to its end."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.engine.prepared import Prepared
from pliant.errors import failure_advice
from pliant.mechanisms.assembly import singular_loop
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


def failure_reason(
    handle: Prepared, status: Status, t: float, events: tuple[Event, ...], start: Array, end: Array, target: int
) -> str:
    """Why a run from start has come to its end at t; breakdowns of loops near a singular pose are called that.
    target: the event that its last step was to end on."""
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
    who = failed_item(handle, status, events, target)
    return failure_advice(status, t, who, better_coupling(handle.model, who))


def better_coupling(model: Model, beam: str) -> str:
    """A coupling of higher order than the one in force, as a part of advice."""
    order = next((each.coupling_order for each in model.beams if each.name == beam), 0)
    words = {1: 'coupling = "high-order", ', 2: 'coupling = "fourth-order", '}
    return words.get(order, "")


def runaway_command(handle: Prepared) -> str | None:
    """A held command that is no number."""
    bad = np.flatnonzero(~np.isfinite(handle.work.inputs))
    return command_columns(handle.model)[bad[0]].name if len(bad) else None


def failed_item(handle: Prepared, status: Status, events: tuple[Event, ...], target: int) -> str:
    if status == Status.EVENT_MISSED:
        return handle.packed.event_names[target] or "a change of friction or contact"
    if status in (Status.STOPPED, Status.EVENT_NOT_LOCATED) and events:
        return events[-1].name
    return handle.model.links[int(handle.work.run[0].body)].body.name

"""simulate(..., start=result): a run that goes on where another ended."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError
from pliant.model.messages import listed, quoted
from pliant.model.model import Model
from pliant.result import Result
from pliant.results.checkpoint import Checkpoint
from pliant.simulation.checkpoint_check import NEWTON_TABLES, check_fit, check_plain_fields, has_newton_tables
from pliant.simulation.run import Counts, Run
from pliant.system.newton import CARRIED
from pliant.system.status import Status

Array = NDArray[np.float64]
FREE = ("name", "outputs", "duration", "run")  # of a model: what the motion does not depend on


def as_start(model: Model, start: Any, **others: Any) -> Checkpoint | None:
    """Where the run begins that goes on from a result, None for one that begins by itself; or why it cannot go on.

    others: what else says where a run begins."""
    if start is None:
        return None
    if not isinstance(start, Result):
        raise ModelError(f"start: {quoted(start)} found; give the Result of a run of this model")
    given = [name for name, value in others.items() if value is not None]
    if given:
        raise ModelError(f"start and {given[0]} both say where the run begins; give one of them")
    different = [field.name for field in dataclasses.fields(Model) if not _agrees(model, start.model, field.name)]
    if different:
        raise ModelError(
            f"start: {listed(different)} of model {model.name!r} differ from those of the run it shall go on from; "
            f"only {listed(FREE)} may, and the functions of controllers; to begin another model in the same pose, "
            "give q0=start.q[-1], v0=start.v[-1]"
        )
    if start.checkpoint is None:
        raise ModelError(f"start: {why_not(start)}; to begin there anew, give q0=start.q[-1], v0=start.v[-1]")
    check_plain_fields(model, start.checkpoint)
    return start.checkpoint


def _agrees(model: Model, other: Model, field: str) -> bool:
    """Whether a field of two models means the same motion."""
    if model is other or field in FREE:
        return True
    mine, its = getattr(model, field), getattr(other, field)
    if field == "controllers" and len(mine) == len(its):
        return all(_without_function(one) == _without_function(two) for one, two in zip(mine, its, strict=True))
    return bool(mine == its)


def _without_function(controller: Any) -> tuple[Any, ...]:
    fields = [field.name for field in dataclasses.fields(controller) if field.name != "function"]
    return tuple(getattr(controller, name) for name in fields)


def why_not(result: Result) -> str:
    """The reason of a result without a checkpoint."""
    if result.status == "done":
        return "the file does not say how its run ended, only how it moved"
    return f"the run it shall go on from {result.status} {result.reason}".rstrip()


def checkpoint_of(run: Run, status: Status) -> Checkpoint | None:
    """Where a run ended; None if it ended in the middle of something: a step that fails, a limit that holds no motion,
    a controller that was not done."""
    stepping, memory, work = run.memory.stepping[0], run.memory, run.handle.work
    if (
        status not in (Status.DONE, Status.STOPPED, Status.INTERRUPTED)
        or stepping.is_awaiting
        or not stepping.has_begun
    ):
        return None
    if status == Status.STOPPED and _is_at_hard_limit(run):
        return None
    return Checkpoint(
        t=float(stepping.t),
        h=float(stepping.h),
        integrator=run.integrators[-1][1].name,
        counted=run.counts(),
        **{name: getattr(memory, name).copy() for name in NEWTON_TABLES},
        choice=run.choice.so_far(memory) if run.choice is not None else None,
        y=memory.y.copy(),
        phase=work.phase.copy(),
        side=memory.side[0].copy(),
        fired=memory.fired.copy(),
        event_values=memory.event_values.copy(),
        was_switched=bool(stepping.was_switched),
        has_moved=bool(stepping.has_moved),
        inputs=work.inputs.copy(),
        controllers=work.controllers.copy(),
        control=work.control.copy(),
        t_control=float(stepping.t_control),
        sampled=run.sampler.states() if run.sampler is not None else (),
    )


def _is_at_hard_limit(run: Run) -> bool:
    limits, fired = run.handle.system.events.limit, run.memory.fired
    return bool(np.any((limits >= 0) & (fired > 0) & (run.handle.system.events.is_stop == 1)))


def go_on(run: Run, start: Checkpoint) -> None:
    """Put a run that has not begun where the other one ended."""
    from pliant.kernels import _jit, outputs

    handle, memory, work = run.handle, run.memory, run.handle.work
    check_fit(run, start)
    stepping = memory.stepping[0]
    work.phase[:], work.inputs[:] = start.phase, start.inputs
    work.controllers[:], work.control[:] = start.controllers, start.control
    memory.y[:], memory.side[0], memory.fired[:] = start.y, start.side, start.fired
    memory.event_values[: len(start.event_values)] = start.event_values
    stepping.has_begun, stepping.t_control = 1, start.t_control
    stepping.was_switched, stepping.has_moved = start.was_switched, start.has_moved
    # without rows it only numbers what touches
    nothing = np.zeros((0, 0))
    _jit.entry(outputs.record_outputs)(
        *handle.refs,
        np.zeros(0),
        np.zeros((0, len(memory.y))),
        np.zeros((0, len(work.inputs))),
        handle.packed.outputs[:0],
        nothing,
    )
    if not stepping.is_fixed:
        _go_on_stepping(run, start)
    run.begun = start.sampled
    if stepping.is_fixed:
        _begin_growth(run, start)
    memory = run.memory  # "auto" may have changed it
    stepping = memory.stepping[0]
    memory.rows[0] = np.concatenate([[start.t], start.y, start.inputs])
    stepping.n_rows = 1


def _go_on_stepping(run: Run, start: Checkpoint) -> None:
    """With the integrator that was at work, if it is, or "auto" may take it: as if there were no seam."""
    if start.choice is None or not run.goes_on_with(start.integrator, start.choice):
        run.choose_first()
    integrator, stepping = run.integrators[-1][1], run.memory.stepping[0]
    if integrator.name != start.integrator:
        return
    stepping.h = start.h
    if run.choice is not None or integrator.kind == "implicit":
        run.go_on_counting(Counts(*start.counted))
    if integrator.kind == "implicit" and has_newton_tables(run, start):
        memory = run.memory
        for name in CARRIED:
            memory.newton[name] = start.newton[name]
        memory.jacobian[:], memory.factor[:], memory.pivots[:] = start.jacobian, start.factor, start.pivots


def _begin_growth(run: Run, start: Checkpoint) -> None:
    """What kernels/integrators/growth.py measures at the start of a run with fixed steps."""
    stepping, (q, v) = run.memory.stepping[0], start.state(run.handle.model)
    energy = run.handle.energies(q[None, :], v[None, :])
    stepping.start_energy = abs(energy["kinetic"][0]) + abs(energy["elastic"][0])
    stepping.start_gravity, stepping.top_speed = energy["gravity"][0], np.max(np.abs(v), initial=0.0)

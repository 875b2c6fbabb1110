"""simulate(model) -> Result: the pipeline from a model to recorded motion."""

from __future__ import annotations

import dataclasses
import time
import warnings
from collections.abc import Sequence
from typing import Any, Literal, Unpack

from numpy.typing import ArrayLike

from pliant.engine.arguments import as_model, as_state
from pliant.engine.callbacks import Progress, heard
from pliant.engine.prepared import prepare
from pliant.engine.run_options import OFF
from pliant.errors import AccuracyWarning
from pliant.methods import ClosureLike, FormulationLike, IntegratorLike
from pliant.model.model import Model
from pliant.result import Result
from pliant.simulation.accuracy import run_to_accuracy
from pliant.simulation.continuing import as_start, go_on
from pliant.simulation.fast_shapes import say_if_fast
from pliant.simulation.fixed_steps import growth_figures
from pliant.simulation.make_result import make_result
from pliant.simulation.moved import MovedOptions, warn_of_moved
from pliant.simulation.options import check_options, check_room
from pliant.simulation.outcome import RUNAWAYS, unstable_loop_reason
from pliant.simulation.prestretch import put_on_loops
from pliant.simulation.run import Run, advance_to_end


def simulate(
    model: Model,
    duration: float | None = None,
    *,
    formulation: FormulationLike | None = None,
    integrator: IntegratorLike | None = None,
    closure: ClosureLike | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    accuracy: float | str | None = None,
    step: float | Literal["off"] | None = None,
    max_step: float | Literal["off"] | None = None,
    max_steps: int | None = None,
    sample: float | Literal["off"] | None = None,
    dense: bool | None = None,
    memory: float | str | None = None,
    q0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    start: Result | None = None,
    progress: Progress | None = None,
    **moved: Unpack[MovedOptions],
) -> Result:
    """Move the model from its start (or q0, v0, or the end of another run) for `duration` seconds. Left out: as the
    model's `run` says, or else:

    formulation, integrator, closure: who computes accelerations, who advances time, how loops are closed; each a value
    as pliant.GeneralisedAlpha(rho_inf=0.8) or pliant.Springs(stiffness=1e6), or its name for the defaults ("radau",
    "springs"); `pliant methods` lists them. Default "auto": articulated; dop853, and ark5 or radau while they
    cost less; multipliers. rtol, atol: local error (1e-8; 1e-10 rad, and per model size for lengths). accuracy: of
    the motion itself, in place of both, as "1 mm", "0.01 deg" or 1e-6 (of the model's size and of a radian): tolerances
    are tightened until it is met; where it cannot be met, the run fails from there on. step: fixed step [s]
    instead of error control. max_step: largest step [s]; max_steps: give up after so many (10 million). sample: rows
    on a grid of this period instead of at accepted steps. "off" for step, max_step or sample undoes what the model's
    `run` says. dense=False keeps no dense output (less memory, no at(t)). memory: what the run may keep in memory, as
    "2 GB" (half of what is free); beyond it the dense output goes to a temporary file, and a run whose rows fill it
    ends there. start: a Result of this model, from whose end the run goes on: with its time, friction, contacts,
    controllers and accumulated work. progress(t, t_end) is called a few times a second. A run that fails returns its
    partial results, with status "failed" and a reason."""
    given = {
        "duration": duration, "formulation": formulation, "integrator": integrator, "closure": closure,
        "rtol": rtol, "atol": atol, "accuracy": accuracy, "step": step, "max_step": max_step,
        "max_steps": max_steps, "sample": sample, "dense": dense, "memory": memory, **warn_of_moved(moved),
    }  # fmt: skip
    result = run_model(model, q0, v0, start, progress, given, explains=True)
    warn_of(result.warnings)
    return result


def warn_of(words: Sequence[str]) -> None:
    """One warning for all that is said of a call, which shows the caller's line."""
    if words:
        warnings.warn("\n".join(words), AccuracyWarning, stacklevel=3)


def run_model(
    model: Model,
    q0: ArrayLike | None,
    v0: ArrayLike | None,
    start: Result | None,
    progress: Progress | None,
    given: dict[str, Any],
    explains: bool = False,
) -> Result:
    """simulate, but what is to be said about the result is not said yet. given: options by name. explains: whether
    the reason of a failure is worth the time of looking for unstable controllers."""
    begin = as_start(as_model(model), start, q0=q0, v0=v0)
    t0 = begin.t if begin is not None else 0.0
    options = check_options(model, t0, **given)
    check_room(model, options)
    if options["step"] is None:
        say_if_fast(model, options["duration"])
    if options["accuracy"] is not None:

        def run_with(tolerances: dict[str, Any]) -> Result:
            return run_model(model, q0, v0, start, progress, {**given, "accuracy": OFF, **tolerances}, explains)

        return run_to_accuracy(run_with, options["accuracy"])
    state = as_state(model, model.q0 if q0 is None else q0, model.v0 if v0 is None else v0, ("q0", "v0"))
    reported, begun = heard(progress), time.perf_counter()
    # tables of a model that was prepared before serve again
    handle = prepare(model, options["formulation"]).copy(options["closure"])
    if begin is not None:
        state = begin.state(model)
    state = put_on_loops(handle, state, options, is_given=q0 is not None, is_closed=begin is not None, t=t0)
    run = Run(handle, state, options, wants_rows=True, t=t0)
    if begin is None:
        handle.start_phase(run.memory.y)
        run.choose_first()
    else:
        go_on(run, begin)
    growth = growth_figures(run, options)
    compiled = time.perf_counter()
    recorded, status, reason = advance_to_end(run, reported)
    walls = {"wall_s": time.perf_counter() - compiled, "compile_s": compiled - begun}
    if model.loops:
        handle.closure.use_per_state(handle.work)  # outputs and the rest do
    if explains and not reason and status in RUNAWAYS:
        reason = unstable_loop_reason(handle, status, t0, float(run.memory.stepping[0].t))
    result = make_result(run, recorded, status, reason, options, walls, start)
    return dataclasses.replace(result, audit=result.audit | growth)

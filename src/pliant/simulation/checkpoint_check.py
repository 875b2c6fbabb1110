"""Checks of a checkpoint from which a run shall go on. It may come from a file that was edited, and kernels look at no
index and no range: every field is looked at here first."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pliant.errors import ModelError
from pliant.io.stored_tables import TypedDict, check_stored
from pliant.model.control import Controller
from pliant.model.model import Model
from pliant.model.quantities import LARGEST
from pliant.results.checkpoint import Checkpoint, SampledState
from pliant.simulation.auto_integrator import WATCHED
from pliant.simulation.run import Run
from pliant.system.control_tables import SAME_INSTANT
from pliant.system.memory import FOUND
from pliant.system.newton import CARRIED
from pliant.system.phases import are_phases

OTHER_END = "start: its end is not one of this model; run the model anew"
MOST = 2**60  # of what is counted
NEWTON_TABLES = ("newton", "jacobian", "factor", "pivots")  # of Memory: what implicit integrators keep


class _Choice(TypedDict, total=False):
    """simulation/auto_integrator.py: AutoChoice.so_far; files of version 0.1 have only some of it."""

    tried: dict[str, int]
    vain: dict[str, int]
    motion: list[float]
    is_on_probation: bool
    taken: list[float]
    retrial: int
    look: int
    phase: str
    watched: dict[str, float]


def check_plain_fields(model: Model, start: Checkpoint) -> None:
    """Refuse, before anything is compiled, what is no end of a run."""
    numbers = [(start.t, LARGEST), (start.h, LARGEST), (start.t_control, math.inf)]
    n_state = len(model.coordinates) + len(model.velocities)
    functions = [controller for controller in model.controllers if controller.law is None]
    if not (
        all(isinstance(value, float | int) and 0.0 <= value <= most for value, most in numbers)
        and isinstance(start.integrator, str)
        and isinstance(start.counted, tuple)
        and len(start.counted) == 4
        and all(isinstance(each, int) and 0 <= each < MOST for each in start.counted)
        and isinstance(start.was_switched, bool)
        and isinstance(start.has_moved, bool)
        and (start.choice is None or _is_choice(start.choice))
        and isinstance(start.y, np.ndarray)
        and start.y.ndim == 1
        and len(start.y) >= n_state
        and start.y.dtype == np.float64
        and np.all(np.isfinite(start.y))
        and isinstance(start.sampled, tuple)
        and len(start.sampled) == len(functions)
        and all(map(_can_go_on, functions, start.sampled, [start.t] * len(functions)))
    ):
        raise ModelError(OTHER_END)


def _can_go_on(controller: Controller, state: Any, t: float) -> bool:
    """Return True if a Python controller can have measured so often at time t; controllers.py looks at the rest."""
    is_counted = isinstance(state, SampledState) and isinstance(state.count, int) and 0 <= state.count < MOST
    return is_counted and is_due(state.count, controller.period, t)


def _is_choice(choice: Any) -> bool:
    """Return True if this can be the memory of integrator="auto"."""
    try:
        check_stored(choice, _Choice)
        bytes.fromhex(choice["phase"])
        taken, motion = choice.get("taken", (0.0, 0, 0)), choice.get("motion", (0.0, 0.0, 0.0))
        counts = [choice["look"], choice.get("retrial", 0), *taken, *(choice["watched"][name] for name in WATCHED)]
        counts += choice["vain"].values()
        are_counts = all(0 <= each < MOST for each in counts)
        # a trial that could not be made counts as one before the start
        are_counts = are_counts and all(abs(each) < MOST for each in choice["tried"].values())
        # eigenvalues of mass and stiffness: those of zero are rounding, of either sign
        return are_counts and all(map(math.isfinite, motion)) and len(taken) == len(motion) == 3
    except (ValueError, KeyError):
        return False


def check_fit(run: Run, start: Checkpoint) -> None:
    """Refuse tables that are not of this run's model, or that no run ends with."""
    memory, work = run.memory, run.handle.work
    pairs = (
        (start.y, memory.y),
        (start.phase, work.phase),
        (start.side, memory.side[0]),
        (start.fired, memory.fired),
        (start.event_values, memory.event_values),
        (start.inputs, work.inputs),
        (start.controllers, work.controllers),
        (start.control, work.control),
    )
    if not (
        all(is_like(one, other) for one, other in pairs)
        and are_phases(start.phase)
        and np.all(np.abs(start.side) == 1)
        and np.all((start.fired >= FOUND) & (start.fired <= 1))
        and np.all(np.isfinite(start.inputs))
        and np.all(np.isfinite(start.control))
        and start.t_control == _next_instant(run, start)
    ):
        raise ModelError(OTHER_END)


def is_like(one: Any, other: Any) -> bool:
    """Return True if a table has the shape and the type of another."""
    return isinstance(one, np.ndarray) and one.shape == other.shape and one.dtype == other.dtype


def _next_instant(run: Run, start: Checkpoint) -> float:
    """Return when the controllers with a law are due next; nan if one is not where it could be at this time."""
    found = math.inf
    for law, state in zip(run.handle.system.controllers, start.controllers, strict=True):
        if not (0 <= state.first < law.n_queue and 0 <= state.n_waiting <= law.n_queue):
            return math.nan
        rows = (state.first + np.arange(state.n_waiting)) % law.n_queue
        arriving = start.control[law.queue + rows * (1 + law.n_commands)]
        if not (
            is_due(int(state.n_samples), float(law.period), start.t) and np.all(arriving >= start.t - SAME_INSTANT)
        ):
            return math.nan
        found = min([found, state.n_samples * law.period, *arriving[:1].tolist()])
    return found


def is_due(count: int, period: float, t: float) -> bool:
    """Return True if a controller has measured at every instant before t, and at no later one."""
    return (count - 1) * period <= t + SAME_INSTANT and count * period >= t - SAME_INSTANT


def has_newton_tables(run: Run, start: Checkpoint) -> bool:
    """Return True if what an implicit integrator has kept of the equations serves this run."""
    pairs = [(getattr(start, name), getattr(run.memory, name)) for name in NEWTON_TABLES]
    if not all(is_like(one, other) for one, other in pairs):
        return False
    flags = [np.isin(start.newton[name], (0, 1)) for name in ("has_failed", "is_current", "needs_jacobian")]
    counts = [start.newton[name] for name in CARRIED if name.startswith("n_")]
    are_possible = np.all(flags) and all(np.all((count >= 0) & (count < MOST)) for count in counts)
    return bool(are_possible and np.all((start.pivots >= 0) & (start.pivots < len(start.jacobian))))

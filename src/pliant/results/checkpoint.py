"""Where a run ended, with all that the next instant depends on: another run can go on from there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.model.model import Model

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SampledState:
    """Of one Python controller with what stands around it; what its function remembers is its own."""

    count: int  # how often it has measured
    waiting: tuple[tuple[float, tuple[float, ...]], ...]  # commands on their way: when they arrive [s], and what
    random: dict[str, Any]  # state of the generator of its noise
    measured: tuple[float, ...] | None  # coordinates at the last sample


@dataclass(frozen=True)
class Checkpoint:
    """The end of a run. Integrators begin anew from it, as they do after every event, but for what is kept here."""

    t: float  # [s]
    h: float  # [s] next step, 0: to be guessed
    integrator: str  # whose next step that is
    # what it has counted and, of implicit ones, has of the equations; empty of others but "auto"
    counted: tuple[int, ...]  # simulation/run.py: Counts
    newton: Any  # (1) row of NEWTON, and tables of Memory
    jacobian: Array
    factor: Array
    pivots: NDArray[np.int64]
    choice: dict[str, Any] | None  # what "auto" knows (simulation/auto_integrator.py), None of other integrators
    y: Array  # q, v, and z: friction states, accumulated work and impulses
    # discrete phase and events; was_switched: an event at t itself has just changed it
    phase: Any  # (n_phases) rows of PHASE
    side: NDArray[np.int64]  # (n_events) of zero
    fired: NDArray[np.int64]  # (n_events)
    event_values: Array  # (N_EVENT_VALUES, n_events)
    was_switched: bool
    has_moved: bool
    # controllers
    inputs: Array  # held commands
    controllers: Any  # rows of CONTROLLER_WORK, of those with a law
    control: Array  # their states, measurements and commands on their way
    t_control: float  # when those are due next, inf: never [s]
    sampled: tuple[SampledState, ...]  # of those that are Python functions

    def state(self, model: Model) -> tuple[Array, Array]:
        """(q, v)."""
        n_q, n_v = len(model.coordinates), len(model.velocities)
        return self.y[:n_q].copy(), self.y[n_q : n_q + n_v].copy()

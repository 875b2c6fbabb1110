"""Task: what a robot shall do, as functions of arrays that serve one robot and many alike."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.engine.arguments import as_array, as_callback, as_model, as_number, as_numbers
from pliant.engine.callbacks import guarded
from pliant.engine.prepared import Prepared, prepare
from pliant.errors import ModelError
from pliant.model.messages import quoted
from pliant.model.model import Model

Array = NDArray[np.float64]
Rng = np.random.Generator


class States:
    """Where robots are: of one, or with a leading dimension of many. Write s.q[..., 0] and it serves both."""

    def __init__(self, handle: Prepared, t: Any, q: Array, v: Array, tau: Array, goal: Array) -> None:
        self._handle = handle
        self.t = t  # [s] since the episode began
        self.q = q  # (.., coordinates), as model.coordinates
        self.v = v  # (.., velocities), as model.velocities
        self.tau = tau  # (.., commanded) torques and forces of the last step; zero at the start
        self.goal = goal  # (.., whatever the task's goal is)

    def position(self, frame: str) -> Array:
        """World position (.., 3) of a frame or body [m]."""
        rows = np.ascontiguousarray(np.atleast_2d(self.q))
        found = self._handle.frame_placements(rows, [self._handle.frame_row(frame)])[1][:, 0]
        return found.reshape(*self.q.shape[:-1], 3)


StateFunction = Callable[[States], Any]


@dataclass(frozen=True, eq=False)
class Task:
    """A model and what counts: everything that Environment and VectorEnvironment need.

    Functions of States take one robot or many, and return as many numbers."""

    model: Model
    reward: StateFunction  # after a step
    observation: StateFunction | None = None  # None: q, v and the goal
    over: StateFunction | None = None  # whether the episode ends here, reached or lost
    start: Callable[[Rng], tuple[Any, Any]] | None = None  # (q, v); None: where the model starts
    goal: Callable[[Rng], Any] | None = None  # numbers that stay for an episode
    torque: Any = 1.0  # [N m, N] that an action of 1 means; one, or one per motor
    dt: float = 0.02  # [s] of a step
    duration: float = 4.0  # [s] of an episode
    joints: tuple[str, ...] | None = None  # whose motors act; None: all
    options: Mapping[str, Any] = field(default_factory=dict)  # of the stepper: integrator, rtol, step

    def __post_init__(self) -> None:
        as_model(self.model)
        for name in ("reward", "observation", "over", "start", "goal"):
            as_callback(getattr(self, name), name)
        if self.reward is None:
            raise ModelError("reward: None found; give a function of pliant.gym.States")
        object.__setattr__(self, "dt", as_number(self.dt, "dt", 0.0, 1e6, "[s]"))
        object.__setattr__(self, "duration", as_number(self.duration, "duration", 0.0, unit="[s]"))
        if self.n_steps < 1:
            raise ModelError(f"duration: {self.duration:g} s is less than a step of {self.dt:g} s; give a longer one")

    @property
    def n_steps(self) -> int:
        """Of an episode."""
        return math.floor(self.duration / self.dt + 1e-9)

    def torques(self, count: int) -> Array:
        """Largest of every motor."""
        found = as_numbers(self.torque, "torque")
        if found.ndim > 1 or found.size not in (1, count) or not np.all((found > 0.0) & np.isfinite(found)):
            raise ModelError(f"torque: {quoted(self.torque)} found; give a number above 0, or {count} of them")
        return np.broadcast_to(found, (count,)).copy()

    def begin(self, rng: Rng) -> tuple[Array, Array, Array]:
        """q, v and goal of a new episode."""
        model = self.model
        q, v = model.q0, model.v0
        if self.start is not None:
            start = self.start
            made = guarded(lambda: start(rng), start, "start")
            if not isinstance(made, tuple) or len(made) != 2:
                raise ModelError(f"start: {quoted(made)} found; let it return (q, v)")
            q, v = as_array(made[0], model.coordinates, "q"), as_array(made[1], model.velocities, "v")
        goal = np.zeros(0)
        if self.goal is not None:
            chosen = self.goal
            goal = np.atleast_1d(as_numbers(guarded(lambda: chosen(rng), chosen, "goal"), "goal"))
        return np.asarray(q, float), np.asarray(v, float), goal

    def states(self, t: Any, q: Array, v: Array, tau: Array, goal: Array) -> States:
        return States(prepare(self.model), t, q, v, tau, goal)

    def observed(self, s: States) -> NDArray[np.float32]:
        """(.., numbers), as float32, which learners take."""
        if self.observation is None:
            return np.concatenate([s.q, s.v, s.goal], axis=-1).astype(np.float32)
        return np.asarray(self._called("observation", s), np.float32)

    def rewarded(self, s: States) -> Any:
        return np.asarray(self._called("reward", s), float)

    def ended(self, s: States) -> Any:
        return np.asarray(False if self.over is None else self._called("over", s), bool)

    def _called(self, name: str, s: States) -> Any:
        function = getattr(self, name)
        return guarded(lambda: function(s), function, name)

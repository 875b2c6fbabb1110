"""Environment and VectorEnvironment: a Task as Gymnasium sees it, over a Stepper or a StepperBatch."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from pliant.engine.arguments import as_array, as_whole
from pliant.errors import ModelError
from pliant.gym.task import Array, States, Task
from pliant.model.messages import listed, quoted
from pliant.model.model import Model
from pliant.simulation.stepper import Stepper
from pliant.simulation.stepper_batch import StepperBatch

RENDER_MODES = (None, "rgb_array")
SIZE = (480, 360)  # of pictures [px]


def _as_task(model: Any, given: dict[str, Any], options: dict[str, Any]) -> Task:
    """A task as it is, or one made of a model."""
    if isinstance(model, Task):
        if given or options:
            raise ModelError(f"a Task says {next(iter(given | options))} itself; leave it out")
        return model
    return Task(model, options=options, **given)


TASK_FIELDS = ("reward", "observation", "over", "start", "goal", "torque", "dt", "duration", "joints")


class _Robot:
    """What both kinds of environments make of a task."""

    def __init__(self, model: Model | Task, render_mode: str | None, given: dict[str, Any]) -> None:
        if render_mode not in RENDER_MODES:
            raise ModelError(f"render_mode: {quoted(render_mode)} found; give 'rgb_array', or None")
        own = {name: given.pop(name) for name in TASK_FIELDS if name in given}
        self.task = _as_task(model, own, given)
        self.stepper = Stepper(self.task.model, self.task.joints, **self.task.options)
        if not self.stepper.commanded:
            raise ModelError(f"model {self.task.model.name!r} has no motor that an action could drive; give it joints")
        self.torques = self.task.torques(len(self.stepper.commanded))
        count = len(self.stepper.commanded)
        self.actions = gymnasium.spaces.Box(-1.0, 1.0, (count,), np.float32)
        q, v, goal = self.task.begin(np.random.default_rng(0))
        seen = self.task.observed(self.task.states(0.0, q, v, np.zeros(count), goal))
        if seen.ndim != 1:
            raise ModelError(f"observation: shape {seen.shape} found for one robot; return a list of numbers")
        self.observations = gymnasium.spaces.Box(-np.inf, np.inf, seen.shape, np.float32)
        self.camera: Any = None

    def torque(self, action: Any, batch: tuple[int, ...] = ()) -> Array:
        """What actions mean, (*batch, motors) [N m, N], or a message."""
        checked = as_array(action, self.stepper.commanded, "action")
        if checked.shape[:-1] != batch:
            expected = (*batch, len(self.torques))
            raise ModelError(
                f"action: shape {checked.shape} found, {expected} expected: {listed(self.stepper.commanded)}"
            )
        return np.asarray(np.clip(checked, -1.0, 1.0) * self.torques)

    def __getstate__(self) -> dict[str, Any]:
        """Pictures are set up anew in another process."""
        return {**self.__dict__, "camera": None}

    def picture(self, q: Array, goal: Array) -> NDArray[np.uint8]:
        from pliant.gym.camera import Camera

        if self.camera is None:
            self.camera = Camera(self.task.model, SIZE)
        return self.camera.picture(q, goal)  # type: ignore[no-any-return]


def _as_seed(value: Any) -> int | None:
    """A seed, or a message."""
    return None if value is None else as_whole(value, "seed", 0, ", or None")


def _check_options(options: Any) -> None:
    if options is not None and options != {}:
        raise ModelError(f"options: {quoted(options)} found, and reset takes none here; leave them out")


class Environment(gymnasium.Env[NDArray[np.float32], NDArray[np.float32]]):
    """One robot. An action of 1 is the largest torque of a motor, held over a step of dt; the motion in between is that
    of simulate. An episode is truncated after `duration`, and terminated where `over` says so or a step fails."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 50}  # noqa: RUF012 (Gymnasium's)

    def __init__(self, model: Model | Task, *, render_mode: str | None = None, **settings: Any) -> None:
        """model: a Model, with the fields of a Task as settings (reward, observation, torque, dt, ...) and options of
        the stepper (integrator, rtol, step); or a Task."""
        self._robot = _Robot(model, render_mode, settings)
        self.task, self.stepper, self.render_mode = self._robot.task, self._robot.stepper, render_mode
        self.action_space, self.observation_space = self._robot.actions, self._robot.observations
        self.metadata = {**self.metadata, "render_fps": max(1, round(1.0 / self.task.dt))}
        self._goal, self._left, self._is_over = np.zeros(0), 0, True

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """A new episode; the same seed begins the same one."""
        _check_options(options)
        super().reset(seed=_as_seed(seed))
        q, v, self._goal = self.task.begin(self.np_random)
        self.stepper.reset(q, v)
        self._left, self._is_over = self.task.n_steps, False
        return self.task.observed(self._states(np.zeros(len(self.stepper.commanded)))), {}

    def _states(self, tau: Array) -> States:
        q, v = self.stepper.state
        return self.task.states(self.stepper.t, q, v, tau, self._goal)

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """observation, reward, terminated, truncated, info; info["reason"] says why a step failed."""
        if self._is_over:
            raise ModelError("this episode is over, or has not begun; call reset")
        tau = self._robot.torque(action)
        is_ok = self.stepper.step(tau, self.task.dt)
        self._left -= 1
        s = self._states(tau)
        is_over = not is_ok or bool(self.task.ended(s))
        info = {} if is_ok else {"reason": self.stepper.reason}
        self._is_over = is_over or self._left <= 0
        return self.task.observed(s), float(self.task.rewarded(s)), is_over, self._left <= 0 and not is_over, info

    def render(self) -> NDArray[np.uint8] | None:  # type: ignore[override]
        """The robot as an image (height, width, 3), in render_mode "rgb_array"."""
        return None if self.render_mode is None else self._robot.picture(self.stepper.q, self._goal)


class VectorEnvironment(VectorEnv[NDArray[np.float32], NDArray[np.float32], NDArray[Any]]):
    """Many robots of one task, stepped together by one compiled loop, in threads. Robot i seeded with s does what an
    Environment seeded with s + i does. One that is over begins anew at the next step (Gymnasium's NEXT_STEP), for which
    its action is ignored and its reward 0."""

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium's)
        "render_modes": ["rgb_array"],
        "render_fps": 50,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        model: Model | Task,
        num_envs: int = 1,
        *,
        threads: int | None = None,
        render_mode: str | None = None,
        **settings: Any,
    ) -> None:
        """threads: None for one per core. Else as Environment."""
        self.num_envs = as_whole(num_envs, "num_envs")
        self._robot = _Robot(model, render_mode, settings)
        self.task, self.render_mode = self._robot.task, render_mode
        self.batch = StepperBatch(self._robot.stepper, self.num_envs, threads)
        self.single_action_space, self.single_observation_space = self._robot.actions, self._robot.observations
        self.action_space = batch_space(self._robot.actions, self.num_envs)
        self.observation_space = batch_space(self._robot.observations, self.num_envs)
        self._rngs = [seeding.np_random()[0] for _ in range(self.num_envs)]
        self._goal = np.zeros((self.num_envs, len(self.task.begin(np.random.default_rng(0))[2])))
        self._left = np.zeros(self.num_envs, int)
        self._is_over = np.ones(self.num_envs, bool)
        self._still = np.zeros((self.num_envs, len(self.batch.commanded)))

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """New episodes of all."""
        _check_options(options)
        for i, each in enumerate(self._seeds(seed)):
            if each is not None:
                self._rngs[i] = seeding.np_random(each)[0]
        for i in range(self.num_envs):
            self._begin(i)
        return self.task.observed(self._states(self._still)), {}

    def _seeds(self, given: Any) -> list[int | None]:
        """One per robot; from one number on they count up."""
        if not isinstance(given, (list, tuple, np.ndarray)):
            first = _as_seed(given)
            return [None if first is None else first + i for i in range(self.num_envs)]
        if len(given) != self.num_envs:
            raise ModelError(f"seed: {len(given)} found; give one number, or {self.num_envs} of them")
        return [_as_seed(each) for each in given]

    def _begin(self, i: int) -> None:
        q, v, self._goal[i] = self.task.begin(self._rngs[i])
        self.batch.reset(i, q, v)
        self._left[i], self._is_over[i] = self.task.n_steps, False

    def _states(self, tau: Array) -> States:
        return self.task.states(self.batch.t, self.batch.q, self.batch.v, tau, self._goal)

    def step(
        self, actions: Any
    ) -> tuple[NDArray[np.float32], NDArray[Any], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Rows of observation, reward, terminated, truncated; info["reason"] where a step failed."""
        begins = np.flatnonzero(self._is_over)
        tau = self._robot.torque(actions, (self.num_envs,))
        is_ok = self.batch.step(tau, self.task.dt).copy()
        self._left -= 1
        if len(begins):
            for i in begins.tolist():
                self._begin(i)
            tau[begins], is_ok[begins] = 0.0, True
        s = self._states(tau)
        rewards = np.array(np.broadcast_to(self.task.rewarded(s), self.num_envs))
        over = np.array(np.broadcast_to(self.task.ended(s), self.num_envs)) | ~is_ok
        rewards[begins], over[begins] = 0.0, False
        cut = (self._left <= 0) & ~over
        self._is_over = over | cut
        return self.task.observed(s), rewards, over, cut, self._info(is_ok)

    def _info(self, is_ok: NDArray[np.bool_]) -> dict[str, Any]:
        if is_ok.all():
            return {}
        reasons = np.array(["" if ok else one.reason for ok, one in zip(is_ok, self.batch.each, strict=True)], object)
        return {"reason": reasons, "_reason": ~is_ok}

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:  # type: ignore[override]
        """A picture of each."""
        if self.render_mode is None:
            return None
        return tuple(self._robot.picture(q, goal) for q, goal in zip(self.batch.q, self._goal, strict=True))

    def close_extras(self, **kwargs: Any) -> None:
        """End the threads; one that could not be made, which Gymnasium closes as well, has none."""
        if hasattr(self, "batch"):
            self.batch.close()

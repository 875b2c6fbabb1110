"""The environments that come with pliant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.engine.arguments import as_choice
from pliant.gym.environment import Environment, VectorEnvironment
from pliant.gym.task import Array, Rng, States, Task
from pliant.model.bodies import Body, Box, Frame, Rod
from pliant.model.contacts import Contact, Plane
from pliant.model.flexible import Beam, Bending, Damping, Material, Rectangle
from pliant.model.joints import Joint
from pliant.model.model import Base, Model
from pliant.model.normal_laws import Flores


def _effort(s: States, torque: Any) -> Array:
    """Mean square of what the motors give, of what they can."""
    return np.asarray(np.mean((s.tau / np.asarray(torque)) ** 2, axis=-1))


# --- reach: a three-link arm brings its tip to a place ----------------------------------------------------------------

REACH_LENGTHS, REACH_TORQUE = (0.5, 0.4, 0.3), (20.0, 10.0, 4.0)


def _planar_arm(lengths: tuple[float, ...], masses: tuple[float, ...]) -> dict[str, Any]:
    """Rods on hinges about z, one after the other, and their tip."""
    names = [f"link{k}" for k in range(len(lengths))]
    places: list[str | Frame] = [
        "world",
        *(Frame(name, (length, 0, 0)) for name, length in zip(names[:-1], lengths, strict=False)),
    ]
    return {
        "bodies": [Body(*each[:2], shape=Rod(each[2])) for each in zip(names, masses, lengths, strict=True)],
        "joints": [
            Joint(f"joint{k}", "revolute", name, place, damping=0.1)
            for k, (name, place) in enumerate(zip(names, places, strict=True))
        ],
        "frames": [Frame(names[-1], (lengths[-1], 0, 0), name="tip")],
    }


def _reach_goal(rng: Rng) -> Array:
    angle, distance = rng.uniform(-np.pi, np.pi), rng.uniform(0.4, 1.1)
    return np.array([distance * np.cos(angle), distance * np.sin(angle)])


def _reach_start(rng: Rng) -> tuple[Array, Array]:
    return rng.uniform(-np.pi, np.pi, 3), np.zeros(3)


def _reach_observation(s: States) -> Array:
    return np.concatenate([np.cos(s.q), np.sin(s.q), 0.1 * s.v, s.position("tip")[..., :2] - s.goal], axis=-1)


def _reach_reward(s: States) -> Array:
    away = np.linalg.norm(s.position("tip")[..., :2] - s.goal, axis=-1)
    return np.asarray(-away - 0.01 * _effort(s, REACH_TORQUE))


def reach(**options: Any) -> Task:
    """Three links in a vertical plane; the tip shall go to a place and stay there."""
    return Task(
        Model("reach", gravity=(0, -9.81, 0), **_planar_arm(REACH_LENGTHS, (1.0, 0.8, 0.5))),
        _reach_reward,
        _reach_observation,
        start=_reach_start,
        goal=_reach_goal,
        torque=REACH_TORQUE,
        options={"integrator": "rk4", "step": 0.01, **options},
    )


# --- slew: a flexible arm turns a payload, and shall not shake -------------------------------------------------------

SLEW_TORQUE = 4.0


def _slew_goal(rng: Rng) -> Array:
    return np.array([rng.uniform(0.3, 1.2) * rng.choice([-1.0, 1.0])])


def _slew_error(s: States) -> Array:
    """Of the tip from its goal [rad]."""
    x, y, _ = np.moveaxis(s.position("tip"), -1, 0)
    return np.asarray(np.arctan2(y, x) - s.goal[..., 0])


def _slew_observation(s: States) -> Array:
    turned = s.q[..., :1] - s.goal
    return np.concatenate([turned, _slew_error(s)[..., None], 10.0 * s.q[..., 1:], 0.2 * s.v], axis=-1)


def _slew_reward(s: States) -> Array:
    return np.asarray(-np.abs(_slew_error(s)) - 0.05 * np.abs(s.v[..., 0]) - 0.01 * _effort(s, SLEW_TORQUE))


def slew(payload: float = 0.2, **options: Any) -> Task:
    """A boom that bends, with a payload [kg] at its tip and a motor at its hub; the tip shall come to an angle and
    stand."""
    boom = Beam(
        "boom",
        1.0,
        Material(7e10, 2700.0),
        Rectangle(0.006, 0.04),
        bending_y=Bending(2, tip_mass=payload),
        damping=Damping(ratio=0.005),
    )
    hub = Joint("hub", "revolute", "boom", armature=0.05)
    grip = Joint("grip", "fixed", "payload", parent=Frame("boom", (1.0, 0, 0)))
    tip = Frame("boom", (1.0, 0, 0), name="tip")
    return Task(
        Model("slew", [boom, Body("payload", payload)], [hub, grip], gravity=(0, 0, 0), frames=[tip]),
        _slew_reward,
        _slew_observation,
        goal=_slew_goal,
        torque=SLEW_TORQUE,
        options={"integrator": "rk4", "step": 0.005, **options},
    )


# --- touch: an arm puts its tip on a table, gently -------------------------------------------------------------------

TOUCH_TORQUE = (15.0, 8.0)
TOUCH_START = (1.9, -1.6)  # about which episodes begin [rad]


def _touch_start(rng: Rng) -> tuple[Array, Array]:
    return np.array(TOUCH_START) + rng.uniform(-0.2, 0.2, 2), np.zeros(2)


def _touch_goal(rng: Rng) -> Array:
    return np.array([rng.uniform(0.4, 0.8), 0.0])


def _touch_distances(s: States) -> tuple[Array, Array]:
    """Along the table from the goal, and above it [m]."""
    tip = s.position("tip")
    return tip[..., 0] - s.goal[..., 0], tip[..., 1]


def _touch_observation(s: States) -> Array:
    along, above = _touch_distances(s)
    return np.concatenate([np.cos(s.q), np.sin(s.q), 0.1 * s.v, along[..., None], above[..., None]], axis=-1)


def _touch_reward(s: States) -> Array:
    along, above = _touch_distances(s)
    hit = np.where(above < 0.0, 0.1 * np.linalg.norm(s.v, axis=-1), 0.0)
    return np.asarray(-np.abs(along) - np.abs(above) - hit - 0.01 * _effort(s, TOUCH_TORQUE))


def _touch_over(s: States) -> Array:
    """The elbow below the table is lost."""
    return np.asarray(s.position("link1")[..., 1] < -0.05)


def touch(**options: Any) -> Task:
    """Two links above a table; the tip shall come down on it at a place, and not hit it."""
    arm = _planar_arm((0.5, 0.5), (1.0, 0.8))
    arm["joints"] = [
        Joint(joint.name, "revolute", joint.child, joint.parent, damping=0.2, q0=q0)
        for joint, q0 in zip(arm["joints"], TOUCH_START, strict=True)
    ]
    table = Contact("table", Flores(stiffness=2e4, restitution=0.5), Plane(normal=(0, 1, 0)), points=("tip",))
    return Task(
        Model("touch", gravity=(0, -9.81, 0), contacts=[table], **arm),
        _touch_reward,
        _touch_observation,
        over=_touch_over,
        start=_touch_start,
        goal=_touch_goal,
        torque=TOUCH_TORQUE,
        options={"integrator": "dopri5", "rtol": 1e-5, **options},
    )


# --- satellite: an arm on a body that floats -------------------------------------------------------------------------

SATELLITE_TORQUE = (2.0, 1.0)


def _satellite_goal(rng: Rng) -> Array:
    return np.array([rng.uniform(0.6, 1.1), rng.uniform(-0.5, 0.5)])


def _satellite_observation(s: States) -> Array:
    angles = s.q[..., 2:]
    return np.concatenate([np.cos(angles), np.sin(angles), s.v, s.position("tip")[..., :2] - s.goal], axis=-1)


def _satellite_reward(s: States) -> Array:
    away = np.linalg.norm(s.position("tip")[..., :2] - s.goal, axis=-1)
    return np.asarray(-away - np.abs(s.q[..., 2]) - 0.01 * _effort(s, SATELLITE_TORQUE))


def satellite(**options: Any) -> Task:
    """A satellite that nothing holds, with an arm of two links: the tip shall go to a place, the hull stay as it is."""
    links = [Body("upper", 2.0, shape=Rod(0.6)), Body("lower", 1.5, shape=Rod(0.5))]
    joints = [
        Joint("shoulder", "revolute", "upper", parent=Frame("hull", (0.25, 0, 0)), q0=0.8, damping=0.02),
        Joint("elbow", "revolute", "lower", parent=Frame("upper", (0.6, 0, 0)), q0=-1.2, damping=0.02),
    ]
    model = Model(
        "satellite",
        [Body("hull", 40.0, shape=Box((0.5, 0.5, 0.5))), *links],
        joints,
        base=Base("planar"),
        gravity=(0, 0, 0),
        frames=[Frame("lower", (0.5, 0, 0), name="tip")],
    )
    return Task(
        model,
        _satellite_reward,
        _satellite_observation,
        goal=_satellite_goal,
        torque=SATELLITE_TORQUE,
        dt=0.05,
        duration=10.0,
        options={"integrator": "rk4", "step": 0.025, **options},
    )


ENVIRONMENTS: dict[str, Callable[..., Task]] = {
    "reach-v0": reach,
    "slew-v0": slew,
    "touch-v0": touch,
    "satellite-v0": satellite,
}


def make(name: str, *, render_mode: str | None = None, **settings: Any) -> Environment:
    """One of the built-in environments. settings: of the task (payload of slew), and options of the stepper."""
    return Environment(ENVIRONMENTS[as_choice(name, ENVIRONMENTS, "name")](**settings), render_mode=render_mode)


def make_vec(
    name: str, num_envs: int = 1, *, threads: int | None = None, render_mode: str | None = None, **settings: Any
) -> VectorEnvironment:
    """Many of one of the built-in environments, stepped together in threads (None: one per core)."""
    task = ENVIRONMENTS[as_choice(name, ENVIRONMENTS, "name")](**settings)
    return VectorEnvironment(task, num_envs, threads=threads, render_mode=render_mode)

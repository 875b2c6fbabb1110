"""A block slides down a slope until friction stops it, or starts from rest and stays or slips."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from pliant.cases.case import Case, Setting
from pliant.cases.contact_settings import CONTACT_SETTINGS, friction_law, normal_law, unused_keys
from pliant.model.bodies import Body, Box
from pliant.model.contacts import Contact, Plane
from pliant.model.joints import Joint
from pliant.model.model import Model, Output
from pliant.report_types import Figure, Panel
from pliant.result import Result

SLOPE, SPEED, MU_K = math.radians(5.0), 1.5, 0.25
SETTINGS = {
    "mass": Setting(2.0, "of the block", "kg", low=1e-9),
    "speed": Setting(SPEED, "down the slope at the start", "m/s"),
    "slope": Setting(SLOPE, "of the ground against the horizontal", "rad", low=-1.5, high=1.5),
    "gravity": Setting(9.81, "downwards", "m/s^2"),
    **CONTACT_SETTINGS,
    "friction_law": replace(CONTACT_SETTINGS["friction_law"], default="stiction"),
    "normal_law": replace(CONTACT_SETTINGS["normal_law"], default="hunt-crossley"),
    "stiffness": replace(CONTACT_SETTINGS["stiffness"], default=1e7),
    "restitution": replace(CONTACT_SETTINGS["restitution"], default=0.5),
    "mu_k": replace(CONTACT_SETTINGS["mu_k"], default=MU_K),
    "mu_s": replace(CONTACT_SETTINGS["mu_s"], default=0.3),
}


def build(settings: dict[str, Any]) -> Model:
    """x points down the slope, y out of it. The block shifts in x and y and does not rotate."""
    slope, g = settings["slope"], settings["gravity"]
    return Model(
        name="sliding-block",
        gravity=(g * math.sin(slope), -g * math.cos(slope), 0.0),
        bodies=(
            Body("slider", mass=0.0),
            Body("block", mass=settings["mass"], shape=Box((0.2, 0.1, 0.1), (0.0, 0.05, 0.0))),
        ),
        joints=(
            Joint("along", "prismatic", "slider", axis=(1.0, 0.0, 0.0), v0=settings["speed"]),
            Joint("up", "prismatic", "block", parent="slider", axis=(0.0, 1.0, 0.0)),
        ),
        contacts=(
            Contact(
                "ground",
                normal_law(settings),
                Plane(normal=(0.0, 1.0, 0.0)),
                points=("block",),
                friction=friction_law(settings),
            ),
        ),
        outputs=(Output("ground_force", "ground", "contact"),),
        duration=2.0,
    )


AT_REST = 1e-5  # [m/s]: several times the speed below which it sticks


def stop_time(result: Result) -> float:
    """When the block stops for good [s]; NaN if it does not. It decelerates evenly: when it has passed two low speeds
    says it, whatever the speed below which it sticks."""
    slow, slower = _last_time(result, 2.0 * AT_REST), _last_time(result, AT_REST)
    return slower + (slower - slow)


def _last_time(result: Result, speed: float) -> float:
    """Until when it moves faster than this [s], by bisection of the dense output."""
    moving = np.flatnonzero(np.abs(result.v[:, 0]) > speed)
    if not len(moving) or moving[-1] + 1 >= len(result.t) or result.dense is None:
        return math.nan
    low, high = float(result.t[moving[-1]]), float(result.t[moving[-1] + 1])
    while low < (middle := 0.5 * (low + high)) < high:
        is_moving = abs(result.at(middle)[1][0]) > speed
        low, high = (middle, high) if is_moving else (low, middle)
    return high


def figures(result: Result) -> dict[str, float]:
    return {
        "stop_time": stop_time(result),
        "distance": float(result.q[-1, 0] - result.q[0, 0]),
        "speed_end": float(result.v[-1, 0]),
        "friction_end": float(result.outputs["ground_force"][-1, 1]),
        "normal_end": float(result.outputs["ground_force"][-1, 0]),
        "work_friction": float(result.energy.get("work_friction", np.zeros(1))[-1]),
    }


def panels(settings: dict[str, Any]) -> tuple[Panel, ...]:
    forces = (("normal", "ground_force[0]"), ("friction", "ground_force[1]"))
    return (
        Panel("Way down the slope", "m", (("way", "along"),)),
        Panel("Speed down the slope", "m/s", (("speed", "along.rate"),)),
        Panel("Force of the ground", "N", forces),
        Panel("Force of the ground, at first", "N", forces, (0.0, 0.02)),
    )


DECELERATION = 9.81 * (MU_K * math.cos(SLOPE) - math.sin(SLOPE))
CASE = Case(
    name="sliding-block",
    title="a block slides down a slope, stops and sticks",
    source="closed forms",
    settings=SETTINGS,
    build=build,
    figures=figures,
    figure_table={
        "stop_time": Figure("when it stops", "s", SPEED / DECELERATION, 1e-5, "v / (g (mu_k cos - sin))"),
        "distance": Figure(
            "how far it slides", "m", SPEED**2 / (2 * DECELERATION), 1e-3, "v^2 / (2 g (mu_k cos - sin))"
        ),
        "speed_end": Figure("speed at the end", "m/s", 0.0, 1e-6, "it sticks"),
        "friction_end": Figure("friction at the end", "N", -2.0 * 9.81 * math.sin(SLOPE), 1e-4, "- m g sin"),
        "normal_end": Figure("normal force at the end", "N", 2.0 * 9.81 * math.cos(SLOPE), 1e-4, "m g cos"),
        "work_friction": Figure("work of friction", "J"),
    },
    unused=unused_keys,
    panels=panels,
    run={"rtol": 1e-9},
)

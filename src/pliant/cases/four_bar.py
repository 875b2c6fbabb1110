"""Four-bar linkage: crank, coupler, rocker, ground; crank driven at a speed, or swinging freely."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pliant.cases.case import Case, Setting
from pliant.errors import ModelError
from pliant.model.bodies import Body, Frame, Rod
from pliant.model.joints import Joint
from pliant.model.loops import Loop
from pliant.model.model import Model, Output
from pliant.model.signals import Table
from pliant.report_types import Figure, Panel
from pliant.result import Result

LONGEST = 1e4  # [s] of a driven run
SETTINGS = {
    "ground": Setting(1.0, "distance of the two pivots", "m", low=1e-6),
    "crank": Setting(0.3, "length of the crank", "m", low=1e-6),
    "coupler": Setting(0.9, "length of the coupler", "m", low=1e-6),
    "rocker": Setting(0.7, "length of the rocker", "m", low=1e-6),
    "density": Setting(2.0, "mass per length of all links", "kg/m", low=1e-9),
    "angle": Setting(1.0, "crank against the ground at the start", "rad"),
    "drive": Setting("free", "the crank swings freely, or rotates at a speed", choices=("free", "speed")),
    "speed": Setting(2.0 * math.pi, "of the crank (free: at the start)", "rad/s"),
    "gravity": Setting(9.81, "downward", "m/s^2"),
}


def poses(settings: dict[str, Any], angle: Any, side: float = 1.0) -> tuple[Any, Any]:
    """Absolute angles of coupler and rocker of the open branch (side -1: the crossed one), in closed form
    (Freudenstein)."""
    a, b, c, d = (settings[key] for key in ("crank", "coupler", "rocker", "ground"))
    x, y = d - a * np.cos(angle), -a * np.sin(angle)  # from the crank's end to the rocker's pivot
    far = np.hypot(x, y)
    towards = np.arctan2(y, x)
    coupler = towards + side * np.arccos(np.clip((b**2 + far**2 - c**2) / (2.0 * b * far), -1.0, 1.0))
    end = a * np.cos(angle) + b * np.cos(coupler) - d, a * np.sin(angle) + b * np.sin(coupler)
    return coupler, np.arctan2(end[1], end[0])


def build(settings: dict[str, Any]) -> Model:
    a, b, c, d, angle = (settings[key] for key in ("crank", "coupler", "rocker", "ground", "angle"))
    far = math.hypot(d - a * math.cos(angle), a * math.sin(angle))
    if not abs(b - c) < far < b + c:
        raise ModelError(
            f"angle: at {angle:g} rad coupler {b:g} m and rocker {c:g} m cannot meet over {far:.4g} m; "
            "give another angle, or other lengths"
        )
    coupler, rocker = (float(x) for x in poses(settings, angle))
    is_prescribed = settings["drive"] == "speed"
    motion = Table((0.0, LONGEST), (angle, angle + settings["speed"] * LONGEST), smooth=True) if is_prescribed else None
    return Model(
        name="four-bar",
        gravity=(0.0, -settings["gravity"], 0.0),
        bodies=tuple(
            Body(name, mass=settings["density"] * settings[name], shape=Rod(settings[name]))
            for name in ("crank", "coupler", "rocker")
        ),
        joints=(
            Joint("motor", "revolute", "crank", q0=angle, v0=settings["speed"], motion=motion),
            Joint("knee", "revolute", "coupler", parent=Frame("crank", (a, 0.0, 0.0)), q0=coupler - angle),
            Joint("pivot", "revolute", "rocker", parent=Frame("world", (d, 0.0, 0.0)), q0=rocker),
        ),
        loops=(Loop("pin", "revolute", first=Frame("rocker", (c, 0.0, 0.0)), second=Frame("coupler", (b, 0.0, 0.0))),),
        keep=("motor",),
        frames=(Frame("coupler", (0.5 * b, 0.0, 0.0), name="middle"),),
        outputs=(
            Output("middle", "middle", "position"),
            Output("pin_force", "pin", "reaction"),
            Output("motor_force", "motor", "reaction"),
            *([Output("drive", "motor", "drive")] if is_prescribed else []),
        ),
        duration=3.0,
    )


def figures(result: Result) -> dict[str, float]:
    """Rocker angle, and how far the pose is from its closed form."""
    model = result.model
    lengths = {
        body.name: body.shape.length for body in model.bodies if isinstance(body, Body) and isinstance(body.shape, Rod)
    }
    settings = {**lengths, "ground": model.links[-1].joint_frame.position[0]}
    crank, knee, rocker = result.q.T
    # where the branches meet, as in the dead points of a parallelogram, it may go from one to the other
    off = []
    for side in (1.0, -1.0):
        coupler, exact = poses(settings, crank, side)
        turns = np.array([crank + knee - coupler, rocker - exact])
        off.append(np.max(np.abs((turns + np.pi) % (2.0 * np.pi) - np.pi), axis=0))
    pin = result.outputs["pin_force"]
    return {
        "crank_end": float(crank[-1]),
        "rocker_end": float(rocker[-1]),
        "rocker_least": float(rocker.min()),
        "rocker_most": float(rocker.max()),
        "pose_error": float(np.max(np.minimum(*off))),
        "pin_force_most": float(np.linalg.norm(pin[:, :2], axis=1).max()),
    }


FIGURES = {
    "crank_end": Figure("crank angle at the end", "rad"),
    "rocker_end": Figure("rocker angle at the end", "rad"),
    "rocker_least": Figure("least rocker angle", "rad"),
    "rocker_most": Figure("largest rocker angle", "rad"),
    "pose_error": Figure("coupler and rocker against their closed form", "rad", 0.0, 1e-9, "Freudenstein's equation"),
    "pin_force_most": Figure("largest force between coupler and rocker at accepted steps", "N"),
}


def panels(settings: dict[str, Any]) -> tuple[Panel, ...]:
    made = [
        Panel("Joint angles", "rad", (("crank", "motor"), ("knee", "knee"), ("rocker", "pivot"))),
        Panel("Rates", "rad/s", (("crank", "motor.rate"), ("knee", "knee.rate"), ("rocker", "pivot.rate"))),
        Panel("Force of the rocker on the coupler, coupler axes", "N", (("x", "pin_force[0]"), ("y", "pin_force[1]"))),
        Panel("Middle of the coupler", "m", (("x", "middle[0]"), ("y", "middle[1]"))),
    ]
    if settings["drive"] == "speed":
        made.append(Panel("Torque of the drive", "N m", (("drive", "drive[0]"),)))
    return tuple(made)


CASE = Case(
    name="four-bar",
    title="a four-bar linkage swings, or is driven",
    source="closed form",
    settings=SETTINGS,
    build=build,
    figures=figures,
    figure_table=FIGURES,
    panels=panels,
    run={"rtol": 1e-10},
)

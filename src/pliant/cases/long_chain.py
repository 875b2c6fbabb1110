"""A hanging or floating chain of any number of rods on ball joints."""

from __future__ import annotations

import math
from typing import Any

from pliant.cases.case import Case, Setting, peak, vector_panel
from pliant.model.bodies import Body, Frame, Rod
from pliant.model.joints import Joint
from pliant.model.model import Model, Output
from pliant.report_types import Figure, Panel
from pliant.result import Result

SOURCE = "Khoshnood, Azad, Razavi 2016: n bodies"
SETTINGS = {
    "bodies": Setting(20, "number of links", low=1, high=5000),
    "length": Setting(0.1, "length of each link", "m", low=1e-6),
    "mass": Setting(0.1, "mass of each link", "kg", low=1e-9),
    "slenderness": Setting(20.0, "length over radius of each link", low=1e-3),
    "bend": Setting(0.3, "start angles between links go up to this", "rad"),
    "base": Setting("fixed", "the first link hangs on the world, or floats", choices=("fixed", "floating")),
    "gravity": Setting(9.81, "gravity along -z", "m/s^2", low=0.0),
    "damping": Setting(0.0, "viscous damping in every joint", "N m s/rad", low=0.0),
}


def _start(i: int, bend: float) -> tuple[float, float, float, float]:
    """A smooth, truly spatial bend: rotation about y and z of the parent."""
    x = (0.0, 0.5 * bend * math.sin(0.7 * i), 0.5 * bend * math.cos(0.4 * i))
    angle = math.hypot(*x)
    s = math.sin(angle / 2) / angle if angle > 0 else 0.5
    return (s * x[0], s * x[1], s * x[2], math.cos(angle / 2))


def build(settings: dict[str, Any]) -> Model:
    n, length, bend = settings["bodies"], settings["length"], settings["bend"]
    shape = Rod(length, radius=length / settings["slenderness"])
    damping = settings["damping"]
    joints = [
        Joint(
            f"ball{i + 1}",
            "spherical",
            f"link{i + 1}",
            parent=Frame(f"link{i}", (length, 0.0, 0.0)) if i else "world",
            q0=_start(i, bend),
            damping=damping,
        )
        for i in range(n)
    ]
    if settings["base"] == "floating":
        joints[0] = Joint("base", "floating", "link1", q0=(0.0, 0.0, 0.0, *_start(0, bend)))
    return Model(
        name="long-chain",
        gravity=(0.0, 0.0, -settings["gravity"]),
        bodies=tuple(Body(f"link{i + 1}", settings["mass"], shape=shape) for i in range(n)),
        joints=tuple(joints),
        frames=(Frame(f"link{n}", (length, 0.0, 0.0), name="tip"),),
        outputs=(Output("tip_position", "tip", "position"), Output("tip_velocity", "tip", "velocity")),
        duration=1.0,
    )


def figures(result: Result) -> dict[str, float]:
    tip = result.outputs["tip_position"]
    return {
        "tip_x": float(tip[-1, 0]),
        "tip_y": float(tip[-1, 1]),
        "tip_z": float(tip[-1, 2]),
        "tip_speed_peak": peak(result, "tip_velocity"),
        "evaluations": result.stats["evaluations"],
    }


def panels(settings: dict[str, Any]) -> tuple[Panel, ...]:
    return (
        vector_panel("Position of the tip", "m", "tip_position"),
        vector_panel("Velocity of the tip", "m/s", "tip_velocity"),
    )


CASE = Case(
    name="long-chain",
    title="chain of rods on ball joints, any number of them",
    source=SOURCE,
    settings=SETTINGS,
    build=build,
    figures=figures,
    figure_table={
        "tip_x": Figure("position of the tip at the end", "m"),
        "tip_y": Figure("position of the tip at the end", "m"),
        "tip_z": Figure("position of the tip at the end", "m"),
        "tip_speed_peak": Figure("largest speed of the tip", "m/s"),
        "evaluations": Figure("evaluations of the right-hand side"),
    },
    panels=panels,
)

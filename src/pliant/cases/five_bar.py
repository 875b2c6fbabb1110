"""Planar five-bar robot: two motors on the ground, two arms that meet at a pen."""

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
from pliant.model.signals import Sine
from pliant.report_types import Figure, Panel
from pliant.result import Result

SETTINGS = {
    "base": Setting(0.2, "distance of the motors", "m", low=0.0),
    "inner": Setting(0.25, "length of the arms at the motors", "m", low=1e-6),
    "outer": Setting(0.3, "length of the arms at the pen", "m", low=1e-6),
    "density": Setting(1.5, "mass per length of the arms", "kg/m", low=1e-9),
    "pen_mass": Setting(0.2, "mass at the pen", "kg", low=0.0),
    "pen_x": Setting(0.1, "pen at the start, from the left motor", "m"),
    "pen_y": Setting(0.4, "pen at the start, from the motors", "m"),
    "torque": Setting(0.3, "amplitude of both motors", "N m"),
    "frequency": Setting(1.5, "of the motors", "Hz", low=0.0),
    "damping": Setting(0.05, "in the motors' joints", "N m s/rad", low=0.0),
    "gravity": Setting(0.0, "downward", "m/s^2"),
}


def leg(x: float, y: float, inner: float, outer: float, side: float, who: str) -> tuple[float, float]:
    """Angles of an arm that reaches (x, y) from its motor: inner, and outer against it; side: of the elbow."""
    far = math.hypot(x, y)
    if not abs(inner - outer) < far < inner + outer:
        raise ModelError(
            f"pen_x, pen_y: the {who} arm reaches from {abs(inner - outer):g} to {inner + outer:g} m, but the pen is "
            f"{far:.4g} m from its motor; give a nearer one"
        )
    bend = side * math.acos((far**2 - inner**2 - outer**2) / (2.0 * inner * outer))
    return math.atan2(y, x) - math.atan2(outer * math.sin(bend), inner + outer * math.cos(bend)), bend


def build(settings: dict[str, Any]) -> Model:
    inner, outer, base = settings["inner"], settings["outer"], settings["base"]
    x, y = settings["pen_x"], settings["pen_y"]
    left = leg(x, y, inner, outer, -1.0, "left")
    right = leg(x - base, y, inner, outer, 1.0, "right")
    omega = 2.0 * math.pi * settings["frequency"]
    push = Sine(amplitude=settings["torque"], omega=omega)
    pull = Sine(amplitude=settings["torque"], omega=omega, phase=0.5 * math.pi)
    rods = {"left1": inner, "left2": outer, "right1": inner, "right2": outer}
    bodies = [Body(name, mass=settings["density"] * length, shape=Rod(length)) for name, length in rods.items()]
    joints = [
        Joint("motor1", "revolute", "left1", q0=left[0], motor=push, damping=settings["damping"]),
        Joint("elbow1", "revolute", "left2", parent=Frame("left1", (inner, 0.0, 0.0)), q0=left[1]),
        Joint("motor2", "revolute", "right1", parent=Frame("world", (base, 0.0, 0.0)), q0=right[0], motor=pull,
              damping=settings["damping"]),
        Joint("elbow2", "revolute", "right2", parent=Frame("right1", (inner, 0.0, 0.0)), q0=right[1]),
    ]  # fmt: skip
    if settings["pen_mass"] > 0.0:
        bodies.append(Body("pen", mass=settings["pen_mass"]))
        joints.append(Joint("grip", "fixed", "pen", parent=Frame("left2", (outer, 0.0, 0.0))))
    tip = Frame("left2", (outer, 0.0, 0.0), name="tip")
    return Model(
        name="five-bar",
        gravity=(0.0, -settings["gravity"], 0.0),
        bodies=tuple(bodies),
        joints=tuple(joints),
        frames=(tip,),
        loops=(Loop("pen_pin", "revolute", first="tip", second=Frame("right2", (outer, 0.0, 0.0))),),
        keep=("motor1", "motor2"),
        outputs=(Output("tip", "tip", "position"), Output("pin_force", "pen_pin", "reaction")),
        duration=2.0,
    )


def figures(result: Result) -> dict[str, float]:
    """The pen, and how far its two arms say different places."""
    links = {link.joint.name: link for link in result.model.links}
    inner = links["elbow1"].joint_frame.position[0]
    frame = next(frame for frame in result.model.frames if frame.name == "tip")
    outer, base = frame.position[0], links["motor2"].joint_frame.position[0]
    places = []
    for n, x in ((1, 0.0), (2, base)):
        a = result.q[:, links[f"motor{n}"].q]
        b = a + result.q[:, links[f"elbow{n}"].q]
        places.append(
            np.column_stack([x + inner * np.cos(a) + outer * np.cos(b), inner * np.sin(a) + outer * np.sin(b)])
        )
    x, y = places[0][-1]
    return {
        "pen_x_end": float(x),
        "pen_y_end": float(y),
        "pose_error": float(np.abs(places[0] - places[1]).max()),
        "motor_work": float(result.energy["work_motor"][-1]),
    }


FIGURES = {
    "pen_x_end": Figure("pen at the end, x", "m"),
    "pen_y_end": Figure("pen at the end, y", "m"),
    "pose_error": Figure("distance of the two arms at the pen", "m", 0.0, 1e-12, "geometry"),
    "motor_work": Figure("work of the motors", "J"),
}


def panels(settings: dict[str, Any]) -> tuple[Panel, ...]:
    return (
        Panel("Pen", "m", (("x", "tip[0]"), ("y", "tip[1]"))),
        Panel("Motor angles", "rad", (("left", "motor1"), ("right", "motor2"))),
        Panel("Motor speeds", "rad/s", (("left", "motor1.rate"), ("right", "motor2.rate"))),
        Panel("Force between the arms, axes of the right one", "N", (("x", "pin_force[0]"), ("y", "pin_force[1]"))),
    )


CASE = Case(
    name="five-bar",
    title="a planar five-bar robot draws with two motors",
    source="closed form",
    settings=SETTINGS,
    build=build,
    figures=figures,
    figure_table=FIGURES,
    panels=panels,
    run={"rtol": 1e-10},
)

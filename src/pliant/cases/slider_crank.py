"""Slider-crank: crank, rod, slider on a line; crank driven at a speed, or moved by a torque."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pliant.cases.case import Case, Setting
from pliant.errors import ModelError
from pliant.model.bodies import Body, Frame, Rod
from pliant.model.flexible import Beam, Bending, Damping, Material, Rectangle
from pliant.model.joints import Joint
from pliant.model.loops import Loop
from pliant.model.model import Model, Output
from pliant.model.signals import Constant, Table
from pliant.report_types import Figure, Panel
from pliant.result import Result

LONGEST = 1e4  # [s] of a driven run
SETTINGS = {
    "crank": Setting(0.15, "length of the crank", "m", low=1e-6),
    "rod": Setting(0.3, "length of the connecting rod", "m", low=1e-6),
    "crank_mass": Setting(0.5, "mass of the crank", "kg", low=1e-9),
    "rod_mass": Setting(0.7, "mass of the connecting rod", "kg", low=1e-9),
    "slider_mass": Setting(1.0, "mass of the slider", "kg", low=1e-9),
    "angle": Setting(0.5, "crank at the start", "rad"),
    "drive": Setting("torque", "constant torque on the crank, or constant speed", choices=("torque", "speed")),
    "torque": Setting(2.0, "on the crank", "N m"),
    "speed": Setting(10.0, "of the crank (torque: at the start)", "rad/s"),
    "link": Setting("rigid", "connecting rod rigid, or a beam that bends", choices=("rigid", "flexible")),
    "gravity": Setting(0.0, "downward", "m/s^2"),
}


def build(settings: dict[str, Any]) -> Model:
    r, l, angle = settings["crank"], settings["rod"], settings["angle"]
    if l <= r * abs(math.sin(angle)):
        raise ModelError(
            f"rod: {l:g} m does not reach the line from a crank of {r:g} m at {angle:g} rad; give a longer rod"
        )
    lean = -math.asin(r * math.sin(angle) / l)
    is_prescribed = settings["drive"] == "speed"
    motion = Table((0.0, LONGEST), (angle, angle + settings["speed"] * LONGEST), smooth=True) if is_prescribed else None
    return Model(
        name="slider-crank",
        gravity=(0.0, -settings["gravity"], 0.0),
        bodies=(
            Body("crank", mass=settings["crank_mass"], shape=Rod(r)),
            _rod(settings),
            Body("slider", mass=settings["slider_mass"], inertia=((1e-6, 0, 0), (0, 1e-6, 0), (0, 0, 1e-6))),
        ),
        joints=(
            Joint("motor", "revolute", "crank", q0=angle, v0=settings["speed"], motion=motion,
                  motor=None if is_prescribed else Constant(settings["torque"])),
            Joint("knee", "revolute", "rod", parent=Frame("crank", (r, 0.0, 0.0)), q0=lean - angle),
            Joint("pin", "revolute", "slider", parent=Frame("rod", (l, 0.0, 0.0)), q0=-lean),
        ),
        loops=(Loop("guide", "prismatic", first="world", second="slider", axis=(1.0, 0.0, 0.0)),),
        keep=("motor",),
        outputs=(Output("slider", "slider", "position"), Output("guide_force", "guide", "reaction"),
                 Output("motor_force", "motor", "reaction")),
        duration=1.0,
    )  # fmt: skip


def _rod(settings: dict[str, Any]) -> Body | Beam:
    if settings["link"] == "rigid":
        return Body("rod", mass=settings["rod_mass"], shape=Rod(settings["rod"]))
    # flat steel of this mass
    width = 0.02
    thickness = settings["rod_mass"] / (7850.0 * width * settings["rod"])
    return Beam(
        "rod", settings["rod"], Material(2.1e11, 7850.0, poisson=0.3), Rectangle(width, thickness),
        bending_y=Bending(2, "ss"), damping=Damping(kelvin_voigt=1e-6),
    )  # fmt: skip


def figures(result: Result) -> dict[str, float]:
    """Slider, and how far it is from its closed form r cos + sqrt(l^2 - r^2 sin^2)."""
    links = {link.joint.name: link for link in result.model.links}
    r, l = links["knee"].joint_frame.position[0], links["pin"].joint_frame.position[0]
    angle = result.q[:, links["motor"].q]
    x = result.outputs["slider"][:, 0]
    exact = r * np.cos(angle) + np.sqrt(l**2 - (r * np.sin(angle)) ** 2)
    found = {
        "crank_end": float(angle[-1]),
        "slider_end": float(x[-1]),
        "guide_force_most": float(np.abs(result.outputs["guide_force"][:, 1]).max()),
    }
    return found if result.model.has_modes else found | {"pose_error": float(np.abs(x - exact).max())}


FIGURES = {
    "crank_end": Figure("crank angle at the end", "rad"),
    "slider_end": Figure("place of the slider at the end", "m"),
    "guide_force_most": Figure("largest force of the guide on the slider at accepted steps", "N"),
    "pose_error": Figure("slider against its closed form", "m", 0.0, 1e-10, "geometry"),
}


def panels(settings: dict[str, Any]) -> tuple[Panel, ...]:
    return (
        Panel("Slider", "m", (("x", "slider[0]"),)),
        Panel("Crank speed", "rad/s", (("crank", "motor.rate"),)),
        Panel("Force of the guide on the slider", "N", (("across", "guide_force[1]"),)),
        Panel("Force of the ground on the crank, crank axes", "N", (("x", "motor_force[0]"), ("y", "motor_force[1]"))),
    )


CASE = Case(
    name="slider-crank",
    title="a slider-crank under a torque, or driven at a speed",
    source="closed form",
    settings=SETTINGS,
    build=build,
    figures=figures,
    figure_table=FIGURES,
    panels=panels,
    run={"rtol": 1e-10},
)

"""Stewart platform: six legs that stretch, universal joints on the ground, balls at the platform."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.cases.case import Case, Setting, vector_panel
from pliant.cases.rose_path import plate
from pliant.model.bodies import Body, Frame, Rod
from pliant.model.joints import Joint
from pliant.model.loops import Loop
from pliant.model.model import Load, Model, Output
from pliant.model.signals import Constant
from pliant.report_types import Figure, Panel
from pliant.result import Result

Array = NDArray[np.float64]
SETTINGS = {
    "base_radius": Setting(1.0, "of the joints on the ground", "m", low=1e-6),
    "platform_radius": Setting(0.6, "of the joints at the platform", "m", low=1e-6),
    "spread": Setting(0.3, "angle between the two legs of a pair, on the ground", "rad"),
    "height": Setting(1.0, "of the platform at the start", "m", low=1e-6),
    "tube_mass": Setting(2.0, "mass of the lower part of a leg", "kg", low=1e-9),
    "rod_mass": Setting(1.0, "mass of the upper part of a leg", "kg", low=1e-9),
    "platform_mass": Setting(20.0, "mass of the platform", "kg", low=1e-9),
    "stiffness": Setting(4e3, "of the springs in the legs", "N/m", low=0.0),
    "damping": Setting(50.0, "in the legs", "N s/m", low=0.0),
    "push": Setting(100.0, "sudden sideways force on the platform", "N"),
    "gravity": Setting(9.81, "downward", "m/s^2"),
}


def joints_on(radius: float, spread: float, turn: float) -> Array:
    """Six places on a circle in pairs."""
    angles = [turn + 2.0 * math.pi * k / 3.0 + side * 0.5 * spread for k in range(3) for side in (-1.0, 1.0)]
    return np.array([(radius * math.cos(a), radius * math.sin(a), 0.0) for a in angles])


def build(settings: dict[str, Any]) -> Model:
    ground = joints_on(settings["base_radius"], settings["spread"], 0.0)
    # legs of neighbouring pairs meet at the platform
    above = np.roll(joints_on(settings["platform_radius"], settings["spread"], math.pi / 3.0), 1, axis=0)
    height = settings["height"]
    half = 0.45 * height
    bodies, joints, loops, outputs = [], [], [], []
    for k in range(6):
        way = above[k] + (0.0, 0.0, height) - ground[k]
        length = float(np.linalg.norm(way))
        # the leg lies along its own z: rotated about x, then about the new y
        x, y, z = (way / length).tolist()
        about_y = math.asin(x)
        about_x = math.atan2(-y, z)
        n = k + 1
        force = Constant(
            settings["gravity"] * (settings["platform_mass"] / 6.0 + settings["rod_mass"]) * length / way[2]
        )
        bodies += [
            Body(f"tube{n}", mass=settings["tube_mass"], shape=Rod(half, axis="z")),
            Body(f"rod{n}", mass=settings["rod_mass"], shape=Rod(half, axis="z")),
        ]
        joints += [
            Joint(f"foot{n}", "universal", f"tube{n}", parent=Frame("world", tuple(ground[k].tolist())),
                  q0=(about_x, about_y)),
            Joint(f"leg{n}", "prismatic", f"rod{n}", parent=f"tube{n}", q0=length - half, motor=force,
                  stiffness=settings["stiffness"], rest=length - half, damping=settings["damping"]),
        ]  # fmt: skip
        loops.append(
            Loop(
                f"ball{n}",
                "spherical",
                first=Frame("platform", tuple(above[k].tolist())),
                second=Frame(f"rod{n}", (0.0, 0.0, half)),
            )
        )
        outputs.append(Output(f"force{n}", f"ball{n}", "reaction"))
    m, r = settings["platform_mass"], settings["platform_radius"]
    inertia = ((0.25 * m * r**2, 0.0, 0.0), (0.0, 0.25 * m * r**2, 0.0), (0.0, 0.0, 0.5 * m * r**2))
    ring = sorted(above.tolist(), key=lambda place: math.atan2(place[1], place[0]))
    seen = plate(np.array(ring)[:, :2], 0.05 * r)
    bodies.append(Body("platform", mass=m, inertia=inertia, visual=(seen,)))
    joints.append(Joint("pose", "floating", "platform", q0=(0.0, 0.0, height, 0.0, 0.0, 0.0, 1.0)))
    return Model(
        name="stewart",
        gravity=(0.0, 0.0, -settings["gravity"]),
        bodies=tuple(bodies),
        joints=tuple(joints),
        loops=tuple(loops),
        keep=("pose",),
        loads=(Load("platform", x=Constant(settings["push"]), name="push"),),
        outputs=(Output("platform", "platform", "position"), Output("attitude", "platform", "attitude"), *outputs),
        duration=2.0,
    )


def leg_lengths(model: Model, result: Result) -> tuple[Array, Array]:
    """Lengths of the legs as their joints say, and as the platform's pose asks (rows, 6)."""
    links = {link.joint.name: link for link in model.links}
    pose = links["pose"]
    p, (x, y, z, w) = result.q[:, pose.q : pose.q + 3], result.q[:, pose.q + 3 : pose.q + 7].T
    R = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    ).transpose(2, 0, 1)
    said, asked = [], []
    for k, loop in enumerate(model.loops):
        assert isinstance(loop.first, Frame)
        foot = np.array(links[f"foot{k + 1}"].joint_frame.position)
        assert isinstance(loop.second, Frame)
        said.append(result.q[:, links[f"leg{k + 1}"].q] + loop.second.position[2])
        asked.append(np.linalg.norm(p + R @ np.array(loop.first.position) - foot, axis=1))
    return np.column_stack(said), np.column_stack(asked)


def figures(result: Result) -> dict[str, float]:
    said, asked = leg_lengths(result.model, result)
    pose = next(link for link in result.model.links if link.joint.name == "pose").q
    x, y, z = result.q[-1, pose : pose + 3]
    return {
        "x_end": float(x),
        "y_end": float(y),
        "z_end": float(z),
        "x_most": float(np.abs(result.q[:, pose]).max()),
        "pose_error": float(np.abs(said - asked).max()),
    }


FIGURES = {
    "x_end": Figure("platform at the end, x", "m"),
    "y_end": Figure("platform at the end, y", "m"),
    "z_end": Figure("platform at the end, z", "m"),
    "x_most": Figure("farthest sideways", "m"),
    "pose_error": Figure("lengths of the legs against what the pose asks", "m", 0.0, 1e-10, "geometry"),
}


def panels(settings: dict[str, Any]) -> tuple[Panel, ...]:
    return (
        vector_panel("Platform", "m", "platform"),
        Panel("Lengths of the legs", "m", tuple((f"leg {n}", f"leg{n}") for n in range(1, 7))),
        Panel(
            "Force of the platform on leg 1, rod axes",
            "N",
            (("x", "force1[0]"), ("y", "force1[1]"), ("z", "force1[2]")),
        ),
    )


CASE = Case(
    name="stewart",
    title="a Stewart platform on springs is pushed sideways",
    source="closed form",
    settings=SETTINGS,
    build=build,
    figures=figures,
    figure_table=FIGURES,
    panels=panels,
)

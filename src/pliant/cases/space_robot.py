"""Free-flying robot of three bodies with ball joints. Momenta and energy must not drift."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.cases.case import Case, Setting, vector_panel
from pliant.engine.prepared import prepare
from pliant.model.bodies import Body, Box, Frame
from pliant.model.joints import Joint
from pliant.model.model import Model, Output
from pliant.model.signals import Constant, Sine
from pliant.report_types import Figure, Panel
from pliant.result import Result

SOURCE = "conservation laws"
HALF_PI = float(np.pi / 2)
SETTINGS = {
    "torques": Setting(
        "none", "motor torques in the two joints: none, or the paper's internal torques", choices=("none", "internal")
    ),
    "torque_scale": Setting(1.0, "factor on the internal torques"),
    "spin": Setting(1.0, "factor on all start velocities"),
}


def _torques(settings: dict[str, Any]) -> tuple[Any, Any]:
    """tau_2 and tau_3 in child axes [N m]."""
    if settings["torques"] == "none":
        return None, None
    s = settings["torque_scale"]
    tau2 = (
        Sine(s / 2, 1.0),
        Sine(3 * s / 8, 2.0, HALF_PI),
        Sine(-3 * s / 8, 0.5),
    )
    tau3 = (Sine(s / 4, 1.0, HALF_PI), Sine(-s / 8, 3.0), Constant(s / 8))
    return tau2, tau3


def build(settings: dict[str, Any]) -> Model:
    k = settings["spin"]
    tau2, tau3 = _torques(settings)
    start = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    flight = tuple(k * x for x in (0.125, -0.0625, 0.03125, 0.125, 0.25, -0.1875))
    return Model(
        name="space-robot",
        gravity=(0.0, 0.0, 0.0),
        bodies=(
            Body(
                "hub",
                10.0,
                shape=Box((0.6, 0.4, 0.3)),
                inertia=((1.25, 0.125, 0.0), (0.125, 1.0, -0.0625), (0.0, -0.0625, 0.75)),
            ),
            Body("arm", 4.0, com=(0.5, 0.0, 0.0), inertia=((0.125, 0.0, 0.0), (0.0, 0.5, 0.0), (0.0, 0.0, 0.5))),
            Body(
                "hand",
                2.0,
                com=(0.375, 0.125, 0.0),
                inertia=((0.0625, 0.0, 0.0), (0.0, 0.25, 0.03125), (0.0, 0.03125, 0.25)),
            ),
        ),
        joints=(
            Joint("hub", "floating", "hub", q0=start, v0=flight),
            Joint(
                "shoulder",
                "spherical",
                "arm",
                parent=Frame("hub", (0.5, 0.25, 0.125)),
                q0=(0.36, 0.48, 0.0, 0.8),
                v0=(0.5 * k, -0.25 * k, 0.375 * k),
                motor=tau2,
            ),
            Joint(
                "wrist",
                "spherical",
                "hand",
                parent=Frame("arm", (1.0, 0.0, -0.125)),
                q0=(0.0, 0.0, 0.6, 0.8),
                v0=(-0.5 * k, 0.25 * k, 0.125 * k),
                motor=tau3,
            ),
        ),
        outputs=(
            Output("hub_position", "hub", "position"),
            Output("shoulder_reaction", "shoulder", "reaction"),
            Output("wrist_reaction", "wrist", "reaction"),
        ),
        duration=10.0,
    )


def figures(result: Result) -> dict[str, float]:
    handle = prepare(result.model)
    momenta = [handle.momentum(q, v) for q, v in zip(result.q, result.v, strict=True)]
    linear = np.array([momentum.linear for momentum in momenta])
    angular = np.array([momentum.angular for momentum in momenta])
    q, v = result.q[-1], result.v[-1]
    return {
        "linear_momentum": float(np.linalg.norm(linear[0])),
        "angular_momentum": float(np.linalg.norm(angular[0])),
        "linear_momentum_drift": float(np.max(np.abs(linear - linear[0])) / np.linalg.norm(linear[0])),
        "angular_momentum_drift": float(np.max(np.abs(angular - angular[0])) / np.linalg.norm(angular[0])),
        "energy_drift": result.audit["energy_residual"],
        "hub_x": float(q[0]),
        "hub_y": float(q[1]),
        "hub_z": float(q[2]),
        "hub_spin": float(np.linalg.norm(v[3:6])),
        "motor_work": float(result.energy["work_motor"][-1]) if "work_motor" in result.energy else 0.0,
    }


def panels(settings: dict[str, Any]) -> tuple[Panel, ...]:
    return (
        Panel("Position of the hub", "m", (("x", "hub.x"), ("y", "hub.y"), ("z", "hub.z"))),
        Panel(
            "Spin of the hub, its own axes", "rad/s", (("x", "hub.wx.rate"), ("y", "hub.wy.rate"), ("z", "hub.wz.rate"))
        ),
        Panel(
            "Shoulder rate, arm axes",
            "rad/s",
            (("x", "shoulder.wx.rate"), ("y", "shoulder.wy.rate"), ("z", "shoulder.wz.rate")),
        ),
        vector_panel("Force of the hub on the arm, arm axes", "N", "shoulder_reaction"),
    )


CASE = Case(
    name="space-robot",
    title="free-flying robot of three bodies with ball joints",
    source=SOURCE,
    settings=SETTINGS,
    build=build,
    figures=figures,
    figure_table={
        "linear_momentum": Figure("size of the linear momentum", "kg m/s"),
        "angular_momentum": Figure("size of the angular momentum about the world origin", "kg m^2/s"),
        "linear_momentum_drift": Figure("largest change, relative", "", 0.0, 1e-12, SOURCE),
        "angular_momentum_drift": Figure("largest change, relative", "", 0.0, 1e-12, SOURCE),
        "energy_drift": Figure("largest change of energy minus work, relative", "", 0.0, 1e-12, SOURCE),
        "hub_x": Figure("position of the hub at the end", "m"),
        "hub_y": Figure("position of the hub at the end", "m"),
        "hub_z": Figure("position of the hub at the end", "m"),
        "hub_spin": Figure("angular speed of the hub at the end", "rad/s"),
        "motor_work": Figure("work of the joint torques", "J"),
    },
    panels=panels,
    run={"rtol": 1e-13},
)

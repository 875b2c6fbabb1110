"""A pendulum that swings as far as one likes, or rotates: exact period and motion by elliptic functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pliant.cases.case import Case, Setting
from pliant.cases.elliptic import pendulum_motion, pendulum_period
from pliant.model.attitudes import AxisAngle
from pliant.model.bodies import Body, Frame, Rod
from pliant.model.joints import Joint
from pliant.model.model import Crossing, Model, Output
from pliant.report_types import Figure, Panel
from pliant.result import Result

SOURCE = "closed form; Whittaker 1937, Analytical Dynamics: elliptic functions; IFToMM benchmark A01: simple pendulum"
SETTINGS = {
    "length": Setting(1.0, "of the pendulum", "m", low=1e-6),
    "mass": Setting(1.0, "of the pendulum", "kg", low=1e-9),
    "body": Setting("point", "all mass at the tip, or a slender rod", choices=("point", "rod")),
    "angle": Setting(3.0, "from hanging at the start", "rad"),
    "speed": Setting(0.0, "at the start; fast enough it rotates", "rad/s"),
    "gravity": Setting(9.81, "downwards", "m/s^2", low=1e-9),
    "duration": Setting(10.0, "of the motion", "s", low=1e-9),
}


def frequency(settings: dict[str, Any]) -> float:
    """Of small swings [rad/s]."""
    share = 1.5 if settings["body"] == "rod" else 1.0
    return math.sqrt(share * settings["gravity"] / settings["length"])


def build(settings: dict[str, Any]) -> Model:
    length = settings["length"]
    is_rod = settings["body"] == "rod"
    body = Body(
        "bob",
        mass=settings["mass"],
        shape=Rod(length),
        com=None if is_rod else (length, 0.0, 0.0),
        inertia=None if is_rod else (0.0, 0.0, 0.0),
    )
    hanging = Frame("world", attitude=AxisAngle("z", -math.pi / 2))
    return Model(
        name="pendulum",
        gravity=(0.0, -settings["gravity"], 0.0),
        bodies=(body,),
        joints=(Joint("hinge", "revolute", "bob", parent=hanging, q0=settings["angle"], v0=settings["speed"]),),
        frames=(Frame("bob", (length, 0.0, 0.0), name="tip"),),
        # from side to side the tip passes under the hinge, rotating or not
        crossings=(Crossing("passes", "tip.x", direction="rising"),),
        outputs=(Output("tip", "tip", "position"), Output("hinge_force", "hinge", "reaction")),
        duration=settings["duration"],
    )


def chosen_figures(settings: dict[str, Any], result: Result) -> dict[str, float]:
    w, start = frequency(settings), (settings["angle"], settings["speed"])
    angle, rate = pendulum_motion(w, *start, result.t)
    passed = [event.t for event in result.events]
    found = {
        "period_exact": pendulum_period(w, *start),
        "angle_end": float(result.q[-1, 0]),
        "angle_error": float(np.max(np.abs(result.q[:, 0] - angle))),
        "rate_error": float(np.max(np.abs(result.v[:, 0] - rate))),
    }
    if len(passed) > 1:
        found["period"] = (passed[-1] - passed[0]) / (len(passed) - 1)
        found["period_error"] = found["period"] - found["period_exact"]
    return found


def panels(settings: dict[str, Any]) -> tuple[Panel, ...]:
    return (
        Panel("Angle", "rad", (("hinge", "hinge"),)),
        Panel("Rate", "rad/s", (("hinge", "hinge.rate"),)),
        Panel("Force on the pendulum, along and across it", "N",
              (("along", "hinge_force[0]"), ("across", "hinge_force[1]"))),
    )  # fmt: skip


W = math.sqrt(9.81)
CASE = Case(
    name="pendulum",
    title="a pendulum that swings far, or rotates",
    source=SOURCE,
    settings=SETTINGS,
    build=build,
    figures=lambda result: {},
    chosen_figures=chosen_figures,
    figure_table={
        # near the top errors grow by exp(w t) every time it gets there: a thousand times the tolerance of the run
        "period": Figure("of a swing, or of a rotation", "s", pendulum_period(W, 3.0, 0.0), 1e-9, "4 K(k) / w"),
        "period_exact": Figure("by the closed form", "s"),
        "period_error": Figure("difference of the two", "s", 0.0, 1e-9, "4 K(k) / w"),
        "angle_end": Figure(
            "angle at the end", "rad", float(pendulum_motion(W, 3.0, 0.0, 10.0)[0]), 1e-9, "2 asin(k sn)"
        ),
        "angle_error": Figure("largest error of the angle at accepted steps", "rad", 0.0, 1e-9, "2 asin(k sn)"),
        "rate_error": Figure("largest error of its rate", "rad/s", 0.0, 1e-8, "2 w k cn"),
    },
    panels=panels,
    run={"rtol": 1e-12},
)

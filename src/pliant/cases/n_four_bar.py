"""N four-bars side by side: whenever the rods lie flat the mechanism could move in N + 1 ways, and must not
[gonzalez2006, problem A02]. The library runs 40 of them for 20 s and allows errors of 1e-3 in the place of B0.
Forces in the pins are not among the figures: beside a dead point the constraints determine them to rounding over the
distance from it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pliant.cases.case import Case, Setting
from pliant.cases.elliptic import pendulum_motion
from pliant.model.bodies import Body, Frame, Rod
from pliant.model.joints import Joint
from pliant.model.loops import Loop
from pliant.model.model import Crossing, Model, Output
from pliant.report_types import Figure, Panel
from pliant.result import Result

SOURCE = "Gonzalez, Dopico, Lugris, Cuadrado 2006, A benchmarking system for MBS simulation software: A02 N-four-bar"
SETTINGS = {
    "loops": Setting(2, "number of four-bars, N", low=1, high=200),
    "length": Setting(1.0, "of every rod", "m", low=1e-6),
    "mass": Setting(1.0, "of every rod", "kg", low=1e-9),
    "angle": Setting(0.5 * math.pi, "of the cranks from the ground at the start", "rad"),
    "speed": Setting(1.0, "of the upper ends at the start, to the right", "m/s"),
    "gravity": Setting(9.81, "downwards", "m/s^2", low=1e-9),
    "duration": Setting(10.0, "of the motion", "s", low=1e-9),
}


def build(settings: dict[str, Any]) -> Model:
    n, length, angle = settings["loops"], settings["length"], settings["angle"]
    rate = -settings["speed"] / length
    rods = {"mass": settings["mass"], "shape": Rod(length)}
    joints = [
        Joint(f"foot{k}", "revolute", f"crank{k}", parent=Frame("world", (k * length, 0.0, 0.0)), q0=angle, v0=rate)
        for k in range(n + 1)
    ]
    joints += [
        Joint(f"top{k}", "revolute", f"bar{k}", parent=Frame(f"crank{k}", (length, 0.0, 0.0)), q0=-angle, v0=-rate)
        for k in range(n)
    ]
    return Model(
        name="n-four-bar",
        gravity=(0.0, -settings["gravity"], 0.0),
        bodies=tuple(Body(joint.child, **rods) for joint in joints),
        joints=tuple(joints),
        loops=tuple(
            Loop(f"pin{k + 1}", "revolute", first=Frame(f"crank{k + 1}", (length, 0.0, 0.0)),
                 second=Frame(f"bar{k}", (length, 0.0, 0.0)))
            for k in range(n)
        ),
        frames=(Frame("crank0", (length, 0.0, 0.0), name="B0"),),
        crossings=(Crossing("flat", "B0.y"),),
        outputs=(Output("B0", "B0", "position"),),
        duration=settings["duration"],
    )  # fmt: skip


def exact_crank(settings: dict[str, Any], t: Any) -> tuple[Any, Any]:
    """All rods as one pendulum: ((N + 1)/3 + N) L angle'' = -g ((N + 1)/2 + N) cos(angle), angle from the ground."""
    n, length = settings["loops"], settings["length"]
    w = math.sqrt(settings["gravity"] * (1.5 * n + 0.5) / (length * (4.0 * n + 1.0) / 3.0))
    angle, rate = pendulum_motion(w, settings["angle"] + 0.5 * math.pi, -settings["speed"] / length, t)
    return angle - 0.5 * math.pi, rate


def chosen_figures(settings: dict[str, Any], result: Result) -> dict[str, float]:
    n = settings["loops"]
    columns = [result.model.coordinates.index(f"foot{k}") for k in range(n + 1)]
    tops = [result.model.coordinates.index(f"top{k}") for k in range(n)]
    cranks = result.q[:, columns]
    energy = result.energy["kinetic"] + result.energy["gravity"]
    return {
        "crank_end": float(cranks[-1, 0]),
        "B0_x_end": float(result.outputs["B0"][-1, 0]),
        "B0_y_end": float(result.outputs["B0"][-1, 1]),
        "dead_points": float(len(result.events)),
        "motion_error": float(np.max(np.abs(cranks - exact_crank(settings, result.t)[0][:, None]))),
        "bar_tilt": float(np.max(np.abs(result.q[:, tops] + cranks[:, :n]))),
        "energy_drift": float(np.max(np.abs(energy - energy[0]))),
    }


def panels(settings: dict[str, Any]) -> tuple[Panel, ...]:
    return (
        Panel("Upper end of the first crank, B0", "m", (("x", "B0[0]"), ("y", "B0[1]"))),
        Panel("Angle of the first crank", "rad", (("crank", "foot0"),)),
        Panel("Rate of the first crank", "rad/s", (("crank", "foot0.rate"),)),
    )


DEFAULTS = {key: setting.default for key, setting in SETTINGS.items()}
END = float(exact_crank(DEFAULTS, DEFAULTS["duration"])[0])
CASE = Case(
    name="n-four-bar",
    title="N four-bars that fall through their dead points",
    source=SOURCE,
    settings=SETTINGS,
    build=build,
    figures=lambda result: {},
    chosen_figures=chosen_figures,
    figure_table={
        # in a dead point positions tell speeds to the root of rounding only, 1e-8, and ten seconds have ten of them
        "crank_end": Figure("crank at the end", "rad", END, 1e-6, "the one equation, by elliptic functions"),
        "B0_x_end": Figure("end of the first crank at the end", "m", math.cos(END), 1e-6, "the one equation"),
        "B0_y_end": Figure("end of the first crank at the end", "m", math.sin(END), 1e-6, "the one equation"),
        "dead_points": Figure("how often all rods lay flat"),
        "motion_error": Figure("cranks against the one equation at accepted steps", "rad", 0.0, 1e-6, "one equation"),
        "bar_tilt": Figure("bars against level", "rad", 0.0, 1e-6, "they stay level"),
        "energy_drift": Figure("largest change of energy", "J", 0.0, 1e-6, "it is conserved"),
    },
    panels=panels,
    run={"rtol": 1e-11},
)

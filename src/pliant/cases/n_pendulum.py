"""N point masses on N massless rods in a plane: from two on it is chaotic, so its figures are those of a short time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pliant.cases.case import Case, Setting, peak
from pliant.model.attitudes import AxisAngle
from pliant.model.bodies import Body, Frame, Rod
from pliant.model.joints import Joint
from pliant.model.model import Model, Output
from pliant.report_types import Figure, Panel
from pliant.result import Result

SOURCE = "closed form of the equations: Braun 2003, On some properties of the multiple pendulum; integrated by SciPy"
SETTINGS = {
    "links": Setting(5, "number of rods, N", low=1, high=1000),
    "length": Setting(0.2, "of every rod", "m", low=1e-6),
    "mass": Setting(0.1, "at the end of every rod", "kg", low=1e-9),
    "angle": Setting(0.5 * math.pi, "of the straight chain from hanging at the start", "rad"),
    "gravity": Setting(9.81, "downwards", "m/s^2"),
    "duration": Setting(2.0, "of the motion", "s", low=1e-9),
}


def build(settings: dict[str, Any]) -> Model:
    length = settings["length"]
    hanging = Frame("world", attitude=AxisAngle("z", -math.pi / 2))
    joints = [
        Joint(
            f"hinge{k + 1}",
            "revolute",
            f"rod{k + 1}",
            parent=Frame(f"rod{k}", (length, 0.0, 0.0)) if k else hanging,
            q0=0.0 if k else settings["angle"],
        )
        for k in range(settings["links"])
    ]
    bob: dict[str, Any] = {"mass": settings["mass"], "com": (length, 0.0, 0.0), "inertia": (0.0, 0.0, 0.0)}
    return Model(
        name="n-pendulum",
        gravity=(0.0, -settings["gravity"], 0.0),
        bodies=tuple(Body(joint.child, shape=Rod(length), **bob) for joint in joints),
        joints=tuple(joints),
        frames=(Frame(f"rod{settings['links']}", (length, 0.0, 0.0), name="tip"),),
        outputs=(Output("tip", "tip", "position"), Output("tip_velocity", "tip", "velocity")),
        duration=settings["duration"],
    )


def figures(result: Result) -> dict[str, float]:
    energy = result.energy["kinetic"] + result.energy["gravity"]
    return {
        "tip_x_end": float(result.outputs["tip"][-1, 0]),
        "tip_y_end": float(result.outputs["tip"][-1, 1]),
        "angle_end": float(result.q[-1].sum()),
        "tip_speed_peak": peak(result, "tip_velocity"),
        "energy_drift": float(np.max(np.abs(energy - energy[0]))),
    }


def panels(settings: dict[str, Any]) -> tuple[Panel, ...]:
    shown = range(1, min(settings["links"], 6) + 1)
    return (
        Panel("Tip", "m", (("x", "tip[0]"), ("y", "tip[1]"))),
        Panel("Velocity of the tip", "m/s", (("x", "tip_velocity[0]"), ("y", "tip_velocity[1]"))),
        Panel("Angles of the hinges", "rad", tuple((f"hinge {k}", f"hinge{k}") for k in shown)),
        Panel("Rates of the hinges", "rad/s", tuple((f"hinge {k}", f"hinge{k}.rate") for k in shown)),
    )


REFERENCE = "N equations in absolute angles by SciPy (tests/cases/test_swinging_bodies.py)"
CASE = Case(
    name="n-pendulum",
    title="a chain of N point masses swings",
    source=SOURCE,
    settings=SETTINGS,
    build=build,
    figures=figures,
    figure_table={
        # tolerances of 1e-11 grow a hundred times until the end
        "tip_x_end": Figure("tip at the end", "m", 0.83771529818, 1e-8, REFERENCE),
        "tip_y_end": Figure("tip at the end", "m", -0.16765931615, 1e-8, REFERENCE),
        "angle_end": Figure("of the last rod from hanging at the end", "rad", 0.73725865015, 1e-7, REFERENCE),
        "tip_speed_peak": Figure("largest speed of the tip", "m/s"),
        "energy_drift": Figure("largest change of energy", "J", 0.0, 1e-9, "it is conserved"),
    },
    panels=panels,
    run={"rtol": 1e-11},
)

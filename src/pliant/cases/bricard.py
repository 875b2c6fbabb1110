"""Bricard's mechanism: six hinges in one loop that by Gruebler's count could not move, and moves
[bricard1897; gonzalez2006, problem A04]. Forces in its hinges are not among the figures: a loop with one constraint too
many does not determine them."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.cases.case import Case, Setting, vector_panel
from pliant.model.bodies import Body, Box, Frame
from pliant.model.joints import Joint
from pliant.model.loops import Loop
from pliant.model.model import Crossing, Model, Output
from pliant.report_types import Figure, Panel
from pliant.result import Result

SOURCE = "Gonzalez, Dopico, Lugris, Cuadrado 2006, A benchmarking system for MBS simulation software: A04 Bricard"
SETTINGS = {
    "length": Setting(1.0, "of the five rods", "m", low=1e-6),
    "width": Setting(0.1, "of their square section", "m", low=1e-9),
    "mass": Setting(1.0, "of each rod", "kg", low=1e-9),
    "gravity": Setting(9.81, "along -y", "m/s^2"),
    "duration": Setting(10.0, "of the motion", "s", low=1e-9),
}
# corners of the cube along which the rods lie at the start, and the hinge axes in them
HINGES = (("y", (0, 0, 0)), ("z", (1, 0, 0)), ("x", (1, -1, 0)), ("y", (1, -1, 1)), ("z", (0, -1, 1)), ("x", (0, 0, 1)))


def build(settings: dict[str, Any]) -> Model:
    length, width = settings["length"], settings["width"]
    corners = [length * np.array(corner, float) for _, corner in HINGES]
    bodies, joints = [], []
    for k in range(5):
        along = corners[k + 1] - corners[k]
        x, y, z = (float(edge) for edge in np.where(np.abs(along) > 0.0, length, width))
        middle = tuple(float(x) for x in 0.5 * along)
        bodies.append(Body(f"rod{k + 1}", mass=settings["mass"], shape=Box((x, y, z), middle)))
        place = corners[k] - corners[k - 1] if k else corners[0]
        parent = Frame(f"rod{k}" if k else "world", tuple(float(x) for x in place))
        joints.append(Joint(f"hinge{k + 1}", "revolute", f"rod{k + 1}", parent=parent, axis=HINGES[k][0]))
    last = Frame("rod5", tuple(float(x) for x in corners[5] - corners[4]))
    ground = Frame("world", tuple(float(x) for x in corners[5]))
    return Model(
        name="bricard",
        gravity=(0.0, -settings["gravity"], 0.0),
        bodies=tuple(bodies),
        joints=tuple(joints),
        loops=(Loop("hinge6", "revolute", first=ground, second=last, axis=HINGES[5][0]),),
        frames=(Frame("rod3", name="P3"),),
        crossings=(Crossing("rest", "hinge1.rate"),),
        outputs=(Output("P3", "P3", "position"),),
        duration=settings["duration"],
    )


def figures(result: Result) -> dict[str, float]:
    place = result.outputs["P3"][-1]
    energy = result.energy["kinetic"] + result.energy["gravity"]
    odd, even = result.q[:, 0::2], result.q[:, 1::2]
    sine = np.sin(odd[:, :1])
    off = max(np.max(np.abs(odd - odd[:, :1])), np.max(np.abs(even + np.arcsin(sine / (1.0 + sine)))))
    rests = [event.t for event in result.events]
    found = {
        **{f"P3_{axis}_end": float(x) for axis, x in zip("xyz", place, strict=True)},
        "pose_error": float(off),
        "energy_drift": float(np.max(np.abs(energy - energy[0]))),
    }
    # it begins at rest, too
    return found | ({"period": 2.0 * rests[-1] / len(rests)} if rests else {})


QUADRATURE = "time as an integral over the angle of the first hinge (tests/support/bricard_reference.py)"
FIGURES = {
    "period": Figure("from rest to rest and back", "s", 4.991711513688, 1e-9, QUADRATURE),
    "P3_x_end": Figure("third hinge at the end", "m", 0.999730987303, 1e-9, QUADRATURE),
    "P3_y_end": Figure("third hinge at the end", "m", -0.999999963826, 1e-9, QUADRATURE),
    "P3_z_end": Figure("third hinge at the end", "m", -0.000268976513, 1e-9, QUADRATURE),
    "pose_error": Figure(
        "hinges against sin a + sin b + sin a sin b = 0", "rad", 0.0, 1e-9, "Chen, You, Tarnai 2005: threefold Bricard"
    ),
    "energy_drift": Figure("largest change of energy", "J", 0.0, 1e-8, "it is conserved"),
}


def panels(settings: dict[str, Any]) -> tuple[Panel, ...]:
    return (
        vector_panel("Third hinge, P3", "m", "P3"),
        Panel("Angles of the hinges", "rad", (("odd", "hinge1"), ("even", "hinge2"))),
        Panel("Rates of the hinges", "rad/s", (("odd", "hinge1.rate"), ("even", "hinge2.rate"))),
    )


CASE = Case(
    name="bricard",
    title="Bricard's mechanism: overconstrained, and it moves",
    source=SOURCE,
    settings=SETTINGS,
    build=build,
    figures=figures,
    figure_table=FIGURES,
    panels=panels,
    run={"rtol": 1e-11},
)

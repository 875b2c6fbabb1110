"""A slider-crank whose connecting rod bends and stretches, driven at a constant speed: a problem of the Test Set for
Initial Value Problem Solvers, after B. Simeon.

The rod has two sines in bending and two polynomials in stretch, seen from the line between its pins. The test set's
mass matrix of the stretch lacks a factor 1/15 (the integrals of its quadratic shapes are 8/15, 1/15 and 2/15): its
printed solution is that of a rod whose stretch has 15 times its mass. Here the mass is right."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pliant.cases.case import Case, Setting
from pliant.model.bodies import Body, Frame, Rod
from pliant.model.flexible import COUPLINGS, AxialShapes, Beam, Bending, Damping, Material, Rectangle
from pliant.model.joints import Joint
from pliant.model.loops import Loop
from pliant.model.model import Model, Output
from pliant.model.signals import Table
from pliant.report_types import Figure, Panel
from pliant.result import Result

CRANK, ROD, SPEED = 0.15, 0.30, 150.0  # [m], [m], [rad/s]
# at the start: angular velocity of the rod, rates of the sines, mid and end of the rod stretched
ROD_RATE, SINE_RATES = -74.99576703969453, (0.4448961125815990, 0.004634339319238670)
MID, END, MID_RATE, END_RATE = 1.03339863e-5, 1.69327969e-5, -1.78591076e-6, -2.68938672e-6
SETTINGS = {
    "young": Setting(2e11, "modulus of elasticity of the rod", "Pa", low=1.0),
    "slider_mass": Setting(0.075552, "mass of the slider", "kg", low=1e-9),
    "coupling": Setting("linear", "with or without shortening by bending", choices=COUPLINGS),
    "kelvin_voigt": Setting(0.0, "viscosity of the rod", "Pa s", low=0.0),
    "duration": Setting(0.1, "of the motion", "s", low=1e-6, high=1e3),
}


def build(settings: dict[str, Any]) -> Model:
    longest = 2.0 * settings["duration"]
    # xi and xi (2 xi - 1), of which the stretch at the middle and at the end are made
    stretch, stretch_rates = (2.0 * MID, END - 2.0 * MID), (2.0 * MID_RATE, END_RATE - 2.0 * MID_RATE)
    rod = Beam(
        "rod",
        ROD,
        Material(settings["young"], 7870.0),
        Rectangle(0.008, 0.008),
        bending_y=Bending(2, "ss"),
        stretch=AxialShapes(2, "polynomials"),
        theory="euler-bernoulli",
        rotary="frame",
        coupling=settings["coupling"],
        damping=Damping(kelvin_voigt=settings["kelvin_voigt"]),
        q0=(0.0, 0.0, *stretch),
        v0=(*SINE_RATES, *stretch_rates),
    )
    # the section at the end turns with the slopes of the sines there
    end_rate = ROD_RATE + math.pi / ROD * (-SINE_RATES[0] + 2.0 * SINE_RATES[1])
    return Model(
        name="flexible-slider-crank",
        gravity=(0.0, 0.0, 0.0),
        bodies=(
            Body("crank", mass=0.36, shape=Rod(CRANK)),
            rod,
            Body("slider", mass=settings["slider_mass"], inertia=((1e-9, 0, 0), (0, 1e-9, 0), (0, 0, 1e-9))),
        ),
        joints=(
            Joint("motor", "revolute", "crank", motion=Table((0.0, longest), (0.0, SPEED * longest), smooth=True)),
            Joint("knee", "revolute", "rod", parent=Frame("crank", (CRANK, 0.0, 0.0)), v0=ROD_RATE - SPEED),
            Joint("pin", "revolute", "slider", parent=Frame("rod", (ROD, 0.0, 0.0)), v0=-end_rate),
        ),
        loops=(Loop("guide", "prismatic", first="world", second="slider", axis=(1.0, 0.0, 0.0)),),
        keep=("motor",),
        frames=(Frame("rod", (0.5 * ROD, 0.0, 0.0), name="middle"),),
        outputs=(Output("slider", "slider", "position"), Output("torque", "motor", "drive")),
        duration=settings["duration"],
    )


def figures(result: Result) -> dict[str, float]:
    angle, knee = (result[name] for name in ("motor", "knee"))
    sines = [result[f"rod.mode{k}"] for k in (1, 2)]
    stretch = [result[f"rod.mode{k}"][-1] for k in (3, 4)]
    return {
        "rod_angle_end": float(angle[-1] + knee[-1]),
        "slider_end": float(result.outputs["slider"][-1, 0]),
        "sine_1_end": float(sines[0][-1]),
        "sine_2_end": float(sines[1][-1]),
        "stretch_end": float(stretch[0] + stretch[1]),
        "sine_1_most": float(np.max(np.abs(sines[0]))),
    }


SOURCE = "Simeon 1996, equations of our own by SciPy"
PRINTED = {  # by the test set, whose stretch has 15 times its mass
    "rod_angle_end": -0.3311734988256260,
    "slider_end": 0.1697373328427860,
    "sine_1_end": 0.1893192899613509e-3,
    "sine_2_end": 0.2375751249879174e-4,
    "stretch_end": -0.8363313279112129e-5,
}
FIGURES = {
    "rod_angle_end": Figure("angle of the rod at the end", "rad", -0.33117343033, 1e-9, SOURCE),
    "slider_end": Figure("place of the slider at the end", "m", 0.16973739583, 1e-9, SOURCE),
    "sine_1_end": Figure("first sine of the bending at the end", "m", 1.89308137e-4, 1e-12, SOURCE),
    "sine_2_end": Figure("second sine", "m", 2.37620118e-5, 1e-12, SOURCE),
    "stretch_end": Figure("stretch of the rod at the end", "m", -8.30355447e-6, 1e-13, SOURCE),
    "sine_1_most": Figure("largest first sine of the bending at accepted steps", "m"),
}


def panels(settings: dict[str, Any]) -> tuple[Panel, ...]:
    return (
        Panel("Bending of the rod", "m", (("first sine", "rod.mode1"), ("second sine", "rod.mode2"))),
        Panel("Slider", "m", (("x", "slider[0]"),)),
        Panel("Torque of the motor", "N m", (("torque", "torque"),)),
        Panel("Stretch of the rod", "m", (("xi", "rod.mode3"), ("xi (2 xi - 1)", "rod.mode4"))),
    )


CASE = Case(
    name="flexible-slider-crank",
    title="a slider-crank with a rod that bends and stretches",
    source="Simeon 1996, Modelling a flexible slider crank mechanism by a mixed system of DAEs and PDEs; Mazzia, "
    "Magherini 2008, Test Set for IVP Solvers: slider crank, its mass matrix corrected",
    settings=SETTINGS,
    build=build,
    figures=figures,
    figure_table=FIGURES,
    panels=panels,
    run={"rtol": 1e-11, "atol": 1e-13},
)

"""A heavy symmetric top on a point: it nutates between two angles and precesses, in closed form [whittaker1937]."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.cases.case import Case, Setting, vector_panel
from pliant.cases.elliptic import amplitude, quarter_period
from pliant.model.bodies import Body, Frame, Rod
from pliant.model.joints import Joint
from pliant.model.model import Crossing, Model, Output
from pliant.report_types import Figure, Panel
from pliant.result import Result
from pliant.results.figures import extreme

SOURCE = "closed form; Whittaker 1937, Analytical Dynamics: the motion of a top"
SETTINGS = {
    "mass": Setting(0.5, "of the top", "kg", low=1e-9),
    "distance": Setting(0.1, "of the mass centre from the point", "m", low=1e-6),
    "across": Setting(2e-3, "moment of inertia across the axis, about the mass centre", "kg m^2", low=1e-12),
    "along": Setting(1e-3, "moment of inertia along the axis", "kg m^2", low=1e-12),
    "tilt": Setting(math.pi / 6, "of the axis from the vertical at the start", "rad", low=0.01, high=3.13),
    "spin": Setting(150.0, "angular velocity along the axis", "rad/s"),
    "precession": Setting(0.0, "rate of the axis about the vertical at the start", "rad/s"),
    "gravity": Setting(9.81, "downwards", "m/s^2", low=1e-9),
    "duration": Setting(2.0, "of the motion", "s", low=1e-9),
}


@dataclass(frozen=True)
class Nutation:
    """u = cos(tilt) between two roots of u'^2 = (alpha - beta u)(1 - u^2) - (b - a u)^2; it begins at one of them."""

    low: float  # least u
    high: float  # largest
    m1: float  # 1 - m of the elliptic functions
    rate: float  # of their argument [rad/s]
    a: float
    b: float
    begins_low: bool

    @property
    def period(self) -> float:
        return 2.0 * quarter_period(self.m1) / self.rate

    def cosine(self, t: Any) -> NDArray[np.float64]:
        """cos(tilt) at the times t."""
        shift = 0.0 if self.begins_low else quarter_period(self.m1)
        phase = amplitude(self.rate * np.asarray(t, float) + shift, self.m1)
        return self.low + (self.high - self.low) * np.sin(phase) ** 2

    @property
    def precession(self) -> float:
        """Of the axis about the vertical in one nutation [rad]: the trapezoidal rule, exact for what is periodic."""
        u = self.cosine(self.period * np.arange(256) / 256)
        return float(np.mean((self.b - self.a * u) / (1.0 - u**2)) * self.period)


def nutation(settings: dict[str, Any]) -> Nutation:
    about_point = settings["across"] + settings["mass"] * settings["distance"] ** 2
    u, sine_2 = math.cos(settings["tilt"]), math.sin(settings["tilt"]) ** 2
    a = settings["along"] * settings["spin"] / about_point
    b = settings["precession"] * sine_2 + a * u
    beta = 2.0 * settings["mass"] * settings["gravity"] * settings["distance"] / about_point
    alpha = settings["precession"] ** 2 * sine_2 + beta * u
    # the cubic over (u - start): beta u^2 + p u + q
    p = -(alpha + a * a) + beta * u
    q = 2.0 * a * b - beta + p * u
    third = 0.5 * (-p + math.sqrt(p * p - 4.0 * beta * q)) / beta
    other = q / (beta * third)
    low, high = min(u, other), max(u, other)
    return Nutation(low, high, (third - high) / (third - low), 0.5 * math.sqrt(beta * (third - low)), a, b, u <= other)


def build(settings: dict[str, Any]) -> Model:
    tilt, distance = settings["tilt"], settings["distance"]
    exact = nutation(settings)
    body = Body(
        "top", mass=settings["mass"], com=(0.0, 0.0, distance),
        inertia=(settings["across"], settings["across"], settings["along"]), shape=Rod(2.0 * distance, axis="z"),
    )  # fmt: skip
    start = (math.sin(0.5 * tilt), 0.0, 0.0, math.cos(0.5 * tilt))
    rates = (0.0, settings["precession"] * math.sin(tilt), settings["spin"])
    return Model(
        name="symmetric-top",
        gravity=(0.0, 0.0, -settings["gravity"]),
        bodies=(body,),
        joints=(Joint("point", "spherical", "top", q0=start, v0=rates),),
        frames=(Frame("top", (0.0, 0.0, distance), name="centre"),),
        crossings=(Crossing("nods", "centre.z", value=distance * 0.5 * (exact.low + exact.high), direction="rising"),),
        outputs=(Output("centre", "centre", "position"), Output("point_force", "point", "reaction")),
        duration=settings["duration"],
    )


def chosen_figures(settings: dict[str, Any], result: Result) -> dict[str, float]:
    exact, distance = nutation(settings), settings["distance"]

    def cosine(t: Any) -> Any:
        return result.outputs_at(t)["centre"][:, 2] / distance

    found = {
        "tilt_least": math.acos(min(extreme(result, cosine)[0], 1.0)),
        "tilt_most": math.acos(max(-extreme(result, lambda t: -cosine(t))[0], -1.0)),
        "nutation_error": float(np.max(np.abs(result.outputs["centre"][:, 2] / distance - exact.cosine(result.t)))),
        "spin_drift": float(np.max(np.abs(result.v[:, 2] - result.v[0, 2]))),
    }
    nods = np.array([event.t for event in result.events])
    if len(nods) > 1:
        t = np.union1d(np.linspace(nods[0], nods[-1], 64 * len(nods)), nods)
        place = result.outputs_at(t)["centre"]
        azimuth = np.unwrap(np.arctan2(place[:, 1], place[:, 0]))
        found["nutation_period"] = float(nods[-1] - nods[0]) / (len(nods) - 1)
        found["precession_per_nod"] = float(azimuth[-1] - azimuth[0]) / (len(nods) - 1)
    return found


def panels(settings: dict[str, Any]) -> tuple[Panel, ...]:
    return (
        vector_panel("Mass centre", "m", "centre"),
        Panel("Angular velocity across the axis, body axes", "rad/s", (("x", "point.wx.rate"), ("y", "point.wy.rate"))),
        vector_panel("Force of the ground on the top, body axes", "N", "point_force"),
    )


DEFAULTS = {key: setting.default for key, setting in SETTINGS.items()}
EXACT = nutation(DEFAULTS)
CASE = Case(
    name="symmetric-top",
    title="a heavy symmetric top nutates and precesses",
    source=SOURCE,
    settings=SETTINGS,
    build=build,
    figures=lambda result: {},
    chosen_figures=chosen_figures,
    figure_table={
        # the cosine is right to 1e-11; its slope over the angle is a half here, and zero only upright
        "tilt_least": Figure("least tilt of the axis", "rad", math.acos(EXACT.high), 1e-7, "root of the cubic"),
        "tilt_most": Figure("largest tilt of the axis", "rad", math.acos(EXACT.low), 1e-7, "root of the cubic"),
        "nutation_period": Figure("from nod to nod", "s", EXACT.period, 1e-10, "2 K / rate"),
        "precession_per_nod": Figure(
            "of the axis about the vertical from nod to nod", "rad", EXACT.precession, 1e-9, "integral over a nod"
        ),
        "nutation_error": Figure("cosine of the tilt against sn^2 at accepted steps", "", 0.0, 1e-9, "closed form"),
        "spin_drift": Figure("change of the spin along the axis", "rad/s", 0.0, 1e-8, "it is conserved"),
    },
    panels=panels,
    run={"rtol": 1e-11},
)

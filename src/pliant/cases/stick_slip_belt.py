"""A block on a spring rides on a belt, slips back, and sticks again: closed forms of both phases [marques2016]."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.cases.case import Case, Setting, coordinate_peak
from pliant.errors import ModelError
from pliant.model.bodies import Body, Box
from pliant.model.contacts import Contact, Plane
from pliant.model.friction_laws import Friction
from pliant.model.joints import Joint
from pliant.model.model import Model, Output
from pliant.model.normal_laws import NormalLaw
from pliant.model.signals import Table
from pliant.report_types import Figure, Panel
from pliant.result import Result

SOURCE = "closed form; Den Hartog 1956, Mechanical Vibrations: relaxation oscillations"
PRESS = 500.0  # [rad/s] critically damped bounce of the block on the belt: the normal force is soon the weight
SETTINGS = {
    "mass": Setting(1.0, "of the block", "kg", low=1e-9),
    "spring": Setting(100.0, "between block and ground", "N/m", low=1e-9),
    "belt_speed": Setting(0.1, "of the belt", "m/s", low=1e-9),
    "mu_s": Setting(0.3, "static coefficient of friction", low=0.0),
    "mu_k": Setting(0.2, "kinetic coefficient of friction", low=0.0),
    "stick_speed": Setting(1e-6, "below it the law sticks", "m/s", low=1e-12),
    "gravity": Setting(9.81, "downwards", "m/s^2", low=1e-9),
    "duration": Setting(10.0, "of the motion", "s", low=1e-9),
}


@dataclass(frozen=True)
class Cycle:
    """Slip: half a swing and more about mu_k N/k, from mu_s N/k on; stick: at the speed of the belt back to there."""

    frequency: float  # [rad/s]
    middle: float  # about which it slips [m]
    lead: float  # of the place where it lets go over the middle [m]
    speed: float  # of the belt [m/s]

    @property
    def amplitude(self) -> float:
        return math.hypot(self.lead, self.speed / self.frequency)

    @property
    def phase(self) -> float:
        return math.atan2(self.lead, self.speed / self.frequency)

    @property
    def slip_time(self) -> float:
        return 2.0 * (math.pi - self.phase) / self.frequency

    @property
    def stick_time(self) -> float:
        return 2.0 * self.lead / self.speed

    @property
    def period(self) -> float:
        return self.slip_time + self.stick_time

    def place(self, t: Any) -> NDArray[np.float64]:
        """Of the block at the times t since it let go."""
        t = np.asarray(t, float) % self.period
        slips = self.middle + self.amplitude * np.sin(self.phase + self.frequency * t)
        sticks = self.middle + self.lead - self.speed * (self.period - t)
        return np.array(np.where(t < self.slip_time, slips, sticks))


def cycle(settings: dict[str, Any]) -> Cycle:
    weight, spring = settings["mass"] * settings["gravity"], settings["spring"]
    return Cycle(
        math.sqrt(spring / settings["mass"]), settings["mu_k"] * weight / spring,
        (settings["mu_s"] - settings["mu_k"]) * weight / spring, settings["belt_speed"],
    )  # fmt: skip


def build(settings: dict[str, Any]) -> Model:
    mass, speed, end = settings["mass"], settings["belt_speed"], settings["duration"]
    if settings["mu_s"] < settings["mu_k"]:
        raise ModelError(f"mu_s: {settings['mu_s']:g} is below mu_k {settings['mu_k']:g}; give at least mu_k")
    edge = 2.0 * max(cycle(settings).amplitude, 1e-3)
    return Model(
        name="stick-slip-belt",
        gravity=(0.0, -settings["gravity"], 0.0),
        bodies=(
            Body("belt", mass=1.0),
            Body("slider", mass=0.0),
            Body("block", mass=mass, shape=Box((2.0 * edge, edge, edge), (0.0, 0.5 * edge, 0.0))),
        ),
        joints=(
            Joint("drive", "prismatic", "belt", axis="x", motion=Table((0.0, 2.0 * end), (0.0, 2.0 * speed * end))),
            Joint("along", "prismatic", "slider", axis="x", v0=speed, stiffness=settings["spring"]),
            Joint("up", "prismatic", "block", parent="slider", axis="y"),
        ),
        contacts=(
            Contact(
                "belt",
                NormalLaw("kelvin-voigt", mass * PRESS**2, damping=2.0 * mass * PRESS),
                Plane("belt", (0.0, 1.0, 0.0)),
                ("block",),
                friction=Friction(
                    "stiction", mu_k=settings["mu_k"], mu_s=settings["mu_s"], stick_speed=settings["stick_speed"]
                ),
            ),
        ),
        outputs=(Output("belt_force", "belt", "contact"),),
        duration=end,
    )


def chosen_figures(settings: dict[str, Any], result: Result) -> dict[str, float]:
    exact = cycle(settings)
    column = result.model.coordinates.index("along")
    slips = np.array([event.t for event in result.events if event.name.endswith("slips")])
    found = {"slips": float(len(slips)), "place_most": coordinate_peak(result, column)}
    if len(slips) > 1:
        # the first time it lets go the weight may still settle
        t = np.linspace(slips[1] if len(slips) > 2 else slips[0], slips[-1], 2001)
        found["place_error"] = float(np.max(np.abs(result.at(t)[0][:, column] - exact.place(t - t[0]))))
        found["period"] = float(t[-1] - t[0]) / (len(slips) - (2 if len(slips) > 2 else 1))
        found["letting_go"] = float(result.at(slips[-1:])[0][0, column])
    return found


def panels(settings: dict[str, Any]) -> tuple[Panel, ...]:
    return (
        Panel("Place of the block", "m", (("block", "along"),)),
        Panel("Speed", "m/s", (("block", "along.rate"), ("belt", "drive.rate"))),
        Panel("Friction of the belt on the block", "N", (("friction", "belt_force[1]"),)),
    )


EXACT = cycle({key: setting.default for key, setting in SETTINGS.items()})
CASE = Case(
    name="stick-slip-belt",
    title="a block on a spring sticks and slips on a belt",
    source=SOURCE,
    settings=SETTINGS,
    build=build,
    figures=lambda result: {},
    chosen_figures=chosen_figures,
    figure_table={
        "slips": Figure("how often it let go"),
        # the law sticks below its stick speed, a little before the speeds are equal
        "period": Figure("from one letting go to the next", "s", EXACT.period, 1e-6, "slip and stick in closed form"),
        "letting_go": Figure("where it lets go", "m", EXACT.middle + EXACT.lead, 1e-9, "mu_s N / k"),
        "place_most": Figure(
            "how far it goes", "m", EXACT.middle + EXACT.amplitude, 1e-7, "mu_k N / k + amplitude of the slip"
        ),
        "place_error": Figure("largest error of the place in all cycles", "m", 0.0, 1e-6, "slip and stick"),
    },
    panels=panels,
    run={"rtol": 1e-10},
)

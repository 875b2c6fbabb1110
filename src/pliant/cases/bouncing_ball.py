"""A ball falls on the ground and bounces until it rests."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from pliant.cases.case import Case, Setting
from pliant.cases.contact_settings import CONTACT_SETTINGS, friction_law, normal_law, unused_keys
from pliant.model.bodies import Body, Sphere
from pliant.model.contacts import Contact, Plane
from pliant.model.model import Base, Model, Output
from pliant.report_types import Figure, Panel
from pliant.result import Result

SETTINGS = {
    "mass": Setting(1.0, "of the ball", "kg", low=1e-9),
    "radius": Setting(0.05, "of the ball", "m", low=1e-6),
    "height": Setting(0.5, "of its lowest point at the start", "m"),
    "speed": Setting(0.3, "along the ground at the start", "m/s"),
    "spin": Setting(0.0, "about z at the start", "rad/s"),
    "gravity": Setting(9.81, "downwards", "m/s^2"),
    **CONTACT_SETTINGS,
    "stiffness": replace(CONTACT_SETTINGS["stiffness"], default=1e7),
    "restitution": replace(CONTACT_SETTINGS["restitution"], default=0.7),
    "normal_law": replace(CONTACT_SETTINGS["normal_law"], default="exact"),
}


def build(settings: dict[str, Any]) -> Model:
    radius = settings["radius"]
    return Model(
        name="bouncing-ball",
        gravity=(0.0, -settings["gravity"], 0.0),
        bodies=(Body("ball", mass=settings["mass"], shape=Sphere(radius)),),
        base=Base(
            "planar",
            (0.0, settings["height"] + radius, 0.0),
            velocity=(settings["speed"], 0.0, 0.0),
            angular_velocity=(0.0, 0.0, settings["spin"]),
        ),
        contacts=(
            Contact(
                "ground",
                normal_law(settings),
                Plane(normal=(0.0, 1.0, 0.0)),
                points=("ball",),
                radius=radius,
                friction=friction_law(settings),
            ),
        ),
        outputs=(
            Output("position", "ball", "position"),
            Output("velocity", "ball", "velocity"),
            Output("ground_force", "ground", "contact"),
        ),
        duration=3.0,
    )


def figures(result: Result) -> dict[str, float]:
    contacts = result.contacts
    found = {
        "bounces": float(len(contacts)),
        "speed_end": float(result.outputs["velocity"][-1, 0]),
        "spin_end": float(result.v[-1, 2]),
        "height_end": float(result.outputs["position"][-1, 1]),
    }
    if len(contacts):
        first = contacts[0]
        found |= {
            "first_contact": float(first["t_start"]),
            "first_speed": float(first["v_in"]),
            "first_duration": float(first["t_end"] - first["t_start"]),
            "first_peak": float(first["peak_normal"]),
            "first_restitution": float(first["v_out"] / first["v_in"]),
        }
    return found


def panels(settings: dict[str, Any]) -> tuple[Panel, ...]:
    gravity, height = abs(settings["gravity"]), max(settings["height"], 0.0)
    first = math.sqrt(2 * height / gravity) if gravity else 0.0
    # Hertz: duration 3.218 (m^2 / (K^2 v))^(1/5)
    speed = max(math.sqrt(2 * gravity * height), 1e-3)
    length = 3.3 * (settings["mass"] ** 2 / (settings["stiffness"] ** 2 * speed)) ** 0.2
    close = (first - 0.2 * length, first + 1.3 * length)
    return (
        Panel("Height of the centre", "m", (("height", "position[1]"),)),
        Panel("Speed of the centre", "m/s", (("along", "velocity[0]"), ("up", "velocity[1]"))),
        Panel("Spin", "rad/s", (("spin", "ball.angle.rate"),)),
        Panel("First contact: force", "N", (("normal", "ground_force[0]"), ("friction", "ground_force[1]")), close),
    )  # fmt: skip


CASE = Case(
    name="bouncing-ball",
    title="a ball falls, bounces, and comes to rest",
    source="closed forms",
    settings=SETTINGS,
    build=build,
    figures=figures,
    figure_table={
        "bounces": Figure("contacts until the end"),
        "first_contact": Figure("start of the first contact", "s", math.sqrt(2 * 0.5 / 9.81), 1e-9, "sqrt(2 h / g)"),
        "first_speed": Figure("speed into it", "m/s", math.sqrt(2 * 9.81 * 0.5), 1e-8, "sqrt(2 g h)"),
        "first_duration": Figure("its length", "s"),
        "first_peak": Figure("its largest normal force", "N"),
        "first_restitution": Figure("speed out of it over speed into it", "", 0.7, 5e-3, "asked for, without gravity"),
        "speed_end": Figure("speed along the ground at the end", "m/s"),
        "spin_end": Figure("spin at the end", "rad/s"),
        "height_end": Figure("height of the centre at the end", "m"),
    },
    unused=unused_keys,
    panels=panels,
    run={"rtol": 1e-10},
)

"""A rod slides on rough ground at an angle where rigid bodies have no forces at all, or two (Painleve's paradox): what
a compliant contact makes of it depends on its stiffness, and this case says how [painleve1895, routh1905]."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from pliant.cases.case import Case, Setting, Variant
from pliant.model.attitudes import AxisAngle, attitude_matrix
from pliant.model.bodies import Body, Rod
from pliant.model.contacts import Contact, Plane
from pliant.model.friction_laws import Friction
from pliant.model.model import Base, Crossing, Model, Output
from pliant.model.normal_laws import NormalLaw
from pliant.report_types import Figure, Finding, Panel
from pliant.result import Result

SOURCE = "Painleve 1895; Routh 1905: impact with friction; Champneys, Varkonyi 2016, The Painleve paradox"
STOPPED = 1e-3  # of the speed at the start
STIFFNESSES = {"stiffness 1e6": 1e6, "stiffness 1e8": 1e8, "stiffness 1e10": 1e10}  # [N/m^1.5]
SETTINGS = {
    "length": Setting(1.0, "of the rod", "m", low=1e-6),
    "mass": Setting(1.0, "of the rod", "kg", low=1e-9),
    "angle": Setting(1.0, "of the rod from the ground; its lower end slides backwards", "rad", low=0.01, high=1.56),
    "speed": Setting(2.0, "of the lower end at the start", "m/s", low=1e-6),
    "spin": Setting(0.0, "at the start; fast enough, the rod may as well lift off", "rad/s"),
    "mu": Setting(2.0, "coefficient of friction", low=0.0),
    "stiffness": Setting(1e8, "of the contact", "N/m^1.5", low=1.0),
    "restitution": Setting(0.5, "asked for", low=1e-3, high=1.0),
    "approach": Setting(0.0, "speed of the lower end into the ground at the start", "m/s", low=0.0),
    "gravity": Setting(9.81, "downwards", "m/s^2", low=1e-9),
    "study": Setting("single", "one run, or three stiffnesses side by side", choices=("single", "stiffness")),
    "duration": Setting(0.05, "of the motion", "s", low=1e-9),
}


def normal_response(settings: dict[str, Any]) -> float:
    """Normal acceleration of the sliding end per N/m of the normal force: negative is Painleve's paradox."""
    c, s = math.cos(settings["angle"]), math.sin(settings["angle"])
    return float(1.0 + 3.0 * c * (c - settings["mu"] * s))


def free_acceleration(settings: dict[str, Any]) -> float:
    """Of the lower end along the normal without contact [m/s^2]."""
    lifting = 0.5 * settings["length"] * math.sin(settings["angle"]) * settings["spin"] ** 2
    return float(lifting - settings["gravity"])


def regime(settings: dict[str, Any]) -> str:
    if normal_response(settings) > 0.0:
        return "consistent: rigid bodies have one solution"
    if free_acceleration(settings) < 0.0:
        return "inconsistent: rigid bodies have no solution, the end jams"
    return "indeterminate: rigid bodies have two solutions, the end lifts off or jams"


def jam(settings: dict[str, Any]) -> tuple[float, float]:
    """Impulse until the end stops, and the spin then, if all happens at once (Routh): the limit of stiff contacts."""
    half, m, mu = 0.5 * settings["length"], settings["mass"], settings["mu"]
    inertia = m * half**2 / 3.0
    lever = half * (mu * math.sin(settings["angle"]) - math.cos(settings["angle"]))
    impulse = settings["speed"] / (mu / m + half * math.sin(settings["angle"]) * lever / inertia)
    return impulse, settings["spin"] + lever / inertia * impulse


def build(settings: dict[str, Any]) -> Model:
    length, angle = settings["length"], settings["angle"]
    c, s = math.cos(angle), math.sin(angle)
    along, down = settings["speed"], settings["approach"]
    return Model(
        name="painleve-rod",
        gravity=(0.0, -settings["gravity"], 0.0),
        bodies=(Body("rod", mass=settings["mass"], shape=Rod(length)),),
        base=Base(
            "planar",
            attitude=AxisAngle("z", angle),
            velocity=(-along * c - down * s, along * s - down * c, 0.0),
            angular_velocity=(0.0, 0.0, settings["spin"]),
        ),
        contacts=(
            Contact(
                "ground",
                NormalLaw("hunt-crossley", settings["stiffness"], restitution=settings["restitution"]),
                Plane(normal=(0.0, 1.0, 0.0)),
                ("rod",),
                friction=Friction("coulomb", mu_k=settings["mu"]),
            ),
        ),
        crossings=(Crossing("stops", "rod.x.rate", value=-STOPPED * settings["speed"], direction="rising"),),
        outputs=(Output("ground_force", "ground", "contact"), Output("end", "rod", "velocity")),
        duration=settings["duration"],
    )


def chosen_figures(settings: dict[str, Any], result: Result) -> dict[str, float]:
    stops = [event.t for event in result.events if event.name == "stops"]
    found = {
        "normal_response": normal_response(settings),
        "free_acceleration": free_acceleration(settings),
        "peak_force": float(max((row["peak_normal"] for row in result.contacts), default=0.0)),
        "spin_end": float(result.v[-1, 2]),
    }
    if stops:
        found |= {"stop_time": stops[0], "spin_at_stop": float(result.at(np.array(stops[:1]))[1][0, 2])}
    return found


def summarise_run(result: Result) -> tuple[Finding, ...]:
    settings = _settings_of(result.model)
    text = f"At the start the contact is {regime(settings)}."
    if normal_response(settings) > 0.0:
        return (Finding("Painleve's paradox", text),)
    text += (
        f" A push of the ground accelerates the end into the ground (response {normal_response(settings):.3g}): the "
        "force grows by itself, the faster the stiffer the contact. Compare: --set study=stiffness."
    )
    is_open = free_acceleration(settings) > 0.0
    rows = (
        (
            "whether it jams",
            "no" if is_open else "yes",
            "speed into the ground and stiffness decide" if is_open else "",
        ),
        ("impulse and speeds after a jam", "yes", "they tend to those of an impact without collision"),
        ("peak force and duration", "no", "they are those of the stiffness alone"),
    )
    return (Finding("Painleve's paradox", text, ("of this run", "to be trusted", "why"), rows),)


def _settings_of(model: Model) -> dict[str, Any]:
    """What the run began with, from its model."""
    (body,), (contact,), base = model.bodies, model.contacts, model.base
    assert isinstance(body, Body)
    assert isinstance(body.shape, Rod)
    assert contact.friction is not None
    R = attitude_matrix(base.attitude)
    return {
        "length": body.shape.length, "angle": math.atan2(R[1, 0], R[0, 0]), "mu": contact.friction.mu_k,
        "spin": base.angular_velocity[2], "gravity": -model.gravity[1],
    }  # fmt: skip


def variants(settings: dict[str, Any]) -> dict[str, Variant]:
    if settings["study"] == "single":
        return {}
    return {label: Variant({**settings, "study": "single", "stiffness": K}) for label, K in STIFFNESSES.items()}


def compare_variants(settings: dict[str, Any], results: Mapping[str, Result]) -> tuple[Finding, ...]:
    rows = []
    for label, result in results.items():
        found = chosen_figures({**settings, "stiffness": STIFFNESSES[label]}, result)
        values = (found["peak_force"], 1e3 * found.get("stop_time", math.nan), found.get("spin_at_stop", math.nan))
        rows.append((f"{STIFFNESSES[label]:.0e}", *(f"{value:.5g}" for value in values)))
    limit = settings["spin"] + (1.0 - STOPPED) * (jam(settings)[1] - settings["spin"])
    text = (
        f"At the start the contact is {regime(settings)}. As the contact gets stiffer, the spin at which the end stops "
        f"tends to {limit:.5g} rad/s, that of an impact without collision; the force grows without bound and the time "
        "goes to zero: neither is a property of the rod."
    )
    columns = ("stiffness [N/m^1.5]", "peak force [N]", "end stops after [ms]", "spin then [rad/s]")
    return (Finding("Stiffness", text, columns, tuple(rows), numbers=(0, 1, 2, 3)),)


def panels(settings: dict[str, Any]) -> tuple[Panel, ...]:
    return (
        Panel("Speed of the lower end", "m/s", (("along", "end[0]"), ("up", "end[1]"))),
        Panel("Spin", "rad/s", (("rod", "rod.angle.rate"),)),
        Panel("Force of the ground", "N", (("normal", "ground_force[0]"), ("friction", "ground_force[1]"))),
    )


DEFAULTS = {key: setting.default for key, setting in SETTINGS.items()}
CASE = Case(
    name="painleve-rod",
    title="a rod slides where rigid bodies have no solution",
    source=SOURCE,
    settings=SETTINGS,
    build=build,
    figures=lambda result: {},
    chosen_figures=chosen_figures,
    figure_table={
        "normal_response": Figure("of the sliding end at the start; below 0: no trust in peak force and duration"),
        "free_acceleration": Figure("of the end without contact; above 0 as well: not in the outcome either", "m/s^2"),
        "peak_force": Figure("largest normal force: of the stiffness, not of the rod", "N"),
        "stop_time": Figure("when the end has stopped: of the stiffness, not of the rod", "s"),
        # a thousandth of the speed is left; in the millisecond that jamming takes the rod rotates by 1e-3 rad at most
        "spin_at_stop": Figure(
            "spin then", "rad/s", (1.0 - STOPPED) * jam(DEFAULTS)[1], 1e-3, "Routh: all at once, stiff contacts"
        ),
        "spin_end": Figure("spin at the end", "rad/s"),
    },
    panels=panels,
    run={"rtol": 1e-10},
    variants=variants,
    compare_variants=compare_variants,
    summarise_run=summarise_run,
)

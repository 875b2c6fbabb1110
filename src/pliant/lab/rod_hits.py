"""A rod, rigid or elastic, falls under an angle and hits the ground with its lower end: oblique hits with friction."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from pliant.cases.contact_settings import friction_law
from pliant.lab.bounce import elastic_time
from pliant.lab.experiment import Experiment, Outcome, Run
from pliant.lab.friction_groups import friction_groups
from pliant.model.bodies import Body, Rod
from pliant.model.contacts import Contact, NormalLaw, Plane
from pliant.model.flexible import Beam, Bending, Circle, Material
from pliant.model.friction_laws import FRICTION_LAWS
from pliant.model.model import Base, Model, Output
from pliant.report_types import Finding, Lines
from pliant.result import Result

SWEPT = tuple(range(10, 90, 3))  # angles of the charts [deg]
STOPPED_SPEED = 2e-3  # share of the speed of fall; a tip that slides no faster has stopped
LENGTHS = 30.0  # a run lasts so many times of elastic contact


def rod(settings: Mapping[str, Any], angle: float, law: str) -> Model:
    """A rod from its lower end (the origin) upwards at an angle to the ground [deg], not rotating at the start."""
    angle = math.radians(angle)
    length, radius, mass = settings["rod_length"], settings["rod_radius"], settings["mass"]
    if settings["modes"]:
        section = Circle(radius)
        material = Material(young=settings["rod_young"], density=mass / (math.pi * radius**2 * length), poisson=0.3)
        body: Any = Beam("rod", length, material, section, bending_y=Bending(settings["modes"], "ff"))
    else:
        body = Body("rod", mass, shape=Rod(length, radius))
    slide, fall, c, s = settings["slide"], -settings["speed"], math.cos(angle), math.sin(angle)
    normal = NormalLaw("exact", settings["stiffness"], settings["exponent"], restitution=settings["restitution"])
    return Model(
        "rod",
        (body,),
        base=Base(
            "planar",
            attitude=(0.0, 0.0, math.sin(angle / 2), math.cos(angle / 2)),
            velocity=(c * slide + s * fall, -s * slide + c * fall, 0.0),
        ),
        gravity=(0.0, -settings["gravity"], 0.0),
        contacts=(
            Contact(
                "ground",
                normal,
                Plane(normal=(0, 1, 0)),
                points=("rod",),
                friction=friction_law({**settings, "friction_law": law}),
            ),
        ),
        outputs=(Output("tip", "rod", "velocity"),),
    )


def angles(settings: Mapping[str, Any]) -> list[float]:
    """Of the charts and of the table [deg]."""
    return sorted({*SWEPT, *settings["angles"]})


def plan(settings: Mapping[str, Any]) -> dict[Any, Run]:
    time = LENGTHS * elastic_time(*(settings[key] for key in ("mass", "speed", "stiffness", "exponent")))
    laws = ("none", *settings["friction_laws"])
    return {(law, angle): Run(rod(settings, angle, law), time, measure) for law in laws for angle in angles(settings)}


def measure(result: Result) -> dict[str, Any]:
    """The first contact of the tip."""
    contact = result.contacts[0]
    t_end = result.t[-1] if math.isnan(contact.t_end) else float(contact.t_end)
    slide = result.outputs_at(np.linspace(contact.t_start, t_end, 1001))["tip"][:, 0]
    slide_in, slide_out = float(slide[0]), float(slide[-1])
    is_slow = np.abs(slide) < STOPPED_SPEED * contact.v_in
    if math.isnan(contact.t_end):
        fate = "stays on the ground"
    elif is_slow[-1] and not is_slow[0]:
        fate = "stops"
    elif np.mean(is_slow) > 0.02:
        fate = "stops, lets go"
    elif slide_in * slide_out < 0.0:
        fate = "reverses"
    else:
        fate = "slides on"
    return {
        "normal_in": float(contact.v_in),
        "normal_out": float(contact.v_out),
        "restitution": float(contact.restitution_delivered),
        "slide_in": slide_in,
        "slide_out": slide_out,
        "time": float(contact.t_end - contact.t_start),
        "peak": float(contact.peak_normal),
        "fate": fate,
        "contacts": len(result.contacts),
    }


def evaluate(settings: Mapping[str, Any], measured: dict[Any, Any]) -> tuple[Outcome, ...]:
    swept, tabled, laws = angles(settings), settings["angles"], ("none", *settings["friction_laws"])
    numbers = [{"friction": law, "angle": angle, **found} for (law, angle), found in measured.items()]
    rows = []
    for law in laws:
        cells = [law]
        for angle in tabled:
            found = measured[law, angle]
            delivered = "" if math.isnan(found["restitution"]) else f"{found['restitution']:.4f}"
            cells += [delivered, f"{found['slide_out']:.4f}", found["fate"]]
        rows.append(tuple(cells))

    def lines(key: str, members: list[str]) -> tuple[tuple[str, Any, Any], ...]:
        return tuple((law, swept, [measured[law, angle][key] for angle in swept]) for law in members)

    charts: list[Lines] = []
    for title, members in friction_groups(settings["friction_laws"]).items():
        shown = ["none", *members]
        charts += [
            Lines(f"Restitution of the tip, {title}", "", "angle to the ground", "deg", lines("restitution", shown)),
            Lines(f"Slide after the hit, {title}", "m/s", "angle to the ground", "deg", lines("slide_out", shown)),
        ]
    kind = f"elastic rod ({settings['modes']} bending modes)" if settings["modes"] else "rigid rod"
    text = (
        f"A {kind} of {settings['mass']:g} kg falls at {settings['speed']:g} m/s, sliding at {settings['slide']:g} m/s "
        "towards the side it leans to, and hits the ground with its lower end. The law is exact, with "
        f"e = {settings['restitution']:g}. {_verdict(settings, measured)} {_bristles(settings, measured)}"
    )  # fmt: skip
    columns = ["friction"]
    for angle in tabled:
        columns += [f"restitution at {angle:g} deg", "slide out [m/s]", "the tip"]
    numeric = [k for k in range(1, len(columns)) if k % 3]
    return (
        Outcome(
            Finding("Oblique hits of a rod", text, tuple(columns), tuple(rows), tuple(charts), tuple(numeric)), numbers
        ),
    )


def _verdict(settings: Mapping[str, Any], measured: dict[Any, Any]) -> str:
    """How far the restitution of the tip is from what is asked, and why."""
    error = {"none": 0.0, "some": 0.0}
    for (law, _), found in measured.items():
        key = "none" if law == "none" else "some"
        error[key] = max(error[key], abs(found["restitution"] - settings["restitution"]))
    words = (
        f"The tip misses e by up to {error['none']:.3f} without friction and by up to {error['some']:.3f} with "
        "friction, for friction rotates the rod too, and that moves the tip along the normal. "
        "Even without friction the slide changes: the push along the normal rotates a leaning rod."
    )
    if settings["modes"]:
        words += (
            " An elastic rod begins to vibrate in the hit: the tip may leave sooner, faster or slower than asked, and "
            "hit again (number of contacts: summary.json)."
        )
    return words


def _bristles(settings: Mapping[str, Any], measured: dict[Any, Any]) -> str:
    """Whether bristles have the way to bend."""
    bristled = [law for law in settings["friction_laws"] if FRICTION_LAWS[law].has_states()]
    hits = [found for (law, _), found in measured.items() if law in bristled and not math.isnan(found["time"])]
    if not hits:
        return ""
    way = max(abs(found["slide_in"]) * found["time"] for found in hits)
    needed = settings["mu_k"] * max(found["peak"] for found in hits) / settings["sigma0"]
    return (
        f"Bristles ({', '.join(bristled)}) bend by mu_k N/sigma0 before they slide, {1e3 * needed:.2g} mm at the "
        f"largest force; the tip slides about {1e3 * way:.2g} mm, "
        + ("so they hardly act." if needed > way else "so they have the way for it.")
    )


ROD_HITS = Experiment("rod", plan, evaluate)

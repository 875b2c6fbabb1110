"""A free link strikes a plane with its end: it slides, stops, sticks or slides back.

While they touch, the velocity v_t of the end along the plane changes with the impulse p of the normal force
[routh1905]: d(v_t)/dp = m12 - mu s m11 while it slides in direction s, until v_t = 0; then it sticks where
|m12| <= mu m11, and slides back where not. m11, m12, m22: inverse inertia of the end along the plane and the normal."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.cases.case import Case, Setting, Variant
from pliant.cases.contact_settings import CONTACT_SETTINGS, friction_law, normal_law, unused_keys
from pliant.cases.impact_charts import (
    COLUMNS,
    IMPACT_FIGURES,
    NUMBERS,
    Figures,
    Impact,
    compare_modes,
    force_chart,
    impact_row,
    missing_impacts,
    words_for_modes,
)
from pliant.model.bodies import Frame
from pliant.model.contacts import Contact, Plane
from pliant.model.flexible import Beam, Bending, Circle, Material
from pliant.model.model import Base, Model, Output
from pliant.report_types import Figure, Finding, Lines, Panel
from pliant.result import Result
from pliant.results.figures import Condition, extreme, grid, switches

SETTINGS = {
    "mass": Setting(1.0, "of the link", "kg", low=1e-9),
    "length": Setting(1.0, "of the link", "m", low=1e-6),
    "radius": Setting(0.01, "of its section, for bending", "m", low=1e-9),
    "young": Setting(2e11, "modulus of elasticity, for bending", "Pa", low=1.0),
    "modes": Setting(0, "of bending, both ends free; 0: a rigid link", low=0, high=12),
    "angle": Setting(math.radians(20), "of the link from the plane", "rad", low=0.0, high=math.pi),
    "normal_speed": Setting(1.0, "towards the plane", "m/s", low=1e-9),
    "tangential_speed": Setting(0.2, "along the plane, towards the side to which the link leans", "m/s"),
    "angular_speed": Setting(0.0, "of the link at the start", "rad/s"),
    "study": Setting(
        "none",
        "speeds: from resting to fast sliding; friction: from smooth to rough; modes: a link that bends, with more and "
        "more modes",
        choices=("none", "speeds", "friction", "modes"),
    ),
    **CONTACT_SETTINGS,
    "normal_law": replace(CONTACT_SETTINGS["normal_law"], default="lankarani-nikravesh"),
    "stiffness": replace(CONTACT_SETTINGS["stiffness"], default=1e8),
    "friction_law": replace(CONTACT_SETTINGS["friction_law"], default="coulomb"),
    "mu_k": replace(CONTACT_SETTINGS["mu_k"], default=0.3),
    "mu_s": replace(CONTACT_SETTINGS["mu_s"], default=0.35),
}


# --- model ------------------------------------------------------------------------------------------------------


def inverse_inertia(settings: Mapping[str, Any]) -> tuple[float, float, float]:
    """m11, m12, m22 of the end of a thin rigid link [1/kg]."""
    mass, c, s = settings["mass"], math.cos(settings["angle"]), math.sin(settings["angle"])
    return (1 + 3 * s * s) / mass, -3 * s * c / mass, (1 + 3 * c * c) / mass


def time_scale(settings: Mapping[str, Any]) -> float:
    """About how long they touch: of an elastic impact 3.2 (m / (K v^(n - 1)))^(1/(n + 1)) [s]."""
    n = settings["exponent"]
    resisting = settings["stiffness"] * settings["normal_speed"] ** (n - 1) * inverse_inertia(settings)[2]
    return float(3.3 * resisting ** (-1 / (n + 1)))


def build(settings: dict[str, Any]) -> Model:
    touching = time_scale(settings)
    angle = settings["angle"]
    c, s = math.cos(angle), math.sin(angle)
    # of the end, in axes of the link
    along, towards = settings["tangential_speed"], -settings["normal_speed"]
    velocity = (c * along + s * towards, c * towards - s * along, 0.0)
    return Model(
        name="one-link-collision",
        gravity=(0.0, 0.0, 0.0),
        bodies=(_link(settings),),
        base=Base(
            "planar",
            (0.0, 0.2 * touching * settings["normal_speed"], 0.0),
            attitude=(0.0, 0.0, math.sin(0.5 * angle), math.cos(0.5 * angle)),
            velocity=velocity,
            angular_velocity=(0.0, 0.0, settings["angular_speed"]),
        ),
        frames=(Frame("link", name="end"),),
        contacts=(
            Contact("plane", normal_law(settings), Plane(normal=(0.0, 1.0, 0.0)), ("end",), friction_law(settings)),
        ),
        outputs=(
            *(Output(f"end_{quantity}", "end", quantity) for quantity in ("position", "velocity", "acceleration")),
            Output("plane_force", "plane", "contact"),
            Output("gap", "plane", "gap"),
        ),
        duration=2.5 * touching,
    )  # fmt: skip


def _link(settings: dict[str, Any]) -> Beam:
    section, mass_per_length = Circle(settings["radius"]), settings["mass"] / settings["length"]
    density = mass_per_length / (math.pi * settings["radius"] ** 2)
    return Beam(
        "link",
        settings["length"],
        Material(settings["young"], density),
        section,
        bending_y=Bending(settings["modes"], "ff") if settings["modes"] else 0,
        theory="euler-bernoulli",
        rotary="none",
    )


# --- figures ----------------------------------------------------------------------------------------------------


def impact_of(result: Result) -> Impact:
    return Impact(result, "end_velocity", "end_acceleration", "plane_force")


def tangential_after(settings: Mapping[str, Any], impulse: float) -> float:
    """v_t of a rigid link after a normal impulse, by Routh; the friction law is Coulomb's (or there is none)."""
    m11, m12, _ = inverse_inertia(settings)
    mu = settings["mu_k"] if settings["friction_law"] != "none" else 0.0
    u: float = settings["tangential_speed"]
    rate = m12 - mu * math.copysign(m11, u)
    if u != 0.0:
        until = -u / rate if rate * u < 0 else math.inf
        if until >= impulse:
            return u + rate * impulse
        impulse -= until
    return (m12 - mu * math.copysign(m11, m12)) * impulse if abs(m12) > mu * m11 else 0.0


STOPPED = 1e-6  # of the normal speed: slower is at rest


def figures(result: Result) -> dict[str, float]:
    if not len(result.contacts):
        return {"contacts": 0.0}
    impact = impact_of(result)
    span = impact.start, impact.end
    t, slow = grid(result, span), STOPPED * result.contacts["v_in"][0]

    def sliding(t: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(result.outputs_at(t)["end_velocity"][:, 0])

    first, last = sliding(t[[0, -1]])
    stops = switches(t, lambda t: np.asarray((np.abs(sliding(t)) < slow) | (sliding(t) * first < 0.0)))
    is_stopped = abs(first) < slow
    return impact.figures() | {
        "penetration": extreme(result, lambda t: -result.outputs_at(t)["gap"][:, 0], span)[0],
        "tangential_speed_end": float(last),
        "slide_time": 0.0 if is_stopped else float(stops[0] if len(stops) else t[-1]) - impact.start,
        "stick_time": _time_of(t, lambda t: np.asarray(np.abs(sliding(t)) < slow)),
    }


def _time_of(t: NDArray[np.float64], holds_at: Condition) -> float:
    """How long a condition holds."""
    marks = np.concatenate([t[:1], switches(t, holds_at), t[-1:]])
    lengths, holds = np.diff(marks), holds_at(0.5 * (marks[:-1] + marks[1:]))
    return float(np.sum(lengths[holds]))


FIGURES = {
    **IMPACT_FIGURES,
    "normal_speed": Figure("speed into it, along the normal", "m/s", 1.0, 1e-12, "as set"),
    "tangential_speed": Figure("and along the plane", "m/s", 0.2, 1e-12, "as set"),
    "tangential_speed_end": Figure(
        "of the end along the plane, after it",
        "m/s",
        -0.20362,
        3e-3,
        "Routh's impulses on a link that does not turn meanwhile",
    ),
    "penetration": Figure("largest one", "m"),
    "slide_time": Figure("until sliding first stops", "s"),
    "stick_time": Figure("during which the end does not slide", "s"),
}


# --- report -----------------------------------------------------------------------------------------------------


def panels(settings: dict[str, Any]) -> tuple[Panel, ...]:
    if settings["study"] != "none":
        return ()
    made = [
        Panel("Gap", "m", (("gap", "gap"),)),
        Panel("Velocity of the end", "m/s", (("along", "end_velocity[0]"), ("normal", "end_velocity[1]"))),
        Panel(
            "Acceleration of the end", "m/s^2", (("along", "end_acceleration[0]"), ("normal", "end_acceleration[1]"))
        ),
        Panel("Force", "N", (("normal", "plane_force[0]"), ("friction", "plane_force[1]"))),
        Panel("Angular velocity", "rad/s", (("link", "link.angle.rate"),)),
    ]
    bending = tuple((f"mode {k + 1}", f"link.mode{k + 1}") for k in range(min(settings["modes"], 6)))
    return (*made, Panel("Modal weights", "m", bending)) if bending else tuple(made)


SPEEDS = (0.0, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)  # of the normal speed
COEFFICIENTS = (0.1, 0.3, 0.5, 0.7, 0.8, 1.0)
STUDIED = (0, 1, 2, 3, 4, 6, 8)  # modes


def variants(settings: dict[str, Any]) -> dict[str, Variant]:
    if settings["study"] == "modes":
        counts = dict.fromkeys((settings["modes"], *STUDIED))
        return {words_for_modes(count): Variant({**settings, "modes": count}) for count in counts}
    changes: dict[str, dict[str, Any]] = {}
    if settings["study"] == "speeds":
        changes = {f"{x:g} v_n": {"tangential_speed": x * settings["normal_speed"]} for x in SPEEDS}
    if settings["study"] == "friction":
        changes = {f"mu = {mu:g}": {"mu_k": mu, "mu_s": max(mu, settings["mu_s"])} for mu in COEFFICIENTS}
        changes = {"no friction": {"friction_law": "none"}} | changes
    return {label: Variant({**settings, **change}) for label, change in changes.items()}


def unused(settings: dict[str, Any]) -> Mapping[str, str]:
    own = {"speeds": ("tangential_speed",), "friction": ("mu_k",)}.get(settings["study"], ())
    rigid = ("radius", "young") if not settings["modes"] and settings["study"] != "modes" else ()
    return (
        unused_keys(settings)
        | {key: f"study = {settings['study']}, which has its own" for key in own}
        | dict.fromkeys(rigid, "modes = 0")
    )


def compare_variants(settings: dict[str, Any], results: Mapping[str, Result]) -> tuple[Finding, ...]:
    if missing := missing_impacts(results):
        return missing
    impacts = {label: impact_of(result) for label, result in results.items()}
    found = {label: figures(result) for label, result in results.items()}
    if settings["study"] == "modes":
        return (compare_modes(impacts, found),)
    cases = {label: variant.settings for label, variant in variants(settings).items()}
    return (_sliding(settings, cases, impacts, found),)


def _sliding(
    settings: dict[str, Any],
    cases: Mapping[str, dict[str, Any]],
    impacts: Mapping[str, Impact],
    found: Mapping[str, Figures],
) -> Finding:
    m11, m12, _ = inverse_inertia(settings)
    rows = []
    for label, own in found.items():
        routh = tangential_after(cases[label], own["impulse"])
        behaviour = _behaviour(own)
        rows.append((*impact_row(label, own), f"{own['tangential_speed_end']:.5f}", f"{routh:.5f}", behaviour))
    curves = []
    for label, impact in impacts.items():
        t = impact.times()
        curves.append((label, 1e3 * (t - impact.start), impact.result.outputs_at(t)["end_velocity"][:, 0]))
    text = (
        "The end slides until friction and the lean of the link have stopped it. Then it sticks where mu is above "
        f"|m12| / m11 = {abs(m12) / m11:.3f}, and slides back where it is below. Speeds afterwards are those of "
        "Routh's impulses on a rigid link, but for how far it turns while they act."
    )
    columns = ("", *COLUMNS, "v_t after [m/s]", "by Routh [m/s]", "the end")
    charts = (
        Lines("Impact: sliding velocity", "m/s", "time after the first touch", "ms", tuple(curves)),
        force_chart(impacts),
    )
    return Finding("Slide, stick, slide back", text, columns, tuple(rows), charts, (*NUMBERS, 8, 9))


def _behaviour(found: Figures) -> str:
    if found["stick_time"] > 0.01 * found["contact_time"]:
        return "sticks"
    if found["tangential_speed"] < STOPPED * found["normal_speed"]:
        return "starts to slide"
    return "slides back" if found["slide_time"] < found["contact_time"] else "slides on"


def summarise_run(result: Result) -> tuple[Finding, ...]:
    if not len(result.contacts):
        return (Finding("No impact", "The link has not reached the plane: let it fly longer."),)
    found = figures(result)
    text = (
        f"The end {_behaviour(found)}: it comes with {found['tangential_speed']:.4f} m/s along the plane and leaves "
        f"with {found['tangential_speed_end']:.4f} m/s. Slower and faster: --set study=speeds; rougher: --set "
        "study=friction; a link that bends: --set study=modes."
    )
    return (Finding("The impact", text, charts=impact_of(result).charts()),)


CASE = Case(
    name="one-link-collision",
    title="a free link strikes a plane with its end",
    source="Hertz's impact; Routh's impulses with friction",
    settings=SETTINGS,
    build=build,
    figures=figures,
    figure_table=FIGURES,
    panels=panels,
    run={"rtol": 1e-11, "atol": 1e-14},
    unused=unused,
    variants=variants,
    compare_variants=compare_variants,
    summarise_run=summarise_run,
)

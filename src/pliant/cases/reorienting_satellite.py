"""A satellite at rest turns itself by moving its two arms around a closed path, with no angular momentum at any time,
as a falling cat does [kane1969]."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.cases.case import Case, Setting
from pliant.model.bodies import Body, Box, Frame, Rod
from pliant.model.joints import Joint
from pliant.model.model import Base, Model, Output
from pliant.model.signals import Sine, Sum
from pliant.report_types import Figure, Panel
from pliant.result import Result

SOURCE = "Kane, Scher 1969, A dynamical explanation of the falling cat phenomenon; the angle by quadrature"
SETTINGS = {
    "hull_mass": Setting(10.0, "of the hull", "kg", low=1e-9),
    "hull_size": Setting(0.4, "edge of the square hull", "m", low=1e-6),
    "arm_mass": Setting(2.0, "of each arm", "kg", low=1e-9),
    "arm_length": Setting(0.6, "of each arm", "m", low=1e-6),
    "swing": Setting(1.0, "how far the arms go", "rad", low=-3.0, high=3.0),
    "cycle": Setting(2.0, "time of one way around", "s", low=1e-3),
    "cycles": Setting(3, "number of them", low=1, high=1000),
}


def build(settings: dict[str, Any]) -> Model:
    edge, length, swing = settings["hull_size"], settings["arm_length"], settings["swing"]
    w = 2.0 * math.pi / settings["cycle"]
    # both begin and end every way around at rest
    first = Sine(-swing, w, 0.5 * math.pi, swing)
    second = Sum((Sine(swing, w), Sine(-0.5 * swing, 2.0 * w)))
    return Model(
        name="reorienting-satellite",
        gravity=(0.0, 0.0, 0.0),
        bodies=(
            Body("hull", mass=settings["hull_mass"], shape=Box((edge, edge, edge))),
            Body("arm1", mass=settings["arm_mass"], shape=Rod(length)),
            Body("arm2", mass=settings["arm_mass"], shape=Rod(length)),
        ),
        base=Base("planar"),
        joints=(
            Joint("shoulder", "revolute", "arm1", parent=Frame("hull", (0.5 * edge, 0.0, 0.0)), motion=first),
            Joint("elbow", "revolute", "arm2", parent=Frame("arm1", (length, 0.0, 0.0)), motion=second),
        ),
        frames=(Frame("arm2", (length, 0.0, 0.0), name="tip"),),
        outputs=(Output("tip", "tip", "position"), Output("shoulder_torque", "shoulder", "drive")),
        duration=settings["cycle"] * settings["cycles"],
    )


def turned(settings: dict[str, Any], n: int = 512) -> float:
    """Angle of the hull after one way around [rad]: the integral of its rate, which zero angular momentum gives from
    the shape; by the trapezoidal rule, exact for what is periodic."""
    s = 2.0 * math.pi * np.arange(n) / n
    q1, q2 = settings["swing"] * (1.0 - np.cos(s)), settings["swing"] * (np.sin(s) - 0.5 * np.sin(2.0 * s))
    d1, d2 = settings["swing"] * np.sin(s), settings["swing"] * (np.cos(s) - np.cos(2.0 * s))
    shares = _angular_momentum(settings, q1, q2)
    return float(-np.mean((shares[1] * d1 + shares[2] * d2) / shares[0]) * 2.0 * math.pi)


def _angular_momentum(settings: dict[str, Any], q1: Any, q2: Any) -> list[NDArray[np.float64]]:
    """About the mass centre, per rate of hull, shoulder and elbow, in hull axes: places and velocities as complex
    numbers."""
    edge, length = settings["hull_size"], settings["arm_length"]
    masses = np.array([settings["hull_mass"], settings["arm_mass"], settings["arm_mass"]])
    inertia = [settings["hull_mass"] * edge**2 / 6.0, *([settings["arm_mass"] * length**2 / 12.0] * 2)]
    one, two = length * np.exp(1j * q1), length * np.exp(1j * (q1 + q2))
    pivots = [0.0 * one, 0.5 * edge + 0.0 * one, 0.5 * edge + one]
    places = [0.0 * one, 0.5 * edge + 0.5 * one, 0.5 * edge + one + 0.5 * two]
    found = []
    for k, pivot in enumerate(pivots):
        velocities = [1j * (place - pivot) if body >= k else 0.0 * one for body, place in enumerate(places)]
        mean = sum(m * v for m, v in zip(masses, velocities, strict=True)) / masses.sum()
        moments = [m * np.imag(np.conj(p) * (v - mean)) for m, p, v in zip(masses, places, velocities, strict=True)]
        found.append(sum(moments) + sum(inertia[k:]))
    return found


def chosen_figures(settings: dict[str, Any], result: Result) -> dict[str, float]:
    exact = settings["cycles"] * turned(settings)
    angle = result.q[:, 2]
    return {
        "hull_angle_end": float(angle[-1]),
        "hull_angle_exact": exact,
        "angle_error": float(angle[-1] - exact),
        "hull_angle_most": float(np.max(np.abs(angle))),
        "hull_rate_end": float(result.v[-1, 2]),
    }


def panels(settings: dict[str, Any]) -> tuple[Panel, ...]:
    return (
        Panel("Angle of the hull", "rad", (("hull", "hull.angle"),)),
        Panel("Angles of the arms", "rad", (("shoulder", "shoulder"), ("elbow", "elbow"))),
        Panel("Torque of the shoulder", "N m", (("drive", "shoulder_torque[0]"),)),
        Panel("Tip", "m", (("x", "tip[0]"), ("y", "tip[1]"))),
    )


DEFAULTS = {key: setting.default for key, setting in SETTINGS.items()}
WHOLE = DEFAULTS["cycles"] * turned(DEFAULTS)
CASE = Case(
    name="reorienting-satellite",
    title="a satellite turns by moving its arms, like a falling cat",
    source=SOURCE,
    settings=SETTINGS,
    build=build,
    figures=lambda result: {},
    chosen_figures=chosen_figures,
    figure_table={
        # the run's own tolerance, over three ways around
        "hull_angle_end": Figure("angle of the hull at the end", "rad", WHOLE, 1e-9, "quadrature over the shapes"),
        "hull_angle_exact": Figure("by quadrature over the shapes", "rad"),
        "angle_error": Figure("difference of the two", "rad", 0.0, 1e-9, "quadrature over the shapes"),
        "hull_angle_most": Figure("largest angle of the hull at accepted steps", "rad"),
        "hull_rate_end": Figure("rate of the hull at the end", "rad/s", 0.0, 1e-9, "no angular momentum"),
    },
    panels=panels,
    run={"rtol": 1e-11},
)

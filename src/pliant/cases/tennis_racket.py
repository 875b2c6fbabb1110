"""A body that spins freely about its middle axis turns over again and again (Dzhanibekov's effect): Euler's equations
by Jacobi's elliptic functions [landau1976]."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.cases.case import Case, Setting
from pliant.cases.elliptic import amplitude, incomplete, quarter_period
from pliant.errors import ModelError
from pliant.model.bodies import Body, Box
from pliant.model.model import Base, Crossing, Model, Output
from pliant.report_types import Figure, Panel
from pliant.result import Result

SOURCE = "closed form; Landau, Lifshitz 1976, Mechanics, section 37: the asymmetrical top"
SETTINGS = {
    "I1": Setting(1.0, "least moment of inertia, about x", "kg m^2", low=1e-12),
    "I2": Setting(2.0, "middle moment of inertia, about y", "kg m^2", low=1e-12),
    "I3": Setting(2.8, "largest moment of inertia, about z", "kg m^2", low=1e-12),
    "mass": Setting(1.0, "of the body", "kg", low=1e-9),
    "w1": Setting(0.0, "angular velocity about x at the start", "rad/s"),
    "w2": Setting(5.0, "angular velocity about y at the start", "rad/s"),
    "w3": Setting(0.01, "angular velocity about z at the start", "rad/s"),
    "duration": Setting(20.0, "of the motion", "s", low=1e-9),
}


def _constants(inertia: Any, w: Any) -> tuple[tuple[int, int, int], float, tuple[float, float, float], float, float]:
    """Order of the axes so that the last never changes its sign, its sense, amplitudes, 1 - m and rate of the argument.

    2 E I3 - L^2 and the like as sums, so that no digits cancel beside the separatrix."""
    order = (0, 1, 2)
    excess = inertia[2] * (inertia[2] - inertia[1]) * w[2] ** 2 - inertia[0] * (inertia[1] - inertia[0]) * w[0] ** 2
    if excess < 0.0:
        order = (2, 1, 0)
    I1, I2, I3 = (inertia[k] for k in order)
    w1, w2, w3 = (w[k] for k in order)
    small = I1 * (I3 - I1) * w1**2 + I2 * (I3 - I2) * w2**2  # 2 E I3 - L^2
    large = I2 * (I2 - I1) * w2**2 + I3 * (I3 - I1) * w3**2  # L^2 - 2 E I1
    between = I3 * (I3 - I2) * w3**2 - I1 * (I2 - I1) * w1**2  # L^2 - 2 E I2
    sizes = (
        math.sqrt(max(small / (I1 * (I3 - I1)), 0.0)),
        math.sqrt(max(small / (I2 * (I3 - I2)), 0.0)),
        math.copysign(math.sqrt(max(large / (I3 * (I3 - I1)), 0.0)), w3),
    )
    m1 = (I3 - I1) * between / ((I3 - I2) * large) if large else 1.0
    rate = math.sqrt(max((I3 - I2) * large / (I1 * I2 * I3), 0.0))
    return order, math.copysign(1.0, w3), sizes, m1, rate


def euler_motion(inertia: Any, w: Any, t: Any) -> NDArray[np.float64]:
    """Angular velocity in body axes at the times t, rows."""
    order, sense, sizes, m1, rate = _constants(inertia, w)
    t = np.asarray(t, float)
    start = math.atan2(w[1] * sizes[0], w[order[0]] * sizes[1])
    phase = amplitude(sense * rate * t + incomplete(start, m1), m1)
    found = np.empty((*t.shape, 3))
    found[..., order[0]] = sizes[0] * np.cos(phase)
    found[..., 1] = sizes[1] * np.sin(phase)
    found[..., order[2]] = sizes[2] * np.sqrt(m1 + (1.0 - m1) * np.cos(phase) ** 2)
    return found


def flip_time(inertia: Any, w: Any) -> float:
    """From one turning over to the next."""
    *_, m1, rate = _constants(inertia, w)
    return 2.0 * quarter_period(m1) / rate


def build(settings: dict[str, Any]) -> Model:
    I1, I2, I3 = inertia = _inertia(settings)
    if not I1 < I2 < I3:
        raise ModelError(f"I2: {I2:g} kg m^2 is not between I1 {I1:g} and I3 {I3:g}; give I1 < I2 < I3")
    # a box with these moments
    edges = [6.0 * (sum(inertia) - 2.0 * each) / settings["mass"] for each in inertia]
    if min(edges) < 0.0:
        raise ModelError(f"I3: {I3:g} kg m^2 is more than I1 + I2 = {I1 + I2:g}, as of no body; give at most that")
    x, y, z = (max(math.sqrt(edge), 1e-3 * math.sqrt(max(edges))) for edge in edges)
    return Model(
        name="tennis-racket",
        gravity=(0.0, 0.0, 0.0),
        bodies=(Body("racket", mass=settings["mass"], inertia=inertia, com=(0.0, 0.0, 0.0), shape=Box((x, y, z))),),
        base=Base("floating", angular_velocity=_start(settings)),
        crossings=(Crossing("flip", "racket.wy.rate"),),
        outputs=(Output("angular_velocity", "racket", "angular_velocity"),),
        duration=settings["duration"],
    )


def _inertia(settings: dict[str, Any]) -> tuple[float, float, float]:
    return settings["I1"], settings["I2"], settings["I3"]


def _start(settings: dict[str, Any]) -> tuple[float, float, float]:
    return settings["w1"], settings["w2"], settings["w3"]


def chosen_figures(settings: dict[str, Any], result: Result) -> dict[str, float]:
    inertia, start = _inertia(settings), _start(settings)
    w = result.v[:, 3:6]
    momentum = np.linalg.norm(w * inertia, axis=1)
    flips = [event.t for event in result.events]
    found = {
        "flips": float(len(flips)),
        "velocity_error": float(np.max(np.abs(w - euler_motion(inertia, start, result.t)))),
        "momentum_drift": float(np.max(np.abs(momentum - momentum[0]))),
    }
    if len(flips) > 1:
        found["first_flip"] = flips[0]
        found["flip_time"] = (flips[-1] - flips[0]) / (len(flips) - 1)
    return found


def panels(settings: dict[str, Any]) -> tuple[Panel, ...]:
    body = tuple((axis, f"racket.w{axis}.rate") for axis in "xyz")
    world = tuple((axis, f"angular_velocity[{k}]") for k, axis in enumerate("xyz"))
    return (
        Panel("Angular velocity, body axes", "rad/s", body),
        Panel("Angular velocity, world axes", "rad/s", world),
        Panel("Attitude", "", tuple((f"q{axis}", f"racket.q{axis}") for axis in "xyzw")),
    )


INERTIA, START = (1.0, 2.0, 2.8), (0.0, 5.0, 0.01)
FLIP = flip_time(INERTIA, START)
CASE = Case(
    name="tennis-racket",
    title="a free body that spins about its middle axis turns over",
    source=SOURCE,
    settings=SETTINGS,
    build=build,
    figures=lambda result: {},
    chosen_figures=chosen_figures,
    figure_table={
        "flips": Figure("how often it turned over", "", math.floor(20.0 / FLIP + 0.5), 0.0, "2 K / rate"),
        # beside the unstable axis errors grow 500 times from one turning over to the next
        "first_flip": Figure("when it first turned over", "s", 0.5 * FLIP, 1e-8, "K / rate"),
        "flip_time": Figure("from one to the next", "s", FLIP, 1e-8, "2 K / rate"),
        "velocity_error": Figure(
            "angular velocity against the closed form at accepted steps", "rad/s", 0.0, 1e-6, "cn, sn, dn"
        ),
        "momentum_drift": Figure("change of the angular momentum", "kg m^2/s", 0.0, 1e-9, "it is conserved"),
    },
    panels=panels,
    run={"rtol": 1e-12},
)

"""A boom on a hub that spins up: without shortening by bending it diverges, with it centrifugal forces stiffen it
[simo1987]."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.cases.case import Case, Setting, Variant
from pliant.errors import ModelError, SimulationError
from pliant.model.bodies import Frame
from pliant.model.flexible import COUPLINGS, NO_SHAPES, Beam, Bending, GivenSection, Material
from pliant.model.joints import Joint
from pliant.model.model import Model, Output
from pliant.model.signals import SpeedChange
from pliant.report_types import Figure, Finding, Lines, Panel
from pliant.result import Result
from pliant.results.figures import extreme

SOURCE = "Simo and Vu-Quoc 1987: spin-up"
ACCELERATED = 15.0  # [s]: the hub gets its speed in this time
SETTINGS = {
    "density": Setting(3000.0, "of the boom", "kg/m^3", low=1e-6),
    "E": Setting(7e10, "modulus of elasticity", "Pa", low=1.0),
    "A": Setting(4e-4, "area of the section", "m^2", low=1e-12),
    "I": Setting(2e-7, "second moment of the section", "m^4", low=1e-18),
    "length": Setting(10.0, "of the boom", "m", low=1e-6),
    "speed": Setting(6.0, "of the hub in the end", "rad/s"),
    "acceleration_time": Setting(ACCELERATED, "until the hub has it, smoothly", "s", low=1e-6),
    "duration": Setting(20.0, "of the motion", "s", low=1e-6),
    "coupling": Setting(
        "high-order",
        "of bending and axial motion; all: the four side by side",
        choices=(*COUPLINGS, "all"),
    ),
    "bending_modes": Setting(4, "number of them", low=1, high=40),
    "stretch_modes": Setting(2, "number of them", low=0, high=40),
    "family": Setting("modes", "of bending: clamped-free modes, or polynomials", choices=("modes", "polynomials")),
    "rotary": Setting("none", "inertia of the sections", choices=("none", "frame", "section")),
}


# --- model ------------------------------------------------------------------------------------------------------


def build(settings: dict[str, Any]) -> Model:
    coupling: Any = "high-order" if settings["coupling"] == "all" else settings["coupling"]
    length, end = settings["length"], settings["duration"]
    boom = Beam(
        "boom",
        length,
        Material(settings["E"], settings["density"]),
        GivenSection(settings["A"], settings["I"], settings["I"]),
        bending_y=Bending(settings["bending_modes"], family=settings["family"]),
        stretch=settings["stretch_modes"],
        theory="euler-bernoulli",
        rotary=settings["rotary"],
        coupling=coupling,
    )
    motion = SpeedChange(0.0, settings["acceleration_time"], after=settings["speed"])
    return Model(
        name="spin-up",
        gravity=(0.0, 0.0, 0.0),
        bodies=(boom,),
        joints=(Joint("hub", "revolute", "boom", motion=motion),),
        frames=(Frame("boom", (length, 0.0, 0.0), name="tip"),),
        outputs=(Output("tip", "tip", "position"), Output("hub_torque", "hub", "drive")),
        duration=end,
    )


# --- figures ----------------------------------------------------------------------------------------------------


def tip_deflection(result: Result, t: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of the tip from the hub's axis, across and along the boom [m]."""
    angle, place = result.at(t)[0][:, 0], result.outputs_at(t)["tip"]
    length = result.model.beams[0].length
    along = np.cos(angle) * place[:, 0] + np.sin(angle) * place[:, 1]
    return np.cos(angle) * place[:, 1] - np.sin(angle) * place[:, 0], along - length


def figures(result: Result) -> dict[str, float]:
    if result.dense is None:
        return {}
    low, when = _lowest(result)
    found = {"tip_deflection_min": low, "tip_deflection_min_time": when}
    found["tip_deflection_end"], found["tip_shift_end"] = (float(x[0]) for x in tip_deflection(result, result.t[-1:]))
    stretch = result.model.beams[0].families[2]
    # of sin((2j - 1) pi x / 2 L) at the tip, without shortening by bending
    signs = (-1.0) ** np.arange(stretch)
    found["tip_stretch_end"] = float(signs @ result.q[-1, len(result.q[-1]) - stretch :]) if stretch else 0.0
    return found | _divergence(result) | lag_frequencies(result)


def _divergence(result: Result) -> dict[str, float]:
    """When the tip is first as far from the hub's axis as the boom is long."""
    length = result.model.beams[0].length
    t = np.union1d(result.t, np.linspace(result.t[0], result.t[-1], 4001))
    far = np.flatnonzero(np.abs(tip_deflection(result, t)[0]) >= length)
    if not len(far) or far[0] == 0:
        return {"divergence_time": 0.0}
    before, after = t[far[0] - 1], t[far[0]]
    for _ in range(50):
        middle = 0.5 * (before + after)
        is_far = abs(tip_deflection(result, np.array([middle]))[0][0]) >= length
        before, after = (before, middle) if is_far else (middle, after)
    return {"divergence_time": float(after)}


def _lowest(result: Result) -> tuple[float, float]:
    """Least deflection of the tip, and when."""
    value, when = extreme(result, lambda t: -tip_deflection(result, t)[0])
    return -value, when


def lag_frequencies(result: Result) -> dict[str, float]:
    """Of small bending vibrations in the plane of rotation at the final speed, relative to the hub, stretch held; none
    where it diverges."""
    from pliant.linear.modes import modes  # loads the kernels: listing the cases does without

    boom, hub = result.model.beams[0], result.model.joints[0]
    bending = replace(result.model, bodies=(replace(boom, stretch=NO_SHAPES),))
    motion: Any = hub.motion
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = modes(bending, t=motion.end + 1.0)
    except (ModelError, SimulationError):
        return {}
    if not found.is_stable:
        return {}
    return {f"lag_frequency_{k + 1}": float(w) for k, w in enumerate(found.frequencies[:2])}


# --- report -----------------------------------------------------------------------------------------------------


def panels(settings: dict[str, Any]) -> tuple[Panel, ...]:
    bending = range(1, min(settings["bending_modes"], 6) + 1)
    stretch = range(settings["bending_modes"] + 1, settings["bending_modes"] + settings["stretch_modes"] + 1)
    made = [
        Panel("Speed of the hub", "rad/s", (("hub", "hub.rate"),)),
        Panel("Bending coordinates", "m", tuple((f"mode {k}", f"boom.mode{k}") for k in bending)),
        Panel("Stretch coordinates", "m", tuple((f"mode {k}", f"boom.mode{k}") for k in stretch)),
        Panel("Torque of the hub", "N m", (("hub", "hub_torque"),)),
    ]
    return tuple(panel for panel in made if panel.curves)


def tip_chart(results: Mapping[str, Result]) -> Lines:
    curves = []
    for label, result in results.items():
        t = np.linspace(result.t[0], result.t[-1], 1001)
        curves.append((label, t, tip_deflection(result, t)[0]))
    return Lines("Deflection of the tip, seen from the hub", "m", "time", "s", tuple(curves))


def summarise_run(result: Result) -> tuple[Finding, ...]:
    if result.dense is None:
        return ()
    text = (
        "While the hub gains speed the boom lags behind; at constant speed it swings about the straight line. With "
        "linear coupling nothing stands against the centrifugal force: above the first natural frequency of the boom "
        "at rest it diverges. Compare: --set coupling=all."
    )
    return (Finding("Tip", text, charts=(tip_chart({result.model.beams[0].coupling: result}),)),)


def variants(settings: dict[str, Any]) -> dict[str, Variant]:
    if settings["coupling"] != "all":
        return {}
    return {name: Variant({**settings, "coupling": name}, may_fail=name == "linear") for name in COUPLINGS}


def compare_variants(settings: dict[str, Any], results: Mapping[str, Result]) -> tuple[Finding, ...]:
    rows = []
    for name, result in results.items():
        low, when = _lowest(result)
        rows.append((name, f"{low:.6f}", f"{when:.4f}", f"{result.t[-1]:.4g}", result.reason))
    text = (
        "The same spin-up with four couplings of bending and axial motion. Linear: the boom grows longer as it bends "
        "and diverges. Stiffened: a geometric stiffness of first order. High-order: the axis keeps its length to the "
        "second order of the slopes. Fourth-order: its length and its curvature to the fourth, close to a "
        "geometrically exact beam."
    )
    columns = ("coupling", "lowest tip deflection [m]", "at [s]", "until [s]", "end")
    shown = {name: result for name, result in results.items() if name != "linear"}
    return (Finding("Couplings", text, columns, tuple(rows), (tip_chart(shown),)),)


CASE = Case(
    name="spin-up",
    title="a flexible boom on a hub that spins up",
    source=SOURCE,
    settings=SETTINGS,
    build=build,
    figures=figures,
    figure_table={
        "tip_deflection_min": Figure(
            "lowest deflection of the tip, seen from the hub", "m", -0.575838, 1e-5, f"{SOURCE}; our own figure"
        ),
        "tip_deflection_min_time": Figure("when", "s", 6.76922, 1e-3, f"{SOURCE}; our own figure"),
        "divergence_time": Figure("when the deflection of the tip is the length of the boom; 0: never", "s"),
        "tip_deflection_end": Figure("deflection of the tip at the end", "m"),
        "tip_shift_end": Figure("of the tip along the boom at the end, stretch and shortening", "m"),
        "tip_stretch_end": Figure("stretch of the boom at the end", "m", 5.1429e-4, 5.2e-6, "rho A W^2 L^3 / 3 E A"),
        "lag_frequency_1": Figure(
            "first bending frequency in the plane at full speed, stretch held", "rad/s", 4.5139, 1e-4, SOURCE
        ),
        "lag_frequency_2": Figure("second", "rad/s", 27.638, 1e-3, SOURCE),
    },
    panels=panels,
    run={"rtol": 1e-9},
    variants=variants,
    compare_variants=compare_variants,
    summarise_run=summarise_run,
)

"""A flexible arm with a payload turns by an angle under a servo: how much its tip shakes afterwards, with and without
input shaping, and how that depends on the payload."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.cases.case import Case, Setting, Variant
from pliant.errors import ModelError
from pliant.linear.modes import modes
from pliant.model.bodies import Body, Frame
from pliant.model.control import Controller
from pliant.model.control_laws import PD
from pliant.model.flexible import Beam, Bending, Damping, Material, Rectangle
from pliant.model.input_shaping import InputShaper, input_shaper
from pliant.model.joints import Joint
from pliant.model.model import Model, Output
from pliant.model.signals import Cycloid
from pliant.report_types import Figure, Finding, Lines, Panel
from pliant.result import Result
from pliant.results.figures import extreme, grid, last_entry

SHAPERS = ("none", "zv", "zvd", "ei")
SOURCE = "input shaping: Singer and Seering 1990; Singhose, Seering and Singer 1994"
BAND = 0.01  # of the arc that the tip covers: nearer than this to its goal it counts as settled
STUDIED = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0)  # of the payload the shapers are made for
SETTINGS = {
    "shaping": Setting(
        "none",
        "of the reference; all: every kind side by side; study: every kind over payloads",
        choices=(*SHAPERS, "all", "study"),
    ),
    "payload": Setting(0.2, "mass at the tip", "kg", low=1e-6),
    "design_payload": Setting(0.2, "mass at the tip for which the shaper is made", "kg", low=1e-6),
    "tolerance": Setting(0.05, "of ei: share of the vibration left at the design frequency", low=1e-6, high=0.5),
    "angle": Setting(0.25, "by which the arm turns", "rad"),
    "slew_time": Setting(0.4, "of the turn without shaping", "s", low=1e-3),
    "length": Setting(1.0, "of the arm", "m", low=1e-3),
    "thickness": Setting(0.006, "of the arm in the direction in which it bends", "m", low=1e-6),
    "height": Setting(0.04, "of the arm across", "m", low=1e-6),
    "young": Setting(7.0e10, "Young's modulus", "Pa", low=1.0),
    "density": Setting(2700.0, "of the arm", "kg/m^3", low=1e-6),
    "modes": Setting(3, "of bending", low=1, high=12),
    "damping_ratio": Setting(0.005, "of every mode of the bare arm", low=0.0, high=0.5),
    "hub_inertia": Setting(0.05, "of the motor at the joint", "kg m^2", low=0.0),
    "stiffness": Setting(400.0, "of the servo", "N m/rad", low=1e-6),
    "damping": Setting(20.0, "of the servo", "N m s/rad", low=0.0),
    "period": Setting(0.001, "of the servo", "s", low=1e-6),
    "delay": Setting(0.001, "of the servo", "s", low=0.0),
    "torque_limit": Setting(1000.0, "largest torque of the motor", "N m", low=1e-6),
}  # fmt: skip


def _arm(settings: dict[str, Any], payload: float) -> Model:
    """The arm without its servo."""
    length = settings["length"]
    section = Rectangle(width=settings["thickness"], height=settings["height"])
    return Model(
        name="slew",
        gravity=(0.0, 0.0, 0.0),
        bodies=(
            Beam(
                "arm",
                length,
                Material(young=settings["young"], density=settings["density"]),
                section,
                bending_y=Bending(modes=settings["modes"], tip_mass=payload),
                damping=Damping(ratio=settings["damping_ratio"]),
            ),
            Body("payload", mass=payload),
        ),
        joints=(
            Joint("hub", "revolute", "arm", armature=settings["hub_inertia"]),
            Joint("grip", "fixed", "payload", parent=Frame("arm", (length, 0.0, 0.0))),
        ),
        frames=(Frame("arm", (length, 0.0, 0.0), name="tip"),),
        outputs=(Output("tip", "tip", "position"), Output("torque", "hub", "motor")),
        duration=settings["slew_time"] + 4.0,
    )


def shaper(settings: dict[str, Any]) -> InputShaper | None:
    """For the lowest frequency of the arm under its servo."""
    if settings["shaping"] not in SHAPERS[1:]:
        return None
    found = modes(replace(_arm(settings, settings["design_payload"]), controllers=(_servo(settings, 0.0),)))
    if not found.is_stable:
        k = int(np.argmin(found.damping_ratios))
        raise ModelError(
            f"slew: under its servo the arm shakes by itself, ever more, at {found.hertz[k]:.3g} Hz; give less "
            "stiffness and damping, or a shorter period and delay"
        )
    # a servo with much damping has modes of its own that do not swing
    swinging = np.flatnonzero(found.damping_ratios < 1.0)
    if not len(swinging):
        raise ModelError(
            "slew: under its servo the arm does not vibrate, so there is nothing to shape; give less damping"
        )
    k = int(swinging[0])
    frequency, damping = float(found.frequencies[k]), float(found.damping_ratios[k])
    return input_shaper(settings["shaping"], frequency, damping, settings["tolerance"])


def build(settings: dict[str, Any]) -> Model:
    reference: Any = Cycloid(0.0, settings["slew_time"], after=settings["angle"])
    chosen = shaper(settings)
    servo = _servo(settings, reference if chosen is None else chosen.shaped(reference))
    return replace(_arm(settings, settings["payload"]), controllers=(servo,))


def _servo(settings: dict[str, Any], reference: Any) -> Controller:
    law = PD(settings["stiffness"], settings["damping"], reference)
    limit = settings["torque_limit"]
    return Controller("servo", settings["period"], ("hub",), law=law, delay=settings["delay"], limit=limit)


# --- figures ------------------------------------------------------------------------------------------------------


def _cycloids(signal: Any) -> list[Cycloid]:
    """All parts of the reference."""
    if isinstance(signal, Cycloid):
        return [signal]
    parts = getattr(signal, "terms", ()) or getattr(signal, "factors", ())
    return [found for part in parts for found in _cycloids(part)]


def tip_error(result: Result, t: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far the tip is from its goal, along its arc [m]; turns are those of the hub."""
    length, angle = result.model.frames[0].position[0], _cycloids(_reference(result))[0].after
    tip, hub = result.outputs_at(t)["tip"], result.at(t)[0][:, 0]
    found = np.arctan2(tip[:, 1], tip[:, 0])
    found += 2.0 * np.pi * np.round((hub - found) / (2.0 * np.pi))
    return np.asarray(length * (found - angle))


def _reference(result: Result) -> Any:
    law = result.model.controllers[0].law
    assert law is not None
    return law.reference


def figures(result: Result) -> dict[str, float]:
    parts = _cycloids(_reference(result))
    end = max(part.end for part in parts)
    band = BAND * result.model.frames[0].position[0] * abs(parts[0].after)
    last = float(result.t[-1])

    def error(t: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.abs(tip_error(result, t))

    return {
        "reference_end": end,
        "residual_vibration": extreme(result, error, (end, last))[0] if end < last else 0.0,
        "settling_time": last_entry(grid(result), lambda t: error(t) <= band),
        "peak_torque": float(np.max(np.abs(result.outputs["torque"]))),
        "peak_bending": extreme(result, lambda t: np.abs(result.at(t)[0][:, 1]))[0],
        "motor_work": float(result.energy["work_motor"][-1]),
    }


POINTS = 1000  # at which the tip is looked at
FIGURES = {
    "reference_end": Figure("when the reference has arrived", "s"),
    "residual_vibration": Figure("largest distance of the tip from its goal after that, along its arc", "m"),
    "settling_time": Figure(f"from when on the tip stays within {BAND:.0%} of its arc", "s"),
    "peak_torque": Figure("largest torque of the motor", "N m"),
    "peak_bending": Figure("largest amplitude of the first mode", "m"),
    "motor_work": Figure("work of the motor", "J"),
}


def panels(settings: dict[str, Any]) -> tuple[Panel, ...]:
    return (
        Panel("Angle of the hub", "rad", (("hub", "hub"),)),
        Panel("Bending", "m", tuple((f"mode {k + 1}", f"arm.mode{k + 1}") for k in range(settings["modes"]))),
        Panel("Torque of the motor", "N m", (("motor", "torque[0]"),)),
        Panel("Path of the tip", "m", (("x", "tip[0]"), ("y", "tip[1]"))),
    )


# --- several runs -------------------------------------------------------------------------------------------------


def variants(settings: dict[str, Any]) -> dict[str, Variant]:
    """Every kind of shaping; in the study over payloads."""
    if settings["shaping"] == "all":
        return {kind: Variant({**settings, "shaping": kind}) for kind in SHAPERS}
    if settings["shaping"] != "study":
        return {}
    masses = [share * settings["design_payload"] for share in STUDIED]
    return {
        f"{kind} {mass:.4g} kg": Variant({**settings, "shaping": kind, "payload": mass})
        for kind in SHAPERS
        for mass in masses
    }


def unused(settings: dict[str, Any]) -> dict[str, str]:
    if settings["shaping"] == "none":
        return {key: "shaping = none, which has no shaper" for key in ("design_payload", "tolerance")}
    if settings["shaping"] in ("zv", "zvd"):
        return {"tolerance": f"shaping = {settings['shaping']}, which has none"}
    return {"payload": "shaping = study, which has its own"} if settings["shaping"] == "study" else {}


def compare_variants(settings: dict[str, Any], results: Mapping[str, Result]) -> tuple[Finding, ...]:
    found = {label: figures(result) for label, result in results.items()}
    return (_over_payloads if settings["shaping"] == "study" else _side_by_side)(settings, results, found)


def _side_by_side(
    settings: dict[str, Any], results: Mapping[str, Result], found: Mapping[str, dict[str, float]]
) -> tuple[Finding, ...]:
    bare = found["none"]["residual_vibration"]
    rows = tuple(
        (
            kind,
            f"{one['reference_end']:.3f}",
            f"{1e3 * one['residual_vibration']:.3f}",
            f"{one['residual_vibration'] / bare:.1%}",
            f"{one['settling_time']:.3f}",
            f"{one['peak_torque']:.2f}",
        )
        for kind, one in found.items()
    )
    curves = []
    for kind, result in results.items():
        t = np.linspace(0.0, result.t[-1], POINTS)
        curves.append((kind, t, 1e3 * tip_error(result, t)))
    best = min(SHAPERS[1:], key=lambda kind: found[kind]["settling_time"])
    text = (
        f"Without shaping the tip is up to {1e3 * bare:.1f} mm off after the turn. It settles first with {best}: after "
        f"{found[best]['settling_time']:.2f} s, without shaping after {found['none']['settling_time']:.2f} s."
    )
    columns = ("shaping", "reference ends [s]", "vibration [mm]", "of that without", "settled [s]", "torque [N m]")
    chart = Lines("Distance of the tip from its goal", "mm", "time", "s", tuple(curves))
    named = {f"{kind}_vibration_left": one["residual_vibration"] / bare for kind, one in found.items()}
    return (Finding("What shaping is worth", text, columns, rows, (chart,), (1, 2, 3, 4, 5), named),)


def _over_payloads(
    settings: dict[str, Any], results: Mapping[str, Result], found: Mapping[str, dict[str, float]]
) -> tuple[Finding, ...]:
    masses = [share * settings["design_payload"] for share in STUDIED]
    left = {
        kind: np.array([found[f"{kind} {mass:.4g} kg"]["residual_vibration"] for mass in masses]) for kind in SHAPERS
    }
    rows = tuple((f"{mass:.4g}", *(f"{1e3 * left[kind][k]:.3f}" for kind in SHAPERS)) for k, mass in enumerate(masses))
    chart = Lines(
        "Vibration of the tip after the turn",
        "mm",
        "payload",
        "kg",
        tuple((kind, np.array(masses), 1e3 * left[kind]) for kind in SHAPERS),
        is_log=True,
    )
    worst = {kind: float(np.max(left[kind] / left["none"])) for kind in SHAPERS}
    said = ", ".join(f"{kind} {worst[kind]:.0%}" for kind in SHAPERS[1:])
    text = (
        f"The shapers are made for {settings['design_payload']:g} kg. Of the vibration without shaping they leave at "
        f"worst, over all payloads: {said}. The robust ones, zvd and ei, mind another payload less."
    )
    named = {f"{kind}_worst": worst[kind] for kind in SHAPERS[1:]}
    columns = ("payload [kg]", *(f"{kind} [mm]" for kind in SHAPERS))
    return (Finding("Vibration over payload", text, columns, rows, (chart,), (0, 1, 2, 3, 4), named),)


CASE = Case(
    name="slew",
    title="a flexible arm turns and shall not shake",
    source=SOURCE,
    settings=SETTINGS,
    build=build,
    figures=figures,
    figure_table=FIGURES,
    panels=panels,
    unused=unused,
    needs_kernels=lambda settings: settings["shaping"] in SHAPERS[1:],
    variants=variants,
    compare_variants=compare_variants,
)

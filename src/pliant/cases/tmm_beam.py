"""A beam of rigid segments by discrete-time transfer matrices: bent by a force, swinging, turned, spun up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.cases.case import Case, Setting, Variant
from pliant.cases.elliptic import elastica
from pliant.cases.frozen_geometry import steps_until_blown_up
from pliant.model.model import Load, Model, Output
from pliant.model.segmented_beams import HUB, SegmentedBeam, segmented_beam
from pliant.model.signals import Cycloid, SpeedChange
from pliant.report_types import Figure, Finding, Lines, Panel
from pliant.result import Result
from pliant.results.figures import extreme

Array = NDArray[np.float64]
SOURCE = "thesis on transfer matrices for flexible robot arms: beams of rigid segments"
SHOWN = 6  # most hinges with a curve of their own
TIP = "beam_tip"
BENT = 0.3  # thesis-linearisation: P L^2 / EI at the start, and angle of the tip [rad]
STEPS = (1e-2, 1e-3, 1e-4)  # [s]
MAX_STEPS = 2000
LOADED = 4.0  # [s]: statics, until the whole force acts
CLAMPED_FREE = (1.875104068711961, 4.694091132974174, 7.854757438237613)  # roots of cos x cosh x = -1


@dataclass(frozen=True)
class Study:
    """What a study takes where nothing else is said, in the units of the settings."""

    length: float = 1.0
    EI: float = 1.0
    rhoA: float = 1.0
    segments: int = 10
    eta: float = 0.0
    step: float = 1e-3
    duration: float = 1.0


STUDIES = {
    "statics": Study(eta=0.5, step=5e-3, duration=12.0),
    "frequencies": Study(duration=4.0),
    "slew": Study(duration=2.0),
    "spin-up": Study(10.0, 1.4e4, 1.2, segments=80, step=2e-3, duration=20.0),
}
COMPARED = {"springs": "frequencies", "thesis-linearisation": "frequencies"}  # studies of several runs, and of what
SETTINGS = {
    "study": Setting("slew", "what is looked at; springs: all sets of them", choices=(*STUDIES, *COMPARED)),
    "segments": Setting(0, "number of elements; 0: as many as the study has", low=0, high=100_000),
    "layout": Setting("midpoint", "hinges in the middle of elements, or at their start", choices=("midpoint", "start")),
    "springs": Setting("thesis", "thesis (midpoint only), or those of least error", choices=("thesis", "best")),
    "length": Setting(0.0, "of the beam; 0: that of the study", "m", low=0.0),
    "EI": Setting(0.0, "bending stiffness; 0: that of the study", "N m^2", low=0.0),
    "rhoA": Setting(0.0, "mass per length; 0: that of the study", "kg/m", low=0.0),
    "eta": Setting(-1.0, "damping of the hinges over their stiffness; -1: that of the study", "s", low=-1.0),
    "load": Setting(1.0, "statics: force across the tip, P L^2 / EI"),
    "pluck": Setting(0.01, "frequencies: force across the tip at the start, P L^2 / EI, then let go"),
    "angle": Setting(1.5, "slew: by which the hub turns in slew_time", "rad"),
    "slew_time": Setting(1.0, "slew: of the turn", "s", low=1e-6),
    "speed": Setting(6.0, "spin-up: of the hub in the end", "rad/s"),
    "acceleration_time": Setting(15.0, "spin-up: until the hub has it", "s", low=1e-6),
    "step": Setting(0.0, "length of the steps; 0: that of the study", "s", low=0.0),
    "duration": Setting(0.0, "of the motion; 0: that of the study", "s", low=0.0),
}  # fmt: skip
OWNERS = {
    "load": "statics",
    "pluck": "frequencies",
    "angle": "slew",
    "slew_time": "slew",
    "speed": "spin-up",
    "acceleration_time": "spin-up",
}


def _study(settings: dict[str, Any]) -> str:
    chosen = str(settings["study"])
    return COMPARED.get(chosen, chosen)


def _value(settings: dict[str, Any], key: str) -> Any:
    """Of the setting, or of the study."""
    given = settings[key]
    return getattr(STUDIES[_study(settings)], key) if given == SETTINGS[key].default else given


def build(settings: dict[str, Any]) -> Model:
    study = _study(settings)
    length, EI, rhoA, eta = (_value(settings, key) for key in ("length", "EI", "rhoA", "eta"))
    unit = EI / length**2
    rest: dict[str, Any] = {"outputs": [Output("tip", TIP, "position")]}
    if study == "statics":
        # slowly, so that little swings afterwards
        rest["loads"] = [Load(TIP, y=Cycloid(0.0, LOADED, after=settings["load"] * unit))]
    elif study == "slew":
        rest["hub"] = {"motion": Cycloid(0.0, settings["slew_time"], after=settings["angle"])}
    elif study == "spin-up":
        rest["hub"] = {"motion": SpeedChange(0.0, settings["acceleration_time"], after=settings["speed"])}
    if "hub" in rest:
        rest["outputs"].append(Output("hub_torque", "hub", "drive"))
    model = segmented_beam(
        length,
        _value(settings, "segments"),
        EI,
        rhoA,
        settings["layout"],
        settings["springs"],
        eta,
        name=f"tmm-beam {study}",
        duration=_value(settings, "duration"),
        **rest,
    )
    return _plucked(model, settings["pluck"] * unit, length) if study == "frequencies" else model


def _plucked(model: Model, force: float, length: float) -> Model:
    """At the rest that a force across the tip would have: every hinge bent by its moment, small angles."""
    joints, x = [], 0.0
    for link in model.links:
        x += link.joint_frame.position[0]
        if link.joint.kind == "revolute":
            bent = force * (length - x) / float(link.joint.each("stiffness")[0])
            joints.append(replace(link.joint, q0=bent))
        else:
            joints.append(link.joint)
    return replace(model, joints=tuple(joints))


def options(settings: dict[str, Any]) -> dict[str, Any]:
    return {"formulation": "transfer_matrix", "integrator": "newmark", "step": _value(settings, "step")}


def unused(settings: dict[str, Any]) -> dict[str, str]:
    study = _study(settings)
    return {key: f"is of the study {owner}" for key, owner in OWNERS.items() if owner != study}


# --- figures ------------------------------------------------------------------------------------------------------


def tip_deflection(result: Result, t: Array) -> Array:
    """Of the tip from the axis of the hub, across the beam [m]; of a clamped beam from its axis at rest."""
    place = result.outputs_at(t)["tip"]
    angle = result.at(t)[0][:, 0] if result.model.joints[0].name == HUB else np.zeros(len(place))
    return np.asarray(np.cos(angle) * place[:, 1] - np.sin(angle) * place[:, 0])


def figures(result: Result) -> dict[str, float]:
    end = result.outputs["tip"][-1]
    return {"tip_x_end": float(end[0]), "tip_y_end": float(end[1])}


def chosen_figures(settings: dict[str, Any], result: Result) -> dict[str, float]:
    study = _study(settings)
    length, EI, rhoA = (_value(settings, key) for key in ("length", "EI", "rhoA"))
    if study == "statics":
        x, y = (length * part for part in elastica(settings["load"]))
        end = result.outputs["tip"][-1]
        return {"elastica_x": x, "elastica_y": y, "elastica_error": float(np.hypot(end[0] - x, end[1] - y)) / length}
    if study == "frequencies":
        return _frequencies(result, np.sqrt(EI / rhoA) / length**2)
    if result.dense is None:
        return {}
    if study == "slew":
        value, when = extreme(result, lambda t: np.abs(tip_deflection(result, t)))
        found = {"deflection_max": value, "deflection_max_time": when}
        if settings["slew_time"] <= result.t[-1]:
            x, y, _ = result.outputs_at(np.array([settings["slew_time"]]))["tip"][0]
            found |= {"tip_x_slewed": float(x), "tip_y_slewed": float(y)}
        return found
    value, when = extreme(result, lambda t: -tip_deflection(result, t))
    return {"tip_deflection_min": -value, "tip_deflection_min_time": when}


def _frequencies(result: Result, unit: float) -> dict[str, float]:
    """Of small vibrations about the straight beam, and their relative errors; unit: sqrt(EI / rhoA) / L^2."""
    from pliant.linear.modes import modes  # loads the kernels: listing the cases does without

    found = modes(result.model, q=np.zeros(len(result.model.coordinates))).frequencies[: len(CLAMPED_FREE)]
    made = {f"frequency_{k + 1}": float(w) for k, w in enumerate(found)}
    return made | {
        f"frequency_error_{k + 1}": float(w / (CLAMPED_FREE[k] ** 2 * unit) - 1.0) for k, w in enumerate(found)
    }


# --- report -------------------------------------------------------------------------------------------------------


def panels(settings: dict[str, Any]) -> tuple[Panel, ...]:
    shown = range(1, min(_value(settings, "segments"), SHOWN) + 1)
    made = [
        Panel("Tip", "m", (("x", "tip[0]"), ("y", "tip[1]"))),
        Panel("Angles of the first hinges", "rad", tuple((f"hinge {k}", f"beam_hinge_{k}") for k in shown)),
    ]
    if _study(settings) in ("slew", "spin-up"):
        made.append(Panel("Torque of the hub", "N m", (("hub", "hub_torque"),)))
    return tuple(made)


def _tip_chart(results: Mapping[str, Result]) -> Lines:
    curves = []
    for label, result in results.items():
        t = np.linspace(result.t[0], result.t[-1], 1001)
        curves.append((label, t, tip_deflection(result, t)))
    return Lines("Deflection of the tip, across the axis of its root", "m", "time", "s", tuple(curves))


def summarise_run(result: Result) -> tuple[Finding, ...]:
    if result.dense is None:
        return ()
    n = sum(joint.name.startswith("beam_hinge") for joint in result.model.joints)
    text = (
        f"{n} rigid segments with springs between them, any rotation, by one linearisation and sweep per step. "
        "Other studies: --set study=statics, frequencies, slew, spin-up; springs: every set of springs side by side."
    )
    return (Finding("Tip", text, charts=(_tip_chart({"tip": result}),)),)


def variants(settings: dict[str, Any]) -> dict[str, Variant]:
    if settings["study"] == "thesis-linearisation":
        made = {f"step {T:g} s": {**settings, "step": T, "pluck": BENT, "duration": 400 * T} for T in STEPS}
        return {name: Variant(own, options(own)) for name, own in made.items()}
    if settings["study"] != "springs":
        return {}
    sets = {
        "midpoint thesis": ("midpoint", "thesis"),
        "midpoint best": ("midpoint", "best"),
        "start": ("start", "best"),
    }
    made = {name: {**settings, "layout": layout, "springs": springs} for name, (layout, springs) in sets.items()}
    return {name: Variant(own, options(own)) for name, own in made.items()}


def compare_variants(settings: dict[str, Any], results: Mapping[str, Result]) -> tuple[Finding, ...]:
    return _thesis(settings, results) if settings["study"] == "thesis-linearisation" else _springs(settings, results)


def _thesis(settings: dict[str, Any], results: Mapping[str, Result]) -> tuple[Finding, ...]:
    length, EI, rhoA = (_value(settings, key) for key in ("length", "EI", "rhoA"))
    rows = []
    for T, result in zip(STEPS, results.values(), strict=True):
        counts = []
        for n in (2, 5, 10):
            beam = SegmentedBeam(length, n, EI, rhoA, "start")
            start = BENT * np.arange(1, n + 1) / n
            count = steps_until_blown_up(beam.stiffnesses, rhoA * beam.element, beam.element, start, T, MAX_STEPS)
            counts.append(str(count) if count < MAX_STEPS else f"not in {MAX_STEPS}")
        largest_angle = np.max(np.abs(np.cumsum(result.q, axis=1)))
        rows.append((f"{T:g}", *counts, f"{largest_angle:.3g} rad in {len(result.t) - 1} steps"))
    text = (
        "Warning: the linearisation of the thesis, with frozen sines and cosines and positions integrated by the rows, "
        "is for reproduction only. It grows without bound within a few steps, and shorter ones do not help: the "
        "inertia of what hangs on a segment acts a step too late. Pliant's own steps differentiate the geometry."
    )
    columns = (
        "step [s]",
        "2 segments: steps until it has blown up",
        "5 segments",
        "10 segments",
        "pliant's largest angle",
    )
    return (Finding("The thesis' linearisation", text, columns, tuple(rows), (_tip_chart(results),)),)


def _springs(settings: dict[str, Any], results: Mapping[str, Result]) -> tuple[Finding, ...]:
    from pliant.queries.equilibrium import equilibrium  # loads the kernels, as above
    from pliant.queries.frames import frame_placement

    length, EI = _value(settings, "length"), _value(settings, "EI")
    exact, rows = np.array(elastica(settings["load"])), []
    for label, result in results.items():
        found = chosen_figures(settings, result)
        loaded = replace(result.model, loads=(Load(TIP, y=settings["load"] * EI / length**2),))
        tip = frame_placement(loaded, equilibrium(loaded), TIP)[1][:2] / length
        errors = [f"{found[f'frequency_error_{k}']:+.2e}" for k in (1, 2, 3)]
        rows.append((label, *errors, f"{tip[0] - exact[0]:+.2e}", f"{tip[1] - exact[1]:+.2e}"))
    text = (
        f"Relative errors of the first three frequencies, and errors of the tip's place over the length under a force "
        f"P L^2 / EI = {settings['load']:g} across it, against the exact beam. Those of the thesis are right with "
        "hinges in the middle of the elements; hinges where elements begin need others."
    )
    columns = ("springs", "frequency 1", "frequency 2", "frequency 3", "tip x", "tip y")
    return (Finding("Sets of springs", text, columns, tuple(rows), (_tip_chart(results),)),)


CASE = Case(
    name="tmm-beam",
    title="a beam of rigid segments, by discrete-time transfer matrices",
    source=SOURCE,
    settings=SETTINGS,
    build=build,
    figures=figures,
    chosen_figures=chosen_figures,
    figure_table={
        "tip_x_end": Figure("place of the tip at the end, along x", "m"),
        "tip_y_end": Figure("and along y", "m"),
        "tip_x_slewed": Figure(
            "slew: place of the tip when the hub has turned, x", "m", -0.260604, 1e-5, "limit of short steps"
        ),
        "tip_y_slewed": Figure("and y", "m", 0.958329, 1e-5, "limit of short steps"),
        "deflection_max": Figure("slew: largest deflection of the tip, seen from the hub", "m"),
        "deflection_max_time": Figure("when", "s"),
        "elastica_x": Figure("statics: tip of the exact beam, x", "m"),
        "elastica_y": Figure("and y", "m"),
        "elastica_error": Figure("statics: distance of the tip from it, over the length"),
        "frequency_1": Figure("first frequency of small vibrations", "rad/s"),
        "frequency_2": Figure("second", "rad/s"),
        "frequency_3": Figure("third", "rad/s"),
        "frequency_error_1": Figure("relative error of the first, against the exact beam"),
        "frequency_error_2": Figure("of the second"),
        "frequency_error_3": Figure("of the third"),
        "tip_deflection_min": Figure("spin-up: lowest deflection of the tip, seen from the hub", "m"),
        "tip_deflection_min_time": Figure("when", "s"),
    },
    panels=panels,
    run={"formulation": "transfer_matrix", "integrator": "newmark", "step": 1e-3},
    options=options,
    unused=unused,
    variants=variants,
    compare_variants=compare_variants,
    summarise_run=summarise_run,
)

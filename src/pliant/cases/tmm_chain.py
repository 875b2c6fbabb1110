"""Bars on a shaft with springs and dampers between them, and a torque on the last: discrete-time transfer matrices
with five integrators, against the exact solution [transfermatrix]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.cases.case import Case, Setting, Variant
from pliant.errors import ModelError
from pliant.methods.integrators import FoxEuler, Houbolt, Integrator, Newmark, Proposed, Wilson
from pliant.model.bodies import Body, Box, Frame
from pliant.model.joints import Joint
from pliant.model.model import Load, Model
from pliant.report_types import Figure, Finding, Lines, Panel
from pliant.result import Result
from pliant.results.figures import extreme, grid, last_entry

Array = NDArray[np.float64]
SOURCE = "thesis on transfer matrices for flexible robot arms, its 2- and 10-dof chains"
INTEGRATORS = ("newmark", "fox-euler", "wilson", "houbolt", "proposed")
SPACING = 0.5  # of the bars along the shaft, which is drawn only [m]
BAND = 0.02  # of the angle at rest: nearer than this it counts as settled
SHOWN = 10  # most joints with a curve of their own
DOUBLE_ROOT = 1e-6  # of a frequency: below it the two roots of a mode count as one
SETTINGS = {
    "dof": Setting(2, "number of bars", low=1, high=100_000),
    "inertia": Setting(5.0, "of each bar", "kg m^2", low=1e-12),
    "stiffness": Setting(20.0, "of each spring", "N m/rad", low=1e-12),
    "damping": Setting(5.0, "of each damper", "N m s/rad", low=0.0),
    "torque": Setting(1.0, "on the last bar, from t = 0 on", "N m"),
    "integrator": Setting("newmark", "of the steps; all: five side by side", choices=(*INTEGRATORS, "all")),
    "beta": Setting(0.25, "of newmark", low=0.0, high=1.0),
    "gamma": Setting(0.5, "of newmark", low=0.5, high=1.0),
    "theta": Setting(1.4, "of wilson", low=1.0, high=10.0),
    "g1": Setting(1.0 / 3.0, "of proposed", low=0.0, high=1.5),
    "g2": Setting(1.0, "of proposed", low=0.0, high=1.5),
    "step": Setting(0.1, "length of the steps", "s", low=1e-9),
    "duration": Setting(20.0, "of the motion", "s", low=1e-9),
    "time_1": Setting(1.0, "first instant of the figures", "s", low=0.0),
    "time_2": Setting(5.0, "second", "s", low=0.0),
    "time_3": Setting(10.0, "third", "s", low=0.0),
}  # fmt: skip
OWNERS = {"beta": "newmark", "gamma": "newmark", "theta": "wilson", "g1": "proposed", "g2": "proposed"}


def build(settings: dict[str, Any]) -> Model:
    n, late = settings["dof"], late_times(settings)
    for key in late:
        # those that nobody asked for are left out where the motion is shorter
        if settings[key] != SETTINGS[key].default:
            raise ModelError(
                f"{key}: {settings[key]:g} s found, and the motion ends at duration = {settings['duration']:g} s; "
                f"give an instant up to there, or a longer duration"
            )
    inertia: Any = (settings["inertia"],) * 3
    bars = [Body(f"bar_{i + 1}", 1.0, inertia=inertia, shape=Box((0.1, 1.0, 0.2))) for i in range(n)]
    places = [Frame("world"), *(Frame(bar.name, (SPACING, 0.0, 0.0)) for bar in bars[:-1])]
    hinge = {"axis": (1.0, 0.0, 0.0), "stiffness": settings["stiffness"], "damping": settings["damping"]}
    joints = [
        Joint(f"angle_{i + 1}", "revolute", bar.name, place, **hinge)
        for i, (bar, place) in enumerate(zip(bars, places, strict=True))
    ]
    torque = Load(bars[-1].name, x=settings["torque"], kind="couple")
    return Model(
        name="tmm-chain",
        gravity=(0.0, 0.0, 0.0),
        bodies=tuple(bars),
        joints=tuple(joints),
        loads=(torque,),
        duration=settings["duration"],
    )


def late_times(settings: dict[str, Any]) -> list[str]:
    """Instants of the figures beyond the duration."""
    return [key for key in ("time_1", "time_2", "time_3") if settings[key] > settings["duration"]]


def integrator(settings: dict[str, Any]) -> Integrator:
    """With its parameters."""
    match settings["integrator"]:
        case "fox-euler":
            return FoxEuler()
        case "wilson":
            return Wilson(theta=settings["theta"])
        case "houbolt":
            return Houbolt()
        case "proposed":
            return Proposed(g1=settings["g1"], g2=settings["g2"])
    return Newmark(beta=settings["beta"], gamma=settings["gamma"])


def options(settings: dict[str, Any]) -> dict[str, Any]:
    return {"formulation": "transfer_matrix", "integrator": integrator(settings), "step": settings["step"]}


def unused(settings: dict[str, Any]) -> dict[str, str]:
    chosen = settings["integrator"]
    others = {key: f"is of {owner}, not of {chosen}" for key, owner in OWNERS.items() if chosen not in (owner, "all")}
    return others | {key: f"duration = {settings['duration']:g} s: it is later" for key in late_times(settings)}


# --- figures ------------------------------------------------------------------------------------------------------


def exact_tip_angle(model: Model, t: Array) -> Array:
    """In closed form, mode by mode: dampers are proportional to springs."""
    joints, bodies = model.joints, model.bodies
    n, k, c = len(joints), _number(joints[0].stiffness), _number(joints[0].damping)
    inertia, torque = float(bodies[0].inertia_about_origin[0, 0]), _torque(model)
    # angles of a chain, one end clamped: sin((2 j - 1) pi i / (2 n + 1))
    angle = (2 * np.arange(1, n + 1) - 1) * np.pi / (2 * n + 1)
    square = 4.0 * k / inertia * np.sin(0.5 * angle) ** 2
    at_tip = np.sin(n * angle) ** 2 * 4.0 / (2 * n + 1)
    half = 0.5 * c / k * square
    root = np.sqrt((half**2 - square).astype(complex))
    t = np.asarray(t, float)[:, None]
    s1, s2, apart = -half + root, -half - root, np.abs(root) > DOUBLE_ROOT * np.sqrt(square)
    two = (s2 * np.exp(s1 * t) - s1 * np.exp(s2 * t)) / np.where(apart, s1 - s2, 1.0)
    one = -np.exp(-half * t) * (1.0 + half * t)
    return np.asarray(np.sum(at_tip * torque / inertia / square * (1.0 + np.where(apart, two, one).real), axis=1))


def _torque(model: Model) -> float:
    given: Any = model.loads[0].x
    return float(given.value)


def _number(value: Any) -> float:
    return float(value[0] if isinstance(value, tuple) else value)


def tip_angle(result: Result, t: Array) -> Array:
    """Of the last bar [rad]."""
    return np.asarray(result.at(t)[0].sum(axis=1))


def rest_angle(result: Result) -> float:
    """Where it comes to rest."""
    joints = result.model.joints
    return len(joints) * _torque(result.model) / _number(joints[0].stiffness)


def figures(result: Result) -> dict[str, float]:
    q = result.q.sum(axis=1)
    exact = exact_tip_angle(result.model, result.t)
    found = {
        "tip_angle_end": float(q[-1]),
        "error_end": float(q[-1] - exact[-1]),
        "error_max": float(np.abs(q - exact).max()),
    }
    if result.dense is None:
        return found
    sense = float(np.sign(rest_angle(result)) or 1.0)
    value, when = extreme(result, lambda t: sense * tip_angle(result, t))
    return found | {"peak": sense * value, "peak_time": when, "settling_time": settling_time(result)}


def settling_time(result: Result) -> float:
    """Since when the tip has stayed within the band about its rest; the duration if it is not there yet."""
    rest = rest_angle(result)
    return last_entry(grid(result), lambda t: np.asarray(np.abs(tip_angle(result, t) - rest) <= BAND * abs(rest)))


def chosen_figures(settings: dict[str, Any], result: Result) -> dict[str, float]:
    """At the instants of the settings, with the exact ones."""
    found = {}
    for k in (1, 2, 3):
        t = np.array([settings[f"time_{k}"]])
        if t[0] <= result.t[-1] and result.dense is not None:
            found[f"tip_angle_{k}"] = float(tip_angle(result, t)[0])
            found[f"exact_angle_{k}"] = float(exact_tip_angle(result.model, t)[0])
    return found


# --- report -------------------------------------------------------------------------------------------------------


def panels(settings: dict[str, Any]) -> tuple[Panel, ...]:
    shown = range(1, min(settings["dof"], SHOWN) + 1)
    return (
        Panel("Angles between neighbours", "rad", tuple((f"angle {k}", f"angle_{k}") for k in shown)),
        Panel("Their rates", "rad/s", tuple((f"angle {k}", f"angle_{k}.rate") for k in shown)),
    )


def _charts(results: Mapping[str, Result]) -> tuple[Lines, ...]:
    first = next(iter(results.values()))
    t = np.linspace(first.t[0], first.t[-1], 1001)
    curves = [("exact", t, exact_tip_angle(first.model, t))]
    errors = []
    for label, result in results.items():
        inside = t[t <= result.t[-1]]
        curves.append((label, inside, tip_angle(result, inside)))
        errors.append((label, result.t, result.q.sum(axis=1) - exact_tip_angle(result.model, result.t)))
    return (
        Lines("Angle of the last bar", "rad", "time", "s", tuple(curves)),
        Lines("Its error at the steps", "rad", "time", "s", tuple(errors)),
    )


def summarise_run(result: Result) -> tuple[Finding, ...]:
    if result.dense is None:
        return ()
    text = (
        "Discrete-time transfer matrices against the exact solution, known mode by mode because the dampers are "
        "proportional to the springs. The error is that of the integrator: the sweep adds none. Five integrators "
        "side by side: --set integrator=all."
    )
    return (Finding("Angle of the last bar", text, charts=_charts({"transfer matrices": result})),)


def variants(settings: dict[str, Any]) -> dict[str, Variant]:
    if settings["integrator"] != "all":
        return {}
    made = {name: {**settings, "integrator": name} for name in INTEGRATORS}
    return {name: Variant(own, options(own)) for name, own in made.items()}


def compare_variants(settings: dict[str, Any], results: Mapping[str, Result]) -> tuple[Finding, ...]:
    rows = []
    for name, result in results.items():
        found = figures(result)
        numbers = [f"{found[key]:.6g}" for key in ("tip_angle_end", "error_max", "peak", "peak_time", "settling_time")]
        rows.append((name, *numbers, result.reason or result.status))
    text = (
        f"The same chain and steps of {settings['step']:g} s with the rows of five integrators. Largest error: at "
        "the ends of steps, against the exact solution."
    )
    columns = (
        "integrator",
        "angle at the end [rad]",
        "largest error [rad]",
        "peak [rad]",
        "at [s]",
        "settled [s]",
        "end",
    )
    return (Finding("Integrators", text, columns, tuple(rows), _charts(results)),)


CASE = Case(
    name="tmm-chain",
    title="bars on a shaft with springs between them, by discrete-time transfer matrices",
    source=SOURCE,
    settings=SETTINGS,
    build=build,
    figures=figures,
    chosen_figures=chosen_figures,
    figure_table={
        "tip_angle_end": Figure("angle of the last bar at the end", "rad", 0.09866000424, 1e-9, "our own figure"),
        "tip_angle_1": Figure("at the first instant", "rad", 0.0628905458, 1e-9, "Newmark 1/4 with steps of 0.1 s"),
        "tip_angle_2": Figure("at the second", "rad"),
        "tip_angle_3": Figure("at the third", "rad"),
        "exact_angle_1": Figure("exact solution at the first instant", "rad", 0.06298869, 1e-8, "matrix exponential"),
        "exact_angle_2": Figure("at the second", "rad", 0.06512303, 1e-8, "matrix exponential"),
        "exact_angle_3": Figure("at the third", "rad", 0.08760251, 1e-8, "matrix exponential"),
        "peak": Figure("largest angle of the last bar", "rad"),
        "peak_time": Figure("when", "s"),
        "settling_time": Figure("since when it has been within 2 % of its rest; at most the duration", "s"),
        "error_end": Figure("error at the end, against the exact solution", "rad"),
        "error_max": Figure("largest error at the ends of steps", "rad"),
    },
    panels=panels,
    run={"formulation": "transfer_matrix", "integrator": "newmark", "step": 0.1},
    options=options,
    unused=unused,
    variants=variants,
    compare_variants=compare_variants,
    summarise_run=summarise_run,
)

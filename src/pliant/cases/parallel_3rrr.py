"""The planar 3RRR robot on its rose path: motors from inverse dynamics, motion by every way of closing the loops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.cases.case import Case, Setting, Variant
from pliant.cases.rose_path import LAP, Robot, exact_motion, out_of_reach, plate, rose
from pliant.cases.spring_study import OTHER_FORMS, conclude_springs
from pliant.errors import ModelError
from pliant.model.bodies import Body, Frame, Rod
from pliant.model.flexible import Beam, Bending, Damping, GivenSection, Material
from pliant.model.joints import Joint
from pliant.model.loops import SPRING_FORMS, Loop
from pliant.model.model import Model, Output
from pliant.model.quantities import Vector
from pliant.model.signals import Table
from pliant.report_types import Figure, Finding, Lines, Panel
from pliant.result import Result

Array = NDArray[np.float64]
SOURCE = "Raoofian, Taghvaeipour, Kamali 2017: 3RRR"
INTERVALS = (4000, 16000, 64000)  # of the torque table of one lap: the first that is good enough
GOOD = 1e-10  # of the largest torque: error of its splines
MIN_ERROR = 1e-17  # [m] below which e_c and e_p are rounding


@dataclass(frozen=True)
class Way:
    """A way to close the loops: options of simulate, and those that come from settings."""

    options: dict[str, Any]
    of_settings: dict[str, str] = field(default_factory=dict)


OF_SPRINGS = {
    "closure_stiffness": "stiffness",
    "closure_damping": "damping",
    "closure_form": "constraint_form",
    "closure_prestretch": "prestretch",
}
WAYS = {
    "reduced": Way({"closure": "reduced"}),
    "multipliers": Way({"closure": "multipliers"}),
    "springs": Way({"closure": "springs"}, OF_SPRINGS),
    "implicit": Way({"closure": "implicit", "integrator": "generalised_alpha", "step": 1e-3}),
    "all": Way({"closure": "reduced"}),  # the first of all
}
SETTINGS = {
    "method": Setting("reduced", "how the loops are closed; all: every way, side by side", choices=tuple(WAYS)),
    "stiffness": Setting(1e6, "of the virtual springs", "N/m", low=1e-6),
    "damping": Setting(0.0, "of the virtual springs", "N s/m", low=0.0),
    "prestretch": Setting(False, "springs start stretched as the reactions ask"),
    "constraint_form": Setting("elongation", "whose springs they are", choices=SPRING_FORMS),
    "r0": Setting(0.05, "size of the rose", "m", low=0.0),
    "profile": Setting("uniform", "uniform, or every lap from rest to rest", choices=("uniform", "quintic")),
    "links": Setting("rigid", "rigid links, or beams that bend", choices=("rigid", "flexible")),
    "bending_stiffness": Setting(2000.0, "E I of flexible links", "N m^2", low=1e-6),
    "l1": Setting(0.4, "length of the links at the motors", "m", low=1e-6),
    "l2": Setting(0.6, "length of the links at the platform", "m", low=1e-6),
    "base_side": Setting(1.2, "side of the base triangle", "m", low=1e-6),
    "platform_side": Setting(0.4, "side of the platform triangle", "m", low=1e-6),
    "m1": Setting(3.0, "mass of the links at the motors", "kg", low=1e-9),
    "m2": Setting(4.0, "mass of the links at the platform", "kg", low=1e-9),
    "mp": Setting(8.0, "mass of the platform", "kg", low=1e-9),
    "I1": Setting(0.04, "moment of inertia of a link at a motor", "kg m^2", low=1e-12),
    "I2": Setting(0.12, "moment of inertia of a link at the platform", "kg m^2", low=1e-12),
    "Ip": Setting(0.0817, "moment of inertia of the platform", "kg m^2", low=1e-12),
}  # fmt: skip
DURATION = 6.0


def robot(settings: Mapping[str, Any]) -> Robot:
    keys = ("l1", "l2", "base_side", "platform_side", "m1", "m2", "mp", "I1", "I2", "Ip")
    parts = Robot(*(float(settings[key]) for key in keys))
    if settings["links"] == "rigid":
        return parts
    # as stiff beams would be
    return replace(parts, I1=parts.m1 * parts.l1**2 / 12.0, I2=parts.m2 * parts.l2**2 / 12.0)


def motor_table(parts: Robot, r0: float, profile: str) -> tuple[Array, Array]:
    """Times of one lap and the torques there (rows, 3), as fine as their splines need to be."""
    for n in INTERVALS:
        t = np.linspace(0.0, LAP, 2 * n + 1)
        torques = exact_motion(parts, t, r0, profile).torques
        y = torques[::2]
        # a cubic through four points, half way: nine times the error of a spline
        between = (9.0 * (y[1:-2] + y[2:-1]) - y[:-3] - y[3:]) / 16.0 - torques[3:-2:2]
        if np.max(np.abs(between)) <= 9.0 * GOOD * np.max(np.abs(torques)):
            break
    torques[-1] = torques[0]
    return t[::2], torques[::2]


def build(settings: dict[str, Any]) -> Model:
    parts = robot(settings)
    if settings["method"] == "all" and settings["links"] == "flexible":
        raise ModelError(
            "method: all compares every closure with the exact motion of the rigid robot; choose links = rigid, or one "
            "method"
        )
    t = np.linspace(0.0, LAP, 4001)
    missed = out_of_reach(parts, rose(t, settings["r0"], settings["profile"])[0])
    if missed is not None:
        row, leg = missed
        raise ModelError(
            f"r0: the path of size {settings['r0']:g} m is out of reach from t = {t[row]:.4g} s on: leg {leg + 1} "
            "cannot meet its vertex; give a smaller r0, longer links or a smaller base"
        )
    t, torques = motor_table(parts, settings["r0"], settings["profile"])
    exact = exact_motion(parts, np.zeros(1), settings["r0"], settings["profile"])
    (p,), (v,), _ = rose(np.zeros(1), settings["r0"], settings["profile"])
    bodies: list[Body | Beam] = []
    joints, loops, outputs = [], [], []
    for j in range(3):
        (a, b), (adot, bdot) = exact.angles[0, j].tolist(), exact.rates[0, j].tolist()
        upper, lower, n = f"upper{j + 1}", f"lower{j + 1}", j + 1
        bodies += [_link(settings, upper, "1"), _link(settings, lower, "2")]
        motor = Table(tuple(t.tolist()), tuple(torques[:, j].tolist()), smooth=True, repeats=True)
        pivot, vertex = (
            Frame(body, (*at[j].tolist(), 0.0)) for body, at in (("world", parts.pivots), ("platform", parts.vertices))
        )
        joints += [
            Joint(f"motor{n}", "revolute", upper, parent=pivot, q0=a, v0=adot, motor=motor),
            Joint(f"elbow{n}", "revolute", lower, parent=Frame(upper, (parts.l1, 0.0, 0.0)), q0=b, v0=bdot),
        ]
        loops.append(Loop(f"leg{n}", "revolute", first=vertex, second=Frame(lower, (parts.l2, 0.0, 0.0))))
        outputs += [
            Output(f"reaction_leg{n}", f"leg{n}", "reaction"),
            Output(f"reaction_motor{n}", f"motor{n}", "reaction"),
            Output(f"reaction_elbow{n}", f"elbow{n}", "reaction"),
            Output(f"torque{n}", f"motor{n}", "motor"),
        ]
    seen = plate(parts.vertices, 0.05 * parts.platform)
    bodies.append(Body("platform", mass=parts.mp, inertia=_flat(parts.Ip), visual=(seen,)))
    joints.append(Joint("pose", "planar", "platform", q0=(*p.tolist(), 0.0), v0=(*v.tolist(), 0.0)))
    return Model(
        name="parallel-3rrr",
        gravity=(0.0, 0.0, 0.0),
        bodies=tuple(bodies),
        joints=tuple(joints),
        loops=tuple(loops),
        keep=("pose",),
        outputs=(Output("platform", "platform", "position"), *outputs),
        duration=DURATION,
    )  # fmt: skip


def _flat(inertia: float) -> tuple[Vector, Vector, Vector]:
    return (0.5 * inertia, 0.0, 0.0), (0.0, 0.5 * inertia, 0.0), (0.0, 0.0, inertia)


def _link(settings: Mapping[str, Any], name: str, n: str) -> Body | Beam:
    length, mass, inertia = settings[f"l{n}"], settings[f"m{n}"], settings[f"I{n}"]
    if settings["links"] == "rigid":
        return Body(name, mass=mass, com=(0.5 * length, 0.0, 0.0), inertia=_flat(inertia), shape=Rod(length))
    # a beam of the same mass and E I
    area, young = 1e-3, 2e11
    second = settings["bending_stiffness"] / young
    return Beam(
        name, length, Material(young, mass / length / area, shear_modulus=8e10), GivenSection(area, second, second),
        bending_y=Bending(2, "ss"), theory="euler-bernoulli", rotary="none", damping=Damping(ratio=0.01),
    )  # fmt: skip


def run_options(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Options of simulate that the settings ask for."""
    way = WAYS[settings["method"]]
    return way.options | {option: settings[key] for option, key in way.of_settings.items()}


def unused(settings: dict[str, Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    used = WAYS[settings["method"]].of_settings.values()
    for way in WAYS.values():
        found |= {key: f"method = {settings['method']}" for key in way.of_settings.values() if key not in used}
    if settings["links"] == "rigid":
        found["bending_stiffness"] = "links = rigid"
    else:
        found |= dict.fromkeys(("I1", "I2"), "links = flexible, whose inertia is that of a beam")
    return found


# --- figures ----------------------------------------------------------------------------------------------------


def path_of(model: Model) -> tuple[Robot, float, str]:
    """Robot, size and profile of the rose, as they follow from the model's start."""
    links = {link.joint.name: link for link in model.links}
    by_name = {body.name: body for body in model.bodies}
    upper, lower, platform = by_name["upper1"], by_name["lower1"], by_name["platform"]
    pose = links["pose"]
    loop = model.loops[0]
    assert isinstance(loop.first, Frame)
    assert isinstance(loop.second, Frame)
    base = float(np.hypot(*links["motor1"].joint_frame.position[:2])) * np.sqrt(3.0)
    side = float(np.hypot(*loop.first.position[:2])) * np.sqrt(3.0)
    inertias = [float(body.inertia_about_centre[2, 2]) for body in (upper, lower, platform)]
    masses = [body.total_mass for body in (upper, lower, platform)]
    parts = Robot(links["elbow1"].joint_frame.position[0], loop.second.position[0], base, side, *masses, *inertias)
    profile = "uniform" if np.any(model.v0[pose.v_slice]) or model.q0[pose.q] == 0.0 else "quintic"
    return parts, float(model.q0[pose.q]), profile


def multipliers_along(result: Result, t: Array) -> Array:
    """Force of the platform on the tips of the legs, world axes (rows, 6)."""
    outputs = result.outputs_at(t)
    q = result.at(t)[0]
    columns = []
    for link, n in ((link, link.joint.name[-1]) for link in result.model.links if link.joint.name.startswith("elbow")):
        elbow, motor = link.q, next(x.q for x in result.model.links if x.joint.name == f"motor{n}")
        turn = q[:, motor] + q[:, elbow]
        f = outputs[f"reaction_leg{n}"]
        columns += [np.cos(turn) * f[:, 0] - np.sin(turn) * f[:, 1], np.sin(turn) * f[:, 0] + np.cos(turn) * f[:, 1]]
    return np.column_stack(columns)


def errors(result: Result) -> tuple[Array, Array, Array]:
    """Times of accepted steps, e_c and e_p there."""
    _, r0, profile = path_of(result.model)
    t, q = result.t, result.q
    pose = next(link for link in result.model.links if link.joint.name == "pose")
    away = np.linalg.norm(q[:, pose.q : pose.q + 2] - rose(t, r0, profile)[0], axis=1)
    open_by = np.sum(np.abs(loop_values(result.model, q)), axis=1)
    return t, np.log10(np.maximum(open_by, MIN_ERROR)), np.log10(np.maximum(away, MIN_ERROR))


def loop_values(model: Model, q: Array) -> Array:
    """Leg tips minus platform vertices (rows, 6), by hand."""
    parts = path_of(model)[0]
    columns = {link.joint.name: link.q for link in model.links}
    x, turn = q[:, columns["pose"] : columns["pose"] + 2], q[:, columns["pose"] + 2]
    found = []
    for j in range(3):
        a = q[:, columns[f"motor{j + 1}"]]
        b = a + q[:, columns[f"elbow{j + 1}"]]
        sx, sy = parts.vertices[j]
        ox, oy = parts.pivots[j]
        found.append(ox + parts.l1 * np.cos(a) + parts.l2 * np.cos(b) - x[:, 0] - np.cos(turn) * sx + np.sin(turn) * sy)
        found.append(oy + parts.l1 * np.sin(a) + parts.l2 * np.sin(b) - x[:, 1] - np.sin(turn) * sx - np.cos(turn) * sy)
    return np.column_stack(found)


MAX_COMPARED = 3000  # rows


def figures(result: Result) -> dict[str, float]:
    parts, r0, profile = path_of(result.model)
    t, e_c, e_p = errors(result)
    start = exact_motion(parts, np.zeros(1), r0, profile)
    found = {f"tau0_{j + 1}": float(start.torques[0, j]) for j in range(3)}
    found |= {f"lambda0_{k + 1}": float(start.multipliers[0, k]) for k in range(6)}
    if not result.model.has_modes:
        found |= {"e_c_max": float(e_c.max()), "e_c_mean": float(e_c.mean())}
        some = t[:: max(1, len(t) // MAX_COMPARED)]
        exact = exact_motion(parts, some, r0, profile).multipliers
        if result.dense is not None and len(result.dense.starts):
            off = multipliers_along(result, some) - exact
            if np.any(exact):
                found["lambda_rms_error"] = float(np.sqrt(np.mean(off**2) / np.mean(exact**2)))
    found["e_p_max"] = float(e_p.max())
    found["evaluations"] = float(result.stats["evaluations"])
    found["real_time_factor"] = float(t[-1] / result.stats["wall_s"]) if result.stats["wall_s"] > 0 else 0.0
    pose = next(link for link in result.model.links if link.joint.name == "pose").q
    for when in (1.0, 2.0, 4.0):
        if when <= t[-1] and result.dense is not None:
            q = result.at(when)[0]
            found |= {f"pose_{key}_at_{when:g}s": float(q[pose + k]) for k, key in enumerate(("x", "y", "theta"))}
    found |= {f"pose_end_{key}": float(result.q[-1, pose + k]) for k, key in enumerate(("x", "y", "theta"))}
    return found


PRINTED = "spec 2"
TAU0 = (-2.962445368, 9.557595171, -6.744036132)
LAMBDA0 = (-2.364196792, 3.552324914, 15.041576843, 4.387333590, 7.061828751, -7.939658505)
POSE = {"x": "m", "y": "m", "theta": "rad"}
FIGURES = {
    **{
        f"tau0_{j + 1}": Figure(f"torque of motor {j + 1} at the start", "N m", TAU0[j], 1e-9, PRINTED)
        for j in range(3)
    },
    **{
        f"lambda0_{k + 1}": Figure(
            f"force on the tip of leg {k // 2 + 1} at the start, {'xy'[k % 2]}", "N", LAMBDA0[k], 1e-9, PRINTED
        )
        for k in range(6)
    },
    "e_c_max": Figure("log10 of the largest sum |c_i| over accepted steps"),
    "e_c_mean": Figure("mean of log10 sum |c_i| over accepted steps"),
    "e_p_max": Figure("log10 of the largest distance of the platform from its path over accepted steps"),
    "lambda_rms_error": Figure("forces on the leg tips against the exact ones, root mean square, relative"),
    "evaluations": Figure("evaluations of the equations of motion"),
    "real_time_factor": Figure("simulated over computing time"),
    **{
        f"pose_{key}_at_{when}s": Figure(f"{key} of the platform at {when} s", unit)
        for when in (1, 2, 4)
        for key, unit in POSE.items()
    },
    **{f"pose_end_{key}": Figure(f"{key} of the platform at the end", unit) for key, unit in POSE.items()},
}


def panels(settings: dict[str, Any]) -> tuple[Panel, ...]:
    legs = (1, 2, 3)
    return (
        Panel("Platform", "m", (("x", "platform[0]"), ("y", "platform[1]"))),
        Panel("Rotation of the platform", "rad", (("theta_p", "pose.angle"),)),
        Panel("Motor torques", "N m", tuple((f"motor {n}", f"torque{n}[0]") for n in legs)),
        Panel("Motor angles", "rad", tuple((f"motor {n}", f"motor{n}") for n in legs)),
        Panel("Forces on the leg tips, along the leg", "N", tuple((f"leg {n}", f"reaction_leg{n}[0]") for n in legs)),
        Panel("Forces on the leg tips, across the leg", "N", tuple((f"leg {n}", f"reaction_leg{n}[1]") for n in legs)),
    )


MAX_POINTS = 1500  # of a curve


def summarise_run(result: Result) -> tuple[Finding, ...]:
    """Errors over time, and the forces on the leg tips beside those of the exact motion."""
    parts, r0, profile = path_of(result.model)
    t, e_c, e_p = errors(result)
    # the start has no errors yet
    some = slice(1, None, max(1, len(t) // MAX_POINTS))
    curves = [("e_p, from the path", t[some], e_p[some])]
    if result.model.has_modes or result.dense is None or len(result.dense.starts) == 0:
        return (Finding("Errors over time", ERRORS, charts=(Lines("Errors", "log10 m", "time", "s", tuple(curves)),)),)
    curves.append(("e_c, of the loops", t[some], e_c[some]))
    found, exact = multipliers_along(result, t[some]), exact_motion(parts, t[some], r0, profile).multipliers
    sizes = [np.hypot(x[:, ::2], x[:, 1::2]) for x in (found, exact)]
    forces = [(f"leg {j + 1}", t[some], sizes[0][:, j]) for j in range(3)]
    forces += [(f"leg {j + 1}, exact", t[some], sizes[1][:, j]) for j in range(3)]
    charts = (
        Lines("Errors", "log10 m", "time", "s", tuple(curves)),
        Lines("Forces on the leg tips", "N", "time", "s", tuple(forces), dashed=tuple(x[0] for x in forces[3:])),
    )
    return (Finding("Errors over time", ERRORS, charts=charts),)


ERRORS = (
    "e_c = log10 sum |c_i|: how far the legs leave the platform; e_p = log10 |p - path|, both at accepted steps. "
    "Forces on the leg tips beside those of the exact motion."
)


# --- several runs -----------------------------------------------------------------------------------------------

STIFFNESSES = tuple(10.0**k for k in range(1, 9))


def variants(settings: dict[str, Any]) -> dict[str, Variant]:
    """Every way of closing the loops; virtual springs from 10 to 1e8 N/m, damped, pre-stretched, and implicit."""
    if settings["method"] != "all":
        return {}

    def one(method: str, **options: Any) -> Variant:
        own = {**settings, "method": method, **{key: SETTINGS[key].default for key in OF_SPRINGS.values()}}
        return Variant(own, {**run_options(own), **options})

    found = {"reduced": one("reduced"), "multipliers": one("multipliers"), "implicit": one("implicit")}
    for K in STIFFNESSES:
        found[f"springs {K:.0e}"] = one("springs", closure_stiffness=K)
    for K in (1e4, 1e6, 1e8):
        found[f"damped {K:.0e}"] = one("springs", closure_stiffness=K, closure_damping=float(np.sqrt(K)))
        found[f"stretched {K:.0e}"] = one("springs", closure_stiffness=K, closure_prestretch=True)
    for K in (1e6, 1e8, 1e10):
        found[f"generalised-alpha {K:.0e}"] = one(
            "springs", closure_stiffness=K, integrator="generalised_alpha", step=1e-3
        )
    for form in OTHER_FORMS:
        for K in (1e6, 1e7):
            found[f"{form} {K:.0e}"] = one("springs", closure_stiffness=K, closure_form=form)
    return found


def compare_variants(settings: dict[str, Any], results: Mapping[str, Result]) -> tuple[Finding, ...]:
    return conclude_springs({label: figures(result) for label, result in results.items()})


CASE = Case(
    name="parallel-3rrr",
    title="a planar parallel robot on a rose path",
    source=SOURCE,
    settings=SETTINGS,
    build=build,
    figures=figures,
    figure_table=FIGURES,
    panels=panels,
    unused=unused,
    run={"integrator": "dopri5", "rtol": 1e-3, "atol": 1e-6},
    options=run_options,
    variants=variants,
    compare_variants=compare_variants,
    summarise_run=summarise_run,
)

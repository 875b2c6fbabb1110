"""The arm of the space shuttle, two flexible booms and five flexible joints, falls on an oblique plane.

After [obliqueimpact]. Booms are uniform tubes with lumps at their ends that keep mass and moment of inertia, the wrist
is three rigid links. Joint stiffness, rotors and friction are assumed."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.cases.case import Case, Setting, Variant, vector_panel
from pliant.cases.contact_settings import CONTACT_SETTINGS, friction_law, normal_law, unused_keys
from pliant.cases.impact_charts import (
    COLUMNS,
    IMPACT_FIGURES,
    NUMBERS,
    Impact,
    compare_modes,
    force_chart,
    impact_row,
    missing_impacts,
    words_for_maxima,
    words_for_modes,
)
from pliant.errors import AccuracyWarning
from pliant.methods.integrators import Adams
from pliant.model.bodies import Body, Frame
from pliant.model.contacts import Contact, Plane
from pliant.model.flexible import COUPLINGS, Beam, Bending, Damping, GivenSection, Material, PointMass
from pliant.model.joints import Joint
from pliant.model.model import Model, Output
from pliant.model.transmissions import Transmission
from pliant.report_types import Figure, Finding, Lines, Panel
from pliant.result import Result

SOURCE = "independent computation with the same data, equations assembled at Gauss points"


@dataclass(frozen=True)
class Boom:
    """A thin tube with a point mass at each end."""

    length: float  # [m]
    tube_mass: float  # [kg]
    end_mass: float  # of each end [kg]
    wall: float  # [m]
    polar_inertia: float  # of the whole about its axis [kg m^2]


@dataclass(frozen=True)
class RigidLink:
    """Mass centre at mid length."""

    length: float  # [m]
    mass: float  # [kg]
    inertia: Any  # about the mass centre: xx, yy, zz [kg m^2]


BOOMS = {
    "upper_boom": Boom(6.377, 61.684, 38.833, 2.54e-3, 3.225),
    "lower_boom": Boom(7.06, 54.944, 16.238, 1.78e-3, 1.59),
}
WRIST = {
    "pitch_link": RigidLink(0.4572, 8.48, (0.0893, 0.402, 0.402)),
    "yaw_link": RigidLink(0.762, 45.94, (0.408, 4.68, 4.68)),
    "roll_link": RigidLink(0.6604, 45.21, (1.903, 3.816, 2.823)),
}
TUBE_RADIUS = 0.165  # to the middle of the wall [m]
YOUNG, SHEAR = 127e9, 48e9  # [Pa]
ELBOW_OFFSET = -0.475  # of the elbow from the axis of the upper boom, along z [m]
# joint: child, axis, and whose stiffness and rotor it has
JOINTS = {
    "shoulder": ("upper_boom", (0.0, 0.0, 1.0), "shoulder"),
    "elbow": ("lower_boom", (0.0, 0.0, 1.0), "elbow"),
    "wrist_pitch": ("pitch_link", (0.0, 0.0, 1.0), "wrist"),
    "wrist_yaw": ("yaw_link", (0.0, 1.0, 0.0), "wrist"),
    "wrist_roll": ("roll_link", (1.0, 0.0, 0.0), "wrist"),
}
# what the tip of the lower boom has reached after 0.645 s of free fall
PLANE_Y, PLANE_Z = -2.0441199060737, -0.4654038690627

SETTINGS = {
    "modes": Setting(2, "bending modes of each boom in each plane", low=0, high=8),
    "stretch": Setting(1, "modes of each boom", low=0, high=8),
    "torsion": Setting(1, "modes of each boom", low=0, high=8),
    "shapes": Setting("modes", "of bending: modes of a clamped beam, or polynomials", choices=("modes", "polynomials")),
    "coupling": Setting("high-order", "of bending and axial motion", choices=COUPLINGS),
    "boom_damping": Setting(0.0, "of the booms' modes, to their critical damping", low=0.0),
    "joints": Setting("flexible", "with or without transmissions that twist", choices=("flexible", "rigid")),
    "shoulder_stiffness": Setting(1.1e6, "of its transmission", "N m/rad", low=1.0),
    "elbow_stiffness": Setting(7e5, "of its transmission", "N m/rad", low=1.0),
    "wrist_stiffness": Setting(2.5e5, "of each of its transmissions", "N m/rad", low=1.0),
    "shoulder_rotor": Setting(5.0, "inertia on the joint's side of the gear", "kg m^2", low=1e-6),
    "elbow_rotor": Setting(5.0, "inertia on the joint's side of the gear", "kg m^2", low=1e-6),
    "wrist_rotor": Setting(2.0, "inertia of each, on the joint's side of the gear", "kg m^2", low=1e-6),
    "joint_damping": Setting(0.0, "of every transmission", "N m s/rad", low=0.0),
    "backlash": Setting(0.0, "of every transmission", "rad", low=0.0),
    "gravity": Setting(9.81, "along -y", "m/s^2"),
    "plane_angle": Setting(math.radians(15), "of the plane's normal from y towards z", "rad"),
    "plane_y": Setting(PLANE_Y, "of a point in the plane", "m"),
    "plane_z": Setting(PLANE_Z, "of a point in the plane", "m"),
    "study": Setting(
        "none",
        "modes: the impact with more and more bending modes; friction: with several friction laws; scheme: with the "
        "fixed steps of the paper",
        choices=("none", "modes", "friction", "scheme"),
    ),
    **CONTACT_SETTINGS,
    "normal_law": replace(CONTACT_SETTINGS["normal_law"], default="lankarani-nikravesh"),
    "stiffness": replace(CONTACT_SETTINGS["stiffness"], default=1e9),
    "mu_k": replace(CONTACT_SETTINGS["mu_k"], default=0.2),
    "mu_s": replace(CONTACT_SETTINGS["mu_s"], default=0.25),
    "v0": replace(CONTACT_SETTINGS["v0"], default=1e-3),
    "v1": replace(CONTACT_SETTINGS["v1"], default=1e-2),
    "sharpness": replace(CONTACT_SETTINGS["sharpness"], default=200.0),
}


# --- model ------------------------------------------------------------------------------------------------------


def build(settings: dict[str, Any]) -> Model:
    angle = settings["plane_angle"]
    normal = (0.0, math.cos(angle), math.sin(angle))
    plane = Plane(normal=normal, offset=normal[1] * settings["plane_y"] + normal[2] * settings["plane_z"])
    is_flexible = settings["joints"] == "flexible"
    return Model(
        name="canadarm",
        gravity=(0.0, -settings["gravity"], 0.0),
        bodies=(
            *(_beam(settings, name) for name in BOOMS),
            *(_tip_lump(name) for name in BOOMS),
            *(Body(name, link.mass, (0.5 * link.length, 0.0, 0.0), link.inertia) for name, link in WRIST.items()),
        ),
        joints=(
            *(_joint(settings, name) for name in JOINTS),
            *(Joint(f"{boom}_weld", "fixed", f"{boom}_tip", _tip(boom)) for boom in BOOMS),
        ),
        frames=tuple(replace(_tip(boom), name=f"{boom}_end") for boom in BOOMS),
        contacts=(
            Contact("plane", normal_law(settings), plane, ("lower_boom_end",), friction_law(settings)),
        ),
        outputs=(
            *(
                Output(f"{boom}_{quantity}", f"{boom}_end", quantity)
                for boom in BOOMS
                for quantity in ("position", "velocity", "acceleration")
            ),
            Output("plane_force", "plane", "contact"),
            *(Output(f"{name}_torque", name, "transmission") for name in JOINTS if is_flexible),
        ),
        duration=0.7,
    )  # fmt: skip


def _beam(settings: dict[str, Any], name: str) -> Beam:
    boom, modes = BOOMS[name], settings["modes"]
    area, second_moment = 2 * math.pi * TUBE_RADIUS * boom.wall, math.pi * TUBE_RADIUS**3 * boom.wall
    mass_per_length = boom.tube_mass / boom.length
    bending = Bending(modes, family=settings["shapes"]) if modes else None
    return Beam(
        name,
        boom.length,
        Material(YOUNG, mass_per_length / area, shear_modulus=SHEAR),
        GivenSection(area, second_moment, second_moment, 2 * second_moment, outer_y=TUBE_RADIUS, outer_z=TUBE_RADIUS),
        bending_y=bending,
        bending_z=bending,
        stretch=settings["stretch"],
        torsion=settings["torsion"],
        theory="euler-bernoulli",
        coupling=settings["coupling"],
        rotary="section",
        rotary_inertia=(mass_per_length * TUBE_RADIUS**2, 0.0, 0.0),
        damping=Damping(ratio=settings["boom_damping"]),
        mass_per_length=mass_per_length,
        point_masses=(PointMass(boom.end_mass, 0.0, (_lump_inertia(boom), 0.0, 0.0)),),
    )


def _lump_inertia(boom: Boom) -> float:
    """Of each end: half of the moment of inertia about the axis that the tube has not [kg m^2]."""
    return 0.5 * (boom.polar_inertia - boom.tube_mass * TUBE_RADIUS**2)


def _tip(boom: str) -> Frame:
    return Frame(boom, (BOOMS[boom].length, 0.0, 0.0))


def _tip_lump(name: str) -> Body:
    inertia = ((_lump_inertia(BOOMS[name]), 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    return Body(f"{name}_tip", BOOMS[name].end_mass, inertia=inertia, inertia_check="symmetric")


def _joint(settings: dict[str, Any], name: str) -> Joint:
    child, axis, group = JOINTS[name]
    transmission = Transmission(
        settings[f"{group}_stiffness"], damping=settings["joint_damping"], backlash=settings["backlash"]
    )
    return Joint(
        name,
        "revolute",
        child,
        _parent(name),
        axis,
        armature=settings[f"{group}_rotor"],
        transmission=transmission if settings["joints"] == "flexible" else None,
    )


def _parent(joint: str) -> Any:
    """Where a joint sits: at the end of the link before."""
    before = [*BOOMS, *WRIST][list(JOINTS).index(joint) - 1]
    length = (BOOMS.get(before) or WRIST[before]).length
    return "world" if joint == "shoulder" else Frame(before, (length, 0.0, ELBOW_OFFSET if joint == "elbow" else 0.0))


# --- figures ----------------------------------------------------------------------------------------------------


def impact_of(result: Result) -> Impact:
    return Impact(result, "lower_boom_velocity", "lower_boom_acceleration", "plane_force")


def figures(result: Result) -> dict[str, float]:
    found = {"tip_height_end": float(result.outputs["lower_boom_position"][-1, 1])}
    return found | (impact_of(result).figures() if len(result.contacts) else {"contacts": 0.0})


EXPECTED = {
    "impact_time": (0.645, 1e-7, "the plane's place"),
    "normal_speed": (6.2705, 5e-5, SOURCE),
    "tangential_speed": (2.6676, 5e-5, SOURCE),
    "peak_normal": (354.9e3, 50.0, SOURCE),
    "contact_time": (2.563e-3, 2.5e-6, SOURCE),
    "impulse": (478.7, 0.05, SOURCE),
}
FIGURES = {
    **{key: Figure(row.help, row.unit, *EXPECTED.get(key, ())) for key, row in IMPACT_FIGURES.items()},
    "tip_height_end": Figure("y of the tip of the lower boom at the end", "m"),
}


# --- report -----------------------------------------------------------------------------------------------------


def panels(settings: dict[str, Any]) -> tuple[Panel, ...]:
    links = tuple((name, name) for name in JOINTS)
    made = [
        vector_panel("Tip of the lower boom", "m", "lower_boom_position"),
        Panel("Joint angles, link side", "rad", links),
    ]
    if settings["joints"] == "flexible":
        made += [
            Panel("Joint angles, motor side", "rad", tuple((name, f"{name}.motor") for name in JOINTS)),
            Panel("Torques of the transmissions", "N m", tuple((name, f"{name}_torque") for name in JOINTS)),
        ]
    for boom, words in (("upper_boom", "upper"), ("lower_boom", "lower")):
        made.append(vector_panel(f"Tip acceleration, {words} boom", "m/s^2", f"{boom}_acceleration"))
    return tuple(made)


def summarise_run(result: Result) -> tuple[Finding, ...]:
    """The impact in close-up."""
    if not len(result.contacts):
        return (Finding("No impact", "The arm has not reached the plane: let it fall longer, or move the plane."),)
    impact, found = impact_of(result), figures(result)
    text = (
        f"The tip of the lower boom meets the plane after {impact.start:.4f} s with {found['normal_speed']:.4f} m/s "
        f"along the normal and {found['tangential_speed']:.4f} m/s along the plane. They touch for "
        f"{1e3 * found['contact_time']:.4f} ms. The normal force has {words_for_maxima(found['force_peaks'])}, at most "
        f"{1e-3 * found['peak_normal']:.2f} kN, and an impulse of {found['impulse']:.2f} N s. How much of this depends "
        "on the number of modes: --set study=modes; on the friction law: --set study=friction."
    )
    charts = (*_flight(result, impact), *impact.charts(), *_deflections(result, impact))
    return (Finding("The impact", text, charts=charts),)


def _flight(result: Result, impact: Impact) -> tuple[Lines, ...]:
    """What the tips' accelerations were before: in flight the booms tremble, at the impact they jump."""
    t = np.linspace(result.t[0], impact.start, 2001)[:-1]
    values = result.outputs_at(t)
    sizes = {boom: np.linalg.norm(values[f"{boom}_acceleration"], axis=1) for boom in BOOMS}
    curves = tuple((f"tip of the {_words(boom)}", t, size) for boom, size in sizes.items())
    return (Lines("Before: tip accelerations", "m/s^2", "time", "s", curves),)


def _words(boom: str) -> str:
    return boom.replace("_", " ")


def tip_deflections(result: Result, boom: str, state: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Deflection of a boom's end along y and z (or its rate) from rows of q (or v): every shape is 1 there."""
    link = next(link for link in result.model.links if link.body.name == boom)
    n_y, n_z, _, _ = link.body.families
    columns = link.q_modes if state.shape[1] == len(result.model.coordinates) else link.v_modes
    modes = state[:, columns]
    return {"y": modes[:, :n_y].sum(axis=1), "z": modes[:, n_y : n_y + n_z].sum(axis=1)}


def _deflections(result: Result, impact: Impact) -> tuple[Lines, ...]:
    t = impact.times()
    across = ("time after the first touch", "ms")
    after = 1e3 * (t - impact.start)
    made = []
    for rows, title, unit, scale in zip(
        result.at(t), ("tip deflections", "their rates"), ("mm", "m/s"), (1e3, 1.0), strict=True
    ):
        curves = tuple(
            (f"{_words(boom)} {axis}", after, scale * values)
            for boom in BOOMS
            for axis, values in tip_deflections(result, boom, rows).items()
        )
        made.append(Lines(f"Impact: {title}", unit, *across, curves))
    return tuple(made)


# --- several runs -----------------------------------------------------------------------------------------------

STUDIED = (0, 1, 2, 3, 4, 5)  # bending modes
LAWS: dict[str, dict[str, Any]] = {
    "none": {"friction_law": "none"},
    "ambrosio": {"friction_law": "ambrosio", "v0": 1e-3, "v1": 1e-2},
    "atan": {"friction_law": "atan", "sharpness": 200.0},
    "step-stribeck": {"friction_law": "step-stribeck", "v0": 5e-3, "v1": 5e-2},
    "coulomb": {"friction_law": "coulomb"},
}


def variants(settings: dict[str, Any]) -> dict[str, Variant]:
    if settings["study"] == "modes":
        # what was asked for stands first: result.nc holds it
        counts = dict.fromkeys((settings["modes"], *STUDIED))
        return {words_for_modes(count): Variant({**settings, "modes": count}) for count in counts}
    if settings["study"] == "friction":
        return {law: Variant({**settings, **change}) for law, change in LAWS.items()}
    if settings["study"] == "scheme":
        return {name: Variant(settings, {"integrator": name}) for name in ("dop853", "adams")}
    return {}


def unused(settings: dict[str, Any]) -> Mapping[str, str]:
    found = dict(unused_keys(settings))
    if settings["study"] == "friction":
        found = {key: why for key, why in found.items() if not why.startswith("friction_law")}
        found |= {key: "study = friction, which has its own" for key in ("friction_law", "v0", "v1", "sharpness")}
    if settings["joints"] == "rigid":
        keys = [f"{group}_stiffness" for group in ("shoulder", "elbow", "wrist")]
        found |= {key: "joints = rigid" for key in (*keys, "joint_damping", "backlash")}
    return found


def compare_variants(settings: dict[str, Any], results: Mapping[str, Result]) -> tuple[Finding, ...]:
    if missing := missing_impacts(results):
        return missing
    impacts = {label: impact_of(result) for label, result in results.items()}
    found = {label: impact.figures() for label, impact in impacts.items()}
    if settings["study"] == "modes":
        return (compare_modes(impacts, found),)
    if settings["study"] == "scheme":
        return (_compare_schemes(results, impacts),)
    text = (
        "The same impact with several friction laws. The point slides all the time, much faster than where the laws "
        "differ, so that they agree. Where a point stops and slides back: one-link-collision."
    )
    rows = tuple(impact_row(law, values) for law, values in found.items())
    return (Finding("Friction laws", text, ("law", *COLUMNS), rows, (force_chart(impacts),), NUMBERS),)


# --- the paper's integrator --------------------------------------------------------------------------------------

FLIGHT_STEP, CONTACT_STEP = 1e-3, 1e-7  # [s] of the paper
MARGIN = 1e-6  # [s] before the touch, where the short steps begin
SCHEME_COLUMNS = (
    "method",
    "steps",
    "evaluations",
    "computing time [ms]",
    "contact time [ms]",
    "peak [kN]",
    "impulse [N s]",
    "energy residual",
)


def _compare_schemes(results: Mapping[str, Result], impacts: Mapping[str, Impact]) -> Finding:
    """Error control and located events against fixed steps, long in flight and short in contact."""
    rows = [
        _scheme_row(f"{label}, error control", [result], result.contacts[0], result.audit["energy_residual"])
        for label, result in results.items()
    ]
    first = next(iter(results))
    words = []
    for order, step in ((4, FLIGHT_STEP), (4, 0.5 * FLIGHT_STEP)):
        label = f"Adams order {order}, {1e3 * step:g} ms in flight, {1e6 * CONTACT_STEP:g} us in contact"
        pieces = _fixed_steps(results[first], impacts[first], order, step)
        if pieces[-1].is_ok and len(pieces) == 3 and len(pieces[1].contacts):
            worst = max(piece.audit["energy_residual"] for piece in pieces)
            rows.append(_scheme_row(label, pieces, pieces[1].contacts[0], worst))
        else:
            words.append(f" With {label} the run breaks down: {pieces[-1].reason or 'no contact'}.")
    text = (
        "What the integrator of the paper costs: Adams-Bashforth-Moulton with fixed steps, long in flight and short in "
        "contact, where the short ones begin just before the touch. Error control with located events follows the "
        "same impact with fewer evaluations and keeps the energy, which fixed steps lose in flight: they must resolve "
        "the fastest mode of the booms, whether or not it matters." + "".join(words)
    )
    return Finding("Fixed steps", text, SCHEME_COLUMNS, tuple(rows), numbers=tuple(range(1, len(SCHEME_COLUMNS))))


def _fixed_steps(result: Result, impact: Impact, order: int, step: float) -> list[Result]:
    """Flight, contact and flight; what there is of them."""
    from pliant.simulation.simulate import simulate  # loads the kernels: listing the cases does without

    model, end = result.model, float(result.t[-1])
    touch = float(result.contacts["t_end"][0] - result.contacts["t_start"][0])
    lengths = (impact.start - MARGIN, 1.02 * touch + MARGIN)
    plan = ((lengths[0], step), (lengths[1], CONTACT_STEP), (max(end - sum(lengths), step), step))
    pieces: list[Result] = []
    q, v = model.q0, model.v0
    for length, size in plan:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AccuracyWarning)
            piece = simulate(model, length, q0=q, v0=v, integrator=Adams(max_order=order), step=size)
        pieces.append(piece)
        if not piece.is_ok:
            break
        q, v = piece.q[-1], piece.v[-1]
    return pieces


def _scheme_row(label: str, pieces: list[Result], contact: Any, residual: float) -> tuple[str, ...]:
    steps, evaluations, seconds = (
        sum(piece.stats[key] for piece in pieces) for key in ("steps", "evaluations", "wall_s")
    )
    touch = 1e3 * (contact["t_end"] - contact["t_start"])
    sizes = f"{touch:.5f}", f"{1e-3 * contact['peak_normal']:.4f}", f"{contact['impulse']:.4f}"
    return label, f"{steps:.0f}", f"{evaluations:.0f}", f"{1e3 * seconds:.0f}", *sizes, f"{residual:.1e}"


CASE = Case(
    name="canadarm",
    title="an arm with flexible booms and flexible joints falls on an oblique plane",
    source=SOURCE,
    settings=SETTINGS,
    build=build,
    figures=figures,
    figure_table=FIGURES,
    panels=panels,
    run={"rtol": 1e-10},
    unused=unused,
    variants=variants,
    compare_variants=compare_variants,
    summarise_run=summarise_run,
)

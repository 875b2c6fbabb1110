"""A chain of elastic links falls on the ground: several impacts where rigid links make one [fallingchain]."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.cases.case import Case, Setting, Variant, coordinate_peak
from pliant.cases.contact_settings import CONTACT_SETTINGS, friction_law, normal_law, unused_keys
from pliant.errors import ModelError
from pliant.model.bodies import Body, Frame, Rod
from pliant.model.contacts import Contact, Plane
from pliant.model.flexible import PAIRS, Beam, Bending, Damping, GivenSection, Material, Rectangle, ShapeSource
from pliant.model.joints import Joint
from pliant.model.model import Base, Model, Output
from pliant.report_types import Figure, Finding, Lines, Panel
from pliant.result import Result

SOURCE = "J. Appl. Comput. Sci. Mech. 36 (4), 2024, doi 10.22067/jacsm.2024.88007.1256: chain of three elastic links"
SETS = ("ss-ss-ss", "cc-cc-cc", "sc-cc-cs", "cs-ss-sc")
SETTINGS = {
    "modes": Setting(
        "ss-ss-ss",
        "ends of the modes of each link (s supported, c clamped, f free): ss-ss-ss, cc-cc-cc, sc-cc-cs, cs-ss-sc or "
        "any list; rigid: links that do not bend; all: the four sets side by side; "
        "study: which set is closest to the converged motion",
    ),
    "links": Setting(0, "number of links; 0: as many as modes names (rigid: 3)", low=0, high=1000),
    "modes_per_link": Setting(1, "modes of each link", low=1, high=12),
    "length": Setting(1.0, "of each link", "m", low=1e-6),
    "area": Setting(3.75e-4, "of the section", "m^2", low=1e-12),
    "mass_per_length": Setting(1.0, "of each link", "kg/m", low=1e-9),
    "second_moment": Setting(4.883e-9, "of the section", "m^4", low=1e-18),
    "rotary_inertia": Setting(2.9473e-5, "of the section, per length", "kg m", low=0.0),
    "young": Setting(2e11, "modulus of elasticity", "Pa", low=1.0),
    "shear": Setting(7.7e10, "shear modulus", "Pa", low=1.0),
    "shear_factor": Setting(5 / 6, "of the section", low=1e-3),
    "kelvin_voigt": Setting(125.0, "viscosity of the material", "Pa s", low=0.0),
    "air": Setting(0.025, "damping of the bending by air", "kg/(m s)", low=0.0),
    "gravity": Setting(9.81, "downwards", "m/s^2"),
    "height": Setting(0.9, "of the ends at the start", "m"),
    "angle": Setting(math.pi / 6, "of the first link at the start; the last one has its opposite", "rad"),
    "theory": Setting("timoshenko", "of bending", choices=("timoshenko", "euler-bernoulli")),
    "coupling": Setting("linear", "with or without shortening by bending", choices=("linear", "high-order")),
    "rotary": Setting(
        "frame",
        "inertia of the sections rotates with the frame or also with the bending",
        choices=("frame", "section", "none"),
    ),
    "shapes": Setting(
        "printed", "modes of a 12.5 mm x 30 mm section with G = E/2.6, as printed, or of the beam itself",
        choices=("printed", "own"),
    ),
    "picture_time": Setting(0.0, "of the picture of the bent robot; 0: when it bends most", "s", low=0.0),
    "enlarge": Setting(0.0, "factor on the deformation in that picture; 0: as much as it takes to see it", low=0.0),
    **CONTACT_SETTINGS,
}  # fmt: skip


# --- model ------------------------------------------------------------------------------------------------------


def link_ends(settings: dict[str, Any]) -> list[str]:
    """The pair of ends of every link; "" for a rigid one."""
    words, wanted = str(settings["modes"]), int(settings["links"])
    if words == "rigid":
        return [""] * (wanted or 3)
    pairs = (SETS[0] if words in ("all", "study") else words).split("-")
    for pair in pairs:
        if pair not in PAIRS:
            raise ModelError(
                f"modes: {pair!r} in {words!r} is no pair of ends; give pairs joined by -, each one of "
                f"{', '.join(PAIRS)}, or rigid, all or study"
            )
    if wanted and len(set(pairs)) == 1:
        return pairs[:1] * wanted
    if wanted and len(pairs) != wanted:
        raise ModelError(f"modes: {words!r} names {len(pairs)} links, but links = {wanted}; let them agree")
    return pairs


def build(settings: dict[str, Any]) -> Model:
    ends = link_ends(settings)
    n, length = len(ends), settings["length"]
    slopes = settings["angle"] * (1 - 2 * np.arange(n) / (n - 1)) if n > 1 else np.zeros(1)
    names = [f"link{i + 1}" for i in range(n)]
    ends_of = {"O1": ("link1", 0.0)} | {f"O{i + 2}": (name, length) for i, name in enumerate(names)}
    half = float(0.5 * length * np.sum(np.cos(slopes)))
    start = (0.0, 0.0, math.sin(0.5 * slopes[0]), math.cos(0.5 * slopes[0]))
    return Model(
        name="falling-chain",
        gravity=(0.0, -settings["gravity"], 0.0),
        bodies=tuple(_link(settings, name, pair) for name, pair in zip(names, ends, strict=True)),
        joints=tuple(
            Joint(f"q{i + 1}", "revolute", names[i], parent=f"O{i + 1}", q0=float(slopes[i] - slopes[i - 1]))
            for i in range(1, n)
        ),
        base=Base("planar", (-half, settings["height"], 0.0), attitude=start),
        frames=tuple(Frame(body, (x, 0.0, 0.0), name=name) for name, (body, x) in ends_of.items()),
        contacts=(
            Contact(
                "ground",
                normal_law(settings),
                Plane(normal=(0.0, 1.0, 0.0)),
                points=tuple(ends_of),
                friction=friction_law(settings),
            ),
        ),
        outputs=(
            *(Output(f"{name}_position", name, "position") for name in ends_of),
            *(Output(f"{name}_velocity", name, "velocity") for name in ends_of),
            Output("ground_force", "ground", "contact"),
        ),
        duration=1.5,
    )  # fmt: skip


def _link(settings: dict[str, Any], name: str, ends: Any) -> Body | Beam:
    length, mass, turning = settings["length"], settings["mass_per_length"], settings["rotary_inertia"]
    if not ends:
        across = mass * length**3 / 12 + turning * length
        inertia = ((0.0, 0.0, 0.0), (0.0, across, 0.0), (0.0, 0.0, across))
        return Body(name, mass=mass * length, inertia=inertia, shape=Rod(length))
    material = Material(settings["young"], mass / settings["area"], shear_modulus=settings["shear"])
    printed = ShapeSource(Material(settings["young"], mass / settings["area"], poisson=0.3), Rectangle(0.0125, 0.03))
    return Beam(
        name,
        length,
        material,
        GivenSection(settings["area"], settings["second_moment"], settings["second_moment"]),
        bending_y=Bending(settings["modes_per_link"], ends),
        theory=settings["theory"],
        coupling=settings["coupling"],
        rotary=settings["rotary"],
        damping=Damping(air=settings["air"], kelvin_voigt=settings["kelvin_voigt"]),
        mass_per_length=mass,
        rotary_inertia=(0.0, 0.0, turning),
        shear_factor=settings["shear_factor"],
        shapes_from=printed if settings["shapes"] == "printed" else None,
    )


# --- figures ----------------------------------------------------------------------------------------------------


def point_names(result: Result) -> list[str]:
    return [frame.name for frame in result.model.frames if frame.name]


def figures(result: Result) -> dict[str, float]:
    contacts, energy = result.contacts, result.energy
    found: dict[str, float] = {
        "energy_start": float(energy["kinetic"][0] + energy["gravity"][0] + energy["elastic"][0]),
        "contacts": float(len(contacts)),
        "work_damping": float(energy.get("work_damper", np.zeros(1))[-1]),
        "work_normal": float(energy["work_normal"][-1]),
        "work_friction": float(energy.get("work_friction", np.zeros(1))[-1]),
        "symmetry_error": _symmetry_error(result),
    }
    if len(contacts):
        found["first_touchdown"], found["first_speed"] = float(contacts["t_start"][0]), float(contacts["v_in"][0])
    for link in result.model.links:
        for k in range(link.q_modes.start, link.q_modes.stop):
            found[f"{result.model.coordinates[k].replace('.', '_')}_peak"] = coordinate_peak(result, k)
    for name in point_names(result):
        for k, row in enumerate(contacts[contacts["point"] == name]):
            found[f"{name.lower()}_start_{k + 1}"] = float(row["t_start"])
            found[f"{name.lower()}_peak_{k + 1}"] = float(row["peak_normal"])
    return found


def _symmetry_error(result: Result) -> float:
    """How far the points are from being mirror images of each other [m]."""
    names = point_names(result)
    places = [result.outputs[f"{name}_position"] for name in names]
    mirror = np.array([-1.0, 1.0, 1.0])
    return float(max(np.max(np.abs(one - mirror * other)) for one, other in zip(places, places[::-1], strict=True)))


O1 = ((0.4283529369, 3666.79), (0.4326144266, 4148.29), (0.4368694228, 1345.84), (0.7273789579, 3132.07),
      (0.7339567014, 4230.78), (1.4882231987, 4115.69), (1.4917893424, 3590.46))  # fmt: skip
O2 = ((0.5215648520, 8622.02), (0.5259741148, 9378.80), (1.0390037613, 7606.07), (1.3138011009, 6031.13))
FIGURES = {
    "energy_start": Figure("energy at the start, gravity zero at the ground", "J", 36.297, 5e-4, SOURCE),
    "contacts": Figure("contacts of all points", "", 22.0, 0.0, SOURCE),
    "first_touchdown": Figure("start of the first contact", "s", 0.42835293687811, 1e-8, SOURCE),
    "first_speed": Figure("speed into the first contact", "m/s", 4.20214231, 1e-7, SOURCE),
    "work_damping": Figure("work of material and air damping", "J", -0.512188, 1e-4, SOURCE),
    "work_normal": Figure("work of the normal forces", "J", -23.025386, 1e-3, SOURCE),
    "work_friction": Figure("work of friction on the ground", "J", -2.347560, 1e-3, SOURCE),
    "symmetry_error": Figure("points against their mirror images, largest difference", "m", 0.0, 1e-6, SOURCE),
    "link1_mode1_peak": Figure("largest |d1|", "m", 0.01592107, 1e-6, SOURCE),
    "link2_mode1_peak": Figure("largest |d2|", "m", 0.02830995, 1e-6, SOURCE),
    "link3_mode1_peak": Figure("largest |d3|", "m", 0.01592107, 1e-6, SOURCE),
}
for _point, _values in (("o1", O1), ("o2", O2), ("o3", O2), ("o4", O1)):
    for _k, (_t, _force) in enumerate(_values):
        _accuracy = 1e-8 if _t < 0.53 else 1e-6 if _t < 1.06 else 1e-5
        FIGURES[f"{_point}_start_{_k + 1}"] = Figure(
            f"start of contact {_k + 1} of {_point.upper()}", "s", _t, _accuracy, SOURCE
        )
        FIGURES[f"{_point}_peak_{_k + 1}"] = Figure(
            "its largest normal force", "N", _force, 1e-2 if _t < 1.06 else 1.0, SOURCE
        )


# --- report -----------------------------------------------------------------------------------------------------


def panels(settings: dict[str, Any]) -> tuple[Panel, ...]:
    if settings["modes"] == "study":
        return ()
    n = len(link_ends(settings))
    points = [f"O{k + 1}" for k in range(min(n + 1, MAX_POINTS))]
    joints = [f"q{i + 1}" for i in range(1, min(n, MAX_POINTS))]
    bending = [f"link{i + 1}.mode1" for i in range(min(n, MAX_POINTS))] if settings["modes"] != "rigid" else []
    touchdown = math.sqrt(2 * max(settings["height"], 0.0) / settings["gravity"]) if settings["gravity"] > 0 else 0.0
    close = (max(touchdown - 0.002, 0.0), touchdown + 0.012)
    normal = tuple((point, f"ground_force[{4 * k}]") for k, point in enumerate(points))
    friction = tuple((point, f"ground_force[{4 * k + 1}]") for k, point in enumerate(points))
    heights = tuple((point, f"{point}_position[1]") for point in points)
    angles = (("link1", "link1.angle"), *((joint, joint) for joint in joints))
    made = [
        Panel("Height of the joints", "m", heights),
        Panel("Vertical speed of the joints", "m/s", tuple((point, f"{point}_velocity[1]") for point in points)),
        Panel("Joint angles", "rad", angles),
        Panel("Joint rates", "rad/s", tuple((label, f"{name}.rate") for label, name in angles)),
        Panel("Contacts so far", "", tuple((point, f"contacts.{point}") for point in points)),
        Panel(
            "First touchdown: height of the ends",
            "m",
            tuple((end, f"{end}_position[1]") for end in ("O1", f"O{n + 1}")),
            close,
        ),
        Panel("First touchdown: contacts so far", "", ((points[0], f"contacts.{points[0]}"),), close),
        Panel("Modal weights (first mode)", "m", tuple((name, name) for name in bending)),
        Panel("First touchdown: modal weights", "m", tuple((name, name) for name in bending), close),
        Panel("Normal forces", "N", normal),
        Panel("First touchdown: normal forces", "N", normal, close),
        Panel("Friction along the ground", "N", friction),
        Panel("First touchdown: friction", "N", friction, close),
    ]
    return tuple(panel for panel in made if panel.curves)


MAX_POINTS = 6  # in one chart


# --- several runs -----------------------------------------------------------------------------------------------

STUDIED = (1, 2, 3, 4, 6)  # modes per link
CONVERGED = ("ss", "sf")  # two families whose limit is the hinged beam, with so many modes of each:
MANY = 8
SPAN = 0.6  # [s] of the study: beyond, the motion is chaotic


def variants(settings: dict[str, Any]) -> dict[str, Variant]:
    """The four sets side by side; or the study: every set with more and more modes, and what they should come to."""
    if settings["modes"] == "all":
        return {name: Variant({**settings, "modes": name}) for name in SETS}
    if settings["modes"] != "study":
        return {}
    options = {"duration": SPAN, "rtol": 1e-9, "atol": 1e-11}
    wanted = {f"{name} x{m}": (name, m) for name in SETS for m in STUDIED}
    wanted |= {f"{ends} x{MANY}": ("-".join([ends] * 3), MANY) for ends in CONVERGED}
    return {
        label: Variant({**settings, "modes": name, "modes_per_link": m}, options) for label, (name, m) in wanted.items()
    }


def unused(settings: dict[str, Any]) -> dict[str, str]:
    if settings["modes"] != "study":
        return unused_keys(settings)
    why = "modes = study, which has its own"
    return unused_keys(settings) | {key: why for key in ("duration", "rtol", "atol", "modes_per_link")}


def compare_variants(settings: dict[str, Any], results: Mapping[str, Result]) -> tuple[Finding, ...]:
    return (_compare_sets(results),) if settings["modes"] == "all" else _study(results)


def _compare_sets(results: Mapping[str, Result]) -> Finding:
    rows = []
    for name, result in results.items():
        found = figures(result)
        starts = [found[f"o1_start_{k}"] for k in (1, 2, 3) if f"o1_start_{k}" in found]
        works = (found["work_damping"], found["work_normal"], found["work_friction"])
        rows.append(
            (
                name,
                f"{found['contacts']:.0f}",
                ", ".join(f"{t:.6f}" for t in starts),
                f"{1e3 * found['link1_mode1_peak']:.2f}, {1e3 * found['link2_mode1_peak']:.2f}",
                ", ".join(f"{work:.3f}" for work in works),
                f"{result.audit['energy_residual']:.1e}",
            )
        )
    return Finding(
        "Four sets of modes",
        "The same fall with four sets of assumed modes, side by side. They agree until the first touchdown; from the "
        "second impact on they are different robots. Which of them is right: --set modes=study.",
        (
            "set",
            "contacts",
            "first contacts of O1 [s]",
            "largest d1, d2 [mm]",
            "damping, normal, friction [J]",
            "audit",
        ),
        tuple(rows),
    )


def _study(results: Mapping[str, Result]) -> tuple[Finding, ...]:
    """Distance of every set from the converged motion, which two families of modes must agree on."""
    unfinished = [label for label, result in results.items() if not result.is_ok]
    if unfinished or not all(len(result.contacts) for result in results.values()):
        why = f"{', '.join(unfinished)} failed" if unfinished else f"not every run touches the ground within {SPAN} s"
        text = f"No answer: {why}; let it fall from less high, or with more gravity."
        return (Finding("Which set is closest to the converged motion", text),)
    t = np.linspace(0.0, SPAN, 1201)
    paths = {label: _paths(result, t) for label, result in results.items()}
    converged, check = (paths[f"{ends} x{MANY}"] for ends in CONVERGED)
    touchdown = float(next(iter(results.values())).contacts["t_start"][0])
    early, late = (t > touchdown) & (t < 0.5), t > touchdown
    floor = _distance(check, converged, early)
    wobble = _distance(paths[f"{SETS[0]} x{STUDIED[-1]}"], converged, early)
    away = {
        label: (_distance(path, converged, early), _distance(path, converged, late)) for label, path in paths.items()
    }
    best = min(SETS, key=lambda name: away[f"{name} x1"][0])
    rows = [
        (label, f"{len(results[label].contacts)}", f"{1e3 * near:.2f}", f"{1e3 * far:.2f}")
        for label, (near, far) in away.items()
    ]
    curves = tuple(
        (name, np.array(STUDIED, dtype=float), np.array([1e3 * away[f"{name} x{m}"][0] for m in STUDIED]))
        for name in SETS
    )
    others = ", ".join(f"{name} {1e3 * away[f'{name} x1'][0]:.1f} mm" for name in SETS if name != best)
    last = ", ".join(f"{name} {1e3 * away[f'{name} x{STUDIED[-1]}'][0]:.1f} mm" for name in SETS)
    text = (
        f"Converged motion: {MANY} modes per link with ends {CONVERGED[0]}; {MANY} with ends {CONVERGED[1]} agree with "
        f"it to {1e3 * floor:.1f} mm (root mean square over all joints, from touchdown to 0.5 s); with so many impacts "
        f"the way there is uneven, {STUDIED[-1]} modes are still {1e3 * wobble:.1f} mm away. With one mode per link "
        f"{best} is closest: {1e3 * away[f'{best} x1'][0]:.1f} mm; {others}. With {STUDIED[-1]} modes: {last}. More "
        "modes help only where the ends of the modes fit the hinges: a hinge leaves the end sections free to tilt, and "
        "modes clamped there never let them, however many there are."
    )
    chart = Lines("Distance from the converged motion until 0.5 s", "mm", "modes per link", "", curves, is_log=True)
    columns = ("set x modes per link", "contacts", "until 0.5 s [mm]", f"until {SPAN} s [mm]")
    found = {f"{name.replace('-', '_')}_distance": away[f"{name} x1"][0] for name in SETS}
    found |= {"converged_spread": floor, "closest_set": float(SETS.index(best) + 1)}
    return (
        Finding("Which set is closest to the converged motion", text, columns, tuple(rows), (chart,), (1, 2, 3), found),
    )


def _paths(result: Result, t: NDArray[np.float64]) -> NDArray[np.float64]:
    outputs = result.outputs_at(t)
    return np.stack([outputs[f"{name}_position"][:, :2] for name in point_names(result)], axis=1)


def _distance(path: NDArray[np.float64], other: NDArray[np.float64], chosen: NDArray[np.bool_]) -> float:
    return float(np.sqrt(np.mean(np.sum((path - other)[chosen] ** 2, axis=2))))


CASE = Case(
    name="falling-chain",
    title="a free chain of elastic links falls on the ground",
    source=SOURCE,
    settings=SETTINGS,
    build=build,
    figures=figures,
    figure_table=FIGURES,
    panels=panels,
    unused=unused,
    run={"rtol": 1e-11},
    picture=lambda settings: (settings["picture_time"] or None, settings["enlarge"] or None),
    variants=variants,
    compare_variants=compare_variants,
)

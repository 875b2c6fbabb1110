"""Two flexible links fall from the horizontal: shapes and couplings compared where the answer is known."""

from __future__ import annotations

from typing import Any

from pliant.cases.case import Case, Setting, peak
from pliant.model.bodies import Frame
from pliant.model.flexible import COUPLINGS, Beam, Bending, Damping, GivenSection, Material
from pliant.model.joints import Joint
from pliant.model.model import Model, Output
from pliant.report_types import Figure, Panel
from pliant.result import Result

SOURCE = "geometrically exact beams, 3e-6 m"
INSTANTS = (0.5, 1.0)
SETTINGS = {
    "density": Setting(2700.0, "of the links", "kg/m^3", low=1e-6),
    "E": Setting(7e10, "modulus of elasticity", "Pa", low=1.0),
    "A": Setting(2e-4, "area of the section", "m^2", low=1e-12),
    "I": Setting(4.16667e-10, "second moment of the section", "m^4", low=1e-18),
    "length": Setting(1.0, "of each link", "m", low=1e-6),
    "gravity": Setting(9.81, "downwards", "m/s^2"),
    "angle1": Setting(0.0, "of the upper link at the start, from the horizontal", "rad"),
    "angle2": Setting(0.0, "of the lower link, relative to the upper one", "rad"),
    "modes": Setting(5, "shapes of each link", low=1, high=30),
    "family": Setting("polynomials", "of the shapes", choices=("polynomials", "modes")),
    "coupling": Setting("high-order", "of bending and axial motion", choices=COUPLINGS),
    "kelvin_voigt": Setting(0.0, "viscosity of the material", "Pa s", low=0.0),
    "duration": Setting(1.0, "of the motion", "s", low=1e-6),
}


def build(settings: dict[str, Any]) -> Model:
    length = settings["length"]
    links = tuple(
        Beam(
            name,
            length,
            Material(settings["E"], settings["density"]),
            GivenSection(settings["A"], settings["I"], settings["I"]),
            bending_y=Bending(settings["modes"], family=settings["family"]),
            theory="euler-bernoulli",
            rotary="none",
            coupling=settings["coupling"],
            damping=Damping(kelvin_voigt=settings["kelvin_voigt"]),
        )
        for name in ("upper", "lower")
    )
    end = (length, 0.0, 0.0)
    return Model(
        name="flexible-double-pendulum",
        gravity=(0.0, -settings["gravity"], 0.0),
        bodies=links,
        joints=(
            Joint("shoulder", "revolute", "upper", q0=settings["angle1"]),
            Joint("elbow", "revolute", "lower", parent=Frame("upper", end), q0=settings["angle2"]),
        ),
        frames=(Frame("upper", end, name="tip1"), Frame("lower", end, name="tip2")),
        outputs=(
            Output("tip1", "tip1", "position"),
            Output("tip2", "tip2", "position"),
            Output("tip2_velocity", "tip2", "velocity"),
            Output("shoulder_reaction", "shoulder", "reaction"),
        ),
        duration=settings["duration"],
    )


def figures(result: Result) -> dict[str, float]:
    found = {}
    for t in INSTANTS:
        if t <= result.t[-1]:
            place = result.outputs_at([t])["tip2"][0] if result.dense is not None else result.outputs["tip2"][-1]
            found[f"tip_x_at_{1e3 * t:.0f}ms"], found[f"tip_y_at_{1e3 * t:.0f}ms"] = float(place[0]), float(place[1])
    found["tip_speed_peak"] = peak(result, "tip2_velocity")
    found["tip_x_end"], found["tip_y_end"] = (float(x) for x in result.outputs["tip2"][-1, :2])
    return found


def panels(settings: dict[str, Any]) -> tuple[Panel, ...]:
    shown = range(1, min(settings["modes"], 5) + 1)
    return (
        Panel("Joint angles", "rad", (("shoulder", "shoulder"), ("elbow (relative)", "elbow"))),
        Panel("Tip of the lower link", "m", (("x", "tip2[0]"), ("y", "tip2[1]"))),
        Panel("Shapes of the upper link", "m", tuple((f"{k}", f"upper.mode{k}") for k in shown)),
        Panel("Shapes of the lower link", "m", tuple((f"{k}", f"lower.mode{k}") for k in shown)),
        Panel(
            "Force of the ground on the upper link, link axes",
            "N",
            (("along", "shoulder_reaction[0]"), ("across", "shoulder_reaction[1]")),
        ),
    )


CASE = Case(
    name="flexible-double-pendulum",
    title="two flexible links fall from the horizontal",
    source=SOURCE,
    settings=SETTINGS,
    build=build,
    figures=figures,
    figure_table={
        "tip_x_at_500ms": Figure("tip of the lower link at 0.5 s", "m", 1.298249, 1e-5, SOURCE),
        "tip_y_at_500ms": Figure("its height", "m", -1.404196, 1e-5, SOURCE),
        "tip_x_at_1000ms": Figure("tip of the lower link at 1 s", "m", -1.664483, 1e-5, SOURCE),
        "tip_y_at_1000ms": Figure("its height", "m", -1.040752, 1e-5, SOURCE),
        "tip_speed_peak": Figure("largest speed of the tip", "m/s"),
        "tip_x_end": Figure("tip of the lower link at the end", "m"),
        "tip_y_end": Figure("its height", "m"),
    },
    panels=panels,
    run={"rtol": 1e-9},
)

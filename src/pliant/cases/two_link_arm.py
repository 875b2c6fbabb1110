"""Two-link planar arm with follower forces: the worked example of [boltzmannhamel]."""

from __future__ import annotations

from typing import Any

from pliant.cases.case import Case, Setting
from pliant.model.bodies import Body, Frame, Rod
from pliant.model.joints import Joint
from pliant.model.model import Load, Model, Output
from pliant.model.signals import Sine
from pliant.report_types import Figure, Panel
from pliant.result import Result

SOURCE = "Khoshnood, Azad, Razavi 2016: example"
INSTANTS = (1.0, 5.0, 10.0)
EXPECTED = {
    "psi1_at_1s": 2.2647063789e-03,
    "psi2_at_1s": 2.2646833234e-03,
    "psi1_at_5s": 8.5736797356e-02,
    "psi2_at_5s": 8.3387225338e-02,
    "psi1_at_10s": 1.5411318029e-01,
    "psi2_at_10s": 1.4061397635e-01,
}
SETTINGS = {
    "mass": Setting(3.0, "mass of each link", "kg", low=1e-9),
    "length": Setting(2.0, "length of each link", "m", low=1e-9),
    "inertia": Setting(1.0, "moment of inertia of each link about its mass centre, across the link", "kg m^2", low=0.0),
    "inertia_along": Setting(0.2, "the same along the link", "kg m^2", low=0.0),
    "force": Setting(0.1, "amplitude of both follower forces f1 = f2 = force sin(omega t)", "N"),
    "omega": Setting(1.0, "angular frequency of the forces", "rad/s"),
    "psi1": Setting(0.0, "start angle of link 1", "rad"),
    "psi2": Setting(0.0, "start angle of link 2, relative to link 1", "rad"),
}


def _meaning(key: str) -> str:
    return f"angle of link {key[3]}{' relative to link 1' if key[3] == '2' else ''} at {key[8:-1]} s"


def build(settings: dict[str, Any]) -> Model:
    length = settings["length"]
    inertia = (settings["inertia_along"], settings["inertia"], settings["inertia"])
    links = tuple(
        Body(name, mass=settings["mass"], com=(length / 2, 0.0, 0.0), inertia=inertia, shape=Rod(length))
        for name in ("link1", "link2")
    )
    force = Sine(amplitude=settings["force"], omega=settings["omega"])
    return Model(
        name="two-link-arm",
        gravity=(0.0, 0.0, 0.0),
        bodies=links,
        joints=(
            Joint("psi1", "revolute", "link1", q0=settings["psi1"]),
            Joint("psi2", "revolute", "link2", parent=Frame("link1", (length, 0.0, 0.0)), q0=settings["psi2"]),
        ),
        frames=(Frame("link1", (length, 0.0, 0.0), name="end1"), Frame("link2", (length, 0.0, 0.0), name="end2")),
        loads=(Load("end1", y=force, axes="body", name="f1"), Load("end2", y=force, axes="body", name="f2")),
        outputs=(Output("tip", "end2", "position"), Output("base_reaction", "psi1", "reaction")),
        duration=30.0,
    )


def figures(result: Result) -> dict[str, float]:
    found = {}
    for t in INSTANTS:
        if t <= result.t[-1]:
            (psi1, psi2), _ = result.at(t)
            found[f"psi1_at_{t:g}s"], found[f"psi2_at_{t:g}s"] = float(psi1), float(psi2)
    found["psi1_end"], found["psi2_end"] = (float(angle) for angle in result.q[-1])
    found["load_work"] = float(result.energy["work_load"][-1])
    return found


def panels(settings: dict[str, Any]) -> tuple[Panel, ...]:
    return (
        Panel("Joint angles", "rad", (("psi1", "psi1"), ("psi2 (relative)", "psi2"))),
        Panel("Joint rates", "rad/s", (("psi1", "psi1.rate"), ("psi2", "psi2.rate"))),
        Panel("Path of the tip", "m", (("x", "tip[0]"), ("y", "tip[1]"))),
        Panel(
            "Force of the ground on link 1, link axes",
            "N",
            (("along", "base_reaction[0]"), ("across", "base_reaction[1]")),
        ),
    )


CASE = Case(
    name="two-link-arm",
    title="two-link planar arm pushed by follower forces",
    source=SOURCE,
    settings=SETTINGS,
    build=build,
    figures=figures,
    figure_table={
        **{key: Figure(_meaning(key), "rad", value, 1e-9, SOURCE) for key, value in EXPECTED.items()},
        "psi1_end": Figure("psi1 at the end", "rad"),
        "psi2_end": Figure("psi2 at the end", "rad"),
        "load_work": Figure("work of both forces", "J"),
    },
    panels=panels,
    run={"rtol": 1e-11},
)

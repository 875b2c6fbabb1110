"""Euler's elastica: a cantilever bent far by a force across its tip, as a chain of short beams at rest."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pliant.cases.case import Case, Setting
from pliant.cases.elliptic import elastica
from pliant.model.bodies import Frame
from pliant.model.flexible import COUPLINGS, Beam, Bending, GivenSection, Material
from pliant.model.joints import Joint
from pliant.model.model import Load, Model, Output
from pliant.model.signals import Constant
from pliant.queries.equilibrium import equilibrium
from pliant.report_types import Figure, Panel
from pliant.result import Result

# length, bending stiffness and mass per length are 1; the section is that of a thin beam
YOUNG, DENSITY, AREA, SECOND_MOMENT = 1e12, 1e4, 1e-4, 1e-12
SETTINGS = {
    "load": Setting(10.0, "force across the tip, P L^2 / EI", low=-50.0, high=50.0),
    "pieces": Setting(16, "beams, joined by fixed joints", low=1, high=200),
    "shapes": Setting(2, "polynomials of each", low=1, high=8),
    "coupling": Setting("fourth-order", "of bending and axial motion", choices=COUPLINGS),
    "duration": Setting(0.1, "of the rest that is looked at", "s", low=1e-6),
}


def build(settings: dict[str, Any]) -> Model:
    """At rest under its load: the start is an equilibrium, from the load in steps."""
    model = _straight(settings, 0.0)
    rest = np.array(model.q0)
    steps = max(1, int(np.ceil(abs(settings["load"]))))
    for k in range(1, steps + 1):
        model = _straight(settings, settings["load"] * k / steps)
        rest = equilibrium(model, rest)
    n = settings["shapes"]
    bent = [
        replace(beam, q0=tuple(rest[n * i : n * i + n].tolist()))
        for i, beam in enumerate(model.bodies)
        if isinstance(beam, Beam)
    ]
    return replace(model, bodies=tuple(bent))


def _straight(settings: dict[str, Any], load: float) -> Model:
    count, length = settings["pieces"], 1.0 / settings["pieces"]
    pieces = [
        Beam(
            f"piece{i}",
            length,
            Material(YOUNG, DENSITY),
            GivenSection(AREA, SECOND_MOMENT, SECOND_MOMENT),
            bending_y=Bending(settings["shapes"], family="polynomials"),
            theory="euler-bernoulli",
            rotary="none",
            coupling=settings["coupling"],
        )
        for i in range(count)
    ]
    joints = [
        Joint(f"joint{i}", "fixed", piece.name, parent=Frame(f"piece{i - 1}", (length, 0.0, 0.0)) if i else "world")
        for i, piece in enumerate(pieces)
    ]
    return Model(
        name="elastica",
        gravity=(0.0, 0.0, 0.0),
        bodies=tuple(pieces),
        joints=tuple(joints),
        frames=(Frame(f"piece{count - 1}", (length, 0.0, 0.0), name="tip"),),
        loads=(Load("tip", y=Constant(load)),),
        outputs=(Output("tip", "tip", "position"),),
        duration=settings["duration"],
    )


def figures(result: Result) -> dict[str, float]:
    load = result.model.loads[0].y
    assert isinstance(load, Constant)
    tip = result.outputs["tip"][:, :2]
    return {
        "tip_x": float(tip[-1, 0]),
        "tip_y": float(tip[-1, 1]),
        "tip_error": float(np.linalg.norm(tip[-1] - elastica(load.value))),
        "moved": float(np.max(np.linalg.norm(tip - tip[0], axis=1))),
    }


X, Y = elastica(SETTINGS["load"].default)
BISSHOPP = "elliptic functions; Bisshopp, Drucker 1945"
FIGURES = {
    "tip_x": Figure("tip at the end, along the beam", "m", X, 1e-3, BISSHOPP),
    "tip_y": Figure("and across it", "m", Y, 1e-3, BISSHOPP),
    "tip_error": Figure("distance of the tip from the elastica", "m", 0.0, 1e-3, "16 pieces"),
    "moved": Figure("how far the tip goes, which is at rest", "m", 0.0, 1e-9, "equilibrium"),
}


def panels(settings: dict[str, Any]) -> tuple[Panel, ...]:
    return (Panel("Tip", "m", (("x", "tip[0]"), ("y", "tip[1]"))),)


CASE = Case(
    name="elastica",
    title="a cantilever bent far by a force across its tip",
    source="closed form; Bisshopp, Drucker 1945, Large deflection of cantilever beams",
    settings=SETTINGS,
    build=build,
    figures=figures,
    figure_table=FIGURES,
    panels=panels,
    run={"rtol": 1e-9},
    needs_kernels=lambda settings: True,
)

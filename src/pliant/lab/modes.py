"""pliant modes: frequencies and shapes of a uniform beam, as a table and a picture."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pliant.beams.families import BendingMode, bending_modes
from pliant.cases.case import Setting, unknown_key
from pliant.errors import ModelError
from pliant.model.flexible import PAIRS, Beam, Bending, BoxTube, Circle, Material, Rectangle, RoundTube
from pliant.view.charts.chart import Curve, write_chart

SETTINGS = {
    "ends": Setting("cf", "inboard and outboard end: s supported, c clamped, f free", choices=PAIRS),
    "modes": Setting(5, "how many", low=1, high=200),
    "theory": Setting("timoshenko", "of bending", choices=("timoshenko", "euler-bernoulli")),
    "length": Setting(1.0, "of the beam", "m", low=1e-9),
    "section": Setting("rectangle", "shape", choices=("rectangle", "circle", "round-tube", "box-tube")),
    "height": Setting(0.0125, "of the section along the deflection, or its outer diameter", "m", low=1e-12),
    "width": Setting(0.03, "of the section across the deflection", "m", low=1e-12),
    "wall": Setting(0.002, "thickness of tubes", "m", low=1e-12),
    "young": Setting(2.0e11, "modulus of elasticity", "Pa", low=1e-9),
    "density": Setting(7850.0, "of the material", "kg/m^3", low=1e-9),
    "poisson": Setting(0.3, "Poisson's ratio", low=-0.999, high=0.5),
    "tip_mass": Setting(0.0, "point mass at the outboard end", "kg", low=0.0),
    "tip_inertia": Setting(0.0, "moment of inertia at the outboard end", "kg m^2", low=0.0),
}


@dataclass(frozen=True)
class BeamModes:
    """A beam and its first bending modes."""

    beam: Beam
    modes: tuple[BendingMode, ...]

    def table(self) -> list[tuple[str, ...]]:
        """Number, angular frequency, frequency, wave number times length and largest place of every mode."""
        x = np.linspace(0.0, self.beam.length, 2001)
        rows: list[tuple[str, ...]] = []
        for number, mode in enumerate(self.modes, start=1):
            omega, y = mode.omega or 0.0, mode.shape.at(x).y
            nodes = int(np.sum(y[1:-1][:-1] * y[1:-1][1:] < 0))
            place = x[int(np.argmax(np.abs(y)))]
            rows.append((str(number), f"{omega:.12g}", f"{omega / (2 * math.pi):.8g}", str(nodes), f"{place:.4g}"))
        return rows


def beam_modes(given: Mapping[str, Any]) -> BeamModes:
    """The bending modes of the uniform beam that the settings describe."""
    for key in given:
        if key not in SETTINGS:
            raise ModelError(unknown_key(key, SETTINGS, "pliant modes"))
    values = {key: setting.parse(key, given.get(key, setting.default)) for key, setting in SETTINGS.items()}
    beam = Beam(
        name="beam",
        length=values["length"],
        material=Material(young=values["young"], density=values["density"], poisson=values["poisson"]),
        section=_section(values["section"], values["height"], values["width"], values["wall"]),
        bending_y=Bending(
            modes=values["modes"],
            ends=values["ends"],
            normalise="max",
            tip_mass=values["tip_mass"],
            tip_inertia=values["tip_inertia"],
        ),
        theory=values["theory"],
    )
    return BeamModes(beam, tuple(bending_modes(beam, "y")))


def _section(kind: str, height: float, width: float, wall: float) -> Rectangle | Circle | RoundTube | BoxTube:
    """The beam deflects along y, which is the width of a section."""
    if kind == "rectangle":
        return Rectangle(width=height, height=width)
    if kind == "circle":
        return Circle(radius=height / 2)
    if 2 * wall >= (height if kind == "round-tube" else min(height, width)):
        raise ModelError(f"wall: {wall:g} m leaves no tube of height {height:g} m; give a thinner wall")
    if kind == "round-tube":
        return RoundTube(outer_radius=height / 2, inner_radius=height / 2 - wall)
    return BoxTube(width=height, height=width, wall=wall)


def write_modes(found: BeamModes, target: Path, most: int = 7) -> None:
    """The shapes of the first modes as an SVG picture."""
    x = np.linspace(0.0, found.beam.length, 801)
    curves = [Curve(f"mode {number}", x, mode.shape.at(x).y) for number, mode in enumerate(found.modes[:most], start=1)]
    write_chart(curves, target, label="bending modes of a beam", across="x", across_unit="m")

"""Random robots with beams of one to five shapes, and what the same robots do with many shapes at a tight tolerance.

Every kind builds its robot from a number of shapes and a family, so that the reference is of the same random draw."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import pliant
from known_problems import Problem, Random
from pliant import AxialShapes, Beam, Bending, Body, Contact, Frame, Hooke, Joint, Material, Model, Output, Rectangle
from pliant.model.columns import output_columns
from pliant.results.figures import figure_requests

Build = Callable[[int], Model]  # a robot with so many shapes per family
MANY = 8  # shapes of a reference beyond twice those of the problem
MAX_STEPS = 5000  # of runs that are made for it: what takes longer is left out
MATERIALS = (Material(2.1e11, 7850.0), Material(7e10, 2700.0), Material(3e9, 1200.0))
HELD_TIPS = ("ss", "cc", "sc", "cs")  # whose shapes do not move the end
FREE_TIPS = ("cf", "sf")


class Drawn:
    """A beam whose numbers are drawn once, with any number of shapes."""

    def __init__(self, rng: Random, ends: str = "cf", planes: str = "y") -> None:
        self.length = float(rng.uniform(0.4, 1.5))
        self.material = MATERIALS[rng.integers(3)]
        self.section = Rectangle(float(self.length * rng.uniform(0.008, 0.03)), float(self.length * 0.03))
        self.ends, self.planes = ends, planes
        self.damping = float(rng.choice([0.0, 0.01, 0.05]))
        self.is_shear = bool(rng.random() < 0.5)

    def __call__(self, name: str, modes: int, stretch: int = 0, torsion: int = 0, is_exact: bool = False) -> Beam:
        """is_exact: stretch and torsion by polynomials, which converge to the same motion much faster than sines."""
        axial: Any = (lambda n: AxialShapes(min(n, 8), "polynomials")) if is_exact else AxialShapes
        plane = Bending(modes, ends=self.ends) if modes else None
        return Beam(
            name, self.length, self.material, self.section,
            bending_y=plane if "y" in self.planes else None, bending_z=plane if "z" in self.planes else None,
            stretch=axial(stretch), torsion=axial(torsion), damping=self.damping,
            theory="timoshenko" if self.is_shear else "euler-bernoulli",
        )  # fmt: skip


def _tip(length: float) -> Frame:
    return Frame("beam", (length, 0, 0), name="tip")


OUTPUTS = (Output("tip", "tip", "position"), Output("root", "hinge", "reaction"))


def arm(rng: Random) -> Build:
    """A beam on a hinge, with or without spring and load, that falls or swings."""
    beam = Drawn(rng, str(rng.choice(FREE_TIPS)))
    load, k = float(rng.choice([0.0, 0.1, 1.0])), float(rng.choice([0.0, 5.0, 100.0]))
    q0, v0 = float(rng.uniform(-1, 1)), float(rng.uniform(-1, 1))

    def build(modes: int) -> Model:
        bodies: list[Any] = [beam("beam", modes)]
        joints = [Joint("hinge", "revolute", "beam", q0=q0, v0=v0, stiffness=k)]
        if load:
            bodies.append(Body("load", load, inertia=(1e-4, 1e-4, 1e-4)))
            joints.append(Joint("weld", "fixed", "load", parent=Frame("beam", (beam.length, 0, 0))))
        return Model("arm", bodies, joints, gravity=(0, -9.81, 0), frames=[_tip(beam.length)], outputs=OUTPUTS)

    return build


def link(rng: Random) -> Build:
    """A beam whose shapes hold its end, between two hinges, with a rod that hangs from it."""
    beam, q0 = Drawn(rng, str(rng.choice(HELD_TIPS))), rng.uniform(-1, 1, 2)
    mass = float(rng.uniform(0.1, 2.0))

    def build(modes: int) -> Model:
        rod = Body("rod", mass, shape=pliant.Rod(0.4))
        joints = [
            Joint("hinge", "revolute", "beam", q0=float(q0[0])),
            Joint("knee", "revolute", "rod", parent=Frame("beam", (beam.length, 0, 0)), q0=float(q0[1])),
        ]
        return Model(
            "link", [beam("beam", modes), rod], joints, gravity=(0, -9.81, 0), frames=[_tip(beam.length)],
            outputs=OUTPUTS,
        )  # fmt: skip

    return build


def stretched_rod(rng: Random) -> Build:
    """A rod on a slide with a spring, or fixed, that its own weight or a load at its end stretches."""
    beam, load, k = Drawn(rng), float(rng.choice([0.0, 0.5])), float(rng.choice([1e3, 1e5]))
    beam.material = MATERIALS[2]

    def build(modes: int) -> Model:
        bodies: list[Any] = [beam("beam", 0, stretch=modes, is_exact=modes > 5)]
        joints = [Joint("hinge", "prismatic", "beam", axis=(1, 0, 0), stiffness=k)]
        if load:
            bodies.append(Body("load", load, inertia=(1e-4, 1e-4, 1e-4)))
            joints.append(Joint("weld", "fixed", "load", parent=Frame("beam", (beam.length, 0, 0))))
        return Model("rod", bodies, joints, gravity=(9.81, 0, 0), frames=[_tip(beam.length)], outputs=OUTPUTS)

    return build


def shaft(rng: Random) -> Build:
    """A shaft with a disc at its end, turned by a spring at its root."""
    beam, speed, k = Drawn(rng), float(rng.uniform(1, 20)), float(rng.choice([1.0, 100.0]))
    beam.material = MATERIALS[2]

    def build(modes: int) -> Model:
        disc = Body("disc", 0.2, inertia=(1e-4, 1e-4, 1e-4))
        joints = [
            Joint("hinge", "revolute", "beam", axis=(1, 0, 0), stiffness=k, v0=speed),
            Joint("weld", "fixed", "disc", parent=Frame("beam", (beam.length, 0, 0))),
        ]
        rim = Frame("disc", (0, 0.1, 0), name="tip")
        bodies = [beam("beam", 0, torsion=modes, is_exact=modes > 5), disc]
        return Model("shaft", bodies, joints, gravity=(0, 0, 0), frames=[rim], outputs=OUTPUTS)

    return build


def spatial_arm(rng: Random) -> Build:
    """A beam that bends both ways and twists, on a hinge about a skew axis."""
    beam = Drawn(rng, "cf", "yz")
    axis = rng.normal(size=3)
    axis = tuple((axis / np.linalg.norm(axis)).tolist())
    v0 = float(rng.uniform(-3, 3))

    def build(modes: int) -> Model:
        bodies = [beam("beam", modes, torsion=min(modes, 3)), Body("load", 0.2, inertia=(1e-3, 1e-3, 1e-3))]
        joints = [
            Joint("hinge", "revolute", "beam", axis=axis, v0=v0, stiffness=20.0),
            Joint("weld", "fixed", "load", parent=Frame("beam", (beam.length, 0, 0))),
        ]
        return Model("spatial", bodies, joints, gravity=(0, -9.81, 0), frames=[_tip(beam.length)], outputs=OUTPUTS)

    return build


def two_beams(rng: Random) -> Build:
    """Two flexible links."""
    first, second = Drawn(rng, "cf"), Drawn(rng, str(rng.choice(FREE_TIPS)))
    q0, k = rng.uniform(-1, 1, 2), float(rng.choice([0.0, 20.0]))

    def build(modes: int) -> Model:
        joints = [
            Joint("hinge", "revolute", "beam", q0=float(q0[0]), stiffness=k),
            Joint("elbow", "revolute", "outer", Frame("beam", (first.length, 0, 0)), q0=float(q0[1]), stiffness=k),
        ]
        tip = Frame("outer", (second.length, 0, 0), name="tip")
        bodies = [first("beam", modes), second("outer", modes)]
        return Model("two beams", bodies, joints, gravity=(0, -9.81, 0), frames=[tip], outputs=OUTPUTS)

    return build


def striking_arm(rng: Random) -> Build:
    """A falling beam whose end strikes a soft ground."""
    beam, k = Drawn(rng, "cf"), float(10 ** rng.uniform(2.5, 4.5))

    def build(modes: int) -> Model:
        load = Body("load", 0.2, inertia=(1e-4, 1e-4, 1e-4))
        joints = [
            Joint("hinge", "revolute", "beam"),
            Joint("weld", "fixed", "load", parent=Frame("beam", (beam.length, 0, 0))),
        ]
        ground = pliant.Plane(normal=(0, 1, 0), offset=-0.3 * beam.length)
        return Model(
            "striking", [beam("beam", modes), load], joints, gravity=(0, -9.81, 0), frames=[_tip(beam.length)],
            contacts=[Contact("ground", Hooke(stiffness=k), ground, points=[Frame("load", (0, 0, 0))])],
            outputs=OUTPUTS,
        )  # fmt: skip

    return build


def braked_arm(rng: Random) -> Build:
    """A beam on a hinge with dry friction."""
    beam, torque, v0 = Drawn(rng, "cf"), float(rng.uniform(0.01, 0.3)), float(rng.uniform(0.5, 3))

    def build(modes: int) -> Model:
        law = pliant.Coulomb(mu_k=1.0, load=torque)
        joints = [Joint("hinge", "revolute", "beam", v0=v0, stiffness=2.0, friction=law)]
        return Model(
            "braked", [beam("beam", modes)], joints, gravity=(0, 0, 0), frames=[_tip(beam.length)], outputs=OUTPUTS
        )

    return build


KINDS: tuple[Callable[[Random], Build], ...] = (
    arm, link, stretched_rod, shaft, spatial_arm, two_beams, striking_arm, braked_arm, arm, link,
)  # fmt: skip


def flexible_problem(seed: int) -> Problem | None:
    """One of them with its answers; None where the reference fails, or the plain run does."""
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    build, modes = kind(rng), int(rng.integers(1, 6))
    if kind is spatial_arm:
        modes = min(modes, 3)
    rtol = float(10 ** rng.uniform(-7, -4))
    options = {"rtol": rtol, "atol": 1e-2 * rtol, "integrator": str(rng.choice(["auto", "auto", "auto", "radau"]))}
    duration = float(rng.uniform(0.02, 0.3))
    model = build(modes)
    columns = [column.name for output in model.outputs for column in output_columns(model, output)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = pliant.simulate(model, duration, max_steps=MAX_STEPS, **options)
        if not run.is_ok:
            return None
        many = pliant.simulate(
            build(2 * modes + MANY), duration, integrator="radau", rtol=1e-8, atol=1e-10, max_steps=MAX_STEPS
        )
    if not many.is_ok or len(run.contacts) != len(many.contacts):
        return None
    moving = [name for name in columns if np.ptp(run[name]) > 1e-9]
    names = [model.coordinates[0], "kinetic", "elastic", *moving]
    names += [f"{how}({name})" for how in ("max", "rms") for name in moving]
    names = [str(name) for name in rng.choice(names, min(8, len(names)), replace=False)]
    requests = figure_requests(names, model, duration)
    answers = {one.label: one.value(many) for one in requests}
    return Problem(f"{model.name} {modes} {seed}", model, duration, options, answers)


def flexible_problems(count: int, first: int = 0) -> Iterator[Problem]:
    """So many, all kinds in turn."""
    seed = first
    while count > 0:
        problem = flexible_problem(seed)
        seed += 1
        if problem is not None:
            count -= 1
            yield problem

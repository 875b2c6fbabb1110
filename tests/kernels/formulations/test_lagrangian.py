"""An independent referee of flexible links: the Lagrangian itself, differentiated by complex steps (lagrangian.py).

Chains of beams and rigid bodies in the plane, in space on the ground, and free in space (six joints without bodies
between them, so that velocities are rates of coordinates): both couplings, every rotary inertia, two families."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lagrangian import Lagrangian, Link, Rod, Solid
from pliant.engine.prepared import Prepared
from pliant.methods import FORMULATIONS
from pliant.model.attitudes import AxisAngle
from pliant.model.bodies import Body, Frame
from pliant.model.flexible import Beam, Bending, GivenSection, Material
from pliant.model.joints import Joint
from pliant.model.model import Model
from random_models import largest

NAMES = [row.name for row in FORMULATIONS if "flexible bodies" in row.supports]
GRAVITY = (1.3, -9.81, 0.7)
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
TILTED, TWIST = (0.3, 1.0, -0.5), ((1.0, 2.0, -1.0), 0.7)
HUB = Solid(2.0, (0.05, -0.02, 0.03), (0.3, 0.25, 0.2))
TIP = Solid(0.8, (0.25, 0.06, -0.04), (0.05, 0.04, 0.06))


def in_plane(family: str, coupling: str, rotary: str) -> list[Link]:
    """A hub, a beam on its rim, a hinged tip, in x-y."""
    beam = Rod(1.1, (3 if family == "polynomials" else 2, 0, 1, 0), family, coupling, rotary)
    return [
        Link("hub", HUB, "revolute", Z),
        Link("beam", beam, "revolute", Z, (0.15, 0.0, 0.0)),
        Link("tip", TIP, "revolute", Z),
    ]


def on_the_ground(family: str, coupling: str, rotary: str) -> list[Link]:
    """Two beams on tilted hinges with offsets, a slide at the tip. Sections without inertia do not twist."""
    twist = int(rotary == "section")
    upper = Rod(1.1, (2, 1, 1, twist), family, coupling, rotary)
    lower = Rod(0.8, (1, 2, 0, twist), family, coupling, rotary)
    return [
        Link("upper", upper, "revolute", TILTED),
        Link("lower", lower, "revolute", Y, (0.0, 0.07, -0.03), TWIST),
        Link("tip", TIP, "prismatic", TILTED, (0.0, -0.05, 0.02), TWIST),
    ]


def in_space(family: str, coupling: str, rotary: str) -> list[Link]:
    """A hull that flies, a beam on it, a hinged tip."""
    nothing = Solid()
    flight = [Link(f"shift{i}", nothing, "prismatic", axis) for i, axis in enumerate((X, Y, Z))]
    flight += [Link(f"turn{i}", nothing, "revolute", axis) for i, axis in enumerate((Z, Y))]
    beam = Rod(1.1, (2, 1, 1, int(rotary == "section")), family, coupling, rotary)
    return [
        *flight,
        Link("hull", HUB, "revolute", X),
        Link("beam", beam, "revolute", TILTED, (0.3, 0.1, 0.0), TWIST),
        Link("tip", TIP, "revolute", TILTED, (0.0, 0.04, 0.05), TWIST),
    ]


CHAINS = {"plane": in_plane, "ground": on_the_ground, "space": in_space}


def body_of(link: Link) -> Body | Beam:
    body = link.body
    if isinstance(body, Solid):
        return Body(name=link.name, mass=body.mass, com=body.centre, inertia=body.inertia)
    y, z, stretch, torsion = body.shapes

    def bending(n: int) -> Bending:
        return Bending(n, family="polynomials") if body.family == "polynomials" else Bending(n, "cf")

    return Beam(
        link.name,
        body.length,
        Material(young=body.young, density=body.density, shear_modulus=body.shear),
        GivenSection(body.area, *body.second_moments, torsion_constant=body.torsion_constant),
        bending_y=bending(y),
        bending_z=bending(z),
        stretch=stretch,
        torsion=torsion,
        theory="euler-bernoulli",
        coupling=body.coupling,
        rotary=body.rotary,
        rotary_inertia=body.rotary_inertia,
    )


def model_of(links: list[Link]) -> Model:
    joints, before, end = [], "world", 0.0
    for link in links:
        position = (end + link.offset[0], *link.offset[1:])
        frame = Frame(body=before, position=position, attitude=AxisAngle(*link.attitude))
        joints.append(Joint(name=f"to_{link.name}", kind=link.joint, parent=frame, child=link.name, axis=link.axis))
        before, end = link.name, link.body.length if isinstance(link.body, Rod) else 0.0
    return Model(name="chain", bodies=[body_of(link) for link in links], joints=joints, gravity=GRAVITY)


def random_motion(links: list[Link], seed: int) -> np.ndarray:
    """q, v, tau: fast, and bent by a fifth of the length, so that every term counts."""
    rng = np.random.default_rng([seed, len(links)])
    scales = []
    for link in links:
        scales += [1.0]
        if isinstance(link.body, Rod):
            y, z, stretch, torsion = link.body.shapes
            scales += [0.2] * (y + z) + [0.05] * stretch + [0.5] * torsion
    return rng.normal(size=(3, len(scales))) * np.array([scales, 3.0 * np.ones(len(scales)), np.ones(len(scales))])


@pytest.mark.parametrize("rotary", ["none", "frame", "section"])
@pytest.mark.parametrize("coupling", ["linear", "high-order"])
@pytest.mark.parametrize("family", ["polynomials", "clamped-free"])
@pytest.mark.parametrize("chain", CHAINS)
def test_accelerations_are_those_of_the_lagrangian(chain, family, coupling, rotary):
    """To rounding x condition(M)."""
    links = CHAINS[chain](family, coupling, rotary)
    lagrangian, model = Lagrangian(links, GRAVITY), model_of(links)
    handles = {name: Prepared(model, name) for name in NAMES}
    for seed in range(2):
        q, v, tau = random_motion(links, seed)
        wanted = lagrangian.acceleration(q, v, tau)
        for name, handle in handles.items():
            found = handle.forward_dynamics(q, v, tau)
            assert largest(found - wanted) < 1e-10 * largest(wanted), name


@pytest.mark.parametrize("chain", CHAINS)
def test_every_term_of_the_lagrangian_counts(chain):
    """Coupling level and inertia of the sections change the accelerations by far more than the tolerance above."""
    kinds = [(coupling, rotary) for coupling in ("linear", "high-order") for rotary in ("none", "frame", "section")]
    bent = [CHAINS[chain]("polynomials", *kind) for kind in kinds]
    # without torsion, so that all have the same coordinates
    plain = [[_without_torsion(link) for link in links] for links in bent]
    q, v, tau = random_motion(plain[0], 0)
    found = [Lagrangian(links, GRAVITY).acceleration(q, v, tau) for links in plain]
    for i, one in enumerate(found):
        for other in found[:i]:
            assert largest(one - other) > 1e-3 * largest(one)


def _without_torsion(link: Link) -> Link:
    if isinstance(link.body, Solid):
        return link
    return replace(link, body=replace(link.body, shapes=(*link.body.shapes[:3], 0)))

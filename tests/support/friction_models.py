"""Random models with dry friction: chains whose joints stick, rods and boxes that slide, roll over and come to rest."""

from __future__ import annotations

import numpy as np

from pliant import Body, Box, Contact, Frame, Friction, Joint, Model, NormalLaw, Plane, Rod

Random = np.random.Generator


def joint_friction(rng: Random) -> Friction:
    load = rng.uniform(0.1, 2.0)
    return (
        Friction("coulomb", mu_k=0.3, load=load),
        Friction("stiction", mu_k=0.2, mu_s=0.4, load=load),
        Friction("stribeck", mu_k=0.2, mu_s=0.4, v_s=0.05, load=load),
        Friction("viscous", mu_k=0.3, c_v=0.1, load=load),
    )[rng.integers(4)]


def chain(rng: Random) -> Model:
    """One to four rods that hang or stand out; every hinge sticks and slips."""
    bodies: list[Body] = []
    joints: list[Joint] = []
    length, start = 0.0, rng.choice([0.0, -np.pi / 2])
    for i in range(rng.integers(1, 5)):
        parent = {"parent": Frame(f"rod{i - 1}", (length, 0, 0))} if i else {}
        length = float(rng.uniform(0.3, 1.0))
        bodies.append(Body(f"rod{i}", float(rng.uniform(0.3, 3.0)), shape=Rod(length)))
        joints.append(
            Joint(
                f"hinge{i}",
                "revolute",
                f"rod{i}",
                q0=float(rng.uniform(-0.5, 0.5) + (start if i == 0 else 0.0)),
                v0=float(rng.uniform(-2, 2)) if rng.random() < 0.9 else 0.0,
                friction=joint_friction(rng),
                **parent,
            )
        )
    return Model("chain", bodies, joints, gravity=(0, -9.81, 0))


def contact_friction(rng: Random) -> Friction:
    return (
        Friction("coulomb", mu_k=float(rng.uniform(0.1, 0.8))),
        Friction("stiction", mu_k=0.3, mu_s=0.5),
        Friction("stribeck", mu_k=0.2, mu_s=0.4, v_s=0.05),
    )[rng.integers(3)]


def normal_law(rng: Random) -> NormalLaw:
    if rng.random() < 0.7:
        stiffness, restitution = 10 ** rng.uniform(4, 6), rng.uniform(0.3, 0.9)
        return NormalLaw("hunt-crossley", stiffness=float(stiffness), restitution=float(restitution))
    return NormalLaw("kelvin-voigt", stiffness=1e4, damping=float(rng.uniform(5, 100)))


def rod(rng: Random) -> Model:
    """A free rod of half a metre in the plane that falls on both ends, on level or leaning ground."""
    angle = rng.uniform(-1, 1)
    height = max(0.0, -0.5 * np.sin(angle)) + rng.uniform(0, 0.1)
    return Model(
        "rod",
        [Body("rod", float(rng.uniform(0.3, 3.0)), shape=Rod(0.5))],
        [
            Joint(
                "free",
                "planar",
                "rod",
                q0=(0.0, float(height), float(angle)),
                v0=tuple((rng.uniform(-1, 1, 3) * (1, 1, 3)).tolist()),
            )
        ],
        gravity=(float(rng.choice([0.0, 1.0, 3.0])), -9.81, 0),
        contacts=[Contact("ground", normal_law(rng), Plane(normal=(0, 1, 0)), friction=contact_friction(rng))],
    )


def box(rng: Random) -> Model:
    """A free box in space that lands on some of four feet, on level or leaning ground."""
    size = rng.uniform(0.1, 0.4, 3)
    feet = [(0.5 * x * size[0], 0.5 * y * size[1], -0.5 * size[2]) for x in (-1, 1) for y in (-1, 1)]
    tilt = rng.normal(size=3) * 0.1
    attitude = np.append(tilt, 1.0) / np.linalg.norm(np.append(tilt, 1.0))
    height = 0.5 * float(np.linalg.norm(size)) + rng.uniform(0, 0.02)
    return Model(
        "box",
        [Body("box", float(rng.uniform(0.3, 3.0)), shape=Box(tuple(size.tolist())))],
        [
            Joint(
                "free",
                "floating",
                "box",
                q0=(0.0, 0.0, height, *attitude.tolist()),
                v0=tuple(rng.uniform(-1, 1, 6).tolist()),
            )
        ],
        gravity=(*rng.uniform(-3, 3, 2).tolist(), -9.81),
        contacts=[
            Contact(
                "ground",
                NormalLaw("kelvin-voigt", stiffness=1e4, damping=float(rng.uniform(20, 100))),
                points=[Frame("box", foot) for foot in feet],
                friction=contact_friction(rng),
            )
        ],
    )

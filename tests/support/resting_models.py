"""Random models that start at rest, on each other or hardly above: balls, boxes, stacks, on level or leaning ground."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant import Body, Box, Contact, Frame, Friction, Joint, Model, NormalLaw, Plane, Sphere
from pliant.model.friction_laws import AnyFriction

Random = np.random.Generator
G = 9.81
CORNERS = [(x, y) for x in (-1, 1) for y in (-1, 1)]
LIFTS = (0.0, 0.0, 1e-15, 1e-12, 1e-9, 1e-6)  # above what carries it at the start [m]
SLOPES = (0.0, 0.0, 0.1, 0.4)  # of the ground [rad], at which friction of 0.3 holds, or does not


def normal_law(rng: Random) -> NormalLaw:
    stiffness, restitution = float(10 ** rng.uniform(4, 6.5)), float(rng.uniform(0.2, 0.9))
    law = str(rng.choice(["flores", "hunt-crossley", "exact", "hertz", "kelvin-voigt", "hooke"]))
    if law == "kelvin-voigt":
        return NormalLaw(law, stiffness=stiffness, damping=float(stiffness * 10 ** rng.uniform(-3, -2)))
    if law in ("hertz", "hooke"):
        return NormalLaw(law, stiffness=stiffness)
    return NormalLaw(law, stiffness=stiffness, restitution=restitution)


def friction(rng: Random) -> AnyFriction | None:
    laws = (
        None,
        Friction("coulomb", mu_k=0.3),
        Friction("stiction", mu_k=0.2, mu_s=0.35),
        Friction("stribeck", mu_k=0.2, mu_s=0.4, v_s=0.05),
    )
    return laws[rng.integers(len(laws))]


def _pull(rng: Random) -> tuple[float, float, float]:
    """Gravity against ground that leans in any direction."""
    slope, heading = float(rng.choice(SLOPES)), rng.uniform(0.0, 2.0 * np.pi)
    return (
        float(G * np.sin(slope) * np.cos(heading)),
        float(G * np.sin(slope) * np.sin(heading)),
        float(-G * np.cos(slope)),
    )


def _place(rng: Random, z: float) -> dict[str, Any]:
    """The start of a body at this height, rotated about the vertical, near the origin or far away from it."""
    x, y = rng.uniform(-1.0, 1.0, 2) * float(rng.choice([0.0, 1.0, 30.0]))
    angle = rng.uniform(-np.pi, np.pi) * float(rng.integers(2))
    return {"q0": (float(x), float(y), z, 0.0, 0.0, float(np.sin(0.5 * angle)), float(np.cos(0.5 * angle)))}


def ball(rng: Random) -> Model:
    radius, lift = float(rng.uniform(0.02, 0.2)), float(rng.choice(LIFTS))
    ground = Contact("ground", normal_law(rng), points=[Frame("ball")], radius=radius, friction=friction(rng))
    joint = Joint("free", "floating", "ball", **_place(rng, radius + lift))
    body = Body("ball", float(10 ** rng.uniform(-2, 1)), shape=Sphere(radius))
    return Model("resting ball", [body], [joint], gravity=_pull(rng), contacts=[ground])


def box(rng: Random) -> Model:
    half, lift = 0.5 * rng.uniform(0.04, 0.3, 3), float(rng.choice(LIFTS))
    feet = [Frame("box", (float(x * half[0]), float(y * half[1]), float(-half[2]))) for x, y in CORNERS]
    ground = Contact("ground", normal_law(rng), points=feet, friction=friction(rng))
    joint = Joint("free", "floating", "box", **_place(rng, float(half[2]) + lift))
    body = Body("box", float(10 ** rng.uniform(-2, 1)), shape=Box(tuple((2.0 * half).tolist())))
    return Model("resting box", [body], [joint], gravity=_pull(rng), contacts=[ground])


def stack(rng: Random) -> Model:
    """Cubes on each other, each with four corners on the face below."""
    n, half, lift, mass = int(rng.integers(2, 5)), float(rng.uniform(0.03, 0.1)), float(rng.choice(LIFTS)), 1.0
    law, dry, start = normal_law(rng), friction(rng), _place(rng, 0.0)["q0"]
    feet = {f"cube{k}": [Frame(f"cube{k}", (x * half, y * half, -half)) for x, y in CORNERS] for k in range(n)}
    contacts = [
        Contact(
            f"contact{k}",
            law,
            Plane(f"cube{k - 1}", offset=half) if k else Plane(),
            points=feet[f"cube{k}"],
            friction=dry,
        )
        for k in range(n)
    ]
    joints = [
        Joint(
            f"free{k}",
            "floating",
            f"cube{k}",
            q0=(*start[:2], (2 * k + 1) * half + (k + 1) * lift, *start[3:]),
        )
        for k in range(n)
    ]
    bodies = [Body(f"cube{k}", mass, shape=Box((2 * half, 2 * half, 2 * half))) for k in range(n)]
    return Model("resting stack", bodies, joints, gravity=_pull(rng), contacts=contacts)


RESTING = (ball, box, stack)

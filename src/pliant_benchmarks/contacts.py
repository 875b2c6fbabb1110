"""A line about a hundred contacts that stick and slip at once."""

from __future__ import annotations

import time

import numpy as np

import pliant
from pliant.model.bodies import Body, Box, Frame, Rod
from pliant.model.contacts import Contact, Friction, NormalLaw, Plane
from pliant.model.joints import Joint
from pliant.model.model import Model
from pliant_benchmarks.figures import Figure, Say

G = 9.81  # [m/s^2]
LINK = 0.1  # [m] of the chain
DURATION = 1.0  # [s]
GOAL = 30.0  # of real time
STICTION = Friction("stiction", mu_k=0.3, mu_s=0.5)


def plate(rows: int, height: float = 0.02, friction: Friction = STICTION) -> Model:
    """A level plate on rows times rows feet, dropped, that slides."""
    side = np.linspace(-0.5, 0.5, rows)
    points = tuple(Frame("plate", (float(x), float(y), 0.0)) for x in side for y in side)
    law = NormalLaw("kelvin-voigt", 1e6 / len(points), damping=1e3 / len(points))
    return Model(
        "plate on feet",
        (Body("plate", 10.0, inertia=(1.0, 1.0, 1.5)),),
        (Joint("free", "floating", "plate", q0=(0, 0, height, 0, 0, 0, 1), v0=(0.5, 0.3, 0, 0, 0, 1.0)),),
        gravity=(0.0, 0.0, -G),
        contacts=(Contact("feet", law, points=points, friction=friction),),
    )


def chain(contacts: int, slope: float, bend: float, height: float, friction: Friction = STICTION) -> Model:
    """Hinged rods that fall on ground of this slope [rad], with a contact at every hinge and both ends; bent by about
    so much at every hinge [rad]."""
    n, rng = contacts - 1, np.random.default_rng(1)
    joints = [Joint("free", "planar", "rod0", q0=(0.0, height, 0.0))]
    joints += [
        Joint(
            f"hinge{i}", "revolute", f"rod{i}", parent=Frame(f"rod{i - 1}", (LINK, 0, 0)), q0=bend * float(rng.normal())
        )
        for i in range(1, n)
    ]
    points = [*(Frame(f"rod{i}") for i in range(n)), Frame(f"rod{n - 1}", (LINK, 0, 0))]
    law = NormalLaw("kelvin-voigt", 1e4, damping=50.0)
    return Model(
        "chain on the ground",
        [Body(f"rod{i}", 0.1, shape=Rod(LINK)) for i in range(n)],
        joints,
        gravity=(G * float(np.sin(slope)), -G * float(np.cos(slope)), 0.0),
        contacts=[Contact("ground", law, Plane(normal=(0, 1, 0)), points=points, friction=friction)],
    )


def boxes(n: int) -> Model:
    """Boxes on four feet each, side by side, that land one after the other and slide."""
    rng = np.random.default_rng(0)
    joints = [
        Joint(
            f"free{i}",
            "floating",
            f"box{i}",
            q0=(float(i), 0.0, 0.051 + 0.001 * float(rng.random()), 0.0, 0.0, 0.0, 1.0),
            v0=(*(0.5 * rng.normal(size=2)).tolist(), 0.0, 0.0, 0.0, 0.0),
        )
        for i in range(n)
    ]
    points = [Frame(f"box{i}", (0.15 * x, 0.1 * y, -0.05)) for i in range(n) for x in (-1, 1) for y in (-1, 1)]
    law = NormalLaw("kelvin-voigt", 1e4, damping=60.0)
    return Model(
        "boxes on the ground",
        [Body(f"box{i}", 1.0, shape=Box((0.3, 0.2, 0.1))) for i in range(n)],
        joints,
        gravity=(0.0, 0.0, -G),
        contacts=[Contact("ground", law, points=points, friction=STICTION)],
    )


def contacts100(say: Say) -> list[Figure]:
    """CPU time over the time simulated; kernels are loaded before."""
    pliant.simulate(plate(2), 0.1, dense=False)
    models = {
        "plate on 100 feet": plate(10),
        "chain with 100 contacts": chain(100, slope=0.1, bend=0.005, height=0.2),
        "25 boxes": boxes(25),
    }
    figures = []
    for name, model in models.items():
        say(name)
        begun = time.process_time()
        result = pliant.simulate(model, DURATION, dense=False)
        seconds = time.process_time() - begun
        note = f"of real time; {result.stats['evaluations']} evaluations, {result.stats['events']} events"
        figures.append(Figure(name, seconds, seconds / DURATION, GOAL, note=note if result.is_ok else result.reason))
    return figures

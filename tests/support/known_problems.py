"""Random problems with known answers: closed forms, one equation of motion integrated at rounding, or two integrators
of different families that agree. A problem is (model, duration, options, figures, answers)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import four_bars
import friction_models
import pliant
from pliant import Body, Contact, Frame, Friction, Hooke, Joint, Model, Plane, Rod, Sphere

Random = np.random.Generator
AGREED = 1e-11  # of two integrators at their tightest, over the larger of 1 and the value


class Problem(NamedTuple):
    name: str
    model: Model
    duration: float
    options: dict[str, Any]
    answers: dict[str, float]  # by figure, as certify takes it


def _options(rng: Random) -> dict[str, Any]:
    rtol = float(10 ** rng.uniform(-9, -4))
    return {"rtol": rtol, "atol": 1e-2 * rtol, "integrator": str(rng.choice(["auto", "dopri5", "adams", "radau"]))}


# --- closed forms -------------------------------------------------------------------------------------------------


def oscillator(rng: Random) -> Problem:
    """A mass on a spring with a damper."""
    m, k = rng.uniform(0.5, 5.0), rng.uniform(5.0, 500.0)
    ratio, x0, v0 = rng.uniform(0.0, 0.5), rng.uniform(-1, 1), rng.uniform(-5, 5)
    omega = math.sqrt(k / m)
    c, damped = 2.0 * ratio * omega * m, omega * math.sqrt(1.0 - ratio**2)
    joint = Joint("x", "prismatic", "mass", axis=(1, 0, 0), stiffness=k, damping=c, q0=x0, v0=v0)
    model = Model("oscillator", [Body("mass", m, inertia=(1, 1, 1))], [joint], gravity=(0, 0, 0))
    duration = float(rng.uniform(1, 30)) / omega
    B = (v0 + ratio * omega * x0) / damped

    def x(t: float) -> float:
        decay = math.exp(-ratio * omega * t)
        return decay * (x0 * math.cos(damped * t) + B * math.sin(damped * t))

    early = 0.37 * duration
    answers = {"x": x(duration), f"x@{early!r}": x(early)}
    return Problem("oscillator", model, duration, _options(rng), answers)


def bouncing_ball(rng: Random) -> Problem:
    """A ball on a spring of Hooke's law without losses: parabolas and arcs of a sine."""
    m, k, h, g = rng.uniform(0.2, 3.0), 10 ** rng.uniform(3, 6), rng.uniform(0.05, 1.0), 9.81
    model = Model(
        "ball",
        [Body("ball", m, shape=Sphere(0.05))],
        [Joint("z", "prismatic", "ball", axis=(0, 0, 1), q0=float(h))],
        contacts=[Contact("ground", Hooke(stiffness=float(k)), Plane(), points=[Frame("ball", (0, 0, 0))])],
    )
    fall, speed, omega = math.sqrt(2 * h / g), math.sqrt(2 * g * h), math.sqrt(k / m)
    # z = (v/w) sin wt + (g/w^2)(cos wt - 1) below the ground; back at 0 at the time ..
    touch = 2.0 * (math.pi - math.atan2(speed * omega, g)) / omega
    peak = m * g + k * math.hypot(speed / omega, g / omega**2)
    bounces = int(rng.integers(1, 6))
    duration = fall + bounces * touch + (bounces - 0.5) * 2 * fall
    starts = [fall + i * (touch + 2 * fall) for i in range(bounces)]
    last = starts[-1]
    answers = {"z": h - 0.5 * g * (duration - last - touch - fall) ** 2, "contacts": float(bounces)}
    answers |= {f"contact {i + 1} t_start": start for i, start in enumerate(starts)}
    answers |= {f"contact {i + 1} peak_normal": peak for i in range(bounces)}
    return Problem("bouncing ball", model, duration, _options(rng), answers)


def sliding_block(rng: Random) -> Problem:
    """A slider with dry friction comes to rest, and stays."""
    m, force, v0 = rng.uniform(0.5, 3.0), rng.uniform(0.5, 5.0), rng.uniform(0.5, 5.0)
    law = Friction("coulomb", mu_k=1.0, load=float(force))
    joint = Joint("x", "prismatic", "block", axis=(1, 0, 0), v0=float(v0), friction=law)
    model = Model("block", [Body("block", float(m), inertia=(1, 1, 1))], [joint], gravity=(0, 0, 0))
    stop = v0 * m / force
    answers = {"x": 0.5 * v0 * stop, "work_joint_friction": -0.5 * m * v0**2, f"x@{0.5 * stop!r}": 0.375 * v0 * stop}
    return Problem("sliding block", model, float(1.3 * stop), _options(rng), answers)


def four_bar(rng: Random) -> Problem:
    """Loops with one equation of motion."""
    speed, duration = float(rng.uniform(0.3, 10.0)), float(rng.uniform(0.3, 2.0))
    n = int(rng.integers(1, 4))
    wanted = four_bars.exact(four_bars.swing_of_four_bars(n), [0.5 * np.pi, -speed], np.array([0.0, duration]))[-1]
    options = _options(rng)
    # minimal coordinates go with explicit integrators
    able = ["multipliers"] if options["integrator"] == "radau" else ["multipliers", "reduced"]
    options["closure"] = str(rng.choice(able))
    answers = {"foot0": wanted[0], f"foot{n}": wanted[0], "foot0.rate": wanted[1]}
    return Problem("four-bar", four_bars.four_bars(n, speed), duration, options, answers)


# --- agreed by two integrators -------------------------------------------------------------------------------------


def rods(rng: Random) -> Problem | None:
    """A pendulum of one to three rods, with and without springs."""
    bodies, joints, length = [], [], 0.0
    for i in range(int(rng.integers(1, 4))):
        parent = {"parent": Frame(f"rod{i - 1}", (length, 0, 0))} if i else {}
        length = float(rng.uniform(0.3, 1.0))
        bodies.append(Body(f"rod{i}", float(rng.uniform(0.3, 3.0)), shape=Rod(length)))
        stiffness = float(rng.choice([0.0, 5.0, 50.0]))
        joints.append(
            Joint(f"hinge{i}", "revolute", f"rod{i}", q0=float(rng.uniform(-1, 1)), stiffness=stiffness, **parent)
        )
    model = Model("rods", bodies, joints, gravity=(0, -9.81, 0))
    return _agreed("rods", model, float(rng.uniform(0.3, 3.0)), _options(rng), ["hinge0", "hinge0.rate", "kinetic"])


def friction_chain(rng: Random) -> Problem | None:
    model = friction_models.chain(rng)
    names = [name for name in model.coordinates]
    return _agreed("friction chain", model, float(rng.uniform(0.2, 1.0)), _options(rng), [names[0], names[-1]])


def falling_rod(rng: Random) -> Problem | None:
    model = friction_models.rod(rng)
    return _agreed(
        "falling rod", model, float(rng.uniform(0.1, 0.5)), _options(rng), ["free.x", "free.y", "free.angle"]
    )


def _agreed(name: str, model: Model, duration: float, options: dict[str, Any], figures: list[str]) -> Problem | None:
    """With the answers of two integrators at their tightest, if these agree."""
    found = []
    for integrator in ("dop853", "radau"):
        run = pliant.simulate(model, duration, integrator=integrator, rtol=1e-13, atol=1e-15)
        if not run.is_ok:
            return None
        found.append({figure: float(run[figure][-1]) for figure in figures})
    one, other = found
    if any(abs(one[key] - other[key]) > AGREED * max(1.0, abs(one[key])) for key in figures):
        return None
    return Problem(name, model, duration, options, one)


KINDS: tuple[Callable[[Random], Problem | None], ...] = (
    oscillator,
    bouncing_ball,
    sliding_block,
    four_bar,
    rods,
    friction_chain,
    falling_rod,
)


def problems(count: int, first: int = 0) -> Any:
    """So many, all kinds in turn."""
    seed, made = first, 0
    while made < count:
        problem = KINDS[seed % len(KINDS)](np.random.default_rng(seed))
        seed += 1
        if problem is not None:
            made += 1
            yield problem

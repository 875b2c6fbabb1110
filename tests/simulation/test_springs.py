"""Springs between two places: spring, damper, motor and rope along the line that connects them."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from scipy.integrate import solve_ivp

import pliant
from pliant import (
    Beam,
    Bending,
    Body,
    Controller,
    ForceTable,
    Frame,
    Joint,
    Load,
    Loop,
    Material,
    Model,
    Output,
    Rectangle,
    Rod,
    Sine,
    Spring,
)
from pliant.errors import ModelError, SimulationError
from pliant.model.springs import free_lengths, start_lengths

FORMULATIONS = ["articulated", "lagrange", "gibbs_appell", "boltzmann_hamel", "denoc"]
MASSES, STIFFNESS, LENGTH = (2.0, 3.0), 50.0, 1.0
REDUCED = MASSES[0] * MASSES[1] / sum(MASSES)
HARDENING = ForceTable(elongation=(0.0, 0.1, 0.3, 0.5), force=(0.0, 10.0, 60.0, 200.0))
SNAPPING = ForceTable(elongation=(-0.4, -0.2, 0.0, 0.2, 0.4), force=(-30.0, 10.0, 0.0, -10.0, 30.0))


def two_bodies(velocity: tuple[float, ...] = (0.0,) * 6, **spring: Any) -> Model:
    """Two bodies in space on a spring, at distance 1.5 along x; the second moves."""
    inertia = (0.1, 0.2, 0.25)
    joints = [
        Joint("left", "floating", "a"),
        Joint("right", "floating", "b", q0=(1.5, 0, 0, 0, 0, 0, 1), v0=velocity),
    ]
    bodies = [Body("a", MASSES[0], inertia=inertia), Body("b", MASSES[1], inertia=inertia)]
    given = {"stiffness": STIFFNESS, "length": LENGTH} | spring
    springs = [Spring("s", given.pop("first", "a"), given.pop("second", "b"), **given)]
    return Model("two", bodies, joints, gravity=(0, 0, 0), springs=springs, outputs=[Output("s", "s", "spring")])


def slider(q0: float = 1.0, v0: float = 0.0, gravity: float = 0.0, mass: float = 2.0, **spring: Any) -> Model:
    """A mass that slides along x, on a spring from the origin."""
    joint = Joint("x", "prismatic", "m", axis=(1, 0, 0), q0=q0, v0=v0)
    return Model(
        "slider",
        [Body("m", mass)],
        [joint],
        gravity=(gravity, 0, 0),
        springs=[Spring("s", "world", "m", **spring)],
        outputs=[Output("s", "s", "spring")],
    )


def arm(*springs: Spring, **fields: Any) -> Model:
    """Two links in space, with places for springs off their axes."""
    joints = [
        Joint("shoulder", "universal", "upper", q0=(0.3, -0.4)),
        Joint("elbow", "revolute", "lower", Frame("upper", (0.7, 0, 0)), axis=(0, 1, 1), q0=-0.8, v0=2.0),
    ]
    bodies = [Body("upper", 2.0, shape=Rod(0.7, 0.03)), Body("lower", 1.0, shape=Rod(0.6, 0.02))]
    return Model("arm", bodies, joints, springs=springs, **fields)


UPPER, LOWER = Frame("upper", (0.4, 0.1, 0.0)), Frame("lower", (0.3, 0.0, 0.1))
POST = Frame("world", (0.2, 0.5, 0.3))
LAWS = {
    "linear": {"stiffness": 80.0, "damping": 3.0},
    "table": {"stiffness": HARDENING, "damping": 1.0},
    "snapping": {"stiffness": SNAPPING, "length": 0.5},
    "motor": {"stiffness": 30.0, "length": 0.2, "motor": Sine(20.0, 9.0), "damping": 1.0},
    "rope": {"stiffness": 200.0, "damping": 5.0, "only": "tension", "length": 0.62},
    "buffer": {"stiffness": 200.0, "damping": 2.0, "only": "compression", "length": 0.62},
}


# --- closed forms ---------------------------------------------------------------------------------------------------


def test_two_masses_in_space_swing_with_their_reduced_mass() -> None:
    result = pliant.simulate(two_bodies(), 2.0, rtol=1e-11)
    omega = math.sqrt(STIFFNESS / REDUCED)
    wanted = LENGTH + 0.5 * np.cos(omega * result.t)
    # rtol 1e-11 over two swings
    assert np.abs(result["s.length"] - wanted).max() < 1e-9
    assert np.abs(result["s.force"] - STIFFNESS * (wanted - LENGTH)).max() < 1e-7
    assert np.abs(result["s.rate"] + 0.5 * omega * np.sin(omega * result.t)).max() < 1e-8
    assert result.audit["energy_residual"] < 1e-10
    assert result.audit["momentum_drift"] < 1e-13  # action and reaction cancel to rounding


def test_two_masses_orbit_as_points_do_in_plain_coordinates() -> None:
    """Against Newton's law of two points, integrated by SciPy; the places lie off the mass centres in neither."""
    model = two_bodies((0.0, 1.2, 0.4, 0, 0, 0), damping=0.7)
    result = pliant.simulate(model, 3.0, rtol=1e-11)

    def law(_: float, y: np.ndarray) -> np.ndarray:
        d, rate = y[3:6] - y[:3], y[9:] - y[6:9]
        length = np.linalg.norm(d)
        force = (STIFFNESS * (length - LENGTH) + 0.7 * (d @ rate) / length) * d / length
        return np.concatenate([y[6:], force / MASSES[0], -force / MASSES[1]])

    start = np.array([0, 0, 0, 1.5, 0, 0, 0, 0, 0, 0, 1.2, 0.4])
    wanted = solve_ivp(law, (0.0, 3.0), start, "DOP853", rtol=1e-12, atol=1e-12).y[:6, -1]
    found = np.concatenate([result.q[-1, :3], result.q[-1, 7:10]])
    assert np.abs(found - wanted).max() < 1e-8  # of both integrations
    assert result.audit["momentum_drift"] < 1e-10  # angular momentum is quadratic: kept by rtol, not by the method


def test_bodies_on_a_spring_at_their_corners_keep_their_momenta() -> None:
    """Forces at offset places: angular momentum goes from one body to the other, and none is lost."""
    ends = {"first": Frame("a", (0.1, 0.2, -0.1)), "second": Frame("b", (-0.2, 0.1, 0.3))}
    model = two_bodies((0.3, 0.5, 0.1, 1.0, -2.0, 0.5), **ends, damping=0.4, motor=Sine(5.0, 3.0))
    result = pliant.simulate(model, 2.0, rtol=1e-10)
    assert np.abs(result.v[-1, 3:6]).max() > 0.1  # the first body has begun to rotate
    assert result.audit["momentum_drift"] < 1e-10
    assert result.audit["energy_residual"] < 1e-9
    assert set(result.energy) >= {"work_damper", "work_motor"}


def test_a_spring_to_the_world_takes_momentum() -> None:
    held = two_bodies(first=Frame("world", (0, 1, 0)))
    assert not pliant.prepare(held).conserves_momentum()
    assert pliant.prepare(two_bodies()).conserves_momentum()


def test_a_mass_on_a_strut_swings_as_on_massless_joints() -> None:
    """An elastic pendulum: a spring to a free point, and the same as a hinge without mass and a slide with a spring."""
    strut = {"stiffness": 300.0, "damping": 2.0}
    start, rate = (0.6, -0.8), (0.5, 0.2)
    free = Model(
        "spring",
        [Body("bob", 1.5, inertia=(0.1, 0.1, 0.1))],
        [Joint("move", "planar", "bob", q0=(*start, 0.0), v0=(*rate, 0.0))],
        gravity=(0, -9.81, 0),
        springs=[Spring("strut", "world", "bob", length=0.9, **strut)],
    )
    angle = math.atan2(start[1], start[0])
    radial = rate[0] * math.cos(angle) + rate[1] * math.sin(angle)
    turning = rate[1] * math.cos(angle) - rate[0] * math.sin(angle)
    joints = [
        Joint("hinge", "revolute", "tube", q0=angle, v0=turning),
        Joint("slide", "prismatic", "bob", "tube", axis=(1, 0, 0), q0=1.0, v0=radial, rest=0.9, **strut),
    ]
    jointed = Model("joints", [Body("tube", 0.0), Body("bob", 1.5)], joints, gravity=(0, -9.81, 0))
    one, two = (pliant.simulate(model, 2.0, rtol=1e-11) for model in (free, jointed))
    place = two.q[-1, 1] * np.array([math.cos(two.q[-1, 0]), math.sin(two.q[-1, 0])])
    assert np.abs(one.q[-1, :2] - place).max() < 1e-8  # rtol 1e-11 over a few swings


def test_a_slider_crank_on_a_strut_follows_its_lagrangian() -> None:
    """One coordinate by hand, the crank angle theta; strut with a damper from the middle of the rod to the ground."""
    r, L, m1, m2, m3, g, k, c, free = 0.3, 0.8, 1.0, 2.0, 1.5, 9.81, 400.0, 8.0, 0.4
    post = (0.5, 0.6)
    theta, rate, second = sympy.symbols("theta rate second")
    slide = r * sympy.cos(theta) + sympy.sqrt(L**2 - (r * sympy.sin(theta)) ** 2)
    phi = -sympy.asin(r / L * sympy.sin(theta))
    middle = [r * f(theta) + L / 2 * f(phi) for f in (sympy.cos, sympy.sin)]
    length = sympy.sqrt((middle[0] - post[0]) ** 2 + (middle[1] - post[1]) ** 2)
    of_rate = [sympy.diff(x, theta) * rate for x in (slide, middle[0], middle[1], phi, length)]
    T = m1 * r**2 / 6 * rate**2 + m3 * of_rate[0] ** 2 / 2
    T += m2 / 2 * (of_rate[1] ** 2 + of_rate[2] ** 2) + m2 * L**2 / 24 * of_rate[3] ** 2
    V = g * (m1 * r / 2 * sympy.sin(theta) + m2 * middle[1]) + k / 2 * (length - free) ** 2
    momentum = sympy.diff(T, rate)
    left = sympy.diff(momentum, theta) * rate + sympy.diff(momentum, rate) * second
    damper = -c * of_rate[4] * sympy.diff(length, theta)
    row = left - sympy.diff(T - V, theta) - damper
    # linear in the acceleration
    acceleration = sympy.lambdify((theta, rate), -row.subs(second, 0) / sympy.diff(row, second))

    bodies = [
        Body("crank", m1, (r / 2, 0, 0), (0, 0, m1 * r**2 / 12), inertia_check="symmetric"),
        Body("rod", m2, (L / 2, 0, 0), (0, 0, m2 * L**2 / 12), inertia_check="symmetric"),
        Body("piston", m3),
    ]
    joints = [
        Joint("turn", "revolute", "crank"),
        Joint("pin", "revolute", "rod", Frame("crank", (r, 0, 0))),
        Joint("slide", "prismatic", "piston", axis=(1, 0, 0)),
    ]
    model = Model(
        "slider-crank",
        bodies,
        joints,
        gravity=(0, -g, 0),
        loops=[Loop("wrist", "revolute", Frame("rod", (L, 0, 0)), "piston")],
        springs=[Spring("strut", Frame("world", (*post, 0)), Frame("rod", (L / 2, 0, 0)), k, c, free)],
        keep=["turn"],
    )
    for angle, speed in ((0.4, 0.0), (1.1, 3.0), (2.5, -4.0), (4.4, 6.0)):
        tilt = -math.asin(r / L * math.sin(angle))
        tilt_rate = -r * math.cos(angle) * speed / (L * math.cos(tilt))
        where = r * math.cos(angle) + L * math.cos(tilt)
        sliding = -r * math.sin(angle) * speed - L * math.sin(tilt) * tilt_rate
        q, v = [angle, tilt - angle, where], [speed, tilt_rate - speed, sliding]
        found = pliant.forward_dynamics(model, q, v)[0]
        assert found == pytest.approx(acceleration(angle, speed), rel=1e-10)


def test_a_mass_hangs_on_two_ropes_with_the_tension_of_statics() -> None:
    m, g, k, half, free = 10.0, 9.81, 5e3, 1.0, 1.1
    ends = [Frame("world", (side * half, 0, 0)) for side in (-1, 1)]
    ropes = [Spring(name, end, "m", k, length=free, only="tension") for name, end in zip("ab", ends, strict=True)]
    model = Model(
        "ropes",
        [Body("m", m, inertia=(1, 1, 1))],
        [Joint("move", "planar", "m", q0=(0, -0.6, 0), damping=(0, 0, 1.0), stiffness=(0, 0, 1.0))],
        gravity=(0, -g, 0),
        springs=ropes,
        outputs=[Output(name, name, "spring") for name in "ab"],
    )
    rest = pliant.equilibrium(model)
    length = math.hypot(half, rest[1])
    tension = m * g / 2 / (-rest[1] / length)
    assert k * (length - free) == pytest.approx(tension, rel=1e-9)
    result = pliant.simulate(model, 0.01, q0=rest)
    assert result["a.force"][0] == pytest.approx(tension, rel=1e-9)
    assert result["b.force"][0] == pytest.approx(tension, rel=1e-9)


def test_a_jumper_falls_freely_until_the_rope_is_taut_and_swings_then() -> None:
    m, g, k, free = 70.0, 9.81, 150.0, 12.0
    model = slider(0.0, 0.0, g, m, stiffness=k, length=free, only="tension")
    result = pliant.simulate(model, 6.0, rtol=1e-10)
    taut = math.sqrt(2 * free / g)
    assert [(event.name, event.direction) for event in result.events[:2]] == [
        ("spring s taut", "rising"),
        ("spring s taut", "falling"),
    ]
    assert result.events[0].t == pytest.approx(taut, rel=1e-9)
    # energy: m g x = k (x - free)^2 / 2
    lowest = free + m * g / k + math.sqrt((m * g / k) ** 2 + 2 * m * g * free / k)
    assert result.at(result.events[1].t)[1][0] == pytest.approx(-g * taut, rel=1e-8)
    times = np.linspace(result.events[0].t, result.events[1].t, 20001)
    assert result.at(times)[0][:, 0].max() == pytest.approx(lowest, rel=1e-7)  # of the grid of times: its square
    assert result.audit["energy_residual"] < 1e-9
    assert result["s.force"].min() == 0.0


def test_a_mass_between_stretched_springs_swings_across_as_a_string_does() -> None:
    """Along: 2 k / m; across, by their tension alone: 2 T / (m l)."""
    k, m, half, free = 400.0, 0.5, 0.8, 0.5
    ends = [Frame("world", (side * half, 0, 0)) for side in (-1, 1)]
    springs = [Spring(name, end, "m", k, length=free) for name, end in zip("ab", ends, strict=True)]
    joint = Joint("move", "planar", "m", stiffness=(0, 0, 1.0))
    model = Model("string", [Body("m", m, inertia=(1, 1, 1))], [joint], gravity=(0, 0, 0), springs=springs)
    along, across = math.sqrt(2 * k / m), math.sqrt(2 * k * (half - free) / (m * half))
    found = pliant.modes(model).frequencies
    assert np.sort(found) == pytest.approx(sorted([1.0, across, along]), rel=1e-7)


# --- identities -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_energy_and_works_balance_in_every_formulation(law: str, formulation: str) -> None:
    model = arm(Spring("inner", UPPER, LOWER, **LAWS[law]), Spring("outer", POST, LOWER, **LAWS[law]))
    result = pliant.simulate(model, 0.5, formulation=formulation, rtol=1e-11)
    # values of a table are kinks of its slope, which steps pass unseen; those of a snapping one are sharp
    assert result.audit["energy_residual"] < (2e-9 if law == "snapping" else 1e-10)


@pytest.mark.parametrize("law", ["linear", "table", "snapping"])
def test_the_force_is_the_slope_of_the_energy(law: str) -> None:
    with_spring, without = arm(Spring("s", POST, LOWER, **LAWS[law])), arm()
    rng = np.random.default_rng(3)
    for _ in range(5):
        q, still, h = rng.uniform(-1, 1, 3), np.zeros(3), 1e-5
        tau = pliant.inverse_dynamics(without, q, still, still) - pliant.inverse_dynamics(with_spring, q, still, still)
        steps = h * np.eye(3)
        up, down = (pliant.energy(with_spring, q + sign * steps, np.zeros((3, 3))).elastic for sign in (1, -1))
        slope = (up - down) / (2 * h)
        # central differences: h^2 and rounding / h
        assert np.abs(tau + slope).max() < 1e-6


def flexible(*springs: Spring, **fields: Any) -> Model:
    """A beam that bends and twists on a universal joint, with a body on a hinge at its tip."""
    steel = Material(young=2e9, density=2000.0)
    shapes = {"bending_y": 2, "bending_z": 2, "stretch": 1, "torsion": 1}
    beam = Beam("beam", 1.2, steel, Rectangle(0.03, 0.04), rotary="section", **shapes)
    joints = [
        Joint("root", "universal", "beam", q0=(0.1, -0.2)),
        Joint("tip", "revolute", "bob", Frame("beam", (1.2, 0, 0)), axis=(0, 1, 0), q0=0.4),
    ]
    bodies = [beam, Body("bob", 1.0, (0.2, 0, 0), (0.02, 0.03, 0.03))]
    return Model("flexible", bodies, joints, springs=springs, **fields)


SECTIONS = (
    Spring("stay", Frame("world", (0.3, 0.9, 0.4)), Frame("beam", (0.7, 0.05, -0.02)), stiffness=500.0, damping=4.0),
    Spring("chord", Frame("beam", (0.1, 0.0, 0.2)), Frame("beam", (1.0, 0.0, 0.2)), stiffness=3e3, length=0.85),
    Spring("hook", Frame("bob", (0.3, 0, 0)), Frame("beam", (0.4, 0, 0.1)), stiffness=HARDENING, motor=12.0),
)


def random_state(model: Model, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q, v = rng.uniform(-0.5, 0.5, len(model.coordinates)), rng.uniform(-1, 1, len(model.velocities))
    modes = [k for k, name in enumerate(model.coordinates) if ".mode" in name]
    q[modes] *= 0.04  # bent, but within the theory
    return q, v


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_on_a_beam_it_does_the_work_of_the_forces_at_its_ends(formulation: str) -> None:
    """The same as loads of its tension along its line, in every formulation."""
    outputs = [Output(spring.name, spring.name, "spring") for spring in SECTIONS]
    sprung = flexible(*SECTIONS, outputs=outputs)
    q, v = random_state(sprung, 5)
    handle = pliant.prepare(sprung)
    places = handle.frame_places(q[None, :])[0]
    handle.forward_dynamics(q, v)
    loads = []
    result = pliant.simulate(sprung, 1e-9, q0=q, v0=v)
    for spring, row in zip(SECTIONS, handle.system.springs, strict=True):
        d = places[row.end] - places[row.start]
        force = result[f"{spring.name}.force"][0] * d / np.linalg.norm(d)
        for place, pull in ((spring.first, force), (spring.second, -force)):
            if place.body != "world":
                loads.append(Load(place, *map(float, pull)))
    found = pliant.forward_dynamics(sprung, q, v, formulation=formulation)
    wanted = pliant.forward_dynamics(flexible(loads=loads), q, v, formulation="articulated")
    assert np.abs(found - wanted).max() < 1e-10 * np.abs(wanted).max()


def test_springs_on_a_beam_keep_the_balance_of_energy() -> None:
    result = pliant.simulate(flexible(*SECTIONS), 0.3, rtol=1e-10)
    assert result.audit["energy_residual"] < 1e-9


@pytest.mark.parametrize("name", ["root", "middle"])
def test_forces_in_a_beam_know_the_springs_beyond(name: str) -> None:
    """A cantilever held by a spring: section forces as under a load of its tension."""
    steel = Material(young=2.1e11, density=7850.0)
    beam = Beam("beam", 2.0, steel, Rectangle(0.04, 0.06), bending_z=Bending(2, family="polynomials"))
    frames = [Frame("beam", (0, 0, 0), name="root"), Frame("beam", (0.9, 0, 0), name="middle")]
    fields: dict[str, Any] = {
        "frames": frames,
        "outputs": [Output("section", name, "section"), *([Output("s", "s", "spring")])],
    }
    pull = Spring("s", Frame("beam", (1.5, 0.1, 0.0)), Frame("world", (0.5, 0.6, 0.9)), stiffness=2e4, length=1.0)
    sprung = Model("held", [beam], springs=[pull], **fields)
    result = pliant.simulate(sprung, 0.02)
    d = np.array([0.5, 0.6, 0.9]) - np.array([1.5, 0.1, 0.0])
    force = result["s.force"][0] * d / np.linalg.norm(d)
    fields["outputs"] = fields["outputs"][:1]
    loaded = Model("loaded", [beam], loads=[Load(pull.first, *map(float, force))], **fields)
    wanted = pliant.simulate(loaded, 0.02).outputs["section"][0]
    assert np.abs(wanted).max() > 1e3
    assert np.abs(result.outputs["section"][0] - wanted).max() < 1e-9 * np.abs(wanted).max()


@pytest.mark.parametrize("integrator", ["dop853", "radau", "adams", "generalised_alpha", "newmark"])
def test_every_kind_of_integrator_takes_springs(integrator: str) -> None:
    fixed = {"step": 1e-4} if integrator in ("generalised_alpha", "newmark") else {"rtol": 1e-9}
    result = pliant.simulate(two_bodies(), 0.5, integrator=integrator, **fixed)
    wanted = LENGTH + 0.5 * math.cos(math.sqrt(STIFFNESS / REDUCED) * 0.5)
    # second order: (omega h)^2 / 12 of 3.2 rad
    assert result["s.length"][-1] == pytest.approx(wanted, abs=1e-6 if "step" in fixed else 1e-7)


def test_auto_leaves_dop853_where_a_spring_is_stiff() -> None:
    model = slider(1.0, 0.0, -1.0, stiffness=1e9, damping=2e6)
    result = pliant.simulate(model, 1.0)
    assert [name for _, name in result.integrators][-1] in ("ark5", "radau")
    assert result.q[-1, 0] == pytest.approx(1.0 - 2e-9, abs=1e-12)


def test_closures_agree_on_a_mechanism_with_a_spring() -> None:
    joints = [
        Joint("a", "revolute", "crank", q0=1.2, v0=2.0),
        Joint("b", "revolute", "coupler", Frame("crank", (0.3, 0, 0)), q0=-1.0),
        Joint("c", "revolute", "rocker", Frame("world", (0.8, 0, 0)), q0=1.8),
    ]
    sizes = {"crank": 0.3, "coupler": 0.8, "rocker": 0.5}
    model = Model(
        "four bar",
        [Body(name, 1.0, shape=Rod(size, 0.01)) for name, size in sizes.items()],
        joints,
        gravity=(0, -9.81, 0),
        loops=[Loop("pin", "revolute", Frame("coupler", (0.8, 0, 0)), Frame("rocker", (0.5, 0, 0)))],
        keep=["a"],
        springs=[Spring("s", Frame("coupler", (0.4, 0.1, 0)), Frame("world", (0.4, 0.9, 0)), 150.0, 2.0)],
    )
    ends = [pliant.simulate(model, 0.5, closure=closure, rtol=1e-10).q[-1] for closure in ("multipliers", "reduced")]
    assert np.abs(ends[0] - ends[1]).max() < 1e-7  # rtol 1e-10 over a turn
    assert pliant.simulate(model, 0.5, rtol=1e-10).audit["energy_residual"] < 1e-9


# --- places that meet -----------------------------------------------------------------------------------------------


def test_a_spring_without_free_length_is_smooth_where_its_ends_meet() -> None:
    """k d in every direction: an ellipse about the anchor, or a line through it."""
    for v0 in ((0.0, 0.8, 0.0), (0.0, 0.0, 0.0)):
        joint = Joint("move", "planar", "m", q0=(1.0, 0.0, 0.0), v0=v0)
        spring = Spring("s", "world", "m", 8.0, length=0.0)
        model = Model("well", [Body("m", 2.0, inertia=(1, 1, 1))], [joint], gravity=(0, 0, 0), springs=[spring])
        result = pliant.simulate(model, 4.0, rtol=1e-11)
        wanted = np.stack([np.cos(2 * result.t), v0[1] / 2 * np.sin(2 * result.t)], axis=1)
        assert result.status == "done"
        assert np.abs(result.q[:, :2] - wanted).max() < 1e-9
        assert not result.events


def test_a_damper_passes_through_the_meeting_of_its_ends() -> None:
    result = pliant.simulate(slider(1.0, 0.0, stiffness=20.0, length=0.0, damping=1.0), 2.0, rtol=1e-10)
    decay, omega = 0.25, math.sqrt(10.0 - 0.25**2)
    wanted = np.exp(-decay * result.t) * (np.cos(omega * result.t) + decay / omega * np.sin(omega * result.t))
    assert np.abs(result.q[:, 0] - wanted).max() < 1e-8


@pytest.mark.parametrize("integrator", ["dop853", "radau"])
def test_a_run_ends_with_the_reason_where_the_ends_of_a_strut_meet(integrator: str) -> None:
    result = pliant.simulate(slider(1.0, -5.0, stiffness=20.0, length=0.5), 1.0, integrator=integrator)
    assert result.status == "failed"
    assert "ends of spring 's' meet, where its force has no direction" in result.reason
    assert result.events[-1].name == "ends of spring s meet"
    # x = 0.5 + A cos(w t + p)
    omega, start = math.sqrt(10.0), 0.5
    amplitude, phase = math.hypot(start, 5.0 / omega), math.atan2(5.0 / omega, start)
    met = (math.acos((1e-6 - 0.5) / amplitude) - phase) / omega
    assert result.events[-1].t == pytest.approx(met, abs=1e-8)
    assert np.isfinite(result.q).all()


def test_states_where_the_ends_coincide_are_named() -> None:
    model = slider(1.0, 0.0, stiffness=20.0, length=0.5)
    for call in (
        lambda: pliant.forward_dynamics(model, [0.0], [0.0]),
        lambda: pliant.inverse_dynamics(model, [0.0], [0.0], [0.0]),
        lambda: pliant.prepare(model).inverse_dynamics(np.zeros(1), np.zeros(1), np.zeros(1)),
        lambda: pliant.forward_dynamics(model, [[1.0], [0.0]], [[0.0], [0.0]]),
    ):
        with pytest.raises(SimulationError, match="ends of spring 's' meet"):
            call()
    with pytest.raises(ModelError, match="start: the ends of spring 's' coincide"):
        pliant.simulate(model, 1.0, q0=[0.0])
    with pytest.warns(pliant.AccuracyWarning, match="1 of 2 runs failed"):
        runs = pliant.simulate_many(model, 0.5, q0=[[1.0], [0.3]], v0=[[0.0], [-4.0]])
    assert runs.status.tolist() == ["done", "failed"]
    assert "ends of spring 's' meet" in runs.reasons[1]


# --- what a free length is ------------------------------------------------------------------------------------------


def test_a_free_length_left_out_is_the_distance_at_the_start() -> None:
    model = arm(Spring("s", POST, LOWER, 50.0), Spring("t", UPPER, "world", 50.0, length=0.1))
    places = pliant.prepare(model).frame_places(model.q0[None, :])[0]
    rows = pliant.prepare(model).system.springs
    wanted = [np.linalg.norm(places[row.end] - places[row.start]) for row in rows]
    assert start_lengths(model) == pytest.approx(wanted, rel=1e-14)
    assert free_lengths(model) == pytest.approx([wanted[0], 0.1], rel=1e-14)
    assert pliant.energy(model, model.q0, np.zeros(3)).elastic == pytest.approx(25.0 * (wanted[1] - 0.1) ** 2)


# --- motors and other callers ---------------------------------------------------------------------------------------


def test_a_motor_pushes_the_ends_apart() -> None:
    model = slider(1.0, 0.0, motor=6.0)
    assert pliant.forward_dynamics(model, [1.0], [0.0])[0] == pytest.approx(3.0)
    result = pliant.simulate(model, 1.0)
    assert result.q[-1, 0] == pytest.approx(2.5)
    assert result["s.force"][-1] == -6.0
    assert result.energy["work_motor"][-1] == pytest.approx(9.0)


def test_a_python_controller_commands_a_spring_by_its_name() -> None:
    def law(t: float, measured: Any) -> float:
        _, length, rate = measured["s"]
        return 40.0 * (1.2 - length) - 12.0 * rate

    controller = Controller("servo", 0.01, ["s"], law, limit=5.0)
    model = replace(slider(1.0, damping=1.0), controllers=[controller])
    result = pliant.simulate(model, 5.0)
    assert result.q[-1, 0] == pytest.approx(1.2, abs=1e-3)
    assert result.audit["energy_residual"] < 1e-9
    assert np.abs(result["s.command"]).max() == 5.0  # its limit
    sampled = pliant.modes(model, q=[1.2], controllers=True)
    assert np.all(np.abs(sampled.eigenvalues.real) > 0.1)
    with pytest.raises(ModelError, match="measures coordinates of joints, which spring 's' has none of"):
        replace(model, controllers=[Controller("pd", 0.01, ["s"], law=pliant.PD(1.0, 1.0))])


def test_linearise_takes_the_thrust_of_a_spring_as_an_input() -> None:
    outputs = [Output("bearing", "shoulder", "reaction"), Output("s", "s", "spring")]
    model = arm(Spring("s", UPPER, LOWER, 50.0, 2.0), Spring("t", POST, LOWER, 30.0), outputs=outputs)
    q = np.array([0.2, 0.3, -0.5])
    linear = pliant.linearise(model, q, inputs=["s", "t"], outputs=["bearing", "s"])
    for k, name in enumerate("st"):
        pushed = [
            replace(model, springs=[replace(one, motor=f if one.name == name else 0.0) for one in model.springs])
            for f in (1.0, -1.0)
        ]
        vdot = [pliant.forward_dynamics(one, q, np.zeros(3)) for one in pushed]
        assert np.allclose(linear.B[3:, k], 0.5 * (vdot[0] - vdot[1]), rtol=1e-9, atol=1e-9)
        bearing = [pliant.reactions(one, q, np.zeros(3))["shoulder"] for one in pushed]
        assert np.allclose(linear.D[:6, k], 0.5 * (bearing[0] - bearing[1]), rtol=1e-8, atol=1e-9)


def test_the_slope_of_a_linear_model_is_that_of_the_force() -> None:
    linear = pliant.linearise(slider(1.3, stiffness=80.0, length=1.0, damping=3.0), [1.3])
    assert np.allclose(linear.A, [[0, 1], [-40.0, -1.5]], rtol=0, atol=1e-7)


def test_transfer_matrices_say_that_they_take_no_springs() -> None:
    chain = Model(
        "chain",
        [Body("a", 1.0, shape=Rod(0.5, 0.02)), Body("b", 1.0, shape=Rod(0.5, 0.02))],
        [Joint("one", "revolute", "a", q0=0.3), Joint("two", "revolute", "b", Frame("a", (0.5, 0, 0)), v0=1.0)],
        gravity=(0, -9.81, 0),
        springs=[Spring("s", Frame("world", (0.3, 0.8, 0)), Frame("b", (0.4, 0, 0)), 60.0, 1.0)],
    )
    with pytest.raises(ModelError, match="transfer: the model has springs between places"):
        pliant.transfer(chain)
    with pytest.raises(ModelError, match="spring 's' makes forces that it does not linearise"):
        pliant.simulate(chain, 0.1, formulation="transfer_matrix", integrator="newmark", step=1e-3)
    q, v = [0.4, -0.7], [1.0, 2.0]
    found = pliant.forward_dynamics(chain, q, v, formulation="transfer_matrix")
    assert np.allclose(found, pliant.forward_dynamics(chain, q, v), rtol=1e-12)


def test_many_runs_and_flexible_links_take_springs() -> None:
    model = arm(Spring("s", POST, LOWER, 50.0, 1.0))
    models = [replace(model, springs=[replace(model.springs[0], stiffness=k)]) for k in (20.0, 90.0)]
    assert pliant.simulate_many(models, 0.2).status.tolist() == ["done", "done"]
    light = Material(young=7e10, density=800.0)
    bent = pliant.make_flexible(model, "lower", section=pliant.Circle(0.01), material=light, to=(0.6, 0, 0), modes=1)
    assert bent.springs[0].second.body == "lower_beam"
    assert start_lengths(bent) == pytest.approx(start_lengths(model))


def test_a_linearised_rope_at_its_free_length_is_refused() -> None:
    with pytest.raises(ModelError, match="spring 's' is just at its free length"):
        pliant.linearise(slider(1.0, stiffness=10.0, only="tension"))


# --- files, pictures ------------------------------------------------------------------------------------------------

FILE = """
name = "swing"
gravity = [0, -9.81, 0]
duration = 0.1
bodies = [{ name = "rod", mass = 1, shape = { kind = "rod", length = 1, radius = 0.01 } }]
joints = [{ name = "hinge", kind = "revolute", child = "rod" }]
outputs = [{ name = "strut", of = "strut", quantity = "spring" }]

[[springs]]
name = "strut"
first = { body = "rod", position = [0.8, 0, 0] }
second = { body = "world", position = [0, 1, 0] }
stiffness = { elongation = [0, 0.1], force = [0, 20] }
damping = 0.5
"""


def test_files_have_springs_and_every_key_of_them(tmp_path: Path) -> None:
    path = tmp_path / "swing.toml"
    path.write_text(FILE)
    model = pliant.load(path)
    assert model.springs[0].stiffness == ForceTable((0.0, 0.1), (0.0, 20.0))
    given = {"springs.strut.damping": 2.0, "springs.strut.stiffness": 70.0, "springs.strut.length": 0.9}
    changed = pliant.load(path, **given).springs[0]
    assert (changed.damping, changed.stiffness, changed.length) == (2.0, 70.0, 0.9)
    result = pliant.simulate(model)
    result.save(tmp_path / "result.nc")
    again = pliant.load_result(tmp_path / "result.nc")
    assert again.model == model
    assert np.array_equal(again["strut.force"], result["strut.force"])


def test_pictures_and_pages_show_springs_by_the_sense_of_their_force(tmp_path: Path) -> None:
    from pliant.view.picture.robot import write_picture

    for free, look, other in ((0.2, "pulled", "pressed"), (0.8, "pressed", "pulled")):
        result = pliant.simulate(slider(0.5, stiffness=50.0, length=free), 0.01)
        write_picture(result, tmp_path / "still.svg")
        picture = (tmp_path / "still.svg").read_text()
        assert f'class="{look}"' in picture
        assert f'class="{other}"' not in picture
    result.report(tmp_path / "page.html")
    assert '"kind":"coil"' in (tmp_path / "page.html").read_text().replace(" ", "")


# --- mistakes -------------------------------------------------------------------------------------------------------

BAD_SPRINGS = {
    "length has no effect without stiffness": {"length": 1.0, "damping": 1.0},
    'only = "tension" needs stiffness': {"only": "tension", "damping": 1.0},
    'motor has no place in a spring with only = "tension"': {"only": "tension", "stiffness": 1.0, "motor": 1.0},
    "never acts with length 0": {"only": "compression", "stiffness": 1.0, "length": 0.0},
    "elongation 0, force 0 among its values": {
        "only": "tension",
        "stiffness": {"elongation": [-1, 1], "force": [-1, 2]},
    },
    "elongation must increase, but 1 follows 1": {"stiffness": {"elongation": [1, 1], "force": [0, 1]}},
    "2 values of elongation but 3 of force": {"stiffness": {"elongation": [0, 1], "force": [0, 1, 2]}},
    "found -1.0; give 0 or more": {"stiffness": -1.0},
    "is not known; allowed: tension, compression": {"stiffness": 1.0, "only": "pull"},
    "unknown key 'stifness'; did you mean 'stiffness'?": {"stifness": 1.0},
}


@pytest.mark.parametrize("message", BAD_SPRINGS)
def test_a_spring_that_makes_no_sense_is_refused(message: str) -> None:
    with pytest.raises(ModelError) as error:
        Spring("s", "world", "m", **BAD_SPRINGS[message])
    assert message in str(error.value)
    assert "spring 's'" in str(error.value)


BAD_PLACES: dict[str, list[Spring]] = {
    "spring 's': second 'lowr' does not exist; did you mean 'lower'?": [Spring("s", "upper", "lowr", 1.0)],
    "spring 's': both ends are on 'upper', at places that keep their distance": [Spring("s", UPPER, "upper", 1.0)],
    "spring 's': both ends are on the world": [Spring("s", POST, "world", 1.0)],
    "spring 's': it has no force; give stiffness, damping or motor": [Spring("s", POST, LOWER)],
    "spring 's': its ends coincide at the start, where its force has no direction": [
        Spring("s", Frame("upper", (0.7, 0, 0)), "lower", 1.0, length=0.3)
    ],
    "spring 's': two springs have this name": [Spring("s", POST, LOWER, 1.0), Spring("s", POST, UPPER, 1.0)],
    "spring 'elbow': a joint has this name": [Spring("elbow", POST, LOWER, 1.0)],
    "spring 'upper': a body has this name": [Spring("upper", POST, LOWER, 1.0)],
}


@pytest.mark.parametrize("message", BAD_PLACES)
def test_a_spring_at_places_that_make_no_sense_is_refused(message: str) -> None:
    with pytest.raises(ModelError) as error:
        arm(*BAD_PLACES[message])
    assert message in str(error.value)


def test_springs_off_and_on_bent_beams_are_refused() -> None:
    with pytest.raises(ModelError, match="spring 's': second: x = 2 m lies off the beam 'beam'"):
        flexible(Spring("s", POST, Frame("beam", (2.0, 0, 0)), 1.0))
    with pytest.raises(ModelError, match="both ends are on 'beam', at places that keep their distance"):
        flexible(Spring("s", Frame("beam", (0.5, 0.1, 0)), Frame("beam", (0.5, 0, 0)), 1.0))
    model = flexible()
    bent = replace(model.bodies[0], q0=(0.01, 0, 0, 0, 0, 0))
    for place in ("bob", Frame("beam", (0.5, 0, 0))):
        with pytest.raises(ModelError, match="beam 'beam' is bent at the start, so that the distance"):
            replace(model, bodies=[bent, model.bodies[1]], springs=[Spring("s", POST, place, 1.0)])
        assert replace(model, bodies=[bent, model.bodies[1]], springs=[Spring("s", POST, place, 1.0, length=1.0)])


def test_outputs_and_controllers_name_springs_that_there_are() -> None:
    with pytest.raises(ModelError, match=r"of \(spring of a joint\) 'strutt' does not exist; did you mean 'strut'"):
        arm(Spring("strut", POST, LOWER, 1.0), outputs=[Output("x", "strutt", "spring")])
    rope = Spring("rope", POST, LOWER, 1.0, only="tension", length=0.1)
    with pytest.raises(ModelError, match="spring 'rope' acts in one sense only and takes no motor"):
        arm(rope, controllers=[Controller("c", 0.01, ["rope"], lambda t, measured: 0.0)])

"""Random closed loops in which something switches (contacts, stops, backlash, one-way springs, friction), and how far
apart the closures move them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

import friction_models
import pliant
from cut_joints import Cut, flat, spatial
from pliant import (
    AccuracyWarning,
    Body,
    Contact,
    Coulomb,
    Frame,
    HuntCrossley,
    Joint,
    KelvinVoigt,
    LankaraniNikravesh,
    Limit,
    Loop,
    Model,
    Multipliers,
    Plane,
    Result,
    Rod,
    Sine,
    Spring,
    Springs,
    Stribeck,
    Transmission,
)

Random = np.random.Generator
DOWN = (0.0, -9.81, 0.0)
FEATURES = ("contact", "stop", "backlash", "one-way spring")


# --- mechanisms ---------------------------------------------------------------------------------------------------


def four_bar(lengths: tuple[float, float, float, float], angle: float, speed: float, **more: Any) -> Model:
    """Crank, coupler and rocker of rods over a ground; the crank begins at this angle with this speed."""
    crank, coupler, rocker, ground = lengths
    tip = crank * np.exp(1j * angle)
    far = abs(ground - tip)
    # the coupler, seen from the line to the rocker's pivot: law of cosines
    cosine = (coupler**2 + far**2 - rocker**2) / (2.0 * coupler * far)
    across = np.angle(ground - tip) + np.arccos(cosine)
    end = tip + coupler * np.exp(1j * across)
    bodies = [Body(n, 2.0 * x, shape=Rod(x)) for n, x in zip(("crank", "coupler", "rocker"), lengths, strict=False)]
    joints = [
        Joint("ja", "revolute", "crank", q0=float(angle), v0=float(speed)),
        Joint("jb", "revolute", "coupler", parent=Frame("crank", (crank, 0, 0)), q0=float(across - angle)),
        Joint("jc", "revolute", "rocker", parent=Frame("world", (ground, 0, 0)), q0=float(np.angle(end - ground))),
    ]
    pin = Loop("pin", "revolute", first=Frame("rocker", (rocker, 0, 0)), second=Frame("coupler", (coupler, 0, 0)))
    return Model("four-bar", bodies, joints, gravity=DOWN, loops=(pin,), **more)


def random_four_bar(rng: Random) -> Model:
    """A crank that goes round between longer links, or links of any length that meet well."""
    while True:
        lengths = tuple(float(x) for x in rng.uniform([0.2, 0.5, 0.4, 0.6], [0.5, 1.0, 0.9, 1.0]))
        angle = float(rng.uniform(0.0, 2.0 * np.pi))
        far = abs(lengths[3] - lengths[0] * np.exp(1j * angle))
        if abs(lengths[1] - lengths[2]) + 0.1 < far < lengths[1] + lengths[2] - 0.1:
            return four_bar(lengths, angle, float(rng.uniform(-6.0, 6.0)))


def random_slider_crank(rng: Random) -> Model:
    """The block slides at a height of its own, along a line that may lean."""
    crank, rod, height = float(rng.uniform(0.2, 0.4)), float(rng.uniform(0.7, 1.2)), float(rng.uniform(-0.2, 0.2))
    angle, speed = float(rng.uniform(0.0, 2.0 * np.pi)), float(rng.uniform(-6.0, 6.0))
    fall = height - crank * np.sin(angle)
    lean = float(np.arcsin(fall / rod))
    place = float(crank * np.cos(angle) + rod * np.cos(lean))
    bodies = (
        Body("crank", 1.0, shape=Rod(crank)),
        Body("rod", 1.5, shape=Rod(rod)),
        Body("block", 2.0, inertia=(0.1, 0.1, 0.1)),
    )
    joints = (
        Joint("ja", "revolute", "crank", q0=angle, v0=speed),
        Joint("jb", "revolute", "rod", parent=Frame("crank", (crank, 0, 0)), q0=lean - angle),
        Joint("jc", "prismatic", "block", axis=(1, 0, 0), parent=Frame("world", (0, height, 0)), q0=place),
    )
    pin = Loop("pin", "revolute", first="block", second=Frame("rod", (rod, 0, 0)))
    return Model("slider-crank", bodies, joints, gravity=DOWN, loops=(pin,))


def random_chain(rng: Random) -> Model:
    """Four or five rods from the ground to a pin: two or three freedoms."""
    n, length = int(rng.integers(4, 6)), 0.4
    bodies = [Body(f"b{k}", float(rng.uniform(0.5, 2.0)), shape=Rod(length)) for k in range(n)]
    joints = [Joint("j0", "revolute", "b0", q0=float(rng.uniform(-1.2, -0.3)), v0=float(rng.uniform(-3.0, 3.0)))]
    for k in range(1, n):
        parent = Frame(f"b{k - 1}", (length, 0, 0))
        joints.append(Joint(f"j{k}", "revolute", f"b{k}", parent=parent, q0=float(rng.uniform(0.2, 0.6))))
    pin = Loop("pin", "revolute", first=Frame("world", (0.3 * n, 0.1, 0)), second=Frame(f"b{n - 1}", (length, 0, 0)))
    return Model("chain", bodies, joints, gravity=DOWN, loops=(pin,))


def random_cut_arm(rng: Random) -> Model:
    """An arm cut open at one joint, in the plane or in space."""
    if rng.random() < 0.5:
        kind = str(rng.choice(["revolute", "prismatic"]))
        both = Cut(flat(kind), "cut", is_planar=True)
    else:
        both = Cut(spatial(str(rng.choice(["revolute", "spherical", "universal"]))), "cut")
    q, v = both.state(np.asarray(both.tree.q0), np.asarray(both.tree.v0))
    return _started(both.closed, q, v)


MECHANISMS = (random_four_bar, random_slider_crank, random_chain, random_cut_arm)


# --- what switches ------------------------------------------------------------------------------------------------


def _started(model: Model, q: np.ndarray, v: np.ndarray) -> Model:
    """The model with this start."""
    joints = []
    for link in model.links:
        one = len(link.joint.row.velocities) == 1
        q0, v0 = q[link.q_slice].tolist(), v[link.v_slice].tolist()
        joints.append(replace(link.joint, q0=q0[0] if one else tuple(q0), v0=v0[0] if one else tuple(v0)))
    return replace(model, joints=tuple(joints))


def _hinges(model: Model) -> list[Joint]:
    return [joint for joint in model.joints if joint.kind in ("revolute", "prismatic")]


def _with_joint(model: Model, joint: Joint) -> Model:
    return replace(model, joints=tuple(joint if each.name == joint.name else each for each in model.joints))


def _tips(model: Model) -> list[Frame]:
    """Ends and middles of the bodies with a shape, else their mass centres."""
    found = []
    for body in model.bodies:
        x = body.shape.length if isinstance(body.shape, Rod) else 0.2
        ends = (("middle", 0.5), ("end", 1.0))
        found += [Frame(body.name, (share * x, 0.0, 0.0), name=f"{body.name}-{name}") for name, share in ends]
    return found


def add_contact(rng: Random, model: Model) -> Model:
    """A floor that one or two points of the mechanism reach, if they fall at all."""
    tips, axis = _tips(model), 1 if model.gravity[1] else 2
    chosen = [tips[int(k)] for k in rng.choice(len(tips), int(rng.integers(1, 3)), replace=False)]
    framed = replace(model, frames=(*model.frames, *chosen))
    free = run(framed, closure="multipliers", rtol=1e-6)
    heights = np.min(free.placements(free.t, [frame.name for frame in chosen])[1][:, :, axis], axis=1)
    low = heights[0] - max(0.005, float(rng.uniform(0.1, 0.9) * (heights[0] - np.min(heights))))
    normal = (0.0, 1.0, 0.0) if axis == 1 else (0.0, 0.0, 1.0)
    stiffness, e = float(10 ** rng.uniform(4, 6)), float(rng.uniform(0.3, 0.9))
    law = (
        LankaraniNikravesh(stiffness, e),
        HuntCrossley(stiffness, e),
        KelvinVoigt(1e4, float(rng.uniform(5, 100))),
    )[int(rng.integers(3))]
    friction = (None, Coulomb(0.3), Stribeck(0.2, mu_s=0.4, v_s=0.05))[int(rng.integers(3))]
    origin = tuple(low * x for x in normal)
    floor = Contact("floor", law, Plane(Frame("world", origin), normal=normal), chosen, friction=friction)
    return replace(model, contacts=(floor,))


def add_stop(rng: Random, model: Model) -> Model:
    joint = _hinges(model)[int(rng.integers(len(_hinges(model))))]
    below, above = rng.uniform(0.02, 0.5, 2)
    start = float(np.ravel(joint.q0)[0])
    limit = Limit(
        start - float(below), start + float(above), stiffness=float(10 ** rng.uniform(2, 4)), damping=rng.uniform(0, 2)
    )
    return _with_joint(model, replace(joint, limit=limit))


def add_backlash(rng: Random, model: Model) -> Model:
    """A driven hinge with play."""
    joint = _hinges(model)[int(rng.integers(len(_hinges(model))))]
    play = Transmission(
        float(10 ** rng.uniform(2, 3.5)), float(rng.uniform(0, 1)), backlash=float(rng.uniform(0.01, 0.1))
    )
    drive = Sine(amplitude=float(rng.uniform(1, 8)), omega=float(rng.uniform(3, 15)))
    return _with_joint(model, replace(joint, transmission=play, armature=float(rng.uniform(0.05, 0.3)), motor=drive))


def add_one_way_spring(rng: Random, model: Model) -> Model:
    """A rope, or a bumper, between the world and a point of the mechanism, near its free length."""
    tips = _tips(model)
    tip = tips[int(rng.integers(len(tips)))]
    anchor = np.asarray(pliant.frame_placement(replace(model, frames=(tip,)), np.asarray(model.q0), tip.name)[1])
    anchor = anchor + rng.uniform(0.2, 0.5, 3) * rng.choice([-1.0, 1.0], 3) * ((1, 1, 0) if model.gravity[1] else 1)
    here = Frame("world", tuple(anchor.tolist()))
    far = float(np.linalg.norm(anchor - pliant.frame_placement(replace(model, frames=(tip,)), model.q0, tip.name)[1]))
    only, slack = ("tension", 1.0) if rng.random() < 0.5 else ("compression", -1.0)
    length = max(0.05, far + slack * float(rng.uniform(0.005, 0.1)))
    stiffness, damping = float(10 ** rng.uniform(2, 3.5)), float(rng.uniform(0, 2))
    spring = Spring(
        "rope", here, replace(tip, name=None), stiffness=stiffness, damping=damping, length=length, only=only
    )
    return replace(model, springs=(spring,))


ADD: dict[str, Callable[[Random, Model], Model]] = {
    "contact": add_contact,
    "stop": add_stop,
    "backlash": add_backlash,
    "one-way spring": add_one_way_spring,
}


def switching_loop(seed: int) -> Model:
    """A random loop with one or two things that switch, perhaps friction in a joint, and any joint kept."""
    rng = np.random.default_rng([seed, 31])
    model = MECHANISMS[seed % len(MECHANISMS)](rng)
    model = _started(model, *pliant.assemble(model, keep=[model.joints[0].name]))
    names = [FEATURES[seed // len(MECHANISMS) % len(FEATURES)]]
    if rng.random() < 0.5:
        names.append(str(rng.choice(FEATURES)))
    for name in dict.fromkeys(names):
        model = ADD[name](rng, model)
    if rng.random() < 0.3:
        joint = next(each for each in model.joints if each.name == _hinges(model)[-1].name)
        model = _with_joint(model, replace(joint, friction=friction_models.joint_friction(rng)))
    if rng.random() < 0.8:
        model = replace(model, keep=(str(rng.choice([joint.name for joint in model.joints])),))
    return replace(model, name=f"{model.name} {seed} with {' and '.join(dict.fromkeys(names))}")


# --- closures against each other ----------------------------------------------------------------------------------


class Way(NamedTuple):
    """A way to close loops, with the error of the end that it may have where errors do not grow."""

    name: str
    options: dict[str, Any]
    error: float
    is_rough: bool = False  # it may fail with a reason, and its speeds ring


RTOL = 1e-9
TIGHT = {"rtol": RTOL, "atol": 1e-2 * RTOL}
# errors of steps add up to some thousand tolerances; steps of 0.2 ms err by their square times the cube of the rates of
# contacts; springs open by force over stiffness, and are damped so that they do not ring: what sticks would let go
WAYS = (
    Way("multipliers", {"closure": "multipliers", **TIGHT}, 1e4 * RTOL),
    Way("radau", {"closure": "multipliers", "integrator": "radau", **TIGHT}, 1e4 * RTOL),
    Way("baumgarte", {"closure": Multipliers(baumgarte=10.0), **TIGHT}, 1e4 * RTOL),
    Way("reduced", {"closure": "reduced", **TIGHT}, 1e4 * RTOL),
    Way("implicit", {"closure": "implicit", "integrator": "generalised_alpha", "step": 2e-4}, 1e-2, True),
    Way("springs", {"closure": Springs(stiffness=1e8, damping=3e4), "integrator": "radau", "rtol": 1e-7}, 1e-3, True),
)
MOVED = 1e-9  # of the start: how fast neighbouring motions part
SENSITIVE = 1e4  # times as far apart at the end: no closure is compared there
DURATION = 0.6


def run(model: Model, **options: Any) -> Result:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        return pliant.simulate(model, DURATION, max_steps=50_000, **options)


def end(result: Result) -> np.ndarray:
    return np.concatenate([result.q[-1], result.v[-1]])


def growth(model: Model, plain: Result) -> float:
    """By how much a small change of the start has grown at the end."""
    aside = MOVED * np.random.default_rng(0).normal(size=len(plain.q[0]))
    q, v = pliant.assemble(model, plain.q[0] + aside, plain.v[0], keep=())
    moved = run(model, q0=q, v0=v, **WAYS[0].options)
    return float(np.max(np.abs(end(moved) - end(plain)))) / MOVED if moved.is_ok else np.inf


def violations(model: Model, ways: tuple[Way, ...] = WAYS) -> tuple[str, list[str]]:
    """("compared", "sensitive" or "not done", what closures do that they may not)."""
    plain = run(model, **ways[0].options)
    found = [f"multipliers: {words}" for words in _false_events(plain)]
    if plain.status != "done":
        return "not done", found
    grown = growth(model, plain)
    for way in ways[1:]:
        other = run(model, **way.options)
        found += [f"{way.name}: {words}" for words in _false_events(other)]
        if grown > SENSITIVE:
            continue
        if other.status != "done":
            if way.is_rough and other.reason:
                continue
            found.append(f"{way.name}: {other.reason}")
            continue
        n = len(plain.q[-1]) if way.is_rough else None
        off = float(np.max((np.abs(end(other) - end(plain)) / np.maximum(1.0, np.abs(end(plain))))[:n]))
        if off > way.error * max(1.0, grown):
            found.append(f"{way.name}: ends {off:.2g} away, neighbours {grown:.1g} MOVED")
        elif not way.is_rough:
            names = [[event.name for event in each.events] for each in (plain, other)]
            if sorted(names[0]) != sorted(names[1]):
                found.append(f"{way.name}: events {len(names[1])}, not {len(names[0])}")
    return "sensitive" if grown > SENSITIVE else "compared", found


def _false_events(result: Result) -> list[str]:
    count = result.audit.get("false_events", 0.0)
    return [f"{count:.0f} events that cannot be"] if count else []

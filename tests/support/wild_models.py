"""Runs of any kind: random trees, loops, beams, contacts, friction, springs, stops and settings, under what must always
hold."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

import friction_models
import pliant
from cut_joints import Cut, flat, spatial
from flexible_models import random_tree
from four_bars import four_bars, parallelogram
from pliant import (
    AccuracyWarning,
    Base,
    Beam,
    Bending,
    Body,
    Contact,
    Frame,
    Joint,
    Limit,
    Material,
    Model,
    NormalLaw,
    Plane,
    Rectangle,
    Rod,
    Spring,
)
from pliant.methods import formulations_of
from random_models import BASES, random_model
from resting_models import RESTING

Random = np.random.Generator
ADAPTIVE = ("auto", "dop853", "bs5", "dopri5", "rkf45", "adams", "radau")
SEMI_IMPLICIT = ("ark4", "ark5")
FIXED = ("rk4", "dop853", "generalised_alpha", "newmark")
EXPLICIT = ("auto", "dop853", "bs5", "dopri5", "rkf45", "adams")
MAX_STEPS = 20_000
PLAIN = ("revolute", "prismatic", "cylindrical", "universal")


class Wild(NamedTuple):
    model: Model
    duration: float
    options: dict[str, Any]


# --- models -------------------------------------------------------------------------------------------------------


def rigid_tree(rng: Random) -> Model:
    model = random_model(rng, int(rng.integers(1, 6)), base=str(rng.choice(BASES)), n_loads=int(rng.integers(3)))
    return _with_start(rng, _with_springs(rng, _with_joint_forces(rng, model)))


def flexible_tree(rng: Random) -> Model:
    return _with_start(rng, _with_springs(rng, random_tree(int(rng.integers(10**6)))), 0.3)


def touching_tree(rng: Random) -> Model:
    """A tree over a plane that it falls on."""
    model = random_model(rng, int(rng.integers(1, 5)), base="floating", n_loads=0)
    model = replace(model, gravity=(0.0, 0.0, -9.81))
    tips = [frame for frame in model.frames if frame.body != "world"]
    q0 = np.asarray(model.q0)
    low = min(float(pliant.frame_placement(model, q0, frame.name)[1][2]) for frame in tips)
    law = NormalLaw("hunt-crossley", stiffness=float(10 ** rng.uniform(3, 5)), restitution=float(rng.uniform(0.2, 0.9)))
    ground = Contact(
        "ground",
        law,
        Plane(Frame("world", (0.0, 0.0, low - float(rng.uniform(0.001, 0.1))))),
        points=[frame.name for frame in tips],
        friction=friction_models.contact_friction(rng) if rng.random() < 0.7 else None,
    )
    return replace(model, contacts=(ground,))


def mechanism(rng: Random) -> Model:
    kind = rng.integers(4)
    if kind == 0:
        return four_bars(int(rng.integers(1, 4)), float(rng.uniform(0.3, 8.0)))
    if kind == 1:
        return parallelogram(float(rng.uniform(-8.0, 8.0)))
    links = str(rng.choice(["rigid", "flexible"]))
    if kind == 2:
        return Cut(flat(str(rng.choice(["revolute", "prismatic"])), links), "cut", is_planar=True).closed
    return Cut(spatial(str(rng.choice(["revolute", "spherical", "universal"])), links), "cut").closed


def touching_beams(rng: Random) -> Model:
    """A free chain of links, most of which bend, that falls on the ground."""
    n, low = int(rng.integers(1, 4)), float(rng.uniform(0.001, 0.02))
    links: list[Body | Beam] = []
    for i in range(n):
        length = float(rng.uniform(0.4, 1.0))
        if rng.random() < 0.25:
            links.append(Body(f"link{i}", float(rng.uniform(0.3, 3.0)), shape=Rod(length)))
            continue
        section = Rectangle(float(rng.uniform(0.01, 0.03)), 0.03)
        bending = Bending(int(rng.integers(1, 3)), str(rng.choice(["ss", "cf"])) if i else "ss")
        links.append(Beam(f"link{i}", length, Material(7e10, 2700.0, poisson=0.3), section, bending_y=bending))
    lengths = [link.length if isinstance(link, Beam) else link.shape.length for link in links]
    tilt = float(rng.uniform(-0.4, 0.4))
    joints = [
        Joint(f"hinge{i}", "revolute", f"link{i}", parent=f"end{i}", q0=float(rng.uniform(-0.2, 0.2)))
        for i in range(1, n)
    ]
    frames = [Frame("link0", (0, 0, 0), name="end0")]
    frames += [Frame(f"link{i}", (length, 0, 0), name=f"end{i + 1}") for i, length in enumerate(lengths)]
    base = Base("planar", (0.0, 0.0, 0.0), attitude=(0.0, 0.0, np.sin(0.5 * tilt), np.cos(0.5 * tilt)))
    model = Model("beams", links, joints, base=base, frames=frames, gravity=(0, -9.81, 0))
    ends = [frame.name for frame in frames]
    lowest = min(float(pliant.frame_placement(model, np.asarray(model.q0), name)[1][1]) for name in ends)
    ground = Contact(
        "ground",
        friction_models.normal_law(rng),
        Plane(Frame("world", (0.0, lowest - low, 0.0)), normal=(0.0, 1.0, 0.0)),
        points=ends,
        friction=friction_models.contact_friction(rng) if rng.random() < 0.7 else None,
    )
    return replace(model, contacts=(ground,))


def resting_bodies(rng: Random) -> Model:
    """A ball, a box or a stack at rest on the ground, or hardly above it."""
    return RESTING[rng.integers(len(RESTING))](rng)


def _with_start(rng: Random, model: Model, speed: float = 1.0) -> Model:
    """Joints in motion."""
    joints = []
    for joint in model.joints:
        n = len(joint.row.velocities)
        v0 = speed * rng.normal(size=n)
        joints.append(replace(joint, v0=float(v0[0]) if n == 1 else tuple(v0.tolist())) if n else joint)
    return replace(model, joints=tuple(joints))


def _with_joint_forces(rng: Random, model: Model) -> Model:
    """Springs, dampers, stops and friction in some joints."""
    joints = []
    for joint in model.joints:
        given: dict[str, Any] = {}
        n = len(joint.row.velocities)
        if joint.kind in PLAIN and n == 1:
            if rng.random() < 0.4:
                given |= {"stiffness": float(10 ** rng.uniform(0, 3)), "damping": float(rng.uniform(0, 1))}
            if rng.random() < 0.2:
                given["limit"] = Limit(-0.3, 0.3, stiffness=float(10 ** rng.uniform(3, 5)), damping=1.0)
            if rng.random() < 0.3:
                given["friction"] = friction_models.joint_friction(rng)
        joints.append(replace(joint, **given) if given else joint)
    return replace(model, joints=tuple(joints))


def _with_springs(rng: Random, model: Model) -> Model:
    """Springs and ropes between frames of different bodies."""
    places = [frame for frame in model.frames if frame.name]
    springs = []
    for k in range(int(rng.integers(3))):
        one, other = (places[int(i)] for i in rng.choice(len(places), 2, replace=len(places) < 2))
        if one.body != other.body:
            only = str(rng.choice(["both", "tension", "compression"])) if rng.random() < 0.4 else "both"
            stiffness, damping = float(10 ** rng.uniform(0, 3)), float(rng.uniform(0, 1))
            more = {} if only == "both" else {"only": only}
            springs.append(Spring(f"spring{k}", one.name, other.name, stiffness=stiffness, damping=damping, **more))
    return replace(model, springs=tuple(springs)) if springs else model


MODELS = (
    rigid_tree,
    flexible_tree,
    touching_tree,
    touching_beams,
    mechanism,
    friction_models.chain,
    friction_models.rod,
    friction_models.box,
    resting_bodies,
)


def wild(seed: int) -> Wild:
    """One run; the kinds take turns."""
    rng = np.random.default_rng([seed, 2026])
    model = MODELS[seed % len(MODELS)](rng)
    closure = str(rng.choice(["multipliers", "reduced"])) if model.loops else None
    options: dict[str, Any] = {
        "formulation": str(rng.choice([row.name for row in formulations_of(model)])),
        "integrator": str(rng.choice(EXPLICIT if closure == "reduced" else ADAPTIVE)),
        "rtol": float(10 ** rng.uniform(-10, -4)),
        "max_steps": MAX_STEPS,
    }
    options["atol"] = 1e-2 * options["rtol"]
    # every third run that they take; by the seed, so that all else is drawn as it was
    turn = seed // len(MODELS)
    takes_stages = options["formulation"] == "articulated" and closure != "reduced" and not model.is_stiffened
    if takes_stages and turn % 3 == 0:
        options["integrator"] = SEMI_IMPLICIT[turn // 3 % 2]
    if rng.random() < 0.15:
        steps = {"step": float(10 ** rng.uniform(-4, -3)), "integrator": str(rng.choice(FIXED))}
        # transfer matrices make steps of their own, without friction in joints
        formulation = "articulated" if options["formulation"] == "transfer_matrix" else options["formulation"]
        options = {"formulation": formulation, "max_steps": MAX_STEPS} | steps
        closure = "multipliers" if closure is not None else None
    if closure is not None:
        options["closure"] = closure
    return Wild(model, float(rng.uniform(0.02, 0.3)), options)


# --- what must hold -----------------------------------------------------------------------------------------------


def checked(seed: int) -> tuple[str, list[str]]:
    """How a run ends, and what it does that no run may do."""
    model, duration, options = wild(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        result = pliant.simulate(model, duration, **options)
    found = []
    if not all(np.all(np.isfinite(x)) for x in (result.t, result.q, result.v, *result.energy.values())):
        found.append("numbers that are none")
    if np.any(np.diff(result.t) < 0.0):
        found.append("time goes back")
    if result.is_ok and result.status == "done" and abs(result.t[-1] - duration) > 1e-9 * duration:
        found.append(f"done at {result.t[-1]} s of {duration} s")
    if not result.is_ok and (not result.reason or ";" not in result.reason):
        found.append(f"failed without advice: {result.reason}")
    own, other = (_accelerations(result, name) for name in (options["formulation"], "articulated"))
    if not np.max(np.abs(own - other), initial=0.0) <= AGREEMENT * max(1.0, np.max(np.abs(other), initial=0.0)):
        found.append(f"accelerations at the end differ from those of articulated: {own} and {other}")
    said = SAID if "step" in options else BENDING
    if result.audit["energy_scale"] < HARDLY_MOVED * np.max(np.abs(result.energy["gravity"])):
        said = (*said, "energy_residual")
    found += [f"{each.level}: {each.words}" for each in result.diagnostics if each.key not in said]
    return result.status, [f"seed {seed} ({model.name}, {options}): {words}" for words in found]


def _accelerations(result: pliant.Result, formulation: str) -> np.ndarray:
    """At the end, forces of contact and friction included."""
    return pliant.forward_dynamics(result.model, result.q[-1], result.v[-1], t=result.t[-1], formulation=formulation)


AGREEMENT = 1e-7  # of formulations: rounding times the condition of M, and what stick forces are solved to
# fixed steps promise nothing: what they lose is said, which is all that must hold
SAID = (
    "deflection_ratio", "section_angle", "energy_residual", "momentum_drift", "constraint_drift", "stick_load",
    "growing_turn", "false_events",
)  # fmt: skip
BENDING = ("deflection_ratio", "section_angle")  # beams that bend too far are not wrong, and say so
HARDLY_MOVED = 1e-4  # of the largest potential energy: atol may be a large part of such a motion (hops of a micrometre)

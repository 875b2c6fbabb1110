"""Random trees of flexible and rigid links; the beam of the stored test vectors."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from paths import DATA
from pliant.model.bodies import Body, Frame
from pliant.model.flexible import Beam, Bending, Damping, GivenSection, Material, PointMass, Rectangle
from pliant.model.joints import JOINT_KINDS, Joint
from pliant.model.model import Model
from random_models import random_quaternion

VECTORS = json.loads((DATA / "flexible-body-vectors.json").read_text())
CASES = VECTORS["cases"]
NAMES = [f"{case['coupling']}-{case['rotary']}" for case in CASES]


def random_beam(rng: np.random.Generator, name: str, is_free: bool) -> Beam:
    """Any shapes that fit its joint; is_free: also those that move the start."""
    theory = str(rng.choice(["timoshenko", "euler-bernoulli"]))
    rotary = str(rng.choice(["section", "frame"] if is_free else ["section", "frame", "none"]))
    pairs = ["cf", "cs", "sc", "ss", "cc"] + 3 * ["ff", "fs"] * is_free

    def plane(most: int) -> Bending:
        if theory == "euler-bernoulli" and rng.random() < 0.3:
            return Bending(int(rng.integers(most + 1)), family="polynomials")
        return Bending(int(rng.integers(most + 1)), str(rng.choice(pairs)))

    section = GivenSection(area=1e-3, second_moment_y=8e-7, second_moment_z=1e-6)
    length = float(rng.uniform(0.7, 1.4))
    return Beam(
        name,
        length,
        Material(young=1e9, density=2000.0),
        section,
        bending_y=plane(3),
        bending_z=plane(2),
        stretch=int(rng.integers(2)),
        torsion=int(rng.integers(3)) if rotary == "section" else 0,
        theory=theory,
        coupling=str(rng.choice(["high-order", "linear"])),
        rotary=rotary,
        rotary_inertia=tuple(rng.uniform(0.01, 0.05, 3)),
        point_masses=(PointMass(0.3, 0.4 * length),) if rng.random() < 0.4 else (),
        damping=Damping(stiffness_time=1e-3),
    )


def random_tree(seed: int, kinds: tuple[str, ...] = tuple(JOINT_KINDS), base: str = "") -> Model:
    """Two to five bodies, two out of three of them beams; the base takes turns."""
    rng = np.random.default_rng([seed, 77])
    base = base or ("none", "fixed", "planar", "floating")[seed % 4]
    n = int(rng.integers(2, 6))
    bodies: list[Any] = []
    joints = []
    for i in range(n):
        is_root = i == 0
        is_free = is_root and base in ("planar", "floating")
        if i % 3 == 2:
            inertia = tuple(rng.uniform(0.02, 0.03, 3))
            bodies.append(Body(name=f"b{i}", mass=rng.uniform(0.5, 1.5), com=rng.normal(size=3) * 0.1, inertia=inertia))
        else:
            bodies.append(random_beam(rng, f"b{i}", is_free))
        if is_root and base != "none":
            continue
        parent = "world" if is_root else bodies[int(rng.integers(i))]
        position = rng.normal(size=3) * 0.1
        if isinstance(parent, Beam):
            position[0] = parent.length * rng.choice([0.0, 0.4, 1.0], p=[0.1, 0.3, 0.6])
        name = parent if isinstance(parent, str) else parent.name
        joint_frame = Frame(body=name, position=position, attitude=random_quaternion(rng))
        kind = kinds[(seed + i) % len(kinds)]
        given: dict[str, Any] = {"axis": rng.normal(size=3)} if JOINT_KINDS[kind].has_axis else {}
        # without sections that rotate, only an armature resists a rotation about the beam
        needs = isinstance(bodies[-1], Beam) and bodies[-1].rotary == "none"
        if JOINT_KINDS[kind].velocities and (needs or rng.random() < 0.3):
            given["armature"] = (0.1,) * len(JOINT_KINDS[kind].velocities)
        joints.append(Joint(name=f"j{i}", kind=kind, parent=joint_frame, child=f"b{i}", **given))
    frames = [
        Frame(
            body=body.name,
            name=f"f{i}",
            position=((0.7 * body.length if isinstance(body, Beam) else 0.2), 0.1, -0.05),
            attitude=random_quaternion(rng),
        )
        for i, body in enumerate(bodies)
    ]
    return Model(
        name=f"tree {seed}",
        bodies=bodies,
        joints=joints,
        base="fixed" if base == "none" else base,
        gravity=rng.normal(size=3) * 5.0,
        frames=frames,
    )


def flexible_chain(n: int) -> Model:
    """Slender beams with three bending modes each: the condition of M grows fast with n."""
    aluminium, section = Material(young=7e10, density=2700.0), Rectangle(width=0.02, height=0.02)
    beams = [Beam(f"b{i}", 1.0, aluminium, section, bending_y=3) for i in range(n)]
    joint_frames = ["world", *(Frame(body=f"b{i}", position=(1.0, 0, 0)) for i in range(n - 1))]
    joints = [
        Joint(name=f"j{i}", kind="revolute", parent=joint_frame, child=f"b{i}")
        for i, joint_frame in enumerate(joint_frames)
    ]
    return Model(name="chain", bodies=beams, joints=joints)


def stored_beam(coupling, rotary):
    """The beam of the stored vectors, by its stiffnesses."""
    data, E, G = VECTORS["beam"], 1e5, 1e4
    section = GivenSection(data["EA"] / E, data["EIy"] / E, data["EIz"] / E, torsion_constant=data["GJ"] / G)
    lump = data["axis_lump"]
    return Beam(
        "boom",
        data["L"],
        Material(E, 1.0, shear_modulus=G),
        section,
        bending_y=2,
        bending_z=1,
        stretch=1,
        torsion=1,
        theory="euler-bernoulli",
        coupling=coupling,
        rotary=rotary,
        damping=Damping(stiffness_time=data["beta"]),
        point_masses=(PointMass(lump["mass"], lump["x"]),),
        mass_per_length=data["rhoA"],
        rotary_inertia=data["rhoI"],
    )


def close(found, wanted, tolerance):
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance * np.abs(wanted).max())


def stored_state():
    return (np.array(VECTORS["state"][key]) for key in ("d", "e", "w"))

"""Models that stay in the x-y plane are computed in three components (kernels/flexible/planar.py,
formulations/articulated_planar*.py); those in a plane that is tilted in space in six. They must move alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pliant
from pliant.methods import FORMULATIONS
from pliant.model.bodies import Body, Frame
from pliant.model.contacts import Contact, Plane
from pliant.model.flexible import Beam, Bending, Damping, Material, PointMass, Rectangle
from pliant.model.joints import Joint
from pliant.model.loops import Loop
from pliant.model.model import Model
from pliant.model.normal_laws import KelvinVoigt
from pliant.model.signals import Sine
from pliant.model.tree import stays_in_plane

SEEDS = range(12)
EVERY = [row.name for row in FORMULATIONS if "flexible bodies" in row.supports]
FLAT, TILTED = Rotation.identity(), Rotation.from_euler("xyz", (0.7, -0.4, 1.1))
COUPLINGS = ("high-order", "linear", "fourth-order")


def beam(rng: np.random.Generator, name: str, coupling: str, is_free: bool) -> Beam:
    pairs = ["cf", "cs", "ss", "cc", *(2 * ["ff"] if is_free else [])]
    return Beam(
        name,
        float(rng.uniform(0.6, 1.2)),
        Material(young=2e9, density=2000.0),
        Rectangle(width=0.03, height=0.02),
        bending_y=Bending(int(rng.integers(1, 4)), str(rng.choice(pairs))),
        stretch=int(rng.integers(2)) if coupling != "stiffened" else 0,
        coupling=coupling,
        point_masses=(PointMass(0.2, 0.3),) if rng.random() < 0.4 else (),
        damping=Damping(stiffness_time=1e-4),
    )


def planar_tree(
    seed: int, plane: Rotation, ground: float | None = None, is_prescribed: bool = False, is_stiffened: bool = False
) -> Model:
    """Beams and rigid bodies in a plane of the world: hinges either way about its normal, slides, planar roots. ground:
    height of what the tip of the second falls on."""
    rng = np.random.default_rng([seed, 3])
    bodies: list[Any] = []
    joints = []
    for i in range(int(rng.integers(3, 6))):
        is_root = i == 0
        coupling = "stiffened" if is_stiffened and i == 1 else COUPLINGS[(seed + i) % 3]
        if i % 3 == 2:
            inertia = tuple(rng.uniform(0.02, 0.03, 3))
            bodies.append(Body(name=f"b{i}", mass=rng.uniform(0.5, 1.5), com=rng.normal(size=3) * 0.1, inertia=inertia))
        else:
            bodies.append(beam(rng, f"b{i}", coupling, is_root and seed % 3 == 0))
        parent = None if is_root else bodies[int(rng.integers(i))]
        kind = "planar" if is_root and seed % 3 == 0 else "prismatic" if rng.random() < 0.2 else "revolute"
        at = rng.normal(size=3) * 0.1
        if isinstance(parent, Beam):
            at[0] = parent.length * rng.choice([0.0, 0.4, 1.0])
        turn = Rotation.from_rotvec([0, 0, rng.uniform(-3, 3)])
        if is_root:
            at, turn = plane.apply(at), plane * turn
        given: dict[str, Any] = {}
        if kind == "revolute":
            given["axis"] = (0, 0, float(rng.choice([-1.0, 1.0])))
        elif kind == "prismatic":
            given["axis"] = (*rng.normal(size=2), 0.0)
        if is_prescribed and i == 1:
            given["motion"] = Sine(amplitude=0.1, omega=8.0, phase=0.4)
        elif kind != "planar" and rng.random() < 0.4:
            given |= {"armature": (0.05,), "stiffness": (20.0,), "damping": (0.5,)}
        frame = Frame(body=parent.name if parent else "world", position=at, attitude=turn.as_quat())
        joints.append(Joint(name=f"j{i}", kind=kind, parent=frame, child=f"b{i}", **given))
    last = bodies[1]
    frames = [Frame(body=last.name, name="tip", position=(0.9 * last.length, 0.03, 0.02))]
    contacts = []
    if ground is not None:
        place = Frame(body="world", position=plane.apply((0, ground, 0)), attitude=plane.as_quat())
        law = KelvinVoigt(stiffness=3e3, damping=20.0)
        contacts = [Contact("ground", law, Plane(place, normal=(0.0, 1.0, 0.0)), points=["tip"])]
    return Model(
        name=f"planar tree {seed}",
        bodies=bodies,
        joints=joints,
        gravity=plane.apply((1.0, -9.0, 0.5)),
        frames=frames,
        contacts=contacts,
    )


def state(model: Model, seed: int, size: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Modes stay where beams may be."""
    rng = np.random.default_rng([seed, 4])
    scale = np.array([0.02 if ".mode" in name else 1.0 for name in model.velocities])
    return size * scale * rng.normal(size=len(scale)), 2.0 * size * scale * rng.normal(size=len(scale))


def pair(seed: int, **kinds: Any) -> tuple[Model, Model]:
    flat, tilted = planar_tree(seed, FLAT, **kinds), planar_tree(seed, TILTED, **kinds)
    assert stays_in_plane(flat)
    assert not stays_in_plane(tilted)
    return flat, tilted


def difference(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.max(np.abs(a - b)) / np.max(np.abs(b)))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("formulation", EVERY)
def test_accelerations_of_a_plane_do_not_depend_on_how_it_lies_in_space(seed, formulation):
    flat, tilted = pair(seed, is_prescribed=seed % 2 == 0, is_stiffened=seed % 4 > 1)
    q, v = state(flat, seed)
    # rounding times the condition of M
    for t in (0.0, 0.3):
        found = pliant.forward_dynamics(flat, q, v, t=t, formulation=formulation)
        assert difference(found, pliant.forward_dynamics(tilted, q, v, t=t, formulation=formulation)) < 1e-10


@pytest.mark.parametrize("seed", SEEDS)
def test_places_energies_and_reactions_rotate_with_the_plane(seed):
    flat, tilted = pair(seed)
    q, v = state(flat, seed)
    (_, here), (_, there) = (pliant.frame_placement(model, q, "tip") for model in (flat, tilted))
    assert np.allclose(TILTED.apply(here), there, rtol=0, atol=1e-13)
    here, there = (pliant.frame_velocity(model, q, v, "tip")[:3] for model in (flat, tilted))
    assert np.allclose(TILTED.apply(here), there, rtol=0, atol=1e-12)
    a, b = pliant.energy(flat, q, v), pliant.energy(tilted, q, v)
    assert np.allclose([a.kinetic, a.elastic], [b.kinetic, b.elastic], rtol=1e-12)
    # in child axes, which lie in the plane: in both models the same numbers
    a, b = pliant.reactions(flat, q, v), pliant.reactions(tilted, q, v)
    for name in a:
        largest = max(np.max(np.abs(b[other])) for other in b)
        assert np.allclose(a[name], b[name], rtol=0, atol=1e-11 * largest), name


@pytest.mark.parametrize("integrator", ["dop853", "ark4", "radau", "adams"])
@pytest.mark.parametrize("seed", [0, 1, 3, 4])
def test_runs_with_contact_are_alike_in_every_plane(seed, integrator):
    """Semi-implicit stages, their contact masses and responses to forces, Adams' nearby evaluations."""
    q, v = state(planar_tree(seed, FLAT), seed, 0.05)
    _, tip = pliant.frame_placement(planar_tree(seed, FLAT), q, "tip")
    flat, tilted = pair(seed, ground=tip[1] - 0.02)
    a, b = (pliant.simulate(model, 0.3, q0=q, v0=v, integrator=integrator, rtol=1e-9) for model in (flat, tilted))
    assert a.status == b.status == "done"
    assert len(a.contacts) == len(b.contacts) > 0
    # both are as exact as their tolerance
    assert np.max(np.abs(a.q[-1] - b.q[-1])) < 1e-6


@pytest.mark.parametrize("seed", [1, 2, 4, 5])
def test_multipliers_of_a_closed_chain_are_those_of_every_plane(seed):
    """Responses M^-1 A^T of flexible bodies in the plane."""

    def closed(plane: Rotation) -> Model:
        tree = planar_tree(seed, plane)
        _, place = pliant.frame_placement(tree, state(tree, seed, 0.1)[0], "tip")
        anchor = Frame(body="world", position=place + plane.apply((0.3, 0.4, 0.0)))
        return Model(
            name="closed",
            bodies=list(tree.bodies),
            joints=list(tree.joints),
            gravity=tree.gravity,
            frames=list(tree.frames),
            loops=[Loop("rod", "distance", first=anchor, second="tip", length=0.5)],
        )

    flat, tilted = closed(FLAT), closed(TILTED)
    q, v = state(flat, seed, 0.1)
    v = 0.0 * v
    assert difference(pliant.forward_dynamics(flat, q, v), pliant.forward_dynamics(tilted, q, v)) < 1e-9

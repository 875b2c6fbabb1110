"""Trees of flexible and rigid links against their definition: direct assembly from mass points, and differences.

Random trees: every joint kind and base, branches, joint_frames at mid-span with offsets, all families of shapes, both
theories, both couplings, every kind of rotary inertia. (Tapered beams: test_flexible_body.py.)"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import pliant
from direct_assembly import Sections, Tree, constant, vee
from flexible_models import CASES, NAMES, VECTORS, close, flexible_chain, random_tree, stored_beam, stored_state
from pliant.engine.prepared import Prepared
from pliant.kernels import _jit, dynamics
from pliant.mechanisms.assembly import assemble
from pliant.methods import FORMULATIONS
from pliant.model.bodies import Body, Frame
from pliant.model.flexible import Beam, Bending, Damping, GivenSection, Material
from pliant.model.joints import JOINT_KINDS, Joint, Limit
from pliant.model.loops import Loop
from pliant.model.model import Load, Model
from pliant.model.signals import Constant, Sine
from pliant.system.status import Status
from random_models import advance, derivatives, frames_of, largest, random_state, rates_of

FLEXIBLE = [row.name for row in FORMULATIONS if "flexible bodies" in row.supports]
SEEDS = range(24)
every_seed = pytest.mark.parametrize("seed", SEEDS)
PLAIN = ("revolute", "prismatic", "cylindrical", "universal", "planar")  # qdot = v


# --- random trees -----------------------------------------------------------------------------------------------


def state(model: Model, seed: int) -> tuple[np.ndarray, ...]:
    q, v, vdot, tau = random_state(model, np.random.default_rng([seed, 5]))
    return q, v, vdot, tau


def largest_force(handle: Prepared, q: np.ndarray, v: np.ndarray) -> float:
    """Of gravity, velocities, beams: what acts while nothing accelerates. Residuals are relative to it."""
    return largest(handle.inverse_dynamics(q, v, np.zeros(len(v))))


def test_random_trees_are_rich():
    """So that the tests below mean what they say."""
    links = [link for seed in SEEDS for link in random_tree(seed).links]
    beams = [link.body for link in links if isinstance(link.body, Beam) and link.body.n_modes]
    assert {link.joint.kind for link in links} == set(JOINT_KINDS)
    assert {link.joint.kind for link in links if isinstance(link.body, Beam) and link.body.n_modes} == set(JOINT_KINDS)
    assert {(beam.coupling, beam.rotary, beam.theory) for beam in beams} >= {
        (coupling, rotary, theory)
        for coupling in ("linear", "high-order")
        for rotary in ("none", "frame", "section")
        for theory in ("timoshenko", "euler-bernoulli")
    }
    assert np.all(np.max([beam.families for beam in beams], axis=0) == (3, 2, 1, 2))
    assert any(beam.is_free_at_start for beam in beams)
    parents = [[link.parent for link in random_tree(seed).links] for seed in SEEDS]
    assert any(len(set(one)) < len(one) for one in parents)


# --- one body: stored vectors -------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_floating_beam_has_the_stored_mass_matrix_and_bias(case):
    """A floating body at rest in translation: its v' is the acceleration of its origin, spatial order as stored.

    Without polar inertia nothing resists a turn about the beam or its torsion: an armature about x (taken off again)
    and a massless body at the tip satisfy the checks of the model."""
    beam = stored_beam(case["coupling"], case["rotary"])
    joints = [
        Joint(name="base", kind="floating", child="boom", armature=(0, 0, 0, 1, 0, 0)),
        Joint(name="weld", kind="fixed", parent=Frame(body="boom", position=(beam.length, 0, 0)), child="nothing"),
    ]
    model = Model(name="boom", bodies=[beam, Body(name="nothing", mass=0.0)], joints=joints, gravity=(0, 0, 0))
    d, e, w = stored_state()
    q, v = np.concatenate([[0.3, 0.1, -0.2, 0, 0, 0, 1], d]), np.concatenate([[0, 0, 0], w, e])
    M, h = Prepared(model).equations(q, v)
    M[3, 3] -= 1.0
    close(M, np.array(case["M"]), 1e-12)
    close(h, np.array(case["h"]), 1e-12)


def stored_tree() -> tuple[Model, np.ndarray, np.ndarray, np.ndarray, Any]:
    """The three bodies, q, v, applied forces, and which rows are ours.

    The rotor, which pliant does not know, is row 11: its spring and damper become a force on the hinge. The hinge sits
    beyond the tip, on a flange without mass. The ball joint measures before the rotation C: the hand is given in those
    axes."""
    tree = VECTORS["tree"]
    boom = stored_beam("high-order", "section")
    tip = (boom.length, 0.0, 0.0)
    C, hand, rotor = np.array(tree["body2"]["C"]), tree["body2"], tree["rotor"]
    inertia = C @ np.array(hand["I_com"]) @ C.T
    bodies = [
        boom,
        Body(name="flange", mass=0.0),
        dataclasses.replace(boom, name="other"),
        Body(name="hand", mass=hand["m"], com=C @ np.array(hand["com"]), inertia=0.5 * (inertia + inertia.T)),
    ]
    joint_frame = Frame(body="flange", position=tree["pf1"], attitude=tree["Rf1"])
    joints = [
        Joint(name="weld", kind="fixed", parent=Frame(body="boom", position=tip), child="flange"),
        Joint(name="hinge", kind="revolute", parent=joint_frame, child="other"),
        Joint(name="ball", kind="spherical", parent=Frame(body="other", position=tip), child="hand"),
    ]
    model = Model(name="stored tree", bodies=bodies, joints=joints, base="floating", gravity=tree["g"])
    q, v, tau = (np.array(tree[key]) for key in ("q", "v", "tau"))
    ours = np.delete(np.arange(21), 11)
    tau[12] += rotor["k"] * (q[12] - q[13]) + rotor["c"] * (v[11] - v[12])
    first, second = np.roll(q[3:7], -1), np.roll(q[19:], -1)  # w x y z -> x y z w
    q = np.concatenate([q[:3], first, q[7:12], q[13:19], second])
    return model, q, v[ours], tau[ours], ours


@pytest.mark.parametrize("formulation", FLEXIBLE)
def test_tree_of_stored_vectors(formulation):
    tree = VECTORS["tree"]
    model, q, v, tau, ours = stored_tree()
    handle = Prepared(model, formulation)
    M, _ = handle.equations(q, v)
    close(M, np.array(tree["M"])[np.ix_(ours, ours)], 1e-12)
    vdot = handle.forward_dynamics(q, v, tau)
    close(vdot, np.array(tree["vdot"])[ours], 1e-11)  # condition(M) is 1e5
    energy, rotor, stored = handle.energy(q, v), tree["rotor"], np.array(tree["q"])
    wound = 0.5 * rotor["k"] * (stored[12] - stored[13]) ** 2
    assert energy.kinetic + 0.5 * rotor["J"] * tree["v"][11] ** 2 == pytest.approx(tree["T"], rel=1e-13)
    assert energy.gravity + energy.elastic + wound == pytest.approx(tree["V"], rel=1e-13)


# --- trees against their definition -------------------------------------------------------------------------------


@every_seed
def test_mass_matrix_and_bias_are_those_of_the_mass_points(seed):
    model = random_tree(seed)
    q, v, _, _ = state(model, seed)
    M, h = Prepared(model).equations(q, v)
    M_direct, h_direct = Tree(model).equations(q, v)
    close(M, M_direct, 1e-12)
    close(h, h_direct, 1e-12)


@every_seed
def test_frames_are_where_the_shapes_put_them(seed):
    """Attitude, place, velocity, spin."""
    model = random_tree(seed)
    q, v, _, _ = state(model, seed)
    handle = Prepared(model)
    found, placed = frames_of(handle, q, v), Tree(model).placed(q, v)
    for frame in model.frames:
        i = [link.body.name for link in model.links].index(frame.body)
        R, p, _ = placed[i]
        link, offset = model.links[i], np.array(frame.position)
        if isinstance(link.body, Beam):
            section = Sections(link.body, offset[:1])
            d, e = q[link.q_modes], v[link.v_modes]
            p = p + R @ section.places(d, e).map(lambda s: s[0])
            R, offset[0] = R @ section.attitude(d, e), 0.0
        p, R = p + R @ constant(offset), R @ constant(frame.matrix)
        k = handle.packed.frame_rows[frame.name]
        for value, wanted in (
            (found.R[k], R.a),
            (found.p[k], p.a),
            (found.velocity[k], p.b),
            (found.spin[k], R.a @ vee(R.a.T @ R.b)),
        ):
            np.testing.assert_allclose(value, wanted, rtol=0, atol=1e-13 * (1.0 + largest(wanted)))


@every_seed
def test_bias_follows_from_the_mass_matrix(seed):
    """M' v - 1/2 d(v^T M v)/dq, where rates of coordinates are velocities; without gravity."""
    model = dataclasses.replace(random_tree(seed, PLAIN, ("none", "fixed", "planar")[seed % 3]), gravity=(0, 0, 0))
    q, v, _, _ = state(model, seed)
    handle = Prepared(model)
    assert np.array_equal(rates_of(handle, q, v), v)
    slopes = [derivatives(lambda h, unit=unit: handle.mass_matrix(q + h * unit), 0.02)[0] for unit in np.eye(len(v))]
    rate = sum(u * slope for u, slope in zip(v, slopes, strict=True))
    wanted = rate @ v - 0.5 * np.array([v @ slope @ v for slope in slopes])
    close(handle.equations(q, v)[1], wanted, 1e-9)


# --- formulations against each other ------------------------------------------------------------------------------


CHAINS = {f"chain {n}": flexible_chain(n) for n in (3, 10)}


@pytest.mark.parametrize("which", [*SEEDS, *CHAINS])
def test_formulations_find_the_same_motion_and_reactions(which):
    """Accelerations as far as the condition of M allows, and forces that give them back."""
    model = CHAINS[which] if which in CHAINS else random_tree(which)
    q, v, _, tau = state(model, 6)
    handles = [Prepared(model, name) for name in FLEXIBLE]
    found = [handle.forward_dynamics(q, v, tau) for handle in handles]
    wrenches = [handle.reactions(q, v, tau) for handle in handles]
    M, _ = handles[0].equations(q, v)
    reachable = max(1e-10, 10 * np.finfo(float).eps * np.linalg.cond(M))
    for vdot, wrench in zip(found, wrenches, strict=True):
        assert largest(vdot - found[0]) < reachable * largest(vdot)
        assert largest(wrench - wrenches[0]) < reachable * largest(wrench)
        residual = handles[0].inverse_dynamics(q, v, vdot) - tau
        # the dense solve of ten slender links leaves 1.1e-11, the articulated recursion 5e-14
        allowed = 1e-10 if which in CHAINS else 1e-11
        assert largest(residual) < allowed * largest_force(handles[0], q, v)


def with_motions(model: Model, seed: int) -> Model:
    """Every second velocity of joints whose rates are velocities follows a signal."""
    rng = np.random.default_rng([seed, 31])
    joints, n = [], 0
    for joint in model.joints:
        if joint.row.has_plain_rates and joint.row.velocities:
            signals = []
            for _ in joint.row.velocities:
                n += 1
                signals.append(Sine(amplitude=0.4, omega=2.0, phase=float(rng.normal())) if n % 2 else "free")
            joint = dataclasses.replace(joint, motion=tuple(signals))
        joints.append(joint)
    return dataclasses.replace(model, joints=joints)


@every_seed
def test_formulations_find_the_same_drives(seed):
    """Prescribed motions inboard and outboard of beams: accelerations, forces that enforce the motion, reactions."""
    model = with_motions(random_tree(seed), seed)
    q, v, _, tau = state(model, seed)
    found = []
    for name in FLEXIBLE:
        handle = Prepared(model, name)
        vdot = handle.forward_dynamics(q, v, tau, 0.4)
        drive = handle.work.dofs.constraint_force.copy()
        found.append((vdot, drive, handle.reactions(q, v, tau, 0.4)))
    vdot, drive, wrench = found[0]
    for other_vdot, other_drive, other_wrench in found[1:]:
        assert largest(other_vdot - vdot) < 1e-10 * largest(vdot)
        assert largest(other_drive - drive) < 1e-10 * (largest(drive) + largest(wrench))
        assert largest(other_wrench - wrench) < 1e-10 * largest(wrench)


def test_motions_are_prescribed_in_most_of_the_trees():
    """So that the test above means what it says."""
    driven = [with_motions(random_tree(seed), seed) for seed in SEEDS]
    assert sum(any(any(link.joint.driven) for link in model.links) for model in driven) > len(SEEDS) // 2


def closed_tree(seed: int) -> Model:
    """The tree with a rod without mass from its last body to the first or, where that is all, to the world."""
    model = random_tree(seed)
    first = Frame(body="world", position=(0.3, 0.4, -0.2)) if seed % 2 else Frame(body="b0", position=(0.1, 0.2, 0.1))
    rod = Loop("rod", "distance", first=first, second=model.frames[-1].name, length=1.0)
    q, _, _, _ = state(model, seed)
    ends = dataclasses.replace(model, frames=[*model.frames, dataclasses.replace(first, name="end")])
    start, end = (pliant.frame_placement(ends, q, frame)[1] for frame in ("end", model.frames[-1].name))
    return dataclasses.replace(model, loops=[dataclasses.replace(rod, length=float(np.linalg.norm(end - start)))])


@every_seed
def test_formulations_find_the_same_motion_and_reactions_of_loops(seed):
    model = closed_tree(seed)
    q, v, _, tau = state(model, seed)
    q, v = assemble(model, q, v)
    handles = [Prepared(model, name) for name in FLEXIBLE]
    found = [handle.forward_dynamics(q, v, tau) for handle in handles]
    wrenches = [handle.reactions(q, v, tau) for handle in handles]
    M, _ = handles[0].equations(q, v)
    reachable = max(1e-10, 10 * np.finfo(float).eps * np.linalg.cond(M))
    for vdot, wrench in zip(found[1:], wrenches[1:], strict=True):
        assert largest(vdot - found[0]) < reachable * largest(vdot)
        assert largest(wrench - wrenches[0]) < reachable * largest(wrench)


@every_seed
def test_inverse_dynamics_is_mass_matrix_bias_elastic_and_damping_forces(seed):
    """tau = M vdot + h + K d + D e, with K and D from the energies: 1/2 d^T K d, and D = 1e-3 s x K."""
    model = random_tree(seed)
    q, v, vdot, _ = state(model, seed)
    handle = Prepared(model)
    M, h = Tree(model).equations(q, v)
    wanted = M @ vdot + h
    for link in model.links:
        for k in range(link.body.n_modes):
            one = np.zeros_like(q)
            one[link.q_modes.start + k] = 1.0
            rest = q.copy()
            rest[link.q_modes] += 1e-3 * v[link.v_modes]
            # the energy is quadratic: central differences are exact
            up, down = (handle.energy(rest + s * one, v).elastic for s in (0.5, -0.5))
            wanted[link.v_modes.start + k] += up - down
    assert largest(handle.inverse_dynamics(q, v, vdot) - wanted) < 1e-12 * largest_force(handle, q, v)


@pytest.mark.parametrize("formulation", FLEXIBLE)
def test_a_mode_without_inertia_is_reported_with_its_body(formulation):
    """The last beam, straight and with modes that move nothing, past the checks of the model."""
    model = flexible_chain(3)
    handle = Prepared(model, formulation)
    flexible = handle.system.flexes[2]
    for name, size in (("P", flexible.M**2), ("Jr2", flexible.m**2), ("C1", flexible.M), ("X1", flexible.M)):
        handle.system.shapes[getattr(flexible, name) :][:size] = 0.0
    q, v, _, tau = state(model, 1)
    q[model.links[2].q_modes] = 0.0
    vdot = np.empty(len(v))
    status = _jit.entry(dynamics.forward)(*handle.refs, 0.0, q, v, tau, vdot, handle.work.no_reaction)
    assert status == Status.SINGULAR
    assert handle.work.run[0].body == 2


# --- loads ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("axes", ["world", "body"])
@pytest.mark.parametrize("kind", ["force", "couple"])
@pytest.mark.parametrize("seed", range(8))
def test_loads_do_the_work_of_their_frames(seed, kind, axes):
    """Generalised force on every velocity = force times change of place, couple times change of attitude."""
    bare = random_tree(seed)
    k = seed % len(bare.frames)
    load = Load(frame=f"f{k}", x=Constant(3.0), y=Constant(-2.0), z=Constant(5.0), kind=kind, axes=axes)
    model = dataclasses.replace(bare, loads=[load])
    q, v, vdot, _ = state(model, seed)
    handle, plain = Prepared(model), Prepared(bare)
    row = handle.packed.frame_rows[f"f{k}"]
    R = frames_of(handle, q, v).R[row]
    value = np.array([3.0, -2.0, 5.0])
    value = R @ value if axes == "body" else value
    found = plain.inverse_dynamics(q, v, vdot) - handle.inverse_dynamics(q, v, vdot)
    for j, unit in enumerate(np.eye(len(v))):

        def moved(h, unit=unit):
            frames = frames_of(handle, advance(model, q, unit, 0 * unit, h), unit)
            return np.concatenate([frames.p[row], (frames.R[row] @ R.T).ravel()])

        slope = derivatives(moved, 0.05)[0]
        motion = slope[:3] if kind == "force" else vee(slope[3:].reshape(3, 3))
        assert abs(found[j] - value @ motion) < 1e-9 * (1.0 + largest(found))


# --- conservation ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", FLEXIBLE)
def test_a_free_flexible_tree_keeps_momentum_and_energy(formulation):
    tree = dataclasses.replace(random_tree(7, base="floating"), gravity=(0, 0, 0))
    still = [dataclasses.replace(body, damping=Damping()) if isinstance(body, Beam) else body for body in tree.bodies]
    model = dataclasses.replace(tree, bodies=still)
    assert len([body for body in still if isinstance(body, Beam) and body.n_modes]) > 1
    q, v, _, _ = state(model, 3)
    for link in model.links:
        q[link.q_modes] *= 0.1
        v[link.v_modes] *= 0.1
    result = pliant.simulate(model, 0.3, q0=q, v0=v, rtol=1e-11, formulation=formulation)
    assert result.is_ok
    assert result.audit["momentum_drift"] < 1e-10
    assert result.audit["energy_residual"] < 1e-9


# --- joints whose child turns at its start ----------------------------------------------------------------------------


def tilted_joint(kind: str, ends: str, **forces: Any) -> Model:
    """A beam whose modes turn its first section, on a joint about z or an axis in between."""
    beam = Beam(
        "beam",
        1.1,
        Material(young=1e9, density=2000.0),
        GivenSection(area=1e-3, second_moment_y=8e-7, second_moment_z=1e-6),
        bending_y=Bending(2, ends),
        bending_z=Bending(1, ends),
    )
    axis = {"axis": (0.0, 0.6, 0.8)} if JOINT_KINDS[kind].has_axis else {}
    joint = Joint(name="joint", kind=kind, child="beam", **axis, **forces)
    return Model(name="tilted", bodies=[beam], joints=[joint], frames=[Frame(body="beam", name="start")])


ANGLE = {"revolute": 0, "cylindrical": 1, "planar": 2}
FORCES = {
    "spring": {"stiffness": 40.0},
    "damper": {"damping": 3.0},
    "motor": {"motor": Constant(7.0)},
    "stop": {"limit": Limit(upper=-5.0, stiffness=30.0, damping=0.5)},
}


@pytest.mark.parametrize("force", FORCES)
@pytest.mark.parametrize("ends", ["ss", "sc"])
@pytest.mark.parametrize("kind", ANGLE)
def test_forces_of_joints_act_between_the_sections_that_meet(kind, ends, force):
    """On the angle from the parent to the first section: joint angle and tilt, each with its share of the torque."""
    n = len(JOINT_KINDS[kind].velocities)
    nothing = {"stiffness": 0.0, "damping": 0.0, "motor": Constant(0.0), "limit": "none"}
    given = {
        key: tuple(value if k == ANGLE[kind] else nothing[key] for k in range(n)) if n > 1 else value
        for key, value in FORCES[force].items()
    }
    model, bare = tilted_joint(kind, ends, **given), tilted_joint(kind, ends)
    q, v, vdot, _ = state(model, 4)
    handle, plain = Prepared(model), Prepared(bare)
    axis = np.array([0.0, 0.6, 0.8]) if kind != "planar" else np.array([0.0, 0.0, 1.0])
    j = ANGLE[kind]
    # how far the first section turns about the axis, per unit of each velocity: small turns add up
    share = np.zeros(len(v))
    share[j] = 1.0
    flat = np.zeros(len(q))
    for m in range(n, len(v)):
        spin = frames_of(handle, flat, np.eye(len(v))[m]).spin[handle.packed.frame_rows["start"]]
        share[m] = spin @ axis
    assert largest(share[n:]) > 0.1
    angle, rate = share @ q, share @ v
    wanted = {
        "spring": -40.0 * angle,
        "damper": -3.0 * rate,
        "motor": 7.0,
        "stop": -max(0.0, 30.0 * (angle + 5.0) + 0.5 * rate),
    }[force]
    found = plain.inverse_dynamics(q, v, vdot) - handle.inverse_dynamics(q, v, vdot)
    assert largest(found - wanted * share) < 1e-10 * (1.0 + largest(plain.inverse_dynamics(q, v, vdot)))


@pytest.mark.parametrize("formulation", FLEXIBLE)
@pytest.mark.parametrize("ends", ["ss", "sc"])
def test_energy_balance_of_a_joint_whose_child_turns_at_its_start(ends, formulation):
    """Spring, damper, motor and stop together, along a run: nothing is lost between angle and tilt."""
    forces = {key: value for part in FORCES.values() for key, value in part.items()}
    forces["limit"] = Limit(upper=0.3, stiffness=300.0, damping=0.5)
    result = pliant.simulate(tilted_joint("revolute", ends, **forces), 0.5, rtol=1e-10, formulation=formulation)
    assert result.is_ok
    assert result.events
    assert result.audit["energy_residual"] < 1e-8

"""make_flexible: undeformed, the robot is what it was; very stiff, it moves as before; clamped, it rings as a beam."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pliant
from paths import ROBOTS
from pliant import Body, Circle, Contact, FlexibleLink, Frame, Joint, Load, Material, Model, NormalLaw, RoundTube
from pliant.engine.prepared import Prepared
from pliant.errors import ModelError
from random_models import largest, random_state

STEEL = Material(young=2.1e11, density=7850.0)
THIN = Circle(0.006)


def turned(*angles: float) -> np.ndarray:
    return pliant.model.bodies.attitude_matrix(pliant.RollPitchYaw(*angles))


def arm() -> Model:
    """Three links in space with skew joint_frames; the middle one has places before, on and beyond its beam."""
    rng = np.random.default_rng(4)
    S = np.diag([0.06, 0.012, 0.01]) + 0.002 * rng.normal(size=(3, 3))
    middle = 3.0 * (np.trace(S @ S.T) * np.eye(3) - S @ S.T) + np.diag([0.02, 0.25, 0.25])
    bodies = (
        Body("first", 2.0, (0.1, 0, 0.05), (0.02, 0.05, 0.06)),
        Body("second", 3.0, (0.2, 0.13, -0.02), middle),
        Body("third", 1.0, (0.1, 0.02, 0), (0.01, 0.02, 0.015)),
        Body("tool", 0.5, (0.0, 0.02, 0.1), (0.002, 0.001, 0.0015)),
    )
    joints = (
        Joint("a", "revolute", "first", axis=(0.1, 0.2, 1)),
        Joint("b", "revolute", "second", Frame("first", (0.3, 0, 0.1), turned(0.3, 0.2, 0.1)), axis=(0, 1, 0.2)),
        Joint("c", "revolute", "third", Frame("second", (0.5, 0.3, -0.1), turned(-0.4, 0.7, 0.2)), axis=(1, 0, 0.3)),
        Joint("d", "prismatic", "tool", Frame("second", (0.2, 0.2, 0.1), turned(0.1, 0, 1.0)), axis=(1, 1, 0)),
    )
    frames = (
        Frame("second", (-0.1, 0, 0), name="behind"),
        Frame("second", (0.6, 0.4, 0.0), turned(0.2, 0.3, 0.4), name="beyond"),
        Frame("third", (0.3, 0, 0), name="tip"),
    )
    loads = (Load(Frame("second", (0.3, 0.1, 0)), x=pliant.Constant(3.0), axes="body"),)
    return Model("arm", bodies, joints, frames=frames, loads=loads, base="fixed")


def bent(model: Model, **how: Any) -> Model:
    given = {"section": THIN, "material": STEEL, "modes": 2, "to": "c"} | how
    return pliant.make_flexible(model, "second", **given)


def rigid_columns(model: Model, of: Model) -> tuple[list[int], list[int]]:
    """Where the coordinates and velocities of a rigid model are in the flexible one."""
    return [of.coordinates.index(name) for name in model.coordinates], [
        of.velocities.index(name) for name in model.velocities
    ]


def spread(model: Model, of: Model, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same state of the flexible model, undeformed."""
    columns, rates = rigid_columns(model, of)
    q_all, v_all = np.zeros(len(of.coordinates)), np.zeros(len(of.velocities))
    q_all[columns], v_all[rates] = q, v
    return q_all, v_all


HOW = {
    "remainder at the root": {},
    "remainder at the tip": {"remainder": "tip"},
    "torsion and stretch": {"torsion": 1, "stretch": 1},
    "sections without inertia": {"rotary": "none", "theory": "euler-bernoulli"},
    "section turned": {"y": (0.3, -1.0, 2.0), "section": pliant.Rectangle(0.008, 0.012)},
    "tapered": {"section": pliant.TaperedSection((Circle(0.008), Circle(0.004)))},
    "short": {"to": (0.2, 0.1, 0.0)},
}


@pytest.mark.parametrize("name", HOW)
def test_undeformed_it_has_the_mass_matrix_bias_and_energies_of_the_rigid_robot(name: str) -> None:
    """Exact but for rounding of sums and of the split into beam and remainder: 1e-12 of the largest entry."""
    rigid, model = arm(), bent(arm(), **HOW[name])
    q, v, *_ = random_state(rigid, np.random.default_rng(1))
    q_all, v_all = spread(rigid, model, q, v)
    _, rates = rigid_columns(rigid, model)
    ours, reference = Prepared(model), Prepared(rigid)
    M = reference.mass_matrix(q)
    assert largest(ours.mass_matrix(q_all)[np.ix_(rates, rates)] - M) < 1e-12 * largest(M)
    h = reference.inverse_dynamics(q, v, 0 * v)
    assert largest(ours.inverse_dynamics(q_all, v_all, 0 * v_all)[rates] - h) < 1e-12 * largest(h)
    assert np.isclose(ours.energy(q_all, v_all).kinetic, reference.energy(q, v).kinetic, rtol=1e-12)
    assert np.isclose(ours.energy(q_all, v_all).gravity, reference.energy(q, v).gravity, rtol=1e-12)


def test_frames_and_joints_stay_where_they_were() -> None:
    rigid, model = arm(), bent(arm())
    q, v, *_ = random_state(rigid, np.random.default_rng(2))
    q_all, _ = spread(rigid, model, q, v)
    names = ("first", "second", "third", "tool", "behind", "beyond", "tip")
    before, after = Prepared(rigid).placements(q[None], names), Prepared(model).placements(q_all[None], names)
    assert largest(before[0] - after[0]) < 1e-14
    assert largest(before[1] - after[1]) < 1e-14
    assert {frame.name: frame.body for frame in model.frames} == {
        "behind": "second",
        "beyond": "second_tip",
        "tip": "third",
    }
    assert model.loads[0].frame.body == "second_beam"


def test_a_real_robot_keeps_its_mass_matrix_with_two_bending_links() -> None:
    rigid = pliant.load(ROBOTS / "ur5.urdf", limits="ignore")
    model = rigid
    for link, radius in (("upper_arm_link", 0.03), ("forearm_link", 0.02)):
        tube = RoundTube(radius, 0.9 * radius)
        model = pliant.make_flexible(model, link, section=tube, material=Material(young=7e10, density=2700.0))
    assert len(model.velocities) == len(rigid.velocities) + 8
    q, v, *_ = random_state(rigid, np.random.default_rng(3))
    q_all, _ = spread(rigid, model, q, v)
    _, rates = rigid_columns(rigid, model)
    M = Prepared(rigid).mass_matrix(q)
    assert largest(Prepared(model).mass_matrix(q_all)[np.ix_(rates, rates)] - M) < 1e-12 * largest(M)


def test_the_stiffer_the_beam_the_closer_to_the_rigid_robot_in_inverse_proportion() -> None:
    """What a beam gives way is its flexibility times the forces: the constraint of the modes, solved statically, makes
    the accelerations of the joints those of the rigid robot. Differences fall as 1 / young."""
    rigid = arm()
    q, v, _, tau = random_state(rigid, np.random.default_rng(6))
    wanted = Prepared(rigid).forward_dynamics(q, v, tau)
    differences = []
    for young in (1e13, 1e14, 1e15):
        model = bent(arm(), material=replace(STEEL, young=young))
        handle = Prepared(model)
        columns, rates = rigid_columns(rigid, model)
        q_all, v_all = spread(rigid, model, q, v)
        tau_all = np.zeros(len(model.velocities))
        tau_all[rates] = tau
        modes = [k for k in range(len(model.velocities)) if k not in rates]
        bends = [k for k in range(len(model.coordinates)) if k not in columns]
        # modal coordinates at which the modes do not accelerate: two Newton steps on their stiffness
        for _ in range(3):
            residual = handle.forward_dynamics(q_all, v_all, tau_all)[modes]
            slope = np.zeros((len(modes), len(modes)))
            for k, column in enumerate(bends):
                moved = q_all.copy()
                moved[column] += 1e-9
                slope[:, k] = (handle.forward_dynamics(moved, v_all, tau_all)[modes] - residual) / 1e-9
            q_all[bends] -= np.linalg.solve(slope, residual)
        found = handle.forward_dynamics(q_all, v_all, tau_all)[rates]
        differences.append(largest(found - wanted) / largest(wanted))
    # each decade of stiffness takes one of the difference, until 1e-9 of the finite difference shows
    assert 8 < differences[0] / differences[1] < 12
    assert 8 < differences[1] / differences[2] < 12
    assert differences[2] < 1e-6


def test_a_clamped_link_rings_with_the_closed_form_of_its_beam() -> None:
    """cos x cosh x + 1 = 0: x1 = 1.87510406871196; Euler and Bernoulli without rotary inertia, from the matrices.

    The link has exactly the mass of the beam, so there is no remainder; the shape is the exact mode."""
    length, section, material = 0.8, Circle(0.01), STEEL
    mass = material.density * np.pi * 0.01**2 * length
    rod = Body("rod", mass, (0, 0, length / 2), (mass * length**2 / 12, mass * length**2 / 12, 0.0))
    rigid = Model("clamped", (rod,), frames=(Frame("rod", (0, 0, length), name="end"),), gravity=(0, 0, 0))
    how = {"section": section, "material": material, "modes": 1, "to": "end"}
    model = pliant.make_flexible(rigid, "rod", theory="euler-bernoulli", rotary="none", **how)
    handle = Prepared(model)
    M = handle.mass_matrix(model.q0)
    K = np.zeros((2, 2))
    for k in range(2):
        moved = model.q0.copy()
        moved[k] = 1e-3
        K[:, k] = handle.inverse_dynamics(moved, model.v0, 0 * model.v0) / 1e-3
    omega = np.sqrt(np.diag(K) / np.diag(M))
    wanted = 1.87510406871196**2 * np.sqrt(2.1e11 * np.pi * 0.01**4 / 4 * length / mass / length**4)
    assert np.allclose(omega, wanted, rtol=1e-6)  # the shortening of the axis bends K by (1 mm / 0.8 m)^2


def test_a_link_without_remainder_is_the_beam_alone() -> None:
    length, mass = 0.8, STEEL.density * np.pi * 0.01**2 * 0.8
    beam = pliant.Beam("x", length, STEEL, Circle(0.01))
    rod = Body("rod", beam.total_mass, beam.centre, beam.inertia_about_centre)
    model = pliant.make_flexible(Model("r", (rod,)), "rod", section=Circle(0.01), material=STEEL, to=(length, 0, 0))
    assert [body.total_mass for body in model.bodies] == [0.0, pytest.approx(mass, rel=1e-14)]


def test_contact_points_and_planes_of_the_link_move_to_the_beam() -> None:
    law = NormalLaw("hooke", 1e5)
    contact = Contact("floor", law, pliant.Plane(offset=-5.0), (Frame("second", (0.6, 0.4, 0)), "tip", "second"))
    tray = Contact("tray", law, pliant.Plane(Frame("second", (0.25, 0.15, -0.05)), offset=-5.0), ("tool",))
    model = bent(replace(arm(), contacts=(contact, tray)))
    points = model.contacts[0].points
    assert points[0].body == "second_tip"
    assert points[1:] == ("tip", "second")
    assert model.contacts[1].plane.place.body == "second_beam"


# --- mistakes -----------------------------------------------------------------------------------------------------

MISTAKES = {
    "an unknown link": (
        lambda: pliant.make_flexible(arm(), "secnd", section=THIN, material=STEEL),
        "did you mean 'second'",
    ),
    "two joints": (lambda: bent(arm(), to=None), r"carries 2 joints \(c, d\); say where"),
    "an unknown end": (lambda: bent(arm(), to="e"), "to 'e' is no joint or frame on it.*c, d, behind, beyond"),
    "no length": (lambda: bent(arm(), to=(0, 0, 0)), "no length; give another place"),
    "y along the beam": (lambda: bent(arm(), y=(0.5, 0.3, -0.1)), "points along the beam"),
    "too heavy": (lambda: bent(arm(), section=Circle(0.05)), r"beam alone has 36\.\d+ kg, the link 3 kg"),
    "no remainder": (lambda: bent(arm(), section=Circle(0.0135)), "no rigid remainder can complete the beam.*moments"),
    "twice": (lambda: pliant.make_flexible(bent(arm()), "second_beam", section=THIN, material=STEEL), "beam already"),
    "an unknown field": (lambda: bent(arm(), mode=3), "unknown key 'mode'; did you mean 'modes'"),
    "no section": (lambda: FlexibleLink("second", material=STEEL), "'section' is missing"),
    "a name that is taken": (
        lambda: bent(replace(arm(), frames=(Frame("first", name="second_beam"),))),
        "link 'second' as a beam.*second_beam",
    ),
    "supported ends on a weld": (
        lambda: bent(arm(), bending_y=pliant.Bending(ends="ff")),
        "link 'second' as a beam: .*begins with s or c",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_with_numbers(name: str) -> None:
    made, words = MISTAKES[name]
    with pytest.raises(ModelError, match=f"(?s){words}"):
        made()

"""Flexible joints: motor and link as two coordinates, with a spring, a damper and backlash between them."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant
from command_line import pliant_command
from pliant import (
    Body,
    Controller,
    Crossing,
    Cycloid,
    Frame,
    Friction,
    Joint,
    Limit,
    Model,
    Output,
    Rod,
    TorqueTable,
    Transmission,
)
from pliant.errors import ModelError
from pliant.view.page.heading import describe
from pliant.view.picture.skeleton import ends, skeleton

ROTOR, GEAR, LINK, STIFFNESS = 0.002, 10.0, 0.5, 80.0
REFLECTED = GEAR**2 * ROTOR
HARDENING = TorqueTable(twist=(0.0, 0.05, 0.1, 0.2), torque=(0.0, 2.0, 8.0, 40.0))


def wheel(transmission: Transmission | None = None, **fields: Any) -> Model:
    """A wheel that a motor drives, without gravity; by default a linear spring."""
    joint = Joint(
        "shaft",
        "revolute",
        "wheel",
        armature=ROTOR,
        gear=GEAR,
        transmission=transmission or Transmission(STIFFNESS),
        **{key: fields.pop(key) for key in list(fields) if key in Joint.__dataclass_fields__},
    )
    bodies = [Body("wheel", 1.0, inertia=(LINK, LINK, LINK))]
    return Model("drive", bodies, [joint], gravity=(0, 0, 0), **fields)


def started_alone(model: Model) -> Model:
    """The link starts, its motor stands."""
    (joint,) = model.joints
    return replace(model, joints=[replace(joint, transmission=replace(joint.transmission, v0=0.0))])


def arm(transmission: Transmission | None = None, **fields: Any) -> Model:
    """Two links in space under gravity, both joints flexible; transmission None: rigid ones."""
    drive = {"armature": ROTOR, "gear": GEAR, "transmission": transmission}
    joints = [
        Joint("shoulder", "revolute", "upper", axis=(0, 1, 0), q0=0.3, **drive),
        Joint("elbow", "revolute", "lower", Frame("upper", (0.7, 0, 0)), axis=(0, 1, 1), q0=-0.8, v0=2.0, **drive),
    ]
    bodies = [Body("upper", 2.0, shape=Rod(0.7, 0.03)), Body("lower", 1.0, shape=Rod(0.6, 0.02))]
    return Model("arm", bodies, joints, **fields)


def test_motor_and_link_swing_against_each_other_with_the_reflected_inertia() -> None:
    model = wheel(Transmission(STIFFNESS, q0=0.02))
    omega = math.sqrt(STIFFNESS * (1.0 / REFLECTED + 1.0 / LINK))
    result = pliant.simulate(model, 1.0, rtol=1e-11)
    twist = result.q[:, 0] - result.q[:, 1]
    assert model.coordinates == ("shaft.motor", "shaft")
    # rtol 1e-11 of some twenty swings
    assert np.abs(twist - 0.02 * np.cos(omega * result.t)).max() < 1e-10
    assert pliant.modes(model).frequencies[-1] == pytest.approx(omega, rel=1e-8)


def test_with_motor_and_link_as_one_the_inertia_is_that_of_a_rigid_joint() -> None:
    flexible, rigid = arm(Transmission(STIFFNESS)), arm()
    q, together = np.array([0.3, -0.8]), np.repeat(np.eye(2), 2, axis=0)
    M = pliant.mass_matrix(flexible, together @ q)
    assert np.allclose(together.T @ M @ together, pliant.mass_matrix(rigid, q), rtol=1e-14, atol=0)


def test_it_moves_as_a_rotor_without_mass_and_two_joints() -> None:
    """The same written by hand: theta1, and the twist as the angle of a second joint."""
    damped = Transmission(STIFFNESS, damping=0.3)
    by_hand = Model(
        "by hand",
        [Body("rotor", 0.0), Body("upper", 2.0, shape=Rod(0.7, 0.03))],
        [
            Joint("motor", "revolute", "rotor", axis=(0, 1, 0), q0=0.3, armature=ROTOR, gear=GEAR, motor=0.4),
            Joint("twist", "revolute", "upper", "rotor", axis=(0, 1, 0), stiffness=STIFFNESS, damping=0.3),
        ],
    )
    joint = Joint("j", "revolute", "upper", axis=(0, 1, 0), q0=0.3, armature=ROTOR, gear=GEAR, motor=0.4)
    flexible = Model("one", [Body("upper", 2.0, shape=Rod(0.7, 0.03))], [replace(joint, transmission=damped)])
    one, two = (pliant.simulate(model, 1.0, rtol=1e-12).q[-1] for model in (flexible, by_hand))
    assert one[0] == pytest.approx(two[0], abs=1e-10)
    assert one[1] == pytest.approx(two[0] + two[1], abs=1e-10)


LAWS = {
    "linear": Transmission(STIFFNESS, damping=0.2),
    "table": Transmission(HARDENING, damping=0.2),
    "backlash": Transmission(STIFFNESS, damping=0.2, backlash=0.02),
    "both": Transmission(HARDENING, backlash="1 deg"),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("formulation", ["articulated", "lagrange", "gibbs_appell", "boltzmann_hamel", "denoc"])
def test_energy_and_works_balance_in_every_formulation(law: str, formulation: str) -> None:
    model = arm(LAWS[law], outputs=[Output("T", "elbow", "transmission")])
    result = pliant.simulate(model, 0.5, formulation=formulation, rtol=1e-11)
    assert result.audit["energy_residual"] < 1e-10
    # motor's side: n^2 I theta1'' = -T
    motor = model.velocities.index("elbow.motor")
    wanted = np.gradient(result.v[:, motor], result.t, edge_order=2)
    assert np.corrcoef(wanted, -result.outputs["T"][:, 0] / REFLECTED)[0, 1] > 0.99


@pytest.mark.parametrize("integrator", ["radau", "generalised_alpha", "rk4"])
def test_integrators_agree(integrator: str) -> None:
    """The step of the last two: 1e-4 s, error of second order in (omega h)^2 = 1e-5, fourth much smaller."""
    model = arm(Transmission(STIFFNESS, damping=0.2))
    step = {} if integrator == "radau" else {"step": 1e-4}
    exact = pliant.simulate(model, 0.3, rtol=1e-12).q[-1]
    assert np.abs(pliant.simulate(model, 0.3, integrator=integrator, **step).q[-1] - exact).max() < 1e-5


def test_a_table_of_a_straight_line_is_a_linear_spring_also_beyond_its_ends() -> None:
    line = TorqueTable(twist=(0.0, 0.01, 0.03), torque=(0.0, 0.8, 2.4))
    runs = [pliant.simulate(wheel(Transmission(k, q0=0.1)), 0.5, rtol=1e-12) for k in (STIFFNESS, line)]
    assert np.abs(runs[0].q[-1] - runs[1].q[-1]).max() < 1e-10
    assert runs[0].energy["elastic"][0] == pytest.approx(0.5 * STIFFNESS * 0.1**2, rel=1e-14)
    assert runs[1].energy["elastic"][0] == pytest.approx(0.5 * STIFFNESS * 0.1**2, rel=1e-14)


def test_the_torque_of_a_table_passes_its_values_and_is_the_slope_of_its_energy() -> None:
    wanted = {0.0: 0.0, 0.05: 2.0, -0.1: -8.0, 0.2: 40.0}
    model = wheel(Transmission(HARDENING))
    handle = pliant.prepare(model)
    for twist in (*wanted, 0.013, -0.16, 0.3, -0.5):
        q = np.array([twist, 0.0])
        torque = handle.forward_dynamics(q, np.zeros(2))[1] * LINK
        h = 1e-6
        up, down = (handle.energies(q[None] + [[d, 0.0]], np.zeros((1, 2)))["elastic"][0] for d in (h, -h))
        assert torque == pytest.approx(wanted.get(twist, torque), rel=1e-12, abs=1e-12)
        assert torque == pytest.approx((up - down) / (2 * h), rel=1e-6, abs=1e-8)


def test_within_the_backlash_the_motor_moves_alone_until_the_flank() -> None:
    """tau n / (n^2 I) t^2 / 2 = b / 2."""
    b, torque = 0.04, 0.05
    model = wheel(Transmission(STIFFNESS, backlash=b), motor=torque, outputs=[Output("T", "shaft", "transmission")])
    meets = math.sqrt(b * REFLECTED / (GEAR * torque))
    result = pliant.simulate(model, 1.2 * meets, rtol=1e-12)
    assert [event.name for event in result.events] == ["shaft at the upper flank of its backlash"]
    assert result.events[0].t == pytest.approx(meets, rel=1e-10)
    before = result.t < meets
    assert np.all(result.q[before, 1] == 0.0)
    assert np.all(result.outputs["T"][before] == 0.0)
    assert np.all(result.outputs["T"][result.t > meets] > 0.0)


def test_linear_models_are_those_of_the_flank_and_not_of_its_edge() -> None:
    loose = wheel(Transmission(STIFFNESS, backlash=0.02))
    A = pliant.linearise(loose, q=[0.02, 0.0]).A
    assert A[3, :2] == pytest.approx([STIFFNESS / LINK, -STIFFNESS / LINK], rel=1e-9)
    assert np.abs(pliant.linearise(loose, q=[0.0, 0.0]).A[2:]).max() == 0.0
    with pytest.raises(ModelError, match="joint 'shaft' is just at a flank of its backlash"):
        pliant.linearise(loose, q=[0.01, 0.0])


def test_many_runs_are_the_single_ones() -> None:
    loose = wheel(Transmission(STIFFNESS, damping=0.2, backlash=0.02, v0=0.0), v0=1.0)
    runs = pliant.simulate_many(loose, 0.5, q0=np.zeros((2, 2)), v0=[[0.0, 1.0], [1.0, -1.0]])
    assert np.array_equal(runs.result(0).q[-1], pliant.simulate(loose, 0.5).q[-1])


def test_flanks_push_and_never_pull() -> None:
    damped = Transmission(STIFFNESS, damping=5.0, backlash=0.02)
    model = wheel(damped, v0=1.0, outputs=[Output("T", "shaft", "transmission")])
    result = pliant.simulate(started_alone(model), 0.5)
    twist, torque = result.q[:, 0] - result.q[:, 1], result.outputs["T"][:, 0]
    assert torque.min() < 0.0
    assert np.all(torque * twist >= 0.0)
    assert np.all(torque[np.abs(twist) < 0.00999] == 0.0)
    assert result.energy["work_damper"][-1] < 0.0


def test_stiction_on_the_motor_side_holds_the_motor_while_the_link_swings() -> None:
    held = Transmission(STIFFNESS, friction=Friction("stiction", mu_k=1.0, mu_s=1.2, load=2.0))
    model = wheel(held, v0=0.1, outputs=[Output("rub", "shaft.motor", "friction")])
    model = started_alone(model)
    omega = math.sqrt(STIFFNESS / LINK)
    result = pliant.simulate(model, 0.5, rtol=1e-11)
    assert np.abs(result.q[:, 0]).max() < 1e-12
    assert np.abs(result.q[:, 1] - 0.1 / omega * np.sin(omega * result.t)).max() < 1e-10
    assert np.abs(result.outputs["rub"]).max() == pytest.approx(0.1 / omega * STIFFNESS, rel=1e-2)


def test_friction_on_the_link_side_is_that_of_the_joint() -> None:
    model = wheel(friction=Friction("viscous", mu_k=1e-9, c_v=0.5, load=1.0), v0=1.0)
    vdot = pliant.forward_dynamics(model, [0.0, 0.0], [1.0, 1.0])
    assert vdot[0] == 0.0
    assert vdot[1] == pytest.approx(-0.5 / LINK, rel=1e-6)


def test_a_prescribed_motion_is_that_of_the_motor() -> None:
    model = wheel(Transmission(STIFFNESS, damping=3.0), motion=Cycloid(0, 0.5, 1.0))
    model = replace(model, outputs=[Output("drive", "shaft", "drive"), Output("T", "shaft", "transmission")])
    result = pliant.simulate(model, 4.0, rtol=1e-10)
    assert result.q[-1] == pytest.approx([1.0, 1.0], abs=1e-4)
    assert np.abs(result.q[:, 0] - result.q[:, 1]).max() > 0.01
    # the drive moves the rotor and what the spring takes
    rotor = REFLECTED * np.array([0, 2 * math.pi / 0.25])
    assert result.outputs["drive"][0] == pytest.approx(rotor[0] + result.outputs["T"][0], abs=1e-9)
    assert result.audit["energy_residual"] < 1e-8


def test_commands_and_motor_signals_act_on_the_motor() -> None:
    seen = []

    def push(t: float, measured: Any) -> float:
        seen.append((measured["shaft"], measured["shaft.motor"]))
        return 0.3

    model = wheel(outputs=[Output("M", "shaft", "motor")])
    model = replace(model, controllers=[Controller("c", 0.1, ("shaft",), push)])
    result = pliant.simulate(model, 0.01)
    assert result.outputs["M"][-1] == pytest.approx(GEAR * 0.3)
    assert result.v[-1, 0] > 100 * result.v[-1, 1] > 0.0
    assert seen[0] == ((0.0, 0.0), (0.0, 0.0))
    with pytest.raises(ModelError, match=r"'shaft\.motor' is the motor's side of 'shaft'; name the joint"):
        replace(model, controllers=[Controller("c", 0.1, ("shaft.motor",), push)])


def test_the_mass_of_a_transmission_is_a_point_on_the_parent() -> None:
    heavy = arm(Transmission(STIFFNESS, mass=1.5))
    light = arm(Transmission(STIFFNESS))
    lumped = replace(
        light,
        bodies=[*light.bodies, Body("lump", 1.5)],
        joints=[*light.joints, Joint("weld", "fixed", "lump", Frame("upper", (0.7, 0, 0)))],
    )
    state = np.array([0.3, 0.1, -0.2, 0.5]), np.array([0.4, -0.3, 0.2, 1.0])
    assert pliant.forward_dynamics(heavy, *state) == pytest.approx(pliant.forward_dynamics(lumped, *state), rel=1e-12)


def test_limits_and_crossings_find_both_sides() -> None:
    model = wheel(
        motor=1.0,
        limit=Limit(upper=0.1, stiffness=1e4),
        crossings=[Crossing("fast", "shaft.motor.rate", 2.0), Crossing("far", "shaft.motor", 0.05)],
    )
    result = pliant.simulate(model, 1.0)
    names = [event.name for event in result.events]
    assert {"fast", "far", "shaft at its upper limit"} <= set(names)
    assert result.q[:, 1].max() < 0.2


def test_the_start_of_the_motor_is_that_of_the_link_unless_given() -> None:
    assert wheel(q0=0.3, v0=1.0).q0.tolist() == [0.3, 0.3]
    assert wheel(q0=0.3, v0=1.0).v0.tolist() == [1.0, 1.0]
    other = wheel(Transmission(STIFFNESS, q0="10 deg", v0=0.0), v0=1.0)
    assert (other.q0.tolist(), other.v0.tolist()) == ([math.radians(10), 0.0], [0.0, 1.0])


def test_a_flexible_joint_that_slides() -> None:
    rail = Joint("rail", "prismatic", "cart", axis=(1, 0, 0), armature=2.0, transmission=Transmission(50.0, q0=0.1))
    model = Model("cart", [Body("cart", 3.0)], [rail], gravity=(0, 0, 0))
    omega = math.sqrt(50.0 * (1 / 2.0 + 1 / 3.0))
    result = pliant.simulate(model, 1.0, rtol=1e-11)
    assert np.abs(result.q[:, 0] - result.q[:, 1] - 0.1 * np.cos(omega * result.t)).max() < 1e-10


def test_pages_count_bodies_and_joints_that_were_given() -> None:
    model = arm(Transmission(STIFFNESS))
    result = pliant.simulate(model, 0.01)
    assert describe(result) == "Model arm: 2 bodies, 4 degrees of freedom, joints: 2 revolute (2 flexible)"
    assert "2 bodies, 4 velocities" in model._repr_html_()
    # of the motors nothing is drawn: one path, of the last link
    assert [end.name for end in ends(model)] == ["lower"]
    assert [len(parts) > 0 for parts in skeleton(model)] == [False, True, False, True]


def test_momentum_is_kept_by_flexible_joints_of_a_free_robot() -> None:
    """A rotor that spins against its parent takes none of it."""
    grounded = arm(Transmission(STIFFNESS, damping=0.1, mass=0.5))
    hull = Body("hull", 10.0, inertia=(1.0, 1.1, 1.2))
    joints = [replace(grounded.joints[0], parent=Frame("hull", (0.5, 0, 0)), motor=0.05), grounded.joints[1]]
    free = Model("free", [hull, *grounded.bodies], joints, base="floating", gravity=(0, 0, 0))
    result = pliant.simulate(free, 1.0, rtol=1e-11)
    assert result.audit["momentum_drift"] < 1e-12
    assert result.audit["energy_residual"] < 1e-11


def test_what_a_prescribed_motor_holds_sags_by_torque_over_stiffness() -> None:
    joint = Joint("j", "revolute", "arm", axis=(0, -1, 0), motion=0.0, transmission=Transmission(200.0))
    model = Model("sag", [Body("arm", 2.0, (0.5, 0, 0), inertia=(0.1, 0.2, 0.2))], [joint])
    motor, link = pliant.equilibrium(model)
    assert motor == 0.0
    assert 200.0 * link == pytest.approx(-2.0 * 9.81 * 0.5 * math.cos(link), rel=1e-9)


def test_it_is_written_to_files_and_read_back(tmp_path: Path) -> None:
    model = arm(Transmission(HARDENING, 0.1, 0.002, Friction("coulomb", mu_k=0.2, load=1.0), 0.5, 0.1, 0.2))
    pliant.save_model(model, tmp_path / "arm.toml")
    assert pliant.load(tmp_path / "arm.toml") == model


def test_bad_input_ends_with_code_2_and_a_sentence(tmp_path: Path) -> None:
    model = wheel(Transmission(STIFFNESS), duration=0.01)
    pliant.save_model(model, tmp_path / "drive.toml")
    text = (tmp_path / "drive.toml").read_text()
    assert "stiffness = 80" in text
    (tmp_path / "drive.toml").write_text(text.replace("stiffness = 80", "stiffness = 0"))
    done = pliant_command("run", str(tmp_path / "drive.toml"))
    assert done.returncode == 2
    assert "transmission" in done.stderr
    assert "above 0" in done.stderr


def joint(**fields: Any) -> Joint:
    return Joint("j", fields.pop("kind", "revolute"), "b", **({"armature": 1.0} | fields))


MISTAKES = [
    (lambda: Transmission(0.0), ["stiffness", "found 0", "above 0"]),
    (lambda: Transmission(), ["'stiffness' is missing"]),
    (lambda: Transmission(backlash=0.1), ["'stiffness' is missing"]),
    (lambda: Transmission(1.0, backlash=-0.1), ["backlash", "0 or more"]),
    (lambda: Transmission(1.0, mass=-1), ["mass", "0 or more"]),
    (lambda: joint(armature=-1, transmission=Transmission(1.0)), ["armature", "0 or more"]),
    (lambda: joint(armature=0, transmission=Transmission(1.0)), ["without inertia", "give armature", "kg m^2"]),
    (lambda: joint(kind="spherical", transmission=Transmission(1.0)), ["not possible on a spherical", "prismatic"]),
    (lambda: joint(kind="prismatic", transmission=Transmission(1.0, mass=1)), ["mass", "revolute joints only"]),
    (lambda: joint(kind="fixed", armature=0.0, transmission=Transmission(1.0)), ["no effect on a fixed joint"]),
    (lambda: Transmission(1.0, friction=Friction("coulomb", mu_k=0.1)), ["friction needs load"]),
    (
        lambda: joint(motion=1.0, transmission=Transmission(1.0, friction=Friction("coulomb", mu_k=0.1, load=1.0))),
        ["friction of its transmission has no effect"],
    ),
    (lambda: TorqueTable((0, 1), (0, 1, 2)), ["2 values of twist but 3 of torque"]),
    (lambda: TorqueTable((0, 1, 1), (0, 1, 2)), ["twist must increase", "1 follows 1"]),
    (lambda: TorqueTable((0, 1, 2), (0, 2, 1)), ["torque must not fall", "1 follows 2"]),
    (lambda: TorqueTable((0, 1), (0, 0)), ["torque is 0 throughout"]),
    (lambda: TorqueTable((1, 2), (1, 2)), ["from 1 to 2, without 0"]),
    (lambda: TorqueTable((0, 1), (1, 2)), ["begins at twist 0 with torque 1"]),
    (lambda: Transmission(TorqueTable((-1, 1), (-1, 2)), backlash=0.1), ["backlash needs a table with twist 0"]),
    (lambda: wheel(outputs=[Output("T", "wheel", "transmission")]), ["of (transmission of a joint)", "shaft"]),
    (
        lambda: replace(arm(), outputs=[Output("T", "elbow", "transmission")]),
        ["'elbow' has no transmission", "flexible joints: none"],
    ),
]


@pytest.mark.parametrize(("make", "words"), MISTAKES)
def test_messages(make: Any, words: list[str]) -> None:
    with pytest.raises(ModelError) as found:
        make()
    for word in words:
        assert word in str(found.value)

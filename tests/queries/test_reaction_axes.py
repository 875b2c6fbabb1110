"""Reactions of joints and loops in world axes: those in child axes, rotated; and in balance with each other."""

import dataclasses

import numpy as np
import pytest

import pliant
from pliant import Beam, Bending, Body, Frame, Joint, Loop, Material, Model, ModelError, Output, Rectangle

ROUNDING = 1e-12  # of a wrench: a few products


def tree():
    """Hinges about odd axes on a beam, a ball joint at its end."""
    beam = Beam("beam", 1.0, Material(7e10, 2700.0), Rectangle(0.02, 0.03), bending_y=2, bending_z=Bending(2))
    hub, hand = Body("hub", 2.0, inertia=(0.1, 0.2, 0.25)), Body("hand", 1.0, (0.1, 0.2, 0), (0.1, 0.1, 0.1))
    joints = (
        Joint("waist", "revolute", "hub", axis=(1, 2, 3), q0=0.3, v0=1.0),
        Joint("arm", "revolute", "beam", Frame("hub", (0.1, 0.2, 0.3)), q0=0.7, v0=-2.0),
        Joint("wrist", "spherical", "hand", Frame("beam", (1.0, 0, 0)), q0=(0.1, 0.2, 0.3, 0.9), v0=(1, 2, 3)),
    )
    asked = [(joint.name, axes) for joint in joints for axes in ("child", "world")]
    outputs = [Output(f"{joint}_{axes}", joint, "reaction", axes) for joint, axes in asked]
    return Model("tree", (hub, beam, hand), joints, outputs=outputs)


def four_bar():
    """A crank, a coupler and a rocker, whose last pin is a loop between rotated frames."""
    lengths = {"crank": 0.4, "coupler": 1.0, "rocker": 0.8}
    return Model(
        "four-bar",
        [Body(name, 1.0, (0.5 * length, 0, 0), (0.01, 0.02, 0.03)) for name, length in lengths.items()],
        gravity=(0, -9.81, 0),
        joints=(
            Joint("drive", "revolute", "crank", q0=1.0, v0=2.0),
            Joint("pin", "revolute", "coupler", Frame("crank", (0.4, 0, 0)), q0=-0.9),
            Joint("rock", "revolute", "rocker", Frame("world", (1.0, 0, 0)), q0=1.6),
        ),
        loops=(Loop("close", "revolute", Frame("coupler", (1.0, 0, 0)), Frame("rocker", (0.8, 0, 0))),),
        keep=("drive",),
        outputs=(Output("own", "close", "reaction"), Output("world", "close", "reaction", axes="world")),
    )


def rotated(R, wrench):
    return np.concatenate([R @ wrench[:3], R @ wrench[3:]])


def test_world_axes_are_child_axes_rotated_by_hand():
    model = tree()
    rng = np.random.default_rng(1)
    Q = np.tile(model.q0, (4, 1)) + 0.1 * rng.normal(size=(4, len(model.q0)))
    V = rng.normal(size=(4, len(model.v0)))
    own, world = (pliant.reactions(model, Q, V, axes=axes) for axes in ("child", "world"))
    assert all(np.array_equal(own[name], found) for name, found in pliant.reactions(model, Q, V).items())
    for link in model.links:
        for k in range(4):
            placement = pliant.frame_placement(model, Q[k], link.body.name)
            wanted = rotated(placement.R, own[link.joint.name][k])
            assert world[link.joint.name][k] == pytest.approx(wanted, abs=ROUNDING * np.abs(wanted).max())


def test_the_supports_of_a_robot_at_rest_carry_its_weight_along_world_z():
    model = tree()
    joints = [Joint(joint.name, "fixed", joint.child, joint.parent) for joint in model.joints]
    held = dataclasses.replace(model, outputs=(), joints=joints)
    still = pliant.equilibrium(held)
    force = pliant.reactions(held, still, np.zeros(len(held.velocities)), axes="world")["waist"][:3]
    weight = 9.81 * (3.0 + 2700.0 * 0.02 * 0.03)
    assert force == pytest.approx([0.0, 0.0, weight], abs=1e-7)  # equilibrium is found to 1e-8 or so


def test_a_loop_in_world_axes_is_in_balance_with_the_joints_around():
    """Newton's law of the rocker: both pins and gravity."""
    model = four_bar()
    q, v = pliant.assemble(model)
    world = pliant.reactions(model, q, v, axes="world")
    own = pliant.reactions(model, q, v)
    R = pliant.frame_placement(model, q, "rocker").R
    assert world["close"] == pytest.approx(rotated(R, own["close"]), abs=ROUNDING * np.abs(own["close"]).max())
    vdot = pliant.forward_dynamics(model, q, v)
    angle, rate = q[0] * 0 + q[2], v[2]
    along, across = np.array([np.cos(angle), np.sin(angle), 0]), np.array([-np.sin(angle), np.cos(angle), 0])
    acceleration = 0.4 * (vdot[2] * across - rate**2 * along)
    forces = world["rock"][:3] + world["close"][:3] + np.array([0, -9.81, 0])
    assert forces == pytest.approx(acceleration, abs=1e-9)  # condition of the loop times rounding


@pytest.mark.parametrize("make", [tree, four_bar])
def test_outputs_in_world_axes_are_what_the_calls_say(make):
    model = make()
    result = pliant.simulate(model, 0.2)
    asked = {(output.of, output.axes): result.outputs[output.name][-1] for output in model.outputs}
    for (of, axes), found in asked.items():
        wanted = pliant.reactions(model, result.q[-1], result.v[-1], t=result.t[-1], axes=axes)[of]
        assert found == pytest.approx(wanted, abs=1e-9 * np.abs(wanted).max())  # calls make their own partition


def test_axes_in_a_file_and_in_a_call_are_checked(tmp_path):
    pliant.save_model(four_bar(), tmp_path / "m.toml")
    assert 'axes = "world"' in (tmp_path / "m.toml").read_text()
    assert pliant.load_model(tmp_path / "m.toml") == four_bar()
    with pytest.raises(ModelError, match="axes: 'body' found; give one of child, world"):
        pliant.reactions(tree(), tree().q0, tree().v0, axes="body")


def test_a_placement_has_names_and_unpacks_as_ever():
    model = tree()
    placement = pliant.frame_placement(model, model.q0, "hand")
    R, p = placement
    assert placement.R is R is placement[0]
    assert placement.p is p is placement[1]
    assert repr(placement).startswith("Placement(R=")

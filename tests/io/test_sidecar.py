"""Sidecars: TOML that changes and completes a robot file, in the words of model files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pliant
from command_line import pliant_command
from paths import EXAMPLES, ROBOTS
from pliant import Beam, Circle, Frame, Material, RoundTube
from pliant.errors import ModelError
from pliant.io.toml import load_model, save_model

ROBOT = (EXAMPLES / "lifter.urdf").read_text()


def sidecar(folder: Path, text: str, **settings: object) -> pliant.Model:
    (folder / "lifter.urdf").write_text(ROBOT)
    (folder / "lifter.toml").write_text('robot = "lifter.urdf"\n' + text if "robot" not in text else text)
    return pliant.load(folder / "lifter.toml", **settings)


def test_a_sidecar_that_only_names_the_robot_is_the_robot(tmp_path: Path) -> None:
    assert sidecar(tmp_path, "") == pliant.load(EXAMPLES / "lifter.urdf")


def test_the_example_is_what_python_would_write() -> None:
    model = pliant.load(EXAMPLES / "lifter.toml")
    joints = {joint.name: joint for joint in model.joints}
    assert joints["pitch"].stiffness == 1500.0
    assert joints["pitch"].damping == 4.0  # of the robot file
    tube, aluminium = RoundTube(0.012, 0.01), Material(young=7e10, density=2700.0)
    rigid = pliant.load(EXAMPLES / "lifter.urdf")
    wanted = pliant.make_flexible(
        rigid, "forearm", section=tube, material=aluminium, damping=pliant.Damping(ratio=0.01)
    )
    assert model.bodies == wanted.bodies
    assert model.frames == wanted.frames
    assert model.contacts[0].points == ("tip",)


def test_a_joint_of_the_robot_becomes_flexible(tmp_path: Path) -> None:
    model = sidecar(
        tmp_path,
        """
        [[joints]]
        name = "elbow"
        armature = 1e-4
        gear = 80
        transmission = { stiffness = 2000, backlash = "1 deg" }
        """,
    )
    rigid = pliant.load(EXAMPLES / "lifter.urdf")
    (elbow,) = (joint for joint in model.joints if joint.name == "elbow")
    assert elbow.transmission == pliant.Transmission(2000.0, backlash="1 deg")
    assert set(model.velocities) - set(rigid.velocities) == {"elbow.motor"}


def test_items_of_the_same_name_change_and_others_are_added(tmp_path: Path) -> None:
    model = sidecar(
        tmp_path,
        """
        name = "crane"
        gravity = [0, 0, -1.62]
        duration = 3
        [[bodies]]
        name = "hook"
        mass = 2.5
        [[bodies]]
        name = "load"
        mass = 5
        [[joints]]
        name = "elbow"
        armature = 0.01
        gear = 100
        [[joints]]
        name = "hang"
        kind = "fixed"
        child = "load"
        parent = "tip"
        [[frames]]
        name = "eye"
        body = "load"
        [[frames]]
        name = "tip"
        position = [0, 0, -0.2]
        """,
    )
    rigid = pliant.load(EXAMPLES / "lifter.urdf")
    hook = next(body for body in rigid.bodies if body.name == "hook")
    assert (model.name, model.gravity, model.duration) == ("crane", (0.0, 0.0, -1.62), 3.0)
    assert model.bodies[-2:] == (replace(hook, mass=2.5), pliant.Body("load", 5.0))
    assert [joint.armature for joint in model.joints if joint.name == "elbow"] == [0.01]
    assert model.frames == (Frame("hook", (0, 0, -0.2), name="tip"), Frame("load", name="eye"))


def test_settings_stand_in_the_robot_table_and_yield_to_those_of_the_call(tmp_path: Path) -> None:
    text = '[robot]\nfile = "lifter.urdf"\nlimits = "stop"\nstop_stiffness = 900\n'
    pitch = next(joint for joint in sidecar(tmp_path, text).joints if joint.name == "pitch")
    assert pitch.limit.stiffness == 900.0
    assert sidecar(tmp_path, text, limits="record").crossings


def test_the_base_may_be_a_word_a_table_or_a_setting(tmp_path: Path) -> None:
    text = '[[bodies]]\nname = "base"\nmass = 1\ninertia = [1, 1, 1]\n'
    assert sidecar(tmp_path, 'base = "floating"\n' + text).base.kind == "floating"
    table = 'base = { kind = "floating", angular_velocity = [0, 0, 1] }\n'
    assert sidecar(tmp_path, table + text).base == pliant.Base("floating", angular_velocity=(0.0, 0.0, 1.0))
    assert sidecar(tmp_path, 'base = "floating"\n' + text, base="fixed").base.kind == "fixed"


def test_a_body_of_another_kind_replaces_the_link(tmp_path: Path) -> None:
    model = sidecar(
        tmp_path,
        """
        [[bodies]]
        name = "forearm"
        kind = "beam"
        length = 0.9
        material = { young = 7e10, density = 2700 }
        section = { kind = "circle", radius = 0.01 }
        bending_z = 1
        """,
    )
    aluminium = Material(young=7e10, density=2700.0)
    assert model.bodies[3] == Beam("forearm", 0.9, aluminium, Circle(0.01), bending_z=1)


def test_armature_in_a_sidecar_carries_a_moving_end_without_mass(tmp_path: Path) -> None:
    end = '<joint name="spin" type="continuous"><parent link="tip"/><child link="wheel"/></joint><link name="wheel"/>'
    (tmp_path / "r.urdf").write_text(ROBOT.replace("</robot>", f"{end}</robot>"))
    with pytest.raises(ModelError, match=r"it moves body 'wheel'.*armature to the joint in a sidecar"):
        pliant.load(tmp_path / "r.urdf")
    (tmp_path / "r.toml").write_text('robot = "r.urdf"\n[[joints]]\nname = "spin"\narmature = 1e-3\n')
    assert "spin" in pliant.load(tmp_path / "r.toml").velocities


def test_a_sidecar_saved_as_a_model_file_stands_alone(tmp_path: Path) -> None:
    model = pliant.load(EXAMPLES / "lifter.toml")
    save_model(model, tmp_path / "alone.toml")
    assert load_model(tmp_path / "alone.toml") == model


FLEXIBLE = """
[[flexible]]
link = "forearm"
section = {{ kind = "circle", radius = {} }}
material = {{ young = 1e11, density = 2700 }}
"""
MISTAKES = {
    "no such robot": ('robot = "nothing.urdf"', "robot: .*nothing.urdf: there is no such file; .*lifter.urdf"),
    "a robot of another kind": ('robot = "arm.toml"', "robot: file 'arm.toml' found; give a file that ends in .urdf"),
    "no file": ("[robot]\nlimits = 'stop'", 'robot: give the robot file, as in robot = "arm.urdf"'),
    "an unknown setting": (
        '[robot]\nfile = "lifter.urdf"\nlimit = "stop"',
        "robot: unknown key 'limit'; allowed: file, base",
    ),
    "a wrong word": ('[robot]\nfile = "lifter.urdf"\nlimits = "hard"', '"hard" is not known; allowed: record'),
    "an unknown table": ("[[ropes]]\nname = 'a'", "unknown key 'ropes'; .*allowed: name, bodies"),
    "an unknown joint": ("[[joints]]\nname = 'elbo'\ndamping = 1", "joints.* 'elbo': 'kind' is missing"),
    "an unknown link": (
        FLEXIBLE.format(0.01).replace("forearm", "forarm"),
        "flexible: link 'forarm' does not exist; did",
    ),
    "a beam that is too heavy": (
        FLEXIBLE.format(0.1),
        "flexible: link 'forearm': the beam alone has 76.* kg, the link 1.5",
    ),
    "an unknown key of a beam": (
        FLEXIBLE.format(0.01) + "mode = 2",
        r"flexible\[0\]: .*unknown key 'mode'; did you mean",
    ),
    "flexible as one table": (
        'flexible = { link = "forearm" }',
        r"flexible: give a list of tables, headed \[\[flexible",
    ),
    "a number for a base": ("base = 3", "base"),
    "joints that are no list": ("joints = 3", "joints: found 3"),
    "joints that are numbers": ("joints = [3]", r"joints\[4\]: found 3"),
    "an output of what is not there": (
        '[[outputs]]\nname = "a"\nof = "b"\nquantity = "position"',
        "of .*'b' does not exist",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_with_the_name_of_the_sidecar(name: str, tmp_path: Path) -> None:
    text, words = MISTAKES[name]
    with pytest.raises(ModelError, match=f"(?s)lifter.toml: .*{words}"):
        sidecar(tmp_path, text)


def test_a_model_file_without_robot_takes_no_settings_of_robots() -> None:
    with pytest.raises(ModelError, match="no key or parameter 'mimic'"):
        pliant.load(EXAMPLES / "arm.toml", mimic="free")


def test_the_command_line_reaches_the_settings_and_the_options(tmp_path: Path) -> None:
    words = ("--set", "base=floating", "--set", "gravity=0,0,0", "--set", "inertia=keep", "--set", "duration=0.1")
    robot = ROBOTS / "solo12.urdf"
    done = pliant_command("run", str(robot), *words, "--out", "here", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    summary = (tmp_path / "here" / "summary.json").read_text()
    assert '"gravity": "0,0,0"' in summary
    assert (tmp_path / "here" / "report.html").exists()


def test_a_wrong_setting_on_the_command_line_ends_with_a_message_and_no_folder(tmp_path: Path) -> None:
    for setting, words in (("bas=floating", "did you mean 'base'"), ("base=flying", '"flying" is not known')):
        done = pliant_command("run", str(EXAMPLES / "lifter.urdf"), "--set", setting, "--out", "here", cwd=tmp_path)
        assert done.returncode == 2
        assert words in done.stderr
        assert "Traceback" not in done.stderr
        assert not (tmp_path / "here").exists()


GRIPPER = """
<robot name="gripper">
  <link name="palm">{body}</link>
  <link name="driver">{body}</link>
  <link name="follower">{body}</link>
  <link name="pad">{body}</link>
  <joint name="drive" type="continuous"><parent link="palm"/><child link="driver"/><axis xyz="0 0 1"/></joint>
  <joint name="follow" type="continuous">
    <parent link="palm"/><child link="follower"/><origin xyz="0 0.04 0"/><axis xyz="0 0 1"/>
  </joint>
  <joint name="tip" type="continuous">
    <parent link="driver"/><child link="pad"/><origin xyz="0.1 0 0"/><axis xyz="0 0 1"/>
  </joint>
</robot>
""".format(
    body='<inertial><origin xyz="0.05 0 0"/><mass value="0.1"/>'
    '<inertia ixx="1e-5" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial>'
)
PIN = """
robot = "gripper.urdf"
gravity = [0, -9.81, 0]
keep = ["drive"]
[[joints]]
name = "drive"
q0 = 0.4
[[loops]]
name = "pin"
kind = "revolute"
first = { body = "follower", position = [0.1, 0, 0] }
second = { body = "pad", position = [0, 0.04, 0] }
"""
SOFT = """
[[flexible]]
link = "follower"
to = [0.1, 0, 0]
section = { kind = "round-tube", outer_radius = 0.004, inner_radius = 0.003 }
material = { young = 2e9, density = 1000 }
modes = 1
"""


def test_loops_of_a_sidecar_close_the_tree_of_a_robot_file(tmp_path: Path) -> None:
    (tmp_path / "gripper.urdf").write_text(GRIPPER)
    (tmp_path / "gripper.toml").write_text(PIN)
    model = pliant.load(tmp_path / "gripper.toml")
    found = pliant.simulate(model, 0.2)
    drive, tip, follow = found.q.T
    # a parallelogram: both cranks rotate alike, the pad does not rotate. It passes its dead point, drive = -pi/2, near
    # which rounding of the loop is divided by the distance to it
    from_dead_point = np.abs(np.cos(drive))
    assert (follow - drive) * from_dead_point == pytest.approx(0.0 * drive, abs=1e-13)
    assert (drive + tip) * from_dead_point == pytest.approx(0.0 * drive, abs=1e-13)


def test_loops_move_to_the_sections_of_a_link_that_has_become_flexible(tmp_path: Path) -> None:
    (tmp_path / "gripper.urdf").write_text(GRIPPER)
    (tmp_path / "gripper.toml").write_text(PIN + SOFT)
    model = pliant.load(tmp_path / "gripper.toml")
    first = model.loops[0].first
    assert isinstance(first, Frame)
    assert first.body == "follower_beam"
    assert first.position == pytest.approx((0.1, 0.0, 0.0))
    found = pliant.simulate(model, 0.05)
    assert found.audit["constraint_drift"] < 1e-14
    # the cranks are parallel but for what the beam bends
    gap = abs(found.q[:, 2] - found.q[:, 0])
    assert 1e-6 < gap.max() < 0.05

"""MJCF: the dynamics of the tree are MuJoCo's own, and what cannot be kept is refused."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.engine.prepared import Prepared
from pliant.errors import ModelError
from pliant.model.model import Model
from pliant.model.rotations import quaternion_matrix
from pliant.results.model_warnings import model_warnings
from random_models import largest, random_state

mujoco = pytest.importorskip("mujoco", reason="mujoco is not installed (pip install 'pliant[mjcf]')")

# every joint kind, several joints on one body, anchors off the origin, rotated inertias, springs with a rest, armature
TREE = """<mujoco model="tree">
  <compiler angle="radian"/>
  <option gravity="0.5 -1 -9"/>
  <worldbody>
    <body name="cart" pos="0.1 0.2 0.3" quat="0.9 0.1 0.2 0.3">
      <joint name="rail" type="slide" axis="1 0.5 0" damping="2" stiffness="30" springref="0.2" armature="0.4"/>
      <geom type="box" size="0.2 0.1 0.05" pos="0.02 0 0.01" euler="0.1 0.2 0.3" mass="2"/>
      <body name="arm" pos="0 0 0.1">
        <joint name="yaw" type="hinge" axis="0 0 1" pos="0.05 0.02 0" armature="0.1" damping="0.3"/>
        <joint name="pitch" type="hinge" axis="0 1 0.3" pos="0.01 0 0.04" ref="0.3" stiffness="5" springref="0.1"/>
        <geom type="capsule" fromto="0 0 0 0.4 0.1 0.2" size="0.03" mass="1"/>
        <body name="ball" pos="0.4 0.1 0.2">
          <joint name="socket" type="ball" pos="0.01 0.02 0.03" damping="0.1" stiffness="2"/>
          <geom type="ellipsoid" size="0.05 0.07 0.1" pos="0 0 -0.1" mass="0.7"/>
          <body name="welded" pos="0 0.1 0" quat="0.5 0.5 0.5 -0.5">
            <geom type="cylinder" size="0.03 0.1" mass="0.4"/>
          </body>
        </body>
      </body>
    </body>
    <body name="drone" pos="1 2 3" quat="0.1 0.2 0.3 0.4">
      <freejoint name="free"/>
      <geom type="box" size="0.1 0.2 0.05" pos="0.02 0.01 0" mass="1.5"/>
      <body name="rotor" pos="0.1 0 0.1">
        <joint name="spin" axis="0 1 1"/>
        <geom type="cylinder" size="0.1 0.01" mass="0.2"/>
      </body>
    </body>
  </worldbody>
</mujoco>"""


class Twin:
    """The same state in MuJoCo. Its free joints move in world axes: v_mj = A(q) v."""

    def __init__(self, path: Path, model: Model) -> None:
        self.model = model
        self.robot = mujoco.MjModel.from_xml_path(str(path))
        self.data = mujoco.MjData(self.robot)
        self.rows = [(link, self.robot.joint(link.joint.name)) for link in model.links if link.joint.row.velocities]

    def put(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sets the state; A and Adot v."""
        A, bias = np.zeros((self.robot.nv, len(v))), np.zeros(self.robot.nv)
        for link, joint in self.rows:
            part, rate = q[link.q_slice], v[link.v_slice]
            k, j = joint.qposadr[0], joint.dofadr[0]
            A[j : j + len(rate), link.v_slice] = np.eye(len(rate))
            if link.joint.kind in ("spherical", "floating"):
                self.data.qpos[k + len(part) - 4 : k + len(part)] = part[[-1, -4, -3, -2]]
            if link.joint.kind == "floating":
                R = quaternion_matrix(part[3:])
                self.data.qpos[k : k + 3] = part[:3]
                A[j : j + 3, link.v : link.v + 3] = R
                bias[j : j + 3] = R @ np.cross(rate[3:], rate[:3])
            elif link.joint.kind != "spherical":
                self.data.qpos[k] = part[0] + self.robot.qpos0[k]
        self.data.qvel[:] = A @ v
        mujoco.mj_forward(self.robot, self.data)
        return A, bias

    def equations(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """M and h of M vdot + h = tau, with springs and dampers in h."""
        A, bias = self.put(q, v)
        M = np.zeros((self.robot.nv, self.robot.nv))
        for k, unit in enumerate(np.eye(self.robot.nv)):
            mujoco.mj_mulM(self.robot, self.data, M[k], unit)
        return A.T @ M @ A, A.T @ (M @ bias + self.data.qfrc_bias - self.data.qfrc_passive)


def without_friction(model: Model) -> Model:
    from dataclasses import replace

    return replace(model, joints=tuple(replace(joint, friction=None) for joint in model.joints))


def compare(path: Path, model: Model) -> dict[str, float]:
    model = without_friction(model)
    twin, handle = Twin(path, model), Prepared(model)
    q, v, vdot, tau = random_state(model, np.random.default_rng(5))
    M, h = twin.equations(q, v)
    wanted, found = M @ vdot + h, handle.forward_dynamics(q, v, tau)
    return {
        "mass matrix": largest(handle.mass_matrix(q) - M) / largest(M),
        "inverse": largest(handle.inverse_dynamics(q, v, vdot) - wanted) / largest(wanted),
        "residual": largest(M @ found + h - tau) / (largest(np.abs(M) @ np.abs(found)) + largest(h) + largest(tau)),
    }


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    path = tmp_path / "tree.xml"
    path.write_text(TREE)
    return path


def test_the_dynamics_of_every_joint_kind_are_mujocos(tree: Path) -> None:
    """Rounding over seven bodies, and what MuJoCo's unit quaternions and axes carry: seen 1e-15."""
    found = compare(tree, pliant.load(tree))
    assert max(found.values()) < 1e-12, found


def test_bodies_are_where_mujoco_has_them(tree: Path) -> None:
    model = pliant.load(tree)
    twin = Twin(tree, model)
    q, v, *_ = random_state(model, np.random.default_rng(2))
    twin.put(q, v)
    names = ("cart", "arm", "ball", "welded", "drone", "rotor")
    R, p = Prepared(model).placements(q[None, :], names)
    for k, name in enumerate(names):
        assert largest(p[0, k] - twin.data.body(name).xpos) < 1e-13
        assert largest(R[0, k].ravel() - twin.data.body(name).xmat) < 1e-13


def test_the_file_gives_gravity_and_the_start_unless_told_otherwise(tree: Path) -> None:
    model = pliant.load(tree)
    assert model.gravity == (0.5, -1.0, -9.0)
    assert pliant.load(tree, gravity="0,0,0").gravity == (0.0, 0.0, 0.0)
    twin = Twin(tree, model)
    twin.put(model.q0, model.v0)
    assert largest(twin.data.qpos - twin.robot.qpos0) < 1e-15


def test_a_body_of_two_joints_hangs_on_bodies_without_mass(tree: Path) -> None:
    model = pliant.load(tree)
    chain = {joint.child: joint.name for joint in model.joints}
    assert chain["arm_yaw"] == "yaw"
    assert chain["arm_pitch"] == "pitch"
    assert chain["arm"] == "arm_weld"


HINGE = '<body name="b"><joint name="j" {}/><geom size="0.1" mass="1"/></body>'
PLAIN = HINGE.format("")
REFUSED = {
    "equality": (PLAIN, '<equality><joint joint1="j" polycoef="0 1 0 0 0"/></equality>', "1 equality constraint"),
    "tendon": (PLAIN, '<tendon><fixed><joint joint="j" coef="1"/></fixed></tendon>', "1 tendon"),
    "servo": (PLAIN, '<actuator><position joint="j" kp="5"/></actuator>', "1 actuator with bias"),
    "fluid": (PLAIN, '<option density="1.2"/>', "1 fluid"),
    "compensation": (PLAIN.replace('"b"', '"b" gravcomp="1"'), "", "1 body with gravity compensation"),
}


def written(folder: Path, body: str, more: str = "") -> Path:
    path = folder / "r.xml"
    path.write_text(f'<mujoco><compiler angle="radian"/><worldbody>{body}</worldbody>{more}</mujoco>')
    return path


@pytest.mark.parametrize("name", REFUSED)
def test_what_acts_and_cannot_be_kept_is_refused_or_dropped(name: str, tmp_path: Path) -> None:
    body, more, words = REFUSED[name]
    path = written(tmp_path, body, more)
    with pytest.raises(ModelError, match=f"r.xml: it has {words}.*unsupported = drop"):
        pliant.load(path)
    assert pliant.load(path, unsupported="drop").velocities == ("j",)


def test_a_motor_without_bias_is_left_to_the_user(tmp_path: Path) -> None:
    assert pliant.load(written(tmp_path, PLAIN, '<actuator><motor joint="j"/></actuator>')).joints[0].motor is None


def test_ranges_and_dry_friction_are_the_joints(tmp_path: Path) -> None:
    path = written(tmp_path, HINGE.format('range="-0.5 1" ref="0.2" frictionloss="0.3"'))
    joint = pliant.load(path, limits="stop").joints[0]
    assert joint.friction == pliant.Friction("coulomb", mu_k=1.0, load=0.3)
    assert (joint.limit.lower, joint.limit.upper) == (-0.7, 0.8)
    assert [one.value for one in pliant.load(path).crossings] == [-0.7, 0.8]


def test_a_body_held_by_the_world_can_float(tmp_path: Path) -> None:
    path = written(tmp_path, '<body name="hub" pos="0 0 1"><geom size="0.1" mass="1"/></body>')
    assert pliant.load(path).velocities == ()
    assert pliant.load(path, base="floating").base == pliant.Base("floating", (0.0, 0.0, 1.0))
    with pytest.raises(ModelError, match=r"floating needs one body in the world, without joints; found: b \(with"):
        pliant.load(written(tmp_path, PLAIN), base="floating")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<robot/>", "there is no <mujoco> in it"),
        ("<mujoco><worldbody><body/></mujoco>", "MuJoCo cannot read it"),
        ("<mujoco/>", "no bodies in its world"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><mujoco/>', "document type"),
    ],
)
def test_a_mistake_in_the_file_is_told(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "r.xml").write_text(text)
    with pytest.raises(ModelError, match=f"r.xml: .*{words}"):
        pliant.load(tmp_path / "r.xml")


def test_without_mujoco_the_message_says_what_to_install(tree: Path, monkeypatch: Any) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(ModelError, match=r"pip install 'pliant\[mjcf\]'"):
        pliant.load(tree)


def test_warnings_of_mujoco_leave_no_log_file_behind(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    pliant.load(
        written(
            tmp_path,
            PLAIN.replace("<geom", '<geom type="box"').replace("0.1", "0.1 0.1 0.1"),
            '<compiler settotalmass="2"/>',
        )
    )
    assert [path.name for path in tmp_path.iterdir()] == ["r.xml"]


def test_an_included_file_may_lie_in_another_folder_and_name_others(tmp_path: Path) -> None:
    """Every order of files and folders; as MuJoCo, from the folder of the main file."""
    (tmp_path / "parts" / "more").mkdir(parents=True)
    geom = '<geom size="0.1" mass="1"/>'
    hinge = '<body name="{0}" pos="1 0 0"><joint name="{0}_joint" axis="0 1 0"/>' + geom + "{1}</body>"
    names = ["parts/arm.xml", "parts/more/hand.xml", "parts/more/finger.xml"]
    for k, name in enumerate(names):
        inner = f'<include file="{names[k + 1]}"/>' if k + 1 < len(names) else ""
        (tmp_path / name).write_text(f"<mujoco>{hinge.format(f'body{k}', inner)}</mujoco>")
    path = tmp_path / "main.xml"
    path.write_text(f'<mujoco><worldbody><include file="{names[0]}"/></worldbody></mujoco>')
    assert pliant.load(path).velocities == ("body0_joint", "body1_joint", "body2_joint")


LEGS = """<body name="torso" pos="0 0 1"><freejoint/><geom name="trunk" size="0.1" mass="1"/>
  <body name="leg" pos="0 0 -0.3"><joint name="hip" axis="0 1 0"/><geom name="shin" size="0.05" mass="1"/>
    <body name="foot" pos="0 0 -0.3"><joint name="ankle" axis="0 1 0"/><geom size="0.05" mass="0.2" {0}/></body>
  </body></body>"""


def heard(path: Path) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        pliant.load(path)
    return [str(one.message) for one in found]


def test_contacts_and_actuators_that_are_left_out_are_named(tmp_path: Path) -> None:
    floor = '<geom name="floor" type="plane" size="1 1 1"/>'
    motors = '<actuator><motor name="drive" joint="hip"/><motor joint="ankle"/></actuator>'
    contacts, actuators = heard(written(tmp_path, floor + LEGS.format(""), motors))
    assert contacts.startswith(
        "r.xml: contacts of its geoms are left out (floor, trunk, shin, foot); a model touches by"
    )
    assert actuators.startswith("r.xml: its actuators are left out (drive, actuator1); give joints motors or control")


@pytest.mark.parametrize(
    ("body", "more", "names"),
    [
        (PLAIN, "", None),  # one body and no floor
        (LEGS.format(""), "", "trunk, foot"),  # neighbours do not touch
        (LEGS.format('contype="0" conaffinity="0"'), "", None),  # it is only seen
        (LEGS.format(""), '<contact><exclude body1="torso" body2="foot"/></contact>', None),
        (LEGS.format(""), '<option><flag contact="disable"/></option>', None),
        (
            LEGS.format('contype="0" conaffinity="0" name="sole"'),
            '<contact><pair geom1="trunk" geom2="sole"/></contact>',
            "trunk, sole",
        ),
    ],
)
def test_only_geoms_that_would_touch_are_named(body: str, more: str, names: str | None, tmp_path: Path) -> None:
    found = heard(written(tmp_path, body, more))
    assert [f"({names})" in words for words in found] == ([] if names is None else [True])


def test_a_free_body_that_starts_upside_down_is_not_asked_about(tmp_path: Path) -> None:
    """MuJoCo's quaternion (0, 1, 0, 0) is half a revolution about x, and no mistake."""
    path = written(tmp_path, '<body name="top" quat="0 1 0 0"><freejoint/><geom size="0.1" mass="1"/></body>')
    model = pliant.load(path)
    assert model.q0[3:] == pytest.approx([1.0, 0.0, 0.0, 0.0])
    assert [*model_warnings(model)] == []

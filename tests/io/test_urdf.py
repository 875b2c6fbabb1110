"""URDF: the dynamics are Pinocchio's own reading of the file, and every mistake in a file is reported in words."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant
from paths import EXAMPLES, ROBOTS
from pinocchio_urdf import UrdfTwin
from pliant.engine.prepared import Prepared
from pliant.errors import ModelError
from pliant.io.toml import load_model, save_model
from pliant.model.model import Model
from pliant.view.picture.robot import write_picture
from pliant.view.picture.skeleton import Shell, skeleton
from random_models import largest, random_state

FILES = ("every_joint.urdf", "panda.urdf", "solo12.urdf", "ur5.urdf")

# 1e-10 of the largest entry is what is promised; sums over up to 30 bodies round to 1e-14. Forward dynamics carries the
# condition of M on top, up to 1e6 here: 1e-16 x 1e6
PROMISED = 1e-10


def shared_robots() -> list[Any]:
    """The robots of the package example-robot-data, if it is installed (130 MB, so it is in no extra)."""
    folder = Path(sys.prefix, "lib", f"python3.{sys.version_info.minor}", "site-packages", "cmeel.prefix", "share")
    found = sorted(folder.glob("example-robot-data/robots/*/*/*.urdf"))
    if not found:
        return [pytest.param(None, marks=pytest.mark.skip(reason="example-robot-data is not installed"))]
    # an empty file; thumbs without mass; a root called world, whose frame floats in Pinocchio
    unusual = ("ur3.urdf", "romeo.urdf", "romeo_laas_small.urdf", "TwoDofs.urdf")
    still = ("iris.urdf", "iris_simple.urdf", "quadrotor_base.urdf")  # one body: nothing moves on a fixed base
    return [pytest.param(path, id=path.stem) for path in found if path.name not in (*unusual, *still)]


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("name", FILES)
def test_dynamics_are_those_pinocchio_finds_in_the_same_file(name: str, base: str) -> None:
    twin = UrdfTwin(ROBOTS / name, base, mimic="free")
    for seed in range(3):
        found = twin.differences(np.random.default_rng(seed))
        assert all(found[key] < PROMISED for key in found if key != "condition"), found


@pytest.mark.parametrize("path", shared_robots())
def test_robots_of_example_robot_data_have_pinocchios_dynamics(path: Path) -> None:
    for base in ("fixed", "floating"):
        twin = UrdfTwin(path, base, mimic="free", inertia="keep")
        found = twin.differences(np.random.default_rng(7))
        # some inertias of these files are no body's, and M may then be close to singular
        allowed = {"forward": max(PROMISED, 1e-15 * found["condition"])}
        assert all(found[key] < allowed.get(key, PROMISED) for key in found if key != "condition"), (base, found)


def test_links_and_frames_are_where_pinocchio_has_them() -> None:
    twin = UrdfTwin(ROBOTS / "every_joint.urdf")
    q, *_ = random_state(twin.model, np.random.default_rng(3))
    pin = twin.pin
    pin.framesForwardKinematics(twin.robot, twin.data, twin.q(q))
    names = [body.name for body in twin.model.bodies] + [frame.name for frame in twin.model.frames]
    R, p = Prepared(twin.model).placements(q[None, :], names)
    for k, name in enumerate(names):
        wanted = twin.data.oMf[twin.robot.getFrameId(name)]
        assert largest(p[0, k] - wanted.translation) < 1e-13
        assert largest(R[0, k] - wanted.rotation) < 1e-13


ROBOT = """<robot name="r">
  <link name="base"/>
  <joint name="j" type="{kind}"><parent link="base"/><child link="arm"/>
    <origin xyz="0.1 0 0" rpy="0 0 0.5"/><axis xyz="{axis}"/>{more}</joint>
  <link name="arm"><inertial><origin xyz="0.3 0 0.1" rpy="0.2 0 0"/><mass value="2"/>
    <inertia ixx="0.1" iyy="0.2" izz="0.25" ixy="0.01" ixz="0" iyz="0"/></inertial></link>
</robot>"""


def robot(tmp_path: Path, kind: str = "revolute", axis: str = "0 0 1", more: str = "", **settings: Any) -> Model:
    path = tmp_path / "r.urdf"
    path.write_text(ROBOT.format(kind=kind, axis=axis, more=more))
    return pliant.load(path, **settings)


@pytest.mark.parametrize("xyz", [(1, 2, 2), (0, 0, -1), (0, 0, 2), (0, 3, 0)])
def test_a_planar_joint_slides_across_its_axis_and_turns_about_it(xyz: tuple[int, ...], tmp_path: Path) -> None:
    """In the plane of a skew axis: moving the coordinates keeps the height along the axis and the angle to it."""
    model = robot(tmp_path, "planar", " ".join(map(str, xyz)))
    handle = Prepared(model)
    turned = pliant.RollPitchYaw(yaw=0.5)
    axis = pliant.model.bodies.attitude_matrix(turned) @ np.array(xyz) / np.linalg.norm(xyz)
    rows = np.array([[0, 0, 0], [0.3, -0.2, 0.7], [-1.0, 0.5, 2.0]])
    R, p = handle.placements(rows, ["arm"])
    start = pliant.model.bodies.attitude_matrix(turned)
    assert largest(R[0, 0] - start) < 1e-15
    assert largest(p[0, 0] - [0.1, 0, 0]) < 1e-15
    for k in range(3):
        assert abs((p[k, 0] - p[0, 0]) @ axis) < 1e-15
        assert np.isclose(np.linalg.norm(p[k, 0] - p[0, 0]), np.linalg.norm(rows[k, :2]), atol=1e-15)
        wanted = pliant.model.rotations.rotation_matrix(axis, rows[k, 2])
        assert largest(R[k, 0] @ R[0, 0].T - wanted) < 1e-14


def test_limits_are_recorded_end_the_run_stop_the_joint_or_are_ignored(tmp_path: Path) -> None:
    limit = '<limit lower="-0.5" upper="0.25" effort="1" velocity="1"/>'
    recorded = robot(tmp_path, more=limit)
    assert [(one.name, one.of, one.value, one.direction) for one in recorded.crossings] == [
        ("j_lower", "j", -0.5, "falling"),
        ("j_upper", "j", 0.25, "rising"),
    ]
    assert recorded.joints[0].limit is None
    assert robot(tmp_path, more=limit, limits="end").joints[0].limit == pliant.Limit(-0.5, 0.25)
    stop = robot(tmp_path, more=limit, limits="stop", stop_stiffness="500").joints[0].limit
    assert stop == pliant.Limit(-0.5, 0.25, stiffness=500.0, damping=10.0)
    ignored = robot(tmp_path, more=limit, limits="ignore")
    assert ignored.joints[0].limit is None
    assert not ignored.crossings


def test_a_run_that_ends_at_limits_starts_between_them(tmp_path: Path) -> None:
    model = robot(tmp_path, more='<limit lower="1" upper="2" effort="1" velocity="1"/>', limits="end")
    assert model.joints[0].q0 == 1.5


def test_damping_and_friction_are_the_joints(tmp_path: Path) -> None:
    joint = robot(tmp_path, more='<dynamics damping="0.5" friction="0.2"/>').joints[0]
    assert joint.damping == 0.5
    assert joint.friction == pliant.Friction("coulomb", mu_k=1.0, load=0.2)


def test_mimic_is_refused_unless_told_what_to_do(tmp_path: Path) -> None:
    mimic = '<mimic joint="other" multiplier="2"/>'
    with pytest.raises(ModelError, match=r'mimics "other".*mimic = free'):
        robot(tmp_path, more=mimic)
    assert robot(tmp_path, more=mimic, mimic="free").joints[0].kind == "revolute"
    assert robot(tmp_path, more=mimic, mimic="fixed").joints[0].kind == "fixed"


def test_a_root_called_world_is_the_world_and_floating_frees_what_it_holds(tmp_path: Path) -> None:
    text = (ROBOTS / "every_joint.urdf").read_text()
    world = '<link name="world"/><joint name="tie" type="fixed"><parent link="world"/><child link="stand"/>'
    path = tmp_path / "r.urdf"
    path.write_text(text.replace('<link name="stand">', f'{world}<origin xyz="0 0 2"/></joint><link name="stand">'))
    fixed, free = pliant.load(path), pliant.load(path, base="floating")
    assert fixed.joints[0].parent == pliant.Frame("world", (0, 0, 2.0))
    assert free.base == pliant.Base("floating", (0.0, 0.0, 2.0))
    assert len(free.velocities) == len(fixed.velocities) + 6


def test_links_without_mass_become_frames_and_what_hangs_on_them_hangs_on_their_carrier() -> None:
    model = pliant.load(ROBOTS / "every_joint.urdf")
    assert {frame.name: frame.body for frame in model.frames} == {"flange": "stand", "tool": "hand", "tip": "hand"}
    shoulder = next(joint for joint in model.joints if joint.name == "shoulder")
    assert shoulder.parent.body == "stand"


def test_what_is_seen_is_kept_as_triangles_in_body_axes() -> None:
    model = pliant.load(ROBOTS / "every_joint.urdf")
    bodies = {body.name: body for body in model.bodies}
    upper = np.array(bodies["upper"].visual[0].points)
    assert np.allclose([upper[:, 0].min(), upper[:, 0].max()], [0.0, 0.4], atol=1e-6)
    assert np.allclose(np.abs(upper[:, 1:]).max(axis=0), 0.03, atol=1e-6)
    assert len(bodies["stand"].visual) == 2  # its own, and that of the frame it carries
    assert len(bodies["fore"].visual) == 1  # what collides, where nothing is to be seen


def test_the_picture_of_a_robot_shows_the_outlines_of_what_is_seen(tmp_path: Path) -> None:
    model = pliant.load(EXAMPLES / "lifter.urdf")
    parts = skeleton(model)
    seen = [part for of_body in parts for part in of_body if isinstance(part, Shell)]
    assert len(seen) == len(model.bodies)
    write_picture(pliant.simulate(model, 0.01), tmp_path / "robot.svg", t=0.01)
    assert (tmp_path / "robot.svg").read_text().count('class="right"') > 0


def test_an_inertia_that_no_body_has_is_kept_if_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "r.urdf"
    inertial = '<inertial><mass value="{}"/><inertia ixx="1" iyy="0.1" izz="0.1"/></inertial>'
    for mass in (2.0, 0.0):
        path.write_text(f'<robot><link name="a">{inertial.format(mass)}</link></robot>')
        body = pliant.load(path, inertia="keep").bodies[0]
        assert body.total_mass == mass
        assert np.array_equal(np.diag(body.inertia_about_centre), [1.0, 0.1, 0.1])


def test_a_robot_saved_as_a_model_file_loads_as_the_same_model(tmp_path: Path) -> None:
    model = pliant.load(ROBOTS / "every_joint.urdf", limits="stop")
    save_model(model, tmp_path / "r.toml")
    assert load_model(tmp_path / "r.toml") == model


# --- mistakes -----------------------------------------------------------------------------------------------------

BOMB = """<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]><robot name="&c;"><link name="a"/></robot>"""
OUTSIDE = '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/hostname">]><robot name="&x;"><link name="a"/></robot>'
TWO = '<link name="a"/><link name="b"/>'


def tie(name: str = "j", parent: str = "a", child: str = "b", kind: str = "revolute", more: str = "") -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{more}</joint>'


def tag(name: str, **attributes: Any) -> str:
    return f"<{name} {' '.join(f'{key}={str(value)!r}' for key, value in attributes.items())}/>"


MISTAKES = {
    "an entity bomb": (BOMB, "document type.*remove it"),
    "an entity from outside": (OUTSIDE, "document type.*remove it"),
    "no XML": ("robot = 3", "this is no XML"),
    "a tag left open": ("<robot><link name='a'></robot>", "check that every tag is closed"),
    "another format": ("<sdf version='1.6'/>", "its root is <sdf>"),
    "another root": ("<html/>", "its root is <html>; a URDF file has <robot"),
    "macros": (
        '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:include filename="x"/></robot>',
        "xacro macros.*expand them first: xacro robot.urdf.xacro > robot.urdf",
    ),
    "macros without a namespace": ("<robot><xacro:include filename='x'/></robot>", "xacro macros.*expand them first"),
    "a value of a macro": (
        "<robot name='r'><link name='${prefix}a'/></robot>",
        r"xacro macros \(name=.*prefix.*expand them first",
    ),
    "no links": ("<robot/>", "no links"),
    "a link without name": ("<robot><link/></robot>", "link number 1 has no name"),
    "one name twice": (f"<robot>{TWO}{TWO}</robot>", "two links have this name"),
    "an unknown type": (
        f"<robot>{TWO}{tie(kind='revolut')}</robot>",
        "\"revolut\" is not known; did you mean 'revolute'",
    ),
    "no parent": (f'<robot>{TWO}<joint name="j" type="fixed"><child link="b"/></joint></robot>', "it has no parent"),
    "an unknown link": (f"<robot>{TWO}{tie(child='c')}</robot>", "child link 'c' does not exist.*a, b"),
    "two roots": (f"<robot>{TWO}</robot>", "links a, b have no parent"),
    "two parents": (f'<robot>{TWO}<link name="c"/>{tie()}{tie("k", "c")}</robot>', "child of joints 'j' and 'k'"),
    "a circle": (f"<robot>{TWO}{tie()}{tie('k', 'b', 'a')}</robot>", "stand in a circle"),
    "a circle beside the tree": (
        f'<robot><link name="r"/>{TWO}{tie()}{tie("k", "b", "a")}</robot>',
        "carry each other in a circle",
    ),
    "a link on itself": (f"<robot>{TWO}{tie(child='a')}</robot>", "circle|have no parent"),
    "an axis of zeros": ("<robot>" + TWO + tie(more=tag("axis", xyz="0 0 0")) + "</robot>", "axis .0, 0, 0. has no"),
    "two numbers": ("<robot>" + TWO + tie(more=tag("axis", xyz="0 1")) + "</robot>", 'xyz="0 1"; give 3 finite'),
    "no number": ("<robot>" + TWO + tie(more=tag("origin", rpy="0 x 1")) + "</robot>", "give 3 finite numbers"),
    "nan": ("<robot>" + TWO + tie(more=tag("origin", xyz="0 nan 1")) + "</robot>", "give 3 finite numbers"),
    "too large": ("<robot>" + TWO + tie(more=tag("origin", xyz="0 1e999 1")) + "</robot>", "give 3 finite numbers"),
    "nothing with mass moves": (
        f"<robot>{TWO}{tie()}</robot>",
        "joint 'j': it moves body 'b'.*give it an inertial .*in a sidecar",
    ),
    "limits crossed": (
        "<robot>" + TWO + tie(more=tag("limit", lower=1, upper=0)) + "</robot>",
        "lower limit 1 is above upper 0",
    ),
    "mass 0 with inertia": (
        "<robot><link name='a'><inertial><mass value='0'/><inertia ixx='1'/></inertial></link></robot>",
        "inertia but mass 0.*inertia = keep",
    ),
    "no body's inertia": (
        "<robot><link name='a'><inertial><mass value='1'/><inertia ixx='1'/></inertial></link></robot>",
        "no body has this inertia.*the setting inertia = keep",
    ),
    "negative mass": (
        "<robot><link name='a'><inertial><mass value='-1'/></inertial></link></robot>",
        "link 'a': mass -1 kg",
    ),
    "negative damping": ("<robot>" + TWO + tie(more=tag("dynamics", damping=-1)) + "</robot>", "damping -1"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_the_file_is_told_with_its_place(name: str, tmp_path: Path) -> None:
    text, words = MISTAKES[name]
    path = tmp_path / "r.urdf"
    path.write_text(text)
    with pytest.raises(ModelError, match=f"(?s)r.urdf: .*{words}"):
        pliant.load(path)


def test_an_unknown_setting_or_word_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="unknown key 'bas'; did you mean 'base'"):
        robot(tmp_path, bas="fixed")
    with pytest.raises(ModelError, match='limits: "no" is not known; allowed: record, end, stop, ignore'):
        robot(tmp_path, limits="no")
    with pytest.raises(ModelError, match="gravity"):
        robot(tmp_path, gravity="0,0")


def test_gravity_may_be_text_or_numbers(tmp_path: Path) -> None:
    assert robot(tmp_path, gravity="0, 0, -1.62").gravity == (0.0, 0.0, -1.62)
    assert robot(tmp_path, gravity=(0, 0, 0)).gravity == (0.0, 0.0, 0.0)
    assert robot(tmp_path).gravity == (0.0, 0.0, -9.81)


def test_names_of_any_characters_become_names_of_models(tmp_path: Path) -> None:
    path = tmp_path / "r.urdf"
    path.write_text(ROBOT.format(kind="revolute", axis="1 0 0", more="").replace('"arm"', '"arm/1.0 &lt;&#228;&gt;"'))
    assert pliant.load(path).bodies[1].name == "arm_1_0____"


# --- meshes -------------------------------------------------------------------------------------------------------


def stl(corners: np.ndarray) -> bytes:
    rows = np.zeros(len(corners), dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])
    rows["corners"] = corners
    return b" " * 80 + np.uint32(len(corners)).tobytes() + rows.tobytes()


SQUARE = np.array([[[0, 0, 0], [1, 0, 0], [1, 1, 0]], [[0, 0, 0], [1, 1, 0], [0, 1, 0]]], float)
TEXT = "solid s\n" + "".join(
    "facet normal 0 0 1\nouter loop\n" + "".join(f"vertex {x} {y} {z}\n" for x, y, z in face) + "endloop\nendfacet\n"
    for face in SQUARE
)
MESHES = {
    "square.stl": stl(SQUARE),
    "square_text.stl": TEXT.encode(),
    "square.obj": b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1/1/1 2/2/2 3/3/3 4/4/4\n",
}

COLLADA = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="meter" meter="1"/><up_axis>Z_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="a" count="9">0 0 0 1 0 0 1 1 0</float_array><technique_common>
<accessor source="#a" count="3" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node><instance_geometry url="#g"/></node></visual_scene>
</library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>"""


@pytest.mark.parametrize("way", ["package://shapes/{}", "../shapes/{}", "file://{}"])
@pytest.mark.parametrize("name", MESHES)
def test_meshes_are_found_by_package_relative_and_whole_paths(name: str, way: str, tmp_path: Path) -> None:
    for folder in ("shapes", "urdf"):
        (tmp_path / folder).mkdir()
    mesh = tmp_path / "shapes" / name
    mesh.write_bytes(MESHES[name])
    filename = way.format(mesh if way.startswith("file") else name)
    visual = f'<visual><geometry><mesh filename="{filename}" scale="2 2 2"/></geometry></visual>'
    (tmp_path / "urdf" / "r.urdf").write_text(f'<robot><link name="a">{visual}</link></robot>')
    (surface,) = pliant.load(tmp_path / "urdf" / "r.urdf").bodies[0].visual
    assert np.allclose(np.ptp(surface.points, axis=0), [2, 2, 0])
    assert len(surface.faces) == 2


@pytest.mark.parametrize("content", [b"", b"x" * 83, b"x" * 84, stl(SQUARE)[:-3], b"v 1 2\nf 1 2 9\n", b"\xff\xfe\x00"])
@pytest.mark.parametrize("suffix", ["stl", "obj", "dae", "txt"])
@pytest.mark.filterwarnings("ignore:.*not drawn")
def test_a_mesh_that_cannot_be_read_is_not_seen_and_harms_nothing(suffix: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / f"m.{suffix}").write_bytes(content)
    visual = f'<visual><geometry><mesh filename="m.{suffix}"/></geometry></visual>'
    (tmp_path / "r.urdf").write_text(f'<robot><link name="a">{visual}</link></robot>')
    assert pliant.load(tmp_path / "r.urdf").bodies[0].visual == ()


@pytest.mark.filterwarnings("ignore:.*not drawn")
def test_geometry_with_wrong_numbers_is_not_seen_and_harms_nothing(tmp_path: Path) -> None:
    (tmp_path / "nan.stl").write_bytes(stl(np.full((3, 3, 3), np.nan)))
    for shape in ('<box size="1 1"/>', '<sphere radius="-1"/>', '<mesh filename="nan.stl"/>', "<torus/>", ""):
        visual = f"<visual><geometry>{shape}</geometry></visual>"
        (tmp_path / "r.urdf").write_text(f'<robot><link name="a">{visual}</link></robot>')
        assert pliant.load(tmp_path / "r.urdf").bodies[0].visual == ()


@pytest.mark.filterwarnings("ignore:.*not drawn")
def test_collada_is_read_from_memory_and_not_with_entities(tmp_path: Path) -> None:
    pytest.importorskip("trimesh", reason="trimesh is not installed (pip install 'pliant[urdf]')")
    pytest.importorskip("collada", reason="pycollada is not installed (pip install 'pliant[urdf]')")
    visual = '<visual><geometry><mesh filename="m.dae"/></geometry></visual>'
    (tmp_path / "r.urdf").write_text(f'<robot><link name="a">{visual}</link></robot>')
    (tmp_path / "m.dae").write_text(COLLADA)
    (surface,) = pliant.load(tmp_path / "r.urdf").bodies[0].visual
    assert np.allclose(np.ptp(surface.points, axis=0), [1, 1, 0])
    (tmp_path / "m.dae").write_text('<!DOCTYPE a [<!ENTITY x "y">]>' + COLLADA)
    assert pliant.load(tmp_path / "r.urdf").bodies[0].visual == ()


def test_large_meshes_keep_their_extent_with_few_triangles(tmp_path: Path) -> None:
    turn, height = np.meshgrid(np.linspace(0, 2 * np.pi, 200), np.linspace(0, 1, 100))
    points = np.stack([np.cos(turn), np.sin(turn), height], axis=-1)
    a, b, c = points[:-1, :-1], points[1:, :-1], points[1:, 1:]
    (tmp_path / "m.stl").write_bytes(stl(np.stack([a, b, c], axis=2).reshape(-1, 3, 3)))
    visual = '<visual><geometry><mesh filename="m.stl"/></geometry></visual>'
    (tmp_path / "r.urdf").write_text(f'<robot><link name="a">{visual}</link></robot>')
    (surface,) = pliant.load(tmp_path / "r.urdf").bodies[0].visual
    assert 50 < len(surface.faces) <= 300
    # cells of the grid that leaves 300 triangles are a tenth of the width or so
    assert np.allclose(np.ptp(surface.points, axis=0), [2, 2, 1], atol=0.25)


def test_reading_a_robot_loads_nothing_heavy() -> None:
    code = f"import sys, pliant\npliant.load({str(ROBOTS / 'panda.urdf')!r}, mimic='free')\nprint(*sys.modules)"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    assert not loaded & {"numba", "scipy", "xarray", "matplotlib", "plotly", "trimesh", "mujoco", "h5py"}

"""Files that somebody else wrote: nothing hangs, nothing takes the machine, no code runs unless the user says so."""

from __future__ import annotations

import os
import struct
import warnings
from pathlib import Path

import numpy as np
import pytest

import pliant
from command_line import Done, pliant_command
from paths import EXAMPLES
from pliant import Body, Controller, Joint, Model, Rod
from pliant.errors import ModelError
from pliant.io import limited, meshes, plain_file
from pliant.io.limited import run_limited
from pliant.io.toml import _parse

ARM = """name = "arm"
duration = 0.1

[[bodies]]
name = "link"
mass = 1.0
shape = { kind = "rod", length = 1.0 }

[[joints]]
name = "elbow"
kind = "revolute"
child = "link"
"""
SERVO = '\n[[controllers]]\nname = "servo"\nperiod = 0.05\njoints = ["elbow"]\nfunction = "{}:law"\n'
LAW = "from pathlib import Path\nPath(__file__).with_name('ran').touch()\ndef law(t, measured):\n    return 0.0\n"


@pytest.fixture
def robot(tmp_path: Path) -> Path:
    """A model file with a controller whose code leaves a trace."""
    folder = tmp_path / "robot"
    folder.mkdir()
    (folder / "control.py").write_text(LAW)
    (folder / "arm.toml").write_text(ARM + SERVO.format("control.py"))
    return folder / "arm.toml"


def command(*words: str | Path, folder: Path) -> Done:
    return pliant_command(*map(str, words), cwd=folder)


def refused(path: Path, *words: str, **options: object) -> str:
    """Loading ends in a short sentence that names the file and has the words."""
    with pytest.raises(ModelError) as caught:
        pliant.load(path, **options)
    message = str(caught.value)
    assert message.startswith(path.name), message
    assert len(message) < 4000, len(message)
    for word in words:
        assert word in message, message
    return message


# --- controllers ----------------------------------------------------------------------------------------------------


def test_a_model_file_runs_code_only_if_it_is_trusted(robot: Path) -> None:
    ran = robot.with_name("ran")
    refused(robot, "controller 'servo'", "'control.py'", "--trust", "trust=True")
    with pytest.raises(ModelError, match="--trust"):
        pliant.load_model(robot)
    with pytest.raises(ModelError, match="--trust"):
        pliant.load_grid(robot)
    assert not ran.exists()
    assert callable(pliant.load(robot, trust=True).controllers[0].function)
    assert ran.exists()
    assert pliant.load_grid(robot, trust=True)[1] == [pliant.load_model(robot, trust=True)]


def test_sidecars_run_code_only_if_they_are_trusted(robot: Path) -> None:
    body = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    joint = '<joint name="elbow" type="continuous"><parent link="world"/><child link="link"/></joint>'
    robot.with_suffix(".urdf").write_text(
        f'<robot name="r"><link name="world"/><link name="link">{body}</link>{joint}</robot>'
    )
    robot.write_text('robot = "arm.urdf"\n' + SERVO.format("control.py"))
    refused(robot, "controller 'servo'", "--trust")
    assert not robot.with_name("ran").exists()
    assert pliant.load(robot, trust=True).controllers[0].name == "servo"


@pytest.mark.parametrize("given", ["no", 1, None])
def test_trust_is_yes_or_no(given: object, robot: Path) -> None:
    with pytest.raises(ModelError, match=r"trust: .* give True or False"):
        pliant.load(robot, trust=given)
    assert not robot.with_name("ran").exists()


def test_the_command_line_asks_for_trust(robot: Path) -> None:
    done = command("run", robot, folder=robot.parent)
    assert done.returncode == 2
    assert "--trust" in done.stderr
    assert not robot.with_name("ran").exists()
    done = command("run", robot, "--trust", folder=robot.parent)
    assert done.returncode == 0, done.stderr
    assert robot.with_name("ran").exists()


@pytest.mark.parametrize("way", ["up", "whole path", "link", "linked folder"])
def test_no_code_is_run_from_outside_the_folder(way: str, robot: Path, tmp_path: Path) -> None:
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    (outside / "evil.py").write_text(LAW)
    file = {"up": "../elsewhere/evil.py", "whole path": f"{outside}/evil.py", "link": "evil.py"}.get(way, "sub/evil.py")
    if way == "link":
        robot.with_name("evil.py").symlink_to(outside / "evil.py")
    if way == "linked folder":
        robot.with_name("sub").symlink_to(outside)
    robot.write_text(ARM + SERVO.format(file))
    refused(robot, "outside the folder of the model file", "copy it there", trust=True)
    assert not (outside / "ran").exists()


def test_code_below_the_folder_is_run_and_compiled_files_beside_it_are_not(robot: Path) -> None:
    (robot.parent / "sub").mkdir()
    source = robot.parent / "sub" / "law.py"
    source.write_text("def law(t, measured):\n    return 1.0\n")
    import py_compile

    py_compile.compile(str(source), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    source.write_text("def law(t, measured):\n    return 2.0\n")
    robot.write_text(ARM + SERVO.format("sub/law.py"))
    assert pliant.load(robot, trust=True).controllers[0].function(0.0, None) == 2.0


CODE = [
    ("import sys; sys.exit(0)", "SystemExit: 0"),
    ("raise GeneratorExit", "GeneratorExit"),
    ("class Odd(BaseException): pass\nraise Odd('x')", "Odd: x"),
    ("x = (", "SyntaxError"),
    ("x = 1\0", "null bytes"),
    (b"\xff\xfe", "SyntaxError"),
]


@pytest.mark.parametrize(("code", "word"), CODE, ids=[word for _, word in CODE])
def test_controller_files_that_end_the_program_end_in_a_sentence(code: str | bytes, word: str, robot: Path) -> None:
    robot.with_name("control.py").write_bytes(code if isinstance(code, bytes) else code.encode())
    refused(robot, "controller 'servo'", "'control.py' cannot be imported", word, trust=True)


def test_sys_exit_in_a_controller_file_is_no_success(robot: Path) -> None:
    robot.with_name("control.py").write_text("import sys\nsys.exit(0)\n")
    done = command("run", robot, "--trust", folder=robot.parent)
    assert done.returncode == 2
    assert "SystemExit" in done.stderr


def test_a_controller_file_that_is_a_pipe_is_not_waited_for(robot: Path) -> None:
    robot.with_name("control.py").unlink()
    os.mkfifo(robot.with_name("control.py"))
    refused(robot, "'control.py' cannot be read", "a pipe or a device", trust=True)


def far_law(t: float, measured: object) -> float:
    return 0.0


def test_a_model_is_not_saved_with_code_that_would_not_be_run(tmp_path: Path) -> None:
    model = Model(
        "arm",
        [Body("link", 1.0, shape=Rod(1.0))],
        [Joint("elbow", "revolute", "link")],
        controllers=[Controller("servo", 0.1, ["elbow"], far_law)],
    )
    with pytest.raises(ModelError, match=r"servo.*test_foreign_files\.py.*save the model beside it"):
        pliant.save_model(model, tmp_path / "arm.toml")


# --- model files ----------------------------------------------------------------------------------------------------

TEXTS = {
    "dotted key": ("a" + ".a" * 20_000 + " = 1\n" + ARM, ["line 1", "more than 10 parts"]),
    "quoted dotted key": ('"\\"" . ' * 20_000 + "x = 1\n" + ARM, ["more than 10 parts"]),
    "dotted digits": ("1" + ".1" * 20_000 + " = 1\n" + ARM, ["more than 10 parts"]),
    "dotted heading": (ARM + "[a" + ".a" * 20_000 + "]\n", ["more than 10 parts"]),
    "dotted key after quotes": ('x = { s = """\n"""", ' + "a." * 20_000 + "a = 1 }\n", ["line 2", "10 parts"]),
    "keys": ("".join(f"key{i} = 1\n" for i in range(300_000)) + ARM, ["more than 250000 keys"]),
    "unknown keys": ("".join(f"key{i} = 1\n" for i in range(50_000)) + ARM, ["'key0'", "49980 more unknown keys"]),
    "values": ("x = [" + "1," * 1_100_000 + "]\n" + ARM, ["more than 1000000 values"]),
    "headings": (ARM + "[[bodies]]\n" * 300_000, ["more than 250000 keys"]),
    "wrong values": (ARM + "motor = { kind = 'table', times = [" + '"",' * 300_000 + "] }", ["motor.times[0]", "text"]),
    "digits": (ARM + "damping = " + "9" * 5000, ["more than 63 bits", "1e20"]),
    "some digits": (ARM + "damping = " + "9" * 400, ["more than 63 bits"]),
    "hexadecimal digits": (ARM + "damping = 0x" + "f" * 50_000, ["more than 63 bits"]),
    "digits of an angle": (ARM + 'q0 = "' + "1" * 200_000 + 'x1"', ["q0", "has 200002 characters"]),
    "long key": ("x" * 3_000_000 + " = 1\n" + ARM, ["unknown key 'xxx", "allowed: name"]),
    "long name": (ARM.replace('"link"', f'"{"x" * 1_000_000}"'), ["bodies[0]", "at most 80 characters"]),
    "long line": ("x = 1 " + "y" * 3_000_000 + "\n" + ARM, ["line 1, column"]),
    "escape sequences": (ARM + r'"\u001b]0;owned\u0007\u202e" = 1', [r"\x1b]0;owned\x07\u202e"]),
    "null": (ARM + 'x = "\0"', ["line 13"]),
}


@pytest.mark.parametrize("name", TEXTS)
def test_hostile_model_files_end_in_a_short_sentence(name: str, tmp_path: Path) -> None:
    """Each of these took minutes, a traceback or a message of megabytes."""
    text, words = TEXTS[name]
    path = tmp_path / "arm.toml"
    path.write_text(text)
    refused(path, *words)


def test_strings_and_numbers_are_no_long_keys() -> None:
    text = 'a.b.c = "x.x.x.x.x.x.x.x.x.x.x.x"\nd = [1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 0.5, 1.5, 2.5]\n'
    text += "e = 'it is. so. and. so. '\n" + '"f.f.f.f.f.f.f.f.f.f.f.f".g = """\n"quoted". text\n""" # don\'t "stop\n'
    assert [*_parse(Path("x.toml"), text)] == ["a", "d", "e", "f.f.f.f.f.f.f.f.f.f.f.f"]


def test_a_line_is_quoted_as_editors_count_lines(tmp_path: Path) -> None:
    """Other characters that split lines in Python do not in files."""
    (tmp_path / "arm.toml").write_bytes('# \u2028 \x85\n"x" = ?\n'.encode())
    refused(tmp_path / "arm.toml", "line 2", 'the line reads: "x" = ?')


def test_names_that_no_file_can_have_are_told(tmp_path: Path) -> None:
    for name in ("x" * 300, "x" * 300 + ".toml", "no.**", "no.[", "a\0b", "no\nfile.toml"):
        with pytest.raises(ModelError):
            pliant.load(name)


def test_a_file_that_becomes_a_pipe_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when it is exchanged between the look and the reading."""
    path = tmp_path / "arm.toml"
    os.mkfifo(path)
    monkeypatch.setattr(plain_file, "check_plain", lambda *_: None)
    with pytest.raises(ModelError, match="pipe or a device"):
        pliant.load(path)


def test_a_file_that_grows_while_it_is_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "log").write_bytes(b"x" * 11)
    monkeypatch.setattr(plain_file, "_check", lambda *_: None)
    with pytest.raises(ModelError, match="grows while it is read"):
        plain_file.read_plain(tmp_path / "log", 10)


# --- robots and their meshes ----------------------------------------------------------------------------------------

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'


def with_visual(folder: Path, *shapes: str) -> Path:
    seen = "".join(f"<visual><geometry>{shape}</geometry></visual>" for shape in shapes)
    (folder / "r.urdf").write_text(f'<robot name="r"><link name="a">{INERTIAL}{seen}</link></robot>')
    return folder / "r.urdf"


def mesh(name: str) -> str:
    return f'<mesh filename="{name}"/>'


OBJ = b"v 0 0 0\nv 1 0 0\nv 0 1 0\n"
BROKEN_MESHES = {
    "index beyond 64 bits": ("m.obj", OBJ + b"f 1 2 " + b"9" * 30, "a corner that is not there"),
    "index of 5000 digits": ("m.obj", OBJ + b"f 1 2 " + b"9" * 5000, "m.obj"),
    "index beyond the corners": ("m.obj", OBJ + b"f 1 2 9223372036854775807", "a corner that is not there"),
    "index before the first": ("m.obj", OBJ + b"f -1 -2 -5", "a corner that is not there"),
    "corner of two numbers": ("m.obj", b"v 0 0\n" + OBJ + b"f 1 2 3", "corner 1 has not three numbers"),
    "too many triangles": ("m.obj", OBJ + b"f" + b" 1 2 3" * 400_000, "more than 1000000 triangles"),
    "count that is a lie": ("m.stl", b"\0" * 80 + struct.pack("<I", 4_000_000_000) + b"\0" * 500, "no triangles"),
    "infinite": ("m.stl", b"\0" * 80 + struct.pack("<I", 1) + struct.pack("<12fH", *[np.inf] * 12, 0), "not finite"),
}


@pytest.mark.parametrize("name", BROKEN_MESHES)
def test_a_mesh_that_is_broken_is_told_and_not_drawn(name: str, tmp_path: Path) -> None:
    file, data, words = BROKEN_MESHES[name]
    (tmp_path / file).write_bytes(data)
    with pytest.warns(UserWarning, match=rf"r\.urdf: some meshes are not drawn: .*{words}"):
        assert pliant.load(with_visual(tmp_path, mesh(file))).bodies[0].visual == ()


@pytest.mark.parametrize("file", ["m.obj", "m.stl", "m.dae"])
def test_a_mesh_of_95_megabytes_of_text_is_told_at_once(file: str, tmp_path: Path) -> None:
    with (tmp_path / file).open("wb") as out:
        out.truncate(95_000_000)  # sparse: no space is taken
    with pytest.warns(UserWarning, match=r"not drawn: m\.... \(.*95"):
        pliant.load(with_visual(tmp_path, mesh(file)))


def test_a_mesh_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "m.stl")
    with pytest.warns(UserWarning, match=r"m\.stl \(this is a pipe or a device\)"):
        pliant.load(with_visual(tmp_path, mesh("m.stl")))


def test_a_mesh_shown_often_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads = []
    monkeypatch.setitem(meshes.READERS, ".obj", lambda data: reads.append(data) or meshes._read_obj(data))
    (tmp_path / "m.obj").write_bytes(OBJ + b"f 1 2 3")
    (tmp_path / "same.obj").symlink_to("m.obj")
    model = pliant.load(with_visual(tmp_path, *[mesh("m.obj"), mesh("same.obj")] * 50))
    assert len(model.bodies[0].visual) == 100
    assert len(reads) == 1


def test_meshes_that_together_take_too_long_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meshes, "MAX_TOGETHER", 1000)
    for k in range(9):
        (tmp_path / f"{k}.obj").write_bytes(OBJ + b"f 1 2 3\n")
    with pytest.warns(UserWarning, match=r"not drawn: .*taken long enough"):
        model = pliant.load(with_visual(tmp_path, *(mesh(f"{k}.obj") for k in range(9))))
    assert 1 < len(model.bodies[0].visual) < 9


def test_more_than_can_be_seen_is_told_and_left_out(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=r"r\.urdf: .* more than 100000 triangles"):
        model = pliant.load(with_visual(tmp_path, *['<sphere radius="1"/>'] * 700))
    assert 90_000 < sum(len(surface.faces) for surface in model.bodies[0].visual) <= 100_000


def test_a_robot_with_parts_beyond_all_measure_is_loaded_without_them(tmp_path: Path) -> None:
    (tmp_path / "m.obj").write_bytes(b"v 1e35 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3")
    path = with_visual(tmp_path, '<mesh filename="m.obj" scale="1e35 1 1"/>', '<box size="1 1 1"/>')
    assert len(pliant.load(path).bodies[0].visual) == 1


def test_numbers_of_many_digits_in_urdf_are_told(tmp_path: Path) -> None:
    path = tmp_path / "r.urdf"
    path.write_text(
        f'<robot name="r"><link name="a">{INERTIAL}</link></robot>'.replace('"1"', f'"{"1" * 300_000}x"', 1)
    )
    refused(path, "link 'a'", "give a finite number")


def test_robots_with_long_names_are_told_in_short(tmp_path: Path) -> None:
    links = "".join(f'<link name="{"l" * 300}{i}"/>' for i in range(3000))
    joint = f'<joint name="j" type="fixed"><parent link="{"l" * 100_000}"/><child link="l1"/></joint>'
    (tmp_path / "r.urdf").write_text(f'<robot name="r">{links}{joint}</robot>')
    refused(tmp_path / "r.urdf", "joint 'j'", "does not exist")


def test_warnings_of_files_are_lines_of_the_command(tmp_path: Path) -> None:
    (tmp_path / "m.obj").write_bytes(OBJ + b"f 1 2 9")
    done = command("run", with_visual(tmp_path, mesh("m.obj")), "--set", "duration=0.01", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "pliant: r.urdf: some meshes are not drawn: m.obj" in done.stderr
    assert "Warning" not in done.stderr


def doubled(levels: int) -> str:
    """COLLADA of 2^levels triangles: every node has the one before it twice."""
    nodes = "".join(
        f'<node id="n{i}"><instance_node url="#n{i - 1}"/><instance_node url="#n{i - 1}"/></node>'
        for i in range(1, levels + 1)
    )
    params = "".join(f'<param name="{axis}" type="float"/>' for axis in "XYZ")
    return f"""<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset/>
<library_geometries><geometry id="g"><mesh><source id="p">
<float_array id="pa" count="9">0 0 0 1 0 0 0 1 0</float_array>
<technique_common><accessor source="#pa" count="3" stride="3">{params}</accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles>
</mesh></geometry></library_geometries>
<library_nodes><node id="n0"><instance_geometry url="#g"/></node>{nodes}</library_nodes>
<library_visual_scenes><visual_scene id="s"><node id="top"><instance_node url="#n{levels}"/></node></visual_scene>
</library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>"""


def test_a_collada_file_that_repeats_itself_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("trimesh", reason="trimesh is not installed (pip install 'pliant[urdf]')")
    (tmp_path / "m.dae").write_text(doubled(2))
    assert len(pliant.load(with_visual(tmp_path, mesh("m.dae"))).bodies[0].visual[0].faces) == 1
    (tmp_path / "m.dae").write_text(doubled(60))
    monkeypatch.setattr(meshes, "PATIENCE", 3)
    with pytest.warns(UserWarning, match=r"m\.dae \(.*more than 3 s"):
        pliant.load(with_visual(tmp_path, mesh("m.dae")))


# --- MJCF, and the process it is read in ----------------------------------------------------------------------------


def mjcf(folder: Path, head: str = "", inside: str = "", name: str = "r.xml") -> Path:
    pytest.importorskip("mujoco", reason="mujoco is not installed (pip install 'pliant[mjcf]')")
    body = f'<body name="b"><joint/><geom size="0.1"/>{inside}</body>'
    (folder / name).write_text(f"<mujoco>{head}<worldbody>{body}</worldbody></mujoco>")
    return folder / name


PIPES = {
    "include": '<include file="pipe"/>',
    "single quotes": "<include file='pipe'/>",
    "entity": '<include file="pip&#101;"/>',
    "mesh": '<asset><mesh name="m" file="pipe"/></asset>',
    "texture": '<asset><texture name="m" type="cube" fileup="pipe"/></asset>',
    "height field": '<asset><hfield name="h" size="1 1 1 1" file="pipe"/></asset>',
    "folder": '<compiler meshdir="sub"/><asset><mesh name="m" file="inner"/></asset>',
    "stripped": '<compiler strippath="true"/><asset><mesh name="m" file="C:/x/pipe"/></asset>',
    "in an included file": '<include file="part.xml"/>',
    "whole path": '<asset><mesh name="m" file="/dev/zero"/></asset>',
    "attached model": '<asset><model name="m" file="pipe"/></asset>',
    "comment before": '<!-- -- "> --><include file="pipe"/>',
}


@pytest.mark.parametrize("way", PIPES)
def test_pipes_and_devices_that_mjcf_names_are_not_opened(way: str, tmp_path: Path) -> None:
    from pliant.io.mjcf_files import check_files

    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "sub").mkdir()
    os.mkfifo(tmp_path / "sub" / "inner")
    (tmp_path / "part.xml").write_text('<mujoco><asset><mesh name="m" file="pipe"/></asset></mujoco>')
    path = tmp_path / "r.xml"
    with pytest.raises(ModelError, match=r"r\.xml: .*a pipe or a device"):
        check_files(path, f"<mujoco>{PIPES[way]}</mujoco>")


def test_what_mjcf_only_mentions_is_not_asked_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    path = mjcf(tmp_path, '<!-- <include file="pipe"/> <include file="gone.xml"/> -->')
    assert len(pliant.load(path).bodies) == 1


def test_includes_and_circles_of_them_are_followed_once(tmp_path: Path) -> None:
    from pliant.io.mjcf_files import check_files

    (tmp_path / "again").symlink_to(".")
    text = '<mujoco><include file="again/r.xml"/><include file="part.xml"/></mujoco>'
    for name in ("r.xml", "part.xml"):
        (tmp_path / name).write_text(text)
    check_files(tmp_path / "r.xml", text)


def test_mjcf_with_a_pipe_ends_in_a_sentence(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "m.stl")
    refused(mjcf(tmp_path, '<asset><mesh name="m" file="m.stl"/></asset>'), "m.stl: this is a pipe or a device")


def test_a_text_mesh_of_95_megabytes_in_mjcf_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / "m.obj").open("wb") as out:
        out.truncate(95_000_000)
    refused(mjcf(tmp_path, '<asset><mesh name="m" file="m.obj"/></asset>'), "m.obj: the file has 95000000 bytes")


@pytest.mark.parametrize(
    "asset",
    [
        '<hfield name="h" nrow="60000" ncol="60000" size="1 1 1 1"/>',
        '<texture name="t" type="2d" builtin="flat" width="60000" height="60000"/>',
    ],
)
def test_fields_of_many_gigabytes_are_refused(asset: str, tmp_path: Path) -> None:
    refused(mjcf(tmp_path, f"<asset>{asset}</asset>"), "60000 x 60000 cells", "at most 25000000")


def test_mjcf_that_takes_too_much_memory_ends_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limited, "GIGABYTES", 1)
    fields = "".join(f'<hfield name="h{k}" nrow="5000" ncol="5000" size="1 1 1 1"/>' for k in range(50))
    refused(mjcf(tmp_path, f"<asset>{fields}</asset>"), "more than 1 GB of memory")


def test_mjcf_that_takes_too_long_ends_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limited, "SECONDS", 3)
    copies = '<replicate count="1000">' * 3 + '<geom size="0.1"/>' + "</replicate>" * 3
    refused(mjcf(tmp_path, inside=copies), "more than 3 s")


def test_mujoco_leaves_no_log_and_names_no_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = mjcf(tmp_path, '<option timestep="-1"/><asset><mesh name="m" file="gone.stl"/></asset>')
    refused(Path(path.name), "gone.stl")
    assert [file.name for file in tmp_path.iterdir()] == ["r.xml"]


def test_a_reader_that_crashes_ends_in_a_sentence() -> None:
    with pytest.raises(ModelError, match=r"r\.xml: its reader crashed"):
        run_limited("r.xml", "os:abort")
    with pytest.raises(ModelError, match=r"r\.xml: its reader crashed \(ModuleNotFoundError"):
        run_limited("r.xml", "no_such_module:name")


def test_a_reader_imports_nothing_from_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "json.py").write_text("open('ran', 'w')")
    (tmp_path / "numpy.py").write_text("open('ran', 'w')")
    monkeypatch.chdir(tmp_path)
    assert run_limited("x", "os.path:basename", p="/a/b") == "b"
    assert not (tmp_path / "ran").exists()


def test_what_readers_print_is_not_taken_for_the_answer() -> None:
    assert run_limited("x", "pliant.console:print_table", head=["a"], rows=[["b"]]) is None


def test_no_warnings_for_ordinary_files() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pliant.load(EXAMPLES / "lifter.urdf").bodies

"""Model files: what is written loads back, mistakes are told with the file's name, the schema describes all."""

import json
import math
import os
import tomllib
from pathlib import Path

import numpy as np
import pytest

from pliant.errors import ModelError
from pliant.io.toml import load_model, save_model, schema
from pliant.model.attitudes import AxisAngle, EulerAngles, Pose, RollPitchYaw, RotationVector
from pliant.model.bodies import Body, Box, Frame, Rod, Sphere, Tube
from pliant.model.contacts import Contact, Friction, NormalLaw, Plane
from pliant.model.joints import JOINT_KINDS, Joint, Limit
from pliant.model.model import Base, Controller, Crossing, Load, Model, Output
from pliant.model.normal_laws import Hertz
from pliant.model.signals import SIGNAL_KINDS, Chirp, Constant, Cycloid, Ramp, Sine, Step, Sum, Table

EXAMPLE = Path(__file__).parents[1] / "examples" / "arm.toml"
SOLID = (0.1, 0.2, 0.25)
LUGRE = Friction("lugre", 0.1, mu_s=0.2, v_s=0.01, sigma0=1e4, sigma1=30.0, load=2.0)


def rich():
    """One of everything a model file may hold."""
    signals = (
        Step(1.0, 2.0, 0.5),
        Ramp(0.0, 1.0),
        Chirp(3.0, 20.0, amplitude=0.1),
        Table((0, 1, 2.5), (0, 0.1, 1 / 3), "natural"),
        Sum((Constant(1.0), 0.3 * Sine(omega=2.0, phase=0.1))),
    )
    joints = (
        Joint("turn", "revolute", "b1", "b0", (0, 1, 1), q0=0.1, v0=-1.0, stiffness=3.0, rest=0.2, damping=0.1),
        Joint("slide", "prismatic", "b2", Frame("b1", (0.1, 0, 1e-17), RollPitchYaw(0.1, 0, -2)), motion=Cycloid(0, 1)),
        Joint("screw", "cylindrical", "b3", "mount", q0=(0.1, 1e-300), limit=(Limit(-1, 1), "none"), gear=(2.0, 50.0)),
        Joint("cross", "universal", "b4", Frame("b3", attitude=AxisAngle((1, 2, 3), 0.3)), motor=signals[:2]),
        Joint("plane", "planar", "b5", "b4", motion=("free", Sine(), "free"), armature=(0.0, 0.0, 0.1)),
        Joint("ball", "spherical", "b6", "b5", q0=(0.1, 0.2, 0.3, 0.9), stiffness=5.0, motor=signals[2:5]),
        Joint("free", "floating", "b7", q0=Pose((1, 2, 3), EulerAngles("zxz", (0.1, 2, 3))), v0=(1, 2, 3, 4, 5, 6e-7)),
        Joint("weld", "fixed", "b8", Frame("b7", attitude=RotationVector((0.1, 0, 0.2)))),
        Joint("stop", "revolute", "b9", "b8", limit=Limit(lower=-0.1, stiffness=100.0, damping=1.0), friction=LUGRE),
    )
    bodies = (
        Body("b0", 2.0, (0.1, 0, 0), SOLID),
        Body("b1", shape=Tube(1.0, 0.1, 0.05, "y"), density=2700.0),
        Body("b2", shape=Box((1, 2, 3), (0, 0, 1)), density=1.0),
        Body("b3", 1.0, shape=Sphere(0.1)),
        Body("b4", 1.0, inertia=(1, 1, 1, 0.1, 0.2, 0.3)),
        *(Body(f"b{i}", 1.0, shape=Rod(1.0, 0.1)) for i in range(5, 10)),
    )
    turned = ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    return Model(
        name='the "rich" one \\ \u00e9\n',
        bodies=bodies,
        joints=joints,
        base=Base("floating", (1, 2, 3), (0, 0, 0.6, 0.8), (1, 0, 0), (0, 0, 0.1)),
        gravity=(0, -1.62, 0),
        frames=(Frame("b2", (0, 0, 1), turned, "mount"), Frame("world", name="corner")),
        loads=(
            Load("mount", x=signals[4], axes="body"),
            Load(Frame("b3", (1, 0, 0)), z=0.0, kind="couple", name="twist"),
        ),
        contacts=(
            Contact("floor", NormalLaw("flores", 1e8, restitution=0.9), Plane("corner", offset=-9.0), radius=0.1),
            Contact(
                "tray",
                NormalLaw("hunt-crossley", Hertz(0.1, 2e11), damping=0.1),
                Plane(Frame("b2", (0, 0, -9)), (0.1, 0, 1)),
                (Frame("b4", (1, 0, 0)), "b6"),
                Friction("ambrosio", 0.1, v0=1e-4, v1=1e-3),
            ),
        ),
        crossings=(Crossing("low", "mount.z", -0.5, "falling", "stop"), Crossing("still", "turn.rate")),
        outputs=(Output("path", "mount", "position"), Output("bearing", "ball", "reaction")),
        controllers=(Controller("law", 0.01, ("turn", "ball"), "control.py:law"),),
        duration=12.5,
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "control.py").write_text("def law(t, measured):\n    return [0.0] * 4\n")
    return tmp_path


def write(folder, text, name="arm.toml"):
    path = folder / name
    path.write_text(text)
    return path


def test_the_rich_model_has_every_joint_kind():
    assert {joint.kind for joint in rich().joints} == set(JOINT_KINDS)


def test_round_trip(folder):
    save_model(rich(), folder / "rich.toml")
    once = load_model(folder / "rich.toml", trust=True)
    assert once.controllers[0].function(0.0, None) == [0.0] * 4
    save_model(once, folder / "again.toml")
    assert load_model(folder / "again.toml", trust=True) == once
    assert (folder / "again.toml").read_text() == (folder / "rich.toml").read_text()
    for field in ("name", "bodies", "joints", "base", "gravity", "frames", "loads", "contacts", "outputs", "duration"):
        assert getattr(once, field) == getattr(rich(), field)


@pytest.mark.parametrize(
    "signal",
    [
        Constant(2.0),
        Step(1.0),
        Ramp(0, 1),
        Cycloid(0, 1, 0.1),
        Sine(phase="30 deg"),
        Chirp(1, 2),
        Table((0, 1), (1, 2)),
        Sine() + 1,
        2 * (1 - Sine()),
    ],
)
def test_round_trip_of_signals(signal, tmp_path):
    assert isinstance(signal, SIGNAL_KINDS)
    model = Model("m", (Body("b", 1.0, inertia=SOLID),), (Joint("j", "revolute", "b", motor=signal),))
    save_model(model, tmp_path / "m.toml")
    assert load_model(tmp_path / "m.toml") == model


def test_saving_leaves_nothing_else_behind(folder):
    save_model(rich(), folder / "rich.toml")
    assert sorted(file.name for file in folder.iterdir()) == ["control.py", "rich.toml"]


def test_a_failed_save_keeps_the_old_file(folder):
    path = write(folder, "old")
    nameless = Controller("law", 0.01, ("j",), lambda t, measured: [0.0])
    model = Model("m", (Body("b", 1.0, inertia=SOLID),), (Joint("j", "revolute", "b"),), controllers=(nameless,))
    with pytest.raises(ModelError, match=r"arm\.toml: controller 'law': only functions at the top level"):
        save_model(model, path)
    assert path.read_text() == "old"


def test_the_example_loads():
    model = load_model(EXAMPLE)
    assert model.coordinates == ("shoulder", "elbow")
    np.testing.assert_allclose(model.q0, np.radians([-60, 40]), rtol=1e-15)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"30 deg"', math.pi / 6),
        ('"-30deg"', -math.pi / 6),
        ('"0.5 rad"', 0.5),
        ("0.5", 0.5),
        ("1", 1.0),
        ('"1e1 deg"', math.pi / 18),
    ],
)
def test_angles(text, value, tmp_path):
    path = write(
        tmp_path,
        'name="m"\nbodies=[{name="b", mass=1, com=[1, 0, 0]}]\n'
        f'joints=[{{name="j", kind="revolute", child="b", q0={text}}}]\n',
    )
    assert load_model(path).q0[0] == pytest.approx(value, rel=1e-15)


BODY = '[[bodies]]\nname = "link"\nmass = 1.0\ninertia = [1, 1, 1]\n'
LAW = '[[controllers]]\nname = "law"\nperiod = 0.1\njoints = ["j"]\nfunction = "{}"\n'
JOINT = '[[joints]]\nname = "j"\nkind = "revolute"\nchild = "link"\n'
MISTAKES = [
    ("syntax", 'name = "arm"\nmass 3\n', ["arm.toml: line 2, column", "mass 3"]),
    ("open end", 'name = "arm', ["arm.toml: "]),
    ("unknown key", 'name = "arm"\nlenght = 2\n' + BODY, ["arm.toml: unknown key 'lenght'", "allowed: name, bodies"]),
    (
        "single brackets",
        'name = "arm"\n[bodies]\nname = "b"\n',
        ["arm.toml: bodies: found a single table", "[[joints]]"],
    ),
    ("missing", 'name = "arm"\n', ["arm.toml: 'bodies' is missing"]),
    ("missing below", 'name = "arm"\n[[bodies]]\nmass = 1\n', ["arm.toml: bodies[0]: 'name' is missing"]),
    ("text", 'name = "arm"\n' + BODY.replace("1.0", '"3 kg"'), ["arm.toml: bodies[0] 'link': mass", "plain number"]),
    ("nan", 'name = "arm"\n' + BODY.replace("1.0", "nan"), ["bodies[0] 'link': mass: found nan"]),
    ("axis", 'name = "arm"\n' + BODY + JOINT + "axis = [0, 0, 0]", ["arm.toml: joints[0] 'j': axis (0, 0, 0) has no"]),
    ("limit", 'name = "arm"\n' + BODY + JOINT + "limit = {lower = 1, upper = 0}", ["joints[0] 'j': limit: lower 1.0"]),
    (
        "motor",
        'name = "arm"\n' + BODY + JOINT + 'motor = {kind = "sine", omga = 1}',
        ["'j': motor: unknown key 'omga'"],
    ),
    (
        "parent",
        'name = "arm"\n' + BODY + JOINT + 'parent = {body = "link", position = [1, "a", 2]}',
        ["'j': parent.position[1]"],
    ),
    (
        "whole model",
        'name = "arm"\n' + BODY + JOINT.replace("link", "lnk"),
        ["arm.toml: joint 'j': child 'lnk' does not"],
    ),
    (
        "no controller file",
        'name = "arm"\n' + BODY + JOINT + LAW.format("contrl.py:law"),
        ["controller 'law'", "contrl.py"],
    ),
    (
        "no function",
        'name = "arm"\n' + BODY + JOINT + LAW.format("control.py:lav"),
        ["did you mean 'law'?", "it has: law"],
    ),
    (
        "broken file",
        'name = "arm"\n' + BODY + JOINT + LAW.format("broken.py:law"),
        ["'broken.py' cannot be imported", "Zero"],
    ),
]


@pytest.mark.parametrize(("text", "words"), [case[1:] for case in MISTAKES], ids=[case[0] for case in MISTAKES])
def test_mistakes(text, words, folder):
    write(folder, "1 / 0\n", "broken.py")
    with pytest.raises(ModelError) as caught:
        load_model(write(folder, text), trust=True)
    message = str(caught.value)
    assert message.startswith("arm.toml: ")
    assert "\n" not in message
    for word in words:
        assert word in message


def test_missing_file_names_close_ones(folder):
    write(folder, "")
    with pytest.raises(ModelError, match=r"amr\.toml: there is no such file; in that folder there are: arm\.toml"):
        load_model(folder / "amr.toml")
    with pytest.raises(ModelError, match=r"folder .* does not exist either"):
        load_model(folder / "nowhere" / "arm.toml")
    with pytest.raises(ModelError, match=r"this is a folder"):
        load_model(folder)


def test_pipes_devices_and_huge_files_are_refused_before_they_are_read(tmp_path):
    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(ModelError, match=r"pipe\.toml: this is a pipe or a device"):
        load_model(tmp_path / "pipe.toml")
    with pytest.raises(ModelError, match=r"/dev/zero: this is a pipe or a device"):
        load_model("/dev/zero")
    with pytest.raises(ModelError, match=r"no null characters"):
        load_model("a\0b.toml")
    huge = tmp_path / "huge.toml"
    with huge.open("wb") as file:
        file.truncate(10**9)  # sparse: no space is taken
    with pytest.raises(ModelError, match=r"1000000000 bytes; no file of its kind is larger than 20000000"):
        load_model(huge)


def test_not_utf8(folder):
    (folder / "arm.toml").write_bytes(b'name = "\xff"')
    with pytest.raises(ModelError, match=r"arm\.toml: byte 8 is not UTF-8"):
        load_model(folder / "arm.toml")


def test_schema_describes_every_property():
    made = schema()
    assert json.loads(json.dumps(made)) == made
    assert made["$schema"].startswith("https://json-schema.org/")
    assert made["title"]
    assert made["description"]
    for part in (made, *made["$defs"].values()):
        assert part["description"]
        assert all(value.get("description") for value in part["properties"].values()), part["title"]


def test_schema_references_exist():
    made = schema()

    def references(part):
        items = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
        here = [part["$ref"]] if isinstance(part, dict) and isinstance(part.get("$ref"), str) else []
        return here + [found for item in items for found in references(item)]

    assert {reference.removeprefix("#/$defs/") for reference in references(made)} <= set(made["$defs"])


def test_schema_accepts_our_files(folder):
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    validator = jsonschema.Draft202012Validator(schema())
    validator.check_schema(schema())
    save_model(rich(), folder / "rich.toml")
    for path in (EXAMPLE, folder / "rich.toml"):
        assert not list(validator.iter_errors(tomllib.loads(path.read_text(encoding="utf-8"))))
    validator.validate({"name": "m", "base": "planar", "bodies": [{"name": "b", "mass": 1, "inertia": [1, 1, 1]}]})
    assert not validator.is_valid({"name": "m", "bodies": [{"name": "b", "mass": "3 kg"}]})

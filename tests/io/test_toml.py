"""Model files: what is written loads back, mistakes are reported with the file's name, the schema describes all."""

import json
import math
import os
import tomllib

import numpy as np
import pytest

from paths import EXAMPLES
from pliant.errors import ModelError
from pliant.io.toml import load_model, save_model, schema, with_keys
from pliant.model.bodies import Body
from pliant.model.joints import JOINT_KINDS, Joint
from pliant.model.model import Controller, Model
from pliant.model.signals import SIGNAL_KINDS, Chirp, Constant, Cycloid, Ramp, Sine, Step, Table
from rich_model import SOLID, rich
from zoo import ZOO

EXAMPLE = EXAMPLES / "arm.toml"


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


@pytest.mark.parametrize("name", ZOO)
def test_a_model_says_all_of_itself_in_its_tables(name):
    assert with_keys(ZOO[name], {}) == ZOO[name]


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
        ["arm.toml: bodies: found a single table", "[[bodies]]"],
    ),
    ("missing", 'name = "arm"\n', ["arm.toml: 'bodies' is missing"]),
    ("missing below", 'name = "arm"\n[[bodies]]\nmass = 1\n', ["arm.toml: bodies[0]: 'name' is missing"]),
    ("text", 'name = "arm"\n' + BODY.replace("1.0", '"3 kg"'), ["arm.toml: bodies[0] 'link': mass", "plain number"]),
    ("number as text", 'name = "arm"\n' + BODY.replace("1.0", '"1e2"'), ['found the text "1e2"', "in SI units: 100"]),
    ("another word", 'name = "arm"\n' + BODY + "[[forces]]\n", ["unknown key 'forces'; did you mean 'loads'?"]),
    (
        "keys of files",
        'name = "arm"\nparametrs = 1\n' + BODY,
        ["did you mean 'parameters'?", "denavit_hartenberg, segmented_beam, parameters"],
    ),
    ("hinge", 'name = "arm"\n' + BODY + JOINT.replace("revolute", "hinge"), ["did you mean 'revolute'?"]),
    (
        "limit as number",
        'name = "arm"\n' + BODY + JOINT + "limit = 0.5",
        ["limit: found 0.5; give a Limit (in a file: a table with lower, upper, stiffness, damping)"],
    ),
    (
        "limit in words",
        'name = "arm"\n' + BODY + JOINT + 'limit = ["1 deg"]',
        ['found "1 deg"; give a table, or "none"'],
    ),
    (
        "damping in words",
        'name = "arm"\n[[bodies]]\nname = "b"\nkind = "beam"\nlength = 1\nmaterial = { young = 1e9, density = 1e3 }\n'
        'section = { kind = "circle", radius = 0.01 }\nbending_y = 1\ndamping = "1 %"\n',
        ['damping: found "1 %"; give a plain number, the ratio of every mode: 0.01, or a table'],
    ),
    (
        "friction as number",
        'name = "arm"\n' + BODY + JOINT + "friction = 0.1",
        ["friction: found 0.1; give a Friction (in a file: a table with law = one of coulomb, stiction"],
    ),
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
    with pytest.raises(ModelError, match=r"arm\.tml: there is no such file; in that folder there are: arm\.toml"):
        load_model(folder / "arm.tml")
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
    validator = jsonschema.Draft202012Validator(made := schema())
    validator.check_schema(made)
    save_model(rich(), folder / "rich.toml")
    for path in (EXAMPLE, folder / "rich.toml"):
        assert not list(validator.iter_errors(tomllib.loads(path.read_text(encoding="utf-8"))))
    validator.validate({"name": "m", "base": "planar", "bodies": [{"name": "b", "mass": 1, "inertia": [1, 1, 1]}]})
    assert not validator.is_valid({"name": "m", "bodies": [{"name": "b", "mass": "3 kg"}]})

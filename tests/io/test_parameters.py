"""Parameters of model files, and keys that a call or --set gives: put in their places before a file is checked."""

import json

import pytest

import pliant
from command_line import pliant_command
from paths import EXAMPLES, ROBOTS
from pliant import ModelError
from pliant.io.parameters import REFERENCE, parsed
from pliant.io.toml import schema

PENDULUM = """
name = "pendulum"
gravity = [0, "$g", 0]
duration = 0.05

[parameters]
g = -9.81
length = 0.8
start = "30 deg"

[[bodies]]
name = "rod"
mass = 1.5
shape = { kind = "rod", length = "$length" }

[[joints]]
name = "hinge"
kind = "revolute"
child = "rod"
q0 = "$start"

[[frames]]
name = "tip"
body = "rod"
position = ["$length", 0, 0]
"""
PLAIN = PENDULUM.replace('"$g"', "-9.81").replace('"$length"', "0.8").replace('"$start"', '"30 deg"')
PLAIN = PLAIN.replace('[parameters]\ng = -9.81\nlength = 0.8\nstart = "30 deg"\n', "")


@pytest.fixture
def file(tmp_path):
    (tmp_path / "pendulum.toml").write_text(PENDULUM)
    return tmp_path / "pendulum.toml"


def test_parameters_stand_for_their_values(file, tmp_path):
    (tmp_path / "plain.toml").write_text(PLAIN)
    assert pliant.load(file) == pliant.load_model(file) == pliant.load_model(tmp_path / "plain.toml")


def test_parameters_and_keys_can_be_given(file):
    model = pliant.load(file, length=0.5, start=0.1)
    assert model.bodies[0].shape.length == 0.5
    assert model.frames[0].position == (0.5, 0.0, 0.0)
    assert model.joints[0].q0 == 0.1
    keys = {"joints.hinge.damping": "0.3", "bodies.0.mass": 2, "run.rtol": 1e-6, "gravity.1": -1.62}
    model = pliant.load(file, **keys)
    assert (model.joints[0].damping, model.bodies[0].mass, model.run["rtol"]) == (0.3, 2.0, 1e-6)
    assert model.gravity == (0.0, -1.62, 0.0)
    model = pliant.load(
        file, **{"joints.hinge.limit.lower": "-30 deg", "gravity": "1,2,3", "bodies.rod.mass": "$length"}
    )
    assert model.joints[0].limit.lower == pytest.approx(-0.5235987755982988)
    assert (model.gravity, model.bodies[0].mass) == ((1.0, 2.0, 3.0), 0.8)


def test_a_grid_over_parameters(file):
    each, models = pliant.load_grid(file, length=[0.5, 1.0], **{"joints.hinge.damping": [0.0, 0.1]})
    assert [(one["length"], model.joints[0].damping) for one, model in zip(each, models, strict=True)] == [
        (0.5, 0.0), (0.5, 0.1), (1.0, 0.0), (1.0, 0.1)
    ]  # fmt: skip


def test_the_command_line_reaches_parameters_keys_and_options(file, tmp_path):
    words = ("--set", "length=0.5", "--set", "joints.hinge.damping=0.1", "--set", "rtol=1e-6", "--set", "base=fixed")
    done = pliant_command("run", str(file), *words, "--out", "here", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    summary = json.loads((tmp_path / "here" / "summary.json").read_text())
    assert summary["settings"]["rtol"] == 1e-6
    loaded = pliant.load_result(tmp_path / "here" / "result.nc")
    assert loaded.model == pliant.load(file, length=0.5, **{"joints.hinge.damping": 0.1})


def test_robot_files_and_sidecars_take_paths_of_the_robot(tmp_path):
    robot = ROBOTS / "solo12.urdf"
    joint = pliant.load(robot, inertia="keep").joints[0].name
    changed = pliant.load(robot, inertia="keep", **{f"joints.{joint}.damping": 3.0})
    assert changed.joints[0].damping == 3.0
    (tmp_path / "solo.toml").write_text(
        f'robot = {{ file = "{robot.name}", inertia = "keep" }}\n[parameters]\nd = 2.0\n'
        f'[[joints]]\nname = "{joint}"\ndamping = "$d"\n'
    )
    (tmp_path / robot.name).write_text(robot.read_text())
    side = tmp_path / "solo.toml"
    other = pliant.load(side).joints[1].name
    assert pliant.load(side).joints[0].damping == 2.0
    assert pliant.load(side, d=4.0).joints[0].damping == 4.0
    assert pliant.load(side, **{f"joints.{joint}.damping": 5.0}).joints[0].damping == 5.0
    assert pliant.load(side, **{f"joints.{other}.damping": 6.0}, base="floating").joints[1].damping == 6.0


MISTAKES = {
    'q0 = "$start"': (
        'q0 = "$strat"',  # the only use: the misspelt word is named, not the parameter that nothing uses
        r"""joints\[0\].q0: no parameter "\$strat"; did you mean 'start'\?""",
    ),
    'shape = { kind = "rod", length = "$length" }': (
        'shape = { kind = "rod", length = "$length*2" }',
        r"""bodies\[0\].shape.length: no parameter "\$length\*2"; "\$name" stands for a whole value, there are no""",
    ),
    'length = "$length"': (
        'length = "$lenght"',
        r"""bodies\[0\].shape.length: no parameter "\$lenght"; did you mean 'length'\? \[parameters\] has g, length""",
    ),
    "start = ": ("begin = 1.0\nstart = ", r'parameters: begin used nowhere; write "\$begin" where the value shall'),
    "g = -9.81": (
        "g = -9.81\nrtol = 1",
        r"parameters: 'rtol' means something else on the command line \(--set rtol=..\); choose another name",
    ),
    "g = -9.8": ("g = { x = 1 }\nh = -9.8", r"parameters: 'g': found \{'x': 1\}; give a number, a text or a list"),
    "[parameters]\n": ('[parameters]\n"a b" = 1\n', r"parameters: 'a b' is no name; start with a letter or _"),
}


@pytest.mark.parametrize("old", MISTAKES)
def test_mistakes_in_parameters_are_told(old, tmp_path):
    new, words = MISTAKES[old]
    (tmp_path / "bad.toml").write_text(PENDULUM.replace(old, new, 1))
    with pytest.raises(ModelError, match=f"bad.toml: {words}"):
        pliant.load(tmp_path / "bad.toml")
    (tmp_path / "none.toml").write_text('parameters = 3\nname = "x"')
    with pytest.raises(ModelError, match=r"parameters: found 3; give a table of names and values"):
        pliant.load(tmp_path / "none.toml")


def test_references_without_parameters_are_told(tmp_path):
    (tmp_path / "none.toml").write_text(PLAIN.replace("mass = 1.5", 'mass = "$m"'))
    with pytest.raises(ModelError, match=r'bodies\[0\].mass: no parameter "\$m"; the file has no \[parameters\]'):
        pliant.load(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("key", "words"),
    {
        "lenght": r"no key or parameter 'lenght'; did you mean 'length'\? it takes g, length, start, name",
        "bodies.rodd.mass": "bodies.rodd: no 'rodd'; did you mean 'rod'\\? there are rod",
        "bodies.7.mass": "bodies.7: no '7'; there are rod",
        "gravity.7": "gravity.7: no '7'; it has 3 values, counted from 0",
        "joints.hinge.dampng": r"joints\[0\] 'hinge': unknown key 'dampng'; did you mean 'damping'\?",
        "bodies.rod.mass.x": "bodies.rod.mass is 1.5, which has no keys; set it as a whole",
        "loops.four.kind": "loops: there are none in the file; it has name, gravity",
        "bodie.rod.mass": "bodie: there are none in the file; did you mean 'bodies'\\?",
        "bodies..mass": "bodies..mass: an empty part; write keys as bodies.rod.length",
    }.items(),
)  # fmt: skip
def test_keys_that_the_file_has_not_are_told(key, words, file):
    with pytest.raises(ModelError, match=f"pendulum.toml: {words}"):
        pliant.load(file, **{key: 1.0})


def test_the_command_guesses_only_what_the_file_can_take(file, tmp_path):
    done = pliant_command("run", str(file), "--set", "lengt=1", cwd=tmp_path)
    assert done.returncode == 2
    assert "--set lengt: no key 'lengt'; did you mean 'length'? allowed: g, length, start, name" in done.stderr
    assert "stop_stiffness" not in done.stderr
    robot = pliant_command("run", str(ROBOTS / "solo12.urdf"), "--set", "lengt=1", cwd=tmp_path)
    assert "stop_stiffness" in robot.stderr
    arm = pliant_command("run", str(EXAMPLES / "arm.toml"), "--set", "mimic=free", cwd=tmp_path)
    assert "no key 'mimic'" in arm.stderr
    assert "mimic," not in arm.stderr


def test_values_in_text_are_read_as_in_a_file():
    assert [parsed(text) for text in ("1", "1.5", "true", "[1, 2]", "0,0,-1.62", '"x"', "30 deg", "a = 1\nb")] == [
        1, 1.5, True, [1, 2], [0, 0, -1.62], "x", "30 deg", "a = 1\nb"
    ]  # fmt: skip
    assert parsed("{ kind = 'radau' }") == {"kind": "radau"}
    assert parsed("2020-01-01") == "2020-01-01"
    assert parsed("1\nother = 2") == "1\nother = 2"


def test_the_schema_takes_parameters_where_numbers_and_lists_stand():
    made = schema()
    assert "parameters" in made["properties"]
    reference = {"type": "string", "pattern": REFERENCE}
    assert reference in made["properties"]["gravity"]["anyOf"]
    assert reference in made["$defs"]["Rod"]["properties"]["length"]["anyOf"]
    assert reference not in made["properties"]["name"].get("anyOf", ())


HINTS = {
    'mass = "3 kg"': r"""mass: found the text "3 kg"; give a plain number in SI units: 3""",
    'mass = "300 g"': r"in SI units: 0.3$",
    'mass = "210 GPa"': r"in SI units: 2.1e\+11$",
    'mass = "12 N/mm^2"': r"in SI units: 1.2e\+07$",
    'mass = "5 um"': r"in SI units: 5e-06$",
    'mass = "3 apples"': r"""found the text "3 apples"; give a plain number in SI units$""",
}


@pytest.mark.parametrize("text", HINTS)
def test_numbers_with_units_are_told_in_si_units(text, tmp_path):
    (tmp_path / "p.toml").write_text(PLAIN.replace("mass = 1.5", text))
    with pytest.raises(ModelError, match=HINTS[text]):
        pliant.load(tmp_path / "p.toml")


def test_one_number_for_gravity_is_told_as_three(tmp_path):
    (tmp_path / "p.toml").write_text(PLAIN.replace("gravity = [0, -9.81, 0]", "gravity = -9.81"))
    with pytest.raises(ModelError, match=r"gravity: found the number -9.81; give three, as in \[0, 0, -9.81\]"):
        pliant.load(tmp_path / "p.toml")


def test_directions_by_their_letters():
    assert pliant.Joint("j", "revolute", "b", axis="x").axis == (1.0, 0.0, 0.0)
    assert pliant.Plane(normal="-Y").normal == (0.0, -1.0, 0.0)
    assert pliant.AxisAngle("z", 0.3).axis == (0.0, 0.0, 1.0)
    with pytest.raises(ModelError, match='axis: "w" is no direction; give three numbers, or "x", "y", "z"'):
        pliant.Joint("j", "revolute", "b", axis="w")


def test_a_number_as_damping_of_a_beam_is_its_ratio():
    beam = {"length": 1.0, "material": pliant.Material(7e10, 2700.0), "section": pliant.Circle(0.01)}
    assert pliant.Beam("b", **beam, damping=0.02) == pliant.Beam("b", **beam, damping=pliant.Damping(ratio=0.02))
    with pytest.raises(ModelError, match=r"damping.*give 0 or more"):
        pliant.Beam("b", **beam, damping=-0.02)

"""Where users fall in without an error: each is heard once, and no right model hears any of it."""

import dataclasses
import re
import warnings

import numpy as np
import pytest

import pliant
from command_line import pliant_command
from paths import EXAMPLES
from pliant import (
    PD,
    AccuracyWarning,
    AxisAngle,
    Base,
    Beam,
    Bending,
    Body,
    Box,
    Circle,
    Contact,
    Controller,
    Cycloid,
    Frame,
    GivenSection,
    Joint,
    Limit,
    Linear,
    Load,
    Material,
    Model,
    ModelError,
    NormalLaw,
    Plane,
    Pose,
    Rectangle,
    Rod,
    Sine,
    Sphere,
    Transmission,
)
from pliant.cases.case import all_cases
from pliant.command.templates import KINDS, write_template
from pliant.model.contact_points import contact_points
from pliant.results.model_warnings import model_warnings

DOWN = (0, -9.81, 0)


def rods(gravity=(0, 0, -9.81), **hinge):
    upper = Joint("shoulder", "revolute", "upper", **hinge)
    elbow = Joint("elbow", "revolute", "lower", parent=Frame("upper", (1, 0, 0)))
    bodies = [Body("upper", 1.0, shape=Rod(1.0)), Body("lower", 1.0, shape=Rod(1.0))]
    return Model("rods", bodies, [upper, elbow], gravity=gravity)


def heard(model, duration=0.1, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        return pliant.simulate(model, duration, **options).warnings


def test_gravity_along_every_hinge_is_heard():
    with pytest.warns(
        AccuracyWarning, match=r"nothing moves: gravity \(0, 0, -9.81\) is parallel to the axis of every"
    ):
        result = pliant.simulate(rods(), 0.1)
    assert "(shoulder, elbow), and nothing else acts; in the x-y plane give gravity (0, -9.81, 0)" in result.warnings[0]
    assert repr(result).endswith(", 1 warning>")
    tilted = rods(gravity=(0, 1.62, 0), axis=(0, 2, 0))
    assert len(heard(tilted)) == 0, "the elbow turns about z"


def test_where_something_acts_gravity_along_hinges_is_meant():
    assert heard(rods(gravity=DOWN)) == ()
    assert heard(rods(gravity=(0, 0, 0))) == ()
    assert heard(rods(v0=1.0)) == ()
    assert heard(rods(motor=Sine())) == ()
    assert heard(rods(q0=0.5, stiffness=10.0)) == ()
    push = dataclasses.replace(rods(), loads=(Load("lower", x=1.0),))
    assert heard(push) == ()
    servo = Controller("servo", 0.01, ("elbow",), law=PD(1.0, 0.1))
    assert heard(dataclasses.replace(rods(), controllers=(servo,))) == ()


def test_whole_numbers_of_more_than_a_revolution_are_asked_about():
    words = heard(rods(gravity=DOWN, q0=30.0))
    assert words == ("joint 'shoulder': q0 = 30 is in radians, 4.77 revolutions; did you mean \"30 deg\"?",)
    assert "limit.upper = 90" in heard(rods(gravity=DOWN, limit=Limit(upper=90.0)))[0]
    assert "rest = -22.5" in heard(rods(gravity=DOWN, stiffness=1.0, rest=-22.5))[0]
    assert heard(rods(gravity=DOWN, q0="720 deg")) == ()
    assert heard(rods(gravity=DOWN, q0=6.0)) == ()
    assert heard(rods(gravity=DOWN), q0=[30.0, 0.0]) == (
        "joint 'shoulder': q0 of the run = 30 is in radians, 4.77 revolutions; did you mean \"30 deg\"?",
    )
    rail = Model("rail", [Body("cart", 1.0)], [Joint("rail", "prismatic", "cart", axis="y", q0=30.0)])
    assert heard(rail) == ()


def test_goals_in_degrees_are_asked_about():
    (words,) = heard(rods(gravity=DOWN, motion=Cycloid(0.0, 10.0, after=45.0)))
    assert words == ("joint 'shoulder': motion goes to 45 rad, 7.16 revolutions; if degrees are meant, give 0.785398")
    assert heard(rods(gravity=DOWN, motion=Cycloid(0.0, 10.0, after=1.0))) == ()
    assert heard(rods(gravity=DOWN, motion=Linear(45.0))) == (), "a speed"
    servo = Controller("servo", 0.01, ("shoulder", "elbow"), law=PD(1.0, 0.1, reference=[0.5, 90.0]))
    (words,) = heard(dataclasses.replace(rods(gravity=DOWN), controllers=(servo,)))
    assert words.startswith("joint 'elbow': reference of 'servo' goes to 90 rad")


def falling(shape, points=None, **plane):
    floor = Contact("floor", NormalLaw("hooke", 1e4), Plane(normal=(0, 1, 0), **plane), points=points)
    posts = Body("post", 1.0, shape=Rod(0.1))
    return Model(
        "fall", [Body("box", 1.0, shape=shape), posts],
        [
            Joint("free", "planar", "box", q0=(0.0, 0.5, 0.0)),
            Joint("stand", "revolute", "post", Frame("world", (2, 1, 0))),
        ],
        gravity=DOWN, contacts=[floor],
    )  # fmt: skip


def test_a_box_that_falls_through_the_floor_is_heard():
    box = Box((0.2, 0.2, 0.2))
    (words,) = heard(falling(box), 0.5)
    assert re.fullmatch(
        r"body 'box' has passed through the plane of contact 'floor' by t = 0\.3\d+ s: it has no contact point there; "
        r'give the contact points on it, as points = "shapes" does',
        words,
    )
    corners = [Frame("box", (x, y, 0.0)) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    assert heard(falling(box, corners), 0.5) == ()
    assert heard(falling(box), 0.2) == (), "it has not yet"
    assert heard(falling(box, offset=1.0), 0.5) == (), "it began below, where the plane is not meant for it"


def light(armature):
    """A servo, sampled too slowly for a light link: stable with the inertia of its motor."""
    servo = Controller("servo", 0.005, ("hub",), law=PD(40.0, 2.0, reference=0.5), limit=2.0)
    hub = Joint("hub", "revolute", "rod", armature=armature)
    return Model("light", [Body("rod", 0.05, shape=Rod(0.5))], [hub], gravity=(0, 0, 0), controllers=[servo])


def test_a_command_that_flips_at_every_sample_is_heard():
    words = heard(light(0.0), 0.5)
    assert any(
        re.match(
            r"controller 'servo': 'hub.command' goes from limit to limit at every sample from t = 0.\d+ s on: .*", one
        )
        and "the armature of its motor" in one
        for one in words
    ), words
    assert not any("limit to limit" in one for one in heard(light(0.05), 0.5))


def test_advice_is_not_what_is_in_force_already():
    blade = Beam("blade", 1.0, Material(7e8, 2700.0), Rectangle(0.002, 0.03), bending_y=Bending(1, "cf"))
    for coupling, advice in (("linear", '"high-order"'), ("high-order", '"fourth-order"'), ("fourth-order", None)):
        beam = dataclasses.replace(blade, coupling=coupling)
        tip = Load(Frame("blade", (1.0, 0, 0)), y=1e4)
        model = Model("soft", [beam], [Joint("hub", "fixed", "blade")], gravity=(0, 0, 0), loads=[tip])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AccuracyWarning)
            result = pliant.simulate(model, 1.0)
        assert "beyond twice its length" in result.reason
        assert (f"give coupling = {advice}, a stiffer" if advice else "; give a stiffer section") in result.reason


def test_points_of_shapes_are_corners_of_boxes_and_centres_of_spheres():
    """A box comes to rest on two corners, a ball on its radius; nothing falls through."""
    result = pliant.simulate(falling(Box((0.2, 0.2, 0.2)), "shapes"), 1.0)
    assert result.warnings == ()
    assert {row.point for row in result.contacts} >= {"box.corner1", "box.corner3"}
    assert np.min(result.column("free.y")) > 0.07
    ball = falling(Sphere(0.1), None)
    floor = dataclasses.replace(ball.contacts[0], points="shapes")
    bounced = pliant.simulate(dataclasses.replace(ball, contacts=(floor,)), 0.5)
    assert np.min(bounced.column("free.y")) == pytest.approx(0.1, abs=0.03)
    assert [point.name for point in contact_points(spatial_box(), spatial_box().contacts[0])] == [
        f"box.corner{k}" for k in range(1, 9)
    ]


def test_balls_and_capsules_touch_with_their_own_radii():
    """Of a ball, a thick rod that lies flat and a thin one, which fall side by side, each touches when its surface
    does: h - r = g t^2/2."""
    shapes = {"ball": Sphere(0.1), "thick": Rod(0.5, radius=0.03), "thin": Rod(0.5)}
    joints = [Joint(f"fall_{name}", "prismatic", name, q0=0.3) for name in shapes]
    bodies = [Body(name, 1.0, shape=shape) for name, shape in shapes.items()]
    floor = Contact("floor", NormalLaw("hooke", 1e4), points="shapes")
    model = Model("three", bodies, joints, contacts=[floor])
    radii = {point.name: point.radius for point in contact_points(model, floor)}
    ends = {"thick.start": 0.03, "thick.end": 0.03, "thin.start": 0.0, "thin.end": 0.0}
    assert radii == {**ends, "ball.centre": 0.1}
    result = pliant.simulate(model, 0.3)
    touched = {row.point: row.t_start for row in reversed(result.contacts)}
    assert set(touched) == set(radii)
    for name, t in touched.items():
        assert t == pytest.approx(np.sqrt(2 * (0.3 - radii[name]) / 9.81), abs=1e-12)  # a parabola, located to rounding
    with_radius = dataclasses.replace(floor, radius=0.02)
    assert contact_points(model, with_radius)[2].radius == 0.02  # of what has none of its own
    with pytest.raises(ModelError, match=r"'thick' has radius 0.03 and the contact 0.02; leave that of"):
        dataclasses.replace(model, contacts=[with_radius])


def spatial_box():
    floor = Contact("floor", NormalLaw("hooke", 1e4), points="shapes")
    return Model("box", [Body("box", 1.0, shape=Box((1, 2, 3)))], base="floating", contacts=[floor])


# --- what a model shows by itself -------------------------------------------------------------------------------------


def told(model):
    return [*model_warnings(model)]


def chain(*joints, **fields):
    """Three bodies, those without one of these joints carried by nothing."""
    places = {"a": "world", "b": Frame("a", (1, 0, 0)), "c": Frame("b", (1, 0, 0))}
    bodies = [Body(name, 1.0, shape=Rod(1.0)) for name in places]
    hinges = [Joint(f"joint_{name}", "revolute", name, places[name]) for name in joints]
    return Model("chain", bodies, hinges, gravity=DOWN, **fields)


@pytest.mark.parametrize("missing", ["a", "b", "c"])
def test_a_body_whose_joint_was_forgotten_is_named(missing):
    joints = [name for name in "abc" if name != missing]
    (words,) = told(chain(*joints))
    assert words == (
        f"body {missing!r} has no joint, so that it is welded to the world; give it the joint that carries it, or say "
        'base = "fixed" ("planar", "floating") of the model'
    )
    assert heard(chain(*joints)) == (words,)
    assert told(chain(*joints, base="fixed")) == []
    assert told(chain(*joints, base=Base())) == []
    assert told(chain(*joints, base="planar")) == []


def test_a_base_that_is_meant_stays_so_in_files_and_copies(tmp_path):
    assert told(chain("a", "b", "c")) == []
    for base, count in (({}, 1), ({"base": "fixed"}, 0)):
        model = dataclasses.replace(chain("b", "c", **base), duration=1.0)
        assert len(told(model)) == count
        pliant.save_model(model, tmp_path / "chain.toml")
        assert len(told(pliant.load(tmp_path / "chain.toml"))) == count


def blade(**fields):
    given = {"material": Material(7e10, 2700.0), "section": Rectangle(0.01, 0.02), "bending_y": 2}
    return Beam("blade", 1.0, **(given | fields))


def turned(gravity=(0, 0, 0), hinge=None, **fields):
    return Model("turned", [blade(**fields)], [Joint("hub", "revolute", "blade", **(hinge or {}))], gravity=gravity)


def test_a_cantilever_needs_no_base():
    assert told(Model("cantilever", [blade()], gravity=(0, 0, 0))) == []


def test_a_motor_on_a_prescribed_joint_is_idle_and_said_to_be():
    (words,) = told(turned(hinge={"motion": Cycloid(0, 1), "motor": 1.0}))
    assert words == (
        "joint 'hub': its motion is prescribed, so that its motor has no effect on it; leave one of the two out"
    )
    assert told(turned(hinge={"motion": Cycloid(0, 1), "motor": 0.0})) == []
    for motor, count in (((Sine(), 0.0, 0.0), 0), ((Sine(), 0.0, 1.0), 1)):
        sled = Joint("sled", "planar", "box", motion=("free", "free", Cycloid(0, 1)), motor=motor)
        assert len(told(Model("sled", [Body("box", 1.0, inertia=(1, 1, 1))], [sled]))) == count
    flexible = {"armature": 1.0, "transmission": Transmission(100.0), "motion": Cycloid(0, 1), "motor": Sine()}
    assert len(told(turned(hinge=flexible))) == 1


def test_a_controller_of_a_prescribed_joint_is_idle_and_said_to_be():
    servo = Controller("servo", 0.01, ("hub",), law=PD(1.0, 0.1))
    (words,) = told(dataclasses.replace(turned(hinge={"motion": Cycloid(0, 1)}), controllers=[servo]))
    assert words.startswith("joint 'hub': its motion is prescribed, so that controller 'servo' has no effect on it")
    assert told(dataclasses.replace(turned(), controllers=[servo])) == []
    with pytest.raises(ModelError, match=r"joints: 'hub' moves as its motion says, so that tau has no effect"):
        pliant.stepper(turned(hinge={"motion": Cycloid(0, 1)}), "hub")


def test_a_beam_without_shapes_is_rigid_and_said_to_be():
    (words,) = told(turned(bending_y=None))
    assert words.startswith("beam 'blade': no shapes are given, so that it is rigid; say how many: bending_y = 2")
    assert told(turned(bending_y=0)) == []
    assert told(turned(bending_y=None, torsion=1)) == []
    assert told(pliant.rigid_twin(turned())) == []
    two = [dataclasses.replace(blade(bending_y=None), name=name) for name in ("one", "two")]
    hinges = [Joint("j1", "revolute", "one"), Joint("j2", "revolute", "two", Frame("one", (1.0, 0, 0)))]
    (words,) = told(Model("two", two, hinges, gravity=DOWN))
    assert words.startswith("beams one, two: no shapes are given")


@pytest.mark.parametrize(
    ("gravity", "hinge", "fields", "plane"),
    [
        ((0, 0, -9.81), {}, {}, "bending_z"),
        ((0, 0, -9.81), {"axis": "x", "q0": "90 deg"}, {}, None),  # the plane of bending is upright
        ((0, -9.81, 0), {"axis": "x", "q0": "90 deg"}, {}, "bending_z"),
        ((0, -9.81, 0), {}, {}, None),
        ((0, -9.81, 0), {}, {"bending_y": None, "bending_z": 2}, "bending_y"),
        ((0, 0, -9.81), {}, {"bending_z": 1}, None),
        ((0, -5.0, -5.0), {}, {}, None),  # it acts in both
        ((0, 0, -9.81), {}, {"section": Rectangle(0.005, 0.3)}, None),  # too tall to sag
        ((-9.81, 0, 0), {}, {}, None),  # along the beam
    ],
)
def test_gravity_across_the_plane_of_the_shapes_is_named(gravity, hinge, fields, plane):
    words = told(turned(gravity, hinge, **fields))
    assert [f"give {plane}, another gravity" in one for one in words] == ([] if plane is None else [True])


def test_the_sag_that_is_named_is_that_of_a_cantilever():
    """q L^4 / (8 EI) alone; with a load of its own mass at the tip (1/8 + 1/3) / (1/8) times as much."""
    sag = 2700.0 * 0.01 * 0.02 * 9.81 / (8 * 7e10 * 0.01 * 0.02**3 / 12)
    assert f"would bend by about {sag:.2g} m" in told(turned((0, 0, -9.81)))[0]
    grip = Joint("grip", "fixed", "load", Frame("blade", (1.0, 0, 0)))
    hub = Joint("hub", "revolute", "blade")
    loaded = Model("loaded", [blade(), Body("load", 2700.0 * 0.01 * 0.02)], [hub, grip])
    assert f"would bend by about {11.0 / 3.0 * sag:.2g} m" in told(loaded)[0]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"material": Material(70.0, 2700.0)}, "young = 70 Pa is the modulus of elasticity of no material; they have"),
        ({"material": Material(70.0, 2700.0)}, "(GPa meant? 7e+10)"),
        ({"material": Material(2.1e5, 7850.0)}, "(MPa meant? 2.1e+11)"),
        ({"material": Material(7e16, 2700.0)}, "young = 7e+16 Pa"),
        ({"material": Material(7e10, 2.7e-6)}, "density = 2.7e-06 kg/m^3 is that of no material"),
        ({"material": Material(7e10, 2.7e6)}, "density = 2.7e+06 kg/m^3"),
        ({"section": Rectangle(10.0, 20.0)}, "its section is 20 m across, which is more than its length, 1 m"),
        ({"section": Circle(5.0)}, "its section is 8.66 m across"),
        ({"section": GivenSection(400.0, 13333.0, 13333.0)}, "its section is 20 m across"),
    ],
)
def test_values_in_other_units_are_asked_about(fields, words):
    found = told(turned(**fields))
    assert len(found) == 1
    assert words in found[0]


def test_plausible_values_are_not_asked_about():
    for young, density in ((1e6, 1.0), (1e13, 3e4), (7e10, 2700.0)):
        assert told(turned(material=Material(young, density))) == []
    assert told(turned(material=Material(7e10, 1e-3), mass_per_length=0.5)) == [], "it has no use there"


@pytest.mark.parametrize("four", [(1, 0, 0, 0), (1.0, 0.0, 0.0, 0.0)])
def test_a_quaternion_with_w_first_is_asked_about(four):
    ball = Body("ball", 1.0, inertia=(1, 1, 1))
    models = {
        "joint 'free': q0": Model("one", [ball], [Joint("free", "floating", "ball", q0=(0, 0, 1, *four))]),
        "joint 'socket': q0": Model("one", [ball], [Joint("socket", "spherical", "ball", q0=four)]),
        "joint 'free'": Model("one", [ball], [Joint("free", "floating", "ball", q0=Pose((0, 0, 1), four))]),
        "joint 'hinge'": Model("one", [ball], [Joint("hinge", "revolute", "ball", Frame("world", attitude=four))]),
        "base": Model("one", [ball], base=Base("floating", attitude=four)),
        "frame 'tip'": Model("one", [ball], base="floating", frames=[Frame("ball", attitude=four, name="tip")]),
    }
    for where, model in models.items():
        (words,) = told(model)
        assert words.startswith(f"{where} has the quaternion (1, 0, 0, 0), which is x y z w: half a revolution about x")
    meant = Frame("world", attitude=AxisAngle("x", "180 deg"))
    assert told(Model("one", [ball], [Joint("hinge", "revolute", "ball", meant)])) == []
    free = Model("one", [ball], base="floating", gravity=(0, 0, 0))
    assert heard(free) == ()
    assert "q0 of the run has the quaternion" in heard(free, q0=[0, 0, 0, *four])[0]


def test_modes_and_transfer_matrices_say_it_too():
    for call in (pliant.modes, pliant.transfer):
        with pytest.warns(AccuracyWarning, match=r"young = 70 Pa") as found:
            call(turned(material=Material(70.0, 2700.0)))
        assert [one.filename for one in found] == [__file__]


# --- once, and everywhere ---------------------------------------------------------------------------------------------


def test_a_run_with_two_findings_warns_once():
    with pytest.warns(AccuracyWarning) as found:
        result = pliant.simulate(rods(q0=30.0), 0.1)
    assert len(found) == 1
    assert found[0].filename == __file__
    assert str(found[0].message) == "\n".join(result.warnings)
    assert repr(result).endswith(", 2 warnings>")


def test_the_command_and_the_page_say_it(tmp_path):
    pliant.save_model(dataclasses.replace(rods(), duration=0.1), tmp_path / "rods.toml")
    done = pliant_command("run", "rods.toml", "--out", "here", cwd=tmp_path)
    assert done.stdout.count("warning: nothing moves") == 1
    assert "Nothing moves" in (tmp_path / "here" / "report.html").read_text()


def test_many_runs_warn_once_and_keep_all_of_it():
    with pytest.warns(AccuracyWarning) as found:
        runs = pliant.simulate_many(rods(), 0.1, q0=np.zeros((3, 2)), v0=[[0, 0], [1, 0], [0, 0]], keep_results=True)
    assert [str(one.message)[:94] for one in found] == [
        "2 of 3 runs failed or have warnings (Runs.warnings), the first: run 0: nothing moves: gravity "
    ]
    assert [words[:20] for words in runs.warnings] == ["run 0: nothing moves", "run 2: nothing moves"]
    assert repr(runs) == "<Runs of 'rods': 3 done, 2 warnings>"
    assert runs.audit["energy_residual"].shape == (3,)
    assert np.all(runs.audit["energy_residual"] < 1e-6)


def test_failed_runs_are_heard_also_where_only_ends_are_kept():
    with pytest.warns(AccuracyWarning, match=r"3 of 3 runs failed .* run 0: failed at t = .* more than max_steps"):
        runs = pliant.simulate_many(rods(gravity=DOWN), 1.0, q0=np.zeros((3, 2)), max_steps=2)
    assert len(runs.warnings) == 3
    assert runs.audit == {}


# --- no false alarms --------------------------------------------------------------------------------------------------


def new_words(result):
    """Only those of this page: what an audit says is judged elsewhere."""
    signs = ("nothing moves", "did you mean", "passed through", "limit to limit")
    found = [words for words in result.warnings if any(sign in words for sign in signs)]
    return [*found, *model_warnings(result.model)]


@pytest.mark.parametrize("name", list(all_cases()))
def test_no_case_hears_of_pitfalls(name):
    case = all_cases()[name]
    settings = case.resolve({})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        assert new_words(pliant.simulate(case.build(settings), **case.usual_options(settings))) == []


@pytest.mark.parametrize("kind", list(KINDS))
def test_no_template_hears_of_pitfalls(kind, tmp_path):
    write_template(tmp_path / "robot.toml", kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        assert new_words(pliant.simulate(pliant.load(tmp_path / "robot.toml"))) == []


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.toml")), ids=lambda file: file.name)
def test_no_example_hears_of_pitfalls(file):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        assert new_words(pliant.simulate(pliant.load(file, trust=True), 0.5)) == []

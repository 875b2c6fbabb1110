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
    Beam,
    Bending,
    Body,
    Box,
    Contact,
    Controller,
    Cycloid,
    Frame,
    Joint,
    Limit,
    Linear,
    Load,
    Material,
    Model,
    ModelError,
    NormalLaw,
    Plane,
    Rectangle,
    Rod,
    Sine,
    Sphere,
)
from pliant.cases.case import all_cases
from pliant.command.templates import KINDS, write_template
from pliant.model.contact_points import contact_points

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
    return [words for words in result.warnings if any(sign in words for sign in signs)]


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

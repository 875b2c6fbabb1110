"""Result.plot: what matplotlib shows is what the result holds; names that do not exist are answered in words."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

import pliant
from pliant import (
    Beam,
    Bending,
    Body,
    Contact,
    Controller,
    Frame,
    Joint,
    Material,
    Model,
    ModelError,
    NormalLaw,
    Output,
    Plane,
    Rectangle,
    Rod,
)
from pliant.view.charts.contact_charts import impact_windows
from pliant.view.charts.topics import TOPICS
from pliant.view.palette import colours, looks
from pliant.view.svg import stylesheet


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def whip():
    """A blade on a hinge with a servo falls on a floor."""
    model = Model(
        "whip",
        gravity=(0, -9.81, 0),
        bodies=(
            Beam(
                "blade",
                length=1.0,
                material=Material(young=7e10, density=2700.0),
                section=Rectangle(width=0.004, height=0.03),
                bending_y=Bending(modes=2, ends="cf"),
            ),
        ),
        joints=(Joint("hinge", "revolute", "blade", q0="20 deg"),),
        frames=(Frame("blade", (1.0, 0, 0), name="tip"),),
        contacts=(
            Contact(
                "floor",
                NormalLaw("exact", stiffness=1e6, restitution=0.6),
                Plane(normal=(0, 1, 0), offset=-0.5),
                ("tip",),
            ),
        ),
        outputs=(Output("tip", "tip", "position"), Output("load", "hinge", "reaction")),
        controllers=(Controller("servo", 0.05, ("hinge",), lambda t, measured: 0.2 * np.sin(9 * t)),),
    )
    return pliant.simulate(model, 0.8)


def lines(ax):
    """Curves of a chart by label."""
    return {line.get_label(): line.get_data() for line in ax.get_lines()}


def charts(axes):
    return list(axes.flat) if isinstance(axes, np.ndarray) else [axes]


def test_named_curves_are_the_dense_output(whip):
    ax = whip.plot("hinge")
    t, values = lines(ax)["hinge"]
    assert np.array_equal(values, whip.at(t)[0][:, 0])
    assert ax.get_ylabel() == "rad"
    assert ax.get_xlabel() == "time [s]"
    t, values = lines(whip.plot("hinge.rate"))["hinge.rate"]
    assert np.array_equal(values, whip.at(t)[1][:, 0])


def test_names_of_one_unit_share_a_chart(whip):
    axes = charts(whip.plot(["hinge", "tip.x", "tip.y", "load.fy", "kinetic"]))
    assert [ax.get_ylabel() for ax in axes] == ["rad", "m", "N", "J"]
    found = lines(axes[1])
    assert list(found) == ["tip.x", "tip.y"]
    t, values = found["tip.y"]
    assert np.array_equal(values, whip.outputs_at(t)["tip"][:, 1])
    assert np.array_equal(lines(whip.plot("tip[1]"))["tip.y"][1], values)
    assert [ax.get_ylabel() for ax in charts(whip.plot("load"))] == ["N", "N m"]


def test_commands_are_drawn_as_they_are_held(whip):
    t, values = lines(whip.plot("commands"))["hinge.command"]
    inside = (t[:-1] + t[1:]) / 2
    expected = 0.2 * np.sin(9 * 0.05 * np.floor(inside / 0.05 + 1e-9))
    is_step = t[1:] > t[:-1]
    # the sampling instants themselves carry rounding
    assert values[:-1][is_step] == pytest.approx(expected[is_step], abs=1e-12)
    assert t[-1] == whip.t[-1]


def test_window_shows_that_part_alone(whip):
    ax = whip.plot("energy", window=(0.2, 0.4))
    for t, _ in lines(ax).values():
        assert t.min() >= 0.2
        assert t.max() <= 0.4
    t, _ = lines(whip.plot("hinge.command", window=(0.21, 0.33)))["hinge.command"]
    assert (t[0], t[-1]) == (0.21, 0.33)


def test_energy_charts_hold_sums_and_works(whip):
    found = lines(whip.plot("energy"))
    total = found["kinetic"][1] + found["gravity"][1] + found["elastic"][1]
    assert found["total"][1] == pytest.approx(total, abs=1e-14)
    works = lines(whip.plot("works"))
    assert {f"work: {name}" for name in works} == {name for name in found if name.startswith("work")}
    ax = whip.plot("energy_error")
    assert ax.get_yscale() == "log"
    assert lines(ax)["unexplained share"][1].max() == pytest.approx(whip.audit["energy_residual"], rel=1e-12)


def test_impacts_are_looked_at_closely_and_show_their_peak(whip):
    axes = charts(whip.plot("contacts"))
    assert axes[0].get_title(loc="left") == "Normal forces"
    zooms = [ax for ax in axes if ax.get_title(loc="left").startswith("Impact")]
    windows = impact_windows(whip)
    assert len(zooms) == min(len(windows), 8) > 0
    log = whip.contacts
    for start, end in windows:
        inside = (log.t_start >= start) & (log.t_end <= end)
        assert inside.any()
    strongest = log.peak_normal.max()
    # 65 points over a smooth bump: its top is met to (1/64)^2 of its height
    drawn = max(values.max() for ax in zooms for _, values in lines(ax).values())
    assert strongest * (1 - 1e-3) < drawn <= strongest * (1 + 1e-9)


@pytest.mark.parametrize("topic", TOPICS)
def test_every_topic_draws_something(whip, topic):
    axes = charts(whip.plot(topic))
    assert all(ax.get_lines() for ax in axes)
    axes[0].figure.canvas.draw()


def test_overview_has_the_robot_and_charts(whip):
    axes = charts(whip.plot())
    assert len(axes) > 3
    assert len({id(ax.figure) for ax in axes}) == 1
    assert len(axes[0].patches) >= 6
    axes[0].figure.canvas.draw()


def test_robot_is_drawn_at_the_times_asked_for(whip):
    ax = whip.plot("robot", times=[0.1, 0.25], magnify=10)
    words = [text.get_text() for text in ax.texts]
    assert {"0.1 s", "0.25 s"} <= set(words)
    assert any("10" in word and "deformation" in word for word in words)


def test_given_axes_are_used_and_returned(whip):
    _, ax = plt.subplots()
    assert whip.plot("hinge", ax=ax) is ax
    assert whip.plot("robot", ax=ax) is ax
    with pytest.raises(ModelError, match="one ax takes one"):
        whip.plot("load", ax=ax)
    with pytest.raises(ModelError, match="figure of its own"):
        whip.plot(ax=ax)


@pytest.mark.parametrize(
    ("what", "options", "words"),
    [
        ("hnge", {}, "did you mean 'hinge'"),
        (["hinge", 3], {}, "give a name, or a list of names"),
        ("energi", {}, "energy_error"),
        ("hinge", {"window": (2.0, 3.0)}, "holds nothing of the run"),
        ("hinge", {"window": "all"}, r"give \(from, to\) in seconds"),
        ("hinge", {"times": np.array([0.1, 0.2])}, "for the picture of the robot"),
        ("robot", {"times": [99.0]}, "outside the run"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_words(whip, what, options, words):
    with pytest.raises(ModelError, match=words):
        whip.plot(what, **options)


def test_topics_without_content_say_so():
    model = Model("bar", bodies=(Body("bar", 1.0, shape=Rod(1.0)),), joints=(Joint("hinge", "revolute", "bar"),))
    result = pliant.simulate(model, 0.1)
    for topic in ("outputs", "commands", "contacts", "beams", "works"):
        with pytest.raises(ModelError, match=f"no '{topic}' here"):
            result.plot(topic)
    assert len(charts(result.plot())) > 2


def test_colours_are_those_of_the_style_sheet():
    assert colours()["curve0"] == (0, 0x72, 0xB2)
    assert colours(is_dark=True)["card"] != colours()["card"]
    assert looks()["beam"].fill == colours()["link"]
    assert looks()["dashed"].is_dashed
    for name in ("top", "ground", "spot", "trail", "halo"):
        assert f"svg .{name} " in stylesheet("colours.css")
        assert name in looks()

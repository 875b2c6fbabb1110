"""How results and models show themselves: well formed, escaped, readable on light and dark pages."""

import base64
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import pliant
from pliant import Base, Body, Contact, Controller, Frame, Joint, Model, NormalLaw, Output, Plane, Rod


@pytest.fixture(scope="module")
def model():
    return Model(
        "<b>arm & co</b>",
        gravity=(0, -9.81, 0),
        bodies=(Body("upper", 2.0, shape=Rod(1.0)), Body("lower", 1.0, shape=Rod(0.8))),
        joints=(
            Joint("shoulder", "revolute", "upper"),
            Joint("elbow", "revolute", "lower", parent=Frame("upper", (1.0, 0, 0))),
        ),
        contacts=(
            Contact("floor", NormalLaw("exact", stiffness=1e5, restitution=0.5), Plane(normal=(0, 1, 0), offset=-0.9)),
        ),
        outputs=(Output("load", "elbow", "reaction"),),
        controllers=(Controller("servo", 0.1, ("elbow",), lambda t, measured: 0.0),),
    )


class Checker(HTMLParser):
    """Every tag that opens closes."""

    def __init__(self):
        super().__init__()
        self.open, self.words, self.pictures = [], [], []

    def handle_starttag(self, tag, attributes):
        if tag == "img":
            self.pictures.append(dict(attributes)["src"])
        else:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def checked(html):
    """(words, pictures) of a piece of html."""
    checker = Checker()
    checker.feed(html)
    assert checker.open == []
    assert "<b>arm" not in html.replace("<b>&lt;b&gt;arm", "")
    # no black or white text: colours come from the page, but for the status
    assert set(re.findall(r"(?<!-)color:([^;\"]+)", html)) <= {"inherit", "#2e9e63", "#c77d0a", "#d9483b"}
    assert not re.search(r"<style|<script|http", html)
    pictures = []
    for source in checker.pictures:
        kind, _, data = source.partition(",")
        assert kind == "data:image/svg+xml;base64"
        pictures.append(ElementTree.fromstring(base64.b64decode(data)))
    return " ".join(checker.words), pictures


def test_model_shows_its_picture_and_parts(model):
    words, pictures = checked(model._repr_html_())
    assert "<b>arm & co</b>" in words
    for word in ("upper", "elbow", "revolute", "exact", "lower.end", "servo", "reaction"):
        assert word in words
    assert len(pictures) == 1
    assert len(pictures[0].findall(".//{*}path")) > 5


def test_result_shows_its_end_its_contacts_and_the_truth(model):
    result = pliant.simulate(model, 0.6)
    words, pictures = checked(result._repr_html_())
    assert len(result.contacts) > 0
    for word in ("done", "contacts", "peak_normal", "energy_residual", "Accuracy", "steps", "rtol"):
        assert word in words
    assert len(pictures) == 1


def test_failed_run_shows_its_reason_and_a_run_without_rows_something(model):
    def law(t, measured):
        raise ValueError("<i>broken</i>")

    result = pliant.simulate(replace(model, controllers=(Controller("bad", 0.1, ("elbow",), law),)), 0.3)
    words, _ = checked(result._repr_html_())
    assert "failed" in words
    assert "<i>broken</i>" in words
    empty = replace(result, t=np.zeros(0), q=np.zeros((0, 2)), v=np.zeros((0, 2)))
    words, pictures = checked(empty._repr_html_())
    assert pictures == []


def test_start_picture_of_a_spatial_robot_is_spatial_although_it_starts_flat():
    """All in the plane at the start, but the joints turn out of it: the view is not flat."""
    lift = Joint("lift", "revolute", "boom", parent=Frame("post", (1, 0, 0)), axis=(0, 1, 0))
    model = Model(
        "crane",
        bodies=(Body("post", 1.0, shape=Rod(1.0)), Body("boom", 1.0, shape=Rod(1.0))),
        joints=(Joint("turn", "revolute", "post"), lift),
    )
    _, (picture,) = checked(model._repr_html_())
    axes = [text.text for text in picture.findall(".//{*}text")]
    assert {"x", "y", "z"} <= set(axes)


def test_repr_is_one_short_line(model):
    result = pliant.simulate(model, 0.1)
    assert "\n" not in repr(result)
    assert "done at t = 0.1 s" in repr(result)
    places = ["world", *(f"b{k}" for k in range(29))]
    many = Model(
        "many",
        bodies=[Body(f"b{k}", 1.0, inertia=(1, 1, 1)) for k in range(30)],
        joints=[Joint(f"j{k}", "revolute", f"b{k}", parent=places[k]) for k in range(30)],
    )
    assert len(repr(many)) < 300
    assert repr(Model("one", bodies=(Body("b", 1.0, inertia=(1, 1, 1)),), base=Base("floating"))).startswith(
        "<Model 'one'"
    )

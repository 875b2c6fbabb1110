"""Sensitivities against functions whose indices are known in closed form."""

import math

import numpy as np
import pytest

import pliant
from pliant import Body, Joint, Model, ModelError, Rod, Study
from pliant.study.plan import design_size

SHARE = 0.1  # of the fourth power in Ishigami's function


def point(a=0.0, b=0.0, c=1.0):
    """A model that carries three numbers; nothing of it is used but these."""
    return Model(
        "point",
        [Body("rod", 1.0, shape=Rod(1.0))],
        [Joint("hinge", "revolute", "rod", axis=(0, 1, 0), q0=a, v0=b)],
        gravity=(0, 0, -c),
        duration=1e-6,
    )


def ishigami(result):
    """Ishigami and Homma 1990, of the numbers that `point` carries."""
    a, b, c = result.q[0, 0], result.v[0, 0], -result.model.gravity[2]
    return math.sin(a) + 7.0 * math.sin(b) ** 2 + SHARE * c**4 * math.sin(a)


RANGES = {name: f"{-math.pi}:{math.pi}" for name in "abc"}


def test_sobol_indices_of_ishigamis_function_are_those_in_closed_form():
    parts = (0.5 * (1 + SHARE * math.pi**4 / 5) ** 2, 49.0 / 8, SHARE**2 * math.pi**8 * 8 / 225)
    variance = sum(parts)
    first = np.array([parts[0], parts[1], 0.0]) / variance
    total = np.array([parts[0] + parts[2], parts[1], parts[2]]) / variance
    runs = Study(point, RANGES, {"y": ishigami}, method="saltelli", sample=256, seed=2).run()
    assert len(runs) == 256 * 5
    found = runs.sensitivity("y")
    # of 256 points of a sequence that fills the cube evenly: an error of about 1 / 256^(3/4), times the few of variance
    assert found.indices["first"] == pytest.approx(first, abs=0.1)
    assert found.indices["total"] == pytest.approx(total, abs=0.1)
    for name, exact in (("first", first), ("total", total)):
        low, high = found.intervals[name].T
        assert np.all(low - 0.05 <= exact)
        assert np.all(exact <= high + 0.05)
    assert [row[0] for row in found.table()] == ["a", "b", "c"]
    again = runs.sensitivity("y").intervals  # of the study's seed
    assert all(np.array_equal(again[name], found.intervals[name]) for name in ("first", "total"))


def test_morris_effects_of_a_linear_function_are_its_slopes():
    pytest.importorskip("SALib")

    def linear(result):
        return 3.0 * result.q[0, 0] - 2.0 * result.v[0, 0] + 0.0 * result.model.gravity[2]

    runs = Study(point, {"a": "0:1", "b": "0:10", "c": "1:2"}, {"y": linear}, method="morris", sample=6).run()
    assert len(runs) == 6 * design_size("morris", 3)
    found = runs.sensitivity("y")
    # over whole ranges; rounding of sums of numbers up to 20
    assert found.indices["mu"] == pytest.approx([3.0, -20.0, 0.0], abs=1e-12)
    assert found.indices["mu_star"] == pytest.approx([3.0, 20.0, 0.0], abs=1e-12)
    assert found.indices["sigma"] == pytest.approx(0.0, abs=1e-12)


def test_what_has_no_indices_says_so():
    runs = Study(point, RANGES, "hinge", sample=4).run()
    for figure, words in (("hinge", "this study is a random"), ("y", "no figure 'y'; there are hinge")):
        with pytest.raises(ModelError, match=words):
            runs.sensitivity(figure)
    with pytest.raises(ModelError, match="need a power of 2"):
        Study(point, RANGES, "hinge", sample=5, method="saltelli")
    same = Study(point, {"c": "1:2"}, {"one": lambda result: 1.0}, sample=2, method="saltelli").run()
    with pytest.raises(ModelError, match="is the same in all rows"):
        same.sensitivity("one")


def test_the_page_of_a_study_shows_what_figures_depend_on(tmp_path):
    runs = Study(point, RANGES, {"y": ishigami}, method="saltelli", sample=8).run()
    runs.report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "What y depends on" in text
    assert "Sobol&#x27; indices" in text
    assert pliant.__version__ in text

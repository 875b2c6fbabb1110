"""Methods as values: their rows, their checks, their shorthand, and what a run says of them."""

import re
import warnings

import pytest

import pliant
from paths import DOCS
from pliant import GeneralisedAlpha, ModelError, Springs, methods
from pliant.methods.citations import CITATIONS

ALL = [method for table in methods.CHOSEN.values() for method in table]


@pytest.mark.parametrize("method", ALL, ids=lambda method: method.name)
def test_a_method_is_its_own_row(method):
    value = method()
    assert value == methods.find_method(method.family, method.name) == methods.find_method(method.family, value)
    assert value == methods.find_method(method.family, {"kind": method.name})
    assert hash(value) == hash(method())
    assert method.summary
    assert method.cost
    assert method.reference in CITATIONS
    for each in method.parameters():
        assert each.words
        assert value.settings[each.key] == each.default
    assert methods.find_method(method.family, **{"given": method.name}) == value


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: GeneralisedAlpha(rho_inf=1.5), "rho_inf: 1.5 found; give a number from 0 to 1"),
        (lambda: Springs(stiffness=0.0), "closure_stiffness: 0.0 found; give a number above 0 N/m"),
        (lambda: Springs(stiffness=float("nan")), "closure_stiffness: nan found"),
        (lambda: Springs(form="round"), "closure_form: 'round' found; give one of elongation"),
        (lambda: Springs(prestretch="yes"), "closure_prestretch: 'yes' found; give true or false"),
        (lambda: methods.find_method("integrator", "radua"), "did you mean 'radau'"),
        (lambda: methods.find_method("integrator", "radau", rho_inf=0.5), "it belongs to generalised_alpha"),
        (lambda: methods.find_method("integrator", {"kind": "hht", "rho": 1}), "has no parameter 'rho'; it has alpha"),
        (lambda: methods.find_method("closure", Springs(), closure_damping=1.0), "is given with all its parameters"),
    ],
)
def test_wrong_values_are_refused_with_what_is_allowed(make, words):
    with pytest.raises(ModelError, match=re.escape(words)):
        make()


def test_values_names_and_old_keywords_mean_the_same():
    model = pliant.load("four-bar")
    how = {"duration": 0.05, "step": 1e-3}
    value = pliant.simulate(model, integrator=GeneralisedAlpha(rho_inf=0.6), closure=Springs(stiffness=1e5), **how)
    table = pliant.simulate(
        model,
        integrator={"kind": "generalised_alpha", "rho_inf": 0.6},
        closure={"kind": "springs", "closure_stiffness": 1e5},
        **how,
    )
    with pytest.warns(DeprecationWarning, match=r"integrator=pliant\.GeneralisedAlpha\(rho_inf=0\.6\)"):
        old = pliant.simulate(
            model, integrator="generalised_alpha", rho_inf=0.6, closure="springs", closure_stiffness=1e5, **how
        )
    for other in (table, old):
        assert (other.q == value.q).all()
        assert other.settings == value.settings
        assert other.methods == value.methods


def test_a_run_says_what_to_cite():
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        result = pliant.simulate(pliant.load("sliding-block"), 0.05)
    rows = {row["family"]: row for row in result.citations}
    assert rows["formulation"]["name"] == "articulated"
    assert rows["integrator"]["reference"] == "hairer1993"
    assert "Hunt" in rows["normal law"]["citation"]
    assert rows["friction law"]["name"] == "stiction"


def test_citations_are_those_of_the_bibliography():

    text = (DOCS / "bibliography.md").read_text().replace("*", "").replace("`", "")
    for key, citation in CITATIONS.items():
        assert f"| {key} | {citation}" in text, key

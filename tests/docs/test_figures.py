"""Figures quoted in README.md and docs/ are what runs give, to a unit of the last digit quoted."""

import importlib.util
import re
from decimal import Decimal

import pytest

from paths import DOCS, ROOT

spec = importlib.util.spec_from_file_location("docs_build", DOCS / "build.py")
assert spec is not None
assert spec.loader is not None
docs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(docs)
QUOTED = [(path.relative_to(ROOT).as_posix(), name) for path in docs.documents() for name in docs.quoted(path)]


ROUNDED = re.compile(r"(?<![\w.])-?\d+(?:\.\d+(?:e[+-]?\d+)?|e[+-]?\d+)(?![\w.])")


def assert_same_figures(quoted, found):
    """Words and whole numbers are equal; a rounded number may fall to either side on another machine."""
    if ROUNDED.sub("#", quoted) == ROUNDED.sub("#", found):
        pairs = zip(map(Decimal, ROUNDED.findall(quoted)), map(Decimal, ROUNDED.findall(found)), strict=True)
        if all(abs(a - b) <= Decimal(1).scaleb(a.as_tuple().exponent) for a, b in pairs):
            return
    assert quoted == found, "write them anew with python docs/build.py"


@pytest.mark.parametrize(("document", "name"), QUOTED)
def test_quoted_figures_are_those_of_a_run(document, name):
    assert_same_figures(docs.quoted(ROOT / document)[name], docs.FIGURES[name]())


@pytest.mark.parametrize("found", ["off by 0.74, 2e-5, 12", "off by 0.73, 1e-5, 12"])
def test_rounded_figures_may_differ_by_a_unit(found):
    assert_same_figures("off by 0.73, 2e-5, 12", found)


@pytest.mark.parametrize("found", ["off by 0.75, 2e-5, 12", "off by 0.73, 4e-5, 12", "off by 0.73, 2e-5, 13", "0.73"])
def test_other_figures_are_refused(found):
    with pytest.raises(AssertionError, match="write them anew"):
        assert_same_figures("off by 0.73, 2e-5, 12", found)


def test_every_function_is_quoted_once():
    assert sorted(name for _, name in QUOTED) == sorted(docs.FIGURES)


def test_markers_are_in_pairs():
    for path in docs.pages():
        text = path.read_text(encoding="utf-8")
        n = len(docs.quoted(path))
        assert len(re.findall(r"^<!-- figures: ", text, re.MULTILINE)) == n, path.name
        assert len(re.findall(r"^<!-- end of figures -->$", text, re.MULTILINE)) == n, path.name


def test_readme_quotes_no_digits_and_no_times_by_hand():
    """Neither rounding (2e-12) nor seconds of a machine: both differ from one to the next."""
    text = docs.BLOCK.sub("", (ROOT / "README.md").read_text(encoding="utf-8"))
    words = re.sub(r"^```.*?^```$|`[^`]*`", "", text, flags=re.MULTILINE | re.DOTALL)
    assert not re.findall(r"\d+e-\d+|\d+ (?:us|ms|s|min|minutes|seconds)\b|microsecond|millisecond", words)


def test_bound_that_does_not_hold_is_refused():
    assert docs.below(3e-12, 1e-9) == "1e-9"
    with pytest.raises(SystemExit, match="2e-09 is not below 1e-09"):
        docs.below(2e-9, 1e-9)


def test_unknown_figures_are_refused(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- figures: nothing -->\n<!-- end of figures -->\n")
    with pytest.raises(SystemExit, match=r"page\.md: no figures 'nothing'; docs/build\.py has falling-chain"):
        docs.build(page)


def test_building_replaces_what_was_quoted(tmp_path, monkeypatch):
    monkeypatch.setitem(docs.FIGURES, "answer", lambda: "42\n")
    page = tmp_path / "page.md"
    page.write_text("before\n\n<!-- figures: answer -->\n41\n<!-- end of figures -->\n\nafter\n")
    docs.build(page)
    assert page.read_text() == "before\n\n<!-- figures: answer -->\n42\n<!-- end of figures -->\n\nafter\n"

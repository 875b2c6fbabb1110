"""Figures quoted in README.md and docs/ are what runs give, to the digits quoted."""

import importlib.util
import re

import pytest

from paths import DOCS, ROOT

spec = importlib.util.spec_from_file_location("docs_build", DOCS / "build.py")
assert spec is not None
assert spec.loader is not None
docs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(docs)
QUOTED = [(path.relative_to(ROOT).as_posix(), name) for path in docs.documents() for name in docs.quoted(path)]


@pytest.mark.parametrize(("document", "name"), QUOTED)
def test_quoted_figures_are_those_of_a_run(document, name):
    assert docs.quoted(ROOT / document)[name] == docs.FIGURES[name](), "write them anew with python docs/build.py"


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

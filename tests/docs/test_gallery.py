"""The gallery is what its examples make: text to the printed digits, pictures, numbers in the words."""

import importlib.util
import re

import numpy as np
import pytest

from paths import DOCS

spec = importlib.util.spec_from_file_location("gallery_build", DOCS / "gallery" / "build.py")
assert spec is not None
assert spec.loader is not None
gallery = importlib.util.module_from_spec(spec)
spec.loader.exec_module(gallery)
PAGES = [page.stem for page in gallery.pages()]
every_page = pytest.mark.parametrize("name", PAGES)


def coarse(path):
    """Brightness of a picture on a grid of cells of 20 pixels, 0 to 1."""
    from PIL import Image

    with Image.open(path) as picture:
        grey = picture.convert("L")
        cells = grey.resize((grey.width // 20, grey.height // 20), Image.Resampling.BOX)
    return np.asarray(cells, float) / 255


@every_page
def test_page_prints_and_draws_what_it_shows(name, tmp_path):
    source, printed, picture = gallery.example_of(DOCS / "gallery" / f"{name}.md")
    assert gallery.run_example(source, tmp_path) == printed
    shown, made = coarse(DOCS / "pictures" / picture), coarse(tmp_path / picture)
    assert shown.shape == made.shape
    # another version of matplotlib moves words and ticks by a pixel or two: an edge then changes its cell by a tenth;
    # a curve or robot elsewhere changes many cells by more
    assert np.mean(np.abs(shown - made) > 0.15) < 0.02
    assert np.mean(np.abs(shown - made)) < 0.01


@every_page
def test_picture_is_drawn_and_another_page_has_another(name):
    """The comparison above can tell pictures apart."""
    picture = coarse(DOCS / "pictures" / gallery.example_of(DOCS / "gallery" / f"{name}.md")[2])
    assert np.std(picture) > 0.02
    for other in set(PAGES) - {name}:
        second = coarse(DOCS / "pictures" / gallery.example_of(DOCS / "gallery" / f"{other}.md")[2])
        assert picture.shape != second.shape or np.mean(np.abs(picture - second)) > 0.01


@every_page
def test_numbers_in_the_words_are_those_of_the_example(name):
    """What the words state as a number with decimals, the example prints or sets."""
    text = (DOCS / "gallery" / f"{name}.md").read_text(encoding="utf-8")
    source, printed, _ = gallery.example_of(DOCS / "gallery" / f"{name}.md")
    words = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    for number in re.findall(r"\d+\.\d+|\d+e-?\d+", words):
        assert number in printed or number in source, number


def test_index_leads_to_every_page_and_document():
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    for path in (*gallery.pages(), *DOCS.glob("*.md"), *DOCS.glob("papers/*.md")):
        name = path.relative_to(DOCS).as_posix()
        assert name == "README.md" or f"]({name})" in index, name


def test_pictures_stay_small():
    assert sum(path.stat().st_size for path in (DOCS / "pictures").iterdir()) < 2_000_000


@pytest.mark.parametrize(
    "text", ["no example", "```python\n1\n```\n\nwords\n\n```text\n```\n", "```python\n1\n```\n\n```text\n```\n"]
)
def test_page_without_example_or_picture_is_refused(text, tmp_path):
    (tmp_path / "page.md").write_text(text)
    with pytest.raises(SystemExit, match=r"page\.md: \d examples and \d pictures found; a page has one python block"):
        gallery.example_of(tmp_path / "page.md")


def test_example_that_fails_says_why(tmp_path):
    with pytest.raises(SystemExit, match="ZeroDivisionError"):
        gallery.run_example("1 / 0", tmp_path)

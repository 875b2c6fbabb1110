"""The report page in a browser: it moves, charts and keys answer, nothing is fetched, nothing is complained about."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pliant.command.job import prepare_job, run_job
from pliant.model.bodies import Body, Box, Frame, Rod
from pliant.model.contacts import Contact, NormalLaw, Plane
from pliant.model.flexible import Beam, Damping, Material, Rectangle
from pliant.model.joints import Joint
from pliant.model.model import Base, Model
from pliant.report_types import Finding, Lines
from pliant.simulation.simulate import simulate
from pliant.view.page.report import PAGE, write_findings, write_report

CHROMIUM = Path("/usr/bin/chromium")
IN_CI = bool(os.environ.get("CI"))
pytestmark = pytest.mark.skipif(
    not CHROMIUM.exists() and not IN_CI, reason="needs Debian's chromium: apt-get install chromium"
)
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SIZES = {"desktop": {"width": 1400, "height": 900}, "phone": {"width": 390, "height": 844}}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=list(FLAGS))
        yield browser
        browser.close()


class Opened:
    """A page opened from its file; complaints and requests are collected."""

    def __init__(self, browser: Any, path: Path, size: str = "desktop", **context: Any) -> None:
        given = {"reduced_motion": "reduce", "has_touch": size == "phone", **context}
        self.context = browser.new_context(viewport=SIZES[size], offline=True, **given)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("request", lambda request: self._note(request.url, path))
        self.page.goto(path.as_uri())

    def _note(self, url: str, path: Path) -> None:
        if url != path.as_uri() and not url.startswith(("data:", "blob:")):
            self.complaints.append(f"fetched {url}")

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *failure: object) -> None:
        self.context.close()
        if failure[0] is None:
            assert self.complaints == []

    def picture(self) -> str:
        """What the canvas shows."""
        self.settle()
        return str(self.page.evaluate("document.getElementById('robot').toDataURL()"))

    def settle(self) -> None:
        """Two frames: what was asked for has been drawn."""
        self.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def time(self) -> float:
        self.settle()
        return float(self.page.locator("#clock").inner_text().split()[0].replace("\u2212", "-"))

    def play_beyond(self, t: float) -> None:
        """Wait while the player gets there; frames decide, the wall clock only ends a page that stands still."""
        for _ in range(600):
            if self.time() > t:
                return
        raise AssertionError(f"the player stands at {self.time()} s")

    def cursor(self, chart: Any) -> float:
        """Where the line of time is in a chart, as a share of its drawing area."""
        self.settle()
        line, area = chart.locator(".cursor").bounding_box(), chart.locator(".nsewdrag").first.bounding_box()
        return float((line["x"] + 0.5 * line["width"] - area["x"]) / area["width"])


@pytest.fixture(scope="module")
def falling(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Bending links, several contacts, figures, a case's own panels."""
    folder = tmp_path_factory.mktemp("falling")
    run_job(prepare_job("falling-chain", {"duration": "0.6"}, folder))
    return folder / "report.html"


def test_robot_moves_while_playing_and_stands_when_paused(browser: Any, falling: Path) -> None:
    with Opened(browser, falling) as opened:
        first = opened.picture()
        assert opened.time() == 0.0
        opened.page.click("#play")
        opened.play_beyond(0.05)
        opened.page.click("#play")
        moved, t = opened.picture(), opened.time()
        assert moved != first
        assert (opened.picture(), opened.time()) == (moved, t)
    # with motion allowed it plays by itself
    with Opened(browser, falling, reduced_motion="no-preference") as opened:
        opened.play_beyond(0.02)


def test_click_in_a_chart_sets_the_time_and_every_cursor_follows(browser: Any, falling: Path) -> None:
    with Opened(browser, falling) as opened:
        charts = opened.page.locator(".beside .chart:visible")
        first, second = charts.nth(0), charts.nth(1)
        area = first.locator(".nsewdrag").first
        area.wait_for()
        second.locator(".nsewdrag").first.wait_for()
        box, before = area.bounding_box(), opened.picture()
        opened.page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
        # a pixel of the drawing area
        assert opened.time() == pytest.approx(0.3, abs=0.6 / box["width"])
        assert opened.picture() != before
        for chart in (first, second):
            assert opened.cursor(chart) == pytest.approx(0.5, abs=1.5 / box["width"])
        # dragging goes on moving it
        opened.page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 20)
        opened.page.mouse.down()
        opened.page.mouse.move(box["x"] + 0.25 * box["width"], box["y"] + 20, steps=4)
        opened.page.mouse.up()
        assert opened.time() == pytest.approx(0.15, abs=0.6 / box["width"])
        # resting on a chart shows its values
        opened.page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 0.5 * box["height"])
        first.locator(".hoverlayer .legend").wait_for()


def test_row_of_a_contact_leads_to_it_and_into_its_force(browser: Any, falling: Path) -> None:
    with Opened(browser, falling) as opened:
        row = opened.page.locator("tr.jump").first
        start, end = (float(row.get_attribute(f"data-{name}")) for name in ("start", "end"))
        row.focus()
        opened.page.keyboard.press("Enter")
        # the clock shows six digits after the point
        assert start - 1e-6 <= opened.time() <= end + 1e-6
        chart = opened.page.locator("[data-role=impact]:visible").first
        low, high = chart.locator("div.plot").evaluate("(plot) => plot.layout.xaxis.range")
        assert low < start < end < high < low + 4 * (end - start)
        assert 0 < opened.cursor(chart) < 1
        assert row.get_attribute("aria-current") == "true"


def test_keys(browser: Any, falling: Path) -> None:
    with Opened(browser, falling) as opened:
        keyboard = opened.page.keyboard
        keyboard.press("End")
        assert opened.time() == pytest.approx(0.6)
        keyboard.press("Home")
        assert opened.time() == 0.0
        keyboard.press("5")
        assert opened.time() == pytest.approx(0.3)
        keyboard.press("ArrowRight")
        later = opened.time()
        assert 0.3 < later < 0.302
        keyboard.press("ArrowLeft")
        assert opened.time() < later
        keyboard.press("Shift+ArrowRight")
        assert opened.time() > later
        keyboard.press("]")
        start = float(opened.page.locator("tr.jump").first.get_attribute("data-start"))
        assert opened.time() == pytest.approx(start, abs=1e-6)
        speed = opened.page.locator("#speed")
        slow = float(speed.input_value())
        keyboard.press("+")
        assert float(speed.input_value()) > slow
        keyboard.press("-")
        assert float(speed.input_value()) == slow
        keyboard.press("Space")
        assert opened.page.locator("#play").get_attribute("aria-label") == "pause"
        keyboard.press("Space")
        assert opened.page.locator("#play").get_attribute("aria-label") == "play"
        keyboard.press("?")
        assert opened.page.locator("#help").is_visible()
        keyboard.press("Escape")
        assert not opened.page.locator("#help").is_visible()


def test_view_answers(browser: Any, falling: Path) -> None:
    """Every way to change the view changes the picture, and the reset brings back what is a view."""
    with Opened(browser, falling) as opened:
        page = opened.page
        page.keyboard.press("8")
        start, box = opened.picture(), page.locator("#robot").bounding_box()
        x, y = box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"]

        def drag() -> None:
            page.mouse.move(x, y)
            page.mouse.down()
            page.mouse.move(x + 60, y + 20, steps=3)
            page.mouse.up()

        def wheel() -> None:
            page.mouse.move(x, y)
            page.mouse.wheel(0, -200)
            page.wait_for_timeout(100)  # the browser hands wheels over a little later

        for act in (drag, wheel, *(lambda key=key: page.keyboard.press(key) for key in "aswdzx")):
            act()
            assert opened.picture() != start
            page.click("#view-reset")
            assert opened.picture() == start
        # deformation, colour, space: each shows something else
        seen = [start]
        for key in "mcv":
            page.keyboard.press(key)
            seen.append(opened.picture())
        page.click("#trails summary")
        page.locator("#trail-list input").nth(1).check()
        seen.append(opened.picture())
        assert len(set(seen)) == len(seen)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_phone_has_no_sideways_scroll(browser: Any, falling: Path, scheme: str) -> None:
    with Opened(browser, falling, "phone", color_scheme=scheme) as opened:
        for tab in opened.page.locator("[role=tab]").all():
            tab.click()
            assert opened.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        opened.page.locator("#play").tap()
        opened.play_beyond(0.01)


def test_several_runs_and_size(browser: Any, tmp_path: Path) -> None:
    """Four variants in one page: the chosen one is shown, tables follow, and the page stays small."""
    run_job(prepare_job("falling-chain", {"modes": "all", "duration": "0.5"}, tmp_path))
    page = tmp_path / "report.html"
    assert page.stat().st_size < 8_000_000
    with Opened(browser, page) as opened:
        opened.page.keyboard.press("9")
        before = opened.picture()
        assert len(opened.page.locator("#run option").all()) == 4
        opened.page.select_option("#run", "1")
        assert opened.picture() != before
        assert opened.page.locator("[data-run='0']:visible").count() == 0
        assert opened.page.locator("[data-run='1']:visible").count() > 2


def test_findings_alone_show_whole_curves(browser: Any, tmp_path: Path) -> None:
    """A page without a film; a loop, which ends across where it begins, is seen in full."""
    turn = np.linspace(0.0, 2 * np.pi, 100)
    loop = Lines("Loop", "N", "depth", "mm", (("law", 1 - np.cos(turn), np.sin(turn)),))
    finding = Finding("Loops", "One loop.", charts=(loop,))
    words = {"title": "Loops", "description": "", "settings": {}, "setting_table": {}}
    write_findings(tmp_path / "report.html", [finding], **words)
    with Opened(browser, tmp_path / "report.html") as opened:
        opened.page.locator(".nsewdrag").first.wait_for()
        low, high = opened.page.locator("div.plot").evaluate("(plot) => plot.layout.xaxis.range")
        assert (low, high) == pytest.approx((0.0, 2.0), abs=1e-3)  # of 100 points none is at the end itself


def test_enlarged_bending_moves_what_sits_on_the_beam(browser: Any, tmp_path: Path) -> None:
    """The script's recursion over the tree against the kernels' kinematics with modal coordinates made larger."""
    material, section = Material(7e10, 2700.0), Rectangle(0.02, 0.03)
    model = Model(
        "arm",
        bodies=(
            Beam("upper", 1.0, material, section, bending_y=2, bending_z=1, coupling="linear"),
            Body("fore", mass=1.0, shape=Rod(0.5)),
            Body("hand", mass=0.2, shape=Rod(0.1)),
        ),
        joints=(
            Joint("shoulder", "revolute", "upper", axis=(0, 1, 0), v0=2.0),
            Joint("elbow", "revolute", "fore", parent=Frame("upper", (1.0, 0, 0)), axis=(0, 0, 1), v0=3.0),
            Joint("wrist", "revolute", "hand", parent=Frame("fore", (0.5, 0, 0)), axis=(0, 1, 0), v0=-3.0),
        ),
    )
    result = simulate(model, 0.1, rtol=1e-6)
    write_report(result, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    data = re.search(r'<script type="application/json" id="data">.*?</script>', text, re.DOTALL)
    scripts = "".join((PAGE / f"{name}.js").read_text() for name in ("data", "shapes", "pose"))
    page = browser.new_page()
    page.set_content(data[0])
    page.add_script_tag(content=f"{scripts}\nwindow.film = new Film(DATA.runs[0].film);")
    assert not page.evaluate("film.local")
    t = 0.0625
    for enlarge in (1.0, 20.0):
        places = page.evaluate(
            f"film.pose({t}, {enlarge}).bodies.map(({{ p }}) => p.map((x, c) => x + film.origin[c]))"
        )
        _, p = result.placements([t], enlarge=enlarge)
        # single precision of lengths of about a metre, and straight lines between instants 1e-4 s apart
        np.testing.assert_allclose(places, p[0], atol=3e-6)
        tip = page.evaluate(f"Array.from(film.pose({t}, {enlarge}).beams[0].p.slice(-3), (x, c) => x + film.origin[c])")
        np.testing.assert_allclose(tip, result.stations([t], enlarge=enlarge)["upper"][1][0, -1], atol=3e-6)
    assert np.abs(p - result.placements([t])[1]).max() > 0.01
    page.close()


def long_chain() -> Model:
    n = 120
    parents = [Frame("world"), *(Frame(f"b{k}", (0.1, 0.0, 0.0)) for k in range(n - 1))]
    return Model(
        "long",
        bodies=tuple(Body(f"b{k}", mass=1.0, shape=Rod(0.1, 0.01)) for k in range(n)),
        joints=tuple(Joint(f"j{k}", "revolute", f"b{k}", parent=parents[k], axis=(0, 1, 0)) for k in range(n)),
    )


def bending_drop() -> Model:
    """A free beam that falls on a plane, without friction; two planes of bending, so a picture in space."""
    material, section = Material(7e10, 2700.0), Rectangle(0.02, 0.03)
    beam = Beam("rod", 1.0, material, section, bending_y=1, bending_z=1, damping=Damping(ratio=0.05))
    law = NormalLaw("hunt-crossley", 1e7, restitution=0.7)
    return Model(
        "drop", bodies=(beam,), base=Base("floating", (0.0, 0.0, 0.05)), contacts=(Contact("ground", law, Plane()),)
    )


MODELS = {
    "long": (long_chain, 0.1),
    "bending": (bending_drop, 0.15),
    "still": (lambda: Model("still", bodies=(Body("block", mass=1.0, shape=Rod(1.0)),)), 0.1),
}


def test_box_throws_a_whole_shadow(browser: Any, tmp_path: Path) -> None:
    """Of a box that hovers, the shadow is as large as the box from above: grey where only the grid would be."""
    plate = Body("plate", mass=1.0, shape=Box((1.0, 1.0, 0.02)))
    model = Model("hover", bodies=(plate,), base=Base("floating", (0.0, 0.0, 0.0)))
    write_report(simulate(model, 0.5, rtol=1e-6), tmp_path / "report.html")
    with Opened(browser, tmp_path / "report.html") as opened:
        if opened.page.locator("#view-space").is_visible():
            opened.page.locator("#view-space").click()
        opened.settle()
        grey, blue = opened.page.evaluate(
            """(() => {
                const canvas = document.getElementById("robot");
                const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
                let [grey, blue] = [0, 0];
                for (let k = 0; k < data.length; k += 4) {
                    const a = data[k + 3] / 255;  // the paper below is white
                    const [r, g, b] = Array.from(data.subarray(k, k + 3), (value) => 255 + a * (value - 255));
                    if (Math.abs(r - b) < 14 && r > 195 && r < 222) grey++;
                    if (b - r > 60 && b > 150) blue++;
                }
                return [grey, blue];
            })()"""
        )
        # seen from the same side both look alike; edges and grid lines take a part
        assert 0.7 < grey / blue < 1.3


@pytest.mark.parametrize("name", MODELS)
def test_any_model_has_a_page_that_draws(browser: Any, tmp_path: Path, name: str) -> None:
    """Many bodies, beams in space, nothing that moves."""
    build, duration = MODELS[name]
    write_report(simulate(build(), duration, rtol=1e-6), tmp_path / "report.html")
    with Opened(browser, tmp_path / "report.html") as opened:
        count = "new Set(document.getElementById('robot').getContext('2d').getImageData(0, 0, 700, 400).data).size"
        opened.settle()
        assert opened.page.evaluate(count) > 8
        opened.page.keyboard.press("End")
        assert opened.time() == pytest.approx(duration)

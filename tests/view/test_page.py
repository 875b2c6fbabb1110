"""The report page in a browser: it moves, charts and keys answer, nothing is fetched, nothing is complained about."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pliant.command.job import prepare_job, run_job
from pliant.errors import ModelError
from pliant.model.bodies import Body, Box, Frame, Rod
from pliant.model.contacts import Contact, NormalLaw, Plane
from pliant.model.control import Controller
from pliant.model.control_laws import PD
from pliant.model.flexible import Beam, Damping, Material, Rectangle
from pliant.model.joints import Joint, Limit
from pliant.model.model import Base, Model, Output
from pliant.model.signals import Constant
from pliant.report_types import Finding, Lines, Panel
from pliant.simulation.simulate import simulate
from pliant.study.study import Study
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

    def __init__(
        self, browser: Any, path: Path, size: str = "desktop", allowed: Path | None = None, **context: Any
    ) -> None:
        given = {"reduced_motion": "reduce", "has_touch": size == "phone", **context}
        self.context = browser.new_context(viewport=SIZES[size], offline=True, **given)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.known = {path.as_uri(), *([allowed.as_uri()] if allowed else [])}
        self.page.on("request", lambda request: self._note(request.url))
        self.page.goto(path.as_uri())

    def _note(self, url: str) -> None:
        if url not in self.known and not url.startswith(("data:", "blob:")):
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
        row = opened.page.locator("tr.jump").first
        start, end = (float(row.get_attribute(f"data-{name}")) for name in ("start", "end"))
        assert opened.time() == pytest.approx(start, abs=1e-6)
        keyboard.press("]")
        assert opened.time() == pytest.approx(0.5 * (start + end), abs=1e-6)
        keyboard.press("[")
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
        for key in "mcvb":
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


def test_many_runs_share_their_axes_and_the_reader_chooses(browser: Any, tmp_path: Path) -> None:
    """One chart per panel, whose curves are the runs chosen, each in a colour of its own as long as it is shown."""
    hinge = Joint("hinge", "revolute", "rod", axis=(0, 1, 0), q0=0.3)
    model = Model("swing", bodies=(Body("rod", mass=1.0, shape=Rod(1.0)),), joints=(hinge,))
    runs = {f"damping {k}": simulate(replace(model, joints=(replace(hinge, damping=0.02 * k),)), 2.0) for k in range(9)}
    panels = (Panel("Swing", "rad", (("angle", "hinge"),)), Panel("Both", "", (("q", "hinge"), ("v", "hinge.rate"))))
    write_report(runs["damping 0"], tmp_path / "report.html", variants=runs, panels=panels)
    with Opened(browser, tmp_path / "report.html") as opened:
        cards = opened.page.locator("[data-role=runs]")
        assert cards.count() == 2
        cards.last.scroll_into_view_if_needed()
        cards.last.locator(".nsewdrag").first.wait_for()
        shown = "(card) => card.querySelector('.plot').data.map(({ name, line }) => [name, line.color])"
        first = dict(cards.first.evaluate(shown))
        assert list(first) == [f"damping {k}" for k in (0, 2, 4, 6, 8)]
        assert len(set(first.values())) == 5
        boxes = opened.page.locator("#run-choices input")
        boxes.nth(1).check()
        boxes.nth(0).uncheck()
        now = dict(cards.first.evaluate(shown))
        assert "damping 1" in now
        assert "damping 0" not in now
        assert all(now[label] == colour for label, colour in first.items() if label in now)
        # one of the two curves of the panel
        before = cards.last.evaluate("(card) => card.querySelector('.plot').data[0].y.slice(-1)[0]")
        cards.last.locator("select").select_option("v")
        assert cards.last.evaluate("(card) => card.querySelector('.plot').data[0].y.slice(-1)[0]") != before
        opened.page.click("#run-choices button[data-all='true']")
        assert len(cards.first.evaluate(shown)) == 9


def test_attitude_is_shown_as_angles_on_request(browser: Any, tmp_path: Path) -> None:
    model = Model(
        "satellite",
        bodies=(Body("bus", mass=5.0, shape=Box((0.5, 0.3, 0.2))),),
        base=Base("floating", velocity=(0.0, 0.0, 0.0), angular_velocity=(0.0, 0.0, 0.5)),
        gravity=(0.0, 0.0, 0.0),
        outputs=(Output("seen", "bus", "attitude"),),
    )
    result = simulate(model, 1.0)
    write_report(result, tmp_path / "report.html")
    with Opened(browser, tmp_path / "report.html") as opened:
        cards = opened.page.locator(".chart", has=opened.page.locator("select.form"))
        assert [card.locator("h3").text_content() for card in cards.all()] == ["bus: attitude", "seen: attitude"]
        card = cards.first
        card.scroll_into_view_if_needed()
        card.locator(".nsewdrag").first.wait_for()
        names = "(card) => card.querySelector('.plot').data.map(({ name }) => name)"
        assert card.evaluate(names) == ["qx", "qy", "qz", "qw"]
        card.locator("select").select_option(index=1)
        assert card.evaluate(names) == ["about z", "about y", "about x"]
        ends = card.evaluate("(card) => card.querySelector('.plot').data.map(({ y }) => y[y.length - 1])")
        # it spins about z at 0.5 rad/s for 1 s; single precision
        assert ends == pytest.approx([0.5, 0.0, 0.0], abs=1e-6)


def test_axes_do_not_magnify_rounding_and_numbers_on_them_are_short(browser: Any, tmp_path: Path) -> None:
    """Lines by which one reads a chart: a range for what does not move, a prefix for what is small, both named."""
    t = np.linspace(0.0, 1.0, 50)
    wave = np.sin(7 * t)
    drawn = {
        "noise": ("m", 1.0 + 1e-16 * wave),
        "small": ("m", 3e-5 * wave),
        "large": ("N m", 4e5 * wave),
        "plain": ("rad", 0.3 * wave),
        "area": ("m^2", 3e-5 * wave),
    }
    charts = tuple(Lines(name, unit, "time", "s", ((name, t, y),)) for name, (unit, y) in drawn.items())
    words = {"title": "Axes", "description": "", "settings": {}, "setting_table": {}}
    write_findings(tmp_path / "report.html", [Finding("Axes", "Some.", charts=charts)], **words)
    with Opened(browser, tmp_path / "report.html") as opened:
        axes = {}
        for name, card in zip(drawn, opened.page.locator(".chart").all(), strict=True):
            card.scroll_into_view_if_needed()
            card.locator(".nsewdrag").first.wait_for()
            axes[name] = card.evaluate(
                "(card) => (({ range, title }) => [range, title.text])(card.querySelector('.plot').layout.yaxis)"
            )
        (low, high), unit = axes["noise"]
        assert high - low > 0.1
        assert unit == "[m]"
        assert axes["small"][1] == "[\u00b5m]"
        assert axes["small"][0][1] == pytest.approx(30 * 1.12, rel=0.05)
        assert [axes[name][1] for name in ("large", "plain")] == ["[kN m]", "[rad]"]
        # a prefix on a squared unit would be misread
        assert axes["area"][1] == "[10\u207b\u2076 m\u00b2]"


def test_curves_on_each_other_are_dashed_in_turn(browser: Any, tmp_path: Path) -> None:
    t = np.linspace(0.0, 1.0, 200)
    wave = np.sin(9 * t)
    curves = (("a", t, wave), ("b", t, wave + 1e-5), ("c", t, -wave), ("d", t, 1.0001 * wave))
    peaks = tuple((f"p{k}", t, np.exp(-((t - 0.2 - 0.3 * k) ** 2) / 1e-4)) for k in range(3))
    charts = (Lines("Alike", "m", "time", "s", curves), Lines("Peaks", "N", "time", "s", peaks))
    words = {"title": "Curves", "description": "", "settings": {}, "setting_table": {}}
    write_findings(tmp_path / "report.html", [Finding("Curves", "Some.", charts=charts)], **words)
    with Opened(browser, tmp_path / "report.html") as opened:
        opened.page.locator(".nsewdrag").nth(1).wait_for()
        dashes = [
            card.evaluate("(card) => card.querySelector('.plot').data.map(({ line }) => line.dash)")
            for card in opened.page.locator(".chart").all()
        ]
        assert dashes[0][0] == dashes[0][2] == "solid"
        assert len({dashes[0][0], dashes[0][1], dashes[0][3]}) == 3
        # all are 0 most of the time, but no peak lies on another
        assert dashes[1] == ["solid"] * 3


def servo_arm() -> Model:
    """An arm whose motor reaches its limit, and whose elbow reaches the end of its range."""
    controller = Controller("servo", 0.01, ("shoulder",), law=PD(200.0, 5.0, Constant(1.0)), limit=4.0)
    bodies = (Body("upper", mass=1.0, shape=Rod(0.5)), Body("fore", mass=0.5, shape=Rod(0.4)))
    joints = (
        Joint("shoulder", "revolute", "upper"),
        Joint(
            "elbow",
            "revolute",
            "fore",
            parent=Frame("upper", (0.5, 0.0, 0.0)),
            v0=3.0,
            limit=Limit(upper=0.4, stiffness=500.0, damping=1.0),
        ),
    )
    return Model("servo arm", bodies=bodies, joints=joints, controllers=(controller,), gravity=(0.0, 0.0, 0.0))


@pytest.fixture(scope="module")
def servo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("servo") / "report.html"
    write_report(simulate(servo_arm(), 1.0), path)
    return path


def test_references_are_shown_beside_the_motion_in_its_colour(browser: Any, servo: Path) -> None:
    with Opened(browser, servo) as opened:
        opened.page.locator("[role=tab]", has_text="Control").click()
        card = opened.page.locator(".chart:visible").first
        card.locator(".nsewdrag").first.wait_for()
        assert card.locator("h3").inner_text() == "servo: motion and reference, at most 1 rad apart"  # a step of 1 rad
        curves = "data.map(({ name, y, line }) => [name, y.at(-1), line.color, line.dash])"
        motion, reference = card.evaluate(f"(card) => card.querySelector('.plot').{curves}")
        assert [motion[0], reference[:2]] == ["shoulder", ["shoulder: reference", 1.0]]
        assert motion[2] == reference[2]
        assert [motion[3], reference[3]] == ["solid", "dash"]


def test_limits_of_joints_are_lines_in_the_charts_of_their_coordinates(browser: Any, servo: Path) -> None:
    with Opened(browser, servo) as opened:
        card = opened.page.locator(".chart:visible").first
        card.locator(".nsewdrag").first.wait_for()
        assert card.locator("h3").inner_text() == "Angles"
        lines = "(card) => card.querySelector('.plot').layout.annotations.map(({ text, y }) => [text, y])"
        assert card.evaluate(lines) == [["elbow: upper limit", 0.4]]


def test_commands_are_shown_with_their_limits(browser: Any, servo: Path) -> None:
    with Opened(browser, servo) as opened:
        opened.page.locator("[role=tab]", has_text="Control").click()
        card = opened.page.locator(".chart:visible").nth(1)
        card.locator(".nsewdrag").first.wait_for()
        assert card.locator("h3").inner_text() == "servo: command, reaches its limit of 4 N m"
        levels = card.evaluate("(card) => card.querySelector('.plot').layout.shapes.map(({ y0 }) => y0)")
        assert levels == [4.0, -4.0]
        low, high = card.evaluate("(card) => card.querySelector('.plot').layout.yaxis.range")
        assert low < -4.0
        assert high > 4.0


def test_event_of_a_limit_is_named_and_stopped_at(browser: Any, servo: Path) -> None:
    with Opened(browser, servo) as opened:
        row = opened.page.locator("tr.jump").first
        assert row.inner_text().startswith("elbow reaches its upper limit")
        opened.page.keyboard.press("]")
        assert opened.time() == pytest.approx(float(row.get_attribute("data-start")), abs=1e-5)  # digits of the clock
        assert opened.page.locator("#marks .event").count() > 0


def test_names_light_up_from_the_picture_and_from_charts(browser: Any, servo: Path) -> None:
    """Resting on a body, or on the name of a curve, changes the picture; leaving brings it back."""
    with Opened(browser, servo) as opened:
        page = opened.page
        start, box = opened.picture(), page.locator("#robot").bounding_box()
        # somewhere on the arm, which lies across the picture
        heights = np.linspace(0.1, 0.9, 60)
        for height in heights:
            page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + height * box["height"])
            if opened.picture() != start:
                break
        else:
            raise AssertionError("no body answers the mouse")
        page.mouse.move(box["x"] - 5, box["y"] - 5)
        assert opened.picture() == start
        card = page.locator(".beside .chart:visible").first
        card.locator(".legendtoggle").first.wait_for()
        card.locator(".legendtoggle").first.hover()
        assert opened.picture() != start
        faint = card.evaluate(
            "(card) => [...card.querySelectorAll('.scatterlayer .trace')].map((one) => one.style.opacity)"
        )
        assert sorted(faint) == ["", "0.18"]
        page.mouse.move(box["x"] - 5, box["y"] - 5)
        assert opened.picture() == start
        page.select_option("#names", "joints")
        assert opened.picture() != start


def test_several_pages_share_the_script_of_their_charts(browser: Any, tmp_path: Path) -> None:
    result = simulate(MODELS["still"][0](), 0.1)
    shared = tmp_path / "shared" / "plotly.min.js"
    shared.parent.mkdir()
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        result.report(tmp_path / name / "report.html", plotly=shared)
    assert all((tmp_path / name / "report.html").stat().st_size < 1_000_000 for name in ("first", "second"))
    with Opened(browser, tmp_path / "second" / "report.html", allowed=shared) as opened:
        opened.page.locator(".nsewdrag").first.wait_for()
    (tmp_path / "other.js").write_text("alert(1)")
    with pytest.raises(ModelError, match=r"other.js: this file is there, and no plotly.js; name another"):
        result.report(tmp_path / "report.html", plotly=tmp_path / "other.js")


@pytest.mark.parametrize(
    ("residual", "css", "words"),
    [(1e-4, "status warn", "Done, with 1 warning."), (0.01, "status bad", "Done, but wrong.")],
)
def test_run_with_warnings_is_not_green(browser: Any, tmp_path: Path, residual: float, css: str, words: str) -> None:
    result = simulate(servo_arm(), 0.1)
    result = replace(result, audit={**result.audit, "energy_residual": residual})
    write_report(result, tmp_path / "report.html")
    with Opened(browser, tmp_path / "report.html") as opened:
        first, second = opened.page.locator("header .status").all()
        assert first.get_attribute("class") == css
        assert first.inner_text().startswith(words)
        assert "Energy appears or vanishes" in second.inner_text()


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


# --- studies ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
def test_a_click_on_a_run_of_a_study_gives_the_line_that_makes_it(browser: Any, tmp_path: Path, size: str) -> None:
    ranges = {"force": "0:1:4", "mass": "log:0.5:2:3", "integrator": ["dop853", "adams"], "max_steps": [3, 10_000]}
    study = Study("two-link-arm", ranges, ["max(psi1)", "psi2"], settings={"duration": 0.05})
    runs = study.run(tmp_path / "study")
    assert len(runs.failed) == 24  # with three steps
    runs.report(tmp_path / "study" / "report.html")
    opened = Opened(browser, tmp_path / "study" / "report.html", size)
    page = opened.page
    # where a line crosses the middle between the first two axes
    box = page.locator("#parallel").bounding_box()
    assert box is not None
    for share in np.linspace(0.2, 0.8, 13):
        page.mouse.click(box["x"] + 64 + (box["width"] - 128) / 10, box["y"] + 56 + share * (box["height"] - 82))
        if page.locator("#row-command").count():
            break
    command = page.locator("#row-command").inner_text()
    row = int(page.locator("#row-words strong").inner_text().removeprefix("Row "))
    # as the command line reads it: 2 and 2.0 are the same
    words = [[word.replace(".0", "") for word in shlex.split(line)] for line in (command, study.command(row))]
    assert words[0] == words[1]
    assert page.locator("#row-report").inner_text() == f"pliant sweep --out {tmp_path / 'study'} --report {row}"
    assert page.locator("#scatter .point").count() == 24  # failed runs have no figures
    assert page.locator("#heat .heatmaplayer image").count() == 1
    assert page.locator("#responses .chart").count() == 4
    page.select_option("#heat-z", index=1)
    page.select_option("#colour", index=1)
    page.select_option("#response", index=1)
    assert "more than max_steps steps" in page.inner_text("main")
    assert opened.complaints == []


def test_a_study_without_a_good_run_and_one_of_very_many_rows_have_pages(browser: Any, tmp_path: Path) -> None:
    def swing(length: float) -> Model:
        rod = Body("rod", 1.0, shape=Rod(length))
        return Model("swing", [rod], [Joint("hinge", "revolute", "rod", axis=(0, 1, 0))], duration=0.01)

    Study(swing, {"length": [1.0, 2.0]}, "hinge", settings={"max_steps": 1}).run().report(tmp_path / "none.html")
    many = Study(swing(1.0), {"hinge.start": "-1:1"}, "hinge", sample=9000).run()
    many.report(tmp_path / "many.html")
    for name, words in (("none", "2 runs failed"), ("many", "4000 of them, evenly chosen, are on this page")):
        opened = Opened(browser, tmp_path / f"{name}.html")
        assert words in opened.page.inner_text("header")
        assert opened.complaints == []

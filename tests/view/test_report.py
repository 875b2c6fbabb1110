"""The report page: complete, self-contained, drawable for flat and spatial robots, honest about failures."""

from __future__ import annotations

import base64
import dataclasses
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pliant.cases.loading import load
from pliant.cases.two_link_arm import CASE
from pliant.errors import AccuracyWarning, ModelError
from pliant.model.bodies import Body, Box, Frame, Rod, Sphere
from pliant.model.contacts import Contact, NormalLaw
from pliant.model.flexible import Beam, BoxTube, Damping, Material, Rectangle, TaperedSection
from pliant.model.joints import Joint
from pliant.model.loops import Loop
from pliant.model.model import Base, Crossing, Load, Model, Output
from pliant.model.signals import Constant
from pliant.report_types import Panel
from pliant.result import Result
from pliant.results.recording import Event, energy_error
from pliant.simulation.simulate import simulate
from pliant.trust.certify import certify
from pliant.view.arrays import STEPS, Arrays
from pliant.view.charts.chart import Curve, decimate, line_chart, linear_ticks, nice_step
from pliant.view.charts.quantities import Quantities, coordinate_panels, output_panels, rate_panels
from pliant.view.page.film import film
from pliant.view.page.film_times import film_times
from pliant.view.page.heading import describe
from pliant.view.page.report import write_report
from pliant.view.picture.pose import pose
from pliant.view.picture.projection import fit
from pliant.view.picture.robot import write_picture
from pliant.view.picture.scene import make_scene
from pliant.view.picture.skeleton import Shell, skeleton
from pliant.view.picture.solids import solids
from pliant.view.svg import readable

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def arm() -> Result:
    return simulate(CASE.build(CASE.resolve({})), 2.0, **CASE.run)


@pytest.fixture(scope="module")
def satellite() -> Result:
    """Floating base, spherical shoulder, elbow, and a body without a shape."""
    model = Model(
        "satellite",
        bodies=(
            Body("bus", mass=20.0, shape=Box((0.8, 0.6, 0.5))),
            Body("upper", mass=2.0, shape=Rod(1.0, 0.03)),
            Body("fore", mass=1.0, com=(0.3, 0.1, 0.0), inertia=(0.1, 0.1, 0.1)),
            Body("hand", mass=0.5, shape=Sphere(0.1)),
        ),
        base="floating",
        gravity=(0.0, 0.0, 0.0),
        joints=(
            Joint("shoulder", "spherical", "upper", parent=Frame("bus", (0.4, 0.0, 0.25)), v0=(0.1, -0.5, 0.6)),
            Joint("elbow", "revolute", "fore", parent=Frame("upper", (1.0, 0.0, 0.0)), axis=(0, 1, 0), v0=-2.0),
            Joint("slide", "prismatic", "hand", parent=Frame("fore", (0.6, 0.0, 0.0)), stiffness=50.0),
        ),
        outputs=(Output("hand", "hand", "position"), Output("load", "shoulder", "reaction")),
        crossings=(Crossing("elbow_bent", of="elbow", value=-0.1),),
    )
    return simulate(model, 1.0)


def write_arm(result: Result, path: Path, **options: object) -> str:
    settings = CASE.resolve({})
    given = {
        "title": CASE.title,
        "figures": CASE.figures(result) if result.dense else {},
        "panels": CASE.panels(settings),
        "settings": settings,
        "figure_table": CASE.figure_table,
        "setting_table": CASE.settings,
    }
    write_report(result, path, **(given | options))  # type: ignore[arg-type]
    return path.read_text(encoding="utf-8")


KINDS = {"f4": "<f4", "f8": "<f8", "u1": "u1", "i4": "<i4"}


@dataclasses.dataclass(frozen=True)
class Page:
    """A page taken apart: its markup without scripts, and its data with every array decoded."""

    markup: str
    data: dict[str, Any]

    def array(self, number: int) -> NDArray[Any]:
        text = self.data["arrays"][number]
        if text.startswith("u2"):
            low, step, packed = text[2:].split(" ")
            levels = np.frombuffer(base64.b64decode(packed), "<u2")
            return np.where(levels > STEPS, np.nan, float(low) + float(step) * levels)
        return np.frombuffer(base64.b64decode(text[2:]), KINDS[text[:2]])

    def titles(self) -> list[str]:
        return [chart["title"] for chart in self.data["charts"]]


class Tags(HTMLParser):
    """Which elements and attributes a page has."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}


def check_page(text: str) -> Page:
    """One file that fetches nothing, small; every chart has a card, every array is used and the film is finite."""
    assert len(text.encode()) < 8_000_000
    assert "default-src 'none'" in text
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found
    markup = re.sub(r"<(script|style)\b.*?</\1>", "", text, flags=re.DOTALL)
    tags = Tags()
    tags.feed(text)
    assert not {name for name in tags.attributes if name in ("src", "href", "style") or name.startswith("on")}
    assert not tags.names & {"link", "img", "iframe", "base", "object", "embed"}
    assert not re.search(r"url\(|@import", text[: text.index("</style>")])
    page = Page(markup, json.loads(found[1]))
    assert re.findall(r'data-chart="(\d+)"', markup) == [str(k) for k in range(len(page.data["charts"]))]
    for chart in page.data["charts"]:
        for curve in (curve for form in (chart, *chart["forms"]) for curve in form["curves"]):
            assert len(page.array(curve["x"])) == len(page.array(curve["y"]))
    for shown in (run["film"] for run in page.data["runs"] if run["film"]):
        n, t = shown["n"], page.array(shown["t"])
        assert len(t) == n <= 2000
        assert np.all(np.diff(t) > 0)
        assert page.array(shown["p"]).size == 3 * n * len(shown["bodies"])
        q = page.array(shown["q"]).reshape(-1, 4)
        np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1.0, atol=1e-6)  # single precision
        assert np.isfinite(page.array(shown["p"])).all()
    return page


def test_page_holds_figures_panels_and_truth(arm: Result, tmp_path: Path) -> None:
    page = check_page(write_arm(arm, tmp_path / "report.html"))
    panels = CASE.panels(CASE.resolve({}))
    for words in (*CASE.figures(arm), *arm.audit, *CASE.settings, arm.settings["formulation"], "numba", "Python"):
        assert words in page.markup
    assert "within" in page.markup
    assert ">outside" not in page.markup
    assert page.titles()[: len(panels)] == [panel.title for panel in panels]
    for title in ("Angles", "Angular rates", "Energies and works", "Energy error, relative"):
        assert title in page.titles()
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_film_is_where_the_robot_is(arm: Result, satellite: Result, tmp_path: Path) -> None:
    """Places and attitudes of the page's data against placements of the run, to single precision."""
    for result in (arm, satellite):
        write_report(result, tmp_path / "report.html")
        page = check_page((tmp_path / "report.html").read_text(encoding="utf-8"))
        film = page.data["runs"][0]["film"]
        R, p = result.placements(page.array(film["t"]))
        size = float(np.max(np.ptp(p.reshape(-1, 3), axis=0)))
        shown = page.array(film["p"]).reshape(p.shape) + film["origin"]
        np.testing.assert_allclose(shown, p, atol=1e-6 * size)
        x, y, z, w = np.moveaxis(page.array(film["q"]).reshape(*p.shape[:2], 4).astype(float), -1, 0)
        first = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)], axis=-1)
        np.testing.assert_allclose(first, R[..., 0], atol=1e-6)
        # attitudes between instants are mixed: no jump of sign
        four = np.stack([x, y, z, w], axis=-1)
        assert np.all(np.sum(four[1:] * four[:-1], axis=-1) > 0)


def test_wrong_figure_is_called_outside_and_nan_not_available(arm: Result, tmp_path: Path) -> None:
    figures = {"psi1_at_1s": 0.1, "load_work": float("nan"), "count": 3}
    page = check_page(write_arm(arm, tmp_path / "report.html", figures=figures)).markup
    assert ">outside" in page
    assert "not available" in page
    page = check_page(write_arm(arm, tmp_path / "report.html", figures={"psi1_at_1s": 0.1}, compares=False)).markup
    assert ">outside" not in page


def test_failed_run_shows_its_reason(arm: Result, tmp_path: Path) -> None:
    failed = dataclasses.replace(arm, status="failed", reason="at t = 0.5 s: the step <size> fell; loosen rtol")
    page = check_page(write_arm(failed, tmp_path / "report.html")).markup
    assert "Failed" in page
    assert "the step &lt;size&gt; fell; loosen rtol" in page


def test_run_that_ended_at_once_and_run_without_dense_output(arm: Result, tmp_path: Path) -> None:
    first = {name: values[:1] for name, values in arm.energy.items()}
    outputs = {name: values[:1] for name, values in arm.outputs.items()}
    start = dataclasses.replace(
        arm,
        t=arm.t[:1],
        q=arm.q[:1],
        v=arm.v[:1],
        energy=first,
        outputs=outputs,
        dense=None,
        status="failed",
        reason="x",
    )
    check_page(write_arm(start, tmp_path / "report.html"))
    check_page(write_arm(dataclasses.replace(arm, dense=None), tmp_path / "report.html"))


def test_rows_that_are_not_finite_leave_gaps(arm: Result, tmp_path: Path) -> None:
    q = arm.q.copy()
    q[-1] = np.nan
    broken = dataclasses.replace(arm, q=q, dense=None, status="failed", reason="not finite")
    page = check_page(write_arm(broken, tmp_path / "report.html"))
    film = page.data["runs"][0]["film"]
    assert page.array(film["t"])[-1] == arm.t[-2]


def test_run_without_rows_has_a_page_without_film(arm: Result, tmp_path: Path) -> None:
    none = {name: values[:0] for name, values in arm.energy.items()}
    outputs = {name: values[:0] for name, values in arm.outputs.items()}
    nothing = dataclasses.replace(
        arm,
        t=arm.t[:0],
        q=arm.q[:0],
        v=arm.v[:0],
        energy=none,
        outputs=outputs,
        dense=None,
        status="failed",
        reason="x",
    )
    write_report(nothing, tmp_path / "report.html")
    page = check_page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert page.data["runs"][0]["film"] is None
    assert 'id="robot"' not in page.markup


def test_words_cannot_leave_their_place(arm: Result, tmp_path: Path) -> None:
    """Words from model files, messages and cases are words on the page, in markup and in data, and nothing else."""
    evil = "</script><!--<script><img src=x onerror=alert(1)>&'\""
    model = dataclasses.replace(arm.model, name=evil)
    result = dataclasses.replace(arm, model=model, status="failed", reason=evil, events=(Event(evil, 0.5, evil),))
    words: dict[str, Any] = {"title": evil, "description": evil, "settings": {evil: evil}, "figures": {evil: 1.0}}
    panels = [Panel(evil, evil, ((evil, "psi1"),)), Panel(evil, evil, ((evil, evil),))]
    write_report(result, tmp_path / "report.html", panels=panels, variants={evil: result, "b": result}, **words)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    page = check_page(text)
    assert page.data["title"] == evil
    assert page.data["runs"][0]["label"] == evil
    assert "<!--" not in page.markup
    # data, plotly, our own script, and no other
    assert text.count("</script>") == 3


def test_events_are_among_the_instants_and_long_runs_are_thinned(satellite: Result) -> None:
    times = film_times(satellite, 100)
    assert len(times.t) <= 100
    assert {event.t for event in satellite.events} <= set(times.t.tolist())
    assert (times.n_events, times.n_kept) == (1, 1)
    assert (times.t[0], times.t[-1]) == (0.0, 1.0)


def test_spatial_robot_with_default_panels(satellite: Result, tmp_path: Path) -> None:
    write_report(satellite, tmp_path / "report.html")
    page = check_page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert not make_scene(satellite).view.is_flat
    assert not page.data["runs"][0]["film"]["flat"]
    for words in ("satellite", "elbow_bent", "momentum_drift"):
        assert words in page.markup
    assert "load: moment" in page.titles()
    (attitude,) = (chart for chart in page.data["charts"] if chart["title"] == "shoulder: attitude")
    assert [curve["label"] for curve in attitude["curves"]] == ["qx", "qy", "qz", "qw"]
    angles = attitude["forms"][1]
    assert [curve["label"] for curve in angles["curves"]] == ["about z", "about y", "about x"]
    t = page.array(angles["curves"][0]["x"])
    shown = np.stack([page.array(curve["y"]) for curve in angles["curves"]], axis=1)
    seen = satellite.attitude("upper", "euler:zyx", t, seen_from="bus", unwrap=True)
    np.testing.assert_allclose(shown, seen, atol=1e-5)  # single precision, of t too


def test_views(arm: Result) -> None:
    assert make_scene(arm).view.is_flat
    pendulum = Model(
        "pendulum",
        bodies=(Body("bob", mass=1.0, com=(0.0, 0.0, -1.0)),),
        joints=(Joint("hinge", "revolute", "bob", axis=(0, 1, 0), q0=0.5),),
    )
    scene = make_scene(simulate(pendulum, 0.5))
    assert scene.view.is_flat
    np.testing.assert_array_equal(scene.view.up, [0, 0, 1])


def film_of(name: str, duration: float) -> dict[str, Any]:
    found = film(simulate(load(name), duration), Arrays(), 1_000_000)
    assert found is not None
    return found


def test_joint_that_closes_a_loop_is_drawn_where_it_is() -> None:
    """Of four hinges of a four-bar one closes the loop, at the end of the coupler."""
    result = simulate(load("four-bar"), 0.1)
    marks = [(k, solid) for k, own in enumerate(solids(result.model)) for solid in own if solid.tone == "joint"]
    assert len(marks) == 4
    loop = result.model.loops[0]
    (frame,) = (loop.first,) if isinstance(loop.first, Frame) else (loop.second,)
    ends = [np.mean(solid.line, axis=0) for _, solid in marks if solid.line is not None]
    assert any(np.allclose(end, frame.position) for end in ends)
    # the same in still pictures and videos
    scene = make_scene(result)
    canvas = fit(scene.view, scene.points(0), 600.0, (300.0, 600.0), 40.0)
    assert sum(mark.look == "joint" for mark in pose(scene, canvas, 0)) == 4


def test_platform_is_a_plate_over_the_joints_of_its_legs() -> None:
    model = load("parallel-3rrr")
    (plate,) = skeleton(model)[-1]
    assert isinstance(plate, Shell)
    vertices = [np.array(loop.first.position) for loop in model.loops]
    middle = plate.points.reshape(2, 3, 3).mean(axis=0)
    assert all(np.linalg.norm(middle - vertex, axis=1).min() < 1e-12 for vertex in vertices)
    # closed, and every face seen from outside: the volume by the divergence theorem is area times thickness
    corners = plate.points[np.array(plate.faces)]
    volume = np.sum(np.linalg.det(corners)) / 6
    area = 0.5 * np.linalg.norm(np.cross(vertices[1] - vertices[0], vertices[2] - vertices[0]))
    thickness = np.ptp(plate.points[:, 2])
    assert abs(volume) == pytest.approx(area * thickness, rel=1e-12)
    assert volume > 0


def test_flat_view_is_first_where_all_hinges_turn_about_one_direction() -> None:
    """A planar parallel robot is seen flat; an arm with a turntable in space, though it happens to swing in a plane."""
    platform = film_of("parallel-3rrr", 0.1)
    assert (platform["flat"], platform["starts_flat"]) == (True, True)
    lifter = film_of("examples/lifter.urdf", 2.0)
    assert (lifter["flat"], lifter["starts_flat"]) == (True, False)


def test_distance_loop_is_a_rod_and_what_the_world_holds_by_loops_has_a_foot() -> None:
    model = Model(
        "swing",
        bodies=(Body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1)),),
        base=Base("floating", (1.0, 0.0, 0.0)),
        loops=(Loop("rope", "distance", "world", "bob", length=1.0),),
    )
    found = film(simulate(model, 0.1), Arrays(), 1_000_000)
    assert found is not None
    assert [end["body"] for end in found["rods"][0]] == [-1, 0]
    np.testing.assert_allclose(np.add(found["feet"][0]["at"], found["origin"]), 0.0, atol=1e-15)


def test_result_writes_its_own_report(arm: Result, tmp_path: Path) -> None:
    arm.report(tmp_path / "arm.html", title="My arm", t=0.5)
    page = check_page((tmp_path / "arm.html").read_text(encoding="utf-8"))
    assert page.data["title"] == "My arm"
    assert page.data["moment"] == 0.5


def test_picture_file(satellite: Result, tmp_path: Path) -> None:
    write_picture(satellite, tmp_path / "robot.svg")
    picture = ElementTree.parse(tmp_path / "robot.svg").getroot()
    assert picture.tag == f"{SVG}svg"
    assert picture.find(f"{SVG}style") is not None


@pytest.fixture(scope="module")
def cantilever() -> Result:
    """A tapered beam that bends up and down; gravity along -z, its tip loaded."""
    beam = Beam(
        "beam",
        2.0,
        Material(2.1e11, 7850.0),
        TaperedSection((Rectangle(0.05, 0.2), Rectangle(0.05, 0.08))),
        bending_z=3,
        coupling="linear",
        damping=Damping(ratio=0.05),
    )
    model = Model(
        "cantilever",
        bodies=(beam,),
        frames=(Frame("beam", (2.0, 0.0, 0.0), name="tip"),),
        loads=(Load("tip", z=Constant(-2e4)),),
        outputs=(Output("tip", "tip", "position"),),
    )
    return simulate(model, 0.2)


def test_beam_is_drawn_as_it_bends(cantilever: Result, tmp_path: Path) -> None:
    """Where its sections are, as high as they are, and the deformation enlarged as asked."""
    t = [0.01, 0.2]
    tip = cantilever.outputs_at(t)["tip"]
    np.testing.assert_allclose(cantilever.stations(t)["beam"][1][:, -1], tip, atol=1e-14)
    straight = np.array([2.0, 0.0, 0.0])
    scene = make_scene(cantilever, t=0.2, enlarge=20.0)
    assert scene.times == pytest.approx([0.2])
    np.testing.assert_array_equal(scene.view.up, [0, 0, 1])
    np.testing.assert_allclose(scene.beams[0].p[0, -1], straight + 20 * (tip[1] - straight), atol=1e-12)
    np.testing.assert_allclose(scene.beams[0].straight[0], [[0, 0, 0], straight], atol=1e-14)
    write_picture(cantilever, tmp_path / "beam.svg", t=0.2, enlarge=20.0)
    picture = ElementTree.parse(tmp_path / "beam.svg").getroot()
    paths = {element.attrib["class"]: element.attrib["d"] for element in picture.iter(f"{SVG}path")}
    outline = np.array(re.findall(r"[ML]([\d.]+) ([\d.]+)", paths["beam"]), dtype=float)
    (start, _), (end, _) = np.array(re.findall(r"[ML]([\d.]+) ([\d.]+)", paths["dashed"]), dtype=float)
    scale = (end - start) / 2.0
    heights = np.linalg.norm(outline[:25] - outline[25:][::-1], axis=1) / scale
    np.testing.assert_allclose(heights, np.linspace(0.2, 0.08, 25), atol=0.2 / scale)
    assert "deformation \u00d7 20" in (tmp_path / "beam.svg").read_text(encoding="utf-8")
    write_picture(cantilever, tmp_path / "plain.svg")
    assert not re.search(r'class="dashed"|deformation', (tmp_path / "plain.svg").read_text(encoding="utf-8"))


def test_report_of_a_spatial_robot_with_beams(tmp_path: Path) -> None:
    """Frames off the axis of a beam, a slide on it, torsion, an enlarged picture."""
    tube = BoxTube(0.08, 0.05, 0.003)
    model = Model(
        "arm",
        bodies=(
            Beam("upper", 1.5, Material(7e10, 2700.0), tube, bending_y=1, bending_z=1, torsion=1),
            Body("slider", mass=1.0, shape=Sphere(0.05)),
        ),
        joints=(
            Joint("shoulder", "universal", "upper", v0=(1.0, 0.5)),
            Joint("slide", "prismatic", "slider", parent=Frame("upper", (1.0, 0.0, 0.1)), axis=(0, 1, 0)),
        ),
        frames=(Frame("upper", (1.5, 0.2, 0.0), name="hand"),),
        outputs=(
            Output("hand", "hand", "position"),
            Output("root", "upper", "section"),
            Output("bent", "upper", "strain"),
            Output("tense", "upper", "stress"),
        ),
    )
    result = simulate(model, 0.1, rtol=1e-6)
    write_report(result, tmp_path / "report.html", enlarge=4.0)
    page = check_page((tmp_path / "report.html").read_text(encoding="utf-8"))
    for title in ("root: moments", "bent: curvature and twist", "tense: stress", "upper: largest axial stress"):
        assert title in page.titles()
    assert "Torsion" in page.titles()
    labels = [curve["label"] for chart in page.data["charts"] for curve in chart["curves"]]
    assert {"upper.mode1 (y1)", "upper.mode2 (z1)", "upper.mode3 (t1)"} <= set(labels)
    assert page.data["enlarge"] == 4.0
    check_bending(result, page)
    # the curve between the rows follows the bent beam
    t, x = Quantities(result).curve("hand[2]")
    np.testing.assert_allclose(x, result.outputs_at(t)["hand"][:, 2], atol=1e-12)
    with pytest.raises(ModelError, match="outside the run"):
        write_picture(result, tmp_path / "late.svg", t=5.0)


def check_bending(result: Result, page: Page) -> None:
    """Shapes times weights are the beam's sections in its own axes; the levels of its colour are its strain."""
    film = page.data["runs"][0]["film"]
    beam, t = film["beams"][0], page.array(film["t"])
    R, p = result.placements(t)
    _, sections = result.stations(t)["upper"]
    shape = (len(t), beam["n"], 6)
    weights = page.array(beam["weights"]).reshape(len(t), -1)
    values = (weights @ page.array(beam["basis"]).reshape(beam["rank"], -1)).reshape(shape)
    local = beam["length"] * values[..., :3] + np.linspace(0, 1, beam["n"])[:, None] * [beam["length"], 0, 0]
    shown = p[:, None, 0] + np.einsum("tij,tnj->tni", R[:, 0], local)
    # single precision, and shapes left out below 1e-6 of the largest deformation
    np.testing.assert_allclose(shown, sections, atol=1e-6)
    colour = beam["colour"]
    times = page.array(colour["t"])
    strain = result.along("upper", "strain", times)[1][..., 4]
    levels = page.array(colour["levels"]).reshape(len(times), -1) / 255 * colour["largest"]["strain"]
    np.testing.assert_allclose(levels, strain, atol=0.51 / 255 * strain.max())
    assert colour["largest"]["stress"] == pytest.approx(7e10 * strain.max())


def test_quantities(arm: Result, satellite: Result, tmp_path: Path) -> None:
    quantities = Quantities(arm)
    t, psi = quantities.curve("psi1")
    assert len(t) >= 800
    np.testing.assert_array_equal(psi, arm.at(t)[0][:, 0])
    np.testing.assert_array_equal(quantities.curve("psi2.rate")[1], arm.at(t)[1][:, 1])
    assert max(quantities.energy_error) == pytest.approx(arm.audit["energy_residual"])
    # positions between the rows agree with the recorded ones at the rows
    for result, name in ((arm, "tip"), (satellite, "hand")):
        for k in range(3):
            t, x = Quantities(result).curve(f"{name}[{k}]")
            np.testing.assert_allclose(x[np.searchsorted(t, result.t)], result.outputs[name][:, k], atol=1e-12)
    for panel in (*coordinate_panels(satellite), *rate_panels(satellite), *output_panels(satellite)):
        for _, quantity in panel.curves:
            assert np.all(np.isfinite(Quantities(satellite).curve(quantity)[1]))
    page = check_page(write_arm(arm, tmp_path / "report.html", panels=[Panel("Wrong", "m", (("x", "typo"),))])).markup
    assert "no quantity &#x27;typo&#x27;" in page


def test_thinned_curve_is_nowhere_farther_than_what_is_seen() -> None:
    """Straight lines between the points kept against the curve itself, and missing values stay missing."""
    t = np.linspace(0.0, 1.0, 4000) ** 1.5
    rows = np.stack([np.sin(40 * t), 1e-6 * np.exp(-((t - 0.5) ** 2) / 1e-4), np.where(t < 0.3, np.nan, t)])
    few_t, few = decimate(t, rows, 1500, 1e-3)
    assert len(few_t) < 800
    for row, kept in zip(rows[:2], few[:2], strict=True):
        assert np.abs(np.interp(t, few_t, kept) - row).max() <= 1e-3 * np.ptp(row)
    np.testing.assert_array_equal(np.isnan(few[2]), few_t < 0.3)
    # a staircase keeps both ends of its steps
    steps_t, steps = np.repeat(np.arange(400.0), 2)[1:], np.repeat(np.arange(400.0) % 7, 2)[:-1]
    few_t, few = decimate(steps_t, steps, 900)
    np.testing.assert_array_equal(few_t, steps_t)
    np.testing.assert_array_equal(few, steps)


def test_energies_between_the_rows_are_balanced(arm: Result) -> None:
    """At the rows they are those recorded; between them no energy appears, either: a row of other steps' ends."""
    at_rows = arm.energies_at(arm.t)
    for name, values in arm.energy.items():
        np.testing.assert_allclose(at_rows[name], values, atol=1e-9 * arm.audit["energy_scale"])
    t = np.linspace(0.0, 2.0, 777)
    between = arm.energies_at(t)
    # dense output is one order less accurate than the steps
    assert energy_error(between, arm.audit["energy_scale"]).max() < 1e-6
    shown_t, shown = Quantities(arm).curve("kinetic")
    assert len(shown_t) > 2 * len(arm.t)
    np.testing.assert_allclose(np.interp(t, shown_t, shown), between["kinetic"], atol=1e-3 * np.ptp(shown))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("stewart", "13 bodies, 6 degrees of freedom, 6 closed loops"),
        ("parallel-3rrr", "7 bodies, 3 degrees of freedom, 3 closed loops"),
        ("falling-chain", "3 bodies, 8 degrees of freedom (3 of bending links)"),
    ],
)
def test_model_is_described_by_its_mobility(name: str, words: str) -> None:
    assert words in describe(simulate(load(name), 0.01))


def test_rounded_arrays_are_within_a_step_and_keep_what_is_missing() -> None:
    values = np.array([1e-3, np.nan, -7.5, 2.0])
    arrays = Arrays()
    number = arrays.rounded(values)
    found = Page("", {"arrays": arrays.texts}).array(number)
    np.testing.assert_allclose(found, values, atol=0.5 * 9.5 / STEPS)
    number = arrays.rounded([3.0, 3.0])
    np.testing.assert_array_equal(Page("", {"arrays": arrays.texts}).array(number), [3.0, 3.0])


def test_decimation_keeps_peaks_and_ends() -> None:
    t = np.linspace(0.0, 1.0, 100_000)
    values = np.sin(7 * t)
    values[31_415], values[27_182] = 50.0, -40.0
    few_t, few = decimate(t, values)
    assert len(few) <= 1500
    assert few.max() == 50.0
    assert few.min() == -40.0
    assert (few_t[0], few_t[-1]) == (0.0, 1.0)
    assert np.all(np.diff(few_t) > 0)


@pytest.mark.parametrize("scale", [1e-300, 1e-20, 1e-3, 1.0, 9.81, 1e7, 1e200])
@pytest.mark.parametrize("shape", ["zero", "constant", "ramp", "offset", "nan"])
@pytest.mark.parametrize("is_log", [False, True])
def test_chart_of_any_range(scale: float, shape: str, is_log: bool) -> None:
    t = np.linspace(0.0, 3.0, 50)
    shapes = {"zero": 0 * t, "constant": 0 * t + 1, "ramp": t - 1, "offset": 1 + 1e-9 * t, "nan": np.nan * t}
    svg = line_chart([Curve("a < b", t, scale * shapes[shape])], unit="m", is_log=is_log)
    # labels of the value axis end where it begins; no two are the same
    labels = [e.text for e in ElementTree.fromstring(svg).iter(f"{SVG}text") if e.attrib["text-anchor"] == "end"][:-1]
    assert len(labels) >= 2
    assert len(set(labels)) == len(labels)
    assert "nan" not in svg


def test_ticks_are_nice() -> None:
    assert nice_step(10.0, 5) == 2.0
    assert linear_ticks(-0.02, 0.31).labels == ("0.0", "0.1", "0.2", "0.3")
    assert linear_ticks(0.0, 3.1e-6).power == -6
    assert readable(-1.23456789e-12, 3) == "\u22121.23 \u00d7 10\u207b\u00b9\u00b2"
    assert [readable(value) for value in (3, 0.0, float("nan"))] == ["3", "0", "not available"]


def test_writing_needs_no_heavy_library(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from pliant.cases.two_link_arm import CASE\n"
        "from pliant.simulation.simulate import simulate\n"
        "result = simulate(CASE.build(CASE.resolve({})), 0.5)\n"
        "before = set(sys.modules)  # numba itself imports scipy.linalg\n"
        "from pliant.view.page.report import write_report\n"
        f"write_report(result, {str(tmp_path / 'report.html')!r})\n"
        "heavy = ('matplotlib', 'plotly', 'xarray', 'scipy', 'h5py')\n"
        "print(*(name for name in set(sys.modules) - before if name.split('.')[0] in heavy))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


# --- the audit block ----------------------------------------------------------------------------------------------


def audit_rows(result: Result, tmp_path: Path) -> dict[str, str]:
    """Cells of the table of the audit, by the name of the check."""
    result.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    block = page[page.index("<h2>Accuracy</h2>") :]
    rows = re.findall(r"<tr><td><code>(\w+)</code></td>(.*?)</tr>", block[: block.index("</table>")], re.DOTALL)
    return dict(rows)


def bouncing(law: str, restitution: float) -> Model:
    joint = Joint("z", "prismatic", "ball", q0=0.5)
    ground = Contact("ground", NormalLaw(law, 1e5, restitution=restitution), points=[Frame("ball", (0, 0, 0))])
    return Model("ball", [Body("ball", 1.0, inertia=(1, 1, 1))], [joint], contacts=[ground])


def test_audit_says_the_reason_beside_its_verdict(tmp_path: Path) -> None:
    """Green with fine steps, amber or red with long ones, and why."""
    swing = Model("pendulum", [Body("rod", 1.0, shape=Rod(1.0))], [Joint("hinge", "revolute", "rod", v0=40.0)],
                  gravity=(0, -9.81, 0))  # fmt: skip
    good = audit_rows(simulate(swing, 1.0), tmp_path)["energy_residual"]
    assert '<strong class="good">ok</strong>' in good
    with pytest.warns(AccuracyWarning):
        bad = audit_rows(simulate(swing, 10.0, integrator="rk4", step=0.2), tmp_path)["energy_residual"]
    assert '<strong class="warn">warning</strong>' in bad
    assert "give a shorter step" in bad


def test_audit_tells_a_restitution_that_is_not_the_one_asked_for(tmp_path: Path) -> None:
    far = audit_rows(simulate(bouncing("hunt-crossley", 0.3), 0.5), tmp_path)["restitution"]
    assert '<strong class="warn">warning</strong>' in far
    assert "Asked for 0.3, contact 1 delivered 0.5" in far
    kept = audit_rows(simulate(bouncing("exact", 0.8), 0.5), tmp_path)["restitution"]
    assert '<strong class="good">ok</strong>' in kept


def test_audit_has_the_digits_of_a_certified_run(tmp_path: Path) -> None:
    found = certify(bouncing("exact", 0.8), 0.5)
    row = audit_rows(found.result, tmp_path)["digits"]
    digits = [figure.digits for figure in found.figures.values()]
    assert f"{min(digits)} to {max(digits)}" in row
    assert '<strong class="good">ok</strong>' in row

"""pliant lab contact: its numbers against closed formulas and scipy, its page, its refusals."""

import dataclasses
import json
import math
import re

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq

from command_line import pliant_command
from pliant.errors import ModelError
from pliant.lab import experiment, rod_hits
from pliant.lab.contact import contact_lab, resolve, write_contact_lab
from pliant.model.friction_laws import FRICTION_LAWS
from pliant.model.normal_laws import NORMAL_LAWS
from pliant.simulation.simulate import simulate

pytestmark = pytest.mark.xdist_group("lab")  # one worker makes the fixture
MASS, SPEED, K, G = 1.3, 0.7, 2e8, 9.81
MU_K, MU_S, V_S, C_V, BELT, SPRING = 0.2, 0.3, 0.05, 0.1, 0.1, 40.0

# X of F = K d^n (1 + X d'/v), typed in once more
X_OF = {
    "hunt-crossley": lambda e: 1.5 * (1 - e),
    "herbert-mcwhannell": lambda e: 6 * (1 - e) / ((2 * e - 1) ** 2 + 3),
    "lee-wang": lambda e: 0.75 * (1 - e),
    "lankarani-nikravesh": lambda e: 0.75 * (1 - e * e),
    "gonthier": lambda e: (1 - e * e) / e,
    "zhiying-qishao": lambda e: 0.75 * (1 - e * e) * math.exp(2 * (1 - e)),
    "flores": lambda e: 1.6 * (1 - e) / e,
    "gharib-hurmuzlu": lambda e: 1 / e,
    "hu-guo": lambda e: 1.5 * (1 - e) / e,
}


def delivered(law, e):
    if law in ("hooke", "hertz") or (e == 1.0 and law != "gharib-hurmuzlu"):
        return 1.0
    if law == "exact":
        return e
    if law == "kelvin-voigt":
        zeta = brentq(lambda z: math.exp(-math.pi * z / math.sqrt(1 - z * z)) - e, 1e-9, 1 - 1e-9, xtol=1e-15)
        return math.exp(-2 * zeta * math.acos(zeta) / math.sqrt(1 - zeta**2))
    X = X_OF[law](e)
    top = min(1.0, 1 / X) * (1 - 1e-15)
    return brentq(lambda r: math.log((1 + X) / (1 - X * r)) - X * (1 + r), 1e-9, top, xtol=1e-15)


@pytest.fixture(scope="module")
def found():
    return contact_lab(resolve({"mass": MASS, "speed": SPEED, "stiffness": K, "sweep": 5, "restitution": 0.35}))


def test_delivered_restitution_of_every_law_is_that_of_its_formula(found):
    rows = found.numbers["restitution"]
    assert {row["law"] for row in rows} == set(NORMAL_LAWS)
    assert {row["requested"] for row in rows} == {0.2, 0.35, 0.4, 0.5, 0.6, 0.8, 1.0}
    for row in rows:
        expected = delivered(row["law"], row["requested"])
        assert row["delivered"] == pytest.approx(expected, abs=1e-8), row
        assert row["formula"] == pytest.approx(expected, abs=1e-8), row
        assert row["difference"] == row["delivered"] - row["formula"]


def test_elastic_times_are_those_of_the_integral(found):
    rows = {row["law"]: row for row in found.numbers["loops"]}
    integral = quad(
        lambda x: math.sqrt((1 - x) / (1 - x**2.5)) if x < 1 else 0.4**0.5, 0, 1, weight="alg", wvar=(0, -0.5)
    )
    depth = (1.25 * MASS * SPEED**2 / K) ** 0.4
    assert rows["hertz"]["time"] == pytest.approx(2 * depth / SPEED * integral[0], rel=1e-8)
    assert rows["hertz"]["time"] == pytest.approx(3.21807 * (MASS**2 / (K**2 * SPEED)) ** 0.2, rel=2e-6)
    assert rows["hertz"]["peak_force"] == pytest.approx(K * depth**1.5, rel=1e-8)
    # hooke goes as deep: m v^2 = K1 d^2
    assert rows["hooke"]["time"] == pytest.approx(math.pi * depth / SPEED, rel=1e-8)
    assert rows["hooke"]["depth"] == pytest.approx(rows["hertz"]["depth"], rel=1e-4)


def test_energy_lost_is_the_area_of_the_loop(found):
    charts = next(finding for finding in found.findings if finding.title.startswith("Force over")).charts
    loops = {law: (x, y) for chart in charts for law, x, y in chart.curves}
    for row in found.numbers["loops"]:
        area = np.trapezoid(loops[row["law"]][1], loops[row["law"]][0])
        assert area / (0.5 * MASS * SPEED**2) == pytest.approx(row["energy_lost"], abs=2e-3), row["law"]
        assert row["energy_lost"] == pytest.approx(1 - delivered(row["law"], 0.35) ** 2, abs=1e-7)


def cubic(x, x0, h0, x1, h1):
    D = (x - x0) / (x1 - x0)
    return h0 + (h1 - h0) * D**2 * (3 - 2 * D)


def friction_at(law, v):
    """Force at steady sliding with speed v > 0 and the default settings, once more."""
    N, falling = MASS * G, MU_S - MU_K
    return {
        "viscous": lambda: MU_K * N + C_V * v,
        "stribeck": lambda: (MU_K + falling * math.exp(-((v / V_S) ** 2))) * N + C_V * v,
        "bengisu-akay": lambda: (MU_K + falling * math.exp(-40.0 * (v - 1e-3))) * N,
        "ambrosio": lambda: MU_K * N * min((v - 1e-3) / 0.049, 1.0),
        "atan": lambda: MU_K * N * 2 / math.pi * math.atan(100 * v),
        "tanh": lambda: MU_K * N * math.tanh(100 * v),
        "step-stribeck": lambda: (cubic(v, 1e-3, MU_S, V_S, MU_K) if v < V_S else MU_K) * N,
        "lugre": lambda: (MU_K + falling * math.exp(-((v / V_S) ** 2))) * N,
    }.get(law, lambda: MU_K * N)()  # fmt: skip


def test_steady_friction_is_that_of_the_law_in_both_directions(found):
    rows = {row["law"]: row for row in found.numbers["friction"]}
    assert set(rows) == set(FRICTION_LAWS)
    for law, row in rows.items():
        assert np.sum(row["speed"] > 0) == np.sum(row["speed"] < 0) > 10
        expected = [math.copysign(friction_at(law, abs(v)), v) for v in row["speed"]]
        np.testing.assert_allclose(row["force"], expected, rtol=1e-8, err_msg=law)
    # through zero: what breaks away first
    for law in ("stiction", "stribeck", "karnopp"):
        assert rows[law]["swing_peak"] == pytest.approx(MU_S * MASS * G, rel=1e-4)
    assert rows["coulomb"]["swing_peak"] == pytest.approx(MU_K * MASS * G, rel=1e-6)


def test_stick_slip_of_stribeck_as_an_event_driven_integration_has_it(found):
    """Sticks until k x = mu_s N, slips by the law until the belt has caught up; then again."""
    row = next(row for row in found.numbers["stick_slip"] if row["law"] == "stribeck")

    def rate(_, y):
        return [y[1], (-SPRING * y[0] + friction_at("stribeck", BELT - y[1])) / MASS]

    caught = lambda t, y: y[1] - BELT if t > 1e-3 else -1.0  # noqa: E731
    caught.terminal, caught.direction = True, 1
    turn = lambda t, y: y[1]  # noqa: E731
    start = MU_S * MASS * G / SPRING
    run = solve_ivp(
        rate, (0, 9), [start, BELT - 1e-10], events=(caught, turn), method="DOP853", rtol=1e-12, atol=1e-14
    )  # fmt: skip
    end = run.y_events[0][0][0]
    assert row["fate"] == "stick-slip"
    assert row["period"] == pytest.approx(run.t_events[0][0] + (start - end) / BELT, rel=1e-5)
    places = run.y_events[1][:, 0]
    assert row["amplitude"] == pytest.approx(0.5 * np.ptp(places), rel=1e-5)
    assert row["sticking"] == pytest.approx((start - end) / BELT / row["period"], abs=0.1)


def test_stick_slip_of_stiction_has_the_closed_form(found):
    """Slip is an arc of a circle in the phase plane about mu_k N/k, cut at the speed of the belt."""
    row = next(row for row in found.numbers["stick_slip"] if row["law"] == "stiction")
    omega = math.sqrt(SPRING / MASS)
    lift = (MU_S - MU_K) * MASS * G / SPRING
    slip = (2 * math.pi - 2 * math.atan(lift * omega / BELT)) / omega
    # the arc left out is the one about the top, from -lift to lift
    assert row["amplitude"] == pytest.approx(math.hypot(lift, BELT / omega), rel=1e-6)
    assert row["period"] == pytest.approx(2 * lift / BELT + slip, rel=1e-5)
    fates = {row["law"]: row["fate"] for row in found.numbers["stick_slip"]}
    sticking = ("stiction", "stribeck", "karnopp", "bengisu-akay", "step-stribeck", "lugre")
    assert {law for law in fates if fates[law] == "stick-slip"} == set(sticking)


# --- the rod ----------------------------------------------------------------------------------------------------


def hit(law="none", angle=40.0, **given):
    settings = resolve(given)
    return rod_hits.measure(simulate(rod_hits.rod(settings, angle, law), 0.1, rtol=1e-10, atol=1e-12))


@pytest.mark.parametrize("angle", [20.0, 40.0, 70.0, 110.0])
def test_hit_without_friction_is_that_of_a_percussion(angle):
    """A very stiff contact: P = (1 + e) v / (1/m + (l cos)^2/I), and what it does to the tip."""
    e, slide, speed, length, radius, mass = 0.6, 0.4, 1.5, 1.2, 0.02, 2.0
    row = hit(
        angle=angle, restitution=e, slide=slide, speed=speed, rod_length=length, rod_radius=radius, mass=mass,
        stiffness=1e13,
    )  # fmt: skip
    inertia, l = mass * (length**2 / 12 + radius**2 / 4), length / 2
    c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    P = (1 + e) * speed / (1 / mass + (l * c) ** 2 / inertia)
    assert row["restitution"] == pytest.approx(e, abs=1e-3)
    assert row["slide_in"] == pytest.approx(slide, abs=1e-9)
    assert row["slide_out"] == pytest.approx(slide - l**2 * c * s * P / inertia, abs=2e-3)


def test_friction_stops_the_tip_of_a_steep_rod_and_not_of_a_flat_one():
    assert hit("coulomb", 80.0, mu_k=0.5, mu_s=0.5)["fate"] == "stops"
    assert abs(hit("coulomb", 80.0, mu_k=0.5, mu_s=0.5)["slide_out"]) < 1e-5
    # held by a force of l^2 c s/(I/m + l^2 s^2) N at least: 0.6 N at 45 deg
    assert hit("coulomb", 45.0)["fate"] == "reverses"


def test_a_very_stiff_elastic_rod_hits_like_a_rigid_one():
    given = {"stiffness": 1e7, "rod_young": 4e15}
    elastic, rigid = hit(modes=2, **given), hit(**given)
    assert elastic["restitution"] == pytest.approx(rigid["restitution"], abs=5e-3)
    assert elastic["slide_out"] == pytest.approx(rigid["slide_out"], abs=1e-2)
    assert abs(hit(modes=2)["restitution"] - 0.5) > 0.1


# --- the command ------------------------------------------------------------------------------------------------


SMALL = ("laws=hertz,exact", "friction_laws=stiction,lugre", "sweep=2", "belt_time=4", "angles=60")


def test_command_writes_page_numbers_and_picture(tmp_path):
    done = pliant_command(
        "lab", "contact", *(word for text in SMALL for word in ("--set", text)), "--out", str(tmp_path)
    )
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "restitution.svg", "summary.json"]
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert set(summary) == {"settings", "restitution", "loops", "rod", "friction", "stick_slip", "breakdowns"}
    assert summary["breakdowns"] == []
    assert summary["settings"]["laws"] == ["hertz", "exact"]
    assert [row["law"] for row in summary["stick_slip"]] == ["stiction", "lugre"]
    assert "restitution at 60 deg" in done.stdout
    assert "delivered at 0.5" in done.stdout


def test_page_stands_alone_and_shows_every_law(found, tmp_path):
    write_contact_lab(found, tmp_path)
    page = (tmp_path / "report.html").read_text()
    markup = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    assert not re.search(r"<link|src=|href=|url\(", markup)
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    charts = json.loads(data[1])["charts"]
    assert len(charts) == markup.count("data-chart=") == 18
    labels = {curve["label"] for chart in charts for curve in chart["curves"]}
    assert {*NORMAL_LAWS, *FRICTION_LAWS} <= labels
    assert ">as asked</text>" in (tmp_path / "restitution.svg").read_text()


def test_runs_that_break_down_are_told_and_what_they_reached_is_kept(monkeypatch):
    def broken(model, duration, **options):
        result = simulate(model, duration, **options)
        return (
            dataclasses.replace(result, status="failed", reason="at t = 1 s: enough") if model.name == "rod" else result
        )

    monkeypatch.setattr(experiment, "simulate", broken)
    found = contact_lab(resolve(dict(text.split("=") for text in SMALL)))
    assert len(found.performed.breakdowns) == sum(1 for _ in found.numbers["rod"])
    assert ("rod, stiction, 60.0", "at t = 1 s: enough") in found.performed.breakdowns
    assert found.findings[-1].title == "Runs that failed"


MISTAKES = [
    ("mas=1", ["no key 'mas'", "did you mean 'mass'"]),
    ("laws=hertz,flore", ["laws: 'flore' is not known", "flores"]),
    ("friction_laws=", ["friction_laws: nothing found", "all"]),
    ("angles=45,200", ["angles: '45,200'", "between 0 and 180"]),
    ("restitution=0", ["restitution: 0.0", "at least 0.01"]),
    ("mu_s=0.1", ["mu_s: 0.1", "give mu_s >= mu_k"]),
    ("v0=1", ["v1: 0.05", "give v1 > v0"]),
]


@pytest.mark.parametrize(("text", "words"), MISTAKES)
def test_mistakes_are_refused(text, words):
    key, _, value = text.partition("=")
    with pytest.raises(ModelError) as caught:
        resolve({key: value})
    for word in words:
        assert word in str(caught.value)


def test_mistakes_exit_with_2(tmp_path):
    done = pliant_command("lab", "contact", "--set", "mas=1", "--out", str(tmp_path / "out"))
    assert done.returncode == 2
    assert "did you mean 'mass'" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()

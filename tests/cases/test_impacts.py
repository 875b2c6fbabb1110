"""Impacts with friction: the arm on the oblique plane, and one link against closed forms."""

from __future__ import annotations

import math
from typing import Any

import pytest

import pliant
from command_line import pliant_command
from pliant.cases import canadarm, one_link_collision
from pliant.cases.canadarm import CASE as ARM
from pliant.cases.one_link_collision import CASE as LINK
from pliant.result import Result


def run(case: Any, options: dict[str, Any] | None = None, **given: Any) -> Result:
    settings = case.resolve(given)
    result = pliant.simulate(case.build(settings), **{**case.usual_options(settings), **(options or {})})
    assert result.is_ok, result.reason
    return result


# --- the arm ------------------------------------------------------------------------------------------------------


def test_the_arm_has_both_sides_of_five_joints_and_twelve_modes() -> None:
    model = ARM.build(ARM.resolve({}))
    assert len(model.velocities) == 22
    assert [name for name in model.velocities if name.endswith(".motor")] == [
        f"{name}.motor" for name in canadarm.JOINTS
    ]
    # what each end lump keeps of mass and moment of inertia: 139.35 kg and 998.63 kg m^2 of the upper boom
    boom = canadarm.BOOMS["upper_boom"]
    assert boom.tube_mass + 2 * boom.end_mass == pytest.approx(139.35, abs=1e-2)
    about_centre = boom.tube_mass * boom.length**2 / 12 + boom.end_mass * boom.length**2 / 2
    assert about_centre == pytest.approx(998.63, rel=1e-4)


def test_energy_balances_through_the_impact_and_formulations_agree() -> None:
    """Independent equations: the same impact to what the tolerances leave, 1e-10 of 22 coordinates over 1e5 rad."""
    found = []
    for formulation in ("articulated", "lagrange"):
        result = run(ARM, {"formulation": formulation, "duration": 0.65})
        assert result.audit["energy_residual"] < 1e-9
        found.append(ARM.figures(result))
    for key in ("impact_time", "normal_speed", "tangential_speed", "peak_normal", "contact_time", "impulse"):
        assert found[0][key] == pytest.approx(found[1][key], rel=1e-6), key
        figure = ARM.figure_table[key]
        assert found[1][key] == pytest.approx(figure.expected, abs=figure.tolerance), key


@pytest.mark.parametrize("family", ["modes", "polynomials"])
def test_tip_deflections_are_those_of_the_frames(family: str) -> None:
    """Without shortening the end moves across by the sum of the shapes, and this by their rates."""
    result = run(ARM, {"duration": 0.1, "rtol": 1e-8}, shapes=family, coupling="linear", stretch=0)
    model = result.model
    for boom in canadarm.BOOMS:
        R, p = pliant.frame_placement(model, result.q[-1], boom)
        _, tip = pliant.frame_placement(model, result.q[-1], f"{boom}_end")
        across = R.T @ (tip - p)
        found = canadarm.tip_deflections(result, boom, result.q)
        assert [found["y"][-1], found["z"][-1]] == pytest.approx(across[1:], abs=1e-12)


def test_the_plane_decides_what_is_normal_and_what_is_tangential() -> None:
    """Both speeds together are that of the tip, whatever the plane's angle."""
    speeds = []
    for angle in (0.0, 15.0, 40.0):
        found = ARM.figures(run(ARM, {"duration": 0.65, "rtol": 1e-8}, plane_angle=f"{angle} deg", modes=1))
        speeds.append((found["normal_speed"], math.hypot(found["normal_speed"], found["tangential_speed"])))
    assert speeds[0][0] > speeds[1][0] > speeds[2][0]
    # the planes meet in a line through where the tip of the default run comes, but for a mode
    assert [whole for _, whole in speeds] == pytest.approx([speeds[0][1]] * 3, rel=2e-3)


def test_rigid_joints_hit_harder_and_backlash_is_taken() -> None:
    flexible = ARM.figures(run(ARM, {"duration": 0.65, "rtol": 1e-8}))
    rigid = ARM.figures(run(ARM, {"duration": 0.65, "rtol": 1e-8}, joints="rigid"))
    loose = run(ARM, {"duration": 0.65, "rtol": 1e-8}, backlash="0.01 deg", joint_damping=100.0)
    assert rigid["impulse"] > flexible["impulse"]
    assert any("flank" in event.name for event in loose.events)
    assert loose.audit["energy_residual"] < 1e-9


def test_the_study_of_modes_compares_impacts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canadarm, "STUDIED", (0, 1))
    settings = ARM.resolve({"study": "modes", "modes": 1})
    runs = {
        label: pliant.simulate(ARM.build(variant.settings), 0.65, rtol=1e-8)
        for label, variant in ARM.variants(settings).items()
    }
    assert list(runs) == ["1 mode", "0 modes"]
    (finding,) = ARM.compare_variants(settings, runs)
    assert [row[0] for row in finding.rows] == ["0 modes", "1 mode"]
    assert finding.figures["peak_normal_spread"] > 0.01
    assert finding.charts[0].title == "Impact: normal force"


def test_laws_of_friction_agree_where_the_point_slides_fast() -> None:
    settings = ARM.resolve({"study": "friction", "modes": 1})
    runs = {
        label: pliant.simulate(ARM.build(variant.settings), 0.65, rtol=1e-8)
        for label, variant in ARM.variants(settings).items()
    }
    impulses = {label: ARM.figures(result)["impulse"] for label, result in runs.items()}
    without = impulses.pop("none")
    assert max(impulses.values()) / min(impulses.values()) < 1 + 1e-4
    assert without > 1.005 * max(impulses.values())
    (finding,) = ARM.compare_variants(settings, runs)
    assert len(finding.rows) == 5


def test_no_impact_is_said() -> None:
    result = run(ARM, {"duration": 0.01})
    assert ARM.figures(result)["contacts"] == 0.0
    assert "longer" in ARM.summarise_run(result)[0].text
    assert "0 modes" in ARM.compare_variants(ARM.resolve({"study": "modes"}), {"0 modes": result})[0].text


# --- one link -----------------------------------------------------------------------------------------------------

UNIT = {
    "angle": "90 deg",
    "friction_law": "none",
    "stiffness": 1.0,
    "mass": 1.0,
    "normal_speed": 1.0,
    "tangential_speed": 0,
}


def test_the_elastic_impact_of_unit_mass_speed_and_stiffness() -> None:
    """Hertz: penetration (5/4)^(2/5), length 2 (5/4)^(2/5) int_0^1 dx / sqrt(1 - x^(5/2))."""
    found = LINK.figures(run(LINK, restitution=1.0, **UNIT))
    deepest = 1.25**0.4
    angles = math.gamma(0.4) * math.gamma(0.5) / (2.5 * math.gamma(0.9))
    assert found["contact_time"] == pytest.approx(2 * deepest * angles, rel=1e-8)
    assert found["contact_time"] == pytest.approx(3.21807, abs=5e-6)
    assert found["penetration"] == pytest.approx(deepest, rel=1e-7)
    assert found["restitution"] == pytest.approx(1.0, rel=1e-9)


def test_lankarani_and_nikravesh_deliver_more_than_is_asked_for() -> None:
    """ln((1 + X) / (1 - X e)) = X (1 + e) with X = 3 (1 - 0.8^2) / 4: e = .8471."""
    result = run(LINK, restitution=0.8, **UNIT)
    e, X = LINK.figures(result)["restitution"], 0.75 * (1 - 0.8**2)
    assert e == pytest.approx(0.8471, abs=5e-5)
    assert math.log((1 + X) / (1 - X * e)) == pytest.approx(X * (1 + e), rel=1e-8)
    assert result.audit["energy_residual"] < 1e-10


@pytest.mark.parametrize(
    ("given", "behaviour"),
    [
        ({"mu_k": 0.3}, "slides back"),
        ({"mu_k": 0.9}, "sticks"),
        ({"mu_k": 0.3, "tangential_speed": 2.0}, "slides on"),
        ({"friction_law": "none"}, "slides back"),
        ({"mu_k": 0.3, "tangential_speed": 0.0}, "starts to slide"),
    ],
)
def test_the_end_slides_sticks_or_slides_back_as_rouths_impulses_say(given: dict[str, Any], behaviour: str) -> None:
    """The stiffer the contact, the less the link turns meanwhile: the difference falls with the time they touch."""
    differences = []
    for stiffness in (1e8, 1e11):
        result = run(LINK, stiffness=stiffness, **given)
        found = LINK.figures(result)
        settings = LINK.resolve({"stiffness": stiffness, **given})
        routh = one_link_collision.tangential_after(settings, found["impulse"])
        differences.append(abs(found["tangential_speed_end"] - routh))
        assert behaviour in LINK.summarise_run(result)[0].text
        assert result.audit["energy_residual"] < 1e-9
    assert differences[0] < 5e-3
    # (1e11 / 1e8)^(2/5) = 16 times shorter; what sticks is slower than it can be seen
    assert differences[1] < 0.1 * differences[0] + 1e-5


def test_a_low_tangential_speed_is_stopped_and_reversed() -> None:
    found = LINK.figures(run(LINK))
    assert found["tangential_speed"] == pytest.approx(0.2)
    assert found["tangential_speed_end"] < -0.1
    assert 0.0 < found["slide_time"] < found["contact_time"]


def test_the_number_of_maxima_depends_on_the_number_of_modes() -> None:
    settings = LINK.resolve({"study": "modes"})
    runs = {label: run(LINK, **{**settings, **variant.settings}) for label, variant in LINK.variants(settings).items()}
    (finding,) = LINK.compare_variants(settings, runs)
    maxima = [int(row[-1]) for row in finding.rows]
    assert len(set(maxima)) >= 3
    assert "artefact" in finding.text
    assert finding.figures["peak_normal_spread"] > 3 * finding.figures["total_impulse_spread"]
    assert all(result.audit["energy_residual"] < 1e-9 for result in runs.values())


@pytest.mark.parametrize("study", ["speeds", "friction"])
def test_studies_say_what_the_end_does(study: str) -> None:
    settings = LINK.resolve({"study": study})
    runs = {
        label: pliant.simulate(LINK.build(variant.settings), **LINK.run)
        for label, variant in LINK.variants(settings).items()
    }
    (finding,) = LINK.compare_variants(settings, runs)
    said = {row[-1] for row in finding.rows}
    assert {"slides back", {"speeds": "slides on", "friction": "sticks"}[study]} <= said
    for row in finding.rows:
        assert float(row[-3]) == pytest.approx(float(row[-2]), abs=5e-3)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("canadarm", "modes=9"), "at most 8"),
        (("canadarm", "elbow_stiffness=0"), "at least 1"),
        (("canadarm", "study=all"), "none, modes, friction"),
        (("one-link-collision", "angle=30"), "at most 3.14"),
        (("one-link-collision", "normal_speed=-1"), "at least"),
        (("one-link-collision", "mu_k=-1"), "mu_k"),
    ],
)
def test_mistakes_are_named(words: tuple[str, str], expected: str) -> None:
    done = pliant_command("run", words[0], "--set", words[1])
    assert done.returncode == 2
    assert expected in done.stderr

"""pliant.compare: whole runs of one model by all methods, against the tightest."""

import dataclasses
import itertools
import json
import math

import numpy as np
import pytest

import pliant
from command_line import pliant_command
from four_bars import four_bars
from pliant import Body, Frame, Joint, Model, ModelError, Output, Rod, Sine, Spring


def arm():
    return Model(
        "arm",
        [Body("upper", 2.0, shape=Rod(1.0)), Body("lower", 1.0, shape=Rod(0.8))],
        [
            Joint("shoulder", "revolute", "upper", q0="-60 deg", motor=Sine(amplitude=5.0, omega=4.0)),
            Joint("elbow", "revolute", "lower", parent=Frame("upper", (1.0, 0, 0)), stiffness=30.0, damping=0.2),
        ],
        gravity=(0, -9.81, 0),
        outputs=[Output("drive", "shoulder", "motor")],
        duration=0.5,
    )


def test_differences_of_an_integrator_fall_with_its_tolerance():
    found = pliant.compare(arm(), formulations=["articulated"], integrators=["dopri5"])
    motions = [row.motion for row in found.family("integrator")]
    assert all(later < earlier for earlier, later in itertools.pairwise(motions))
    assert all(row.evaluations > 0 and row.over_time.shape == found.times.shape for row in found.rows)


def test_how_a_model_wants_to_be_run_does_not_spoil_the_reference():
    plain = arm()
    coarse = dataclasses.replace(plain, run={"integrator": "rk4", "step": 0.05, "formulation": "lagrange"})
    found, expected = (
        pliant.compare(model, formulations=["articulated"], integrators=["dopri5"]) for model in (coarse, plain)
    )
    assert np.array_equal(found.reference.q, expected.reference.q)
    assert [row.motion for row in found.rows] == [row.motion for row in expected.rows]
    # a run table that is wrong is still told
    with pytest.raises(ModelError, match="rtol"):
        pliant.compare(dataclasses.replace(plain, run={"rtol": -1.0}))


def test_differences_of_second_order_methods_fall_with_the_square_of_the_step():
    motions = [row.motion for row in pliant.compare(arm(), integrators="newmark").family("integrator")]
    # steps shrink by four
    assert np.log(motions[1] / motions[2]) / np.log(4.0) == pytest.approx(2.0, abs=0.1)


def test_formulations_differ_by_no_more_than_steps_of_their_tolerance():
    rows = pliant.compare(arm(), integrators="dop853").family("formulation")
    assert {row.label for row in rows} >= {"articulated", "gibbs_appell", "lagrange", "denoc", "boltzmann_hamel"}
    assert all(row.motion < 1e-6 and row.reactions < 1e-6 for row in rows)


def test_reactions_differ_as_the_states_do():
    """Of springs in the place of loops by what they give way."""
    rows = {
        row.label.split(",")[0]: row
        for row in pliant.compare(four_bars(1, 2.0), 0.5, integrators="dop853").family("closure")
    }
    assert rows["multipliers"].reactions < 1e-6
    assert 1e-6 < rows["springs"].reactions < 1.0
    assert rows["springs"].drift > 1e3 * rows["reduced"].drift


def test_reactions_that_vanish_are_held_against_usual_forces():
    """A mass that falls along a rail: nothing presses on it sideways, and rounding is no difference."""
    slide = Joint("rail", "prismatic", "mass", axis="-z")
    spring = Spring("spring", "world", "mass", stiffness=200.0, length=1.0, only="tension")
    model = Model("bungee", [Body("mass", 2.0)], [slide], springs=[spring])
    found = pliant.compare(model, 0.6, integrators=["dop853"], formulations=["articulated", "lagrange"])
    assert all(math.isnan(row.reactions) or row.reactions < 1e-12 for row in found.rows)
    assert repr(found).startswith("<Comparison of 'bungee': 6 runs, formulations at most ")
    with pytest.raises(ModelError, match="family: 'integrators' found; give one of formulation, closure, integrator"):
        found.family("integrators")


def test_methods_that_cannot_be_compared_are_refused_with_those_that_can():
    with pytest.raises(ModelError, match="did you mean 'radau'"):
        pliant.compare(arm(), integrators="radua")
    with pytest.raises(ModelError, match="those that do: none"):
        pliant.compare(arm(), closures="springs")


def test_a_run_that_fails_is_a_row_with_its_reason():
    stiff = Model(
        "stiff",
        [Body("a", 1.0, shape=Rod(1.0))],
        [Joint("j", "revolute", "a", q0=0.1, stiffness=1e9, damping=1e5)],
    )
    rows = pliant.compare(stiff, 0.1, integrators=["rk4", "radau"]).rows
    failed = [row for row in rows if row.reason]
    assert all(math.isnan(row.motion) for row in failed)
    assert any(row.label.startswith("rk4") for row in failed)
    assert not any(row.label.startswith("radau") for row in failed)


def test_the_command_writes_table_and_page(tmp_path):
    done = pliant_command(
        "compare", "two-link-arm", "--time", "0.2", "--integrators", "dop853,adams", "--out", str(tmp_path / "c")
    )
    assert done.returncode == 0, done.stderr
    assert "adams, rtol 1e-10" in done.stdout
    summary = json.loads((tmp_path / "c" / "summary.json").read_text())
    assert {row["family"] for row in summary["runs"]} == {"formulation", "integrator"}
    assert "The same robot by other methods" in (tmp_path / "c" / "report.html").read_text()


def test_the_command_refuses_lists_for_several_robots():
    done = pliant_command("compare", "two-link-arm", "four-bar", "--integrators", "dop853")
    assert done.returncode == 2
    assert "for one robot" in done.stderr


def test_certify_as_a_command(tmp_path):
    done = pliant_command(
        "certify", "two-link-arm", "--out", str(tmp_path / "c"), "--figure", "max(tip.x)", "--figure", "psi1@0.5"
    )
    assert done.returncode == 0, done.stderr
    assert "plain runs" in done.stderr
    digits = json.loads((tmp_path / "c" / "summary.json").read_text())["digits"]
    assert set(digits["figures"]) == {"max(tip.x)", "psi1@0.5"}
    assert digits["figures"]["psi1@0.5"]["digits"] >= 5
    assert "Which digits are right" in (tmp_path / "c" / "report.html").read_text()


def test_certify_as_a_command_has_the_figures_of_the_case(tmp_path):
    done = pliant_command("certify", "bouncing-ball", "--out", str(tmp_path / "c"), "--budget", "6")
    assert done.returncode == 0, done.stderr
    summary = json.loads((tmp_path / "c" / "summary.json").read_text())
    assert set(summary["digits"]["figures"]) == set(summary["figures"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("certify", "two-link-arm", "--figure", "elbw"), "no column 'elbw'"),
        (("certify", "two-link-arm", "--budget", "0"), "budget"),
        (("certify", "falling-chain", "--set", "modes=all"), "several runs"),
        (("run", "two-link-arm", "--set", "accuracy=1 foot"), "accuracy"),
    ],
)
def test_slips_on_the_command_line(words, said, tmp_path):
    done = pliant_command(*words, "--out", str(tmp_path / "c"))
    assert done.returncode == 2
    assert said in done.stderr
    assert not list(tmp_path.rglob("*.json"))


def test_accuracy_on_the_command_line(tmp_path):
    done = pliant_command("run", "two-link-arm", "--set", "accuracy=1 mm", "--out", str(tmp_path / "c"))
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "c" / "summary.json").read_text())["settings"]["accuracy"] == "1 mm"

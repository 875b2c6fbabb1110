"""pliant compare: formulations agree, and one that does not is found."""

import json

import numpy as np
import pytest

import pliant
from command_line import pliant_command
from pliant.engine.prepared import Prepared
from pliant.errors import ModelError, SimulationError
from pliant.lab import agreement as room
from pliant.lab.agreement import agreement
from pliant.methods import formulations_of
from zoo import ZOO


@pytest.mark.parametrize("name", ["flexible_satellite", "flexible_four_bar", "flexible_crane"])
def test_formulations_agree_on_trees_loops_and_drives(name):
    found = agreement(ZOO[name])
    assert [row.formulation for row in found.differences] == [row.name for row in formulations_of(ZOO[name])[1:]]
    assert found.failures == ()
    assert found.n_modes == sum(link.body.n_modes for link in ZOO[name].links)
    worst = found.worst
    assert max(worst.accelerations, worst.reactions, worst.motion) < 1e-10
    assert worst.forces < 1e-13


class Disturbed(Prepared):
    """denoc, wrong by a millionth."""

    def forward_dynamics(self, *arguments, **rest):
        return super().forward_dynamics(*arguments, **rest) * (1.0 + 1e-6 * (self.method.name == "denoc"))


def test_a_wrong_formulation_is_found(monkeypatch, tmp_path):
    monkeypatch.setattr(room, "Prepared", Disturbed)
    found = agreement(pliant.load("two-link-arm"))
    assert found.worst.accelerations == pytest.approx(1e-6, rel=0.1)
    assert len(found.failures) == 2
    assert found.failures[0] == "two-link-arm: denoc differs from articulated by 1.0e-06 in accelerations"
    assert "by 1.0e-06 in forces" in found.failures[1]
    done = pliant_command("compare", "two-link-arm", cwd=tmp_path)
    assert done.returncode == 1
    assert "denoc differs from articulated" in done.stderr


def test_wrong_motion_is_found(monkeypatch):
    """A run whose end is off by a millionth of its change."""
    usual = room._run

    def disturbed(model, duration, formulation, *rest):
        result = usual(model, duration, formulation, *rest)
        if formulation == "lagrange":
            result.q[-1] += 1e-6 * (result.q[-1] - result.q[0])
        return result

    monkeypatch.setattr(room, "_run", disturbed)
    found = agreement(ZOO["pendulum"])
    assert found.failures == (f"pendulum: lagrange differs from articulated by {found.worst.motion:.1e} in motion",)
    assert found.worst.motion == pytest.approx(1e-6, rel=0.1)


def test_where_nothing_moves_the_table_says_so():
    model = pliant.load("two-link-arm", force=0.0)
    found = agreement(model, 0.02)
    assert found.is_at_rest
    assert {row[-1] for row in found.table()} == {"at rest"}
    assert not agreement(pliant.load("two-link-arm"), 0.02).is_at_rest


def test_motion_through_impacts_may_differ_as_much_as_a_moved_start_makes_it():
    """Equal steps that are too long for the contact are shortened."""
    found = agreement(pliant.load("falling-chain"), 0.5)
    assert found.failures == ()
    assert 1e-13 < found.sensitivity < 1e-8
    assert found.worst.motion < 1e-8


def test_accelerations_may_differ_as_the_condition_of_the_mass_matrix_allows():
    found = agreement(pliant.load("long-chain"))
    assert found.condition > 1e7
    assert found.allowed == pytest.approx(10 * np.finfo(float).eps * found.condition)
    assert found.failures == ()


def test_table_and_file_hold_the_same(tmp_path):
    done = pliant_command("compare", "two-link-arm", "--out", "here.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (case,) = json.loads((tmp_path / "here.json").read_text())
    assert (case["model"], case["n_velocities"], case["n_modes"]) == ("two-link-arm", 2, 0)
    for row in case["differences"]:
        assert f"{row['formulation']} " in done.stdout
        assert f" {row['motion']:.0e} " in done.stdout


@pytest.mark.parametrize("time", ["0", "-1", "nan", "inf"])
def test_time_must_be_some_seconds(time, tmp_path):
    done = pliant_command("compare", "two-link-arm", "--time", time, cwd=tmp_path)
    assert done.returncode == 2
    assert "--time" in done.stderr
    assert "give a number above 0 [s]" in done.stderr


def test_mistakes_are_found_before_anything_runs(tmp_path):
    done = pliant_command("compare", "two-link-arm", "nothing", cwd=tmp_path)
    assert done.returncode == 2
    assert "no case and no file 'nothing'" in done.stderr
    done = pliant_command("compare", "two-link-arm", "--set", "speed=1", cwd=tmp_path)
    assert done.returncode == 2
    assert "speed" in done.stderr
    with pytest.raises(ModelError, match=r"duration: -1\.0 found"):
        agreement(ZOO["pendulum"], -1.0)


def test_a_run_that_fails_says_so(monkeypatch):
    usual = room.simulate
    monkeypatch.setattr(room, "simulate", lambda *given, **rest: usual(*given, **rest, max_steps=3))
    with pytest.raises(SimulationError, match="pendulum: the run with formulation articulated failed"):
        agreement(ZOO["pendulum"])


@pytest.mark.parametrize("name", ["elastica", "flexible-slider-crank"])
def test_rest_and_prescribed_loops_are_compared_too(name):
    """A model at rest has no motion to be relative to; a driven loop is compared where its motor is at that time."""
    found = agreement(pliant.load(name), 0.01)
    assert not found.failures
    assert found.is_at_rest is (name == "elastica")

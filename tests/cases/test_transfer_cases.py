"""tmm-chain, tmm-beam, flexible-arm-online: figures beyond those of the defaults."""

import numpy as np
import pytest

import pliant
from pliant.cases import flexible_arm_online, tmm_beam, tmm_chain
from pliant.cases.case import all_cases
from pliant.errors import ModelError


def run(case, **given):
    settings = case.CASE.resolve(given)
    result = pliant.simulate(case.build(settings), **case.options(settings))
    return result, case.CASE.figures_of(settings, result)


@pytest.mark.parametrize(
    ("given", "exact"),
    [
        ({}, (0.06298869, 0.06512303, 0.08760251)),
        ({"dof": 10, "inertia": 1.0}, (0.1715746, 0.8239934, 0.2667092)),
    ],
)
def test_chains_reach_the_exact_solution(given, exact):
    """Third order: steps of 2 ms leave less than 1e-8."""
    _, found = run(tmm_chain, **given, integrator="proposed", step=0.002, duration=10.0)
    for k, value in enumerate(exact, 1):
        assert found[f"exact_angle_{k}"] == pytest.approx(value, abs=1e-7)
        assert found[f"tip_angle_{k}"] == pytest.approx(value, abs=1e-7)
    assert found["error_max"] < 1e-7


def test_an_overdamped_chain_and_one_with_a_double_root_have_an_exact_solution_too():
    for damping in (200.0, 20.0):
        # one bar: the double root is at c^2 = 4 k I
        _, found = run(tmm_chain, dof=1, damping=damping, stiffness=20.0, inertia=5.0, integrator="proposed", step=1e-3)
        assert found["error_max"] < 1e-7


def test_ten_segments_bend_as_the_elastica():
    _, found = run(tmm_beam, study="statics")
    assert found["elastica_x"] == pytest.approx(0.943567, abs=1e-6)
    assert found["elastica_y"] == pytest.approx(0.301721, abs=1e-6)
    assert found["elastica_error"] < 1e-4
    assert run(tmm_beam, study="statics", load=-2.0)[1]["elastica_error"] < 1e-3


def test_the_spin_up_of_eighty_segments():
    result, found = run(tmm_beam, study="spin-up", duration=8.0)
    assert found["tip_deflection_min"] == pytest.approx(-0.57375, abs=1e-4)
    assert found["tip_deflection_min_time"] == pytest.approx(6.76, abs=0.01)
    assert result.audit["energy_residual"] < 1e-6


def test_the_arm_settles_and_every_step_is_timed():
    result, found = run(flexible_arm_online, segments=20, duration=1.5)
    assert found["settling_time"] < 1.0
    assert abs(flexible_arm_online.tip_error(result, np.array([1.5]))[0]) < 1e-3
    assert 0.0 < found["step_time_mean"] <= found["step_time_worst"]


def test_what_no_method_can_do_is_refused():
    with pytest.raises(ModelError, match="beta = 0 leaves"):
        run(tmm_chain, beta=0.0)
    with pytest.raises(ModelError, match='springs = "thesis" are right only'):
        run(tmm_beam, layout="start")


def test_an_instant_beyond_the_motion_is_refused_and_one_that_nobody_asked_for_left_out():
    with pytest.raises(ModelError, match=r"time_2: 7 s found, and the motion ends at duration = 2 s; give an instant"):
        run(tmm_chain, duration=2.0, time_2=7.0)
    _, found = run(tmm_chain, duration=2.0)
    assert "tip_angle_1" in found
    assert "tip_angle_2" not in found
    settings = all_cases()["tmm-chain"].resolve({"duration": 2.0, "time_3": 10.0})
    assert tmm_chain.unused(settings)["time_3"] == "duration = 2 s: it is later"


def test_growth_without_bound_is_stopped_and_named():
    """Proposed (1/2, 1/2) beyond its limit of stability."""
    result, _ = run(tmm_chain, integrator="proposed", g1=0.5, g2=0.5, step=1.5, duration=2000.0, damping=0.0)
    assert not result.is_ok
    assert result.status == "grown" or "grown" in result.reason
    assert "proposed" in result.reason


@pytest.mark.parametrize("integrator", ["fox-euler", "wilson"])
def test_a_loaded_chain_is_run_as_its_settings_say(integrator):
    """load(..., integrator=, step=) and simulate: the same motion as the command's, not one of another method."""
    settings = {"dof": 3, "integrator": integrator, "step": 0.05, "duration": 1.0}
    model = pliant.load("tmm-chain", **settings)
    case = all_cases()["tmm-chain"]
    expected = pliant.simulate(case.build(case.resolve(settings)), **case.options(case.resolve(settings)))
    found = pliant.simulate(model)
    assert np.array_equal(found.q, expected.q)
    assert found.settings["step"] == 0.05
    # a call has the last word
    assert pliant.simulate(model, step=0.1).settings["step"] == 0.1

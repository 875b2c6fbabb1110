"""Adams's method: order, dense output, choice of order, events, against SciPy and closed forms."""

import dataclasses

import numpy as np
import pytest

import pliant
from integrator_runs import drive, heights, in_pairs, pendulum, reference, slope, sprung
from pliant import Body, Joint, Model, Rod
from pliant.errors import ModelError
from pliant.kernels.integrators import adams_table, tableaus
from zoo import ZOO

TWICE = {"unknowns": in_pairs(2)}  # coordinates are integrated twice


@pytest.mark.parametrize("form", [{}, TWICE], ids=["once", "twice"])
def test_error_follows_the_tolerance_and_dense_output_follows_the_error(form):
    exact, t = reference([2.0, 0.0], 20.0, dense_output=True), np.linspace(0.0, 20.0, 999)
    for rtol in (1e-5, 1e-7, 1e-9, 1e-11):
        run = drive(pendulum, [2.0, 0.0], 20.0, "adams", rtol=rtol, atol=rtol, **form)
        assert np.abs(run.memory.y - exact.y[:, -1]).max() < 3e3 * rtol
        assert np.abs(run.at(t) - exact.sol(t).T).max() < 4e3 * rtol
        # not more than an evaluation in ten is lost on rejected steps
        assert run.memory.stepping[0].n_rejected < 0.1 * run.memory.stepping[0].n_evaluations


def test_tight_tolerances_raise_the_order_and_save_evaluations():
    runs = {name: drive(pendulum, [2.0, 0.0], 20.0, name, rtol=1e-11, atol=1e-11) for name in ("adams", "dop853")}
    counts = {name: run.memory.stepping[0].n_evaluations for name, run in runs.items()}
    assert counts["adams"] < 0.8 * counts["dop853"]
    assert runs["adams"].memory.c[0] >= 8


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_fixed_steps_have_the_order_of_the_corrector(monkeypatch, order):
    """Predictor of order k, corrector of order k + 1; its start with order 1 costs one error of h^3."""
    monkeypatch.setitem(tableaus.TABLEAUS, "adams", tableaus.with_order("adams", order))
    h = np.array([0.02, 0.01, 0.005])
    exact = reference([1.5, 0.0], 4.0).y[:, -1]
    errors = [np.abs(drive(pendulum, [1.5, 0.0], 4.0, "adams", is_fixed=True, h=k).memory.y - exact).max() for k in h]
    assert slope(h, errors) > min(order + 1, 3) - 0.3


def test_a_run_of_a_flexible_arm_with_impacts_agrees_with_dop853():
    model = dataclasses.replace(pliant.load("falling-chain"), duration=0.5)
    by_adams, by_dop853 = (
        pliant.simulate(model, rtol=1e-9, atol=1e-11, integrator=name) for name in ("adams", "dop853")
    )
    assert by_adams.is_ok
    assert len(by_adams.contacts) == len(by_dop853.contacts)
    np.testing.assert_allclose(by_adams.contacts["t_start"], by_dop853.contacts["t_start"], rtol=0, atol=1e-7)
    assert by_adams.audit["energy_residual"] < 1e-7
    t = np.linspace(0.0, 0.5, 101)
    np.testing.assert_allclose(by_adams.at(t)[0], by_dop853.at(t)[0], rtol=0, atol=1e-5)


@pytest.mark.parametrize("form", [{}, TWICE], ids=["once", "twice"])
def test_events_are_located(form):
    run = drive(pendulum, [1.0, 0.0], 10.0, "adams", rtol=1e-10, atol=1e-10, events=heights, directions=[0], **form)
    exact = reference([1.0, 0.0], 10.0, dense_output=True)
    assert len(run.log) > 2
    for _, _, t in run.log:
        assert abs(exact.sol(t)[0]) < 1e-8


def oscillate(unknowns):
    """100 periods at rtol 1e-9."""
    t_end = 200.0 * np.pi
    options = {"rtol": 1e-9, "atol": 1e-9, "n_inputs": 1, "controller": lambda t, y: [1.0], "samples": [0.0]}
    run = drive(sprung, [1.0, 0.0], t_end, "adams", **options, **unknowns)
    return run.memory.stepping[0], np.abs(run.memory.y - [1.0, 0.0]).max()


def test_integrating_twice_lets_steps_of_high_order_be_long():
    """What is integrated once is stable up to omega h = 0.2 at order 9, twice up to 0.9: accuracy decides alone."""
    (once, error_once), (twice, error_twice) = oscillate({}), oscillate(TWICE)
    assert twice.n_evaluations < 0.75 * once.n_evaluations
    # 100 periods, about 20 steps each, with errors of a fifth of the tolerance that add up
    assert max(error_once, error_twice) < 2e-6


def test_gauss_rule_is_exact_to_degree_17():
    nodes, weights = np.array(adams_table.NODES), np.array(adams_table.WEIGHTS)
    for degree in range(18):
        assert weights @ nodes**degree == pytest.approx(1 / (degree + 1), abs=2e-16)  # a sum of nine rounded products
    assert weights @ nodes**18 != pytest.approx(1 / 19, abs=1e-13)


def test_one_evaluation_a_step_where_springs_and_beams_decide():
    model = pliant.load("canadarm", normal_law="hertz", friction_law="none")
    options = {"rtol": 1e-8, "atol": 1e-10}
    by_adams, by_dop853 = (pliant.simulate(model, 0.7, integrator=name, **options) for name in ("adams", "dop853"))
    stats = by_adams.stats
    assert stats["evaluations"] < 1.15 * (stats["steps"] + stats["rejected"])
    assert stats["evaluations"] < 0.15 * by_dop853.stats["evaluations"]
    for key in ("t_start", "t_end"):
        np.testing.assert_allclose(by_adams.contacts[key], by_dop853.contacts[key], rtol=0, atol=1e-8)
    t = np.linspace(0.0, 0.7, 211)
    # tolerances of 4000 and 1400 steps add up
    np.testing.assert_allclose(by_adams.at(t)[0], by_dop853.at(t)[0], rtol=0, atol=1e-6)
    assert by_adams.audit["energy_residual"] < 3e-8


def test_two_evaluations_a_step_where_springs_do_not_matter():
    """The change of gravity and of the mass matrix is more than a tenth of what a weak spring changes."""
    bodies = [Body("upper", mass=1.0, shape=Rod(1.0)), Body("lower", mass=1.0, shape=Rod(1.0))]
    joints = [
        Joint("shoulder", "revolute", "upper", q0=1.0, stiffness=0.1),
        Joint("elbow", "revolute", "lower", parent=pliant.Frame("upper", (1.0, 0, 0))),
    ]
    model = Model("weak", bodies=bodies, joints=joints, gravity=(0, -9.81, 0))
    by_adams, by_dop853 = (
        pliant.simulate(model, 2.0, integrator=name, rtol=1e-9, atol=1e-11) for name in ("adams", "dop853")
    )
    stats = by_adams.stats
    assert stats["evaluations"] > 1.8 * stats["steps"]
    # tolerances of some hundred steps, which its motion enlarges about tenfold
    np.testing.assert_allclose(by_adams.q[-1], by_dop853.q[-1], rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", ["flexible_satellite", "space_robot", "mounted_engine", "sliding_puck", "tree"])
def test_coordinates_of_every_kind_beside_those_integrated_twice(name):
    model = ZOO[name]
    is_joint = np.array([".mode" not in velocity for velocity in model.velocities])
    v0 = 0.3 * is_joint * np.random.default_rng(5).standard_normal(len(model.v0))
    by_adams, by_dop853 = (
        pliant.simulate(model, 0.3, v0=v0, integrator=method, rtol=1e-9, atol=1e-11) for method in ("adams", "dop853")
    )
    assert by_adams.is_ok
    np.testing.assert_allclose(by_adams.q[-1], by_dop853.q[-1], rtol=0, atol=1e-6)
    t = np.linspace(0.0, 0.3, 61)
    np.testing.assert_allclose(by_adams.at(t)[0], by_dop853.at(t)[0], rtol=0, atol=1e-6)


def test_max_order_is_a_whole_number_in_its_range():
    rod = Model(name="m", bodies=[Body("rod", mass=1.0, shape=Rod(1.0))], joints=[Joint("hinge", "revolute", "rod")])
    for wrong in (0, 15, 2.5, "x", None):
        with pytest.raises(ModelError, match="max_order"):
            pliant.Adams(max_order=wrong)
    result = pliant.simulate(rod, 1.0, integrator=pliant.Adams(max_order=3), step=0.01)
    assert result.stats["steps"] == 100

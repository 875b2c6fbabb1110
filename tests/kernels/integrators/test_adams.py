"""Adams's method: order, dense output, choice of order, events, against SciPy and closed forms."""

import dataclasses

import numpy as np
import pytest

import pliant
from integrator_runs import drive, heights, pendulum, reference, slope
from pliant import Body, Joint, Model, Rod
from pliant.errors import ModelError
from pliant.kernels.integrators import tableaus


def test_error_follows_the_tolerance_and_dense_output_follows_the_error():
    exact, t = reference([2.0, 0.0], 20.0, dense_output=True), np.linspace(0.0, 20.0, 999)
    for rtol in (1e-5, 1e-7, 1e-9, 1e-11):
        run = drive(pendulum, [2.0, 0.0], 20.0, "adams", rtol=rtol, atol=rtol)
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


def test_events_are_located():
    run = drive(pendulum, [1.0, 0.0], 10.0, "adams", rtol=1e-10, atol=1e-10, events=heights, directions=[0])
    exact = reference([1.0, 0.0], 10.0, dense_output=True)
    assert len(run.log) > 2
    for _, _, t in run.log:
        assert abs(exact.sol(t)[0]) < 1e-8


def test_max_order_is_a_whole_number_in_its_range():
    rod = Model(name="m", bodies=[Body("rod", mass=1.0, shape=Rod(1.0))], joints=[Joint("hinge", "revolute", "rod")])
    for wrong in (0, 13, 2.5, "x", None):
        with pytest.raises(ModelError, match="max_order"):
            pliant.Adams(max_order=wrong)
    result = pliant.simulate(rod, 1.0, integrator=pliant.Adams(max_order=3), step=0.01)
    assert result.stats["steps"] == 100

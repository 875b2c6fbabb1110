"""Adams's method: order, dense output, choice of order, events, against SciPy and closed forms."""

import dataclasses

import numpy as np
import pytest

import pliant
from integrator_runs import drive, heights, in_pairs, pendulum, reference, slope, sprung
from pliant import Body, Contact, Frame, HuntCrossley, Joint, Model, Plane, Rod
from pliant.errors import ModelError
from pliant.kernels._jit import DERIVATIVE, SWITCH, kernel
from pliant.kernels.integrators import adams_table, tableaus
from pliant.system.status import Status
from zoo import ZOO

TWICE = {"unknowns": in_pairs(2)}  # coordinates are integrated twice
SWITCHED = int(Status.SWITCHED)


@kernel(DERIVATIVE)
def touch(system, work, t, y, ydot):
    """Free until t = 1, when y[0] is zero; then a force with fractional and whole powers of time."""
    later = max(t - 1.0, 0.0)
    ydot[0] = y[1]
    ydot[1] = later**1.5 + later**2 - later**2.5
    return 0


def touched(t):
    """y then."""
    later = np.maximum(t - 1.0, 0.0)
    x = later**3.5 / 8.75 + later**4 / 12 - later**4.5 / 15.75
    return np.stack([1.0 - t + x, -1.0 + later**2.5 / 2.5 + later**3 / 3 - later**3.5 / 3.5], axis=-1)


@kernel(SWITCH)
def begin_force(system, work, t, y, fired):
    return SWITCHED


def hitting_rod(exponent):
    floor = Contact(
        "floor",
        HuntCrossley(1e6 * 100.0 ** (exponent - 1.0), 0.8, exponent=exponent),
        plane=Plane(normal=(0, 1, 0), offset=-0.8),
        points=[Frame("rod", (1.0, 0, 0))],
    )
    hinge = Joint("hinge", "revolute", "rod", q0=0.3)
    return Model("m", [Body("rod", mass=1.0, shape=Rod(1.0))], [hinge], gravity=(0, -9.81, 0), contacts=[floor])


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


@pytest.mark.parametrize("order", [1, 2, 3, 4, 6, 8])
def test_fixed_steps_have_the_order_of_the_corrector(monkeypatch, order):
    """Predictor of order k, corrector of order k + 1, from the first step on: its start is of that order, too."""
    monkeypatch.setitem(tableaus.TABLEAUS, "adams", tableaus.with_order("adams", order))
    h = np.array([0.02, 0.01, 0.005]) if order < 6 else np.array([0.16, 0.08, 0.04])
    exact = reference([1.5, 0.0], 4.0).y[:, -1]
    errors = [np.abs(drive(pendulum, [1.5, 0.0], 4.0, "adams", is_fixed=True, h=k).memory.y - exact).max() for k in h]
    assert slope(h, errors) > order + 0.5


def test_fixed_steps_keep_their_order_where_they_begin_anew():
    """A controller sampled every five to twenty steps, and a load that jumps: the order is not lost at any start."""
    hold = pliant.Controller("hold", 0.05, ("hinge",), law=pliant.PD(20.0, 2.0))
    rods = [Body(name, mass=1.0, shape=Rod(1.0)) for name in ("upper", "lower")]
    joints = [
        Joint("hinge", "revolute", "upper"),
        Joint("elbow", "revolute", "lower", parent=Frame("upper", (1, 0, 0))),
    ]
    jump = pliant.Load("lower", y=pliant.Step(0.1, 5.0, 0.2))
    model = Model("m", rods, joints, gravity=(0, -9.81, 0), controllers=[hold], loads=[jump])
    exact = pliant.simulate(model, 0.5, rtol=1e-13, atol=1e-15, integrator="dop853").q[-1]
    h, how = np.array([0.01, 0.005, 0.0025]), {"integrator": pliant.Adams(max_order=4)}
    errors = [np.abs(pliant.simulate(model, 0.5, step=k, **how).q[-1] - exact).max() for k in h]
    assert slope(h, errors) > 4.0  # 5 in the end, when a sample is many steps


def test_dense_output_of_a_start_joins_the_ends_of_its_steps():
    """The cubic through both ends and their rates: continuous, with an error of h^4 inside."""
    run = drive(pendulum, [1.5, 0.0], 0.5, "adams", is_fixed=True, h=0.05)
    exact, t = reference([1.5, 0.0], 0.5, dense_output=True), np.linspace(0.0, 0.5, 101)
    assert np.abs(run.at(run.t) - run.y).max() < 1e-15
    assert np.abs(run.at(t) - exact.sol(t).T).max() < 0.05**4 / 100  # y h^4 / 384, with y below 4


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


@pytest.mark.parametrize("form", [{}, TWICE], ids=["once", "twice"])
def test_after_a_touch_fractional_powers_of_time_are_followed_exactly(form):
    """They are polynomials of degree 5 in its root: steps double in that, and but for first ones, of low order, of a
    share of the tolerance each, nothing is left but rounding."""
    options = {"events": heights, "directions": [-1], "rtol": 1e-11, "atol": 1e-13} | form
    run, plain = (
        drive(touch, [1.0, -1.0], 2.0, "adams", switch=begin_force, fractional=fractional, **options)
        for fractional in ([0], [])
    )
    n, n_plain = (each.memory.stepping[0].n_steps for each in (run, plain))
    assert n < 40 < 100 < n_plain
    np.testing.assert_allclose(run.memory.y, touched(2.0), rtol=0, atol=1e-12)
    # dense output has powers of t only; u doubles at most in a step: it follows to 3^-16 of the fractional powers
    t = np.concatenate([np.linspace(0.0, 2.0, 400), 1.0 + 10.0 ** np.linspace(-12, 0, 400)])
    np.testing.assert_allclose(run.at(t), touched(t), rtol=0, atol=1e-12)


def test_dense_output_in_the_root_of_time_joins_the_ends_of_steps():
    options = {"events": heights, "directions": [-1], "rtol": 1e-9, "atol": 1e-11} | TWICE
    run = drive(touch, [1.0, -1.0], 2.0, "adams", switch=begin_force, fractional=[0], **options)
    ends = run.terms[:, -1]
    for k in range(run.terms.shape[1] - 2, -1, -1):
        ends = run.terms[:, k] + (ends if k % 2 == 0 else 0.0)
    # y + one increment, whose sum over the terms rounds otherwise
    np.testing.assert_allclose(ends[:-1], run.terms[1:, 0], rtol=0, atol=1e-15)
    np.testing.assert_allclose(ends[-1], run.memory.y, rtol=0, atol=1e-15)


@pytest.mark.parametrize(("exponent", "most"), [(1.5, 20), (2.5, 20), (1.3, 30)])
def test_contacts_of_fractional_powers_begin_in_a_few_steps(exponent, most):
    """The first hundredth of a contact: polynomials in t would take 40 steps there at 1.3 and 1.5."""
    result = pliant.simulate(hitting_rod(exponent), 0.5, dense=False, integrator="adams", rtol=1e-11, atol=1e-13)
    begin, end = result.contacts.t_start[0], result.contacts.t_end[0]
    assert np.sum((result.t > begin) & (result.t < begin + 0.01 * (end - begin))) < most


@pytest.mark.parametrize("exponent", [1.5, 2.5, 1.3])
def test_error_in_contact_follows_the_tolerance_from_the_first_step_on(exponent):
    model = hitting_rod(exponent)
    exact = pliant.simulate(model, 0.5, integrator="dop853", rtol=1e-13, atol=1e-15)
    begin, end = exact.contacts.t_start[0], exact.contacts.t_end[0]
    t = begin + (end - begin) * np.concatenate([10.0 ** np.linspace(-7, -2, 200), np.linspace(0.01, 0.99, 200)])
    for rtol in (1e-7, 1e-9, 1e-11):
        run = pliant.simulate(model, 0.5, integrator="adams", rtol=rtol, atol=0.01 * rtol)
        # some 40 steps of flight and 40 of contact, a few tolerances of q = -0.9
        np.testing.assert_allclose(run.at(t)[0], exact.at(t)[0], rtol=0, atol=5 * rtol)


def test_motion_in_contact_is_the_same_with_and_without_dense_output():
    kept, plain = (
        pliant.simulate(hitting_rod(1.5), 0.5, integrator="adams", rtol=1e-9, dense=dense) for dense in (True, False)
    )
    assert np.array_equal(kept.t, plain.t)
    assert np.array_equal(kept.q, plain.q)
    assert np.array_equal(kept.v, plain.v)


def test_stepper_in_contact_goes_on_from_what_was_saved_to_the_last_bit():
    """The root of time counts from an instant that is saved with the rest; a run begun anew knows nothing of it."""
    model = hitting_rod(1.5)
    result = pliant.simulate(model, 0.5, dense=False)
    middle = 0.5 * (result.contacts.t_start[0] + result.contacts.t_end[0])
    stepper = pliant.stepper(model, duration=0.5, integrator="adams", rtol=1e-9)
    stepper.step(None, middle)
    saved = stepper.save()
    ends = []
    for _ in range(2):
        stepper.step(None, 0.45 - middle)
        ends.append(np.concatenate([stepper.q, stepper.v]))
        stepper.restore(saved)
    assert np.array_equal(*ends)
    stepper.reset()
    stepper.step(None, middle)
    stepper.step(None, 0.45 - middle)
    assert np.array_equal(np.concatenate([stepper.q, stepper.v]), ends[0])


def test_after_an_event_steps_grow_fourfold():
    """From the first step, of order 1, to those of high order there are six decades: ten steps, and the order rises."""
    options = {"events": heights, "rtol": 1e-11, "atol": 1e-13} | TWICE
    smooth, switched = (
        drive(pendulum, [1.0, 0.0], 20.0, "adams", switch=begin_force, directions=directions, **options)
        for directions in ([], [0])
    )
    n_events = len(switched.log)
    assert n_events > 5
    more = switched.memory.stepping[0].n_steps - smooth.memory.stepping[0].n_steps
    assert more < 16 * n_events

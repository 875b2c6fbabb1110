"""What an event costs, and what the end of a step that was moved onto it is worth."""

import math

import numpy as np
import pytest

import pliant
from pliant import Body, Contact, Crossing, Frame, HertzLaw, HuntCrossley, Joint, Model, Plane, Rod, Sphere

# stages of a step, and those that its dense output takes besides
STAGES = {"dop853": (12, 3), "bs5": (7, 1), "dopri5": (6, 0), "rkf45": (6, 1)}


def pendulum(crossings=(), contacts=()):
    return Model(
        "pendulum",
        [Body("rod", mass=1.0, shape=Rod(1.0))],
        [Joint("hinge", "revolute", "rod", q0=0.3)],
        gravity=(0, -9.81, 0),
        crossings=crossings,
        contacts=contacts,
    )


@pytest.mark.parametrize("integrator", STAGES)
def test_a_crossing_costs_one_step_on_it_and_one_after_it(integrator):
    """The dense output of the step that passed it, a step that ends on it, corrections by one evaluation each; the step
    after it is the rest of the one before, and at most one more where tolerances put steps elsewhere."""
    stages, more = STAGES[integrator]
    options = {"integrator": integrator, "rtol": 1e-9, "dense": False}
    plain = pliant.simulate(pendulum(), 1.0, **options)
    crossed = pliant.simulate(pendulum([Crossing("down", "hinge", -1.0)]), 1.0, **options)
    assert len(crossed.events) == 1
    assert crossed.audit["event_error"] <= 4e-16  # two units in the last place of t
    # f anew after the crossing, three corrections
    assert crossed.stats["evaluations"] - plain.stats["evaluations"] <= 3 * stages + more + 4
    # the crossing is where the plain motion has it: steps differ, so to their tolerance
    plain = pliant.simulate(pendulum(), 1.0, **{**options, "dense": True})
    (event,) = crossed.events
    assert plain.at(event.t)[0][0] == pytest.approx(-1.0, abs=1e-8)


@pytest.mark.parametrize("integrator", STAGES)
def test_dense_output_ends_on_the_row_of_the_event(integrator):
    """Also where the end of a step was moved: motion is continuous to rounding, and conserves energy."""
    floor = Contact(
        "floor",
        HuntCrossley(1e6, 1.0),
        plane=Plane(normal=(0, 1, 0), offset=-0.8),
        points=[Frame("rod", (1.0, 0, 0))],
    )
    result = pliant.simulate(
        pendulum([Crossing("down", "hinge", -0.5, direction="falling")], [floor]), 1.5, integrator=integrator, rtol=1e-9
    )
    assert result.is_ok
    assert len(result.contacts) >= 1
    assert result.audit["event_error"] < 1e-12  # events closer than this are one
    assert result.audit["energy_residual"] < 1e-7  # tolerance times the steps
    dense = result.dense
    ends = dense.starts + dense.steps
    rows = {float(t): k for k, t in enumerate(result.t)}
    times = np.array([event.t for event in result.events])
    assert len(times) >= 3
    for t in times:
        piece = int(np.argmin(np.abs(ends - t)))
        before = np.nextafter(t, 0.0)
        q, v = result.at(before)
        assert abs(ends[piece] - t) <= 1e-15
        # one unit in the last place of t before it: the motion of that time, and rounding
        assert q == pytest.approx(result.q[rows[float(t)]], abs=1e-13)
        assert v == pytest.approx(result.v[rows[float(t)]], abs=1e-11)


@pytest.mark.parametrize("integrator", STAGES)
def test_motion_is_the_same_with_and_without_dense_output(integrator):
    """Its extra stages leave nothing behind that an event handler would take for the state it lands in."""
    model = pliant.load("bouncing-ball")
    kept, plain = (pliant.simulate(model, 1.0, integrator=integrator, dense=dense) for dense in (True, False))
    assert np.array_equal(kept.t, plain.t)
    assert np.array_equal(kept.q, plain.q)
    assert np.array_equal(kept.v, plain.v)
    assert np.array_equal(kept.contacts.v_out, plain.contacts.v_out)


@pytest.mark.parametrize("integrator", STAGES)
def test_a_ball_leaves_a_hertzian_floor_as_fast_as_it_came_within_few_tolerances(integrator):
    """However steps fall: an error estimate hardly sees the end of a force d^1.5 (one step of bs5 that ends on it errs
    by up to 30 tolerances). Some ten steps of a contact add up."""
    rtol, heights = 1e-6, np.linspace(0.05, 0.5, 24)
    losses = []
    for height in heights:
        model = Model(
            "ball",
            [Body("ball", mass=1.0, shape=Sphere(0.05))],
            [Joint("slide", "prismatic", "ball", q0=height)],
            contacts=[Contact("floor", HertzLaw(1e6), plane=Plane(), points=[Frame("ball")])],
        )
        duration = math.sqrt(2.0 * height / 9.81) + 0.02
        result = pliant.simulate(model, duration, integrator=integrator, rtol=rtol, atol=rtol)
        (contact,) = result.contacts
        losses.append(abs(contact.v_out - contact.v_in) / (rtol * (1.0 + contact.v_in)))
    assert max(losses) < 10.0
    assert np.median(losses) < 5.0


@pytest.mark.parametrize("integrator", STAGES)
def test_energy_closes_to_some_tolerances_where_sliding_ends_within_a_contact(integrator):
    """However steps fall on the kinks of friction: where the ball begins to roll, stages late in a trial step see
    friction the wrong way round. An estimate that leaves these stages out lost 1e4 to 1e6 tolerances."""
    model = pliant.load("bouncing-ball")
    for rtol in 10.0 ** np.linspace(-12.5, -6.0, 27):
        result = pliant.simulate(model, 0.5, integrator=integrator, rtol=rtol, atol=rtol / 100, dense=False)
        assert result.audit["energy_residual"] < 10 * rtol, rtol


@pytest.mark.parametrize("rtol", [1e-5, 1e-10])
@pytest.mark.parametrize("integrator", STAGES)
def test_dense_output_of_a_step_moved_onto_an_event_is_as_accurate_as_its_end(integrator, rtol):
    model = pliant.load("falling-chain")
    exact = pliant.simulate(model, 0.8, integrator="dop853", rtol=1e-13, atol=1e-16)
    result = pliant.simulate(model, 0.8, integrator=integrator, rtol=rtol, atol=rtol / 100)
    landings = np.sort(np.concatenate([result.contacts.t_start, result.contacts.t_end]))
    landings = landings[np.isfinite(landings)][:8]
    assert len(landings) >= 4
    for t in landings:
        row = int(np.searchsorted(result.t, t))
        start = result.t[row - 1]

        def error(share, start=start, t=t):
            at = start + share * (t - start)
            return np.abs(result.at(at)[1] - exact.at(at)[1]).max()

        # within 20 tolerances of what the ends have
        assert max(error(0.3), error(0.5), error(0.85)) < 2 * max(error(0.0), error(1.0)) + 20 * rtol


def test_adams_leaves_a_contact_within_some_tolerances():
    """Its error estimate hardly sees the end of a force d^1.5 that lies ahead: steps of which it is trusted there lose
    three digits on the way out (900 tolerances at the end of the first contact). A hundred steps add up."""
    model, rtol = pliant.load("falling-chain"), 1e-10
    exact = pliant.simulate(model, 0.432, integrator="dop853", rtol=1e-13, atol=1e-15)
    result = pliant.simulate(model, 0.432, integrator="adams", rtol=rtol, atol=rtol / 100)
    left = exact.contacts.t_end[0] + 1e-6
    assert np.abs(result.at(left)[1] - exact.at(left)[1]).max() < 100 * rtol

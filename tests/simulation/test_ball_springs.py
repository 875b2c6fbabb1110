"""Springs on the rotation vector, rotated through pi: the potential is continuous, the moment changes its sign."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import pliant
from pliant import Body, Joint, Model, ModelError, Output, RotationVector

INERTIA = np.array([0.3, 0.4, 0.5])
K = 2.0
TIGHT = {"rtol": 1e-11}
TURNS = "ball rotates through pi"


def ball(v0, stiffness=K, kind="spherical", q0=None):
    v0 = v0 if kind == "spherical" else (0.1, -0.2, 0.3, *v0)
    return Model(
        "ball", (Body("rotor", 1.0, inertia=tuple(INERTIA)),), gravity=(0, 0, 0),
        joints=(Joint("ball", kind, "rotor", stiffness=stiffness, v0=v0, q0=q0),),
        outputs=(Output("moment", "ball", "spring"),),
    )  # fmt: skip


def test_a_rotation_about_one_axis_is_piecewise_harmonic():
    """phi'' = -w^2 phi until phi = pi, then from -pi on with the same rate, and so on."""
    w, rate = np.sqrt(K / INERTIA[2]), 7.0
    result = pliant.simulate(ball((0.0, 0.0, rate)), 2.0, **TIGHT)
    first = np.arcsin(np.pi * w / rate) / w
    assert [event.name for event in result.events] == [TURNS, TURNS]
    assert result.events[0].t == pytest.approx(first, abs=1e-10)  # a few rtol of the time
    # from -pi to pi with the energy it has: as long as from 0 to pi, twice
    assert result.events[1].t == pytest.approx(3 * first, abs=1e-10)
    t = np.array([0.3, 1.0, 1.5, 2.0])
    since = (t + first) % (2 * first) - first  # time from the last passage through zero
    assert result.at(t)[1][:, 2] == pytest.approx(rate * np.cos(w * since), abs=1e-8)
    moment = result.outputs_at(t)["moment"][:, 2]
    assert moment == pytest.approx(-K * rate / w * np.sin(w * since), abs=1e-8)
    assert result.audit["energy_residual"] < 1e-10  # 10 rtol


def test_the_moment_changes_its_sign_where_the_event_is():
    result = pliant.simulate(ball((0.0, 0.0, 7.0)), 1.0, **TIGHT)
    t = result.events[0].t
    before, after = result.outputs_at([t - 1e-9, t + 1e-9])["moment"][:, 2]
    assert before == pytest.approx(-K * np.pi, rel=1e-7)  # moved on by 6e-9 rad
    assert after == pytest.approx(K * np.pi, rel=1e-7)


def reference(stiffness, v0, duration):
    """Euler's equations with SciPy's attitudes, the moment as the gradient of V = 1/2 phi^T k phi by differences of the
    rotation vector, restarted where the angle is pi."""
    k = np.broadcast_to(stiffness, 3)

    def moment(attitude):
        def potential(x):
            phi = (attitude * Rotation.from_rotvec(x)).as_rotvec()
            # on the side that holds: the rotation vector beyond pi is that of the other sense
            phi = phi if phi @ near > 0.0 else phi * (1.0 - 2 * np.pi / np.linalg.norm(phi))
            return 0.5 * k @ phi**2

        near, h = attitude.as_rotvec(), 1e-4
        steps = np.eye(3) * h
        # fourth order: h^4 and rounding over h are below 1e-11
        return -np.array([
            (8 * (potential(e) - potential(-e)) - (potential(2 * e) - potential(-2 * e))) / (12 * h) for e in steps
        ])  # fmt: skip

    def rates(_, y):
        x, w = y[:4], y[4:]
        qdot = 0.5 * np.array([
            x[3] * w[0] + x[1] * w[2] - x[2] * w[1],
            x[3] * w[1] + x[2] * w[0] - x[0] * w[2],
            x[3] * w[2] + x[0] * w[1] - x[1] * w[0],
            -(x[:3] @ w),
        ])  # fmt: skip
        wdot = (moment(Rotation.from_quat(x)) - np.cross(w, INERTIA * w)) / INERTIA
        return np.concatenate([qdot, wdot])

    def at_pi(_, y):
        return y[3]

    at_pi.terminal = True
    y, t, events = np.array([0, 0, 0, 1.0, *v0]), 0.0, []
    while t < duration:
        found = solve_ivp(rates, (t, duration), y, method="DOP853", rtol=1e-10, atol=1e-12, events=at_pi)
        t, y = found.t[-1], found.y[:, -1]
        if found.status == 1:
            events.append(t)
            y = np.array([*(-y[:3]), 1e-15, *y[4:]])  # the same attitude, on the other side
    return events, y


@pytest.mark.parametrize("stiffness", [K, (2.0, 1.0, 3.0)])
def test_a_tumbling_body_agrees_with_an_independent_integration(stiffness):
    v0 = (1.0, -2.0, 8.0)
    result = pliant.simulate(ball(v0, stiffness), 1.2, **TIGHT)
    events, y = reference(stiffness, v0, 1.2)
    assert len(result.events) == len(events) >= (1 if stiffness != K else 0)
    assert [event.t for event in result.events] == pytest.approx(events, abs=1e-8)
    assert result.v[-1] == pytest.approx(y[4:], abs=1e-6)  # differences of the potential have 1e-9 or so
    assert result.audit["energy_residual"] < 1e-9


@pytest.mark.parametrize("options", [{}, {"integrator": "radau"}, {"formulation": "lagrange"}, {"step": 1e-3}])
@pytest.mark.parametrize("kind", ["spherical", "floating"])
def test_energy_is_kept_through_pi_by_every_way_of_integrating(kind, options):
    result = pliant.simulate(
        ball((1.0, -2.0, 9.0), (2.0, 1.0, 3.0) * (2 if kind == "floating" else 1), kind), 2.0, **options
    )
    assert [event.name for event in result.events] == [TURNS, TURNS]
    assert result.audit["energy_residual"] < 1e-8  # rtol, or h^8 of fixed steps
    assert result.is_ok


def test_second_order_methods_land_on_it_too():
    exact = pliant.simulate(ball((1.0, -2.0, 9.0)), 1.0, **TIGHT).events
    found = pliant.simulate(ball((1.0, -2.0, 9.0)), 1.0, integrator="generalised_alpha", step=1e-4).events
    assert [event.t for event in found] == pytest.approx([event.t for event in exact], abs=1e-5)  # second order in h


def test_a_rotation_that_stays_below_pi_has_no_event():
    w = np.sqrt(K / INERTIA[2])
    result = pliant.simulate(ball((0.0, 0.0, 0.999 * np.pi * w)), 5.0)
    assert result.events == ()
    assert pliant.simulate(ball((0.0, 0.0, 1.001 * np.pi * w)), 5.0).events != ()


@pytest.mark.parametrize("rate", [1.0, -1.0, 0.0])
@pytest.mark.parametrize("q0", [(0, 0, 1.0, 0), (0, 0, -1.0, 0), RotationVector((0, 0, "180 deg"))])
def test_a_start_at_pi_goes_to_the_side_of_its_rate(q0, rate):
    """Energy 1/2 I rate^2 + 1/2 k pi^2 at rest: it comes through zero rotation with all of it kinetic."""
    result = pliant.simulate(ball((0.0, 0.0, rate), q0=q0), 3.0)
    fastest = np.sqrt(rate**2 + K / INERTIA[2] * np.pi**2)
    assert result.audit["energy_residual"] < 1e-8
    assert np.abs(result.at(np.linspace(0, 3, 3001))[1][:, 2]).max() == pytest.approx(fastest, rel=1e-5)  # of samples
    if rate:
        assert rate * result.at(0.1)[1][2] > rate**2  # away from pi, ever faster


def test_a_run_that_goes_on_after_pi_is_the_whole_run():
    model = ball((1.0, -2.0, 9.0))
    whole = pliant.simulate(model, 2.0)
    first = pliant.simulate(model, whole.events[0].t + 0.05)
    second = pliant.simulate(model, 2.0 - first.t[-1], start=first)
    assert second.q[-1] == pytest.approx(whole.q[-1], abs=1e-7)  # other steps, each within rtol
    assert len(first.events) + len(second.events) == len(whole.events)


def test_moments_of_one_state_are_those_of_the_shortest_rotation():
    """Also where the quaternion has the other sign."""
    model = ball((0.0, 0.0, 0.0))
    q = np.array([0.0, 0.0, np.sin(1.5), np.cos(1.5)])
    for angle, x in ((3.0, q), (3.0, -q), (-3.0, np.array([0.0, 0.0, np.sin(1.5), -np.cos(1.5)]))):
        vdot = pliant.forward_dynamics(model, x, np.zeros(3))
        assert vdot == pytest.approx([0.0, 0.0, -K * angle / INERTIA[2]], abs=1e-13)


def test_there_is_no_linear_model_at_pi():
    with pytest.raises(
        ModelError, match="joint 'ball' is rotated by pi, where the moment of its spring changes its sign"
    ):
        pliant.linearise(ball((0.0, 0.0, 0.0)), q=(0.0, 0.0, 1.0, 0.0), v=(0.0, 0.0, 0.0))


def test_the_page_names_the_event_without_a_direction():
    from pliant.view.page.events import event_words

    assert event_words(pliant.simulate(ball((0.0, 0.0, 7.0)), 1.0).events[0]) == TURNS


def test_a_floating_body_on_springs_that_only_pull_has_no_such_event():
    model = ball((0.0, 0.0, 9.0), (2.0, 2.0, 2.0, 0.0, 0.0, 0.0), "floating")
    result = pliant.simulate(model, 2.0)
    assert result.events == ()
    assert result.audit["energy_residual"] < 1e-8

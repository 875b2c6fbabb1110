"""Friction laws in contacts and joints, against closed forms and scipy."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pliant
from pliant import methods
from pliant.errors import ModelError
from pliant.model.bodies import Body, Box, Frame, Rod, Sphere
from pliant.model.contacts import Contact, NormalLaw, Plane
from pliant.model.friction_laws import FRICTION_LAWS, Friction
from pliant.model.joints import Joint
from pliant.model.model import Base, Crossing, Load, Model, Output
from pliant.model.signals import Ramp, Sine, Table
from pliant.queries.dynamics import forward_dynamics, inverse_dynamics
from pliant.simulation.simulate import simulate

G, K = 9.81, 1e6
DAMPED = NormalLaw("hunt-crossley", K, damping=30.0)
TIGHT = {"rtol": 1e-11, "atol": 1e-13}

# one of each, as used below
LAWS = {
    "coulomb": Friction("coulomb", 0.2),
    "stiction": Friction("stiction", 0.2, mu_s=0.3),
    "viscous": Friction("viscous", 0.2, c_v=0.4),
    "stribeck": Friction("stribeck", 0.2, mu_s=0.3, v_s=0.05, c_v=0.1),
    "karnopp": Friction("karnopp", 0.2, mu_s=0.3),
    "bengisu-akay": Friction("bengisu-akay", 0.2, mu_s=0.3, v0=0.02, xi=4.0),
    "ambrosio": Friction("ambrosio", 0.2, v0=0.01, v1=0.05),
    "atan": Friction("atan", 0.2, sharpness=30.0),
    "tanh": Friction("tanh", 0.2, sharpness=30.0),
    "step-stribeck": Friction("step-stribeck", 0.2, mu_s=0.3, v0=0.02, v1=0.1),
    "dahl": Friction("dahl", 0.2, sigma0=500.0),
    "lugre": Friction("lugre", 0.2, mu_s=0.3, v_s=0.05, sigma0=500.0, sigma1=5.0, sigma2=0.1),
}
STICKING = ("coulomb", "stiction", "viscous", "stribeck", "karnopp")
SMOOTHED = ("bengisu-akay", "ambrosio", "atan", "tanh", "step-stribeck")


def loaded(friction, load):
    return dataclasses.replace(friction, load=load)


def step(x, x0, h0, x1, h1):
    D = (x - x0) / (x1 - x0)
    return h0 + (h1 - h0) * D**2 * (3 - 2 * D)


def size(law, v):
    """mu(v) N + c_v v for N = 2, once more."""
    N = 2.0
    return {
        "coulomb": lambda: 0.2 * N,
        "stiction": lambda: 0.2 * N,
        "karnopp": lambda: 0.2 * N,
        "viscous": lambda: 0.2 * N + 0.4 * v,
        "stribeck": lambda: (0.2 + 0.1 * math.exp(-((v / 0.05) ** 2))) * N + 0.1 * v,
        "bengisu-akay": lambda: N
        * (0.3 * (1 - (v / 0.02 - 1) ** 2) if v < 0.02 else 0.2 + 0.1 * math.exp(-4 * (v - 0.02))),
        "ambrosio": lambda: 0.2 * N * min(max((v - 0.01) / 0.04, 0.0), 1.0),
        "atan": lambda: 0.2 * N * 2 / math.pi * math.atan(30 * v),
        "tanh": lambda: 0.2 * N * math.tanh(30 * v),
        "step-stribeck": lambda: N
        * (step(v, -0.02, -0.3, 0.02, 0.3) if v < 0.02 else step(v, 0.02, 0.3, 0.1, 0.2) if v < 0.1 else 0.2),
    }[law]()  # fmt: skip


def slider(friction, motor=None, speed=0.0, mass=1.0, **more):
    """A mass on a rail with friction in the joint."""
    rail = Joint("rail", "prismatic", "cart", axis=(1, 0, 0), v0=speed, friction=friction, motor=motor, **more)
    return Model(
        "slider",
        (Body("cart", mass, inertia=(1, 1, 1)),),
        (rail,),
        outputs=(Output("rub", "rail", "friction"),),
    )


# --- friction in joints -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", STICKING)
def test_slider_stops_when_and_where_it_should(law):
    def rate(_, y):
        return [y[1], -size(law, y[1])]

    stops = lambda _, y: y[1]  # noqa: E731
    stops.terminal = True
    run = solve_ivp(rate, (0, 9), [0.0, 0.5], events=stops, method="DOP853", rtol=1e-12, atol=1e-14)
    result = simulate(slider(loaded(LAWS[law], 2.0), speed=0.5), 3.0, **TIGHT)
    held = LAWS[law].value("stick_speed")
    # what is left of the speed dies out at 50/s
    assert result.q[-1, 0] == pytest.approx(run.y_events[0][0][0], abs=held / 50 + 1e-10)
    assert abs(result.v[-1, 0]) < 1e-12
    assert result.audit["energy_residual"] < 1e-10
    assert result.energy["work_joint_friction"][-1] == pytest.approx(-0.125, rel=1e-9)


@pytest.mark.parametrize("law", STICKING)
def test_slider_holds_until_its_bound(law):
    """A force that grows by 1 N/s breaks away at mu_s N; then it moves as the slip law says."""
    bound = 2.0 * (0.2 if LAWS[law].mu_s is None else 0.3)
    model = slider(loaded(LAWS[law], 2.0), motor=Ramp(0.0, 1.0))
    result = simulate(model, 0.9, **TIGHT)
    assert [event.name for event in result.events] == ["rail slips"]
    # 50/s times speeds of the order of the tolerance
    assert result.events[0].t == pytest.approx(bound, abs=1e-8)
    still = result.t < bound - 1e-8
    assert np.max(np.abs(result.q[still])) < 1e-11
    np.testing.assert_allclose(result.outputs["rub"][still, 0], -result.t[still], atol=1e-8)

    def rate(t, y):
        return [y[1], t - size(law, y[1])]

    run = solve_ivp(rate, (bound, 0.9), [0.0, 0.0], method="DOP853", rtol=1e-12, atol=1e-14)
    assert result.v[-1, 0] == pytest.approx(run.y[1, -1], rel=1e-7)


@pytest.mark.parametrize("law", SMOOTHED)
def test_smooth_laws_as_scipy_has_them(law):
    def rate(t, y):
        return [y[1], 0.9 * math.sin(7 * t) - math.copysign(size(law, abs(y[1])), y[1])]

    result = simulate(slider(loaded(LAWS[law], 2.0), Sine(0.9, 7.0)), 2.0, **TIGHT)
    run = solve_ivp(rate, (0, 2), [0.0, 0.0], method="DOP853", rtol=1e-11, atol=1e-13, max_step=2e-3)
    assert result.q[-1, 0] == pytest.approx(run.y[0, -1], abs=1e-8)
    assert result.v[-1, 0] == pytest.approx(run.y[1, -1], abs=1e-7)
    assert result.audit["energy_residual"] < 1e-10


def test_kinks_of_ambrosio_keep_the_accuracy():
    """Uniform braking down to v1, then an exponential towards v0."""
    mu, v0, v1, N = 0.2, 0.01, 0.05, 2.0
    result = simulate(slider(loaded(LAWS["ambrosio"], N), speed=0.3), 3.0, rtol=1e-12, atol=1e-14)
    t1 = (0.3 - v1) / (mu * N)
    for t in (0.5, t1 + 0.05, t1 + 0.4):
        expected = 0.3 - mu * N * t if t < t1 else v0 + (v1 - v0) * math.exp(-mu * N / (v1 - v0) * (t - t1))
        assert result.at(t)[1][0] == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("law", ["dahl", "lugre"])
def test_bristles_as_scipy_has_them(law):
    N = 2.0

    def rate(t, y):
        _, v, z = y
        if law == "dahl":
            zdot = v * (1 - 500 * z * np.sign(v) / (0.2 * N))
            F = 500 * z
        else:
            zdot = v - 500 * abs(v) * z / ((0.2 + 0.1 * math.exp(-((v / 0.05) ** 2))) * N)
            F = 500 * z + 5 * zdot + 0.1 * v
        return [v, 0.9 * math.sin(7 * t) - F, zdot]

    result = simulate(slider(loaded(LAWS[law], N), Sine(0.9, 7.0)), 2.0, **TIGHT)
    run = solve_ivp(rate, (0, 2), [0.0, 0.0, 0.0], method="DOP853", rtol=1e-11, atol=1e-13, max_step=1e-3)
    assert result.q[-1, 0] == pytest.approx(run.y[0, -1], abs=1e-8)
    assert result.v[-1, 0] == pytest.approx(run.y[1, -1], abs=1e-7)
    assert result.state_at(2.0)[-1] == pytest.approx(run.y[2, -1], abs=1e-9)
    assert result.audit["energy_residual"] < 1e-10


def test_dahl_with_another_exponent():
    def rate(t, y):
        _, v, z = y
        rest = 1 - 500 * z * np.sign(v) / 0.4
        return [v, 0.9 * math.sin(7 * t) - 500 * z, v * np.sign(rest) * abs(rest) ** 1.7]

    law = Friction("dahl", 0.2, sigma0=500.0, p=1.7, load=2.0)
    result = simulate(slider(law, Sine(0.9, 7.0)), 1.0, **TIGHT)
    run = solve_ivp(rate, (0, 1), [0.0, 0.0, 0.0], method="DOP853", rtol=1e-11, atol=1e-13, max_step=1e-3)
    assert result.q[-1, 0] == pytest.approx(run.y[0, -1], abs=1e-8)


def test_pendulum_with_coulomb_friction_loses_its_torque_times_the_way():
    """Between two turning points m g l (cos a - cos b) = tau (|a| + |b|)."""
    torque = 0.3
    model = Model(
        "pendulum",
        (Body("bob", 1.0, com=(0, -1.0, 0)),),
        (Joint("hinge", "revolute", "bob", q0=2.0, friction=Friction("coulomb", 0.3, load=1.0)),),
        gravity=(0, -G, 0),
        crossings=(Crossing("turns", "hinge.rate"),),
    )
    result = simulate(model, 30.0, **TIGHT)
    turns = [result.at(event.t)[0][0] for event in result.events if event.name == "turns"]
    assert len(turns) > 8
    before = 2.0  # it starts at rest
    for angle in turns[:8]:
        assert G * (math.cos(angle) - math.cos(before)) == pytest.approx(torque * (abs(angle) + abs(before)), rel=1e-5)
        before = angle
    # at rest where gravity is weaker than friction
    assert abs(result.v[-1, 0]) < 1e-9
    assert G * abs(math.sin(result.q[-1, 0])) < torque


def test_friction_of_one_velocity_of_several():
    joint = Joint(
        "stage", "planar", "b", v0=(1.0, 1.0, 0.5), friction=(Friction("coulomb", 0.5, load=1.0), "none", "none")
    )
    result = simulate(Model("m", (Body("b", 1.0, inertia=(1, 1, 1)),), (joint,), gravity=(0, 0, 0)), 1.0)
    np.testing.assert_allclose(result.v[-1], (0.5, 1.0, 0.5), rtol=1e-12)


# --- friction in contacts ---------------------------------------------------------------------------------------


def block(friction, speed=0.5, direction=(1.0, 0.0), slope=0.0, **more):
    """A mass that cannot turn, put on the plane; gravity tilted instead of the plane."""
    vx, vy = speed * np.array(direction)
    return Model(
        "block",
        (Body("block", 1.0, inertia=(1, 1, 1)),),
        base=Base("floating", velocity=(vx, vy, 0)),
        gravity=(G * math.sin(slope), 0, -G * math.cos(slope)),
        contacts=(Contact("ground", DAMPED, points=("block",), friction=friction),),
        outputs=(Output("force", "ground", "contact"),),
        **more,
    )


@pytest.mark.parametrize("direction", [(1.0, 0.0), (0.6, -0.8)])
def test_sliding_block_stops_where_it_should(direction):
    """m x'' = -mu N and m z'' = N - m g: x = v t - mu (g t^2/2 + z), so it stops at v^2/(2 mu g) + mu depth."""
    result = simulate(block(LAWS["coulomb"], direction=direction), 1.0, **TIGHT)
    depth = (G / K) ** (2 / 3)
    way = 0.5**2 / (2 * 0.2 * G) + 0.2 * depth
    np.testing.assert_allclose(result.q[-1, :2], way * np.array(direction), atol=3e-8)
    assert np.max(np.abs(result.v[-1, :2])) < 1e-12
    assert result.audit["energy_residual"] < 1e-10
    # the loss is friction's but for the work of the plane, which is left with m g depth
    assert result.energy["work_friction"][-1] == pytest.approx(-0.125, rel=1e-3)


@pytest.mark.parametrize("law", LAWS)
def test_energy_balance_holds_with_every_law(law):
    result = simulate(block(LAWS[law], direction=(0.6, 0.8), slope=0.1), 0.6, rtol=1e-10, atol=1e-12)
    assert result.status == "done"
    assert result.audit["energy_residual"] < 1e-9
    assert result.energy["work_friction"][-1] < -0.05
    log = result.contacts[0]
    works = result.energy["work_normal"][-1] + result.energy["work_friction"][-1]
    assert log.work == pytest.approx(works, rel=1e-12)


@pytest.mark.parametrize("law", LAWS)
def test_friction_has_no_preferred_direction(law):
    straight = simulate(block(LAWS[law]), 0.2, **TIGHT)
    turned = simulate(block(LAWS[law], direction=(0.6, -0.8)), 0.2, **TIGHT)
    np.testing.assert_allclose(turned.q[-1, :2], straight.q[-1, 0] * np.array([0.6, -0.8]), atol=1e-8)


@pytest.mark.parametrize("law", ["stiction", "karnopp", "stribeck"])
def test_block_holds_below_mu_s_and_slips_above(law):
    """Gravity tilts after the block has settled: a pull of tan(slope) times its weight."""

    def pulled(share):
        return simulate(block(LAWS[law], 0.0, loads=(Load("block", x=Ramp(0.3, 1.3, share * G)),)), 2.0)

    stays, slips = pulled(0.29), pulled(0.31)
    assert abs(stays.v[-1, 0]) < 1e-12
    assert abs(stays.q[-1, 0]) < 1e-7
    assert stays.outputs["force"][-1, 1] == pytest.approx(-0.29 * G, rel=1e-7)
    times = [event.t for event in slips.events if event.name == "ground: block slips" and event.t > 0.3]
    assert times[0] == pytest.approx(0.3 + 0.3 / 0.31, abs=1e-6)
    if law != "stribeck":
        late = slips.at(np.array([1.5, 2.0]))[1][:, 0]
        assert late[1] - late[0] == pytest.approx(0.5 * 0.11 * G, rel=1e-6)


def test_a_sliding_ball_ends_rolling():
    """It rolls from t = 2 v/(7 mu g) on, at 5/7 of its speed."""
    model = Model(
        "ball",
        (Body("ball", 2.0, shape=Sphere(0.1)),),
        base=Base("floating", (0, 0, 0.1), velocity=(1.4, 0, 0)),
        contacts=(Contact("ground", DAMPED, points=("ball",), friction=LAWS["coulomb"], radius=0.1),),
        outputs=(Output("velocity", "ball", "velocity"), Output("spin", "ball", "angular_velocity")),
    )
    result = simulate(model, 1.0, **TIGHT)
    start = 2 * 1.4 / (7 * 0.2 * G)
    found = result.outputs_at([start - 1e-4, start + 1e-4, 1.0])
    slide = found["velocity"][:, 0] - 0.1 * found["spin"][:, 1]
    # 7/2 mu g of sliding speed is lost per time
    assert slide[0] == pytest.approx(3.5 * 0.2 * G * 1e-4, rel=1e-3)
    assert abs(slide[1]) <= 1e-6
    assert abs(slide[2]) <= 1e-12
    assert found["velocity"][2, 0] == pytest.approx(1.4 * 5 / 7, abs=1e-6)


def test_stick_slip_on_a_belt_has_the_period_of_an_independent_integration():
    """Mass on a spring, carried by a belt of 0.1 m/s: sticks until k x = mu_s N, slips by the Stribeck law."""
    mass, k, belt = 1.0, 40.0, 0.1
    law = LAWS["stribeck"]
    N = mass * G
    model = Model(
        "stick-slip",
        (Body("belt", 1.0, inertia=(1, 1, 1)), Body("mass", mass, inertia=(1, 1, 1))),
        (
            Joint("drive", "prismatic", "belt", axis=(1, 0, 0), motion=Table((0.0, 20.0), (0.0, 20.0 * belt))),
            Joint("guide", "planar", "mass", stiffness=(k, 0.0, 1.0)),
        ),
        gravity=(0, -G, 0),
        contacts=(Contact("belt", DAMPED, Plane("belt", (0, 1, 0)), ("mass",), friction=law),),
    )
    result = simulate(model, 8.0, rtol=1e-10, atol=1e-12)
    assert result.status == "done"
    slips = np.array([event.t for event in result.events if event.name == "belt: mass slips"])
    periods = np.diff(slips[slips > 3.0])
    assert len(periods) >= 2

    def mu(v):
        return 0.2 + 0.1 * math.exp(-((v / 0.05) ** 2)) + 0.1 * v / N

    # slip from k x = mu_s N at the speed of the belt until the belt has caught up
    def rate(_, y):
        return [y[1], (-k * y[0] + N * mu(belt - y[1])) / mass]

    caught = lambda t, y: y[1] - belt if t > 1e-6 else -1.0  # noqa: E731
    caught.terminal, caught.direction = True, 1
    x0 = 0.3 * N / k
    run = solve_ivp(rate, (0, 9), [x0, belt - 1e-9], events=caught, method="DOP853", rtol=1e-11, atol=1e-13)
    period = run.t_events[0][0] + (x0 - run.y_events[0][0][0]) / belt
    np.testing.assert_allclose(periods, period, rtol=2e-3)


def test_many_sticking_points_share_the_force():
    """Four feet of one block: eight stick forces, three of them independent."""
    corners = [(x, y, -0.05) for x in (-0.2, 0.2) for y in (-0.1, 0.1)]
    model = Model(
        "table",
        (Body("block", 1.0, shape=Box((0.4, 0.2, 0.1))),),
        base=Base("floating", (0, 0, 0.05)),
        gravity=(1.0, 0.5, -G),
        contacts=(
            Contact("feet", DAMPED, points=[Frame("block", corner) for corner in corners], friction=LAWS["stiction"]),
        ),
        outputs=(Output("force", "feet", "contact"),),
    )  # fmt: skip
    result = simulate(model, 1.0)
    forces = result.outputs["force"][-1].reshape(4, 4)
    np.testing.assert_allclose(forces.sum(axis=0), (G, -1.0, -0.5, 0.0), atol=1e-6)
    assert np.max(np.abs(forces[:, 1])) < 1.0
    assert np.max(np.abs(result.v[-1])) < 1e-8


def test_both_ends_break_away_together():
    """A level rod on two ends, pulled along itself: it must not start to turn."""
    model = Model(
        "bar",
        (Body("rod", 1.0, shape=Rod(1.0)),),
        base=Base("planar", (-0.5, 0, 0)),
        gravity=(0, -G, 0),
        loads=(Load(Frame("rod", (0.5, 0, 0)), x=Ramp(0.5, 2.5, 6.0)),),
        contacts=(Contact("ground", DAMPED, Plane(normal=(0, 1, 0)), friction=LAWS["stiction"]),),
    )
    result = simulate(model, 2.0)
    slips = [event for event in result.events if event.name.endswith("slips") and event.t > 0.6]
    assert slips[0].t == pytest.approx(0.5 + 0.3 * G / 3.0, abs=1e-5)
    assert result.v[-1, 0] > 0.1
    assert np.max(np.abs(result.q[:, 2])) < 1e-9


# --- one instant ------------------------------------------------------------------------------------------------


def test_accelerations_of_one_instant_know_contact_and_friction():
    model = block(LAWS["coulomb"])
    depth, N = 1e-4, K * 1e-4**1.5
    q = np.array([0, 0, -depth, 0, 0, 0, 1.0])
    sliding = forward_dynamics(model, q, [0.3, 0.4, 0, 0, 0, 0])
    np.testing.assert_allclose(sliding[:3], (-0.2 * N * 0.6, -0.2 * N * 0.8, N - G), rtol=1e-12)
    # at rest a small pull is held, a large one is not
    held = forward_dynamics(model, q, np.zeros(6), [0.1, 0, 0, 0, 0, 0])
    np.testing.assert_allclose(held[:3], (0, 0, N - G), atol=1e-9)
    dragged = forward_dynamics(model, q, np.zeros(6), [3.0, 4.0, 0, 0, 0, 0])
    np.testing.assert_allclose(dragged[:2], (3.0 - 0.12 * N, 4.0 - 0.16 * N), rtol=1e-9)
    above = forward_dynamics(model, [0, 0, 1e-4, 0, 0, 0, 1.0], [0.3, 0.4, 0, 0, 0, 0])
    np.testing.assert_allclose(above, (0, 0, -G, 0, 0, 0), atol=1e-14)


def test_inverse_dynamics_knows_contact():
    model = block(LAWS["ambrosio"])
    q, v, tau = np.array([0, 0, -1e-4, 0, 0, 0, 1.0]), np.array([0.3, 0.4, 0.1, 1, 2, 3.0]), np.arange(6.0)
    vdot = forward_dynamics(model, q, v, tau)
    np.testing.assert_allclose(inverse_dynamics(model, q, v, vdot), tau, atol=1e-10)


# --- tables and mistakes ----------------------------------------------------------------------------------------


def test_every_law_has_a_row_of_methods():
    assert {row.name for row in methods.FRICTION_LAWS} == set(FRICTION_LAWS) == set(LAWS)


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"law": "coulomb"}, "the law coulomb needs mu_k; give it (coulomb takes mu_k, stick_speed, load)"),
        ({"mu_k": 0.1}, "'law' is missing; give it, as one of coulomb, stiction"),
        ({"law": "coulomb", "mu": 0.1, "mu_k": 0.1}, "unknown key 'mu'; did you mean 'mu_k'?"),
        ({"law": "coulomb", "mu_k": -0.1}, "mu_k: found -0.1; give 0 or more"),
        ({"law": "colomb", "mu_k": 0.1}, '"colomb" is not known; did you mean \'coulomb\'?'),
        ({"law": "coulomb", "mu_k": 0.1, "v0": 1.0}, "v0 has no effect in the law coulomb, which takes mu_k"),
        ({"law": "ambrosio", "mu_k": 0.1, "v1": 1.0}, "the law ambrosio needs v0; give it (ambrosio takes"),
        ({"law": "ambrosio", "mu_k": 0.1, "v0": 1.0, "v1": 1.0}, "v1 1 m/s is not above v0 1 m/s; give v1 > v0"),
        ({"law": "stiction", "mu_k": 0.3, "mu_s": 0.2}, "mu_s 0.2 is below mu_k 0.3; give mu_s >= mu_k"),
        ({"law": "dahl", "mu_k": 0.0, "sigma0": 1.0}, "mu_k 0 found; the law dahl divides by it"),
    ],
)  # fmt: skip
def test_bad_friction_is_refused(numbers, message):
    with pytest.raises(ModelError) as found:
        Friction(**numbers)
    assert message in str(found.value)


def test_friction_needs_a_load_in_joints_and_none_in_contacts():
    with pytest.raises(ModelError, match="friction needs load, the normal force of its law"):
        Joint("j", "revolute", "b", friction=LAWS["coulomb"])
    with pytest.raises(ModelError, match=r"friction\.load has no effect in a contact"):
        Contact("c", DAMPED, friction=loaded(LAWS["coulomb"], 1.0))
    with pytest.raises(ModelError, match="friction is not possible on a spherical joint; it works on revolute"):
        Joint("j", "spherical", "b", friction=[loaded(LAWS["coulomb"], 1.0)] * 3)
    with pytest.raises(ModelError, match="friction has no effect, because its motion is prescribed"):
        Joint("j", "revolute", "b", friction=loaded(LAWS["coulomb"], 1.0), motion=Sine())
    with pytest.raises(ModelError, match="friction has no effect on a fixed joint"):
        Joint("j", "fixed", "b", friction=loaded(LAWS["coulomb"], 1.0))


def test_a_speed_that_settles_on_a_kink_passes_it_once():
    """Ambrosio brakes a tumbling box towards v0, where friction ends: rounding must not repeat the event."""
    corners = [Frame("box", (x, y, z)) for x in (-0.2, 0.2) for y in (-0.1, 0.1) for z in (-0.05, 0.05)]
    model = Model(
        "tumbler",
        (Body("box", 1.0, shape=Box((0.4, 0.2, 0.1))),),
        base=Base("floating", (0, 0, 0.5), (0.1, 0.2, 0.3, 0.9), velocity=(1, 0.5, 0), angular_velocity=(1, 2, 3)),
        contacts=(
            Contact("ground", NormalLaw("hu-guo", K, restitution=0.6), points=corners, friction=LAWS["ambrosio"]),
        ),
    )
    result = simulate(model, 2.0)
    assert result.status == "done"
    assert np.linalg.norm(result.v[-1, :2]) == pytest.approx(0.01, rel=1e-5)
    assert result.audit["energy_residual"] < 1e-9


@pytest.mark.parametrize("normal", [(0, 1, 0), (0, 1, 0.2), (0.3, 1, 1)])
def test_friction_on_a_plane_that_leans_out_of_a_planar_model_is_that_in_space(normal):
    def puck(is_planar):
        touch = pliant.Contact(
            "floor", pliant.NormalLaw("hunt-crossley", 1e5, restitution=0.5), pliant.Plane(normal=normal),
            (pliant.Frame("puck"),), rests=True, friction=pliant.Friction("stiction", 0.3, mu_s=0.4),
        )  # fmt: skip
        bodies = [pliant.Body("puck", mass=1.0, inertia=(0.1, 0.1, 0.1))]
        joints = [pliant.Joint("free", "planar", "puck", q0=(0, -1e-3, 0), v0=(0.5, -0.2, 0))]
        if not is_planar:
            # something else that does not stay in the plane
            bodies.append(pliant.Body("far", mass=1.0, inertia=(1, 1, 1)))
            joints.append(pliant.Joint("ball", "spherical", "far", parent=pliant.Frame("world", (9, 9, 9))))
        return pliant.Model("puck", tuple(bodies), tuple(joints), gravity=(0, -9.81, 0), contacts=(touch,))

    flat, full = puck(True), puck(False)
    found = pliant.forward_dynamics(flat, flat.q0, flat.v0)
    assert found == pytest.approx(pliant.forward_dynamics(full, full.q0, full.v0)[:3], abs=1e-9)

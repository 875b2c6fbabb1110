"""Second-order methods: rows of the literature, closed forms, order, loops, contact, what a past does at jumps."""

import numpy as np
import pytest
from scipy.linalg import expm

import pliant
from command_line import pliant_command
from integrator_runs import drive, fixed, sprung
from pliant.errors import ModelError
from pliant.methods import find_method, stability
from pliant.model.bodies import Body, Frame, Sphere
from pliant.model.contacts import Contact, NormalLaw, Plane
from pliant.model.joints import Joint
from pliant.model.model import Crossing, Load, Model
from pliant.model.signals import Constant
from pliant.simulation.prepared_run import prepare_run
from pliant.simulation.simulate import simulate
from pliant.system.status import Status
from zoo import ZOO

SIXTH = 1.0 / 6.0
THIRD = 1.0 / 3.0
MEMBERS = [
    pliant.FoxEuler(),
    pliant.Newmark(),
    pliant.Newmark(beta=0.125),
    pliant.Wilson(),
    pliant.Wilson(theta=2.0),
    pliant.Houbolt(),
    pliant.Proposed(),
    pliant.Proposed(g2=0.5),
    pliant.Proposed(g1=0.2, g2=0.7),
]
ORDERS = {"fox_euler": 1, "newmark": 2, "wilson": 2, "houbolt": 2, "proposed": 3}
TIGHT = {"rtol": 1e-13, "atol": 1e-14}  # of Newton's method


# --- two bodies on one axis, against the rows of the literature --------------------------------------------------


def coaxial(inertia, stiffness, damping, torque):
    """Bodies that spin about z, each sprung and damped against the one before; a torque on the last."""
    n = len(inertia)
    bodies = [Body(f"disc{k}", mass=1.0, inertia=(inertia[k],) * 3) for k in range(n)]
    joints = [
        Joint(
            f"shaft{k}", "revolute", f"disc{k}", f"disc{k - 1}" if k else "world", stiffness=stiffness[k],
            damping=damping[k],
        )
        for k in range(n)
    ]  # fmt: skip
    load = Load(f"disc{n - 1}", z=Constant(torque), kind="couple")
    return Model("coaxial", tuple(bodies), tuple(joints), gravity=(0.0, 0.0, 0.0), loads=(load,))


def matrices(inertia, stiffness, damping):
    """M, C, K of absolute angles."""
    n = len(inertia)
    D = np.eye(n) - np.eye(n, k=-1)
    return np.diag(inertia), D.T @ np.diag(damping) @ D, D.T @ np.diag(stiffness) @ D


TWO = (5.0, 5.0), (20.0, 20.0), (5.0, 5.0)
UNEQUAL = (5.0, 2.0, 1.0), (20.0, 35.0, 11.0), (5.0, 0.3, 0.0)


def last_angle(chain, integrator, duration, step, torque=1.0, **options):
    run = simulate(coaxial(*chain, torque), duration, integrator=integrator, step=step, **options)
    assert run.is_ok, run.reason
    return run.q.sum(axis=1)


def rows_of_tables(method, T, x, v, a, past, n):
    """(A, B, D, E) of the literature, in absolute form: x'' = A x + B, x' = D x + E at the end of step n.

    past: (x, a) of earlier steps, the last first."""
    if method.name == "fox_euler":
        A = 2.0 / T**2
        return A, -A * (x + T * v), 2.0 / T, -2.0 / T * x - v
    if method.name == "newmark":
        beta, gamma = method.beta, method.gamma
        A = 1.0 / (beta * T**2)
        B = -A * (x + T * v + (0.5 - beta) * T**2 * a)
        return A, B, gamma / (beta * T), v + T * ((1.0 - gamma) * a + gamma * B)
    if method.name == "wilson":
        q = method.theta * T
        A = 6.0 / q**2
        return A, -A * (x + q * v + q**2 * a / 3.0), 3.0 / q, -(3.0 / q) * (x + 2.0 * q * v / 3.0 + q**2 * a / 6.0)
    if n == 1:
        A = 6.0 / T**2
        B = -(2.0 / T**2) * (3.0 * x + 3.0 * T * v + T**2 * a)
        return A, B, 3.0 / T, -(6.0 * x + 4.0 * T * v + T**2 * a) / (2.0 * T)
    if method.name == "houbolt":
        x1, x2 = past[0][0], past[min(n, 3) - 2][0]
        if n == 2:
            a0 = past[0][1]
            B, E = -(4.0 * x - 2.0 * x1 + T**2 * a0) / T**2, -(16.0 * x - 5.0 * x1 + 2.0 * T**2 * a0) / (6.0 * T)
        else:
            B, E = -(5.0 * x - 4.0 * x1 + x2) / T**2, -(18.0 * x - 9.0 * x1 + 2.0 * x2) / (6.0 * T)
        return 2.0 / T**2, B, 11.0 / (6.0 * T), E
    g1, g2, a2 = method.g1, method.g2, past[0][1]
    if method.version == "printed":
        A = 8.0 / T**2
        B = -A * (x + T * v + 2.5 * T**2 * a / 6.0 - T**2 * a2 / 24.0)
        E = -10.0 * x / (3.0 * T**2) + (12.0 * T - 40.0) * v / (12.0 * T)
        return A, B, 10.0 / (3.0 * T**2), E + (2.0 * T / 3.0 - 25.0 / 18.0) * a + (5.0 - 3.0 * T) * a2 / 36.0
    A = 12.0 / ((2.0 - g2) * T**2)
    B = -A * (x + T * v + (2.0 + g2) * T**2 * a / 6.0 - g2 * T**2 * a2 / 12.0)
    E = v + (1.0 + g1) * T * a / 2.0 - g1 * T * a2 / 4.0 + (2.0 - g1) * T * B / 4.0
    return A, B, (2.0 - g1) * T * A / 4.0, E


def by_tables(method, chain, T, n_steps, torque=1.0):
    """The last angle at every step, by dense matrices and the rows of the literature."""
    M, C, K = matrices(*chain)
    force = np.zeros(len(M))
    force[-1] = torque
    x, v = np.zeros(len(M)), np.zeros(len(M))
    a, past, found = np.linalg.solve(M, force), [], [0.0]
    for n in range(1, n_steps + 1):
        A, B, D, E = rows_of_tables(method, T, x, v, a, past, n)
        x_new = np.linalg.solve(A * M + D * C + K, force - M @ B - C @ E)
        past.insert(0, (x, a))
        a_new = A * x_new + B
        if method.name == "wilson":
            a_new = a + (a_new - a) / method.theta
            x, v = x + T * v + T**2 / 6.0 * (2.0 * a + a_new), v + T / 2.0 * (a + a_new)
        else:
            x, v = x_new, D * x_new + E
        a = a_new
        found.append(x[-1])
    return np.array(found)


@pytest.mark.parametrize(
    ("integrator", "angle"), [("fox-euler", 0.0604611884), ("newmark", 0.0628905458), ("houbolt", 0.0628767926)]
)
def test_two_discs_turn_as_published(integrator, angle):
    assert last_angle(TWO, integrator, 1.0, 0.1)[-1] == pytest.approx(angle, abs=1e-9)


@pytest.mark.parametrize("chain", [TWO, UNEQUAL])
@pytest.mark.parametrize("method", [*MEMBERS, pliant.Proposed(g2=0.5, version="printed")], ids=str)
def test_steps_are_the_rows_of_transfer_matrices(method, chain):
    """Rounding times the condition of a step, and of Newton's tolerance; what grows is compared while it is small."""
    n, T = (6 if "printed" in str(method) else 40), 0.1
    found, expected = last_angle(chain, method, n * T, T, **TIGHT), by_tables(method, chain, T, n)
    assert np.abs(found - expected).max() < 1e-10 * np.abs(expected).max()


def exact_state(chain, t, torque=1.0):
    """Absolute angles and rates by the exponential of the linear model."""
    M, C, K = matrices(*chain)
    n = len(M)
    force = np.zeros(n)
    force[-1] = torque
    rest = np.linalg.solve(K, force)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, K), -np.linalg.solve(M, C)]])
    return expm(A * t) @ np.concatenate([-rest, np.zeros(n)]) + np.concatenate([rest, np.zeros(n)])


def test_exponential_gives_the_published_angles():
    for t, angle in ((1.0, 0.06298869), (5.0, 0.06512303), (10.0, 0.08760251)):
        assert exact_state(TWO, t)[1] == pytest.approx(angle, abs=1e-8)


@pytest.mark.parametrize("name", ORDERS)
@pytest.mark.parametrize("chain", [TWO, UNEQUAL])
def test_error_against_the_exponential_falls_with_the_order(name, chain):
    """Largest error over the first four seconds."""
    errors = []
    for h, every in ((0.01, 20), (0.005, 40)):
        found = last_angle(chain, name, 4.0, h, **TIGHT)[::every]
        expected = [exact_state(chain, t)[len(chain[0]) - 1] for t in np.linspace(0.0, 4.0, len(found))]
        errors.append(np.abs(found - expected).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(ORDERS[name], abs=0.1)


def test_printed_version_does_not_converge():
    """It acts like an inertia I / g with g = 5/(12 T) + 7/12: the shorter the steps, the lighter the body."""
    exact = exact_state(TWO, 2.0)[1]
    method = pliant.Proposed(g2=0.5, version="printed")
    errors = [abs(last_angle(TWO, method, 2.0, h)[-1] / exact - 1.0) for h in (0.1, 0.05)]
    assert min(errors) > 0.1


# --- spectra ----------------------------------------------------------------------------------------------------


def polynomial(method, wh):
    """Of an undamped oscillator: the characteristic polynomial of the positions, highest power first."""
    Om = wh**2
    if method.name == "houbolt":
        return np.array([2.0 + Om, -5.0, 4.0, -1.0])
    if method.name == "proposed":
        g1, g2 = method.g1, method.g2
        powers = np.array([2 - g2, 8 + 3 * g2 - 3 * g1, 2 + 6 * g1 - 3 * g2, g2 - 3 * g1])
        return np.array([1.0, -2.0, 1.0, 0.0]) + Om / 12.0 * powers
    if method.name == "wilson":
        th = method.theta
        # state (x, h v, h^2 a); equilibrium at t + theta h: h^2 a_q = -Om x_q
        at_q = np.array([1.0, th, th**2 / 3.0]) * -Om / (1.0 + Om * th**2 / 6.0)
        a = (1.0 - 1.0 / th) * np.array([0.0, 0.0, 1.0]) + at_q / th
        x = np.array([1.0, 1.0, THIRD]) + a * SIXTH
        return np.poly(np.array([x, np.array([0.0, 1.0, 0.5]) + 0.5 * a, a]))
    beta, gamma = (method.beta, method.gamma) if method.name == "newmark" else (0.5, 1.0)
    return np.array([1.0, -2.0, 1.0]) + Om * np.array([beta, 0.5 + gamma - 2.0 * beta, 0.5 - gamma + beta])


def oscillation(method, wh, n_steps):
    h = 0.1
    run = drive(
        sprung, [1.0, 0.0], n_steps * h, method.name, parameters=method.row.get("parameters"), samples=[0.0],
        n_inputs=1, controller=lambda t, y: [(wh / h) ** 2], **fixed(method.name, h)
    )  # fmt: skip
    assert run.status == Status.DONE
    return run.y[:, 0]


@pytest.mark.parametrize("wh", [0.1, 1.0, 2.0, 20.0])
@pytest.mark.parametrize("method", MEMBERS, ids=str)
def test_positions_satisfy_the_characteristic_polynomial(method, wh):
    """Roots, hence spectral radius, damping and period error, are those of the closed form; after the start."""
    c = polynomial(method, wh)
    x = oscillation(method, wh, 30)[2:]
    scale = np.maximum.reduce([np.abs(x[k : len(x) - len(c) + 1 + k]) for k in range(len(c))])
    left = sum(c[-1 - k] * x[k : len(x) - len(c) + 1 + k] for k in range(len(c)))
    assert np.all(np.abs(left) < 1e-9 * np.abs(c).max() * scale)


def radius(method, wh):
    return np.abs(np.roots(polynomial(method, wh))).max()


@pytest.mark.parametrize(
    ("method", "limit"),
    [
        (pliant.Newmark(beta=0.0), 2.0),
        (pliant.Newmark(beta=0.125), np.sqrt(8.0)),
        (pliant.Newmark(beta=SIXTH), np.sqrt(12.0)),
        (pliant.Proposed(), np.sqrt(6.0)),
    ],
    ids=str,
)
def test_stability_limit_is_that_of_the_closed_form(method, limit):
    """Half a percent below it nothing grows, half a percent above it motion does."""
    below = np.abs(oscillation(method, 0.995 * limit, 2000))
    above = np.abs(oscillation(method, 1.005 * limit, 2000))
    assert below[-200:].max() < 1.5 * below[:200].max() + 20.0
    assert above[-1] > 1e6 * below.max()
    assert radius(method, 0.995 * limit) < 1.0 + 1e-9 < radius(method, 1.005 * limit)


@pytest.mark.parametrize("method", [pliant.Wilson(), pliant.Houbolt(), pliant.FoxEuler(), pliant.Newmark()], ids=str)
def test_unconditionally_stable_methods_hold_fast_motion(method):
    for wh in (3.0, 30.0, 300.0):
        x = np.abs(oscillation(method, wh, 400))
        assert x[-50:].max() < 20.0 * (1.0 + x[:50].max())


@pytest.mark.parametrize(("theta", "is_stable"), [(1.3, False), (1.36, False), (1.37, True), (1.5, True)])
def test_wilson_is_stable_at_every_step_from_1_366_on(theta, is_stable):
    assert (max(radius(pliant.Wilson(theta), wh) for wh in np.geomspace(1.0, 1e4, 400)) <= 1.0 + 1e-9) == is_stable


def test_thesis_parameters_grow_as_the_fourth_power_of_the_step():
    """rho = 1 + (w h)^4 / 48, measured over 4000 steps."""
    wh = 0.3
    x = np.abs(oscillation(pliant.Proposed(g2=0.5), wh, 4000))
    rho = (x[-100:].max() / x[:100].max()) ** (1.0 / 3900.0)
    assert rho - 1.0 == pytest.approx(wh**4 / 48.0, rel=0.05)


# --- models -----------------------------------------------------------------------------------------------------

MOVING = ["double_pendulum", "ball_chain", "driven_crane", "mounted_engine", "spatial_linkage", "four_bar",
          "pressed_foot", "sliding_puck", "flexible_joints"]  # fmt: skip


@pytest.fixture(scope="module")
def exact_ends():
    return {name: simulate(ZOO[name], 0.2, integrator="dop853", rtol=1e-12, atol=1e-13).q[-1] for name in MOVING}


@pytest.mark.parametrize("model", MOVING)
@pytest.mark.parametrize("name", ["fox_euler", "wilson", "houbolt", "proposed"])
def test_every_model_moves_with_the_order_of_the_method(name, model, exact_ends):
    """Ball joints, loops, prescribed motion, contact with friction states: Proposed keeps its third order on
    rotations, too. Stiff parts are before their limit: a little off."""
    errors = []
    for h in (4e-4, 2e-4):
        run = simulate(ZOO[model], 0.2, integrator=name, step=h, **TIGHT)
        assert run.is_ok, run.reason
        errors.append(np.abs(run.q[-1] - exact_ends[model]).max())
    slack = 0.5 if model == "flexible_joints" else 0.1
    assert np.log2(errors[0] / errors[1]) == pytest.approx(ORDERS[name], abs=slack)


@pytest.mark.parametrize("name", ["wilson", "houbolt", "proposed"])
def test_redone_steps_leave_the_past_as_it_was(name):
    """A crossing of the swing ends steps early: the past is given up there, and the order stays."""
    swing = ZOO["double_pendulum"]
    joint = swing.joints[0].name
    start = float(swing.q0[0])
    watched = Model(
        "watched", swing.bodies, swing.joints, gravity=swing.gravity,
        crossings=tuple(Crossing(f"c{k}", joint, start + 0.003 * k) for k in range(-3, 4) if k),
    )  # fmt: skip
    exact = simulate(swing, 0.3, integrator="dop853", rtol=1e-12, atol=1e-13).q[-1]
    errors = []
    for h in (1e-3, 5e-4):
        run = simulate(watched, 0.3, integrator=name, step=h, **TIGHT)
        assert len(run.events) > 1
        errors.append(np.abs(run.q[-1] - exact).max())
    assert ORDERS[name] - 0.4 < np.log2(errors[0] / errors[1]) < ORDERS[name] + 0.8


def two_rods(**rest):
    rods = tuple(Body(name, 1.0, com=(0.5, 0.0, 0.0), inertia=np.eye(3) / 12) for name in ("upper", "lower"))
    elbow = Joint("elbow", "revolute", "lower", Frame("upper", (1.0, 0.0, 0.0)), stiffness=50.0, damping=0.5)
    return Model("rods", rods, (Joint("hinge", "revolute", "upper"), elbow), gravity=(0.0, -9.81, 0.0), **rest)


JUMPING = {
    "samples": two_rods(controllers=(pliant.Controller("hold", 0.02, ("hinge",), law=pliant.PD(100.0, 20.0)),)),
    "kinks": two_rods(
        loads=(
            Load("lower", y=pliant.Step(0.1033, 20.0, -5.0)),
            Load("upper", z=pliant.Table((0.0, 0.0507, 0.2, 1.0), (0.0, 5.0, -3.0, 0.0)), kind="couple"),
        )
    ),
}


@pytest.mark.parametrize("jump", JUMPING)
@pytest.mark.parametrize("name", ORDERS)
def test_samples_and_kinks_keep_the_order(name, jump):
    """Forces jump at the ends of steps, and Wilson's method looks beyond them without seeing what comes."""
    exact = simulate(JUMPING[jump], 0.5, rtol=1e-12, atol=1e-14).q[-1]
    steps = (2e-3, 5e-4)
    errors = [np.abs(simulate(JUMPING[jump], 0.5, integrator=name, step=h, **TIGHT).q[-1] - exact).max() for h in steps]
    assert 0.5 * np.log2(errors[0] / errors[1]) == pytest.approx(ORDERS[name], abs=0.15)


def ball():
    """Falls onto a spring and is thrown back, without a loss."""
    law = NormalLaw("kelvin-voigt", 1e5, damping=0.0)
    floor = Contact("floor", law, Plane(normal=(0.0, 1.0, 0.0)), points=("ball",))
    return Model(
        "ball", (Body("ball", 1.0, shape=Sphere(0.1)),), (Joint("base", "planar", "ball", q0=(0.0, 0.6, 0.0)),),
        gravity=(0.0, -9.81, 0.0), contacts=(floor,),
    )  # fmt: skip


@pytest.mark.parametrize("name", ["fox_euler", "newmark", "wilson", "houbolt", "proposed"])
def test_bounces_land_on_their_events_and_keep_the_energy(name):
    """Three impacts of 10 ms: halving the step divides the loss of energy by 2^order."""
    exact = simulate(ball(), 1.5, rtol=1e-11, atol=1e-13)
    losses = []
    for h in (5e-4, 2.5e-4):
        run = simulate(ball(), 1.5, integrator=name, step=h)
        assert run.is_ok, run.reason
        assert len(run.contacts.t_start) == len(exact.contacts.t_start)
        losses.append(run.audit["energy_residual"])
    assert losses[1] < (0.6 if name == "fox_euler" else 0.35) * losses[0] or losses[1] < 1e-9
    assert losses[1] < (0.2 if name == "fox_euler" else 0.02)


@pytest.mark.parametrize("name", ["wilson", "houbolt", "proposed"])
def test_prepared_runs_begin_without_the_past_of_the_run_before(name):
    run = prepare_run(ZOO["double_pendulum"], 0.05, integrator=name, step=1e-3)
    first = run.end()
    run.end(v0=np.ones(2))
    assert all(np.array_equal(one, two) for one, two in zip(first, run.end(), strict=True))


def test_first_order_multipliers_as_unknowns():
    """Fox-Euler closes a loop as index 3, with its order."""
    exact = simulate(ZOO["four_bar"], 0.2, rtol=1e-11, atol=1e-12).q[-1]
    how = {"closure": "implicit", "integrator": "fox_euler"}
    errors = [np.abs(simulate(ZOO["four_bar"], 0.2, step=h, **how).q[-1] - exact).max() for h in (4e-4, 2e-4)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(1.0, abs=0.1)


# --- growth -----------------------------------------------------------------------------------------------------


def ringing(damping=0.1):
    """Four discs, the fastest frequency 84 rad/s."""
    return coaxial((1.0,) * 4, (2000.0,) * 4, (damping,) * 4, 1.0)


@pytest.mark.parametrize(
    ("method", "step", "words"),
    [
        (pliant.Newmark(beta=0.125), 0.1, "newmark (beta = 0.125, gamma = 0.5) is stable only up to omega h = 2.828"),
        (pliant.Wilson(theta=1.2), 0.3, "wilson (theta = 1.2) is stable only up to omega h = 4.80"),
        (pliant.Proposed(), 0.1, "is stable only up to omega h = 2.449"),
        (pliant.Proposed(g2=0.5), 0.02, "lets undamped motion grow whatever the step"),
        ("rk4", 0.1, "rk4 is stable only up to omega h = 2.828"),
        ("dop853", 0.2, "dop853 is stable only up to omega h = 5.96"),
        ("adams", 0.1, "adams (max_order = 14) is stable only with short steps"),
    ],
)
def test_motion_that_grows_is_stopped_and_the_limit_named(method, step, words):
    run = simulate(ringing(0.0 if "whatever" in words else 0.1), 200.0, integrator=method, step=step)
    assert run.status == "failed"
    assert "grown far beyond the energy" in run.reason
    assert words in run.reason
    assert len(run.t) > 2  # what there was is kept ..
    assert np.all(np.isfinite(run.q))
    assert run.energy["kinetic"].max() < 1e100  # .. and it was long before overflow


@pytest.mark.parametrize(
    ("method", "limit"), [(pliant.Proposed(), np.sqrt(6.0)), (pliant.Newmark(beta=0.125), np.sqrt(8.0)), ("rk4", 2.828)]
)
def test_a_step_beyond_the_limit_is_warned_of_before_motion_has_grown(method, limit):
    """Four undamped discs, whose fastest frequency is that of the matrices; a step or two say nothing yet."""
    chain = (1.0,) * 4, (2000.0,) * 4, (0.0,) * 4
    M, _, K = matrices(*chain)
    fastest = np.sqrt(np.linalg.eigvals(np.linalg.solve(M, K)).real.max())
    below, above = 0.99 * limit / fastest, 1.01 * limit / fastest
    quiet = simulate(coaxial(*chain, 1.0), 3 * below, integrator=method, step=below)
    assert quiet.audit["growing_turn"] == 0.0
    assert not any("stable only" in words for words in quiet.warnings)
    with pytest.warns(pliant.AccuracyWarning, match=f"is stable only up to omega h = {limit:.3f}"):
        found = simulate(coaxial(*chain, 1.0), 3 * above, integrator=method, step=above)
    assert found.audit["growing_turn"] == pytest.approx(1.01 * limit, rel=1e-5)  # differences of 1e-6 rad


def test_a_damper_too_strong_for_a_step_is_warned_of():
    """rk4 ends at 2.785 on decay: a disc of 1 kg m^2 with 300 N m s."""
    model = coaxial((1.0,), (1.0,), (300.0,), 1.0)
    for step, is_heard in ((2.7 / 300.0, False), (2.9 / 300.0, True)):
        run = simulate(model, 2 * step, integrator="rk4", step=step)
        assert (run.audit["growing_turn"] > 0.0) == is_heard


def test_a_step_that_fails_beyond_the_limit_names_the_limit():
    run = simulate(ZOO["double_pendulum"], 40.0, integrator=pliant.Newmark(beta=0.125), step=4.0)
    assert run.status == "failed"
    assert "is stable only up to omega h = 2.828" in run.reason


def test_growth_ends_prepared_runs_too():
    with pytest.raises(pliant.SimulationError, match="stable only up to omega h"):
        prepare_run(ringing(), 200.0, integrator="rk4", step=0.1).end()


@pytest.mark.parametrize("name", ["newmark", "wilson", "houbolt", "fox_euler", "generalised_alpha"])
def test_stable_methods_are_never_said_to_grow(name):
    """From rest, under a torque: the first steps overshoot, and nothing comes of it."""
    for step in (0.03, 0.1, 1.0):
        run = simulate(ringing(), 300 * step, integrator=name, step=step)
        assert run.is_ok, run.reason


def test_motion_from_rounding_is_no_growth():
    """A pendulum upside down leaves its rest by rounding: its speed grows tenfold ten times, by gravity."""
    rod = Body("rod", 1.0, com=(0.5, 0.0, 0.0), inertia=np.eye(3) / 12)
    start = np.pi / 2 + 1e-14
    model = Model("up", (rod,), (Joint("hinge", "revolute", "rod", q0=start),), gravity=(0.0, -9.81, 0.0))
    for integrator in ("rk4", "newmark", "proposed"):
        run = simulate(model, 12.0, integrator=integrator, step=0.01)
        assert run.is_ok, run.reason
        assert np.abs(run.v).max() > 1.0


def test_printed_version_is_called_wrong():
    with pytest.warns(pliant.AccuracyWarning, match="prints it, which is inconsistent"):
        simulate(coaxial(*TWO, 1.0), 0.3, integrator=pliant.Proposed(g2=0.5, version="printed"), step=0.1)


# --- closed forms of the package ----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", MEMBERS, ids=str)
def test_amplification_has_the_roots_of_the_characteristic_polynomial(method):
    for wh in (0.3, 1.0, 3.0):
        roots = np.linalg.eigvals(stability.amplification(method, wh))
        for root in np.roots(polynomial(method, wh)):
            assert np.abs(roots - root).min() < 1e-6  # double roots: the root of rounding


@pytest.mark.parametrize(
    ("method", "limit"),
    [
        (pliant.Newmark(beta=0.0), 2.0),
        (pliant.Newmark(beta=0.125), np.sqrt(8.0)),
        (pliant.Newmark(beta=SIXTH), np.sqrt(12.0)),
        (pliant.Newmark(beta=0.1, gamma=0.6), 1.0 / np.sqrt(0.2)),  # 1 / sqrt(gamma/2 - beta)
        (pliant.Proposed(), np.sqrt(6.0)),
        (pliant.Proposed(g2=0.5), 0.0),
        (pliant.Rk4(), np.sqrt(8.0)),
        (pliant.Wilson(), np.inf),
        (pliant.Wilson(theta=1.367), np.inf),
        (pliant.Houbolt(), np.inf),
        (pliant.FoxEuler(), np.inf),
        (pliant.GeneralisedAlpha(0.0), np.inf),
        (pliant.HHT(), np.inf),
        (pliant.Radau(), np.inf),
    ],
    ids=str,
)
def test_stability_limits_are_those_of_textbooks(method, limit):
    assert stability.stability_limit(method) == pytest.approx(limit, rel=1e-5)


def test_variable_order_has_no_closed_form():
    assert np.isnan(stability.stability_limit(pliant.Adams()))


def test_generalised_alpha_that_damps_all_is_houbolt():
    """rho_inf = 0: the same roots (Chung and Hulbert 1993)."""
    for wh in (0.2, 1.0, 5.0):
        one, two = (stability.oscillation(method, wh) for method in (pliant.GeneralisedAlpha(0.0), pliant.Houbolt()))
        assert np.allclose(one, two, rtol=1e-6)


# --- what cannot be ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"integrator": "wilson"}, ["wilson", "no error control", "fixed step"]),
        ({"integrator": "wilson", "theta": 0.9, "step": 0.01}, ["theta", "0.9", "from 1 to 10"]),
        ({"integrator": "proposed", "g1": -0.1, "step": 0.01}, ["g1", "-0.1", "from 0 to 1.5"]),
        ({"integrator": "proposed", "g2": 2.0, "step": 0.01}, ["g2", "2", "from 0 to 1.5"]),
        ({"integrator": "newmark", "beta": -0.1, "step": 0.01}, ["beta", "-0.1", "from 0 to 1"]),
        ({"integrator": "houbolt", "theta": 1.4, "step": 0.01}, ["theta", "houbolt", "belongs to wilson"]),
        ({"integrator": "fox-euler", "step": 0.0}, ["step"]),
        ({"integrator": "proposed", "version": "print", "step": 0.01}, ["version", "consistent, printed"]),
        ({"integrator": "proposed", "version": "printed", "step": 0.01}, ["printed", "g2 = 1", "g2 = 0.5"]),
    ],
)
def test_wrong_parameters_are_named(options, words):
    with pytest.raises(ModelError) as error:
        simulate(ZOO["pendulum"], 1.0, **options)
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize(
    "method", [pliant.Newmark(beta=0.0), pliant.Wilson(), pliant.Houbolt(), pliant.Proposed()], ids=str
)
def test_multipliers_are_no_unknowns_of_methods_that_do_not_end_in_equilibrium(method):
    with pytest.raises(ModelError, match=r"closure 'implicit' does not go with .*newmark, fox_euler") as error:
        simulate(ZOO["four_bar"], 0.1, integrator=method, step=1e-3, closure="implicit")
    assert "multipliers, springs" in str(error.value)


def test_names_may_be_written_with_hyphens(tmp_path):
    words = ("--set", "integrator=fox-euler", "--set", "step=0.001", "--set", "duration=0.01", "--out", str(tmp_path))
    assert pliant_command("run", "two-link-arm", "-q", *words).returncode == 0
    assert find_method("integrator", "fox-euler") == pliant.FoxEuler()
    assert find_method("integrator", "generalised-alpha", rho_inf=0.5) == pliant.GeneralisedAlpha(0.5)

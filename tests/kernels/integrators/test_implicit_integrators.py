"""Implicit integrators: linear algebra, order, damping against closed forms, stiff models."""

import dataclasses

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from scipy.integrate import solve_ivp

import pliant
from integrator_runs import drive, fixed, in_pairs, pendulum, reference, slope, spin, sprung
from pliant.cases.case import all_cases
from pliant.engine.prepared import Prepared
from pliant.errors import ModelError
from pliant.kernels import dynamics, repeat, shift
from pliant.kernels._jit import ADVANCE, DERIVATIVE, address, entry, kernel
from pliant.kernels.algebra.lu import complex_lu, complex_lu_solve, lu, lu_solve
from pliant.kernels.integrators import radau_table
from pliant.kernels.integrators.tableaus import TABLEAUS
from pliant.kernels.tables import Pinned
from pliant.methods import find_method
from pliant.model.bodies import Body, Frame, Rod
from pliant.model.contacts import Contact, Friction, NormalLaw, Plane
from pliant.model.joints import Joint
from pliant.model.model import Model
from pliant.simulation import run as run_module
from pliant.simulation.prepared_run import prepare_run
from pliant.simulation.simulate import simulate
from pliant.system.memory import Scheme, Sizes, StepOptions, new_memory
from pliant.system.status import Status
from pliant.system.tables import empty_system
from pliant.system.work import new_work
from pliant_benchmarks.stiff import _relative, _start, compiled_rates, stiff12, stiff_model
from zoo import ZOO

EPS = 2.2e-16

# --- linear algebra ---------------------------------------------------------------------------------------------


@kernel(ADVANCE)
def solve_both(system, work, memory):
    """y <- A^-1 y, y_new + i f_new <- (B + i C)^-1 (y_new + i f_new)"""
    n = memory.y.shape[0]
    a, b, c, pivots = memory.factor[0], memory.factor[1], memory.factor[2], memory.pivots
    first, second = lu(a, pivots[0], n), complex_lu(b, c, pivots[1], n)
    lu_solve(a, pivots[0], n, memory.y)
    complex_lu_solve(b, c, pivots[1], n, memory.y_new, memory.f_new)
    return max(first, second)


def solved(A, B, C, x, y, z):
    system = empty_system()
    scheme = Scheme(TABLEAUS["radau"], step=0, interpolant=0)
    memory = new_memory(x, (0.0, 1.0), scheme, Sizes(n_y=len(x)), StepOptions())
    memory.factor[0], memory.factor[1], memory.factor[2] = A, B, C
    memory.y_new[:], memory.f_new[:] = y, z
    kept = [Pinned(tables) for tables in (system, new_work(system), memory)]
    return entry(solve_both)(*(pinned.ref for pinned in kept)), memory


@pytest.mark.parametrize("n", [1, 2, 3, 7, 20])
def test_factors_solve_as_numpy_does(n):
    rng = np.random.default_rng(n)
    A, B, C = rng.normal(size=(3, n, n))
    x, y, z = rng.normal(size=(3, n))
    status, memory = solved(A, B, C, x, y, z)
    assert status == -1
    D = B + 1j * C
    bound = 100 * n * EPS  # rounding times the growth of elimination
    exact, pair = np.linalg.solve(A, x), np.linalg.solve(D, y + 1j * z)
    assert np.abs(memory.y - exact).max() < bound * np.linalg.cond(A) * np.abs(exact).max()
    found = memory.y_new + 1j * memory.f_new
    assert np.abs(found - pair).max() < bound * np.linalg.cond(D) * np.abs(pair).max()


def test_singular_matrix_is_noticed():
    A = np.array([[1.0, 2.0], [2.0, 4.0]])
    assert solved(A, np.eye(2), np.eye(2), *np.ones((3, 2)))[0] == 1


def test_radau_numbers_make_collocation_of_order_5():
    A, c = np.array(radau_table.WEIGHTS), np.array(radau_table.C)
    for k in range(1, 4):  # stages: exact for parabolas
        assert np.allclose(A @ c ** (k - 1), c**k / k, rtol=0, atol=1e-15)
    for k in range(1, 6):  # the end: exact for quartics
        assert A[2] @ c ** (k - 1) == pytest.approx(1 / k, abs=1e-15)


def test_radau_numbers_take_the_stages_apart():
    A, T, blocks = np.array(radau_table.WEIGHTS), np.array(radau_table.T), np.zeros((3, 3))
    blocks[0, 0] = radau_table.GAMMA
    blocks[1:, 1:] = [[radau_table.ALPHA, -radau_table.BETA], [radau_table.BETA, radau_table.ALPHA]]
    # a product of three numbers up to 10, each rounded
    assert np.allclose(T, A @ T @ blocks, rtol=0, atol=100 * EPS)
    assert np.allclose(T @ radau_table.T_INVERSE, np.eye(3), rtol=0, atol=20 * EPS)


def test_radau_slopes_are_those_of_the_cubic_through_its_stages():
    """u = c, c^2, c^3 at the nodes: ERROR holds minus its slope at 0, SLOPE that at 1, BEND the quartic left over."""
    c = np.array(radau_table.C)
    for k in range(1, 4):
        assert radau_table.ERROR @ c**k == pytest.approx(-1.0 if k == 1 else 0.0, abs=50 * EPS)
        assert radau_table.SLOPE @ c**k == pytest.approx(k, abs=50 * EPS)
    left, right, bend = radau_table.BEND
    x = Polynomial([0.0, 1.0])
    slope_of_quartic = (x * (1 - x) * (left + x * (right + (1 - x) * bend))).deriv()
    assert np.allclose(slope_of_quartic(np.array([0.0, *c])), [1.0, 0.0, 0.0, 0.0], rtol=0, atol=20 * EPS)


# --- Radau ------------------------------------------------------------------------------------------------------


@kernel(DERIVATIVE)
def drawn(system, work, t, y, ydot):
    """Prothero and Robinson: drawn to sin t at the rate 1e5."""
    ydot[0] = -1e5 * (y[0] - np.sin(t)) + np.cos(t)
    return 0


def test_stiff_order_is_that_of_the_stages():
    """h^4 / (h 1e5): order 3 in h, with a constant 1e5 times smaller (Hairer and Wanner II, IV.15)."""
    h = np.array([0.4, 0.2, 0.1])
    errors = [abs(drive(drawn, [0.0], 2.0, "radau", **fixed("radau", k)).memory.y[0] - np.sin(2.0)) for k in h]
    assert 2.5 < slope(h, errors) < 4.5
    assert errors[0] < 1e-5 * h[0] ** 3


def test_pairs_are_eliminated_without_loss():
    whole = drive(pendulum, [1.5, 0.0], 4.0, "radau", rtol=1e-10, atol=1e-10)
    paired = drive(pendulum, [1.5, 0.0], 4.0, "radau", rtol=1e-10, atol=1e-10, unknowns=in_pairs(2))
    assert paired.memory.jacobian.shape == (1, 2)
    assert whole.memory.stepping[0].n_steps == paired.memory.stepping[0].n_steps
    assert np.allclose(whole.memory.y, paired.memory.y, rtol=0, atol=1e-12)  # Newton's tolerance, 1e-4 of a step's


def test_radau_turns_quaternions_with_order_5():
    y = [0.0, 0.0, 0.0, 1.0, 1.0, 0.7, -0.4]
    fine = drive(spin, y, 4.0, rtol=1e-13, atol=1e-14, quaternions=[0]).memory.y
    h = np.array([0.4, 0.2, 0.1])
    errors = [
        np.abs(drive(spin, y, 4.0, "radau", quaternions=[0], **fixed("radau", k)).memory.y - fine).max() for k in h
    ]
    assert slope(h, errors) > 4.5


def test_dense_output_joins_and_has_no_gap_in_its_slope():
    run = drive(pendulum, [1.5, 0.0], 4.0, "radau", rtol=1e-8, atol=1e-8)
    exact = reference([1.5, 0.0], 4.0, dense_output=True).sol
    t = np.linspace(0.0, 4.0, 1001)
    assert np.abs(run.at(t) - exact(t).T).max() < 1e-7
    left = run.at(np.nextafter(run.starts[1:], 0.0))
    assert np.allclose(left, run.at(run.starts[1:]), rtol=0, atol=1e-14)


def test_stiff_chain_is_that_of_scipy():
    """State against SciPy's Radau at rtol 1e-10 on a right-hand side that shares no code."""
    rates = compiled_rates(stiff12())
    y0, room = _start(stiff12())

    def slopes(t, y):
        dy = np.empty(12)
        rates(dy, y, room)
        return dy

    other = solve_ivp(slopes, (0.0, 2.0), y0, method="Radau", rtol=1e-10, atol=1e-12)
    found = simulate(stiff_model(stiff12()), 2.0, integrator="radau", rtol=1e-10, atol=1e-12)
    assert np.abs(np.concatenate([found.q[-1], found.v[-1]]) - _relative(other.y[:, -1])).max() < 1e-9
    assert found.stats["steps"] < 1000
    assert found.audit["energy_residual"] < 1e-9
    assert found.stats["jacobians"] < 0.1 * found.stats["steps"]


@pytest.mark.parametrize("name", ZOO)
def test_radau_moves_every_model_as_dop853_does(name):
    """Tolerance: rtol times the sensitivity of the motion, 1000 for the arm that meets its stop."""
    options = {"rtol": 1e-9, "atol": 1e-11}
    one = simulate(ZOO[name], 0.5, integrator="dop853", **options)
    two = simulate(ZOO[name], 0.5, integrator="radau", **options)
    assert (one.status, two.status) == ("done", "done")
    for a, b in ((one.q, two.q), (one.v, two.v)):
        assert np.abs(a[-1] - b[-1]).max() < 1e-6 * (1.0 + np.abs(a[-1]).max())
    assert [event.name for event in one.events] == [event.name for event in two.events]
    assert np.allclose([event.t for event in one.events], [event.t for event in two.events], rtol=0, atol=1e-7)
    assert two.audit["energy_residual"] < 1e-8


def test_stiff_joint_friction_goes_as_with_small_steps():
    """tanh friction with a steep middle: relaxation, as in van der Pol's equation."""
    joint = Joint("hinge", "revolute", "rod", friction=Friction("tanh", 2.0, sharpness=2e3, load=1.0))
    model = Model(
        name="stiff",
        gravity=(0.0, -9.81, 0.0),
        bodies=(Body("rod", 1.0, com=(0.5, 0.0, 0.0), inertia=np.eye(3) / 12),),
        joints=(joint,),
    )
    one = simulate(model, 3.0, integrator="dop853", rtol=1e-9, atol=1e-11)
    two = simulate(model, 3.0, integrator="radau", rtol=1e-9, atol=1e-11)
    assert np.abs(one.at(3.0)[0] - two.at(3.0)[0]).max() < 1e-7
    assert two.stats["steps"] < one.stats["steps"]


def test_interruptions_change_no_bit_of_an_implicit_run(monkeypatch):
    whole = simulate(stiff_model(stiff12()), 0.5, integrator="radau")
    monkeypatch.setattr(run_module, "FIRST_WORK", 6)  # a pause after ten steps
    monkeypatch.setattr(run_module, "PAUSE_SECONDS", 0.0)
    parts = simulate(stiff_model(stiff12()), 0.5, integrator="radau")
    assert np.array_equal(whole.t, parts.t)
    assert np.array_equal(whole.q, parts.q)


def test_prepared_runs_repeat_to_the_bit():
    """They keep no dense output, and auto chooses as if there were one."""
    for integrator in ("radau", "auto"):
        run = prepare_run(stiff_model(stiff12()), 0.5, integrator=integrator)
        first = run.end()
        run.end(v0=np.ones(6))
        assert all(np.array_equal(a, b) for a, b in zip(first, run.end(), strict=True))
        found = simulate(stiff_model(stiff12()), 0.5, integrator=integrator)
        assert np.array_equal(first[0], found.q[-1])


# --- the generalised-alpha family -------------------------------------------------------------------------------


FAMILY = {
    "generalised_alpha": [{"rho_inf": rho} for rho in (0.0, 0.5, 0.8, 1.0)],
    "hht": [{"alpha": alpha} for alpha in (-1 / 3, -0.1, 0.0)],
    "newmark": [{"beta": 0.25, "gamma": 0.5}, {"beta": 0.3025, "gamma": 0.6}],
}
MEMBERS = [(name, parameters) for name, rows in FAMILY.items() for parameters in rows]


def amplification(name, parameters, wh):
    """Closed form: (q, h v, h^2 a) of an oscillator from step to step, wh = frequency times step."""
    rule = find_method("integrator", name, **parameters).step_rule
    alpha_m, alpha_f, beta, gamma = rule.alpha_m, rule.alpha_f, rule.start_beta, rule.start_gamma
    # unknowns q, hv, h2a at the end; the equation of motion puts f = -w^2 q
    left = np.array([[1.0, 0.0, -beta], [0.0, 1.0, -gamma], [(1 - alpha_f) * wh**2, 0.0, 1 - alpha_m]])
    right = np.array([[1.0, 1.0, 0.5 - beta], [0.0, 1.0, 1 - gamma], [-alpha_f * wh**2, 0.0, -alpha_m]])
    return np.linalg.solve(left, right)


@pytest.mark.parametrize(("name", "parameters"), MEMBERS)
@pytest.mark.parametrize("wh", [0.1, 1.0, 20.0])
def test_oscillator_goes_as_the_closed_form_says(name, parameters, wh):
    """50 steps: amplitude, phase and numerical damping in one."""
    h, n = 0.1, 50
    w = wh / h
    run = drive(
        sprung, [1.0, 0.0], n * h, name, parameters=parameters, controller=lambda t, y: [w**2], samples=[0.0],
        n_inputs=1, **fixed(name, h)
    )  # fmt: skip
    A = amplification(name, parameters, wh)
    x = np.array([1.0, 0.0, -(wh**2)])
    for k in range(n + 1):
        assert run.y[k, 0] == pytest.approx(x[0], abs=1e-9 * (1.0 + wh))
        assert h * run.y[k, 1] == pytest.approx(x[1], abs=1e-9 * (1.0 + wh))
        x = A @ x


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.8, 1.0])
def test_rho_inf_is_what_a_step_leaves_of_fast_motion(rho):
    """Measured: speeds of an oscillator a thousand times faster than the step decay as n rho^n (a double root)."""
    A = amplification("generalised_alpha", {"rho_inf": rho}, 1e3)
    assert np.abs(np.linalg.eigvals(A)).max() == pytest.approx(rho, abs=0.02)  # at 1 / wh still a little off
    h, n = 0.1, 40
    run = drive(
        sprung, [1.0, 0.0], n * h, "generalised_alpha", parameters={"rho_inf": rho},
        controller=lambda t, y: [(1e3 / h) ** 2], samples=[0.0], n_inputs=1, is_fixed=True, h=h, rtol=1e-8, atol=1e-8
    )  # fmt: skip
    assert run.status == Status.DONE
    speed = np.abs(run.y[1:, 1])
    if rho == 0.0:
        assert speed[5:].max() < 1e-4 * speed[0]
    else:
        # n rho^n: of two far apart the ratio
        assert (speed[-1] / speed[9] * 10 / 40) ** (1 / 30) == pytest.approx(rho, abs=0.03)


def test_trapezoidal_rule_keeps_the_energy_of_an_oscillator():
    run = drive(
        sprung, [1.0, 0.0], 100.0, "newmark", controller=lambda t, y: [4.0], samples=[0.0], n_inputs=1,
        is_fixed=True, h=0.1, rtol=1e-14, atol=1e-14
    )  # fmt: skip
    energy = 2.0 * run.y[:, 0] ** 2 + 0.5 * run.y[:, 1] ** 2
    assert np.abs(energy - 2.0).max() < 1e-10  # 1000 steps of rounding and of Newton's tolerance


@pytest.mark.parametrize("name", ZOO)
def test_generalised_alpha_moves_every_model_with_second_order(name):
    """Rotations of ball and floating joints, prescribed motion, bending, loads: halving the step quarters the error."""
    exact = simulate(ZOO[name], 0.2, integrator="dop853", rtol=1e-11, atol=1e-12)
    runs = [simulate(ZOO[name], 0.2, integrator="generalised_alpha", step=h) for h in (4e-4, 2e-4)]
    assert all(run.status == "done" for run in runs)
    one, two = (np.abs(run.q[-1] - exact.q[-1]).max() for run in runs)
    assert one < 1e-11 or 3.5 < one / two < 4.5
    for four in ZOO[name].quaternions:
        assert np.allclose(np.linalg.norm(runs[0].q[:, four], axis=1), 1.0, rtol=0, atol=1e-15)


@pytest.mark.parametrize("name", ["space_robot", "flexible_satellite", "ball_chain", "tree"])
def test_moving_along_velocities_is_the_flow_of_the_rates(name):
    model, rng = ZOO[name], np.random.default_rng(1)
    handle, move = Prepared(model), entry(shift.shift)
    system = handle.refs[0]
    q, w = np.array(model.q0), rng.normal(size=len(model.velocities))
    halves, whole, back = np.empty(len(q)), np.empty(len(q)), np.empty(len(q))
    move(system, q, w, whole)
    move(system, q, 0.5 * w, back)
    move(system, back, 0.5 * w, halves)
    assert np.allclose(halves, whole, rtol=0, atol=1e-14)
    move(system, whole, -w, back)
    assert np.allclose(back, q, rtol=0, atol=1e-14)
    # along w it begins with q' = S(q) w
    n_z = int(handle.system.world[0].n_z)
    ydot = np.empty(len(q) + len(w) + n_z)
    y = np.concatenate([q, w, np.zeros(n_z)])
    entry(repeat.repeat_derivative)(address(dynamics.derivative), 1, *handle.refs, 0.0, y, ydot)
    move(system, q, 1e-6 * w, back)
    assert np.allclose((back - q) / 1e-6, ydot[: len(q)], rtol=0, atol=1e-5)


def test_a_step_that_cannot_be_solved_ends_the_run_with_a_reason():
    found = simulate(ZOO["double_pendulum"], 40.0, integrator="newmark", step=3.0)
    assert found.status == "failed"
    assert "Newton's method did not converge" in found.reason
    assert "shorter step" in found.reason


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"integrator": "hht"}, ["hht", "fixed step"]),
        ({"integrator": "generalised_alpha", "step": 1e-3, "rho_inf": 1.5}, ["rho_inf", "1.5", "from 0 to 1"]),
        ({"integrator": "hht", "step": 1e-3, "alpha": 0.1}, ["alpha", "0.1", "-0.3333 to 0"]),
        (
            {"integrator": "newmark", "step": 1e-3, "rho_inf": 0.5},
            ["rho_inf", "newmark", "belongs to generalised_alpha"],
        ),
        ({"gamma": 0.5}, ["gamma", "auto", "belongs to newmark"]),
    ],
)
def test_wrong_parameters_are_named(options, words):
    with pytest.raises(ModelError) as error:
        simulate(ZOO["pendulum"], 1.0, **options)
    for word in words:
        assert word in str(error.value)


# --- prescribed motion --------------------------------------------------------------------------------------------

FIXED = ["generalised_alpha", "hht", "newmark", "fox_euler", "wilson", "houbolt", "proposed"]


def led_rods(**elbow):
    """Two rods, of which the hinge of the first follows a sine."""
    rods = [Body(name, mass=m, shape=Rod(x)) for name, m, x in (("upper", 1.0, 1.0), ("lower", 0.5, 0.5))]
    joints = [
        Joint("hinge", "revolute", "upper", motion=pliant.Sine(amplitude=0.7, omega=4.0)),
        Joint("elbow", "revolute", "lower", parent=Frame("upper", (1.0, 0.0, 0.0)), **elbow),
    ]
    return Model("led", rods, joints, gravity=(0.0, -9.81, 0.0))


@pytest.mark.parametrize("formulation", ["articulated", "transfer_matrix"])
@pytest.mark.parametrize("name", ["radau", *FIXED])
def test_drives_do_the_work_that_prescribed_motion_takes(name, formulation):
    """With nothing left to be moved by forces, energy is known at every time, and so is the work: its change. Fixed
    steps of 1 ms are of second order, and one is of first; some 10 J go to and fro."""
    model = led_rods(motion=pliant.Sine(amplitude=0.5, omega=7.0))
    step = {} if name == "radau" else {"step": 1e-3}
    run = simulate(model, 0.7, integrator=name, formulation=formulation, **step)
    assert run.is_ok, run.reason
    gained = sum(run.energy[part][-1] - run.energy[part][0] for part in ("kinetic", "gravity"))
    assert abs(gained) > 0.5
    allowed = 1e-6 if name == "radau" else 0.05 if name == "fox_euler" else 2e-4
    assert run.energy["work_drive"][-1] == pytest.approx(gained, abs=allowed)
    assert not run.warnings


LED = [
    {"integrator": "radau"},
    {"integrator": "newmark", "step": 1e-3},
    {"integrator": "generalised_alpha", "step": 1e-3, "closure": "implicit"},
]


@pytest.mark.parametrize("how", LED, ids=str)
def test_a_led_crank_does_the_work_that_its_loop_takes(how):
    """Motion of all follows from what is prescribed."""
    model = ZOO["four_bar"]
    crank, *others = model.joints
    start = float(np.asarray(model.q0)[0])
    crank = dataclasses.replace(crank, motor=None, damping=0.0, motion=pliant.Sine(0.3, omega=8.0, offset=start))
    led = dataclasses.replace(model, joints=(crank, *others))
    exact = simulate(led, 0.2, rtol=1e-10, atol=1e-12)
    run = simulate(led, 0.2, **how)
    assert abs(exact.energy["work_drive"][-1]) > 1e-2
    assert run.energy["work_drive"][-1] == pytest.approx(exact.energy["work_drive"][-1], rel=1e-3)
    assert not run.warnings


# --- friction ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", ["coulomb", "stribeck", "karnopp"])
@pytest.mark.parametrize("integrator", ["generalised_alpha", "hht", "newmark"])
def test_fixed_steps_turn_round_and_stick_with_their_order(integrator, law):
    """A pendulum with dry friction in its hinge turns back, and turns back again: steps end on the reversals."""
    more = {"stribeck": {"mu_s": 0.4, "v_s": 2.0}, "karnopp": {"mu_s": 0.4}}.get(law, {})
    rub = Friction(law, mu_k=0.3, load=1.0, **more)
    joint = Joint("j", "revolute", "rod", q0=1.0, friction=rub)
    model = Model("rub", (Body("rod", mass=1.0, shape=Rod(0.3)),), (joint,), gravity=(0, -9.81, 0))
    exact = pliant.simulate(model, 1.5, rtol=1e-11, atol=1e-13)
    names = [event.name for event in exact.events]
    assert len(names) > 2
    errors = []
    for step in (2e-3, 1e-3):
        found = pliant.simulate(model, 1.5, integrator=integrator, step=step)
        assert found.is_ok, found.reason
        assert [event.name for event in found.events] == names
        errors.append(abs(found.q[-1, 0] - exact.q[-1, 0]))
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.15)


@pytest.mark.parametrize("tilt", [0.0, 0.3])
def test_fixed_steps_carry_a_block_that_slides_up_stops_and_sticks(tilt):
    """On a slope flatter than friction: v^2 / (2 g (sin + mu cos)) up, and there it stays."""
    mu, speed, g = 0.5, 1.0, 9.81
    slope = Plane(normal=(-np.sin(tilt), np.cos(tilt), 0.0))
    touch = Contact(
        "slope", NormalLaw("kelvin-voigt", 1e5, damping=500.0), slope, (Frame("block"),), rests=True,
        friction=Friction("coulomb", mu),
    )  # fmt: skip
    sunk = 9.81 * np.cos(tilt) / 1e5
    start = (sunk * np.sin(tilt), -sunk * np.cos(tilt), 0.0)
    up = (speed * np.cos(tilt), speed * np.sin(tilt), 0.0)
    model = Model(
        "block", (Body("block", mass=1.0, inertia=(1.0, 1.0, 1.0)),),
        (Joint("free", "planar", "block", q0=start, v0=up),), gravity=(0, -g, 0), contacts=(touch,),
    )  # fmt: skip
    found = pliant.simulate(model, 0.5, integrator="newmark", step=2e-4)
    way = speed**2 / (2.0 * g * (np.sin(tilt) + mu * np.cos(tilt)))
    assert found.is_ok, found.reason
    assert found.q[-1, :2] @ [np.cos(tilt), np.sin(tilt)] == pytest.approx(way, abs=1e-6)
    assert np.max(np.abs(found.v[-1])) < 2e-6


def test_radau_keeps_its_jacobian_through_rejected_steps():
    """An arm whose booms ring: many steps are too long, but Newton is fast with a Jacobian that is old."""
    case = all_cases()["canadarm"]
    run = prepare_run(case.build(case.resolve({})), 0.2, integrator="radau", rtol=1e-4, atol=1e-6)
    run.end()
    assert run.memory.stepping[0].n_rejected > 20
    assert run.memory.newton[0].n_jacobians < 0.2 * run.memory.stepping[0].n_rejected

"""Steps of second-order methods that a Jacobian of their beginning does not solve: touchdowns with smoothed friction,
bodies that turn far, loops closed to rounding."""

from dataclasses import replace

import numpy as np
import pytest

import pliant
from pliant import (
    Body,
    Contact,
    Dahl,
    Flores,
    Frame,
    HuntCrossley,
    Joint,
    KelvinVoigt,
    LuGre,
    Model,
    Plane,
    Rod,
    Stribeck,
    Tanh,
    simulate,
)
from pliant.kernels._jit import ADVANCE, entry, kernel
from pliant.kernels.integrators.second_order import evaluate_end, factor_at_end
from pliant.kernels.integrators.second_order_rows import NEW
from pliant.simulation.prepared_run import prepare_run
from pliant.system.status import Status
from random_models import random_model
from zoo import ZOO


def foot(law, friction):
    """A hip on a sprung leg that falls, moves on, and touches the ground with its toe."""
    ground = Contact("ground", law, Plane(normal=(0, 1, 0)), points=(Frame("leg", (0.5, 0, 0)),), friction=friction)
    joints = (
        Joint("base", "planar", "hip", q0=(0.0, 0.52, 0.0), v0=(0.5, 0.0, 0.0)),
        Joint("knee", "revolute", "leg", parent="hip", q0=-1.3, stiffness=200.0, damping=2.0, rest=-1.3),
    )
    bodies = (Body("hip", 3.0, inertia=(0.05, 0.05, 0.05)), Body("leg", 1.0, shape=Rod(0.5)))
    return Model("foot", bodies, joints, gravity=(0.0, -9.81, 0.0), contacts=(ground,))


LAWS = {
    "hunt-crossley": HuntCrossley(1e6, restitution=0.5),
    "flores": Flores(1e6, restitution=0.5),
    "kelvin-voigt": KelvinVoigt(1e5, 500.0),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", ["newmark", "generalised_alpha"])
def test_first_touch_with_smoothed_friction_is_passed_at_every_step(name, law):
    """The slope of friction goes from nothing to a hundred times the inertia within the step. With ten times the step
    the error is up to a hundred times as large, by their order."""
    model = foot(LAWS[law], Tanh(0.5, sharpness=200.0))
    exact = simulate(model, 0.2, rtol=1e-9, dense=False)
    for step, allowed in ((1e-3, 1e-3), (1e-4, 1e-5)):
        run = simulate(model, 0.2, integrator=name, step=step, dense=False)
        assert run.is_ok, run.reason
        assert len(run.contacts) == len(exact.contacts) > 0
        assert np.abs(run.q[-1] - exact.q[-1]).max() < allowed


@pytest.mark.parametrize("name", ["newmark", "generalised_alpha"])
@pytest.mark.parametrize(
    ("seed", "kinds", "is_chain"),
    [(4, ("spherical",), False), (6, ("spherical",), False), (1, ("revolute",), True), (10, ("revolute",), True)],
)
def test_spatial_trees_of_twelve_bodies_go_in_long_steps(name, seed, kinds, is_chain):
    """Ends whip round by half a revolution in a step of 10 ms: what is missing is accuracy, not a solution."""
    model = random_model(np.random.default_rng(seed), 12, kinds=kinds, is_chain=is_chain)
    speeds = 5.0 * np.random.default_rng(seed + 1000).uniform(-1, 1, len(model.v0))
    run = simulate(model, 0.5, integrator=name, step=0.01, v0=speeds, dense=False)
    assert run.is_ok, run.reason


# --- Newton's matrix ----------------------------------------------------------------------------------------------


@kernel(ADVANCE)
def put_end(system, work, memory):
    """f_new of the accelerations in memory.stages[NEW]."""
    stepping = memory.stepping[0]
    return evaluate_end(system, work, memory, stepping.t, stepping.h_fixed)


@kernel(ADVANCE)
def put_factors(system, work, memory):
    """Factors of Newton's matrix there."""
    stepping = memory.stepping[0]
    status = evaluate_end(system, work, memory, stepping.t, stepping.h_fixed)
    return status if status != 0 else factor_at_end(system, work, memory, stepping.t, stepping.h_fixed)


def unfactored(A, pivots):
    """The matrix of factors as kernels/algebra/lu.py leaves them: reciprocals of pivots, whole rows exchanged."""
    n = len(A)
    L, U = np.tril(A, -1) + np.eye(n), np.triu(A)
    U[np.diag_indices(n)] = 1.0 / np.diag(A)
    matrix = L @ U
    for k in range(n - 1, -1, -1):
        p = pivots[k]
        matrix[[k, p]] = matrix[[p, k]]
    return matrix


def rubbing(model):
    """The same with smoothed friction in every joint."""
    friction = Tanh(0.3, sharpness=50.0, load=2.0)
    return replace(model, joints=tuple(replace(joint, friction=friction) for joint in model.joints))


MATRICES = {
    "tanh": (foot(LAWS["hunt-crossley"], Tanh(0.5, sharpness=200.0)), 0.097),
    "stribeck": (foot(LAWS["kelvin-voigt"], Stribeck(0.3, mu_s=0.5, v_s=0.1)), 0.097),
    "lugre": (foot(LAWS["kelvin-voigt"], LuGre(0.3, mu_s=0.5, v_s=0.1, sigma0=1e4, sigma1=50.0, sigma2=0.1)), 0.097),
    "dahl": (foot(LAWS["kelvin-voigt"], Dahl(0.3, sigma0=1e4)), 0.097),
    **{
        name: (ZOO[name], 0.02)
        for name in ("ball_chain", "mounted_engine", "guyed_arm", "stopped_arm", "flexible_arm", "flexible_joints")
    },
    "joint friction": (rubbing(ZOO["double_pendulum"]), 0.02),
}


@pytest.mark.parametrize("name", MATRICES)
def test_matrix_at_the_end_of_a_step_is_the_slope_of_its_equations(name):
    """Against differences to both sides over steps a thousand times as long, of fourth order: what they leave out, and
    rounding of the short ones, is some 1e-5 of a row."""
    model, duration = MATRICES[name]
    run = prepare_run(model, duration, integrator="generalised_alpha", step=1e-3)
    status, reason = run.attempt()
    assert status == Status.DONE, reason
    memory, refs = run.memory, (*run.handle.refs, run._run.run.memory_ref)
    newton = memory.newton[0]
    n = memory.jacobian.shape[0] - int(newton.n_coordinates)
    active, a = memory.active[:n], memory.stages[NEW]
    assert entry(put_factors)(*refs) == Status.OK
    found = unfactored(memory.factor[0][:n, :n], memory.pivots[0])

    def residual(column, change):
        here = a[active[column]]
        a[active[column]] = here + change
        assert entry(put_end)(*refs) == Status.OK
        value = (1.0 - newton.alpha_m) * a[active] - (1.0 - newton.alpha_f) * memory.f_new[active]
        a[active[column]] = here
        return value

    expected = np.empty((n, n))
    for column in range(n):
        # velocities change by 1e-5, friction states, of 1e-5 m, by 1e-9
        is_state = column >= n - int(newton.n_states)
        d = (1e-9 if is_state else 1e-5) / (newton.gamma * 1e-3)
        near, far = (residual(column, k * d) - residual(column, -k * d) for k in (1, 2))
        expected[:, column] = (8.0 * near - far) / (12.0 * d)
    scale = np.abs(expected).max(axis=1, keepdims=True)
    assert np.abs((found - expected) / scale).max() < 2e-4


# --- loops --------------------------------------------------------------------------------------------------------


def four_bar_in_space():
    """Crank and rocker in general position, a coupler on balls: RSSU."""
    attitude = pliant.AxisAngle((1.0, -2.0, 0.5), 0.9)
    rods = [Body(name, m, shape=Rod(x, radius=0.03)) for name, m, x in
            (("crank", 1.0, 0.5), ("coupler", 1.5, 0.8), ("rocker", 0.7, 0.6))]  # fmt: skip
    joints = [
        Joint("crank", "revolute", "crank", axis=(0.3, 1.0, 0.2), v0=2.0),
        Joint("ball", "spherical", "coupler", parent=Frame("crank", (0.5, 0.0, 0.0))),
        Joint("fork", "universal", "rocker", parent=Frame("world", (0.3, 0.2, -0.3), attitude=attitude)),
    ]
    pin = pliant.Loop("pin", "spherical", first=Frame("rocker", (0.6, 0, 0)), second=Frame("coupler", (0.8, 0, 0)))
    return Model("four-bar in space", rods, joints, loops=(pin,))


@pytest.mark.parametrize("step", [1e-3, 1e-4])
@pytest.mark.parametrize("rtol", [1e-8, 1e-10, 1e-12])
@pytest.mark.parametrize("model", ["four-bar in space", "flexible_four_bar"])
def test_loops_as_unknowns_are_solved_as_far_as_rounding_allows(model, rtol, step):
    """Index 3: rounding of positions over the square of the step is what accelerations are known to, and that grows
    as the step becomes shorter."""
    model = ZOO.get(model) or four_bar_in_space()
    how = {"closure": "implicit", "integrator": "generalised_alpha", "step": step, "dense": False}
    if model.name == "four-bar in space":
        how["q0"] = pliant.assemble(model)[0]
    run = simulate(model, 50 * step, rtol=rtol, atol=1e-2 * rtol, **how)
    assert run.is_ok, run.reason
    assert run.audit["constraint_drift"] < 1e-12  # of the model's size: rounding of some products

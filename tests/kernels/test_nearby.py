"""The derivative at a state near the one just evaluated: what changes at once is exact, the rest is kept."""

import numpy as np
import pytest

import pliant
from pliant import Body, Box, Joint, Model, Transmission
from pliant.kernels._jit import DERIVATIVE, EVENTS, entry, kernel
from pliant.kernels._jit import NEARBY as CONTRACT
from pliant.kernels.integrators.adams import MAX_NEGLECTED
from pliant.simulation.prepared_run import prepare_run
from zoo import ZOO

call_derivative, call_nearby = DERIVATIVE.call, CONTRACT.call


@kernel(EVENTS)
def evaluate_both(system, work, t, y, ydot, y_near, ydot_near):
    status = call_derivative(work.calls[0].derivative, (system, work, t, y, ydot))
    if status != 0:
        return status
    return call_nearby(work.calls[0].nearby, (system, work, t, y, ydot, y_near, ydot_near))


@kernel(EVENTS)
def evaluate(system, work, t, y, ydot, y_near, ydot_near):
    return call_derivative(work.calls[0].derivative, (system, work, t, y_near, ydot_near))


def run_of(model, formulation="auto"):
    return prepare_run(model, 1.0, integrator="adams", formulation=formulation)


def both(run, y, y_near):
    """Derivatives at y, at y_near by nearby, and at y_near."""
    out, near, exact = (np.zeros(len(y)) for _ in range(3))
    assert entry(evaluate_both)(*run.handle.refs, 0.0, y, out, y_near, near) == 0
    assert entry(evaluate)(*run.handle.refs, 0.0, y, out.copy(), y_near, exact) == 0
    return out, near, exact


def states(run, seed, distance):
    """Two states near each other."""
    rng, n = np.random.default_rng(seed), len(run.memory.y)
    y = run.memory.y + 0.01 * rng.standard_normal(n)
    return y, y + distance * rng.standard_normal(n)


def sliders():
    """Three masses on one rail, springs and dampers between them, one pushed by a flexible joint: M is constant."""
    box = Box((0.1, 0.1, 0.1))
    transmission = Transmission(stiffness=700.0, damping=3.0)
    joints = [
        Joint("first", "prismatic", "a", axis=(1, 0, 0), stiffness=300.0, damping=2.0),
        Joint("second", "prismatic", "b", parent="a", axis=(1, 0, 0), stiffness=500.0, damping=1.0),
        Joint("third", "prismatic", "c", parent="b", axis=(1, 0, 0), transmission=transmission, armature=0.2),
    ]
    bodies = [Body(name, mass=mass, shape=box) for name, mass in (("a", 2.0), ("b", 1.0), ("c", 0.5))]
    return Model("sliders", bodies=bodies, joints=joints)


@pytest.mark.parametrize("formulation", ["articulated", "gibbs_appell", "lagrange", "boltzmann_hamel", "denoc"])
def test_it_is_exact_where_only_springs_and_dampers_change(formulation):
    run = run_of(sliders(), formulation)
    y, y_near = states(run, 1, 0.1)
    out, near, exact = both(run, y, y_near)
    n = len(run.handle.model.q0) + len(run.handle.model.v0)
    # rounding of forces over masses
    np.testing.assert_allclose(near[:n], exact[:n], rtol=1e-11, atol=1e-11 * np.abs(exact).max())
    assert np.abs(exact[:n] - out[:n]).max() > 1.0


@pytest.mark.parametrize("name", ["flexible_joints", "falling_chain", "cardan_shaft"])
def test_accelerations_change_by_the_gradient_of_the_elastic_energy(name):
    """M from the mass matrix, forces from differences of the energy: neither is what nearby uses."""
    model = ZOO[name]
    run = run_of(model)
    handle, n = run.handle, len(model.q0)
    assert handle.system.world[0].has_plain_rates
    y, y_near = states(run, 2, 1e-3)
    y_near[n:] = y[n:]
    out, near, _ = both(run, y, y_near)

    def gradient(q):
        step = 1e-4
        rows = np.concatenate([q + step * np.eye(n), q - step * np.eye(n)])
        elastic = handle.energies(rows, np.zeros((2 * n, n)))["elastic"]
        return (elastic[:n] - elastic[n:]) / (2.0 * step)

    change = gradient(y_near[:n]) - gradient(y[:n])
    expected = -np.linalg.solve(pliant.mass_matrix(model, y[:n]), change)
    found = near[n : 2 * n] - out[n : 2 * n]
    # energies differ by rounding, 1e-16 of them over the step; tables and shortening are no quadratic energies
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=2e-4 * np.abs(expected).max())


def test_it_sees_nearly_all_that_changes_in_a_flexible_arm():
    """In its fall: what it neglects (gravity, velocities, the mass matrix) is less than adams allows."""
    run = prepare_run(pliant.load("canadarm"), 0.6, integrator="adams")
    run.end()
    n = len(run.handle.model.q0)
    y = run.memory.y.copy()
    y_near = y + 1e-7 * np.random.default_rng(3).standard_normal(len(y))
    out, near, exact = both(run, y, y_near)
    assert np.abs(near - exact)[n : 2 * n].max() < MAX_NEGLECTED * np.abs(out - exact)[n : 2 * n].max()
    # rates of coordinates are those of the near state
    np.testing.assert_array_equal(near[:n], y_near[n : 2 * n])


@pytest.mark.parametrize("name", ["pendulum", "driven_crane", "four_bar"])
def test_models_it_cannot_help_do_without(name):
    assert run_of(ZOO[name]).handle.work.calls[0].nearby == 0

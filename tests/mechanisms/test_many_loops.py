"""Many loops: branches of the tree that only loops connect, and what is made of them, against plain linear algebra."""

import dataclasses

import numpy as np
import pytest

import pliant
from four_bars import four_bars, run_four_bars
from pliant import Frame, Friction, Spring
from pliant.engine.prepared import Prepared
from pliant.mechanisms.constraints import Loops
from pliant.methods import FORMULATIONS

N = 12


def sprung(n, first, second):
    """Four-bars with a spring between two cranks."""
    ends = Frame(f"crank{first}", (0.5, 0, 0)), Frame(f"crank{second}", (0.7, 0.1, 0))
    spring = Spring("spring", *ends, stiffness=50.0)
    return dataclasses.replace(four_bars(n), springs=(spring,))


def with_dahl(n):
    """Friction with a state in the first crank: an unknown that belongs to no branch."""
    model = four_bars(n)
    first = dataclasses.replace(model.joints[0], friction=Friction("dahl", 0.1, load=1.0, sigma0=100.0))
    return dataclasses.replace(model, joints=(first, *model.joints[1:]))


def lists(system, of):
    """Velocities and constraints of a branch."""
    links = system.links
    return (
        set(links[of.first : of.first + of.count].tolist()),
        set(links[of.first_constraint : of.first_constraint + of.n_constraints].tolist()),
    )


def pose(n, angle=1.1, speed=-0.8):
    """A closed one, off the start, and its velocities."""
    signs = np.r_[np.ones(n + 1), -np.ones(n)]
    return angle * signs, speed * signs


@pytest.mark.parametrize("model", [four_bars(N), sprung(N, 3, 7)], ids=["free", "sprung"])
def test_branches_share_no_entry_of_the_mass_matrix_and_constraints_no_column_elsewhere(model):
    handle = Prepared(model)
    system, (q, v) = handle.system, pose(N)
    M, A = handle.mass_matrix(q), Loops(handle).jacobian(q)
    branches = [lists(system, of) for of in system.branches]
    assert branches[0] == (set(range(len(v))), set(range(len(A))))
    # every velocity in one branch; a spring makes one of two
    assert sorted(j for velocities, _ in branches[1:] for j in velocities) == list(range(len(v)))
    assert len(branches) - 1 == (N + 1 if not model.springs else N)
    for velocities, constraints in branches[1:]:
        others = sorted(set(range(len(v))) - velocities)
        assert not np.any(M[np.ix_(sorted(velocities), others)])
        moved = {k for k in range(len(A)) if np.any(A[k, sorted(velocities)])}
        assert moved <= constraints
    for k, row in enumerate(system.constraints):
        assert set(np.flatnonzero(A[k]).tolist()) <= set(system.links[row.first : row.first + row.count].tolist())


def values(handle, q):
    """Of all constraints."""
    return Loops(handle).errors(q, np.zeros(len(q)))[0]


@pytest.mark.parametrize("formulation", [row.name for row in FORMULATIONS if row.name != "transfer_matrix"])
@pytest.mark.parametrize("model", [four_bars(N), sprung(N, 3, 7)], ids=["free", "sprung"])
def test_accelerations_are_those_of_the_whole_system_with_its_multipliers(model, formulation):
    """M vdot - A^T l = f, A vdot = -A' v, solved at once; f from the open tree, A and A' v from differences of the
    constraints."""
    q, v = pose(N)
    handle, h = Prepared(model, formulation), 1e-4
    tree = Prepared(dataclasses.replace(model, loops=()), formulation)
    M = tree.mass_matrix(q)
    A = np.column_stack([values(handle, q + h * e) - values(handle, q - h * e) for e in np.eye(len(q))]) / (2.0 * h)
    bias = (values(handle, q + h * v) - 2.0 * values(handle, q) + values(handle, q - h * v)) / h**2
    m = len(A)
    whole = np.block([[M, -A.T], [A, np.zeros((m, m))]])
    wanted = np.linalg.solve(whole, np.r_[M @ tree.forward_dynamics(q, v), -bias])[: len(v)]
    found = handle.forward_dynamics(q, v)
    # truncation h^2 / 6 of A, 1e-16 / h^2 of A' v, times the condition of W
    np.testing.assert_allclose(found, wanted, atol=1e-6 * np.max(np.abs(wanted)))


@pytest.mark.parametrize("integrator", ["generalised_alpha", "hht", "newmark"])
@pytest.mark.parametrize("n", [3, 12])
def test_multipliers_as_unknowns_follow_the_one_equation_of_many_loops(integrator, n):
    """Second order: the error falls as the square of the step; its size is that of one loop (trial_four_bars.py)."""
    errors = []
    for step in (4e-3, 2e-3):
        found, error = run_four_bars(n, 2.0, 0.5, integrator=integrator, closure="implicit", step=step)
        assert found.is_ok, found.reason
        errors.append(error)
    assert errors[0] < 100.0 * 4e-3**2
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.2)


@pytest.mark.parametrize("make", [lambda: sprung(5, 1, 4), lambda: with_dahl(5)], ids=["sprung", "coupled"])
def test_forces_between_branches_change_the_way_not_the_motion(make):
    """Against the explicit closure at rounding: what is left is the error of the step, h^2."""
    model = make()
    exact = pliant.simulate(model, 0.3, rtol=1e-10, atol=1e-12)
    errors = []
    for step in (2e-3, 1e-3):
        found = pliant.simulate(model, 0.3, integrator="generalised_alpha", closure="implicit", step=step)
        assert found.is_ok, found.reason
        errors.append(np.max(np.abs(found.q[-1] - exact.q[-1])))
    assert errors[0] < 30.0 * 2e-3**2
    assert errors[1] < 0.4 * errors[0]

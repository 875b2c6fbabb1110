"""A tree cut open at a joint and closed by a loop of the same kind is the same machine: its motion and its forces.

Every kind of loop, in space and in the plane, with rigid and flexible links, over every formulation and closure."""

import numpy as np
import pytest

import pliant
from cut_joints import Cut, flat, some_state, spatial
from pliant.methods import FORMULATIONS

RIGID = [row.name for row in FORMULATIONS if "tree" in row.supports]
FLEXIBLE = [row.name for row in FORMULATIONS if {"acceleration", "flexible bodies"} <= row.supports]
KINDS = ["revolute", "prismatic", "spherical", "universal", "fixed"]
FLAT_KINDS = ["revolute", "prismatic", "fixed"]
# accelerations and wrenches of about 1e2 through W of a condition of about 1e3
ROUNDING = 1e-10
# of runs with rtol 1e-11 over half a second
ARRIVAL = 1e-8


MACHINES = [(spatial, kind, links) for kind in KINDS for links in ("rigid", "flexible")]
MACHINES += [(flat, kind, links) for kind in FLAT_KINDS for links in ("rigid", "flexible")]
NAMES = [f"{kind} {links} {build.__name__}" for build, kind, links in MACHINES]


def cut(build, kind, links):
    return Cut(build(kind, links), "cut", is_planar=build is flat)


@pytest.mark.parametrize(("build", "kind", "links"), MACHINES, ids=NAMES)
def test_loop_accelerates_and_carries_what_the_joint_does(build, kind, links):
    both = cut(build, kind, links)
    for seed in range(3):
        q, v = some_state(both.tree, seed)
        vdot, wrench = pliant.forward_dynamics(both.tree, q, v), pliant.reactions(both.tree, q, v)
        x, xdot = both.state(q, v)
        exact = both.acceleration(q, v, vdot)
        for formulation in RIGID if links == "rigid" else FLEXIBLE:
            found = pliant.forward_dynamics(both.closed, x, xdot, formulation=formulation)
            assert found == pytest.approx(exact, abs=ROUNDING * np.max(np.abs(exact))), formulation
            carried = pliant.reactions(both.closed, x, xdot, formulation=formulation)
            for name in ("hip", "cut", "wrist"):
                size = max(np.max(np.abs(wrench[name])), 1.0)
                # a planar loop knows the in-plane part alone
                part = [0, 1, 5] if build is flat else slice(None)
                assert carried[name][part] == pytest.approx(wrench[name][part], abs=ROUNDING * size), name


@pytest.mark.parametrize("closure", ["multipliers", "reduced"])
@pytest.mark.parametrize(("build", "kind", "links"), MACHINES, ids=NAMES)
def test_closed_tree_moves_as_the_tree(build, kind, links, closure):
    both = cut(build, kind, links)
    q, v = some_state(both.tree, 1)
    how = {"rtol": 1e-11, "atol": 1e-13, "integrator": "dop853"}
    duration = 0.5 if links == "rigid" else 0.1
    tree = pliant.simulate(both.tree, duration, q0=q, v0=v, **how)
    x, xdot = both.state(q, v)
    found = pliant.simulate(both.closed, duration, q0=x, v0=xdot, closure=closure, **how)
    assert found.is_ok, found.reason
    end, end_rates = both.state(tree.q[-1], tree.v[-1])
    sign = np.ones(len(end))
    for four in both.closed.quaternions:
        sign[four] = np.sign(end[four] @ found.q[-1][four])
    assert found.q[-1] == pytest.approx(sign * end, abs=ARRIVAL)
    assert found.v[-1] == pytest.approx(end_rates, abs=10 * ARRIVAL)
    assert found.audit["constraint_drift"] < 1e-13
    assert found.audit["energy_residual"] < 1e-10
    if closure == "multipliers":
        assert abs(found.energy.get("work_loop", np.zeros(1))[-1]) < 1e-10


SOLID = [(build, kind, links) for build, kind, links in MACHINES if links == "rigid"]


def error_at_end(both, tree, **options):
    q, v = some_state(both.tree, 1)
    x, xdot = both.state(q, v)
    found = pliant.simulate(both.closed, 0.1, q0=x, v0=xdot, **options)
    end = both.state(tree.q[-1], tree.v[-1])[0]
    for four in both.closed.quaternions:
        end[four] *= np.sign(end[four] @ found.q[-1][four])
    return np.max(np.abs(found.q[-1] - end))


@pytest.mark.parametrize(
    ("build", "kind", "links"), SOLID, ids=[f"{kind} {build.__name__}" for build, kind, _ in SOLID]
)
def test_springs_come_to_the_tree_as_one_over_stiffness_and_index_3_as_step_squared(build, kind, links):
    both = cut(build, kind, links)
    q, v = some_state(both.tree, 1)
    tree = pliant.simulate(both.tree, 0.1, q0=q, v0=v, rtol=1e-11, atol=1e-13)
    how = {"closure": "springs", "integrator": "radau", "rtol": 1e-8, "atol": 1e-10}
    soft = error_at_end(both, tree, closure_stiffness=1e5, closure_damping=100.0, **how)
    stiff = error_at_end(both, tree, closure_stiffness=1e6, closure_damping=300.0, **how)
    assert soft / stiff == pytest.approx(10.0, rel=0.1)
    how = {"closure": "implicit", "integrator": "generalised_alpha"}
    long, short = (error_at_end(both, tree, step=h, **how) for h in (2e-3, 1e-3))
    assert long / short == pytest.approx(4.0, rel=0.1)

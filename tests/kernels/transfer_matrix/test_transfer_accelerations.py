"""Accelerations by Riccati transfer matrices against the other formulations, on random planar chains."""

import dataclasses

import numpy as np
import pytest

import pliant
from chains import random_chain
from pliant import Body, Contact, Frame, Joint, Loop, Model, NormalLaw, Plane, Transmission
from pliant.engine.prepared import Prepared
from pliant.errors import ModelError
from pliant.methods import formulations_of
from zoo import ZOO

CHAINS = {
    "springs": {},
    "tilted axis": {"axis": (1.0, 2.0, -0.5)},
    "prescribed base": {"prescribed": (0,)},
    "prescribed within": {"prescribed": (2, 5)},
    "prescribed base and within": {"prescribed": (0, 1, 3)},
    "welded": {"welded": (0, 3)},
    "free": {"free": range(6), "armature": False},
    "prescribed, welded, axis -y": {"prescribed": (0,), "welded": (1, 4), "axis": (0.0, -1.0, 0.0)},
}
ROUNDING = 1e-13  # links of like size: some hundred ulp


def states(model, seed, count=4):
    rng = np.random.default_rng(seed)
    return [tuple(rng.uniform(-3.0, 3.0, (3, len(model.velocities)))) for _ in range(count)]


@pytest.mark.parametrize("kind", CHAINS)
@pytest.mark.parametrize("other", ["articulated", "lagrange"])
def test_accelerations_and_reactions_are_those_of_other_formulations(kind, other):
    model = random_chain(len(kind), **CHAINS[kind])
    one, two = Prepared(model, "transfer_matrix"), Prepared(model, other)
    for q, v, tau in states(model, 1):
        vdot, wrench = two.forward_dynamics(q, v, tau, 0.3), two.reactions(q, v, tau, 0.3)
        assert np.abs(one.forward_dynamics(q, v, tau, 0.3) - vdot).max() <= ROUNDING * np.abs(vdot).max()
        assert np.abs(one.reactions(q, v, tau, 0.3) - wrench).max() <= ROUNDING * np.abs(wrench).max()
        forces = [handle.work.dofs.constraint_force for handle in (one, two)]
        assert np.allclose(*forces, rtol=0.0, atol=ROUNDING * max(1.0, np.abs(wrench).max()))


def test_springs_may_be_stiff_and_links_light():
    rng = np.random.default_rng(3)
    bodies = [Body(f"b{i}", 10.0 ** rng.uniform(-3, 3), (0.5, 0.0, 0.0), (0.0, 1e-3, 1e-3)) for i in range(8)]
    places = ["world", *(Frame(f"b{i}", (1.0, 0.2, 0.0)) for i in range(7))]
    joints = [Joint(f"j{i}", "revolute", f"b{i}", place, stiffness=1e9) for i, place in enumerate(places)]
    model = Model("steel", bodies, joints, gravity=(0.0, -9.81, 0.0))
    one, two = Prepared(model, "transfer_matrix"), Prepared(model, "articulated")
    q, v, tau = states(model, 5, 1)[0]
    vdot = two.forward_dynamics(1e-6 * q, v, tau)
    # the forces that are left over, because the condition of M is 1e7
    left = one.inverse_dynamics(1e-6 * q, v, one.forward_dynamics(1e-6 * q, v, tau)) - tau
    assert np.abs(left).max() <= 1e-11 * np.abs(two.mass_matrix(1e-6 * q) * vdot).max()


def test_a_thousand_links_keep_their_digits():
    model = pliant.segmented_beam(1.0, 1000, 1.0, 1.0, gravity=(0.0, -9.81, 0.0))
    one, two = Prepared(model, "transfer_matrix"), Prepared(model, "articulated")
    rng = np.random.default_rng(7)
    q, v = rng.uniform(-1e-3, 1e-3, (2, 1000))
    vdot = two.forward_dynamics(q, v)
    assert np.abs(one.forward_dynamics(q, v) - vdot).max() <= 1e-11 * np.abs(vdot).max()


def arm(**joint):
    bodies = [Body(f"b{i}", 1.0, (0.5, 0.0, 0.0), (0.0, 0.1, 0.1)) for i in range(3)]
    places = ["world", Frame("b0", (1.0, 0.0, 0.0)), Frame("b1", (1.0, 0.0, 0.0))]
    joints = [Joint(f"j{i}", "revolute", f"b{i}", place, **joint) for i, place in enumerate(places)]
    return Model("arm", bodies, joints, gravity=(0.0, -9.81, 0.0), frames=[Frame("b2", (1.0, 0.0, 0.0), name="tip")])


def test_sticking_joints_hold_as_with_articulated_bodies():
    """M^-1 x, which stick forces ask for."""
    model = arm(friction=pliant.Friction("coulomb", mu_k=0.5, load=6.0), v0=0.4)
    runs = [pliant.simulate(model, 1.0, formulation=name, rtol=1e-10) for name in ("transfer_matrix", "articulated")]
    assert [event.name for event in runs[0].events] == [event.name for event in runs[1].events]
    assert len(runs[0].events) >= 2
    assert np.abs(runs[0].q[-1] - runs[1].q[-1]).max() <= 1e-7


def test_contacts_and_flexible_joints_are_taken_with_error_control():
    law, level = NormalLaw("kelvin-voigt", 1e4, damping=50.0), Plane("world", (0.0, 1.0, 0.0), -2.5)
    floor = Contact("floor", law, level, ("tip",))
    geared = Transmission(stiffness=300.0, damping=1.0)
    model = dataclasses.replace(arm(transmission=geared, armature=0.05, gear=3.0), contacts=(floor,))
    runs = [pliant.simulate(model, 1.2, formulation=name, rtol=1e-9) for name in ("transfer_matrix", "articulated")]
    assert len(runs[0].contacts) == len(runs[1].contacts) > 0
    assert np.abs(runs[0].q[-1] - runs[1].q[-1]).max() <= 1e-5


def branched():
    model = arm()
    extra = Joint("branch", "revolute", "twig", "b0")
    return dataclasses.replace(
        model, bodies=(*model.bodies, Body("twig", 1.0, (0.1, 0.0, 0.0))), joints=(*model.joints, extra)
    )


def with_joint(**fields):
    model = arm()
    return dataclasses.replace(model, joints=(*model.joints[:2], dataclasses.replace(model.joints[2], **fields)))


REFUSED = {
    "branches at body 'b0'": branched,
    "axis of joint 'j2' is not parallel": lambda: with_joint(axis=(0.0, 1.0, 0.0)),
    "joint 'j2' is prismatic": lambda: with_joint(kind="prismatic"),
    "loop 'ring' closes it": lambda: dataclasses.replace(
        arm(q0=0.1), loops=(Loop("ring", "distance", "world", "tip", length=2.9),)
    ),
    "is floating": lambda: Model("m", [Body("x", 1.0, inertia=(1.0, 1.0, 1.0))], base="floating"),
    "no inertia about the axis of its own joint": lambda: dataclasses.replace(
        arm(), bodies=(Body("b0", 1.0), *arm().bodies[1:])
    ),
    "is a beam with modes": lambda: next(model for model in ZOO.values() if model.links[0].body.n_modes),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_no_planar_chain_is_refused_with_what_takes_it(words):
    with pytest.raises(ModelError, match=f"'transfer_matrix' does not take model .*{words}.*these do: articulated"):
        pliant.simulate(REFUSED[words](), 0.1, formulation="transfer_matrix")


def test_some_models_of_the_zoo_are_chains():
    assert sum("transfer_matrix" in [row.name for row in formulations_of(model)] for model in ZOO.values()) >= 2

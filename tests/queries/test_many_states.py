"""Many states in one call: the bits of single calls, whatever the shapes and the number of threads."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from flexible_models import random_tree
from pliant import Body, Joint, Model, ModelError, SimulationError
from random_models import random_state
from zoo import ZOO

MODELS = {
    **{name: ZOO[name] for name in ("space_robot", "tree", "loaded_arm", "falling_chain")},
    "flexible": random_tree(3),
}
every_model = pytest.mark.parametrize("name", MODELS)


def states_of(model, rows, seed=0):
    """Q, V, VDOT, TAU, one row per state."""
    rng = np.random.default_rng(seed)
    each = [random_state(model, rng) for _ in range(rows)]
    return [np.array(columns) for columns in zip(*each, strict=True)]


def values(found):
    """The arrays of any answer."""
    if isinstance(found, np.ndarray):
        return [found]
    parts = found.values() if isinstance(found, dict) else vars(found).values()
    return [np.asarray(part) for part in parts]


CALLS = {
    "forward": lambda m, q, v, a, tau, t, n: pliant.forward_dynamics(m, q, v, tau, t=t, threads=n),
    "forward without tau": lambda m, q, v, a, tau, t, n: pliant.forward_dynamics(m, q, v, t=t, threads=n),
    "gibbs_appell": lambda m, q, v, a, tau, t, n: pliant.forward_dynamics(
        m, q, v, tau, t=t, formulation="gibbs_appell", threads=n
    ),
    "reactions": lambda m, q, v, a, tau, t, n: pliant.reactions(m, q, v, tau, t=t, threads=n),
    "inverse": lambda m, q, v, a, tau, t, n: pliant.inverse_dynamics(m, q, v, a, t=t, threads=n),
    "mass matrix": lambda m, q, v, a, tau, t, n: pliant.mass_matrix(m, q, threads=n),
    "energy": lambda m, q, v, a, tau, t, n: pliant.energy(m, q, v, threads=n),
    "momentum": lambda m, q, v, a, tau, t, n: pliant.momentum(m, q, v, threads=n),
}


@pytest.mark.parametrize("call", CALLS)
@every_model
def test_every_row_has_the_bits_of_a_single_call(name, call):
    model, ask = MODELS[name], CALLS[call]
    Q, V, A, TAU = states_of(model, 400)
    T = np.linspace(0, 2, 400)
    by_threads = [values(ask(model, Q, V, A, TAU, T, n)) for n in (1, 2, 3)]
    singles = [values(ask(model, Q[i], V[i], A[i], TAU[i], T[i], None)) for i in range(0, 400, 7)]
    for k, found in enumerate(by_threads[0]):
        assert all(np.array_equal(found, others[k]) for others in by_threads[1:])
        assert np.array_equal(found[::7], np.array([single[k] for single in singles]))


def test_arguments_broadcast_over_leading_dimensions():
    model = MODELS["space_robot"]
    Q, V, A, TAU = states_of(model, 6)
    found = pliant.forward_dynamics(model, Q[:3, None], V[:2], TAU[0], t=0.5)
    assert found.shape == (3, 2, len(model.velocities))
    assert np.array_equal(found[2, 1], pliant.forward_dynamics(model, Q[2], V[1], TAU[0], t=0.5))
    assert pliant.mass_matrix(model, Q.reshape(2, 3, -1)).shape == (2, 3, 12, 12)
    assert pliant.energy(model, Q, V[0]).total.shape == (6,)
    assert pliant.momentum(model, Q[:, None], V).angular_about_centre.shape == (6, 6, 3)
    assert pliant.reactions(model, Q, V)["wrist"].shape == (6, 6)
    assert pliant.inverse_dynamics(model, Q[0], V[0], A).shape == (6, 12)
    assert isinstance(pliant.energy(model, Q[0], V[0]).total, float)


def test_no_states_give_no_rows():
    model = MODELS["space_robot"]
    none = np.zeros((0, len(model.coordinates))), np.zeros((0, len(model.velocities)))
    assert pliant.forward_dynamics(model, *none).shape == (0, 12)
    assert pliant.mass_matrix(model, none[0]).shape == (0, 12, 12)


def test_forward_of_inverse_is_the_identity_on_many_states():
    """Relative to the largest, times the condition of M, which is below 1e4."""
    model = MODELS["tree"]
    Q, V, A, _ = states_of(model, 50)
    tau = pliant.inverse_dynamics(model, Q, V, A)
    assert np.abs(pliant.forward_dynamics(model, Q, V, tau) - A).max() < 1e-10 * np.abs(A).max()


def test_the_callers_arrays_are_left_as_they_are():
    model = MODELS["space_robot"]
    Q, V, _, _ = states_of(model, 3)
    Q *= 2.0
    before = Q.copy()
    pliant.forward_dynamics(model, Q, V)
    assert np.array_equal(Q, before)
    unit = pliant.forward_dynamics(model, model.q0, V[0])
    assert np.array_equal(pliant.forward_dynamics(model, model.q0[None], V[:1])[0], unit)


def test_mistakes_name_the_argument_and_the_row():
    model = MODELS["space_robot"]
    Q, V, _, _ = states_of(model, 4)
    bad = V.copy()
    bad[2, 5] = np.nan
    name = model.velocities[5]
    with pytest.raises(ModelError, match=rf"v: '{name}' of row 2 is nan; give finite numbers"):
        pliant.forward_dynamics(model, Q, bad)
    with pytest.raises(ModelError, match=rf"v: '{name}' of row \(1, 0\) is nan"):
        pliant.forward_dynamics(model, Q, bad.reshape(2, 2, -1)[:, :, :])
    with pytest.raises(ModelError, match=r"v: shape \(4, 13\) found, \(\.\., 12\) expected: hull.vx"):
        pliant.forward_dynamics(model, Q, np.zeros((4, 13)))
    with pytest.raises(ModelError, match=r"these shapes do not fit together: q \(4, 15\), v \(3, 12\); all but"):
        pliant.forward_dynamics(model, Q, V[:3])
    with pytest.raises(ModelError, match="threads: 0 found; give a whole number from 1 on, or None"):
        pliant.forward_dynamics(model, Q, V, threads=0)
    with pytest.raises(ModelError, match="is no time"):
        pliant.forward_dynamics(model, Q, V, t=[0, 1, np.inf, 2])
    with pytest.raises(ModelError, match="is no list of numbers"):
        pliant.forward_dynamics(model, Q, "fast")
    Q[1, 3:7] = 0.0
    with pytest.raises(ModelError, match="quaternion of joint 'hull' has length 0"):
        pliant.energy(model, Q, V)


def test_the_first_row_without_inertia_is_named():
    """Two point masses on one line: at q = 0 nothing resists the inner rotation about their own line."""
    bodies = [Body("inner", 1.0, com=(1, 0, 0)), Body("outer", 1.0, com=(1, 0, 0))]
    joints = [Joint("a", "revolute", "inner", axis=(1, 0, 0)), Joint("b", "revolute", "outer", parent="inner", q0=1.0)]
    model = Model("line", bodies, joints)
    Q = np.array([[0, 1.0], [0, 0.5], [0, 0.0], [0, 0.0]])
    with pytest.raises(SimulationError, match="row 2: body 'inner': the inertia its joint feels is not positive"):
        pliant.forward_dynamics(model, Q, 0 * Q)
    with pytest.raises(SimulationError, match=r"^body 'inner'"):
        pliant.forward_dynamics(model, Q[2], 0 * Q[2])

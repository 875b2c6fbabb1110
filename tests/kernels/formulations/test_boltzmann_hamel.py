"""Boltzmann-Hamel equations against the paper's own sums, its worked example and the other formulation.

Tolerances are relative to the largest term that is summed: 1e-12 where two sums of the same terms are compared, larger
by the condition of M where a system is solved."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import spherical_chain_reference as reference
from direct_assembly import Tree, vee
from flexible_models import random_tree
from pliant.engine.prepared import Prepared
from pliant.kernels import _jit, dynamics
from pliant.kernels.formulations import spherical_batch
from pliant.model.bodies import Body, Frame
from pliant.model.joints import Joint
from pliant.model.model import Load, Model
from pliant.model.rotations import matrix_quaternion
from pliant.model.signals import Constant, Sine
from pliant.queries.dynamics import forward_dynamics
from pliant.system.status import Status
from random_models import BASES, largest, random_model, random_state

BOTH = ("articulated", "boltzmann_hamel")
every_place = pytest.mark.parametrize("is_space", [False, True], ids=["ground", "space"])
every_base = pytest.mark.parametrize("base", BASES)


def ball_chain(chain: reference.Chain) -> Model:
    """The model of a reference chain: J_1 at the world origin, or body 1 floating."""
    n = chain.n
    bodies = [Body(name=f"b{k}", mass=chain.m[k], com=chain.R[k], inertia=chain.I[k]) for k in range(1, n + 1)]
    joint_frames = [Frame(body="world")] + [Frame(body=f"b{k}", position=chain.R[k] + chain.r[k]) for k in range(1, n)]
    joints = [Joint(name=f"j{k}", kind="spherical", child=f"b{k}", parent=joint_frames[k - 1]) for k in range(1, n + 1)]
    held = {"joints": joints[1:], "base": "floating"} if chain.is_space else {"joints": joints}
    return Model(name="chain", bodies=bodies, gravity=chain.gravity, **held)


def reference_state(chain: reference.Chain, rng: np.random.Generator):
    """alpha, lambda, and the same configuration as q."""
    alpha = rng.uniform(0.3, 1.2, size=(chain.n, 3))
    lam = rng.normal(size=3 * chain.n + 3 * chain.is_space)
    turns = [reference.euler_C(chain.sequence[k + 1], alpha[k]).T for k in range(chain.n)]
    q = np.concatenate([matrix_quaternion(R) for R in turns])
    return alpha, lam, np.concatenate([rng.normal(size=3), q]) if chain.is_space else q


def long_chain(n: int, is_space: bool) -> tuple[Model, np.random.Generator]:
    rng = np.random.default_rng([n, is_space])
    base = "floating" if is_space else "none"
    return random_model(rng, n, base=base, kinds=("spherical",), is_chain=True, has_armature=False), rng


def take_inertia(handle: Prepared, i: int) -> None:
    """Make body i a point mass at its joint, past the checks of the model."""
    body = handle.system.bodies[i]
    body.J = body.I = body.c = body.com = 0.0


# --- the reference itself -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("sequence", reference.SEQUENCES)
def test_identities_41_for_all_euler_sequences(sequence):
    rng = np.random.default_rng(41)
    alpha, rate, x = rng.uniform(0.3, 1.2, 3), rng.normal(size=3), rng.normal(size=3)
    C, D = reference.euler_C(sequence, alpha), reference.euler_D(sequence, alpha)
    Ddot = np.imag(reference.euler_D(sequence, alpha + 1j * reference.STEP * rate)) / reference.STEP
    slope = reference.transposed_jacobian(lambda a: reference.euler_D(sequence, a) @ rate, alpha)
    np.testing.assert_allclose(np.linalg.solve(D.T, Ddot.T - slope), reference.skew(D @ rate), atol=1e-13)
    slope = reference.transposed_jacobian(lambda a: reference.euler_C(sequence, a) @ x, alpha)
    np.testing.assert_allclose(-np.linalg.solve(D.T, slope), reference.skew(C @ x), atol=1e-13)
    slope = reference.transposed_jacobian(lambda a: reference.euler_C(sequence, a).T @ x, alpha)
    np.testing.assert_allclose(np.linalg.solve(D.T, slope) @ C.T, reference.skew(x), atol=1e-13)


@every_place
def test_literal_sums_are_derivatives_of_the_kinetic_energy(is_space):
    rng = np.random.default_rng(52)
    chain = reference.random_chain(4, is_space, rng)
    alpha, lam, _ = reference_state(chain, rng)
    motion = reference.Motion(chain, alpha, lam)
    M = reference.mass_matrix(motion)
    energy = reference.kinetic_energy(motion)
    # (52): dT/dlambda = M lambda; T = 1/2 lambda M lambda
    np.testing.assert_allclose(reference.dT_dlambda(motion), M @ lam, atol=1e-13 * largest(M @ lam))
    assert abs(0.5 * lam @ M @ lam - energy) < 1e-13 * energy
    # (60): dT/dalpha against the complex-step derivative of T
    D = [None, *(reference.euler_D(chain.sequence[k], alpha[k - 1]) for k in range(1, chain.n + 1))]
    found = reference.dT_dalpha(motion, D)
    for k in range(alpha.size):
        step = np.zeros(alpha.size)
        step[k] = reference.STEP
        moved = reference.Motion(chain, alpha + 1j * step.reshape(alpha.shape), lam)
        assert abs(np.imag(reference.kinetic_energy(moved)) / reference.STEP - found[k]) < 1e-12 * energy


# --- the kernels against it ---------------------------------------------------------------------------------------


@every_place
@pytest.mark.parametrize("n", range(1, 7))
@pytest.mark.parametrize("seed", range(3))
def test_kernels_equal_the_papers_double_sums(n, is_space, seed):
    rng = np.random.default_rng([n, is_space, seed])
    chain = reference.random_chain(n, is_space, rng)
    alpha, lam, q = reference_state(chain, rng)
    M, h, term = reference.equations(chain, alpha, lam)
    handle = Prepared(ball_chain(chain), "boltzmann_hamel")
    found_M, found_h = handle.equations(q, lam)
    assert largest(found_M - M) < 1e-12 * largest(M)
    assert largest(found_h - h) < 1e-12 * term
    tau = rng.normal(size=len(lam)) * 5.0
    vdot = np.linalg.solve(M, tau - h)
    found = handle.forward_dynamics(q, lam, tau)
    assert largest(M @ found + h - tau) < 1e-12 * max(term, largest(np.abs(M) @ np.abs(vdot)))
    assert largest(found - vdot) < 1e-14 * np.linalg.cond(M) * largest(vdot) + 1e-13


def test_equation_91_of_the_two_link_arm_symbolically():
    sp = pytest.importorskip("sympy", reason="sympy is not installed")
    t, m, l, f1, f2, Ixx = sp.symbols("t m l f1 f2 I_xx", positive=True)
    p1, p2 = sp.Function("p1")(t), sp.Function("p2")(t)
    I = sp.diag(Ixx, m * l**2 / 3, m * l**2 / 3)
    half, z = sp.Matrix([l, 0, 0]), sp.Matrix([0, 0, 1])
    C = sp.Matrix([[sp.cos(p2), sp.sin(p2), 0], [-sp.sin(p2), sp.cos(p2), 0], [0, 0, 1]])  # C_1^2
    w1, w2 = p1.diff(t) * z, (p1 + p2).diff(t) * z
    V_J2 = w1.cross(2 * half)
    P2 = m * (C * V_J2 + w2.cross(half))
    H2 = I * w2 + half.cross(P2)
    P1 = m * w1.cross(half)
    H1 = I * w1 + half.cross(P1) + C.T * H2 + (2 * half).cross(C.T * P2)
    # row i: H' + Omega x H + V_J x P
    row1 = (H1.diff(t) + w1.cross(H1))[2]
    row2 = (H2.diff(t) + w2.cross(H2) + (C * V_J2).cross(P2))[2]
    force = sp.Matrix([0, f2, 0])
    phi2 = (2 * half).cross(force)[2]
    phi1 = 2 * l * f1 + phi2 + (2 * half).cross(C.T * force)[2]
    d1, d2, c, s = p1.diff(t), p2.diff(t), sp.cos(p2), sp.sin(p2)
    scale = sp.Rational(2, 3) * m * l**2
    right1 = scale * (2 * (5 + 3 * c) * d1.diff(t) + (2 + 3 * c) * d2.diff(t) - 3 * d2 * (2 * d1 + d2) * s)
    right2 = scale * (2 * d2.diff(t) + (2 + 3 * c) * d1.diff(t) + 3 * d1**2 * s)
    assert sp.simplify(row1 - right1) == 0
    assert sp.simplify(row2 - right2) == 0
    assert sp.simplify(phi1 - 2 * l * (f1 + f2 * (1 + c))) == 0
    assert sp.simplify(phi2 - 2 * l * f2) == 0


@pytest.mark.parametrize("formulation", BOTH)
def test_equation_91_of_the_two_link_arm_numerically(formulation):
    m, l, f1, f2 = 3.0, 1.0, 0.7, -0.4
    bodies = [Body(name=f"link{k}", mass=m, com=(l, 0, 0), inertia=(0.2, 1.0, 1.0)) for k in (1, 2)]
    joints = [
        Joint(name="psi1", kind="revolute", child="link1"),
        Joint(name="psi2", kind="revolute", child="link2", parent=Frame(body="link1", position=(2 * l, 0, 0))),
    ]
    tips = [Frame(body=f"link{k}", position=(2 * l, 0, 0)) for k in (1, 2)]
    loads = [Load(frame=tip, y=Constant(f), axes="body") for tip, f in zip(tips, (f1, f2), strict=True)]
    arm = Model(name="two-link arm", bodies=bodies, joints=joints, loads=loads, gravity=(0, 0, 0))
    for q, v in np.random.default_rng(91).normal(size=(5, 2, 2)):
        a1, a2 = forward_dynamics(arm, q, v, formulation=formulation)
        c, s = np.cos(q[1]), np.sin(q[1])
        right1 = 2 / 3 * m * l**2 * (2 * (5 + 3 * c) * a1 + (2 + 3 * c) * a2 - 3 * v[1] * (2 * v[0] + v[1]) * s)
        right2 = 2 / 3 * m * l**2 * (2 * a2 + (2 + 3 * c) * a1 + 3 * v[0] ** 2 * s)
        assert abs(right1 - 2 * l * (f1 + f2 * (1 + c))) < 1e-12
        assert abs(right2 - 2 * l * f2) < 1e-12


# --- identities of M, h and the solution --------------------------------------------------------------------------


@every_base
@pytest.mark.parametrize("n", [1, 3, 8])
def test_mass_matrix_is_symmetric_positive_and_gives_the_energy(base, n):
    rng = np.random.default_rng([n, len(base)])
    model = random_model(rng, n, base=base)
    q, v, _, _ = random_state(model, rng)
    handle = Prepared(model, "boltzmann_hamel")
    M, _ = handle.equations(q, v)
    assert np.array_equal(M, M.T)
    assert np.all(np.linalg.eigvalsh(M) > 0)
    kinetic = handle.energy(q, v).kinetic
    assert abs(0.5 * v @ M @ v - kinetic) <= 1e-13 * kinetic


@every_base
@pytest.mark.parametrize("n", [1, 4, 8])
def test_h_and_M_equal_inverse_dynamics(base, n):
    rng = np.random.default_rng([n, len(base), 2])
    model = random_model(rng, n, base=base)
    q, v, vdot, _ = random_state(model, rng)
    handle = Prepared(model, "boltzmann_hamel")
    M, h = handle.equations(q, v)
    term = max(largest(h), largest(np.abs(M) @ np.abs(vdot)), largest(M) * largest(v) ** 2)
    assert largest(M @ vdot + h - handle.inverse_dynamics(q, v, vdot)) <= 1e-13 * n * term


@every_base
@pytest.mark.parametrize("n", [1, 4, 8])
def test_acceleration_and_reactions_equal_the_articulated_ones(base, n):
    rng = np.random.default_rng([n, len(base), 3])
    model = random_model(rng, n, base=base, n_loads=3)
    q, v, _, tau = random_state(model, rng)
    handles = [Prepared(model, name) for name in BOTH]
    a, b = (handle.forward_dynamics(q, v, tau, 0.7) for handle in handles)
    assert largest(a - b) <= 1e-11 * largest(a)
    a, b = (handle.reactions(q, v, tau, 0.7) for handle in handles)
    assert largest(a - b) <= 1e-11 * largest(a)


@every_place
@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_spherical_recursion_equals_the_full_matrix(n, is_space):
    model, rng = long_chain(n, is_space)
    q, v, _, tau = random_state(model, rng)
    quick, full = Prepared(model, "boltzmann_hamel"), Prepared(model, "boltzmann_hamel")
    assert quick.system.world[0].is_spherical_chain
    full.system.world[0].is_spherical_chain = 0
    M, h = quick.equations(q, v)
    a, b = quick.forward_dynamics(q, v, tau), full.forward_dynamics(q, v, tau)
    term = max(largest(h), largest(np.abs(M) @ np.abs(a)))
    assert largest(M @ a + h - tau) < 1e-13 * n * term
    assert largest(M @ b + h - tau) < 1e-13 * n * term
    a, b = quick.reactions(q, v, tau), full.reactions(q, v, tau)
    assert largest(a - b) < 1e-10 * largest(a)


def driven_tree() -> Model:
    """Prescribed motions at the root, in the middle of a joint with two velocities, and at a tip; springs and loads."""
    rng = np.random.default_rng(7)
    plain = random_model(rng, 6, base="none", kinds=("cylindrical",), is_chain=True, n_loads=2)
    swing = Sine(amplitude=0.4, omega=2.0, phase=0.3)
    motions = [(swing, swing), None, ("free", swing), None, (swing, "free"), ("free", swing)]
    joints = [
        replace(j, motion=motion, stiffness=3.0, armature=0.2, gear=1.0)
        for j, motion in zip(plain.joints, motions, strict=True)
    ]
    return Model(name="driven", bodies=plain.bodies, joints=joints, frames=plain.frames, loads=plain.loads)


def test_drives_equal_the_articulated_ones_and_inverse_dynamics():
    model = driven_tree()
    q, v, _, tau = random_state(model, np.random.default_rng(8))
    drives = []
    for name in BOTH:
        handle = Prepared(model, name)
        vdot = handle.forward_dynamics(q, v, tau, 0.7)
        driven = handle.system.dofs.motion >= 0
        drive = handle.work.dofs.constraint_force.copy()
        assert np.array_equal(vdot[driven], handle.work.dofs.motion_vdot[driven])
        needed = handle.inverse_dynamics(q, v, vdot, 0.7)
        term = largest(needed)
        np.testing.assert_allclose(needed[~driven], tau[~driven], atol=1e-12 * term)
        np.testing.assert_allclose(needed[driven], tau[driven] + drive[driven], atol=1e-12 * term)
        drives.append(drive[driven])
    np.testing.assert_allclose(*drives, atol=1e-12 * largest(drives[0]))


@pytest.mark.parametrize("formulation", BOTH)
@every_place
def test_hundred_balls_keep_their_digits(formulation, is_space):
    model, rng = long_chain(100, is_space)
    q, v, _, tau = random_state(model, rng)
    handle = Prepared(model, formulation)
    vdot = handle.forward_dynamics(q, v, tau)
    _, h = handle.equations(q, v)
    assert largest(handle.inverse_dynamics(q, v, vdot) - tau) < 1e-10 * largest(h)


@pytest.mark.parametrize("is_chain", [True, False])
def test_missing_inertia_is_reported_with_its_body(is_chain):
    model, rng = long_chain(3, False)
    handle = Prepared(model, "boltzmann_hamel")
    handle.system.world[0].is_spherical_chain = is_chain
    take_inertia(handle, 2)
    q, v, _, tau = random_state(model, rng)
    reaction, vdot = handle.work.no_reaction, np.empty(len(v))
    status = _jit.entry(dynamics.forward)(*handle.refs, 0.0, q, v, tau, vdot, reaction)
    assert status == Status.SINGULAR
    assert handle.work.run[0].body == 2


# --- flexible bodies ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_momenta_are_those_of_the_mass_points(seed):
    """P and H of every body and all it carries, from the velocities of points along the beams."""
    model = random_tree(seed)
    q, v, _, tau = random_state(model, np.random.default_rng(seed))
    handle = Prepared(model, "boltzmann_hamel")
    handle.forward_dynamics(q, v, tau)
    tree = Tree(model)
    placed = tree.placed(q, v)
    carried = [{i} for i in range(len(model.links))]
    for i in range(len(model.links) - 1, 0, -1):
        if model.links[i].parent >= 0:
            carried[model.links[i].parent] |= carried[i]
    for i, scratch in enumerate(handle.work.bodies.boltzmann_hamel):
        R, origin, _ = placed[i]
        P, H = np.zeros(3), np.zeros(3)
        for k in carried[i]:
            R_k, _, points = placed[k]
            momenta = tree.masses(k)[:, None] * points.b
            P += momenta.sum(axis=0)
            H += np.cross(points.a - origin.a, momenta).sum(axis=0)
            w = vee(R_k.a.T @ R_k.b)
            for inertia, A in tree.turning(k):
                H += R_k.a @ inertia @ (w + A @ v[model.links[k].v_modes])
        assert largest(R.a @ scratch.P - P) < 1e-12 * max(largest(P), largest(H))
        assert largest(R.a @ scratch.H - H) < 1e-12 * max(largest(P), largest(H))


# --- many states at once ------------------------------------------------------------------------------------------


@every_place
@pytest.mark.parametrize("n_states", [1, 5, 32])
def test_batch_equals_single_calls(is_space, n_states):
    model, rng = long_chain(20, is_space)
    states = [random_state(model, rng) for _ in range(n_states)]
    q, v, tau = (np.array([state[k] for state in states]) for k in (0, 1, 3))
    handle = Prepared(model, "boltzmann_hamel")
    vdot = np.empty_like(v)
    scratch = spherical_batch.new_scratch(len(model.links))
    assert _jit.entry(spherical_batch.spherical_batch)(handle.refs[0], q, v, tau, vdot, scratch) == Status.OK
    for k in range(n_states):
        residual = handle.inverse_dynamics(q[k], v[k], vdot[k]) - tau[k]
        M, h = handle.equations(q[k], v[k])
        assert largest(residual) < 1e-12 * max(largest(h), largest(np.abs(M) @ np.abs(vdot[k])))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # plain numpy warns of the division by a zero pivot
def test_batch_reports_a_singular_block():
    model, rng = long_chain(3, False)
    handle = Prepared(model, "boltzmann_hamel")
    take_inertia(handle, 2)
    q, v, _, tau = (x[None, :] for x in random_state(model, rng))
    scratch = spherical_batch.new_scratch(3)
    status = _jit.entry(spherical_batch.spherical_batch)(handle.refs[0], q, v, tau, np.empty_like(v), scratch)
    assert status == Status.SINGULAR

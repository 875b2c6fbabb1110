"""DeNOC: the factors it finds, the matrices of its paper written out, other formulations, Pinocchio, and its cost.

Two sums of the same terms differ by rounding, 1e-12 of the largest term at most; solutions differ by that times
condition(M), so those of long chains are judged by what they leave in inverse dynamics."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from direct_assembly import Tree
from flexible_models import flexible_chain, random_tree
from paths import SOURCES, SUPPORT
from pliant.engine.prepared import Prepared
from pliant.kernels import _jit, dynamics
from pliant.model.bodies import Body, Frame
from pliant.model.joints import JOINT_KINDS, Joint
from pliant.model.model import Model
from pliant.model.signals import Sine
from pliant.system.status import Status
from pliant_benchmarks import models
from random_models import (
    Case,
    Twin,
    comb,
    frames_of,
    largest,
    make_case,
    planar_model,
    random_body,
    random_cases,
    random_model,
    random_state,
)

TIGHT = 1e-12
OTHERS = ("articulated", "boltzmann_hamel", "gibbs_appell", "lagrange")


def planar_cases() -> list[Case]:
    """Trees in the plane, some motions prescribed."""
    found = []
    for seed in range(8):
        rng = np.random.default_rng([seed, 23])
        model = planar_model(rng, 2 + seed)
        found.append(Case(f"flat{2 + seed}", model, *random_state(model, rng)))
    return found


def driven_cases() -> list[Case]:
    """Trees of joints with and without several velocities, some of them (also one of two, two of three) prescribed."""
    found = []
    for seed in range(8):
        rng = np.random.default_rng([seed, 29])
        kinds = tuple(name for name, row in JOINT_KINDS.items() if row.has_plain_rates)
        plain = random_model(rng, 8, kinds=kinds, n_loads=2)
        swing = Sine(amplitude=0.4, omega=2.0, phase=0.3)
        joints = []
        for joint in plain.joints:
            n = len(joint.row.velocities)
            motion = tuple(swing if rng.random() < 0.4 else "free" for _ in range(n))
            joints.append(replace(joint, motion=motion if n else None))
        model = Model(
            name="driven",
            bodies=plain.bodies,
            joints=joints,
            frames=plain.frames,
            loads=plain.loads,
            gravity=(1, 2, -9),
        )
        found.append(Case(f"driven{seed}", model, *random_state(model, rng)))
    return found


CASES = {case.name: case for case in (*random_cases(), *planar_cases())}
DRIVEN = {case.name: case for case in driven_cases()}
every_case = pytest.mark.parametrize("name", CASES)


def natural_complement(handle: Prepared, q: np.ndarray) -> np.ndarray:
    """T = N_l N_d, (n_bodies, 6, n_v): twists [omega; v of the mass centre] under unit velocities, world axes; of
    flexible bodies those of their origins.

    From placements and velocities of the bodies, not from denoc's own recursion."""
    n = len(handle.system.dofs)
    T = np.zeros((len(handle.system.bodies), 6, n))
    for j, unit in enumerate(np.eye(n)):
        frames = frames_of(handle, q, unit)
        for i, body in enumerate(handle.system.bodies):
            T[i, :3, j] = frames.spin[i]
            centre = frames.R[i] @ body.com if body.flex < 0 else np.zeros(3)
            T[i, 3:, j] = frames.velocity[i] + np.cross(frames.spin[i], centre)
    return T


def inertia_matrix(handle: Prepared, q: np.ndarray, T: np.ndarray) -> np.ndarray:
    """T^T M T, M the inertia tensors and masses, and armatures."""
    R = frames_of(handle, q, np.zeros(T.shape[2])).R
    total = np.diag(handle.system.dofs.armature)
    for i, link in enumerate(handle.model.links):
        M = np.zeros((6, 6))
        M[:3, :3] = R[i] @ np.array(link.body.inertia_about_centre) @ R[i].T
        M[3:, 3:] = link.body.total_mass * np.eye(3)
        total = total + T[i].T @ M @ T[i]
    return total


# --- the factors ------------------------------------------------------------------------------------------------


@every_case
def test_the_factors_multiply_to_the_inertia_matrix(name: str) -> None:
    """I = U D U^T on the free velocities: u_lk = (B_il p_l).psi_k / D_k, B_il p_l the twist of body i under v_l."""
    case = CASES[name]
    handle = Prepared(case.model, "denoc")
    handle.forward_dynamics(case.q, case.v, case.tau, case.t)
    scratch, T = handle.work.bodies.denoc, natural_complement(handle, case.q)
    free = np.flatnonzero(handle.system.dofs.motion < 0)
    U, D = np.eye(len(case.v)), np.ones(len(case.v))
    for k in free:
        i = int(handle.system.dofs[k].body)
        m = k - int(handle.system.bodies[i].v)
        psi = scratch[i].psi[6 * m : 6 * m + 6]
        D[k] = 1.0 / scratch[i].inverse_D[m]
        U[:k, k] = T[i, :, :k].T @ psi / D[k]
    U, D = U[np.ix_(free, free)], D[free]
    wanted = inertia_matrix(handle, case.q, T)[np.ix_(free, free)]
    assert np.all(D > 0.0)
    assert largest(U @ np.diag(D) @ U.T - wanted) <= TIGHT * largest(wanted)


@pytest.mark.parametrize("seed", range(12))
def test_the_factors_multiply_to_the_mass_matrix_of_flexible_trees(seed: int) -> None:
    """As above, modes being pivots of their own; M by direct assembly from mass points."""
    model = random_tree(seed)
    q, v, _, tau = random_state(model, np.random.default_rng(seed))
    handle = Prepared(model, "denoc")
    handle.forward_dynamics(q, v, tau)
    system, work, T = handle.system, handle.work, natural_complement(handle, q)
    U, D = np.eye(len(v)), np.ones(len(v))
    for k in range(len(v)):
        i = int(system.dofs[k].body)
        body, scratch = system.bodies[i], work.bodies.denoc[i]
        m = k - int(body.v)
        if m < body.n_v:
            psi, D[k] = scratch.psi[6 * m : 6 * m + 6], 1.0 / scratch.inverse_D[m]
            U[:k, k] = T[i, :, :k].T @ psi / D[k]
        else:
            flexible, m, first = system.flexes[body.flex], m - int(body.n_v), int(body.v + body.n_v)
            force, moment = work.flex[flexible.rd + 6 * m :][:6].reshape(2, 3)
            row = work.flex[flexible.dd + m * flexible.m :][: m + 1]
            D[k] = 1.0 / row[m]
            # the modes of a body do not move its own frame
            U[:first, k] = T[i, :, :first].T @ np.concatenate([moment, force]) / D[k]
            U[first:k, k] = row[:m] / D[k]
    assert np.all(D > 0.0)
    wanted, _ = Tree(model).equations(q, v)
    assert largest(U @ np.diag(D) @ U.T - wanted) <= TIGHT * largest(wanted)


# --- M and h ------------------------------------------------------------------------------------------------------


@every_case
def test_matrices_are_those_of_the_orthogonal_complement_and_of_the_others(name: str) -> None:
    case = CASES[name]
    handle = Prepared(case.model, "denoc")
    M, h = handle.equations(case.q, case.v)
    assert np.array_equal(M, M.T)
    assert largest(M - inertia_matrix(handle, case.q, natural_complement(handle, case.q))) <= TIGHT * largest(M)
    terms = max(largest(h), largest(np.abs(M) @ np.abs(case.v)) * (1.0 + largest(case.v)))
    for other in ("boltzmann_hamel", "gibbs_appell", "lagrange"):
        M_other, h_other = Prepared(case.model, other).equations(case.q, case.v)
        assert largest(M - M_other) <= TIGHT * largest(M)
        assert largest(h - h_other) <= TIGHT * terms


def literal_planar_matrices(links: list[dict[str, float]], q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, ...]:
    """I and C v of a planar chain of hinges, links along x, matrix by matrix as in the paper: (6), (17), (23)."""
    n, E = len(links), np.array([[0.0, -1.0], [1.0, 0.0]])
    angle, rate = np.cumsum(q), np.cumsum(v)
    to_centre = [link["centre"] * np.array([np.cos(a), np.sin(a)]) for link, a in zip(links, angle, strict=True)]
    to_next = [(link["length"] - link["centre"]) * np.array([np.cos(a), np.sin(a)]) for link, a in zip(links, angle)]
    N_l, N_l_rate = np.eye(3 * n), np.zeros((3 * n, 3 * n))
    N_d, N_d_rate = np.zeros((3 * n, n)), np.zeros((3 * n, n))
    for i in range(n):
        # p_i = [1; E d_i]
        N_d[3 * i : 3 * i + 3, i] = [1.0, *(E @ to_centre[i])]
        N_d_rate[3 * i + 1 : 3 * i + 3, i] = rate[i] * E @ E @ to_centre[i]
        for j in range(i):
            # B_ij = [[1, 0], [E (c_i - c_j), 1]]
            steps = range(j, i)
            way = sum(to_next[k] + to_centre[k + 1] for k in steps)
            way_rate = sum(rate[k] * E @ to_next[k] + rate[k + 1] * E @ to_centre[k + 1] for k in steps)
            rows = slice(3 * i, 3 * i + 3), slice(3 * j, 3 * j + 3)
            N_l[rows] = np.block([[np.ones((1, 1)), np.zeros((1, 2))], [(E @ way)[:, None], np.eye(2)]])
            N_l_rate[3 * i + 1 : 3 * i + 3, 3 * j] = E @ way_rate
    M = np.diag([x for link in links for x in (link["inertia"], link["mass"], link["mass"])])
    T, T_rate = N_l @ N_d, N_l_rate @ N_d + N_l @ N_d_rate
    # the planar M does not change
    return T.T @ M @ T, T.T @ M @ T_rate @ v


@pytest.mark.parametrize("n", [1, 2, 5])
def test_matrices_are_the_papers_for_planar_legs(n: int) -> None:
    """The leg of the 3RRR robot, and longer ones."""
    leg = [(0.4, 3.0, 0.04), (0.6, 4.0, 0.12), (0.5, 2.0, 0.1), (0.3, 1.0, 0.03), (0.7, 5.0, 0.3)][:n]
    links = [{"length": l, "centre": l / 2, "mass": m, "inertia": I} for l, m, I in leg]
    bodies = [
        Body(
            name=f"link{i}", mass=x["mass"], com=(x["centre"], 0, 0), inertia=(x["inertia"], x["inertia"], x["inertia"])
        )
        for i, x in enumerate(links)
    ]
    joint_frames = ["world", *(Frame(body=f"link{i}", position=(links[i]["length"], 0, 0)) for i in range(n - 1))]
    joints = [Joint(name=f"theta{i}", kind="revolute", child=f"link{i}", parent=joint_frames[i]) for i in range(n)]
    handle = Prepared(Model(name="leg", bodies=bodies, joints=joints, gravity=(0, 0, 0)), "denoc")
    for q, v in np.random.default_rng(n).normal(size=(5, 2, n)):
        wanted, Cv = literal_planar_matrices(links, q, v)
        M, h = handle.equations(q, v)
        assert largest(M - wanted) < TIGHT * largest(M)
        assert largest(h - Cv) < TIGHT * largest(M) * largest(v) ** 2
        tau = np.ones(n)
        vdot = handle.forward_dynamics(q, v, tau)
        assert largest(wanted @ vdot + Cv - tau) < TIGHT * (largest(wanted) * largest(vdot) + largest(Cv))


# --- accelerations ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*CASES, *DRIVEN])
def test_accelerations_drives_and_reactions_equal_those_of_the_others(name: str) -> None:
    case = CASES.get(name) or DRIVEN[name]
    handle = Prepared(case.model, "denoc")
    vdot = handle.forward_dynamics(case.q, case.v, case.tau, case.t)
    drive = handle.work.dofs.constraint_force.copy()
    reactions = handle.reactions(case.q, case.v, case.tau, case.t)
    # rounding times condition(M), at most 4e4 (seen: 6e-13)
    for other in OTHERS:
        judge = Prepared(case.model, other)
        wanted = judge.forward_dynamics(case.q, case.v, case.tau, case.t)
        assert largest(vdot - wanted) <= 1e-10 * largest(wanted)
        assert largest(drive - judge.work.dofs.constraint_force) <= 1e-10 * (largest(drive) + largest(reactions))
        wanted = judge.reactions(case.q, case.v, case.tau, case.t)
        assert largest(reactions - wanted) < 1e-10 * largest(wanted)


def test_some_of_the_driven_trees_have_joints_driven_in_part() -> None:
    kinds = {
        link.joint.kind
        for case in DRIVEN.values()
        for link in case.model.links
        if 0 < sum(motion == "free" for motion in link.joint.each("motion")) < len(link.joint.row.velocities)
    }
    assert kinds == {"cylindrical", "universal", "planar"}


def test_a_seven_axis_arm_is_that_of_pinocchio() -> None:
    serial = models.arm7()
    model = models.pliant_model(serial)
    twin, handle = Twin(model), Prepared(model, "denoc")
    Q, V = models.random_states(serial, 5)
    for q, v in zip(Q, V, strict=True):
        tau = np.linspace(-3.0, 4.0, 7)
        vdot, wanted = handle.forward_dynamics(q, v, tau), twin.forward(q, v, tau, 0.0)
        # condition(M) is below 1e3
        assert largest(vdot - wanted) < TIGHT * largest(wanted)
        M, h = handle.equations(q, v)
        assert largest(M - twin.mass_matrix(q)) < TIGHT * largest(M)
        assert largest(h - twin.inverse(q, v, np.zeros(7), 0.0)[0]) < TIGHT * largest(h)
        needed, wrenches = twin.inverse(q, v, vdot, 0.0)
        assert largest(needed - tau) < TIGHT * twin.terms(q, v, vdot, 0.0)
        assert largest(handle.reactions(q, v, tau) - wrenches) < TIGHT * largest(wrenches)


LONG = {
    "hinges in the plane": lambda: models.pliant_model(models.chain(1000)),
    "hinges in space": lambda: hinges(1000),
    "balls": lambda: models.pliant_model(models.ball_chain(300)),
    "balls in space": lambda: make_case("", 3, 300, base="floating", kinds=("spherical",), is_chain=True).model,
}


def hinges(n: int) -> Model:
    """Rods one after the other, axes in turn along y and z."""
    rng = np.random.default_rng(n)
    bodies = [random_body(rng, f"link{i}") for i in range(n)]
    joint_frames = ["world", *(Frame(body=f"link{i}", position=(0.5, 0, 0)) for i in range(n - 1))]
    axes = [(0, 1, 0), (0, 0, 1)]
    joints = [Joint(f"joint{i}", "revolute", f"link{i}", parent=joint_frames[i], axis=axes[i % 2]) for i in range(n)]
    return Model(name="hinges", bodies=bodies, joints=joints)


@pytest.mark.parametrize("name", LONG)
def test_long_chains_leave_nothing_in_inverse_dynamics(name: str) -> None:
    """Rounding alone, relative to the largest term (seen: 4e-16)."""
    model = LONG[name]()
    q, v, _, tau = random_state(model, np.random.default_rng(5))
    handle = Prepared(model, "denoc")
    vdot = handle.forward_dynamics(q, v, tau)
    M, h = handle.equations(q, v)
    terms = max(largest(np.abs(M) @ np.abs(vdot)), largest(h))
    assert largest(handle.inverse_dynamics(q, v, vdot) - tau) < 1e-14 * terms


# --- cost ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [CASES["tree8-floating"].model, flexible_chain(3)], ids=["rigid", "flexible"])
def test_no_inertia_matrix_is_formed(model: Model) -> None:
    handle = Prepared(model, "denoc")
    handle.work.matrix[:] = np.nan
    q, v, _, tau = random_state(model, np.random.default_rng(2))
    handle.forward_dynamics(q, v, tau)
    handle.reactions(q, v, tau)
    assert np.all(np.isnan(handle.work.matrix))


COUNT = """
import sys
import numpy as np
import pliant
from flexible_models import flexible_chain
from random_models import comb

def calls_of(model):
    handle, n = pliant.Prepared(model, "denoc"), 0
    q, v = np.ones(len(model.coordinates)), np.ones(len(model.velocities))

    def count(frame, event, argument):
        nonlocal n
        n += event == "call" and "kernels" in frame.f_code.co_filename

    {call}  # what is loaded by a first call does not count
    sys.setprofile(count)
    {call}
    sys.setprofile(None)
    return n

print(*(calls_of({model}) for n in (2, 4, 6, 8, 10)))
"""
ROBOTS = {"plane": "comb(n, (0, 0, 1))", "space": "comb(n, (0, 1, 0))", "flexible": "flexible_chain(n)"}


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("call", ["handle.forward_dynamics(q, v)", "handle.reactions(q, v)"])
def test_operations_grow_as_the_number_of_bodies(robot: str, call: str) -> None:
    """Calls of kernels, counted with the kernels uncompiled: every further body needs the same number."""
    script = COUNT.format(model=ROBOTS[robot], call=call)
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(map(str, (SOURCES, SUPPORT)))},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    growth = np.diff([int(word) for word in done.stdout.split()])
    assert growth[0] > 0
    assert np.all(growth == growth[0])


# --- what it refuses ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [(0, 0, 1), (0, 1, 0)], ids=["plane", "space"])
def test_missing_inertia_is_reported_with_its_body(axis: tuple[float, float, float]) -> None:
    """A tip that is a point mass on its own hinge, past the checks of the model."""
    handle = Prepared(comb(2, axis), "denoc")
    last = [link.body.name for link in handle.model.links].index("tip1")
    tip = handle.system.bodies[last]
    tip.J = tip.I = tip.c = tip.com = 0.0
    q, vdot = np.ones(6), np.empty(6)
    status = _jit.entry(dynamics.forward)(*handle.refs, 0.0, q, q, q, vdot, handle.work.no_reaction)
    assert status == Status.SINGULAR
    assert handle.work.run[0].body == last

"""Which sites stick and which slip: the convex problem against independent solvers, and friction that never drives."""

import dataclasses
import warnings

import numpy as np
import pytest
from scipy.optimize import lsq_linear, minimize

import friction_models
import pliant
from pliant import AccuracyWarning, Body, Box, Contact, Frame, Friction, Joint, Model, NormalLaw, Plane, Ramp, Rod, Sine
from pliant.engine.prepared import Prepared
from pliant.methods import formulations_of
from pliant.system.work import FORCE, FREE


def resting_chain(seed, law):
    """A chain at rest whose every hinge has friction, the same without, and the loads."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    lengths, masses, loads = rng.uniform(0.3, 1, n), rng.uniform(0.3, 3, n), rng.uniform(0.1, 20, n)
    joints = [
        Joint(
            f"hinge{i}",
            "revolute",
            f"rod{i}",
            parent=Frame(f"rod{i - 1}", (lengths[i - 1], 0, 0)) if i else "world",
            q0=float(rng.uniform(-2, 2)),
            friction=law(loads[i]),
        )
        for i in range(n)
    ]
    bodies = [Body(f"rod{i}", masses[i], shape=Rod(lengths[i])) for i in range(n)]
    model = Model("chain", bodies, joints, gravity=(0, -9.81, 0))
    bare = [dataclasses.replace(joint, friction=None) for joint in joints]
    return model, dataclasses.replace(model, joints=bare), loads


@pytest.mark.parametrize("seed", range(40))
def test_joints_at_rest_accelerate_as_the_box_constrained_problem_says(seed):
    """min 1/2 f W f + a0 f, |f| <= mu N, by SciPy's bounded least squares on a Cholesky factor of W = M^-1."""
    model, bare, loads = resting_chain(seed, lambda load: Friction("coulomb", mu_k=0.7, load=load))
    a0 = pliant.forward_dynamics(bare, bare.q0, bare.v0)
    W = np.linalg.inv(pliant.mass_matrix(bare, bare.q0))
    L = np.linalg.cholesky(W)
    found = lsq_linear(L.T, -np.linalg.solve(L, a0), bounds=(-0.7 * loads, 0.7 * loads), method="bvls", tol=1e-15)
    vdot = pliant.forward_dynamics(model, model.q0, model.v0)
    # sites within 1e-9 of a bound count as slipping, and all solutions carry the rounding of W
    np.testing.assert_allclose(vdot, a0 + W @ found.x, atol=1e-8 * np.max(np.abs(a0)))


def disc_problem(W, a0, bounds):
    """min 1/2 f W f + a0 f, |f_i| <= bounds_i in pairs, by accelerated projected gradients with restarts."""
    f, before, step, k = np.zeros_like(a0), np.zeros_like(a0), 1.0 / np.linalg.norm(W, 2), 0
    for _ in range(200_000):
        y = f + (k / (k + 3)) * (f - before)
        before, g = f, W @ y + a0
        pairs = (y - step * g).reshape(-1, 2)
        size = np.linalg.norm(pairs, axis=1)
        f = (pairs * np.minimum(1.0, bounds / np.maximum(size, 1e-300))[:, None]).ravel()
        k = 0 if g @ (f - before) > 0 else k + 1
        if np.max(np.abs(f - before)) < 1e-15 * np.max(bounds):
            break
    return f


@pytest.mark.parametrize("n_feet", [4, 40])
@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(3, 12))])
def test_feet_in_space_accelerate_as_the_problem_with_discs_says(seed, n_feet):
    """A box pressed on the ground by its feet with different forces, and pushed: two unknowns each, W of low rank."""
    rng = np.random.default_rng(seed)
    size, mass = rng.uniform(0.1, 0.4, 3), rng.uniform(0.5, 3)
    feet = np.array([(0.5 * x * size[0], 0.5 * y * size[1], -0.5 * size[2]) for x in (-1, 1) for y in (-1, 1)])
    more = rng.uniform(-0.5, 0.5, (n_feet - 4, 3)) * size
    feet = np.vstack([feet, np.column_stack([more[:, :2], np.full(len(more), -0.5 * size[2])])])
    tilt = rng.normal(size=2) * 1e-3
    gravity = (*rng.uniform(-6, 6, 2).tolist(), -9.81)
    attitude = np.array([*tilt, 0.0, 1.0]) / np.linalg.norm([*tilt, 0.0, 1.0])

    def build(friction):
        return Model(
            "box",
            [Body("box", float(mass), shape=Box(tuple(size.tolist())))],
            [Joint("free", "floating", "box", q0=(0, 0, 0.5 * size[2] - 5e-4, *attitude.tolist()))],
            gravity=gravity,
            contacts=[
                Contact(
                    "ground",
                    NormalLaw("hooke", stiffness=1e4),
                    points=[Frame("box", tuple(foot)) for foot in feet],
                    friction=friction,
                    rests=True,
                )
            ],
        )

    bare, model = build(None), build(Friction("coulomb", mu_k=0.4))
    q, v = bare.q0, bare.v0
    R = rotation(q[3:])
    arms = feet @ R.T
    gaps = q[2] + arms[:, 2]
    bounds = 0.4 * 1e4 * np.maximum(-gaps, 0.0)
    # body axes: v = (velocity, angular velocity); tangential velocity of a foot in world x and y
    J = np.vstack([np.hstack([R, -skew(arm) @ R])[:2] for arm in arms])
    minv = np.linalg.inv(pliant.mass_matrix(bare, q))
    touching = np.repeat(gaps < 0, 2)
    J = J[touching]
    vdot0 = pliant.forward_dynamics(bare, q, v)
    f = disc_problem(J @ minv @ J.T, J @ vdot0, bounds[gaps < 0])
    expected = vdot0 + minv @ J.T @ f
    vdot = pliant.forward_dynamics(model, q, v)
    # projected gradients end at about 1e-8
    np.testing.assert_allclose(vdot, expected, atol=1e-6 * np.max(np.abs(vdot0)))


def rotation(quaternion):
    x, y, z, w = quaternion
    s = skew(np.array([x, y, z]))
    return np.eye(3) + 2 * w * s + 2 * s @ s


def skew(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def silent(model, duration, **options):
    """A run that ends as asked, without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", AccuracyWarning)
        result = pliant.simulate(model, duration, **options)
    assert result.status == "done", result.reason
    # friction takes power (rounding of a product), sticking stays within its bound (location of its release)
    assert result.audit["friction_drive"] <= 1e-9
    assert result.audit["stick_load"] <= 1.0 + 1e-6
    return result


@pytest.mark.parametrize("kind", ["chain", "rod", "box"])
def test_friction_never_drives(kind):
    """In every accepted step of random models, looked at without the events that made it."""
    for seed in range(60 if kind == "chain" else 20):
        silent(getattr(friction_models, kind)(np.random.default_rng(seed)), 0.6)


def end(result):
    return np.concatenate([result.q[-1], result.v[-1]])


@pytest.mark.parametrize("kind", ["chain", "rod"])
def test_the_motion_does_not_hang_on_the_tolerance(kind):
    """End states at rtol 1e-6 and 1e-8 approach that at 1e-10, unless neighbouring motions separate."""
    for seed in range(100, 118):
        model = getattr(friction_models, kind)(np.random.default_rng(seed))
        ends = [end(silent(model, 0.5, rtol=rtol)) for rtol in (1e-6, 1e-8, 1e-10)]
        moved = end(pliant.simulate(model, 0.5, rtol=1e-10, q0=np.asarray(model.q0) + 1e-10))
        if np.max(np.abs(moved - ends[-1])) < 1e-6:
            assert np.max(np.abs(ends[0] - ends[-1])) < 3e-3, seed
            assert np.max(np.abs(ends[1] - ends[-1])) < 1e-4, seed


def resting_box():
    """On four feet that stick, pushed by less than they hold: one free body, a chain of ball joints to some."""
    size = (0.3, 0.2, 0.1)
    feet = [Frame("box", (0.5 * x * size[0], 0.5 * y * size[1], -0.5 * size[2])) for x in (-1, 1) for y in (-1, 1)]
    law = NormalLaw("kelvin-voigt", stiffness=1e4, damping=50.0)
    sunk = 0.05 - 2.0 * 9.81 / 4e4
    ground = Contact("ground", law, points=feet, friction=Friction("stiction", mu_k=0.3, mu_s=0.5))
    free = Joint("free", "floating", "box", q0=(0.0, 0.0, sunk, 0.0, 0.0, 0.0, 1.0))
    return Model("box", [Body("box", 2.0, shape=Box(size))], [free], gravity=(1.0, 0.5, -9.81), contacts=[ground])


@pytest.mark.parametrize("row", formulations_of(resting_box()), ids=lambda row: row.name)
def test_rest_by_friction_is_the_same_by_every_formulation(row):
    """Stick forces need M^-1 of what the formulation has just solved, by whichever way it solved it."""
    model = resting_box()
    vdot, other = (pliant.forward_dynamics(model, model.q0, model.v0, formulation=f) for f in (row.name, "articulated"))
    np.testing.assert_allclose(vdot, other, atol=1e-9)  # what stick forces are solved to
    feet = vdot[:3] + np.cross(vdot[3:], (0.0, 0.0, -0.05))
    assert np.max(np.abs(feet)) < 1e-9  # the feet stick: the box rolls over them
    for seed in range(8):
        box = friction_models.box(np.random.default_rng(seed))
        ends = [end(silent(box, 0.3, formulation=name)) for name in (row.name, "articulated")]
        moved = end(pliant.simulate(box, 0.3, q0=np.asarray(box.q0) + 1e-10))
        if np.max(np.abs(moved - ends[1])) < 1e-6:
            np.testing.assert_allclose(ends[0], ends[1], atol=1e-5)  # creep of feet at rest, and rtol


def test_a_stick_that_overloads_another_releases_both_at_once():
    """A double pendulum hung level whose two hinges cannot hold: both must start downwards."""
    friction = Friction("coulomb", mu_k=0.1, load=1.0)
    model = Model(
        "arm",
        [Body("a", 1.0, shape=Rod(1.0)), Body("b", 1.0, shape=Rod(1.0))],
        [
            Joint("shoulder", "revolute", "a", friction=friction),
            Joint("elbow", "revolute", "b", parent=Frame("a", (1.0, 0, 0)), friction=friction),
        ],
        gravity=(0, -9.81, 0),
    )
    result = silent(model, 0.2)
    assert result.v[-1, 0] < -0.5


def test_a_prescribed_block_drags_its_friction_with_it():
    """x = sin t on a plane that presses with N: the drive works against mu N along the whole way, 4 mu N a period."""
    model = Model(
        "drag",
        [Body("carriage", 1.0, inertia=(1.0, 1.0, 1.0)), Body("block", 2.0, inertia=(1.0, 1.0, 1.0))],
        [
            Joint("rail", "prismatic", "carriage", axis=(1, 0, 0), motion=Sine(1.0, 1.0)),
            Joint("press", "prismatic", "block", parent="carriage", axis=(0, 1, 0), q0=-2.0 * 9.81 / 1e4),
        ],
        gravity=(0, -9.81, 0),
        contacts=[
            Contact(
                "ground",
                NormalLaw("kelvin-voigt", stiffness=1e4, damping=100.0),
                Plane(normal=(0, 1, 0)),
                points=[Frame("block", (0, 0, 0))],
                friction=Friction("stiction", mu_k=0.25, mu_s=0.5),
                rests=True,
            )
        ],
    )
    result = silent(model, 2 * np.pi)
    # the block presses with its weight; what the plane gives in starting is damped
    assert result.energy["work_friction"][-1] == pytest.approx(-4 * 0.25 * 2.0 * 9.81, rel=1e-6)


def test_a_dip_between_two_samples_of_a_step_is_seen():
    """A motor that exceeds what holds the block by 5e-4 about its largest force only."""
    model = Model(
        "block",
        [Body("block", 1.0, inertia=(1.0, 1.0, 1.0))],
        [
            Joint(
                "slide",
                "prismatic",
                "block",
                axis=(1, 0, 0),
                motor=Sine(1.0005, 1.0),
                friction=Friction("coulomb", mu_k=1.0, load=1.0),
            )
        ],
        gravity=(0, 0, 0),
    )
    result = silent(model, 2.0)
    slips = [event.t for event in result.events if event.name == "slide slips"]
    # located to the tolerance of a flat crossing: 2e-16 / 0.03 would be rounding
    assert slips == [pytest.approx(np.arcsin(1 / 1.0005), abs=1e-9)]
    assert result.q[-1, 0] > 0.0


def test_points_of_one_body_share_what_none_could_hold_alone():
    """A level bar on two ends with different loads, pulled along: held as long as the sum of both bounds holds it."""
    for pull, holds in ((0.99, True), (1.01, False)):
        model = Model(
            "bar",
            [Body("bar", 1.0, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1))],
            [Joint("free", "planar", "bar", q0=(0, -9.81 / 2e4, 0.0))],
            gravity=(0, -9.81, 0),
            contacts=[
                Contact(
                    "ground",
                    NormalLaw("kelvin-voigt", stiffness=1e4, damping=100.0),
                    Plane(normal=(0, 1, 0)),
                    points=[Frame("bar", (-0.5, 0, 0)), Frame("bar", (0.5, 0, 0))],
                    friction=Friction("coulomb", 0.3),
                    rests=True,
                )
            ],
            loads=[pliant.Load(Frame("bar", (0.1, 0, 0)), x=Ramp(0.5, 1.0, pull * 0.3 * 9.81))],
        )
        result = silent(model, 1.5)
        assert (abs(result.v[-1, 0]) < 1e-5) == holds


def test_stick_forces_come_from_one_factorisation():
    """W = J M^-1 J^T of a chain at rest is the inverse of its mass matrix, whatever the formulation."""
    model, bare, _ = resting_chain(3, lambda load: Friction("coulomb", mu_k=100.0, load=load))
    W = np.linalg.inv(pliant.mass_matrix(bare, bare.q0))
    n = len(W)
    for formulation in ("articulated", "gibbs_appell", "boltzmann_hamel", "denoc", "lagrange"):
        handle = Prepared(model, formulation)
        handle.forward_dynamics(np.array(model.q0), np.array(model.v0))
        np.testing.assert_allclose(handle.work.stick[:n, :n], W, rtol=1e-10, atol=1e-10 * np.max(W))


def pressed_box(rng):
    """A level box at rest on four feet of unequal stiffness, pulled along and turned by gravity."""
    feet = [(0.2 * x, 0.3 * y, -0.1) for x in (-1, 1) for y in (-1, 1)]
    contacts = [
        Contact(
            f"foot{i}",
            NormalLaw("kelvin-voigt", stiffness=float(rng.uniform(2e3, 2e4)), damping=10.0),
            points=[Frame("box", foot)],
            friction=Friction("coulomb", mu_k=0.5),
            rests=True,
        )
        for i, foot in enumerate(feet)
    ]
    return Model(
        "box",
        [Body("box", 8.0, shape=Box((0.4, 0.6, 0.2)), com=(*rng.uniform(-0.2, 0.2, 2).tolist(), 0.0))],
        [Joint("free", "floating", "box", q0=(0.0, 0.0, 0.1 - 2e-3, 0.0, 0.0, 0.0, 1.0))],
        gravity=(*rng.uniform(-4, 4, 2).tolist(), -9.81),
        contacts=contacts,
    )


def test_forces_of_points_that_move_together_are_the_analytic_centre_of_all_that_hold():
    """-sum w log(b^2 - |f|^2) over all f with W f = -a0, by SciPy from a point of them that it finds itself; w is the
    most that W f + a0 can be, times b. Some even distributions are beyond a bound."""
    n_held, n_uneven = 0, 0
    for seed in range(60):
        model = pressed_box(np.random.default_rng(seed))
        handle = Prepared(model)
        handle.forward_dynamics(np.array(model.q0), np.array(model.v0))
        n = int(handle.work.run[0].n_sticking)
        W, rows = handle.work.stick[:n, :n], handle.work.stick_force[:, :n]
        if n < 8 or handle.work.run[0].n_broken > 0:
            continue
        f, a0 = rows[FORCE].copy(), rows[FREE].copy()
        b = np.repeat([0.5 * x.normal_force for x in handle.work.contacts], 2)
        w = (b * (np.abs(a0) + np.abs(W) @ b)).reshape(-1, 2).max(axis=1)
        w = w / w.max()
        np.testing.assert_allclose(W @ f, -a0, atol=1e-9 * np.max(np.abs(a0)))
        values, vectors = np.linalg.eigh(W * np.outer(b, b))
        N = vectors[:, values < 1e-10 * values[-1]]
        y0 = f / b

        def slacks(z, y0=y0, N=N):
            return 1.0 - np.sum((y0 + N @ z).reshape(-1, 2) ** 2, axis=1)

        even = -N.T @ y0
        n_held, n_uneven = n_held + 1, n_uneven + (min(slacks(even)) < 0.0)
        # the largest least slack s: convex and smooth in (z, s)
        inside = minimize(
            lambda x: -x[-1],
            [*even, min(slacks(even))],
            constraints={"type": "ineq", "fun": lambda x, slacks=slacks: slacks(x[:-1]) - x[-1]},
            method="SLSQP",
        )
        assert inside.fun < 0.0
        centre = minimize(
            lambda z, slacks=slacks, w=w: -np.sum(w * np.log(np.maximum(slacks(z), 1e-300))),
            inside.x[:-1],
            method="BFGS",
            options={"gtol": 1e-9},
        )
        np.testing.assert_allclose(f / b, y0 + N @ centre.x, atol=1e-3)
    assert n_held > 10
    assert n_uneven > 2


@pytest.mark.parametrize(("kind", "seed"), [("rod", 1971), ("box", 53), ("box", 32)])
def test_an_event_that_is_not_where_the_step_promised_is_found_between_its_ends(kind, seed):
    """Slow slip that turns within nanoseconds: Newton's method alone left the step, and events repeated at one time."""
    result = silent(getattr(friction_models, kind)(np.random.default_rng(seed)), 0.6)
    assert result.status == "done", result.reason

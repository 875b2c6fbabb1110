"""Rest states: closed forms of cantilevers, minima of potential energy found by scipy, hanging chains, free fall."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import root

import pliant
from paths import EXAMPLES
from pliant import (
    Body,
    Constant,
    Coulomb,
    Frame,
    Joint,
    Limit,
    Load,
    Model,
    ModelError,
    Rod,
    SimulationError,
    Sphere,
    Step,
)
from pliant.model.flexible import Beam, Bending, BoxTube, Material, Rectangle
from pliant.queries import equilibrium as equilibrium_module

STEEL = Material(2e11, 8000.0)
LENGTH, WIDTH, HEIGHT = 2.0, 0.02, 0.03
EI = STEEL.young * WIDTH * HEIGHT**3 / 12


def cantilever(bending, load=0.0, gravity=0.0, **options):
    beam = Beam("beam", LENGTH, STEEL, Rectangle(WIDTH, HEIGHT), bending_z=bending, coupling="linear", **options)
    tip = Frame("beam", (LENGTH, 0, 0), name="tip")
    return Model("cantilever", (beam,), frames=(tip,), loads=(Load("tip", z=Constant(load)),), gravity=(0, 0, -gravity))


def place(model, q, name):
    return pliant.prepare(model).placements(q[None, :], [name])[1][0, 0]


def still(model):
    return np.zeros(len(model.velocities))


def test_sag_under_its_own_weight_converges_to_the_closed_form():
    """q L^4 / (8 EI); the error of n modes falls like n^-5."""
    wanted = -STEEL.density * WIDTH * HEIGHT * 9.81 * LENGTH**4 / (8 * EI)
    for modes, error in ((1, 2e-2), (4, 5e-5), (12, 3e-7)):
        model = cantilever(modes, gravity=9.81, theory="euler-bernoulli")
        assert place(model, pliant.equilibrium(model), "tip")[2] == pytest.approx(wanted, rel=error)
        assert place(model, pliant.equilibrium(model), "tip")[2] != pytest.approx(wanted, rel=error / 100)


def test_tip_load_is_exact_with_cubic_shapes():
    """F L^3 / (3 EI) with two polynomials; with shear F L / (kGA) more, as modes converge."""
    model = cantilever(Bending(2, family="polynomials"), 30.0, theory="euler-bernoulli")
    assert place(model, pliant.equilibrium(model), "tip")[2] == pytest.approx(30 * LENGTH**3 / (3 * EI), rel=1e-13)
    short = Beam("beam", 0.2, STEEL, Rectangle(0.02, 0.1), bending_z=16, coupling="linear")
    model = Model(
        "short",
        (short,),
        frames=(Frame("beam", (0.2, 0, 0), name="tip"),),
        loads=(Load("tip", z=Constant(30.0)),),
        gravity=(0, 0, 0),
    )
    bending = 30 * 0.2**3 / (3 * 2e11 * 0.02 * 0.1**3 / 12)
    shear = 30 * 0.2 / (5 / 6 * STEEL.shear * 0.02 * 0.1)
    assert shear > 0.1 * bending
    assert place(model, pliant.equilibrium(model), "tip")[2] == pytest.approx(bending + shear, rel=2e-2)


def test_springs_against_the_minimum_of_potential_energy():
    k1, k2, rest, mass, length = 15.0, 8.0, 0.4, 2.0, 0.7
    rods = tuple(Body(name, mass=mass, shape=Rod(length)) for name in ("upper", "fore"))
    model = Model(
        "arm",
        rods,
        joints=(
            Joint("shoulder", "revolute", "upper", stiffness=k1, q0=1.0),
            Joint("elbow", "revolute", "fore", parent=Frame("upper", (length, 0, 0)), stiffness=k2, rest=rest),
        ),
        gravity=(0, -9.81, 0),
        loads=(Load(Frame("fore", (length, 0, 0)), x=Step(after=99.0, time=1.0, before=5.0)),),
    )

    def gradient(q):
        a, b = q[0], q[0] + q[1]
        weight = mass * 9.81 * length
        return [
            k1 * q[0] + weight * (1.5 * np.cos(a) + 0.5 * np.cos(b)) + 5 * length * (np.sin(a) + np.sin(b)),
            k2 * (q[1] - rest) + 0.5 * weight * np.cos(b) + 5 * length * np.sin(b),
        ]

    found = pliant.equilibrium(model)
    wanted = root(gradient, found + 0.01, tol=1e-14).x
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    np.testing.assert_allclose(pliant.forward_dynamics(model, found, still(model)), 0, atol=1e-10)


def test_hanging_chain_of_spherical_joints():
    """From lying flat it comes to hang straight down, and says that the rods may spin."""
    rods = tuple(Body(f"rod{k}", mass=1.0, shape=Rod(1.0, 0.02)) for k in range(4))
    joint_frames = ["world", *(Frame(f"rod{k}", (1.0, 0, 0)) for k in range(3))]
    joints = tuple(Joint(f"ball{k}", "spherical", f"rod{k}", parent=joint_frames[k]) for k in range(4))
    model = Model("chain", rods, joints=joints, gravity=(0.0, 6.0, -8.0))
    with pytest.warns(UserWarning, match=r"nothing holds .*'ball3.wx'"):
        q = pliant.equilibrium(model)
    _, p = pliant.prepare(model).placements(q[None, :])
    np.testing.assert_allclose(p[0], np.outer(np.arange(4), [0.0, 0.6, -0.8]), atol=1e-12)
    for four in model.quaternions:
        assert np.linalg.norm(q[four]) == pytest.approx(1.0, abs=1e-14)


def test_floating_body_on_springs_and_prescribed_motion():
    """Position and attitude of a floating joint are found together; a prescribed joint keeps to its signal."""
    springs = (100.0, 100.0, 200.0, 5.0, 6.0, 7.0)
    model = Model(
        "buoy",
        (Body("buoy", mass=3.0, com=(0.2, 0.0, 0.0), inertia=(0.1, 0.2, 0.3)), Body("flag", mass=0.1, com=(0.5, 0, 0))),
        joints=(
            Joint("sea", "floating", "buoy", stiffness=springs, q0=(0.1, 0.2, 0.3, 0.1, 0.3, 0.2, 0.9)),
            Joint("mast", "revolute", "flag", parent=Frame("buoy", (0, 0, 0.3)), motion=Constant(0.8)),
        ),
    )
    q = pliant.equilibrium(model)
    assert q[7] == 0.8
    needed = pliant.inverse_dynamics(model, q, still(model), still(model))
    np.testing.assert_allclose(needed[:6], 0, atol=1e-11)
    assert q[2] == pytest.approx(-3.1 * 9.81 / 200, rel=1e-12)
    # a minimum: energy rises whichever way one goes
    lowest = pliant.energy(model, q, still(model)).total
    rng = np.random.default_rng(3)
    for _ in range(20):
        other = q + np.append(1e-3 * rng.normal(size=7), 0.0)
        assert pliant.energy(model, other, still(model)).total > lowest


def test_unstable_start_and_compliant_stop():
    """From just beside upright it falls to the stop and rests on it."""
    limit = Limit(lower=-3.0, upper=1.0, stiffness=200.0)
    bob = Body("bob", mass=1.0, com=(1.0, 0, 0))
    model = Model(
        "pendulum", (bob,), joints=(Joint("hinge", "revolute", "bob", axis=(0, 1, 0), q0=-1.57, limit=limit),)
    )
    q = pliant.equilibrium(model)[0]
    assert 1.0 < q < 1.1
    assert 200 * (q - 1.0) == pytest.approx(9.81 * np.cos(q), rel=1e-12)
    free = Model("pendulum", (bob,), joints=(Joint("hinge", "revolute", "bob", axis=(0, 1, 0)),))
    assert pliant.equilibrium(free)[0] == pytest.approx(np.pi / 2, abs=1e-14)


def test_beams_in_an_arm_rest():
    tube = BoxTube(0.08, 0.05, 0.003)
    upper = Beam("upper", 1.5, STEEL, tube, bending_y=2, bending_z=2, torsion=1, stretch=1)
    model = Model(
        "arm",
        (upper, Body("tool", mass=3.0, com=(0.0, 0.2, 0.0))),
        joints=(
            Joint("shoulder", "universal", "upper", stiffness=(300.0, 900.0), q0=(0.3, 0.2)),
            Joint("weld", "fixed", "tool", parent=Frame("upper", (1.5, 0, 0))),
        ),
    )
    q = pliant.equilibrium(model)
    assert np.all(np.abs(q[[3, 4, 6, 7]]) > 1e-9)
    np.testing.assert_allclose(pliant.inverse_dynamics(model, q, still(model), still(model)), 0, atol=1e-11)


def test_no_rest_state_is_said():
    ball = Body("ball", mass=1.0, shape=Sphere(0.1))
    with pytest.raises(SimulationError, match=r"nothing holds 'ball.vz', which would go with an acceleration of -9.81"):
        pliant.equilibrium(Model("fall", (ball,), base="floating"))
    slide = Model("slide", (ball,), joints=(Joint("x", "prismatic", "ball", axis=(1, 0, 0), q0=0.3),))
    with pytest.warns(UserWarning, match="nothing holds 'x'"):
        assert pliant.equilibrium(slide) == [0.3]
    with pytest.raises(ModelError, match=r"shape \(2,\) found, \(1,\) expected"):
        pliant.equilibrium(slide, [1.0, 2.0])


def chain_of_rods(n, base):
    rods = [Body(f"rod{i}", mass=0.1, com=(0.05, 0, 0), inertia=(1e-6, 8e-5, 8e-5)) for i in range(n)]
    joints = [Joint("base", base, "rod0")]
    joints += [
        Joint(
            f"ball{i}", "spherical", f"rod{i}", parent=Frame(f"rod{i - 1}", (0.1, 0, 0)),
            q0=(0.0, np.sin(0.1 * np.sin(i)), 0.0, np.cos(0.1 * np.sin(i))),
        )
        for i in range(1, n)
    ]  # fmt: skip
    tip = Frame(f"rod{n - 1}", (0.1, 0, 0), name="tip")
    return Model("chain", gravity=(0, 0, -9.81), bodies=rods, joints=joints, frames=[tip])


def test_a_long_chain_on_ball_joints_hangs_straight_down():
    n = 12
    chain = chain_of_rods(n, "spherical")
    with pytest.warns(UserWarning, match="nothing holds"):  # each rod about itself
        q = pliant.equilibrium(chain)
    tip = place(chain, q, "tip")
    np.testing.assert_allclose(tip, (0.0, 0.0, -0.1 * n), atol=1e-9)


def test_a_chain_that_nothing_holds_is_said_to_fall_at_once(monkeypatch):
    steps = []
    step = equilibrium_module._Search.step
    monkeypatch.setattr(equilibrium_module._Search, "step", lambda *given: steps.append(1) or step(*given))
    with pytest.raises(SimulationError, match=r"nothing holds 'base\..*-9\.81"):
        pliant.equilibrium(chain_of_rods(12, "floating"))
    assert len(steps) < 5


@pytest.mark.parametrize("bound", [0.5, 1.0, 3.0])
def test_rest_is_found_where_friction_can_hold_a_part_of_the_load(bound):
    """Friction at rest balances what is left up to its bound, which puts kinks into the forces. What is found needs
    less than the bound where there is friction, and nothing elsewhere: it is at rest."""
    lifter = pliant.load(EXAMPLES / "lifter.toml")
    joints = [
        replace(joint, friction=Coulomb(1.0, load=bound)) if joint.friction is not None else joint
        for joint in lifter.joints
    ]
    q = pliant.equilibrium(replace(lifter, joints=joints))
    smooth = replace(lifter, joints=[replace(joint, friction=None) for joint in joints])
    left = dict(zip(smooth.velocities, pliant.inverse_dynamics(smooth, q, still(smooth), still(smooth)), strict=True))
    assert abs(left.pop("pitch")) <= bound
    assert max(map(abs, left.values())) < 1e-6  # N m, of 50 that act

"""Natural frequencies and modes: closed forms, spin, loops, free bodies, damping, the page."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import pliant
from pliant import (
    Base,
    Beam,
    Bending,
    Body,
    Contact,
    Frame,
    GivenSection,
    Joint,
    Material,
    Model,
    NormalLaw,
    Plane,
    Rectangle,
    Rod,
    Table,
)
from pliant.linear.modes import _undamped

STEEL = Material(young=2e11, density=7850.0)


def spring_chain(n, free=False):
    """Equal carts and springs in a row; the first on the wall unless free."""
    bodies = [Body(f"cart{k}", mass=2.0, inertia=(1, 1, 1)) for k in range(n)]
    joints = [
        Joint(
            f"x{k}", "prismatic", f"cart{k}", axis=(1, 0, 0), parent=f"cart{k - 1}" if k else "world",
            stiffness=0.0 if free and k == 0 else 50.0,
        )
        for k in range(n)
    ]  # fmt: skip
    return Model("chain", gravity=(0, 0, 0), bodies=bodies, joints=joints)


def test_a_chain_of_springs_has_its_closed_frequencies():
    n = 12
    exact = 2 * np.sqrt(25.0) * np.sin((2 * np.arange(1, n + 1) - 1) * np.pi / (4 * n + 2))
    assert np.allclose(pliant.modes(spring_chain(n)).frequencies, exact, rtol=1e-12, atol=0)


def test_a_motion_that_nothing_holds_has_frequency_zero():
    n = 5
    exact = 2 * np.sqrt(25.0) * np.sin(np.arange(n) * np.pi / (2 * n))
    found = pliant.modes(spring_chain(n, free=True)).frequencies
    assert found[0] == 0.0
    assert np.allclose(found[1:], exact[1:], rtol=1e-11, atol=0)


def test_a_cantilever_vibrates_as_its_own_modes():
    beam = Beam(
        "beam",
        length=1.0,
        material=STEEL,
        section=Rectangle(0.02, 0.01),
        bending_y=Bending(modes=4),
        theory="timoshenko",
    )
    found = pliant.modes(Model("cantilever", gravity=(0, 0, 0), bodies=[beam]))
    from pliant.beams.families import bending_modes

    exact = [mode.omega for mode in bending_modes(beam, "y")]
    assert np.allclose(found.frequencies, exact, rtol=1e-8)
    assert np.allclose(np.abs(found.shapes) / np.abs(found.shapes[0, 0]), np.eye(4), atol=1e-6)
    assert found.mostly(0) == "beam.mode1 100 %"


def test_a_spinning_beam_stiffens():
    """Lag frequencies of the spin-up beam at 6 rad/s with four modes: 4.513917 and 27.637719 rad/s, by Gauss-point
    assembly of the same kinetic energy (independent derivation)."""
    beam = Beam(
        "boom", length=10.0, material=Material(young=7e10, density=3000.0), theory="euler-bernoulli", rotary="none",
        section=GivenSection(area=4e-4, second_moment_y=2e-7, second_moment_z=2e-7), bending_y=Bending(modes=4),
    )  # fmt: skip
    turning = Table(times=(0.0, 1.0, 2.0), values=(0.0, 6.0, 12.0), smooth=True)
    model = Model("spin", gravity=(0, 0, 0), bodies=[beam], joints=[Joint("hub", "revolute", "boom", motion=turning)])
    found = pliant.modes(model, t=1.0)
    assert found.v[0] == pytest.approx(6.0, abs=1e-12)
    assert found.frequencies[:2] == pytest.approx([4.513917, 27.637719], abs=1e-6)
    assert np.allclose(found.damping_ratios, 0.0, atol=1e-9)


def test_damping_of_one_oscillator():
    model = Model(
        "one", gravity=(0, 0, 0), bodies=[Body("cart", mass=2.0, inertia=(1, 1, 1))],
        joints=[Joint("x", "prismatic", "cart", axis=(1, 0, 0), stiffness=50.0, damping=4.0)],
    )  # fmt: skip
    found = pliant.modes(model)
    assert found.frequencies == pytest.approx([5.0], rel=1e-10)
    assert found.damping_ratios == pytest.approx([0.2], rel=1e-9)
    assert found.is_stable


def test_an_upright_pendulum_falls():
    rod = Body("rod", mass=1.0, shape=Rod(1.0))
    model = Model("up", gravity=(0, -9.81, 0), bodies=[rod], joints=[Joint("hinge", "revolute", "rod")])
    found = pliant.modes(model, [np.pi / 2])
    assert not found.is_stable
    assert found.eigenvalues[0] == pytest.approx(np.sqrt(1.5 * 9.81), rel=1e-9)


def test_a_ball_that_starts_on_its_plane_rests_pressed_into_it():
    """K d^1.5 = m g, stiffness 1.5 K sqrt(d); the start itself is a kink, which nobody asked about."""
    ground = Contact("ground", NormalLaw("hertz", 1e5), Plane(normal=(0, 1, 0)), points=["ball"])
    model = Model(
        "ball", gravity=(0, -9.81, 0), bodies=[Body("ball", 1.0, inertia=(1, 1, 1))],
        joints=[Joint("y", "prismatic", "ball", axis=(0, 1, 0))], contacts=[ground],
    )  # fmt: skip
    found = pliant.modes(model)
    depth = (9.81 / 1e5) ** (2 / 3)
    assert found.q == pytest.approx([-depth], rel=1e-9)
    assert found.frequencies == pytest.approx([np.sqrt(1.5e5 * np.sqrt(depth))], rel=1e-8)
    with pytest.raises(pliant.ModelError, match="kink: point 'ball' of contact 'ground' is just on its plane"):
        pliant.modes(model, [0.0])


def test_left_to_itself_it_is_about_rest():
    rod = Body("rod", mass=1.0, shape=Rod(1.0))
    model = Model("down", gravity=(0, -9.81, 0), bodies=[rod], joints=[Joint("hinge", "revolute", "rod", q0=-1.2)])
    assert pliant.modes(model).frequencies == pytest.approx([np.sqrt(1.5 * 9.81)], rel=1e-9)
    with pytest.warns(UserWarning, match="not one of rest: 'hinge'"):
        pliant.modes(model, [-1.2])


def test_a_free_beam_keeps_its_six_rigid_motions():
    beam = Beam(
        "beam",
        length=1.0,
        material=STEEL,
        section=Rectangle(0.02, 0.01),
        bending_y=Bending(modes=3),
        bending_z=Bending(modes=3),
    )
    tip = Body("tip", mass=0.5, inertia=(1e-3, 1e-3, 1e-3))
    model = Model(
        "free", gravity=(0, 0, 0), bodies=[beam, tip], base=Base("floating"),
        joints=[Joint("weld", "fixed", "tip", parent=Frame("beam", (1.0, 0, 0)))],
    )  # fmt: skip
    found = pliant.modes(model)
    assert np.all(found.frequencies[:6] == 0.0)
    assert np.all(found.frequencies[6:] > 1.0)


def test_frequencies_over_poses():
    model = Model(
        "arm", gravity=(0, 0, 0),
        bodies=[Body("a", mass=1.0, shape=Rod(1.0)), Body("b", mass=1.0, shape=Rod(1.0))],
        joints=[
            Joint("s", "revolute", "a", stiffness=100.0),
            Joint("e", "revolute", "b", parent=Frame("a", (1.0, 0, 0)), stiffness=100.0),
        ],
    )  # fmt: skip
    poses = np.zeros((3, 4, 2))
    poses[..., 1] = np.linspace(0, np.pi, 4)
    found = pliant.frequencies(model, poses, 1)
    assert found.shape == (3, 4, 1)
    # straight: [[1/3 + 1 + 1 + 1/3, 1/3 + 1/2], [.., 1/3]] x'' + 100 x = 0
    M = np.array([[1 / 3 + 1 + 1 + 1 / 3, 1 / 3 + 1 / 2], [1 / 3 + 1 / 2, 1 / 3]])
    assert found[0, 0, 0] == pytest.approx(10 / np.sqrt(np.linalg.eigvalsh(M)[-1]), rel=1e-10)
    assert found[1, 2, 0] == pliant.modes(model, poses[1, 2], hold=True).frequencies[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        as_it_is = pliant.modes(model, poses[1, 2]).frequencies[0]
    assert pliant.frequencies(model, poses[1, 2], 1, hold=False)[0] == as_it_is


def test_a_pose_that_is_held_vibrates_by_its_springs_alone():
    """K x = w^2 M(q) x whatever the rest angles of linear springs; as it is, the pose would fly away from there."""
    model = Model(
        "arm", gravity=(0, 0, 0),
        bodies=[Body("a", mass=1.0, shape=Rod(1.0)), Body("b", mass=1.0, shape=Rod(1.0))],
        joints=[
            Joint("s", "revolute", "a", stiffness=100.0),
            Joint("e", "revolute", "b", parent=Frame("a", (1.0, 0, 0)), stiffness=40.0, rest=0.3),
        ],
    )  # fmt: skip
    q = np.array([0.7, 1.9])
    exact = np.sqrt(np.linalg.eigvals(np.linalg.solve(pliant.mass_matrix(model, q), np.diag([100.0, 40.0]))))
    assert pliant.frequencies(model, q) == pytest.approx(np.sort(exact), rel=1e-10)
    assert pliant.frequencies(model, q, hold=False) != pytest.approx(np.sort(exact), rel=1e-2)


def test_beams_rest_in_a_pose_that_is_held():
    """The same as with motors that give just these torques, at the equilibrium with them."""
    beam = Beam("boom", 1.0, STEEL, Rectangle(0.02, 0.01), bending_y=Bending(2))
    model = Model(
        "arm", gravity=(0, -9.81, 0),
        bodies=[beam, Body("tip", 2.0, inertia=(0.1, 0.1, 0.1))],
        joints=[
            Joint("s", "revolute", "boom", stiffness=300.0, q0=0.4),
            Joint("w", "fixed", "tip", parent=Frame("boom", (1.0, 0, 0))),
        ],
    )  # fmt: skip
    held = pliant.modes(model, [0.4, 0, 0], hold=True)
    assert held.q[0] == 0.4
    assert abs(held.q[1]) > 1e-3
    torque = pliant.inverse_dynamics(model, held.q, np.zeros(3), np.zeros(3))
    assert np.abs(torque[1:]).max() < 1e-9 * abs(torque[0])
    driven = replace(model, joints=[replace(model.joints[0], motor=torque[0]), model.joints[1]])
    assert held.frequencies == pytest.approx(pliant.modes(driven).frequencies, rel=1e-8)
    with pytest.raises(pliant.ModelError, match="hold: no state to hold; give q"):
        pliant.modes(model, hold=True)


def test_a_film_of_a_mechanism_keeps_its_loops_closed():
    driven = pliant.load("four-bar")
    free = [replace(joint, motion=None, stiffness=50.0) if joint.motion else joint for joint in driven.joints]
    model = replace(driven, joints=free)
    found = pliant.modes(model, pliant.assemble(model)[0], hold=True)
    q = found.motion(0, np.linspace(0, 6, 7), 0.3)
    assert np.ptp(q, axis=0).max() > 0.3
    for pose in q:
        # assembly moves nothing: the loops are closed
        assert np.allclose(pliant.assemble(model, pose)[0], pose, atol=1e-9)
    # straight on, they would open by the square of the amplitude
    assert np.abs(found.shapes[:, 0].real * 0.3 - (q[0] - found.q)).max() > 1e-3


def test_a_mode_is_drawn_as_a_motion(tmp_path):
    found = pliant.modes(spring_chain(3))
    q = found.motion(0, [0.0, np.pi / 2, np.pi], amplitude=0.2)
    assert np.allclose(q[0], -q[2])
    assert np.allclose(q[1], 0.0, atol=1e-12)
    found.report(tmp_path / "modes.html")
    page = (tmp_path / "modes.html").read_text()
    assert "mode 1, " in page
    assert "Natural frequencies" in page
    shown = found._repr_html_()
    assert shown.startswith("<iframe")
    # the page itself, quoted
    assert "Natural frequencies" in shown
    assert shown.count('"') == 4
    assert "mode" in repr(found)


@pytest.mark.parametrize("count", [5, 12, 16])
def test_many_polynomials_cost_the_slow_modes_no_digits(count):
    """A cantilever: cos x cosh x = -1. Its fastest polynomials vibrate some ten thousand times faster."""
    slender = Rectangle(0.02, 0.02)
    beam = Beam(
        "beam",
        length=1.0,
        material=STEEL,
        section=slender,
        bending_y=Bending(modes=count, family="polynomials"),
        theory="euler-bernoulli",
        rotary="none",
    )
    found = pliant.modes(Model("cantilever", (beam,), (Joint("weld", "fixed", "beam"),), gravity=(0, 0, 0))).frequencies
    wanted = 1.8751040687119611**2 * np.sqrt(2e11 * 0.02**2 / 12 / 7850.0)
    assert found[0] == pytest.approx(wanted, rel=1e-7 if count == 5 else 1e-10)


def test_frequencies_that_rounding_hides_are_said_to_be_unknown():
    """A soft spring beside one that is 1e24 times as stiff, and of which two digits are known."""
    M = np.array([[1.0, 1.0], [1.0, 2.0]])
    K = np.array([[1e24, 0.0], [0.0, 1.0]])
    with pytest.warns(pliant.AccuracyWarning, match="1 frequencies below .* are given as zero"):
        values, _ = _undamped(M, K, np.full((2, 2), 1e22))
    assert values[0] == 0.0


def test_shapes_that_hardly_differ_are_said_to_have_no_digits():
    """A beam several times as thick as it is long: its deflections are all shear, which 12 polynomials say 12 times."""
    shapes = Bending(12, family="polynomials")
    slab = Beam("slab", 1.0, STEEL, Rectangle(1.0, 3.5), bending_y=shapes, rotary="none")
    model = Model("slab", (slab,), (Joint("weld", "fixed", "slab"),), gravity=(0, 0, 0))
    with pytest.warns(pliant.AccuracyWarning, match="few digits or none"):
        pliant.modes(model)


# --- how far from converged -------------------------------------------------------------------------------------------


def loaded_cantilever(shapes):
    """A thin steel beam with a load at its end that shapes of a free end know nothing of."""
    beam = Beam("beam", 1.0, STEEL, Rectangle(0.005, 0.02), bending_y=shapes, theory="euler-bernoulli")
    load = Body("load", 0.5, inertia=(5e-3, 5e-3, 5e-3))
    joints = [Joint("clamp", "fixed", "beam"), Joint("weld", "fixed", "load", parent=Frame("beam", (1.0, 0, 0)))]
    return Model("loaded", [beam, load], joints, gravity=(0, 0, 0))


@pytest.mark.parametrize("shapes", [1, 2, 4, (1, 3)])
def test_modes_say_how_far_frequencies_of_beams_are_from_converged(shapes):
    """Against polynomials, which converge fast whatever is at the end."""
    found = pliant.modes(loaded_cantilever(shapes))
    best = pliant.modes(loaded_cantilever(Bending(14, family="polynomials"))).frequencies[: len(found.frequencies)]
    true = (found.frequencies - best) / found.frequencies
    assert true[-1] > 1e-3
    assert np.all(true <= found.truncation)
    assert np.all(found.truncation <= 2.0 * true)
    assert "from converged" in found.columns
    assert found.summary["modes"][-1]["truncation"] == found.truncation[-1]
    (row,) = found.table()[-1:]
    assert row[4] == f"{100 * found.truncation[-1]:.2g} %"


def test_frequencies_with_enough_shapes_are_said_to_be_converged():
    beam = Beam("beam", 1.0, STEEL, Rectangle(0.005, 0.02), bending_y=3)
    found = pliant.modes(Model("bare", [beam], [Joint("clamp", "fixed", "beam")], gravity=(0, 0, 0)))
    assert np.all(found.truncation < 1e-6), "modes of the beam itself"


def test_linear_models_say_how_far_rates_of_beams_are_from_converged():
    model = loaded_cantilever(2)
    linear = pliant.linearise(model)
    assert np.allclose(np.sort(linear.truncation)[::2], pliant.modes(model).truncation, rtol=1e-4)
    assert "2 of 4 eigenvalues within 1 %" in repr(linear)
    assert pliant.linearise(spring_chain(2)).truncation is None
    assert np.all(pliant.modes(spring_chain(2)).truncation == 0.0)
    assert "from converged" not in pliant.modes(spring_chain(2)).columns


def test_shapes_that_cannot_be_more_leave_it_unknown():
    at = np.linspace(0.0, 1.0, 9)
    samples = pliant.SampledShapes(tuple(at), (tuple(at**2),))
    beam = Beam(
        "beam", 1.0, STEEL, Rectangle(0.005, 0.02), theory="euler-bernoulli",
        bending_y=Bending(1, family="samples", samples=samples),
    )  # fmt: skip
    found = pliant.modes(Model("sampled", [beam], [Joint("clamp", "fixed", "beam")], gravity=(0, 0, 0)))
    assert np.all(np.isnan(found.truncation))
    assert found.table()[0][4] == "not known"
    assert found.summary["modes"][0]["truncation"] is None

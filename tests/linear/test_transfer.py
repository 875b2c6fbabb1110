"""Transfer matrices in Riccati form: closed forms, agreement with modes and linearise, counts, responses, messages."""

import json
from dataclasses import replace

import numpy as np
import pytest

import pliant
from command_line import pliant_command
from pliant import (
    Base,
    Beam,
    Bending,
    Body,
    Damping,
    Frame,
    GivenSection,
    Joint,
    Load,
    Material,
    Model,
    Output,
    PointMass,
    Rectangle,
    Rod,
    TaperedSection,
    Transmission,
)
from pliant.beams.families import bending_modes
from pliant.cases.case import all_cases
from random_models import random_model

UNIT = Material(young=1.0, density=1.0)
SECTION = GivenSection(area=1.0, second_moment_y=1.0, second_moment_z=1.0)
STEEL = Material(young=2e11, density=7850.0)
CANTILEVER = (3.5160152685, 22.0344915647, 61.6972144136, 120.9019160523)  # roots of cos x cosh x = -1, squared


def unit_beam(**given):
    """L = rho A = EI = 1, Euler-Bernoulli."""
    plain = {"length": 1.0, "material": UNIT, "section": SECTION, "theory": "euler-bernoulli", "rotary": "none"}
    return Beam("beam", **(plain | {"bending_y": 1} | given))


def steel_beam(name="beam", **given):
    return Beam(name, **({"length": 1.0, "material": STEEL, "section": Rectangle(0.02, 0.01), "bending_y": 1} | given))


def torsion_chain(n, stiffness=20.0, damping=0.0):
    bodies = [Body(f"b{k}", mass=1.0, inertia=(1.0, 1.0, 1.0)) for k in range(n)]
    joints = [
        Joint(
            f"j{k}",
            "revolute",
            f"b{k}",
            parent=f"b{k - 1}" if k else "world",
            stiffness=stiffness,
            damping=damping,
        )
        for k in range(n)
    ]
    return Model("torsion", gravity=(0, 0, 0), bodies=bodies, joints=joints)


def chain_frequencies(n, stiffness=20.0):
    """Of n equal inertias of 1 and springs, the first on the wall."""
    return 2 * np.sqrt(stiffness) * np.sin((2 * np.arange(1, n + 1) - 1) * np.pi / (4 * n + 2))


def random_arm(seed, gravity=True, damping=True):
    """A random tree of all joint kinds on springs."""
    rng = np.random.default_rng(seed)
    model = random_model(rng, 5)

    def each(joint, low, high):
        return tuple(rng.uniform(low, high, len(joint.row.velocities)))

    joints = [
        replace(
            joint,
            stiffness=each(joint, 20.0, 80.0),
            damping=each(joint, 0.0, 3.0) if damping else 0.0,
        )
        if joint.row.velocities
        else joint
        for joint in model.joints
    ]
    return replace(model, joints=joints, **({} if gravity else {"gravity": (0, 0, 0)}))


def distance(some, others):
    """Largest relative distance of the members of two sets from the nearest of the other; inf where one has more."""
    if len(some) != len(others):
        return np.inf
    both = np.abs(np.subtract.outer(some, others))
    return max(np.max(both.min(axis=1) / np.abs(some)), np.max(both.min(axis=0) / np.abs(others)))


# --- closed forms ----------------------------------------------------------------------------------------------------


def test_a_cantilever_has_its_closed_frequencies_however_many_shapes_it_is_given():
    for shapes in (1, 3):
        found = pliant.transfer(Model("cantilever", gravity=(0, 0, 0), bodies=[unit_beam(bending_y=shapes)]), count=4)
        assert np.allclose(found.frequencies, CANTILEVER, rtol=1e-10, atol=0)


def test_two_equal_bending_planes_have_every_frequency_twice():
    model = Model("cantilever", gravity=(0, 0, 0), bodies=[unit_beam(bending_z=1)])
    found = pliant.transfer(model, below=130.0)
    assert np.allclose(found.frequencies, np.repeat(CANTILEVER, 2), rtol=1e-10, atol=0)
    tips = np.array([found.frame_shape("beam", k) for k in range(8)])
    assert np.allclose(tips, 0.0)  # its frame is clamped
    pairs = np.array([found.beam_shape("beam", k).displacement[-1, 1:] for k in range(2)]).real
    assert abs(np.linalg.det(pairs)) > 0.1  # two shapes, not the same one twice


def test_a_free_beam_has_its_closed_frequencies_and_three_rigid_motions():
    beam = unit_beam(bending_y=Bending(1, ends="ff"))
    found = pliant.transfer(Model("free", gravity=(0, 0, 0), bodies=[beam], base=Base("planar")), count=5)
    assert np.array_equal(found.frequencies[:3], np.zeros(3))
    assert np.allclose(found.frequencies[3:], (22.3732854481, 61.6728228676), rtol=1e-10)
    # what nothing holds moves as a rigid body
    for k in range(3):
        bent = found.beam_shape("beam", k)
        assert np.allclose(np.diff(bent.displacement[:, 1], 2), 0.0, atol=1e-9)


def test_a_beam_with_a_tip_body_and_a_hub_meets_its_exact_modes():
    """Against the end determinants of beams/uniform_modes.py: loaded ends, thin and stocky."""
    for theory, rotary in (("euler-bernoulli", "none"), ("timoshenko", "section")):
        loads = Bending(modes=4, tip_mass=0.3, tip_inertia=0.02, hub_inertia=0.05)
        beam = steel_beam(section=Rectangle(0.1, 0.05), bending_y=loads, theory=theory, rotary=rotary)
        exact = [mode.omega for mode in bending_modes(beam, "y")]
        bodies = [
            Body("hub", mass=1.0, inertia=(0.05, 0.05, 0.05)),
            beam,
            Body("tip", mass=0.3, inertia=(0.02, 0.02, 0.02)),
        ]
        joints = [
            Joint("axle", "revolute", "hub"),
            Joint("root", "fixed", "beam", parent="hub"),
            Joint("weld", "fixed", "tip", parent=Frame("beam", (1.0, 0, 0))),
        ]
        found = pliant.transfer(Model("arm", gravity=(0, 0, 0), bodies=bodies, joints=joints), count=5)
        assert found.frequencies[0] == 0.0
        assert np.allclose(found.frequencies[1:], exact, rtol=1e-9)


def test_stretch_and_torsion_are_rods_with_quarter_waves():
    beam = steel_beam(bending_y=None, stretch=1, torsion=1)
    found = pliant.transfer(Model("rod", gravity=(0, 0, 0), bodies=[beam]), count=6)
    from pliant.model.sections import beam_values

    at = beam_values(beam, np.zeros(1))
    stretch, twist = (np.sqrt(k[0] / m) for k, m in ((at.stretch, at.mass[0]), (at.twist, at.rotary[0, 0])))
    exact = np.sort(np.outer((stretch, twist), (2 * np.arange(1, 8) - 1) * np.pi / 2).ravel())[:6]
    assert np.allclose(found.frequencies, exact, rtol=1e-11)


def test_a_point_mass_on_a_beam_is_a_body_welded_there():
    lumped = steel_beam(point_masses=(PointMass(0.4, 0.6),), bending_z=1, torsion=1)
    plain = replace(lumped, point_masses=())
    joint = Joint("weld", "fixed", "lump", parent=Frame("beam", (0.6, 0, 0)))
    welded = Model("welded", gravity=(0, 0, 0), bodies=[plain, Body("lump", mass=0.4)], joints=[joint])
    one = pliant.transfer(Model("lumped", gravity=(0, 0, 0), bodies=[lumped])).frequencies
    assert np.allclose(one, pliant.transfer(welded).frequencies, rtol=1e-12)


@pytest.mark.parametrize("n", [12, 300])
def test_a_torsion_chain_has_its_closed_frequencies(n):
    found = pliant.transfer(torsion_chain(n), count=12)
    assert np.allclose(found.undamped_frequencies, chain_frequencies(n)[:12], rtol=1e-11, atol=0)


@pytest.mark.long
def test_ten_thousand_stations_lose_no_digits():
    n = 10_000
    found, exact = pliant.transfer(torsion_chain(n), count=1), chain_frequencies(n)
    chosen = np.array([0, 1, 10, 4000, 9998, 9999])
    # relative: the lowest is 1e-4 of the highest, its square 1e-8
    counts = found.count_below(np.concatenate([exact[chosen] * (1 - 1e-10), exact[chosen] * (1 + 1e-10)]))
    assert np.array_equal(counts, np.concatenate([chosen, chosen + 1]))
    # a torque at the tip between two frequencies: (K - w^2) theta = unit vector, closed form by sines
    w = 0.37
    mu = np.arccos(1 - w**2 / 40.0)
    tip = np.sin(mu * n) / (20.0 * (np.sin(mu * (n + 1)) - np.sin(mu * n)))
    found_tip = found.response(w, f"b{n - 1}.mz", f"b{n - 1}.rz").values[0, 0, 0]
    # the sum of 10000 angles mu, each known to rounding
    assert found_tip.real == pytest.approx(tip, rel=1e-8)


def test_the_plain_product_of_transfer_matrices_loses_all_digits_where_riccati_loses_none():
    """Above the highest frequency motion falls by lam from station to station, lam + 1/lam = w^2 I/k - 2, while the
    product grows by lam: after 36/ln(lam) stations the tip that it says has no digit left."""
    stiffness, w = 20.0, 12.0
    lam = np.max(np.abs(np.roots([1.0, w**2 / stiffness - 2.0, 1.0])))
    spring = np.array([[1.0, 1.0 / stiffness], [0.0, 1.0]])
    inertia = np.array([[1.0, 0.0], [-(w**2), 1.0]])
    off = {}
    for n in (4, int(1.2 * 36 / np.log(lam)), 200):
        U = np.linalg.matrix_power(inertia @ spring, n)
        by_product = U[0, 0] - U[0, 1] * U[1, 0] / U[1, 1]  # the base moves by 1, the tip has no torque
        # from the tip inward, where motion grows
        before, here = 1.0, 1.0
        for _ in range(n):
            before, here = here, (2.0 - w**2 / stiffness) * here - before
        base = Body("base", mass=1.0, inertia=(1.0, 1.0, 1.0))
        chain = torsion_chain(n, stiffness)
        hub = Joint("hub", "revolute", "base", motion=0.0)
        joints = [hub, replace(chain.joints[0], parent="base"), *chain.joints[1:]]
        model = replace(chain, bodies=(base, *chain.bodies), joints=joints)
        tip = pliant.transfer(model, count=1).response(w, "hub", f"b{n - 1}.rz").values[0, 0, 0]
        assert tip == pytest.approx(1.0 / here, rel=1e-11)
        off[n] = abs(by_product * here - 1.0)
    few, many, most = off.values()
    assert few < 1e-9
    assert many > 0.1
    assert most > 0.1


# --- agreement with modes and linearise ------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(24))
def test_random_trees_have_the_frequencies_of_modes(seed):
    """All joint kinds, gravity with all it does to small motions, armatures; 1e-9: that of the differences of modes."""
    model = random_arm(seed, damping=False)
    found = pliant.transfer(model, count=100)
    assert distance(found.eigenvalues, pliant.modes(model, found.q).eigenvalues) < 1e-9
    assert np.array_equal(found.counts, np.arange(1, len(found.counts) + 1))


@pytest.mark.parametrize("seed", range(24, 36))
def test_damped_random_trees_have_the_eigenvalues_of_modes(seed):
    model = random_arm(seed)
    found = pliant.transfer(model, count=100)
    assert distance(found.eigenvalues, pliant.modes(model, found.q).eigenvalues) < 1e-9


@pytest.mark.parametrize("seed", range(8))
def test_responses_of_random_trees_are_those_of_linearise(seed):
    outputs = [
        Output("p", "tip4", "position"),
        Output("v", "tip3", "velocity"),
        Output("a", "tip4", "acceleration"),
        Output("turn", "tip2", "attitude"),
        Output("w", "tip1", "angular_velocity"),
    ]
    model = replace(random_arm(seed), outputs=outputs)
    found, omega = pliant.transfer(model), np.linspace(0.5, 20.0, 17)
    inputs = [model.velocities[0], model.velocities[-1], "tip4.fx", "tip3.mz", "tip2.fz"]
    linear = pliant.linearise(model, found.q, inputs=inputs)
    n = len(model.velocities)
    parts = ["fx", "fy", "fz", "mx", "my", "mz"]
    forces = [np.eye(n)[model.velocities.index(name)] for name in inputs[:2]]
    forces += [pliant.jacobian(model, found.q, name[:-3])[parts.index(name[-2:])] for name in inputs[2:]]
    B = np.concatenate([np.zeros((n, 5)), np.linalg.solve(pliant.mass_matrix(model, found.q), np.array(forces).T)])
    exact = replace(linear, B=B).frequency_response(omega)
    response = found.response(omega, inputs)
    assert response.outputs == linear.outputs
    assert response.output_units == linear.output_units
    largest = np.max(np.abs(exact), axis=(0, 2), keepdims=True)
    assert np.max(np.abs(response.values - exact) / np.maximum(largest, 1e-12)) < 1e-9


def test_reactions_under_motor_torques_are_those_of_linearise():
    model = replace(random_arm(3, gravity=False), outputs=[Output(f"r{k}", f"joint{k}", "reaction") for k in range(5)])
    model = replace(model, joints=[replace(joint, q0=None) for joint in model.joints])
    found, omega = pliant.transfer(model), np.linspace(0.5, 20.0, 9)
    linear = pliant.linearise(model, found.q, inputs=model.velocities)
    exact, response = linear.frequency_response(omega), found.response(omega, model.velocities)
    assert np.max(np.abs(response.values - exact)) < 1e-10 * np.max(np.abs(exact))
    by_name = found.response(omega, model.velocities, ["joint2.fy", "joint2.mz"])
    assert np.allclose(by_name.values, response.values[:, [13, 17]], rtol=1e-14)


def test_flexible_joints_have_the_eigenvalues_of_modes():
    shared = {"gravity": (0, -9.81, 0), "frames": [Frame("lower", (0.8, 0, 0), name="tip")]}
    bodies = [Body("upper", mass=3.0, shape=Rod(1.0)), Body("lower", mass=2.0, shape=Rod(0.8))]
    joints = [
        Joint("shoulder", "revolute", "upper", q0="-90 deg", armature=1e-3, gear=50.0, damping=0.2,
              transmission=Transmission(3000.0, damping=4.0, mass=0.5), motion=None, stiffness=5.0, rest=-np.pi / 2),
        Joint("elbow", "revolute", "lower", parent=Frame("upper", (1.0, 0, 0)), armature=2e-4, gear=80.0,
              transmission=Transmission(900.0, damping=1.0, mass=0.7), stiffness=3.0),
    ]  # fmt: skip
    model = Model("arm", bodies=bodies, joints=joints, **shared)
    found = pliant.transfer(model)
    # the motors' sides are held by nothing: two zeros, which modes lists as real ones
    exact = pliant.modes(model, found.q).eigenvalues
    assert distance(found.eigenvalues[found.frequencies > 1e-3], exact[np.abs(exact) > 1e-3]) < 1e-9
    omega = np.geomspace(0.5, 300.0, 40)
    inputs, outputs = ["shoulder.motor", "elbow"], ["shoulder", "elbow.motor", "elbow.rate"]
    linear = pliant.linearise(model, found.q, inputs=inputs, outputs=outputs)
    exact = linear.frequency_response(omega)
    assert np.allclose(found.response(omega, inputs, outputs).values, exact, rtol=1e-9, atol=1e-9 * np.abs(exact).max())


def test_assumed_modes_converge_to_the_continuous_beam():
    """Polynomials, whatever is welded to the tip: from above, as Ritz says, and fast."""

    def model(n):
        shapes = Bending(modes=n, family="polynomials")
        body = Body("payload", mass=0.5, com=(0.05, 0.02, 0.01), inertia=(1e-3, 2e-3, 2e-3))
        beam = steel_beam(bending_y=shapes, bending_z=shapes, torsion=pliant.AxialShapes(n, family="polynomials"))
        joints = [
            Joint("shoulder", "revolute", "beam", stiffness=500.0),
            Joint("weld", "fixed", "payload", parent=Frame("beam", (1.0, 0, 0))),
        ]
        return Model("arm", gravity=(0, 0, 0), bodies=[beam, body], joints=joints)

    exact = pliant.transfer(model(1), count=4).frequencies
    few, more = (pliant.modes(model(n)).frequencies[:4] / exact - 1 for n in (4, 6))
    assert min(few.min(), more.min()) > -1e-9
    assert np.max(few) > 1e-4
    assert np.max(more) < 3e-6


def test_section_forces_and_responses_of_beams_converge_too():
    def model(n):
        beam = steel_beam(bending_y=Bending(modes=n, family="polynomials"))
        frames = [Frame("beam", (0.4, 0, 0), name="middle"), Frame("beam", (1.0, 0, 0), name="tip")]
        outputs = [
            Output("start", "beam", "section"),
            Output("inside", "middle", "section"),
            Output("tip", "tip", "acceleration"),
        ]
        joint = Joint("shoulder", "revolute", "beam", stiffness=50.0, damping=0.1)
        return Model("arm", gravity=(0, 0, 0), bodies=[beam], joints=[joint], frames=frames, outputs=outputs)

    omega = np.linspace(5.0, 150.0, 20)
    exact = pliant.transfer(model(1)).response(omega)
    near = pliant.linearise(model(6)).frequency_response(omega)
    assert exact.outputs[:6] == ("start.N", "start.Vy", "start.Vz", "start.T", "start.My", "start.Mz")
    largest = np.max(np.abs(exact.values), axis=0)
    # six polynomials; the shear force is their third derivative
    assert np.max(np.abs(near - exact.values) / np.maximum(largest, 1e-9)) < 1e-3


@pytest.mark.parametrize("theory", ["euler-bernoulli", "timoshenko"])
def test_a_hanging_beam_feels_its_weight_as_assumed_modes_do(theory):
    """A flexible pendulum: weight as restoring force and as tension. Static forces are taken piece by piece, which
    converges with their number; six polynomials leave 1e-7 in the first two modes."""

    def model(n, g=9.81):
        shapes = Bending(modes=n, family="polynomials")
        beam = steel_beam(section=Rectangle(0.02, 0.003), bending_y=None, theory=theory, bending_z=shapes)
        hinge = Joint("hinge", "revolute", "beam", axis=(0, 1, 0), q0="90 deg")
        tip = Joint("weld", "fixed", "bob", parent=Frame("beam", (1.0, 0, 0)))
        return Model("pendulum", gravity=(0, 0, -g), bodies=[beam, Body("bob", mass=1.0)], joints=[hinge, tip])

    found = pliant.transfer(model(1), count=2)
    exact = pliant.modes(model(6)).frequencies[:2]
    assert np.allclose(found.frequencies, exact, rtol=1e-6)
    assert any("straight" in note for note in found.notes)
    bare = pliant.transfer(model(1, 0.0), count=2).frequencies
    assert bare[0] == 0.0
    assert bare[1] < 0.95 * exact[1]  # the tension is felt


def test_what_sits_in_the_middle_of_a_beam_is_where_assumed_modes_converge_slowly():
    """A heavy body at a third of a beam kinks its curvature: as two beams welded together, it is exact again."""
    body = Body("lump", mass=3.0, inertia=(0.05, 0.05, 0.05))
    middle = Joint("weld", "fixed", "lump", parent=Frame("beam", (0.3, 0, 0)))

    def whole(n):
        beam = steel_beam(bending_y=Bending(modes=n, family="polynomials"))
        return Model("whole", gravity=(0, 0, 0), bodies=[beam, body], joints=[middle])

    def divided(n):
        first, second = (steel_beam(name, length=length, bending_y=Bending(modes=n, family="polynomials"))
                         for name, length in (("beam", 0.3), ("outer", 0.7)))  # fmt: skip
        joints = [middle, Joint("cut", "fixed", "outer", parent=Frame("beam", (0.3, 0, 0)))]
        return Model("divided", gravity=(0, 0, 0), bodies=[first, second, body], joints=joints)

    exact = pliant.transfer(whole(1), count=3).frequencies
    assert np.allclose(pliant.transfer(divided(1), count=3).frequencies, exact, rtol=1e-12)
    assert np.allclose(pliant.modes(divided(5)).frequencies[:3], exact, rtol=2e-6)
    assert np.max(pliant.modes(whole(5)).frequencies[:3] / exact - 1) > 1e-4


def test_a_constant_force_acts_on_small_motions_as_weight_does():
    """A rod pulled along by a force in world axes, on springs: against modes at the same rest."""
    bodies = [Body(name, mass=1.0, shape=Rod(1.0)) for name in ("one", "two")]
    joints = [
        Joint("a", "universal", "one", stiffness=3.0),
        Joint("b", "revolute", "two", parent=Frame("one", (1.0, 0, 0)), axis=(0, 1, 1), stiffness=2.0),
    ]
    frames = [Frame("two", (1.0, 0.1, 0), name="end")]
    loads = [Load("end", x=4.0, y=1.0, z=-0.5)]
    bodies = [replace(body, inertia=(0.01, 0.09, 0.09), com=(0.5, 0, 0)) for body in bodies]
    model = Model("pulled", gravity=(0, 0, 0), bodies=bodies, joints=joints, frames=frames, loads=loads)
    found = pliant.transfer(model)
    assert np.any(np.abs(found.q) > 0.01)
    assert distance(found.eigenvalues, pliant.modes(model, found.q).eigenvalues) < 1e-9


def test_what_falls_over_has_a_rate_that_grows():
    """Upright pendulum of two rods: at rest, unstable; eigenvalues as modes has them, by rising size."""
    bodies = [Body(name, mass=1.0, shape=Rod(1.0)) for name in ("one", "two")]
    joints = [
        Joint("a", "revolute", "one", q0="90 deg"),
        Joint("b", "revolute", "two", parent=Frame("one", (1.0, 0, 0)), stiffness=2.0),
    ]
    model = Model("upright", gravity=(0, -9.81, 0), bodies=bodies, joints=joints)
    found = pliant.transfer(model)
    assert not found.is_stable
    assert distance(found.eigenvalues, pliant.modes(model, found.q).eigenvalues) < 1e-9
    assert np.all(np.diff(found.frequencies) > 0)


def test_a_long_damped_chain_has_its_closed_eigenvalues():
    """c = beta k: s^2 + beta w^2 s + w^2 = 0 for every w of the undamped chain; started from its shapes alone."""
    n, beta = 500, 0.02
    found = pliant.transfer(torsion_chain(n, 20.0, 20.0 * beta), count=6).eigenvalues
    w = chain_frequencies(n)[:6]
    assert np.allclose(found, -0.5 * beta * w**2 + 1j * w * np.sqrt(1 - (0.5 * beta * w) ** 2), rtol=1e-10, atol=0)


def test_two_equal_branches_on_a_hub_have_modes_in_which_the_hub_rests():
    """There a branch resonates by itself: the pivot of its root vanishes at the very frequency."""
    branch = {"length": 1.0, "material": STEEL, "section": Rectangle(0.02, 0.01), "bending_y": 1}
    bodies = [Body("hub", mass=2.0, inertia=(0.1, 0.1, 0.1)), Beam("left", **branch), Beam("right", **branch)]
    joints = [
        Joint("axle", "revolute", "hub", stiffness=100.0),
        Joint("l", "fixed", "left", parent=Frame("hub", (0.1, 0, 0))),
        Joint("r", "fixed", "right", parent=Frame("hub", (-0.1, 0, 0), attitude=(0, 0, 1, 0))),
    ]
    found = pliant.transfer(Model("branches", gravity=(0, 0, 0), bodies=bodies, joints=joints), count=6)
    alone = pliant.transfer(Model("one", gravity=(0, 0, 0), bodies=[Beam("left", **branch)]), count=2).frequencies
    for w in alone:
        k = int(np.argmin(np.abs(found.frequencies - w)))
        assert found.frequencies[k] == pytest.approx(w, rel=1e-12)
        assert abs(found.joint_shape(k)["axle"]) < 1e-6
        left, right = (found.beam_shape(name, k).displacement[-1, 1] for name in ("left", "right"))
        assert abs(left + right) < 1e-6 * abs(left)
    assert np.array_equal(found.counts, np.arange(1, 7))


# --- identities of responses -----------------------------------------------------------------------------------------


def arm():
    """Two beams in space with dampers, a flexible joint, a branch."""
    beam = {"length": 0.8, "material": STEEL, "section": Rectangle(0.02, 0.01), "bending_y": 1, "bending_z": 1}
    bodies = [
        Beam("upper", **beam, torsion=1, damping=Damping(stiffness_time=2e-5)),
        Beam("lower", **beam, stretch=1, theory="euler-bernoulli", damping=Damping(kelvin_voigt=4e6)),
        Body("branch", mass=0.3, com=(0, 0.1, 0), inertia=(1e-3, 1e-3, 1e-3)),
    ]
    joints = [
        Joint("shoulder", "revolute", "upper", stiffness=200.0, damping=1.0),
        Joint("elbow", "revolute", "lower", parent=Frame("upper", (0.8, 0, 0)), axis=(0, 1, 0), q0=0.5, armature=1e-4,
              gear=60.0, stiffness=1.0, rest=0.5, transmission=Transmission(400.0, damping=0.3, q0=0.5)),
        Joint("ball", "spherical", "branch", parent=Frame("upper", (0.3, 0, 0.02)), stiffness=2.0, damping=1e-3),
    ]  # fmt: skip
    frames = [Frame("lower", (0.8, 0, 0), name="tip"), Frame("branch", (0, 0.2, 0), name="side")]
    return Model("arm", gravity=(0, 0, 0), bodies=bodies, joints=joints, frames=frames)


def test_responses_are_reciprocal():
    """A force at A moves B as a force at B moves A (Maxwell, Betti, Rayleigh), dampers included."""
    forces = ["tip.fx", "tip.fy", "tip.mz", "side.fz", "side.mx", "shoulder", "elbow.motor", "elbow"]
    motions = ["tip.x", "tip.y", "tip.rz", "side.z", "side.rx", "shoulder", "elbow.motor", "elbow"]
    G = pliant.transfer(arm()).response(np.geomspace(1.0, 2000.0, 30), forces, motions).values
    size = np.sqrt(np.abs(np.einsum("fi,fj->fij", *(np.abs(np.diagonal(G, axis1=1, axis2=2)),) * 2)))
    assert np.max(np.abs(G - np.swapaxes(G, 1, 2)) / size) < 1e-9


def test_slow_responses_are_the_static_ones():
    """w -> 0: a cantilever's tip under a force, F L^3/3EI with the shear term, and its rotation F L^2/2EI."""
    beam = steel_beam()
    model = Model("cantilever", gravity=(0, 0, 0), bodies=[beam], frames=[Frame("beam", (1.0, 0, 0), name="tip")])
    EI, kGA = 2e11 * 0.01 * 0.02**3 / 12, 5 / 6 * STEEL.shear * 2e-4
    found = pliant.transfer(model)
    for w in (0.0, 1e-6):
        y, turn = found.response(w, "tip.fy", ["tip.y", "tip.rz"]).values[0, :, 0]
        assert y == pytest.approx(1 / (3 * EI) + 1 / kGA, rel=1e-12)
        assert turn == pytest.approx(1 / (2 * EI), rel=1e-12)


def test_a_slow_free_arm_moves_as_a_rigid_body():
    """1/(w^2 m), to all digits at 1e-6 of its first frequency: nothing cancels."""
    w = 1e-5
    G = pliant.transfer(drifting()).response(w, "beam.fy", ["beam.y", "beam.rz"]).values[0, :, 0]
    assert pytest.approx([-4.0 / w**2, 6.0 / w**2], rel=1e-9) == G  # about the end of a rod: 1/m + (L/2)^2/I, -(L/2)/I


def test_the_power_of_a_force_is_what_the_dampers_take():
    """Re(F v*) / 2 = sum of c |relative rate|^2 / 2, and no less at any frequency."""
    model = torsion_chain(6, 20.0, 0.3)
    w = np.geomspace(0.1, 20.0, 50)
    names = [f"j{k}" for k in range(6)]
    response = (
        pliant.transfer(model).response(w, "b5.mz", [*(f"{name}.rate" for name in names), "b5.wz"]).values[:, :, 0]
    )
    assert np.allclose(response[:, -1].real, 0.3 * np.sum(np.abs(response[:, :6]) ** 2, axis=1), rtol=1e-11)


def test_a_moving_ground_is_felt_as_inertia():
    """Seen from the ground, motion of the ground is a force -m a on every body: y_rel = w^2 m G(tip.fy) of a cart."""
    cart = Body("cart", mass=2.0, inertia=(1, 1, 1))
    model = Model(
        "cart", gravity=(0, 0, 0), bodies=[cart],
        joints=[Joint("y", "prismatic", "cart", axis=(0, 1, 0), stiffness=50.0, damping=1.0)],
    )  # fmt: skip
    w = np.linspace(0.5, 10.0, 7)
    G = pliant.transfer(model).response(w, ["world.y", "cart.fy"], ["y", "cart.y"]).values
    assert np.allclose(G[:, 0, 0], 2.0 * w**2 * G[:, 0, 1], rtol=1e-13)
    assert np.allclose(G[:, 1, 0], 1.0 + G[:, 0, 0], rtol=1e-13)


def test_a_prescribed_joint_is_held_and_its_motion_is_an_input():
    """A hub that turns a flexible arm: at low frequencies the tip follows with its radius; frequencies as clamped."""
    beam = steel_beam()
    model = Model(
        "slew", gravity=(0, 0, 0), bodies=[beam], joints=[Joint("hub", "revolute", "beam", motion=0.3)],
        frames=[Frame("beam", (1.0, 0, 0), name="tip")],
    )  # fmt: skip
    found = pliant.transfer(model, count=3)
    clamped = pliant.transfer(Model("held", gravity=(0, 0, 0), bodies=[beam]), count=3)
    assert np.allclose(found.frequencies, clamped.frequencies, rtol=1e-12)
    tip = found.response(1e-3, "hub", ["tip.x", "tip.y", "tip.rz"])
    assert tip.input_units == ("rad",)
    assert tip.values[0, :, 0] == pytest.approx([-np.sin(0.3), np.cos(0.3), 1.0], rel=1e-8)


def test_a_frequency_at_which_a_part_resonates_alone_is_nothing_special():
    """Uniform chain at w^2 = k/I: the outermost pivot is zero to the last digit."""
    n, w = 5, np.sqrt(20.0)
    G = pliant.transfer(torsion_chain(n)).response([w, w * (1 + 1e-9)], "b0.mz", [f"b{k}.rz" for k in range(n)]).values
    K = 20.0 * (2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1))
    K[-1, -1] = 20.0
    exact = np.linalg.solve(K - w**2 * np.eye(n), np.eye(n)[0])
    assert np.allclose(G[0, :, 0], exact, rtol=1e-12, atol=1e-14)
    assert np.allclose(G[1, :, 0], exact, rtol=1e-6, atol=1e-6)


def test_shapes_are_orthogonal_and_those_of_the_cantilever():
    beam = steel_beam(bending_y=4)
    found = pliant.transfer(Model("cantilever", gravity=(0, 0, 0), bodies=[beam]), count=4)
    for k, mode in enumerate(bending_modes(beam, "y")):
        shape = found.beam_shape("beam", k)
        y, exact = shape.displacement[:, 1].real, mode.shape.at(shape.x)
        scale = y[-1] / exact.y[-1]
        assert np.allclose(y, scale * exact.y, atol=1e-9 * abs(scale))
        assert np.allclose(shape.rotation[:, 2].real, scale * exact.rotation, atol=1e-8 * abs(scale) * (k + 1))


# --- values, pages, command ------------------------------------------------------------------------------------------


def test_values_and_pages(tmp_path):
    found = pliant.transfer(arm(), below=500.0)
    assert "what moves" in repr(found)
    assert np.allclose(found.hertz * 2 * np.pi, found.frequencies)
    assert found.is_stable
    assert np.all(found.frequencies < 500.0)
    assert np.all(found.damping_ratios > 0.0)
    bode = found.bode("shoulder", ["tip.y", "shoulder"])
    assert bode.values.shape == (2000, 2, 1)
    assert np.array_equal(bode.between("shoulder", "tip.y"), bode.values[:, 0, 0])
    assert bode.unit("shoulder", "tip.y") == "m/(N m)"
    assert np.allclose(bode.magnitude * np.exp(1j * bode.phase), bode.values)
    axes = bode.plot()
    assert axes.shape == (2, 2)
    assert axes[0, 0].get_xscale() == "log"
    found.report(tmp_path / "page.html", response=bode)
    page = (tmp_path / "page.html").read_text()
    for words in ("Natural frequencies", "Shapes of the beams", "Frequency response", "upper: along y"):
        assert words in page
    assert json.loads(json.dumps(found.summary))["modes"][0]["count"] == 1


def test_a_film_bends_its_beams_as_the_mode_does():
    """Frames at the tips of both beams: placed by the film's coordinates, displaced by the mode."""
    from pliant.linear.transfer_matrix.films import AMPLITUDE, film, picture_model

    model = arm()
    found, drawn = pliant.transfer(model, count=8), picture_model(model)
    for k in (1, 7):
        q = film(found, drawn, k).q
        # it starts with the real part of the mode and is opposite half a period, 30 frames, later
        ahead, back = (pliant.frame_placement(drawn, q[frame], "tip")[1] for frame in (0, 30))
        exact = AMPLITUDE * found.frame_shape("tip", k)[:3]
        # large rotations: second order of the amplitude cancels in the difference, third remains
        assert np.allclose(0.5 * (ahead - back), exact.real, atol=2 * AMPLITUDE**2 * np.abs(exact).max())


def test_the_command_prints_the_table_and_writes_page_and_numbers(tmp_path):
    done = pliant_command(
        "transfer", "spin-up", "--modes", "4", "--input", "hub", "--output", "tip", "--out", str(tmp_path)
    )
    assert done.returncode == 0, done.stderr
    assert "4 natural frequencies up to" in done.stdout
    numbers = json.loads((tmp_path / "summary.json").read_text())
    assert numbers["modes"][0]["frequency"] == pytest.approx(CANTILEVER[0] * np.sqrt(1.4e4 / 1.2) / 100.0, rel=1e-9)
    assert numbers["response"]["transfer_functions"][0]["input"] == "hub"
    assert (tmp_path / "report.html").stat().st_size > 1000


# --- messages --------------------------------------------------------------------------------------------------------


def beam_model(**given):
    return Model(
        "arm", gravity=(0, 0, 0), bodies=[steel_beam(**given)], frames=[Frame("beam", (1.0, 0, 0), name="tip")]
    )


def falling():
    return Model("falling", bodies=[Body("ball", mass=1.0, inertia=(1, 1, 1))], base=Base("floating"))


def drifting():
    return Model("free", gravity=(0, 0, 0), bodies=[unit_beam(bending_y=Bending(1, ends="ff"))], base=Base("planar"))


def shaken():
    hub = Joint("hub", "revolute", "beam", motion=pliant.Sine(amplitude=1.0, omega=2.0))
    return Model("shaken", gravity=(0, 0, 0), bodies=[steel_beam()], joints=[hub])


def bare():
    return Model("bare", gravity=(0, 0, 0), bodies=[Body("b", mass=1.0)], joints=[Joint("x", "prismatic", "b")])


REFUSED = [
    (lambda: pliant.transfer(pliant.load("four-bar")), ["closed loops", "pliant.modes"]),
    (lambda: pliant.transfer(bare()), ["nothing in 'bare' is elastic"]),
    (lambda: pliant.transfer(falling()), ["transfer", "nothing holds"]),
    (lambda: pliant.transfer(beam_model(), below=1.0).frequencies, ["no natural frequency", "below 1 rad/s"]),
    (lambda: pliant.transfer(beam_model(), below=-1.0), ["below", "-1"]),
    (lambda: pliant.transfer(beam_model(), below=float("nan")), ["below", "nan"]),
    (lambda: pliant.transfer(beam_model(), count=0), ["count", "0 found"]),
    (lambda: pliant.transfer(beam_model(), count=2, below=3.0), ["both"]),
    (lambda: pliant.transfer("robot.toml"), ["is no Model"]),
    (lambda: pliant.transfer(beam_model()).response(-1.0), ["omega", "-1 found"]),
    (lambda: pliant.transfer(beam_model()).response([1.0, float("nan")]), ["omega", "finite"]),
    (lambda: pliant.transfer(beam_model()).response(1.0, "tip.fq"), ["inputs", "tip.fq", "world.y"]),
    (lambda: pliant.transfer(beam_model()).response(1.0, "tip.fy", "tipp.y"), ["outputs", "tipp.y", "tip.x"]),
    (lambda: pliant.transfer(beam_model()).response(1.0), ["no joint", "tip.fy"]),
    (lambda: pliant.transfer(beam_model()).response(1.0, "tip.fy").between("tip.fy", "q"), ["output", "'q'"]),
    (lambda: pliant.transfer(beam_model()).beam_shape("boom", 0), ["beam", "boom"]),
    (lambda: pliant.transfer(beam_model()).frame_shape("boom", 0), ["frame", "boom"]),
    (lambda: pliant.transfer(beam_model()).joint_shape(99), ["k: 99"]),
    (lambda: pliant.transfer(beam_model()).count_below(0.0), ["omega", "0 found"]),
    (lambda: pliant.transfer(beam_model(), q=[0.1]), ["bends beam 'beam'"]),
    (lambda: pliant.transfer(beam_model(damping=Damping(ratio=0.01))), ["damping ratio", "stiffness_time"]),
    (lambda: pliant.transfer(beam_model(damping=Damping(air=0.01))), ["air", "is_damped=False"]),
    (lambda: pliant.transfer(beam_model(damping=Damping(kelvin_voigt=1e5))), ["Kelvin-Voigt"]),
    (lambda: pliant.transfer(beam_model(bending_y=Bending(1, ends="ss"))), ["tilts", "fixed joint"]),
    (
        lambda: pliant.transfer(beam_model(section=TaperedSection((Rectangle(0.02, 0.01), Rectangle(0.01, 0.01))))),
        ["tapered", "uniform"],
    ),
    (lambda: pliant.transfer(drifting()).response(0.0, "beam.fy", "beam.y"), ["omega: 0 found", "held by nothing"]),
    (
        lambda: pliant.transfer(replace(beam_model(), loads=[Load("tip", y=1.0, kind="couple")])),
        ["a couple", "an axis across it", "potential energy"],
    ),
    (lambda: pliant.transfer(shaken()), ["'hub' moves"]),
    (lambda: pliant.transfer(torsion_chain(110), count=2).bode(), ["110 outputs", "name the inputs"]),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_what_cannot_be_taken_is_said(number):
    call, words = REFUSED[number]
    with pytest.raises(pliant.ModelError) as caught:
        call()
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("transfer", "four-bar"), "closed loops"),
        (("transfer", "two-link-arm"), "elastic"),
        (("transfer", "spin-up", "--below", "1"), "no natural frequency"),
        (("transfer", "spin-up", "--input", "nowhere"), "nowhere"),
        (("transfer", "spin-up", "--modes", "0"), "count"),
    ],
)
def test_the_command_ends_with_2_where_it_cannot(words, said):
    done = pliant_command(*words)
    assert done.returncode == 2
    assert said in done.stderr


# --- models without beams that bend, couples, motions that nothing holds ------------------------------------------


def shaft(count, torque, axes="world", place="bar{}"):
    """Bars on a shaft with springs of 20 N m/rad between them, and a couple along it on the last."""
    bars = [Body(f"bar{k}", mass=1.0, inertia=(5.0, 5.0, 5.0)) for k in range(1, count + 1)]
    hinges = [
        Joint(f"hinge{k}", "revolute", f"bar{k}", parent=f"bar{k - 1}" if k > 1 else "world", axis="x", stiffness=20.0)
        for k in range(1, count + 1)
    ]
    load = Load(place.format(count), x=torque, kind="couple", axes=axes)
    return Model("shaft", gravity=(0, 0, 0), bodies=bars, joints=hinges, loads=[load])


def test_a_page_of_a_model_without_beams_has_its_table_and_films(tmp_path):
    found = pliant.transfer(shaft(2, 0.0))
    found.report(tmp_path / "page.html", response=found.bode())
    page = (tmp_path / "page.html").read_text()
    assert "Natural frequencies" in page
    assert "Shapes of the joints" in page
    assert "Shapes of the beams" not in page


@pytest.mark.parametrize("axes", ["world", "body"])
@pytest.mark.parametrize("torque", [0.0, 3.0])
def test_a_couple_along_the_axis_of_all_hinges_moves_rest_and_no_frequency(axes, torque):
    """Its potential is linear in the angles: 2 sqrt(k/I) sin((2j - 1) pi / (4n + 2)) with it and without."""
    n = 5
    found = pliant.transfer(shaft(n, torque, axes))
    exact = 2.0 * np.sqrt(20.0 / 5.0) * np.sin((2 * np.arange(1, n + 1) - 1) * np.pi / (4 * n + 2))
    assert found.frequencies == pytest.approx(exact, rel=1e-12)  # Rayleigh's quotient: rounding
    assert found.q == pytest.approx(np.full(n, torque / 20.0), abs=1e-9)  # equilibrium's own tolerance


def test_pendulums_held_aside_by_couples_agree_with_the_linear_model():
    """Of two links, a couple on each, in axes of the world and of the link."""
    links = [Body("upper", 1.0, shape=Rod(1.0)), Body("lower", 0.5, shape=Rod(0.7))]
    hinges = [
        Joint("shoulder", "revolute", "upper", axis="z", q0=-1.2),
        Joint("elbow", "revolute", "lower", Frame("upper", (1.0, 0, 0)), q0=0.5),
    ]
    couples = [Load("upper", z=-1.0, kind="couple"), Load("lower", z=1.0, kind="couple", axes="body")]
    model = Model("pendulum", links, hinges, gravity=(0, -9.81, 0), loads=couples)
    # differences of the linear model lose about half the digits
    assert pliant.transfer(model).frequencies == pytest.approx(pliant.modes(model).frequencies, rel=1e-7)


def test_a_couple_at_the_tip_of_a_beam_that_bends_about_it_is_taken():
    model = beam_model()
    with_couple = replace(model, loads=[Load("tip", z=0.1, kind="couple")])
    assert pliant.transfer(with_couple).frequencies == pytest.approx(pliant.transfer(model).frequencies, rel=1e-12)


def geared_arm():
    """Three flexible joints, stiff and with small armatures, on a plane without gravity: three motions held by
    nothing, whose springs cancel to rounding."""
    names = ["one", "two", "three"]
    bodies = [Body(name, 40.0, shape=Rod(2.0)) for name in names]
    drive = Transmission(stiffness=2e6)
    places = ["world", *(Frame(name, (2.0, 0, 0)) for name in names[:-1])]
    hinges = [
        Joint(f"joint_{name}", "revolute", name, place, armature=1e-3, gear=100.0, transmission=drive)
        for name, place in zip(names, places, strict=True)
    ]
    return Model("geared", gravity=(0, 0, 0), bodies=bodies, joints=hinges)


def test_motions_that_nothing_holds_are_zero_however_many_modes_are_asked_for():
    model = geared_arm()
    whole = pliant.transfer(model)
    assert list(whole.frequencies > 0.0) == [False] * 3 + [True] * 3
    for count in range(1, 7):
        found = pliant.transfer(model, count=count)
        np.testing.assert_array_equal(found.frequencies > 0.0, whole.frequencies[:count] > 0.0)
        assert found.frequencies == pytest.approx(whole.frequencies[:count], rel=1e-12)
        assert found.counts[0] == 3
        assert np.all(np.isfinite(found.bode().values))
    assert len(pliant.transfer(model, below=0.5 * whole.frequencies[3]).frequencies) == 3


def test_the_canadarm_without_gravity_has_five_motions_that_nothing_holds():
    case = all_cases()["canadarm"]
    model = replace(case.build(case.resolve({})), gravity=(0, 0, 0))
    for count in (2, 5, 6):
        found = pliant.transfer(model, count=count)
        assert np.count_nonzero(found.frequencies == 0.0) == min(count, 5)
        found.bode()

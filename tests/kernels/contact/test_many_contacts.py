"""A hundred contacts at once: what they do together is what statics says of all of them, or what each does alone."""

import dataclasses

import numpy as np
import pytest

import pliant
from pliant import Body, Contact, Frame, Joint, Model, NormalLaw, Output
from pliant.engine.prepared import Prepared
from pliant_benchmarks.contacts import STICTION, G, boxes, chain, plate


def resting_plate(rows, speed, gravity=(0.0, 0.0, -G), friction=STICTION):
    """A plate on rows times rows feet, at the height of its mass centre and pressed by its weight, with a speed."""
    side, stiffness, mass = np.linspace(-0.5, 0.5, rows), 1e4, 10.0
    points = tuple(Frame("plate", (float(x), float(y), 0.0)) for x in side for y in side)
    depth = mass * G / (len(points) * stiffness)
    law = NormalLaw("kelvin-voigt", stiffness, damping=10.0)
    return Model(
        "plate",
        (Body("plate", mass, inertia=(1.0, 1.0, 1.5)),),
        (Joint("free", "floating", "plate", q0=(0, 0, -depth, 0, 0, 0, 1), v0=(*speed, 0.0, 0.0, 0.0, 0.0)),),
        gravity=gravity,
        contacts=(Contact("feet", law, points=points, friction=friction, rests=True),),
    )


@pytest.mark.parametrize("rows", [2, 10])
def test_a_plate_slides_as_far_on_a_hundred_feet_as_on_four_and_then_sticks(rows):
    """speed^2 / (2 mu_k g); as many evaluations, for all feet do the same."""
    found = pliant.simulate(resting_plate(rows, (0.3, 0.4)), 0.5, dense=False)
    assert found.is_ok, found.reason
    way = 0.5**2 / (2.0 * 0.3 * G)
    # the law's stick speed, 1e-6 m/s or so, ends the slide early, and what is left of it creeps
    np.testing.assert_allclose(found.q[-1, :2], [0.6 * way, 0.8 * way], atol=1e-5)
    assert np.max(np.abs(found.v[-1])) < 1e-5
    assert found.audit["friction_drive"] <= 1e-9
    assert found.audit["stick_load"] <= 1.0 + 1e-6
    # 650 on four feet
    assert found.stats["evaluations"] <= 2000


@pytest.mark.parametrize("pull", [0.4, 0.499, 0.501, 0.7])
def test_a_hundred_feet_hold_what_all_of_them_can_hold(pull):
    """A pull along the ground of this part of the weight, against mu_s = 0.5; what has let go is held by mu_k = 0.3."""
    direction = np.array([0.6, 0.8])
    model = resting_plate(10, (0.0, 0.0), (*(pull * G * direction).tolist(), -G))
    handle = Prepared(model)
    vdot = handle.forward_dynamics(np.array(model.q0), np.array(model.v0))
    expected = (pull - 0.3) * G if pull > 0.5 else 0.0
    # stick forces are solved to 1e-9 of what they hold
    np.testing.assert_allclose(vdot, [*(expected * direction), 0.0, 0.0, 0.0, 0.0], atol=1e-8)
    # tried from within, by cones, or both, however many feet: a few more than 25 each
    assert handle.work.run[0].n_newton <= 60


@pytest.mark.parametrize("slope", [0.3, 0.6])
def test_a_chain_that_lies_on_a_slope_stays_or_slides_as_one_body(slope):
    """100 contacts in a line, of which the chain determines three forces: what pulls less what slips, or nothing."""
    model, n = chain(100, slope, 0.0, 0.0), 100
    law = model.contacts[0].friction
    # all contacts are pressed by 0.1 mm: that is their load, 1 N each
    q = np.array(model.q0)
    q[1] = -1e-4
    handle = Prepared(model)
    vdot = handle.forward_dynamics(q, np.zeros(n + 1))
    mass, load = 0.1 * (n - 1), 1e4 * 1e-4 * n
    pull = mass * G * np.sin(slope)
    expected = (pull - law.mu_k * load) / mass if pull > law.mu_s * load else 0.0
    # stick forces are solved to 1e-9 of what they hold
    assert vdot[0] == pytest.approx(expected, abs=1e-8)
    assert handle.work.run[0].n_newton <= 60


def balls(places, speeds):
    """Free balls of 0.1 m over the ground."""
    n, places, speeds = len(places), places.tolist(), speeds.tolist()
    return Model(
        "balls",
        [Body(f"ball{i}", 1.0, inertia=(1e-3, 1e-3, 1e-3)) for i in range(n)],
        [
            Joint(f"of{i}", "floating", f"ball{i}", q0=(*places[i], 0, 0, 0, 1), v0=(*speeds[i], 0, 0, 0))
            for i in range(n)
        ],
        gravity=(0, 0, -G),
        contacts=[
            Contact(
                "ground", NormalLaw("hu-guo", 1e4, restitution=0.4),
                points=[Frame(f"ball{i}") for i in range(n)], friction=STICTION, radius=0.05,
            )
        ],
    )  # fmt: skip


@pytest.mark.long
def test_a_hundred_balls_that_land_one_after_the_other_move_as_each_does_alone():
    """Each has its own event of landing, slides, rolls; they share steps, not forces."""
    rng, n = np.random.default_rng(3), 100
    places = np.column_stack([0.3 * np.arange(n), np.zeros(n), rng.uniform(0.06, 0.1, n)])
    speeds = np.column_stack([rng.normal(size=(n, 2)), np.zeros(n)])
    together = pliant.simulate(balls(places, speeds), 0.2, dense=False)
    assert together.is_ok, together.reason
    assert len({event.t for event in together.events}) >= n
    for i in (0, 17, 42, 99):
        alone = pliant.simulate(balls(places[i : i + 1], speeds[i : i + 1]), 0.2, dense=False)
        # both are right to some ten thousand tolerances (rtol 1e-8) of the motion
        np.testing.assert_allclose(together.q[-1, 7 * i : 7 * i + 7], alone.q[-1], atol=1e-5)
        np.testing.assert_allclose(together.v[-1, 6 * i : 6 * i + 6], alone.v[-1], atol=1e-4)
    assert together.audit["friction_drive"] <= 1e-9
    assert together.audit["stick_load"] <= 1.0 + 1e-6


@pytest.mark.parametrize("model", [plate(4), chain(20, 0.1, 0.01, 0.1), boxes(3)], ids=lambda model: model.name)
def test_what_lands_slides_and_sticks_obeys_the_laws_of_friction_and_keeps_its_energy(model):
    """Smaller ones of pliant bench contacts100: no force beyond its bound, none that drives."""
    found = pliant.simulate(model, 0.6, dense=False)
    assert found.is_ok, found.reason
    assert np.max(np.abs(found.v[-1])) < 1e-3
    assert found.audit["friction_drive"] <= 1e-9
    assert found.audit["stick_load"] <= 1.0 + 1e-6
    # rtol 1e-8 of some thousand steps
    assert found.audit["energy_residual"] < 1e-6


def test_peaks_of_normal_forces_are_those_of_the_outputs():
    """Result.contacts has them from forces alone, the outputs from accelerations as well: the same to the last bit."""
    model = dataclasses.replace(boxes(2), outputs=[Output("push", "ground", "contact")])
    found = pliant.simulate(model, 0.1, dense=False)
    assert len(found.contacts) >= 8
    for k in range(8):
        peaks = [row.peak_normal for row in found.contacts if row.point.endswith(f".point{k + 1}")]
        # normal force, and friction along three axes
        assert max(peaks) == np.max(found.outputs["push"].reshape(len(found.t), 8, 4)[:, k, 0])


def test_trees_beside_each_other_are_held_as_each_alone():
    """Boxes whose feet are declared box by box, or by corners, so that pairs of one box are not neighbours; one box
    rests on another, which connects two trees. M^-1 of all pairs of different trees is found in one go."""
    rng = np.random.default_rng(4)
    law, corners = NormalLaw("kelvin-voigt", 1e4, damping=60.0), [(-1, -1), (-1, 1), (1, -1), (1, 1)]

    def accelerations(boxes, by_corner):
        def foot(k, x, y):
            return Frame(f"box{k}", (0.15 * x, 0.1 * y, -0.05))

        feet = (
            [foot(k, *at) for at in corners for k in boxes]
            if by_corner
            else [foot(k, *at) for k in boxes for at in corners]
        )
        contacts = [Contact("ground", law, points=feet, friction=STICTION, rests=True)]
        if 1 in boxes:
            top = [Frame("top", (0.05 * x, 0.05 * y, -0.05)) for x, y in corners]
            lid = pliant.Plane("box1", (0.0, 0.0, 0.05))
            contacts.append(Contact("lid", law, lid, points=top, friction=STICTION, rests=True))
        names = [f"box{k}" for k in boxes] + ["top"] * (1 in boxes)
        places = {f"box{k}": (k, 0.0, 0.049) for k in boxes} | {"top": (1.0, 0.0, 0.1485)}
        model = Model(
            "boxes",
            [Body(name, 1.0, shape=pliant.Box((0.3, 0.2, 0.1))) for name in names],
            [Joint(f"free_{name}", "floating", name, q0=(*map(float, places[name]), 0, 0, 0, 1)) for name in names],
            gravity=(0.35 * G, 0.1 * G, -G),
            contacts=contacts,
        )
        v = np.concatenate([turned[name] for name in names])
        vdot = Prepared(model).forward_dynamics(np.array(model.q0), v)
        return dict(zip(names, vdot.reshape(-1, 6), strict=True))

    turned = {name: np.zeros(6) for name in ("box0", "box1", "box2", "top")}
    for vector in turned.values():
        vector[:3] = 1e-9 * rng.normal(size=3)  # slower than the stick speed
    together = [accelerations((0, 1, 2), by_corner) for by_corner in (False, True)]
    for k in range(3):
        alone = accelerations((k,), False)
        for found in together:
            for name, vdot in alone.items():
                # forces are found with a barrier of 1e-13, in parts that are not the same
                np.testing.assert_allclose(found[name], vdot, rtol=0.0, atol=1e-9)

"""A hundred contacts at once: what they do together is what each does alone, or what all of them do by statics."""

import numpy as np
import pytest

import pliant
from pliant import Body, Contact, Frame, Friction, Joint, Model, NormalLaw
from pliant_benchmarks.many import plate

STICTION = Friction("stiction", mu_k=0.3, mu_s=0.5)
G = 9.81


def balls(places, speeds):
    """Free balls of .1 m across over the ground."""
    n, places, speeds = len(places), places.tolist(), speeds.tolist()
    return Model(
        "balls",
        tuple(Body(f"ball{i}", 1.0, inertia=(1e-3, 1e-3, 1e-3)) for i in range(n)),
        tuple(
            Joint(f"of{i}", "floating", f"ball{i}", q0=(*places[i], 0, 0, 0, 1), v0=(*speeds[i], 0, 0, 0))
            for i in range(n)
        ),
        gravity=(0, 0, -G),
        contacts=(
            Contact(
                "ground", NormalLaw("hu-guo", 1e4, restitution=0.4),
                points=tuple(Frame(f"ball{i}") for i in range(n)), friction=STICTION, radius=0.05,
            ),
        ),
    )  # fmt: skip


def test_a_hundred_balls_that_land_one_after_the_other_move_as_each_does_alone():
    """Each ends in its own event of landing, slides, rolls; they share steps, not forces."""
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


def pressed(feet, speed):
    """A plate at rest on the ground but for its speed along it; feet at the height of its mass centre."""
    side = np.linspace(-0.5, 0.5, feet)
    points = tuple(Frame("plate", (float(x), float(y), 0.0)) for x in side for y in side)
    stiffness, mass = 1e4, 10.0
    depth, law = mass * G / (len(points) * stiffness), NormalLaw("kelvin-voigt", stiffness, damping=10.0)
    return Model(
        "plate",
        (Body("plate", mass, inertia=(1.0, 1.0, 1.5)),),
        (Joint("free", "floating", "plate", q0=(0, 0, -depth, 0, 0, 0, 1), v0=(*speed, 0.0, 0.0, 0.0, 0.0)),),
        gravity=(0, 0, -G),
        contacts=(Contact("feet", law, points=points, friction=STICTION, rests=True),),
    )


@pytest.mark.parametrize("feet", [2, 10])
def test_a_plate_slides_as_far_on_many_feet_as_on_few_and_then_sticks(feet):
    """speed^2 / (2 mu_k g); each foot carries its part, and the forces of those that stick are within their bounds."""
    found = pliant.simulate(pressed(feet, (0.3, 0.4)), 0.5, dense=False)
    assert found.is_ok, found.reason
    way = 0.5**2 / (2.0 * 0.3 * G)
    # the law's own stick speed, 1e-6 m/s or so, ends the slide early, and what is left of it creeps
    np.testing.assert_allclose(found.q[-1, :2], [0.6 * way, 0.8 * way], atol=1e-5)
    assert np.max(np.abs(found.v[-1])) < 1e-5
    assert found.audit["friction_drive"] <= 1e-9
    assert found.audit["stick_load"] <= 1.0 + 1e-6


def test_a_plate_on_a_hundred_feet_lands_slides_and_sticks():
    """Some feet break away while others hold: no force beyond its bound, none that drives, energy to tolerance."""
    found = pliant.simulate(plate(10, STICTION), 0.6, dense=False)
    assert found.is_ok, found.reason
    assert np.max(np.abs(found.v[-1, :2])) < 1e-5
    assert found.audit["friction_drive"] <= 1e-9
    assert found.audit["stick_load"] <= 1.0 + 1e-6
    # rtol 1e-8 of a few hundred steps
    assert found.audit["energy_residual"] < 1e-6

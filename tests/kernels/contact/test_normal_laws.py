"""Normal laws: restitution that a collision delivers, against the closed formulas; bounces against scipy."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from pliant import methods
from pliant.errors import ModelError
from pliant.model.bodies import Body, Frame, Rod, Sphere
from pliant.model.contact_points import contact_points
from pliant.model.contacts import Contact, NormalLaw, Plane
from pliant.model.joints import Joint
from pliant.model.model import Base, Crossing, Model, Output
from pliant.model.normal_laws import NORMAL_LAWS, Exact, Hertz
from pliant.simulation.simulate import simulate

WITH_RESTITUTION = [name for name, row in NORMAL_LAWS.items() if "restitution" in row.takes()]
TIGHT = {"rtol": 1e-12, "atol": 1e-14}

# X(e) as the papers have it, written out once more
FORMULAS = {
    "hunt-crossley": lambda e: 3 / 2 * (1 - e),
    "herbert-mcwhannell": lambda e: 6 * (1 - e) / (4 * e**2 - 4 * e + 4),
    "lee-wang": lambda e: 3 * (1 - e) / 4,
    "lankarani-nikravesh": lambda e: 3 * (1 - e**2) / 4,
    "gonthier": lambda e: (1 - e**2) / e,
    "zhiying-qishao": lambda e: 3 * (1 - e**2) * math.exp(2 * (1 - e)) / 4,
    "flores": lambda e: 8 * (1 - e) / (5 * e),
    "gharib-hurmuzlu": lambda e: 1 / e,
    "hu-guo": lambda e: 3 * (1 - e) / (2 * e),
}


def delivered(X):
    """e of ln((1 + X)/(1 - X e)) = X (1 + e) beside its trivial root e = -1."""
    if X == 0.0:
        return 1.0
    if X < 0.9:
        return brentq(lambda e: math.log1p(X) - math.log1p(-X * e) - X * (1 + e), 1e-9, 1.0, xtol=1e-15)
    # near 1/X in terms of w = ln(1 - X e)
    w = brentq(lambda w: math.log1p(X) - w - X - (1 - math.exp(w)), -700.0, 0.0, xtol=1e-15)
    return (1 - math.exp(w)) / X


def projectile(law, mass=1.0, speed=1.0, **numbers):
    """A body without gravity, 1 mm above the plane, that flies into it."""
    return Model(
        "projectile",
        (Body("ball", mass, inertia=(0.1, 0.1, 0.1)),),
        base=Base("floating", (0.1, 0.2, 1e-3), velocity=(0, 0, -speed)),
        gravity=(0, 0, 0),
        contacts=(Contact("ground", NormalLaw(law, **numbers), points=("ball",)),),
    )


def collide(duration, *args, **numbers):
    result = simulate(projectile(*args, **numbers), duration, **TIGHT)
    assert result.status == "done"
    assert len(result.contacts) == 1
    return result, result.contacts[0]


@pytest.mark.parametrize("law", WITH_RESTITUTION)
@pytest.mark.parametrize(
    ("e", "mass", "speed", "K", "n"),
    [(0.5, 1.0, 1.0, 1e4, 1.5), (0.8, 0.3, 0.2, 1e6, 1.5), (0.95, 7.0, 3.0, 1e5, 1.2), (0.7, 2.0, 5.0, 1e7, 2.0)],
)
def test_delivered_restitution_is_that_of_the_closed_formula(law, e, mass, speed, K, n):
    expected = e if law == "exact" else delivered(FORMULAS[law](e))
    result, contact = collide(1.0, law, mass, speed, stiffness=K, restitution=e, exponent=n)
    assert contact.restitution_delivered == pytest.approx(expected, abs=1e-8)
    assert contact.restitution_requested == e
    assert contact.v_in == pytest.approx(speed, rel=1e-12)
    assert contact.impulse == pytest.approx(mass * speed * (1 + expected), rel=1e-8)
    assert contact.work == pytest.approx(-0.5 * mass * speed**2 * (1 - expected**2), rel=1e-7)
    assert result.audit["energy_residual"] < 1e-11


@pytest.mark.parametrize(("law", "expected"), [("hunt-crossley", 0.663), ("lankarani-nikravesh", 0.725)])
def test_delivered_restitution_has_the_published_values(law, expected):
    _, contact = collide(1.0, law, stiffness=1e4, restitution=0.5)
    assert contact.restitution_delivered == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize("law", ["hooke", "hertz"])
def test_elastic_laws_give_all_back(law):
    _, contact = collide(5.0, law, stiffness=1.0, speed=0.9, mass=1.1)
    assert contact.restitution_delivered == pytest.approx(1.0, abs=1e-11)
    assert math.isnan(contact.restitution_requested)


def test_unit_collision_of_hertz():
    result, contact = collide(6.0, "hertz", stiffness=1.0)
    # int dx / sqrt(1 - x^(5/2)) by gamma functions
    depth = 1.25**0.4
    assert contact.t_end - contact.t_start == pytest.approx(
        2 * depth * math.sqrt(math.pi) * math.gamma(1.4) / math.gamma(0.9), rel=1e-10
    )
    assert contact.t_end - contact.t_start == pytest.approx(3.21807, abs=1e-5)
    assert contact.peak_normal == pytest.approx(depth**1.5, rel=1e-9)
    assert contact.t_start == pytest.approx(1e-3, abs=1e-13)
    assert -result.q[:, 2].min() == pytest.approx(1.09336, abs=1e-3)


def test_unit_collision_of_lankarani_nikravesh():
    _, contact = collide(6.0, "lankarani-nikravesh", stiffness=1.0, restitution=0.8)
    assert contact.restitution_delivered == pytest.approx(0.8471, abs=5e-5)


@pytest.mark.parametrize(("mass", "K", "zeta"), [(1.0, 1e4, 0.1), (3.0, 1e6, 0.5), (0.2, 500.0, 0.9)])
def test_kelvin_voigt_lets_go_when_its_force_vanishes(mass, K, zeta):
    C = 2 * zeta * math.sqrt(K * mass)
    _, contact = collide(10.0, "kelvin-voigt", mass, 0.7, stiffness=K, damping=C)
    expected = math.exp(-2 * zeta * math.acos(zeta) / math.sqrt(1 - zeta**2))
    assert contact.restitution_delivered == pytest.approx(expected, abs=1e-10)


def test_given_damping_of_hunt_and_crossley():
    """v dv/dd = -K d^n (1 + c v)/m integrates to the formula of restitution with X = c v_in."""
    c, speed = 0.4, 1.7
    _, contact = collide(1.0, "hunt-crossley", 2.0, speed, stiffness=1e5, damping=c)
    assert contact.restitution_delivered == pytest.approx(delivered(c * speed), abs=1e-9)


@pytest.mark.parametrize("e", [0.02, 0.1, 0.3, 0.5, 0.8, 0.97, 0.9999, 1 - 1e-9])
def test_exact_damping_solves_its_equation(e):
    X = Exact.damping_factor(e)
    if e > 0.9:
        # two terms of the series in 1 - e
        d = 1 - e
        assert pytest.approx(X, rel=max(3 * d**2, 1e-13)) == 1.5 * d * (1 + d)
    else:
        assert delivered(X) == pytest.approx(e, rel=1e-9)
    assert Exact.damping_factor(1.0) == 0.0


def test_stiffness_from_radii_and_materials():
    steel, rubber = (2e11, 0.3), (1e7, 0.48)
    shared = 1 / ((1 - 0.3**2) / 2e11 + (1 - 0.48**2) / 1e7)
    radius = 0.02 * 0.05 / 0.07
    given = Hertz(0.02, *steel, other_radius=0.05, other_young=rubber[0], other_poisson=rubber[1])
    assert given.stiffness == pytest.approx(4 / 3 * shared * math.sqrt(radius), rel=1e-14)
    assert Hertz(0.1, 1e9, 0.0).stiffness == pytest.approx(4 / 3 * 1e9 * math.sqrt(0.1))
    assert Hertz(0.1, 1e9, 0.0).stiffness == NormalLaw("hertz", Hertz(0.1, 1e9, 0.0)).K


def test_every_law_has_a_row_of_methods():
    assert [row.name for row in methods.NORMAL_LAWS] == list(NORMAL_LAWS)
    assert methods.FAMILIES["normal law"] == methods.NORMAL_LAWS


# --- with gravity -----------------------------------------------------------------------------------------------


def dropped(height=0.1, K=1e6, e=0.8, **more):
    return Model(
        "dropped",
        (Body("ball", 1.0, shape=Sphere(0.05)),),
        base=Base("floating", (0, 0, height)),
        contacts=(Contact("ground", NormalLaw("hu-guo", K, restitution=e), points=("ball",)),),
        **more,
    )


def bounces_by_scipy(K, e, height, t_end):
    """Times of begin and end of contact, by flight parabolas and a tight integration of every contact."""
    X, g = 1.5 * (1 - e) / e, 9.81
    t, speed, times = math.sqrt(2 * height / g), math.sqrt(2 * g * height), []
    while True:
        begin = t

        def rate(_, y, speed=speed):
            return [y[1], g - K * max(y[0], 0.0) ** 1.5 * (1 + X * y[1] / speed)]

        def leaves(_, y):
            return y[0]

        leaves.direction, leaves.terminal = -1, True
        run = solve_ivp(
            rate, (0, 1), [0.0, speed], events=leaves, method="DOP853", rtol=1e-12, atol=1e-15, first_step=1e-7
        )
        t += run.t_events[0][0]
        if t > t_end:
            return times
        speed = -run.y_events[0][0][1]
        times.append((begin, t, speed))
        t += 2 * speed / g
        if t > t_end:
            return times


def test_bouncing_ball_as_scipy_has_it():
    result = simulate(dropped(), 0.75, rtol=1e-11, atol=1e-13)
    expected = bounces_by_scipy(1e6, 0.8, 0.1, 0.75)
    over = result.contacts[~np.isnan(result.contacts.t_end)]
    assert len(over) == len(expected) >= 3
    for contact, (begin, end, speed) in zip(over, expected, strict=True):
        assert contact.t_start == pytest.approx(begin, abs=1e-9)
        assert contact.t_end == pytest.approx(end, abs=1e-9)
        assert contact.v_out == pytest.approx(speed, rel=1e-8)
    assert result.audit["energy_residual"] < 1e-9
    assert result.audit["event_error"] < 1e-14


def test_bouncing_ends_in_rest_and_the_run_goes_on():
    result = simulate(dropped(), 8.0)
    assert result.status == "done"
    assert len(result.contacts) < 60
    assert math.isnan(result.contacts[-1].t_end)
    assert result.contacts[-1].t_start < 2.0
    assert result.q[-1, 2] == pytest.approx(-((9.81 / 1e6) ** (2 / 3)), rel=1e-6)
    assert abs(result.v[-1, 2]) < 1e-7
    assert result.stats["steps"] < 20000


@pytest.mark.parametrize("speed", [0.0, 0.3])
def test_start_on_the_plane(speed):
    model = dropped(0.0)
    result = simulate(model, 0.5, v0=[0, 0, -speed, 0, 0, 0])
    assert result.status == "done"
    assert result.contacts[0].t_start == 0.0
    assert result.contacts[0].v_in == pytest.approx(speed, abs=1e-12)
    # all energy in the spring
    assert result.q[:, 2].min() > -2e-3


def test_a_start_on_a_tilted_plane_is_on_it_up_to_rounding():
    tilt = Plane(Frame("world", (0.3, 0.2, 0.1)), (0.3, -0.2, 0.9))
    n = np.array(tilt.normal) / np.linalg.norm(tilt.normal)
    model = Model(
        "tilted",
        (Body("ball", 1.0, shape=Sphere(0.05)),),
        base=Base("floating", tuple(np.array([0.3, 0.2, 0.1]) + np.cross(n, (0.3, 0.4, 0.5)))),
        contacts=(Contact("slope", NormalLaw("hunt-crossley", 1e6, damping=10.0), tilt, ("ball",)),),
        outputs=(Output("force", "slope", "contact"), Output("gap", "slope", "gap")),
    )
    result = simulate(model, 1.0)
    # it slides down without friction and settles where the plane carries its share of the weight
    assert result.outputs["force"][-1, 0] == pytest.approx(9.81 * n[2], rel=1e-6)
    acceleration = (9.81 * n[2]) * n + np.array([0, 0, -9.81])
    np.testing.assert_allclose(result.v[-1, :3], acceleration, atol=2e-3)
    assert result.outputs["gap"][-1, 0] == pytest.approx(-((9.81 * n[2] / 1e6) ** (2 / 3)), rel=1e-5)


def test_touch_and_go_is_found():
    """A parabola that dips 1 nm into the plane."""
    speed = 0.5
    ceiling = Plane(normal=(0, 0, -1), offset=-(speed**2 / 2 / 9.81 - 1e-9))
    model = Model(
        "grazing",
        (Body("ball", 1.0, shape=Sphere(0.05)),),
        base="floating",
        contacts=(Contact("ceiling", NormalLaw("hertz", 1.0), ceiling, ("ball",)),),
    )
    result = simulate(model, 0.2, v0=[0, 0, speed, 0, 0, 0])
    assert len(result.contacts) == 1
    width = 2 * math.sqrt(2 * 1e-9 / 9.81)
    assert result.contacts[0].t_end - result.contacts[0].t_start == pytest.approx(width, rel=1e-4)
    assert 0.5 * (result.contacts[0].t_end + result.contacts[0].t_start) == pytest.approx(speed / 9.81, abs=1e-9)


def test_balls_touch_with_their_radius():
    model = Model(
        "ball",
        (Body("ball", 1.0, shape=Sphere(0.05)),),
        base=Base("floating", (0, 0, 0.25)),
        contacts=(Contact("ground", NormalLaw("hertz", 1e6), points=("ball",), radius=0.05),),
    )
    result = simulate(model, 0.3)
    assert result.contacts[0].t_start == pytest.approx(math.sqrt(2 * 0.2 / 9.81), abs=1e-12)


# --- several points, planes that move ---------------------------------------------------------------------------


def bar(**more):
    """A level rod that falls flat on both ends."""
    return Model(
        "bar",
        (Body("rod", 1.0, shape=Rod(1.0)),),
        base=Base("planar", (-0.5, 0.2, 0)),
        gravity=(0, -9.81, 0),
        contacts=(Contact("ground", NormalLaw("hu-guo", 1e7, restitution=0.7), Plane(normal=(0, 1, 0))),),
        **more,
    )


def test_simultaneous_impacts_keep_the_symmetry():
    result = simulate(bar(), 1.5)
    assert result.contacts.point[:2].tolist() == ["rod.start", "rod.end"]
    starts, ends = result.contacts[0::2], result.contacts[1::2]
    assert len(starts) == len(ends) > 5
    assert np.array_equal(starts.t_start, ends.t_start)
    assert np.max(np.abs(result.q[:, 2])) < 1e-10


def chain():
    """Two rods with a hinge between them."""
    return Model(
        "chain",
        (Body("a", 1.0, shape=Rod(1.0)), Body("b", 1.0, shape=Rod(0.5))),
        (Joint("hinge", "revolute", "b", Frame("a", (1.0, 0, 0))),),
        base=Base("planar", (0, 1.0, 0)),
        contacts=(Contact("ground", NormalLaw("hertz", 1e7), Plane(normal=(0, 1, 0))),),
    )


def test_link_ends_are_the_points_and_pinned_ones_count_once():
    model = chain()
    assert [point.name for point in contact_points(model, model.contacts[0])] == ["a.start", "a.end", "b.end"]
    fixed = Model(
        "arm",
        (Body("a", 1.0, shape=Rod(1.0)), Body("b", 1.0, shape=Rod(0.5))),
        (Joint("base", "revolute", "a"), Joint("slide", "prismatic", "b", Frame("a", (1.0, 0, 0)), (1, 0, 0))),
        contacts=model.contacts,
    )
    assert [point.name for point in contact_points(fixed, fixed.contacts[0])] == ["a.end", "b.start", "b.end"]


def two_bodies():
    """A ball that flies into a free plate which spins."""
    return Model(
        "pair",
        (Body("plate", 3.0, inertia=(0.4, 0.5, 0.6)), Body("ball", 0.5, shape=Sphere(0.05))),
        (
            Joint("of_plate", "floating", "plate", v0=(0.1, 0, 0.3, 0.2, -0.3, 0.1)),
            Joint("of_ball", "floating", "ball", q0=(0.1, 0.05, 0.5, 0, 0, 0, 1), v0=(0, 0.1, -2, 3, 1, 2)),
        ),
        gravity=(0, 0, 0),
        contacts=(Contact("hit", NormalLaw("exact", 1e5, restitution=0.6), Plane("plate"), ("ball",), radius=0.05),),
    )


def test_two_free_bodies_collide_and_keep_their_momentum():
    result = simulate(two_bodies(), 0.5, rtol=1e-11, atol=1e-13)
    assert len(result.contacts) == 1
    assert result.audit["momentum_drift"] < 1e-12
    assert result.audit["energy_residual"] < 1e-11
    assert result.contacts[0].restitution_delivered == pytest.approx(0.6, abs=2e-2)
    assert result.contacts[0].v_in > 1.9


# --- start, phases, outputs ------------------------------------------------------------------------------------


def test_start_inside_the_plane_is_refused():
    with pytest.raises(
        ModelError, match=r"start: point 'ball' of contact 'ground' is 0\.01 m inside its plane; start on"
    ):
        simulate(dropped(), 1.0, q0=[0, 0, -0.01, 0, 0, 0, 1])


def test_outputs_see_the_phase_of_their_time():
    model = dropped(outputs=(Output("force", "ground", "contact"), Output("gap", "ground", "gap")), e=0.5)
    result = simulate(model, 0.5)
    first = result.contacts[0]
    times = np.linspace(first.t_start, first.t_end, 2001)
    force = result.outputs_at(times)["force"][:, 0]
    assert force.min() > -1e-6
    assert np.trapezoid(force, times) == pytest.approx(first.impulse, rel=1e-5)
    assert first.peak_normal == pytest.approx(force.max(), rel=1e-5)
    assert first.peak_normal >= force.max() * (1 - 1e-12)
    # Hu-Guo with the speed of this contact
    middle = 700
    q, v = result.at(times[middle])
    X = 1.5 * 0.5 / 0.5
    assert force[middle] == pytest.approx(1e6 * (-q[2]) ** 1.5 * (1 - X * v[2] / first.v_in), rel=1e-12)
    np.testing.assert_allclose(result.outputs["gap"][:, 0], result.q[:, 2])
    shuffled = result.outputs_at(times[::-1])["force"][:, 0]
    np.testing.assert_array_equal(shuffled[::-1], force)


def test_a_crossing_and_a_contact_in_one_run():
    model = dropped(crossings=(Crossing("falls_fast", "ball.vz.rate", -1.0, "falling"),))
    result = simulate(model, 0.2)
    assert [event.name for event in result.events][:2] == ["falls_fast", "ground: ball"]
    assert result.events[0].t == pytest.approx(1.0 / 9.81, abs=1e-12)


# --- mistakes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"law": "hooke", "stiffness": 1.0, "restitution": 0.5}, "restitution has no effect in the law hooke"),
        ({"law": "hertz", "stiffness": 1.0, "damping": 0.5}, "damping has no effect in the law hertz; leave it out"),
        ({"law": "flores", "stiffness": 1.0}, "the law flores needs restitution; give it"),
        ({"law": "flores", "stiffness": 1.0, "damping": 1.0}, "no effect in the law flores; give restitution"),
        ({"law": "kelvin-voigt", "stiffness": 1.0}, "the law kelvin-voigt needs damping; give it"),
        ({"law": "kelvin-voigt", "stiffness": 1.0, "damping": 1.0, "exponent": 1.5}, "has exponent 1: leave it out"),
        ({"law": "hunt-crossley", "stiffness": 1.0}, "the law hunt-crossley needs restitution or damping; give it"),
        (
            {"law": "hunt-crossley", "stiffness": 1.0, "restitution": 0.5, "damping": 1.0},
            "restitution and damping are both given; the law hunt-crossley takes one of them",
        ),
        ({"law": "hertz", "stiffness": 0.0}, "stiffness: found 0.0; give a number above 0"),
        ({"law": "hertz", "stiffness": 1.0, "exponent": 0.5}, "exponent 0.5 found; give 1 or more"),
        ({"law": "flores", "stiffness": 1.0, "restitution": 0.0}, "restitution: found 0.0; give a number above 0"),
        ({"law": "flores", "stiffness": 1.0, "restitution": 1.1}, "restitution: found 1.1; give 1 or less"),
        ({"law": "floris", "stiffness": 1.0, "restitution": 1.0}, '"floris" is not known; did you mean \'flores\'?'),
        ({"law": "hertz", "stiffness": {"radius": 0.1}}, "'young' is missing; give it"),
        ({"law": "hertz", "stiffness": Hertz(0.1, 1e9), "exponent": 2.0}, "belongs to exponent 1.5: leave it out"),
    ],
)  # fmt: skip
def test_bad_normal_laws_are_refused(numbers, message):
    with pytest.raises(ModelError) as found:
        NormalLaw(**numbers)
    assert message in str(found.value)


HERTZ = NormalLaw("hertz", 1e6)


@pytest.mark.parametrize(
    ("contacts", "message"),
    [
        ((Contact("c", HERTZ, points=("bal",)),), "contact 'c': points[0] 'bal' does not exist; did you mean 'ball'?"),
        ((Contact("c", HERTZ, Plane("grund"), ("ball",)),), "contact 'c': plane.place 'grund' does not exist"),
        ((Contact("c", HERTZ),), "contact 'c': there is no rod, tube or beam whose ends could be its points"),
        ((Contact("c", HERTZ, Plane("ball"), ("ball",)),), "point 'ball' is on 'ball', as its plane is"),
        ((Contact("c", HERTZ, points=("world",)),), "point 'world' is on the world, which carries its plane"),
        ((Contact("c", HERTZ, points=("ball", "ball")),), "contact 'c': point 'ball' is named twice; name each once"),
        ((Contact("c", HERTZ, points=("ball",)),) * 2, "contact 'c': two contacts have this name; rename one of them"),
    ],
)  # fmt: skip
def test_bad_contacts_are_refused(contacts, message):
    with pytest.raises(ModelError) as found:
        Model("m", (Body("ball", 1.0, shape=Sphere(0.1)),), base="floating", contacts=contacts)
    assert message in str(found.value)


def test_bad_planes_and_outputs_are_refused():
    with pytest.raises(ModelError, match=r"normal \(0, 0, 0\) has no direction"):
        Plane(normal=(0, 0, 0))
    with pytest.raises(ModelError, match=r"output 'f': of \(contact of a contact\) 'floor' does not exist"):
        dropped(outputs=(Output("f", "floor", "contact"),))

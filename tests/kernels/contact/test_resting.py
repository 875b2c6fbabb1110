"""Bodies that begin at rest on each other: contacts begin together, without load, and friction costs no steps.

Gaps and their rates vanish within rounding there, and loads are zero: neither the sign of a gap nor the moment in which
a load begins may set the step."""

import numpy as np
import pytest

import pliant
from pliant import (
    Body,
    Box,
    Contact,
    Coulomb,
    Cycloid,
    Flores,
    Frame,
    HuntCrossley,
    Joint,
    KelvinVoigt,
    Limit,
    Model,
    Plane,
    Sphere,
    Stiction,
)

GRAVITY = (0.0, 0.0, -9.81)
CORNERS = [(x, y) for x in (-1, 1) for y in (-1, 1)]


def free(name, z):
    return Joint(f"free_{name}", "floating", name, q0=(0.0, 0.0, z, 0.0, 0.0, 0.0, 1.0))


def ball(friction):
    law = Flores(1e6, restitution=0.5)
    ground = Contact("ground", law, points=[Frame("ball")], radius=0.1, friction=friction)
    return Model(
        "ball", [Body("ball", 1.0, shape=Sphere(0.1))], [free("ball", 0.1)], gravity=GRAVITY, contacts=[ground]
    )


def box(friction):
    half = 0.025
    feet = [Frame("box", (half * x, half * y, -half)) for x, y in CORNERS]
    ground = Contact("ground", HuntCrossley(1e5, restitution=0.3), points=feet, friction=friction)
    shape = Box((2 * half, 2 * half, 2 * half))
    return Model("box", [Body("box", 0.2, shape=shape)], [free("box", half)], gravity=GRAVITY, contacts=[ground])


def stack(n, friction):
    """Cubes on each other, each with four corners on the face below."""
    half, names = 0.1, [f"cube{k}" for k in range(n)]
    planes = [Plane(), *(Plane(name, offset=half) for name in names[:-1])]
    contacts = [
        Contact(
            f"under_{name}",
            KelvinVoigt(1e5, 1e3),
            plane,
            points=[Frame(name, (half * x, half * y, -half)) for x, y in CORNERS],
            friction=friction,
        )
        for name, plane in zip(names, planes, strict=True)
    ]
    shape = Box((2 * half, 2 * half, 2 * half))
    joints = [free(name, (2 * k + 1) * half) for k, name in enumerate(names)]
    return Model("stack", [Body(name, 1.0, shape=shape) for name in names], joints, gravity=GRAVITY, contacts=contacts)


def run(model, duration, **options):
    result = pliant.simulate(model, duration, dense=False, max_steps=5000, **options)
    assert result.status == "done", result.reason
    return result


# height of the mass centre after a second: two integrators at 1e-12 agree in all digits given
@pytest.mark.parametrize(("model", "mu", "height"), [(ball, 0.3, 0.0997392428102), (box, 0.6, 0.02478735782993)])
@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-9])
def test_friction_that_holds_nothing_costs_no_steps(model, mu, height, rtol):
    smooth, rough = run(model(None), 1.0, rtol=rtol), run(model(Coulomb(mu)), 1.0, rtol=rtol)
    assert rough.stats["steps"] <= 1.5 * smooth.stats["steps"]
    # settled to within the tolerance times the depth, which is all that moves; here with a margin of 1e3
    assert rough.q[-1, 2] == pytest.approx(height, abs=max(1e3 * rtol * 3e-4, 1e-10))
    # nothing pulls sideways but rounding of the weight
    assert np.max(np.abs(rough.q[-1, :2])) < 1e-15


@pytest.mark.parametrize("friction", [None, Coulomb(0.3)])
def test_contacts_of_a_stack_begin_together_as_one_event(friction):
    """Those above carry nothing until those below have given way, by less than the rounding of their gaps."""
    result = run(stack(5, friction), 0.5, rtol=1e-6)
    assert [(event.t, event.direction) for event in result.events] == [(0.0, "falling")] * 20
    assert result.stats["events"] == 1
    # every cube is pressed by what lies on it, four corners share it; creep of the slowest mode is 1e-9 of it by then
    weights = 9.81 * np.arange(5, 0, -1)
    heights = result.q[-1, 2::7]
    depths = -np.diff(heights, prepend=-0.1) + 0.2
    np.testing.assert_allclose(depths, weights / 4e5, rtol=1e-4)


@pytest.mark.parametrize(("model", "rtol"), [(box(Coulomb(0.6)), 1e-6), (stack(3, Coulomb(0.3)), 1e-4)])
def test_a_minute_of_rest_takes_hardly_more_steps_than_five_seconds(model, rtol):
    """Nothing moves any more: what is left of sliding velocities dies out implicitly, whatever the step."""
    brief, long = run(model, 5.0, rtol=rtol), run(model, 60.0, rtol=rtol)
    assert long.stats["steps"] <= 1.2 * brief.stats["steps"]


def test_a_gripper_lifts_a_box_that_stands_on_a_table():
    half, law, friction = 0.025, HuntCrossley(1e5, restitution=0.3), Coulomb(0.6, stick_speed=1e-4)
    names = ["palm", "left", "right"]
    bodies = [Body(name, 0.1, shape=Box((0.01, 0.02, 0.05))) for name in names]
    bodies.append(Body("box", 0.2, shape=Box((2 * half, 2 * half, 2 * half))))
    finger = {"kind": "prismatic", "motor": 10.0, "damping": 20.0, "armature": 0.05}
    lift = Cycloid(0.5, 1.5, after=0.15)
    joints = [
        Joint("lift", "prismatic", "palm", parent=Frame("world", (0, 0, half)), motion=lift),
        Joint("close_left", child="left", parent=Frame("palm", (-0.045, 0, 0)), axis="x", **finger),
        Joint("close_right", child="right", parent=Frame("palm", (0.045, 0, 0)), axis="-x", **finger),
        free("box", half),
    ]
    corners = [Frame("box", (half * x, half * y, half * z)) for x, y in CORNERS for z in (-1, 1)]
    contacts = [
        Contact("table", law, Plane(), points=corners, friction=friction),
        Contact("left_pad", law, Plane("left", normal="x"), points=corners, friction=friction),
        Contact("right_pad", law, Plane("right", normal="-x"), points=corners, friction=friction),
    ]
    model = Model("gripper", bodies, joints, gravity=GRAVITY, contacts=contacts)
    # 347 without friction
    result = run(model, 2.0, rtol=1e-6)
    assert result.stats["steps"] <= 700
    # what sticks creeps by less than the stick speed, in the second that the box hangs
    names = list(model.coordinates)
    end = dict(zip(names, result.q[-1], strict=True))
    assert end["close_left"] == pytest.approx(0.0208549880, abs=1e-6)
    assert end["free_box.z"] == pytest.approx(0.1749216776, abs=1e-4)


@pytest.mark.parametrize("step", [5e-4, 2e-4])
def test_a_block_with_stiction_rests_with_fixed_steps(step):
    feet = [Frame("block", (0.1 * x, 0.1 * y, -0.05)) for x, y in CORNERS]
    ground = Contact("ground", KelvinVoigt(1e4, 60.0), points=feet, friction=Stiction(0.3, mu_s=0.5))
    block = Body("block", 1.0, shape=Box((0.2, 0.2, 0.1)))
    model = Model("block", [block], [free("block", 0.05)], gravity=GRAVITY, contacts=[ground])
    result = run(model, 0.5, integrator="rk4", step=step)
    assert result.stats["steps"] == round(0.5 / step)
    assert result.q[-1, 2] == pytest.approx(0.05 - 9.81 / 4e4, rel=1e-9)


def test_a_run_that_hardly_advances_ends_and_names_what_holds_it_up():
    """A mass hops on a stop, 2e-13 s each time: 1000 steps are less than 1e-9 of a second."""
    stop = Limit(lower=0.0, stiffness=1e30)
    slide = Joint("slide", "prismatic", "mass", axis="y", v0=1e-12, limit=stop)
    model = Model("hopper", [Body("mass", 1.0)], [slide], gravity=(0.0, -9.81, 0.0))
    result = pliant.simulate(model, 1.0)
    assert result.status == "failed"
    assert "hardly any time has passed" in result.reason
    assert "event 'slide at its lower limit'" in result.reason
    assert result.stats["steps"] <= 4000

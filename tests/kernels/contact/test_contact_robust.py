"""Contact where it is easily got wrong: several feet, fast turns, prescribed motion, starts on the plane, and more."""

import numpy as np
import pytest

import pliant
from pliant import (
    Beam,
    Bending,
    Body,
    Constant,
    Contact,
    Crossing,
    Frame,
    Friction,
    GivenSection,
    Joint,
    Load,
    Material,
    Model,
    NormalLaw,
    Output,
    Plane,
    Rectangle,
    Rod,
    Sine,
    Sphere,
)
from pliant.errors import ModelError

NORMAL = NormalLaw("hunt-crossley", 1e6, restitution=0.5)
FLOOR = Plane(normal=(0, 1, 0))


def slider(*feet, friction, speed=1.0):
    """A 2 kg block that slides in x-y and does not rotate."""
    return Model(
        "block",
        gravity=(0, -9.81, 0),
        bodies=(Body("slider", mass=0.0), Body("block", mass=2.0)),
        joints=(
            Joint("x", "prismatic", "slider", axis=(1, 0, 0), v0=speed),
            Joint("y", "prismatic", "block", parent="slider", axis=(0, 1, 0)),
        ),
        contacts=(Contact("floor", NORMAL, FLOOR, tuple(Frame("block", (x, 0, 0)) for x in feet), friction=friction),),
        outputs=(Output("force", "floor", "contact"),),
    )


@pytest.mark.parametrize("law", ["coulomb", "stiction", "karnopp"])
def test_a_block_on_two_feet_stops_where_one_on_one_foot_does(law):
    """Feet of one body share the load: v^2 / (2 mu g), and nothing pushes it on."""
    static = {} if law == "coulomb" else {"mu_s": 0.4}
    friction = Friction(law, mu_k=0.3, stick_speed=1e-3, **static)
    for feet in ((0.0,), (-0.1, 0.1), (-0.1, 0.0, 0.1)):
        result = pliant.simulate(slider(*feet, friction=friction), 1.0)
        assert result.is_ok
        assert result.q[-1, 0] == pytest.approx(1.0 / (2 * 0.3 * 9.81), abs=1e-3)
        assert abs(result.v[-1, 0]) < 1e-5


@pytest.mark.parametrize("spin", [10.0, 100.0])
@pytest.mark.parametrize("rtol", [1e-3, 1e-8])
def test_a_spinning_rod_touches_once_a_turn_however_long_the_steps_are(spin, rtol):
    """Without gravity the angle is linear in time and steps could be many turns long."""
    crossings = (Crossing("down", "tip.y", value=-0.99, direction="falling"),)
    model = Model(
        "rotor",
        gravity=(0, 0, 0),
        bodies=(Body("rod", mass=1.0, shape=Rod(1.0)),),
        joints=(Joint("hinge", "revolute", "rod", v0=spin),),
        frames=(Frame("rod", (1.0, 0, 0), name="tip"),),
        crossings=crossings,
    )
    result = pliant.simulate(model, 20.0, rtol=rtol)
    start, width = 1.5 * np.pi, np.arccos(0.99)
    expected = np.floor((spin * 20.0 - (start - width)) / (2 * np.pi)) + 1
    assert len(result.events) == expected


def test_friction_turns_with_a_prescribed_belt():
    """Where both motions are prescribed nothing can stick: the force jumps from -mu N to mu N with the belt's speed."""
    model = Model(
        "belt",
        gravity=(0, -9.81, 0),
        bodies=(Body("slider", mass=0.0), Body("block", mass=1.0), Body("belt", mass=1.0)),
        joints=(
            Joint("x", "prismatic", "slider", axis=(1, 0, 0), motion=Constant(0.0)),
            Joint("y", "prismatic", "block", parent="slider", axis=(0, 1, 0)),
            Joint("belt", "prismatic", "belt", axis=(1, 0, 0), motion=Sine(amplitude=0.1, omega=3.0)),
        ),
        contacts=(
            Contact("c", NORMAL, Plane("belt", (0, 1, 0)), ("block",), friction=Friction("stiction", 0.2, mu_s=0.3)),
        ),
        outputs=(Output("force", "c", "contact"),),
    )
    result = pliant.simulate(model, 2.0)
    assert result.is_ok
    t = np.array([0.4, 0.7, 1.4, 1.8])
    force = result.outputs_at(t)["force"]
    np.testing.assert_allclose(force[:, 1], 0.2 * force[:, 0] * np.sign(np.cos(3.0 * t)), rtol=1e-9)


def test_a_point_that_leaves_the_plane_at_the_start_is_not_held():
    """A start below the plane by rounding, going up: no friction, x = F t^2 / (2 m)."""
    model = Model(
        "ball",
        gravity=(0, 0, 0),
        bodies=(Body("ball", 1.0, shape=Sphere(0.1)),),
        base=pliant.Base("floating", (0, 0, -1e-16), velocity=(0, 0, 5.0)),
        contacts=(Contact("floor", NORMAL, Plane(), ("ball",), friction=Friction("coulomb", 0.5)),),
        loads=(Load("ball", x=Constant(1.0)),),
    )
    result = pliant.simulate(model, 0.5)
    assert len(result.contacts) == 0
    assert result.q[-1, 0] == pytest.approx(0.125, rel=1e-9)


def test_a_prepared_run_ends_where_the_model_stops():
    model = Model(
        "fall",
        gravity=(0, -9.81, 0),
        bodies=(Body("b", 1.0),),
        joints=(Joint("y", "prismatic", "b", axis=(0, 1, 0), q0=0.5),),
        crossings=(Crossing("ground", "y", action="stop"),),
    )
    q, v = pliant.prepare_run(model, 2.0).end()
    assert q[0] == pytest.approx(0.0, abs=1e-12)
    assert v[0] == pytest.approx(-np.sqrt(9.81), rel=1e-9)


def beam(**more):
    section = GivenSection(1e-4, 1e-10, 1e-10)
    return Beam("boom", 1.0, Material(1e9, 1000.0), section, bending_y=Bending((1, 3)), torsion=1, **more)


def test_a_file_keeps_the_modes_of_a_beam(tmp_path):
    model = Model("m", bodies=(beam(bending_z=2, stretch=2),), joints=(Joint("j", "fixed", "boom"),))
    pliant.save_model(model, tmp_path / "m.toml")
    assert pliant.load_model(tmp_path / "m.toml") == model


def test_bending_beyond_all_theory_ends_the_run_with_what_it_has():
    soft = Beam(
        "boom",
        1.0,
        Material(1e7, 1000.0),
        Rectangle(0.005, 0.02),
        bending_y=Bending(2),
        coupling="linear",
        theory="euler-bernoulli",
    )
    model = Model(
        "m",
        gravity=(0, 0, 0),
        bodies=(soft,),
        joints=(Joint("j", "fixed", "boom"),),
        frames=(Frame("boom", (1.0, 0, 0), name="tip"),),
        loads=(Load("tip", y=Constant(50.0)),),
    )
    result = pliant.simulate(model, 5.0)
    assert result.status == "failed"
    assert "bending of beam 'boom'" in result.reason
    assert 0 < result.t[-1] < 5.0
    assert any("deflection" in words for words in result.warnings)


def test_a_contact_point_off_a_rod_is_refused():
    with pytest.raises(ModelError, match="contact 'c': point: x = 5 m lies off the rod 'rod'"):
        Model(
            "m",
            bodies=(Body("rod", 1.0, shape=Rod(1.0)),),
            base="floating",
            contacts=(Contact("c", NORMAL, points=(Frame("rod", (5.0, 0, 0)),)),),
        )


def test_outputs_between_rows_know_the_commands_of_every_instant():
    """sample= thins the rows; what the controller held between them is not lost."""
    controller = pliant.Controller("c", period=0.01, joints=["j"], function=lambda t, measured: 1.0 + np.floor(100 * t))
    model = Model(
        "m",
        bodies=(Body("b", 1.0),),
        joints=(Joint("j", "prismatic", "b", axis=(1, 0, 0)),),
        controllers=(controller,),
        outputs=(Output("motor", "j", "motor"),),
    )
    t = np.array([0.105, 0.333, 0.777])
    fine, thin = (pliant.simulate(model, 1.0, sample=sample).outputs_at(t)["motor"] for sample in (None, 0.25))
    np.testing.assert_array_equal(fine, thin)


@pytest.mark.parametrize("rtol", [1e-4, 1e-5, 1e-6, 1e-7])
def test_friction_kinks_that_are_passed_to_and_fro_do_not_stop_a_loose_run(rtol):
    model = pliant.load("falling-chain")
    result = pliant.simulate(model, rtol=rtol, atol=1e-2 * rtol)
    assert result.is_ok, result.reason
    assert result.audit["energy_residual"] < 100 * rtol


def resting_ball(rests, normal=(0, 1, 0)):
    return Model(
        "ball",
        gravity=(0, -9.81, 0),
        bodies=(Body("ball", mass=1.0, shape=Sphere(0.05)),),
        joints=(Joint("base", "planar", "ball", q0=(0, 0.05, 0)),),
        contacts=(
            Contact(
                "floor", NormalLaw("hu-guo", 1e7, restitution=0.5), Plane(normal=normal), ("ball",), None, 0.05, rests
            ),
        ),
        duration=0.05,
    )


@pytest.mark.filterwarnings("ignore:.*nothing holds")
def test_equilibrium_pressed_into_the_floor_stays_when_a_run_starts_there():
    model = resting_ball(rests=True)
    q0 = pliant.equilibrium(model)
    depth = (9.81 / 1e7) ** (2 / 3)
    assert 0.05 - q0[1] == pytest.approx(depth, rel=1e-9)
    found = pliant.simulate(model, q0=q0)
    # the tolerance of equilibrium, seen by a contact of 1e7 N/m^1.5
    assert np.max(np.abs(found.q[-1] - q0)) < 1e-12
    # rounding of some thousand steps, over 1e-8 of the potential energy
    assert found.audit["energy_residual"] < 1e-5
    (row,) = found.contacts
    assert row.t_start == 0.0
    assert np.isnan(row.t_end)
    # it carried the weight all the time
    assert row.impulse == pytest.approx(9.81 * 0.05, rel=1e-6)


@pytest.mark.filterwarnings("ignore:.*nothing holds")
def test_pressed_start_without_rests_is_refused_and_says_what_to_do():
    q0 = pliant.equilibrium(resting_ball(rests=True))
    with pytest.raises(ModelError, match=r"inside its plane; .*say rests = true"):
        pliant.simulate(resting_ball(rests=False), q0=q0)


def test_plane_that_a_planar_model_never_meets_is_refused():
    with pytest.raises(ModelError, match=r"contact 'floor': its plane has the normal z, but the model moves in x-y"):
        resting_ball(rests=False, normal=(0, 0, 1))

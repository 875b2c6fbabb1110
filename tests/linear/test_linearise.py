"""Linear models: closed forms, agreement with the motion that simulate finds, names, and what is refused."""

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
    Coulomb,
    Frame,
    Friction,
    HertzLaw,
    Joint,
    Limit,
    Load,
    Loop,
    Material,
    Model,
    ModelError,
    NormalLaw,
    Output,
    Plane,
    Rectangle,
    Rod,
)

STEEL = Material(young=2e11, density=7850.0)


def pendulum(**joint):
    return Model(
        "pendulum",
        gravity=(0, -9.81, 0),
        bodies=[Body("rod", mass=1.0, shape=Rod(1.0))],
        joints=[Joint("hinge", "revolute", "rod", q0=-np.pi / 2, **joint)],
        frames=[Frame("rod", (1.0, 0, 0), name="tip")],
        outputs=[Output("tip", "tip", "position"), Output("tip_acceleration", "tip", "acceleration")],
    )


def arm(**more):
    return Model(
        "arm",
        gravity=(0, -9.81, 0),
        bodies=[
            Beam("upper", length=1.0, material=STEEL, section=Rectangle(0.02, 0.01), bending_y=Bending(modes=2)),
            Body("fore", mass=0.5, shape=Rod(0.6)),
        ],
        joints=[
            Joint("shoulder", "revolute", "upper", stiffness=200.0, damping=0.3, q0=0.4),
            Joint("elbow", "revolute", "fore", parent=Frame("upper", (1.0, 0, 0)), stiffness=40.0, damping=0.05),
        ],
        frames=[Frame("fore", (0.6, 0, 0), name="tip")],
        outputs=[Output("tip", "tip", "position")],
        **more,
    )


def test_a_pendulum_is_its_closed_form():
    angle, rate, damping = 0.3, 0.2, 0.07
    found = pliant.linearise(
        pendulum(damping=damping), [angle - np.pi / 2], [rate], inputs=["hinge", "tip.fx", "tip.mz"]
    )
    # (1/3) a'' = -(g/2) sin a - c a' + u + F cos a
    assert np.allclose(found.A, [[0, 1], [-1.5 * 9.81 * np.cos(angle), -3 * damping]], rtol=0, atol=1e-10)
    assert np.allclose(found.B, [[0, 0, 0], [3, 3 * np.cos(angle), 3]], rtol=0, atol=1e-12)
    assert np.allclose(found.C[:2], [[np.cos(angle), 0], [np.sin(angle), 0]], rtol=0, atol=1e-10)
    vdot = -1.5 * 9.81 * np.sin(angle) - 3 * damping * rate
    assert found.residual[0] == pytest.approx(vdot, abs=1e-12)
    # tip acceleration along x = a'' cos a - a'^2 sin a
    slope = found.A[1, 0] * np.cos(angle) - vdot * np.sin(angle) - rate**2 * np.cos(angle)
    assert found.C[3] == pytest.approx([slope, found.A[1, 1] * np.cos(angle) - 2 * rate * np.sin(angle)], abs=1e-9)
    assert found.D[3] == pytest.approx(3 * np.cos(angle) * np.array([1, np.cos(angle), 1]), abs=1e-11)
    assert found.states == ("hinge", "hinge.rate")
    assert found.outputs[:2] == ("tip.x", "tip.y")
    assert found.input_units == ("N m", "N", "N m")


def test_reactions_answer_to_where_a_force_acts():
    """A force along a hanging rod moves nothing, and the hinge bears it; of a flexible arm, reactions under loads."""
    rod = replace(pendulum(), outputs=(Output("bearing", "hinge", "reaction"),))
    found = pliant.linearise(rod, inputs=["tip.fy"], outputs=["bearing.fx", "bearing.fy"])
    # in the rod's axes, whose x points down
    assert found.D[:, 0] == pytest.approx([1.0, 0.0], abs=1e-12)

    bent = replace(arm(), outputs=(Output("load", "elbow", "reaction"), Output("root", "shoulder", "reaction")))
    found = pliant.linearise(bent, inputs=["tip.fx", "tip.mz"])
    for k, load in enumerate((Load("tip", x=1.0), Load("tip", z=1.0, kind="couple"))):
        there = pliant.reactions(replace(bent, loads=(load,)), bent.q0, bent.v0)
        without = pliant.reactions(bent, bent.q0, bent.v0)
        change = [there[name] - without[name] for name in ("elbow", "shoulder")]
        assert found.D[:, k] == pytest.approx(np.concatenate(change), abs=1e-9)


def test_small_motions_of_a_flexible_arm_are_those_of_the_linear_model():
    model = arm()
    rest = pliant.equilibrium(model)
    found = pliant.linearise(model, rest)
    assert np.max(np.abs(found.residual)) < 1e-7
    rng, size = np.random.default_rng(3), 1e-6
    x = rng.normal(size=8) * size
    x[2:4] *= 1e-3  # modes of a stiff beam
    x[6:] *= 1e-3
    from scipy.linalg import expm

    result = pliant.simulate(model, 0.2, q0=rest + x[:4], v0=x[4:], rtol=1e-12, atol=1e-18)
    wanted = expm(found.A * 0.2) @ x
    # what is left is of second order in the size
    assert np.max(np.abs(result.q[-1] - rest - wanted[:4])) < 50 * size**2


def test_the_error_that_is_stated_covers_the_true_one():
    found = pliant.linearise(pendulum(), [0.3 - np.pi / 2], [0.0])
    true = -1.5 * 9.81 * np.cos(0.3)
    assert abs(found.A[1, 0] - true) <= found.error[1, 0] < 1e-9


def test_a_tumbling_body_is_euler_s_equations_about_a_state():
    J = np.diag([1.0, 2.0, 2.5])
    body = Body("hull", mass=3.0, inertia=(1.0, 2.0, 2.5))
    model = Model("tumbler", gravity=(0, 0, 0), bodies=[body], base=Base("floating"))
    w, u = np.array([0.3, -0.5, 0.8]), np.array([0.1, 0.2, -0.4])
    found = pliant.linearise(model, v=[*u, *w])
    skew = lambda a: np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])  # noqa: E731
    # J w' = J w x w
    of_w = np.linalg.inv(J) @ (skew(J @ w) - skew(w) @ J)
    assert np.allclose(found.A[9:12, 9:12], of_w, atol=1e-10)
    # the rotation deviates as d' = dw - w x d, the place as d' = dv + d_rot x v - w x d
    assert np.allclose(found.A[3:6, 3:6], -skew(w), atol=1e-12)
    assert np.allclose(found.A[:3, 3:6], -skew(u), atol=1e-12)
    assert np.allclose(found.A[:3, :3], -skew(w), atol=1e-12)


def test_a_linear_model_of_a_free_body_foretells_its_motion():
    model = Model(
        "tumbler", gravity=(0, 0, 0), bodies=[Body("hull", mass=3.0, inertia=(1.0, 2.0, 2.5))], base=Base("floating")
    )
    v = np.array([0.1, 0.2, -0.4, 0.0, 0.0, 0.8])  # about a principal axis: steady
    found, size = pliant.linearise(model, v=v), 1e-5
    x = np.random.default_rng(0).normal(size=12) * size
    x[:6] = 0.0
    from scipy.linalg import expm

    # velocities only: coordinates live on a curved space
    nominal = pliant.simulate(model, 0.5, v0=v, rtol=1e-12)
    moved = pliant.simulate(model, 0.5, v0=v + x[6:], rtol=1e-12)
    # the frozen linear model is that of the motion itself, because the motion is steady but for v, which rotates
    wanted = (expm(found.A * 0.5) @ x)[9:]
    assert np.max(np.abs(moved.v[-1, 3:] - nominal.v[-1, 3:] - wanted)) < 100 * size**2


def test_a_loop_leaves_its_independent_coordinates():
    # a parallelogram swings as a pendulum of its bars: (2/3 m + m_c) l a'' = -(m + m_c) g sin a
    l, m, m_c = 0.8, 1.2, 2.0
    bars = [Body(name, mass=m, shape=Rod(l)) for name in ("left", "right")]
    model = Model(
        "parallelogram",
        gravity=(0, -9.81, 0),
        bodies=[*bars, Body("coupler", mass=m_c, shape=Rod(1.0))],
        joints=[
            Joint("a", "revolute", "left", q0=-np.pi / 2),
            Joint("b", "revolute", "right", parent=Frame("world", (1.0, 0, 0)), q0=-np.pi / 2),
            Joint("c", "revolute", "coupler", parent=Frame("left", (l, 0, 0)), q0=np.pi / 2),
        ],
        loops=[Loop("pin", "revolute", Frame("coupler", (1.0, 0, 0)), Frame("right", (l, 0, 0)))],
    )
    angle = 0.4
    q = [angle - np.pi / 2, angle - np.pi / 2, np.pi / 2 - angle]
    found = pliant.linearise(model, q)
    assert len(found.states) == 2
    slope = -(m + m_c) * 9.81 * np.cos(angle) / ((2 / 3 * m + m_c) * l)
    sign = -1.0 if found.states[0] == "c" else 1.0
    assert found.A[1, 0] == pytest.approx(slope, rel=1e-10)
    assert sign * found.residual[0] == pytest.approx(slope * np.tan(angle), rel=1e-10)


def test_what_sticks_takes_no_part():
    model = Model(
        "two",
        gravity=(0, -9.81, 0),
        bodies=[Body("a", mass=1.0, shape=Rod(1.0)), Body("b", mass=1.0, shape=Rod(1.0))],
        joints=[
            Joint("first", "revolute", "a", q0=-np.pi / 2, friction=Friction("coulomb", mu_k=0.5, load=100.0)),
            Joint("second", "revolute", "b", parent=Frame("a", (1.0, 0, 0))),
        ],
    )
    found = pliant.linearise(model)
    assert found.states == ("second", "second.rate")
    assert found.A[1, 0] == pytest.approx(-1.5 * 9.81, rel=1e-10)


def test_a_pressed_contact_is_a_spring():
    ground = Contact(
        "ground", NormalLaw("hertz", stiffness=1e7), plane=Plane(normal=(0, 0, 1)), points=["ball"], rests=True
    )
    model = Model(
        "rest", bodies=[Body("ball", mass=2.0, inertia=(1, 1, 1))], joints=[Joint("z", "prismatic", "ball")],
        contacts=[ground],
    )  # fmt: skip
    rest = pliant.equilibrium(model, [-1e-4])
    found = pliant.linearise(model, rest)
    depth = (2.0 * 9.81 / 1e7) ** (2 / 3)
    assert -rest[0] == pytest.approx(depth, rel=1e-9)
    assert found.A[1, 0] == pytest.approx(-1.5 * 1e7 * np.sqrt(depth) / 2.0, rel=1e-8)


def test_bristles_are_states():
    friction = Friction("lugre", mu_k=0.2, mu_s=0.3, v_s=0.01, sigma0=1e4, sigma1=10.0, load=5.0)
    model = Model(
        "cart", gravity=(0, 0, 0), bodies=[Body("cart", mass=2.0, inertia=(1, 1, 1))],
        joints=[Joint("x", "prismatic", "cart", axis=(1, 0, 0), friction=friction)],
    )  # fmt: skip
    found = pliant.linearise(model)
    assert found.states == ("x", "x.rate", "bristle1")
    # F = sigma0 z + sigma1 z', z' = v at rest
    assert np.allclose(found.A, [[0, 1, 0], [0, -5.0, -5000.0], [0, 1, 0]], atol=1e-6)


def test_a_sampled_model_holds_its_input():
    found = pliant.linearise(pendulum(), inputs=["hinge"])
    w = np.sqrt(1.5 * 9.81)
    step = found.sampled(0.01)
    assert np.allclose(step.A, [[np.cos(0.01 * w), np.sin(0.01 * w) / w], [-w * np.sin(0.01 * w), np.cos(0.01 * w)]])
    assert np.allclose(step.B[:, 0], [3 * (1 - np.cos(0.01 * w)) / w**2, 3 * np.sin(0.01 * w) / w])
    with pytest.raises(ModelError, match="sampled already"):
        step.sampled(0.01)


def test_the_frequency_response_of_a_pendulum():
    found = pliant.linearise(pendulum(damping=0.1), inputs=["hinge"], outputs=["hinge", "hinge.rate"])
    w = np.array([0.5, 3.0, 10.0])
    G = 3.0 / (1.5 * 9.81 - w**2 + 0.3j * w)
    assert np.allclose(found.frequency_response(w, "hinge", "hinge"), G, rtol=1e-9)
    assert np.allclose(found.frequency_response(w)[:, 1, 0], 1j * w * G, rtol=1e-9)


def test_python_control_gets_the_same_numbers():
    control = pytest.importorskip("control")
    found = pliant.linearise(pendulum(damping=0.1), inputs=["hinge"], outputs=["hinge"])
    system = found.to_control()
    assert isinstance(system, control.StateSpace)
    assert np.allclose(system.A, found.A)
    assert list(system.input_labels) == ["hinge"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: pliant.linearise(pendulum(), inputs=["hing"]), "no force 'hing'"),
        (lambda: pliant.linearise(pendulum(), outputs=["tipp"]), "outputs: no 'tipp'"),
        (lambda: pliant.linearise(pendulum(), inputs=3), "inputs: "),
        (lambda: pliant.linearise(None), "Model"),
        (lambda: pliant.linearise(pendulum(), [1.0, 2.0]), "q: "),
        (lambda: pliant.linearise(pendulum(), t="now"), "t = "),
        (lambda: pliant.linearise(pendulum()).frequency_response("x"), "omega"),
        (lambda: pliant.linearise(pendulum()).frequency_response(1.0, "no"), "inputs: no"),
        (lambda: pliant.linearise(pendulum()).sampled(-1.0), "period"),
    ],
)
def test_wrong_calls_end_in_a_sentence(call, words):
    with pytest.raises(ModelError, match=words):
        call()


def test_friction_that_gives_way_is_a_kink():
    """At rest under more than friction can hold its force turns round with the speed; held, nothing may move."""

    def held(torque):
        return pendulum(motor=torque, friction=Coulomb(mu_k=0.3, load=1.0))

    at_rest = [-np.pi / 2]
    assert pliant.linearise(held(0.2), at_rest).states == ()
    assert pliant.linearise(held(0.3), at_rest, [0.5]).states == ("hinge", "hinge.rate")
    for torque in (0.3, 2.0):
        with pytest.raises(ModelError, match="kink: joint 'hinge' rests, but its friction is about to give way"):
            pliant.linearise(held(torque), at_rest)


def test_a_point_that_is_about_to_slip_is_a_kink():
    block = Body("block", mass=1.0, inertia=(0.1, 0.1, 0.1))
    slope = Contact(
        "slope", HertzLaw(1e6), plane=Plane(normal=(0, 1, 0)), points=["block"], friction=Coulomb(mu_k=0.5), rests=True
    )
    depth = (9.81 / 1e6) ** (2 / 3)  # of a Hertz contact that carries the weight

    def pushed(force):
        model = Model(
            "pushed", [block], base=Base("planar", position=(0, -depth, 0)), gravity=(0, -9.81, 0), contacts=[slope],
            loads=[Load("block", x=force)],
        )  # fmt: skip
        return pliant.linearise(model)

    assert len(pushed(0.4 * 9.81).states) == 4  # up and down, and rotation: a point has one, without a say
    with pytest.raises(ModelError, match="kink: point 'block' of contact 'slope' rests, but is about to slip"):
        pushed(0.6 * 9.81)


def test_a_kink_is_named():
    stop = pendulum(limit=Limit(upper=0.5, stiffness=1e4))
    assert pliant.linearise(stop, [0.4]).A[1, 0] > -100.0
    assert pliant.linearise(stop, [0.6]).A[1, 0] < -1e4
    with pytest.raises(ModelError, match="joint 'hinge' is just at its limit"):
        pliant.linearise(stop, [0.5])

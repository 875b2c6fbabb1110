"""Every check of a model, made to fire: the message says where, what was found and what to do."""

import copy
import dataclasses
import math
import pickle
import subprocess
import sys

import numpy as np
import pytest

from pliant.errors import ModelError
from pliant.model.attitudes import AxisAngle, RollPitchYaw
from pliant.model.bodies import Body, Frame, Rod, Sphere, Surface, Tube
from pliant.model.contacts import Plane
from pliant.model.flexible import Beam, Circle, Material
from pliant.model.friction_laws import Coulomb
from pliant.model.joints import JOINT_KINDS, PLAIN_KINDS, Joint, Limit
from pliant.model.mobility import joint_start
from pliant.model.model import Base, Controller, Crossing, Load, Model, Output
from pliant.model.signals import Chirp, Constant, Cycloid, Linear, Ramp, Sine, SpeedChange, Step, Table


def rod(name="link", **fields):
    return Body(name, **({"mass": 1.0, "shape": Rod(1.0, 0.01)} | fields))


def hinge(name="elbow", child="link", **fields):
    return Joint(name, fields.pop("kind", "revolute"), child, **fields)


def arm(**fields):
    """A model with one hinge, and what is to be wrong with it."""
    return Model("arm", fields.pop("bodies", (rod(),)), fields.pop("joints", (hinge(),)), **fields)


def pair(*joints, **fields):
    return arm(bodies=(rod("a"), rod("b")), joints=joints, **fields)


OBJECTS = [
    # values
    ("number as text", lambda: Body("link", mass="3 kg"), ["body 'link': mass", '"3 kg"', "plain number in SI units"]),
    ("not finite", lambda: Body("link", mass=math.nan), ["mass: found nan", "finite"]),
    ("infinite in a vector", lambda: Body("link", 1.0, (0, math.inf, 0)), ["com[1]: found inf", "finite"]),
    ("negative", lambda: Body("link", mass=-1), ["mass: found -1", "0 or more"]),
    ("zero where positive", lambda: Rod(0), ["rod: length: found 0", "above 0"]),
    ("vector of two", lambda: Body("link", 1.0, (1, 2)), ["com", "has 2 values; give 3"]),
    ("name with a space", lambda: Body("my link", 1.0), ["name", "my link", "letter"]),
    (
        "unknown key",
        lambda: Rod(lenght=1.0),
        ["unknown key 'lenght'", "did you mean 'length'?", "allowed: length, rad"],
    ),
    ("missing key", lambda: Rod(), ["rod: 'length' is missing"]),
    ("too many values", lambda: Rod(1, 2, "x", "rod", 5), ["5 values given", "at most 4", "length, radius"]),
    ("given twice", lambda: Rod(1.0, length=2.0), ["'length' is given twice"]),
    ("wrong word", lambda: Rod(1.0, axis="w"), ["axis", '"w" is not known', "x, y, z"]),
    (
        "function as a motor",
        lambda: hinge(motor=lambda t: 1.0),
        ["joint 'elbow': motor: found a Python function", "pliant.sampled(function", "pliant.Controller"],
    ),
    ("function as a motion", lambda: hinge(motion=lambda t: t), ["motion: found a Python function", "pliant.sampled"]),
    ("function as a load", lambda: Load("link", x=abs), ["x: found a Python function", "pliant.sampled"]),
    ("torque as text", lambda: hinge(motor="5 Nm"), ['motor: "5 Nm" is no signal', "in SI units: 5"]),
    ("rate as text", lambda: Linear("90 deg/s"), ["linear: rate", "in SI units: 1.5708"]),
    ("text in a table", lambda: Table((0, 1), ("0 deg", "9 m")), ["table: values", 'unit "m"', '"deg" or "rad"']),
    (
        "position as start",
        lambda: hinge(kind="floating", q0=(1, 2, 3)),
        ["q0 has 3 values", "7 coordinates (x, y, z, qx", "Pose(position=..", "{ position = [x, y, z] }"],
    ),
    ("unit of an angle", lambda: AxisAngle((1, 0, 0), "3 grad"), ['unit "grad"', '"deg" or "rad"']),
    ("angle that is no number", lambda: AxisAngle((1, 0, 0), "right"), ['"right" is not a number', "30 deg"]),
    ("too large", lambda: Body("link", mass=1e36), ["mass: found 1e+36", "1e+35 or less"]),
    ("too small", lambda: Rod(1e-61), ["rod: length: found 1e-61", "1e-60 or more"]),
    ("axis that is lost", lambda: AxisAngle((1e-70, 0, 0), 1.0), ["axis (1e-70, 0, 0) has no direction"]),
    ("normal that is lost", lambda: Plane(normal=(0, 0, 1e-200)), ["normal (0, 0, 1e-200) has no direction"]),
    ("integer beyond floats", lambda: Body("link", 1.0, inertia=(10**400, 1, 1)), ["is no inertia"]),
    ("point that is not there", lambda: Surface([(0, 0, 0)] * 3, [(0, 1, 3)]), ["faces name point 3", "from 0 to 2"]),
    ("face of two", lambda: Surface([(0, 0, 0)] * 3, [(0, 1)]), ["faces[0]"]),
    (
        "more modes than anyone can compute",
        lambda: Beam("b", 1.0, Material(1e11, 1e3), Circle(0.1), bending_y=10**9),
        ["1000000000", "at most 200"],
    ),
    # bodies
    ("tube inside out", lambda: Tube(1.0, 0.1, 0.2), ["inner_radius 0.2", "not below", "0.1"]),
    ("no mass", lambda: Body("link"), ["body 'link'", "no mass is given", "density"]),
    ("density without shape", lambda: Body("link", density=1.0), ["density", "needs a shape"]),
    ("density of a line", lambda: Body("link", shape=Rod(1.0), density=1.0), ["rod has no volume", "radius"]),
    ("mass and density", lambda: Body("link", 1.0, shape=Sphere(1.0), density=1.0), ["both given"]),
    ("inertia without mass", lambda: Body("link", 0.0, inertia=(1, 1, 1)), ["inertia is given", "mass is 0"]),
    (
        "inertia not symmetric",
        lambda: Body("link", 1.0, inertia=[[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]),
        ["not symmetric"],
    ),
    ("negative moment", lambda: Body("link", 1.0, inertia=(1, 1, -0.5)), ["negative moment", "-0.5, 1, 1"]),
    ("triangle inequality", lambda: Body("link", 1.0, inertia=(1, 1, 3)), ["no body has", "moments 1, 1, 3"]),
    ("inertia of four", lambda: Body("link", 1.0, inertia=(1, 1, 3, 4)), ["is no inertia", "3 numbers", "6"]),
    ("inertia of words", lambda: Body("link", 1.0, inertia="big"), ['"big" is no inertia']),
    ("shape without kind", lambda: Body("link", 1.0, shape={"length": 1}), ["shape", "kind = one of rod, tube"]),
    ("wrong shape", lambda: Body("link", 1.0, shape={"kind": "tub"}), ["did you mean 'tube'?", "rod, tube, box"]),
    # attitudes
    ("axis without direction", lambda: AxisAngle((0, 0, 0), 1.0), ["axis (0, 0, 0) has no direction"]),
    ("no rotation", lambda: Frame("link", attitude=[[1, 0, 0], [0, 2, 0], [0, 0, 1]]), ["no rotation", "differs"]),
    ("mirror", lambda: Frame("link", attitude=[[1, 0, 0], [0, 1, 0], [0, 0, -1]]), ["no rotation", "mirrors"]),
    ("quaternion 0", lambda: Frame("link", attitude=(0, 0, 0, 0)), ["frame: attitude", "has no length"]),
    ("quaternion 0 of a base", lambda: Base("floating", attitude=(0, 0, 0, 0)), ["base: attitude", "has no length"]),
    ("attitude of three numbers", lambda: Frame("link", attitude=(0, 0, 1)), ["quaternion", "roll, pitch and yaw"]),
    # signals
    ("signal without kind", lambda: hinge(motor={"amplitude": 1}), ["motor", "no signal", "kind = one of constant"]),
    ("wrong signal", lambda: hinge(motor={"kind": "sin"}), ["motor", '"sin"', "did you mean 'sine'?", "cycloid"]),
    ("signal that is text", lambda: hinge(motor="sine"), ["motor", '"sine" is no signal', "number"]),
    ("ramp backwards", lambda: Ramp(2.0, 1.0), ["end 1.0 s is not after start 2.0 s"]),
    ("table out of order", lambda: Table((0, 2, 1), (0, 0, 0)), ["times must increase", "1.0 follows 2.0"]),
    ("table repeats", lambda: Table((0, 1, 2), (0, 1, 2), smooth=True, repeats=True), ["ends with 2", "begins with 0"]),
    ("table repeats coarsely", lambda: Table((0, 1, 2), (0, 1, 0), repeats=True), ["smooth = true"]),
    ("table uneven", lambda: Table((0, 1), (0, 1, 2)), ["2 times but 3 values"]),
    # joints
    ("wrong kind", lambda: hinge(kind="revolut"), ["joint 'elbow': kind", "did you mean 'revolute'?", "prismatic"]),
    ("zero axis", lambda: hinge(axis=(0, 0, 0)), ["joint 'elbow': axis (0, 0, 0) has no direction; give a non-zero"]),
    ("axis without use", lambda: hinge(kind="planar", axis=(0, 0, 1)), ["axis has no effect on a planar joint", "rev"]),
    ("q0 too long", lambda: hinge(q0=(1, 2)), ["q0 has 2 values", "revolute joint has one coordinate"]),
    ("q0 too short", lambda: hinge(kind="spherical", q0=(1, 2, 3)), ["q0 has 3", "4 coordinates (qx, qy, qz, qw)"]),
    ("q0 of one", lambda: hinge(kind="planar", q0=1), ["q0 has 1 value,", "3 coordinates (x, y, angle)"]),
    ("v0", lambda: hinge(kind="floating", v0=(1,)), ["v0 has 1 value,", "6 velocities (vx, vy, vz, wx, wy, wz)"]),
    ("rest of a ball", lambda: hinge(kind="spherical", stiffness=1, rest=0.1), ["rest has no effect on a spherical"]),
    ("stiffness", lambda: hinge(kind="planar", stiffness=(1, 2)), ["stiffness has 2", "(x, y, angle)"]),
    ("rest", lambda: hinge(kind="universal", rest=(1, 2, 3)), ["rest has 3", "2 velocities (x, y)"]),
    ("damping", lambda: hinge(damping=(1, 2)), ["damping has 2 values", "one velocity"]),
    ("armature", lambda: hinge(kind="cylindrical", armature=(1, 2, 3)), ["armature has 3", "(shift, angle)"]),
    ("gear", lambda: hinge(gear=(1, 2)), ["gear has 2 values"]),
    ("motor", lambda: hinge(kind="planar", motor=1.0), ["motor has 1 value,", "list of 3, 0 where there is none"]),
    ("motion", lambda: hinge(kind="planar", motion=Sine()), ["motion has 1 value,", '"free" where there is none']),
    ("limit", lambda: hinge(kind="planar", limit=Limit(-1, 1)), ["limit has 1 value,", '"none" where there is none']),
    ("negative in a list", lambda: hinge(stiffness=(-1,)), ["stiffness[0]: found -1", "0 or more"]),
    ("empty list", lambda: hinge(stiffness=()), ["stiffness", "at least 1"]),
    ("fixed with values", lambda: hinge(kind="fixed", damping=1.0), ["damping has no effect on a fixed joint"]),
    ("fixed with start", lambda: hinge(kind="fixed", q0=1.0), ["q0 has no effect on a fixed joint"]),
    ("quaternion 0 of a joint", lambda: hinge(kind="spherical", q0=(0, 0, 0, 0)), ["q0", "has no length"]),
    ("limit nowhere", lambda: Limit(), ["neither lower nor upper"]),
    ("limit upside down", lambda: Limit(1, -1), ["lower 1.0 is not below upper -1.0"]),
    ("limit with damping only", lambda: Limit(1, damping=1.0), ["damping without stiffness"]),
    (
        "limit of a ball",
        lambda: hinge(kind="spherical", limit=(Limit(0, 1),) * 3),
        ["not possible", "universal, planar"],
    ),
    ("motion of a ball", lambda: hinge(kind="spherical", motion=(Sine(),) * 3), ["not possible", "universal, planar"]),
    ("motion with a step", lambda: hinge(motion=1.0 + 2.0 * Step(1.0)), ["contains a step", "cycloid or a table"]),
    ("motion with a ramp", lambda: hinge(motion=Ramp(0, 1)), ["contains a ramp", "cycloid or a table"]),
    (
        "limit on a driven joint",
        lambda: hinge(motion=Sine(), limit=Limit(-2, 2)),
        ["limit has no effect", "prescribed"],
    ),
    ("start outside", lambda: hinge(q0=2, limit=Limit(-1, 1)), ["q0 = 2", "-1 ... 1", "stiffness"]),
    ("parent of a wrong type", lambda: hinge(parent=3), ["parent: found 3", "Frame"]),
    # base, controllers
    ("fixed base with velocity", lambda: Base(velocity=(1, 0, 0)), ["fixed base cannot have velocity", "planar or"]),
    ("fixed base with spin", lambda: Base(angular_velocity=(1, 0, 0)), ["fixed base cannot have angular_velocity"]),
    (
        "tilted planar base",
        lambda: Base("planar", attitude=RollPitchYaw(roll=0.1)),
        ["only rotate about z", "floating"],
    ),
    ("lifted planar base", lambda: Base("planar", (0, 0, 1)), ["moves in x and y", "floating"]),
    ("tumbling planar base", lambda: Base("planar", angular_velocity=(1, 0, 0)), ["rotates about z"]),
    ("wrong base", lambda: arm(base="flying"), ["base: ", '"flying" is not known', "fixed, planar, floating"]),
    ("function of a wrong form", lambda: Controller("law", 1.0, ("elbow",), "law"), ["no function", "control.py:law"]),
]

MODELS = [
    # names
    ("no bodies", lambda: arm(bodies=(), joints=()), ["model 'arm': bodies: found", "at least 1"]),
    ("two bodies", lambda: arm(bodies=(rod(), rod())), ["body 'link': two bodies have this name", "rename"]),
    ("body and frame", lambda: arm(frames=(Frame("link", name="link"),)), ["a body and a frame have this name"]),
    ("two frames", lambda: arm(frames=(Frame("link", name="tip"),) * 2), ["frame 'tip': two frames"]),
    ("two joints", lambda: pair(hinge(child="a"), hinge(child="b")), ["joint 'elbow': two joints"]),
    ("two loads", lambda: arm(loads=(Load("link", name="push"),) * 2), ["load 'push': two loads"]),
    ("two outputs", lambda: arm(outputs=(Output("x", "link", "position"),) * 2), ["output 'x': two outputs"]),
    ("two crossings", lambda: arm(crossings=(Crossing("x", "elbow"),) * 2), ["crossing 'x': two crossings"]),
    (
        "two controllers",
        lambda: arm(controllers=(Controller("c", 1, ("elbow",), print),) * 2),
        ["'c': two controllers"],
    ),
    ("body called world", lambda: arm(bodies=(rod("world"),), joints=()), ["body 'world'", "reserved"]),
    ("joint called world", lambda: arm(joints=(hinge("world"),)), ["joint 'world'", "reserved"]),
    ("frame without name", lambda: arm(frames=(Frame("link"),)), ["frames[0] on 'link' has no name"]),
    # references
    (
        "parent",
        lambda: arm(joints=(hinge(parent="wrold"),)),
        ["joint 'elbow': parent 'wrold'", "did you mean 'world'?"],
    ),
    ("parent in place", lambda: arm(joints=(hinge(parent=Frame("lnik")),)), ["parent.body 'lnik'", "mean 'link'?"]),
    ("child", lambda: arm(joints=(hinge(child="lnk"),)), ["child 'lnk'", "did you mean 'link'?", "there are: link"]),
    ("body of a frame", lambda: arm(frames=(Frame("lank", name="tip"),)), ["frame 'tip': body 'lank'", "world, link"]),
    ("frame of a load", lambda: arm(loads=(Load("tip"),)), ["loads[0]: frame 'tip' does not exist", "world, link"]),
    ("load on the world", lambda: arm(loads=(Load("world"),)), ["loads[0]", "does not move"]),
    # tree
    (
        "two parents",
        lambda: arm(joints=(hinge("a"), hinge("b"))),
        ["body 'link'", "2 joints (a, b)", "make the others loops"],
    ),
    ("circle", lambda: pair(hinge("j", "a", parent="b"), hinge("k", "b", parent="a")), ["a -> b -> a", "circle"]),
    ("circle of one", lambda: arm(joints=(hinge(parent="link"),)), ["link -> link", "circle"]),
    ("two bases", lambda: pair(), ["bodies a, b have no joint", "only one"]),
    ("base without body", lambda: arm(base="floating"), ["base", "every body is carried by a joint"]),
    ("joint named as the base", lambda: pair(hinge("a", "b")), ["joint 'a'", "rename"]),
    # outputs, crossings, controllers
    ("motion of a joint", lambda: arm(outputs=(Output("x", "elbow", "position"),)), ["output 'x'", "body or frame"]),
    ("reaction of a body", lambda: arm(outputs=(Output("x", "link", "reaction"),)), ["of a joint", "there are: elbow"]),
    (
        "spring of a weld",
        lambda: arm(joints=(hinge(kind="fixed"),), outputs=(Output("x", "elbow", "spring"),)),
        ["fixed", "no spring", "reaction"],
    ),
    ("wrong quantity", lambda: Output("x", "elbow", "force"), ["quantity", '"force" is not known', "reaction"]),
    ("crossing", lambda: arm(crossings=(Crossing("x", "elbw"),)), ["did you mean 'elbow'?", "elbow.rate", "link.x"]),
    ("crossing of the world", lambda: arm(crossings=(Crossing("x", "world.x"),)), ["crossing 'x'", "does not exist"]),
    ("controlled joint", lambda: arm(controllers=(Controller("c", 1, ("elbo",), print),)), ["mean 'elbow'?"]),
    (
        "controlled weld",
        lambda: arm(joints=(hinge(kind="fixed"),), controllers=(Controller("c", 1, ("elbow",), print),)),
        ["joint 'elbow' is fixed and has no motor"],
    ),
    (
        "controlled twice",
        lambda: arm(controllers=(Controller("c", 1, ("elbow", "elbow"), print),)),
        ["name one joint twice"],
    ),
    # mobility
    (
        "no mass at the end",
        lambda: arm(bodies=(Body("link", 0.0),)),
        ["joint 'elbow'", "'link'", "nothing there has mass"],
    ),
    ("point on a hinge", lambda: arm(bodies=(Body("link", 1.0),)), ["joint 'elbow'", "nothing resists", "armature"]),
    ("line on a ball", lambda: arm(bodies=(thin(),), joints=(hinge(kind="spherical"),)), ["velocity wx:", "inertia"]),
    (
        "tilted line on a ball",
        lambda: arm(bodies=(thin(),), joints=(hinge(kind="spherical", q0=(0.1, 0.2, 0.3, 0.9)),)),
        ["velocity wx:"],
    ),
    ("free point", lambda: arm(bodies=(Body("link", 1.0),), joints=(), base="floating"), ["wx, wy, wz"]),
    ("point in a plane", lambda: arm(bodies=(Body("link", 1.0),), joints=(), base="planar"), ["velocity angle:"]),
    (
        "line on a slider that turns",
        lambda: arm(bodies=(thin(),), joints=(hinge(kind="cylindrical", axis=(1, 0, 0)),)),
        ["angle:"],
    ),
    ("line on a cross", lambda: arm(bodies=(thin("y"),), joints=(hinge(kind="universal"),)), ["velocity y:"]),
    (
        "welded lines on a ball",
        lambda: arm(
            bodies=(thin(), thin(name="more")),
            joints=(hinge(kind="spherical"), hinge("weld", "more", kind="fixed", parent=Frame("link", (1, 0, 0)))),
        ),
        ["joint 'elbow'", "velocity wx:"],
    ),
    (
        "stretched without mass between",
        lambda: arm(
            bodies=(Body("link", 0.0), Body("end", 1.0, com=(1, 0, 0))),
            joints=(hinge(), hinge("wrist", "end", parent=Frame("link", (1, 0, 0)))),
        ),
        ["joint 'elbow'", "at the start"],
    ),
]


def thin(axis="x", name="link"):
    return Body(name, 1.0, shape=Rod(1.0, axis=axis))


@pytest.mark.parametrize(
    ("make", "words"), [case[1:] for case in OBJECTS + MODELS], ids=[c[0] for c in OBJECTS + MODELS]
)
def test_message(make, words):
    with pytest.raises(ModelError) as caught:
        make()
    message = str(caught.value)
    assert message.count("\n") == 0, message
    for word in words:
        assert word in message


ALLOWED = [
    ("stop with stiffness outside", lambda: hinge(q0=2, limit=Limit(-1, 1, stiffness=1.0))),
    ("motor on a driven joint", lambda: hinge(motion=Cycloid(0, 1), motor=1.0)),
    ("long quaternion", lambda: hinge(kind="spherical", q0=(0, 0, 0, 2))),
    ("flat body within rounding", lambda: Body("plate", 1.0, inertia=(1, 2, 3 * (1 + 1e-12)))),
    ("armature in place of inertia", lambda: arm(bodies=(Body("link", 0.0),), joints=(hinge(armature=0.1),))),
    (
        "armature where a line has none",
        lambda: arm(bodies=(thin(),), joints=(hinge(kind="spherical", armature=(1, 0, 0)),)),
    ),
    ("driven point", lambda: arm(bodies=(Body("link", 1.0),), joints=(hinge(motion=Sine()),))),
    (
        "welded lines across",
        lambda: arm(
            bodies=(thin(), thin("y", "more")),
            joints=(hinge(kind="spherical"), hinge("weld", "more", kind="fixed", parent="link")),
        ),
    ),
    ("base settings", lambda: arm(joints=(), base=Base("floating", angular_velocity=(1, 0, 0)))),
    ("base coordinate wins", lambda: arm(joints=(), base="planar", crossings=(Crossing("c", "link.x"),))),
    ("rate of a rate", lambda: arm(joints=(hinge(kind="spherical"),), crossings=(Crossing("c", "elbow.wx.rate"),))),
    ("numpy values", lambda: Body("link", np.float32(1), np.zeros(3))),
    ("constant drive", lambda: hinge(motion=Constant(1.0))),
]


@pytest.mark.parametrize("make", [case[1] for case in ALLOWED], ids=[case[0] for case in ALLOWED])
def test_allowed(make):
    make()


@pytest.mark.parametrize("kind", PLAIN_KINDS)
def test_directions_of_joints_are_derivatives(kind):
    """The check of mobility relies on them: (linear, angular) velocity in child axes per rate."""
    count, step = len(JOINT_KINDS[kind].coordinates), 1e-6
    axis = (1, -2, 0.5) if JOINT_KINDS[kind].has_axis else None
    q = np.array([0.3, -0.7, 1.1])[:count]
    R, _, S = joint_start(Joint("j", kind, "b", axis=axis, q0=tuple(q)))
    for k in range(count):
        (R1, p1, _), (R0, p0, _) = (
            joint_start(Joint("j", kind, "b", axis=axis, q0=tuple(q + sign * step * np.eye(count)[k])))
            for sign in (1, -1)
        )
        spin = R.T @ (R1 - R0) / (2 * step)
        expected = [*(R.T @ (p1 - p0) / (2 * step)), spin[2, 1], spin[0, 2], spin[1, 0]]
        np.testing.assert_allclose(S[:, k], expected, atol=1e-9)


def test_several_mistakes_make_one_line_each():
    with pytest.raises(ModelError) as caught:
        Model(
            "arm",
            [{"name": "link", "mass": "3 kg"}, {"name": "hand", "mas": 1}],
            [
                {
                    "name": "elbow",
                    "kind": "hinge",
                    "child": "link",
                    "stiffness": "soft",
                    "limit": {"lower": 1, "upper": 0},
                }
            ],
        )
    lines = str(caught.value).splitlines()
    assert [line.split(": ")[1:3] for line in lines] == [
        ["bodies[0] 'link'", "mass"],
        ["bodies[1] 'hand'", "unknown key 'mas'; did you mean 'mass'? allowed"],
        ["joints[0] 'elbow'", "kind"],
        ["joints[0] 'elbow'", "stiffness"],
        ["joints[0] 'elbow'", "limit"],
    ]


def test_all_problems_of_a_stage_are_told():
    with pytest.raises(ModelError) as caught:
        arm(loads=(Load("tip"), Load("top")))
    assert len(str(caught.value).splitlines()) == 2


def test_a_failing_model_imports_no_numba():
    code = """
import sys
from pliant.errors import ModelError
from pliant.model.bodies import Body
from pliant.model.model import Model
try:
    Model("arm", (Body("a", 1.0), Body("b", 1.0)))
except ModelError:
    sys.exit(any(name.split(".")[0] in ("numba", "scipy", "matplotlib", "xarray") for name in sys.modules))
sys.exit(2)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_former_names_work_with_a_warning():
    with pytest.warns(DeprecationWarning, match="spin is called angular_velocity now"):
        assert Base("floating", **{"spin": (0, 0, 1)}).angular_velocity == (0.0, 0.0, 1.0)
    with pytest.warns(DeprecationWarning, match="'angular_velocity' now"):
        assert Output("w", "hull", "spin").quantity == "angular_velocity"


RIGHT = math.pi / 2
ANGLES = [
    (lambda a: hinge(motion=a), lambda found: found.motion.value),
    (lambda a: hinge(kind="planar", motion=("free", "free", a)), lambda found: found.motion[2].value),
    (Constant, lambda found: found.value),
    (lambda a: Linear(1.0, a), lambda found: found.offset),
    (lambda a: Step(1.0, a), lambda found: found.after),
    (lambda a: Ramp(0, 1, before=a), lambda found: found.before),
    (lambda a: Cycloid(0, 1, after=a), lambda found: found.after),
    (lambda a: SpeedChange(0, 1, offset=a), lambda found: found.offset),
    (Sine, lambda found: found.amplitude),
    (lambda a: Sine(offset=a), lambda found: found.offset),
    (lambda a: Chirp(1.0, 2.0, amplitude=a), lambda found: found.amplitude),
    (lambda a: Table((0, 1), (0.0, a)), lambda found: found.values[1]),
]


@pytest.mark.parametrize(("make", "read"), ANGLES)
def test_signals_take_angles_in_degrees_as_other_fields_do(make, read):
    assert read(make("90 deg")) == pytest.approx(RIGHT, rel=1e-15)
    assert read(make(RIGHT)) == RIGHT


def test_an_unknown_attribute_of_a_model_is_answered_with_those_there_are():
    with pytest.raises(
        ModelError, match=r"^Model 'arm': no attribute 'bodys'; did you mean 'bodies'\? there are name, "
    ) as caught:
        arm().bodys  # noqa: B018
    assert isinstance(caught.value, AttributeError)
    for item, name, words in (
        (hinge(), "dampin", "Joint 'elbow': no attribute 'dampin'; did you mean 'damping'"),
        (Sine(), "frequency", "Sine: no attribute 'frequency'; there are amplitude, omega"),
        (Coulomb(0.3), "mu", "Coulomb: no attribute 'mu'"),
    ):
        with pytest.raises(AttributeError) as other:
            getattr(item, name)
        assert str(other.value).startswith(words)
        assert not hasattr(item, name)


def test_a_field_that_is_assigned_is_answered_with_the_way_to_another_model():
    model = arm()
    with pytest.raises(ModelError, match=r"Model 'arm': gravity cannot be changed.*dataclasses.replace\(.., gravity="):
        model.gravity = (0, 0, 0)
    with pytest.raises(dataclasses.FrozenInstanceError, match=r"no field 'gravty'; did you mean 'gravity'\?"):
        model.gravty = (0, 0, 0)
    assert model == arm()


def test_models_are_copied_pickled_and_replaced_as_before():
    model = arm(frames=(Frame("link", (1, 0, 0), name="tip"),))
    assert pickle.loads(pickle.dumps(model)) == copy.deepcopy(model) == dataclasses.replace(model) == model

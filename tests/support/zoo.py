"""Small named models, each with the reason why it is here. Tests run every formulation over all of them.

TREES: those without loops, for what is not defined, or not so, where velocities depend on each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.methods import FORMULATIONS, INTEGRATORS, formulations_of
from pliant.model.attitudes import AxisAngle
from pliant.model.bodies import Body, Box, Frame, Rod, Sphere, Tube
from pliant.model.contacts import Contact, Friction, NormalLaw, Plane
from pliant.model.flexible import Beam, Bending, Damping, GivenSection, Material, PointMass
from pliant.model.joints import Joint, Limit
from pliant.model.loops import Loop
from pliant.model.model import Base, Load, Model
from pliant.model.signals import Chirp, Constant, Cycloid, Sine, Table
from pliant.model.springs import ForceTable, Spring
from pliant.model.transmissions import TorqueTable, Transmission

ZOO: dict[str, Model] = {}
WHY: dict[str, str] = {}


def _exhibit(build: Callable[[], Model]) -> Callable[[], Model]:
    ZOO[build.__name__] = build()
    WHY[build.__name__] = build.__doc__ or ""
    return build


def _on(body: str, *position: float, **attitude: Any) -> Frame:
    return Frame(body=body, position=position, **attitude)


def _rod(name: str, length: float, mass: float, radius: float = 0.03) -> Body:
    return Body(name=name, mass=mass, shape=Rod(length=length, radius=radius))


@_exhibit
def pendulum() -> Model:
    """One body, one hinge: closed form by hand; the smallest tree."""
    hinge = Joint(name="hinge", kind="revolute", child="rod", axis=(0.0, 1.0, 0.0))
    return Model(name="pendulum", bodies=[_rod("rod", 0.8, 1.2)], joints=[hinge])


@_exhibit
def double_pendulum() -> Model:
    """Planar, in x-y with axes along z: the smallest inertia coupling; damping in one joint."""
    joints = [
        Joint(name="shoulder", kind="revolute", child="upper"),
        Joint(name="elbow", kind="revolute", parent=_on("upper", 0.6, 0, 0), child="lower", damping=0.1),
    ]
    bodies = [_rod("upper", 0.6, 1.0), _rod("lower", 0.5, 0.7)]
    return Model(name="double pendulum", bodies=bodies, joints=joints, gravity=(0.0, -9.81, 0.0))


@_exhibit
def free_body() -> Model:
    """A floating base alone, three different moments, mass centre off the origin: gyroscopic terms."""
    inertia = [[0.4, 0.05, -0.02], [0.05, 0.7, 0.03], [-0.02, 0.03, 0.9]]
    body = Body(name="stone", mass=2.0, com=(0.1, -0.2, 0.3), inertia=inertia)
    return Model(name="free body", bodies=[body], base="floating")


@_exhibit
def ball_chain() -> Model:
    """Spherical joints on the ground: the O(n) branch of boltzmann_hamel [boltzmannhamel]."""
    inertia = (0.01, 0.03, 0.035)
    bodies = [Body(name=f"link{i}", mass=1.0, com=(0.25, 0.02, 0.01 * i), inertia=inertia) for i in range(5)]
    joint_frames = ["world", *(_on(f"link{i}", 0.5, 0, 0) for i in range(4))]
    joints = [Joint(name=f"ball{i}", kind="spherical", parent=joint_frames[i], child=f"link{i}") for i in range(5)]
    return Model(name="ball chain", bodies=bodies, joints=joints)


@_exhibit
def space_robot() -> Model:
    """The space-robot case: floating root and spherical joints, I_3 on the limit of the triangle inequality."""
    bodies = [
        Body(name="hull", mass=10.0, inertia=[[1.25, 0.125, 0], [0.125, 1, -0.0625], [0, -0.0625, 0.75]]),
        Body(name="arm", mass=4.0, com=(0.5, 0, 0), inertia=(0.125, 0.5, 0.5)),
        Body(name="hand", mass=2.0, com=(0.375, 0.125, 0), inertia=(0.0625, 0.25, 0.25, 0, 0, 0.03125)),
    ]
    joints = [
        Joint(name="shoulder", kind="spherical", parent=_on("hull", 0.5, 0.25, 0.125), child="arm"),
        Joint(name="wrist", kind="spherical", parent=_on("arm", 1.0, 0, -0.125), child="hand"),
    ]
    return Model(name="space robot", bodies=bodies, joints=joints, base="floating", gravity=(0.0, 0.0, 0.0))


@_exhibit
def tree() -> Model:
    """Branches of every joint kind, a welded body, a floating joint in the middle: order of sweeps and subspaces."""
    twist = AxisAngle(axis=(1.0, 2.0, -1.0), angle=0.7)
    bodies = [
        Body(name="pelvis", mass=3.0, com=(0.02, 0.01, 0.05), inertia=(0.05, 0.06, 0.04)),
        Body(name="plate", mass=0.5, shape=Box(size=(0.2, 0.3, 0.02), at=(0.0, 0.1, 0.0))),
        _rod("thigh", 0.4, 1.5, 0.05),
        _rod("slider", 0.3, 0.8, 0.04),
        Body(name="drill", density=2000.0, shape=Tube(length=0.3, outer_radius=0.05, inner_radius=0.02, axis="z")),
        _rod("shaft", 0.35, 0.9, 0.03),
        Body(name="puck", mass=0.6, shape=Sphere(radius=0.1, at=(0.03, 0.0, 0.02))),
        Body(name="ball", mass=0.7, com=(0.1, 0.0, -0.05), inertia=(0.01, 0.012, 0.015)),
        Body(name="bird", mass=0.4, com=(-0.05, 0.02, 0.1), inertia=(0.004, 0.005, 0.006)),
        _rod("tail", 0.2, 0.2, 0.02),
    ]
    joints = [
        Joint(name="weld", kind="fixed", parent=_on("pelvis", 0, 0, 0.2, attitude=twist), child="plate"),
        Joint(name="hip", kind="revolute", parent=_on("pelvis", 0, 0.1, -0.1), child="thigh", axis=(1, 1, 0)),
        Joint(
            name="slide", kind="prismatic", parent=Frame(body="thigh", attitude=twist), child="slider", axis=(0, 1, 2)
        ),
        Joint(name="screw", kind="cylindrical", parent=_on("plate", 0.1, 0, 0), child="drill", axis=(1, 0, 1)),
        Joint(name="cardan", kind="universal", parent=_on("thigh", 0.4, 0, 0), child="shaft"),
        Joint(name="table", kind="planar", parent=Frame(body="plate", attitude=twist), child="puck"),
        Joint(name="socket", kind="spherical", parent=_on("drill", 0, 0, 0.3), child="ball"),
        Joint(name="flight", kind="floating", parent=_on("shaft", 0.35, 0, 0), child="bird"),
        Joint(name="wag", kind="revolute", parent=_on("bird", -0.1, 0, 0), child="tail", axis=(0, 1, 0)),
    ]
    return Model(name="tree", bodies=bodies, joints=joints, base="floating")


@_exhibit
def planar_base() -> Model:
    """A hovering base in the plane with an arm: planar root, rates in world axes."""
    joints = [
        Joint(name="shoulder", kind="revolute", parent=_on("hull", 0.3, 0.1, 0), child="upper"),
        Joint(name="elbow", kind="revolute", parent=_on("upper", 0.5, 0, 0), child="lower", stiffness=4.0),
    ]
    hull = Body(name="hull", mass=5.0, com=(0.05, -0.02, 0.0), inertia=(0.2, 0.2, 0.3))
    bodies = [hull, _rod("upper", 0.5, 0.8), _rod("lower", 0.4, 0.5)]
    return Model(name="planar base", bodies=bodies, joints=joints, base="planar", gravity=(0.3, -0.5, 0.0))


@_exhibit
def flexible_joints() -> Model:
    """Motor's sides as coordinates beside their links: on the ground, with a table and mass, on a tilted slide."""
    soft = Transmission(40.0, damping=0.2)
    hard = Transmission(TorqueTable((0.0, 0.1, 0.3), (0.0, 2.0, 12.0)), mass=0.8, q0=0.2)
    tilted = _on("upper", 0.6, 0.1, 0, attitude=AxisAngle(axis=(1, 1, 0), angle=0.4))
    joints = [
        Joint("waist", "revolute", "upper", axis=(0, 1, 0), armature=0.01, gear=3.0, motor=0.5, transmission=soft),
        Joint("elbow", "revolute", "lower", tilted, axis=(0, 1, 1), armature=0.02, transmission=hard),
        Joint("slide", "prismatic", "tool", _on("lower", 0.5, 0, 0), axis=(1, 0, 0), armature=0.3, transmission=soft),
    ]
    bodies = [_rod("upper", 0.6, 1.0), _rod("lower", 0.5, 0.7), _rod("tool", 0.2, 0.3)]
    return Model(name="flexible joints", bodies=bodies, joints=joints)


@_exhibit
def cardan_shaft() -> Model:
    """Universal joint with springs, dampers and a motor on one axis: a subspace that moves with q."""
    cardan = Joint(
        name="cardan",
        kind="universal",
        parent=Frame(body="world", attitude=AxisAngle(axis=(0.0, 1.0, 0.0), angle=0.4)),
        child="shaft",
        stiffness=(3.0, 5.0),
        rest=(0.2, -0.1),
        damping=(0.1, 0.3),
        motor=(Sine(amplitude=2.0, omega=3.0), Constant(0.0)),
    )
    shaft = Body(name="shaft", mass=1.5, com=(0.02, 0.03, 0.3), inertia=(0.05, 0.06, 0.01))
    return Model(name="cardan shaft", bodies=[shaft], joints=[cardan])


@_exhibit
def geared_screw() -> Model:
    """Cylindrical joint with armatures, gears and motors: the diagonal term and the motor side."""
    screw = Joint(
        name="screw",
        kind="cylindrical",
        child="nut",
        axis=(0.0, 0.6, 0.8),
        armature=(0.02, 1e-4),
        gear=(5.0, 40.0),
        motor=(Chirp(end=2.0, omega1=9.0), Cycloid(start=0.0, end=1.0, after=0.2)),
    )
    swing = Joint(name="swing", kind="revolute", parent=_on("nut", 0.2, 0, 0), child="rod", axis=(0, 1, 0))
    nut = Body(name="nut", mass=1.0, com=(0.05, 0.0, 0.02), inertia=(0.01, 0.012, 0.008))
    return Model(name="geared screw", bodies=[nut, _rod("rod", 0.4, 0.5)], joints=[screw, swing])


@_exhibit
def ball_spring() -> Model:
    """Spherical joints with unequal stiffness: the moment is not along the rotation vector; armature on the second."""
    joints = [
        Joint(name="neck", kind="spherical", child="head", stiffness=(4.0, 9.0, 2.0), damping=(0.1, 0.2, 0.3)),
        Joint(
            name="ear",
            kind="spherical",
            parent=_on("head", 0.2, 0.1, 0),
            child="lobe",
            stiffness=(1.0, 0.0, 3.0),
            armature=(0.01, 0.02, 0.03),
        ),
    ]
    bodies = [
        Body(name="head", mass=2.0, com=(0.05, 0.0, 0.15), inertia=(0.03, 0.04, 0.02)),
        Body(name="lobe", mass=0.3, com=(0.0, 0.05, -0.1), inertia=(0.002, 0.003, 0.004)),
    ]
    return Model(name="ball spring", bodies=bodies, joints=joints)


@_exhibit
def mounted_engine() -> Model:
    """A floating joint on springs and dampers: elastic mount, force in parent axes, moment by the rotation vector."""
    mount = Joint(
        name="mount",
        kind="floating",
        parent=Frame(body="world", position=(0, 0, 1.0), attitude=AxisAngle(axis=(1.0, 0.0, 1.0), angle=0.5)),
        child="engine",
        stiffness=(200.0, 300.0, 500.0, 20.0, 30.0, 10.0),
        damping=(1.0, 2.0, 3.0, 0.1, 0.2, 0.3),
    )
    rotor = Joint(name="rotor", kind="revolute", parent=_on("engine", 0.1, 0, 0), child="crank", axis=(1, 0, 0))
    engine = Body(name="engine", mass=20.0, com=(0.02, 0.01, 0.05), inertia=(0.5, 0.8, 0.9))
    crank = Body(name="crank", mass=2.0, com=(0.0, 0.03, 0.01), inertia=(0.02, 0.015, 0.015))
    return Model(name="mounted engine", bodies=[engine, crank], joints=[mount, rotor])


@_exhibit
def driven_crane() -> Model:
    """Prescribed motions (cycloid, sine, table in one of three planar coordinates), free bodies on and between them."""
    joints = [
        Joint(name="slew", kind="revolute", child="tower", motion=Cycloid(start=-0.5, end=2.5, after=1.5)),
        Joint(
            name="trolley",
            kind="prismatic",
            parent=_on("tower", 0, 0, 2.0),
            child="cart",
            axis=(1, 0, 0),
            motion=Sine(amplitude=0.5, omega=2.0, phase=0.3, offset=1.0),
            armature=0.3,
            stiffness=2.0,
            damping=0.7,
        ),
        Joint(name="cable", kind="spherical", parent="cart", child="hook", damping=0.05),
        Joint(
            name="air",
            kind="planar",
            parent=_on("hook", 0, 0, -1.0),
            child="load",
            motion=("free", "free", Table(times=(-3.0, 0.0, 1.5, 4.0), values=(0.0, 0.4, -0.3, 0.2))),
            stiffness=(40.0, 50.0, 0.0),
        ),
    ]
    bodies = [
        Body(name="tower", mass=50.0, com=(0.1, 0.0, 1.0), inertia=(20.0, 20.0, 3.0)),
        Body(name="cart", mass=5.0, com=(0.0, 0.05, 0.02), inertia=(0.1, 0.2, 0.2)),
        Body(name="hook", mass=1.0, com=(0.0, 0.02, -0.6), inertia=(0.1, 0.1, 0.01)),
        Body(name="load", mass=3.0, com=(0.05, 0.0, -0.1), inertia=(0.1, 0.15, 0.12)),
    ]
    return Model(name="driven crane", bodies=bodies, joints=joints)


@_exhibit
def loaded_arm() -> Model:
    """Forces and couples in world and body axes on offset, rotated frames: what external wrenches do."""
    tip = Frame(body="lower", name="tip", position=(0.5, 0.05, 0.02), attitude=AxisAngle(axis=(1, 1, 0), angle=0.8))
    joints = [
        Joint(name="shoulder", kind="spherical", child="upper"),
        Joint(name="elbow", kind="revolute", parent=_on("upper", 0.6, 0, 0), child="lower", axis=(0, 1, 0)),
    ]
    loads = [
        Load(frame="tip", x=Sine(amplitude=3.0, omega=2.0), y=1.0, z=-2.0, axes="world"),
        Load(frame="tip", x=1.5, y=Sine(amplitude=2.0, omega=5.0, phase=0.4), axes="body"),
        Load(frame="tip", x=0.5, z=0.3, kind="couple", axes="world"),
        Load(frame=_on("upper", 0.3, 0, 0.1), y=0.4, z=0.2, kind="couple", axes="body"),
    ]
    bodies = [_rod("upper", 0.6, 1.5, 0.05), _rod("lower", 0.5, 1.0, 0.04)]
    return Model(name="loaded arm", bodies=bodies, joints=joints, frames=[tip], loads=loads)


@_exhibit
def guyed_arm() -> Model:
    """Springs between places off the axes of links, to the world and between them: table, damper, motor, a rope."""
    joints = [
        Joint(name="shoulder", kind="spherical", child="upper"),
        Joint(name="elbow", kind="revolute", parent=_on("upper", 0.6, 0, 0), child="lower", axis=(0, 1, 0)),
    ]
    post, muscle = _on("world", 0.3, 0.8, 0.4), ForceTable((-0.3, 0.0, 0.4), (-20.0, 0.0, 50.0))
    springs = [
        Spring("guy", post, _on("upper", 0.5, 0.0, 0.1), stiffness=40.0, damping=2.0),
        Spring("muscle", _on("upper", 0.2, 0.1, 0), _on("lower", 0.3, 0.1, 0), muscle, motor=Sine(4.0, 3.0)),
        Spring("rope", "lower", post, stiffness=90.0, damping=1.0, length=0.9, only="tension"),
    ]
    bodies = [_rod("upper", 0.6, 1.5, 0.05), _rod("lower", 0.5, 1.0, 0.04)]
    return Model(name="guyed arm", bodies=bodies, joints=joints, springs=springs)


@_exhibit
def stopped_arm() -> Model:
    """Compliant limits on both sides, pressed in some states: forces that depend on the phase."""
    stop = Limit(lower=-0.5, upper=0.6, stiffness=80.0, damping=1.5)
    joints = [
        Joint(name="shoulder", kind="revolute", child="upper", axis=(0, 1, 0), limit=stop),
        Joint(
            name="wrist",
            kind="cylindrical",
            parent=_on("upper", 0.6, 0, 0),
            child="lower",
            axis=(1, 0, 0),
            limit=(Limit(upper=0.1, stiffness=300.0), "none"),
        ),
    ]
    lower = Body(name="lower", mass=0.7, com=(0.2, 0.03, 0.0), inertia=(0.01, 0.02, 0.02))
    return Model(name="stopped arm", bodies=[_rod("upper", 0.6, 1.0), lower], joints=joints)


@_exhibit
def hooke_coupling() -> Model:
    """A cross without mass between two hinges on a fixed, rotated base: massless bodies inside the tree are allowed."""
    joints = [
        Joint(name="yoke", kind="revolute", parent=_on("stand", 0.1, 0, 0.2), child="cross", axis=(1, 0, 0)),
        Joint(name="fork", kind="revolute", parent="cross", child="shaft", axis=(0, 1, 0)),
    ]
    shaft = Body(name="shaft", mass=1.5, com=(0.02, 0.03, 0.3), inertia=(0.05, 0.06, 0.01))
    bodies = [Body(name="stand", mass=4.0), Body(name="cross", mass=0.0), shaft]
    base = Base(kind="fixed", position=(0.0, 0.5, 0.0), attitude=AxisAngle(axis=(0.0, 1.0, 0.0), angle=0.4))
    return Model(name="hooke coupling", bodies=bodies, joints=joints, base=base)


def _beam(name: str, length: float, **shapes: Any) -> Beam:
    """2 kg/m, soft enough for forces of a robot's size, with thick sections for a well-conditioned mass matrix."""
    section = GivenSection(area=1e-3, second_moment_y=8e-7, second_moment_z=1e-6)
    soft = Material(young=1e9, density=2000.0)
    return Beam(name, length, soft, section, rotary_inertia=(0.05, 0.02, 0.03), **shapes)


@_exhibit
def flexible_arm() -> Model:
    """Bending, stretch, torsion, shortening; a payload welded to the tip; loads of all kinds along the span."""
    upper = _beam("upper", 0.9, bending_y=2, bending_z=1, stretch=1, torsion=1, damping=Damping(stiffness_time=1e-3))
    lower = _beam(
        "lower",
        0.7,
        bending_y=Bending(1, family="polynomials"),
        theory="euler-bernoulli",
        bending_z=2,
        point_masses=(PointMass(0.3, 0.4),),
    )
    payload = Body(name="payload", mass=0.8, com=(0.05, 0.02, -0.03), inertia=(0.02, 0.03, 0.025))
    twist = AxisAngle(axis=(1.0, -1.0, 0.5), angle=0.6)
    joints = [
        Joint(name="shoulder", kind="universal", child="upper", stiffness=(20.0, 30.0), damping=(0.5, 0.2)),
        Joint(
            name="elbow",
            kind="revolute",
            parent=_on("upper", 0.9, 0.05, 0),
            child="lower",
            axis=(0, 1, 1),
            armature=0.1,
        ),
        Joint(name="weld", kind="fixed", parent=_on("lower", 0.7, 0, 0.04, attitude=twist), child="payload"),
    ]
    tip = Frame(body="lower", name="tip", position=(0.7, 0.05, 0.02), attitude=twist)
    loads = [
        Load(frame="tip", x=Sine(amplitude=3.0, omega=2.0), y=1.0, z=-2.0, axes="world"),
        Load(frame=_on("upper", 0.4, 0.03, -0.05), y=4.0, z=2.0, axes="body"),
        Load(frame="tip", x=0.5, z=0.3, kind="couple", axes="body"),
        Load(frame=_on("upper", 0.9, 0, 0), x=0.4, y=-0.6, kind="couple", axes="world"),
    ]
    springs = [
        Spring("stay", _on("world", 0.3, 0.9, 0.4), _on("upper", 0.6, 0.05, -0.02), stiffness=60.0, damping=2.0),
        Spring("chord", _on("upper", 0.2, 0, 0.1), _on("lower", 0.5, 0, 0.1), stiffness=40.0, length=0.3),
    ]
    bodies = [upper, lower, payload]
    return Model("flexible arm", bodies, joints, frames=[tip], loads=loads, springs=springs)


@_exhibit
def flexible_satellite() -> Model:
    """Flexible branches on a floating hull; slide at mid-span, floating joint on a tip, ball joint at a start."""
    hull = Body(name="hull", mass=5.0, com=(0.02, -0.01, 0.03), inertia=(0.5, 0.6, 0.7))
    boom = _beam("boom", 1.2, bending_y=1, bending_z=1, torsion=2, rotary="section")
    panel = _beam("panel", 0.8, bending_z=Bending(2, "sc"), coupling="linear", rotary="frame")
    joint_frame = _on("boom", 0.5, 0.1, 0, attitude=AxisAngle(axis=(0, 0, 1), angle=1.1))
    joints = [
        Joint(name="root", kind="fixed", parent=_on("hull", 0.3, 0, 0), child="boom"),
        Joint(name="ball", kind="spherical", parent=_on("hull", -0.3, 0.1, 0), child="panel"),
        Joint(
            name="slide",
            kind="prismatic",
            parent=joint_frame,
            child="sledge",
            axis=(1, 0, 1),
            stiffness=50.0,
            damping=1.0,
        ),
        Joint(name="tether", kind="floating", parent=_on("panel", 0.8, 0, 0.1), child="drone"),
    ]
    sledge = Body(name="sledge", mass=0.5, com=(0.0, 0.03, 0.02), inertia=(0.01, 0.012, 0.014))
    drone = Body(name="drone", mass=0.6, com=(0.01, 0.02, 0.0), inertia=(0.02, 0.03, 0.02))
    return Model(
        name="flexible satellite",
        bodies=[hull, boom, panel, sledge, drone],
        joints=joints,
        base="floating",
        gravity=(0.0, 0.0, 0.0),
    )


@_exhibit
def falling_chain() -> Model:
    """Elastic links in the plane, the first one flies: planar base, sections that rotate at the start [gibbsappell]."""
    ends = ("cs", "ss", "sc")
    links = [_beam(f"link{i}", 1.0, bending_y=Bending(1, pair), rotary="frame") for i, pair in enumerate(ends)]
    joints = [
        Joint(name=f"hinge{i}", kind="revolute", parent=_on(f"link{i - 1}", 1.0, 0, 0), child=f"link{i}")
        for i in (1, 2)
    ]
    return Model(name="falling chain", bodies=links, joints=joints, base="planar", gravity=(0.0, -9.81, 0.0))


@_exhibit
def flexible_crane() -> Model:
    """Prescribed motions inboard and outboard of a beam, a cylindrical joint with a stop on it; the last body bends."""
    mast = _beam("mast", 1.5, bending_y=2, bending_z=2, torsion=1, damping=Damping(ratio=0.01))
    jib = _beam("jib", 1.0, bending_z=Bending(1, "cf"), bending_y=1, theory="euler-bernoulli", rotary="none")
    trolley = Body(name="trolley", mass=1.0, com=(0.0, 0.02, -0.1), inertia=(0.02, 0.03, 0.02))
    joints = [
        Joint(
            name="slew", kind="revolute", child="mast", axis=(1, 0, 0), motion=Cycloid(start=-0.5, end=2.5, after=1.5)
        ),
        Joint(
            name="lift",
            kind="cylindrical",
            parent=_on("mast", 1.0, 0.1, 0),
            child="trolley",
            axis=(1, 0, 0),
            limit=(Limit(lower=-0.2, upper=0.3, stiffness=200.0, damping=2.0), "none"),
        ),
        Joint(
            name="luff",
            kind="revolute",
            parent=_on("mast", 1.5, 0, 0),
            child="jib",
            axis=(0, 1, 0),
            motion=Sine(omega=3.0),
        ),
    ]
    return Model(name="flexible crane", bodies=[mast, trolley, jib], joints=joints)


def _four_bar(crank: Any, coupler: Any, rocker: Any, name: str) -> Model:
    """Pivots 0.9 m apart; crank of 0.4 m, coupler of 0.8 m, rocker of 0.6 m, in x-y, as they meet at 1 rad."""
    corner = 0.4 * np.array([np.cos(1.0), np.sin(1.0)])
    span = np.array([0.9, 0.0]) - corner
    distance = np.hypot(*span)
    coupler_angle = np.arctan2(span[1], span[0]) + np.arccos((distance**2 + 0.8**2 - 0.6**2) / (1.6 * distance))
    tip = corner + 0.8 * np.array([np.cos(coupler_angle), np.sin(coupler_angle)])
    rocker_angle = float(np.arctan2(tip[1], tip[0] - 0.9))
    joints = [
        Joint(name="motor", kind="revolute", child="crank", q0=1.0, damping=0.05),
        Joint(
            name="knee", kind="revolute", parent=_on("crank", 0.4, 0, 0), child="coupler", q0=float(coupler_angle - 1.0)
        ),
        Joint(name="pivot", kind="revolute", parent=_on("world", 0.9, 0, 0), child="rocker", q0=rocker_angle),
    ]
    pin = Loop("pin", "revolute", first=_on("rocker", 0.6, 0, 0), second=_on("coupler", 0.8, 0, 0))
    return Model(name=name, bodies=[crank, coupler, rocker], joints=joints, loops=[pin], gravity=(0.0, -9.81, 0.0))


@_exhibit
def four_bar() -> Model:
    """One closed loop in the plane, of which one velocity is free: forces of closure in every equation."""
    return _four_bar(_rod("crank", 0.4, 0.8), _rod("coupler", 0.8, 1.0), _rod("rocker", 0.6, 0.9), "four-bar")


@_exhibit
def flexible_four_bar() -> Model:
    """A coupler that bends, and a loop that pulls at its end: forces of closure on modes."""
    coupler = _beam("coupler", 0.8, bending_y=2, damping=Damping(stiffness_time=1e-3))
    return _four_bar(_rod("crank", 0.4, 0.8), coupler, _rod("rocker", 0.6, 0.9), "flexible four-bar")


@_exhibit
def spatial_linkage() -> Model:
    """Loops of other kinds in space: a coupler between two cranks on ball joints, kept from rolling by a thin rod."""
    tip = np.array([0.9 + 0.6 * np.cos(2.5), 0.8 + 0.6 * np.sin(2.5), 0.0])
    joints = [
        Joint(name="crank", kind="revolute", child="left", axis=(0, 1, 0.5), damping=0.1),
        Joint(name="ball", kind="spherical", parent=_on("left", 0.6, 0, 0), child="coupler"),
        Joint(name="swing", kind="revolute", parent=_on("world", 0.9, 0.8, 0), child="right", q0=2.5),
    ]
    coupler = Body(name="coupler", mass=1.2, com=(-0.05, 0.55, 0.03), inertia=(0.15, 0.03, 0.16))
    loops = [
        Loop("socket", "spherical", first=_on("right", 0.6, 0, 0), second=_on("coupler", *(tip - (0.6, 0.0, 0.0)))),
        Loop(
            "stay",
            "distance",
            first=_on("world", 0.3, 0.4, 1.0),
            second=_on("coupler", 0.2, 0.4, 0.1),
            length=float(np.hypot(0.5, 0.9)),
        ),
    ]
    bodies = [_rod("left", 0.6, 0.7), coupler, _rod("right", 0.6, 0.8)]
    return Model(name="spatial linkage", bodies=bodies, joints=joints, loops=loops)


@_exhibit
def pressed_foot() -> Model:
    """A leg on a rail, its foot pressed into soft ground at the start: a contact force in every equation."""
    joints = [
        Joint(name="rail", kind="prismatic", child="hip", axis=(0, 0, 1), q0=0.55),
        Joint(
            name="knee", kind="revolute", parent="hip", child="shin", axis=(0, 1, 0), q0=1.3, stiffness=80.0, rest=1.3
        ),
    ]
    ground = Contact(
        "ground", NormalLaw("kelvin-voigt", 400.0, damping=8.0), points=(_on("shin", 0.6, 0, 0),), rests=True
    )
    bodies = [Body(name="hip", mass=1.0), _rod("shin", 0.6, 0.8)]
    return Model(name="pressed foot", bodies=bodies, joints=joints, contacts=[ground])


@_exhibit
def sliding_puck() -> Model:
    """A floating body slides down a slope on three points, with friction smooth in speed."""
    base = Base("floating", (0.0, 0.0, -0.0025), (0.0, 0.0, 0.0, 1.0), (0.5, 0.2, 0.0), (0.0, 0.0, 1.0))
    feet = [_on("puck", 0.1, 0, 0), _on("puck", -0.06, 0.08, 0), _on("puck", -0.06, -0.08, 0)]
    normal, friction = NormalLaw("kelvin-voigt", 2000.0, damping=15.0), Friction("tanh", 0.1, sharpness=10.0)
    slope = Contact("slope", normal, Plane(), feet, friction, rests=True)
    puck = Body(name="puck", mass=1.5, com=(0.0, 0.0, 0.03), inertia=(0.01, 0.012, 0.015))
    return Model(name="sliding puck", bodies=[puck], base=base, contacts=[slope], gravity=(1.0, 0.2, -9.7))


TREES = {name: model for name, model in ZOO.items() if not model.loops}


def supporting(model: Model) -> list[str]:
    """Names of the formulations that take a model."""
    return [row.name for row in formulations_of(model)]


def adaptive_pairs(formulations: list[str]) -> list[tuple[str, str]]:
    """Integrators with error control, each with those of the formulations that it takes."""
    rows = {row.name: row for row in FORMULATIONS if row.name in formulations}
    return [
        (integrator.name, name)
        for integrator in INTEGRATORS
        if "adaptive" in integrator.supports
        for name, row in rows.items()
        if integrator.kind != "semi-implicit" or row.takes_stiffness
    ]

"""The models of the benchmarks as plain numbers, from which pliant's model and every peer's are built."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.cases.falling_chain import CASE
from pliant.model.bodies import Body, Frame
from pliant.model.contacts import Contact, NormalLaw, Plane
from pliant.model.flexible import Beam, Bending, Damping, Material, Rectangle
from pliant.model.joints import Joint
from pliant.model.model import Model, Output

Array = NDArray[np.float64]
Triple = tuple[float, float, float]
DIRECTIONS: dict[str, Triple] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
BALL = "ball"
FLOOR = -2.2  # [m] under the bouncing chain


@dataclass(frozen=True)
class Serial:
    """Equal links one after the other, the first joint at the world's origin."""

    name: str
    joints: tuple[str, ...]  # axis of a hinge (x, y, z), or BALL
    way: Triple  # from one joint to the next [m]
    mass: float  # of each link [kg]
    com: Triple  # [m]
    inertia: Triple  # diagonal, about the mass centre [kg m^2]
    gravity: Triple  # [m/s^2]
    q0: tuple[float, ...]

    @property
    def count(self) -> int:
        return len(self.joints)

    def joint_frame(self, i: int) -> Triple:
        """Joint i in the axes of the link before."""
        return self.way if i else (0.0, 0.0, 0.0)


def arm7() -> Serial:
    """Seven hinges along z, axes alternating z, y."""
    axes = tuple("zy"[i % 2] for i in range(7))
    q0 = tuple(0.3 * np.cos(1.0 + np.arange(7)))
    return Serial("arm7", axes, (0.0, 0.0, 0.3), 1.0, (0.0, 0.0, 0.15), (0.01, 0.01, 0.01), (0.0, 0.0, -9.81), q0)


def chain(n: int) -> Serial:
    """Planar rods; their inertia along themselves plays no part, but MuJoCo wants it positive."""
    angles = -0.3 + 0.4 * np.sin(0.7 * np.arange(n))
    q0 = tuple(np.diff(angles, prepend=0.0))
    inertia = (1.0 / 120.0, 1.0 / 12.0, 1.0 / 12.0)
    return Serial(f"chain{n}", ("z",) * n, (1.0, 0.0, 0.0), 1.0, (0.5, 0.0, 0.0), inertia, (0.0, -9.81, 0.0), q0)


def ball_chain(n: int) -> Serial:
    """Rods on ball joints."""
    mass, length, radius = 0.1, 0.1, 0.005
    across = mass * (length**2 / 12 + radius**2 / 4)
    inertia = (0.5 * mass * radius**2, across, across)
    q0 = (0.0, 0.0, 0.0, 1.0) * n
    com = (0.5 * length, 0.0, 0.0)
    return Serial(f"ball_chain{n}", (BALL,) * n, (length, 0.0, 0.0), mass, com, inertia, (0.0, 0.0, -9.81), q0)


def pliant_model(serial: Serial) -> Model:
    width = len(serial.q0) // serial.count
    joints = []
    for i, axis in enumerate(serial.joints):
        parent = Frame(f"link{i - 1}", serial.joint_frame(i)) if i else "world"
        start = serial.q0[width * i : width * (i + 1)]
        if axis == BALL:
            joints.append(Joint(f"joint{i}", "spherical", f"link{i}", parent=parent, q0=start))
        else:
            joints.append(Joint(f"joint{i}", "revolute", f"link{i}", parent=parent, axis=DIRECTIONS[axis], q0=start[0]))
    x, y, z = serial.inertia
    inertia = ((x, 0.0, 0.0), (0.0, y, 0.0), (0.0, 0.0, z))
    bodies = [Body(f"link{i}", serial.mass, com=serial.com, inertia=inertia) for i in range(serial.count)]
    return Model(name=serial.name, gravity=serial.gravity, bodies=tuple(bodies), joints=tuple(joints))


def random_states(serial: Serial, rows: int, seed: int = 1) -> tuple[Array, Array]:
    """q and v, one state a row; quaternions of unit length."""
    rng = np.random.default_rng(seed)
    if serial.joints[0] != BALL:
        return rng.uniform(-2.0, 2.0, (rows, serial.count)), rng.normal(size=(rows, serial.count))
    q = rng.normal(size=(rows, serial.count, 4))
    q /= np.linalg.norm(q, axis=2, keepdims=True)
    return q.reshape(rows, -1), rng.normal(size=(rows, 3 * serial.count))


# --- contact and bending ----------------------------------------------------------------------------------------


def bounce(serial: Serial) -> Model:
    """A chain whose tip bounces on y = -2.2: F = 1e6 d^1.5 (1 + .2 d')."""
    floor = Contact(
        "floor",
        NormalLaw("hunt-crossley", 1e6, damping=0.2),
        Plane(normal=(0.0, 1.0, 0.0), offset=FLOOR),
        points=(Frame(f"link{serial.count - 1}", serial.way),),
    )
    return replace(pliant_model(serial), contacts=(floor,))


def falling_chain(modes: str = "ss-ss-ss") -> Model:
    """The case of this name."""
    return CASE.build(CASE.resolve({"modes": modes}))


@dataclass(frozen=True)
class Cables:
    """flex3: hinged elastic links, horizontal at rest, whose tip meets a floor (kelvin-voigt)."""

    links: int = 3
    length: float = 0.5  # of each [m]
    width: float = 0.01  # of the section, in the plane of motion [m]
    height: float = 0.03  # [m]
    young: float = 2.1e10  # [Pa]
    density: float = 2700.0  # [kg/m^3]
    damping_time: float = 2e-3  # bending damping over bending stiffness [s]
    gravity: float = 9.81  # downwards [m/s^2]
    floor: float = -1.2  # [m]
    floor_stiffness: float = 1e5  # [N/m]
    floor_damping: float = 200.0  # [N s/m]

    @property
    def area(self) -> float:
        return self.width * self.height

    @property
    def bending_stiffness(self) -> float:
        return self.young * self.height * self.width**3 / 12


def cables_model(cables: Cables, bending: Bending) -> Model:
    """pliant's flex3; what its Exudyn twin has not, rotary inertia and shear, is left out."""
    tip = Frame(f"link{cables.links - 1}", (cables.length, 0.0, 0.0), name="tip")
    beams = _beams(
        cables.links,
        bending,
        length=cables.length,
        material=Material(cables.young, cables.density),
        section=Rectangle(cables.width, cables.height),
        rotary="none",
        damping=Damping(kelvin_voigt=cables.damping_time * cables.young),
    )
    floor = Contact(
        "floor",
        NormalLaw("kelvin-voigt", cables.floor_stiffness, damping=cables.floor_damping),
        Plane(normal=(0.0, 1.0, 0.0), offset=cables.floor),
        points=("tip",),
    )
    return replace(
        _hinged("flex3", beams, cables.gravity),
        frames=(tip,),
        contacts=(floor,),
        outputs=(Output("tip", "tip", "position"),),
    )


def flexible_chain(n: int, modes: int) -> Model:
    """n hinged steel links of 1 m with bending modes."""
    beams = _beams(n, Bending(modes, "ss"), length=1.0, material=Material(2e11, 7850.0), section=Rectangle(0.01, 0.03))
    return _hinged(f"flexible_chain{n}", beams, 9.81)


def blades(n: int) -> Model:
    """n hinged steel blades of 0.2 m, 1 x 20 mm, with two bending modes and stretch, that fall from the horizontal."""
    beams = _beams(
        n,
        Bending(2, "ss"),
        stretch=1,
        length=0.2,
        material=Material(2.1e11, 7850.0),
        section=Rectangle(0.001, 0.02),
        damping=Damping(stiffness_time=2e-5),
    )
    return _hinged(f"blades{n}", beams, 9.81)


def _beams(n: int, bending: Bending, **more: Any) -> tuple[Beam, ...]:
    return tuple(Beam(f"link{i}", bending_y=bending, theory="euler-bernoulli", **more) for i in range(n))


def _hinged(name: str, beams: tuple[Beam, ...], gravity: float) -> Model:
    joints = tuple(
        Joint(f"joint{i}", "revolute", beam.name, Frame(beams[i - 1].name, (beam.length, 0, 0)) if i else "world")
        for i, beam in enumerate(beams)
    )
    return Model(name=name, gravity=(0.0, -gravity, 0.0), bodies=beams, joints=joints)


def small_state(model: Model, seed: int = 1) -> tuple[Array, Array]:
    """q and v about the start, bending small."""
    rng = np.random.default_rng(seed)
    size = np.array([0.01 if ".mode" in name else 0.3 for name in model.coordinates])
    return np.array(model.q0) + size * rng.uniform(-1, 1, len(size)), rng.normal(size=len(model.velocities))


def landing_state(model: Model) -> tuple[Array, Array]:
    """The falling chain .1 mm after its first touchdown: both ends touch and go on down."""
    q, (_, v) = np.array(model.q0), small_state(model)
    q[1] = -1e-4
    v *= 0.1
    v[1] -= 4.0
    return q, v

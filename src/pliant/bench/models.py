"""The models of the benchmarks as plain numbers, from which pliant's model and every peer's are built."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.model.bodies import Body, Frame
from pliant.model.joints import Joint
from pliant.model.model import Model

Array = NDArray[np.float64]
Triple = tuple[float, float, float]
DIRECTIONS: dict[str, Triple] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
BALL = "ball"


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

    def seat(self, i: int) -> Triple:
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
        parent = Frame(f"link{i - 1}", serial.seat(i)) if i else "world"
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

"""What holds at rest: the configuration, forces that act there, and springs of limits and transmissions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.model.bodies import Frame
from pliant.model.joints import Joint
from pliant.model.transmissions import TorqueTable, Transmission

Array = NDArray[np.float64]

OTHERS = "pliant.modes and pliant.linearise"  # which take what transfer matrices cannot


class Force(NamedTuple):
    """A constant force at a frame, world axes [N]."""

    frame: Frame
    value: Array


class Couple(NamedTuple):
    """A constant couple at a frame, in axes of the world or of the frame ("body") [N m]."""

    frame: Frame
    value: Array
    axes: str
    load: str  # its name, for messages


class Rest(NamedTuple):
    """A configuration and what acts at it."""

    q: Array
    motor: Array  # torque (force) of the motor on each velocity, joint side
    forces: tuple[Force, ...]
    couples: tuple[Couple, ...] = ()


def limit_spring(joint: Joint, q: Array) -> Iterator[tuple[float, float, float]]:
    """Per velocity of a joint: derivative of the energy, stiffness and damping of the stop that is pressed."""
    if joint.limit is None:
        return
    for value, limit in zip(q, joint.each("limit"), strict=True):
        depth = 0.0
        if limit not in (None, "none") and limit.stiffness is not None:
            if limit.lower is not None and value < limit.lower:
                depth = value - limit.lower
            elif limit.upper is not None and value > limit.upper:
                depth = value - limit.upper
        yield (limit.stiffness * depth, limit.stiffness, limit.damping) if depth else (0.0, 0.0, 0.0)


def transmission_spring(transmission: Transmission, twist: float) -> tuple[float, float, float]:
    """Torque, stiffness and damping at a twist (motor against link)."""
    half = 0.5 * transmission.backlash
    if half and abs(twist) <= half:
        return 0.0, 0.0, 0.0
    s = twist - np.sign(twist) * half
    if not isinstance(transmission.stiffness, TorqueTable):
        return transmission.stiffness * s, transmission.stiffness, transmission.damping
    from scipy.interpolate import PchipInterpolator

    twists, torques = transmission.stiffness.both_ways
    curve = PchipInterpolator(twists, torques)
    x = min(max(s, twists[0]), twists[-1])
    slope = float(curve.derivative()(x))
    return float(curve(x)) + slope * (s - x), slope, transmission.damping

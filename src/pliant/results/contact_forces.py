"""Forces of contacts at any times of a run: on which point, how large, where they act."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.engine.prepared import Prepared
from pliant.system.phases import Phases
from pliant.system.tables import OUTPUT, Quantity, rows

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ContactForces:
    """Of every contact point, in the order of names; world axes. Zero where nothing touches."""

    t: Array  # (times) [s]
    names: tuple[tuple[str, str], ...]  # contact and point
    normal: Array  # (times, points, 3) on the point, along the normal [N]
    friction: Array  # (times, points, 3) on the point, along the plane [N]
    place: Array  # (times, points, 3) where the force acts, or would act [m]


def contact_forces(handle: Prepared, t: Array, y: Array, inputs: Array, phases: Phases) -> ContactForces:
    """Along sorted times t with the states y = (q, v, z)."""
    names = tuple((str(contact), str(point)) for contact, point in handle.packed.contact_names)
    n = len(names)
    wanted = rows(2 * n, OUTPUT)
    wanted.quantity = [Quantity.CONTACT, Quantity.PUSH] * n
    wanted.index = np.repeat(np.arange(n), 2)
    wanted.count = [4, 6] * n
    wanted.column = np.cumsum(wanted.count) - wanted.count
    raw = handle.record(wanted, t, y, inputs, phases).reshape(len(t), n, 10)
    friction, push, place = raw[..., 1:4], raw[..., 4:7], raw[..., 7:]
    return ContactForces(t, names, push - friction, friction.copy(), place.copy())

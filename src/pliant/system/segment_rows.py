"""Rows of serial chains of hinges with parallel axes."""

from typing import Any

import numpy as np

from pliant.model.model import Model
from pliant.model.planar_chains import PlanarChain
from pliant.system.segment_tables import SEGMENT


def segment_rows(model: Model, bodies: Any, dofs: Any) -> tuple[Any, PlanarChain | None]:
    """SEGMENT rows, and the chain; none where the model is no chain."""
    chain = model.chain
    if isinstance(chain, str):
        return np.zeros(0, SEGMENT).view(np.recarray), None
    table = np.zeros(len(chain.links), SEGMENT).view(np.recarray)
    body = bodies[chain.links]
    table.body, table.mass, table.sign = chain.links, body.mass, chain.signs
    table.ox, table.oy = chain.joints.T
    table.cx, table.cy = chain.centres.T
    axis = chain.bases[:, 2]
    centre = np.sum(chain.centres**2, axis=1)
    table.J = _along(body.I, axis) + body.mass * centre
    is_hinge = body.n_v == 1
    table.dof, table.is_held = np.where(is_hinge, body.v, -1), 1
    own = dofs[body.v[is_hinge]]
    for name in ("stiffness", "rest", "damping", "armature"):
        table[name][is_hinge] = own[name]
    table.is_held[is_hinge], table.has_motor[is_hinge] = own.motion >= 0, (own.motor >= 0) | (own.input >= 0)
    return table, chain


def _along(inertia: Any, axis: Any) -> Any:
    """Moment of inertia about an axis, of six numbers each."""
    x, y, z = axis.T
    xx, xy, xz, yy, yz, zz = inertia.T
    return xx * x * x + yy * y * y + zz * z * z + 2.0 * (xy * x * y + xz * x * z + yz * y * z)

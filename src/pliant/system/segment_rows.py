"""Rows of serial chains of hinges with parallel axes."""

from typing import Any, NamedTuple

import numpy as np

from pliant.model.model import Model
from pliant.model.planar_chains import PlanarChain
from pliant.system.segment_tables import SEGMENT, SEGMENT_SHAPE
from pliant.system.tables import rows


class SegmentRows(NamedTuple):
    """Fields of System."""

    segments: Any
    segment_shapes: Any
    segment_axes: Any


def segment_rows(model: Model, bodies: Any, dofs: Any) -> SegmentRows:
    """None where the model is no chain."""
    chain = model.chain
    if not isinstance(chain, PlanarChain):
        return SegmentRows(rows(0, SEGMENT), rows(0, SEGMENT_SHAPE), np.zeros((0, 9)))
    table, shapes = rows(len(chain.links), SEGMENT), rows(len(chain.links), SEGMENT_SHAPE)
    body = bodies[chain.links]
    shapes.body, shapes.mass = chain.links, body.mass
    shapes.ox, shapes.oy = chain.joints.T
    shapes.cx, shapes.cy = chain.centres.T
    table.sign, table.J = chain.signs, _along(body.I, chain.bases[:, 2]) + body.mass * np.sum(chain.centres**2, axis=1)
    is_hinge = body.n_v == 1
    table.dof, table.is_held = np.where(is_hinge, body.v, -1), 1
    own = dofs[body.v[is_hinge]]
    for name in ("stiffness", "rest", "damping", "armature"):
        table[name][is_hinge] = own[name]
    table.is_held[is_hinge], table.has_motor[is_hinge] = own.motion >= 0, (own.motor >= 0) | (own.input >= 0)
    return SegmentRows(table, shapes, np.ascontiguousarray(chain.bases.reshape(-1, 9)))


def _along(inertia: Any, axis: Any) -> Any:
    """Moment of inertia about an axis, of six numbers each."""
    x, y, z = axis.T
    xx, xy, xz, yy, yz, zz = inertia.T
    return xx * x * x + yy * y * y + zz * z * z + 2.0 * (xy * x * y + xz * x * z + yz * y * z)

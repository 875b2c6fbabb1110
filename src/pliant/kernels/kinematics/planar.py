"""The outward sweeps of tree.py for models that stay in the x-y plane: only the entries that can change are written.

new_work has put the constant entries (zeros, the z row and column of R, the z offsets of o and p_WB) in place."""

import math

from pliant.kernels._jit import kernel
from pliant.system.tables import JointKind


@kernel
def move_planar(system, work, q, v):
    """R, o, v, w and z of every body, as move does."""
    bodies = system.bodies
    for i in range(len(bodies)):
        body, x = bodies[i], work.bodies[i]
        k, j = body.q, body.v
        c, s = body.R_PJ[0], body.R_PJ[3]
        px, py = body.p_PJ[0], body.p_PJ[1]
        # velocity across the joint in axes of the parent, and angular velocity
        ux, uy, wJ = 0.0, 0.0, 0.0
        if body.kind == JointKind.REVOLUTE:
            angle = body.axis[2] * q[k]
            cq, sq = math.cos(angle), math.sin(angle)
            c, s = c * cq - s * sq, s * cq + c * sq
            wJ = body.axis[2] * v[j]
        elif body.kind == JointKind.PRISMATIC:
            ax, ay = c * body.axis[0] - s * body.axis[1], s * body.axis[0] + c * body.axis[1]
            px, py = px + q[k] * ax, py + q[k] * ay
            ux, uy = v[j] * ax, v[j] * ay
        elif body.kind == JointKind.PLANAR:
            px, py = px + c * q[k] - s * q[k + 1], py + s * q[k] + c * q[k + 1]
            ux, uy = c * v[j] - s * v[j + 1], s * v[j] + c * v[j + 1]
            cq, sq = math.cos(q[k + 2]), math.sin(q[k + 2])
            put_planar_subspace(x, cq, sq)
            c, s = c * cq - s * sq, s * cq + c * sq
            wJ = v[j + 2]
        vx, vy, w, zx, zy = ux, uy, wJ, 0.0, 0.0
        if body.parent >= 0:
            parent = work.bodies[body.parent]
            w_P = parent.w[2]
            vx, vy, w = vx + parent.v[0] - w_P * py, vy + parent.v[1] + w_P * px, w + w_P
            # (K3) in parent axes: w x (w x o) + 2 w x v_J; w_J x v_J cancels against S' u
            zx, zy = -w_P * w_P * px - 2.0 * w_P * uy, -w_P * w_P * py + 2.0 * w_P * ux
        x.R[0], x.R[1], x.R[3], x.R[4] = c, -s, s, c
        x.o[0], x.o[1] = px, py
        x.v[0], x.v[1], x.w[2] = c * vx + s * vy, c * vy - s * vx, w
        x.v_J[0], x.v_J[1], x.w_J[2] = c * ux + s * uy, c * uy - s * ux, wJ
        x.zv[0], x.zv[1] = c * zx + s * zy, c * zy - s * zx


@kernel
def planar_column(body, x, k):
    """Column k of the joint subspace: (sx, sy, sw)."""
    if body.kind == JointKind.REVOLUTE:
        return 0.0, 0.0, body.axis[2]
    if body.kind == JointKind.PRISMATIC:
        return body.axis[0], body.axis[1], 0.0
    return x.Sv[3 * k], x.Sv[3 * k + 1], x.Sw[3 * k + 2]


@kernel
def put_planar_subspace(x, c, s):
    """Columns x, y, angle of a planar joint; the rest of them is zero."""
    x.Sv[0], x.Sv[1], x.Sv[3], x.Sv[4], x.Sw[8] = c, -s, s, c, 1.0


@kernel
def accelerate_planar(system, work, vdot):
    """Acceleration of every body for the given vdot, as accelerate does."""
    g = system.world[0].gravity
    for i in range(len(system.bodies)):
        body, x = system.bodies[i], work.bodies[i]
        ax, ay, al = -g[0], -g[1], 0.0
        if body.parent >= 0:
            y = work.bodies[body.parent]
            al = y.al[2]
            ax, ay = y.a[0] - al * x.o[1], y.a[1] + al * x.o[0]
        c, s = x.R[0], x.R[3]
        ax, ay = c * ax + s * ay, c * ay - s * ax
        for k in range(body.n_v):
            sx, sy, sw = planar_column(body, x, k)
            u = vdot[body.v + k]
            ax, ay, al = ax + u * sx, ay + u * sy, al + u * sw
        # gravity may point out of the plane
        x.a[0], x.a[1], x.a[2], x.al[2] = ax + x.zv[0], ay + x.zv[1], -g[2], al


@kernel
def place_planar(system, work):
    """World placement of every body, as place does."""
    for i in range(len(system.bodies)):
        parent, x = system.bodies[i].parent, work.bodies[i]
        c, s, px, py = x.R[0], x.R[3], x.o[0], x.o[1]
        if parent >= 0:
            y = work.bodies[parent]
            cp, sp = y.R_WB[0], y.R_WB[3]
            c, s = cp * c - sp * s, sp * c + cp * s
            px, py = y.p_WB[0] + cp * px - sp * py, y.p_WB[1] + sp * px + cp * py
        x.R_WB[0], x.R_WB[1], x.R_WB[3], x.R_WB[4] = c, -s, s, c
        x.p_WB[0], x.p_WB[1] = px, py

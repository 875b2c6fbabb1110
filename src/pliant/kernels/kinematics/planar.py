"""The outward sweeps of tree.py for models that stay in the x-y plane: only the entries that can change are written.

new_work has put the constant entries (zeros, the z row and column of R, the z offsets of o and p_WB) in place.
Numbers in brackets: docs/equations.md."""

from pliant.kernels._jit import kernel
from pliant.kernels.algebra.lanes import at, fused
from pliant.kernels.algebra.trigonometry import cos_sin
from pliant.kernels.flexible.body import update_modal_state
from pliant.kernels.flexible.planar import accelerate_sections, move_sections
from pliant.kernels.flexible.pool import put_modal_acceleration
from pliant.system.tables import JointKind

# --- one body: of numbers, or of lanes ------------------------------------------------------------------------------


@kernel
def rotate(c, s, x, y):
    """R (x, y)"""
    return fused(c, x, -(s * y)), fused(s, x, c * y)


@kernel
def rotate_back(c, s, x, y):
    """R^T (x, y)"""
    return fused(c, x, s * y), fused(c, y, -(s * x))


@kernel
def shift_rotated(px, py, c, s, x, y):
    """p + R (x, y)"""
    return fused(-s, y, fused(c, x, px)), fused(c, y, fused(s, x, py))


@kernel
def cross_planar(body, q, v):
    """Across a joint: attitude (c, s) and place of the body in its parent, velocity across the joint in axes of the
    parent, angular velocity, (cos, sin) of the angle of a planar joint."""
    k, j = body.q, body.v
    c, s = body.R_PJ[0], body.R_PJ[3]
    px, py = body.p_PJ[0], body.p_PJ[1]
    ux, uy, wJ = 0.0, 0.0, 0.0
    cq, sq = 1.0, 0.0
    if body.kind == JointKind.REVOLUTE:
        cq, sq = cos_sin(body.axis[2] * at(q, k))
        c, s = rotate(c, s, cq, sq)
        wJ = body.axis[2] * at(v, j)
    elif body.kind == JointKind.PRISMATIC:
        ax, ay = rotate(c, s, body.axis[0], body.axis[1])
        px, py = px + at(q, k) * ax, py + at(q, k) * ay
        ux, uy = at(v, j) * ax, at(v, j) * ay
    elif body.kind == JointKind.PLANAR:
        px, py = shift_rotated(px, py, c, s, at(q, k), at(q, k + 1))
        ux, uy = rotate(c, s, at(v, j), at(v, j + 1))
        cq, sq = cos_sin(at(q, k + 2))
        c, s = rotate(c, s, cq, sq)
        wJ = at(v, j + 2)
    return (c, s), (px, py), (ux, uy, wJ), (cq, sq)


@kernel
def carry_planar(o, u, of_parent):
    """Velocity of a body that its parent carries, (vx, vy, w), and (K3), both in axes of the parent."""
    (px, py), (ux, uy, wJ), (vx, vy, w) = o, u, of_parent
    # (K3) in parent axes: w x (w x o) + 2 w x v_J; w_J x v_J cancels against S' u
    w2 = w * w
    zx, zy = fused(-w2, px, -2.0 * w * uy), fused(-w2, py, 2.0 * w * ux)
    return (fused(-w, py, ux + vx), fused(w, px, uy + vy), wJ + w), (zx, zy)


@kernel
def shift_acceleration(o, a):
    """Acceleration (ax, ay, al) at o of what accelerates with a at its origin, without the part of its speed."""
    ax, ay, al = a
    return fused(-al, o[1], ax), fused(al, o[0], ay), al


@kernel
def add_along(a, u, column):
    """a + u s"""
    return fused(u, column[0], a[0]), fused(u, column[1], a[1]), fused(u, column[2], a[2])


# --- all bodies -----------------------------------------------------------------------------------------------------


@kernel
def move_planar(system, work, q, v, is_flexible):
    """R, o, v, w and z of every body, as move does. is_flexible, a constant: whether some bodies are."""
    bodies = system.bodies
    for i in range(len(bodies)):
        body, x = bodies[i], work.bodies[i]
        (c, s), o, u, turn = cross_planar(body, q, v)
        if body.kind == JointKind.PLANAR:
            put_planar_subspace(x, turn[0], turn[1])
        (vx, vy, w), (zx, zy) = u, (0.0, 0.0)
        if is_flexible and body.point >= 0:
            section = work.points[body.point]
            cs, ss, gw = section.R[0], section.R[3], section.gw[2]
            c, s = rotate(cs, ss, c, s)
            ux, uy = rotate(cs, ss, u[0], u[1])
            o, u = rotate(cs, ss, o[0], o[1]), (ux, uy, u[2])
            (vx, vy, w), (zx, zy) = carry_planar(o, u, (section.v[0], section.v[1], section.w[2]))
            zx, zy, x.zw[2] = zx + section.gv[0] - gw * o[1], zy + section.gv[1] + gw * o[0], gw
            x.o_E[0], x.o_E[1] = o
            o = (section.s[0] + o[0], section.s[1] + o[1])
        elif body.parent >= 0:
            parent = work.bodies[body.parent]
            (vx, vy, w), (zx, zy) = carry_planar(o, u, (parent.v[0], parent.v[1], parent.w[2]))
        x.R[0], x.R[1], x.R[3], x.R[4] = c, -s, s, c
        x.o[0], x.o[1] = o
        x.v[0], x.v[1] = rotate_back(c, s, vx, vy)
        x.v_J[0], x.v_J[1] = rotate_back(c, s, u[0], u[1])
        x.zv[0], x.zv[1] = rotate_back(c, s, zx, zy)
        x.w[2], x.w_J[2] = w, u[2]
        if is_flexible and body.flex >= 0:
            update_modal_state(system, work, system.flexes[body.flex], q, v)
            move_sections(system, work, system.flexes[body.flex])


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
def parent_acceleration(work, body, x, g, is_flexible):
    """(A8): of a body that is fixed to what carries it: its parent, a section of that, or the world, which gravity g
    accelerates upwards."""
    ax, ay, al = -g[0], -g[1], 0.0
    if is_flexible and body.point >= 0:
        # z holds the section's own bias
        y = work.points[body.point]
        a = (y.a[0] - y.gv[0], y.a[1] - y.gv[1], y.al[2] - y.gw[2])
        ax, ay, al = shift_acceleration((x.o_E[0], x.o_E[1]), a)
    elif body.parent >= 0:
        parent = work.bodies[body.parent]
        ax, ay, al = shift_acceleration((x.o[0], x.o[1]), (parent.a[0], parent.a[1], parent.al[2]))
    ax, ay = rotate_back(x.R[0], x.R[3], ax, ay)
    return ax, ay, al


@kernel
def accelerate_planar(system, work, vdot, is_flexible):
    """Acceleration of every body for the given vdot, as accelerate does. is_flexible as in move_planar."""
    g = system.world[0].gravity
    for i in range(len(system.bodies)):
        body, x = system.bodies[i], work.bodies[i]
        a = parent_acceleration(work, body, x, g, is_flexible)
        for k in range(body.n_v):
            a = add_along(a, vdot[body.v + k], planar_column(body, x, k))
        # gravity may point out of the plane
        x.a[0], x.a[1], x.a[2], x.al[2] = a[0] + x.zv[0], a[1] + x.zv[1], -g[2], a[2]
        if is_flexible:
            x.al[2] += x.zw[2]
        if is_flexible and body.flex >= 0:
            f = system.flexes[body.flex]
            for j in range(f.m):
                put_modal_acceleration(f, work.flex, j, vdot[body.v + body.n_v + j])
            accelerate_sections(system, work, f)


@kernel
def place_planar(system, work):
    """World placement of every body, as place does."""
    for i in range(len(system.bodies)):
        parent, x = system.bodies[i].parent, work.bodies[i]
        c, s, px, py = x.R[0], x.R[3], x.o[0], x.o[1]
        if parent >= 0:
            y = work.bodies[parent]
            cp, sp = y.R_WB[0], y.R_WB[3]
            c, s = rotate(cp, sp, c, s)
            px, py = shift_rotated(y.p_WB[0], y.p_WB[1], cp, sp, px, py)
        x.R_WB[0], x.R_WB[1], x.R_WB[3], x.R_WB[4] = c, -s, s, c
        x.p_WB[0], x.p_WB[1] = px, py

"""The recursion of articulated.py for models that stay in the x-y plane: three components instead of six.

I = (A, b; b^T, C): A symmetric 2x2 as (xx, xy, yy), b the coupling of translation and turn, C about the origin;
p = (px, py, n). Stored in the same work fields: x.A[0:3], x.B[0:2], x.C[0], x.pf[0:2], x.pn[0]."""

from pliant.kernels._jit import kernel
from pliant.kernels.kinematics.planar import planar_column


@kernel
def times(I, sx, sy, sw):
    """I s"""
    xx, xy, yy, bx, by, C = I
    return xx * sx + xy * sy + bx * sw, xy * sx + yy * sy + by * sw, bx * sx + by * sy + C * sw


@kernel
def own_planar(body, x):
    """M_i and h_i - external."""
    m, cx, cy, w2 = body.mass, body.c[0], body.c[1], x.w[2] * x.w[2]
    I = (m, 0.0, m, -cy, cx, body.J[5])
    return I, (-w2 * cx - x.f[0], -w2 * cy - x.f[1], -x.n[2])


@kernel
def gathered_planar(x):
    """I and p gathered so far."""
    I = (x.A[0], x.A[1], x.A[2], x.B[0], x.B[1], x.C[0])
    return I, (x.pf[0], x.pf[1], x.pn[0])


@kernel
def put_planar(x, I, p):
    x.A[0], x.A[1], x.A[2], x.B[0], x.B[1], x.C[0] = I
    x.pf[0], x.pf[1], x.pn[0] = p


@kernel
def pass_planar(work, body, x, k, I, p):
    """One velocity of a joint: U = I s, d = 1 / s^T U, Ia = I - d U U^T, pa = p + d t U."""
    dof = work.dofs[body.v + k]
    sx, sy, sw = planar_column(body, x, k)
    Ux, Uy, Uw = times(I, sx, sy, sw)
    pivot = sx * Ux + sy * Uy + sw * Uw + dof.armature
    d = 1.0 / pivot if pivot > 0.0 and not dof.is_driven else 0.0
    t = dof.tau - sx * p[0] - sy * p[1] - sw * p[2]
    x.Ev[3 * k], x.Ev[3 * k + 1], x.Ew[3 * k], x.l[k], x.t[k] = Ux, Uy, Uw, d, t
    Ex, Ey, Ew, t = d * Ux, d * Uy, d * Uw, d * t
    xx, xy, yy, bx, by, C = I
    I = (xx - Ex * Ux, xy - Ex * Uy, yy - Ey * Uy, bx - Ex * Uw, by - Ey * Uw, C - Ew * Uw)
    return pivot > 0.0 or dof.is_driven != 0, I, (p[0] + t * Ux, p[1] + t * Uy, p[2] + t * Uw)


@kernel
def give_planar(body, parent, x, y, I, p):
    """Turn into parent axes, shift to the parent's origin (k = e_z x o: b' = b + A k, C' = C + 2 k.b + k.A k), add.

    The child that is met first adds to the parent's own inertia."""
    c, s = x.R[0], x.R[3]
    xx, xy, yy, bx, by, C = I
    cc, cs, ss = c * c, c * s, s * s
    bend = 2.0 * cs * xy
    xx, yy, xy = cc * xx - bend + ss * yy, ss * xx + bend + cc * yy, cs * (xx - yy) + (cc - ss) * xy
    bx, by = c * bx - s * by, s * bx + c * by
    px, py = c * p[0] - s * p[1], s * p[0] + c * p[1]
    ox, oy = x.o[0], x.o[1]
    Akx, Aky = xy * ox - xx * oy, yy * ox - xy * oy
    C += ox * (2.0 * by + Aky) - oy * (2.0 * bx + Akx)
    n = p[2] + ox * py - oy * px
    I, p = own_planar(parent, y) if body.is_last_child else gathered_planar(y)
    I = (I[0] + xx, I[1] + xy, I[2] + yy, I[3] + bx + Akx, I[4] + by + Aky, I[5] + C)
    put_planar(y, I, (p[0] + px, p[1] + py, p[2] + n))


@kernel
def driven_planar(work, body, x):
    """Prescribed acceleration of a joint."""
    ax, ay, al = 0.0, 0.0, 0.0
    for k in range(body.n_v):
        sx, sy, sw = planar_column(body, x, k)
        vdot = work.dofs[body.v + k].motion_vdot
        ax, ay, al = ax + vdot * sx, ay + vdot * sy, al + vdot * sw
    return ax, ay, al


@kernel
def inward_planar(system, work):
    for i in range(len(system.bodies) - 1, -1, -1):
        body, x = system.bodies[i], work.bodies[i]
        zx, zy, zw = x.zv[0], x.zv[1], 0.0
        I, p = own_planar(body, x) if body.is_leaf else gathered_planar(x)
        if body.is_driven:
            if body.is_leaf:
                put_planar(x, I, p)
            ax, ay, al = driven_planar(work, body, x)
            zx, zy, zw = zx + ax, zy + ay, zw + al
        Iz = times(I, zx, zy, zw)
        p = (p[0] + Iz[0], p[1] + Iz[1], p[2] + Iz[2])
        for k in range(body.n_v):
            is_ok, I, p = pass_planar(work, body, x, k, I, p)
            if not is_ok:
                work.run[0].body = i
                return False
        if body.parent >= 0:
            give_planar(body, system.bodies[body.parent], x, work.bodies[body.parent], I, p)
    return True


@kernel
def outward_planar(system, work, vdot):
    g = system.world[0].gravity
    for i in range(len(system.bodies)):
        body, x = system.bodies[i], work.bodies[i]
        c, s = x.R[0], x.R[3]
        px, py, al = -g[0], -g[1], 0.0
        if body.parent >= 0:
            parent = work.bodies[body.parent]
            al = parent.al[2]
            px, py = parent.a[0] - al * x.o[1], parent.a[1] + al * x.o[0]
        ax, ay = c * px + s * py, c * py - s * px
        for k in range(body.n_v - 1, -1, -1):
            u = x.l[k] * (x.t[k] - x.Ev[3 * k] * ax - x.Ev[3 * k + 1] * ay - x.Ew[3 * k] * al)
            vdot[body.v + k] = u
            sx, sy, sw = planar_column(body, x, k)
            ax, ay, al = ax + u * sx, ay + u * sy, al + u * sw
        if body.is_driven:
            dx, dy, dw = driven_planar(work, body, x)
            ax, ay, al = ax + dx, ay + dy, al + dw
        x.a[0], x.a[1], x.al[2] = ax + x.zv[0], ay + x.zv[1], al


@kernel
def close_planar_drives(system, work, vdot):
    """Accelerations and drive forces of the prescribed coordinates."""
    for i in range(len(system.bodies)):
        body, x = system.bodies[i], work.bodies[i]
        if body.is_driven:
            I, p = gathered_planar(x)
            f = times(I, x.a[0], x.a[1], x.al[2])
            for k in range(body.n_v):
                dof = work.dofs[body.v + k]
                if dof.is_driven:
                    vdot[body.v + k] = dof.motion_vdot
                    sx, sy, sw = planar_column(body, x, k)
                    needed = sx * (f[0] + p[0]) + sy * (f[1] + p[1]) + sw * (f[2] + p[2])
                    dof.drive = needed + dof.armature * dof.motion_vdot - dof.tau


@kernel
def solve_planar(system, work, vdot):
    """vdot and drives; False if a pivot is not positive."""
    if not inward_planar(system, work):
        return False
    outward_planar(system, work, vdot)
    if system.world[0].has_drives:
        close_planar_drives(system, work, vdot)
    return True

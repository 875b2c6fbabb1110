"""The recursions of denoc.py for models that stay in the x-y plane: twists of three components (23), E = (0, -1; 1, 0).

Mh = (C, b; b^T, A): C of the turn, b its coupling with translation, A symmetric 2x2 as (xx, xy, yy); w = (n, fx, fy).
Stored in the same work fields: x.C[0], x.B[0:2], x.A[0:3], x.pn[0], x.pf[0:2]."""

from pliant.kernels._jit import kernel
from pliant.system.tables import JointKind


@kernel
def column(body, x, k):
    """p_k = [turn; E d turn + slide]"""
    if body.kind == JointKind.REVOLUTE:
        turn = body.axis[2]
        return turn, -turn * x.d[1], turn * x.d[0]
    if body.kind == JointKind.PRISMATIC:
        turn, sx, sy = 0.0, body.axis[0], body.axis[1]
    else:
        turn, sx, sy = x.Sw[3 * k + 2], x.Sv[3 * k], x.Sv[3 * k + 1]
    c, s = x.Q[0], x.Q[3]
    return turn, c * sx - s * sy - turn * x.d[1], s * sx + c * sy + turn * x.d[0]


@kernel
def times(I, p):
    """Mh p"""
    C, bx, by, xx, xy, yy = I
    w, x, y = p
    return C * w + bx * x + by * y, bx * w + xx * x + xy * y, by * w + xy * x + yy * y


@kernel
def gathered(x):
    """Mh and wrench gathered so far."""
    return (x.C[0], x.B[0], x.B[1], x.A[0], x.A[1], x.A[2]), (x.pn[0], x.pf[0], x.pf[1])


@kernel
def put_gathered(x, I, w):
    x.C[0], x.B[0], x.B[1], x.A[0], x.A[1], x.A[2] = I
    x.pn[0], x.pf[0], x.pf[1] = w


@kernel
def put_twist_rates(system, work):
    """Outward: t' of every body, with prescribed accelerations; its own M and w."""
    gravity = system.world[0].gravity
    for i in range(len(system.bodies)):
        body, x = system.bodies[i], work.bodies[i]
        c, s = x.R[0], x.R[3]
        rx, ry, tx, ty, tw = 0.0, 0.0, 0.0, 0.0, 0.0
        if body.parent >= 0:
            y = work.bodies[body.parent]
            cp, sp, w2, tw = y.Q[0], y.Q[3], y.w[2] * y.w[2], y.td_w[2]
            c, s = cp * c - sp * s, sp * c + cp * s
            rx, ry = cp * x.o[0] - sp * x.o[1] - y.d[0], sp * x.o[0] + cp * x.o[1] - y.d[1]
            tx, ty = y.td_v[0] + w2 * y.d[0], y.td_v[1] + w2 * y.d[1]
        m, com, w2 = body.mass, body.com, x.w[2] * x.w[2]
        dx, dy = c * com[0] - s * com[1], s * com[0] + c * com[1]
        rx, ry = rx + dx, ry + dy
        x.Q[0], x.Q[3], x.d[0], x.d[1], x.r[0], x.r[1] = c, s, dx, dy, rx, ry
        # z is that of the origins: the way to and from the mass centres adds -w^2 d
        tx += c * x.zv[0] - s * x.zv[1] - w2 * dx - tw * ry
        ty += s * x.zv[0] + c * x.zv[1] - w2 * dy + tw * rx
        if body.is_driven:
            for k in range(body.n_v):
                pw, px, py = column(body, x, k)
                # zero where the motion is free
                vdot = work.dofs[body.v + k].motion_vdot
                tw, tx, ty = tw + vdot * pw, tx + vdot * px, ty + vdot * py
        x.td_w[2], x.td_v[0], x.td_v[1] = tw, tx, ty
        fx, fy = c * x.f[0] - s * x.f[1], s * x.f[0] + c * x.f[1]
        n = x.n[2] - dx * fy + dy * fx
        I = body.I[5]
        wrench = (I * tw - n, m * (tx - gravity[0]) - fx, m * (ty - gravity[1]) - fy)
        put_gathered(x, (I, 0.0, 0.0, m, 0.0, m), wrench)


@kernel
def eliminate(dof, body, x, k, I, w):
    """One velocity: psi and D of its column, Mh and the wrench without it. First returned: whether D is positive."""
    p = column(body, x, k)
    psi, psi_x, psi_y = times(I, p)
    D = p[0] * psi + p[1] * psi_x + p[2] * psi_y + dof.armature
    l = 1.0 / D if D > 0.0 and not dof.is_driven else 0.0
    t = dof.tau - p[0] * w[0] - p[1] * w[1] - p[2] * w[2]
    x.Ew[3 * k + 2], x.Ev[3 * k], x.Ev[3 * k + 1], x.l[k], x.t[k] = psi, psi_x, psi_y, l, t
    C, bx, by, xx, xy, yy = I
    e, ex, ey = l * psi, l * psi_x, l * psi_y
    I = (C - e * psi, bx - e * psi_x, by - e * psi_y, xx - ex * psi_x, xy - ex * psi_y, yy - ey * psi_y)
    return D > 0.0 or dof.is_driven != 0, I, (w[0] + t * e, w[1] + t * ex, w[2] + t * ey)


@kernel
def shift(I, w, rx, ry):
    """B^T Mh B and B^T w. k = E r: b' = b + A k, C' = C + 2 k.b + k.A k"""
    C, bx, by, xx, xy, yy = I
    kx, ky = xy * rx - xx * ry, yy * rx - xy * ry
    C += rx * (2.0 * by + ky) - ry * (2.0 * bx + kx)
    return (C, bx + kx, by + ky, xx, xy, yy), (w[0] + rx * w[2] - ry * w[1], w[1], w[2])


@kernel
def sweep_inward(system, work):
    for i in range(len(system.bodies) - 1, -1, -1):
        body, x = system.bodies[i], work.bodies[i]
        I, w = gathered(x)
        for k in range(body.n_v - 1, -1, -1):
            is_ok, I, w = eliminate(work.dofs[body.v + k], body, x, k, I, w)
            if not is_ok:
                work.run[0].body = i
                return False
        if body.parent >= 0:
            y = work.bodies[body.parent]
            I, w = shift(I, w, x.r[0], x.r[1])
            J, u = gathered(y)
            J = (J[0] + I[0], J[1] + I[1], J[2] + I[2], J[3] + I[3], J[4] + I[4], J[5] + I[5])
            put_gathered(y, J, (u[0] + w[0], u[1] + w[1], u[2] + w[2]))
    return True


@kernel
def sweep_outward(system, work, vdot):
    for i in range(len(system.bodies)):
        body, x = system.bodies[i], work.bodies[i]
        mw, mx, my = 0.0, 0.0, 0.0
        if body.parent >= 0:
            y = work.bodies[body.parent]
            mw = y.al[2]
            mx, my = y.a[0] - mw * x.r[1], y.a[1] + mw * x.r[0]
        for k in range(body.n_v):
            u = x.l[k] * (x.t[k] - x.Ew[3 * k + 2] * mw - x.Ev[3 * k] * mx - x.Ev[3 * k + 1] * my)
            vdot[body.v + k] = u
            pw, px, py = column(body, x, k)
            mw, mx, my = mw + u * pw, mx + u * px, my + u * py
        x.al[2], x.a[0], x.a[1] = mw, mx, my


@kernel
def close_drives(system, work, vdot):
    """Accelerations and drive forces of the prescribed coordinates."""
    for i in range(len(system.bodies)):
        body, x = system.bodies[i], work.bodies[i]
        if body.is_driven:
            I, w = gathered(x)
            f = times(I, (x.al[2], x.a[0], x.a[1]))
            for k in range(body.n_v):
                dof = work.dofs[body.v + k]
                if dof.is_driven:
                    vdot[body.v + k] = dof.motion_vdot
                    p = column(body, x, k)
                    needed = p[0] * (f[0] + w[0]) + p[1] * (f[1] + w[1]) + p[2] * (f[2] + w[2])
                    dof.drive = needed + dof.armature * dof.motion_vdot - dof.tau


@kernel
def solve_planar(system, work, vdot):
    """vdot and drives; False if a pivot is not positive."""
    put_twist_rates(system, work)
    if not sweep_inward(system, work):
        return False
    sweep_outward(system, work, vdot)
    if system.world[0].has_drives:
        close_drives(system, work, vdot)
    return True

"""The recursions of denoc.py for models that stay in the x-y plane: twists of three components, E = (0, -1; 1, 0).

Mh = (C, b; b^T, A): C of the rotation, b its coupling with translation, A symmetric 2x2 as (xx, xy, yy);
w = (n, fx, fy). In the scratch row they are the entries of the spatial blocks that do not vanish.
Numbers in brackets: docs/equations.md, section DeNOC."""

from pliant.kernels._jit import kernel
from pliant.kernels.kinematics.planar import planar_column
from pliant.kernels.pivot import invert_pivot
from pliant.system.tables import JointKind


@kernel
def planar_twist_column(body, x, scratch, k):
    """(D1): p_k = [sw; E d sw + (sx, sy)]"""
    if body.kind == JointKind.REVOLUTE:
        sw = body.axis[2]
        return sw, -sw * scratch.d[1], sw * scratch.d[0]
    sx, sy, sw = planar_column(body, x, k)
    c, s = scratch.Q[0], scratch.Q[3]
    return sw, c * sx - s * sy - sw * scratch.d[1], s * sx + c * sy + sw * scratch.d[0]


@kernel
def times(I, p):
    """Mh p"""
    C, bx, by, xx, xy, yy = I
    w, x, y = p
    return C * w + bx * x + by * y, bx * w + xx * x + xy * y, by * w + xy * x + yy * y


@kernel
def subtree_inertia(scratch):
    """Mh and wrench of a body and all it carries, as far as gathered."""
    A, B, f = scratch.A, scratch.B, scratch.wrench_f
    return (scratch.C[5], B[2], B[5], A[0], A[1], A[3]), (scratch.wrench_n[2], f[0], f[1])


@kernel
def put_subtree_inertia(scratch, I, w):
    A, B, f = scratch.A, scratch.B, scratch.wrench_f
    scratch.C[5], B[2], B[5], A[0], A[1], A[3] = I
    scratch.wrench_n[2], f[0], f[1] = w


@kernel
def put_body_inertia(body, x, scratch, gravity):
    """(D3): M_i, and wrench M t' - external."""
    m, I, c, s, d = body.mass, body.I[5], scratch.Q[0], scratch.Q[3], scratch.d
    tx, ty, tw = scratch.tdot_v[0], scratch.tdot_v[1], scratch.tdot_w[2]
    fx, fy = c * x.f[0] - s * x.f[1], s * x.f[0] + c * x.f[1]
    n = x.n[2] - d[0] * fy + d[1] * fx
    wrench = (I * tw - n, m * (tx - gravity[0]) - fx, m * (ty - gravity[1]) - fy)
    put_subtree_inertia(scratch, (I, 0.0, 0.0, m, 0.0, m), wrench)


@kernel
def put_twist_rates(system, work):
    """(D2), outward: t' of every body, with prescribed accelerations; its own M and w."""
    bodies, moving = system.bodies, work.bodies
    for i in range(len(bodies)):
        body, x = bodies[i], moving[i]
        scratch = x.denoc
        c, s = x.R[0], x.R[3]
        rx, ry, tx, ty, tw = 0.0, 0.0, 0.0, 0.0, 0.0
        if body.parent >= 0:
            parent, w_P = moving[body.parent].denoc, moving[body.parent].w[2]
            cp, sp, d, w2, tw = parent.Q[0], parent.Q[3], parent.d, w_P * w_P, parent.tdot_w[2]
            c, s = cp * c - sp * s, sp * c + cp * s
            rx, ry = cp * x.o[0] - sp * x.o[1] - d[0], sp * x.o[0] + cp * x.o[1] - d[1]
            tx, ty = parent.tdot_v[0] + w2 * d[0], parent.tdot_v[1] + w2 * d[1]
        com, w2 = body.com, x.w[2] * x.w[2]
        dx, dy = c * com[0] - s * com[1], s * com[0] + c * com[1]
        rx, ry = rx + dx, ry + dy
        scratch.Q[0], scratch.Q[3] = c, s
        scratch.d[0], scratch.d[1], scratch.r[0], scratch.r[1] = dx, dy, rx, ry
        # z is that of the origins: the way to and from the mass centres adds -w^2 d
        tx += c * x.zv[0] - s * x.zv[1] - w2 * dx - tw * ry
        ty += s * x.zv[0] + c * x.zv[1] - w2 * dy + tw * rx
        if body.is_prescribed:
            for k in range(body.n_v):
                pw, px, py = planar_twist_column(body, x, scratch, k)
                # zero where the motion is free
                vdot = work.dofs[body.v + k].motion_vdot
                tw, tx, ty = tw + vdot * pw, tx + vdot * px, ty + vdot * py
        scratch.tdot_w[2], scratch.tdot_v[0], scratch.tdot_v[1] = tw, tx, ty
        put_body_inertia(body, x, scratch, system.world[0].gravity)


@kernel
def eliminate_velocity(dof, scratch, k, p, I, w):
    """(D4 - D6): one velocity. First returned: whether D is positive."""
    psi, psi_x, psi_y = times(I, p)
    is_ok, l = invert_pivot(dof, p[0] * psi + p[1] * psi_x + p[2] * psi_y + dof.armature)
    t = dof.tau - p[0] * w[0] - p[1] * w[1] - p[2] * w[2]
    kept = scratch.psi
    kept[6 * k + 2], kept[6 * k + 3], kept[6 * k + 4] = psi, psi_x, psi_y
    scratch.inverse_D[k], scratch.tau_hat[k] = l, t
    C, bx, by, xx, xy, yy = I
    e, ex, ey = l * psi, l * psi_x, l * psi_y
    I = (C - e * psi, bx - e * psi_x, by - e * psi_y, xx - ex * psi_x, xy - ex * psi_y, yy - ey * psi_y)
    return is_ok, I, (w[0] + t * e, w[1] + t * ex, w[2] + t * ey)


@kernel
def shift(I, w, rx, ry):
    """(D7): B^T Mh B and B^T w. k = E r: b' = b + A k, C' = C + 2 k.b + k.A k"""
    C, bx, by, xx, xy, yy = I
    kx, ky = xy * rx - xx * ry, yy * rx - xy * ry
    C += rx * (2.0 * by + ky) - ry * (2.0 * bx + kx)
    return (C, bx + kx, by + ky, xx, xy, yy), (w[0] + rx * w[2] - ry * w[1], w[1], w[2])


@kernel
def sweep_inward(system, work):
    bodies, moving = system.bodies, work.bodies
    for i in range(len(bodies) - 1, -1, -1):
        body, x = bodies[i], moving[i]
        scratch = x.denoc
        I, w = subtree_inertia(scratch)
        for k in range(body.n_v - 1, -1, -1):
            p = planar_twist_column(body, x, scratch, k)
            is_ok, I, w = eliminate_velocity(work.dofs[body.v + k], scratch, k, p, I, w)
            if not is_ok:
                work.run[0].body = i
                return False
        if body.parent >= 0:
            onto = moving[body.parent].denoc
            I, w = shift(I, w, scratch.r[0], scratch.r[1])
            J, u = subtree_inertia(onto)
            J = (J[0] + I[0], J[1] + I[1], J[2] + I[2], J[3] + I[3], J[4] + I[4], J[5] + I[5])
            put_subtree_inertia(onto, J, (u[0] + w[0], u[1] + w[1], u[2] + w[2]))
    return True


@kernel
def sweep_outward(system, work, vdot):
    """(D8): vdot, and mu."""
    bodies, moving = system.bodies, work.bodies
    for i in range(len(bodies)):
        body, x = bodies[i], moving[i]
        scratch = x.denoc
        mw, mx, my = 0.0, 0.0, 0.0
        if body.parent >= 0:
            parent, r = moving[body.parent].denoc, scratch.r
            mw = parent.mu_w[2]
            mx, my = parent.mu_v[0] - mw * r[1], parent.mu_v[1] + mw * r[0]
        for k in range(body.n_v):
            psi, psi_x, psi_y = scratch.psi[6 * k + 2], scratch.psi[6 * k + 3], scratch.psi[6 * k + 4]
            u = scratch.inverse_D[k] * (scratch.tau_hat[k] - psi * mw - psi_x * mx - psi_y * my)
            vdot[body.v + k] = u
            pw, px, py = planar_twist_column(body, x, scratch, k)
            mw, mx, my = mw + u * pw, mx + u * px, my + u * py
        scratch.mu_w[2], scratch.mu_v[0], scratch.mu_v[1] = mw, mx, my


@kernel
def put_constraint_forces(system, work, vdot):
    """(D9): accelerations of the prescribed coordinates and the forces that enforce them."""
    for i in range(len(system.bodies)):
        body, x = system.bodies[i], work.bodies[i]
        scratch = x.denoc
        if body.is_prescribed:
            I, w = subtree_inertia(scratch)
            f = times(I, (scratch.mu_w[2], scratch.mu_v[0], scratch.mu_v[1]))
            for k in range(body.n_v):
                dof = work.dofs[body.v + k]
                if dof.is_prescribed:
                    vdot[body.v + k] = dof.motion_vdot
                    p = planar_twist_column(body, x, scratch, k)
                    needed = p[0] * (f[0] + w[0]) + p[1] * (f[1] + w[1]) + p[2] * (f[2] + w[2])
                    dof.constraint_force = needed + dof.armature * dof.motion_vdot - dof.tau


@kernel
def solve_planar(system, work, vdot):
    """vdot and constraint forces of prescribed motions; False if a pivot is not positive."""
    put_twist_rates(system, work)
    if not sweep_inward(system, work):
        return False
    sweep_outward(system, work, vdot)
    if system.world[0].has_prescribed:
        put_constraint_forces(system, work, vdot)
    return True

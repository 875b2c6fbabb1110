"""The recursion of articulated.py for models that stay in the x-y plane: three components instead of six.

I = (A, b; b^T, C): A symmetric 2x2 as (xx, xy, yy), b the coupling of translation and rotation, C about the origin;
p = (px, py, n). In the scratch row they are the entries of the spatial blocks that do not vanish.
Every body waits for the one before it: what takes time is not how many operations there are, but how many follow one
another. So products and sums are fused, and what is known early is summed first.
Numbers in brackets: docs/equations.md, section Articulated bodies."""

from pliant.kernels._jit import kernel
from pliant.kernels.algebra.lanes import fused
from pliant.kernels.algebra.vec3 import index
from pliant.kernels.flexible.planar import accelerate_sections
from pliant.kernels.formulations.articulated_contacts import put_contact_masses
from pliant.kernels.formulations.articulated_joints import eliminate_rotor
from pliant.kernels.formulations.articulated_planar_modes import (
    add_to_modes,
    eliminate_modes,
    put_flexible_inertia,
    solve_modes,
)
from pliant.kernels.kinematics.planar import add_along, parent_acceleration, planar_column, rotate, rotate_back
from pliant.kernels.pivot import invert_pivot
from pliant.system.tables import JointKind

# --- one body: of numbers, or of lanes (articulated_lanes.py) ---------------------------------------------------------


@kernel
def times(I, s):
    """I s"""
    xx, xy, yy, bx, by, C = I
    sx, sy, sw = s
    Ix, Iy = fused(xx, sx, fused(xy, sy, bx * sw)), fused(xy, sx, fused(yy, sy, by * sw))
    return Ix, Iy, fused(bx, sx, fused(by, sy, C * sw))


@kernel
def body_inertia(body, w, f):
    """(A1): I and p of a body alone that rotates with w; f: the wrench on it."""
    m, cx, cy, w2 = body.mass, body.c[0], body.c[1], w * w
    I = (m, 0.0, m, -cy, cx, body.J[5])
    return I, (fused(-w2, cx, -f[0]), fused(-w2, cy, -f[1]), -f[2])


@kernel
def with_bias(I, p, z):
    """(A3): p + I z"""
    xx, xy, yy, bx, by, C = I
    zx, zy, zw = z
    px, py = fused(xx, zx, fused(xy, zy, fused(bx, zw, p[0]))), fused(xy, zx, fused(yy, zy, fused(by, zw, p[1])))
    return px, py, fused(bx, zx, fused(by, zy, fused(C, zw, p[2])))


@kernel
def pivot_of(I, s, armature):
    """(A4): U = I s, and s^T U + armature."""
    U = times(I, s)
    return U, fused(s[0], U[0], fused(s[1], U[1], fused(s[2], U[2], armature)))


@kernel
def remaining_force(s, p, tau):
    """(A4): tau - s^T p"""
    return fused(-s[0], p[0], fused(-s[1], p[1], fused(-s[2], p[2], tau)))


@kernel
def eliminate(I, p, U, d, t):
    """(A5): I and p without the velocity of U, 1 / pivot and remaining force."""
    Ux, Uy, Uw = U
    Ex, Ey, Ew, t = d * Ux, d * Uy, d * Uw, d * t
    xx, xy, yy, bx, by, C = I
    xx, xy, yy = fused(-Ex, Ux, xx), fused(-Ex, Uy, xy), fused(-Ey, Uy, yy)
    I = (xx, xy, yy, fused(-Ex, Uw, bx), fused(-Ey, Uw, by), fused(-Ew, Uw, C))
    return I, (fused(t, Ux, p[0]), fused(t, Uy, p[1]), fused(t, Uw, p[2]))


@kernel
def shift_and_rotate(c, s, o, I, p):
    """(A7): to the parent's origin: k = e_z x o in axes of the child, b' = b + A k, C' = C + k.b + k.b'; then into axes
    of the parent. C', for which the parent's pivot waits, waits for no rotation."""
    xx, xy, yy, bx, by, C = I
    px, py, n = p
    ox, oy = rotate_back(c, s, o[0], o[1])
    C, n = fused(-oy, bx, fused(ox, by, C)), fused(-oy, px, fused(ox, py, n))
    bx, by = fused(-oy, xx, fused(ox, xy, bx)), fused(-oy, xy, fused(ox, yy, by))
    C = fused(-oy, bx, fused(ox, by, C))
    cc, cs, ss = c * c, c * s, s * s
    mixed = (cs + cs) * xy
    xy = fused(cs, xx - yy, (cc - ss) * xy)
    xx, yy = fused(cc, xx, fused(ss, yy, -mixed)), fused(ss, xx, fused(cc, yy, mixed))
    bx, by = rotate(c, s, bx, by)
    px, py = rotate(c, s, px, py)
    return (xx, xy, yy, bx, by, C), (px, py, n)


@kernel
def add_inertia(I, p, other):
    """(A7): of the parent and of what shift_and_rotate says of its child."""
    (xx, xy, yy, bx, by, C), (px, py, n) = other
    return (I[0] + xx, I[1] + xy, I[2] + yy, I[3] + bx, I[4] + by, I[5] + C), (p[0] + px, p[1] + py, p[2] + n)


@kernel
def solve_velocity(d, t, U, a):
    """(A9): acceleration along one velocity."""
    # on the way out the angular acceleration is known first
    return d * fused(-U[1], a[1], fused(-U[0], a[0], fused(-U[2], a[2], t)))


# --- all bodies -----------------------------------------------------------------------------------------------------


@kernel
def wrench(x):
    """Of gathered forces on a body."""
    return x.f[0], x.f[1], x.n[2]


@kernel
def articulated_inertia(scratch):
    """I and p of a body and all it carries, as far as gathered."""
    A, B = scratch.A, scratch.B
    return (A[0], A[1], A[3], B[2], B[5], scratch.C[5]), (scratch.pf[0], scratch.pf[1], scratch.pn[2])


@kernel
def put_articulated_inertia(scratch, I, p):
    A, B = scratch.A, scratch.B
    A[0], A[1], A[3], B[2], B[5], scratch.C[5] = I
    scratch.pf[0], scratch.pf[1], scratch.pn[2] = p


@kernel
def eliminate_hinge(work, body, scratch, I, p):
    """(A4, A5): the velocity of a hinge, along whose column (0, 0, +-1) nothing need be multiplied out. Every velocity
    waits for the one before it, so that each step spared counts; results have the same bits."""
    dof, sense = work.dofs[index(body.v)], body.axis[2]
    _, _, _, bx, by, C = I
    is_ok, d = invert_pivot(dof, C + dof.armature)
    U, t = (sense * bx, sense * by, sense * C), fused(-sense, p[2], dof.tau)
    scratch.Uv[0], scratch.Uv[1], scratch.Uw[2] = U
    scratch.inverse_pivot[0], scratch.t[0] = d, t
    I, p = eliminate(I, p, U, d, t)
    return is_ok, I, p


@kernel
def eliminate_velocity(work, body, x, scratch, k, I, p):
    """(A4, A5): one velocity of a joint."""
    dof, s = work.dofs[body.v + k], planar_column(body, x, k)
    U, pivot = pivot_of(I, s, dof.armature)
    is_ok, d = invert_pivot(dof, pivot)
    t = remaining_force(s, p, dof.tau)
    scratch.Uv[3 * k], scratch.Uv[3 * k + 1], scratch.Uw[3 * k + 2] = U
    scratch.inverse_pivot[k], scratch.t[k] = d, t
    I, p = eliminate(I, p, U, d, t)
    return is_ok, I, p


@kernel
def add_to_parent(body, x, parent, y, I, p):
    """(A7): to the parent, whose rows are parent and y. The child that is met first adds to its own inertia."""
    shifted = shift_and_rotate(x.R[0], x.R[3], (x.o[0], x.o[1]), I, p)
    I, p = body_inertia(parent, y.w[2], wrench(y)) if body.is_last_child else articulated_inertia(y.articulated)
    I, p = add_inertia(I, p, shifted)
    put_articulated_inertia(y.articulated, I, p)


@kernel
def add_to_section(system, work, body, x, I, p):
    """(A7): to the modes of a flexible parent, at the section that carries the joint, and to its frame."""
    I, p = shift_and_rotate(x.R[0], x.R[3], (x.o_E[0], x.o_E[1]), I, p)
    add_to_modes(system, work, body.point, I, p)
    section = work.points[body.point]
    shifted = shift_and_rotate(1.0, 0.0, (section.s[0], section.s[1]), I, p)
    scratch = work.bodies[body.parent].articulated
    I, p = articulated_inertia(scratch)
    I, p = add_inertia(I, p, shifted)
    put_articulated_inertia(scratch, I, p)


@kernel
def prescribed_acceleration(work, body, x):
    """Of a joint; zero where the motion is free."""
    a = (0.0, 0.0, 0.0)
    for k in range(body.n_v):
        a = add_along(a, work.dofs[body.v + k].motion_vdot, planar_column(body, x, k))
    return a


@kernel
def with_contact_masses(row, I):
    """(A16), of the components that do not vanish."""
    return I[0] + row[0], I[1] + row[1], I[2] + row[3], I[3] + row[8], I[4] + row[11], I[5] + row[20]


@kernel
def sweep_inward(system, work, is_flexible):
    """Returns False and names the body if a pivot is not positive. is_flexible, a constant: whether bodies bend."""
    for k in range(len(system.flexes) if is_flexible else 0):
        put_flexible_inertia(system, work, k)
    has_masses = put_contact_masses(system, work)
    bodies, moving = system.bodies, work.bodies
    for i in range(len(bodies) - 1, -1, -1):
        body, x = bodies[i], moving[i]
        scratch = x.articulated
        if body.is_rotor:
            if not eliminate_rotor(work.dofs[body.v], scratch):
                work.run[0].body = i
                return False
            continue
        zx, zy, zw = x.zv[0], x.zv[1], x.zw[2] if is_flexible else 0.0
        if is_flexible and body.flex >= 0:
            I, p = articulated_inertia(scratch)
            is_ok, I, p = eliminate_modes(system.flexes[body.flex], work.flex, I, p)
            if not is_ok:
                work.run[0].body = i
                return False
        else:
            I, p = body_inertia(body, x.w[2], wrench(x)) if body.is_leaf else articulated_inertia(scratch)
        if has_masses:
            I = with_contact_masses(work.contact_inertia[i], I)
        if body.is_prescribed:
            if body.is_leaf or has_masses or is_flexible:
                put_articulated_inertia(scratch, I, p)
            ax, ay, al = prescribed_acceleration(work, body, x)
            zx, zy, zw = zx + ax, zy + ay, zw + al
        p = with_bias(I, p, (zx, zy, zw))
        if body.kind == JointKind.REVOLUTE:
            is_ok, I, p = eliminate_hinge(work, body, scratch, I, p)
            if not is_ok:
                work.run[0].body = i
                return False
        else:
            for k in range(body.n_v):
                is_ok, I, p = eliminate_velocity(work, body, x, scratch, k, I, p)
                if not is_ok:
                    work.run[0].body = i
                    return False
        if is_flexible and body.point >= 0:
            add_to_section(system, work, body, x, I, p)
        elif body.parent >= 0:
            add_to_parent(body, x, bodies[body.parent], moving[body.parent], I, p)
    return True


@kernel
def solve_hinge(body, scratch, a, vdot):
    """(A9), along a hinge, as eliminate_hinge."""
    U = (scratch.Uv[0], scratch.Uv[1], scratch.Uw[2])
    u = solve_velocity(scratch.inverse_pivot[0], scratch.t[0], U, a)
    vdot[index(body.v)] = u
    return a[0], a[1], fused(u, body.axis[2], a[2])


@kernel
def solve_velocities(body, x, scratch, a, vdot):
    """(A9), those of any joint."""
    for k in range(body.n_v - 1, -1, -1):
        U = (scratch.Uv[3 * k], scratch.Uv[3 * k + 1], scratch.Uw[3 * k + 2])
        u = solve_velocity(scratch.inverse_pivot[k], scratch.t[k], U, a)
        vdot[body.v + k] = u
        a = add_along(a, u, planar_column(body, x, k))
    return a


@kernel
def sweep_outward(system, work, vdot, is_flexible):
    g = system.world[0].gravity
    bodies, moving = system.bodies, work.bodies
    for i in range(len(bodies)):
        body, x = bodies[i], moving[i]
        scratch = x.articulated
        a = parent_acceleration(work, body, x, g, is_flexible)
        if body.kind == JointKind.REVOLUTE:
            a = solve_hinge(body, scratch, a, vdot)
        else:
            a = solve_velocities(body, x, scratch, a, vdot)
        if body.is_prescribed:
            dx, dy, dw = prescribed_acceleration(work, body, x)
            a = (a[0] + dx, a[1] + dy, a[2] + dw)
        # (A11)
        x.a[0], x.a[1], x.al[2] = a[0] + x.zv[0], a[1] + x.zv[1], a[2]
        if is_flexible:
            x.al[2] += x.zw[2]
        if is_flexible and body.flex >= 0:
            solve_modes(system, work, body.flex, vdot)
            accelerate_sections(system, work, system.flexes[body.flex])


@kernel
def put_constraint_forces(system, work, vdot):
    """(A12, A13): accelerations of the prescribed coordinates and the forces that enforce them."""
    for i in range(len(system.bodies)):
        body, x = system.bodies[i], work.bodies[i]
        if body.is_prescribed:
            I, p = articulated_inertia(x.articulated)
            f = times(I, (x.a[0], x.a[1], x.al[2]))
            for k in range(body.n_v):
                dof = work.dofs[body.v + k]
                if dof.is_prescribed:
                    vdot[body.v + k] = dof.motion_vdot
                    sx, sy, sw = planar_column(body, x, k)
                    needed = sx * (f[0] + p[0]) + sy * (f[1] + p[1]) + sw * (f[2] + p[2])
                    dof.constraint_force = needed + dof.armature * dof.motion_vdot - dof.tau


@kernel
def solve_planar(system, work, vdot):
    """vdot and constraint forces of prescribed motions; False if a pivot is not positive."""
    # two ways, each with a constant: rigid bodies are not asked whether they bend
    if system.world[0].uses_planar:
        is_ok = sweep_inward(system, work, False)
        if is_ok:
            sweep_outward(system, work, vdot, False)
    else:
        is_ok = sweep_inward(system, work, True)
        if is_ok:
            sweep_outward(system, work, vdot, True)
    if not is_ok:
        return False
    if system.world[0].has_prescribed:
        put_constraint_forces(system, work, vdot)
    return True

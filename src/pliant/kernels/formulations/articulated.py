"""Forward dynamics, O(n), by articulated bodies: every joint kind, fixed and floating base.

I = (A, B; B^T, C) spatial inertia in blocks vv, vw, ww; p = (pf, pn) bias wrench; s = (sv, sw) a column of S.
The modes of a flexible body are eliminated before its joint (articulated_modes.py).
A joint with several velocities is passed one velocity at a time (ball joints by half solves), so every update is
symmetric and nothing is ever symmetrised: long spherical chains keep their digits [boltzmannhamel]."""

from pliant.kernels._jit import ACCELERATION, kernel
from pliant.kernels.algebra.spatial import shift_inertia
from pliant.kernels.algebra.sym3 import (
    add_sym,
    cholesky3,
    lower_solve,
    minus_outer,
    minus_square,
    mul_sym,
    put_sym,
    sym,
    turn_sym,
    upper_solve,
)
from pliant.kernels.algebra.vec3 import (
    add,
    add_mat,
    cross,
    dot,
    mat,
    mul,
    mul_t,
    put,
    put_mat,
    scale,
    sub,
    turn_mat,
    vec,
)
from pliant.kernels.flexible.sections import accelerate_sections
from pliant.kernels.formulations.articulated_modes import give_modes, pass_modes, put_own_modes, solve_modes
from pliant.kernels.formulations.articulated_planar import solve_planar
from pliant.kernels.kinematics.joints import ZERO, subspace_column
from pliant.system.status import Status
from pliant.system.tables import JointKind

ZERO_SYM = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
ZERO_MAT = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@kernel
def own(body, x):
    """M_i and h_i - external."""
    w, c, J, m = vec(x.w), vec(body.c), sym(body.J), body.mass
    A = (m, 0.0, 0.0, m, 0.0, m)
    B = (0.0, c[2], -c[1], -c[2], 0.0, c[0], c[1], -c[0], 0.0)
    return A, B, J, sub(cross(w, cross(w, c)), vec(x.f)), sub(cross(w, mul_sym(J, w)), vec(x.n))


@kernel
def gathered(x):
    """I and p gathered so far."""
    return sym(x.A), mat(x.B), sym(x.C), vec(x.pf), vec(x.pn)


@kernel
def put_gathered(x, A, B, C, pf, pn):
    put_sym(x.A, A)
    put_mat(x.B, B)
    put_sym(x.C, C)
    put(x.pf, pf)
    put(x.pn, pn)


@kernel
def pass_spherical(work, body, x, A, B, C, pf, pn):
    """A ball joint without armature: the rotational blocks of Ia vanish exactly. is_ok = False if C is not positive."""
    l = cholesky3(C)
    put_sym(x.l, l)
    j = body.v
    tau = (work.dofs[j].tau, work.dofs[j + 1].tau, work.dofs[j + 2].tau)
    t = lower_solve(l, sub(tau, pn))
    put(x.t, t)
    # rows of B are the columns of U_v: Y = l^-1 B^T
    y0 = lower_solve(l, (B[0], B[1], B[2]))
    y1 = lower_solve(l, (B[3], B[4], B[5]))
    y2 = lower_solve(l, (B[6], B[7], B[8]))
    put(x.Ev, y0)
    put(x.Ev[3:], y1)
    put(x.Ev[6:], y2)
    Aa = (
        A[0] - dot(y0, y0),
        A[1] - dot(y0, y1),
        A[2] - dot(y0, y2),
        A[3] - dot(y1, y1),
        A[4] - dot(y1, y2),
        A[5] - dot(y2, y2),
    )
    return l[0] > 0.0, Aa, ZERO_MAT, ZERO_SYM, add(pf, (dot(y0, t), dot(y1, t), dot(y2, t))), tau


@kernel
def pass_velocity(work, body, x, k, A, B, C, pf, pn):
    """One velocity of a joint: U = I s, d = 1 / s^T U, Ia = I - d U U^T, pa = p + d t U."""
    dof = work.dofs[body.v + k]
    sv, sw = subspace_column(body, x, k)
    Uv = add(mul_sym(A, sv), mul(B, sw))
    Uw = add(mul_t(B, sv), mul_sym(C, sw))
    pivot = dot(sv, Uv) + dot(sw, Uw) + dof.armature
    # a prescribed velocity needs no inertia and passes everything on
    is_ok = pivot > 0.0 or dof.is_driven != 0
    d = 1.0 / pivot if pivot > 0.0 and not dof.is_driven else 0.0
    t = dof.tau - dot(sv, pf) - dot(sw, pn)
    put(x.Ev[3 * k :], Uv)
    put(x.Ew[3 * k :], Uw)
    x.l[k] = d
    x.t[k] = t
    A, B, C = minus_square(A, Uv, d), minus_outer(B, Uv, Uw, d), minus_square(C, Uw, d)
    return is_ok, A, B, C, add(pf, scale(d * t, Uv)), add(pn, scale(d * t, Uw))


@kernel
def pass_revolute(work, body, x, A, B, C, pf, pn):
    """pass_velocity for s = (0, axis)."""
    dof = work.dofs[body.v]
    axis = vec(body.axis)
    Uv, Uw = mul(B, axis), mul_sym(C, axis)
    pivot = dot(axis, Uw) + dof.armature
    is_ok = pivot > 0.0 or dof.is_driven != 0
    d = 1.0 / pivot if pivot > 0.0 and not dof.is_driven else 0.0
    t = dof.tau - dot(axis, pn)
    put(x.Ev, Uv)
    put(x.Ew, Uw)
    x.l[0] = d
    x.t[0] = t
    A, B, C = minus_square(A, Uv, d), minus_outer(B, Uv, Uw, d), minus_square(C, Uw, d)
    return is_ok, A, B, C, add(pf, scale(d * t, Uv)), add(pn, scale(d * t, Uw))


@kernel
def give_to_parent(system, work, body, parent, x, y, A, B, C, pf, pn):
    """Turn Ia, pa into parent axes, shift to the parent's origin, add.

    The child that is met first adds to the parent's own inertia."""
    R, o = mat(x.R), vec(x.o)
    A, B, C = turn_sym(R, A), turn_mat(R, B), turn_sym(R, C)
    pf, pn = mul(R, pf), mul(R, pn)
    if body.point >= 0:
        o = vec(x.o_E)
    B, C = shift_inertia(A, B, C, o)
    pn = add(pn, cross(o, pf))
    if body.point >= 0:
        give_modes(system, work, body.point, A, B, C, pf, pn)
        s = vec(work.points[body.point].s)
        B, C = shift_inertia(A, B, C, s)
        pn = add(pn, cross(s, pf))
    A0, B0, C0, f0, n0 = own(parent, y) if body.is_last_child and parent.flex < 0 else gathered(y)
    put_gathered(y, add_sym(A0, A), add_mat(B0, B), add_sym(C0, C), add(f0, pf), add(n0, pn))


@kernel
def add_drive(work, body, x, a, al):
    """Prescribed accelerations of a joint, which are part of the bias."""
    for k in range(body.n_v):
        sv, sw = subspace_column(body, x, k)
        # zero where the motion is free
        vdot = work.dofs[body.v + k].motion_vdot
        a, al = add(a, scale(vdot, sv)), add(al, scale(vdot, sw))
    return a, al


@kernel
def inward(system, work, keeps_all):
    """From the tips to the root. Returns False and names the body if a pivot is not positive.

    keeps_all: the articulated inertia of every body is wanted afterwards, for reactions."""
    for k in range(len(system.flexes)):
        put_own_modes(system, work, k)
    for i in range(len(system.bodies) - 1, -1, -1):
        body, x = system.bodies[i], work.bodies[i]
        zv, zw = vec(x.zv), vec(x.zw)
        if body.is_driven:
            zv, zw = add_drive(work, body, x, zv, zw)
        if body.flex >= 0 and not pass_modes(system, work, body.flex):
            work.run[0].body = i
            return False
        A, B, C, pf, pn = own(body, x) if body.is_leaf and body.flex < 0 else gathered(x)
        if body.is_leaf and (keeps_all or body.is_driven):
            put_gathered(x, A, B, C, pf, pn)
        pf = add(pf, add(mul_sym(A, zv), mul(B, zw)))
        pn = add(pn, add(mul_t(B, zv), mul_sym(C, zw)))
        is_ok = True
        if body.kind == JointKind.REVOLUTE:
            is_ok, A, B, C, pf, pn = pass_revolute(work, body, x, A, B, C, pf, pn)
        elif body.kind == JointKind.SPHERICAL and not body.has_armature:
            is_ok, A, B, C, pf, pn = pass_spherical(work, body, x, A, B, C, pf, pn)
        else:
            for k in range(body.n_v):
                is_good, A, B, C, pf, pn = pass_velocity(work, body, x, k, A, B, C, pf, pn)
                is_ok = is_ok and is_good
        if not is_ok:
            work.run[0].body = i
            return False
        if body.parent >= 0:
            y = work.bodies[body.parent]
            give_to_parent(system, work, body, system.bodies[body.parent], x, y, A, B, C, pf, pn)
    return True


@kernel
def outward(system, work, vdot):
    """Accelerations from the root to the tips; gravity is an upward acceleration of the world."""
    g = vec(system.world[0].gravity)
    for i in range(len(system.bodies)):
        body, x = system.bodies[i], work.bodies[i]
        R, o, j = mat(x.R), vec(x.o), body.v
        if body.parent < 0:
            a, al = mul_t(R, scale(-1.0, g)), ZERO
        else:
            parent = work.bodies[body.parent]
            a, al = vec(parent.a), vec(parent.al)
            if body.point >= 0:
                # z holds the section's own bias
                section = work.points[body.point]
                a, al, o = sub(vec(section.a), vec(section.gv)), sub(vec(section.al), vec(section.gw)), vec(x.o_E)
            a = mul_t(R, add(a, cross(al, o)))
            al = mul_t(R, al)
        if body.kind == JointKind.SPHERICAL and not body.has_armature:
            l, t = sym(x.l), vec(x.t)
            # u' = l^-T (t - Y a) - al, because E_w = l^T
            y = sub(t, add(add(scale(a[0], vec(x.Ev)), scale(a[1], vec(x.Ev[3:]))), scale(a[2], vec(x.Ev[6:]))))
            u = sub(upper_solve(l, y), al)
            put(vdot[j:], u)
            al = add(al, u)
        else:
            for k in range(body.n_v - 1, -1, -1):
                u = x.l[k] * (x.t[k] - dot(vec(x.Ev[3 * k :]), a) - dot(vec(x.Ew[3 * k :]), al))
                vdot[j + k] = u
                sv, sw = subspace_column(body, x, k)
                a, al = add(a, scale(u, sv)), add(al, scale(u, sw))
        if body.is_driven:
            a, al = add_drive(work, body, x, a, al)
        put(x.a, add(a, vec(x.zv)))
        put(x.al, add(al, vec(x.zw)))
        if body.flex >= 0:
            solve_modes(system, work, body.flex, vdot)
            accelerate_sections(system, work, system.flexes[body.flex])


@kernel
def transmitted(x):
    """Wrench of the joint on the body: I A + p with the articulated inertia of the body, modes eliminated."""
    a, al = vec(x.a), vec(x.al)
    force = add(vec(x.pf), add(mul_sym(sym(x.A), a), mul(mat(x.B), al)))
    moment = add(vec(x.pn), add(mul_t(mat(x.B), a), mul_sym(sym(x.C), al)))
    return force, moment


@kernel
def close_drives(system, work, vdot):
    """Accelerations and drive forces of the prescribed coordinates."""
    for i in range(len(system.bodies)):
        body, x = system.bodies[i], work.bodies[i]
        if body.is_driven:
            force, moment = transmitted(x)
            for k in range(body.n_v):
                dof = work.dofs[body.v + k]
                if dof.is_driven:
                    vdot[body.v + k] = dof.motion_vdot
                    sv, sw = subspace_column(body, x, k)
                    dof.drive = dot(sv, force) + dot(sw, moment) + dof.armature * dof.motion_vdot - dof.tau


@kernel(ACCELERATION)
def articulated(system, work, q, v, vdot, reaction):
    # out-of-plane reactions exist in planar models too: they need all six components
    if system.world[0].uses_planar and len(reaction) == 0:
        return Status.OK if solve_planar(system, work, vdot) else Status.SINGULAR
    if not inward(system, work, len(reaction) > 0):
        return Status.SINGULAR
    outward(system, work, vdot)
    if system.world[0].has_drives:
        close_drives(system, work, vdot)
    for i in range(len(reaction)):
        force, moment = transmitted(work.bodies[i])
        put(reaction[i], force)
        put(reaction[i, 3:], moment)
    return Status.OK

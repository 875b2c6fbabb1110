"""Forward dynamics, O(n), by articulated bodies: every joint kind, fixed and floating base [featherstone2008].

I = (A, B; B^T, C) spatial inertia in blocks vv, vw, ww; p = (pf, pn) bias wrench; a, al: acceleration, gravity counted
as an upward acceleration of the world. One way in, from the tips to the root, eliminates the modes of every body
(articulated_modes.py) and then its joint (articulated_joints.py); one way out finds the accelerations. Planar models
take articulated_planar.py. Numbers in brackets: docs/equations.md, section Articulated bodies."""

from pliant.kernels._jit import ACCELERATION, kernel
from pliant.kernels.algebra.spatial import shift_inertia
from pliant.kernels.algebra.sym3 import add_sym, mul_sym, put_sym, rotate_sym, sym
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
    rotate_mat,
    scale,
    sub,
    vec,
)
from pliant.kernels.flexible.sections import accelerate_sections
from pliant.kernels.formulations.articulated_contacts import put_contact_masses, with_contact_masses
from pliant.kernels.formulations.articulated_joints import (
    ZERO_MAT,
    ZERO_SYM,
    eliminate_joint,
    eliminate_rotor,
    solve_joint,
)
from pliant.kernels.formulations.articulated_modes import (
    add_to_modes,
    eliminate_modes,
    put_flexible_inertia,
    solve_modes,
)
from pliant.kernels.formulations.articulated_planar import solve_planar
from pliant.kernels.kinematics.joints import ZERO, subspace_column
from pliant.system.status import Status

# --- one body: of numbers, or of lanes (articulated_spatial_lanes.py) -------------------------------------------------


@kernel
def body_inertia(body, w, f, n):
    """(A1): I and p of a rigid body alone that rotates with w; f, n: the wrench on it."""
    c, J, m = vec(body.c), sym(body.J), body.mass
    A = (m, 0.0, 0.0, m, 0.0, m)
    B = (0.0, c[2], -c[1], -c[2], 0.0, c[0], c[1], -c[0], 0.0)
    return A, B, J, sub(cross(w, cross(w, c)), f), sub(cross(w, mul_sym(J, w)), n)


@kernel
def with_bias(A, B, C, pf, pn, zv, zw):
    """(A3): p + I z"""
    pf = add(pf, add(mul_sym(A, zv), mul(B, zw)))
    return pf, add(pn, add(mul_t(B, zv), mul_sym(C, zw)))


@kernel
def rotate_wrench_and_inertia(R, A, B, C, pf, pn):
    """(A7): Ia, pa in axes of the parent."""
    return rotate_sym(R, A), rotate_mat(R, B), rotate_sym(R, C), mul(R, pf), mul(R, pn)


@kernel
def carry_acceleration(R, o, a, al):
    """(A8): of a body that is fixed to what accelerates so, at o."""
    return mul_t(R, add(a, cross(al, o))), mul_t(R, al)


# --- all bodies -------------------------------------------------------------------------------------------------------


@kernel
def articulated_inertia(scratch):
    """I and p of a body and all it carries, as far as gathered."""
    return sym(scratch.A), mat(scratch.B), sym(scratch.C), vec(scratch.pf), vec(scratch.pn)


@kernel
def put_articulated_inertia(scratch, A, B, C, pf, pn):
    put_sym(scratch.A, A)
    put_mat(scratch.B, B)
    put_sym(scratch.C, C)
    put(scratch.pf, pf)
    put(scratch.pn, pn)


@kernel
def add_to_parent(system, work, body, x, A, B, C, pf, pn):
    """(A7): rotate Ia, pa into parent axes, shift to the parent's origin, add.

    The child that is met first adds to the parent's own inertia."""
    R, o = mat(x.R), vec(x.o)
    A, B, C, pf, pn = rotate_wrench_and_inertia(R, A, B, C, pf, pn)
    if body.point >= 0:
        o = vec(x.o_E)
    B, C = shift_inertia(A, B, C, o)
    pn = add(pn, cross(o, pf))
    if body.point >= 0:
        add_to_modes(system, work, body.point, A, B, C, pf, pn)
        s = vec(work.points[body.point].s)
        B, C = shift_inertia(A, B, C, s)
        pn = add(pn, cross(s, pf))
    parent, scratch = system.bodies[body.parent], work.bodies[body.parent].articulated
    if body.is_last_child and parent.flex < 0:
        y = work.bodies[body.parent]
        A0, B0, C0, f0, n0 = body_inertia(parent, vec(y.w), vec(y.f), vec(y.n))
    else:
        A0, B0, C0, f0, n0 = articulated_inertia(scratch)
    put_articulated_inertia(scratch, add_sym(A0, A), add_mat(B0, B), add_sym(C0, C), add(f0, pf), add(n0, pn))


@kernel
def add_prescribed(work, body, x, a, al):
    """Prescribed accelerations of a joint, which are part of the bias."""
    for k in range(body.n_v):
        sv, sw = subspace_column(body, x, k)
        # zero where the motion is free
        vdot = work.dofs[body.v + k].motion_vdot
        a, al = add(a, scale(vdot, sv)), add(al, scale(vdot, sw))
    return a, al


@kernel
def sweep_inward(system, work, keeps_all):
    """From the tips to the root. Returns False and names the body if a pivot is not positive.

    keeps_all: the articulated inertia of every body is wanted afterwards, for reactions."""
    for k in range(len(system.flexes)):
        put_flexible_inertia(system, work, k)
    has_masses = put_contact_masses(system, work)
    bodies, moving = system.bodies, work.bodies
    for i in range(len(bodies) - 1, -1, -1):
        body, x = bodies[i], moving[i]
        scratch = x.articulated
        if body.is_rotor:
            if keeps_all:
                put_articulated_inertia(scratch, ZERO_SYM, ZERO_MAT, ZERO_SYM, ZERO, ZERO)
            if not eliminate_rotor(work.dofs[body.v], scratch):
                work.run[0].body = i
                return False
            continue
        zv, zw = vec(x.zv), vec(x.zw)
        if body.is_prescribed:
            zv, zw = add_prescribed(work, body, x, zv, zw)
        if body.flex >= 0 and not eliminate_modes(system, work, body.flex):
            work.run[0].body = i
            return False
        if body.is_leaf and body.flex < 0:
            A, B, C, pf, pn = body_inertia(body, vec(x.w), vec(x.f), vec(x.n))
        else:
            A, B, C, pf, pn = articulated_inertia(scratch)
        if has_masses:
            A, B, C = with_contact_masses(work.contact_inertia[i], A, B, C)
        if (body.is_leaf or has_masses) and (keeps_all or body.is_prescribed):
            put_articulated_inertia(scratch, A, B, C, pf, pn)
        pf, pn = with_bias(A, B, C, pf, pn, zv, zw)
        is_ok, A, B, C, pf, pn = eliminate_joint(work, body, x, scratch, A, B, C, pf, pn)
        if not is_ok:
            work.run[0].body = i
            return False
        if body.parent >= 0:
            add_to_parent(system, work, body, x, A, B, C, pf, pn)
    return True


@kernel
def sweep_outward(system, work, vdot):
    """Accelerations from the root to the tips."""
    g = vec(system.world[0].gravity)
    bodies, moving = system.bodies, work.bodies
    for i in range(len(bodies)):
        body, x = bodies[i], moving[i]
        R, o = mat(x.R), vec(x.o)
        # (A8)
        if body.parent < 0:
            a, al = mul_t(R, scale(-1.0, g)), ZERO
        else:
            parent = moving[body.parent]
            a, al = vec(parent.a), vec(parent.al)
            if body.point >= 0:
                # z holds the section's own bias
                section = work.points[body.point]
                a, al, o = sub(vec(section.a), vec(section.gv)), sub(vec(section.al), vec(section.gw)), vec(x.o_E)
            a, al = carry_acceleration(R, o, a, al)
        a, al = solve_joint(body, x, x.articulated, a, al, vdot)
        if body.is_prescribed:
            a, al = add_prescribed(work, body, x, a, al)
        # (A11)
        put(x.a, add(a, vec(x.zv)))
        put(x.al, add(al, vec(x.zw)))
        if body.flex >= 0:
            solve_modes(system, work, body.flex, vdot)
            accelerate_sections(system, work, system.flexes[body.flex])


@kernel
def joint_wrench(x):
    """(A12): wrench of the joint on the body, I A + p with the articulated inertia of the body, modes eliminated."""
    a, al, scratch = vec(x.a), vec(x.al), x.articulated
    force = add(vec(scratch.pf), add(mul_sym(sym(scratch.A), a), mul(mat(scratch.B), al)))
    moment = add(vec(scratch.pn), add(mul_t(mat(scratch.B), a), mul_sym(sym(scratch.C), al)))
    return force, moment


@kernel
def put_constraint_forces(system, work, vdot):
    """(A13): accelerations of the prescribed coordinates and the forces that enforce them."""
    for i in range(len(system.bodies)):
        body, x = system.bodies[i], work.bodies[i]
        if body.is_prescribed:
            force, moment = joint_wrench(x)
            for k in range(body.n_v):
                dof = work.dofs[body.v + k]
                if dof.is_prescribed:
                    vdot[body.v + k] = dof.motion_vdot
                    sv, sw = subspace_column(body, x, k)
                    needed = dot(sv, force) + dot(sw, moment)
                    dof.constraint_force = needed + dof.armature * dof.motion_vdot - dof.tau


@kernel(ACCELERATION)
def articulated(system, work, q, v, vdot, reaction):
    # out-of-plane reactions exist in planar models too: they need all six components
    if system.world[0].is_planar and len(reaction) == 0:
        return Status.OK if solve_planar(system, work, vdot) else Status.SINGULAR
    if not sweep_inward(system, work, len(reaction) > 0):
        return Status.SINGULAR
    sweep_outward(system, work, vdot)
    if system.world[0].has_prescribed:
        put_constraint_forces(system, work, vdot)
    for i in range(len(reaction)):
        force, moment = joint_wrench(work.bodies[i])
        put(reaction[i], force)
        put(reaction[i, 3:], moment)
    return Status.OK

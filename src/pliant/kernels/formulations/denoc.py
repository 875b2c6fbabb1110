"""Decoupled natural orthogonal complement: twists T v, T = N_l N_d; any joints, trees, ground and space, rigid and
flexible bodies, O(n) [denoc].

All in world axes and about mass centres, so nothing is rotated on the way. Body i, parent j, velocity k of its joint:
    t_i = B_ij t_j + sum_k p_k v_k,   B_ij = (1, 0; -[r], 1) for [omega; v],   r: from mass centre j to mass centre i
    I = N_d^T N_l^T M N_l N_d = U D U^T by reverse Gaussian elimination, from the tips, last velocity first.
The velocities of one joint make a block pivot, itself factorised as U D U^T. Mh = (A, B; B^T, C): blocks vv, vw, ww.
Then U D U^T vdot = tau - N_d^T N_l^T w takes one way in (U) and one way out (U^T), w the wrenches without vdot.
Modes: denoc_modes.py. Planar models of rigid bodies take denoc_planar.py.
Numbers in brackets: docs/equations.md, section DeNOC."""

from pliant.kernels._jit import ACCELERATION, EQUATIONS, kernel, routine
from pliant.kernels.algebra.spatial import shift_inertia
from pliant.kernels.algebra.sym3 import add_sym, minus_outer, minus_square, mul_sym, put_sym, rotate_sym, sym
from pliant.kernels.algebra.vec3 import (
    add,
    add_mat,
    cross,
    dot,
    mat,
    matmul,
    mul,
    mul_t,
    put,
    put_at,
    put_mat,
    scale,
    sub,
    vec,
    vec_at,
)
from pliant.kernels.flexible.pool import coupling, modal_bias, modal_force, modal_inertia
from pliant.kernels.formulations.denoc_modes import (
    add_to_modes,
    eliminate_modes,
    mode_twist,
    put_flexible_inertia,
    section_wrench,
    solve_modes,
)
from pliant.kernels.formulations.denoc_planar import solve_planar
from pliant.kernels.kinematics.joints import ZERO, subspace_column
from pliant.kernels.kinematics.tree import move
from pliant.kernels.pivot import invert_pivot
from pliant.kernels.rows import put_entry
from pliant.system.status import Status

ZERO_MAT = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@kernel
def twist_column(body, x, scratch, k):
    """p_k, a column of N_d, as (angular, linear) (D1)."""
    sv, sw = subspace_column(body, x, k)
    pw = mul(mat(scratch.Q), sw)
    return pw, add(mul(mat(scratch.Q), sv), cross(pw, vec(scratch.d)))


@kernel
def times(scratch, w, v):
    """Mh t as (moment, force)."""
    B = mat(scratch.B)
    return add(mul_sym(sym(scratch.C), w), mul_t(B, v)), add(mul(B, w), mul_sym(sym(scratch.A), v))


@kernel
def put_body_inertia(body, x, scratch, gravity, part):
    """(D3): M_i, and wrench M t' + M' t - external, with that part (0 or 1) of the gathered forces."""
    m, I, f, w, Q = body.mass, sym(body.I), vec(x.f), vec(x.w), mat(scratch.Q)
    C = rotate_sym(Q, I)
    put_sym(scratch.A, (m, 0.0, 0.0, m, 0.0, m))
    put_mat(scratch.B, ZERO_MAT)
    put_sym(scratch.C, C)
    put(scratch.wrench_f, sub(scale(m, sub(vec(scratch.tdot_v), gravity)), mul(Q, scale(part, f))))
    external = scale(part, sub(vec(x.n), cross(vec(body.com), f)))
    moment = mul(Q, sub(cross(w, mul_sym(I, w)), external))
    put(scratch.wrench_n, add(mul_sym(C, vec(scratch.tdot_w)), moment))


@kernel
def known_acceleration(work, body, x, part):
    """Across the joint, B: velocity terms z and that part of prescribed accelerations."""
    zv, zw = vec(x.zv), vec(x.zw)
    if body.is_prescribed:
        for k in range(body.n_v):
            sv, sw = subspace_column(body, x, k)
            # zero where the motion is free
            vdot = part * work.dofs[body.v + k].motion_vdot
            zv, zw = add(zv, scale(vdot, sv)), add(zw, scale(vdot, sw))
    return zv, zw


@routine
def put_twist_rates(system, work, part):
    """(D2), outward: t' of every body, with that part of prescribed accelerations; its own M and w."""
    gravity = vec(system.world[0].gravity)
    bodies, moving = system.bodies, work.bodies
    for i in range(len(bodies)):
        body, x = bodies[i], moving[i]
        scratch = x.denoc
        Q, com, w = mat(x.R), vec(body.com) if body.flex < 0 else ZERO, vec(x.w)
        zv, zw = known_acceleration(work, body, x, part)
        r, tv, tw = ZERO, ZERO, ZERO
        if body.parent >= 0:
            parent = moving[body.parent].denoc
            tv, tw = sub(vec(parent.tdot_v), vec(parent.s)), vec(parent.tdot_w)
            r = sub(mul(mat(parent.Q), vec(x.o)), vec(parent.d))
            Q = matmul(mat(parent.Q), Q)
        d, s = mul(Q, com), cross(w, cross(w, com))
        r = add(r, d)
        put_mat(scratch.Q, Q)
        put(scratch.d, d)
        put(scratch.r, r)
        # z is that of the origins: the way to and from the mass centres adds w x (w x d)
        put(scratch.s, mul(Q, s))
        put(scratch.tdot_w, add(tw, mul(Q, zw)))
        put(scratch.tdot_v, add(add(tv, cross(tw, r)), mul(Q, add(add(zv, cross(zw, com)), s))))
        if body.flex >= 0:
            put_flexible_inertia(system, work, i, gravity, part)
        else:
            put_body_inertia(body, x, scratch, gravity, part)


@kernel
def eliminate_velocity(dof, scratch, k, pw, pv, A, B, C, n, f):
    """One velocity: Mh and the wrench without it. First returned: whether D is positive."""
    # (D4)
    psi_w, psi_v = add(mul_sym(C, pw), mul_t(B, pv)), add(mul(B, pw), mul_sym(A, pv))
    is_ok, inverse = invert_pivot(dof, dot(pw, psi_w) + dot(pv, psi_v) + dof.armature)
    # (D6)
    tau = dof.tau - dot(pw, n) - dot(pv, f)
    put_at(scratch.psi, 6 * k, psi_w)
    put_at(scratch.psi, 6 * k + 3, psi_v)
    scratch.inverse_D[k] = inverse
    scratch.tau_hat[k] = tau
    # (D5)
    A = minus_square(A, psi_v, inverse)
    B = minus_outer(B, psi_v, psi_w, inverse)
    C = minus_square(C, psi_w, inverse)
    return is_ok, A, B, C, add(n, scale(inverse * tau, psi_w)), add(f, scale(inverse * tau, psi_v))


@kernel
def add_to_parent(scratch, onto, A, B, C, n, f):
    """(D7)"""
    r = vec(scratch.r)
    B, C = shift_inertia(A, B, C, r)
    put_sym(onto.A, add_sym(sym(onto.A), A))
    put_mat(onto.B, add_mat(mat(onto.B), B))
    put_sym(onto.C, add_sym(sym(onto.C), C))
    put(onto.wrench_n, add(vec(onto.wrench_n), add(n, cross(r, f))))
    put(onto.wrench_f, add(vec(onto.wrench_f), f))


@routine
def sweep_inward(system, work, eliminates):
    """Mh and wrench of every body; without elimination: the inertia and wrench of a body and all it carries.

    Returns False and names the body if a pivot is not positive."""
    bodies, moving = system.bodies, work.bodies
    for i in range(len(bodies) - 1, -1, -1):
        body, x = bodies[i], moving[i]
        scratch = x.denoc
        if eliminates and body.flex >= 0 and not eliminate_modes(system, work, i):
            work.run[0].body = i
            return False
        A, B, C = sym(scratch.A), mat(scratch.B), sym(scratch.C)
        n, f = vec(scratch.wrench_n), vec(scratch.wrench_f)
        if eliminates:
            for k in range(body.n_v - 1, -1, -1):
                pw, pv = twist_column(body, x, scratch, k)
                dof = work.dofs[body.v + k]
                is_ok, A, B, C, n, f = eliminate_velocity(dof, scratch, k, pw, pv, A, B, C, n, f)
                if not is_ok:
                    work.run[0].body = i
                    return False
        if body.point >= 0:
            add_to_modes(system, work, i, A, B, C, n, f)
        if body.parent >= 0:
            add_to_parent(scratch, moving[body.parent].denoc, A, B, C, n, f)
    return True


@kernel
def sweep_outward(system, work, vdot):
    """(D8): vdot, and mu."""
    bodies, moving = system.bodies, work.bodies
    for i in range(len(bodies)):
        body, x = bodies[i], moving[i]
        scratch = x.denoc
        mw, mv = ZERO, ZERO
        if body.parent >= 0:
            parent = moving[body.parent].denoc
            mw = vec(parent.mu_w)
            mv = add(vec(parent.mu_v), cross(mw, vec(scratch.r)))
        if body.point >= 0:
            pw, pv = mode_twist(system, work, i, vdot)
            mw, mv = add(mw, pw), add(mv, pv)
        for k in range(body.n_v):
            psi_w, psi_v = vec_at(scratch.psi, 6 * k), vec_at(scratch.psi, 6 * k + 3)
            u = scratch.inverse_D[k] * (scratch.tau_hat[k] - dot(psi_w, mw) - dot(psi_v, mv))
            vdot[body.v + k] = u
            pw, pv = twist_column(body, x, scratch, k)
            mw, mv = add(mw, scale(u, pw)), add(mv, scale(u, pv))
        put(scratch.mu_w, mw)
        put(scratch.mu_v, mv)
        if body.flex >= 0:
            solve_modes(system, work, i, vdot)


@kernel
def joint_wrench(scratch):
    """(D9): wrench of the joint on the body, (moment, force) at its mass centre."""
    n, f = times(scratch, vec(scratch.mu_w), vec(scratch.mu_v))
    return add(vec(scratch.wrench_n), n), add(vec(scratch.wrench_f), f)


@kernel
def put_constraint_forces(system, work, vdot):
    """(D9): accelerations of the prescribed coordinates and the forces that enforce them."""
    for i in range(len(system.bodies)):
        body, x = system.bodies[i], work.bodies[i]
        scratch = x.denoc
        if body.is_prescribed:
            n, f = joint_wrench(scratch)
            for k in range(body.n_v):
                dof = work.dofs[body.v + k]
                if dof.is_prescribed:
                    vdot[body.v + k] = dof.motion_vdot
                    pw, pv = twist_column(body, x, scratch, k)
                    dof.constraint_force = dot(pw, n) + dot(pv, f) + dof.armature * dof.motion_vdot - dof.tau


@kernel(ACCELERATION)
def denoc(system, work, q, v, vdot, reaction):
    # out-of-plane reactions exist in planar models too: they need all six components
    if system.world[0].uses_planar and len(reaction) == 0:
        return Status.OK if solve_planar(system, work, vdot) else Status.SINGULAR
    put_twist_rates(system, work, 1.0)
    if not sweep_inward(system, work, True):
        return Status.SINGULAR
    sweep_outward(system, work, vdot)
    if system.world[0].has_prescribed:
        put_constraint_forces(system, work, vdot)
    for i in range(len(reaction)):
        scratch = work.bodies[i].denoc
        n, f = joint_wrench(scratch)
        put(reaction[i], mul_t(mat(scratch.Q), f))
        put(reaction[i, 3:], mul_t(mat(scratch.Q), add(n, cross(vec(scratch.d), f))))
    return Status.OK


@kernel
def walk_inward(system, work, M, row, i, n, f):
    """(D10): p_l . (B_il^T Mh_i p_k) of one velocity k on the way from body i to the root."""
    while i >= 0:
        body, x = system.bodies[i], work.bodies[i]
        scratch = x.denoc
        for k in range(body.n_v):
            pw, pv = twist_column(body, x, scratch, k)
            put_entry(M, row, body.v + k, dot(pw, n) + dot(pv, f))
        if body.point >= 0:
            point, parent = system.points[body.point], system.bodies[body.parent]
            force, moment = section_wrench(work, body, x, n, f)
            for k in range(system.flexes[point.flex].m):
                put_entry(M, row, parent.v + parent.n_v + k, modal_force(point, work.flex, k, force, moment))
        n = add(n, cross(vec(scratch.r), f))
        i = body.parent


@kernel(EQUATIONS)
def matrices(system, work, q, v, M, h):
    """(D10): M and h of M vdot + h = tau; velocity terms and gravity in h, no gathered forces."""
    move(system, work, q, v)
    put_twist_rates(system, work, 0.0)
    sweep_inward(system, work, False)
    for row in range(len(h)):
        for j in range(len(h)):
            M[row, j] = 0.0
    for row in range(len(h)):
        i = system.dofs[row].body
        body, scratch = system.bodies[i], work.bodies[i].denoc
        k = row - body.v
        if k < body.n_v:
            pw, pv = twist_column(body, work.bodies[i], scratch, k)
            h[row] = dot(pw, vec(scratch.wrench_n)) + dot(pv, vec(scratch.wrench_f))
            n, f = times(scratch, pw, pv)
        else:
            flexible, mode = system.flexes[body.flex], k - body.n_v
            h[row] = modal_bias(flexible, work.flex, mode)
            f, n = coupling(flexible, work.flex, mode)
            for l in range(mode + 1):
                put_entry(M, row, row - mode + l, modal_inertia(flexible, work.flex, mode, l))
        walk_inward(system, work, M, row, i, n, f)
        M[row, row] += work.dofs[row].armature
    return Status.OK

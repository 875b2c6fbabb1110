"""Decoupled natural orthogonal complement: twists T v, T = N_l N_d; any joints, trees, ground and space, O(n) [denoc].

All in world axes and about mass centres, so nothing is turned on the way. Body i, parent j, velocity k of its joint:
    t_i = B_ij t_j + sum_k p_k v_k,   B_ij = (1, 0; -[r], 1) for [omega; v],   r: from mass centre j to mass centre i
    I = N_d^T N_l^T M N_l N_d = U D U^T by reverse Gaussian elimination, from the tips, last velocity first:
    psi_k = Mh p_k, D_k = p_k.psi_k + armature, Mh <- Mh - psi_k psi_k^T / D_k;  Mh_j = M_j + sum_i B_ij^T Mh_i B_ij
    u_lk = (B_il p_l).psi_k / D_k for velocities l of the same joint before k and of those further inboard
The velocities of one joint make a block pivot, itself factorised as U D U^T. Mh = (A, B; B^T, C): blocks vv, vw, ww.
Then U D U^T vdot = tau - N_d^T N_l^T w takes one way in (U) and one way out (U^T), w the wrenches without vdot."""

from pliant.kernels._jit import ACCELERATION, EQUATIONS, kernel, routine
from pliant.kernels.algebra.spatial import shift_inertia
from pliant.kernels.algebra.sym3 import add_sym, minus_outer, minus_square, mul_sym, put_sym, sym, turn_sym
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
    put_mat,
    scale,
    sub,
    vec,
)
from pliant.kernels.formulations.denoc_planar import solve_planar
from pliant.kernels.kinematics.joints import ZERO, subspace_column
from pliant.kernels.kinematics.tree import move
from pliant.system.status import Status

ZERO_MAT = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@kernel
def column(body, x, k):
    """p_k, a column of N_d, as (angular, linear)."""
    sv, sw = subspace_column(body, x, k)
    pw = mul(mat(x.Q), sw)
    return pw, add(mul(mat(x.Q), sv), cross(pw, vec(x.d)))


@kernel
def times(x, w, v):
    """Mh t as (moment, force)."""
    B = mat(x.B)
    return add(mul_sym(sym(x.C), w), mul_t(B, v)), add(mul(B, w), mul_sym(sym(x.A), v))


@kernel
def put_own(body, x, Q, w, gravity, part):
    """M_i, and wrench M t' + M' t - external, with that part (0 or 1) of the gathered forces."""
    m, I, f = body.mass, sym(body.I), vec(x.f)
    C = turn_sym(Q, I)
    put_sym(x.A, (m, 0.0, 0.0, m, 0.0, m))
    put_mat(x.B, ZERO_MAT)
    put_sym(x.C, C)
    put(x.pf, sub(scale(m, sub(vec(x.td_v), gravity)), mul(Q, scale(part, f))))
    external = scale(part, sub(vec(x.n), cross(vec(body.com), f)))
    put(x.pn, add(mul_sym(C, vec(x.td_w)), mul(Q, sub(cross(w, mul_sym(I, w)), external))))


@routine
def put_twist_rates(system, work, part):
    """Outward: t' = B t'_j + B' t_j + P' v of every body, with that part of prescribed accelerations; own M and w."""
    gravity = vec(system.world[0].gravity)
    for i in range(len(system.bodies)):
        body, x = system.bodies[i], work.bodies[i]
        Q, com, w, zv, zw = mat(x.R), vec(body.com), vec(x.w), vec(x.zv), vec(x.zw)
        if body.is_driven:
            for k in range(body.n_v):
                sv, sw = subspace_column(body, x, k)
                # zero where the motion is free
                vdot = part * work.dofs[body.v + k].motion_vdot
                zv, zw = add(zv, scale(vdot, sv)), add(zw, scale(vdot, sw))
        r, tv, tw = ZERO, ZERO, ZERO
        if body.parent >= 0:
            y = work.bodies[body.parent]
            tv, tw = sub(vec(y.td_v), vec(y.s)), vec(y.td_w)
            r = sub(mul(mat(y.Q), vec(x.o)), vec(y.d))
            Q = matmul(mat(y.Q), Q)
        d, spin = mul(Q, com), cross(w, cross(w, com))
        r = add(r, d)
        put_mat(x.Q, Q)
        put(x.d, d)
        put(x.r, r)
        # z is that of the origins: the way to and from the mass centres adds w x (w x d)
        put(x.s, mul(Q, spin))
        put(x.td_w, add(tw, mul(Q, zw)))
        put(x.td_v, add(add(tv, cross(tw, r)), mul(Q, add(add(zv, cross(zw, com)), spin))))
        put_own(body, x, Q, w, gravity, part)


@kernel
def eliminate(dof, x, k, pw, pv, A, B, C, n, f):
    """One velocity: psi and D of its column, Mh and the wrench without it. First returned: whether D is positive."""
    psi_w, psi_v = add(mul_sym(C, pw), mul_t(B, pv)), add(mul(B, pw), mul_sym(A, pv))
    D = dot(pw, psi_w) + dot(pv, psi_v) + dof.armature
    # a prescribed velocity is no unknown and needs no inertia
    l = 1.0 / D if D > 0.0 and not dof.is_driven else 0.0
    t = dof.tau - dot(pw, n) - dot(pv, f)
    put(x.Ew[3 * k :], psi_w)
    put(x.Ev[3 * k :], psi_v)
    x.l[k] = l
    x.t[k] = t
    A, B, C = minus_square(A, psi_v, l), minus_outer(B, psi_v, psi_w, l), minus_square(C, psi_w, l)
    return D > 0.0 or dof.is_driven != 0, A, B, C, add(n, scale(l * t, psi_w)), add(f, scale(l * t, psi_v))


@routine
def sweep_inward(system, work, eliminates):
    """Mh and wrench of every body; without elimination: the inertia and wrench of a body and all it carries.

    Returns False and names the body if a pivot is not positive."""
    for i in range(len(system.bodies) - 1, -1, -1):
        body, x = system.bodies[i], work.bodies[i]
        A, B, C, n, f = sym(x.A), mat(x.B), sym(x.C), vec(x.pn), vec(x.pf)
        if eliminates:
            for k in range(body.n_v - 1, -1, -1):
                pw, pv = column(body, x, k)
                is_ok, A, B, C, n, f = eliminate(work.dofs[body.v + k], x, k, pw, pv, A, B, C, n, f)
                if not is_ok:
                    work.run[0].body = i
                    return False
        if body.parent >= 0:
            y, r = work.bodies[body.parent], vec(x.r)
            B, C = shift_inertia(A, B, C, r)
            put_sym(y.A, add_sym(sym(y.A), A))
            put_mat(y.B, add_mat(mat(y.B), B))
            put_sym(y.C, add_sym(sym(y.C), C))
            put(y.pn, add(vec(y.pn), add(n, cross(r, f))))
            put(y.pf, add(vec(y.pf), f))
    return True


@kernel
def sweep_outward(system, work, vdot):
    """vdot, and mu: what the free accelerations add to t'."""
    for i in range(len(system.bodies)):
        body, x = system.bodies[i], work.bodies[i]
        mw, mv = ZERO, ZERO
        if body.parent >= 0:
            y = work.bodies[body.parent]
            mw = vec(y.al)
            mv = add(vec(y.a), cross(mw, vec(x.r)))
        for k in range(body.n_v):
            u = x.l[k] * (x.t[k] - dot(vec(x.Ew[3 * k :]), mw) - dot(vec(x.Ev[3 * k :]), mv))
            vdot[body.v + k] = u
            pw, pv = column(body, x, k)
            mw, mv = add(mw, scale(u, pw)), add(mv, scale(u, pv))
        put(x.al, mw)
        put(x.a, mv)


@kernel
def transmitted(x):
    """Wrench of the joint on the body, (moment, force) at its mass centre: Mh mu + the wrench without mu."""
    n, f = times(x, vec(x.al), vec(x.a))
    return add(vec(x.pn), n), add(vec(x.pf), f)


@kernel
def close_drives(system, work, vdot):
    """Accelerations and drive forces of the prescribed coordinates."""
    for i in range(len(system.bodies)):
        body, x = system.bodies[i], work.bodies[i]
        if body.is_driven:
            n, f = transmitted(x)
            for k in range(body.n_v):
                dof = work.dofs[body.v + k]
                if dof.is_driven:
                    vdot[body.v + k] = dof.motion_vdot
                    pw, pv = column(body, x, k)
                    dof.drive = dot(pw, n) + dot(pv, f) + dof.armature * dof.motion_vdot - dof.tau


@kernel(ACCELERATION)
def denoc(system, work, q, v, vdot, reaction):
    # out-of-plane reactions exist in planar models too: they need all six components
    if system.world[0].uses_planar and len(reaction) == 0:
        return Status.OK if solve_planar(system, work, vdot) else Status.SINGULAR
    put_twist_rates(system, work, 1.0)
    if not sweep_inward(system, work, True):
        return Status.SINGULAR
    sweep_outward(system, work, vdot)
    if system.world[0].has_drives:
        close_drives(system, work, vdot)
    for i in range(len(reaction)):
        x = work.bodies[i]
        n, f = transmitted(x)
        put(reaction[i], mul_t(mat(x.Q), f))
        put(reaction[i, 3:], mul_t(mat(x.Q), add(n, cross(vec(x.d), f))))
    return Status.OK


@kernel(EQUATIONS)
def matrices(system, work, q, v, M, h):
    """M and h of M vdot + h = tau: I = N_d^T N_l^T M N_l N_d, and C v with gravity; no gathered forces."""
    move(system, work, q, v)
    put_twist_rates(system, work, 0.0)
    sweep_inward(system, work, False)
    for row in range(len(h)):
        for j in range(len(h)):
            M[row, j] = 0.0
    for row in range(len(h)):
        i = system.dofs[row].body
        body, x = system.bodies[i], work.bodies[i]
        pw, pv = column(body, x, row - body.v)
        h[row] = dot(pw, vec(x.pn)) + dot(pv, vec(x.pf))
        n, f = times(x, pw, pv)
        # p_l . (B_il^T Mh_i p_k) on the way to the root
        while i >= 0:
            body, x = system.bodies[i], work.bodies[i]
            for k in range(body.n_v):
                pw, pv = column(body, x, k)
                M[row, body.v + k] = dot(pw, n) + dot(pv, f)
                M[body.v + k, row] = M[row, body.v + k]
            n = add(n, cross(vec(x.r), f))
            i = body.parent
        M[row, row] += work.dofs[row].armature
    return Status.OK

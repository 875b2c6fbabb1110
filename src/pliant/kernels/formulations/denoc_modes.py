"""Modes as further columns of N_d: eliminated as scalar pivots before the velocities of the joint of their body.

The mass centre of a flexible body moves in its axes, so its twist is that of its origin: d = 0. A unit rate of mode j
of its parent gives the body on section p the twist p_j = [Om_p; S_p + Om_p x l], l: from the section to the body's mass
centre. Coupling, modal inertia and modal bias (flexible/pool.py) hold, in world axes, M of the body alone, then with
all it carries, and once eliminated psi, 1 / D and tau^. Numbers in brackets: docs/equations.md, section DeNOC."""

from pliant.kernels._jit import kernel, routine
from pliant.kernels.algebra.sym3 import minus_outer, minus_square, mul_sym, put_sym, rotate_sym, sym
from pliant.kernels.algebra.vec3 import add, cross, dot, mat, mul, mul_t, put, put_mat, rotate_mat, scale, sub, vec
from pliant.kernels.flexible.body import mass_and_bias
from pliant.kernels.flexible.pool import (
    add_coupling,
    add_modal_bias,
    add_modal_inertia,
    coupling,
    modal_bias,
    modal_force,
    modal_inertia,
    put_coupling,
    put_modal_bias,
    put_modal_inertia,
    section_mode,
)
from pliant.kernels.kinematics.joints import ZERO


@routine
def put_flexible_inertia(system, work, i, gravity, part):
    """(D11): M_i and wrench of a flexible body, see put_body_inertia; the same of its modes, tau not counted."""
    body, x, flex = system.bodies[i], work.bodies[i], work.flex
    f, scratch, Q, m = system.flexes[body.flex], x.denoc, mat(x.denoc.Q), body.mass
    a, al = mul_t(Q, sub(vec(scratch.tdot_v), gravity)), mul_t(Q, vec(scratch.tdot_w))
    c, J, force, moment = mass_and_bias(system, work, f, vec(x.w))
    force = sub(add(force, add(scale(m, a), cross(al, c))), scale(part, vec(x.f)))
    moment = sub(add(moment, add(cross(c, a), mul_sym(J, al))), scale(part, vec(x.n)))
    put_sym(scratch.A, (m, 0.0, 0.0, m, 0.0, m))
    put_mat(scratch.B, rotate_mat(Q, (0.0, c[2], -c[1], -c[2], 0.0, c[0], c[1], -c[0], 0.0)))
    put_sym(scratch.C, rotate_sym(Q, J))
    put(scratch.wrench_f, mul(Q, force))
    put(scratch.wrench_n, mul(Q, moment))
    for j in range(f.m):
        Mv, Mw = coupling(f, flex, j)
        add_modal_bias(f, flex, j, dot(Mv, a) + dot(Mw, al))
        put_coupling(f, flex, j, mul(Q, Mv), mul(Q, Mw))


@kernel
def section_lever(work, body, x):
    """From the section that carries the joint to the mass centre of the body."""
    return add(mul(mat(work.bodies[body.parent].denoc.Q), vec(x.o_E)), vec(x.denoc.d))


@kernel
def section_wrench(work, body, x, n, f):
    """Force and moment at the section that carries the joint, in axes of the parent; n, f at the mass centre."""
    Q = mat(work.bodies[body.parent].denoc.Q)
    return mul_t(Q, f), mul_t(Q, add(n, cross(section_lever(work, body, x), f)))


@kernel
def section_twist(work, body, x, velocity, angular):
    """(D12): what a motion of the section, in axes of the parent, gives the body: (angular, linear)."""
    Q = mat(work.bodies[body.parent].denoc.Q)
    w = mul(Q, angular)
    return w, add(mul(Q, velocity), cross(w, section_lever(work, body, x)))


@routine
def add_to_modes(system, work, i, A, B, C, n, f):
    """(D13): what body i brings, Mh = (A, B; B^T, C) and wrench, to the modes of its parent."""
    body, x, flex = system.bodies[i], work.bodies[i], work.flex
    point, r = system.points[body.point], vec(x.denoc.r)
    flexible = system.flexes[point.flex]
    force, moment = section_wrench(work, body, x, n, f)
    for j in range(flexible.m):
        add_modal_bias(flexible, flex, j, modal_force(point, flex, j, force, moment))
        velocity, angular = section_mode(point, flex, j)
        pw, pv = section_twist(work, body, x, velocity, angular)
        psi_w, psi_v = add(mul_sym(C, pw), mul_t(B, pv)), add(mul(B, pw), mul_sym(A, pv))
        add_coupling(flexible, flex, j, psi_v, add(psi_w, cross(r, psi_v)))
        psi_v, psi_w = section_wrench(work, body, x, psi_w, psi_v)
        for l in range(j, flexible.m):
            add_modal_inertia(flexible, flex, l, j, modal_force(point, flex, l, psi_v, psi_w))


@routine
def eliminate_modes(system, work, i):
    """(D14): the modes of body i, last mode first. Mh and wrench without them are put; False if a D is not positive."""
    body, scratch, flex = system.bodies[i], work.bodies[i].denoc, work.flex
    f, first = system.flexes[body.flex], body.v + body.n_v
    A, B, C = sym(scratch.A), mat(scratch.B), sym(scratch.C)
    n, force = vec(scratch.wrench_n), vec(scratch.wrench_f)
    for k in range(f.m - 1, -1, -1):
        (psi_v, psi_w), D = coupling(f, flex, k), modal_inertia(f, flex, k, k)
        if not D > 0.0:
            return False
        inverse, tau = 1.0 / D, work.dofs[first + k].tau - modal_bias(f, flex, k)
        for j in range(k):
            psi = modal_inertia(f, flex, k, j)
            for l in range(j + 1):
                add_modal_inertia(f, flex, j, l, -inverse * psi * modal_inertia(f, flex, k, l))
            add_coupling(f, flex, j, scale(-inverse * psi, psi_v), scale(-inverse * psi, psi_w))
            add_modal_bias(f, flex, j, inverse * psi * tau)
        A, B, C = (
            minus_square(A, psi_v, inverse),
            minus_outer(B, psi_v, psi_w, inverse),
            minus_square(C, psi_w, inverse),
        )
        n, force = add(n, scale(inverse * tau, psi_w)), add(force, scale(inverse * tau, psi_v))
        put_modal_inertia(f, flex, k, k, inverse)
        put_modal_bias(f, flex, k, tau)
    put_sym(scratch.A, A)
    put_mat(scratch.B, B)
    put_sym(scratch.C, C)
    put(scratch.wrench_n, n)
    put(scratch.wrench_f, force)
    return True


@routine
def solve_modes(system, work, i, vdot):
    """(D15): accelerations of the modes of body i, whose mu is known."""
    body, scratch, flex = system.bodies[i], work.bodies[i].denoc, work.flex
    f, first = system.flexes[body.flex], body.v + body.n_v
    mw, mv = vec(scratch.mu_w), vec(scratch.mu_v)
    for k in range(f.m):
        psi_v, psi_w = coupling(f, flex, k)
        left = modal_bias(f, flex, k) - dot(psi_w, mw) - dot(psi_v, mv)
        for j in range(k):
            left -= modal_inertia(f, flex, k, j) * vdot[first + j]
        vdot[first + k] = modal_inertia(f, flex, k, k) * left


@routine
def mode_twist(system, work, i, vdot):
    """(D12): what the accelerations of the modes of its parent add to mu of body i: (angular, linear)."""
    body, x = system.bodies[i], work.bodies[i]
    point, parent = system.points[body.point], system.bodies[body.parent]
    velocity, angular = ZERO, ZERO
    for j in range(system.flexes[point.flex].m):
        u, (Sv, Sw) = vdot[parent.v + parent.n_v + j], section_mode(point, work.flex, j)
        velocity, angular = add(velocity, scale(u, Sv)), add(angular, scale(u, Sw))
    return section_twist(work, body, x, velocity, angular)

"""The modes of flexible bodies in the articulated recursion: gathered, eliminated, and solved for.

Coupling, modal inertia and modal bias (flexible/pool.py) gather those of the body and of all it carries.
Numbers in brackets: docs/equations.md, section Articulated bodies."""

import math

from pliant.kernels._jit import routine
from pliant.kernels.algebra.sym3 import minus_outer, minus_square, mul_sym, put_sym, sym
from pliant.kernels.algebra.vec3 import add, cross, dot, mat, mul, mul_t, put, put_mat, scale, sub, vec
from pliant.kernels.flexible.body import mass_and_bias
from pliant.kernels.flexible.pool import (
    add_coupling,
    add_modal_bias,
    add_modal_inertia,
    coupling,
    damping,
    modal_acceleration,
    modal_bias,
    modal_inertia,
    put_modal_acceleration,
    put_modal_inertia,
    put_reduced,
    reduced_bias,
    reduced_coupling,
    section_mode,
    stiffness,
)


@routine
def put_flexible_inertia(system, work, k):
    """(A1): I and p of flexible body k alone."""
    f = system.flexes[k]
    body, x, flex = system.bodies[f.body], work.bodies[f.body], work.flex
    scratch = x.articulated
    c, J, h_v, h_w = mass_and_bias(system, work, f, vec(x.w))
    m = body.mass
    put_sym(scratch.A, (m, 0.0, 0.0, m, 0.0, m))
    put_mat(scratch.B, (0.0, c[2], -c[1], -c[2], 0.0, c[0], c[1], -c[0], 0.0))
    put_sym(scratch.C, J)
    put(scratch.pf, sub(h_v, vec(x.f)))
    put(scratch.pn, sub(h_w, vec(x.n)))
    for j in range(f.m):
        add_modal_bias(f, flex, j, -work.dofs[body.v + body.n_v + j].tau)
    step = work.run[0].implicit_step
    if step > 0.0:
        add_tangents(f, system.shapes, flex, step)


@routine
def add_tangents(f, shapes, flex, step):
    """(A15): stiffness and damping of a semi-implicit stage."""
    for j in range(f.m):
        for l in range(j + 1):
            add_modal_inertia(f, flex, j, l, step * (damping(f, shapes, j, l) + step * stiffness(f, shapes, j, l)))


@routine
def eliminate_modes(system, work, k):
    """(A2): eliminate the modes of flexible body k; False if their inertia is not positive."""
    f = system.flexes[k]
    scratch, flex = work.bodies[f.body].articulated, work.flex
    A, B, C, pf, pn = sym(scratch.A), mat(scratch.B), sym(scratch.C), vec(scratch.pf), vec(scratch.pn)
    for j in range(f.m):
        (Yv, Yw), y, pivot = coupling(f, flex, j), modal_bias(f, flex, j), modal_inertia(f, flex, j, j)
        for l in range(j):
            # row l of the factor is done: L_jl, then the forward solves
            L = modal_inertia(f, flex, j, l)
            for n in range(l):
                L -= modal_inertia(f, flex, j, n) * modal_inertia(f, flex, l, n)
            L *= modal_inertia(f, flex, l, l)
            put_modal_inertia(f, flex, j, l, L)
            pivot -= L * L
            earlier_v, earlier_w = reduced_coupling(f, flex, l)
            Yv, Yw = sub(Yv, scale(L, earlier_v)), sub(Yw, scale(L, earlier_w))
            y -= L * reduced_bias(f, flex, l)
        if not pivot > 0.0:
            return False
        inverse = 1.0 / math.sqrt(pivot)
        Yv, Yw, y = scale(inverse, Yv), scale(inverse, Yw), inverse * y
        put_modal_inertia(f, flex, j, j, inverse)
        put_reduced(f, flex, j, Yv, Yw, y)
        A, B, C = minus_square(A, Yv, 1.0), minus_outer(B, Yv, Yw, 1.0), minus_square(C, Yw, 1.0)
        pf, pn = sub(pf, scale(y, Yv)), sub(pn, scale(y, Yw))
    put_sym(scratch.A, A)
    put_mat(scratch.B, B)
    put_sym(scratch.C, C)
    put(scratch.pf, pf)
    put(scratch.pn, pn)
    return True


@routine
def add_to_modes(system, work, k, A, B, C, pf, pn):
    """(A7): add what section k carries, given there in body axes, to the modes of its body."""
    point = system.points[k]
    f = system.flexes[point.flex]
    flex, s = work.flex, vec(work.points[k].s)
    for j in range(f.m):
        Lv, Lw = section_mode(point, flex, j)
        gv, gw = add(mul_sym(A, Lv), mul(B, Lw)), add(mul_t(B, Lv), mul_sym(C, Lw))
        for l in range(j, f.m):
            other_v, other_w = section_mode(point, flex, l)
            add_modal_inertia(f, flex, l, j, dot(other_v, gv) + dot(other_w, gw))
        add_modal_bias(f, flex, j, dot(Lv, pf) + dot(Lw, pn))
        add_coupling(f, flex, j, gv, add(gw, cross(s, gv)))


@routine
def solve_modes(system, work, k, vdot):
    """(A11): e' of flexible body k, whose acceleration is known."""
    f = system.flexes[k]
    body, x, flex = system.bodies[f.body], work.bodies[f.body], work.flex
    a, al = vec(x.a), vec(x.al)
    for j in range(f.m - 1, -1, -1):
        Yv, Yw = reduced_coupling(f, flex, j)
        total = -reduced_bias(f, flex, j) - dot(Yv, a) - dot(Yw, al)
        for l in range(j + 1, f.m):
            total -= modal_inertia(f, flex, l, j) * modal_acceleration(f, flex, l)
        total *= modal_inertia(f, flex, j, j)
        put_modal_acceleration(f, flex, j, total)
        vdot[body.v + body.n_v + j] = total

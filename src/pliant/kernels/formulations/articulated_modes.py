"""The modes of flexible bodies in the articulated recursion: gathered, eliminated, and solved for.

rd, dd, pd of the FLEX row gather coupling, modal inertia and modal bias of the body and of all it carries;
dd = L L^T,  Y = L^-1 rd,  y = L^-1 pd,  I_R = I - Y^T Y,  p_R = p - Y^T y,  e' = -L^-T (y + Y A)."""

import math

from pliant.kernels._jit import routine
from pliant.kernels.algebra.sym3 import minus_outer, minus_square, mul_sym, put_sym, sym
from pliant.kernels.algebra.vec3 import add, cross, dot, mat, mul, mul_t, put, put_mat, scale, sub, vec
from pliant.kernels.flexible.body import weigh


@routine
def put_own_modes(system, work, k):
    """M_i, h_i minus what is gathered of forces, of flexible body k."""
    f = system.flexes[k]
    body, x, flex = system.bodies[f.body], work.bodies[f.body], work.flex
    c, J, h_v, h_w = weigh(system, work, f, vec(x.w))
    m = body.mass
    put_sym(x.A, (m, 0.0, 0.0, m, 0.0, m))
    put_mat(x.B, (0.0, c[2], -c[1], -c[2], 0.0, c[0], c[1], -c[0], 0.0))
    put_sym(x.C, J)
    put(x.pf, sub(h_v, vec(x.f)))
    put(x.pn, sub(h_w, vec(x.n)))
    for j in range(f.m):
        flex[f.pd + j] -= work.dofs[body.v + body.n_v + j].tau


@routine
def pass_modes(system, work, k):
    """Eliminate the modes of flexible body k; False if their inertia is not positive."""
    f = system.flexes[k]
    x, flex, m = work.bodies[f.body], work.flex, f.m
    A, B, C, pf, pn = sym(x.A), mat(x.B), sym(x.C), vec(x.pf), vec(x.pn)
    for j in range(m):
        row, at = f.dd + j * m, f.rd + 6 * j
        Yv, Yw, y = vec(flex[at:]), vec(flex[at + 3 :]), flex[f.pd + j]
        pivot = flex[row + j]
        for l in range(j):
            # row l of the factor is done: L_jl, then the forward solves
            total = flex[row + l]
            for n in range(l):
                total -= flex[row + n] * flex[f.dd + l * m + n]
            total *= flex[f.dd + l * m + l]
            flex[row + l] = total
            pivot -= total * total
            Yv = sub(Yv, scale(total, vec(flex[f.Y + 6 * l :])))
            Yw = sub(Yw, scale(total, vec(flex[f.Y + 6 * l + 3 :])))
            y -= total * flex[f.y + l]
        if not pivot > 0.0:
            return False
        inverse = 1.0 / math.sqrt(pivot)
        Yv, Yw, y = scale(inverse, Yv), scale(inverse, Yw), inverse * y
        flex[row + j] = inverse  # the diagonal of L inverted
        put(flex[f.Y + 6 * j :], Yv)
        put(flex[f.Y + 6 * j + 3 :], Yw)
        flex[f.y + j] = y
        A, B, C = minus_square(A, Yv, 1.0), minus_outer(B, Yv, Yw, 1.0), minus_square(C, Yw, 1.0)
        pf, pn = sub(pf, scale(y, Yv)), sub(pn, scale(y, Yw))
    put_sym(x.A, A)
    put_mat(x.B, B)
    put_sym(x.C, C)
    put(x.pf, pf)
    put(x.pn, pn)
    return True


@routine
def give_modes(system, work, k, A, B, C, pf, pn):
    """Add what hangs on section k, given there in body axes, to the modes of its body."""
    point = system.points[k]
    f = system.flexes[point.flex]
    flex, m, s = work.flex, f.m, vec(work.points[k].s)
    for j in range(m):
        Lv, Lw = vec(flex[point.Lambda + 6 * j :]), vec(flex[point.Lambda + 6 * j + 3 :])
        gv, gw = add(mul_sym(A, Lv), mul(B, Lw)), add(mul_t(B, Lv), mul_sym(C, Lw))
        for l in range(j, m):
            at = point.Lambda + 6 * l
            flex[f.dd + l * m + j] += dot(vec(flex[at:]), gv) + dot(vec(flex[at + 3 :]), gw)
        flex[f.pd + j] += dot(Lv, pf) + dot(Lw, pn)
        at = f.rd + 6 * j
        put(flex[at:], add(vec(flex[at:]), gv))
        put(flex[at + 3 :], add(vec(flex[at + 3 :]), add(gw, cross(s, gv))))


@routine
def solve_modes(system, work, k, vdot):
    """e' of flexible body k, whose acceleration is known, into vdot and edot."""
    f = system.flexes[k]
    body, x, flex, m = system.bodies[f.body], work.bodies[f.body], work.flex, f.m
    a, al = vec(x.a), vec(x.al)
    for j in range(m - 1, -1, -1):
        total = -flex[f.y + j] - dot(vec(flex[f.Y + 6 * j :]), a) - dot(vec(flex[f.Y + 6 * j + 3 :]), al)
        for l in range(j + 1, m):
            total -= flex[f.dd + l * m + j] * flex[f.edot + l]
        flex[f.edot + j] = total * flex[f.dd + j * m + j]
        vdot[body.v + body.n_v + j] = flex[f.edot + j]

"""M^-1 x with the factors that articulated.py has left: the same ways in and out, nothing but the joint forces x (A14).

Rows of work.body_lanes: p on the way in, accelerations on the way out; x holds t (of modes: L^-1 of their forces)
between. Numbers in brackets: docs/equations.md, section Articulated bodies."""

from pliant.kernels._jit import RESPONSE, kernel, routine
from pliant.kernels.algebra.lanes import load, load3, same, store, store3
from pliant.kernels.algebra.sym3 import lower_solve, sym, upper_solve
from pliant.kernels.algebra.vec3 import add, cross, dot, mat, mul, mul_t, scale, sub, vec, vec_at
from pliant.kernels.flexible import planar
from pliant.kernels.flexible.pool import modal_force, modal_inertia, reduced_coupling, section_mode
from pliant.kernels.kinematics.joints import subspace_column
from pliant.kernels.kinematics.planar import planar_column


@kernel
def inward_planar(system, work, x):
    """Of three components: (px, py, n)."""
    p = work.body_lanes
    for i in range(len(system.bodies)):
        store3(p, 3 * i, (same(0.0), same(0.0), same(0.0)))
    for i in range(len(system.bodies) - 1, -1, -1):
        body, b = system.bodies[i], work.bodies[i]
        scratch = b.articulated
        px, py, n = load3(p, 3 * i)
        if body.flex >= 0:
            px, py, n = eliminate_planar_modes(system.flexes[body.flex], work.flex, x, body.v + body.n_v, (px, py, n))
        for k in range(body.n_v):
            sx, sy, sw = planar_column(body, b, k)
            t = load(x, body.v + k) - sx * px - sy * py - sw * n
            store(x, body.v + k, t)
            t, Uv = scratch.inverse_pivot[k] * t, scratch.Uv
            px, py, n = px + t * Uv[3 * k], py + t * Uv[3 * k + 1], n + t * scratch.Uw[3 * k + 2]
        if body.parent >= 0:
            j, c, s = 3 * body.parent, b.R[0], b.R[3]
            px, py = c * px - s * py, s * px + c * py
            if body.point >= 0:
                at_section = n + b.o_E[0] * py - b.o_E[1] * px
                add_to_planar_modes(system, work, body.point, x, (px, py, at_section))
            store3(p, j, add(load3(p, j), (px, py, n + b.o[0] * py - b.o[1] * px)))


@kernel
def outward_planar(system, work, x):
    p = work.body_lanes
    for i in range(len(system.bodies)):
        body, b = system.bodies[i], work.bodies[i]
        scratch = b.articulated
        ax, ay, al = same(0.0), same(0.0), same(0.0)
        if body.parent >= 0:
            c, s, o = b.R[0], b.R[3], b.o
            ax, ay, al = load3(p, 3 * body.parent)
            if body.point >= 0:
                ax, ay, al = planar_section_acceleration(system, work, body.point, x, (ax, ay, al))
                o = b.o_E
            ax, ay = ax - al * o[1], ay + al * o[0]
            ax, ay = c * ax + s * ay, c * ay - s * ax
        for k in range(body.n_v - 1, -1, -1):
            Uv = scratch.Uv
            u = load(x, body.v + k) - Uv[3 * k] * ax - Uv[3 * k + 1] * ay - scratch.Uw[3 * k + 2] * al
            u = scratch.inverse_pivot[k] * u
            store(x, body.v + k, u)
            sx, sy, sw = planar_column(body, b, k)
            ax, ay, al = ax + u * sx, ay + u * sy, al + u * sw
        store3(p, 3 * i, (ax, ay, al))
        if body.flex >= 0:
            solve_planar_modes(system.flexes[body.flex], work.flex, x, body.v + body.n_v, (ax, ay, al))


@kernel
def eliminate_planar_modes(f, flex, x, first, p):
    """As eliminate_modes."""
    px, py, n = p
    for j in range(f.m):
        y = load(x, first + j)
        for l in range(j):
            y = y - modal_inertia(f, flex, j, l) * load(x, first + l)
        y = y * modal_inertia(f, flex, j, j)
        store(x, first + j, y)
        Yx, Yy, Yw = planar.planar_at(flex, f.Y + 6 * j)
        px, py, n = px + y * Yx, py + y * Yy, n + y * Yw
    return px, py, n


@kernel
def solve_planar_modes(f, flex, x, first, a):
    """As solve_modes."""
    for j in range(f.m - 1, -1, -1):
        Yx, Yy, Yw = planar.planar_at(flex, f.Y + 6 * j)
        total = load(x, first + j) - Yx * a[0] - Yy * a[1] - Yw * a[2]
        for l in range(j + 1, f.m):
            total = total - modal_inertia(f, flex, l, j) * load(x, first + l)
        store(x, first + j, total * modal_inertia(f, flex, j, j))


@routine
def add_to_planar_modes(system, work, k, x, p):
    """As add_to_modes."""
    point = system.points[k]
    f = system.flexes[point.flex]
    first = system.bodies[f.body].v + system.bodies[f.body].n_v
    for j in range(f.m):
        lx, ly, lw = planar.section_mode(point, work.flex, j)
        store(x, first + j, load(x, first + j) - lx * p[0] - ly * p[1] - lw * p[2])


@routine
def planar_section_acceleration(system, work, k, x, a):
    """As section_acceleration."""
    point, s = system.points[k], work.points[k].s
    f = system.flexes[point.flex]
    first = system.bodies[f.body].v + system.bodies[f.body].n_v
    ax, ay, al = a[0] - a[2] * s[1], a[1] + a[2] * s[0], a[2]
    for j in range(f.m):
        u, (lx, ly, lw) = load(x, first + j), planar.section_mode(point, work.flex, j)
        ax, ay, al = ax + u * lx, ay + u * ly, al + u * lw
    return ax, ay, al


@kernel
def eliminate_modes(f, flex, x, first, pf, pn):
    """(A2) on the way in: y = L^-1 of the forces on the modes, p + Y^T y."""
    for j in range(f.m):
        y = load(x, first + j)
        for l in range(j):
            y = y - modal_inertia(f, flex, j, l) * load(x, first + l)
        y = y * modal_inertia(f, flex, j, j)
        store(x, first + j, y)
        Yv, Yw = reduced_coupling(f, flex, j)
        pf, pn = add(pf, scale(y, Yv)), add(pn, scale(y, Yw))
    return pf, pn


@kernel
def solve_modes(f, flex, x, first, a, al):
    """(A11) on the way out: e' = L^-T (y - Y a)."""
    for j in range(f.m - 1, -1, -1):
        Yv, Yw = reduced_coupling(f, flex, j)
        total = load(x, first + j) - dot(Yv, a) - dot(Yw, al)
        for l in range(j + 1, f.m):
            total = total - modal_inertia(f, flex, l, j) * load(x, first + l)
        store(x, first + j, total * modal_inertia(f, flex, j, j))


@routine
def add_to_modes(system, work, k, x, pf, pn):
    """(A7): what section k carries takes its part of the forces on the modes; pf, pn there, in axes of the body."""
    point = system.points[k]
    f = system.flexes[point.flex]
    first = system.bodies[f.body].v + system.bodies[f.body].n_v
    for j in range(f.m):
        store(x, first + j, load(x, first + j) - modal_force(point, work.flex, j, pf, pn))


@routine
def section_acceleration(system, work, k, x, a, al):
    """Of section k whose body moves with a, al and modal accelerations x, without any bias."""
    point = system.points[k]
    f = system.flexes[point.flex]
    first = system.bodies[f.body].v + system.bodies[f.body].n_v
    a = add(a, cross(al, vec(work.points[k].s)))
    for j in range(f.m):
        u, (velocity, angular) = load(x, first + j), section_mode(point, work.flex, j)
        a, al = add(a, scale(u, velocity)), add(al, scale(u, angular))
    return a, al


@kernel
def eliminate_joint(body, b, scratch, x, pf, pn):
    """(A4 - A6): t of all velocities of a joint, and p beyond it."""
    j = body.v
    if body.is_plain_ball:
        tau, Y = load3(x, j), scratch.ball_Y
        t = lower_solve(sym(scratch.ball_l), sub(tau, pn))
        store3(x, j, t)
        return add(pf, (dot(vec(Y), t), dot(vec(Y[3:]), t), dot(vec(Y[6:]), t))), tau
    for k in range(body.n_v):
        sv, sw = subspace_column(body, b, k)
        t = load(x, j + k) - dot(sv, pf) - dot(sw, pn)
        store(x, j + k, t)
        t = scratch.inverse_pivot[k] * t
        pf = add(pf, scale(t, vec_at(scratch.Uv, 3 * k)))
        pn = add(pn, scale(t, vec_at(scratch.Uw, 3 * k)))
    return pf, pn


@kernel
def solve_joint(body, b, scratch, x, a, al):
    """(A9, A10): accelerations of a joint; those of the body returned."""
    j = body.v
    if body.is_plain_ball:
        Y = scratch.ball_Y
        Ya = add(add(scale(a[0], vec(Y)), scale(a[1], vec(Y[3:]))), scale(a[2], vec(Y[6:])))
        u3 = sub(upper_solve(sym(scratch.ball_l), sub(load3(x, j), Ya)), al)
        store3(x, j, u3)
        return a, add(al, u3)
    for k in range(body.n_v - 1, -1, -1):
        u = load(x, j + k) - dot(vec_at(scratch.Uv, 3 * k), a) - dot(vec_at(scratch.Uw, 3 * k), al)
        u = scratch.inverse_pivot[k] * u
        store(x, j + k, u)
        sv, sw = subspace_column(body, b, k)
        a, al = add(a, scale(u, sv)), add(al, scale(u, sw))
    return a, al


@kernel
def inward(system, work, x):
    p, still = work.body_lanes, (same(0.0), same(0.0), same(0.0))
    for i in range(len(system.bodies)):
        store3(p, 6 * i, still)
        store3(p, 6 * i + 3, still)
    for i in range(len(system.bodies) - 1, -1, -1):
        body, b = system.bodies[i], work.bodies[i]
        pf, pn = load3(p, 6 * i), load3(p, 6 * i + 3)
        if body.flex >= 0:
            pf, pn = eliminate_modes(system.flexes[body.flex], work.flex, x, body.v + body.n_v, pf, pn)
        pf, pn = eliminate_joint(body, b, b.articulated, x, pf, pn)
        if body.parent >= 0:
            R, to = mat(b.R), 6 * body.parent
            pf, pn = mul(R, pf), mul(R, pn)
            if body.point >= 0:
                add_to_modes(system, work, body.point, x, pf, add(pn, cross(vec(b.o_E), pf)))
            store3(p, to, add(load3(p, to), pf))
            store3(p, to + 3, add(load3(p, to + 3), add(pn, cross(vec(b.o), pf))))


@kernel
def outward(system, work, x):
    p = work.body_lanes
    for i in range(len(system.bodies)):
        body, b = system.bodies[i], work.bodies[i]
        a = al = (same(0.0), same(0.0), same(0.0))
        if body.parent >= 0:
            R, o = mat(b.R), vec(b.o)
            a, al = load3(p, 6 * body.parent), load3(p, 6 * body.parent + 3)
            if body.point >= 0:
                a, al = section_acceleration(system, work, body.point, x, a, al)
                o = vec(b.o_E)
            a, al = mul_t(R, add(a, cross(al, o))), mul_t(R, al)
        a, al = solve_joint(body, b, b.articulated, x, a, al)
        store3(p, 6 * i, a)
        store3(p, 6 * i + 3, al)
        if body.flex >= 0:
            solve_modes(system.flexes[body.flex], work.flex, x, body.v + body.n_v, a, al)


@kernel(RESPONSE)
def respond(system, work, x):
    if system.world[0].is_planar:
        inward_planar(system, work, x)
        outward_planar(system, work, x)
    else:
        inward(system, work, x)
        outward(system, work, x)
    return 0

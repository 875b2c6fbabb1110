"""M^-1 x with the factors of formulations/articulated.py: the same ways in and out, nothing but the joint forces x.

Rows of work.body_lanes: p on the way in, accelerations on the way out; x holds t (of modes: L^-1 of their forces)
between."""

from pliant.kernels._jit import RESPONSE, kernel, routine
from pliant.kernels.algebra.lanes import load, load3, same, store, store3
from pliant.kernels.algebra.sym3 import lower_solve, sym, upper_solve
from pliant.kernels.algebra.vec3 import add, cross, dot, mat, mul, mul_t, scale, sub, vec
from pliant.kernels.kinematics.joints import subspace_column
from pliant.kernels.kinematics.planar import planar_column
from pliant.system.tables import JointKind


@kernel
def inward_planar(system, work, x):
    """Of three components: (px, py, n)."""
    p = work.body_lanes
    for i in range(len(system.bodies)):
        store3(p, 3 * i, (same(0.0), same(0.0), same(0.0)))
    for i in range(len(system.bodies) - 1, -1, -1):
        body, b = system.bodies[i], work.bodies[i]
        px, py, n = load3(p, 3 * i)
        for k in range(body.n_v):
            sx, sy, sw = planar_column(body, b, k)
            t = load(x, body.v + k) - sx * px - sy * py - sw * n
            store(x, body.v + k, t)
            t = b.l[k] * t
            px, py, n = px + t * b.Ev[3 * k], py + t * b.Ev[3 * k + 1], n + t * b.Ew[3 * k]
        if body.parent >= 0:
            j, c, s = 3 * body.parent, b.R[0], b.R[3]
            px, py = c * px - s * py, s * px + c * py
            store3(p, j, add(load3(p, j), (px, py, n + b.o[0] * py - b.o[1] * px)))


@kernel
def outward_planar(system, work, x):
    p = work.body_lanes
    for i in range(len(system.bodies)):
        body, b = system.bodies[i], work.bodies[i]
        ax, ay, al = same(0.0), same(0.0), same(0.0)
        if body.parent >= 0:
            c, s = b.R[0], b.R[3]
            ax, ay, al = load3(p, 3 * body.parent)
            ax, ay = ax - al * b.o[1], ay + al * b.o[0]
            ax, ay = c * ax + s * ay, c * ay - s * ax
        for k in range(body.n_v - 1, -1, -1):
            u = load(x, body.v + k) - b.Ev[3 * k] * ax - b.Ev[3 * k + 1] * ay - b.Ew[3 * k] * al
            u = b.l[k] * u
            store(x, body.v + k, u)
            sx, sy, sw = planar_column(body, b, k)
            ax, ay, al = ax + u * sx, ay + u * sy, al + u * sw
        store3(p, 3 * i, (ax, ay, al))


@kernel
def pass_modes(f, flex, x, first, pf, pn):
    """Modes on the way in: y = L^-1 of their forces, p + Y^T y."""
    for j in range(f.m):
        y = load(x, first + j)
        for l in range(j):
            y = y - flex[f.dd + j * f.m + l] * load(x, first + l)
        y = y * flex[f.dd + j * f.m + j]
        store(x, first + j, y)
        pf, pn = add(pf, scale(y, vec(flex[f.Y + 6 * j :]))), add(pn, scale(y, vec(flex[f.Y + 6 * j + 3 :])))
    return pf, pn


@kernel
def solve_modes(f, flex, x, first, a, al):
    """Modes on the way out: e' = L^-T (y - Y a)."""
    for j in range(f.m - 1, -1, -1):
        total = load(x, first + j) - dot(vec(flex[f.Y + 6 * j :]), a) - dot(vec(flex[f.Y + 6 * j + 3 :]), al)
        for l in range(j + 1, f.m):
            total = total - flex[f.dd + l * f.m + j] * load(x, first + l)
        store(x, first + j, total * flex[f.dd + j * f.m + j])


@routine
def push_modes(system, work, k, x, pf, pn):
    """What hangs on section k takes its part of the forces on the modes; pf, pn there, in axes of the body."""
    point = system.points[k]
    f, flex, L = system.flexes[point.flex], work.flex, point.Lambda
    first = system.bodies[f.body].v + system.bodies[f.body].n_v
    for j in range(f.m):
        push = dot(vec(flex[L + 6 * j :]), pf) + dot(vec(flex[L + 6 * j + 3 :]), pn)
        store(x, first + j, load(x, first + j) - push)


@routine
def section_acceleration(system, work, k, x, a, al):
    """Of section k whose body moves with a, al and modal accelerations x, without any bias."""
    point = system.points[k]
    f, flex, L = system.flexes[point.flex], work.flex, point.Lambda
    first = system.bodies[f.body].v + system.bodies[f.body].n_v
    a = add(a, cross(al, vec(work.points[k].s)))
    for j in range(f.m):
        u = load(x, first + j)
        a, al = add(a, scale(u, vec(flex[L + 6 * j :]))), add(al, scale(u, vec(flex[L + 6 * j + 3 :])))
    return a, al


@kernel
def inward(system, work, x):
    p, still = work.body_lanes, (same(0.0), same(0.0), same(0.0))
    for i in range(len(system.bodies)):
        store3(p, 6 * i, still)
        store3(p, 6 * i + 3, still)
    for i in range(len(system.bodies) - 1, -1, -1):
        body, b = system.bodies[i], work.bodies[i]
        pf, pn, j = load3(p, 6 * i), load3(p, 6 * i + 3), body.v
        if body.flex >= 0:
            pf, pn = pass_modes(system.flexes[body.flex], work.flex, x, j + body.n_v, pf, pn)
        if body.kind == JointKind.SPHERICAL and not body.has_armature:
            tau = load3(x, j)
            t = lower_solve(sym(b.l), sub(tau, pn))
            store3(x, j, t)
            pf = add(pf, (dot(vec(b.Ev), t), dot(vec(b.Ev[3:]), t), dot(vec(b.Ev[6:]), t)))
            pn = tau
        else:
            for k in range(body.n_v):
                sv, sw = subspace_column(body, b, k)
                t = load(x, j + k) - dot(sv, pf) - dot(sw, pn)
                store(x, j + k, t)
                t = b.l[k] * t
                pf, pn = add(pf, scale(t, vec(b.Ev[3 * k :]))), add(pn, scale(t, vec(b.Ew[3 * k :])))
        if body.parent >= 0:
            R, to = mat(b.R), 6 * body.parent
            pf, pn = mul(R, pf), mul(R, pn)
            if body.point >= 0:
                push_modes(system, work, body.point, x, pf, add(pn, cross(vec(b.o_E), pf)))
            store3(p, to, add(load3(p, to), pf))
            store3(p, to + 3, add(load3(p, to + 3), add(pn, cross(vec(b.o), pf))))


@kernel
def outward(system, work, x):
    p = work.body_lanes
    for i in range(len(system.bodies)):
        body, b = system.bodies[i], work.bodies[i]
        j, a = body.v, (same(0.0), same(0.0), same(0.0))
        al = a
        if body.parent >= 0:
            R, o = mat(b.R), vec(b.o)
            a, al = load3(p, 6 * body.parent), load3(p, 6 * body.parent + 3)
            if body.point >= 0:
                a, al = section_acceleration(system, work, body.point, x, a, al)
                o = vec(b.o_E)
            a, al = mul_t(R, add(a, cross(al, o))), mul_t(R, al)
        if body.kind == JointKind.SPHERICAL and not body.has_armature:
            carried = add(add(scale(a[0], vec(b.Ev)), scale(a[1], vec(b.Ev[3:]))), scale(a[2], vec(b.Ev[6:])))
            u3 = sub(upper_solve(sym(b.l), sub(load3(x, j), carried)), al)
            store3(x, j, u3)
            al = add(al, u3)
        else:
            for k in range(body.n_v - 1, -1, -1):
                u = load(x, j + k) - dot(vec(b.Ev[3 * k :]), a) - dot(vec(b.Ew[3 * k :]), al)
                u = b.l[k] * u
                store(x, j + k, u)
                sv, sw = subspace_column(body, b, k)
                a, al = add(a, scale(u, sv)), add(al, scale(u, sw))
        store3(p, 6 * i, a)
        store3(p, 6 * i + 3, al)
        if body.flex >= 0:
            solve_modes(system.flexes[body.flex], work.flex, x, j + body.n_v, a, al)


@kernel(RESPONSE)
def respond(system, work, x):
    if system.world[0].uses_planar:
        inward_planar(system, work, x)
        outward_planar(system, work, x)
    else:
        inward(system, work, x)
        outward(system, work, x)
    return 0

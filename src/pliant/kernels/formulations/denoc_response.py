"""M^-1 x with the factors U D U^T that denoc.py has left: one way in (U, D6), one way out (U^T, D8).

Rows of work.body_lanes: wrench [n; f] on the way in, mu on the way out; x holds the reduced joint forces between.
Numbers: docs/equations.md, section DeNOC."""

from pliant.kernels._jit import RESPONSE, kernel, routine
from pliant.kernels.algebra.lanes import load, load3, same, store, store3
from pliant.kernels.algebra.vec3 import add, cross, dot, scale, vec, vec_at
from pliant.kernels.flexible.pool import coupling, modal_force, modal_inertia, section_mode
from pliant.kernels.formulations.denoc import twist_column
from pliant.kernels.formulations.denoc_modes import section_twist, section_wrench
from pliant.kernels.formulations.denoc_planar import planar_twist_column


@kernel
def eliminate_modes(f, flex, x, first, n, force):
    """(D14): tau^ of the modes of a body, and its wrench beyond them."""
    for k in range(f.m - 1, -1, -1):
        t = load(x, first + k) * modal_inertia(f, flex, k, k)
        for j in range(k):
            store(x, first + j, load(x, first + j) - modal_inertia(f, flex, k, j) * t)
        psi_v, psi_w = coupling(f, flex, k)
        n, force = add(n, scale(t, psi_w)), add(force, scale(t, psi_v))
    return n, force


@kernel
def solve_modes(f, flex, x, first, w, v):
    """(D15): accelerations of the modes of a body, whose mu is known."""
    for k in range(f.m):
        psi_v, psi_w = coupling(f, flex, k)
        u = load(x, first + k) - dot(psi_w, w) - dot(psi_v, v)
        for j in range(k):
            u = u - modal_inertia(f, flex, k, j) * load(x, first + j)
        store(x, first + k, modal_inertia(f, flex, k, k) * u)


@routine
def add_to_modes(system, work, i, x, n, f):
    """(D13): the wrench of body i takes its part of the forces on the modes of its parent."""
    body = system.bodies[i]
    point, parent = system.points[body.point], system.bodies[body.parent]
    first = parent.v + parent.n_v
    force, moment = section_wrench(work, body, work.bodies[i], n, f)
    for j in range(system.flexes[point.flex].m):
        store(x, first + j, load(x, first + j) - modal_force(point, work.flex, j, force, moment))


@routine
def mode_twist(system, work, i, x):
    """(D12): what the accelerations x of the modes of its parent give body i."""
    body = system.bodies[i]
    point, parent = system.points[body.point], system.bodies[body.parent]
    velocity = angular = (same(0.0), same(0.0), same(0.0))
    for j in range(system.flexes[point.flex].m):
        u, (Sv, Sw) = load(x, parent.v + parent.n_v + j), section_mode(point, work.flex, j)
        velocity, angular = add(velocity, scale(u, Sv)), add(angular, scale(u, Sw))
    return section_twist(work, body, work.bodies[i], velocity, angular)


@kernel
def inward(system, work, x):
    p, still = work.body_lanes, (same(0.0), same(0.0), same(0.0))
    for i in range(len(system.bodies)):
        store3(p, 6 * i, still)
        store3(p, 6 * i + 3, still)
    for i in range(len(system.bodies) - 1, -1, -1):
        body, b = system.bodies[i], work.bodies[i]
        scratch = b.denoc
        n, f = load3(p, 6 * i), load3(p, 6 * i + 3)
        if body.flex >= 0:
            n, f = eliminate_modes(system.flexes[body.flex], work.flex, x, body.v + body.n_v, n, f)
        for k in range(body.n_v - 1, -1, -1):
            pw, pv = twist_column(body, b, scratch, k)
            t = load(x, body.v + k) - dot(pw, n) - dot(pv, f)
            store(x, body.v + k, t)
            n = add(n, scale(scratch.inverse_D[k] * t, vec_at(scratch.psi, 6 * k)))
            f = add(f, scale(scratch.inverse_D[k] * t, vec_at(scratch.psi, 6 * k + 3)))
        if body.point >= 0:
            add_to_modes(system, work, i, x, n, f)
        if body.parent >= 0:
            j = 6 * body.parent
            store3(p, j, add(load3(p, j), add(n, cross(vec(scratch.r), f))))
            store3(p, j + 3, add(load3(p, j + 3), f))


@kernel
def outward(system, work, x):
    p = work.body_lanes
    for i in range(len(system.bodies)):
        body, b = system.bodies[i], work.bodies[i]
        scratch = b.denoc
        w = v = (same(0.0), same(0.0), same(0.0))
        if body.parent >= 0:
            w = load3(p, 6 * body.parent)
            v = add(load3(p, 6 * body.parent + 3), cross(w, vec(scratch.r)))
        if body.point >= 0:
            pw, pv = mode_twist(system, work, i, x)
            w, v = add(w, pw), add(v, pv)
        for k in range(body.n_v):
            u = load(x, body.v + k) - dot(vec_at(scratch.psi, 6 * k), w) - dot(vec_at(scratch.psi, 6 * k + 3), v)
            u = scratch.inverse_D[k] * u
            store(x, body.v + k, u)
            pw, pv = twist_column(body, b, scratch, k)
            w, v = add(w, scale(u, pw)), add(v, scale(u, pv))
        store3(p, 6 * i, w)
        store3(p, 6 * i + 3, v)
        if body.flex >= 0:
            solve_modes(system.flexes[body.flex], work.flex, x, body.v + body.n_v, w, v)


@kernel
def inward_planar(system, work, x):
    """The same of three components: (n, fx, fy)."""
    p = work.body_lanes
    for i in range(len(system.bodies)):
        store3(p, 3 * i, (same(0.0), same(0.0), same(0.0)))
    for i in range(len(system.bodies) - 1, -1, -1):
        body, b = system.bodies[i], work.bodies[i]
        scratch = b.denoc
        n, fx, fy = load3(p, 3 * i)
        for k in range(body.n_v - 1, -1, -1):
            pw, px, py = planar_twist_column(body, b, scratch, k)
            t = load(x, body.v + k) - pw * n - px * fx - py * fy
            store(x, body.v + k, t)
            t, psi = scratch.inverse_D[k] * t, scratch.psi
            n, fx, fy = n + t * psi[6 * k + 2], fx + t * psi[6 * k + 3], fy + t * psi[6 * k + 4]
        if body.parent >= 0:
            j = 3 * body.parent
            store3(p, j, add(load3(p, j), (n + scratch.r[0] * fy - scratch.r[1] * fx, fx, fy)))


@kernel
def outward_planar(system, work, x):
    p = work.body_lanes
    for i in range(len(system.bodies)):
        body, b = system.bodies[i], work.bodies[i]
        scratch = b.denoc
        w, vx, vy = same(0.0), same(0.0), same(0.0)
        if body.parent >= 0:
            w, vx, vy = load3(p, 3 * body.parent)
            vx, vy = vx - w * scratch.r[1], vy + w * scratch.r[0]
        for k in range(body.n_v):
            psi = scratch.psi
            u = load(x, body.v + k) - psi[6 * k + 2] * w - psi[6 * k + 3] * vx - psi[6 * k + 4] * vy
            u = scratch.inverse_D[k] * u
            store(x, body.v + k, u)
            pw, px, py = planar_twist_column(body, b, scratch, k)
            w, vx, vy = w + u * pw, vx + u * px, vy + u * py
        store3(p, 3 * i, (w, vx, vy))


@kernel(RESPONSE)
def respond(system, work, x):
    if system.world[0].uses_planar:
        inward_planar(system, work, x)
        outward_planar(system, work, x)
    else:
        inward(system, work, x)
        outward(system, work, x)
    return 0

"""Sections of a flexible body: place, attitude, velocity and acceleration where joints, frames and forces sit.

Angles (bx, by, bz) of the section; its rotation is Rz Ry Rx, exact. u = Rz e_y, t = Rz Ry e_x: the axes of by and bx.
Lambda, six numbers per mode: velocity and angular velocity of the section per modal rate, body axes."""

import math

from pliant.kernels._jit import kernel, routine
from pliant.kernels.algebra.vec3 import add, cross, dot, mat, matmul, mul, put, put_mat, scale, vec


@routine
def move_sections(system, work, f):
    """All sections of a body whose v, w are known. After bend."""
    for k in range(f.first_point, f.end_point):
        move_section(system, work, f, k)


@kernel
def move_section(system, work, f, k):
    point, y, x, shapes = system.points[k], work.points[k], work.flex, system.shapes
    phi, theta, L = point.phi, point.theta, point.Lambda
    v, w = vec(work.bodies[f.body].v), vec(work.bodies[f.body].w)
    sx, sy, sz, dx, dy, dz, fall = point.x, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    bx, by, bz, rx, ry, rz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(f.n_y):
        d, e = x[f.d + j], x[f.e + j]
        sy, dy = sy + shapes[phi + j] * d, dy + shapes[phi + j] * e
        bz, rz = bz + shapes[theta + j] * d, rz + shapes[theta + j] * e
        put(x[L + 6 * j :], (0.0, shapes[phi + j], 0.0))
        put(x[L + 6 * j + 3 :], (0.0, 0.0, shapes[theta + j]))
    cz, sn = math.cos(bz), math.sin(bz)
    u = (-sn, cz, 0.0)
    R = (cz, -sn, 0.0, sn, cz, 0.0, 0.0, 0.0, 1.0)
    for j in range(f.n_y, f.n_b):
        d, e = x[f.d + j], x[f.e + j]
        sz, dz = sz + shapes[phi + j] * d, dz + shapes[phi + j] * e
        by, ry = by + shapes[theta + j] * d, ry + shapes[theta + j] * e
        put(x[L + 6 * j :], (0.0, 0.0, shapes[phi + j]))
        put(x[L + 6 * j + 3 :], scale(shapes[theta + j], u))
    t = (cz, sn, 0.0)
    if f.n_b > f.n_y:
        c, s = math.cos(by), math.sin(by)
        R = matmul(R, (c, 0.0, s, 0.0, 1.0, 0.0, -s, 0.0, c))
        t = (cz * c, sn * c, -s)
    for j in range(f.n_b, f.n_3):
        sx, dx = sx + shapes[phi + j] * x[f.d + j], dx + shapes[phi + j] * x[f.e + j]
        put(x[L + 6 * j :], (shapes[phi + j], 0.0, 0.0))
        put(x[L + 6 * j + 3 :], (0.0, 0.0, 0.0))
    for j in range(f.n_3, f.m):
        bx, rx = bx + shapes[theta + j] * x[f.d + j], rx + shapes[theta + j] * x[f.e + j]
        put(x[L + 6 * j :], (0.0, 0.0, 0.0))
        put(x[L + 6 * j + 3 :], scale(shapes[theta + j], t))
    if f.m > f.n_3:
        c, s = math.cos(bx), math.sin(bx)
        R = matmul(R, (1.0, 0.0, 0.0, 0.0, c, -s, 0.0, s, c))
    if f.n_r > 0:
        # x_f = -1/2 d^T H d
        for j in range(f.n_b):
            Hd, He = 0.0, 0.0
            for l in range(f.n_b):
                h = shapes[point.H + j * f.n_b + l]
                Hd, He = Hd + h * x[f.d + l], He + h * x[f.e + l]
            sx, dx, fall = sx - 0.5 * x[f.d + j] * Hd, dx - x[f.e + j] * Hd, fall - x[f.e + j] * He
            x[L + 6 * j] = -Hd
    s_p, rate = (sx, sy, sz), (dx, dy, dz)
    spin = add((0.0, 0.0, rz), add(scale(ry, u), scale(rx, t)))
    sweep = cross(w, s_p)
    put(y.s, s_p)
    put_mat(y.R, R)
    put(y.v, add(v, add(sweep, rate)))
    put(y.w, add(w, spin))
    put(y.gv, add(cross(w, add(sweep, scale(2.0, rate))), (fall, 0.0, 0.0)))
    # e_z x u = -(cos bz, sin bz, 0)
    turning = add(scale(-rz * ry, (cz, sn, 0.0)), cross(add((0.0, 0.0, rz), scale(ry, u)), scale(rx, t)))
    put(y.gw, add(cross(w, spin), turning))


@routine
def accelerate_sections(system, work, f):
    """a, al of all sections of a body whose a, al and modal accelerations (edot) are known. After move_sections."""
    a, al = vec(work.bodies[f.body].a), vec(work.bodies[f.body].al)
    for k in range(f.first_point, f.end_point):
        y, x, L = work.points[k], work.flex, system.points[k].Lambda
        a_p, al_p = add(a, add(cross(al, vec(y.s)), vec(y.gv))), add(al, vec(y.gw))
        for j in range(f.m):
            edot = x[f.edot + j]
            a_p = add(a_p, scale(edot, vec(x[L + 6 * j :])))
            al_p = add(al_p, scale(edot, vec(x[L + 6 * j + 3 :])))
        put(y.a, a_p)
        put(y.al, al_p)


@kernel
def modal_force(x, L, j, force, moment):
    """Force on mode j by a wrench at the section with Lambda at L: Lambda_j . (f, n)."""
    return dot(vec(x[L + 6 * j :]), force) + dot(vec(x[L + 6 * j + 3 :]), moment)


@kernel
def push_section(system, work, k, force, moment):
    """Add a wrench at section k (body axes) to the external wrench of its body and to the forces on its modes."""
    f = system.flexes[system.points[k].flex]
    body, y, b = work.bodies[f.body], work.points[k], system.bodies[f.body]
    put(body.f, add(vec(body.f), force))
    put(body.n, add(vec(body.n), add(moment, cross(vec(y.s), force))))
    for j in range(f.m):
        work.dofs[b.v + b.n_v + j].tau += modal_force(work.flex, system.points[k].Lambda, j, force, moment)


@kernel
def section_offset(work, k, p):
    """An offset p from the axis, in axes of section k, as a vector in body axes."""
    return mul(mat(work.points[k].R), p)

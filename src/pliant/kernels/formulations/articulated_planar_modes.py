"""The modes of flexible bodies in the recursion of articulated_planar.py, as articulated_modes.py has them.

I = (xx, xy, yy, bx, by, C), p = (px, py, n) as there. Numbers in brackets: docs/equations.md, section Articulated
bodies."""

import math

from pliant.kernels._jit import routine
from pliant.kernels.algebra.vec3 import index
from pliant.kernels.flexible.planar import mass_and_bias, planar_at, put_planar_at, section_mode
from pliant.kernels.flexible.pool import (
    add_modal_bias,
    add_modal_inertia,
    modal_acceleration,
    modal_bias,
    modal_inertia,
    put_modal_acceleration,
    put_modal_inertia,
    reduced_bias,
)
from pliant.kernels.formulations.articulated_modes import add_tangents


@routine
def put_flexible_inertia(system, work, k):
    """(A1): I and p of flexible body k alone."""
    f = system.flexes[k]
    body, x, flex = system.bodies[f.body], work.bodies[f.body], work.flex
    scratch = x.articulated
    (cx, cy), J, (hx, hy, n) = mass_and_bias(system, work, f, x.w[2])
    A, B = scratch.A, scratch.B
    A[0], A[1], A[3], B[2], B[5], scratch.C[5] = body.mass, 0.0, body.mass, -cy, cx, J
    scratch.pf[0], scratch.pf[1], scratch.pn[2] = hx - x.f[0], hy - x.f[1], n - x.n[2]
    for j in range(f.m):
        add_modal_bias(f, flex, j, -work.dofs[body.v + body.n_v + j].tau)
    step = work.run[0].implicit_step
    if step > 0.0:
        add_tangents(f, system.shapes, flex, step)


@routine
def eliminate_modes(f, flex, I, p):
    """(A2): whether the inertia of the modes is positive, I and p without them."""
    xx, xy, yy, bx, by, C = I
    px, py, n = p
    for j in range(f.m):
        Yx, Yy, Yw = planar_at(flex, f.rd + 6 * j)
        y, pivot = modal_bias(f, flex, j), modal_inertia(f, flex, j, j)
        for l in range(j):
            # row l of the factor is done: L_jl, then the forward solves
            L = modal_inertia(f, flex, j, l)
            for i in range(l):
                L -= modal_inertia(f, flex, j, i) * modal_inertia(f, flex, l, i)
            L *= modal_inertia(f, flex, l, l)
            put_modal_inertia(f, flex, j, l, L)
            pivot -= L * L
            earlier_x, earlier_y, earlier_w = planar_at(flex, f.Y + 6 * l)
            Yx, Yy, Yw = Yx - L * earlier_x, Yy - L * earlier_y, Yw - L * earlier_w
            y -= L * reduced_bias(f, flex, l)
        if not pivot > 0.0:
            return False, (xx, xy, yy, bx, by, C), (px, py, n)
        inverse = 1.0 / math.sqrt(pivot)
        Yx, Yy, Yw, y = inverse * Yx, inverse * Yy, inverse * Yw, inverse * y
        put_modal_inertia(f, flex, j, j, inverse)
        put_planar_at(flex, f.Y + 6 * j, (Yx, Yy, Yw))
        flex[index(f.y + j)] = y
        xx, xy, yy = xx - Yx * Yx, xy - Yx * Yy, yy - Yy * Yy
        bx, by, C = bx - Yx * Yw, by - Yy * Yw, C - Yw * Yw
        px, py, n = px - y * Yx, py - y * Yy, n - y * Yw
    return True, (xx, xy, yy, bx, by, C), (px, py, n)


@routine
def add_to_modes(system, work, k, I, p):
    """(A7): add what section k carries, given there in body axes, to the modes of its body."""
    point, section = system.points[k], work.points[k]
    f, flex, sx, sy = system.flexes[point.flex], work.flex, section.s[0], section.s[1]
    xx, xy, yy, bx, by, C = I
    for j in range(f.m):
        lx, ly, lw = section_mode(point, flex, j)
        gx, gy, gw = xx * lx + xy * ly + bx * lw, xy * lx + yy * ly + by * lw, bx * lx + by * ly + C * lw
        for l in range(j, f.m):
            other_x, other_y, other_w = section_mode(point, flex, l)
            add_modal_inertia(f, flex, l, j, other_x * gx + other_y * gy + other_w * gw)
        add_modal_bias(f, flex, j, lx * p[0] + ly * p[1] + lw * p[2])
        fx, fy, n = planar_at(flex, f.rd + 6 * j)
        put_planar_at(flex, f.rd + 6 * j, (fx + gx, fy + gy, n + gw + sx * gy - sy * gx))


@routine
def solve_modes(system, work, k, vdot):
    """(A11): e' of flexible body k, whose acceleration is known."""
    f = system.flexes[k]
    body, x, flex = system.bodies[f.body], work.bodies[f.body], work.flex
    for j in range(f.m - 1, -1, -1):
        Yx, Yy, Yw = planar_at(flex, f.Y + 6 * j)
        total = -reduced_bias(f, flex, j) - Yx * x.a[0] - Yy * x.a[1] - Yw * x.al[2]
        for l in range(j + 1, f.m):
            total -= modal_inertia(f, flex, l, j) * modal_acceleration(f, flex, l)
        total *= modal_inertia(f, flex, j, j)
        put_modal_acceleration(f, flex, j, total)
        vdot[body.v + body.n_v + j] = total

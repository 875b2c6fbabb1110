"""Modes in the recursive Lagrangian equations: integrals of a flexible link at one instant, from its constant tables.

Numbers in brackets: docs/equations.md, section Lagrange."""

from pliant.kernels._jit import kernel, routine
from pliant.kernels.algebra.sym3 import sym
from pliant.kernels.algebra.transforms import (
    add_along,
    add_integral,
    half_cross,
    motion_trace,
    pseudo_inertia,
    shift_integral,
    twist_of_mass,
    twist_trace,
)
from pliant.kernels.algebra.vec3 import add, vec
from pliant.kernels.flexible.body import axis_of, put_modal_row
from pliant.kernels.flexible.pool import (
    add_modal_bias,
    add_modal_inertia,
    add_mode_integral,
    amplitude,
    amplitude_bias,
    amplitude_rate,
    axial_integral,
    component_force,
    component_place,
    mass_integral,
    modal_acceleration,
    modal_rate,
    mode_integral,
    product_integral,
    put_component_place,
    put_modal_bias,
    put_mode_integral,
    rotary_coupling,
    section_mode,
    shortening_slope,
)

ZERO = (0.0, 0.0, 0.0)
EMPTY = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@kernel
def component_products(f, shapes, flex, c):
    """int phi_c u dm and int phi_c u' dm of the displacement u = sum D_k phi_k e_f(k)."""
    u, rate = ZERO, ZERO
    for k in range(f.M):
        P = product_integral(f, shapes, c, k)
        D, Dd = P * amplitude(f, flex, k), P * amplitude_rate(f, flex, k)
        if k < f.n_y:
            u, rate = (u[0], u[1] + D, u[2]), (rate[0], rate[1] + Dd, rate[2])
        elif k < f.n_b:
            u, rate = (u[0], u[1], u[2] + D), (rate[0], rate[1], rate[2] + Dd)
        else:
            u, rate = (u[0] + D, u[1], u[2]), (rate[0] + Dd, rate[1], rate[2])
    return u, rate


@routine
def put_places(system, work, f, w):
    """(L2): c and S of the deformed link; fills p_c = int phi_c s dm, and F_c: the force by rates of the modes (L6).

    w: angular velocity of the frame."""
    body, flex, shapes = system.bodies[f.body], work.flex, system.shapes
    U, u, first = EMPTY, ZERO, ZERO
    for c in range(f.M):
        axis, X1, D = axis_of(f, c), axial_integral(f, shapes, c), amplitude(f, flex, c)
        p, q = component_products(f, shapes, flex, c)
        p = (p[0] + X1, p[1], p[2])
        # 2 e_f . (w x int phi_c s' dm), and what the shortening rates bring along x
        if axis == 0:
            force, first = 2.0 * (w[1] * q[2] - w[2] * q[1]), (first[0] + D * X1, first[1], first[2])
            for r in range(f.n_r):
                force += product_integral(f, shapes, c, f.n_3 + r) * amplitude_bias(f, flex, r)
        elif axis == 1:
            force, first = 2.0 * (w[2] * q[0] - w[0] * q[2]), (first[0], first[1] + D * X1, first[2])
        else:
            force, first = 2.0 * (w[0] * q[1] - w[1] * q[0]), (first[0], first[1], first[2] + D * X1)
        put_component_place(f, flex, c, p, force)
        U, u = add_along(U, u, axis, D, p, mass_integral(f, shapes, c))
    S = pseudo_inertia(sym(body.J))
    moved = (
        S[0] + U[0] + first[0],
        S[1] + U[1] + first[1],
        S[2] + U[2] + first[2],
        S[3] + U[4],
        S[4] + U[5],
        S[5] + U[8],
    )
    return add(vec(body.c), u), moved


@routine
def put_modes(system, work, f, A, a):
    """(L3, L6): G of every mode, products of modes, and the row of every mode; after put_places.

    (A, a): W^-1 W'' of the frame. Modal accelerations are not counted in the rows."""
    flex, shapes = work.flex, system.shapes
    for j in range(f.m):
        G, g, row = half_cross(rotary_coupling(f, shapes, j)), ZERO, 0.0
        if j < f.n_3:
            G, g = add_along(G, g, axis_of(f, j), 1.0, component_place(f, flex, j), mass_integral(f, shapes, j))
            row += component_force(f, flex, j)
        if j < f.n_b:
            for r in range(f.n_r):
                k, slope = f.n_3 + r, shortening_slope(f, flex, r, j)
                G, g = add_along(G, g, 0, -slope, component_place(f, flex, k), mass_integral(f, shapes, k))
                row -= slope * component_force(f, flex, k)
        put_mode_integral(f, flex, j, G, g)
        put_modal_bias(f, flex, j, row + motion_trace(A, a, G, g))
        # (L4)
        put_modal_row(f, shapes, flex, j)


@routine
def rate_integrals(system, work, f):
    """(L5): int h' h^T dm and int h'' h^T dm; after put_modes."""
    flex, shapes = work.flex, system.shapes
    rate, rate_f, second, second_f = EMPTY, ZERO, EMPTY, ZERO
    for j in range(f.m):
        G, g = mode_integral(f, flex, j)
        rate, rate_f = add_integral(rate, rate_f, modal_rate(f, flex, j), G, g)
        second, second_f = add_integral(second, second_f, modal_acceleration(f, flex, j), G, g)
    for r in range(f.n_r):
        c, b = f.n_3 + r, amplitude_bias(f, flex, r)
        second, second_f = add_along(second, second_f, 0, b, component_place(f, flex, c), mass_integral(f, shapes, c))
    return rate, rate_f, second, second_f


@routine
def add_to_modes(system, work, k, m, c, S, F, f):
    """(L8): what section k carries (P and F there, body axes) enters the modes of its link."""
    point = system.points[k]
    flexible, flex, s = system.flexes[point.flex], work.flex, vec(work.points[k].s)
    for j in range(flexible.m):
        velocity, angular = section_mode(point, flex, j)
        G, g = twist_of_mass(velocity, angular, m, c, S)
        for l in range(j, flexible.m):
            other_velocity, other_angular = section_mode(point, flex, l)
            add_modal_inertia(flexible, flex, l, j, twist_trace(other_velocity, other_angular, G, g))
        add_modal_bias(flexible, flex, j, twist_trace(velocity, angular, F, f))
        add_mode_integral(flexible, flex, j, shift_integral(G, g, s), g)

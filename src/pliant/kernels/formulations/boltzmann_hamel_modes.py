"""Modes in the momentum sweeps: momenta of a flexible body, their rates, and what a unit rate of a mode gives.

With r' = v + w x s + s' the velocity of its points, a component c has, as the body itself, a momentum
    k_c = int phi_c r' dm,  and its row is that of P: e_f(c) . (k_c' + w x k_c) = force along the component
so d/dt dT/de - dT/dd needs no derivative of the mass matrix. Numbers in brackets: docs/equations.md, section
Boltzmann-Hamel."""

from pliant.kernels._jit import kernel, routine
from pliant.kernels.algebra.sym3 import mul_sym, sym
from pliant.kernels.algebra.transforms import add_along
from pliant.kernels.algebra.vec3 import add, cross, dot, mat, mul, mul_t, put, scale, sub, vec
from pliant.kernels.flexible.body import axis_of, deformed_inertia, put_modal_row
from pliant.kernels.flexible.pool import (
    add_coupling,
    add_modal_bias,
    add_modal_inertia,
    amplitude,
    amplitude_acceleration,
    amplitude_bias,
    amplitude_rate,
    axial_integral,
    component_force,
    component_place,
    mass_integral,
    modal_acceleration,
    modal_force,
    modal_rate,
    put_amplitude_acceleration,
    put_component_place,
    put_coupling,
    put_modal_acceleration,
    put_modal_bias,
    rotary_coupling,
    rotary_inertia,
    section_mode,
    shortening_slope,
)
from pliant.kernels.kinematics.joints import ZERO

EMPTY = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@kernel
def along(axis, value):
    """value e_axis"""
    return (value if axis == 0 else 0.0, value if axis == 1 else 0.0, value if axis == 2 else 0.0)


@kernel
def across(y):
    """e_x x y"""
    return (0.0, -y[2], y[1])


@routine
def put_modal_accelerations(system, work, f, vdot):
    """e' and D'' = B e' + b (F1)."""
    body, flex = system.bodies[f.body], work.flex
    first = body.v + body.n_v
    for j in range(f.m):
        put_modal_acceleration(f, flex, j, vdot[first + j])
    for c in range(f.n_3):
        put_amplitude_acceleration(f, flex, c, vdot[first + c])
    for r in range(f.n_r):
        total = amplitude_bias(f, flex, r)
        for j in range(f.n_b):
            total -= shortening_slope(f, flex, r, j) * vdot[first + j]
        put_amplitude_acceleration(f, flex, f.n_3 + r, total)


@routine
def displacement_integrals(f, shapes, flex, first):
    """int phi u dm and its two derivatives, u = sum D_c phi_c e_f(c) the displacement.

    first: where int phi phi_c dm of the components begin in shapes: f.C1 for phi = 1, f.X1 for phi = x."""
    x, y, z = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(f.M):
        T = shapes[first + k]
        terms = (T * amplitude(f, flex, k), T * amplitude_rate(f, flex, k), T * amplitude_acceleration(f, flex, k))
        if k < f.n_y:
            y = add(y, terms)
        elif k < f.n_b:
            z = add(z, terms)
        else:
            x = add(x, terms)
    return (x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2])


@kernel
def put_component(f, shapes, flex, c, v, vdot, w, wdot):
    """(B15): momentum k_c and its rate, returned; p_c, and the row of component c, are kept."""
    u, rate, second = displacement_integrals(f, shapes, flex, f.P + c * f.M)
    C1, p = mass_integral(f, shapes, c), (axial_integral(f, shapes, c) + u[0], u[1], u[2])
    momentum = add(scale(C1, v), add(cross(w, p), rate))
    momentum_rate = add(scale(C1, vdot), add(add(cross(wdot, p), cross(w, rate)), second))
    balance = add(momentum_rate, cross(w, momentum))
    put_component_place(f, flex, c, p, balance[axis_of(f, c)])
    return momentum, momentum_rate


@routine
def put_rows_of_modes(f, shapes, flex, wdot):
    """(B18): left sides of the rows of the modes of one body alone."""
    for j in range(f.m):
        row = dot(rotary_coupling(f, shapes, j), wdot)
        for l in range(f.m):
            row += rotary_inertia(f, shapes, j, l) * modal_acceleration(f, flex, l)
        if j < f.n_3:
            row += component_force(f, flex, j)
        if j < f.n_b:
            for r in range(f.n_r):
                row -= shortening_slope(f, flex, r, j) * component_force(f, flex, f.n_3 + r)
        put_modal_bias(f, flex, j, row)


@routine
def put_flexible_momentum(system, work, i, vdot, part):
    """(B16, B17): P, H and their rates of one body alone, and the rows of its modes, minus gravity and that part (0 or
    1) of the gathered forces. Rates of v and w of the body are known."""
    body, x, flex, shapes = system.bodies[i], work.bodies[i], work.flex, system.shapes
    f, scratch, m, J = system.flexes[body.flex], x.boltzmann_hamel, body.mass, sym(body.J)
    v, w, wdot = vec(x.v), vec(x.w), vec(scratch.wdot)
    # rate of the components of v; gravity acts on all points alike
    rate_v = sub(sub(vec(scratch.a), cross(w, v)), vec(scratch.g))
    put_modal_accelerations(system, work, f, vdot)
    u, u_rate, u_second = displacement_integrals(f, shapes, flex, f.C1)
    X, X_rate, X_second = displacement_integrals(f, shapes, flex, f.X1)
    c0 = vec(body.c)
    c = add(c0, u)
    H = add(add(cross(c0, v), mul_sym(J, w)), across(add(X_rate, cross(w, X))))
    Hdot = add(cross(c0, rate_v), mul_sym(J, wdot))
    Hdot = add(Hdot, across(add(X_second, add(cross(wdot, X), cross(w, X_rate)))))
    for k in range(f.M):
        momentum, rate = put_component(f, shapes, flex, k, v, rate_v, w, wdot)
        axis = axis_of(f, k)
        D, Dd = along(axis, amplitude(f, flex, k)), along(axis, amplitude_rate(f, flex, k))
        H = add(H, cross(D, momentum))
        Hdot = add(Hdot, add(cross(Dd, momentum), cross(D, rate)))
    for j in range(f.m):
        Jr1 = rotary_coupling(f, shapes, j)
        H, Hdot = add(H, scale(modal_rate(f, flex, j), Jr1)), add(Hdot, scale(modal_acceleration(f, flex, j), Jr1))
    Pdot = add(scale(m, rate_v), add(cross(wdot, c), add(cross(w, u_rate), u_second)))
    put(scratch.P, add(scale(m, v), add(cross(w, c), u_rate)))
    put(scratch.H, H)
    put(scratch.Pdot, sub(Pdot, scale(part, vec(x.f))))
    put(scratch.Hdot, sub(Hdot, scale(part, vec(x.n))))
    put_rows_of_modes(f, shapes, flex, wdot)


@routine
def add_section_rates(system, work, i, a, wdot):
    """What the modal accelerations of its parent add, in axes of the parent, to the rates of v and w of body i."""
    k = system.bodies[i].point
    point = system.points[k]
    f, o = system.flexes[point.flex], vec(work.bodies[i].o_E)
    for j in range(f.m):
        edot, (velocity, angular) = modal_acceleration(f, work.flex, j), section_mode(point, work.flex, j)
        a, wdot = add(a, scale(edot, add(velocity, cross(angular, o)))), add(wdot, scale(edot, angular))
    return a, wdot


@kernel
def motion_over_section(x, parent):
    """(B20): velocity and angular velocity of a body against its flexible parent, in axes of the body."""
    R, w_P = mat(x.R), vec(parent.w)
    v = sub(vec(x.v), mul_t(R, add(vec(parent.v), cross(w_P, vec(x.o)))))
    return v, sub(vec(x.w), mul_t(R, w_P))


@routine
def add_to_modal_rows(system, work, i, force, moment):
    """(B19): what the joint of body i transmits enters the rows of the modes of its parent."""
    x, point = work.bodies[i], system.points[system.bodies[i].point]
    f, R = system.flexes[point.flex], mat(x.R)
    force = mul(R, force)
    moment = add(mul(R, moment), cross(vec(x.o_E), force))
    for j in range(f.m):
        add_modal_bias(f, work.flex, j, modal_force(point, work.flex, j, force, moment))


@kernel
def unit_momentum(m, c, J, v, w):
    """(B7): P and H of a composite rigid body with velocity v and angular velocity w."""
    return add(scale(m, v), cross(w, c)), add(mul_sym(J, w), cross(c, v))


@kernel
def add_component(f, shapes, flex, c, rate, P, H):
    """(B21): momenta of one component, whose amplitude has that rate, added to P and H."""
    axis = axis_of(f, c)
    P = add(P, along(axis, rate * mass_integral(f, shapes, c)))
    return P, add(H, cross(component_place(f, flex, c), along(axis, rate)))


@routine
def put_flexible_inertia(system, work, f):
    """(B6, B21): c and J of the deformed body, returned; momenta of a unit rate of every mode. After
    put_flexible_momentum."""
    body, flex, shapes = system.bodies[f.body], work.flex, system.shapes
    Z, c = EMPTY, vec(body.c)
    for k in range(f.M):
        p, X1 = component_place(f, flex, k), axial_integral(f, shapes, k)
        doubled = (p[0] + X1, p[1], p[2])
        Z, c = add_along(Z, c, axis_of(f, k), amplitude(f, flex, k), doubled, mass_integral(f, shapes, k))
    for j in range(f.m):
        P, H = ZERO, rotary_coupling(f, shapes, j)
        if j < f.n_3:
            P, H = add_component(f, shapes, flex, j, 1.0, P, H)
        if j < f.n_b:
            for r in range(f.n_r):
                P, H = add_component(f, shapes, flex, f.n_3 + r, -shortening_slope(f, flex, r, j), P, H)
        put_coupling(f, flex, j, P, H)
        put_modal_row(f, shapes, flex, j)
    return c, deformed_inertia(sym(body.J), Z)


@routine
def add_to_unit_modes(system, work, k, m, c, J):
    """(B21): a unit rate of a mode moves what section k carries: m, c, J there, in axes of its body."""
    point = system.points[k]
    f, flex, s = system.flexes[point.flex], work.flex, vec(work.points[k].s)
    for j in range(f.m):
        velocity, angular = section_mode(point, flex, j)
        P, H = unit_momentum(m, c, J, velocity, angular)
        for l in range(j, f.m):
            add_modal_inertia(f, flex, l, j, modal_force(point, flex, l, P, H))
        add_coupling(f, flex, j, P, add(H, cross(s, P)))

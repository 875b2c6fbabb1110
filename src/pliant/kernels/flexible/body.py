"""A flexible body at one instant: from its modal state and angular velocity to its mass matrix and bias.

Components c: the modes that translate, then the shortening functions psi_r, whose amplitudes D_r = -1/2 d^T Q_r d
follow the bending. Each moves along one axis f: y for c < n_y, z for c < n_b, x from there on. Everything is a sum over
constant tables (system.shapes); what it fills lies in work.flex; flexible/pool.py names the entries. Mass matrix in
blocks (numbers in brackets: docs/equations.md)

    [ m 1   -[c]   M_vd ]
    [ [c]    J     M_wd ]     (F7)
    [  .     .     M_dd ]"""

from pliant.kernels._jit import kernel, routine
from pliant.kernels.algebra.sym3 import mul_sym, sym
from pliant.kernels.algebra.vec3 import add, cross, mul, scale, vec
from pliant.kernels.flexible.pool import (
    add_modal_inertia,
    amplitude,
    amplitude_bias,
    amplitude_rate,
    axial_integral,
    component_force,
    component_moment,
    coupling,
    mass_integral,
    modal_coordinate,
    modal_inertia,
    modal_rate,
    product_integral,
    put_component,
    put_coupling,
    put_modal_bias,
    put_modal_inertia,
    rotary_coupling,
    rotary_inertia,
    shortening,
    shortening_slope,
    station_bend,
    station_share,
    station_slope,
    stiffness,
)


@routine
def update_modal_state(system, work, f, q, v):
    """(F1): d, e; D = (d, -1/2 d^T Q_r d), D' = (e, -e^T Q_r d), b_r = -e^T Q_r e."""
    body, flex, shapes = system.bodies[f.body], work.flex, system.shapes
    first_q, first_v = body.q + body.n_q, body.v + body.n_v
    for j in range(f.m):
        flex[f.d + j] = q[first_q + j]
        flex[f.e + j] = v[first_v + j]
    for c in range(f.n_3):
        flex[f.D + c] = flex[f.d + c]
        flex[f.Dd + c] = flex[f.e + c]
    for r in range(f.n_r):
        D, Dd, b = 0.0, 0.0, 0.0
        for j in range(f.n_b):
            u, u_e = 0.0, 0.0
            for l in range(f.n_b):
                u += shortening(f, shapes, r, j, l) * modal_coordinate(f, flex, l)
                u_e += shortening(f, shapes, r, j, l) * modal_rate(f, flex, l)
            flex[f.U + r * f.n_b + j] = u
            D -= 0.5 * u * modal_coordinate(f, flex, j)
            Dd -= u * modal_rate(f, flex, j)
            b -= u_e * modal_rate(f, flex, j)
        flex[f.D + f.n_3 + r] = D
        flex[f.Dd + f.n_3 + r] = Dd
        flex[f.b + r] = b
    for k in range(f.n_k):
        add_fourth_order(f, shapes, flex, k)


@kernel
def slopes_at(f, shapes, flex, k):
    """y' and z' at station k, and their rates."""
    y, z, yd, zd = 0.0, 0.0, 0.0, 0.0
    for j in range(f.n_y):
        slope = station_slope(f, shapes, k, j)
        y, yd = y + slope * modal_coordinate(f, flex, j), yd + slope * modal_rate(f, flex, j)
    for j in range(f.n_y, f.n_b):
        slope = station_slope(f, shapes, k, j)
        z, zd = z + slope * modal_coordinate(f, flex, j), zd + slope * modal_rate(f, flex, j)
    return y, z, yd, zd


@kernel
def fourth_order_shortening(y, z, yd, zd):
    """(F18): (y'^2 + z'^2)^2 / 8; its derivatives by y' and z'; its rate, and its second rate while those of y' and z'
    do not change."""
    square = y * y + z * z
    by_y, by_z = 0.5 * square * y, 0.5 * square * z
    second = 0.5 * square * (yd * yd + zd * zd) + (y * yd + z * zd) ** 2
    return 0.125 * square * square, by_y, by_z, by_y * yd + by_z * zd, second


@kernel
def add_fourth_order(f, shapes, flex, k):
    """(F18): what station k adds to amplitudes of the shortening functions, their slopes, rates and second rates."""
    y, z, yd, zd = slopes_at(f, shapes, flex, k)
    value, by_y, by_z, rate, second = fourth_order_shortening(y, z, yd, zd)
    for r in range(f.n_r):
        share = station_share(f, shapes, r, k)
        flex[f.D + f.n_3 + r] -= share * value
        flex[f.Dd + f.n_3 + r] -= share * rate
        flex[f.b + r] -= share * second
        for j in range(f.n_b):
            by = by_y if j < f.n_y else by_z
            flex[f.U + r * f.n_b + j] += share * by * station_slope(f, shapes, k, j)


@kernel
def bends_at(f, shapes, flex, k):
    """Curvatures in both planes at station k, each times sqrt(EI w)."""
    y, z = 0.0, 0.0
    for j in range(f.n_y):
        y += station_bend(f, shapes, k, j) * modal_coordinate(f, flex, j)
    for j in range(f.n_y, f.n_b):
        z += station_bend(f, shapes, k, j) * modal_coordinate(f, flex, j)
    return y, z


@kernel
def component_integrals(f, shapes, flex, c):
    """(F3): p_c = int s phi_c dm and q_c = int s' phi_c dm."""
    px, py, pz, qx, qy, qz = axial_integral(f, shapes, c), 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(f.n_y):
        P = product_integral(f, shapes, c, k)
        py, qy = py + P * amplitude(f, flex, k), qy + P * amplitude_rate(f, flex, k)
    for k in range(f.n_y, f.n_b):
        P = product_integral(f, shapes, c, k)
        pz, qz = pz + P * amplitude(f, flex, k), qz + P * amplitude_rate(f, flex, k)
    for k in range(f.n_b, f.M):
        P = product_integral(f, shapes, c, k)
        px, qx = px + P * amplitude(f, flex, k), qx + P * amplitude_rate(f, flex, k)
    return (px, py, pz), (qx, qy, qz)


@kernel
def sum_components(f, shapes, flex, w, c):
    """(F2, F4, F5, F6): c and its rate, rows of Z = sum D_c e_f (p_c + X1_c e_x)^T and of Gd = sum D'_c e_f p_c^T.

    c given: that of the undeformed body. Fills a_c and the velocity-dependent force F_c of every component (F10)."""
    cd = (0.0, 0.0, 0.0)
    Zx, Zy, Zz = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    Gx, Gy, Gz = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(f.M):
        p, q = component_integrals(f, shapes, flex, k)
        D, Dd, C1 = amplitude(f, flex, k), amplitude_rate(f, flex, k), mass_integral(f, shapes, k)
        force = cross(w, add(cross(w, p), scale(2.0, q)))
        doubled = (p[0] + axial_integral(f, shapes, k), p[1], p[2])
        if k < f.n_y:
            c, cd = (c[0], c[1] + C1 * D, c[2]), (cd[0], cd[1] + C1 * Dd, cd[2])
            Zy, Gy = add(Zy, scale(D, doubled)), add(Gy, scale(Dd, p))
            put_component(f, flex, k, (-p[2], 0.0, p[0]), force[1])
        elif k < f.n_b:
            c, cd = (c[0], c[1], c[2] + C1 * D), (cd[0], cd[1], cd[2] + C1 * Dd)
            Zz, Gz = add(Zz, scale(D, doubled)), add(Gz, scale(Dd, p))
            put_component(f, flex, k, (p[1], -p[0], 0.0), force[2])
        else:
            c, cd = (c[0] + C1 * D, c[1], c[2]), (cd[0] + C1 * Dd, cd[1], cd[2])
            Zx, Gx = add(Zx, scale(D, doubled)), add(Gx, scale(Dd, p))
            total = force[0]
            for r in range(f.n_r):
                total += product_integral(f, shapes, k, f.n_3 + r) * amplitude_bias(f, flex, r)
            put_component(f, flex, k, (0.0, p[2], -p[1]), total)
    return c, cd, Zx + Zy + Zz, Gx + Gy + Gz


@kernel
def deformed_inertia(J0, Z):
    """(F4): J = J0 + tr(G) 1 - G with G = (Z + Z^T)/2."""
    return (
        J0[0] + Z[4] + Z[8],
        J0[1] - 0.5 * (Z[1] + Z[3]),
        J0[2] - 0.5 * (Z[2] + Z[6]),
        J0[3] + Z[0] + Z[8],
        J0[4] - 0.5 * (Z[5] + Z[7]),
        J0[5] + Z[0] + Z[4],
    )


@kernel
def frame_bias(f, shapes, flex, w, c, cd, J, Gd):
    """(F8, F9): inertia force and moment on the frame while accelerations vanish."""
    H = mul_sym(J, w)
    for j in range(f.m):
        H = add(H, scale(modal_rate(f, flex, j), rotary_coupling(f, shapes, j)))
    h_v = cross(w, add(cross(w, c), scale(2.0, cd)))
    trace, Gdw = Gd[0] + Gd[4] + Gd[8], mul(Gd, w)
    # 2 (tr(Gd) w - Gd w)
    change = (2.0 * (trace * w[0] - Gdw[0]), 2.0 * (trace * w[1] - Gdw[1]), 2.0 * (trace * w[2] - Gdw[2]))
    h_w = add(cross(w, H), change)
    for r in range(f.n_r):
        k, b = f.n_3 + r, amplitude_bias(f, flex, r)
        h_v = (h_v[0] + mass_integral(f, shapes, k) * b, h_v[1], h_v[2])
        h_w = add(h_w, scale(b, component_moment(f, flex, k)))
    return h_v, h_w


@routine
def mass_and_bias(system, work, f, w):
    """(c, J, h_v, h_w) of the frame; coupling, modal inertia and modal bias are filled. After update_modal_state.

    w: angular velocity of the frame."""
    body, flex, shapes = system.bodies[f.body], work.flex, system.shapes
    c, cd, Z, Gd = sum_components(f, shapes, flex, w, vec(body.c))
    J = deformed_inertia(sym(body.J), Z)
    h_v, h_w = frame_bias(f, shapes, flex, w, c, cd, J, Gd)
    put_modal_blocks(f, shapes, flex)
    return c, J, h_v, h_w


@kernel
def axis_of(f, c):
    """Axis along which component c moves."""
    return 1 if c < f.n_y else 2 if c < f.n_b else 0


@kernel
def put_modal_row(f, shapes, flex, j):
    """(F7): row j of M_dd = B^T N B + Jr2, up to the diagonal."""
    for l in range(j + 1):
        put_modal_inertia(f, flex, j, l, rotary_inertia(f, shapes, j, l))
    if j < f.n_3:
        # N: modes along the same axis only
        first = 0 if j < f.n_y else f.n_y if j < f.n_b else f.n_b
        for l in range(first, j + 1):
            add_modal_inertia(f, flex, j, l, product_integral(f, shapes, j, l))
    if j < f.n_b:
        for r in range(f.n_r):
            u = shortening_slope(f, flex, r, j)
            for l in range(j + 1):
                add_modal_inertia(f, flex, j, l, u * shortening_slope(f, flex, r, l))
    elif j < f.n_3:
        for r in range(f.n_r):
            P = product_integral(f, shapes, j, f.n_3 + r)
            for l in range(f.n_b):
                add_modal_inertia(f, flex, j, l, -shortening_slope(f, flex, r, l) * P)


@kernel
def put_modal_blocks(f, shapes, flex):
    """(F7, F10): M_vd, M_wd, M_dd and h_d: components carried to the modes by B = [1; -(Q_r d)^T]."""
    for j in range(f.m):
        fx, fy, fz, bias = 0.0, 0.0, 0.0, 0.0
        moment = rotary_coupling(f, shapes, j)
        if j < f.n_3:
            C1 = mass_integral(f, shapes, j)
            moment, bias = add(moment, component_moment(f, flex, j)), component_force(f, flex, j)
            if j < f.n_y:
                fy = C1
            elif j < f.n_b:
                fz = C1
            else:
                fx = C1
        if j < f.n_b:
            for r in range(f.n_r):
                k, u = f.n_3 + r, shortening_slope(f, flex, r, j)
                fx -= u * mass_integral(f, shapes, k)
                moment = add(moment, scale(-u, component_moment(f, flex, k)))
                bias -= u * component_force(f, flex, k)
        put_modal_row(f, shapes, flex, j)
        put_coupling(f, flex, j, (fx, fy, fz), moment)
        put_modal_bias(f, flex, j, bias)


@routine
def first_moment(system, work, f):
    """c = int s dm (F2). After update_modal_state."""
    x, y, z = vec(system.bodies[f.body].c)
    for k in range(f.M):
        moved = mass_integral(f, system.shapes, k) * amplitude(f, work.flex, k)
        if k < f.n_y:
            y += moved
        elif k < f.n_b:
            z += moved
        else:
            x += moved
    return x, y, z


@kernel
def modal_momentum(f, flex):
    """(linear, angular) momentum of the modal rates: M_vd e, M_wd e. After mass_and_bias."""
    linear, angular = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for j in range(f.m):
        e, (force, moment) = modal_rate(f, flex, j), coupling(f, flex, j)
        linear, angular = add(linear, scale(e, force)), add(angular, scale(e, moment))
    return linear, angular


@kernel
def modal_energy(f, flex):
    """1/2 e^T M_dd e. After mass_and_bias."""
    total = 0.0
    for j in range(f.m):
        total += 0.5 * modal_inertia(f, flex, j, j) * modal_rate(f, flex, j) ** 2
        for l in range(j):
            total += modal_inertia(f, flex, j, l) * modal_rate(f, flex, j) * modal_rate(f, flex, l)
    return total


@kernel
def strain_energy(f, shapes, flex):
    """1/2 d^T K d, and the fourth order of the slopes (F19). After update_modal_state."""
    total = 0.0
    for j in range(f.m):
        for l in range(f.m):
            total += 0.5 * stiffness(f, shapes, j, l) * modal_coordinate(f, flex, j) * modal_coordinate(f, flex, l)
    for k in range(f.n_k):
        slope_y, slope_z, _, _ = slopes_at(f, shapes, flex, k)
        bend_y, bend_z = bends_at(f, shapes, flex, k)
        total += 0.5 * (slope_y * bend_y + slope_z * bend_z) ** 2
    return total

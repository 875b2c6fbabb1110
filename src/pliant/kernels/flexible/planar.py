"""Flexible bodies that bend and stretch in the x-y plane alone: body.py and sections.py in three components.

Modes c < n_y move along y, the others and the shortening functions along x; a force is (fx, fy), a moment n about z.
Only the entries that do not vanish are written; new_work has put the others in place.
Numbers in brackets: docs/equations.md."""

from pliant.kernels._jit import kernel, routine
from pliant.kernels.algebra.trigonometry import cos_sin
from pliant.kernels.algebra.vec3 import index
from pliant.kernels.flexible.body import fourth_order_shortening, put_modal_row, slopes_at
from pliant.kernels.flexible.pool import (
    amplitude,
    amplitude_bias,
    amplitude_rate,
    axial_integral,
    component_force,
    mass_integral,
    modal_acceleration,
    modal_coordinate,
    modal_rate,
    product_integral,
    put_modal_bias,
    section_share,
    shape_angle,
    shape_value,
    shortening_at,
    shortening_slope,
    station_slope,
)

# --- entries of the pool (flexible/pool.py) that do not vanish --------------------------------------------------------


@kernel
def planar_at(flex, at):
    """(x, y, n) of the six numbers from flex[at] on."""
    return flex[index(at)], flex[index(at + 1)], flex[index(at + 5)]


@kernel
def put_planar_at(flex, at, x):
    flex[index(at)], flex[index(at + 1)], flex[index(at + 5)] = x


@kernel
def component_moment(f, flex, c):
    """a_c (F6)"""
    return flex[index(f.a + 3 * c + 2)]


@kernel
def put_component(f, flex, c, moment, force):
    flex[index(f.a + 3 * c + 2)] = moment
    flex[index(f.F + c)] = force


@kernel
def rotary_coupling(f, shapes, j):
    """Jr1 of mode j [kg m]"""
    return shapes[index(f.Jr1 + 3 * j + 2)]


@kernel
def section_mode(point, flex, j):
    """Lambda_j (F13)"""
    return planar_at(flex, point.Lambda + 6 * j)


# --- mass matrix and bias ---------------------------------------------------------------------------------------------


@kernel
def component_integrals(f, shapes, flex, c):
    """(F3): p_c and q_c."""
    px, py, qx, qy = axial_integral(f, shapes, c), 0.0, 0.0, 0.0
    for k in range(f.n_y):
        P = product_integral(f, shapes, c, k)
        py, qy = py + P * amplitude(f, flex, k), qy + P * amplitude_rate(f, flex, k)
    for k in range(f.n_y, f.M):
        P = product_integral(f, shapes, c, k)
        px, qx = px + P * amplitude(f, flex, k), qx + P * amplitude_rate(f, flex, k)
    return px, py, qx, qy


@routine
def mass_and_bias(system, work, f, w):
    """((cx, cy), J, (hx, hy, n)) of the frame, as flexible/body.py has them; w: angular velocity."""
    body, flex, shapes = system.bodies[f.body], work.flex, system.shapes
    # (F2, F4, F5): first moment and its rate, moment of inertia, and its rate as twice G
    cx, cy, cdx, cdy, J, G = body.c[0], body.c[1], 0.0, 0.0, body.J[5], 0.0
    for k in range(f.M):
        px, py, qx, qy = component_integrals(f, shapes, flex, k)
        D, Dd, C1 = amplitude(f, flex, k), amplitude_rate(f, flex, k), mass_integral(f, shapes, k)
        # (F6, F10)
        if k < f.n_y:
            cy, cdy, J, G = cy + C1 * D, cdy + C1 * Dd, J + D * py, G + Dd * py
            put_component(f, flex, k, px, w * (2.0 * qx - w * py))
        else:
            cx, cdx = cx + C1 * D, cdx + C1 * Dd
            J, G = J + D * (px + axial_integral(f, shapes, k)), G + Dd * px
            force = -w * (w * px + 2.0 * qy)
            for r in range(f.n_r):
                force += product_integral(f, shapes, k, f.n_3 + r) * amplitude_bias(f, flex, r)
            put_component(f, flex, k, -py, force)
    # (F8, F9)
    hx, hy, n = -w * (w * cx + 2.0 * cdy), w * (2.0 * cdx - w * cy), 2.0 * G * w
    for r in range(f.n_r):
        k, b = f.n_3 + r, amplitude_bias(f, flex, r)
        hx, n = hx + mass_integral(f, shapes, k) * b, n + b * component_moment(f, flex, k)
    put_modal_blocks(f, shapes, flex)
    return (cx, cy), J, (hx, hy, n)


@kernel
def put_modal_blocks(f, shapes, flex):
    """(F7, F10): coupling, modal inertia and modal bias."""
    for j in range(f.m):
        C1, n, bias = mass_integral(f, shapes, j), component_moment(f, flex, j), component_force(f, flex, j)
        n += rotary_coupling(f, shapes, j)
        fx, fy = (0.0, C1) if j < f.n_y else (C1, 0.0)
        if j < f.n_y:
            for r in range(f.n_r):
                k, u = f.n_3 + r, shortening_slope(f, flex, r, j)
                fx -= u * mass_integral(f, shapes, k)
                n -= u * component_moment(f, flex, k)
                bias -= u * component_force(f, flex, k)
        put_modal_row(f, shapes, flex, j)
        put_planar_at(flex, f.rd + 6 * j, (fx, fy, n))
        put_modal_bias(f, flex, j, bias)


# --- sections ---------------------------------------------------------------------------------------------------------


@kernel
def section_angle(f, point, shapes, flex):
    """(F12, F20): angle of the section, its derivative by the slope of the axis, its rate, and its second rate while
    that of the slope does not change."""
    angle, rate = 0.0, 0.0
    for j in range(f.n_y):
        theta = shape_angle(point, shapes, j)
        angle, rate = angle + theta * modal_coordinate(f, flex, j), rate + theta * modal_rate(f, flex, j)
    if f.n_k == 0:
        return angle, 1.0, rate, 0.0
    by_slope = 1.0 + 0.5 * angle * angle
    return angle + angle**3 / 6.0, by_slope, by_slope * rate, angle * rate * rate


@kernel
def section_place(f, point, shapes, flex, by_slope):
    """(F11): s_p, S_p e and -e^T H_p e; fills Lambda. by_slope: derivative of the angle (F20)."""
    sx, sy, dx, dy, fall = point.x, 0.0, 0.0, 0.0, 0.0
    for j in range(f.n_y, f.m):
        phi = shape_value(point, shapes, j)
        sx, dx = sx + phi * modal_coordinate(f, flex, j), dx + phi * modal_rate(f, flex, j)
        put_planar_at(flex, point.Lambda + 6 * j, (phi, 0.0, 0.0))
    for j in range(f.n_y):
        phi, d, e = shape_value(point, shapes, j), modal_coordinate(f, flex, j), modal_rate(f, flex, j)
        sy, dy, Hd = sy + phi * d, dy + phi * e, 0.0
        if f.n_r > 0:
            He = 0.0
            for l in range(f.n_y):
                H = shortening_at(f, point, shapes, j, l)
                Hd, He = Hd + H * modal_coordinate(f, flex, l), He + H * modal_rate(f, flex, l)
            sx, dx, fall = sx - 0.5 * d * Hd, dx - e * Hd, fall - e * He
        put_planar_at(flex, point.Lambda + 6 * j, (-Hd, phi, by_slope * shape_angle(point, shapes, j)))
    for k in range(f.n_k):
        y, z, yd, zd = slopes_at(f, shapes, flex, k)
        value, by_y, _, rate, second = fourth_order_shortening(y, z, yd, zd)
        share = section_share(point, shapes, k)
        sx, dx, fall = sx - share * value, dx - share * rate, fall - share * second
        for j in range(f.n_y):
            flex[index(point.Lambda + 6 * j)] -= share * by_y * station_slope(f, shapes, k, j)
    return sx, sy, dx, dy, fall


@routine
def move_sections(system, work, f):
    """All sections of a body whose v, w are known. After update_modal_state."""
    body, flex, shapes = work.bodies[f.body], work.flex, system.shapes
    vx, vy, w = body.v[0], body.v[1], body.w[2]
    for k in range(f.first_point, f.end_point):
        point, y = system.points[k], work.points[k]
        angle, by_slope, rate, second = section_angle(f, point, shapes, flex)
        sx, sy, dx, dy, fall = section_place(f, point, shapes, flex, by_slope)
        c, s = cos_sin(angle)
        y.R[0], y.R[1], y.R[3], y.R[4] = c, -s, s, c
        y.s[0], y.s[1] = sx, sy
        # (F13)
        y.v[0], y.v[1], y.w[2] = vx - w * sy + dx, vy + w * sx + dy, w + rate
        # (F14, F15)
        y.gv[0], y.gv[1], y.gw[2] = fall - w * (w * sx + 2.0 * dy), w * (2.0 * dx - w * sy), second


@routine
def accelerate_sections(system, work, f):
    """a, al of all sections of a body whose a, al and modal accelerations are known. After move_sections."""
    body, flex = work.bodies[f.body], work.flex
    ax, ay, al = body.a[0], body.a[1], body.al[2]
    for k in range(f.first_point, f.end_point):
        y, point = work.points[k], system.points[k]
        px, py, pn = ax - al * y.s[1] + y.gv[0], ay + al * y.s[0] + y.gv[1], al + y.gw[2]
        for j in range(f.m):
            edot, (lx, ly, lw) = modal_acceleration(f, flex, j), section_mode(point, flex, j)
            px, py, pn = px + edot * lx, py + edot * ly, pn + edot * lw
        # gravity may point out of the plane
        y.a[0], y.a[1], y.a[2], y.al[2] = px, py, body.a[2], pn

"""Sections of a flexible body: place, attitude, velocity and acceleration where joints, frames and forces sit.

Angles (bx, by, bz) of the section; its rotation is Rz Ry Rx, exact. u = Rz e_y, t = Rz Ry e_x: the axes of by and bx.
Lambda, six numbers per mode: velocity and angular velocity of the section per modal rate, body axes.
Numbers in brackets: docs/equations.md."""

from pliant.kernels._jit import kernel, routine
from pliant.kernels.algebra.trigonometry import cos_sin
from pliant.kernels.algebra.vec3 import add, cross, mat, matmul, mul, put, put_mat, scale, vec
from pliant.kernels.flexible.body import fourth_order_shortening, slopes_at
from pliant.kernels.flexible.pool import (
    modal_acceleration,
    modal_coordinate,
    modal_force,
    modal_rate,
    put_section_mode,
    section_mode,
    section_share,
    shape_angle,
    shape_value,
    shortening_at,
    station_slope,
)

STILL = (0.0, 0.0, 0.0)


@routine
def move_sections(system, work, f):
    """All sections of a body whose v, w are known. After update_modal_state."""
    for k in range(f.first_point, f.end_point):
        move_section(system, work, f, k)


@kernel
def section_angles(f, point, shapes, flex):
    """Theta_p d and Theta_p e, as (bx, by, bz) and their rates."""
    bx, by, bz, rx, ry, rz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(f.n_y):
        theta = shape_angle(point, shapes, j)
        bz, rz = bz + theta * modal_coordinate(f, flex, j), rz + theta * modal_rate(f, flex, j)
    for j in range(f.n_y, f.n_b):
        theta = shape_angle(point, shapes, j)
        by, ry = by + theta * modal_coordinate(f, flex, j), ry + theta * modal_rate(f, flex, j)
    for j in range(f.n_3, f.m):
        theta = shape_angle(point, shapes, j)
        bx, rx = bx + theta * modal_coordinate(f, flex, j), rx + theta * modal_rate(f, flex, j)
    return (bx, by, bz), (rx, ry, rz)


@kernel
def true_angles(f, angles, rates):
    """(F20): angles of the section where their sums are the slopes -z', y' of the axis, by the third order of these;
    derivatives (bz by y', bz by -z', by by -z'); rates, and second rates while those of the slopes do not change."""
    (bx, y, z), (rx, ry, rz) = angles, rates
    if f.n_k == 0:
        return angles, (1.0, 0.0, 1.0), rates, (0.0, 0.0)
    by_z, by_y, own = 1.0 + 0.5 * (z * z + y * y), z * y, 1.0 + 0.5 * y * y
    true = (bx, y + y**3 / 6.0, z + z**3 / 6.0 + 0.5 * z * y * y)
    second = (y * ry * ry, z * (rz * rz + ry * ry) + 2.0 * y * ry * rz)
    return true, (by_z, by_y, own), (rx, own * ry, by_z * rz + by_y * ry), second


@kernel
def section_rotation(f, angles):
    """(F12): Rz Ry Rx, u and t; no trigonometry for families of modes that are absent."""
    cz, sz = cos_sin(angles[2])
    R, u, t = (cz, -sz, 0.0, sz, cz, 0.0, 0.0, 0.0, 1.0), (-sz, cz, 0.0), (cz, sz, 0.0)
    if f.n_b > f.n_y:
        c, s = cos_sin(angles[1])
        R = matmul(R, (c, 0.0, s, 0.0, 1.0, 0.0, -s, 0.0, c))
        t = (cz * c, sz * c, -s)
    if f.m > f.n_3:
        c, s = cos_sin(angles[0])
        R = matmul(R, (1.0, 0.0, 0.0, 0.0, c, -s, 0.0, s, c))
    return R, u, t


@kernel
def put_section_modes(f, point, shapes, flex, u, t, slopes):
    """(F11, F12): columns of Lambda without shortening. slopes: derivatives of the angles (F20)."""
    bz_by_y, bz_by_z, by_by_z = slopes
    for j in range(f.n_y):
        angle = bz_by_y * shape_angle(point, shapes, j)
        put_section_mode(point, flex, j, (0.0, shape_value(point, shapes, j), 0.0), (0.0, 0.0, angle))
    for j in range(f.n_y, f.n_b):
        angle = shape_angle(point, shapes, j)
        angular = add(scale(by_by_z * angle, u), (0.0, 0.0, bz_by_z * angle))
        put_section_mode(point, flex, j, (0.0, 0.0, shape_value(point, shapes, j)), angular)
    for j in range(f.n_b, f.n_3):
        put_section_mode(point, flex, j, (shape_value(point, shapes, j), 0.0, 0.0), STILL)
    for j in range(f.n_3, f.m):
        put_section_mode(point, flex, j, STILL, scale(shape_angle(point, shapes, j), t))


@kernel
def section_place(f, point, shapes, flex):
    """(F11): s_p, S_p e and -e^T H_p e; shortening is put into Lambda."""
    sx, sy, sz, dx, dy, dz, fall = point.x, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(f.n_y):
        phi = shape_value(point, shapes, j)
        sy, dy = sy + phi * modal_coordinate(f, flex, j), dy + phi * modal_rate(f, flex, j)
    for j in range(f.n_y, f.n_b):
        phi = shape_value(point, shapes, j)
        sz, dz = sz + phi * modal_coordinate(f, flex, j), dz + phi * modal_rate(f, flex, j)
    for j in range(f.n_b, f.n_3):
        phi = shape_value(point, shapes, j)
        sx, dx = sx + phi * modal_coordinate(f, flex, j), dx + phi * modal_rate(f, flex, j)
    if f.n_r > 0:
        for j in range(f.n_b):
            d, e, Hd, He = modal_coordinate(f, flex, j), modal_rate(f, flex, j), 0.0, 0.0
            for l in range(f.n_b):
                H = shortening_at(f, point, shapes, j, l)
                Hd, He = Hd + H * modal_coordinate(f, flex, l), He + H * modal_rate(f, flex, l)
            sx, dx, fall = sx - 0.5 * d * Hd, dx - e * Hd, fall - e * He
            flex[point.Lambda + 6 * j] = -Hd
    for k in range(f.n_k):
        y, z, yd, zd = slopes_at(f, shapes, flex, k)
        value, by_y, by_z, rate, second = fourth_order_shortening(y, z, yd, zd)
        share = section_share(point, shapes, k)
        sx, dx, fall = sx - share * value, dx - share * rate, fall - share * second
        for j in range(f.n_b):
            flex[point.Lambda + 6 * j] -= share * (by_y if j < f.n_y else by_z) * station_slope(f, shapes, k, j)
    return (sx, sy, sz), (dx, dy, dz), fall


@kernel
def move_section(system, work, f, k):
    point, y, flex, shapes = system.points[k], work.points[k], work.flex, system.shapes
    v, w = vec(work.bodies[f.body].v), vec(work.bodies[f.body].w)
    angles, angle_rates = section_angles(f, point, shapes, flex)
    angles, slopes, (rx, ry, rz), (second_y, second_z) = true_angles(f, angles, angle_rates)
    R, u, t = section_rotation(f, angles)
    put_section_modes(f, point, shapes, flex, u, t, slopes)
    s, rate, fall = section_place(f, point, shapes, flex)
    # (F13)
    relative = add((0.0, 0.0, rz), add(scale(ry, u), scale(rx, t)))
    swept = cross(w, s)
    put(y.s, s)
    put_mat(y.R, R)
    put(y.v, add(v, add(swept, rate)))
    put(y.w, add(w, relative))
    # (F14)
    put(y.gv, add(cross(w, add(swept, scale(2.0, rate))), (fall, 0.0, 0.0)))
    # (F15), with e_z x u = -(cos bz, sin bz, 0)
    own = add(scale(-rz * ry, (u[1], -u[0], 0.0)), cross(add((0.0, 0.0, rz), scale(ry, u)), scale(rx, t)))
    own = add(own, add((0.0, 0.0, second_z), scale(second_y, u)))
    put(y.gw, add(cross(w, relative), own))


@routine
def accelerate_sections(system, work, f):
    """a, al of all sections of a body whose a, al and modal accelerations are known. After move_sections."""
    a, al = vec(work.bodies[f.body].a), vec(work.bodies[f.body].al)
    for k in range(f.first_point, f.end_point):
        y, point = work.points[k], system.points[k]
        a_p, al_p = add(a, add(cross(al, vec(y.s)), vec(y.gv))), add(al, vec(y.gw))
        for j in range(f.m):
            edot, (velocity, angular_velocity) = modal_acceleration(f, work.flex, j), section_mode(point, work.flex, j)
            a_p, al_p = add(a_p, scale(edot, velocity)), add(al_p, scale(edot, angular_velocity))
        put(y.a, a_p)
        put(y.al, al_p)


@kernel
def apply_section_wrench(system, work, k, force, moment):
    """(F16): add a wrench at section k (body axes) to the external wrench of its body and the forces on its modes."""
    point = system.points[k]
    f = system.flexes[point.flex]
    body, y, b = work.bodies[f.body], work.points[k], system.bodies[f.body]
    put(body.f, add(vec(body.f), force))
    put(body.n, add(vec(body.n), add(moment, cross(vec(y.s), force))))
    y.axial += force[0]
    for j in range(f.m):
        work.dofs[b.v + b.n_v + j].tau += modal_force(point, work.flex, j, force, moment)


@kernel
def section_offset(work, k, p):
    """An offset p from the axis, in axes of section k, as a vector in body axes."""
    return mul(mat(work.points[k].R), p)

"""Forward dynamics of a spherical chain, on the ground or in space, for many states at once: eight to a block.

The recursion of boltzmann_hamel_chain.py (K, k, A, B) on lanes. Only gravity and the given tau act: no springs,
dampers, loads, motors or limits of the model. Gravity is an upward acceleration of the world, which saves rotating it
into the axes of every body. A is factorised as L D L^T, without roots. Numbers in brackets: docs/equations.md.

    scratch = new_scratch(n_bodies)
    status = entry(spherical_batch)(Pinned(system).ref, q, v, tau, vdot, scratch)  # one row per state

The caller checks world.is_spherical_chain. SINGULAR: some state met a block that is not positive; its vdot means
nothing, those of the others stand."""

from typing import Any

from pliant.kernels._jit import BATCH, kernel
from pliant.kernels.algebra.lanes import WIDTH, is_positive, load, load3, same, store3
from pliant.kernels.algebra.sym3 import add_sym, mul_sym, rotate_sym, sym
from pliant.kernels.algebra.vec3 import add, cross, dot, mat, matmul, mul, mul_t, scale, sub, vec
from pliant.system.status import Status
from pliant.system.tables import JointKind
from pliant.system.work import room_for_lanes

# rows of scratch: q, v, tau of the block (tau becomes vdot), then per body R, w, factor of A, B, b
R_AT, W_AT, L_AT, B_AT, T_AT, BODY_ROWS = 0, 9, 12, 18, 27, 30


def new_scratch(n_bodies: int) -> Any:
    return room_for_lanes((4 * n_bodies + 3) + 2 * (3 * n_bodies + 3) + BODY_ROWS * n_bodies)


@kernel
def load_mat(table, i):
    a, b, c = load3(table, i), load3(table, i + 3), load3(table, i + 6)
    return (a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2])


@kernel
def read_block(states, first, table, at):
    """Columns of eight states as rows of scratch; beyond the last state it is repeated."""
    last = len(states) - 1
    for s in range(WIDTH):
        row = states[min(first + s, last)]
        for j in range(len(row)):
            table[at + j, s] = row[j]


@kernel
def write_block(table, at, first, states):
    for s in range(min(WIDTH, len(states) - first)):
        row = states[first + s]
        for j in range(len(row)):
            row[j] = table[at + j, s]


@kernel
def ball_rotation(table, i):
    """R_JB of the quaternions in rows i..i+3."""
    x, y, z, w = load(table, i), load(table, i + 1), load(table, i + 2), load(table, i + 3)
    s = 2.0 / (x * x + y * y + z * z + w * w)
    xx, yy, zz, xy, xz, yz = s * x * x, s * y * y, s * z * z, s * x * y, s * x * z, s * y * z
    xw, yw, zw = s * x * w, s * y * w, s * z * w
    return (1.0 - (yy + zz), xy - zw, xz + yw, xy + zw, 1.0 - (xx + zz), yz - xw, xz - yw, yz + xw, 1.0 - (xx + yy))


@kernel
def move_chain(bodies, table, v_at, body_at):
    """R and w of every body, from the root out."""
    w = (same(0.0), same(0.0), same(0.0))
    for i in range(len(bodies)):
        body, at = bodies[i], body_at + BODY_ROWS * i
        R = matmul(mat(body.R_PJ), ball_rotation(table, body.q + body.n_q - 4))
        w = add(mul_t(R, w), load3(table, v_at + body.v + body.n_v - 3))
        store3(table, at + R_AT, (R[0], R[1], R[2]))
        store3(table, at + R_AT + 3, (R[3], R[4], R[5]))
        store3(table, at + R_AT + 6, (R[6], R[7], R[8]))
        store3(table, at + W_AT, w)


@kernel
def factor(A):
    """A = L D L^T as (1/dx, l_yx, l_zx, 1/dy, l_zy, 1/dz), and whether all pivots are positive."""
    dx = 1.0 / A[0]
    yx, zx = A[1] * dx, A[2] * dx
    y = A[3] - yx * A[1]
    dy = 1.0 / y
    zy = (A[4] - zx * A[1]) * dy
    z = A[5] - zx * A[2] - zy * (A[4] - zx * A[1])
    is_ok = is_positive(A[0]) and is_positive(y) and is_positive(z)
    return (dx, yx, zx, dy, zy, 1.0 / z), is_ok


@kernel
def lower(l, a):
    """L^-1 a"""
    y = a[1] - l[1] * a[0]
    return (a[0], y, a[2] - l[2] * a[0] - l[4] * y)


@kernel
def divided(l, a):
    """D^-1 a"""
    return (a[0] * l[0], a[1] * l[3], a[2] * l[5])


@kernel
def upper(l, a):
    """L^-T a"""
    y = a[1] - l[4] * a[2]
    return (a[0] - l[1] * y - l[2] * a[2], y, a[2])


@kernel
def levered(K, d):
    """Rows of -K[d], and -[d]K[d]."""
    u, v, w = cross(d, (K[0], K[1], K[2])), cross(d, (K[1], K[3], K[4])), cross(d, (K[2], K[4], K[5]))
    xx, xy, xz = d[1] * w[0] - d[2] * v[0], d[1] * w[1] - d[2] * v[1], d[1] * w[2] - d[2] * v[2]
    yy, yz, zz = d[2] * u[1] - d[0] * w[1], d[2] * u[2] - d[0] * w[2], d[0] * v[2] - d[1] * u[2]
    return u, v, w, (xx, xy, xz, yy, yz, zz)


@kernel
def inward(bodies, table, tau_at, body_at):
    """K, k of the root (B8), and whether every A is positive."""
    zero, last, is_ok = same(0.0), len(bodies) - 1, True
    K, k, torque = (zero, zero, zero, zero, zero, zero), (zero, zero, zero), (zero, zero, zero)
    d = (0.0, 0.0, 0.0)
    for i in range(last, -1, -1):
        body, at = bodies[i], body_at + BODY_ROWS * i
        m, c, J, w = body.mass, vec(body.c), sym(body.J), load3(table, at + W_AT)
        tau = load3(table, tau_at + body.v + body.n_v - 3)
        k = add(k, mul_sym(K, cross(w, cross(w, d))))
        # (B10)
        b = add(cross(w, mul_sym(J, w)), add(cross(d, k), sub(torque, tau)))
        k = add(k, cross(w, cross(w, c)))
        # (B9)
        u, y, z, A = levered(K, d)
        l, is_good = factor(add_sym(A, J))
        is_ok = is_ok and is_good
        u = lower(l, add(u, (0.0, c[2], -c[1])))
        y = lower(l, add(y, (-c[2], 0.0, c[0])))
        z = lower(l, add(z, (c[1], -c[0], 0.0)))
        b = lower(l, b)
        store3(table, at + L_AT, (l[0], l[1], l[2]))
        store3(table, at + L_AT + 3, (l[3], l[4], l[5]))
        store3(table, at + B_AT, u)
        store3(table, at + B_AT + 3, y)
        store3(table, at + B_AT + 6, z)
        store3(table, at + T_AT, b)
        # (B11)
        U, Y, Z = divided(l, u), divided(l, y), divided(l, z)
        square = (-dot(U, u), -dot(U, y), -dot(U, z), -dot(Y, y), -dot(Y, z), -dot(Z, z))
        K = add_sym(add_sym(K, square), (m, 0.0, 0.0, m, 0.0, m))
        k = sub(k, (dot(U, b), dot(Y, b), dot(Z, b)))
        if i > 0:
            R = load_mat(table, at + R_AT)
            K, k, torque, d = rotate_sym(R, K), mul(R, k), mul(R, tau), vec(body.p_PJ)
    return K, k, is_ok


@kernel
def outward(bodies, table, v_at, tau_at, body_at, a):
    """(B12): from the root to the tip; vdot takes the place of tau."""
    wdot, w = (same(0.0), same(0.0), same(0.0)), (same(0.0), same(0.0), same(0.0))
    for i in range(len(bodies)):
        body, at = bodies[i], body_at + BODY_ROWS * i
        j = body.v + body.n_v - 3
        w_E = w
        if i > 0:
            R, d = load_mat(table, at + R_AT), vec(body.p_PJ)
            a = mul_t(R, add(a, add(cross(wdot, d), cross(w, cross(w, d)))))
            wdot, w_E = mul_t(R, wdot), mul_t(R, w)
        l0, l1 = load3(table, at + L_AT), load3(table, at + L_AT + 3)
        l = (l0[0], l0[1], l0[2], l1[0], l1[1], l1[2])
        B, b = load_mat(table, at + B_AT), load3(table, at + T_AT)
        x = add(b, mul_t(B, a))
        found = scale(-1.0, upper(l, divided(l, x)))
        # (B14)
        store3(table, tau_at + j, add(sub(found, wdot), cross(load3(table, v_at + j), w_E)))
        wdot, w = found, load3(table, at + W_AT)


@kernel
def root_acceleration(system, table, v_at, tau_at, body_at, K, k):
    """Acceleration of the root's origin minus gravity; in space by (B13)."""
    g = mul_t(load_mat(table, body_at + R_AT), vec(system.world[0].gravity))
    if system.bodies[0].kind != JointKind.FLOATING:
        return scale(-1.0, g), True
    l, is_ok = factor(K)
    x = lower(l, sub(load3(table, tau_at), k))
    a = upper(l, divided(l, x))
    store3(table, tau_at, sub(add(a, g), cross(load3(table, body_at + W_AT), load3(table, v_at))))
    return a, is_ok


@kernel(BATCH)
def spherical_batch(system, q, v, tau, vdot, scratch):
    bodies, world = system.bodies, system.world[0]
    v_at = world.n_q
    tau_at = v_at + world.n_v
    body_at = tau_at + world.n_v
    status = Status.OK
    for first in range(0, len(q), WIDTH):
        read_block(q, first, scratch, 0)
        read_block(v, first, scratch, v_at)
        read_block(tau, first, scratch, tau_at)
        move_chain(bodies, scratch, v_at, body_at)
        K, k, is_ok = inward(bodies, scratch, tau_at, body_at)
        a, is_good = root_acceleration(system, scratch, v_at, tau_at, body_at, K, k)
        outward(bodies, scratch, v_at, tau_at, body_at, a)
        write_block(scratch, tau_at, first, vdot)
        if not (is_ok and is_good):
            status = Status.SINGULAR
    return status

"""Boltzmann-Hamel equations of a spherical chain, on the ground or in space, solved in O(n) with 3x3 blocks.

Bodies i..n need at joint i the force K a + k, a the acceleration of the joint, and A w' + B a + b = 0 (B8 - B14).
R: mass centre; d: from this joint to the next. K', k': of the next body, in axes of this one.
Numbers in brackets: docs/equations.md, section Boltzmann-Hamel."""

from pliant.kernels._jit import kernel
from pliant.kernels.algebra.sym3 import add_sym, cholesky3, lower_solve, mul_sym, put_sym, rotate_sym, sym, upper_solve
from pliant.kernels.algebra.vec3 import add, cross, dot, mat, mul, mul_t, put, put_at, put_mat, scale, sub, vec
from pliant.kernels.kinematics.joints import ZERO
from pliant.system.tables import JointKind

ZERO_SYM = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@kernel
def ball_torque(dofs, body):
    """Gathered torque of a spherical or floating joint."""
    j = body.v + body.n_v - 3
    return (dofs[j].tau, dofs[j + 1].tau, dofs[j + 2].tau)


@kernel
def lever(K, d):
    """Rows of -K[d], and -[d]K[d]: what a mass K at the end of a lever d adds to B^T and A."""
    u = cross(d, (K[0], K[1], K[2]))
    v = cross(d, (K[1], K[3], K[4]))
    w = cross(d, (K[2], K[4], K[5]))
    xx, xy, xz = d[1] * w[0] - d[2] * v[0], d[1] * w[1] - d[2] * v[1], d[1] * w[2] - d[2] * v[2]
    yy, yz, zz = d[2] * u[1] - d[0] * w[1], d[2] * u[2] - d[0] * w[2], d[0] * v[2] - d[1] * u[2]
    return u, v, w, (xx, xy, xz, yy, yz, zz)


@kernel
def eliminate_rotation(body, scratch, K, k, d, b):
    """(B9, B11): K, k without the rotation of this body, whose A = L L^T, L^-1 B and L^-1 b are kept."""
    m, c = body.mass, vec(body.c)
    u0, u1, u2, A = lever(K, d)
    l = cholesky3(add_sym(sym(body.J), A))
    # columns of L^-1 B, from the rows of B^T = -m [R] - K'[d]
    y0 = lower_solve(l, add(u0, (0.0, c[2], -c[1])))
    y1 = lower_solve(l, add(u1, (-c[2], 0.0, c[0])))
    y2 = lower_solve(l, add(u2, (c[1], -c[0], 0.0)))
    y = lower_solve(l, b)
    put_sym(scratch.L, l)
    put(scratch.y, y)
    put_mat(scratch.Y, (y0[0], y1[0], y2[0], y0[1], y1[1], y2[1], y0[2], y1[2], y2[2]))
    square = (-dot(y0, y0), -dot(y0, y1), -dot(y0, y2), -dot(y1, y1), -dot(y1, y2), -dot(y2, y2))
    K = add_sym(add_sym(K, (m, 0.0, 0.0, m, 0.0, m)), square)
    return l[0] > 0.0, K, sub(k, (dot(y0, y), dot(y1, y), dot(y2, y)))


@kernel
def chain_inward(system, work):
    """From the tip to the root. Returns -1, or the body whose A is not positive; and K, k of the root."""
    bodies, moving = system.bodies, work.bodies
    last = len(bodies) - 1
    K, k, torque = ZERO_SYM, ZERO, ZERO
    for i in range(last, -1, -1):
        body, x = bodies[i], moving[i]
        scratch = x.boltzmann_hamel
        m, R, w = body.mass, vec(body.com), vec(x.w)
        tau = ball_torque(work.dofs, body)
        d = vec(moving[i + 1].o) if i < last else ZERO
        k = add(k, mul_sym(K, cross(w, cross(w, d))))
        F = scale(m, sub(cross(w, cross(w, R)), vec(scratch.g)))
        # (B10), external moment taken off
        b = add(add(cross(w, mul_sym(sym(body.I), w)), cross(R, F)), add(cross(d, k), sub(torque, add(tau, vec(x.n)))))
        k = add(k, sub(F, vec(x.f)))
        is_ok, K, k = eliminate_rotation(body, scratch, K, k, d, b)
        if not is_ok:
            return i, K, k
        if i > 0:
            K, k, torque = rotate_sym(mat(x.R), K), mul(mat(x.R), k), mul(mat(x.R), tau)
    return -1, K, k


@kernel
def chain_outward(system, work, a, vdot):
    """(B12, B14): from the root, whose origin accelerates by a, to the tip."""
    bodies, moving, wdot = system.bodies, work.bodies, ZERO
    for i in range(len(bodies)):
        body, x = bodies[i], moving[i]
        scratch = x.boltzmann_hamel
        if i > 0:
            R = mat(x.R)
            a = add(mul_t(R, add(a, cross(wdot, vec(x.o)))), vec(x.zv))
            wdot = mul_t(R, wdot)
        found = upper_solve(sym(scratch.L), scale(-1.0, add(mul(mat(scratch.Y), a), vec(scratch.y))))
        put_at(vdot, body.v + body.n_v - 3, sub(found, add(wdot, vec(x.zw))))
        wdot = found


@kernel
def solve_chain(system, work, vdot):
    """vdot; returns -1, or the body without a positive block."""
    failed, K, k = chain_inward(system, work)
    dofs, root, a = work.dofs, work.bodies[0], ZERO
    if system.bodies[0].kind == JointKind.FLOATING:
        # (B13)
        l = cholesky3(K)
        if failed < 0 and not l[0] > 0.0:
            failed = 0
        a = upper_solve(l, lower_solve(l, sub((dofs[0].tau, dofs[1].tau, dofs[2].tau), k)))
        put(vdot, sub(a, cross(vec(root.w), vec(root.v))))
    if failed < 0:
        chain_outward(system, work, a, vdot)
    return failed

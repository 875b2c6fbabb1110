"""Joint kinds: the one place that knows them. Placement, subspace S, velocity and S' u across a joint; rates of q.

S and all vectors in child axes unless the name says otherwise."""

from pliant.kernels._jit import kernel
from pliant.kernels.algebra.quaternion import (
    mean_rotated,
    quaternion_matrix,
    quaternion_rate,
    rotate_quaternion,
)
from pliant.kernels.algebra.trigonometry import cos_sin
from pliant.kernels.algebra.vec3 import add, add_mat, cross, mat, matmul, mul, put_at, scale, scale_mat, vec, vec_at
from pliant.system.tables import JointKind

ZERO = (0.0, 0.0, 0.0)
X = (1.0, 0.0, 0.0)
Y = (0.0, 1.0, 0.0)
Z = (0.0, 0.0, 1.0)


@kernel
def put_column(x, k, Sv, Sw):
    """Column k of the joint subspace."""
    put_at(x.Sv, 3 * k, Sv)
    put_at(x.Sw, 3 * k, Sw)


@kernel
def axis_rotation(body, angle):
    """R_PB after a rotation about the joint axis."""
    c, s = cos_sin(angle)
    return add_mat(add_mat(scale_mat(c, mat(body.R_cos)), scale_mat(s, mat(body.R_sin))), mat(body.R_one))


@kernel
def slide(body, shift):
    """o, in axes of the parent, after a shift along the joint axis."""
    return add(vec(body.p_PJ), mul(mat(body.R_PJ), scale(shift, vec(body.axis))))


@kernel
def cross_joint(body, x, q, v):
    """(R_PB, o in P, v_J, w_J, sd_v, sd_w) of one joint; fills the columns of S where there is more than one."""
    kind = body.kind
    i, j = body.q, body.v
    if kind == JointKind.REVOLUTE:
        return axis_rotation(body, q[i]), vec(body.p_PJ), ZERO, scale(v[j], vec(body.axis)), ZERO, ZERO
    if kind == JointKind.PRISMATIC:
        return mat(body.R_PJ), slide(body, q[i]), scale(v[j], vec(body.axis)), ZERO, ZERO, ZERO
    if kind == JointKind.SPHERICAL:
        R = matmul(mat(body.R_PJ), quaternion_matrix(q, i))
        return R, vec(body.p_PJ), ZERO, (v[j], v[j + 1], v[j + 2]), ZERO, ZERO
    if kind == JointKind.FIXED:
        return mat(body.R_PJ), vec(body.p_PJ), ZERO, ZERO, ZERO, ZERO
    return cross_wide_joint(body, x, q, v)


@kernel
def cross_wide_joint(body, x, q, v):
    """The kinds whose subspace is stored in work."""
    kind = body.kind
    i, j = body.q, body.v
    R_PJ, p_PJ = mat(body.R_PJ), vec(body.p_PJ)
    if kind == JointKind.FLOATING:
        put_column(x, 0, X, ZERO)
        put_column(x, 1, Y, ZERO)
        put_column(x, 2, Z, ZERO)
        put_column(x, 3, ZERO, X)
        put_column(x, 4, ZERO, Y)
        put_column(x, 5, ZERO, Z)
        R = matmul(R_PJ, quaternion_matrix(q, i + 3))
        o = add(p_PJ, mul(R_PJ, (q[i], q[i + 1], q[i + 2])))
        return R, o, (v[j], v[j + 1], v[j + 2]), (v[j + 3], v[j + 4], v[j + 5]), ZERO, ZERO
    if kind == JointKind.PLANAR:
        c, s = cos_sin(q[i + 2])
        put_column(x, 0, (c, -s, 0.0), ZERO)
        put_column(x, 1, (s, c, 0.0), ZERO)
        put_column(x, 2, ZERO, Z)
        R = matmul(R_PJ, (c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0))
        o = add(p_PJ, mul(R_PJ, (q[i], q[i + 1], 0.0)))
        v_J = (c * v[j] + s * v[j + 1], c * v[j + 1] - s * v[j], 0.0)
        w_J = (0.0, 0.0, v[j + 2])
        return R, o, v_J, w_J, scale(-1.0, cross(w_J, v_J)), ZERO
    if kind == JointKind.UNIVERSAL:
        (cx, sx), (cy, sy) = cos_sin(q[i]), cos_sin(q[i + 1])
        first = (cy, 0.0, sy)
        put_column(x, 0, ZERO, first)
        put_column(x, 1, ZERO, Y)
        R = matmul(R_PJ, (cy, 0.0, sy, sx * sy, cx, -sx * cy, -cx * sy, sx, cx * cy))
        w_J = add(scale(v[j], first), scale(v[j + 1], Y))
        return R, p_PJ, ZERO, w_J, ZERO, scale(v[j] * v[j + 1], (-sy, 0.0, cy))
    # cylindrical: shift, angle
    axis = vec(body.axis)
    put_column(x, 0, axis, ZERO)
    put_column(x, 1, ZERO, axis)
    o = add(p_PJ, mul(R_PJ, scale(q[i], axis)))
    return axis_rotation(body, q[i + 1]), o, scale(v[j], axis), scale(v[j + 1], axis), ZERO, ZERO


@kernel
def subspace_column(body, x, k):
    """Column k of the joint subspace as (sv, sw)."""
    if body.kind == JointKind.REVOLUTE:
        return ZERO, vec(body.axis)
    if body.kind == JointKind.PRISMATIC:
        return vec(body.axis), ZERO
    if body.kind == JointKind.SPHERICAL:
        return ZERO, (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)
    return vec_at(x.Sv, 3 * k), vec_at(x.Sw, 3 * k)


@kernel
def rates(system, q, v, qdot):
    """qdot of every joint."""
    if system.world[0].has_plain_rates:
        for j in range(len(v)):
            qdot[j] = v[j]
        return
    for k in range(len(system.bodies)):
        body = system.bodies[k]
        i, j = body.q, body.v
        if body.kind == JointKind.SPHERICAL:
            quaternion_rate(q, i, (v[j], v[j + 1], v[j + 2]), qdot)
        elif body.kind == JointKind.FLOATING:
            put_at(qdot, i, mul(quaternion_matrix(q, i + 3), (v[j], v[j + 1], v[j + 2])))
            quaternion_rate(q, i + 3, (v[j + 3], v[j + 4], v[j + 5]), qdot)
        else:
            for m in range(body.n_v):
                qdot[i + m] = v[j + m]
        if body.flex >= 0:
            for m in range(system.flexes[body.flex].m):
                qdot[i + body.n_q + m] = v[j + body.n_v + m]


@kernel
def move_along(system, q, w, q_new):
    """Every joint moved along constant velocities w for unit time; quasi-velocities on the curve they describe."""
    for k in range(len(system.bodies)):
        body = system.bodies[k]
        i, j = body.q, body.v
        if body.kind == JointKind.SPHERICAL:
            rotate_quaternion(q, i, (w[j], w[j + 1], w[j + 2]), q_new)
        elif body.kind == JointKind.FLOATING:
            rotation = (w[j + 3], w[j + 4], w[j + 5])
            way = mul(quaternion_matrix(q, i + 3), mean_rotated(rotation, (w[j], w[j + 1], w[j + 2])))
            put_at(q_new, i, add((q[i], q[i + 1], q[i + 2]), way))
            rotate_quaternion(q, i + 3, rotation, q_new)
        else:
            for m in range(body.n_v):
                q_new[i + m] = q[i + m] + w[j + m]
        if body.flex >= 0:
            for m in range(system.flexes[body.flex].m):
                q_new[i + body.n_q + m] = q[i + body.n_q + m] + w[j + body.n_v + m]

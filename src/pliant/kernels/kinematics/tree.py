"""Outward sweep: placements, velocities and bias accelerations of all bodies."""

from pliant.kernels._jit import kernel
from pliant.kernels.algebra.vec3 import add, cross, mat, matmul, mul, mul_t, put, put_mat, scale, vec
from pliant.kernels.kinematics.joints import ZERO, cross_joint, subspace_column


@kernel
def move(system, work, q, v):
    """R, o, v, w and z of every body, from the root out."""
    bodies = system.bodies
    for i in range(len(bodies)):
        body, x = bodies[i], work.bodies[i]
        R, o, v_J, w_J, sd_v, sd_w = cross_joint(body, x, q, v)
        put_mat(x.R, R)
        put(x.o, o)
        put(x.v_J, v_J)
        put(x.w_J, w_J)
        zv, zw = add(sd_v, cross(w_J, v_J)), sd_w
        if body.parent < 0:
            put(x.v, v_J)
            put(x.w, w_J)
        else:
            parent = work.bodies[body.parent]
            w_P = vec(parent.w)
            w_E = mul_t(R, w_P)
            sweep = cross(w_P, o)
            put(x.v, add(mul_t(R, add(vec(parent.v), sweep)), v_J))
            put(x.w, add(w_E, w_J))
            # z = w_E x (w_E x o) + 2 w_E x v_J + w_J x v_J + S' u
            zv = add(zv, add(mul_t(R, cross(w_P, sweep)), scale(2.0, cross(w_E, v_J))))
            zw = add(zw, cross(w_E, w_J))
        put(x.zv, zv)
        put(x.zw, zw)


@kernel
def place(system, work):
    """World placement of every body, after move."""
    for i in range(len(system.bodies)):
        parent, x = system.bodies[i].parent, work.bodies[i]
        if parent < 0:
            put_mat(x.R_WB, mat(x.R))
            put(x.p_WB, vec(x.o))
        else:
            y = work.bodies[parent]
            R = mat(y.R_WB)
            put_mat(x.R_WB, matmul(R, mat(x.R)))
            put(x.p_WB, add(vec(y.p_WB), mul(R, vec(x.o))))


@kernel
def frame_placement(system, work, k):
    """R_WF and p_WF of frame k, after place."""
    frame = system.frames[k]
    if frame.body < 0:
        return mat(frame.R_BF), vec(frame.p_BF)
    x = work.bodies[frame.body]
    R = mat(x.R_WB)
    return matmul(R, mat(frame.R_BF)), add(vec(x.p_WB), mul(R, vec(frame.p_BF)))


@kernel
def frame_velocity(system, work, k):
    """World velocity of the origin of frame k and angular velocity of its body, both in world axes, after place."""
    frame = system.frames[k]
    if frame.body < 0:
        return ZERO, ZERO
    x = work.bodies[frame.body]
    R, w = mat(x.R_WB), vec(x.w)
    return mul(R, add(vec(x.v), cross(w, vec(frame.p_BF)))), mul(R, w)


@kernel
def accelerate(system, work, vdot):
    """Acceleration of every body (gravity as an upward acceleration of the world) for the given vdot."""
    g = vec(system.world[0].gravity)
    for i in range(len(system.bodies)):
        body, x = system.bodies[i], work.bodies[i]
        R = mat(x.R)
        if body.parent < 0:
            a, al = mul_t(R, scale(-1.0, g)), ZERO
        else:
            parent = work.bodies[body.parent]
            al = vec(parent.al)
            a, al = mul_t(R, add(vec(parent.a), cross(al, vec(x.o)))), mul_t(R, al)
        for k in range(body.n_v):
            sv, sw = subspace_column(body, x, k)
            a, al = add(a, scale(vdot[body.v + k], sv)), add(al, scale(vdot[body.v + k], sw))
        put(x.a, add(a, vec(x.zv)))
        put(x.al, add(al, vec(x.zw)))


@kernel
def frame_acceleration(system, work, k):
    """Acceleration of the origin of frame k and angular acceleration of its body, both in world axes, after accelerate
    (which counts gravity as acceleration) and place."""
    frame, g = system.frames[k], vec(system.world[0].gravity)
    if frame.body < 0:
        return ZERO, ZERO
    x = work.bodies[frame.body]
    R, w, p = mat(x.R_WB), vec(x.w), vec(frame.p_BF)
    a = add(vec(x.a), add(cross(vec(x.al), p), cross(w, cross(w, p))))
    return add(mul(R, a), g), mul(R, vec(x.al))

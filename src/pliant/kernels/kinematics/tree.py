"""Outward sweeps: placements, velocities and bias accelerations, then accelerations, of all bodies.

Numbers in brackets: docs/equations.md."""

from pliant.kernels._jit import STATE, kernel
from pliant.kernels.algebra.vec3 import add, cross, mat, matmul, mul, mul_t, put, put_mat, scale, sub, vec
from pliant.kernels.flexible.body import update_modal_state
from pliant.kernels.flexible.pool import put_modal_acceleration
from pliant.kernels.flexible.sections import accelerate_sections, move_sections, section_offset
from pliant.kernels.kinematics.joints import ZERO, cross_joint, subspace_column
from pliant.kernels.kinematics.planar import (
    accelerate_planar,
    move_planar,
    place_planar,
    rotate,
    shift_rotated,
)

# numba sees the caller as a name of this module
call_state = STATE.call


@kernel
def carry(R, o, joint_motion, bias, carrier):
    """(K2, K3): (v, w) and z of a body that is carried with (v_P, w_P); of numbers, or of lanes. bias: the part of z
    that is known before."""
    (v_J, w_J), (zv, zw), (v_P, w_P) = joint_motion, bias, carrier
    # (K2)
    w_E = mul_t(R, w_P)
    swept = cross(w_P, o)
    motion = add(mul_t(R, add(v_P, swept)), v_J), add(w_E, w_J)
    # (K3)
    zv = add(zv, add(mul_t(R, cross(w_P, swept)), scale(2.0, cross(w_E, v_J))))
    return motion, (zv, add(zw, cross(w_E, w_J)))


@kernel
def move(system, work, q, v):
    """(K1): R, o, v, w and z of every body, from the root out; modal state and sections of flexible bodies."""
    if system.world[0].is_planar:
        # two calls, each with a constant: rigid bodies are not asked whether they bend
        if system.world[0].uses_planar:
            move_planar(system, work, q, v, False)
        else:
            move_planar(system, work, q, v, True)
        return
    bodies = system.bodies
    for i in range(len(bodies)):
        body, x = bodies[i], work.bodies[i]
        R, o, v_J, w_J, sd_v, sd_w = cross_joint(body, x, q, v)
        put(x.v_J, v_J)
        put(x.w_J, w_J)
        zv, zw = add(sd_v, cross(w_J, v_J)), sd_w
        if body.parent < 0:
            put(x.v, v_J)
            put(x.w, w_J)
            put(x.o, o)
        else:
            parent = work.bodies[body.parent]
            v_P, w_P = vec(parent.v), vec(parent.w)
            if body.point >= 0:
                section = work.points[body.point]
                R, o = matmul(mat(section.R), R), section_offset(work, body.point, o)
                v_P, w_P, gw = vec(section.v), vec(section.w), vec(section.gw)
                zv = add(zv, mul_t(R, add(vec(section.gv), cross(gw, o))))
                zw = add(zw, mul_t(R, gw))
                put(x.o, add(vec(section.s), o))
                put(x.o_E, o)
            else:
                put(x.o, o)
            motion, (zv, zw) = carry(R, o, (v_J, w_J), (zv, zw), (v_P, w_P))
            put(x.v, motion[0])
            put(x.w, motion[1])
        put_mat(x.R, R)
        put(x.zv, zv)
        put(x.zw, zw)
        if body.flex >= 0:
            f = system.flexes[body.flex]
            update_modal_state(system, work, f, q, v)
            move_sections(system, work, f)


@kernel
def place(system, work):
    """World placement of every body, after move."""
    if system.world[0].is_planar:
        place_planar(system, work)
        return
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


@kernel(STATE)
def move_and_place(system, work, t, q, v):
    """Both, behind an address."""
    move(system, work, q, v)
    place(system, work)
    return 0


@kernel
def place_at(system, work, q, v):
    """Kinematics of a state, by a call: inlined into every kernel that needs them they would take long to compile."""
    call_state(work.calls[0].place, (system, work, 0.0, q, v))


@kernel
def accelerate(system, work, vdot):
    """(K4): acceleration of every body (gravity as an upward acceleration of the world) for the given vdot."""
    if system.world[0].is_planar:
        if system.world[0].uses_planar:
            accelerate_planar(system, work, vdot, False)
        else:
            accelerate_planar(system, work, vdot, True)
        return
    g = vec(system.world[0].gravity)
    for i in range(len(system.bodies)):
        body, x = system.bodies[i], work.bodies[i]
        R = mat(x.R)
        if body.parent < 0:
            a, al = mul_t(R, scale(-1.0, g)), ZERO
        else:
            parent = work.bodies[body.parent]
            a, al, o = vec(parent.a), vec(parent.al), vec(x.o)
            if body.point >= 0:
                # z holds the section's own bias
                section = work.points[body.point]
                a, al, o = sub(vec(section.a), vec(section.gv)), sub(vec(section.al), vec(section.gw)), vec(x.o_E)
            a, al = mul_t(R, add(a, cross(al, o))), mul_t(R, al)
        for k in range(body.n_v):
            sv, sw = subspace_column(body, x, k)
            a, al = add(a, scale(vdot[body.v + k], sv)), add(al, scale(vdot[body.v + k], sw))
        put(x.a, add(a, vec(x.zv)))
        put(x.al, add(al, vec(x.zw)))
        if body.flex >= 0:
            f = system.flexes[body.flex]
            for j in range(f.m):
                put_modal_acceleration(f, work.flex, j, vdot[body.v + body.n_v + j])
            accelerate_sections(system, work, f)


@kernel
def frame_placement(system, work, k):
    """R_WF and p_WF of frame k, after place."""
    frame = system.frames[k]
    if frame.body < 0:
        return mat(frame.R_BF), vec(frame.p_BF)
    x = work.bodies[frame.body]
    R, R_BF, p = mat(x.R_WB), mat(frame.R_BF), vec(frame.p_BF)
    if frame.point >= 0:
        section = work.points[frame.point]
        R_BF, p = matmul(mat(section.R), R_BF), add(vec(section.s), section_offset(work, frame.point, p))
    return matmul(R, R_BF), add(vec(x.p_WB), mul(R, p))


@kernel
def planar_point(work, x, frame):
    """Place in its body and velocity of the origin of a frame on the body at x, and angular velocity; axes B."""
    px, py, vx, vy, w = frame.p_BF[0], frame.p_BF[1], x.v[0], x.v[1], x.w[2]
    if frame.point < 0:
        return (px, py), (vx - w * py, vy + w * px), w
    section = work.points[frame.point]
    px, py = rotate(section.R[0], section.R[3], px, py)
    vx, vy, w = section.v[0], section.v[1], section.w[2]
    return (section.s[0] + px, section.s[1] + py), (vx - w * py, vy + w * px), w


@kernel
def frame_state(system, work, k):
    """World place and velocity of the origin of frame k, and its angular velocity, after place."""
    frame = system.frames[k]
    if frame.body < 0:
        return vec(frame.p_BF), ZERO, ZERO
    x = work.bodies[frame.body]
    if system.world[0].is_planar:
        (px, py), (vx, vy), w = planar_point(work, x, frame)
        c, s = x.R_WB[0], x.R_WB[3]
        px, py = shift_rotated(x.p_WB[0], x.p_WB[1], c, s, px, py)
        vx, vy = rotate(c, s, vx, vy)
        return (px, py, x.p_WB[2] + frame.p_BF[2]), (vx, vy, 0.0), (0.0, 0.0, w)
    R, v, w, p, s = mat(x.R_WB), vec(x.v), vec(x.w), vec(frame.p_BF), ZERO
    if frame.point >= 0:
        section = work.points[frame.point]
        s, v, w, p = vec(section.s), vec(section.v), vec(section.w), section_offset(work, frame.point, p)
    return add(vec(x.p_WB), mul(R, add(s, p))), mul(R, add(v, cross(w, p))), mul(R, w)


@kernel
def frame_motion(system, work, k):
    """World place and velocity of the origin of frame k, after place."""
    p, v, _ = frame_state(system, work, k)
    return p, v


@kernel
def frame_velocity(system, work, k):
    """World velocity of the origin of frame k and its angular velocity, both in world axes, after place."""
    frame = system.frames[k]
    if frame.body < 0:
        return ZERO, ZERO
    x = work.bodies[frame.body]
    R, v, w, p = mat(x.R_WB), vec(x.v), vec(x.w), vec(frame.p_BF)
    if frame.point >= 0:
        section = work.points[frame.point]
        v, w, p = vec(section.v), vec(section.w), section_offset(work, frame.point, p)
    return mul(R, add(v, cross(w, p))), mul(R, w)


@kernel
def frame_acceleration(system, work, k):
    """Acceleration of the origin of frame k and its angular acceleration, both in world axes, after accelerate
    (which counts gravity as acceleration) and place."""
    frame, g = system.frames[k], vec(system.world[0].gravity)
    if frame.body < 0:
        return ZERO, ZERO
    x = work.bodies[frame.body]
    if system.world[0].uses_planar:
        c, s, w2, al_z = x.R_WB[0], x.R_WB[3], x.w[2] * x.w[2], x.al[2]
        dx, dy = c * frame.p_BF[0] - s * frame.p_BF[1], s * frame.p_BF[0] + c * frame.p_BF[1]
        ax, ay = c * x.a[0] - s * x.a[1] + g[0], s * x.a[0] + c * x.a[1] + g[1]
        return (ax - al_z * dy - w2 * dx, ay + al_z * dx - w2 * dy, 0.0), (0.0, 0.0, al_z)
    R, a, al, w, p = mat(x.R_WB), vec(x.a), vec(x.al), vec(x.w), vec(frame.p_BF)
    if frame.point >= 0:
        y = work.points[frame.point]
        a, al, w, p = vec(y.a), vec(y.al), vec(y.w), section_offset(work, frame.point, p)
    a = add(a, add(cross(al, p), cross(w, cross(w, p))))
    return add(mul(R, a), g), mul(R, al)

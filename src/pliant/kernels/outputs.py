"""Named outputs along recorded rows: motion of frames, reactions, forces in joints."""

from pliant.kernels._jit import ACCELERATION, RECORD, REFEREE, kernel
from pliant.kernels.algebra.vec3 import add, cross, mat, mul, put, put_mat, vec
from pliant.kernels.dynamics import impose_motion, prepare_bodies
from pliant.kernels.flexible.sections import section_offset
from pliant.kernels.forces.joints import ball_spring, limit_force, motor_force, seen_rate, set_phase, spring_force
from pliant.kernels.forces.loads import load_value
from pliant.kernels.inverse import accelerate
from pliant.kernels.kinematics.tree import frame_placement, frame_velocity, move, place
from pliant.system.status import Status
from pliant.system.tables import JointKind, Quantity

call_acceleration = ACCELERATION.call


@kernel
def frame_acceleration(system, work, k):
    """Acceleration of the origin of frame k, world axes, after accelerate (which counts gravity as acceleration)."""
    frame, g = system.frames[k], vec(system.world[0].gravity)
    if frame.body < 0:
        return (0.0, 0.0, 0.0)
    x = work.bodies[frame.body]
    a, al, w, p = vec(x.a), vec(x.al), vec(x.w), vec(frame.p_BF)
    if frame.point >= 0:
        y = work.points[frame.point]
        a, al, w, p = vec(y.a), vec(y.al), vec(y.w), section_offset(work, frame.point, p)
    a = add(a, add(cross(al, p), cross(w, cross(w, p))))
    return add(mul(mat(x.R_WB), a), g)


@kernel
def put_motion(system, work, k, out):
    """All of frame k on a body, world axes: R_WF, p, acceleration, spin, angular acceleration."""
    frame = system.frames[k]
    x = work.bodies[frame.body]
    al = vec(x.al) if frame.point < 0 else vec(work.points[frame.point].al)
    R, p = frame_placement(system, work, k)
    put_mat(out, R)
    put(out[9:], p)
    put(out[12:], frame_acceleration(system, work, k))
    put(out[15:], frame_velocity(system, work, k)[1])
    put(out[18:], mul(mat(x.R_WB), al))


@kernel
def put_attitude(R, out):
    """Quaternion x y z w of R, w >= 0, largest component first (Shepperd)."""
    trace = R[0] + R[4] + R[8]
    if trace >= R[0] and trace >= R[4] and trace >= R[8]:
        x, y, z, w = R[7] - R[5], R[2] - R[6], R[3] - R[1], 1.0 + trace
    elif R[0] >= R[4] and R[0] >= R[8]:
        x, y, z, w = 1.0 + 2.0 * R[0] - trace, R[1] + R[3], R[2] + R[6], R[7] - R[5]
    elif R[4] >= R[8]:
        x, y, z, w = R[1] + R[3], 1.0 + 2.0 * R[4] - trace, R[5] + R[7], R[2] - R[6]
    else:
        x, y, z, w = R[2] + R[6], R[5] + R[7], 1.0 + 2.0 * R[8] - trace, R[3] - R[1]
    s = 1.0 / (x * x + y * y + z * z + w * w) ** 0.5
    s = -s if w < 0.0 else s
    out[0], out[1], out[2], out[3] = s * x, s * y, s * z, s * w


@kernel
def joint_force(system, work, q, v, quantity, j):
    """One force of velocity j, by kind."""
    if quantity == Quantity.MOTOR:
        return motor_force(system, work, j)
    if quantity == Quantity.DRIVE:
        return work.dofs[j].drive
    if quantity == Quantity.DAMPER:
        return -system.dofs[j].damping * seen_rate(system, v, j)
    if quantity == Quantity.LIMIT:
        total = 0.0
        for k in range(len(system.limits)):
            if system.limits[k].dof == j:
                total += limit_force(system, work, q, v, k)
        return total
    body = system.bodies[system.dofs[j].body]
    if body.has_ball_spring:
        force, moment = ball_spring(system, body, q)
        k = j - body.v
        if body.kind == JointKind.SPHERICAL:
            k += 3
        return force[k] if k < 3 else moment[k - 3]
    return spring_force(system, q, j)


@kernel
def fill_output(system, work, q, v, output, out):
    """The columns of one output."""
    kind, i, c = output.quantity, output.index, output.column
    if kind == Quantity.POSITION:
        put(out[c:], frame_placement(system, work, i)[1])
    elif kind == Quantity.ATTITUDE:
        put_attitude(frame_placement(system, work, i)[0], out[c:])
    elif kind == Quantity.VELOCITY:
        put(out[c:], frame_velocity(system, work, i)[0])
    elif kind == Quantity.SPIN:
        put(out[c:], frame_velocity(system, work, i)[1])
    elif kind == Quantity.ACCELERATION:
        put(out[c:], frame_acceleration(system, work, i))
    elif kind == Quantity.REACTION:
        for k in range(6):
            out[c + k] = work.reaction[i, k]
    elif kind == Quantity.MOTION:
        put_motion(system, work, i, out[c:])
    elif kind == Quantity.LOAD:
        load = system.loads[i]
        put(out[c:], mul(mat(work.bodies[system.frames[load.frame].body].R_WB), load_value(system, work, load)))
    else:
        for k in range(output.count):
            out[c + k] = joint_force(system, work, q, v, kind, i + k)


@kernel(RECORD)
def record_outputs(system, work, t, q, v, inputs, outputs, out):
    """out[row] = all outputs of every row; stops at the first row whose accelerations cannot be found."""
    for row in range(len(t)):
        work.run[0].segment = t[row]
        for k in range(len(work.inputs)):
            work.inputs[k] = inputs[row, k]
        set_phase(system, work, q[row])
        if system.world[0].has_drives:
            impose_motion(system, work, t[row], q[row], v[row])
        prepare_bodies(system, work, t[row], q[row], v[row])
        place(system, work)
        status = call_acceleration(work.run[0].formulation, (system, work, q[row], v[row], work.vdot, work.reaction))
        if status != Status.OK:
            return status
        accelerate(system, work, work.vdot)
        for k in range(len(outputs)):
            fill_output(system, work, q[row], v[row], outputs[k], out[row])
    return Status.OK


@kernel(REFEREE)
def placements(system, work, q, v, out):
    """out[row] = R_WF (9) and p_WF (3) of every frame, for drawing."""
    for row in range(len(q)):
        move(system, work, q[row], v[row])
        place(system, work)
        for k in range(len(system.frames)):
            R, p = frame_placement(system, work, k)
            put_mat(out[row, 12 * k :], R)
            put(out[row, 12 * k + 9 :], p)
    return 0

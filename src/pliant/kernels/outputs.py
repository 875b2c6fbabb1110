"""Named outputs along recorded rows: motion of frames, reactions, forces in joints."""

import math

from pliant.kernels._jit import ACCELERATION, DERIVATIVE, QUERY, RECORD, STATE, kernel, routine
from pliant.kernels.algebra.vec3 import add, mat, mul, mul_t, put, put_mat, scale, vec
from pliant.kernels.closures.constraints import loop_wrench
from pliant.kernels.contact.follow_steps import forget
from pliant.kernels.contact.gather import load_states
from pliant.kernels.contact.geometry import measure
from pliant.kernels.contact.phase import count_contacts
from pliant.kernels.dynamics import impose_motion
from pliant.kernels.forces.joints import ball_spring, joint_deflection_rate, limit_force, motor_force, spring_force
from pliant.kernels.forces.loads import load_value
from pliant.kernels.forces.springs import spring_line, spring_tension
from pliant.kernels.forces.transmissions import transmission_torque
from pliant.kernels.kinematics.tree import (
    accelerate,
    frame_acceleration,
    frame_motion,
    frame_placement,
    frame_velocity,
    place,
    place_at,
)
from pliant.system.status import Status
from pliant.system.tables import JointKind, Quantity

call_state = STATE.call
call_acceleration = ACCELERATION.call
call_derivative = DERIVATIVE.call

IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@kernel
def put_motion(system, work, k, out):
    """All of frame k on a body, world axes: R_WF, p, acceleration, angular velocity, angular acceleration."""
    R, p = frame_placement(system, work, k)
    a, al = frame_acceleration(system, work, k)
    put_mat(out, R)
    put(out[9:], p)
    put(out[12:], a)
    put(out[15:], frame_velocity(system, work, k)[1])
    put(out[18:], al)


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
        return work.dofs[j].constraint_force
    if quantity == Quantity.DAMPER:
        return -system.dofs[j].damping * joint_deflection_rate(system, v, j)
    if quantity == Quantity.FRICTION:
        for k in range(len(system.joint_frictions)):
            if system.joint_frictions[k].dof == j:
                return work.joint_frictions[k].force
        return 0.0
    if quantity == Quantity.LIMIT:
        total = 0.0
        for k in range(len(system.limits)):
            if system.limits[k].dof == j:
                total += limit_force(system, work, q, v, k)
        return total
    if quantity == Quantity.TRANSMISSION:
        for k in range(len(system.transmissions)):
            if system.transmissions[k].link == j:
                return transmission_torque(system, work, system.transmissions[k], q, v)[0]
        return 0.0
    body = system.bodies[system.dofs[j].body]
    if body.has_ball_spring:
        force, moment = ball_spring(system, work, body, q)
        k = j - body.v
        if body.kind == JointKind.SPHERICAL:
            k += 3
        return force[k] if k < 3 else moment[k - 3]
    return spring_force(system, q, j)


@kernel
def fill_contact(system, work, k, out):
    """Normal force and tangential force (world axes) of contact row k."""
    x, phase = work.contacts[k], work.phase[system.contacts[k].phase]
    out[0] = x.normal_force if phase.is_active else 0.0
    put(out[1:], vec(x.tangential) if phase.is_active else (0.0, 0.0, 0.0))


@kernel
def fill_spring(system, work, k, out):
    """Tension, length and its rate of spring k."""
    spring = system.springs[k]
    length, rate, _ = spring_line(system, work, spring)
    out[0], out[1], out[2] = spring_tension(system, work, spring, length, rate)[0], length, rate


@kernel
def fill_pull(system, work, k, out):
    """Force of spring k on its first end, and both ends; world."""
    spring = system.springs[k]
    length, rate, u = spring_line(system, work, spring)
    put(out, scale(spring_tension(system, work, spring, length, rate)[0], u))
    put(out[3:], frame_motion(system, work, spring.start)[0])
    put(out[6:], frame_motion(system, work, spring.end)[0])


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
    elif kind == Quantity.ANGULAR_VELOCITY:
        put(out[c:], frame_velocity(system, work, i)[1])
    elif kind == Quantity.ACCELERATION:
        put(out[c:], frame_acceleration(system, work, i)[0])
    elif kind == Quantity.REACTION:
        R = mat(work.bodies[i].R_WB) if output.in_world else IDENTITY
        put(out[c:], mul(R, vec(work.reaction[i])))
        put(out[c + 3 :], mul(R, vec(work.reaction[i, 3:])))
    elif kind == Quantity.CONTACT:
        for k in range(output.count // 4):
            fill_contact(system, work, i + k, out[c + 4 * k :])
    elif kind == Quantity.GAP:
        for k in range(output.count):
            out[c + k] = measure(system, work, i + k)[0]
    elif kind == Quantity.LOOP:
        R = IDENTITY if output.in_world else frame_placement(system, work, system.loops[i].second)[0]
        force, couple, _ = loop_wrench(work, system.loops[i])
        put(out[c:], mul_t(R, force))
        put(out[c + 3 :], mul_t(R, couple))
    elif kind == Quantity.LINE:
        fill_spring(system, work, i, out[c:])
    elif kind == Quantity.PULL:
        fill_pull(system, work, i, out[c:])
    elif kind == Quantity.MOTION:
        put_motion(system, work, i, out[c:])
    elif kind == Quantity.LOAD:
        load = system.loads[i]
        put(out[c:], mul(mat(work.bodies[system.frames[load.frame].body].R_WB), load_value(system, work, load)))
    elif kind == Quantity.PUSH:
        _, _, n, location = measure(system, work, i)
        x = work.contacts[i]
        acts = work.phase[system.contacts[i].phase].is_active
        force = add(scale(x.normal_force, n), vec(x.tangential)) if acts else (0.0, 0.0, 0.0)
        put(out[c:], force)
        put(out[c + 3 :], location)
    else:
        for k in range(output.count):
            out[c + k] = joint_force(system, work, q, v, kind, i + k)


@routine
def prepare_row(system, work, t, y, inputs):
    """Forces of a recorded row, in the phase of work; those of friction pairs at rest are not known yet."""
    n_q, n_v = system.world[0].n_q, system.world[0].n_v
    q, v = y[:n_q], y[n_q : n_q + n_v]
    work.run[0].segment = t
    for k in range(len(work.inputs)):
        work.inputs[k] = inputs[k]
    load_states(system, work, y)
    if system.world[0].has_prescribed:
        impose_motion(system, work, t, q, v)
    call_state(work.calls[0].prepare, (system, work, t, q, v))
    place(system, work)


@routine
def look_at_row(system, work, t, y, inputs):
    """Forces, accelerations and reactions of a recorded row, in the phase of work."""
    n_q, n_v = system.world[0].n_q, system.world[0].n_v
    prepare_row(system, work, t, y, inputs)
    forget(work, 0, work.run[0].n_sticking)  # a row depends on no other
    q, v = y[:n_q], y[n_q : n_q + n_v]
    return call_acceleration(work.calls[0].solve, (system, work, q, v, work.vdot, work.reaction))


@kernel(RECORD)
def record_normal_forces(system, work, t, y, inputs, outputs, out):
    """out[row] = normal forces of all contacts; they need no accelerations."""
    count_contacts(system, work)
    for row in range(len(t)):
        prepare_row(system, work, t[row], y[row], inputs[row])
        for k in range(len(system.contacts)):
            out[row, k] = work.contacts[k].normal_force if work.phase[system.contacts[k].phase].is_active else 0.0
    return Status.OK


@kernel(RECORD)
def record_outputs(system, work, t, y, inputs, outputs, out):
    """out[row] = all outputs of every row; stops at the first row whose accelerations cannot be found."""
    n_q, n_v = system.world[0].n_q, system.world[0].n_v
    count_contacts(system, work)
    for row in range(len(t)):
        q, v = y[row, :n_q], y[row, n_q : n_q + n_v]
        status = look_at_row(system, work, t[row], y[row], inputs[row])
        if status != Status.OK:
            return status
        accelerate(system, work, work.vdot)
        for k in range(len(outputs)):
            fill_output(system, work, q, v, outputs[k], out[row])
    return Status.OK


@kernel(QUERY)
def placements(system, work, q, v, out):
    """out[row] = R_WF (9) and p_WF (3) of every frame, for drawing."""
    for row in range(len(q)):
        place_at(system, work, q[row], v[row])
        for k in range(len(system.frames)):
            R, p = frame_placement(system, work, k)
            put_mat(out[row, 12 * k :], R)
            put(out[row, 12 * k + 9 :], p)
    return 0


@kernel(RECORD)
def record_rates(system, work, t, y, inputs, outputs, out):
    """out[row] = ydot of every row, in the phase of work; NaN where accelerations cannot be found."""
    run = work.run[0]
    count_contacts(system, work)
    for row in range(len(t)):
        run.segment = t[row]
        for k in range(len(work.inputs)):
            work.inputs[k] = inputs[row, k]
        forget(work, 0, run.n_sticking)
        if call_derivative(work.calls[0].derivative, (system, work, t[row], y[row], out[row])) != Status.OK:
            for k in range(out.shape[1]):
                out[row, k] = math.nan
    return Status.OK

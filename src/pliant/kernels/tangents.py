"""What stiff forces of a semi-implicit stage add to M and to the right side (A15 - A17 in docs/equations.md).

    (M + a h D + (a h)^2 K) k_v = Q(q, v) - K dq - D dv
K, D: slopes of forces at the explicit point, none below 0; dq, dv (work.changes): from there to the implicit point as
far as that is known, dq as velocities. Stiffness and damping of joints and stops are armatures, those of beams modal
inertia (formulations/articulated_modes.py), contacts with the world masses at their points
(formulations/articulated_contacts.py), motors behind flexible joints are eliminated (compliance.py); what else is stiff
becomes a row there. Whatever is left out stays explicit: K and D decide on stability, not on the order."""

from pliant.kernels._jit import STATE, kernel, routine
from pliant.kernels.algebra.quaternion import quaternion_change, quaternion_matrix
from pliant.kernels.algebra.vec3 import add, cross, dot, mat, mul_t, scale, sub, vec
from pliant.kernels.contact.geometry import measure
from pliant.kernels.contact.normal import normal_tangents
from pliant.kernels.flexible.pool import damping, stiffness
from pliant.kernels.forces.apply import apply_force
from pliant.kernels.forces.elastic import elastic_slope
from pliant.kernels.forces.joints import limit_force
from pliant.kernels.forces.springs import spring_line, spring_tension
from pliant.kernels.forces.transmissions import transmission_torque, twist
from pliant.kernels.formulations.articulated_contacts import moving_frame
from pliant.kernels.kinematics.columns import add_row
from pliant.kernels.kinematics.tree import accelerate, frame_motion
from pliant.system.tables import JointKind
from pliant.system.work import ROW_FORCE, ROW_MASS, Q, V

call_state = STATE.call  # numba sees it as a name of this module


@routine
def put_changes(system, work, y, y_hat, step):
    """dq = S(q)^+ (q_hat - q) + a h v_hat, dv = v_hat - v; none of what is prescribed."""
    n_q, n_v, changes = system.world[0].n_q, system.world[0].n_v, work.changes
    for j in range(n_v):
        i = system.dofs[j].q
        changes[Q, j] = y_hat[i] - y[i] if i >= 0 else 0.0
    for k in range(len(system.bodies) if not system.world[0].has_plain_rates else 0):
        put_quaternion_change(system.bodies[k], y, y_hat, changes[Q])
    for j in range(n_v):
        is_free = 0.0 if work.dofs[j].is_prescribed else 1.0
        changes[Q, j] = is_free * (changes[Q, j] + step * y_hat[n_q + j])
        changes[V, j] = is_free * (y_hat[n_q + j] - y[n_q + j])


@kernel
def put_quaternion_change(body, y, y_hat, change):
    """Of a ball or floating joint."""
    i, j = body.q, body.v
    if body.kind == JointKind.FLOATING:
        way = mul_t(quaternion_matrix(y, i + 3), (y_hat[i] - y[i], y_hat[i + 1] - y[i + 1], y_hat[i + 2] - y[i + 2]))
        change[j], change[j + 1], change[j + 2] = way
        i, j = i + 3, j + 3
    if body.kind == JointKind.SPHERICAL or body.kind == JointKind.FLOATING:
        change[j], change[j + 1], change[j + 2] = quaternion_change(y, i, y_hat)


# --- blocks of M ----------------------------------------------------------------------------------------------------


@kernel
def add_armature(work, j, k, c, step):
    """Slopes k, c of a force along velocity j."""
    work.dofs[j].tau -= k * work.changes[Q, j] + c * work.changes[V, j]
    if not work.dofs[j].is_prescribed:
        work.dofs[j].armature += step * (c + step * k)


@kernel
def add_joint_tangents(system, work, j, k, c, step):
    """Of a force between the two sections that meet in a joint: where the first section tilts with modes, a row."""
    dof = system.dofs[j]
    if dof.tilt < 0:
        add_armature(work, j, k, c, step)
        return
    row = new_row(work)
    if row >= 0:
        add_joint_row(system, work, j, 1.0, row)
        end_row(work, row, k, c, step)


@kernel
def ball_stiffness(system, body, q, k):
    """Diagonal of K along velocity k of a ball or floating joint: k of rotations, R^T k R of translations."""
    j = body.v
    if body.kind == JointKind.SPHERICAL or k >= 3:
        return system.dofs[j + k].stiffness
    R, total = quaternion_matrix(q, body.q + 3), 0.0
    for i in range(3):
        e = R[k] if i == 0 else R[3 + k] if i == 1 else R[6 + k]
        total += e * e * system.dofs[j + i].stiffness
    return total


@routine
def add_joints(system, work, q, v, step):
    """Springs and dampers of joints, and stops that are pressed."""
    for i in range(len(system.bodies)):
        body = system.bodies[i]
        for l in range(body.n_v):
            j = body.v + l
            dof = system.dofs[j]
            if dof.stiffness != 0.0 or dof.damping != 0.0:
                k = ball_stiffness(system, body, q, l) if body.has_ball_spring else dof.stiffness
                add_joint_tangents(system, work, j, k, dof.damping, step)
    for i in range(len(system.limits)):
        limit = system.limits[i]
        if limit_force(system, work, q, v, i) != 0.0:
            add_joint_tangents(system, work, limit.dof, limit.stiffness, limit.damping, step)


@routine
def add_beams(system, work):
    """-K dq - D dv of all beams; their blocks of M are added where those are made."""
    shapes = system.shapes
    for i in range(len(system.flexes)):
        f = system.flexes[i]
        first = system.bodies[f.body].v + system.bodies[f.body].n_v
        dq, dv = work.changes[Q, first:], work.changes[V, first:]
        for j in range(f.m):
            total = 0.0
            for l in range(f.m):
                total += stiffness(f, shapes, j, l) * dq[l] + damping(f, shapes, j, l) * dv[l]
            work.dofs[first + j].tau -= total


@routine
def add_transmissions(system, work, q, v, step):
    """Flexible joints: shares of motors that move by themselves, rows of all others. After add_joints."""
    for i in range(len(system.transmissions)):
        row = system.transmissions[i]
        work.rotor_shares[i] = 0.0
        torque, _ = transmission_torque(system, work, row, q, v)
        if row.phase >= 0 and torque == 0.0:
            continue
        s = twist(system, row, q)
        if row.phase >= 0:
            s -= row.half_backlash if torque > 0.0 else -row.half_backlash
        k, c = elastic_slope(row, system.pool, s), row.damping
        mass = step * (c + step * k)
        motor, link = work.dofs[row.motor], work.dofs[row.link]
        if is_apart(system, work, row):
            # (A17), the armatures of motor and link
            force = k * (work.changes[Q, row.motor] - work.changes[Q, row.link])
            force += c * (work.changes[V, row.motor] - work.changes[V, row.link])
            motor.tau -= force
            link.tau += force
            share = mass / (motor.armature + mass)
            work.rotor_shares[i] = share
            link.armature += share * motor.armature
            motor.armature += mass
            continue
        index = new_row(work)
        if index >= 0:
            add_joint_row(system, work, row.motor, 1.0, index)
            add_joint_row(system, work, row.link, -1.0, index)
            end_row(work, index, k, c, step)


@kernel
def is_apart(system, work, transmission):
    """Whether its motor has no inertia but its armature, and nothing but its angle takes part."""
    motor, link = transmission.motor, transmission.link
    is_rotor = system.bodies[system.dofs[motor].body].is_rotor
    is_free = not work.dofs[motor].is_prescribed and not work.dofs[link].is_prescribed
    return is_rotor and is_free and system.dofs[motor].tilt < 0 and system.dofs[link].tilt < 0


@routine
def add_contacts(system, work, q, step):
    """(A16): masses of contacts with the world, rows of those between two bodies. k_v is not known yet: what the
    recursion multiplies a mass with besides, bias, gravity and prescribed accelerations, is given back."""
    for k in range(len(system.contacts)):
        work.contacts[k].mass = 0.0
    if work.run[0].n_touching == 0:
        return
    for j in range(len(work.dofs)):
        work.vdot[j] = work.dofs[j].motion_vdot if work.dofs[j].is_prescribed else 0.0
    accelerate(system, work, work.vdot)
    for k in range(len(system.contacts)):
        contact = system.contacts[k]
        phase = work.phase[contact.phase]
        if not phase.is_active:
            continue
        gap, u, n, location = measure(system, work, k)
        stiff, damped = normal_tangents(contact, phase, -gap, -dot(n, u))
        mass = step * (damped + step * stiff)
        if not mass > 0.0:
            continue
        has_two = system.frames[contact.frame].body >= 0 and system.frames[contact.plane].body >= 0
        row = new_row(work) if has_two else 0
        if row < 0:
            continue
        # of contacts with the world the row is scratch: their mass does what it would
        J = work.compliant_jacobian[row] if has_two else work.vdot
        clear(J)
        add_row(system, work, contact.frame, location, n, J)
        add_row(system, work, contact.plane, location, scale(-1.0, n), J)
        if has_two:
            end_row(work, row, stiff, damped, step)
            continue
        work.contacts[k].mass = mass
        frame = moving_frame(system, contact)
        x = work.bodies[system.frames[frame].body]
        R = mat(x.R_WB)
        a, r = vec(x.a), mul_t(R, sub(location, vec(x.p_WB)))
        if system.world[0].is_planar:
            n = (n[0], n[1], 0.0)
        given_back = mass * dot(mul_t(R, n), add(a, cross(vec(x.al), r)))
        sign = 1.0 if frame == contact.frame else -1.0
        force = given_back - sign * (stiff * product(J, work.changes[Q]) + damped * product(J, work.changes[V]))
        apply_force(system, work, frame, scale(force, n), location)


# --- rows -----------------------------------------------------------------------------------------------------------


@kernel
def clear(x):
    for j in range(x.shape[0]):
        x[j] = 0.0


@kernel
def product(x, y):
    total = 0.0
    for j in range(x.shape[0]):
        total += x[j] * y[j]
    return total


@kernel
def new_row(work):
    """A row of work.compliant_jacobian, cleared; -1: there is none left."""
    row = work.run[0].n_rows
    if row >= work.compliant_jacobian.shape[0]:
        return -1
    clear(work.compliant_jacobian[row])
    return row


@kernel
def end_row(work, row, k, c, step):
    """Slopes k, c of the force along a row; it counts if they are not 0."""
    J, mass = work.compliant_jacobian[row], step * (c + step * k)
    if not mass > 0.0:
        return
    for j in range(J.shape[0]):
        if work.dofs[j].is_prescribed:
            J[j] = 0.0
    work.compliant_forces[ROW_MASS, row] = mass
    work.compliant_forces[ROW_FORCE, row] = k * product(J, work.changes[Q]) + c * product(J, work.changes[V])
    work.run[0].n_rows = row + 1


@kernel
def add_joint_row(system, work, j, sign, row):
    """Deflection of joint velocity j, with what modes tilt."""
    dof, J = system.dofs[j], work.compliant_jacobian[row]
    J[j] += sign
    if dof.tilt >= 0:
        body = system.bodies[dof.body]
        for k in range(system.flexes[body.flex].m):
            J[body.v + body.n_v + k] += sign * system.shapes[dof.tilt + k]


@routine
def add_springs(system, work, step):
    """Springs between two places, along their lines."""
    for i in range(len(system.springs)):
        spring = system.springs[i]
        length, rate, u = spring_line(system, work, spring)
        tension, _, _ = spring_tension(system, work, spring, length, rate)
        if spring.sense != 0 and tension == 0.0:
            continue
        row = new_row(work)
        if row >= 0:
            J = work.compliant_jacobian[row]
            start, _ = frame_motion(system, work, spring.start)
            end, _ = frame_motion(system, work, spring.end)
            add_row(system, work, spring.end, end, u, J)
            add_row(system, work, spring.start, start, scale(-1.0, u), J)
            end_row(work, row, elastic_slope(spring, system.pool, length - spring.length), spring.damping, step)


@routine
def add_tangents(system, work, q, v):
    """All of them; kinematics are done and forces are gathered."""
    step, work.run[0].n_rows = work.run[0].implicit_step, 0
    for j in range(len(work.dofs)):
        work.dofs[j].armature = system.dofs[j].armature
    if system.world[0].has_joint_forces:
        add_joints(system, work, q, v, step)
    add_transmissions(system, work, q, v, step)
    add_beams(system, work)
    add_contacts(system, work, q, step)
    add_springs(system, work, step)
    if work.calls[0].loop_tangents != 0:
        call_state(work.calls[0].loop_tangents, (system, work, 0.0, q, v))

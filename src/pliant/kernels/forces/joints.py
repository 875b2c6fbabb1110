"""Forces along the velocities of joints: springs, dampers, motors, limits; and their powers."""

import math

from pliant.kernels._jit import kernel
from pliant.kernels.algebra.quaternion import quaternion_matrix, signed_rotation_vector
from pliant.kernels.algebra.vec3 import add, cross, dot, mul_t, scale
from pliant.system.tables import JointKind, Power

AT_PI = 1e-9  # of w, the cosine of half the rotation: an attitude given as pi is so near to it by rounding


# --- one velocity: of numbers, or of lanes ----------------------------------------------------------------------------


@kernel
def elastic_force(dof, deflection):
    return -dof.stiffness * (deflection - dof.rest)


@kernel
def add_damper(dof, rate, force, power):
    """Force on a velocity and power of all dampers, with its own."""
    return force - dof.damping * rate, power - dof.damping * rate * rate


@kernel
def add_motor(torque, rate, force, power):
    """Force on a velocity and power of all motors, with its own."""
    return force + torque, power + torque * rate


# --- all velocities -------------------------------------------------------------------------------------------------


@kernel
def motor_force(system, work, j):
    """Motor torque on the joint side: gear times (signal + held command)."""
    dof = system.dofs[j]
    torque = 0.0
    if dof.motor >= 0:
        torque += work.signals[dof.motor].s
    if dof.input >= 0:
        torque += work.inputs[dof.input]
    return dof.gear * torque


@kernel
def joint_deflection(system, q, j):
    """Deflection between the two sections that meet: coordinate of velocity j, and the tilt of a flexible child's first
    section. Springs and limits act on it."""
    dof = system.dofs[j]
    angle = q[dof.q]
    if dof.tilt >= 0:
        body = system.bodies[dof.body]
        for k in range(system.flexes[body.flex].m):
            angle += system.shapes[dof.tilt + k] * q[body.q + body.n_q + k]
    return angle


@kernel
def joint_deflection_rate(system, v, j):
    """Rate of joint_deflection. Dampers, motors and friction act on it."""
    dof = system.dofs[j]
    rate = v[j]
    if dof.tilt >= 0:
        body = system.bodies[dof.body]
        for k in range(system.flexes[body.flex].m):
            rate += system.shapes[dof.tilt + k] * v[body.v + body.n_v + k]
    return rate


@kernel
def spring_force(system, q, j):
    """Spring of a velocity that is the rate of a coordinate."""
    dof = system.dofs[j]
    return elastic_force(dof, joint_deflection(system, q, j)) if dof.q >= 0 else 0.0


@kernel
def add_joint_force(system, work, j, force):
    """A force between the two sections that meet: on velocity j, and on the modes that tilt the first section."""
    work.dofs[j].tau += force
    dof = system.dofs[j]
    if dof.tilt >= 0:
        body = system.bodies[dof.body]
        for k in range(system.flexes[body.flex].m):
            work.dofs[body.v + body.n_v + k].tau += system.shapes[dof.tilt + k] * force


@kernel
def limit_force(system, work, q, v, k):
    """Compliant stop k: pushes back while its phase is on, never pulls."""
    limit = system.limits[k]
    if not work.phase[limit.phase].is_active:
        return 0.0
    side = limit.side
    depth = side * (joint_deflection(system, q, limit.dof) - limit.bound)
    return -side * max(
        0.0, limit.stiffness * depth + limit.damping * side * joint_deflection_rate(system, v, limit.dof)
    )


@kernel
def set_limit_phase(system, work, q):
    """Which stops are pressed."""
    for k in range(len(system.limits)):
        limit = system.limits[k]
        depth = limit.side * (joint_deflection(system, q, limit.dof) - limit.bound)
        work.phase[limit.phase].is_active = depth > 0.0 and not limit.is_hard


@kernel
def ball_spring(system, work, body, q):
    """(force, moment) of a spring on a floating or spherical joint, child axes: V = 1/2 x^T k x + 1/2 phi^T k phi.

    phi' = J^-1(phi) w for the rotation vector phi, so the moment is -J^-T k phi, with
    J^-T m = m - 1/2 phi x m + c phi x (phi x m). Where the rotation passes pi, phi changes its sign: V is continuous,
    the moment is not. The sign is part of the phase, so that a step goes on smoothly beyond."""
    j = body.v
    force = (0.0, 0.0, 0.0)
    i = body.q
    if body.kind == JointKind.FLOATING:
        pull = (
            -system.dofs[j].stiffness * q[i],
            -system.dofs[j + 1].stiffness * q[i + 1],
            -system.dofs[j + 2].stiffness * q[i + 2],
        )
        i, j = i + 3, j + 3
        force = mul_t(quaternion_matrix(q, i), pull)
    phi = signed_rotation_vector(q, i, work.phase[body.ball_phase].sense if body.ball_phase >= 0 else 1.0)
    m = (
        -system.dofs[j].stiffness * phi[0],
        -system.dofs[j + 1].stiffness * phi[1],
        -system.dofs[j + 2].stiffness * phi[2],
    )
    phi_x_m = cross(phi, m)
    moment = add(m, add(scale(-0.5, phi_x_m), scale(inverse_jacobian_term(dot(phi, phi)), cross(phi, phi_x_m))))
    return force, moment


@kernel
def scalar_part(body):
    """Coordinate that is w of the quaternion of a floating or spherical joint."""
    return body.q + (6 if body.kind == JointKind.FLOATING else 3)


@kernel
def scalar_rate(body, q, v):
    """w' of that quaternion."""
    i, j = scalar_part(body), body.v + (3 if body.kind == JointKind.FLOATING else 0)
    return -0.5 * (q[i - 3] * v[j] + q[i - 2] * v[j + 1] + q[i - 1] * v[j + 2])


@kernel
def set_ball_phase(system, work, q, v):
    """On which side of pi rotations are that stretch a spring; at pi: to which they go."""
    for i in range(len(system.bodies) if system.world[0].has_ball_springs else 0):
        body = system.bodies[i]
        if body.ball_phase >= 0:
            w, wdot = q[scalar_part(body)], scalar_rate(body, q, v)
            is_negative = wdot < 0.0 if abs(w) < AT_PI and wdot != 0.0 else w < 0.0
            work.phase[body.ball_phase].sense = -1.0 if is_negative else 1.0


@kernel
def inverse_jacobian_term(x):
    """c(phi) = 1/phi^2 - (1 + cos phi)/(2 phi sin phi) of x = phi^2; 1/12 + phi^2/720 + .. near zero."""
    if x < 1e-4:
        return 1.0 / 12.0 + x * (1.0 / 720.0 + x / 30240.0)
    angle = math.sqrt(x)
    # (1 + cos a)/sin a = cot(a/2)
    return 1.0 / x - 0.5 / (angle * math.tan(0.5 * angle))


@kernel
def gather_joint_forces(system, work, q, v):
    """tau of every velocity and the powers of motors, dampers and limits."""
    motor_power, damper_power, limit_power = 0.0, 0.0, 0.0
    for j in range(len(system.dofs)):
        work.dofs[j].tau = work.dofs[j].tau_extra
    for j in range(len(system.dofs)):
        dof = system.dofs[j]
        force = 0.0
        if dof.stiffness != 0.0 and dof.q >= 0:
            force += spring_force(system, q, j)
        if dof.damping != 0.0:
            rate = joint_deflection_rate(system, v, j)
            force, damper_power = add_damper(dof, rate, force, damper_power)
        if dof.motor >= 0 or dof.input >= 0:
            torque = motor_force(system, work, j)
            force, motor_power = add_motor(torque, joint_deflection_rate(system, v, j), force, motor_power)
        if dof.motion >= 0:
            work.dofs[j].motion_vdot = work.signals[dof.motion].sddot
        add_joint_force(system, work, j, force)
    for k in range(len(system.limits)):
        force = limit_force(system, work, q, v, k)
        j = system.limits[k].dof
        add_joint_force(system, work, j, force)
        limit_power += force * joint_deflection_rate(system, v, j)
    if system.world[0].has_ball_springs:
        for i in range(len(system.bodies)):
            if system.bodies[i].has_ball_spring:
                add_ball_spring(system, work, system.bodies[i], q)
    work.power[Power.MOTOR] = motor_power
    work.power[Power.DAMPER] = damper_power
    work.power[Power.LIMIT] = limit_power


@kernel
def add_ball_spring(system, work, body, q):
    force, moment = ball_spring(system, work, body, q)
    j = body.v
    if body.kind == JointKind.FLOATING:
        for k in range(3):
            work.dofs[j + k].tau += force[k]
        j += 3
    for k in range(3):
        work.dofs[j + k].tau += moment[k]

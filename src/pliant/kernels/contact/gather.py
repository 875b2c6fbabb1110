"""Forces of contacts and of friction in joints, with their powers, into work. Stick forces come later: stick.py."""

import math

from pliant.kernels._jit import kernel, routine
from pliant.kernels.algebra.vec3 import add, dot, put, scale
from pliant.kernels.contact.friction import bound_at_rest, bristles, slip_force
from pliant.kernels.contact.geometry import measure, plane_axes, tangent
from pliant.kernels.contact.normal import normal_force
from pliant.kernels.forces.apply import apply_force
from pliant.kernels.forces.joints import add_joint_force, joint_deflection_rate
from pliant.kernels.kinematics.joints import ZERO
from pliant.system.contact_tables import Branch
from pliant.system.tables import Power

MAX_NORMAL_Z = 1e-9  # z of the unit normal of a plane perpendicular to the x-y plane


@kernel
def load_states(system, work, y):
    """Friction states of y to where the forces look for them."""
    first = system.world[0].n_q + system.world[0].n_v
    for k in range(len(system.contacts)):
        i = system.contacts[k].state
        if i >= 0:
            work.contacts[k].z[0], work.contacts[k].z[1] = y[first + i], y[first + i + 1]
    for k in range(len(system.joint_frictions)):
        i = system.joint_frictions[k].state
        if i >= 0:
            work.joint_frictions[k].z = y[first + i]


@kernel
def put_contact_rates(system, work, ydot):
    """Rates of the quadratures and friction states of contacts and friction pairs."""
    first = system.world[0].n_q + system.world[0].n_v
    for k in range(len(system.contacts)):
        contact, x = system.contacts[k], work.contacts[k]
        acts = work.phase[contact.phase].is_active
        ydot[first + contact.quadrature] = x.power if acts else 0.0
        ydot[first + contact.quadrature + 1] = x.normal_force if acts else 0.0
        if contact.state >= 0:
            ydot[first + contact.state] = x.zdot[0] if acts else 0.0
            ydot[first + contact.state + 1] = x.zdot[1] if acts else 0.0
    for k in range(len(system.joint_frictions)):
        i = system.joint_frictions[k].state
        if i >= 0:
            ydot[first + i] = work.joint_frictions[k].zdot


@kernel
def friction_force(system, work, k, N, u, n):
    """Friction on the point of contact k, world axes; at rest: nothing yet, but the bound."""
    contact, x = system.contacts[k], work.contacts[k]
    if contact.friction < 0:
        return ZERO
    law, phase = system.frictions[contact.friction], work.phase[contact.phase]
    slide = tangent(u, n)
    if contact.state >= 0:
        ex, ey, _, _ = plane_axes(system, work, k)
        Fx, Fy, x.zdot[0], x.zdot[1] = bristles(law, N, dot(ex, slide), dot(ey, slide), x.z[0], x.z[1])
        return add(scale(-Fx, ex), scale(-Fy, ey))
    v = math.sqrt(dot(slide, slide))
    if law.sticks and phase.branch != Branch.SLIP:
        x.bound = bound_at_rest(law, phase.branch, N)
        return ZERO
    size = slip_force(law, phase.branch, N, v)
    if law.sticks and system.world[0].is_planar and abs(n[2]) < MAX_NORMAL_Z:
        # as in joints
        ex, _, _, _ = plane_axes(system, work, k)
        return scale(phase.sense * size, ex)
    return scale(-size / v, slide) if v > 0.0 else ZERO


@routine
def gather_contacts(system, work):
    """Apply contact forces at every touching point, and against its plane; wrenches and powers have been cleared."""
    for k in range(len(system.contacts)):
        contact, x = system.contacts[k], work.contacts[k]
        phase = work.phase[contact.phase]
        if not phase.is_active:
            continue
        x.gap, u, n, location = measure(system, work, k)
        N = normal_force(contact, phase, -x.gap, -dot(n, u))
        along = friction_force(system, work, k, N, u, n)
        x.normal_force = N
        put(x.tangential, along)
        force = add(scale(N, n), along)
        apply_force(system, work, contact.frame, force, location)
        apply_force(system, work, contact.plane, scale(-1.0, force), location)
        normal_power, friction_power = N * dot(n, u), dot(along, u)
        x.power = normal_power + friction_power
        work.power[Power.NORMAL] += normal_power
        work.power[Power.FRICTION] += friction_power


@routine
def gather_joint_friction(system, work, v):
    """Friction in joints."""
    work.power[Power.JOINT_FRICTION] = 0.0
    for k in range(len(system.joint_frictions)):
        joint, x = system.joint_frictions[k], work.joint_frictions[k]
        law, phase, u = (
            system.frictions[joint.friction],
            work.phase[joint.phase],
            joint_deflection_rate(system, v, joint.dof),
        )
        if joint.state >= 0:
            against, _, x.zdot, _ = bristles(law, joint.load, u, 0.0, x.z, 0.0)
            x.force = -against
        elif law.sticks and phase.branch != Branch.SLIP:
            x.bound, x.force = bound_at_rest(law, phase.branch, joint.load), 0.0
        else:
            size = slip_force(law, phase.branch, joint.load, abs(u))
            # the law of a step holds beyond a reversal inside it, which is where the step ends
            sense = phase.sense if law.sticks else -math.copysign(1.0, u)
            x.force = sense * size if u != 0.0 or law.sticks else 0.0
        add_joint_force(system, work, joint.dof, x.force)
        work.power[Power.JOINT_FRICTION] += x.force * u

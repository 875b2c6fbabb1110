"""Friction along recorded rows, checked without the events that made them: its power must not be positive."""

import math

from pliant.kernels._jit import RECORD, kernel
from pliant.kernels.algebra.vec3 import dot, vec
from pliant.kernels.contact.geometry import measure, tangent
from pliant.kernels.contact.phase import count_contacts
from pliant.kernels.contact.stick import STICK_RATE
from pliant.kernels.forces.joints import joint_deflection_rate
from pliant.kernels.outputs import look_at_row
from pliant.system.contact_tables import FrictionKind
from pliant.system.status import Status
from pliant.system.work import SCALE

SLIP_SPEED = 1.02  # times the stick speed: above the hysteresis of the branches
DRIVE, POWER, LOAD = 0, 1, 2  # columns


@kernel
def put_slip(law, power, stored, size, speed, out):
    """Of a friction pair that slips: the part of force times speed that drives, and the power; bristles give back what
    they have stored, and those of lugre are not bound to that."""
    power += stored
    if law.kind == FrictionKind.LUGRE or speed <= SLIP_SPEED * (law.kink[0] if law.sticks else 0.0):
        return
    if power > 0.0 and size > 0.0:
        out[DRIVE] = max(out[DRIVE], power / (size * speed))
        out[POWER] = max(out[POWER], power)


@kernel
def stick_load(work, law, i, size, bound):
    """Of a friction pair at rest with first unknown i: its force over its bound, or, where that is less, over what ends
    the stick speed: where a contact begins and ends its bound vanishes, and rounding of the force does not."""
    allowed = max(bound, STICK_RATE * law.kink[0] * work.stick_force[SCALE, i] ** 2)
    return size / allowed if allowed > 0.0 else 0.0


@kernel
def check_contact(system, work, k, out):
    contact, x = system.contacts[k], work.contacts[k]
    phase = work.phase[contact.phase]
    if contact.friction < 0 or not phase.is_active or not x.normal_force > 0.0:
        return
    law = system.frictions[contact.friction]
    _, u, n, _ = measure(system, work, k)
    slide, force = tangent(u, n), vec(x.tangential)
    size = math.sqrt(dot(force, force))
    if x.unknown >= 0:
        out[LOAD] = max(out[LOAD], stick_load(work, law, x.unknown, size, x.bound))
    # below least_normal the force of bristles fades, and what they store with it
    stored = law.sigma0 * (x.z[0] * x.zdot[0] + x.z[1] * x.zdot[1]) if contact.state >= 0 else 0.0
    if contact.state < 0 or x.normal_force >= law.least_normal:
        put_slip(law, dot(force, slide), stored, size, math.sqrt(dot(slide, slide)), out)


@kernel
def check_joint_friction(system, work, v, k, out):
    joint, x = system.joint_frictions[k], work.joint_frictions[k]
    law, u = system.frictions[joint.friction], joint_deflection_rate(system, v, joint.dof)
    if x.unknown >= 0:
        out[LOAD] = max(out[LOAD], stick_load(work, law, x.unknown, abs(x.force), x.bound))
    stored = law.sigma0 * x.z * x.zdot if joint.state >= 0 else 0.0
    if joint.state < 0 or joint.load >= law.least_normal:
        put_slip(law, x.force * u, stored, abs(x.force), abs(u), out)


@kernel(RECORD)
def check_friction(system, work, t, y, inputs, outputs, out):
    """out[row] = DRIVE, POWER [W], LOAD of every row, each the largest over all friction pairs."""
    n_q, n_v = system.world[0].n_q, system.world[0].n_v
    count_contacts(system, work)
    for row in range(len(t)):
        status = look_at_row(system, work, t[row], y[row], inputs[row])
        out[row, DRIVE] = out[row, POWER] = out[row, LOAD] = 0.0
        if status != Status.OK:
            return status
        for k in range(len(system.contacts)):
            check_contact(system, work, k, out[row])
        for k in range(len(system.joint_frictions)):
            check_joint_friction(system, work, y[row, n_q : n_q + n_v], k, out[row])
    return Status.OK

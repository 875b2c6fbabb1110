"""Flexible joints: the torque that a transmission passes from its motor's side (theta1) to its link's (theta2).

    d = theta1 - theta2,    T = f(s) + c d'    on the link, -T on the motor
f(s) = k s, or monotone cubic pieces. Backlash b: s is what of d lies beyond b/2 either way; between, T = 0, and a flank
pushes but never pulls. (Spong 1987, where s = d and f = k d.)"""

from pliant.kernels._jit import kernel
from pliant.kernels.forces.elastic import elastic_force
from pliant.kernels.forces.joints import add_joint_force, joint_deflection, joint_deflection_rate
from pliant.system.tables import Power


@kernel
def twist(system, transmission, q):
    """theta1 - theta2."""
    return joint_deflection(system, q, transmission.motor) - joint_deflection(system, q, transmission.link)


@kernel
def twist_rate(system, transmission, v):
    return joint_deflection_rate(system, v, transmission.motor) - joint_deflection_rate(system, v, transmission.link)


@kernel
def transmission_torque(system, work, transmission, q, v):
    """T, and the power of its damper."""
    d, rate = twist(system, transmission, q), twist_rate(system, transmission, v)
    damping = transmission.damping * rate
    if transmission.phase < 0:
        torque, _ = elastic_force(transmission, system.pool, d)
        return torque + damping, -damping * rate
    side = work.phase[transmission.phase + 1].is_active - work.phase[transmission.phase].is_active
    if side == 0:
        return 0.0, 0.0
    elastic, _ = elastic_force(transmission, system.pool, d - side * transmission.half_backlash)
    torque = side * max(0.0, side * (elastic + damping))
    return torque, -(torque - elastic) * rate


@kernel
def flank_depth(system, transmission, side, q):
    """How far the twist is beyond one end of the backlash; side -1 or +1."""
    return side * twist(system, transmission, q) - transmission.half_backlash


@kernel
def set_flank_phase(system, work, q):
    """Which flanks touch."""
    for k in range(len(system.transmissions)):
        row = system.transmissions[k]
        if row.phase >= 0:
            work.phase[row.phase].is_active = flank_depth(system, row, -1, q) > 0.0
            work.phase[row.phase + 1].is_active = flank_depth(system, row, 1, q) > 0.0


@kernel
def gather_transmissions(system, work, q, v):
    """After gather_joint_forces: torques of all flexible joints into tau."""
    for k in range(len(system.transmissions)):
        row = system.transmissions[k]
        torque, power = transmission_torque(system, work, row, q, v)
        add_joint_force(system, work, row.motor, -torque)
        add_joint_force(system, work, row.link, torque)
        work.power[Power.DAMPER] += power


@kernel
def transmission_energy(system, q):
    """Energy of the springs of all flexible joints."""
    total = 0.0
    for k in range(len(system.transmissions)):
        row = system.transmissions[k]
        d, half = twist(system, row, q), row.half_backlash
        _, energy = elastic_force(row, system.pool, d - min(max(d, -half), half))
        total += energy
    return total

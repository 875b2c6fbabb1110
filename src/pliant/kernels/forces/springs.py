"""Springs between two places: spring, damper and motor along the line from the first end to the second.

    d = p_second - p_first,    l = |d|,    u = d / l,    l' = u . d'
    T = f(l - length) + c l' - motor    pulls the ends together: T u on the first, -T u on the second
A rope acts only while l > length and never pushes, a pad only while l < length and never pulls. Where the ends coincide
u is the direction in which they part, the limit along the motion."""

import math

from pliant.kernels._jit import kernel, routine
from pliant.kernels.algebra.vec3 import dot, scale, sub
from pliant.kernels.forces.apply import apply_force_at_origin
from pliant.kernels.forces.elastic import elastic_force
from pliant.kernels.kinematics.tree import frame_motion
from pliant.system.status import Status
from pliant.system.tables import Power

OK, COINCIDENT = int(Status.OK), int(Status.COINCIDENT)
LOST = 1e-6  # of `nearest`: below this distance a direction is rounding


@kernel
def spring_line(system, work, spring):
    """l, l' and u, after place."""
    p, v = frame_motion(system, work, spring.start)
    end_p, end_v = frame_motion(system, work, spring.end)
    d, d_dot = sub(end_p, p), sub(end_v, v)
    length = math.sqrt(dot(d, d))
    if length > 0.0:
        u = scale(1.0 / length, d)
        return length, dot(u, d_dot), u
    speed = math.sqrt(dot(d_dot, d_dot))
    return 0.0, speed, scale(1.0 / speed, d_dot) if speed > 0.0 else (0.0, 0.0, 0.0)


@kernel
def spring_thrust(work, spring):
    """The motor: signal and held command; positive pushes the ends apart."""
    thrust = 0.0
    if spring.motor >= 0:
        thrust += work.signals[spring.motor].s
    if spring.input >= 0:
        thrust += work.inputs[spring.input]
    return thrust


@kernel
def spring_tension(system, work, spring, length, rate):
    """T, and the parts of damper and motor in it."""
    elastic, _ = elastic_force(spring, system.pool, length - spring.length)
    if spring.sense == 0:
        damper, thrust = spring.damping * rate, spring_thrust(work, spring)
        return elastic + damper - thrust, damper, thrust
    if not work.phase[spring.phase].is_active:
        return 0.0, 0.0, 0.0
    tension = spring.sense * max(0.0, spring.sense * (elastic + spring.damping * rate))
    return tension, tension - elastic, 0.0


@kernel
def set_spring_phase(system, work):
    """Which ropes are taut and which pads pressed, after place."""
    for k in range(len(system.springs)):
        spring = system.springs[k]
        if spring.phase >= 0:
            length, _, _ = spring_line(system, work, spring)
            work.phase[spring.phase].is_active = spring.sense * (length - spring.length) > 0.0


@kernel
def spring_event(system, work, event):
    """(g, gdot) of an event of a spring: its ends meet (falling), or it begins to act (rising)."""
    spring = system.springs[event.spring]
    length, rate, _ = spring_line(system, work, spring)
    if event.is_stop:
        return length - spring.nearest, rate
    return spring.sense * (length - spring.length), spring.sense * rate


@routine
def gather_springs(system, work):
    """Add the forces of all springs to the wrenches of their bodies, and their powers; bodies are placed, wrenches
    cleared. COINCIDENT where a force has no direction."""
    for k in range(len(system.springs)):
        spring = system.springs[k]
        length, rate, u = spring_line(system, work, spring)
        if length < LOST * spring.nearest:
            work.run[0].body = k
            return COINCIDENT
        tension, damper, thrust = spring_tension(system, work, spring, length, rate)
        force = scale(tension, u)
        apply_force_at_origin(system, work, spring.start, force)
        apply_force_at_origin(system, work, spring.end, scale(-1.0, force))
        work.power[Power.DAMPER] -= damper * rate
        work.power[Power.MOTOR] += thrust * rate
    return OK


@kernel
def springs_energy(system, work):
    """Energy of all springs, after place."""
    total = 0.0
    for k in range(len(system.springs)):
        spring = system.springs[k]
        length, _, _ = spring_line(system, work, spring)
        s = length - spring.length
        if spring.sense * s >= 0.0:
            _, energy = elastic_force(spring, system.pool, s)
            total += energy
    return total

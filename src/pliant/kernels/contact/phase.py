"""The discrete phase of contacts and friction: begin, end, and what follows from a state alone."""

import math

from pliant.kernels._jit import STATE, kernel
from pliant.kernels.algebra.vec3 import dot
from pliant.kernels.contact.friction import branch_of
from pliant.kernels.contact.geometry import measure, plane_axes, tangent
from pliant.kernels.contact.normal import clamp_margin
from pliant.kernels.contact.places import place_unknowns
from pliant.kernels.forces.joints import joint_deflection_rate, set_ball_phase, set_limit_phase
from pliant.kernels.forces.springs import set_spring_phase
from pliant.kernels.forces.transmissions import set_flank_phase
from pliant.kernels.kinematics.tree import place_at
from pliant.system.contact_tables import Branch
from pliant.system.status import Status

MIN_IMPACT_SPEED = 1e-4  # [m/s] in the damping: bounces end in rest


@kernel
def begin_contact(system, work, k, u, n):
    """Touching from now on, with velocity u."""
    contact = system.contacts[k]
    phase = work.phase[contact.phase]
    phase.is_active, phase.is_pushing = 1, 1
    phase.impact_speed = max(-dot(n, u), MIN_IMPACT_SPEED)
    if contact.friction >= 0:
        slide = tangent(u, n)
        phase.branch = branch_of(system.frictions[contact.friction], math.sqrt(dot(slide, slide)))
        x, _, _, _ = plane_axes(system, work, k)
        phase.sense = -math.copysign(1.0, dot(x, slide))


@kernel
def end_contact(system, work, k):
    phase = work.phase[system.contacts[k].phase]
    phase.is_active, phase.is_pushing = 0, 0


@kernel
def count_contacts(system, work):
    """Number what touches and the unknown forces of pairs at rest; to be called whenever the phase has changed."""
    width = 1 if system.world[0].is_planar else 2
    touching, sticking, broken = 0, 0, 0
    for k in range(len(system.contacts)):
        contact = system.contacts[k]
        phase, x = work.phase[contact.phase], work.contacts[k]
        touching += phase.is_active
        x.unknown = -1
        has_friction = phase.is_active and contact.friction >= 0
        if has_friction and system.frictions[contact.friction].sticks and phase.branch != Branch.SLIP:
            x.unknown = sticking
            broken += phase.branch == Branch.BREAK
            for a in range(width):
                work.stick_first[sticking + a] = sticking
            sticking += width
    for k in range(len(system.joint_frictions)):
        joint, x = system.joint_frictions[k], work.joint_frictions[k]
        x.unknown = -1
        branch = work.phase[joint.phase].branch
        if system.frictions[joint.friction].sticks and branch != Branch.SLIP:
            x.unknown = sticking
            broken += branch == Branch.BREAK
            work.stick_first[sticking] = sticking
            sticking += 1
    work.run[0].n_touching, work.run[0].n_sticking, work.run[0].n_broken = touching, sticking, broken
    place_unknowns(system, work)


@kernel
def width_at(work, i, n):
    """Unknowns of the friction pair whose first is i."""
    return 2 if i + 1 < n and work.stick_first[i + 1] == i else 1


@kernel(STATE)
def set_phase(system, work, t, q, v):
    """The phase that follows from a state alone: stops and flanks pressed, rotations on their side of pi, ropes taut,
    points below their planes, branches by speed; bristles straight."""
    set_limit_phase(system, work, q)
    set_flank_phase(system, work, q)
    set_ball_phase(system, work, q, v)
    if len(system.contacts) > 0 or system.world[0].has_one_way_springs:
        place_at(system, work, q, v)
    if system.world[0].has_one_way_springs:
        set_spring_phase(system, work)
    for k in range(len(system.contacts)):
        gap, u, n, _ = measure(system, work, k)
        contact = system.contacts[k]
        work.contacts[k].gap = gap
        work.contacts[k].z[0], work.contacts[k].z[1] = 0.0, 0.0
        end_contact(system, work, k)
        if gap < 0.0:
            begin_contact(system, work, k, u, n)
            phase = work.phase[contact.phase]
            margin, _ = clamp_margin(contact, phase, -gap, -dot(n, u), 0.0)
            phase.is_pushing = margin > 0.0
    for k in range(len(system.joint_frictions)):
        joint = system.joint_frictions[k]
        work.joint_frictions[k].z = 0.0
        u, phase = joint_deflection_rate(system, v, joint.dof), work.phase[joint.phase]
        phase.branch, phase.sense = branch_of(system.frictions[joint.friction], abs(u)), -math.copysign(1.0, u)
    count_contacts(system, work)
    return Status.OK

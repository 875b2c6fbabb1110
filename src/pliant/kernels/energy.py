"""Energies and momenta of a state, independent of every formulation."""

import math

from pliant.kernels._jit import QUERY, STATE, kernel, routine
from pliant.kernels.algebra.quaternion import rotation_vector
from pliant.kernels.algebra.sym3 import mul_sym, sym
from pliant.kernels.algebra.vec3 import add, cross, dot, mat, mul, scale, vec
from pliant.kernels.flexible.body import first_moment, mass_and_bias, modal_energy, modal_momentum, strain_energy
from pliant.kernels.forces.joints import joint_deflection
from pliant.kernels.forces.springs import springs_energy
from pliant.kernels.forces.transmissions import transmission_energy
from pliant.kernels.kinematics.tree import place_at
from pliant.system.tables import JointKind

KINETIC, GRAVITY, ELASTIC = 0, 1, 2


@kernel
def kinetic_energy(system, work, v):
    """After move."""
    total = 0.0
    for i in range(len(system.bodies)):
        body, x = system.bodies[i], work.bodies[i]
        u, w, c, J = vec(x.v), vec(x.w), vec(body.c), sym(body.J)
        if body.flex >= 0:
            f = system.flexes[body.flex]
            c, J, _, _ = mass_and_bias(system, work, f, w)
            linear, angular = modal_momentum(f, work.flex)
            total += dot(u, linear) + dot(w, angular) + modal_energy(f, work.flex)
        total += 0.5 * body.mass * dot(u, u) + dot(u, cross(w, c)) + 0.5 * dot(w, mul_sym(J, w))
    for j in range(len(system.dofs)):
        total += 0.5 * system.dofs[j].armature * v[j] * v[j]
    return total


@kernel
def gravity_energy(system, work):
    """-g . sum m r, after place."""
    g = vec(system.world[0].gravity)
    total = 0.0
    for i in range(len(system.bodies)):
        body, x = system.bodies[i], work.bodies[i]
        c = vec(body.c)
        if body.flex >= 0:
            c = first_moment(system, work, system.flexes[body.flex])
        total -= dot(g, add(scale(body.mass, vec(x.p_WB)), mul(mat(x.R_WB), c)))
    return total


@kernel
def spring_energy(system, q):
    """Joint springs."""
    total = 0.0
    for j in range(len(system.dofs)):
        dof = system.dofs[j]
        if dof.q >= 0 and dof.stiffness != 0.0:
            total += 0.5 * dof.stiffness * (joint_deflection(system, q, j) - dof.rest) ** 2
    for i in range(len(system.bodies)):
        body = system.bodies[i]
        if body.has_ball_spring:
            j, k = body.v, body.q
            if body.kind == JointKind.FLOATING:
                for m in range(3):
                    total += 0.5 * system.dofs[j + m].stiffness * q[k + m] ** 2
                j, k = j + 3, k + 3
            phi = rotation_vector(q, k)
            total += 0.5 * system.dofs[j].stiffness * phi[0] ** 2
            total += 0.5 * system.dofs[j + 1].stiffness * phi[1] ** 2
            total += 0.5 * system.dofs[j + 2].stiffness * phi[2] ** 2
    return total


@routine
def energies_of(system, work, q, v):
    """(kinetic, gravity, elastic) of a state."""
    place_at(system, work, q, v)
    elastic = spring_energy(system, q) + transmission_energy(system, q) + springs_energy(system, work)
    for k in range(len(system.flexes)):
        elastic += strain_energy(system.flexes[k], system.shapes, work.flex)
    return kinetic_energy(system, work, v), gravity_energy(system, work), elastic


@kernel(QUERY)
def energies(system, work, q, v, out):
    """out[row] = kinetic, gravity, elastic for every row of q and v."""
    for row in range(len(q)):
        out[row, KINETIC], out[row, GRAVITY], out[row, ELASTIC] = energies_of(system, work, q[row], v[row])
    return 0


@kernel(STATE)
def measure(system, work, t, q, v):
    """Energies of a state into work.run."""
    run = work.run[0]
    run.kinetic, run.gravity, run.elastic = energies_of(system, work, q, v)
    return 0


@kernel(QUERY)
def momenta(system, work, q, v, out):
    """out[row] = linear momentum (3), angular momentum about the world origin (3), mass centre (3), its mass, and the
    scales of both momenta (sums of the sizes of the bodies' own); world axes."""
    for row in range(len(q)):
        place_at(system, work, q[row], v[row])
        linear_scale, angular_scale = 0.0, 0.0
        mass, linear, angular, moment = 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for i in range(len(system.bodies)):
            body, x = system.bodies[i], work.bodies[i]
            R, u, w, c, J = mat(x.R_WB), vec(x.v), vec(x.w), vec(body.c), sym(body.J)
            P, H = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
            if body.flex >= 0:
                f = system.flexes[body.flex]
                c, J, _, _ = mass_and_bias(system, work, f, w)
                P, H = modal_momentum(f, work.flex)
            P = mul(R, add(P, add(scale(body.mass, u), cross(w, c))))
            H = mul(R, add(H, add(mul_sym(J, w), cross(c, u))))
            mass += body.mass
            linear = add(linear, P)
            H = add(H, cross(vec(x.p_WB), P))
            angular = add(angular, H)
            linear_scale += math.sqrt(dot(P, P))
            angular_scale += math.sqrt(dot(H, H))
            moment = add(moment, add(scale(body.mass, vec(x.p_WB)), mul(R, c)))
        for k in range(3):
            out[row, k] = linear[k]
            out[row, 3 + k] = angular[k]
            out[row, 6 + k] = moment[k] / mass if mass > 0.0 else 0.0
        out[row, 9], out[row, 10], out[row, 11] = mass, linear_scale, angular_scale
    return 0

"""The joint forces of a model with rigid links, as a controller knows it: masses, gravity, armatures, springs and
dampers of joints. Inverse dynamics of the same tables with every beam straight and at rest in its own frame."""

from pliant.kernels._jit import FORWARD, kernel
from pliant.kernels.algebra.vec3 import dot, vec
from pliant.kernels.forces.apply import clear_wrenches
from pliant.kernels.forces.joints import spring_force
from pliant.kernels.inverse import sum_wrenches
from pliant.kernels.kinematics.joints import subspace_column
from pliant.kernels.kinematics.tree import accelerate, move
from pliant.system.status import Status


@kernel
def straighten(system, q, v, vdot):
    """All modes at rest."""
    for i in range(len(system.flexes)):
        f = system.flexes[i]
        body = system.bodies[f.body]
        for k in range(f.m):
            j = body.v + body.n_v + k
            q[system.dofs[j].q] = v[j] = vdot[j] = 0.0


@kernel(FORWARD)
def rigid_forces(system, work, t, q, v, vdot, tau, reaction):
    """tau of the velocities of joints; modes in q, v and vdot are set to zero."""
    straighten(system, q, v, vdot)
    move(system, work, q, v)
    clear_wrenches(system, work)
    accelerate(system, work, vdot)
    sum_wrenches(system, work, reaction)
    for i in range(len(system.bodies)):
        body, x = system.bodies[i], work.bodies[i]
        for k in range(body.n_v):
            j = body.v + k
            sv, sw = subspace_column(body, x, k)
            needed = dot(sv, vec(reaction[i])) + dot(sw, vec(reaction[i, 3:])) + work.dofs[j].armature * vdot[j]
            tau[j] = needed - spring_force(system, q, j) + system.dofs[j].damping * v[j]
    return Status.OK

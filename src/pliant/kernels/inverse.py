"""Inverse dynamics, O(n): the forces that a given acceleration needs. Recursive Newton-Euler [featherstone2008]."""

from pliant.kernels._jit import FORWARD, kernel
from pliant.kernels.algebra.sym3 import mul_sym, sym
from pliant.kernels.algebra.vec3 import add, cross, dot, mat, mul, mul_t, put, scale, sub, vec
from pliant.kernels.dynamics import prepare_bodies
from pliant.kernels.forces.joints import set_phase
from pliant.kernels.kinematics.joints import ZERO, subspace_column
from pliant.system.status import Status


@kernel
def accelerate(system, work, vdot):
    """Acceleration of every body (gravity as an upward acceleration of the world) for the given vdot."""
    g = vec(system.world[0].gravity)
    for i in range(len(system.bodies)):
        body, x = system.bodies[i], work.bodies[i]
        R = mat(x.R)
        if body.parent < 0:
            a, al = mul_t(R, scale(-1.0, g)), ZERO
        else:
            parent = work.bodies[body.parent]
            al = vec(parent.al)
            a, al = mul_t(R, add(vec(parent.a), cross(al, vec(x.o)))), mul_t(R, al)
        for k in range(body.n_v):
            sv, sw = subspace_column(body, x, k)
            a, al = add(a, scale(vdot[body.v + k], sv)), add(al, scale(vdot[body.v + k], sw))
        put(x.a, add(a, vec(x.zv)))
        put(x.al, add(al, vec(x.zw)))


@kernel
def sum_wrenches(system, work, reaction):
    """Reaction of every joint: inertia wrench minus external wrench, summed from the tips."""
    for i in range(len(system.bodies)):
        body, x = system.bodies[i], work.bodies[i]
        a, al, w, c, J = vec(x.a), vec(x.al), vec(x.w), vec(body.c), sym(body.J)
        force = add(scale(body.mass, a), add(cross(al, c), cross(w, cross(w, c))))
        moment = add(cross(c, a), add(mul_sym(J, al), cross(w, mul_sym(J, w))))
        put(reaction[i], sub(force, vec(x.f)))
        put(reaction[i, 3:], sub(moment, vec(x.n)))
    for i in range(len(system.bodies) - 1, -1, -1):
        body, x = system.bodies[i], work.bodies[i]
        if body.parent >= 0:
            R = mat(x.R)
            force, moment = mul(R, vec(reaction[i])), mul(R, vec(reaction[i, 3:]))
            onto = reaction[body.parent]
            put(onto, add(vec(onto), force))
            put(onto[3:], add(vec(onto[3:]), add(moment, cross(vec(x.o), force))))


@kernel(FORWARD)
def inverse(system, work, t, q, v, vdot, tau, reaction):
    """tau beyond what the model itself carries, such that forward(q, v, tau) = vdot; and all joint reactions."""
    work.run[0].segment = t
    set_phase(system, work, q)
    prepare_bodies(system, work, t, q, v)
    accelerate(system, work, vdot)
    sum_wrenches(system, work, reaction)
    for i in range(len(system.bodies)):
        body, x = system.bodies[i], work.bodies[i]
        for k in range(body.n_v):
            j = body.v + k
            sv, sw = subspace_column(body, x, k)
            needed = dot(sv, vec(reaction[i])) + dot(sw, vec(reaction[i, 3:])) + work.dofs[j].armature * vdot[j]
            tau[j] = needed - work.dofs[j].tau
    return Status.OK

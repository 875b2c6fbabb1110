"""Inverse dynamics, O(n): the forces that a given acceleration needs. Recursive Newton-Euler [featherstone2008]."""

from pliant.kernels._jit import FORWARD, kernel
from pliant.kernels.algebra.sym3 import mul_sym, sym
from pliant.kernels.algebra.vec3 import add, cross, dot, mat, mul, put, scale, sub, vec
from pliant.kernels.contact.phase import set_phase
from pliant.kernels.dynamics import prepare_bodies, settle_sticking
from pliant.kernels.kinematics.joints import subspace_column
from pliant.kernels.kinematics.tree import accelerate
from pliant.system.status import Status


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
    set_phase(system, work, q, v)
    prepare_bodies(system, work, t, q, v)
    if work.run[0].n_sticking > 0:
        # what sticks holds as it does without the sought forces
        settle_sticking(system, work, t, q, v, work.vdot, work.no_reaction)
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

"""Inverse dynamics, O(n): the forces that a given acceleration needs. Recursive Newton-Euler [featherstone2008].

Numbers in brackets: docs/equations.md."""

from pliant.kernels._jit import FORWARD, STATE, kernel, routine
from pliant.kernels.algebra.sym3 import mul_sym, sym
from pliant.kernels.algebra.vec3 import add, cross, dot, mat, mul, put, scale, sub, vec
from pliant.kernels.dynamics import solve_with_sticking
from pliant.kernels.flexible.body import mass_and_bias
from pliant.kernels.flexible.pool import (
    add_modal_bias,
    coupling,
    modal_acceleration,
    modal_bias,
    modal_force,
    modal_inertia,
)
from pliant.kernels.kinematics.joints import subspace_column
from pliant.kernels.kinematics.tree import accelerate
from pliant.system.status import Status

call_state = STATE.call


@routine
def flexible_wrench(system, work, f):
    """M (A, e') + h of a flexible body: force and moment returned, forces on its modes in the modal bias."""
    body, x, flex = system.bodies[f.body], work.bodies[f.body], work.flex
    c, J, force, moment = mass_and_bias(system, work, f, vec(x.w))
    a, al = vec(x.a), vec(x.al)
    force = add(force, add(scale(body.mass, a), cross(al, c)))
    moment = add(moment, add(cross(c, a), mul_sym(J, al)))
    for j in range(f.m):
        edot, (mode_force, mode_moment) = modal_acceleration(f, flex, j), coupling(f, flex, j)
        force, moment = add(force, scale(edot, mode_force)), add(moment, scale(edot, mode_moment))
        needed = dot(mode_force, a) + dot(mode_moment, al)
        for l in range(f.m):
            # the lower triangle is stored
            needed += modal_inertia(f, flex, max(j, l), min(j, l)) * modal_acceleration(f, flex, l)
        add_modal_bias(f, flex, j, needed)
    return force, moment


@kernel
def sum_wrenches(system, work, reaction):
    """Reaction of every joint: inertia wrench minus external wrench (N1), summed from the tips (N2)."""
    for i in range(len(system.bodies)):
        body, x = system.bodies[i], work.bodies[i]
        a, al, w, c, J = vec(x.a), vec(x.al), vec(x.w), vec(body.c), sym(body.J)
        if body.flex >= 0:
            force, moment = flexible_wrench(system, work, system.flexes[body.flex])
        else:
            force = add(scale(body.mass, a), add(cross(al, c), cross(w, cross(w, c))))
            moment = add(cross(c, a), add(mul_sym(J, al), cross(w, mul_sym(J, w))))
        put(reaction[i], sub(force, vec(x.f)))
        put(reaction[i, 3:], sub(moment, vec(x.n)))
    for i in range(len(system.bodies) - 1, -1, -1):
        body, x = system.bodies[i], work.bodies[i]
        if body.parent >= 0:
            R = mat(x.R)
            force, moment = mul(R, vec(reaction[i])), mul(R, vec(reaction[i, 3:]))
            if body.point >= 0:
                point = system.points[body.point]
                f, at_section = system.flexes[point.flex], add(moment, cross(vec(x.o_E), force))
                for j in range(f.m):
                    add_modal_bias(f, work.flex, j, modal_force(point, work.flex, j, force, at_section))
            onto = reaction[body.parent]
            put(onto, add(vec(onto), force))
            put(onto[3:], add(vec(onto[3:]), add(moment, cross(vec(x.o), force))))


@kernel(FORWARD)
def inverse(system, work, t, q, v, vdot, tau, reaction):
    """tau beyond what the model itself carries, such that forward(q, v, tau) = vdot; and all joint reactions."""
    work.run[0].segment = t
    call_state(work.calls[0].set_phase, (system, work, t, q, v))
    if call_state(work.calls[0].prepare, (system, work, t, q, v)) == Status.COINCIDENT:
        return Status.COINCIDENT
    if work.run[0].n_sticking > 0:
        # what sticks holds as it does without the sought forces
        solve_with_sticking(system, work, t, q, v, work.vdot, work.no_reaction)
    accelerate(system, work, vdot)
    sum_wrenches(system, work, reaction)
    # (N3)
    for i in range(len(system.bodies)):
        body, x = system.bodies[i], work.bodies[i]
        for k in range(body.n_v):
            j = body.v + k
            sv, sw = subspace_column(body, x, k)
            needed = dot(sv, vec(reaction[i])) + dot(sw, vec(reaction[i, 3:])) + work.dofs[j].armature * vdot[j]
            tau[j] = needed - work.dofs[j].tau
        if body.flex >= 0:
            f = system.flexes[body.flex]
            for k in range(f.m):
                j = body.v + body.n_v + k
                tau[j] = modal_bias(f, work.flex, k) - work.dofs[j].tau
    return Status.OK

"""Recursive Gibbs-Appell equations: any joints, trees, ground and space, rigid and flexible links [gibbsappell].

The Gibbs function of a link and all it carries is a quadratic form in the acceleration A of its frame and in the
accelerations z'' of the modes and joints outboard of that frame:
    S = 1/2 A.I A + A.(p + sum_k G_k z''_k) + 1/2 sum_kl M_kl z''_k z''_l + sum_k r_k z''_k + ..
It is built link by link from the tips: A = T (A_P, e'_P) + s u' + b takes it over a joint, which gives the coefficients
at the parent and, as dS/dz'', the joint's and the parent's modes' rows of M z'' + r = tau. I is always that of a rigid
body: mass, first moment c, inertia J about the origin. b is known beforehand: velocity terms, prescribed accelerations,
and gravity as an upward acceleration of the world. Numbers in brackets: docs/equations.md, section Gibbs-Appell."""

from pliant.kernels._jit import ACCELERATION, EQUATIONS, kernel, routine
from pliant.kernels.algebra.spatial import shift_rigid_inertia
from pliant.kernels.algebra.sym3 import add_sym, mul_sym, put_sym, rotate_sym, sym
from pliant.kernels.algebra.vec3 import add, cross, dot, mat, mul, mul_t, put, scale, sub, vec
from pliant.kernels.flexible.body import mass_and_bias
from pliant.kernels.flexible.pool import (
    add_coupling,
    add_modal_bias,
    add_modal_inertia,
    coupling,
    modal_bias,
    modal_force,
    modal_inertia,
    section_mode,
)
from pliant.kernels.kinematics.joints import ZERO, subspace_column
from pliant.kernels.kinematics.tree import accelerate, move
from pliant.kernels.rows import put_constraint_forces, put_entry, solve_rows
from pliant.system.status import Status


@kernel
def put_bias(system, work, i, part):
    """(G3): b of one joint, with that part (0 or 1) of the prescribed accelerations."""
    body, x = system.bodies[i], work.bodies[i]
    scratch = x.gibbs_appell
    bv, bw = vec(x.zv), vec(x.zw)
    if body.parent < 0:
        bv = sub(bv, mul_t(mat(x.R), vec(system.world[0].gravity)))
    if body.is_prescribed:
        for k in range(body.n_v):
            sv, sw = subspace_column(body, x, k)
            # zero where the motion is free
            vdot = part * work.dofs[body.v + k].motion_vdot
            bv, bw = add(bv, scale(vdot, sv)), add(bw, scale(vdot, sw))
    put(scratch.bv, bv)
    put(scratch.bw, bw)


@kernel
def put_body_inertia(system, work, i, part):
    """(G2): Gibbs function of one link alone, with that part of the external wrench; the blocks of its modes too."""
    body, x = system.bodies[i], work.bodies[i]
    scratch = x.gibbs_appell
    w, c, J = vec(x.w), vec(body.c), sym(body.J)
    if body.flex >= 0:
        c, J, pf, pn = mass_and_bias(system, work, system.flexes[body.flex], w)
    else:
        pf, pn = cross(w, cross(w, c)), cross(w, mul_sym(J, w))
    scratch.subtree_mass = body.mass
    put(scratch.subtree_c, c)
    put_sym(scratch.subtree_J, J)
    put(scratch.pf, sub(pf, scale(part, vec(x.f))))
    put(scratch.pn, sub(pn, scale(part, vec(x.n))))


@kernel
def inertia_wrench(m, c, J, a, al):
    """I A as force and moment."""
    return add(scale(m, a), cross(al, c)), add(cross(c, a), mul_sym(J, al))


@kernel
def subtree_wrench(scratch, a, al):
    """I A of a link and all it carries."""
    return inertia_wrench(scratch.subtree_mass, vec(scratch.subtree_c), sym(scratch.subtree_J), a, al)


@routine
def add_to_modes(system, work, k, m, c, J, force, moment):
    """(G4): add what section k carries (I and p there, body axes) to the modes of its link."""
    point = system.points[k]
    f = system.flexes[point.flex]
    flex, s = work.flex, vec(work.points[k].s)
    for j in range(f.m):
        velocity, angular = section_mode(point, flex, j)
        gv, gw = inertia_wrench(m, c, J, velocity, angular)
        for l in range(j, f.m):
            add_modal_inertia(f, flex, l, j, modal_force(point, flex, l, gv, gw))
        add_modal_bias(f, flex, j, modal_force(point, flex, j, force, moment))
        add_coupling(f, flex, j, gv, add(gw, cross(s, gv)))


@routine
def add_to_parent(system, work, i):
    """(G4): I and p of a link and all it carries, joint at rest, to its parent."""
    body, x = system.bodies[i], work.bodies[i]
    scratch = x.gibbs_appell
    onto, R, m = work.bodies[body.parent].gibbs_appell, mat(x.R), scratch.subtree_mass
    force, moment = subtree_wrench(scratch, vec(scratch.bv), vec(scratch.bw))
    force, moment = mul(R, add(force, vec(scratch.pf))), mul(R, add(moment, vec(scratch.pn)))
    o = vec(x.o) if body.point < 0 else vec(x.o_E)
    c, J = shift_rigid_inertia(m, mul(R, vec(scratch.subtree_c)), rotate_sym(R, sym(scratch.subtree_J)), o)
    moment = add(moment, cross(o, force))
    if body.point >= 0:
        add_to_modes(system, work, body.point, m, c, J, force, moment)
        s = vec(work.points[body.point].s)
        c, J = shift_rigid_inertia(m, c, J, s)
        moment = add(moment, cross(s, force))
    onto.subtree_mass += m
    put(onto.subtree_c, add(vec(onto.subtree_c), c))
    put_sym(onto.subtree_J, add_sym(sym(onto.subtree_J), J))
    put(onto.pf, add(vec(onto.pf), force))
    put(onto.pn, add(vec(onto.pn), moment))


@routine
def walk_inward(system, work, M, row, i, force, moment):
    """(G6, G7): take G of one acceleration from link i to the root: its entries of M; what the biases b add to r."""
    r = 0.0
    while i >= 0:
        body, x = system.bodies[i], work.bodies[i]
        scratch = x.gibbs_appell
        for k in range(body.n_v):
            sv, sw = subspace_column(body, x, k)
            put_entry(M, row, body.v + k, dot(sv, force) + dot(sw, moment))
        r += dot(force, vec(scratch.bv)) + dot(moment, vec(scratch.bw))
        force, moment = mul(mat(x.R), force), mul(mat(x.R), moment)
        if body.point >= 0:
            point = system.points[body.point]
            f, parent = system.flexes[point.flex], system.bodies[body.parent]
            moment = add(moment, cross(vec(x.o_E), force))
            for j in range(f.m):
                put_entry(M, row, parent.v + parent.n_v + j, modal_force(point, work.flex, j, force, moment))
            moment = add(moment, cross(vec(work.points[body.point].s), force))
        else:
            moment = add(moment, cross(vec(x.o), force))
        i = body.parent
    return r


@kernel
def put_joint_rows(system, work, M, i):
    """(G5 - G7): rows of the velocities of one joint."""
    body, x = system.bodies[i], work.bodies[i]
    scratch = x.gibbs_appell
    for k in range(body.n_v):
        row = body.v + k
        sv, sw = subspace_column(body, x, k)
        force, moment = subtree_wrench(scratch, sv, sw)
        r = walk_inward(system, work, M, row, i, force, moment)
        work.dofs[row].row = r + dot(sv, vec(scratch.pf)) + dot(sw, vec(scratch.pn))
        M[row, row] += work.dofs[row].armature


@kernel
def put_modal_rows(system, work, M, i):
    """(G5 - G7): rows of the modes of one link."""
    body, flex = system.bodies[i], work.flex
    f, first = system.flexes[body.flex], body.v + body.n_v
    for k in range(f.m):
        for l in range(k + 1):
            put_entry(M, first + k, first + l, modal_inertia(f, flex, k, l))
        force, moment = coupling(f, flex, k)
        r = walk_inward(system, work, M, first + k, i, force, moment)
        work.dofs[first + k].row = r + modal_bias(f, flex, k)


@routine
def put_rows(system, work, M, part):
    """M, and r in dofs, with that part of external wrenches and prescribed accelerations; other forces are in tau."""
    for i in range(len(M)):
        for j in range(len(M)):
            M[i, j] = 0.0
    for i in range(len(system.bodies)):
        put_bias(system, work, i, part)
        put_body_inertia(system, work, i, part)
    for i in range(len(system.bodies) - 1, -1, -1):
        put_joint_rows(system, work, M, i)
        if system.bodies[i].flex >= 0:
            put_modal_rows(system, work, M, i)
        if system.bodies[i].parent >= 0:
            add_to_parent(system, work, i)


@kernel
def free_acceleration(work, body, x, vdot):
    """S u' of the velocities of a joint that are not prescribed."""
    a, al = ZERO, ZERO
    for k in range(body.n_v):
        if not work.dofs[body.v + k].is_prescribed:
            sv, sw = subspace_column(body, x, k)
            a, al = add(a, scale(vdot[body.v + k], sv)), add(al, scale(vdot[body.v + k], sw))
    return a, al


@kernel
def sum_free_wrenches(system, work, vdot, reaction):
    """sum G z'' of all that moves freely outboard of every joint; prescribed accelerations are in p."""
    for i in range(len(reaction)):
        put(reaction[i], ZERO)
        put(reaction[i, 3:], ZERO)
    for i in range(len(reaction) - 1, -1, -1):
        body, x = system.bodies[i], work.bodies[i]
        force, moment = vec(reaction[i]), vec(reaction[i, 3:])
        if body.flex >= 0:
            f = system.flexes[body.flex]
            for j in range(f.m):
                edot, (mode_force, mode_moment) = vdot[body.v + body.n_v + j], coupling(f, work.flex, j)
                force, moment = add(force, scale(edot, mode_force)), add(moment, scale(edot, mode_moment))
            put(reaction[i], force)
            put(reaction[i, 3:], moment)
        if body.parent >= 0:
            a, al = free_acceleration(work, body, x, vdot)
            own_force, own_moment = subtree_wrench(work.bodies[i].gibbs_appell, a, al)
            force, moment = mul(mat(x.R), add(force, own_force)), mul(mat(x.R), add(moment, own_moment))
            onto = reaction[body.parent]
            put(onto, add(vec(onto), force))
            put(onto[3:], add(vec(onto[3:]), add(moment, cross(vec(x.o), force))))


@routine
def put_reactions(system, work, vdot, reaction):
    """(G9): what the joints transmit, dS/dA = I A + p + sum G z'', after put_rows."""
    sum_free_wrenches(system, work, vdot, reaction)
    accelerate(system, work, vdot)
    for i in range(len(reaction)):
        x, scratch = work.bodies[i], work.bodies[i].gibbs_appell
        force, moment = subtree_wrench(scratch, vec(x.a), vec(x.al))
        put(reaction[i], add(vec(reaction[i]), add(force, vec(scratch.pf))))
        put(reaction[i, 3:], add(vec(reaction[i, 3:]), add(moment, vec(scratch.pn))))


@kernel(EQUATIONS)
def matrices(system, work, q, v, M, h):
    """M and h of M vdot + h = tau: velocity terms and gravity in h, no gathered forces."""
    move(system, work, q, v)
    put_rows(system, work, M, 0.0)
    for i in range(len(h)):
        h[i] = work.dofs[i].row
    return Status.OK


@kernel(ACCELERATION)
def gibbs_appell(system, work, q, v, vdot, reaction):
    put_rows(system, work, work.matrix, 1.0)
    # (G8)
    failed = solve_rows(work.dofs, work.matrix, vdot)
    if failed >= 0:
        work.run[0].body = system.dofs[failed].body
        return Status.SINGULAR
    if system.world[0].has_prescribed:
        put_constraint_forces(work.dofs, work.matrix, vdot)
    if len(reaction) > 0:
        put_reactions(system, work, vdot, reaction)
    return Status.OK

"""Recursive Gibbs-Appell equations: any joints, trees, ground and space, rigid and flexible links [gibbsappell].

The Gibbs function of a link and all it carries is a quadratic form in the acceleration A of its frame and in the
accelerations z'' of the modes and joints outboard of that frame:
    S = 1/2 A.I A + A.(p + sum_k G_k z''_k) + 1/2 sum_kl M_kl z''_k z''_l + sum_k r_k z''_k + ..
It is built link by link from the tips: A = T (A_P, e'_P) + s u' + b takes it over a joint, which gives the coefficients
at the parent and, as dS/dz'', the joint's and the parent's modes' rows of M z'' + r = tau. I is always that of a rigid
body: mass, first moment c, inertia J about the origin. b is known beforehand: velocity terms, prescribed accelerations,
and gravity as an upward acceleration of the world."""

from pliant.kernels._jit import ACCELERATION, EQUATIONS, kernel, routine
from pliant.kernels.algebra.spatial import shift_rigid_inertia
from pliant.kernels.algebra.sym3 import add_sym, mul_sym, put_sym, sym, turn_sym
from pliant.kernels.algebra.vec3 import add, cross, dot, mat, mul, mul_t, put, scale, sub, vec
from pliant.kernels.flexible.body import weigh
from pliant.kernels.flexible.sections import modal_force
from pliant.kernels.kinematics.joints import ZERO, subspace_column
from pliant.kernels.kinematics.tree import accelerate, move
from pliant.kernels.rows import solve_rows
from pliant.system.status import Status


@kernel
def put_bias(system, work, i, part):
    """b of one joint, with that part (0 or 1) of the prescribed accelerations."""
    body, x = system.bodies[i], work.bodies[i]
    bv, bw = vec(x.zv), vec(x.zw)
    if body.parent < 0:
        bv = sub(bv, mul_t(mat(x.R), vec(system.world[0].gravity)))
    if body.is_driven:
        for k in range(body.n_v):
            sv, sw = subspace_column(body, x, k)
            # zero where the motion is free
            vdot = part * work.dofs[body.v + k].motion_vdot
            bv, bw = add(bv, scale(vdot, sv)), add(bw, scale(vdot, sw))
    put(x.bv, bv)
    put(x.bw, bw)


@kernel
def put_own(system, work, i, part):
    """Gibbs function of one link alone, with that part of the external wrench: I, p; rd, dd and pd of its modes."""
    body, x = system.bodies[i], work.bodies[i]
    w, c, J = vec(x.w), vec(body.c), sym(body.J)
    if body.flex >= 0:
        c, J, pf, pn = weigh(system, work, system.flexes[body.flex], w)
    else:
        pf, pn = cross(w, cross(w, c)), cross(w, mul_sym(J, w))
    x.m_c = body.mass
    put(x.c_c, c)
    put_sym(x.J_c, J)
    put(x.pf, sub(pf, scale(part, vec(x.f))))
    put(x.pn, sub(pn, scale(part, vec(x.n))))


@kernel
def weight(m, c, J, a, al):
    """I A as force and moment."""
    return add(scale(m, a), cross(al, c)), add(cross(c, a), mul_sym(J, al))


@kernel
def carried(x, a, al):
    """I A of a link and all it carries."""
    return weight(x.m_c, vec(x.c_c), sym(x.J_c), a, al)


@routine
def give_modes(system, work, k, m, c, J, force, moment):
    """Add what hangs on section k (I and p there, body axes) to the modes of its link."""
    point = system.points[k]
    f = system.flexes[point.flex]
    flex, s = work.flex, vec(work.points[k].s)
    for j in range(f.m):
        L, at = point.Lambda + 6 * j, f.rd + 6 * j
        gv, gw = weight(m, c, J, vec(flex[L:]), vec(flex[L + 3 :]))
        for l in range(j, f.m):
            flex[f.dd + l * f.m + j] += modal_force(flex, point.Lambda, l, gv, gw)
        flex[f.pd + j] += modal_force(flex, point.Lambda, j, force, moment)
        put(flex[at:], add(vec(flex[at:]), gv))
        put(flex[at + 3 :], add(vec(flex[at + 3 :]), add(gw, cross(s, gv))))


@routine
def give_to_parent(system, work, i):
    """I and p of a link and all it carries, joint at rest, to its parent."""
    body, x = system.bodies[i], work.bodies[i]
    y, R, m = work.bodies[body.parent], mat(x.R), x.m_c
    force, moment = carried(x, vec(x.bv), vec(x.bw))
    force, moment = mul(R, add(force, vec(x.pf))), mul(R, add(moment, vec(x.pn)))
    o = vec(x.o) if body.point < 0 else vec(x.o_E)
    c, J = shift_rigid_inertia(m, mul(R, vec(x.c_c)), turn_sym(R, sym(x.J_c)), o)
    moment = add(moment, cross(o, force))
    if body.point >= 0:
        give_modes(system, work, body.point, m, c, J, force, moment)
        s = vec(work.points[body.point].s)
        c, J = shift_rigid_inertia(m, c, J, s)
        moment = add(moment, cross(s, force))
    y.m_c += m
    put(y.c_c, add(vec(y.c_c), c))
    put_sym(y.J_c, add_sym(sym(y.J_c), J))
    put(y.pf, add(vec(y.pf), force))
    put(y.pn, add(vec(y.pn), moment))


@routine
def walk_inward(system, work, M, row, i, force, moment):
    """Take G of one acceleration from link i to the root: its entries of M; what the biases on the way add to r."""
    r = 0.0
    while i >= 0:
        body, x = system.bodies[i], work.bodies[i]
        for k in range(body.n_v):
            sv, sw = subspace_column(body, x, k)
            entry = dot(sv, force) + dot(sw, moment)
            M[row, body.v + k] = entry
            M[body.v + k, row] = entry
        r += dot(force, vec(x.bv)) + dot(moment, vec(x.bw))
        force, moment = mul(mat(x.R), force), mul(mat(x.R), moment)
        if body.point >= 0:
            point = system.points[body.point]
            f, parent = system.flexes[point.flex], system.bodies[body.parent]
            moment = add(moment, cross(vec(x.o_E), force))
            for j in range(f.m):
                column = parent.v + parent.n_v + j
                entry = modal_force(work.flex, point.Lambda, j, force, moment)
                M[row, column] = entry
                M[column, row] = entry
            moment = add(moment, cross(vec(work.points[body.point].s), force))
        else:
            moment = add(moment, cross(vec(x.o), force))
        i = body.parent
    return r


@routine
def put_rows(system, work, M, part):
    """M, and r in dofs, with that part of external wrenches and prescribed accelerations; other forces are in tau."""
    n, flex = len(M), work.flex
    for i in range(n):
        for j in range(n):
            M[i, j] = 0.0
    for i in range(len(system.bodies)):
        put_bias(system, work, i, part)
        put_own(system, work, i, part)
    for i in range(len(system.bodies) - 1, -1, -1):
        body, x = system.bodies[i], work.bodies[i]
        for k in range(body.n_v):
            row = body.v + k
            sv, sw = subspace_column(body, x, k)
            force, moment = carried(x, sv, sw)
            r = walk_inward(system, work, M, row, i, force, moment)
            work.dofs[row].row = r + dot(sv, vec(x.pf)) + dot(sw, vec(x.pn))
            M[row, row] += work.dofs[row].armature
        if body.flex >= 0:
            f = system.flexes[body.flex]
            first = body.v + body.n_v
            for k in range(f.m):
                row, at = first + k, f.rd + 6 * k
                for l in range(k + 1):
                    M[row, first + l] = flex[f.dd + k * f.m + l]
                    M[first + l, row] = flex[f.dd + k * f.m + l]
                r = walk_inward(system, work, M, row, i, vec(flex[at:]), vec(flex[at + 3 :]))
                work.dofs[row].row = r + flex[f.pd + k]
        if body.parent >= 0:
            give_to_parent(system, work, i)


@kernel
def put_drives(dofs, M, vdot):
    """Forces that enforce prescribed motions: what is left of their rows, from the upper triangle of M."""
    for j in range(len(dofs)):
        dof = dofs[j]
        if dof.is_driven:
            dof.drive = dof.row + dof.armature * dof.motion_vdot - dof.tau
            for k in range(len(dofs)):
                if not dofs[k].is_driven:
                    dof.drive += M[min(j, k), max(j, k)] * vdot[k]


@routine
def put_reactions(system, work, vdot, reaction):
    """What the joints transmit, dS/dA = I A + p + sum G z'', after put_rows."""
    for i in range(len(reaction)):
        put(reaction[i], ZERO)
        put(reaction[i, 3:], ZERO)
    # sum G z'' of all that moves freely outboard; prescribed accelerations are in p
    for i in range(len(reaction) - 1, -1, -1):
        body, x = system.bodies[i], work.bodies[i]
        force, moment = vec(reaction[i]), vec(reaction[i, 3:])
        if body.flex >= 0:
            f = system.flexes[body.flex]
            for j in range(f.m):
                edot, at = vdot[body.v + body.n_v + j], f.rd + 6 * j
                force = add(force, scale(edot, vec(work.flex[at:])))
                moment = add(moment, scale(edot, vec(work.flex[at + 3 :])))
            put(reaction[i], force)
            put(reaction[i, 3:], moment)
        if body.parent >= 0:
            a, al = ZERO, ZERO
            for k in range(body.n_v):
                if not work.dofs[body.v + k].is_driven:
                    sv, sw = subspace_column(body, x, k)
                    a, al = add(a, scale(vdot[body.v + k], sv)), add(al, scale(vdot[body.v + k], sw))
            own_force, own_moment = carried(x, a, al)
            force, moment = mul(mat(x.R), add(force, own_force)), mul(mat(x.R), add(moment, own_moment))
            onto = reaction[body.parent]
            put(onto, add(vec(onto), force))
            put(onto[3:], add(vec(onto[3:]), add(moment, cross(vec(x.o), force))))
    accelerate(system, work, vdot)
    for i in range(len(reaction)):
        x = work.bodies[i]
        force, moment = carried(x, vec(x.a), vec(x.al))
        put(reaction[i], add(vec(reaction[i]), add(force, vec(x.pf))))
        put(reaction[i, 3:], add(vec(reaction[i, 3:]), add(moment, vec(x.pn))))


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
    failed = solve_rows(work.dofs, work.matrix, vdot)
    if failed >= 0:
        work.run[0].body = system.dofs[failed].body
        return Status.SINGULAR
    if system.world[0].has_drives:
        put_drives(work.dofs, work.matrix, vdot)
    if len(reaction) > 0:
        put_reactions(system, work, vdot, reaction)
    return Status.OK

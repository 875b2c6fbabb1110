"""Boltzmann-Hamel equations in quasi-velocities, by momentum sweeps: any joints, trees, ground and space, rigid and
flexible bodies.

P, H: momentum, and angular momentum about its origin, of a body and all it carries, body axes. Its joint transmits
    force = P' + w x P - F,  moment = H' + w x H + v x P - N    (' : rates of components; F, N: external, with gravity)
and row j of the equations is s_j . (force, moment) = tau_j. Modes: boltzmann_hamel_modes.py. Spherical chains: O(n)
with 3x3 blocks K, A, B (boltzmann_hamel_chain.py). Numbers in brackets: docs/equations.md, section Boltzmann-Hamel."""

from pliant.kernels._jit import ACCELERATION, EQUATIONS, kernel, routine
from pliant.kernels.algebra.spatial import shift_rigid_inertia
from pliant.kernels.algebra.sym3 import add_sym, mul_sym, put_sym, rotate_sym, sym
from pliant.kernels.algebra.vec3 import add, cross, dot, mat, mul, mul_t, put, scale, sub, vec
from pliant.kernels.flexible.pool import coupling, modal_bias, modal_force, modal_inertia
from pliant.kernels.formulations.boltzmann_hamel_chain import solve_chain
from pliant.kernels.formulations.boltzmann_hamel_modes import (
    add_section_rates,
    add_to_modal_rows,
    add_to_unit_modes,
    motion_over_section,
    put_flexible_inertia,
    put_flexible_momentum,
    unit_momentum,
)
from pliant.kernels.kinematics.joints import subspace_column
from pliant.kernels.kinematics.tree import move
from pliant.kernels.rows import solve_rows
from pliant.system.status import Status


@kernel
def rotate_gravity(system, work):
    """Gravity in the axes of every body."""
    gravity = vec(system.world[0].gravity)
    for i in range(len(system.bodies)):
        parent, x = system.bodies[i].parent, work.bodies[i]
        g = gravity if parent < 0 else vec(work.bodies[parent].boltzmann_hamel.g)
        put(x.boltzmann_hamel.g, mul_t(mat(x.R), g))


@kernel
def put_body_momentum(body, x, scratch, a, wdot, part):
    """(B1, B2) of one body alone, minus gravity and that part (0 or 1) of the gathered forces."""
    m, R, I, w, v = body.mass, vec(body.com), sym(body.I), vec(x.w), vec(x.v)
    P = scale(m, add(v, cross(w, R)))
    # the components of v change by acceleration minus w x v
    Pdot = scale(m, add(sub(a, cross(w, v)), cross(wdot, R)))
    F = sub(Pdot, scale(m, vec(scratch.g)))
    put(scratch.P, P)
    put(scratch.H, add(mul_sym(I, w), cross(R, P)))
    put(scratch.Pdot, sub(F, scale(part, vec(x.f))))
    put(scratch.Hdot, sub(add(mul_sym(I, wdot), cross(R, F)), scale(part, vec(x.n))))


@kernel
def sweep_outward(system, work, vdot, part):
    """Rates of v and w for given rates of the quasi-velocities (K4), and every body's own momenta."""
    for i in range(len(system.bodies)):
        body, x = system.bodies[i], work.bodies[i]
        scratch = x.boltzmann_hamel
        a, wdot = vec(x.zv), vec(x.zw)
        if body.parent >= 0:
            parent, R = work.bodies[body.parent].boltzmann_hamel, mat(x.R)
            a_P, wdot_P = add(vec(parent.a), cross(vec(parent.wdot), vec(x.o))), vec(parent.wdot)
            if body.point >= 0:
                a_P, wdot_P = add_section_rates(system, work, i, a_P, wdot_P)
            a, wdot = add(a, mul_t(R, a_P)), add(wdot, mul_t(R, wdot_P))
        for k in range(body.n_v):
            sv, sw = subspace_column(body, x, k)
            a, wdot = add(a, scale(vdot[body.v + k], sv)), add(wdot, scale(vdot[body.v + k], sw))
        put(scratch.a, a)
        put(scratch.wdot, wdot)
        if body.flex >= 0:
            put_flexible_momentum(system, work, i, vdot, part)
        else:
            put_body_momentum(body, x, scratch, a, wdot, part)


@kernel
def add_to_parent(x, scratch, v_J, w_J, onto):
    """(B5): momenta and rates in the parent's axes about its origin. v_J, w_J: motion against the parent."""
    R, o, P, H = mat(x.R), vec(x.o), vec(scratch.P), vec(scratch.H)
    Pdot = mul(R, add(vec(scratch.Pdot), cross(w_J, P)))
    Hdot = mul(R, add(add(vec(scratch.Hdot), cross(w_J, H)), cross(v_J, P)))
    P = mul(R, P)
    put(onto.P, add(vec(onto.P), P))
    put(onto.H, add(vec(onto.H), add(mul(R, H), cross(o, P))))
    put(onto.Pdot, add(vec(onto.Pdot), Pdot))
    put(onto.Hdot, add(vec(onto.Hdot), add(Hdot, cross(o, Pdot))))


@routine
def sweep_momenta(system, work, vdot, part, reaction):
    """Left sides of all rows, in work.dofs, for given vdot; and what the joints transmit, where reaction has rows."""
    sweep_outward(system, work, vdot, part)
    for i in range(len(system.bodies) - 1, -1, -1):
        body, x = system.bodies[i], work.bodies[i]
        scratch = x.boltzmann_hamel
        w, P = vec(x.w), vec(scratch.P)
        # (B3)
        force = add(vec(scratch.Pdot), cross(w, P))
        moment = add(vec(scratch.Hdot), add(cross(w, vec(scratch.H)), cross(vec(x.v), P)))
        # (B4)
        for k in range(body.n_v):
            sv, sw = subspace_column(body, x, k)
            work.dofs[body.v + k].row = dot(sv, force) + dot(sw, moment)
        if body.flex >= 0:
            f = system.flexes[body.flex]
            for k in range(f.m):
                work.dofs[body.v + body.n_v + k].row = modal_bias(f, work.flex, k)
        if len(reaction) > 0:
            put(reaction[i], force)
            put(reaction[i, 3:], moment)
        if body.parent >= 0:
            v_J, w_J, parent = vec(x.v_J), vec(x.w_J), work.bodies[body.parent]
            if body.point >= 0:
                v_J, w_J = motion_over_section(x, parent)
                add_to_modal_rows(system, work, i, force, moment)
            add_to_parent(x, scratch, v_J, w_J, parent.boltzmann_hamel)


@kernel
def put_subtree_inertia(system, work):
    """(B6): composite rigid body of every body with all it carries, joints and modes at rest; after sweep_outward."""
    for i in range(len(system.bodies)):
        body, scratch = system.bodies[i], work.bodies[i].boltzmann_hamel
        c, J = vec(body.c), sym(body.J)
        if body.flex >= 0:
            c, J = put_flexible_inertia(system, work, system.flexes[body.flex])
        scratch.subtree_mass = body.mass
        put(scratch.subtree_c, c)
        put_sym(scratch.subtree_J, J)
    for i in range(len(system.bodies) - 1, -1, -1):
        body, x = system.bodies[i], work.bodies[i]
        scratch = x.boltzmann_hamel
        if body.parent >= 0:
            onto, R, m = work.bodies[body.parent].boltzmann_hamel, mat(x.R), scratch.subtree_mass
            c, J, o = mul(R, vec(scratch.subtree_c)), rotate_sym(R, sym(scratch.subtree_J)), vec(x.o)
            if body.point >= 0:
                c, J = shift_rigid_inertia(m, c, J, vec(x.o_E))
                add_to_unit_modes(system, work, body.point, m, c, J)
                o = vec(work.points[body.point].s)
            c, J = shift_rigid_inertia(m, c, J, o)
            onto.subtree_mass += m
            put(onto.subtree_c, add(vec(onto.subtree_c), c))
            put_sym(onto.subtree_J, add_sym(sym(onto.subtree_J), J))


@kernel
def walk_inward(system, work, M, row, i, P, H):
    """(B7): the momenta of one unit quasi-velocity, seen by the joints and modes from body i inward."""
    while i >= 0:
        body, x = system.bodies[i], work.bodies[i]
        for k in range(body.n_v):
            sv, sw = subspace_column(body, x, k)
            M[row, body.v + k] = dot(sv, P) + dot(sw, H)
        P, H, o = mul(mat(x.R), P), mul(mat(x.R), H), vec(x.o)
        if body.point >= 0:
            point, parent = system.points[body.point], system.bodies[body.parent]
            H, o = add(H, cross(vec(x.o_E), P)), vec(work.points[body.point].s)
            for k in range(system.flexes[point.flex].m):
                M[row, parent.v + parent.n_v + k] = modal_force(point, work.flex, k, P, H)
        H = add(H, cross(o, P))
        i = body.parent


@routine
def put_matrix(system, work, M):
    """(B7, B21), lower triangle: the momenta a unit quasi-velocity gives to all it carries; after sweep_outward."""
    put_subtree_inertia(system, work)
    for i in range(len(M)):
        for j in range(i):
            M[i, j] = 0.0
    for row in range(len(system.dofs)):
        i = system.dofs[row].body
        body, scratch = system.bodies[i], work.bodies[i].boltzmann_hamel
        k = row - body.v
        if k < body.n_v:
            sv, sw = subspace_column(body, work.bodies[i], k)
            P, H = unit_momentum(scratch.subtree_mass, vec(scratch.subtree_c), sym(scratch.subtree_J), sv, sw)
        else:
            f, mode = system.flexes[body.flex], k - body.n_v
            P, H = coupling(f, work.flex, mode)
            for l in range(mode + 1):
                M[row, row - mode + l] = modal_inertia(f, work.flex, mode, l)
        walk_inward(system, work, M, row, i, P, H)
        M[row, row] += system.dofs[row].armature


@kernel(EQUATIONS)
def matrices(system, work, q, v, M, h):
    """M and h of M vdot + h = tau: velocity terms and gravity in h, no gathered forces."""
    move(system, work, q, v)
    rotate_gravity(system, work)
    for i in range(len(h)):
        h[i] = 0.0
    sweep_momenta(system, work, h, 0.0, work.no_reaction)
    put_matrix(system, work, M)
    for i in range(len(h)):
        h[i] = work.dofs[i].row
        for j in range(i):
            M[j, i] = M[i, j]
    return Status.OK


@kernel
def put_constraint_forces(dofs):
    """What is left of the rows of prescribed velocities, in which the actual accelerations are counted."""
    for j in range(len(dofs)):
        dof = dofs[j]
        if dof.is_prescribed:
            dof.constraint_force = dof.row + dof.armature * dof.motion_vdot - dof.tau


@kernel(ACCELERATION)
def boltzmann_hamel(system, work, q, v, vdot, reaction):
    dofs, world = work.dofs, system.world[0]
    is_wanted = len(reaction) > 0 or world.has_prescribed
    # the sweep of a chain leaves no factors for those who ask how M^-1 responds: loops, what sticks
    is_solved = world.is_spherical_chain != 0 and work.calls[0].respond == 0
    failed = -1
    rotate_gravity(system, work)
    if is_solved:
        failed = solve_chain(system, work, vdot)
    else:
        for j in range(len(dofs)):
            vdot[j] = dofs[j].motion_vdot if dofs[j].is_prescribed else 0.0
    # at most two sweeps: for the equations, and with the actual vdot for what the joints transmit
    while failed < 0 and (is_wanted or not is_solved):
        sweep_momenta(system, work, vdot, 1.0, reaction)
        if is_solved:
            break
        put_matrix(system, work, work.matrix)
        row = solve_rows(dofs, work.matrix, vdot)
        failed = system.dofs[row].body if row >= 0 else -1
        is_solved = True
    if failed >= 0:
        work.run[0].body = failed
        return Status.SINGULAR
    put_constraint_forces(dofs)
    return Status.OK

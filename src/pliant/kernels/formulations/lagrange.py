"""Recursive Lagrangian equations with 4x4 transforms: any joints, trees, ground and space, rigid and flexible links
[hollerbach1980, book1984].

W_k places link k: r = W_k h, h = (s, 1) in its own axes. A virtual displacement along one velocity moves all that its
joint carries by W_k Omega h, Omega = ([s_w], s_v) made of its column of the joint subspace, and along one mode what a
section p carries by W_k ([Om_p], S_p) h. The equations are traces of these with F = int r'' h^T dm of a link and all it
carries, the entries of M traces with int (delta r) h^T dm. Of matrices the upper three rows, in axes of the link, as
(3x3, 3): algebra/transforms.py. Numbers in brackets: docs/equations.md, section Lagrange."""

from pliant.kernels._jit import ACCELERATION, EQUATIONS, kernel, routine
from pliant.kernels.algebra.sym3 import add_sym, put_sym, rotate_sym, sym
from pliant.kernels.algebra.transforms import (
    add_integral,
    half_cross,
    moment,
    motion_of_mass,
    pseudo_inertia,
    second_derivative,
    shift_integral,
    shift_pseudo_inertia,
    twist_of_mass,
    twist_trace,
)
from pliant.kernels.algebra.vec3 import add, cross, mat, mul, put, put_mat, rotate_mat, vec
from pliant.kernels.flexible.pool import modal_bias, modal_inertia, mode_integral, section_mode
from pliant.kernels.formulations.lagrange_modes import add_to_modes, put_modes, put_places, rate_integrals
from pliant.kernels.kinematics.joints import subspace_column
from pliant.kernels.kinematics.tree import accelerate, move
from pliant.kernels.rows import put_constraint_forces, put_entry, solve_rows
from pliant.system.status import Status


@kernel
def cross_rows(w, F):
    """[w] F"""
    x, y, z = (F[0], F[3], F[6]), (F[1], F[4], F[7]), (F[2], F[5], F[8])
    x, y, z = cross(w, x), cross(w, y), cross(w, z)
    return (x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2])


@kernel
def put_link(system, work, i, part):
    """(L1 - L6): P and F of one link alone, with that part (0 or 1) of the external wrench; its modes too.

    Accelerations of all links are known."""
    body, x, scratch = system.bodies[i], work.bodies[i], work.bodies[i].lagrange
    w, a = vec(x.w), vec(x.a)
    A = second_derivative(w, vec(x.al))
    if body.flex >= 0:
        flexible = system.flexes[body.flex]
        c, S = put_places(system, work, flexible, w)
        put_modes(system, work, flexible, A, a)
        F, f = motion_of_mass(A, a, body.mass, c, S)
        rate, rate_f, second, second_f = rate_integrals(system, work, flexible)
        F, f = add_integral(F, f, 1.0, second, second_f)
        F, f = add_integral(F, f, 2.0, cross_rows(w, rate), cross(w, rate_f))
    else:
        c, S = vec(body.c), pseudo_inertia(sym(body.J))
        F, f = motion_of_mass(A, a, body.mass, c, S)
    F, f = add_integral(F, f, -part, half_cross(vec(x.n)), vec(x.f))
    scratch.mass = body.mass
    put(scratch.c, c)
    put_sym(scratch.S, S)
    put_mat(scratch.F, F)
    put(scratch.f, f)


@routine
def add_to_parent(system, work, i):
    """(L7, L8): P and F of a link and all it carries, joint at rest, to its parent."""
    body, x, scratch = system.bodies[i], work.bodies[i], work.bodies[i].lagrange
    onto, R, m = work.bodies[body.parent].lagrange, mat(x.R), scratch.mass
    o = vec(x.o) if body.point < 0 else vec(x.o_E)
    c, S = shift_pseudo_inertia(m, mul(R, vec(scratch.c)), rotate_sym(R, sym(scratch.S)), o)
    f = mul(R, vec(scratch.f))
    F = shift_integral(rotate_mat(R, mat(scratch.F)), f, o)
    if body.point >= 0:
        add_to_modes(system, work, body.point, m, c, S, F, f)
        s = vec(work.points[body.point].s)
        c, S = shift_pseudo_inertia(m, c, S, s)
        F = shift_integral(F, f, s)
    onto.mass += m
    put(onto.c, add(vec(onto.c), c))
    put_sym(onto.S, add_sym(sym(onto.S), S))
    F, f = add_integral(mat(onto.F), vec(onto.f), 1.0, F, f)
    put_mat(onto.F, F)
    put(onto.f, f)


@routine
def walk_inward(system, work, M, row, i, F, f):
    """(L10): take int (dr) h^T dm of one virtual displacement from link i to the root: its entries of M."""
    while i >= 0:
        body, x = system.bodies[i], work.bodies[i]
        for k in range(body.n_v):
            sv, sw = subspace_column(body, x, k)
            put_entry(M, row, body.v + k, twist_trace(sv, sw, F, f))
        if body.parent >= 0:
            R = mat(x.R)
            F, f = rotate_mat(R, F), mul(R, f)
            if body.point >= 0:
                point = system.points[body.point]
                flexible, parent = system.flexes[point.flex], system.bodies[body.parent]
                F = shift_integral(F, f, vec(x.o_E))
                for j in range(flexible.m):
                    velocity, angular = section_mode(point, work.flex, j)
                    put_entry(M, row, parent.v + parent.n_v + j, twist_trace(velocity, angular, F, f))
                F = shift_integral(F, f, vec(work.points[body.point].s))
            else:
                F = shift_integral(F, f, vec(x.o))
        i = body.parent


@kernel
def put_joint_rows(system, work, M, i):
    """(L9, L10): rows of the velocities of one joint."""
    body, x, scratch = system.bodies[i], work.bodies[i], work.bodies[i].lagrange
    for k in range(body.n_v):
        row = body.v + k
        sv, sw = subspace_column(body, x, k)
        work.dofs[row].row = twist_trace(sv, sw, mat(scratch.F), vec(scratch.f))
        F, f = twist_of_mass(sv, sw, scratch.mass, vec(scratch.c), sym(scratch.S))
        walk_inward(system, work, M, row, i, F, f)
        M[row, row] += work.dofs[row].armature


@kernel
def put_modal_rows(system, work, M, i):
    """(L9, L10): rows of the modes of one link."""
    body, flex = system.bodies[i], work.flex
    flexible, first = system.flexes[body.flex], body.v + body.n_v
    for k in range(flexible.m):
        for l in range(k + 1):
            put_entry(M, first + k, first + l, modal_inertia(flexible, flex, k, l))
        work.dofs[first + k].row = modal_bias(flexible, flex, k)
        F, f = mode_integral(flexible, flex, k)
        walk_inward(system, work, M, first + k, i, F, f)


@routine
def put_rows(system, work, M, vdot, part):
    """M, and left sides in dofs for given vdot, with that part of external wrenches; other forces are in tau.

    Where links are flexible, vdot of their modes must be zero."""
    for i in range(len(M)):
        for j in range(len(M)):
            M[i, j] = 0.0
    accelerate(system, work, vdot)
    for i in range(len(system.bodies)):
        put_link(system, work, i, part)
    for i in range(len(system.bodies) - 1, -1, -1):
        put_joint_rows(system, work, M, i)
        if system.bodies[i].flex >= 0:
            put_modal_rows(system, work, M, i)
        if system.bodies[i].parent >= 0:
            add_to_parent(system, work, i)


@routine
def put_reactions(system, work, vdot, reaction):
    """(L13): what the joints transmit: F of a link and all it carries, with the accelerations that were found."""
    accelerate(system, work, vdot)
    for i in range(len(system.bodies)):
        put_link(system, work, i, 1.0)
    for i in range(len(system.bodies) - 1, -1, -1):
        put(reaction[i], vec(work.bodies[i].lagrange.f))
        put(reaction[i, 3:], moment(mat(work.bodies[i].lagrange.F)))
        if system.bodies[i].parent >= 0:
            add_to_parent(system, work, i)


@kernel(EQUATIONS)
def matrices(system, work, q, v, M, h):
    """M and h of M vdot + h = tau: velocity terms and gravity in h, no gathered forces."""
    move(system, work, q, v)
    for j in range(len(h)):
        h[j] = 0.0
    put_rows(system, work, M, h, 0.0)
    for j in range(len(h)):
        h[j] = work.dofs[j].row
    return Status.OK


@kernel(ACCELERATION)
def lagrange(system, work, q, v, vdot, reaction):
    dofs = work.dofs
    for j in range(len(dofs)):
        vdot[j] = dofs[j].motion_vdot if dofs[j].is_prescribed else 0.0
    put_rows(system, work, work.matrix, vdot, 1.0)
    # (L11)
    failed = solve_rows(dofs, work.matrix, vdot)
    if failed >= 0:
        work.run[0].body = system.dofs[failed].body
        return Status.SINGULAR
    if system.world[0].has_prescribed:
        put_constraint_forces(dofs, work.matrix, vdot)
    if len(reaction) > 0:
        put_reactions(system, work, vdot, reaction)
    return Status.OK

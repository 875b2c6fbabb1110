"""Joints of the articulated recursion: their velocities eliminated on the way in, found on the way out.

s = (sv, sw): a column of the joint subspace S. A joint with several velocities is eliminated one velocity at a time
(ball joints by half solves), so every update is symmetric and nothing is ever symmetrised: long spherical chains keep
their digits [boltzmannhamel]. Numbers in brackets: docs/equations.md."""

from pliant.kernels._jit import kernel
from pliant.kernels.algebra.sym3 import (
    cholesky3,
    lower_solve,
    minus_outer,
    minus_square,
    mul_sym,
    put_sym,
    sym,
    upper_solve,
)
from pliant.kernels.algebra.vec3 import add, dot, mul, mul_t, put, put_at, scale, sub, vec, vec_at
from pliant.kernels.kinematics.joints import ZERO, subspace_column
from pliant.kernels.pivot import invert_pivot
from pliant.system.tables import JointKind

ZERO_SYM = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
ZERO_MAT = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


# --- one velocity: of numbers, or of lanes ----------------------------------------------------------------------------


@kernel
def pivot_of(sv, sw, A, B, C, armature):
    """(A4): U = I s, and s^T U + armature."""
    Uv = add(mul_sym(A, sv), mul(B, sw))
    Uw = add(mul_t(B, sv), mul_sym(C, sw))
    return Uv, Uw, dot(sv, Uv) + dot(sw, Uw) + armature


@kernel
def pivot_of_revolute(axis, B, C, armature):
    """pivot_of for s = (0, axis)."""
    Uv, Uw = mul(B, axis), mul_sym(C, axis)
    return Uv, Uw, dot(axis, Uw) + armature


@kernel
def eliminate(A, B, C, pf, pn, Uv, Uw, d, t):
    """(A5): Ia = I - d U U^T, pa = p' + d t U, d the inverse pivot, t the remaining force."""
    A, B, C = minus_square(A, Uv, d), minus_outer(B, Uv, Uw, d), minus_square(C, Uw, d)
    return A, B, C, add(pf, scale(d * t, Uv)), add(pn, scale(d * t, Uw))


@kernel
def solve_velocity(d, t, Uv, Uw, a, al):
    """(A9): acceleration along one velocity."""
    return d * (t - dot(Uv, a) - dot(Uw, al))


# --- joints -----------------------------------------------------------------------------------------------------------


@kernel
def eliminate_ball(work, body, scratch, A, B, C, pf, pn):
    """(A6): the rotational blocks of Ia vanish exactly. is_ok = False if C is not positive."""
    l = cholesky3(C)
    put_sym(scratch.ball_l, l)
    j = body.v
    tau = (work.dofs[j].tau, work.dofs[j + 1].tau, work.dofs[j + 2].tau)
    t = lower_solve(l, sub(tau, pn))
    put(scratch.ball_t, t)
    # rows of B are the columns of B^T
    y0 = lower_solve(l, (B[0], B[1], B[2]))
    y1 = lower_solve(l, (B[3], B[4], B[5]))
    y2 = lower_solve(l, (B[6], B[7], B[8]))
    put(scratch.ball_Y, y0)
    put(scratch.ball_Y[3:], y1)
    put(scratch.ball_Y[6:], y2)
    Aa = (
        A[0] - dot(y0, y0),
        A[1] - dot(y0, y1),
        A[2] - dot(y0, y2),
        A[3] - dot(y1, y1),
        A[4] - dot(y1, y2),
        A[5] - dot(y2, y2),
    )
    return l[0] > 0.0, Aa, ZERO_MAT, ZERO_SYM, add(pf, (dot(y0, t), dot(y1, t), dot(y2, t))), tau


@kernel
def eliminate_column(dof, scratch, k, Uv, Uw, pivot, t, A, B, C, pf, pn):
    is_ok, d = invert_pivot(dof, pivot)
    put_at(scratch.Uv, 3 * k, Uv)
    put_at(scratch.Uw, 3 * k, Uw)
    scratch.inverse_pivot[k] = d
    scratch.t[k] = t
    A, B, C, pf, pn = eliminate(A, B, C, pf, pn, Uv, Uw, d, t)
    return is_ok, A, B, C, pf, pn


@kernel
def eliminate_velocity(work, body, x, scratch, k, A, B, C, pf, pn):
    """One velocity of any joint."""
    dof = work.dofs[body.v + k]
    sv, sw = subspace_column(body, x, k)
    Uv, Uw, pivot = pivot_of(sv, sw, A, B, C, dof.armature)
    t = dof.tau - dot(sv, pf) - dot(sw, pn)
    return eliminate_column(dof, scratch, k, Uv, Uw, pivot, t, A, B, C, pf, pn)


@kernel
def eliminate_revolute(work, body, scratch, A, B, C, pf, pn):
    """eliminate_velocity for s = (0, axis)."""
    dof, axis = work.dofs[body.v], vec(body.axis)
    Uv, Uw, pivot = pivot_of_revolute(axis, B, C, dof.armature)
    t = dof.tau - dot(axis, pn)
    return eliminate_column(dof, scratch, 0, Uv, Uw, pivot, t, A, B, C, pf, pn)


@kernel
def eliminate_rotor(dof, scratch):
    """(A4) of a body without inertia but its armature; False if that is not positive."""
    put(scratch.Uv, ZERO)
    put(scratch.Uw, ZERO)
    is_ok, inverse = invert_pivot(dof, dof.armature)
    scratch.inverse_pivot[0] = inverse
    scratch.t[0] = dof.tau
    return is_ok


@kernel
def eliminate_joint(work, body, x, scratch, A, B, C, pf, pn):
    """All velocities of one joint; is_ok = False if a pivot is not positive."""
    is_ok = True
    if body.kind == JointKind.REVOLUTE:
        is_ok, A, B, C, pf, pn = eliminate_revolute(work, body, scratch, A, B, C, pf, pn)
    elif body.is_plain_ball:
        is_ok, A, B, C, pf, pn = eliminate_ball(work, body, scratch, A, B, C, pf, pn)
    else:
        for k in range(body.n_v):
            is_good, A, B, C, pf, pn = eliminate_velocity(work, body, x, scratch, k, A, B, C, pf, pn)
            is_ok = is_ok and is_good
    return is_ok, A, B, C, pf, pn


@kernel
def solve_joint(body, x, scratch, a, al, vdot):
    """Accelerations of one joint, from those its parent gives it; returned with them."""
    j = body.v
    if body.is_plain_ball:
        # (A10)
        l, t, Y = sym(scratch.ball_l), vec(scratch.ball_t), scratch.ball_Y
        Ya = add(add(scale(a[0], vec(Y)), scale(a[1], vec(Y[3:]))), scale(a[2], vec(Y[6:])))
        u = sub(upper_solve(l, sub(t, Ya)), al)
        put_at(vdot, j, u)
        return a, add(al, u)
    for k in range(body.n_v - 1, -1, -1):
        Uv, Uw = vec_at(scratch.Uv, 3 * k), vec_at(scratch.Uw, 3 * k)
        u = solve_velocity(scratch.inverse_pivot[k], scratch.t[k], Uv, Uw, a, al)
        vdot[j + k] = u
        sv, sw = subspace_column(body, x, k)
        a, al = add(a, scale(u, sv)), add(al, scale(u, sw))
    return a, al

"""The right-hand side of eight states at once in space: trees of rigid bodies on revolute, prismatic and fixed joints.

The sweeps of kinematics/tree.py and articulated.py on exact lanes, by the same functions of one body, as
articulated_lanes.py does in the plane. Numbers in brackets: docs/equations.md."""

from typing import Any

from pliant.kernels._jit import DERIVATIVES, kernel
from pliant.kernels.algebra.lanes import at, larger, store, store3
from pliant.kernels.algebra.spatial import shift_inertia
from pliant.kernels.algebra.sym3 import add_sym
from pliant.kernels.algebra.vec3 import add, add_mat, cross, dot, mat, mul_t, scale, vec
from pliant.kernels.formulations.articulated import (
    body_inertia,
    carry_acceleration,
    rotate_wrench_and_inertia,
    with_bias,
)
from pliant.kernels.formulations.articulated_joints import eliminate, pivot_of, pivot_of_revolute, solve_velocity
from pliant.kernels.formulations.articulated_lanes import (
    PIVOT_AT,
    TAU_AT,
    at2,
    at3,
    first_body,
    gather_in_lanes,
    put_rates,
    store2,
)
from pliant.kernels.kinematics.joints import ZERO, axis_rotation, slide
from pliant.kernels.kinematics.tree import carry
from pliant.system.tables import JointKind

# rows of a body: R, o, v, w, z, then A, B, C, p of I and a, al
R_AT, O_AT, V_AT, W_AT, ZV_AT, ZW_AT, A_AT, B_AT, C_AT, PF_AT, PN_AT, ACC_AT, ALPHA_AT, BODY_ROWS = (
    *(0, 9, 12, 15, 18, 21, 24, 30, 39, 45, 48, 51, 54, 57),
)
# of a velocity: U, 1 / pivot and t
UV_AT, UW_AT, INVERSE_AT, VELOCITY_ROWS = 0, 3, 6, 8


def n_rows(system: Any) -> int:
    """Of the room."""
    return first_body(system.world[0]) + BODY_ROWS * len(system.bodies) + VELOCITY_ROWS * int(system.world[0].n_v)


@kernel
def sym_at(table, i):
    a, b = at3(table, i), at3(table, i + 3)
    return a[0], a[1], a[2], b[0], b[1], b[2]


@kernel
def mat_at(table, i):
    a, b, c = at3(table, i), at3(table, i + 3), at3(table, i + 6)
    return a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]


@kernel
def store_sym(table, i, s):
    store3(table, i, (s[0], s[1], s[2]))
    store3(table, i + 3, (s[3], s[4], s[5]))


@kernel
def store_mat(table, i, m):
    store_sym(table, i, m)
    store3(table, i + 6, (m[6], m[7], m[8]))


@kernel
def inertia_at(table, i):
    """I and p of the body whose rows begin at i."""
    A, B, C = sym_at(table, i + A_AT), mat_at(table, i + B_AT), sym_at(table, i + C_AT)
    return A, B, C, at3(table, i + PF_AT), at3(table, i + PN_AT)


@kernel
def column_of(body):
    """The one column of the joint subspace, as subspace_column."""
    axis = vec(body.axis)
    is_revolute = body.kind == JointKind.REVOLUTE
    return ZERO if is_revolute else axis, axis if is_revolute else ZERO


@kernel
def move_in_lanes(bodies, q, v, room):
    """As move."""
    for i in range(len(bodies)):
        body, first = bodies[i], BODY_ROWS * i
        R, o, v_J, w_J = mat(body.R_PJ), vec(body.p_PJ), ZERO, ZERO
        if body.kind == JointKind.REVOLUTE:
            R, w_J = axis_rotation(body, at(q, body.q)), scale(at(v, body.v), vec(body.axis))
        elif body.kind == JointKind.PRISMATIC:
            o, v_J = slide(body, at(q, body.q)), scale(at(v, body.v), vec(body.axis))
        motion, z = (v_J, w_J), (add(ZERO, cross(w_J, v_J)), ZERO)
        if body.parent >= 0:
            parent = BODY_ROWS * body.parent
            motion, z = carry(R, o, motion, z, (at3(room, parent + V_AT), at3(room, parent + W_AT)))
        store_mat(room, first + R_AT, R)
        store3(room, first + O_AT, o)
        store3(room, first + V_AT, motion[0])
        store3(room, first + W_AT, motion[1])
        store3(room, first + ZV_AT, z[0])
        store3(room, first + ZW_AT, z[1])


@kernel
def sweep_inward(system, work, room, joints, tau, worst):
    """As articulated.sweep_inward. Returns worst: in every lane the largest of it and all -pivot."""
    bodies = system.bodies
    for i in range(len(bodies) - 1, -1, -1):
        body, first = bodies[i], BODY_ROWS * i
        if body.is_leaf:
            A, B, C, pf, pn = body_inertia(body, at3(room, first + W_AT), ZERO, ZERO)
        else:
            A, B, C, pf, pn = inertia_at(room, first)
        pf, pn = with_bias(A, B, C, pf, pn, at3(room, first + ZV_AT), at3(room, first + ZW_AT))
        if body.n_v == 1:
            j, armature = body.v, work.dofs[body.v].armature
            row, (sv, sw) = VELOCITY_ROWS * j, column_of(body)
            if body.kind == JointKind.REVOLUTE:
                Uv, Uw, pivot = pivot_of_revolute(sw, B, C, armature)
                t = at(tau, j) - dot(sw, pn)
            else:
                Uv, Uw, pivot = pivot_of(sv, sw, A, B, C, armature)
                t = at(tau, j) - dot(sv, pf) - dot(sw, pn)
            worst = larger(-pivot, worst)
            d = 1.0 / pivot
            store3(joints, row + UV_AT, Uv)
            store3(joints, row + UW_AT, Uw)
            store2(joints, row + INVERSE_AT, (d, t))
            A, B, C, pf, pn = eliminate(A, B, C, pf, pn, Uv, Uw, d, t)
        if body.parent >= 0:
            parent, R, o = BODY_ROWS * body.parent, mat_at(room, first + R_AT), at3(room, first + O_AT)
            A, B, C, pf, pn = rotate_wrench_and_inertia(R, A, B, C, pf, pn)
            B, C = shift_inertia(A, B, C, o)
            pn = add(pn, cross(o, pf))
            if body.is_last_child:
                w = at3(room, parent + W_AT)
                A0, B0, C0, f0, n0 = body_inertia(bodies[body.parent], w, ZERO, ZERO)
            else:
                A0, B0, C0, f0, n0 = inertia_at(room, parent)
            store_sym(room, parent + A_AT, add_sym(A0, A))
            store_mat(room, parent + B_AT, add_mat(B0, B))
            store_sym(room, parent + C_AT, add_sym(C0, C))
            store3(room, parent + PF_AT, add(f0, pf))
            store3(room, parent + PN_AT, add(n0, pn))
    return worst


@kernel
def sweep_outward(system, room, joints, vdot):
    """As articulated.sweep_outward."""
    g, bodies = vec(system.world[0].gravity), system.bodies
    for i in range(len(bodies)):
        body, first = bodies[i], BODY_ROWS * i
        R, o = mat_at(room, first + R_AT), at3(room, first + O_AT)
        # (A8)
        if body.parent < 0:
            a, al = mul_t(R, scale(-1.0, g)), ZERO
        else:
            parent = BODY_ROWS * body.parent
            a, al = carry_acceleration(R, o, at3(room, parent + ACC_AT), at3(room, parent + ALPHA_AT))
        if body.n_v == 1:
            row, (sv, sw) = VELOCITY_ROWS * body.v, column_of(body)
            d, t = at2(joints, row + INVERSE_AT)
            u = solve_velocity(d, t, at3(joints, row + UV_AT), at3(joints, row + UW_AT), a, al)
            store(vdot, body.v, u)
            a, al = add(a, scale(u, sv)), add(al, scale(u, sw))
        # (A11)
        store3(room, first + ACC_AT, add(a, at3(room, first + ZV_AT)))
        store3(room, first + ALPHA_AT, add(al, at3(room, first + ZW_AT)))


@kernel(DERIVATIVES)
def derivatives(system, work, t, y, ydot, room):
    n = system.world[0].n_v
    q, v, tau = y[:n], y[n : 2 * n], room[TAU_AT:]
    bodies = room[first_body(system.world[0]) :]
    joints = bodies[BODY_ROWS * len(system.bodies) :]
    move_in_lanes(system.bodies, q, v, bodies)
    damper_power, motor_power = gather_in_lanes(system, work, t, q, v, room)
    store(room, PIVOT_AT, sweep_inward(system, work, bodies, joints, tau, at(room, PIVOT_AT)))
    sweep_outward(system, bodies, joints, ydot[n : 2 * n])
    put_rates(system, v, damper_power, motor_power, ydot)
    return 0

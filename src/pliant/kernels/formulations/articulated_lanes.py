"""The right-hand side of eight states at once: trees of rigid bodies in the x-y plane, under gravity and the springs,
dampers and motors of their joints.

The sweeps of kinematics/planar.py and articulated_planar.py on exact lanes, by the same functions of one body: every
lane has the bits that dynamics.derivative gives of its state. Numbers in brackets: docs/equations.md."""

from typing import Any

from pliant.kernels._jit import DERIVATIVES, STATE, kernel
from pliant.kernels.algebra.lanes import WIDTH, at, larger, store, store3
from pliant.kernels.forces.joints import add_damper, add_motor, elastic_force
from pliant.kernels.formulations.articulated_planar import (
    add_inertia,
    body_inertia,
    eliminate,
    pivot_of,
    remaining_force,
    shift_and_rotate,
    solve_velocity,
    with_bias,
)
from pliant.kernels.kinematics.planar import add_along, carry_planar, cross_planar, rotate_back, shift_acceleration
from pliant.system.tables import JointKind, Power

# numba sees the caller as a name of this module
call_state = STATE.call

PIVOT_AT, TAU_AT = 0, 1  # rows of the room: largest -pivot, tau of every velocity, signals, then bodies and velocities
# rows of a body: (c, s) of R, o, (cos, sin) of the angle of a planar joint, v and w, z, I, p, a
R_AT, O_AT, TURN_AT, V_AT, Z_AT, I_AT, P_AT, A_AT, BODY_ROWS = 0, 2, 4, 6, 9, 11, 17, 20, 23
# of a velocity: U, 1 / pivot and t
U_AT, INVERSE_AT, VELOCITY_ROWS = 0, 3, 5
NO_WRENCH = (0.0, 0.0, 0.0)


def n_rows(system: Any) -> int:
    """Of the room."""
    return first_body(system.world[0]) + BODY_ROWS * len(system.bodies) + VELOCITY_ROWS * int(system.world[0].n_v)


# --- what articulated_spatial_lanes.py shares -------------------------------------------------------------------------


@kernel
def first_body(world):
    return TAU_AT + world.n_v + world.n_acting


@kernel
def at2(table, i):
    return at(table, i), at(table, i + 1)


@kernel
def at3(table, i):
    return at(table, i), at(table, i + 1), at(table, i + 2)


@kernel
def store2(table, i, a):
    store(table, i, a[0])
    store(table, i + 1, a[1])


@kernel
def put_signals(system, work, t, signals):
    """Value of every signal in every lane; t: one time per lane."""
    unused = work.zero_vdot
    for s in range(WIDTH):
        call_state(work.calls[0].signals, (system, work, t[s], unused, unused))
        for k in range(system.world[0].n_acting):
            signals[k, s] = work.signals[k].s


@kernel
def gather_in_lanes(system, work, t, q, v, room):
    """As gather_joint_forces: tau into its rows; returns the powers of dampers and motors."""
    world = system.world[0]
    signals = room[TAU_AT + world.n_v :]
    if world.n_acting > 0:
        put_signals(system, work, t, signals)
    damper_power, motor_power = 0.0, 0.0
    for j in range(len(system.dofs)):
        dof = system.dofs[j]
        force = 0.0
        if dof.stiffness != 0.0 and dof.q >= 0:
            force = force + elastic_force(dof, at(q, dof.q))
        if dof.damping != 0.0:
            force, damper_power = add_damper(dof, at(v, j), force, damper_power)
        if dof.motor >= 0:
            torque = dof.gear * (0.0 + at(signals, dof.motor))
            force, motor_power = add_motor(torque, at(v, j), force, motor_power)
        store(room, TAU_AT + j, work.dofs[j].tau_extra + force)
    return damper_power, motor_power


@kernel
def put_rates(system, v, damper_power, motor_power, ydot):
    """Rates of coordinates (has_plain_rates) and works."""
    n_v = len(v)
    for j in range(n_v):
        store(ydot, j, at(v, j))
    for k in range(len(system.quadratures)):
        store(ydot, 2 * n_v + k, damper_power if system.quadratures[k] == Power.DAMPER else motor_power)


# --- in the plane -----------------------------------------------------------------------------------------------------


@kernel
def inertia_at(table, i):
    """I and p of the body whose rows begin at i."""
    xx, xy, yy = at3(table, i + I_AT)
    bx, by, C = at3(table, i + I_AT + 3)
    return (xx, xy, yy, bx, by, C), at3(table, i + P_AT)


@kernel
def store_inertia(table, i, I, p):
    store3(table, i + I_AT, (I[0], I[1], I[2]))
    store3(table, i + I_AT + 3, (I[3], I[4], I[5]))
    store3(table, i + P_AT, p)


@kernel
def column_at(body, table, i, k):
    """Column k of the joint subspace, as planar_column."""
    sx, sy, sw = 0.0, 0.0, 0.0
    if body.kind == JointKind.REVOLUTE:
        sw = body.axis[2]
    elif body.kind == JointKind.PRISMATIC:
        sx, sy = body.axis[0], body.axis[1]
    elif k == 2:
        sw = 1.0
    else:
        c, s = at2(table, i + TURN_AT)
        if k == 0:
            sx, sy = c, -s
        else:
            sx, sy = s, c
    return sx, sy, sw


@kernel
def move_in_lanes(bodies, q, v, room):
    """As move_planar."""
    for i in range(len(bodies)):
        body, first = bodies[i], BODY_ROWS * i
        (c, s), o, u, turn = cross_planar(body, q, v)
        vx, vy, w = u
        zx, zy = 0.0, 0.0
        if body.parent >= 0:
            (vx, vy, w), (zx, zy) = carry_planar(o, u, at3(room, BODY_ROWS * body.parent + V_AT))
        vx, vy = rotate_back(c, s, vx, vy)
        store2(room, first + R_AT, (c, s))
        store2(room, first + O_AT, o)
        store2(room, first + TURN_AT, turn)
        store3(room, first + V_AT, (vx, vy, w))
        store2(room, first + Z_AT, rotate_back(c, s, zx, zy))


@kernel
def sweep_inward(system, work, room, joints, tau, worst):
    """As articulated_planar.sweep_inward. Returns worst: in every lane the largest of it and all -pivot."""
    bodies = system.bodies
    for i in range(len(bodies) - 1, -1, -1):
        body, first = bodies[i], BODY_ROWS * i
        if body.is_leaf:
            I, p = body_inertia(body, at(room, first + V_AT + 2), NO_WRENCH)
        else:
            I, p = inertia_at(room, first)
        zx, zy = at2(room, first + Z_AT)
        p = with_bias(I, p, (zx, zy, 0.0))
        for k in range(body.n_v):
            row, s = VELOCITY_ROWS * (body.v + k), column_at(body, room, first, k)
            U, pivot = pivot_of(I, s, work.dofs[body.v + k].armature)
            worst = larger(-pivot, worst)
            d, t = 1.0 / pivot, remaining_force(s, p, at(tau, body.v + k))
            store3(joints, row + U_AT, U)
            store2(joints, row + INVERSE_AT, (d, t))
            I, p = eliminate(I, p, U, d, t)
        if body.parent >= 0:
            parent = BODY_ROWS * body.parent
            c, s = at2(room, first + R_AT)
            shifted = shift_and_rotate(c, s, at2(room, first + O_AT), I, p)
            if body.is_last_child:
                I, p = body_inertia(bodies[body.parent], at(room, parent + V_AT + 2), NO_WRENCH)
            else:
                I, p = inertia_at(room, parent)
            I, p = add_inertia(I, p, shifted)
            store_inertia(room, parent, I, p)
    return worst


@kernel
def sweep_outward(system, room, joints, vdot):
    """As articulated_planar.sweep_outward."""
    g, bodies = system.world[0].gravity, system.bodies
    for i in range(len(bodies)):
        body, first = bodies[i], BODY_ROWS * i
        # (A8)
        c, s = at2(room, first + R_AT)
        ax, ay, al = -g[0], -g[1], 0.0
        if body.parent >= 0:
            ax, ay, al = shift_acceleration(at2(room, first + O_AT), at3(room, BODY_ROWS * body.parent + A_AT))
        ax, ay = rotate_back(c, s, ax, ay)
        a = (ax, ay, al)
        for k in range(body.n_v - 1, -1, -1):
            row = VELOCITY_ROWS * (body.v + k)
            d, t = at2(joints, row + INVERSE_AT)
            u = solve_velocity(d, t, at3(joints, row + U_AT), a)
            store(vdot, body.v + k, u)
            a = add_along(a, u, column_at(body, room, first, k))
        # (A11)
        zx, zy = at2(room, first + Z_AT)
        store3(room, first + A_AT, (a[0] + zx, a[1] + zy, a[2]))


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

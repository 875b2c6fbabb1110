"""Frames at one instant: placement, velocity, and the Jacobian J of (velocity, angular velocity) = J v, column by
column from the frame to the root. Axes: those of the world at the frame's origin, or (is_own) the frame's own."""

from pliant.kernels._jit import INTEGER, MATRICES, MATRIX, SYSTEM, WORK, Contract, kernel
from pliant.kernels.algebra.vec3 import cross, mul_t, put, put_mat, sub
from pliant.kernels.kinematics.columns import joint_column, mode_column
from pliant.kernels.kinematics.tree import (
    accelerate,
    frame_acceleration,
    frame_placement,
    frame_velocity,
    place_at,
)

# jacobians(system, work, frame, is_own, q, v, J) -> 0: J (rows, 6, n_v); v is not looked at.
JACOBIANS = Contract(INTEGER(SYSTEM, WORK, INTEGER, INTEGER, MATRIX, MATRIX, MATRICES), is_entered=True)
# frame_motions(system, work, frame, is_own, q, v, out) -> 0: one row of out per row of q and v.
FRAME_MOTIONS = Contract(INTEGER(SYSTEM, WORK, INTEGER, INTEGER, MATRIX, MATRIX, MATRIX), is_entered=True)


@kernel
def put_column(J, j, R, is_own, velocity, angular):
    """Column j, given in world axes; R: those of the frame."""
    if is_own:
        velocity, angular = mul_t(R, velocity), mul_t(R, angular)
    for k in range(3):
        J[k, j] = velocity[k]
        J[3 + k, j] = angular[k]


@kernel
def put_jacobian(system, work, frame, is_own, J):
    """All columns that move the frame; the others are left as they are. After place."""
    R_F, p_F = frame_placement(system, work, frame)
    i, carrier = system.frames[frame].body, system.frames[frame].point
    while i >= 0:
        body, x = system.bodies[i], work.bodies[i]
        if carrier >= 0:
            # modes move and rotate the section that carries what is outboard
            for j in range(system.flexes[body.flex].m):
                velocity, angular = mode_column(system, work, x, carrier, p_F, j)
                put_column(J, body.v + body.n_v + j, R_F, is_own, velocity, angular)
        for k in range(body.n_v):
            velocity, angular = joint_column(body, x, p_F, k)
            put_column(J, body.v + k, R_F, is_own, velocity, angular)
        i, carrier = body.parent, body.point


@kernel(JACOBIANS)
def jacobians(system, work, frame, is_own, q, v, J):
    """J[row] of one frame."""
    for row in range(len(q)):
        place_at(system, work, q[row], v[row])
        for k in range(6):
            for j in range(J.shape[2]):
                J[row, k, j] = 0.0
        put_jacobian(system, work, frame, is_own, J[row])
    return 0


@kernel(FRAME_MOTIONS)
def frame_motions(system, work, frame, is_own, q, v, out):
    """out[row] = R_WF (9), p_WF (3); velocity, angular velocity (6); J' v: their rates while vdot vanishes (6)."""
    for row in range(len(q)):
        place_at(system, work, q[row], v[row])
        accelerate(system, work, work.zero_vdot)
        R, p = frame_placement(system, work, frame)
        velocity, angular = frame_velocity(system, work, frame)
        bias, angular_bias = frame_acceleration(system, work, frame)
        if is_own:
            # d/dt (R^T u) = R^T (u' - w x u)
            bias, angular_bias = mul_t(R, sub(bias, cross(angular, velocity))), mul_t(R, angular_bias)
            velocity, angular = mul_t(R, velocity), mul_t(R, angular)
        put_mat(out[row], R)
        put(out[row, 9:], p)
        put(out[row, 12:], velocity)
        put(out[row, 15:], angular)
        put(out[row, 18:], bias)
        put(out[row, 21:], angular_bias)
    return 0

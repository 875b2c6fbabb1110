"""Columns of Jacobians: what one velocity does to a place, world axes. After place."""

from pliant.kernels._jit import kernel, routine
from pliant.kernels.algebra.vec3 import add, cross, dot, mat, mul, sub, vec
from pliant.kernels.flexible.pool import section_mode
from pliant.kernels.kinematics.joints import subspace_column
from pliant.kernels.kinematics.planar import planar_column


@kernel
def mode_column(system, work, x, k, p, j):
    """World velocity and angular velocity, per rate of mode j of the body at x, of a point p that section k carries."""
    R, (velocity, angular) = mat(x.R_WB), section_mode(system.points[k], work.flex, j)
    arm = sub(p, add(vec(x.p_WB), mul(R, vec(work.points[k].s))))
    angular = mul(R, angular)
    return add(mul(R, velocity), cross(angular, arm)), angular


@kernel
def joint_column(body, x, p, k):
    """World velocity and angular velocity, per velocity k of its joint, of a point p that the body at x carries."""
    R = mat(x.R_WB)
    sv, sw = subspace_column(body, x, k)
    angular = mul(R, sw)
    return add(mul(R, sv), cross(angular, sub(p, vec(x.p_WB)))), angular


@routine
def add_row(system, work, frame, p, e, row):
    """row += e . (what velocities do to the place p of the body (the section) of a frame)."""
    k, carrier = system.frames[frame].body, system.frames[frame].point
    while k >= 0:
        body, x = system.bodies[k], work.bodies[k]
        if system.world[0].uses_planar:
            c, s, ax, ay = x.R_WB[0], x.R_WB[3], p[0] - x.p_WB[0], p[1] - x.p_WB[1]
            for j in range(body.n_v):
                sx, sy, sw = planar_column(body, x, j)
                row[body.v + j] += e[0] * (c * sx - s * sy - sw * ay) + e[1] * (s * sx + c * sy + sw * ax)
        else:
            if carrier >= 0:
                for j in range(system.flexes[body.flex].m):
                    velocity, _ = mode_column(system, work, x, carrier, p, j)
                    row[body.v + body.n_v + j] += dot(e, velocity)
            for j in range(body.n_v):
                velocity, _ = joint_column(body, x, p, j)
                row[body.v + j] += dot(e, velocity)
        k, carrier = body.parent, body.point

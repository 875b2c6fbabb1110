"""Columns of Jacobians: what one velocity does to a place, world axes. After place."""

from pliant.kernels._jit import kernel
from pliant.kernels.algebra.vec3 import add, cross, mat, mul, sub, vec
from pliant.kernels.flexible.pool import section_mode
from pliant.kernels.kinematics.joints import subspace_column


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

"""Columns of Jacobians: what one velocity does to a place, world axes. After place."""

from pliant.kernels._jit import kernel
from pliant.kernels.algebra.vec3 import add, cross, mat, mul, sub, vec
from pliant.kernels.kinematics.joints import subspace_column


@kernel
def mode_column(system, work, x, k, p, j):
    """World velocity and spin, per rate of mode j of the body at x, of a point p that section k carries."""
    R, L = mat(x.R_WB), system.points[k].Lambda
    arm = sub(p, add(vec(x.p_WB), mul(R, vec(work.points[k].s))))
    spin = mul(R, vec(work.flex[L + 6 * j + 3 :]))
    return add(mul(R, vec(work.flex[L + 6 * j :])), cross(spin, arm)), spin


@kernel
def joint_column(body, x, p, k):
    """World velocity and spin of a point p of the body at x, or carried by it, per velocity k of its joint."""
    R = mat(x.R_WB)
    sv, sw = subspace_column(body, x, k)
    spin = mul(R, sw)
    return add(mul(R, sv), cross(spin, sub(p, vec(x.p_WB)))), spin

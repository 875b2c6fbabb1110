"""Quaternions x y z w, stored at an offset of a state vector; of any non-zero length: only the direction counts."""

import math

from pliant.kernels._jit import kernel
from pliant.kernels.algebra.vec3 import add, cross, dot, scale


@kernel
def quaternion_matrix(q, i):
    """Rotation matrix R_JB of q[i:i+4]."""
    x, y, z, w = q[i], q[i + 1], q[i + 2], q[i + 3]
    s = 2.0 / (x * x + y * y + z * z + w * w)
    return (
        1.0 - s * (y * y + z * z),
        s * (x * y - z * w),
        s * (x * z + y * w),
        s * (x * y + z * w),
        1.0 - s * (x * x + z * z),
        s * (y * z - x * w),
        s * (x * z - y * w),
        s * (y * z + x * w),
        1.0 - s * (x * x + y * y),
    )


@kernel
def quaternion_rate(q, i, w, qdot):
    """qdot = 1/2 q (w, 0), w in child axes."""
    x, y, z, s = q[i], q[i + 1], q[i + 2], q[i + 3]
    qdot[i] = 0.5 * (s * w[0] + y * w[2] - z * w[1])
    qdot[i + 1] = 0.5 * (s * w[1] + z * w[0] - x * w[2])
    qdot[i + 2] = 0.5 * (s * w[2] + x * w[1] - y * w[0])
    qdot[i + 3] = -0.5 * (x * w[0] + y * w[1] + z * w[2])


@kernel
def rotation_vector(q, i):
    """Axis times angle (0..pi) of q[i:i+4]; the same in child and parent axes."""
    return signed_rotation_vector(q, i, -1.0 if q[i + 3] < 0.0 else 1.0)


@kernel
def signed_rotation_vector(q, i, sense):
    """Axis times angle of sense q[i:i+4], sense +1 or -1: while it does not change, the angle goes on beyond pi."""
    x, y, z, w = sense * q[i], sense * q[i + 1], sense * q[i + 2], sense * q[i + 3]
    s = math.sqrt(x * x + y * y + z * z)
    # angle / sin(angle / 2), whose limit at 0 is 2 / w
    factor = 2.0 * math.atan2(s, w) / s if s > 1e-12 * abs(w) else 2.0 / w
    return (factor * x, factor * y, factor * z)


@kernel
def rotate_quaternion(q, i, rotation, out):
    """out = q[i:i+4] after a rotation (axis times angle) in child axes."""
    half = 0.5 * math.sqrt(dot(rotation, rotation))
    # sin(half) / angle, whose limit at 0 is 1/2
    s = 0.5 * math.sin(half) / half if half > 1e-8 else 0.5
    c = math.cos(half)
    a, b, d = s * rotation[0], s * rotation[1], s * rotation[2]
    x, y, z, w = q[i], q[i + 1], q[i + 2], q[i + 3]
    out[i] = x * c + w * a + y * d - z * b
    out[i + 1] = y * c + w * b + z * a - x * d
    out[i + 2] = z * c + w * d + x * b - y * a
    out[i + 3] = w * c - x * a - y * b - z * d


@kernel
def mean_rotated(rotation, u):
    """Mean of R(s rotation) u over s = 0 .. 1: the way along u in axes that rotate meanwhile."""
    square = dot(rotation, rotation)
    angle = math.sqrt(square)
    if angle > 1e-3:
        first, second = (1.0 - math.cos(angle)) / square, (angle - math.sin(angle)) / (square * angle)
    else:
        first, second = 0.5 - square / 24.0, 1.0 / 6.0 - square / 120.0
    across = cross(rotation, u)
    return add(u, add(scale(first, across), scale(second, cross(rotation, across))))


@kernel
def quaternion_change(q, i, other):
    """The angular velocity, child axes, that leads from q[i:i+4] to the other one in unit time, to first order: twice
    the vector part of conjugate(q) (other - q) over |q|^2."""
    x, y, z, w = q[i], q[i + 1], q[i + 2], q[i + 3]
    a, b, c, d = other[i] - x, other[i + 1] - y, other[i + 2] - z, other[i + 3] - w
    s = 2.0 / (x * x + y * y + z * z + w * w)
    return (
        s * (w * a - d * x - (y * c - z * b)),
        s * (w * b - d * y - (z * a - x * c)),
        s * (w * c - d * z - (x * b - y * a)),
    )

"""Quaternions x y z w, stored at an offset of a state vector; of any non-zero length: only the direction counts."""

import math

from pliant.kernels._jit import kernel


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
    x, y, z, w = q[i], q[i + 1], q[i + 2], q[i + 3]
    if w < 0.0:
        x, y, z, w = -x, -y, -z, -w
    s = math.sqrt(x * x + y * y + z * z)
    # angle / sin(angle / 2), whose limit at 0 is 2 / w
    factor = 2.0 * math.atan2(s, w) / s if s > 1e-12 * w else 2.0 / w
    return (factor * x, factor * y, factor * z)

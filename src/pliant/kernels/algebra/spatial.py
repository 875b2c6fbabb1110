"""Spatial inertias as blocks A = vv and C = ww (symmetric), B = vw (general): moved from place to place.

Spatial order (translation, rotation)."""

from pliant.kernels._jit import kernel


@kernel
def shift_rigid_inertia(m, c, J, o):
    """First moment and inertia about the origin of a rigid body given at origin + o: J' = J - [o][u] - [u][o]."""
    u = (c[0] + 0.5 * m * o[0], c[1] + 0.5 * m * o[1], c[2] + 0.5 * m * o[2])
    xx, yy, zz = 2.0 * u[0] * o[0], 2.0 * u[1] * o[1], 2.0 * u[2] * o[2]
    xy, xz, yz = u[0] * o[1] + u[1] * o[0], u[0] * o[2] + u[2] * o[0], u[1] * o[2] + u[2] * o[1]
    moved = (c[0] + m * o[0], c[1] + m * o[1], c[2] + m * o[2])
    return moved, (J[0] + yy + zz, J[1] - xy, J[2] - xz, J[3] + xx + zz, J[4] - yz, J[5] + xx + yy)


@kernel
def shift_inertia(A, B, C, o):
    """Blocks at the origin of an inertia given at origin + o: B' = B - A[o], C' = C + [o](B - A[o]/2) + transpose."""
    x, y, z = o
    Ao = (
        A[1] * z - A[2] * y,
        A[2] * x - A[0] * z,
        A[0] * y - A[1] * x,
        A[3] * z - A[4] * y,
        A[4] * x - A[1] * z,
        A[1] * y - A[3] * x,
        A[4] * z - A[5] * y,
        A[5] * x - A[2] * z,
        A[2] * y - A[4] * x,
    )
    H0, H1, H2 = B[0] - 0.5 * Ao[0], B[1] - 0.5 * Ao[1], B[2] - 0.5 * Ao[2]
    H3, H4, H5 = B[3] - 0.5 * Ao[3], B[4] - 0.5 * Ao[4], B[5] - 0.5 * Ao[5]
    H6, H7, H8 = B[6] - 0.5 * Ao[6], B[7] - 0.5 * Ao[7], B[8] - 0.5 * Ao[8]
    moved = (
        B[0] - Ao[0],
        B[1] - Ao[1],
        B[2] - Ao[2],
        B[3] - Ao[3],
        B[4] - Ao[4],
        B[5] - Ao[5],
        B[6] - Ao[6],
        B[7] - Ao[7],
        B[8] - Ao[8],
    )
    grown = (
        C[0] + 2.0 * (y * H6 - z * H3),
        C[1] + (y * H7 - z * H4) + (z * H0 - x * H6),
        C[2] + (y * H8 - z * H5) + (x * H3 - y * H0),
        C[3] + 2.0 * (z * H1 - x * H7),
        C[4] + (z * H2 - x * H8) + (x * H4 - y * H1),
        C[5] + 2.0 * (x * H5 - y * H2),
    )
    return moved, grown

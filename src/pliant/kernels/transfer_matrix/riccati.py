"""Riccati transfer matrices of a planar chain of hinged segments: two ways along it, O(n), no product of matrices.

Small changes: a (acceleration of a hinge, two components), phi (angle of a segment), F and M (force and moment on what
lies inboard). On the way out the inboard part answers a = S F + u M + p, phi_in = w F + s M + p3 at every hinge; on the
way back F and M come from the tip, where both vanish. Nothing is divided by a stiffness, and nothing grows: free hinges
(kappa = 0) and stiff ones (kappa -> inf) are the two ends of r = kappa / (1 + kappa s).
Numbers in brackets: docs/equations.md, section Transfer matrices."""

from pliant.kernels._jit import kernel
from pliant.kernels.algebra.finite import without_underflow

LARGEST = 1e300  # of 1/d: more is a pivot of zero
RIGID_BASE = ((0.0, 0.0, 0.0, 0.0), 0.0, 0.0, 0.0, 0.0, 0.0)


@kernel
def cross_hinge(station, kappa, is_held):
    """(T5): r, rho and the 2x2 B of a = B F + r u phi + .., with M = kappa (phi - phi_in) + m0 eliminated."""
    S, ux, uy, wx, wy, s = station
    if is_held:
        # no change across it; where nothing inboard can rotate, phi = 0
        rho, r = 0.0, 1.0 / s if s != 0.0 else 0.0
    else:
        rho = 1.0 / (1.0 + kappa * s)
        r = kappa * rho
    rwx, rwy = r * wx, r * wy
    return r, rho, rwx, rwy, (S[0] - ux * rwx, S[1] - ux * rwy, S[2] - uy * rwx, S[3] - uy * rwy)


@kernel
def cross_segment(m, J, x, station, hinge, can_rotate):
    """(T6, T7): the next station, with what the way back needs: Q, K, g, y, 1/d."""
    _, ux, uy, _, _, _ = station
    r, _, rwx, rwy, (Bxx, Bxy, Byx, Byy) = hinge
    # Q = (1 + m B)^-1, K = Q B
    q0, q1, q2, q3 = 1.0 + m * Byy, -m * Bxy, -m * Byx, 1.0 + m * Bxx
    scale = 1.0 / (q0 * q3 - q1 * q2)
    q0, q1, q2, q3 = scale * q0, scale * q1, scale * q2, scale * q3
    Kxx, Kxy = q0 * Bxx + q1 * Byx, q0 * Bxy + q1 * Byy
    Kyx, Kyy = q2 * Bxx + q3 * Byx, q2 * Bxy + q3 * Byy
    # g = Q (r u - B h)
    bx, by = r * ux - Bxx * x.hx - Bxy * x.hy, r * uy - Byx * x.hx - Byy * x.hy
    gx, gy = q0 * bx + q1 * by, q2 * bx + q3 * by
    ex, ey = -m * x.cy, m * x.cx
    d = r + J + rwx * (m * gx + x.hx) + rwy * (m * gy + x.hy) + ex * gx + ey * gy
    inverse = 1.0 / d if can_rotate else 0.0
    yx = q0 * rwx + q2 * rwy - Kxx * ex - Kyx * ey - x.oy
    yy = q1 * rwx + q3 * rwy - Kxy * ex - Kyy * ey + x.ox
    ux, uy, wx, wy = inverse * (gx + x.jx), inverse * (gy + x.jy), inverse * yx, inverse * yy
    S = (Kxx + ux * yx, Kxy + ux * yy, Kyx + uy * yx, Kyy + uy * yy)
    return (S, ux, uy, wx, wy, inverse), (q0, q1, q2, q3), (Kxx, Kxy, Kyx, Kyy), (gx, gy), (yx, yy)


@kernel
def cross_sources(m, x, station, hinge, Q, source, px, py, p3):
    """(T8): what the moments m0 of the hinges add: gamma, nu; source = m0."""
    _, ux, uy, _, _, _ = station
    r, rho, rwx, rwy, _ = hinge
    mu = rho * source - r * p3
    bx, by = px + ux * mu, py + uy * mu
    px, py = Q[0] * bx + Q[1] * by, Q[2] * bx + Q[3] * by
    nu = -mu - m * ((rwx - x.cy) * px + (rwy + x.cx) * py)
    return px, py, nu


@kernel
def sweep_outward(system, work):
    """(T5 - T8) from the base to the tip. False, with the body named, if a pivot is zero."""
    table, shapes, rows, motions = system.segments, system.segment_shapes, work.segments, work.segment_motions
    station, px, py, p3, can_rotate = RIGID_BASE, 0.0, 0.0, 0.0, False
    for i in range(len(rows)):
        x, row, m, is_held = motions[i], rows[i], shapes[i].mass, table[i].is_held != 0
        can_rotate = can_rotate or not is_held
        hinge = cross_hinge(station, row.kappa, is_held)
        after, Q, K, g, y = cross_segment(m, row.J, x, station, hinge, can_rotate)
        if can_rotate and not abs(after[5]) < LARGEST:
            work.run[0].body = shapes[i].body
            return False
        px, py, nu = cross_sources(m, x, station, hinge, Q, x.excess, px, py, p3)
        x.K[0], x.K[1], x.K[2], x.K[3] = K
        x.gx, x.gy, x.yx, x.yy = g[0], g[1], y[0], y[1]
        x.px, x.py, row.nu, row.inverse = px, py, nu, after[5]
        px, py = without_underflow(px + after[1] * nu), without_underflow(py + after[2] * nu)
        p3 = without_underflow(after[5] * nu)
        station = after
    return True


@kernel
def sweep_inward(system, work):
    """(T9) from the tip to the base: changes of angles, and moments, which M then holds."""
    shapes, rows, motions = system.segment_shapes, work.segments, work.segment_motions
    Fx, Fy, M = 0.0, 0.0, 0.0
    for i in range(len(rows) - 1, -1, -1):
        x, row, m = motions[i], rows[i], shapes[i].mass
        phi = row.inverse * (M + x.yx * Fx + x.yy * Fy + row.nu)
        ax = x.K[0] * Fx + x.K[1] * Fy + x.gx * phi + x.px
        ay = x.K[2] * Fx + x.K[3] * Fy + x.gy * phi + x.py
        # the equations of the segment itself, which hold whatever its hinge is
        M += x.ox * Fy - x.oy * Fx - m * (x.cx * ay - x.cy * ax) - row.J * phi
        Fx, Fy = without_underflow(Fx - m * ax - x.hx * phi), without_underflow(Fy - m * ay - x.hy * phi)
        M = without_underflow(M)
        row.phi = phi
        row.M += M

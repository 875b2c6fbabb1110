"""M^-1 x by the coefficients that acceleration.py has left: the same ways out and back, with nothing but the joint
forces x as sources, eight at a time.

Rows of work.body_lanes, three per segment: gamma and nu on the way out (T8). Numbers in brackets: docs/equations.md,
section Transfer matrices."""

from pliant.kernels._jit import RESPONSE, kernel
from pliant.kernels.algebra.lanes import load, load3, same, store, store3
from pliant.kernels.transfer_matrix.riccati import RIGID_BASE, cross_hinge, cross_segment, cross_sources


@kernel
def outward(system, work, x):
    table, rows, motions, kept = system.segments, work.segments, work.segment_motions, work.body_lanes
    station, can_rotate = RIGID_BASE, False
    px = py = p3 = same(0.0)
    for i in range(len(rows)):
        segment, m, motion = table[i], system.segment_shapes[i].mass, motions[i]
        can_rotate = can_rotate or segment.is_held == 0
        hinge = cross_hinge(station, rows[i].kappa, segment.is_held != 0)
        after, Q, _, _, _ = cross_segment(m, rows[i].J, motion, station, hinge, can_rotate)
        source = same(0.0) if segment.is_held else -segment.sign * load(x, segment.dof)
        px, py, nu = cross_sources(m, motion, station, hinge, Q, source, px, py, p3)
        store3(kept, 3 * i, (px, py, nu))
        px, py, p3 = px + after[1] * nu, py + after[2] * nu, after[5] * nu
        station = after


@kernel
def inward(system, work):
    """(T9); changes of angles are kept."""
    rows, motions, kept = work.segments, work.segment_motions, work.body_lanes
    Fx = Fy = M = same(0.0)
    for i in range(len(rows) - 1, -1, -1):
        row, m, (px, py, nu) = motions[i], system.segment_shapes[i].mass, load3(kept, 3 * i)
        phi = rows[i].inverse * (M + row.yx * Fx + row.yy * Fy + nu)
        ax = row.K[0] * Fx + row.K[1] * Fy + row.gx * phi + px
        ay = row.K[2] * Fx + row.K[3] * Fy + row.gy * phi + py
        M = M + row.ox * Fy - row.oy * Fx - m * (row.cx * ay - row.cy * ax) - rows[i].J * phi
        Fx, Fy = Fx - m * ax - row.hx * phi, Fy - m * ay - row.hy * phi
        store(kept, 3 * i, phi)


@kernel(RESPONSE)
def respond(system, work, x):
    outward(system, work, x)
    inward(system, work)
    table, before = system.segments, same(0.0)
    for i in range(len(table)):
        segment, phi = table[i], load(work.body_lanes, 3 * i)
        if segment.dof >= 0:
            store(x, segment.dof, same(0.0) if segment.is_held else segment.sign * (phi - before))
        before = phi
    for k in range(len(system.transmissions)):
        dof = work.dofs[system.transmissions[k].motor]
        moved = same(0.0) if dof.is_prescribed else load(x, system.transmissions[k].motor) / dof.armature
        store(x, system.transmissions[k].motor, moved)
    return 0

"""Legs in closed form: a loop in the plane closed by rotating two dependent hinges: two circles that meet.

Hinges on one side of the loop (a leg with its elbow): P, the new place of the outer hinge, is as far from the inner one
as before, and as far from the point to be met as the tip is from the outer one. On both sides: P is where the points
meet, each as far from its hinge as before. Of the two such P the one on the same side as now is taken."""

import math

from pliant.kernels._jit import kernel, routine
from pliant.kernels.kinematics.tree import frame_motion
from pliant.system.loop_tables import ConstraintKind
from pliant.system.tables import JointKind

MIN_SQUARED_SINE = 1e-4  # of the angle between the two links: below it the leg is stretched
MIN_INFLUENCE = 1e-9  # of a velocity on a constraint, per unit motion of a point: below it there is none


@routine
def is_between(system, i, frame):
    """Whether body i lies between a frame and the world."""
    k = system.frames[frame].body
    while k > i:
        k = system.bodies[k].parent
    return k == i


@routine
def find_legs(system, work):
    """Which loops are such legs in the present partition: no other dependent velocity moves their points."""
    r, A = work.closure[0].n_active, work.constraint_jacobian
    for i in range(len(system.loops)):
        loop, leg = system.loops[i], work.legs[i]
        leg.inner, n_active, count = -1, 0, 0
        if not system.world[0].uses_planar or loop.n_rows != 2 or loop.has_attitude:
            continue
        for k in range(r):
            row = work.constraint_order[k]
            if loop.row <= row < loop.row + 2 and system.constraints[row].kind == ConstraintKind.POINT:
                n_active += 1
        inner, outer = -1, -1
        for k in range(r):
            j = work.column_order[k]
            weight = system.dofs[j].velocity_scale / system.constraints[loop.row].scale
            if weight * (abs(A[loop.row, j]) + abs(A[loop.row + 1, j])) > MIN_INFLUENCE:
                inner, outer, count = min(j, outer) if count > 0 else j, max(j, outer), count + 1
        if n_active != 2 or count != 2:
            continue
        a, b = system.dofs[inner].body, system.dofs[outer].body
        if system.bodies[a].kind == JointKind.REVOLUTE and system.bodies[b].kind == JointKind.REVOLUTE:
            leg.inner, leg.outer = inner, outer
            leg.is_outer_second = is_between(system, b, loop.second)
            leg.is_one_sided = leg.is_outer_second == is_between(system, a, loop.second)


@kernel
def meet(ax, ay, bx, by, r1, r2, side):
    """Where the circles about a and b of squared radii r1, r2 meet, on that side of the line from a to b; NaN if they
    do not, or almost touch."""
    dx, dy = bx - ax, by - ay
    d = dx * dx + dy * dy
    if d <= 0.0:
        return math.nan, math.nan
    along = 0.5 * (1.0 + (r1 - r2) / d)
    across = r1 / d - along * along
    # near a stretched leg this is a root of rounding: Newton's method does better
    if across < MIN_SQUARED_SINE * r1 / d:
        return math.nan, math.nan
    across = math.copysign(math.sqrt(across), side)
    return ax + along * dx - across * dy, ay + along * dy + across * dx


@kernel
def angle_between(ax, ay, bx, by):
    """Angle from a to b."""
    return math.atan2(ax * by - ay * bx, ax * bx + ay * by)


@routine
def close_leg(system, work, leg, loop, q):
    """Rotate the two hinges of a leg; they stay where they are if its points cannot meet. After place."""
    inner, outer = system.dofs[leg.inner], system.dofs[leg.outer]
    p1, _ = frame_motion(system, work, loop.first)
    p2, _ = frame_motion(system, work, loop.second)
    tip, goal = (p2, p1) if leg.is_outer_second else (p1, p2)
    A, B = work.bodies[inner.body].p_WB, work.bodies[outer.body].p_WB
    # m1, m2: from the centres to P, as they are now
    if leg.is_one_sided:
        m1x, m1y, cx, cy = B[0] - A[0], B[1] - A[1], goal[0], goal[1]
    else:
        m1x, m1y, cx, cy = goal[0] - A[0], goal[1] - A[1], B[0], B[1]
    m2x, m2y = tip[0] - B[0], tip[1] - B[1]
    side = (cx - A[0]) * m1y - (cy - A[1]) * m1x
    px, py = meet(A[0], A[1], cx, cy, m1x * m1x + m1y * m1y, m2x * m2x + m2y * m2y, side)
    if math.isnan(px):
        return
    angle1 = angle_between(m1x, m1y, px - A[0], py - A[1])
    if leg.is_one_sided:
        angle2 = angle_between(m2x, m2y, cx - px, cy - py) - angle1
    else:
        angle2 = angle_between(m2x, m2y, px - cx, py - cy)
    q[inner.q] += system.bodies[inner.body].axis[2] * angle1
    q[outer.q] += system.bodies[outer.body].axis[2] * angle2


@routine
def close_legs(system, work, q):
    """Every leg, from the placement at q; whether there is one."""
    is_any = False
    for i in range(len(system.loops)):
        if work.legs[i].inner >= 0:
            close_leg(system, work, work.legs[i], system.loops[i], q)
            is_any = True
    return is_any

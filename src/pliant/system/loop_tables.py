"""Tables of closed loops: dtypes and kinds. numpy only; filled by loop_rows.py."""

from enum import IntEnum

import numpy as np


class SpringForm(IntEnum):
    """Of which conditions virtual springs are the springs; c values of the loop, p place of its second frame."""

    ELONGATION = 0  # c
    DIFFERENCE = 1  # c of the first loop, then c minus c of the loop before
    POLAR = 2  # (p.c, p x c) over the size of the model
    SQUARED = 3  # |c|^2


class ClosingKind(IntEnum):
    """What one scalar condition says; d = origin of the second minus origin of the first."""

    POINT = 0  # e.d = 0, e along a world axis
    SLIDE = 1  # e.d = 0, e carried by the first
    TURN = 2  # e.f = 0, e carried by the first, f by the second
    LENGTH = 3  # |d| = length


LOOP_ROW = np.dtype(
    [
        ("first", np.int64),  # frame
        ("second", np.int64),  # frame
        ("row", np.int64),  # first of its closings
        ("n_rows", np.int64),
        ("is_turned", np.int64),  # whether a condition looks at attitudes: SLIDE, TURN
    ],
    align=True,
)

CLOSING = np.dtype(
    [
        ("kind", np.int64),  # ClosingKind
        ("loop", np.int64),
        ("e", np.float64, (3,)),  # unit; POINT: world, else axes of the first frame
        ("f", np.float64, (3,)),  # unit; axes of the second frame
        ("length", np.float64),  # [m]
        ("scale", np.float64),  # what is small compared to it is nothing [m, 1]
    ],
    align=True,
)

# filled by closures/legs.py: find_legs
LEG = np.dtype(
    [
        ("inner", np.int64),  # velocity of the hinge nearer to the root, -1: the loop is no leg
        ("outer", np.int64),
        ("is_outer_second", np.int64),  # whether the outer one carries the second frame of the loop
        ("is_one_sided", np.int64),  # whether both carry the same frame
    ],
    align=True,
)

CLOSING_WORK = np.dtype(
    [
        # filled by closures/conditions.py: measure_loops. rate = e.(v2 - v1) + n1.w1 + n2.w2, world axes
        ("value", np.float64),  # [m, 1]
        ("rate", np.float64),
        ("bias", np.float64),  # second rate left when accelerations vanish
        ("e", np.float64, (3,)),
        ("n1", np.float64, (3,)),
        ("n2", np.float64, (3,)),
        # the multiplier: force on the second along e, couple along n2 [N, N m]; filled by the closure
        ("force", np.float64),
    ],
    align=True,
)

"""Tables of closed loops: dtypes, kinds, names of rows. numpy only; filled by loop_rows.py."""

from enum import IntEnum

import numpy as np

# rows of work.multiplier_places, of multipliers as unknowns of a step (integrators/multiplier_newton.py): constraint of
# each, in ascending order; number of each constraint among them, -1: redundant; first and last column of the factor of
# A X in each row
CONSTRAINT_OF, NUMBER_OF, FIRST_COLUMN, LAST_COLUMN = range(4)
N_MULTIPLIER_PLACES = 4
CLOSURE_ROUNDING = 1e-15  # of the scales: as closed as rounding allows
# rows of work.constraint_vectors: A' v, right side of W, what an undetermined solution shall be; of dead points
# (closures/dead_points.py): shares of the pivots of W, its diagonal now, and its largest so far; of Newton's method
# (integrators/second_order.py): multipliers at the beginning of a step, where it stands, and their correction
BIAS, RIGHT, TARGET, SHARE, DIAGONAL, LARGEST, FORCE_AT_START, FORCE_AT_POINT, FORCE_CHANGE = range(9)
N_CONSTRAINT_VECTORS = 9


class SpringForm(IntEnum):
    """What virtual springs resist; c values of the constraints of a loop, p position of its second frame."""

    ELONGATION = 0  # c
    DIFFERENCE = 1  # c of the first loop, then c minus c of the loop before
    POLAR = 2  # (p.c, p x c) over the size of the model
    SQUARED = 3  # |c|^2


class ConstraintKind(IntEnum):
    """One scalar constraint; d = origin of the second frame minus origin of the first."""

    POINT = 0  # e.d = 0, e along a world axis
    SLIDE = 1  # e.d = 0, e fixed in the first
    PERPENDICULAR = 2  # e.f = 0, e fixed in the first, f in the second
    LENGTH = 3  # |d| = length


LOOP = np.dtype(
    [
        ("first", np.int64),  # frame
        ("second", np.int64),  # frame
        ("row", np.int64),  # first of its constraints
        ("n_rows", np.int64),
        ("has_attitude", np.int64),  # whether a constraint depends on attitudes: SLIDE, PERPENDICULAR
    ],
    align=True,
)

CONSTRAINT = np.dtype(
    [
        ("kind", np.int64),  # ConstraintKind
        ("loop", np.int64),
        ("e", np.float64, (3,)),  # unit; POINT: world, else axes of the first frame
        ("f", np.float64, (3,)),  # unit; axes of the second frame
        ("length", np.float64),  # [m]
        ("scale", np.float64),  # of values: those far below it are rounding [m, 1]
        ("first", np.int64),  # in links: velocities between its two frames and the world, which alone A has in its row
        ("count", np.int64),
        ("branches", np.int64, (2,)),  # rows in branches: what its frames are on; -1: none, or the same
        ("lane", np.int64),  # constraints of one lane have no branch in common
    ],
    align=True,
)

# Parts of the tree between which nothing but loops acts: whatever hangs on the world by one joint, with what springs,
# contacts or flexible joints connect to it. M^-1, and Newton's matrix as a rule, have entries within a branch only.
# Row 0: all of the tree.
BRANCH = np.dtype(
    [
        ("first", np.int64),  # in links: its velocities, ascending
        ("count", np.int64),
        ("first_constraint", np.int64),  # in links: constraints of loops with a frame on it, ascending
        ("n_constraints", np.int64),
    ],
    align=True,
)

# filled by closures/legs.py: find_legs
LEG = np.dtype(
    [
        ("inner", np.int64),  # velocity of the hinge nearer to the root, -1: the loop is not a leg
        ("outer", np.int64),
        ("is_outer_second", np.int64),  # whether the outer hinge moves the second frame of the loop
        ("is_one_sided", np.int64),  # whether both move the same frame
    ],
    align=True,
)

CONSTRAINT_WORK = np.dtype(
    [
        # filled by closures/constraints.py: measure_loops. rate = e.(v2 - v1) + n1.w1 + n2.w2, world axes
        ("value", np.float64),  # [m, 1]
        ("rate", np.float64),
        ("bias", np.float64),  # second rate where accelerations vanish
        ("e", np.float64, (3,)),
        ("n1", np.float64, (3,)),
        ("n2", np.float64, (3,)),
        # the multiplier: force on the second along e, couple along n2 [N, N m]; filled by the closure
        ("force", np.float64),
    ],
    align=True,
)

"""Tables of serial chains of hinges with parallel axes, in the plane across them; for kernels/transfer_matrix.

One row per segment, from the base outward; no rows where the model is no such chain. At q = 0 the axes of every segment
are parallel to X and Y of the plane (WORLD.plane). Chains on one line use SEGMENT and SEGMENT_WORK alone, rows of 64
bytes: of long chains it is the way to memory that takes time."""

import numpy as np

# a hinge, and what rotates with it
SEGMENT = np.dtype(
    [
        ("dof", np.int32),  # its velocity, and its coordinate, -1: welded
        ("is_held", np.int32),  # 1: welded, or its motion is prescribed
        ("has_motor", np.int32),  # 1: a signal or a controller commands it
        ("sign", np.float64),  # sense of its hinge about the axis of the chain, 0: welded
        ("J", np.float64),  # inertia about the hinge [kg m^2]
        ("stiffness", np.float64),  # of the hinge [N m/rad]
        ("rest", np.float64),  # [rad]
        ("damping", np.float64),  # [N m s/rad]
        ("armature", np.float64),  # on the joint side [kg m^2]
    ],
    align=True,
)

SEGMENT_SHAPE = np.dtype(
    [
        ("mass", np.float64),  # [kg]
        ("cx", np.float64),  # mass centre from the hinge [m]
        ("cy", np.float64),
        ("ox", np.float64),  # its hinge from that of the segment before, in axes of that one [m]
        ("oy", np.float64),
        ("body", np.int64),  # row in bodies
    ],
    align=True,
)

# what sweeps leave per segment; axes of the plane, about its hinge. M, F: on the inboard part, which is what lies
# before the hinge. Numbers in brackets: docs/equations.md, section Transfer matrices
SEGMENT_WORK = np.dtype(
    [
        ("w", np.float64),  # angular velocity [rad/s] (T1)
        ("n", np.float64),  # moment of external loads [N m]
        ("J", np.float64),  # minus the moment M per unit of phi (T4)
        ("kappa", np.float64),  # moment of the hinge per unit of the change of its angle (T3)
        ("M", np.float64),  # moment [N m] (T2); after the way back with its change
        ("inverse", np.float64),  # 1 / d, 0 where nothing inboard can rotate (T6)
        ("nu", np.float64),  # (T8)
        ("phi", np.float64),  # change of the angle, in accelerations of the angular acceleration (T9)
    ],
    align=True,
)

SEGMENT_MOTION = np.dtype(
    [
        # motion about which is linearised (T1)
        ("angle", np.float64),  # [rad]
        ("al", np.float64),  # angular acceleration [rad/s^2]
        ("ax", np.float64),  # acceleration of the hinge minus gravity [m/s^2]
        ("ay", np.float64),
        ("cx", np.float64),  # mass centre from the hinge [m]
        ("cy", np.float64),
        ("ox", np.float64),  # next hinge from this one [m]
        ("oy", np.float64),
        # coefficients of changes
        ("excess", np.float64),  # moment of the hinge by its laws, minus M [N m] (T3)
        ("hx", np.float64),  # minus the force F per unit of phi (T4)
        ("hy", np.float64),
        ("jx", np.float64),  # acceleration of the next hinge, beyond that of this one, per unit of phi (T4)
        ("jy", np.float64),
        # left by the way out for the way back (T6 - T8)
        ("K", np.float64, (4,)),
        ("gx", np.float64),
        ("gy", np.float64),
        ("px", np.float64),
        ("py", np.float64),
        ("yx", np.float64),
        ("yy", np.float64),
        # external loads besides n, and their derivatives by the angle
        ("fx", np.float64),  # [N]
        ("fy", np.float64),
        ("fx_angle", np.float64),  # [N/rad]
        ("fy_angle", np.float64),
        ("n_angle", np.float64),  # [N m/rad]
    ],
    align=True,
)

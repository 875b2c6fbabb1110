"""Coordinates moved along constant velocities: what q' = S(q) v makes of q in unit time."""

from pliant.kernels._jit import SHIFT, kernel
from pliant.kernels.kinematics.joints import move_along


@kernel(SHIFT)
def shift(system, q, w, q_new):
    """q_new = q after velocities w have acted for unit time."""
    move_along(system, q, w, q_new)
    return 0

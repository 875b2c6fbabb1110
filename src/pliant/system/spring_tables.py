"""Springs between two places: the dtype of their rows."""

import numpy as np

SPRING = np.dtype(
    [
        ("start", np.int64),  # frame of the first end
        ("end", np.int64),  # and of the second
        ("sense", np.int64),  # +1: tension only, -1: compression only, 0: both
        ("phase", np.int64),  # row in work.phase, -1 = both senses
        ("motor", np.int64),  # signal row, -1 = none
        ("input", np.int64),  # held controller command, -1 = none
        ("first", np.int64),  # in pool: knots, then per piece four coefficients and the energy at its start
        ("count", np.int64),  # knots, 0 = linear
        ("stiffness", np.float64),  # [N/m]
        ("damping", np.float64),  # [N s/m]
        ("length", np.float64),  # free length [m]
        ("nearest", np.float64),  # distance at which the ends meet [m]; 0: they may, there is no force then
    ],
    align=True,
)

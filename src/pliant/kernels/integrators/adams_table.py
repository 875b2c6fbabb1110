"""Where Adams's method keeps its past in the tables of Memory, and Gauss's rule."""

import numpy as np

HIGHEST, HIGHEST_FIXED = 14, 12  # order of the predictor; with a fixed step

# rows of A
# times of the points [s]; I_i; J_i; prod (h + d_j); the integrand at Gauss's nodes
PAST, INTEGRAL, TWICE, PRODUCT, VALUES = range(5)
# rows of stages: divided differences, the newest point first in each; TOP: the highest, with the predicted derivative
TOP = HIGHEST + 2
N_ROWS = HIGHEST + 3
# rows of D: nested coefficients of the dense output, from here on; of what is integrated once, and twice
BASIS, BASIS_TWICE = 0, HIGHEST + 1
# entries of c; FIRST: before it y holds paired coordinates only; TRUST: steps that may go on without the second
# evaluation (negative: for which it is made without asking), 0: to be found out
ORDER, COUNT, STEPS, USED, MAX_ORDER, IS_STARTING, FIRST, TRUST = range(8)

# Gauss's rule on [0, 1], exact to degree 17, more than HIGHEST + 2; correctly rounded, not as a build of numpy rounds
_LEFT = (0.015919880246186954, 0.0819844463366821, 0.1933142836497048, 0.33787328829809554)
_WEIGHTS = (0.040637194180787206, 0.0903240803474287, 0.13030534820146772, 0.15617353852000143)
NODES = (*_LEFT, 0.5, *(1.0 - x for x in reversed(_LEFT)))
WEIGHTS = (*_WEIGHTS, 0.1651196775006299, *reversed(_WEIGHTS))

N_TERMS = HIGHEST + 3  # of the dense output


def tables(max_order: int) -> dict[str, np.ndarray]:
    """A, c, E, D of a method with a past: room for it."""
    c = np.zeros(N_ROWS)
    c[MAX_ORDER] = max_order
    return {
        "A": np.zeros((N_ROWS, N_ROWS)),
        "c": c,
        "E": np.zeros((0, N_ROWS)),
        "D": np.zeros((2 * (HIGHEST + 1), N_TERMS)),
    }

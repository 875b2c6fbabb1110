"""Where Adams's method keeps its past in the tables of Memory, and Gauss's rule."""

import numpy as np
from numpy.polynomial import legendre

HIGHEST, HIGHEST_FIXED = 14, 12  # order of the predictor; with a fixed step

# rows of A
PAST, INTEGRAL, TWICE, PRODUCT = 0, 1, 2, 3  # times of the points [s]; I_i; J_i; prod (h + d_j)
# rows of stages: divided differences, the newest point first in each; TOP: the highest, with the predicted derivative
TOP = HIGHEST + 2
N_ROWS = HIGHEST + 3
# rows of D: nested coefficients of the dense output, from here on; of what is integrated once, and twice
BASIS, BASIS_TWICE = 0, HIGHEST + 1
# entries of c; FIRST: before it y holds paired coordinates only; TRUST: steps that may go on without the second
# evaluation (negative: for which it is made without asking), 0: to be found out
ORDER, COUNT, STEPS, USED, MAX_ORDER, IS_STARTING, FIRST, TRUST = range(8)

_nodes, _weights = legendre.leggauss(9)  # exact to degree 17, more than HIGHEST + 2
NODES = tuple(float(x) for x in 0.5 * (_nodes + 1.0))
WEIGHTS = tuple(float(x) for x in 0.5 * _weights)

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

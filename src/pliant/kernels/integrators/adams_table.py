"""Where Adams's method keeps its past in the tables of Memory, and Gauss's rule."""

import numpy as np
from numpy.polynomial import legendre

HIGHEST = 12  # order of the predictor

# rows of A
PAST, INTEGRAL, PRODUCT = 0, 1, 2  # times of the points [s]; I_i; prod (h + d_j)
# rows of stages: divided differences, the newest point first in each; TOP: the highest, with the predicted derivative
TOP = HIGHEST + 2
N_ROWS = HIGHEST + 3
# rows of D: nested coefficients of the dense output, from here on
BASIS = 0
# entries of c
ORDER, COUNT, STEPS, USED, MAX_ORDER, IS_STARTING = range(6)

_nodes, _weights = legendre.leggauss(8)  # exact to degree 15, more than HIGHEST + 1
NODES = tuple(float(x) for x in 0.5 * (_nodes + 1.0))
WEIGHTS = tuple(float(x) for x in 0.5 * _weights)

N_TERMS = HIGHEST + 2  # of the dense output


def tables(max_order: int) -> dict[str, np.ndarray]:
    """A, c, E, D of a method with a past: room for it."""
    c = np.zeros(N_ROWS)
    c[MAX_ORDER] = max_order
    return {
        "A": np.zeros((N_ROWS, N_ROWS)),
        "c": c,
        "E": np.zeros((0, N_ROWS)),
        "D": np.zeros((HIGHEST + 1, N_TERMS)),
    }

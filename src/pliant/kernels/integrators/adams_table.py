"""Where Adams's method keeps its past in the tables of Memory, and Gauss's rule."""

import numpy as np

HIGHEST, HIGHEST_FIXED = 14, 12  # order of the predictor; with a fixed step

# rows of A
# u of the points; I_i; J_i; prod_(j<i) (s + d_j) at the end of the step; the integrand at Gauss's nodes; the time from
# there to the end [s]
PAST, INTEGRAL, TWICE, PRODUCT, VALUES, LEFT = range(6)
# rows of stages: divided differences, the newest point first in each; TOP: the highest, with the predicted derivative
TOP = HIGHEST + 2
N_ROWS = HIGHEST + 3
# rows of D: nested coefficients of the dense output, from here on; of what is integrated once, and twice
BASIS, BASIS_TWICE = 0, HIGHEST + 1
# and from here on its values at PLACES, one row each
VALUE, VALUE_TWICE = 2 * HIGHEST + 2, 3 * HIGHEST + 5
# entries of c; SINGLE: before it y holds paired coordinates only; FIRST: where loops over the others begin, so that
# they fill whole registers; CONTROLLED: from there on nothing has a tolerance; TRUST: steps that may go on without the
# second evaluation (negative: for which it is made without asking), 0: to be found out; IS_ROOT: 1: u is the root of
# the time from ORIGIN [s] on
ORDER, COUNT, STEPS, USED, MAX_ORDER, IS_STARTING, SINGLE, FIRST, CONTROLLED, TRUST, IS_ROOT, ORIGIN = range(12)

# Gauss's rule on [0, 1], exact to degree 17, more than HIGHEST + 2; correctly rounded, not as a build of numpy rounds
_LEFT = (0.015919880246186954, 0.0819844463366821, 0.1933142836497048, 0.33787328829809554)
_WEIGHTS = (0.040637194180787206, 0.0903240803474287, 0.13030534820146772, 0.15617353852000143)
NODES = (*_LEFT, 0.5, *(1.0 - x for x in reversed(_LEFT)))
WEIGHTS = (*_WEIGHTS, 0.1651196775006299, *reversed(_WEIGHTS))

N_TERMS = HIGHEST + 3  # of the dense output
# theta through whose values it goes where u is a root: about those of Chebyshev, far ones in turn
PLACES = (
    0.0, 1.0, 0.5, 0.2222, 0.8536, 0.0843, 0.6913, 0.9619, 0.3087, 0.0381, 0.7778, 0.4025, 0.9157, 0.1464, 0.5975,
    0.9904, 0.0096,
)  # fmt: skip


def tables(max_order: int) -> dict[str, np.ndarray]:
    """A, c, E, D of a method with a past: room for it."""
    c = np.zeros(N_ROWS)
    c[MAX_ORDER] = max_order
    return {
        "A": np.zeros((N_ROWS, N_ROWS)),
        "c": c,
        "E": np.zeros((0, N_ROWS)),
        "D": np.zeros((VALUE_TWICE + N_TERMS, N_TERMS)),
    }

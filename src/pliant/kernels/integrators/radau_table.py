"""Numbers of Radau IIA(5), worked out from its nodes; numpy only.

Collocation at c on the cubic u, u(0) = y. The inverse of A has one real eigenvalue GAMMA and a pair ALPHA +- i BETA:
with Z = T W the three stages fall apart into a real and a complex system (Hairer and Wanner II, IV.8).
"""

import math

import numpy as np
from numpy.polynomial import Polynomial

NODES = np.array([(4.0 - math.sqrt(6.0)) / 10.0, (4.0 + math.sqrt(6.0)) / 10.0, 1.0])


def _lagrange(nodes, k):
    """The polynomial that is 1 at node k and 0 at the others."""
    others = np.delete(nodes, k)
    return Polynomial.fromroots(others) / np.prod(nodes[k] - others)


_SLOPES = [_lagrange(NODES, k).integ() for k in range(3)]
A = np.array([[slope(c) for slope in _SLOPES] for c in NODES])


def _diagonal_form():
    """Real eigenvalue, complex pair, and T (columns: real vector, real and imaginary part of the complex one)."""
    values, vectors = np.linalg.eig(np.linalg.inv(A))
    real, pair = int(np.argmin(np.abs(values.imag))), int(np.argmax(values.imag))
    one, two = vectors[:, real].real, vectors[:, pair]
    # largest component 1: changes of W are as large as changes of Z
    one, two = one / one[np.argmax(np.abs(one))], two / two[np.argmax(np.abs(two))]
    # the complex system is that of W2 + i W3, so Z holds the conjugate vector
    return values[real].real, values[pair].real, values[pair].imag, np.column_stack([one, two.real, -two.imag])


GAMMA, ALPHA, BETA, _T = _diagonal_form()
_NODES4 = np.concatenate([[0.0], NODES])
# f(y) + ERROR Z / h: by how much the slope of u at 0 misses the derivative there
_ERROR = [-_lagrange(_NODES4, 1 + k).deriv()(0.0) for k in range(3)]
# SLOPE Z / h: slope of u at its end
_SLOPE = np.linalg.inv(A)[2]
# one quartic more, theta (1 - theta) (BEND0 + theta (BEND1 + (1 - theta) BEND2)): its slope is 1 at 0, 0 at the nodes
_w = _lagrange(_NODES4, 0).integ()
_Q = (_w // Polynomial([0.0, 1.0, -1.0])).coef
BEND = (float(_Q[0]), float(_Q[1] + _Q[2]), float(-_Q[2]))

# as kernels take them
C = tuple(float(x) for x in NODES)
T = tuple(tuple(float(x) for x in row) for row in _T)
T_INVERSE = tuple(tuple(float(x) for x in row) for row in np.linalg.inv(_T))
WEIGHTS = tuple(tuple(float(x) for x in row) for row in A)
ERROR = tuple(float(x) for x in _ERROR)
SLOPE = tuple(float(x) for x in _SLOPE)
GAMMA, ALPHA, BETA = float(GAMMA), float(ALPHA), float(BETA)

"""Explicit Runge-Kutta tableaus meet the conditions of their orders, and of no higher one."""

import numpy as np
import pytest

from order_conditions import elementary_weights
from pliant.kernels.integrators.tableaus import TABLEAUS

# name, order of what is carried on, rooted trees up to that order, orders of the solutions the error is taken against
METHODS = [
    ("rk4", 4, 8, ()),
    ("rkf45", 5, 17, (4,)),
    ("dopri5", 5, 17, (4,)),
    ("bs5", 5, 17, (4, 4)),
    ("dop853", 8, 200, (5, 3)),
]


def defects(conditions, weights):
    """Largest defect of every order."""
    found = {}
    for n, phi, gamma in conditions:
        found[n] = max(found.get(n, 0.0), abs(weights @ phi - 1.0 / gamma))
    return found


@pytest.mark.parametrize(("name", "order", "count", "embedded"), METHODS)
def test_solutions_meet_every_condition_of_their_order_and_no_more(name, order, count, embedded):
    """Rounding: coefficients of dop853 are up to 44, those of the others up to 12; the derivative at the end of a step
    is one more stage."""
    tableau = TABLEAUS[name]
    n = tableau.n_stages + 1
    A = tableau.A[:n, :n]
    conditions = elementary_weights((A,), order + 1)
    assert tableau.order == order
    assert sum(m <= order for m, _, _ in conditions) == count
    for p, weights in [(order, A[-1]), *((p, A[-1] + row[:n]) for p, row in zip(embedded, tableau.E, strict=True))]:
        found = defects(conditions, weights)
        assert max(found[m] for m in range(1, p + 1)) < 1e-13, p
        assert found[p + 1] > 1e-7, p
    assert np.allclose(A.sum(axis=1), tableau.c[:n], rtol=0.0, atol=1e-13)

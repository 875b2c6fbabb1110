"""M^-1 x with the Cholesky factor that a formulation with a matrix (rows.py: solve_rows) has left in work.matrix."""

from pliant.kernels._jit import RESPONSE, kernel
from pliant.kernels.algebra.lanes import load, same, store


@kernel(RESPONSE)
def respond(system, work, x):
    n, L = len(work.dofs), work.matrix
    for i in range(n):
        total = load(x, i)
        for k in range(i):
            total = total - L[i, k] * load(x, k)
        # the row of a prescribed velocity is that of the unit matrix
        store(x, i, same(0.0) if work.dofs[i].is_prescribed else total * L[i, i])
    for i in range(n - 1, -1, -1):
        total = load(x, i)
        for k in range(i + 1, n):
            total = total - L[k, i] * load(x, k)
        store(x, i, total * L[i, i])
    return 0
